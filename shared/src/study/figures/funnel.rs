//! Funnels from all pairs of documents to the instances of an axiom (Rennings, Moraes and Hauff,
//! ECIR 2019, section 3.5): how many pairs meet the preconditions of the original axiom, of the
//! relaxed one, and of the one that is also extended to queries of any length; and how many pairs
//! fail each precondition.
//!
//! The original axioms, over ordered pairs or triples of distinct documents of a pool:
//!
//! - TFC1: one query term, equal lengths, `c(w,d1) > c(w,d2)`; relaxed: lengths within δ. In the
//!   version extended by length alone, every query term has to occur more often.
//! - TFC2: one query term, equal lengths, `c(w,d1) > 0`, both steps 1; relaxed: lengths within δ,
//!   equal steps.
//! - M-TDC: two query terms with exchanged counts, equal lengths; relaxed: lengths within δ.
//! - LNC1: `d2` is `d1` with one more word that is not in the query; relaxed: longer.
//! - LNC2: one query term, `d1` repeats `d2`; extended: any query. Collections contain such
//!   documents only by accident, so they are built.
//! - TP: two query terms with the same counts, equal lengths, closer in `d1`.
//!
//! The original axioms on word vectors are about documents of one word, which no pool has.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{InstanceFilter, Study};
use crate::error::Error;
use crate::index::term_statistics::{DistinctQueryTerms, distinct_query_terms_with_statistics};
use crate::index::{DocumentAndTermTotals, Index};
use crate::probe::features::{
    self, DocumentFeatureExtractor, DocumentFeatures, RequiredDocumentFeatures,
};
use crate::probe::{
    Axiom, AxiomVariant, BoundRelation, MeasuredPrecondition, MiningThresholds,
    PreconditionQuantity, Probe, ProbeInstances,
};
use crate::stats::quantile::median;
use crate::word_vectors::IndexedWordVectors;

use rand_core::RngCore;
use rand_pcg::Pcg64;

/// The maximum number of candidates of an axiom for which failed preconditions are counted.
pub const MAX_CHECKED_CANDIDATES: u64 = 20_000;

/// The funnel of one axiom.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AxiomRelaxationFunnel {
    /// The axiom that is relaxed step by step.
    #[serde(rename = "axiom")]
    pub probe: Probe,
    /// The steps in order; the first has all candidates, the last the instances.
    pub steps: Vec<RelaxationFunnelStep>,
    /// The failed preconditions, in the order in which the axiom checks them.
    pub precondition_failures: Vec<PreconditionWithFailureCounts>,
    /// The number of candidates in `precondition_failures`: all, or a seeded random sample.
    pub n_checked: u64,
}

/// The number of pairs or triples left after one stage of the funnel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RelaxationFunnelStep {
    /// The stage.
    pub stage: AxiomRelaxationStage,
    /// The number of pairs or triples.
    pub n_candidates: u64,
}

/// A stage of the funnel: the version of the axiom whose preconditions hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AxiomRelaxationStage {
    /// Every pair or triple.
    Candidates,
    /// The original axiom.
    Original,
    /// Relaxed preconditions, for queries as short as in the original axiom.
    Relaxed,
    /// Queries of any length, with only the lengths relaxed.
    ExtendedByLength,
    /// Queries of any length, with the original preconditions.
    Extended,
    /// Relaxed and extended: the instances of the study, before the maximum per query applies.
    Mined,
    /// Instances with derived documents.
    Derived,
}

/// A precondition with the number of candidates that fail it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PreconditionWithFailureCounts {
    /// The measured quantity; a precondition on every query term has that of the first one.
    pub quantity: PreconditionQuantity,
    /// How the quantity must relate to the bound.
    pub relation: BoundRelation,
    /// The bound; `None` if every value passes.
    pub bound: Option<f64>,
    /// The number of candidates that fail it.
    pub n_failed: u64,
    /// The number of candidates that fail only this precondition.
    pub n_failed_only: u64,
    /// The median shortfall of the candidates that fail it; `None` if none fails or if it could not
    /// be measured.
    pub median_shortfall: Option<f64>,
}

/// The features of one query and the documents of its pool.
struct FunnelQuery {
    query: DistinctQueryTerms,
    /// The similarity of each query term to each other one; empty without word vectors.
    alike: Vec<f64>,
    /// The documents of the pool, with the terms that are not in the query.
    pool: Vec<DocumentFeatures>,
    /// The repeated documents of LNC2: index in the pool and features.
    repeated: Vec<(usize, DocumentFeatures)>,
}

