//! The tables of a late-interaction analysis.

use super::{ReportTable, TableColumnKind, TableValue, format};
use crate::late_interaction::{
    LateInteractionQuantity, LateInteractionQuantityValue, LateInteractionRankerAnalysis,
    LateInteractionSummary, LateInteractionTokenStatistics, LateInteractionWordStatistics,
};
use crate::probe::pool::CandidatePoolSpec;
use crate::stats::correlation::CorrelationWithSampleSize;

/// Returns the table of correlations and means before and after fine-tuning; `None` if the encoder
/// before fine-tuning was not analyzed.
pub fn fine_tuning_table(found: &LateInteractionRankerAnalysis) -> Option<ReportTable> {
    let before = found.before_fine_tuning.as_ref()?;
    let after = found.summary();
    let row = |quantity: LateInteractionQuantity, of: &str| {
        let name = TableValue::Text(format!("{of} {}", quantity.name()));
        let [before, after] = [before, &after].map(|it| quantity_value(quantity, it));
        vec![name, before, after, published(quantity)]
    };
    let correlations = LateInteractionQuantity::CORRELATIONS.into_iter();
    let correlations = correlations.map(|it| row(it, "correlation of idf with"));
    let means = LateInteractionQuantity::MEANS.into_iter();
    let table = head(found, "fine-tuning", "before and after fine-tuning")
        .add_text_columns("quantity")
        .with_more_columns_of_kind(
            TableColumnKind::Estimate,
            [
                format!("before: {}", before.label),
                format!("after: {}", after.label),
            ],
        )
        .add_number_columns("after, in the paper");
    Some(ReportTable {
        rows: correlations
            .chain(means.map(|it| row(it, "mean")))
            .collect(),
        ..table
    })
}

/// Returns the value of a quantity in a summary.
pub(crate) fn quantity_value(
    quantity: LateInteractionQuantity,
    found: &LateInteractionSummary,
) -> TableValue {
    match quantity.value_in(found) {
        LateInteractionQuantityValue::Correlation(it) => {
            it.map_or(TableValue::Missing, |it| TableValue::Estimate(it.r))
        }
        LateInteractionQuantityValue::Mean(it) => number(it),
    }
}

fn published(quantity: LateInteractionQuantity) -> TableValue {
    let value = quantity.published_value();
    value.map_or(TableValue::Missing, TableValue::Difference)
}

/// Returns three tables: `correlations` next to those of the paper, `terms` and `tokens`.
pub fn late_interaction_tables(found: &LateInteractionRankerAnalysis) -> [ReportTable; 3] {
    [correlations(found), words(found), pieces(found)]
}

fn correlations(found: &LateInteractionRankerAnalysis) -> ReportTable {
    let of_quantities = [
        found.idf_importance_correlation.as_ref(),
        found.idf_delta_es_correlation.as_ref(),
        found.idf_spectral_correlation.as_ref(),
    ];
    let quantities = LateInteractionQuantity::CORRELATIONS.into_iter();
    let rows = quantities.zip(of_quantities).map(|(it, of)| row(it, of));
    let table = head(found, "correlations", &found.header.ranker.label)
        .add_text_columns("correlation of idf with")
        .add_number_columns("r")
        .add_estimate_columns("interval")
        .add_number_columns("points | r in the paper");
    ReportTable {
        rows: rows.collect(),
        notes: notes(found),
        ..table
    }
}

fn head(found: &LateInteractionRankerAnalysis, name: &str, what: &str) -> ReportTable {
    ReportTable::new(name, format!("{}: {what}", found.header.title))
}

fn row(
    quantity: LateInteractionQuantity,
    found: Option<&CorrelationWithSampleSize>,
) -> Vec<TableValue> {
    let of = |value: &dyn Fn(&CorrelationWithSampleSize) -> TableValue| {
        found.map_or(TableValue::Missing, value)
    };
    vec![
        TableValue::Text(quantity.name().to_owned()),
        of(&|it| TableValue::Difference(it.r.value)),
        of(&|it| TableValue::Interval(it.r.interval)),
        of(&|it| TableValue::Count(it.n)),
        published(quantity),
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
            describe_pool(&found.header.pool)
        ),
        "In the paper (Formal, Piwowarski & Clinchant, ECIR 2021): ColBERT on 400 queries of \
         TREC DL 2019 and 2020, without marker tokens and [MASK] tokens."
            .to_owned(),
    ];
    notes.extend(found.header.ranker.note.clone());
    notes
}

/// Describes the candidate pool of an analysis as a page shows it, such as `BM25 top 50`.
pub(crate) fn describe_pool(pool: &str) -> String {
    pool.parse::<CandidatePoolSpec>()
        .map_or_else(|_| pool.to_owned(), |it| it.describe())
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
