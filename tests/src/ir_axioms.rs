//! The axioms of `ir_axioms` and formulas, on the command line and in a study, and the header of a
//! run.

use serde_json::json;

use crate::harness::{TestHome, demo_folder, study_file, study_lines, tiny_collection};

#[test]
fn further_axioms_and_formulas_are_mined_judged_and_reported() {
    let home = TestHome::new();
    let demo = demo_folder();
    let line = format!(
        "mine --collection {demo} --pool rank:bm25:20 --probes ir_axioms,tfc1&m_and \
         --out m.parquet --json"
    );
    let mined = home.run(&line);
    mined.expect_stderr(
        "left out, since they need word vectors (--vectors FILE): reg, anti_reg, aspect_reg, \
         stmc1@ir_axioms, stmc2@ir_axioms\n",
    );
    let mined = mined.json();
    assert_eq!(mined["instances"].as_object().unwrap().len(), 19, "{mined}");
    for axiom in ["prox1", "len_m_and", "tfc1@ir_axioms", "lb1", "tfc1&m_and"] {
        assert!(mined["instances"][axiom].as_u64().unwrap() > 0, "{mined}");
    }
    let judge =
        format!("judge --collection {demo} --instances m.parquet --ranker bm25 --ranker ql --json");
    let judged = home.run(&judge).json();
    let rankers: Vec<&String> = judged.as_object().unwrap().keys().collect();
    assert_eq!(rankers.len(), 2);
    for ranker in rankers {
        let cell = &judged[ranker]["tfc1&m_and"];
        let sum: u64 = ["satisfied", "tied", "violated"]
            .iter()
            .map(|it| cell[it].as_u64().unwrap())
            .sum();
        assert_eq!(json!(sum), mined["instances"]["tfc1&m_and"]);
    }

    let rest = r#"pool = "rank:bm25:20"
probes = ["m-and", "PROX1", "tfc1 & (prox1 | tp)"]
modes = ["fixed", "code"]
rankers = ["bm25"]"#;
    let study = study_file("further", "Further", demo, rest);
    home.make_study(&study);
    let report = home.run("report further --format md").expect_success();
    let axioms = ["M-AND", "PROX1", "tfc1&amp;(prox1\\|tp)"];
    assert!(axioms.iter().all(|it| report.contains(it)), "{report}");
    assert!(report.contains("about equal = within 0.1"), "{report}");
    let wrong = study.replace("tfc1 & (prox1 | tp)", "tfc1 + 1");
    home.write("wrong.toml", &wrong);
    home.expect_refused("study run wrong.toml", "they cannot be added");
}

#[test]
fn a_study_lacks_what_needs_vectors_in_its_groups_and_names_it() {
    let home = TestHome::new();
    let rest = study_lines("all", &["all"], &["bm25"]);
    let study = study_file("groups", "Groups", tiny_collection(), &rest);
    home.write("study.toml", &study);
    let ran = home.run("study run study.toml");
    ran.expect_stderr(
        "left out, since they need word vectors (`vectors` of the study file): stmc1, stmc2, \
         stmc3\n",
    );
    ran.expect_success();
    let report = home.run("report groups --format md").expect_success();
    assert!(
        report.contains("LNC2") && !report.contains("STMC1"),
        "{report}"
    );
    home.write(
        "study.toml",
        study.replace(r#"["all"]"#, r#"["all", "stmc1"]"#),
    );
    home.expect_refused("study run study.toml", "stmc1: needs word vectors");
}

#[test]
fn a_run_says_what_made_it_and_is_read_again() {
    let home = TestHome::new();
    let demo = demo_folder();
    let rank = format!("rank --collection {demo} --ranker bm25 --top 5");
    home.run(&format!("{rank} --metadata --out a.run"))
        .expect_success();
    home.run(&format!("{rank} --out plain.run"))
        .expect_success();
    // Existing scripts may use this form.
    home.run(&format!("{rank} --plain --out same.run"))
        .expect_success();
    assert_eq!(home.read("same.run"), home.read("plain.run"));
    let (run, plain) = (home.read("a.run"), home.read("plain.run"));
    let (said, rows) = run.split_once("# ir_metadata.end\n").unwrap();
    assert!(said.starts_with("# ir_metadata.start\n"), "{said}");
    for part in ["platform:", "method:", "name: \"BM25\"", "data:", "sha256:"] {
        assert!(said.contains(part), "{part} in {said}");
    }
    assert_eq!(rows, plain);
    let eval = |run: &str| {
        home.run(&format!("eval {demo}/qrels.tsv {run} -m nDCG@10 --json"))
            .json()
    };
    assert_eq!(eval("a.run"), eval("plain.run"));
}
