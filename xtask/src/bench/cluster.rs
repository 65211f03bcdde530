//! A study on a scheduler and executors of this machine, against the same study in one process;
//! what 1,000 executors would make of such shards; and what MS MARCO would cost.
//!
//! Every process computes with one thread, so that CPU times can be compared: on a machine with two
//! cores four executors share them, which changes times but hardly CPU times.

mod processes;
mod shards;
mod scaling;
mod small_shards;
mod million;
mod simulation;
mod forecast;
mod costs;

use super::table::BenchTable;
use super::{BenchContext, text};
use crate::{process, setup};
use anyhow::{Context, Result, bail};
use costs::MeasuredRates;
use forecast::MeasuredCosts;
use processes::{BenchCluster, ClusterPrograms, EndedProcess, MeasuredProcess};
use serde_json::Value;
use shards::{MeasuredShard, read_shards};
use small_shards::measure_small_shards;
use std::env::consts::EXE_SUFFIX;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const NINE_AXIOMS: &str = "\"tfc1\", \"tfc2\", \"mtdc\", \"lnc1\", \"lnc2\", \"tp\", \"stmc1\", \
                           \"stmc2\", \"stmc3\"";

/// The name of the studies.
const NAME: &str = "cluster";

/// The sizes of the clusters that create the study.
const EXECUTORS: [usize; 3] = [1, 2, 4];

/// The most shards in a plan, as `SHARDS_PER_PLAN` of `cluster/src/engine.rs`.
const SHARDS_PER_PLAN: usize = 256;

/// The number of plans at a time, as `PLANS_AT_A_TIME` there.
const PLANS_AT_A_TIME: usize = 8;

/// How long idle executors are observed.
const IDLE: Duration = Duration::from_secs(30);

