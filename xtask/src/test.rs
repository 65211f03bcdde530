//! All checks of the project, in the order in which mistakes are found fastest.
//!
//! The workspace is always built as one selection of packages: cargo unifies the features of the
//! selected packages, so that a smaller selection would compile the dependencies again. For the
//! same reason clippy for wasm uses the build profile of the front end.

pub(crate) mod check;
mod dependency;
mod report;
mod step;
mod counts;
pub(crate) mod postgres;

use crate::paths::{NATIVE, ProjectPaths};
use crate::setup::{self, WebTools};
use crate::{dist, process, tidy, web};
use anyhow::{Context, Result, bail};
pub(crate) use counts::TestCounts;
use counts::TestEvent;
use postgres::{Durability, PostgresServer};
use report::TestReport;
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, ExitCode, ExitStatus};
use step::{Step, describe_steps};
use test_dependencies::TestDependency;

/// Variable with the address of the PostgreSQL server for tests, read by `tests/src/postgres.rs`.
const DATABASE: &str = "AXIOSCOPE_TEST_DATABASE_URL";
/// Variable that makes the tests of the cluster long.
const LONG_CLUSTER_TESTS: &str = "AXIOSCOPE_CLUSTER_LONG";
/// Name of these tests among the regression tests.
const CLUSTER: &str = "cluster";
const WASM: &str = "wasm32-unknown-unknown";
/// Variable with the number of seconds for which `backend/src/mutated_input.rs` tests each parser.
const FUZZ_SECONDS: &str = "AXIOSCOPE_FUZZ_SECONDS";
/// Variable that selects end-to-end tests by parts of their names; `--skip PART` excludes some.
const NAMED_TESTS: &str = "AXIOSCOPE_TESTS";
/// End of the name of the test of the step `dev`, which the step `e2e` excludes.
const DEV_TESTS: &str = "seen_within_seconds";
/// Prefix of the end-to-end tests of the step `packages`, which the step `e2e` excludes.
const PACKAGE_TESTS: &str = "packages::";

/// Runs the named steps, or all of them, and stops at the first failure.
pub(crate) fn run(place: &ProjectPaths, args: &[String]) -> Result<ExitCode> {
    if args.iter().any(|it| it == "--list") {
        print!("{}", describe_steps());
        return Ok(ExitCode::SUCCESS);
    }
    let named = args
        .iter()
        .map(|name| Step::from_name(name))
        .collect::<Result<Vec<_>>>()?;
    let is_selected = |step: &Step| match named.is_empty() {
        true => !step.is_only_run_by_name(),
        false => named.contains(step),
    };
    let steps: Vec<Step> = Step::ALL.into_iter().filter(is_selected).collect();
    process::build_once();

    let mut bench = TestContext::new(place)?;
    let mut report = TestReport::default();
    if steps.iter().any(|it| it.has_dependencies())
        && let Err(error) = dependency::find_required(place)
    {
        report.fail(&error);
    }
    for step in steps {
        report.run(step, || bench.run(step));
    }
    Ok(report.finish())
}

/// How much the tests of the cluster do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ClusterTestSize {
    /// A few kills, and the first queries of the demo study.
    Short,
    /// 140 kills, and the whole demo study.
    Long,
}

/// Runs long checks with the real model, or those whose names contain one of the words. All
/// dependencies are required.
pub(crate) fn regress(place: &ProjectPaths, words: &[String]) -> Result<ExitCode> {
    process::build_once();
    let tally = TestContext::new(place)?.regression_tests(words)?;
    println!("\n{}", tally.line());
    Ok(match tally.n_failed {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    })
}

/// The context in which steps run. The tools for the front end and a PostgreSQL server are looked
/// up when a step first needs them.
struct TestContext<'a> {
    place: &'a ProjectPaths,
    required: Vec<TestDependency>,
    tools: Option<WebTools>,
    database: Option<Found>,
}

/// The PostgreSQL server for tests, if available.
enum Found {
    Server(PostgresServer),
    Absent,
}

