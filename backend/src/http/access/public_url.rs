//! The public URL of the server.

use std::str::FromStr;

use axum::http::Uri;
use axum::http::uri::Scheme;

/// The URL under which clients reach the server, such as `https://axioscope.example`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PublicUrl {
    /// Whether it uses TLS, usually by a proxy in front of the server.
    pub(super) is_https: bool,
    /// The host, with the port unless it is the default port, as in the header `Host`.
    pub(super) host: String,
}

impl PublicUrl {
    /// Returns the URL without a trailing slash, as in the header `Origin`.
    pub(crate) fn origin(&self) -> String {
        let scheme = if self.is_https { "https" } else { "http" };
        format!("{scheme}://{}", self.host)
    }
}

impl FromStr for PublicUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<PublicUrl, String> {
        let wrong = || {
            "write https://HOST, with :PORT where it is not the usual one, and \
                        without a path"
                .to_owned()
        };
        let uri: Uri = text.parse().map_err(|_| wrong())?;
        let (Some(scheme), Some(authority)) = (uri.scheme(), uri.authority()) else {
            return Err(wrong());
        };
        let is_https = *scheme == Scheme::HTTPS;
        let is_known = is_https || *scheme == Scheme::HTTP;
        let name = authority.host().to_ascii_lowercase();
        let port = authority.port_u16();
        let with_port = |port: u16| format!("{name}:{port}");
        // There must be no user name, and the port must be a number.
        let is_plain =
            port.map_or_else(|| name.clone(), with_port) == authority.as_str().to_ascii_lowercase();
        if !is_known || !is_plain || name.is_empty() || uri.path() != "/" || uri.query().is_some() {
            return Err(wrong());
        }
        let usual = if is_https { 443 } else { 80 };
        let host = match port {
            Some(port) if port != usual => with_port(port),
            Some(_) | None => name,
        };
        Ok(PublicUrl { is_https, host })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_kept_as_browsers_send_it() {
        for (text, origin) in [
            ("https://axioscope.example", "https://axioscope.example"),
            ("https://AXIOSCOPE.example/", "https://axioscope.example"),
            ("https://axioscope.example:443", "https://axioscope.example"),
            (
                "https://axioscope.example:8443",
                "https://axioscope.example:8443",
            ),
            ("http://10.0.0.1:80", "http://10.0.0.1"),
            ("http://[::1]:8017", "http://[::1]:8017"),
        ] {
            assert_eq!(text.parse::<PublicUrl>().unwrap().origin(), origin);
        }
    }

    #[test]
    fn what_is_no_address_of_a_site_is_refused() {
        for text in [
            "",
            "axioscope.example",
            "ftp://axioscope.example",
            "https://",
            "https://axioscope.example/below",
            "https://axioscope.example?a=b",
            "https://user@axioscope.example",
            "https://axioscope.example:99999",
            "https://a b",
        ] {
            assert!(text.parse::<PublicUrl>().is_err(), "{text}");
        }
    }
}
