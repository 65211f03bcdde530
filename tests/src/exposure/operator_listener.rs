//! Operators and metrics at a listener of their own.

use reqwest::blocking::Client;
use shared::api::people::OperatorSignInRequest;
use shared::api::{Endpoint, GetServerInfoRequest, ServerInfoResponse};

use crate::harness::{TestHome, reply};

#[test]
fn operators_and_metrics_are_at_a_listener_of_their_own() {
    let home = TestHome::new();
    let args = [
        "--operator-listen",
        "127.0.0.1:0",
        "--public-url",
        "https://axioscope.example",
    ];
    let server = home.serve_with_auth(home.program(), &args);
    let token = server.token.as_ref().unwrap();
    let operators = server.operator_address.as_ref().unwrap();
    assert_ne!(operators, &server.address);
    let link = server.link.as_ref().unwrap();
    let link = link.strip_prefix(&format!("{operators}/operator#"));
    let link = link.expect("the link leads to the operators' listener");
    let client = Client::new();
    let at_operators = |method: &str, path: &str| {
        let method = reqwest::Method::from_bytes(method.as_bytes()).unwrap();
        client.request(method, format!("{operators}{path}"))
    };
    for (method, path) in [
        ("GET", "/metrics"),
        ("GET", "/operator"),
        ("GET", "/operator/"),
        ("GET", "/api/jobs"),
        ("POST", "/api/jobs"),
        ("GET", "/api/cluster-jobs"),
        ("GET", "/api/models"),
        ("POST", "/api/trainings"),
        ("POST", "/api/session/operator"),
    ] {
        let asked = server.request(method, path).bearer_auth(token);
        assert_eq!(asked.send().unwrap().status(), 404, "{method} {path}");
    }
    for path in ["/health", "/ready", "/api/studies", "/api/trainings"] {
        assert_eq!(server.get(path).status(), 200, "{path}");
        let there = at_operators("GET", path).send().unwrap();
        assert_eq!(there.status(), 200, "{path}");
    }
    for path in ["/metrics", "/api/jobs", "/api/models"] {
        let visitor = at_operators("GET", path).send().unwrap();
        assert_eq!(visitor.status(), 401, "{path}");
        let operator = at_operators("GET", path).bearer_auth(token);
        assert_eq!(operator.send().unwrap().status(), 200, "{path}");
    }
    let public = server.call(&GetServerInfoRequest {});
    assert!(!public.has_operator_page);
    let about = at_operators("GET", GetServerInfoRequest::PATH).send();
    let about: ServerInfoResponse = reply(about.unwrap()).unwrap();
    assert!(about.has_operator_page);

    // The link signs in a browser there, without TLS on loopback.
    let sign_in = serde_json::to_string(&OperatorSignInRequest {
        token: link.to_owned(),
    });
    let signed_in = at_operators("POST", OperatorSignInRequest::PATH)
        .header("origin", operators)
        .body(sign_in.unwrap())
        .send()
        .unwrap();
    assert_eq!(signed_in.status(), 200);
    let cookie = signed_in.headers()["set-cookie"].to_str().unwrap();
    let cookie = cookie.split(';').next().unwrap();
    let jobs = at_operators("GET", "/api/jobs").header("cookie", cookie);
    assert_eq!(jobs.send().unwrap().status(), 200);
}

#[test]
fn two_listeners_need_two_addresses() {
    let home = TestHome::new();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let line = format!("serve --listen 127.0.0.1:0 --operator-listen {address}");
    let ran = home.run(&line);
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    ran.expect_stderr("choose another by `--operator-listen`");
}
