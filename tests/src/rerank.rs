//! The server as a remote ranker of other programs.

use std::collections::BTreeMap;
use std::io::Write;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use shared::api::rerank::{CohereRerankRequest, CohereRerankResponse, RankedText, RerankRequest};
use shared::api::{
    Endpoint, GetStudyRequest, ListStudiesRequest, ScoreDocumentsRequest, ScoreDocumentsResponse,
};

use crate::harness::{PATIENCE, TestHome, TestServer, reply, tiny_model};

/// Starts a server with the smallest model.
pub(crate) fn ranking(home: &TestHome) -> TestServer {
    home.serve(&["--model", &tiny_model().to_string_lossy()])
}

/// Writes a collection `c` with one query and the documents `d0`, `d1`, …, and `pairs.jsonl`.
pub(crate) fn collect(home: &TestHome, query: &str, texts: &[&str]) {
    let row = |(at, text): (usize, &&str)| json!({"_id": format!("d{at}"), "text": text});
    let rows: Vec<String> = texts
        .iter()
        .enumerate()
        .map(|it| row(it).to_string())
        .collect();
    home.write("c/corpus.jsonl", rows.join("\n"));
    home.write(
        "c/queries.jsonl",
        json!({"_id": "q", "text": query}).to_string(),
    );
    let pair = |at: usize| json!({"query_id": "q", "text_id": format!("d{at}")}).to_string();
    let pairs: Vec<String> = (0..texts.len()).map(pair).collect();
    home.write("pairs.jsonl", pairs.join("\n"));
}

/// Returns the arguments that score all documents of the collection into a file.
pub(crate) fn score_line<'a>(ranker: &'a str, out: &'a str) -> Vec<&'a str> {
    let line = "score --collection c --pairs pairs.jsonl --out";
    let line = line.split(' ').chain([out, "--ranker", ranker]);
    line.collect()
}

/// Scores all documents of the collection; returns the scores by document id.
pub(crate) fn scores(home: &TestHome, ranker: &str, name: &str) -> BTreeMap<String, f64> {
    home.run_with(&score_line(ranker, name)).expect_success();
    let rows = home.read(name);
    let rows = rows.lines().map(|it| {
        let cells: Vec<&str> = it.split('\t').collect();
        (cells[1].to_owned(), cells[2].parse().unwrap())
    });
    rows.collect()
}

fn post(server: &TestServer, path: &str, body: &Value) -> Value {
    let sent = server.request("POST", path).body(body.to_string());
    reply(sent.send().unwrap()).unwrap_or_else(|it| panic!("{path}: {it:?}"))
}

#[test]
fn published_requests_get_the_scores_of_the_command_line() {
    let home = TestHome::new();
    // The example in the documentation of text-embeddings-inference.
    let query = "What is Deep Learning?";
    let texts = ["Deep Learning is not...", "Deep learning is..."];
    collect(&home, query, &texts);
    let model = tiny_model().to_string_lossy().into_owned();
    let expected = scores(&home, &model, "bi.tsv");
    let late = scores(&home, &format!("{model}:late"), "late.tsv");
    let server = ranking(&home);

    let ranked = post(&server, "/rerank", &json!({"query": query, "texts": texts}));
    let ranked: Vec<RankedText> = serde_json::from_value(ranked).unwrap();
    assert_eq!(ranked.len(), 2);
    assert!(ranked[0].score >= ranked[1].score);
    for it in &ranked {
        let cosine = expected[&format!("d{}", it.index)];
        assert!(
            (it.score - (1.0 + cosine) / 2.0).abs() < 1e-6,
            "{ranked:?} {expected:?}"
        );
        assert_eq!(it.text, None);
    }
    // Every field in its OpenAPI document.
    let asked = json!({"query": query, "texts": texts, "raw_scores": true, "return_text": true,
                       "truncate": null, "truncation_direction": "Right"});
    let ranked = post(&server, "/rerank", &asked);
    let ranked: Vec<RankedText> = serde_json::from_value(ranked).unwrap();
    for it in &ranked {
        let cosine = expected[&format!("d{}", it.index)];
        assert!((it.score - cosine).abs() < 1e-6, "{ranked:?} {expected:?}");
        assert_eq!(it.text.as_deref(), Some(texts[it.index as usize]));
    }

    // A request as the clients of Cohere, Jina and infinity send it.
    let asked = json!({"model": "tiny:late", "query": query, "documents": texts, "top_n": 1,
                       "return_documents": true, "raw_scores": true});
    let best = late.iter().max_by(|a, b| a.1.total_cmp(b.1)).unwrap();
    for path in [
        "/rerank",
        CohereRerankRequest::PATH,
        CohereRerankRequest::V2_PATH,
    ] {
        let ranked: CohereRerankResponse =
            serde_json::from_value(post(&server, path, &asked)).unwrap();
        let [first] = &ranked.results[..] else {
            panic!("{path}: {ranked:?}")
        };
        assert_eq!(&format!("d{}", first.index), best.0);
        assert!((first.relevance_score - best.1).abs() < 1e-5);
        let text = &first.document.as_ref().unwrap().text;
        assert_eq!(text, texts[first.index as usize]);
        assert_eq!(ranked.meta.billed_units.search_units, 1);
    }
    let metrics = server.get("/metrics").text().unwrap();
    let counted = "axioscope_requests_total{path=\"/rerank\",method=\"POST\",status=\"200\"} 3";
    assert!(metrics.contains(counted), "{metrics}");
    let document: Value = server.get("/api/openapi.json").json().unwrap();
    for path in [
        RerankRequest::PATH,
        CohereRerankRequest::PATH,
        CohereRerankRequest::V2_PATH,
    ] {
        assert!(document["paths"][path]["post"].is_object(), "{path}");
    }
}

