//! Serves the embedded front end and the documentation, and sets security headers.
//!
//! A path without a file extension is a page of the documentation if there is one, and otherwise a
//! page of the app, which reads the path itself.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use sha2::{Digest, Sha256};
use shared::collection::encode_hex;

use crate::error::{Error, run_blocking};
use crate::front_end_files::{BROTLI_EXTENSION, content_security_policy, front_end_files};
use crate::http::AppState;
use crate::http::access::{self, OperatorEndpoints};
use crate::http::content_coding::{BEST_LEVEL, ContentCoding, is_compressible_type};
use crate::http::first_paint;

/// All files of the site, with their content security policy.
pub(super) struct StaticFiles {
    by_path: BTreeMap<String, Arc<File>>,
    policy: HeaderValue,
}

struct File {
    body: Bytes,
    /// The compressed file, in the order of [`ContentCoding::ALL`]; embedded, or computed on first
    /// use.
    compressed: [OnceLock<Bytes>; 2],
    content_type: &'static str,
    /// Entity tag from the hash of the file; `None` for a file whose name contains a hash.
    tag: Option<HeaderValue>,
}

/// The type of the page that contains the app.
const HTML: &str = "text/html; charset=utf-8";

/// The page that contains the app.
const INDEX: &str = "index.html";

impl StaticFiles {
    /// Returns the files of the front end that are embedded in this binary, and others.
    pub(super) fn embedded_with(others: impl Iterator<Item = (String, Bytes)>) -> StaticFiles {
        StaticFiles::new(front_end_files().into_iter().chain(others))
    }

    pub(super) fn new(files: impl Iterator<Item = (String, Bytes)>) -> StaticFiles {
        let (packed, plain): (Vec<_>, Vec<_>) =
            files.partition(|it| it.0.ends_with(BROTLI_EXTENSION));
        let mut brotli: BTreeMap<String, Bytes> = packed
            .into_iter()
            .map(|(path, body)| (path.trim_end_matches(BROTLI_EXTENSION).to_owned(), body))
            .collect();
        let by_path: BTreeMap<String, Arc<File>> = plain
            .into_iter()
            .map(|(path, body)| {
                let file = File::new(&path, body, brotli.remove(&path));
                (path, Arc::new(file))
            })
            .collect();
        let index = by_path.get(INDEX).map(|it| &*it.body).unwrap_or_default();
        let policy = content_security_policy(&String::from_utf8_lossy(index));
        let policy = HeaderValue::from_str(&format!("{policy}; frame-ancestors 'none'"));
        let policy = policy.expect("a policy is printable ASCII");
        StaticFiles { by_path, policy }
    }

    fn find(&self, path: &str) -> Option<&Arc<File>> {
        let path = path.trim_start_matches('/');
        if path == "docs" || path.starts_with("docs/") {
            let page = format!("{}/{INDEX}", path.trim_end_matches('/'));
            if let Some(file) = self.by_path.get(&page) {
                return Some(file);
            }
        }
        let is_page = !path.rsplit('/').next().unwrap_or_default().contains('.');
        self.by_path.get(if is_page { INDEX } else { path })
    }
}

impl File {
    fn new(path: &str, body: Bytes, brotli: Option<Bytes>) -> File {
        let hash = encode_hex(&Sha256::digest(&body));
        let tag = HeaderValue::from_str(&format!("\"{}\"", &hash[..32]));
        let tag = tag.expect("digits fit into a header");
        let tag = (!name_has_hash(path)).then_some(tag);
        File {
            content_type: content_type(path),
            compressed: [
                brotli.map_or_else(OnceLock::new, OnceLock::from),
                OnceLock::new(),
            ],
            tag,
            body,
        }
    }

    fn known(&self, coding: ContentCoding) -> &OnceLock<Bytes> {
        &self.compressed[coding as usize]
    }

    fn compressed(&self, coding: ContentCoding) -> Bytes {
        let compress = || coding.compress(BEST_LEVEL, &self.body);
        self.known(coding).get_or_init(compress).clone()
    }
}

/// Serves a file, or the index page for a path without a file extension.
pub(super) async fn serve_page(State(app): State<AppState>, request: Request) -> Response {
    let (method, path) = (request.method().clone(), request.uri().path());
    let nothing = || Error::PathNotFound {
        method: method.to_string(),
        path: path.to_owned(),
    };
    let is_api = |prefix: &str| {
        let below = path.strip_prefix(prefix);
        below.is_some_and(|it| it.is_empty() || it.starts_with('/'))
    };
    let is_hidden = app.exposure.operator_endpoints == OperatorEndpoints::OnOtherListener
        && path.trim_matches('/') == "operator";
    if is_hidden || ["/api", "/v1", "/v2"].into_iter().any(is_api) {
        return nothing().into_response();
    }
    if ![Method::GET, Method::HEAD].contains(&method) {
        let (method, path) = (method.to_string(), path.to_owned());
        return Error::MethodNotAllowed { method, path }.into_response();
    }
    let Some(file) = app.pages.find(path) else {
        if app.pages.by_path.contains_key(INDEX) {
            return nothing().into_response();
        }
        let text = "This build has no front end. `cargo xtask dist` makes one that has; /docs is \
                    the documentation, and /api/docs lists what programs can ask for.\n";
        return (StatusCode::NOT_FOUND, text).into_response();
    };
    let with_texts = match file.content_type {
        HTML => {
            let index = String::from_utf8_lossy(&file.body);
            let client = access::client_key(&app, &request);
            let query_string = request.uri().query();
            first_paint::index_with_texts(&app, client, &index, path, query_string).await
        }
        _ => None,
    };
    let with_texts = with_texts.map(|it| Arc::new(File::new(INDEX, Bytes::from(it), None)));
    let file = with_texts.as_ref().unwrap_or(file);
    let mut response = match answer(file, request.headers()).await {
        Ok(response) => response,
        Err(error) => return error.into_response(),
    };
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, app.pages.policy.clone());
    response
}

