//! The two forms that sign a user in: by invitation, and by name and password.

use leptos::prelude::*;
use shared::api::Endpoint;
use shared::api::people::{
    AcceptInvitationRequest, MIN_PASSWORD_LENGTH, SessionResponse, SignInRequest,
};
use shared::user_text::{MAX_NAME_CHARS, normalize_person_name};

use crate::api::{self, RequestError};
use crate::location;
use crate::pages::review::identity::open_outbox_for_session;
use crate::routes::PageRoute;
use crate::widgets::error_message::LoadErrorMessage;
use crate::widgets::form::TextField;

/// The state of a form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum FormSubmitState {
    /// The user is editing the form.
    Editing,
    /// The form has been sent to the server.
    Submitting,
    /// The input is invalid, for this reason.
    Invalid(String),
    /// The server returned an error or did not answer.
    Failed(RequestError),
}

/// Renders the error of a form.
#[component]
pub(super) fn SubmitErrorMessage(
    /// The state of the form.
    stand: RwSignal<FormSubmitState>,
) -> impl IntoView {
    move || match stand.get() {
        FormSubmitState::Editing | FormSubmitState::Submitting => ().into_any(),
        FormSubmitState::Invalid(reason) => {
            view! { <p class="verdict failed" role="alert">{reason}</p> }.into_any()
        }
        FormSubmitState::Failed(error) => view! { <LoadErrorMessage error/> }.into_any(),
    }
}

/// Renders the button that submits a form; it is disabled while the form is being sent.
#[component]
pub(super) fn SubmitButton(
    /// The state of the form.
    stand: RwSignal<FormSubmitState>,
    /// The classes of the button.
    class: &'static str,
    /// The label of the button.
    children: Children,
) -> impl IntoView {
    let disabled = move || stand.get() == FormSubmitState::Submitting;
    view! { <button class=class type="submit" disabled=disabled>{children()}</button> }
}

/// Renders the form for a name and an optional password.
#[component]
pub(super) fn AccountSetupForm(
    /// The token of the invitation; none for the operator.
    token: Option<String>,
    /// The name of the person, if the invitation is for an existing one.
    name: Option<String>,
) -> impl IntoView {
    let stand = RwSignal::new(FormSubmitState::Editing);
    let typed = RwSignal::new(String::new());
    let password = RwSignal::new(String::new());
    let has_name = name.is_some();
    let enter = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        let password = password.get_untracked();
        let checked = match has_name {
            true => Ok(String::new()),
            false => normalize_person_name(&typed.get_untracked()).map_err(|it| it.to_string()),
        };
        let checked = checked.and_then(|name| {
            check_optional_password_length(&password)?;
            Ok(name)
        });
        let name = match checked {
            Ok(name) => name,
            Err(reason) => return stand.set(FormSubmitState::Invalid(reason)),
        };
        let request = AcceptInvitationRequest {
            token: token.clone(),
            name,
            password: (!password.is_empty()).then_some(password),
        };
        sign_in(request, stand);
    };
    let name_field = (!has_name).then(|| {
        view! {
            <TextField
                label="Display name"
                text=typed
                kind="text"
                autocomplete="nickname"
                required=true
                maxlength=MAX_NAME_CHARS
            />
        }
    });
    view! {
        <form class="way-in" on:submit=enter>
            {name_field}
            <TextField
                label=format!("Password (optional), at least {MIN_PASSWORD_LENGTH} characters")
                text=password
                kind="password"
                autocomplete="new-password"
                note="With a password you can sign in on other devices; without one, only in \
                     this browser."
            />
            <SubmitButton stand class="btn main">
                {if has_name { "Continue" } else { "Join" }}
            </SubmitButton>
            <SubmitErrorMessage stand/>
        </form>
    }
}

/// Renders the sign-in form, which asks for a name and a password.
#[component]
pub(super) fn SignInForm() -> impl IntoView {
    let stand = RwSignal::new(FormSubmitState::Editing);
    let name = RwSignal::new(String::new());
    let password = RwSignal::new(String::new());
    let enter = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        let request = SignInRequest {
            name: name.get_untracked(),
            password: password.get_untracked(),
        };
        sign_in(request, stand);
    };
    view! {
        <form class="way-in" on:submit=enter>
            <TextField label="Name" text=name kind="text" autocomplete="username" required=true/>
            <TextField
                label="Password"
                text=password
                kind="password"
                autocomplete="current-password"
                required=true
            />
            <SubmitButton stand class="btn main">"Sign in"</SubmitButton>
            <SubmitErrorMessage stand/>
        </form>
    }
}

/// Sends a form; continues to the review page, or shows the error.
fn sign_in<E>(request: E, stand: RwSignal<FormSubmitState>)
where
    E: Endpoint<Reply = SessionResponse> + 'static,
{
    stand.set(FormSubmitState::Submitting);
    leptos::task::spawn_local(async move {
        match api::send_and_parse(&request).await {
            Ok(who) => {
                open_outbox_for_session(&who).await;
                // The user may be on another page by now.
                if stand.try_set(FormSubmitState::Editing).is_none() {
                    location::replace_browser_address(&PageRoute::ReviewTasks.href());
                }
            }
            Err(error) => {
                let _ = stand.try_set(FormSubmitState::Failed(error));
            }
        }
    });
}

/// Accepts an empty password, but not a short one.
pub(super) fn check_optional_password_length(password: &str) -> Result<(), String> {
    let n = password.chars().count();
    if n == 0 || n >= MIN_PASSWORD_LENGTH {
        return Ok(());
    }
    Err(format!(
        "The password has {n} characters; it needs at least {MIN_PASSWORD_LENGTH}."
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_long_or_none() {
        assert_eq!(check_optional_password_length(""), Ok(()));
        assert!(check_optional_password_length("123456789").is_err());
        assert_eq!(check_optional_password_length("ääääääääää"), Ok(()));
    }
}
