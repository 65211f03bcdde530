//! The server as programs use it, over a socket and with the types of the API.

mod visitors;

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex, Weak};

use serde_json::{Value, json};
use shared::api::{
    CancelScoringJobRequest, CreateScoringJobRequest, Endpoint, ErrorResponse, ExportStudyRequest,
    GetCollectionStatisticsRequest, GetInstanceRequest, GetJobScoresRequest, GetScoringJobRequest,
    GetServerInfoRequest, GetStudyRequest, JobState, ListInstancesRequest, ListScoringJobsRequest,
    ListStudiesRequest, ResumeScoringJobRequest, ScoreDocumentsRequest, ScoringJob,
};
use shared::probe::{Axiom, AxiomVariant, Probe};
use shared::study::controls::StudyPageControls;
use shared::study::instance_list::InstanceListOptions;

use crate::harness::{TestHome, TestServer, reply, tiny_collection, tiny_model};

/// A server with the demo study and without a model; it ends before its folder is removed.
struct Site {
    server: TestServer,
    _home: TestHome,
}

/// Returns the site that all running tests share.
fn site() -> Arc<Site> {
    static SHARED: Mutex<Weak<Site>> = Mutex::new(Weak::new());
    let mut shared = SHARED.lock().unwrap_or_else(|it| it.into_inner());
    if let Some(site) = shared.upgrade() {
        return site;
    }
    let home = TestHome::new();
    let site = Arc::new(Site {
        server: home.serve(&["--demo=lexical"]),
        _home: home,
    });
    *shared = Arc::downgrade(&site);
    site
}

const DEMO: &str = "demo";

fn listing(limit: u64) -> ListInstancesRequest {
    let listing = json!({
        "controls": {}, "axiom": "tfc1", "ranker": "bm25", "sort": "margin-ascending", "limit": limit,
    });
    ListInstancesRequest {
        study: DEMO.to_owned(),
        filter: serde_json::from_value(listing).unwrap(),
    }
}

#[test]
fn the_demo_study_is_read_through_every_endpoint() {
    let site = site();
    let server = &site.server;
    let about = server.call(&GetServerInfoRequest {});
    assert_eq!((about.models.len(), about.can_create_jobs), (0, true));

    let cards = server.call(&ListStudiesRequest {});
    assert_eq!(cards.len(), 1);
    let card = &cards[0];
    assert_eq!(
        (card.name.as_str(), card.n_docs, card.is_published),
        (DEMO, 512, true)
    );
    assert_eq!(card.rankers, ["BM25", "QL"]);

    let look = |dials: StudyPageControls| {
        server.call(&GetStudyRequest {
            study: DEMO.to_owned(),
            controls: dials,
        })
    };
    let overview = look(StudyPageControls::default());
    assert_eq!(overview.title, card.title);
    let turned = look(StudyPageControls {
        variant: Some(AxiomVariant::Code),
        ..StudyPageControls::default()
    });
    assert_ne!(turned, overview);

    let page = server.call(&listing(10));
    assert_eq!(page.rows.len(), 10);
    assert!(page.n_instances >= 100);
    let margins: Vec<f64> = page.rows.iter().map(|it| it.margin.unwrap()).collect();
    assert!(margins.is_sorted(), "{margins:?}");

    let shown = server.call(&GetInstanceRequest {
        study: DEMO.to_owned(),
        probe: Probe::Axiom(Axiom::Tfc1),
        variant: Some(AxiomVariant::Fixed),
        number: page.rows[0].number,
        tie_threshold: None,
    });
    assert_eq!(shown.query_id, page.rows[0].query_id);
    assert_eq!((shown.docs.len(), shown.verdicts.len()), (2, 2));
    assert!(shown.preconditions.iter().all(|it| it.holds()));

    let study = server.call(&ExportStudyRequest {
        study: DEMO.to_owned(),
    });
    assert_eq!(study.instances_hash, card.instances_hash);
    let statistics = server.call(&GetCollectionStatisticsRequest {
        study: DEMO.to_owned(),
    });
    assert_eq!(
        (statistics.totals, &statistics.terms),
        (study.totals, &study.terms)
    );

    assert_eq!(server.call(&ListScoringJobsRequest {}), []);
}

