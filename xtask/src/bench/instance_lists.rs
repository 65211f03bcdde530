//! Lists of instances of studies with ten and fifty million instances, as the page requests them.

use super::server::BenchServer;
use super::table::BenchTable;
use super::timed_run::timed;
use super::{median, text};
use anyhow::{Context, Result};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::time::Instant;

/// A size of the study: its name, the depth of its candidate pool, its least number of instances.
const SIZES: [(&str, usize, u64); 2] = [("large", 100, 10_000_000), ("larger", 220, 50_000_000)];

const VISITORS: usize = 4;

/// Number of requests over which CPU time is averaged, which the system counts in hundredths.
const CPU_REQUESTS: usize = 20;

/// Number of rounds in which a visitor requests all lists.
const ROUNDS: usize = 10;

/// What visitors request: every order, with each filter.
const LISTS: [&str; 12] = [
    "sort=most-instructive",
    "sort=most-instructive&outcome=violated&offset=20000",
    "sort=most-instructive&min_margin=0.5&max_margin=1",
    "sort=query&outcome=violated&offset=1000000",
    "sort=query&offset=9000000",
    "sort=margin-ascending",
    "sort=margin-ascending&offset=5000000",
    "sort=margin-descending&outcome=violated",
    "sort=absolute-margin",
    "sort=absolute-margin&outcome=satisfied&min_margin=0.5",
    "sort=margin-ascending&subset=untruncated",
    "sort=query&query_filter=q77",
];

/// Makes both studies, unless they exist, and measures their lists.
pub(super) fn measure(program: &Path, folder: &Path, table: &mut BenchTable) -> Result<()> {
    let data = text(&folder.join("data"));
    for (name, depth, _) in SIZES {
        make(program, folder, &data, (name, depth), table)?;
    }
    let mut serve = Command::new(program);
    serve.args(["--data", &data, "serve", "--listen", "127.0.0.1:0"]);
    serve.arg("--no-auth-on-loopback");
    let server = BenchServer::start(&mut serve)?;
    for (name, _, least) in SIZES {
        browse(&server, name, least, table)?;
    }
    table.note(format!(
        "Lists of instances: the server took {:.0} MiB of memory for both studies, of which \
         {:.0} MiB are not files.",
        server.memory_mib("VmRSS")?,
        server.memory_mib("RssAnon")?
    ));
    Ok(())
}

fn make(
    program: &Path,
    folder: &Path,
    data: &str,
    (name, depth): (&str, usize),
    table: &mut BenchTable,
) -> Result<()> {
    let done = folder.join(format!("{name}-{depth}.done"));
    let told = match fs::read_to_string(&done) {
        Ok(told) => told,
        Err(_) => {
            let study = folder.join(format!("{name}.toml"));
            let collection = text(&folder.join("collection"));
            let definition = format!(
                "format = 1\nname = \"{name}\"\ntitle = \"Large\"\ncollection = {collection:?}\n\
                 pool = \"rank:bm25:{depth}\"\nprobes = [\"lnc1\"]\nmodes = [\"code\"]\n\
                 rankers = [\"bm25\", \"ql\"]\nanalyzer = {{ stemmer = \"none\" }}\n[limits]\n\
                 length_gap_terms = 10\nmin_terms = 1\nrepeat_from = 2\n\
                 repeat_to = 4\nrepeated_terms = 240\nfilled_terms = 512\nfillable_terms = 256\n\
                 seed = 42\n"
            );
            fs::write(&study, definition)?;
            let mut run = Command::new(program);
            run.args(["--data", data, "study", "run", "--replace"]);
            run.arg(&study);
            let made = timed(&mut run)?;
            let mut publish = Command::new(program);
            timed(publish.args(["--data", data, "study", "publish", name]))?;
            let mut bytes = 0;
            for entry in fs::read_dir(Path::new(data).join("studies").join(name))? {
                bytes += entry?.metadata()?.len();
            }
            let told = format!(
                "{:.0} s, at most {:.0} MiB of memory, {:.0} MB of files",
                made.seconds,
                made.most_mib,
                bytes as f64 / 1e6
            );
            fs::write(&done, &told)?;
            told
        }
    };
    table.note(format!(
        "The study of {depth} documents a query, LNC1 as coded, sorted for two rankers: {told}."
    ));
    Ok(())
}

fn browse(server: &BenchServer, name: &str, least: u64, table: &mut BenchTable) -> Result<()> {
    let get = |row: usize, list: &str| {
        let cell = format!("/api/studies/{name}/rankers/{row}/probes/lnc1");
        server.get(&format!("{cell}/instances?variant=code&limit=100&{list}"))
    };
    // The first request loads the study and its sorted instances.
    let start = Instant::now();
    let n_instances = get(0, LISTS[0])?["n_instances"].as_u64().unwrap_or(0);
    let loaded = start.elapsed().as_secs_f64();
    let millions = n_instances as f64 / 1e6;
    let mut cpu = Vec::new();
    for list in LISTS {
        get(1, list)?;
        let before = server.cpu_seconds()?;
        for at in 0..CPU_REQUESTS {
            get(at % 2, list)?;
        }
        let taken = server.cpu_seconds()? - before;
        cpu.push((taken / CPU_REQUESTS as f64, list));
    }
    let (worst, slowest) = cpu
        .iter()
        .copied()
        .fold((0.0, ""), |a, b| if b.0 > a.0 { b } else { a });
    let middle = median(cpu.iter().map(|it| it.0).collect());
    table.add_without_peer(
        &format!("a page of 100 of {millions:.1} million instances, CPU of the server, worst list"),
        format!("{:.0} ms", worst * 1e3),
        "≤ 50 ms",
        n_instances >= least && worst <= 0.05,
    );
    let times = Mutex::new(Vec::new());
    let failed = Mutex::new(None);
    std::thread::scope(|scope| {
        for visitor in 0..VISITORS {
            let (times, failed, get) = (&times, &failed, &get);
            scope.spawn(move || {
                for at in 0..ROUNDS * LISTS.len() {
                    let start = Instant::now();
                    let list = LISTS[(at + visitor * LISTS.len() / VISITORS) % LISTS.len()];
                    match get(visitor % 2, list) {
                        Ok(_) => lock(times).push(start.elapsed().as_secs_f64()),
                        Err(error) => *lock(failed) = Some(error),
                    }
                }
            });
        }
    });
    if let Some(error) = lock(&failed).take() {
        return Err(error).context("a list of instances");
    }
    let mut times = std::mem::take(&mut *lock(&times));
    times.sort_by(f64::total_cmp);
    let p99 = times[times.len() * 99 / 100];
    table.add_without_peer(
        &format!("the same for {VISITORS} visitors at once, 99th of 100"),
        format!("{:.0} ms", p99 * 1e3),
        "< 300 ms",
        p99 < 0.3,
    );
    table.note(format!(
        "Lists of {millions:.1} million instances: {:.0} ms of CPU at the median, the slowest was \
         `{slowest}`; four visitors at once waited {:.0} ms at the median, {:.0} ms at most; \
         loading took {loaded:.1} s.",
        middle * 1e3,
        times[times.len() / 2] * 1e3,
        times[times.len() - 1] * 1e3
    ));
    Ok(())
}

fn lock<T>(of: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    of.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
