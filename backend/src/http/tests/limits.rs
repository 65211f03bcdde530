//! Slow or demanding clients must not affect others.

use std::sync::mpsc;

use axum::response::{IntoResponse, Response};
use axum::routing::get;
use futures_util::{StreamExt, stream};

use shared::api::own_data::GetOwnDataRequest;
use shared::first_paint::FIRST_PAINT_ID;

use super::review::{Table, ann, call};
use super::*;
use crate::cache::MAX_COMPUTATIONS;
use crate::http::content_coding::{self, ContentCoding};
use crate::http::limits::{ClientKey, MAX_DOWNLOADS_PER_CLIENT, SCORINGS_OF_ONE};
use crate::http::people;
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

/// Starts computations on a study in all slots, for clients that disconnect. They end when
/// the returned senders are dropped.
async fn fill_computation_slots(site: &Site, study: &str) -> Vec<mpsc::Sender<()>> {
    let listed = site.app.store.study_entry_by_name(study).await.unwrap();
    let (started, mut starts) = tokio::sync::mpsc::unbounded_channel();
    let mut clients = tokio::task::JoinSet::new();
    let mut ends = Vec::new();
    for _ in 0..MAX_COMPUTATIONS {
        let (app, listed, started) = (site.app.clone(), listed.clone(), started.clone());
        let (end, ended) = mpsc::channel();
        ends.push(end);
        clients.spawn(async move {
            let compute = move |_: &Study| {
                started.send(()).unwrap();
                let _ = ended.recv();
                Ok(())
            };
            app.studies.compute(&listed, compute).await
        });
    }
    for _ in 0..MAX_COMPUTATIONS {
        starts.recv().await.unwrap();
    }
    clients.shutdown().await;
    ends
}

#[tokio::test]
async fn computations_whose_clients_left_still_count() {
    let table = Table::new().await;
    let (site, task) = (&table.site, table.task.0);
    let ends = fill_computation_slots(site, "rivers").await;
    let instances = "/api/studies/rivers/rankers/bm25/probes/tfc1/instances";
    let waiting_paths = [
        "/api/studies/rivers".to_owned(),
        "/api/studies/rivers/figures".to_owned(),
        "/api/studies/rivers/late-interaction".to_owned(),
        "/api/studies/rivers/human-judgments".to_owned(),
        instances.to_owned(),
        format!("/api/annotation/tasks/{task}/progress"),
        format!("/api/annotation/tasks/{task}/agreement"),
        format!("/api/annotation/tasks/{task}/disputes"),
        format!("/api/annotation/tasks/{task}/export"),
    ];
    let mut waiting = tokio::task::JoinSet::new();
    for path in waiting_paths {
        let asked = with_token(request("GET", &path, ""), &site.token);
        let answer = site.router.clone().oneshot(asked);
        waiting.spawn(async move { (path, answer.await.unwrap().status()) });
    }
    let own_data = people::get_own_data(call(site, ann(), GetOwnDataRequest {}));
    waiting.spawn(async move {
        let answer = own_data.await.into_response();
        ("own data".to_owned(), answer.status())
    });
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(waiting.try_join_next().map(Result::unwrap), None);
    drop(ends);
    while let Some(answered) = waiting.join_next().await {
        let (path, status) = answered.unwrap();
        assert_eq!(status, StatusCode::OK, "{path}");
    }
}

#[tokio::test]
async fn a_page_waits_for_its_texts_only_a_moment() {
    let site = Site::new(ListenScope::Network).await;
    let has_texts = async || {
        let page = tokio::time::timeout(Duration::from_secs(10), site.get("/studies/open"));
        let page = page.await.unwrap();
        assert_eq!(page.status, StatusCode::OK);
        String::from_utf8_lossy(&page.body).contains(FIRST_PAINT_ID)
    };
    let ends = fill_computation_slots(&site, "hidden").await;
    assert!(!has_texts().await);
    drop(ends);
    let has_texts_later = async { while !has_texts().await {} };
    tokio::time::timeout(Duration::from_secs(10), has_texts_later)
        .await
        .unwrap();
}

#[tokio::test]
async fn a_page_beyond_the_rate_limit_has_no_texts() {
    let site = Site::new(ListenScope::Network).await;
    let has_texts = async |peer: [u8; 4]| {
        let page = from(peer, request("GET", "/studies/open", ""));
        let page = site.send(page).await;
        assert_eq!(page.status, StatusCode::OK);
        String::from_utf8_lossy(&page.body).contains(FIRST_PAINT_ID)
    };
    let listed = site.app.store.study_entry_by_name("open").await.unwrap();
    site.app.studies.study(&listed).await.unwrap();
    let (demanding, other) = ([192, 0, 2, 1], [192, 0, 2, 2]);
    assert!(has_texts(demanding).await);
    let limit = &site.app.limits.reads;
    while limit.take(ClientKey::Address(demanding.into())).is_ok() {}
    for _ in 0..10 {
        limit.count(ClientKey::Address(demanding.into()));
    }
    assert!(!has_texts(demanding).await);
    assert!(has_texts(other).await);
}

#[tokio::test]
async fn scorings_whose_clients_left_still_count() {
    let site = Site::new(ListenScope::Network).await;
    let client = Some(ClientKey::Address([192, 0, 2, 1].into()));
    let (started, mut starts) = tokio::sync::mpsc::unbounded_channel();
    let mut clients = tokio::task::JoinSet::new();
    let mut ends = Vec::new();
    for _ in 0..SCORINGS_OF_ONE {
        let slot = site.app.limits.scoring(client).unwrap();
        let started = started.clone();
        let (end, ended) = mpsc::channel::<()>();
        ends.push(end);
        clients.spawn(async move {
            let work = move || {
                started.send(()).unwrap();
                let _ = ended.recv();
                Ok(())
            };
            slot.run("waiting", work).await
        });
    }
    for _ in 0..SCORINGS_OF_ONE {
        starts.recv().await.unwrap();
    }
    clients.shutdown().await;
    assert!(site.app.limits.scoring(client).is_err());
    drop(ends);
    let freed = async {
        while site.app.limits.scoring(client).is_err() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), freed)
        .await
        .unwrap();
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
    let again = move |_: &Study| Err(Error::Panicked { what });
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
        let write = |_: &Study| Ok(Bytes::from("a study"));
        shelf.export(listed, coding, write).await.unwrap();
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
