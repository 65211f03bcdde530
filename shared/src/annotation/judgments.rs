//! The consensus on each item, and the items that a curator should look at.
//!
//! Each annotator has one vote per item; an excluded annotator, or one with conflicting answers,
//! has none. *Cannot say* is an answer, but not a vote. The preference with the most votes is the
//! consensus. If two have the same number of votes, the item is *split* and has no consensus until
//! a curator adjudicates it. An adjudication overrides all votes and deletes none.

use std::cmp::Reverse;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::event::{AnnotationDecision, AnnotationEventAction};
use super::{
    AnnotationLog, AnnotatorAnswer, AxiomReasonRating, DocumentPreference, ItemNo, PersonId,
};

/// The answers to an item, without those of excluded annotators.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ItemAnswers {
    /// One vote per annotator, in the order of their numbers.
    pub votes: Vec<AnnotatorVote>,
    /// The annotators whose answers contradict each other.
    pub conflicting_people: Vec<PersonId>,
    /// The distinct answers of adjudications. With more than one, the item is not adjudicated yet.
    pub adjudications: Vec<AnnotatorAnswer>,
}

/// The answer of one annotator to one item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AnnotatorVote {
    /// The annotator.
    pub person: PersonId,
    /// The answer.
    pub answer: AnnotatorAnswer,
    /// Whether the axiom's reason matters here, if the annotator rated it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason_rating: Option<AxiomReasonRating>,
}

/// The majority preference of the annotators, or the curator's adjudication.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ItemConsensus {
    /// Annotators, or a curator, prefer this.
    Prefers(DocumentPreference),
    /// The answer of everybody who answered, or of a curator, is "cannot say".
    CannotSay,
    /// Two preferences have the most votes.
    Split,
    /// Nobody has answered.
    Unanswered,
}

impl ItemConsensus {
    /// Returns the preference of the consensus, if it is one.
    pub fn preference(self) -> Option<DocumentPreference> {
        match self {
            ItemConsensus::Prefers(preference) => Some(preference),
            ItemConsensus::CannotSay | ItemConsensus::Split | ItemConsensus::Unanswered => None,
        }
    }
}

impl ItemAnswers {
    /// Returns the answers to an item, from the log.
    pub fn from_log(log: &AnnotationLog, item: ItemNo) -> ItemAnswers {
        let mut said = ItemAnswers::default();
        for (person, entries) in log.active_decisions_by_person(item) {
            let made = entries.iter().filter_map(|it| match &it.event.action {
                AnnotationEventAction::Decided(it) => Some(it),
                _ => None,
            });
            let made: Vec<&AnnotationDecision> = made.collect();
            let Some(last) = made.last().filter(|_| !log.is_person_excluded(person)) else {
                continue;
            };
            if made.iter().any(|it| it.answer != last.answer) {
                said.conflicting_people.push(person);
                continue;
            }
            said.votes.push(AnnotatorVote {
                person,
                answer: last.answer,
                reason_rating: last.comment.reason_rating,
            });
        }
        let adjudications = log.active_adjudications_of_item(item);
        said.adjudications = adjudications
            .iter()
            .filter_map(|it| it.event.action.answer())
            .collect();
        said.adjudications.sort_unstable();
        said.adjudications.dedup();
        said
    }

    /// Returns the adjudication if there is exactly one answer, else the majority of the votes.
    pub fn adjudicated_or_majority_preference(&self) -> ItemConsensus {
        match self.adjudications[..] {
            [answer] => answer
                .preference()
                .map_or(ItemConsensus::CannotSay, ItemConsensus::Prefers),
            _ => majority_of_weighted_answers(self.votes.iter().map(|it| (it.answer, 1))),
        }
    }

    /// Returns the share of votes that are not for the most frequent preference, from 0 to 1; 0
    /// without votes.
    pub fn disagreement_share(&self) -> f64 {
        let votes = tally(self.votes.iter().map(|it| (it.answer, 1)));
        let all: u32 = votes.iter().sum();
        let most = votes.iter().max().copied().unwrap_or_default();
        if all == 0 {
            return 0.0;
        }
        f64::from(all - most) / f64::from(all)
    }
}

