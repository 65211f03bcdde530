//! What there is below `/api`, with who may ask for it: one list for routes and documentation.

use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::handler::Handler;
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get, post};
use shared::api::operator::{LoadModel, Models};
use shared::api::people::{
    Invitation, Invite, Join, Me, People, Revoke, SetPassword, SignIn, SignInAsOperator, SignOut,
};
use shared::api::rerank::{Rerank, RerankDocuments};
use shared::api::review::{
    Again, AskAgreement, AskProgress, Change, Disputes, Download, History, Make, Mine, NextItems,
    OneTask, Preview, Results, Send, Tasks, Try, WholeTask,
};
use shared::api::study_request::StudyRequest;
use shared::api::{
    About, Attend, Behave, Cancel, CreateJob, Differ, DifferQueries, DifferQuery, Draw, Endpoint,
    Export, Fetch, Inside, InsideQuery, Jobs, List, Look, Method, Replay, Resume, Score, Show,
    Statistics, Studies, Watch,
};
use utoipa::ToSchema;

use crate::error::Error;
use crate::http::access::{self, Access};
use crate::http::limits;
use crate::http::openapi::Operation;
use crate::http::review::{self, curate};
use crate::http::{App, about, jobs, operator, people, rerank, score, studies};

/// A request is answered in this time after its body has been read, or not at all.
const TIME: Duration = Duration::from_secs(60);

/// Planning a job of the largest size takes longer.
const TIME_OF_A_JOB: Duration = Duration::from_secs(600);

/// Body of a request, in bytes, unless it is said otherwise.
const MAX_BODY: usize = 16 << 20;

/// Body of a new job, in bytes.
const MAX_JOB: usize = 256 << 20;

/// Body of a request of a review, in bytes: as many events with notes as are sent at once.
const MAX_REVIEW: usize = 1 << 20;

/// Body of what is said of people, in bytes: a few lines.
const WRITTEN: usize = 64 << 10;

/// Every endpoint.
pub(super) struct Endpoints(Vec<Listed>);

struct Listed {
    operation: Operation,
    route: MethodRouter<App>,
    max_body: usize,
    time: Duration,
}

impl Endpoints {
    /// In the order of the pages that ask for them.
    pub(super) fn all() -> Endpoints {
        Endpoints(vec![
            on::<About, _, _>(Access::Everybody, about::about),
            on::<Me, _, _>(Access::Everybody, people::me),
            on::<Invitation, _, _>(Access::Secrets, people::invitation).with_body(WRITTEN),
            on::<Join, _, _>(Access::Secrets, people::join).with_body(WRITTEN),
            on::<SignIn, _, _>(Access::Secrets, people::sign_in).with_body(WRITTEN),
            on::<SignInAsOperator, _, _>(Access::Secrets, people::sign_in_as_operator)
                .with_body(WRITTEN),
            on::<SignOut, _, _>(Access::Annotator, people::sign_out).with_body(WRITTEN),
            on::<SetPassword, _, _>(Access::Annotator, people::set_password).with_body(WRITTEN),
            on::<People, _, _>(Access::Curator, people::list),
            on::<Invite, _, _>(Access::Curator, people::invite).with_body(WRITTEN),
            on::<Revoke, _, _>(Access::Curator, people::revoke).with_body(WRITTEN),
            on::<Studies, _, _>(Access::Everybody, studies::list),
            on::<Look, _, _>(Access::Everybody, studies::look),
            of_study::<Draw>(),
            of_study::<Behave>(),
            on::<Inside, _, _>(Access::Everybody, studies::inside),
            of_study::<InsideQuery>(),
            of_study::<Differ>(),
            of_study::<DifferQueries>(),
            of_study::<DifferQuery>(),
            of_study::<Replay>(),
            on::<List, _, _>(Access::Everybody, studies::instances),
            of_study::<Show>(),
            on::<Export, _, _>(Access::Everybody, studies::export),
            of_study::<Statistics>(),
            on::<Score, _, _>(Access::Scorers, score::score),
            on::<Attend, _, _>(Access::Scorers, score::attention),
            on::<Rerank, _, _>(Access::Scorers, rerank::rerank).within(TIME_OF_A_JOB),
            on::<RerankDocuments, _, _>(Access::Scorers, rerank::documents).within(TIME_OF_A_JOB),
            second_version().within(TIME_OF_A_JOB),
            on::<CreateJob, _, _>(Access::Operator, jobs::create)
                .with_body(MAX_JOB)
                .within(TIME_OF_A_JOB),
            on::<Jobs, _, _>(Access::Operator, jobs::list),
            on::<Watch, _, _>(Access::Everybody, jobs::job),
            events(),
            on::<Cancel, _, _>(Access::Operator, jobs::cancel),
            on::<Resume, _, _>(Access::Operator, jobs::resume),
            on::<Fetch, _, _>(Access::Operator, jobs::scores),
            on::<Results, _, _>(Access::Everybody, review::results).within(TIME_OF_A_JOB),
            of_study::<Try>(),
            on::<Tasks, _, _>(Access::Everybody, review::tasks),
            on::<OneTask, _, _>(Access::Annotator, review::task),
            on::<NextItems, _, _>(Access::Annotator, review::next).with_body(MAX_REVIEW),
            on::<Again, _, _>(Access::Annotator, review::again),
            on::<Mine, _, _>(Access::Annotator, review::mine),
            on::<Send, _, _>(Access::Annotator, review::send).with_body(MAX_REVIEW),
            on::<Preview, _, _>(Access::Curator, curate::preview).with_body(MAX_REVIEW),
            on::<Make, _, _>(Access::Curator, curate::make).with_body(MAX_REVIEW),
            on::<WholeTask, _, _>(Access::Curator, curate::task),
            on::<Change, _, _>(Access::Curator, curate::change).with_body(MAX_REVIEW),
            on::<AskProgress, _, _>(Access::Curator, curate::progress),
            on::<AskAgreement, _, _>(Access::Curator, curate::agreement).within(TIME_OF_A_JOB),
            on::<Disputes, _, _>(Access::Curator, curate::disputes),
            on::<History, _, _>(Access::Curator, curate::history),
            download(),
            on::<Models, _, _>(Access::Operator, operator::models),
            on::<LoadModel, _, _>(Access::Operator, operator::load).within(TIME_OF_A_JOB),
        ])
    }

