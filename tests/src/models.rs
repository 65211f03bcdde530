//! Models of every architecture on the command line.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use shared::api::ScoreDocumentsRequest;

use crate::harness::{TestHome, demo_folder, tiny_collection, tiny_model};
use crate::rerank::{collect, score_line};

#[test]
fn models_of_each_architecture_judge() {
    let home = TestHome::new();
    let collection = tiny_collection();
    home.run(&format!(
        "mine --collection {collection} --pool all --out mined.parquet"
    ))
    .expect_success();
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../neural/tests/fixtures");
    for name in [
        "cross-tiny",
        "cross-electra",
        "cross-distilbert",
        "roberta:late",
        "splade-tiny:splade",
        "colbert-tiny",
        "epic-tiny",
        "dense-tiny",
        "t5",
        "t5-gated:doc2query",
        "cross-modernbert",
        "modernbert:late",
        "splade-modernbert:splade",
    ] {
        let line = format!(
            "judge --collection {collection} --instances mined.parquet --json \
             --ranker {fixtures}/{name}"
        );
        let judged = home.run(&line).json();
        let of = |what: &str| judged["tfc1"][what].as_u64().unwrap();
        assert_eq!(of("unscored"), 0, "{name}: {judged}");
        assert!(of("satisfied") + of("violated") > 0, "{name}: {judged}");
    }
    let refused = home.run(&format!(
        "judge --collection {collection} --instances mined.parquet --ranker {fixtures}/electra:cross"
    ));
    let refused = refused.expect_failure();
    let known = "no model named `electra:cross` among `electra:bi`, `electra:late`";
    assert!(refused.contains(known), "{refused}");
}

#[test]
fn a_pair_of_many_instances_is_read_once() {
    let home = TestHome::new();
    // Documents of equal length with an increasing number of the term, so that each pair is an
    // instance.
    let text = |n: usize| {
        let words = ["river", "meadow"].map(str::to_owned);
        let [river, meadow] = words;
        [vec![river; n], vec![meadow; 12 - n]].concat().join(" ")
    };
    let corpus = (1..12).map(|n| format!("{{\"_id\": \"d{n}\", \"text\": \"{}\"}}\n", text(n)));
    home.write("c/corpus.jsonl", corpus.collect::<String>());
    home.write("c/queries.jsonl", "{\"_id\": \"q\", \"text\": \"river\"}\n");
    let mined = home
        .run("mine --collection c --pool all --probes tfc1 --json --out mined.parquet")
        .json();
    assert_eq!(mined["instances"]["tfc1"], 55);
    let cross = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../neural/tests/fixtures/cross-tiny"
    );
    let judge = format!("judge --collection c --instances mined.parquet --json --ranker {cross}");
    let judged = home.run(&judge);
    let told = judged.err.clone();
    assert_eq!(judged.json()["tfc1"]["unscored"], 0);
    assert!(told.contains(": 11 pairs, 11 sequences of "), "{told}");
}

#[test]
fn a_tokenizer_that_breaks_off_is_an_error_of_its_model_alone() {
    let home = TestHome::new();
    for file in ["config.json", "model.safetensors"] {
        home.write(
            &format!("broken/{file}"),
            fs::read(tiny_model().join(file)).unwrap(),
        );
    }
    let tokenizer = fs::read(tiny_model().join("tokenizer.json")).unwrap();
    let mut tokenizer: Value = serde_json::from_slice(&tokenizer).unwrap();
    // A run of `n` letters matches in as many ways as `n` is a sum of ones and twos.
    tokenizer["pre_tokenizer"] = json!({
        "type": "Split", "pattern": {"Regex": "(a|aa)+$"}, "behavior": "Isolated", "invert": false,
    });
    home.write("broken/tokenizer.json", tokenizer.to_string());
    let broken = home.path("broken").to_string_lossy().into_owned();
    let long = "a".repeat(200) + "b";
    collect(&home, "a", &[long.as_str()]);
    let says = "broken:bi: tokenizer.json: the tokenizer breaks off";
    home.run_with(&score_line(&broken, "s.tsv"))
        .expect_failure_with(says);

    let fine = tiny_model().to_string_lossy().into_owned();
    let server = home.serve(&["--model", &broken, "--model", &fine]);
    let score = |ranker: &str, text: &str| {
        server.try_call(&ScoreDocumentsRequest {
            model: ranker.to_owned(),
            query: "a".to_owned(),
            documents: vec![text.to_owned()],
        })
    };
    let (status, problem) = score("broken:bi", &long).unwrap_err();
    assert_eq!((status, problem.error_type.as_str()), (503, "model"));
    assert!(problem.error.contains(says), "{problem:?}");
    assert!(score("tiny:bi", &long).is_ok() && score("broken:bi", "a").is_ok());
}

#[test]
fn a_model_is_evaluated_beside_bm25_and_the_text_of_another_query() {
    let home = TestHome::new();
    let (demo, model) = (demo_folder(), tiny_model());
    let model = model.display();
    let evaluated = home.run(&format!(
        "models evaluate {model}:bi --collection {demo} --pool all"
    ));
    let table = evaluated.expect_success();
    let row = |name: &str| -> Vec<String> {
        let mut lines = table.lines();
        let line = lines.find(|it| it.starts_with(&format!("| {name} |")));
        let line = line.unwrap_or_else(|| panic!("no row {name}: {table}"));
        line.split(" | ")
            .skip(1)
            .map(|it| it.trim_matches([' ', '|']).to_owned())
            .collect()
    };
    // The same ranking by other commands: the first documents all contain a query term.
    home.run(&format!(
        "rank --collection {demo} --ranker bm25 --out bm25.run"
    ))
    .expect_success();
    let eval = home
        .run(&format!(
            "eval -m RR -m nDCG@10 --json {demo}/qrels.tsv bm25.run"
        ))
        .json();
    let [rr, ndcg] = ["RR", "nDCG@10"].map(|it| format!("{:.4}", eval[it].as_f64().unwrap()));
    let bm25 = row("BM25");
    assert_eq!([&bm25[1], &bm25[3]], [&rr, &ndcg], "{table}");
    // The model has random weights.
    assert!(
        table.starts_with("**Does not beat BM25 on the 64 queries: AP "),
        "{table}"
    );
    assert_ne!(row("tiny"), row("ranked for another query"));
    let unknown = home.run(&format!(
        "models evaluate {model} --collection {demo} --split test"
    ));
    let unknown = unknown.expect_failure();
    assert!(
        unknown.contains("no query of the collection has a split"),
        "{unknown}"
    );
}

/// The model cards of `models/` are those of their weights: the last table is made again.
#[test]
fn small_models_do_on_the_demo_collection_what_their_cards_say() {
    let home = TestHome::new();
    let demo = demo_folder();
    let models = Path::new(demo).with_file_name("models");
    let mut n_models = 0;
    for entry in fs::read_dir(&models).unwrap() {
        let folder = entry.unwrap().path();
        if !folder.is_dir() {
            continue;
        }
        n_models += 1;
        let card = fs::read_to_string(folder.join("README.md")).unwrap();
        let evaluate = format!("models evaluate {} --collection {demo}", folder.display());
        let evaluated = home.run(&evaluate).expect_success();
        let table = &evaluated[evaluated.find("| ranking").unwrap()..];
        assert!(card.contains(table), "{}: {table}", folder.display());
        let inspected = home
            .run(&format!("models inspect {}", folder.display()))
            .expect_success();
        let (_, hash) = inspected.split_once("weights sha256\t").unwrap();
        assert!(card.contains(hash.trim()), "{}", folder.display());
    }
    assert_eq!(n_models, 6);
}
