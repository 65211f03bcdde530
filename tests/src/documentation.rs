//! The documentation, `security.txt` and what visitors are given, as a server sends them.

use reqwest::blocking::Response;

use crate::harness::TestHome;

fn header<'a>(response: &'a Response, name: &str) -> &'a str {
    let value = response.headers().get(name);
    value.and_then(|it| it.to_str().ok()).unwrap_or_default()
}

#[test]
fn the_documentation_is_served_with_and_without_a_slash() {
    let home = TestHome::new();
    let server = home.serve_with_auth(home.program(), &[]);
    for path in [
        "/docs",
        "/docs/tutorial",
        "/docs/command-line",
        "/docs/search",
    ] {
        let page = server.get(path);
        assert_eq!(page.status(), 200, "{path}");
        assert_eq!(header(&page, "content-type"), "text/html; charset=utf-8");
        let policy = header(&page, "content-security-policy");
        assert!(policy.contains("script-src 'self'"), "{policy}");
        let tag = header(&page, "etag").to_owned();
        let text = page.text().unwrap();
        assert!(text.contains("<link rel=\"stylesheet\" href=\"/docs/style.css\">"));
        let again = server
            .request("GET", &format!("{path}/"))
            .header("if-none-match", tag);
        assert_eq!(again.send().unwrap().status(), 304, "{path}/");
        assert_eq!(
            server.get(&format!("{path}/")).text().unwrap(),
            text,
            "{path}/"
        );
    }
    for (path, content_type) in [
        ("/docs/style.css", "text/css; charset=utf-8"),
        ("/docs/script.js", "text/javascript; charset=utf-8"),
        ("/docs/search.json", "application/json"),
        ("/docs/icon.svg", "image/svg+xml"),
        (
            "/docs/studies/rennings2019-wikiqa.toml",
            "text/plain; charset=utf-8",
        ),
    ] {
        let file = server.get(path);
        assert_eq!(
            (file.status().as_u16(), header(&file, "content-type")),
            (200, content_type)
        );
    }
}

#[test]
fn a_security_contact_is_named_if_there_is_one() {
    const PATH: &str = "/.well-known/security.txt";
    let home = TestHome::new();
    let without = home.serve_with_auth(home.program(), &[]);
    assert_eq!(without.get(PATH).status(), 404);
    drop(without);

    let contact = "mailto:security@axioscope.example";
    let server = home.serve_with_auth(home.program(), &["--security-contact", contact]);
    let file = server.get(PATH);
    assert_eq!(header(&file, "content-type"), "text/plain; charset=utf-8");
    let text = file.text().unwrap();
    assert!(
        text.starts_with(&format!("Contact: {contact}\nExpires: 2")),
        "{text}"
    );
    drop(server);

    let refused = home.run("serve --security-contact security@axioscope.example");
    assert_eq!(refused.code, Some(2));
    refused.expect_stderr("write mailto:NAME@HOST or https://HOST/PATH");
}

#[test]
fn a_visitor_is_given_no_cookie() {
    let home = TestHome::new();
    let server = home.serve_with_auth(home.program(), &["--demo=lexical"]);
    for path in [
        "/",
        "/playground",
        "/docs/privacy/",
        "/join",
        "/api/session",
        "/api/studies",
        "/api/studies/demo",
        "/api/annotation/tasks",
        "/missing",
    ] {
        let answer = server.get(path);
        assert!(!answer.headers().contains_key("set-cookie"), "{path}");
    }
}
