//! The endpoints of trainings: create, watch, cancel, resume, publish.
//!
//! Visitors see published trainings only; for them another one does not exist.

use std::convert::Infallible;

use axum::Json;
use axum::response::sse::{Event, Sse};
use futures_util::Stream;
use shared::api::people::AccessRole;
use shared::api::training::{
    CancelTrainingRequest, CreateTrainingRequest, GetTrainingRequest, ListTrainingsRequest,
    ResumeTrainingRequest, TrainingJob, TrainingListResponse, TrainingResponse,
    UpdateTrainingRequest,
};
use shared::error::Error as InputError;

use crate::error::{Error, run_blocking};
use crate::http::AppState;
use crate::http::access::Caller;
use crate::http::api_request::{ApiRequest, JsonResult};
use crate::http::event_stream::{ChangeWatcher, WatchedChange, json_event, respond_with_events};
use crate::training_jobs::{TrainingChange, TrainingQueue};

pub(super) async fn list(
    ApiRequest(app, caller, _): ApiRequest<ListTrainingsRequest>,
) -> JsonResult<TrainingListResponse> {
    let audience = Audience::of(&caller);
    let list = in_queue(&app, "listing trainings", move |queue| {
        let jobs = queue.list().into_iter();
        Ok(TrainingListResponse {
            trainings: jobs.filter_map(|it| audience.view(it)).collect(),
            choices: match audience {
                Audience::Operators => Some(queue.choices()?),
                Audience::Everybody => None,
            },
        })
    });
    Ok(Json(list.await?))
}

pub(super) async fn create(
    ApiRequest(app, _, asked): ApiRequest<CreateTrainingRequest>,
) -> JsonResult<TrainingJob> {
    let create = in_queue(&app, "creating a training", |queue| queue.create(asked));
    Ok(Json(create.await?))
}

pub(super) async fn get_training(
    ApiRequest(app, caller, asked): ApiRequest<GetTrainingRequest>,
) -> JsonResult<TrainingResponse> {
    let audience = Audience::of(&caller);
    let training = in_queue(&app, "reading a training", move |queue| {
        audience.response(queue, &asked.training)
    });
    Ok(Json(training.await?))
}

/// Streams a training with its learning curve, then each change. The stream ends with the training
/// or the server.
pub(super) async fn stream_training_events(
    ApiRequest(app, caller, asked): ApiRequest<GetTrainingRequest>,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Error> {
    // Subscribes to changes before the training is loaded, so that none is missed.
    let watcher = TrainingWatcher {
        changes: ChangeWatcher::new(&app, app.trainings.subscribe_to_changes())?,
        audience: Audience::of(&caller),
        app: app.clone(),
        name: asked.training,
        next: NextEvent::Training,
        last_step: 0,
    };
    watcher.audience.job(&app.trainings, &watcher.name)?;
    Ok(respond_with_events(watcher, async |mut watcher| {
        let event = watcher.next_event().await?;
        Some((event, watcher))
    }))
}

pub(super) async fn cancel(
    ApiRequest(app, _, asked): ApiRequest<CancelTrainingRequest>,
) -> JsonResult<TrainingJob> {
    let cancel = move |queue: &TrainingQueue| queue.cancel(&asked.training);
    Ok(Json(in_queue(&app, "canceling a training", cancel).await?))
}

pub(super) async fn resume(
    ApiRequest(app, _, asked): ApiRequest<ResumeTrainingRequest>,
) -> JsonResult<TrainingJob> {
    let resume = move |queue: &TrainingQueue| queue.resume_canceled_or_failed(&asked.training);
    Ok(Json(in_queue(&app, "resuming a training", resume).await?))
}

pub(super) async fn update(
    ApiRequest(app, _, asked): ApiRequest<UpdateTrainingRequest>,
) -> JsonResult<TrainingJob> {
    let update = move |queue: &TrainingQueue| queue.set_public(&asked.training, asked.is_public);
    Ok(Json(in_queue(&app, "publishing a training", update).await?))
}

/// Runs `work` off the async threads, since it reads and writes files.
async fn in_queue<T: Send + 'static>(
    app: &AppState,
    what: &'static str,
    work: impl FnOnce(&TrainingQueue) -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    let queue = app.trainings.clone();
    run_blocking(what, move || work(&queue)).await
}

/// Who sees a training.
#[derive(Debug, Clone, Copy)]
enum Audience {
    /// Operators see all trainings with their errors.
    Operators,
    /// Everybody else sees published trainings without errors, which may name files.
    Everybody,
}

impl Audience {
    fn of(caller: &Caller) -> Audience {
        match caller.has_role(AccessRole::Operator) {
            true => Audience::Operators,
            false => Audience::Everybody,
        }
    }

    /// Returns what this audience sees of a training; `None` if it must not know about it.
    fn view(self, job: TrainingJob) -> Option<TrainingJob> {
        match self {
            Audience::Operators => Some(job),
            Audience::Everybody => job.is_public.then_some(TrainingJob { error: None, ..job }),
        }
    }

    fn job(self, queue: &TrainingQueue, name: &str) -> Result<TrainingJob, Error> {
        let job = self.view(queue.job(name)?);
        job.ok_or_else(|| InputError::name_not_found("training", name).into())
    }

    fn response(self, queue: &TrainingQueue, name: &str) -> Result<TrainingResponse, Error> {
        self.job(queue, name)?;
        let response = queue.response(name)?;
        Ok(TrainingResponse {
            job: self.job(queue, name)?,
            ..response
        })
    }
}

/// A client that watches a training.
struct TrainingWatcher {
    changes: ChangeWatcher<TrainingChange>,
    app: AppState,
    audience: Audience,
    name: String,
    next: NextEvent,
    /// The last step of the learning curve that was sent.
    last_step: u64,
}

/// What is sent next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NextEvent {
    /// The training with its learning curve.
    Training,
    /// The change of the training that follows.
    Change,
    /// Nothing, since the training has ended.
    End,
}

impl TrainingWatcher {
    async fn next_event(&mut self) -> Option<Event> {
        loop {
            match self.next {
                NextEvent::Training => return self.whole_training().await,
                NextEvent::Change => {}
                NextEvent::End => return None,
            }
            match self.changes.next_change().await? {
                WatchedChange::Next(TrainingChange::Job(name)) if name == self.name => {
                    let job = self.audience.job(&self.app.trainings, &name).ok()?;
                    if job.state.is_finished() {
                        self.next = NextEvent::Training;
                    }
                    return Some(json_event("job", &job));
                }
                // Points up to the last step were in the learning curve already.
                WatchedChange::Next(TrainingChange::Point(name, point))
                    if name == self.name && point.step > self.last_step =>
                {
                    self.last_step = point.step;
                    return Some(json_event("point", &point));
                }
                WatchedChange::Next(_) => {}
                WatchedChange::Missed => self.next = NextEvent::Training,
            }
        }
    }

    async fn whole_training(&mut self) -> Option<Event> {
        let (audience, name) = (self.audience, self.name.clone());
        let training = in_queue(&self.app, "reading a training", move |queue| {
            audience.response(queue, &name)
        });
        let training = training.await.ok()?;
        self.last_step = training.points.last().map_or(0, |it| it.step);
        self.next = match training.job.state.is_finished() {
            true => NextEvent::End,
            false => NextEvent::Change,
        };
        Some(json_event("training", &training))
    }
}
