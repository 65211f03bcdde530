//! The session cookie, which scripts cannot read.
//!
//! Browsers accept it only over TLS and only from this host (prefix `__Host-`). For requests to a
//! name of this machine on loopback without a public https URL there is no TLS; the cookie then has
//! another name. Cookies are shared between the ports of a host, so that name contains the port.

use axum::http::{HeaderMap, HeaderValue, header};

use super::{ListenScope, NetworkExposure, names_loopback, text};
use crate::store::secret_token::SecretToken;

/// Lifetime of the cookie in seconds: 400 days, the maximum in browsers. The server decides when
/// the session ends.
const MAX_AGE_S: u32 = 400 * 24 * 3_600;

/// Returns the session token from the cookie of a request.
pub(super) fn session_token_from_cookie(
    exposure: &NetworkExposure,
    headers: &HeaderMap,
) -> Option<SecretToken> {
    let name = name(exposure, headers);
    let cookies = headers.get_all(header::COOKIE).iter();
    let cookies = cookies.filter_map(|it| it.to_str().ok());
    let mut pairs = cookies.flat_map(|it| it.split(';').filter_map(|it| it.trim().split_once('=')));
    let found = pairs.find(|(it, _)| *it == name)?;
    Some(SecretToken::from_unchecked_text(found.1))
}

/// Returns the header value that stores a session in the browser.
pub(in crate::http) fn set_cookie(
    exposure: &NetworkExposure,
    headers: &HeaderMap,
    session: &SecretToken,
) -> HeaderValue {
    set(exposure, headers, session.reveal(), MAX_AGE_S)
}

/// Returns the header value that deletes the session from the browser.
pub(in crate::http) fn clear_cookie(
    exposure: &NetworkExposure,
    headers: &HeaderMap,
) -> HeaderValue {
    set(exposure, headers, "", 0)
}

fn set(
    exposure: &NetworkExposure,
    headers: &HeaderMap,
    value: &str,
    max_age_s: u32,
) -> HeaderValue {
    let name = name(exposure, headers);
    let secure = if is_plain(exposure, headers) {
        ""
    } else {
        "; Secure"
    };
    let cookie =
        format!("{name}={value}; Path=/; Max-Age={max_age_s}; HttpOnly; SameSite=Lax{secure}");
    cookie
        .parse()
        .expect("a name, a token and a number are printable")
}

/// Returns the name of the cookie. The port is that of the header `Host`, which may be the port of
/// a tunnel.
fn name(exposure: &NetworkExposure, headers: &HeaderMap) -> String {
    if !is_plain(exposure, headers) {
        return "__Host-axioscope".to_owned();
    }
    let port = host(headers).rsplit_once(':').map(|it| it.1);
    let port = port.and_then(|it| it.parse::<u16>().ok()).unwrap_or(80);
    format!("axioscope-{port}")
}

/// Returns whether the browser reaches the server on loopback, possibly through a tunnel, and
/// therefore without TLS.
fn is_plain(exposure: &NetworkExposure, headers: &HeaderMap) -> bool {
    exposure.scope == ListenScope::Loopback
        && exposure.https_url().is_none()
        && names_loopback(host(headers))
}

fn host(headers: &HeaderMap) -> &str {
    text(headers, header::HOST).unwrap_or_default()
}
