//! Review tasks: what annotators get and send, what curators make and see.

use serde::{Deserialize, Serialize};

use super::endpoints;
use crate::probe::Probe;
use crate::review::agreement::{Agreements, Coefficients};
use crate::review::content::Content;
use crate::review::estimate::Estimates;
use crate::review::export::Whose;
use crate::review::log::Fate;
use crate::review::progress::Progress;
use crate::review::queue::Offer;
use crate::review::said::{Dispute, Said};
use crate::review::task::{Feedback, Item, Task};
use crate::review::trial::Tried;
use crate::review::{Entry, Event, ItemNo, Key, PersonNo};

endpoints! {
    Get "/api/review/tasks" Tasks => Vec<Card>;
    Get "/api/review/task" OneTask => Sheet;
    // Promises are kept.
    Post "/api/review/next" NextItems => Handed;
    Get "/api/review/item" Again => HandedItem;
    Get "/api/review/mine" Mine => Vec<Done>;
    Post "/api/review/send" Send => Sent;
    // A task with guidelines and known answers is longer than an address may be.
    Post "/api/review/preview" Preview => Made;
    Post "/api/review/make" Make => Whole;
    Get "/api/review/whole" WholeTask => Whole;
    Post "/api/review/change" Change => Whole;
    Get "/api/review/progress" AskProgress => Progressed;
    Get "/api/review/agreement" AskAgreement => Agreed;
    // Disagreements first.
    Get "/api/review/disputes" Disputes => Vec<Dispute>;
    Get "/api/review/history" History => ItemHistory;
    // The file itself.
    Get "/api/review/export" Download => String;
    Get "/api/review/results" Results => Vec<TaskResults>;
    Get "/api/review/try" Try => Vec<Tried>;
}

/// One request sends at most so many events.
pub const MOST_EVENTS: usize = 100;

/// One request asks for at most so many items.
pub const MOST_OFFERS: u32 = 32;

/// A task, as the server numbers them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(transparent)]
pub struct TaskNo(pub u32);

/// Whether a task is worked on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewState))]
#[serde(rename_all = "kebab-case")]
pub enum State {
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
pub struct Tasks {}

/// A task in a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewCard))]
pub struct Card {
    /// Which.
    pub task: TaskNo,
    /// What people read above the queue.
    pub title: String,
    /// The name of the study.
    pub study: String,
    /// Whether it is worked on.
    pub state: State,
    /// Whether its results stand on the page of a published study, for everybody.
    pub results_public: bool,
    /// Probes whose instances are drawn from.
    pub probes: Vec<Probe>,
    /// When it was made, in milliseconds since 1970.
    pub made_ms: u64,
    /// How far it is.
    pub standing: Standing,
}

/// How far the caller and everybody are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewStanding))]
pub struct Standing {
    /// Items of work, gold among them, that the caller has decided on.
    pub n_mine: u32,
    /// Items that the caller has passed over.
    pub n_skipped: u32,
    /// Items of work that the caller could still get now.
    pub n_left: u32,
    /// Decisions of everybody on drawn items that count, at most the overlap for each.
    pub n_filled: u64,
    /// Decisions that are asked for: drawn items times overlap.
    pub n_slots: u64,
    /// People who have decided.
    pub n_people: u32,
}

/// What an annotator reads of a task before the first item.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewOneTask))]
pub struct OneTask {
    /// Which.
    pub task: TaskNo,
}

/// Reply to [`OneTask`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewSheet))]
pub struct Sheet {
    /// What the list shows.
    pub card: Card,
    /// Markdown, untrusted.
    pub guidelines: String,
    /// Tags that can be put on a decision by one click.
    pub tags: Vec<String>,
    /// Whether rankers are hidden.
    pub blind: bool,
    /// Items in the task: an event about another is refused.
    pub n_items: u32,
    /// Training items that the caller has not decided on yet.
    pub n_training: u32,
}

/// The next items of an open task for the caller, promised for a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewNextItems))]
pub struct NextItems {
    /// Of which task.
    pub task: TaskNo,
    /// How many, 1 to [`MOST_OFFERS`].
    pub n: u32,
}

/// Reply to [`NextItems`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewHanded))]
pub struct Handed {
    /// In this order.
    pub items: Vec<HandedItem>,
    /// Further items that may come when promises to others run out.
    pub n_leased: u32,
    /// How far the task is.
    pub standing: Standing,
}

/// An item for the caller.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewHandedItem))]
pub struct HandedItem {
    /// Which, and how its texts stand on the screen.
    pub offer: Offer,
    /// Its words.
    pub content: Content,
    /// Until then it is promised, in milliseconds since 1970; none for one that was decided on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until_ms: Option<u64>,
    /// Of training: what to show after the decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feedback: Option<Feedback>,
}

/// Items of the caller again: those that they have been given or have decided on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewAgain))]
pub struct Again {
    /// Of which task.
    pub task: TaskNo,
    /// Which.
    pub item: ItemNo,
}

/// What the caller has done, the newest first, at most 200 events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewMine))]
pub struct Mine {
    /// Of which task.
    pub task: TaskNo,
}

/// Something that was done, and what has become of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewDone))]
pub struct Done {
    /// What.
    pub entry: Entry,
    /// What has become of it.
    pub fate: Fate,
}

/// Sends what was done. An event that the reply calls kept or known is on the disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewSend))]
pub struct Send {
    /// Of which task.
    pub task: TaskNo,
    /// In the order in which it was done, 1 to [`MOST_EVENTS`].
    pub events: Vec<Event>,
}

/// Reply to [`Send`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewSent))]
pub struct Sent {
    /// One for each event, in their order.
    pub taken: Vec<Taken>,
    /// How far the task is.
    pub standing: Standing,
}

/// What became of an event that was sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewTaken))]
pub struct Taken {
    /// Of which event.
    pub key: Key,
    /// What.
    pub outcome: Outcome,
}

/// Whether an event was taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewOutcome))]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Outcome {
    /// It was.
    Kept,
    /// It was before.
    Known,
    /// It never will be, as it is.
    Refused {
        /// Why.
        reason: String,
    },
}

