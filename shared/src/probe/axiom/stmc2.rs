//! STMC2: the words of the query count for more than words of similar meaning.
//!
//! Preconditions: the terms of d2 outside of the query outnumber Σ(d1) > 0; Σ(d1) > Σ(d2); cos(d1 −
//! Q, d2 − Q) ≥ `similar`. Claim: S(d1) ≥ S(d2). Fang & Zhai (SIGIR 2006), for whole documents as
//! in Câmara & Hauff (ECIR 2020).
//!
//! As they print it, the two documents must be dissimilar, since a distance has to be large, and d1
//! need not contain more query terms than d2. Their code requires Σ(d1) > Σ(d2) and similarity, and
//! nothing else.

use super::{ProbeDescription, occurrence_lead, occurrences};
use crate::probe::features::{AxiomInstancesForQuery, DocumentFeatures, QueryPoolFeatures};
use crate::probe::{AxiomVariant, BoundRelation, MeasuredPrecondition, PreconditionQuantity};

/// The minimum number of query-term occurrences in the first document: Σ(d1) > 0.
const ONE_TERM: u32 = 1;

pub(super) const DESCRIPTION: ProbeDescription = ProbeDescription {
    name: "STMC2",
    short_title: "terms over similarity",
    statement: "Of two similar documents, the one with more query-term occurrences does not \
         score lower, however many other words the other one has.",
    formula: "|d2| − Σ(d2) > Σ(d1) > 0, Σ(d1) > Σ(d2), cos(d1−Q, d2−Q) ≥ .8 ⇒ S(d1) ≥ S(d2)",
    source: "Fang & Zhai, SIGIR 2006; defined as in Câmara & Hauff, ECIR 2020",
    known_issues: "The text of Câmara & Hauff names a distance, but their equation is a cosine; \
         variant paper follows the text and requires dissimilar documents. As printed, nothing \
         requires more query-term occurrences in the first one. With common word vectors, almost \
         all documents are similar: a bound of .8 rejects one pair in a hundred.",
    example: &[],
};

pub(super) fn find_stmc2_instances(
    mode: AxiomVariant,
    case: &QueryPoolFeatures<'_>,
    found: &mut AxiomInstancesForQuery,
) {
    for a in 0..case.pool.len() {
        for b in a + 1..case.pool.len() {
            let (one, other) = (&case.pool[a], &case.pool[b]);
            let orders = [(one, other), (other, one)].map(|it| fits(mode, it.0, it.1));
            // A cosine is expensive, so the other preconditions are checked first.
            if !orders[0] && !orders[1] {
                continue;
            }
            let alike =
                one.similarity_between_non_query_words(other)
                    .is_some_and(|it| match mode {
                        AxiomVariant::PaperCamara2020 => {
                            1.0 - it > 1.0 - case.limits.min_similarity
                        }
                        AxiomVariant::Fixed
                        | AxiomVariant::PaperRennings2019
                        | AxiomVariant::Code => it >= case.limits.min_similarity,
                    });
            if alike && orders[0] {
                found.push_pair(a, b);
            }
            if alike && orders[1] {
                found.push_pair(b, a);
            }
        }
    }
}

/// Returns whether all preconditions other than the similarity hold.
fn fits(mode: AxiomVariant, first: &DocumentFeatures, second: &DocumentFeatures) -> bool {
    let outnumbered =
        second.n_non_query_terms() > first.n_occurrences && first.n_occurrences >= ONE_TERM;
    match mode {
        AxiomVariant::Fixed | AxiomVariant::PaperRennings2019 => {
            outnumbered && first.n_occurrences > second.n_occurrences
        }
        AxiomVariant::PaperCamara2020 => outnumbered,
        AxiomVariant::Code => first.n_occurrences > second.n_occurrences,
    }
}

pub(super) fn measure_stmc2_preconditions(
    mode: AxiomVariant,
    case: &QueryPoolFeatures<'_>,
) -> Vec<MeasuredPrecondition> {
    let (first, second) = (&case.pool[0], &case.pool[1]);
    let outnumbered = [
        MeasuredPrecondition {
            quantity: PreconditionQuantity::NonQueryTermExcess {
                others: 2,
                terms: 1,
            },
            value: Some(f64::from(second.n_non_query_terms()) - f64::from(first.n_occurrences)),
            relation: BoundRelation::MoreThan,
            bound: Some(0.0),
        },
        occurrences(case.pool, 1, ONE_TERM),
    ];
    let richer = occurrence_lead(case.pool, 2, 1, BoundRelation::MoreThan);
    let similarity = first.similarity_between_non_query_words(second);
    let alike = MeasuredPrecondition {
        quantity: PreconditionQuantity::Similarity,
        value: similarity,
        relation: BoundRelation::AtLeast,
        bound: Some(case.limits.min_similarity),
    };
    let unlike = MeasuredPrecondition {
        quantity: PreconditionQuantity::Dissimilarity,
        value: similarity.map(|it| 1.0 - it),
        relation: BoundRelation::MoreThan,
        bound: Some(1.0 - case.limits.min_similarity),
    };
    let [more_others, some_terms] = outnumbered;
    match mode {
        AxiomVariant::Fixed | AxiomVariant::PaperRennings2019 => {
            vec![more_others, some_terms, richer, alike]
        }
        AxiomVariant::PaperCamara2020 => vec![more_others, some_terms, unlike],
        AxiomVariant::Code => vec![richer, alike],
    }
}
