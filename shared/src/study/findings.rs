//! The notable results of a study: the cells that a reader should see first.

use super::overview::{RankerAxiomResult, StudyOverview};
use crate::probe::Probe;
use crate::score::RankerKind;
use crate::stats::EstimateWithInterval;
use crate::stats::multiple_testing::FAMILY_WISE_ERROR_RATE;

/// A notable result with its numbers. Rankers are given by their row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum StudyFinding {
    /// A ranker violates an axiom in most instances.
    ViolatesAxiom {
        /// The row of the ranker.
        ranker: usize,
        /// The axiom whose fraction is reported.
        probe: Probe,
        /// The fraction satisfied.
        fraction: EstimateWithInterval,
        /// Instances with a verdict.
        n_verdicts: u64,
    },
    /// The fractions of two rankers differ strongly.
    RankersDiffer {
        /// The row of the ranker with the higher fraction.
        more: usize,
        /// The row of the ranker with the lower fraction.
        less: usize,
        /// The axiom on which the two rankers differ.
        probe: Probe,
        /// The higher fraction.
        fraction_of_more: EstimateWithInterval,
        /// The lower fraction.
        fraction_of_less: EstimateWithInterval,
    },
    /// The judgments contradict an axiom.
    QrelsContradictAxiom {
        /// The axiom that the judgments contradict.
        probe: Probe,
        /// The fraction of instances whose claim holds for the grades, among those with different
        /// grades.
        fraction: EstimateWithInterval,
        /// Instances whose grades differ.
        n_verdicts: u64,
    },
    /// A ranker satisfies an axiom.
    SatisfiesAxiom {
        /// The row of the ranker.
        ranker: usize,
        /// The axiom whose fraction is reported.
        probe: Probe,
        /// The fraction satisfied.
        fraction: EstimateWithInterval,
        /// Instances with a verdict.
        n_verdicts: u64,
    },
}

impl StudyFinding {
    /// Returns the probe, an axiom or a behavioral test, that the finding is about.
    pub fn probe(&self) -> Probe {
        match self {
            StudyFinding::ViolatesAxiom { probe, .. }
            | StudyFinding::RankersDiffer { probe, .. }
            | StudyFinding::QrelsContradictAxiom { probe, .. }
            | StudyFinding::SatisfiesAxiom { probe, .. } => *probe,
        }
    }

    /// Returns the distance from chance level, as a fraction, measured from the nearer end of the
    /// interval. For two rankers, it is the distance between the nearer ends of both intervals. A
    /// value of at most 0 may be due to chance.
    fn size(&self) -> f64 {
        const CHANCE: f64 = 0.5;
        match self {
            StudyFinding::ViolatesAxiom { fraction, .. }
            | StudyFinding::QrelsContradictAxiom { fraction, .. } => CHANCE - fraction.interval[1],
            StudyFinding::RankersDiffer {
                fraction_of_more,
                fraction_of_less,
                ..
            } => fraction_of_more.interval[0] - fraction_of_less.interval[1],
            StudyFinding::SatisfiesAxiom { fraction, .. } => fraction.interval[0] - CHANCE,
        }
    }

    /// Returns whether the finding is that a ranker satisfies an axiom. Such findings come last.
    fn is_expected(&self) -> bool {
        matches!(self, StudyFinding::SatisfiesAxiom { .. })
    }
}

/// Returns the largest findings, at most `n` and at most one about each axiom.
pub fn find_notable_results(overview: &StudyOverview, n: usize) -> Vec<StudyFinding> {
    let mut all: Vec<StudyFinding> = candidates(overview)
        .into_iter()
        .filter(|it| it.size() > 0.0)
        .collect();
    // The sort is stable: of equal findings the first in the table comes first.
    all.sort_by(|a, b| {
        let expected = a.is_expected().cmp(&b.is_expected());
        expected.then(b.size().total_cmp(&a.size()))
    });
    let mut largest: Vec<StudyFinding> = Vec::new();
    for it in all {
        if largest.iter().all(|known| known.probe() != it.probe()) {
            largest.push(it);
        }
    }
    largest.truncate(n);
    largest
}

/// Returns the result with which to open a study: the largest difference between a neural and a
/// lexical ranker; without one, the largest finding.
pub fn find_most_instructive_result(overview: &StudyOverview) -> Option<StudyFinding> {
    let kind = |row: usize| overview.rows[row].ranker.kind;
    let is_across_kinds = |it: &StudyFinding| match it {
        StudyFinding::RankersDiffer { more, less, .. } => matches!(
            (kind(*more), kind(*less)),
            (RankerKind::Neural, RankerKind::Lexical) | (RankerKind::Lexical, RankerKind::Neural)
        ),
        _ => false,
    };
    let mut largest: Option<StudyFinding> = None;
    for it in candidates(overview) {
        let known = largest.map_or(0.0, |it| it.size());
        if is_across_kinds(&it) && it.size() > known {
            largest = Some(it);
        }
    }
    largest.or_else(|| find_notable_results(overview, 1).first().copied())
}

/// Returns whether a fraction is distinguishable from chance, as the cell says itself.
fn is_significant(cell: &RankerAxiomResult) -> bool {
    cell.p_holm < FAMILY_WISE_ERROR_RATE
}

