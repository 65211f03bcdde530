//! Features of a document that probes need: its length and its query terms.

use crate::index::term_statistics::DistinctQueryTerms;
use crate::index::{DocNo, DocumentAndTermTotals, Index};
use crate::text::vocabulary::TermNo;
use crate::word_vectors::{
    BagOfWordsEmbedding, IndexedWordVectors, QueryWordSimilarities, WordVectorNo,
};

/// The features of a document for one query.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DocumentFeatures {
    /// The length of the document in terms, |d|.
    pub n_terms: u32,
    /// c(w, d) for each distinct query term.
    pub term_counts: Vec<u32>,
    /// Σ(d), the number of occurrences of query terms.
    pub n_occurrences: u32,
    /// The number of distinct query terms in the document.
    pub coverage: u32,
    /// The positions of the closest two distinct query terms.
    pub nearest_positions: Option<(u32, u32)>,
    /// The terms outside of the query with their counts, ascending. Only
    /// [`DocumentFeatures::from_terms_including_non_query`] fills it, since few axioms need it.
    pub other_terms: Vec<(TermNo, u32)>,
    /// For each distinct query term its positions, ascending. Only
    /// [`DocumentFeatures::record_query_term_positions`] fills it.
    pub positions: Vec<Vec<u32>>,
    /// The features from word vectors, if there are any.
    pub semantics: Option<NonQueryWordVectorFeatures>,
    /// The grade for the query, if it has a judgment; axioms ignore it.
    pub grade: Option<i32>,
}

/// The word vectors of the document's words that are not in the query, d − Q.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NonQueryWordVectorFeatures {
    /// The words of the document that are not in the query, d − Q.
    pub other_words: BagOfWordsEmbedding,
    /// cos(d − Q, Q); `None` if one of them has no word with a vector.
    pub query_similarity: Option<f64>,
    /// The similarities of single words to those of the query, if requested.
    pub word_similarities: Option<QueryWordSimilarities>,
}

impl NonQueryWordVectorFeatures {
    /// Computes the features of a document for a query.
    pub fn from_document_and_query_bags(
        rest: BagOfWordsEmbedding,
        query: &BagOfWordsEmbedding,
    ) -> NonQueryWordVectorFeatures {
        let to_query = rest.similarity(query);
        NonQueryWordVectorFeatures {
            other_words: rest,
            query_similarity: to_query,
            word_similarities: None,
        }
    }
}

impl DocumentFeatures {
    /// Counts the terms of a document, given in order.
    pub fn from_terms(terms: &[TermNo], query: &DistinctQueryTerms) -> DocumentFeatures {
        let mut counted = DocumentFeatures {
            n_terms: terms.len() as u32,
            term_counts: vec![0; query.len()],
            ..DocumentFeatures::default()
        };
        // The last query term so far, and the last one that differs from it.
        let mut last: Option<(usize, u32)> = None;
        let mut other: Option<(usize, u32)> = None;
        for (position, &term) in terms.iter().enumerate() {
            let position = position as u32;
            let Some(place) = query.iter().position(|it| it.term_no == Some(term)) else {
                continue;
            };
            counted.term_counts[place] += 1;
            if last.is_some_and(|it| it.0 != place) {
                other = last;
            }
            if let Some((_, before)) = other
                && counted
                    .min_query_term_distance()
                    .is_none_or(|it| position - before < it)
            {
                counted.nearest_positions = Some((before, position));
            }
            last = Some((place, position));
        }
        counted.n_occurrences = counted.term_counts.iter().sum();
        counted.coverage = counted.term_counts.iter().filter(|&&it| it > 0).count() as u32;
        counted
    }

    /// Records the positions of the query terms among the terms of the document.
    pub fn record_query_term_positions(&mut self, terms: &[TermNo], query: &DistinctQueryTerms) {
        self.positions = vec![Vec::new(); query.len()];
        for (position, &term) in terms.iter().enumerate() {
            if let Some(place) = query.iter().position(|it| it.term_no == Some(term)) {
                self.positions[place].push(position as u32);
            }
        }
    }

