//! Bootstrap estimates of shares over items that annotators vote on.

use std::collections::{BTreeMap, BTreeSet};

use super::{PairwiseAgreementRates, SampledItemWithPreferences, SamplingFrameShareEstimate};
use crate::annotation::judgments::{AnnotatorVote, ItemConsensus, majority_of_weighted_answers};
use crate::annotation::{DocumentPreference, PersonId};
use crate::probe::ScoreClaimKind;
use crate::stats::EstimateWithInterval;
use crate::stats::bootstrap::{BootstrapSampler, N_RESAMPLES, STREAM, percentile_interval};

/// The number of draws of queries and annotators together. A tail share of .025 is then known to ±
/// .0035 (√(.025 × .975 / 2,000)).
const N_BOOTSTRAP_DRAWS: usize = 2_000;

/// If more than one in this many draws has no items, the interval is the whole range.
const ONE_EMPTY_IN: usize = 20;

/// The side that annotators are compared with.
#[derive(Clone, Copy)]
pub(super) enum AnnotatorComparisonTarget {
    Claim,
    Preference(DocumentPreference),
    NoPreference,
}

impl AnnotatorComparisonTarget {
    fn agrees(self, claim: ScoreClaimKind, people: DocumentPreference) -> Option<bool> {
        match self {
            AnnotatorComparisonTarget::Claim => Some(people.satisfies(claim)),
            AnnotatorComparisonTarget::Preference(it) => Some(it == people),
            AnnotatorComparisonTarget::NoPreference => None,
        }
    }
}

/// An item with the index of each voter among the annotators.
pub(super) struct ItemVotes<'a> {
    pub(super) item: &'a SampledItemWithPreferences,
    voters: Vec<usize>,
}

impl ItemVotes<'_> {
    fn votes<'b>(
        &'b self,
        times: &'b [u32],
    ) -> impl Iterator<Item = (&'b AnnotatorVote, u32)> + Clone {
        let votes = self.item.answers.votes.iter().zip(&self.voters);
        votes.map(|(vote, &voter)| (vote, times[voter]))
    }

    /// Returns the consensus if each annotator's vote counts as often as `times` says.
    pub(super) fn consensus_with_annotator_weights(
        &self,
        times: &[u32],
    ) -> Option<DocumentPreference> {
        let settled = match self.item.answers.adjudications.len() {
            1 => self.item.answers.adjudicated_or_majority_preference(),
            _ => majority_of_weighted_answers(
                self.votes(times).map(|(vote, times)| (vote.answer, times)),
            ),
        };
        match settled {
            ItemConsensus::Prefers(preference) => Some(preference),
            ItemConsensus::CannotSay | ItemConsensus::Split | ItemConsensus::Unanswered => None,
        }
    }
}

/// Returns the share of votes on an item for which something holds, among those for which it is
/// defined.
pub(super) fn weighted_vote_share(
    poll: &ItemVotes<'_>,
    times: &[u32],
    holds: impl Fn(&AnnotatorVote) -> Option<bool>,
) -> Option<f64> {
    let (mut with, mut all) = (0, 0);
    for (vote, times) in poll.votes(times) {
        if let Some(holds) = holds(vote) {
            all += times;
            with += if holds { times } else { 0 };
        }
    }
    (all > 0).then(|| f64::from(with) / f64::from(all))
}

/// The items of a sample with their votes.
pub(super) struct SampledItemVotes<'a> {
    each: Vec<ItemVotes<'a>>,
    n_people: usize,
}

impl<'a> SampledItemVotes<'a> {
    pub(super) fn from_items(items: &[&'a SampledItemWithPreferences]) -> SampledItemVotes<'a> {
        let votes = items.iter().flat_map(|it| &it.answers.votes);
        let people: BTreeSet<PersonId> = votes.map(|it| it.person).collect();
        let numbers: BTreeMap<PersonId, usize> = people.into_iter().zip(0..).collect();
        let each = items.iter().map(|item| ItemVotes {
            item,
            voters: item
                .answers
                .votes
                .iter()
                .map(|it| numbers[&it.person])
                .collect(),
        });
        SampledItemVotes {
            each: each.collect(),
            n_people: numbers.len(),
        }
    }

    pub(super) fn estimate_agreement_with_side(
        &self,
        other: impl Fn(&SampledItemWithPreferences) -> AnnotatorComparisonTarget,
    ) -> PairwiseAgreementRates {
        let agrees = |it: &ItemVotes<'_>, people: DocumentPreference| {
            other(it.item)
                .agrees(it.item.claim, people)
                .map(bool_to_number)
        };
        let equal = |it: &ItemVotes<'_>, people: DocumentPreference| {
            people == DocumentPreference::Equal
                || matches!(
                    other(it.item),
                    AnnotatorComparisonTarget::Preference(DocumentPreference::Equal)
                )
        };
        PairwiseAgreementRates {
            agreement: self.estimate_hajek_share(|it, times| {
                agrees(it, it.consensus_with_annotator_weights(times)?)
            }),
            without_ties: self.estimate_hajek_share(|it, times| {
                let people = it
                    .consensus_with_annotator_weights(times)
                    .filter(|people| !equal(it, *people))?;
                agrees(it, people)
            }),
            by_vote: self.estimate_hajek_share(|it, times| {
                weighted_vote_share(it, times, |vote| {
                    other(it.item).agrees(it.item.claim, vote.answer.preference()?)
                })
            }),
        }
    }

