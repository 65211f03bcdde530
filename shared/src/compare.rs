//! Compares two rankers: what their top documents contain, on which queries one wins and the other
//! loses, and whether four hypotheses on lexical and neural rankers hold.
//!
//! After Padigela, Zamani and Croft (Investigating the Successes and Failures of BERT for Passage
//! Re-Ranking, 2019), who compare BM25, the first ranker here, with BERT, the second. Any two
//! rankers of a study can be compared, by their order of the pool, and any two runs over a
//! collection. Our choices where the paper leaves them open or cannot be followed:
//!
//! - A ranking is ordered by score, as in [`crate::effectiveness`], which also computes RR@10.
//! - Tokens are those of an analyzer without stemming; stop words are left out of documents and
//!   queries alike. See [`top_fractions`].
//! - A document without a text, or without remaining tokens, has no fraction and is skipped; in FQT
//!   and FNT so is a query without remaining tokens.
//! - [`QueryRelevanceRequirement`] selects the queries that count.
//! - Every mean has a 95 % percentile bootstrap interval with queries as units
//!   ([`crate::stats::bootstrap`]).

pub mod question_class;
pub mod top_fractions;
pub mod query_metrics;
pub mod query_groups;
pub mod paired_means;
pub mod hypotheses;
pub mod compared_query;
pub mod query_list;
mod input;
#[cfg(test)]
pub(crate) mod fixture;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::error::{Error, serialize_as_text};
use crate::score::{RankerInfo, disambiguate_labels};
use crate::study::Study;
use crate::study::overview::{QuerySplitSize, count_queries_of_first_splits};
use crate::text::Stopwords;
use compared_query::ComparedQueryWithTopDocuments;
use hypotheses::HypothesisResult;
use paired_means::{PairedMetricMeans, ReciprocalRankDifferenceSummary};
use query_groups::{
    OpeningBigramGroup, QueryLengthGroup, QueryTokenFractionBucket, QuestionClassGroup,
    TopDocumentOverlap,
};
use query_metrics::PairedQueryMetrics;

pub use input::{RankerComparisonInput, ranker_info_of_run, selectable_ranker_from_run};

/// The maximum number of ranks that count in FQT, FNT, RR and MUR.
pub const MAX_DEPTH: usize = 10;

/// A reference to a ranker of a comparison, written as its slug or as `run:NAME`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum RankerRef {
    /// A ranker of a study, by its slug, or by its row as text.
    Ranker(String),
    /// A run, by the name of its file; only on the Workbench.
    Run(String),
}

impl fmt::Display for RankerRef {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RankerRef::Ranker(slug) => out.write_str(slug),
            RankerRef::Run(name) => write!(out, "run:{name}"),
        }
    }
}

impl FromStr for RankerRef {
    type Err = Error;

    fn from_str(text: &str) -> Result<RankerRef, Error> {
        Ok(match text.strip_prefix("run:") {
            Some(name) => RankerRef::Run(name.to_owned()),
            None => RankerRef::Ranker(text.to_owned()),
        })
    }
}

serialize_as_text!(RankerRef);

/// The relevant document that a query needs to count, among the queries that both rankers have
/// ranked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum QueryRelevanceRequirement {
    /// Queries with a document that was judged relevant, whether or not it was found.
    #[default]
    WithRelevant,
    /// Queries with a relevant document among the candidates: in the ranking of either ranker, at
    /// any rank. The paper uses these; 1,242 of its 6,980 queries have none.
    WithRetrievedRelevant,
    /// All queries. Values that need judgments count only those that have them.
    All,
}

/// The options of a comparison of two rankers: the pair, the queries, the relevance threshold, the
/// stop list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RankerComparisonOptions {
    /// The first ranker, BM25 in the paper, and the second.
    #[serde(default = "first_two")]
    pub rankers: [RankerRef; 2],
    /// The queries that count.
    #[serde(default)]
    pub subset: QueryRelevanceRequirement,
    /// The lowest grade that counts as relevant; `None` takes 2 where there are such grades, else
    /// 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_relevant_grade: Option<i32>,
    /// The stop words, which are removed from documents and queries.
    #[serde(default = "function_words")]
    pub stopwords: Stopwords,
    /// Only queries of this split; none takes all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split: Option<String>,
}

fn first_two() -> [RankerRef; 2] {
    ["0", "1"].map(|row| RankerRef::Ranker(row.to_owned()))
}

fn function_words() -> Stopwords {
    Stopwords::EnFunction
}

impl Default for RankerComparisonOptions {
    fn default() -> RankerComparisonOptions {
        RankerComparisonOptions {
            rankers: first_two(),
            subset: QueryRelevanceRequirement::default(),
            min_relevant_grade: None,
            stopwords: function_words(),
            split: None,
        }
    }
}

/// A ranker that can be chosen for a comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SelectableRanker {
    /// The reference to the ranker.
    pub ranker: RankerRef,
    /// The label shown to readers.
    pub label: String,
    /// Details shown to readers: parameters, or the number of queries.
    pub detail: String,
}

/// The number of queries that count, and why the others do not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct IncludedAndExcludedQueryCounts {
    /// Queries of the collection, or of the split.
    pub n_queries: u64,
    /// Queries that not both rankers have ranked.
    pub n_unranked: u64,
    /// Other queries without the relevant document that [`RankerComparisonOptions::subset`]
    /// requires.
    pub n_without_relevant: u64,
    /// Queries that count.
    pub n_included: u64,
    /// Of these, queries with a document judged relevant.
    pub n_with_relevant: u64,
    /// Documents among the first [`MAX_DEPTH`] of either ranking whose text is not available.
    pub n_docs_without_text: u64,
}

