//! Rankings for other programs.

use shared::api::rerank::{GivenDocument, RankedDocuments, RankedText, Rerank, RerankDocuments};

use super::*;

fn texts(texts: &[&str]) -> Option<Vec<String>> {
    Some(texts.iter().map(|&it| it.to_owned()).collect())
}

/// What the model itself says.
fn said(site: &Site, ranker: &str, query: &str, texts: &[&str]) -> Vec<f64> {
    let texts: Vec<String> = texts.iter().map(|&it| it.to_owned()).collect();
    let ranker = site.app.models.get(ranker).unwrap();
    let said = ranker.say(query, &texts).unwrap();
    said.iter().map(|it| it.score).collect()
}

#[tokio::test]
async fn texts_are_ranked_as_the_model_scores_them() {
    let site = Site::new(Door::Loopback).await;
    let given = ["a river", "", "hill and river and hill", "the sea"];
    let rerank = |raw_scores: bool| Rerank {
        query: "where do rivers end".to_owned(),
        texts: texts(&given),
        raw_scores: Some(raw_scores),
        return_text: Some(raw_scores),
        ..Rerank::default()
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
        // (1 + c) / 2, since it is a cosine.
        assert_eq!((unit.index, unit.text.as_deref()), (raw.index, None));
        assert!((unit.score - (1.0 + raw.score) / 2.0).abs() < 1e-12);
    }
}

#[tokio::test]
async fn documents_are_ranked_as_coheres_clients_expect() {
    let site = Site::new(Door::Loopback).await;
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
        let ranked: RankedDocuments = answer.json();
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
    // As vLLM's clients ask: all documents, and scores as they are.
    let asked = RerankDocuments {
        query: "rivers".to_owned(),
        documents: given.map(|it| GivenDocument::Text(it.to_owned())).to_vec(),
        model: Some("tiny:late".to_owned()),
        top_n: Some(0),
        use_activation: Some(false),
        ..RerankDocuments::default()
    };
    let ranked: RankedDocuments = site.ask(&asked).await.json();
    assert_eq!(ranked.results.len(), 3);
    assert!((ranked.results[0].relevance_score - said[best[0]]).abs() < 1e-6);
    assert_eq!(ranked.results[0].document, None);
}

#[tokio::test]
async fn rankings_that_cannot_be_made_say_why() {
    let site = Site::new(Door::Loopback).await;
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
        error.contains("10001 texts") && error.contains("10000 at most"),
        "{error}"
    );
    let long = "river ".repeat(200_000);
    let (status, error) = problem(json!({"query": "a", "texts": [long]})).await;
    assert_eq!(status, 413);
    assert!(error.contains("1000000 at most"), "{error}");
    // Longer than the model reads, and shorter than the bound.
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
    let ranked: RankedDocuments = site
        .send(request("POST", "/v1/rerank", &asked.to_string()))
        .await
        .json();
    assert_eq!(ranked.meta.warnings.len(), 1);
}

#[tokio::test]
async fn what_is_not_to_be_cut_is_refused_before_anything_is_computed() {
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../neural/tests/fixtures");
    for name in ["tiny:late", "tiny:bi+meanp=5/5", "cross-tiny:cross"] {
        let folder = format!("{fixtures}/{}", name.split(':').next().unwrap());
        let models = models::Models::new(&[folder], neural::Device::Cpu).unwrap();
        let site = Site::with(Door::Loopback, models).await;
        let ranker = site.app.models.get(name).unwrap();
        let before = ranker.reads();
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
        assert_eq!(ranker.reads(), before, "{name}");
        // [CLS] a [SEP] of the query for each of [CLS] a [SEP] and [CLS] a a [SEP].
        let body = json!({"model": name, "query": "a", "documents": ["a", "a a"]});
        let ranked: RankedDocuments = asked(&body).await.json();
        assert_eq!(ranked.usage.total_tokens, 3 + 3 + 3 + 4, "{name}");
    }
    // The same plan as that of a job.
    let ranker = models::tests::tiny().get("tiny:bi+maxp=5/3").unwrap();
    let given: Vec<String> = (0..200).map(|it| "a b d ".repeat(it % 23)).collect();
    let pairs: Vec<(u32, u32)> = (0..200).map(|it| (0, it)).collect();
    let survey = ranker.survey("a", &given, 256, |_| Ok(())).unwrap();
    assert_eq!(survey.batches, ranker.plan(&given, &pairs, 256).unwrap());
}

#[tokio::test]
async fn only_so_many_texts_come_back_as_are_asked_for() {
    let site = Site::new(Door::Loopback).await;
    let ranked = async |top_n: u64| -> Vec<RankedText> {
        let asked = Rerank {
            query: "rivers".to_owned(),
            texts: texts(&["a river", "hill", "the sea"]),
            top_n: Some(top_n),
            return_documents: Some(true),
            ..Rerank::default()
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
    let site = Site::new(Door::Open).await;
    let rerank = |n: usize| Rerank {
        query: "rivers".to_owned(),
        texts: texts(&vec!["sea"; n]),
        ..Rerank::default()
    };
    assert_eq!(site.ask(&rerank(8)).await.status, StatusCode::OK);
    assert_eq!(
        site.ask(&rerank(9)).await.status,
        StatusCode::PAYLOAD_TOO_LARGE
    );
    let many = as_request(Method::Post, Rerank::PATH, &rerank(9));
    let many = site.send(with_token(many, &site.token)).await;
    assert_eq!(many.status, StatusCode::OK);
}

#[tokio::test]
async fn whoever_leaves_gives_up_the_place_and_too_many_are_told_to_come_again() {
    let site = Site::new(Door::Loopback).await;
    let rerank = Rerank {
        query: "rivers".to_owned(),
        texts: texts(&["sea"]),
        ..Rerank::default()
    };
    let asked = || as_request(Method::Post, Rerank::PATH, &rerank);
    // As if another ranking were computed: all others wait.
    let turn = site.app.limits.turn().await;
    let mut waiting = tokio::task::JoinSet::new();
    for _ in 0..33 {
        waiting.spawn(site.router.clone().oneshot(asked()));
    }
    let crowded = tokio::time::timeout(Duration::from_secs(60), waiting.join_next()).await;
    let crowded = crowded.unwrap().unwrap().unwrap().unwrap();
    assert_eq!(crowded.status(), StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(crowded.headers()["retry-after"], "5");
    let answer = site.send(asked()).await;
    assert_eq!(answer.json::<Problem>().error_type, "overloaded");
    // Everything else is answered.
    assert_eq!(site.ask(&Studies {}).await.status, StatusCode::OK);
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
        let models = models::Models::new(&[folder], neural::Device::Cpu).unwrap();
        for spec in models.specs() {
            let ranker = models.get(&spec).unwrap();
            for query in ["", " ", "rivers", "\u{fffd}\u{200b}"] {
                let texts = ["", " ", "\n", "sea", "\u{0}"].map(str::to_owned);
                for it in ranker.say(query, &texts).unwrap() {
                    let unit = ranker.scale().unit(it.score);
                    assert!(
                        it.score.is_finite() && (0.0..=1.0).contains(&unit),
                        "{spec}"
                    );
                }
            }
        }
    }
}
