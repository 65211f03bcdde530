//! How fast a ColBERT scores encoded texts on the CPU.
//!
//! `cargo run --release -p neural --example maxsim -- FOLDER TEXTS`, where FOLDER holds a ColBERT
//! and TEXTS has one text a line; the first is the query too. Prints one line of JSON.
//! RAYON_NUM_THREADS sets the threads. Encoding is not counted, as in maxsim.py beside this file,
//! which does the same with PyTorch.

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use neural::{
    Colbert, Device, ModelFileContents, QueryOrDocumentRole, SingleOrMultiVectorEncoding,
    TokenizedText,
};
use rayon::prelude::*;

/// So many times each text is scored.
const ROUNDS: usize = 20;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, texts] = arguments.as_slice() else {
        return Err("usage: maxsim FOLDER TEXTS".into());
    };
    let read = |name: &str| std::fs::read(Path::new(folder).join(name));
    let files = ModelFileContents {
        config: read("config.json")?,
        tokenizer: read("tokenizer.json")?,
        weights: read("model.safetensors")?,
        colbert_metadata: read("artifact.metadata").ok(),
        ranker_config: read("ranker.toml").ok(),
        ..ModelFileContents::default()
    };
    let model = Colbert::load(&files, Device::Cpu)?;
    let texts = std::fs::read_to_string(texts)?;
    let cut = |side| texts.lines().map(move |it| (side, it));
    let first = cut(QueryOrDocumentRole::Query).take(1);
    let tokens = first.chain(cut(QueryOrDocumentRole::Document));
    let tokens = tokens.map(|(side, it)| model.tokenize(side, it));
    let tokens = tokens.collect::<Result<Vec<TokenizedText>, _>>()?;
    let encoded = model.encode(&tokens.iter().collect::<Vec<_>>())?;
    let Some((query, texts)) = encoded.split_first() else {
        return Err("there is no text".into());
    };

    let score = |texts: &[SingleOrMultiVectorEncoding]| -> Vec<f64> {
        let each = texts.par_iter();
        each.map(|it| model.score(query, it)).collect()
    };
    let scores = score(texts); // the threads start
    let start = Instant::now();
    for _ in 0..ROUNDS {
        let again = std::hint::black_box(score(texts));
        assert_eq!(again, scores);
    }
    let seconds = start.elapsed().as_secs_f64();

    let n_vectors: usize = texts.iter().map(|it| it.vectors().len()).sum();
    println!(
        "{}",
        serde_json::json!({
            "scores_per_s": (ROUNDS * texts.len()) as f64 / seconds,
            "query_vectors": query.vectors().len(),
            "text_vectors": n_vectors as f64 / texts.len() as f64,
            "numbers": model.vector_dimension(),
            "threads": rayon::current_num_threads(),
            "first": scores.first(),
        })
    );
    Ok(())
}
