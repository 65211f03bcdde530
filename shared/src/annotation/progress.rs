//! The progress of a task, and the speed, accuracy and drift of its annotators.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::event::{AnnotationDecision, AnnotationEventAction, ReceivedAnnotationEvent};
use super::judgments::{AnnotatorVote, ItemConsensus, majority_of_weighted_answers};
use super::task::{AnnotationItem, AnnotationItemRole};
use super::{AnnotationLog, ItemAnswers, ItemNo, PersonId};
use crate::stats::EstimateWithInterval;
use crate::stats::proportion::{Proportion, newcombe_interval, wilson_interval};
use crate::stats::quantile::median;

const MS_AN_HOUR: f64 = 3_600_000.0;
const MS_A_DAY: u64 = 86_400_000;

/// The progress of a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AnnotationTaskProgress {
    /// The number of sampled items.
    pub n_items: u64,
    /// Items with at least one decision that counts.
    pub n_started: u64,
    /// Items with as many decisions as requested.
    pub n_complete: u64,
    /// The number of requested decisions: sampled items times annotators per item.
    pub n_decisions_required: u64,
    /// The number of these decisions that have been made.
    pub n_decisions: u64,
    /// Sampled items that a curator adjudicated.
    pub n_adjudicated: u64,
    /// Items of any role with a report that was not undone.
    pub n_reported: u64,
    /// The number of decisions of all annotators on each day that has any; days since 1970, UTC.
    pub decisions_by_day: Vec<(u64, u64)>,
    /// Everyone with an event, ascending.
    pub by_annotator: Vec<AnnotatorProgress>,
}

/// The work of one annotator. It includes active decisions on items of all roles except training.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AnnotatorProgress {
    /// The annotator.
    pub person: PersonId,
    /// Whether they are excluded from all estimates.
    pub is_excluded: bool,
    /// The number of items decided on.
    pub n_decided: u64,
    /// The number of items skipped.
    pub n_skipped: u64,
    /// The number of events undone.
    pub n_undone: u64,
    /// The number of items on which they contradict themselves.
    pub n_conflicts: u64,
    /// The time spent on the decided items, in milliseconds, without pauses.
    pub active_ms: u64,
    /// The median time per decision, in milliseconds.
    pub median_decision_ms: Option<f64>,
    /// Items decided on per hour of active time.
    pub decisions_per_hour: Option<f64>,
    /// The time at which their last event was received, in milliseconds since 1970.
    pub last_event_ms: u64,
    /// The share of gold items that they answer correctly; `None` without any.
    pub gold_accuracy: Option<EstimateWithInterval>,
    /// The number of decisions on gold items.
    pub n_gold: u64,
    /// The change in their accuracy on gold items over time.
    pub gold_accuracy_drift: Option<AnswerShareDrift>,
    /// The change in their agreement with the other annotators over time.
    pub agreement_drift: Option<AnswerShareDrift>,
}

/// The change of a share from the first third of an annotator's decisions to the last third,
/// ordered by the browser's clock. Undefined for fewer than three decisions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AnswerShareDrift {
    /// The share in the first third, rounded down.
    pub first: Proportion,
    /// The share in as many decisions at the end.
    pub last: Proportion,
    /// The last share minus the first, from −1 to 1, with Newcombe's interval.
    pub difference: EstimateWithInterval,
}

