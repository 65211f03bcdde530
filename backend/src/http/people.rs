//! The endpoints of people: sessions, invitations, access rights.

mod password;
mod own_data;

use axum::Json;
use axum::http::{HeaderMap, HeaderValue, header};
use shared::api::people::{
    AcceptInvitationRequest, AccessRole, CreateInvitationRequest, CreateInvitationResponse,
    GetSessionRequest, InvitationGrantsResponse, ListPeopleRequest, LookUpInvitationRequest,
    OperatorSignInRequest, PeopleAndInvitationsResponse, Person, RevokePersonOrInvitationRequest,
    SessionResponse, SetPasswordRequest, SignInRequest, SignOutRequest,
};
use shared::error::Error as InputError;
use shared::user_text::MAX_NAME_CHARS;

use crate::clock::unix_time_ms;
use crate::error::{Error, run_to_completion};
use crate::http::AppState;
use crate::http::access::{self, Caller};
use crate::http::api_request::{ApiRequest, JsonResult};
use crate::store::people::{
    JoiningPersonDetails, NewInvitation, PersonRecord, normalized_name_key,
};
use crate::store::secret_token::SecretToken;

pub(super) use own_data::{delete_own_account, get_own_data};

/// The reply after signing in or out, with the header that sets the session cookie.
type SignedInResponse = (
    [(header::HeaderName, HeaderValue); 1],
    Json<SessionResponse>,
);

pub(super) async fn get_session(
    ApiRequest(_, caller, _): ApiRequest<GetSessionRequest>,
) -> Json<SessionResponse> {
    Json(caller.identity())
}

pub(super) async fn look_up_invitation(
    ApiRequest(app, _, asked): ApiRequest<LookUpInvitationRequest>,
) -> JsonResult<InvitationGrantsResponse> {
    let token = SecretToken::from_unchecked_text(&asked.token);
    Ok(Json(
        app.store
            .usable_invitation_details(&token, unix_time_ms())
            .await?,
    ))
}

pub(super) async fn accept_invitation(
    headers: HeaderMap,
    ApiRequest(app, caller, asked): ApiRequest<AcceptInvitationRequest>,
) -> Result<SignedInResponse, Error> {
    can_be_kept(&app, &headers)?;
    let token = asked.token.as_deref().map(SecretToken::from_unchecked_text);
    match &token {
        // Checked first, since hashing a password is slow.
        Some(token) => {
            app.store
                .usable_invitation_details(token, unix_time_ms())
                .await?;
        }
        None => may_take_a_name(&caller)?,
    }
    let password_hash = match asked.password {
        Some(it) => Some(password::hash(&app, "password", it).await?),
        None => None,
    };
    let joining = JoiningPersonDetails {
        name: asked.name,
        password_hash,
    };
    let session = match &token {
        Some(token) => {
            app.store
                .accept_invitation_and_begin_session(token, &joining, unix_time_ms())
                .await?
        }
        None => {
            app.store
                .add_named_operator_with_session(&joining, unix_time_ms())
                .await?
        }
    };
    welcome(&app, caller, &headers, session).await
}

fn may_take_a_name(caller: &Caller) -> Result<(), Error> {
    match (&caller.person, caller.role) {
        (Some(person), _) => {
            let reason = format!("you are here as {}; sign out first", person.name);
            Err(InputError::conflicting_value("name", reason).into())
        }
        (None, AccessRole::Operator) => Ok(()),
        (None, _) => {
            let reason = "is missing; open the link of an invitation, a curator makes one";
            Err(InputError::missing_field("token", reason).into())
        }
    }
}

pub(super) async fn sign_in(
    headers: HeaderMap,
    ApiRequest(app, caller, asked): ApiRequest<SignInRequest>,
) -> Result<SignedInResponse, Error> {
    can_be_kept(&app, &headers)?;
    let found = app.store.person_by_name(&asked.name).await?;
    let known = found.filter(|it| !it.is_revoked);
    let guess = PasswordAttempt {
        name: &asked.name,
        password: asked.password,
        known: known.as_ref(),
    };
    check_password(&app, &caller, guess).await?;
    let known = known.ok_or(Error::InvalidCredentials)?;
    let session = app
        .store
        .begin_session(known.person.id, unix_time_ms())
        .await?;
    welcome(&app, caller, &headers, session).await
}

