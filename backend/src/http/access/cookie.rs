//! The cookie of a session, which no script can read.
//!
//! Only a browser that speaks TLS keeps it, and no other host can set it (`__Host-`). Under a name
//! of this machine, on loopback, there is no TLS unless the public address has it: a proxy may ask
//! for such a name too. Cookies do not know ports, so that the name of this one has to.

use axum::http::{HeaderMap, HeaderValue, header};

use super::{ListenScope, NetworkExposure, names_loopback, text};
use crate::store::secret_token::SecretToken;

/// What browsers keep a cookie for at most, 400 days. When a session ends the server knows.
const MAX_AGE_S: u32 = 400 * 24 * 3_600;

/// The session that a browser shows.
pub(super) fn read_session(exposure: &NetworkExposure, headers: &HeaderMap) -> Option<SecretToken> {
    let name = name(exposure, headers);
    let cookies = headers.get_all(header::COOKIE).iter();
    let cookies = cookies.filter_map(|it| it.to_str().ok());
    let mut pairs = cookies.flat_map(|it| it.split(';').filter_map(|it| it.trim().split_once('=')));
    let found = pairs.find(|(it, _)| *it == name)?;
    Some(SecretToken::from_text(found.1))
}

/// Has a browser keep a session.
pub(in crate::http) fn set_cookie(
    exposure: &NetworkExposure,
    headers: &HeaderMap,
    session: &SecretToken,
) -> HeaderValue {
    set(exposure, headers, session.reveal(), MAX_AGE_S)
}

/// Has a browser forget its session.
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

/// The port is the one that the browser knows, which may be of a tunnel to this machine.
fn name(exposure: &NetworkExposure, headers: &HeaderMap) -> String {
    if !is_plain(exposure, headers) {
        return "__Host-axioscope".to_owned();
    }
    let port = host(headers).rsplit_once(':').map(|it| it.1);
    let port = port.and_then(|it| it.parse::<u16>().ok()).unwrap_or(80);
    format!("axioscope-{port}")
}

/// Whether the browser is on this machine, or at the end of a tunnel to it, and so without TLS.
fn is_plain(exposure: &NetworkExposure, headers: &HeaderMap) -> bool {
    exposure.scope == ListenScope::Loopback
        && exposure.https_url().is_none()
        && names_loopback(host(headers))
}

fn host(headers: &HeaderMap) -> &str {
    text(headers, header::HOST).unwrap_or_default()
}