/// A study to create, and how it is divided.
struct BenchStudy {
    /// The name of its file and the beginning of those of its data folders.
    name: &'static str,
    about: &'static str,
    collection: PathBuf,
    vectors: Option<PathBuf>,
    n_queries: usize,
    depth: usize,
    /// The axioms, as in a definition file.
    probes: &'static str,
    /// The ranker beside BM25 and QL.
    ranker: String,
    /// Arguments that name the model.
    models: Vec<String>,
    /// Arguments of the driver.
    sizes: [&'static str; 4],
    /// The number of queries of the study of small shards, one each.
    n_small_shards: usize,
}

/// The measurements of a run on a cluster.
struct ClusterRun {
    n_executors: usize,
    driver: EndedProcess,
    scheduler: f64,
    executors: f64,
    /// CPU time of the scheduler per second in which all executors are idle.
    idle_scheduler: f64,
    /// CPU time of an executor per second in which it is idle.
    idle_executor: f64,
    shards: Vec<MeasuredShard>,
    /// Most memory of an executor.
    executor_mib: f64,
}

impl ClusterRun {
    fn cpu_seconds(&self) -> f64 {
        self.driver.cpu_seconds + self.scheduler + self.executors
    }
}

/// Measures a study of nine axioms, two lexical rankers and MiniLM, with shards of ten seconds and
/// more; without the collection and the model, the study of [`rehearse`].
pub(super) fn measure(bench: &BenchContext<'_>, table: &mut BenchTable) -> Result<()> {
    let programs = build(bench)?;
    let data = bench.data();
    let (collection, vectors) = (data.join("cmu-wiki-qa"), data.join("glove-6B-50d-10k"));
    let model = setup::model::get(bench.place);
    let study = match model {
        Ok(model) if collection.is_dir() && vectors.is_dir() => BenchStudy {
            name: "study",
            about: "600 questions × 100 of 5,975 passages of cmu-wiki-qa; nine axioms; BM25, QL \
                    and MiniLM as a bi-encoder",
            collection,
            vectors: Some(vectors.join("glove.6B.50d.10k.txt.gz")),
            n_queries: 600,
            depth: 100,
            probes: NINE_AXIOMS,
            ranker: format!("{}:bi", model.file_name().unwrap_or_default().display()),
            models: vec!["--model".to_owned(), text(&model)],
            sizes: ["--shard-queries", "150", "--shard-batches", "24"],
            n_small_shards: 2 * SHARDS_PER_PLAN,
        },
        found => {
            let missing = match found {
                Ok(_) => "the collection or its word vectors are missing".to_owned(),
                Err(error) => format!("{error:#}"),
            };
            table.left_out("the study of cmu-wiki-qa", &missing);
            demo_study(bench, &programs)?
        }
    };
    measure_study(&programs, &study, table)?;
    million::measure(&programs, table)
}

/// Measures the demo collection with a tiny ranker, in seconds.
pub(super) fn rehearse(bench: &BenchContext<'_>, table: &mut BenchTable) -> Result<()> {
    let programs = build(bench)?;
    let study = demo_study(bench, &programs)?;
    measure_study(&programs, &study, table)
}

/// Builds the cluster with the program whose studies it must equal.
fn build(bench: &BenchContext<'_>) -> Result<ClusterPrograms> {
    fs::create_dir_all(bench.place.dist()).context("making dist/")?;
    let mut build = Command::new("cargo");
    build
        .args(["build", "--release", "--locked", "--package", "cluster"])
        .args(["--package", "backend", "--bins"]);
    println!("build: {}", process::command_line(&build));
    process::run(&mut build)?;
    let axioscope = bench.place.program("release");
    let data = bench.folder.join("cluster");
    fs::create_dir_all(&data)?;
    Ok(ClusterPrograms {
        cluster: axioscope.with_file_name(format!("axioscope-cluster{EXE_SUFFIX}")),
        axioscope,
        folder: data,
    })
}

fn demo_study(bench: &BenchContext<'_>, programs: &ClusterPrograms) -> Result<BenchStudy> {
    let collection = bench.place.root.join("demo");
    let vectors = bench.folder.join("demo-word-vectors.txt");
    let mut train = ClusterPrograms::command(&programs.axioscope, 1);
    train.args(["vectors", "--dims", "20", "--epochs", "3", "--collection"]);
    process::run(train.arg(&collection).arg("--out").arg(&vectors))?;
    let model = bench.place.root.join("models/tiny-epic");
    Ok(BenchStudy {
        name: "study",
        about: "64 queries × 50 of the 512 documents of the demo; nine axioms; BM25, QL and a tiny \
                EPIC; the shards are too short for findings about overhead",
        collection,
        vectors: Some(vectors),
        n_queries: 64,
        depth: 50,
        probes: NINE_AXIOMS,
        ranker: "tiny-epic:epic".to_owned(),
        models: vec!["--model".to_owned(), text(&model)],
        sizes: ["--shard-queries", "8", "--shard-batches", "16"],
        n_small_shards: 64,
    })
}

fn measure_study(
    programs: &ClusterPrograms,
    study: &BenchStudy,
    table: &mut BenchTable,
) -> Result<()> {
    let n_cores = std::thread::available_parallelism().map_or(1, |it| it.get());
    let parallel = create_alone(programs, study, n_cores)?;
    let alone = create_alone(programs, study, 1)?;
    let mut runs = Vec::new();
    let mut is_equal = true;
    for n in EXECUTORS {
        runs.push(create_on_cluster(programs, study, n)?);
        is_equal &= is_equal_study(programs, study, 1, n)?;
    }
    table.add_without_peer(
        "study.json of one process and of 1, 2 and 4 executors, with the hashes of all data files",
        if is_equal { "equal" } else { "differ" }.to_owned(),
        "equal",
        is_equal,
    );
    scaling::add_overhead(&alone, &runs, table)?;
    table.section(
        &format!("A study on executors of one core ({})", study.about),
        scaling::runs(&alone, &parallel, n_cores, &runs),
    );
    table.section("Its shards with one executor", scaling::stages(&runs[0]));
    table.note(
        "Executors: CPU times are those of whole processes, from start to end. Each executor \
         prepares the collection, loads the model and encodes all queries once. Idle is the share \
         of their time in which executors computed no shard, from the first to the last one, and \
         within the stage of neural scores; on fewer cores than executors a shard takes longer. \
         `rescore` scores a sample again: each pair alone, in other batches, and in f16."
            .to_owned(),
    );
    let small = measure_small_shards(programs, study, table)?;
    let costs = MeasuredCosts::new(small, &runs, scaling::score_seconds(&runs[0])?);
    forecast::simulate_clusters(&costs, table);
    let rates = MeasuredRates::new(&runs[0].shards, study.n_queries, study.depth)?;
    costs::add_costs(&rates, table);
    Ok(())
}

impl BenchStudy {
    /// Writes its definition and returns the path of the file.
    fn write(&self, programs: &ClusterPrograms) -> Result<PathBuf> {
        let file = programs.folder.join(format!("{}.toml", self.name));
        let vectors = self.vectors.as_ref();
        let vectors = vectors.map(|it| format!("vectors = {:?}\n", text(it)));
        let definition = format!(
            "format = 1\nname = \"{NAME}\"\ntitle = \"Cluster\"\ncollection = {:?}\n\
             n_queries = {}\npool = \"rank:bm25:{}\"\nprobes = [{}]\n{}\
             rankers = [\"bm25\", \"ql\", {:?}]\n[limits]\nrepeat_from = 2\nrepeat_to = 2\n\
             repeated_terms = 100\n",
            text(&self.collection),
            self.n_queries,
            self.depth,
            self.probes,
            vectors.unwrap_or_default(),
            self.ranker
        );
        fs::write(&file, definition)?;
        Ok(file)
    }

    /// Returns the name of its data folder if one process creates it.
    fn alone(&self, n_threads: usize) -> String {
        format!("{}-threads-{n_threads}", self.name)
    }

