//! Studies that train rankers: scores, controls, repairs, repetition, and what is refused first.

use serde_json::Value;

use crate::harness::{TestHome, study_file, tiny_model};
use crate::train::home_with_splits;

/// The two trainings of a study: a DRMM and its repair on repeated documents.
const TRAININGS: &str = r#"
[[train]]
name = "drmm"
model = "drmm"
test = "test"
set = ["dimensions=16", "epochs=3", "max_document_terms=30"]

[[train]]
name = "drmm-lnc2"
model = "drmm"
test = "test"
augment = ["lnc2"]
repairs = "drmm"
set = ["dimensions=16", "epochs=3", "max_document_terms=30"]
"#;

/// Returns a study file with trainings.
fn study_with(trainings: &str) -> String {
    let rest = "pool = \"judged\"\nprobes = [\"tfc1\", \"lnc1\", \"lnc2\"]\nrankers = [\"bm25\"]";
    study_file("trained", "Trained rankers", "demo", rest) + trainings
}

/// Returns the rows of a table of a report.
fn rows<'a>(tables: &'a Value, name: &str) -> &'a [Value] {
    let mut all = tables.as_array().unwrap().iter();
    let table = all.find(|it| it["name"] == name).unwrap();
    table["rows"].as_array().unwrap()
}

/// Returns the number in a value of a table.
fn number(value: &Value) -> f64 {
    let (_, inner) = value.as_object().unwrap().iter().next().unwrap();
    let nested = inner.get("value").unwrap_or(inner);
    nested.as_f64().unwrap()
}

fn summary(home: &TestHome, ranker: &str) -> Value {
    let file = format!("data/studies/trained/trained/{ranker}/training.json");
    serde_json::from_str(&home.read(&file)).unwrap()
}

