//! The state and the CPU time of a process, as Linux reports them.

use anyhow::{Context, Result};
use std::fs;

/// Ticks of CPU time in a second.
const TICKS: f64 = 100.0;

/// What `/proc/ID/stat` says, see proc(5).
#[derive(Debug, PartialEq)]
pub(super) struct ProcessStat {
    /// Whether the process has ended, though its parent has not waited for it.
    pub(super) has_ended: bool,
    /// The id of the parent.
    pub(super) parent: u32,
    /// User and system time of all its threads so far.
    pub(super) cpu_seconds: f64,
    /// The same of its children that have ended.
    pub(super) cpu_seconds_of_children: f64,
}

/// Returns the most memory that a running process has used so far, in MiB; 0 if it has ended.
pub(super) fn peak_memory_mib(process: u32) -> f64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let peak = status.lines().find_map(|it| it.strip_prefix("VmHWM:"));
    let kib = peak.and_then(|it| it.trim().trim_end_matches("kB").trim().parse::<f64>().ok());
    kib.unwrap_or(0.0) / 1024.0
}

impl ProcessStat {
    /// Reads what the system reports. Returns an error if there is no such process or no such
    /// report.
    pub(super) fn read(process: u32) -> Result<ProcessStat> {
        let path = format!("/proc/{process}/stat");
        let stat = fs::read_to_string(&path).with_context(|| format!("reading {path}"))?;
        ProcessStat::parse(&stat).with_context(|| format!("no CPU time in {path}"))
    }

    fn parse(stat: &str) -> Option<ProcessStat> {
        // The name of the program may contain anything.
        let (_, fields) = stat.rsplit_once(')')?;
        let fields: Vec<&str> = fields.split_whitespace().collect();
        let seconds = |from: usize| {
            let times = fields.get(from..from + 2)?.iter();
            let ticks = times
                .map(|it| it.parse::<f64>().ok())
                .sum::<Option<f64>>()?;
            Some(ticks / TICKS)
        };
        Some(ProcessStat {
            has_ended: fields.first() == Some(&"Z"),
            parent: fields.get(1)?.parse().ok()?,
            cpu_seconds: seconds(11)?,
            cpu_seconds_of_children: seconds(13)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_proc_is_read() {
        let stat = "7 (a) b) S 3 7 7 0 -1 4194560 9 0 0 0 120 30 5 1 20 0 4 0 100";
        let expected = |has_ended| {
            Some(ProcessStat {
                has_ended,
                parent: 3,
                cpu_seconds: 1.5,
                cpu_seconds_of_children: 0.06,
            })
        };
        assert_eq!(ProcessStat::parse(stat), expected(false));
        let ended = stat.replace(" S ", " Z ");
        assert_eq!(ProcessStat::parse(&ended), expected(true));
        assert_eq!(ProcessStat::parse(""), None);
    }
}