#[test]
fn what_is_not_there_is_unknown() {
    let site = site();
    let server = &site.server;
    let unknown = |(status, problem): (u16, ErrorResponse)| {
        assert_eq!(
            (status, problem.error_type.as_str()),
            (404, "unknown"),
            "{problem:?}"
        );
        problem.error
    };
    for study in ["none", "../demo", "<script>", "", "a\u{0}b"] {
        let asked = ExportStudyRequest {
            study: study.to_owned(),
        };
        unknown(server.try_call(&asked).unwrap_err());
    }
    let job = || "0".repeat(32);
    unknown(
        server
            .try_call(&GetScoringJobRequest { job: job() })
            .unwrap_err(),
    );
    unknown(
        server
            .try_call(&CancelScoringJobRequest { job: job() })
            .unwrap_err(),
    );
    unknown(
        server
            .try_call(&ResumeScoringJobRequest { job: job() })
            .unwrap_err(),
    );
    unknown(
        server
            .try_call(&GetJobScoresRequest {
                job: "../../x".to_owned(),
            })
            .unwrap_err(),
    );
    let score = ScoreDocumentsRequest {
        model: "none".to_owned(),
        query: "river".to_owned(),
        documents: vec!["a river".to_owned()],
    };
    unknown(server.try_call(&score).unwrap_err());
    let create = CreateScoringJobRequest {
        model: "none".to_owned(),
        title: String::new(),
        queries: vec!["river".to_owned()],
        documents: vec!["a river".to_owned()],
        pairs: vec![(0, 0)],
    };
    unknown(server.try_call(&create).unwrap_err());
    let mut asked = listing(1);
    asked.filter.ranker = "99".to_owned();
    unknown(server.try_call(&asked).unwrap_err());
    let show = GetInstanceRequest {
        study: DEMO.to_owned(),
        probe: Probe::Axiom(Axiom::Tp),
        variant: Some(AxiomVariant::Fixed),
        number: u64::MAX,
        tie_threshold: None,
    };
    unknown(server.try_call(&show).unwrap_err());

    for (path, type_) in [
        ("/api/none", "unknown"),
        ("/api", "unknown"),
        ("/v1", "unknown"),
        ("/v1/none", "unknown"),
        ("/v2/none", "unknown"),
    ] {
        let (status, problem) = reply::<Value>(server.get(path)).unwrap_err();
        assert_eq!(
            (status, problem.error_type.as_str()),
            (404, type_),
            "{path}"
        );
    }
}

#[test]
fn no_path_leads_out_of_the_folder_of_pages() {
    let site = site();
    let host = site.server.address.strip_prefix("http://").unwrap();
    // Written to the socket, since a client resolves the dots before it sends a path.
    for path in [
        "/../../../../../../etc/passwd",
        "/%2e%2e/%2e%2e/%2e%2e/%2e%2e/%2e%2e/etc/passwd",
        "/assets/..%2f..%2f..%2f..%2f..%2fetc/passwd",
        "//etc/passwd",
    ] {
        let mut stream = TcpStream::connect(host).unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 "), "{path}: {answer}");
        assert!(!answer.contains("root:"), "{path}: {answer}");
        // A path that is no file is a page of the app, which says that there is no such page.
        let is_page = answer.contains("<!DOCTYPE html>") || answer.contains("<!doctype html>");
        assert!(
            is_page || answer.starts_with("HTTP/1.1 4"),
            "{path}: {answer}"
        );
    }
}