/// Returns the majority of answers, each with the number of times that it counts.
pub(super) fn majority_of_weighted_answers(
    answers: impl Iterator<Item = (AnnotatorAnswer, u32)> + Clone,
) -> ItemConsensus {
    let votes = tally(answers.clone());
    let most = votes.iter().max().copied().unwrap_or_default();
    let mut first = DocumentPreference::ALL
        .iter()
        .zip(votes)
        .filter(|it| it.1 == most);
    match (most, first.next(), first.next()) {
        (1.., Some((&preference, _)), None) => ItemConsensus::Prefers(preference),
        (1.., ..) => ItemConsensus::Split,
        _ if answers.map(|it| it.1).sum::<u32>() > 0 => ItemConsensus::CannotSay,
        _ => ItemConsensus::Unanswered,
    }
}

/// Returns the number of votes for each of [`DocumentPreference::ALL`].
fn tally(answers: impl Iterator<Item = (AnnotatorAnswer, u32)>) -> [u32; 3] {
    let mut votes = [0; 3];
    for (answer, times) in answers {
        if let Some(preference) = answer.preference() {
            votes[preference as usize] += times;
        }
    }
    votes
}

/// An item that a curator should look at.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AdjudicationQueueItem {
    /// Number of the disputed item within its task, from 0.
    pub item: ItemNo,
    /// The first reason in the order of [`DisputeReason`].
    pub reason: DisputeReason,
    /// The value of [`ItemAnswers::disagreement_share`].
    pub disagreement: f64,
    /// The number of votes on the item.
    pub n_votes: u32,
}

/// The reason why a curator should look at an item, the most urgent first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DisputeReason {
    /// Two adjudications that were made independently have different answers.
    ConflictingAdjudications,
    /// An annotator gave two different answers independently, for example on two devices.
    SelfConflict,
    /// Two preferences have the most votes.
    Split,
    /// An annotator was outvoted.
    Outvoted,
    /// At least two annotators answered, all of them "cannot say".
    CannotSay,
    /// An annotator reported a problem.
    Reported,
}

/// Returns the adjudication queue: by reason, then by disagreement, highest first, then by item.
/// Adjudicated items are not in it.
pub fn adjudication_queue(
    log: &AnnotationLog,
    items: impl IntoIterator<Item = ItemNo>,
) -> Vec<AdjudicationQueueItem> {
    let found = items.into_iter().filter_map(|item| {
        let said = ItemAnswers::from_log(log, item);
        Some(AdjudicationQueueItem {
            item,
            reason: reason(log, item, &said)?,
            disagreement: said.disagreement_share(),
            n_votes: said.votes.len() as u32,
        })
    });
    let mut found: Vec<AdjudicationQueueItem> = found.collect();
    // Shares are never negative, so their bits have the same order.
    found.sort_by_key(|it| (it.reason, Reverse(it.disagreement.to_bits()), it.item));
    found
}

