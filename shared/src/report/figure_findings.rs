//! The finding of each figure of a study in one sentence, computed from its data.

use super::figures::with_distinct_labels;
use super::format;
use super::precondition;
use crate::probe::Probe;
use crate::stats::EstimateWithInterval;
use crate::stats::multiple_testing::FAMILY_WISE_ERROR_RATE;
use crate::study::behavioral_tests::{BehavioralEffect, BehavioralTestResults, RelevanceSlice};
use crate::study::figures::StudyFigures;
use crate::study::figures::funnel::{AxiomRelaxationFunnel, AxiomRelaxationStage};
use crate::study::figures::query_overlap::EffectivenessPerOverlapThird;
use crate::study::overview::StudyOverview;

/// The finding of each figure of a study; `None` where there is nothing to say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FigureFindings {
    /// From candidates to instances.
    pub funnel: Option<String>,
    /// Why pairs are rejected.
    pub preconditions: Option<String>,
    /// Instances with another analyzer.
    pub analyzers: Option<String>,
    /// Comparison with the reference ranker.
    pub comparison: Option<String>,
    /// Effectiveness.
    pub effectiveness: Option<String>,
    /// Effectiveness by overlap, all queries.
    pub overlap: Option<String>,
    /// Effectiveness by overlap, queries with a relevant candidate.
    pub overlap_in_pool: Option<String>,
    /// Effectiveness and axiom agreement.
    pub scatter: Option<String>,
}

impl FigureFindings {
    /// Computes the finding of each figure.
    pub fn from_figures(figures: &StudyFigures) -> FigureFindings {
        let figures = &with_distinct_labels(figures);
        let overlap = figures.query_overlap.as_ref();
        let by_third = |thirds| overlap_finding(figures, thirds);
        FigureFindings {
            funnel: funnel_finding(&figures.funnels),
            preconditions: precondition_finding(&figures.funnels),
            analyzers: analyzer_finding(figures),
            comparison: comparison_finding(figures),
            effectiveness: effectiveness_finding(figures),
            overlap: overlap.and_then(|it| by_third(&it.all_queries)),
            overlap_in_pool: overlap.and_then(|it| by_third(&it.relevant_in_pool)),
            scatter: scatter_finding(figures),
        }
    }
}

/// Names the axiom for which the relaxations matter most: the largest share of instances that the
/// original axiom does not have.
fn funnel_finding(funnels: &[AxiomRelaxationFunnel]) -> Option<String> {
    let counts = funnels.iter().filter_map(|it| {
        let mut steps = it.steps.iter();
        let original = steps.find(|it| it.stage == AxiomRelaxationStage::Original)?;
        let mined = it.steps.last().filter(|it| it.n_candidates > 0)?;
        Some((it.probe, original.n_candidates, mined.n_candidates))
    });
    // Share, then number of instances.
    let key = |it: &(Probe, u64, u64)| (it.1 as f64 / it.2 as f64, u64::MAX - it.2);
    let (probe, original, mined) = counts.min_by(|a, b| {
        key(a)
            .partial_cmp(&key(b))
            .unwrap_or(std::cmp::Ordering::Equal)
    })?;
    Some(format!(
        "The relaxations matter most for {}: the original axiom covers {} of its {} instances.",
        probe.name(),
        format::format_count(original),
        format::format_count(mined)
    ))
}

/// Names the precondition that most often is the only one that fails.
fn precondition_finding(funnels: &[AxiomRelaxationFunnel]) -> Option<String> {
    let failures = funnels.iter().filter(|it| it.n_checked > 0).flat_map(|it| {
        let share = move |n: u64| n as f64 / it.n_checked as f64;
        let each = it.precondition_failures.iter();
        each.map(move |failed| (it.probe, failed, share(failed.n_failed_only)))
    });
    let (probe, failed, share) = failures.max_by(|a, b| a.2.total_cmp(&b.2))?;
    (share > 0.0).then(|| {
        format!(
            "“{}” is the precondition that alone rejects most: {} of the {} candidates fail \
             nothing else.",
            precondition::precondition_label(
                failed.quantity,
                failed.relation,
                precondition::EVERY_QUERY_TERM
            ),
            format::format_percent(share),
            probe.name()
        )
    })
}

/// Names the axiom that loses most instances under another analyzer.
fn analyzer_finding(figures: &StudyFigures) -> Option<String> {
    let rows = figures.audits.iter().flat_map(|audit| {
        let rows = audit.rows.iter().filter(|it| it.n_instances > 0);
        rows.map(move |it| (audit, it, it.n_retained as f64 / it.n_instances as f64))
    });
    let (audit, row, share) = rows.min_by(|a, b| a.2.total_cmp(&b.2))?;
    Some(format!(
        "{} depends most on the analyzer: {} of its instances survive with {}.",
        row.probe.name(),
        format::format_percent(share),
        audit.analyzer
    ))
}