#[test]
fn wrong_requests_are_the_callers_fault() {
    let site = site();
    let server = &site.server;
    let get = |query: &str| {
        let path = format!("/api/studies/demo?{query}");
        reply::<Value>(server.get(&path)).unwrap_err()
    };
    let post = |path: &str, body: Vec<u8>| {
        reply::<Value>(server.request("POST", path).body(body).send().unwrap()).unwrap_err()
    };
    let is = |(status, problem): (u16, ErrorResponse), expected: (u16, &str)| {
        assert_eq!(
            (status, problem.error_type.as_str()),
            expected,
            "{problem:?}"
        );
        assert!(!problem.error.is_empty());
    };
    let score = |body: &str| post(ScoreDocumentsRequest::PATH, body.as_bytes().to_vec());
    is(score("{"), (400, "json"));
    is(score("[]"), (422, "json"));
    is(score("{}"), (422, "json"));
    is(score("{\"model\": 7}"), (422, "json"));
    is(get("variant=loose"), (422, "setting"));
    is(get("tie_threshold=-1"), (422, "setting"));
    is(get("tie_threshold=inf"), (422, "setting"));
    is(get("length_tolerance=-1"), (422, "setting"));
    is(get("mode=code"), (422, "setting"));
    is(get("subset=all&subset=all"), (422, "setting"));
    is(get(&"[".repeat(2000)), (422, "setting"));
    assert_eq!(
        server.call(&listing(u64::MAX)).rows.len() as u64,
        InstanceListOptions::MAX_PAGE_SIZE
    );
    let mut asked = listing(1);
    asked.filter.offset = u64::MAX;
    assert_eq!(server.call(&asked).rows, []);
    asked.filter.min_margin = Some(1e308);
    assert_eq!(server.call(&asked).n_instances, 0);

    is(
        post(ScoreDocumentsRequest::PATH, b"\xff\x00".to_vec()),
        (400, "json"),
    );
    is(
        post(ScoreDocumentsRequest::PATH, b"".to_vec()),
        (400, "json"),
    );
    is(
        post(ScoreDocumentsRequest::PATH, vec![b'['; 1 << 20]),
        (422, "json"),
    );
    is(
        post(ScoreDocumentsRequest::PATH, vec![b' '; (16 << 20) + 1]),
        (413, "too-large"),
    );
    let score = |n: usize| json!({"model": "none", "query": "a", "documents": vec!["a"; n]});
    is(
        post(ScoreDocumentsRequest::PATH, score(0).to_string().into()),
        (422, "setting"),
    );
    is(
        post(ScoreDocumentsRequest::PATH, score(257).to_string().into()),
        (413, "too-large"),
    );
    let job = |pairs: Value| {
        let job = json!({
            "model": "none", "title": "", "queries": ["a"], "documents": ["b"], "pairs": pairs,
        });
        post(CreateScoringJobRequest::PATH, job.to_string().into())
    };
    is(job(json!([])), (422, "setting"));
    is(job(json!([[0, 1]])), (422, "setting"));
    is(job(json!([[0, 0], [0, 0]])), (422, "setting"));
    is(job(json!([[0, -1]])), (422, "json"));

    is(post(GetStudyRequest::PATH, b"{}".to_vec()), (405, "method"));
    let deleted = server
        .request("DELETE", ListScoringJobsRequest::PATH)
        .send()
        .unwrap();
    is(reply::<Value>(deleted).unwrap_err(), (405, "method"));
    let posted = server.request("POST", "/studies/demo").send().unwrap();
    is(reply::<Value>(posted).unwrap_err(), (405, "method"));
    assert_eq!(
        server.call(&ListScoringJobsRequest {}),
        [],
        "nothing was made"
    );
}

#[test]
fn every_answer_carries_what_keeps_a_browser_safe() {
    let site = site();
    for path in [
        "/",
        "/api/about",
        "/api/none",
        "/health",
        "/api/docs",
        "/studies/demo",
    ] {
        let answer = site.server.get(path);
        let header = |name: &str| {
            let value = answer.headers().get(name);
            value
                .unwrap_or_else(|| panic!("{path}: no {name}"))
                .to_str()
                .unwrap()
        };
        assert_eq!(header("x-content-type-options"), "nosniff", "{path}");
        assert_eq!(header("referrer-policy"), "same-origin", "{path}");
        assert_eq!(
            header("cross-origin-opener-policy"),
            "same-origin",
            "{path}"
        );
        assert_eq!(
            header("cross-origin-resource-policy"),
            "same-origin",
            "{path}"
        );
        let policy = header("content-security-policy");
        assert!(policy.contains("default-src 'none'") || policy.contains("default-src 'self'"));
        assert!(
            policy.contains("frame-ancestors 'none'"),
            "{path}: {policy}"
        );
        assert!(!policy.contains("'unsafe-eval'"), "{path}: {policy}");
        let scripts = policy
            .split(';')
            .find(|it| it.trim().starts_with("script-src"));
        assert!(
            !scripts.unwrap_or_default().contains("'unsafe-inline'"),
            "{path}: {policy}"
        );
        if path.starts_with("/api/a") {
            assert_eq!(header("cache-control"), "no-store");
        }
    }
}

