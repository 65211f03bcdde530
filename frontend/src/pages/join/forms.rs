//! The two ways in: by an invitation, and by name and password.

use leptos::prelude::*;
use shared::api::people::{Join, SHORTEST_PASSWORD, SignIn, Who};
use shared::written::{LONGEST_NAME, check_person_name};

use crate::api::{self, Error};
use crate::browser;
use crate::page::Page;
use crate::pages::review::who::known;
use crate::widgets::error::Failure;
use crate::widgets::form::Line;

/// What a form is doing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Stand {
    /// Waits for the reader.
    Open,
    /// Asks the server.
    Asking,
    /// What was typed cannot be taken.
    Wrong(String),
    /// The server says no, or nothing.
    Failed(Error),
}

/// What is wrong, below a form.
#[component]
pub(super) fn Trouble(
    /// Of the form.
    stand: RwSignal<Stand>,
) -> impl IntoView {
    move || match stand.get() {
        Stand::Open | Stand::Asking => ().into_any(),
        Stand::Wrong(reason) => {
            view! { <p class="verdict bad" role="alert">{reason}</p> }.into_any()
        }
        Stand::Failed(error) => view! { <Failure error/> }.into_any(),
    }
}

/// A name, and a password for who wants one.
#[component]
pub(super) fn JoinForm(
    /// Of the invitation; none for an operator.
    token: Option<String>,
    /// Of the person that the invitation lets in again.
    name: Option<String>,
) -> impl IntoView {
    let stand = RwSignal::new(Stand::Open);
    let typed = RwSignal::new(String::new());
    let password = RwSignal::new(String::new());
    let has_name = name.is_some();
    let enter = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        let password = password.get_untracked();
        let checked = match has_name {
            true => Ok(String::new()),
            false => check_person_name(&typed.get_untracked()).map_err(|it| it.to_string()),
        };
        let checked = checked.and_then(|name| {
            check_password(&password)?;
            Ok(name)
        });
        let name = match checked {
            Ok(name) => name,
            Err(reason) => return stand.set(Stand::Wrong(reason)),
        };
        let request = Join {
            token: token.clone(),
            name,
            password: (!password.is_empty()).then_some(password),
        };
        stand.set(Stand::Asking);
        leptos::task::spawn_local(async move {
            went(api::call(&request).await, stand).await;
        });
    };
    let name_field = (!has_name).then(|| {
        view! {
            <Line
                label="Name, as others here shall see it"
                text=typed
                kind="text"
                autocomplete="nickname"
                required=true
                maxlength=LONGEST_NAME
            />
        }
    });
    view! {
        <form class="way-in" on:submit=enter>
            {name_field}
            <Line
                label=format!("Password, if you like: at least {SHORTEST_PASSWORD} characters")
                text=password
                kind="password"
                autocomplete="new-password"
                note="With one you can sign in on other devices; without, only this browser knows \
                      you."
            />
            <button class="btn main" type="submit" disabled=move || stand.get() == Stand::Asking>
                {if has_name { "Go on" } else { "Join" }}
            </button>
            <Trouble stand/>
        </form>
    }
}

/// Name and password.
#[component]
pub(super) fn SignInForm() -> impl IntoView {
    let stand = RwSignal::new(Stand::Open);
    let name = RwSignal::new(String::new());
    let password = RwSignal::new(String::new());
    let enter = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        let request = SignIn {
            name: name.get_untracked(),
            password: password.get_untracked(),
        };
        stand.set(Stand::Asking);
        leptos::task::spawn_local(async move {
            went(api::call(&request).await, stand).await;
        });
    };
    view! {
        <form class="way-in" on:submit=enter>
            <Line label="Name" text=name kind="text" autocomplete="username" required=true/>
            <Line
                label="Password"
                text=password
                kind="password"
                autocomplete="current-password"
                required=true
            />
            <button class="btn main" type="submit" disabled=move || stand.get() == Stand::Asking>
                "Sign in"
            </button>
            <Trouble stand/>
        </form>
    }
}

/// Leads on, or says why not.
async fn went(reply: Result<Who, Error>, stand: RwSignal<Stand>) {
    match reply {
        Ok(who) => {
            known(&who).await;
            // The reader may be on another page by now.
            if stand.try_set(Stand::Open).is_none() {
                browser::go(&Page::Review.href());
            }
        }
        Err(error) => {
            let _ = stand.try_set(Stand::Failed(error));
        }
    }
}

/// None is fine, a short one is not.
pub(super) fn check_password(password: &str) -> Result<(), String> {
    let n = password.chars().count();
    if n == 0 || n >= SHORTEST_PASSWORD {
        return Ok(());
    }
    Err(format!(
        "the password has {n} characters, and needs at least {SHORTEST_PASSWORD}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_long_or_none() {
        assert_eq!(check_password(""), Ok(()));
        assert!(check_password("123456789").is_err());
        assert_eq!(check_password("ääääääääää"), Ok(()));
    }
}
