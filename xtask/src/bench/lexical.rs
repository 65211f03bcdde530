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
    let ours = ours(bench)?;
    let mut lexical = LexicalBench { ours, table };
    lexical.memory()?; // memory after the collection has been read
    let mut tantivy = or_skip(lexical.table, "tantivy", || {
        TimingProcess::start(Command::new(peers::tantivy(bench)?).arg(&given))
    });
    let python = or_skip(lexical.table, "bm25s, ir_axioms", || {
        peers::lexical_python(bench)
    });
    let script = |name: &str| {
        let python = python.as_ref().context("there is no Python for it")?;
        TimingProcess::start(Command::new(python).args([text(&bench.script(name)), text(&given)]))
    };
    let mut bm25s = or_skip(lexical.table, "bm25s", || script("bm25s_peer.py"));
    let mut ir_axioms = or_skip(lexical.table, "ir_axioms", || script("ir_axioms_peer.py"));
    add_version(&mut tantivy, "tantivy", lexical.table)?;
    add_version(&mut bm25s, "bm25s", lexical.table)?;
    add_version(&mut ir_axioms, "ir_axioms", lexical.table)?;
    lexical.table.note(
        "Lexical lines count the time that the one working thread had a core, so that what else \
         runs on the machine does not enter."
            .to_owned(),
    );
    lexical.index(tantivy.as_mut())?;
    lexical.top(tantivy.as_mut(), bm25s.as_mut())?;
    lexical.mining(ir_axioms.as_mut())?;
    let mut gensim = or_skip(lexical.table, "gensim", || script("gensim_peer.py"));
    add_version(&mut gensim, "gensim", lexical.table)?;
    lexical.vectors(gensim.as_mut())?;
    lexical.bootstrap()?;
    lexical.manipulations()
}

/// Starts our timing program. It reads the collection and writes the input of the peers before it
/// answers.
pub(super) fn ours(bench: &BenchContext<'_>) -> Result<TimingProcess> {
    let program = bench.example("shared", "lexical")?;
    TimingProcess::start(Command::new(program).args([&bench.collection()?, &bench.given()]))
}

/// Our timing program and the table of its figures.
struct LexicalBench<'a> {
    ours: TimingProcess,
    table: &'a mut BenchTable,
}

