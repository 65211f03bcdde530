//! STMC1: of two texts with equally many distinct query terms, the one whose other words mean
//! more of what the query means scores higher.
//!
//! Premises: cover(d1) = cover(d2); cos(d1 − Q, Q) > cos(d2 − Q, Q). Claim: S(d1) > S(d2).
//! Fang & Zhai (SIGIR 2006), for whole texts as Câmara & Hauff (ECIR 2020).
//!
//! They write of a cosine distance where similarity is meant, and their code takes it: its
//! instances put the text first that is less like the query. It asks for equally many
//! occurrences of query terms in place of distinct ones.

use super::{About, similarity_lead};
use crate::probe::counts::{Case, Counted, Found};
use crate::probe::{ClaimKind, MeasuredPremise, Mode, Quantity, Relation};

pub(super) const ABOUT: About = About {
    name: "STMC1",
    gist: "closer words",
    statement: "Of two texts with equally many distinct query terms, the one whose other words \
                are closer in meaning to the query scores higher.",
    formula: "cover(d1) = cover(d2), cos(d1−Q, Q) > cos(d2−Q, Q) ⇒ S(d1) > S(d2)",
    source: "Fang & Zhai, SIGIR 2006; read as in Câmara & Hauff, ECIR 2020",
    troubles: "The published code of Câmara & Hauff is inverted: it takes a distance for a \
               similarity and counts the less similar text as preferred, so that its .49 for \
               QL and .50 for BERT are, up to ties, one minus how often the axiom holds.",
    example: &[],
};

pub(super) fn claim() -> ClaimKind {
    ClaimKind::Above
}

pub(super) fn mine(mode: Mode, case: &Case<'_>, found: &mut Found) {
    let similarity = |at: usize| case.pool[at].to_query();
    let take = |a: usize, b: usize| {
        let (Some(here), Some(there)) = (similarity(a), similarity(b)) else {
            return;
        };
        if here == there {
            return;
        }
        let (near, far) = if here > there { (a, b) } else { (b, a) };
        match mode {
            Mode::Fixed | Mode::PaperRennings2019 => found.pair(near, far),
            Mode::PaperCamara2020 | Mode::CodeCamara2020 => found.pair(far, near),
        }
    };
    match mode {
        Mode::Fixed | Mode::PaperRennings2019 | Mode::PaperCamara2020 => {
            case.each_alike(|it| &it.cover, take);
        }
        Mode::CodeCamara2020 => case.each_alike(|it| &it.total, take),
    }
}

pub(super) fn premises(mode: Mode, texts: &[Counted]) -> Vec<MeasuredPremise> {
    let cover = |text: usize| f64::from(texts[text].cover);
    let equal = match mode {
        Mode::Fixed | Mode::PaperRennings2019 | Mode::PaperCamara2020 => MeasuredPremise {
            quantity: Quantity::CoverLead { a: 2, b: 1 },
            value: Some(cover(0) - cover(1)),
            relation: Relation::Equal,
            bound: Some(0.0),
        },
        Mode::CodeCamara2020 => super::occurrence_lead(texts, 2, 1, Relation::Equal),
    };
    let closer = match mode {
        Mode::Fixed | Mode::PaperRennings2019 => similarity_lead(texts, 1, 2),
        Mode::PaperCamara2020 | Mode::CodeCamara2020 => similarity_lead(texts, 2, 1),
    };
    vec![equal, closer]
}
