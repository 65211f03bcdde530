//! Protection against requests that pages of other sites send from a visitor's browser.
//!
//! On loopback, a page of another site could be served under a name that resolves to this machine
//! (DNS rebinding). The host of a request must therefore be a loopback name or the public one.

use std::net::IpAddr;

use axum::extract::{Request, State};
use axum::http::{HeaderValue, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::{ListenScope, NetworkExposure, text};
use crate::error::Error;
use crate::http::AppState;

/// Header value that tells browsers to use https only, for one year.
const HSTS: &str = "max-age=31536000";

/// Rejects requests that a page of another site sends from a visitor's browser. If the public URL
/// uses https, adds the HSTS header to responses.
pub(in crate::http) async fn check_origin(
    State(app): State<AppState>,
    request: Request,
    next: Next,
) -> Response {
    let mut response = match of_this_site(&app.exposure, &request) {
        Ok(()) => next.run(request).await,
        Err(reason) => Error::UntrustedRequest { reason }.into_response(),
    };
    if app.exposure.https_url().is_some() {
        let headers = response.headers_mut();
        let value = HeaderValue::from_static(HSTS);
        headers.insert(header::STRICT_TRANSPORT_SECURITY, value);
    }
    response
}

fn of_this_site(exposure: &NetworkExposure, request: &Request) -> Result<(), String> {
    let headers = request.headers();
    let host = text(headers, header::HOST)
        .or_else(|| request.uri().authority().map(|it| it.as_str()))
        .unwrap_or_default();
    let public = exposure.public_url.as_ref();
    let is_public = public.is_some_and(|it| it.host.eq_ignore_ascii_case(host));
    if exposure.scope == ListenScope::Loopback && !names_loopback(host) && !is_public {
        let host = host.escape_debug();
        return Err(match public {
            Some(url) => format!(
                "this server answers as {} and as localhost, not as `{host}`; correct \
                 `--public-url`, or have the proxy pass on the header Host",
                url.origin()
            ),
            None => format!(
                "this server answers on this machine only, as localhost, not as `{host}`; to \
                 serve others start it with `--public-url https://HOST` behind a proxy, or with \
                 `--listen 0.0.0.0:PORT`"
            ),
        });
    }
    if [Method::GET, Method::HEAD].contains(request.method()) {
        return Ok(());
    }
    // Programs send neither header; browsers send both with requests that change something.
    let same = match headers.get(header::ORIGIN) {
        None => true,
        Some(origin) => origin.to_str().is_ok_and(|it| is_same(it, host, exposure)),
    };
    let site = headers.get("sec-fetch-site").map(|it| it.as_bytes());
    let foreign = matches!(site, Some(b"cross-site" | b"same-site"));
    if !same || foreign {
        return Err(
            "a page of another site may not change anything here; behind a proxy, start with \
             `--public-url https://HOST` and have the proxy pass on the header Host"
                .to_owned(),
        );
    }
    Ok(())
}

/// Returns whether an origin is that of our pages: the public URL, or the host of the request. A
/// server on the network without a public URL may be behind a proxy with TLS, so both schemes are
/// accepted there.
fn is_same(origin: &str, host: &str, exposure: &NetworkExposure) -> bool {
    let is_host = |it: &str| !it.is_empty() && it.eq_ignore_ascii_case(host);
    let is_plain = origin.strip_prefix("http://").is_some_and(is_host);
    match (&exposure.public_url, exposure.scope) {
        (Some(url), _) => {
            origin.eq_ignore_ascii_case(&url.origin()) || is_plain && names_loopback(host)
        }
        (None, ListenScope::Loopback) => is_plain,
        (None, ListenScope::Network) => {
            is_plain || origin.strip_prefix("https://").is_some_and(is_host)
        }
    }
}

/// Returns whether a host is `localhost`, `127.0.0.1` or `[::1]`, with any port.
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
