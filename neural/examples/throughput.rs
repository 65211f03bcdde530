//! How fast texts are encoded, and pairs read together, on the CPU.
//!
//! `cargo run --release -p neural --example throughput -- encode FOLDER TEXTS`, where FOLDER holds
//! an encoder and TEXTS has one text a line, or `pairs FOLDER PAIRS`, where FOLDER holds a
//! cross-encoder and each line of PAIRS is a query and a text, `["…", "…"]`. Prints one line of
//! JSON. RAYON_NUM_THREADS sets the threads. Tokenising is not counted, as in throughput.py beside
//! this file, which does the same with PyTorch and onnxruntime.
//!
//! Floating-point operations are those of the products over pieces that are there, two for each
//! multiplication; `sgemm_gflops` is what the product routine reaches on large matrices in this
//! very run, and `profile` tells where the time went: each kind of product, run once more by itself
//! on matrices of the sizes of the pass, and the rest.

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use candle_core::Tensor;
use neural::{CrossEncoder, Device, Matching, Model, ModelFiles, PairPieces, Pieces, Side};

/// Pieces in a batch.
const TOKEN_BUDGET: usize = 16_384;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [mode, folder, file] = arguments.as_slice() else {
        return Err("usage: throughput encode|pairs FOLDER FILE".into());
    };
    let read = |name: &str| std::fs::read(Path::new(folder).join(name));
    let files = ModelFiles {
        config: read("config.json")?,
        tokenizer: read("tokenizer.json")?,
        weights: read("model.safetensors")?,
        ..ModelFiles::default()
    };
    let lines = std::fs::read_to_string(file)?;
    let run = match mode.as_str() {
        "encode" => encode(&files, &lines)?,
        "pairs" => score(&files, &lines)?,
        _ => return Err(format!("`{mode}` is neither encode nor pairs").into()),
    };
    let n_pieces: usize = run.lengths.iter().sum();
    let shape: Shape = serde_json::from_slice(&files.config)?;
    let gflop = run.lengths.iter().map(|&it| shape.flop(it)).sum::<f64>() / 1e9;
    println!(
        "{}",
        serde_json::json!({
            "sequences_per_s": run.lengths.len() as f64 / run.seconds,
            "tokens_per_s": n_pieces as f64 / run.seconds,
            "gflops": gflop / run.seconds,
            "sgemm_gflops": sgemm_gflops()?,
            "profile": profile(&shape, &run)?,
            "threads": rayon::current_num_threads(),
            "scores": run.scores,
        })
    );
    Ok(())
}

/// What was measured.
struct Run {
    seconds: f64,
    lengths: Vec<usize>,
    /// In the order of the file; none where texts were encoded.
    scores: Vec<f64>,
}

fn encode(files: &ModelFiles, lines: &str) -> Result<Run, Box<dyn Error>> {
    let model = Model::load(files, Matching::BiEncoder, 256, Device::Cpu)?;
    let texts = lines
        .lines()
        .map(|text| model.tokenize(Side::Text, text))
        .collect::<Result<Vec<Pieces>, _>>()?;
    let lengths: Vec<usize> = texts.iter().map(|text| text.ids.len()).collect();
    let batches = neural::plan_batches(&lengths, TOKEN_BUDGET);
    let pass = |batch: &Vec<usize>| {
        let batch: Vec<&Pieces> = batch.iter().map(|&text| &texts[text]).collect();
        model.encode(&batch)
    };
    std::hint::black_box(batches.last().map(pass).transpose()?); // the threads start
    let start = Instant::now();
    for batch in &batches {
        std::hint::black_box(pass(batch)?);
    }
    Ok(Run {
        seconds: start.elapsed().as_secs_f64(),
        lengths,
        scores: Vec::new(),
    })
}

fn score(files: &ModelFiles, lines: &str) -> Result<Run, Box<dyn Error>> {
    let model = CrossEncoder::load(files, 512, Device::Cpu)?;
    let pairs = lines.lines().map(|line| {
        let (query, text): (String, String) = serde_json::from_str(line)?;
        let query = model.tokenize(Side::Query, &query)?;
        let text = model.tokenize(Side::Text, &text)?;
        Ok(model.pair(&query, &text))
    });
    let pairs: Vec<PairPieces> = pairs.collect::<Result<_, Box<dyn Error>>>()?;
    let lengths: Vec<usize> = pairs.iter().map(|it| it.ids.len()).collect();
    let batches = neural::plan_batches(&lengths, TOKEN_BUDGET);
    let pass = |batch: &Vec<usize>| {
        let batch: Vec<&PairPieces> = batch.iter().map(|&it| &pairs[it]).collect();
        model.score(&batch)
    };
    std::hint::black_box(batches.last().map(pass).transpose()?); // the threads start
    let mut scores = vec![0.0; pairs.len()];
    let start = Instant::now();
    for batch in &batches {
        for (&at, score) in batch.iter().zip(pass(batch)?) {
            scores[at] = score;
        }
    }
    Ok(Run {
        seconds: start.elapsed().as_secs_f64(),
        lengths,
        scores,
    })
}