/// The comparison of two rankers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RankerComparison {
    /// The name of the study or of the collection.
    pub name: String,
    /// The title, as shown to readers.
    pub title: String,
    /// The hash of the instances of the study, or of the collection.
    pub content_hash: String,
    /// The options of the comparison, with the slugs of the rankers.
    pub options: RankerComparisonOptions,
    /// The lowest grade that counts as relevant.
    pub min_relevant_grade: i32,
    /// The description of the analyzer: [`crate::text::Analyzer::describe`].
    pub analyzer: String,
    /// Whether texts are withheld; then everything that needs them is empty.
    pub has_withheld_texts: bool,
    /// The rankers that can be compared.
    pub ranker_options: Vec<SelectableRanker>,
    /// The first and the second ranker; if their labels are equal, their details are added.
    pub rankers: [RankerInfo; 2],
    /// For each ranker the number of pooled documents without a score, which are missing from its
    /// rankings.
    pub n_unscored: [u64; 2],
    /// The splits of the queries.
    pub splits: Vec<QuerySplitSize>,
    /// The number of queries that count.
    pub query_counts: IncludedAndExcludedQueryCounts,
    /// The comparison of RR@10.
    pub reciprocal_rank: PairedMetricMeans,
    /// The comparison of the fraction of query tokens in the top documents.
    pub fraction_query_tokens: PairedMetricMeans,
    /// The comparison of the fraction of novel terms in the top documents.
    pub fraction_novel_terms: PairedMetricMeans,
    /// RR by FQT, each ranker with its own FQT: the paper's table 2.
    pub fqt_buckets: Vec<QueryTokenFractionBucket>,
    /// RR by query length: the paper's table 3.
    pub query_lengths: Vec<QueryLengthGroup>,
    /// The difference in RR, query by query: the paper's figure 1.
    pub rr_changes: ReciprocalRankDifferenceSummary,
    /// The number of common top documents: the paper's table 4.
    pub top_overlap: TopDocumentOverlap,
    /// RR by question class: the paper's table 6.
    pub question_classes: Vec<QuestionClassGroup>,
    /// RR by the first two tokens of the query: the paper's figure 2.
    pub bigrams: Vec<OpeningBigramGroup>,
    /// The outcomes of the hypotheses.
    pub hypotheses: Vec<HypothesisResult>,
    /// Queries where one ranker wins and the other loses: the paper's table 5.
    pub examples: Vec<ComparedQueryWithTopDocuments>,
}

impl Study {
    /// Compares two rankers of the study by their order of the pools.
    pub fn compare_rankers(
        &self,
        asking: &RankerComparisonOptions,
    ) -> Result<RankerComparison, Error> {
        let mut found = compare_rankers(&self.ranker_comparison_input(asking)?, asking)?;
        let slugs = self.ranker_slugs();
        for it in &mut found.options.rankers {
            if let RankerRef::Ranker(name) = it {
                *name = slugs[self.parse_ranker_row_index(name)?].clone();
            }
        }
        Ok(found)
    }
}

/// Compares two rankers query by query: reciprocal rank, query-token statistics, query groups and
/// hypotheses. Returns an error if the options do not fit the input.
pub fn compare_rankers(
    source: &RankerComparisonInput<'_>,
    asking: &RankerComparisonOptions,
) -> Result<RankerComparison, Error> {
    let (asked, values) = source.metrics_of_included_queries(asking)?;
    let rows: &[PairedQueryMetrics] = &values.rows;
    let fqt =
        paired_means::compute_paired_means_and_tests(rows, |it| it.query_token_fraction_pair());
    let fnt =
        paired_means::compute_paired_means_and_tests(rows, |it| it.novel_term_fraction_pair());
    let change = paired_means::summarize_reciprocal_rank_changes(rows);
    let buckets = query_groups::mrr_by_query_token_fraction(rows);
    let lengths = query_groups::mrr_by_query_length(rows);
    let findings = hypotheses::evaluate_hypotheses(rows, [&fqt, &fnt]);
    let mut rankers = source.rankers.clone();
    disambiguate_labels(&mut rankers);
    Ok(RankerComparison {
        name: source.name.clone(),
        title: source.title.clone(),
        content_hash: source.content_hash.clone(),
        options: asking.clone(),
        min_relevant_grade: asked.min_relevant_grade,
        analyzer: asked.analyzer.describe(),
        has_withheld_texts: source.has_withheld_texts,
        ranker_options: source.choices.clone(),
        rankers,
        n_unscored: source.n_unscored,
        splits: count_queries_of_first_splits(source.queries.iter().copied()),
        query_counts: values.query_counts,
        reciprocal_rank: paired_means::compute_paired_means_and_tests(rows, |it| it.rr),
        fraction_query_tokens: fqt,
        fraction_novel_terms: fnt,
        fqt_buckets: buckets,
        query_lengths: lengths,
        rr_changes: change,
        top_overlap: query_groups::compute_top_document_overlap(rows),
        question_classes: query_groups::mrr_by_question_class(rows),
        bigrams: query_groups::mrr_by_opening_bigram(rows),
        hypotheses: findings,
        examples: compared_query::queries_with_largest_differences(source, &asked, rows),
    })
}

#[cfg(test)]
mod tests;
