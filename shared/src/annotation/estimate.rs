//! Agreement of *axiom and annotators*, *rankers and annotators*, and *axiom and relevance
//! judgments*, estimated for the whole sampling frame from the sampled items.
//!
//! The estimator is that of Hájek (in Godambe and Sprott, Foundations of Statistical Inference,
//! 1971): `Σ (y / π) / Σ (1 / π)` over the sampled items on which both sides have a preference,
//! where `y` is 1 if the two sides agree and 0 if not, and π is the inclusion probability.
//!
//! The annotators' side of an item is [`ItemAnswers::adjudicated_or_majority_preference`]: an
//! adjudication, or the preference with the most votes. Items on which annotators are split, cannot
//! say or have not answered have no preference and are counted separately. *Equal* is a
//! preference: it agrees with a claim that allows a tie, disagrees with one that does not, and
//! agrees with a ranker whose scores tie. Since annotators tie often and rankers hardly ever,
//! [`PairwiseAgreementRates::without_ties`] leaves out items where one side is *equal*.
//! [`PairwiseAgreementRates::by_vote`] needs no majority: `y` is the share of the votes on an item
//! that agree, ignoring adjudications, which estimates how often a single annotator would agree.
//!
//! There are two intervals, both percentile bootstraps. The first resamples queries, whose items
//! keep their weights: the range over other samples of this design. It treats queries as drawn with
//! replacement, so it is a little too wide where most of the frame was sampled. The second also
//! resamples annotators, independently (the pigeonhole bootstrap: Owen, Annals of Applied
//! Statistics 1, 2007), and counts each annotator's votes as often as the annotator was drawn: the
//! range over other annotators as well, from 2,000 draws. An item none of whose annotators is drawn
//! is left out of a draw; an adjudication stays.

mod vote_share;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::judgments::ItemConsensus;
use super::sampling_frame::map_claim_to_ranker_scores;
use super::task::AnnotationItem;
use super::{AnnotationLog, AxiomReasonRating, DocumentPreference, ItemAnswers, ItemNo};
use crate::error::Error;
use crate::probe::{Probe, ScoreClaimKind};
use crate::stats::EstimateWithInterval;
use crate::study::Study;
use crate::study::controls::StudyPageControls;
use vote_share::{
    AnnotatorComparisonTarget, SampledItemVotes, bool_to_number, weighted_vote_share,
};

/// A sampled item with the preferences of annotators, rankers and relevance judgments.
#[derive(Debug, Clone, PartialEq)]
pub struct SampledItemWithPreferences {
    /// The probe of the instance.
    pub probe: Probe,
    /// The kind of its claim.
    pub claim: ScoreClaimKind,
    /// The query; items of one query are not independent.
    pub query: u32,
    /// π, above 0 and at most 1.
    pub inclusion_probability: f64,
    /// The answers of the annotators.
    pub answers: ItemAnswers,
    /// The preference of each ranker of the study; `None` unless all documents have a score.
    pub ranker_preferences: Vec<Option<DocumentPreference>>,
    /// The preference by relevance judgments; `None` unless both documents have a grade, and for
    /// three documents.
    pub qrels_preference: Option<DocumentPreference>,
}

/// The estimates over all probes and for each probe.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AgreementEstimates {
    /// Over all items.
    pub overall: AxiomAndRankerAgreementEstimates,
    /// For each probe, in the order of the probes.
    pub by_probe: Vec<ProbeAgreementEstimates>,
}

/// The estimates for one probe.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ProbeAgreementEstimates {
    /// The probe.
    pub probe: Probe,
    /// The estimates over its items.
    pub estimate: AxiomAndRankerAgreementEstimates,
}

/// The estimates over a set of items.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AxiomAndRankerAgreementEstimates {
    /// The numbers of items by outcome of the annotation.
    pub counts: ItemConsensusCounts,
    /// Agreement of the axiom with annotators.
    pub axiom_vs_people: PairwiseAgreementRates,
    /// Agreement of each ranker with annotators, in the order of the study.
    pub rankers_vs_people: Vec<PairwiseAgreementRates>,
    /// Agreement of the axiom with relevance judgments, over the same items whether or not
    /// annotators have decided on them.
    pub axiom_vs_qrels: PairwiseAgreementRates,
    /// The share of annotators who say that the axiom's reason matters, among those who rated it.
    pub share_reason_matters: Option<SamplingFrameShareEstimate>,
}

/// The numbers of items by outcome of the annotation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ItemConsensusCounts {
    /// All items.
    pub n_items: u64,
    /// Items on which annotators prefer one of the documents.
    pub n_preference: u64,
    /// Items on which annotators say that neither document is better.
    pub n_equal: u64,
    /// Items on which two preferences have the most votes.
    pub n_split: u64,
    /// The number of items on which the consensus is "cannot say".
    pub n_cannot_say: u64,
    /// Items without an answer, or only with answers of annotators who contradict themselves.
    pub n_unanswered: u64,
}

/// How often two sides agree. Each value is `None` without an item on which both have a preference.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PairwiseAgreementRates {
    /// Over all such items.
    pub agreement: Option<SamplingFrameShareEstimate>,
    /// Over the items on which neither side is *equal*.
    pub without_ties: Option<SamplingFrameShareEstimate>,
    /// By single votes instead of the majority; `None` if annotators are not one of the sides.
    pub by_vote: Option<SamplingFrameShareEstimate>,
}

