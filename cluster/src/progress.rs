//! The progress of a job: from the storage, where executors commit shards, to the records in the
//! database, where operators see it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use axioscope::distributed::{ClusterRecords, CommittedShard, ShardError, StudyShard, StudyStage};

use crate::storage::{JobStorage, ShardManifest, StageTotals};

/// The storage and the records of a job that this process drives.
pub(crate) struct JobProgress {
    pub(crate) storage: JobStorage,
    records: Arc<ClusterRecords>,
    recorded: Mutex<RecordedShards>,
    /// The totals of the shards whose outputs were used, by stage.
    totals: Mutex<BTreeMap<String, StageTotals>>,
}

/// The shards and attempts that are in the records.
#[derive(Default)]
struct RecordedShards {
    committed: BTreeSet<String>,
    attempts: BTreeMap<String, u64>,
}

impl JobProgress {
    /// Lets executors begin shards of the job.
    pub(crate) fn begin(
        storage: JobStorage,
        records: ClusterRecords,
    ) -> Result<JobProgress, ShardError> {
        storage.set_canceled(false)?;
        Ok(JobProgress {
            storage,
            records: Arc::new(records),
            recorded: Mutex::default(),
            totals: Mutex::default(),
        })
    }

    /// Adds shards to the records.
    pub(crate) fn plan(&self, shards: &[StudyShard]) -> Result<(), ShardError> {
        self.records.plan(shards)
    }

    /// Records what was committed and attempted in a stage since the last call, and returns the
    /// names of its committed shards. Returns an error if the job was canceled, or if another
    /// driver has it.
    pub(crate) fn record(&self, stage: StudyStage) -> Result<BTreeSet<String>, ShardError> {
        if self.records.is_canceled() {
            self.storage.set_canceled(true)?;
        }
        self.records.ensure_may_continue()?;
        let committed = self.storage.names_of_finished_shards(stage)?;
        let attempts = self.storage.count_attempts(stage)?;
        let mut recorded = self.recorded.lock().unwrap_or_else(PoisonError::into_inner);
        let new = committed.difference(&recorded.committed);
        for manifest in self.storage.manifests(stage, new)? {
            self.records.commit(&committed_shard(manifest))?;
        }
        recorded.committed.extend(committed.iter().cloned());
        for (shard, n) in attempts {
            if recorded.attempts.get(&shard) != Some(&n) {
                self.records.set_attempts(&shard, n)?;
                recorded.attempts.insert(shard, n);
            }
        }
        Ok(committed)
    }

    /// Reads the outputs of shards and adds them to the totals.
    pub(crate) fn read_outputs(&self, shards: &[StudyShard]) -> Result<Vec<Vec<u8>>, ShardError> {
        self.records.ensure_may_continue()?;
        let outputs = self.storage.outputs(shards)?;
        let mut totals = self.totals.lock().unwrap_or_else(PoisonError::into_inner);
        let outputs = shards.iter().zip(outputs);
        let counted = outputs.map(|(shard, (manifest, content))| {
            let stage = totals.entry(shard.stage().to_string()).or_default();
            stage.add(&manifest);
            content
        });
        Ok(counted.collect())
    }

    /// Returns the totals of the shards whose outputs were used, by stage.
    pub(crate) fn totals(&self) -> BTreeMap<String, StageTotals> {
        let totals = self.totals.lock();
        totals.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Ends the job in the records. After a problem, executors begin no further shard, unless
    /// another driver has the job.
    pub(crate) fn end(&self, problem: Option<&ShardError>) -> Result<(), ShardError> {
        if problem.is_some() && self.records.ensure_may_continue().is_ok() {
            self.storage.set_canceled(true)?;
        }
        self.records.end(problem.map(|it| it.message.as_str()))
    }
}

fn committed_shard(manifest: ShardManifest) -> CommittedShard {
    CommittedShard {
        shard: manifest.shard,
        executor: manifest.executor,
        n_rows: manifest.n_rows,
        n_bytes: manifest.n_bytes,
        sha256: manifest.sha256,
        seconds: manifest.seconds,
    }
}
