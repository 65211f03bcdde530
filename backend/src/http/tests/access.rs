//! Access rights: every route with every role, on loopback and on the network.

use std::collections::BTreeSet;

use super::*;

/// Every route with the lowest role that it admits. New endpoints must be added here.
const ROUTES: &[(AccessRole, RequestMethod, &[&str])] = &[
    (
        AccessRole::Visitor,
        RequestMethod::Get,
        &[
            "/api/about",
            "/api/session",
            "/api/studies",
            "/api/studies/{study}",
            "/api/studies/{study}/figures",
            "/api/studies/{study}/behavioral-tests",
            "/api/studies/{study}/late-interaction",
            "/api/studies/{study}/late-interaction/{ranker}/top-documents",
            "/api/studies/{study}/compare",
            "/api/studies/{study}/compare/queries",
            "/api/studies/{study}/compare/queries/{query_id}",
            "/api/studies/{study}/reproductions/{paper}/tables/{table}",
            "/api/studies/{study}/rankers/{ranker}/probes/{probe}/instances",
            "/api/studies/{study}/probes/{probe}/instances/{number}",
            "/api/studies/{study}/probes/{probe}/instances/{number}/reading-ends",
            "/api/studies/{study}/export",
            "/api/studies/{study}/collection-statistics",
            "/api/studies/{study}/verdict-counts",
            "/api/studies/{study}/human-judgments",
            "/api/studies/{study}/probes/{probe}/instances/{number}/annotations",
            "/api/annotation/tasks/{task}/trial-items",
            "/api/studies/{study}/trial-items",
            "/api/jobs/{job}",
            "/api/jobs/{job}/events",
            "/api/trainings",
            "/api/trainings/{training}",
            "/api/trainings/{training}/events",
            "/api/annotation/tasks",
            "/info",
            "/v1/models",
        ],
    ),
    (
        AccessRole::Visitor,
        RequestMethod::Post,
        &[
            "/api/invitations/lookup",
            "/api/invitations/accept",
            "/api/session",
            "/api/session/operator",
            "/api/score",
            "/api/attention",
            "/rerank",
            "/v1/rerank",
            "/v2/rerank",
        ],
    ),
    (
        AccessRole::Annotator,
        RequestMethod::Get,
        &[
            "/api/annotation/tasks/{task}",
            "/api/annotation/tasks/{task}/items/{item}",
            "/api/annotation/tasks/{task}/events",
            "/api/people/me/data",
        ],
    ),
    (
        AccessRole::Annotator,
        RequestMethod::Post,
        &[
            "/api/annotation/tasks/{task}/leases",
            "/api/annotation/tasks/{task}/events",
            "/api/people/me/delete",
        ],
    ),
    (
        AccessRole::Annotator,
        RequestMethod::Put,
        &["/api/session/password"],
    ),
    (
        AccessRole::Annotator,
        RequestMethod::Delete,
        &["/api/session"],
    ),
    (
        AccessRole::Curator,
        RequestMethod::Get,
        &[
            "/api/people",
            "/api/annotation/tasks/{task}/definition",
            "/api/annotation/tasks/{task}/progress",
            "/api/annotation/tasks/{task}/agreement",
            "/api/annotation/tasks/{task}/disputes",
            "/api/annotation/tasks/{task}/items/{item}/history",
            "/api/annotation/tasks/{task}/export",
        ],
    ),
    (
        AccessRole::Curator,
        RequestMethod::Post,
        &[
            "/api/invitations",
            "/api/people/revoke",
            "/api/annotation/tasks/preview",
            "/api/annotation/tasks",
        ],
    ),
    (
        AccessRole::Curator,
        RequestMethod::Patch,
        &["/api/annotation/tasks/{task}"],
    ),
    (
        AccessRole::Operator,
        RequestMethod::Get,
        &[
            "/api/jobs",
            "/api/jobs/{job}/scores",
            "/api/cluster-jobs",
            "/api/models",
        ],
    ),
    (
        AccessRole::Operator,
        RequestMethod::Post,
        &[
            "/api/studies",
            "/api/jobs",
            "/api/jobs/{job}/cancel",
            "/api/jobs/{job}/resume",
            "/api/cluster-jobs/{job}/cancel",
            "/api/trainings",
            "/api/trainings/{training}/cancel",
            "/api/trainings/{training}/resume",
            "/api/models/{model}/load",
        ],
    ),
    (
        AccessRole::Operator,
        RequestMethod::Patch,
        &["/api/studies/{study}", "/api/trainings/{training}"],
    ),
];

