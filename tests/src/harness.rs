//! What every test needs: the program, a temporary folder, the tiny collection, a server.
//!
//! `AXIOSCOPE_BIN` names the program; without it, the one beside this test binary is used.
//! `AXIOSCOPE_DATA` (public collections) and `AXIOSCOPE_MODEL` (the default model) may be absent: a
//! test that needs them is then skipped, see [`or_skip`]. `AXIOSCOPE_TEST_DATABASE_URL` names a
//! PostgreSQL server, see [`tests::postgres`].

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use reqwest::blocking::{Client, RequestBuilder, Response};
use serde_json::Value;
use shared::api::{Endpoint, ErrorResponse};
use tempfile::TempDir;
use tests::postgres::TestDatabase;

pub(crate) use test_dependencies::{TestDependency, or_skip};

/// The longest time to wait for something, even on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(240);

/// The limits of a study file, as in the paper that most tests follow.
pub(crate) const LIMITS: &str = "[limits]\n\
    length_gap_terms = 10\n\
    min_terms = 1\n\
    repeat_from = 2\n\
    repeat_to = 4\n\
    repeated_terms = 240\n\
    filled_terms = 512\n\
    fillable_terms = 256\n\
    seed = 42\n";

/// Returns the text of a study file with [`LIMITS`]; `rest` holds its other lines.
pub(crate) fn study_file(name: &str, title: &str, collection: &str, rest: &str) -> String {
    format!(
        "format = 1\nname = {name:?}\ntitle = {title:?}\ncollection = {collection:?}\n\
         {rest}\n{LIMITS}"
    )
}

/// Returns the lines of a study file with its pool, its axioms as defined here, and its rankers.
pub(crate) fn study_lines(pool: &str, probes: &[&str], rankers: &[&str]) -> String {
    format!("pool = {pool:?}\nprobes = {probes:?}\nmodes = [\"fixed\"]\nrankers = {rankers:?}")
}

/// Returns the folder of the tiny collection: a dozen documents, three queries, qrels and a run.
pub(crate) fn tiny_collection() -> &'static str {
    concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/tiny")
}

/// Returns the folder of the demo study.
pub(crate) fn demo_folder() -> &'static str {
    concat!(env!("CARGO_MANIFEST_DIR"), "/../demo")
}

/// Returns the folder of a BERT with two layers and random weights, a fixture of the crate
/// `neural`.
pub(crate) fn tiny_model() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../neural/tests/fixtures/tiny")
}

/// Returns the folder of the public collections; without it, the test is skipped.
pub(crate) fn collections() -> Option<PathBuf> {
    let folder = path_from_environment("AXIOSCOPE_DATA");
    or_skip(
        folder,
        TestDependency::Collections,
        "the collections are absent",
    )
}

/// Returns the folder of the default model; without it, the test is skipped.
pub(crate) fn model() -> Option<PathBuf> {
    let folder = path_from_environment("AXIOSCOPE_MODEL");
    or_skip(folder, TestDependency::Model, "the neural model is absent")
}

/// Returns the file or folder that an environment variable names.
pub(crate) fn path_from_environment(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable)
        .filter(|it| !it.is_empty())
        .map(PathBuf::from)
}

fn program() -> PathBuf {
    let program = path_from_environment("AXIOSCOPE_BIN").unwrap_or_else(|| {
        let tests = std::env::current_exe().unwrap();
        let name = format!("axioscope{}", std::env::consts::EXE_SUFFIX);
        tests.parent().and_then(Path::parent).unwrap().join(name)
    });
    assert!(
        program.is_file(),
        "{}: run `cargo build` first",
        program.display()
    );
    program
}

/// A temporary folder in which a test runs the program, with its data in `data/`.
pub(crate) struct TestHome {
    folder: TempDir,
    /// The PostgreSQL database; without it, the data are in an SQLite file in `data/`.
    pub(crate) database: Option<TestDatabase>,
}

impl TestHome {
    pub(crate) fn new() -> TestHome {
        TestHome {
            folder: tempfile::tempdir().unwrap(),
            database: None,
        }
    }

    /// Creates a home with a PostgreSQL database; none if there is no server.
    pub(crate) fn with_postgres() -> Option<TestHome> {
        TestDatabase::new().map(|it| TestHome {
            database: Some(it),
            ..TestHome::new()
        })
    }

    /// Creates a home for each available kind of database.
    pub(crate) fn of_each_database() -> impl Iterator<Item = TestHome> {
        std::iter::once(TestHome::new()).chain(TestHome::with_postgres())
    }

    /// Returns the path of a file in this folder.
    pub(crate) fn path(&self, file: &str) -> PathBuf {
        self.folder.path().join(file)
    }

    /// Writes a file, creating the folders that contain it.
    pub(crate) fn write(&self, file: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }

    /// Returns the text of a file.
    pub(crate) fn read(&self, file: &str) -> String {
        let path = self.path(file);
        fs::read_to_string(&path).unwrap_or_else(|it| panic!("{}: {it}", path.display()))
    }

