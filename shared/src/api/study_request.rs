//! Requests that are answered from one study alone: by the server, or by the browser for the
//! studies that its worker has loaded.

use super::annotation::GetTrialItemsRequest;
use super::{
    CollectionStatisticsResponse, CompareRankersRequest, Endpoint, GetBehavioralTestsRequest,
    GetCollectionStatisticsRequest, GetComparedQueryRequest, GetFiguresRequest, GetInstanceRequest,
    GetReproductionRequest, GetStudyRequest, ListComparedQueriesRequest, ListInstancesRequest,
};
use crate::annotation::trial::draw_trial_items;
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

/// Defines for each request how it is answered.
macro_rules! study_requests {
    ($($kind:ident => |$request:ident, $study:ident| $reply:expr;)*) => {$(
        impl StudyRequest for $kind {
            fn study(&self) -> &str {
                &self.study
            }

            fn respond(self, $study: &Study) -> Result<Self::Reply, Error> {
                let $request = self;
                $reply
            }
        }
    )*};
}

study_requests! {
    GetStudyRequest => |request, study| study.overview(&request.controls);
    GetFiguresRequest => |request, study| study.compute_figures(&request.options);
    GetBehavioralTestsRequest => |request, study| study.behavioral_tests(&request.options);
    CompareRankersRequest => |request, study| study.compare_rankers(&request.options);
    ListComparedQueriesRequest => |request, study| {
        study.list_compared_queries_page(&request.options, &request.page)
    };
    GetComparedQueryRequest => |request, study| {
        study.compare_rankers_on_query(&request.options, &request.query_id)
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
    GetTrialItemsRequest => |request, study| draw_trial_items(study, request.seed);
}
