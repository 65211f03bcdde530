//! The tables of a study: rankers × axioms, each cell with its counts, the axioms and the rankers.

use super::{ReportTable, TableColumnKind, TableValue, format};
use crate::probe::{Axiom, AxiomVariant, MiningThresholds, Probe};
use crate::score::rescoring::ScoringEnvironment;
use crate::stats::bootstrap;
use crate::study::controls::{InstanceSubset, StudyPageControls};
use crate::study::overview::{RankerAxiomResult, RankerOverviewRow, StudyOverview};

/// Returns four tables, and with neural rankers a fifth, for the controls with which `overview`
/// was computed:
///
/// - `fractions`, for readers: rankers × axioms with intervals, effectiveness, agreement with
///   relevance judgments and counts; its notes contain everything that is needed to reproduce it,
/// - `cells`, for programs: one row for each ranker and axiom,
/// - `axioms`: what was mined,
/// - `rankers`: the rankers of the study,
/// - `stability`: the score stability check, how scores of neural rankers were computed and how
///   some of them change under other conditions.
pub fn study_tables(overview: &StudyOverview) -> Vec<ReportTable> {
    let overview = &overview.clone().with_distinct_labels();
    let mut tables = vec![
        fractions(overview),
        cells(overview),
        axioms(overview),
        rankers(overview),
    ];
    tables.extend(stability(overview));
    tables
}

fn fractions(overview: &StudyOverview) -> ReportTable {
    let title = format!(
        "{}: how often each ranker agrees with each axiom",
        overview.title
    );
    let axioms = overview.columns.iter().map(|it| it.probe.name());
    let has_trained = overview.rows.iter().any(|it| it.training.is_some());
    let measures = overview.measures.iter().flat_map(|it| {
        let swapped = has_trained.then(|| swapped_column(it));
        [it.clone()].into_iter().chain(swapped)
    });
    let table = ReportTable::new("fractions", title)
        .add_text_columns("ranker")
        .with_more_columns_of_kind(TableColumnKind::Estimate, axioms)
        .with_more_columns_of_kind(TableColumnKind::Number, measures);
    let row = |name: &str, values: Vec<TableValue>| {
        let mut row = vec![TableValue::Text(name.to_owned())];
        row.extend(values);
        row.resize(table.columns.len(), TableValue::Missing);
        row
    };
    let mut rows: Vec<Vec<TableValue>> = Vec::new();
    for it in &overview.rows {
        let mut values: Vec<TableValue> = it.cells.iter().map(|it| fraction(it.as_ref())).collect();
        values.resize(overview.columns.len(), TableValue::Missing);
        for (measure, own) in it.effectiveness.iter().enumerate() {
            let training = it.training.as_ref();
            let swapped = training.and_then(|it| it.swapped_effectiveness[measure]);
            let shown = [*own, swapped]
                .into_iter()
                .take(1 + usize::from(has_trained));
            values.extend(shown.map(|it| it.map_or(TableValue::Missing, TableValue::Fraction)));
        }
        rows.push(row(&it.ranker.label, values));
    }
    let probes = overview.columns.iter();
    let agreement = probes
        .clone()
        .map(|it| fraction(it.qrels_cell.as_ref()))
        .collect();
    rows.push(row(
        "relevance judgments on instances with different grades",
        agreement,
    ));
    let counts = probes
        .clone()
        .map(|it| TableValue::Count(it.n_instances))
        .collect();
    rows.push(row("instances", counts));
    let relevant = probes
        .map(|it| TableValue::Count(it.n_with_relevant))
        .collect();
    rows.push(row("with a relevant document", relevant));
    ReportTable {
        rows,
        notes: notes(overview),
        ..table
    }
}

/// Returns the name of the column with the values of trained rankers for another query.
pub(super) fn swapped_column(measure: &str) -> String {
    format!("{measure}, another query")
}

/// The note on those columns.
pub(super) const SWAPPED_NOTE: &str = "Another query: the effectiveness of a trained ranker on the \
     same pools when it reads the text of another query of the split; what remains does not need \
     the query.";

