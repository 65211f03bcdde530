//! People: who is here, who is let in, who is turned away.

mod password;

use axum::Json;
use axum::http::{HeaderMap, HeaderValue, header};
use shared::api::people::{
    Everybody, Invitation, Invite, InvitedTo, Join, Me, NewInvitation, People, Person, Revoke,
    Role, SetPassword, SignIn, SignInAsOperator, SignOut, Who,
};
use shared::error::Error as InputError;
use shared::written::LONGEST_NAME;

use crate::clock::now_ms;
use crate::error::Error;
use crate::http::App;
use crate::http::access::{self, Caller};
use crate::http::api_call::{ApiCall, JsonResult};
use crate::store::people::{Joining, Known, NewInvite, name_key};
use crate::store::secret::Secret;

/// Who somebody is now, and what their browser keeps of it.
type Welcome = ([(header::HeaderName, HeaderValue); 1], Json<Who>);

pub(super) async fn me(ApiCall { caller, .. }: ApiCall<Me>) -> Json<Who> {
    Json(caller.who())
}

pub(super) async fn invitation(
    ApiCall { app, asked, .. }: ApiCall<Invitation>,
) -> JsonResult<InvitedTo> {
    let token = Secret::shown(&asked.token);
    Ok(Json(app.store.invited_to(&token, now_ms()).await?))
}

pub(super) async fn join(
    headers: HeaderMap,
    ApiCall { app, caller, asked }: ApiCall<Join>,
) -> Result<Welcome, Error> {
    can_be_kept(&app, &headers)?;
    let token = asked.token.as_deref().map(Secret::shown);
    match &token {
        // Before a password is hashed, which takes long.
        Some(token) => {
            app.store.invited_to(token, now_ms()).await?;
        }
        None => may_take_a_name(&caller)?,
    }
    let password_hash = match asked.password {
        Some(it) => Some(password::hash(&app, it).await?),
        None => None,
    };
    let joining = Joining {
        name: asked.name,
        password_hash,
    };
    let session = match &token {
        Some(token) => app.store.join(token, &joining, now_ms()).await?,
        None => app.store.join_as_operator(&joining, now_ms()).await?,
    };
    welcome(&app, caller, &headers, session).await
}

fn may_take_a_name(caller: &Caller) -> Result<(), Error> {
    match (&caller.person, caller.role) {
        (Some(person), _) => {
            let reason = format!("you are here as {}; sign out first", person.name);
            Err(InputError::conflict("name", reason).into())
        }
        (None, Role::Operator) => Ok(()),
        (None, _) => {
            let reason = "is missing; open the link of an invitation, a curator makes one";
            Err(InputError::missing("token", reason).into())
        }
    }
}

pub(super) async fn sign_in(
    headers: HeaderMap,
    ApiCall { app, caller, asked }: ApiCall<SignIn>,
) -> Result<Welcome, Error> {
    can_be_kept(&app, &headers)?;
    let found = app.store.person_named(&asked.name).await?;
    let known = found.filter(|it| !it.revoked);
    let guess = Guess {
        name: &asked.name,
        password: asked.password,
        known: known.as_ref(),
    };
    check_password(&app, &caller, guess).await?;
    let known = known.ok_or(Error::WrongPassword)?;
    let session = app.store.begin_session(known.person.no, now_ms()).await?;
    welcome(&app, caller, &headers, session).await
}

/// Uses up the link that the server printed when it started, and begins a session of an operator
/// without a name.
pub(super) async fn sign_in_as_operator(
    headers: HeaderMap,
    ApiCall { app, caller, asked }: ApiCall<SignInAsOperator>,
) -> Result<Welcome, Error> {
    can_be_kept(&app, &headers)?;
    if !app.operator_link.use_up(&asked.token) {
        return Err(Error::OperatorLinkOver);
    }
    let session = app.store.begin_operator_session(now_ms()).await?;
    welcome(&app, caller, &headers, session).await
}

/// A password that may be the right one of a name.
struct Guess<'a> {
    name: &'a str,
    password: String,
    /// None if nobody has the name.
    known: Option<&'a Known>,
}

/// Takes as long, and says the same, whether there is somebody of this name or not.
async fn check_password(app: &App, caller: &Caller, guess: Guess<'_>) -> Result<(), Error> {
    let name: String = name_key(guess.name).chars().take(LONGEST_NAME).collect();
    let from_here = (name.clone(), caller.address());
    app.limits.guesses_of_name.check(&name)?;
    app.limits.guesses_from_address.take(from_here.clone())?;
    let hash = guess.known.and_then(|it| it.password_hash.clone());
    match password::is_right(app, guess.password, hash).await? {
        true => {
            app.limits.guesses_from_address.forgive(&from_here);
            Ok(())
        }
        false => {
            app.limits.guesses_of_name.count(name);
            Err(Error::WrongPassword)
        }
    }
}

