//! The public site under load: 500 visitors who open a study, and 20 who use the Playground.
//!
//! The clients are those of `oha`, on the same cores as the server.

use super::server::BenchServer;
use super::table::BenchTable;
use super::{BenchContext, text};
use crate::{dist, setup};
use anyhow::{Context, Result, bail};
use serde_json::json;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// How long the visitors come.
const MINUTES: u64 = 10;

/// The longest time that the server may need to make the demo study.
const MAX_MINUTES_TO_IDLE: u64 = 15;

/// Number of addresses that the visitors come from.
const ADDRESSES: usize = 25;

/// Number of visitors at one address, as at a university.
const VISITORS_PER_ADDRESS: usize = 20;

/// Time between two study views of a visitor, in seconds.
const SECONDS_BETWEEN_VIEWS: f64 = 20.0;

/// Number of visitors who use the Playground, each from an address of its own.
const PLAYGROUND_VISITORS: usize = 20;

/// Time between two changes of a text in the Playground, in seconds.
const SECONDS_BETWEEN_TEXTS: f64 = 5.0;

/// What the Study page asks for after the files that `index.html` names: the program in
/// WebAssembly, the server's description, the study and the first rows of the list.
const STUDY_REQUESTS: [&str; 4] = [
    "/api/about",
    "/api/studies/demo?subset=all",
    "/api/studies/demo?subset=with-relevant",
    "/api/studies/demo/rankers/bm25/probes/stmc3/instances?limit=3&offset=0&outcome=violated\
     &sort=most-instructive&subset=all",
];

pub(super) fn measure(bench: &BenchContext<'_>, table: &mut BenchTable) -> Result<()> {
    let program = dist::build_program_with_pages(bench.place)?;
    let oha = setup::load_generator(bench.place)?;
    let model = setup::model::get(bench.place)?;
    let folder = bench.folder.join("visitors");
    drop(fs::remove_dir_all(&folder));
    fs::create_dir_all(&folder)?;
    let mut serve = Command::new(&program);
    serve.args(["--data", &text(&folder.join("data")), "serve"]);
    serve.args(["--listen", "127.0.0.1:0", "--demo=lexical"]);
    serve.args(["--trusted-proxy", "127.0.0.1/32", "--model", &text(&model)]);
    let server = BenchServer::start(&mut serve)?;
    let about = server.get("/api/about")?;
    let ranker = about["models"][0]["spec"].as_str();
    let typed = json!({
        "model": ranker.context("the server has no neural ranker")?,
        "query": "why does a glacier move",
        "documents": [
            "A glacier moves under its own weight: ice deforms and slides.",
            "Ice covers the land in winter.",
        ],
    });
    let body = folder.join("typed.json");
    fs::write(&body, typed.to_string())?;
    let view = study_view(&server)?;
    let addresses = folder.join("view.txt");
    let lines: Vec<String> = view
        .iter()
        .map(|it| format!("{}{it}\n", server.origin()))
        .collect();
    fs::write(&addresses, lines.concat())?;
    // The model is loaded by the first request, and scores the demo study first.
    server.post("/api/score", &typed.to_string())?.json()?;
    wait_until_idle(&server)?;

    let duration = Duration::from_secs(MINUTES * 60);
    let generator = LoadGenerator {
        oha,
        folder: folder.clone(),
        duration,
    };
    let views_per_s = VISITORS_PER_ADDRESS as f64 / SECONDS_BETWEEN_VIEWS;
    let mut views = Vec::new();
    for address in 0..ADDRESSES {
        let mut client = generator.client(&format!("198.51.100.{address}"));
        client.args(["-c", &VISITORS_PER_ADDRESS.to_string()]);
        client.args(["-q", &format!("{}", views_per_s * view.len() as f64)]);
        client.arg("--urls-from-file").arg(&addresses);
        views.push(generator.start(client, format!("view-{address}"))?);
    }
    let mut texts = Vec::new();
    for visitor in 0..PLAYGROUND_VISITORS {
        // People do not type in step.
        let pause = SECONDS_BETWEEN_TEXTS / PLAYGROUND_VISITORS as f64;
        std::thread::sleep(Duration::from_secs_f64(pause));
        let mut client = generator.client(&format!("203.0.113.{visitor}"));
        client.args(["-c", "1", "-q", &format!("{}", 1.0 / SECONDS_BETWEEN_TEXTS)]);
        client.args(["-m", "POST", "-T", "application/json", "-D", &text(&body)]);
        client.arg(format!("{}/api/score", server.origin()));
        texts.push(generator.start(client, format!("text-{visitor}"))?);
    }
    let mut memory_mib = Vec::new();
    let cpu_before = server.cpu_seconds()?;
    for _ in 0..duration.as_secs() {
        std::thread::sleep(Duration::from_secs(1));
        memory_mib.push(server.memory_mib("RssAnon")?);
    }
    let cpu = server.cpu_seconds()? - cpu_before;
    let views = Responses::collect(views)?;
    let texts = Responses::collect(texts)?;
    add_rows(&views, &texts, &memory_mib, table);
    table.note(format!(
        "Visitors: {} requests a view ({}), none from a cache; every request is one of these at \
         random, so that {} views a second are offered; {:.1} MB were sent a second; the server \
         used {:.0} % of one core. The visitors of the Playground change a text every \
         {SECONDS_BETWEEN_TEXTS} s, one after the other, for MiniLM to score with two documents. \
         Rate limits are on: {ADDRESSES} addresses of \
         {VISITORS_PER_ADDRESS} visitors.",
        view.len(),
        view.join(", "),
        views_per_s * ADDRESSES as f64,
        views.bytes as f64 / 1e6 / duration.as_secs_f64(),
        100.0 * cpu / duration.as_secs_f64(),
    ));
    fs::remove_dir_all(&folder).context("removing the data of the server")
}