    /// Returns the Hájek estimate of a value of each item, from 0 to 1, where `times` says how
    /// often the votes of each annotator count.
    pub(super) fn estimate_hajek_share(
        &self,
        value: impl Fn(&ItemVotes<'_>, &[u32]) -> Option<f64>,
    ) -> Option<SamplingFrameShareEstimate> {
        let ones = vec![1; self.n_people];
        let mut sums: BTreeMap<u32, [f64; 2]> = BTreeMap::new();
        let (mut n_items, mut squares) = (0, 0.0);
        for poll in &self.each {
            if let Some(value) = value(poll, &ones) {
                let weight = 1.0 / poll.item.inclusion_probability;
                add(sums.entry(poll.item.query).or_default(), weight, value);
                n_items += 1;
                squares += weight * weight;
            }
        }
        let units: Vec<[f64; 2]> = sums.into_values().collect();
        let whole = units.iter().fold([0.0; 2], plus);
        let estimate = ratio(whole)?;
        let mut draws = BootstrapSampler::new(units.len());
        let drawn = (0..N_RESAMPLES).filter_map(|_| {
            let mut sum = [0.0; 2];
            draws.for_each_drawn_index(|at| sum = plus(sum, &units[at]));
            ratio(sum)
        });
        let bounded = units.len() > 1;
        Some(SamplingFrameShareEstimate {
            estimate: EstimateWithInterval {
                value: estimate,
                interval: match bounded {
                    true => percentile_interval(drawn.collect()),
                    false => [0.0, 1.0],
                },
            },
            interval_over_annotators: (self.n_people > 1).then(|| match bounded {
                true => self.with_people(value),
                false => [0.0, 1.0],
            }),
            n_items,
            n_queries: units.len() as u64,
            n_effective: whole[1] * whole[1] / squares,
        })
    }

    /// Returns the interval for which both queries and annotators are resampled.
    fn with_people(&self, value: impl Fn(&ItemVotes<'_>, &[u32]) -> Option<f64>) -> [f64; 2] {
        let queries: BTreeSet<u32> = self.each.iter().map(|it| it.item.query).collect();
        let queries: Vec<u32> = queries.into_iter().collect();
        let place = |it: &ItemVotes<'_>| queries.partition_point(|at| *at < it.item.query);
        let places: Vec<usize> = self.each.iter().map(place).collect();
        let mut of_queries = BootstrapSampler::new(queries.len());
        let mut of_people = BootstrapSampler::with_random_stream(self.n_people, STREAM + 1);
        let (mut asked, mut times) = (vec![0_u32; queries.len()], vec![0_u32; self.n_people]);
        let mut drawn = Vec::with_capacity(N_BOOTSTRAP_DRAWS);
        for _ in 0..N_BOOTSTRAP_DRAWS {
            asked.fill(0);
            times.fill(0);
            of_queries.for_each_drawn_index(|at| asked[at] += 1);
            of_people.for_each_drawn_index(|at| times[at] += 1);
            let mut sum = [0.0; 2];
            for (poll, &place) in self.each.iter().zip(&places) {
                if asked[place] == 0 {
                    continue;
                }
                if let Some(value) = value(poll, &times) {
                    let weight = f64::from(asked[place]) / poll.item.inclusion_probability;
                    add(&mut sum, weight, value);
                }
            }
            drawn.extend(ratio(sum));
        }
        if (N_BOOTSTRAP_DRAWS - drawn.len()) * ONE_EMPTY_IN > N_BOOTSTRAP_DRAWS {
            return [0.0, 1.0];
        }
        percentile_interval(drawn)
    }
}

fn add(sum: &mut [f64; 2], weight: f64, value: f64) {
    sum[0] += weight * value;
    sum[1] += weight;
}

fn plus(a: [f64; 2], b: &[f64; 2]) -> [f64; 2] {
    [a[0] + b[0], a[1] + b[1]]
}

fn ratio([above, below]: [f64; 2]) -> Option<f64> {
    (below > 0.0).then(|| above / below)
}

pub(super) fn bool_to_number(holds: bool) -> f64 {
    f64::from(u8::from(holds))
}
