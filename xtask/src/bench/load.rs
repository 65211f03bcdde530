//! The server under load: more clients than the machine can serve, and a job of 100,000 pairs.

use super::server::{BenchServer, program};
use super::table::{BenchRow, BenchTable};
use super::timing_process::number;
use super::{BenchContext, text};
use crate::setup;
use anyhow::{Context, Result, bail};
use serde_json::json;
use std::collections::BTreeMap;
use std::fs;
use std::process::Command;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Maximum time to score the demo study.
const DEMO_SCORED: Duration = Duration::from_secs(1_200);

/// Maximum time of the job.
const PATIENCE: Duration = Duration::from_secs(1_200);

const CLIENTS: usize = 64;
const SECONDS: u64 = 60;

/// Number of documents in a request.
const TEXTS: usize = 16;

/// Number of queries of the job.
const QUERIES: usize = 40;
const TEXTS_OF_JOB: usize = 2_500;

pub(super) fn measure(bench: &BenchContext<'_>, table: &mut BenchTable) -> Result<()> {
    let program = program(bench)?;
    let model = setup::model::get(bench.place)?;
    let data = bench.folder.join("served");
    let start = || {
        let mut serve = Command::new(&program);
        serve.args(["--data", &text(&data), "serve", "--listen", "127.0.0.1:0"]);
        serve.args([
            "--demo=lexical",
            "--no-auth-on-loopback",
            "--model",
            &text(&model),
        ]);
        BenchServer::start(&mut serve)
    };
    let server = start()?;
    // Wait until the demo study has been scored and analyzed in the background.
    let since = Instant::now();
    while server.get("/api/studies/demo/late-interaction")? == json!([]) {
        if since.elapsed() > DEMO_SCORED {
            bail!("the demo study was not scored in {DEMO_SCORED:?}");
        }
        std::thread::sleep(Duration::from_secs(1));
    }
    overload(&server, bench, table)?;
    drop(server);
    let weights = fs::metadata(model.join("model.safetensors"))?.len() as f64;
    large_job(&start()?, bench, weights / 1024.0 / 1024.0, table)?;
    fs::remove_dir_all(&data).context("removing the data of the server")
}

/// The observations of the clients.
#[derive(Default)]
struct ClientStats {
    /// Number of responses by status.
    statuses: BTreeMap<u16, u64>,
    /// Errors of requests that got no valid response.
    broken: Vec<String>,
    /// Response times of a study page in seconds.
    pages: Vec<f64>,
    /// Memory of the server in MiB, once per second.
    memory_mib: Vec<f64>,
}

fn overload(server: &BenchServer, bench: &BenchContext<'_>, table: &mut BenchTable) -> Result<()> {
    let texts = passages(bench, CLIENTS * TEXTS)?;
    let seen = Mutex::new(ClientStats::default());
    let take =
        |it: &dyn Fn(&mut ClientStats)| it(&mut seen.lock().unwrap_or_else(|it| it.into_inner()));
    // Load the model and the study before the measurement.
    rank(server, &texts[..1])?.json()?;
    let studies = server.get("/api/studies")?;
    let name = studies[0]["name"].as_str().context("no study")?;
    let study = format!("/api/studies/{name}");
    server.get(&study)?;
    let until = Instant::now() + Duration::from_secs(SECONDS);
    std::thread::scope(|scope| {
        for client in texts.chunks(TEXTS) {
            scope.spawn(|| {
                while Instant::now() < until {
                    match rank(server, client) {
                        Ok(reply) => {
                            take(&|it| *it.statuses.entry(reply.status).or_default() += 1);
                            // A rejected client tries again, though sooner than it is told to.
                            if reply.status != 200 {
                                std::thread::sleep(Duration::from_millis(250));
                            }
                        }
                        Err(error) => take(&|it| it.broken.push(format!("{error:#}"))),
                    }
                }
            });
        }
        scope.spawn(|| {
            while Instant::now() < until {
                let start = Instant::now();
                let answer = server.get(&study);
                let took = start.elapsed();
                take(&|it| match &answer {
                    Ok(_) => it.pages.push(took.as_secs_f64()),
                    Err(error) => it.broken.push(format!("a page: {error:#}")),
                });
                std::thread::sleep(Duration::from_millis(100));
            }
        });
        scope.spawn(|| {
            while Instant::now() < until {
                match server.memory_mib("VmRSS") {
                    Ok(now) => take(&|it| it.memory_mib.push(now)),
                    Err(error) => return take(&|it| it.broken.push(format!("{error:#}"))),
                }
                std::thread::sleep(Duration::from_secs(1));
            }
        });
    });
    let ClientStats {
        statuses,
        broken,
        mut pages,
        memory_mib,
    } = seen.into_inner().unwrap_or_else(|it| it.into_inner());
    if let Some(first) = broken.first() {
        bail!("{} requests were not answered: {first}", broken.len());
    }
    let n: u64 = statuses.values().sum();
    let fine = |it: &u16| [200, 429, 503].contains(it);
    let told: Vec<String> = statuses
        .iter()
        .map(|(it, n)| format!("{it}: {n}"))
        .collect();
    table.add(BenchRow {
        name: format!("{CLIENTS} clients rank {TEXTS} texts for {SECONDS} s: answers"),
        ours: told.join(", "),
        peer: "none".to_owned(),
        ratio: format!("{n}"),
        target: "200, 429, 503",
        is_met: statuses.keys().all(fine) && statuses.contains_key(&200),
    });
    pages.sort_by(f64::total_cmp);
    let p99 = pages[(pages.len() * 99 / 100).min(pages.len() - 1)];
    table.add_without_peer(
        "a study from the same server meanwhile, 99th of 100",
        format!("{:.0} ms", p99 * 1e3),
        "< 250 ms",
        p99 < 0.25,
    );
    table.add_memory_over_time("its memory", &memory_mib);
    Ok(())
}

