//! Studies that several machines create, as operators see them.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{JobState, endpoints};

endpoints! {
    Get "/api/cluster-jobs" ListClusterJobsRequest => Vec<ClusterJob>;
    Post "/api/cluster-jobs/{job}/cancel" CancelClusterJobRequest => ClusterJob;
}

/// Lists the studies that several machines create or have created, newest first. Operators only.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ListClusterJobsRequest {}

/// Cancels a running cluster job; its driver ends within seconds. Committed shards stay, and the
/// command that began the job continues it. Operators only.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CancelClusterJobRequest {
    /// [`ClusterJob::id`].
    pub job: String,
}

/// The study that several machines create or have created.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ClusterJob {
    /// SHA-256, in hex, of everything that determines the study.
    pub id: String,
    /// The name of the study.
    pub study: String,
    /// Its state. A job that is running has a driver, unless that was killed.
    pub state: JobState,
    /// Why it has failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Whether a driver is running: it shows a sign of life every three seconds.
    pub has_driver: bool,
    /// The version of the program, with the beginning of its hash.
    pub build: String,
    /// The address of the object storage.
    pub storage: String,
    /// When the first driver began, in milliseconds since 1970.
    pub begun_ms: u64,
    /// When the job ended, in milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_ms: Option<u64>,
    /// Its stages, in the order in which they began.
    pub stages: Vec<ClusterStage>,
    /// The executors that have computed shards of it, by name.
    pub executors: Vec<ClusterExecutor>,
}

/// The shards of one stage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ClusterStage {
    /// The stage: `mine`, `score`, `remote-score` or `rescore`.
    pub name: String,
    /// The number of shards that are planned so far.
    pub n_shards: u64,
    /// The number of shards that are committed.
    pub n_committed: u64,
    /// The number of attempts to compute a shard.
    pub n_attempts: u64,
    /// The number of attempts beyond the first one of each shard: executors have ended before they
    /// had computed their shards, or shards were given out again.
    pub n_repeated_attempts: u64,
    /// The number of queries or pairs in committed outputs.
    pub n_rows: u64,
    /// The size of committed outputs in bytes.
    pub n_bytes: u64,
    /// The time that the attempts that count have taken, in seconds.
    pub seconds: f64,
}

/// An executor that has computed shards of a job, with how many and for how long.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ClusterExecutor {
    /// The name: that of its machine and the number of its process.
    pub name: String,
    /// The number of committed shards that it has computed.
    pub n_shards: u64,
    /// The time that these have taken, in seconds.
    pub seconds: f64,
}
