//! A study that a cluster of processes creates is the study that one machine creates, to the bit,
//! also if its processes are killed.
#![allow(clippy::unwrap_used, reason = "all of it is for tests")]

mod certificates;
mod command_lines;
mod guide;
mod object_storage;
mod packaging;
mod processes;
mod study_files;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use processes::{ClusterProcesses, PATIENCE, RunningProcess, axioscope, finish};
use rand_core::{RngCore, SeedableRng};
use rand_pcg::Pcg64;
use serde_json::{Value, json};
use study_files::{count_committed_shards, ensure_equal_studies};
use test_dependencies::{TestDependency, or_skip};

/// Variable that makes these tests long.
const LONG: &str = "AXIOSCOPE_CLUSTER_LONG";

/// The rankers of the repository, which score quickly.
const TINY_RANKERS: [&str; 4] = ["tiny-bert", "tiny-epic", "tiny-monot5", "tiny-doc2query"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap()
        .to_owned()
}

fn is_long() -> bool {
    std::env::var_os(LONG).is_some()
}

/// Returns the arguments that name the tiny rankers.
fn tiny_models() -> Vec<String> {
    let folders = TINY_RANKERS.map(|it| root().join("models").join(it));
    let each = folders.iter();
    each.flat_map(|it| ["--model".to_owned(), it.display().to_string()])
        .collect()
}

/// Writes the demo study with some rankers and its first queries.
fn demo_study(folder: &Path, rankers: &[&str], n_queries: usize) -> PathBuf {
    let demo = root().join("demo");
    let vectors = folder.join("vectors.txt");
    finish(
        axioscope()
            .args(["vectors", "--dims", "20", "--epochs", "3", "--collection"])
            .arg(&demo)
            .arg("--out")
            .arg(&vectors),
    );
    let text = fs::read_to_string(demo.join("study.toml")).unwrap();
    let mut study: toml::Table = text.parse().unwrap();
    let mut set = |key: &str, value: toml::Value| {
        study.insert(key.to_owned(), value);
    };
    set("collection", demo.display().to_string().into());
    set("vectors", vectors.display().to_string().into());
    if n_queries < usize::MAX {
        set("n_queries", toml::Value::Integer(n_queries as i64));
    }
    set(
        "rankers",
        toml::Value::Array(rankers.iter().map(|&it| it.into()).collect()),
    );
    let file = folder.join("study.toml");
    fs::write(&file, study.to_string()).unwrap();
    file
}

/// Creates a study with `axioscope study run`, and returns its data folder.
fn create_on_one_machine(folder: &Path, file: &Path, models: &[String]) -> PathBuf {
    let data = folder.join("alone");
    finish(
        axioscope()
            .arg("--data")
            .arg(&data)
            .args(["study", "run"])
            .arg(file)
            .args(models),
    );
    data
}

#[test]
fn the_demo_study_of_a_cluster_is_that_of_one_machine() {
    let folder = tempfile::tempdir().unwrap();
    let rankers = [
        "bm25",
        "ql",
        "tiny-epic:epic",
        "tiny-monot5:monot5",
        "tiny-doc2query:doc2query",
    ];
    let n_queries = if is_long() { usize::MAX } else { 3 };
    let file = demo_study(folder.path(), &rankers, n_queries);
    let models = tiny_models();
    let alone = create_on_one_machine(folder.path(), &file, &models);
    let cluster = ClusterProcesses::start(folder.path(), 2, &models);
    let sizes = ["--shard-queries", "1", "--shard-batches", "8"];
    let data = folder.path().join("together");
    let told = cluster.run_study(&file, &data, &sizes);
    assert_eq!(told["study"], "demo");
    let stages = told["stages"].as_object().unwrap();
    assert!(stages["mine"]["shards"].as_u64().unwrap() >= 3, "{told}");
    assert!(
        stages.contains_key("score") && stages.contains_key("rescore"),
        "{told}"
    );
    ensure_equal_studies(&alone, &data, "demo");

    // One process computes the same shards.
    let local = folder.path().join("local");
    finish(
        processes::cluster_program()
            .arg("run")
            .arg(&file)
            .arg("--data")
            .arg(&local)
            .args(sizes)
            .args(&models),
    );
    ensure_equal_studies(&alone, &local, "demo");
}

/// Writes a study of a small collection with many queries.
fn study_of_many_queries(folder: &Path, n_queries: usize) -> PathBuf {
    let words = |from: usize, n: usize| {
        let each = (from..from + n).map(|it| format!("word{}", it * it % 17));
        each.collect::<Vec<_>>().join(" ")
    };
    let row = |id: String, text: String| format!("{}\n", json!({ "_id": id, "text": text }));
    let documents = (0..20).map(|it| row(format!("d{it}"), words(it, 10 + it)));
    let queries = (0..n_queries).map(|it| row(format!("q{it}"), words(it, 2)));
    let study = format!(
        "name = \"shards\"\n\
         collection = '{}'\n\
         pool = \"rank:bm25:3\"\n\
         probes = [\"tfc1\", \"lnc1\"]\n\
         rankers = [\"bm25\"]\n",
        folder.display()
    );
    for (name, content) in [
        ("corpus.jsonl", documents.collect()),
        ("queries.jsonl", queries.collect()),
        ("study.toml", study),
    ] {
        fs::write(folder.join(name), content).unwrap();
    }
    folder.join("study.toml")
}

