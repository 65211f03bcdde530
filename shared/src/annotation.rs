//! Human judgments on instances: annotation tasks, the event log, and what is computed from it.
//!
//! ```text
//! study → frame → sample → queue → log → answers → agreement, estimate, progress → export
//!         all      drawn    next    all   per item
//!         candi-   items,   item    events
//!         dates    with π
//! ```
//!
//! A *task* draws *items* from the instances of a study, each with the probability π with which it
//! was drawn. Annotators decide on items; every decision, undo and other action is an *event* in an
//! append-only log. The current state is a function of the log, so nothing is ever lost.

pub mod answer;
pub mod event_key;
pub mod display_order;
pub mod event;
pub mod task;
mod seeded_random;
pub mod sampling_frame;
pub mod sample;
pub mod log;
pub mod judgments;
pub mod assignment;
pub mod content;
pub mod agreement;
pub mod estimate;
pub mod progress;
pub mod simulation;
pub mod trial;
pub mod tables;
pub mod export;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub use answer::{AnnotatorAnswer, AxiomReasonRating, DocumentPreference};
pub use display_order::DocumentDisplayOrder;
pub use event::{ClientAnnotationEvent, ReceivedAnnotationEvent};
pub use event_key::AnnotationEventKey;
pub use judgments::ItemAnswers;
pub use log::AnnotationLog;
pub use task::{AnnotationItem, AnnotationTaskDefinition};

/// The number of a person, assigned by the server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(transparent)]
pub struct PersonId(pub u32);

/// The index of an item in its task, counted from 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(transparent)]
pub struct ItemNo(pub u32);

/// Who the annotators of a task are: people, or programs in their place. No task has both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnnotatorKind {
    /// Invited people.
    People,
    /// Simulated annotators.
    Simulated,
}

impl AnnotatorKind {
    /// Returns what titles of tables and figures call the annotators.
    pub fn noun(self) -> &'static str {
        match self {
            AnnotatorKind::People => "annotators",
            AnnotatorKind::Simulated => "simulated annotators",
        }
    }
}

#[cfg(test)]
mod fixture;