fn cells(overview: &StudyOverview) -> ReportTable {
    let mut table = head(overview, "cells", "each ranker on each axiom")
        .add_text_columns("ranker | axiom | variant")
        .add_number_columns("satisfied | tied | violated | unscored | share scored | queries")
        .add_estimate_columns("fraction | mean over queries")
        .add_number_columns(
            "p | p (Holm) | smallest detectable difference from .5 | fraction \
             without truncated documents",
        )
        .add_text_columns("instance hash | fingerprint");
    table.notes.push(
        "Share scored: the share of the instances whose documents all have a score of the ranker."
            .to_owned(),
    );
    for RankerOverviewRow { ranker, cells, .. } in &overview.rows {
        for (column, cell) in overview.columns.iter().zip(cells) {
            let mut row = vec![
                TableValue::Text(ranker.label.clone()),
                TableValue::Text(column.probe.slug().into_owned()),
                TableValue::Text(overview.variant.slug().to_owned()),
            ];
            row.extend(
                cell.as_ref()
                    .map_or_else(|| vec![TableValue::Missing; 12], counted),
            );
            row.push(TableValue::Text(short(&overview.instances_hash)));
            row.push(TableValue::Text(short(&ranker.fingerprint)));
            table.rows.push(row);
        }
    }
    table
}

fn axioms(overview: &StudyOverview) -> ReportTable {
    let splits = overview.splits.iter();
    let splits = splits.map(|it| format!("instances, {}", it.name));
    let mut table = head(overview, "axioms", "mined instances")
        .add_text_columns("axiom | variant | expected preference")
        .add_number_columns("instances | with a relevant document | in both orders | share kept")
        .add_estimate_columns("agreement with relevance")
        .add_number_columns("instances with different grades")
        .with_more_columns_of_kind(TableColumnKind::Number, splits);
    table.notes.push(
        "In both orders: instances whose two documents are also an instance in the opposite \
         order. Share kept: the share of the instances found that the maximum per query keeps."
            .to_owned(),
    );
    let rows = overview.columns.iter().map(|it| {
        let compared = it.qrels_cell.as_ref().map(|it| it.tally.n_with_verdict());
        let mut row = vec![
            TableValue::Text(it.probe.slug().into_owned()),
            TableValue::Text(overview.variant.slug().to_owned()),
            TableValue::Text(it.claim.slug().to_owned()),
            TableValue::Count(it.n_instances),
            TableValue::Count(it.n_with_relevant),
            TableValue::Count(it.n_both_orders),
            TableValue::Fraction(it.sampled_fraction),
            fraction(it.qrels_cell.as_ref()),
            compared.map_or(TableValue::Missing, TableValue::Count),
        ];
        row.extend(it.n_per_split.iter().map(|&it| TableValue::Count(it)));
        row
    });
    ReportTable {
        rows: rows.collect(),
        ..table
    }
}

fn rankers(overview: &StudyOverview) -> ReportTable {
    let table = head(overview, "rankers", "rankers")
        .add_text_columns("ranker | detail | kind | specification | fingerprint")
        .add_number_columns("pairs without a score | truncated pairs")
        .add_text_columns("note");
    let rows = overview.rows.iter().map(|row| {
        let RankerOverviewRow {
            ranker,
            n_unscored: n_missing,
            ..
        } = row;
        vec![
            TableValue::Text(ranker.label.clone()),
            TableValue::Text(ranker.detail.clone()),
            TableValue::Text(ranker.kind.label().to_lowercase()),
            TableValue::Text(ranker.spec.clone()),
            TableValue::Text(ranker.fingerprint.clone()),
            TableValue::Count(*n_missing),
            row.n_truncated_pairs_if_known()
                .map_or(TableValue::Missing, TableValue::Count),
            ranker
                .note
                .clone()
                .map_or(TableValue::Missing, TableValue::Text),
        ]
    });
    ReportTable {
        rows: rows.collect(),
        ..table
    }
}

/// Returns the table of score stability checks, or `None` if no ranker has one.
pub fn score_stability_table(overview: &StudyOverview) -> Option<ReportTable> {
    stability(&overview.clone().with_distinct_labels())
}

