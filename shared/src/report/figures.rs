//! The figures of a study as tables.

use super::study_tables::{SWAPPED_NOTE, instance_provenance_note, swapped_column};
use super::{ReportTable, TableColumnKind, TableValue, precondition};
use crate::probe::MeasuredPrecondition;
use crate::score::disambiguate_labels;
use crate::study::figures::StudyFigures;
use crate::study::figures::effectiveness::EffectivenessCell;
use crate::study::figures::funnel::{
    AxiomRelaxationFunnel, AxiomRelaxationStage, PreconditionWithFailureCounts,
};
use crate::study::figures::query_overlap::EffectivenessPerOverlapThird;

/// Returns the nonempty tables, in the order of the page:
///
/// - `funnel`: from candidates to instances, axiom by axiom,
/// - `preconditions`: how many candidates each precondition excludes,
/// - `tokenization`: the instances that remain under other analyzers,
/// - `compared`: every ranker compared with one of them,
/// - `effectiveness`: with the results of a signed-rank test,
/// - `overlap`: effectiveness in thirds of the queries,
/// - `scatter`: effectiveness and the mean of the fractions.
pub fn figure_data_tables(figures: &StudyFigures) -> Vec<ReportTable> {
    let figures = &with_distinct_labels(figures);
    let always = [funnel(figures), preconditions(figures)];
    let rest = [
        audit(figures),
        compared(figures),
        effectiveness(figures),
        overlap(figures),
        scatter(figures),
    ];
    always
        .into_iter()
        .chain(rest.into_iter().flatten())
        .collect()
}

/// Returns the figures with labels that differ between rankers.
pub(super) fn with_distinct_labels(figures: &StudyFigures) -> StudyFigures {
    let mut figures = figures.clone();
    disambiguate_labels(&mut figures.rankers);
    figures
}

/// Returns the label of a stage of the funnel.
pub fn funnel_step_label(reading: AxiomRelaxationStage) -> &'static str {
    match reading {
        AxiomRelaxationStage::Candidates => "candidates",
        AxiomRelaxationStage::Original => "original axiom",
        AxiomRelaxationStage::Relaxed => "relaxed",
        AxiomRelaxationStage::ExtendedByLength => "extended, lengths relaxed",
        AxiomRelaxationStage::Extended => "extended",
        AxiomRelaxationStage::Mined => "relaxed and extended",
        AxiomRelaxationStage::Derived => "derived",
    }
}

fn head(figures: &StudyFigures, name: &str, what: &str) -> ReportTable {
    ReportTable {
        notes: vec![instance_provenance_note(
            &figures.instances_hash,
            figures.variant,
            &figures.options.controls,
            &figures.name,
        )],
        ..ReportTable::new(name, format!("{}: {what}", figures.title))
    }
}

fn text(words: impl Into<String>) -> TableValue {
    TableValue::Text(words.into())
}

/// Returns the table from candidates to instances.
fn funnel(figures: &StudyFigures) -> ReportTable {
    let readings = [
        AxiomRelaxationStage::Candidates,
        AxiomRelaxationStage::Original,
        AxiomRelaxationStage::Relaxed,
        AxiomRelaxationStage::ExtendedByLength,
        AxiomRelaxationStage::Extended,
    ];
    let names = readings.iter().map(|it| funnel_step_label(*it));
    let mut table = head(figures, "funnel", "from candidates to instances")
        .add_text_columns("axiom")
        .with_more_columns_of_kind(TableColumnKind::Number, names.chain(["instances"]));
    let row = |funnel: &AxiomRelaxationFunnel| {
        let of = |wanted: &AxiomRelaxationStage| {
            let found = funnel.steps.iter().find(|it| it.stage == *wanted);
            found.map_or(TableValue::Missing, |it| TableValue::Count(it.n_candidates))
        };
        let last = funnel.steps.last();
        let name = [text(funnel.probe.name())];
        let last = [last.map_or(TableValue::Missing, |it| TableValue::Count(it.n_candidates))];
        let counts = readings.iter().map(of);
        name.into_iter().chain(counts).chain(last).collect()
    };
    table.rows = figures.funnels.iter().map(row).collect();
    table.notes.push(
        "Candidates are ordered pairs (TFC2: triples; LNC2: documents with a number of \
         repetitions) from the candidate pools. Original: the axiom as first stated, for \
         queries of one or two terms. Relaxed: the same queries, with the tolerances of the \
         study. Extended: queries of any length, with the preconditions as first stated, or \
         with the tolerance of the study for lengths only. Instances: relaxed and extended, \
         counted before the maximum per query is applied."
            .to_owned(),
    );
    table
}

