//! The records of cluster jobs in the database, for programs without a runtime of their own.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use shared::api::JobState;
use shared::api::cluster::ClusterJob;
use shared::error::Error as InputError;
use tokio::runtime::Runtime;

use crate::error::ShardError;
use crate::pipeline::{StudyJob, StudyShard};
use crate::runtime::{build_async_runtime, run_with_database};
use crate::store::cluster_jobs::{ClusterLeaseState, CommittedShard, NewClusterJob};
use crate::store::jobs::leases::LEASE;
use crate::store::{DataFolder, Database};

/// Time after which the lease of a job is renewed.
const RENEWAL: Duration = Duration::from_secs(3);

/// The records of a job that this process leases. The lease is renewed until this is dropped.
pub struct ClusterRecords {
    runtime: Runtime,
    store: Database,
    id: String,
    lease: i64,
    state: Arc<Mutex<ClusterLeaseState>>,
}

impl ClusterRecords {
    /// Begins a job or continues it. Waits for the end of the lease of a driver that was killed;
    /// returns an error if one is running.
    pub fn begin(
        data: &Path,
        job: &StudyJob,
        build: &str,
        storage: &str,
    ) -> Result<ClusterRecords, ShardError> {
        let folder = DataFolder::open(data)?;
        let runtime = build_async_runtime()?;
        let store = runtime.block_on(Database::open_for_folder(&folder))?;
        let new = NewClusterJob {
            id: job.id.clone(),
            study: job.study.clone(),
            build: build.to_owned(),
            storage: storage.to_owned(),
        };
        let until = Instant::now() + LEASE + RENEWAL;
        let lease = loop {
            if let Some(lease) = runtime.block_on(store.lease_cluster_job(&new))? {
                break lease;
            }
            if Instant::now() > until {
                return Err(ShardError::permanent(format!(
                    "another driver creates study `{}` at this time; wait until it has ended, or \
                     cancel it by `axioscope-cluster cancel {0}`",
                    job.study
                )));
            }
            std::thread::sleep(Duration::from_millis(500));
        };
        let records = ClusterRecords {
            runtime,
            store,
            id: job.id.clone(),
            lease,
            state: Arc::new(Mutex::new(ClusterLeaseState::Held)),
        };
        records.renew_in_background();
        Ok(records)
    }

    fn renew_in_background(&self) {
        let (store, id, lease) = (self.store.clone(), self.id.clone(), self.lease);
        let known = self.state.clone();
        self.runtime.spawn(async move {
            loop {
                tokio::time::sleep(RENEWAL).await;
                match store.renew_cluster_lease(&id, lease).await {
                    Ok(state) => *known.lock().unwrap_or_else(PoisonError::into_inner) = state,
                    // Without a database the lease ends, and so does the right to commit.
                    Err(error) => tracing::warn!("renewing the lease of the job: {error}"),
                }
            }
        });
    }

    fn state(&self) -> ClusterLeaseState {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether an operator has canceled the job.
    pub fn is_canceled(&self) -> bool {
        self.state() == ClusterLeaseState::Canceled
    }

    /// Returns an error if the job was canceled, or if another driver has it.
    pub fn ensure_may_continue(&self) -> Result<(), ShardError> {
        match self.state() {
            ClusterLeaseState::Held => Ok(()),
            ClusterLeaseState::Canceled => Err(ShardError::permanent(
                "the job was canceled; the same command continues it",
            )),
            ClusterLeaseState::Lost => Err(ShardError::permanent(
                "another driver has taken over, since this one showed no sign of life for some \
                 seconds",
            )),
        }
    }

    /// Adds the shards of a stage that are not known yet.
    pub fn plan(&self, shards: &[StudyShard]) -> Result<(), ShardError> {
        let Some(stage) = shards.first().map(StudyShard::stage) else {
            return Ok(());
        };
        let names: Vec<String> = shards.iter().map(StudyShard::name).collect();
        let stage = stage.to_string();
        let planned = self.store.plan_cluster_shards(&self.id, &stage, &names);
        Ok(self.runtime.block_on(planned)?)
    }

    /// Sets how many attempts there were to compute a shard.
    pub fn set_attempts(&self, shard: &str, n_attempts: u64) -> Result<(), ShardError> {
        let set = self.store.set_cluster_attempts(&self.id, shard, n_attempts);
        Ok(self.runtime.block_on(set)?)
    }

    /// Commits a shard, unless it is committed or another driver has the job.
    pub fn commit(&self, shard: &CommittedShard) -> Result<(), ShardError> {
        let committed = self.store.commit_cluster_shard(&self.id, self.lease, shard);
        self.runtime.block_on(committed)?;
        Ok(())
    }

    /// Ends the job, as failed if there is a problem.
    pub fn end(&self, problem: Option<&str>) -> Result<(), ShardError> {
        let ended = self.store.end_cluster_job(&self.id, self.lease, problem);
        Ok(self.runtime.block_on(ended)?)
    }
}

/// Returns the jobs in the database of a data folder, newest first.
pub fn list_cluster_jobs(data: &Path) -> Result<Vec<ClusterJob>, ShardError> {
    let folder = DataFolder::open(data)?;
    Ok(run_with_database(&folder, async |store| {
        store.list_cluster_jobs().await
    })?)
}

/// Ends the jobs of a complete study whose drivers were killed after they had stored it. Waits for
/// the ends of their leases.
pub fn end_jobs_of_complete_study(data: &Path, study: &str) -> Result<(), ShardError> {
    let folder = DataFolder::open(data)?;
    let until = Instant::now() + LEASE + RENEWAL;
    Ok(run_with_database(&folder, async |store| {
        loop {
            store.end_cluster_jobs_without_driver(study).await?;
            let jobs = store.list_cluster_jobs().await?;
            let has_driver = |it: &ClusterJob| it.study == study && it.has_driver;
            if !jobs.iter().any(has_driver) || Instant::now() > until {
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
    })?)
}

/// Cancels the running jobs of a study. Returns an error if there is none.
pub fn cancel_cluster_job(data: &Path, study: &str) -> Result<(), ShardError> {
    let folder = DataFolder::open(data)?;
    Ok(run_with_database(&folder, async |store| {
        let jobs = store.list_cluster_jobs().await?;
        let is_running = |it: &&ClusterJob| it.study == study && it.state == JobState::Running;
        let running: Vec<&ClusterJob> = jobs.iter().filter(is_running).collect();
        if running.is_empty() {
            return Err(InputError::name_not_found("running job of study", study).into());
        }
        for job in running {
            store.cancel_cluster_job(&job.id).await?;
        }
        Ok(())
    })?)
}
