//! Collections of random text, with the word frequencies of natural language.

use anyhow::Result;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

const N_WORDS: usize = 60_000;
const N_TOPICS: usize = 2_000;
const WORDS_OF_TOPIC: usize = 24;
/// Number of words with a vector, the most frequent ones.
pub(super) const N_VECTORS: usize = 10_000;
const N_DIMS: usize = 50;

/// Random numbers from a seed: SplitMix64.
pub(super) struct Draw(pub(super) u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut it = self.0;
        it = (it ^ (it >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        it = (it ^ (it >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        it ^ (it >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.next()) * n as u128) >> 64) as usize
    }

    /// Returns a number from 0 to below 1.
    pub(super) fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Writes a collection and its word vectors, unless they exist.
pub(super) fn write_random_collection(
    folder: &Path,
    n_docs: usize,
    n_queries: usize,
) -> Result<()> {
    let collection = folder.join("collection");
    if collection.join("queries.jsonl").is_file() {
        return Ok(());
    }
    println!("bench: making {n_docs} documents");
    fs::create_dir_all(&collection)?;
    let mut draw = Draw(42);
    // Cumulative word frequencies by the law of Zipf and Mandelbrot.
    let mut sums = Vec::with_capacity(N_WORDS);
    let mut sum = 0.0;
    for rank in 0..N_WORDS {
        sum += (rank as f64 + 2.7).powf(-1.07);
        sums.push(sum);
    }
    let word = |draw: &mut Draw| {
        let at = draw.share() * sum;
        sums.partition_point(|it| *it < at).min(N_WORDS - 1)
    };
    let topics: Vec<Vec<usize>> = (0..N_TOPICS)
        .map(|_| {
            (0..WORDS_OF_TOPIC)
                .map(|_| 100 + draw.below(N_VECTORS))
                .collect()
        })
        .collect();
    let mut corpus = BufWriter::new(File::create(collection.join("corpus.jsonl"))?);
    for doc in 0..n_docs {
        let topic = &topics[draw.below(N_TOPICS)];
        let len = 40 + draw.below(40) + draw.below(40);
        let words: Vec<String> = (0..len)
            .map(|_| match draw.below(4) {
                0 => format!("w{}", topic[draw.below(WORDS_OF_TOPIC)]),
                _ => format!("w{}", word(&mut draw)),
            })
            .collect();
        writeln!(
            corpus,
            r#"{{"_id":"d{doc}","title":"","text":"{}"}}"#,
            words.join(" ")
        )?;
    }
    corpus.flush()?;
    let mut vectors = BufWriter::new(File::create(folder.join("vectors.txt"))?);
    for rank in 0..N_VECTORS + 100 {
        write!(vectors, "w{rank}")?;
        for _ in 0..N_DIMS {
            write!(vectors, " {:.4}", draw.share() - 0.5)?;
        }
        writeln!(vectors)?;
    }
    vectors.flush()?;
    let mut queries = Vec::new();
    for query in 0..n_queries {
        let topic = &topics[draw.below(N_TOPICS)];
        let mut words: Vec<String> = (0..2 + draw.below(3))
            .map(|_| format!("w{}", topic[draw.below(WORDS_OF_TOPIC)]))
            .collect();
        words.push(format!("w{}", word(&mut draw)));
        writeln!(
            queries,
            r#"{{"_id":"q{query}","text":"{}"}}"#,
            words.join(" ")
        )?;
    }
    // Written last, since its existence shows that everything is complete.
    fs::write(collection.join("queries.jsonl"), queries)?;
    Ok(())
}
