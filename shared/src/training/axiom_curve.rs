//! The learning curve of one axiom: when a ranker learned it, and how well.

use super::{AxiomCurveValue, LearningCurvePoint};
use crate::probe::Axiom;

/// The fraction that a ranker without preferences satisfies among instances with two documents.
pub const CHANCE: f64 = 0.5;

/// The fractions of one axiom during a training.
#[derive(Debug, Clone, PartialEq)]
pub struct AxiomLearningCurve {
    /// The axiom whose instances were judged.
    pub axiom: Axiom,
    /// The step of each checkpoint and the value there; at least one.
    pub values: Vec<(u64, AxiomCurveValue)>,
}

impl AxiomLearningCurve {
    /// Returns the curves of all axioms with values, in display order.
    pub fn list(points: &[LearningCurvePoint]) -> Vec<AxiomLearningCurve> {
        let curve = |&axiom: &Axiom| {
            let slug = axiom.slug();
            let value = |it: &LearningCurvePoint| Some((it.step, *it.axioms.get(&*slug)?));
            let values: Vec<_> = points.iter().filter_map(value).collect();
            (!values.is_empty()).then_some(AxiomLearningCurve { axiom, values })
        };
        Axiom::ALL.iter().filter_map(curve).collect()
    }

    /// Returns the value at the first checkpoint.
    pub fn first(&self) -> AxiomCurveValue {
        self.values[0].1
    }

    /// Returns the value at the last checkpoint.
    pub fn last(&self) -> AxiomCurveValue {
        self.values[self.values.len() - 1].1
    }

    /// Returns the step and the value of the highest fraction, the earliest of equal ones.
    pub fn highest(&self) -> (u64, AxiomCurveValue) {
        let latest_first = self.values.iter().rev();
        let highest = latest_first.max_by(|a, b| a.1.fraction.total_cmp(&b.1.fraction));
        *highest.unwrap_or(&self.values[0])
    }

    /// Returns the step of the first checkpoint whose interval lies wholly above [`CHANCE`], as do
    /// those of all later checkpoints.
    pub fn first_crossing(&self) -> Option<u64> {
        let latest_first = self.values.iter().rev();
        let above = latest_first.take_while(|it| it.1.interval[0] > CHANCE);
        above.last().map(|it| it.0)
    }
}

/// Returns the smallest [`AxiomLearningCurve::first_crossing`] and the axioms that have it.
pub fn find_axioms_learned_first(curves: &[AxiomLearningCurve]) -> Option<(u64, Vec<Axiom>)> {
    let crossings = || curves.iter().map(|it| (it.first_crossing(), it.axiom));
    let step = crossings().filter_map(|it| it.0).min()?;
    let first = crossings().filter(|it| it.0 == Some(step));
    Some((step, first.map(|it| it.1).collect()))
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// Returns a learning curve of four checkpoints with the lower bounds of three axioms;
    /// fractions are .1 higher, upper bounds .2.
    pub(crate) fn curve_of_three_axioms() -> Vec<LearningCurvePoint> {
        let lower_bounds = [
            // It is above chance, falls back, and stays above from the third checkpoint.
            ("tp", [0.51, 0.5, 0.6, 0.55]),
            // It stays above chance from the second checkpoint.
            ("tfc1", [0.3, 0.51, 0.7, 0.7]),
            // The last interval includes chance.
            ("lnc1", [0.6, 0.6, 0.6, 0.45]),
        ];
        let point = |at: usize| {
            let value = |low: f64| AxiomCurveValue {
                fraction: low + 0.1,
                interval: [low, low + 0.2],
                n: 40,
            };
            let axioms = lower_bounds.iter();
            LearningCurvePoint {
                step: 100 * (at as u64 + 1),
                loss: 1.0 / (at + 1) as f64,
                dev: BTreeMap::from([("AP".to_owned(), 0.25 + 0.125 * at as f64)]),
                axioms: axioms
                    .map(|it| (it.0.to_owned(), value(it.1[at])))
                    .collect(),
            }
        };
        (0..4).map(point).collect()
    }

    #[test]
    fn an_axiom_is_learned_where_its_interval_stays_above_chance() {
        let curves = AxiomLearningCurve::list(&curve_of_three_axioms());
        let crossings: Vec<(Axiom, Option<u64>)> = curves
            .iter()
            .map(|it| (it.axiom, it.first_crossing()))
            .collect();
        let expected = [
            (Axiom::Tfc1, Some(200)),
            (Axiom::Lnc1, None),
            (Axiom::Tp, Some(300)),
        ];
        assert_eq!(crossings, expected);
        let first = find_axioms_learned_first(&curves);
        assert_eq!(first, Some((200, vec![Axiom::Tfc1])));
        assert_eq!(find_axioms_learned_first(&curves[1..2]), None);

        // Up to the second checkpoint, LNC1 is above chance from the first.
        let curves = AxiomLearningCurve::list(&curve_of_three_axioms()[..2]);
        let first = find_axioms_learned_first(&curves);
        assert_eq!(first, Some((100, vec![Axiom::Lnc1])));
    }

    #[test]
    fn the_earliest_of_equal_fractions_is_the_highest() {
        let curves = AxiomLearningCurve::list(&curve_of_three_axioms());
        let [tfc1, lnc1, tp] = &curves[..] else {
            panic!("three axioms")
        };
        assert_eq!([tfc1, lnc1, tp].map(|it| it.highest().0), [300, 100, 300]);
        assert_eq!(tfc1.highest().1.interval[0], 0.7);
        assert_eq!(tfc1.first().interval[0], 0.3);
        assert_eq!(lnc1.last().interval[0], 0.45);
    }

    #[test]
    fn axioms_that_cross_at_the_same_step_were_learned_first_together() {
        let curves = AxiomLearningCurve::list(&curve_of_three_axioms()[2..]);
        let first = find_axioms_learned_first(&curves);
        assert_eq!(first, Some((300, vec![Axiom::Tfc1, Axiom::Tp])));
        assert_eq!(AxiomLearningCurve::list(&[]), []);
    }
}
