//! Lexical benchmarks on `trecdl-passage` with one thread: indexing, top 100, mining and memory.

use super::table::{BenchRow, BenchTable};
use super::timing_process::{TimingProcess, number};
use super::{BenchContext, RUNS, median, peers, text};
use anyhow::{Context, Result};
use serde_json::Value;
use std::collections::BTreeMap;
use std::process::Command;

/// Relative difference below which two scores are ties, since bm25s computes in 32 bits.
const TIE: f64 = 2e-6;

pub(super) fn measure(bench: &BenchContext<'_>, table: &mut BenchTable) -> Result<()> {
    let given = bench.given();
    let mut ours = ours(bench)?;
    memory(&mut ours, table)?; // memory after the collection has been read
    let mut tantivy = or_skip(table, "tantivy", || {
        TimingProcess::start(Command::new(peers::tantivy(bench)?).arg(&given))
    });
    let python = or_skip(table, "bm25s, ir_axioms", || peers::lexical_python(bench));
    let script = |name: &str| {
        let python = python.as_ref().context("there is no Python for it")?;
        TimingProcess::start(Command::new(python).args([text(&bench.script(name)), text(&given)]))
    };
    let mut bm25s = or_skip(table, "bm25s", || script("bm25s_peer.py"));
    let mut ir_axioms = or_skip(table, "ir_axioms", || script("ir_axioms_peer.py"));
    let versions = [
        (&mut tantivy, "tantivy"),
        (&mut bm25s, "bm25s"),
        (&mut ir_axioms, "ir_axioms"),
    ];
    for (peer, name) in versions {
        if let Some(peer) = peer {
            let version = peer.run_task("version")?["version"]
                .as_str()
                .unwrap_or_default()
                .to_owned();
            table.version(format!("{name} {version}"));
        }
    }
    table.note(
        "Lexical lines count the time that the one working thread had a core, so that what else \
         runs on the machine does not enter."
            .to_owned(),
    );
    index(&mut ours, tantivy.as_mut(), table)?;
    top(&mut ours, tantivy.as_mut(), bm25s.as_mut(), table)?;
    mining(&mut ours, ir_axioms.as_mut(), table)?;
    let mut gensim = or_skip(table, "gensim", || script("gensim_peer.py"));
    vectors(&mut ours, gensim.as_mut(), table)?;
    bootstrap(&mut ours, table)?;
    manipulations(&mut ours, table)
}

/// Starts our timing program. It reads the collection and writes the input of the peers before it
/// answers.
pub(super) fn ours(bench: &BenchContext<'_>) -> Result<TimingProcess> {
    let program = bench.example("shared", "lexical")?;
    TimingProcess::start(Command::new(program).args([&bench.collection()?, &bench.given()]))
}

