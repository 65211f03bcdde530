//! Tests of reranking for other programs.

use shared::api::rerank::{
    CohereRerankRequest, CohereRerankResponse, RankedText, RerankDocument, RerankRequest,
};

use super::*;

fn texts(texts: &[&str]) -> Option<Vec<String>> {
    Some(texts.iter().map(|&it| it.to_owned()).collect())
}

/// Returns the scores of the model itself.
fn said(site: &Site, ranker: &str, query: &str, texts: &[&str]) -> Vec<f64> {
    let texts: Vec<String> = texts.iter().map(|&it| it.to_owned()).collect();
    let ranker = site.app.models.get_or_load_ranker(ranker).unwrap();
    let said = ranker.score_documents_in_detail(query, &texts).unwrap();
    said.iter().map(|it| it.score).collect()
}

#[tokio::test]
async fn texts_are_ranked_as_the_model_scores_them() {
    let site = Site::new(ListenScope::Loopback).await;
    let given = ["a river", "", "hill and river and hill", "the sea"];
    let rerank = |raw_scores: bool| RerankRequest {
        query: "where do rivers end".to_owned(),
        texts: texts(&given),
        raw_scores: Some(raw_scores),
        return_text: Some(raw_scores),
        ..RerankRequest::default()
    };
    let raw: Vec<RankedText> = site.ask(&rerank(true)).await.json();
    let unit: Vec<RankedText> = site.ask(&rerank(false)).await.json();
    let said = said(&site, "tiny:bi", "where do rivers end", &given);
    assert_eq!(raw.len(), 4);
    assert!(raw.is_sorted_by(|a, b| a.score >= b.score), "{raw:?}");
    for (raw, unit) in raw.iter().zip(&unit) {
        let place = raw.index as usize;
        assert!((raw.score - said[place]).abs() < 1e-6, "{raw:?} {said:?}");
        assert_eq!(raw.text.as_deref(), Some(given[place]));
        // The score is a cosine, so it is mapped to (1 + c) / 2.
        assert_eq!((unit.index, unit.text.as_deref()), (raw.index, None));
        assert!((unit.score - (1.0 + raw.score) / 2.0).abs() < 1e-12);
    }
}

#[tokio::test]
async fn documents_are_ranked_as_coheres_clients_expect() {
    let site = Site::new(ListenScope::Loopback).await;
    let given = ["a river", "hill", "the sea"];
    let body = json!({
        "model": "tiny:late", "query": "rivers", "top_n": 2, "return_documents": true,
        "documents": ["a river", {"text": "hill", "title": "x"}, "the sea"],
        "max_tokens_per_doc": 4096,
    });
    let said = said(&site, "tiny:late", "rivers", &given);
    let mut best: Vec<usize> = (0..3).collect();
    best.sort_by(|&a, &b| said[b].total_cmp(&said[a]));
    for (path, version) in [("/rerank", "1"), ("/v1/rerank", "1"), ("/v2/rerank", "2")] {
        let answer = site.send(request("POST", path, &body.to_string())).await;
        assert_eq!(answer.status, StatusCode::OK, "{path}");
        let ranked: CohereRerankResponse = answer.json();
        let places: Vec<usize> = ranked.results.iter().map(|it| it.index as usize).collect();
        assert_eq!(places, best[..2], "{path}");
        assert_eq!(
            (ranked.model.as_str(), ranked.object.as_str()),
            ("tiny:late", "rerank")
        );
        assert_eq!(ranked.meta.api_version.version, version);
        assert!(ranked.usage.total_tokens > 0 && ranked.meta.warnings.is_empty());
        for it in &ranked.results {
            let place = it.index as usize;
            let x = said[place];
            let unit = (1.0 + x / (1.0 + x.abs())) / 2.0;
            assert!((it.relevance_score - unit).abs() < 1e-6, "{path}");
            assert_eq!(it.document.as_ref().unwrap().text, given[place]);
        }
    }
    // A request as the clients of vLLM send it: all documents, with raw scores.
    let asked = CohereRerankRequest {
        query: "rivers".to_owned(),
        documents: given.map(|it| RerankDocument::Text(it.to_owned())).to_vec(),
        model: Some("tiny:late".to_owned()),
        top_n: Some(0),
        use_activation: Some(false),
        ..CohereRerankRequest::default()
    };
    let ranked: CohereRerankResponse = site.ask(&asked).await.json();
    assert_eq!(ranked.results.len(), 3);
    assert!((ranked.results[0].relevance_score - said[best[0]]).abs() < 1e-6);
    assert_eq!(ranked.results[0].document, None);
}

