//! Display labels for tasks and their events.

use shared::annotation::event::SkipReason;
use shared::annotation::judgments::{Consensus, DisputeReason};
use shared::annotation::log::EventStatus;
use shared::annotation::tables::ranker_name;
use shared::annotation::task::ItemRole;
use shared::annotation::task::{
    Allocation, DisagreementPair, MarginWeighting, SamplingDesign, TaskFilter,
};
use shared::annotation::{AnnotatorAnswer, Preference, ReasonRating};
use shared::api::annotation::TaskStatus;
use shared::probe::ClaimKind;
use shared::report::format;
use shared::study::controls::InstanceSubset;

use crate::pages::review::item::{CLAIM_ORDER_LABELS, answer_for_preference};
use crate::widgets::task_status::task_status_label;
use crate::widgets::variant::variant_label;
use crate::widgets::verdict;

/// Returns the CSS class and label of a task's status.
pub(super) fn status_label(status: TaskStatus) -> (&'static str, &'static str) {
    let class = match status {
        TaskStatus::Open => "ok",
        TaskStatus::Draft | TaskStatus::Closed => "out quiet",
    };
    (class, task_status_label(status))
}

/// Returns the label of an answer; documents are numbered in the order of the claim.
pub(super) fn answer_label(answer: AnnotatorAnswer, claim: ClaimKind) -> &'static str {
    CLAIM_ORDER_LABELS.label(claim, answer)
}

/// Returns the display label of a preference, in the words of the claim's kind.
pub(super) fn preference_label(of: Preference, claim: ClaimKind) -> &'static str {
    answer_label(answer_for_preference(of), claim)
}

/// Returns the display label of the annotators' consensus, in the words of the claim's kind.
pub(super) fn consensus_label(of: Consensus, claim: ClaimKind) -> &'static str {
    match of {
        Consensus::Prefers(it) => preference_label(it, claim),
        Consensus::CannotSay => "cannot say",
        Consensus::Split => "split",
        Consensus::Unanswered => "no answers",
    }
}

/// Returns the label of an annotator's rating of whether the axiom's reason matters.
pub(super) fn reason_vote_label(of: ReasonRating) -> &'static str {
    match of {
        ReasonRating::Matters => "reason matters",
        ReasonRating::DoesNotMatter => "reason does not matter",
    }
}

/// Returns the label of the reason why an item is in the adjudication queue.
pub(super) fn dispute_reason_label(of: DisputeReason) -> &'static str {
    match of {
        DisputeReason::ConflictingAdjudications => "two adjudications",
        DisputeReason::SelfConflict => "annotator contradicts themselves",
        DisputeReason::Split => "split",
        DisputeReason::Outvoted => "one annotator outvoted",
        DisputeReason::CannotSay => "all answers: cannot say",
        DisputeReason::Reported => "reported",
    }
}

/// Returns the label of the reason why an item was skipped.
pub(super) fn skip_reason_label(of: SkipReason) -> &'static str {
    match of {
        SkipReason::NotUnderstandable => "not understood",
        SkipReason::BrokenDocument => "a document is broken",
        SkipReason::DistressingContent => "disturbing",
        SkipReason::ConflictOfInterest => "conflict of interest",
        SkipReason::Other => "other reason",
    }
}

/// Returns the label of an event's status.
pub(super) fn event_status_label(of: EventStatus) -> &'static str {
    match of {
        EventStatus::Active => "current",
        EventStatus::Conflict => "conflicts with another event",
        EventStatus::Replaced => "replaced",
        EventStatus::Undone => "undone",
        EventStatus::Excluded => "excluded with its annotator",
    }
}

/// Returns the label of an item's role: training, gold or sampled.
pub(super) fn item_role_label(of: &ItemRole, claim: ClaimKind) -> String {
    match of {
        ItemRole::Training { answer: it, .. } => format!("training: {}", answer_label(*it, claim)),
        ItemRole::Gold { answer: it } => format!("gold: {}", answer_label(*it, claim)),
        ItemRole::Sampled {
            inclusion_probability: probability,
        } => {
            format!(
                "sampled with inclusion probability π = {}",
                format::fraction(*probability)
            )
        }
    }
}

