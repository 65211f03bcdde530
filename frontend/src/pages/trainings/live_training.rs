//! A training as it goes on: loaded once, then followed by server-sent events.

use std::time::Duration;

use leptos::prelude::*;
use serde::de::DeserializeOwned;
use shared::api::training::{GetTrainingRequest, TrainingJob, TrainingResponse};
use shared::training::{LearningCurvePoint, TrainingRecord, TrainingSummary};

use crate::api::event_stream::{EventStreamProgress, EventSubscription};
use crate::api::{self, RequestError};

/// The names of the events, see [`GetTrainingRequest::EVENTS_PATH`].
const EVENTS: &[&str] = &["training", "point", "job"];

/// The time between two drawings of the learning curves. A small training has a hundred
/// checkpoints a second, for which drawing each of them takes too long.
const DRAWING_INTERVAL: Duration = Duration::from_millis(500);

/// A training with its learning curve, kept up to date.
#[derive(Clone, Copy)]
pub(super) struct LiveTraining {
    name: StoredValue<String>,
    /// None until the first answer.
    pub(super) job: RwSignal<Option<TrainingJob>>,
    pub(super) points: RwSignal<Vec<LearningCurvePoint>>,
    /// Points that are not drawn yet.
    new_points: StoredValue<Vec<LearningCurvePoint>>,
    pub(super) summary: RwSignal<Option<TrainingSummary>>,
    /// Why the training could not be loaded.
    pub(super) error: RwSignal<Option<RequestError>>,
    /// Whether the connection is lost while the training goes on.
    pub(super) is_disconnected: RwSignal<bool>,
    events: StoredValue<Option<EventSubscription>, LocalStorage>,
}

impl LiveTraining {
    /// Loads a training and follows it until it has ended.
    pub(super) fn open(name: String) -> LiveTraining {
        let live = LiveTraining {
            name: StoredValue::new(name),
            job: RwSignal::new(None),
            points: RwSignal::new(Vec::new()),
            new_points: StoredValue::new(Vec::new()),
            summary: RwSignal::new(None),
            error: RwSignal::new(None),
            is_disconnected: RwSignal::new(false),
            events: StoredValue::new_local(None),
        };
        live.load();
        live
    }

    /// Loads the training, then follows it. The server may not know the training, which an event
    /// stream cannot report, so it is requested once.
    pub(super) fn load(self) {
        self.error.set(None);
        self.request_then(LiveTraining::follow);
    }

    fn request_then(self, then: fn(LiveTraining)) {
        let request = self.request();
        leptos::task::spawn_local(async move {
            let found = api::send_and_parse(&request).await;
            // The user may be on another page by now.
            let Some(is_loaded) = self.job.try_with_untracked(Option::is_some) else {
                return;
            };
            match found {
                Ok(found) => {
                    self.receive_training(found);
                    then(self);
                }
                Err(_) if is_loaded => self.is_disconnected.set(true),
                Err(error) => self.error.set(Some(error)),
            }
        });
    }

    fn request(self) -> GetTrainingRequest {
        GetTrainingRequest {
            training: self.name.get_value(),
        }
    }

    fn has_ended(self) -> bool {
        let job = self.job.read_untracked();
        job.as_ref().is_some_and(|it| it.state.is_finished())
    }

    fn stop_if_ended(self) {
        if self.has_ended() {
            self.is_disconnected.set(false);
            self.events.set_value(None);
        }
    }

    /// Follows the training unless it has ended.
    pub(super) fn follow(self) {
        if self.has_ended() {
            return;
        }
        let address = self.request().events_address();
        let hear = move |name: &str, json: &str| self.receive(name, json);
        let lost = move || {
            if self.is_disconnected.try_set(true).is_none() {
                // Some proxies let no event stream pass.
                self.request_then(LiveTraining::stop_if_ended);
            }
        };
        match EventSubscription::open(address, EVENTS, hear, lost) {
            Ok(events) => self.events.set_value(Some(events)),
            Err(error) => self.error.set(Some(error)),
        }
    }

    fn receive(self, name: &str, json: &str) -> EventStreamProgress {
        // The page may be closed by now.
        if self.is_disconnected.try_set(false).is_some() {
            return EventStreamProgress::HasEnded;
        }
        match name {
            "training" => hear(json, |it| {
                self.receive_training(it);
                self.has_ended()
            }),
            "point" => hear(json, |point: LearningCurvePoint| {
                self.add_point(point);
                false
            }),
            _ => hear(json, |job| {
                self.job.set(Some(job));
                false
            }),
        }
    }

    /// Adds a point to the curve at the next drawing.
    fn add_point(self, point: LearningCurvePoint) {
        let is_first = self.new_points.try_update_value(|it| {
            it.push(point);
            it.len() == 1
        });
        if is_first == Some(true) {
            set_timeout(move || self.draw_new_points(), DRAWING_INTERVAL);
        }
    }

    fn draw_new_points(self) {
        // The page may be closed by now.
        let Some(new_points) = self.new_points.try_update_value(std::mem::take) else {
            return;
        };
        self.points.update(|points| {
            let last = points.last().map(|it| it.step);
            points.extend(new_points.into_iter().filter(|it| last < Some(it.step)));
        });
    }

    fn receive_training(self, found: TrainingResponse) {
        let TrainingResponse {
            job,
            points,
            summary,
            tables: _,
        } = found;
        // A curve that has not changed is not drawn again.
        if self.points.with_untracked(|it| *it != points) {
            self.points.set(points);
        }
        if self.summary.with_untracked(|it| *it != summary) {
            self.summary.set(summary);
        }
        self.job.set(Some(job));
    }

    /// Returns the training as reports take it.
    pub(super) fn record(self) -> TrainingRecord {
        TrainingRecord {
            name: self.name.get_value(),
            points: self.points.get(),
            summary: self.summary.get(),
        }
    }
}

/// Parses an event and passes it on to a function, which returns whether it was the last one.
fn hear<T: DeserializeOwned>(json: &str, receive: impl FnOnce(T) -> bool) -> EventStreamProgress {
    match serde_json::from_str(json) {
        Ok(event) => EventStreamProgress::of_end(receive(event)),
        Err(_) => EventStreamProgress::Unreadable,
    }
}
