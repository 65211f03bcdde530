//! How fast the interaction rankers train on the CPU.
//!
//! `cargo run --release -p neural --example train_interaction [-- SECONDS]` computes updates of
//! each network with random texts of the lengths of WikiQA, at the sizes and batches of the recipe
//! `wikiqa-reference`, for so many seconds (default 5). Prints one line of JSON for each network.
//! RAYON_NUM_THREADS sets the threads. The optimizer is plain gradient descent;
//! train_interaction.py beside this file does the same with PyTorch. `checksum` is equal for any
//! number of threads.

use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

use candle_core::{Device, Tensor};
use neural::training::TrainingRecipe;
use neural::{
    ForwardMode, InteractionConfig, InteractionNetwork, InteractionRankerKind,
    InteractionVocabulary, PreparedPair,
};
use sha2::{Digest, Sha256};

/// The number of words, as of WikiQA.
const N_WORDS: usize = 23_600;

/// The number of prepared pairs, of which batches are drawn.
const N_PAIRS: usize = 2_000;

/// The updates before the clock starts; after them the checksum is taken.
const WARM_UP: u64 = 10;

fn main() -> Result<(), Box<dyn Error>> {
    let seconds = std::env::args().nth(1).map_or(Ok(5.0), |it| it.parse())?;
    let mut random = Random(1);
    let words = (0..N_WORDS).map(|it| format!("w{it}")).collect();
    let vectors: Vec<f32> = (0..N_WORDS * 50).map(|_| random.next() - 0.5).collect();
    let idf: Vec<f32> = (0..N_WORDS).map(|_| 1.0 + 9.0 * random.next()).collect();
    let vocabulary = Arc::new(InteractionVocabulary::new(words, &idf, &vectors, 50)?);
    for kind in InteractionRankerKind::ALL {
        time_updates(kind, &vocabulary, seconds)?;
    }
    Ok(())
}

fn time_updates(
    kind: InteractionRankerKind,
    vocabulary: &Arc<InteractionVocabulary>,
    seconds: f64,
) -> Result<(), Box<dyn Error>> {
    let batch = match kind {
        InteractionRankerKind::Knrm | InteractionRankerKind::ConvKnrm => 16,
        _ => 100,
    };
    let recipe = TrainingRecipe::built_in("wikiqa-reference", kind.name())?;
    let config = InteractionConfig::from_recipe(kind, &recipe, 50)?;
    let ranker = InteractionNetwork::with_random_weights(config, vocabulary.clone(), 1)?;
    let mut random = Random(2);
    let prepare = |_| {
        // WikiQA: 3 to 20 query terms, mostly 6; sentences of 2 to 40 terms and more, mostly 23.
        let (query, document) = (3 + random.below(7), 4 + random.below(38));
        let mut draw = |n| {
            (0..n)
                .map(|_| 1 + random.below(N_WORDS) as u32)
                .collect::<Vec<_>>()
        };
        let (query, mut document) = (draw(query), draw(document));
        document[0] = query[0];
        ranker.prepare(&query, &document)
    };
    let pairs: Vec<PreparedPair> = (0..N_PAIRS).map(prepare).collect();

    let mut random = Random(3);
    let mut update = |step| -> Result<(), Box<dyn Error>> {
        let rows: Vec<&PreparedPair> = (0..2 * batch)
            .map(|_| &pairs[random.below(N_PAIRS)])
            .collect();
        let scores = ranker.forward(&rows, ForwardMode::Training { seed: 1, step })?;
        let difference = (scores.narrow(0, batch, batch)? - scores.narrow(0, 0, batch)?)?;
        let loss = (difference + 1.0)?.relu()?.mean_all()?;
        let gradients = loss.backward()?;
        for (_, variable) in ranker.variables() {
            if let Some(gradient) = gradients.get(variable) {
                let step: Tensor = (gradient * 1e-3)?;
                variable.set(&(variable.as_tensor() - step)?)?;
            }
        }
        Ok(())
    };
    for step in 0..WARM_UP {
        update(step)?;
    }
    let checksum = Sha256::digest(ranker.to_safetensors()?);
    let (start, mut steps) = (Instant::now(), WARM_UP);
    while start.elapsed().as_secs_f64() < seconds {
        update(steps)?;
        steps += 1;
    }
    let per_second = (steps - WARM_UP) as f64 / start.elapsed().as_secs_f64();
    println!(
        "{}",
        serde_json::json!({
            "model": kind.name(),
            "updates_per_s": per_second,
            "pairs_per_update": 2 * batch,
            "parameters": ranker.n_parameters(),
            "threads": rayon::current_num_threads(),
            "checksum": format!("{checksum:x}"),
            "device": format!("{:?}", Device::Cpu),
        })
    );
    Ok(())
}

/// A linear congruential generator, enough for texts of a benchmark.
struct Random(u64);

impl Random {
    /// Returns a number from 0 to below 1.
    fn next(&mut self) -> f32 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 40) as f32 / 16_777_216.0
    }

    /// Returns an index below `n`.
    fn below(&mut self, n: usize) -> usize {
        (self.next() * n as f32) as usize
    }
}