/// Names the largest significant difference from the reference ranker.
fn comparison_finding(figures: &StudyFigures) -> Option<String> {
    let compared = &figures.reference_comparison;
    let reference = &figures.rankers.get(compared.reference as usize)?.label;
    let cells = figures.rankers.iter().zip(&compared.rows);
    let cells = cells.flat_map(|(ranker, row)| {
        let cells = row.iter().zip(&figures.funnels);
        cells.filter_map(move |(cell, funnel)| Some((ranker, funnel.probe, cell.as_ref()?)))
    });
    let cells: Vec<_> = cells
        .map(|(ranker, probe, it)| (ranker, probe, it.micro_average.value, it.p_holm))
        .collect();
    let significant = cells.iter().filter(|it| it.3 < FAMILY_WISE_ERROR_RATE);
    let n_significant = significant.clone().count();
    let largest = significant.max_by(|a, b| a.2.abs().total_cmp(&b.2.abs()));
    let Some(&(ranker, probe, value, _)) = largest else {
        let none = format!("No difference from {reference} is distinguishable from chance.");
        return (!cells.is_empty()).then_some(none);
    };
    Some(format!(
        "{} of {} differences from {reference} are distinguishable from chance. The largest: {} \
         satisfies {} {} often than {reference}, by {}.",
        n_significant,
        cells.len(),
        ranker.label,
        probe.name(),
        if value < 0.0 { "less" } else { "more" },
        format::format_two_digit_fraction(value.abs())
    ))
}

/// Names the most effective ranker by the first measure, and those that it outperforms.
fn effectiveness_finding(figures: &StudyFigures) -> Option<String> {
    let found = figures.effectiveness.as_ref()?;
    let rows = found.rows.iter().enumerate();
    let rows = rows.filter_map(|(at, row)| Some((at, row.first()?.as_ref()?)));
    let (best, cell) = rows.max_by(|a, b| a.1.mean.value.total_cmp(&b.1.mean.value))?;
    let label = |row: u32| Some(figures.rankers.get(row as usize)?.label.clone());
    let beaten: Vec<String> = cell
        .better_than
        .iter()
        .filter_map(|it| label(*it))
        .collect();
    Some(format!(
        "{} has the highest {}, {}{}.",
        figures.rankers.get(best)?.label,
        found.measures.first()?,
        format::format_estimate(&cell.mean),
        match beaten.is_empty() {
            true => ", without a significant win".to_owned(),
            false => format!(", and wins significantly against {}", beaten.join(", ")),
        }
    ))
}

/// Names the ranker whose effectiveness depends most on the overlap.
fn overlap_finding(
    figures: &StudyFigures,
    thirds: &EffectivenessPerOverlapThird,
) -> Option<String> {
    let rows = figures.rankers.iter().zip(&thirds.rows);
    let rows = rows.filter_map(|(ranker, [low, _, high])| {
        let mean = |it: &Option<EstimateWithInterval>| Some(it.as_ref()?.value);
        Some((ranker, mean(low)?, mean(high)?))
    });
    let change = |it: &(_, f64, f64)| (it.2 - it.1).abs();
    let (ranker, low, high) = rows.max_by(|a, b| change(a).total_cmp(&change(b)))?;
    Some(format!(
        "{} depends most on the overlap: {} {} in the third with the least overlap, {} in the \
         third with the most.",
        ranker.label,
        figures.query_overlap.as_ref()?.measure,
        format::format_two_digit_fraction(low),
        format::format_two_digit_fraction(high)
    ))
}

/// Says whether agreement with the axioms goes with effectiveness.
fn scatter_finding(figures: &StudyFigures) -> Option<String> {
    let found = figures.effectiveness_scatter.as_ref()?;
    if let Some(correlation) = &found.correlation {
        let [low, high] = correlation.r.interval;
        let said = match (low > 0.0, high < 0.0) {
            (true, _) => "Rankers that agree more with the axioms are more effective",
            (_, true) => "Rankers that agree more with the axioms are less effective",
            _ => "No relation is distinguishable from chance",
        };
        let r = format::format_signed_estimate(&correlation.r);
        return Some(format!("{said}: r = {r}."));
    }
    let points = figures.rankers.iter().zip(&found.points);
    let points = points.filter_map(|(ranker, point)| Some((ranker, (*point)?)));
    let points: Vec<_> = points.collect();
    let most = |axis: usize| {
        let points = points.iter();
        points.max_by(|a, b| a.1[axis].total_cmp(&b.1[axis]))
    };
    let ((effective, _), (agreeing, _)) = (most(0)?, most(1)?);
    Some(match effective.label == agreeing.label {
        true => format!(
            "{} is both the most effective ranker and the one that agrees most with the axioms.",
            effective.label
        ),
        false => format!(
            "{} is the most effective ranker; {} agrees most with the axioms.",
            effective.label, agreeing.label
        ),
    })
}