/// Two thousand shards at once would take all threads that the runtime of the storage may have.
#[test]
fn one_process_computes_any_number_of_shards() {
    const N_SHARDS: usize = 2000;
    let folder = tempfile::tempdir().unwrap();
    let file = study_of_many_queries(folder.path(), N_SHARDS);
    let alone = create_on_one_machine(folder.path(), &file, &[]);
    let data = folder.path().join("data");
    let mut driver = processes::cluster_program();
    driver
        .arg("run")
        .arg(&file)
        .args(["--json", "--shard-queries", "1", "--data"])
        .arg(&data);
    let mut driver = RunningProcess::spawn(&mut driver, &folder.path().join("driver.log"));
    assert!(
        driver.has_ended_within(Duration::from_secs(120)),
        "the driver has not ended"
    );
    assert_eq!(driver.summary()["stages"]["mine"]["shards"], N_SHARDS);
    ensure_equal_studies(&alone, &data, "shards");
}

/// The message with 250 tasks has 28 MB, and Ballista's own limit is 16 MiB.
#[test]
fn an_executor_of_many_cores_is_given_a_shard_for_each() {
    const N_SHARDS: usize = 250;
    let folder = tempfile::tempdir().unwrap();
    let file = study_of_many_queries(folder.path(), N_SHARDS);
    let alone = create_on_one_machine(folder.path(), &file, &[]);
    let cluster = ClusterProcesses::start(folder.path(), 0, &[]);
    let n_cores = N_SHARDS.to_string();
    let mut executor = processes::cluster_program();
    executor.args(["executor", "--scheduler", cluster.address()]);
    executor.args(["--cores", &n_cores]);
    let log = folder.path().join("executor.log");
    let _executor = RunningProcess::spawn(&mut executor, &log);
    let data = folder.path().join("data");
    let mut driver = cluster.start_driver(&file, &data, &["--shard-queries", "1"]);
    assert!(
        driver.has_ended_within(Duration::from_secs(300)),
        "the driver has not ended"
    );
    assert_eq!(driver.summary()["stages"]["mine"]["shards"], N_SHARDS);
    ensure_equal_studies(&alone, &data, "shards");
}

#[test]
fn a_study_of_300_questions_with_nine_axioms_is_that_of_one_machine() {
    let data = std::env::var_os("AXIOSCOPE_DATA").filter(|it| !it.is_empty());
    let lacking = "AXIOSCOPE_DATA does not name the folder of the public collections";
    let Some(data) = or_skip(data, TestDependency::Collections, lacking).map(PathBuf::from) else {
        return;
    };
    let model = std::env::var_os("AXIOSCOPE_MODEL").filter(|it| !it.is_empty());
    let lacking = "AXIOSCOPE_MODEL does not name the default model";
    let Some(model) = or_skip(model, TestDependency::Model, lacking).map(PathBuf::from) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("study.toml");
    let name = model.file_name().unwrap().to_string_lossy();
    let text = format!(
        "name = \"questions\"\n\
         collection = '{}'\n\
         n_queries = 300\n\
         pool = \"rank:bm25:2\"\n\
         probes = [\"tfc1\", \"tfc2\", \"mtdc\", \"lnc1\", \"lnc2\", \"tp\", \"stmc1\", \"stmc2\", \"stmc3\"]\n\
         vectors = '{}'\n\
         rankers = [\"bm25\", \"ql\", \"{name}:bi\"]\n\
         [limits]\n\
         repeat_from = 2\n\
         repeat_to = 2\n\
         repeated_terms = 100\n",
        data.join("cmu-wiki-qa").display(),
        data.join("glove-6B-50d-10k/glove.6B.50d.10k.txt.gz")
            .display(),
    );
    fs::write(&file, text).unwrap();
    let models = ["--model".to_owned(), model.display().to_string()];
    let alone = create_on_one_machine(folder.path(), &file, &models);
    let cluster = ClusterProcesses::start(folder.path(), 2, &models);
    let together = folder.path().join("together");
    cluster.run_study(&file, &together, &["--shard-batches", "4"]);
    ensure_equal_studies(&alone, &together, "questions");
}

