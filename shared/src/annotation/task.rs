//! The definition of an annotation task: what is sampled from a study, and how annotators work on
//! it.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::AnnotatorAnswer;
use crate::error::{Error, InvalidFieldReason};
use crate::probe::{AxiomVariant, Probe, ProbeInstances, ScoreClaimKind};
use crate::study::Study;
use crate::study::controls::StudyPageControls;
use crate::user_text::{
    normalize_and_deduplicate_tags, normalize_guidelines, normalize_note,
    validate_and_normalize_task_title,
};
use crate::verdict::VerdictOutcome;

/// The most items of a task: as many as one page can list, and more than people annotate.
pub const MAX_ITEMS: u32 = 20_000;

/// The most annotators of one item.
pub const MAX_ANNOTATORS_PER_ITEM: u32 = 20;

/// An annotation task, as a curator defines it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AnnotationTaskDefinition {
    /// The title, shown above the queue.
    pub title: String,
    /// The name of the study.
    pub study: String,
    /// The probes whose instances are sampled.
    pub probes: Vec<Probe>,
    /// Which of their instances are sampled.
    #[serde(default)]
    #[serde(alias = "wanted")]
    pub filter: TaskInstanceFilter,
    /// The number of items to sample; all instances if there are fewer.
    pub n_items: u32,
    /// The sampling design.
    #[serde(alias = "design")]
    pub sampling: SamplingDesign,
    /// The number of annotators who decide on each item.
    #[serde(alias = "overlap")]
    pub annotators_per_item: u32,
    /// The seed of all random choices in the task.
    pub seed: u64,
    /// One of this many items is gold, as long as there are gold items; 0 for no gold.
    #[serde(alias = "gold_every")]
    pub gold_interval: u32,
    /// Whether the scores and verdicts of rankers are hidden during the task.
    #[serde(default = "yes")]
    #[serde(alias = "blind")]
    pub is_blind: bool,
    /// Whether query terms are highlighted in the documents.
    #[serde(default = "yes")]
    #[serde(alias = "mark_terms")]
    pub highlights_query_terms: bool,
    /// Tags that annotators can add to a decision with one click; they can also write others.
    #[serde(default)]
    pub tags: Vec<String>,
    /// The annotation guidelines, in Markdown. They are untrusted: HTML in them is never rendered.
    #[serde(default)]
    pub guidelines: String,
    /// The training items that every annotator does first, in this order.
    #[serde(default)]
    pub training: Vec<InstanceWithReferenceAnswer>,
    /// The gold items, mixed into the queue.
    #[serde(default)]
    pub gold: Vec<InstanceWithReferenceAnswer>,
    /// The simulated annotators that answered the items in place of people; `None` for people. Only
    /// the demo has them: a task that is sent with them is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub simulation: Option<AnnotatorSimulation>,
}

fn yes() -> bool {
    true
}

/// The simulated annotators of a task, which answer as `annotation::simulation` describes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AnnotatorSimulation {
    /// The probability of a wrong answer, from 0 to 1, for each annotator.
    pub error_rates: Vec<f64>,
}

/// The instances that are sampled from.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskInstanceFilter {
    /// The controls of the study page: variant, δ, tie threshold, subset of instances.
    #[serde(default)]
    #[serde(alias = "dials")]
    pub controls: StudyPageControls,
    /// The ranker that outcome, margin and truncation refer to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranker: Option<usize>,
    /// Only instances with this outcome.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<VerdictOutcome>,
    /// Only instances with at least this margin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(alias = "margin_from")]
    pub min_margin: Option<f64>,
    /// Only instances with at most this margin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(alias = "margin_to")]
    pub max_margin: Option<f64>,
}

/// The sampling design. Every instance has a probability above 0, so that estimates from the sample
/// hold for all instances.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum SamplingDesign {
    /// The same probability for every instance.
    Uniform,
    /// The same probability for every instance of a probe.
    #[serde(alias = "by-probe")]
    StratifiedByProbe {
        /// How many items each probe gets.
        #[serde(alias = "share")]
        allocation: ProbeItemAllocation,
    },
    /// Probabilities that depend on the margin of a ranker.
    #[serde(alias = "by-margin")]
    WeightedByMargin {
        /// The index of the ranker in the study.
        ranker: usize,
        /// Which margins are sampled more often.
        #[serde(alias = "favour")]
        weighting: OversampledMarginSize,
    },
    /// Higher probabilities for instances on which two sides disagree.
    DisagreementFirst {
        /// The two sides.
        #[serde(alias = "between")]
        pair: DisagreementToOversample,
        /// The share of the items that are disagreements, above 0 and below 1.
        #[serde(alias = "share")]
        disagreement_share: f64,
    },
}

