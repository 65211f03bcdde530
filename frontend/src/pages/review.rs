//! The annotation pages: task list, annotation, curation, and the trial for visitors.

mod annotate;
mod item_timer;
mod curate;
mod item;
pub(crate) mod curator_gate;
mod new_task;
mod tasks;
mod trial;
pub(crate) mod identity;

use leptos::prelude::*;

use crate::pages::join::JoinAndAccountPage;
use crate::pages::people::PeoplePage;
use crate::routes::PageRoute;
use annotate::AnnotatePage;
use curate::AnnotationTaskCurationPage;
use new_task::NewTaskPage;
use tasks::AnnotationTasksPage;
use trial::TrialAnnotationPage;

/// Renders the review page of a route: task list, annotation, curation, new task, trial, people or
/// sign-in. Other routes render nothing.
pub(crate) fn render_review_route(page: PageRoute) -> AnyView {
    // Unsent events of earlier visits are sent from each of these pages. The excluded pages do that
    // themselves.
    if !matches!(
        page,
        PageRoute::ReviewTasks | PageRoute::AnnotateTask { .. } | PageRoute::Join
    ) {
        leptos::task::spawn_local(async {
            let _ = identity::fetch_session_and_open_outbox().await;
        });
    }
    match page {
        PageRoute::AnnotateTask { task } => view! { <AnnotatePage task/> }.into_any(),
        PageRoute::CurateTask { task } => view! { <AnnotationTaskCurationPage task/> }.into_any(),
        PageRoute::NewTask => view! { <NewTaskPage/> }.into_any(),
        PageRoute::Trial { study } => view! { <TrialAnnotationPage study/> }.into_any(),
        PageRoute::Join => view! { <JoinAndAccountPage/> }.into_any(),
        PageRoute::People => view! { <PeoplePage/> }.into_any(),
        PageRoute::ReviewTasks => view! { <AnnotationTasksPage/> }.into_any(),
        // The pages of other modules and programs. They are listed, so that a new page has to be
        // assigned to one.
        PageRoute::Studies
        | PageRoute::Study { .. }
        | PageRoute::Figures { .. }
        | PageRoute::LateInteraction { .. }
        | PageRoute::CompareRankers { .. }
        | PageRoute::BehavioralTests { .. }
        | PageRoute::HumanJudgments { .. }
        | PageRoute::Reproducibility { .. }
        | PageRoute::Instances { .. }
        | PageRoute::Instance { .. }
        | PageRoute::Reproductions { .. }
        | PageRoute::Playground
        | PageRoute::Workbench
        | PageRoute::Trainings
        | PageRoute::Training { .. }
        | PageRoute::Operator
        | PageRoute::About => ().into_any(),
    }
}
