//! Requests that are answered from one study alone: by the server, and by the browser for the
//! studies that its worker holds.

use super::annotation::GetTrialItemsRequest;
use super::{
    CollectionStatisticsResponse, CompareRankersRequest, Endpoint, GetBehavioralTestsRequest,
    GetCollectionStatisticsRequest, GetComparedQueryRequest, GetFiguresRequest, GetInstanceRequest,
    GetReproductionRequest, GetStudyRequest, GetTopDocumentsRequest, ListComparedQueriesRequest,
    ListInstancesRequest,
};
use crate::annotation::trial::draw_trial_items;
use crate::error::Error;
use crate::reproduce::reproduce_table;
use crate::study::Study;

/// A request that is answered from one study alone.
pub trait StudyRequest: Endpoint<Reply: Send> + Send + 'static {
    /// Returns the name of the study.
    fn study(&self) -> &str;

    /// Returns the reply, given the study.
    fn respond(self, study: &Study) -> Result<Self::Reply, Error>;
}

/// Says of each request how it is answered.
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
    GetStudyRequest => |request, study| study.overview(&request.dials);
    GetFiguresRequest => |request, study| study.figures(&request.choice);
    GetBehavioralTestsRequest => |request, study| study.behaviours(&request.asking);
    GetTopDocumentsRequest => |request, study| study.firsts(request.query, &request.ranker);
    CompareRankersRequest => |request, study| study.differ(&request.asking);
    ListComparedQueriesRequest => |request, study| study.differ_queries(&request.asking, &request.listing);
    GetComparedQueryRequest => |request, study| study.differ_query(&request.asking, &request.query);
    GetReproductionRequest => |request, study| replay(request.asked, Some(study));
    ListInstancesRequest => |request, study| study.list(&request.listing);
    GetInstanceRequest => |request, study| {
        study.show(request.probe, request.mode, request.number, request.delta_score)
    };
    GetCollectionStatisticsRequest => |_request, study| Ok(CollectionStatisticsResponse {
        analyzer: study.definition.analyzer.clone(),
        totals: study.totals,
        terms: study.terms.clone(),
        vectors: study.words.clone(),
    });
    GetTrialItemsRequest => |request, study| trial(study, request.seed);
}