impl<'a> TestContext<'a> {
    fn new(place: &'a ProjectPaths) -> Result<TestContext<'a>> {
        Ok(TestContext {
            place,
            required: dependency::required()?,
            tools: None,
            database: None,
        })
    }

    fn run(&mut self, step: Step) -> Result<TestCounts> {
        match step {
            Step::Fmt => check(cargo(&["fmt", "--all", "--check"])),
            Step::Tidy => tidy::check(&self.place.root),
            Step::Deny => {
                let mut deny = Command::new(setup::deny(self.place)?);
                // cargo-deny also reads packages that are compiled only on other systems.
                process::run(&mut cargo(&["fetch", "--locked"]))?;
                deny.args(["--offline", "--locked", "check", "--hide-inclusion-graph"])
                    .args(["bans", "licenses", "sources"]);
                check(deny)
            }
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
                clippy.args(["clippy", "--locked", "--target", WASM]);
                clippy.args(["--package", "frontend", "--package", "worker"]);
                clippy.args(["--", "-D", "warnings"]);
                check(clippy)
            }
            Step::Cuda => self.cuda(),
            Step::Docs => {
                self.dist_folder()?;
                let mut doc = cargo(&["doc", "--locked", "--no-deps", "--document-private-items"]);
                doc.args(NATIVE).env("RUSTDOCFLAGS", "-D warnings");
                check(doc)
            }
            Step::Web => {
                let place = self.place;
                web::build(place, self.tools()?, web::WebProfile::Development)?;
                Ok(TestCounts::passed(1))
            }
            Step::Build => {
                let place = self.place;
                web::build(place, self.tools()?, web::WebProfile::Development)?;
                let mut build = cargo(&["build", "--locked", "--tests"]);
                build
                    .args(NATIVE)
                    .args(["--bin", "axioscope", "--bin", "xtask"]);
                check(build)
            }
            Step::Unit => {
                let mut tally = self.unit(None)?;
                let mut doc = cargo(&["test", "--doc", "--locked", "--no-fail-fast"]);
                // The pages have no examples, and nothing else links them on this machine.
                tally.add(libtest(doc.args(NATIVE).args(["--exclude", "frontend"]))?);
                Ok(tally)
            }
            Step::EndToEnd => self.end_to_end(&["--skip", DEV_TESTS, "--skip", PACKAGE_TESTS]),
            Step::Dev => self.end_to_end(&[DEV_TESTS]),
            Step::Packages => {
                dist::run(self.place, &[])?;
                self.end_to_end(&[PACKAGE_TESTS, "--nocapture"])
            }
            Step::Cluster => self.cluster(ClusterTestSize::Short),
            Step::ClippyCluster => {
                self.dist_folder()?;
                let mut clippy = cargo(&["clippy", "--locked", "--no-deps", "--all-targets"]);
                clippy.args(["--package", "cluster", "--", "-D", "warnings"]);
                check(clippy)
            }
        }
    }

    /// Tests the cluster against the studies of the program of the build step. Each test starts
    /// several processes, so that two tests at once keep two cores busy; long ones run alone.
    fn cluster(&mut self, size: ClusterTestSize) -> Result<TestCounts> {
        self.dist_folder()?;
        let built = ["build", "--locked", "--package", "backend", "--bins"];
        process::run(&mut cargo(&built))?;
        let skips = self.skips()?;
        let mut test = cargo(&["test", "--locked", "--package", "cluster", "--no-fail-fast"]);
        test.env("AXIOSCOPE_SKIPPED", &skips);
        let n_at_once = match size {
            ClusterTestSize::Short => "2",
            ClusterTestSize::Long => {
                test.env(LONG_CLUSTER_TESTS, "yes");
                "1"
            }
        };
        let needed = [
            TestDependency::Collections,
            TestDependency::Model,
            TestDependency::S3,
        ];
        self.name_dependencies(&mut test, &needed)?;
        let mut tally = libtest(test.args(["--", "--test-threads", n_at_once]))?;
        tally.skip(fs::read_to_string(&skips).unwrap_or_default().lines());
        Ok(tally)
    }

    fn tools(&mut self) -> Result<&WebTools> {
        if self.tools.is_none() {
            self.tools = Some(setup::web(self.place)?);
        }
        Ok(self.tools.as_ref().expect("set above"))
    }

    /// Creates the file in which tests record that they were skipped.
    fn skips(&self) -> Result<PathBuf> {
        let file = self.place.target.join("skipped-tests");
        fs::write(&file, "").with_context(|| format!("writing {}", file.display()))?;
        Ok(file)
    }

    /// Names the dependencies in the environment of a test; those that are missing are left out.
    fn name_dependencies(&self, test: &mut Command, needed: &[TestDependency]) -> Result<()> {
        for &needed in needed {
            let variables = dependency::variables(needed).iter();
            match dependency::find(needed, self.place) {
                Ok(found) => {
                    test.envs(variables.zip(found));
                }
                Err(error) => {
                    self.skip_dependency(needed, &error)?;
                    for variable in variables {
                        test.env_remove(variable);
                    }
                }
            }
        }
        Ok(())
    }

    /// Prints that a dependency is missing, or returns an error if it is required.
    fn skip_dependency(&self, dependency: TestDependency, reason: &anyhow::Error) -> Result<()> {
        let name = dependency.name();
        if self.required.contains(&dependency) {
            bail!("`{name}` is required and absent: {reason:#}");
        }
        println!("absent: {name} ({reason:#})");
        Ok(())
    }

