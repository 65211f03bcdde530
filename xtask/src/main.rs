//! The development commands of the project: demo, dev, check, test, regress, tidy, bench, dist,
//! gallery, setup, web.

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
mod gallery;

use anyhow::{Result, bail};
use paths::ProjectPaths;
use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask <command>

  demo [ARGS]     install what is missing, build everything, serve the demo study; ARGS are passed
                  to `axioscope serve`: --listen ADDR, --data FOLDER, …
  dev [ARGS]      run server and pages in a development profile; build when a file is saved and
                  reload the browser. `--server ADDR` uses a running server; other ARGS are passed
                  to `axioscope serve`
  check [NAMES]   check format, style and lints, and run the unit tests of the packages that changed
                  since `main` and of their dependents, or of the named packages
  test [STEPS]    run every check, or only the named steps (`test --list` shows them)
  dist [PACKAGES] build one release binary with the front end inside, an archive, a Debian package
                  and the file tree of a container image; PACKAGES of `archive deb image` selects
  gallery [NAMES] [OPTIONS]
                  make the studies of studies/ whose data are at hand, or the named ones, and a
                  static site of them; OPTIONS are passed to `axioscope site build`
  tidy            check the style rules that a program can check
  regress [NAMES] run slow checks with the real model, minutes each; NAMES selects tests by name
  bench [PARTS]   measure speed against other programs; a complete run writes BENCHMARKS.md;
                  `bench cuda`, which needs an NVIDIA GPU, and `bench cluster`, which builds the
                  cluster, run only when named
  setup           find or install what the other commands need
  web [--release] build the front end into dist/ in the development or the release profile
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
    let wants_help = rest.iter().any(|it| it == "--help" || it == "-h");
    if command.is_empty() || ["help", "--help", "-h"].contains(&&*command) || wants_help {
        print!("{USAGE}");
        return Ok(ExitCode::SUCCESS);
    }
    let place = ProjectPaths::find()?;
    match command.as_str() {
        "demo" => demo::run(&place, &rest),
        "dev" => dev::run(&place, &rest),
        "check" => test::check::run(&place, &rest),
        "test" => test::run(&place, &rest),
        "dist" => done(dist::run(&place, &rest)),
        "gallery" => done(gallery::run(&place, &rest)),
        "tidy" => tidy::run(&place.root),
        "regress" => test::regress(&place, &rest),
        "bench" => done(bench::run(&place, &rest)),
        "setup" => done(setup::run(&place)),
        "web" => done(build_web(&place, &rest)),
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
