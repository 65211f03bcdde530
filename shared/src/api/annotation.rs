//! Annotation tasks: what annotators receive and send, what curators create and see.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::endpoints;
use super::markdown::MarkdownNode;
use crate::annotation::agreement::{AgreementCoefficients, InterAnnotatorAgreementReport};
use crate::annotation::assignment::ItemAssignment;
use crate::annotation::content::AnnotationItemContent;
use crate::annotation::estimate::AgreementEstimates;
use crate::annotation::export::ExportedPreferenceSource;
use crate::annotation::judgments::{AdjudicationQueueItem, ItemAnswers, ItemConsensus};
use crate::annotation::log::AnnotationEventValidity;
use crate::annotation::progress::AnnotationTaskProgress;
use crate::annotation::task::{
    AnnotationItem, AnnotationTaskDefinition, AnnotatorSimulation, TrainingFeedback,
};
use crate::annotation::trial::AnnotationTrialItem;
use crate::annotation::{
    AnnotationEventKey, ClientAnnotationEvent, ItemNo, PersonId, ReceivedAnnotationEvent,
};
use crate::probe::{AxiomVariant, Probe, ScoreClaimKind};

endpoints! {
    Get "/api/annotation/tasks" ListTasksRequest => Vec<AnnotationTaskSummary>;
    Get "/api/annotation/tasks/{task}" GetTaskRequest => TaskResponse;
    // A POST, since leases are stored.
    Post "/api/annotation/tasks/{task}/leases" LeaseItemsRequest => LeaseItemsResponse;
    Get "/api/annotation/tasks/{task}/items/{item}" GetAssignedItemRequest => AssignedItem;
    Get "/api/annotation/tasks/{task}/events" ListOwnEventsRequest => Vec<EventWithStatus>;
    Post "/api/annotation/tasks/{task}/events" SubmitEventsRequest => SubmitEventsResponse;
    // A POST, since guidelines and gold items may be longer than an address.
    Post "/api/annotation/tasks/preview" PreviewTaskRequest => TaskComposition;
    Post "/api/annotation/tasks" CreateTaskRequest => TaskDefinitionResponse;
    Get "/api/annotation/tasks/{task}/definition"
        GetTaskDefinitionRequest => TaskDefinitionResponse;
    Patch "/api/annotation/tasks/{task}" UpdateTaskRequest => TaskDefinitionResponse;
    Get "/api/annotation/tasks/{task}/progress" GetTaskProgressRequest => TaskProgressResponse;
    Get "/api/annotation/tasks/{task}/agreement" GetAgreementRequest => AgreementResponse;
    // Items with disagreement come first.
    Get "/api/annotation/tasks/{task}/disputes" ListDisputesRequest => Vec<AdjudicationQueueItem>;
    Get "/api/annotation/tasks/{task}/items/{item}/history"
        GetItemHistoryRequest => ItemHistoryResponse;
    // The reply is the file itself.
    Get "/api/annotation/tasks/{task}/export" ExportTaskRequest => String;
    Get "/api/studies/{study}/human-judgments"
        ListStudyHumanJudgmentsRequest => Vec<AnnotationTaskResults>;
    Get "/api/studies/{study}/trial-items" GetTrialItemsRequest => Vec<AnnotationTrialItem>;
    Get "/api/annotation/tasks/{task}/trial-items"
        GetTaskTrialItemsRequest => Vec<AnnotationTrialItem>;
    Get "/api/studies/{study}/probes/{probe}/instances/{number}/annotations"
        ListInstanceAnnotationsRequest => Vec<InstanceAnnotations>;
}

/// The maximum number of events in one request.
pub const MAX_EVENTS_PER_REQUEST: usize = 100;

/// The maximum number of items that one request can ask for.
pub const MAX_ITEMS_PER_REQUEST: u32 = 32;

/// The id of a task, assigned by the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(transparent)]
pub struct TaskId(pub u32);

/// The status of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AnnotationTaskStatus {
    /// The task is visible to curators only.
    Draft,
    /// Annotators answer its items.
    Open,
    /// Annotators get no more items; answers that they still have to send are accepted.
    Closed,
}

/// Lists every task that the caller may see: for visitors those with simulated annotators and
/// public results, for annotators those that are or were open, for curators all. The newest comes
/// first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ListTasksRequest {}

