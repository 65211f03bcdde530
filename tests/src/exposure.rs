//! Who is the operator, and how clients are told apart: on loopback, and behind real proxies that
//! are configured as in docs/guide/deployment.md.
//!
//! `NGINX` names nginx; without it and without `nginx` on `PATH` its tests are skipped, as are
//! those of Caddy without `caddy`.

mod tls;
mod operator_listener;

use std::fs;
use std::net::{IpAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use reqwest::blocking::{Client, RequestBuilder, Response};
use shared::api::people::{CSRF_HEADER, OperatorSignInRequest, SessionResponse};
use shared::api::{Endpoint, GetServerInfoRequest, ListScoringJobsRequest};

use crate::harness::{
    PATIENCE, TestDependency, TestHome, TestServer, or_skip, path_from_environment, reply,
    tiny_model,
};

/// The guide whose code blocks are used.
pub(crate) const GUIDE: &str = include_str!("../../docs/guide/deployment.md");

/// The example host of the guide.
pub(crate) const HOST: &str = "axioscope.example";

/// The address of the server in the guide.
const SERVER: &str = "127.0.0.1:8017";

/// The header value that makes browsers use only HTTPS for a year.
const HSTS: &str = "max-age=31536000";

/// The number of scoring requests for each ranker that one client may send at once; after that, one
/// is admitted every two seconds.
const BURST: usize = 10;

/// More scoring requests than a client may send at once for all rankers of the server.
const MAX_ASKED: usize = 100;

#[test]
fn on_loopback_only_the_link_and_the_token_give_operator_access() {
    let home = TestHome::new();
    let server = home.serve_with_auth(home.program(), &[]);
    let token = server.token.clone().expect("the first start prints it");
    let link = server.link.clone().expect("each start prints it");
    assert!(!server.call(&GetServerInfoRequest {}).can_create_jobs);
    let jobs = |server: &TestServer, headers: &[(&str, &str)]| {
        let asked = headers.iter().fold(
            server.request_for(&ListScoringJobsRequest {}),
            |it, (name, value)| it.header(*name, *value),
        );
        asked.send().unwrap().status().as_u16()
    };
    assert_eq!(jobs(&server, &[]), 401);
    assert_eq!(
        jobs(&server, &[("authorization", &format!("Bearer {token}"))]),
        200
    );

    let behind = link.strip_prefix(&format!("{}/operator#", server.address));
    let behind = behind.expect("it leads to the operator's page").to_owned();
    let wrong = OperatorSignInRequest {
        token: behind.chars().rev().collect(),
    };
    assert_eq!(server.try_call(&wrong).unwrap_err().0, 401);
    let right = OperatorSignInRequest { token: behind };
    let answer = server.request_for(&right).send().unwrap();
    let session = session(&answer);
    assert_eq!(server.try_call(&right).unwrap_err().0, 401, "it works once");
    let cookie = |server: &TestServer| {
        let port = server.address.rsplit(':').next().unwrap();
        format!("axioscope-{port}={session}")
    };
    assert_eq!(jobs(&server, &[("cookie", &cookie(&server))]), 200);
    // DNS rebinding: the page of another site under a host name that resolves to this machine.
    let rebound = ("host", "rebound.example");
    assert_eq!(jobs(&server, &[("cookie", &cookie(&server)), rebound]), 403);
    assert_eq!(jobs(&server, &[rebound]), 403);
    server.kill();

    let again = home.serve_with_auth(home.program(), &[]);
    assert_ne!(again.link.as_ref(), Some(&link));
    assert_eq!(
        again.try_call(&right).unwrap_err().0,
        401,
        "an earlier link"
    );
    assert_eq!(
        jobs(&again, &[("cookie", &cookie(&again))]),
        200,
        "the session goes on"
    );
    again.kill();

    let renewed = home.serve_with_auth(home.program(), &["--new-token"]);
    assert_eq!(jobs(&renewed, &[("cookie", &cookie(&renewed))]), 401);
}

#[test]
fn without_auth_there_is_no_other_machine_and_no_proxy() {
    let home = TestHome::new();
    home.run("serve --no-auth-on-loopback --listen 0.0.0.0:0")
        .expect_failure_with("--no-auth-on-loopback");
    for other in [
        "--trusted-proxy 10.0.0.1",
        "--public-url https://axioscope.example",
    ] {
        let ran = home.run(&format!("serve --no-auth-on-loopback {other}"));
        assert_eq!(ran.code, Some(2), "{}", ran.err);
        ran.expect_stderr("cannot be used with");
    }
    for (wrong, told) in [
        ("--trusted-proxy everybody", "ADDRESS/PREFIX"),
        ("--trusted-proxy 127.0.0.1,0.0.0.0/0", "every address"),
        ("--public-url axioscope.example", "https://HOST"),
    ] {
        let ran = home.run(&format!("serve --listen 127.0.0.1:0 {wrong}"));
        assert_eq!(ran.code, Some(2), "{}", ran.err);
        ran.expect_stderr(told);
    }
}

#[test]
fn behind_nginx_as_the_guide_has_it_each_client_has_limits_of_their_own() {
    let Some((_home, server, proxy)) = deployed_behind_nginx() else {
        return;
    };
    expect_separate_limits(&proxy);
    expect_no_way_in(&proxy, &server);
}

#[test]
fn behind_caddy_as_the_guide_has_it_each_client_has_limits_of_their_own() {
    let program = on_path("caddy");
    let program = or_skip(program, TestDependency::SystemProgram, "no Caddy");
    let Some(program) = program else { return };
    let (_home, server) = deployed();
    let port = free_port();
    let site = format!("http://:{port} {{\n\tbind 127.0.0.1");
    let config = replaced(&block("caddy"), &format!("{HOST} {{"), &site);
    let config = replaced(&config, SERVER, &host_of(&server));
    let proxy = Proxy::caddy(&program, &config, port);
    expect_separate_limits(&proxy);
    expect_no_way_in(&proxy, &server);
}

/// With `proxy_pass` alone, the host is that of loopback, and no header names the client.
#[test]
fn nginx_by_default_makes_nobody_the_operator() {
    let Some(program) = nginx() else { return };
    let home = TestHome::new();
    let server = home.serve_with_auth(home.program(), &[]);
    let port = free_port();
    let to = host_of(&server);
    let config =
        format!("server {{ listen 127.0.0.1:{port}; location / {{ proxy_pass http://{to}; }} }}");
    let proxy = Proxy::nginx(&program, &config, port);
    let visitor = Visitor::new(&proxy, 2);
    let about = visitor
        .request("GET", GetServerInfoRequest::PATH, &[])
        .send()
        .unwrap();
    let about: shared::api::ServerInfoResponse = reply(about).unwrap();
    assert!(!about.can_create_jobs);
    for path in [
        ListScoringJobsRequest::PATH,
        "/api/models",
        "/api/people",
        "/metrics",
    ] {
        assert_eq!(visitor.get(path, &[]), 401, "{path}");
    }
}

/// Starts a server behind nginx as in the guide, but without TLS; none without nginx.
pub(crate) fn deployed_behind_nginx() -> Option<(TestHome, TestServer, Proxy)> {
    let program = nginx()?;
    let (home, server) = deployed();
    let port = free_port();
    let config = guide_config(&server, port, free_port());
    let is_certificate = |it: &&str| it.trim_start().starts_with("ssl_certificate");
    assert_eq!(config.lines().filter(is_certificate).count(), 2);
    let kept: Vec<&str> = config.lines().filter(|it| !is_certificate(it)).collect();
    let config = replaced(&kept.join("\n"), " ssl;", ";");
    Some((home, server, Proxy::nginx(&program, &config, port)))
}

/// Returns the guide's nginx configuration for a server: with TLS at `port`, and a redirect from
/// `plain_port` to it.
fn guide_config(server: &TestServer, port: u16, plain_port: u16) -> String {
    let config = block("nginx");
    let config = replaced(&config, "listen 443", &format!("listen 127.0.0.1:{port}"));
    let plain = format!("listen 127.0.0.1:{plain_port};");
    let config = replaced(&config, "listen 80;", &plain);
    replaced(&config, SERVER, &host_of(server))
}

/// Starts a server with a model and the settings of a proxy in the guide's
/// `/etc/default/axioscope`.
fn deployed() -> (TestHome, TestServer) {
    let home = TestHome::new();
    let mut program = home.program();
    let settings = block("sh");
    let told = settings
        .lines()
        .filter_map(|it| it.strip_prefix("#AXIOSCOPE_"));
    let told: Vec<(String, &str)> = told
        .filter_map(|it| it.split_once('='))
        .filter(|(name, _)| ["PUBLIC_URL", "TRUSTED_PROXY"].contains(name))
        .map(|(name, value)| (format!("AXIOSCOPE_{name}"), value.trim_matches('\'')))
        .collect();
    assert_eq!(told.len(), 2, "{told:?}");
    program.envs(told);
    let server = home.serve_with_auth(program, &["--model", &tiny_model().to_string_lossy()]);
    (home, server)
}

fn expect_separate_limits(proxy: &Proxy) {
    for client in 2..5 {
        let visitor = Visitor::new(proxy, client);
        let n = visitor.n_scored(&[]);
        assert!((BURST..MAX_ASKED).contains(&n), "client {client}: {n}");
        // Headers that the client sends itself do not make it count as another client.
        for spoofed in [
            ("x-forwarded-for", "203.0.113.9"),
            ("forwarded", "for=203.0.113.9"),
            ("x-real-ip", "203.0.113.9"),
        ] {
            let n = visitor.n_scored(&[spoofed]);
            assert!(n < BURST, "client {client}, {spoofed:?}: {n}");
        }
    }
}

fn expect_no_way_in(proxy: &Proxy, server: &TestServer) {
    let visitor = Visitor::new(proxy, 5);
    for headers in [
        &[] as &[(&str, &str)],
        &[("x-forwarded-for", "127.0.0.1")],
        &[("x-forwarded-for", "")],
        &[("forwarded", "for=127.0.0.1")],
        &[
            ("x-real-ip", "127.0.0.1"),
            ("x-forwarded-host", "localhost"),
        ],
        &[("host", "localhost")],
        &[("host", "127.0.0.1:8017")],
        &[("authorization", "Bearer wrong")],
        &[("cookie", "__Host-axioscope=wrong; axioscope-8017=wrong")],
    ] {
        for path in [
            ListScoringJobsRequest::PATH,
            "/api/models",
            "/api/people",
            "/metrics",
        ] {
            assert_eq!(visitor.get(path, headers), 401, "{path} {headers:?}");
        }
    }
    assert_eq!(
        visitor.get(GetServerInfoRequest::PATH, &[("host", "rebound.example")]),
        403
    );

    // A client that guesses tokens has to wait, and no other client does.
    let origin = format!("https://{HOST}");
    let sign_in = |visitor: &Visitor<'_>, token: &str| {
        let token = token.to_owned();
        visitor.post(&OperatorSignInRequest { token }, &[("origin", &origin)])
    };
    let guesses = (0..12).map(|_| sign_in(&visitor, "wrong").status().as_u16());
    let guesses: Vec<u16> = guesses.collect();
    assert_eq!((guesses[0], guesses[11]), (401, 429), "{guesses:?}");
    let operator = Visitor::new(proxy, 6);
    let answer = sign_in(&operator, link_token(server));
    assert_eq!(answer.status().as_u16(), 200);
    assert_eq!(answer.headers()["strict-transport-security"], HSTS);
    let kept = answer.headers()["set-cookie"].to_str().unwrap();
    assert!(
        kept.starts_with("__Host-axioscope=") && kept.ends_with("; Secure"),
        "{kept}"
    );
    let cookie = format!("__Host-axioscope={}", session(&answer));
    let who: SessionResponse = reply(answer).unwrap();
    assert_eq!(
        operator.get(ListScoringJobsRequest::PATH, &[("cookie", &cookie)]),
        200
    );
    // A page of another site cannot use the session.
    let csrf = who
        .csrf_token
        .expect("a session has a token for its requests");
    let create = |origin: &str| {
        let headers = [
            ("cookie", cookie.as_str()),
            (CSRF_HEADER, csrf.as_str()),
            ("origin", origin),
        ];
        let asked = operator
            .request("POST", ListScoringJobsRequest::PATH, &headers)
            .body("{}");
        asked.send().unwrap().status().as_u16()
    };
    assert_eq!(create("https://evil.example"), 403);
    assert_eq!(create(&origin), 422, "an empty job, but let in");
}

