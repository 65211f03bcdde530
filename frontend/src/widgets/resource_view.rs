//! Renders a request: its reply, a message while it is loading, or its error.

use leptos::prelude::*;
use shared::api::worker::LOCAL_STUDY;

use super::error_message::LoadErrorMessage;
use crate::api::RequestError;
use crate::routes::PageRoute;

/// Renders the reply to a request with a function of the page.
#[component]
pub(crate) fn RequestReplyView<T, F>(
    /// The request.
    answer: LocalResource<Result<T, RequestError>>,
    /// The message that is shown while it is loading.
    #[prop(optional)]
    until: &'static str,
    /// A placeholder that is shown in place of the message.
    #[prop(optional, into)]
    waiting: Option<ViewFn>,
    /// The heading of the page if there is an error.
    #[prop(optional)]
    without: Option<&'static str>,
    /// Renders the reply.
    shown: F,
) -> impl IntoView
where
    T: Clone + 'static,
    F: Fn(T) -> AnyView + Send + 'static,
{
    move || match (answer.get(), &waiting) {
        (None, Some(waiting)) => waiting.run(),
        (None, None) => view! { <p class="note until" role="status">{until}</p> }.into_any(),
        (Some(Err(_)), _) => view! {
            {without.map(|it| view! { <h1>{it}</h1> })}
            <RequestErrorMessage answer/>
        }
        .into_any(),
        (Some(Ok(found)), _) => shown(found),
    }
}

/// Renders the error of a request; nothing if there is none.
#[component]
pub(crate) fn RequestErrorMessage<T: Clone + 'static>(
    /// The request.
    answer: LocalResource<Result<T, RequestError>>,
) -> impl IntoView {
    let retry = Callback::new(move |()| answer.refetch());
    move || {
        let error = answer.get().and_then(Result::err);
        error.map(|error| view! { <LoadErrorMessage error retry/> })
    }
}

/// Renders the breadcrumb of a page below a study.
#[component]
pub(crate) fn StudyBreadcrumb(
    /// The name of the study.
    study: String,
    /// The title of the study, once it is loaded; until then its name is shown.
    title: Signal<Option<String>>,
    /// The title of the page.
    here: &'static str,
) -> impl IntoView {
    let name = study.clone();
    let (above, called) = match study.as_str() {
        LOCAL_STUDY => (PageRoute::Workbench, "Workbench"),
        _ => (PageRoute::Studies, "Studies"),
    };
    view! {
        <nav class="crumbs" aria-label="Breadcrumb">
            <a href=above.href()>{called}</a>
            <a href=PageRoute::Study { study }.href()>
                {move || title.get().unwrap_or_else(|| name.clone())}
            </a>
            <span>{here}</span>
        </nav>
    }
}
