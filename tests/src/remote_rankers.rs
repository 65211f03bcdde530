//! Remote rankers: our own server, and others that are correct, slow, broken or silent.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::harness::{CommandOutput, PATIENCE, TestHome, study_file, tiny_model};
use crate::mock_server::{MockReply, MockServer, RecordedRequest, answer};
use crate::rerank::{collect, ranking, score_line, scores};

const TEXTS: [&str; 5] = [
    "river bank river",
    "river bank",
    "a hill",
    "the sea, a river",
    "bank",
];

fn home() -> TestHome {
    let home = TestHome::new();
    collect(&home, "river bank", &TEXTS);
    home.run("mine --collection c --pool all --out m.parquet")
        .expect_success();
    home
}

/// Replies like text-embeddings-inference, with half the length of each document as its score.
fn half_lengths(asked: &RecordedRequest) -> MockReply {
    let body: Value = serde_json::from_str(&asked.body).unwrap();
    let texts = body["texts"].as_array().unwrap().iter().enumerate();
    let scored = texts
        .map(|(at, it)| json!({"index": at, "score": it.as_str().unwrap().len() as f64 / 2.0}));
    // Servers return the best document first.
    let scored: Vec<Value> = scored.rev().collect();
    answer(200, json!(scored).to_string())
}

const DRY_RUN: &str = "score --collection c --pairs pairs.jsonl --dry-run --ranker";

fn score_with(home: &TestHome, ranker: &str) -> CommandOutput {
    home.run_with(&score_line(ranker, "s.tsv"))
}

#[test]
fn our_own_server_gives_the_scores_of_the_local_model() {
    let home = home();
    let model = tiny_model().to_string_lossy().into_owned();
    let server = ranking(&home);
    for (local, path) in [
        (model.clone(), "/rerank?texts=2".to_owned()),
        (
            format!("{model}:late"),
            "/rerank?model=tiny:late".to_owned(),
        ),
        (model.clone(), "/v1/rerank?raw=yes&texts=1".to_owned()),
        (
            format!("{model}:late"),
            "/v2/rerank?raw=yes&model=tiny:late".to_owned(),
        ),
    ] {
        let here = scores(&home, &local, "here.tsv");
        let there = scores(&home, &format!("{}{path}", server.address), "there.tsv");
        assert_eq!(here.len(), there.len());
        for (text, score) in &here {
            let difference = (score - there[text]).abs();
            assert!(
                difference < 1e-6,
                "{path} {text}: {score} and {}",
                there[text]
            );
        }
    }
    assert!(
        !home.files().iter().any(|it| it.contains("draft")),
        "{:?}",
        home.files()
    );

    // In a study file and with `judge`, the verdicts are those of the model.
    let address = format!("{}/rerank", server.address);
    let judge = |ranker: &str| {
        let line = "judge --collection c --instances m.parquet --json --ranker";
        let line: Vec<&str> = line.split(' ').chain([ranker]).collect();
        home.run_with(&line).json()
    };
    assert_eq!(judge(&address), judge(&model));
    let rest = format!(
        r#"pool = "all"
probes = ["tfc1", "lnc1"]
modes = ["fixed"]
rankers = ["bm25", "{address}?texts=3"]"#
    );
    home.write("study.toml", study_file("served", "Served", "c", &rest));
    let ran = home.run("study run study.toml");
    assert!(
        ran.err.contains("requests with"),
        "the cost is told: {}",
        ran.err
    );
    ran.expect_success();
    let report = home.run("report served").expect_success();
    assert!(report.contains("127.0.0.1"), "{report}");
    // All scores are already stored, which another request rate does not change.
    assert_eq!(
        home.run("study resume served").expect_success(),
        "0 rankers were added\n"
    );
}