/// Redeems the operator link and starts an operator session without a name.
pub(super) async fn sign_in_as_operator(
    headers: HeaderMap,
    ApiRequest(app, caller, asked): ApiRequest<OperatorSignInRequest>,
) -> Result<SignedInResponse, Error> {
    can_be_kept(&app, &headers)?;
    if !app.operator_link.redeem(&asked.token) {
        return Err(Error::OperatorLinkExpired);
    }
    let session = app
        .store
        .begin_unnamed_operator_session(unix_time_ms())
        .await?;
    welcome(&app, caller, &headers, session).await
}

/// An attempt to sign in with a name and a password.
struct PasswordAttempt<'a> {
    name: &'a str,
    password: String,
    /// `None` if there is no person of this name.
    known: Option<&'a PersonRecord>,
}

/// Checks a password, with limits on wrong guesses. Time and error are the same whether the name
/// exists or not.
async fn check_password(
    app: &AppState,
    caller: &Caller,
    guess: PasswordAttempt<'_>,
) -> Result<(), Error> {
    let name: String = normalized_name_key(guess.name)
        .chars()
        .take(MAX_NAME_CHARS)
        .collect();
    let from_here = (name.clone(), caller.address_key());
    app.limits.guesses_of_name.check(&name)?;
    app.limits.guesses_from_address.take(from_here.clone())?;
    let hash = guess.known.and_then(|it| it.password_hash.clone());
    match password::verify(app, guess.password, hash).await? {
        true => {
            app.limits.guesses_from_address.forgive(&from_here);
            Ok(())
        }
        false => {
            app.limits.guesses_of_name.count(name);
            Err(Error::InvalidCredentials)
        }
    }
}

/// Returns an error if the browser would not keep the session cookie because the page was not
/// loaded over https. The invitation would otherwise be used up in vain.
fn can_be_kept(app: &AppState, headers: &HeaderMap) -> Result<(), Error> {
    let origin = headers.get(header::ORIGIN).and_then(|it| it.to_str().ok());
    let Some(host) = origin.and_then(|it| it.strip_prefix("http://")) else {
        return Ok(());
    };
    let reason = match app.exposure.https_url() {
        Some(url) => format!(
            "a browser keeps a session only over https; open this page at {}",
            url.origin()
        ),
        None if access::names_loopback(host) => return Ok(()),
        None => "a browser keeps a session only over https; whoever runs this server puts a proxy \
                 with TLS before it, and the link is opened there"
            .to_owned(),
    };
    Err(Error::UntrustedRequest { reason })
}

/// Starts a session and ends the one that the browser had before, so that nobody continues in a
/// session that somebody else started.
async fn welcome(
    app: &AppState,
    caller: Caller,
    headers: &HeaderMap,
    session: SecretToken,
) -> Result<SignedInResponse, Error> {
    if let Some(before) = &caller.session {
        app.store.end_session(before).await?;
    }
    let cookie = access::set_cookie(&app.exposure, headers, &session);
    let caller = caller.with_session(app, Some(session)).await?;
    Ok(([(header::SET_COOKIE, cookie)], Json(caller.identity())))
}

pub(super) async fn sign_out(
    headers: HeaderMap,
    ApiRequest(app, caller, asked): ApiRequest<SignOutRequest>,
) -> Result<SignedInResponse, Error> {
    match (&caller.session, &caller.person) {
        (_, Some(person)) if asked.all_sessions => {
            app.store
                .end_person_sessions_except(person.id, None)
                .await?
        }
        (Some(_), None) if asked.all_sessions => app.store.end_unnamed_operator_sessions().await?,
        (Some(session), _) => app.store.end_session(session).await?,
        (None, _) => {}
    }
    let cookie = access::clear_cookie(&app.exposure, &headers);
    let caller = caller.with_session(&app, None).await?;
    Ok(([(header::SET_COOKIE, cookie)], Json(caller.identity())))
}

