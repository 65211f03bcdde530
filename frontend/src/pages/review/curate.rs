//! The Curate page: a task with its progress, agreement and results, for its curator.

mod adjudication;
mod agreement;
mod state;
mod export;
mod item_history;
mod overview;
mod progress;
mod results;
mod submission;
pub(crate) mod labels;

use leptos::prelude::*;
use shared::api::annotation::{GetTaskDefinitionRequest, TaskDefinitionResponse, TaskId};

use super::curator_gate::CuratorsOnly;
use crate::api;
use crate::location::PageLocation;
use crate::pages::study::address::trial_href;
use crate::routes::PageRoute;
use crate::widgets::resource_view::RequestReplyView;
use crate::widgets::simulated_annotators::SimulatedAnnotatorsNote;
use adjudication::AdjudicationTab;
use agreement::AgreementTab;
use export::ExportTab;
use overview::TaskOverviewTab;
use progress::AnnotatorProgressTab;
use results::TaskResultsTab;
use state::{CurationPageState, CurationTab};

/// Renders the Curate page, on which a curator follows, adjudicates and exports a task.
#[component]
pub(crate) fn AnnotationTaskCurationPage(
    /// The id of the task.
    task: TaskId,
) -> impl IntoView {
    let shown = move |_| view! { <TaskLoader task/> }.into_any();
    view! { <CuratorsOnly heading="Task" why="Only curators see the progress of a task." shown/> }
}

#[component]
fn TaskLoader(task: TaskId) -> impl IntoView {
    let answer = api::fetch_on_signal_change(move || GetTaskDefinitionRequest { task });
    let shown = |whole: TaskDefinitionResponse| view! { <CurationPage whole/> }.into_any();
    view! {
        <RequestReplyView answer until="Loading the task" without="The task cannot be shown" shown/>
    }
}

#[component]
fn CurationPage(whole: TaskDefinitionResponse) -> impl IntoView {
    let here = PageLocation::from_context_or_browser();
    let part = Memo::new(move |_| CurationTab::from_query_string(&here.search.get()));
    let desk = CurationPageState::new(whole);
    let tabs = CurationTab::ALL.map(|it| {
        let current = move || (part.get() == it).then_some("page");
        view! {
            <a class="btn bare" href=it.href(desk.task) aria-current=current>{it.display_name()}</a>
        }
    });
    let title = move || desk.details.with(|it| it.summary.title.clone());
    let study = desk.details.with_untracked(|it| it.summary.study.clone());
    let href = PageRoute::Study {
        study: study.clone(),
    }
    .href();
    let state =
        move || labels::task_status_class_and_label(desk.details.with(|it| it.summary.status));
    let simulation = desk
        .details
        .with_untracked(|it| it.definition.simulation.clone());
    let note = simulation.map(|it| view! { <SimulatedAnnotatorsNote simulation=Some(it)/> });
    let other_page = match desk.is_simulated() {
        true => {
            let href = trial_href(&study, Some(desk.task), 0);
            view! { <a href=href>"Try it"</a> }.into_any()
        }
        false => {
            let href = PageRoute::AnnotateTask { task: desk.task }.href();
            view! { <a href=href>"Annotation page"</a> }.into_any()
        }
    };
    let body = move || match part.get() {
        CurationTab::Overview => view! { <TaskOverviewTab desk/> }.into_any(),
        CurationTab::Progress => view! { <AnnotatorProgressTab desk/> }.into_any(),
        CurationTab::Agreement => view! { <AgreementTab desk/> }.into_any(),
        CurationTab::Adjudication => view! { <AdjudicationTab desk/> }.into_any(),
        CurationTab::Results => view! { <TaskResultsTab desk/> }.into_any(),
        CurationTab::Export => view! { <ExportTab desk/> }.into_any(),
    };
    view! {
        <nav class="crumbs" aria-label="Breadcrumb">
            <a href=PageRoute::ReviewTasks.href()>"Annotation"</a>
            <span>"Task " {desk.task.0}</span>
        </nav>
        <h1><bdi>{title}</bdi></h1>
        <p class="facts">
            {move || {
                let (class, word) = state();
                view! { <span class=format!("verdict {class}")>{word}</span> }
            }}
            <span>"study " <a href=href>{study}</a></span>
            {other_page}
        </p>
        {note}
        <nav class="parts" aria-label="Task sections">{tabs}</nav>
        <div class="curate">{body}</div>
    }
}