async fn answer(file: &Arc<File>, asked: &HeaderMap) -> Result<Response, Error> {
    let cache = match &file.tag {
        None => "public, max-age=31536000, immutable",
        Some(_) => "no-cache",
    };
    let mut headers = HeaderMap::new();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(cache));
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static(file.content_type),
    );
    headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    if let Some(tag) = &file.tag {
        headers.insert(header::ETAG, tag.clone());
    }
    let known = asked
        .get_all(header::IF_NONE_MATCH)
        .iter()
        .any(|it| names(it, file.tag.as_ref()));
    if known {
        return Ok((StatusCode::NOT_MODIFIED, headers).into_response());
    }
    let coding = ContentCoding::accepted(asked).filter(|_| is_compressible_type(file.content_type));
    let Some(coding) = coding else {
        return Ok((headers, Body::from(file.body.clone())).into_response());
    };
    headers.insert(header::CONTENT_ENCODING, coding.header());
    let body = match file.known(coding).get() {
        Some(body) => body.clone(),
        None => {
            let file = file.clone();
            run_blocking("compressing a page", move || Ok(file.compressed(coding))).await?
        }
    };
    Ok((headers, Body::from(body)).into_response())
}

/// Returns whether a list of entity tags contains a tag or is `*` (RFC 9110, section 13.1.2).
fn names(list: &HeaderValue, tag: Option<&HeaderValue>) -> bool {
    let Ok(list) = list.to_str() else {
        return false;
    };
    list.trim() == "*"
        || tag.is_some_and(|tag| {
            list.split(',')
                .any(|it| it.trim().trim_start_matches("W/") == tag)
        })
}

/// Adds security headers to every response.
pub(super) async fn add_security_headers(request: Request, next: Next) -> Response {
    let of_api = request.uri().path().starts_with("/api/");
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    let mut unless_set = |name: HeaderName, value: &'static str| {
        headers
            .entry(name)
            .or_insert(HeaderValue::from_static(value));
    };
    unless_set(header::X_CONTENT_TYPE_OPTIONS, "nosniff");
    unless_set(header::REFERRER_POLICY, "same-origin");
    unless_set(
        HeaderName::from_static("cross-origin-opener-policy"),
        "same-origin",
    );
    unless_set(
        HeaderName::from_static("cross-origin-resource-policy"),
        "same-origin",
    );
    unless_set(
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'",
    );
    if of_api {
        unless_set(header::CACHE_CONTROL, "no-store");
    }
    response
}

/// Returns whether trunk has put a hash into the file name, as in
/// `frontend-0123456789abcdef_bg.wasm`.
fn name_has_hash(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name
        .split('.')
        .next()
        .unwrap_or(name)
        .trim_end_matches("_bg");
    stem.rsplit_once('-').is_some_and(|(_, hash)| {
        hash.len() >= 8
            && hash
                .bytes()
                .all(|it| it.is_ascii_digit() || (b'a'..=b'f').contains(&it))
    })
}

fn content_type(path: &str) -> &'static str {
    match path.rsplit('.').next().unwrap_or_default() {
        "html" => HTML,
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "wasm" => "application/wasm",
        "json" => "application/json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "webmanifest" => "application/manifest+json",
        "txt" | "md" | "toml" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_with_a_hash_are_kept_for_good() {
        for path in [
            "frontend-0123456789abcdef_bg.wasm",
            "style/main-4b1d00c5.css",
        ] {
            assert!(name_has_hash(path), "{path}");
        }
        for path in [
            "index.html",
            "worker.js",
            "worker_bg.wasm",
            "worker-loader.js",
            "a-b.js",
        ] {
            assert!(!name_has_hash(path), "{path}");
        }
    }

    #[test]
    fn what_was_packed_when_it_was_built_is_sent_so() {
        let files = [("a.js", "plain"), ("a.js.br", "packed"), ("b.js", "plain")];
        let files = files.map(|(path, body)| (path.to_owned(), Bytes::from(body)));
        let pages = StaticFiles::new(files.into_iter());
        assert_eq!(
            pages.by_path["a.js"].compressed(ContentCoding::Brotli),
            "packed"
        );
        assert!(pages.find("/a.js.br").is_none());
        let mut read = Vec::new();
        let packed = pages.by_path["b.js"].compressed(ContentCoding::Brotli);
        brotli::BrotliDecompress(&mut &packed[..], &mut read).unwrap();
        assert_eq!(read, b"plain");
    }

    #[test]
    fn a_page_is_any_path_without_a_file_in_it() {
        let file = |path: &str| (path.to_owned(), Bytes::from_static(b"bytes"));
        let files = [
            "index.html",
            "worker.js",
            "docs/index.html",
            "docs/a/index.html",
        ];
        let pages = StaticFiles::new(files.map(file).into_iter());
        for (path, found) in [
            ("/", true),
            ("/studies/demo", true),
            ("/studies/demo/probes/tfc1/instances/0", true),
            ("/worker.js", true),
            ("/missing.js", false),
            ("/../worker.js", false),
        ] {
            assert_eq!(pages.find(path).is_some(), found, "{path}");
        }
        for (path, file) in [
            ("/docs", "docs/index.html"),
            ("/docs/", "docs/index.html"),
            ("/docs/a", "docs/a/index.html"),
            ("/docs/a/", "docs/a/index.html"),
            ("/docs/missing", "index.html"),
            ("/docsets", "index.html"),
        ] {
            let found = pages.find(path).unwrap();
            assert!(Arc::ptr_eq(found, &pages.by_path[file]), "{path}");
        }
    }
}
