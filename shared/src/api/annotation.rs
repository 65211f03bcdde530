//! Review tasks: what annotators get and send, what curators make and see.

use serde::{Deserialize, Serialize};

use super::endpoints;
use crate::annotation::agreement::{AgreementCoefficients, AgreementReport};
use crate::annotation::assignment::Assignment;
use crate::annotation::content::ItemContent;
use crate::annotation::estimate::AgreementEstimates;
use crate::annotation::export::PreferenceSource;
use crate::annotation::judgments::{Dispute, ItemAnswers};
use crate::annotation::log::EventStatus;
use crate::annotation::progress::TaskProgress;
use crate::annotation::task::{AnnotationItem, AnnotationTask, TrainingFeedback};
use crate::annotation::trial::TrialItem;
use crate::annotation::{AnnotationEvent, EventKey, ItemNo, LogEntry, PersonId};
use crate::probe::Probe;

endpoints! {
    Get "/api/review/tasks" ListTasksRequest => Vec<TaskSummary>;
    Get "/api/review/task" GetTaskRequest => TaskResponse;
    // Promises are kept.
    Post "/api/review/next" LeaseItemsRequest => LeaseItemsResponse;
    Get "/api/review/item" GetAssignedItemRequest => AssignedItem;
    Get "/api/review/mine" ListOwnEventsRequest => Vec<EventRecord>;
    Post "/api/review/send" SubmitEventsRequest => SubmitEventsResponse;
    // A task with guidelines and known answers is longer than an address may be.
    Post "/api/review/preview" PreviewTaskRequest => TaskComposition;
    Post "/api/review/make" CreateTaskRequest => TaskDefinitionResponse;
    Get "/api/review/whole" GetTaskDefinitionRequest => TaskDefinitionResponse;
    Post "/api/review/change" UpdateTaskRequest => TaskDefinitionResponse;
    Get "/api/review/progress" GetTaskProgressRequest => TaskProgressResponse;
    Get "/api/review/agreement" GetAgreementRequest => AgreementResponse;
    // Disagreements first.
    Get "/api/review/disputes" ListDisputesRequest => Vec<Dispute>;
    Get "/api/review/history" GetItemHistoryRequest => ItemHistoryResponse;
    // The file itself.
    Get "/api/review/export" ExportTaskRequest => String;
    Get "/api/review/results" ListHumanJudgmentsRequest => Vec<TaskResults>;
    Get "/api/review/try" GetTrialItemsRequest => Vec<TrialItem>;
}

/// One request sends at most so many events.
pub const MAX_EVENTS_PER_REQUEST: usize = 100;

/// One request asks for at most so many items.
pub const MAX_ITEMS_PER_REQUEST: u32 = 32;

/// A task, as the server numbers them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(transparent)]
pub struct TaskId(pub u32);

/// Whether a task is worked on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewState))]
#[serde(rename_all = "kebab-case")]
pub enum TaskStatus {
    /// Only curators see it.
    Draft,
    /// Annotators decide.
    Open,
    /// Annotators no longer get items; what they still have to send is taken.
    Closed,
}

/// Every task that the caller may see: of visitors none, of annotators those that are or were
/// open, of curators all. The newest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewTasks))]
pub struct ListTasksRequest {}

/// A task in a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewCard))]
pub struct TaskSummary {
    /// The task.
    pub task: TaskId,
    /// What people read above the queue.
    pub title: String,
    /// The name of the study.
    pub study: String,
    /// Whether it is worked on.
    pub status: TaskStatus,
    /// Whether its results stand on the page of a published study, for everybody.
    pub are_results_public: bool,
    /// Probes whose instances are drawn from.
    pub probes: Vec<Probe>,
    /// When it was made, in milliseconds since 1970.
    pub created_ms: u64,
    /// How far it is.
    pub progress: TaskProgressSummary,
}

/// How far the caller and everybody are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewStanding))]
pub struct TaskProgressSummary {
    /// Items of work, gold among them, that the caller has decided on.
    pub n_own_decisions: u32,
    /// Items that the caller has passed over.
    pub n_own_skips: u32,
    /// Items of work that the caller could still get now.
    pub n_available: u32,
    /// Decisions of everybody on drawn items that count, at most the overlap for each.
    pub n_decisions: u64,
    /// Decisions that are asked for: drawn items times overlap.
    pub n_decisions_required: u64,
    /// People who have decided.
    pub n_annotators: u32,
}

