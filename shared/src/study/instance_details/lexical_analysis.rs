//! The lexical analysis of one query and its documents: terms, features, highlights, and what each
//! query term contributes to the scores.

use super::super::TermStatistics;
use super::HighlightedText;
use super::NonQueryWordsSimilarityToQuery;
use super::QueryTermInfo;
use super::TermHighlight;
use super::TermScoreContributions;
use crate::index::DocumentAndTermTotals;
use crate::index::term_statistics::DistinctQueryTerms;
use crate::index::term_statistics::distinct_query_terms_with_statistics;
use crate::probe::MiningThresholds;
use crate::probe::features::DocumentFeatures;
use crate::probe::features::NonQueryWordVectorFeatures;
use crate::probe::features::QueryPoolFeatures;
use crate::rank::LexicalRanker;
use crate::score::lexical;
use crate::text::Analyzer;
use crate::text::ByteSpan;
use crate::word_vectors::WordVectors;
use crate::word_vectors::for_each_term_token;
use crate::word_vectors::mean_and_nearest_query_similarity;
use crate::word_vectors::non_query_bag_of_words;
use crate::word_vectors::pairwise_query_term_similarities;
use crate::word_vectors::query_bag_of_word_vectors;
use crate::word_vectors::query_term_vector_rows;
use crate::word_vectors::text_words_by_query_similarity;
use std::collections::BTreeMap;

/// The number of words in [`NonQueryWordsSimilarityToQuery::nearest_words`].
const NEAREST: usize = 6;

