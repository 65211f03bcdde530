//! Studies as files: made, interrupted, and resumed.

mod rankers;

use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use shared::api::{GetStudyRequest, ListInstancesRequest, ListStudiesRequest};
use shared::study::controls::StudyPageControls;

use crate::harness::{TestHome, demo_folder, study_file, study_lines, tiny_model};

/// Writes a study with two lexical rankers and a small model, so that every stage can be
/// interrupted.
fn study(home: &TestHome) {
    let model = tiny_model();
    let rest = format!(
        "pool = \"rank:bm25:20\"\nprobes = [\"tfc1\", \"lnc2\", \"tp\"]\n\
         modes = [\"fixed\", \"code\"]\n\
         rankers = [\"bm25\", \"ql\", \"{name}:bi\", \"{name}:late\"]\n\
         audit = [{{ stemmer = \"none\" }}]",
        name = model.file_name().unwrap().to_string_lossy()
    );
    home.write(
        "study.toml",
        study_file("killed", "Killed", demo_folder(), &rest),
    );
}

/// Makes the study of [`study`] with a third lexical ranker in place of the model; returns its
/// file.
fn make_of_formulas(home: &TestHome) -> String {
    study(home);
    let text = home.read("study.toml");
    let formulas = text.replace("\"tiny:bi\", \"tiny:late\"", "\"bm25:idf=rsj\"");
    home.make_study(&formulas);
    formulas
}

fn run_line() -> Vec<String> {
    let model = tiny_model().display().to_string();
    let line = [
        "study",
        "run",
        "study.toml",
        "--model",
        &model,
        "--data",
        "data",
    ];
    line.map(str::to_owned).to_vec()
}

fn finish(home: &TestHome) -> String {
    let line = run_line();
    let args: Vec<&str> = line.iter().map(String::as_str).collect();
    home.run_with(&args).expect_success();
    home.run("report killed --format json --data data")
        .expect_success()
}

#[test]
fn a_killed_study_ends_with_the_same_report() {
    let home = TestHome::new();
    study(&home);
    let begun = Instant::now();
    let undisturbed = finish(&home);
    let whole = begun.elapsed();
    assert!(undisturbed.contains(":late"), "{undisturbed}");
    if let Some(home) = TestHome::with_postgres() {
        study(&home);
        assert_eq!(finish(&home), undisturbed);
        assert!(!home.path("data/axioscope.db").exists());
    }
    // The times follow a fixed rule, multiples of the golden ratio, so that a failure can be
    // reproduced.
    for n in 1..=5_u32 {
        let home = TestHome::new();
        study(&home);
        let part = (f64::from(n) * 0.618_034).fract();
        let mut program = home.program();
        program
            .args(run_line())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let mut child = program.spawn().unwrap();
        std::thread::sleep(Duration::from_secs_f64(whole.as_secs_f64() * part));
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(
            finish(&home),
            undisturbed,
            "killed after {part} of the time"
        );
    }
    // Without the memory-mapped columns, the instances are read from their Parquet file.
    let folder = home.path("data/studies/killed");
    let columns = std::fs::read_dir(folder)
        .unwrap()
        .map(|it| it.unwrap().path());
    let mut columns = columns.filter(|it| it.extension().is_some_and(|it| it == "columns"));
    std::fs::remove_file(columns.next().unwrap()).unwrap();
    let again = home
        .run("report killed --format json --data data")
        .expect_success();
    assert_eq!(again, undisturbed);
    // A complete study is not made again.
    let line = run_line();
    let args: Vec<&str> = line.iter().map(String::as_str).collect();
    let again = home.run_with(&args);
    again.expect_stderr("rankers scored now: 0");
}

#[test]
fn a_damaged_file_of_a_study_is_named_and_the_study_made_again() {
    let home = TestHome::new();
    make_of_formulas(&home);
    let report = || home.run("report killed --format json").expect_success();
    let undisturbed = report();
    let files = || {
        let files = home.files().into_iter();
        let of_study = files.filter(|it| it.starts_with("data/studies/killed/"));
        of_study.collect::<Vec<_>>()
    };
    assert_eq!(files().len(), 5);
    for file in files() {
        let mut bytes = std::fs::read(home.path(&file)).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        home.write(&file, bytes);
        home.expect_refused("study check killed", &format!("{file} is damaged"));
        home.run("study run study.toml")
            .expect_stderr(&format!("{file} is damaged"));
        home.run("study check killed").expect_success();
        assert_eq!(report(), undisturbed, "{file}");
    }
    assert_eq!(files().len(), 5);
}

