//! The files of the front end, embedded in the binary: what trunk wrote to `dist/`; none if it was
//! not built.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use sha2::{Digest, Sha256};

/// The embedded files, by their path in `dist/`.
#[derive(rust_embed::RustEmbed)]
#[folder = "../dist"]
#[allow_missing = true]
pub(crate) struct EmbeddedFrontEndFiles;

/// Returns the content security policy. It allows our own files, WebAssembly and the inline scripts
/// that trunk wrote into the page, and inline styles, which figures contain.
pub(crate) fn content_security_policy(index: &str) -> String {
    let hashes: String = inline_scripts(index)
        .map(|it| format!(" 'sha256-{}'", BASE64_STANDARD.encode(Sha256::digest(it))))
        .collect();
    format!(
        "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'{hashes}; \
         style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; connect-src 'self'; \
         worker-src 'self'; object-src 'none'; base-uri 'self'; form-action 'self'"
    )
}

/// Returns the contents of the `<script>` elements without `src`.
fn inline_scripts(html: &str) -> impl Iterator<Item = &str> {
    html.split("<script").skip(1).filter_map(|rest| {
        let (attributes, rest) = rest.split_once('>')?;
        let (script, _) = rest.split_once("</script>")?;
        (!attributes.contains(" src=")).then_some(script)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_in_the_page_are_allowed_by_their_hash() {
        let index = r#"<script type="module">a()</script><script src="/b.js"></script>"#;
        assert_eq!(inline_scripts(index).collect::<Vec<_>>(), ["a()"]);
        // Computed with: printf 'a()' | openssl dgst -sha256 -binary | base64
        let policy = content_security_policy(index);
        let expected = format!("'sha256-{}'", BASE64_STANDARD.encode(Sha256::digest("a()")));
        assert!(policy.contains(&expected));
        assert_eq!(policy.matches("sha256-").count(), 1);
    }
}