/// Measures the training of word vectors, GloVe against the word2vec of gensim, per token and pass.
fn vectors(
    ours: &mut TimingProcess,
    peer: Option<&mut TimingProcess>,
    table: &mut BenchTable,
) -> Result<()> {
    let mut peer = peer;
    if let Some(peer) = peer.as_mut() {
        let version = peer.run_task("version")?["version"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        table.version(format!("gensim {version}"));
    }
    let (mut here, mut there) = (Vec::new(), Vec::new());
    let mut n_tokens = 0.0;
    let per_token = |told: &Value| {
        Ok::<f64, anyhow::Error>(number(told, "seconds")? / number(told, "n_tokens")?)
    };
    for _ in 0..RUNS {
        let told = ours.run_task("glove")?;
        n_tokens = number(&told, "n_tokens")?;
        here.push(per_token(&told)?);
        if let Some(peer) = peer.as_mut() {
            there.push(per_token(&peer.run_task("glove")?)?);
        }
    }
    let rate = |seconds: f64| format!("{:.2} M tokens/s", 1e-6 / seconds);
    table.add(comparison_row(
        "GloVe training, gensim's word2vec, per token and pass",
        (here, there),
        rate,
        1.0,
        "≥ 1×",
    ));
    table.note(format!(
        "Word vectors: 50 dimensions, window 10, words from 5 occurrences on, 5 passes over {:.1} \
         million tokens, counting neighbors included; word2vec by skip-grams with its usual 5 \
         negative samples.",
        n_tokens / 5e6
    ));
    Ok(())
}

fn bootstrap(ours: &mut TimingProcess, table: &mut BenchTable) -> Result<()> {
    let mut here = Vec::new();
    for _ in 0..RUNS {
        here.push(number(&ours.run_task("bootstrap")?, "seconds")?);
    }
    let seconds = median(here);
    table.add(BenchRow {
        name: "bootstrap, 10,000 draws of 1,558 queries, 3 million instances".to_owned(),
        ours: format!("{:.0} ms", seconds * 1e3),
        peer: "none".to_owned(),
        ratio: String::new(),
        target: "< 1 s",
        is_met: seconds < 1.0,
    });
    Ok(())
}

/// Measures wall time, since two threads work.
fn manipulations(ours: &mut TimingProcess, table: &mut BenchTable) -> Result<()> {
    let (mut here, mut analysis) = (Vec::new(), Vec::new());
    let mut counts = (0.0, 0.0);
    for _ in 0..RUNS {
        let told = ours.run_task("manipulate")?;
        here.push(number(&told, "seconds")?);
        analysis.push(number(&told, "analysis_seconds")?);
        counts = (number(&told, "n_texts")?, number(&told, "n_made")?);
    }
    let seconds = median(here);
    table.add(BenchRow {
        name: format!("all manipulations of {} passages, two threads", counts.0),
        ours: format!("{seconds:.1} s"),
        peer: "none".to_owned(),
        ratio: String::new(),
        target: "< 30 s",
        is_met: seconds < 30.0 && counts.0 >= 10_000.0,
    });
    table.note(format!(
        "Manipulations: {} texts were made; sentences, word classes, noun phrases and base forms \
         once for each passage, {:.1} s of one thread.",
        counts.1,
        median(analysis)
    ));
    Ok(())
}

/// Returns a peer, or `None` if it is not available, which is listed in the table.
fn or_skip<T>(table: &mut BenchTable, name: &str, get: impl FnOnce() -> Result<T>) -> Option<T> {
    get()
        .map_err(|error| table.left_out(name, &format!("{error:#}")))
        .ok()
}

fn index(
    ours: &mut TimingProcess,
    peer: Option<&mut TimingProcess>,
    table: &mut BenchTable,
) -> Result<()> {
    let mut peer = peer;
    let (mut here, mut there) = (Vec::new(), Vec::new());
    let (mut told, mut told_there) = (Value::Null, Value::Null);
    for _ in 0..RUNS {
        told = ours.run_task("index")?;
        here.push(number(&told, "seconds")?);
        if let Some(peer) = peer.as_mut() {
            told_there = peer.run_task("index")?;
            there.push(number(&told_there, "seconds")?);
        }
    }
    let n_docs = number(&told, "n_docs")?;
    let rate = |seconds: f64| format!("{:.0} docs/s", n_docs / seconds);
    table.add(comparison_row(
        "analyze + index, tantivy",
        (here, there),
        rate,
        2.0,
        "≥ 2×",
    ));
    table.note(format!(
        "Index: {} terms here, {} in tantivy (alnum tokens, lower-case, Porter2, positions, in \
         memory, commit included, no second thread).",
        told["n_terms"], told_there["n_terms"]
    ));
    Ok(())
}

fn top(
    ours: &mut TimingProcess,
    tantivy: Option<&mut TimingProcess>,
    bm25s: Option<&mut TimingProcess>,
    table: &mut BenchTable,
) -> Result<()> {
    let milliseconds = |seconds: f64| format!("{:.2} ms", seconds * 1e3);
    let lines = [
        (tantivy, "tantivy", 1.0, "≥ 1×"),
        (bm25s, "bm25s", 5.0, "≥ 5×"),
    ];
    for (peer, name, least, target) in lines {
        let Some(peer) = peer else { continue };
        let (mut here, mut there) = (Vec::new(), Vec::new());
        for _ in 0..RUNS {
            here.push(number(&ours.run_task("top")?, "seconds")?);
            there.push(number(&peer.run_task("top")?, "seconds")?);
        }
        let what = format!("BM25 top 100 of 43 queries, {name}");
        table.add(comparison_row(
            &what,
            (here, there),
            milliseconds,
            least,
            target,
        ));
        if name == "bm25s" {
            let theirs = peer.run_task("ranking")?;
            let n_wrong = differing(&ours.run_task("ranking")?, &theirs);
            table.note(match n_wrong {
                0 => "Top 100: the same ranking as bm25s (lucene) for every query, up to ties in \
                      its 32 bits."
                    .to_owned(),
                n => format!("Top 100: {n} queries are ranked otherwise than by bm25s."),
            });
        }
    }
    Ok(())
}

/// Returns the number of queries whose rankings differ by more than ties. The peer's scores lack
/// the factor k1 + 1.
fn differing(ours: &Value, theirs: &Value) -> usize {
    let hits = |query: &Value, scale: f64| -> Vec<(u64, f64)> {
        let hits = query.as_array().into_iter().flatten();
        hits.filter_map(|it| Some((it[0].as_u64()?, it[1].as_f64()? * scale)))
            .collect()
    };
    let (ours, theirs) = (&ours["ranking"], &theirs["ranking"]);
    let theirs = theirs.as_array().into_iter().flatten();
    let queries = ours.as_array().into_iter().flatten().zip(theirs);
    let close = |a: f64, b: f64| (a - b).abs() <= TIE * a.abs().max(b.abs());
    queries
        .filter(|(ours, theirs)| {
            let (ours, theirs) = (hits(ours, 1.0), hits(theirs, 2.2));
            let known: BTreeMap<u64, f64> = ours.iter().copied().collect();
            let last = ours.last().map_or(0.0, |it| it.1);
            let same = ours.len() == theirs.len()
                && ours.iter().zip(&theirs).all(|(here, there)| {
                    let own = known.get(&there.0).copied().unwrap_or(last);
                    close(here.1, there.1) && close(own, there.1)
                });
            !same
        })
        .count()
}

fn mining(
    ours: &mut TimingProcess,
    peer: Option<&mut TimingProcess>,
    table: &mut BenchTable,
) -> Result<()> {
    let mut peer = peer;
    let mut here: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    let mut there: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    let mut told = Value::Null;
    for _ in 0..RUNS {
        told = ours.run_task("mine")?;
        for name in ["from_texts", "from_counts", "from_index", "six"] {
            here.entry(name).or_default().push(number(&told, name)?);
        }
        if let Some(peer) = peer.as_mut() {
            let told = peer.run_task("mine")?;
            for name in ["from_texts", "from_counts"] {
                there.entry(name).or_default().push(number(&told, name)?);
            }
        }
    }
    let n_pairs = number(&told, "n_ordered_pairs")? * 3.0;
    let rate = |seconds: f64| format!("{:.1} M pairs/s", n_pairs / seconds / 1e6);
    let mut line = |what: &str, name: &str, least: f64, target: &'static str| {
        let both = (here[name].clone(), there.remove(name).unwrap_or_default());
        table.add(comparison_row(what, both, rate, least, target));
    };
    line(
        "TFC1, LNC1, M-TDC with analysis, ir_axioms",
        "from_texts",
        10.0,
        "≥ 10×",
    );
    line(
        "the same once analyzed, ir_axioms",
        "from_counts",
        200.0,
        "≥ 200×",
    );
    let six = median(here["six"].clone());
    table.add(BenchRow {
        name: "six axioms, 43 queries, from the index to columns".to_owned(),
        ours: format!("{:.1} ms", six * 1e3),
        peer: "none".to_owned(),
        ratio: "".to_owned(),
        target: "< 100 ms",
        is_met: six < 0.1,
    });
    table.note(format!(
        "Mining: ordered pairs a second and axiom over the first 100 of the collection's BM25 run; \
         three axioms from the index to sorted columns take {:.1} ms. Instances: {}.",
        median(here["from_index"].clone()) * 1e3,
        told["n_instances"]
            .to_string()
            .replace(['{', '}', '"'], "")
            .replace(',', ", ")
    ));
    Ok(())
}