#[test]
fn a_server_goes_on_when_a_file_of_a_study_is_cut_short() {
    let home = TestHome::new();
    make_of_formulas(&home);
    let server = home.serve(&[]);
    let page = |offset: u64| {
        let listing = json!({
            "controls": {}, "axiom": "lnc2", "ranker": "0", "limit": 100, "offset": offset,
        });
        server.try_call(&ListInstancesRequest {
            study: "killed".to_owned(),
            filter: serde_json::from_value(listing).unwrap(),
        })
    };
    let before = page(0).unwrap();
    assert!(before.n_instances > 0);
    for file in home.files() {
        if file.starts_with("data/studies/killed/") {
            let file = std::fs::OpenOptions::new()
                .write(true)
                .open(home.path(&file));
            file.unwrap().set_len(0).unwrap();
        }
    }
    // What is in memory is still shown; after a restart, the error names the damaged file.
    assert_eq!(page(0).unwrap(), before);
    page(1).unwrap();
    drop(server);
    let server = home.serve(&[]);
    let study = server.try_call(&GetStudyRequest {
        study: "killed".to_owned(),
        controls: StudyPageControls::default(),
    });
    // A list without the only study would say that there is none.
    let list = server.try_call(&ListStudiesRequest {});
    for (status, problem) in [study.unwrap_err(), list.unwrap_err()] {
        assert_eq!(status, 500);
        let error = problem.error;
        assert!(error.contains("study.json is damaged"), "{error}");
    }
}

#[test]
fn another_precision_scores_a_stored_study_again() {
    let home = TestHome::new();
    study(&home);
    // 16-bit precision is slow on a CPU, so the study is small.
    let text = home.read("study.toml");
    let few = text.replace("rank:bm25:20\"", "rank:bm25:4\"\nn_queries = 3");
    assert_ne!(few, text);
    home.write("study.toml", few);
    let rankers = || {
        let report = home
            .run("report killed --format json --data data")
            .expect_success();
        let report: Value = serde_json::from_str(&report).unwrap();
        let tables = report.as_array().cloned().unwrap_or_default();
        let table = tables
            .into_iter()
            .find(|it| it["name"] == "rankers")
            .unwrap();
        table["rows"].as_array().unwrap().clone()
    };
    let run = |precision: &str| {
        let line = run_line();
        let mut args: Vec<&str> = line.iter().map(String::as_str).collect();
        args.extend(["--precision", precision]);
        let ran = home.run_with(&args);
        let told = ran.err.clone();
        ran.expect_success();
        (told, rankers())
    };
    let (_, before) = run("f32");
    let (told, after) = run("f16");
    assert_eq!(told.matches("it is scored again").count(), 2, "{told}");
    assert!(told.contains("rankers scored now: 2"), "{told}");
    // Each ranker keeps its place.
    assert_eq!((before.len(), after.len()), (4, 4));
    let same: Vec<bool> = before.iter().zip(&after).map(|(a, b)| a == b).collect();
    assert_eq!(same, [true, true, false, false]);
    assert!(after[2].to_string().contains("; in f16"), "{}", after[2]);
    let (told, again) = run("f16");
    assert!(told.contains("rankers scored now: 0"), "{told}");
    assert_eq!(again, after);
}

#[test]
fn a_table_of_a_paper_is_replayed_with_a_study_or_without() {
    let home = TestHome::new();
    let printed = home.run("reproduce camara2020 --table 2").expect_success();
    assert!(printed.contains("14,481,949"), "{printed}");
    assert!(
        printed.contains("Choose a study to fill our columns."),
        "{printed}"
    );
    let demo = demo_folder();
    let line = format!(
        "reproduce camara2020 --table 3 --collection {demo} --tokenizer alnum --pool rank:bm25:20"
    );
    let beside = home.run(&line).expect_success();
    assert!(
        beside.contains("study reproduce-camara2020 with"),
        "{beside}"
    );
    home.expect_refused("reproduce camara2020 --table 9", "2 and 3");
    let line = format!("reproduce abnirml --table 2 --collection {demo}");
    let beside = home.run(&line).expect_success();
    assert!(beside.contains("study reproduce-abnirml with"), "{beside}");
    assert!(
        beside.contains("| T5 | Lemmatized | −.59 | – | – | – | – |"),
        "{beside}"
    );
    let bm25 = beside
        .lines()
        .find(|it| it.starts_with("| BM25 | Lemmatized |"));
    assert!(
        bm25.is_some_and(|it| !it.contains("| – | – | – |")),
        "{beside}"
    );
    for (args, code, reason) in [
        ("abnirml --table 4", 1, "1, 2 and 3"),
        (
            "abnirml --table 3 --collection c --transfer gutenberg=f",
            2,
            "none of jfleg, xsum",
        ),
        (
            "abnirml --table 3 --collection c --transfer f",
            2,
            "jfleg=FILE",
        ),
        (
            "camara2020 --table 3 --collection c --transfer cnn=f",
            1,
            "for abnirml alone",
        ),
        ("padigela2019 --table 7", 1, "1, 2, 3, 4, 5 and 6"),
        ("padigela2019 --table 2 --collection c", 1, "with --ranker"),
    ] {
        let ran = home.run(&format!("reproduce {args}"));
        assert_eq!(ran.code, Some(code), "{args}: {}", ran.err);
        assert!(ran.err.contains(reason), "{args}: {}", ran.err);
    }
}

