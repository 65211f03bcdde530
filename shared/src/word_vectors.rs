//! Word vectors from a file, and the similarity of words and texts.
//!
//! The direction of a bag of words is the mean of the unit vectors of its words, counting every
//! occurrence; words without a vector are left out. The similarity of two bags is the cosine of
//! their directions.

mod similarity;
pub mod glove;
mod reader;
mod synonyms;
mod bag_of_words;

use std::collections::BTreeSet;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use utoipa::ToSchema;

use crate::collection::Query;
use crate::error::{Error, ErrorFieldName};
use crate::index::term_statistics::DistinctQueryTerms;
use crate::index::{DocNo, Index};
use crate::interner::StringInterner;
use crate::text::vocabulary::TermNo;
pub use bag_of_words::WordSimilarToQuery;
pub(crate) use bag_of_words::{
    for_each_term_token, non_query_bag_of_words, query_bag_of_word_vectors,
    text_words_by_query_similarity,
};
pub use similarity::QueryWordSimilarities;
pub(crate) use similarity::{
    mean_and_nearest_query_similarity, pairwise_query_term_similarities, query_term_vector_rows,
};
pub use synonyms::SynonymFinder;

pub use reader::read_word_vectors;

/// Index of a word in [`WordVectors`].
pub type WordVectorNo = u32;

/// Words with vectors of unit length.
#[derive(Clone, Default)]
pub struct WordVectors {
    n_dims: usize,
    words: StringInterner,
    /// The vectors: words × dimensions.
    rows: Vec<f32>,
}

impl WordVectors {
    /// Creates word vectors with this number of dimensions and without words.
    pub fn with_dimensions(n_dims: usize) -> WordVectors {
        WordVectors {
            n_dims,
            ..WordVectors::default()
        }
    }

    /// Returns vectors of these distinct words.
    #[cfg(test)]
    pub(crate) fn from_words_and_vectors<const N: usize>(
        words: &[(&str, [f32; N])],
    ) -> WordVectors {
        let mut vectors = WordVectors::with_dimensions(N);
        for (word, vector) in words {
            assert_eq!(vectors.add_word(word, vector), Ok(true));
        }
        vectors
    }

    /// Adds a word; its vector is normalized to unit length. Returns false if the word has a vector
    /// already, which is kept. It is an error if the number of dimensions is wrong, a number is not
    /// finite, or the vector is zero and so has no direction.
    pub fn add_word(&mut self, word: &str, vector: &[f32]) -> Result<bool, String> {
        if vector.len() != self.n_dims {
            return Err(format!(
                "{} numbers, expected {}",
                vector.len(),
                self.n_dims
            ));
        }
        if vector.iter().any(|it| !it.is_finite()) {
            return Err("a value is infinite or NaN".to_owned());
        }
        let squares: f64 = vector.iter().map(|&it| f64::from(it) * f64::from(it)).sum();
        if squares == 0.0 {
            return Err("a vector of zeros has no direction".to_owned());
        }
        if self.words.insert(word) as usize * self.n_dims < self.rows.len() {
            return Ok(false);
        }
        // A vector of unit length is stored without changing any bit.
        let length = if (squares - 1.0).abs() < 1e-6 {
            1.0
        } else {
            squares.sqrt()
        };
        let unit = vector.iter().map(|&it| (f64::from(it) / length) as f32);
        self.rows.extend(unit);
        Ok(true)
    }

    /// Returns the number of words.
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// Returns whether there are no words.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of dimensions.
    pub fn n_dims(&self) -> usize {
        self.n_dims
    }

    /// Returns the row of a word's vector, or `None` if the word has no vector.
    pub fn row_of_word(&self, word: &str) -> Option<WordVectorNo> {
        self.words.find_number_of_string(word)
    }

    /// Returns the word in a row.
    pub fn word_at_row(&self, row: WordVectorNo) -> &str {
        self.words.string_at(row)
    }

    /// Returns the vector in a row, of unit length.
    pub fn vector_at_row(&self, row: WordVectorNo) -> &[f32] {
        let row = row as usize;
        &self.rows[row * self.n_dims..(row + 1) * self.n_dims]
    }

    /// Returns a word with its vector as a line of a GloVe text file: the word and its numbers,
    /// separated by spaces.
    pub fn to_glove_line(&self, row: WordVectorNo) -> String {
        use std::fmt::Write;
        let mut line = self.word_at_row(row).to_owned();
        for number in self.vector_at_row(row) {
            write!(line, " {number}").expect("a String takes every write");
        }
        line
    }

