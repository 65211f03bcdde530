//! How fast encoders are fine-tuned on the CPU.
//!
//! `cargo run --release -p neural --example fine_tune -- FOLDER [SECONDS]` computes updates of a
//! cross-encoder and of a ColBERT made of the encoder in FOLDER, a BERT with `WordPiece` tokens,
//! with the recipe `default`, for so many seconds each (default 20). Texts are random words in the
//! lengths of WikiQA. Prints one line of JSON for each. RAYON_NUM_THREADS sets the threads;
//! fine_tune.py beside this file does the same with PyTorch and transformers.

use std::error::Error;
use std::time::Instant;

use neural::training::{
    TrainingExamples, TrainingGroup, TrainingInput, TrainingRecipe, TrainingRun,
};
use neural::{
    Device, FineTunedRanker, FineTunedRankerKind, ForwardMode, ModelFileContents, TokenizedPair,
};

/// The number of queries, each with a positive and three negatives.
const N_QUERIES: usize = 200;
const N_NEGATIVES: usize = 3;

/// The updates before the clock starts.
const WARM_UP: usize = 2;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().ok_or("name the folder of an encoder")?;
    let seconds = arguments.next().map_or(Ok(20.0), |it| it.parse())?;
    let read = |file: &str| std::fs::read(format!("{folder}/{file}"));
    let files = ModelFileContents {
        config: read("config.json")?,
        tokenizer: read("tokenizer.json")?,
        weights: read("model.safetensors")?,
        ..ModelFileContents::default()
    };
    for kind in FineTunedRankerKind::ALL {
        time_updates(kind, &files, seconds)?;
    }
    Ok(())
}

fn time_updates(
    kind: FineTunedRankerKind,
    files: &ModelFileContents,
    seconds: f64,
) -> Result<(), Box<dyn Error>> {
    let recipe = TrainingRecipe::built_in("default", kind.name())?;
    let settings = recipe.encoder()?.clone();
    let ranker = FineTunedRanker::from_encoder(kind, settings, files, Device::Cpu, 1)?;
    let mut pairs: Vec<TokenizedPair> = Vec::new();
    let mut groups = Vec::new();
    for (query, documents) in texts(&files.tokenizer)? {
        let first = pairs.len();
        for document in &documents {
            pairs.push(ranker.tokenize_pair(&query, document)?);
        }
        groups.push(TrainingGroup {
            positives: vec![first],
            negatives: (first + 1..pairs.len()).collect(),
        });
    }
    let batch_size = recipe.sampling.batch_size;
    let input = TrainingInput {
        recipe,
        examples: TrainingExamples::Groups(groups),
        teacher_scores: None,
        data_sha256: String::new(),
        seed: 1,
    };
    let mut run = TrainingRun::start(input, ranker.variables())?;
    let forward = |rows: &[usize], step: u64| {
        let pairs: Vec<&TokenizedPair> = rows.iter().map(|it| &pairs[*it]).collect();
        ranker.forward(&pairs, ForwardMode::Training { seed: 1, step })
    };
    for _ in 0..WARM_UP {
        run.advance(&forward)?;
    }
    let (start, mut n_updates) = (Instant::now(), 0);
    while start.elapsed().as_secs_f64() < seconds && !run.is_finished() {
        run.advance(&forward)?;
        n_updates += 1;
    }
    let rate = f64::from(n_updates) / start.elapsed().as_secs_f64();
    let n_pairs = batch_size * (1 + N_NEGATIVES);
    println!(
        "{{\"model\": \"{}\", \"updates_per_s\": {rate:.4}, \"pairs_per_update\": {n_pairs}}}",
        kind.name()
    );
    Ok(())
}

/// A query and its documents, of which the first is the positive.
type QueryWithDocuments = (String, Vec<String>);

/// Returns queries of 4 to 10 words, each with documents of 8 to 42 words.
fn texts(tokenizer: &[u8]) -> Result<Vec<QueryWithDocuments>, Box<dyn Error>> {
    let tokenizer: serde_json::Value = serde_json::from_slice(tokenizer)?;
    let vocabulary = tokenizer["model"]["vocab"].as_object();
    let words = vocabulary.ok_or("the tokenizer has no vocabulary")?.keys();
    let is_word = |it: &&String| it.len() > 3 && it.bytes().all(|it| it.is_ascii_lowercase());
    let mut words: Vec<&str> = words.filter(is_word).map(String::as_str).collect();
    words.sort_unstable();
    let mut state = 1_u64;
    let mut below = |n: usize| {
        state = (state * 1_103_515_245 + 12_345) % (1 << 31);
        (state >> 8) as usize % n
    };
    let mut text = |least: usize, most: usize| {
        let n = least + below(most - least + 1);
        let words: Vec<&str> = (0..n).map(|_| words[below(words.len())]).collect();
        words.join(" ")
    };
    let of_query = |_| {
        let query = text(4, 10);
        let documents = (0..=N_NEGATIVES).map(|_| text(8, 42)).collect();
        (query, documents)
    };
    Ok((0..N_QUERIES).map(of_query).collect())
}