#[test]
fn a_study_trains_two_rankers_and_reports_the_repair() {
    let home = home_with_splits();
    home.write("study.toml", study_with(TRAININGS));
    let told = home.run("study run study.toml").expect_success();
    assert!(
        told.contains("drmm-lnc2: The repair changes LNC2 from "),
        "{told}"
    );

    let report = |args: &str| home.run(&format!("report trained {args}"));
    let tables = report("--format json").json();
    let rankers: Vec<&Value> = rows(&tables, "fractions")
        .iter()
        .map(|it| &it[0]["text"])
        .collect();
    assert_eq!(rankers[..3], ["BM25", "drmm", "drmm-lnc2"]);

    // Controls are those of the trainings.
    let controls = rows(&tables, "trained_controls");
    assert_eq!(controls.len(), 4);
    for (at, ranker) in ["drmm", "drmm-lnc2"].into_iter().enumerate() {
        let summary = summary(&home, ranker);
        for (row, measure) in controls[2 * at..].iter().zip(["AP", "RR"]) {
            assert_eq!(
                (&row[0]["text"], &row[1]["text"]),
                (&ranker.into(), &measure.into())
            );
            let own = &summary["test"][measure];
            assert_eq!(Some(number(&row[2])), own.as_f64());
            let swapped = &summary["controls"]["swapped_queries"][measure];
            assert_eq!(Some(number(&row[4])), swapped.as_f64());
        }
    }

    // The pool of the study has the candidates of the training, so that the effectiveness on its
    // test queries is the same; beside it stands that for another query.
    let of_test = report("--format json --split test").json();
    let fractions = of_test.as_array().unwrap();
    let fractions = fractions
        .iter()
        .find(|it| it["name"] == "fractions")
        .unwrap();
    let columns = fractions["columns"].as_array().unwrap();
    let place = |name: &str| columns.iter().position(|it| it["name"] == name).unwrap();
    for (row, ranker) in fractions["rows"].as_array().unwrap()[1..3]
        .iter()
        .zip(&rankers[1..])
    {
        let summary = summary(&home, ranker.as_str().unwrap());
        let ap = number(&row[place("AP")]);
        assert!(
            (ap - summary["test"]["AP"].as_f64().unwrap()).abs() < 1e-9,
            "{row}"
        );
        let swapped = number(&row[place("AP, another query")]);
        assert!((0.0..1.0).contains(&swapped) && swapped != ap, "{row}");
    }

    // The repaired axiom is first; its fractions are those of the report on the test queries.
    let repair = rows(&tables, "repair");
    let names: Vec<&Value> = repair.iter().map(|it| &it[0]["text"]).collect();
    assert_eq!(
        names,
        ["LNC2 (repaired)", "TFC1", "LNC1", "AP", "RR@10", "nDCG@10"]
    );
    let lnc2 = place("LNC2");
    for (side, row) in [(1, 1), (2, 2)] {
        let fraction = &fractions["rows"][row][lnc2]["estimate"]["value"];
        assert!((number(&repair[0][side]) - fraction.as_f64().unwrap()).abs() < 1e-12);
    }
    let change = number(&repair[0][2]) - number(&repair[0][1]);
    assert!((number(&repair[0][3]) - change).abs() < 1e-12);
    let page = report("--format html").expect_success();
    assert_eq!(
        page.matches("aria-label=\"Learning curves over ").count(),
        2
    );
    assert!(page.contains("controls of trained rankers"));

    // An exported study has its trainings.
    home.run("study export trained --layout whole --out exported")
        .expect_success();
    let exported: Value = serde_json::from_str(&home.read("exported/trained.json")).unwrap();
    let names = |study: &Value| {
        let trainings = study["trainings"].as_array().unwrap().clone();
        trainings
            .into_iter()
            .map(|it| it["record"]["name"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(names(&exported), ["drmm", "drmm-lnc2"]);
    assert_eq!(
        exported["trainings"][1]["added_axioms"],
        serde_json::json!(["lnc2"])
    );

    // A table of the paper has the trained network, and its fraction after the repair.
    let reproduced = home
        .run("reproduce rennings2019 --table 2 --study trained --json")
        .json();
    let cell = |column: &str| {
        let mut rows = reproduced[0]["rows"].as_array().unwrap().iter();
        rows.find(|it| it[0]["text"] == "DRMM" && it[1]["text"] == column)
            .unwrap()[4]
            .clone()
    };
    assert_eq!(number(&cell("LNC2")), number(&repair[0][1]));
    assert_eq!(number(&cell("LNC2 after LNC2-All")), number(&repair[0][2]));
    let notes = reproduced[0]["notes"].to_string();
    assert!(
        notes.contains("What differs from the paper: ") && notes.contains("16 in test"),
        "{notes}"
    );

    // The same command finds everything finished.
    let weights = "data/studies/trained/trained/drmm/model.safetensors";
    let written = || {
        std::fs::metadata(home.path(weights))
            .unwrap()
            .modified()
            .unwrap()
    };
    let before = (written(), home.read("data/studies/trained/study.json"));
    let again = home.run("study run study.toml");
    assert!(again.err.contains("rankers scored now: 0"), "{}", again.err);
    assert_eq!(again.expect_success(), told);
    assert_eq!(
        (written(), home.read("data/studies/trained/study.json")),
        before
    );

    // Another training under the same name needs --replace.
    home.write(
        "study.toml",
        study_with(&TRAININGS.replace("epochs=3", "epochs=2")),
    );
    home.expect_refused(
        "study run study.toml",
        "replace the finished one with --replace",
    );
    home.run("study run study.toml --replace").expect_success();
    let tables = report("--format json").json();
    assert_eq!(rows(&tables, "learning_curve").len(), 2);
}

#[test]
fn a_training_that_cannot_start_is_refused_before_the_study_is_made() {
    let home = home_with_splits();
    for (old, new, part) in [
        ("model = \"drmm\"", "model = \"drm\"", "`drm` is none of"),
        (
            "test = \"test\"",
            "test = \"exam\"",
            "its splits are dev, test, train",
        ),
        ("epochs=3", "epoch=3", "a recipe has no key `epoch`"),
        (
            "epochs=3",
            "vectors=nowhere.txt",
            "there is no file `nowhere.txt`",
        ),
        (
            "\"lnc2\"",
            "\"instances:nowhere.parquet\"",
            "there is no file `nowhere.parquet`",
        ),
        (
            "repairs = \"drmm\"",
            "repairs = \"anmm\"",
            "is no earlier training",
        ),
    ] {
        let trainings = TRAININGS.replace(old, new);
        assert_ne!(trainings, TRAININGS);
        home.write("study.toml", study_with(&trainings));
        home.expect_refused("study run study.toml", part);
        assert!(!home.path("data/studies/trained").exists(), "{new}");
    }
}

#[test]
fn a_study_fine_tunes_an_encoder_and_scores_with_the_result() {
    let home = home_with_splits();
    let training = |model: &str| {
        let from = tiny_model();
        format!(
            "\n[[train]]\nname = \"my-{model}\"\nmodel = \"{model}\"\ntest = \"test\"\n\
             from = \"{}\"\n",
            from.display()
        )
    };
    let trainings = ["cross-encoder", "colbert"].map(training).concat();
    home.write("study.toml", study_with(&trainings));
    home.run("study run study.toml").expect_success();
    let tables = home.run("report trained --format json --split test").json();
    let mut tables = tables.as_array().unwrap().iter();
    let table = tables.find(|it| it["name"] == "fractions").unwrap();
    let mut columns = table["columns"].as_array().unwrap().iter();
    let of_ap = columns.position(|it| it["name"] == "AP").unwrap();
    for (row, [ranker, label]) in [
        ["my-cross-encoder", "my-cross-encoder"],
        ["my-colbert", "my-colbert ColBERT"],
    ]
    .iter()
    .enumerate()
    {
        let row = &table["rows"][row + 1];
        assert_eq!(row[0]["text"], *label);
        let trained = summary(&home, ranker)["test"]["AP"].as_f64().unwrap();
        // Scores in training are those of the folder but for rounding.
        assert!((number(&row[of_ap]) - trained).abs() < 1e-6, "{row}");
    }
}