fn candidates(overview: &StudyOverview) -> Vec<StudyFinding> {
    let mut all = Vec::new();
    for (at, column) in overview.columns.iter().enumerate() {
        let probe = column.probe;
        let cells: Vec<(usize, &RankerAxiomResult)> = overview
            .rows
            .iter()
            .enumerate()
            .filter_map(|(row, it)| Some((row, it.cells[at].as_ref()?)))
            .collect();
        for &(ranker, cell) in &cells {
            let (fraction, n_judged) = (cell.micro_average, cell.tally.n_with_verdict());
            let is_significant = is_significant(cell);
            if is_significant {
                all.push(StudyFinding::ViolatesAxiom {
                    ranker,
                    probe,
                    fraction,
                    n_verdicts: n_judged,
                });
                all.push(StudyFinding::SatisfiesAxiom {
                    ranker,
                    probe,
                    fraction,
                    n_verdicts: n_judged,
                });
            }
            // The intervals of few queries are too narrow to tell two rankers apart by themselves.
            let others = cells
                .iter()
                .filter(|it| is_significant || self::is_significant(it.1));
            all.extend(others.map(|&(less, other)| StudyFinding::RankersDiffer {
                more: ranker,
                less,
                probe,
                fraction_of_more: fraction,
                fraction_of_less: other.micro_average,
            }));
        }
        all.extend(
            column
                .qrels_cell
                .as_ref()
                .filter(|it| is_significant(it))
                .map(|it| StudyFinding::QrelsContradictAxiom {
                    probe,
                    fraction: it.micro_average,
                    n_verdicts: it.tally.n_with_verdict(),
                }),
        );
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::Axiom;
    use crate::report::fixture::study_overview_fixture;

    #[test]
    fn what_is_surprising_comes_first_and_each_axiom_once() {
        // BM25 has .931 [.926, .937] on TFC1 and 1 on LNC2, the other .520 [.38, .61] on TFC1.
        let found = find_notable_results(&study_overview_fixture(), 3);
        let [apart, follows] = found.as_slice() else {
            panic!("{found:?}")
        };
        let StudyFinding::RankersDiffer {
            more: 0,
            less: 1,
            probe: Probe::Axiom(Axiom::Tfc1),
            ..
        } = apart
        else {
            panic!("{apart:?}")
        };
        let StudyFinding::SatisfiesAxiom {
            ranker: 0,
            probe: Probe::Axiom(Axiom::Lnc2),
            ..
        } = follows
        else {
            panic!("{follows:?}")
        };
        assert_eq!(
            find_notable_results(&study_overview_fixture(), 1),
            found[..1]
        );
    }

    #[test]
    fn a_study_opens_on_the_largest_difference_between_a_neural_and_a_lexical_ranker() {
        let mut overview = study_overview_fixture();
        let row = |overview: &StudyOverview| match find_most_instructive_result(overview) {
            Some(StudyFinding::RankersDiffer {
                more, less, probe, ..
            }) => (more, less, probe),
            other => panic!("{other:?}"),
        };
        let tfc1 = Probe::Axiom(Axiom::Tfc1);
        overview.rows[0].ranker.kind = RankerKind::Lexical;
        overview.rows[1].ranker.kind = RankerKind::Neural;
        assert_eq!(row(&overview), (0, 1, tfc1));
        // Between two lexical rankers it is the largest finding of all.
        overview.rows[1].ranker.kind = RankerKind::Lexical;
        assert_eq!(
            find_most_instructive_result(&overview),
            find_notable_results(&overview, 1).first().copied()
        );
        // A third ranker that differs more, but is of the same kind, does not come first.
        overview.rows[1].ranker.kind = RankerKind::Neural;
        let mut extreme = overview.rows[1].clone();
        extreme.ranker.kind = RankerKind::Lexical;
        for cell in extreme.cells.iter_mut().flatten() {
            cell.micro_average.value = 0.0;
            cell.micro_average.interval = [0.0, 0.0];
        }
        overview.rows.push(extreme);
        let found = find_most_instructive_result(&overview).unwrap();
        assert!(!matches!(
            found,
            StudyFinding::RankersDiffer {
                more: 0,
                less: 2,
                ..
            }
        ));
    }

    #[test]
    fn what_may_be_chance_is_no_finding() {
        let mut overview = study_overview_fixture();
        for cell in overview
            .rows
            .iter_mut()
            .flat_map(|it| it.cells.iter_mut().flatten())
        {
            cell.micro_average.interval = [0.4, 0.6];
        }
        overview
            .columns
            .iter_mut()
            .for_each(|it| it.qrels_cell = None);
        assert_eq!(find_notable_results(&overview, 3), []);
    }

    #[test]
    fn a_fraction_that_is_not_significant_is_no_finding() {
        let mut overview = study_overview_fixture();
        let cells = overview.rows.iter_mut().flat_map(|it| it.cells.iter_mut());
        cells.flatten().for_each(|it| it.p_holm = 1.0);
        let columns = overview.columns.iter_mut();
        columns.for_each(|it| it.qrels_cell = None);
        assert_eq!(find_notable_results(&overview, 3), []);
        assert_eq!(find_most_instructive_result(&overview), None);
    }

    #[test]
    fn a_ranker_that_goes_against_an_axiom_is_told_before_one_that_follows() {
        let mut overview = study_overview_fixture();
        overview.rows.remove(0);
        let cell = overview.rows[0].cells[0].as_mut().unwrap();
        cell.micro_average = EstimateWithInterval {
            value: 0.3,
            interval: [0.25, 0.36],
        };
        cell.p_holm = 0.001;
        let found = find_notable_results(&overview, 3);
        assert!(
            matches!(found[0], StudyFinding::ViolatesAxiom { ranker: 0, .. }),
            "{found:?}"
        );
    }
}
