//! TP: the document in which two query terms are closer together scores higher.
//!
//! Preconditions: both documents contain at least two distinct query terms; Γ(d1) < Γ(d2), where
//! Γ(d) is the minimum |i − j| over positions i, j of two distinct query terms. Claim: S(d1) >
//! S(d2). Tao & Zhai (SIGIR 2007), as in Câmara & Hauff (ECIR 2020).
//!
//! Their code is reversed: its instances put the document with the larger distance first, and a
//! higher score of that document counts as a success.

use super::ProbeDescription;
use crate::probe::features::{AxiomInstancesForQuery, DocumentFeatures, QueryPoolFeatures};
use crate::probe::{AxiomVariant, BoundRelation, MeasuredPrecondition, PreconditionQuantity};

/// The minimum number of distinct query terms, since a distance needs two.
const TWO_TERMS: u32 = 2;

pub(super) const DESCRIPTION: ProbeDescription = ProbeDescription {
    name: "TP",
    short_title: "closer terms",
    statement: "Of two documents with at least two query terms each, the one in which two of \
         them are closer together scores higher.",
    formula: "both contain ≥ 2 distinct query terms, Γ(d1) < Γ(d2) ⇒ S(d1) > S(d2)",
    source: "Tao & Zhai, SIGIR 2007; defined as in Câmara & Hauff, ECIR 2020",
    known_issues: "The published code of Câmara & Hauff is inverted: its .39 for QL and .41 for \
         BERT are, up to ties, one minus the agreement with the axiom. Neither length nor term \
         frequency is controlled.",
    example: &[
        "river bank",
        "the river bank is steep",
        "the river has a bank",
    ],
};

pub(super) fn find_tp_instances(
    mode: AxiomVariant,
    case: &QueryPoolFeatures<'_>,
    found: &mut AxiomInstancesForQuery,
) {
    let distance = |at: usize| case.pool[at].min_query_term_distance();
    let mut by_distance: Vec<usize> = (0..case.pool.len())
        .filter(|&at| distance(at).is_some())
        .collect();
    by_distance.sort_by_key(|&at| distance(at));
    for (place, &near) in by_distance.iter().enumerate() {
        for &far in &by_distance[place + 1..] {
            if distance(near) < distance(far) {
                match mode {
                    AxiomVariant::Fixed
                    | AxiomVariant::PaperRennings2019
                    | AxiomVariant::PaperCamara2020 => {
                        found.push_pair(near, far);
                    }
                    AxiomVariant::Code => found.push_pair(far, near),
                }
            }
        }
    }
}

pub(super) fn measure_tp_preconditions(
    mode: AxiomVariant,
    texts: &[DocumentFeatures],
) -> Vec<MeasuredPrecondition> {
    let cover = |text: u8| MeasuredPrecondition {
        quantity: PreconditionQuantity::Coverage { text },
        value: Some(f64::from(texts[text as usize - 1].coverage)),
        relation: BoundRelation::AtLeast,
        bound: Some(f64::from(TWO_TERMS)),
    };
    let (near, far) = match mode {
        AxiomVariant::Fixed | AxiomVariant::PaperRennings2019 | AxiomVariant::PaperCamara2020 => {
            (1, 2)
        }
        AxiomVariant::Code => (2, 1),
    };
    let distance = |text: u8| {
        texts[text as usize - 1]
            .min_query_term_distance()
            .map(f64::from)
    };
    vec![
        cover(1),
        cover(2),
        MeasuredPrecondition {
            quantity: PreconditionQuantity::TermDistanceLead { near, far },
            value: distance(far)
                .zip(distance(near))
                .map(|(far, near)| far - near),
            relation: BoundRelation::MoreThan,
            bound: Some(0.0),
        },
    ]
}
