use super::*;
use crate::study::figures::StudyFigureOptions;
use crate::study::fixture;

/// Computed by hand. Query `river`; documents of 2, 2, 3 and 2 words with 2, 1, 1 and 0
/// occurrences of it.
const TEXTS: [&str; 4] = ["river river", "river bank", "a river bank", "the sea"];

fn funnel(probe: Probe, delta: u32) -> AxiomRelaxationFunnel {
    let study = fixture::study_with_one_query("river", &TEXTS, delta);
    let figures = study
        .compute_figures(&StudyFigureOptions::default())
        .unwrap();
    let mut funnels = figures.funnels.into_iter();
    funnels.find(|it| it.probe == probe).unwrap()
}

fn counts(funnel: &AxiomRelaxationFunnel) -> Vec<(AxiomRelaxationStage, u64)> {
    funnel
        .steps
        .iter()
        .map(|it| (it.stage, it.n_candidates))
        .collect()
}

#[test]
fn tfc1_is_relaxed_and_extended_step_by_step() {
    // Original: 1 > 2, 1 > 4 and 2 > 4 (all of two words). With δ = 1 and a query term in both,
    // also 1 > 3, but no longer those with 4. By length alone: 1 > 2, 3, 4, 2 > 4, 3 > 4.
    let found = funnel(Probe::Axiom(Axiom::Tfc1), 1);
    let expected = [
        (AxiomRelaxationStage::Candidates, 12),
        (AxiomRelaxationStage::Original, 3),
        (AxiomRelaxationStage::Relaxed, 2),
        (AxiomRelaxationStage::ExtendedByLength, 5),
        (AxiomRelaxationStage::Mined, 2),
    ];
    assert_eq!(counts(&found), expected);
    assert_eq!(found.n_checked, 12);
}

#[test]
fn each_precondition_says_how_many_it_sends_away_and_by_how_much() {
    let found = funnel(Probe::Axiom(Axiom::Tfc1), 0);
    let missed = |quantity: PreconditionQuantity| {
        let mut all = found.precondition_failures.iter();
        let it = all.find(|it| it.quantity == quantity).unwrap();
        (it.n_failed, it.n_failed_only, it.median_shortfall)
    };
    // Document 3 is longer than all others by one: six ordered pairs; 1 and 3 fail nothing
    // else.
    let gap = PreconditionQuantity::LengthGap { a: 1, b: 2 };
    assert_eq!(missed(gap), (6, 1, Some(1.0)));
    // Document 4 has no query term; as the second of a pair it fails only that, except with
    // document 3.
    let second = PreconditionQuantity::QueryTermOccurrences { text: 2 };
    assert_eq!(missed(second), (3, 2, Some(1.0)));
}

#[test]
fn a_drawn_candidate_is_made_of_different_texts() {
    let study = fixture::study_with_one_query("river", &TEXTS, 10);
    let index = study.build_document_index().unwrap();
    let case = study.case(0, &index, None);
    let mut seen: Vec<Vec<(u32, u32)>> = (0..24)
        .map(|it| texts_at(Probe::Axiom(Axiom::Tfc2), &case, it, 3))
        .map(|it| it.iter().map(|it| (it.n_terms, it.n_occurrences)).collect())
        .collect();
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 24);
    assert_eq!(choices(4, 3), 24);
}
