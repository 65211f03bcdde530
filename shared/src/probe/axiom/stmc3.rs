//! STMC3: of two documents of equal length with equally many distinct query terms, more occurrences
//! of them do not make up for words that are less similar to the query.
//!
//! Preconditions, with the document that must not score lower first: cover(d1) = cover(d2); | |d1|
//! − |d2| | ≤ δ; Σ(d2) > Σ(d1); cos(d1 − Q, Q) > cos(d2 − Q, Q). Claim: S(d1) ≥ S(d2). Fang & Zhai
//! (SIGIR 2006), for whole documents as in Câmara & Hauff (ECIR 2020).
//!
//! As they print it, the claim is reversed and has a distance instead of the cosine. Their code
//! compares terms outside of the query instead of Σ, requires a difference in length below δ, and
//! prefers the document that is less similar to the query.

use super::{ProbeDescription, length_gap, occurrence_lead, similarity_lead};
use crate::probe::features::{AxiomInstancesForQuery, DocumentFeatures, QueryPoolFeatures};
use crate::probe::{
    AxiomVariant, BoundRelation, MeasuredPrecondition, MiningThresholds, PreconditionQuantity,
};

pub(super) const DESCRIPTION: ProbeDescription = ProbeDescription {
    name: "STMC3",
    short_title: "similarity over counts",
    statement: "Of two equally long documents with equally many distinct query terms, the one \
         whose other words are semantically closer to the query does not score lower, even if \
         the other one repeats query terms more often.",
    formula: "cover(d1) = cover(d2), ||d1| − |d2|| ≤ δ, Σ(d2) > Σ(d1), \
              cos(d1−Q, Q) > cos(d2−Q, Q) ⇒ S(d1) ≥ S(d2)",
    source: "Fang & Zhai, SIGIR 2006; defined as in Câmara & Hauff, ECIR 2020",
    known_issues: "Câmara & Hauff state the opposite preference. Their text names a distance, \
         but their equation is a cosine; variant paper follows the text. Their code counts \
         non-query terms in place of query terms and prefers the less similar document.",
    example: &[],
};

pub(super) fn find_stmc3_instances(
    mode: AxiomVariant,
    case: &QueryPoolFeatures<'_>,
    found: &mut AxiomInstancesForQuery,
) {
    case.for_each_pair_with_equal_key(
        |it| &it.coverage,
        |a, b| {
            for (first, second) in [(a, b), (b, a)] {
                if fits(mode, case.limits, &case.pool[first], &case.pool[second]) {
                    found.push_pair(first, second);
                }
            }
        },
    );
}

fn fits(
    mode: AxiomVariant,
    limits: &MiningThresholds,
    first: &DocumentFeatures,
    second: &DocumentFeatures,
) -> bool {
    let (Some(here), Some(there)) = (
        first.non_query_word_query_similarity(),
        second.non_query_word_query_similarity(),
    ) else {
        return false;
    };
    let gap = first.n_terms.abs_diff(second.n_terms);
    match mode {
        AxiomVariant::Fixed | AxiomVariant::PaperRennings2019 => {
            limits.are_lengths_similar(first.n_terms, second.n_terms)
                && second.n_occurrences > first.n_occurrences
                && here > there
        }
        AxiomVariant::PaperCamara2020 => {
            limits.are_lengths_similar(first.n_terms, second.n_terms)
                && first.n_occurrences > second.n_occurrences
                && here > there
        }
        AxiomVariant::Code => {
            limits.length_tolerance_terms.is_none_or(|it| gap < it)
                && second.n_non_query_terms() > first.n_non_query_terms()
                && there > here
        }
    }
}

pub(super) fn measure_stmc3_preconditions(
    mode: AxiomVariant,
    case: &QueryPoolFeatures<'_>,
) -> Vec<MeasuredPrecondition> {
    let (first, second) = (&case.pool[0], &case.pool[1]);
    let cover = MeasuredPrecondition {
        quantity: PreconditionQuantity::CoverageLead { a: 2, b: 1 },
        value: Some(f64::from(first.coverage) - f64::from(second.coverage)),
        relation: BoundRelation::Equal,
        bound: Some(0.0),
    };
    let gap = length_gap(case.limits, case.pool, 1, 2);
    match mode {
        AxiomVariant::Fixed | AxiomVariant::PaperRennings2019 => vec![
            cover,
            gap,
            occurrence_lead(case.pool, 1, 2, BoundRelation::MoreThan),
            similarity_lead(case.pool, 1, 2),
        ],
        AxiomVariant::PaperCamara2020 => vec![
            cover,
            gap,
            occurrence_lead(case.pool, 2, 1, BoundRelation::MoreThan),
            similarity_lead(case.pool, 1, 2),
        ],
        AxiomVariant::Code => vec![
            cover,
            // Lengths are integers: below δ means at most δ − 1.
            MeasuredPrecondition {
                bound: gap.bound.map(|it| it - 1.0),
                ..gap
            },
            MeasuredPrecondition {
                quantity: PreconditionQuantity::NonQueryTermLead { a: 1, b: 2 },
                value: Some(
                    f64::from(second.n_non_query_terms()) - f64::from(first.n_non_query_terms()),
                ),
                relation: BoundRelation::MoreThan,
                bound: Some(0.0),
            },
            similarity_lead(case.pool, 2, 1),
        ],
    }
}