    /// Returns the address of a PostgreSQL server; empty if there is none, and tests then run on
    /// SQLite only.
    fn database(&mut self) -> Result<String> {
        if self.database.is_none() {
            let started =
                setup::postgres::get().and_then(|it| PostgresServer::start(&it, Durability::None));
            self.database = Some(match started {
                Ok(server) => Found::Server(server),
                Err(error) => {
                    self.skip_dependency(TestDependency::Postgres, &error)?;
                    Found::Absent
                }
            });
        }
        Ok(match &self.database {
            Some(Found::Server(server)) => server.url(),
            _ => String::new(),
        })
    }

    /// Creates the folder `dist/`, without which the backend does not compile.
    fn dist_folder(&self) -> Result<()> {
        fs::create_dir_all(self.place.dist()).context("making dist/")
    }

    /// Type-checks `neural` with the feature for NVIDIA GPUs. A script replaces the compiler of the
    /// kernels, so that nothing can be linked. No other build takes its output for real kernels:
    /// their build scripts run again when one of these variables has changed.
    fn cuda(&self) -> Result<TestCounts> {
        let mut cuda = cargo(&["check", "--locked", "--package", "neural"]);
        cuda.args(["--features", "cuda"])
            .env("NVCC", self.place.root.join("xtask/cuda/nvcc"))
            .env("CUDARC_CUDA_VERSION", "13000")
            .env("CUDA_COMPUTE_CAP", "80");
        check(cuda)
    }

    /// Runs the unit tests of the given packages or of all, each test in its own process.
    fn unit(&mut self, packages: Option<&BTreeSet<String>>) -> Result<TestCounts> {
        self.dist_folder()?;
        let exactness = self.place.target.join("exactness.tsv");
        fs::write(&exactness, "").with_context(|| format!("writing {}", exactness.display()))?;
        let skips = self.skips()?;
        let mut nextest = Command::new(setup::nextest(self.place)?);
        nextest
            .args(["nextest", "run", "--locked", "--no-fail-fast"])
            .args(["--no-tests", "pass", "--status-level", "slow"])
            .args(NATIVE)
            // The end-to-end tests are steps of their own.
            .args(["--exclude", "tests", "--tests"])
            .env("AXIOSCOPE_EXACTNESS", &exactness)
            .env("AXIOSCOPE_SKIPPED", &skips)
            .env(DATABASE, self.database()?);
        if let Some(packages) = packages {
            let filters: Vec<String> = packages
                .iter()
                .map(|it| format!("package(={it})"))
                .collect();
            nextest.args(["--filterset", &filters.join(" + ")]);
        }
        let mut tally = nextest_run(&mut nextest)?;
        print!("{}", exactness_table(&fs::read_to_string(&exactness)?));
        tally.skip(fs::read_to_string(&skips).unwrap_or_default().lines());
        Ok(tally)
    }

    /// Runs the end-to-end tests of `regress.rs` one after the other, since each uses all cores.
    /// Then tests every parser with mutated input, each for as many seconds as the environment
    /// says.
    fn regression_tests(&mut self, words: &[String]) -> Result<TestCounts> {
        let place = self.place;
        let mut of_cluster = TestCounts::default();
        if words.is_empty() || words.iter().any(|it| it == CLUSTER) {
            of_cluster = self.cluster(ClusterTestSize::Long)?;
            if words == [CLUSTER] {
                return Ok(of_cluster);
            }
        }
        let words = words.iter().map(String::as_str);
        let words: Vec<&str> = words.filter(|it| *it != CLUSTER).collect();
        self.dist_folder()?;
        let built = ["build", "--release", "--locked", "--package", "backend"];
        process::run(&mut cargo(&built))?;
        let mut filters: Vec<String> = words.iter().map(|it| format!("regress::{it}")).collect();
        if filters.is_empty() {
            filters.push("regress::".to_owned());
        }
        let mut test = cargo(&["test", "--locked", "--package", "tests"]);
        test.args(["--features", "regress", "--test", "end_to_end"])
            .arg("--")
            .args(filters)
            .args(["--test-threads", "1", "--nocapture"])
            .env("AXIOSCOPE_BIN", program(place, "release")?)
            .env("AXIOSCOPE_DIST", place.dist())
            .env(DATABASE, self.database()?);
        for needed in [
            TestDependency::Browser,
            TestDependency::Collections,
            TestDependency::Model,
        ] {
            let variables = dependency::variables(needed).iter();
            test.envs(variables.zip(dependency::find(needed, place)?));
        }
        let mut tally = libtest(&mut test)?;
        if !words.is_empty() && !words.contains(&"mutated_input") {
            if tally.n_passed + tally.n_failed == 0 {
                bail!(
                    "no name of a regression test begins with {}",
                    words.join(" or ")
                );
            }
            tally.add(of_cluster);
            return Ok(tally);
        }
        // The test profile detects integer overflow.
        let mut mutated = cargo(&["test", "--locked", "--package", "backend"]);
        mutated.args(["--lib", "mutated_input::", "--", "--nocapture"]);
        let seconds = std::env::var(FUZZ_SECONDS);
        mutated.env(FUZZ_SECONDS, seconds.as_deref().unwrap_or("60"));
        tally.add(libtest(&mut mutated)?);
        tally.add(of_cluster);
        Ok(tally)
    }