/// Sizes of the encoder.
#[derive(serde::Deserialize)]
struct Shape {
    hidden_size: usize,
    intermediate_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
}

impl Shape {
    /// Floating-point operations of the products over a sequence of `n` pieces.
    fn flop(&self, n: usize) -> f64 {
        let (h, m) = (self.hidden_size, self.intermediate_size);
        let dense = 2 * n * (3 * h * h + h * h + 2 * h * m);
        let attention = 2 * 2 * n * n * h;
        (self.num_hidden_layers * (dense + attention)) as f64
    }
}

/// The share of the time that each kind of product takes when nothing else is done, and the rest:
/// softmax, GELU, residuals, norms, embeddings, the head, and waiting.
fn profile(shape: &Shape, run: &Run) -> Result<serde_json::Value, candle_core::Error> {
    /// Rows of a dense product: pieces that one thread takes through all layers.
    const ROWS: usize = 512;
    let (h, m) = (shape.hidden_size, shape.intermediate_size);
    let n_pieces: usize = run.lengths.iter().sum();
    let n_layers = shape.num_hidden_layers as f64;
    let n_threads = rayon::current_num_threads() as f64;
    let mut shares = serde_json::Map::new();
    let mut rest = 1.0;
    let mut tell = |what: &str, seconds: f64| {
        let share = seconds * n_layers / n_threads / run.seconds;
        rest -= share;
        shares.insert(what.to_owned(), share.into());
    };
    for (what, inputs, outputs) in [
        ("queries, keys, values", h, 3 * h),
        ("attention output", h, h),
        ("up", h, m),
        ("down", m, h),
    ] {
        let once = product(ROWS, inputs, outputs)?;
        tell(what, once * n_pieces as f64 / ROWS as f64);
    }
    let d = h / shape.num_attention_heads;
    let mut by_length = std::collections::BTreeMap::new();
    for &n in &run.lengths {
        *by_length.entry(n).or_insert(0) += shape.num_attention_heads;
    }
    let mut attention = 0.0;
    for (n, times) in by_length {
        let once = product(n, d, n)? + product(n, n, d)?;
        attention += once * f64::from(u32::try_from(times).unwrap_or(u32::MAX));
    }
    tell("attention", attention);
    shares.insert("rest".to_owned(), rest.into());
    Ok(shares.into())
}

/// Seconds of a product `[rows, inputs] [inputs, outputs]` on one of as many threads as there are,
/// all of which do the same.
fn product(rows: usize, inputs: usize, outputs: usize) -> Result<f64, candle_core::Error> {
    const TIMES: usize = 5;
    let each = |_: rayon::BroadcastContext<'_>| {
        let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build();
        let alone = alone.map_err(candle_core::Error::wrap)?;
        alone.install(|| {
            let device = candle_core::Device::Cpu;
            let a = Tensor::rand(0.0f32, 1.0, (rows, inputs), &device)?;
            let b = Tensor::rand(0.0f32, 1.0, (inputs, outputs), &device)?;
            let mut best = f64::INFINITY;
            for _ in 0..TIMES {
                let start = Instant::now();
                std::hint::black_box(a.matmul(&b)?);
                best = best.min(start.elapsed().as_secs_f64());
            }
            Ok(best)
        })
    };
    let times = rayon::broadcast(each);
    let times = times
        .into_iter()
        .collect::<candle_core::Result<Vec<f64>>>()?;
    Ok(times.iter().sum::<f64>() / times.len() as f64)
}

/// What single-precision products of two matrices of 1,536 × 1,536 reach on every thread, the best
/// of five.
fn sgemm_gflops() -> Result<f64, candle_core::Error> {
    const N: usize = 1_536;
    let a = Tensor::rand(0.0f32, 1.0, (N, N), &candle_core::Device::Cpu)?;
    let mut best = f64::INFINITY;
    for _ in 0..5 {
        let start = Instant::now();
        std::hint::black_box(a.matmul(&a)?);
        best = best.min(start.elapsed().as_secs_f64());
    }
    Ok(2.0 * (N as f64).powi(3) / best / 1e9)
}