/// A browser that came without TLS would not keep the cookie, and an invitation would be used for
/// nothing.
fn can_be_kept(app: &App, headers: &HeaderMap) -> Result<(), Error> {
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
    Err(Error::Refused { reason })
}

/// The session that the browser had before ends: nobody goes on in one that somebody else began.
async fn welcome(
    app: &App,
    caller: Caller,
    headers: &HeaderMap,
    session: Secret,
) -> Result<Welcome, Error> {
    if let Some(before) = &caller.session {
        app.store.end_session(before).await?;
    }
    let cookie = access::keep(&app.exposure, headers, &session);
    let caller = caller.with(app, Some(session)).await?;
    Ok(([(header::SET_COOKIE, cookie)], Json(caller.who())))
}

pub(super) async fn sign_out(
    headers: HeaderMap,
    ApiCall { app, caller, asked }: ApiCall<SignOut>,
) -> Result<Welcome, Error> {
    match (&caller.session, &caller.person) {
        (_, Some(person)) if asked.everywhere => app.store.end_sessions(person.no, None).await?,
        (Some(_), None) if asked.everywhere => app.store.end_operator_sessions().await?,
        (Some(session), _) => app.store.end_session(session).await?,
        (None, _) => {}
    }
    let cookie = access::forget(&app.exposure, &headers);
    let caller = caller.with(&app, None).await?;
    Ok(([(header::SET_COOKIE, cookie)], Json(caller.who())))
}

pub(super) async fn set_password(
    ApiCall { app, caller, asked }: ApiCall<SetPassword>,
) -> JsonResult<Who> {
    let no = caller.named()?.no;
    let known = app.store.person(no).await?;
    if known.password_hash.is_some() {
        let before = asked.before.unwrap_or_default();
        let guess = Guess {
            name: &known.person.name,
            password: before,
            known: Some(&known),
        };
        let checked = check_password(&app, &caller, guess).await;
        checked.map_err(|it| match it {
            Error::WrongPassword => {
                let reason = "is not your password; type the one that you sign in with";
                InputError::conflict("before", reason).into()
            }
            other => other,
        })?;
    }
    let hash = match asked.password {
        Some(it) => Some(password::hash(&app, it).await?),
        None => None,
    };
    app.store.set_password(no, hash.as_deref()).await?;
    app.store.end_sessions(no, caller.session.as_ref()).await?;
    let session = caller.session.clone();
    Ok(Json(caller.with(&app, session).await?.who()))
}

pub(super) async fn list(ApiCall { app, .. }: ApiCall<People>) -> JsonResult<Everybody> {
    Ok(Json(app.store.everybody(now_ms()).await?))
}

pub(super) async fn invite(
    ApiCall { app, caller, asked }: ApiCall<Invite>,
) -> JsonResult<NewInvitation> {
    let role = match asked.person {
        Some(no) => app.store.person(no).await?.role,
        None => asked.role,
    };
    may_manage(&caller, role)?;
    let invite = NewInvite {
        role,
        person: asked.person,
        hours: asked.hours,
        note: asked.note,
        made_by: caller.person_no(),
    };
    Ok(Json(app.store.invite(&invite, now_ms()).await?))
}

pub(super) async fn revoke(
    ApiCall { app, caller, asked }: ApiCall<Revoke>,
) -> JsonResult<Everybody> {
    match asked {
        Revoke::Person { no } => {
            let known = app.store.person(no).await?;
            not_oneself(&caller, &known.person)?;
            may_manage(&caller, known.role)?;
            app.store.revoke_person(no, now_ms()).await?;
        }
        Revoke::Invitation { no } => {
            let invited = app.store.open_invitation(no, now_ms()).await?;
            may_manage(&caller, invited.role)?;
            app.store.revoke_invitation(no, now_ms()).await?;
        }
    }
    Ok(Json(app.store.everybody(now_ms()).await?))
}

/// Curators have to do with annotators, operators with everybody.
fn may_manage(caller: &Caller, role: Role) -> Result<(), Error> {
    let least = match role {
        Role::Visitor | Role::Annotator => Role::Curator,
        Role::Curator | Role::Operator => Role::Operator,
    };
    match caller.may(least) {
        true => Ok(()),
        false => Err(Error::NotYours {
            role: caller.role,
            least,
        }),
    }
}

fn not_oneself(caller: &Caller, person: &Person) -> Result<(), Error> {
    if caller.person_no() == Some(person.no) {
        return Err(Error::Refused {
            reason: "nobody turns themselves away; another operator can, or sign out everywhere"
                .to_owned(),
        });
    }
    Ok(())
}
