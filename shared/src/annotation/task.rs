//! A review task: what is drawn from a study, how, and how people are led through it.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use super::AnnotatorAnswer;
use crate::error::{Error, FieldError};
use crate::probe::{AxiomVariant, ClaimKind, Probe};
use crate::study::controls::StudyControls;
use crate::user_text::{check_guidelines, check_note, check_tags, check_title};
use crate::verdict::Outcome;

/// A task has at most so many items: what one page can list, and more than people review.
pub const MAX_ITEMS: u32 = 20_000;

/// An item is shown to at most so many people.
pub const MAX_ANNOTATORS_PER_ITEM: u32 = 20;

/// A review task as a curator writes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewTask))]
#[serde(deny_unknown_fields)]
pub struct AnnotationTask {
    /// What people read above the queue.
    pub title: String,
    /// The name of the study.
    pub study: String,
    /// Probes whose instances are drawn from.
    pub probes: Vec<Probe>,
    /// Which of their instances.
    #[serde(default)]
    #[serde(alias = "wanted")]
    pub filter: TaskFilter,
    /// How many are drawn; all there are, if there are fewer.
    pub n_items: u32,
    /// With which chances.
    #[serde(alias = "design")]
    pub sampling: SamplingDesign,
    /// How many people decide on each item.
    #[serde(alias = "overlap")]
    pub annotators_per_item: u32,
    /// Everything random in the task comes from this.
    pub seed: u64,
    /// Of so many items that a person gets, one is gold, while there are any; 0 for no gold.
    #[serde(alias = "gold_every")]
    pub gold_interval: u32,
    /// Whether people see what rankers make of an item only after the task: no scores, no verdict.
    #[serde(default = "yes")]
    #[serde(alias = "blind")]
    pub is_blind: bool,
    /// Whether query terms are marked in the texts.
    #[serde(default = "yes")]
    #[serde(alias = "mark_terms")]
    pub highlights_query_terms: bool,
    /// Tags that people can put on a decision by one click; they may write others.
    #[serde(default)]
    pub tags: Vec<String>,
    /// How to decide, in Markdown. It is untrusted: no HTML of it is ever shown.
    #[serde(default)]
    pub guidelines: String,
    /// What everybody does first, in this order.
    #[serde(default)]
    pub training: Vec<ReferenceAnswer>,
    /// What is strewn in.
    #[serde(default)]
    pub gold: Vec<ReferenceAnswer>,
}

fn yes() -> bool {
    true
}

/// Which instances are drawn from.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewWanted))]
#[serde(deny_unknown_fields)]
pub struct TaskFilter {
    /// The state of the Study page: reading, δ, width of a tie, which instances count.
    #[serde(default)]
    #[serde(alias = "dials")]
    pub controls: StudyControls,
    /// The ranker that outcome, margins and what it saw whole are those of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranker: Option<usize>,
    /// Only this outcome.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// Only margins from here on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(alias = "margin_from")]
    pub min_margin: Option<f64>,
    /// Only margins up to here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(alias = "margin_to")]
    pub max_margin: Option<f64>,
}

/// With which chances instances are drawn. No instance has none, so that estimates over what was
/// drawn are estimates over all.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewDesign))]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum SamplingDesign {
    /// Every instance with the same.
    Uniform,
    /// Within each probe every instance with the same.
    #[serde(alias = "by-probe")]
    StratifiedByProbe {
        /// How many of each probe.
        #[serde(alias = "share")]
        allocation: Allocation,
    },
    /// By the size of the margin of a ranker.
    #[serde(alias = "by-margin")]
    WeightedByMargin {
        /// Its place in the study.
        ranker: usize,
        /// Which margins.
        #[serde(alias = "favour")]
        weighting: MarginWeighting,
    },
    /// Those where two do not agree more often than the others.
    DisagreementFirst {
        /// Who.
        #[serde(alias = "between")]
        pair: DisagreementPair,
        /// The share of the items that is drawn from them, above 0 and below 1.
        #[serde(alias = "share")]
        allocation: f64,
    },
}

