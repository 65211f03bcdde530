//! The score stability check of a study: how far scores move under other conditions, and how many
//! verdicts change.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Study;
use super::controls::InstanceFilter;
use crate::probe::{ProbeInstances, ScoreClaim, StudyDocNo};
use crate::score::RankerQueryDocumentScores;
use crate::score::rescoring::{RescoredPairs, RescoringCondition, ScoringEnvironment};

/// The score stability check of a ranker over the shown instances: how far scores move and how
/// many verdicts change under other conditions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ScoreStabilitySummary {
    /// The device and the precision with which the run was computed.
    #[serde(flatten)]
    pub computation: ScoringEnvironment,
    /// One entry for each condition.
    pub checks: Vec<ConditionScoreStability>,
}

/// The score stability under one condition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ConditionScoreStability {
    /// The condition.
    pub condition: RescoringCondition,
    /// The number of pairs that were scored again.
    pub n_pairs: u64,
    /// `max |s' - s|`, in the unit of the ranker.
    pub max_difference: f64,
    /// The difference of the greatest and the least score of the same pairs, as the scale of
    /// `max_difference`.
    pub score_range: f64,
    /// Instances of the shown variant and controls all of whose documents were scored again.
    pub n_verdicts: u64,
    /// The number of these whose verdict (satisfied, tied or violated) changes.
    pub n_changed: u64,
}

impl Study {
    /// Returns the summary of a ranker's score stability check over the instances that are shown.
    pub(super) fn summarize_score_stability(
        &self,
        scores: &RankerQueryDocumentScores,
        shown: &[&ProbeInstances],
        filter: &InstanceFilter<'_>,
        tie_width: f64,
    ) -> Option<ScoreStabilitySummary> {
        let certificate = scores.rescoring.as_ref()?;
        let checked = |it: &RescoredPairs| {
            let place = |query: usize, text: StudyDocNo| self.pairs.position_of_pair(query, text);
            let known = |query, text| scores.score_at_position(place(query, text)?);
            let again = |query, text| {
                let place = place(query, text)? as u32;
                Some(it.scores[it.pairs.binary_search(&place).ok()?])
            };
            let (mut n_verdicts, mut n_changed) = (0, 0);
            let mut judge = |query: usize, claim: ScoreClaim<StudyDocNo>| {
                let before = claim
                    .replace_docs_with_scores(|it| known(query, it))?
                    .verdict(tie_width);
                let after = claim
                    .replace_docs_with_scores(|it| again(query, it))?
                    .verdict(tie_width);
                n_verdicts += 1;
                n_changed += u64::from(before.outcome != after.outcome);
                Some(())
            };
            let queries = (0..self.pairs.n_queries()).filter(|&query| {
                let of = self.pairs.pair_range_of_query(query);
                let from = it.pairs.partition_point(|&it| (it as usize) < of.start);
                let some = it.pairs.get(from).is_some_and(|&it| (it as usize) < of.end);
                some && filter.includes_query(query)
            });
            for query in queries {
                for instances in shown {
                    for claim in instances.claims_of_query(query) {
                        if filter.includes_instance(instances, query, claim, Some(scores)) {
                            judge(query, claim);
                        }
                    }
                }
            }
            let pairs = it.pairs.iter().zip(&it.scores);
            let both: Vec<(f64, f64)> = pairs
                .filter_map(|(&place, &again)| {
                    Some((scores.score_at_position(place as usize)?, again))
                })
                .collect();
            let greatest =
                |it: &dyn Fn(&(f64, f64)) -> f64| both.iter().map(it).fold(0.0, f64::max);
            let least = both.iter().map(|it| it.0).fold(f64::INFINITY, f64::min);
            let most = both.iter().map(|it| it.0).fold(f64::NEG_INFINITY, f64::max);
            ConditionScoreStability {
                condition: it.condition,
                n_pairs: both.len() as u64,
                max_difference: greatest(&|it| (it.0 - it.1).abs()),
                score_range: (most - least).max(0.0),
                n_verdicts,
                n_changed,
            }
        };
        Some(ScoreStabilitySummary {
            computation: certificate.environment.clone(),
            checks: certificate.rescored.iter().map(checked).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::score::rescoring::{
        RescoredPairs, RescoringCondition, ScoreStabilityRecord, ScoringEnvironment,
    };
    use crate::study::controls::StudyPageControls;
    use crate::study::fixture;

    #[test]
    fn a_verdict_that_changes_is_counted_and_one_that_does_not_is_not() {
        let texts = ["river bank river", "river bank", "river sea", "a bank"];
        let mut study = fixture::study_with_one_query("river bank", &texts, 9);
        let n_pairs = study.pairs.len();
        let values: Vec<f64> = study.scores[0]
            .scores_in_pair_order()
            .iter()
            .map(|it| it.unwrap())
            .collect();
        let lowered: Vec<f64> = values.iter().map(|it| -it).collect();
        let again = |condition, values: &[f64]| RescoredPairs {
            condition,
            pairs: (0..n_pairs as u32).collect(),
            scores: values.to_vec(),
        };
        study.scores[0].rescoring = Some(ScoreStabilityRecord {
            environment: ScoringEnvironment::with_unknown_activation("cpu", "f32"),
            rescored: vec![
                again(RescoringCondition::Unbatched, &values),
                again(RescoringCondition::F16, &lowered),
            ],
        });
        let overview = study.overview(&StudyPageControls::default()).unwrap();
        let row = &overview.rows[0];
        let cells: Vec<_> = row.cells.iter().flatten().collect();
        let n_judged: u64 = cells.iter().map(|it| it.tally.n_with_verdict()).sum();
        // With negated scores every strict order is reversed; ties stay.
        let n_strict: u64 = cells
            .iter()
            .map(|it| it.tally.satisfied + it.tally.violated)
            .sum();
        let [same, turned] = &row.stability.as_ref().unwrap().checks[..] else {
            panic!("two conditions");
        };
        assert!(n_strict > 0);
        assert_eq!((same.n_verdicts, same.n_changed), (n_judged, 0));
        assert_eq!(same.max_difference, 0.0);
        assert_eq!((turned.n_verdicts, turned.n_changed), (n_judged, n_strict));
        let most = values.iter().copied().fold(0.0, f64::max);
        assert_eq!(turned.max_difference, 2.0 * most);
        assert!(overview.rows[1].stability.is_none());
    }
}
