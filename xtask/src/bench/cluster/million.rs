//! A study of a million passages and 10,000 queries, in one process and on executors.

use super::super::random_collection::write_random_collection;
use super::super::table::BenchTable;
use super::processes::ClusterPrograms;
use super::{BenchStudy, create_alone, create_on_cluster, is_equal_study};
use anyhow::Result;

const N_DOCS: usize = 1_000_000;
const N_QUERIES: usize = 10_000;
const N_EXECUTORS: usize = 2;

/// The most memory of any process, in MiB.
const MOST_MIB: f64 = 8.0 * 1024.0;

pub(super) fn measure(programs: &ClusterPrograms, table: &mut BenchTable) -> Result<()> {
    let folder = programs.folder.join("million");
    write_random_collection(&folder, N_DOCS, N_QUERIES)?;
    let study = BenchStudy {
        name: "million-study",
        about: "a million passages",
        collection: folder.join("collection"),
        vectors: None,
        n_queries: N_QUERIES,
        depth: 100,
        probes: "\"tfc1\", \"tfc2\", \"mtdc\", \"lnc1\", \"lnc2\", \"tp\"",
        ranker: "bm25:k1=0.9,b=0.4".to_owned(),
        models: Vec::new(),
        sizes: ["--shard-queries", "500", "--shard-batches", "1"],
        n_small_shards: 0,
    };
    let alone = create_alone(programs, &study, N_EXECUTORS)?;
    let run = create_on_cluster(programs, &study, N_EXECUTORS)?;
    let is_equal = is_equal_study(programs, &study, N_EXECUTORS, N_EXECUTORS)?;
    table.add_without_peer(
        "study.json of a million passages and 10,000 queries: one process, and two executors",
        if is_equal { "equal" } else { "differ" }.to_owned(),
        "equal",
        is_equal,
    );
    let most_mib = run.driver.peak_mib.max(run.executor_mib);
    table.add_without_peer(
        "most memory of a process of that cluster",
        format!("{most_mib:.0} MiB"),
        "≤ 8 GiB",
        most_mib <= MOST_MIB,
    );
    let n_bytes: u64 = run.shards.iter().map(|it| it.manifest.n_bytes).sum();
    let seconds: f64 = run.shards.iter().map(|it| it.manifest.seconds).sum();
    table.section(
        "A study of a million passages and 10,000 queries (six axioms, three lexical rankers, 100 \
         passages for each query)",
        vec![
            "| | time | CPU | most memory: driver | executor | shards | compute time, output |"
                .to_owned(),
            "|---|---:|---:|---:|---:|---:|---:|".to_owned(),
            format!(
                "| one process, threads: {N_EXECUTORS} | {:.1} s | {:.1} s | {:.0} MiB | | | |",
                alone.wall_seconds, alone.cpu_seconds, alone.peak_mib
            ),
            format!(
                "| executors of one core: {N_EXECUTORS} | {:.1} s | {:.1} s | {:.0} MiB | \
                 {:.0} MiB | {} | {seconds:.1} s, {:.0} MB |",
                run.driver.wall_seconds,
                run.cpu_seconds(),
                run.driver.peak_mib,
                run.executor_mib,
                run.shards.len(),
                n_bytes as f64 / 1e6
            ),
        ],
    );
    Ok(())
}
