//! TFC1: of two documents of equal length, the one with more query terms scores higher.
//!
//! Preconditions: | |d1| − |d2| | ≤ δ; Σ(d1), Σ(d2) ≥ `min_terms`; c(w,d1) ≥ c(w,d2) for every
//! query term w; Σ(d1) > Σ(d2). Claim: S(d1) > S(d2). Fang, Tao & Zhai (SIGIR 2004), extended to
//! whole queries as in Rennings et al. (ECIR 2019), section 3.1.
//!
//! As printed in Câmara & Hauff (ECIR 2020) the length test is one-sided, |d1| − |d2| ≤ δ, and no
//! document needs a query term; their code is the same as `fixed` with `min_terms` 1.

use super::ProbeDescription;
use crate::probe::features::{AxiomInstancesForQuery, QueryPoolFeatures};
use crate::probe::{
    AxiomVariant, BoundRelation, MeasuredPrecondition, MiningThresholds, PreconditionQuantity,
};

pub(super) const DESCRIPTION: ProbeDescription = ProbeDescription {
    name: "TFC1",
    short_title: "more terms",
    statement: "Of two equally long documents, the one with more query-term occurrences scores \
         higher.",
    formula: "||d1| − |d2|| ≤ δ, c(w,d1) ≥ c(w,d2) for every w in Q, Σ(d1) > Σ(d2) \
              ⇒ S(d1) > S(d2)",
    source: "Fang, Tao & Zhai, SIGIR 2004; defined as in Rennings, Moraes & Hauff, ECIR 2019",
    known_issues: "Both papers print the length precondition without the absolute value. With \
         an idf that becomes negative for frequent terms, BM25 violates this axiom by design: \
         Rennings' .73 needs that idf.",
    example: &["river bank", "river bank river", "river bank mud"],
};

pub(super) fn find_tfc1_instances(
    mode: AxiomVariant,
    case: &QueryPoolFeatures<'_>,
    found: &mut AxiomInstancesForQuery,
) {
    let least = least(mode, case.limits);
    let mut try_order = |a: usize, b: usize| {
        let (winner, loser) = (&case.pool[a], &case.pool[b]);
        let no_fewer = || {
            winner
                .term_counts
                .iter()
                .zip(&loser.term_counts)
                .all(|(more, few)| more >= few)
        };
        if winner.n_occurrences > loser.n_occurrences && loser.n_occurrences >= least && no_fewer()
        {
            found.push_pair(a, b);
        }
    };
    match mode {
        AxiomVariant::Fixed | AxiomVariant::PaperRennings2019 | AxiomVariant::Code => {
            case.for_each_similar_length_pair(|a, b| {
                try_order(a, b);
                try_order(b, a);
            });
        }
        AxiomVariant::PaperCamara2020 => {
            for a in 0..case.pool.len() {
                for b in 0..case.pool.len() {
                    if one_sided(case.limits, case.pool[a].n_terms, case.pool[b].n_terms) {
                        try_order(a, b);
                    }
                }
            }
        }
    }
}

pub(super) fn measure_tfc1_preconditions(
    mode: AxiomVariant,
    case: &QueryPoolFeatures<'_>,
) -> Vec<MeasuredPrecondition> {
    let (winner, loser) = (&case.pool[0], &case.pool[1]);
    let lead = f64::from(winner.n_terms) - f64::from(loser.n_terms);
    let bound = case.limits.length_tolerance_terms.map(f64::from);
    let gap = match mode {
        AxiomVariant::Fixed | AxiomVariant::PaperRennings2019 | AxiomVariant::Code => {
            super::length_gap(case.limits, case.pool, 1, 2)
        }
        AxiomVariant::PaperCamara2020 => MeasuredPrecondition {
            quantity: PreconditionQuantity::LengthLead { a: 2, b: 1 },
            value: Some(lead),
            relation: BoundRelation::AtMost,
            bound,
        },
    };
    let mut preconditions = vec![
        gap,
        super::occurrences(case.pool, 1, least(mode, case.limits)),
        super::occurrences(case.pool, 2, least(mode, case.limits)),
    ];
    for term in 0..winner.term_counts.len() {
        preconditions.push(MeasuredPrecondition {
            quantity: PreconditionQuantity::TermCountLead { term: term as u16 },
            value: Some(f64::from(winner.term_counts[term]) - f64::from(loser.term_counts[term])),
            relation: BoundRelation::AtLeast,
            bound: Some(0.0),
        });
    }
    preconditions.push(super::occurrence_lead(
        case.pool,
        2,
        1,
        BoundRelation::MoreThan,
    ));
    preconditions
}

fn least(mode: AxiomVariant, limits: &MiningThresholds) -> u32 {
    match mode {
        AxiomVariant::Fixed | AxiomVariant::PaperRennings2019 => limits.min_query_term_occurrences,
        AxiomVariant::PaperCamara2020 => 0,
        AxiomVariant::Code => 1,
    }
}

fn one_sided(limits: &MiningThresholds, winner: u32, loser: u32) -> bool {
    limits
        .length_tolerance_terms
        .is_none_or(|gap| u64::from(winner) <= u64::from(loser) + u64::from(gap))
}
