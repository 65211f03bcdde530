//! Trainings as jobs of the server: one at a time, in its own thread, independent of the scoring
//! jobs. They can be watched, canceled, resumed and published.
//!
//! A training has the folder `trainings/NAME/` in the data folder, with the files of the command
//! `train` and the state of the job. After a crash, queued and running trainings continue from
//! their checkpoints at the next start, and end with the same bits as without interruption.

mod choices;
mod files;
mod request;
mod worker;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use shared::api::JobState;
use shared::api::training::{CreateTrainingRequest, TrainingJob, TrainingResponse};
use shared::error::Error as InputError;
use shared::report;
use shared::training::{LearningCurvePoint, TrainingRecord};
use tokio::sync::{Notify, broadcast};

use crate::error::Error;
use crate::store::DataFolder;
use crate::training;

use choices::KnownSplits;

pub(crate) use worker::run_training_worker;

/// Maximum number of trainings that are queued or running.
const MAX_UNFINISHED: usize = 100;

/// Number of changes that a slow watcher may lag behind before it misses some.
const CHANGES_KEPT: usize = 256;

/// A change of a training.
#[derive(Debug, Clone)]
pub(crate) enum TrainingChange {
    /// The state or the progress of the training of this name has changed.
    Job(String),
    /// The learning curve of the training of this name has another point.
    Point(String, LearningCurvePoint),
}

/// The trainings of a data folder.
#[derive(Clone)]
pub(crate) struct TrainingQueue(Arc<TrainingQueueParts>);

struct TrainingQueueParts {
    folder: DataFolder,
    jobs: Mutex<BTreeMap<String, TrainingJob>>,
    /// Held while a state is changed and written.
    writing: Mutex<()>,
    changes: broadcast::Sender<TrainingChange>,
    /// Wakes the worker when a training may be ready.
    wake: Notify,
    known_splits: KnownSplits,
}

impl TrainingQueue {
    /// Loads the trainings of a data folder. Those that were running wait in the queue again.
    /// Nothing is trained until [`run_training_worker`] runs.
    pub(crate) fn load(folder: DataFolder) -> Result<TrainingQueue, Error> {
        Ok(TrainingQueue(Arc::new(TrainingQueueParts {
            jobs: Mutex::new(files::load_jobs(&folder)?),
            folder,
            writing: Mutex::default(),
            changes: broadcast::Sender::new(CHANGES_KEPT),
            wake: Notify::default(),
            known_splits: KnownSplits::default(),
        })))
    }

    /// Checks and queues a training. Returns an error if the name is taken, 100 trainings are
    /// unfinished or the request is invalid.
    pub(crate) fn create(&self, request: CreateTrainingRequest) -> Result<TrainingJob, Error> {
        self.resolve(&request)?;
        let _writing = self.0.writing.lock();
        let is_unfinished = |it: &&TrainingJob| !it.state.is_finished();
        if self.list().iter().filter(is_unfinished).count() >= MAX_UNFINISHED {
            return Err(Error::ServerBusy {
                what: "earlier trainings",
                retry_after_s: 600,
            });
        }
        let job = new_job(request);
        files::create_job_folder(&self.0.folder, &job, &[])?;
        self.with_jobs(|jobs| jobs.insert(job.name.clone(), job.clone()));
        self.0.wake.notify_one();
        self.tell(&job.name);
        Ok(job)
    }

    /// Returns all trainings, newest first.
    pub(crate) fn list(&self) -> Vec<TrainingJob> {
        let mut jobs: Vec<TrainingJob> = self.with_jobs(|jobs| jobs.values().cloned().collect());
        jobs.sort_by(|a, b| b.created_at.cmp(&a.created_at));
        jobs
    }

    /// Returns a training with its progress.
    pub(crate) fn job(&self, name: &str) -> Result<TrainingJob, Error> {
        let found = self.with_jobs(|jobs| jobs.get(name).cloned());
        found.ok_or_else(|| InputError::name_not_found("training", name).into())
    }

