//! Requests for studies, scores, jobs and pages, and invalid requests.

use std::collections::BTreeMap;

use shared::api::annotation::ExportTaskRequest;
use shared::first_paint::{FIRST_PAINT_ID, HOME_HEADING};

use super::*;

#[tokio::test]
async fn pages_of_other_sites_are_kept_out_on_loopback() {
    let site = Site::new(ListenScope::Loopback).await;
    let send = async |method: &str, headers: &[(&str, &str)]| {
        let asked = request(method, "/api/jobs", "{}");
        site.status(with_headers(asked, headers)).await
    };
    assert_eq!(send("GET", &[]).await, 200);
    assert_eq!(send("GET", &[("host", "rebound.example")]).await, 403);
    assert_eq!(send("GET", &[("host", "rebound.example:8080")]).await, 403);
    assert_eq!(send("POST", &[]).await, 422, "an empty job, but let in");
    let own = [
        ("origin", "http://localhost:8080"),
        ("sec-fetch-site", "same-origin"),
    ];
    assert_eq!(send("POST", &own).await, 422);
    for origin in [
        "http://evil.example",
        "http://localhost:9090",
        "https://localhost:8080",
        "null",
    ] {
        assert_eq!(send("POST", &[("origin", origin)]).await, 403, "{origin}");
    }
    assert_eq!(send("POST", &[("sec-fetch-site", "cross-site")]).await, 403);
}

#[tokio::test]
async fn visitors_see_what_is_published() {
    let site = Site::new(ListenScope::Network).await;
    let names = |answer: Answer| -> Vec<(String, bool)> {
        let cards: Vec<shared::study::overview::StudySummary> = answer.json();
        cards
            .into_iter()
            .map(|it| (it.name, it.is_published))
            .collect()
    };
    assert_eq!(
        names(site.ask(&ListStudiesRequest {}).await),
        [("open".to_owned(), true)]
    );
    let both = with_token(request("GET", "/api/studies", ""), &site.token);
    let both = names(site.send(both).await);
    assert_eq!(
        both,
        [("hidden".to_owned(), false), ("open".to_owned(), true)]
    );

    let export = |study: &str| ExportStudyRequest {
        study: study.to_owned(),
    };
    let found = site.ask(&export("open")).await;
    assert_eq!(found.json::<Study>(), study("open"));
    for name in ["hidden", "no-such", "../open"] {
        let (status, error) = site.ask(&export(name)).await.problem();
        assert_eq!(
            (status, error),
            (404, format!("there is no study named `{name}`"))
        );
    }
    let whole = as_request(
        RequestMethod::Get,
        ExportStudyRequest::PATH,
        &export("hidden"),
    );
    assert_eq!(
        site.send(with_token(whole, &site.token)).await.status,
        StatusCode::OK
    );

    site.app
        .store
        .set_study_visibility("open", StudyVisibility::Withdrawn)
        .await
        .unwrap();
    assert_eq!(
        site.ask(&export("open")).await.status,
        StatusCode::NOT_FOUND
    );
}

#[tokio::test]
async fn a_study_is_looked_at_and_made_again() {
    let site = Site::new(ListenScope::Loopback).await;
    let look = GetStudyRequest {
        study: "open".to_owned(),
        controls: Default::default(),
    };
    let overview: shared::study::overview::StudyOverview = site.ask(&look).await.json();
    assert_eq!(overview.title, "open");
    let mut again = study("open");
    again.definition.title = "Made again".to_owned();
    site.store_study(&again).await;
    let overview: shared::study::overview::StudyOverview = site.ask(&look).await.json();
    assert_eq!(overview.title, "Made again");
}

#[tokio::test]
async fn about_says_what_the_caller_may() {
    let site = Site::new(ListenScope::Network).await;
    let about: ServerInfoResponse = site.ask(&GetServerInfoRequest {}).await.json();
    assert!(!about.can_create_jobs);
    assert_eq!(about.max_documents, 8);
    let specs: Vec<&str> = about.models.iter().map(|it| it.spec.as_str()).collect();
    assert_eq!(specs, ["tiny:bi", "tiny:late"]);
    let about = with_token(request("GET", "/api/about", ""), &site.token);
    assert!(
        site.send(about)
            .await
            .json::<ServerInfoResponse>()
            .can_create_jobs
    );
}