impl Study {
    /// Computes one funnel for each axiom.
    pub(super) fn axiom_relaxation_funnels(
        &self,
        shown: &[&ProbeInstances],
        filter: &InstanceFilter<'_>,
    ) -> Result<Vec<AxiomRelaxationFunnel>, Error> {
        let queries: Vec<usize> = (0..self.queries.len())
            .filter(|&it| filter.includes_query(it))
            .collect();
        if self.has_withheld_texts() {
            let funnels = shown.iter().map(|instances| AxiomRelaxationFunnel {
                probe: instances.probe,
                // The number of instances is known, but without the texts the other steps cannot be
                // counted.
                steps: vec![last_step(instances, &queries)],
                precondition_failures: Vec::new(),
                n_checked: 0,
            });
            return Ok(funnels.collect());
        }
        let index = self.build_document_index()?;
        let vectors = self.stored_word_vectors();
        let rows = vectors
            .map(|it| it.token_rows_of_index(&index))
            .unwrap_or_default();
        let known = vectors.map(|it| IndexedWordVectors::new(it, &index, &rows));
        let cases: Vec<FunnelQuery> = queries
            .iter()
            .map(|&query| self.case(query, &index, known.as_ref()))
            .collect();
        let limits = &self.definition.limits;
        let funnels = shown.iter().map(|instances| {
            let (probe, mode) = (instances.probe, instances.variant);
            let (missed, n_asked) = missed(probe, mode, limits, self.totals, &cases);
            AxiomRelaxationFunnel {
                probe,
                steps: steps(instances, limits, &queries, &cases),
                precondition_failures: missed,
                n_checked: n_asked,
            }
        });
        Ok(funnels.collect())
    }

    fn case(
        &self,
        query: usize,
        index: &Index,
        known: Option<&IndexedWordVectors<'_>>,
    ) -> FunnelQuery {
        let text = &self.queries[query].text;
        let vocabulary = index.vocabulary();
        let terms = distinct_query_terms_with_statistics(&self.definition.analyzer, text, |term| {
            let stats = self.terms.get(term).copied().unwrap_or_default();
            (vocabulary.term_no(term), stats.df, stats.cf)
        });
        let docs = self.pools[query].iter();
        let docs: Vec<u32> = docs
            .map(|&it| self.study_docs[it as usize].source_doc())
            .collect();
        let counting = DocumentFeatureExtractor::for_query(
            index,
            known,
            text,
            &terms,
            RequiredDocumentFeatures::ALL,
        );
        let pool = docs.iter().map(|&it| counting.extract(it)).collect();
        let alike = counting.pairwise_query_term_similarities();
        let limits = &self.definition.limits;
        let times = limits.min_repetitions..=limits.max_repetitions;
        let repeated = docs.iter().enumerate().flat_map(|(at, &doc)| {
            let terms = &terms;
            times.clone().map(move |times| {
                let body = index.term_sequence_of_doc(doc).repeat(times as usize);
                (
                    at,
                    DocumentFeatures::from_terms_including_non_query(&body, terms),
                )
            })
        });
        FunnelQuery {
            repeated: match self.definition.probes.contains(&Probe::Axiom(Axiom::Lnc2)) {
                true => repeated.collect(),
                false => Vec::new(),
            },
            pool,
            alike,
            query: terms,
        }
    }
}