impl LexicalBench<'_> {
    fn memory(&mut self) -> Result<()> {
        let told = self.ours.run_task("memory")?;
        let (index, texts) = (number(&told, "index_bytes")?, number(&told, "text_bytes")?);
        let ratio = index / texts;
        let peak = told["peak_bytes"].as_f64();
        self.table.add(BenchRow {
            name: "memory of the index, of its text".to_owned(),
            ours: format!("{:.1} MB", index / 1e6),
            peer: format!("{:.1} MB", texts / 1e6),
            ratio: format!("{ratio:.2}×"),
            target: "≤ 6×",
            is_met: ratio <= 6.0,
        });
        if let Some(peak) = peak {
            self.table.note(format!(
                "Memory: the whole process (texts, files for peers, two indexes) peaked at {:.0} \
                 MB.",
                peak / 1e6
            ));
        }
        Ok(())
    }

    /// Runs a task several times, in turn with the peer if there is one. Returns our answers and
    /// those of the peer.
    fn run_in_turns(
        &mut self,
        mut peer: Option<&mut TimingProcess>,
        task: &str,
    ) -> Result<[Vec<Value>; 2]> {
        let (mut here, mut there) = (Vec::new(), Vec::new());
        for _ in 0..RUNS {
            here.push(self.ours.run_task(task)?);
            if let Some(peer) = peer.as_mut() {
                there.push(peer.run_task(task)?);
            }
        }
        Ok([here, there])
    }

    fn index(&mut self, peer: Option<&mut TimingProcess>) -> Result<()> {
        let [here, there] = self.run_in_turns(peer, "index")?;
        let n_docs = number(&here[0], "n_docs")?;
        let rate = |seconds: f64| format!("{:.0} docs/s", n_docs / seconds);
        let seconds = (numbers(&here, "seconds")?, numbers(&there, "seconds")?);
        self.table.add(comparison_row(
            "analyze + index, tantivy",
            seconds,
            rate,
            2.0,
            "≥ 2×",
        ));
        self.table.note(format!(
            "Index: {} terms here, {} in tantivy (alnum tokens, lower-case, Porter2, positions, in \
             memory, commit included, no second thread).",
            here[0]["n_terms"],
            there.first().unwrap_or(&Value::Null)["n_terms"]
        ));
        Ok(())
    }

    fn top(
        &mut self,
        tantivy: Option<&mut TimingProcess>,
        bm25s: Option<&mut TimingProcess>,
    ) -> Result<()> {
        let milliseconds = |seconds: f64| format!("{:.2} ms", seconds * 1e3);
        let lines = [
            (tantivy, "tantivy", 1.0, "≥ 1×"),
            (bm25s, "bm25s", 5.0, "≥ 5×"),
        ];
        for (peer, name, least, target) in lines {
            let Some(peer) = peer else { continue };
            let [here, there] = self.run_in_turns(Some(&mut *peer), "top")?;
            let seconds = (numbers(&here, "seconds")?, numbers(&there, "seconds")?);
            let what = format!("BM25 top 100 of 43 queries, {name}");
            self.table
                .add(comparison_row(&what, seconds, milliseconds, least, target));
            if name == "bm25s" {
                let theirs = peer.run_task("ranking")?;
                let n_wrong = differing(&self.ours.run_task("ranking")?, &theirs);
                self.table.note(match n_wrong {
                    0 => "Top 100: the same ranking as bm25s (lucene) for every query, up to ties \
                          in its 32 bits."
                        .to_owned(),
                    n => format!("Top 100: {n} queries are ranked otherwise than by bm25s."),
                });
            }
        }
        Ok(())
    }

    fn mining(&mut self, peer: Option<&mut TimingProcess>) -> Result<()> {
        let [here, there] = self.run_in_turns(peer, "mine")?;
        let told = &here[0];
        let n_pairs = number(told, "n_ordered_pairs")? * 3.0;
        let rate = |seconds: f64| format!("{:.1} M pairs/s", n_pairs / seconds / 1e6);
        let mut line = |what: &str, name: &str, least: f64, target: &'static str| {
            let both = (numbers(&here, name)?, numbers(&there, name)?);
            self.table
                .add(comparison_row(what, both, rate, least, target));
            anyhow::Ok(())
        };
        line(
            "TFC1, LNC1, M-TDC with analysis, ir_axioms",
            "from_texts",
            10.0,
            "≥ 10×",
        )?;
        line(
            "the same once analyzed, ir_axioms",
            "from_counts",
            200.0,
            "≥ 200×",
        )?;
        let six = median(numbers(&here, "six")?);
        self.table.add_without_peer(
            "six axioms, 43 queries, from the index to columns",
            format!("{:.1} ms", six * 1e3),
            "< 100 ms",
            six < 0.1,
        );
        self.table.note(format!(
            "Mining: ordered pairs a second and axiom over the first 100 of the collection's BM25 \
             run; three axioms from the index to sorted columns take {:.1} ms. Instances: {}.",
            median(numbers(&here, "from_index")?) * 1e3,
            told["n_instances"]
                .to_string()
                .replace(['{', '}', '"'], "")
                .replace(',', ", ")
        ));
        Ok(())
    }

    /// Measures the training of word vectors, GloVe against the word2vec of gensim, per token and
    /// pass.
    fn vectors(&mut self, peer: Option<&mut TimingProcess>) -> Result<()> {
        let [here, there] = self.run_in_turns(peer, "glove")?;
        let per_token =
            |told: &Value| anyhow::Ok(number(told, "seconds")? / number(told, "n_tokens")?);
        let per_token =
            |answers: &[Value]| answers.iter().map(per_token).collect::<Result<Vec<f64>>>();
        let rate = |seconds: f64| format!("{:.2} M tokens/s", 1e-6 / seconds);
        self.table.add(comparison_row(
            "GloVe training, gensim's word2vec, per token and pass",
            (per_token(&here)?, per_token(&there)?),
            rate,
            1.0,
            "≥ 1×",
        ));
        self.table.note(format!(
            "Word vectors: 50 dimensions, window 10, words from 5 occurrences on, 5 passes over \
             {:.1} million tokens, counting neighbors included; word2vec by skip-grams with its \
             usual 5 negative samples.",
            number(&here[0], "n_tokens")? / 5e6
        ));
        Ok(())
    }

    fn bootstrap(&mut self) -> Result<()> {
        let [here, _] = self.run_in_turns(None, "bootstrap")?;
        let seconds = median(numbers(&here, "seconds")?);
        self.table.add_without_peer(
            "bootstrap, 10,000 draws of 1,558 queries, 3 million instances",
            format!("{:.0} ms", seconds * 1e3),
            "< 1 s",
            seconds < 1.0,
        );
        Ok(())
    }

    /// Measures wall time, since two threads work.
    fn manipulations(&mut self) -> Result<()> {
        let [here, _] = self.run_in_turns(None, "manipulate")?;
        let (n_texts, n_made) = (number(&here[0], "n_texts")?, number(&here[0], "n_made")?);
        let seconds = median(numbers(&here, "seconds")?);
        self.table.add_without_peer(
            &format!("all manipulations of {n_texts} passages, two threads"),
            format!("{seconds:.1} s"),
            "< 30 s",
            seconds < 30.0 && n_texts >= 10_000.0,
        );
        self.table.note(format!(
            "Manipulations: {n_made} texts were made; sentences, word classes, noun phrases and \
             base forms once for each passage, {:.1} s of one thread.",
            median(numbers(&here, "analysis_seconds")?)
        ));
        Ok(())
    }
}

/// Adds the version of a peer to the table, if there is the peer.
fn add_version(peer: &mut Option<TimingProcess>, name: &str, table: &mut BenchTable) -> Result<()> {
    if let Some(peer) = peer {
        let answer = peer.run_task("version")?;
        let version = answer["version"].as_str().unwrap_or_default();
        table.version(format!("{name} {version}"));
    }
    Ok(())
}

/// Returns a number of each answer.
fn numbers(answers: &[Value], name: &str) -> Result<Vec<f64>> {
    answers.iter().map(|it| number(it, name)).collect()
}

/// Returns a peer, or `None` if it is not available, which is listed in the table.
fn or_skip<T>(table: &mut BenchTable, name: &str, get: impl FnOnce() -> Result<T>) -> Option<T> {
    get()
        .map_err(|error| table.left_out(name, &format!("{error:#}")))
        .ok()
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
