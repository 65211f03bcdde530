//! What people say of instances: tasks, the log of what they did, and what follows from it.
//!
//! ```text
//! study → frame → sample → queue → log → said → agreement, estimate, progress → export
//!         what    which    who      what  of an   how far people agree, and with    files
//!         could   items,   gets     was   item    axiom, ranker and judgments
//!         be      with π   what     done
//! ```
//!
//! A *task* draws *items* from the instances of a study, each with the probability π with which
//! it was drawn. People decide on items; every decision, every undo and every other act is an
//! *event* in a log that only grows. What counts at a moment is a function of the log, so nothing
//! that anybody did is ever lost, whatever is counted.

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
pub mod trial;
pub mod tables;
pub mod export;

use serde::{Deserialize, Serialize};

pub use answer::{AnnotatorAnswer, Preference, ReasonRating};
pub use display_order::DisplayOrder;
pub use event::{AnnotationEvent, LogEntry};
pub use event_key::EventKey;
pub use judgments::ItemAnswers;
pub use log::AnnotationLog;
pub use task::{AnnotationItem, AnnotationTask};

/// A person, as the server numbers them.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(transparent)]
pub struct PersonId(pub u32);

/// Place of an item in its task, counted from 0.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(transparent)]
pub struct ItemNo(pub u32);

#[cfg(test)]
mod fixture;
