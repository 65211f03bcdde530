//! The file `/.well-known/security.txt`, which says whom to tell about a vulnerability (RFC 9116).

use std::fmt::Write;
use std::str::FromStr;

use axum::http::Uri;
use jiff::{SignedDuration, Timestamp};

use super::PublicUrl;
use crate::documentation::DocumentationFile;

/// The path of the file on the site.
const PATH: &str = ".well-known/security.txt";

/// How long after the start of the server the file expires: RFC 9116 recommends less than a year.
const VALIDITY: SignedDuration = SignedDuration::from_hours(364 * 24);

/// The address for reports of vulnerabilities: `mailto:NAME@HOST` or `https://HOST/PATH`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SecurityContact(String);

impl FromStr for SecurityContact {
    type Err = String;

    fn from_str(text: &str) -> Result<SecurityContact, String> {
        let is_uri = text.bytes().all(|it| it.is_ascii_graphic());
        let is_mail = text
            .strip_prefix("mailto:")
            .and_then(|it| it.split_once('@'))
            .is_some_and(|(name, host)| !name.is_empty() && !host.is_empty());
        let is_page = text.starts_with("https://") && text.parse::<Uri>().is_ok();
        if is_uri && (is_mail || is_page) {
            Ok(SecurityContact(text.to_owned()))
        } else {
            Err("write mailto:NAME@HOST or https://HOST/PATH".to_owned())
        }
    }
}

/// Returns the file of a server that started at a time, in milliseconds since 1970.
pub(super) fn security_txt(
    contact: &SecurityContact,
    public_url: Option<&PublicUrl>,
    started_ms: i64,
) -> DocumentationFile {
    let started = Timestamp::from_second(started_ms / 1_000).unwrap_or(Timestamp::UNIX_EPOCH);
    let expires = started.saturating_add(VALIDITY).unwrap_or(Timestamp::MAX);
    let mut contents = format!("Contact: {}\nExpires: {expires}\n", contact.0);
    contents.push_str("Preferred-Languages: en\n");
    if let Some(url) = public_url {
        let _ = writeln!(contents, "Canonical: {}/{PATH}", url.origin());
    }
    DocumentationFile {
        path: PATH.to_owned(),
        contents,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_contact_is_an_address_of_mail_or_a_page() {
        for text in [
            "mailto:security@axioscope.example",
            "https://axioscope.example/security",
        ] {
            assert_eq!(text.parse(), Ok(SecurityContact(text.to_owned())));
        }
        for text in [
            "",
            "security@axioscope.example",
            "http://axioscope.example",
            "mailto:",
            "mailto:@axioscope.example",
            "https://",
            "mailto:a@b.example\nExpires: 2099-01-01T00:00:00Z",
            "mailto:a b@c.example",
        ] {
            assert!(text.parse::<SecurityContact>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn the_file_expires_within_a_year() {
        let contact = "mailto:security@axioscope.example".parse().unwrap();
        let url = "https://axioscope.example".parse().unwrap();
        // 2026-11-28T00:00:00Z, as `date -d 2026-11-28 +%s` has it.
        let file = security_txt(&contact, Some(&url), 1_795_824_000_999);
        assert_eq!(
            file.contents,
            "Contact: mailto:security@axioscope.example\n\
             Expires: 2027-11-27T00:00:00Z\n\
             Preferred-Languages: en\n\
             Canonical: https://axioscope.example/.well-known/security.txt\n"
        );
        assert!(
            !security_txt(&contact, None, 0)
                .contents
                .contains("Canonical")
        );
    }
}
