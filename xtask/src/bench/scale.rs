//! Benchmarks at the size of the papers: 1,558 queries with 100 of 100,000 documents each. The text
//! is random, with the word frequencies of natural language.

use super::random_collection::{N_VECTORS, write_random_collection};
use super::server::program;
use super::table::BenchTable;
use super::timed_run::timed;
use super::{BenchContext, text};
use super::{growth, instance_lists};
use anyhow::{Context, Result};
use std::path::Path;
use std::process::Command;

const N_DOCS: usize = 100_000;
const N_QUERIES: usize = 1_558;

const NINE_AXIOMS: &str = "tfc1,tfc2,mtdc,lnc1,lnc2,tp,stmc1,stmc2,stmc3";

pub(super) fn measure(bench: &BenchContext<'_>, table: &mut BenchTable) -> Result<()> {
    let program = program(bench)?;
    let folder = bench.folder.join("scale");
    write_random_collection(&folder, N_DOCS, N_QUERIES)?;
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