fn memory(ours: &mut TimingProcess, table: &mut BenchTable) -> Result<()> {
    let told = ours.run_task("memory")?;
    let (index, texts) = (number(&told, "index_bytes")?, number(&told, "text_bytes")?);
    let ratio = index / texts;
    let peak = told["peak_bytes"].as_f64();
    table.add(BenchRow {
        name: "memory of the index, of its text".to_owned(),
        ours: format!("{:.1} MB", index / 1e6),
        peer: format!("{:.1} MB", texts / 1e6),
        ratio: format!("{ratio:.2}×"),
        target: "≤ 6×",
        is_met: ratio <= 6.0,
    });
    if let Some(peak) = peak {
        table.note(format!(
            "Memory: the whole process (texts, files for peers, two indexes) peaked at {:.0} MB.",
            peak / 1e6
        ));
    }
    Ok(())
}

/// Returns a row with the times of both programs. The ratio says how many times faster ours is.
fn comparison_row(
    what: &str,
    (here, there): (Vec<f64>, Vec<f64>),
    shown: impl Fn(f64) -> String,
    least: f64,
    target: &'static str,
) -> BenchRow {
    let here = median(here);
    let there = (!there.is_empty()).then(|| median(there));
    let ratio = there.map(|it| it / here);
    BenchRow {
        name: what.to_owned(),
        ours: shown(here),
        peer: there.map_or_else(|| "left out".to_owned(), shown),
        ratio: ratio.map_or_else(String::new, |it| format!("{it:.1}×")),
        target,
        is_met: ratio.is_some_and(|it| it >= least),
    }
}