/// Names the axiom that each ranker violates most; none if no ranker has a verdict. As in `BM25
/// violates TP most: in 24 % of its instances.`, or `Every ranker violates TP most: BM25 in 24 % of
/// its instances, QL in 31 %.`
pub fn most_violated_axioms_finding(overview: &StudyOverview) -> Option<String> {
    let most_violated = overview.rows.iter().filter_map(|row| {
        let cells = overview.columns.iter().zip(&row.cells);
        let shares = cells.filter_map(|(column, cell)| {
            let tally = &cell.as_ref()?.tally;
            let n = tally.n_with_verdict();
            (n > 0).then(|| (column.probe, tally.violated as f64 / n as f64))
        });
        let (probe, share) = shares.max_by(|a, b| a.1.total_cmp(&b.1))?;
        Some((&row.ranker.label, probe, share))
    });
    let most_violated: Vec<(&String, Probe, f64)> = most_violated.collect();
    let (first_label, first_probe, first_share) = most_violated.first()?;
    let is_same = |it: &(&String, Probe, f64)| it.1 == *first_probe && it.2 > 0.0;
    if most_violated.len() > 1 && most_violated.iter().all(is_same) {
        let others = most_violated[1..].iter();
        let others = others.map(|it| format!(", {} in {}", it.0, format::format_percent(it.2)));
        return Some(format!(
            "Every ranker violates {} most: {first_label} in {} of its instances{}.",
            first_probe.name(),
            format::format_percent(*first_share),
            others.collect::<String>()
        ));
    }
    let sentences = most_violated
        .iter()
        .map(|(label, probe, share)| match *share > 0.0 {
            true => format!(
                "{label} violates {} most: in {} of its instances.",
                probe.name(),
                format::format_percent(*share)
            ),
            false => format!("{label} violates no axiom."),
        });
    Some(sentences.collect::<Vec<String>>().join(" "))
}

