//! The result of a training: effectiveness beside its controls, and what was trained.

use leptos::prelude::*;
use shared::report::format;
use shared::training::TrainingSummary;

use crate::number_format::{format_count, format_count_with_noun, format_elapsed_time};

/// The measure that the sentence and the list of trainings name.
const MEASURE: &str = "AP";

/// Says how effective the ranker is, and how much of this it keeps for another query. A result
/// without average precision has no such sentence.
pub(super) fn effectiveness_sentence(summary: &TrainingSummary) -> Option<String> {
    let controls = &summary.controls;
    let (split, values) = summary.controlled_split_and_values();
    let shown = |value: &f64| format::format_score(*value, 3);
    let own = shown(values.get(MEASURE)?);
    let error = shown(controls.standard_error.get(MEASURE)?);
    let swapped = shown(controls.swapped_queries.get(MEASURE)?);
    let constant = shown(controls.constant_score.get(MEASURE)?);
    let bm25 = controls.bm25.get(MEASURE).map(shown);
    let bm25 = bm25.map_or_else(String::new, |it| format!("BM25 gives {it}. "));
    let n_queries = format_count(controls.n_queries);
    Some(format!(
        "{MEASURE} on the {n_queries} {split} queries is {own} (standard error {error}). \
         {bm25}Scored for another query, the same candidates give {swapped}; one score for all documents \
         gives {constant}."
    ))
}

/// Renders what was trained, for how long, and the hash of the weights.
#[component]
pub(super) fn ResultFacts(summary: TrainingSummary) -> impl IntoView {
    let best = describe_best_checkpoint(&summary);
    let best = best.map(|it| view! { <dt>"Best checkpoint"</dt><dd>{it}</dd> });
    let weights = format_count_with_noun(summary.parameters, "trained weight", "trained weights");
    let updates = format_count_with_noun(summary.steps, "update", "updates");
    let duration = format_elapsed_time(summary.seconds);
    view! {
        <dl class="settings">
            {best}
            <dt>"Size"</dt>
            <dd>{weights}</dd>
            <dt>"Duration"</dt>
            <dd>{format!("{duration} for {updates} and all evaluations")}</dd>
            <dt>"SHA-256 of the weights"</dt>
            <dd class="hash">{summary.sha256}</dd>
        </dl>
    }
}

/// Describes the checkpoint with the best value of the measure that selects weights. The recipe
/// says whether its weights are the result, or the last.
fn describe_best_checkpoint(summary: &TrainingSummary) -> Option<String> {
    let step = summary.best.get("step")?.as_u64()?;
    let measures = summary.best.iter().filter(|it| it.0 != "step");
    let measures = measures.filter_map(|(name, value)| {
        let value = format::format_score(value.as_f64()?, 3);
        Some(format!("{name} {value} on the development queries"))
    });
    let measures: Vec<String> = measures.collect();
    let step = format_count_with_noun(step, "update", "updates");
    Some(match measures.is_empty() {
        true => format!("after {step}"),
        false => format!("after {step}, with {}", measures.join(", ")),
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use shared::training::EffectivenessControls;

    use super::*;

    fn summary() -> TrainingSummary {
        let ap = |value: f64| BTreeMap::from([("AP".to_owned(), value)]);
        let step = ("step".to_owned(), 90.into());
        let value = (
            "AP".to_owned(),
            serde_json::Number::from_f64(0.625).unwrap(),
        );
        TrainingSummary {
            best: BTreeMap::from([step, value]),
            dev: ap(0.625),
            test: Some(ap(0.5)),
            controls: EffectivenessControls {
                swapped_queries: ap(0.25),
                constant_score: ap(0.15),
                standard_error: ap(0.03),
                n_queries: 1200,
                ..EffectivenessControls::default()
            },
            ..TrainingSummary::default()
        }
    }

    #[test]
    fn effectiveness_stands_beside_that_for_another_query() {
        let sentence = effectiveness_sentence(&summary()).unwrap();
        assert_eq!(
            sentence,
            "AP on the 1,200 test queries is 0.500 (standard error 0.030). Scored for another \
             query, the same candidates give 0.250; one score for all documents gives 0.150."
        );
        let untested = TrainingSummary {
            test: None,
            ..summary()
        };
        let sentence = effectiveness_sentence(&untested).unwrap();
        assert!(sentence.starts_with("AP on the 1,200 development queries is 0.625"));
        let mut unknown = summary();
        unknown.test = Some(BTreeMap::new());
        assert_eq!(effectiveness_sentence(&unknown), None);
    }

    #[test]
    fn the_selected_checkpoint_has_its_measure() {
        let described = describe_best_checkpoint(&summary()).unwrap();
        assert_eq!(
            described,
            "after 90 updates, with AP 0.625 on the development queries"
        );
        let mut unknown = summary();
        unknown.best.clear();
        assert_eq!(describe_best_checkpoint(&unknown), None);
    }
}
