//! Sampling of the items of a task, each with its inclusion probability.
//!
//! A sample of `n` is drawn by systematic sampling with unequal probabilities over a random order
//! (Madow, Annals of Mathematical Statistics 20, 1949; Särndal, Swensson and Wretman, Model
//! Assisted Survey Sampling, 1992, section 3.6.2). With the size `x` of each of `N` candidates and
//! `X = Σ x`, candidate `i` has the inclusion probability `π = n x / X`. A candidate for which this
//! is above 1 is selected with certainty, and the rest of the sample is drawn from the others,
//! repeatedly until no such candidate is left. The cumulated `n x` of the others, in random order,
//! are hit by the `n` points `u, u + X, u + 2X, …` with one random `u < X`. Sizes are integers, so
//! that π is exact, `Σ π = n`, and exactly `n` candidates are drawn. With equal sizes this is
//! simple random sampling without replacement.
//!
//! A stratified design draws from each stratum separately, at least one item. After one item for
//! each stratum, further items are allocated by the Sainte-Laguë method: each goes to the stratum
//! with the largest `share / (2 seats + 1)` that has candidates left. So π is known exactly here
//! too.
//!
//! Estimates over all candidates use the Hájek estimator: `Σ (y / π) / Σ (1 / π)` over the sample.

use std::collections::{BTreeMap, BTreeSet};

use rand_pcg::Pcg64;

use super::sampling_frame::{SamplingFrameInstance, build_sampling_frame};
use super::seeded_random::{random_number_below, seeded_generator, shuffle};
use super::task::{
    AnnotationItem, AnnotationItemRole, AnnotationTaskDefinition, OversampledMarginSize,
    ProbeItemAllocation, SamplingDesign, StudyInstanceRef,
};
use crate::error::{Error, ErrorFieldName};
use crate::probe::Probe;
use crate::stats::quantile::median;
use crate::study::Study;

/// The items of a task, with the size of the sampling frame.
#[derive(Debug, Clone, PartialEq)]
pub struct SampledTaskItems {
    /// Training items, then gold items, then sampled items, each group in its order.
    pub items: Vec<AnnotationItem>,
    /// The number of instances that could have been drawn, which estimates describe.
    pub n_candidates: u64,
}

/// Creates the items of a task. Instances of training and gold items are not sampled, so that
/// nobody gets them twice; estimates describe the other instances.
pub fn sample_task_items(
    study: &Study,
    task: &AnnotationTaskDefinition,
) -> Result<SampledTaskItems, Error> {
    let mut known: BTreeSet<StudyInstanceRef> = BTreeSet::new();
    let mut items = Vec::new();
    let training = task.training.iter().map(|it| {
        let (answer, why) = (it.answer, it.explanation.clone());
        (
            it.instance,
            AnnotationItemRole::Training {
                answer,
                explanation: why,
            },
        )
    });
    let gold = task.gold.iter().map(|it| {
        let answer = it.answer;
        (it.instance, AnnotationItemRole::Gold { answer })
    });
    for (place, role) in training.chain(gold) {
        let (instances, _) = place.find_in_study(study)?;
        if !known.insert(place) {
            let reason = format!(
                "instance {} of {} is listed twice",
                place.index,
                place.probe.slug()
            );
            return Err(Error::conflicting_value(
                ErrorFieldName::with_display_name("training", "training and gold"),
                reason,
            ));
        }
        items.push(AnnotationItem {
            instance: place,
            query: instances.query_of_instance(place.index as usize) as u32,
            role,
        });
    }
    let mut frame = build_sampling_frame(study, task)?;
    frame.retain(|it| !known.contains(&it.instance));
    let drawn = draw_sample_from_frame(&frame, &task.sampling, task.n_items as usize, task.seed)?;
    items.extend(drawn.into_iter().map(|it| AnnotationItem {
        instance: frame[it.index].instance,
        query: frame[it.index].query,
        role: AnnotationItemRole::Sampled {
            inclusion_probability: it.inclusion_probability,
        },
    }));
    Ok(SampledTaskItems {
        items,
        n_candidates: frame.len() as u64,
    })
}

/// A candidate that was drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SampledFrameInstance {
    /// The index of the candidate in the sampling frame.
    pub index: usize,
    /// π, above 0 and at most 1.
    pub inclusion_probability: f64,
}

/// The size that stands for 1.
const UNIT: f64 = 65_536.0;

/// Draws `n` candidates from a sampling frame, or all if there are fewer, in the order of the
/// frame. It is an error if the frame is empty, or if there are fewer items than strata, since one
/// stratum would then have no chance.
pub fn draw_sample_from_frame(
    frame: &[SamplingFrameInstance],
    design: &SamplingDesign,
    n: usize,
    seed: u64,
) -> Result<Vec<SampledFrameInstance>, Error> {
    if frame.is_empty() {
        let reason = "the study has no instances that match the task";
        return Err(Error::missing_field("probes", reason));
    }
    let strata = strata(frame, design);
    if n < strata.len() {
        let reason = format!(
            "{n} items cannot cover {} strata; increase the number of items",
            strata.len()
        );
        return Err(Error::out_of_range("n_items", reason));
    }
    let seats = seats(&strata, n);
    let sizes = sizes(frame, design);
    let mut random = seeded_generator(seed, "sample");
    let mut drawn = Vec::new();
    for (stratum, n) in strata.into_iter().zip(seats) {
        systematic(stratum.members, &sizes, n, &mut random, &mut drawn);
    }
    drawn.sort_unstable_by_key(|it| it.index);
    Ok(drawn)
}

