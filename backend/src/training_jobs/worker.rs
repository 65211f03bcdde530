//! The background worker, which runs the trainings of the queue one after the other.

use std::cell::Cell;
use std::thread;
use std::time::{Duration, Instant};

use shared::api::JobState;
use shared::training::{LearningCurvePoint, TrainingSummary};
use tokio::sync::{oneshot, watch};

use super::{TrainingChange, TrainingQueue, set_state};
use crate::collection_files;
use crate::error::Error;
use crate::jobs::wait_for_shutdown_signal;
use crate::training::{self, TrainingObserver};

/// The time between two reports of the progress to watchers.
const REPORT_INTERVAL: Duration = Duration::from_millis(500);

/// Runs trainings until `stopping` becomes true; the current one then writes its checkpoint and
/// continues at the next start.
pub(crate) async fn run_training_worker(queue: TrainingQueue, mut stopping: watch::Receiver<bool>) {
    while !*stopping.borrow() {
        match queue.next_queued() {
            Some(name) => run_in_thread(&queue, &name, &stopping).await,
            None => tokio::select! {
                () = queue.0.wake.notified() => {}
                () = wait_for_shutdown_signal(&mut stopping) => {}
            },
        }
    }
}

/// Runs a training in a thread of its own, which the end of the process does not wait for.
async fn run_in_thread(queue: &TrainingQueue, name: &str, stopping: &watch::Receiver<bool>) {
    let (done, ended) = oneshot::channel();
    let in_thread = (queue.clone(), name.to_owned(), stopping.clone());
    let spawned = thread::Builder::new()
        .name("training".to_owned())
        .spawn(move || {
            let (queue, name, stopping) = in_thread;
            let outcome = queue.train(&name, &stopping);
            // The receiver waits for this.
            let _ = done.send(outcome);
        });
    let outcome = match spawned {
        Ok(_) => ended
            .await
            .unwrap_or(Err(Error::Panicked { what: "a training" })),
        Err(_) => Err(Error::ServerBusy {
            what: "other threads",
            retry_after_s: 60,
        }),
    };
    queue.finish(name, outcome);
}

impl TrainingQueue {
    /// Returns the oldest training that waits.
    fn next_queued(&self) -> Option<String> {
        let mut oldest_first = self.list().into_iter().rev();
        let next = oldest_first.find(|it| it.state == JobState::Queued);
        next.map(|it| it.name)
    }

    /// Trains until the end; returns `None` if the training was canceled or the process stops.
    fn train(
        &self,
        name: &str,
        stopping: &watch::Receiver<bool>,
    ) -> Result<Option<TrainingSummary>, Error> {
        let job = self.change(name, |job| {
            if job.state == JobState::Queued {
                set_state(job, JobState::Running);
            }
        })?;
        if job.state != JobState::Running {
            return Ok(None);
        }
        let request = self.resolve(&job.request)?;
        let loaded =
            collection_files::load_imported_collection(&job.request.collection, &self.0.folder)?;
        let observer = QueueObserver {
            queue: self,
            name,
            stopping,
            first: Cell::new(None),
            reported: Cell::new(Instant::now()),
        };
        training::train(&request, &loaded, &observer)
    }

    /// Stores how a training has ended. One that was canceled has its state already, and one that
    /// the process stops keeps it for the next start.
    fn finish(&self, name: &str, outcome: Result<Option<TrainingSummary>, Error>) {
        let stored = match outcome {
            Ok(None) => return,
            Ok(Some(summary)) => self.change(name, |job| {
                set_state(job, JobState::Done);
                job.step = summary.steps;
            }),
            Err(error) => {
                tracing::error!("training {name}: {error}");
                let message = error.public_message();
                self.change(name, |job| {
                    set_state(job, JobState::Failed);
                    job.error = Some(message.clone());
                })
            }
        };
        if let Err(error) = stored {
            tracing::error!("training {name}: {error}");
            self.change_in_memory(name, |job| {
                set_state(job, JobState::Failed);
                job.error = Some(error.public_message());
            });
            self.tell(name);
        }
    }
}

/// Reports the progress of a training to the queue.
struct QueueObserver<'a> {
    queue: &'a TrainingQueue,
    name: &'a str,
    stopping: &'a watch::Receiver<bool>,
    /// The time and the number of updates at the first report.
    first: Cell<Option<(Instant, u64)>>,
    /// The time of the last report to watchers.
    reported: Cell<Instant>,
}

impl TrainingObserver for QueueObserver<'_> {
    fn updated(&self, step: u64, n_updates: u64) {
        let (since, first_step) = self.first.get().unwrap_or((Instant::now(), step));
        self.first.set(Some((since, first_step)));
        let took_s = since.elapsed().as_secs_f64().max(1e-3);
        self.queue.change_in_memory(self.name, |job| {
            job.step = step;
            job.n_updates = n_updates;
            if job.state == JobState::Running {
                job.updates_per_s = (step - first_step) as f64 / took_s;
            }
        });
        if self.reported.get().elapsed() > REPORT_INTERVAL {
            self.reported.set(Instant::now());
            self.queue.tell(self.name);
        }
    }

    fn evaluated(&self, point: &LearningCurvePoint) {
        let change = TrainingChange::Point(self.name.to_owned(), point.clone());
        // There may be no watchers.
        let _ = self.queue.0.changes.send(change);
        let changed = self.queue.change(self.name, |job| {
            job.step = point.step;
            job.dev_ap = point.dev.get("AP").copied();
        });
        if let Err(error) = changed {
            tracing::warn!("training {}: {error}", self.name);
        }
    }

    fn is_canceled(&self) -> bool {
        let job = self.queue.job(self.name);
        *self.stopping.borrow() || !job.is_ok_and(|it| it.state == JobState::Running)
    }
}
