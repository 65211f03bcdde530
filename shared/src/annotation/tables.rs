//! Tables of progress, agreement and estimates, for curators and for the study page.

use super::agreement::{
    AgreementCoefficients, AnnotatorPairAgreement, InterAnnotatorAgreementReport,
};
use super::estimate::{
    AgreementEstimates, AxiomAndRankerAgreementEstimates, ItemConsensusCounts,
    PairwiseAgreementRates, SamplingFrameShareEstimate,
};
use super::progress::{AnnotationTaskProgress, AnnotatorProgress, AnswerShareDrift};
use super::{AnnotatorKind, PersonId};
use crate::report::{ReportTable, TableColumnKind, TableValue, format};
use crate::stats::EstimateWithInterval;
use crate::stats::agreement::AgreementCoefficient;

/// The first row of tables by probe.
pub const ALL_PROBES: &str = "all";

/// The note above unweighted values.
const UNWEIGHTED: &str = "Over the sampled items that annotators saw, not weighted by 1/π. 95 % \
     intervals in brackets: percentile bootstrap over queries.";

/// A function that returns the name of a person, as shown on the page.
pub type PersonNameFn<'a> = &'a dyn Fn(PersonId) -> String;

/// Returns the agreement tables, in the order of the page:
///
/// - `agreement`: the coefficients over all items and over those of each probe,
/// - `pairs`: Cohen's κ of each pair of annotators,
/// - `people`: the agreement of each annotator with all others.
pub fn annotator_agreement_tables(
    found: &InterAnnotatorAgreementReport,
    called: PersonNameFn<'_>,
) -> Vec<ReportTable> {
    vec![by_probe(found), pairs(found, called), people(found, called)]
}

/// Returns the progress tables, in the order of the page:
///
/// - `progress`: the work of each annotator,
/// - `days`: the decisions on each day.
pub fn annotation_progress_tables(
    found: &AnnotationTaskProgress,
    called: PersonNameFn<'_>,
) -> Vec<ReportTable> {
    vec![work(found, called), days(found)]
}

/// Returns the tables of estimates, in the order of the page; `rankers` are the names of the
/// study's rankers, and `kind` says whose agreement it is:
///
/// - `results`: the agreement of each two sides, over all items and for each probe,
/// - `judgments`: the numbers of items by outcome of the annotation,
/// - `details`: each of these values with and without ties and by vote.
pub fn axiom_and_ranker_agreement_tables(
    found: &AgreementEstimates,
    rankers: &[String],
    kind: AnnotatorKind,
) -> Vec<ReportTable> {
    vec![
        results(found, rankers, kind),
        judgments(found, kind),
        details(found, rankers, kind),
    ]
}

/// Returns each row of estimates with the name of its probe, all items first.
pub fn estimate_rows_with_probe_names(
    found: &AgreementEstimates,
) -> impl Iterator<Item = (String, &AxiomAndRankerAgreementEstimates)> {
    let all = (ALL_PROBES.to_owned(), &found.overall);
    let probes = found.by_probe.iter();
    let probes = probes.map(|it| (it.probe.name().into_owned(), &it.estimate));
    std::iter::once(all).chain(probes)
}

/// Returns the compared sides of a row with their names, in the order of the page.
pub fn labeled_agreement_shares(
    line: &AxiomAndRankerAgreementEstimates,
    rankers: &[String],
    kind: AnnotatorKind,
) -> Vec<(String, PairwiseAgreementRates)> {
    let side = match kind {
        AnnotatorKind::People => "annotators",
        AnnotatorKind::Simulated => "simulated",
    };
    let mut found = vec![(format!("axiom–{side}"), line.axiom_vs_people)];
    for (at, it) in line.rankers_vs_people.iter().enumerate() {
        let name = ranker_name_or_number(rankers, at);
        found.push((format!("{name}–{side}"), *it));
    }
    found.push(("axiom–relevance judgments".to_owned(), line.axiom_vs_qrels));
    found
}

/// Returns the name of the ranker in a row of a study, or `ranker N`, counted from 1, if it is
/// unknown.
pub fn ranker_name_or_number(rankers: &[String], row: usize) -> String {
    let name = rankers.get(row).cloned();
    name.unwrap_or_else(|| format!("ranker {}", row + 1))
}

