//! The messages between the page and its worker.
//!
//! A message is an array of two: an envelope as JSON, and a payload for what does not fit into
//! JSON (a `File`, a long text that is passed on unchanged, or a `Blob` for a text that is too
//! long for the page). Every request gets any number of [`WorkerResponse::Progress`] and then
//! exactly one other response with the same id. The worker begins with [`WorkerResponse::Ready`]
//! under id 0, since messages sent before its handler is set are lost.

use serde::{Deserialize, Serialize};

use crate::api::{ErrorResponse, endpoints};
use crate::error::FileReadReport;
use crate::probe::transfer::TransferQuerySource;
use crate::report::ReportTable;
use crate::reproduce::PaperTable;
use crate::score::RankerInfo;
use crate::study::StudyDefinition;
use crate::study::playground::PlaygroundManipulationInput;
use crate::text::Analyzer;
use crate::word_vectors::glove;

endpoints! {
    // One text for each manipulation; `None` if it changes nothing.
    Post "/worker/manipulate" ManipulateTextRequest => Vec<Option<String>>;
    Post "/worker/printed" GetPublishedTableRequest => Vec<ReportTable>;
}

/// The name of the study that is made in the page. It never leaves the browser.
pub const LOCAL_STUDY: &str = "local";

/// The error type of requests that only a server can answer.
pub const NO_SERVER: &str = "no-server";

/// The message of errors of type [`NO_SERVER`].
pub const NO_SERVER_MESSAGE: &str = "This needs a server. Run `axioscope serve` to use it.";

/// Returns the name of the study that a request is about; `None` if it is about none.
pub fn study_name_of_request(request: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct StudyOfRequest {
        study: Option<String>,
    }
    serde_json::from_str::<StudyOfRequest>(request).ok()?.study
}

/// Changes a document with manipulations. Only the worker answers it, for any document, so that
/// typed text never leaves the browser.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ManipulateTextRequest {
    /// The document and its manipulations.
    pub manipulation: PlaygroundManipulationInput,
}

/// Returns a paper's table without a study, with examples of its errors. Only the worker answers
/// it, so that the page does not need the code that computes the examples.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GetPublishedTableRequest {
    /// The table.
    pub table: PaperTable,
}

/// A request or a response with its id.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WorkerMessage<T> {
    /// The id, chosen by the page in ascending order from 1; 0 for [`WorkerResponse::Ready`].
    pub id: u64,
    /// The request or the response.
    pub body: T,
}