#[tokio::test]
async fn rankings_that_cannot_be_made_say_why() {
    let site = Site::new(ListenScope::Loopback).await;
    let problem = async |body: Value| {
        site.send(request("POST", "/rerank", &body.to_string()))
            .await
            .problem()
    };
    let (status, error) = problem(json!({"query": "a", "texts": ["b"], "model": "other"})).await;
    assert_eq!(
        (status, error.as_str()),
        (
            404,
            "there is no model named `other` among `tiny:bi`, `tiny:late`"
        )
    );
    assert_eq!(problem(json!({"query": "a"})).await.0, 422);
    assert_eq!(
        problem(json!({"query": "a", "texts": [], "documents": []}))
            .await
            .0,
        422
    );
    assert_eq!(problem(json!({"query": "a", "texts": []})).await.0, 422);
    assert_eq!(
        problem(json!({"query": "a", "texts": ["b", null]})).await.0,
        422
    );
    let (status, error) = problem(json!({"query": "a", "texts": vec!["b"; 10_001]})).await;
    assert_eq!(status, 413);
    assert!(
        error.contains("10001 documents") && error.contains("10000 at most"),
        "{error}"
    );
    let long = "river ".repeat(200_000);
    let (status, error) = problem(json!({"query": "a", "texts": [long]})).await;
    assert_eq!(status, 413);
    assert!(error.contains("1000000 at most"), "{error}");
    // Longer than the model's input, and shorter than the limit on characters.
    let long = || vec!["river ".repeat(1_000)];
    let asked = json!({"query": "a", "texts": long(), "truncate": false});
    let (status, error) = problem(asked).await;
    assert_eq!(status, 422);
    assert!(
        error.contains("the text at place 0, from 0 on, is longer than the model reads"),
        "{error}"
    );
    let asked = json!({"query": "a", "texts": long(), "truncation_direction": "Left"});
    assert_eq!(problem(asked).await.0, 422);
    let asked = json!({"query": "a", "documents": long(), "truncate": false});
    assert_eq!(problem(asked).await.0, 422);
    let asked = json!({"query": long()[0], "texts": ["b"], "truncate": false});
    let (status, error) = problem(asked).await;
    assert_eq!(status, 422);
    assert!(error.contains("the query is longer"), "{error}");
    let asked = json!({"query": "a", "documents": long()});
    let ranked: CohereRerankResponse = site
        .send(request("POST", "/v1/rerank", &asked.to_string()))
        .await
        .json();
    assert_eq!(ranked.meta.warnings.len(), 1);
}

#[tokio::test]
async fn input_that_must_not_be_truncated_is_refused_before_scoring() {
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../neural/tests/fixtures");
    for name in ["tiny:late", "tiny:bi+meanp=5/5", "cross-tiny:cross"] {
        let folder = format!("{fixtures}/{}", name.split(':').next().unwrap());
        let models =
            models::ModelRegistry::with_models_or_default(&[folder], neural::Device::Cpu).unwrap();
        let site = Site::with(ListenScope::Loopback, models).await;
        let ranker = site.app.models.get_or_load_ranker(name).unwrap();
        let before = ranker.sequence_and_token_counts();
        let mut given = vec!["river".to_owned(); 200];
        given[150] = "river ".repeat(2_000);
        let body = json!({"model": name, "query": "a", "texts": given, "truncate": false});
        let asked = async |body: &Value| {
            site.send(request("POST", "/rerank", &body.to_string()))
                .await
        };
        let (status, error) = asked(&body).await.problem();
        assert_eq!(status, 422);
        assert!(error.contains("the text at place 150,"), "{name}: {error}");
        assert_eq!(ranker.sequence_and_token_counts(), before, "{name}");
        // [CLS] a [SEP] of the query, for each of [CLS] a [SEP] and [CLS] a a [SEP].
        let body = json!({"model": name, "query": "a", "documents": ["a", "a a"]});
        let ranked: CohereRerankResponse = asked(&body).await.json();
        assert_eq!(ranked.usage.total_tokens, 3 + 3 + 3 + 4, "{name}");
    }
}