/// A task in a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AnnotationTaskSummary {
    /// The id of the task, as in its address.
    pub task: TaskId,
    /// The title, as shown above the items.
    pub title: String,
    /// The name of the study.
    pub study: String,
    /// The status of the task.
    pub status: AnnotationTaskStatus,
    /// Whether its results are shown to everybody on the page of a published study.
    pub are_results_public: bool,
    /// The names of the probes whose instances are drawn, for example `M-TDC`.
    pub probe_names: Vec<String>,
    /// When it was created, in milliseconds since 1970.
    pub created_ms: u64,
    /// Whether its annotators are simulated, and no people.
    #[serde(default)]
    pub is_simulated: bool,
    /// The progress of the task.
    pub progress: TaskProgressSummary,
}

/// The progress of the caller and of all annotators.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TaskProgressSummary {
    /// The number of items, gold items included, that the caller has answered.
    pub n_own_decisions: u32,
    /// The number of items that the caller has skipped.
    pub n_own_skips: u32,
    /// The number of items that the caller could still get now.
    pub n_available: u32,
    /// The number of answers to drawn items that count, at most the overlap for each.
    pub n_decisions: u64,
    /// The number of answers required: drawn items times overlap.
    pub n_decisions_required: u64,
    /// The number of people who have answered; simulated annotators are not among them.
    pub n_annotators: u32,
    /// The number of simulated annotators who have answered; a task with any has no people.
    #[serde(default)]
    pub n_simulated_annotators: u32,
}

/// Returns what an annotator reads about a task before the first item.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct GetTaskRequest {
    /// The id of the task.
    pub task: TaskId,
}

/// A task as its annotators see it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TaskResponse {
    /// The summary shown in lists.
    pub summary: AnnotationTaskSummary,
    /// The guidelines, in Markdown; untrusted.
    pub guidelines: String,
    /// The guidelines without HTML, images and unsafe links.
    pub parsed_guidelines: Vec<MarkdownNode>,
    /// Tags that can be added to an answer.
    pub tags: Vec<String>,
    /// Whether rankers are hidden.
    pub is_blind: bool,
    /// The number of items in the task. An event about any other item is rejected.
    pub n_items: u32,
    /// The number of training items that the caller has not answered yet.
    pub n_training: u32,
}

/// Leases the next items of an open task to the caller for a limited time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LeaseItemsRequest {
    /// The id of the task.
    pub task: TaskId,
    /// The number of items, 1 to [`MAX_ITEMS_PER_REQUEST`].
    pub n_items: u32,
}

/// The items leased to the caller.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct LeaseItemsResponse {
    /// The items, in the order in which to answer them.
    pub items: Vec<AssignedItem>,
    /// The number of further items that become available if leases of others expire.
    pub n_leased_to_others: u32,
    /// The progress of the task.
    #[serde(alias = "standing")]
    pub progress: TaskProgressSummary,
}

/// An item that is assigned to the caller.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AssignedItem {
    /// The item, and the order in which its documents are displayed.
    pub assignment: ItemAssignment,
    /// The query and the documents of the item.
    pub content: AnnotationItemContent,
    /// When the lease expires, in milliseconds since 1970; `None` if the item has been answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease_expires_ms: Option<u64>,
    /// For a training item, the feedback to show after the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feedback: Option<TrainingFeedback>,
}

/// Returns an item that was leased to the caller or answered by them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct GetAssignedItemRequest {
    /// The id of the task.
    pub task: TaskId,
    /// Number of the item within its task, from 0.
    pub item: ItemNo,
}

/// Lists the caller's own events, newest first, at most 200.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ListOwnEventsRequest {
    /// The id of the task.
    pub task: TaskId,
}

/// An event and its status.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct EventWithStatus {
    /// The event.
    pub entry: ReceivedAnnotationEvent,
    /// The status of the event.
    pub status: AnnotationEventValidity,
}

/// Submits events. An event whose outcome is stored or duplicate has been written to disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SubmitEventsRequest {
    /// The id of the task.
    pub task: TaskId,
    /// The events, in the order in which they happened, 1 to [`MAX_EVENTS_PER_REQUEST`].
    pub events: Vec<ClientAnnotationEvent>,
}