/// Computes the progress of a task from its items, the number of annotators per item and its log.
pub fn measure_annotation_progress(
    items: &[AnnotationItem],
    overlap: u32,
    log: &AnnotationLog,
) -> AnnotationTaskProgress {
    let numbers = || (0..).map(ItemNo).take(items.len());
    let said: Vec<ItemAnswers> = numbers().map(|it| ItemAnswers::from_log(log, it)).collect();
    let drawn = items.iter().zip(&said);
    let drawn = drawn.filter(|it| matches!(it.0.role, AnnotationItemRole::Sampled { .. }));
    let drawn: Vec<&ItemAnswers> = drawn.map(|it| it.1).collect();
    // An annotator with conflicting answers counts as having decided.
    let decided = |it: &ItemAnswers| (it.votes.len() + it.conflicting_people.len()) as u64;
    let overlap = u64::from(overlap);
    let count =
        |holds: &dyn Fn(&ItemAnswers) -> bool| drawn.iter().filter(|it| holds(it)).count() as u64;
    let mut of_people = Works::new(items, &said, log);
    let people: BTreeSet<PersonId> = log.entries().iter().map(|it| it.person).collect();
    AnnotationTaskProgress {
        n_items: drawn.len() as u64,
        n_started: count(&|it| decided(it) > 0),
        n_complete: count(&|it| decided(it) >= overlap),
        n_decisions_required: drawn.len() as u64 * overlap,
        n_decisions: drawn.iter().map(|it| decided(it).min(overlap)).sum(),
        n_adjudicated: count(&|it| it.adjudications.len() == 1),
        n_reported: numbers()
            .filter(|it| !log.problem_reports_on_item(*it).is_empty())
            .count() as u64,
        decisions_by_day: of_people.days(),
        by_annotator: people.into_iter().map(|it| of_people.of(it)).collect(),
    }
}

/// The decisions of each person.
struct Works<'a> {
    items: &'a [AnnotationItem],
    said: &'a [ItemAnswers],
    log: &'a AnnotationLog,
    decided: BTreeMap<PersonId, Vec<(&'a ReceivedAnnotationEvent, &'a AnnotationDecision)>>,
}

impl<'a> Works<'a> {
    fn new(
        items: &'a [AnnotationItem],
        said: &'a [ItemAnswers],
        log: &'a AnnotationLog,
    ) -> Works<'a> {
        let mut decided: BTreeMap<PersonId, Vec<(&ReceivedAnnotationEvent, &AnnotationDecision)>> =
            BTreeMap::new();
        for (item, number) in items.iter().zip((0..).map(ItemNo)) {
            if matches!(item.role, AnnotationItemRole::Training { .. }) {
                continue;
            }
            for (person, entries) in log.active_decisions_by_person(number) {
                let made = entries.into_iter().filter_map(|it| match &it.event.action {
                    AnnotationEventAction::Decided(decision) => Some((it, decision)),
                    _ => None,
                });
                // If two decisions contradict each other, the time of both counts.
                decided.entry(person).or_default().extend(made);
            }
        }
        for made in decided.values_mut() {
            made.sort_by_key(|it| (it.0.event.created_ms, it.0.event.key));
        }
        Works {
            items,
            said,
            log,
            decided,
        }
    }

    fn days(&self) -> Vec<(u64, u64)> {
        let mut days: BTreeMap<u64, u64> = BTreeMap::new();
        for (entry, _) in self.decided.values().flatten() {
            *days.entry(entry.received_ms / MS_A_DAY).or_default() += 1;
        }
        days.into_iter().collect()
    }

    fn of(&mut self, person: PersonId) -> AnnotatorProgress {
        let made = self.decided.remove(&person).unwrap_or_default();
        let decided: BTreeSet<ItemNo> = made.iter().map(|it| it.1.item).collect();
        let times: Vec<f64> = made.iter().map(|it| it.1.duration_ms as f64).collect();
        let active_ms = made.iter().map(|it| it.1.duration_ms).sum::<u64>();
        let own = self.log.entries();
        let own: Vec<&ReceivedAnnotationEvent> =
            own.into_iter().filter(|it| it.person == person).collect();
        let numbers = (0..).map(ItemNo).take(self.items.len());
        let skipped =
            numbers.filter(|it| self.log.active_skips_by_person(*it).contains_key(&person));
        let gold: Vec<bool> = made.iter().filter_map(|it| self.is_right(it.1)).collect();
        let others: Vec<bool> = made
            .iter()
            .filter_map(|it| self.is_with_others(it.0, it.1))
            .collect();
        AnnotatorProgress {
            person,
            is_excluded: self.log.is_person_excluded(person),
            n_decided: decided.len() as u64,
            n_skipped: skipped.count() as u64,
            n_undone: own.iter().filter(|it| self.log.is_event_undone(it)).count() as u64,
            n_conflicts: decided
                .iter()
                .filter(|it| self.is_conflict(person, **it))
                .count() as u64,
            active_ms,
            median_decision_ms: median(&times),
            decisions_per_hour: (active_ms > 0)
                .then(|| decided.len() as f64 * MS_AN_HOUR / active_ms as f64),
            last_event_ms: own
                .iter()
                .map(|it| it.received_ms)
                .max()
                .unwrap_or_default(),
            gold_accuracy: wilson_interval(share(&gold)),
            n_gold: gold.len() as u64,
            gold_accuracy_drift: drift(&gold),
            agreement_drift: drift(&others),
        }
    }

    /// Returns whether a person has two different active answers, also for excluded people.
    fn is_conflict(&self, person: PersonId, item: ItemNo) -> bool {
        let standing = self
            .log
            .active_decisions_by_person(item)
            .remove(&person)
            .unwrap_or_default();
        let mut answers = standing.iter().map(|it| it.event.action.answer());
        let first = answers.next();
        answers.any(|it| Some(it) != first)
    }

    /// For gold items, returns whether the answer is right.
    fn is_right(&self, decision: &AnnotationDecision) -> Option<bool> {
        match self.items[decision.item.0 as usize].role {
            AnnotationItemRole::Gold { answer } => Some(decision.answer == answer),
            AnnotationItemRole::Training { .. } | AnnotationItemRole::Sampled { .. } => None,
        }
    }

    /// For sampled items, returns whether the answer agrees with the majority of the others; `None`
    /// if either has no preference.
    fn is_with_others(
        &self,
        entry: &ReceivedAnnotationEvent,
        decision: &AnnotationDecision,
    ) -> Option<bool> {
        let at = decision.item.0 as usize;
        let own = decision.answer.preference()?;
        if !matches!(self.items[at].role, AnnotationItemRole::Sampled { .. }) {
            return None;
        }
        let others = self.said[at]
            .votes
            .iter()
            .filter(|it| it.person != entry.person);
        match majority_of_weighted_answers(others.map(|it: &AnnotatorVote| (it.answer, 1))) {
            ItemConsensus::Prefers(preference) => Some(preference == own),
            ItemConsensus::CannotSay | ItemConsensus::Split | ItemConsensus::Unanswered => None,
        }
    }
}

