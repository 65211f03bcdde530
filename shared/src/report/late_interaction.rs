//! The tables of a ranker looked into.

use super::{ReportTable, TableValue, format};
use crate::late_interaction::{LateInteractionAnalysis, TokenStatistics, WordStatistics};
use crate::stats::correlation::Correlation;

/// What Formal, Piwowarski & Clinchant have for idf and importance, ΔES and spectral ratio.
const PUBLISHED: [f64; 3] = [-0.4, 0.667, 0.77];

/// Three tables: `correlations` beside the paper's, `words` and `pieces`.
pub fn late_interaction_tables(found: &LateInteractionAnalysis) -> [ReportTable; 3] {
    [correlations(found), words(found), pieces(found)]
}

fn correlations(found: &LateInteractionAnalysis) -> ReportTable {
    let [importance, delta_es, ratio] = PUBLISHED;
    let mut rows = vec![
        row(
            "importance, by word",
            found.r_importance.as_ref(),
            Some(importance),
        ),
        row("ΔES, by word", found.r_delta_es.as_ref(), Some(delta_es)),
        row(
            "spectral ratio, by piece",
            found.r_ratio.as_ref(),
            Some(ratio),
        ),
    ];
    let has_before = found.pieces.iter().any(|it| it.ratio_before.is_some());
    if has_before {
        let what = "spectral ratio before fine-tuning, by piece";
        rows.push(row(what, found.r_ratio_before.as_ref(), None));
    }
    let table = head(found, "correlations", &found.head.ranker.label)
        .with_texts("idf and")
        .with_numbers("r")
        .with_estimates("interval")
        .with_numbers("points | the paper's r");
    ReportTable {
        rows,
        notes: notes(found),
        ..table
    }
}

fn head(found: &LateInteractionAnalysis, name: &str, what: &str) -> ReportTable {
    ReportTable::new(name, format!("{}: {what}", found.head.title))
}

fn row(what: &str, found: Option<&Correlation>, published: Option<f64>) -> Vec<TableValue> {
    let of = |value: &dyn Fn(&Correlation) -> TableValue| found.map_or(TableValue::Missing, value);
    vec![
        TableValue::Text(what.to_owned()),
        of(&|it| TableValue::Difference(it.r.value)),
        of(&|it| TableValue::Interval(it.r.interval)),
        of(&|it| TableValue::Count(it.n)),
        published.map_or(TableValue::Missing, TableValue::Difference),
    ]
}

fn notes(found: &LateInteractionAnalysis) -> Vec<String> {
    let mut notes = vec![
        "Importance: τ_AP of the pool as ranked and as ranked without the word; low is important. \
         The ranking as it is is the reference. ΔES: greatest cosine where a piece finds itself, \
         less that where it does not."
            .to_owned(),
        format!(
            "Spectral ratio: the first singular value of all vectors of a piece over their sum, of \
             pieces with at least {} vectors; not centred.",
            found.head.floor
        ),
        format!(
            "{} pairs of {} queries and {} texts of {}, pool {}.",
            format::count(found.head.n_pairs),
            format::count(found.head.queries.len() as u64),
            format::count(found.head.n_texts),
            found.head.collection,
            found.head.pool
        ),
        "The paper's: ColBERT on 400 queries of TREC DL 2019 and 2020, without markers and without \
         [MASK]."
            .to_owned(),
    ];
    notes.extend(found.head.ranker.note.clone());
    notes
}

fn number(value: Option<f64>) -> TableValue {
    value.map_or(TableValue::Missing, |value| TableValue::Score {
        value,
        digits: 3,
    })
}

fn words(found: &LateInteractionAnalysis) -> ReportTable {
    let table = head(found, "words", "words")
        .with_texts("word | pieces")
        .with_numbers(
            "queries | idf | importance | turned | symmetric | ΔES | exact | of the query",
        )
        .with_texts("others");
    let row = |it: &WordStatistics| {
        let soft = it.soft.iter();
        let soft = soft.map(|it| format!("{} {}", it.piece, format::fraction(it.share)));
        vec![
            TableValue::Text(it.word.clone()),
            TableValue::Text(it.pieces.join(" ")),
            TableValue::Count(it.queries.len() as u64),
            number(it.idf),
            number(it.importance),
            number(it.importance_turned),
            number(it.importance_symmetric),
            number(it.delta_es),
            TableValue::Fraction(it.exact),
            TableValue::Fraction(it.other),
            TableValue::Text(soft.collect::<Vec<_>>().join(", ")),
        ]
    };
    ReportTable {
        rows: found.words.iter().map(row).collect(),
        ..table
    }
}

fn pieces(found: &LateInteractionAnalysis) -> ReportTable {
    let table = head(found, "pieces", "pieces")
        .with_texts("piece")
        .with_numbers("idf | ΔES | places | vectors | spectral ratio | before fine-tuning");
    let row = |it: &TokenStatistics| {
        vec![
            TableValue::Text(it.piece.clone()),
            number(it.idf),
            number(it.delta_es),
            TableValue::Count(it.n_places),
            TableValue::Count(it.n_occurrences),
            number(it.ratio),
            number(it.ratio_before),
        ]
    };
    ReportTable {
        rows: found.pieces.iter().map(row).collect(),
        ..table
    }
}
