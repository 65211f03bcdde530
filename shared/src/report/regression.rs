//! The comparison of two rankers, or of a study and its baseline, as tables or as a test report.

use std::fmt::Write;

use super::markup::escape_markup;
use super::{ReportTable, TableValue, format};
use crate::study::baseline::BaselineCellComparison;
use crate::study::verdict_diff::{
    InstanceWithChangedVerdict, MAX_CHANGED_INSTANCES, VerdictDiffBetweenRankers,
};
use crate::verdict::VerdictOutcome;

/// Returns tables of the changed verdicts by axiom, by query, and of the instances that changed
/// most.
pub fn ranker_pair_verdict_change_tables(diff: &VerdictDiffBetweenRankers) -> Vec<ReportTable> {
    let text = |it: &str| TableValue::Text(it.to_owned());
    let axioms = diff.probes.iter().map(|it| {
        vec![
            text(&it.probe.name()),
            text(it.variant.slug()),
            TableValue::Count(it.n_verdicts),
            TableValue::Count(it.n_improved),
            TableValue::Count(it.n_worsened),
        ]
    });
    let queries = diff.queries.iter().map(|it| {
        vec![
            text(&it.query_id),
            text(&it.query),
            TableValue::Count(it.n_improved),
            TableValue::Count(it.n_worsened),
        ]
    });
    let margin = |it: f64| TableValue::Score {
        value: it,
        digits: 4,
    };
    let instances = diff
        .instances
        .iter()
        .map(|it: &InstanceWithChangedVerdict| {
            vec![
                text(&it.probe.name()),
                text(it.variant.slug()),
                text(&it.query_id),
                text(&it.doc_ids.join(" ")),
                text(outcome(it.first.outcome)),
                margin(it.first.margin),
                text(outcome(it.second.outcome)),
                margin(it.second.margin),
            ]
        });
    let changes = ReportTable::new("changes", "What changed, by axiom")
        .add_text_columns("axiom | variant")
        .add_number_columns("in both | gained | lost");
    let by_query = ReportTable::new("queries", "What changed, by query")
        .add_text_columns("query id | query")
        .add_number_columns("gained | lost");
    let title = format!(
        "Instances whose verdict changed: the {MAX_CHANGED_INSTANCES} with the \
         largest change of margin"
    );
    let changed_instances = ReportTable::new("changed_instances", title)
        .add_text_columns("axiom | variant | query id | documents | first")
        .add_number_columns("margin")
        .add_text_columns("second")
        .add_number_columns("margin");
    let tables = [
        (changes, axioms.collect()),
        (by_query, queries.collect()),
        (changed_instances, instances.collect()),
    ];
    let filled = |(table, rows): (ReportTable, Vec<Vec<TableValue>>)| ReportTable {
        rows,
        notes: vec![format!("From {} to {}.", diff.first, diff.second)],
        ..table
    };
    tables.map(filled).into()
}

fn outcome(outcome: VerdictOutcome) -> &'static str {
    match outcome {
        VerdictOutcome::Satisfied => "satisfied",
        VerdictOutcome::Tied => "tied",
        VerdictOutcome::Violated => "violated",
    }
}

/// Returns a table of every cell next to its baseline.
pub fn study_baseline_comparison_table(
    study: &str,
    compared: &[BaselineCellComparison],
) -> ReportTable {
    let fallen = compared.iter().filter(|it| !it.passes).count();
    let title = format!(
        "{study}: {fallen} of {} cells below the baseline",
        compared.len()
    );
    let rows = compared.iter().map(|it| {
        let before = it.expected.fraction;
        vec![
            TableValue::Text(it.expected.ranker.clone()),
            TableValue::Text(it.expected.probe.name().into_owned()),
            TableValue::Text(it.expected.variant.slug().to_owned()),
            TableValue::Fraction(before),
            it.actual.map_or(TableValue::Missing, TableValue::Fraction),
            it.actual.map_or(TableValue::Missing, |now| {
                TableValue::Difference(now - before)
            }),
            TableValue::Text(if it.passes { "ok" } else { "BELOW" }.to_owned()),
        ]
    });
    let table = ReportTable::new("baseline", title)
        .add_text_columns("ranker | axiom | variant")
        .add_number_columns("baseline | now | change")
        .add_text_columns("");
    ReportTable {
        rows: rows.collect(),
        ..table
    }
}

/// Returns the same in the JUnit format, which tools that run tests read.
pub fn baseline_comparison_to_junit(study: &str, compared: &[BaselineCellComparison]) -> String {
    let fallen = compared.iter().filter(|it| !it.passes).count();
    let name = escape_markup(study);
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(
        out,
        "<testsuite name=\"{name}\" tests=\"{}\" failures=\"{fallen}\">",
        compared.len()
    );
    for it in compared {
        let ranker = escape_markup(&it.expected.ranker);
        let case = format!(
            "{} {}",
            it.expected.probe.slug(),
            it.expected.variant.slug()
        );
        let _ = write!(out, "  <testcase classname=\"{ranker}\" name=\"{case}\"");
        if it.passes {
            out.push_str("/>\n");
            continue;
        }
        let before = format::format_two_digit_fraction(it.expected.fraction);
        let now = it
            .actual
            .map_or("missing".to_owned(), format::format_two_digit_fraction);
        let said = escape_markup(&format!("fraction {now}, baseline {before}"));
        let _ = writeln!(out, ">\n    <failure message=\"{said}\"/>\n  </testcase>");
    }
    out.push_str("</testsuite>\n");
    out
}