#[test]
fn nothing_is_lost_or_committed_twice_if_processes_are_killed() {
    let folder = tempfile::tempdir().unwrap();
    let file = demo_study(folder.path(), &["bm25", "ql", "tiny-epic:epic"], 30);
    let models = tiny_models();
    let alone = create_on_one_machine(folder.path(), &file, &models);
    let mut left: Vec<usize> = Vec::new();
    // Executors, schedulers and drivers.
    let kills = if is_long() { [100, 20, 20] } else { [5, 2, 2] };
    for (kind, n) in kills.into_iter().enumerate() {
        left.extend(std::iter::repeat_n(kind, n));
    }
    let n_kills = left.len();
    let mut random = Pcg64::seed_from_u64(25);
    let mut cluster = ClusterProcesses::start(folder.path(), 2, &models);
    let mut n_rounds = 0;
    while !left.is_empty() {
        n_rounds += 1;
        let data = folder.path().join(format!("round-{n_rounds}"));
        let sizes = ["--shard-queries", "1", "--shard-batches", "2"];
        let mut driver = cluster.start_driver(&file, &data, &sizes);
        let since = Instant::now();
        loop {
            assert!(since.elapsed() < PATIENCE, "the driver has not ended");
            let pause = Duration::from_millis(200 + u64::from(random.next_u32() % 2000));
            if driver.has_ended_within(pause) {
                break;
            }
            if left.is_empty() {
                continue;
            }
            match left.swap_remove(random.next_u32() as usize % left.len()) {
                0 => cluster.kill_and_replace_executor(random.next_u32() as usize),
                1 => cluster.kill_and_replace_scheduler(),
                _ => {
                    driver.kill();
                    driver = cluster.start_driver(&file, &data, &sizes);
                }
            }
        }
        driver.summary();
        ensure_equal_studies(&alone, &data, "demo");
        let mut n_shards = 0;
        for job in job_records(&data).as_array().unwrap() {
            assert_eq!(job["state"], "done", "{job}");
            for stage in job["stages"].as_array().unwrap() {
                let count = |key: &str| stage[key].as_u64().unwrap();
                assert_eq!(count("n_committed"), count("n_shards"), "{job}");
                assert!(count("n_attempts") >= count("n_shards"), "{job}");
                n_shards += count("n_shards");
            }
        }
        assert_eq!(count_committed_shards(&data.join("cluster")), n_shards);
    }
    // An executor may have been killed between a commit and its line.
    let commits = cluster.commits();
    assert!(commits.values().all(|&n| n <= n_rounds), "{commits:?}");
    assert!(
        commits.values().sum::<usize>() + n_kills >= n_rounds * commits.len(),
        "{commits:?}"
    );
    println!("{n_kills} processes were killed in {n_rounds} runs");
}

/// Returns the jobs in the database of a data folder.
fn job_records(data: &Path) -> Value {
    let output = processes::cluster_program()
        .args(["status", "--json", "--data"])
        .arg(data)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Executors that mine need no models, and those that score need not mine.
#[test]
fn a_study_of_two_pools_of_executors_is_that_of_one_machine() {
    let folder = tempfile::tempdir().unwrap();
    let file = demo_study(folder.path(), &["bm25", "tiny-epic:epic"], 3);
    let models = tiny_models();
    let alone = create_on_one_machine(folder.path(), &file, &models);
    let mining = ClusterProcesses::start(&folder.path().join("mining"), 1, &[]);
    let scoring = ClusterProcesses::start(&folder.path().join("scoring"), 1, &models);
    let data = folder.path().join("data");
    let mut options = vec!["--shard-queries", "1", "--gpu-scheduler", scoring.address()];
    options.extend(models.iter().map(String::as_str));
    mining.run_study(&file, &data, &options);
    ensure_equal_studies(&alone, &data, "demo");
    let is_mined = |it: &String| it.starts_with("mine-");
    let (of_mining, of_scoring) = (mining.commits(), scoring.commits());
    assert!(of_mining.len() >= 3, "{of_mining:?}");
    assert!(of_mining.keys().all(is_mined), "{of_mining:?}");
    assert!(
        of_scoring.len() >= 2 && !of_scoring.keys().any(is_mined),
        "{of_scoring:?}"
    );
}

#[test]
fn a_canceled_study_is_continued_by_the_same_command() {
    let folder = tempfile::tempdir().unwrap();
    let file = demo_study(folder.path(), &["bm25", "tiny-epic:epic"], 20);
    let models = tiny_models();
    let cluster = ClusterProcesses::start(folder.path(), 1, &models);
    let data = folder.path().join("data");
    let sizes = ["--shard-queries", "1", "--shard-batches", "1"];
    let mut driver = cluster.start_driver(&file, &data, &sizes);
    let committed = || {
        let jobs = data
            .join("axioscope.db")
            .exists()
            .then(|| job_records(&data));
        let stages = jobs.and_then(|it| it[0]["stages"].as_array().cloned());
        let stages = stages.unwrap_or_default().into_iter();
        stages
            .map(|it| it["n_committed"].as_u64().unwrap())
            .sum::<u64>()
    };
    while committed() == 0 {
        assert!(
            !driver.has_ended_within(Duration::from_millis(200)),
            "{}",
            driver.log()
        );
    }
    finish(
        processes::cluster_program()
            .args(["cancel", "demo", "--data"])
            .arg(&data),
    );
    assert!(
        driver.has_ended_within(PATIENCE),
        "the driver has not ended"
    );
    assert!(driver.log().contains("canceled"), "{}", driver.log());
    assert_eq!(job_records(&data)[0]["state"], "canceled");
    let before = committed();
    let told = cluster.run_study(&file, &data, &sizes);
    assert_eq!(told["study"], "demo");
    assert_eq!(job_records(&data)[0]["state"], "done");
    assert!(before > 0 && committed() > before);
}
