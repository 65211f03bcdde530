//! The tables of a training: its learning curve, when each axiom was learned, and effectiveness.

use super::{ReportTable, TableColumnKind, TableValue, format};
use crate::stats::EstimateWithInterval;
use crate::training::axiom_curve::{AxiomLearningCurve, find_axioms_learned_first};
use crate::training::{
    AxiomCurveValue, EffectivenessControls, LearningCurvePoint, MeasureValues, TrainingRecord,
    TrainingSummary,
};

/// Returns the tables, the last one if the training has ended:
///
/// - `learning_curve`: one row for each checkpoint,
/// - `axioms_learned`: one row for each axiom, with its first crossing,
/// - `effectiveness`: of the result, with its controls.
pub fn training_tables(record: &TrainingRecord) -> Vec<ReportTable> {
    let curves = AxiomLearningCurve::list(&record.points);
    let mut tables = vec![
        learning_curve(&record.points, &curves),
        axioms_learned(&curves),
    ];
    tables.extend(record.summary.as_ref().map(training_effectiveness_table));
    for table in &mut tables {
        table.title = format!("{}: {}", record.name, table.title);
    }
    tables
}

/// Returns the sentence that says which axioms were learned first.
pub fn learned_first_sentence(curves: &[AxiomLearningCurve]) -> String {
    match find_axioms_learned_first(curves) {
        Some((step, axioms)) => {
            let names: Vec<_> = axioms.iter().map(|it| it.name()).collect();
            let step = format::format_count(step);
            format!("Learned first, after {step} updates: {}.", names.join(", "))
        }
        None if curves.is_empty() => {
            "No axiom has instances on the development queries.".to_owned()
        }
        None => "No axiom is above chance at the last checkpoint.".to_owned(),
    }
}

fn learning_curve(points: &[LearningCurvePoint], curves: &[AxiomLearningCurve]) -> ReportTable {
    let measures: Vec<&String> = points
        .first()
        .into_iter()
        .flat_map(|it| it.dev.keys())
        .collect();
    let row = |point: &LearningCurvePoint| {
        let mut row = vec![TableValue::Count(point.step), number(Some(&point.loss))];
        row.extend(measures.iter().map(|it| number(point.dev.get(*it))));
        row.extend(curves.iter().map(|curve| {
            let value = point.axioms.get(&*curve.axiom.slug());
            value.map_or(TableValue::Missing, |it| TableValue::Estimate(estimate(it)))
        }));
        row
    };
    let table = ReportTable::new("learning_curve", "learning curve")
        .add_number_columns("updates | loss")
        .with_more_columns_of_kind(TableColumnKind::Number, measures.iter().copied())
        .with_more_columns_of_kind(
            TableColumnKind::Estimate,
            curves.iter().map(|it| it.axiom.name()),
        );
    ReportTable {
        rows: points.iter().map(row).collect(),
        notes: vec![
            "Loss: mean since the checkpoint before. Effectiveness and fractions of satisfied \
             instances, with their 95 % intervals over queries: on the development queries."
                .to_owned(),
        ],
        ..table
    }
}

fn axioms_learned(curves: &[AxiomLearningCurve]) -> ReportTable {
    let row = |curve: &AxiomLearningCurve| {
        let (highest_step, highest) = curve.highest();
        vec![
            TableValue::Text(curve.axiom.name().into_owned()),
            TableValue::Fraction(curve.first().fraction),
            TableValue::Estimate(estimate(&curve.last())),
            curve
                .first_crossing()
                .map_or(TableValue::Missing, TableValue::Count),
            TableValue::Fraction(highest.fraction),
            TableValue::Count(highest_step),
            TableValue::Count(curve.last().n),
        ]
    };
    let table = ReportTable::new("axioms_learned", "when each axiom was learned")
        .add_text_columns("axiom")
        .add_number_columns("first fraction")
        .add_estimate_columns("last fraction")
        .add_number_columns("first crossing | highest fraction | highest at | instances");
    ReportTable {
        rows: curves.iter().map(row).collect(),
        notes: vec![
            learned_first_sentence(curves),
            "First crossing: the number of updates at the first checkpoint whose 95 % interval \
             lies wholly above chance (.5), as do those of all later checkpoints."
                .to_owned(),
        ],
        ..table
    }
}

/// Returns the table of the effectiveness of a trained ranker and of its controls.
pub fn training_effectiveness_table(summary: &TrainingSummary) -> ReportTable {
    let own = [
        ("development queries", Some(&summary.dev)),
        ("test queries", summary.test.as_ref()),
    ];
    let own: Vec<_> = own
        .into_iter()
        .filter_map(|(name, values)| Some((name, values?)))
        .collect();
    let (split, _) = summary.controlled_split_and_values();
    effectiveness_and_controls_table(&own, &summary.controls, Some(split))
}

