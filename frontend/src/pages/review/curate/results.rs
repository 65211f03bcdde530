//! What came out of a task: axiom, rankers and judgements against people.

use leptos::prelude::*;
use shared::annotation::tables;
use shared::api::annotation::{ListHumanJudgmentsRequest, TaskResults};
use shared::plot;

use super::state::CurationState;
use crate::api;
use crate::widgets::figure_section::{FigureSection, InteractiveFigure};
use crate::widgets::resource_view::ResourceView;

/// The part of the page.
#[component]
pub(super) fn Results(desk: CurationState) -> impl IntoView {
    let study = desk.details.with_untracked(|it| it.card.study.clone());
    let answer = api::fetch(move || ListHumanJudgmentsRequest {
        study: study.clone(),
    });
    let shown = move |found: Vec<TaskResults>| {
        let own = found.into_iter().find(|it| it.task == desk.task);
        view! { <ResultTables desk own/> }.into_any()
    };
    view! { <ResourceView answer until="Estimating" shown/> }
}

#[component]
fn ResultTables(desk: CurationState, own: Option<TaskResults>) -> impl IntoView {
    let Some(own) = own else {
        return view! { <p class="ahead">"Nobody has decided yet."</p> }.into_any();
    };
    let Some(found) = own.estimates else {
        return view! { <p class="ahead">{OUTDATED}</p> }.into_any();
    };
    let shown = move || {
        let rankers = desk.rankers.get();
        let tables = tables::estimate_tables(&found, &rankers);
        let table = |name: &str| tables.iter().find(|it| it.name == name).cloned();
        let drawn = InteractiveFigure::static_figure(plot::annotation::draw_annotation_results(
            &found, &rankers,
        ));
        view! {
            <FigureSection
                of="review-"
                id="results"
                name="Who agrees with whom"
                said="Estimated over all that could have been drawn, from what was drawn."
                drawing=Some(drawn)
                table=table("results")
            />
            <FigureSection
                of="review-"
                id="said"
                name="What people say"
                said="In numbers of items."
                table=table("said")
            />
            <details>
                <summary>"Every estimate, with the interval of other people"</summary>
                <FigureSection
                    of="review-"
                    id="details"
                    name="Every estimate"
                    said="Three ways to count, and the numbers of items behind them."
                    table=table("details")
                />
            </details>
        }
    };
    shown.into_any()
}

/// Said of a task of an earlier state of its study.
const OUTDATED: &str = "The study has changed since the task was made: its numbers would be of \
                        other instances. Decisions and their export stay; make another task for \
                        the study as it is.";