    /// Returns the vectors of only these words, in this order.
    pub fn subset_of_words<'a>(&self, words: impl IntoIterator<Item = &'a str>) -> WordVectors {
        let mut some = WordVectors::with_dimensions(self.n_dims);
        for word in words {
            let Some(row) = self.row_of_word(word) else {
                continue;
            };
            if some.words.insert(word) as usize * self.n_dims == some.rows.len() {
                some.rows.extend(self.vector_at_row(row));
            }
        }
        some
    }
}

/// A bag of words with the direction of its vectors.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BagOfWordsEmbedding {
    /// The direction, of unit length; empty if no word has a vector, or if the vectors cancel out.
    pub direction: Vec<f64>,
    /// The number of occurrences of words with a vector.
    pub n_with_vector: u32,
    /// The number of occurrences of all words.
    pub n_words: u32,
}

impl BagOfWordsEmbedding {
    /// Creates a bag of the words in these rows; `None` is a word without a vector.
    pub fn from_rows(
        vectors: &WordVectors,
        rows: impl IntoIterator<Item = Option<WordVectorNo>>,
    ) -> BagOfWordsEmbedding {
        let mut bag = BagOfWordsEmbedding {
            direction: vec![0.0; vectors.n_dims],
            ..BagOfWordsEmbedding::default()
        };
        for row in rows {
            bag.n_words += 1;
            let Some(row) = row else { continue };
            bag.n_with_vector += 1;
            for (sum, &it) in bag.direction.iter_mut().zip(vectors.vector_at_row(row)) {
                *sum += f64::from(it);
            }
        }
        let length = dot(&bag.direction, &bag.direction).sqrt();
        if length > 0.0 {
            bag.direction.iter_mut().for_each(|it| *it /= length);
        } else {
            bag.direction.clear();
        }
        bag
    }

    /// Returns the cosine of two bags, from −1 to 1; `None` if one of them has no direction.
    pub fn similarity(&self, other: &BagOfWordsEmbedding) -> Option<f64> {
        if self.direction.is_empty() || other.direction.is_empty() {
            return None;
        }
        Some(dot(&self.direction, &other.direction).clamp(-1.0, 1.0))
    }
}

/// Returns the dot product, summed in four lanes and in the same order on every platform.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let (mut lanes, (a, a_rest), (b, b_rest)) = ([0.0; 4], a.as_chunks::<4>(), b.as_chunks::<4>());
    for (a, b) in a.iter().zip(b) {
        for at in 0..4 {
            lanes[at] += a[at] * b[at];
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]) + rest
}

/// Word vectors with the documents of an index, which must keep tokens
/// ([`crate::index::IndexBuilder::with_stored_tokens`]).
pub struct IndexedWordVectors<'a> {
    vectors: &'a WordVectors,
    index: &'a Index,
    /// The row of each token of the index.
    rows: &'a [Option<WordVectorNo>],
}

impl WordVectors {
    /// Returns the row of every token of an index.
    pub fn token_rows_of_index(&self, index: &Index) -> Vec<Option<WordVectorNo>> {
        let vocabulary = index.vocabulary();
        let tokens = 0..vocabulary.n_tokens() as u32;
        tokens
            .map(|it| self.row_of_word(vocabulary.unstemmed_token(it)))
            .collect()
    }
}

