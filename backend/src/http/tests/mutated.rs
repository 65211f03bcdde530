//! Mutated requests, see [`crate::mutated_input`].

use std::sync::{LazyLock, Mutex, PoisonError};

use tokio::runtime::Runtime;

use super::*;

/// Method and path, then the JSON body.
pub(crate) const REQUESTS: &[&str] = &[
    "GET /api/studies/open?variant=fixed&tie_threshold=0.5",
    "GET /api/studies/open/export",
    "PATCH /api/studies/open\n{\"title\": \"Rivers\", \"description\": \"Of two.\"}",
    "POST /rerank\n{\"query\": \"river\", \"texts\": [\"bank\", \"mud\"], \"raw_scores\": true}",
    "POST /v1/rerank\n{\"model\": \"tiny:bi\", \"query\": \"river\", \"documents\": [\"bank\"]}",
    "POST /api/score\n{\"model\": \"tiny:bi\", \"query\": \"river\", \"documents\": [\"bank\"]}",
];

static SITE: LazyLock<Mutex<(Runtime, Site)>> = LazyLock::new(|| {
    let runtime = Runtime::new().unwrap();
    let site = runtime.block_on(Site::new(ListenScope::Loopback));
    Mutex::new((runtime, site))
});

/// Returns whether a request is answered without an error. No request may cause a server error.
pub(crate) fn takes(input: &[u8]) -> bool {
    let input = String::from_utf8_lossy(input);
    let (head, json) = input.split_once('\n').unwrap_or((&input[..], ""));
    let (method, path) = head.split_once(' ').unwrap_or((head, ""));
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header(header::HOST, "localhost:8080")
        .body(Body::from(json.to_owned()));
    let Ok(request) = request else {
        return false;
    };
    let site = SITE.lock().unwrap_or_else(PoisonError::into_inner);
    let (runtime, site) = &*site;
    let answer = runtime.block_on(site.send(request));
    assert_ne!(
        answer.status,
        StatusCode::INTERNAL_SERVER_ERROR,
        "{input:?}"
    );
    answer.status == StatusCode::OK
}
