//! Who may ask for what.
//!
//! Whoever has the operator's token is the operator. Whoever has a session is a person with a
//! role. Else, on loopback everybody who reaches the server is its operator, and anywhere else a
//! visitor. What has to be kept out everywhere are pages of other sites in somebody's browser
//! (forged requests): see [`way`].

mod way;

use std::net::{IpAddr, SocketAddr};

use axum::extract::{ConnectInfo, FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use shared::api::people::{Person, Role};
use shared::review::PersonNo;

use crate::error::Error;
use crate::http::App;
use crate::http::limits::Asker;

pub(super) use way::check_way;

/// Where the server listens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Door {
    /// This machine only.
    Loopback,
    /// Anywhere else.
    Open,
}

/// Who asks. [`check`] finds out, once for each request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Caller {
    /// What they may do.
    pub(super) role: Role,
    /// None for visitors, and for an operator by token or on loopback.
    pub(super) person: Option<Person>,
    /// Where they are.
    pub(super) ip: IpAddr,
}

/// Who may ask for something. Each lets in whom those behind it let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    /// Everybody, at the pace of somebody who reads.
    Everybody,
    /// Everybody, at a slower pace, since a model has to work.
    Scorers,
    /// Everybody, at the pace of somebody who types a password: it could be a guess.
    Secrets,
    /// Everybody with a role.
    Annotator,
    /// Curators and operators.
    Curator,
    /// Operators.
    Operator,
}

impl Door {
    pub(super) fn of(address: SocketAddr) -> Door {
        if address.ip().to_canonical().is_loopback() {
            Door::Loopback
        } else {
            Door::Open
        }
    }
}

impl Access {
    /// The least role that is let in.
    pub(super) fn role(self) -> Role {
        match self {
            Access::Everybody | Access::Scorers | Access::Secrets => Role::Visitor,
            Access::Annotator => Role::Annotator,
            Access::Curator => Role::Curator,
            Access::Operator => Role::Operator,
        }
    }
}

impl Caller {
    /// Whether they may do what a role may.
    pub(super) fn may(&self, role: Role) -> bool {
        self.role >= role
    }

    /// Their number, if they have a name.
    pub(super) fn person_no(&self) -> Option<PersonNo> {
        self.person.as_ref().map(|it| it.no)
    }

    /// Who they are, where what they do is kept under their name.
    pub(super) fn named(&self) -> Result<&Person, Error> {
        self.person.as_ref().ok_or(Error::NeedsName)
    }

    /// As whom they are counted.
    fn asker(&self) -> Asker {
        match &self.person {
            Some(person) => Asker::Person(person.no),
            None => Asker::Address(self.ip),
        }
    }

    async fn of(app: &App, headers: &HeaderMap, ip: IpAddr) -> Result<Caller, Error> {
        // A proxy on this machine brings people from elsewhere.
        let brought = [
            "forwarded",
            "x-forwarded-for",
            "x-forwarded-host",
            "x-real-ip",
            "via",
        ]
        .iter()
        .any(|it| headers.contains_key(*it));
        let by_door = match app.door {
            Door::Loopback => !brought,
            Door::Open => false,
        };
        let token = text(headers, header::AUTHORIZATION)
            .and_then(|it| it.split_once(' '))
            .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
            .map(|(_, token)| token.trim());
        let by_token = token
            .zip(app.operator.as_ref())
            .is_some_and(|(token, hash)| hash.matches(token));
        let role = match by_door || by_token {
            true => Role::Operator,
            false => Role::Visitor,
        };
        Ok(Caller {
            role,
            person: None,
            ip,
        })
    }
}

/// Put into a request by [`check`].
impl FromRequestParts<App> for Caller {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _app: &App) -> Result<Caller, Error> {
        let found = parts.extensions.get::<Caller>().cloned();
        found.ok_or(Error::Crashed {
            what: "finding out who asks",
        })
    }
}

/// Finds out who asks; lets through whom `access` lets through, not faster than it should be.
pub(super) async fn check(
    State((app, access)): State<(App, Access)>,
    mut request: Request,
    next: Next,
) -> Response {
    let ip = address(request.extensions().get());
    let found = Caller::of(&app, request.headers(), ip).await;
    let checked = found.and_then(|caller| {
        let_in(&app, access, &caller)?;
        Ok(caller)
    });
    match checked {
        Ok(caller) => {
            request.extensions_mut().insert(caller);
            next.run(request).await
        }
        Err(error) => error.into_response(),
    }
}

fn let_in(app: &App, access: Access, caller: &Caller) -> Result<(), Error> {
    let least = access.role();
    if !caller.may(least) {
        return Err(match (caller.role, access) {
            (Role::Visitor, Access::Operator) => Error::NeedsToken,
            (Role::Visitor, _) => Error::NeedsSession,
            (role, _) => Error::NotYours { role, least },
        });
    }
    if caller.may(Role::Operator) {
        return Ok(());
    }
    match (access, &caller.person) {
        (Access::Secrets, _) => app.limits.secrets.take(Asker::Address(caller.ip)),
        (Access::Scorers, _) => app.limits.scores.take(caller.asker()),
        (_, Some(person)) => app.limits.people.take(Asker::Person(person.no)),
        (_, None) => app.limits.reads.take(Asker::Address(caller.ip)),
    }
}

fn address(connection: Option<&ConnectInfo<SocketAddr>>) -> IpAddr {
    // Without a connection there is only a test.
    connection.map_or(IpAddr::from([0; 4]), |it| it.0.ip().to_canonical())
}

fn text(headers: &HeaderMap, name: header::HeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok()
}
