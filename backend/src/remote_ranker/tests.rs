//! Tests of specs, batches and responses. End-to-end tests use real connections.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, LazyLock, Mutex};

use serde_json::{Value, json};

use super::*;
use crate::models::{PairScore, QueryDocumentPairsWithTexts};
use crate::store::partial_scores::PartialScores;

fn service(spec: &str) -> RemoteRanker {
    spec.parse().unwrap_or_else(|it| panic!("{spec}: {it}"))
}

/// Returns the scores in a folder that a ranker has of these pairs.
fn partial_scores(
    it: &RemoteRanker,
    listed: &QueryDocumentPairsWithTexts<'_>,
    folder: &Path,
) -> PartialScores {
    PartialScores::load_and_lock(folder, &it.scoring_inputs_sha256(listed)).unwrap()
}

/// Returns the scores of all pairs, with the partial scores in `folder`.
fn scores_with(
    it: &RemoteRanker,
    listed: &QueryDocumentPairsWithTexts<'_>,
    folder: &Path,
) -> Vec<(u32, f64)> {
    let mut draft = partial_scores(it, listed, folder);
    let scores = it.score_pairs(listed, &mut draft, |_| {}).unwrap();
    scores.iter().map(|it| (it.pair, it.score)).collect()
}

fn refused(spec: &str) -> String {
    spec.parse::<RemoteRanker>().unwrap_err().to_string()
}

#[test]
fn an_address_says_how_it_is_asked() {
    let shape = |spec: &str| service(spec).protocol;
    assert_eq!(shape("http://localhost:8080/rerank"), RerankProtocol::Tei);
    assert_eq!(
        shape("https://api.example/v1/rerank"),
        RerankProtocol::Cohere
    );
    assert_eq!(
        shape("https://api.example/v2/rerank/"),
        RerankProtocol::Cohere
    );
    assert_eq!(
        shape("http://[::1]:1/rerank?shape=cohere"),
        RerankProtocol::Cohere
    );
    assert_eq!(shape("http://host/models/a?shape=tei"), RerankProtocol::Tei);

    let it = service(
        "HTTP://Host:80/v1/rerank?model=BAAI/bge-reranker-base&raw=yes&texts=8&bytes=2000\
         &at_once=2&per_s=0.5&timeout_s=3&tries=2",
    );
    assert_eq!(it.url, "http://host:80/v1/rerank");
    assert_eq!(
        (
            it.request_limits.max_documents,
            it.request_limits.max_bytes,
            it.request_limits.max_concurrent
        ),
        (8, 2000, 2)
    );
    assert_eq!(
        (
            it.request_limits.max_per_second,
            it.request_limits.timeout.as_secs(),
            it.request_limits.max_attempts
        ),
        (Some(0.5), 3, 2)
    );
    // Request limits are not part of the name.
    let name = "http://host:80/v1/rerank?model=BAAI/bge-reranker-base&raw=yes";
    assert_eq!(it.canonical_spec(), name);
    assert_eq!(service(name).canonical_spec(), name);
    let about = it.ranker_info();
    assert_eq!(
        (about.spec.as_str(), about.label.as_str()),
        (name, "bge-reranker-base")
    );
    assert_eq!(
        service("http://host/rerank?texts=3").ranker_info().label,
        "host"
    );
}

#[test]
fn address_shape_model_and_numbers_name_a_service() {
    let prints = [
        "http://host/rerank",
        "http://other/rerank",
        "http://host/rerank?shape=cohere",
        "http://host/rerank?raw=no",
        "http://host/rerank?model=a",
        "http://host/rerank?model=b",
        "https://host/rerank",
    ];
    let mut prints = prints
        .map(|it| service(it).ranker_info().fingerprint)
        .to_vec();
    prints.push(
        service("http://host/rerank?texts=1&tries=1")
            .ranker_info()
            .fingerprint,
    );
    prints.sort();
    prints.dedup();
    assert_eq!(prints.len(), 7, "pace is not in it");
}

