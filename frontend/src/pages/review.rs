//! The annotation pages: task list, annotation, curation, and the trial for visitors.

mod annotate;
mod item_timer;
#[cfg(feature = "lazy-bundle")]
pub(crate) mod curate;
mod item;
#[cfg(feature = "lazy-bundle")]
pub(crate) mod curator_gate;
#[cfg(feature = "lazy-bundle")]
mod new_task;
mod tasks;
#[cfg(feature = "lazy-bundle")]
mod trial;
pub(crate) mod identity;

use leptos::prelude::*;

use crate::pages::join::JoinAndAccountPage;
#[cfg(feature = "lazy-bundle")]
use crate::pages::people::PeoplePage;
use crate::routes::PageRoute;
use annotate::AnnotatePage;
#[cfg(feature = "lazy-bundle")]
use curate::AnnotationTaskCurationPage;
#[cfg(feature = "lazy-bundle")]
use new_task::NewTaskPage;
use tasks::AnnotationTasksPage;
#[cfg(feature = "lazy-bundle")]
use trial::TrialAnnotationPage;

/// Renders the page of an annotator: task list, annotation or sign-in; nothing for other routes.
pub(crate) fn render_annotator_page(page: PageRoute) -> AnyView {
    match page {
        PageRoute::AnnotateTask { task } => view! { <AnnotatePage task/> }.into_any(),
        PageRoute::Join => view! { <JoinAndAccountPage/> }.into_any(),
        PageRoute::ReviewTasks => view! { <AnnotationTasksPage/> }.into_any(),
        _ => ().into_any(),
    }
}

/// Renders one of the other annotation pages: results of a task, new task, people or trial; nothing
/// for the routes of other modules.
#[cfg(feature = "lazy-bundle")]
pub(crate) fn render_page_beside_annotation(page: PageRoute) -> AnyView {
    // The pages of an annotator send the unsent events of earlier visits themselves.
    leptos::task::spawn_local(async {
        let _ = identity::fetch_session_and_open_outbox().await;
    });
    match page {
        PageRoute::CurateTask { task } => view! { <AnnotationTaskCurationPage task/> }.into_any(),
        PageRoute::NewTask => view! { <NewTaskPage/> }.into_any(),
        PageRoute::Trial { study } => view! { <TrialAnnotationPage study/> }.into_any(),
        PageRoute::People => view! { <PeoplePage/> }.into_any(),
        _ => ().into_any(),
    }
}
