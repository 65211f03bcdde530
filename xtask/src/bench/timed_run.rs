//! Runs of `axioscope`, with their duration and peak memory.

use super::process_stat::peak_memory_mib;
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::io::Read;
use std::process::{Command, Stdio};
use std::time::Instant;

/// The result of a command.
pub(super) struct TimedRun {
    told: Value,
    pub(super) seconds: f64,
    pub(super) most_mib: f64,
}

impl TimedRun {
    /// Returns the duration of a stage in seconds.
    pub(super) fn stage(&self, name: &str) -> Result<f64> {
        let found = self.told["seconds"][name].as_f64();
        found.with_context(|| format!("no time of {name} was told"))
    }

    /// Returns the number of instances of each axiom.
    pub(super) fn instances(&self) -> Result<Vec<(String, u64)>> {
        let found = self.told["instances"].as_object();
        let found = found.context("no instances were told")?;
        let count = |it: &Value| it.as_u64().unwrap_or(0);
        Ok(found.iter().map(|it| (it.0.clone(), count(it.1))).collect())
    }
}

/// Runs a command and measures its duration and, where the system reports it, its peak memory.
pub(super) fn timed(command: &mut Command) -> Result<TimedRun> {
    let start = Instant::now();
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .context("starting axioscope")?;
    let mut out = child.stdout.take().context("no output")?;
    let told = std::thread::spawn(move || {
        let mut told = String::new();
        out.read_to_string(&mut told).map(|_| told)
    });
    let mut most_mib: f64 = 0.0;
    let code = loop {
        most_mib = most_mib.max(peak_memory_mib(child.id()));
        if let Some(code) = child.try_wait()? {
            break code;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    };
    if !code.success() {
        bail!("axioscope ended with {code}");
    }
    let told = told.join().ok().context("reading its output")??;
    Ok(TimedRun {
        // Not every command answers in JSON.
        told: serde_json::from_str(&told).unwrap_or_default(),
        seconds: start.elapsed().as_secs_f64(),
        most_mib,
    })
}
