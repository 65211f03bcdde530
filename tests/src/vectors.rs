//! Word vectors on the command line: training, reading, and mining with them.

use serde_json::json;

use crate::harness::{CommandOutput, TestHome, demo_folder, study_file, study_lines};

#[test]
fn a_collection_gives_its_own_word_vectors_and_a_study_shows_them() {
    let home = TestHome::new();
    let demo = demo_folder();
    let train = |out: &str| {
        let line = format!("vectors --collection {demo} --dims 20 --epochs 30 --out {out} --json");
        home.run(&line).json()
    };
    let told = train("words.txt");
    assert_eq!(told["n_dims"], 20);
    assert!(told["n_words"].as_u64().unwrap() > 300, "{told}");
    let [first, last] = [0, 1].map(|at| told["cost"][at].as_f64().unwrap());
    assert!(last < first / 2.0, "{told}");
    // The same seed gives the same file with any number of threads.
    let mut many = home.program();
    many.env("RAYON_NUM_THREADS", "7");
    let line = format!("vectors --collection {demo} --dims 20 --epochs 30 --out again.txt --json");
    let again = CommandOutput::run(many.args(line.split_whitespace()));
    assert_eq!(again.json(), told);
    let read = |name: &str| std::fs::read(home.path(name)).unwrap();
    assert_eq!(read("words.txt"), read("again.txt"));

    let mine = format!("mine --collection {demo} --vectors words.txt --out mined.parquet --json");
    let mined = home.run(&mine).json();
    for axiom in ["stmc1", "stmc2", "stmc3"] {
        assert!(mined["instances"][axiom].as_u64().unwrap() > 0, "{mined}");
    }
    let judge = format!("judge --collection {demo} --instances mined.parquet --ranker bm25 --json");
    let judged = home.run(&judge).json();
    assert_eq!(judged["stmc1"]["unscored"], json!(0));

    let rest = study_lines("rank:bm25:20", &["stmc1"], &["bm25"])
        + r#"
vectors = "words.txt""#;
    home.make_study(study_file("words", "Query terms", demo, &rest));
    let report = home.run("report words --format md").expect_success();
    assert!(report.contains("STMC1"), "{report}");
    let said = "word vectors words.txt";
    assert!(report.contains(said), "{report}");
}
