//! What went wrong, and the way out.

use leptos::prelude::*;

use crate::api;

/// One message in the place where its answer would have stood.
#[component]
pub(crate) fn ErrorMessage(
    /// What went wrong.
    error: api::Error,
    /// Asks again.
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

/// The message of an error while there is one.
#[component]
pub(crate) fn OptionalErrorMessage(
    /// What went wrong, if something did.
    #[prop(into)]
    error: Signal<Option<api::Error>>,
    /// Asks again.
    #[prop(optional, into)]
    retry: Option<Callback<()>>,
) -> impl IntoView {
    move || {
        let error = error.get()?;
        Some(ErrorMessage(ErrorMessageProps { error, retry }))
    }
}

/// The messages of an `ErrorBoundary`, with a reload as the way out.
#[component]
pub(crate) fn ErrorBoundaryMessages(
    /// As the boundary gives them.
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
