//! The server behind a proxy: how clients are counted, and which requests are rejected.

use shared::api::people::{AcceptInvitationRequest, OperatorSignInRequest};

use super::people::kept;
use super::*;

const PROXY: [u8; 4] = [127, 0, 0, 1];
const SITE: &str = "axioscope.example";

/// Returns a server on loopback behind a trusted proxy, with the public URL [`SITE`].
async fn site() -> Site {
    let exposure = NetworkExposure {
        trusted_proxies: vec![parse_network("127.0.0.1").unwrap()],
        public_url: Some(format!("https://{SITE}").parse().unwrap()),
        ..exposure(ListenScope::Loopback)
    };
    Site::exposed(exposure, models::tests::tiny()).await
}

/// Returns a request as the proxy forwards it for a client, after the headers of the client itself.
fn passed_on(client: &str, request: Request<Body>) -> Request<Body> {
    let mut request = with_headers(request, &[("host", SITE)]);
    let client = client.parse().unwrap();
    request.headers_mut().append("x-forwarded-for", client);
    from(PROXY, request)
}

/// Returns a scoring request. Its rate limit is checked before the model is looked up.
fn rerank() -> Request<Body> {
    request(
        "POST",
        "/rerank",
        r#"{"query": "river", "texts": ["a river"]}"#,
    )
}

/// Returns whether that many requests can be answered before the rate limit: those at once, and a
/// few that are let in meanwhile.
fn is_limit(site: &Site, n: usize) -> bool {
    let at_once = site.n_scorings_at_once();
    (at_once..at_once + 10).contains(&n)
}

/// Returns how many requests of a client are answered before the rate limit.
async fn n_answered(site: &Site, make: impl Fn() -> Request<Body>) -> usize {
    for n in 0..100 {
        let answer = site.send(make()).await;
        if answer.status == StatusCode::TOO_MANY_REQUESTS {
            return n;
        }
        assert!(!answer.status.is_server_error(), "{}", answer.status);
    }
    100
}

#[tokio::test]
async fn a_request_for_another_host_is_told_the_public_address() {
    let site = site().await;
    let asked = with_headers(request("GET", "/", ""), &[("host", "other.example")]);
    let (status, error) = site.send(from(PROXY, asked)).await.problem();
    assert_eq!(status, 403);
    let expected = "answers as https://axioscope.example and as localhost, not as `other.example`";
    assert!(error.contains(expected), "{error}");
}

#[tokio::test]
async fn each_client_of_a_trusted_proxy_has_limits_of_their_own() {
    let site = site().await;
    for client in ["192.0.2.1", "192.0.2.2", "2001:db8::1"] {
        let n = n_answered(&site, || passed_on(client, rerank())).await;
        assert!(is_limit(&site, n), "{client}: {n}");
    }
    // A client cannot pass for another one by a header of its own, nor by another address of its
    // /64 network.
    let spoofed = || with_headers(rerank(), &[("x-forwarded-for", "203.0.113.7")]);
    assert_eq!(
        n_answered(&site, || passed_on("192.0.2.1", spoofed())).await,
        0
    );
    assert_eq!(
        n_answered(&site, || passed_on("2001:db8::2", rerank())).await,
        0
    );
    let next = n_answered(&site, || passed_on("2001:db8:0:1::1", rerank())).await;
    assert!(is_limit(&site, next), "another /64: {next}");
}

#[tokio::test]
async fn a_client_that_is_no_trusted_proxy_is_counted_as_itself() {
    let site = Site::new(ListenScope::Network).await;
    let mut n_let_in = 0;
    for at in 0..site.n_scorings_at_once() + 20 {
        let asked = with_headers(rerank(), &[("x-forwarded-for", &format!("192.0.2.{at}"))]);
        let answer = site.send(from([198, 51, 100, 1], asked)).await;
        n_let_in += usize::from(answer.status != StatusCode::TOO_MANY_REQUESTS);
    }
    assert!(is_limit(&site, n_let_in), "{n_let_in}");
}

#[tokio::test]
async fn wrong_tokens_of_one_client_never_block_another() {
    let site = site().await;
    let guess = |token: &SecretToken| {
        let token = token.reveal().to_owned();
        as_request(
            RequestMethod::Post,
            OperatorSignInRequest::PATH,
            &OperatorSignInRequest { token },
        )
    };
    let wrong = SecretToken::generate();
    let n = n_answered(&site, || passed_on("192.0.2.1", guess(&wrong))).await;
    assert_eq!(n, 10);
    let right = site.send(passed_on("192.0.2.2", guess(&site.link))).await;
    assert_eq!(right.status, StatusCode::OK);
}

#[tokio::test]
async fn no_header_of_a_client_makes_it_the_operator() {
    let without_auth = Site::new(ListenScope::Loopback).await;
    let behind_proxy = site().await;
    for header in [
        ("x-forwarded-for", "127.0.0.1"),
        ("x-forwarded-for", ""),
        ("forwarded", "for=127.0.0.1"),
        ("forwarded", "for=\"[::1]\";host=localhost"),
        ("x-forwarded-host", "localhost"),
        ("x-real-ip", "127.0.0.1"),
        ("via", "1.1 localhost"),
    ] {
        for site in [&without_auth, &behind_proxy] {
            let asked = with_headers(request("GET", "/api/jobs", ""), &[header]);
            let answer = site.send(from(PROXY, asked)).await;
            assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{header:?}");
        }
    }
}

