//! Server and pages in a development profile, built again when a file is saved.
//!
//! Trunk builds the pages, serves them and reloads the browser; requests below `/api` are
//! forwarded to the server. The pages in `dist/` for other commands are not changed. The operator
//! link leads to Trunk's pages, and is printed when they are ready.

use crate::paths::ProjectPaths;
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

/// Where the pages are.
const PAGES: &str = "127.0.0.1:8017";
/// Where the server behind them is.
const SERVER: &str = "127.0.0.1:8018";

/// What the pages are made of, below the checkout.
const PAGE_SOURCES: [&str; 3] = ["frontend", "shared/src", "demo"];
/// What the server is made of.
const SERVER_SOURCES: [&str; 5] = [
    "backend/migrations",
    "backend/src",
    "demo",
    "neural/src",
    "shared/src",
];

/// How often files are looked at.
const POLL: Duration = Duration::from_millis(300);

/// Builds and serves until the pages' server ends.
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
        // Passed on to the server, so that both are there.
        while !demo::answers(&pages, "/api/about") {
            sleep(POLL);
        }
        println!("dev: Axioscope is at http://{pages}/ (Ctrl-C ends it)");
        // What the server said meanwhile, and what it says from now on, with its link as the last.
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

/// Takes a flag with its value, as `--flag value` or `--flag=value`, out of the arguments.
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

/// A program that ends with this one.
struct Running(Child);

impl Running {
    fn start(command: &mut Command) -> Result<Running> {
        let child = command.spawn();
        child
            .map(Running)
            .with_context(|| format!("could not start `{}`", process::command_line(command)))
    }

    /// Starts a program and sends the lines of its standard output.
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
        // An error says that it has ended already.
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
    // Below the checkout, so that cargo finds the settings of `.cargo` from there.
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
            // Trunk takes `NO_COLOR=1`, as everyone else sets it, for a malformed flag.
            .env_remove("NO_COLOR"),
    )
}

/// The settings of Trunk. The server compares the page's origin with the host that was asked: hence
/// the headers.
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

/// Builds and runs the server, and again after each change of its sources, while Trunk runs. What
/// it prints goes to `said`.
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
                // The one before holds the data folder and the address.
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
        // A program that saves many files is given time to end.
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
    // The whole workspace joins the features, as everywhere.
    let build = ["build", "--locked", "--workspace", "--bin", "axioscope"];
    process::run(Command::new("cargo").args(build))?;
    let name = format!("axioscope{}", std::env::consts::EXE_SUFFIX);
    Ok(place.target.join("debug").join(name))
}

/// Every file with the time of its last change; what vanishes meanwhile is left out.
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