fn rank(server: &BenchServer, texts: &[String]) -> Result<super::server::BenchReply> {
    let asked = json!({"query": "what is a river", "texts": texts});
    server.post("/rerank", &asked.to_string())
}

/// Runs a job that scores every query with every document by late interaction.
fn large_job(
    server: &BenchServer,
    bench: &BenchContext<'_>,
    weights_mib: f64,
    table: &mut BenchTable,
) -> Result<()> {
    let texts = passages(bench, TEXTS_OF_JOB)?;
    let queries: Vec<String> = texts
        .iter()
        .take(QUERIES)
        .map(|it| it.split_whitespace().take(8).collect::<Vec<_>>().join(" "))
        .collect();
    let pairs: Vec<[usize; 2]> = (0..texts.len())
        .flat_map(|text| (0..queries.len()).map(move |query| [query, text]))
        .collect();
    let about = server.get("/api/about")?;
    let models = about["models"].as_array().context("no models")?;
    let spec = models.iter().filter_map(|it| it["spec"].as_str());
    let spec = spec.into_iter().find(|it| it.ends_with(":late"));
    let job = json!({
        "model": spec.context("no late interaction")?,
        "title": "100,000 pairs",
        "queries": queries,
        "documents": texts,
        "pairs": pairs,
    });
    let start = Instant::now();
    let job = server.post("/api/jobs", &job.to_string())?.json()?;
    let address = format!("/api/jobs/{}", job["id"].as_str().context("no id")?);
    let ended = loop {
        let job = server.get(&address)?;
        match job["state"].as_str() {
            Some("queued" | "running") if start.elapsed() < PATIENCE => {
                std::thread::sleep(Duration::from_millis(200));
            }
            _ => break job,
        }
    };
    if ended["state"] != "done" {
        bail!("the job ended so: {ended}");
    }
    let beyond = server.memory_mib("VmHWM")? - weights_mib;
    table.add_without_peer(
        &format!(
            "most memory of the server for a job of {} pairs in late interaction, beyond weights",
            number(&ended, "n_pairs")?
        ),
        format!("{beyond:.0} MiB"),
        "< 1 GiB",
        beyond < 1024.0,
    );
    table.note(format!(
        "The job took {:.0} s: {TEXTS_OF_JOB} texts of natural length, {QUERIES} queries.",
        start.elapsed().as_secs_f64()
    ));
    Ok(())
}

fn passages(bench: &BenchContext<'_>, n: usize) -> Result<Vec<String>> {
    let given = fs::read_to_string(bench.given().join("texts.jsonl"))
        .context("no texts: measure the part lexical first")?;
    let lines = given.lines().step_by(10).take(n);
    let texts: Vec<String> = lines.map(serde_json::from_str).collect::<Result<_, _>>()?;
    if texts.len() < n {
        bail!("{} texts are fewer than {n}", texts.len());
    }
    Ok(texts)
}
