//! Benchmarks at the size of the papers: 1,558 queries with 100 of 100,000 documents each. The text
//! is random, with the word frequencies of natural language.

use super::process_stat::peak_memory_mib;
use super::server::program;
use super::table::BenchTable;
use super::{BenchContext, text};
use super::{growth, instance_lists};
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::fs::{self, File};
use std::io::{BufWriter, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

const N_DOCS: usize = 100_000;
const N_QUERIES: usize = 1_558;
const N_WORDS: usize = 60_000;
const N_TOPICS: usize = 2_000;
const WORDS_OF_TOPIC: usize = 24;
/// Number of words with a vector, the most frequent ones.
const N_VECTORS: usize = 10_000;
const N_DIMS: usize = 50;

const NINE_AXIOMS: &str = "tfc1,tfc2,mtdc,lnc1,lnc2,tp,stmc1,stmc2,stmc3";

pub(super) fn measure(bench: &BenchContext<'_>, table: &mut BenchTable) -> Result<()> {
    let program = program(bench)?;
    let folder = bench.folder.join("scale");
    make(&folder, N_DOCS, N_QUERIES)?;
    let at = |name: &str| text(&folder.join(name));
    let mine = |probes: &str, mode: &str, out: &str| {
        let mut run = Command::new(&program);
        run.args([
            "mine",
            "--collection",
            &at("collection"),
            "--probes",
            probes,
        ])
        .args([
            "--mode",
            mode,
            "--pool",
            "rank:bm25:100",
            "--stemmer",
            "none",
        ])
        .args([
            "--vectors",
            &at("vectors.txt"),
            "--json",
            "--times",
            "--out",
            &at(out),
        ]);
        timed(&mut run)
    };
    let nine = mine(NINE_AXIOMS, "fixed", "nine.parquet")?;
    let seconds = nine.stage("mine")?;
    let n_instances: u64 = nine.instances()?.iter().map(|it| it.1).sum();
    table.add_without_peer(
        "nine axioms of 1,558 queries × 100 of 100,000 documents, to Parquet",
        format!("{seconds:.1} s"),
        "< 10 s",
        seconds < 10.0,
    );
    table.add_without_peer(
        "most memory of that, collection and index included",
        format!("{:.0} MiB", nine.most_mib),
        "< 1 GiB",
        nine.most_mib < 1024.0,
    );
    table.note(format!(
        "Scale: {n_instances} instances of nine axioms, on all cores, once analyzed (index {:.1} s \
         more); seeded text by Zipf's law, word vectors of the {N_VECTORS} most frequent words.",
        nine.stage("index")?
    ));

    let code = mine("lnc1", "code", "lnc1.parquet")?;
    let written = code.instances()?.first().map_or(0, |it| it.1);
    let mut judge = Command::new(&program);
    judge
        .args(["judge", "--collection", &at("collection")])
        .args(["--instances", &at("lnc1.parquet"), "--json"])
        .args(["--ranker", "bm25", "--ranker", "ql"]);
    let judged = timed(&mut judge)?;
    let seconds = code.stage("mine")? + judged.seconds;
    table.add_without_peer(
        &format!(
            "{:.1} million instances of LNC1 as coded: written, judged for two rankers, summarized",
            written as f64 / 1e6
        ),
        format!("{seconds:.1} s"),
        "≥ 8 M, < 60 s",
        written >= 8_000_000 && seconds < 60.0,
    );
    table.note(format!(
        "LNC1 as coded: {:.1} s to mine and write after analysis, {:.1} s to read, score and \
         judge with all that comes before; at most {:.0} MiB.",
        code.stage("mine")?,
        judged.seconds,
        code.most_mib.max(judged.most_mib)
    ));
    unique_pairs(bench, &program, &folder, table)?;
    instance_lists::measure(&program, &folder, table)?;
    growth::measure(&program, &folder, table)
}

/// Checks that each pair is scored once, however many instances share it, with a cross-encoder of
/// random weights.
fn unique_pairs(
    bench: &BenchContext<'_>,
    program: &Path,
    folder: &Path,
    table: &mut BenchTable,
) -> Result<()> {
    let at = |name: &str| text(&folder.join(name));
    let mut mine = Command::new(program);
    mine.args([
        "mine",
        "--collection",
        &at("collection"),
        "--probes",
        "lnc1",
    ])
    .args([
        "--mode",
        "code",
        "--pool",
        "rank:bm25:100",
        "--queries",
        "300",
    ])
    .args([
        "--stemmer",
        "none",
        "--json",
        "--out",
        &at("unique.parquet"),
    ]);
    let n_instances = timed(&mut mine)?.instances()?.first().map_or(0, |it| it.1);
    let model = bench.place.root.join("neural/tests/fixtures/cross-tiny");
    let mut judge = Command::new(program);
    judge
        .args(["judge", "--collection", &at("collection"), "--json"])
        .args([
            "--instances",
            &at("unique.parquet"),
            "--ranker",
            &text(&model),
        ]);
    let judged = judge.output().context("starting axioscope")?;
    let told = String::from_utf8_lossy(&judged.stderr);
    let counts = || {
        let (before, after) = told.split_once(" pairs, ")?;
        let pairs: u64 = before.rsplit(' ').next()?.parse().ok()?;
        let passes: u64 = after.split(' ').next()?.parse().ok()?;
        Some((pairs, passes))
    };
    let (n_pairs, n_passes) = counts().with_context(|| format!("no counts in: {told}"))?;
    table.add_without_peer(
        &format!(
            "forward passes of a cross-encoder for {:.1} million instances over {n_pairs} pairs",
            n_instances as f64 / 1e6
        ),
        n_passes.to_string(),
        "one a pair",
        n_passes == n_pairs && n_instances >= 1_000_000,
    );
    Ok(())
}

/// The result of a command.
pub(super) struct TimedRun {
    told: Value,
    pub(super) seconds: f64,
    pub(super) most_mib: f64,
}

impl TimedRun {
    /// Returns the duration of a stage in seconds.
    fn stage(&self, name: &str) -> Result<f64> {
        let found = self.told["seconds"][name].as_f64();
        found.with_context(|| format!("no time of {name} was told"))
    }

    fn instances(&self) -> Result<Vec<(String, u64)>> {
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

/// Random numbers from a seed: SplitMix64.
pub(super) struct Draw(pub(super) u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut it = self.0;
        it = (it ^ (it >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        it = (it ^ (it >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        it ^ (it >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.next()) * n as u128) >> 64) as usize
    }

    /// Returns a number from 0 to below 1.
    pub(super) fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Writes a collection and its word vectors, unless they exist.
pub(super) fn make(folder: &Path, n_docs: usize, n_queries: usize) -> Result<()> {
    let collection = folder.join("collection");
    if collection.join("queries.jsonl").is_file() {
        return Ok(());
    }
    println!("bench: making {n_docs} documents");
    fs::create_dir_all(&collection)?;
    let mut draw = Draw(42);
    // Cumulative word frequencies by the law of Zipf and Mandelbrot.
    let mut sums = Vec::with_capacity(N_WORDS);
    let mut sum = 0.0;
    for rank in 0..N_WORDS {
        sum += (rank as f64 + 2.7).powf(-1.07);
        sums.push(sum);
    }
    let word = |draw: &mut Draw| {
        let at = draw.share() * sum;
        sums.partition_point(|it| *it < at).min(N_WORDS - 1)
    };
    let topics: Vec<Vec<usize>> = (0..N_TOPICS)
        .map(|_| {
            (0..WORDS_OF_TOPIC)
                .map(|_| 100 + draw.below(N_VECTORS))
                .collect()
        })
        .collect();
    let mut corpus = BufWriter::new(File::create(collection.join("corpus.jsonl"))?);
    for doc in 0..n_docs {
        let topic = &topics[draw.below(N_TOPICS)];
        let len = 40 + draw.below(40) + draw.below(40);
        let words: Vec<String> = (0..len)
            .map(|_| match draw.below(4) {
                0 => format!("w{}", topic[draw.below(WORDS_OF_TOPIC)]),
                _ => format!("w{}", word(&mut draw)),
            })
            .collect();
        writeln!(
            corpus,
            r#"{{"_id":"d{doc}","title":"","text":"{}"}}"#,
            words.join(" ")
        )?;
    }
    corpus.flush()?;
    let mut vectors = BufWriter::new(File::create(folder.join("vectors.txt"))?);
    for rank in 0..N_VECTORS + 100 {
        write!(vectors, "w{rank}")?;
        for _ in 0..N_DIMS {
            write!(vectors, " {:.4}", draw.share() - 0.5)?;
        }
        writeln!(vectors)?;
    }
    vectors.flush()?;
    let mut queries = Vec::new();
    for query in 0..n_queries {
        let topic = &topics[draw.below(N_TOPICS)];
        let mut words: Vec<String> = (0..2 + draw.below(3))
            .map(|_| format!("w{}", topic[draw.below(WORDS_OF_TOPIC)]))
            .collect();
        words.push(format!("w{}", word(&mut draw)));
        writeln!(
            queries,
            r#"{{"_id":"q{query}","text":"{}"}}"#,
            words.join(" ")
        )?;
    }
    // Written last, since its existence shows that everything is complete.
    fs::write(collection.join("queries.jsonl"), queries)?;
    Ok(())
}