/// How many items each probe gets, at least one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewShare))]
#[serde(rename_all = "kebab-case")]
pub enum Allocation {
    /// In proportion to its instances.
    Proportional,
    /// As many as any other, while it has them.
    Equal,
}

/// Which margins are drawn more often. With `r = |margin|` over its median, the chances of an
/// instance are in proportion to `1/8 + f(r)`, so that none has more than nine times those of
/// another, and weights do not run away. Without a margin, `r = 1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewFavour))]
#[serde(rename_all = "kebab-case")]
pub enum MarginWeighting {
    /// Close calls: `f(r) = 1 / (1 + r)`.
    #[serde(alias = "close")]
    SmallMargins,
    /// Clear ones: `f(r) = r / (1 + r)`.
    #[serde(alias = "clear")]
    LargeMargins,
}

/// The two sides whose disagreement is oversampled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewBetween))]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum DisagreementPair {
    /// The claim and the scores of a ranker.
    AxiomAndRanker {
        /// Its place in the study.
        ranker: usize,
    },
    /// The scores of two rankers.
    #[serde(alias = "rankers")]
    TwoRankers {
        /// Place of the one.
        first: usize,
        /// Place of the other.
        second: usize,
    },
}

/// An instance of a study.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewPlace))]
pub struct InstanceRef {
    /// Of which probe.
    pub probe: Probe,
    /// The variant of the axiom.
    #[serde(alias = "mode")]
    pub variant: AxiomVariant,
    /// Its place among the instances of both.
    #[serde(alias = "number")]
    pub index: u64,
}

impl InstanceRef {
    /// Returns the kind of claim that the instance's probe makes in the instance's variant.
    pub fn claim(&self) -> ClaimKind {
        self.probe.claim(self.variant)
    }
}

/// An instance of which the answer is known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewKnown))]
pub struct ReferenceAnswer {
    /// The instance.
    #[serde(alias = "place")]
    pub instance: InstanceRef,
    /// The right answer, about the texts in the order of the claim.
    pub answer: AnnotatorAnswer,
    /// Why; in training it is shown after the decision.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[serde(alias = "why")]
    pub explanation: String,
}

/// One instance that annotators decide on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewItem))]
pub struct AnnotationItem {
    /// Which instance.
    #[serde(alias = "place")]
    pub instance: InstanceRef,
    /// Place of its query in the study.
    pub query: u32,
    /// What it is there for.
    pub role: ItemRole,
}

/// What an item is there for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewRole))]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum ItemRole {
    /// To learn by. It counts for nothing.
    Training {
        /// The right answer.
        answer: AnnotatorAnswer,
        /// Shown after the decision.
        #[serde(alias = "why")]
        explanation: String,
    },
    /// To see how right a person is. It is in no estimate.
    Gold {
        /// The right answer.
        answer: AnnotatorAnswer,
    },
    /// To learn from people.
    #[serde(alias = "drawn")]
    Sampled {
        /// π, above 0 and at most 1.
        #[serde(alias = "probability")]
        inclusion_probability: f64,
    },
}

impl ItemRole {
    /// Returns the name of the item role in exported files.
    pub fn name(&self) -> &'static str {
        match self {
            ItemRole::Training { .. } => "training",
            ItemRole::Gold { .. } => "gold",
            ItemRole::Sampled { .. } => "drawn",
        }
    }

    /// π; none for an item that was not drawn.
    pub fn probability(&self) -> Option<f64> {
        match self {
            ItemRole::Sampled {
                inclusion_probability: probability,
            } => Some(*probability),
            ItemRole::Training { .. } | ItemRole::Gold { .. } => None,
        }
    }
}

/// What a person is told who has decided on a training item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewFeedback))]
pub struct TrainingFeedback {
    /// The right answer, about the texts in the order of the claim.
    pub answer: AnnotatorAnswer,
    /// Why.
    pub explanation: String,
}