/// A request of the page to the worker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "ask")]
pub enum WorkerRequest {
    /// Reads the `File` in the payload and stores its contents, in place of an earlier file of the
    /// same name. Answered by [`WorkerResponse::FileRead`].
    ReadFile {
        /// Name of the file.
        name: String,
        /// The kind of file; `None` infers it from the name and the first lines.
        kind: Option<FileKind>,
    },
    /// Removes a file. Answered by [`WorkerResponse::Done`].
    RemoveFile {
        /// Name of the file.
        name: String,
    },
    /// Makes [`LOCAL_STUDY`] from the files that were read. Answered by
    /// [`WorkerResponse::StudyReady`].
    CreateStudy {
        /// The definition, with `name` [`LOCAL_STUDY`] and lexical rankers only.
        definition: Box<StudyDefinition>,
        /// The date of today: `2026-11-20`.
        date: String,
    },
    /// Loads the study whose JSON is the payload. Answered by [`WorkerResponse::Done`], for
    /// [`LOCAL_STUDY`] by [`WorkerResponse::StudyReady`].
    LoadStudy {
        /// The name under which it is requested later.
        study: String,
        /// The name of its file, for error messages.
        file: String,
    },
    /// Restores the texts of a loaded study from the payload, an array of the `File`s of a corpus.
    /// Answered by [`WorkerResponse::Done`].
    RestoreTexts {
        /// The name under which it is loaded.
        study: String,
    },
    /// Answers a request of `shared::api` about a loaded study. The reply is the payload of
    /// [`WorkerResponse::Payload`].
    CallEndpoint {
        /// [`crate::api::Endpoint::PATH`].
        path: String,
        /// The request, as JSON.
        request: String,
    },
    /// Trains word vectors on the documents that were read. Answered by
    /// [`WorkerResponse::VectorsTrained`], with a `Blob` in GloVe's text format as the payload.
    TrainVectors {
        /// The analyzer, which turns text into tokens.
        analyzer: Analyzer,
        /// The hyperparameters of the training.
        settings: glove::GloveSettings,
    },
    /// Loads the local study of an earlier visit. Answered by [`WorkerResponse::StudyReady`], or
    /// by [`WorkerResponse::Done`] if there is none.
    GetLocalStudy,
    /// Returns [`LOCAL_STUDY`] as a `Blob` of JSON, the payload of [`WorkerResponse::Payload`].
    ExportStudy,
    /// Returns the unique pairs of [`LOCAL_STUDY`] as a `Blob` of JSON lines, the payload of
    /// [`WorkerResponse::Payload`].
    ExportPairs,
    /// Returns the unique pairs of [`LOCAL_STUDY`] as a `Blob` of a `CreateScoringJobRequest`, the
    /// payload of [`WorkerResponse::Payload`].
    BuildJob {
        /// A model of the server, by its `spec`.
        model: String,
        /// The title of the job, as shown to readers.
        title: String,
    },
    /// Adds the `JobScoresResponse` whose JSON is the payload to [`LOCAL_STUDY`]. Answered by
    /// [`WorkerResponse::StudyReady`].
    AddJobScores {
        /// The beginning of the [`LocalStudySummary::instances_hash`] of the study that the scores
        /// are for.
        hash_prefix: String,
    },
    /// Adds the scores in the `File` in the payload to [`LOCAL_STUDY`]. Answered by
    /// [`WorkerResponse::StudyReady`].
    AddScoreFile {
        /// Name of the file.
        name: String,
    },
    /// Cancels the request with an id, which is then answered by [`WorkerResponse::Canceled`].
    Cancel {
        /// The id of its envelope.
        number: u64,
    },
    /// Removes all files and [`LOCAL_STUDY`]. Answered by [`WorkerResponse::Done`].
    Clear,
}

/// A response of the worker to the page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "tell")]
pub enum WorkerResponse {
    /// The worker accepts requests.
    Ready,
    /// Progress of a request.
    Progress(WorkerProgress),
    /// A file was read.
    FileRead(FileSummary),
    /// The local study is ready.
    StudyReady(LocalStudySummary),
    /// Word vectors were trained.
    VectorsTrained(TrainedVectorsSummary),
    /// The result is the payload of this message.
    Payload,
    /// The request is done, without a result.
    Done,
    /// The request was canceled.
    Canceled,
    /// The request failed, with the error and how to fix it.
    Failed(ErrorResponse),
}

/// The progress of a request.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct WorkerProgress {
    /// The current stage.
    pub stage: WorkerPipelineStage,
    /// What is done, of `total`.
    pub done: u64,
    /// The total, in the unit of the stage.
    pub total: u64,
    /// The speed, in units of the stage per second; 0 until it is known.
    pub per_s: f64,
    /// The remaining seconds of the stage at the present speed.
    pub remaining_s: Option<f64>,
    /// The number of instances that the stage has found so far.
    pub n_instances: Option<u64>,
}

/// A stage of the work, in the order of the pipeline; each counts in its own unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WorkerPipelineStage {
    /// Reading a file; in bytes.
    Read,
    /// Indexing; in documents.
    Index,
    /// Manipulating documents; in queries.
    Manipulate,
    /// Mining instances; in queries.
    Mine,
    /// Indexing for the analyzer audit; in documents.
    Audit,
    /// Scoring, one ranker after the other; in rankings, one for each ranker and query.
    Score,
    /// Counting cooccurrences for word vectors; in documents.
    CountCooccurrences,
    /// Training word vectors; in passes.
    TrainVectors,
}

impl WorkerPipelineStage {
    /// The stages of [`WorkerRequest::CreateStudy`]. [`WorkerPipelineStage::Manipulate`] is only in
    /// a study with behavioral tests, [`WorkerPipelineStage::Audit`] only in one with an analyzer
    /// audit.
    pub const CREATE_STUDY: [WorkerPipelineStage; 5] = [
        WorkerPipelineStage::Index,
        WorkerPipelineStage::Manipulate,
        WorkerPipelineStage::Mine,
        WorkerPipelineStage::Audit,
        WorkerPipelineStage::Score,
    ];
}

