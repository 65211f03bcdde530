//! The data of the user: the file with everything that the server stores about them, and the
//! deletion of their account.

use leptos::prelude::*;
use shared::api::own_data::{DeleteOwnAccountRequest, GetOwnDataRequest};
use shared::api::people::Person;

use super::account::submit;
use super::forms::{FormSubmitState, SubmitButton, SubmitErrorMessage};
use crate::api;
use crate::widgets::confirmation::{ActionConfirmation, ConfirmedActionButton};
use crate::widgets::download;
use crate::widgets::form::TextField;
use crate::widgets::section::Section;

/// The name of the file with the data of the user.
const FILE: &str = "axioscope-my-data.json";

/// Renders the buttons that export the user's data and delete their account.
#[component]
pub(super) fn OwnDataSection(
    /// The person who is signed in.
    person: Person,
    /// Fetches the session again.
    again: Callback<()>,
) -> impl IntoView {
    let export_state = RwSignal::new(FormSubmitState::Editing);
    let export = move |_| {
        export_state.set(FormSubmitState::Submitting);
        leptos::task::spawn_local(async move {
            let now = match api::send_without_parsing(&GetOwnDataRequest {}).await {
                Ok(json) => {
                    download::offer_text_download(FILE, "application/json", &json);
                    FormSubmitState::Editing
                }
                Err(error) => FormSubmitState::Failed(error),
            };
            let _ = export_state.try_set(now);
        });
    };
    let confirmation = ActionConfirmation::new();
    let person = StoredValue::new(person);
    view! {
        <Section id="own-data" name="Your data">
            <p class="note">
                "The export is one JSON file with everything that this server stores about you: \
                 name, role, times of sessions, invitations, tasks and decisions."
            </p>
            <div class="btns">
                <button
                    class="btn"
                    type="button"
                    disabled=move || export_state.get() == FormSubmitState::Submitting
                    on:click=export
                >
                    "Export my data"
                </button>
                <ConfirmedActionButton confirmation text="Delete my account"/>
            </div>
            <SubmitErrorMessage stand=export_state/>
            <Show when=move || confirmation.is_shown()>
                <DeletionForm person=person.get_value() again/>
            </Show>
        </Section>
    }
}

/// Renders the form that confirms the deletion of the account.
#[component]
fn DeletionForm(person: Person, again: Callback<()>) -> impl IntoView {
    let stand = RwSignal::new(FormSubmitState::Editing);
    let name = RwSignal::new(String::new());
    let password = RwSignal::new(String::new());
    let has_password = person.has_password;
    let enter = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        let request = DeleteOwnAccountRequest {
            confirmed_name: name.get_untracked(),
            current_password: has_password.then(|| password.get_untracked()),
        };
        submit(request, stand, again);
    };
    let password_field = has_password.then(|| {
        view! {
            <TextField
                label="Your password"
                text=password
                kind="password"
                autocomplete="current-password"
                required=true
            />
        }
    });
    view! {
        <form class="way-in" on:submit=enter>
            <p class="note">
                "This removes your name, password, sessions and invitations, and cannot be \
                 undone. Your decisions and notes stay in the results, as those of a deleted \
                 person. Decisions that have not been sent are lost."
            </p>
            <TextField
                label=format!("Type {} to confirm", person.name)
                text=name
                kind="text"
                required=true
            />
            {password_field}
            <SubmitButton stand class="btn">"Delete my account for good"</SubmitButton>
            <SubmitErrorMessage stand/>
        </form>
    }
}
