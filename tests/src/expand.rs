//! `expand`: documents with queries that a model generates for them.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::harness::{CommandOutput, PATIENCE, TestHome, tiny_collection};

#[test]
fn documents_are_expanded_alike_on_any_threads_and_ranked_by_what_was_added() {
    let home = TestHome::new();
    let collection = tiny_collection();
    let model = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../neural/tests/fixtures/t5-gated"
    );
    let line = |out: &str| {
        format!(
            "expand --collection {collection} --model {model} --out {out} --queries 3 \
             --max-query-tokens 12 --json"
        )
    };
    let told = home.run(&line("wide")).json();
    assert!(told["docs"].as_u64().unwrap() >= 12, "{told}");
    assert!(told["queries"].as_u64().unwrap() > 12, "{told}");
    let mut many = home.program();
    many.env("RAYON_NUM_THREADS", "7");
    let again = CommandOutput::run(many.args(line("again").split_whitespace()));
    assert_eq!(again.json(), told);
    for file in ["corpus.jsonl", "expansions.jsonl", "expansion.json"] {
        let read = |folder: &str| home.read(&format!("{folder}/{file}"));
        assert_eq!(read("wide"), read("again"), "{file}");
    }
    let record: Value = serde_json::from_str(&home.read("wide/expansion.json")).unwrap();
    assert_eq!(record["fingerprint"], told["fingerprint"]);

    let rank = |folder: &str| {
        home.run(&format!(
            "rank --collection {folder} --ranker bm25 --out own.run --plain"
        ))
        .expect_success();
        home.read("own.run")
    };
    assert_ne!(rank("wide"), rank(collection));

    let refused = home.run(&line("wide"));
    assert!(refused.expect_failure().contains("is there already"));
    let other = line("new").replace("t5-gated", "tiny");
    let refused = home.run(&other);
    assert!(refused.expect_failure().contains("is bert, but must be t5"));
    let refused = home.run(&line("new").replace("--queries 3", "--queries 0"));
    assert!(
        refused
            .expect_failure()
            .contains("`n_queries` is 0; must be from 1 to 1000")
    );
    assert!(!home.path("new").exists());
}

#[test]
fn an_expansion_that_was_killed_leaves_no_folder_and_goes_on() {
    let home = TestHome::new();
    let collection = tiny_collection();
    let model = concat!(env!("CARGO_MANIFEST_DIR"), "/../neural/tests/fixtures/t5");
    let start = |out: &str| {
        let line = format!(
            "expand --collection {collection} --model {model} --out {out} --queries 200 --json"
        );
        let mut program = home.program();
        // Documents are stored in groups of eight per thread.
        program.env("RAYON_NUM_THREADS", "1");
        program.args(line.split_whitespace());
        program
    };
    let told = CommandOutput::run(&mut start("whole")).json();
    let mut running = start("again").spawn().unwrap();
    let draft = || home.files().into_iter().find(|it| it.ends_with(".draft"));
    let begun = Instant::now();
    let empty = |it: String| fs::read(home.path(&it)).is_ok_and(|it| it.is_empty());
    while draft().is_none_or(empty) && running.try_wait().unwrap().is_none() {
        assert!(begun.elapsed() < PATIENCE);
        std::thread::sleep(Duration::from_millis(5));
    }
    running.kill().unwrap();
    running.wait().unwrap();
    let kept = home.read(&draft().expect("it was killed before it was done"));
    assert_eq!(kept.lines().count(), 8);
    assert!(!home.path("again").exists());

    assert_eq!(CommandOutput::run(&mut start("again")).json(), told);
    for file in ["corpus.jsonl", "expansions.jsonl", "expansion.json"] {
        let read = |folder: &str| home.read(&format!("{folder}/{file}"));
        assert_eq!(read("whole"), read("again"), "{file}");
    }
    assert_eq!(draft(), None);
}