/// Names the largest effect of the behavioral tests that a predicate includes.
pub fn behavioral_test_finding(
    found: &BehavioralTestResults,
    includes: impl Fn(Probe) -> bool,
) -> Option<String> {
    let rows = found.rows.iter();
    let rows = rows.filter(|it| it.slice == RelevanceSlice::All && includes(it.probe));
    let effects = rows.flat_map(|row| {
        let effects = row.effects.iter().zip(&found.rankers);
        effects.filter_map(move |(effect, ranker)| {
            let effect = effect.as_ref()?;
            let is_clear = effect.is_significant() && !effect.has_conflicting_tests();
            is_clear.then_some((row.probe, effect, ranker))
        })
    });
    let size = |effect: &BehavioralEffect| effect.score.value.abs();
    let largest = effects.max_by(|a, b| size(a.1).total_cmp(&size(b.1)));
    let Some((probe, effect, ranker)) = largest else {
        return Some("No effect is significant by both tests.".to_owned());
    };
    Some(format!(
        "The largest effect: {} on {}, {} over {} samples.",
        ranker.ranker.label,
        probe.name(),
        format::format_signed_fraction(effect.score.value),
        format::format_count(effect.n_scored())
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collection::Qrels;
    use crate::probe::Axiom;
    use crate::report::fixture::study_overview_fixture;
    use crate::study::behavioral_tests::BehavioralTestOptions;
    use crate::study::figures::StudyFigureOptions;
    use crate::study::figures::funnel::RelaxationFunnelStep;
    use crate::study::fixture;

    fn figures() -> StudyFigures {
        let study = fixture::study_with_one_query("river bank", &fixture::RIVER_TEXTS, 10);
        study
            .compute_figures(&StudyFigureOptions::default())
            .unwrap()
    }

    #[test]
    fn the_axiom_with_the_smallest_share_of_original_instances_is_named() {
        let funnel = |axiom, counts: [u64; 2]| AxiomRelaxationFunnel {
            probe: Probe::Axiom(axiom),
            steps: [AxiomRelaxationStage::Original, AxiomRelaxationStage::Mined]
                .into_iter()
                .zip(counts)
                .map(|(stage, n_candidates)| RelaxationFunnelStep {
                    stage,
                    n_candidates,
                })
                .collect(),
            precondition_failures: Vec::new(),
            n_checked: 0,
        };
        let funnels = [
            funnel(Axiom::Tfc1, [50, 100]),
            funnel(Axiom::Mtdc, [3, 1_200]),
            funnel(Axiom::Tp, [0, 0]),
        ];
        assert_eq!(
            funnel_finding(&funnels).unwrap(),
            "The relaxations matter most for M-TDC: the original axiom covers 3 of its 1,200 \
             instances."
        );
        assert_eq!(funnel_finding(&funnels[2..]), None);
        assert_eq!(precondition_finding(&funnels), None);
    }

    #[test]
    fn the_largest_significant_difference_is_named() {
        let mut figures = figures();
        figures.rankers[1].label = "MiniLM".to_owned();
        let row = &mut figures.reference_comparison.rows[1];
        let tested = row.iter_mut().flatten();
        for (it, (value, p)) in tested.zip([(-0.25, 0.01), (0.5, 0.2), (0.125, 0.001)]) {
            it.micro_average.value = value;
            it.p_holm = p;
        }
        row.iter_mut()
            .flatten()
            .skip(3)
            .for_each(|it| it.p_holm = 1.0);
        let n = row.iter().flatten().count();
        assert!(n >= 2);
        let first = row.iter().position(Option::is_some).unwrap();
        let axiom = figures.funnels[first].probe.name().into_owned();
        let said = comparison_finding(&figures).unwrap();
        let n_significant = 1 + usize::from(n > 2);
        assert_eq!(
            said,
            format!(
                "{n_significant} of {n} differences from BM25 are distinguishable from chance. The \
                 largest: MiniLM satisfies {axiom} less often than BM25, by .25."
            )
        );
        for it in figures.reference_comparison.rows[1].iter_mut().flatten() {
            it.p_holm = 0.05;
        }
        assert_eq!(
            comparison_finding(&figures).unwrap(),
            "No difference from BM25 is distinguishable from chance."
        );
    }

    #[test]
    fn the_most_effective_ranker_is_named_with_its_wins() {
        let mut figures = figures();
        let table = figures.effectiveness.as_mut().unwrap();
        for (row, value) in table.rows.iter_mut().zip([0.25, 0.5]) {
            let cell = row[0].as_mut().unwrap();
            cell.mean.value = value;
            cell.mean.interval = [value - 0.125, value + 0.125];
            cell.better_than = if value > 0.25 { vec![0] } else { Vec::new() };
        }
        let said = effectiveness_finding(&figures).unwrap();
        let start = format!(
            "QL has the highest {}, .50 [.38, .62]",
            table_measure(&figures)
        );
        assert_eq!(
            said,
            format!("{start}, and wins significantly against BM25.")
        );
        let scatter = figures.effectiveness_scatter.as_mut().unwrap();
        scatter.points = vec![Some([0.25, 0.9]), Some([0.5, 0.8])];
        scatter.correlation = None;
        assert_eq!(
            scatter_finding(&figures).unwrap(),
            "QL is the most effective ranker; BM25 agrees most with the axioms."
        );
    }

    #[test]
    fn the_most_violated_axiom_of_each_ranker_is_named() {
        let mut overview = study_overview_fixture();
        overview.rows[1].ranker.label = "MiniLM".to_owned();
        // 963 of 14,057 instances of TFC1; of LNC2, BM25 violates none.
        assert_eq!(
            most_violated_axioms_finding(&overview).unwrap(),
            "Every ranker violates TFC1 most: BM25 in 7 % of its instances, MiniLM in 48 %."
        );
        overview.rows[0].cells[0] = None;
        assert_eq!(
            most_violated_axioms_finding(&overview).unwrap(),
            "BM25 violates no axiom. MiniLM violates TFC1 most: in 48 % of its instances."
        );
        overview.rows.truncate(1);
        overview.rows[0].cells[0] = None;
        let none = most_violated_axioms_finding(&overview).unwrap();
        assert_eq!(none, "BM25 violates no axiom.");
        overview.rows[0].cells[1] = None;
        assert_eq!(most_violated_axioms_finding(&overview), None);
    }

    fn table_measure(figures: &StudyFigures) -> String {
        figures.effectiveness.as_ref().unwrap().measures[0].clone()
    }

    #[test]
    fn a_study_without_tests_judgments_and_audits_has_no_findings_on_them() {
        let mut study = fixture::study_with_one_query("river bank", &fixture::RIVER_TEXTS, 10);
        study.qrels = Qrels::default();
        let figures = study
            .compute_figures(&StudyFigureOptions::default())
            .unwrap();
        let found = FigureFindings::from_figures(&figures);
        assert!(found.funnel.is_some() && found.preconditions.is_some());
        let rest = [
            found.analyzers,
            found.effectiveness,
            found.overlap,
            found.scatter,
        ];
        assert_eq!(rest, [None, None, None, None]);
        let tests = study
            .behavioral_tests(&BehavioralTestOptions::default())
            .unwrap();
        assert_eq!(
            behavioral_test_finding(&tests, |_| true).unwrap(),
            "No effect is significant by both tests."
        );
    }
}
