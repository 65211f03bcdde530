//! Long checks with the real model, for `cargo xtask regress`.

mod attack;
mod static_host;

use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use shared::api::{GetStudyRequest, ListLateInteractionAnalysesRequest};
use shared::study::controls::StudyPageControls;

use crate::annotation::crashes::{self, CrashPlan};
use crate::annotation::seeded_random::SeededRandom;
use crate::behavioral_tests::{self, EXPECTED_MATCHES, count};
use crate::harness::{
    CommandOutput, LIMITS, TestHome, collections, model, tiny_collection, tiny_model,
};
use crate::jobs::{JobSize, check_survives_kills};
use crate::late_interaction;
use crate::published_numbers::RUNS;
use crate::train;

#[test]
fn a_job_of_20_000_pairs_of_the_real_model_is_killed_ten_times() {
    let model = model().expect("the model is set up by `cargo xtask regress`");
    let size = JobSize {
        n_queries: 5,
        n_texts: 4_000,
        n_words: 70,
    };
    check_survives_kills(10, &model, size);
}

#[test]
fn a_training_is_killed_a_hundred_times() {
    train::kill_and_compare(100, 600);
}

/// Runs with each database.
#[test]
fn what_20_people_decide_in_a_minute_survives_a_server_that_is_killed_ten_times() {
    crashes::check_survives_crashes(CrashPlan {
        n_people: 20,
        seconds: 60,
        n_kills: 10,
        seed: 7,
    });
}

