//! Training of rankers: results, learning curves, loading, continuing after a kill, and errors.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::{TestHome, demo_folder, study_file, tiny_model};

mod options;

const NETWORKS: [&str; 6] = ["drmm", "anmm", "duet", "matchpyramid", "knrm", "conv-knrm"];

/// Vectors of 16 numbers and two epochs, which take a second or two.
pub(crate) const SMALL: &str = "--set dimensions=16 --set epochs=2 --set max_document_terms=30";

/// 20 trees for LambdaMART, which are evaluated twice.
const FEW_TREES: &str = "--set n_trees=20 --set min_data_in_leaf=5";

/// Creates a home with the demo collection, of which every fourth query is for development and
/// every fourth for the test.
pub(crate) fn home_with_splits() -> TestHome {
    let home = TestHome::new();
    for file in ["corpus.jsonl", "queries.jsonl", "qrels.tsv"] {
        let bytes = std::fs::read(format!("{}/{file}", demo_folder())).unwrap();
        home.write(&format!("demo/{file}"), bytes);
    }
    let mut splits = String::new();
    for (at, line) in home.read("demo/queries.jsonl").lines().enumerate() {
        let query: Value = serde_json::from_str(line).unwrap();
        let split = ["dev", "test", "train", "train"][at % 4];
        writeln!(splits, "{}\t{split}", query["_id"].as_str().unwrap()).unwrap();
    }
    home.write("demo/splits.tsv", splits);
    home
}

/// Returns the options with which a ranker is made of a tiny encoder of random weights.
fn from_tiny_encoder() -> String {
    let folder = tiny_model();
    format!("--from {} --set max_document_tokens=64", folder.display())
}

/// Returns the lines of a learning curve.
fn curve(home: &TestHome, folder: &str) -> Vec<Value> {
    let file = home.read(&format!("{folder}/curves.jsonl"));
    let points = file.lines().map(|it| serde_json::from_str(it).unwrap());
    points.collect()
}

/// Returns the keys of an object, in order.
fn keys(object: &Value) -> Vec<&str> {
    object
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect()
}