impl<'a> IndexedWordVectors<'a> {
    /// Creates it; `rows` is the result of [`WordVectors::token_rows_of_index`] for the index.
    pub fn new(
        vectors: &'a WordVectors,
        index: &'a Index,
        rows: &'a [Option<WordVectorNo>],
    ) -> IndexedWordVectors<'a> {
        IndexedWordVectors {
            vectors,
            index,
            rows,
        }
    }

    /// Returns the words of a query.
    pub fn bag_of_query_word_vectors(&self, query: &str) -> BagOfWordsEmbedding {
        query_bag_of_word_vectors(self.vectors, self.index.vocabulary().analyzer(), query)
    }

    /// Returns d − Q: the words of a document whose terms are not in the query.
    pub fn bag_of_non_query_word_vectors(
        &self,
        doc: DocNo,
        query: &DistinctQueryTerms,
    ) -> BagOfWordsEmbedding {
        let outside = self.terms_and_rows_of_doc(doc);
        let outside = outside.filter(|it| is_outside(query, it.0));
        BagOfWordsEmbedding::from_rows(self.vectors, outside.map(|it| it.1))
    }

    /// Returns the term of each word of a document, with the row of the word.
    fn terms_and_rows_of_doc(
        &self,
        doc: DocNo,
    ) -> impl Iterator<Item = (TermNo, Option<WordVectorNo>)> {
        let tokens = self
            .index
            .tokens_of_doc(doc)
            .expect("the index keeps tokens");
        let words = self.index.term_sequence_of_doc(doc).into_iter().zip(tokens);
        words.map(|(term, token)| (term, self.rows[token as usize]))
    }

    /// Returns the row of each distinct query term.
    pub(crate) fn query_term_vector_rows(
        &self,
        query: &str,
        terms: &DistinctQueryTerms,
    ) -> Vec<Option<WordVectorNo>> {
        query_term_vector_rows(
            self.vectors,
            self.index.vocabulary().analyzer(),
            query,
            terms,
        )
    }

    /// Returns the cosine of each pair of query terms, row by row.
    pub(crate) fn pairwise_query_term_similarities(
        &self,
        asked: &[Option<WordVectorNo>],
    ) -> Vec<f64> {
        pairwise_query_term_similarities(self.vectors, asked)
    }

    /// Returns the mean and the nearest similarity of the words of a document to those of the
    /// query.
    pub(crate) fn mean_and_nearest_query_similarity(
        &self,
        doc: DocNo,
        query: &DistinctQueryTerms,
        asked: &[Option<WordVectorNo>],
    ) -> QueryWordSimilarities {
        let words = self.terms_and_rows_of_doc(doc);
        mean_and_nearest_query_similarity(self.vectors, asked, query, words)
    }

    /// Returns the description of the vectors for figures; of a path only the file name is kept.
    pub fn vectors_info(&self, file: &str) -> WordVectorsInfo {
        let mut coverage = WordVectorCoverage::default();
        for doc in 0..self.index.n_docs() as DocNo {
            let tokens = self
                .index
                .tokens_of_doc(doc)
                .expect("the index keeps tokens");
            let known = tokens.filter(|&it| self.rows[it as usize].is_some());
            coverage.n_with_vector += known.count() as u64;
            coverage.n_words += u64::from(self.index.document_length(doc));
        }
        WordVectorsInfo {
            file: file.rsplit(['/', '\\']).next().unwrap_or(file).to_owned(),
            n_words: self.vectors.len() as u64,
            n_dims: self.vectors.n_dims() as u32,
            coverage,
        }
    }

    /// Returns only the vectors of words that occur in these documents and queries.
    pub fn subset_for_docs_and_queries(
        &self,
        docs: impl Iterator<Item = DocNo>,
        queries: &[Query],
    ) -> WordVectors {
        let tokens = docs.filter_map(|it| self.index.tokens_of_doc(it)).flatten();
        let rows = tokens.filter_map(|it| self.rows[it as usize]);
        let mut rows: BTreeSet<WordVectorNo> = rows.collect();
        let analyzer = self.index.vocabulary().analyzer();
        for query in queries {
            for_each_term_token(analyzer, &query.text, |token, _| {
                rows.extend(self.vectors.row_of_word(token));
            });
        }
        self.vectors
            .subset_of_words(rows.iter().map(|&it| self.vectors.word_at_row(it)))
    }
}

/// Returns whether a term is not in the query.
fn is_outside(query: &DistinctQueryTerms, term: TermNo) -> bool {
    query.iter().all(|it| it.term_no != Some(term))
}

/// The share of the words of a collection that have a vector.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WordVectorCoverage {
    /// The number of occurrences of words with a vector.
    #[serde(rename = "n_known")]
    pub n_with_vector: u64,
    /// The number of occurrences of all words.
    pub n_words: u64,
}

/// The serialized form: numbers as the bits of 32-bit floats, in hexadecimal.
#[derive(Serialize, Deserialize)]
struct StoredWordVectors {
    n_dims: usize,
    words: Vec<String>,
    bits: String,
}

impl Serialize for WordVectors {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let words = 0..self.len() as WordVectorNo;
        let bits = self.rows.iter().map(|it| format!("{:08x}", it.to_bits()));
        StoredWordVectors {
            n_dims: self.n_dims,
            words: words.map(|it| self.word_at_row(it).to_owned()).collect(),
            bits: bits.collect(),
        }
        .serialize(to)
    }
}

impl<'de> Deserialize<'de> for WordVectors {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<WordVectors, D::Error> {
        let StoredWordVectors {
            n_dims,
            words,
            bits,
        } = StoredWordVectors::deserialize(from)?;
        let wrong = |reason: &str| D::Error::custom(format!("word vectors: {reason}"));
        let n_digits = words
            .len()
            .checked_mul(n_dims)
            .and_then(|it| it.checked_mul(8));
        if !bits.is_ascii() || n_digits != Some(bits.len()) {
            return Err(wrong(
                "the number of words does not match the number of vectors",
            ));
        }
        let number = |at: usize| u32::from_str_radix(&bits[at * 8..(at + 1) * 8], 16);
        let numbers = (0..bits.len() / 8)
            .map(number)
            .collect::<Result<Vec<_>, _>>();
        let numbers = numbers.map_err(|_| wrong("a number is not hexadecimal"))?;
        let mut vectors = WordVectors::with_dimensions(n_dims);
        for (at, word) in words.iter().enumerate() {
            let row = numbers[at * n_dims..(at + 1) * n_dims].iter();
            let row: Vec<f32> = row.map(|&it| f32::from_bits(it)).collect();
            let length: f64 = row.iter().map(|&it| f64::from(it) * f64::from(it)).sum();
            // Not normalized again, so that the bits of a similarity are reproduced.
            if length.is_nan() || (length - 1.0).abs() >= 1e-4 {
                return Err(wrong("a vector is not of unit length"));
            }
            if vectors.words.insert(word) as usize != at {
                return Err(wrong("a word is listed twice"));
            }
            vectors.rows.extend(row);
        }
        Ok(vectors)
    }
}

