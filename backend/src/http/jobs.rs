//! The endpoints of jobs: create, watch, cancel, resume, download.
//!
//! A job id has 128 random bits, and `EventSource` cannot send a token. Everybody who knows the id
//! of a job may therefore watch it; everything else requires the operator.

use std::convert::Infallible;
use std::time::Duration;

use axum::Json;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::Stream;
use futures_util::stream;
use shared::api::{
    CancelScoringJobRequest, CreateScoringJobRequest, GetJobScoresRequest, GetScoringJobRequest,
    JobScoresResponse, JobState, ListScoringJobsRequest, ResumeScoringJobRequest, ScoringJob,
};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{OwnedSemaphorePermit, broadcast, watch};

use crate::error::Error;
use crate::http::api_request::{ApiRequest, JsonResult};

/// Interval of keep-alive messages. Proxies close a connection that is silent for a minute.
const HEARTBEAT: Duration = Duration::from_secs(15);

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
        place: app.limits.take_watcher_slot()?,
        steps: app.jobs.subscribe_to_changes(),
        stopping: app.shutdown.clone(),
        jobs: app.jobs.clone(),
        id: asked.job,
        told: None,
    };
    app.jobs.job(&watcher.id).await?;
    let events = stream::unfold(watcher, |mut watcher| async {
        let job = watcher.next().await?;
        let event = Event::default().event("job").json_data(&job);
        Some((Ok(event.expect("a job is JSON")), watcher))
    });
    Ok(Sse::new(events).keep_alive(KeepAlive::new().interval(HEARTBEAT)))
}

/// A client that watches a job.
struct JobWatcher {
    #[expect(dead_code, reason = "held until the connection ends")]
    place: OwnedSemaphorePermit,
    steps: broadcast::Receiver<ScoringJob>,
    stopping: watch::Receiver<bool>,
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
            tokio::select! {
                () = crate::jobs::wait_for_shutdown_signal(&mut self.stopping) => return None,
                step = self.steps.recv() => match step {
                    Ok(job) if job.id == self.id && job.n_scored >= n_done => return Some(job),
                    Ok(_) => {}
                    Err(RecvError::Lagged(_)) => return self.jobs.job(&self.id).await.ok(),
                    Err(RecvError::Closed) => return None,
                },
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