/// Returns the table of a ranker's own effectiveness, with the name of each row, and of its
/// controls on the queries of `split`, or on all queries.
pub fn effectiveness_and_controls_table(
    own: &[(&str, &MeasureValues)],
    controls: &EffectivenessControls,
    split: Option<&str>,
) -> ReportTable {
    let [n_candidates, n_known] = controls.candidates_and_those_in_training;
    let measures: Vec<&String> = own.iter().take(1).flat_map(|it| it.1.keys()).collect();
    let row = |(name, values): (&str, &MeasureValues)| {
        let values = measures.iter().map(|it| number(values.get(*it)));
        let name = TableValue::Text(name.to_owned());
        std::iter::once(name).chain(values).collect()
    };
    let controlled = [
        ("standard error", &controls.standard_error),
        ("BM25", &controls.bm25),
        ("ranked for another query", &controls.swapped_queries),
        ("longest document first", &controls.longest_first),
        ("shortest document first", &controls.shortest_first),
        ("one score for all", &controls.constant_score),
    ];
    // Trainings of earlier versions have no BM25.
    let controlled = controlled.into_iter().filter(|it| !it.1.is_empty());
    let table = ReportTable::new("effectiveness", "effectiveness")
        .add_text_columns("ranking")
        .with_more_columns_of_kind(TableColumnKind::Number, measures.iter().copied());
    let rows = match own.len() {
        1 => "All rows",
        _ => "The rows from the standard error on",
    };
    let mut note = format!("{rows} are for {}.", describe_queries(controls, split));
    // The texts of a training are not always known.
    if n_candidates > 0 {
        note += &format!(
            " The text of {} of their {} candidates is also a candidate of a training query.",
            format::format_count(n_known),
            format::format_count(n_candidates)
        );
    }
    ReportTable {
        rows: own.iter().copied().chain(controlled).map(row).collect(),
        notes: vec![note],
        ..table
    }
}

/// Says what a user of a trained ranker has to know first, see [`effectiveness_warnings`].
pub fn training_warnings(summary: &TrainingSummary) -> Vec<String> {
    let (split, own) = summary.controlled_split_and_values();
    effectiveness_warnings(own, &summary.controls, Some(split))
}

/// Says what a user of a ranker has to know first: that it does not beat BM25, or that its
/// effectiveness hardly depends on the query. Empty if there is nothing to say.
///
/// The effectiveness is AP. The second is said if the texts of other queries lower it by less than
/// two standard errors. `own` are the ranker's own values on the queries of `split`, or on all
/// queries.
pub fn effectiveness_warnings(
    own: &MeasureValues,
    controls: &EffectivenessControls,
    split: Option<&str>,
) -> Vec<String> {
    let value = |of: &MeasureValues| of.get("AP").copied();
    let Some(own) = value(own) else {
        return Vec::new();
    };
    let shown = |value: f64| format::format_score(value, 4);
    let queries = describe_queries(controls, split);
    let lexical = value(&controls.bm25).filter(|&bm25| own <= bm25);
    let lexical = lexical.map(|bm25| {
        let (own, bm25) = (shown(own), shown(bm25));
        format!("Does not beat BM25 on {queries}: AP {own}, and BM25 {bm25}.")
    });
    let swapped = value(&controls.swapped_queries).zip(value(&controls.standard_error));
    let swapped = swapped.filter(|(swapped, error)| own - swapped < 2.0 * error);
    let swapped = swapped.map(|(swapped, error)| {
        let (own, swapped, error) = (shown(own), shown(swapped), shown(error));
        format!(
            "Hardly depends on the query: on {queries} AP is {own} (standard error {error}), and \
             {swapped} if the candidates are ranked for another query."
        )
    });
    lexical.into_iter().chain(swapped).collect()
}

/// Describes the queries of controls, as in `the 64 queries` or `the 243 test queries`.
fn describe_queries(controls: &EffectivenessControls, split: Option<&str>) -> String {
    let n = format::format_count(controls.n_queries);
    match split {
        Some(split) => format!("the {n} {split} queries"),
        None => format!("the {n} queries"),
    }
}

fn number(value: Option<&f64>) -> TableValue {
    value.map_or(TableValue::Missing, |&value| TableValue::Score {
        value,
        digits: 4,
    })
}

