//! Command lines of guide and manifests: do they have options that the program knows?

use std::collections::BTreeMap;

use crate::processes::cluster_program;

/// The name of the program in command lines.
const PROGRAM: &str = "axioscope-cluster";

/// The subcommands that were asked for, as their help describes them.
#[derive(Default)]
pub(crate) struct KnownCommands(BTreeMap<String, KnownCommand>);

/// A subcommand.
pub(crate) struct KnownCommand {
    max_positional: usize,
    options: BTreeMap<String, KnownOption>,
}

/// An option of a subcommand.
pub(crate) struct KnownOption {
    takes_value: bool,
    pub(crate) default: Option<String>,
}

impl KnownCommands {
    /// Returns what the help of a subcommand says.
    pub(crate) fn subcommand(&mut self, name: &str) -> &KnownCommand {
        let known = self.0.entry(name.to_owned());
        known.or_insert_with(|| KnownCommand::read(name))
    }

    /// Checks a command line, from the name of the program on, which shells and container engines
    /// may have words before.
    pub(crate) fn expect_valid(&mut self, line: &str) {
        let words = line.split_whitespace().skip_while(|it| *it != PROGRAM);
        let mut words = words.skip(1).take_while(|it| *it != "&");
        let Some(name) = words.next() else { return };
        let known = self.subcommand(name);
        let mut n_positional = 0;
        while let Some(word) = words.next() {
            if !word.starts_with("--") {
                n_positional += 1;
                continue;
            }
            let option = known.option(word).unwrap_or_else(|| {
                panic!("`{PROGRAM} {name}` has no option {word}: {line}");
            });
            if option.takes_value {
                let value = words.next().filter(|it| !it.starts_with("--"));
                assert!(value.is_some(), "{word} needs a value: {line}");
            }
        }
        assert!(n_positional <= known.max_positional, "{line}");
    }
}

impl KnownCommand {
    fn read(name: &str) -> KnownCommand {
        let output = cluster_program().args([name, "--help"]).output().unwrap();
        assert!(output.status.success(), "there is no subcommand `{name}`");
        let help = String::from_utf8(output.stdout).unwrap();
        let usage = help.lines().find_map(|it| it.strip_prefix("Usage: "));
        let usage = usage.unwrap().replace("[OPTIONS]", "");
        let mut options = BTreeMap::new();
        // The description of an option ends where that of the next one begins.
        let (_, listed) = help.split_once("\nOptions:").unwrap();
        for described in listed.split("\n      --").skip(1) {
            let (header, _) = described.split_once('\n').unwrap_or((described, ""));
            let mut words = header.split_whitespace();
            let option = format!("--{}", words.next().unwrap());
            let default = described.split_once("[default: ");
            let known = KnownOption {
                takes_value: words.next().is_some_and(|it| it.starts_with('<')),
                default: default.map(|it| it.1.split(']').next().unwrap().to_owned()),
            };
            options.insert(option, known);
        }
        KnownCommand {
            max_positional: usage.matches(['<', '[']).count(),
            options,
        }
    }

    /// Returns an option by its name, with the hyphens.
    pub(crate) fn option(&self, name: &str) -> Option<&KnownOption> {
        self.options.get(name)
    }
}
