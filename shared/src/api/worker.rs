//! What the page and its worker say to each other.
//!
//! A message is an array of two: an envelope as JSON, and beside it what JSON is no good for (a
//! `File`, a long text that is passed on as it is, or a `Blob` where the text is so long that the
//! page should not touch it). Every ask gets any number of [`WorkerResponse::Progress`] and then
//! exactly one other tell with the same number. The worker begins with [`WorkerResponse::Ready`]
//! under number 0, since what comes before its handler is set is lost.

use serde::{Deserialize, Serialize};

use crate::api::{ErrorResponse, endpoints};
use crate::error::ReadReport;
use crate::probe::transfer::TransferQuerySource;
use crate::report::ReportTable;
use crate::reproduce::PaperTable;
use crate::score::RankerInfo;
use crate::study::StudyDefinition;
use crate::study::playground::PlaygroundManipulation;
use crate::text::Analyzer;
use crate::word_vectors::glove;

endpoints! {
    // One for each manipulation; none where it changes nothing.
    Post "/worker/manipulate" ManipulateTextRequest => Vec<Option<String>>;
    Post "/worker/printed" GetPublishedTableRequest => Vec<ReportTable>;
}

/// The name of the study that is made in the page. It never leaves the browser.
pub const LOCAL_STUDY: &str = "local";

/// Changes a text by manipulations. The worker alone answers it, of any text: nothing that
/// somebody types has to leave the browser for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ManipulateTextRequest {
    /// What is to be changed, and how.
    pub manipulation: PlaygroundManipulation,
}

/// A paper's table without a study, with examples of what is wrong in it. The worker alone answers
/// it, so that the page does without what the examples are computed by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GetPublishedTableRequest {
    /// Which table.
    pub table: PaperTable,
}

/// An ask or a tell with its number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WorkerMessage<T> {
    /// Chosen by the page, ascending from 1; 0 for [`WorkerResponse::Ready`].
    pub id: u64,
    /// What is said.
    pub body: T,
}

/// What the page asks for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "ask")]
pub enum WorkerRequest {
    /// Read the `File` beside this message and keep what it holds, in place of an earlier file
    /// of the same name. Answered by [`WorkerResponse::FileRead`].
    ReadFile {
        /// Name of the file.
        name: String,
        /// What it is; none lets its name and its first lines decide.
        kind: Option<FileKind>,
    },
    /// Forget a file. Answered by [`WorkerResponse::Done`].
    RemoveFile {
        /// Name of the file.
        name: String,
    },
    /// Make [`LOCAL_STUDY`] of the files that were read. Answered by
    /// [`WorkerResponse::StudyReady`].
    CreateStudy {
        /// With `name` [`LOCAL_STUDY`]; its rankers are formulas.
        definition: Box<StudyDefinition>,
        /// Today: `2026-11-20`.
        date: String,
    },
    /// Hold the study whose JSON stands beside this message. Answered by [`WorkerResponse::Done`],
    /// for [`LOCAL_STUDY`] by [`WorkerResponse::StudyReady`].
    LoadStudy {
        /// By which it will be asked for.
        study: String,
        /// Where it came from, to be named if it is none.
        file: String,
    },
    /// Put the texts of a held study back from the array of `File`s of a corpus beside this
    /// message. Answered by [`WorkerResponse::Done`].
    RestoreTexts {
        /// By which it is held.
        study: String,
    },
    /// Answer a request of `shared::api` about a study that is held; its reply is the text
    /// beside [`WorkerResponse::Payload`].
    CallEndpoint {
        /// [`crate::api::Endpoint::PATH`].
        path: String,
        /// The request as JSON.
        request: String,
    },
    /// Train word vectors on the texts that were read. Answered by
    /// [`WorkerResponse::VectorsTrained`], with a `Blob` of GloVe's text beside it.
    TrainVectors {
        /// How texts become tokens.
        analyzer: Analyzer,
        /// How vectors are trained.
        settings: glove::GloveSettings,
    },
    /// What became of the local study of an earlier visit. Answered by
    /// [`WorkerResponse::StudyReady`], or by [`WorkerResponse::Done`] where there is none.
    GetLocalStudy,
    /// [`LOCAL_STUDY`] as a `Blob` of JSON, beside [`WorkerResponse::Payload`].
    ExportStudy,
    /// The unique pairs of [`LOCAL_STUDY`] as a `Blob` of JSON lines, beside
    /// [`WorkerResponse::Payload`].
    ExportPairs,
    /// The unique pairs of [`LOCAL_STUDY`] as a `Blob` of a `CreateJobRequest`, beside
    /// [`WorkerResponse::Payload`].
    BuildJob {
        /// A model of the server, by its `spec`.
        model: String,
        /// The title, as shown to readers.
        title: String,
    },
    /// Add to [`LOCAL_STUDY`] the `JobScoresResponse` whose JSON stands beside this message.
    /// Answered by [`WorkerResponse::StudyReady`].
    AddJobScores {
        /// How [`LocalStudySummary::instances_hash`] of the study begins that the scores are for.
        hash_prefix: String,
    },
    /// Add to [`LOCAL_STUDY`] the scores in the `File` beside this message. Answered by
    /// [`WorkerResponse::StudyReady`].
    AddScoreFile {
        /// Name of the file.
        name: String,
    },
    /// Stop what was asked under a number; it is answered by [`WorkerResponse::Canceled`].
    Cancel {
        /// Of its envelope.
        number: u64,
    },
    /// Forget all files and [`LOCAL_STUDY`]. Answered by [`WorkerResponse::Done`].
    Clear,
}

