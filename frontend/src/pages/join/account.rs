//! The account of the user who is signed in: password, signing out and the user's data.

use leptos::prelude::*;
use shared::api::Endpoint;
use shared::api::people::{
    AccessRole, MIN_PASSWORD_LENGTH, Person, SetPasswordRequest, SignOutRequest,
};

use super::forms::{
    FormSubmitState, SubmitButton, SubmitErrorMessage, check_optional_password_length,
};
use super::own_data::OwnDataSection;
use super::role_description;
use crate::api;
use crate::outbox::{self, OutboxSummary, RejectedEventsPanel};
use crate::routes::PageRoute;
use crate::widgets::form::TextField;
use crate::widgets::section::Section;

/// Renders the account of a person with a name.
#[component]
pub(super) fn AccountSection(
    /// The person who is signed in.
    person: Person,
    /// The role of the person.
    role: AccessRole,
    /// Fetches the session again.
    again: Callback<()>,
) -> impl IntoView {
    let has_password = person.has_password;
    let owner = person.clone();
    let stand = RwSignal::new(FormSubmitState::Editing);
    let leave = move |everywhere: bool| {
        let request = SignOutRequest {
            all_sessions: everywhere,
        };
        submit(request, stand, again);
    };
    let unsent = outbox::outbox_status_signal();
    let warning = move || {
        let status = unsent.read();
        (!status.pending.is_empty()).then(|| {
            view! {
                <p class="verdict failed">
                    "Some decisions have not been sent. They stay in this browser and are sent \
                     when you sign in here again."
                </p>
            }
        })
    };
    let name = match has_password {
        true => "Change password",
        false => "Set password",
    };
    view! {
        <p class="lead">
            "You are " <b><bdi>{person.name}</bdi></b> ", " {role.name()} ". "
            {role_description(role)}
        </p>
        <div class="btns">
            <a class="btn main" href=PageRoute::ReviewTasks.href()>"Go to tasks"</a>
        </div>
        <OutboxSummary/>
        <RejectedEventsPanel/>
        <Section id="password" name>
            <PasswordForm has_password again/>
        </Section>
        <Section id="sign-out" name="Sign out">
            {(!has_password)
                .then(|| {
                    view! {
                        <p class="verdict failed">
                            "You have no password: after you sign out, you need another \
                             invitation to sign in as yourself."
                        </p>
                    }
                })}
            {warning}
            <div class="btns">
                <button class="btn" type="button" on:click=move |_| leave(false)>
                    "Sign out"
                </button>
                <button class="btn" type="button" on:click=move |_| leave(true)>
                    "Sign out on all devices"
                </button>
            </div>
            <SubmitErrorMessage stand/>
        </Section>
        <OwnDataSection person=owner again/>
    }
}

/// Renders the sign-out button for an operator without a name.
#[component]
pub(super) fn OperatorSignOut(
    /// Fetches the session again.
    again: Callback<()>,
) -> impl IntoView {
    let stand = RwSignal::new(FormSubmitState::Editing);
    let leave = move |_| {
        let request = SignOutRequest {
            all_sessions: false,
        };
        submit(request, stand, again);
    };
    view! {
        <div class="btns">
            <button class="btn" type="button" on:click=leave>"Sign out"</button>
        </div>
        <SubmitErrorMessage stand/>
    }
}

/// Renders the fields for the current password, if there is one, and the new one.
#[component]
fn PasswordForm(has_password: bool, again: Callback<()>) -> impl IntoView {
    let stand = RwSignal::new(FormSubmitState::Editing);
    let before = RwSignal::new(String::new());
    let password = RwSignal::new(String::new());
    let enter = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        let new = password.get_untracked();
        if let Err(reason) = check_optional_password_length(&new) {
            return stand.set(FormSubmitState::Invalid(reason));
        }
        let request = SetPasswordRequest {
            current_password: has_password.then(|| before.get_untracked()),
            new_password: (!new.is_empty()).then_some(new),
        };
        submit(request, stand, again);
    };
    let before_field = has_password.then(|| {
        view! {
            <TextField
                label="Current password"
                text=before
                kind="password"
                autocomplete="current-password"
                required=true
            />
        }
    });
    let label = match has_password {
        true => {
            format!(
                "New password, at least {MIN_PASSWORD_LENGTH} characters (leave blank to \
                 remove the password)"
            )
        }
        false => format!("Password, at least {MIN_PASSWORD_LENGTH} characters"),
    };
    view! {
        <form class="way-in" on:submit=enter>
            {before_field}
            <TextField
                label
                text=password
                kind="password"
                autocomplete="new-password"
                required=!has_password
            />
            <SubmitButton stand class="btn">"Save password"</SubmitButton>
            <p class="note">"This signs out your other sessions."</p>
            <SubmitErrorMessage stand/>
        </form>
    }
}

/// Sends a form; fetches the session again, or shows the error.
pub(super) fn submit<E: Endpoint + 'static>(
    request: E,
    stand: RwSignal<FormSubmitState>,
    again: Callback<()>,
) {
    stand.set(FormSubmitState::Submitting);
    leptos::task::spawn_local(async move {
        let reply = api::send_and_parse(&request).await;
        let is_done = reply.is_ok();
        let now = reply.map_or_else(FormSubmitState::Failed, |_| FormSubmitState::Editing);
        if stand.try_set(now).is_none() && is_done {
            again.run(());
        }
    });
}
