//! How fast texts are encoded, and pairs read together.
//!
//! `cargo run --release -p neural --example throughput -- encode FOLDER TEXTS TOKENS DEVICE
//! PRECISION`, where FOLDER holds an encoder and TEXTS has one text a line, or `pairs FOLDER PAIRS
//! TOKENS DEVICE PRECISION`, where FOLDER holds a cross-encoder and each line of PAIRS is a query
//! and a text, `["…", "…"]`. A text or pair has at most TOKENS tokens; DEVICE is cpu, cuda or metal
//! (the latter by a build with that feature), PRECISION f32, f16 or bf16. Each line of standard
//! input asks for a pass over all, which prints one line of JSON. RAYON_NUM_THREADS sets the
//! threads. Tokenization is not counted, as in throughput.py next to this file, which does the
//! same with PyTorch and onnxruntime.
//!
//! Floating-point operations are those of the products over tokens that are there, two for each
//! multiplication; `matrix_gflops` is what the product of large matrices reaches in this very run,
//! on this device and in this precision. On the CPU in f32 `profile` is where the time went:
//! each kind of product, run once more by itself on matrices of the sizes of the pass, and the
//! rest.

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use candle_core::{DType, Tensor};
use neural::{
    CrossEncoder, Device, DeviceAndPrecision, EmbeddingRankerKind, FloatPrecision,
    ModelFileContents, QueryDocumentTokenSequence, QueryOrDocumentRole, SingleOrMultiVectorRanker,
    TokenizedText,
};

/// Tokens in a batch.
const TOKEN_BUDGET: usize = 16_384;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [mode, folder, file, max_tokens, device, precision] = arguments.as_slice() else {
        return Err("usage: throughput encode|pairs FOLDER FILE TOKENS DEVICE PRECISION".into());
    };
    let max_tokens = max_tokens.parse()?;
    let computing = computing(device, precision)?;
    let read = |name: &str| std::fs::read(Path::new(folder).join(name));
    let files = ModelFileContents {
        config: read("config.json")?,
        tokenizer: read("tokenizer.json")?,
        weights: read("model.safetensors")?,
        ..ModelFileContents::default()
    };
    let lines = std::fs::read_to_string(file)?;
    let work = match mode.as_str() {
        "encode" => encode(&files, &lines, max_tokens, computing)?,
        "pairs" => score(&files, &lines, max_tokens, computing)?,
        _ => return Err(format!("`{mode}` is neither encode nor pairs").into()),
    };
    let n_tokens: usize = work.lengths.iter().sum();
    let shape: Shape = serde_json::from_slice(&files.config)?;
    let gflop = work.lengths.iter().map(|&it| shape.flop(it)).sum::<f64>() / 1e9;
    // The first threads and kernels start, on the largest batch and on the smallest.
    for batch in work.batches.first().into_iter().chain(work.batches.last()) {
        (work.pass)(batch)?;
    }
    for line in std::io::stdin().lines() {
        line?;
        let (seconds, scores) = work.timed()?;
        let profile = match computing == DeviceAndPrecision::from(Device::Cpu) {
            true => profile(&shape, &work.lengths, seconds)?,
            false => serde_json::Value::Null,
        };
        println!(
            "{}",
            serde_json::json!({
                "sequences_per_s": work.lengths.len() as f64 / seconds,
                "tokens_per_s": n_tokens as f64 / seconds,
                "gflops": gflop / seconds,
                "matrix_gflops": matrix_gflops(computing)?,
                "profile": profile,
                "threads": rayon::current_num_threads(),
                "scores": scores,
            })
        );
    }
    Ok(())
}

fn computing(device: &str, precision: &str) -> Result<DeviceAndPrecision, String> {
    Ok(DeviceAndPrecision {
        device: match device {
            "cpu" => Device::Cpu,
            "cuda" => Device::Cuda(0),
            "metal" => Device::Metal(0),
            _ => return Err(format!("`{device}` is none of cpu, cuda, metal")),
        },
        precision: match precision {
            "f32" => FloatPrecision::F32,
            "f16" => FloatPrecision::F16,
            "bf16" => FloatPrecision::Bf16,
            _ => return Err(format!("`{precision}` is none of f32, f16, bf16")),
        },
    })
}

/// Texts or pairs in tokens, and what is done to them.
struct Work {
    lengths: Vec<usize>,
    batches: Vec<Vec<usize>>,
    /// Of a batch: the scores of its pairs; none of texts.
    pass: Box<Pass>,
}

type Pass = dyn Fn(&[usize]) -> Result<Vec<f64>, neural::Error>;

impl Work {
    fn new(
        lengths: Vec<usize>,
        pass: impl Fn(&[usize]) -> Result<Vec<f64>, neural::Error> + 'static,
    ) -> Work {
        Work {
            batches: neural::batch_texts_by_length(&lengths, TOKEN_BUDGET),
            lengths,
            pass: Box::new(pass),
        }
    }

