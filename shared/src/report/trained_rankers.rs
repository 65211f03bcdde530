//! The tables of rankers that were trained for a study: their controls, and what repairs gained
//! and cost.

use super::{ReportTable, TableColumnKind, TableValue, format, training_tables};
use crate::error::Error;
use crate::probe::AxiomVariant;
use crate::stats::multiple_testing::FAMILY_WISE_ERROR_RATE;
use crate::study::Study;
use crate::study::repair::{RepairComparison, RepairComparisonRow, RepairedQuantity};
use crate::study::trained_rankers::TrainedRankerRecord;
use crate::training::MeasureValues;

/// The measures with controls.
const CONTROLLED_MEASURES: [&str; 2] = ["AP", "RR"];

/// Returns the tables of the trained rankers of a study, none without a training:
///
/// - `trained_controls`: the effectiveness of each ranker with its controls,
/// - `repair`: one for each repair, before and after it,
/// - the tables of each training.
pub fn trained_ranker_tables(
    study: &Study,
    variant: Option<AxiomVariant>,
) -> Result<Vec<ReportTable>, Error> {
    let mut tables: Vec<ReportTable> = controls(study).into_iter().collect();
    let repairs = study.compare_repairs(variant)?;
    tables.extend(repairs.iter().map(|it| repair(study, it)));
    for it in &study.trainings {
        tables.extend(training_tables(&it.record));
    }
    Ok(tables)
}

/// Returns the table of controls; `None` if no training has ended.
fn controls(study: &Study) -> Option<ReportTable> {
    let rows: Vec<Vec<TableValue>> = study.trainings.iter().flat_map(control_rows).collect();
    let title = format!("{}: controls of trained rankers", study.definition.title);
    let table = ReportTable::new("trained_controls", title)
        .add_text_columns("ranker | measure")
        .add_number_columns(
            "own | standard error | another query's text | longest first | shortest first | \
             constant score | queries | candidates | share in training",
        );
    (!rows.is_empty()).then_some(ReportTable {
        rows,
        notes: vec![
            "Own: on the test queries of the training, or on its development queries if it has \
             no test. Another query's text: the same candidates, ranked by the trained ranker \
             for another query of the split; what remains of the effectiveness does not need the \
             query. Constant score: ties in the order of trec_eval. Share in training: candidates \
             whose text is also a candidate of a training query."
                .to_owned(),
        ],
        ..table
    })
}

fn control_rows(trained: &TrainedRankerRecord) -> Vec<Vec<TableValue>> {
    let Some(summary) = &trained.record.summary else {
        return Vec::new();
    };
    let controls = &summary.controls;
    let [n_candidates, n_known] = controls.candidates_and_those_in_training;
    let own = summary.test.as_ref().unwrap_or(&summary.dev);
    let row = |measure: &str| {
        let value = |of: &MeasureValues| {
            of.get(measure)
                .map_or(TableValue::Missing, |&value| TableValue::Score {
                    value,
                    digits: 4,
                })
        };
        vec![
            TableValue::Text(trained.record.name.clone()),
            TableValue::Text(measure.to_owned()),
            value(own),
            value(&controls.standard_error),
            value(&controls.swapped_queries),
            value(&controls.longest_first),
            value(&controls.shortest_first),
            value(&controls.constant_score),
            TableValue::Count(controls.n_queries),
            TableValue::Count(n_candidates),
            match n_candidates {
                0 => TableValue::Missing,
                n => TableValue::Fraction(n_known as f64 / n as f64),
            },
        ]
    };
    CONTROLLED_MEASURES.map(row).into()
}

fn repair(study: &Study, repair: &RepairComparison) -> ReportTable {
    let RepairComparison { before, after, .. } = repair;
    let title = format!(
        "{}: {before} before and after the repair {after}",
        study.definition.title
    );
    let table = ReportTable::new("repair", title)
        .add_text_columns("quantity")
        .with_more_columns_of_kind(TableColumnKind::Number, ["before", "after", "difference"])
        .add_text_columns("95 % interval")
        .add_number_columns("p | p (Holm) | instances | queries");
    ReportTable {
        rows: repair.rows.iter().map(repair_row).collect(),
        notes: vec![
            repair_sentence(repair),
            format!(
                "On the {} queries of split {}, which neither training has seen; variant {}, \
                 instance hash {}. Fractions are over the instances with verdicts for both, \
                 measures over the candidate pools of the study. Difference: after minus before, \
                 with the 95 % interval of a percentile bootstrap over queries. p: paired \
                 randomization test over queries, two-sided, with Holm's correction for {} tests.",
                format::format_count(repair.n_queries),
                repair.split,
                repair.variant.slug(),
                study.instances_hash,
                repair.rows.len()
            ),
        ],
        ..table
    }
}