#[test]
fn ten_thousand_texts_are_ranked_and_ten_megabytes_are_refused() {
    let home = TestHome::new();
    let server = ranking(&home);
    // One document is the query itself, so its cosine is 1.
    let mut texts = vec!["a hill and the sea".to_owned(); 10_000];
    texts[77] = "a river".to_owned();
    let asked = json!({"query": "a river", "texts": texts, "raw_scores": true});
    let ranked = post(&server, "/rerank", &asked);
    let ranked: Vec<RankedText> = serde_json::from_value(ranked).unwrap();
    let mut places: Vec<u64> = ranked.iter().map(|it| it.index).collect();
    places.sort_unstable();
    assert!(places.into_iter().eq(0..10_000));
    assert!(ranked.is_sorted_by(|a, b| a.score >= b.score));
    assert_eq!(ranked[0].index, 77, "{:?}", &ranked[..3]);
    assert!((ranked[0].score - 1.0).abs() < 1e-6 && ranked[1].score < 0.999);

    let refused = |texts: &[String]| {
        let asked = json!({"query": "river", "texts": texts});
        let sent = server.request("POST", "/rerank").body(asked.to_string());
        let (status, problem) = reply::<Value>(sent.send().unwrap()).unwrap_err();
        assert_eq!((status, problem.error_type.as_str()), (413, "too-large"));
        problem.error
    };
    let error = refused(&["river ".repeat(10_000_000 / 6)]);
    assert!(
        error.contains("characters of a text are too many; 1000000 at most"),
        "{error}"
    );
    let error = refused(&vec!["river".to_owned(); 10_001]);
    assert!(
        error.contains("10001 documents are too many; 10000 at most"),
        "{error}"
    );
}

