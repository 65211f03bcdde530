//! The sign-in form for the operator of a server.

use leptos::prelude::*;

use super::form::TextField;
use crate::api::operator_token;

/// Renders how the operator signs in, and a field for the operator's token.
#[component]
pub(crate) fn OperatorTokenForm(
    /// What the token is needed for, a sentence.
    why: &'static str,
    /// Asks the server again what the user may do.
    again: Callback<()>,
) -> impl IntoView {
    let typed = RwSignal::new(String::new());
    let enter = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        operator_token::store_operator_token_for_tab(typed.get_untracked().trim());
        again.run(());
    };
    view! {
        <p class="ahead">
            {why} " If you are the operator, open the link that the server printed when it \
                 started; it signs in this browser. It works once, and each start prints a new \
                 one."
        </p>
        <form class="btns send" on:submit=enter>
            <TextField
                label="Operator token (printed at the first start)"
                text=typed
                kind="password"
                autocomplete="current-password"
            />
            <button class="btn" type="submit">"Use in this tab"</button>
        </form>
    }
}