#[test]
fn what_is_wrong_with_an_address_is_told_without_its_secrets() {
    for spec in [
        "http://user:hush@host/rerank",
        "http://hush@host/rerank",
        "http://host/rerank?api_key=hush",
        "http://host/rerank?hush",
    ] {
        let error = refused(spec);
        assert!(
            error.contains(API_KEY_VARIABLE) && !error.contains("hush"),
            "{spec}: {error}"
        );
    }
    assert!(
        refused("http://host/").contains("?shape=tei"),
        "{}",
        refused("http://host/")
    );
    assert!(refused("http://host/rerank#a").contains('#'));
    assert!(refused("http://").contains("no address"));
    assert!(refused("http:host/rerank").contains("no address"));
    for option in [
        "texts=0",
        "texts=x",
        "at_once=65",
        "tries=0",
        "timeout_s=0",
        "per_s=0",
        "per_s=NaN",
        "bytes=1",
        "raw=maybe",
        "shape=x",
        "model=",
    ] {
        refused(&format!("http://host/rerank?{option}"));
    }
}

/// Returns two queries and documents of 2, 4, 6 and 8 bytes.
fn listed() -> QueryDocumentPairsWithTexts<'static> {
    static QUERIES: LazyLock<[String; 2]> = LazyLock::new(|| ["q", "other"].map(str::to_owned));
    static TEXTS: LazyLock<[String; 4]> =
        LazyLock::new(|| [2, 4, 6, 8].map(|it| "é".repeat(it / 2)));
    QueryDocumentPairsWithTexts {
        queries: &QUERIES[..],
        documents: &TEXTS[..],
        pairs: &[(0, 0), (0, 1), (0, 2), (1, 0), (1, 3)],
    }
}

#[test]
fn requests_hold_texts_of_one_query_within_both_bounds() {
    let listed = listed();
    let mut it = service("http://host/rerank?texts=2");
    let all = [0, 1, 2, 3, 4];
    assert_eq!(it.group_into_requests(&listed, &all), [0..2, 2..3, 3..5]);
    assert_eq!(it.group_into_requests(&listed, &[0, 2, 4]), [0..2, 2..3]);
    it.request_limits.max_documents = 10;
    assert_eq!(it.group_into_requests(&listed, &all), [0..3, 3..5]);
    // 1 byte of the query, 2 and 4 of documents. A document that is too long is sent alone.
    it.request_limits.max_bytes = 7;
    assert_eq!(
        it.group_into_requests(&listed, &all),
        [0..2, 2..3, 3..4, 4..5]
    );
    let cost = it.request_volume(&listed, &PartialScores::empty_without_file());
    let expected = RequestVolume {
        requests: 4,
        texts: 5,
        // Twice 1 of `q`, twice 5 of `other`; 1 + 2 + 3 + 1 + 4 of documents.
        characters: 2 + 10 + 11,
        done: 0,
    };
    assert_eq!(cost, expected);
}

#[test]
fn what_a_reply_lacks_is_named() {
    let tei = |reply: Value| {
        response::parse_rerank_scores(RerankProtocol::Tei, reply.to_string().as_bytes(), 2, None)
    };
    let sound = json!([{"index": 1, "score": -3.5, "text": null}, {"index": 0, "score": 2}]);
    assert_eq!(tei(sound).unwrap(), [2.0, -3.5]);
    let cohere = json!({"id": "x", "results": [
        {"index": 0, "relevance_score": 0.25, "document": {"text": "a"}},
        {"index": 1, "relevance_score": 1e-9}]});
    let cohere = response::parse_rerank_scores(
        RerankProtocol::Cohere,
        cohere.to_string().as_bytes(),
        2,
        None,
    );
    assert_eq!(cohere.unwrap(), [0.25, 1e-9]);

    for (reply, part) in [
        (json!([{"index": 0, "score": 1.0}]), "1 scores for 2 texts"),
        (
            json!([{"index": 0, "score": 1.0}, {"index": 0, "score": 1.0}]),
            "two scores to text 0",
        ),
        (
            json!([{"index": 0, "score": 1.0}, {"index": 2, "score": 1.0}]),
            "a score to text 2, where there are 2",
        ),
        (
            json!([{"index": 0, "score": null}, {"index": 1, "score": 1}]),
            "null",
        ),
        (
            json!([{"index": -1, "score": 1}, {"index": 1, "score": 1}]),
            "-1",
        ),
        (json!({"error": "no"}), "`{\"error\":\"no\"}`"),
    ] {
        let error = tei(reply).unwrap_err();
        assert!(error.contains(part), "{error} lacks {part}");
    }
    let read = |body: &str| {
        response::parse_rerank_scores(RerankProtocol::Tei, body.as_bytes(), 2, None).unwrap_err()
    };
    assert!(read("[{\"index\":0,\"score\":1e999},{\"index\":1,\"score\":1}]").contains("range"));
    assert!(read("<html>").contains("`<html>`"));
    assert!(read("").contains("nothing"));
    assert!(read(&"x".repeat(5_000)).len() < 400);
}

