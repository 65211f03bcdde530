//! Authentication and authorization of requests.
//!
//! A client with the operator token is the operator. A client with a session is a person with a
//! role, or an operator who signed in with the operator link. All others are visitors, even on
//! loopback, since a proxy on this machine forwards requests from anywhere. Forged requests from
//! pages of other sites are rejected by [`origin_check`] and by a CSRF token.

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

use crate::clock::unix_time_ms;
use crate::error::Error;
use crate::http::AppState;
use crate::http::limits::client_key::ClientKey;
use crate::store::secret_token::{self, SecretToken};

pub(super) use cookie::{clear_cookie, set_cookie};
pub(super) use operator_link::OperatorSignInLink;
pub(super) use origin_check::{check_origin, names_loopback};
pub(crate) use proxy::parse_network;
pub(crate) use public_url::PublicUrl;

/// How clients reach the server, and which of them are trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NetworkExposure {
    /// Whether the server listens on loopback only.
    pub(crate) scope: ListenScope,
    /// Proxies whose forwarding headers are trusted.
    pub(crate) trusted_proxies: Vec<IpNet>,
    /// The public URL, if it differs from the address on which the server listens.
    pub(crate) public_url: Option<PublicUrl>,
    /// Whether every client on loopback without forwarding headers is the operator; for tests.
    pub(crate) no_auth_on_loopback: bool,
    /// Whether operators are served here.
    pub(crate) operator_endpoints: OperatorEndpoints,
}

/// Whether a listener answers metrics, the page of operators and their endpoints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OperatorEndpoints {
    /// They are answered here.
    Here,
    /// They do not exist here, since another listener answers them.
    OnOtherListener,
}

/// Whether the server listens on loopback only or on the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ListenScope {
    /// The server listens on loopback, for this machine only.
    Loopback,
    /// The server listens on another address.
    Network,
}

/// The sender of a request, as determined by [`authenticate`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Caller {
    /// The role of the caller, which determines what the caller may do.
    pub(super) role: AccessRole,
    /// `None` for visitors, and for an operator with the token or the operator link.
    pub(super) person: Option<Person>,
    /// The IP address of the client.
    pub(super) ip: IpAddr,
    /// The token of the session, if the caller has one.
    pub(super) session: Option<SecretToken>,
    /// The role of the caller without the session.
    unnamed: AccessRole,
}

/// Who may call an endpoint, and which rate limit applies. Each level also admits all higher roles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AccessLevel {
    /// Everybody, with the rate limit for reading.
    Public,
    /// Everybody, with the lower rate limit for running a model.
    PublicScoring,
    /// Everybody, with a limit on wrong tokens and passwords.
    PublicCredentials,
    /// Annotators, curators and operators.
    Annotator,
    /// Curators and operators.
    Curator,
    /// Operators, without a rate limit.
    Operator,
}

impl NetworkExposure {
    /// Returns the exposure of the listener for operators. It is reached directly, without the
    /// public URL.
    pub(super) fn for_operator_listener(&self, address: SocketAddr) -> NetworkExposure {
        NetworkExposure {
            scope: ListenScope::from_address(address),
            public_url: None,
            operator_endpoints: OperatorEndpoints::Here,
            ..self.clone()
        }
    }

    /// Returns whether a peer is a trusted proxy.
    pub(super) fn is_proxy(&self, peer: IpAddr) -> bool {
        proxy::is_trusted(peer, &self.trusted_proxies)
    }

    /// Returns the key by which the connections of a peer are counted; `None` for a trusted proxy,
    /// which forwards requests of many clients.
    pub(super) fn client_key(&self, peer: IpAddr) -> Option<ClientKey> {
        let peer = peer.to_canonical();
        (!self.is_proxy(peer)).then_some(ClientKey::Address(peer))
    }

