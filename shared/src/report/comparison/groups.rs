//! Tables of RR@10 over groups of queries, of changes in RR@10, and of the overlap of two
//! rankings.

use super::{
    estimate, fqt_bucket_label, head, names, query_length_label, question_class_label,
    rr_change_label, signed, text,
};
use crate::compare::RankerComparison;
use crate::compare::hypotheses::relative_mrr_drop_across_buckets;
use crate::compare::query_groups::{MrrComparison, QueryTokenFractionBucket};
use crate::compare::query_list::ReciprocalRankChangeKind;
use crate::report::{ReportTable, TableColumnKind, TableValue, format};

pub(super) fn mrr_by_fqt_table(found: &RankerComparison) -> ReportTable {
    let [first, second] = names(found);
    let mut table = head(found, "buckets", "RR@10 by FQT")
        .add_text_columns("FQT")
        .with_more_columns_of_kind(TableColumnKind::Number, [format!("{first}: queries")])
        .with_more_columns_of_kind(TableColumnKind::Estimate, [first])
        .with_more_columns_of_kind(TableColumnKind::Number, [format!("{second}: queries")])
        .with_more_columns_of_kind(TableColumnKind::Estimate, [second]);
    let row = |it: &QueryTokenFractionBucket| {
        let mut cells = vec![text(fqt_bucket_label(it))];
        for side in &it.rankers {
            cells.extend([TableValue::Count(side.n_queries), estimate(side.mrr)]);
        }
        cells
    };
    table.rows = found.fqt_buckets.iter().map(row).collect();
    let falls = [0, 1].map(|side| {
        let fall = relative_mrr_drop_across_buckets(&found.fqt_buckets, side)
            .map(format::format_signed_fraction);
        fall.unwrap_or_else(|| format::MISSING.to_owned())
    });
    table.notes.push(format!(
        "Grouped by each ranker's own FQT. Decrease from the lowest to the highest non-empty \
         bucket: {first} {}, {second} {}.",
        falls[0], falls[1]
    ));
    table
}

fn both_row(label: impl Into<String>, it: &MrrComparison) -> Vec<TableValue> {
    let mut cells = vec![text(label), TableValue::Count(it.n_queries)];
    cells.extend(it.mrr.map(estimate));
    cells.extend(signed(it.mrr_difference));
    cells
}

fn grouped(
    found: &RankerComparison,
    [name, what, by]: [&str; 3],
    rows: Vec<Vec<TableValue>>,
) -> ReportTable {
    let table = head(found, name, what)
        .add_text_columns(by)
        .add_number_columns("queries")
        .with_more_columns_of_kind(TableColumnKind::Estimate, names(found))
        .add_number_columns("ΔRR@10 | 95 % interval");
    ReportTable { rows, ..table }
}

pub(super) fn mrr_by_query_length_table(found: &RankerComparison) -> ReportTable {
    let lengths = found.query_lengths.iter();
    let rows = lengths.map(|it| both_row(query_length_label(it), &it.mrr));
    let what = ["lengths", "RR@10 by query length", "tokens"];
    let mut table = grouped(found, what, rows.collect());
    table
        .notes
        .push("Length: whitespace-separated tokens of the query.".to_owned());
    table
}

pub(super) fn mrr_by_question_class_table(found: &RankerComparison) -> ReportTable {
    let answers = found.question_classes.iter();
    let rows = answers.map(|it| both_row(question_class_label(it.question_class), &it.mrr));
    let what = ["answers", "RR@10 by question class", "class"];
    let mut table = grouped(found, what, rows.collect());
    table.notes.push(
        "Question classes of Li and Roth (COLING 2002), assigned by our own rules: \
         abbreviation, location, description, human, numeric, entity."
            .to_owned(),
    );
    table
}

pub(super) fn mrr_by_first_bigram_table(found: &RankerComparison) -> ReportTable {
    let bigrams = found.bigrams.iter();
    let rows = bigrams.map(|it| both_row(it.bigram.as_str(), &it.mrr));
    let what = [
        "bigrams",
        "RR@10 by first words of the query",
        "first words",
    ];
    grouped(found, what, rows.collect())
}

pub(super) fn rr_change_count_table(found: &RankerComparison) -> ReportTable {
    let mut table = head(found, "change", "which ranker is better, by query")
        .add_text_columns("RR@10")
        .add_number_columns("queries | share");
    let it = &found.rr_changes;
    let n = it.differences.len();
    let counts = it.counts_by_kind();
    let rows = ReciprocalRankChangeKind::ALL
        .iter()
        .zip(counts)
        .map(|(turn, count)| {
            let share = match n {
                0 => TableValue::Missing,
                n => TableValue::Fraction(count as f64 / n as f64),
            };
            vec![
                text(rr_change_label(*turn, names(found))),
                TableValue::Count(count),
                share,
            ]
        });
    table.rows = rows.collect();
    table.notes.push(
        "Queries where one ranker has a relevant document at rank 1 and the other has none in \
         its top 10 are also counted as “better”."
            .to_owned(),
    );
    table
}

pub(super) fn top_overlap_table(found: &RankerComparison) -> ReportTable {
    let mut table = head(found, "overlap", "shared documents")
        .add_number_columns("top i")
        .add_estimate_columns("MUR")
        .add_number_columns("queries with no shared document");
    let means = found
        .top_overlap
        .means
        .iter()
        .zip(&found.top_overlap.n_disjoint);
    let rows = means.zip(1..).map(|((mean, n_apart), i)| {
        vec![
            TableValue::Count(i),
            TableValue::Estimate(*mean),
            TableValue::Count(*n_apart),
        ]
    });
    table.rows = rows.collect();
    let line = found.top_overlap.regression.map_or_else(String::new, |it| {
        format!(
            " Least-squares line: {} i {} {}.",
            format::format_score(it.slope, 3),
            if it.intercept < 0.0 { "−" } else { "+" },
            format::format_score(it.intercept.abs(), 3)
        )
    });
    table.notes.push(format!(
        "MUR(i): documents shared by both in their top i, mean over {} queries.{line}",
        format::format_count(found.top_overlap.n_queries)
    ));
    table
}
