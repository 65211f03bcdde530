//! Slow or demanding clients must not affect others.

use axum::response::Response;
use axum::routing::get;
use futures_util::{StreamExt, stream};

use super::*;
use crate::http::content_coding::{self, ContentCoding};
use crate::http::limits::{MAX_DOWNLOADS_PER_CLIENT, SCORINGS_OF_ONE};
use crate::store::studies::{StudyListEntry, late_interaction};

/// Returns a request of a client at another address.
fn from_elsewhere(mut request: Request<Body>) -> Request<Body> {
    let peer = SocketAddr::from(([192, 0, 2, 1], 1_024));
    request.extensions_mut().insert(ConnectInfo(peer));
    request
}

#[tokio::test]
async fn slow_bodies_take_no_places() {
    let site = Site::new(ListenScope::Loopback).await;
    for path in [ScoreDocumentsRequest::PATH, "/rerank"] {
        for _ in 0..300 {
            let mut slow = with_token(request("POST", path, ""), &site.token);
            let nothing = stream::pending::<Result<Bytes, std::io::Error>>();
            *slow.body_mut() = Body::from_stream(nothing);
            tokio::spawn(site.router.clone().oneshot(slow));
        }
    }
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(
        site.ask(&ListStudiesRequest {}).await.status,
        StatusCode::OK
    );
}

#[tokio::test]
async fn only_operators_send_large_bodies() {
    let site = Site::new(ListenScope::Network).await;
    let large = || {
        request(
            "POST",
            ScoreDocumentsRequest::PATH,
            &" ".repeat((1 << 20) + 1),
        )
    };
    let (status, error) = site.send(large()).await.problem();
    assert_eq!(status, 413);
    assert!(error.contains("1 MiB"), "{error}");
    let (status, error) = site.send(with_token(large(), &site.token)).await.problem();
    assert_eq!(status, 400, "{error}");
}

#[tokio::test]
async fn bodies_are_limited_whatever_the_method() {
    let site = Site::new(ListenScope::Network).await;
    let person = site.somebody(AccessRole::Curator, "Ada").await;
    let spaces = " ".repeat((1 << 20) + 1);
    for (method, path) in [
        ("PUT", "/api/session/password"),
        ("PATCH", "/api/annotation/tasks/1"),
        ("DELETE", "/api/session"),
        ("POST", "/api/annotation/tasks/1/events"),
    ] {
        let large = site.by(request(method, path, &spaces), &person.session);
        let (status, error) = site.send(large).await.problem();
        assert_eq!(status, 413, "{method}: {error}");
    }
}

#[tokio::test]
async fn bodies_of_one_person_leave_memory_to_others() {
    const SEND: &str = "/api/annotation/tasks/1/events";
    let site = Site::new(ListenScope::Network).await;
    let ada = site.somebody(AccessRole::Annotator, "Ada").await;
    let ben = site.somebody(AccessRole::Annotator, "Ben").await;
    let (heard, mut hearing) = tokio::sync::mpsc::unbounded_channel();
    let mut sending = Vec::new();
    for _ in 0..16 {
        let heard = heard.clone();
        let largest = async { Ok::<_, std::io::Error>(Bytes::from(vec![b' '; 1 << 20])) };
        // The next part is requested when the first one has been counted.
        let rest = async move {
            heard.send(()).unwrap();
            std::future::pending::<Result<Bytes, std::io::Error>>().await
        };
        let mut unfinished = site.by(request("POST", SEND, ""), &ada.session);
        let body = stream::once(largest).chain(stream::once(rest));
        *unfinished.body_mut() = Body::from_stream(body);
        sending.push(tokio::spawn(site.router.clone().oneshot(unfinished)));
    }
    drop(heard);
    for _ in 0..16 {
        let heard = tokio::time::timeout(Duration::from_secs(60), hearing.recv()).await;
        assert_eq!(heard.unwrap(), Some(()));
    }
    let one_byte = |session| site.by(request("POST", SEND, " "), session);
    let refused = site.send(one_byte(&ada.session)).await;
    assert_eq!(refused.header("retry-after"), "10");
    let (status, error) = refused.problem();
    assert_eq!(status, 503);
    assert!(
        error.contains("bodies") && error.contains("try again"),
        "{error}"
    );
    for other in [
        one_byte(&ben.session),
        with_token(request("POST", SEND, " "), &site.token),
    ] {
        assert_eq!(site.status(other).await, 400, "read, and no JSON");
    }
    for it in sending {
        it.abort();
        assert!(it.await.unwrap_err().is_cancelled());
    }
    assert_eq!(site.status(one_byte(&ada.session)).await, 400);
}