/// Returns the token in the link of a server that is deployed as in the guide.
fn link_token(server: &TestServer) -> &str {
    let link = server.link.as_deref().expect("each start prints it");
    let token = link.strip_prefix(&format!("https://{HOST}/operator#"));
    token.expect("it leads to the public address")
}

/// A client with its own address that sends requests through a proxy.
pub(crate) struct Visitor<'a> {
    proxy: &'a Proxy,
    client: Client,
}

impl Visitor<'_> {
    /// Creates a client at 127.0.0.`last`, which is not a trusted proxy unless `last` is 1.
    pub(crate) fn new(proxy: &Proxy, last: u8) -> Visitor<'_> {
        let client = Client::builder().local_address(IpAddr::from([127, 0, 0, last]));
        let client = client.timeout(PATIENCE).build().unwrap();
        Visitor { proxy, client }
    }

    /// Builds a request with the host [`HOST`], unless `headers` contain another one.
    fn request(&self, method: &str, path: &str, headers: &[(&str, &str)]) -> RequestBuilder {
        let method = reqwest::Method::from_bytes(method.as_bytes()).unwrap();
        let url = format!("http://127.0.0.1:{}{path}", self.proxy.port);
        let host = ("host", HOST);
        let has_host = headers.iter().any(|it| it.0 == host.0);
        let added = (!has_host).then_some(&host);
        let asked = self.client.request(method, url);
        let headers = headers.iter().chain(added);
        headers.fold(asked, |it, (name, value)| it.header(*name, *value))
    }

    pub(crate) fn get(&self, path: &str, headers: &[(&str, &str)]) -> u16 {
        let answer = self.request("GET", path, headers).send().unwrap();
        answer.status().as_u16()
    }

    fn post<E: Endpoint>(&self, asked: &E, headers: &[(&str, &str)]) -> Response {
        let body = serde_json::to_string(asked).unwrap();
        self.request("POST", E::PATH, headers)
            .body(body)
            .send()
            .unwrap()
    }

    /// Returns how many of [`MAX_ASKED`] scoring requests are answered before one is refused.
    fn n_scored(&self, headers: &[(&str, &str)]) -> usize {
        let body = r#"{"query": "river", "texts": ["a river"]}"#;
        for n in 0..MAX_ASKED {
            let asked = self.request("POST", "/rerank", headers).body(body);
            match asked.send().unwrap().status().as_u16() {
                200 => {}
                429 => return n,
                other => panic!("{other} {headers:?}"),
            }
        }
        MAX_ASKED
    }
}