#[tokio::test]
async fn documents_are_cut_and_their_fields_joined_as_cohere_does() {
    let site = Site::new(ListenScope::Loopback).await;
    let asked = |fields: Value| {
        let mut body = json!({"model": "tiny:bi", "query": "rivers", "raw_scores": true});
        let more = fields.as_object().unwrap().clone();
        body.as_object_mut().unwrap().extend(more);
        body
    };
    let send =
        async |path: &str, body: Value| site.send(request("POST", path, &body.to_string())).await;
    let documents = json!(["river sea hill", {"text": "a", "title": "the sea", "n": 7}]);
    for path in ["/rerank", "/v1/rerank", "/v2/rerank"] {
        let body = asked(json!({
            "documents": documents, "max_tokens_per_doc": 3, "rank_fields": ["title", "n"],
            "return_documents": true,
        }));
        let ranked: CohereRerankResponse = send(path, body).await.json();
        // `title`, a word of five tokens of this model, is truncated after three.
        let read = ["river sea h", "tit"];
        let said = said(&site, "tiny:bi", "rivers", &read);
        let shown = ["river sea hill", "title: the sea\nn: 7"];
        for it in &ranked.results {
            let place = it.index as usize;
            assert!((it.relevance_score - said[place]).abs() < 1e-6, "{path}");
            assert_eq!(it.document.as_ref().unwrap().text, shown[place]);
        }
        let body = asked(json!({"documents": documents, "rank_fields": ["body"]}));
        let (status, error) = send(path, body).await.problem();
        assert_eq!(status, 422);
        assert!(error.contains("document 1 (counted from 0) has no text in the field `body`"));
        for field in ["max_tokens_per_doc", "max_chunks_per_doc"] {
            let body = asked(json!({"documents": documents, (field): 0}));
            let (status, error) = send(path, body).await.problem();
            assert_eq!(status, 422);
            assert!(error.contains(&format!("{field}: is 0")), "{error}");
        }
    }
    let body = asked(json!({"texts": ["river sea hill"], "max_tokens_per_doc": 1}));
    let ranked: Vec<RankedText> = send("/rerank", body).await.json();
    let said = said(&site, "tiny:bi", "rivers", &["river"]);
    assert!((ranked[0].score - said[0]).abs() < 1e-6);
    let body = asked(json!({"texts": ["river"], "rank_fields": ["title"]}));
    assert_eq!(send("/rerank", body).await.problem().0, 422);
}

#[tokio::test]
async fn only_so_many_passages_of_a_document_are_read_as_are_asked_for() {
    let site = Site::new(ListenScope::Loopback).await;
    let said = said(&site, "tiny:bi", "rivers", &["river", "sea", "hill"]);
    let whole = self::said(&site, "tiny:bi", "rivers", &["river sea hill"])[0];
    for (model, most, expected) in [
        ("tiny:bi+meanp=1/1", 1, said[0]),
        ("tiny:bi+meanp=1/1", 2, (said[0] + said[1]) / 2.0),
        ("tiny:bi+meanp=1/1", 10, said.iter().sum::<f64>() / 3.0),
        ("tiny:bi", 1, whole),
    ] {
        let mut body = json!({
            "model": model, "query": "rivers", "raw_scores": true, "max_chunks_per_doc": most,
            "documents": ["river sea hill"],
        });
        for path in ["/rerank", "/v1/rerank", "/v2/rerank"] {
            let answer = site.send(request("POST", path, &body.to_string())).await;
            let ranked: CohereRerankResponse = answer.json();
            let score = ranked.results[0].relevance_score;
            assert!(
                (score - expected).abs() < 1e-5,
                "{path} {model} {most}: {score}"
            );
        }
        let fields = body.as_object_mut().unwrap();
        let documents = fields.remove("documents").unwrap();
        fields.insert("texts".to_owned(), documents);
        let answer = site
            .send(request("POST", "/rerank", &body.to_string()))
            .await;
        let ranked: Vec<RankedText> = answer.json();
        assert!((ranked[0].score - expected).abs() < 1e-5, "{model} {most}");
    }
}