fn steps(
    instances: &ProbeInstances,
    limits: &MiningThresholds,
    queries: &[usize],
    cases: &[FunnelQuery],
) -> Vec<RelaxationFunnelStep> {
    let probe = instances.probe;
    let count = |of: &dyn Fn(&FunnelQuery) -> u64| cases.iter().map(of).sum::<u64>();
    let pairs = |holds: &dyn Fn(&FunnelQuery, &DocumentFeatures, &DocumentFeatures) -> bool| {
        count(&|case| {
            let pool = &case.pool;
            let each = pool.iter().enumerate().flat_map(|(a, first)| {
                let others = pool.iter().enumerate().filter(move |it| it.0 != a);
                others.map(move |(_, second)| (first, second))
            });
            each.filter(|(first, second)| holds(case, first, second))
                .count() as u64
        })
    };
    let candidates = match (probe, probe.claim_kind(instances.variant).arity()) {
        (Probe::Axiom(Axiom::Lnc2), _) => count(&|it| it.repeated.len() as u64),
        (_, arity) => count(&|it| choices(it.pool.len(), arity)),
    };
    let mut steps = vec![(AxiomRelaxationStage::Candidates, candidates)];
    let equal = |a: &DocumentFeatures, b: &DocumentFeatures| a.n_terms == b.n_terms;
    let close = |a: &DocumentFeatures, b: &DocumentFeatures| {
        limits.are_lengths_similar(a.n_terms, b.n_terms)
    };
    let enough = |it: &DocumentFeatures| it.n_occurrences >= limits.min_query_term_occurrences;
    match probe {
        Probe::Axiom(Axiom::Tfc1) => {
            let more = |case: &FunnelQuery, a: &DocumentFeatures, b: &DocumentFeatures| {
                case.query.len() == 1 && a.n_occurrences > b.n_occurrences
            };
            let every = |a: &DocumentFeatures, b: &DocumentFeatures| {
                let mut counts = a.term_counts.iter().zip(&b.term_counts);
                !a.term_counts.is_empty() && counts.all(|(a, b)| a > b)
            };
            steps.push((
                AxiomRelaxationStage::Original,
                pairs(&|case, a, b| more(case, a, b) && equal(a, b)),
            ));
            steps.push((
                AxiomRelaxationStage::Relaxed,
                pairs(&|case, a, b| more(case, a, b) && close(a, b) && enough(a) && enough(b)),
            ));
            steps.push((
                AxiomRelaxationStage::ExtendedByLength,
                pairs(&|_, a, b| every(a, b) && close(a, b)),
            ));
        }
        Probe::Axiom(Axiom::Tfc2) => {
            steps.push((
                AxiomRelaxationStage::Original,
                count(&|it| steps_of_one(it, equal, Some(1))),
            ));
            steps.push((
                AxiomRelaxationStage::Relaxed,
                count(&|it| steps_of_one(it, close, None)),
            ));
        }
        Probe::Axiom(Axiom::Mtdc) => {
            let swapped =
                |case: &FunnelQuery, a: &DocumentFeatures, b: &DocumentFeatures| match case
                    .query
                    .as_slice()
                {
                    [one, two] => {
                        let rarer = usize::from(one.df > two.df);
                        let common = 1 - rarer;
                        a.term_counts[rarer] == b.term_counts[common]
                            && a.term_counts[common] == b.term_counts[rarer]
                            && a.term_counts[rarer] > b.term_counts[rarer]
                    }
                    _ => false,
                };
            steps.push((
                AxiomRelaxationStage::Original,
                pairs(&|case, a, b| swapped(case, a, b) && equal(a, b)),
            ));
            steps.push((
                AxiomRelaxationStage::Relaxed,
                pairs(&|case, a, b| swapped(case, a, b) && close(a, b)),
            ));
        }
        Probe::Axiom(Axiom::Lnc1) => {
            let one_more = |a: &DocumentFeatures, b: &DocumentFeatures| {
                a.n_terms + 1 == b.n_terms
                    && a.term_counts == b.term_counts
                    && a.count_terms_once_more_in(b).n_terms == 1
                    && {
                        // One more term, and all others as often: no other count differs.
                        let shared = b
                            .other_terms
                            .iter()
                            .filter(|it| a.other_terms.contains(it))
                            .count();
                        shared + 1 == b.other_terms.len()
                            && a.other_terms.len() <= b.other_terms.len()
                    }
            };
            steps.push((
                AxiomRelaxationStage::Original,
                pairs(&|_, a, b| one_more(a, b)),
            ));
        }
        Probe::Axiom(Axiom::Lnc2) => {
            let repeats = |a: &DocumentFeatures, b: &DocumentFeatures| {
                b.n_occurrences > 0
                    && a.n_terms > b.n_terms
                    && a.repetition_factor_relative_to(b).is_some_and(|it| it >= 2)
            };
            let one = |case: &FunnelQuery| case.query.len() == 1;
            steps.push((
                AxiomRelaxationStage::Original,
                pairs(&|case, a, b| one(case) && repeats(a, b)),
            ));
            steps.push((
                AxiomRelaxationStage::Extended,
                pairs(&|_, a, b| repeats(a, b)),
            ));
        }
        Probe::Axiom(Axiom::Tp) => {
            let closer = |case: &FunnelQuery, a: &DocumentFeatures, b: &DocumentFeatures| {
                let distances = a.min_query_term_distance().zip(b.min_query_term_distance());
                case.query.len() == 2
                    && a.term_counts == b.term_counts
                    && distances.is_some_and(|(a, b)| a < b)
            };
            steps.push((
                AxiomRelaxationStage::Original,
                pairs(&|case, a, b| closer(case, a, b) && equal(a, b)),
            ));
        }
        Probe::Axiom(Axiom::Stmc1 | Axiom::Stmc2 | Axiom::Stmc3) => (),
        Probe::Axiom(Axiom::IrAxioms(_) | Axiom::Formula(_)) => (),
        Probe::MeasureAndMatch(_) | Probe::Manipulation(_) | Probe::Transfer(_) => (),
    }
    let step = |(reading, n)| RelaxationFunnelStep {
        stage: reading,
        n_candidates: n,
    };
    let last = last_step(instances, queries);
    steps.into_iter().map(step).chain([last]).collect()
}

