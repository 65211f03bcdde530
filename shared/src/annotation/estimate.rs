//! *Axiom against people*, *ranker against people*, *axiom against judgments*: how often they
//! agree over all that could have been drawn, estimated from what was drawn.
//!
//! The estimate is that of Hájek (in Godambe and Sprott, Foundations of Statistical Inference,
//! 1971): with `y` 1 where two sides agree and 0 where not, and the inclusion probability π,
//! `Σ (y / π) / Σ (1 / π)` over the drawn items on which both sides say something.
//!
//! What people say of an item is what [`ItemAnswers::consensus`] makes of it: an adjudication, or
//! the preference with the most votes. An item on which people are split, cannot tell or have not
//! answered says nothing and is counted apart. *Equal* is a preference: with a claim that allows a
//! tie, against one that does not, and with a ranker whose scores tie. Since rankers hardly ever
//! tie and people do, [`AgreementShare::without_ties`] leaves out items where one side says
//! *equal*. [`AgreementShare::by_vote`] needs no majority: there `y` is the share of the votes on
//! an item that agree, adjudications left aside, which estimates how often one person would.
//!
//! Two intervals, both percentile bootstraps. One draws queries, whose items keep their weights:
//! what other samples of this design would have given. It takes queries as drawn with
//! replacement, so it is a little too wide where most of the frame was drawn. The other draws
//! people as well, independently (the pigeonhole bootstrap: Owen, Annals of Applied Statistics 1,
//! 2007), and lets those who were drawn vote as often as they were: what other people would have
//! said, over 2,000 draws. An item none of whose people is drawn has no part in a draw; an
//! adjudication stays.

mod vote_share;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::judgments::Consensus;
use super::sampling_frame::claim_scores;
use super::task::AnnotationItem;
use super::{AnnotationLog, ItemAnswers, ItemNo, Preference, ReasonRating};
use crate::error::Error;
use crate::probe::{ClaimKind, Probe};
use crate::stats::Estimate;
use crate::study::Study;
use crate::study::controls::StudyControls;
use vote_share::{ComparisonSide, VoteSample, indicator, share};

/// A drawn item with everything that is said of it.
#[derive(Debug, Clone, PartialEq)]
pub struct AnnotatedItem {
    /// Of which probe it is an instance.
    pub probe: Probe,
    /// What it claims.
    pub claim: ClaimKind,
    /// Items of one query are no independent units.
    pub query: u32,
    /// π, above 0 and at most 1.
    pub inclusion_probability: f64,
    /// By people.
    pub answers: ItemAnswers,
    /// By each ranker of the study; none without all scores.
    pub ranker_preferences: Vec<Option<Preference>>,
    /// By the judgments; none unless both texts are judged, and for three texts.
    pub qrels_preference: Option<Preference>,
}

/// Over all probes, and over each.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewEstimates))]
pub struct AgreementEstimates {
    /// Over all items.
    pub overall: EstimateRow,
    /// In the order of probes.
    pub by_probe: Vec<ProbeEstimate>,
}

/// The estimates for one probe.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewEstimatesOfProbe))]
pub struct ProbeEstimate {
    /// The probe.
    pub probe: Probe,
    /// Over its items.
    pub estimate: EstimateRow,
}

/// Who agrees with whom over some items.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewLine))]
pub struct EstimateRow {
    /// What people say of how many of them.
    pub counts: AnswerCounts,
    /// Axiom against people.
    pub axiom_vs_people: AgreementShare,
    /// Each ranker against people, in the order of the study.
    pub rankers_vs_people: Vec<AgreementShare>,
    /// Axiom against judgments, over the same items whether or not people have decided on them.
    pub axiom_vs_qrels: AgreementShare,
    /// Share of those asked who say that the axiom's reason matters.
    pub share_reason_matters: Option<WeightedEstimate>,
}

/// What people say of items, in numbers of items.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewCounts))]
pub struct AnswerCounts {
    /// All.
    pub n_items: u64,
    /// They prefer one of the texts.
    pub n_preference: u64,
    /// They say that neither is better.
    pub n_equal: u64,
    /// Two preferences have the most votes.
    pub n_split: u64,
    /// They cannot tell.
    pub n_cannot_say: u64,
    /// Nobody has answered, or only who contradicts themselves.
    pub n_unanswered: u64,
}

/// How often two sides agree. Each is none without an item on which both say something.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewCompared))]
pub struct AgreementShare {
    /// Over all such items.
    pub agreement: Option<WeightedEstimate>,
    /// Over those on which neither side says *equal*.
    pub without_ties: Option<WeightedEstimate>,
    /// By votes instead of what most people say; none without people.
    pub by_vote: Option<WeightedEstimate>,
}