/// Waits until the server has nothing to do but to answer.
fn wait_until_idle(server: &BenchServer) -> Result<()> {
    const SECONDS: u64 = 5;
    for _ in 0..MAX_MINUTES_TO_IDLE * 60 / SECONDS {
        let before = server.cpu_seconds()?;
        std::thread::sleep(Duration::from_secs(SECONDS));
        if server.cpu_seconds()? - before < 0.05 * SECONDS as f64 {
            return Ok(());
        }
    }
    bail!("the server still works {MAX_MINUTES_TO_IDLE} minutes after its start")
}

/// Returns the addresses that a browser asks for when a visitor without a cache opens the study.
fn study_view(server: &BenchServer) -> Result<Vec<String>> {
    let page = server.text("/studies/demo");
    let page = page.context("the program has no pages")?;
    let mut view = vec!["/studies/demo".to_owned()];
    for part in page.split(['"', '\'']) {
        let is_file = [".css", ".js", ".wasm", ".svg"]
            .iter()
            .any(|it| part.ends_with(it));
        let path = format!("/{}", part.trim_start_matches(['.', '/']));
        // An annotator loads this program instead.
        let is_file = is_file && !path.starts_with("/annotation");
        if is_file && !part.contains(char::is_whitespace) && !view.contains(&path) {
            view.push(path);
        }
    }
    view.extend(STUDY_REQUESTS.map(str::to_owned));
    for path in &view {
        server.text(path)?;
    }
    Ok(view)
}

/// How the clients are started.
struct LoadGenerator {
    oha: PathBuf,
    folder: PathBuf,
    duration: Duration,
}

impl LoadGenerator {
    /// Returns the command of clients behind a proxy that names their address.
    fn client(&self, address: &str) -> Command {
        let mut command = Command::new(&self.oha);
        command.args(["--no-tui", "--latency-correction", "--output-format", "csv"]);
        command.args(["-z", &format!("{}s", self.duration.as_secs())]);
        command.args(["-H", &format!("X-Forwarded-For: {address}")]);
        command.args(["-H", "Accept-Encoding: br, gzip"]);
        command
    }

