//! The development commands of the project: demo, dev, check, test, regress, tidy, bench, dist,
//! setup, web.

mod process;
mod paths;
mod digest;
mod setup;
mod web;
mod demo;
mod dev;
mod test;
mod dist;
mod tidy;
mod bench;

use anyhow::{Result, bail};
use paths::ProjectPaths;
use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask <command>

  demo [ARGS]     set up what is missing, build everything, serve the demo study; ARGS go to
                  `axioscope serve`: --listen ADDR, --data FOLDER, …
  dev [ARGS]      server and pages in a development profile, built again when a file is saved; the
                  browser loads what changed. `--server ADDR` takes a server that is there already;
                  other ARGS go to `axioscope serve`
  check [NAMES]   format, style, lints, and unit tests of the packages that changed since `main` and
                  of those that depend on them, or of the named packages
  test [STEPS]    every check there is, or only the named steps (`test --list` shows them)
  dist            one release binary with the front end inside
  tidy            the rules of the house style that a program can check
  regress [NAMES] long checks with the real model, minutes each; `regress attack` runs those of a name
  bench [PARTS]   how fast, against whom: a table, written to BENCHMARKS.md when whole; `bench cuda`,
                  never without its name, takes an NVIDIA GPU
  setup           find or install what the other commands need, and nothing else
  web [--release] build the front end into dist/: quickly, or as it is shipped
";

fn main() -> ExitCode {
    match run() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<ExitCode> {
    let mut args = std::env::args().skip(1);
    let command = args.next().unwrap_or_default();
    let rest: Vec<String> = args.collect();
    let place = ProjectPaths::find()?;
    match command.as_str() {
        "demo" => demo::run(&place, &rest),
        "dev" => dev::run(&place, &rest),
        "check" => test::check::run(&place, &rest),
        "test" => test::run(&place, &rest),
        "dist" => done(dist::run(&place)),
        "tidy" => tidy::run(&place.root),
        "regress" => test::regress(&place, &rest),
        "bench" => done(bench::run(&place, &rest)),
        "setup" => done(setup::run(&place)),
        "web" => done(build_web(&place, &rest)),
        "" | "help" | "--help" | "-h" => {
            print!("{USAGE}");
            Ok(ExitCode::SUCCESS)
        }
        unknown => bail!("there is no command `{unknown}`\n\n{USAGE}"),
    }
}

fn build_web(place: &ProjectPaths, args: &[String]) -> Result<()> {
    let profile = match args {
        [] => web::WebProfile::Development,
        [flag] if flag == "--release" => web::WebProfile::Release,
        _ => bail!("`web` takes nothing but --release\n\n{USAGE}"),
    };
    web::build(place, &setup::web(place)?, profile)
}

fn done(result: Result<()>) -> Result<ExitCode> {
    result.map(|()| ExitCode::SUCCESS)
}