#[test]
fn a_peer_is_asked_as_its_shape_has_it_and_the_key_is_nowhere_else() {
    let home = home();
    let peer = MockServer::new(|asked| {
        assert_eq!(asked.line, "POST /v1/rerank");
        let body: Value = serde_json::from_str(&asked.body).unwrap();
        assert_eq!(body["model"], "a/b");
        assert!(body.get("raw_scores").is_none() && body.get("texts").is_none());
        let n = body["documents"].as_array().unwrap().len();
        let results: Vec<Value> = (0..n)
            .map(|it| json!({"index": it, "relevance_score": 1.0 / (it + 2) as f64}))
            .collect();
        answer(200, json!({"id": "x", "results": results}).to_string())
    });
    let ranker = format!("{}/v1/rerank?model=a/b", peer.address);
    let mut program = home.program();
    program
        .env("AXIOSCOPE_RERANK_KEY", "hush-hush")
        .env("AXIOSCOPE_LOG", "trace");
    let ran = CommandOutput::run(
        program
            .args(["--data", "data"])
            .args(score_line(&ranker, "s.tsv")),
    );
    assert!(!ran.err.contains("hush"), "{}", ran.err);
    ran.expect_success();
    let asked = peer.asked();
    assert!(
        asked
            .iter()
            .all(|it| it.header("authorization") == Some("Bearer hush-hush"))
    );
    for file in home.files() {
        let bytes = std::fs::read(home.path(&file)).unwrap();
        assert!(!bytes.windows(4).any(|it| it == b"hush"), "{file}");
    }
    // A key that the service repeats is not shown, and a key in the address is refused.
    let echo = MockServer::new(|asked| answer(401, asked.header("authorization").unwrap()));
    let mut program = home.program();
    program.env("AXIOSCOPE_RERANK_KEY", "hush-hush");
    let ranker = format!("{}/rerank", echo.address);
    let refused = CommandOutput::run(
        program
            .args(["--data", "data"])
            .args(score_line(&ranker, "s.tsv")),
    );
    let refused = refused.expect_failure();
    assert!(
        refused.contains("AXIOSCOPE_RERANK_KEY") && !refused.contains("hush"),
        "{refused}"
    );
    let ranker = ranker.replace("http://", "http://hush:hush@");
    let refused = score_with(&home, &ranker).expect_failure();
    assert!(
        refused.contains("AXIOSCOPE_RERANK_KEY") && !refused.contains("hush"),
        "{refused}"
    );
}

