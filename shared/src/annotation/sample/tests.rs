use super::super::AnnotatorAnswer;
use super::super::fixture;
use super::super::task::{DisagreementToOversample, InstanceWithReferenceAnswer};
use super::*;
use crate::probe::{Axiom, AxiomVariant};

/// 60 candidates of two probes, a third of them of TFC1; margins from −2.9 to 3, and every fifth
/// candidate is a disagreement.
fn frame() -> Vec<SamplingFrameInstance> {
    let candidate = |at: u64| SamplingFrameInstance {
        instance: StudyInstanceRef {
            probe: Probe::Axiom(if at < 20 { Axiom::Tfc1 } else { Axiom::Lnc1 }),
            variant: AxiomVariant::Fixed,
            index: at,
        },
        query: (at % 6) as u32,
        margin: (at % 10 != 9).then_some(at as f64 / 10.0 - 2.9),
        is_disagreement: Some(at.is_multiple_of(5)),
    };
    (0..60).map(candidate).collect()
}

fn designs() -> Vec<SamplingDesign> {
    let between = DisagreementToOversample::AxiomAndRanker { ranker: 0 };
    vec![
        SamplingDesign::Uniform,
        SamplingDesign::StratifiedByProbe {
            allocation: ProbeItemAllocation::Proportional,
        },
        SamplingDesign::StratifiedByProbe {
            allocation: ProbeItemAllocation::Equal,
        },
        SamplingDesign::WeightedByMargin {
            ranker: 0,
            weighting: OversampledMarginSize::SmallMargins,
        },
        SamplingDesign::WeightedByMargin {
            ranker: 0,
            weighting: OversampledMarginSize::LargeMargins,
        },
        SamplingDesign::DisagreementFirst {
            pair: between,
            disagreement_share: 0.75,
        },
    ]
}

/// The value to estimate depends on margins, probes and disagreement, so that a wrong weight is
/// noticed.
fn value(candidate: &SamplingFrameInstance) -> f64 {
    let margin = candidate.margin.unwrap_or(5.0);
    let disagrees = f64::from(u8::from(candidate.is_disagreement == Some(true)));
    margin * margin + 3.0 * disagrees + candidate.query as f64
}

#[test]
fn exactly_so_many_are_drawn_each_once() {
    let frame = frame();
    for design in designs() {
        for n in [2, 7, 20, 59, 60, 61, 500] {
            let drawn = draw_sample_from_frame(&frame, &design, n, 3).unwrap();
            assert_eq!(drawn.len(), n.min(60), "{design:?} {n}");
            assert!(drawn.is_sorted_by(|a, b| a.index < b.index));
            assert!(
                drawn
                    .iter()
                    .all(|it| it.inclusion_probability > 0.0 && it.inclusion_probability <= 1.0)
            );
            assert_eq!(
                drawn,
                draw_sample_from_frame(&frame, &design, n, 3).unwrap()
            );
        }
    }
}

/// Over 4,000 draws of 15, each candidate is drawn as often as its π says (± 4 standard errors), π
/// is the same in every draw, Σ π = 15, and the mean of the estimates is the true mean.
#[test]
fn the_probabilities_are_those_that_are_written() {
    const DRAWS: u64 = 4_000;
    let frame = frame();
    let truth = frame.iter().map(value).sum::<f64>() / 60.0;
    for design in designs() {
        let mut probabilities = vec![None; 60];
        let mut times = vec![0_u32; 60];
        let mut estimates = Vec::new();
        for seed in 0..DRAWS {
            let (mut above, mut below) = (0.0, 0.0);
            for it in draw_sample_from_frame(&frame, &design, 15, seed).unwrap() {
                let known = probabilities[it.index].get_or_insert(it.inclusion_probability);
                assert_eq!(*known, it.inclusion_probability);
                times[it.index] += 1;
                above += value(&frame[it.index]) / it.inclusion_probability;
                below += 1.0 / it.inclusion_probability;
            }
            estimates.push(above / below);
        }
        let probabilities: Vec<f64> = probabilities.into_iter().map(Option::unwrap).collect();
        let sum: f64 = probabilities.iter().sum();
        assert!((sum - 15.0).abs() < 1e-9, "{design:?} {sum}");
        for (probability, times) in probabilities.iter().zip(times) {
            let often = f64::from(times) / DRAWS as f64;
            let error = (probability * (1.0 - probability) / DRAWS as f64).sqrt();
            assert!((often - probability).abs() <= 4.0 * error, "{design:?}");
        }
        let n = DRAWS as f64;
        let mean = estimates.iter().sum::<f64>() / n;
        let squares: f64 = estimates.iter().map(|it| (it - mean) * (it - mean)).sum();
        let error = squares.sqrt() / n;
        // The bias of a ratio is about the squared error of one estimate over its mean.
        let bias = squares / n / truth;
        assert!(
            (mean - truth).abs() < 4.0 * error + bias,
            "{design:?}: {mean} ± {error} is not {truth}"
        );
    }
}

