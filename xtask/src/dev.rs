//! Runs the server and the pages during development, and builds them again when a file is saved.
//!
//! Trunk builds and serves the pages and reloads them in the browser. It forwards requests below
//! `/api` to the server. The pages in `dist/` for other commands are not touched. The operator link
//! points to Trunk's pages and is printed when they are available.

use crate::paths::{NATIVE, ProjectPaths};
use crate::setup::WebTools;
use crate::{demo, process, setup};
use anyhow::{Context, Result, bail};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::thread::sleep;
use std::time::{Duration, SystemTime};

/// Default address of the pages.
const PAGES: &str = "127.0.0.1:8017";
/// Default address of the server behind the pages.
const SERVER: &str = "127.0.0.1:8018";

/// The sources of the pages, relative to the checkout.
const PAGE_SOURCES: [&str; 3] = ["frontend", "shared/src", "demo"];
/// The sources of the server, relative to the checkout.
const SERVER_SOURCES: [&str; 5] = [
    "backend/migrations",
    "backend/src",
    "demo",
    "neural/src",
    "shared/src",
];

/// Interval at which files are checked for changes.
const POLL: Duration = Duration::from_millis(300);

/// Builds and serves until the server of the pages ends.
pub(crate) fn run(place: &ProjectPaths, args: &[String]) -> Result<ExitCode> {
    let mut args = args.to_vec();
    let pages = take(&mut args, "--listen").unwrap_or_else(|| PAGES.to_owned());
    let other_server = take(&mut args, "--server");
    let server = other_server.as_deref().unwrap_or(SERVER);
    let tools = setup::web(place)?;
    let mut trunk = serve_pages(place, &tools, &pages, server)?;
    let url = format!("http://{pages}");
    let (said, lines) = channel();
    std::thread::spawn(move || {
        // Trunk forwards this request to the server, so both are ready when it succeeds.
        while !demo::answers(&pages, "/api/about") {
            sleep(POLL);
        }
        println!("dev: Axioscope is at http://{pages}/ (Ctrl-C ends it)");
        // Prints the output of the server so far and from now on. Its operator link comes last.
        lines.iter().for_each(|it: String| println!("{it}"));
    });
    if other_server.is_none() {
        if take(&mut args.clone(), "--public-url").is_none() {
            args.extend(["--public-url".to_owned(), url]);
        }
        serve_and_rebuild(place, &args, &mut trunk, &said)?;
    }
    Ok(match trunk.0.wait()?.success() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

/// Removes a flag with its value, given as `--flag value` or `--flag=value`, from the arguments and
/// returns the value.
fn take(args: &mut Vec<String>, flag: &str) -> Option<String> {
    if let Some(at) = args.iter().position(|it| it == flag)
        && at + 1 < args.len()
    {
        return args.drain(at..at + 2).next_back();
    }
    let is_flag = |it: &String| it.strip_prefix(flag).is_some_and(|it| it.starts_with('='));
    let at = args.iter().position(is_flag)?;
    Some(args.remove(at)[flag.len() + 1..].to_owned())
}

/// A child process that is killed when this is dropped.
struct Running(Child);

impl Running {
    fn start(command: &mut Command) -> Result<Running> {
        let child = command.spawn();
        child
            .map(Running)
            .with_context(|| format!("could not start `{}`", process::command_line(command)))
    }

    /// Starts a program and sends the lines of its standard output to a channel.
    fn start_with_lines(command: &mut Command, said: &Sender<String>) -> Result<Running> {
        let mut running = Running::start(command.stdout(Stdio::piped()))?;
        let said = said.clone();
        if let Some(out) = running.0.stdout.take() {
            std::thread::spawn(move || {
                let lines = BufReader::new(out).lines().map_while(Result::ok);
                lines.for_each(|it| drop(said.send(it)));
            });
        }
        Ok(running)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // An error means that the process has already ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn serve_pages(
    place: &ProjectPaths,
    tools: &WebTools,
    pages: &str,
    server: &str,
) -> Result<Running> {
    // This folder is in the checkout, so that cargo finds the settings in `.cargo`.
    let folder = place.root.join("target/dev");
    fs::create_dir_all(&folder).with_context(|| format!("making {}", folder.display()))?;
    let file = folder.join("Trunk.toml");
    fs::write(&file, trunk_config(&place.root, pages, server)?)
        .with_context(|| format!("writing {}", file.display()))?;
    Running::start(
        tools
            .command("trunk")
            .args(["serve", "--config"])
            .arg(&file)
            .env("CARGO_TARGET_DIR", &place.target)
            // Trunk rejects `NO_COLOR=1`, the usual value, as an invalid flag.
            .env_remove("NO_COLOR"),
    )
}

/// Returns the configuration of Trunk. It sets headers since the server compares the origin of the
/// page with the requested host.
fn trunk_config(root: &Path, pages: &str, server: &str) -> Result<String> {
    let Some((host, port)) = pages.rsplit_once(':') else {
        bail!("`{pages}` is no address: take HOST:PORT");
    };
    let host = host.trim_matches(['[', ']']);
    let server = server.trim_start_matches("http://").trim_end_matches('/');
    let watched = PAGE_SOURCES.map(|it| root.join(it));
    Ok(format!(
        "[build]\ntarget = {:?}\ndist = {:?}\ncargo_profile = \"dev\"\nlocked = true\n\
         [watch]\nwatch = {watched:?}\n\
         [serve]\naddresses = [{host:?}]\nport = {port}\n\
         [[proxy]]\nbackend = \"http://{server}/api\"\nno_system_proxy = true\n\
         request_headers = {{ host = {pages:?}, x-forwarded-host = \"\", x-forwarded-proto = \"\" }}\n",
        root.join("frontend/index.html"),
        root.join("target/dev/dist"),
    ))
}

/// Builds and runs the server, and again after each change of its sources, until Trunk ends. The
/// output of the server goes to a channel, line by line.
fn serve_and_rebuild(
    place: &ProjectPaths,
    args: &[String],
    trunk: &mut Running,
    said: &Sender<String>,
) -> Result<()> {
    let sources = SERVER_SOURCES.map(|it| place.root.join(it));
    let mut server = None;
    loop {
        let built = snapshot(&sources);
        match build_server(place) {
            Ok(program) => {
                // The previous server must release the data folder and the address first.
                drop(server.take());
                let mut serve = Command::new(program);
                serve
                    .args(["serve", "--demo", "--listen", SERVER])
                    .args(args);
                println!("dev: {}", process::command_line(&serve));
                server = Some(Running::start_with_lines(&mut serve, said)?);
            }
            Err(error) => eprintln!("dev: {error:#}; the server stays as it is"),
        }
        while snapshot(&sources) == built {
            if trunk.0.try_wait()?.is_some() {
                return Ok(());
            }
            sleep(POLL);
        }
        // Wait until a program that saves many files has finished.
        let mut seen = snapshot(&sources);
        loop {
            sleep(POLL);
            let now = snapshot(&sources);
            if now == seen {
                break;
            }
            seen = now;
        }
    }
}

fn build_server(place: &ProjectPaths) -> Result<PathBuf> {
    // The features of the whole workspace, as in all other builds.
    let build = [&["build", "--locked"], &NATIVE[..], &["--bin", "axioscope"]].concat();
    process::run(Command::new("cargo").args(build))?;
    let name = format!("axioscope{}", std::env::consts::EXE_SUFFIX);
    Ok(place.target.join("debug").join(name))
}

/// Returns every file with the time of its last change. Files that disappear in the meantime are
/// left out.
fn snapshot(folders: &[PathBuf]) -> Vec<(PathBuf, SystemTime)> {
    let mut found = Vec::new();
    let mut folders = folders.to_vec();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.metadata() {
                Ok(it) if it.is_dir() => folders.push(entry.path()),
                Ok(it) => found.extend(it.modified().map(|time| (entry.path(), time))),
                Err(_) => (),
            }
        }
    }
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flag_is_taken_with_its_value() {
        for (args, value, rest) in [
            ("--server a:1 --data x", Some("a:1"), "--data x"),
            ("--data x --server=a:1", Some("a:1"), "--data x"),
            ("--servers x --server", None, "--servers x --server"),
        ] {
            let mut args: Vec<String> = args.split(' ').map(str::to_owned).collect();
            assert_eq!(take(&mut args, "--server").as_deref(), value);
            assert_eq!(args.join(" "), rest);
        }
    }

    #[test]
    fn requests_go_on_to_the_server_as_from_its_own_pages() {
        let config = trunk_config(Path::new("/c"), "[::1]:80", "http://127.0.0.1:9/").unwrap();
        for line in [
            "target = \"/c/frontend/index.html\"",
            "addresses = [\"::1\"]\nport = 80\n",
            "backend = \"http://127.0.0.1:9/api\"",
            "host = \"[::1]:80\"",
        ] {
            assert!(config.contains(line), "{line} in {config}");
        }
        assert!(trunk_config(Path::new("/c"), "localhost", SERVER).is_err());
    }
}
