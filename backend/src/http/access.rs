//! Who may ask for what.
//!
//! Whoever has the operator's token is the operator. Whoever has a session is a person with a
//! role, or an operator who came in by the link that the server printed. Everybody else is a
//! visitor, on loopback too: a proxy on this machine brings people from anywhere. What has to be
//! kept out everywhere are pages of other sites in somebody's browser (forged requests): see
//! [`origin_check`].

mod cookie;
mod operator_link;
mod proxy;
mod public_url;
mod origin_check;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Once;

use axum::extract::{ConnectInfo, Request, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use ipnet::IpNet;
use shared::annotation::PersonId;
use shared::api::people::{AccessRole, CSRF_HEADER, Person, SessionResponse};

use crate::clock::now_ms;
use crate::error::Error;
use crate::http::AppState;
use crate::http::limits::ClientKey;
use crate::store::secret_token::{self, SecretToken};

pub(super) use cookie::{clear_cookie, set_cookie};
pub(super) use operator_link::OperatorLink;
pub(super) use origin_check::{check_origin, names_loopback};
pub(crate) use proxy::parse_network;
pub(crate) use public_url::PublicUrl;

/// How the server is reached, and by whom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NetworkExposure {
    /// Where it listens.
    pub(crate) scope: ListenScope,
    /// Peers that say truly for whom they pass a request on.
    pub(crate) trusted_proxies: Vec<IpNet>,
    /// Where visitors find it, if that is not where it listens.
    pub(crate) public_url: Option<PublicUrl>,
    /// Whoever asks on loopback without a proxy is the operator: for tests.
    pub(crate) no_auth_on_loopback: bool,
}

/// Whether the server listens on loopback only or on the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ListenScope {
    /// This machine only.
    Loopback,
    /// Anywhere else.
    Network,
}

/// Who asks. [`authenticate`] finds out, once for each request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Caller {
    /// Role of the new person
    pub(super) role: AccessRole,
    /// None for visitors, and for an operator by token or by the link that the server printed.
    pub(super) person: Option<Person>,
    /// Where they are.
    pub(super) ip: IpAddr,
    /// That of their browser, if they are known by it.
    pub(super) session: Option<SecretToken>,
    /// What they may do without it.
    unnamed: AccessRole,
}

/// Who may ask for something. Each lets in whom those behind it let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AccessLevel {
    /// Everybody, at the pace of somebody who reads.
    Public,
    /// Everybody, at a slower pace, since a model has to work.
    PublicScoring,
    /// Everybody, at the pace of somebody who types a password: it could be a guess.
    PublicCredentials,
    /// Everybody with a role.
    Annotator,
    /// Curators and operators.
    Curator,
    /// Operators.
    Operator,
}

impl NetworkExposure {
    /// Returns whether a peer passes on requests of others, by its address.
    pub(super) fn is_proxy(&self, peer: IpAddr) -> bool {
        proxy::is_trusted(peer, &self.trusted_proxies)
    }

    /// Returns as whom the connections of a peer are counted; none if it brings those of many.
    pub(super) fn client_key(&self, peer: IpAddr) -> Option<ClientKey> {
        let peer = peer.to_canonical();
        (!self.is_proxy(peer)).then_some(ClientKey::Address(peer))
    }

    /// Returns the address of whoever sends a request, which `peer` may only pass on.
    fn client_address(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        static TOLD: Once = Once::new();

        let is_untrusted_proxy = proxy::has_address(headers) && !self.is_proxy(peer);
        // Anybody elsewhere can send these headers, and would use up the warning.
        if is_untrusted_proxy && proxy::is_nearby(peer) {
            TOLD.call_once(|| {
                tracing::warn!(
                    "{peer} says that it passes on requests of others, and is not trusted, so that \
                     all of them share its limits; if this is the address of your proxy, name it \
                     with `--trusted-proxy`, and otherwise do not"
                );
            });
        }
        proxy::client_address(peer, &self.trusted_proxies, headers)
    }

    /// Returns what somebody may do who shows neither a token nor a session.
    fn unnamed_role(&self, headers: &HeaderMap) -> AccessRole {
        match self.scope {
            ListenScope::Loopback if self.no_auth_on_loopback && !proxy::is_forwarded(headers) => {
                AccessRole::Operator
            }
            ListenScope::Loopback | ListenScope::Network => AccessRole::Visitor,
        }
    }

