//! The operator's page: models, health check, jobs, and studies on several machines.

mod health;
mod jobs;
mod cluster_jobs;
mod models;
mod model_list;

use leptos::prelude::*;
use shared::api::people::{AccessRole, GetSessionRequest, OperatorSignInRequest};

use crate::api::{self, RequestError};
use crate::location::{self, PageLocation};
use crate::routes::PageRoute;
use crate::widgets::error_message::{LoadErrorMessage, OptionalErrorMessage};
use crate::widgets::needs_server::NeedsServerNotice;
use crate::widgets::operator_sign_in::OperatorTokenForm;
use cluster_jobs::ClusterJobSection;
use health::HealthCheckSection;
use jobs::JobListSection;
use model_list::{OperatorPageState, ServerModelsState};
use models::ModelListSection;

/// Renders the operator's page. The operator link, which the server prints when it starts, leads
/// here.
#[component]
pub(crate) fn OperatorPage() -> impl IntoView {
    let PageLocation { hash, .. } = PageLocation::from_context_or_browser();
    let shelf = ServerModelsState::new();
    let failed = RwSignal::new(None::<RequestError>);
    if hash.with_untracked(String::is_empty) {
        shelf.poll_until_loaded();
    }
    Effect::new(move |_| {
        let token = hash.get();
        if !token.is_empty() {
            // The token signs the operator in, so it must not stay in the history or be visible on
            // screen.
            location::replace_browser_address(&PageRoute::Operator.href());
            follow_link(token, shelf, failed);
        }
    });
    let again = Callback::new(move |()| shelf.poll_until_loaded());
    let stand = Memo::new(move |_| shelf.state.get());
    let body = move || match stand.get() {
        OperatorPageState::Loading => {
            view! { <p class="note" role="status">"Loading"</p> }.into_any()
        }
        OperatorPageState::NoServer => {
            view! { <NeedsServerNotice what="Models and jobs"/> }.into_any()
        }
        OperatorPageState::Visitor => {
            view! { <OperatorSignIn refused=shelf.is_token_rejected again/> }.into_any()
        }
        OperatorPageState::Failed(error) => {
            view! { <LoadErrorMessage error retry=again/> }.into_any()
        }
        OperatorPageState::Operator => view! {
            <ModelListSection shelf/>
            <HealthCheckSection shelf/>
            <JobListSection/>
            <ClusterJobSection/>
        }
        .into_any(),
    };
    view! {
        <h1>"Models and jobs"</h1>
        <p class="lead">
            "The models on this server, the jobs that use them, and studies on several machines."
        </p>
        <OptionalErrorMessage error=failed/>
        <div class="operator">{body}</div>
    }
}

/// Signs in with the operator link and opens the list of studies. If the user already is the
/// operator, the link is not used up.
fn follow_link(token: String, shelf: ServerModelsState, failed: RwSignal<Option<RequestError>>) {
    leptos::task::spawn_local(async move {
        let known = api::send_and_parse(&GetSessionRequest {}).await;
        let who = match known {
            Ok(who) if who.role < AccessRole::Operator => {
                api::send_and_parse(&OperatorSignInRequest { token }).await
            }
            known => known,
        };
        // The user may be on another page by now.
        if failed.try_set(None).is_some() {
            return;
        }
        match who {
            Ok(_) => location::replace_browser_address(&PageRoute::Studies.href()),
            Err(error) if error.is_server_error_of_type(api::NO_SERVER) => {
                shelf.poll_until_loaded()
            }
            Err(error) => {
                failed.set(Some(error));
                shelf.poll_until_loaded();
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