#[test]
fn every_model_is_trained_and_scores_as_it_did_in_training() {
    let home = home_with_splits();
    home.run("mine --collection demo --pool judged --out mined.parquet")
        .expect_success();
    let mut scored_pairs = String::new();
    let mut qrels_of_test = String::new();
    let splits = home.read("demo/splits.tsv");
    let tests: Vec<&str> = splits
        .lines()
        .filter_map(|it| it.strip_suffix("\ttest"))
        .collect();
    for line in home.read("demo/qrels.tsv").lines() {
        let [query, _, doc, _] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        if tests.contains(&query) {
            writeln!(scored_pairs, "{query}\t{doc}").unwrap();
            writeln!(qrels_of_test, "{line}").unwrap();
        }
    }
    home.write("pairs.tsv", format!("query_id\ttext_id\n{scored_pairs}"));
    home.write("test.qrels", qrels_of_test);
    let of_encoder = format!("{} --set epochs=2 --set weights=best", from_tiny_encoder());
    let models = NETWORKS.map(|it| (it, SMALL)).into_iter();
    let encoders = ["cross-encoder", "colbert"].map(|it| (it, of_encoder.as_str()));
    for (network, small) in models.chain([("lambdamart", FEW_TREES)]).chain(encoders) {
        let line = format!("train --model {network} --collection demo --test test --out {network}");
        let told = home.run(&format!("{line} {small} --json")).json();
        assert_eq!(told["model"], network);
        assert!(told["parameters"].as_u64().unwrap() > 30, "{told}");
        assert_eq!(keys(&told["best"]), ["AP", "step"]);
        assert_eq!(keys(&told["dev"]), ["AP", "RR", "RR@10", "nDCG@10"]);
        assert_eq!(told["dev"]["AP"], told["best"]["AP"]);
        assert_eq!(told["controls"]["n_queries"], 16);

        // A point for each epoch, with the six axioms that need no word vectors.
        let curve = curve(&home, network);
        assert_eq!(curve.len(), 2);
        assert_eq!(curve[1]["step"], told["steps"]);
        for point in &curve {
            let axioms = &point["axioms"];
            assert_eq!(keys(axioms), ["lnc1", "lnc2", "mtdc", "tfc1", "tfc2", "tp"]);
            let lnc2 = &axioms["lnc2"];
            let number = |it: &Value| it.as_f64().unwrap();
            let [low, high] = [0, 1].map(|it| number(&lnc2["interval"][it]));
            let fraction = number(&lnc2["fraction"]);
            assert!(low <= fraction && fraction <= high && high <= 1.0, "{lnc2}");
            assert!(lnc2["n"].as_u64().unwrap() > 100, "{lnc2}");
        }

        let card = home.read(&format!("{network}/README.md"));
        assert!(card.contains("| ranked for another query | "), "{card}");
        assert!(card.contains(&format!(
            "| test queries | {:.4}",
            told["test"]["AP"].as_f64().unwrap()
        )));
        assert!(card.contains("| lnc2 | "), "{card}");

        // The folder is a model, whose scores are those of training.
        let score = "score --collection demo --pairs pairs.tsv --out scores.tsv";
        home.run(&format!("{score} --ranker {network}"))
            .expect_success();
        let mut run = String::new();
        for line in home.read("scores.tsv").lines() {
            let [query, doc, score] = line.split('\t').collect::<Vec<_>>()[..] else {
                panic!("{line}")
            };
            writeln!(run, "{query} Q0 {doc} 1 {score} {network}").unwrap();
        }
        home.write("test.run", run);
        let eval = "eval test.qrels test.run -m AP,RR --json";
        let evaluated = home.run(eval).json();
        for measure in ["AP", "RR"] {
            let [found, expected] =
                [&evaluated, &told["test"]].map(|it| it[measure].as_f64().unwrap());
            assert!(
                (found - expected).abs() < 1e-12,
                "{network} {measure}: {evaluated} {told}"
            );
        }
        let judge = "judge --collection demo --instances mined.parquet --json --ranker";
        let judged = home.run(&format!("{judge} {network}")).json();
        assert_eq!(judged["tfc1"]["unscored"], json!(0));

        // The same command prints the same result again.
        let again = home.run(&format!("{line} {small} --json")).json();
        assert_eq!(again, told);
    }
}

#[test]
fn lambdamart_is_a_ranker_of_studies_and_shows_its_features() {
    let home = home_with_splits();
    let line = "train --model lambdamart --collection demo --out trees";
    let told = home.run(&format!("{line} {FEW_TREES} --json")).json();
    assert_eq!(told["steps"], 20);
    let card = home.read("trees/README.md");
    assert!(
        card.contains(&format!("| leaves | {} |", told["parameters"])),
        "{card}"
    );
    assert!(card.contains("| SHA-256 of `model.json` | "), "{card}");
    // The importances are fractions in descending order; there are no word vectors.
    let features = card.split("## Features").nth(1).unwrap().lines();
    let rows: Vec<Vec<&str>> = features
        .filter(|it| it.contains(" | `"))
        .map(|it| it.split('|').map(str::trim).collect())
        .collect();
    let importances: Vec<f64> = rows.iter().map(|it| it[2].parse().unwrap()).collect();
    assert_eq!(importances.len(), 14);
    assert!(importances.is_sorted_by(|a, b| a >= b), "{importances:?}");
    assert!((importances.iter().sum::<f64>() - 1.0).abs() < 0.01);
    assert_eq!(rows[13][1..3], ["word_vector_cosine", "0.000"]);

    // Derived documents are scored as those of the collection are.
    let rest = "pool = \"judged\"\nprobes = [\"tfc1\", \"lnc2\", \"repeat:3\"]\n\
                rankers = [\"bm25\", \"trees\", \"trees:lambdamart+maxp\"]";
    home.make_study(study_file("of-trees", "Trees", "demo", rest));
    let report = home.run("report of-trees").expect_success();
    assert!(report.contains("trees MaxP"), "{report}");
    let models = home.run("models inspect trees").expect_success();
    assert!(models.contains("trees:lambdamart"), "{models}");

    let refused = |args: &str, part: &str| home.expect_refused(&format!("{line} {args}"), part);
    refused(
        FEW_TREES.split_once(" --set").unwrap().0,
        "has the training of another recipe",
    );
    refused(
        &format!("{FEW_TREES} --seed 2"),
        "has the training of another seed",
    );
    let network = "train --model drmm --collection demo --out trees";
    home.expect_refused(network, "has the training of another model");
    home.run("mine --collection demo --pool judged --probes lnc1 --out lnc1.parquet")
        .expect_success();
    refused(
        "--augment instances:lnc1.parquet",
        "LambdaMART learns from grades",
    );
    refused("--variant as-published", "variant: is for networks");
    refused(
        "--recipe rennings2019",
        "it is not for model `lambdamart`, whose recipes are",
    );
    refused(
        "--set dropout=0.1",
        "a recipe has no key `dropout`; known are boosting.l2",
    );
    let mut trees: Value = serde_json::from_str(&home.read("trees/model.json")).unwrap();
    trees["learner"]["gradient_booster"]["model"]["trees"][0]["left_children"][0] = json!(0);
    home.write("trees/model.json", trees.to_string());
    let judge = "judge --collection demo --instances lnc1.parquet --ranker trees";
    home.expect_refused(judge, "model.json of a LambdaMART ranker cannot be used");
}