impl std::fmt::Debug for WordVectors {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(to, "Vectors({} words of {})", self.len(), self.n_dims)
    }
}

impl PartialEq for WordVectors {
    fn eq(&self, other: &WordVectors) -> bool {
        let words = |it: &WordVectors| {
            let rows = 0..it.len() as WordVectorNo;
            rows.map(|row| it.word_at_row(row).to_owned())
                .collect::<Vec<_>>()
        };
        self.n_dims == other.n_dims && self.rows == other.rows && words(self) == words(other)
    }
}

/// A description of word vectors, as shown with figures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WordVectorsInfo {
    /// The name of the file.
    pub file: String,
    /// The number of words in the file.
    pub n_words: u64,
    /// The number of dimensions.
    pub n_dims: u32,
    /// The coverage over the whole collection.
    pub coverage: WordVectorCoverage,
}

impl std::fmt::Display for WordVectorsInfo {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let WordVectorsInfo {
            file,
            n_words,
            n_dims,
            coverage,
        } = self;
        let share = 100.0 * coverage.n_with_vector as f64 / coverage.n_words.max(1) as f64;
        write!(
            to,
            "word vectors {file}: {} words of {n_dims} dimensions; {share:.1} % of the words in \
             the collection have a vector",
            with_thousands_separators(*n_words)
        )
    }
}

/// Formats a count as `report::format` does for the modules after this one: `14,057`.
fn with_thousands_separators(count: u64) -> String {
    match count {
        0..1000 => count.to_string(),
        _ => {
            let thousands = with_thousands_separators(count / 1000);
            format!("{thousands},{:03}", count % 1000)
        }
    }
}

/// Returns the error for a probe that needs word vectors when there are none.
pub fn missing_word_vectors_error(probe: &str) -> Error {
    Error::missing_field(
        ErrorFieldName::with_display_name("vectors", probe),
        "needs word vectors: add a GloVe or word2vec file",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plane() -> WordVectors {
        WordVectors::from_words_and_vectors(&[
            ("east", [2.0, 0.0]),
            ("north", [0.0, 3.0]),
            ("west", [-1.0, 0.0]),
        ])
    }

    #[test]
    fn the_cosine_is_that_of_the_means_of_unit_vectors() {
        let vectors = plane();
        let bag = |words: &[&str]| {
            BagOfWordsEmbedding::from_rows(&vectors, words.iter().map(|it| vectors.row_of_word(it)))
        };
        // (2·east + north)/3 against east: 2/√5, whatever the lengths in the file.
        let similarity = bag(&["east", "east", "north", "unheard"]).similarity(&bag(&["east"]));
        assert!((similarity.unwrap() - 2.0 / 5.0_f64.sqrt()).abs() < 1e-7);
        assert_eq!(bag(&["east", "west"]).similarity(&bag(&["east"])), None);
        assert_eq!(bag(&[]).similarity(&bag(&["east"])), None);
        let half = bag(&["east", "unheard"]);
        assert_eq!((half.n_with_vector, half.n_words), (1, 2));
    }

    #[test]
    fn a_wrong_vector_is_refused_and_the_first_of_a_word_is_kept() {
        let mut vectors = plane();
        assert_eq!(vectors.add_word("east", &[0.0, 1.0]), Ok(false));
        assert_eq!(vectors.vector_at_row(0), [1.0, 0.0]);
        for wrong in [&[1.0][..], &[0.0, 0.0], &[f32::NAN, 1.0]] {
            assert!(vectors.add_word("new", wrong).is_err());
        }
        assert_eq!(vectors.len(), 3);
    }

    #[test]
    fn vectors_come_back_bit_by_bit() {
        let vectors = plane().subset_of_words(["north", "nowhere", "east", "north"]);
        let json = serde_json::to_string(&vectors).unwrap();
        let back: WordVectors = serde_json::from_str(&json).unwrap();
        assert_eq!(back, vectors);
        assert_eq!((back.len(), back.word_at_row(0)), (2, "north"));
        let longer = json.replace("3f800000", "40000000");
        assert!(serde_json::from_str::<WordVectors>(&longer).is_err());
    }
}
