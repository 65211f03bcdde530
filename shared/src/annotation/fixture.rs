//! Events, items and tasks for tests.

use super::event::{AnnotationAction, AnnotationEvent, AnswerComment, Decision, LogEntry};
use super::task::{
    AnnotationItem, AnnotationTask, InstanceRef, ItemRole, SamplingDesign, TaskFilter,
};
use super::{AnnotatorAnswer, DisplayOrder, EventKey, ItemNo, PersonId};
use crate::probe::{Axiom, AxiomVariant, Probe};
use crate::study::Study;

/// Five documents and two queries, with instances of TFC1 among them.
pub(crate) fn study() -> Study {
    crate::study::fixture::study_of(&["river", "sea bank"], &TEXTS, 10)
}

const TEXTS: [&str; 5] = [
    "river river",
    "river bank",
    "the sea",
    "bank bank sea",
    "river sea mud",
];

pub(crate) fn key(number: u64) -> EventKey {
    EventKey::from_bytes(u128::from(number).to_be_bytes())
}

/// A decision on an item that took four seconds and replaces the decisions with these keys.
pub(crate) fn decided(item: u32, answer: AnnotatorAnswer, replaces: &[u64]) -> AnnotationAction {
    AnnotationAction::Decided(Decision {
        item: ItemNo(item),
        answer,
        comment: AnswerComment::default(),
        display_order: DisplayOrder::ClaimOrder,
        duration_ms: 4_000,
        replaces: replaces.iter().map(|&it| key(it)).collect(),
    })
}

/// An event whose key is `number`, created and received at second `number`.
pub(crate) fn entry(number: u64, person: u32, what: AnnotationAction) -> LogEntry {
    LogEntry {
        person: PersonId(person),
        received_ms: number * 1_000,
        event: AnnotationEvent {
            key: key(number),
            created_ms: number * 1_000,
            action: what,
        },
    }
}

/// The entries for rows of person, item and answer; the keys count from 1.
pub(crate) fn entries(answers: &[(u32, u32, AnnotatorAnswer)]) -> Vec<LogEntry> {
    let answers = answers.iter().zip(1..);
    answers
        .map(|(&(person, item, answer), number)| entry(number, person, decided(item, answer, &[])))
        .collect()
}

/// An item of TFC1 with this number and query.
pub(crate) fn item(number: u64, query: u32, role: ItemRole) -> AnnotationItem {
    AnnotationItem {
        instance: InstanceRef {
            probe: Probe::Axiom(Axiom::Tfc1),
            variant: AxiomVariant::Fixed,
            index: number,
        },
        query,
        role,
    }
}

/// A task on TFC1 with ten items, two annotators per item and one gold item in five.
pub(crate) fn task() -> AnnotationTask {
    AnnotationTask {
        title: "Rivers".to_owned(),
        study: "local".to_owned(),
        probes: vec![Probe::Axiom(Axiom::Tfc1)],
        filter: TaskFilter::default(),
        n_items: 10,
        sampling: SamplingDesign::Uniform,
        annotators_per_item: 2,
        seed: 42,
        gold_interval: 5,
        is_blind: true,
        highlights_query_terms: true,
        tags: Vec::new(),
        guidelines: String::new(),
        training: Vec::new(),
        gold: Vec::new(),
    }
}