/// Runs all nine axioms with BM25, QL, the model as a bi-encoder and in late interaction, and the
/// five runs of the collection.
#[test]
fn trec_deep_learning_2019_through_all_axioms() {
    let data = collections().expect("the collections lie in AXIOSCOPE_DATA");
    let model = model().expect("the model is set up by `cargo xtask regress`");
    let mut rankers = vec!["bm25".to_owned(), "ql".to_owned()];
    let name = model.file_name().unwrap().to_string_lossy();
    rankers.extend(["bi", "late"].map(|it| format!("{name}:{it}")));
    rankers.extend(RUNS.map(|it| format!("scores:{it}.run")));
    let vectors = data.join("glove-6B-50d-10k/glove.6B.50d.10k.txt.gz");
    let definition = format!(
        "format = 1\nname = \"trecdl\"\ntitle = \"TREC DL 2019\"\ncollection = {:?}\n\
         pool = \"run:BM25.run:100\"\nprobes = [\"tfc1\", \"tfc2\", \"mtdc\", \"lnc1\", \"lnc2\", \
         \"tp\", \"stmc1\", \"stmc2\", \"stmc3\"]\nmodes = [\"fixed\"]\nrankers = {rankers:?}\n\
         vectors = {vectors:?}\n{LIMITS}",
        data.join("trecdl-passage"),
    );
    let home = TestHome::new();
    home.write("study.toml", definition);
    let start = Instant::now();
    let mut run = home.program();
    run.args(["--data", "data", "study", "run", "study.toml"])
        .env("AXIOSCOPE_MODEL", &model);
    CommandOutput::run(&mut run).expect_success();
    println!("the study took {:.0} s", start.elapsed().as_secs_f64());

    let tables = home.run("report trecdl --format json").json();
    let rows = |name: &str| {
        let tables = tables.as_array().unwrap().iter();
        let table = tables.clone().find(|it| it["name"] == name);
        table.unwrap()["rows"].as_array().unwrap().clone()
    };
    assert_eq!(rows("rankers").len(), 9);
    assert_eq!(rows("cells").len(), 81);
    let stability = rows("stability");
    // Each of the two neural rankers is checked alone, in other batches, and in f16.
    assert_eq!(stability.len(), 6);
    for row in stability {
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

/// Runs every available measure-and-match test, manipulation and transfer set with BM25, QL, and
/// the model as a bi-encoder and in late interaction, which share one encoding of each document.
/// The program is killed in the middle.
#[test]
fn behaviours_on_trec_deep_learning_2019() {
    let data = collections().expect("the collections lie in AXIOSCOPE_DATA");
    let model = model().expect("the model is set up by `cargo xtask regress`");
    let name = model.file_name().unwrap().to_string_lossy();
    let rankers = format!("[\"bm25\", \"ql\", \"{name}:bi\", \"{name}:late\"]");
    let probes = "[\"match\", \"manipulations\"]";
    let transfers = behavioral_tests::transfers(&data);
    let home = TestHome::new();
    home.write(
        "study.toml",
        behavioral_tests::definition(&data, &rankers, probes, &transfers),
    );
    let program = || {
        let mut program = home.program();
        program
            .args(["--data", "data", "study", "run", "study.toml"])
            .env("AXIOSCOPE_MODEL", &model);
        program
    };
    let start = Instant::now();
    let mut first = program()
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // Waits until some batches of both rankers are stored.
    let drafts = || {
        let files = home.files().into_iter();
        let drafts = files.filter(|it| it.contains("draft-"));
        drafts.map(|it| home.path(&it)).collect::<Vec<_>>()
    };
    let kept = || {
        let each = drafts().into_iter();
        let sizes = each.map(|it| std::fs::metadata(it).map_or(0, |it| it.len()));
        sizes.collect::<Vec<_>>()
    };
    while !(kept().len() == 2 && kept().iter().all(|it| *it > 100_000)) {
        assert_eq!(first.try_wait().unwrap(), None, "it was still scoring");
        std::thread::sleep(Duration::from_secs(1));
    }
    first.kill().unwrap();
    first.wait().unwrap();
    let before = kept();
    println!("killed after {:.0} s", start.elapsed().as_secs_f64());
    CommandOutput::run(&mut program()).expect_success();
    println!("the study took {:.0} s", start.elapsed().as_secs_f64());
    assert!(before.iter().all(|it| *it > 100_000), "{before:?}");

    println!("{}", home.run("report behaviours").expect_success());
    let tables = home.run("report behaviours --format json").json();
    let tables = tables.as_array().unwrap().iter();
    let table = tables.clone().find(|it| it["name"] == "effects").unwrap();
    let rows = table["rows"].as_array().unwrap();
    let of = |slug: &str, slice: &str| -> Vec<&Value> {
        let is_it = |row: &&Value| row[0]["text"] == slug && row[1]["text"] == slice;
        rows.iter().filter(is_it).collect()
    };
    for (probe, n) in EXPECTED_MATCHES {
        let rows = of(probe, "all");
        assert_eq!(rows.len(), 4, "{probe}");
        assert!(rows.iter().all(|it| count(it, 4) == n), "{probe}");
    }
    for row in rows {
        let delta = row[3]["score"]["value"].as_f64().unwrap();
        assert!(delta > 0.0, "δ is tuned: {row}");
        assert_eq!(count(row, 8), 0, "every sample has its scores: {row}");
    }
    // A bag-of-words ranker does not see order, a neural model does.
    for row in of("shuffle-words", "all") {
        let is_formula = ["BM25", "QL"].contains(&row[2]["text"].as_str().unwrap());
        let moved = count(row, 5) + count(row, 7);
        assert_eq!(moved == 0, is_formula, "{row}");
    }
    assert_eq!(of("transfer:jfleg", "all").len(), 4);
}

/// Analyzes the model in late interaction over a pool of a thousand documents. Each document is
/// encoded once, and its vectors are dropped once it has been compared and added to the spectra.
#[test]
fn a_white_box_of_200_questions_is_bounded_in_memory() {
    let data = collections().expect("the collections lie in AXIOSCOPE_DATA");
    let model = model().expect("the model is set up by `cargo xtask regress`");
    let name = model.file_name().unwrap().to_string_lossy().into_owned();
    let home = TestHome::new();
    let start = Instant::now();
    let mut program = home.program();
    let mut looking = program
        .args(["--data", "data", "late-interaction", "--collection"])
        .arg(data.join("cmu-wiki-qa"))
        .args(["--queries", "200", "--pool", "rank:bm25:1000"])
        .args(["--ranker", &format!("{name}:late"), "--out", "inside.json"])
        .env("AXIOSCOPE_MODEL", &model)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut peak = 0.0_f64;
    let status = loop {
        peak = peak.max(peak_mib(&looking).unwrap_or(0.0));
        match looking.try_wait().unwrap() {
            Some(status) => break status,
            None => std::thread::sleep(Duration::from_millis(200)),
        }
    };
    assert!(status.success(), "{status}");
    let took = start.elapsed().as_secs_f64();
    let found: Value = serde_json::from_slice(&std::fs::read(home.path("inside.json")).unwrap())
        .expect("what `--out` wrote is JSON");
    let n = |name: &str| found["head"][name].as_u64().unwrap();
    println!(
        "{} pairs, {} texts: {took:.0} s, at most {peak:.0} MiB",
        n("n_pairs"),
        n("n_texts")
    );
    assert!((100_000..=200_000).contains(&n("n_pairs")));
    assert!(n("n_texts") <= 5_975);
    assert!(peak < 1_024.0, "{peak} MiB");
    let r = |name: &str| found[name]["r"]["value"].as_f64().unwrap();
    assert!(r("r_delta_es") > 0.4 && r("r_ratio") > 0.6, "{found}");
}

/// Flips a single bit at a hundred places of each kind of stored file. The result must be
/// unchanged, or an error must name the file.
#[test]
fn a_flipped_bit_in_any_stored_file_is_detected_or_without_effect() {
    let home = late_interaction::published("small", "Small");
    home.run(&format!("import {} --to tiny", tiny_collection()))
        .expect_success();
    let look = format!(
        "late-interaction --study small --ranker {}:late --pool all --min-vectors 2",
        tiny_model().display()
    );
    home.run(&look).expect_success();
    let mut random = SeededRandom::new(18);
    let report = "report small --format json";
    let check = "study check small";
    let mine = "mine --collection tiny --pool run:tiny.run:3 --json --out mined.parquet";
    for (kind, of) in [
        ("study.json", "/small/study.json"),
        ("study.toml", "/small/study.toml"),
        ("instances", ".parquet"),
        ("columns", ".columns"),
        ("scores", "/small/scores-"),
        ("late interaction", "/small/whitebox-"),
        ("documents", "/tiny/corpus.jsonl"),
        ("queries", "/tiny/queries.jsonl"),
        ("judgments", "/tiny/qrels.tsv"),
        ("run", "/tiny/runs/tiny.run"),
        ("checksums", "/tiny/SHA256SUMS"),
        ("database", "data/axioscope.db"),
    ] {
        // The command that reads the file, and one that verifies it if no other command needs all
        // of it.
        let (reads, verifies) = match kind {
            // No report reads the rows of the database.
            "database" => (report, report),
            _ if of.starts_with("/tiny/") => (mine, mine),
            _ => (report, check),
        };
        let file = home
            .files()
            .into_iter()
            .find(|it| it.starts_with("data/") && it.contains(of))
            .unwrap_or_else(|| panic!("no file of {kind}"));
        let whole = std::fs::read(home.path(&file)).unwrap();
        let as_it_was = home.run(reads).expect_success();
        let (mut n_refused, mut n_verified) = (0, 0);
        for _ in 0..100 {
            let bit = random.below(whole.len() as u64 * 8) as usize;
            let mut flipped = whole.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            home.write(&file, &flipped);
            let what = format!("{file}, bit {} of byte {}", bit % 8, bit / 8);
            println!("{what}");
            let ran = home.run(reads);
            if ran.code == Some(0) {
                assert!(ran.out == as_it_was, "{what}: another result");
            } else {
                let message = ran.expect_failure();
                assert!(message.contains("data/"), "{what}: {message}");
                n_refused += 1;
            }
            n_verified += u32::from(home.run(verifies).code == Some(1));
        }
        home.write(&file, &whole);
        assert_eq!(home.run(reads).expect_success(), as_it_was, "{file}");
        println!("{kind}: {n_refused} of 100 refused, {n_verified} found by a check");
        if kind != "database" {
            assert_eq!(n_verified, 100, "{kind}");
        }
    }
}

/// Returns the peak memory of a process; none if the system does not provide it.
fn peak_mib(process: &Child) -> Option<f64> {
    let status = std::fs::read_to_string(format!("/proc/{}/status", process.id())).ok()?;
    let peak = status.lines().find_map(|it| it.strip_prefix("VmHWM:"))?;
    let kib: f64 = peak.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kib / 1024.0)
}

/// The demo study gets neural results from the models in the program, without a download.
#[test]
fn the_demo_study_is_scored_by_small_models() {
    const PATIENCE: Duration = Duration::from_secs(1_800);
    let home = TestHome::new();
    let server = home.serve(&["--demo"]);
    let study = || "demo".to_owned();
    let until = Instant::now() + PATIENCE;
    let analyses = loop {
        let study = study();
        let found = server.call(&ListLateInteractionAnalysesRequest { study });
        if found.len() == 2 {
            break found;
        }
        assert!(Instant::now() < until, "{}", server.log());
        std::thread::sleep(Duration::from_secs(5));
    };
    let overview = server.call(&GetStudyRequest {
        study: study(),
        controls: StudyPageControls::default(),
    });
    let labels: Vec<&str> = overview.rows.iter().map(|it| &*it.ranker.label).collect();
    assert_eq!(
        labels[2..],
        [
            "Tiny BERT late interaction",
            "Tiny EPIC",
            "Tiny monoT5",
            "Tiny doc2query",
            "Tiny cross-encoder",
            "Tiny ColBERT",
        ]
    );
    for row in &overview.rows[2..] {
        let note = row.ranker.note.as_deref().unwrap_or_default();
        assert!(note.starts_with("tiny, own data"), "{note}");
    }
    assert_eq!(
        overview
            .rows
            .iter()
            .filter(|it| it.training.is_some())
            .count(),
        2
    );
    let fine_tuned = analyses
        .iter()
        .filter(|it| it.analysis.before_fine_tuning.is_some());
    assert_eq!(fine_tuned.count(), 1);
}
