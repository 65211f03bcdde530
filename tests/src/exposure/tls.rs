//! TLS as in docs/guide/deployment.md: nginx with a certificate that `openssl` makes.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use reqwest::blocking::Client;
use reqwest::redirect::Policy;
use shared::api::people::OperatorSignInRequest;
use shared::api::{Endpoint, GetServerInfoRequest, ListScoringJobsRequest};

use super::{
    HOST, HSTS, Proxy, deployed, free_port, guide_config, link_token, nginx, on_path, replaced,
};
use crate::harness::{PATIENCE, TestDependency, or_skip};

/// The folder of the certificate and its key in the guide.
const LETSENCRYPT: &str = "/etc/letsencrypt/live/axioscope.example";

#[test]
fn over_tls_the_link_makes_an_operator_and_plain_http_leads_there() {
    let openssl = or_skip(
        on_path("openssl"),
        TestDependency::SystemProgram,
        "no openssl",
    );
    let (Some(nginx), Some(openssl)) = (nginx(), openssl) else {
        return;
    };
    let (home, server) = deployed();
    let folder = home.path("");
    make_certificate(&openssl, &folder);
    let (port, plain_port) = (free_port(), free_port());
    let config = guide_config(&server, port, plain_port);
    let folder_in_config = folder.display().to_string();
    let config = replaced(&config, LETSENCRYPT, folder_in_config.trim_end_matches('/'));
    let _proxy = Proxy::nginx(&nginx, &config, port);
    let ask = |method: &str, path: &str, headers: &str, body: &str| {
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: {HOST}\r\nconnection: close\r\n\
             content-length: {}\r\n{headers}\r\n{body}",
            body.len()
        );
        ask_over_tls(&openssl, &folder, port, &request)
    };

    let about = ask("GET", GetServerInfoRequest::PATH, "", "");
    assert!(about.starts_with("HTTP/1.1 200 "), "{about}");
    assert_eq!(header(&about, "strict-transport-security"), HSTS);
    let jobs = ask("GET", ListScoringJobsRequest::PATH, "", "");
    assert!(jobs.starts_with("HTTP/1.1 401 "), "{jobs}");
    assert_eq!(header(&jobs, "strict-transport-security"), HSTS);

    // Without TLS, every request is redirected, and the operator link is not used up.
    let client = Client::builder().timeout(PATIENCE);
    let client = client.redirect(Policy::none()).build().unwrap();
    let token = link_token(&server).to_owned();
    let sign_in = serde_json::to_string(&OperatorSignInRequest { token }).unwrap();
    for path in [
        "/",
        "/studies/demo?variant=code",
        OperatorSignInRequest::PATH,
    ] {
        let plain = format!("http://127.0.0.1:{plain_port}{path}");
        let asked = client.post(plain).header("host", HOST);
        let answer = asked.body(sign_in.clone()).send().unwrap();
        assert_eq!(answer.status().as_u16(), 301, "{path}");
        let there = format!("https://{HOST}{path}");
        assert_eq!(answer.headers()["location"], there.as_str());
        assert!(!answer.headers().contains_key("set-cookie"), "{path}");
    }

    let origin = format!("origin: https://{HOST}\r\n");
    let welcome = ask("POST", OperatorSignInRequest::PATH, &origin, &sign_in);
    assert!(welcome.starts_with("HTTP/1.1 200 "), "{welcome}");
    let kept = header(&welcome, "set-cookie");
    assert!(
        kept.starts_with("__Host-axioscope=") && kept.ends_with("; Secure"),
        "{kept}"
    );
    let cookie = kept.split(';').next().unwrap();
    let jobs = ask(
        "GET",
        ListScoringJobsRequest::PATH,
        &format!("cookie: {cookie}\r\n"),
        "",
    );
    assert!(jobs.starts_with("HTTP/1.1 200 "), "{jobs}");
    let again = ask("POST", OperatorSignInRequest::PATH, &origin, &sign_in);
    assert!(again.starts_with("HTTP/1.1 401 "), "{again}");
}

/// Writes a self-signed certificate of the host, under the file names that certbot uses.
fn make_certificate(openssl: &Path, folder: &Path) {
    let subject = format!("/CN={HOST}");
    let name = format!("subjectAltName=DNS:{HOST}");
    let made = Command::new(openssl)
        .current_dir(folder)
        .args(["req", "-x509", "-nodes", "-days", "2", "-newkey", "ec"])
        .args(["-pkeyopt", "ec_paramgen_curve:prime256v1"])
        .args(["-subj", &subject, "-addext", &name])
        .args(["-keyout", "privkey.pem", "-out", "fullchain.pem"])
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&made.stderr);
    assert!(made.status.success(), "{told}");
}

/// Returns the answer to a request, header and body, from the server with the host's certificate.
fn ask_over_tls(openssl: &Path, folder: &Path, port: u16, request: &str) -> String {
    let mut client = Command::new(openssl)
        .current_dir(folder)
        .args(["s_client", "-quiet", "-verify_return_error"])
        .args(["-connect", &format!("127.0.0.1:{port}")])
        .args(["-servername", HOST, "-verify_hostname", HOST])
        .args(["-CAfile", "fullchain.pem"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = client.stdin.take().unwrap();
    input.write_all(request.as_bytes()).unwrap();
    drop(input);
    let told = client.wait_with_output().unwrap();
    let why = String::from_utf8_lossy(&told.stderr);
    assert!(told.status.success(), "{why}");
    String::from_utf8(told.stdout).unwrap()
}

/// Returns the value of a header that must be present.
#[track_caller]
fn header<'a>(answer: &'a str, name: &str) -> &'a str {
    let (head, _) = answer.split_once("\r\n\r\n").unwrap();
    let mut pairs = head.lines().filter_map(|it| it.split_once(": "));
    let found = pairs.find(|it| it.0.eq_ignore_ascii_case(name));
    found.unwrap_or_else(|| panic!("no {name}: {head}")).1
}
