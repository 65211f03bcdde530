//! The metrics of each query, on which all groups and means are based.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::input::RankerComparisonInput;
use super::question_class::{QuestionClass, classify_question};
use super::{
    IncludedAndExcludedQueryCounts, MAX_DEPTH, QueryRelevanceRequirement, RankerComparisonOptions,
    top_fractions,
};
use crate::collection::Query;
use crate::effectiveness::sort_like_trec_eval;
use crate::error::Error;
use crate::text::{Analyzer, Stemmer, Stopwords};

/// The metrics of one query for two rankers; values of the first ranker come first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PairedQueryMetrics {
    /// The position of the query in the collection.
    pub query_no: u32,
    /// The number of tokens of the query, separated by white space.
    pub n_tokens: u32,
    /// RR@10 of each ranker; `None` if no judged document is relevant.
    pub rr: Option<[f64; 2]>,
    /// FQT of each ranker, see [`top_fractions`]; `None` if no token is left in the query or the
    /// documents.
    pub fqt: [Option<f64>; 2],
    /// FNT of each ranker, see [`top_fractions`].
    pub fnt: [Option<f64>; 2],
    /// For each depth i from 1 to [`MAX_DEPTH`] the number of documents in the top i of both
    /// rankers.
    pub n_shared_docs: [u8; MAX_DEPTH],
    /// The question class, if a rule finds one.
    pub question_class: Option<QuestionClass>,
    /// The first two tokens; `None` for a shorter query.
    pub bigram: Option<String>,
}

impl PairedQueryMetrics {
    /// Returns RR@10 of the second ranker minus that of the first.
    pub fn second_ranker_rr_gain(&self) -> Option<f64> {
        self.rr.map(|it| it[1] - it[0])
    }

    /// Returns FQT if both rankers have one.
    pub fn query_token_fraction_pair(&self) -> Option<[f64; 2]> {
        Some([self.fqt[0]?, self.fqt[1]?])
    }

    /// Returns FNT if both rankers have one.
    pub fn novel_term_fraction_pair(&self) -> Option<[f64; 2]> {
        Some([self.fnt[0]?, self.fnt[1]?])
    }
}

/// The metrics of the queries that count.
pub(crate) struct MetricsOfIncludedQueries {
    pub(crate) query_counts: IncludedAndExcludedQueryCounts,
    pub(crate) rows: Vec<PairedQueryMetrics>,
}

/// The options of a comparison, with defaults resolved from the collection.
pub(crate) struct ResolvedRankerComparisonOptions {
    pub(crate) counted: QueryRelevanceRequirement,
    pub(crate) min_relevant_grade: i32,
    pub(crate) analyzer: Analyzer,
}

