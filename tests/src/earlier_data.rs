//! Data that commit 31afae1 wrote, before names, addresses and keys changed, read by the program of
//! today. `fixtures/31afae1/README.md` says what they are.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;

use flate2::read::GzDecoder;
use serde_json::Value;
use shared::annotation::export::ExportedAnnotationEvent;
use shared::api::annotation::{
    AnnotationTaskStatus, ExportTaskRequest, GetAgreementRequest, GetTaskProgressRequest,
    ListTasksRequest, TaskExportFormat, TaskId,
};
use shared::api::people::{ListPeopleRequest, SignInRequest};
use shared::api::{GetJobScoresRequest, JobState, ListScoringJobsRequest, ListStudiesRequest};
use shared::study::Study;
use shared::study::overview::StudySummary;

use crate::harness::{TestHome, TestServer, tiny_collection, tiny_model};

/// The hash of the instances, as commit 31afae1 computed it.
const HASH: &str = "5cc6f18177f7609f57692fdca2c306183a15a3a611c72506cb28ca859ec9c4d8";

const STUDY: &str = "kept";

fn fixture(file: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/31afae1");
    folder.join(file)
}

fn fixture_text(file: &str) -> String {
    let bytes = fs::read(fixture(file)).unwrap();
    if !file.ends_with(".gz") {
        return String::from_utf8(bytes).unwrap();
    }
    let mut text = String::new();
    GzDecoder::new(&bytes[..])
        .read_to_string(&mut text)
        .unwrap();
    text
}

fn fixture_json(file: &str) -> Value {
    serde_json::from_str(&fixture_text(file)).unwrap()
}

/// Returns a home with the input files of the study; its data folder is empty.
fn home_with_inputs() -> TestHome {
    let home = TestHome::new();
    for file in [
        "study.toml",
        "fluency.jsonl",
        "words.txt",
        "scores.tsv",
        "pairs.jsonl",
    ] {
        home.write(file, fixture_text(file));
    }
    home
}

/// Returns a home with the data folder as it was left.
fn home_with_data() -> TestHome {
    let home = home_with_inputs();
    let mut unpack = Command::new("tar");
    unpack.arg("xzf").arg(fixture("data.tar.gz"));
    let unpacked = unpack.current_dir(home.path(".")).status().unwrap();
    assert!(unpacked.success());
    fs::rename(home.path("axioscope-data"), home.path("data")).unwrap();
    home
}

/// Returns all numbers of a JSON value in ascending order. Keys, their order and texts may change
/// from version to version, numbers may not.
fn sorted_numbers(value: &Value) -> Vec<f64> {
    fn collect(value: &Value, found: &mut Vec<f64>) {
        match value {
            Value::Number(it) => found.extend(it.as_f64()),
            Value::Array(items) => items.iter().for_each(|it| collect(it, found)),
            Value::Object(fields) => fields.values().for_each(|it| collect(it, found)),
            Value::Null | Value::Bool(_) | Value::String(_) => {}
        }
    }
    let mut found = Vec::new();
    collect(value, &mut found);
    found.sort_by(f64::total_cmp);
    found
}

#[track_caller]
fn expect_same_numbers(found: &Value, fixture: &str) {
    // Where all queries are alike, there is no smallest detectable difference. Earlier versions had
    // this rounding error there.
    const ROUNDING_ERROR: f64 = 2.230257140912137e-13;
    let mut expected = sorted_numbers(&fixture_json(fixture));
    expected.retain(|it| *it != ROUNDING_ERROR);
    assert!(expected.len() > 10, "{fixture} has too few numbers");
    assert_eq!(sorted_numbers(found), expected, "{fixture}");
}

fn serve(home: &TestHome) -> TestServer {
    home.serve(&["--model", &tiny_model().display().to_string()])
}