/// One receipt for each submitted event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SubmitEventsResponse {
    /// One receipt for each event, in their order.
    pub receipts: Vec<EventKeyWithOutcome>,
    /// The progress of the task.
    #[serde(alias = "standing")]
    pub progress: TaskProgressSummary,
}

/// The outcome of a submitted event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct EventKeyWithOutcome {
    /// The key of the event.
    pub key: AnnotationEventKey,
    /// The outcome.
    pub outcome: EventOutcome,
}

/// Whether an event was accepted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum EventOutcome {
    /// It was stored.
    #[serde(alias = "kept")]
    Stored,
    /// It had already been stored.
    #[serde(alias = "known")]
    Duplicate,
    /// It was rejected and must not be sent again unchanged.
    #[serde(alias = "refused")]
    Rejected {
        /// The reason.
        reason: String,
    },
}

/// Returns the composition of a task before it is created. Curators only.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PreviewTaskRequest {
    /// The task as written so far.
    pub task: AnnotationTaskDefinition,
}

/// The number of items of a task, by purpose and probe.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TaskComposition {
    /// The number of instances that could be drawn.
    pub n_candidates: u64,
    /// The number of training items.
    pub n_training_items: u32,
    /// The number of gold items, whose answer is known.
    pub n_gold_items: u32,
    /// The number of items that are drawn.
    pub n_sampled_items: u32,
    /// The number of drawn items of each probe, in the order of the task.
    pub probes: Vec<(Probe, u32)>,
    /// The number of queries of the drawn items.
    pub n_queries: u32,
}

/// Creates a task as a draft. Curators only.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CreateTaskRequest {
    /// The task as written by a curator.
    pub task: AnnotationTaskDefinition,
}

/// Returns the full definition of a task. Curators only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct GetTaskDefinitionRequest {
    /// The id of the task, as in its address.
    pub task: TaskId,
}

/// A task with its full definition, as curators see it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TaskDefinitionResponse {
    /// The summary shown in lists.
    #[serde(alias = "card")]
    pub summary: AnnotationTaskSummary,
    /// The definition with which it was created.
    pub definition: AnnotationTaskDefinition,
    /// The composition of its items.
    pub composition: TaskComposition,
}

/// Changes a task; fields that are `None` stay unchanged. Curators only.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct UpdateTaskRequest {
    /// The id of the task to change.
    pub task: TaskId,
    /// The new status; a task that was open cannot become a draft again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<AnnotationTaskStatus>,
    /// Whether its results are shown on the page of a published study.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub are_results_public: Option<bool>,
    /// The guidelines, in Markdown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guidelines: Option<String>,
}

/// The name of a person who is given by id elsewhere in a response.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PersonIdWithName {
    /// The id of the person.
    pub person: PersonId,
    /// The display name.
    pub name: String,
    /// Whether this is a simulated annotator, not a person.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_simulated: bool,
}

/// Returns the progress of a task and of its annotators. Curators only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct GetTaskProgressRequest {
    /// The id of the task.
    pub task: TaskId,
}

/// The progress of a task and the names of its annotators.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TaskProgressResponse {
    /// The progress of the task.
    pub progress: AnnotationTaskProgress,
    /// The names of its annotators.
    #[serde(alias = "names")]
    pub annotators: Vec<PersonIdWithName>,
}

/// Returns the agreement between annotators. Curators only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct GetAgreementRequest {
    /// The id of the task.
    pub task: TaskId,
}

/// The inter-annotator agreement of a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AgreementResponse {
    /// The agreement.
    pub agreement: InterAnnotatorAgreementReport,
    /// The names of all annotators.
    #[serde(alias = "names")]
    pub annotators: Vec<PersonIdWithName>,
}

/// Returns the adjudication queue. Curators only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ListDisputesRequest {
    /// The id of the task.
    pub task: TaskId,
}

/// Returns one item with all its events. Curators only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct GetItemHistoryRequest {
    /// The id of the task.
    pub task: TaskId,
    /// Number of the item within its task, from 0.
    pub item: ItemNo,
}