    /// Seconds, and the scores in the order of the file; zeros where texts were encoded.
    fn timed(&self) -> Result<(f64, Vec<f64>), neural::Error> {
        let mut scores = vec![0.0; self.lengths.len()];
        let start = Instant::now();
        for batch in &self.batches {
            for (&at, score) in batch.iter().zip((self.pass)(batch)?) {
                scores[at] = score;
            }
        }
        Ok((start.elapsed().as_secs_f64(), scores))
    }
}

fn encode(
    files: &ModelFileContents,
    lines: &str,
    max_tokens: usize,
    computing: DeviceAndPrecision,
) -> Result<Work, Box<dyn Error>> {
    let model = SingleOrMultiVectorRanker::load(
        files,
        EmbeddingRankerKind::BiEncoder,
        max_tokens,
        computing,
    )?;
    let texts = lines
        .lines()
        .map(|text| model.tokenize(QueryOrDocumentRole::Document, text))
        .collect::<Result<Vec<TokenizedText>, _>>()?;
    let lengths = texts.iter().map(|text| text.ids.len()).collect();
    Ok(Work::new(lengths, move |batch| {
        let batch: Vec<&TokenizedText> = batch.iter().map(|&text| &texts[text]).collect();
        std::hint::black_box(model.encode(&batch)?);
        Ok(Vec::new())
    }))
}

fn score(
    files: &ModelFileContents,
    lines: &str,
    max_tokens: usize,
    computing: DeviceAndPrecision,
) -> Result<Work, Box<dyn Error>> {
    let model = CrossEncoder::load(files, max_tokens, computing)?;
    let pairs = lines.lines().map(|line| {
        let (query, text): (String, String) = serde_json::from_str(line)?;
        let query = model.tokenize(QueryOrDocumentRole::Query, &query)?;
        let text = model.tokenize(QueryOrDocumentRole::Document, &text)?;
        Ok(model.join_tokenized_pair(&query, &text))
    });
    let pairs: Vec<QueryDocumentTokenSequence> = pairs.collect::<Result<_, Box<dyn Error>>>()?;
    let lengths = pairs.iter().map(|it| it.ids.len()).collect();
    Ok(Work::new(lengths, move |batch| {
        let batch: Vec<&QueryDocumentTokenSequence> = batch.iter().map(|&it| &pairs[it]).collect();
        model.score_pairs(&batch)
    }))
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
    /// Floating-point operations of the products over a sequence of `n` tokens.
    fn flop(&self, n: usize) -> f64 {
        let (h, m) = (self.hidden_size, self.intermediate_size);
        let dense = 2 * n * (3 * h * h + h * h + 2 * h * m);
        let attention = 2 * 2 * n * n * h;
        (self.num_hidden_layers * (dense + attention)) as f64
    }
}

/// The share of the time that each kind of product takes when nothing else is done, and the rest:
/// softmax, GELU, residuals, norms, embeddings, the head, and waiting.
fn profile(
    shape: &Shape,
    lengths: &[usize],
    seconds: f64,
) -> Result<serde_json::Value, candle_core::Error> {
    /// Rows of a dense product: tokens that one thread takes through all layers.
    const ROWS: usize = 512;
    let (h, m) = (shape.hidden_size, shape.intermediate_size);
    let n_tokens: usize = lengths.iter().sum();
    let n_layers = shape.num_hidden_layers as f64;
    let n_threads = rayon::current_num_threads() as f64;
    let mut shares = serde_json::Map::new();
    let mut rest = 1.0;
    let mut tell = |what: &str, alone: f64| {
        let share = alone * n_layers / n_threads / seconds;
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
        tell(what, once * n_tokens as f64 / ROWS as f64);
    }
    let d = h / shape.num_attention_heads;
    let mut by_length = std::collections::BTreeMap::new();
    for &n in lengths {
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

/// What products of two square matrices reach on the device in the precision, with every thread of
/// a CPU: the best of five.
fn matrix_gflops(computing: DeviceAndPrecision) -> Result<f64, candle_core::Error> {
    let (device, n) = match computing.device {
        Device::Cpu => (candle_core::Device::Cpu, 1_536),
        Device::Cuda(ordinal) => (candle_core::Device::new_cuda(ordinal)?, 8_192),
        Device::Metal(ordinal) => (candle_core::Device::new_metal(ordinal)?, 4_096),
    };
    let dtype = match computing.precision {
        FloatPrecision::F32 => DType::F32,
        FloatPrecision::F16 => DType::F16,
        FloatPrecision::Bf16 => DType::BF16,
    };
    let a = Tensor::rand(0.0f32, 1.0, (n, n), &device)?.to_dtype(dtype)?;
    device.synchronize()?;
    let mut best = f64::INFINITY;
    for _ in 0..5 {
        let start = Instant::now();
        std::hint::black_box(a.matmul(&a)?);
        device.synchronize()?;
        best = best.min(start.elapsed().as_secs_f64());
    }
    Ok(2.0 * (n as f64).powi(3) / best / 1e9)
}
