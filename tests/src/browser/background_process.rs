//! Programs that all tests share and that end with the test program, however it ends.

use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};

use crate::harness::{TestHome, without_auth};

/// A program that runs until the test program has ended.
pub(super) struct BackgroundProcess {
    /// Is closed when the test program ends, even by a signal; then the shell ends the other
    /// program.
    _leash: ChildStdin,
    _shell: Child,
    /// The line that the program printed when it was ready.
    pub(super) ready_line: String,
}

/// A shell script that waits on its input, which nobody writes to, and cleans up when it is closed.
/// It ends the program with all processes that it has started, since a killed driver leaves its
/// browsers running.
const SHELL: &str = r#"
    scratch=$1; shift
    "$@" </dev/null &
    program=$!
    read -r _
    trap '' TERM
    kill 0
    wait $program 2>/dev/null
    rm -rf "$scratch"
"#;

/// A server of the program with its own home.
pub(super) struct SharedServer {
    /// The address of the server, without a trailing slash.
    pub(super) origin: String,
    _home: TestHome,
    _program: BackgroundProcess,
}

impl SharedServer {
    /// Starts a server for the data folder of a home, with more arguments.
    pub(super) fn start(home: TestHome, more: &[&str]) -> SharedServer {
        const SAID: &str = "Axioscope is at ";
        let mut server = home.program();
        server.args(["--data", "data", "serve", "--listen", "127.0.0.1:0"]);
        server.args(more).args(without_auth(more));
        let program = BackgroundProcess::start(&server, &home.path(""), SAID);
        let origin = program.ready_line.split(SAID).nth(1).unwrap_or_default();
        SharedServer {
            origin: origin.trim_end_matches('/').to_owned(),
            _home: home,
            _program: program,
        }
    }
}

impl BackgroundProcess {
    /// Starts a program and waits for the line of its output that contains `ready`. The folder
    /// `scratch` is removed when the program has ended.
    pub(super) fn start(program: &Command, scratch: &Path, ready: &str) -> BackgroundProcess {
        let mut shell = Command::new("sh");
        shell.args(["-c", SHELL, "sh"]).arg(scratch);
        shell.arg(program.get_program()).args(program.get_args());
        for (variable, value) in program.get_envs() {
            match value {
                Some(value) => shell.env(variable, value),
                None => shell.env_remove(variable),
            };
        }
        if let Some(folder) = program.get_current_dir() {
            shell.current_dir(folder);
        }
        // Ctrl-C in the terminal is meant for the tests; the shell must survive it to clean up.
        shell
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut shell = shell.spawn().unwrap();
        let leash = shell.stdin.take().unwrap();
        let mut lines = BufReader::new(shell.stdout.take().unwrap()).lines();
        let said = lines
            .by_ref()
            .map_while(Result::ok)
            .find(|it| it.contains(ready));
        let said = said.unwrap_or_else(|| panic!("{program:?} ended before it said `{ready}`"));
        // A program that writes to a pipe that nobody reads would wait forever.
        std::thread::spawn(move || lines.for_each(drop));
        BackgroundProcess {
            _leash: leash,
            _shell: shell,
            ready_line: said,
        }
    }
}
