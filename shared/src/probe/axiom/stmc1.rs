//! STMC1: of two documents with equally many distinct query terms, the one whose other words are
//! more similar in meaning to the query scores higher.
//!
//! Preconditions: cover(d1) = cover(d2); cos(d1 − Q, Q) > cos(d2 − Q, Q). Claim: S(d1) > S(d2).
//! Fang & Zhai (SIGIR 2006), for whole documents as in Câmara & Hauff (ECIR 2020).
//!
//! Câmara & Hauff write of a cosine distance where similarity is meant, and their code uses the
//! distance: its instances put the document first that is less similar to the query. It requires
//! equally many occurrences of query terms instead of distinct ones.

use super::{ProbeDescription, similarity_lead};
use crate::probe::features::{AxiomInstancesForQuery, DocumentFeatures, QueryPoolFeatures};
use crate::probe::{AxiomVariant, BoundRelation, MeasuredPrecondition, PreconditionQuantity};

pub(super) const DESCRIPTION: ProbeDescription = ProbeDescription {
    name: "STMC1",
    short_title: "more similar words",
    statement: "Of two documents with equally many distinct query terms, the one whose other \
         words are semantically closer to the query scores higher.",
    formula: "cover(d1) = cover(d2), cos(d1−Q, Q) > cos(d2−Q, Q) ⇒ S(d1) > S(d2)",
    source: "Fang & Zhai, SIGIR 2006; defined as in Câmara & Hauff, ECIR 2020",
    known_issues: "The published code of Câmara & Hauff is inverted: it uses a distance as a \
         similarity and prefers the less similar document, so that its .49 for QL and .50 for \
         BERT are, up to ties, one minus the agreement with the axiom. Their text names a \
         distance, but their equation is a cosine; variant paper follows the text.",
    example: &[],
};

pub(super) fn find_stmc1_instances(
    mode: AxiomVariant,
    case: &QueryPoolFeatures<'_>,
    found: &mut AxiomInstancesForQuery,
) {
    let similarity = |at: usize| case.pool[at].non_query_word_query_similarity();
    let take = |a: usize, b: usize| {
        let (Some(here), Some(there)) = (similarity(a), similarity(b)) else {
            return;
        };
        if here == there {
            return;
        }
        let (near, far) = if here > there { (a, b) } else { (b, a) };
        match mode {
            AxiomVariant::Fixed | AxiomVariant::PaperRennings2019 => found.push_pair(near, far),
            AxiomVariant::PaperCamara2020 | AxiomVariant::Code => found.push_pair(far, near),
        }
    };
    match mode {
        AxiomVariant::Fixed | AxiomVariant::PaperRennings2019 | AxiomVariant::PaperCamara2020 => {
            case.for_each_pair_with_equal_key(|it| &it.coverage, take);
        }
        AxiomVariant::Code => case.for_each_pair_with_equal_key(|it| &it.n_occurrences, take),
    }
}

pub(super) fn measure_stmc1_preconditions(
    mode: AxiomVariant,
    texts: &[DocumentFeatures],
) -> Vec<MeasuredPrecondition> {
    let cover = |text: usize| f64::from(texts[text].coverage);
    let equal = match mode {
        AxiomVariant::Fixed | AxiomVariant::PaperRennings2019 | AxiomVariant::PaperCamara2020 => {
            MeasuredPrecondition {
                quantity: PreconditionQuantity::CoverageLead { a: 2, b: 1 },
                value: Some(cover(0) - cover(1)),
                relation: BoundRelation::Equal,
                bound: Some(0.0),
            }
        }
        AxiomVariant::Code => super::occurrence_lead(texts, 2, 1, BoundRelation::Equal),
    };
    let closer = match mode {
        AxiomVariant::Fixed | AxiomVariant::PaperRennings2019 => similarity_lead(texts, 1, 2),
        AxiomVariant::PaperCamara2020 | AxiomVariant::Code => similarity_lead(texts, 2, 1),
    };
    vec![equal, closer]
}