#[tokio::test]
async fn a_session_that_begins_behind_the_proxy_is_kept_over_https_alone() {
    let site = site().await;
    let joining = AcceptInvitationRequest {
        token: None,
        name: "Olga".to_owned(),
        password: None,
    };
    let join = || {
        let asked = as_request(RequestMethod::Post, AcceptInvitationRequest::PATH, &joining);
        with_token(passed_on("192.0.2.1", asked), &site.token)
    };
    let plain = with_headers(join(), &[("origin", "http://axioscope.example")]);
    assert_eq!(site.send(plain).await.status, StatusCode::FORBIDDEN);
    let secure = with_headers(join(), &[("origin", "https://axioscope.example")]);
    let joined = site.send(secure).await;
    let cookie = joined.header("set-cookie");
    assert!(cookie.starts_with("__Host-axioscope="), "{cookie}");
    assert!(cookie.ends_with("; Secure"), "{cookie}");
    let cookie = cookie.split(';').next().unwrap();
    let me = passed_on("192.0.2.1", request("GET", GetSessionRequest::PATH, ""));
    let who: SessionResponse = site
        .send(with_headers(me, &[("cookie", cookie)]))
        .await
        .json();
    assert_eq!(who.role, AccessRole::Operator);
}

#[tokio::test]
async fn whatever_host_a_proxy_passes_on_a_session_is_kept_over_https_alone() {
    let site = site().await;
    let token = site.link.reveal().to_owned();
    let sign_in = |origin: &str| {
        let token = token.clone();
        let asked = OperatorSignInRequest { token };
        let asked = as_request(RequestMethod::Post, OperatorSignInRequest::PATH, &asked);
        with_headers(from(PROXY, asked), &[("origin", origin)])
    };
    // A browser on the machine would not keep the cookie, so the link is not used up.
    let (status, error) = site.send(sign_in("http://localhost:8080")).await.problem();
    assert_eq!(status, 403);
    assert!(error.contains("https://axioscope.example"), "{error}");
    // The header `Host` is `localhost:8080`.
    let answer = site.send(sign_in("https://axioscope.example")).await;
    let cookie = answer.header("set-cookie");
    assert!(cookie.starts_with("__Host-axioscope="), "{cookie}");
    assert!(cookie.ends_with("; Secure"), "{cookie}");
    let session = kept(&site, &answer);
    assert_eq!(site.get_session(&session).await.role, AccessRole::Operator);
    let out = site.sign_out(&session).await;
    let cookie = out.header("set-cookie");
    assert!(cookie.starts_with("__Host-axioscope=;"), "{cookie}");
    assert!(cookie.ends_with("; Secure"), "{cookie}");
}

#[tokio::test]
async fn only_pages_of_the_public_address_and_of_this_machine_change_something() {
    let site = site().await;
    let send = async |method: &str, headers: &[(&str, &str)]| {
        let asked = with_token(request(method, "/api/jobs", "{}"), &site.token);
        site.status(with_headers(asked, headers)).await
    };
    for (host, origin) in [
        (SITE, "https://axioscope.example"),
        // A proxy that does not forward the header `Host`.
        ("127.0.0.1:8017", "https://axioscope.example"),
        ("localhost:8017", "http://localhost:8017"),
    ] {
        let headers = [("host", host), ("origin", origin)];
        assert_eq!(
            send("POST", &headers).await,
            422,
            "an empty job, but let in"
        );
    }
    for origin in [
        "http://axioscope.example",
        "https://axioscope.example:8443",
        "https://evil.example",
        "https://localhost:8017",
        "null",
    ] {
        for host in [SITE, "127.0.0.1:8017"] {
            let headers = [("host", host), ("origin", origin)];
            assert_eq!(send("POST", &headers).await, 403, "{host} {origin}");
        }
    }
    for host in ["rebound.example", "axioscope.example.evil.example", ""] {
        assert_eq!(send("GET", &[("host", host)]).await, 403, "{host}");
    }
}

#[tokio::test]
async fn browsers_are_told_to_keep_to_https_where_the_public_address_has_it() {
    let behind_proxy = site().await;
    let answers = [
        behind_proxy
            .send(passed_on("192.0.2.1", request("GET", "/", "")))
            .await,
        behind_proxy
            .send(passed_on("192.0.2.1", request("GET", "/api/jobs", "")))
            .await,
    ];
    for answer in answers {
        assert_eq!(
            answer.header("strict-transport-security"),
            "max-age=31536000"
        );
    }
    let mut plain = exposure(ListenScope::Network);
    for public_url in [None, Some("http://intranet.example".parse().unwrap())] {
        plain.public_url = public_url;
        let site = Site::exposed(plain.clone(), models::tests::tiny()).await;
        assert_eq!(site.get("/").await.header("strict-transport-security"), "");
    }
}

#[test]
fn the_link_leads_to_where_the_server_is_reached() {
    for (listens, public_url, origin) in [
        ("127.0.0.1:8017", None, "http://127.0.0.1:8017"),
        ("0.0.0.0:8017", None, "http://127.0.0.1:8017"),
        ("[::]:8017", None, "http://[::1]:8017"),
        ("192.0.2.1:80", None, "http://192.0.2.1:80"),
        (
            "127.0.0.1:8017",
            Some("https://axioscope.example"),
            "https://axioscope.example",
        ),
    ] {
        let address: SocketAddr = listens.parse().unwrap();
        let exposure = NetworkExposure {
            public_url: public_url.map(|it| it.parse().unwrap()),
            ..exposure(ListenScope::from_address(address))
        };
        assert_eq!(exposure.origin(address), origin);
    }
}