#[tokio::test]
async fn only_so_many_texts_come_back_as_are_asked_for() {
    let site = Site::new(ListenScope::Loopback).await;
    let ranked = async |top_n: u64| -> Vec<RankedText> {
        let asked = RerankRequest {
            query: "rivers".to_owned(),
            texts: texts(&["a river", "hill", "the sea"]),
            top_n: Some(top_n),
            return_documents: Some(true),
            ..RerankRequest::default()
        };
        site.ask(&asked).await.json()
    };
    let all = ranked(0).await;
    assert_eq!(all.len(), 3);
    assert!(all.iter().all(|it| it.text.is_some()));
    assert_eq!(ranked(2).await, all[..2]);
    assert_eq!(ranked(9).await, all);
}

#[tokio::test]
async fn visitors_rank_a_little() {
    let site = Site::new(ListenScope::Network).await;
    let rerank = |n: usize| RerankRequest {
        query: "rivers".to_owned(),
        texts: texts(&vec!["sea"; n]),
        ..RerankRequest::default()
    };
    assert_eq!(site.ask(&rerank(8)).await.status, StatusCode::OK);
    assert_eq!(
        site.ask(&rerank(9)).await.status,
        StatusCode::PAYLOAD_TOO_LARGE
    );
    let many = as_request(RequestMethod::Post, RerankRequest::PATH, &rerank(9));
    let many = site.send(with_token(many, &site.token)).await;
    assert_eq!(many.status, StatusCode::OK);
}

#[tokio::test]
async fn visitors_take_passages_of_the_usual_length_and_a_bounded_number_of_tokens() {
    let site = Site::new(ListenScope::Network).await;
    // The first ranker would have 200 passages per text, the second the usual 26.
    let texts = vec!["a ".repeat(2_000); 8];
    let send = async |from: u8, path: &str, (model, query): &(String, String), token| {
        let body = scoring_body(path, model, query, &texts);
        let mut request = request("POST", path, &body.to_string());
        let address = SocketAddr::from((IpAddr::from([192, 0, 2, from]), 1));
        request.extensions_mut().insert(ConnectInfo(address));
        match token {
            Some(token) => site.send(with_token(request, token)).await,
            None => site.send(request).await,
        }
    };
    let body = |model: &str, query: &str| (model.to_owned(), query.to_owned());
    for (from, path, field) in [
        (1, "/api/score", "model"),
        (2, "/api/attention", "model"),
        (3, "/rerank", "model"),
    ] {
        let answer = send(from, path, &body("tiny:bi+maxp=400/1", "a"), None).await;
        let ErrorResponse {
            error,
            field: found,
            ..
        } = answer.json();
        assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY, "{error}");
        assert!(error.contains("take `tiny:bi+maxp`"), "{path}: {error}");
        assert_eq!(found.as_deref(), Some(field));
    }
    for (from, path) in [(4, "/api/score"), (5, "/rerank")] {
        let before = site
            .app
            .models
            .get_or_load_ranker("tiny:bi")
            .unwrap()
            .sequence_and_token_counts();
        // 26 passages of each text, with [CLS] and [SEP]; the model reads 64 tokens of each.
        let n_tokens = |n_query: usize| 8 * 26 * (64 + n_query + 2);
        let (status, error) = send(from, path, &body("tiny:bi+maxp", &"a ".repeat(62)), None)
            .await
            .problem();
        assert_eq!(status, 413, "{error}");
        let says = format!(
            "{} tokens to encode are too many; 16384 at most",
            n_tokens(62)
        );
        assert!(error.starts_with(&says), "{path}: {error}");
        assert_eq!(
            site.app
                .models
                .get_or_load_ranker("tiny:bi")
                .unwrap()
                .sequence_and_token_counts(),
            before,
            "{path}"
        );
        assert!(n_tokens(1) < 16_384);
        let fine = send(from, path, &body("tiny:bi+maxp", "a"), None).await;
        assert_eq!(fine.status, StatusCode::OK, "{path}");
        let token = Some(site.token.as_str());
        let fine = send(from, path, &body("tiny:bi+maxp=400/200", "a"), token).await;
        assert_eq!(fine.status, StatusCode::OK, "{path}");
    }
}

