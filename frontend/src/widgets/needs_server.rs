//! What a page of a static host shows in place of content that only a server has.

use leptos::prelude::*;

/// Renders what needs a server and how to start one.
#[component]
pub(crate) fn NeedsServerNotice(
    /// What needs a server: a plural at the beginning of a sentence, as in `Models and jobs`.
    what: &'static str,
    /// What can be done without a server, in whole sentences.
    #[prop(optional, into)]
    otherwise: Option<ViewFn>,
) -> impl IntoView {
    view! {
        <p class="ahead">
            {what} " need a server, and this page comes from a static host. Run "
            <code>"axioscope serve"</code> " to use them. " {otherwise.map(|it| it.run())}
        </p>
    }
}
