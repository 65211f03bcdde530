//! The files of the front end, embedded in the binary: what trunk wrote to `dist/`; none if it was
//! not built.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::Read;

use axum::body::Bytes;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use sha2::{Digest, Sha256};

/// Extension of files that are compressed with Brotli.
pub(crate) const BROTLI_EXTENSION: &str = ".br";

/// The embedded files, by their path in `dist/`. The release build of the pages leaves the programs
/// in WebAssembly, which are most of the bytes, compressed only.
#[derive(rust_embed::RustEmbed)]
#[folder = "../dist"]
#[allow_missing = true]
struct EmbeddedFrontEndFiles;

/// Returns all files of the front end by their path, compressed and not.
pub(crate) fn front_end_files() -> BTreeMap<String, Bytes> {
    let embedded = EmbeddedFrontEndFiles::iter().filter_map(|path| {
        let body = match EmbeddedFrontEndFiles::get(&path)?.data {
            Cow::Borrowed(body) => Bytes::from_static(body),
            Cow::Owned(body) => Bytes::from(body),
        };
        Some((path.into_owned(), body))
    });
    with_decompressed_files(embedded.collect())
}

/// Adds the decompressed version of each file that is there only with Brotli.
fn with_decompressed_files(mut files: BTreeMap<String, Bytes>) -> BTreeMap<String, Bytes> {
    let decompressed = files.iter().filter_map(|(path, body)| {
        let path = path.strip_suffix(BROTLI_EXTENSION)?;
        if files.contains_key(path) {
            return None;
        }
        let mut plain = Vec::new();
        let read = brotli::Decompressor::new(&body[..], 1 << 16).read_to_end(&mut plain);
        read.expect("the build compressed it");
        Some((path.to_owned(), Bytes::from(plain)))
    });
    let decompressed: Vec<_> = decompressed.collect();
    files.extend(decompressed);
    files
}

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
    fn files_that_are_embedded_compressed_only_are_there_in_both_forms() {
        let mut packed = Vec::new();
        let text = b"\0asm and more, and more, and more";
        brotli::BrotliCompress(&mut &text[..], &mut packed, &Default::default()).unwrap();
        let files = [
            ("a.wasm.br", packed.clone()),
            ("b.js", b"own".to_vec()),
            ("b.js.br", packed),
        ];
        let files = files.map(|(path, body)| (path.to_owned(), Bytes::from(body)));
        let all = with_decompressed_files(BTreeMap::from(files));
        let paths: Vec<&str> = all.keys().map(String::as_str).collect();
        assert_eq!(paths, ["a.wasm", "a.wasm.br", "b.js", "b.js.br"]);
        assert_eq!(&all["a.wasm"][..], text);
        assert_eq!(&all["b.js"][..], b"own");
    }

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
