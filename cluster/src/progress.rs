//! The progress of a job: from the storage, where executors commit shards, to the records in the
//! database, where operators see it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use axioscope::distributed::{ClusterRecords, CommittedShard, ShardError, StudyShard};

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

    /// Records what was committed and attempted since the last call, and returns the names of all
    /// committed shards. Returns an error if the job was canceled, or if another driver has it.
    pub(crate) fn record(&self) -> Result<BTreeSet<String>, ShardError> {
        if let Err(error) = self.records.ensure_may_go_on() {
            self.storage.set_canceled(true)?;
            return Err(error);
        }
        let committed: BTreeSet<String> = self
            .storage
            .names_of_finished_shards()?
            .into_iter()
            .collect();
        let attempts = self.storage.count_attempts()?;
        let mut recorded = self.recorded.lock().unwrap_or_else(PoisonError::into_inner);
        for shard in committed.difference(&recorded.committed) {
            if let Some(manifest) = self.storage.manifest(shard)? {
                self.records.commit(&committed_shard(manifest))?;
            }
        }
        for (shard, &n) in &attempts {
            if recorded.attempts.get(shard) != Some(&n) {
                self.records.set_attempts(shard, n)?;
            }
        }
        *recorded = RecordedShards {
            committed: committed.clone(),
            attempts,
        };
        Ok(committed)
    }

    /// Reads the output of a shard and adds it to the totals.
    pub(crate) fn read_output(&self, shard: &StudyShard) -> Result<Vec<u8>, ShardError> {
        let (manifest, content) = self.storage.output(shard)?;
        let mut totals = self.totals.lock().unwrap_or_else(PoisonError::into_inner);
        totals
            .entry(shard.stage().to_string())
            .or_default()
            .add(&manifest);
        Ok(content)
    }

    /// Returns the totals of the shards whose outputs were used, by stage.
    pub(crate) fn totals(&self) -> BTreeMap<String, StageTotals> {
        let totals = self.totals.lock();
        totals.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Ends the job in the records.
    pub(crate) fn end(&self, problem: Option<&ShardError>) -> Result<(), ShardError> {
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