/// Returns the last step: the instances before the maximum per query applies.
fn last_step(instances: &ProbeInstances, queries: &[usize]) -> RelaxationFunnelStep {
    let found = queries.iter().map(|&it| instances.n_found[it]);
    RelaxationFunnelStep {
        n_candidates: found.map(u64::from).sum(),
        stage: match instances.probe {
            Probe::Axiom(Axiom::Lnc2) => AxiomRelaxationStage::Derived,
            _ => AxiomRelaxationStage::Mined,
        },
    }
}

/// Returns the number of ordered choices of `arity` among `n`.
fn choices(n: usize, arity: usize) -> u64 {
    (0..arity as u64)
        .map(|it| (n as u64).saturating_sub(it))
        .product()
}

/// Counts the triples with equal steps of a single query term, each step equal to `step` if given.
fn steps_of_one(
    case: &FunnelQuery,
    same_length: impl Fn(&DocumentFeatures, &DocumentFeatures) -> bool,
    step: Option<u32>,
) -> u64 {
    if case.query.len() != 1 {
        return 0;
    }
    let holding: Vec<&DocumentFeatures> =
        case.pool.iter().filter(|it| it.n_occurrences > 0).collect();
    let mut n = 0;
    for few in &holding {
        for more in holding
            .iter()
            .filter(|it| it.n_occurrences > few.n_occurrences)
        {
            let width = more.n_occurrences - few.n_occurrences;
            if step.is_some_and(|it| it != width) || !same_length(few, more) {
                continue;
            }
            let most = holding.iter().filter(|it| {
                it.n_occurrences == more.n_occurrences + width
                    && same_length(few, it)
                    && same_length(more, it)
            });
            n += most.count() as u64;
        }
    }
    n
}

/// Counts the failed preconditions over all candidates, or over [`MAX_CHECKED_CANDIDATES`] random
/// ones. Returns them with the number of candidates that were checked.
fn missed(
    probe: Probe,
    mode: AxiomVariant,
    limits: &MiningThresholds,
    totals: DocumentAndTermTotals,
    cases: &[FunnelQuery],
) -> (Vec<PreconditionWithFailureCounts>, u64) {
    let arity = probe.claim_kind(mode).arity();
    let candidates = |case: &FunnelQuery| match probe {
        Probe::Axiom(Axiom::Lnc2) => case.repeated.len() as u64,
        _ => choices(case.pool.len(), arity),
    };
    let all: u64 = cases.iter().map(candidates).sum();
    let mut failures: Vec<FailureCounter> = Vec::new();
    let mut n_asked = 0;
    let mut draw = Pcg64::new(u128::from(limits.seed), stream(probe));
    for case in cases {
        let n = candidates(case);
        // Each query gets a proportional share of the sample, at least one candidate if it has any.
        let share = match all > MAX_CHECKED_CANDIDATES {
            true => (n * MAX_CHECKED_CANDIDATES).div_ceil(all),
            false => n,
        };
        for at in 0..share {
            let place = match share < n {
                true => ((u128::from(draw.next_u64()) * u128::from(n)) >> 64) as u64,
                false => at,
            };
            let texts = texts_at(probe, case, place, arity);
            let asked = features::QueryPoolFeatures {
                query: &case.query,
                pool: &texts,
                limits,
                totals,
                term_similarities: &case.alike,
            };
            let preconditions = probe.measure_preconditions(mode, &asked);
            ask(&mut failures, &preconditions);
            n_asked += 1;
        }
    }
    (
        failures.into_iter().map(FailureCounter::sum).collect(),
        n_asked,
    )
}