#[test]
fn a_training_is_reported_with_its_curves() {
    let home = home_with_splits();
    let line = "train --model drmm --collection demo --test test --out trained/my-drmm";
    let told = home.run(&format!("{line} {SMALL} --json")).json();
    let report = |args: &str| home.run(&format!("report trained/my-drmm {args}"));

    let tables = report("--format json").json();
    let names: Vec<&Value> = tables
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["name"])
        .collect();
    assert_eq!(names, ["learning_curve", "axioms_learned", "effectiveness"]);
    let curve = curve(&home, "trained/my-drmm");
    let rows = |table: usize| tables[table]["rows"].as_array().unwrap();
    assert_eq!(rows(0).len(), curve.len());
    assert_eq!(rows(0)[1][0]["count"], told["steps"]);
    assert_eq!(rows(0)[1][1]["score"]["value"], curve[1]["loss"]);
    // The first crossing is the first checkpoint from which each lower bound is above .5.
    let axioms = ["tfc1", "tfc2", "mtdc", "lnc1", "lnc2", "tp"];
    assert_eq!(rows(1).len(), axioms.len());
    for (row, axiom) in rows(1).iter().zip(axioms) {
        let is_above = |it: &&Value| it["axioms"][axiom]["interval"][0].as_f64() > Some(0.5);
        let crossing = curve.iter().rev().take_while(is_above).last();
        let expected = crossing.map_or(json!("missing"), |it| json!({"count": it["step"]}));
        assert_eq!(row[3], expected, "{row}");
        let last = &curve[1]["axioms"][axiom];
        assert_eq!(row[2]["estimate"]["value"], last["fraction"]);
        assert_eq!(row[2]["estimate"]["interval"], last["interval"]);
    }
    assert_eq!(rows(2)[1][1]["score"]["value"], told["test"]["AP"]);

    let page = report("--format html").expect_success();
    assert!(
        page.contains("<h1>my-drmm</h1>") && page.contains("Learning curves over"),
        "{page}"
    );
    let csv = report("--format csv").expect_success();
    assert!(
        csv.starts_with("updates,loss,AP,RR,RR@10,nDCG@10,TFC1,TFC1 low,TFC1 high,"),
        "{csv}"
    );
    home.expect_refused(
        "report trained/my-drmm --split dev",
        "split: is an option for studies",
    );

    // Without the result, the curve is reported.
    std::fs::remove_file(home.path("trained/my-drmm/training.json")).unwrap();
    let markdown = report("").expect_success();
    assert!(
        markdown.contains("| M-TDC | ") && !markdown.contains("effectiveness"),
        "{markdown}"
    );

    let curves = home.read("trained/my-drmm/curves.jsonl");
    home.write("torn/curves.jsonl", &curves[..curves.len() - 9]);
    home.expect_refused(
        "report torn",
        "torn/curves.jsonl, line 2: EOF while parsing",
    );
    home.expect_refused(
        "report torn",
        "remove the line, or train again in another folder",
    );
    home.expect_refused(
        "report demo",
        "demo/curves.jsonl: has no checkpoint; give the name of",
    );
    home.expect_refused("report missing", "there is no study named `missing`");
}