#[tokio::test]
async fn scoring_does_not_block_other_requests_and_stops_on_disconnect() {
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../neural/tests/fixtures");
    let folder = format!("{fixtures}/cross-tiny");
    let models =
        models::ModelRegistry::with_models_or_default(&[folder], neural::Device::Cpu).unwrap();
    let site = Site::with(ListenScope::Loopback, models).await;
    let ranker = site
        .app
        .models
        .get_or_load_ranker("cross-tiny:cross")
        .unwrap();
    // As if a batch of another client were being computed.
    let turn = site.app.limits.scoring_turn().await;
    let mut waiting = tokio::task::JoinSet::new();
    for path in ["/api/score", "/api/attention", "/rerank"] {
        for _ in 0..5 {
            let body = scoring_body(path, "cross-tiny:cross", "a", &["b".to_owned()]);
            let asked = request("POST", path, &body.to_string());
            waiting.spawn(site.router.clone().oneshot(asked));
        }
    }
    let look = GetStudyRequest {
        study: "open".to_owned(),
        controls: Default::default(),
    };
    let looked = tokio::time::timeout(Duration::from_secs(60), site.ask(&look)).await;
    assert_eq!(looked.unwrap().status, StatusCode::OK);
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(
        (waiting.len(), ranker.sequence_and_token_counts().sequences),
        (15, 0)
    );
    assert!(waiting.try_join_next().is_none(), "all of them wait");
    waiting.abort_all();
    while let Some(ended) = waiting.join_next().await {
        assert!(ended.is_err(), "it had no turn");
    }
    drop(turn);
    // The next client in the queue gets the permit after the others have disconnected.
    drop(site.app.limits.scoring_turn().await);
    assert_eq!(ranker.sequence_and_token_counts().sequences, 0);
}

#[tokio::test]
async fn a_disconnected_client_frees_its_place_and_too_many_clients_are_refused() {
    let site = Site::new(ListenScope::Loopback).await;
    let rerank = RerankRequest {
        query: "rivers".to_owned(),
        texts: texts(&["sea"]),
        ..RerankRequest::default()
    };
    let asked = || as_request(RequestMethod::Post, RerankRequest::PATH, &rerank);
    // As if another ranking were being computed: all others wait.
    let turn = site.app.limits.scoring_turn().await;
    let mut waiting = tokio::task::JoinSet::new();
    for _ in 0..33 {
        waiting.spawn(site.router.clone().oneshot(asked()));
    }
    let crowded = tokio::time::timeout(Duration::from_secs(60), waiting.join_next()).await;
    let crowded = crowded.unwrap().unwrap().unwrap().unwrap();
    assert_eq!(crowded.status(), StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(crowded.headers()["retry-after"], "5");
    let answer = site.send(asked()).await;
    assert_eq!(answer.json::<ErrorResponse>().error_type, "overloaded");
    // All other requests are answered.
    assert_eq!(
        site.ask(&ListStudiesRequest {}).await.status,
        StatusCode::OK
    );
    waiting.abort_all();
    while let Some(ended) = waiting.join_next().await {
        assert!(ended.is_err(), "it had no turn");
    }
    drop(turn);
    assert_eq!(site.send(asked()).await.status, StatusCode::OK);
}

#[tokio::test]
async fn no_model_gives_anything_but_numbers() {
    for name in ["tiny", "cross-tiny", "splade-tiny"] {
        let folder = format!(
            "{}/../neural/tests/fixtures/{name}",
            env!("CARGO_MANIFEST_DIR")
        );
        let models =
            models::ModelRegistry::with_models_or_default(&[folder], neural::Device::Cpu).unwrap();
        for spec in models.ranker_specs() {
            let ranker = models.get_or_load_ranker(&spec).unwrap();
            for query in ["", " ", "rivers", "\u{fffd}\u{200b}"] {
                let texts = ["", " ", "\n", "sea", "\u{0}"].map(str::to_owned);
                for it in ranker.score_documents_in_detail(query, &texts).unwrap() {
                    let unit = ranker.score_scale().to_unit_interval(it.score);
                    assert!(
                        it.score.is_finite() && (0.0..=1.0).contains(&unit),
                        "{spec}"
                    );
                }
            }
        }
    }
}
