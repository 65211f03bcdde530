//! All requests and responses, with one type for both ends.
//!
//! Endpoints are resources, such as `/api/studies/{study}/figures`. The fields of a request are in
//! its path, its query string or its JSON body, see [`address`]. Errors are [`ErrorResponse`] with
//! a status code.

pub mod address;
pub mod models;
pub mod site_checks;
pub mod people;
pub mod markdown;
pub mod annotation;
pub mod own_data;
pub mod rerank;
pub mod study_request;
pub mod prepared_requests;
pub mod manage_studies;
pub mod training;
pub mod cluster;
pub mod worker;
mod jobs;

use std::fmt;
use std::str::FromStr;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub use jobs::{
    CancelScoringJobRequest, CreateScoringJobRequest, GetJobScoresRequest, GetScoringJobRequest,
    JobScoresResponse, JobState, ListScoringJobsRequest, ResumeScoringJobRequest, ScoringJob,
};

use address::RequestAddress;
use site_checks::SiteCheckReport;

use crate::compare::compared_query::ComparedQueryWithTopDocuments;
use crate::compare::query_list::ComparedQueryListOptions;
use crate::compare::query_list::ComparedQueryPage;
use crate::compare::{RankerComparison, RankerComparisonOptions};
use crate::error::Error;
use crate::index::DocumentAndTermTotals;
use crate::late_interaction::LateInteractionAnalysisWithRankerSlug;
use crate::probe::AxiomVariant;
use crate::probe::Probe;
use crate::report::ReportTable;
use crate::reproduce::PaperTable;
use crate::score::RankerInfo;
use crate::study::behavioral_tests::{BehavioralTestOptions, BehavioralTestResults};
use crate::study::controls::StudyPageControls;
use crate::study::figures::{StudyFigureOptions, StudyFigures};
use crate::study::instance_details::InstanceDetails;
use crate::study::instance_list::{InstanceListOptions, InstancePage};
use crate::study::overview::{StudyOverview, StudySummary};
use crate::study::study_comparison::StudyVerdictCounts;
use crate::study::top_documents::TopDocuments;
use crate::study::{Study, StudyWordVectors, TermStatistics};
use crate::text::Analyzer;

/// A request with its method, path and reply.
pub trait Endpoint: Serialize + DeserializeOwned {
    /// The HTTP method.
    const METHOD: RequestMethod;
    /// Template of the path below the server root, with the names of fields in braces.
    const PATH: &'static str;
    /// The type of the response.
    type Reply: Serialize + DeserializeOwned;

    /// Returns the request as HTTP sends it.
    fn address(&self) -> RequestAddress {
        let json = serde_json::to_value(self).unwrap_or_default();
        RequestAddress::new(Self::METHOD, Self::PATH, json)
    }
}

/// The HTTP method of a request and how it is encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestMethod {
    /// Reads a resource and changes nothing.
    Get,
    /// Creates a resource or starts an action.
    Post,
    /// Replaces a resource.
    Put,
    /// Changes parts of a resource.
    Patch,
    /// Removes a resource.
    Delete,
}

impl fmt::Display for RequestMethod {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            RequestMethod::Get => "GET",
            RequestMethod::Post => "POST",
            RequestMethod::Put => "PUT",
            RequestMethod::Patch => "PATCH",
            RequestMethod::Delete => "DELETE",
        })
    }
}

impl FromStr for RequestMethod {
    type Err = Error;

    fn from_str(text: &str) -> Result<RequestMethod, Error> {
        let known = [
            RequestMethod::Get,
            RequestMethod::Post,
            RequestMethod::Put,
            RequestMethod::Patch,
            RequestMethod::Delete,
        ];
        let found = known.into_iter().find(|it| it.to_string() == text);
        found.ok_or_else(|| Error::not_one_of("method", text, known))
    }
}

