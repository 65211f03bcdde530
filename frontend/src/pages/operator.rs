//! The operator's page: models, health check and jobs.

mod health;
mod jobs;
mod models;
mod model_list;

use leptos::prelude::*;
use shared::api::people::{AccessRole, GetSessionRequest, OperatorSignInRequest};

use crate::api::{self, Error};
use crate::location::{self, PageLocation};
use crate::routes::PageRoute;
use crate::widgets::error_message::{ErrorMessage, OptionalErrorMessage};
use crate::widgets::needs_server::NeedsServer;
use crate::widgets::operator_sign_in::OperatorTokenForm;
use health::Health;
use jobs::Jobs;
use model_list::{ModelList, ModelListState};
use models::Models;

/// Renders the operator's page. The operator link, which the server prints when it starts, leads
/// here.
#[component]
pub(crate) fn Operator() -> impl IntoView {
    let PageLocation { hash, .. } = PageLocation::current();
    let shelf = ModelList::new();
    let failed = RwSignal::new(None::<Error>);
    if hash.with_untracked(String::is_empty) {
        shelf.poll();
    }
    Effect::new(move |_| {
        let token = hash.get();
        if !token.is_empty() {
            // The token signs the operator in, so it must not stay in the history or be visible on
            // screen.
            location::navigate(&PageRoute::Operator.href());
            follow_link(token, shelf, failed);
        }
    });
    let again = Callback::new(move |()| shelf.poll());
    let stand = Memo::new(move |_| shelf.state.get());
    let body = move || match stand.get() {
        ModelListState::Loading => view! { <p class="note" role="status">"Loading"</p> }.into_any(),
        ModelListState::NoServer => view! { <NeedsServer what="Models and jobs"/> }.into_any(),
        ModelListState::Visitor => {
            view! { <OperatorSignIn refused=shelf.is_token_rejected again/> }.into_any()
        }
        ModelListState::Failed(error) => view! { <ErrorMessage error retry=again/> }.into_any(),
        ModelListState::Operator => view! {
            <Models shelf/>
            <Health shelf/>
            <Jobs/>
        }
        .into_any(),
    };
    view! {
        <h1>"Models and jobs"</h1>
        <p class="lead">"The models on this server and the jobs that use them."</p>
        <OptionalErrorMessage error=failed/>
        <div class="operator">{body}</div>
    }
}

/// Signs in with the operator link and opens the list of studies. If the user already is the
/// operator, the link is not used up.
fn follow_link(token: String, shelf: ModelList, failed: RwSignal<Option<Error>>) {
    leptos::task::spawn_local(async move {
        let known = api::call(&GetSessionRequest {}).await;
        let who = match known {
            Ok(who) if who.role < AccessRole::Operator => {
                api::call(&OperatorSignInRequest { token }).await
            }
            known => known,
        };
        // The user may be on another page by now.
        if failed.try_set(None).is_some() {
            return;
        }
        match who {
            Ok(_) => location::navigate(&PageRoute::Studies.href()),
            Err(error) if error.has_type(api::NO_SERVER) => shelf.poll(),
            Err(error) => {
                failed.set(Some(error));
                shelf.poll();
            }
        }
    });
}

/// Renders the sign-in form for a user who is not the operator.
#[component]
fn OperatorSignIn(
    /// Whether the server rejected the token.
    refused: RwSignal<bool>,
    /// Tries again with the typed token.
    again: Callback<()>,
) -> impl IntoView {
    let wrong = move || {
        refused.get().then(|| {
            view! {
                <div class="failure" role="alert">
                    <p>
                        "The server does not recognize this token. "
                        <code>"axioscope serve --new-token"</code> " creates a new one."
                    </p>
                </div>
            }
        })
    };
    view! {
        <OperatorTokenForm
            why="Only the operator of this server can see its models and jobs." again
        />
        {wrong}
    }
}
