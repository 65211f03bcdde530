//! Every check there is, in the order in which a mistake is found soonest.
//!
//! For this machine the workspace is always built as one selection of packages: cargo joins
//! the features of what is selected, so any smaller selection would compile the dependencies
//! again. For the same reason clippy for wasm uses the profile that the front end is built in.

mod tally;
pub(crate) mod postgres;

use crate::place::Place;
use crate::setup::browser::Browser;
use crate::setup::{self, WebTools};
use crate::{process, tidy, web};
use anyhow::{Context, Result, bail};
use postgres::{Server, Survives};
use std::fs;
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};
pub(crate) use tally::Tally;

/// Names the server of PostgreSQL to tests; `tests/src/postgres.rs` reads it.
const DATABASE: &str = "AXIOSCOPE_TEST_DATABASE_URL";
const WASM: &str = "wasm32-unknown-unknown";
/// What is compiled for this machine: the front end too, whose tests are of what it computes.
const NATIVE: [&str; 1] = ["--workspace"];
/// Those of them that may have test programs of their own.
const PACKAGES: [&str; 4] = ["shared", "neural", "backend", "xtask"];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    Fmt,
    Tidy,
    Clippy,
    ClippyWasm,
    Docs,
    Web,
    Build,
    Unit,
    EndToEnd,
}

impl Step {
    const ALL: [Step; 9] = [
        Step::Fmt,
        Step::Tidy,
        Step::Clippy,
        Step::ClippyWasm,
        Step::Docs,
        Step::Web,
        Step::Build,
        Step::Unit,
        Step::EndToEnd,
    ];

    /// The name on the command line, and what the step checks.
    fn about(self) -> (&'static str, &'static str) {
        match self {
            Step::Fmt => ("fmt", "the code is formatted"),
            Step::Tidy => ("tidy", "the rules of the house style"),
            Step::Clippy => ("clippy", "lints of what runs on this machine"),
            Step::ClippyWasm => ("clippy-wasm", "lints of what runs in the browser"),
            Step::Docs => ("docs", "the documentation has no broken link"),
            Step::Web => ("web", "the front end builds"),
            Step::Build => (
                "build",
                "everything builds for this machine, with the front end inside",
            ),
            Step::Unit => ("unit", "tests beside the code and in the documentation"),
            Step::EndToEnd => (
                "e2e",
                "command line, HTTP, parity, published numbers, browser",
            ),
        }
    }

    fn name(self) -> &'static str {
        self.about().0
    }

    fn named(name: &str) -> Result<Step> {
        let step = Step::ALL.into_iter().find(|step| step.name() == name);
        step.with_context(|| format!("there is no step `{name}`\n{}", list()))
    }
}

