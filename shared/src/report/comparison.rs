//! The comparison of two rankers as tables.

mod groups;

use super::{ReportTable, TableColumnKind, TableValue, format};
use crate::compare::compared_query::{ComparedDocument, ComparedQueryWithTopDocuments};
use crate::compare::hypotheses::{HypothesisOutcome, HypothesisResult, PadigelaHypothesis};
use crate::compare::paired_means::PairedMetricMeans;
use crate::compare::query_groups::{MAX_QUERY_LENGTH, QueryLengthGroup, QueryTokenFractionBucket};
use crate::compare::query_list::{QueryWithPairedMetrics, ReciprocalRankChangeKind};
use crate::compare::question_class::QuestionClass;
use crate::compare::{MAX_DEPTH, QueryRelevanceRequirement, RankerComparison};
use crate::score::RankerInfo;
use crate::stats::EstimateWithInterval;
use crate::study::figures::effectiveness::SIGNIFICANCE_LEVEL;

/// Returns the tables, in the order of the page:
///
/// - `hypotheses`: the four of the paper, each with its number and outcome,
/// - `fractions`: RR, FQT and FNT of both with the paired tests,
/// - `buckets`, `lengths`: mean RR over queries by FQT and by length,
/// - `change`: the number of queries on which each ranker is better,
/// - `overlap`: the number of documents shared in the top i,
/// - `answers`, `bigrams`: mean RR over queries by question class and by first words,
/// - `samples`: queries where one ranker wins and the other loses.
pub fn ranker_comparison_tables(found: &RankerComparison) -> Vec<ReportTable> {
    vec![
        hypotheses(found),
        fractions(found),
        groups::mrr_by_fqt_table(found),
        groups::mrr_by_query_length_table(found),
        groups::rr_change_count_table(found),
        groups::top_overlap_table(found),
        groups::mrr_by_question_class_table(found),
        groups::mrr_by_first_bigram_table(found),
        won_and_lost_queries_table(found),
    ]
}

/// Returns the queries where one ranker wins and the other loses, with the top document of each.
pub fn won_and_lost_queries_table(found: &RankerComparison) -> ReportTable {
    let rankers = names(found);
    let mut table = head(
        found,
        "samples",
        "queries on which one wins and the other loses",
    )
    .add_text_columns("query id | query")
    .with_more_columns_of_kind(
        TableColumnKind::Number,
        rankers.map(|it| format!("RR@10 {it}")),
    )
    .with_more_columns_of_kind(
        TableColumnKind::Text,
        rankers.map(|it| format!("top document of {it}")),
    );
    let top = |it: &ComparedDocument| {
        let grade = it
            .grade
            .map_or("not judged".to_owned(), |it| format!("grade {it}"));
        text(format!("{} ({grade})", it.doc_id))
    };
    let row = |it: &ComparedQueryWithTopDocuments| {
        let rr = it.metrics.metrics.rr.map_or([None; 2], |it| it.map(Some));
        let mut cells = vec![text(&it.metrics.query_id), text(&it.metrics.query)];
        cells.extend(rr.map(|it| it.map_or(TableValue::Missing, TableValue::Fraction)));
        cells.extend(it.top_docs.iter().map(top));
        cells
    };
    table.rows = found.examples.iter().map(row).collect();
    table
}

/// Returns a sentence on which rankers are compared over which queries.
pub fn compared_rankers_sentence(found: &RankerComparison) -> String {
    let queries = &found.query_counts;
    let counted = match found.options.subset {
        QueryRelevanceRequirement::WithRelevant => "with a relevant document",
        QueryRelevanceRequirement::WithRetrievedRelevant => {
            "with a relevant candidate of either ranker"
        }
        QueryRelevanceRequirement::All => "ranked by both",
    };
    let who = |it: &RankerInfo| format!("{} ({})", it.label, it.spec);
    format!(
        "{} against {}: {} of {} queries ({counted}); a document of grade {} or higher is \
         relevant.",
        who(&found.rankers[0]),
        who(&found.rankers[1]),
        format::format_count(queries.n_included),
        format::format_count(queries.n_queries),
        found.min_relevant_grade
    )
}

