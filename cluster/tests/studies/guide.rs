//! The page of the guide about clusters: the commands of the first cluster and those that make
//! certificates are run, and all others have options that the program knows.

use std::net::TcpListener;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use test_dependencies::{TestDependency, or_skip};

use crate::command_lines::KnownCommands;
use crate::processes::{RunningProcess, finish, quiet};
use crate::{job_records, root};

const GUIDE: &str = include_str!("../../../docs/guide/cluster.md");

/// The address of the scheduler in the guide.
const SCHEDULER: &str = "127.0.0.1:50050";

/// The subcommands of the program.
const SUBCOMMANDS: [&str; 5] = ["scheduler", "executor", "run", "status", "cancel"];

/// Returns the lines of the shell blocks in a section.
fn shell_lines(heading: &str) -> Vec<&'static str> {
    let (_, section) = GUIDE.split_once(&format!("\n## {heading}\n")).unwrap();
    let section = section.split("\n## ").next().unwrap();
    let blocks = section.split("```sh\n").skip(1);
    let lines: Vec<&str> = blocks
        .flat_map(|it| it.split("```").next().unwrap().lines())
        .collect();
    assert!(!lines.is_empty(), "{heading} has no command");
    lines
}

/// Returns a command line to run in a folder, with the programs of this build.
fn shell(folder: &Path, line: &str) -> Command {
    let programs = Path::new(env!("CARGO_BIN_EXE_axioscope-cluster")).parent();
    let mut path = programs.unwrap().as_os_str().to_owned();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let mut shell = quiet(Path::new("sh"));
    shell
        .args(["-ec", line])
        .current_dir(folder)
        .env("PATH", path);
    shell
}

#[test]
fn the_first_cluster_of_the_guide_creates_the_study() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for name in ["demo", "models"] {
        symlink(root().join(name), folder.join(name)).unwrap();
    }
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = free.local_addr().unwrap().to_string();
    drop(free);
    let mut background = Vec::new();
    for line in shell_lines("A first cluster on one machine") {
        let line = line.replace(SCHEDULER, &address);
        match line.strip_suffix(" &") {
            Some(line) => {
                let mut process = shell(folder, &format!("exec {line}"));
                let log = folder.join("background.log");
                background.push(RunningProcess::spawn(&mut process, &log));
            }
            None => finish(&mut shell(folder, &line)),
        }
    }
    assert_eq!(background.len(), 3, "a scheduler and two executors");
    for process in &mut background {
        assert!(
            !process.has_ended_within(Duration::ZERO),
            "{}",
            process.log()
        );
    }
    let job = &job_records(&folder.join("axioscope-data"))[0];
    assert_eq!(job["state"], "done", "{job}");
    let stages = job["stages"].as_array().unwrap().iter();
    let stages: Vec<_> = stages.map(|it| it["name"].as_str().unwrap()).collect();
    assert!(
        stages.contains(&"mine") && stages.contains(&"score"),
        "{job}"
    );
}

#[test]
fn the_certificates_of_the_guide_are_for_both_sides_of_a_connection() {
    let found = Command::new("openssl").arg("version").output().ok();
    if or_skip(found, TestDependency::SystemProgram, "no openssl").is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for line in shell_lines("Security") {
        finish(&mut shell(folder.path(), line));
    }
    for purpose in ["sslserver", "sslclient"] {
        let verify = format!(
            "openssl verify -CAfile ca.crt -purpose {purpose} -verify_hostname axioscope-cluster \
             tls.crt"
        );
        finish(&mut shell(folder.path(), &verify));
    }
    // Otherwise it would not be accepted as that of a process.
    let is_of_process = "openssl x509 -in tls.crt -noout -text | grep CA:FALSE";
    finish(&mut shell(folder.path(), is_of_process));
}

#[test]
fn the_commands_and_options_of_the_guide_exist() {
    let mut known = KnownCommands::default();
    let mut commands = Vec::new();
    let mut options = Vec::new();
    let mut is_in_block = false;
    for line in GUIDE.lines() {
        if line.starts_with("```") {
            is_in_block = !is_in_block;
        } else if is_in_block {
            commands.push(line.to_owned());
            // Arguments of the container whose entry point is the program.
            let arguments = line.split_once(" run --rm driver ");
            commands.extend(arguments.map(|it| format!("axioscope-cluster {}", it.1)));
        } else {
            let code = line.split('`').skip(1).step_by(2);
            commands.extend(code.clone().map(str::to_owned));
            let named = code.filter(|it| it.starts_with("--"));
            options.extend(named.map(|it| it.split(' ').next().unwrap()));
        }
    }
    commands.retain(|it| it.split_whitespace().any(|it| it == "axioscope-cluster"));
    assert!(commands.len() > 20, "{commands:?}");
    for line in &commands {
        known.expect_valid(line);
    }
    assert!(options.len() > 20, "{options:?}");
    for option in options {
        let mut names = SUBCOMMANDS.iter();
        let is_known = names.any(|it| known.subcommand(it).option(option).is_some());
        assert!(is_known, "no subcommand has {option}");
    }
}

#[test]
fn the_defaults_in_the_guide_are_those_of_the_program() {
    let mut known = KnownCommands::default();
    let mut n_compared = 0;
    for line in GUIDE.lines().filter(|it| it.starts_with("| `--")) {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [_, option, command, default, ..] = cells[..] else {
            panic!("{line}");
        };
        let option = option.trim_matches('`').split(' ').next().unwrap();
        let found = known.subcommand(command.trim_matches('`')).option(option);
        let found = found.unwrap_or_else(|| panic!("{command} has no {option}"));
        if default.parse::<u64>().is_ok() {
            assert_eq!(found.default.as_deref(), Some(default), "{option}");
            n_compared += 1;
        }
    }
    assert!(n_compared >= 6, "only {n_compared} defaults were found");
}