/// Returns the table of how many candidates each precondition excludes.
fn preconditions(figures: &StudyFigures) -> ReportTable {
    let mut table = head(
        figures,
        "preconditions",
        "why pairs are rejected, by precondition",
    )
    .add_text_columns("axiom | precondition | bound")
    .add_number_columns("fail | fail only this | median shortfall | candidates");
    for funnel in &figures.funnels {
        table
            .rows
            .extend(funnel.precondition_failures.iter().map(|it| {
                let share = |n: u64| match funnel.n_checked {
                    0 => TableValue::Missing,
                    all => TableValue::Fraction(n as f64 / all as f64),
                };
                vec![
                    text(funnel.probe.name()),
                    text(precondition::precondition_label(
                        it.quantity,
                        it.relation,
                        precondition::EVERY_QUERY_TERM,
                    )),
                    text(precondition::precondition_bound_label(&measured(it))),
                    share(it.n_failed),
                    share(it.n_failed_only),
                    it.median_shortfall.map_or(TableValue::Missing, |by| {
                        text(precondition::format_precondition_value(it.quantity, by))
                    }),
                    TableValue::Count(funnel.n_checked),
                ]
            }));
    }
    table.notes.push(
        "Shares of the candidates in the last column: all of them, or a random sample of that \
         size."
            .to_owned(),
    );
    table
}

fn measured(missed: &PreconditionWithFailureCounts) -> MeasuredPrecondition {
    MeasuredPrecondition {
        quantity: missed.quantity,
        value: None,
        relation: missed.relation,
        bound: missed.bound,
    }
}

/// Returns the table of the instances that remain under other analyzers.
fn audit(figures: &StudyFigures) -> Option<ReportTable> {
    let first = figures.audits.first()?;
    let what = "instances that survive another analyzer";
    let axioms = first.rows.iter().map(|it| it.probe.name());
    let mut table = head(figures, "tokenization", what)
        .add_text_columns("analyzer")
        .with_more_columns_of_kind(TableColumnKind::Number, axioms);
    let counts = first
        .rows
        .iter()
        .map(|it| TableValue::Count(it.n_instances));
    let own = [text(figures.analyzer.clone())].into_iter().chain(counts);
    table.rows.push(own.collect());
    table.rows.extend(figures.audits.iter().map(|audit| {
        let held = audit.rows.iter().map(|it| match it.n_instances {
            0 => TableValue::Missing,
            n => TableValue::Fraction(it.n_retained as f64 / n as f64),
        });
        let name = [text(audit.analyzer.clone())];
        name.into_iter().chain(held).collect()
    }));
    table.notes.push(
        "The first row counts the instances of the study; the rows below give the share that \
         survives another analyzer, over the same candidate pools."
            .to_owned(),
    );
    Some(table)
}

/// Returns the table that compares every ranker with one of them.
fn compared(figures: &StudyFigures) -> Option<ReportTable> {
    let compared = &figures.reference_comparison;
    let reference = figures.rankers.get(compared.reference as usize)?;
    if compared.n_tests == 0 {
        return None;
    }
    let what = format!("rankers compared with {}", reference.label);
    let mut table = head(figures, "compared", &what)
        .add_text_columns("ranker | axiom")
        .add_number_columns(
            "difference | 95 % interval | Cohen's d | p | p, Holm | instances | queries",
        );
    for (ranker, row) in figures.rankers.iter().zip(&compared.rows) {
        let cells = row.iter().zip(&figures.funnels);
        table.rows.extend(cells.filter_map(|(cell, funnel)| {
            let it = cell.as_ref()?;
            let bounds = super::format::format_signed_interval(it.micro_average.interval);
            Some(vec![
                text(ranker.label.clone()),
                text(funnel.probe.name()),
                TableValue::Difference(it.micro_average.value),
                text(bounds),
                it.effect_size
                    .map_or(TableValue::Missing, TableValue::Difference),
                TableValue::PValue(it.p),
                TableValue::PValue(it.p_holm),
                TableValue::Count(it.n_verdicts),
                TableValue::Count(it.n_queries),
            ])
        }));
    }
    table.notes.push(format!(
        "Fraction of the ranker minus that of {}, over the instances with verdicts for both. p: \
         paired randomization test over queries, two-sided, with Holm's correction for {} \
         tests. Interval: percentile bootstrap over queries. d: mean difference over queries \
         divided by its standard deviation.",
        reference.label, compared.n_tests
    ));
    Some(table)
}

/// Returns the table of the rankers' effectiveness.
fn effectiveness(figures: &StudyFigures) -> Option<ReportTable> {
    let found = figures.effectiveness.as_ref()?;
    let mut table = head(figures, "effectiveness", "rankers by effectiveness")
        .add_number_columns("no.")
        .add_text_columns("ranker");
    let has_swapped = found
        .rows
        .iter()
        .flatten()
        .flatten()
        .any(|it| it.swapped.is_some());
    for measure in &found.measures {
        table = table.with_more_columns_of_kind(TableColumnKind::Estimate, [measure]);
        if has_swapped {
            let swapped = [swapped_column(measure)];
            table = table.with_more_columns_of_kind(TableColumnKind::Number, swapped);
        }
        table = table.add_text_columns("better than");
    }
    let rows = figures.rankers.iter().zip(&found.rows).enumerate();
    table.rows = rows
        .map(|(at, (ranker, rated))| {
            let mut row = vec![TableValue::Count(at as u64 + 1), text(ranker.label.clone())];
            for it in rated {
                let (mean, swapped, better_than) = match it {
                    Some(it) => {
                        let numbers = it.better_than.iter().map(|it| (it + 1).to_string());
                        let marks = numbers.collect::<Vec<_>>().join(", ");
                        (TableValue::Estimate(it.mean), it.swapped, text(marks))
                    }
                    None => (TableValue::Missing, None, TableValue::Missing),
                };
                row.push(mean);
                if has_swapped {
                    row.push(swapped.map_or(TableValue::Missing, TableValue::Fraction));
                }
                row.push(better_than);
            }
            row
        })
        .collect();
    table.notes.push(
        "Over the candidate pools; a document without a score, as in a score file with gaps, is \
         not retrieved. Better than: numbers of the rankers that it outperforms by Wilcoxon's \
         signed-rank test over queries, p < .05, uncorrected, as in the papers."
            .to_owned(),
    );
    if has_swapped {
        table.notes.push(SWAPPED_NOTE.to_owned());
    }
    Some(table)
}

