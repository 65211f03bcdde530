//! The requests about jobs, which score pairs of query and document with a model.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::RequestMethod;
use super::address::RequestAddress;
use crate::score::RankerInfo;
use crate::score::rescoring::ScoreStabilityRecord;

/// Creates a job that scores unique pairs with a model. Operators only.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CreateScoringJobRequest {
    /// A model of `ServerInfoResponse`, by its `spec`.
    pub model: String,
    /// Title of the job, shown in lists.
    pub title: String,
    /// The distinct queries.
    pub queries: Vec<String>,
    /// The distinct documents.
    pub documents: Vec<String>,
    /// Positions in `queries` and `documents`, each pair once.
    pub pairs: Vec<(u32, u32)>,
}

/// Lists all jobs, newest first.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ListScoringJobsRequest {}

/// Returns one job; `/api/jobs/{job}/events` sends it as server-sent events until it ends.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct GetScoringJobRequest {
    /// [`ScoringJob::id`].
    pub job: String,
}

impl GetScoringJobRequest {
    /// The path of the server-sent events of a job: an event `job` with a [`ScoringJob`] at each
    /// step.
    pub const EVENTS_PATH: &'static str = "/api/jobs/{job}/events";

    /// Returns the address of the server-sent events of this job.
    pub fn events_address(&self) -> String {
        let json = serde_json::to_value(self).unwrap_or_default();
        RequestAddress::new(RequestMethod::Get, Self::EVENTS_PATH, json).path
    }
}

/// Cancels a job. Its scores so far are stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CancelScoringJobRequest {
    /// [`ScoringJob::id`].
    pub job: String,
}

/// Resumes a canceled or failed job where it stopped.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ResumeScoringJobRequest {
    /// [`ScoringJob::id`].
    pub job: String,
}

/// Returns the scores of a job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct GetJobScoresRequest {
    /// [`ScoringJob::id`].
    pub job: String,
}

/// The scores of a job's pairs, in their order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct JobScoresResponse {
    /// The model that computed the scores.
    pub ranker: RankerInfo,
    /// The scores, in the order of the job's pairs; `None` if not scored.
    pub scores: Vec<Option<f64>>,
    /// The positions of pairs of whose document the model read only a part.
    pub truncated: Vec<u32>,
    /// The score stability check, once every pair is scored: scores of some pairs under other
    /// conditions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rescoring: Option<ScoreStabilityRecord>,
}

/// A job that scores pairs with a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ScoringJob {
    /// Identifier of the job, the last segment of its address.
    pub id: String,
    /// Title of the job, shown in lists.
    pub title: String,
    /// The model that computes the scores.
    pub ranker: RankerInfo,
    /// State of the job.
    pub state: JobState,
    /// The number of pairs with a score.
    pub n_scored: u64,
    /// The number of all pairs.
    pub n_pairs: u64,
    /// Pairs per second in this run of the job, 0 before the first batch.
    pub pairs_per_s: f64,
    /// Tokens that the model reads per second in this run of the job.
    #[serde(default)]
    pub tokens_per_s: f64,
    /// What went wrong, and how to fix it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Time of creation, RFC 3339.
    pub created_at: String,
}

/// The state of a scoring job or a training, from waiting in the queue to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum JobState {
    /// The job waits in the queue.
    Queued,
    /// The job is running.
    Running,
    /// All pairs have a score, or the training has ended.
    Done,
    /// The job was canceled.
    Canceled,
    /// The job stopped with an error.
    Failed,
}

impl JobState {
    /// Returns whether the job changes no more unless it is resumed.
    pub fn is_finished(self) -> bool {
        match self {
            JobState::Queued | JobState::Running => false,
            JobState::Done | JobState::Canceled | JobState::Failed => true,
        }
    }
}