    /// Returns the address of the client of a request, which `peer` may have forwarded.
    fn client_address(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        static TOLD: Once = Once::new();

        let is_untrusted_proxy = proxy::has_address(headers) && !self.is_proxy(peer);
        // Only nearby peers: distant clients could send these headers too and use up the warning.
        if is_untrusted_proxy && proxy::is_local_or_private_address(peer) {
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

    /// Returns the role of a client without a token and without a session.
    fn unnamed_role(&self, headers: &HeaderMap) -> AccessRole {
        match self.scope {
            ListenScope::Loopback if self.no_auth_on_loopback && !proxy::is_forwarded(headers) => {
                AccessRole::Operator
            }
            ListenScope::Loopback | ListenScope::Network => AccessRole::Visitor,
        }
    }

    /// Returns the public URL if it uses https.
    pub(super) fn https_url(&self) -> Option<&PublicUrl> {
        self.public_url.as_ref().filter(|it| it.is_https)
    }

    /// Returns the origin to open in a browser, as far as the server knows it.
    pub(super) fn origin(&self, address: SocketAddr) -> String {
        if let Some(url) = &self.public_url {
            return url.origin();
        }
        // A server that listens on all addresses is reachable on loopback.
        let ip = match address.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
            ip => ip,
        };
        format!("http://{}", SocketAddr::new(ip, address.port()))
    }
}

impl ListenScope {
    /// Returns the scope of a server that listens on an address.
    pub(crate) fn from_address(address: SocketAddr) -> ListenScope {
        if address.ip().to_canonical().is_loopback() {
            ListenScope::Loopback
        } else {
            ListenScope::Network
        }
    }
}

impl AccessLevel {
    /// Returns the lowest role that is admitted.
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
    /// Returns whether the caller has a role or a higher one.
    pub(super) fn has_role(&self, role: AccessRole) -> bool {
        self.role >= role
    }

    /// Returns the id of the person; `None` for callers without a name.
    pub(super) fn person_no(&self) -> Option<PersonId> {
        self.person.as_ref().map(|it| it.id)
    }

    /// Returns the person; an error for callers without a name.
    pub(super) fn require_person(&self) -> Result<&Person, Error> {
        self.person.as_ref().ok_or(Error::NeedsNamedPerson)
    }

    /// Returns the rate-limit key of the caller's address.
    pub(super) fn address_key(&self) -> ClientKey {
        ClientKey::Address(self.ip).rate_limit_key()
    }

    /// Returns the rate-limit key of the caller: the person, or else the address.
    pub(super) fn asker(&self) -> ClientKey {
        match &self.person {
            Some(person) => ClientKey::Person(person.id),
            None => self.address_key(),
        }
    }

    /// Returns the key by which scoring requests in progress are counted; `None` for operators, who
    /// have no limit of their own.
    pub(super) fn scoring_asker(&self) -> Option<ClientKey> {
        (!self.has_role(AccessRole::Operator)).then(|| self.asker())
    }

    /// Returns the reply of the session endpoint: role, person and CSRF token.
    pub(super) fn identity(&self) -> SessionResponse {
        SessionResponse {
            role: self.role,
            person: self.person.clone(),
            csrf_token: self.session.as_ref().map(SecretToken::csrf_token),
        }
    }

    /// Returns the caller with another session or without one.
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

    /// Returns the caller that [`authenticate`] has attached to a request.
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
        let by_session = match cookie::session_token_from_cookie(&app.exposure, headers) {
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
        let found = app
            .store
            .validate_and_extend_session(&session, unix_time_ms())
            .await?;
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

/// Returns whether a request has the operator token in its header `Authorization`.
fn by_token(app: &AppState, headers: &HeaderMap) -> bool {
    let token = text(headers, header::AUTHORIZATION)
        .and_then(|it| it.split_once(' '))
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
        .map(|(_, token)| token.trim());
    token
        .zip(app.operator.as_ref())
        .is_some_and(|(token, hash)| hash.matches_token(token))
}

/// Determines the caller of a request, and rejects it if it is forged, lacks the role of `access`,
/// or exceeds a rate limit.
pub(super) async fn authenticate(
    State((app, access)): State<(AppState, AccessLevel)>,
    mut request: Request,
    next: Next,
) -> Response {
    let ip = client_ip(&app, &request);
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

/// Rejects forged requests. Browsers send the session cookie with requests from any page, so a
/// changing request also needs the CSRF token of the session ([`SecretToken::csrf_token`]), which
/// only our own pages know.
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
        Some(shown) if secret_token::equal_in_constant_time(shown, &session.csrf_token()) => Ok(()),
        Some(_) => Err(Error::UntrustedRequest {
            reason: format!(
                "the header `{CSRF_HEADER}` is not that of this session; load the page again"
            ),
        }),
        None => Err(Error::UntrustedRequest {
            reason: format!(
                "the header `{CSRF_HEADER}` is missing; with a session cookie, send the \
                 `csrf_token` of GET /api/session in it"
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

/// Returns the key by which limits count the sender of a request that is not authenticated.
pub(super) fn client_key(app: &AppState, request: &Request) -> ClientKey {
    ClientKey::Address(client_ip(app, request)).rate_limit_key()
}

fn client_ip(app: &AppState, request: &Request) -> IpAddr {
    let connection: Option<&ConnectInfo<SocketAddr>> = request.extensions().get();
    // Only tests send requests without a connection.
    let peer = connection.map_or(IpAddr::from([0; 4]), |it| it.0.ip().to_canonical());
    app.exposure.client_address(peer, request.headers())
}

fn text(headers: &HeaderMap, name: header::HeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok()
}