/// Returns the table of effectiveness in thirds of the queries.
fn overlap(figures: &StudyFigures) -> Option<ReportTable> {
    let found = figures.query_overlap.as_ref()?;
    let what = format!(
        "{} by overlap of query and relevant documents",
        found.measure
    );
    let mut table = head(figures, "overlap", &what)
        .add_text_columns("queries | ranker")
        .add_estimate_columns("low | medium | high");
    let labels: Vec<String> = figures.rankers.iter().map(|it| it.label.clone()).collect();
    let mut add = |name: &str, thirds: &EffectivenessPerOverlapThird| {
        let counts = thirds.n_queries.map(TableValue::Count);
        let head = [text(name), text("queries")];
        table.rows.push(head.into_iter().chain(counts).collect());
        let rows = thirds.named_rows(&labels).into_iter();
        table.rows.extend(rows.map(|(label, row)| {
            let head = [text(name), text(label)];
            let means = row.map(|it| it.map_or(TableValue::Missing, TableValue::Estimate));
            head.into_iter().chain(means).collect()
        }));
    };
    add("all", &found.all_queries);
    add("with a relevant candidate", &found.relevant_in_pool);
    let [low, high] = found.edges.map(super::format::format_two_digit_fraction);
    table.notes.push(format!(
        "Overlap: the share of a query's distinct terms that a relevant document contains, \
         averaged over its relevant documents. Low: at most {low}; high: above {high}."
    ));
    let swapped = found.all_queries.swapped_rows.iter().flatten();
    if swapped.flatten().next().is_some() {
        table.notes.push(SWAPPED_NOTE.to_owned());
    }
    Some(table)
}

/// Returns the table of effectiveness against the axioms.
fn scatter(figures: &StudyFigures) -> Option<ReportTable> {
    let found = figures.effectiveness_scatter.as_ref()?;
    let what = format!("{} and axiom agreement", found.measure);
    let swapped = swapped_values(figures);
    let swapped_name = swapped.iter().any(Option::is_some);
    let swapped_name = swapped_name.then(|| swapped_column(&found.measure));
    let mut table = head(figures, "scatter", &what)
        .add_text_columns("ranker")
        .with_more_columns_of_kind(TableColumnKind::Number, [&found.measure])
        .with_more_columns_of_kind(TableColumnKind::Number, &swapped_name)
        .add_number_columns("mean fraction over axioms");
    let axioms = found.axioms.iter().map(|it| it.name());
    let axioms = axioms.collect::<Vec<_>>().join(", ");
    table.notes.push(format!(
        "Mean over the axioms with verdicts for every ranker: {axioms}."
    ));
    let rows = figures.rankers.iter().zip(&found.points).zip(swapped);
    table.rows = rows
        .map(|((ranker, point), swapped)| {
            let [effect, mean] = match point {
                Some(point) => point.map(TableValue::Fraction),
                None => [TableValue::Missing, TableValue::Missing],
            };
            let mut row = vec![text(ranker.label.clone()), effect];
            if swapped_name.is_some() {
                row.push(swapped.map_or(TableValue::Missing, TableValue::Fraction));
            }
            row.push(mean);
            row
        })
        .collect();
    table
        .notes
        .extend(swapped_name.map(|_| SWAPPED_NOTE.to_owned()));
    table.notes.push(match &found.correlation {
        Some(it) => format!(
            "Pearson's r = {} over {} rankers, 95 % interval by Fisher's transformation.",
            super::format::format_signed_estimate(&it.r),
            it.n
        ),
        None => "Pearson's r needs at least four rankers.".to_owned(),
    });
    Some(table)
}

/// Returns the values of each ranker for another query, by the measure of the options.
fn swapped_values(figures: &StudyFigures) -> Vec<Option<f64>> {
    let measure = figures.options.measure as usize;
    let rows = figures.effectiveness.iter().flat_map(|it| &it.rows);
    let cell = |row: &Vec<Option<EffectivenessCell>>| row.get(measure)?.as_ref()?.swapped;
    rows.map(cell).collect()
}