fn estimate(value: &AxiomCurveValue) -> EstimateWithInterval {
    EstimateWithInterval {
        value: value.fraction,
        interval: value.interval,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use expect_test::expect;

    use super::*;
    use crate::report::{table_to_csv, tables_to_markdown};
    use crate::training::axiom_curve::tests::curve_of_three_axioms;

    #[test]
    fn a_ranker_warns_of_what_bm25_and_another_query_reach() {
        let ap = |value: f64| BTreeMap::from([("AP".to_owned(), value)]);
        let warnings = |own: f64, bm25: f64, swapped: f64| {
            let controls = EffectivenessControls {
                bm25: ap(bm25),
                swapped_queries: ap(swapped),
                standard_error: ap(0.02),
                n_queries: 1243,
                ..EffectivenessControls::default()
            };
            let summary = TrainingSummary {
                dev: ap(0.9),
                test: Some(ap(own)),
                controls,
                ..TrainingSummary::default()
            };
            training_warnings(&summary)
        };
        assert_eq!(warnings(0.75, 0.625, 0.5), [""; 0]);
        assert_eq!(
            warnings(0.625, 0.625, 0.5),
            ["Does not beat BM25 on the 1,243 test queries: AP 0.6250, and BM25 0.6250."]
        );
        let hardly = "Hardly depends on the query: on the 1,243 test queries AP is 0.7500 \
                      (standard error 0.0200), and 0.7188 if the candidates are ranked for \
                      another query.";
        assert_eq!(warnings(0.75, 0.5, 0.71875), [hardly]);
        assert_eq!(warnings(0.5, 0.625, 0.5).len(), 2);
        // Trainings of earlier versions have no BM25.
        let summary = TrainingSummary {
            dev: ap(0.5),
            ..TrainingSummary::default()
        };
        assert_eq!(training_warnings(&summary), [""; 0]);
        let controls = EffectivenessControls {
            n_queries: 64,
            ..Default::default()
        };
        assert_eq!(describe_queries(&controls, None), "the 64 queries");
    }

    #[test]
    fn a_training_has_three_tables() {
        let ap = |value: f64| BTreeMap::from([("AP".to_owned(), value)]);
        let summary = TrainingSummary {
            model: "drmm".to_owned(),
            parameters: 1242,
            steps: 400,
            seconds: 1.5,
            best: BTreeMap::new(),
            dev: ap(0.625),
            test: Some(ap(0.5)),
            controls: EffectivenessControls {
                swapped_queries: ap(0.25),
                longest_first: ap(0.2),
                shortest_first: ap(0.1),
                constant_score: ap(0.15),
                bm25: ap(0.4),
                standard_error: ap(0.03),
                n_queries: 1200,
                candidates_and_those_in_training: [9000, 2],
            },
            sha256: String::new(),
        };
        let mut record = TrainingRecord {
            name: "my-drmm".to_owned(),
            points: curve_of_three_axioms(),
            summary: Some(summary),
        };
        let tables = training_tables(&record);
        expect![[r#"
            ## my-drmm: learning curve

            | updates | loss | AP | TFC1 | LNC1 | TP |
            | --: | --: | --: | --: | --: | --: |
            | 100 | 1.0000 | 0.2500 | .40 [.30, .50] | .70 [.60, .80] | .61 [.51, .71] |
            | 200 | 0.5000 | 0.3750 | .61 [.51, .71] | .70 [.60, .80] | .60 [.50, .70] |
            | 300 | 0.3333 | 0.5000 | .80 [.70, .90] | .70 [.60, .80] | .70 [.60, .80] |
            | 400 | 0.2500 | 0.6250 | .80 [.70, .90] | .55 [.45, .65] | .65 [.55, .75] |

            - Loss: mean since the checkpoint before. Effectiveness and fractions of satisfied instances, with their 95 % intervals over queries: on the development queries.

            ## my-drmm: when each axiom was learned

            | axiom | first fraction | last fraction | first crossing | highest fraction | highest at | instances |
            | :-- | --: | --: | --: | --: | --: | --: |
            | TFC1 | .40 | .80 [.70, .90] | 200 | .80 | 300 | 40 |
            | LNC1 | .70 | .55 [.45, .65] | – | .70 | 100 | 40 |
            | TP | .61 | .65 [.55, .75] | 300 | .70 | 300 | 40 |

            - Learned first, after 200 updates: TFC1.
            - First crossing: the number of updates at the first checkpoint whose 95 % interval lies wholly above chance (.5), as do those of all later checkpoints.

            ## my-drmm: effectiveness

            | ranking | AP |
            | :-- | --: |
            | development queries | 0.6250 |
            | test queries | 0.5000 |
            | standard error | 0.0300 |
            | BM25 | 0.4000 |
            | ranked for another query | 0.2500 |
            | longest document first | 0.2000 |
            | shortest document first | 0.1000 |
            | one score for all | 0.1500 |

            - The rows from the standard error on are for the 1,200 test queries. The text of 2 of their 9,000 candidates is also a candidate of a training query.
        "#]]
        .assert_eq(&tables_to_markdown(&tables));
        expect![[r#"
            axiom,first fraction,last fraction,last fraction low,last fraction high,first crossing,highest fraction,highest at,instances
            TFC1,0.4,0.7999999999999999,0.7,0.8999999999999999,200,0.7999999999999999,300,40
            LNC1,0.7,0.55,0.45,0.65,,0.7,100,40
            TP,0.61,0.65,0.55,0.75,300,0.7,300,40
        "#]]
        .assert_eq(&table_to_csv(&tables[1]).replace('\r', ""));
        record.summary = None;
        assert_eq!(training_tables(&record), tables[..2]);
    }
}
