//! The sampling frame: the instances of a study that a task selects.

use super::DocumentPreference;
use super::task::{
    AnnotationTaskDefinition, DisagreementToOversample, SamplingDesign, StudyInstanceRef,
};
use crate::error::Error;
use crate::probe::{ScoreClaim, StudyDocNo};
use crate::score::RankerQueryDocumentScores;
use crate::study::Study;
use crate::study::controls::InstanceFilter;
use crate::verdict::VerdictWithMargin;

/// An instance that could be drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SamplingFrameInstance {
    /// The instance.
    pub instance: StudyInstanceRef,
    /// The index of its query in the study.
    pub query: u32,
    /// The margin for the ranker that [`SamplingDesign::WeightedByMargin`] names; `None` for other
    /// designs, or unless all documents have a score.
    pub margin: Option<f64>,
    /// Whether the two sides of [`SamplingDesign::DisagreementFirst`] disagree; `None` for other
    /// designs, or unless all documents have a score.
    pub is_disagreement: Option<bool>,
}

/// Returns the instances that a task draws from, by probe in the task's order, then as mined. An
/// instance of two probes is listed twice.
pub fn build_sampling_frame(
    study: &Study,
    task: &AnnotationTaskDefinition,
) -> Result<Vec<SamplingFrameInstance>, Error> {
    let wanted = &task.filter;
    wanted.controls.validate_for_study(study)?;
    let ranker = |at: usize| {
        let scores = study.scores.get(at);
        scores.ok_or_else(|| Error::index_not_found("ranker of this study", at, study.scores.len()))
    };
    let chooser = wanted.ranker.map(ranker).transpose()?;
    let measures = match task.sampling {
        SamplingDesign::Uniform | SamplingDesign::StratifiedByProbe { .. } => {
            CandidateMeasure::Nothing
        }
        SamplingDesign::WeightedByMargin { ranker: at, .. } => {
            CandidateMeasure::Margin(ranker(at)?)
        }
        SamplingDesign::DisagreementFirst { pair: between, .. } => match between {
            DisagreementToOversample::AxiomAndRanker { ranker: at } => {
                CandidateMeasure::WithClaim(ranker(at)?)
            }
            DisagreementToOversample::TwoRankers { first, second } => {
                CandidateMeasure::Both(ranker(first)?, ranker(second)?)
            }
        },
    };
    let judged =
        |scores: &RankerQueryDocumentScores, query: usize, claim: ScoreClaim<StudyDocNo>| {
            let scored = map_claim_to_ranker_scores(study, scores, query, claim)?;
            Some((scored, wanted.controls.tie_threshold_for_ranker(scores)))
        };
    let prefers =
        |scores: &RankerQueryDocumentScores, query: usize, claim: ScoreClaim<StudyDocNo>| {
            let (scored, width) = judged(scores, query, claim)?;
            Some(DocumentPreference::from_scores(scored, width))
        };
    let filter = InstanceFilter::from_study_page_controls(study, &wanted.controls);
    let mode = wanted.controls.variant_shown_in_study(study)?;
    let mut found = Vec::new();
    for &probe in &task.probes {
        let instances = study.instances_of_probe(probe, mode)?;
        let mode = instances.variant;
        for query in 0..instances.n_queries() {
            for (claim, at) in instances
                .claims_of_query(query)
                .zip(instances.first_instance_of_query(query)..)
            {
                let verdict = || {
                    let (scored, width) = judged(chooser?, query, claim)?;
                    Some(scored.verdict(width))
                };
                if !filter.includes_instance(instances, query, claim, chooser)
                    || !keeps(task, verdict())
                {
                    continue;
                }
                let (mut margin, mut disagrees) = (None, None);
                match measures {
                    CandidateMeasure::Nothing => {}
                    CandidateMeasure::Margin(scores) => {
                        let judged = judged(scores, query, claim);
                        margin = judged.map(|(scored, width)| scored.verdict(width).margin);
                    }
                    CandidateMeasure::WithClaim(scores) => {
                        let prefers = prefers(scores, query, claim);
                        disagrees = prefers.map(|it| !it.satisfies(claim.kind()));
                    }
                    CandidateMeasure::Both(first, second) => {
                        let both = prefers(first, query, claim).zip(prefers(second, query, claim));
                        disagrees = both.map(|(first, second)| first != second);
                    }
                }
                found.push(SamplingFrameInstance {
                    instance: StudyInstanceRef {
                        probe,
                        variant: mode,
                        index: at as u64,
                    },
                    query: query as u32,
                    margin,
                    is_disagreement: disagrees,
                });
            }
        }
    }
    Ok(found)
}

