//! The tables of a late-interaction analysis.

use super::{ReportTable, TableColumnKind, TableValue, format};
use crate::late_interaction::{
    LateInteractionRankerAnalysis, LateInteractionSummary, LateInteractionTokenStatistics,
    LateInteractionWordStatistics,
};
use crate::stats::correlation::CorrelationWithSampleSize;

/// The values of Formal, Piwowarski & Clinchant for idf and term importance, ΔES and spectral
/// ratio.
const PUBLISHED: [f64; 3] = [-0.4, 0.667, 0.77];

/// Returns the table of correlations and means before and after fine-tuning; `None` if the encoder
/// before fine-tuning was not analyzed.
pub fn fine_tuning_table(found: &LateInteractionRankerAnalysis) -> Option<ReportTable> {
    let before = found.before_fine_tuning.as_ref()?;
    let after = found.summary();
    let [importance, delta_es, ratio] = PUBLISHED;
    type Correlation = Option<CorrelationWithSampleSize>;
    let correlation = |what: &str, of: &dyn Fn(&LateInteractionSummary) -> Correlation, paper| {
        let value = |of: Correlation| {
            of.map_or(TableValue::Missing, |it| TableValue::Difference(it.r.value))
        };
        let published = TableValue::Difference(paper);
        let name = TableValue::Text(format!("correlation of idf with {what}"));
        vec![name, value(of(before)), value(of(&after)), published]
    };
    let mean = |what: &str, of: &dyn Fn(&LateInteractionSummary) -> Option<f64>| {
        let name = TableValue::Text(format!("mean {what}"));
        let [before, after] = [before, &after].map(|it| number(of(it)));
        vec![name, before, after, TableValue::Missing]
    };
    let rows = vec![
        correlation(
            "importance, by term",
            &|it| it.idf_importance_correlation,
            importance,
        ),
        correlation("ΔES, by term", &|it| it.idf_delta_es_correlation, delta_es),
        correlation(
            "spectral ratio, by token",
            &|it| it.idf_spectral_correlation,
            ratio,
        ),
        mean("importance of a term (τ_AP)", &|it| it.mean_importance),
        mean("ΔES of a term", &|it| it.mean_delta_es),
        mean("fraction of exact matches of a term", &|it| {
            it.mean_exact_share
        }),
        mean("spectral ratio of a token", &|it| it.mean_spectral_ratio),
    ];
    let table = head(found, "fine-tuning", "before and after fine-tuning")
        .add_text_columns("quantity")
        .with_more_columns_of_kind(
            TableColumnKind::Number,
            [
                format!("before: {}", before.label),
                format!("after: {}", after.label),
                "after, in the paper".to_owned(),
            ]
            .iter(),
        );
    Some(ReportTable { rows, ..table })
}

/// Returns three tables: `correlations` next to those of the paper, `terms` and `tokens`.
pub fn late_interaction_tables(found: &LateInteractionRankerAnalysis) -> [ReportTable; 3] {
    [correlations(found), words(found), pieces(found)]
}

fn correlations(found: &LateInteractionRankerAnalysis) -> ReportTable {
    let [importance, delta_es, ratio] = PUBLISHED;
    let rows = vec![
        row(
            "importance, by term",
            found.idf_importance_correlation.as_ref(),
            Some(importance),
        ),
        row(
            "ΔES, by term",
            found.idf_delta_es_correlation.as_ref(),
            Some(delta_es),
        ),
        row(
            "spectral ratio, by token",
            found.idf_spectral_correlation.as_ref(),
            Some(ratio),
        ),
    ];
    let table = head(found, "correlations", &found.header.ranker.label)
        .add_text_columns("correlation of idf with")
        .add_number_columns("r")
        .add_estimate_columns("interval")
        .add_number_columns("points | r in the paper");
    ReportTable {
        rows,
        notes: notes(found),
        ..table
    }
}

fn head(found: &LateInteractionRankerAnalysis, name: &str, what: &str) -> ReportTable {
    ReportTable::new(name, format!("{}: {what}", found.header.title))
}