fn repair_row(row: &RepairComparisonRow) -> Vec<TableValue> {
    let name = row.quantity.name();
    let name = match row.quantity {
        RepairedQuantity::RepairedAxiom(_) => format!("{name} (repaired)"),
        RepairedQuantity::OtherAxiom(_) | RepairedQuantity::Measure(_) => name,
    };
    vec![
        TableValue::Text(name),
        TableValue::Fraction(row.before),
        TableValue::Fraction(row.after),
        TableValue::Difference(row.difference.value),
        TableValue::Text(format::format_signed_interval(row.difference.interval)),
        TableValue::PValue(row.p),
        TableValue::PValue(row.p_holm),
        row.n_instances
            .map_or(TableValue::Missing, TableValue::Count),
        TableValue::Count(row.n_queries),
    ]
}

/// Returns the sentence that says what a repair gained and cost.
pub fn repair_sentence(repair: &RepairComparison) -> String {
    let change = |row: &RepairComparisonRow| {
        let fraction = format::format_two_digit_fraction;
        format!(
            "{} from {} to {} ({})",
            row.quantity.name(),
            fraction(row.before),
            fraction(row.after),
            format::format_named_p_value(row.p_holm)
        )
    };
    let changes = |is_wanted: fn(&RepairedQuantity) -> bool| {
        let rows = repair.rows.iter().filter(|it| is_wanted(&it.quantity));
        rows.map(change).collect::<Vec<_>>().join(", ")
    };
    let gained = changes(|it| matches!(it, RepairedQuantity::RepairedAxiom(_)));
    let gained = match gained.is_empty() {
        true => "added examples for no axiom of the study".to_owned(),
        false => format!("changes {gained}"),
    };
    let effectiveness = changes(|it| matches!(it, RepairedQuantity::Measure(name) if name == "AP"));
    let effectiveness = match effectiveness.is_empty() {
        true => String::new(),
        false => format!("; effectiveness: {effectiveness}"),
    };
    let others = || {
        let rows = repair.rows.iter();
        rows.filter(|it| matches!(it.quantity, RepairedQuantity::OtherAxiom(_)))
    };
    let significant = |sign: f64| {
        let changed = others()
            .filter(|it| it.p_holm < FAMILY_WISE_ERROR_RATE && it.difference.value * sign > 0.0);
        changed.map(|it| it.quantity.name()).collect::<Vec<_>>()
    };
    let (higher, lower) = (significant(1.0), significant(-1.0));
    let others = match (higher.is_empty(), lower.is_empty()) {
        _ if others().next().is_none() => String::new(),
        (true, true) => "; no change of another axiom is significant".to_owned(),
        (false, true) => format!(
            "; other axioms with a significant gain: {}",
            higher.join(", ")
        ),
        (true, false) => format!(
            "; other axioms with a significant loss: {}",
            lower.join(", ")
        ),
        (false, false) => format!(
            "; other axioms with a significant gain: {}, with a significant loss: {}",
            higher.join(", "),
            lower.join(", ")
        ),
    };
    format!("The repair {gained}{effectiveness}{others}; p is after Holm's correction.")
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::report::{figure_data_tables, study_tables, tables_to_markdown};
    use crate::study::controls::StudyPageControls;
    use crate::study::figures::StudyFigureOptions;
    use crate::study::fixture;
    use crate::study::repair::tests::study_with_repair;

    #[test]
    fn trained_rankers_have_controls_and_repairs_have_their_gain_and_cost() {
        let study = study_with_repair();
        let tables = trained_ranker_tables(&study, None).unwrap();
        let names: Vec<&str> = tables.iter().map(|it| it.name.as_str()).collect();
        let of_training = ["learning_curve", "axioms_learned", "effectiveness"];
        let expected = [
            &["trained_controls", "repair"][..],
            &of_training,
            &of_training,
        ]
        .concat();
        assert_eq!(names, expected);
        expect![[r#"
            ## Rivers: controls of trained rankers

            | ranker | measure | own | standard error | another query's text | longest first | shortest first | constant score | queries | candidates | share in training |
            | :-- | :-- | --: | --: | --: | --: | --: | --: | --: | --: | --: |
            | drmm | AP | 0.5000 | 0.0300 | 0.2500 | 0.2000 | 0.1000 | 0.1500 | 9 | 36 | .25 |
            | drmm | RR | 0.5100 | 0.0400 | 0.2600 | 0.2100 | 0.1100 | 0.1600 | 9 | 36 | .25 |
            | drmm-tfc1 | AP | 0.5000 | 0.0300 | 0.2500 | 0.2000 | 0.1000 | 0.1500 | 9 | 36 | .25 |
            | drmm-tfc1 | RR | 0.5100 | 0.0400 | 0.2600 | 0.2100 | 0.1100 | 0.1600 | 9 | 36 | .25 |

            - Own: on the test queries of the training, or on its development queries if it has no test. Another query's text: the same candidates, ranked by the trained ranker for another query of the split; what remains of the effectiveness does not need the query. Constant score: ties in the order of trec\_eval. Share in training: candidates whose text is also a candidate of a training query.

            ## Rivers: drmm before and after the repair drmm-tfc1

            | quantity | before | after | difference | 95 % interval | p | p (Holm) | instances | queries |
            | :-- | --: | --: | --: | :-- | --: | --: | --: | --: |
            | TFC1 (repaired) | .41 | .67 | +.26 | \[+.07, +.41\] | .062 | .31 | 27 | 9 |
            | TFC2 | .44 | .56 | +.11 | \[−.22, +.44\] | 1.00 | 1.00 | 9 | 9 |
            | AP | .56 | .70 | +.14 | \[−.06, +.31\] | .31 | .94 | – | 9 |
            | RR@10 | .56 | .70 | +.14 | \[−.06, +.31\] | .31 | .94 | – | 9 |
            | nDCG@10 | .67 | .78 | +.11 | \[−.04, +.23\] | .22 | .88 | – | 9 |

            - The repair changes TFC1 from .41 to .67 (p = .31); effectiveness: AP from .56 to .70 (p = .94); no change of another axiom is significant; p is after Holm's correction.
            - On the 9 queries of split test, which neither training has seen; variant fixed, instance hash 39dc820358683bec9f07a85cac3bf06b822d897cbcc723ba241f9b65a6b18309. Fractions are over the instances with verdicts for both, measures over the candidate pools of the study. Difference: after minus before, with the 95 % interval of a percentile bootstrap over queries. p: paired randomization test over queries, two-sided, with Holm's correction for 5 tests.
        "#]].assert_eq(&tables_to_markdown(&tables[..2]));
        for table in &tables {
            assert!(
                table.rows.iter().all(|it| it.len() == table.columns.len()),
                "{}",
                table.name
            );
        }
        let untrained = fixture::study_with_one_query("river", &["river", "sea"], 10);
        assert_eq!(trained_ranker_tables(&untrained, None).unwrap(), []);
    }

    #[test]
    fn the_effectiveness_of_a_trained_ranker_stands_beside_that_for_another_query() {
        let study = study_with_repair();
        let overview = study.overview(&StudyPageControls::default()).unwrap();
        let fractions = &study_tables(&overview)[0];
        let figures = study
            .compute_figures(&StudyFigureOptions::default())
            .unwrap();
        let tables = figure_data_tables(&figures);
        let effectiveness = tables.iter().find(|it| it.name == "effectiveness").unwrap();
        let scatter = tables.iter().find(|it| it.name == "scatter").unwrap();
        for (table, next) in [
            (fractions, "RR@10"),
            (effectiveness, "better than"),
            (scatter, "mean fraction over axioms"),
        ] {
            let mut columns = table.columns.iter();
            let at = columns
                .position(|it| it.name == "nDCG@10, another query")
                .unwrap();
            assert_eq!(table.columns[at - 1].name, "nDCG@10");
            assert_eq!(table.columns[at + 1].name, next);
            let values: Vec<&TableValue> = table.rows.iter().take(3).map(|it| &it[at]).collect();
            let (missing, value) = (TableValue::Missing, TableValue::Fraction(0.25));
            assert_eq!(values, [&missing, &value, &value], "{}", table.name);
            assert!(table.rows.iter().all(|it| it.len() == table.columns.len()));
            assert!(has_swapped_note(table), "{}", table.name);
        }
        let overlap = tables.iter().find(|it| it.name == "overlap").unwrap();
        let name = format!("{}, another query", overview.rows[2].ranker.label);
        let named = |it: &&Vec<TableValue>| it[1] == TableValue::Text(name.clone());
        let rows: Vec<_> = overlap.rows.iter().filter(named).collect();
        assert_eq!(
            rows.len(),
            2,
            "all queries, and those with a relevant candidate"
        );
        for row in rows {
            let values = row[2..].iter().filter_map(|it| match it {
                TableValue::Estimate(it) => Some(it.value),
                _ => None,
            });
            let values: Vec<f64> = values.collect();
            assert!(
                !values.is_empty() && values.iter().all(|it| *it == 0.25),
                "{values:?}"
            );
        }
        assert!(has_swapped_note(overlap));
        let untrained = format!("{}, another query", overview.rows[0].ranker.label);
        assert!(
            !overlap
                .rows
                .iter()
                .any(|it| it[1] == TableValue::Text(untrained.clone()))
        );
    }

    fn has_swapped_note(table: &ReportTable) -> bool {
        let note = super::super::study_tables::SWAPPED_NOTE;
        table.notes.iter().any(|it| it == note)
    }
}