/// Checks the study, the task, the people and the job of a data folder.
fn expect_whole(home: &TestHome) {
    let checked = home.run("study check kept").expect_success();
    assert_eq!(checked.trim(), format!("the same instances: {HASH}"));
    expect_same_numbers(
        &home.run("report kept --format json").json(),
        "report.json.gz",
    );

    let server = serve(home);
    let studies: Vec<StudySummary> = server.call(&ListStudiesRequest {});
    assert_eq!((studies.len(), &*studies[0].name), (1, STUDY));

    let tasks = server.call(&ListTasksRequest {});
    let statuses: Vec<AnnotationTaskStatus> = tasks.iter().map(|it| it.status).collect();
    assert!(
        statuses.contains(&AnnotationTaskStatus::Open)
            && statuses.contains(&AnnotationTaskStatus::Draft),
        "{statuses:?}"
    );
    let task = TaskId(1);
    let agreement = server.call(&GetAgreementRequest { task });
    expect_same_numbers(&serde_json::to_value(&agreement).unwrap(), "agreement.json");
    let progress = server.call(&GetTaskProgressRequest { task });
    expect_same_numbers(&serde_json::to_value(&progress).unwrap(), "progress.json");

    let export = |format| {
        let request = ExportTaskRequest {
            task,
            format,
            include_names: true,
        };
        server.request_for(&request).send().unwrap().text().unwrap()
    };
    let rows = |text: &str| -> Vec<ExportedAnnotationEvent> {
        let rows = text.lines().map(|it| serde_json::from_str(it).unwrap());
        rows.collect()
    };
    let (found, written) = (
        rows(&export(TaskExportFormat::Jsonl)),
        rows(&fixture_text("annotations.jsonl")),
    );
    assert_eq!((found.len(), &found), (29, &written));
    let n_lines = |text: &str| text.lines().count();
    assert_eq!(
        n_lines(&export(TaskExportFormat::Csv)),
        n_lines(&fixture_text("annotations.csv"))
    );

    let people = server.call(&ListPeopleRequest {}).people;
    let names: Vec<&str> = people.iter().map(|it| &*it.person.name).collect();
    assert_eq!(names, ["Carla", "Ann", "Ben", "Eve"]);
    let sign_in = SignInRequest {
        name: "Ann".to_owned(),
        password: "another long passphrase".to_owned(),
    };
    let signed_in = server
        .request_for(&sign_in)
        .header("origin", &server.address);
    assert_eq!(signed_in.send().unwrap().status(), 200);

    let jobs = server.call(&ListScoringJobsRequest {});
    assert_eq!((jobs.len(), &jobs[0].state), (1, &JobState::Done));
    let scores = server.call(&GetJobScoresRequest {
        job: jobs[0].id.clone(),
    });
    assert_eq!(scores.scores.len(), 2);
}

#[test]
fn a_data_folder_is_opened_where_it_is() {
    expect_whole(&home_with_data());
}

#[test]
fn a_backup_is_restored_into_either_database() {
    for home in TestHome::of_each_database() {
        let backup = fixture("backup.tar.gz").display().to_string();
        home.run_with(&["restore", &backup]).expect_success();
        for file in ["words.txt", "fluency.jsonl"] {
            home.write(file, fixture_text(file));
        }
        expect_whole(&home);
    }
}

#[test]
fn a_study_file_gives_the_same_instances() {
    let home = home_with_inputs();
    let import = ["import", tiny_collection(), "--to", "kept-collection"];
    home.run_with(&import).expect_success();
    let model = tiny_model().display().to_string();
    let run = ["study", "run", "study.toml", "--model", &model];
    let printed = home.run_with(&run).expect_success();
    assert_eq!(
        printed.trim(),
        format!("study `{STUDY}` is complete; instance hash {HASH}")
    );
    expect_same_numbers(
        &home.run("report kept --format json").json(),
        "report.json.gz",
    );
}

#[test]
fn files_of_commands_are_read_and_written_as_before() {
    let home = home_with_data();
    fs::copy(fixture("instances.parquet"), home.path("instances.parquet")).unwrap();
    let judge = "judge --collection kept-collection --instances instances.parquet \
                 --ranker scores:scores.tsv --ranker ql";
    assert_eq!(home.run(judge).expect_success(), fixture_text("judge.tsv"));
    let score = "score --collection kept-collection --pairs pairs.jsonl --ranker bm25 \
                 --out again.tsv";
    home.run(score).expect_success();
    assert_eq!(home.read("again.tsv"), fixture_text("scores.tsv"));
    let pairs =
        "pairs --collection kept-collection --instances instances.parquet --out again.jsonl";
    home.run(pairs).expect_success();
    assert_eq!(home.read("again.jsonl"), fixture_text("pairs.jsonl"));
    let rank = "rank --collection kept-collection --ranker bm25 --out again.run";
    home.run(rank).expect_success();
    // Runs had a header then, which `--metadata` adds now.
    let earlier = fixture_text("BM25.run");
    let ranking = earlier.lines().filter(|it| !it.starts_with('#'));
    assert!(home.read("again.run").lines().eq(ranking));
}

#[test]
fn an_exported_study_is_read() {
    let summaries: Vec<StudySummary> =
        serde_json::from_value(fixture_json("exported-index.json")).unwrap();
    assert_eq!((summaries.len(), &*summaries[0].name), (1, STUDY));
    let study = Study::from_json("kept.json", &fixture_text("exported-study.json.gz")).unwrap();
    assert_eq!(study.instances_hash, HASH);
}
