//! Trainings on the server: operators start, follow and cancel them, visitors see published ones.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::address::RequestAddress;
use super::{JobState, RequestMethod, endpoints};
use crate::report::ReportTable;
use crate::training::spec::TrainingSpec;
use crate::training::{LearningCurvePoint, TrainingSummary};

endpoints! {
    Get "/api/trainings" ListTrainingsRequest => TrainingListResponse;
    Post "/api/trainings" CreateTrainingRequest => TrainingJob;
    Get "/api/trainings/{training}" GetTrainingRequest => TrainingResponse;
    Post "/api/trainings/{training}/cancel" CancelTrainingRequest => TrainingJob;
    Post "/api/trainings/{training}/resume" ResumeTrainingRequest => TrainingJob;
    Patch "/api/trainings/{training}" UpdateTrainingRequest => TrainingJob;
}

/// Lists the trainings that the caller may see, newest first. Visitors see published ones.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ListTrainingsRequest {}

/// The trainings of a server, and what an operator can train.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TrainingListResponse {
    /// The trainings, newest first.
    pub trainings: Vec<TrainingJob>,
    /// The choices of the form; `None` if the caller is not an operator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choices: Option<TrainingChoices>,
}

/// The networks, collections and recipes that a training can use.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TrainingChoices {
    /// The networks, as in `axioscope train --model`.
    pub models: Vec<String>,
    /// The imported collections with qrels and splits.
    pub collections: Vec<TrainingCollection>,
    /// The recipes that the program contains.
    pub recipes: Vec<String>,
}

/// An imported collection with its splits of queries.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TrainingCollection {
    /// The name of the collection.
    pub name: String,
    /// The names of its splits.
    pub splits: Vec<String>,
}

/// Creates a training and puts it into the queue. Operators only.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CreateTrainingRequest {
    /// The name of the trained ranker, also of its folder and its address: lowercase letters,
    /// digits and hyphens.
    pub name: String,
    /// A collection of [`TrainingChoices::collections`].
    pub collection: String,
    /// What is trained, and how. Files of the server cannot be named, only recipes that the program
    /// contains and imported word vectors.
    pub spec: TrainingSpec,
}

/// Returns one training with its learning curve.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct GetTrainingRequest {
    /// [`TrainingJob::name`].
    pub training: String,
}

impl GetTrainingRequest {
    /// The path of the server-sent events of a training. An event `training` with a
    /// [`TrainingResponse`] comes first; then an event `point` with a [`LearningCurvePoint`] at
    /// each checkpoint, an event `job` with a [`TrainingJob`] at each change, and, when the
    /// training has ended, another event `training`.
    pub const EVENTS_PATH: &'static str = "/api/trainings/{training}/events";

    /// Returns the address of the server-sent events of this training.
    pub fn events_address(&self) -> String {
        let json = serde_json::to_value(self).unwrap_or_default();
        RequestAddress::new(RequestMethod::Get, Self::EVENTS_PATH, json).path
    }
}

/// Cancels a training. Its last checkpoint is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CancelTrainingRequest {
    /// [`TrainingJob::name`].
    pub training: String,
}

/// Resumes a canceled or failed training from its last checkpoint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ResumeTrainingRequest {
    /// [`TrainingJob::name`].
    pub training: String,
}

/// Publishes a training, or withdraws it from visitors.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct UpdateTrainingRequest {
    /// [`TrainingJob::name`].
    pub training: String,
    /// Whether visitors can see the training.
    pub is_public: bool,
}

/// A training in the queue of the server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TrainingJob {
    /// The name of the trained ranker, the last segment of its address.
    pub name: String,
    /// What was asked for.
    pub request: CreateTrainingRequest,
    /// State of the training.
    pub state: JobState,
    /// Whether visitors can see it.
    pub is_public: bool,
    /// The number of updates so far.
    pub step: u64,
    /// The number of all updates, 0 before the first.
    pub n_updates: u64,
    /// Updates per second since the server began or resumed it, 0 before the first.
    pub updates_per_s: f64,
    /// The average precision on the development queries at the last checkpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dev_ap: Option<f64>,
    /// What went wrong, and how to fix it; for operators.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Time of creation, RFC 3339.
    pub created_at: String,
}

/// One training with its learning curve.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TrainingResponse {
    /// The training.
    pub job: TrainingJob,
    /// Its learning curve so far, by ascending step.
    pub points: Vec<LearningCurvePoint>,
    /// Its result, once it has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<TrainingSummary>,
    /// The tables of the learning curve and the result, as in `axioscope report`.
    pub tables: Vec<ReportTable>,
}
