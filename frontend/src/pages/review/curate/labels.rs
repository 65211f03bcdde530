//! Display labels for tasks and their events.

use shared::annotation::event::SkipReason;
use shared::annotation::judgments::{DisputeReason, ItemConsensus};
use shared::annotation::log::AnnotationEventValidity;
use shared::annotation::tables::ranker_name_or_number;
use shared::annotation::task::AnnotationItemRole;
use shared::annotation::task::{
    DisagreementToOversample, OversampledMarginSize, ProbeItemAllocation, SamplingDesign,
    TaskInstanceFilter,
};
use shared::annotation::{AnnotatorAnswer, AxiomReasonRating, DocumentPreference};
use shared::api::annotation::AnnotationTaskStatus;
use shared::probe::ScoreClaimKind;
use shared::report::format;
use shared::study::controls::InstanceSubset;

use crate::pages::review::item::{CLAIM_ORDER_LABELS, answer_for_preference};
use crate::widgets::task_status::task_status_label;
use crate::widgets::variant::axiom_variant_label;
use crate::widgets::verdict;

/// Returns the CSS class and label of a task's status.
pub(super) fn task_status_class_and_label(
    status: AnnotationTaskStatus,
) -> (&'static str, &'static str) {
    let class = match status {
        AnnotationTaskStatus::Open => "ok",
        AnnotationTaskStatus::Draft | AnnotationTaskStatus::Closed => "out quiet",
    };
    (class, task_status_label(status))
}

/// Returns the label of an answer; documents are numbered in the order of the claim.
pub(super) fn answer_label_in_claim_order(
    answer: AnnotatorAnswer,
    claim: ScoreClaimKind,
) -> &'static str {
    CLAIM_ORDER_LABELS.answer_label(claim, answer)
}

/// Returns the display label of a preference, in the words of the claim's kind.
pub(super) fn preference_label(of: DocumentPreference, claim: ScoreClaimKind) -> &'static str {
    answer_label_in_claim_order(answer_for_preference(of), claim)
}

/// Returns the display label of the annotators' consensus, in the words of the claim's kind.
pub(crate) fn consensus_label(of: ItemConsensus, claim: ScoreClaimKind) -> &'static str {
    match of {
        ItemConsensus::Prefers(it) => preference_label(it, claim),
        ItemConsensus::CannotSay => "cannot say",
        ItemConsensus::Split => "split",
        ItemConsensus::Unanswered => "no answers",
    }
}

/// Returns the label of an annotator's rating of whether the axiom's reason matters.
pub(super) fn reason_rating_label(of: AxiomReasonRating) -> &'static str {
    match of {
        AxiomReasonRating::Matters => "reason matters",
        AxiomReasonRating::DoesNotMatter => "reason does not matter",
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
pub(super) fn annotation_event_status_label(of: AnnotationEventValidity) -> &'static str {
    match of {
        AnnotationEventValidity::Active => "current",
        AnnotationEventValidity::Conflict => "conflicts with another event",
        AnnotationEventValidity::Replaced => "replaced",
        AnnotationEventValidity::Undone => "undone",
        AnnotationEventValidity::Excluded => "excluded with its annotator",
    }
}

/// Returns the label of an item's role: training, gold or sampled.
pub(super) fn annotation_item_role_label(of: &AnnotationItemRole, claim: ScoreClaimKind) -> String {
    match of {
        AnnotationItemRole::Training { answer: it, .. } => {
            format!("training: {}", answer_label_in_claim_order(*it, claim))
        }
        AnnotationItemRole::Gold { answer: it } => {
            format!("gold: {}", answer_label_in_claim_order(*it, claim))
        }
        AnnotationItemRole::Sampled {
            inclusion_probability: probability,
        } => {
            format!(
                "sampled with inclusion probability π = {}",
                format::format_two_digit_fraction(*probability)
            )
        }
    }
}

/// Describes the sampling design of a task.
pub(super) fn describe_sampling_design(of: SamplingDesign, rankers: &[String]) -> String {
    match of {
        SamplingDesign::Uniform => "every instance with the same probability".to_owned(),
        SamplingDesign::StratifiedByProbe {
            allocation: ProbeItemAllocation::Equal,
        } => "the same number per probe".to_owned(),
        SamplingDesign::StratifiedByProbe {
            allocation: ProbeItemAllocation::Proportional,
        } => "in proportion to the instances of each probe".to_owned(),
        SamplingDesign::WeightedByMargin {
            ranker: at,
            weighting: favour,
        } => {
            let favour = match favour {
                OversampledMarginSize::SmallMargins => "close calls",
                OversampledMarginSize::LargeMargins => "clear calls",
            };
            format!(
                "{favour} of {} oversampled",
                ranker_name_or_number(rankers, at)
            )
        }
        SamplingDesign::DisagreementFirst {
            pair: between,
            disagreement_share: share,
        } => {
            let between = match between {
                DisagreementToOversample::AxiomAndRanker { ranker: at } => {
                    format!("axiom and {}", ranker_name_or_number(rankers, at))
                }
                DisagreementToOversample::TwoRankers { first, second } => {
                    let first = ranker_name_or_number(rankers, first);
                    format!("{first} and {}", ranker_name_or_number(rankers, second))
                }
            };
            format!(
                "{} from disagreements between {between}",
                format::format_percent(share)
            )
        }
    }
}

/// Describes which instances the items were drawn from.
pub(super) fn describe_instance_selection(of: &TaskInstanceFilter, rankers: &[String]) -> String {
    let dials = &of.controls;
    let mut said = Vec::new();
    said.extend(
        dials
            .variant
            .map(|it| format!("variant {}", axiom_variant_label(it))),
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
        let name = ranker_name_or_number(rankers, at);
        let outcome = of.outcome.map(|it| verdict::axiom_outcome_label(Some(it)));
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
        let between = DisagreementToOversample::AxiomAndRanker { ranker: 0 };
        let share = 0.7;
        assert_eq!(
            describe_sampling_design(
                SamplingDesign::DisagreementFirst {
                    pair: between,
                    disagreement_share: share
                },
                &rankers
            ),
            "70 % from disagreements between axiom and BM25"
        );
        assert_eq!(
            describe_instance_selection(&TaskInstanceFilter::default(), &rankers),
            "all"
        );
        let close = TaskInstanceFilter {
            ranker: Some(1),
            max_margin: Some(0.5),
            ..TaskInstanceFilter::default()
        };
        assert_eq!(
            describe_instance_selection(&close, &rankers),
            "margin of ranker 2 from any to 0.5"
        );
    }

    #[test]
    fn three_texts_have_another_question() {
        let answers = [ScoreClaimKind::Higher, ScoreClaimKind::DiminishingGain];
        let said = answers.map(|it| answer_label_in_claim_order(AnnotatorAnswer::First, it));
        assert_eq!(said, ["document 1 is better", "first step helps more"]);
    }
}