/// What the worker has to say.
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
    /// What stands beside this message.
    Payload,
    /// Done; there is nothing to say.
    Done,
    /// The request was canceled.
    Canceled,
    /// What is wrong, and the way out.
    Failed(ErrorResponse),
}

/// How far a piece of work is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct WorkerProgress {
    /// Which part of the work.
    pub stage: WorkerStage,
    /// Of `of`.
    pub done: u64,
    /// In the unit of the stage.
    pub total: u64,
    /// In the unit of the stage; 0 before anything can be said.
    pub per_s: f64,
    /// Until the stage ends, at the present speed.
    pub remaining_s: Option<f64>,
    /// What the stage has found so far: instances.
    pub n_instances: Option<u64>,
}

/// A part of the work, in the order of the pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WorkerStage {
    /// Bytes of a file.
    Read,
    /// Texts analyzed.
    Index,
    /// Queries whose texts were manipulated.
    Manipulate,
    /// Queries whose texts were chosen and compared.
    Mine,
    /// Texts analyzed in other ways, for the audit.
    Audit,
    /// Queries scored, one ranker after the other.
    Score,
    /// Texts in which neighbors were counted, for word vectors.
    CountCooccurrences,
    /// Rounds of training word vectors.
    TrainVectors,
}

impl WorkerStage {
    /// The stages of [`WorkerRequest::CreateStudy`]; [`WorkerStage::Manipulate`] for a study with
    /// behavioral tests, [`WorkerStage::Audit`] for one that asks other analyzers.
    pub const CREATE_STUDY: [WorkerStage; 5] = [
        WorkerStage::Index,
        WorkerStage::Manipulate,
        WorkerStage::Mine,
        WorkerStage::Audit,
        WorkerStage::Score,
    ];
}

/// What a file holds, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileKind {
    /// Texts, one JSON object a line.
    CorpusJsonl,
    /// Texts: `id<TAB>text`.
    PassagesTsv,
    /// Texts: `id<TAB>address<TAB>title<TAB>text`.
    DocumentsTsv,
    /// Documents, one a line.
    DocumentLines,
    /// Queries, one JSON object a line.
    QueriesJsonl,
    /// Queries: `id<TAB>query`, or TREC's marked-up topics.
    Topics,
    /// Judgments, TREC's four columns or BEIR's three.
    Qrels,
    /// A ranked list, TREC's six columns.
    Run,
    /// Word vectors, as GloVe or word2vec writes them.
    Vectors,
    /// Queries by split: `id<TAB>split`.
    Splits,
    /// Pairs of texts, one JSON object a line, of which the first is preferred.
    PreferencePairs,
    /// Pairs of texts of which neither is preferred.
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

    /// What it brings to a collection.
    pub fn collection_part(self) -> CollectionPart {
        match self {
            FileKind::CorpusJsonl
            | FileKind::PassagesTsv
            | FileKind::DocumentsTsv
            | FileKind::DocumentLines => CollectionPart::Documents,
            FileKind::QueriesJsonl | FileKind::Topics => CollectionPart::Queries,
            FileKind::Qrels => CollectionPart::Qrels,
            FileKind::Run => CollectionPart::Run,
            FileKind::Vectors => CollectionPart::Vectors,
            FileKind::Splits => CollectionPart::Splits,
            FileKind::PreferencePairs | FileKind::SymmetricPairs => CollectionPart::TransferPairs,
        }
    }
}

/// A part of a collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CollectionPart {
    /// What is searched.
    Documents,
    /// What is looked for.
    Queries,
    /// What people judged.
    Qrels,
    /// What a ranker found.
    Run,
    /// What words mean.
    Vectors,
    /// Which queries belong together.
    Splits,
    /// A transfer set.
    TransferPairs,
}

/// A file that was read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FileSummary {
    /// Name of the file.
    pub name: String,
    /// What it was taken for.
    pub kind: FileKind,
    /// Size of the file, packed if it is.
    pub n_bytes: u64,
    /// How long it took.
    pub duration_ms: f64,
    /// Rows taken and refused.
    pub report: ReadReport,
    /// Of pairs, where their queries come from: given if every pair has one, else inferred.
    pub query_source: Option<TransferQuerySource>,
}

/// Word vectors that were trained.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TrainedVectorsSummary {
    /// Number of words with a vector.
    pub n_words: u64,
    /// Dimensions of a vector.
    pub n_dims: u64,
    /// Pairs of words that are neighbors.
    pub n_cooccurrences: u64,
    /// Mean weighted squared error in the first pass and in the last.
    pub loss: [f64; 2],
}

/// What the local study holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LocalStudySummary {
    /// Hash of its instances: tells one local study from another.
    #[serde(alias = "hash")]
    pub instances_hash: String,
    /// Queries.
    pub n_queries: u64,
    /// Documents of the whole collection.
    pub n_docs: u64,
    /// Instances of all axioms and modes.
    pub n_instances: u64,
    /// Unique pairs of query and text.
    pub n_pairs: u64,
    /// Those that have scored.
    pub rankers: Vec<RankerInfo>,
    /// What was left out or should be known.
    pub warnings: Vec<String>,
}
