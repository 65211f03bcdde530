//! Trains word vectors on all cores and writes them.

use std::io::{BufWriter, Write};
use std::path::Path;

use rayon::prelude::*;
use shared::index::{DocNo, Index};
use shared::word_vectors::WordVectors;
use shared::word_vectors::glove::{GloveCorpus, GloveSettings, GloveTrainer, GloveTrainingShard};

use crate::error::Error;
use crate::remedy;
use crate::store::write_atomically;

/// Counts the co-occurrences of the words of an index, which must have its tokens, on all cores.
/// Returns the trainer of their vectors.
pub(crate) fn prepare_glove_trainer(
    index: &Index,
    settings: GloveSettings,
) -> Result<GloveTrainer<'_>, Error> {
    let corpus = GloveCorpus::with_frequent_words(index, settings)?;
    let n_docs = corpus.n_docs();
    let part = n_docs
        .div_ceil(rayon::current_num_threads() as DocNo)
        .max(1);
    let parts: Vec<_> = (0..n_docs).step_by(part as usize).collect();
    let counted = parts
        .into_par_iter()
        .map(|from| corpus.count_cooccurrences_in_docs(from..(from + part).min(n_docs)));
    let counted = counted.collect();
    Ok(GloveTrainer::from_corpus_and_cooccurrences(corpus, counted))
}

/// Trains all rounds on all cores; `done` is called after each round.
pub(crate) fn train_all_glove_rounds(trainer: &mut GloveTrainer<'_>, mut done: impl FnMut()) {
    let (n_finished, n_rounds) = trainer.finished_and_total_rounds();
    for _ in n_finished..n_rounds {
        trainer.train_round(|shards| {
            shards
                .into_par_iter()
                .map(GloveTrainingShard::train)
                .collect()
        });
        done();
    }
}

/// Writes word vectors in GloVe's format: one word and its vector per line.
pub(crate) fn write_word_vectors(path: &Path, vectors: &WordVectors) -> Result<(), Error> {
    write_atomically(path, remedy::ANOTHER_FILE, |file| {
        let mut out = BufWriter::new(file);
        for row in 0..vectors.len() as u32 {
            writeln!(out, "{}", vectors.to_glove_line(row))?;
        }
        out.flush()
    })
}
