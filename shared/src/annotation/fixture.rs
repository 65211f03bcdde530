//! Events, items and tasks for tests.

use super::event::{
    AnnotationDecision, AnnotationEventAction, ClientAnnotationEvent, RatingTagsAndNote,
    ReceivedAnnotationEvent,
};
use super::task::{
    AnnotationItem, AnnotationItemRole, AnnotationTaskDefinition, SamplingDesign, StudyInstanceRef,
    TaskInstanceFilter,
};
use super::{AnnotationEventKey, AnnotatorAnswer, DocumentDisplayOrder, ItemNo, PersonId};
use crate::probe::{Axiom, AxiomVariant, Probe};
use crate::study::Study;

/// Five documents and two queries, with instances of TFC1 among them.
pub(crate) fn fixture_study_with_tfc1() -> Study {
    crate::study::fixture::study_with_queries(&["river", "sea bank"], &TEXTS, 10)
}

const TEXTS: [&str; 5] = [
    "river river",
    "river bank",
    "the sea",
    "bank bank sea",
    "river sea mud",
];

pub(crate) fn event_key_from_number(number: u64) -> AnnotationEventKey {
    AnnotationEventKey::from_bytes(u128::from(number).to_be_bytes())
}

/// A decision on an item that took four seconds and replaces the decisions with these keys.
pub(crate) fn decision_action(
    item: u32,
    answer: AnnotatorAnswer,
    replaces: &[u64],
) -> AnnotationEventAction {
    AnnotationEventAction::Decided(AnnotationDecision {
        item: ItemNo(item),
        answer,
        comment: RatingTagsAndNote::default(),
        display_order: DocumentDisplayOrder::ClaimOrder,
        duration_ms: 4_000,
        replaces: replaces
            .iter()
            .map(|&it| event_key_from_number(it))
            .collect(),
    })
}

/// An event whose key is `number`, created and received at second `number`.
pub(crate) fn log_entry_at_second(
    number: u64,
    person: u32,
    what: AnnotationEventAction,
) -> ReceivedAnnotationEvent {
    ReceivedAnnotationEvent {
        person: PersonId(person),
        received_ms: number * 1_000,
        event: ClientAnnotationEvent {
            key: event_key_from_number(number),
            created_ms: number * 1_000,
            action: what,
        },
    }
}

/// The entries for rows of person, item and answer; the keys count from 1.
pub(crate) fn log_entries_of_answers(
    answers: &[(u32, u32, AnnotatorAnswer)],
) -> Vec<ReceivedAnnotationEvent> {
    let answers = answers.iter().zip(1..);
    answers
        .map(|(&(person, item, answer), number)| {
            log_entry_at_second(number, person, decision_action(item, answer, &[]))
        })
        .collect()
}

/// An item of TFC1 with this number and query.
pub(crate) fn tfc1_annotation_item(
    number: u64,
    query: u32,
    role: AnnotationItemRole,
) -> AnnotationItem {
    AnnotationItem {
        instance: StudyInstanceRef {
            probe: Probe::Axiom(Axiom::Tfc1),
            variant: AxiomVariant::Fixed,
            index: number,
        },
        query,
        role,
    }
}

/// Items of TFC1, each of its own query, that were drawn with a probability of one half.
pub(crate) fn sampled_annotation_items(n: u32) -> Vec<AnnotationItem> {
    let role = AnnotationItemRole::Sampled {
        inclusion_probability: 0.5,
    };
    (0..n)
        .map(|it| tfc1_annotation_item(u64::from(it), it, role.clone()))
        .collect()
}

/// A task on TFC1 with ten items, two annotators per item and one gold item in five.
pub(crate) fn tfc1_annotation_task() -> AnnotationTaskDefinition {
    AnnotationTaskDefinition {
        title: "Rivers".to_owned(),
        study: "local".to_owned(),
        probes: vec![Probe::Axiom(Axiom::Tfc1)],
        filter: TaskInstanceFilter::default(),
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
        simulation: None,
    }
}