/// The property of a candidate that its inclusion probability depends on.
enum CandidateMeasure<'a> {
    Nothing,
    Margin(&'a RankerQueryDocumentScores),
    WithClaim(&'a RankerQueryDocumentScores),
    Both(&'a RankerQueryDocumentScores, &'a RankerQueryDocumentScores),
}

/// Returns the claim with the scores of a ranker; `None` if a score is missing.
pub(super) fn map_claim_to_ranker_scores(
    study: &Study,
    scores: &RankerQueryDocumentScores,
    query: usize,
    claim: ScoreClaim<StudyDocNo>,
) -> Option<ScoreClaim<f64>> {
    claim.replace_docs_with_scores(|text| {
        study
            .pairs
            .position_of_pair(query, text)
            .and_then(|at| scores.score_at_position(at))
    })
}

fn keeps(task: &AnnotationTaskDefinition, verdict: Option<VerdictWithMargin>) -> bool {
    let wanted = &task.filter;
    let margin = verdict.map(|it| it.margin);
    let outcome = wanted
        .outcome
        .is_none_or(|it| verdict.is_some_and(|of| of.outcome == it));
    let from = wanted
        .min_margin
        .is_none_or(|it| margin.is_some_and(|of| of >= it));
    let to = wanted
        .max_margin
        .is_none_or(|it| margin.is_some_and(|of| of <= it));
    outcome && from && to
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;
    use crate::probe::Axiom;
    use crate::probe::Probe;
    use crate::study::instance_list::{InstanceListOptions, InstanceSort};
    use crate::verdict::VerdictOutcome;

    fn listed(
        study: &Study,
        probe: Probe,
        outcome: Option<VerdictOutcome>,
    ) -> Vec<(u64, Option<f64>)> {
        let listing = InstanceListOptions {
            controls: Default::default(),
            probe,
            ranker: "1".to_owned(),
            outcome,
            query_filter: String::new(),
            min_margin: None,
            review_status: None,
            max_margin: None,
            sort: InstanceSort::Query,
            offset: 0,
            limit: InstanceListOptions::MAX_PAGE_SIZE,
        };
        let page = study.list_instances(&listing).unwrap();
        page.rows.iter().map(|it| (it.number, it.margin)).collect()
    }

    #[test]
    fn the_frame_is_what_the_instances_page_lists() {
        let study = fixture::fixture_study_with_tfc1();
        let mut task = fixture::tfc1_annotation_task();
        task.probes = vec![Probe::Axiom(Axiom::Tfc1), Probe::Axiom(Axiom::Lnc1)];
        task.sampling = SamplingDesign::WeightedByMargin {
            ranker: 1,
            weighting: super::super::task::OversampledMarginSize::SmallMargins,
        };
        task.filter.ranker = Some(1);
        for outcome in [
            None,
            Some(VerdictOutcome::Satisfied),
            Some(VerdictOutcome::Violated),
        ] {
            task.filter.outcome = outcome;
            let found = build_sampling_frame(&study, &task).unwrap();
            let found = found.iter().map(|it| (it.instance.index, it.margin));
            let expected = task
                .probes
                .iter()
                .flat_map(|&it| listed(&study, it, outcome));
            assert_eq!(found.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
        }
        task.filter.outcome = None;
        assert!(build_sampling_frame(&study, &task).unwrap().len() > 2);
    }

    #[test]
    fn who_disagrees_is_known() {
        let study = fixture::fixture_study_with_tfc1();
        let mut task = fixture::tfc1_annotation_task();
        let between = DisagreementToOversample::AxiomAndRanker { ranker: 1 };
        task.sampling = SamplingDesign::DisagreementFirst {
            pair: between,
            disagreement_share: 0.5,
        };
        let found = build_sampling_frame(&study, &task).unwrap();
        let against = found.iter().filter(|it| it.is_disagreement == Some(true));
        let satisfied = listed(
            &study,
            Probe::Axiom(Axiom::Tfc1),
            Some(VerdictOutcome::Satisfied),
        );
        assert_eq!(against.count(), found.len() - satisfied.len());
        let between = DisagreementToOversample::TwoRankers {
            first: 0,
            second: 0,
        };
        task.sampling = SamplingDesign::DisagreementFirst {
            pair: between,
            disagreement_share: 0.5,
        };
        let found = build_sampling_frame(&study, &task).unwrap();
        assert!(found.iter().all(|it| it.is_disagreement == Some(false)));
        task.filter.ranker = Some(7);
        assert!(build_sampling_frame(&study, &task).is_err());
    }
}
