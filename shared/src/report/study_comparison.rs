//! The comparison of two studies: a sentence, and tables.

use super::format::{self, format_count, join_with_and};
use super::{ReportTable, TableColumnKind, TableValue, study_tables};
use crate::probe::Probe;
use crate::stats::bootstrap;
use crate::study::figures::effectiveness::SIGNIFICANCE_LEVEL;
use crate::study::overview::StudyOverview;
use crate::study::study_comparison::{ComparedResult, StudyComparison};

/// The number of results that the sentence names.
const N_NAMED: usize = 3;

/// Says how many results differ by more than chance, and names those that differ most.
pub fn study_comparison_finding(found: &StudyComparison) -> String {
    let n_compared = found
        .results
        .iter()
        .filter(|it| it.change.is_some())
        .count();
    let mut differing: Vec<&ComparedResult> = found
        .results
        .iter()
        .filter(|it| is_significant(it))
        .collect();
    let noun = if n_compared == 1 { "result" } else { "results" };
    let n_compared = format!("{} {noun}", format_count(n_compared as u64));
    if differing.is_empty() {
        return format!("None of {n_compared} differs by more than chance.");
    }
    let size = |it: &ComparedResult| it.change.map_or(0.0, |it| it.difference.value.abs());
    // Of equal differences, the first of the table.
    differing.sort_by(|a, b| size(b).total_cmp(&size(a)));
    let named = differing.iter().take(N_NAMED).filter_map(|it| {
        let [first, second] = it.change?.fractions;
        Some(format!(
            "{} on {} ({} to {})",
            it.ranker,
            it.probe.name(),
            format::format_two_digit_fraction(first),
            format::format_two_digit_fraction(second)
        ))
    });
    let named: Vec<String> = named.collect();
    let most = match differing.len() > N_NAMED {
        true => ", most of all ",
        false => ": ",
    };
    let verb = if differing.len() == 1 {
        "differs"
    } else {
        "differ"
    };
    format!(
        "{} of {n_compared} {verb} by more than chance{most}{}.",
        format_count(differing.len() as u64),
        join_with_and(&named)
    )
}

/// Returns whether a result differs after Holm's correction.
fn is_significant(result: &ComparedResult) -> bool {
    result.p_holm.is_some_and(|it| it < SIGNIFICANCE_LEVEL)
}

/// Returns two tables:
///
/// - `differences`: rankers × axioms, the second fraction minus the first,
/// - `results`: one row for each ranker and axiom, with both fractions, the interval and p.
pub fn study_comparison_tables(found: &StudyComparison) -> Vec<ReportTable> {
    vec![differences(found), results(found)]
}

fn differences(found: &StudyComparison) -> ReportTable {
    let mut probes: Vec<Probe> = Vec::new();
    let mut rankers: Vec<&str> = Vec::new();
    for result in &found.results {
        if !probes.contains(&result.probe) {
            probes.push(result.probe);
        }
        if !rankers.contains(&result.ranker.as_str()) {
            rankers.push(&result.ranker);
        }
    }
    let [first, second] = &found.titles;
    let mut table = ReportTable::new("differences", "Differences of the fractions")
        .add_text_columns("ranker")
        .with_more_columns_of_kind(TableColumnKind::Number, probes.iter().map(|it| it.name()));
    for ranker in rankers {
        let mut row = vec![TableValue::Text(ranker.to_owned())];
        row.extend(probes.iter().map(|&probe| {
            let mut results = found.results.iter();
            let result = results.find(|it| it.ranker == ranker && it.probe == probe);
            match result.and_then(|it| Some((it, it.change?.difference.value))) {
                None => TableValue::Missing,
                Some((it, value)) if is_significant(it) => {
                    TableValue::Text(format!("{} *", format::format_signed_fraction(value)))
                }
                Some((_, value)) => TableValue::Difference(value),
            }
        }));
        table.rows.push(row);
    }
    table
        .notes
        .push(format!("Fraction in {second} minus fraction in {first}."));
    table.notes.push(format!(
        "*: more than chance, p < {} after Holm's correction.",
        format::format_two_digit_fraction(SIGNIFICANCE_LEVEL)
    ));
    table
}

fn results(found: &StudyComparison) -> ReportTable {
    let mut table = ReportTable::new("results", "Every result in both studies")
        .add_text_columns("ranker | axiom")
        .with_more_columns_of_kind(TableColumnKind::Number, found.titles.clone())
        .add_estimate_columns("difference")
        .add_number_columns("p | p (Holm)")
        .add_text_columns("more than chance");
    for result in &found.results {
        let mut row = vec![
            TableValue::Text(result.ranker.clone()),
            TableValue::Text(result.probe.name().into()),
        ];
        match (&result.change, result.p_holm) {
            (Some(change), Some(p_holm)) => {
                row.extend(change.fractions.map(TableValue::Fraction));
                row.extend([
                    TableValue::Estimate(change.difference),
                    TableValue::PValue(change.p),
                    TableValue::PValue(p_holm),
                ]);
                let answer = if is_significant(result) { "yes" } else { "no" };
                row.push(TableValue::Text(answer.to_owned()));
            }
            _ => row.resize(table.columns.len(), TableValue::Missing),
        }
        table.rows.push(row);
    }
    table.notes = notes(found);
    table
}

fn notes(found: &StudyComparison) -> Vec<String> {
    let [only_first, only_second] = found.n_unshared_queries.map(format_count);
    let mut notes = vec![
        match found.has_same_instances {
            true => "The studies have the same instances.".to_owned(),
            false => "The studies have different instances.".to_owned(),
        },
        format!(
            "{} queries are in both studies, {only_first} only in the first, {only_second} only \
             in the second.",
            format_count(found.n_shared_queries)
        ),
        format!(
            "Fractions are over instances; brackets hold the 95 % interval of the difference, from \
             a percentile bootstrap over queries ({} draws): queries of both studies are drawn \
             together, the others for each study. p: test against no difference.",
            format_count(bootstrap::N_RESAMPLES as u64)
        ),
    ];
    for (position, title) in ["first", "second"].into_iter().zip(0..) {
        let only = format!("Only in the {position} study");
        if !found.unshared_rankers[title].is_empty() {
            let names = join_with_and(&found.unshared_rankers[title]);
            notes.push(format!("{only}, by ranker: {names}."));
        }
        if !found.unshared_probes[title].is_empty() {
            let names: Vec<String> = found.unshared_probes[title]
                .iter()
                .map(|it| it.name().into())
                .collect();
            notes.push(format!("{only}, by axiom: {}.", join_with_and(&names)));
        }
    }
    let mut retrained: Vec<String> = Vec::new();
    for result in found.results.iter().filter(|it| it.has_other_fingerprint) {
        if !retrained.contains(&result.ranker) {
            retrained.push(result.ranker.clone());
        }
    }
    if !retrained.is_empty() {
        notes.push(format!(
            "Weights or settings differ between the studies (fingerprint): {}.",
            join_with_and(&retrained)
        ));
    }
    notes
}

/// Returns what a reader needs to reproduce each study and the other study does not share, line by
/// line.
pub fn differing_provenance(overviews: [&StudyOverview; 2]) -> [Vec<String>; 2] {
    let notes = overviews.map(|it| {
        let table = study_tables(it).into_iter().next();
        table.map(|it| it.notes).unwrap_or_default()
    });
    let [first, second] = &notes;
    [[first, second], [second, first]].map(|[own, other]| {
        let only_here = own.iter().filter(|it| !other.contains(it));
        only_here.cloned().collect()
    })
}
