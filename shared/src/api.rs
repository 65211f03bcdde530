//! Every request and reply: one type on both ends of the wire.
//!
//! A read is a GET whose fields stand in the query string (nested parts as JSON under `q`),
//! everything else a POST with a JSON body. Errors come as [`ErrorResponse`] with a status.

pub mod models;
pub mod people;
pub mod annotation;
pub mod rerank;
pub mod study_request;
pub mod worker;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::compare::compared_query::ComparedQuery;
use crate::compare::query_list::QueryListOptions;
use crate::compare::query_list::QueryPage;
use crate::compare::{ComparisonOptions, RankerComparison};
use crate::index::CollectionTotals;
use crate::late_interaction::LateInteractionAnalysis;
use crate::probe::AxiomVariant;
use crate::probe::Probe;
use crate::report::ReportTable;
use crate::reproduce::PaperTable;
use crate::score::RankerInfo;
use crate::score::rescoring::RescoringRecord;
use crate::study::behavioral_tests::{BehavioralTestOptions, BehavioralTestResults};
use crate::study::controls::StudyControls;
use crate::study::figures::{FigureOptions, StudyFigures};
use crate::study::instance_details::InstanceDetails;
use crate::study::instance_list::{InstanceListOptions, InstancePage};
use crate::study::overview::{StudyOverview, StudySummary};
use crate::study::top_documents::TopDocuments;
use crate::study::{Study, StudyWordVectors, TermStatistics};
use crate::text::Analyzer;

/// A request, tied to its path and its reply.
pub trait Endpoint: Serialize + DeserializeOwned {
    /// How it is sent.
    const METHOD: Method;
    /// Path below the server root.
    const PATH: &'static str;
    /// What comes back.
    type Reply: Serialize + DeserializeOwned;
}

/// How a request is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Changes nothing; the request is the JSON value of the parameter `q`.
    Get,
    /// The request is the JSON body.
    Post,
}

/// Ties requests to their method, path and reply, one in a line.
macro_rules! endpoints {
    ($($method:ident $path:literal $request:ty => $reply:ty;)*) => {$(
        impl $crate::api::Endpoint for $request {
            const METHOD: $crate::api::Method = $crate::api::Method::$method;
            const PATH: &'static str = $path;
            type Reply = $reply;
        }
    )*};
}
use endpoints;

endpoints! {
    Get "/api/about" GetServerInfoRequest => ServerInfoResponse;
    Get "/api/studies" ListStudiesRequest => Vec<StudySummary>;
    Get "/api/study" GetStudyRequest => StudyOverview;
    Get "/api/figures" GetFiguresRequest => StudyFigures;
    Get "/api/behaviours" GetBehavioralTestsRequest => BehavioralTestResults;
    // By the spec of the ranker; none where `whitebox` was not run.
    Get "/api/inside" ListLateInteractionAnalysesRequest => Vec<LateInteractionAnalysis>;
    Get "/api/inside/query" GetTopDocumentsRequest => TopDocuments;
    Get "/api/differ" CompareRankersRequest => RankerComparison;
    Get "/api/differ/queries" ListComparedQueriesRequest => QueryPage;
    Get "/api/differ/query" GetComparedQueryRequest => ComparedQuery;
    Get "/api/replay" GetReproductionRequest => Vec<ReportTable>;
    Get "/api/instances" ListInstancesRequest => InstancePage;
    Get "/api/instance" GetInstanceRequest => InstanceDetails;
    Get "/api/export" ExportStudyRequest => Study;
    Get "/api/statistics" GetCollectionStatisticsRequest => CollectionStatisticsResponse;
    Post "/api/score" ScoreDocumentsRequest => ScoreDocumentsResponse;
    Post "/api/attention" GetAttentionRequest => AttentionResponse;
    Post "/api/jobs" CreateJobRequest => Job;
    Get "/api/jobs" ListJobsRequest => Vec<Job>;
    Get "/api/job" GetJobRequest => Job;
    Post "/api/job/cancel" CancelJobRequest => Job;
    Post "/api/job/resume" ResumeJobRequest => Job;
    Get "/api/job/scores" GetJobScoresRequest => JobScoresResponse;
}

/// The body of every error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ErrorResponse {
    /// What is wrong, and the way out.
    pub error: String,
    /// For programs: `unknown`, `setting`, `too-large`, `overloaded`, …
    pub error_type: String,
    /// Name of the field of the request that is invalid, for an error of type `setting`: `n_items`,
    /// `probes`, `ranker`, … The message begins with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
}

impl ErrorResponse {
    /// A problem of no single field.
    pub fn new(error: impl Into<String>, error_type: &str) -> ErrorResponse {
        ErrorResponse {
            error: error.into(),
            error_type: error_type.to_owned(),
            field: None,
        }
    }