fn row(
    what: &str,
    found: Option<&CorrelationWithSampleSize>,
    published: Option<f64>,
) -> Vec<TableValue> {
    let of = |value: &dyn Fn(&CorrelationWithSampleSize) -> TableValue| {
        found.map_or(TableValue::Missing, value)
    };
    vec![
        TableValue::Text(what.to_owned()),
        of(&|it| TableValue::Difference(it.r.value)),
        of(&|it| TableValue::Interval(it.r.interval)),
        of(&|it| TableValue::Count(it.n)),
        published.map_or(TableValue::Missing, TableValue::Difference),
    ]
}

fn notes(found: &LateInteractionRankerAnalysis) -> Vec<String> {
    let mut notes = vec![
        "Importance: τ_AP between the ranking of the candidate pool and the ranking without the \
         term; a low value means important; the original ranking is the reference. ΔES: mean of \
         the highest cosine of a query token where it matches itself minus the mean where it \
         matches another token."
            .to_owned(),
        format!(
            "Spectral ratio: the largest singular value of the vectors of a token divided by \
             the sum of their singular values, for tokens with at least {} vectors; the vectors \
             are not centered.",
            found.header.min_occurrences
        ),
        format!(
            "{} pairs of {} queries and {} documents of {}, candidate pool {}.",
            format::format_count(found.header.n_pairs),
            format::format_count(found.header.queries.len() as u64),
            format::format_count(found.header.n_docs),
            found.header.collection,
            found.header.pool
        ),
        "In the paper (Formal, Piwowarski & Clinchant, ECIR 2021): ColBERT on 400 queries of \
         TREC DL 2019 and 2020, without marker tokens and [MASK] tokens."
            .to_owned(),
    ];
    notes.extend(found.header.ranker.note.clone());
    notes
}

fn number(value: Option<f64>) -> TableValue {
    value.map_or(TableValue::Missing, |value| TableValue::Score {
        value,
        digits: 3,
    })
}

fn words(found: &LateInteractionRankerAnalysis) -> ReportTable {
    let table = head(found, "terms", "terms")
        .add_text_columns("term | tokens")
        .add_number_columns(
            "queries | idf | importance | importance, swapped reference | importance, symmetric \
             | ΔES | exact match | other query term",
        )
        .add_text_columns("others");
    let row = |it: &LateInteractionWordStatistics| {
        let soft = it.soft_matches.iter();
        let soft = soft.map(|it| {
            format!(
                "{} {}",
                it.token,
                format::format_two_digit_fraction(it.share)
            )
        });
        vec![
            TableValue::Text(it.word.clone()),
            TableValue::Text(it.tokens.join(" ")),
            TableValue::Count(it.query_nos.len() as u64),
            number(it.idf),
            number(it.importance),
            number(it.importance_reversed),
            number(it.importance_symmetric),
            number(it.delta_es),
            TableValue::Fraction(it.exact_share),
            TableValue::Fraction(it.other_query_token_share),
            TableValue::Text(soft.collect::<Vec<_>>().join(", ")),
        ]
    };
    ReportTable {
        rows: found.words.iter().map(row).collect(),
        ..table
    }
}

fn pieces(found: &LateInteractionRankerAnalysis) -> ReportTable {
    let table = head(found, "tokens", "tokens")
        .add_text_columns("token")
        .add_number_columns(
            "idf | ΔES | query positions | document vectors | spectral ratio | spectral ratio \
             before fine-tuning",
        );
    let row = |it: &LateInteractionTokenStatistics| {
        vec![
            TableValue::Text(it.token.clone()),
            number(it.idf),
            number(it.delta_es),
            TableValue::Count(it.n_query_positions),
            TableValue::Count(it.n_occurrences),
            number(it.spectral_ratio),
            number(it.pretrained_spectral_ratio),
        ]
    };
    ReportTable {
        rows: found.tokens.iter().map(row).collect(),
        ..table
    }
}
