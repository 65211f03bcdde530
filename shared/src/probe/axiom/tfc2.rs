//! TFC2: each further step of query terms helps less than the step before.
//!
//! Preconditions: all three differences in length ≤ δ; 0 < Σ(d1) < Σ(d2) < Σ(d3); for every query
//! term w, c(w,d2) − c(w,d1) = c(w,d3) − c(w,d2). Claim: S(d2) − S(d1) > S(d3) − S(d2). Fang, Tao &
//! Zhai (SIGIR 2004), extended to whole queries as in Rennings et al. (ECIR 2019), section 3.2.
//!
//! Triples are looked up rather than searched: with v the counts of a document, the third document
//! for d1 and d2 has the counts 2·v2 − v1. Counts are hashed by a sum Σ v(w)·r(w) of fixed 64-bit
//! numbers r, which is linear, so the hash to look up is 2·h2 − h1.

use super::ProbeDescription;
use crate::probe::features::{AxiomInstancesForQuery, DocumentFeatures, QueryPoolFeatures};
use crate::probe::{BoundRelation, MeasuredPrecondition, MiningThresholds, PreconditionQuantity};

pub(super) const DESCRIPTION: ProbeDescription = ProbeDescription {
    name: "TFC2",
    short_title: "smaller gains",
    statement: "Of three equally long documents with equal steps in query-term occurrences, the \
         second step gains less than the first.",
    formula: "gaps ≤ δ, 0 < Σ(d1) < Σ(d2) < Σ(d3), c(w,d2) − c(w,d1) = c(w,d3) − c(w,d2) for \
              every w in Q ⇒ S(d2) − S(d1) > S(d3) − S(d2)",
    source: "Fang, Tao & Zhai, SIGIR 2004; defined as in Rennings, Moraes & Hauff, ECIR 2019",
    known_issues: "It compares three documents, so libraries that compare only two cannot \
         express it. Lengths may differ by δ, which can outweigh the small gains.",
    example: &[
        "river bank",
        "bank mud",
        "river bank mud",
        "river bank river",
    ],
};

pub(super) fn find_tfc2_instances(
    case: &QueryPoolFeatures<'_>,
    found: &mut AxiomInstancesForQuery,
) {
    let weights: Vec<u64> = (0..case.query.len() as u64).map(scramble).collect();
    let hash = |it: &DocumentFeatures| {
        let terms = it.term_counts.iter().zip(&weights);
        terms.fold(0, |sum: u64, (&count, weight)| {
            sum.wrapping_add(weight.wrapping_mul(u64::from(count)))
        })
    };
    let hashes: Vec<u64> = case.pool.iter().map(hash).collect();
    let mut by_hash: Vec<usize> = (0..case.pool.len()).collect();
    by_hash.sort_by_key(|&at| hashes[at]);
    let mut step = |few: usize, more: usize| {
        if case.pool[few].n_occurrences == 0
            || case.pool[few].n_occurrences >= case.pool[more].n_occurrences
        {
            return;
        }
        let wanted = hashes[more].wrapping_mul(2).wrapping_sub(hashes[few]);
        let from = by_hash.partition_point(|&it| hashes[it] < wanted);
        for &most in by_hash[from..]
            .iter()
            .take_while(|&&it| hashes[it] == wanted)
        {
            let close = |a: usize| {
                case.limits
                    .are_lengths_similar(case.pool[a].n_terms, case.pool[most].n_terms)
            };
            let texts = [&case.pool[few], &case.pool[more], &case.pool[most]];
            if close(few) && close(more) && equal_steps(texts) {
                found
                    .positions
                    .extend([few as u32, more as u32, most as u32]);
            }
        }
    };
    case.for_each_similar_length_pair(|a, b| {
        step(a, b);
        step(b, a);
    });
}

pub(super) fn measure_tfc2_preconditions(
    limits: &MiningThresholds,
    texts: &[DocumentFeatures],
) -> Vec<MeasuredPrecondition> {
    let mut preconditions = vec![
        super::length_gap(limits, texts, 1, 2),
        super::length_gap(limits, texts, 2, 3),
        super::length_gap(limits, texts, 1, 3),
        super::occurrences(texts, 1, 1),
        super::occurrence_lead(texts, 1, 2, BoundRelation::MoreThan),
        super::occurrence_lead(texts, 2, 3, BoundRelation::MoreThan),
    ];
    for term in 0..texts[0].term_counts.len() {
        let count = |text: usize| f64::from(texts[text].term_counts[term]);
        preconditions.push(MeasuredPrecondition {
            quantity: PreconditionQuantity::TermGainChange { term: term as u16 },
            value: Some((count(2) - count(1)) - (count(1) - count(0))),
            relation: BoundRelation::Equal,
            bound: Some(0.0),
        });
    }
    preconditions
}

fn equal_steps([few, more, most]: [&DocumentFeatures; 3]) -> bool {
    let steps = few
        .term_counts
        .iter()
        .zip(&more.term_counts)
        .zip(&most.term_counts);
    steps
        .into_iter()
        .all(|((&a, &b), &c)| 2 * u64::from(b) == u64::from(a) + u64::from(c))
}

/// Returns a fixed 64-bit number for each index (the finalizer of SplitMix64).
fn scramble(place: u64) -> u64 {
    let mut it = (place + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    it = (it ^ (it >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    it = (it ^ (it >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    it ^ (it >> 31)
}