    /// Returns the number of terms before the first query term. Needs
    /// [`DocumentFeatures::positions`].
    pub fn first_query_term_position(&self) -> Option<u32> {
        let firsts = self.positions.iter().filter_map(|it| it.first());
        firsts.min().copied()
    }

    /// Returns the number of occurrences of terms outside of the query.
    pub fn n_non_query_terms(&self) -> u32 {
        self.n_terms - self.n_occurrences
    }

    /// Returns the similarity of the document's other words to the query: cos(d − Q, Q).
    pub fn non_query_word_query_similarity(&self) -> Option<f64> {
        self.semantics.as_ref()?.query_similarity
    }

    /// Returns the similarity of the other words of both documents: cos(d − Q, d' − Q).
    pub fn similarity_between_non_query_words(&self, other: &DocumentFeatures) -> Option<f64> {
        let (mine, theirs) = (self.semantics.as_ref()?, other.semantics.as_ref()?);
        mine.other_words.similarity(&theirs.other_words)
    }

    /// Returns Γ(d), the minimum distance of two distinct query terms, in terms; adjacent terms
    /// have distance 1.
    pub fn min_query_term_distance(&self) -> Option<u32> {
        self.nearest_positions.map(|(first, second)| second - first)
    }

    /// Returns how many times `once` has to be repeated to have this document's length and counts;
    /// `None` if there is no such number. Needs [`DocumentFeatures::other_terms`] of both.
    pub fn repetition_factor_relative_to(&self, once: &DocumentFeatures) -> Option<u32> {
        let times = self.n_terms.checked_div(once.n_terms)?;
        let same = self.n_terms == once.n_terms * times
            && self
                .term_counts
                .iter()
                .zip(&once.term_counts)
                .all(|(many, one)| *many == one * times)
            && self.other_terms.len() == once.other_terms.len()
            && self
                .other_terms
                .iter()
                .zip(&once.other_terms)
                .all(|(m, o)| *m == (o.0, o.1 * times));
        same.then_some(times)
    }

    /// Counts like [`DocumentFeatures::from_terms`], including the terms outside of the query.
    pub fn from_terms_including_non_query(
        terms: &[TermNo],
        query: &DistinctQueryTerms,
    ) -> DocumentFeatures {
        let mut counted = DocumentFeatures::from_terms(terms, query);
        let outside = |term: &TermNo| query.iter().all(|it| it.term_no != Some(*term));
        let mut others: Vec<TermNo> = terms.iter().copied().filter(outside).collect();
        others.sort_unstable();
        for run in others.chunk_by(|a, b| a == b) {
            counted.other_terms.push((run[0], run.len() as u32));
        }
        counted
    }

    /// Counts the terms outside of the query that occur in `more` exactly once more than in this
    /// document.
    pub fn count_terms_once_more_in(&self, more: &DocumentFeatures) -> OneMoreOccurrenceTermCounts {
        let mut found = OneMoreOccurrenceTermCounts::default();
        let mut mine = self.other_terms.iter().peekable();
        for &(term, count) in &more.other_terms {
            while mine.next_if(|it| it.0 < term).is_some() {}
            let here = mine.next_if(|it| it.0 == term).map_or(0, |it| it.1);
            if count == here + 1 {
                found.n_terms += 1;
                found.n_shared += u32::from(here > 0);
            }
        }
        found
    }
}

/// The features that axioms need in addition to the counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct RequiredDocumentFeatures {
    /// Whether [`DocumentFeatures::other_terms`] is needed.
    pub(crate) other_terms: bool,
    /// Whether [`DocumentFeatures::positions`] is needed.
    pub(crate) positions: bool,
    /// Whether [`NonQueryWordVectorFeatures::word_similarities`] is needed, if there are word
    /// vectors.
    pub(crate) word_similarities: bool,
}

impl RequiredDocumentFeatures {
    /// All features that an axiom can need.
    pub(crate) const ALL: RequiredDocumentFeatures = RequiredDocumentFeatures {
        other_terms: true,
        positions: true,
        word_similarities: true,
    };