#[tokio::test]
async fn downloads_of_one_address_are_few_at_once() {
    let site = Site::new(ListenScope::Network).await;
    let asked = ExportStudyRequest {
        study: "open".to_owned(),
    };
    let ask = async || -> Response {
        let asked = as_request(ExportStudyRequest::METHOD, ExportStudyRequest::PATH, &asked);
        let answer = site.router.clone().oneshot(from_elsewhere(asked)).await;
        answer.unwrap()
    };
    let mut held = Vec::new();
    for _ in 0..MAX_DOWNLOADS_PER_CLIENT {
        let answer = ask().await;
        assert_eq!(answer.status(), StatusCode::OK);
        held.push(answer);
    }
    let refused = ask().await;
    assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(refused.headers()[header::RETRY_AFTER], "10");
    // Clients that do not download are not affected.
    let studies = from_elsewhere(request("GET", ListStudiesRequest::PATH, ""));
    assert_eq!(site.send(studies).await.status, StatusCode::OK);
    held.pop();
    assert_eq!(ask().await.status(), StatusCode::OK);
}

#[tokio::test]
async fn scorings_of_one_address_are_few_at_once() {
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../neural/tests/fixtures");
    let models = models::ModelRegistry::with_models_or_default(
        &[format!("{fixtures}/cross-tiny")],
        neural::Device::Cpu,
    );
    let site = Site::with(ListenScope::Network, models.unwrap()).await;
    let asked = |peer: &str, path: &str| {
        let body = scoring_body(path, "cross-tiny:cross", "a", &["b".to_owned()]);
        let peer: IpAddr = peer.parse().unwrap();
        from(peer, request("POST", path, &body.to_string()))
    };
    // As if another ranking were being computed: all others wait.
    let turn = site.app.limits.scoring_turn().await;
    let mut waiting = tokio::task::JoinSet::new();
    for n in 0..=SCORINGS_OF_ONE {
        let peer = format!("2001:db8::{n}");
        waiting.spawn(site.router.clone().oneshot(asked(&peer, "/rerank")));
    }
    let refused = tokio::time::timeout(Duration::from_secs(60), waiting.join_next()).await;
    let refused = refused.unwrap().unwrap().unwrap().unwrap();
    assert_eq!(refused.status(), StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(refused.headers()[header::RETRY_AFTER], "5");
    for path in ["/rerank", "/api/score", "/api/attention"] {
        let (status, error) = site.send(asked("2001:db8::1", path)).await.problem();
        assert_eq!(status, 429, "{path}");
        assert!(error.contains("4 of one address"), "{path}: {error}");
    }
    // Other clients still have slots, and so does the operator, even from the same address.
    let operator = with_token(asked("2001:db8::1", "/rerank"), &site.token);
    for asked in [asked("2001:db8:0:1::1", "/rerank"), operator] {
        waiting.spawn(site.router.clone().oneshot(asked));
    }
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert!(waiting.try_join_next().is_none(), "all of them wait");
    drop(turn);
    while let Some(answer) = waiting.join_next().await {
        assert_eq!(answer.unwrap().unwrap().status(), StatusCode::OK);
    }
    let again = site.send(asked("2001:db8::1", "/rerank")).await;
    assert_eq!(again.status, StatusCode::OK);
}

#[tokio::test]
async fn a_study_is_written_once() {
    let site = Site::new(ListenScope::Loopback).await;
    let asked = ExportStudyRequest {
        study: "open".to_owned(),
    };
    let asked = as_request(ExportStudyRequest::METHOD, ExportStudyRequest::PATH, &asked);
    let answer = site
        .send(with_headers(asked, &[("accept-encoding", "br")]))
        .await;
    let listed = site.app.store.study_entry_by_name("open").await.unwrap();
    let what = "writing it again";
    let again = async { Err(Error::Panicked { what }) };
    let shelf = &site.app.studies;
    let kept = shelf.export(&listed, ContentCoding::Brotli, again).await;
    assert_eq!(kept.unwrap(), answer.body);
}

#[tokio::test]
async fn a_disconnected_client_no_longer_waits_for_a_study_to_be_written() {
    let site = Site::new(ListenScope::Loopback).await;
    let listed = site.app.store.study_entry_by_name("open").await.unwrap();
    let ask = || {
        let asked = ExportStudyRequest {
            study: "open".to_owned(),
        };
        let asked = as_request(ExportStudyRequest::METHOD, ExportStudyRequest::PATH, &asked);
        site.router.clone().oneshot(asked)
    };
    let kept = || site.app.studies.cached_export(&listed, ContentCoding::Gzip);
    let turn = site.app.limits.export().await;
    let waiting = tokio::spawn(ask());
    tokio::time::sleep(Duration::from_millis(200)).await;
    waiting.abort();
    assert!(waiting.await.unwrap_err().is_cancelled());
    drop(turn);
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert!(kept().is_none());
    assert_eq!(ask().await.unwrap().status(), StatusCode::OK);
    assert!(kept().is_some());
}

#[tokio::test]
async fn a_study_that_was_made_again_is_not_kept_as_it_was() {
    let site = Site::new(ListenScope::Loopback).await;
    let shelf = &site.app.studies;
    let before = site.app.store.study_entry_by_name("open").await.unwrap();
    let mut other = site.app.store.study_entry_by_name("hidden").await.unwrap();
    other.revision = before.revision;
    let mut now = site.app.store.study_entry_by_name("open").await.unwrap();
    now.revision += 1;
    let write = async |listed: &StudyListEntry, coding| {
        let make = async { Ok(Bytes::from("a study")) };
        shelf.export(listed, coding, make).await.unwrap();
    };
    write(&before, ContentCoding::Gzip).await;
    write(&before, ContentCoding::Brotli).await;
    write(&other, ContentCoding::Gzip).await;
    write(&now, ContentCoding::Gzip).await;
    let kept = |listed, coding| shelf.cached_export(listed, coding).is_some();
    assert!(!kept(&before, ContentCoding::Gzip));
    assert!(!kept(&before, ContentCoding::Brotli));
    assert!(kept(&other, ContentCoding::Gzip));
    assert!(kept(&now, ContentCoding::Gzip));
}

#[tokio::test]
async fn analyses_are_read_again_only_once_a_file_has_changed() {
    let site = Site::new(ListenScope::Loopback).await;
    let listed = site.app.store.study_entry_by_name("open").await.unwrap();
    let load = async || {
        let analyses = site.app.studies.late_interaction_analyses(&listed).await;
        analyses.unwrap()
    };
    let save = |label: &str, fingerprint: &str| {
        let analysis = serde_json::from_value(json!({
            "header": {
                "name": "open", "title": "open", "collection": "none", "pool": "all",
                "ranker": {
                    "spec": "tiny:late", "label": label, "detail": "", "kind": "neural",
                    "fingerprint": fingerprint,
                },
                "created": "2026-11-20", "queries": [], "n_pairs": 0, "n_docs": 0,
                "min_occurrences": 1,
            },
            "words": [], "tokens": [],
        }));
        late_interaction::save_late_interaction_analysis(&site.folder, "open", &analysis.unwrap())
            .unwrap();
    };
    let slugs = async || -> Vec<String> {
        let analyses = load().await;
        analyses.iter().map(|it| it.slug.clone()).collect()
    };
    assert!(load().await.is_empty());
    save("Tiny", "0a1b2c3d");
    assert!(Arc::ptr_eq(&load().await, &load().await));
    assert_eq!(slugs().await, ["tiny-late"]);
    save("Tiny late interaction", "0a1b2c3d");
    assert_eq!(slugs().await, ["tiny-late-interaction"]);
    save("Tiny", "1a1b2c3d");
    assert_eq!(slugs().await.len(), 2);
}

/// With one worker thread for all tasks, as if compression occupied all the others.
#[tokio::test]
async fn large_answers_are_compressed_beside_others() {
    let site = Site::new(ListenScope::Loopback).await;
    let large = || async {
        let numbers: Vec<u32> = (0..300_000_u32).map(|it| it.wrapping_mul(it)).collect();
        axum::Json(numbers)
    };
    let router = Router::new()
        .route("/", get(large))
        .layer(middleware::from_fn_with_state(
            site.app.clone(),
            content_coding::compress,
        ));
    let asked = with_headers(request("GET", "/", ""), &[("accept-encoding", "br")]);
    let compressing = tokio::spawn(async move {
        let answer = router.oneshot(asked).await.unwrap();
        assert_eq!(answer.headers()["content-encoding"], "br");
        to_bytes(answer.into_body(), usize::MAX).await.unwrap()
    });
    let mut n_others = 0;
    while !compressing.is_finished() {
        tokio::time::sleep(Duration::from_millis(1)).await;
        n_others += 1;
    }
    assert!(compressing.await.unwrap().len() > 1 << 16);
    assert!(n_others > 5, "{n_others}");
}