/// Returns an error unless a person who is signed in typed their own password. Without a password
/// there is nothing to check.
async fn check_own_password(
    app: &AppState,
    caller: &Caller,
    known: &PersonRecord,
    typed: Option<String>,
) -> Result<(), Error> {
    if known.password_hash.is_none() {
        return Ok(());
    }
    let guess = PasswordAttempt {
        name: &known.person.name,
        password: typed.unwrap_or_default(),
        known: Some(known),
    };
    let checked = check_password(app, caller, guess).await;
    checked.map_err(|it| match it {
        Error::InvalidCredentials => {
            let reason = "is not your password; type the one that you sign in with";
            InputError::conflicting_value("current_password", reason).into()
        }
        other => other,
    })
}

pub(super) async fn set_password(
    ApiRequest(app, caller, asked): ApiRequest<SetPasswordRequest>,
) -> JsonResult<SessionResponse> {
    let no = caller.require_person()?.id;
    let known = app.store.person_by_id(no).await?;
    check_own_password(&app, &caller, &known, asked.current_password).await?;
    let hash = match asked.new_password {
        Some(it) => Some(password::hash(&app, "new_password", it).await?),
        None => None,
    };
    let session = caller.session.clone();
    let (store, own_session) = (app.store.clone(), session.clone());
    run_to_completion("setting a password", async move {
        store.set_password(no, hash.as_deref()).await?;
        // If this were cut off, sessions of somebody else would outlive the old password.
        store
            .end_person_sessions_except(no, own_session.as_ref())
            .await
    })
    .await?;
    Ok(Json(caller.with_session(&app, session).await?.identity()))
}

pub(super) async fn list_people(
    ApiRequest(app, _, _): ApiRequest<ListPeopleRequest>,
) -> JsonResult<PeopleAndInvitationsResponse> {
    Ok(Json(
        app.store
            .list_people_and_invitations(unix_time_ms())
            .await?,
    ))
}

pub(super) async fn create_invitation(
    ApiRequest(app, caller, asked): ApiRequest<CreateInvitationRequest>,
) -> JsonResult<CreateInvitationResponse> {
    let role = match asked.person {
        Some(no) => {
            let known = app.store.person_by_id(no).await?;
            if known.is_deleted {
                let reason = "is of a deleted account; invite them as a new person";
                return Err(InputError::conflicting_value("person", reason).into());
            }
            known.role
        }
        None => asked.role,
    };
    may_manage(&caller, role)?;
    let invite = NewInvitation {
        role,
        person: asked.person,
        hours: asked.valid_hours,
        note: asked.note,
        made_by: caller.person_no(),
    };
    Ok(Json(
        app.store.create_invitation(&invite, unix_time_ms()).await?,
    ))
}

pub(super) async fn revoke(
    ApiRequest(app, caller, asked): ApiRequest<RevokePersonOrInvitationRequest>,
) -> JsonResult<PeopleAndInvitationsResponse> {
    match asked {
        RevokePersonOrInvitationRequest::Person { id: no } => {
            let known = app.store.person_by_id(no).await?;
            not_oneself(&caller, &known.person)?;
            may_manage(&caller, known.role)?;
            app.store
                .revoke_access_of_person(no, unix_time_ms())
                .await?;
        }
        RevokePersonOrInvitationRequest::Invitation { id } => {
            let invited = app
                .store
                .pending_invitation_by_number(id, unix_time_ms())
                .await?;
            may_manage(&caller, invited.role)?;
            app.store.revoke_invitation(id, unix_time_ms()).await?;
        }
    }
    Ok(Json(
        app.store
            .list_people_and_invitations(unix_time_ms())
            .await?,
    ))
}

/// Returns an error unless the caller may manage people of a role: curators manage annotators,
/// operators everybody.
fn may_manage(caller: &Caller, role: AccessRole) -> Result<(), Error> {
    let least = match role {
        AccessRole::Visitor | AccessRole::Annotator => AccessRole::Curator,
        AccessRole::Curator | AccessRole::Operator => AccessRole::Operator,
    };
    match caller.has_role(least) {
        true => Ok(()),
        false => Err(Error::InsufficientRole {
            role: caller.role,
            least,
        }),
    }
}

fn not_oneself(caller: &Caller, person: &Person) -> Result<(), Error> {
    if caller.person_no() == Some(person.id) {
        return Err(Error::UntrustedRequest {
            reason: "you cannot revoke your own access; ask another operator, or sign out on all \
                     devices"
                .to_owned(),
        });
    }
    Ok(())
}
