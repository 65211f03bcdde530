//! Who may ask for what.
//!
//! On loopback everybody who reaches the server is its operator; what has to be kept out are
//! pages of other sites in the operator's browser (DNS rebinding, forged requests). Anywhere
//! else whoever has the token is the operator and everybody else a visitor.

use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};

use axum::extract::{ConnectInfo, FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::error::Error;
use crate::http::App;

/// Where the server listens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Door {
    /// This machine only.
    Loopback,
    /// Anywhere else.
    Open,
}

/// Who asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Caller {
    /// May do everything.
    Operator,
    /// Reads what is published and scores a little.
    Visitor(IpAddr),
}

/// Who may ask for something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    /// Everybody, at the pace of somebody who reads.
    Everybody,
    /// Everybody, at a slower pace, since a model has to work.
    Scorers,
    /// The operator.
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

/// Put into a request by [`check_way`].
impl FromRequestParts<App> for Caller {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Caller, Infallible> {
        Ok(caller(app, &parts.headers, address(parts.extensions.get())))
    }
}

/// Lets through whom `access` lets through, not faster than it should be.
pub(super) async fn check(
    State((app, access)): State<(App, Access)>,
    request: Request,
    next: Next,
) -> Response {
    let caller = caller(&app, request.headers(), address(request.extensions().get()));
    let checked = match (caller, access) {
        (Caller::Operator, _) => Ok(()),
        (Caller::Visitor(_), Access::Operator) => Err(Error::NeedsToken),
        (Caller::Visitor(ip), Access::Everybody) => app.limits.reads.take(ip),
        (Caller::Visitor(ip), Access::Scorers) => app.limits.scores.take(ip),
    };
    match checked {
        Ok(()) => next.run(request).await,
        Err(error) => error.into_response(),
    }
}

/// On loopback, refuses requests that a page of another site has its visitor's browser send.
pub(super) async fn check_way(State(app): State<App>, request: Request, next: Next) -> Response {
    let checked = match app.door {
        Door::Loopback => from_this_machine(&request),
        Door::Open => Ok(()),
    };
    match checked {
        Ok(()) => next.run(request).await,
        Err(reason) => Error::Refused { reason }.into_response(),
    }
}

fn from_this_machine(request: &Request) -> Result<(), String> {
    let headers = request.headers();
    let host = text(headers, header::HOST)
        .or_else(|| request.uri().authority().map(|it| it.as_str()))
        .unwrap_or_default();
    if !names_loopback(host) {
        return Err(format!(
            "this server answers on this machine only, as localhost, not as `{}`; to serve \
             others start it with `--listen 0.0.0.0:PORT`",
            host.escape_debug()
        ));
    }
    let origin = text(headers, header::ORIGIN);
    let same = origin.is_none_or(|it| it.strip_prefix("http://") == Some(host));
    let site = headers.get("sec-fetch-site").map(|it| it.as_bytes());
    let foreign = matches!(site, Some(b"cross-site" | b"same-site"));
    let reads = [Method::GET, Method::HEAD].contains(request.method());
    if !reads && (!same || foreign) {
        return Err("a page of another site may not change anything here".to_owned());
    }
    Ok(())
}

/// `localhost`, `127.0.0.1`, `[::1]` with any port.
fn names_loopback(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if !port.is_empty() && port.bytes().all(|it| it.is_ascii_digit()) => {
            name
        }
        _ => host,
    };
    let name = name
        .strip_prefix('[')
        .and_then(|it| it.strip_suffix(']'))
        .unwrap_or(name);
    name.eq_ignore_ascii_case("localhost")
        || name
            .parse::<IpAddr>()
            .is_ok_and(|it| it.to_canonical().is_loopback())
}

fn caller(app: &App, headers: &HeaderMap, ip: IpAddr) -> Caller {
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
    if by_door || by_token {
        Caller::Operator
    } else {
        Caller::Visitor(ip)
    }
}

fn address(connection: Option<&ConnectInfo<SocketAddr>>) -> IpAddr {
    // Without a connection there is only a test.
    connection.map_or(IpAddr::from([0; 4]), |it| it.0.ip().to_canonical())
}

fn text(headers: &HeaderMap, name: header::HeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_this_machine_name_it() {
        for host in [
            "localhost",
            "LOCALHOST:80",
            "127.0.0.1:8080",
            "127.1.2.3",
            "[::1]:1",
            "[::1]",
        ] {
            assert!(names_loopback(host), "{host}");
        }
        for host in [
            "",
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "10.0.0.1:1",
        ] {
            assert!(!names_loopback(host), "{host}");
        }
    }
}
