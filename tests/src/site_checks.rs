//! The checks that a server runs on itself: they turn red when a byte of a study file is changed,
//! and green again when it is restored.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::Path;

use serde_json::Value;
use shared::api::site_checks::{SiteCheck, SiteCheckReport};
use shared::api::{GetServerInfoRequest, ServerInfoResponse};

use crate::harness::{TestHome, TestServer, reply, study_file, study_lines, tiny_collection};

/// Returns the last report as operators see it; their requests have no rate limit.
fn report_for_operators(server: &TestServer) -> Option<SiteCheckReport> {
    let token = server.token.as_ref().expect("the first start prints it");
    let asked = server.request_for(&GetServerInfoRequest {});
    let about: ServerInfoResponse = reply(asked.bearer_auth(token).send().unwrap()).unwrap();
    about.site_checks
}

/// Returns the report of a round that satisfies a condition, and the number of rounds until then.
fn round_until(
    server: &TestServer,
    enough: impl Fn(&SiteCheckReport) -> bool,
) -> (SiteCheckReport, usize) {
    let mut rounds = BTreeSet::new();
    let report = || report_for_operators(server);
    let before = report().map(|it| it.finished_ms);
    loop {
        if let Some(found) = report() {
            if Some(found.finished_ms) != before {
                rounds.insert(found.finished_ms);
            }
            if enough(&found) && Some(found.finished_ms) != before {
                return (found, rounds.len());
            }
        }
        assert!(
            rounds.len() < 20,
            "the checks stay as they are: {:?}",
            report()
        );
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}

fn health(server: &TestServer) -> (u16, Value) {
    let response = server.get("/health");
    (response.status().as_u16(), response.json().unwrap())
}

fn metrics(server: &TestServer) -> String {
    let token = server.token.as_ref().expect("the first start prints it");
    let asked = server.request("GET", "/metrics").bearer_auth(token);
    asked.send().unwrap().text().unwrap()
}

/// Writes a file in place with its earlier time stamp, as a failing disk does.
fn overwrite(path: &Path, bytes: &[u8]) {
    let modified = fs::metadata(path).unwrap().modified().unwrap();
    fs::write(path, bytes).unwrap();
    let file = File::options().write(true).open(path).unwrap();
    file.set_modified(modified).unwrap();
}

#[test]
fn a_changed_byte_of_a_study_file_turns_the_checks_red_within_a_round() {
    let home = TestHome::new();
    let rest = study_lines("all", &["tfc1"], &["bm25", "ql"]);
    home.make_study(study_file("small", "Small", tiny_collection(), &rest));
    home.run("study publish small").expect_success();
    let server = home.serve_with_auth(home.program(), &["--canary-interval", "1"]);
    let (report, _) = round_until(&server, |_| true);
    assert_eq!(report.failures, []);
    let (status, green) = health(&server);
    assert_eq!((status, &green["status"]), (200, &Value::from("ok")));
    assert!(green["checks_passed_ms"].as_u64().unwrap() >= report.finished_ms);

    let folder = home.path("data/studies/small");
    let files = fs::read_dir(&folder).unwrap();
    let files: Vec<_> = files.map(|it| it.unwrap().path()).collect();
    assert!(files.len() >= 5, "{files:?}");
    for path in files {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let whole = fs::read(&path).unwrap();
        let mut changed = whole.clone();
        changed[whole.len() / 2] ^= 1;
        overwrite(&path, &changed);
        let (red, n_rounds) = round_until(&server, |it| !it.failures.is_empty());
        // One round may have been under way when the byte was changed.
        assert!(n_rounds <= 2, "{name}: {n_rounds} rounds");
        let [failure] = &red.failures[..] else {
            panic!("{red:?}")
        };
        assert_eq!(failure.check, SiteCheck::StudyFiles);
        assert_eq!(failure.message, format!("study small: {name} is damaged"));
        let detail = failure.detail.as_ref().unwrap();
        let remedy = "make the study again by `axioscope study run`";
        assert!(detail.contains(remedy), "{detail}");
        let for_visitors = server.call(&GetServerInfoRequest {}).site_checks.unwrap();
        assert_eq!(for_visitors.failures[0].message, failure.message);
        assert_eq!(for_visitors.failures[0].detail, None, "it has paths");
        let (status, problem) = health(&server);
        assert_eq!(status, 503, "{problem}");
        let message = problem["error"].as_str().unwrap();
        assert!(message.contains(&failure.message), "{message}");
        assert_eq!(server.get("/ready").status().as_u16(), 200);
        let shown = metrics(&server);
        let gauge = "axioscope_site_check_passed{check=\"study-files\"}";
        assert!(shown.contains(&format!("{gauge} 0")), "{shown}");
        let others = "axioscope_site_check_passed{check=\"database\"} 1";
        assert!(shown.contains(others), "{shown}");

        overwrite(&path, &whole);
        let (_, n_rounds) = round_until(&server, |it| it.failures.is_empty());
        assert!(n_rounds <= 2, "{name}: {n_rounds} rounds");
        assert_eq!(health(&server).0, 200);
        assert!(metrics(&server).contains(&format!("{gauge} 1")));
    }
}

#[test]
fn a_damaged_study_that_is_not_published_fails_no_check() {
    let home = TestHome::new();
    let rest = study_lines("all", &["tfc1"], &["bm25"]);
    home.make_study(study_file("small", "Small", tiny_collection(), &rest));
    let path = home.path("data/studies/small/study.json");
    let mut bytes = fs::read(&path).unwrap();
    bytes[100] ^= 1;
    fs::write(&path, bytes).unwrap();
    let server = home.serve_with_auth(home.program(), &["--canary-interval", "1"]);
    assert_eq!(round_until(&server, |_| true).0.failures, []);
}

#[test]
fn every_database_passes_the_checks_and_keeps_nothing_of_them() {
    for home in TestHome::of_each_database() {
        let server = home.serve_with_auth(home.program(), &["--canary-interval", "1"]);
        for _ in 0..2 {
            assert_eq!(round_until(&server, |_| true).0.failures, []);
        }
        assert_eq!(home.run("people list").expect_success(), "");
        let told = home.run("backup own.tar.gz").expect_success();
        // The row is that of the operator's token.
        assert!(told.contains(" and 1 rows"), "{told}");
    }
}
