//! Simulated annotators: programs that answer the items of a task in place of people, so that the
//! demo has results although nobody has annotated it.
//!
//! The answers start from a *simulated truth* and have seeded errors:
//!
//! - If the documents have different relevance grades, the truth is the document with the higher
//!   one; a document without a grade counts as not relevant (grade 0).
//! - Of two relevant documents with the same grade, it is the first document of the claim, which
//!   the axiom expects.
//! - If neither document is relevant, it is *equal*.
//! - For three documents, it is what the claim expects, since grades say nothing about steps.
//!
//! An annotator with error rate `e` answers each item with the truth with probability `1 - e`, and
//! otherwise with one of the other two preferences, each with probability `e / 2`; never with
//! *cannot say*. The random numbers of annotator `a`, counted from 0, and item `i` are those of
//! PCG64 seeded with the SHA-256 of the task's seed, a line feed and `simulated answer\na\ni`. So
//! every answer depends on the study, the seed, `a` and `i` alone, and is the same everywhere.
//!
//! A task has either people or simulated annotators, never both, and nothing that counts people or
//! states an agreement with people includes simulated annotators.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use utoipa::ToSchema;

use super::event::{
    AnnotationDecision, AnnotationEventAction, ClientAnnotationEvent, RatingTagsAndNote,
    ReceivedAnnotationEvent,
};
use super::judgments::ItemConsensus;
use super::seeded_random::{random_number_below, seeded_generator};
use super::task::{AnnotationItem, AnnotationTaskDefinition};
use super::{
    AnnotationEventKey, AnnotationLog, AnnotatorAnswer, DocumentDisplayOrder, DocumentPreference,
    ItemAnswers, ItemNo, PersonId,
};
use crate::error::Error;
use crate::probe::ScoreClaim;
use crate::study::Study;

/// The smallest relevance grade of a relevant document.
const RELEVANT_FROM: i32 = 1;

/// The number of equally likely random numbers that an error rate is compared with.
const N_DRAWS: u64 = 1_000_000;

/// The answers of simulated annotators to one item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SimulatedItemResult {
    /// The majority of the simulated annotators.
    pub consensus: ItemConsensus,
    /// Their answers, in the order of the annotators.
    pub answers: Vec<AnnotatorAnswer>,
}

impl SimulatedItemResult {
    /// Returns the answers to an item of a task whose annotators are simulated.
    pub fn from_log(log: &AnnotationLog, item: ItemNo) -> SimulatedItemResult {
        let found = ItemAnswers::from_log(log, item);
        SimulatedItemResult {
            consensus: found.adjudicated_or_majority_preference(),
            answers: found.votes.iter().map(|it| it.answer).collect(),
        }
    }
}

/// Returns the events of simulated annotators: one decision of each person of `people` on each
/// item, all of them at `now_ms`. No time is stated for a decision, since nobody read anything. It
/// is an error if the task has no simulated annotators, or another number than `people`.
pub fn simulate_annotation_events(
    study: &Study,
    task: &AnnotationTaskDefinition,
    items: &[AnnotationItem],
    people: &[PersonId],
    now_ms: u64,
) -> Result<Vec<ReceivedAnnotationEvent>, Error> {
    let rates = task.simulation.iter().flat_map(|it| &it.error_rates);
    let rates: Vec<f64> = rates.copied().collect();
    if rates.len() != people.len() || BTreeSet::from_iter(people).len() != people.len() {
        let (n, found) = (rates.len(), people.len());
        let reason = format!("needs {n} annotators that are not the same, not {found}");
        return Err(Error::conflicting_value("simulation", reason));
    }
    let mut events = Vec::new();
    for (item, number) in items.iter().zip((0..).map(ItemNo)) {
        let place = item.instance;
        let truth = simulated_truth(study, item)?;
        for (annotator, (&error_rate, &person)) in rates.iter().zip(people).enumerate() {
            let answer = answer_with_errors(task.seed, annotator, number, truth, error_rate);
            let display_order = DocumentDisplayOrder::for_person(
                task.seed,
                PersonId(annotator as u32),
                number,
                place.claim_kind(),
            );
            let event = ClientAnnotationEvent {
                key: event_key(task.seed, annotator, number),
                created_ms: now_ms,
                action: AnnotationEventAction::Decided(AnnotationDecision {
                    item: number,
                    answer,
                    comment: RatingTagsAndNote::default(),
                    display_order,
                    duration_ms: 0,
                    replaces: Vec::new(),
                }),
            };
            events.push(ReceivedAnnotationEvent {
                person,
                received_ms: now_ms,
                event: event.normalize_and_validate(items.len() as u32)?,
            });
        }
    }
    Ok(events)
}

/// Returns the preference on an item that simulated annotators without errors would have.
pub fn simulated_truth(study: &Study, item: &AnnotationItem) -> Result<DocumentPreference, Error> {
    let (instances, at) = item.instance.find_in_study(study)?;
    let query = instances.query_of_instance(at);
    let grade = |doc| Some(study.relevance_grade(query, doc).unwrap_or(0));
    let graded = instances.claim_at(at).replace_docs_with_scores(grade);
    Ok(graded.map_or(DocumentPreference::First, truth_by_grades))
}

fn truth_by_grades(graded: ScoreClaim<i32>) -> DocumentPreference {
    let is_relevant = graded.has_doc_where(|grade| grade >= RELEVANT_FROM);
    match DocumentPreference::from_grades(graded) {
        Some(DocumentPreference::Equal) if is_relevant => DocumentPreference::First,
        Some(preference) => preference,
        None => DocumentPreference::First,
    }
}

/// Returns the answer of an annotator, counted from 0, to an item.
fn answer_with_errors(
    seed: u64,
    annotator: usize,
    item: ItemNo,
    truth: DocumentPreference,
    error_rate: f64,
) -> AnnotatorAnswer {
    let what = format!("simulated answer\n{annotator}\n{}", item.0);
    let mut random = seeded_generator(seed, &what);
    let n_wrong = (error_rate * N_DRAWS as f64 + 0.5) as u64;
    let is_wrong = random_number_below(&mut random, N_DRAWS) < n_wrong;
    let others = DocumentPreference::ALL.iter().filter(|it| **it != truth);
    let others: Vec<DocumentPreference> = others.copied().collect();
    let other = others[random_number_below(&mut random, others.len() as u64) as usize];
    match if is_wrong { other } else { truth } {
        DocumentPreference::First => AnnotatorAnswer::First,
        DocumentPreference::Equal => AnnotatorAnswer::Equal,
        DocumentPreference::Second => AnnotatorAnswer::Second,
    }
}

fn event_key(seed: u64, annotator: usize, item: ItemNo) -> AnnotationEventKey {
    let hash = Sha256::digest(format!("{seed}\nsimulated event\n{annotator}\n{}", item.0));
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&hash[..16]);
    AnnotationEventKey::from_bytes(bytes)
}

#[cfg(test)]
mod tests;