fn reason(log: &AnnotationLog, item: ItemNo, said: &ItemAnswers) -> Option<DisputeReason> {
    match said.adjudications.len() {
        0 => {}
        1 => return None,
        _ => return Some(DisputeReason::ConflictingAdjudications),
    }
    if !said.conflicting_people.is_empty() {
        return Some(DisputeReason::SelfConflict);
    }
    match said.adjudicated_or_majority_preference() {
        ItemConsensus::Split => Some(DisputeReason::Split),
        ItemConsensus::Prefers(_) if said.disagreement_share() > 0.0 => {
            Some(DisputeReason::Outvoted)
        }
        ItemConsensus::CannotSay if said.votes.len() > 1 => Some(DisputeReason::CannotSay),
        ItemConsensus::Prefers(_) | ItemConsensus::CannotSay | ItemConsensus::Unanswered => {
            (!log.problem_reports_on_item(item).is_empty()).then_some(DisputeReason::Reported)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::event::{AnnotatorExclusionChange, ItemAdjudication};
    use super::super::fixture::{decision_action, log_entries_of_answers, log_entry_at_second};
    use super::*;

    use AnnotatorAnswer::{CannotSay, Equal, First, Second};

    fn settled(answers: &[AnnotatorAnswer]) -> ItemConsensus {
        majority_of_weighted_answers(answers.iter().map(|&it| (it, 1)))
    }

    #[test]
    fn most_votes_decide_and_a_tie_does_not() {
        assert_eq!(settled(&[]), ItemConsensus::Unanswered);
        assert_eq!(
            settled(&[First]),
            ItemConsensus::Prefers(DocumentPreference::First)
        );
        assert_eq!(
            settled(&[First, Second, Second]),
            ItemConsensus::Prefers(DocumentPreference::Second)
        );
        assert_eq!(settled(&[First, Second]), ItemConsensus::Split);
        assert_eq!(settled(&[First, Equal, Second]), ItemConsensus::Split);
        assert_eq!(
            settled(&[Equal, Equal, First]),
            ItemConsensus::Prefers(DocumentPreference::Equal)
        );
        assert_eq!(settled(&[CannotSay, CannotSay]), ItemConsensus::CannotSay);
        assert_eq!(
            settled(&[CannotSay, CannotSay, First]),
            ItemConsensus::Prefers(DocumentPreference::First)
        );
    }

    #[test]
    fn an_adjudication_stands_above_the_votes() {
        let mut all = log_entries_of_answers(&[(1, 0, First), (2, 0, First), (3, 0, Second)]);
        let said = ItemAnswers::from_log(&AnnotationLog::from_entries(all.clone()), ItemNo(0));
        assert_eq!(
            said.adjudicated_or_majority_preference(),
            ItemConsensus::Prefers(DocumentPreference::First)
        );
        let adjudicated = |number, answer| {
            let what = AnnotationEventAction::Adjudicated(ItemAdjudication {
                item: ItemNo(0),
                answer,
                note: String::new(),
                replaces: Vec::new(),
            });
            log_entry_at_second(number, 9, what)
        };
        all.push(adjudicated(10, Equal));
        let said = ItemAnswers::from_log(&AnnotationLog::from_entries(all.clone()), ItemNo(0));
        assert_eq!(
            said.adjudicated_or_majority_preference(),
            ItemConsensus::Prefers(DocumentPreference::Equal)
        );
        assert_eq!(said.votes.len(), 3);
        // Two contradicting adjudications settle nothing.
        all.push(adjudicated(11, First));
        let log = AnnotationLog::from_entries(all);
        let said = ItemAnswers::from_log(&log, ItemNo(0));
        assert_eq!(said.adjudications, [First, Equal]);
        assert_eq!(
            said.adjudicated_or_majority_preference(),
            ItemConsensus::Prefers(DocumentPreference::First)
        );
        assert_eq!(
            adjudication_queue(&log, [ItemNo(0)])[0].reason,
            DisputeReason::ConflictingAdjudications
        );
    }

    #[test]
    fn who_is_excluded_or_in_conflict_has_no_vote() {
        let mut all =
            log_entries_of_answers(&[(1, 0, First), (2, 0, Second), (1, 0, Equal), (3, 0, Second)]);
        let said = ItemAnswers::from_log(&AnnotationLog::from_entries(all.clone()), ItemNo(0));
        assert_eq!(said.conflicting_people, [PersonId(1)]);
        assert_eq!(said.votes.len(), 2);
        let person = PersonId(2);
        let reason = String::new();
        all.push(log_entry_at_second(
            9,
            9,
            AnnotationEventAction::Excluded(AnnotatorExclusionChange { person, reason }),
        ));
        let said = ItemAnswers::from_log(&AnnotationLog::from_entries(all), ItemNo(0));
        assert_eq!(
            said.votes.iter().map(|it| it.person).collect::<Vec<_>>(),
            [PersonId(3)]
        );
        // The same answer given twice is one vote.
        let twice = [
            log_entry_at_second(1, 1, decision_action(0, First, &[])),
            log_entry_at_second(2, 1, decision_action(0, First, &[])),
        ];
        assert_eq!(
            ItemAnswers::from_log(&AnnotationLog::from_entries(twice), ItemNo(0))
                .votes
                .len(),
            1
        );
    }

    #[test]
    fn disagreements_come_first() {
        let all = log_entries_of_answers(&[
            (1, 0, First),
            (2, 0, First),
            (1, 1, First),
            (2, 1, First),
            (3, 1, Second),
            (1, 2, First),
            (2, 2, Second),
            (1, 3, CannotSay),
            (2, 3, CannotSay),
            (1, 4, First),
            (1, 4, Second),
            (1, 5, First),
            (2, 5, Equal),
            (3, 5, Second),
        ]);
        let found = adjudication_queue(&AnnotationLog::from_entries(all), (0..7).map(ItemNo));
        let found: Vec<(u32, DisputeReason)> =
            found.iter().map(|it| (it.item.0, it.reason)).collect();
        assert_eq!(
            found,
            [
                (4, DisputeReason::SelfConflict),
                (5, DisputeReason::Split),
                (2, DisputeReason::Split),
                (1, DisputeReason::Outvoted),
                (3, DisputeReason::CannotSay)
            ]
        );
    }
}
