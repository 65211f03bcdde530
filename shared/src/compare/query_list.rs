//! The list of the queries behind a number or a bar.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::input::RankerComparisonInput;
use super::query_groups::{capped_query_length, query_token_fraction_bucket_index};
use super::query_metrics::PairedQueryMetrics;
use super::question_class::QuestionClass;
use super::{MAX_DEPTH, RankerComparisonOptions};
use crate::collection::Query;
use crate::error::Error;
use crate::study::instance_list::default_page_size;

/// The maximum number of rows of a page.
pub const MAX_ROWS: u64 = 200;

/// The maximum number of characters of a query in a list.
pub const MAX_QUERY_CHARACTERS: usize = 300;

/// The group of queries to list: all, an FQT bucket, a length, a change in RR, a question class, a
/// bigram.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case", tag = "group")]
pub enum ComparedQueryGroup {
    /// All queries that count.
    #[default]
    All,
    /// A bucket of one ranker's own FQT.
    FqtBucket {
        /// 0 for the first ranker, 1 for the second.
        side: u8,
        /// The bucket, counted from 0.
        bucket: u8,
    },
    /// A length: [`super::query_groups::QueryLengthGroup::n_tokens`].
    QueryLength {
        /// The length in tokens.
        n_tokens: u32,
    },
    /// A change in RR.
    RrChange {
        /// The kind of change.
        change: ReciprocalRankChangeKind,
    },
    /// A question class; `None` for queries without one.
    #[serde(alias = "answer-type")]
    QuestionClass {
        /// The question class.
        answer: Option<QuestionClass>,
    },
    /// Queries that begin with two tokens.
    Bigram {
        /// The two tokens: [`super::query_groups::OpeningBigramGroup::bigram`].
        words: String,
    },
    /// No common document in the top of both rankings.
    Disjoint {
        /// The depth, from 1 to [`MAX_DEPTH`].
        depth: u8,
    },
    /// Queries where one ranker has the higher fraction.
    HigherFraction {
        /// The kind of fraction.
        fraction: TopDocumentTermFraction,
        /// 0 for the first ranker, 1 for the second.
        side: u8,
    },
}

/// How RR changes from the first ranker to the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReciprocalRankChangeKind {
    /// From 0 to 1.
    ZeroToOne,
    /// It increases.
    Better,
    /// It is equal.
    Equal,
    /// It decreases.
    Worse,
    /// From 1 to 0.
    OneToZero,
}

impl ReciprocalRankChangeKind {
    /// All kinds, from the best for the second ranker.
    pub const ALL: &[ReciprocalRankChangeKind] = &[
        ReciprocalRankChangeKind::ZeroToOne,
        ReciprocalRankChangeKind::Better,
        ReciprocalRankChangeKind::Equal,
        ReciprocalRankChangeKind::Worse,
        ReciprocalRankChangeKind::OneToZero,
    ];

    fn holds(self, gain: f64) -> bool {
        match self {
            ReciprocalRankChangeKind::ZeroToOne => gain >= 1.0,
            ReciprocalRankChangeKind::Better => gain > 0.0,
            ReciprocalRankChangeKind::Equal => gain == 0.0,
            ReciprocalRankChangeKind::Worse => gain < 0.0,
            ReciprocalRankChangeKind::OneToZero => gain <= -1.0,
        }
    }
}

/// A fraction computed over the top documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TopDocumentTermFraction {
    /// The fraction of query tokens.
    QueryTokens,
    /// The fraction of novel terms.
    NovelTerms,
}

/// The options of a list of queries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ComparedQueryListOptions {
    /// The group of queries.
    #[serde(default)]
    pub selection: ComparedQueryGroup,
    /// The order of the list.
    #[serde(default)]
    pub sort: ComparedQuerySort,
    /// The number of rows to skip.
    #[serde(default)]
    pub offset: u64,
    /// The number of rows to return, at most [`MAX_ROWS`].
    #[serde(default = "default_page_size")]
    pub limit: u64,
}

impl ComparedQueryListOptions {
    /// The number of queries on a page of the list.
    pub const ROWS_AT_ONCE: u64 = 25;
}

impl Default for ComparedQueryListOptions {
    fn default() -> ComparedQueryListOptions {
        ComparedQueryListOptions {
            selection: ComparedQueryGroup::default(),
            sort: ComparedQuerySort::default(),
            offset: 0,
            limit: default_page_size(),
        }
    }
}

/// The order of a list of queries.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ComparedQuerySort {
    /// In the order of the collection.
    #[default]
    Query,
    /// By the gain of the second ranker, largest first.
    Gain,
    /// By the loss of the second ranker, largest first.
    Loss,
}