/// Returns an empty request. That is enough, since access rights are checked first.
fn knock(method: RequestMethod, path: &str) -> Request<Body> {
    let names = path.split('/').filter_map(path_parameter);
    let fields: serde_json::Map<String, Value> =
        names.map(|it| (it.to_owned(), json!("1"))).collect();
    as_request(method, path, &fields)
}

/// Returns whether a request was refused because of the caller. The error that tells an operator to
/// choose a name is not a refusal.
fn refused(answer: &Answer) -> bool {
    match answer.status.as_u16() {
        401 => true,
        403 => answer.json::<ErrorResponse>().error_type != "name",
        _ => false,
    }
}

fn each() -> impl Iterator<Item = (AccessRole, RequestMethod, &'static str)> {
    let paths = |it: &(AccessRole, RequestMethod, &'static [&'static str])| {
        let (role, method, paths) = *it;
        paths.iter().map(move |path| (role, method, *path))
    };
    ROUTES.iter().flat_map(paths)
}

#[test]
fn every_route_is_in_the_table() {
    let name = |method: RequestMethod, path: &str| format!("{method:?} {path}");
    let known: BTreeSet<String> = each().map(|(_, method, path)| name(method, path)).collect();
    let endpoints = Endpoints::all();
    let there = endpoints.operations().map(|it| name(it.method, it.path));
    assert_eq!(there.collect::<BTreeSet<_>>(), known);
}

#[tokio::test]
async fn each_role_is_let_in_where_it_should_be() {
    let site = Site::new(ListenScope::Network).await;
    let mut people = Vec::new();
    for &role in &AccessRole::ALL[1..] {
        people.push((role, site.somebody(role, role.name()).await));
    }
    for (least, method, path) in each() {
        let visitor = site.send(knock(method, path)).await;
        assert_eq!(
            refused(&visitor),
            least > AccessRole::Visitor,
            "visitor {path}"
        );
        if least > AccessRole::Visitor {
            assert_eq!(visitor.status, StatusCode::UNAUTHORIZED, "visitor {path}");
        }
        if least == AccessRole::Operator {
            assert_eq!(visitor.header("www-authenticate"), "Bearer");
        }
        for (role, it) in &people {
            // One session for each request, since one of the routes ends it.
            let session = site.begin_session(&it.person).await;
            let answer = site.send(site.by(knock(method, path), &session)).await;
            match *role >= least {
                true => assert!(!refused(&answer), "{role:?} {path} {}", answer.status),
                false => assert_eq!(answer.status, StatusCode::FORBIDDEN, "{role:?} {path}"),
            }
            if method != RequestMethod::Get {
                // A page of another site can make the browser send the cookie, but not the header.
                let csrf = it.session.csrf_token();
                for shown in [None, Some(csrf.as_str()), Some("")] {
                    let session = site.begin_session(&it.person).await;
                    let mut forged = site.by(knock(method, path), &session);
                    match shown {
                        Some(it) => forged
                            .headers_mut()
                            .insert(CSRF_HEADER, it.parse().unwrap()),
                        None => forged.headers_mut().remove(CSRF_HEADER),
                    };
                    let (status, error) = site.send(forged).await.problem();
                    assert_eq!(status, 403, "{role:?} {path} {shown:?}");
                    assert!(error.contains(CSRF_HEADER), "{error}");
                }
            }
        }
        let operator = site
            .send(with_token(knock(method, path), &site.token))
            .await;
        assert!(!refused(&operator), "token {path}");
        let wrong = site.send(with_token(knock(method, path), "wrong")).await;
        assert_eq!(
            refused(&wrong),
            least > AccessRole::Visitor,
            "wrong token {path}"
        );
    }
    assert_eq!(site.get("/metrics").await.status, StatusCode::UNAUTHORIZED);
    for path in ["/health", "/ready", "/api/docs", "/api/openapi.json"] {
        assert!(!refused(&site.get(path).await), "{path}");
    }
    for (role, it) in &people {
        // Setting a password has ended the earlier sessions.
        let session = site.begin_session(&it.person).await;
        let asked = site.by(request("GET", "/metrics", ""), &session);
        let expected = match role {
            AccessRole::Operator => StatusCode::OK,
            AccessRole::Visitor | AccessRole::Annotator | AccessRole::Curator => {
                StatusCode::FORBIDDEN
            }
        };
        assert_eq!(site.send(asked).await.status, expected);
    }
}