/// Returns a sentence on which ranker has the higher RR@10, and whether chance explains it; none if
/// no query has a relevant document.
pub fn rr_difference_sentence(found: &RankerComparison) -> Option<String> {
    let rr = &found.reciprocal_rank;
    let ([Some(first), Some(second)], Some(difference)) = (rr.means, rr.difference) else {
        return None;
    };
    let p = rr.p_randomization?;
    let mut sides = [(names(found)[0], first), (names(found)[1], second)];
    let mut lead = difference;
    if difference.value < 0.0 {
        sides.reverse();
        let [low, high] = difference.interval;
        lead = EstimateWithInterval {
            value: -difference.value,
            interval: [-high, -low],
        };
    }
    let [(better, its), (other, theirs)] = sides;
    let [its, theirs] = [its, theirs].map(|it| format::format_two_digit_fraction(it.value));
    let said = match p < SIGNIFICANCE_LEVEL {
        true => format!("{better} is better than {other}: RR@10 {its} against {theirs}"),
        false => format!(
            "Neither ranker is shown to be better: RR@10 {its} of {better}, {theirs} of {other}"
        ),
    };
    let elsewhere = match found.min_relevant_grade {
        1 => "",
        _ => "; the other pages of the study count grade 1",
    };
    Some(format!(
        "{said}, difference {} over {} queries, {} (paired randomization test). A document of \
         grade {} or higher is relevant{elsewhere}.",
        format::format_signed_estimate(&lead),
        format::format_count(rr.n_queries),
        format::format_named_p_value(p),
        found.min_relevant_grade
    ))
}

/// Returns a table of every query of a comparison with its metrics.
pub fn compared_query_table(
    found: &RankerComparison,
    rows: &[QueryWithPairedMetrics],
) -> ReportTable {
    let measures = ["RR@10", "FQT", "FNT"].into_iter();
    let measures = measures.flat_map(|measure| names(found).map(|it| format!("{measure} {it}")));
    let mut table = head(found, "queries", "all queries")
        .add_text_columns("query id | query")
        .add_number_columns("tokens")
        .add_text_columns("question class")
        .with_more_columns_of_kind(TableColumnKind::Number, measures)
        .add_number_columns("shared in top 10");
    let both =
        |it: [Option<f64>; 2]| it.map(|it| it.map_or(TableValue::Missing, TableValue::Fraction));
    table.rows = rows
        .iter()
        .map(|row| {
            let values = &row.metrics;
            let mut cells = vec![
                text(&row.query_id),
                text(&row.query),
                TableValue::Count(u64::from(values.n_tokens)),
                text(question_class_label(values.question_class)),
            ];
            let rr = values.rr.map_or([None; 2], |it| it.map(Some));
            cells.extend([rr, values.fqt, values.fnt].into_iter().flat_map(both));
            cells.push(TableValue::Count(u64::from(
                values.n_shared_docs[MAX_DEPTH - 1],
            )));
            cells
        })
        .collect();
    table
}

/// Returns a table of the difference in RR of each query, the highest first.
pub fn rr_difference_table(found: &RankerComparison) -> ReportTable {
    let mut table = head(found, "series", "difference in RR@10, query by query")
        .add_number_columns("position | ΔRR@10");
    let series = found.rr_changes.differences.iter().zip(1..);
    table.rows = series
        .map(|(gain, place)| vec![TableValue::Count(place), TableValue::Difference(*gain)])
        .collect();
    table
}

/// Returns a hypothesis in words, with the names of the two rankers.
pub fn hypothesis_statement(hypothesis: PadigelaHypothesis, [first, second]: [&str; 2]) -> String {
    match hypothesis {
        PadigelaHypothesis::QueryTermBias => {
            format!("{first} has more query tokens in its top 10 than {second}")
        }
        PadigelaHypothesis::QueryTermBiasHurts => {
            format!("the more query tokens {first} has in its top 10, the lower its RR@10")
        }
        PadigelaHypothesis::MoreNovelTerms => {
            format!("{second} has more novel terms in its top 10 than {first}")
        }
        PadigelaHypothesis::LongerQueries => {
            format!("the RR@10 gain of {second} over {first} grows with query length")
        }
    }
}

