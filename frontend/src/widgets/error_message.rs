//! Error messages, with a button that tries again.

use leptos::prelude::*;

use crate::api;

/// Renders the reason of a failure, if there is one.
pub(crate) fn failure_view(reason: Option<String>) -> impl IntoView {
    reason.map(|it| view! { <div class="failure" role="alert"><p>{it}</p></div> })
}

/// Renders an error in place of the content that could not be loaded.
#[component]
pub(crate) fn LoadErrorMessage(
    /// The error to show.
    error: api::RequestError,
    /// Tries again.
    #[prop(optional, into)]
    retry: Option<Callback<()>>,
) -> impl IntoView {
    view! {
        <div class="failure" role="alert">
            <p>{error.to_string()}</p>
            {retry
                .map(|retry| {
                    view! {
                        <button class="btn" type="button" on:click=move |_| retry.run(())>
                            "Try again"
                        </button>
                    }
                })}
        </div>
    }
}

/// Renders an error while there is one.
#[component]
pub(crate) fn OptionalErrorMessage(
    /// The error, if there is one.
    #[prop(into)]
    error: Signal<Option<api::RequestError>>,
    /// Tries again.
    #[prop(optional, into)]
    retry: Option<Callback<()>>,
) -> impl IntoView {
    move || {
        let error = error.get()?;
        Some(LoadErrorMessage(LoadErrorMessageProps { error, retry }))
    }
}

/// Renders the errors of an `ErrorBoundary`, with a button that reloads the page.
#[component]
pub(crate) fn ErrorBoundaryMessages(
    /// The errors that the boundary has caught.
    errors: ArcRwSignal<Errors>,
) -> impl IntoView {
    let list = move || {
        let errors = errors.get();
        errors
            .into_iter()
            .map(|(_, error)| view! { <p>{error.to_string()}</p> })
            .collect_view()
    };
    view! {
        <div class="failure" role="alert">
            {list}
            <button
                class="btn"
                type="button"
                on:click=|_| {
                    let _ = window().location().reload();
                }
            >
                "Reload the page"
            </button>
        </div>
    }
}