fn share(holds: &[bool]) -> Proportion {
    let mut share = Proportion::default();
    holds.iter().for_each(|it| share.add_item(*it));
    share
}

fn drift(in_order: &[bool]) -> Option<AnswerShareDrift> {
    let third = in_order.len() / 3;
    let first = share(&in_order[..third]);
    let last = share(&in_order[in_order.len() - third..]);
    Some(AnswerShareDrift {
        first,
        last,
        difference: newcombe_interval(first, last)?,
    })
}

#[cfg(test)]
mod tests {
    use super::super::AnnotatorAnswer::{CannotSay, Equal, First, Second};
    use super::super::event::{ItemProblemReport, SkipReason, SkippedItem};
    use super::super::fixture::{
        decision_action, event_key_from_number, log_entries_of_answers, log_entry_at_second,
        tfc1_annotation_item,
    };
    use super::*;

    /// Three sampled items, six gold items whose right answer is the first, and a training item.
    fn items() -> Vec<AnnotationItem> {
        let role = |number| match number {
            0..3 => AnnotationItemRole::Sampled {
                inclusion_probability: 0.5,
            },
            3..9 => AnnotationItemRole::Gold { answer: First },
            _ => AnnotationItemRole::Training {
                answer: First,
                explanation: "more terms".to_owned(),
            },
        };
        (0..10)
            .map(|it| tfc1_annotation_item(it, 0, role(it)))
            .collect()
    }

