//! Long checks with the real model, for `cargo xtask regress`.

use std::time::Instant;

use serde_json::Value;

use crate::harness::{Home, LIMITS, collections, model};
use crate::jobs::{Size, survives};

#[test]
fn a_job_of_20_000_pairs_of_the_real_model_is_killed_ten_times() {
    let model = model().expect("the model is set up by `cargo xtask regress`");
    let size = Size {
        n_queries: 5,
        n_texts: 4_000,
        n_words: 70,
    };
    survives(10, &model, size);
}

/// BM25, QL, the model as a bi-encoder and in late interaction, and the five runs of the
/// collection through all nine axioms.
#[test]
fn trec_deep_learning_2019_through_all_axioms() {
    let data = collections().expect("the collections lie in AXIOSCOPE_DATA");
    let model = model().expect("the model is set up by `cargo xtask regress`");
    let runs = [
        "BM25",
        "BM25_RM3",
        "D_BERT_KD_TASB",
        "OPEN_AI_ADA2",
        "SPLADE_P_P_ENSEMBLE_DISTIL",
    ];
    let mut rankers = vec!["bm25".to_owned(), "ql".to_owned()];
    let name = model.file_name().unwrap().to_string_lossy();
    rankers.extend(["bi", "late"].map(|it| format!("{name}:{it}")));
    rankers.extend(runs.map(|it| format!("scores:{it}.run")));
    let vectors = data.join("glove-6B-50d-10k/glove.6B.50d.10k.txt.gz");
    let definition = format!(
        "format = 1\nname = \"trecdl\"\ntitle = \"TREC DL 2019\"\ncollection = {:?}\n\
         pool = \"run:BM25.run:100\"\nprobes = [\"tfc1\", \"tfc2\", \"mtdc\", \"lnc1\", \"lnc2\", \
         \"tp\", \"stmc1\", \"stmc2\", \"stmc3\"]\nmodes = [\"fixed\"]\nrankers = {rankers:?}\n\
         vectors = {vectors:?}\n{LIMITS}",
        data.join("trecdl-passage"),
    );
    let home = Home::new();
    home.write("study.toml", definition);
    let start = Instant::now();
    let mut run = home.program();
    run.args(["--data", "data", "study", "run", "study.toml"])
        .env("AXIOSCOPE_MODEL", &model);
    crate::harness::Ran::of(&mut run).done();
    println!("the study took {:.0} s", start.elapsed().as_secs_f64());

    let tables = home.run("report trecdl --format json").json();
    let rows = |name: &str| {
        let tables = tables.as_array().unwrap().iter();
        let table = tables.clone().find(|it| it["name"] == name);
        table.unwrap()["rows"].as_array().unwrap().clone()
    };
    assert_eq!(rows("rankers").len(), 9);
    assert_eq!(rows("cells").len(), 81);
    let certificates = rows("certificates");
    // Alone, in other batches and in f16, of each of the two.
    assert_eq!(certificates.len(), 6);
    for row in certificates {
        let number = |at: usize, kind: &str| row[at][kind].as_f64().unwrap();
        assert_eq!(number(2, "count"), 128.0);
        assert!(
            number(5, "count") > 0.0,
            "verdicts were judged again: {row}"
        );
        let same = ["alone", "batches"];
        let condition = row[1]["text"].as_str().unwrap();
        if same.iter().any(|it| condition.contains(it)) {
            assert!(number(3, "tiny") < 1e-5, "{row}");
        }
    }
    let cell = |row: &Value| row[9]["estimate"]["value"].as_f64();
    assert!(
        rows("cells")
            .iter()
            .filter_map(cell)
            .all(|it| (0.0..=1.0).contains(&it))
    );
}
