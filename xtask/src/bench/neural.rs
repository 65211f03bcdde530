//! Neural scoring on the CPU against PyTorch and onnxruntime, with the same model, texts and number
//! of threads.

use super::table::{BenchRow, BenchTable};
use super::timing_process::{TimingProcess, number};
use super::{BenchContext, RUNS, lexical, median, peers};
use crate::{process, setup};
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Number of passages encoded in a run.
const TEXTS: usize = 192;

/// Number of pairs per query for the cross-encoder.
const PAIRS: usize = 5;

/// Maximum difference between the scores of two engines.
const MAX_SCORE_DIFFERENCE: f64 = 1e-5;

pub(super) fn measure(bench: &BenchContext<'_>, table: &mut BenchTable) -> Result<()> {
    let model = setup::model::get(bench.place)?;
    let program = bench.example("neural", "throughput")?;
    let engines = BenchEngines::new(bench, program, table);
    encode(&engines, &model, table)?;
    benchmark_cross_encoder(&engines, &model, table)?;
    max_sim(&engines, table)
}

/// The inference engines that take turns in a benchmark.
pub(super) struct BenchEngines<'a> {
    bench: &'a BenchContext<'a>,
    program: PathBuf,
    script: PathBuf,
    pub(super) python: Option<PathBuf>,
    n_threads: String,
}

/// The input of an engine and its settings.
#[derive(Clone, Copy)]
pub(super) struct EngineTask<'a> {
    pub(super) mode: &'a str,
    /// The model folder.
    pub(super) folder: &'a Path,
    /// The file with texts or pairs.
    pub(super) file: &'a Path,
    /// Maximum number of tokens of a text or pair.
    pub(super) max_pieces: usize,
    pub(super) device: &'a str,
    pub(super) precision: &'a str,
}

impl<'a> EngineTask<'a> {
    fn on_cpu(mode: &'a str, folder: &'a Path, file: &'a Path) -> EngineTask<'a> {
        EngineTask {
            mode,
            folder,
            file,
            max_pieces: if mode == "encode" { 256 } else { 512 },
            device: "cpu",
            precision: "f32",
        }
    }

    fn give(&self, command: &mut Command) {
        command.arg(self.mode).args([self.folder, self.file]);
        command.arg(self.max_pieces.to_string());
        command.args([self.device, self.precision]);
    }
}

impl<'a> BenchEngines<'a> {
    /// Creates the engines: `program` is ours. Peers that are not available are listed as left out.
    pub(super) fn new(
        bench: &'a BenchContext<'a>,
        program: PathBuf,
        table: &mut BenchTable,
    ) -> BenchEngines<'a> {
        let python = peers::neural_python(bench);
        match &python {
            Ok(python) => {
                for package in ["torch", "transformers", "onnxruntime"] {
                    table.version(format!("{package} {}", peers::version(python, package)));
                }
            }
            Err(error) => table.left_out("PyTorch and onnxruntime", &format!("{error:#}")),
        }
        BenchEngines {
            bench,
            program,
            script: bench.place.root.join("neural/examples/throughput.py"),
            python: python.ok(),
            n_threads: std::thread::available_parallelism()
                .map_or(1, |it| it.get())
                .to_string(),
        }
    }

    pub(super) fn ours(&self, task: EngineTask<'_>) -> Result<TimingProcess> {
        let mut ours = Command::new(&self.program);
        task.give(&mut ours);
        TimingProcess::start(ours.env("RAYON_NUM_THREADS", &self.n_threads))
    }

    /// Starts the peer; `None` if it is not available.
    pub(super) fn peer(&self, task: EngineTask<'_>) -> Result<Option<TimingProcess>> {
        let Some(python) = &self.python else {
            return Ok(None);
        };
        let mut peer = Command::new(python);
        task.give(peer.arg(&self.script));
        peer.arg(&self.n_threads);
        TimingProcess::start(peer.env("OMP_WAIT_POLICY", "PASSIVE")).map(Some)
    }
}

/// Runs one pass over the whole input of an engine.
pub(super) fn pass(engine: &mut TimingProcess) -> Result<Value> {
    engine.run_task("pass")
}

pub(super) fn rate(answer: &Value) -> Result<f64> {
    number(answer, "sequences_per_s")
}

