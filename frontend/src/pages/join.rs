//! The page that invitation links lead to, on which people also sign in and manage their account.

mod account;
mod forms;
mod own_data;

use leptos::prelude::*;
use shared::api::people::{
    AccessRole, InvitationGrantsResponse, LookUpInvitationRequest, SessionResponse,
};

use crate::api::{self, RequestError};
use crate::location::{self, PageLocation};
use crate::pages::review::identity::fetch_session_and_open_outbox;
use crate::routes::PageRoute;
use crate::widgets::error_message::LoadErrorMessage;
use crate::widgets::needs_server::NeedsServerNotice;
use crate::widgets::resource_view::RequestReplyView;
use account::{AccountSection, OperatorSignOut};
use forms::{AccountSetupForm, SignInForm};

/// Renders the page on which people accept an invitation, sign in and manage their account.
#[component]
pub(crate) fn JoinAndAccountPage() -> impl IntoView {
    let PageLocation { hash, .. } = PageLocation::from_context_or_browser();
    let given = hash.get_untracked();
    let token = RwSignal::new((!given.is_empty()).then_some(given));
    Effect::new(move |_| {
        let found = hash.get();
        if !found.is_empty() {
            if token.with_untracked(|it| it.as_ref() != Some(&found)) {
                token.set(Some(found));
            }
            // The token lets its holder sign in, so it must not stay in the history or be visible
            // on screen.
            location::replace_browser_address(&PageRoute::Join.href());
        }
    });
    let asked = LocalResource::new(move || {
        let token = token.get();
        async move { load(token).await }
    });
    let again = Callback::new(move |()| {
        token.set(None);
        asked.refetch();
    });
    let shown = move |found: JoinPageState| join_view(found, again);
    view! { <RequestReplyView answer=asked until="Loading" without="Join" shown/> }
}

/// What the page shows.
#[derive(Debug, Clone)]
enum JoinPageState {
    NoServer,
    /// A valid invitation, and the current session.
    Invited(String, InvitationGrantsResponse, SessionResponse),
    /// An invalid invitation, and the current session.
    InvalidInvitation(RequestError, SessionResponse),
    /// The link has no invitation.
    NoInvitation(SessionResponse),
}

async fn load(token: Option<String>) -> Result<JoinPageState, RequestError> {
    let Some(who) = fetch_session_and_open_outbox().await? else {
        return Ok(JoinPageState::NoServer);
    };
    let Some(token) = token else {
        return Ok(JoinPageState::NoInvitation(who));
    };
    let invitation = LookUpInvitationRequest {
        token: token.clone(),
    };
    match api::send_and_parse(&invitation).await {
        Ok(to) => Ok(JoinPageState::Invited(token, to, who)),
        Err(RequestError::Network(reason)) => Err(RequestError::Network(reason)),
        Err(error) => Ok(JoinPageState::InvalidInvitation(error, who)),
    }
}

fn join_view(found: JoinPageState, again: Callback<()>) -> AnyView {
    match found {
        JoinPageState::NoServer => view! {
            <h1>"Join"</h1>
            <NeedsServerNotice
                what="Accounts"
                otherwise=|| view! {
                    <a href=PageRoute::ReviewTasks.href()>"Try annotating"</a>
                    " works without a server."
                }
            />
        }
        .into_any(),
        JoinPageState::Invited(token, to, who) => invitation_view(token, to, who),
        JoinPageState::InvalidInvitation(error, who) => view! {
            <h1>"This invitation cannot be used"</h1>
            <LoadErrorMessage error/>
            <p class="lead">
                "An invitation works once and for a limited time. Ask the sender for a new one. \
                 If you already used it in this browser or set a password, you do not need \
                 another invitation."
            </p>
            <NoInvitation who again/>
        }
        .into_any(),
        JoinPageState::NoInvitation(who) => view! {
            <h1>{if who.person.is_some() { "Your account" } else { "Sign in" }}</h1>
            <NoInvitation who again/>
        }
        .into_any(),
    }
}

/// Renders what an invitation is for, and the form that accepts it.
fn invitation_view(token: String, to: InvitationGrantsResponse, who: SessionResponse) -> AnyView {
    let until = local_time(to.expires_ms);
    let signed_in = who.person.map(|it| {
        view! {
            <p class="note">
                "You are signed in as " <b><bdi>{it.name}</bdi></b>
                ". If you continue, this browser will be signed in as the invited person."
            </p>
        }
    });
    let heading = match &to.person_name {
        Some(name) => format!("Welcome back, {name}"),
        None => format!("You are invited as {}", role_with_article(to.role)),
    };
    view! {
        <h1>{heading}</h1>
        <p class="lead">{role_description(to.role)}</p>
        <p class="note">"The invitation can be used once, until " {until} "."</p>
        {signed_in}
        <AccountSetupForm token=Some(token) name=to.person_name/>
    }
    .into_any()
}

/// Renders the page for a user without an invitation.
#[component]
fn NoInvitation(
    /// The current session.
    who: SessionResponse,
    /// Fetches the session again.
    again: Callback<()>,
) -> impl IntoView {
    match (who.person, who.role) {
        (Some(person), role) => view! { <AccountSection person role again/> }.into_any(),
        (None, AccessRole::Operator) => view! {
            <p class="lead">
                "You are the operator of this server. Choose a name under which your decisions \
                 are recorded."
            </p>
            <AccountSetupForm token=None name=None/>
            {who.csrf_token.map(|_| view! { <OperatorSignOut again/> })}
        }
        .into_any(),
        (None, _) => view! {
            <p class="lead">
                "Sign in with your name and password. Without a password, use an invitation \
                 link; the person who invited you can send another."
            </p>
            <SignInForm/>
            <p class="note">
                "The server operator uses the link printed when the server starts, or enters \
                 the operator token on the page "
                <a href=PageRoute::Operator.href()>"Models and jobs"</a> "."
            </p>
        }
        .into_any(),
    }
}

fn role_with_article(role: AccessRole) -> &'static str {
    match role {
        AccessRole::Visitor => "a visitor",
        AccessRole::Annotator => "an annotator",
        AccessRole::Curator => "a curator",
        AccessRole::Operator => "an operator",
    }
}

/// Returns a description of what a role may do.
pub(super) fn role_description(role: AccessRole) -> &'static str {
    match role {
        AccessRole::Visitor => "You can read published results.",
        AccessRole::Annotator => {
            "You decide which of two documents answers a query better. You need a name here, \
             but no account elsewhere."
        }
        AccessRole::Curator => {
            "You create annotation tasks, invite annotators, and see agreement and results."
        }
        AccessRole::Operator => "You have full access to this server.",
    }
}

/// Formats a time in the locale and time zone of this browser.
fn local_time(at_ms: u64) -> String {
    let date = js_sys::Date::new(&(at_ms as f64).into());
    date.to_locale_string("en-US", &wasm_bindgen::JsValue::UNDEFINED)
        .into()
}