#[test]
fn on_loopback_pages_of_other_sites_are_kept_out() {
    let site = site();
    let send = |method: &str, headers: &[(&str, &str)]| {
        let request = site
            .server
            .request(method, ListScoringJobsRequest::PATH)
            .body("{}");
        let request = headers
            .iter()
            .fold(request, |request, it| request.header(it.0, it.1));
        request.send().unwrap().status().as_u16()
    };
    assert_eq!(send("GET", &[]), 200);
    assert_eq!(send("GET", &[("host", "localhost")]), 200);
    assert_eq!(send("GET", &[("host", "rebound.example")]), 403);
    assert_eq!(send("POST", &[("origin", "http://evil.example")]), 403);
    assert_eq!(send("POST", &[("origin", "null")]), 403);
    assert_eq!(send("POST", &[("sec-fetch-site", "cross-site")]), 403);
    assert_eq!(
        send("POST", &[("origin", &site.server.address)]),
        422,
        "let in, but no job"
    );
}

#[test]
fn the_api_describes_every_path_it_has() {
    let site = site();
    let document: Value = site.server.get("/api/openapi.json").json().unwrap();
    let described: BTreeSet<&str> = document["paths"]
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    let known = [
        GetServerInfoRequest::PATH,
        ListStudiesRequest::PATH,
        GetStudyRequest::PATH,
        ListInstancesRequest::PATH,
        GetInstanceRequest::PATH,
        ExportStudyRequest::PATH,
        GetCollectionStatisticsRequest::PATH,
        ScoreDocumentsRequest::PATH,
        CreateScoringJobRequest::PATH,
        GetScoringJobRequest::PATH,
        GetScoringJobRequest::EVENTS_PATH,
        CancelScoringJobRequest::PATH,
        ResumeScoringJobRequest::PATH,
        GetJobScoresRequest::PATH,
    ];
    let missing: Vec<&str> = known
        .into_iter()
        .filter(|it| !described.contains(it))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
    let jobs = document["paths"][ListScoringJobsRequest::PATH]
        .as_object()
        .unwrap();
    assert!(jobs.contains_key("get") && jobs.contains_key("post"));
    let docs = site.server.get("/api/docs").text().unwrap();
    assert!(described.iter().all(|it| docs.contains(it)));
}

#[test]
fn the_example_requests_of_the_demo_study_are_answered() {
    let site = site();
    let document: Value = site.server.get("/api/openapi.json").json().unwrap();
    let paths = document["paths"].as_object().unwrap().values();
    let samples = paths.filter_map(|it| it["get"]["x-codeSamples"][0]["source"].as_str());
    // Without a model, the study has no late-interaction analysis and no end of reading.
    let needs_model = |it: &str| it.contains("/top-documents") || it.contains("/reading-ends");
    let mut addresses: Vec<&str> = samples
        .filter_map(|it| it.strip_prefix("GET "))
        .filter(|it| it.starts_with("/api/studies/demo") && !needs_model(it))
        .collect();
    assert!(addresses.len() > 10, "{addresses:?}");
    // Parameters that are left out have defaults.
    let base = "/api/studies/demo/rankers/bm25/probes/tfc1/instances";
    let instance = "/api/studies/demo/probes/tfc1/instances/0";
    let bare = [
        base.to_owned(),
        instance.to_owned(),
        "/api/studies/demo/compare/queries".to_owned(),
    ];
    addresses.extend(bare.iter().map(String::as_str));
    for address in addresses {
        let reply: Result<Value, _> = reply(site.server.get(address));
        assert!(reply.is_ok(), "{address}: {reply:?}");
    }
}

#[test]
fn operators_see_the_state_of_the_server() {
    let site = site();
    let health: Value = site.server.get("/health").json().unwrap();
    assert_eq!(health["status"], "ok");
    assert_eq!(
        health["scored"].as_array().unwrap().len(),
        1,
        "BM25 alone, without a model"
    );
    assert_eq!(site.server.get("/ready").text().unwrap(), "ready\n");
    site.server.call(&ListStudiesRequest {});
    let metrics = site.server.get("/metrics").text().unwrap();
    let counted = "axioscope_requests_total{path=\"/api/studies\",method=\"GET\",status=\"200\"}";
    assert!(metrics.contains(counted), "{metrics}");
    assert!(
        !site.server.log().contains("ERROR"),
        "{}",
        site.server.log()
    );
}

#[test]
fn what_is_large_comes_packed() {
    let site = site();
    let request = site.server.request("GET", "/api/studies/demo/export");
    let answer = request.header("accept-encoding", "br").send().unwrap();
    assert_eq!(answer.headers()["content-encoding"], "br");
    let request = site.server.request("GET", "/api/studies/demo/export");
    let answer = request.send().unwrap();
    assert!(answer.headers().get("content-encoding").is_none());
}