/// A share of the frame, estimated.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewWeighted))]
pub struct WeightedEstimate {
    /// 0 to 1; its interval is that of other samples.
    pub estimate: Estimate,
    /// The interval of other samples and other people; none with fewer than two people.
    pub interval_over_annotators: Option<[f64; 2]>,
    /// Items on which both sides say something.
    pub n_items: u64,
    /// Their queries.
    pub n_queries: u64,
    /// How many items of equal weight would tell as much, `(Σ 1/π)² / Σ (1/π)²` (Kish, Survey
    /// Sampling, 1965).
    pub n_effective: f64,
}

/// The drawn items of a task with all that is said of them.
pub fn load_annotated_items(
    study: &Study,
    dials: &StudyControls,
    items: &[AnnotationItem],
    log: &AnnotationLog,
) -> Result<Vec<AnnotatedItem>, Error> {
    let mut found = Vec::new();
    for (item, number) in items.iter().zip((0..).map(ItemNo)) {
        let Some(probability) = item.role.probability() else {
            continue;
        };
        let place = item.instance;
        let instances = study.instances_of(place.probe, place.variant)?;
        let at = place.index as usize;
        if at >= instances.len() {
            return Err(Error::not_found("instance of this probe", place.index));
        }
        let (query, claim) = (instances.query(at), instances.claim(at));
        let rankers = study.scores.iter().map(|scores| {
            let scored = claim_scores(study, scores, query, claim)?;
            Some(Preference::from_scores(scored, dials.tie_threshold(scores)))
        });
        let grades = claim.map_scores(|text| study.grade(query, text));
        found.push(AnnotatedItem {
            probe: place.probe,
            claim: claim.kind(),
            query: query as u32,
            inclusion_probability: probability,
            answers: ItemAnswers::from_log(log, number),
            ranker_preferences: rankers.collect(),
            qrels_preference: grades.and_then(Preference::from_grades),
        });
    }
    Ok(found)
}

/// Everything that is estimated from reviewed items.
pub fn estimate_agreement(items: &[AnnotatedItem]) -> AgreementEstimates {
    let n_rankers = items
        .iter()
        .map(|it| it.ranker_preferences.len())
        .max()
        .unwrap_or_default();
    let probes: BTreeSet<Probe> = items.iter().map(|it| it.probe).collect();
    let of_probe = |probe: Probe| {
        let items = items.iter().filter(|it| it.probe == probe);
        ProbeEstimate {
            probe,
            estimate: line(&items.collect::<Vec<_>>(), n_rankers),
        }
    };
    AgreementEstimates {
        overall: line(&items.iter().collect::<Vec<_>>(), n_rankers),
        by_probe: probes.into_iter().map(of_probe).collect(),
    }
}

fn line(items: &[&AnnotatedItem], n_rankers: usize) -> EstimateRow {
    let polls = VoteSample::new(items);
    let ranker =
        |at: usize| move |it: &AnnotatedItem| it.ranker_preferences.get(at).copied().flatten();
    EstimateRow {
        counts: counts(items),
        axiom_vs_people: polls.estimate_agreement(|_| ComparisonSide::Claim),
        rankers_vs_people: (0..n_rankers)
            .map(|at| {
                polls.estimate_agreement(move |it| {
                    ranker(at)(it).map_or(ComparisonSide::NoPreference, ComparisonSide::Preference)
                })
            })
            .collect(),
        axiom_vs_qrels: AgreementShare {
            agreement: polls.estimate_share(|it, _| graded(it.item, |_| true)),
            without_ties: polls
                .estimate_share(|it, _| graded(it.item, |it| it != Preference::Equal)),
            by_vote: None,
        }
        .without_people(),
        share_reason_matters: polls.estimate_share(|it, times| {
            share(it, times, |vote| {
                vote.reason_rating.map(|it| it == ReasonRating::Matters)
            })
        }),
    }
}

/// Whether the judgments are with the claim.
fn graded(item: &AnnotatedItem, wanted: impl Fn(Preference) -> bool) -> Option<f64> {
    let preference = item.qrels_preference.filter(|it| wanted(*it))?;
    Some(indicator(preference.satisfies(item.claim)))
}

fn counts(items: &[&AnnotatedItem]) -> AnswerCounts {
    let mut counts = AnswerCounts::default();
    for item in items {
        counts.n_items += 1;
        *match item.answers.consensus() {
            Consensus::Prefers(Preference::Equal) => &mut counts.n_equal,
            Consensus::Prefers(_) => &mut counts.n_preference,
            Consensus::Split => &mut counts.n_split,
            Consensus::CannotSay => &mut counts.n_cannot_say,
            Consensus::Unanswered => &mut counts.n_unanswered,
        } += 1;
    }
    counts
}

impl AgreementShare {
    /// Where people have no say, other people change nothing.
    fn without_people(self) -> AgreementShare {
        let bare = |it: Option<WeightedEstimate>| {
            it.map(|it| WeightedEstimate {
                interval_over_annotators: None,
                ..it
            })
        };
        AgreementShare {
            agreement: bare(self.agreement),
            without_ties: bare(self.without_ties),
            by_vote: bare(self.by_vote),
        }
    }
}

#[cfg(test)]
mod tests;