/// What an annotator reads of a task before the first item.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewOneTask))]
pub struct GetTaskRequest {
    /// The task. (so in every request below that says "Which." or "Of which task.").
    pub task: TaskId,
}

/// A task as its annotators see it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewSheet))]
pub struct TaskResponse {
    /// What the list shows.
    pub summary: TaskSummary,
    /// Markdown, untrusted.
    pub guidelines: String,
    /// Tags that can be put on a decision by one click.
    pub tags: Vec<String>,
    /// Whether rankers are hidden.
    pub is_blind: bool,
    /// Items in the task: an event about another is refused.
    pub n_items: u32,
    /// Training items that the caller has not decided on yet.
    pub n_training: u32,
}

/// The next items of an open task for the caller, promised for a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewNextItems))]
pub struct LeaseItemsRequest {
    /// The name of the task.
    pub task: TaskId,
    /// How many, 1 to [`MAX_ITEMS_PER_REQUEST`].
    pub n_items: u32,
}

/// The items leased to the caller.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewHanded))]
pub struct LeaseItemsResponse {
    /// The items in the order in which to decide them.
    pub items: Vec<AssignedItem>,
    /// Further items that may come when promises to others run out.
    pub n_leased_to_others: u32,
    /// How far the task is.
    pub standing: TaskProgressSummary,
}

/// An item for the caller.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewHandedItem))]
pub struct AssignedItem {
    /// Which, and how its texts stand on the screen.
    pub assignment: Assignment,
    /// The query and the documents of the item.
    pub content: ItemContent,
    /// Until then it is promised, in milliseconds since 1970; none for one that was decided on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease_expires_ms: Option<u64>,
    /// Of training: what to show after the decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feedback: Option<TrainingFeedback>,
}

/// Items of the caller again: those that they have been given or have decided on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewAgain))]
pub struct GetAssignedItemRequest {
    /// The name of the task.
    pub task: TaskId,
    /// The item.
    pub item: ItemNo,
}

/// What the caller has done, the newest first, at most 200 events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewMine))]
pub struct ListOwnEventsRequest {
    /// The name of the task.
    pub task: TaskId,
}

/// Something that was done, and what has become of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewDone))]
pub struct EventRecord {
    /// What.
    pub entry: LogEntry,
    /// What has become of it.
    pub status: EventStatus,
}

/// Sends what was done. An event that the reply calls kept or known is on the disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewSend))]
pub struct SubmitEventsRequest {
    /// The name of the task.
    pub task: TaskId,
    /// In the order in which it was done, 1 to [`MAX_EVENTS_PER_REQUEST`].
    pub events: Vec<AnnotationEvent>,
}

/// One receipt for each submitted event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewSent))]
pub struct SubmitEventsResponse {
    /// One for each event, in their order.
    pub receipts: Vec<EventReceipt>,
    /// How far the task is.
    pub standing: TaskProgressSummary,
}

/// What became of an event that was sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewTaken))]
pub struct EventReceipt {
    /// Of which event.
    pub key: EventKey,
    /// What.
    pub outcome: EventOutcome,
}

/// Whether an event was taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewOutcome))]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum EventOutcome {
    /// It was.
    #[serde(alias = "kept")]
    Stored,
    /// It was before.
    #[serde(alias = "known")]
    Duplicate,
    /// It never will be, as it is.
    #[serde(alias = "refused")]
    Rejected {
        /// Why.
        reason: String,
    },
}

/// What a task would be made of. For curators.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewPreview))]
pub struct PreviewTaskRequest {
    /// The task as it is written so far.
    pub task: AnnotationTask,
}

/// Number of items of a task by purpose and probe.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewMade))]
pub struct TaskComposition {
    /// Instances that could be drawn.
    pub n_candidates: u64,
    /// Items to learn by.
    pub n_training_items: u32,
    /// Items with a known answer.
    pub n_gold_items: u32,
    /// Items that are drawn.
    pub n_sampled_items: u32,
    /// Those of them of each probe, in the order of the task.
    pub probes: Vec<(Probe, u32)>,
    /// Queries that they are of.
    pub n_queries: u32,
}

/// Makes a task, as a draft. For curators.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewMake))]
pub struct CreateTaskRequest {
    /// As a curator writes it.
    pub task: AnnotationTask,
}