    /// Returns all files below this folder, in order.
    pub(crate) fn files(&self) -> Vec<String> {
        fn walk(folder: &Path, root: &Path, found: &mut Vec<String>) {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    walk(&path, root, found);
                } else {
                    found.push(
                        path.strip_prefix(root)
                            .unwrap()
                            .to_string_lossy()
                            .into_owned(),
                    );
                }
            }
        }
        let mut found = Vec::new();
        walk(self.folder.path(), self.folder.path(), &mut found);
        found.sort();
        found
    }

    /// Returns the program in this folder, without a model and isolated from the user's
    /// environment.
    pub(crate) fn program(&self) -> Command {
        let mut program = Command::new(program());
        program
            .current_dir(self.folder.path())
            .env("HOME", self.folder.path())
            .env_remove("AXIOSCOPE_MODEL")
            .env_remove("AXIOSCOPE_LOG")
            .env_remove("AXIOSCOPE_PUBLIC_URL")
            .env_remove("AXIOSCOPE_TRUSTED_PROXY")
            .env_remove("AXIOSCOPE_OPERATOR_LISTEN")
            .env_remove("DATABASE_URL")
            .stdin(Stdio::null());
        if let Some(database) = &self.database {
            program.env("DATABASE_URL", &database.url);
        }
        program
    }

    /// Runs the program with the arguments in a line; no argument may contain a space.
    pub(crate) fn run(&self, line: &str) -> CommandOutput {
        self.run_with(&line.split_whitespace().collect::<Vec<_>>())
    }

    /// Runs the program with any arguments.
    pub(crate) fn run_with(&self, args: &[&str]) -> CommandOutput {
        CommandOutput::run(self.program().args(["--data", "data"]).args(args))
    }

    /// Runs a line, which must fail with a message that contains `part`.
    #[track_caller]
    pub(crate) fn expect_refused(&self, line: &str, part: &str) {
        self.run(line).expect_failure_with(part);
    }

    /// Writes a study file and runs its study.
    pub(crate) fn make_study(&self, file: impl AsRef<[u8]>) {
        self.write("study.toml", file);
        self.run("study run study.toml").expect_success();
    }

    /// Starts a server on a free port with the data of this folder. On loopback, everybody is its
    /// operator.
    pub(crate) fn serve(&self, args: &[&str]) -> TestServer {
        self.serve_by(self.program(), args)
    }

    /// Like [`TestHome::serve`], with a program that has its own environment.
    pub(crate) fn serve_by(&self, program: Command, args: &[&str]) -> TestServer {
        self.serve_with_auth(program, &[args, without_auth(args)].concat())
    }

    /// Like [`TestHome::serve_by`], as users start it: everybody is a visitor, on loopback too.
    pub(crate) fn serve_with_auth(&self, mut program: Command, args: &[&str]) -> TestServer {
        let mut all = vec!["--data", "data", "serve"];
        if !args.contains(&"--listen") {
            all.extend(["--listen", "127.0.0.1:0"]);
        }
        all.extend(args);
        let log = self.path("server.log");
        let file = fs::OpenOptions::new()
            .append(true)
            .create(true)
            .open(&log)
            .unwrap();
        let has_link = !all.contains(&"--no-auth-on-loopback");
        program.args(all).stdout(Stdio::piped()).stderr(file);
        TestServer::start(program.spawn().unwrap(), log, has_link)
    }
}

/// Returns the argument that makes tests the operator of a server that listens as in `args`.
pub(crate) fn without_auth(args: &[&str]) -> &'static [&'static str] {
    let is_open = args.iter().any(|it| it.starts_with("0.0.0.0"));
    if is_open {
        &[]
    } else {
        &["--no-auth-on-loopback"]
    }
}

/// The output of the program and its exit code.
#[derive(Debug)]
pub(crate) struct CommandOutput {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl CommandOutput {
    pub(crate) fn run(command: &mut Command) -> CommandOutput {
        let output = command.output().unwrap();
        let ran = CommandOutput {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        };
        assert!(!ran.err.contains("panicked"), "{}", ran.err);
        ran
    }

    /// Returns the standard output of a command that must succeed.
    pub(crate) fn expect_success(self) -> String {
        assert_eq!(self.code, Some(0), "{}", self.err);
        self.out
    }

    /// Returns the JSON value on standard output.
    pub(crate) fn json(self) -> Value {
        let out = self.expect_success();
        serde_json::from_str(&out).unwrap_or_else(|it| panic!("{it}: {out}"))
    }

    /// Returns the message of a command that must fail, with nothing on standard output.
    pub(crate) fn expect_failure(self) -> String {
        assert_eq!(self.code, Some(1), "{}\n{}", self.out, self.err);
        assert_eq!(self.out, "");
        let err = format!("\n{}", self.err);
        let Some((_, message)) = err.rsplit_once("\nerror: ") else {
            panic!("no message: {err}")
        };
        message.trim_end().to_owned()
    }

    /// Checks that the command failed with a message that contains `part`.
    #[track_caller]
    pub(crate) fn expect_failure_with(self, part: &str) {
        let message = self.expect_failure();
        assert!(message.contains(part), "{message}");
    }