/// Returns a description of the statistic that decides a hypothesis.
pub fn describe_hypothesis_statistic(hypothesis: PadigelaHypothesis) -> &'static str {
    match hypothesis {
        PadigelaHypothesis::QueryTermBias => "difference in FQT",
        PadigelaHypothesis::QueryTermBiasHurts => "r of FQT and RR@10",
        PadigelaHypothesis::MoreNovelTerms => "difference in FNT",
        PadigelaHypothesis::LongerQueries => "r of length and ΔRR@10",
    }
}

/// Returns the result of the paper for BM25 and BERT on MS MARCO's development queries.
pub fn published_hypothesis_result(hypothesis: PadigelaHypothesis) -> &'static str {
    match hypothesis {
        PadigelaHypothesis::QueryTermBias => "FQT .20 and .147, BM25 higher on 95.96 % of queries",
        PadigelaHypothesis::QueryTermBiasHurts => {
            "MRR@10 falls by 34.5 % for BM25 and 16.7 % for BERT from the lowest to the highest \
             bucket"
        }
        PadigelaHypothesis::MoreNovelTerms => "FNT .88 and .90, BERT higher on 85.85 % of queries",
        PadigelaHypothesis::LongerQueries => {
            "rejected: the difference falls from .29 to .16 between 2 and 10 tokens"
        }
    }
}

/// Returns the display label of a hypothesis outcome, as in `not supported`.
pub fn hypothesis_outcome_label(standing: HypothesisOutcome) -> &'static str {
    match standing {
        HypothesisOutcome::Supported => "supported",
        HypothesisOutcome::NotSupported => "not supported",
        HypothesisOutcome::TooFewQueries => "too few queries",
    }
}

/// Returns the label of an FQT bucket: `[.10, .15)`; the last one includes its upper edge.
pub fn fqt_bucket_label(bucket: &QueryTokenFractionBucket) -> String {
    let [from, to] = bucket.edges.map(format::format_two_digit_fraction);
    let end = if bucket.edges[1] < 1.0 { ')' } else { ']' };
    format!("[{from}, {to}{end}")
}

/// Returns the label of a query length: `4`, or `more than 10`.
pub fn query_length_label(length: &QueryLengthGroup) -> String {
    match length.n_tokens {
        n if n > MAX_QUERY_LENGTH => format!("more than {MAX_QUERY_LENGTH}"),
        n => n.to_string(),
    }
}

/// Returns the label of a question class, or of its absence.
pub fn question_class_label(answer: Option<QuestionClass>) -> &'static str {
    answer.map_or("no class", QuestionClass::abbreviation)
}

/// Returns a change in RR in words.
pub fn rr_change_label(turn: ReciprocalRankChangeKind, [first, second]: [&str; 2]) -> String {
    match turn {
        ReciprocalRankChangeKind::ZeroToOne => format!("{second} at rank 1, {first} not in top 10"),
        ReciprocalRankChangeKind::Better => format!("{second} better"),
        ReciprocalRankChangeKind::Equal => "equal".to_owned(),
        ReciprocalRankChangeKind::Worse => format!("{first} better"),
        ReciprocalRankChangeKind::OneToZero => format!("{first} at rank 1, {second} not in top 10"),
    }
}

fn names(found: &RankerComparison) -> [&str; 2] {
    let [first, second] = &found.rankers;
    [&first.label, &second.label]
}

fn head(found: &RankerComparison, name: &str, what: &str) -> ReportTable {
    let [first, second] = names(found);
    let mut notes = vec![
        compared_rankers_sentence(found),
        format!(
            "Source: {}, hash {}. Tokens: {}.",
            found.name, found.content_hash, found.analyzer
        ),
    ];
    notes.extend(incomplete_ranking_notes(found));
    let title = format!("{}: {first} and {second}, {what}", found.title);
    ReportTable {
        notes,
        ..ReportTable::new(name, title)
    }
}

