//! By which way a request comes: pages of other sites may change nothing.
//!
//! On loopback a page of another site could also be served under a name of this machine (DNS
//! rebinding), so the name that was asked for counts there too.

use std::net::IpAddr;

use axum::extract::{Request, State};
use axum::http::{Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::{Door, text};
use crate::error::Error;
use crate::http::App;

/// Refuses requests that a page of another site has its visitor's browser send.
pub(in crate::http) async fn check_way(
    State(app): State<App>,
    request: Request,
    next: Next,
) -> Response {
    match of_this_site(app.door, &request) {
        Ok(()) => next.run(request).await,
        Err(reason) => Error::Refused { reason }.into_response(),
    }
}

fn of_this_site(door: Door, request: &Request) -> Result<(), String> {
    let headers = request.headers();
    let host = text(headers, header::HOST)
        .or_else(|| request.uri().authority().map(|it| it.as_str()))
        .unwrap_or_default();
    if door == Door::Loopback && !names_loopback(host) {
        return Err(format!(
            "this server answers on this machine only, as localhost, not as `{}`; to serve \
             others start it with `--listen 0.0.0.0:PORT`",
            host.escape_debug()
        ));
    }
    if [Method::GET, Method::HEAD].contains(request.method()) {
        return Ok(());
    }
    // A program sends neither; a browser sends both with everything that changes something.
    let same = match (headers.get(header::ORIGIN), door) {
        (None, _) => true,
        (Some(origin), door) => origin.to_str().is_ok_and(|it| is_same(it, host, door)),
    };
    let site = headers.get("sec-fetch-site").map(|it| it.as_bytes());
    let foreign = matches!(site, Some(b"cross-site" | b"same-site"));
    if !same || foreign {
        return Err(
            "a page of another site may not change anything here; behind a proxy, have \
                    it pass on the header Host"
                .to_owned(),
        );
    }
    Ok(())
}

/// Whether an origin is the host that was asked. In front of an open door may be a proxy that
/// speaks TLS, so either scheme will do there.
fn is_same(origin: &str, host: &str, door: Door) -> bool {
    let secure = match door {
        Door::Loopback => None,
        Door::Open => origin.strip_prefix("https://"),
    };
    let named = origin.strip_prefix("http://").or(secure);
    named.is_some_and(|it| !it.is_empty() && it.eq_ignore_ascii_case(host))
}

/// `localhost`, `127.0.0.1`, `[::1]` with any port.
pub(in crate::http) fn names_loopback(host: &str) -> bool {
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
