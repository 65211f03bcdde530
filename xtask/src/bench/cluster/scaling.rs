//! Tables of a study that was created on clusters of several sizes.

use super::super::median;
use super::super::table::{BenchRow, BenchTable};
use super::ClusterRun;
use super::processes::EndedProcess;
use super::shards::{MeasuredShard, by_stage, idle_share};
use anyhow::{Context, Result};

/// Most CPU time that the cluster may take beyond that of one process, as a share of it.
const MAX_OVERHEAD: f64 = 0.1;

/// The target of [`MAX_OVERHEAD`] in the table.
const OVERHEAD_TARGET: &str = "≤ 10 % more";

/// Adds the CPU time of each run against that of one process, and the length of the shards.
pub(super) fn add_overhead(
    alone: &EndedProcess,
    runs: &[ClusterRun],
    table: &mut BenchTable,
) -> Result<()> {
    for run in runs {
        let overhead = run.cpu_seconds() / alone.cpu_seconds - 1.0;
        table.add(BenchRow {
            name: format!(
                "CPU of a study, executors: {}, with scheduler and driver",
                run.n_executors
            ),
            ours: format!("{:.1} s", run.cpu_seconds()),
            peer: format!("one process {:.1} s", alone.cpu_seconds),
            ratio: format!("{:+.1} %", overhead * 100.0),
            target: OVERHEAD_TARGET,
            is_met: overhead <= MAX_OVERHEAD,
        });
    }
    let seconds = median(score_seconds(&runs[0])?);
    table.add_without_peer(
        "a shard of neural scores, at the median",
        format!("{seconds:.1} s"),
        "≥ 10 s",
        seconds >= 10.0,
    );
    Ok(())
}

/// Returns a table of the runs.
pub(super) fn runs(
    alone: &EndedProcess,
    parallel: &EndedProcess,
    n_cores: usize,
    on_cluster: &[ClusterRun],
) -> Vec<String> {
    let mut lines = vec![
        "| | time | CPU: driver | scheduler | executors | together | of one process | shards | CPU \
         of executors per shard | shard at the median | idle | idle while scoring |"
            .to_owned(),
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|".to_owned(),
    ];
    let processes = [(1, alone), (n_cores, parallel)];
    for (n_threads, it) in processes {
        lines.push(format!(
            "| one process, threads: {n_threads} | {:.1} s | {:.1} s | | | {:.1} s | {:.1} % | | \
             | | | |",
            it.wall_seconds,
            it.cpu_seconds,
            it.cpu_seconds,
            it.cpu_seconds / alone.cpu_seconds * 100.0
        ));
    }
    for it in on_cluster {
        let all: Vec<&MeasuredShard> = it.shards.iter().collect();
        let score = by_stage(&it.shards).remove("score").unwrap_or_default();
        let seconds = all.iter().map(|it| it.manifest.seconds).collect();
        lines.push(format!(
            "| executors: {} | {:.1} s | {:.1} s | {:.2} s | {:.1} s | {:.1} s | \
             {:.1} % | {} | {:.1} s | {:.1} s | {:.0} % | {:.0} % |",
            it.n_executors,
            it.driver.wall_seconds,
            it.driver.cpu_seconds,
            it.scheduler,
            it.executors,
            it.cpu_seconds(),
            it.cpu_seconds() / alone.cpu_seconds * 100.0,
            all.len(),
            it.executors / all.len() as f64,
            median(seconds),
            idle_share(&all, it.n_executors) * 100.0,
            idle_share(&score, it.n_executors) * 100.0
        ));
    }
    lines
}

/// Returns a table of the stages of a run.
pub(super) fn stages(run: &ClusterRun) -> Vec<String> {
    let mut lines = vec![
        "| stage | shards | rows | bytes | seconds | shortest | median | longest |".to_owned(),
        "|---|---:|---:|---:|---:|---:|---:|---:|".to_owned(),
    ];
    for (stage, shards) in by_stage(&run.shards) {
        let total = |of: fn(&MeasuredShard) -> u64| shards.iter().map(|it| of(it)).sum::<u64>();
        let seconds: Vec<f64> = shards.iter().map(|it| it.manifest.seconds).collect();
        lines.push(format!(
            "| {stage} | {} | {} | {} | {:.1} s | {:.1} s | {:.1} s | {:.1} s |",
            shards.len(),
            total(|it| it.manifest.n_rows),
            total(|it| it.manifest.n_bytes),
            seconds.iter().sum::<f64>(),
            seconds.iter().copied().fold(f64::INFINITY, f64::min),
            median(seconds.clone()),
            seconds.iter().copied().fold(0.0, f64::max)
        ));
    }
    lines
}

/// Returns the seconds of each shard of neural scores.
pub(super) fn score_seconds(run: &ClusterRun) -> Result<Vec<f64>> {
    let score = by_stage(&run.shards).remove("score");
    let score = score.context("no shard of neural scores")?;
    Ok(score.iter().map(|it| it.manifest.seconds).collect())
}
