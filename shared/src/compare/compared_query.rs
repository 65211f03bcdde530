//! One query in detail: the top document of each ranker, and a relevant document.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::input::RankerComparisonInput;
use super::query_list::{QueryWithPairedMetrics, query_with_metrics};
use super::query_metrics::{PairedQueryMetrics, ResolvedRankerComparisonOptions};
use super::{
    IncludedAndExcludedQueryCounts, QueryRelevanceRequirement, RankerComparisonOptions,
    top_fractions,
};
use crate::collection::Query;
use crate::error::Error;
use crate::study::instance_details::{HighlightedText, QueryTermInfo, TermHighlight};
use crate::study::sliced::{SliceSource, SlicedStudy};
use crate::study::top_documents::truncate_text_for_list;
use crate::text::Analyzer;

/// The maximum number of examples where the second ranker wins, and where the first does.
pub const MAX_EXAMPLES: usize = 3;

/// A query with the top document of each ranker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ComparedQueryWithTopDocuments {
    /// The query with its metrics.
    pub metrics: QueryWithPairedMetrics,
    /// The query as written, with its query terms highlighted.
    pub query: HighlightedText,
    /// The highlighted tokens: those of the query that are not stop words.
    pub terms: Vec<QueryTermInfo>,
    /// The top documents of the first and of the second ranker.
    pub top_docs: [ComparedDocument; 2],
    /// A relevant document with the highest grade whose text is available, other than these two.
    pub relevant: Option<ComparedDocument>,
}

/// A document of a compared query.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ComparedDocument {
    /// Its id.
    pub doc_id: String,
    /// The grade, if judged.
    pub grade: Option<i32>,
    /// Whether the grade is relevant.
    pub is_relevant: bool,
    /// The text with highlights; `None` if it is not available.
    pub text: Option<HighlightedText>,
    /// Whether the text is cut off.
    pub is_truncated: bool,
}

/// Returns queries where one ranker wins and the other loses, the largest differences first.
pub(super) fn queries_with_largest_differences(
    source: &RankerComparisonInput<'_>,
    asked: &ResolvedRankerComparisonOptions,
    rows: &[PairedQueryMetrics],
) -> Vec<ComparedQueryWithTopDocuments> {
    let apart = |sign: f64| {
        let lead =
            |it: &&PairedQueryMetrics| it.second_ranker_rr_gain().map_or(0.0, |it| it * sign);
        let mut found: Vec<&PairedQueryMetrics> = rows.iter().filter(|it| lead(it) > 0.0).collect();
        // The sort is stable, so that equal differences keep the order of the queries.
        found.sort_by(|a, b| lead(b).total_cmp(&lead(a)));
        found.truncate(MAX_EXAMPLES);
        found
    };
    let chosen = apart(1.0).into_iter().chain(apart(-1.0));
    chosen.map(|it| sample(source, asked, it)).collect()
}

/// Returns the query with an id.
pub fn compare_rankers_on_query(
    source: &RankerComparisonInput<'_>,
    asking: &RankerComparisonOptions,
    query: &str,
) -> Result<ComparedQueryWithTopDocuments, Error> {
    let unknown = || unknown_query(query);
    let wanted = source.queries.iter().position(|it| it.id == query);
    let wanted = wanted.ok_or_else(unknown)?;
    let asked = ResolvedRankerComparisonOptions {
        counted: QueryRelevanceRequirement::All,
        ..source.resolve_options(asking)?
    };
    let values = source.count_query_and_compute_metrics(
        &asked,
        wanted,
        &mut IncludedAndExcludedQueryCounts::default(),
    );
    Ok(sample(source, &asked, &values.ok_or_else(unknown)?))
}

fn unknown_query(id: &str) -> Error {
    Error::name_not_found("query ranked by both rankers", id)
}