    /// Returns the public address if it has TLS.
    pub(super) fn https_url(&self) -> Option<&PublicUrl> {
        self.public_url.as_ref().filter(|it| it.is_https)
    }

    /// Returns the address to open in a browser, as far as the server knows it.
    pub(super) fn origin(&self, address: SocketAddr) -> String {
        if let Some(url) = &self.public_url {
            return url.origin();
        }
        // Who listens everywhere is reached on loopback.
        let ip = match address.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
            ip => ip,
        };
        format!("http://{}", SocketAddr::new(ip, address.port()))
    }
}

impl ListenScope {
    /// Returns the door of a server that listens at an address.
    pub(crate) fn from_address(address: SocketAddr) -> ListenScope {
        if address.ip().to_canonical().is_loopback() {
            ListenScope::Loopback
        } else {
            ListenScope::Network
        }
    }
}

impl AccessLevel {
    /// The least role that is let in.
    pub(super) fn role(self) -> AccessRole {
        match self {
            AccessLevel::Public | AccessLevel::PublicScoring | AccessLevel::PublicCredentials => {
                AccessRole::Visitor
            }
            AccessLevel::Annotator => AccessRole::Annotator,
            AccessLevel::Curator => AccessRole::Curator,
            AccessLevel::Operator => AccessRole::Operator,
        }
    }
}

impl Caller {
    /// Whether they may do what a role may.
    pub(super) fn has_role(&self, role: AccessRole) -> bool {
        self.role >= role
    }

    /// Their number, if they have a name.
    pub(super) fn person_no(&self) -> Option<PersonId> {
        self.person.as_ref().map(|it| it.id)
    }

    /// Who they are, where what they do is kept under their name.
    pub(super) fn require_person(&self) -> Result<&Person, Error> {
        self.person.as_ref().ok_or(Error::NeedsNamedPerson)
    }

    /// As which address they are counted.
    pub(super) fn address_key(&self) -> ClientKey {
        ClientKey::Address(self.ip).rate_limit_key()
    }

    /// As whom they are counted.
    pub(super) fn asker(&self) -> ClientKey {
        match &self.person {
            Some(person) => ClientKey::Person(person.id),
            None => self.address_key(),
        }
    }

    /// As whom their scorings in flight are counted; none for operators, who may have any number.
    pub(super) fn scoring_asker(&self) -> Option<ClientKey> {
        (!self.has_role(AccessRole::Operator)).then(|| self.asker())
    }

    /// What the server tells a page of who is at it.
    pub(super) fn identity(&self) -> SessionResponse {
        SessionResponse {
            role: self.role,
            person: self.person.clone(),
            csrf_token: self.session.as_ref().map(SecretToken::csrf),
        }
    }

    /// The same browser, now with a session or without one.
    pub(super) async fn with_session(
        self,
        app: &AppState,
        session: Option<SecretToken>,
    ) -> Result<Caller, Error> {
        match session {
            Some(session) => {
                let found = Caller::by_session(app, session, self.ip).await?;
                found.ok_or(Error::NeedsSession)
            }
            None => Ok(Caller::anonymous(self.unnamed, self.ip)),
        }
    }

    /// Put into a request by [`authenticate`].
    pub(super) fn of_request(request: &Request) -> Result<Caller, Error> {
        let found = request.extensions().get::<Caller>().cloned();
        found.ok_or(Error::Panicked {
            what: "finding out who asks",
        })
    }

    async fn of(app: &AppState, headers: &HeaderMap, ip: IpAddr) -> Result<Caller, Error> {
        if by_token(app, headers) {
            return Ok(Caller::anonymous(AccessRole::Operator, ip));
        }
        let unnamed = app.exposure.unnamed_role(headers);
        let by_session = match cookie::read_session(&app.exposure, headers) {
            Some(session) => Caller::by_session(app, session, ip).await?,
            None => None,
        };
        Ok(match by_session {
            Some(caller) => Caller { unnamed, ..caller },
            None => Caller::anonymous(unnamed, ip),
        })
    }

