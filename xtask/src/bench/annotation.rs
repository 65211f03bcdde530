//! Annotators at work: as many as the machine should serve, on both databases.

use super::server::{BenchServer, program};
use super::table::{BenchRow, BenchTable};
use super::timing_process::{TimingProcess, number};
use super::{BenchContext, text};
use crate::process;
use crate::setup;
use crate::test::postgres::{Durability, PostgresServer};
use anyhow::{Context, Result};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

const PEOPLE: u32 = 200;
const SECONDS: u32 = 60;
const PERIOD_MS: u32 = 3_000;

/// Of the times to take a decision, 99 of 100 are below.
const TARGET_MS: f64 = 150.0;

/// Hundredths of a second in /proc, on every Linux that there is.
const TICKS: f64 = 100.0;

pub(super) fn measure(bench: &BenchContext<'_>, table: &mut BenchTable) -> Result<()> {
    let program = program(bench)?;
    let load = bench.example("tests", "annotators")?;
    let folder = bench.folder.join("review");
    let n_cores = std::thread::available_parallelism().map_or(1, |it| it.get());
    let mut against = |name: &str, database: Option<&PostgresServer>| -> Result<()> {
        // What was left by a run that was stopped.
        let _ = fs::remove_dir_all(&folder);
        let told = people(bench, (&program, &load), (&folder, database))?;
        lines(name, n_cores, &told, table)
    };
    against("SQLite", None)?;
    match setup::postgres::get().and_then(|it| PostgresServer::start(&it, Durability::Commits)) {
        Ok(database) => against("PostgreSQL", Some(&database))?,
        Err(error) => table.left_out("review on PostgreSQL", &format!("{error:#}")),
    }
    fs::remove_dir_all(&folder).context("removing the data of the server")
}

/// What was seen, and the seconds of processor time of the server and of its database.
struct AnnotationLoad {
    seen: Value,
    server: f64,
    database: f64,
}

fn people(
    bench: &BenchContext<'_>,
    (program, load): (&Path, &Path),
    (folder, database): (&Path, Option<&PostgresServer>),
) -> Result<AnnotationLoad> {
    fs::create_dir_all(folder)?;
    let file = folder.join("study.toml");
    fs::write(&file, definition(bench))?;
    let data = text(&folder.join("data"));
    let command = |args: &[&str]| {
        let mut command = Command::new(program);
        command.args(["--data", &data]).args(args);
        match database {
            Some(it) => command.env("DATABASE_URL", it.url()),
            None => command.env_remove("DATABASE_URL"),
        };
        command
    };
    process::run(&mut command(&["study", "run", &text(&file)]))?;
    process::run(&mut command(&["study", "publish", "measured"]))?;
    let serve = ["serve", "--listen", "127.0.0.1:0", "--no-auth-on-loopback"];
    let server = BenchServer::start(&mut command(&serve))?;
    let mut load = TimingProcess::start(Command::new(load).args([&server.origin(), "measured"]))?;
    load.run_task(&format!("join {PEOPLE}"))?;
    let busy = || -> Result<(f64, f64)> {
        let database = database.map_or(Ok(0.0), |it| with_children(it.id()));
        Ok((with_children(server.id())?, database?))
    };
    let before = busy()?;
    let seen = load.run_task(&format!("decide {SECONDS} {PERIOD_MS}"))?;
    let after = busy()?;
    Ok(AnnotationLoad {
        seen,
        server: after.0 - before.0,
        database: after.1 - before.1,
    })
}

fn definition(bench: &BenchContext<'_>) -> String {
    let demo = text(&bench.place.root.join("demo"));
    format!(
        "format = 1\nname = \"measured\"\ntitle = \"Measured\"\ncollection = {demo:?}\n\
         pool = \"rank:bm25:20\"\nprobes = [\"tfc1\"]\nmodes = [\"fixed\"]\n\
         rankers = [\"bm25\", \"ql\"]\n[limits]\nlength_gap_terms = 10\nmin_terms = 1\n\
         repeat_from = 2\nrepeat_to = 4\nrepeated_terms = 240\nfilled_terms = 512\n\
         fillable_terms = 256\nseed = 42\n"
    )
}

fn lines(name: &str, n_cores: usize, told: &AnnotationLoad, table: &mut BenchTable) -> Result<()> {
    let seen = &told.seen;
    let seconds = number(seen, "seconds")?;
    let every = PERIOD_MS / 1_000;
    let what = format!("{PEOPLE} people decide every {every} s on {n_cores} cores, {name}");
    for (key, what) in [
        ("send", format!("{what}: a decision is kept, 99th of 100")),
        (
            "next",
            format!("the same, {name}: eight items, 99th of 100"),
        ),
    ] {
        let times = &seen[key];
        let p99 = number(times, "p99_ms")?;
        table.add(BenchRow {
            name: what,
            ours: format!("{p99:.0} ms"),
            peer: "none".to_owned(),
            ratio: format!("{} in {seconds:.0} s", number(times, "n")?),
            target: "< 150 ms",
            is_met: p99 < TARGET_MS && number(seen, "n_errors")? == 0.0,
        });
        table.note(format!(
            "Review on {name}, {key}: median {:.1} ms, 95th of 100 {:.1} ms, longest {:.1} ms.",
            number(times, "p50_ms")?,
            number(times, "p95_ms")?,
            number(times, "max_ms")?
        ));
    }
    let share = |it: f64| format!("{:.0} %", 100.0 * it / (seconds * n_cores as f64));
    table.note(format!(
        "Review on {name}: of {n_cores} cores the server had {}, the database {}, the {PEOPLE} \
         people {}; {} requests failed{}; {} times somebody had no item.",
        share(told.server),
        share(told.database),
        share(number(seen, "cpu_seconds")?),
        number(seen, "n_errors")?,
        seen["first_error"]
            .as_str()
            .map(|it| format!(", first with: {it}"))
            .unwrap_or_default(),
        number(seen, "n_idle")?
    ));
    Ok(())
}

/// Seconds of processor time of a process and of those that it has started, as far as they run.
fn with_children(id: u32) -> Result<f64> {
    let mut of: BTreeMap<u32, (u32, f64)> = BTreeMap::new();
    for entry in fs::read_dir("/proc").context("reading /proc")? {
        let name = entry?.file_name();
        let Some(process) = name.to_str().and_then(|it| it.parse().ok()) else {
            continue;
        };
        // Whoever has just ended is not read.
        let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        if let Some(found) = parent_and_seconds(&stat) {
            of.insert(process, found);
        }
    }
    let own = of.get(&id).map(|it| it.1);
    let children = of.values().filter(|it| it.0 == id).map(|it| it.1);
    Ok(own.with_context(|| format!("no process {id}"))? + children.sum::<f64>())
}

/// Of a line of `/proc/ID/stat`, see proc(5): the parent, and user and system time with those of
/// children that have ended.
fn parent_and_seconds(stat: &str) -> Option<(u32, f64)> {
    // The name before may hold anything.
    let (_, fields) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = fields.split_whitespace().collect();
    let parent = fields.get(1)?.parse().ok()?;
    let times = fields.get(11..15)?.iter().map(|it| it.parse::<f64>().ok());
    let ticks: f64 = times.sum::<Option<f64>>()?;
    Some((parent, ticks / TICKS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_proc_is_read() {
        let stat = "7 (a) b) S 3 7 7 0 -1 4194560 9 0 0 0 120 30 5 1 20 0 4 0 100";
        assert_eq!(parent_and_seconds(stat), Some((3, 1.56)));
        assert_eq!(parent_and_seconds(""), None);
    }
}
