//! Builds everything from a fresh clone and serves the demo study.
//!
//! The last line of output is the operator link of the server. It is printed again when the neural
//! rankers have been scored, unless it was used. The small models are in the repository; MiniLM is
//! used too if it is named with `--model`.

use crate::paths::ProjectPaths;
use crate::{dist, process, setup, web};
use anyhow::{Context, Result};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Command, ExitCode};
use std::time::Duration;

/// The default address of the server, on loopback.
const ADDRESS: &str = "127.0.0.1:8017";
const PATIENCE: Duration = Duration::from_secs(2);

/// Sets up missing tools, builds everything and runs the server until it ends. `args` are passed to
/// `axioscope serve`.
pub(crate) fn run(place: &ProjectPaths, args: &[String]) -> Result<ExitCode> {
    process::build_once();
    // The two builds are independent: a debug program reads `dist/` at run time.
    std::thread::scope(|threads| {
        let server = threads.spawn(|| dist::build_program(&[]));
        let pages = setup::web(place)
            .and_then(|tools| web::build(place, &tools, web::WebProfile::Development));
        let server = server.join().expect("building does not panic");
        pages.and(server)
    })?;

    let mut serve = Command::new(place.program("debug"));
    serve.args(["serve", "--demo"]).args(with_defaults(args));
    println!("demo: {} (Ctrl-C ends it)", process::command_line(&serve));
    let status = serve
        .status()
        .with_context(|| process::command_line(&serve))?;
    Ok(if status.success() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Adds the default address and data folder to the arguments, if they were not given.
fn with_defaults(args: &[String]) -> Vec<String> {
    let mut all = args.to_vec();
    for (flag, value) in [("--listen", ADDRESS), ("--data", "axioscope-data")] {
        if value_of(flag, args).is_none() {
            all.extend([flag.to_owned(), value.to_owned()]);
        }
    }
    all
}

/// Returns the value of a flag, given as `--flag value` or `--flag=value`.
fn value_of<'a>(flag: &str, args: &'a [String]) -> Option<&'a str> {
    let after = args
        .iter()
        .skip_while(|it| *it != flag)
        .nth(1)
        .map(String::as_str);
    let inside = || {
        args.iter()
            .find_map(|it| it.strip_prefix(flag)?.strip_prefix('='))
    };
    after.or_else(inside)
}

/// Returns whether the server at an address responds to a path with status 200.
pub(crate) fn answers(address: &str, path: &str) -> bool {
    let ask = || -> std::io::Result<String> {
        let mut stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n"
        )?;
        let mut answer = [0; 12];
        stream.read_exact(&mut answer)?;
        Ok(String::from_utf8_lossy(&answer).into_owned())
    };
    ask().is_ok_and(|answer| answer == "HTTP/1.1 200")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_asked_for_is_kept() {
        check("", "--listen 127.0.0.1:8017 --data axioscope-data");
        check("--data x", "--data x --listen 127.0.0.1:8017");
        check(
            "--listen=[::1]:80",
            "--listen=[::1]:80 --data axioscope-data",
        );
    }

    #[track_caller]
    fn check(args: &str, expected: &str) {
        let args: Vec<String> = args.split_whitespace().map(str::to_owned).collect();
        assert_eq!(with_defaults(&args).join(" "), expected);
    }

    #[test]
    fn a_flag_has_its_value_in_both_spellings() {
        let args = ["--listen".to_owned(), "a".to_owned(), "--data=b".to_owned()];
        assert_eq!(value_of("--listen", &args), Some("a"));
        assert_eq!(value_of("--data", &args), Some("b"));
        assert_eq!(value_of("--model", &args), None);
    }
}
