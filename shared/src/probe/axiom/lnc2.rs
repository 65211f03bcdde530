//! LNC2: a document repeated k times does not score lower than the document itself.
//!
//! Instances are built, not mined: for a document d of the pool with Σ(d) ≥ 1 and each k from
//! `repeat_from` to `repeat_to` with k·|d| ≤ `repeated_terms`, d' is the text of d repeated k
//! times, joined by spaces. Claim: S(d') ≥ S(d). Fang, Tao & Zhai (SIGIR 2004); Rennings et al.
//! (ECIR 2019), section 3.4, printed without Σ(d) ≥ 1.
//!
//! Câmara & Hauff (ECIR 2020) repeat a document up to 512 terms, k = ⌊512/|d|⌋ ≥ 2; their code
//! takes documents of at most 256 terms and claims `>`.

use super::ProbeDescription;
use crate::probe::features::{AxiomInstancesForQuery, QueryPoolFeatures};
use crate::probe::{
    AxiomVariant, BoundRelation, MeasuredPrecondition, MiningThresholds, PreconditionQuantity,
};

pub(super) const DESCRIPTION: ProbeDescription = ProbeDescription {
    name: "LNC2",
    short_title: "repeated document",
    statement: "A document repeated several times does not score lower than the original.",
    formula: "d' = d repeated k times, Σ(d) ≥ 1, k·|d| ≤ 240 ⇒ S(d') ≥ S(d)",
    source: "Fang, Tao & Zhai, SIGIR 2004; built as in Rennings, Moraes & Hauff, ECIR 2019",
    known_issues: "Câmara & Hauff report 6 % in the text and 0.00 in the table for the same \
         figure; their code counts a tie as a failure for BERT and as a success for QL.",
    example: &[
        "river bank",
        "river bank mud river bank mud",
        "river bank mud",
    ],
};

pub(super) fn find_lnc2_instances(
    mode: AxiomVariant,
    case: &QueryPoolFeatures<'_>,
    found: &mut AxiomInstancesForQuery,
) {
    for (place, text) in case.pool.iter().enumerate() {
        if text.n_occurrences < least(mode) {
            continue;
        }
        for times in repetitions(mode, case.limits, text.n_terms) {
            let derived = case.pool.len() + found.derived.len();
            found.derived.push((place as u32, times));
            found.push_pair(derived, place);
        }
    }
}

pub(super) fn measure_lnc2_preconditions(
    mode: AxiomVariant,
    case: &QueryPoolFeatures<'_>,
) -> Vec<MeasuredPrecondition> {
    let (repeated, once) = (&case.pool[0], &case.pool[1]);
    let times = repeated.repetition_factor_relative_to(once).map(f64::from);
    let repetitions = |relation, bound: u32| MeasuredPrecondition {
        quantity: PreconditionQuantity::Repetitions,
        value: times,
        relation,
        bound: Some(f64::from(bound)),
    };
    let at_most = |text: u8, bound: u32| MeasuredPrecondition {
        quantity: PreconditionQuantity::Length { text },
        value: Some(f64::from(case.pool[text as usize - 1].n_terms)),
        relation: BoundRelation::AtMost,
        bound: Some(f64::from(bound)),
    };
    let mut preconditions = vec![
        super::occurrences(case.pool, 2, least(mode)),
        repetitions(BoundRelation::AtLeast, case.limits.min_repetitions),
    ];
    // A document without terms has no number of repetitions, so that every bound fails.
    let fill = case
        .limits
        .fill_length_terms
        .checked_div(once.n_terms)
        .unwrap_or(0);
    match mode {
        AxiomVariant::Fixed | AxiomVariant::PaperRennings2019 => {
            preconditions.push(repetitions(
                BoundRelation::AtMost,
                case.limits.max_repetitions,
            ));
            preconditions.push(at_most(1, case.limits.max_repeated_doc_terms));
        }
        AxiomVariant::PaperCamara2020 => {
            preconditions.push(repetitions(BoundRelation::Equal, fill))
        }
        AxiomVariant::Code => {
            preconditions.push(at_most(2, case.limits.max_fillable_doc_terms));
            preconditions.push(repetitions(BoundRelation::Equal, fill));
        }
    }
    preconditions
}

fn least(mode: AxiomVariant) -> u32 {
    match mode {
        AxiomVariant::Fixed => 1,
        AxiomVariant::PaperRennings2019 | AxiomVariant::PaperCamara2020 | AxiomVariant::Code => 0,
    }
}

/// Returns the numbers of repetitions of a document of `len` terms.
fn repetitions(mode: AxiomVariant, limits: &MiningThresholds, len: u32) -> Vec<u32> {
    let fill = limits
        .fill_length_terms
        .checked_div(len)
        .filter(|&it| it >= limits.min_repetitions);
    match mode {
        AxiomVariant::Fixed | AxiomVariant::PaperRennings2019 => {
            let most = limits
                .max_repeated_doc_terms
                .checked_div(len)
                .unwrap_or(0)
                .min(limits.max_repetitions);
            (limits.min_repetitions..=most).collect()
        }
        AxiomVariant::PaperCamara2020 => fill.into_iter().collect(),
        AxiomVariant::Code => fill
            .filter(|_| len <= limits.max_fillable_doc_terms)
            .into_iter()
            .collect(),
    }
}