#[test]
fn a_key_that_is_repeated_is_not_shown_wherever_the_reply_is_cut() {
    let key = r#"hush/"hush"\-0123456789"#;
    let json_key = json!(key).to_string();
    for padding in 0..260 {
        for repeated in [key, json_key.trim_matches('"')] {
            let body = format!("{}{repeated}", " .".repeat(padding / 2) + "é");
            let shown = response::response_excerpt(body.as_bytes(), Some(key));
            // If part of the key were left after truncation, it would start with this character.
            assert!(!shown.contains('h'), "{padding}: {shown}");
            let error =
                response::parse_rerank_scores(RerankProtocol::Tei, body.as_bytes(), 2, Some(key));
            assert!(!error.unwrap_err().contains("hu"), "{padding}");
        }
    }
    let shown = response::response_excerpt(format!("a {key} b").as_bytes(), Some(key));
    assert_eq!(shown, "`a … b`");
}

/// Starts a server that answers one connection with each of the replies. Returns its address and
/// the requests that it received.
fn peer(replies: Vec<(u16, &'static str, String)>) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/rerank", listener.local_addr().unwrap());
    let sent = Arc::new(Mutex::new(Vec::new()));
    let heard = sent.clone();
    std::thread::spawn(move || {
        for (status, headers, body) in replies {
            let mut connection = listener.accept().unwrap().0;
            heard.lock().unwrap().push(request(&connection));
            let n_bytes = body.len();
            let _ = write!(
                connection,
                "HTTP/1.1 {status} X\r\ncontent-length: {n_bytes}\r\nconnection: close\r\n\
                 {headers}\r\n{body}"
            );
        }
    });
    (address, sent)
}

/// Reads a request with its headers and body.
pub(crate) fn request(connection: &TcpStream) -> String {
    let mut reader = BufReader::new(connection);
    let (mut all, mut n_bytes) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap() == 0 || line == "\r\n" {
            break;
        }
        if let Some(n) = line.to_lowercase().strip_prefix("content-length:") {
            n_bytes = n.trim().parse().unwrap();
        }
        all += &line;
    }
    let mut body = vec![0; n_bytes];
    reader.read_exact(&mut body).unwrap();
    all + "\n" + &String::from_utf8(body).unwrap()
}

fn scored(n: usize) -> String {
    let scores: Vec<Value> = (0..n)
        .map(|it| json!({"index": it, "score": it as f64 + 0.5}))
        .collect();
    json!(scores).to_string()
}

#[test]
fn a_batch_is_asked_again_and_what_was_answered_stays() {
    let listed = listed();
    let folder = tempfile::tempdir().unwrap();
    let (address, sent) = peer(vec![
        (429, "retry-after: 0\r\n", "slow down".to_owned()),
        (503, "retry-after: 0\r\n", String::new()),
        (200, "", scored(3)),
        (200, "", "[]".to_owned()),
        (200, "", scored(2)),
    ]);
    let it = service(&format!("{address}?at_once=1"));
    let mut draft = partial_scores(&it, &listed, folder.path());
    let error = it.score_pairs(&listed, &mut draft, |_| {}).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "{address}: request 2 of 2 (2 texts for the query `other`): it gives 0 scores for 2 \
             texts"
        )
    );
    let bodies = sent.lock().unwrap().clone();
    assert_eq!(bodies.len(), 4);
    assert_eq!(bodies[0], bodies[2], "the same is asked again");
    let body: Value = serde_json::from_str(bodies[0].rsplit('\n').next().unwrap()).unwrap();
    assert_eq!(
        body,
        json!({"query": "q", "texts": ["é", "éé", "ééé"], "raw_scores": true, "truncate": true})
    );

    // The next run sends only the second request.
    drop(draft);
    let mut draft = partial_scores(&it, &listed, folder.path());
    assert_eq!(it.request_volume(&listed, &draft).done, 1);
    let scores = it.score_pairs(&listed, &mut draft, |_| {}).unwrap();
    let scores: Vec<f64> = scores.iter().map(|it| it.score).collect();
    assert_eq!(scores, [0.5, 1.5, 2.5, 0.5, 1.5]);
    let bodies = sent.lock().unwrap().clone();
    assert_eq!(bodies.len(), 5);
    assert!(bodies[4].contains("\"other\""));
    draft.delete_file().unwrap();
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn what_is_answered_stays_when_requests_become_smaller() {
    let listed = listed();
    let folder = tempfile::tempdir().unwrap();
    let (address, sent) = peer(vec![
        (200, "", scored(3)),
        (413, "", String::new()),
        (200, "", scored(1)),
        (200, "", scored(1)),
    ]);
    let it = service(&format!("{address}?at_once=1"));
    let mut draft = partial_scores(&it, &listed, folder.path());
    let error = it.score_pairs(&listed, &mut draft, |_| {}).unwrap_err();
    assert!(error.to_string().contains("`texts=N`"), "{error}");
    drop(draft);

    // The remedy that the message suggests.
    let it = service(&format!("{address}?at_once=1&texts=1"));
    let cost = it.request_volume(&listed, &partial_scores(&it, &listed, folder.path()));
    assert_eq!((cost.requests, cost.done), (5, 3));
    let scores = scores_with(&it, &listed, folder.path());
    assert_eq!(scores, [(0, 0.5), (1, 1.5), (2, 2.5), (3, 0.5), (4, 0.5)]);
    assert_eq!(sent.lock().unwrap().len(), 4);
}