impl RequestMethod {
    /// Returns whether the fields of the request are its JSON body, except those in the path.
    pub fn has_body(self) -> bool {
        match self {
            RequestMethod::Get | RequestMethod::Delete => false,
            RequestMethod::Post | RequestMethod::Put | RequestMethod::Patch => true,
        }
    }
}

/// Defines the method, path and reply of requests, one per line.
macro_rules! endpoints {
    ($($method:ident $path:literal $request:ty => $reply:ty;)*) => {$(
        impl $crate::api::Endpoint for $request {
            const METHOD: $crate::api::RequestMethod = $crate::api::RequestMethod::$method;
            const PATH: &'static str = $path;
            type Reply = $reply;
        }
    )*};
}
use endpoints;

endpoints! {
    Get "/api/about" GetServerInfoRequest => ServerInfoResponse;
    Get "/api/studies" ListStudiesRequest => Vec<StudySummary>;
    Get "/api/studies/{study}" GetStudyRequest => StudyOverview;
    Get "/api/studies/{study}/figures" GetFiguresRequest => StudyFigures;
    Get "/api/studies/{study}/behavioral-tests" GetBehavioralTestsRequest => BehavioralTestResults;
    // By the spec of the ranker; empty if the command `late-interaction` was not run.
    Get "/api/studies/{study}/late-interaction"
        ListLateInteractionAnalysesRequest => Vec<LateInteractionAnalysisWithRankerSlug>;
    Get "/api/studies/{study}/late-interaction/{ranker}/top-documents"
        GetLateInteractionTopDocumentsRequest => TopDocuments;
    Get "/api/studies/{study}/compare" CompareRankersRequest => RankerComparison;
    Get "/api/studies/{study}/compare/queries" ListComparedQueriesRequest => ComparedQueryPage;
    Get "/api/studies/{study}/compare/queries/{query_id}"
        GetComparedQueryRequest => ComparedQueryWithTopDocuments;
    Get "/api/studies/{study}/reproductions/{paper}/tables/{table}"
        GetReproductionRequest => Vec<ReportTable>;
    Get "/api/studies/{study}/rankers/{ranker}/probes/{probe}/instances"
        ListInstancesRequest => InstancePage;
    Get "/api/studies/{study}/probes/{probe}/instances/{number}"
        GetInstanceRequest => InstanceDetails;
    Get "/api/studies/{study}/probes/{probe}/instances/{number}/reading-ends"
        GetReadingEndsRequest => ReadingEndsResponse;
    Get "/api/studies/{study}/export" ExportStudyRequest => Study;
    Get "/api/studies/{study}/collection-statistics"
        GetCollectionStatisticsRequest => CollectionStatisticsResponse;
    Get "/api/studies/{study}/verdict-counts" GetVerdictCountsRequest => StudyVerdictCounts;
    Post "/api/score" ScoreDocumentsRequest => ScoreDocumentsResponse;
    Post "/api/attention" GetAttentionRequest => AttentionResponse;
    Post "/api/jobs" CreateScoringJobRequest => ScoringJob;
    Get "/api/jobs" ListScoringJobsRequest => Vec<ScoringJob>;
    Get "/api/jobs/{job}" GetScoringJobRequest => ScoringJob;
    Post "/api/jobs/{job}/cancel" CancelScoringJobRequest => ScoringJob;
    Post "/api/jobs/{job}/resume" ResumeScoringJobRequest => ScoringJob;
    Get "/api/jobs/{job}/scores" GetJobScoresRequest => JobScoresResponse;
}

/// The body of every error response.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ErrorResponse {
    /// What is wrong, and how to fix it.
    pub error: String,
    /// The type of the error, for programs: `unknown`, `setting`, `too-large`, `overloaded`, …
    pub error_type: String,
    /// Name of the field of the request that is invalid, for an error of type `setting`: `n_items`,
    /// `probes`, `ranker`, … The message begins with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
}

