//! LNC1: a document with the same query terms and more other words does not score higher.
//!
//! Preconditions: c(w,d1) = c(w,d2) for every query term w; Σ ≥ 1; |d1| < |d2|. Claim:
//! S(d1) ≥ S(d2). Fang, Tao & Zhai (SIGIR 2004).
//!
//! As printed in Câmara & Hauff (ECIR 2020): equal counts and a term outside of the query that
//! occurs exactly once more in d2. Their code does not check the query terms and tries only terms
//! that occur in d1, so that most pairs are instances in both orders.

use super::ProbeDescription;
use crate::probe::features::{AxiomInstancesForQuery, DocumentFeatures, QueryPoolFeatures};
use crate::probe::{AxiomVariant, BoundRelation, MeasuredPrecondition, PreconditionQuantity};

pub(super) const DESCRIPTION: ProbeDescription = ProbeDescription {
    name: "LNC1",
    short_title: "extra words",
    statement: "Of two documents with the same query-term counts, the longer one does not score \
         higher.",
    formula: "c(w,d1) = c(w,d2) for every w in Q, Σ(d1) ≥ 1, |d1| < |d2| ⇒ S(d1) ≥ S(d2)",
    source: "Fang, Tao & Zhai, SIGIR 2004; Câmara & Hauff, ECIR 2020",
    known_issues: "The published code of Câmara & Hauff never rejects a pair because of its \
         query terms, so nearly every pair is an instance in both orders and every ranker \
         scores near .50.",
    example: &["river bank", "river bank", "river bank of mud"],
};

/// Returns whether the variant reads [`DocumentFeatures::other_terms`].
pub(super) fn needs_non_query_term_counts(mode: AxiomVariant) -> bool {
    match mode {
        AxiomVariant::Fixed => false,
        AxiomVariant::PaperRennings2019 | AxiomVariant::PaperCamara2020 | AxiomVariant::Code => {
            true
        }
    }
}

pub(super) fn find_lnc1_instances(
    mode: AxiomVariant,
    case: &QueryPoolFeatures<'_>,
    found: &mut AxiomInstancesForQuery,
) {
    let pool = case.pool;
    match mode {
        AxiomVariant::Fixed => case.for_each_pair_with_equal_key(
            |it| &it.term_counts,
            |a, b| {
                if pool[a].n_occurrences >= 1 && pool[a].n_terms != pool[b].n_terms {
                    let a_first = pool[a].n_terms < pool[b].n_terms;
                    found.push_pair(if a_first { a } else { b }, if a_first { b } else { a });
                }
            },
        ),
        AxiomVariant::PaperRennings2019 | AxiomVariant::PaperCamara2020 => case
            .for_each_pair_with_equal_key(
                |it| &it.term_counts,
                |a, b| {
                    for (first, second) in [(a, b), (b, a)] {
                        if pool[first].count_terms_once_more_in(&pool[second]).n_terms > 0 {
                            found.push_pair(first, second);
                        }
                    }
                },
            ),
        AxiomVariant::Code => {
            for a in 0..pool.len() {
                for b in 0..pool.len() {
                    if a != b && pool[a].count_terms_once_more_in(&pool[b]).n_shared > 0 {
                        found.push_pair(a, b);
                    }
                }
            }
        }
    }
}

pub(super) fn measure_lnc1_preconditions(
    mode: AxiomVariant,
    texts: &[DocumentFeatures],
) -> Vec<MeasuredPrecondition> {
    let equal_counts = (0..texts[0].term_counts.len()).map(|term| MeasuredPrecondition {
        quantity: PreconditionQuantity::TermCountLead { term: term as u16 },
        value: Some(f64::from(texts[0].term_counts[term]) - f64::from(texts[1].term_counts[term])),
        relation: BoundRelation::Equal,
        bound: Some(0.0),
    });
    let above_0 = |quantity: PreconditionQuantity, value: f64| MeasuredPrecondition {
        quantity,
        value: Some(value),
        relation: BoundRelation::MoreThan,
        bound: Some(0.0),
    };
    let once_more = texts[0].count_terms_once_more_in(&texts[1]);
    match mode {
        AxiomVariant::Fixed => {
            let mut preconditions: Vec<MeasuredPrecondition> = equal_counts.collect();
            preconditions.push(super::occurrences(texts, 1, 1));
            preconditions.push(above_0(
                PreconditionQuantity::LengthLead { a: 1, b: 2 },
                f64::from(texts[1].n_terms) - f64::from(texts[0].n_terms),
            ));
            preconditions
        }
        AxiomVariant::PaperRennings2019 | AxiomVariant::PaperCamara2020 => {
            let mut preconditions: Vec<MeasuredPrecondition> = equal_counts.collect();
            preconditions.push(above_0(
                PreconditionQuantity::OneExtraTerms,
                f64::from(once_more.n_terms),
            ));
            preconditions
        }
        AxiomVariant::Code => {
            vec![above_0(
                PreconditionQuantity::OneExtraSharedTerms,
                f64::from(once_more.n_shared),
            )]
        }
    }
}
