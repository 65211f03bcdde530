//! The shards of a job, read from its storage: what was computed where, when and for how long.

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// The manifest of a shard, with the times of its files.
pub(super) struct MeasuredShard {
    pub(super) stage: String,
    pub(super) manifest: ShardFacts,
    /// When the attempt that counts began.
    begun: SystemTime,
    /// When its output was committed.
    committed: SystemTime,
}

/// The part of a manifest that is used here.
#[derive(Deserialize)]
pub(super) struct ShardFacts {
    shard: String,
    attempt: String,
    pub(super) n_rows: u64,
    pub(super) n_bytes: u64,
    /// The time to compute the output, in seconds.
    pub(super) seconds: f64,
}

impl MeasuredShard {
    /// Returns the time from the end of the computation to the commit, in seconds.
    pub(super) fn commit_seconds(&self) -> f64 {
        seconds_between(self.begun, self.committed) - self.manifest.seconds
    }
}

/// Returns the shards of the only job below a storage folder, by name. Returns an error if they are
/// not those of the summary that the driver has printed.
pub(super) fn read_shards(storage: &Path, summary: &Value) -> Result<Vec<MeasuredShard>> {
    let mut jobs = fs::read_dir(storage)?;
    let job = jobs.next().context("the storage has no job")??.path();
    let mut shards = Vec::new();
    for stage in fs::read_dir(job.join("manifests"))? {
        let stage = stage?.file_name().display().to_string();
        let attempts = job.join("attempts").join(&stage);
        for entry in fs::read_dir(job.join("manifests").join(&stage))? {
            let path = entry?.path();
            let manifest: ShardFacts = serde_json::from_str(&fs::read_to_string(&path)?)?;
            let attempt = attempts.join(&manifest.shard).join(&manifest.attempt);
            shards.push(MeasuredShard {
                stage: stage.clone(),
                begun: fs::metadata(attempt)?.modified()?,
                committed: fs::metadata(&path)?.modified()?,
                manifest,
            });
        }
    }
    shards.sort_by(|a, b| a.manifest.shard.cmp(&b.manifest.shard));
    for (stage, shards) in by_stage(&shards) {
        let printed = &summary["stages"][stage];
        let n_bytes: u64 = shards.iter().map(|it| it.manifest.n_bytes).sum();
        if printed["shards"] != shards.len() || printed["bytes"] != n_bytes {
            bail!("the storage has other shards of `{stage}` than {summary}");
        }
    }
    Ok(shards)
}

/// Returns the shards of each stage, in their order.
pub(super) fn by_stage(shards: &[MeasuredShard]) -> BTreeMap<&str, Vec<&MeasuredShard>> {
    let mut stages: BTreeMap<&str, Vec<&MeasuredShard>> = BTreeMap::new();
    for shard in shards {
        stages.entry(&shard.stage).or_default().push(shard);
    }
    stages
}

/// Returns the share of their time in which executors computed no shard, between the first and the
/// last shard of some.
pub(super) fn idle_share(shards: &[&MeasuredShard], n_executors: usize) -> f64 {
    let begun = shards.iter().map(|it| it.begun).min();
    let ended = shards.iter().map(|it| it.committed).max();
    let time = begun
        .zip(ended)
        .map_or(0.0, |it| seconds_between(it.0, it.1));
    let busy: f64 = shards.iter().map(|it| it.manifest.seconds).sum();
    1.0 - busy / (n_executors as f64 * time)
}

/// Returns the seconds between two times of files, which are exact to some milliseconds; 0 if their
/// order is reversed.
fn seconds_between(from: SystemTime, to: SystemTime) -> f64 {
    to.duration_since(from)
        .unwrap_or(Duration::ZERO)
        .as_secs_f64()
}