#[test]
fn a_request_of_a_disconnected_client_is_not_computed() {
    let home = TestHome::new();
    let server = ranking(&home);
    // The request takes some hundred batches.
    let text = "river ".repeat(200);
    let asked = json!({"query": "river", "texts": vec![text; 10_000]}).to_string();
    let number = |name: &str| -> f64 {
        let metrics = server.get("/metrics").text().unwrap();
        let line = metrics.lines().find(|it| it.starts_with(name));
        line.map_or(0.0, |it| it.rsplit(' ').next().unwrap().parse().unwrap())
    };
    let (batches, left) = (
        "axioscope_ranking_batches_total",
        "axioscope_rankings_left_total",
    );
    let wait_for = |name: &str, least: f64| {
        let since = Instant::now();
        while number(name) < least {
            assert!(since.elapsed() < PATIENCE, "{name} is {}", number(name));
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    let host = server.address.strip_prefix("http://").unwrap();
    let mut connection = TcpStream::connect(host).unwrap();
    let n_bytes = asked.len();
    let head =
        format!("POST /rerank HTTP/1.1\r\nhost: {host}\r\ncontent-length: {n_bytes}\r\n\r\n");
    connection.write_all(head.as_bytes()).unwrap();
    connection.write_all(asked.as_bytes()).unwrap();
    wait_for(batches, 1.0);
    // Other requests are answered while it is processed.
    server.call(&ListStudiesRequest {});
    drop(connection);
    wait_for(left, 1.0);
    // The current batch may still finish; then there must be no other.
    std::thread::sleep(Duration::from_millis(500));
    let done = number(batches);
    std::thread::sleep(Duration::from_millis(1_000));
    assert_eq!(number(batches), done);
    let all = 10_000.0 * 200.0 / 1_024.0;
    assert!(done < all / 2.0, "{done} of about {all}");
    post(
        &server,
        "/rerank",
        &json!({"query": "river", "texts": ["sea"]}),
    );
}

#[test]
fn scoring_for_five_visitors_does_not_block_other_requests() {
    let home = TestHome::new();
    let model = tiny_model().to_string_lossy().into_owned();
    let open = ["--listen", "0.0.0.0:0", "--trusted-proxy", "127.0.0.1"];
    let server = home.serve(&[&open[..], &["--demo=lexical", "--model", &model]].concat());
    let texts = vec!["a ".repeat(1_999); 8];
    let score = |ranker: &str, address: &str| {
        let asked = server.request_for(&ScoreDocumentsRequest {
            model: ranker.to_owned(),
            query: "river".to_owned(),
            documents: texts.clone(),
        });
        reply::<ScoreDocumentsResponse>(asked.header("x-forwarded-for", address).send().unwrap())
    };
    let look = GetStudyRequest {
        study: "demo".to_owned(),
        controls: Default::default(),
    };
    let ask = |ranker: &str| {
        std::thread::scope(|scope| {
            let asked = (0..5).map(|n| {
                let address = format!("192.0.2.{n}");
                scope.spawn(move || score(ranker, &address))
            });
            let asked: Vec<_> = asked.collect();
            assert_eq!(server.call(&look).name, "demo");
            let replies = asked.into_iter().map(|it| it.join().unwrap());
            replies.collect::<Vec<_>>()
        })
    };
    // Each document has 200 passages, one beginning at each word.
    for refused in ask("tiny:bi+maxp=400/1") {
        let (status, problem) = refused.unwrap_err();
        assert_eq!((status, problem.field.as_deref()), (422, Some("model")));
        assert!(problem.error.contains("take `tiny:bi+maxp`"), "{problem:?}");
    }
    for scored in ask("tiny:bi+maxp") {
        assert_eq!(scored.unwrap().scores.len(), 8);
    }
}

#[test]
fn other_programs_learn_which_models_there_are() {
    let home = TestHome::new();
    let server = ranking(&home);
    // The keys that clients of text-embeddings-inference read.
    let info: Value = server.get("/info").json().unwrap();
    assert_eq!(info["model_id"], "tiny:bi", "{info}");
    assert_eq!(info["model_dtype"], "float32");
    assert_eq!(info["model_type"]["reranker"]["id2label"]["0"], "LABEL_0");
    assert_eq!(info["max_client_batch_size"], 10_000);
    assert_eq!(info["auto_truncate"], true);
    // The output of sha256sum for the model.safetensors of the fixture.
    let sum = "88186e660894af13012212176ca5266aca0e2720b0c830952693e5e6c1c84d2c";
    assert_eq!(info["model_sha"], sum);
    // The keys that clients of OpenAI read; each id is a model that `/rerank` accepts.
    let models: Value = server.get("/v1/models").json().unwrap();
    assert_eq!(models["object"], "list");
    let models = models["data"].as_array().unwrap();
    assert!(models.len() > 1, "{models:?}");
    for model in models {
        assert_eq!(model["object"], "model");
        let asked = json!({"model": model["id"], "query": "hill", "texts": ["a hill"]});
        assert_eq!(post(&server, "/rerank", &asked)[0]["index"], 0);
    }
    let other = TestHome::new();
    let without = other.serve(&[]);
    let missing = reply::<Value>(without.get("/info")).unwrap_err();
    assert!(missing.1.error.contains("--model"), "{missing:?}");
    let none: Value = without.get("/v1/models").json().unwrap();
    assert_eq!(none["data"], json!([]));
}
