//! M-TDC: of two documents with equally many query-term occurrences, the one with the rarer terms
//! scores at least as high.
//!
//! Preconditions: | |d1| − |d2| | ≤ δ; Σ(d1), Σ(d2) ≥ `min_terms`; Σ(d1) = Σ(d2); some count
//! differs; every query term whose count differs is in a valid pair (a, b): df(a) < df(b), c(a,d1)
//! = c(b,d2), c(b,d1) = c(a,d2), c(a,d1) > c(a,d2), c(a,Q) ≥ c(b,Q). Claim: S(d1) ≥ S(d2). Shi et
//! al. (2005) modified the TDC of Fang et al.; extended to whole queries as in Rennings et al.
//! (ECIR 2019), section 3.3.
//!
//! Both papers allow a pair of equally frequent terms, which makes both orders instances; Câmara &
//! Hauff print it without Σ(d1) = Σ(d2), their code uses 1/cf for idf and claims `>`.

use super::ProbeDescription;
use crate::index::term_statistics::DistinctQueryTerms;
use crate::probe::features::{AxiomInstancesForQuery, DocumentFeatures, QueryPoolFeatures};
use crate::probe::{AxiomVariant, BoundRelation, MeasuredPrecondition, PreconditionQuantity};

pub(super) const DESCRIPTION: ProbeDescription = ProbeDescription {
    name: "M-TDC",
    short_title: "rarer terms",
    statement: "Of two equally long documents with equally many query-term occurrences, the one \
         with the rarer terms scores at least as high.",
    formula: "||d1| − |d2|| ≤ δ, Σ(d1) = Σ(d2), every w with c(w,d1) ≠ c(w,d2) in a pair (a,b): \
              df(a) < df(b), counts swapped, c(a,d1) > c(a,d2), c(a,Q) ≥ c(b,Q) ⇒ S(d1) ≥ S(d2)",
    source: "Shi et al. 2005 after Fang, Tao & Zhai, SIGIR 2004; defined as in Rennings, Moraes \
         & Hauff, ECIR 2019",
    known_issues: "As printed by Câmara & Hauff, two preconditions contradict each other; \
         their code uses 1/cf as idf, and an early version kept only pairs whose lengths differ \
         by more than δ. Terms with equal idf make both orders instances.",
    example: &[
        "glacier valley",
        "glacier glacier valley",
        "glacier valley valley",
    ],
};

pub(super) fn find_mtdc_instances(
    mode: AxiomVariant,
    case: &QueryPoolFeatures<'_>,
    found: &mut AxiomInstancesForQuery,
) {
    let least = case.limits.min_query_term_occurrences;
    let mut try_both = |a: usize, b: usize| {
        let (one, two) = (&case.pool[a], &case.pool[b]);
        if one.n_occurrences < least
            || two.n_occurrences < least
            || one.term_counts == two.term_counts
            || !case.limits.are_lengths_similar(one.n_terms, two.n_terms)
        {
            return;
        }
        if uncovered(mode, case.query, one, two).next().is_none() {
            found.push_pair(a, b);
        }
        if uncovered(mode, case.query, two, one).next().is_none() {
            found.push_pair(b, a);
        }
    };
    match mode {
        AxiomVariant::Fixed | AxiomVariant::PaperRennings2019 | AxiomVariant::Code => {
            case.for_each_pair_with_equal_key(|it| &it.n_occurrences, try_both);
        }
        AxiomVariant::PaperCamara2020 => case.for_each_similar_length_pair(&mut try_both),
    }
}

pub(super) fn measure_mtdc_preconditions(
    mode: AxiomVariant,
    case: &QueryPoolFeatures<'_>,
) -> Vec<MeasuredPrecondition> {
    let differing = case.pool[0]
        .term_counts
        .iter()
        .zip(&case.pool[1].term_counts)
        .filter(|(a, b)| a != b)
        .count();
    let mut preconditions = vec![
        super::length_gap(case.limits, case.pool, 1, 2),
        super::occurrences(case.pool, 1, case.limits.min_query_term_occurrences),
        super::occurrences(case.pool, 2, case.limits.min_query_term_occurrences),
    ];
    match mode {
        AxiomVariant::Fixed | AxiomVariant::PaperRennings2019 | AxiomVariant::Code => {
            preconditions.push(super::occurrence_lead(
                case.pool,
                2,
                1,
                BoundRelation::Equal,
            ));
        }
        AxiomVariant::PaperCamara2020 => {}
    }
    preconditions.push(MeasuredPrecondition {
        quantity: PreconditionQuantity::DifferingTermCounts,
        value: Some(differing as f64),
        relation: BoundRelation::MoreThan,
        bound: Some(0.0),
    });
    preconditions.push(MeasuredPrecondition {
        quantity: PreconditionQuantity::UnpairedDifferingTerms,
        value: Some(uncovered(mode, case.query, &case.pool[0], &case.pool[1]).count() as f64),
        relation: BoundRelation::AtMost,
        bound: Some(0.0),
    });
    preconditions
}

/// Returns the query terms whose counts differ and that are in no valid pair.
fn uncovered<'a>(
    mode: AxiomVariant,
    query: &'a DistinctQueryTerms,
    first: &'a DocumentFeatures,
    second: &'a DocumentFeatures,
) -> impl Iterator<Item = usize> + 'a {
    let n_terms = query.len();
    let (c1, c2) = (
        &first.term_counts[..n_terms],
        &second.term_counts[..n_terms],
    );
    let differs = move |term: usize| c1[term] != c2[term];
    let valid = move |a: usize, b: usize| {
        c1[a] > c2[a]
            && c1[a] == c2[b]
            && c1[b] == c2[a]
            && query[a].count >= query[b].count
            && rarer(mode, query, a, b)
    };
    (0..n_terms)
        .filter(move |&term| differs(term))
        .filter(move |&term| {
            let mut others = (0..n_terms).filter(|&it| it != term && differs(it));
            !others.any(|it| valid(term, it) || valid(it, term))
        })
}

fn rarer(mode: AxiomVariant, query: &DistinctQueryTerms, a: usize, b: usize) -> bool {
    match mode {
        AxiomVariant::Fixed => query[a].df < query[b].df,
        AxiomVariant::PaperRennings2019 | AxiomVariant::PaperCamara2020 => {
            query[a].df <= query[b].df
        }
        AxiomVariant::Code => query[a].cf <= query[b].cf,
    }
}