/// Runs the named steps, or all of them; stops at the first that fails.
pub(crate) fn run(place: &Place, args: &[String]) -> Result<ExitCode> {
    if args.iter().any(|it| it == "--list") {
        print!("{}", list());
        return Ok(ExitCode::SUCCESS);
    }
    let named = args
        .iter()
        .map(|name| Step::named(name))
        .collect::<Result<Vec<_>>>()?;
    let steps: Vec<Step> = Step::ALL
        .into_iter()
        .filter(|it| named.is_empty() || named.contains(it))
        .collect();

    let mut tally = Tally::default();
    let mut took = Vec::new();
    let mut failed = None;
    let mut bench = Bench::new(place);
    for (position, &step) in steps.iter().enumerate() {
        println!(
            "\n[{}/{}] {}: {}",
            position + 1,
            steps.len(),
            step.name(),
            step.about().1
        );
        let start = Instant::now();
        let outcome = bench.run(step);
        took.push((step, start.elapsed()));
        match outcome {
            Ok(part) => {
                let broken = part.n_failed > 0;
                tally.add(part);
                if broken {
                    failed = Some(step);
                    break;
                }
            }
            Err(error) => {
                eprintln!("error: {error:#}");
                tally.n_failed += 1;
                failed = Some(step);
                break;
            }
        }
    }
    report(&took, failed, &tally);
    Ok(if failed.is_some() {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

/// Long checks with the real model: nothing that they need may be absent.
pub(crate) fn regress(place: &Place) -> Result<ExitCode> {
    let tally = Bench::new(place).long()?;
    println!("\n{}", tally.line());
    Ok(match tally.n_failed {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    })
}

fn report(took: &[(Step, Duration)], failed: Option<Step>, tally: &Tally) {
    println!();
    for (step, time) in took {
        let verdict = if failed == Some(*step) {
            "FAILED"
        } else {
            "ok"
        };
        println!(
            "{:12} {:>7.1} s  {verdict}",
            step.name(),
            time.as_secs_f64()
        );
    }
    if let Some(step) = failed {
        println!("\nto repeat: cargo xtask test {}", step.name());
    }
    if !tally.skipped.is_empty() {
        println!("\nskipped:");
        for what in &tally.skipped {
            println!("  {what}");
        }
    }
    println!("\n{}", tally.line());
}

fn list() -> String {
    let line = |step: Step| format!("  {:12} {}\n", step.name(), step.about().1);
    Step::ALL.into_iter().map(line).collect()
}

/// Where steps run; what builds the front end, and a server of PostgreSQL, are looked for when a
/// step first asks.
struct Bench<'a> {
    place: &'a Place,
    tools: Option<WebTools>,
    database: Option<Found>,
}

/// A server of PostgreSQL, or why there is none.
enum Found {
    Server(Server),
    Absent(String),
}

impl<'a> Bench<'a> {
    fn new(place: &'a Place) -> Bench<'a> {
        Bench {
            place,
            tools: None,
            database: None,
        }
    }

    fn run(&mut self, step: Step) -> Result<Tally> {
        match step {
            Step::Fmt => check(cargo(&["fmt", "--all", "--check"])),
            Step::Tidy => tidy::check(&self.place.root),
            Step::Clippy => {
                self.dist_folder()?;
                let mut clippy = cargo(&["clippy", "--locked"]);
                clippy
                    .args(NATIVE)
                    .args(["--all-targets", "--", "-D", "warnings"]);
                check(clippy)
            }
            Step::ClippyWasm => {
                let mut clippy = self.tools()?.command("cargo");
                clippy.args([
                    "clippy",
                    "--locked",
                    "--package",
                    "frontend",
                    "--package",
                    "worker",
                ]);
                clippy.args(["--target", WASM, "--profile", "web", "--", "-D", "warnings"]);
                check(clippy)
            }
            Step::Docs => {
                self.dist_folder()?;
                let mut doc = cargo(&["doc", "--locked", "--no-deps", "--document-private-items"]);
                doc.args(NATIVE).env("RUSTDOCFLAGS", "-D warnings");
                check(doc)
            }
            Step::Web => {
                let place = self.place;
                web::build(place, self.tools()?, web::Profile::Development)?;
                Ok(Tally::passed(1))
            }
            Step::Build => {
                let place = self.place;
                web::build(place, self.tools()?, web::Profile::Development)?;
                let mut build = cargo(&["build", "--locked", "--all-targets"]);
                build.args(NATIVE);
                check(build)
            }
            Step::Unit => {
                self.dist_folder()?;
                let exactness = self.place.target.join("exactness.tsv");
                fs::write(&exactness, "")
                    .with_context(|| format!("writing {}", exactness.display()))?;
                let mut beside = cargo(&["test", "--lib", "--bins"]);
                let skips = self.skips()?;
                beside
                    .env("AXIOSCOPE_EXACTNESS", &exactness)
                    .env("AXIOSCOPE_SKIPPED", &skips)
                    .env(DATABASE, self.database());
                for name in integration_tests(self.place)? {
                    beside.args(["--test", &name]);
                }
                let mut tally = tests(&mut beside)?;
                print!("{}", exactness_table(&fs::read_to_string(&exactness)?));
                tally.skip(fs::read_to_string(&skips).unwrap_or_default().lines());
                tally.add(tests(cargo(&["test"]).arg("--doc"))?);
                Ok(tally)
            }
            Step::EndToEnd => self.end_to_end(),
        }
    }

    fn tools(&mut self) -> Result<&WebTools> {
        if self.tools.is_none() {
            self.tools = Some(setup::web(self.place)?);
        }
        Ok(self.tools.as_ref().expect("set above"))
    }

    /// A file for what tests say that they skipped.
    fn skips(&self) -> Result<PathBuf> {
        let file = self.place.target.join("skipped-tests");
        fs::write(&file, "").with_context(|| format!("writing {}", file.display()))?;
        Ok(file)
    }

    /// The address of a server of PostgreSQL; empty where there is none, and tests then say that
    /// they ran on SQLite alone.
    fn database(&mut self) -> String {
        let found = self.database.get_or_insert_with(|| {
            let started =
                setup::postgres::get().and_then(|it| Server::start(&it, Survives::Nothing));
            match started {
                Ok(server) => Found::Server(server),
                Err(error) => Found::Absent(format!("{error:#}")),
            }
        });
        match found {
            Found::Server(server) => server.url(),
            Found::Absent(reason) => {
                println!("absent: PostgreSQL ({reason})");
                String::new()
            }
        }
    }

    /// The backend embeds `dist/` and does not compile without that folder.
    fn dist_folder(&self) -> Result<()> {
        fs::create_dir_all(self.place.dist()).context("making dist/")
    }

    /// The end-to-end tests of `regress.rs`, one after the other: each takes all cores.
    fn long(&mut self) -> Result<Tally> {
        let data = data(self.place).context("set AXIOSCOPE_DATA to the folder of collections")?;
        self.dist_folder()?;
        let built = ["build", "--release", "--locked", "--package", "backend"];
        process::run(&mut cargo(&built))?;
        let mut test = cargo(&["test", "--locked", "--package", "tests"]);
        test.args(["--features", "regress", "--test", "end_to_end"])
            .args(["--", "regress::", "--test-threads", "1", "--nocapture"])
            .env("AXIOSCOPE_BIN", program(self.place, "release")?)
            .env("AXIOSCOPE_DIST", self.place.dist())
            .env("AXIOSCOPE_DATA", data)
            .env("AXIOSCOPE_MODEL", setup::model::get(self.place)?)
            .env(DATABASE, self.database());
        let mut tally = Tally::default();
        let status = process::listen(&mut test, |line| tally.hear(line))?;
        if !status.success() && tally.n_failed == 0 {
            bail!("`{}` failed ({status})", process::line(&test));
        }
        Ok(tally)
    }

    /// Drives the program that the build step left, with everything it may need named in the
    /// environment. What cannot be had is left out there, and the tests that need it skip.
    fn end_to_end(&mut self) -> Result<Tally> {
        let place = self.place;
        let program = program(place, "debug")?;
        let skips = self.skips()?;
        let database = self.database();

        let mut absent = Vec::new();
        let mut test = cargo(&["test"]);
        test.args(["--test", "end_to_end"])
            .env("PATH", self.tools()?.search_path())
            .env("AXIOSCOPE_BIN", program)
            .env("AXIOSCOPE_DIST", place.dist())
            .env("AXIOSCOPE_SKIPPED", &skips)
            .env(DATABASE, database);
        match data(place) {
            Some(folder) => test.env("AXIOSCOPE_DATA", folder),
            None => {
                absent.push("collections (set AXIOSCOPE_DATA to their folder)".to_owned());
                test.env_remove("AXIOSCOPE_DATA")
            }
        };
        match setup::model::get(place) {
            Ok(folder) => test.env("AXIOSCOPE_MODEL", folder),
            Err(error) => {
                absent.push(format!("neural model ({error:#})"));
                test.env_remove("AXIOSCOPE_MODEL")
            }
        };
        match setup::browser::get(place) {
            Ok(Browser {
                chromium,
                chromedriver,
                axe,
            }) => test
                .env("CHROMIUM", chromium)
                .env("CHROMEDRIVER", chromedriver)
                .env("AXIOSCOPE_AXE", axe),
            Err(error) => {
                absent.push(format!("browser ({error:#})"));
                test.env_remove("CHROMIUM")
                    .env_remove("CHROMEDRIVER")
                    .env_remove("AXIOSCOPE_AXE")
            }
        };
        for what in &absent {
            println!("absent: {what}");
        }
        let mut tally = tests(&mut test)?;
        let skipped = fs::read_to_string(&skips).unwrap_or_default();
        tally.skip(skipped.lines());
        Ok(tally)
    }
}

/// The largest differences from reference implementations that tests have told, a line each:
/// fixture, what is compared, difference.
fn exactness_table(told: &str) -> String {
    let mut rows: Vec<Vec<&str>> = told.lines().map(|it| it.split('\t').collect()).collect();
    rows.sort();
    rows.dedup();
    let mut table = format!(
        "\n{:26} {:26} largest difference from the reference, f32\n",
        "architecture", "of what"
    );
    for row in rows {
        if let [name, what, worst] = row[..] {
            table += &format!("{name:26} {what:26} {worst}\n");
        }
    }
    table
}

/// The program, built in this profile.
fn program(place: &Place, profile: &str) -> Result<PathBuf> {
    let program = place.program(profile);
    if !program.is_file() {
        bail!(
            "{} is missing: run `cargo xtask test build` first",
            program.display()
        );
    }
    Ok(program)
}

/// The collections with published numbers: `AXIOSCOPE_DATA`, else `../shared/data` beside the
/// checkout, when there is one.
fn data(place: &Place) -> Option<PathBuf> {
    let set = std::env::var_os("AXIOSCOPE_DATA")
        .filter(|it| !it.is_empty())
        .map(PathBuf::from);
    let beside = || place.root.parent().map(|it| it.join("shared/data"));
    set.or_else(beside).filter(|it| it.is_dir())
}

/// The test programs that a package has in a `tests/` of its own. The end-to-end binary is not
/// among them: its package is that folder.
fn integration_tests(place: &Place) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for package in PACKAGES {
        let Ok(entries) = fs::read_dir(place.root.join(package).join("tests")) else {
            continue;
        };
        for entry in entries {
            let file = entry?.path();
            // As cargo finds them: a file, or a folder with a `main.rs`.
            if file.extension().is_some_and(|it| it == "rs") || file.join("main.rs").is_file() {
                names.extend(file.file_stem().map(|it| it.to_string_lossy().into_owned()));
            }
        }
    }
    names.sort();
    Ok(names)
}

fn cargo(args: &[&str]) -> Command {
    let mut command = Command::new("cargo");
    command.args(args);
    command
}

/// A check without tests of its own counts as one.
fn check(mut command: Command) -> Result<Tally> {
    process::run(&mut command)?;
    Ok(Tally::passed(1))
}

/// Runs `cargo test …` over the native packages and counts what its runners report.
fn tests(command: &mut Command) -> Result<Tally> {
    command.arg("--locked").arg("--no-fail-fast").args(NATIVE);
    let mut tally = Tally::default();
    let status = process::listen(command, |line| tally.hear(line))?;
    if !status.success() && tally.n_failed == 0 {
        bail!("`{}` failed ({status})", process::line(command));
    }
    Ok(tally)
}