    /// Runs the end-to-end tests with the program of the build step. The environment names all
    /// dependencies; those that are missing are left out, and tests that need them are skipped.
    ///
    /// In contrast to unit tests, all run in one process: they share the driver of a browser and
    /// servers with the demo study, which take seconds to start.
    fn end_to_end(&mut self, filter: &[&str]) -> Result<TestCounts> {
        let place = self.place;
        let skips = self.skips()?;
        let mut test = cargo(&["test", "--test", "end_to_end", "--locked", "--no-fail-fast"]);
        test.args(NATIVE)
            .env("PATH", self.tools()?.search_path())
            .env("AXIOSCOPE_BIN", program(place, "debug")?)
            .env("AXIOSCOPE_DIST", place.dist())
            .env("AXIOSCOPE_SKIPPED", &skips)
            .env("AXIOSCOPE_XTASK", std::env::current_exe()?)
            .env("AXIOSCOPE_PACKAGES", dist::folder(place))
            .env(DATABASE, self.database()?);
        let needed = [
            TestDependency::Collections,
            TestDependency::Model,
            TestDependency::WebKit,
            TestDependency::Proxy,
            TestDependency::Browser,
        ];
        self.name_dependencies(&mut test, &needed)?;
        // Half of the time, tests wait for servers and pages.
        let n_threads = 2 * std::thread::available_parallelism()?.get();
        test.args(["--", "--test-threads", &n_threads.to_string()]);
        let names = std::env::var(NAMED_TESTS).unwrap_or_default();
        let mut tally = libtest(test.args(filter).args(names.split_whitespace()))?;
        tally.skip(fs::read_to_string(&skips).unwrap_or_default().lines());
        Ok(tally)
    }
}

/// Formats the largest differences from reference implementations that tests have reported, one per
/// line: fixture, what is compared, difference.
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

/// Returns the path of the program in a profile; an error if it has not been built.
fn program(place: &ProjectPaths, profile: &str) -> Result<PathBuf> {
    let program = place.program(profile);
    if !program.is_file() {
        bail!(
            "{} is missing: run `cargo xtask test build` first",
            program.display()
        );
    }
    Ok(program)
}

fn cargo(args: &[&str]) -> Command {
    let mut command = Command::new("cargo");
    command.args(args);
    command
}

/// Runs a check without tests, which counts as one.
fn check(mut command: Command) -> Result<TestCounts> {
    process::run(&mut command)?;
    Ok(TestCounts::passed(1))
}

/// Runs nextest, counts its results, and prints the slowest tests.
fn nextest_run(command: &mut Command) -> Result<TestCounts> {
    const N_SLOWEST: usize = 10;

    command
        .args(["--message-format", "libtest-json"])
        .env("NEXTEST_EXPERIMENTAL_LIBTEST_JSON", "1");
    let mut tally = TestCounts::default();
    let mut times = Vec::new();
    let status = process::listen(command, |line| {
        if let Some(event) = TestEvent::of_ended_test(line) {
            tally.add_event(&event);
            times.extend(
                event
                    .time_s()
                    .map(|(time_s, name)| (time_s, name.to_owned())),
            );
        }
    })?;
    check_exit(command, status, &tally)?;
    times.sort_by(|a, b| b.0.total_cmp(&a.0));
    println!("\nslowest tests");
    for (time_s, name) in times.iter().take(N_SLOWEST) {
        println!("{time_s:>7.1} s  {name}");
    }
    Ok(tally)
}

/// Runs `cargo test …` and counts the results.
fn libtest(command: &mut Command) -> Result<TestCounts> {
    let mut tally = TestCounts::default();
    let status = process::listen(command, |line| {
        println!("{line}");
        tally.add_line(line);
    })?;
    check_exit(command, status, &tally)?;
    Ok(tally)
}

/// Returns an error if a test runner fails without a failed test, which means that it did not run
/// all tests.
fn check_exit(command: &Command, status: ExitStatus, tally: &TestCounts) -> Result<()> {
    if !status.success() && tally.n_failed == 0 {
        bail!("`{}` failed ({status})", process::command_line(command));
    }
    Ok(())
}