/// A stratum: candidates that are sampled separately.
struct Stratum {
    members: Vec<usize>,
    share: f64,
}

/// Returns the strata of the frame; none of them is empty.
fn strata(frame: &[SamplingFrameInstance], design: &SamplingDesign) -> Vec<Stratum> {
    let all = frame.iter().enumerate();
    match *design {
        SamplingDesign::Uniform | SamplingDesign::WeightedByMargin { .. } => vec![Stratum {
            members: (0..frame.len()).collect(),
            share: 1.0,
        }],
        SamplingDesign::StratifiedByProbe { allocation: share } => {
            let mut of_probe: BTreeMap<Probe, Vec<usize>> = BTreeMap::new();
            for (at, candidate) in all {
                of_probe
                    .entry(candidate.instance.probe)
                    .or_default()
                    .push(at);
            }
            let strata = of_probe.into_values().map(|members| Stratum {
                share: match share {
                    ProbeItemAllocation::Proportional => members.len() as f64,
                    ProbeItemAllocation::Equal => 1.0,
                },
                members,
            });
            strata.collect()
        }
        SamplingDesign::DisagreementFirst {
            disagreement_share: share,
            ..
        } => {
            let disagrees =
                |it: &(usize, &SamplingFrameInstance)| it.1.is_disagreement == Some(true);
            let (apart, rest): (Vec<_>, Vec<_>) = all.partition(disagrees);
            let stratum = |of: Vec<(usize, &SamplingFrameInstance)>, share| Stratum {
                members: of.into_iter().map(|it| it.0).collect(),
                share,
            };
            let strata = [stratum(apart, share), stratum(rest, 1.0 - share)];
            strata
                .into_iter()
                .filter(|it| !it.members.is_empty())
                .collect()
        }
    }
}

/// Returns how many items each stratum gets; in total `n`, or all candidates.
fn seats(strata: &[Stratum], n: usize) -> Vec<usize> {
    let mut seats = vec![1; strata.len()];
    for _ in strata.len()..n {
        let claim = |at: usize| strata[at].share / (2 * seats[at] + 1) as f64;
        let open = (0..strata.len()).filter(|&at| seats[at] < strata[at].members.len());
        // The first one of equal claims.
        let Some(next) = open.reduce(|a, b| if claim(b) > claim(a) { b } else { a }) else {
            break;
        };
        seats[next] += 1;
    }
    seats
}

/// Returns the size of every candidate, at least 1.
fn sizes(frame: &[SamplingFrameInstance], design: &SamplingDesign) -> Vec<u64> {
    let SamplingDesign::WeightedByMargin {
        weighting: favour, ..
    } = *design
    else {
        return vec![1; frame.len()];
    };
    let margins = frame.iter().map(|it| it.margin.map(f64::abs));
    let known: Vec<f64> = margins.clone().flatten().collect();
    let middle = median(&known).filter(|it| *it > 0.0).unwrap_or(1.0);
    let size = |margin: Option<f64>| {
        let r = margin.map_or(1.0, |it| it / middle);
        let part = match favour {
            OversampledMarginSize::SmallMargins => 1.0 / (1.0 + r),
            OversampledMarginSize::LargeMargins => 1.0 - 1.0 / (1.0 + r),
        };
        (UNIT * (0.125 + part)) as u64
    };
    margins.map(size).collect()
}

/// Draws `n` of `members` with probabilities proportional to their sizes.
fn systematic(
    mut members: Vec<usize>,
    sizes: &[u64],
    mut n: usize,
    random: &mut Pcg64,
    drawn: &mut Vec<SampledFrameInstance>,
) {
    shuffle(random, &mut members);
    if members.len() <= n {
        drawn.extend(members.into_iter().map(|at| SampledFrameInstance {
            index: at,
            inclusion_probability: 1.0,
        }));
        return;
    }
    // Largest first; equal sizes stay in shuffled order.
    let mut largest = members.clone();
    largest.sort_by_key(|&at| std::cmp::Reverse(sizes[at]));
    let mut whole: u64 = members.iter().map(|&at| sizes[at]).sum();
    let mut certain = Vec::new();
    for at in largest {
        if u128::from(sizes[at]) * n as u128 <= u128::from(whole) {
            break;
        }
        certain.push(at);
        whole -= sizes[at];
        n -= 1;
    }
    drawn.extend(certain.iter().map(|&at| SampledFrameInstance {
        index: at,
        inclusion_probability: 1.0,
    }));
    certain.sort_unstable();
    members.retain(|at| certain.binary_search(at).is_err());
    let step = u128::from(whole);
    let mut point = u128::from(random_number_below(random, whole));
    let mut end = 0;
    for at in members {
        let size = u128::from(sizes[at]) * n as u128;
        end += size;
        if point < end {
            drawn.push(SampledFrameInstance {
                index: at,
                inclusion_probability: size as f64 / step as f64,
            });
            point += step;
        }
    }
}

#[cfg(test)]
mod tests;