#[tokio::test]
async fn bad_requests_are_the_callers_fault() {
    let site = Site::new(ListenScope::Loopback).await;
    let check = async |request: Request<Body>, status: u16, says: &str| {
        let path: String = request.uri().to_string().chars().take(200).collect();
        let (found, error) = site.send(request).await.problem();
        assert_eq!(found, status, "{path}: {error}");
        assert!(error.contains(says), "{path}: {error}");
    };
    let get = |path: &str| request("GET", path, "");
    let look = |study: &str, query: &str| get(&format!("/api/studies/{study}?{query}"));
    let negative = "tie_threshold: must be a number of at least 0";
    for (query, says) in [
        ("variant=%FF", "variant: unknown"),
        ("variant=loose", "variant: unknown variant `loose`"),
        ("tie_threshold=much", "`much` is not a number"),
        ("tie_threshold=inf", "`inf` is not a number"),
        ("length_tolerance=-1", "length_tolerance: invalid value"),
        ("tie_threshold=-1", negative),
        ("length_tolerance=1e999", "length_tolerance"),
        ("mode=code", "mode: is not a parameter here"),
        ("split=a&split=b", "split: is given twice"),
    ] {
        check(look("open", query), 422, says).await;
    }
    check(look("%3Cscript%3E", ""), 404, "no study named `<script>`").await;
    check(get("/api/studies/%FF"), 400, "").await;
    let list = |limit: &str| {
        let path = "/api/studies/open/rankers/99/probes/tfc1/instances";
        get(&format!("{path}?limit={limit}"))
    };
    check(list("-1"), 422, "limit: invalid value").await;
    check(list("many"), 422, "limit: `many` is not a number").await;
    check(list("10"), 404, "no ranker named `99`").await;
    let deep = format!(r#"{{"model":"tiny:bi","x":{}"#, "[".repeat(5_000));
    let long = " ".repeat((16 << 20) + 1);
    let unknown = "ranker: is not a field of this request; /api/docs lists its fields";
    for (body, status, says) in [
        ("{", 400, "the body is not JSON"),
        ("[]", 422, "the body"),
        ("", 400, "EOF"),
        (r#"{"ranker": "tiny:bi"}"#, 422, unknown),
        ("{}", 422, "missing field `model`"),
        (r#"{"model": 7}"#, 422, "expected a string"),
        (&deep, 400, "EOF"),
        (&long, 413, "16 MiB"),
    ] {
        check(request("POST", "/api/score", body), status, says).await;
    }
    check(
        request("POST", "/api/score?model=x", "{}"),
        422,
        "model: is not a parameter here; there are none",
    )
    .await;
    check(
        get("/api/studies/open/late-interaction/0/top-documents"),
        422,
        "missing field `query`",
    )
    .await;
    let score = |n_documents: usize| score_request("no-such", "a", n_documents);
    check(score(1), 404, "no model named `no-such` among `tiny:bi`").await;
    check(score(0), 422, "nothing to score").await;
    check(score(257), 413, "257 documents are too many; 256 at most").await;
    check(get("/api/no-such"), 404, "/api/docs").await;
    check(get("/api"), 404, "/api/docs").await;
    for (method, path, body, says) in [
        (
            "DELETE",
            "/api/jobs",
            "",
            "/api/jobs does not support DELETE",
        ),
        ("PUT", "/api/studies", "{}", "does not support PUT"),
        ("POST", "/studies/open", "{}", "does not support POST"),
    ] {
        check(request(method, path, body), 405, says).await;
    }
    let watch = GetScoringJobRequest {
        job: "no-such".to_owned(),
    };
    for path in [
        GetScoringJobRequest::PATH,
        GetScoringJobRequest::EVENTS_PATH,
    ] {
        let asked = as_request(RequestMethod::Get, path, &watch);
        check(asked, 404, "no job named").await;
    }
}

/// Returns a request for the scores of equal documents.
fn score_request(model: &str, document: &str, n_documents: usize) -> Request<Body> {
    request_for(&ScoreDocumentsRequest {
        model: model.to_owned(),
        query: "river".to_owned(),
        documents: vec![document.to_owned(); n_documents],
    })
}

#[tokio::test]
async fn visitors_score_a_little_and_not_too_often() {
    let site = Site::new(ListenScope::Network).await;
    let from = |last: u8, texts: usize| {
        let mut request = score_request("tiny:late", "a river", texts);
        let address = SocketAddr::from((IpAddr::from([192, 0, 2, last]), 1));
        request.extensions_mut().insert(ConnectInfo(address));
        request
    };
    let scored: ScoreDocumentsResponse = site.send(from(1, 8)).await.json();
    assert_eq!((scored.scores.len(), scored.similarities.len()), (8, 8));
    assert!(scored.scores.iter().all(|it| *it == scored.scores[0]));
    let (status, error) = site.send(from(1, 9)).await.problem();
    assert_eq!(
        (status, error.as_str()),
        (
            413,
            "9 documents are too many; 8 at most, so send less at once"
        )
    );
    let mut answers = Vec::new();
    for _ in 0..site.n_scorings_at_once() + 2 {
        answers.push(site.send(from(1, 1)).await);
    }
    let last = answers.last().unwrap();
    assert_eq!(last.status, StatusCode::TOO_MANY_REQUESTS);
    assert!(last.header("retry-after").parse::<u64>().unwrap() >= 1);
    assert_eq!(
        site.send(from(2, 1)).await.status,
        StatusCode::OK,
        "others are not in the way"
    );
    let operator = with_token(from(1, 9), &site.token);
    assert_eq!(
        site.send(operator).await.status,
        StatusCode::OK,
        "nor is the operator"
    );
}

#[tokio::test]
async fn a_job_is_made_watched_and_fetched() {
    let site = Site::new(ListenScope::Loopback).await;
    let created: ScoringJob = site.ask(&create("tiny:bi")).await.json();
    assert_eq!((created.state, created.n_scored), (JobState::Queued, 0));
    let stopping = site.app.shutdown.clone();
    let working = work::run_job_worker(site.app.jobs.clone(), work::OtherServers::None, stopping);
    let worker = tokio::spawn(working);

    let watch = GetScoringJobRequest {
        job: created.id.clone(),
    };
    let watch_events = || {
        let path = GetScoringJobRequest::EVENTS_PATH;
        site.send(as_request(RequestMethod::Get, path, &watch))
    };
    let events = watch_events().await;
    assert_eq!(events.header("content-type"), "text/event-stream");
    let text = String::from_utf8(events.body.to_vec()).unwrap();
    let steps: Vec<ScoringJob> = text
        .split("\n\n")
        .filter_map(|it| it.strip_prefix("event: job\ndata: "))
        .map(|it| serde_json::from_str(it).unwrap())
        .collect();
    assert!(steps.len() > 3, "{text}");
    assert!(steps.is_sorted_by_key(|it| it.n_scored));
    let last = steps.last().unwrap();
    assert_eq!((last.state, last.n_scored), (JobState::Done, last.n_pairs));
    worker.abort();

    // After a reload, the final state is sent at once and ends the stream.
    let again = watch_events().await;
    let again = String::from_utf8(again.body.to_vec()).unwrap();
    assert_eq!(again.matches("event: job").count(), 1);
    assert_eq!(site.ask(&watch).await.json::<ScoringJob>(), *last);
    let scores: JobScoresResponse = site
        .ask(&GetJobScoresRequest { job: created.id })
        .await
        .json();
    assert_eq!(scores.scores.iter().flatten().count() as u64, last.n_pairs);
}

#[tokio::test]
async fn those_who_watch_are_let_go_when_the_server_ends() {
    let site = Site::new(ListenScope::Loopback).await;
    let created: ScoringJob = site.ask(&create("tiny:bi")).await.json();
    let watch = GetScoringJobRequest { job: created.id };
    let events = site.send(as_request(
        RequestMethod::Get,
        GetScoringJobRequest::EVENTS_PATH,
        &watch,
    ));
    let (events, ()) = tokio::join!(events, async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        site.stop.send(true).unwrap();
    });
    assert_eq!(events.status, StatusCode::OK);
    assert_eq!(
        site.get("/ready").await.status,
        StatusCode::SERVICE_UNAVAILABLE
    );
}

#[tokio::test]
async fn pages_come_with_what_keeps_them_safe() {
    let site = Site::new(ListenScope::Loopback).await;
    for path in ["/", "/index.html", "/studies/open?variant=fixed"] {
        let page = site.get(path).await;
        assert_eq!(page.status, StatusCode::OK, "{path}");
        assert_eq!(page.header("content-type"), "text/html; charset=utf-8");
        assert_eq!(page.header("cache-control"), "no-cache");
        assert_eq!(page.header("x-content-type-options"), "nosniff");
        let policy = page.header("content-security-policy");
        assert!(
            policy.contains("script-src 'self' 'wasm-unsafe-eval' 'sha256-"),
            "{policy}"
        );
        assert!(
            !policy.contains("script-src 'self' 'unsafe-inline'"),
            "{policy}"
        );
    }
    let hashed = site.get("/app-0123456789abcdef.js").await;
    assert!(hashed.header("cache-control").contains("immutable"));
    let worker = site.get("/w.js").await;
    assert_eq!(worker.header("cache-control"), "no-cache");
    let mut again = request("GET", "/w.js", "");
    again
        .headers_mut()
        .insert("if-none-match", worker.header("etag").parse().unwrap());
    assert_eq!(site.send(again).await.status, StatusCode::NOT_MODIFIED);
    assert_eq!(site.get("/no-such.js").await.problem().0, 404);
    let mut pressed = request("GET", "/w.js", "");
    pressed
        .headers_mut()
        .insert("accept-encoding", "gzip, br".parse().unwrap());
    assert_eq!(site.send(pressed).await.header("content-encoding"), "br");
    // With `*`, the client has the file whatever its tag is.
    for path in ["/w.js", "/app-0123456789abcdef.js"] {
        let known = with_headers(request("GET", path, ""), &[("if-none-match", "*")]);
        assert_eq!(site.send(known).await.status, StatusCode::NOT_MODIFIED);
    }
    let api = site.get("/api/about").await;
    assert_eq!(api.header("cache-control"), "no-store");
    assert!(
        api.header("content-security-policy")
            .contains("default-src 'none'")
    );
}

#[tokio::test]
async fn a_page_comes_with_its_heading_unless_the_study_is_not_published() {
    let site = Site::new(ListenScope::Network).await;
    let page = async |path: &str| {
        let page = site.get(path).await;
        assert_eq!(page.status, StatusCode::OK, "{path}");
        String::from_utf8(page.body.to_vec()).unwrap()
    };
    let heading = |it: &str| format!("<h1>{it}</h1>");
    let index = page("/workbench").await;
    assert!(!index.contains(FIRST_PAINT_ID), "{index}");
    assert!(page("/").await.contains(&heading(HOME_HEADING)));
    assert!(page("/studies/open").await.contains(&heading("open")));
    for path in [
        "/studies/hidden",
        "/studies/no-such",
        "/studies/open/probes/tfc1/instances/0",
        "/studies/open/probes/no-such/instances/0",
        "/playground?q=mine",
    ] {
        assert_eq!(page(path).await, index, "{path}");
    }
    // The tag is that of the content.
    let tag = async |path: &str| site.get(path).await.header("etag").to_owned();
    assert_ne!(tag("/").await, tag("/workbench").await);
    assert_eq!(tag("/").await, tag("/studies").await);
}

#[tokio::test]
async fn the_api_describes_itself() {
    let site = Site::new(ListenScope::Loopback).await;
    let document: Value = site.get("/api/openapi.json").await.json();
    let mut named: BTreeMap<String, Value> = BTreeMap::new();
    for it in Endpoints::all().operations() {
        for (name, schema) in (it.schemas)().named() {
            let schema = serde_json::to_value(schema).unwrap();
            let other = named.insert(name.clone(), schema.clone());
            assert!(other.is_none_or(|it| it == schema), "two types are {name}");
        }
        let method = it.method.to_string().to_lowercase();
        let operation = &document["paths"][it.path][&method];
        assert!(operation["summary"].is_string(), "{} {operation}", it.path);
    }
    // Every schema that is referred to exists.
    let text = document.to_string();
    for rest in text.split("\"#/components/schemas/").skip(1) {
        let name = rest.split('"').next().unwrap();
        assert!(
            document["components"]["schemas"][name].is_object(),
            "{name}"
        );
    }
    // A parameter that tells variants apart has the words of all of them.
    let export = &document["paths"][ExportTaskRequest::PATH]["get"]["parameters"];
    let mut parameters = export.as_array().unwrap().iter();
    let format = parameters.find(|it| it["name"] == "format").unwrap();
    assert_eq!(format["schema"]["enum"], json!(["jsonl", "csv", "prefs"]));
    let docs = site.get("/api/docs").await;
    let docs = String::from_utf8(docs.body.to_vec()).unwrap();
    assert!(docs.contains("GET /api/jobs/{job}/events") && !docs.contains("<script"));
}

#[tokio::test]
async fn health_is_a_score() {
    let site = Site::new(ListenScope::Loopback).await;
    let health: Value = site.get("/health").await.json();
    assert_eq!(
        health["scored"][0]["ranker"],
        "bm25:k1=1.2,b=0.75,k3=inf,idf=lucene"
    );
    assert_eq!(site.get("/ready").await.status, StatusCode::OK);

    let site = Site::new(ListenScope::Loopback).await;
    site.ask(&GetServerInfoRequest {}).await;
    // Requests for a missing model change nothing.
    let asked = json!({"model": "tiny:cross", "query": "a", "documents": ["b"]});
    let asked = request("POST", "/api/score", &asked.to_string());
    assert_eq!(site.send(asked).await.problem().0, 404);
    let health: Value = site.get("/health").await.json();
    assert_eq!(health["scored"][2]["ranker"], "tiny:late");
    let metrics = site.get("/metrics").await;
    let metrics = String::from_utf8(metrics.body.to_vec()).unwrap();
    assert!(
        metrics.contains("axioscope_requests_total{path=\"/api/about\""),
        "{metrics}"
    );
    assert!(metrics.contains("axioscope_jobs_unfinished"), "{metrics}");
}

#[tokio::test]
async fn answers_are_compressed_as_the_caller_takes_them() {
    let site = Site::new(ListenScope::Loopback).await;
    let coding = async |path: &str, accepted: &str| {
        let asked = with_headers(request("GET", path, ""), &[("accept-encoding", accepted)]);
        let answer = site.send(asked).await;
        assert_eq!(answer.header("vary"), "accept-encoding", "{path}");
        answer.header("content-encoding").to_owned()
    };
    for path in ["/w.js", "/api/openapi.json", "/api/docs"] {
        for (accepted, found) in [
            ("gzip, deflate, br", "br"),
            ("br;q=0.5", "br"),
            ("br;q=0, gzip;q=0.1", "gzip"),
            ("zstd", ""),
            ("identity", ""),
        ] {
            assert_eq!(coding(path, accepted).await, found, "{path} {accepted}");
        }
    }
    let asked = ExportStudyRequest {
        study: "open".to_owned(),
    };
    let asked = || as_request(ExportStudyRequest::METHOD, ExportStudyRequest::PATH, &asked);
    let plain = site.send(asked()).await;
    assert_eq!(plain.header("content-encoding"), "");
    assert_eq!(plain.json::<Study>(), study("open"));
    let gzip = site.send(with_headers(asked(), &[("accept-encoding", "gzip")]));
    let gzip = gzip.await;
    assert_eq!(gzip.header("content-encoding"), "gzip");
    let unpacked = flate2::read::GzDecoder::new(&gzip.body[..]);
    assert_eq!(std::io::read_to_string(unpacked).unwrap(), plain.body);
    let brotli = site.send(with_headers(asked(), &[("accept-encoding", "br")]));
    let brotli = brotli.await;
    assert_eq!(brotli.header("content-encoding"), "br");
    let mut unpacked = Vec::new();
    brotli::BrotliDecompress(&mut &brotli.body[..], &mut unpacked).unwrap();
    assert_eq!(unpacked, plain.body);
}

#[tokio::test]
async fn a_client_that_accepts_no_coding_gets_an_error() {
    let site = Site::new(ListenScope::Loopback).await;
    for path in ["/w.js", "/", "/api/studies", "/api/studies/open/export"] {
        let asked = with_headers(
            request("GET", path, ""),
            &[("accept-encoding", "identity;q=0")],
        );
        let answer = site.send(asked).await;
        let (status, error) = answer.problem();
        assert_eq!(status, 406, "{path}");
        assert!(error.contains("`Accept-Encoding`"), "{error}");
        assert_eq!(answer.header("x-content-type-options"), "nosniff");
    }
}