/// The study is made for the first table; the other tables use it, with the results of `compare`
/// for the same two rankers.
#[test]
fn every_table_is_to_be_had_for_a_split_of_the_queries() {
    let home = TestHome::new();
    let text = |at: usize| format!("river {} bank", "river ".repeat(at % 4));
    let corpus = (0..12).map(|at| json!({"_id": format!("d{at}"), "text": text(at)}).to_string());
    let queries = [("q1", "river"), ("q2", "bank river"), ("q3", "bank")];
    let queries = queries.map(|(id, text)| json!({"_id": id, "text": text}).to_string());
    std::fs::create_dir(home.path("raw")).unwrap();
    home.write("raw/corpus.jsonl", corpus.collect::<Vec<_>>().join("\n"));
    home.write("raw/queries.jsonl", queries.join("\n"));
    home.write("raw/qrels.tsv", "q1 0 d1 1\nq2 0 d2 1\nq3 0 d3 1\n");
    home.write("raw/splits.tsv", "q1\ttrain\nq2\ttest\nq3\ttest\nq4\tdev\n");
    let told = home.run("import raw --to rivers");
    told.expect_stderr("splits: not in the collection: 1 query (q4)");
    // An imported collection has its splits without the file.
    let rest = study_lines("all", &["tfc1", "tfc2", "mtdc", "lnc2"], &["bm25"]);
    home.make_study(study_file("split", "Split", "rivers", &rest));
    let report = |split: &str| {
        let line = format!("report split --format json{split}");
        let tables = home.run(&line).json();
        let axioms = tables
            .as_array()
            .unwrap()
            .iter()
            .find(|it| it["name"] == "axioms");
        axioms.unwrap()["rows"][0].as_array().unwrap().clone()
    };
    let count = |value: &Value| value["count"].as_u64().unwrap();
    let all = report("");
    let of_splits: Vec<u64> = all[all.len() - 2..].iter().map(count).collect();
    assert!(of_splits.iter().all(|it| *it > 0), "{all:?}");
    assert_eq!(count(&all[3]), of_splits.iter().sum::<u64>());
    assert_eq!(count(&report(" --split test")[3]), of_splits[1]);
    home.expect_refused("report split --split dev", "dev");
    let table = home
        .run("reproduce rennings2019 --table 1 --study split")
        .expect_success();
    let row = table.lines().find(|it| it.contains("| test | TFC1 |"));
    let row = row.unwrap_or_else(|| panic!("{table}"));
    assert!(row.contains(&format!("| {} |", of_splits[1])), "{row}");
    let tuned = home
        .run("tune --collection rivers --ranker bm25 --split train --json")
        .json();
    assert_eq!(tuned["queries"], json!(1));
}

#[test]
fn a_study_is_checked_against_its_baseline_and_rankers_are_compared() {
    let home = TestHome::new();
    let formulas = make_of_formulas(&home);
    home.run("study check killed --write-baseline base.json")
        .expect_success();
    let same = home
        .run("study check killed --baseline base.json --junit same.xml")
        .expect_success();
    assert!(same.contains("0 of 18 cells below the baseline"), "{same}");
    assert!(home.read("same.xml").contains("failures=\"0\""));
    // One cell is given a better value in the baseline.
    let mut base: Value = serde_json::from_str(&home.read("base.json")).unwrap();
    base["cells"][0]["fraction"] = json!(1.5);
    home.write("base.json", base.to_string());
    let line = "study check killed --baseline base.json --junit out.xml --markdown out.md";
    assert_eq!(home.run(line).code, Some(3));
    assert!(
        home.read("out.md")
            .contains("1 of 18 cells below the baseline")
    );
    let junit = home.read("out.xml");
    assert!(
        junit.contains("failures=\"1\"") && junit.contains("<failure message="),
        "{junit}"
    );
    base["instances_hash"] = json!("00");
    home.write("base.json", base.to_string());
    home.expect_refused(line, "are not comparable");

    let diff = "study diff killed --from bm25 --to bm25:k1=1.2,b=0.75,k3=inf,idf=rsj --json";
    let tables = home.run(diff).json();
    let lost = |row: &Value| row[4]["count"].as_u64().unwrap();
    let rows = tables[0]["rows"].as_array().unwrap();
    assert!(rows.iter().map(lost).sum::<u64>() > 0, "{tables}");
    assert_eq!(tables[0]["name"], "changes");
    home.expect_refused("study diff killed --from bm25 --to nobody", "nobody");
    // A study with other limits is not compared.
    let other = formulas.replace("length_gap_terms = 10", "length_gap_terms = 3");
    home.write("other.toml", other.replace("\"killed\"", "\"other\""));
    home.run("study run other.toml").expect_success();
    home.expect_refused(
        "study diff killed --from bm25 --to bm25 --other-study other",
        "differences: the limits",
    );
    // Its fractions are.
    let compared = home.run("study compare killed other").expect_success();
    assert!(compared.contains("by more than chance"), "{compared}");
    let tables = home.run("study compare killed other --json").json();
    assert_eq!(tables[1]["name"], "results");
    let unlike = "The studies have different instances.";
    assert_eq!(tables[1]["notes"][0], unlike, "{tables}");
    home.expect_refused("study compare killed other --variant paper", "variant");
}