/// An estimated share of the sampling frame.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SamplingFrameShareEstimate {
    /// The share, from 0 to 1, with its interval over other samples.
    pub estimate: EstimateWithInterval,
    /// The interval over other samples and other annotators; `None` with fewer than two annotators.
    pub interval_over_annotators: Option<[f64; 2]>,
    /// The number of items on which both sides have a preference.
    pub n_items: u64,
    /// The number of queries of these items.
    pub n_queries: u64,
    /// The effective sample size: the number of equally weighted items with the same information,
    /// `(Σ 1/π)² / Σ (1/π)²` (Kish, Survey Sampling, 1965).
    pub n_effective: f64,
}

/// Returns the sampled items of a task with the preferences of all sides.
pub fn load_sampled_item_preferences(
    study: &Study,
    dials: &StudyPageControls,
    items: &[AnnotationItem],
    log: &AnnotationLog,
) -> Result<Vec<SampledItemWithPreferences>, Error> {
    let mut found = Vec::new();
    for (item, number) in items.iter().zip((0..).map(ItemNo)) {
        let Some(probability) = item.role.inclusion_probability() else {
            continue;
        };
        let place = item.instance;
        let (instances, at) = place.find_in_study(study)?;
        let (query, claim) = (instances.query_of_instance(at), instances.claim_at(at));
        let rankers = study.scores.iter().map(|scores| {
            let scored = map_claim_to_ranker_scores(study, scores, query, claim)?;
            Some(DocumentPreference::from_scores(
                scored,
                dials.tie_threshold_for_ranker(scores),
            ))
        });
        let grades = claim.replace_docs_with_scores(|text| study.relevance_grade(query, text));
        found.push(SampledItemWithPreferences {
            probe: place.probe,
            claim: claim.kind(),
            query: query as u32,
            inclusion_probability: probability,
            answers: ItemAnswers::from_log(log, number),
            ranker_preferences: rankers.collect(),
            qrels_preference: grades.and_then(DocumentPreference::from_grades),
        });
    }
    Ok(found)
}

/// Computes all estimates from annotated items.
pub fn compute_agreement_estimates(items: &[SampledItemWithPreferences]) -> AgreementEstimates {
    let n_rankers = items
        .iter()
        .map(|it| it.ranker_preferences.len())
        .max()
        .unwrap_or_default();
    let probes: BTreeSet<Probe> = items.iter().map(|it| it.probe).collect();
    let of_probe = |probe: Probe| {
        let items = items.iter().filter(|it| it.probe == probe);
        ProbeAgreementEstimates {
            probe,
            estimate: line(&items.collect::<Vec<_>>(), n_rankers),
        }
    };
    AgreementEstimates {
        overall: line(&items.iter().collect::<Vec<_>>(), n_rankers),
        by_probe: probes.into_iter().map(of_probe).collect(),
    }
}

fn line(
    items: &[&SampledItemWithPreferences],
    n_rankers: usize,
) -> AxiomAndRankerAgreementEstimates {
    let polls = SampledItemVotes::from_items(items);
    let ranker = |at: usize| {
        move |it: &SampledItemWithPreferences| it.ranker_preferences.get(at).copied().flatten()
    };
    AxiomAndRankerAgreementEstimates {
        counts: counts(items),
        axiom_vs_people: polls.estimate_agreement_with_side(|_| AnnotatorComparisonTarget::Claim),
        rankers_vs_people: (0..n_rankers)
            .map(|at| {
                polls.estimate_agreement_with_side(move |it| {
                    ranker(at)(it).map_or(
                        AnnotatorComparisonTarget::NoPreference,
                        AnnotatorComparisonTarget::Preference,
                    )
                })
            })
            .collect(),
        axiom_vs_qrels: PairwiseAgreementRates {
            agreement: polls.estimate_hajek_share(|it, _| graded(it.item, |_| true)),
            without_ties: polls.estimate_hajek_share(|it, _| {
                graded(it.item, |it| it != DocumentPreference::Equal)
            }),
            by_vote: None,
        }
        .without_people(),
        share_reason_matters: polls.estimate_hajek_share(|it, times| {
            weighted_vote_share(it, times, |vote| {
                vote.reason_rating
                    .map(|it| it == AxiomReasonRating::Matters)
            })
        }),
    }
}

/// Returns 1 if the preference by relevance judgments satisfies the claim and 0 if not; `None` if
/// there is none or `is_included` rejects it.
fn graded(
    item: &SampledItemWithPreferences,
    is_included: impl Fn(DocumentPreference) -> bool,
) -> Option<f64> {
    let preference = item.qrels_preference.filter(|it| is_included(*it))?;
    Some(bool_to_number(preference.satisfies(item.claim)))
}

fn counts(items: &[&SampledItemWithPreferences]) -> ItemConsensusCounts {
    let mut counts = ItemConsensusCounts::default();
    for item in items {
        counts.n_items += 1;
        *match item.answers.adjudicated_or_majority_preference() {
            ItemConsensus::Prefers(DocumentPreference::Equal) => &mut counts.n_equal,
            ItemConsensus::Prefers(_) => &mut counts.n_preference,
            ItemConsensus::Split => &mut counts.n_split,
            ItemConsensus::CannotSay => &mut counts.n_cannot_say,
            ItemConsensus::Unanswered => &mut counts.n_unanswered,
        } += 1;
    }
    counts
}

impl PairwiseAgreementRates {
    /// Removes the intervals over annotators, for agreement that does not involve annotators.
    fn without_people(self) -> PairwiseAgreementRates {
        let bare = |it: Option<SamplingFrameShareEstimate>| {
            it.map(|it| SamplingFrameShareEstimate {
                interval_over_annotators: None,
                ..it
            })
        };
        PairwiseAgreementRates {
            agreement: bare(self.agreement),
            without_ties: bare(self.without_ties),
            by_vote: bare(self.by_vote),
        }
    }
}

#[cfg(test)]
mod tests;