/// How many items each probe gets; at least one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ProbeItemAllocation {
    /// In proportion to the number of its instances.
    Proportional,
    /// The same number for each probe, as long as it has instances.
    Equal,
}

/// The margins that are sampled more often. With `r` as `|margin|` over its median, the probability
/// of an instance is proportional to `1/8 + f(r)`, so that none is more than nine times as probable
/// as another and weights stay bounded. Without a margin, `r = 1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OversampledMarginSize {
    /// Small margins: `f(r) = 1 / (1 + r)`.
    #[serde(alias = "close")]
    SmallMargins,
    /// Large margins: `f(r) = r / (1 + r)`.
    #[serde(alias = "clear")]
    LargeMargins,
}

/// The two sides whose disagreement is oversampled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum DisagreementToOversample {
    /// The claim and the scores of a ranker.
    AxiomAndRanker {
        /// The index of the ranker in the study.
        ranker: usize,
    },
    /// The scores of two rankers.
    #[serde(alias = "rankers")]
    TwoRankers {
        /// The index of the first ranker in the study.
        first: usize,
        /// The index of the second ranker in the study.
        second: usize,
    },
}

/// A reference to an instance of a study.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
pub struct StudyInstanceRef {
    /// The probe of the instance.
    pub probe: Probe,
    /// The variant of the axiom.
    #[serde(alias = "mode")]
    pub variant: AxiomVariant,
    /// The index among the instances of that probe and variant.
    #[serde(alias = "number")]
    pub index: u64,
}

impl StudyInstanceRef {
    /// Returns the kind of claim that the instance's probe makes in the instance's variant.
    pub fn claim_kind(&self) -> ScoreClaimKind {
        self.probe.claim_kind(self.variant)
    }

    /// Returns the instances of the probe and variant, and the position of this one among them.
    /// Returns an error if the study lacks it.
    pub fn find_in_study(self, study: &Study) -> Result<(&ProbeInstances, usize), Error> {
        let instances = study.instances_of_probe(self.probe, self.variant)?;
        let (position, n) = (self.index, instances.len());
        match position < n as u64 {
            true => Ok((instances, position as usize)),
            false => Err(Error::index_not_found(
                "instance of this probe",
                position,
                n,
            )),
        }
    }
}

/// An instance with a known right answer, for training or gold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct InstanceWithReferenceAnswer {
    /// The instance.
    #[serde(alias = "place")]
    pub instance: StudyInstanceRef,
    /// The right answer, about the documents in the order of the claim.
    pub answer: AnnotatorAnswer,
    /// The reason; in training it is shown after the decision.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[serde(alias = "why")]
    pub explanation: String,
}

/// One instance that annotators decide on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AnnotationItem {
    /// The instance.
    #[serde(alias = "place")]
    pub instance: StudyInstanceRef,
    /// The index of its query in the study.
    pub query: u32,
    /// The role of the item.
    pub role: AnnotationItemRole,
}

/// The role of an item in its task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum AnnotationItemRole {
    /// A training item. It is not counted.
    Training {
        /// The right answer.
        answer: AnnotatorAnswer,
        /// The reason, shown after the decision.
        #[serde(alias = "why")]
        explanation: String,
    },
    /// An item that measures an annotator's accuracy. It enters no estimate.
    Gold {
        /// The right answer.
        answer: AnnotatorAnswer,
    },
    /// An item that was sampled for the estimates.
    #[serde(alias = "drawn")]
    Sampled {
        /// π, above 0 and at most 1.
        #[serde(alias = "probability")]
        inclusion_probability: f64,
    },
}

impl AnnotationItemRole {
    /// Returns the name of the item role in exported files.
    pub fn name(&self) -> &'static str {
        match self {
            AnnotationItemRole::Training { .. } => "training",
            AnnotationItemRole::Gold { .. } => "gold",
            AnnotationItemRole::Sampled { .. } => "sampled",
        }
    }

    /// Returns π; `None` for an item that was not sampled.
    pub fn inclusion_probability(&self) -> Option<f64> {
        match self {
            AnnotationItemRole::Sampled {
                inclusion_probability: probability,
            } => Some(*probability),
            AnnotationItemRole::Training { .. } | AnnotationItemRole::Gold { .. } => None,
        }
    }
}

/// The feedback after a decision on a training item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TrainingFeedback {
    /// The right answer, about the documents in the order of the claim.
    pub answer: AnnotatorAnswer,
    /// The reason.
    pub explanation: String,
}