/// A proxy that runs in its own folder until its test ends.
pub(crate) struct Proxy {
    child: Child,
    pub(crate) port: u16,
    _folder: tempfile::TempDir,
}

impl Proxy {
    /// Starts nginx with `servers`, one of which listens at `port`.
    fn nginx(program: &Path, servers: &str, port: u16) -> Proxy {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().display().to_string();
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map(|it| format!("{it}_temp_path {at}/{it};\n"))
            .concat();
        let config = format!(
            "daemon off;\nmaster_process off;\npid {at}/nginx.pid;\nerror_log {at}/log;\n\
             events {{}}\nhttp {{\naccess_log off;\n{temporary}{servers}\n}}\n"
        );
        let file = folder.path().join("nginx.conf");
        fs::write(&file, config).unwrap();
        let mut nginx = Command::new(program);
        nginx.arg("-p").arg(folder.path()).arg("-c").arg(&file);
        Proxy::start(nginx, folder, port)
    }

    /// Starts Caddy with `sites`, one of which listens at `port`.
    fn caddy(program: &Path, sites: &str, port: u16) -> Proxy {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("Caddyfile");
        let global = "{\n\tadmin off\n\tauto_https off\n}\n";
        fs::write(&file, format!("{global}{sites}")).unwrap();
        let mut caddy = Command::new(program);
        caddy
            .args(["run", "--adapter", "caddyfile", "--config"])
            .arg(&file);
        caddy
            .env("HOME", folder.path())
            .env_remove("XDG_DATA_HOME")
            .env_remove("XDG_CONFIG_HOME");
        Proxy::start(caddy, folder, port)
    }

