//! Requests that are answered from one study alone: by the server, and by the browser for the
//! studies that its worker holds.

use super::review::Try;
use super::{
    Behave, CollectionStats, Differ, DifferQueries, DifferQuery, Draw, Endpoint, InsideQuery, List,
    Look, Replay, Show, Statistics,
};
use crate::error::Error;
use crate::replay::replay;
use crate::review::trial::trial;
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
    Look => |request, study| study.overview(&request.dials);
    Draw => |request, study| study.figures(&request.choice);
    Behave => |request, study| study.behaviours(&request.asking);
    InsideQuery => |request, study| study.firsts(request.query, &request.ranker);
    Differ => |request, study| study.differ(&request.asking);
    DifferQueries => |request, study| study.differ_queries(&request.asking, &request.listing);
    DifferQuery => |request, study| study.differ_query(&request.asking, &request.query);
    Replay => |request, study| replay(request.asked, Some(study));
    List => |request, study| study.list(&request.listing);
    Show => |request, study| {
        study.show(request.probe, request.mode, request.number, request.delta_score)
    };
    Statistics => |_request, study| Ok(CollectionStats {
        analyzer: study.definition.analyzer.clone(),
        totals: study.totals,
        terms: study.terms.clone(),
        words: study.words.clone(),
    });
    Try => |request, study| trial(study, request.seed);
}