/// Everything of a task. For curators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewWholeTask))]
pub struct GetTaskDefinitionRequest {
    /// The task.
    pub task: TaskId,
}

/// A task with its full definition, as curators see it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewWhole))]
pub struct TaskDefinitionResponse {
    /// What the list shows.
    pub card: TaskSummary,
    /// As it was made.
    pub definition: AnnotationTask,
    /// What it was made of.
    pub composition: TaskComposition,
}

/// Changes a task. For curators. What is none stays.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewChange))]
pub struct UpdateTaskRequest {
    /// The task.
    pub task: TaskId,
    /// A task that was open is never a draft again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<TaskStatus>,
    /// Whether its results stand on the page of a published study.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub are_results_public: Option<bool>,
    /// In Markdown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guidelines: Option<String>,
}

/// A person with a name, beside numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewNamed))]
pub struct PersonName {
    /// Who.
    pub person: PersonId,
    /// As they chose it.
    pub name: String,
}

/// How far a task is, and how people do. For curators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewAskProgress))]
pub struct GetTaskProgressRequest {
    /// The name of the task.
    pub task: TaskId,
}

/// The progress of a task and the names of its annotators.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewProgressed))]
pub struct TaskProgressResponse {
    /// How far it is.
    pub progress: TaskProgress,
    /// Names of the people in it.
    #[serde(alias = "names")]
    pub annotators: Vec<PersonName>,
}

/// How far people agree. For curators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewAskAgreement))]
pub struct GetAgreementRequest {
    /// In which task.
    pub task: TaskId,
}

/// The inter-annotator agreement of a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewAgreed))]
pub struct AgreementResponse {
    /// How far they agree.
    pub agreement: AgreementReport,
    /// Everybody in it.
    pub names: Vec<PersonName>,
}

/// The adjudication queue. For curators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewDisputes))]
pub struct ListDisputesRequest {
    /// The name of the task.
    pub task: TaskId,
}

/// Everything about one item. For curators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewHistory))]
pub struct GetItemHistoryRequest {
    /// The name of the task.
    pub task: TaskId,
    /// The item.
    pub item: ItemNo,
}

/// An item with its answers and all its events.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewItemHistory))]
pub struct ItemHistoryResponse {
    /// Which instance, and what it is there for.
    pub item: AnnotationItem,
    /// Its words, with what rankers prefer.
    pub content: ItemContent,
    /// What people say of it.
    pub answers: ItemAnswers,
    /// Everything that was done, in the order in which it came.
    pub events: Vec<EventRecord>,
    /// Everybody in it.
    pub names: Vec<PersonName>,
}

/// The task as a file. For curators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewDownload))]
pub struct ExportTaskRequest {
    /// The task.
    pub task: TaskId,
    /// In which format.
    pub format: TaskExportFormat,
    /// Whether people's names stand in it beside their numbers.
    #[serde(default)]
    pub include_names: bool,
}

/// The format of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewFormat))]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum TaskExportFormat {
    /// Every event with its history, one a line.
    Jsonl,
    /// The same as a table.
    Csv,
    /// Preferences as trec_eval reads them.
    Prefs {
        /// Whose.
        preferences: PreferenceSource,
    },
}

/// What people say beside the rankers of a study: the tasks whose results the caller may see.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewResults))]
pub struct ListHumanJudgmentsRequest {
    /// Name of the study.
    pub study: String,
}

/// What came out of a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewTaskResults))]
pub struct TaskResults {
    /// Identifier of the task.
    pub task: TaskId,
    /// Title of the task.
    pub title: String,
    /// Whether it is worked on.
    pub status: TaskStatus,
    /// Whether everybody sees this.
    pub is_public: bool,
    /// Whether the task is of an earlier state of the study: its numbers are of other instances.
    pub is_outdated: bool,
    /// How many people decided.
    pub n_people: u32,
    /// How far they agree.
    pub agreement: AgreementCoefficients,
    /// Axiom, rankers and judgments against people; none if the task is outdated.
    pub estimates: Option<AgreementEstimates>,
}

/// Some instances of a study to try reviewing with. Nothing is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewTry))]
pub struct GetTrialItemsRequest {
    /// Name of the study.
    pub study: String,
    /// Seed of the draw.
    pub seed: u64,
}