impl<S: SliceSource> SlicedStudy<S> {
    /// Returns a query as [`compare_rankers_on_query`] does. Relevant documents that are not in the
    /// pool of the query are unknown.
    pub async fn compared_query(
        &self,
        options: &RankerComparisonOptions,
        query_id: &str,
    ) -> Result<ComparedQueryWithTopDocuments, Error> {
        let query = self.query_number(query_id).await?;
        let query = query.ok_or_else(|| unknown_query(query_id))?;
        let study = self.study_of_query(query).await?;
        let input = study.ranker_comparison_input(options)?;
        let mut found = compare_rankers_on_query(&input, options, query_id)?;
        found.metrics.metrics.query_no = query as u32;
        Ok(found)
    }
}

fn sample(
    source: &RankerComparisonInput<'_>,
    asked: &ResolvedRankerComparisonOptions,
    values: &PairedQueryMetrics,
) -> ComparedQueryWithTopDocuments {
    let query = source.queries[values.query_no as usize];
    let terms = terms(&asked.analyzer, query);
    let wanted: BTreeSet<String> =
        top_fractions::query_tokens_without_stop_words(&asked.analyzer, &query.text);
    let grades = source.qrels.0.get(&query.id);
    let top = |doc: &str| {
        let grade = grades.and_then(|it| it.get(doc).copied());
        let body = source.docs.get(doc).filter(|_| !source.has_withheld_texts);
        let body = body.map(|it| it.text_with_title());
        let shown = body.map(truncate_text_for_list);
        ComparedDocument {
            doc_id: doc.to_owned(),
            grade,
            is_relevant: grade.is_some_and(|it| it >= asked.min_relevant_grade),
            is_truncated: shown.zip(body).is_some_and(|it| it.0 != it.1),
            text: shown.map(|it| marked(&asked.analyzer, &terms, &wanted, it)),
        }
    };
    let lists = source.both_ranked_doc_id_lists(query).unwrap_or_default();
    let firsts = lists.map(|it| top(it.first().copied().unwrap_or_default()));
    let others = grades.into_iter().flatten().filter(|(doc, grade)| {
        let shown = firsts.iter().any(|it| it.doc_id == **doc);
        **grade >= asked.min_relevant_grade && !shown && source.docs.contains_key(doc.as_str())
    });
    let relevant = others.min_by_key(|it| Reverse(*it.1)).map(|it| top(it.0));
    ComparedQueryWithTopDocuments {
        metrics: query_with_metrics(query, values),
        query: marked(
            &asked.analyzer,
            &terms,
            &wanted,
            truncate_text_for_list(&query.text),
        ),
        top_docs: firsts,
        relevant,
        terms,
    }
}

/// Returns the tokens of a query that are not stop words, in order of first appearance. That order
/// replaces their rank by document frequency, which is not known here.
fn terms(analyzer: &Analyzer, query: &Query) -> Vec<QueryTermInfo> {
    let mut terms: Vec<QueryTermInfo> = Vec::new();
    for (term, span) in analyzer.terms_with_positions(truncate_text_for_list(&query.text)) {
        match terms.iter_mut().find(|it| it.term == term) {
            Some(it) => it.count += 1,
            None => terms.push(QueryTermInfo {
                surface_form: query.text[span.start as usize..span.end as usize].to_owned(),
                term,
                count: 1,
                df: 0,
                cf: 0,
                rarity_rank: terms.len() as u32,
            }),
        }
    }
    terms
}

fn marked(
    analyzer: &Analyzer,
    terms: &[QueryTermInfo],
    wanted: &BTreeSet<String>,
    text: &str,
) -> HighlightedText {
    let found = analyzer.terms_with_positions(text).into_iter();
    let marks = found.filter_map(|(term, span)| {
        wanted.get(&term)?;
        let place = terms.iter().position(|it| it.term == term)?;
        Some(TermHighlight {
            span,
            term_index: place as u32,
            is_nearest: false,
        })
    });
    HighlightedText {
        marks: marks.collect(),
        text: text.to_owned(),
        title_length: 0,
    }
}