/// What a task would be made of. For curators.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewPreview))]
pub struct Preview {
    /// The task as it is written so far.
    pub task: Task,
}

/// Reply to [`Preview`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewMade))]
pub struct Made {
    /// Instances that could be drawn.
    pub n_candidates: u64,
    /// Items to learn by.
    pub n_training: u32,
    /// Items with a known answer.
    pub n_gold: u32,
    /// Items that are drawn.
    pub n_drawn: u32,
    /// Those of them of each probe, in the order of the task.
    pub probes: Vec<(Probe, u32)>,
    /// Queries that they are of.
    pub n_queries: u32,
}

/// Makes a task, as a draft. For curators.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewMake))]
pub struct Make {
    /// As a curator writes it.
    pub task: Task,
}

/// Everything of a task. For curators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewWholeTask))]
pub struct WholeTask {
    /// Which.
    pub task: TaskNo,
}

/// Reply to [`WholeTask`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewWhole))]
pub struct Whole {
    /// What the list shows.
    pub card: Card,
    /// As it was made.
    pub task: Task,
    /// What it was made of.
    pub made: Made,
}

/// Changes a task. For curators. What is none stays.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewChange))]
pub struct Change {
    /// Which.
    pub task: TaskNo,
    /// A task that was open is never a draft again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<State>,
    /// Whether its results stand on the page of a published study.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub results_public: Option<bool>,
    /// In Markdown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guidelines: Option<String>,
}

/// A person with a name, beside numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewNamed))]
pub struct Named {
    /// Who.
    pub person: PersonNo,
    /// As they chose it.
    pub name: String,
}

/// How far a task is, and how people do. For curators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewAskProgress))]
pub struct AskProgress {
    /// Of which task.
    pub task: TaskNo,
}

/// Reply to [`AskProgress`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewProgressed))]
pub struct Progressed {
    /// How far it is.
    pub progress: Progress,
    /// Everybody in it.
    pub names: Vec<Named>,
}

/// How far people agree. For curators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewAskAgreement))]
pub struct AskAgreement {
    /// In which task.
    pub task: TaskNo,
}

/// Reply to [`AskAgreement`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewAgreed))]
pub struct Agreed {
    /// How far they agree.
    pub agreements: Agreements,
    /// Everybody in it.
    pub names: Vec<Named>,
}

/// The adjudication queue. For curators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewDisputes))]
pub struct Disputes {
    /// Of which task.
    pub task: TaskNo,
}

/// Everything about one item. For curators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewHistory))]
pub struct History {
    /// Of which task.
    pub task: TaskNo,
    /// Which.
    pub item: ItemNo,
}

/// Reply to [`History`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewItemHistory))]
pub struct ItemHistory {
    /// Which instance, and what it is there for.
    pub item: Item,
    /// Its words, with what rankers prefer.
    pub content: Content,
    /// What people say of it.
    pub said: Said,
    /// Everything that was done, in the order in which it came.
    pub done: Vec<Done>,
    /// Everybody in it.
    pub names: Vec<Named>,
}

/// The task as a file. For curators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewDownload))]
pub struct Download {
    /// Which.
    pub task: TaskNo,
    /// In which format.
    pub format: Format,
    /// Whether people's names stand in it beside their numbers.
    #[serde(default)]
    pub names: bool,
}

/// The format of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewFormat))]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Format {
    /// Every event with its history, one a line.
    Jsonl,
    /// The same as a table.
    Csv,
    /// Preferences as trec_eval reads them.
    Prefs {
        /// Whose.
        whose: Whose,
    },
}

/// What people say beside the rankers of a study: the tasks whose results the caller may see.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewResults))]
pub struct Results {
    /// Name of the study.
    pub study: String,
}

/// What came out of a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewTaskResults))]
pub struct TaskResults {
    /// Which.
    pub task: TaskNo,
    /// Its title.
    pub title: String,
    /// Whether it is worked on.
    pub state: State,
    /// Whether everybody sees this.
    pub public: bool,
    /// Whether the task is of an earlier state of the study: its numbers are of other instances.
    pub outdated: bool,
    /// How many people decided.
    pub n_people: u32,
    /// How far they agree.
    pub agreement: Coefficients,
    /// Axiom, rankers and judgements against people; none if the task is outdated.
    pub estimates: Option<Estimates>,
}

/// Some instances of a study to try reviewing with. Nothing is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewTry))]
pub struct Try {
    /// Name of the study.
    pub study: String,
    /// Another draws others.
    pub seed: u64,
}