impl AnnotationItem {
    /// What is told after a decision: of training the right answer, of all else nothing.
    pub fn feedback(&self) -> Option<TrainingFeedback> {
        match &self.role {
            ItemRole::Training {
                answer,
                explanation: why,
            } => Some(TrainingFeedback {
                answer: *answer,
                explanation: why.clone(),
            }),
            ItemRole::Gold { .. } | ItemRole::Sampled { .. } => None,
        }
    }
}

impl AnnotationTask {
    /// The task as it is kept, words by the rules of [`crate::user_text`]. Refused is what no task
    /// can be made of, whatever the study.
    pub fn validated(mut self) -> Result<AnnotationTask, Error> {
        let within = |field: &str, value: u32, range: RangeInclusive<u32>| {
            if range.contains(&value) {
                return Ok(());
            }
            Err(FieldError::IntegerOutOfRange { value, range }.for_field(field))
        };
        self.title = check_title(&self.title)?;
        if self.probes.is_empty() {
            return Err(Error::missing("probes", "select at least one"));
        }
        within("n_items", self.n_items, 1..=MAX_ITEMS)?;
        within(
            "overlap",
            self.annotators_per_item,
            1..=MAX_ANNOTATORS_PER_ITEM,
        )?;
        within("gold_every", self.gold_interval, 0..=1_000)?;
        if let SamplingDesign::DisagreementFirst {
            allocation: share, ..
        } = self.sampling
            && !(share > 0.0 && share < 1.0)
        {
            let reason = format!("is {share}; must be between 0 and 1");
            return Err(Error::out_of_range("share", reason));
        }
        let by_ranker = self.filter.outcome.is_some()
            || self.filter.min_margin.is_some()
            || self.filter.max_margin.is_some();
        if by_ranker && self.filter.ranker.is_none() {
            return Err(Error::missing(
                "ranker",
                "select the ranker whose outcome or margin is used",
            ));
        }
        self.tags = check_tags(&self.tags)?;
        self.guidelines = check_guidelines(&self.guidelines)?;
        for known in self.training.iter_mut().chain(&mut self.gold) {
            known.explanation = check_note(&known.explanation)?;
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{self, task};
    use super::*;

    #[test]
    fn only_training_says_what_is_right() {
        let (answer, why) = (AnnotatorAnswer::First, "more terms".to_owned());
        let training = fixture::item(
            0,
            0,
            ItemRole::Training {
                answer,
                explanation: why,
            },
        );
        assert_eq!(training.feedback().unwrap().explanation, "more terms");
        assert_eq!(
            fixture::item(0, 0, ItemRole::Gold { answer }).feedback(),
            None
        );
    }

    #[track_caller]
    fn refused(change: impl Fn(&mut AnnotationTask), setting: &str) {
        let mut task = task();
        change(&mut task);
        let error = task.validated().unwrap_err().to_string();
        assert!(error.starts_with(setting), "{error}");
    }

    #[test]
    fn a_sound_task_comes_back_as_it_is() {
        assert_eq!(task().validated().unwrap(), task());
        let json = serde_json::to_string(&task()).unwrap();
        assert_eq!(
            serde_json::from_str::<AnnotationTask>(&json).unwrap(),
            task()
        );
    }

    #[test]
    fn what_no_task_can_be_made_of_is_refused() {
        for title in [" ", "\u{200D}", "Rivers \u{202E}", "\0", &"a".repeat(121)] {
            refused(|it| it.title = title.to_owned(), "title");
        }
        refused(|it| it.probes.clear(), "probes");
        refused(|it| it.n_items = 0, "n_items");
        refused(|it| it.annotators_per_item = 21, "overlap");
        refused(|it| it.filter.max_margin = Some(1.0), "ranker");
        refused(|it| it.guidelines = "a".repeat(50_001), "guidelines");
        for share in [0.0, 1.0, f64::NAN] {
            let between = DisagreementPair::AxiomAndRanker { ranker: 0 };
            let design = SamplingDesign::DisagreementFirst {
                pair: between,
                allocation: share,
            };
            refused(|it| it.sampling = design, "share");
        }
    }
}