    /// Returns a training with its learning curve, and its result once it has ended.
    pub(crate) fn response(&self, name: &str) -> Result<TrainingResponse, Error> {
        let job = self.job(name)?;
        let folder = self.0.folder.training_folder(name)?;
        let record = training::read_training_record_so_far(&folder)?;
        let record = TrainingRecord {
            summary: record.summary.filter(|_| job.state == JobState::Done),
            ..record
        };
        Ok(TrainingResponse {
            job,
            tables: match record.points.is_empty() {
                true => Vec::new(),
                false => report::training_tables(&record),
            },
            points: record.points,
            summary: record.summary,
        })
    }

    /// Subscribes to the changes of all trainings from now on.
    pub(crate) fn subscribe_to_changes(&self) -> broadcast::Receiver<TrainingChange> {
        self.0.changes.subscribe()
    }

    /// Cancels a training after the current update. A finished training is left unchanged.
    pub(crate) fn cancel(&self, name: &str) -> Result<TrainingJob, Error> {
        self.change(name, |job| {
            if !job.state.is_finished() {
                set_state(job, JobState::Canceled);
            }
        })
    }

    /// Resumes a training that was canceled or has failed. Others are left unchanged.
    pub(crate) fn resume_canceled_or_failed(&self, name: &str) -> Result<TrainingJob, Error> {
        let job = self.change(name, |job| match job.state {
            JobState::Canceled | JobState::Failed => set_state(job, JobState::Queued),
            JobState::Queued | JobState::Running | JobState::Done => {}
        })?;
        self.0.wake.notify_one();
        Ok(job)
    }

    /// Publishes a training, or withdraws it from visitors.
    pub(crate) fn set_public(&self, name: &str, is_public: bool) -> Result<TrainingJob, Error> {
        self.change(name, |job| job.is_public = is_public)
    }

    /// Changes a training in memory and in its folder. If it cannot be written, it stays as it is.
    /// `edit` is called twice and must do the same each time.
    fn change(&self, name: &str, edit: impl Fn(&mut TrainingJob)) -> Result<TrainingJob, Error> {
        let _writing = self.0.writing.lock();
        let mut job = self.job(name)?;
        edit(&mut job);
        files::write_job(&self.0.folder, &job)?;
        // Not replaced by the copy, since the progress may have changed meanwhile.
        self.change_in_memory(name, edit);
        self.tell(name);
        self.job(name)
    }

    fn change_in_memory(&self, name: &str, edit: impl FnOnce(&mut TrainingJob)) {
        self.with_jobs(|jobs| jobs.get_mut(name).map(edit));
    }

    fn with_jobs<T>(&self, work: impl FnOnce(&mut BTreeMap<String, TrainingJob>) -> T) -> T {
        let jobs = self.0.jobs.lock();
        work(&mut jobs.unwrap_or_else(PoisonError::into_inner))
    }

    /// Tells all watchers that a training has changed.
    fn tell(&self, name: &str) {
        // There may be no watchers.
        let _ = self.0.changes.send(TrainingChange::Job(name.to_owned()));
    }
}

/// Adds a training that was done elsewhere to those of a data folder, for visitors too, unless
/// there is one of its name. `files` are those of its folder, each a name and the content, with the
/// learning curve `curve`.
pub(crate) fn add_published_training(
    folder: &DataFolder,
    request: CreateTrainingRequest,
    curve: &[LearningCurvePoint],
    files: &[(&str, Vec<u8>)],
) -> Result<(), Error> {
    if folder.training_folder(&request.name)?.exists() {
        return Ok(());
    }
    let last = curve.last();
    let n_updates = last.map_or(0, |it| it.step);
    let job = TrainingJob {
        state: JobState::Done,
        is_public: true,
        step: n_updates,
        n_updates,
        dev_ap: last.and_then(|it| it.dev.get("AP").copied()),
        ..new_job(request)
    };
    files::create_job_folder(folder, &job, files)
}

/// Returns a training that waits in the queue.
fn new_job(request: CreateTrainingRequest) -> TrainingJob {
    TrainingJob {
        name: request.name.clone(),
        request,
        state: JobState::Queued,
        is_public: false,
        step: 0,
        n_updates: 0,
        updates_per_s: 0.0,
        dev_ap: None,
        error: None,
        created_at: format!("{:.3}", jiff::Timestamp::now()),
    }
}

fn set_state(job: &mut TrainingJob, state: JobState) {
    job.state = state;
    job.updates_per_s = 0.0;
    job.error = None;
}

#[cfg(test)]
mod tests;