#[test]
fn a_server_for_everybody_lets_the_key_score_much() {
    let home = TestHome::new();
    let texts: Vec<String> = (0..20).map(|it| "river ".repeat(it + 1)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    collect(&home, "river bank", &texts);
    let model = tiny_model().to_string_lossy().into_owned();
    let server = home.serve(&["--listen", "0.0.0.0:0", "--model", &model]);
    let ranker = format!("{}/rerank", server.address);
    score_with(&home, &ranker).expect_failure_with("20 documents are too many; 8 at most");
    let mut program = home.program();
    program.env("AXIOSCOPE_RERANK_KEY", server.token.as_ref().unwrap());
    CommandOutput::run(
        program
            .args(["--data", "data"])
            .args(score_line(&ranker, "s.tsv")),
    )
    .expect_success();
    assert_eq!(home.read("s.tsv").lines().count(), 20);
}

#[test]
fn a_peer_that_is_busy_is_asked_again() {
    let home = home();
    let peer = MockServer::new(|asked| match asked.number {
        0 | 1 => MockReply::Answer(429, "retry-after: 0\r\n".to_owned(), b"slow down".to_vec()),
        2 => MockReply::CloseConnection,
        _ => half_lengths(asked),
    });
    let ran = score_with(&home, &format!("{}/rerank", peer.address));
    ran.expect_stderr("1 requests with 5 texts");
    ran.expect_success();
    assert_eq!(peer.asked().len(), 4);
    for row in home.read("s.tsv").lines() {
        let cells: Vec<&str> = row.split('\t').collect();
        let place: usize = cells[1].strip_prefix('d').unwrap().parse().unwrap();
        let score: f64 = cells[2].parse().unwrap();
        assert_eq!(score, TEXTS[place].len() as f64 / 2.0);
    }
}

#[test]
fn a_peer_that_does_not_score_is_named_with_what_is_wrong() {
    let home = home();
    let check = |peer: &MockServer, options: &str, parts: &[&str]| {
        let address = format!("{}/rerank", peer.address);
        let since = Instant::now();
        let error = score_with(&home, &format!("{address}?{options}")).expect_failure();
        for part in [
            &[&*address, "request 1 of 1", "5 texts", "river bank"],
            parts,
        ]
        .concat()
        {
            assert!(error.contains(part), "{error} lacks {part}");
        }
        assert!(
            since.elapsed() < Duration::from_secs(60),
            "{:?}",
            since.elapsed()
        );
        assert!(!home.path("s.tsv").exists());
    };
    let garbage = MockServer::new(|_| answer(200, "<html>Welcome</html>"));
    check(&garbage, "", &["is not [", "<html>Welcome</html>"]);
    let short = MockServer::new(|_| answer(200, r#"[{"index": 0, "score": 1}]"#));
    check(&short, "", &["1 scores for 5 texts"]);
    let other = MockServer::new(|_| answer(422, r#"{"error": "batch size 5 > 4"}"#));
    check(&other, "", &["422", "batch size 5 > 4", "texts=N"]);
    let moved = "location: http://elsewhere.example/\r\n";
    let moved = MockServer::new(move |_| MockReply::Answer(307, moved.to_owned(), Vec::new()));
    check(&moved, "", &["307", "http://elsewhere.example/"]);
    let endless = MockServer::new(|_| answer(200, vec![b' '; 9 << 20]));
    check(&endless, "", &["larger than 8 MiB"]);
    let silent = MockServer::new(|_| MockReply::NoResponse);
    check(
        &silent,
        "timeout_s=1&tries=2",
        &["no answer within 1 s", "asked 2 times"],
    );
    let ends = MockServer::new(|_| MockReply::CloseConnection);
    check(&ends, "tries=2", &["asked 2 times", "is kept"]);
    assert_eq!(ends.asked().len(), 2);
    let later = "retry-after: 86400\r\n";
    let later = MockServer::new(move |_| MockReply::Answer(429, later.to_owned(), Vec::new()));
    check(&later, "", &["429", "wait 86400 s"]);
}

#[test]
fn a_run_that_was_killed_asks_only_for_what_is_missing() {
    let home = home();
    let ready = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let goes_on = ready.clone();
    let peer = MockServer::new(move |asked| {
        match asked.number < 2 || goes_on.load(std::sync::atomic::Ordering::SeqCst) {
            true => half_lengths(asked),
            false => MockReply::NoResponse,
        }
    });
    let ranker = format!("{}/rerank?texts=1&at_once=1", peer.address);
    let mut program = home.program();
    program
        .args(["--data", "data"])
        .args(score_line(&ranker, "s.tsv"));
    let mut child = program.stderr(std::process::Stdio::null()).spawn().unwrap();
    let since = Instant::now();
    // There are two answers with one score each, of 29 bytes per record, and a third request
    // without an answer.
    let kept = || -> u64 {
        let drafts = std::fs::read_dir(home.path("data/drafts"))
            .into_iter()
            .flatten();
        drafts.map(|it| it.unwrap().metadata().unwrap().len()).sum()
    };
    while peer.asked().len() < 3 || kept() < 2 * 29 {
        assert!(since.elapsed() < PATIENCE);
        std::thread::sleep(Duration::from_millis(10));
    }
    child.kill().unwrap();
    child.wait().unwrap();

    let cost = home.run(&format!("{DRY_RUN} {ranker}")).json();
    assert_eq!((&cost["requests"], &cost["done"]), (&json!(5), &json!(2)));
    ready.store(true, std::sync::atomic::Ordering::SeqCst);
    let ran = score_with(&home, &ranker);
    ran.expect_stderr("2 of these requests are answered already");
    ran.expect_success();
    assert_eq!(peer.asked().len(), 3 + 3, "two were kept");
    assert_eq!(home.read("s.tsv").lines().count(), 5);
    assert!(
        !home.files().iter().any(|it| it.contains("draft")),
        "{:?}",
        home.files()
    );
}

#[test]
fn what_would_be_sent_is_told_and_not_sent() {
    let home = home();
    let peer = MockServer::new(|_| answer(500, ""));
    let ranker = format!("{}/rerank?texts=2", peer.address);
    let cost = home.run(&format!("{DRY_RUN} {ranker}")).json();
    let n_chars: usize = TEXTS.iter().map(|it| it.len()).sum();
    let characters = n_chars + 3 * "river bank".len();
    let expected = json!({"requests": 3, "texts": 5, "characters": characters, "done": 0});
    assert_eq!(cost, expected);
    assert_eq!(peer.asked().len(), 0);
    let refused = home.run(&format!("{DRY_RUN} bm25")).expect_failure();
    assert!(refused.starts_with("dry-run: "), "{refused}");
}

#[test]
fn a_study_says_which_pairs_a_private_model_has_to_score() {
    let home = home();
    let study = |rankers: &str| {
        let rest = "pool = \"all\"\nprobes = [\"tfc1\", \"lnc2\"]\nmodes = [\"fixed\"]";
        let rest = format!("{rest}\nrankers = [{rankers}]");
        study_file("private", "Private", "c", &rest)
    };
    home.write("study.toml", study(r#""bm25", "scores:mine.tsv""#));
    home.run("pairs --study study.toml --out all.tsv")
        .expect_success();
    home.run("pairs --study study.toml --out all.jsonl")
        .expect_success();
    let rows = home.read("all.tsv");
    let rows: Vec<Vec<&str>> = rows.lines().map(|it| it.split('\t').collect()).collect();
    assert_eq!(rows[0], ["query_id", "text_id", "query", "text"]);
    assert!(rows.iter().all(|it| it.len() == 4));
    assert_eq!(rows.len() - 1, home.read("all.jsonl").lines().count());
    let twice = rows
        .iter()
        .find(|it| it[1] == "d0#lnc2:2")
        .expect("derived texts are listed");
    assert_eq!(twice[3], "river bank river river bank river");

    let scored: Vec<String> = rows[1..]
        .iter()
        .map(|it| format!("{}\t{}\t{}", it[0], it[1], it[3].len()))
        .collect();
    let run = || home.run("study run study.toml --replace");
    home.write("c/runs/mine.tsv", scored.join("\n"));
    let ran = run();
    assert!(!ran.err.contains("have no score"), "{}", ran.err);
    ran.expect_success();

    // An error in a line is reported with its number; missing scores are reported with their count.
    home.run("pairs --study study.toml --out again.tsv")
        .expect_success();
    assert_eq!(home.read("again.tsv"), home.read("all.tsv"));
    let refused = |last: String| {
        home.write("study.toml", study(r#""ql", "scores:mine.tsv""#));
        home.write(
            "c/runs/mine.tsv",
            [&scored[..scored.len() - 1], &[last]].concat().join("\n"),
        );
        run().expect_failure()
    };
    let (n, last) = (scored.len(), &scored[scored.len() - 1]);
    let (pair, _) = last.rsplit_once('\t').unwrap();
    for (row, part) in [
        (format!("{pair}\tNaN"), "is not finite"),
        (format!("{pair}\tinf"), "is not finite"),
        (format!("{pair}\tx"), "is not a number"),
        (pair.to_owned(), "2 columns; expected 3"),
        (format!("{last}\n{last}"), "already has a score for query"),
    ] {
        let line = n + row.lines().count() - 1;
        let error = refused(row);
        assert!(
            error.contains(part) && error.contains(&format!(", line {line}:")),
            "{error}"
        );
    }
    home.write("c/runs/mine.tsv", scored[..n - 1].join("\n"));
    let ran = run();
    assert!(
        ran.err.contains(&format!("1 of {n} pairs have no score")),
        "{}",
        ran.err
    );
    ran.expect_success();
}

#[test]
fn what_a_service_has_answered_outlives_a_study_that_is_changed() {
    let home = home();
    // The second ranker answers three requests, and then none until it is repaired.
    let repaired = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let (is_repaired, n_of_second) = (repaired.clone(), std::sync::atomic::AtomicUsize::new(0));
    let peer = MockServer::new(move |asked| {
        use std::sync::atomic::Ordering;
        let body: Value = serde_json::from_str(&asked.body).unwrap();
        let second = body["model"] == "second";
        let n_before = n_of_second.fetch_add(usize::from(second), Ordering::SeqCst);
        match !second || n_before < 3 || is_repaired.load(Ordering::SeqCst) {
            true => half_lengths(asked),
            false => answer(500, "broken"),
        }
    });
    let address = format!("{}/rerank", peer.address);
    let study = |title: &str, pace: &str| {
        let rest = format!(
            "pool = \"all\"\nprobes = [\"tfc1\", \"lnc2\"]\nmodes = [\"fixed\"]\n\
             rankers = [\"{address}?{pace}\", \"bm25\", \"{address}?model=second&{pace}\"]"
        );
        home.write("study.toml", study_file("paid", title, "c", &rest));
        home.run("study run study.toml --replace")
    };
    // The number of documents that each ranker was asked for.
    let n_texts = || {
        let (mut of_first, mut of_second) = (0, 0);
        for asked in peer.asked() {
            let body: Value = serde_json::from_str(&asked.body).unwrap();
            let n = body["texts"].as_array().unwrap().len();
            match body["model"] == "second" {
                true => of_second += n,
                false => of_first += n,
            }
        }
        (of_first, of_second)
    };
    let refused = study("Before", "texts=1&at_once=1").expect_failure();
    assert!(refused.contains("broken"), "{refused}");
    let (n, of_second) = n_texts();
    assert!(n > 6, "{n}");
    let n_failed = of_second - 3;
    assert_eq!(peer.asked().len(), n + 3 + n_failed);

    repaired.store(true, std::sync::atomic::Ordering::SeqCst);
    let ran = study("After", "texts=2&at_once=1&timeout_s=50");
    ran.expect_stderr("stored scores are taken over");
    ran.expect_success();
    // Each document is requested once, and those without an answer once more.
    assert_eq!(n_texts(), (n, n + n_failed));
    let n_asked = n + 3 + n_failed + (n - 3).div_ceil(2);
    assert_eq!(peer.asked().len(), n_asked);
    assert!(
        !home.files().iter().any(|it| it.contains("draft")),
        "{:?}",
        home.files()
    );

    // A change of the title alone sends no request, and the rankers keep their order.
    study("At last", "tries=3").expect_success();
    assert_eq!(peer.asked().len(), n_asked);
    let report = home.run("report paid --format md").expect_success();
    assert!(report.contains("At last"), "{report}");
    let row = |start: String| {
        let mut lines = report.lines();
        let found = lines.find(|it| it.contains(&start) && it.contains("| remote |"));
        found
            .unwrap_or_else(|| panic!("{report} lacks {start}"))
            .to_owned()
    };
    let first = row(format!("| {address} |"));
    let second = row(format!("| {address}?model=second |"));
    assert!(first.contains("| 0 | – | a service may change"), "{first}");
    assert!(report.find(&first) < report.find(&second));
}