fn encode(engines: &BenchEngines<'_>, model: &Path, table: &mut BenchTable) -> Result<()> {
    let bench = engines.bench;
    let texts = bench.folder.join("passages.txt");
    let given = given(bench, "texts.jsonl")?;
    // Every tenth passage, so that lengths vary as in the collection.
    let passages = given.lines().step_by(10).take(TEXTS);
    let passages: Result<Vec<String>, _> = passages.map(serde_json::from_str).collect();
    let passages: Vec<String> = passages?.iter().map(|it| it.replace('\n', " ")).collect();
    fs::write(&texts, passages.join("\n"))?;

    let (mut here, mut there) = (Vec::new(), Vec::new());
    let task = EngineTask::on_cpu("encode", model, &texts);
    for _ in 0..RUNS {
        here.push(rate(&pass(&mut engines.ours(task)?)?)?);
        if let Some(mut peer) = engines.peer(task)? {
            there.push(rate(&pass(&mut peer)?)?);
        }
    }
    let n_threads = &engines.n_threads;
    against(
        table,
        format!("MiniLM encodes {TEXTS} passages, {n_threads} threads, f32, PyTorch"),
        [here, there],
        ("≥ 1.1×", 1.1),
    );
    Ok(())
}

fn benchmark_cross_encoder(
    engines: &BenchEngines<'_>,
    model: &Path,
    table: &mut BenchTable,
) -> Result<()> {
    let Some(python) = &engines.python else {
        bail!("the cross-encoder is made with PyTorch");
    };
    let bench = engines.bench;
    let folder = bench.folder.join("minilm-cross");
    let graph = folder.join("fused.onnx");
    if !folder.join("model.safetensors").is_file() {
        let mut make = Command::new(python);
        make.arg(bench.script("cross_encoder.py"));
        process::run(make.arg(model).arg(&folder))?;
    }
    let pairs = pairs(bench, PAIRS)?;
    let n_pairs = fs::read_to_string(&pairs)?.lines().count();
    let (mut here, mut torch, mut onnx) = (Vec::new(), Vec::new(), Vec::new());
    let (mut gflops, mut sgemm) = (Vec::new(), Vec::new());
    let mut most_apart = 0.0f64;
    // The profile of the fastest run, which was least disturbed.
    let (mut fastest, mut profile) = (0.0, Value::Null);
    for _ in 0..RUNS {
        let ours = pass(&mut engines.ours(EngineTask::on_cpu("pairs", &folder, &pairs))?)?;
        here.push(rate(&ours)?);
        gflops.push(number(&ours, "gflops")?);
        sgemm.push(number(&ours, "matrix_gflops")?);
        if rate(&ours)? > fastest {
            (fastest, profile) = (rate(&ours)?, ours["profile"].clone());
        }
        let mut take = |mode: &str, rates: &mut Vec<f64>| {
            if let Some(mut peer) = engines.peer(EngineTask::on_cpu(mode, &folder, &pairs))? {
                let answer = pass(&mut peer)?;
                rates.push(rate(&answer)?);
                most_apart =
                    most_apart.max(max_score_difference(&scores(&ours)?, &scores(&answer)?)?);
            }
            anyhow::Ok(())
        };
        take("pairs", &mut torch)?;
        if graph.is_file() {
            take("pairs-onnx", &mut onnx)?;
        }
    }
    if most_apart > MAX_SCORE_DIFFERENCE {
        bail!("scores of the engines are up to {most_apart:e} apart");
    }
    let n_threads = &engines.n_threads;
    let what = format!("MiniLM as a cross-encoder reads {n_pairs} pairs, {n_threads} threads, f32");
    against(
        table,
        format!("{what}, PyTorch"),
        [here.clone(), torch],
        ("≥ 1.1×, aim 1.3×", 1.3),
    );
    if onnx.is_empty() {
        table.left_out("onnxruntime", "no fused graph could be made");
    } else {
        against(
            table,
            format!("{what}, onnxruntime's fused graph"),
            [here, onnx],
            ("aim 1×", 1.0),
        );
    }
    let (gflops, sgemm) = (median(gflops), median(sgemm));
    table.add(BenchRow {
        name: "the same in useful operations, of the sgemm rate in the same runs".to_owned(),
        ours: format!("{gflops:.0} GFLOP/s"),
        peer: format!("{sgemm:.0} GFLOP/s"),
        ratio: format!("{:.0} %", 100.0 * gflops / sgemm),
        target: "aim 80 %",
        is_met: gflops / sgemm >= 0.8,
    });
    let shares = profile.as_object().into_iter().flatten();
    let shares = shares.map(|(part, share)| {
        let share = 100.0 * share.as_f64().unwrap_or(f64::NAN);
        format!("{part} {share:.0} %")
    });
    table.note(format!(
        "Cross-encoder: a head drawn at random, scores of the engines at most {most_apart:.1e} \
         apart. Where the time goes, by products of the same sizes run by themselves: {}.",
        shares.collect::<Vec<_>>().join(", ")
    ));
    Ok(())
}