    /// Checks that standard error contains `part`.
    #[track_caller]
    pub(crate) fn expect_stderr(&self, part: &str) {
        assert!(self.err.contains(part), "{}", self.err);
    }
}

/// A server that ends with its test.
pub(crate) struct TestServer {
    child: Child,
    log: PathBuf,
    /// Kept open, since otherwise the server could not print.
    _out: BufReader<ChildStdout>,
    /// The address, as `http://127.0.0.1:PORT`.
    pub(crate) address: String,
    /// The address of the listener for operators, if there is one.
    pub(crate) operator_address: Option<String>,
    /// The operator's token, if one was printed.
    pub(crate) token: Option<String>,
    /// The operator link, if one was printed.
    pub(crate) link: Option<String>,
    client: Client,
}

impl TestServer {
    /// Returns the operator link without the address.
    pub(crate) fn operator_path(&self) -> &str {
        let link = self.link.as_deref().expect("each start prints it");
        link.strip_prefix(&self.address).expect("it leads here")
    }

    /// Waits until a program that was started prints its address.
    pub(crate) fn start(mut child: Child, log: PathBuf, has_link: bool) -> TestServer {
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let (mut token, mut address, mut link) = (None, None, None);
        let mut operator_address = None;
        while address.is_none() || has_link && link.is_none() {
            let mut line = String::new();
            if out.read_line(&mut line).unwrap() == 0 {
                panic!("the server ended: {}", fs::read_to_string(&log).unwrap());
            }
            let behind = |words: &str| Some(line.trim_end().split_once(words)?.1.to_owned());
            token = token.or_else(|| behind("shown this once: "));
            address = address.or_else(|| behind("Axioscope is at "));
            operator_address = operator_address.or_else(|| behind("Operators and metrics are at "));
            link = link.or_else(|| behind("which works once: "));
        }
        // A server that listens on all addresses is reached on loopback.
        let address = address.unwrap_or_default();
        let address = address
            .trim_end_matches('/')
            .replace("0.0.0.0", "127.0.0.1");
        let client = Client::builder().timeout(PATIENCE).build().unwrap();
        TestServer {
            child,
            log,
            _out: out,
            address,
            operator_address: operator_address.map(|it| it.trim_end_matches('/').to_owned()),
            token,
            link,
            client,
        }
    }

    /// Builds a request to a path.
    pub(crate) fn request(&self, method: &str, path: &str) -> RequestBuilder {
        let method = reqwest::Method::from_bytes(method.as_bytes()).unwrap();
        self.client
            .request(method, format!("{}{path}", self.address))
    }

    pub(crate) fn get(&self, path: &str) -> Response {
        self.request("GET", path).send().unwrap()
    }

    /// Builds the request of an endpoint.
    pub(crate) fn request_for<E: Endpoint>(&self, asked: &E) -> RequestBuilder {
        let address = asked.address();
        let request = self.request(&E::METHOD.to_string(), &address.path);
        match address.body {
            Some(body) => request.body(body),
            None => request,
        }
    }

    /// Calls an endpoint and returns its reply, or the status and the error.
    pub(crate) fn try_call<E: Endpoint>(
        &self,
        asked: &E,
    ) -> Result<E::Reply, (u16, ErrorResponse)> {
        reply(self.request_for(asked).send().unwrap())
    }

    /// Calls an endpoint and returns its reply.
    pub(crate) fn call<E: Endpoint>(&self, asked: &E) -> E::Reply {
        self.try_call(asked)
            .unwrap_or_else(|it| panic!("{} {it:?}", E::PATH))
    }

    /// Calls an endpoint until its reply satisfies a condition.
    pub(crate) fn call_until<E: Endpoint>(
        &self,
        asked: &E,
        enough: impl Fn(&E::Reply) -> bool,
    ) -> E::Reply {
        let since = Instant::now();
        loop {
            let reply = self.call(asked);
            if enough(&reply) {
                return reply;
            }
            assert!(since.elapsed() < PATIENCE, "{} stays as it is", E::PATH);
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Ends the server by SIGKILL, like a crash.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Returns the process id of the server.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Returns the log of the server.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap()
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        // An error means that it has already ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
        if !std::thread::panicking() {
            let log = fs::read_to_string(&self.log).unwrap_or_default();
            assert!(!log.contains("panicked"), "{log}");
        }
    }
}

/// Parses a reply, or the error in it.
pub(crate) fn reply<T: serde::de::DeserializeOwned>(
    response: Response,
) -> Result<T, (u16, ErrorResponse)> {
    let status = response.status().as_u16();
    let body = response.bytes().unwrap();
    if status == 200 {
        return Ok(from_json(&body));
    }
    Err((status, from_json(&body)))
}

fn from_json<T: serde::de::DeserializeOwned>(body: &[u8]) -> T {
    serde_json::from_slice(body)
        .unwrap_or_else(|it| panic!("{it}: {}", String::from_utf8_lossy(body)))
}
