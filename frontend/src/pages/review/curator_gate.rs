//! Shows a page only to curators; tells everybody else how to get access.

use leptos::prelude::*;
use shared::api::people::{AccessRole, GetSessionRequest, SessionResponse};

use crate::api::{self, RequestError};
use crate::routes::PageRoute;
use crate::widgets::error_message::LoadErrorMessage;
use crate::widgets::needs_server::NeedsServerNotice;

/// The state of the access check.
#[derive(Clone)]
enum AccessState {
    Known(SessionResponse),
    NoServer,
    Failed(RequestError),
}

async fn fetch_access() -> AccessState {
    // A static host has no sessions to ask for.
    match api::fetch_server_info().await {
        Ok(None) => AccessState::NoServer,
        Err(error) => AccessState::Failed(error),
        Ok(Some(_)) => match api::send_and_parse(&GetSessionRequest {}).await {
            Ok(who) => AccessState::Known(who),
            Err(error) => AccessState::Failed(error),
        },
    }
}

/// Renders content for curators and operators only.
#[component]
pub(crate) fn CuratorsOnly<F>(
    /// The heading for users without access.
    heading: &'static str,
    /// The description for users without access, a sentence.
    why: &'static str,
    /// The content for users with access.
    shown: F,
) -> impl IntoView
where
    F: Fn(SessionResponse) -> AnyView + Send + 'static,
{
    let answer = LocalResource::new(fetch_access);
    move || match answer.get() {
        None => view! { <p class="note" role="status">"Loading"</p> }.into_any(),
        Some(AccessState::Known(who)) if who.role >= AccessRole::Curator => shown(who),
        Some(AccessState::Known(who)) => view! { <AccessDenied heading why who/> }.into_any(),
        Some(AccessState::NoServer) => view! {
            <h1>{heading}</h1>
            <NeedsServerNotice what="Accounts and annotation tasks"/>
        }
        .into_any(),
        Some(AccessState::Failed(error)) => {
            let retry = Callback::new(move |()| answer.refetch());
            view! {
                <h1>{heading}</h1>
                <LoadErrorMessage error retry/>
            }
            .into_any()
        }
    }
}

/// Renders the message for users without access.
#[component]
fn AccessDenied(heading: &'static str, why: &'static str, who: SessionResponse) -> impl IntoView {
    let said = match who.person {
        Some(person) => format!(
            "You are {}, {}. Ask the operator to invite you as a curator.",
            person.name,
            who.role.name()
        ),
        None => "Sign in as a curator, or ask for an invitation.".to_owned(),
    };
    view! {
        <h1>{heading}</h1>
        <p class="ahead">{why} " " {said}</p>
        <div class="btns">
            <a class="btn main" href=PageRoute::Join.href()>"Sign in"</a>
            <a class="btn" href=PageRoute::ReviewTasks.href()>"Annotation tasks"</a>
        </div>
    }
}