    /// Returns the union of several requirements.
    pub(crate) fn union(
        all: impl Iterator<Item = RequiredDocumentFeatures>,
    ) -> RequiredDocumentFeatures {
        all.fold(RequiredDocumentFeatures::default(), |a, b| {
            RequiredDocumentFeatures {
                other_terms: a.other_terms || b.other_terms,
                positions: a.positions || b.positions,
                word_similarities: a.word_similarities || b.word_similarities,
            }
        })
    }
}

/// Extracts the features of documents of an index for one query.
pub(crate) struct DocumentFeatureExtractor<'a> {
    index: &'a Index,
    terms: &'a DistinctQueryTerms,
    needs: RequiredDocumentFeatures,
    /// The word vectors, with the vectors of the query together and one by one.
    known: Option<(
        &'a IndexedWordVectors<'a>,
        BagOfWordsEmbedding,
        Vec<Option<WordVectorNo>>,
    )>,
}

impl<'a> DocumentFeatureExtractor<'a> {
    /// Creates an extractor; `terms` are those of `query`, and `known` are word vectors for the
    /// index.
    pub(crate) fn for_query(
        index: &'a Index,
        known: Option<&'a IndexedWordVectors<'a>>,
        query: &str,
        terms: &'a DistinctQueryTerms,
        needs: RequiredDocumentFeatures,
    ) -> DocumentFeatureExtractor<'a> {
        let known = known.map(|it| {
            (
                it,
                it.bag_of_query_word_vectors(query),
                it.query_term_vector_rows(query, terms),
            )
        });
        DocumentFeatureExtractor {
            index,
            terms,
            needs,
            known,
        }
    }

    /// Extracts the features of a document of the index.
    pub(crate) fn extract(&self, doc: DocNo) -> DocumentFeatures {
        let body = &self.index.term_sequence_of_doc(doc);
        let mut counted = if self.needs.other_terms {
            DocumentFeatures::from_terms_including_non_query(body, self.terms)
        } else {
            DocumentFeatures::from_terms(body, self.terms)
        };
        if self.needs.positions {
            counted.record_query_term_positions(body, self.terms);
        }
        counted.semantics = self.known.as_ref().map(|(known, query, words)| {
            let mut meaning = NonQueryWordVectorFeatures::from_document_and_query_bags(
                known.bag_of_non_query_word_vectors(doc, self.terms),
                query,
            );
            if self.needs.word_similarities {
                meaning.word_similarities =
                    Some(known.mean_and_nearest_query_similarity(doc, self.terms, words));
            }
            meaning
        });
        counted
    }

    /// Returns the similarity of each query term to each other one, in the layout of
    /// [`QueryPoolFeatures::term_similarities`].
    pub(crate) fn pairwise_query_term_similarities(&self) -> Vec<f64> {
        let known = self.known.as_ref();
        known.map_or(Vec::new(), |(known, _, words)| {
            known.pairwise_query_term_similarities(words)
        })
    }
}

/// The number of terms outside of the query that occur in a document exactly once more than in
/// another.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OneMoreOccurrenceTermCounts {
    /// The number of all such terms.
    pub n_terms: u32,
    /// The number of those that occur in the other document.
    pub n_shared: u32,
}

/// One query with the documents of its pool.
#[derive(Debug, Clone, Copy)]
pub struct QueryPoolFeatures<'a> {
    /// The distinct query terms with their statistics.
    pub query: &'a DistinctQueryTerms,
    /// The documents, in the order of the pool.
    pub pool: &'a [DocumentFeatures],
    /// The limits that preconditions are compared with.
    pub limits: &'a super::MiningThresholds,
    /// The totals of the whole collection.
    pub totals: DocumentAndTermTotals,
    /// The similarity of each query term to each other one, row by row; empty without word vectors.
    pub term_similarities: &'a [f64],
}