/// An item with its answers and all its events.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ItemHistoryResponse {
    /// The item: its instance and its purpose.
    pub item: AnnotationItem,
    /// Its texts and the preferences of the rankers.
    pub content: AnnotationItemContent,
    /// The answers of the annotators.
    pub answers: ItemAnswers,
    /// All events, in the order in which they arrived.
    pub events: Vec<EventWithStatus>,
    /// The names of all annotators.
    #[serde(alias = "names")]
    pub annotators: Vec<PersonIdWithName>,
}

/// Returns the task as a file. Curators only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ExportTaskRequest {
    /// The id of the task to export.
    pub task: TaskId,
    /// The format of the file.
    #[serde(default)]
    pub format: TaskExportFormat,
    /// Whether the names of people are included next to their ids.
    #[serde(default)]
    pub include_names: bool,
}

/// The format of a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case", tag = "format")]
pub enum TaskExportFormat {
    /// Every event with its history, one per line.
    #[default]
    Jsonl,
    /// The same events as a table.
    Csv,
    /// Preferences in the format of trec_eval.
    Prefs {
        /// The source of the preferences.
        preferences: ExportedPreferenceSource,
    },
}

/// Returns human judgments next to the rankers of a study, from the tasks whose results the caller
/// may see.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ListStudyHumanJudgmentsRequest {
    /// Name of the study.
    pub study: String,
}

/// The results of a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AnnotationTaskResults {
    /// Identifier of the task.
    pub task: TaskId,
    /// Title of the task.
    pub title: String,
    /// The status of the task.
    pub status: AnnotationTaskStatus,
    /// Whether everybody sees the results.
    pub is_public: bool,
    /// Whether the task belongs to an earlier version of the study, with other instances.
    pub is_outdated: bool,
    /// The number of people who answered; 0 if the annotators are simulated.
    pub n_people: u32,
    /// The agreement between people; without values if the annotators are simulated.
    pub agreement: AgreementCoefficients,
    /// The agreement of axiom, rankers and judgments with people; `None` if the task is outdated or
    /// its annotators are simulated.
    pub estimates: Option<AgreementEstimates>,
    /// The results of simulated annotators, if the task has those in place of people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub simulated: Option<SimulatedTaskResults>,
}

/// The results of a task whose annotators are simulated. They say nothing about people.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SimulatedTaskResults {
    /// How the annotators are simulated.
    pub simulation: AnnotatorSimulation,
    /// The agreement between simulated annotators.
    pub agreement: AgreementCoefficients,
    /// The agreement of axiom, rankers and judgments with simulated annotators, which take the
    /// place of people in the names of its fields; `None` if the task is outdated.
    pub estimates: Option<AgreementEstimates>,
}

/// Lists the items of tasks that are of an instance, from the tasks whose results the caller may
/// see, the newest task first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ListInstanceAnnotationsRequest {
    /// Name of the study that has the instance.
    pub study: String,
    /// The axiom or behavioral test.
    pub probe: Probe,
    /// The variant of the axiom; `None` selects the first of the study.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<AxiomVariant>,
    /// Index among the instances of the probe and variant, from 0.
    pub number: u64,
}

/// The item of a task that is of an instance, with its result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct InstanceAnnotations {
    /// The id of the task.
    pub task: TaskId,
    /// The title of the task.
    pub title: String,
    /// Number of the item within its task, from 0.
    pub item: ItemNo,
    /// Whether the votes are those of simulated annotators, not of people.
    pub is_simulated: bool,
    /// The number of votes.
    pub n_votes: u32,
    /// The kind of the claim, which says what the consensus is about.
    pub claim: ScoreClaimKind,
    /// The majority of the votes, or the curator's adjudication.
    pub consensus: ItemConsensus,
}

/// Returns five items of a task whose annotators are simulated, with their answers, for trying out
/// the review page. Nothing is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct GetTaskTrialItemsRequest {
    /// The id of the task.
    pub task: TaskId,
    /// Seed of the draw.
    #[serde(default)]
    pub seed: u64,
}

/// Returns some instances of a study for trying out the review page. Nothing is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct GetTrialItemsRequest {
    /// Name of the study.
    pub study: String,
    /// Seed of the draw.
    #[serde(default = "default_trial_seed")]
    pub seed: u64,
}

fn default_trial_seed() -> u64 {
    42
}