#[test]
fn a_study_becomes_a_data_set_with_texts_or_without() {
    let home = TestHome::new();
    make_of_formulas(&home);
    home.run("study dataset killed --out with").expect_success();
    home.run("study dataset killed --out without --without-texts")
        .expect_success();
    let unpack = |folder: &str| {
        let packed = std::fs::File::open(home.path(folder).join("preconditions.jsonl.gz")).unwrap();
        std::io::read_to_string(flate2::read::GzDecoder::new(packed)).unwrap()
    };
    let lines = unpack("with");
    assert_eq!(lines, unpack("without"));
    let first: Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    assert_eq!(first["axiom"], "tfc1");
    assert_eq!(first["scores"].as_array().unwrap().len(), 3);
    let n_instances = home.run("study list").expect_success();
    assert!(n_instances.contains("killed"), "{n_instances}");
    assert!(home.path("with/texts.jsonl").is_file());
    assert!(!home.path("without/texts.jsonl").exists());
    let card = home.read("without/README.md");
    assert!(
        card.contains("not among the files") && card.contains("tfc1"),
        "{card}"
    );
    // Its instances are read like those of `mine`.
    let demo = demo_folder();
    let judge = format!("judge --collection {demo} --instances with/instances.parquet --json");
    let judged = home.run(&format!("{judge} --ranker bm25")).json();
    assert!(
        judged["tfc1"]["satisfied"].as_u64().unwrap() > 0,
        "{judged}"
    );
    assert!(home.read("with/queries.jsonl").lines().count() > 60);
}

#[test]
fn an_export_without_texts_holds_none_of_them() {
    let home = TestHome::new();
    let rest = r#"n_queries = 12
pool = "rank:bm25:20"
probes = ["tfc1", "lnc2", "reverse-sentences"]
modes = ["fixed"]
rankers = ["bm25", "ql"]"#;
    home.make_study(study_file("bare", "Bare", demo_folder(), rest));
    home.run("study export bare --layout whole --out with")
        .expect_success();
    home.run("study export bare --layout whole --out without --without-texts")
        .expect_success();
    let whole = home.read("with/bare.json");
    let study: Value = serde_json::from_str(&whole).unwrap();
    let docs = study["docs"].as_array().unwrap();
    assert!(study["addition_counts"]["n_docs"].as_u64().unwrap() > 0);
    let parts: Vec<String> = docs
        .iter()
        .flat_map(|it| {
            let text: Vec<char> = it["text"].as_str().unwrap().chars().collect();
            let n = text.len().min(40);
            [&text[..n], &text[text.len() - n..]].map(|it| as_json(&it.iter().collect::<String>()))
        })
        .collect();
    assert!(parts.iter().all(|it| whole.contains(it)));
    for file in home.files() {
        if file.starts_with("without/") {
            let told = home.read(&file);
            let told = parts.iter().find(|it| told.contains(*it));
            assert_eq!(told, None, "{file}");
        }
    }
    let bare: Value = serde_json::from_str(&home.read("without/bare.json")).unwrap();
    let bare = bare["docs"].as_array().unwrap();
    assert_eq!(bare.len(), docs.len());
    assert!(bare.iter().all(|it| it["text"] == "" && it["title"] == ""));
}

/// Returns a text as it is escaped within a JSON string.
fn as_json(text: &str) -> String {
    let json = json!(text).to_string();
    json[1..json.len() - 1].to_owned()
}