    /// Returns the message without the name of the field, to be shown next to the field.
    pub fn message_without_field(&self) -> &str {
        let reason = self.field.as_ref().and_then(|field| {
            let reason = self.error.strip_prefix(field.as_str())?;
            reason.strip_prefix(": ")
        });
        reason.unwrap_or(&self.error)
    }
}

/// What this server is and can do.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GetServerInfoRequest {}

/// Version and models of the server, and the permissions and limits of the caller.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ServerInfoResponse {
    /// Version of the software.
    pub version: String,
    /// Neural rankers that are loaded or can be loaded.
    pub models: Vec<RankerInfo>,
    /// Whether this caller may create jobs (operators).
    pub can_create_jobs: bool,
    /// The most texts that one [`ScoreDocumentsRequest`] request of this caller may hold.
    pub max_documents: u64,
}

/// Every study this caller may see.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ListStudiesRequest {}

/// One study for one state of its controls.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GetStudyRequest {
    /// Name of the study.
    pub study: String,
    /// State of the page.
    #[serde(default)]
    pub controls: StudyControls,
}

/// What the papers show of a study beside its table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GetFiguresRequest {
    /// Name of the study.
    pub study: String,
    /// What a reader chooses.
    #[serde(default)]
    pub options: FigureOptions,
}

/// The behavioral tests of a study.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GetBehavioralTestsRequest {
    /// Name of the study.
    pub study: String,
    /// How they are asked.
    #[serde(default)]
    pub options: BehavioralTestOptions,
}

/// The late-interaction rankers of a study that were looked into.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ListLateInteractionAnalysesRequest {
    /// Name of the study.
    pub study: String,
}

/// The texts that a ranker of [`ListLateInteractionAnalysesRequest`] puts first for a query.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GetTopDocumentsRequest {
    /// Name of the study.
    pub study: String,
    /// [`RankerInfo::fingerprint`].
    pub ranker: String,
    /// Its place, counted from 0.
    pub query_id: usize,
}

/// Requests the comparison of two rankers of a study.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CompareRankersRequest {
    /// Name of the study.
    pub study: String,
    /// Which two, and over which queries.
    #[serde(default)]
    pub options: ComparisonOptions,
}

/// Some of the queries of [`CompareRankersRequest`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ListComparedQueriesRequest {
    /// Name of the study.
    pub study: String,
    /// As in [`CompareRankersRequest`].
    #[serde(default)]
    pub options: ComparisonOptions,
    /// Which queries.
    #[serde(default)]
    pub page: QueryListOptions,
}

/// One query of [`CompareRankersRequest`], with the texts that each ranker puts first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GetComparedQueryRequest {
    /// Name of the study.
    pub study: String,
    /// As in [`CompareRankersRequest`].
    #[serde(default)]
    pub options: ComparisonOptions,
    /// Id of the query.
    pub query_id: String,
}

/// A paper's table beside a study.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GetReproductionRequest {
    /// Name of the study.
    pub study: String,
    /// Which table.
    pub table: PaperTable,
}

/// The instances of one cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ListInstancesRequest {
    /// Name of the study.
    pub study: String,
    /// Which of its instances.
    pub filter: InstanceListOptions,
}

/// Requests one instance with its documents, preconditions, scores and verdicts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GetInstanceRequest {
    /// Name of the study.
    pub study: String,
    /// The axiom or behavior.
    #[serde(rename = "axiom")]
    pub probe: Probe,
    /// The variant of the axiom.
    pub variant: AxiomVariant,
    /// Index among the instances of the probe and variant, from 0.
    pub number: u64,
    /// Width of a tie, if set on the Study page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tie_threshold: Option<f64>,
}

/// The whole study as one value: what a static host serves.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ExportStudyRequest {
    /// Name of the study.
    pub study: String,
}

/// Statistics of a study's collection, for the Playground.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GetCollectionStatisticsRequest {
    /// Name of the study.
    pub study: String,
}

/// Collection statistics and analyzer of a study, with its word vectors.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CollectionStatisticsResponse {
    /// How its texts became terms.
    pub analyzer: Analyzer,
    /// Totals of the whole collection.
    pub totals: CollectionTotals,
    /// Of the terms of the study's texts and queries.
    pub terms: std::collections::BTreeMap<String, TermStatistics>,
    /// Word vectors of the study, if it has any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vectors: Option<StudyWordVectors>,
}

/// Scores a few texts at once, for the Playground.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ScoreDocumentsRequest {
    /// A model of [`ServerInfoResponse::models`], by its `spec`.
    pub model: String,
    /// The query.
    pub query: String,
    /// The texts.
    pub documents: Vec<String>,
}

