//! The overhead of the engine per shard, measured with shards of one query each.

use super::super::table::BenchTable;
use super::processes::ClusterPrograms;
use super::{BenchStudy, create_alone, create_on_cluster};
use anyhow::Result;

/// The number of executors that compute small shards at the same time.
const N_EXECUTORS: usize = 2;

/// The overhead of the engine per shard, in seconds, measured with shards that take hardly any.
#[derive(Default)]
pub(super) struct SmallShards {
    n_shards: usize,
    /// CPU times of whole processes, for each shard.
    pub(super) driver: f64,
    pub(super) scheduler: f64,
    executors: f64,
    /// The same of all of them beyond that of one process.
    overhead: f64,
    /// To commit the output.
    pub(super) commit: f64,
}

/// Measures a study whose shards are one query each.
pub(super) fn measure_small_shards(
    programs: &ClusterPrograms,
    study: &BenchStudy,
    table: &mut BenchTable,
) -> Result<SmallShards> {
    let small = BenchStudy {
        name: "small-shards",
        collection: study.collection.clone(),
        vectors: study.vectors.clone(),
        ranker: "bm25:b=0".to_owned(),
        models: Vec::new(),
        depth: 10,
        probes: "\"tfc1\"",
        sizes: ["--shard-queries", "1", "--shard-batches", "1"],
        n_queries: study.n_small_shards,
        ..*study
    };
    let alone = create_alone(programs, &small, 1)?;
    let run = create_on_cluster(programs, &small, N_EXECUTORS)?;
    let n_shards = run.shards.len() as f64;
    let commit: f64 = run.shards.iter().map(|it| it.commit_seconds()).sum();
    let costs = SmallShards {
        n_shards: run.shards.len(),
        driver: run.driver.cpu_seconds / n_shards,
        scheduler: run.scheduler / n_shards,
        executors: run.executors / n_shards,
        overhead: (run.cpu_seconds() - alone.cpu_seconds) / n_shards,
        commit: (commit / n_shards).max(0.0),
    };
    table.section(
        &format!(
            "Overhead of the engine per shard ({} shards of one query on {N_EXECUTORS} \
             executors)",
            costs.n_shards
        ),
        vec![
            "| CPU: scheduler | executors | driver | together, beyond one process | commit, time | \
             idle executor, per second |"
                .to_owned(),
            "|---:|---:|---:|---:|---:|---:|".to_owned(),
            format!(
                "| {:.1} ms | {:.1} ms | {:.1} ms | {:.1} ms | {:.1} ms | {:.1} ms |",
                costs.scheduler * 1e3,
                costs.executors * 1e3,
                costs.driver * 1e3,
                costs.overhead * 1e3,
                costs.commit * 1e3,
                run.idle_executor * 1e3
            ),
        ],
    );
    Ok(costs)
}