    /// Returns the name of its data folder if executors create it.
    fn on_cluster(&self, n_executors: usize) -> String {
        format!("{}-executors-{n_executors}", self.name)
    }
}

/// Creates a study in one process.
fn create_alone(
    programs: &ClusterPrograms,
    study: &BenchStudy,
    n_threads: usize,
) -> Result<EndedProcess> {
    println!("bench: {}, one process, threads: {n_threads}", study.name);
    let name = study.alone(n_threads);
    let data = empty_folder(&programs.folder, &name)?;
    let mut run = ClusterPrograms::command(&programs.axioscope, n_threads);
    run.arg("--data").arg(&data).args(["study", "run"]);
    run.arg(study.write(programs)?).args(&study.models);
    MeasuredProcess::start(&mut run, &programs.folder, &name)?.finish()
}

/// Creates a study on a cluster, and observes its idle executors afterwards.
fn create_on_cluster(
    programs: &ClusterPrograms,
    study: &BenchStudy,
    n_executors: usize,
) -> Result<ClusterRun> {
    println!("bench: {}, executors: {n_executors}", study.name);
    let name = study.on_cluster(n_executors);
    let file = study.write(programs)?;
    let data = empty_folder(&programs.folder, &name)?;
    let cluster = BenchCluster::start(programs, n_executors, &study.models)?;
    let mut run = ClusterPrograms::command(&programs.cluster, 1);
    run.arg("run").arg(&file).arg("--data").arg(&data);
    run.args(["--scheduler", &cluster.address, "--json"]);
    run.args(study.sizes).args(&study.models);
    let driver = MeasuredProcess::start(&mut run, &programs.folder, &name)?.finish()?;
    let [scheduler, executors] = cluster.cpu_seconds()?;
    std::thread::sleep(IDLE);
    let later = cluster.cpu_seconds()?;
    let executor_mib = cluster.peak_mib_of_executor();
    let idle_seconds = IDLE.as_secs_f64();
    let summary = serde_json::from_str(&driver.output).context("reading the summary of a run")?;
    let shards = read_shards(&data.join("cluster"), &summary)?;
    ensure_no_shard_was_repeated(programs, &data, shards.len())?;
    Ok(ClusterRun {
        n_executors,
        driver,
        scheduler,
        executors,
        idle_scheduler: (later[0] - scheduler) / idle_seconds,
        idle_executor: (later[1] - executors) / (idle_seconds * n_executors as f64),
        shards,
        executor_mib,
    })
}

/// Returns an error if the records of a job have another number of attempts than of shards, since
/// its CPU times would then not be those of the study.
fn ensure_no_shard_was_repeated(
    programs: &ClusterPrograms,
    data: &Path,
    n_shards: usize,
) -> Result<()> {
    let mut status = ClusterPrograms::command(&programs.cluster, 1);
    let output = process::output_of(status.args(["status", "--json", "--data"]).arg(data));
    let jobs: Value = serde_json::from_str(&output.context("reading the status")?)?;
    let stages = jobs[0]["stages"].as_array().context("no stages")?;
    let n_attempts: u64 = stages
        .iter()
        .filter_map(|it| it["n_attempts"].as_u64())
        .sum();
    if jobs[0]["state"] != "done" || n_attempts != n_shards as u64 {
        bail!("{n_shards} shards were computed, but the records say {jobs}");
    }
    Ok(())
}

/// Returns whether the study of one process equals that of a cluster.
fn is_equal_study(
    programs: &ClusterPrograms,
    study: &BenchStudy,
    n_threads: usize,
    n_executors: usize,
) -> Result<bool> {
    let facts = |name: String| study_facts(&programs.folder.join(name));
    Ok(facts(study.alone(n_threads))? == facts(study.on_cluster(n_executors))?)
}

fn empty_folder(folder: &Path, name: &str) -> Result<PathBuf> {
    let folder = folder.join(name);
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// Returns `study.json` of a data folder without its date, and so without its checksum. It has the
/// SHA-256 of every data file.
fn study_facts(data: &Path) -> Result<Value> {
    let file = data.join("studies").join(NAME).join("study.json");
    let json = fs::read_to_string(&file).with_context(|| format!("reading {}", file.display()))?;
    let mut facts: Value = serde_json::from_str(&json)?;
    let removed = facts.as_object_mut().and_then(|it| it.remove("sha256"));
    removed.context("study.json has no checksum")?;
    let study = facts["study"].as_object_mut();
    let created = study.and_then(|it| it.remove("created"));
    created.context("study.json has no date")?;
    Ok(facts)
}

#[cfg(test)]
mod tests {
    /// The cluster is not a dependency of this package, which would then compile DataFusion.
    #[test]
    fn the_assumed_settings_are_those_of_the_cluster() {
        let engine = include_str!("../../../cluster/src/engine.rs");
        let expected = format!("const SHARDS_PER_PLAN: usize = {};", super::SHARDS_PER_PLAN);
        assert!(engine.contains(&expected), "{expected}");
        let expected = format!("const PLANS_AT_A_TIME: usize = {};", super::PLANS_AT_A_TIME);
        assert!(engine.contains(&expected), "{expected}");
        let retry = format!(
            "RETRY: Duration = Duration::from_secs({})",
            super::forecast::RETRY
        );
        assert!(engine.contains(&retry), "{retry}");
        let scheduler = include_str!("../../../cluster/src/scheduler.rs");
        let timeout = super::forecast::EXECUTOR_TIMEOUT;
        assert!(
            scheduler.contains(&format!("default_value_t = {timeout},")),
            "{timeout}"
        );
    }
}