impl ErrorResponse {
    /// Creates an error that concerns no single field.
    pub fn with_message_and_type(error: impl Into<String>, error_type: &str) -> ErrorResponse {
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

/// Returns the version, the models and the limits of this server.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct GetServerInfoRequest {}

/// Version and models of the server, and the permissions and limits of the caller.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ServerInfoResponse {
    /// Version of the software.
    pub version: String,
    /// The neural rankers that are loaded or can be loaded.
    pub models: Vec<RankerInfo>,
    /// Whether this caller may create jobs (operators only).
    pub can_create_jobs: bool,
    /// The maximum number of documents in one [`ScoreDocumentsRequest`] of this caller.
    pub max_documents: u64,
    /// The last round of the checks that the server runs on itself; `None` before the first one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub site_checks: Option<SiteCheckReport>,
    /// Whether the page of operators is at this address.
    #[serde(default = "yes")]
    pub has_operator_page: bool,
}

/// The default of a field that servers of earlier versions do not send.
fn yes() -> bool {
    true
}

/// Lists all studies that the caller may see.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ListStudiesRequest {}

/// Returns one study for one state of its controls.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct GetStudyRequest {
    /// Name of the study.
    pub study: String,
    /// The controls of the page.
    #[serde(default)]
    pub controls: StudyPageControls,
}

/// Returns the figures of a study.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct GetFiguresRequest {
    /// Name of the study.
    pub study: String,
    /// The options of the figures.
    #[serde(default)]
    pub options: StudyFigureOptions,
}

/// Returns the results of a study's behavioral tests.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct GetBehavioralTestsRequest {
    /// Name of the study.
    pub study: String,
    /// The options of the tests.
    #[serde(default)]
    pub options: BehavioralTestOptions,
}

/// Lists the analyses of the late-interaction rankers of a study.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ListLateInteractionAnalysesRequest {
    /// Name of the study.
    pub study: String,
}

/// Returns the top documents of a query by a ranker of [`ListLateInteractionAnalysesRequest`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct GetLateInteractionTopDocumentsRequest {
    /// Name of the study.
    pub study: String,
    /// The ranker: [`LateInteractionAnalysisWithRankerSlug::slug`], or its position in the list,
    /// counted from 0.
    pub ranker: String,
    /// The position of the query in the study, counted from 0.
    pub query: usize,
}

/// Compares two rankers of a study.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CompareRankersRequest {
    /// Name of the study.
    pub study: String,
    /// The rankers and the queries that count.
    #[serde(default)]
    pub options: RankerComparisonOptions,
}

/// Lists some of the queries of a [`CompareRankersRequest`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ListComparedQueriesRequest {
    /// Name of the study.
    pub study: String,
    /// As in [`CompareRankersRequest`].
    #[serde(default)]
    pub options: RankerComparisonOptions,
    /// The group of queries, their order and the page.
    #[serde(default)]
    pub page: ComparedQueryListOptions,
}

/// Returns one query of a [`CompareRankersRequest`], with the top documents of each ranker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct GetComparedQueryRequest {
    /// Name of the study.
    pub study: String,
    /// As in [`CompareRankersRequest`].
    #[serde(default)]
    pub options: RankerComparisonOptions,
    /// Id of the query.
    pub query_id: String,
}

/// Returns a paper's table next to a study.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct GetReproductionRequest {
    /// Name of the study.
    pub study: String,
    /// The table.
    pub table: PaperTable,
}

/// Lists the instances of one cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ListInstancesRequest {
    /// Name of the study.
    pub study: String,
    /// The cell, the filters and the order.
    pub filter: InstanceListOptions,
}

/// Returns one instance with its documents, preconditions, scores and verdicts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct GetInstanceRequest {
    /// Name of the study.
    pub study: String,
    /// The axiom or behavioral test.
    pub probe: Probe,
    /// The variant of the axiom; `None` selects the first of the study.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<AxiomVariant>,
    /// Index among the instances of the probe and variant, from 0.
    pub number: u64,
    /// The tie threshold, if set on the Study page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tie_threshold: Option<f64>,
}

