//! Long work: unique pairs that a model scores, queued, watched, cancelled and taken up again.
//!
//! A job's batches are planned and stored when it is made. Each is scored and committed by
//! itself, so that after a crash the batches that are left run unchanged and the result has
//! the bits of an undisturbed run. For the same reason a pair is scored even if the score
//! store knows it: a score depends on its batch by rounding.

mod request;
mod worker;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use shared::api::{CreateJobRequest, Job, JobScoresResponse, JobState};
use shared::collection::encode_hex;
use tokio::sync::{Notify, broadcast};

use crate::error::{Error, run_blocking};
use crate::models::{ModelRegistry, TOKEN_BUDGET};
use crate::store::jobs::NewJob;
use crate::store::{DataFolder, Store};

pub(crate) use worker::{run_worker, wait_for_shutdown};

/// Jobs that wait or run at once, at most.
const MAX_UNFINISHED: usize = 100;

/// Steps that somebody who watches may lag behind before some are left out.
const STEPS_KEPT: usize = 256;

/// All jobs of a data folder.
#[derive(Clone)]
pub(crate) struct JobQueue {
    folder: DataFolder,
    store: Store,
    models: Arc<ModelRegistry>,
    steps: broadcast::Sender<Job>,
    /// There may be something to do.
    wake: Arc<Notify>,
    speeds: Arc<Mutex<BTreeMap<String, Speed>>>,
    /// Jobs whose failure could not be written down, as on a full disk, with the reason.
    stuck: Arc<Mutex<BTreeMap<String, String>>>,
}

/// How fast a job goes in this run.
#[derive(Debug, Clone, Copy)]
struct Speed {
    since: Instant,
    n_pairs: u64,
    pairs_per_s: f64,
    n_pieces: u64,
    pieces_per_s: f64,
}

impl JobQueue {
    /// The jobs in `store`. Nothing is worked on before [`run_worker`] runs.
    pub(crate) fn new(folder: DataFolder, store: Store, models: Arc<ModelRegistry>) -> JobQueue {
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

    /// Checks, plans and queues a job.
    pub(crate) async fn create(&self, asked: CreateJobRequest) -> Result<Job, Error> {
        let n_unfinished = self.store.unfinished_jobs().await?.len();
        if n_unfinished >= MAX_UNFINISHED {
            return Err(Error::ServerBusy {
                what: "earlier jobs",
                retry_after_s: 600,
            });
        }
        let models = self.models.clone();
        let job = run_blocking("planning a job", move || {
            request::check(&asked)?;
            let ranker = models.get(&asked.model)?;
            let batches = ranker.plan(&asked.documents, &asked.pairs, TOKEN_BUDGET)?;
            let mut id = [0; 16];
            getrandom::fill(&mut id).expect("the operating system gives random numbers");
            Ok(NewJob {
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
        self.store.add_job(&job).await?;
        self.wake.notify_one();
        self.told(&job.id).await
    }

    /// Returns all jobs with their current state and speed, newest first.
    pub(crate) async fn list(&self) -> Result<Vec<Job>, Error> {
        let jobs = self.store.jobs().await?;
        Ok(jobs.into_iter().map(|it| self.as_it_stands(it)).collect())
    }

    /// One job as it stands.
    pub(crate) async fn job(&self, id: &str) -> Result<Job, Error> {
        Ok(self.as_it_stands(self.store.job(id).await?))
    }

    /// Every step of every job from now on.
    pub(crate) fn steps(&self) -> broadcast::Receiver<Job> {
        self.steps.subscribe()
    }

    /// Stops a job after the batch that is being scored. One that has ended stays as it is.
    pub(crate) async fn cancel(&self, id: &str) -> Result<Job, Error> {
        self.store.cancel_job(id).await?;
        self.told(id).await
    }

    /// Goes on with a job that was stopped. One that is under way or done stays as it is.
    pub(crate) async fn resume(&self, id: &str) -> Result<Job, Error> {
        self.store.resume_job(id).await?;
        self.stuck
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(id);
        self.wake.notify_one();
        self.told(id).await
    }

    /// What a job has scored until now.
    pub(crate) async fn scores(&self, id: &str) -> Result<JobScoresResponse, Error> {
        let job = self.store.job(id).await?;
        let mut scores = vec![None; job.n_pairs as usize];
        let mut truncated = Vec::new();
        for it in self.store.job_scores(id).await? {
            scores[it.pair as usize] = Some(it.score);
            if it.truncated {
                truncated.push(it.pair);
            }
        }
        Ok(JobScoresResponse {
            ranker: job.ranker,
            scores,
            truncated,
            rescoring: self.store.job_certificate(id).await?,
        })
    }

    /// How many jobs wait or run.
    pub(crate) async fn n_unfinished(&self) -> Result<usize, Error> {
        Ok(self.store.unfinished_jobs().await?.len())
    }

    /// Tells everybody who watches how a job stands.
    async fn told(&self, id: &str) -> Result<Job, Error> {
        let job = self.job(id).await?;
        // An error says that nobody watches.
        let _ = self.steps.send(job.clone());
        Ok(job)
    }

    /// Adds what the database does not know.
    fn as_it_stands(&self, job: Job) -> Job {
        let stuck = self.stuck.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(problem) = stuck.get(&job.id).filter(|_| !job.state.is_finished()) {
            return Job {
                state: JobState::Failed,
                error: Some(problem.clone()),
                ..job
            };
        }
        let speeds = self.speeds.lock().unwrap_or_else(PoisonError::into_inner);
        let speed = speeds
            .get(&job.id)
            .filter(|_| job.state == JobState::Running);
        Job {
            pairs_per_s: speed.map_or(0.0, |it| it.pairs_per_s),
            tokens_per_s: speed.map_or(0.0, |it| it.pieces_per_s),
            ..job
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