/// A query and its documents, analyzed and counted.
pub(in crate::study) struct InstanceLexicalAnalysis<'a> {
    query: (&'a str, Vec<(String, ByteSpan)>),
    bodies: Vec<(&'a str, Vec<(String, ByteSpan)>)>,
    /// The distinct terms of the query, in the order of their first occurrence.
    pub(in crate::study) terms: DistinctQueryTerms,
    /// The features of each document.
    pub(in crate::study) features: Vec<DocumentFeatures>,
    /// The similarity of each query term to each other one.
    alike: Vec<f64>,
}

impl<'a> InstanceLexicalAnalysis<'a> {
    pub(in crate::study) fn new(
        analyzer: &Analyzer,
        query: &'a str,
        bodies: &'a [String],
        stats: &BTreeMap<String, TermStatistics>,
        vectors: Option<&WordVectors>,
    ) -> InstanceLexicalAnalysis<'a> {
        let analysed = |text: &'a str| (text, analyzer.terms_with_positions(text));
        let query = analysed(query);
        let bodies: Vec<_> = bodies.iter().map(|it| analysed(it)).collect();
        // Terms are numbered in the order of first appearance, the query first.
        let mut numbers: BTreeMap<&str, u32> = BTreeMap::new();
        for (term, _) in query.1.iter().chain(bodies.iter().flat_map(|it| &it.1)) {
            let next = numbers.len() as u32;
            numbers.entry(term).or_insert(next);
        }
        let terms = distinct_query_terms_with_statistics(analyzer, query.0, |term| {
            let stats = stats.get(term).copied().unwrap_or_default();
            (numbers.get(term).copied(), stats.df, stats.cf)
        });
        let meaning = vectors.map(|it| (it, query_bag_of_word_vectors(it, analyzer, query.0)));
        let asked = vectors.map(|it| query_term_vector_rows(it, analyzer, query.0, &terms));
        let count = |body: &(&str, Vec<(String, ByteSpan)>)| {
            let found: Vec<u32> = body.1.iter().map(|it| numbers[it.0.as_str()]).collect();
            let mut counted = DocumentFeatures::from_terms_including_non_query(&found, &terms);
            counted.record_query_term_positions(&found, &terms);
            counted.semantics = meaning.as_ref().map(|(vectors, bag)| {
                let mut words = Vec::new();
                for_each_term_token(analyzer, body.0, |token, term| {
                    words.push((numbers[term], vectors.row_of_word(token)));
                });
                let rest = non_query_bag_of_words(vectors, analyzer, body.0, &terms);
                let mut meaning =
                    NonQueryWordVectorFeatures::from_document_and_query_bags(rest, bag);
                let words = words.into_iter();
                meaning.word_similarities = asked
                    .as_ref()
                    .map(|it| mean_and_nearest_query_similarity(vectors, it, &terms, words));
                meaning
            });
            counted
        };
        let counted = bodies.iter().map(count).collect();
        let alike = match (vectors, &asked) {
            (Some(vectors), Some(asked)) => pairwise_query_term_similarities(vectors, asked),
            _ => Vec::new(),
        };
        InstanceLexicalAnalysis {
            alike,
            query,
            bodies,
            terms,
            features: counted,
        }
    }

    /// Returns the query context for some of the documents, as an axiom needs it.
    pub(in crate::study) fn query_pool_features<'b>(
        &'b self,
        limits: &'b MiningThresholds,
        totals: DocumentAndTermTotals,
        pool: &'b [DocumentFeatures],
    ) -> QueryPoolFeatures<'b> {
        QueryPoolFeatures {
            query: &self.terms,
            pool,
            limits,
            totals,
            term_similarities: &self.alike,
        }
    }

    /// Returns the similarity of the words of a document to the query.
    pub(in crate::study) fn query_similarity_of_other_words(
        &self,
        analyzer: &Analyzer,
        vectors: &WordVectors,
        at: usize,
    ) -> Option<NonQueryWordsSimilarityToQuery> {
        let NonQueryWordVectorFeatures {
            other_words: rest,
            query_similarity: to_query,
            ..
        } = self.features[at].semantics.as_ref()?;
        let asked = query_bag_of_word_vectors(vectors, analyzer, self.query.0);
        let text = self.bodies[at].0;
        let mut nearest =
            text_words_by_query_similarity(vectors, analyzer, text, &self.terms, &asked);
        nearest.truncate(NEAREST);
        Some(NonQueryWordsSimilarityToQuery {
            cosine: *to_query,
            n_with_vector: rest.n_with_vector,
            n_words: rest.n_words,
            nearest_words: nearest,
        })
    }

    /// Returns the query with its highlights.
    pub(in crate::study) fn highlighted_query(&self) -> HighlightedText {
        self.mark(&self.query, None)
    }

    /// Returns the documents with their highlights.
    pub(in crate::study) fn highlighted_documents(
        &self,
    ) -> impl Iterator<Item = HighlightedText> + '_ {
        self.bodies
            .iter()
            .zip(&self.features)
            .map(|(body, it)| self.mark(body, it.nearest_positions))
    }

    /// Returns the distinct query terms with their statistics in the collection.
    pub(in crate::study) fn query_term_infos(&self) -> Vec<QueryTermInfo> {
        let mut by_df: Vec<usize> = (0..self.terms.len()).collect();
        by_df.sort_by_key(|&it| self.terms[it].df);
        let written = |term: &str| {
            let first = self.query.1.iter().find(|it| it.0 == term);
            let span = first.map_or(ByteSpan { start: 0, end: 0 }, |it| it.1);
            self.query.0[span.start as usize..span.end as usize].to_owned()
        };
        self.terms
            .iter()
            .enumerate()
            .map(|(place, it)| QueryTermInfo {
                term: it.term.clone(),
                surface_form: written(&it.term),
                count: it.count,
                df: it.df,
                cf: it.cf,
                rarity_rank: by_df.iter().position(|&at| at == place).unwrap_or(0) as u32,
            })
            .collect()
    }

    /// Returns the contribution of each query term to the score of each document.
    pub(in crate::study) fn term_score_contributions(
        &self,
        ranker: &LexicalRanker,
        totals: &DocumentAndTermTotals,
    ) -> TermScoreContributions {
        let weighed = ranker.prepare_query_scorer(&self.terms, totals);
        let terms = (0..self.terms.len()).map(|term| {
            let texts = self.features.iter();
            texts
                .map(|it| weighed.occurrence_contribution(term, it.term_counts[term], it.n_terms))
                .collect()
        });
        TermScoreContributions {
            ranker: lexical::lexical_ranker_info(ranker),
            terms: terms.collect(),
            length: self
                .features
                .iter()
                .map(|it| weighed.length_contribution(it.n_terms))
                .collect(),
            background: weighed.background_contribution(),
            scores: self
                .features
                .iter()
                .map(|it| weighed.score(&it.term_counts, it.n_terms))
                .collect(),
        }
    }

    fn mark(
        &self,
        body: &(&str, Vec<(String, ByteSpan)>),
        nearest: Option<(u32, u32)>,
    ) -> HighlightedText {
        let is_near =
            |position: usize| nearest.is_some_and(|(a, b)| [a, b].contains(&(position as u32)));
        let marks = body
            .1
            .iter()
            .enumerate()
            .filter_map(|(position, (term, span))| {
                let place = self.terms.iter().position(|it| it.term == *term)?;
                Some(TermHighlight {
                    span: *span,
                    term_index: place as u32,
                    is_nearest: is_near(position),
                })
            });
        HighlightedText {
            text: body.0.to_owned(),
            marks: marks.collect(),
            title_length: 0,
        }
    }
}