    #[test]
    fn what_is_done_is_counted() {
        let mut all = log_entries_of_answers(&[
            (1, 0, First),
            (2, 0, First),
            (3, 0, Second),
            (1, 1, First),
            (1, 9, Second),
            (2, 2, CannotSay),
        ]);
        let skip = SkippedItem {
            item: ItemNo(1),
            reason: SkipReason::NotUnderstandable,
            note: String::new(),
        };
        all.push(log_entry_at_second(
            7,
            2,
            AnnotationEventAction::Skipped(skip),
        ));
        let report = ItemProblemReport {
            item: ItemNo(4),
            note: "cut".to_owned(),
        };
        all.push(log_entry_at_second(
            8,
            2,
            AnnotationEventAction::Reported(report),
        ));
        all.push(log_entry_at_second(9, 1, decision_action(2, Equal, &[])));
        all.push(log_entry_at_second(
            86_400,
            1,
            AnnotationEventAction::Undone {
                of: event_key_from_number(9),
            },
        ));
        all.push(log_entry_at_second(
            86_401,
            1,
            decision_action(2, Second, &[]),
        ));
        all.push(log_entry_at_second(
            86_402,
            1,
            decision_action(2, Equal, &[]),
        ));
        let found = measure_annotation_progress(&items(), 2, &AnnotationLog::from_entries(all));
        assert_eq!(
            (found.n_items, found.n_started, found.n_complete),
            (3, 3, 2)
        );
        assert_eq!((found.n_decisions_required, found.n_decisions), (6, 5));
        assert_eq!((found.n_adjudicated, found.n_reported), (0, 1));
        // Training left out, five active decisions on the first day; on the second day, two in
        // conflict.
        assert_eq!(found.decisions_by_day, [(0, 5), (1, 2)]);
        let [one, two, _] = &found.by_annotator[..] else {
            panic!("{:?}", found.by_annotator)
        };
        assert_eq!((one.n_decided, one.n_undone, one.n_conflicts), (3, 1, 1));
        assert_eq!((two.n_decided, two.n_skipped), (2, 1));
        assert_eq!(
            (one.active_ms, one.median_decision_ms),
            (16_000, Some(4_000.0))
        );
        // Three items in sixteen seconds.
        assert_eq!(one.decisions_per_hour, Some(675.0));
        assert_eq!((one.last_event_ms, two.last_event_ms), (86_402_000, 8_000));
        assert_eq!((one.gold_accuracy, one.agreement_drift), (None, None));
    }

    #[test]
    fn the_accuracy_on_gold_items_is_computed_and_stays() {
        let answers = [First, First, First, Second, Second, First];
        let made = answers
            .iter()
            .zip(3..)
            .map(|(&answer, item)| (1, item, answer));
        let found = measure_annotation_progress(
            &items(),
            2,
            &AnnotationLog::from_entries(log_entries_of_answers(&made.collect::<Vec<_>>())),
        );
        let person = &found.by_annotator[0];
        let share = |n, of| Proportion { n, total: of };
        assert_eq!(person.gold_accuracy, wilson_interval(share(4, 6)));
        assert_eq!(person.n_gold, 6);
        let drift = person.gold_accuracy_drift.unwrap();
        assert_eq!((drift.first, drift.last), (share(2, 2), share(1, 2)));
        assert_eq!(drift.difference.value, -0.5);
        assert_eq!(found.n_started, 0);
    }

    /// Of the sampled decisions of person 1, the others have a preference on three: two agree, one
    /// does not.
    #[test]
    fn drift_is_against_what_the_others_say() {
        let found = measure_annotation_progress(
            &items(),
            3,
            &AnnotationLog::from_entries(log_entries_of_answers(&[
                (1, 0, First),
                (1, 1, Equal),
                (1, 2, Second),
                (2, 0, First),
                (2, 1, Equal),
                (3, 1, CannotSay),
                (2, 2, First),
                (3, 2, First),
            ])),
        );
        let drift = found.by_annotator[0].agreement_drift.unwrap();
        assert_eq!((drift.first.n, drift.last.n), (1, 0));
        assert_eq!(drift.difference.value, -1.0);
    }
}
