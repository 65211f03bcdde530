//! Requests that are answered from one study alone: by the server, or by the browser for the
//! studies that its worker has loaded.

use super::annotation::GetTrialItemsRequest;
use super::{
    CollectionStatisticsResponse, CompareRankersRequest, Endpoint, GetBehavioralTestsRequest,
    GetCollectionStatisticsRequest, GetComparedQueryRequest, GetFiguresRequest, GetInstanceRequest,
    GetReproductionRequest, GetStudyRequest, GetVerdictCountsRequest, ListComparedQueriesRequest,
    ListInstancesRequest,
};
use crate::annotation::trial::draw_trial_items;
use crate::compare::compared_query::compare_rankers_on_query;
use crate::compare::query_list::list_compared_queries_page;
use crate::error::Error;
use crate::reproduce::reproduce_table_from_study;
use crate::study::Study;

/// A request that is answered from one study alone.
pub trait StudyRequest: Endpoint<Reply: Send> + Send + 'static {
    /// Returns the name of the study.
    fn study(&self) -> &str;

    /// Returns the reply, given the study.
    fn respond(self, study: &Study) -> Result<Self::Reply, Error>;
}

/// Why a request as JSON has no response.
#[derive(Debug)]
pub enum StudyRequestError {
    /// The JSON is not a request to this endpoint.
    Malformed(serde_json::Error),
    /// The study has no response to the request.
    Failed(Error),
}

/// Defines for each request how it is answered.
macro_rules! study_requests {
    ($($kind:ident => |$request:ident, $study:ident| $reply:expr;)*) => {
        $(
            impl StudyRequest for $kind {
                fn study(&self) -> &str {
                    &self.study
                }

                fn respond(self, $study: &Study) -> Result<Self::Reply, Error> {
                    let $request = self;
                    $reply
                }
            }
        )*

        /// Returns the response to a request, both as JSON, given the path template of its
        /// endpoint; `None` if no [`StudyRequest`] has this path.
        pub fn respond_to_study_request(
            path: &str,
            request: &str,
            study: &Study,
        ) -> Option<Result<String, StudyRequestError>> {
            match path {
                $($kind::PATH => Some(respond_with_json::<$kind>(request, study)),)*
                _ => None,
            }
        }
    };
}

fn respond_with_json<R: StudyRequest>(
    request: &str,
    study: &Study,
) -> Result<String, StudyRequestError> {
    let request: R = serde_json::from_str(request).map_err(StudyRequestError::Malformed)?;
    let reply = request.respond(study).map_err(StudyRequestError::Failed)?;
    Ok(serde_json::to_string(&reply).expect("the reply has only string keys"))
}

study_requests! {
    GetStudyRequest => |request, study| study.overview(&request.controls);
    GetFiguresRequest => |request, study| study.compute_figures(&request.options);
    GetBehavioralTestsRequest => |request, study| study.behavioral_tests(&request.options);
    CompareRankersRequest => |request, study| study.compare_rankers(&request.options);
    ListComparedQueriesRequest => |request, study| {
        let input = study.ranker_comparison_input(&request.options)?;
        list_compared_queries_page(&input, &request.options, &request.page)
    };
    GetComparedQueryRequest => |request, study| {
        let input = study.ranker_comparison_input(&request.options)?;
        compare_rankers_on_query(&input, &request.options, &request.query_id)
    };
    GetReproductionRequest => |request, study| {
        reproduce_table_from_study(request.table, Some(study))
    };
    ListInstancesRequest => |request, study| study.list_instances(&request.filter);
    GetInstanceRequest => |request, study| {
        let GetInstanceRequest { probe, variant, number, tie_threshold, .. } = request;
        let variant = variant.unwrap_or(study.definition.variants[0]);
        study.instance_details(probe, variant, number, tie_threshold)
    };
    GetCollectionStatisticsRequest => |_request, study| Ok(CollectionStatisticsResponse {
        analyzer: study.definition.analyzer.clone(),
        totals: study.totals,
        terms: study.terms.clone(),
        vectors: study.word_vectors.clone(),
    });
    GetVerdictCountsRequest => |request, study| study.verdict_counts(request.variant);
    GetTrialItemsRequest => |request, study| draw_trial_items(study, request.seed);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::fixture;

    #[test]
    fn a_request_as_json_has_the_response_of_its_type() {
        let study = fixture::study_with_one_query("river", &["river", "the sea"], 10);
        let request = GetInstanceRequest {
            study: "local".to_owned(),
            probe: "tfc1".parse().unwrap(),
            variant: None,
            number: 1_000,
            tie_threshold: None,
        };
        let respond = |path: &str, request: &str| respond_to_study_request(path, request, &study);
        let json = serde_json::to_string(&request).unwrap();
        match (
            respond(GetInstanceRequest::PATH, &json),
            request.respond(&study),
        ) {
            (Some(Err(StudyRequestError::Failed(found))), Err(error)) => assert_eq!(found, error),
            (found, _) => panic!("{found:?}"),
        }
        let request = GetCollectionStatisticsRequest {
            study: "local".to_owned(),
        };
        let json = serde_json::to_string(&request).unwrap();
        let found = respond(GetCollectionStatisticsRequest::PATH, &json).unwrap();
        let expected = request.respond(&study).unwrap();
        assert_eq!(found.unwrap(), serde_json::to_string(&expected).unwrap());

        let unread = respond(GetCollectionStatisticsRequest::PATH, "{}");
        assert!(matches!(unread, Some(Err(StudyRequestError::Malformed(_)))));
        assert!(respond("/api/jobs", "{}").is_none());
    }
}