/// Measures late interaction on encoded vectors: 32 per query, 180 per document.
fn max_sim(engines: &BenchEngines<'_>, table: &mut BenchTable) -> Result<()> {
    let Some(python) = &engines.python else {
        bail!("the ColBERT is made with PyTorch");
    };
    let bench = engines.bench;
    let program = bench.example("neural", "maxsim")?;
    let folder = bench.folder.join("colbert");
    let script = bench.place.root.join("neural/examples/maxsim.py");
    let rate = |answer: Value| number(&answer, "scores_per_s");
    let (mut here, mut there) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        // The first call creates the model and the texts.
        let mut peer = Command::new(python);
        peer.arg(&script).arg(&folder).arg(&engines.n_threads);
        there.push(rate(answer(peer.env("OMP_WAIT_POLICY", "PASSIVE"))?)?);
        let mut ours = Command::new(&program);
        ours.arg(&folder).arg(folder.join("texts.txt"));
        here.push(rate(answer(
            ours.env("RAYON_NUM_THREADS", &engines.n_threads),
        )?)?);
    }
    let n_threads = &engines.n_threads;
    against(
        table,
        format!("MaxSim, 32 × 180 vectors of 128 numbers, {n_threads} threads, PyTorch"),
        [here, there],
        ("≥ 1×", 1.0),
    );
    Ok(())
}

fn answer(command: &mut Command) -> Result<Value> {
    let said = process::output_of(command)
        .with_context(|| format!("`{}` failed", process::command_line(command)))?;
    Ok(serde_json::from_str(&said)?)
}

/// Returns the scores of the pairs, in the order of the file.
pub(super) fn scores(answer: &Value) -> Result<Vec<f64>> {
    let scores = answer["scores"].as_array().context("no scores")?;
    let number = |it: &Value| it.as_f64().context("a score that is no number");
    scores.iter().map(number).collect()
}

/// Returns the largest absolute difference between the scores of two engines. Returns an error if
/// their numbers differ.
pub(super) fn max_score_difference(ours: &[f64], theirs: &[f64]) -> Result<f64> {
    if ours.len() != theirs.len() {
        bail!("{} scores against {}", ours.len(), theirs.len());
    }
    let both = ours.iter().zip(theirs);
    Ok(both.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max))
}

/// Writes the first documents of each query's candidate pool as pairs of natural length.
pub(super) fn pairs(bench: &BenchContext<'_>, n_each: usize) -> Result<PathBuf> {
    let queries = given(bench, "queries.jsonl")?;
    let texts = given(bench, "texts.jsonl")?;
    let texts: Vec<&str> = texts.lines().collect();
    let pools: Value = serde_json::from_str(&given(bench, "pools.json")?)?;
    let pools = pools["pools"].as_array().context("no pools")?;
    let mut lines = String::new();
    for (query, pool) in queries.lines().zip(pools) {
        let docs = pool["docs"].as_array().context("a pool without texts")?;
        for doc in docs.iter().take(n_each) {
            let doc = doc.as_u64().context("a text without a number")?;
            let text = texts
                .get(doc as usize)
                .context("a text that is not there")?;
            lines += &format!("[{query}, {text}]\n");
        }
    }
    let path = bench.folder.join(format!("pairs-{n_each}.jsonl"));
    fs::write(&path, lines)?;
    Ok(path)
}

/// Reads an input file of the peers. The lexical program writes these files when it starts.
pub(super) fn given(bench: &BenchContext<'_>, name: &str) -> Result<String> {
    let file = bench.given().join(name);
    if !file.is_file() {
        drop(lexical::ours(bench)?);
    }
    fs::read_to_string(&file).with_context(|| format!("reading {}", file.display()))
}

/// Adds a row with the texts or pairs per second of both engines.
pub(super) fn against(
    table: &mut BenchTable,
    what: String,
    [here, there]: [Vec<f64>; 2],
    (target, least): (&'static str, f64),
) {
    let here = median(here);
    let there = (!there.is_empty()).then(|| median(there));
    let shown = |rate: f64| format!("{rate:.1}/s");
    let ratio = there.map(|it| here / it);
    table.add(BenchRow {
        name: what,
        ours: shown(here),
        peer: there.map_or_else(|| "left out".to_owned(), shown),
        ratio: ratio.map_or_else(String::new, |it| format!("{it:.2}×")),
        target,
        is_met: ratio.is_some_and(|it| it >= least),
    });
}
