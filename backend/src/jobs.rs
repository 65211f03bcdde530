//! Jobs: large scoring tasks that run in the background, and can be watched, canceled and resumed.
//!
//! The batches of a job are planned and stored when the job is created. Each batch is scored and
//! committed separately. After a crash the remaining batches run unchanged, so that the scores have
//! the same bits as without interruption. For the same reason a pair is scored even if the score
//! store has it already: rounding depends on the batch. Servers with the same PostgreSQL database
//! share the jobs: each leases the batches that it scores.

mod request;
mod held_lease;
mod worker;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use shared::api::{CreateScoringJobRequest, JobScoresResponse, JobState, ScoringJob};
use shared::collection::encode_hex;
use tokio::sync::{Notify, broadcast};

use crate::error::{Error, run_blocking, run_to_completion};
use crate::models::{ModelRegistry, TOKEN_BUDGET};
use crate::store::jobs::NewScoringJob;
use crate::store::{DataFolder, Database};

pub(crate) use worker::{OtherServers, run_job_worker, wait_for_shutdown_signal};

/// Maximum number of jobs that are queued or running.
const MAX_UNFINISHED: usize = 100;

/// Number of changes that a slow watcher may lag behind before it misses some.
const STEPS_KEPT: usize = 256;

/// The jobs of a data folder.
#[derive(Clone)]
pub(crate) struct JobQueue {
    folder: DataFolder,
    store: Database,
    models: Arc<ModelRegistry>,
    steps: broadcast::Sender<ScoringJob>,
    /// Wakes the worker when a job may be ready.
    wake: Arc<Notify>,
    speeds: Arc<Mutex<BTreeMap<String, Speed>>>,
    /// Jobs whose failure could not be stored, for example on a full disk, and those whose model
    /// this server lacks while another one may have it, with the reason.
    stuck: Arc<Mutex<BTreeMap<String, String>>>,
}

/// The speed of a job since this process started to work on it.
#[derive(Debug, Clone, Copy)]
struct Speed {
    since: Instant,
    n_pairs: u64,
    pairs_per_s: f64,
    n_tokens: u64,
    tokens_per_s: f64,
}

impl JobQueue {
    /// Creates the queue for the jobs in `store`. Nothing is computed until [`run_job_worker`]
    /// runs.
    pub(crate) fn for_stored_jobs(
        folder: DataFolder,
        store: Database,
        models: Arc<ModelRegistry>,
    ) -> JobQueue {
        JobQueue {
            folder,
            store,
            models,
            steps: broadcast::Sender::new(STEPS_KEPT),
            wake: Arc::default(),
            speeds: Arc::default(),
            stuck: Arc::default(),
        }
    }

    /// Checks, plans and queues a job. Returns an error if 100 jobs are unfinished or the request
    /// is invalid.
    pub(crate) async fn submit_job(
        &self,
        asked: CreateScoringJobRequest,
    ) -> Result<ScoringJob, Error> {
        let n_unfinished = self.store.unfinished_job_ids().await?.len();
        if n_unfinished >= MAX_UNFINISHED {
            return Err(Error::ServerBusy {
                what: "earlier jobs",
                retry_after_s: 600,
            });
        }
        let models = self.models.clone();
        let job = run_blocking("planning a job", move || {
            request::validate_job_request(&asked)?;
            let ranker = models.get_or_load_ranker(&asked.model)?;
            let batches =
                ranker.plan_scoring_batches(&asked.documents, &asked.pairs, TOKEN_BUDGET)?;
            let mut id = [0; 16];
            getrandom::fill(&mut id).expect("the operating system gives random numbers");
            Ok(NewScoringJob {
                id: encode_hex(&id),
                title: asked.title,
                ranker: ranker.about.clone(),
                token_budget: TOKEN_BUDGET,
                n_threads: rayon::current_num_threads() as u32,
                queries: asked.queries,
                texts: asked.documents,
                pairs: asked.pairs,
                batches,
            })
        })
        .await?;
        let jobs = self.clone();
        // A job that is stored but does not wake the worker would wait for the next one.
        run_to_completion("queuing a job", async move {
            jobs.store.add_job_with_batches(&job).await?;
            jobs.wake.notify_one();
            jobs.told(&job.id).await
        })
        .await
    }