    fn start(&self, mut command: Command, name: String) -> Result<RunningClients> {
        let table = self.folder.join(format!("{name}.csv"));
        let out = fs::File::create(&table)?;
        let child = command.stdout(out).stderr(Stdio::inherit()).spawn();
        Ok(RunningClients {
            child: child.context("starting oha")?,
            table,
        })
    }
}

/// Clients at one address, and the table of their requests.
struct RunningClients {
    child: Child,
    table: PathBuf,
}

/// The responses to all clients of one kind.
#[derive(Default)]
struct Responses {
    /// Time from the planned start of each request to its end, in seconds, in ascending order.
    seconds: Vec<f64>,
    /// Number of responses by status.
    statuses: BTreeMap<u16, u64>,
    bytes: u64,
}

impl Responses {
    fn collect(clients: Vec<RunningClients>) -> Result<Responses> {
        let mut responses = Responses::default();
        for mut clients in clients {
            let ended = clients.child.wait()?;
            if !ended.success() {
                bail!("oha ended with {ended}");
            }
            responses.read(&clients.table)?;
        }
        if responses.seconds.is_empty() {
            bail!("no request was answered");
        }
        responses.seconds.sort_by(f64::total_cmp);
        Ok(responses)
    }

    /// Reads oha's table: start, DNS, DNS and connection, first byte, duration, bytes, status.
    fn read(&mut self, table: &Path) -> Result<()> {
        for line in fs::read_to_string(table)?.lines().skip(1) {
            let fields: Vec<&str> = line.split(',').collect();
            let [.., seconds, bytes, status] = fields[..] else {
                bail!("{}: not a row of oha: {line}", table.display());
            };
            let row = || format!("{}: not a row of oha: {line}", table.display());
            self.seconds.push(seconds.parse().with_context(row)?);
            self.bytes += bytes.parse::<u64>().with_context(row)?;
            *self
                .statuses
                .entry(status.parse().with_context(row)?)
                .or_default() += 1;
        }
        Ok(())
    }

    fn percentile(&self, percent: usize) -> f64 {
        let last = self.seconds.len() - 1;
        self.seconds[(self.seconds.len() * percent / 100).min(last)]
    }

    fn has_only(&self, allowed: &[u16]) -> bool {
        self.statuses.keys().all(|it| allowed.contains(it))
    }

    /// Returns the median and the 99th percentile in words.
    fn times(&self) -> String {
        format!(
            "{:.0} ms (median {:.1} ms)",
            self.percentile(99) * 1e3,
            self.percentile(50) * 1e3
        )
    }

    fn statuses(&self) -> String {
        let words = self.statuses.iter().map(|(it, n)| format!("{it}: {n}"));
        words.collect::<Vec<_>>().join(", ")
    }
}

fn add_rows(views: &Responses, texts: &Responses, memory_mib: &[f64], table: &mut BenchTable) {
    let n_visitors = ADDRESSES * VISITORS_PER_ADDRESS;
    table.add_without_peer(
        &format!(
            "{n_visitors} visitors, a study view each per {SECONDS_BETWEEN_VIEWS} s, {MINUTES} \
             minutes: 99th of 100 responses"
        ),
        views.times(),
        "< 250 ms",
        views.percentile(99) < 0.25 && views.has_only(&[200]),
    );
    table.add_without_peer(
        &format!("{PLAYGROUND_VISITORS} more in the Playground: 99th of 100 neural scores"),
        texts.times(),
        "< 250 ms",
        texts.percentile(99) < 0.25 && texts.has_only(&[200]),
    );
    table.add_without_peer(
        "answers by status: views; Playground",
        format!("{}; {}", views.statuses(), texts.statuses()),
        "200",
        views.has_only(&[200]) && texts.has_only(&[200]),
    );
    // The first tenth fills caches.
    let steady = &memory_mib[memory_mib.len() / 10..];
    table.add_memory_over_time("memory of the server", steady);
}