/// Returns the stream of random numbers of an axiom. Each of the first nine axioms has its own;
/// those that were added later share one, so that the numbers of the first nine stay the same.
fn stream(probe: Probe) -> u128 {
    let mut first = Axiom::ALL.iter().take(9);
    let place = first.position(|&it| Probe::Axiom(it) == probe);
    place.unwrap_or(9) as u128
}

/// Returns the documents of the candidate at an index, in the order of the claim.
fn texts_at(probe: Probe, case: &FunnelQuery, place: u64, arity: usize) -> Vec<DocumentFeatures> {
    if probe == Probe::Axiom(Axiom::Lnc2) {
        let (of, repeated) = &case.repeated[place as usize];
        return vec![repeated.clone(), case.pool[*of].clone()];
    }
    let mut left: Vec<usize> = Vec::new();
    let mut place = place;
    let mut n = case.pool.len() as u64;
    for _ in 0..arity {
        let mut at = (place % n) as usize;
        place /= n;
        n -= 1;
        // The index counts only documents that were not chosen yet.
        let mut taken = left.clone();
        taken.sort_unstable();
        for it in taken {
            at += usize::from(it <= at);
        }
        left.push(at);
    }
    left.into_iter().map(|it| case.pool[it].clone()).collect()
}

/// The counts of one precondition so far.
struct FailureCounter {
    precondition: MeasuredPrecondition,
    n_failed: u64,
    n_alone: u64,
    missing: Vec<f64>,
}

impl FailureCounter {
    fn sum(self) -> PreconditionWithFailureCounts {
        PreconditionWithFailureCounts {
            quantity: self.precondition.quantity,
            relation: self.precondition.relation,
            bound: self.precondition.bound,
            n_failed: self.n_failed,
            n_failed_only: self.n_alone,
            median_shortfall: median(&self.missing),
        }
    }
}

/// Counts the failed preconditions of one candidate; the same precondition on several query terms
/// counts once.
fn ask(failures: &mut Vec<FailureCounter>, preconditions: &[MeasuredPrecondition]) {
    let mut failed: Vec<(usize, Option<f64>)> = Vec::new();
    for precondition in preconditions {
        let kind = general(precondition.quantity);
        let known = failures
            .iter()
            .position(|it| it.precondition.quantity == kind);
        let at = known.unwrap_or_else(|| {
            failures.push(FailureCounter {
                precondition: MeasuredPrecondition {
                    quantity: kind,
                    ..*precondition
                },
                n_failed: 0,
                n_alone: 0,
                missing: Vec::new(),
            });
            failures.len() - 1
        });
        if precondition.holds() {
            continue;
        }
        // An integer that must exceed the bound lacks one more than the difference.
        let more = match precondition.relation {
            BoundRelation::MoreThan if precondition.quantity.is_count() => 1.0,
            BoundRelation::MoreThan
            | BoundRelation::AtMost
            | BoundRelation::AtLeast
            | BoundRelation::Equal => 0.0,
        };
        let values = precondition.value.zip(precondition.bound);
        let by = values.map(|(value, bound)| (value - bound).abs() + more);
        match failed.iter_mut().find(|it| it.0 == at) {
            Some(worst) => worst.1 = worst.1.zip(by).map(|(a, b)| a.max(b)),
            None => failed.push((at, by)),
        }
    }
    let alone = failed.len() == 1;
    for (at, by) in failed {
        failures[at].n_failed += 1;
        failures[at].n_alone += u64::from(alone);
        failures[at].missing.extend(by);
    }
}

/// Returns the quantity without the query term that it is about.
fn general(quantity: PreconditionQuantity) -> PreconditionQuantity {
    match quantity {
        PreconditionQuantity::TermCountLead { .. } => {
            PreconditionQuantity::TermCountLead { term: 0 }
        }
        PreconditionQuantity::TermGainChange { .. } => {
            PreconditionQuantity::TermGainChange { term: 0 }
        }
        other => other,
    }
}

#[cfg(test)]
mod tests;