/// Returns how far a neural ranker read the documents of an instance. The server needs the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct GetReadingEndsRequest {
    /// Name of the study that has the instance.
    pub study: String,
    /// The axiom or behavioral test.
    pub probe: Probe,
    /// The variant of the axiom; `None` selects the first of the study.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<AxiomVariant>,
    /// Index among the instances of the probe and variant, from 0.
    pub number: u64,
    /// The slug of the ranker, or its row in the study.
    pub ranker: String,
}

/// How far a ranker read the documents of an instance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ReadingEndsResponse {
    /// For each document the number of bytes of its text that the ranker read, from its beginning;
    /// `None` if it read the whole text, or passages from all over it.
    pub n_bytes_read: Vec<Option<u32>>,
}

/// Returns the whole study as one value, as a static host serves it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ExportStudyRequest {
    /// Name of the study.
    pub study: String,
}

/// Returns the verdicts of a study's rankers on its axioms, counted for each query, to compare them
/// with those of another study.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct GetVerdictCountsRequest {
    /// Name of the study.
    pub study: String,
    /// The variant of the axioms; by default the first one of the study.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<AxiomVariant>,
}

/// Returns the statistics of a study's collection, for the Playground.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct GetCollectionStatisticsRequest {
    /// Name of the study.
    pub study: String,
}

/// Collection statistics and analyzer of a study, with its word vectors.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CollectionStatisticsResponse {
    /// The analyzer with which the documents were indexed.
    pub analyzer: Analyzer,
    /// Totals of the whole collection.
    pub totals: DocumentAndTermTotals,
    /// Statistics of the terms of the study's documents and queries.
    pub terms: std::collections::BTreeMap<String, TermStatistics>,
    /// Word vectors of the study, if it has any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vectors: Option<StudyWordVectors>,
}

/// Scores a few documents at once, for the Playground.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ScoreDocumentsRequest {
    /// A model of [`ServerInfoResponse::models`], by its `spec`.
    pub model: String,
    /// The query.
    pub query: String,
    /// The documents.
    pub documents: Vec<String>,
}

/// The scores of the documents, in the order of the request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ScoreDocumentsResponse {
    /// The model that computed the scores.
    pub ranker: RankerInfo,
    /// Scores, in the order of the documents.
    pub scores: Vec<f64>,
    /// Whether the model read only a part of each document.
    pub truncated: Vec<bool>,
    /// For late interaction, the token similarities of each document; else empty.
    pub similarities: Vec<TokenSimilarities>,
}

/// The cosines of query tokens with the tokens of one document (Formal et al. 2021, equation 1).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TokenSimilarities {
    /// The tokens of the query.
    pub query_tokens: Vec<String>,
    /// The tokens of the document.
    pub document_tokens: Vec<String>,
    /// The cosines, query tokens × document tokens, in [-1, 1].
    pub cosines: Vec<Vec<f32>>,
}

/// Returns the attention weights of a cross-encoder for one document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct GetAttentionRequest {
    /// A model of [`ServerInfoResponse::models`], by its `spec`.
    pub model: String,
    /// The query.
    pub query: String,
    /// The document.
    pub document: String,
    /// The layer, counted from 0; `None` takes the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layer: Option<u32>,
    /// The attention head, counted from 0; `None` takes the mean of all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<u32>,
}

/// The attention weights of one head or of the mean of all heads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AttentionResponse {
    /// The model that was run.
    pub ranker: RankerInfo,
    /// Number of layers of the model.
    pub n_layers: u32,
    /// Number of attention heads of a layer.
    pub n_heads: u32,
    /// The layer.
    pub layer: u32,
    /// The head; `None` is the mean of all.
    pub head: Option<u32>,
    /// The tokens of query and document together, with special tokens.
    pub tokens: Vec<String>,
    /// Index of the first token of the document.
    pub document_start: u32,
    /// The weight of each token for each other one, as rows; each row sums to 1.
    pub weights: Vec<Vec<f32>>,
    /// Whether the model read only a part of query and document.
    pub truncated: bool,
}
