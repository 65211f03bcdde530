//! The form that selects the two rankers and the queries.

use std::sync::Arc;

use leptos::prelude::*;
use shared::compare::{QueryRelevanceRequirement, RankerComparison};
use shared::text::Stopwords;

use crate::pages::compare_address::ComparePageState;
use crate::widgets::controls::QuerySplitSelect;
use crate::widgets::form::SelectField;

/// Renders the form above the figures.
#[component]
pub(super) fn ComparisonOptionsForm(
    found: Arc<RankerComparison>,
    scene: ComparePageState,
) -> impl IntoView {
    let counted = [
        (
            QueryRelevanceRequirement::WithRelevant,
            "with a relevant document",
        ),
        (
            QueryRelevanceRequirement::WithRetrievedRelevant,
            "with a relevant candidate",
        ),
        (QueryRelevanceRequirement::All, "all that both rankers rank"),
    ];
    let now = found.options.subset;
    let counted_options = counted.iter().enumerate().map(|(at, &(it, said))| {
        view! { <option value=at.to_string() selected=it == now>{said}</option> }
    });
    let counted_options = counted_options.collect_view();
    let count = move |at: String| {
        let found = at.parse().ok().and_then(|at: usize| counted.get(at));
        let wanted = found.map_or(QueryRelevanceRequirement::WithRelevant, |it| it.0);
        scene.update(|it| {
            it.comparison.subset = wanted;
            it.page = 0;
        });
    };
    let grades = [None, Some(1), Some(2), Some(3)];
    let own = found.options.min_relevant_grade;
    let settled = found.min_relevant_grade;
    let grade_options = grades.map(|it| {
        let said = match it {
            Some(grade) => grade.to_string(),
            None if own.is_none() => format!("default ({settled})"),
            None => "default".to_owned(),
        };
        let grade = it.map(|it| it.to_string()).unwrap_or_default();
        view! { <option value=grade selected=it == own>{said}</option> }
    });
    let grade = move |grade: String| {
        let wanted = grade.parse().ok();
        scene.update(|it| {
            it.comparison.min_relevant_grade = wanted;
            it.page = 0;
        });
    };
    let none = found.options.stopwords == Stopwords::None;
    let stop = move |word: String| {
        let wanted = match word.as_str() {
            "kept" => Stopwords::None,
            _ => Stopwords::EnFunction,
        };
        scene.update(|it| {
            it.comparison.stopwords = wanted;
            it.page = 0;
        });
    };
    let [first, second] = found.options.rankers.clone();
    let swap = move |_| {
        scene.update(|it| {
            it.comparison.rankers = [second.clone(), first.clone()];
            it.page = 0;
        });
    };
    let splits = (!found.splits.is_empty()).then(|| {
        let chosen = Signal::derive(move || scene.view.get().comparison.split);
        let turn = Callback::new(move |split: Option<String>| {
            scene.update(|it| {
                it.comparison.split = split;
                it.page = 0;
            });
        });
        view! { <QuerySplitSelect splits=found.splits.clone() chosen turn/> }
    });
    view! {
        <form class="form choices" on:submit=|event| event.prevent_default()>
            <RankerSelect found=found.clone() side=0 name="First ranker" scene/>
            <RankerSelect found=found.clone() side=1 name="Second ranker" scene/>
            <div class="field">
                <span class="label" aria-hidden="true">"\u{a0}"</span>
                <button class="btn" type="button" on:click=swap>"Swap rankers"</button>
            </div>
            <SelectField label="Queries" choose=count>{counted_options}</SelectField>
            <SelectField label="Minimum relevant grade" choose=grade>{grade_options}</SelectField>
            <SelectField label="Stop words" choose=stop>
                <option value="left-out" selected=!none>"removed"</option>
                <option value="kept" selected=none>"kept"</option>
            </SelectField>
            {splits}
        </form>
    }
}

/// Renders the drop-down list for one of the two rankers.
#[component]
fn RankerSelect(
    found: Arc<RankerComparison>,
    side: usize,
    name: &'static str,
    scene: ComparePageState,
) -> impl IntoView {
    let chosen = found.options.rankers[side].clone();
    let options = found.ranker_options.iter().map(|it| {
        let said = format!("{} {}", it.label, it.detail);
        let selected = it.ranker == chosen;
        view! { <option value=it.ranker.to_string() selected=selected>{said}</option> }
    });
    let options = options.collect_view();
    let choose = move |word: String| {
        if let Ok(who) = word.parse() {
            scene.update(|it| {
                it.comparison.rankers[side] = who;
                it.page = 0;
            });
        }
    };
    view! { <SelectField label=name choose>{options}</SelectField> }
}
