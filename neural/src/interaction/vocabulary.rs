//! The words that an interaction ranker knows, with their vectors and inverse document frequencies.

use sha2::{Digest, Sha256};

use crate::error::Error;
use crate::random::RandomStream;

/// Words with ids from 1, inverse document frequencies and vectors of length 1.
///
/// The id 0 is padding, with a vector of zeros and the inverse document frequency 0.
#[derive(Clone, Debug, PartialEq)]
pub struct InteractionVocabulary {
    words: Vec<String>,
    /// The indices of `words` in the order of the words.
    order: Vec<u32>,
    /// `[v + 1]`.
    idf: Vec<f32>,
    /// `[v + 1, d]`.
    vectors: Vec<f32>,
    dimensions: usize,
}

impl InteractionVocabulary {
    /// Creates a vocabulary of `v` words, which get the ids 1 to `v`, from `idf` `[v]` and
    /// `vectors` `[v, dimensions]`, which are scaled to length 1. A vector whose length is 1 up to
    /// rounding keeps its bits, so that a saved vocabulary is read as it was.
    pub fn new(
        words: Vec<String>,
        idf: &[f32],
        vectors: &[f32],
        dimensions: usize,
    ) -> Result<InteractionVocabulary, Error> {
        let invalid = |reason: String| Err(Error::InteractionVocabulary { reason });
        if dimensions == 0 || vectors.len() != words.len() * dimensions || idf.len() != words.len()
        {
            return invalid(format!(
                "{} words have {} inverse document frequencies and {} numbers in vectors of \
                 {dimensions}",
                words.len(),
                idf.len(),
                vectors.len()
            ));
        }
        let mut order: Vec<u32> = (0..words.len() as u32).collect();
        order.sort_by(|a, b| words[*a as usize].cmp(&words[*b as usize]));
        for pair in order.windows(2) {
            let word = &words[pair[0] as usize];
            if *word == words[pair[1] as usize] {
                return invalid(format!("`{word}` occurs twice"));
            }
        }
        let mut unit = vec![0.0; dimensions];
        for (vector, (word, idf)) in vectors.chunks_exact(dimensions).zip(words.iter().zip(idf)) {
            let square: f64 = vector.iter().map(|&it| f64::from(it) * f64::from(it)).sum();
            let length = square.sqrt();
            if !(length.is_finite() && length > 0.0 && idf.is_finite()) {
                return invalid(format!(
                    "`{word}` has a vector without a direction, or no idf"
                ));
            }
            let length = if (length - 1.0).abs() < 1e-6 {
                1.0
            } else {
                length
            };
            unit.extend(vector.iter().map(|&it| (f64::from(it) / length) as f32));
        }
        Ok(InteractionVocabulary {
            words,
            order,
            idf: std::iter::once(&0.0).chain(idf).copied().collect(),
            vectors: unit,
            dimensions,
        })
    }

    /// Returns a random vector of length 1, a direction that depends on nothing but the word: its
    /// numbers are normal (Box and Muller 1958), seeded by the SHA-256 of the word.
    pub fn random_direction(word: &str, dimensions: usize) -> Vec<f32> {
        let digest = Sha256::digest(word);
        let seed = u64::from_le_bytes(digest[..8].try_into().expect("a digest has 32 bytes"));
        let stream = RandomStream::select(seed, &[]);
        // In (0, 1), so that its logarithm is finite.
        let uniform = |position| ((stream.bits_at(position) >> 12) as f64 + 0.5) / 2_f64.powi(52);
        let normal = |position: u64| {
            let radius = libm::sqrt(-2.0 * libm::log(uniform(2 * position)));
            radius * libm::cos(std::f64::consts::TAU * uniform(2 * position + 1))
        };
        let numbers: Vec<f64> = (0..dimensions as u64).map(normal).collect();
        let length = libm::sqrt(numbers.iter().map(|it| it * it).sum());
        numbers.into_iter().map(|it| (it / length) as f32).collect()
    }

    /// Returns the words in the order of their ids, which begin with 1.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// Returns the inverse document frequency of each id, beginning with 0 for padding.
    pub fn idf(&self) -> &[f32] {
        &self.idf
    }

    /// Returns the vectors in row-major order, beginning with zeros for padding.
    pub fn vectors(&self) -> &[f32] {
        &self.vectors
    }

    /// Returns the number of dimensions of a vector.
    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// Returns the id of a word, at least 1, and `None` for unknown words.
    pub fn id_of_word(&self, word: &str) -> Option<u32> {
        let word_at = |&index: &u32| self.words[index as usize].as_str().cmp(word);
        let place = self.order.binary_search_by(word_at).ok()?;
        Some(self.order[place] + 1)
    }

    /// Returns the vector of an id.
    pub(super) fn vector(&self, id: u32) -> &[f32] {
        &self.vectors[id as usize * self.dimensions..][..self.dimensions]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_ids_from_one_and_unit_vectors() {
        let words = ["river", "bank", "mud"].map(str::to_owned).to_vec();
        let vectors = [3.0, 4.0, 0.0, -2.0, 1.0, 0.0];
        let vocabulary = InteractionVocabulary::new(words, &[1.0, 2.0, 3.0], &vectors, 2).unwrap();
        assert_eq!(vocabulary.id_of_word("river"), Some(1));
        assert_eq!(vocabulary.id_of_word("bank"), Some(2));
        assert_eq!(vocabulary.id_of_word("mud"), Some(3));
        assert_eq!(vocabulary.id_of_word("sea"), None);
        assert_eq!(vocabulary.idf(), [0.0, 1.0, 2.0, 3.0]);
        assert_eq!(vocabulary.vector(0), [0.0, 0.0]);
        assert_eq!(vocabulary.vector(1), [0.6, 0.8]);
        assert_eq!(vocabulary.vector(2), [0.0, -1.0]);
    }

    #[test]
    fn random_directions_have_length_one_and_differ_between_words() {
        let direction = |word| InteractionVocabulary::random_direction(word, 300);
        let inner =
            |one: &[f32], other: &[f32]| -> f32 { one.iter().zip(other).map(|(a, b)| a * b).sum() };
        let (river, bank) = (direction("river"), direction("bank"));
        assert_eq!(river, direction("river"));
        assert!((inner(&river, &river) - 1.0).abs() < 1e-5);
        // The cosine of independent directions has the standard deviation 1/√300 = .058.
        assert!(inner(&river, &bank).abs() < 0.25);
        let mean = river.iter().sum::<f32>() / 300.0;
        assert!(mean.abs() < 0.015, "{mean}");
    }

    #[test]
    fn a_vocabulary_that_contradicts_itself_is_an_error() {
        let words = |both: [&str; 2]| both.map(str::to_owned).to_vec();
        let new = InteractionVocabulary::new;
        assert!(new(words(["a", "a"]), &[1.0; 2], &[1.0; 4], 2).is_err());
        assert!(new(words(["a", "b"]), &[1.0; 1], &[1.0; 4], 2).is_err());
        assert!(new(words(["a", "b"]), &[1.0; 2], &[1.0; 3], 2).is_err());
        assert!(new(words(["a", "b"]), &[1.0; 2], &[0.0; 4], 2).is_err());
        assert!(new(words(["a", "b"]), &[1.0, f32::NAN], &[1.0; 4], 2).is_err());
    }
}