/// The scores of the documents, in the order of the request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ScoreDocumentsResponse {
    /// The ranker.
    pub ranker: RankerInfo,
    /// Scores, in the order of the documents.
    pub scores: Vec<f64>,
    /// Whether the model saw only a part of each text.
    pub truncated: Vec<bool>,
    /// Late interaction: which piece of each text every query token matched; else empty.
    pub similarities: Vec<TokenSimilarities>,
}

/// Cosines of query tokens with the pieces of one text (Formal et al. 2021, equation 1).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TokenSimilarities {
    /// Tokens of the query.
    pub query_tokens: Vec<String>,
    /// Tokens of the text.
    pub document_tokens: Vec<String>,
    /// Query tokens × text tokens, in [-1, 1].
    pub cosines: Vec<Vec<f32>>,
}

/// Where a cross-encoder looks in one text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GetAttentionRequest {
    /// A model of [`ServerInfoResponse::models`], by its `spec`.
    pub model: String,
    /// The query.
    pub query: String,
    /// The text.
    pub document: String,
    /// Counted from 0; none is the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layer: Option<u32>,
    /// Counted from 0; none is the mean of all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<u32>,
}

/// The attention weights of one head or of the mean of all heads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AttentionResponse {
    /// The model use that was run.
    pub ranker: RankerInfo,
    /// Number of layers of the model.
    pub n_layers: u32,
    /// Number of attention heads of a layer.
    pub n_heads: u32,
    /// Which layer.
    pub layer: u32,
    /// Which head; none is the mean of all.
    pub head: Option<u32>,
    /// Of query and text together, with special ones.
    pub tokens: Vec<String>,
    /// Index of the first token of the document.
    pub document_start: u32,
    /// How much each token takes of each other; a row sums to 1.
    pub weights: Vec<Vec<f32>>,
    /// Whether the model saw only a part of both.
    pub truncated: bool,
}

/// Creates a job that scores unique pairs with a model. Operators only.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CreateJobRequest {
    /// A model of [`ServerInfoResponse::models`], by its `spec`.
    pub model: String,
    /// Title of the job, shown in lists.
    pub title: String,
    /// The distinct queries.
    pub queries: Vec<String>,
    /// Each once.
    pub documents: Vec<String>,
    /// Places in `queries` and `texts`, each pair once.
    pub pairs: Vec<(u32, u32)>,
}

/// Requests every job, newest first.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ListJobsRequest {}

/// One job; `/api/job/events?q=…` gives the same as server-sent events until it ends.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GetJobRequest {
    /// [`Job::id`].
    pub job: String,
}

impl GetJobRequest {
    /// Where the job is watched: an event `job` with a [`Job`] at each step.
    pub const EVENTS_PATH: &'static str = "/api/job/events";
}

/// Stops a job; what it has scored is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CancelJobRequest {
    /// [`Job::id`].
    pub job: String,
}

/// Goes on with a cancelled or failed job where it stopped.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ResumeJobRequest {
    /// [`Job::id`].
    pub job: String,
}

/// What a job has scored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GetJobScoresRequest {
    /// [`Job::id`].
    pub job: String,
}

/// The scores of a job's pairs, in their order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct JobScoresResponse {
    /// The model use that scored.
    pub ranker: RankerInfo,
    /// In the order of the job's pairs; none where not scored.
    pub scores: Vec<Option<f64>>,
    /// Places of pairs whose text was seen only in part.
    pub truncated: Vec<u32>,
    /// Once every pair is scored: some of them once more under other conditions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rescoring: Option<RescoringRecord>,
}

/// A token of long work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Job {
    /// Identifier of the job, the last segment of its address.
    pub id: String,
    /// Title of the job, shown in lists.
    pub title: String,
    /// The model use that scores.
    pub ranker: RankerInfo,
    /// State of the job.
    pub state: JobState,
    /// Pairs with a score.
    pub n_scored: u64,
    /// Pairs in all.
    pub n_pairs: u64,
    /// In this run of the job, 0 before the first batch.
    pub pairs_per_s: f64,
    /// Tokens that the model reads in a second, in this run of the job.
    #[serde(default)]
    pub tokens_per_s: f64,
    /// What went wrong, and the way out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Time of creation, RFC 3339.
    pub created_at: String,
}

/// Describes the state of a scoring job, from waiting in the queue to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum JobState {
    /// Waits for its turn.
    Queued,
    /// Is being worked on.
    Running,
    /// All pairs have a score.
    Done,
    /// Stopped by somebody.
    Canceled,
    /// Stopped by an error.
    Failed,
}

impl JobState {
    /// Whether nothing more happens by itself.
    pub fn is_finished(self) -> bool {
        match self {
            JobState::Queued | JobState::Running => false,
            JobState::Done | JobState::Canceled | JobState::Failed => true,
        }
    }
}