#[test]
fn what_a_draft_has_of_no_pair_is_not_believed() {
    let listed = listed();
    let folder = tempfile::tempdir().unwrap();
    let (address, sent) = peer(vec![(200, "", scored(2)), (200, "", scored(2))]);
    let it = service(&address);
    let score = |pair, score| PairScore {
        pair,
        score,
        truncated: false,
    };
    let mut draft = partial_scores(&it, &listed, folder.path());
    draft.append_batch(0, &[score(1, 9.0)]).unwrap();
    draft
        .append_batch(5, &[score(5, 9.0), score(u32::MAX, 9.0)])
        .unwrap();
    draft.append_batch(2, &[score(2, f64::NAN)]).unwrap();
    drop(draft);
    let scores = scores_with(&it, &listed, folder.path());
    assert_eq!(scores, [(0, 0.5), (1, 9.0), (2, 1.5), (3, 0.5), (4, 1.5)]);
    assert_eq!(sent.lock().unwrap().len(), 2);
}

#[test]
fn waiting_requests_end_when_another_is_refused() {
    let listed = listed();
    // One request is told to wait, the other is unauthorized.
    let (address, _) = peer(vec![
        (429, "retry-after: 200\r\n", String::new()),
        (401, "", "no key".to_owned()),
    ]);
    let since = std::time::Instant::now();
    let asked = service(&format!("{address}?at_once=2"));
    let error = asked.score_pairs(&listed, &mut PartialScores::empty_without_file(), |_| {});
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("(401)") && error.contains(API_KEY_VARIABLE),
        "{error}"
    );
    // The second request may start only after 1000 s.
    let (address, _) = peer(vec![(401, "", "no key".to_owned())]);
    let asked = service(&format!("{address}?at_once=2&per_s=0.001"));
    let error = asked.score_pairs(&listed, &mut PartialScores::empty_without_file(), |_| {});
    assert!(error.unwrap_err().to_string().contains("(401)"));
    assert!(since.elapsed().as_secs() < 20, "{:?}", since.elapsed());
}

#[test]
fn requests_begin_no_faster_than_they_may() {
    let listed = listed();
    let (address, _) = peer((0..5).map(|_| (200, "", scored(1))).collect());
    let it = service(&format!("{address}?texts=1&per_s=10&at_once=3"));
    let since = std::time::Instant::now();
    let scores = it
        .score_pairs(&listed, &mut PartialScores::empty_without_file(), |_| {})
        .unwrap();
    assert_eq!(scores.len(), 5);
    // The first request starts at once, each further one 0.1 s later.
    assert!(
        since.elapsed().as_secs_f64() > 0.39,
        "{:?}",
        since.elapsed()
    );
}

/// Returns whether a response has the scores of two documents, see [`crate::mutated_input`].
pub(crate) fn takes_answer(answer: &[u8]) -> bool {
    response::parse_rerank_scores(RerankProtocol::Tei, answer, 2, Some("hush")).is_ok()
}
