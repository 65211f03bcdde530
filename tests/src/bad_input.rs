//! Mistakes of people and programs: a message names the problem and the solution; there is never a
//! panic (see [`crate::harness::CommandOutput::run`]) and never a partial result.
//!
//! A damaged row is left out and reported. A damaged file, setting or folder ends the command with
//! code 1.

mod rows;
mod settings;
mod models;
mod disk;

use expect_test::Expect;

use crate::harness::{LIMITS, TestHome};

/// Returns a folder with a collection `c` of these files.
fn collection(corpus: impl AsRef<[u8]>, queries: impl AsRef<[u8]>) -> TestHome {
    let home = TestHome::new();
    home.write("c/corpus.jsonl", corpus);
    home.write("c/queries.jsonl", queries);
    home
}

const CORPUS: &str = r#"{"_id": "d1", "text": "river bank river"}
{"_id": "d2", "text": "river bank"}
"#;
const QUERIES: &str = r#"{"_id": "q1", "text": "river bank"}"#;
const MINE: &str = "mine --collection c --pool all --out mined.parquet";

/// Compares the standard error of a command that succeeds.
fn check_told(home: &TestHome, line: &str, expected: Expect) {
    let ran = home.run(line);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    expected.assert_eq(&ran.err);
}

/// Compares the message of a command that fails, and checks that it leaves no new file.
fn check_refused(home: &TestHome, line: &str, expected: Expect) {
    expected.assert_eq(&refusal(home, line));
}

/// Returns the message that [`check_refused`] compares, with a line feed.
fn refusal(home: &TestHome, line: &str) -> String {
    let before = home.files();
    let message = home.run(line).expect_failure();
    let here = home.path("");
    let here = here.to_string_lossy();
    assert_eq!(home.files(), before, "{line}");
    message.replace(here.trim_end_matches('/'), "HOME") + "\n"
}

/// Returns a study file of collection `c` with other values for some keys.
fn study(changes: &[(&str, &str)]) -> String {
    let value = |key: &str, usual: &str| {
        let changed = changes.iter().find(|it| it.0 == key).map(|it| it.1);
        format!("{key} = {:?}\n", changed.unwrap_or(usual))
    };
    let mut text = "format = 1\n".to_owned();
    for (key, usual) in [
        ("name", "small"),
        ("title", "Small"),
        ("description", ""),
        ("collection", "c"),
        ("pool", "all"),
    ] {
        text += &value(key, usual);
    }
    text += "probes = [\"tfc1\", \"tp\"]\nmodes = [\"fixed\"]\nrankers = [\"bm25\", \"ql\"]\n";
    text + LIMITS
}
