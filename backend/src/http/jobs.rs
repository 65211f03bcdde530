//! The endpoints of jobs: create, watch, cancel, resume, download.
//!
//! A job id has 128 random bits, and `EventSource` cannot send a token. Everybody who knows the id
//! of a job may therefore watch it; everything else requires the operator.

use std::convert::Infallible;

use axum::Json;
use axum::response::sse::{Event, Sse};
use futures_util::Stream;
use shared::api::{
    CancelScoringJobRequest, CreateScoringJobRequest, GetJobScoresRequest, GetScoringJobRequest,
    JobScoresResponse, JobState, ListScoringJobsRequest, ResumeScoringJobRequest, ScoringJob,
};

use crate::error::Error;
use crate::http::api_request::{ApiRequest, JsonResult};
use crate::http::event_stream::{ChangeWatcher, WatchedChange, json_event, respond_with_events};

pub(super) async fn create_job(
    ApiRequest(app, _, asked): ApiRequest<CreateScoringJobRequest>,
) -> JsonResult<ScoringJob> {
    Ok(Json(app.jobs.submit_job(asked).await?))
}

pub(super) async fn list(
    ApiRequest(app, _, _): ApiRequest<ListScoringJobsRequest>,
) -> JsonResult<Vec<ScoringJob>> {
    Ok(Json(app.jobs.list_jobs().await?))
}

pub(super) async fn get_job(
    ApiRequest(app, _, asked): ApiRequest<GetScoringJobRequest>,
) -> JsonResult<ScoringJob> {
    Ok(Json(app.jobs.job(&asked.job).await?))
}

/// Streams the state of a job, then each change, until the job ends or the server stops.
pub(super) async fn stream_job_events(
    ApiRequest(app, _, asked): ApiRequest<GetScoringJobRequest>,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Error> {
    // Subscribes to changes before the job is loaded, so that none is missed.
    let watcher = JobWatcher {
        changes: ChangeWatcher::new(&app, app.jobs.subscribe_to_changes())?,
        jobs: app.jobs.clone(),
        id: asked.job,
        told: None,
    };
    app.jobs.job(&watcher.id).await?;
    Ok(respond_with_events(watcher, async |mut watcher| {
        let job = watcher.next().await?;
        Some((json_event("job", &job), watcher))
    }))
}

/// A client that watches a job.
struct JobWatcher {
    changes: ChangeWatcher<ScoringJob>,
    jobs: crate::jobs::JobQueue,
    id: String,
    /// The state that was sent last, and the number of scored pairs at that time.
    told: Option<(JobState, u64)>,
}

impl JobWatcher {
    async fn next(&mut self) -> Option<ScoringJob> {
        let job = match self.told {
            None => self.jobs.job(&self.id).await.ok()?,
            Some((state, _)) if state.is_finished() => return None,
            Some((_, n_done)) => self.step(n_done).await?,
        };
        self.told = Some((job.state, job.n_scored));
        Some(job)
    }

    /// Returns the next change of the job. Older changes, with fewer than `n_done` scored pairs,
    /// are skipped: they were sent before the job was loaded.
    async fn step(&mut self, n_done: u64) -> Option<ScoringJob> {
        loop {
            match self.changes.next_change().await? {
                WatchedChange::Next(job) if job.id == self.id && job.n_scored >= n_done => {
                    return Some(job);
                }
                WatchedChange::Next(_) => {}
                WatchedChange::Missed => return self.jobs.job(&self.id).await.ok(),
            }
        }
    }
}

pub(super) async fn cancel(
    ApiRequest(app, _, asked): ApiRequest<CancelScoringJobRequest>,
) -> JsonResult<ScoringJob> {
    Ok(Json(app.jobs.cancel(&asked.job).await?))
}

pub(super) async fn resume(
    ApiRequest(app, _, asked): ApiRequest<ResumeScoringJobRequest>,
) -> JsonResult<ScoringJob> {
    Ok(Json(
        app.jobs.resume_canceled_or_failed_job(&asked.job).await?,
    ))
}

pub(super) async fn scores(
    ApiRequest(app, _, asked): ApiRequest<GetJobScoresRequest>,
) -> JsonResult<JobScoresResponse> {
    Ok(Json(app.jobs.scores_so_far(&asked.job).await?))
}
