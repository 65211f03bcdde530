//! The results of a task: agreement of axiom, rankers and relevance judgments with the annotators.

use leptos::prelude::*;
use shared::annotation::{AnnotatorKind, tables};
use shared::api::annotation::{AnnotationTaskResults, ListStudyHumanJudgmentsRequest};
use shared::plot;

use super::state::CurationPageState;
use crate::api;
use crate::widgets::figure_section::{ExportableFigureSection, FigureWithSelection};
use crate::widgets::resource_view::RequestReplyView;

/// Renders the tab with the results of the task.
#[component]
pub(super) fn TaskResultsTab(desk: CurationPageState) -> impl IntoView {
    let study = desk.details.with_untracked(|it| it.summary.study.clone());
    let answer = api::fetch_on_signal_change(move || ListStudyHumanJudgmentsRequest {
        study: study.clone(),
    });
    let shown = move |found: Vec<AnnotationTaskResults>| {
        let own = found.into_iter().find(|it| it.task == desk.task);
        view! { <ResultTables desk own/> }.into_any()
    };
    view! { <RequestReplyView answer until="Computing estimates" shown/> }
}

#[component]
fn ResultTables(desk: CurationPageState, own: Option<AnnotationTaskResults>) -> impl IntoView {
    let Some(own) = own else {
        return view! { <p class="ahead">"No decisions yet."</p> }.into_any();
    };
    let (kind, estimates) = match own.simulated {
        Some(it) => (AnnotatorKind::Simulated, it.estimates),
        None => (AnnotatorKind::People, own.estimates),
    };
    let Some(found) = estimates else {
        return view! { <p class="ahead">{OUTDATED}</p> }.into_any();
    };
    let (agreement, consensus) = match kind {
        AnnotatorKind::People => ("Agreement with annotators", "Consensus of annotators"),
        AnnotatorKind::Simulated => (
            "Agreement with simulated annotators",
            "Consensus of simulated annotators",
        ),
    };
    let shown = move || {
        let rankers = desk.rankers.get();
        let tables = tables::axiom_and_ranker_agreement_tables(&found, &rankers, kind);
        let table = |name: &str| tables.iter().find(|it| it.name == name).cloned();
        let drawn = FigureWithSelection::without_selection(
            plot::annotation::draw_agreement_with_annotators(&found, &rankers, kind),
        );
        view! {
            <ExportableFigureSection
                of="annotation-"
                id="results"
                name=agreement
                said="Estimated over all instances that could be drawn."
                drawing=Some(drawn)
                table=table("results")
            />
            <ExportableFigureSection
                of="annotation-"
                id="judgments"
                name=consensus
                said="Numbers of items."
                table=table("judgments")
            />
            <details>
                <summary>"All estimates, with intervals that include annotator variation"</summary>
                <ExportableFigureSection
                    of="annotation-"
                    id="details"
                    name="All estimates"
                    said="Each agreement over all items, over items without “equal”, and over \
                         individual votes."
                    table=table("details")
                />
            </details>
        }
    };
    shown.into_any()
}

/// The message for a task whose study has changed since.
const OUTDATED: &str = "The study changed after this task was created, so results would refer \
     to other instances. Decisions and their export are kept; create a new task for the current \
     study.";