    async fn by_session(
        app: &AppState,
        session: SecretToken,
        ip: IpAddr,
    ) -> Result<Option<Caller>, Error> {
        let found = app.store.session(&session, now_ms()).await?;
        Ok(found.map(|it| Caller {
            role: it.role,
            person: it.person,
            ip,
            session: Some(session),
            unnamed: AccessRole::Visitor,
        }))
    }

    /// Creates a caller with the given role but without a session or a person.
    pub(super) fn anonymous(role: AccessRole, ip: IpAddr) -> Caller {
        Caller {
            role,
            person: None,
            ip,
            session: None,
            unnamed: role,
        }
    }
}

/// Whether somebody shows the operator's token.
fn by_token(app: &AppState, headers: &HeaderMap) -> bool {
    let token = text(headers, header::AUTHORIZATION)
        .and_then(|it| it.split_once(' '))
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
        .map(|(_, token)| token.trim());
    token
        .zip(app.operator.as_ref())
        .is_some_and(|(token, hash)| hash.matches(token))
}

/// Finds out who asks; lets through whom `access` lets through, not faster than it should be.
pub(super) async fn authenticate(
    State((app, access)): State<(AppState, AccessLevel)>,
    mut request: Request,
    next: Next,
) -> Response {
    let peer = address(request.extensions().get());
    let ip = app.exposure.client_address(peer, request.headers());
    let found = Caller::of(&app, request.headers(), ip).await;
    let checked = found.and_then(|caller| {
        not_forged(&caller, &request)?;
        let_in(&app, access, &caller)?;
        Ok(caller)
    });
    let caller = match checked {
        Ok(caller) => caller,
        Err(error) => return error.into_response(),
    };
    let guesser = (access == AccessLevel::PublicCredentials).then(|| caller.address_key());
    request.extensions_mut().insert(caller);
    let response = next.run(request).await;
    let wrong = [StatusCode::UNAUTHORIZED, StatusCode::NOT_FOUND].contains(&response.status());
    if let Some(guesser) = guesser
        && wrong
    {
        app.limits.guesses.count(guesser);
    }
    response
}

/// Whoever is known by a cookie, which a browser sends by itself, shows that one of our pages
/// asks: only these are told [`SecretToken::csrf`].
fn not_forged(caller: &Caller, request: &Request) -> Result<(), Error> {
    let Some(session) = &caller.session else {
        return Ok(());
    };
    if [Method::GET, Method::HEAD].contains(request.method()) {
        return Ok(());
    }
    let shown = request
        .headers()
        .get(CSRF_HEADER)
        .and_then(|it| it.to_str().ok());
    match shown {
        Some(shown) if secret_token::equal(shown, &session.csrf()) => Ok(()),
        Some(_) => Err(Error::UntrustedRequest {
            reason: format!(
                "the header `{CSRF_HEADER}` is not that of this session; load the page again"
            ),
        }),
        None => Err(Error::UntrustedRequest {
            reason: format!(
                "the header `{CSRF_HEADER}` is missing; whoever is signed in by a cookie sends \
                 with it \
                 the `csrf_token` of /api/me"
            ),
        }),
    }
}

fn let_in(app: &AppState, access: AccessLevel, caller: &Caller) -> Result<(), Error> {
    let least = access.role();
    if !caller.has_role(least) {
        return Err(match (caller.role, access) {
            (AccessRole::Visitor, AccessLevel::Operator) => Error::NeedsToken,
            (AccessRole::Visitor, _) => Error::NeedsSession,
            (role, _) => Error::InsufficientRole { role, least },
        });
    }
    if caller.has_role(AccessRole::Operator) {
        return Ok(());
    }
    if access == AccessLevel::PublicCredentials {
        app.limits.guesses.check(&caller.address_key())?;
    }
    match (access, &caller.person) {
        (AccessLevel::PublicScoring, _) => app.limits.scores.take(caller.asker()),
        (_, Some(_)) => app.limits.people.take(caller.asker()),
        (_, None) => app.limits.reads.take(caller.asker()),
    }
}

fn address(connection: Option<&ConnectInfo<SocketAddr>>) -> IpAddr {
    // Without a connection there is only a test.
    connection.map_or(IpAddr::from([0; 4]), |it| it.0.ip().to_canonical())
}

fn text(headers: &HeaderMap, name: header::HeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok()
}