#[tokio::test]
async fn without_auth_a_loopback_client_without_a_session_is_the_operator() {
    let site = Site::new(ListenScope::Loopback).await;
    let annotator = site.somebody(AccessRole::Annotator, "Ada").await;
    for (least, method, path) in each() {
        let answer = site.send(knock(method, path)).await;
        assert!(!refused(&answer), "loopback {path}");
        // A client behind a proxy on this machine is a visitor as well.
        let mut brought = knock(method, path);
        let from = "192.0.2.1".parse().unwrap();
        brought.headers_mut().insert("x-forwarded-for", from);
        let answer = site.send(brought).await;
        assert_eq!(
            refused(&answer),
            least > AccessRole::Visitor,
            "proxy {path}"
        );
    }
    assert_eq!(site.get("/metrics").await.status, StatusCode::OK);
    // In this way operators can see what others see.
    let jobs = site.by(knock(RequestMethod::Get, "/api/jobs"), &annotator.session);
    assert_eq!(site.send(jobs).await.status, StatusCode::FORBIDDEN);
}

/// Requests as nginx forwards them by default: to a name of this machine and without a forwarding
/// header.
#[tokio::test]
async fn being_on_loopback_lets_nobody_in() {
    let site = Site::exposed(exposure(ListenScope::Loopback), models::tests::tiny()).await;
    for (least, method, path) in each() {
        for host in ["127.0.0.1:8017", "localhost", "[::1]:8017"] {
            let asked = with_headers(knock(method, path), &[("host", host)]);
            let answer = site.send(from([127, 0, 0, 1], asked)).await;
            assert_eq!(
                refused(&answer),
                least > AccessRole::Visitor,
                "{host} {path}"
            );
        }
        let operator = site
            .send(with_token(knock(method, path), &site.token))
            .await;
        assert!(!refused(&operator), "token {path}");
    }
    assert_eq!(site.get("/metrics").await.status, StatusCode::UNAUTHORIZED);
}

/// The other listener answers them; see [`being_on_loopback_lets_nobody_in`] for one that does.
#[tokio::test]
async fn the_public_listener_has_no_operator_routes() {
    let exposure = NetworkExposure {
        operator_endpoints: OperatorEndpoints::OnOtherListener,
        ..exposure(ListenScope::Network)
    };
    let site = Site::exposed(exposure, models::tests::tiny()).await;
    let sign_in = (
        AccessRole::Operator,
        RequestMethod::Post,
        "/api/session/operator",
    );
    let pages = ["/metrics", "/operator"].map(|it| (AccessRole::Operator, RequestMethod::Get, it));
    for (least, method, path) in each().chain([sign_in]).chain(pages) {
        let is_for_operators = least == AccessRole::Operator;
        if path == sign_in.2 && !is_for_operators {
            continue;
        }
        for asked in [
            knock(method, path),
            with_token(knock(method, path), &site.token),
        ] {
            let answer = site.send(asked).await;
            let says_so = String::from_utf8_lossy(&answer.body).contains("does not exist");
            let is_absent = says_so && answer.status == StatusCode::NOT_FOUND;
            assert_eq!(
                is_absent, is_for_operators,
                "{method} {path} {}",
                answer.status
            );
        }
    }
}