#[test]
fn a_study_is_reported_before_a_training_of_its_name() {
    let home = home_with_splits();
    let rest = "pool = \"judged\"\nprobes = [\"lnc2\"]\nrankers = [\"bm25\"]";
    home.make_study(study_file("both", "A study", "demo", rest));
    home.write("both/curves.jsonl", "");
    let report = home.run("report both").expect_success();
    assert!(report.contains("## A study: "), "{report}");
}

/// Begins a training again and again, and kills it: every fourth kill meets its set-up, the others
/// come after one to three more checkpoints.
fn kill_often(home: &TestHome, line: &str, checkpoint: &str, n_kills: u64) {
    let checkpoint = home.path(checkpoint);
    let written = || {
        std::fs::metadata(&checkpoint)
            .and_then(|it| it.modified())
            .ok()
    };
    let mut n_interrupted = 0;
    for at in 0..n_kills {
        let mut program = home.program();
        let args = format!("--data data {}", line);
        program.args(args.split_whitespace());
        let mut last = written();
        let mut child = program
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut n_checkpoints = 0;
        while n_checkpoints < at % 4 && child.try_wait().unwrap().is_none() {
            thread::sleep(Duration::from_millis(5));
            n_checkpoints += u64::from(written() != last);
            last = written();
        }
        thread::sleep(Duration::from_millis((at * 7919) % 200));
        child.kill().unwrap();
        child.wait().unwrap();
        let is_finished = home.path("killed/training.json").exists();
        n_interrupted += u64::from(written().is_some() && !is_finished);
    }
    assert!(
        n_interrupted * 4 > n_kills * 3,
        "of {n_kills} kills only {n_interrupted} met a training with a checkpoint"
    );
}

/// Expects the summaries, the learning curves and these files of the trainings in `killed` and
/// `whole` to be equal.
fn expect_same_training(home: &TestHome, killed: &Value, whole: &Value, files: &[&str]) {
    for key in ["sha256", "steps", "best", "dev", "controls"] {
        assert_eq!(killed[key], whole[key], "{key}");
    }
    for file in ["curves.jsonl"].iter().chain(files) {
        let [found, expected] = ["killed", "whole"].map(|it| home.read(&format!("{it}/{file}")));
        assert!(found == expected, "{file}");
    }
}

#[test]
fn lambdamart_that_is_killed_ends_with_the_same_trees() {
    let home = home_with_splits();
    let line = |out: &str| {
        format!(
            "train --model lambdamart --collection demo --set n_trees=120 --augment lnc2 --json \
             --set patience=none --set evaluation_interval=1 --out {out}"
        )
    };
    let whole = home.run(&line("whole")).json();
    kill_often(&home, &line("killed"), "killed/checkpoint.json", 6);
    let ended = home.run(&line("killed")).json();
    expect_same_training(&home, &ended, &whole, &["model.json", "statistics.json"]);
}

#[test]
fn an_encoder_in_training_that_is_killed_ends_with_the_same_weights() {
    let home = home_with_splits();
    let line = |out: &str| {
        let from = from_tiny_encoder();
        format!("train --model colbert {from} --collection demo --set epochs=6 --json --out {out}")
    };
    let whole = home.run(&line("whole")).json();
    kill_often(&home, &line("killed"), "killed/checkpoint.safetensors", 5);
    let ended = home.run(&line("killed")).json();
    expect_same_training(&home, &ended, &whole, &["config.json", "ranker.toml"]);
}