    fn start(mut command: Command, folder: tempfile::TempDir, port: u16) -> Proxy {
        let log = folder.path().join("output");
        let output = fs::File::create(&log).unwrap();
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(output);
        let child = command.spawn().unwrap();
        let mut proxy = Proxy {
            child,
            port,
            _folder: folder,
        };
        let since = Instant::now();
        let is_there = |proxy: &Proxy| {
            let asked = Visitor::new(proxy, 7)
                .request("GET", GetServerInfoRequest::PATH, &[])
                .send();
            asked.is_ok_and(|it| it.status().as_u16() < 500)
        };
        while !is_there(&proxy) {
            let told = || fs::read_to_string(&log).unwrap_or_default();
            let ended = proxy.child.try_wait().unwrap();
            assert!(
                ended.is_none() && since.elapsed() < PATIENCE,
                "{command:?} {}",
                told()
            );
            std::thread::sleep(Duration::from_millis(20));
        }
        proxy
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        // An error means that it has already ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the only code block of the guide in a language.
pub(crate) fn block(language: &str) -> String {
    let begins = format!("\n```{language}\n");
    let mut parts = GUIDE.split(&begins);
    let (_, behind) = (parts.next(), parts.next());
    assert_eq!(parts.next(), None, "one block of {language}");
    let behind = behind.unwrap_or_else(|| panic!("no block of {language}"));
    behind.split("\n```").next().unwrap().to_owned()
}

/// Replaces a string that must occur in the text.
#[track_caller]
fn replaced(text: &str, from: &str, to: &str) -> String {
    assert!(text.contains(from), "no {from:?} in {text}");
    text.replace(from, to)
}

/// Returns the session cookie that an answer sets.
#[track_caller]
fn session(answer: &Response) -> String {
    let cookie = answer.headers()["set-cookie"].to_str().unwrap();
    assert!(cookie.contains("; HttpOnly; SameSite=Lax"), "{cookie}");
    let (_, behind) = cookie.split_once('=').unwrap();
    behind.split(';').next().unwrap().to_owned()
}

/// Returns the address of a server as `127.0.0.1:PORT`.
fn host_of(server: &TestServer) -> String {
    replaced(&server.address, "http://", "")
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

fn nginx() -> Option<PathBuf> {
    let found = path_from_environment("NGINX").or_else(|| on_path("nginx"));
    or_skip(found, TestDependency::Proxy, "no nginx")
}

fn on_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let mut files = std::env::split_paths(&path).map(|it| it.join(program));
    files.find(|it| it.is_file())
}