/// One page of a list of queries.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ComparedQueryPage {
    /// The number of queries in the group.
    pub n_queries: u64,
    /// The queries from [`ComparedQueryListOptions::offset`] on.
    pub rows: Vec<QueryWithPairedMetrics>,
}

/// A query with its metrics.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct QueryWithPairedMetrics {
    /// Its id.
    pub query_id: String,
    /// The query as written, or its beginning. It is user data: show it as text, never as HTML.
    pub query: String,
    /// The metrics of the query.
    pub metrics: PairedQueryMetrics,
}

pub(super) fn query_with_metrics(
    query: &Query,
    values: &PairedQueryMetrics,
) -> QueryWithPairedMetrics {
    QueryWithPairedMetrics {
        query_id: query.id.clone(),
        query: query.text.chars().take(MAX_QUERY_CHARACTERS).collect(),
        metrics: values.clone(),
    }
}

/// Returns one page of a list of queries.
pub fn list_compared_queries_page(
    source: &RankerComparisonInput<'_>,
    asking: &RankerComparisonOptions,
    listing: &ComparedQueryListOptions,
) -> Result<ComparedQueryPage, Error> {
    let (_, found) = source.metrics_of_included_queries(asking)?;
    let mut rows: Vec<&PairedQueryMetrics> = found
        .rows
        .iter()
        .filter(|it| holds(&listing.selection, it))
        .collect();
    // Queries without judgments come last in either order.
    let gain = |it: &PairedQueryMetrics, sign: f64| {
        it.second_ranker_rr_gain()
            .map_or(f64::NEG_INFINITY, |it| it * sign)
    };
    let sign = match listing.sort {
        ComparedQuerySort::Query => None,
        ComparedQuerySort::Gain => Some(1.0),
        ComparedQuerySort::Loss => Some(-1.0),
    };
    if let Some(sign) = sign {
        rows.sort_by(|a, b| gain(b, sign).total_cmp(&gain(a, sign)));
    }
    let wanted = rows
        .iter()
        .skip(usize::try_from(listing.offset).unwrap_or(usize::MAX))
        .take(listing.limit.min(MAX_ROWS) as usize);
    Ok(ComparedQueryPage {
        n_queries: rows.len() as u64,
        rows: wanted
            .map(|it| query_with_metrics(source.queries[it.query_no as usize], it))
            .collect(),
    })
}

/// Returns all queries that count, for a table of all of them.
pub fn list_all_compared_queries(
    source: &RankerComparisonInput<'_>,
    asking: &RankerComparisonOptions,
) -> Result<Vec<QueryWithPairedMetrics>, Error> {
    let (_, found) = source.metrics_of_included_queries(asking)?;
    let rows = found.rows.iter();
    Ok(rows
        .map(|it| query_with_metrics(source.queries[it.query_no as usize], it))
        .collect())
}

/// Returns whether a query belongs to the group.
fn holds(selection: &ComparedQueryGroup, values: &PairedQueryMetrics) -> bool {
    let judged = values.rr.is_some();
    let side = |it: u8| usize::from(it.min(1));
    match selection {
        ComparedQueryGroup::All => true,
        ComparedQueryGroup::FqtBucket { side: of, bucket } => {
            let fqt = values.fqt[side(*of)];
            judged
                && fqt
                    .is_some_and(|it| query_token_fraction_bucket_index(it) == usize::from(*bucket))
        }
        ComparedQueryGroup::QueryLength { n_tokens } => {
            judged && capped_query_length(values.n_tokens) == *n_tokens
        }
        ComparedQueryGroup::RrChange { change } => values
            .second_ranker_rr_gain()
            .is_some_and(|it| change.holds(it)),
        ComparedQueryGroup::QuestionClass { answer } => judged && values.question_class == *answer,
        ComparedQueryGroup::Bigram { words } => judged && values.bigram.as_ref() == Some(words),
        ComparedQueryGroup::Disjoint { depth } => {
            let depth = usize::from(*depth).clamp(1, MAX_DEPTH);
            values.n_shared_docs[depth - 1] == 0
        }
        ComparedQueryGroup::HigherFraction { fraction, side: of } => {
            let pair = match fraction {
                TopDocumentTermFraction::QueryTokens => values.query_token_fraction_pair(),
                TopDocumentTermFraction::NovelTerms => values.novel_term_fraction_pair(),
            };
            pair.is_some_and(|it| it[side(*of)] > it[1 - side(*of)])
        }
    }
}
