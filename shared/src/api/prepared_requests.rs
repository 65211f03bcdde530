//! The requests of the pages of a study whose replies are prepared for a host of files, since they
//! would need the whole study.

use super::annotation::GetTrialItemsRequest;
use super::study_request::{StudyRequest, respond_to_study_request};
use super::{
    CompareRankersRequest, Endpoint, GetBehavioralTestsRequest, GetCollectionStatisticsRequest,
    GetFiguresRequest, GetReproductionRequest, GetStudyRequest, GetVerdictCountsRequest,
    ListComparedQueriesRequest, ListInstancesRequest,
};
use crate::annotation::trial::N_TRIAL_SEEDS;
use crate::compare::query_list::ComparedQueryListOptions;
use crate::compare::{RankerComparisonOptions, RankerRef};
use crate::reproduce::{PaperTable, ReproduciblePaper};
use crate::study::Study;
use crate::study::behavioral_tests::BehavioralTestOptions;
use crate::study::controls::{InstanceSubset, StudyPageControls};
use crate::study::figures::StudyFigureOptions;
use crate::study::instance_list::{InstanceListOptions, InstanceSort};
use crate::verdict::VerdictOutcome;

/// A request as a page sends it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreparedRequest {
    /// The path template of its endpoint.
    pub path: &'static str,
    /// The request as JSON.
    pub json: String,
}

impl PreparedRequest {
    fn new<R: StudyRequest>(request: &R) -> PreparedRequest {
        PreparedRequest {
            path: R::PATH,
            json: serde_json::to_string(request).expect("a request has only string keys"),
        }
    }

    /// Returns the reply as JSON. Returns `None` if the study has none, for example since it has
    /// too few rankers.
    pub fn reply(&self, study: &Study) -> Option<String> {
        if self.path != GetStudyRequest::PATH {
            return respond_to_study_request(self.path, &self.json, study)?.ok();
        }
        let request: GetStudyRequest = serde_json::from_str(&self.json).ok()?;
        let mut overview = request.respond(study).ok()?;
        overview.has_fixed_thresholds = true;
        serde_json::to_string(&overview).ok()
    }
}

/// What follows the name of a study in the name of the file with its late-interaction analyses.
pub const LATE_INTERACTION_FILE: &str = "late-interaction.json";

/// What follows the name of a study in the name of the file with its public human judgments.
pub const HUMAN_JUDGMENTS_FILE: &str = "human-judgments.json";

/// The number of violations on the panel of a cell.
pub const N_EXAMPLES_OF_CELL: u64 = 3;

/// Returns the requests about the study as a whole: the Study page with all its controls except
/// lengths and tie thresholds, and the other pages with their default settings.
pub fn prepared_study_requests(study: &Study) -> Vec<PreparedRequest> {
    let name = || study.definition.name.clone();
    let mut splits: Vec<Option<String>> = study.queries.iter().map(|it| it.split.clone()).collect();
    splits.push(None);
    splits.sort_unstable();
    splits.dedup();
    let variants = study.definition.variants.iter().copied().map(Some);
    let mut requests = Vec::new();
    for variant in std::iter::once(None).chain(variants) {
        for subset in [
            InstanceSubset::All,
            InstanceSubset::Untruncated,
            InstanceSubset::WithRelevant,
        ] {
            for split in &splits {
                requests.push(PreparedRequest::new(&GetStudyRequest {
                    study: name(),
                    controls: StudyPageControls {
                        variant,
                        subset,
                        split: split.clone(),
                        ..StudyPageControls::default()
                    },
                }));
            }
        }
    }
    for &variant in &study.definition.variants {
        requests.push(PreparedRequest::new(&GetVerdictCountsRequest {
            study: name(),
            variant: Some(variant),
        }));
    }
    for split in splits {
        requests.push(PreparedRequest::new(&GetBehavioralTestsRequest {
            study: name(),
            options: BehavioralTestOptions {
                split,
                ..BehavioralTestOptions::default()
            },
        }));
    }
    requests.push(PreparedRequest::new(&GetFiguresRequest {
        study: name(),
        options: StudyFigureOptions::default(),
    }));
    requests.push(PreparedRequest::new(&GetCollectionStatisticsRequest {
        study: name(),
    }));
    for &paper in ReproduciblePaper::ALL {
        let tables = paper.reproducible_table_numbers().iter();
        requests.extend(tables.map(|&table| {
            PreparedRequest::new(&GetReproductionRequest {
                study: name(),
                table: PaperTable { paper, table },
            })
        }));
    }
    requests.extend((0..N_TRIAL_SEEDS).map(|seed| {
        PreparedRequest::new(&GetTrialItemsRequest {
            study: name(),
            seed,
        })
    }));
    let slugs = study.ranker_slugs();
    let pairs = slugs
        .iter()
        .enumerate()
        .flat_map(|(at, first)| slugs[at + 1..].iter().map(move |second| [first, second]));
    let pairs = pairs.map(|pair| pair.map(|it| RankerRef::Ranker(it.clone())));
    let usual = RankerComparisonOptions::default();
    for rankers in std::iter::once(usual.rankers.clone()).chain(pairs) {
        let options = RankerComparisonOptions {
            rankers,
            ..usual.clone()
        };
        requests.push(PreparedRequest::new(&CompareRankersRequest {
            study: name(),
            options: options.clone(),
        }));
        requests.push(PreparedRequest::new(&ListComparedQueriesRequest {
            study: name(),
            options,
            page: ComparedQueryListOptions {
                limit: ComparedQueryListOptions::ROWS_AT_ONCE,
                ..ComparedQueryListOptions::default()
            },
        }));
    }
    requests
}

/// Returns the requests for the first rows of each list of instances, in the default order.
pub fn prepared_list_requests(study: &Study) -> Vec<ListInstancesRequest> {
    let outcomes = VerdictOutcome::ALL.iter().copied().map(Some);
    let outcomes: Vec<_> = std::iter::once(None).chain(outcomes).collect();
    let mut requests = Vec::new();
    for instances in &study.instances {
        let variant = instances.variant;
        let is_first = variant == study.definition.variants[0] || !instances.probe.is_axiom();
        for ranker in study.ranker_slugs() {
            for &outcome in &outcomes {
                let limits: &[u64] = match outcome {
                    Some(VerdictOutcome::Violated) => {
                        &[InstanceListOptions::ROWS_AT_ONCE, N_EXAMPLES_OF_CELL]
                    }
                    _ => &[InstanceListOptions::ROWS_AT_ONCE],
                };
                for &limit in limits {
                    requests.push(ListInstancesRequest {
                        study: study.definition.name.clone(),
                        filter: InstanceListOptions {
                            controls: StudyPageControls {
                                variant: (!is_first).then_some(variant),
                                ..StudyPageControls::default()
                            },
                            probe: instances.probe,
                            ranker: ranker.clone(),
                            outcome,
                            query_filter: String::new(),
                            min_margin: None,
                            max_margin: None,
                            review_status: None,
                            sort: InstanceSort::default(),
                            offset: 0,
                            limit,
                        },
                    });
                }
            }
        }
    }
    requests
}