    /// Returns all jobs with their current state and speed, newest first.
    pub(crate) async fn list_jobs(&self) -> Result<Vec<ScoringJob>, Error> {
        let jobs = self.store.list_jobs().await?;
        Ok(jobs.into_iter().map(|it| self.as_it_stands(it)).collect())
    }

    /// Returns a job with its current state and speed.
    pub(crate) async fn job(&self, id: &str) -> Result<ScoringJob, Error> {
        Ok(self.as_it_stands(self.store.job(id).await?))
    }

    /// Subscribes to the changes of all jobs from now on.
    pub(crate) fn subscribe_to_changes(&self) -> broadcast::Receiver<ScoringJob> {
        self.steps.subscribe()
    }

    /// Cancels a job after the current batch. A finished job is left unchanged.
    pub(crate) async fn cancel(&self, id: &str) -> Result<ScoringJob, Error> {
        let (jobs, id) = (self.clone(), id.to_owned());
        run_to_completion("canceling a job", async move {
            jobs.store.cancel_job(&id).await?;
            jobs.told(&id).await
        })
        .await
    }

    /// Resumes a job that was canceled or has failed. Other jobs are left unchanged.
    pub(crate) async fn resume_canceled_or_failed_job(
        &self,
        id: &str,
    ) -> Result<ScoringJob, Error> {
        let (jobs, id) = (self.clone(), id.to_owned());
        run_to_completion("resuming a job", async move {
            jobs.store.requeue_canceled_or_failed_job(&id).await?;
            jobs.stuck
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .remove(&id);
            jobs.wake.notify_one();
            jobs.told(&id).await
        })
        .await
    }

    /// Returns the scores that a job has computed so far.
    pub(crate) async fn scores_so_far(&self, id: &str) -> Result<JobScoresResponse, Error> {
        let job = self.store.job(id).await?;
        let mut scores = vec![None; job.n_pairs as usize];
        let mut truncated = Vec::new();
        for it in self.store.job_scores_so_far(id).await? {
            scores[it.pair as usize] = Some(it.score);
            if it.truncated {
                truncated.push(it.pair);
            }
        }
        Ok(JobScoresResponse {
            ranker: job.ranker,
            scores,
            truncated,
            rescoring: self.store.job_score_stability_check(id).await?,
        })
    }

    /// Returns the number of jobs that are queued or running.
    pub(crate) async fn n_unfinished_jobs(&self) -> Result<usize, Error> {
        Ok(self.store.unfinished_job_ids().await?.len())
    }

    /// Sends the current state of a job to all watchers and returns it.
    async fn told(&self, id: &str) -> Result<ScoringJob, Error> {
        let job = self.job(id).await?;
        // There may be no watchers.
        let _ = self.steps.send(job.clone());
        Ok(job)
    }

    /// Adds the failure or speed of a job, which the database does not have.
    fn as_it_stands(&self, job: ScoringJob) -> ScoringJob {
        let stuck = self.stuck.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(problem) = stuck.get(&job.id).filter(|_| !job.state.is_finished()) {
            return ScoringJob {
                state: JobState::Failed,
                error: Some(problem.clone()),
                ..job
            };
        }
        let speeds = self.speeds.lock().unwrap_or_else(PoisonError::into_inner);
        let speed = speeds
            .get(&job.id)
            .filter(|_| job.state == JobState::Running);
        ScoringJob {
            pairs_per_s: speed.map_or(0.0, |it| it.pairs_per_s),
            tokens_per_s: speed.map_or(0.0, |it| it.tokens_per_s),
            ..job
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