impl<'a> QueryPoolFeatures<'a> {
    /// Creates a context of some documents of a query, without word vectors.
    pub fn without_word_vectors(
        query: &'a DistinctQueryTerms,
        pool: &'a [DocumentFeatures],
        limits: &'a super::MiningThresholds,
        totals: DocumentAndTermTotals,
    ) -> QueryPoolFeatures<'a> {
        QueryPoolFeatures {
            query,
            pool,
            limits,
            totals,
            term_similarities: &[],
        }
    }

    /// Returns a context of other documents of the same query.
    pub fn with_replaced_pool<'b>(&self, pool: &'b [DocumentFeatures]) -> QueryPoolFeatures<'b>
    where
        'a: 'b,
    {
        QueryPoolFeatures { pool, ..*self }
    }

    /// Returns ln(N / df) of a query term; 0 for one that no document contains.
    pub(crate) fn idf(&self, term: usize) -> f64 {
        self.totals.idf(self.query[term].df)
    }

    /// Calls `take` with every unordered pair of documents whose lengths differ by at most δ. The
    /// documents are sorted by length, so that other pairs are not visited.
    pub(crate) fn for_each_similar_length_pair(&self, mut take: impl FnMut(usize, usize)) {
        let mut by_length: Vec<usize> = (0..self.pool.len()).collect();
        by_length.sort_by_key(|&at| self.pool[at].n_terms);
        for (first, &a) in by_length.iter().enumerate() {
            for &b in &by_length[first + 1..] {
                if !self
                    .limits
                    .are_lengths_similar(self.pool[a].n_terms, self.pool[b].n_terms)
                {
                    break;
                }
                take(a, b);
            }
        }
    }

    /// Calls `take` with every unordered pair of documents with the same key, keys ascending.
    pub(crate) fn for_each_pair_with_equal_key<K: Ord>(
        &self,
        key: impl Fn(&DocumentFeatures) -> &K,
        mut take: impl FnMut(usize, usize),
    ) {
        let mut by_key: Vec<usize> = (0..self.pool.len()).collect();
        by_key.sort_by(|&a, &b| key(&self.pool[a]).cmp(key(&self.pool[b])));
        for alike in by_key.chunk_by(|&a, &b| key(&self.pool[a]) == key(&self.pool[b])) {
            for (first, &a) in alike.iter().enumerate() {
                alike[first + 1..].iter().for_each(|&b| take(a, b));
            }
        }
    }
}

/// The instances of one axiom for one query.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AxiomInstancesForQuery {
    /// Indexes in the pool, in the order of the claim; indexes past its end are derived documents.
    pub positions: Vec<u32>,
    /// Documents derived from those of the pool: index in the pool and number of repetitions.
    pub derived: Vec<(u32, u32)>,
}

impl AxiomInstancesForQuery {
    pub(crate) fn push_pair(&mut self, first: usize, second: usize) {
        self.positions.extend([first as u32, second as u32]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::term_statistics::QueryTermStatistics;

    fn query(numbers: &[TermNo]) -> DistinctQueryTerms {
        let term = |&number: &TermNo| QueryTermStatistics {
            term: number.to_string(),
            term_no: Some(number),
            count: 1,
            positions: Vec::new(),
            df: 1,
            cf: 1,
        };
        numbers.iter().map(term).collect()
    }

    #[test]
    fn the_least_distance_is_between_distinct_terms() {
        let distance = |terms: &[TermNo]| {
            DocumentFeatures::from_terms(terms, &query(&[1, 2])).min_query_term_distance()
        };
        assert_eq!(distance(&[1, 9, 9, 2]), Some(3));
        assert_eq!(distance(&[1, 1, 9, 2]), Some(2));
        assert_eq!(distance(&[1, 9, 1, 1]), None);
        assert_eq!(distance(&[2, 9, 1, 1, 1, 2]), Some(1));
        assert_eq!(distance(&[1, 9, 9, 9, 2, 2, 9, 1]), Some(2));
    }

    #[test]
    fn terms_held_once_more_are_counted_among_all_and_shared() {
        let query = query(&[1]);
        let few = DocumentFeatures::from_terms_including_non_query(&[1, 5, 6], &query);
        let more = DocumentFeatures::from_terms_including_non_query(&[1, 5, 5, 7, 8, 8], &query);
        assert_eq!(
            few.count_terms_once_more_in(&more),
            OneMoreOccurrenceTermCounts {
                n_terms: 2,
                n_shared: 1
            }
        );
        assert_eq!(
            more.count_terms_once_more_in(&few),
            OneMoreOccurrenceTermCounts {
                n_terms: 1,
                n_shared: 0
            }
        );
    }
}
