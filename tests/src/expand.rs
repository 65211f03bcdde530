//! `expand`: documents with queries that a model generates for them.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::harness::{CommandOutput, PATIENCE, TestHome, study_file, tiny_collection};

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

/// The fields of the JSON lines of a file, as texts.
fn rows<const N: usize>(text: &str, keys: [&str; N]) -> Vec<[String; N]> {
    let row = |line: &str| {
        let row: Value = serde_json::from_str(line).unwrap();
        keys.map(|it| row[it].as_str().unwrap_or_default().to_owned())
    };
    text.lines().map(row).collect()
}

fn words(text: &str) -> Vec<String> {
    let text = text.to_lowercase();
    let words = text.split(|it: char| !it.is_ascii_alphanumeric());
    words
        .filter(|it| !it.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Returns the words of each document, by id.
fn words_of_documents(corpus: &str) -> Vec<(String, Vec<String>)> {
    let docs = rows(corpus, ["_id", "title", "text"]).into_iter();
    docs.map(|[id, title, text]| (id, words(&format!("{title} {text}"))))
        .collect()
}

/// The run of `rank`, the scores of `score` and the study are compared with BM25 by hand: counts
/// and lengths in the collection that `expand` writes, the other statistics in the original one.
#[test]
fn a_doc2query_ranker_scores_what_expand_writes() {
    let home = TestHome::new();
    let collection = tiny_collection();
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../neural/tests/fixtures");
    let model = format!("{fixtures}/t5-gated");
    let ranker = format!("{model}:doc2query");
    home.run(&format!(
        "expand --collection {collection} --model {model} --queries 4 --out wide"
    ))
    .expect_success();
    let original = fs::read_to_string(format!("{collection}/corpus.jsonl")).unwrap();
    let original = words_of_documents(&original);
    let expanded = words_of_documents(&home.read("wide/corpus.jsonl"));
    let queries = fs::read_to_string(format!("{collection}/queries.jsonl")).unwrap();
    let n_docs = original.len() as f64;
    let average = original.iter().map(|it| it.1.len()).sum::<usize>() as f64 / n_docs;
    let mut expected: Vec<(String, String, f64)> = Vec::new();
    for [query, text] in rows(&queries, ["_id", "text"]) {
        for (doc, document) in &expanded {
            let score = |word: &String| {
                let df = original.iter().filter(|it| it.1.contains(word)).count() as f64;
                let tf = document.iter().filter(|it| *it == word).count() as f64;
                let length = document.len() as f64;
                let idf = (1.0 + (n_docs - df + 0.5) / (df + 0.5)).ln();
                idf * 2.2 * tf / (tf + 1.2 * (0.25 + 0.75 * length / average))
            };
            let score: f64 = words(&text).iter().map(score).sum();
            expected.push((query.clone(), doc.clone(), score));
        }
    }

    let stemmer = "--stemmer none";
    let line = format!("rank --collection {collection} --ranker {ranker} {stemmer} --out own.run");
    home.run(&line).expect_success();
    let run = home.read("own.run");
    let run: Vec<Vec<&str>> = run
        .lines()
        .map(|it| it.split_whitespace().collect())
        .collect();
    let matching: Vec<_> = expected.iter().filter(|it| it.2 > 0.0).collect();
    assert_eq!(run.len(), matching.len());
    for pair in run.windows(2).filter(|it| it[0][0] == it[1][0]) {
        let [before, after] = [0, 1].map(|at| pair[at][4].parse::<f64>().unwrap());
        assert!(before >= after, "{pair:?}");
    }
    let check_score =
        |rows: &[Vec<&str>], columns: [usize; 2], expected: &(String, String, f64)| {
            let (query, doc, score) = expected;
            let mut rows = rows.iter();
            let row = rows.find(|it| it[0] == *query && it[columns[0]] == *doc);
            let row = row.unwrap();
            let found: f64 = row[columns[1]].parse().unwrap();
            assert!((found - score).abs() < 1e-9, "{row:?}: {score}");
        };
    for it in matching {
        check_score(&run, [2, 4], it);
    }
    assert!(run.iter().all(|it| it[5] == "t5-gated:doc2query"));

    let mut pairs = "query_id\ttext_id\n".to_owned();
    for (query, doc, _) in &expected {
        pairs += &format!("{query}\t{doc}\n{query}\t{doc}#lnc2:2\n");
    }
    home.write("pairs.tsv", pairs);
    home.run(&format!(
        "score --collection {collection} --pairs pairs.tsv --ranker {ranker} {stemmer} --out own.tsv"
    ))
    .expect_success();
    let scores = home.read("own.tsv");
    let scores: Vec<Vec<&str>> = scores.lines().map(|it| it.split('\t').collect()).collect();
    assert_eq!(scores.len(), 2 * expected.len());
    for it in &expected {
        check_score(&scores, [1, 2], it);
    }

    let rest = format!(
        "pool = \"all\"\nprobes = [\"tfc1\", \"lnc2\", \"reverse-words\"]\n\
         rankers = [\"bm25\", \"{ranker}\"]"
    );
    home.write("study.toml", study_file("wide", "Wide", collection, &rest));
    home.run("study run study.toml").expect_success();
    let report = home.run("report wide --format md").expect_success();
    assert!(report.contains("t5-gated doc2query"), "{report}");
    home.run("study run study.toml")
        .expect_stderr("rankers scored now: 0");
    let refused = home.run(&line.replace("t5-gated", "tiny"));
    let refused = refused.expect_failure();
    assert!(
        refused.contains("no model named `tiny:doc2query`"),
        "{refused}"
    );
    let refused = home.run(&line.replace(":doc2query", ":monot5"));
    assert!(refused.expect_failure().contains("or a doc2query model"));
}

#[test]
fn an_expansion_that_was_killed_leaves_no_folder_and_goes_on() {
    let home = TestHome::new();
    // Documents are stored in groups of eight per thread. There are twelve groups, so that a slow
    // machine, too, kills it before it is done.
    let n_docs = 96;
    let corpus = (0..n_docs).map(|it| format!("{{\"_id\":\"d{it}\",\"text\":\"river {it}\"}}\n"));
    home.write("many/corpus.jsonl", corpus.collect::<String>());
    home.write("many/queries.jsonl", "{\"_id\":\"q\",\"text\":\"river\"}\n");
    let model = concat!(env!("CARGO_MANIFEST_DIR"), "/../neural/tests/fixtures/t5");
    let start = |out: &str| {
        let line =
            format!("expand --collection many --model {model} --out {out} --queries 25 --json");
        let mut program = home.program();
        program.env("RAYON_NUM_THREADS", "1");
        program.args(line.split_whitespace());
        program
    };
    let told = CommandOutput::run(&mut start("whole")).json();
    let mut running = start("again").spawn().unwrap();
    let draft = || home.files().into_iter().find(|it| it.ends_with(".draft"));
    let begun = Instant::now();
    let is_empty = |it: String| fs::read(home.path(&it)).is_ok_and(|it| it.is_empty());
    while draft().is_none_or(is_empty) && running.try_wait().unwrap().is_none() {
        assert!(begun.elapsed() < PATIENCE);
        std::thread::sleep(Duration::from_millis(5));
    }
    running.kill().unwrap();
    running.wait().unwrap();
    let kept = home.read(&draft().expect("it was killed before it was done"));
    // The last line may be torn: the system ends a long write when the process is killed.
    let n_kept = kept.matches('\n').count();
    assert!(!kept.is_empty() && n_kept < n_docs, "{n_kept}");
    assert!(!home.path("again").exists());

    assert_eq!(CommandOutput::run(&mut start("again")).json(), told);
    for file in ["corpus.jsonl", "expansions.jsonl", "expansion.json"] {
        let read = |folder: &str| home.read(&format!("{folder}/{file}"));
        assert_eq!(read("whole"), read("again"), "{file}");
    }
    assert_eq!(draft(), None);
}
