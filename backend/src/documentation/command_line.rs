//! The reference of the command line, written from its definition as Markdown.

use std::fmt::Write;

use clap::{Arg, Command};

/// Returns the page: every subcommand with its arguments and options.
pub(super) fn describe_command_line(command: &Command) -> String {
    let mut root = command.clone();
    root.build();
    let mut page = String::from("# Command line\n\n");
    page.push_str(&escape_markdown(&description_of_command(&root)));
    page.push_str(
        "\n\n`axioscope COMMAND --help` prints what is below. These options belong to every \
         command:\n\n",
    );
    add_arguments(&mut page, root.get_arguments());
    add_subcommands(&mut page, &root, "##");
    page
}

fn add_subcommands(page: &mut String, parent: &Command, marks: &str) {
    let is_own = |it: &&Command| it.get_name() != "help" && !it.is_hide_set();
    for command in parent.get_subcommands().filter(is_own) {
        let name = command.get_bin_name().unwrap_or_else(|| command.get_name());
        let description = escape_markdown(&description_of_command(command));
        let usage = command.clone().render_usage().to_string();
        let usage = usage.trim_start_matches("Usage:").trim();
        let _ = write!(
            page,
            "\n{marks} `{name}`\n\n{description}\n\n```text\n{usage}\n```\n\n"
        );
        let own = command.get_arguments().filter(|it| !it.is_global_set());
        add_arguments(page, own);
        add_subcommands(page, command, &format!("{marks}#"));
    }
}

fn add_arguments<'a>(page: &mut String, arguments: impl Iterator<Item = &'a Arg>) {
    let is_own = |it: &&Arg| !["help", "version"].contains(&it.get_id().as_str());
    for argument in arguments.filter(|it| is_own(it) && !it.is_hide_set()) {
        let _ = writeln!(page, "- `{argument}`: {}", describe_argument(argument));
    }
}

/// Returns the sentences about an argument on one line.
fn describe_argument(argument: &Arg) -> String {
    let help = argument.get_long_help().or(argument.get_help());
    let help = help.map(ToString::to_string).unwrap_or_default();
    let mut sentences = vec![escape_markdown(&help)];
    let values = argument.get_possible_values();
    if argument.get_action().takes_values() && !values.is_empty() {
        let values = values
            .iter()
            .filter(|it| !it.is_hide_set())
            .map(|it| match it.get_help() {
                Some(help) => {
                    let help = escape_markdown(&help.to_string());
                    format!("`{}` ({})", it.get_name(), help.trim_end_matches('.'))
                }
                None => format!("`{}`", it.get_name()),
            });
        let values: Vec<String> = values.collect();
        sentences.push(format!("Values: {}", values.join(", ")));
    }
    if argument.is_required_set() {
        sentences.push("Required".to_owned());
    }
    let defaults = argument.get_default_values();
    if argument.get_action().takes_values() && !defaults.is_empty() {
        let defaults = defaults
            .iter()
            .map(|it| format!("`{}`", it.to_string_lossy()));
        let defaults: Vec<String> = defaults.collect();
        sentences.push(format!("Default: {}", defaults.join(" ")));
    }
    if let Some(variable) = argument.get_env() {
        sentences.push(format!(
            "Environment variable: `{}`",
            variable.to_string_lossy()
        ));
    }
    let ended = sentences.iter().filter(|it| !it.is_empty()).map(|it| {
        let text = it.split_whitespace().collect::<Vec<_>>().join(" ");
        if text.ends_with('.') {
            text
        } else {
            format!("{text}.")
        }
    });
    ended.collect::<Vec<_>>().join(" ")
}

/// Returns what a command does, in paragraphs.
fn description_of_command(command: &Command) -> String {
    let about = command.get_long_about().or(command.get_about());
    let about = about.map(ToString::to_string).unwrap_or_default();
    if about.ends_with('.') {
        about
    } else {
        format!("{about}.")
    }
}

/// Returns a help text so that Markdown shows it as it is, with code between backticks.
fn escape_markdown(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    let is_balanced = parts.len() % 2 == 1;
    let mut escaped = String::with_capacity(text.len());
    for (at, part) in parts.iter().enumerate() {
        if at > 0 {
            escaped.push_str(if is_balanced { "`" } else { "\\`" });
        }
        for letter in part.chars() {
            let is_text = at % 2 == 0 || !is_balanced;
            if is_text && r"\*_[]<>#&~|".contains(letter) {
                escaped.push('\\');
            }
            escaped.push(letter);
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use clap::builder::PossibleValue;
    use clap::{Arg, ArgAction, Command};

    use super::*;

    #[test]
    fn every_command_is_described_with_its_options() {
        let ways = [
            PossibleValue::new("fast").help("Estimate."),
            PossibleValue::new("exact"),
        ];
        let way = Arg::new("way")
            .long("way")
            .help("How to count")
            .value_parser(ways.to_vec())
            .default_value("fast")
            .env("TOOL_WAY");
        let files = Arg::new("files")
            .required(true)
            .help("Files of `things`, as in a_b");
        let data = Arg::new("data")
            .long("data")
            .value_name("FOLDER")
            .global(true);
        let quiet = Arg::new("quiet")
            .long("quiet")
            .action(ArgAction::SetTrue)
            .help("Say nothing");
        let secret = Arg::new("secret").long("secret").hide(true);
        let count = Command::new("count")
            .about("Count things")
            .args([files, way, quiet, secret]);
        let list = Command::new("list").about("List them");
        let manage = Command::new("manage")
            .about("Manage things")
            .subcommand(list);
        let tool = Command::new("tool")
            .about("Explains [a] <thing>.")
            .version("1")
            .arg(data.help("Data folder").default_value("data"))
            .subcommands([count, manage]);
        let page = describe_command_line(&tool);
        for expected in [
            "# Command line\n\nExplains \\[a\\] \\<thing\\>.\n",
            "- `--data <FOLDER>`: Data folder. Default: `data`.\n",
            "\n## `tool count`\n\nCount things.\n\n```text\ntool count [OPTIONS] <files>\n```\n",
            "- `<files>`: Files of `things`, as in a\\_b. Required.\n",
            "- `--way <way>`: How to count. Values: `fast` (Estimate), `exact`. Default: `fast`. \
             Environment variable: `TOOL_WAY`.\n",
            "- `--quiet`: Say nothing.\n",
            "\n### `tool manage list`\n\nList them.\n",
        ] {
            assert!(page.contains(expected), "{expected}\n---\n{page}");
        }
        for hidden in ["secret", "--help", "--version", "tool help"] {
            let shown = page.replace("`axioscope COMMAND --help`", "");
            assert!(!shown.contains(hidden), "{hidden}\n---\n{page}");
        }
        assert_eq!(page.matches("--data").count(), 1, "{page}");
    }

    #[test]
    fn help_texts_are_shown_as_they_are() {
        assert_eq!(escape_markdown("a_b `c_d` <e>"), r"a\_b `c_d` \<e\>");
        assert_eq!(escape_markdown("one ` alone_"), r"one \` alone\_");
    }
}
