//! Compares the fractions of a study with those of an earlier run, cell by cell, to detect a
//! ranker that became worse.

use serde::{Deserialize, Serialize};

use super::overview::StudyOverview;
use crate::error::Error;
use crate::probe::{AxiomVariant, Probe};

/// The expected fractions of a study. It is written once and compared with later runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StudyBaseline {
    /// The version of this layout; 1.
    pub format: u32,
    /// The name of the study.
    pub study: String,
    /// The hash of its instances.
    pub instances_hash: String,
    /// The cells, in the order of the study.
    pub cells: Vec<BaselineSatisfiedFraction>,
}

/// The fraction of one ranker on one axiom.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BaselineSatisfiedFraction {
    /// The ranker, as on the command line.
    pub ranker: String,
    /// The probe of the cell.
    #[serde(rename = "axiom")]
    pub probe: Probe,
    /// The variant of the axiom.
    #[serde(alias = "mode")]
    pub variant: AxiomVariant,
    /// The fraction satisfied, over instances.
    pub fraction: f64,
}

/// One cell with its expected and its actual fraction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BaselineCellComparison {
    /// The expected cell.
    pub expected: BaselineSatisfiedFraction,
    /// The actual fraction; `None` if the ranker is missing or has no verdict.
    pub actual: Option<f64>,
    /// Whether the actual fraction is at least the expected one minus the tolerance.
    pub passes: bool,
}

impl StudyBaseline {
    /// Creates a baseline from the overviews of a study, one for each variant.
    pub fn from_overviews(overviews: &[StudyOverview]) -> Option<StudyBaseline> {
        let first = overviews.first()?;
        let cells = overviews.iter().flat_map(|overview| {
            overview.rows.iter().flat_map(move |row| {
                let cells = row.cells.iter().zip(&overview.columns);
                cells.filter_map(move |(cell, column)| {
                    Some(BaselineSatisfiedFraction {
                        ranker: row.ranker.spec.clone(),
                        probe: column.probe,
                        variant: overview.variant,
                        fraction: cell.as_ref()?.micro_average.value,
                    })
                })
            })
        });
        Some(StudyBaseline {
            format: 1,
            study: first.name.clone(),
            instances_hash: first.instances_hash.clone(),
            cells: cells.collect(),
        })
    }

    /// Compares a later run of the study with this one. Returns an error if the instances differ.
    pub fn compare_with_later_run(
        &self,
        now: &StudyBaseline,
        tolerance: f64,
    ) -> Result<Vec<BaselineCellComparison>, Error> {
        if self.instances_hash != now.instances_hash {
            let reason = format!(
                "the baseline has instance hash {:.12}, the study {:.12}; fractions over \
                 different instances are not comparable; write a new baseline or recreate the \
                 study",
                self.instances_hash, now.instances_hash
            );
            return Err(Error::conflicting_value("baseline", reason));
        }
        let compared = self.cells.iter().map(|expected| {
            let same = |it: &&BaselineSatisfiedFraction| {
                (&it.ranker, it.probe, it.variant)
                    == (&expected.ranker, expected.probe, expected.variant)
            };
            let found = now.cells.iter().find(same).map(|it| it.fraction);
            BaselineCellComparison {
                expected: expected.clone(),
                actual: found,
                passes: found.is_some_and(|it| it >= expected.fraction - tolerance),
            }
        });
        Ok(compared.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::controls::StudyPageControls;
    use crate::study::fixture;

    fn baseline(query: &str) -> StudyBaseline {
        let texts = ["river river bank", "river bank", "the river"];
        let study = fixture::study_with_one_query(query, &texts, 10);
        StudyBaseline::from_overviews(&[study.overview(&StudyPageControls::default()).unwrap()])
            .unwrap()
    }

    #[test]
    fn a_cell_that_falls_or_is_gone_does_not_hold() {
        let before = baseline("river bank");
        assert!(before.cells.len() >= 3);
        let holds = |now: &StudyBaseline, tolerance: f64| -> Vec<bool> {
            let compared = before.compare_with_later_run(now, tolerance).unwrap();
            compared.iter().map(|it| it.passes).collect()
        };
        assert!(holds(&before, 0.0).iter().all(|it| *it));
        let mut worse = before.clone();
        worse.cells[0].fraction -= 0.05;
        let gone = worse.cells.pop();
        assert!(gone.is_some());
        let found = holds(&worse, 0.01);
        assert_eq!(
            (found[0], found[1], found.last()),
            (false, true, Some(&false))
        );
        assert!(holds(&worse, 0.06)[0]);
    }

    #[test]
    fn other_instances_are_refused() {
        let error = baseline("river bank").compare_with_later_run(&baseline("bank"), 0.0);
        assert!(
            error
                .unwrap_err()
                .to_string()
                .contains("different instances")
        );
    }
}
