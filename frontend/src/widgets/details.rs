//! Details that are rendered when they are opened for the first time.

use leptos::html;
use leptos::prelude::*;

/// Renders a summary, and below it details that exist once they have been open.
#[component]
pub(crate) fn DetailsOnDemand<S: IntoView + 'static>(
    /// The class of the element.
    class: &'static str,
    /// Whether the details are open, which the reader changes.
    is_open: RwSignal<bool>,
    /// What is always shown, and opens and closes the details.
    summary: S,
    /// What is shown below the summary while the details are open.
    children: ChildrenFn,
) -> impl IntoView {
    let details = NodeRef::<html::Details>::new();
    let toggled = move |_| {
        if let Some(details) = details.get_untracked() {
            is_open.set(details.open());
        }
    };
    let exists = Memo::new(move |before| is_open.get() || before == Some(&true));
    view! {
        <details node_ref=details class=class open=is_open on:toggle=toggled>
            <summary>{summary}</summary>
            {move || exists.get().then(|| children())}
        </details>
    }
}
