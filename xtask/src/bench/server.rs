//! The release build of the program, run as a server.

use super::BenchContext;
use super::process_stat::ProcessStat;
use crate::dist;
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// Builds the program in release mode and returns its path.
pub(super) fn program(bench: &BenchContext<'_>) -> Result<PathBuf> {
    dist::build_program(&["--release"])?;
    Ok(bench.place.program("release"))
}

/// A running server, which is stopped when it is dropped.
pub(super) struct BenchServer {
    child: Child,
    address: String,
}

impl BenchServer {
    pub(super) fn start(command: &mut Command) -> Result<BenchServer> {
        let child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let mut child = child.context("starting the server")?;
        let out = child.stdout.take().context("no output")?;
        let mut lines = BufReader::new(out).lines();
        let address = lines.find_map(|it| {
            let line = it.ok()?;
            let found = line.split("http://").nth(1)?;
            let end = found.find(|it: char| !(it.is_ascii_alphanumeric() || ".:".contains(it)));
            Some(found[..end.unwrap_or(found.len())].to_owned())
        });
        let address = address.context("the server told no address")?;
        std::thread::spawn(move || lines.for_each(drop));
        Ok(BenchServer { child, address })
    }

    /// Returns the origin of the server's URLs, `http://127.0.0.1:PORT`.
    pub(super) fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the id of the server process.
    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(super) fn get(&self, path: &str) -> Result<Value> {
        self.send(&format!("GET {path}"), "")?.json()
    }

    /// Requests a file or a page and returns its text; programs in WebAssembly as far as they are
    /// text. Returns an error if the server does not have it.
    pub(super) fn text(&self, path: &str) -> Result<String> {
        let reply = self.send(&format!("GET {path}"), "")?;
        match reply.status {
            200 => Ok(reply.body),
            status => bail!("{path} is answered with {status}"),
        }
    }

    /// Sends JSON and returns the response, whatever its status is.
    pub(super) fn post(&self, path: &str, json: &str) -> Result<BenchReply> {
        self.send(&format!("POST {path}"), json)
    }

    fn send(&self, line: &str, body: &str) -> Result<BenchReply> {
        let mut stream = TcpStream::connect(&self.address)?;
        write!(
            stream,
            "{line} HTTP/1.0\r\nHost: {}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        )?;
        let mut reply = Vec::new();
        stream.read_to_end(&mut reply)?;
        let reply = String::from_utf8_lossy(&reply);
        let (head, body) = reply.split_once("\r\n\r\n").context("no reply")?;
        let status = head.split(' ').nth(1).and_then(|it| it.parse().ok());
        Ok(BenchReply {
            status: status.context("a reply without a status")?,
            body: body.to_owned(),
        })
    }

    /// Returns the CPU time of the process so far, in seconds. Returns an error if the system does
    /// not report it.
    pub(super) fn cpu_seconds(&self) -> Result<f64> {
        Ok(ProcessStat::read(self.child.id())?.cpu_seconds)
    }

    /// Returns the memory of the process in MiB: now (`VmRSS`) or at its peak (`VmHWM`). Returns an
    /// error if the system does not report it.
    pub(super) fn memory_mib(&self, field: &str) -> Result<f64> {
        let status = format!("/proc/{}/status", self.child.id());
        let seen = fs::read_to_string(&status).with_context(|| format!("reading {status}"))?;
        let found = seen.lines().find_map(|it| it.strip_prefix(field));
        let found = found.map(|it| it.trim_start_matches(':').trim().trim_end_matches("kB"));
        let kib = found.and_then(|it| it.trim().parse::<f64>().ok());
        Ok(kib.with_context(|| format!("no {field} in {status}"))? / 1024.0)
    }
}

/// The status and body of a response.
pub(super) struct BenchReply {
    pub(super) status: u16,
    body: String,
}

impl BenchReply {
    pub(super) fn json(&self) -> Result<Value> {
        if self.status != 200 {
            bail!("{}: {}", self.status, self.body);
        }
        serde_json::from_str(&self.body).context("reading a reply")
    }
}

impl Drop for BenchServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