/// Describes the sampling design of a task.
pub(super) fn design_text(of: SamplingDesign, rankers: &[String]) -> String {
    match of {
        SamplingDesign::Uniform => "every instance with the same probability".to_owned(),
        SamplingDesign::StratifiedByProbe {
            allocation: Allocation::Equal,
        } => "the same number per probe".to_owned(),
        SamplingDesign::StratifiedByProbe {
            allocation: Allocation::Proportional,
        } => "in proportion to the instances of each probe".to_owned(),
        SamplingDesign::WeightedByMargin {
            ranker: at,
            weighting: favour,
        } => {
            let favour = match favour {
                MarginWeighting::SmallMargins => "close calls",
                MarginWeighting::LargeMargins => "clear calls",
            };
            format!("{favour} of {} preferred", ranker_name(rankers, at))
        }
        SamplingDesign::DisagreementFirst {
            pair: between,
            disagreement_share: share,
        } => {
            let between = match between {
                DisagreementPair::AxiomAndRanker { ranker: at } => {
                    format!("axiom and {}", ranker_name(rankers, at))
                }
                DisagreementPair::TwoRankers { first, second } => {
                    let first = ranker_name(rankers, first);
                    format!("{first} and {}", ranker_name(rankers, second))
                }
            };
            format!(
                "{} from disagreements between {between}",
                format::percent(share)
            )
        }
    }
}

/// Describes which instances the items were drawn from.
pub(super) fn selection_text(of: &TaskFilter, rankers: &[String]) -> String {
    let dials = &of.controls;
    let mut said = Vec::new();
    said.extend(
        dials
            .variant
            .map(|it| format!("variant {}", variant_label(it))),
    );
    said.extend(
        dials
            .length_tolerance
            .map(|it| format!("length tolerance δ {it}")),
    );
    said.extend(dials.tie_threshold.map(|it| format!("tie threshold {it}")));
    match dials.subset {
        InstanceSubset::All => {}
        InstanceSubset::Untruncated => said.push("documents not truncated".to_owned()),
        InstanceSubset::WithRelevant => said.push("with a relevant document".to_owned()),
    }
    said.extend(
        dials
            .split
            .as_ref()
            .map(|it| format!("queries of split {it}")),
    );
    if let Some(at) = of.ranker {
        let name = ranker_name(rankers, at);
        let outcome = of.outcome.map(|it| verdict::outcome_label(Some(it)));
        said.extend(outcome.map(|it| format!("{it} by {name}")));
        let bound = |it: Option<f64>| it.map_or("any".to_owned(), |it| it.to_string());
        if of.min_margin.is_some() || of.max_margin.is_some() {
            let (from, to) = (bound(of.min_margin), bound(of.max_margin));
            said.push(format!("margin of {name} from {from} to {to}"));
        }
    }
    match said.is_empty() {
        true => "all".to_owned(),
        false => said.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_drawn_is_said() {
        let rankers = ["BM25".to_owned()];
        let between = DisagreementPair::AxiomAndRanker { ranker: 0 };
        let share = 0.7;
        assert_eq!(
            design_text(
                SamplingDesign::DisagreementFirst {
                    pair: between,
                    disagreement_share: share
                },
                &rankers
            ),
            "70 % from disagreements between axiom and BM25"
        );
        assert_eq!(selection_text(&TaskFilter::default(), &rankers), "all");
        let close = TaskFilter {
            ranker: Some(1),
            max_margin: Some(0.5),
            ..TaskFilter::default()
        };
        assert_eq!(
            selection_text(&close, &rankers),
            "margin of ranker 2 from any to 0.5"
        );
    }

    #[test]
    fn three_texts_have_another_question() {
        let answers = [ClaimKind::Higher, ClaimKind::DiminishingGain];
        let said = answers.map(|it| answer_label(AnnotatorAnswer::First, it));
        assert_eq!(said, ["document 1 is better", "first step helps more"]);
    }
}
