//! The tables of a study's behavioral tests.

use super::{ReportTable, TableColumnKind, TableValue, format};
use crate::score::disambiguate_labels;
use crate::study::behavioral_tests::{
    BehavioralEffect, BehavioralTestResults, BehavioralTestRow, TieThreshold,
};

/// Returns two tables: `behavioral_tests`, for readers, with a row for each behavioral test and an
/// effect for each ranker, and `effects`, for programs, with a row for each test and ranker.
/// Returns none if the study has no behavioral test.
pub fn behavioral_test_tables(results: &BehavioralTestResults) -> Vec<ReportTable> {
    let mut results = results.clone();
    disambiguate_labels(results.rankers.iter_mut().map(|it| &mut it.ranker));
    let results = &results;
    match results.rows.is_empty() {
        true => Vec::new(),
        false => vec![effects_by_ranker(results), effects(results)],
    }
}

fn effects_by_ranker(results: &BehavioralTestResults) -> ReportTable {
    let labels = results.rankers.iter().map(|it| &it.ranker.label);
    let table = table(results, "behavioral_tests")
        .add_text_columns("behavioral test | documents")
        .add_number_columns("samples")
        .with_more_columns_of_kind(TableColumnKind::Estimate, labels);
    let row = |row: &BehavioralTestRow| {
        let effects = row.effects.iter().map(|it| match it {
            Some(effect) => TableValue::Text(format_effect(effect)),
            None => TableValue::Missing,
        });
        let mut values = head(row);
        values.push(TableValue::Count(row.n_samples));
        values.extend(effects);
        values
    };
    ReportTable {
        rows: results.rows.iter().map(row).collect(),
        ..table
    }
}

fn table(results: &BehavioralTestResults, name: &str) -> ReportTable {
    ReportTable {
        notes: notes(results),
        ..ReportTable::new(
            name,
            format!("{}: {}", results.title, name.replace('_', " ")),
        )
    }
}

/// Formats an effect as `+.12 [.02, .20] *`: with a star if the paired t test is significant, with
/// `†` if that and the interval by queries disagree.
fn format_effect(effect: &BehavioralEffect) -> String {
    let star = if effect.is_significant() { " *" } else { "" };
    let dagger = if effect.has_conflicting_tests() {
        " †"
    } else {
        ""
    };
    let score = format::format_signed_estimate(&effect.score);
    format!("{score}{star}{dagger}")
}

fn head(row: &BehavioralTestRow) -> Vec<TableValue> {
    vec![
        TableValue::Text(row.probe.name().into_owned()),
        TableValue::Text(row.slice.name().to_owned()),
    ]
}

fn effects(results: &BehavioralTestResults) -> ReportTable {
    let counts = "ε | samples | positive | neutral | negative | unscored | effect";
    let tests = "p (over queries) | mean difference | median difference | p (t test) | p \
         (Bonferroni) | queries";
    let mut table = table(results, "effects")
        .add_text_columns("behavioral test | documents | ranker")
        .add_number_columns(counts)
        .add_estimate_columns("interval over queries")
        .add_number_columns(tests);
    for row in &results.rows {
        for (effect, asked) in row.effects.iter().zip(&results.rankers) {
            let Some(effect) = effect else {
                continue;
            };
            let digits =
                format::score_decimals_for_spread(effect.mean.abs().max(effect.median.abs()));
            let inner = |value: f64| TableValue::Score { value, digits };
            let p = |it: Option<f64>| it.map_or(TableValue::Missing, TableValue::PValue);
            let mut values = vec![
                TableValue::Text(row.probe.slug().into_owned()),
                TableValue::Text(row.slice.name().to_owned()),
                TableValue::Text(asked.ranker.label.clone()),
                asked
                    .tie_threshold
                    .map_or(TableValue::Missing, |value| TableValue::Score {
                        value,
                        digits: format::score_decimals_for_spread(value),
                    }),
            ];
            let counts = [
                effect.n_scored(),
                effect.n_positive,
                effect.n_tied,
                effect.n_negative,
                effect.n_unscored,
            ];
            values.extend(counts.map(TableValue::Count));
            values.extend([
                TableValue::Difference(effect.score.value),
                TableValue::Interval(effect.score.interval),
                TableValue::PValue(effect.p_queries),
                inner(effect.mean),
                inner(effect.median),
                p(effect.p_samples),
                p(effect.p_bonferroni),
                TableValue::Count(effect.n_queries),
            ]);
            table.rows.push(values);
        }
    }
    table
}

fn notes(results: &BehavioralTestResults) -> Vec<String> {
    let widths = match results.options.tie_threshold {
        TieThreshold::Fixed { width } => format!("ε is {width} for every ranker"),
        TieThreshold::TunedPerRanker => {
            let each = results.rankers.iter().map(|it| {
                let delta = it.tie_threshold.map_or(format::MISSING.to_owned(), |it| {
                    format::format_score(it, format::score_decimals_for_spread(it))
                });
                format!("{} {delta}", it.ranker.label)
            });
            let each: Vec<String> = each.collect();
            format!(
                "ε is the median difference of adjacent scores in the top 10 of a candidate \
                 pool: {}",
                each.join(", ")
            )
        }
    };
    let mut notes = vec![
        format!("Effect: (positive − negative) / n; neutral within ε. {widths}."),
        format!(
            "*: p < .001 in a two-sided paired t test over samples, Bonferroni-corrected for {} \
             tests. †: this test and the 95 % interval over queries disagree.",
            results.n_tests
        ),
        format!(
            "A document of grade {} or higher is relevant.",
            results.min_relevant_grade
        ),
    ];
    notes.extend(results.transfer_pair_counts.iter().map(|(probe, kept)| {
        format!(
            "{}: of {} pairs, {} identical ones and {} without a query are excluded.",
            probe.name(),
            format::format_count(kept.n_pairs),
            format::format_count(kept.n_identical),
            format::format_count(kept.n_without_query)
        )
    }));
    notes.push(format!("Instances {}.", results.instances_hash));
    notes
}