impl RankerComparisonInput<'_> {
    /// Computes the metrics of every query that counts.
    pub(crate) fn metrics_of_included_queries(
        &self,
        asking: &RankerComparisonOptions,
    ) -> Result<(ResolvedRankerComparisonOptions, MetricsOfIncludedQueries), Error> {
        let asked = self.resolve_options(asking)?;
        let mut queries = IncludedAndExcludedQueryCounts::default();
        let places = self.queries.iter().enumerate().filter(|(_, query)| {
            let split = asking.split.as_ref();
            split.is_none_or(|it| query.split.as_ref() == Some(it))
        });
        let rows = places.filter_map(|(place, _)| {
            self.count_query_and_compute_metrics(&asked, place, &mut queries)
        });
        let rows = rows.collect();
        Ok((
            asked,
            MetricsOfIncludedQueries {
                query_counts: queries,
                rows,
            },
        ))
    }

    /// Computes the metrics of one query, if it counts; adds it to the counts of `queries` in any
    /// case.
    pub(crate) fn count_query_and_compute_metrics(
        &self,
        asked: &ResolvedRankerComparisonOptions,
        place: usize,
        queries: &mut IncludedAndExcludedQueryCounts,
    ) -> Option<PairedQueryMetrics> {
        let query = self.queries[place];
        queries.n_queries += 1;
        let Some(lists) = self.both_ranked_doc_id_lists(query) else {
            queries.n_unranked += 1;
            return None;
        };
        let grades = self.qrels.0.get(&query.id);
        let from = asked.min_relevant_grade;
        let is_relevant = |doc: &str| {
            grades
                .and_then(|it| it.get(doc))
                .is_some_and(|it| *it >= from)
        };
        let judged = grades.is_some_and(|it| it.values().any(|it| *it >= from));
        let counts = match asked.counted {
            QueryRelevanceRequirement::WithRelevant => judged,
            QueryRelevanceRequirement::WithRetrievedRelevant => {
                lists.iter().flatten().any(|it| is_relevant(it))
            }
            QueryRelevanceRequirement::All => true,
        };
        if !counts {
            queries.n_without_relevant += 1;
            return None;
        }
        queries.n_included += 1;
        queries.n_with_relevant += u64::from(judged);
        let tops = lists.map(|mut it| {
            it.truncate(MAX_DEPTH);
            it
        });
        queries.n_docs_without_text += self.n_without_text(&tops);
        let fractions = self.fractions(&asked.analyzer, query, &tops);
        let rr = |side: usize| reciprocal_rank(&tops[side], is_relevant);
        Some(PairedQueryMetrics {
            query_no: place as u32,
            rr: judged.then(|| [rr(0), rr(1)]),
            fqt: fractions.map(|it| it.map(|it| it[0])),
            fnt: fractions.map(|it| it.map(|it| it[1])),
            n_shared_docs: matches(&tops),
            ..of_words(&query.text)
        })
    }

    /// Resolves options that were left open; returns an error for a split without queries.
    pub(crate) fn resolve_options(
        &self,
        asking: &RankerComparisonOptions,
    ) -> Result<ResolvedRankerComparisonOptions, Error> {
        if let Some(split) = &asking.split {
            let mut known = self.queries.iter().filter_map(|it| it.split.as_ref());
            if !known.any(|it| it == split) {
                return Err(Error::name_not_found("split of these queries", split));
            }
        }
        let grades = self.qrels.0.values().flat_map(BTreeMap::values);
        let usual = grades.max().map_or(1, |&it| it.clamp(1, 2));
        let stopwords = match &asking.stopwords {
            Stopwords::List(words) => {
                let mut words = words.clone();
                words.sort_unstable();
                Stopwords::List(words)
            }
            other => other.clone(),
        };
        Ok(ResolvedRankerComparisonOptions {
            counted: asking.subset,
            min_relevant_grade: asking.min_relevant_grade.unwrap_or(usual),
            analyzer: Analyzer {
                tokenizer: self.tokenizer.clone(),
                stopwords,
                stemmer: Stemmer::None,
                max_tokens: None,
            },
        })
    }

    /// Returns the documents of both rankings, best first; `None` if one is missing.
    pub(crate) fn both_ranked_doc_id_lists(&self, query: &Query) -> Option<[Vec<&str>; 2]> {
        let list = |of: usize| {
            let rows = self.runs[of].0.get(&query.id)?;
            (!rows.is_empty()).then(|| sort_like_trec_eval(rows))
        };
        Some([list(0)?, list(1)?])
    }

    fn n_without_text(&self, tops: &[Vec<&str>; 2]) -> u64 {
        let docs = tops.iter().flatten();
        docs.filter(|it| !self.docs.contains_key(**it)).count() as u64
    }

    /// Returns FQT and FNT of each ranker.
    fn fractions(
        &self,
        analyzer: &Analyzer,
        query: &Query,
        tops: &[Vec<&str>; 2],
    ) -> [Option<[f64; 2]>; 2] {
        let asked = top_fractions::query_tokens_without_stop_words(analyzer, &query.text);
        [&tops[0], &tops[1]].map(|top| {
            let docs = top.iter().filter_map(|it| self.docs.get(it));
            let bodies = docs.map(|it| it.text_with_title());
            top_fractions::mean_query_and_novel_fractions(analyzer, &asked, bodies)
        })
    }
}

/// Returns the reciprocal rank of the first relevant document, 0 if none is in `top`.
fn reciprocal_rank(top: &[&str], is_relevant: impl Fn(&str) -> bool) -> f64 {
    let first = top.iter().position(|it| is_relevant(it));
    first.map_or(0.0, |it| 1.0 / (it + 1) as f64)
}

/// Returns `|top-i(first) ∩ top-i(second)|` for each i.
fn matches(tops: &[Vec<&str>; 2]) -> [u8; MAX_DEPTH] {
    let mut found = [0; MAX_DEPTH];
    for (at, n) in found.iter_mut().enumerate() {
        let [first, second] = [&tops[0], &tops[1]].map(|it| &it[..it.len().min(at + 1)]);
        *n = first.iter().filter(|it| second.contains(it)).count() as u8;
    }
    found
}

/// Returns the metrics that depend only on the words of the query.
fn of_words(text: &str) -> PairedQueryMetrics {
    let trimmed = |it: &str| {
        it.trim_matches(|it: char| !it.is_alphanumeric())
            .to_lowercase()
    };
    let mut words = text.split_whitespace();
    let first = [words.next(), words.next()];
    let bigram = match first {
        [Some(a), Some(b)] => Some(format!("{} {}", trimmed(a), trimmed(b))),
        _ => None,
    };
    PairedQueryMetrics {
        n_tokens: text.split_whitespace().count() as u32,
        question_class: classify_question(text),
        bigram,
        ..PairedQueryMetrics::default()
    }
}