fn stability(overview: &StudyOverview) -> Option<ReportTable> {
    let table = head(overview, "stability", "score stability check")
        .add_text_columns("ranker | rescored")
        .add_number_columns(
            "pairs | largest difference | score range | verdicts | changed | fraction changed",
        );
    let mut rows = Vec::new();
    // Group rankers by how they were computed, so that each way is stated once.
    let mut ways: Vec<(String, Vec<&str>)> = Vec::new();
    for row in &overview.rows {
        let Some(certified) = &row.stability else {
            continue;
        };
        let way = way(&certified.computation);
        match ways.iter_mut().find(|it| it.0 == way) {
            Some((_, labels)) => labels.push(&row.ranker.label),
            None => ways.push((way, vec![&row.ranker.label])),
        }
        for it in &certified.checks {
            let changed = match it.n_verdicts {
                0 => TableValue::Missing,
                n => TableValue::Fraction(it.n_changed as f64 / n as f64),
            };
            rows.push(vec![
                TableValue::Text(row.ranker.label.clone()),
                TableValue::Text(it.condition.label().to_owned()),
                TableValue::Count(it.n_pairs),
                TableValue::Magnitude(it.max_difference),
                TableValue::Score {
                    value: it.score_range,
                    digits: format::score_decimals_for_spread(it.score_range),
                },
                TableValue::Count(it.n_verdicts),
                TableValue::Count(it.n_changed),
                changed,
            ]);
        }
    }
    let ways = ways.into_iter();
    let mut notes: Vec<String> = ways
        .map(|(way, labels)| format!("{}: computed {way}.", labels.join(", ")))
        .collect();
    notes.push(
        "A verdict is changed if it differs between the run and the other condition.".to_owned(),
    );
    notes.extend(table.notes);
    (!rows.is_empty()).then_some(ReportTable {
        rows,
        notes,
        ..table
    })
}

/// Creates a table about the instances of the study, with a note that names them.
fn head(overview: &StudyOverview, name: &str, what: &str) -> ReportTable {
    ReportTable {
        notes: vec![same_instances(overview)],
        ..ReportTable::new(name, format!("{}: {what}", overview.title))
    }
}

/// Formats how scores were computed: `on cpu in f32, GELU by erf`.
fn way(computation: &ScoringEnvironment) -> String {
    let mut way = format!("on {} in {}", computation.device, computation.precision);
    if let Some(activation) = &computation.activation {
        way += &format!(", {activation}");
    }
    way
}

fn fraction(cell: Option<&RankerAxiomResult>) -> TableValue {
    cell.map_or(TableValue::Missing, |it| {
        TableValue::Estimate(it.micro_average)
    })
}

fn counted(cell: &RankerAxiomResult) -> Vec<TableValue> {
    vec![
        TableValue::Count(cell.tally.satisfied),
        TableValue::Count(cell.tally.tied),
        TableValue::Count(cell.tally.violated),
        TableValue::Count(cell.tally.unscored),
        TableValue::Fraction(cell.scored_fraction()),
        TableValue::Count(cell.n_queries),
        TableValue::Estimate(cell.micro_average),
        TableValue::Estimate(cell.macro_average),
        TableValue::PValue(cell.p),
        TableValue::PValue(cell.p_holm),
        cell.detectable_difference
            .map_or(TableValue::Missing, TableValue::Fraction),
        cell.untruncated_fraction
            .map_or(TableValue::Missing, TableValue::Fraction),
    ]
}

/// Returns the controls that differ from the settings of the study.
fn dials(dials: &StudyPageControls) -> String {
    let mut turned = String::new();
    if let Some(delta) = dials.length_tolerance {
        turned += &format!(", length tolerance δ {delta} terms");
    }
    if let Some(width) = dials.tie_threshold {
        turned += &format!(", tie threshold {width}");
    }
    match dials.subset {
        InstanceSubset::All => {}
        InstanceSubset::Untruncated => turned += ", untruncated documents only",
        InstanceSubset::WithRelevant => turned += ", instances with a relevant document only",
    }
    turned + &query_split_suffix(dials)
}

/// Returns which queries are selected, if not all.
pub(super) fn query_split_suffix(dials: &StudyPageControls) -> String {
    let split = dials.split.as_ref();
    split.map_or_else(String::new, |it| format!(", queries of split {it} only"))
}

/// Shortens a hash to twelve digits, which in practice distinguishes any two.
fn short(hash: &str) -> String {
    hash.chars().take(12).collect()
}

fn same_instances(overview: &StudyOverview) -> String {
    instance_provenance_note(
        &overview.instances_hash,
        overview.variant,
        &overview.controls,
        &overview.name,
    )
}

/// Returns the note that names the instances of a table and their study.
pub(super) fn instance_provenance_note(
    hash: &str,
    variant: AxiomVariant,
    controls: &StudyPageControls,
    study: &str,
) -> String {
    format!(
        "Instance hash {hash}, variant {}{}, from study {study}.",
        variant.slug(),
        query_split_suffix(controls),
    )
}