/// Returns the coefficients of agreement with their names, in the order of the page.
pub fn labeled_agreement_coefficients(
    of: &AgreementCoefficients,
) -> [(&'static str, Option<AgreementCoefficient>); 4] {
    [
        ("raw", of.observed),
        ("Fleiss’ κ", of.fleiss_kappa),
        ("α nominal", of.krippendorff_alpha),
        ("α ordinal", of.krippendorff_alpha_ordinal),
    ]
}

/// Formats a day since 1970 in the Gregorian calendar, as in `2026-11-20`, after Richards (in
/// Explanatory Supplement to the Astronomical Almanac, 2013, section 15.11).
pub fn format_epoch_day(days: u64) -> String {
    let julian = days as i64 + 2_440_588;
    let f = julian + 1401 + (4 * julian + 274_277) / 146_097 * 3 / 4 - 38;
    let e = 4 * f + 3;
    let g = e % 1461 / 4;
    let h = 5 * g + 2;
    let day = h % 153 / 5 + 1;
    let month = (h / 153 + 2) % 12 + 1;
    let year = e / 1461 - 4716 + (14 - month) / 12;
    format!("{year:04}-{month:02}-{day:02}")
}

fn by_probe(found: &InterAnnotatorAgreementReport) -> ReportTable {
    let names = labeled_agreement_coefficients(&found.overall).map(|it| it.0);
    let table = ReportTable::new("agreement", "Inter-annotator agreement")
        .add_text_columns("probe")
        .add_number_columns("items")
        .with_more_columns_of_kind(TableColumnKind::Estimate, names);
    let row = |name: String, of: &AgreementCoefficients| {
        let n_items = of.observed.map_or(0, |it| it.n_items);
        let mut cells = vec![TableValue::Text(name), TableValue::Count(n_items)];
        cells.extend(labeled_agreement_coefficients(of).map(|it| agreement(it.1)));
        cells
    };
    let all = row(ALL_PROBES.to_owned(), &found.overall);
    let probes = found.by_probe.iter();
    let probes = probes.map(|it| row(it.probe.name().into_owned(), &it.coefficients));
    let undefined = labeled_agreement_coefficients(&found.overall);
    let undefined = undefined.iter().filter_map(|(name, it)| {
        let n = it.filter(|it| it.n_undefined > 0)?.n_undefined;
        Some(format!(
            "{name} was undefined in {} of the bootstrap draws.",
            format::format_count(n)
        ))
    });
    let mut notes = vec![
        UNWEIGHTED.to_owned(),
        "Items with at least two answers that are preferences. κ and α are undefined if \
         everyone always gives the same answer."
            .to_owned(),
    ];
    notes.extend(undefined);
    ReportTable {
        rows: std::iter::once(all).chain(probes).collect(),
        notes,
        ..table
    }
}

fn pairs(found: &InterAnnotatorAgreementReport, called: PersonNameFn<'_>) -> ReportTable {
    let row = |it: &AnnotatorPairAgreement| {
        vec![
            TableValue::Text(called(it.people[0])),
            TableValue::Text(called(it.people[1])),
            TableValue::Count(it.observed.map_or(0, |it| it.n_items)),
            agreement(it.observed),
            agreement(it.cohen_kappa),
        ]
    };
    let table = ReportTable::new("pairs", "Pairs of annotators")
        .add_text_columns("annotator 1 | annotator 2")
        .add_number_columns("items")
        .add_estimate_columns("raw | Cohen’s κ");
    ReportTable {
        rows: found.by_pair.iter().map(row).collect(),
        notes: vec![UNWEIGHTED.to_owned()],
        ..table
    }
}

fn people(found: &InterAnnotatorAgreementReport, called: PersonNameFn<'_>) -> ReportTable {
    let rows = found.by_annotator.iter().map(|it| {
        vec![
            TableValue::Text(called(it.person)),
            TableValue::Count(it.n_votes),
            agreement(it.mean_agreement),
            agreement(it.alpha_without_annotator),
        ]
    });
    let all = found.overall.krippendorff_alpha.map(|it| it.estimate);
    let all = all.map_or(format::MISSING.to_owned(), |it| {
        format::format_estimate(&it)
    });
    let table = ReportTable::new("people", "Each annotator against the others")
        .add_text_columns("annotator")
        .add_number_columns("votes")
        .add_estimate_columns("same answer as others | α without");
    ReportTable {
        rows: rows.collect(),
        notes: vec![
            format!(
                "α over all annotators is {all}; a higher α without an annotator means that \
                 this annotator lowers agreement."
            ),
            UNWEIGHTED.to_owned(),
        ],
        ..table
    }
}

fn work(found: &AnnotationTaskProgress, called: PersonNameFn<'_>) -> ReportTable {
    let row = |it: &AnnotatorProgress| {
        let number = |value: Option<f64>, digits| {
            value.map_or(TableValue::Missing, |value| TableValue::Score {
                value,
                digits,
            })
        };
        let mut cells = vec![
            TableValue::Text(called(it.person)),
            TableValue::Text(if it.is_excluded { "no" } else { "yes" }.to_owned()),
        ];
        let counts = [it.n_decided, it.n_skipped, it.n_undone, it.n_conflicts];
        cells.extend(counts.map(TableValue::Count));
        cells.push(number(it.median_decision_ms.map(|it| it / 1_000.0), 1));
        cells.push(number(it.decisions_per_hour, 0));
        cells.push(TableValue::Count(it.n_gold));
        cells.push(
            it.gold_accuracy
                .map_or(TableValue::Missing, TableValue::Estimate),
        );
        cells.extend(drift(it.gold_accuracy_drift));
        cells.extend(drift(it.agreement_drift));
        cells
    };
    let table = ReportTable::new("progress", "Annotators")
        .add_text_columns("annotator | included")
        .add_number_columns(
            "decided | skipped | undone | conflicts | median, s | per hour | \
             gold items",
        )
        .add_estimate_columns("gold accuracy")
        .add_number_columns("gold drift | 95 % interval | agreement drift | 95 % interval");
    ReportTable {
        rows: found.by_annotator.iter().map(row).collect(),
        notes: vec![
            "Current decisions without training items. Time per item excludes pauses. Drift: \
             last third of an annotator’s decisions minus the first third, in gold accuracy and \
             in agreement with others. Intervals: Wilson’s for shares, Newcombe’s for \
             differences, 95 %."
                .to_owned(),
        ],
        ..table
    }
}

/// Returns the difference and its bounds, which can be below 0.
fn drift(it: Option<AnswerShareDrift>) -> [TableValue; 2] {
    match it {
        Some(AnswerShareDrift { difference, .. }) => {
            let bounds = format::format_signed_interval(difference.interval);
            [
                TableValue::Difference(difference.value),
                TableValue::Text(bounds),
            ]
        }
        None => [TableValue::Missing, TableValue::Missing],
    }
}

fn days(found: &AnnotationTaskProgress) -> ReportTable {
    let days = found.decisions_by_day.iter();
    let rows = days.map(|&(day, n)| {
        vec![
            TableValue::Text(format_epoch_day(day)),
            TableValue::Count(n),
        ]
    });
    let table = ReportTable::new("days", "Decisions per day")
        .add_text_columns("day")
        .add_number_columns("decisions");
    ReportTable {
        rows: rows.collect(),
        notes: vec!["Days in UTC; days without a decision are omitted.".to_owned()],
        ..table
    }
}

fn results(found: &AgreementEstimates, rankers: &[String], kind: AnnotatorKind) -> ReportTable {
    let names = labeled_agreement_shares(&found.overall, rankers, kind).into_iter();
    let title = format!("Agreement with {}", kind.noun());
    let table = ReportTable::new("results", title)
        .add_text_columns("probe")
        .add_number_columns("items")
        .with_more_columns_of_kind(TableColumnKind::Estimate, names.map(|(name, _)| name));
    let row = |(name, line): (String, &AxiomAndRankerAgreementEstimates)| {
        let mut cells = vec![
            TableValue::Text(name),
            TableValue::Count(line.counts.n_items),
        ];
        let each = labeled_agreement_shares(line, rankers, kind).into_iter();
        cells.extend(each.map(|(_, it)| weighted(it.agreement)));
        cells
    };
    ReportTable {
        rows: estimate_rows_with_probe_names(found).map(row).collect(),
        notes: vec![
            "Hájek’s estimate over all instances that could be drawn: each item has weight 1/π. \
             The consensus on an item is its adjudication, or the preference with the most \
             votes; split votes have no consensus. 95 % intervals in brackets: percentile \
             bootstrap over queries."
                .to_owned(),
        ],
        ..table
    }
}

fn judgments(found: &AgreementEstimates, kind: AnnotatorKind) -> ReportTable {
    let row = |(name, line): (String, &AxiomAndRankerAgreementEstimates)| {
        let ItemConsensusCounts {
            n_items,
            n_preference: n_preferring,
            n_equal,
            n_split,
            n_cannot_say,
            n_unanswered: n_open,
        } = line.counts;
        let mut cells = vec![TableValue::Text(name)];
        cells.extend([n_items, n_preferring, n_equal].map(TableValue::Count));
        cells.extend([n_split, n_cannot_say, n_open].map(TableValue::Count));
        cells.push(weighted(line.share_reason_matters));
        cells
    };
    let title = match kind {
        AnnotatorKind::People => "Human judgments (number of items)",
        AnnotatorKind::Simulated => "Answers of simulated annotators (number of items)",
    };
    let table = ReportTable::new("judgments", title)
        .add_text_columns("probe")
        .add_number_columns("items | prefer one | equal | split | cannot say | open")
        .add_estimate_columns("reason matters");
    ReportTable {
        rows: estimate_rows_with_probe_names(found).map(row).collect(),
        notes: vec![
            "Counts are numbers of items; the share for “reason matters” is weighted by 1/π."
                .to_owned(),
        ],
        ..table
    }
}

fn details(found: &AgreementEstimates, rankers: &[String], kind: AnnotatorKind) -> ReportTable {
    let rows = estimate_rows_with_probe_names(found).flat_map(|(name, line)| {
        let each = labeled_agreement_shares(line, rankers, kind).into_iter();
        each.flat_map(move |(pair, it)| {
            let ways = [
                ("all", it.agreement),
                ("without “equal”", it.without_ties),
                ("by vote", it.by_vote),
            ];
            let (name, pair) = (name.clone(), pair.clone());
            ways.map(move |(way, it)| detail([&name, &pair, way], it))
        })
    });
    let title = match kind {
        AnnotatorKind::People => "All estimates",
        AnnotatorKind::Simulated => "All estimates (simulated annotators)",
    };
    let table = ReportTable::new("details", title)
        .add_text_columns("probe | compared | unit")
        .add_estimate_columns("agreement")
        .add_number_columns("annotators resampled | items | queries | effective items");
    ReportTable {
        rows: rows.collect(),
        notes: vec![
            "The first interval resamples queries; the second resamples queries and annotators \
             (pigeonhole bootstrap). Effective items: (Σ 1/π)² / Σ (1/π)², the number of \
             equally weighted items with the same precision."
                .to_owned(),
        ],
        ..table
    }
}

fn detail(words: [&str; 3], it: Option<SamplingFrameShareEstimate>) -> Vec<TableValue> {
    let mut cells: Vec<TableValue> = words.map(|it| TableValue::Text(it.to_owned())).into();
    let people = it.and_then(|it| it.interval_over_annotators);
    let count = |of: fn(&SamplingFrameShareEstimate) -> u64| {
        it.as_ref()
            .map_or(TableValue::Missing, |it| TableValue::Count(of(it)))
    };
    cells.push(weighted(it));
    cells.push(people.map_or(TableValue::Missing, TableValue::Interval));
    cells.push(count(|it| it.n_items));
    cells.push(count(|it| it.n_queries));
    cells.push(it.map_or(TableValue::Missing, |it| TableValue::Score {
        value: it.n_effective,
        digits: 1,
    }));
    cells
}

fn agreement(it: Option<AgreementCoefficient>) -> TableValue {
    estimate(it.map(|it| it.estimate))
}

fn weighted(it: Option<SamplingFrameShareEstimate>) -> TableValue {
    estimate(it.map(|it| it.estimate))
}

fn estimate(it: Option<EstimateWithInterval>) -> TableValue {
    it.map_or(TableValue::Missing, TableValue::Estimate)
}

#[cfg(test)]
mod tests;
