//! What was asked for, once there is an answer; until then that it is on its way, and after that
//! why there is none.

use leptos::prelude::*;
use shared::api::worker::LOCAL_STUDY;

use super::error_message::ErrorMessage;
use crate::api::Error;
use crate::routes::PageRoute;

/// The answer, in the words of the page.
#[component]
pub(crate) fn ResourceView<T, F>(
    /// What was asked for.
    answer: LocalResource<Result<T, Error>>,
    /// What is said until it is there.
    #[prop(optional)]
    until: &'static str,
    /// What stands there until then, in place of a sentence.
    #[prop(optional, into)]
    waiting: Option<ViewFn>,
    /// The heading of a page without an answer.
    #[prop(optional)]
    without: Option<&'static str>,
    /// Shows it.
    shown: F,
) -> impl IntoView
where
    T: Clone + 'static,
    F: Fn(T) -> AnyView + Send + 'static,
{
    move || match (answer.get(), &waiting) {
        (None, Some(waiting)) => waiting.run(),
        (None, None) => view! { <p class="note" role="status">{until}</p> }.into_any(),
        (Some(Err(_)), _) => view! {
            {without.map(|it| view! { <h1>{it}</h1> })}
            <ResourceError answer/>
        }
        .into_any(),
        (Some(Ok(found)), _) => shown(found),
    }
}

/// Why there is no answer; nothing while there may be one.
#[component]
pub(crate) fn ResourceError<T: Clone + 'static>(
    /// What was asked for.
    answer: LocalResource<Result<T, Error>>,
) -> impl IntoView {
    let retry = Callback::new(move |()| answer.refetch());
    move || {
        let error = answer.get().and_then(Result::err);
        error.map(|error| view! { <ErrorMessage error retry/> })
    }
}

/// The way back from a page below a study.
#[component]
pub(crate) fn Crumbs(
    /// Its name.
    study: String,
    /// What the page is called.
    here: &'static str,
) -> impl IntoView {
    let (above, called) = match study.as_str() {
        LOCAL_STUDY => (PageRoute::Workbench, "Workbench"),
        _ => (PageRoute::Studies, "Studies"),
    };
    view! {
        <nav class="crumbs" aria-label="Breadcrumb">
            <a href=above.href()>{called}</a>
            <a href=PageRoute::Study { study }.href()>"Study"</a>
            <span>{here}</span>
        </nav>
    }
}