fn notes(overview: &StudyOverview) -> Vec<String> {
    let count = format::format_count;
    let dials = dials(&overview.controls);
    let mut notes = vec![
        format!(
            "Study {}, mined {} by Axioscope {}, reported by Axioscope {}.",
            overview.name,
            format::spell_out_iso_date(&overview.created),
            overview.software,
            env!("CARGO_PKG_VERSION")
        ),
        format!(
            "Instance hash {}, variant {}{dials}.",
            overview.instances_hash,
            overview.variant.slug()
        ),
        format!(
            "Collection hash {}: {} documents, {} terms; {} queries, {} query-document pairs.",
            overview.collection_hash,
            count(overview.totals.n_docs),
            count(overview.totals.n_terms),
            count(overview.n_queries),
            count(overview.n_pairs)
        ),
        format!(
            "Candidate pool: {} ({}); analyzer: {}.",
            overview.pool.describe(),
            overview.pool,
            overview.analyzer
        ),
        limits(&overview.limits, overview.columns.iter().map(|it| it.probe)),
        format!(
            "Fractions are over instances; brackets hold the 95 % interval of a percentile \
             bootstrap over queries ({} draws, seed {}). p: test against .5 with Holm's \
             correction for {} tests. Ties are reported separately; they agree with the axiom \
             only if the expected preference allows them. nDCG, RR, AP and P are those of the order \
             of the documents in each candidate pool; a full run has another AP.",
            count(bootstrap::N_RESAMPLES as u64),
            bootstrap::SEED,
            count(overview.n_tests)
        ),
    ];
    if overview.rows.iter().any(|it| it.training.is_some()) {
        notes.push(SWAPPED_NOTE.to_owned());
    }
    notes.extend(overview.rows.iter().map(who));
    notes.extend(overview.remarks.iter().cloned());
    notes
}

fn limits(limits: &MiningThresholds, axioms: impl Iterator<Item = Probe>) -> String {
    let MiningThresholds {
        length_tolerance_terms: length_gap_terms,
        min_query_term_occurrences: min_terms,
        min_repetitions: repeat_from,
        max_repetitions: repeat_to,
        max_repeated_doc_terms: repeated_terms,
        fill_length_terms: filled_terms,
        max_fillable_doc_terms: fillable_terms,
        // It is named with the word vectors, without which it has no effect.
        min_similarity: _,
        relative_tolerance: share,
        ratio_tolerance: ratio_share,
        max_per_query: per_query,
        seed,
        // Behavioral tests have tables of their own.
        max_manipulated_docs: _,
    } = *limits;
    let gap = length_gap_terms.map_or("∞".to_owned(), |it| it.to_string());
    let cap = match per_query {
        None => "all instances kept".to_owned(),
        Some(most) => format!("at most {most} instances of an axiom per query, seed {seed}"),
    };
    let mut theirs =
        axioms.filter(|it| matches!(it, Probe::Axiom(Axiom::IrAxioms(_) | Axiom::Formula(_))));
    let shares = match theirs.next().is_some() {
        true => format!(
            " Axioms of ir_axioms: about equal = within {share} of the larger value (STMC2 \
             {ratio_share})."
        ),
        false => String::new(),
    };
    format!(
        "Limits: length tolerance δ {gap} terms, query-term occurrences ≥ {min_terms}, \
         {cap}; LNC2 repeats {repeat_from} to {repeat_to} times up to {repeated_terms} terms \
         (variant paper: up to {filled_terms}, variant code: documents up to \
         {fillable_terms}).{shares}"
    )
}

fn who(row: &RankerOverviewRow) -> String {
    let RankerOverviewRow {
        ranker,
        n_unscored: n_missing,
        n_truncated,
        ..
    } = row;
    let mut said = format!(
        "{}: {}, fingerprint {}",
        ranker.label, ranker.spec, ranker.fingerprint
    );
    if *n_missing > 0 {
        said += &format!(
            ", {} pairs without a score",
            format::format_count(*n_missing)
        );
    }
    if *n_truncated > 0 {
        said += &format!(", {} pairs truncated", format::format_count(*n_truncated));
    }
    if let Some(note) = &ranker.note {
        said += &format!("; {note}");
    }
    said.push('.');
    said
}
