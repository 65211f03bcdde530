//! Load test of annotation: many annotators at once, on SQLite and on PostgreSQL.

use super::process_stat::ProcessStat;
use super::server::{BenchServer, program};
use super::table::{BenchRow, BenchTable};
use super::timing_process::{TimingProcess, number};
use super::{BenchContext, text};
use crate::process;
use crate::setup;
use crate::test::postgres::{Durability, PostgresServer};
use anyhow::{Context, Result};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;

const PEOPLE: u32 = 200;
const SECONDS: u32 = 60;
const PERIOD_MS: u32 = 3_000;

/// Target for the 99th percentile of the time to store a decision, in milliseconds.
const TARGET_MS: f64 = 150.0;

pub(super) fn measure(bench: &BenchContext<'_>, table: &mut BenchTable) -> Result<()> {
    let program = program(bench)?;
    let load = bench.example("tests", "annotators")?;
    let folder = bench.folder.join("review");
    let n_cores = std::thread::available_parallelism().map_or(1, |it| it.get());
    let mut against = |name: &str, database: Option<&PostgresServer>| -> Result<()> {
        // Left by a run that was interrupted.
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

/// What the clients measured, and the processor time of server and database in seconds.
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

/// Returns the processor time in seconds of a process and its running children.
fn with_children(id: u32) -> Result<f64> {
    let seconds = |it: &ProcessStat| it.cpu_seconds + it.cpu_seconds_of_children;
    let mut children = 0.0;
    for entry in fs::read_dir("/proc").context("reading /proc")? {
        let name = entry?.file_name();
        let Some(process) = name.to_str().and_then(|it| it.parse().ok()) else {
            continue;
        };
        // A process may have ended in the meantime.
        if let Ok(found) = ProcessStat::read(process)
            && found.parent == id
        {
            children += seconds(&found);
        }
    }
    Ok(seconds(&ProcessStat::read(id)?) + children)
}
