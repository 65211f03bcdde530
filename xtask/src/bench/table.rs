//! The benchmark table and a description of the machine.

use super::text;
use crate::paths::ProjectPaths;
use crate::process;
use std::fs;
use std::process::Command;

/// A row of the table: our value, that of the peer, their ratio and the target.
pub(super) struct BenchRow {
    pub(super) name: String,
    pub(super) ours: String,
    pub(super) peer: String,
    /// How many times better ours is; without a peer, a further figure or nothing.
    pub(super) ratio: String,
    pub(super) target: &'static str,
    pub(super) is_met: bool,
}

/// The benchmark table of `BENCHMARKS.md`.
#[derive(Default)]
pub(super) struct BenchTable {
    rows: Vec<BenchRow>,
    /// Tables of their own: a heading and lines of Markdown.
    sections: Vec<(String, Vec<String>)>,
    notes: Vec<String>,
    versions: Vec<String>,
    left_out: Vec<String>,
}

impl BenchTable {
    pub(super) fn add(&mut self, row: BenchRow) {
        println!(
            "  {}: {} against {}, {}",
            row.name, row.ours, row.peer, row.ratio
        );
        self.rows.push(row);
    }

    /// Adds a row of a figure that no peer has.
    pub(super) fn add_without_peer(
        &mut self,
        name: &str,
        ours: String,
        target: &'static str,
        is_met: bool,
    ) {
        self.add(BenchRow {
            name: name.to_owned(),
            ours,
            peer: "none".to_owned(),
            ratio: String::new(),
            target,
            is_met,
        });
    }

    /// Adds a row of the peak memory in the second half of the samples, in MiB, against the first.
    pub(super) fn add_memory_over_time(&mut self, of: &str, samples: &[f64]) {
        let (early, late) = samples.split_at(samples.len() / 2);
        let most = |it: &[f64]| it.iter().copied().fold(0.0, f64::max);
        let (early, late) = (most(early), most(late));
        self.add(BenchRow {
            name: format!("{of} in the second half, against the first"),
            ours: format!("{late:.0} MiB"),
            peer: format!("{early:.0} MiB"),
            ratio: format!("{:.2}×", late / early),
            target: "≤ 1.1×",
            is_met: late / early <= 1.1,
        });
    }

    /// Adds a table of its own.
    pub(super) fn section(&mut self, heading: &str, lines: Vec<String>) {
        self.sections.push((heading.to_owned(), lines));
    }

    pub(super) fn note(&mut self, note: String) {
        self.notes.push(note);
    }

    pub(super) fn version(&mut self, version: String) {
        self.versions.push(version);
    }

    pub(super) fn left_out(&mut self, what: &str, why: &str) {
        let why: String = why.split_whitespace().collect::<Vec<_>>().join(" ");
        println!("  left out: {what}: {why}");
        self.left_out.push(format!("{what}: {why}"));
    }

    pub(super) fn markdown(&self, machine: &MachineInfo) -> String {
        let mut out = String::from(
            "# Benchmarks\n\nWritten by `cargo xtask bench`. Medians of five alternating runs in \
             one invocation.\n\n| | ours | peer | ratio | target | met |\n\
             |---|---:|---:|---:|---:|:-:|\n",
        );
        for it in &self.rows {
            let met = if it.is_met { "yes" } else { "no" };
            out += &format!(
                "| {} | {} | {} | {} | {} | {met} |\n",
                it.name, it.ours, it.peer, it.ratio, it.target
            );
        }
        for (heading, lines) in &self.sections {
            out += &format!("\n{heading}:\n\n{}\n", lines.join("\n"));
        }
        let mut list = |head: &str, items: &[String]| {
            if !items.is_empty() {
                out += &format!("\n{head}\n\n");
                items.iter().for_each(|it| out += &format!("- {it}\n"));
            }
        };
        list("How to read it:", &self.notes);
        list("Left out:", &self.left_out);
        list("Machine:", &machine.lines());
        list("Versions:", &self.versions);
        out
    }
}

/// The properties of the machine on which the figures depend.
pub(super) struct MachineInfo {
    processor: String,
    n_cores: usize,
    memory: String,
    date: String,
    compiler: String,
    commit: String,
    load: String,
    load_after: String,
}

impl MachineInfo {
    pub(super) fn detect(place: &ProjectPaths) -> MachineInfo {
        let root = text(&place.root);
        let git = ["-C", &root, "rev-parse", "--short", "HEAD"];
        MachineInfo {
            processor: field("/proc/cpuinfo", "model name").unwrap_or_else(|| "unknown".into()),
            n_cores: std::thread::available_parallelism().map_or(1, |it| it.get()),
            memory: field("/proc/meminfo", "MemTotal").map_or_else(|| "unknown".into(), in_gib),
            date: process::output_of(Command::new("date").args(["-u", "+%F %H:%M UTC"]))
                .unwrap_or_default(),
            compiler: process::output_of(Command::new("rustc").arg("--version"))
                .unwrap_or_default(),
            commit: process::output_of(Command::new("git").args(git)).unwrap_or_default(),
            load: load(),
            load_after: String::new(),
        }
    }

    pub(super) fn end(&mut self) {
        self.load_after = load();
    }

    fn lines(&self) -> Vec<String> {
        vec![
            format!(
                "{}, {} cores, {} of memory",
                self.processor, self.n_cores, self.memory
            ),
            format!(
                "{}, on top of commit {}, {}",
                self.date, self.commit, self.compiler
            ),
            format!(
                "load average before {}, after {}",
                self.load, self.load_after
            ),
        ]
    }
}

fn load() -> String {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace()
        .next()
        .unwrap_or("unknown")
        .to_owned()
}

/// Returns the value of the first line `name : value` of a file.
fn field(file: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    let line = text.lines().find(|it| it.starts_with(name))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

fn in_gib(kilobytes: String) -> String {
    let number: f64 = kilobytes
        .trim_end_matches("kB")
        .trim()
        .parse()
        .unwrap_or(0.0);
    format!("{:.1} GiB", number / 1024.0 / 1024.0)
}