/// Returns what is missing from the rankings, one sentence for each incomplete ranker.
pub fn incomplete_ranking_notes(found: &RankerComparison) -> Vec<String> {
    let each = found.rankers.iter().zip(found.n_unscored);
    let sentence = |(ranker, n): (&RankerInfo, u64)| {
        format!(
            "{} did not score {} of the candidates; its ranking omits them. Complete runs can \
             be compared in the Workbench or with `axioscope compare --collection`.",
            ranker.label,
            format::format_count(n)
        )
    };
    each.filter(|it| it.1 > 0).map(sentence).collect()
}

fn text(words: impl Into<String>) -> TableValue {
    TableValue::Text(words.into())
}

fn estimate(it: Option<EstimateWithInterval>) -> TableValue {
    it.map_or(TableValue::Missing, TableValue::Estimate)
}

fn signed(it: Option<EstimateWithInterval>) -> [TableValue; 2] {
    match it {
        Some(it) => {
            let (digits, value) = (format::decimals_of_signed_estimate(&it), it.value);
            let bounds = format::format_signed_interval_with_digits(it.interval, digits);
            [
                TableValue::PreciseDifference { value, digits },
                text(bounds),
            ]
        }
        None => [TableValue::Missing, TableValue::Missing],
    }
}

fn hypotheses(found: &RankerComparison) -> ReportTable {
    let mut table = head(found, "hypotheses", "hypotheses")
        .add_text_columns("no. | hypothesis | measured")
        .add_number_columns("value | 95 % interval | queries")
        .add_text_columns("verdict");
    let row = |it: &HypothesisResult| {
        let mut cells = vec![
            text(it.hypothesis.name_in_paper()),
            text(hypothesis_statement(it.hypothesis, names(found))),
            text(describe_hypothesis_statistic(it.hypothesis)),
        ];
        cells.extend(signed(it.measured));
        cells.push(TableValue::Count(it.n_queries));
        cells.push(text(hypothesis_outcome_label(it.outcome)));
        cells
    };
    table.rows = found.hypotheses.iter().map(row).collect();
    table.notes.push(
        "Hypotheses of Padigela, Zamani and Croft (2019). Supported: the whole interval is on \
         the predicted side of 0 (below 0 for H2, otherwise above); not corrected for four \
         tests. Too few queries: fewer than 30."
            .to_owned(),
    );
    table
}

fn fractions(found: &RankerComparison) -> ReportTable {
    let rankers = names(found);
    let mut table = head(found, "fractions", "what the top 10 documents contain")
        .add_text_columns("measure")
        .with_more_columns_of_kind(TableColumnKind::Estimate, rankers)
        .add_number_columns("difference | 95 % interval")
        .with_more_columns_of_kind(
            TableColumnKind::Number,
            rankers.map(|it| format!("higher for {it}")),
        )
        .add_number_columns("p (t test) | p (randomization) | queries");
    let p = |it: Option<f64>| it.map_or(TableValue::Missing, TableValue::PValue);
    let share = |it: &PairedMetricMeans, side| {
        let share = it.win_rate(side);
        share.map_or(TableValue::Missing, TableValue::Fraction)
    };
    let row = |(name, it): (&str, &PairedMetricMeans)| {
        let mut cells = vec![text(name), estimate(it.means[0]), estimate(it.means[1])];
        cells.extend(signed(it.difference));
        cells.extend([share(it, 0), share(it, 1)]);
        cells.extend([p(it.p_student), p(it.p_randomization)]);
        cells.push(TableValue::Count(it.n_queries));
        cells
    };
    let rows = [
        ("RR@10", &found.reciprocal_rank),
        ("FQT", &found.fraction_query_tokens),
        ("FNT", &found.fraction_novel_terms),
    ];
    table.rows = rows.map(row).into();
    table.notes.push(format!(
        "FQT: share of the tokens of the top {MAX_DEPTH} documents that are query tokens; FNT: \
         share of their distinct tokens that are not. Both without stop words, averaged over \
         documents. Difference: first minus second. Tests are paired and two-sided, over \
         queries. Documents without text: {}.",
        format::format_count(found.query_counts.n_docs_without_text)
    ));
    table
}

#[cfg(test)]
mod tests;