impl AnnotationItem {
    /// Returns the feedback of a training item; `None` for other items.
    pub fn training_feedback(&self) -> Option<TrainingFeedback> {
        match &self.role {
            AnnotationItemRole::Training {
                answer,
                explanation: why,
            } => Some(TrainingFeedback {
                answer: *answer,
                explanation: why.clone(),
            }),
            AnnotationItemRole::Gold { .. } | AnnotationItemRole::Sampled { .. } => None,
        }
    }
}

impl AnnotationTaskDefinition {
    /// Returns whether the annotators of the task are simulated.
    pub fn is_simulated(&self) -> bool {
        self.simulation.is_some()
    }

    /// Returns the task as it is stored, with texts normalized as in [`crate::user_text`]. It is an
    /// error if the task is invalid for every study.
    pub fn normalize_and_validate(mut self) -> Result<AnnotationTaskDefinition, Error> {
        let within = |field: &str, value: u32, range: RangeInclusive<u32>| {
            if range.contains(&value) {
                return Ok(());
            }
            Err(InvalidFieldReason::IntegerOutOfRange { value, range }.into_error_for_field(field))
        };
        self.title = validate_and_normalize_task_title(&self.title)?;
        if self.probes.is_empty() {
            return Err(Error::missing_field("probes", "select at least one"));
        }
        within("n_items", self.n_items, 1..=MAX_ITEMS)?;
        within(
            "annotators_per_item",
            self.annotators_per_item,
            1..=MAX_ANNOTATORS_PER_ITEM,
        )?;
        within("gold_interval", self.gold_interval, 0..=1_000)?;
        if let SamplingDesign::DisagreementFirst {
            disagreement_share: share,
            ..
        } = self.sampling
            && !(share > 0.0 && share < 1.0)
        {
            let reason = format!("is {share}; must be between 0 and 1");
            return Err(Error::out_of_range("disagreement_share", reason));
        }
        let by_ranker = self.filter.outcome.is_some()
            || self.filter.min_margin.is_some()
            || self.filter.max_margin.is_some();
        if by_ranker && self.filter.ranker.is_none() {
            return Err(Error::missing_field(
                "ranker",
                "select the ranker whose verdict or margin is used",
            ));
        }
        self.tags = normalize_and_deduplicate_tags(&self.tags)?;
        self.guidelines = normalize_guidelines(&self.guidelines)?;
        for known in self.training.iter_mut().chain(&mut self.gold) {
            known.explanation = normalize_note(&known.explanation)?;
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{self, tfc1_annotation_task};
    use super::*;

    #[test]
    fn only_training_says_what_is_right() {
        let (answer, why) = (AnnotatorAnswer::First, "more terms".to_owned());
        let training = fixture::tfc1_annotation_item(
            0,
            0,
            AnnotationItemRole::Training {
                answer,
                explanation: why,
            },
        );
        assert_eq!(
            training.training_feedback().unwrap().explanation,
            "more terms"
        );
        assert_eq!(
            fixture::tfc1_annotation_item(0, 0, AnnotationItemRole::Gold { answer })
                .training_feedback(),
            None
        );
    }

    #[track_caller]
    fn refused(change: impl Fn(&mut AnnotationTaskDefinition), setting: &str) {
        let mut task = tfc1_annotation_task();
        change(&mut task);
        let error = task.normalize_and_validate().unwrap_err().to_string();
        assert!(error.starts_with(setting), "{error}");
    }

    #[test]
    fn a_sound_task_comes_back_as_it_is() {
        assert_eq!(
            tfc1_annotation_task().normalize_and_validate().unwrap(),
            tfc1_annotation_task()
        );
        let json = serde_json::to_string(&tfc1_annotation_task()).unwrap();
        assert_eq!(
            serde_json::from_str::<AnnotationTaskDefinition>(&json).unwrap(),
            tfc1_annotation_task()
        );
    }

    #[test]
    fn what_no_task_can_be_made_of_is_refused() {
        for title in [" ", "\u{200D}", "Rivers \u{202E}", "\0", &"a".repeat(121)] {
            refused(|it| it.title = title.to_owned(), "title");
        }
        refused(|it| it.probes.clear(), "probes");
        refused(|it| it.n_items = 0, "n_items");
        refused(|it| it.annotators_per_item = 21, "annotators_per_item");
        refused(|it| it.filter.max_margin = Some(1.0), "ranker");
        refused(|it| it.guidelines = "a".repeat(50_001), "guidelines");
        for share in [0.0, 1.0, f64::NAN] {
            let between = DisagreementToOversample::AxiomAndRanker { ranker: 0 };
            let design = SamplingDesign::DisagreementFirst {
                pair: between,
                disagreement_share: share,
            };
            refused(|it| it.sampling = design, "disagreement_share");
        }
    }
}