/// Trains once without interruption, and once with this many kills.
pub(crate) fn kill_and_compare(n_kills: u64, n_epochs: u64) {
    let home = home_with_splits();
    let line = |out: &str, seed: u64| {
        format!(
            "train --model duet --collection demo --seed {seed} --set dimensions=16 \
             --set epochs={n_epochs} --set patience_epochs=none --set updates_per_epoch=5 \
             --set batch_size=25 --set axioms=tfc1,lnc1,lnc2 --augment lnc2 --json --out {out}"
        )
    };
    let whole = home.run(&line("whole", 5)).json();
    kill_often(
        &home,
        &line("killed", 5),
        "killed/checkpoint.safetensors",
        n_kills,
    );
    let ended = home.run(&line("killed", 5)).json();
    expect_same_training(&home, &ended, &whole, &[]);
    home.expect_refused(&line("whole", 6), "has the training of another seed");
}

#[test]
fn a_training_that_is_killed_ends_with_the_same_weights() {
    kill_and_compare(10, 60);
}

#[test]
fn instances_of_an_axiom_among_the_examples_repair_it() {
    let home = home_with_splits();
    let mine = "mine --collection demo --pool judged --probes lnc1 --out lnc1.parquet";
    home.run(mine).expect_success();
    let satisfied = |augment: &str, out: &str| {
        let line = "train --model drmm --collection demo --set epochs=10 --set weights=last";
        let line = format!("{line} --set dimensions=16 --out {out} --json {augment}");
        home.run(&line).expect_success();
        let last = curve(&home, out).pop().unwrap();
        last["axioms"]["lnc1"]["fraction"].as_f64().unwrap()
    };
    let before = satisfied("", "before");
    let after = satisfied("--augment instances:lnc1.parquet:0.5", "after");
    // On queries whose instances were not among the examples.
    assert!(after > before + 0.1, "{before} {after}");
    let card = home.read("after/README.md");
    assert!(
        card.contains("instances of `lnc1.parquet` with the weight 0.5"),
        "{card}"
    );

    let line = "train --model drmm --collection demo --out other";
    let groups = format!("{line} --augment instances:lnc1.parquet --set unit=query");
    home.expect_refused(&groups, "instances are pairs");
}

#[test]
fn what_cannot_be_trained_is_refused_with_a_way_out() {
    let home = home_with_splits();
    let line = "train --collection demo --out trained";
    let cases = BTreeMap::from([
        (
            "--model drmm --split training",
            "its splits are dev, test, train",
        ),
        (
            "--model drmm --recipe best",
            "built in are `default`, `rennings2019`, `wikiqa-reference`",
        ),
        (
            "--model drmm --recipe macavaney2022",
            "it is not for model `drmm`, but for",
        ),
        (
            "--model drmm --set rate=1",
            "a recipe has no key `rate`; known are",
        ),
        (
            "--model drmm --set learning_rate=fast",
            "`fast` is not a valid value of",
        ),
        ("--model drmm --set dropout=0.5", "this network has none"),
        ("--model colbert", "name the encoder, for example --from"),
        (
            "--model drmm --from bert",
            "is for the models cross-encoder and colbert",
        ),
        (
            "--model colbert --from bert --recipe camara2020",
            "it is not for model `colbert`, but for `cross-encoder`",
        ),
        (
            "--model cross-encoder --from bert --set axioms=lnc2",
            "`regularizer` changes words",
        ),
        (
            "--model knrm --set train_vectors=true",
            "does not train its word vectors",
        ),
        (
            "--model drmm --set vectors=nowhere.txt",
            "there is no file `nowhere.txt`",
        ),
        (
            "--model drmm --set function=margin-mse",
            "there are no scores of a teacher",
        ),
    ]);
    for (args, part) in cases {
        home.expect_refused(&format!("{line} {args}"), part);
    }
    home.write("plain/corpus.jsonl", r#"{"_id": "d", "text": "a river"}"#);
    home.write("plain/queries.jsonl", r#"{"_id": "q", "text": "river"}"#);
    let plain = "train --model drmm --collection plain --out trained";
    home.expect_refused(plain, "no query of the collection has a split");
    assert!(!home.path("trained/model.safetensors").exists());
}
