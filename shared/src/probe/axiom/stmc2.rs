//! STMC2: the words of the query count for more than words of like meaning.
//!
//! Premises: the terms of d2 outside of the query outnumber Σ(d1) > 0; Σ(d1) > Σ(d2);
//! cos(d1 − Q, d2 − Q) ≥ `similar`. Claim: S(d1) ≥ S(d2). Fang & Zhai (SIGIR 2006), for whole
//! texts as Câmara & Hauff (ECIR 2020).
//!
//! As they print it the two texts must be unlike, since a distance is asked to be large, and
//! d1 need hold no more query terms than d2. Their code asks for Σ(d1) > Σ(d2) and likeness,
//! and for nothing else.

use super::{About, occurrence_lead, occurrences};
use crate::probe::counts::{Case, Counted, Found};
use crate::probe::{ClaimKind, Limits, MeasuredPremise, Mode, Quantity, Relation};

/// The least occurrences of query terms in the first text: Σ(d1) > 0.
const ONE_TERM: u32 = 1;

pub(super) const ABOUT: About = About {
    name: "STMC2",
    gist: "terms over likeness",
    statement: "Of two texts about the same, the one with more query terms does not score \
                lower, however many other words the other one has.",
    formula: "|d2| − Σ(d2) > Σ(d1) > 0, Σ(d1) > Σ(d2), cos(d1−Q, d2−Q) ≥ .8 ⇒ S(d1) ≥ S(d2)",
    source: "Fang & Zhai, SIGIR 2006; read as in Câmara & Hauff, ECIR 2020",
    troubles: "As printed in Câmara & Hauff it asks for texts that are unlike, and nothing \
               makes the first one richer in query terms. With common word vectors almost all \
               texts are alike: a bound of .8 throws out one pair in a hundred.",
    example: &[],
};

pub(super) fn claim() -> ClaimKind {
    ClaimKind::NotBelow
}

pub(super) fn mine(mode: Mode, case: &Case<'_>, found: &mut Found) {
    for a in 0..case.pool.len() {
        for b in a + 1..case.pool.len() {
            let (one, other) = (&case.pool[a], &case.pool[b]);
            let orders = [(one, other), (other, one)].map(|it| fits(mode, it.0, it.1));
            // A cosine is costly, and asked for once.
            if !orders[0] && !orders[1] {
                continue;
            }
            let alike = one.similarity(other).is_some_and(|it| match mode {
                Mode::PaperCamara2020 => 1.0 - it > 1.0 - case.limits.similar,
                Mode::Fixed | Mode::PaperRennings2019 | Mode::CodeCamara2020 => {
                    it >= case.limits.similar
                }
            });
            if alike && orders[0] {
                found.pair(a, b);
            }
            if alike && orders[1] {
                found.pair(b, a);
            }
        }
    }
}

/// Returns whether all premises hold but the one of likeness.
fn fits(mode: Mode, first: &Counted, second: &Counted) -> bool {
    let outnumbered = second.n_outside() > first.total && first.total >= ONE_TERM;
    match mode {
        Mode::Fixed | Mode::PaperRennings2019 => outnumbered && first.total > second.total,
        Mode::PaperCamara2020 => outnumbered,
        Mode::CodeCamara2020 => first.total > second.total,
    }
}

pub(super) fn premises(mode: Mode, limits: &Limits, texts: &[Counted]) -> Vec<MeasuredPremise> {
    let (first, second) = (&texts[0], &texts[1]);
    let outnumbered = [
        MeasuredPremise {
            quantity: Quantity::OutsideOverOccurrences {
                others: 2,
                terms: 1,
            },
            value: Some(f64::from(second.n_outside()) - f64::from(first.total)),
            relation: Relation::Above,
            bound: Some(0.0),
        },
        occurrences(texts, 1, ONE_TERM),
    ];
    let richer = occurrence_lead(texts, 2, 1, Relation::Above);
    let similarity = first.similarity(second);
    let alike = MeasuredPremise {
        quantity: Quantity::Similarity,
        value: similarity,
        relation: Relation::AtLeast,
        bound: Some(limits.similar),
    };
    let unlike = MeasuredPremise {
        quantity: Quantity::Dissimilarity,
        value: similarity.map(|it| 1.0 - it),
        relation: Relation::Above,
        bound: Some(1.0 - limits.similar),
    };
    let [more_others, some_terms] = outnumbered;
    match mode {
        Mode::Fixed | Mode::PaperRennings2019 => vec![more_others, some_terms, richer, alike],
        Mode::PaperCamara2020 => vec![more_others, some_terms, unlike],
        Mode::CodeCamara2020 => vec![richer, alike],
    }
}