#[tokio::test]
async fn what_is_not_published_is_for_curators() {
    let site = Site::new(ListenScope::Network).await;
    let names = async |signed: Option<&Signed>| -> Vec<String> {
        let asked = request("GET", "/api/studies", "");
        let asked = match signed {
            Some(it) => site.by(asked, &it.session),
            None => asked,
        };
        let cards: Vec<shared::study::overview::StudySummary> = site.send(asked).await.json();
        cards.into_iter().map(|it| it.name).collect()
    };
    let hidden = ["", "/export", "/collection-statistics", "/behavioral-tests"];
    for &role in &AccessRole::ALL[1..] {
        let it = site.somebody(role, role.name()).await;
        let may = role >= AccessRole::Curator;
        let seen = names(Some(&it)).await;
        assert_eq!(seen.contains(&"hidden".to_owned()), may, "{role:?}");
        for path in hidden {
            let asked = request("GET", &format!("/api/studies/hidden{path}"), "");
            let answer = site.send(site.by(asked, &it.session)).await;
            assert_eq!(
                answer.status != StatusCode::NOT_FOUND,
                may,
                "{role:?} {path}"
            );
        }
    }
    assert_eq!(names(None).await, ["open"]);
}

#[tokio::test]
async fn pages_of_other_sites_are_kept_out_at_the_open_door() {
    let site = Site::new(ListenScope::Network).await;
    let it = site.somebody(AccessRole::Operator, "Ada").await;
    let send = async |method: &str, headers: &[(&str, &str)]| {
        let asked = site.by(request(method, "/api/jobs", "{}"), &it.session);
        site.status(with_headers(asked, headers)).await
    };
    assert_eq!(send("POST", &[]).await, 422, "an empty job, but let in");
    let host = ("host", "axioscope.example");
    for origin in ["https://axioscope.example", "https://AXIOSCOPE.example"] {
        assert_eq!(send("POST", &[host, ("origin", origin)]).await, 422);
    }
    for origin in [
        "https://evil.example",
        "https://axioscope.example.evil.example",
        "https://axioscope.example:8443",
        "null",
        "https://",
    ] {
        let headers = [host, ("origin", origin)];
        assert_eq!(send("POST", &headers).await, 403, "{origin}");
        assert_eq!(send("GET", &headers).await, 200, "it changes nothing");
    }
    for from in ["cross-site", "same-site"] {
        assert_eq!(send("POST", &[("sec-fetch-site", from)]).await, 403);
    }
    assert_eq!(
        send("POST", &[("sec-fetch-site", "same-origin")]).await,
        422
    );
    let program = with_token(request("POST", "/api/jobs", "{}"), &site.token);
    assert_eq!(site.send(program).await.status, 422);
}

#[tokio::test]
async fn people_behind_one_address_are_not_in_each_others_way() {
    let site = Site::new(ListenScope::Network).await;
    let one = site.somebody(AccessRole::Annotator, "One").await;
    let other = site.somebody(AccessRole::Annotator, "Other").await;
    let ask = async |it: &Signed| {
        let asked = request("GET", "/api/session", "");
        site.send(site.by(asked, &it.session)).await.status
    };
    let mut n_answered = 0;
    while ask(&one).await == StatusCode::OK {
        n_answered += 1;
        assert!(n_answered < 3_000, "one waits at some time");
    }
    assert!(n_answered >= 300, "{n_answered}");
    assert_eq!(ask(&other).await, StatusCode::OK);
}
