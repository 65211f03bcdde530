//! How fast texts are encoded on the CPU.
//!
//! `cargo run --release -p neural --example throughput -- FOLDER TEXTS`, where FOLDER holds a model
//! and TEXTS has one text a line. Prints one line of JSON. RAYON_NUM_THREADS sets the threads.
//! Tokenising is not counted, as in throughput.py beside this file, which does the same with
//! PyTorch.

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use neural::{Device, Matching, Model, ModelFiles, Pieces, Side};

/// Pieces in a batch.
const TOKEN_BUDGET: usize = 16_384;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, texts] = arguments.as_slice() else {
        return Err("usage: throughput FOLDER TEXTS".into());
    };
    let read = |name: &str| std::fs::read(Path::new(folder).join(name));
    let files = ModelFiles {
        config: read("config.json")?,
        tokenizer: read("tokenizer.json")?,
        weights: read("model.safetensors")?,
        ..ModelFiles::default()
    };
    let model = Model::load(&files, Matching::BiEncoder, 256, Device::Cpu)?;
    let texts = std::fs::read_to_string(texts)?
        .lines()
        .map(|text| model.tokenize(Side::Text, text))
        .collect::<Result<Vec<Pieces>, _>>()?;
    let lengths: Vec<usize> = texts.iter().map(|text| text.ids.len()).collect();
    let batches = neural::plan_batches(&lengths, TOKEN_BUDGET);

    encode(&model, &texts, batches.last().into_iter())?; // the threads start
    let start = Instant::now();
    encode(&model, &texts, batches.iter())?;
    let seconds = start.elapsed().as_secs_f64();

    let n_tokens: usize = lengths.iter().sum();
    println!(
        "{}",
        serde_json::json!({
            "sequences_per_s": texts.len() as f64 / seconds,
            "tokens_per_s": n_tokens as f64 / seconds,
            "threads": rayon::current_num_threads(),
        })
    );
    Ok(())
}

fn encode<'a>(
    model: &Model,
    texts: &[Pieces],
    batches: impl Iterator<Item = &'a Vec<usize>>,
) -> Result<(), neural::Error> {
    for batch in batches {
        let batch: Vec<&Pieces> = batch.iter().map(|&text| &texts[text]).collect();
        std::hint::black_box(model.encode(&batch)?);
    }
    Ok(())
}