#[test]
fn chances_are_those_of_the_design() {
    let frame = frame();
    let of = |design: SamplingDesign, at: usize| {
        let drawn =
            (0..500).flat_map(|seed| draw_sample_from_frame(&frame, &design, 15, seed).unwrap());
        let mut found = drawn.filter(|it| it.index == at);
        found.next().unwrap().inclusion_probability
    };
    assert_eq!(of(SamplingDesign::Uniform, 0), 0.25);
    let [proportional, equal] = [
        ProbeItemAllocation::Proportional,
        ProbeItemAllocation::Equal,
    ]
    .map(|share| {
        let design = SamplingDesign::StratifiedByProbe { allocation: share };
        [0, 20].map(|at| of(design, at))
    });
    assert_eq!(proportional, [5.0 / 20.0, 10.0 / 40.0]);
    assert_eq!(equal, [8.0 / 20.0, 7.0 / 40.0]);
    let between = DisagreementToOversample::AxiomAndRanker { ranker: 0 };
    let design = SamplingDesign::DisagreementFirst {
        pair: between,
        disagreement_share: 0.75,
    };
    // 11 of the 12 disagreements are drawn, and 4 of the 48 other candidates.
    assert_eq!([0, 1].map(|at| of(design, at)), [11.0 / 12.0, 4.0 / 48.0]);
    // Margins are 0 at index 29 and largest at 0 and 58.
    let [close, clear] = [
        OversampledMarginSize::SmallMargins,
        OversampledMarginSize::LargeMargins,
    ]
    .map(|favour| {
        let design = SamplingDesign::WeightedByMargin {
            ranker: 0,
            weighting: favour,
        };
        [28, 58].map(|at| of(design, at))
    });
    assert!(close[0] > 1.5 * close[1] && clear[1] > 1.5 * clear[0]);
}

/// Three of the sizes 100, 50, 1, 1, 1, 1 are drawn: 100 with certainty (3 · 100 > 154), then 50 (2
/// · 50 > 54), and one of the others with π = 1/4.
#[test]
fn what_is_too_large_is_certain() {
    for seed in 0..50 {
        let mut drawn = Vec::new();
        let sizes = [1, 100, 1, 50, 1, 1];
        let mut random = seeded_generator(seed, "sample");
        systematic((0..6).collect(), &sizes, 3, &mut random, &mut drawn);
        drawn.sort_unstable_by_key(|it| it.index);
        let certain = drawn.iter().filter(|it| it.inclusion_probability == 1.0);
        assert_eq!(certain.map(|it| it.index).collect::<Vec<_>>(), [1, 3]);
        let others = drawn.iter().filter(|it| it.inclusion_probability < 1.0);
        assert_eq!(
            others
                .map(|it| it.inclusion_probability)
                .collect::<Vec<_>>(),
            [0.25]
        );
    }
}

#[test]
fn a_stratum_without_a_chance_is_refused() {
    let frame = frame();
    let design = SamplingDesign::StratifiedByProbe {
        allocation: ProbeItemAllocation::Equal,
    };
    let error = draw_sample_from_frame(&frame, &design, 1, 0)
        .unwrap_err()
        .to_string();
    assert!(error.contains("cannot cover 2 strata"), "{error}");
    assert!(draw_sample_from_frame(&[], &SamplingDesign::Uniform, 1, 0).is_err());
}

#[test]
fn what_is_known_is_not_drawn() {
    let study = fixture::fixture_study_with_tfc1();
    let known = |number| InstanceWithReferenceAnswer {
        instance: fixture::tfc1_annotation_item(
            number,
            0,
            AnnotationItemRole::Sampled {
                inclusion_probability: 1.0,
            },
        )
        .instance,
        answer: AnnotatorAnswer::First,
        explanation: String::new(),
    };
    let mut task = fixture::tfc1_annotation_task();
    task.n_items = 500;
    let all = sample_task_items(&study, &task).unwrap();
    assert_eq!(all.items.len() as u64, all.n_candidates);
    task.training = vec![known(1)];
    task.gold = vec![known(0)];
    let made = sample_task_items(&study, &task).unwrap();
    assert_eq!(made.n_candidates, all.n_candidates - 2);
    let names: Vec<&str> = made.items.iter().map(|it| it.role.name()).collect();
    assert_eq!(names[..3], ["training", "gold", "sampled"]);
    assert_eq!(made.items.len(), all.items.len());
    let instances = study
        .instances_of_probe(Probe::Axiom(Axiom::Tfc1), AxiomVariant::Fixed)
        .unwrap();
    for item in &made.items {
        assert_eq!(
            item.query as usize,
            instances.query_of_instance(item.instance.index as usize)
        );
    }
    task.gold.push(known(1));
    assert!(sample_task_items(&study, &task).is_err());
    task.gold = vec![known(999)];
    assert!(sample_task_items(&study, &task).is_err());
}