/// The content and the format of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileKind {
    /// Documents, one JSON object per line.
    CorpusJsonl,
    /// Documents: `id<TAB>text`.
    PassagesTsv,
    /// Documents: `id<TAB>address<TAB>title<TAB>text`.
    DocumentsTsv,
    /// Documents, one per line.
    DocumentLines,
    /// Queries, one JSON object per line.
    QueriesJsonl,
    /// Queries: `id<TAB>query`, or TREC's marked-up topics.
    Topics,
    /// Judgments, in TREC's four columns or BEIR's three.
    Qrels,
    /// A run, in TREC's six columns.
    Run,
    /// Word vectors, in GloVe or word2vec format.
    Vectors,
    /// Queries by split: `id<TAB>split`.
    Splits,
    /// Document pairs, one JSON object per line, of which the first is preferred.
    PreferencePairs,
    /// Document pairs of which neither is preferred.
    SymmetricPairs,
}

impl FileKind {
    /// Lists all kinds of files that a local study can be made from.
    pub const ALL: &[FileKind] = &[
        FileKind::CorpusJsonl,
        FileKind::PassagesTsv,
        FileKind::DocumentsTsv,
        FileKind::DocumentLines,
        FileKind::QueriesJsonl,
        FileKind::Topics,
        FileKind::Qrels,
        FileKind::Run,
        FileKind::Vectors,
        FileKind::Splits,
        FileKind::PreferencePairs,
        FileKind::SymmetricPairs,
    ];

    /// Returns the part of a collection that such a file contains.
    pub fn collection_part(self) -> StudyInputPart {
        match self {
            FileKind::CorpusJsonl
            | FileKind::PassagesTsv
            | FileKind::DocumentsTsv
            | FileKind::DocumentLines => StudyInputPart::Documents,
            FileKind::QueriesJsonl | FileKind::Topics => StudyInputPart::Queries,
            FileKind::Qrels => StudyInputPart::Qrels,
            FileKind::Run => StudyInputPart::Run,
            FileKind::Vectors => StudyInputPart::Vectors,
            FileKind::Splits => StudyInputPart::Splits,
            FileKind::PreferencePairs | FileKind::SymmetricPairs => StudyInputPart::TransferPairs,
        }
    }
}

/// A part of a collection or a study.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StudyInputPart {
    /// The documents.
    Documents,
    /// The queries.
    Queries,
    /// The relevance judgments.
    Qrels,
    /// A run.
    Run,
    /// Word vectors.
    Vectors,
    /// The splits of the queries.
    Splits,
    /// The document pairs of a transfer set.
    TransferPairs,
}

/// The summary of a file that was read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FileSummary {
    /// Name of the file.
    pub name: String,
    /// The kind of the file.
    pub kind: FileKind,
    /// The size of the file in bytes, compressed if it is.
    pub n_bytes: u64,
    /// The time that reading took, in milliseconds.
    pub duration_ms: f64,
    /// The rows that were accepted and rejected.
    pub report: FileReadReport,
    /// For document pairs, the source of their queries: given if every pair has one, else
    /// inferred.
    pub query_source: Option<TransferQuerySource>,
}

/// The summary of trained word vectors.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TrainedVectorsSummary {
    /// Number of words with a vector.
    pub n_words: u64,
    /// Dimensions of a vector.
    pub n_dims: u64,
    /// The number of pairs of words that occur close to each other.
    pub n_cooccurrences: u64,
    /// The mean weighted squared error in the first and in the last pass.
    pub loss: [f64; 2],
}

/// The summary of the local study.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LocalStudySummary {
    /// The hash of its instances, which distinguishes local studies.
    #[serde(alias = "hash")]
    pub instances_hash: String,
    /// The title of the study.
    pub title: String,
    /// The number of queries.
    pub n_queries: u64,
    /// The number of documents in the whole collection.
    pub n_docs: u64,
    /// The number of instances of all axioms and variants.
    pub n_instances: u64,
    /// The number of unique pairs of query and document.
    pub n_pairs: u64,
    /// The rankers with scores.
    pub rankers: Vec<RankerInfo>,
    /// Warnings on data that were left out.
    pub warnings: Vec<String>,
}