    pub(super) fn into_router(self, app: &App) -> Router<App> {
        self.0.into_iter().fold(Router::new(), |router, it| {
            let access = (app.clone(), it.operation.access);
            let body = (app.clone(), it.max_body);
            let route = it
                .route
                .route_layer(middleware::from_fn_with_state(it.time, in_time))
                .route_layer(middleware::from_fn_with_state(body, limits::shed))
                .route_layer(middleware::from_fn_with_state(access, access::check));
            router.route(it.operation.path, route)
        })
    }

    /// What the documentation says of them.
    pub(super) fn operations(&self) -> impl Iterator<Item = &Operation> {
        self.0.iter().map(|it| &it.operation)
    }
}

impl Listed {
    fn new(operation: Operation, route: MethodRouter<App>) -> Listed {
        Listed {
            operation,
            route,
            max_body: MAX_BODY,
            time: TIME,
        }
    }

    fn with_body(self, max_body: usize) -> Listed {
        Listed { max_body, ..self }
    }

    fn within(self, time: Duration) -> Listed {
        Listed { time, ..self }
    }
}

fn on<E, H, T>(access: Access, handler: H) -> Listed
where
    E: Endpoint + ToSchema,
    E::Reply: ToSchema,
    H: Handler<T, App>,
    T: 'static,
{
    let route = match E::METHOD {
        Method::Get => get(handler),
        Method::Post => post(handler),
    };
    Listed::new(Operation::of::<E>(access), route)
}

/// A request that is answered from one study alone.
fn of_study<R: StudyRequest<Reply: ToSchema> + ToSchema>() -> Listed {
    on::<R, _, _>(Access::Everybody, studies::respond::<R>)
}

/// The same as [`RerankDocuments`], where Cohere's later clients ask.
fn second_version() -> Listed {
    let operation = Operation {
        path: RerankDocuments::SECOND,
        ..Operation::of::<RerankDocuments>(Access::Scorers)
    };
    Listed::new(operation, post(rerank::documents_again))
}

/// The same request as [`Watch`], but answered again and again.
fn events() -> Listed {
    let operation = Operation {
        path: Watch::EVENTS,
        reply: "text/event-stream",
        ..Operation::of::<Watch>(Access::Everybody)
    };
    Listed::new(operation, get(jobs::events))
}

/// The reply is the file itself.
fn download() -> Listed {
    let operation = Operation {
        reply: "text/plain",
        ..Operation::of::<Download>(Access::Curator)
    };
    Listed::new(operation, get(curate::download))
}

async fn in_time(State(time): State<Duration>, request: Request, next: Next) -> Response {
    tokio::time::timeout(time, next.run(request))
        .await
        .unwrap_or_else(|_| {
            Error::Busy {
                what: "too much at once",
                retry_after_s: 30,
            }
            .into_response()
        })
}
