//! All endpoints below `/api` with their access levels. Routes and documentation are derived from
//! this list.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::handler::Handler;
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, delete, get, patch, post, put};
use axum::{Extension, Router};
use shared::api::annotation::{
    CreateTaskRequest, ExportTaskRequest, GetAgreementRequest, GetAssignedItemRequest,
    GetItemHistoryRequest, GetTaskDefinitionRequest, GetTaskProgressRequest, GetTaskRequest,
    GetTaskTrialItemsRequest, GetTrialItemsRequest, LeaseItemsRequest, ListDisputesRequest,
    ListInstanceAnnotationsRequest, ListOwnEventsRequest, ListStudyHumanJudgmentsRequest,
    ListTasksRequest, PreviewTaskRequest, SubmitEventsRequest, UpdateTaskRequest,
};
use shared::api::cluster::{CancelClusterJobRequest, ListClusterJobsRequest};
use shared::api::manage_studies::{UpdateStudyRequest, UploadStudyRequest};
use shared::api::models::{
    GetModelInfoRequest, ListModelsRequest, ListServedModelsRequest, LoadModelRequest,
};
use shared::api::own_data::{DeleteOwnAccountRequest, GetOwnDataRequest};
use shared::api::people::{
    AcceptInvitationRequest, CreateInvitationRequest, GetSessionRequest, ListPeopleRequest,
    LookUpInvitationRequest, OperatorSignInRequest, RevokePersonOrInvitationRequest,
    SetPasswordRequest, SignInRequest, SignOutRequest,
};
use shared::api::rerank::{CohereRerankRequest, RerankRequest};
use shared::api::study_request::StudyRequest;
use shared::api::training::{
    CancelTrainingRequest, CreateTrainingRequest, GetTrainingRequest, ListTrainingsRequest,
    ResumeTrainingRequest, UpdateTrainingRequest,
};
use shared::api::{
    CancelScoringJobRequest, CompareRankersRequest, CreateScoringJobRequest, Endpoint,
    ExportStudyRequest, GetAttentionRequest, GetBehavioralTestsRequest,
    GetCollectionStatisticsRequest, GetComparedQueryRequest, GetFiguresRequest, GetInstanceRequest,
    GetJobScoresRequest, GetLateInteractionTopDocumentsRequest, GetReadingEndsRequest,
    GetReproductionRequest, GetScoringJobRequest, GetServerInfoRequest, GetStudyRequest,
    GetVerdictCountsRequest, ListComparedQueriesRequest, ListInstancesRequest,
    ListLateInteractionAnalysesRequest, ListScoringJobsRequest, ListStudiesRequest, RequestMethod,
    ResumeScoringJobRequest, ScoreDocumentsRequest,
};
use utoipa::ToSchema;

use crate::error::Error;
use crate::http::access::{self, AccessLevel, OperatorEndpoints};
use crate::http::annotation::{self, curation};
use crate::http::limits;
use crate::http::openapi::{ExampleRequest, Operation};
use crate::http::parameters::ParameterTable;
use crate::http::studies::manage;
use crate::http::{
    AppState, cluster_jobs, error, jobs, operator, people, rerank, score, served_models,
    server_info, studies, trainings,
};

/// Maximum time to handle a request after its body has been read.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(60);

/// Maximum time to create a job or to store a study; the largest ones take minutes.
const JOB_REQUEST_TIMEOUT: Duration = Duration::from_secs(600);

/// Maximum body in bytes, unless an endpoint has another limit.
const MAX_BODY: usize = 16 << 20;

/// Maximum body of a new job and of an uploaded study, in bytes.
const MAX_JOB_OR_STUDY: usize = 256 << 20;

/// Maximum body of an annotation request, in bytes: enough for the largest batch of events with
/// notes.
const MAX_REVIEW: usize = 1 << 20;

/// Maximum body of a request about people, in bytes: a few lines.
const MAX_PERSON_BODY: usize = 64 << 10;

/// All endpoints of the HTTP API, in the order of the documentation.
pub(super) struct Endpoints(Vec<EndpointEntry>);

struct EndpointEntry {
    operation: Operation,
    route: MethodRouter<AppState>,
    parameters: Arc<ParameterTable>,
    max_body: usize,
    time: Duration,
}

impl Endpoints {
    /// Lists all endpoints, in the order of the documentation.
    pub(super) fn all() -> Endpoints {
        Endpoints(vec![
            on::<GetServerInfoRequest, _, _>(AccessLevel::Public, server_info::get_server_info),
            on::<GetSessionRequest, _, _>(AccessLevel::Public, people::get_session),
            on::<LookUpInvitationRequest, _, _>(
                AccessLevel::PublicCredentials,
                people::look_up_invitation,
            )
            .with_body(MAX_PERSON_BODY),
            on::<AcceptInvitationRequest, _, _>(
                AccessLevel::PublicCredentials,
                people::accept_invitation,
            )
            .with_body(MAX_PERSON_BODY),
            on::<SignInRequest, _, _>(AccessLevel::PublicCredentials, people::sign_in)
                .with_body(MAX_PERSON_BODY),
            on::<OperatorSignInRequest, _, _>(
                AccessLevel::PublicCredentials,
                people::sign_in_as_operator,
            )
            .with_body(MAX_PERSON_BODY),
            on::<SignOutRequest, _, _>(AccessLevel::Annotator, people::sign_out)
                .with_body(MAX_PERSON_BODY),
            on::<SetPasswordRequest, _, _>(AccessLevel::Annotator, people::set_password)
                .with_body(MAX_PERSON_BODY),
            on::<GetOwnDataRequest, _, _>(AccessLevel::Annotator, people::get_own_data),
            on::<DeleteOwnAccountRequest, _, _>(AccessLevel::Annotator, people::delete_own_account)
                .with_body(MAX_PERSON_BODY),
            on::<ListPeopleRequest, _, _>(AccessLevel::Curator, people::list_people),
            on::<CreateInvitationRequest, _, _>(AccessLevel::Curator, people::create_invitation)
                .with_body(MAX_PERSON_BODY),
            on::<RevokePersonOrInvitationRequest, _, _>(AccessLevel::Curator, people::revoke)
                .with_body(MAX_PERSON_BODY),
            on::<ListStudiesRequest, _, _>(AccessLevel::Public, studies::list),
            on::<UploadStudyRequest, _, _>(AccessLevel::Operator, manage::upload_study)
                .with_body(MAX_JOB_OR_STUDY)
                .within(JOB_REQUEST_TIMEOUT),
            on::<GetStudyRequest, _, _>(AccessLevel::Public, studies::get_study),
            on::<UpdateStudyRequest, _, _>(AccessLevel::Operator, manage::update_study),
            of_study::<GetFiguresRequest>(),
            of_study::<GetBehavioralTestsRequest>(),
            on::<ListLateInteractionAnalysesRequest, _, _>(
                AccessLevel::Public,
                studies::list_late_interaction_analyses,
            ),
            on::<GetLateInteractionTopDocumentsRequest, _, _>(
                AccessLevel::Public,
                studies::get_top_documents,
            ),
            of_study::<CompareRankersRequest>(),
            of_study::<ListComparedQueriesRequest>(),
            of_study::<GetComparedQueryRequest>(),
            on::<GetReproductionRequest, _, _>(AccessLevel::Public, studies::get_reproduction),
            on::<ListInstancesRequest, _, _>(AccessLevel::Public, studies::list_instances),
            of_study::<GetInstanceRequest>(),
            on::<GetReadingEndsRequest, _, _>(AccessLevel::PublicScoring, score::reading_ends),
            on::<ExportStudyRequest, _, _>(AccessLevel::Public, studies::export_study),
            of_study::<GetCollectionStatisticsRequest>(),
            of_study::<GetVerdictCountsRequest>(),
            on::<ScoreDocumentsRequest, _, _>(AccessLevel::PublicScoring, score::score),
            on::<GetAttentionRequest, _, _>(AccessLevel::PublicScoring, score::attention),
            on::<RerankRequest, _, _>(AccessLevel::PublicScoring, rerank::rerank)
                .within(JOB_REQUEST_TIMEOUT),
            on::<CohereRerankRequest, _, _>(AccessLevel::PublicScoring, rerank::rerank_v1)
                .within(JOB_REQUEST_TIMEOUT),
            second_version().within(JOB_REQUEST_TIMEOUT),
            on::<GetModelInfoRequest, _, _>(AccessLevel::Public, served_models::get_model_info)
                .within(JOB_REQUEST_TIMEOUT),
            on::<ListServedModelsRequest, _, _>(
                AccessLevel::Public,
                served_models::list_served_models,
            ),
            on::<CreateScoringJobRequest, _, _>(AccessLevel::Operator, jobs::create_job)
                .with_body(MAX_JOB_OR_STUDY)
                .within(JOB_REQUEST_TIMEOUT),
            on::<ListScoringJobsRequest, _, _>(AccessLevel::Operator, jobs::list),
            on::<GetScoringJobRequest, _, _>(AccessLevel::Public, jobs::get_job),
            events::<GetScoringJobRequest, _, _>(
                GetScoringJobRequest::EVENTS_PATH,
                jobs::stream_job_events,
            ),
            on::<CancelScoringJobRequest, _, _>(AccessLevel::Operator, jobs::cancel),
            on::<ResumeScoringJobRequest, _, _>(AccessLevel::Operator, jobs::resume),
            on::<GetJobScoresRequest, _, _>(AccessLevel::Operator, jobs::scores),
            on::<ListClusterJobsRequest, _, _>(
                AccessLevel::Operator,
                cluster_jobs::list_cluster_jobs,
            ),
            on::<CancelClusterJobRequest, _, _>(
                AccessLevel::Operator,
                cluster_jobs::cancel_cluster_job,
            ),
            on::<ListTrainingsRequest, _, _>(AccessLevel::Public, trainings::list),
            on::<CreateTrainingRequest, _, _>(AccessLevel::Operator, trainings::create),
            on::<GetTrainingRequest, _, _>(AccessLevel::Public, trainings::get_training),
            events::<GetTrainingRequest, _, _>(
                GetTrainingRequest::EVENTS_PATH,
                trainings::stream_training_events,
            ),
            on::<CancelTrainingRequest, _, _>(AccessLevel::Operator, trainings::cancel),
            on::<ResumeTrainingRequest, _, _>(AccessLevel::Operator, trainings::resume),
            on::<UpdateTrainingRequest, _, _>(AccessLevel::Operator, trainings::update),
            on::<ListStudyHumanJudgmentsRequest, _, _>(
                AccessLevel::Public,
                annotation::list_human_judgments,
            )
            .within(JOB_REQUEST_TIMEOUT),
            of_study::<GetTrialItemsRequest>(),
            on::<GetTaskTrialItemsRequest, _, _>(
                AccessLevel::Public,
                annotation::get_task_trial_items,
            ),
            on::<ListInstanceAnnotationsRequest, _, _>(
                AccessLevel::Public,
                annotation::list_instance_annotations,
            ),
            on::<ListTasksRequest, _, _>(AccessLevel::Public, annotation::list_tasks),
            on::<GetTaskRequest, _, _>(AccessLevel::Annotator, annotation::get_task),
            on::<LeaseItemsRequest, _, _>(AccessLevel::Annotator, annotation::lease_items)
                .with_body(MAX_REVIEW),
            on::<GetAssignedItemRequest, _, _>(
                AccessLevel::Annotator,
                annotation::get_assigned_item,
            ),
            on::<ListOwnEventsRequest, _, _>(AccessLevel::Annotator, annotation::list_own_events),
            on::<SubmitEventsRequest, _, _>(AccessLevel::Annotator, annotation::submit_events)
                .with_body(MAX_REVIEW),
            on::<PreviewTaskRequest, _, _>(AccessLevel::Curator, curation::preview_task)
                .with_body(MAX_REVIEW),
            on::<CreateTaskRequest, _, _>(AccessLevel::Curator, curation::create_task)
                .with_body(MAX_REVIEW),
            on::<GetTaskDefinitionRequest, _, _>(
                AccessLevel::Curator,
                curation::get_task_definition,
            ),
            on::<UpdateTaskRequest, _, _>(AccessLevel::Curator, curation::update_task)
                .with_body(MAX_REVIEW),
            on::<GetTaskProgressRequest, _, _>(AccessLevel::Curator, curation::get_task_progress),
            on::<GetAgreementRequest, _, _>(AccessLevel::Curator, curation::get_agreement)
                .within(JOB_REQUEST_TIMEOUT),
            on::<ListDisputesRequest, _, _>(AccessLevel::Curator, curation::list_disputes),
            on::<GetItemHistoryRequest, _, _>(AccessLevel::Curator, curation::get_item_history),
            download(),
            on::<ListModelsRequest, _, _>(AccessLevel::Operator, operator::list_models),
            on::<LoadModelRequest, _, _>(AccessLevel::Operator, operator::load_model)
                .within(JOB_REQUEST_TIMEOUT),
        ])
    }

    pub(super) fn into_router(self, app: &AppState) -> Router<AppState> {
        let are_operators_elsewhere =
            app.exposure.operator_endpoints == OperatorEndpoints::OnOtherListener;
        self.0.into_iter().fold(Router::new(), |router, it| {
            if are_operators_elsewhere && it.is_for_operators() {
                let absent = method_router(it.operation.method, error::path_not_found);
                return router.route(it.operation.path, absent);
            }
            let access = (app.clone(), it.operation.access);
            let body = (app.clone(), it.max_body);
            let route = it
                .route
                .route_layer(Extension(it.parameters))
                .route_layer(middleware::from_fn_with_state(it.time, in_time))
                .route_layer(middleware::from_fn_with_state(body, limits::shed_load))
                .route_layer(middleware::from_fn_with_state(access, access::authenticate));
            router.route(it.operation.path, route)
        })
    }

    /// Returns the description of each endpoint for the documentation.
    pub(super) fn operations(&self) -> impl Iterator<Item = &Operation> {
        self.0.iter().map(|it| &it.operation)
    }
}

impl EndpointEntry {
    fn new(operation: Operation, route: MethodRouter<AppState>) -> EndpointEntry {
        EndpointEntry {
            parameters: Arc::new((operation.parameters)()),
            operation,
            route,
            max_body: MAX_BODY,
            time: REQUEST_TIMEOUT,
        }
    }

    /// Returns whether the endpoint is for operators alone, or signs in an operator.
    fn is_for_operators(&self) -> bool {
        let Operation { access, path, .. } = self.operation;
        access == AccessLevel::Operator || path == OperatorSignInRequest::PATH
    }

    fn with_body(self, max_body: usize) -> EndpointEntry {
        EndpointEntry { max_body, ..self }
    }

    fn within(self, time: Duration) -> EndpointEntry {
        EndpointEntry { time, ..self }
    }
}

fn on<E, H, T>(access: AccessLevel, handler: H) -> EndpointEntry
where
    E: ExampleRequest,
    E::Reply: ToSchema,
    H: Handler<T, AppState>,
    T: 'static,
{
    let route = method_router(E::METHOD, handler);
    EndpointEntry::new(Operation::of::<E>(access), route)
}

fn method_router<H, T>(method: RequestMethod, handler: H) -> MethodRouter<AppState>
where
    H: Handler<T, AppState>,
    T: 'static,
{
    match method {
        RequestMethod::Get => get(handler),
        RequestMethod::Post => post(handler),
        RequestMethod::Put => put(handler),
        RequestMethod::Patch => patch(handler),
        RequestMethod::Delete => delete(handler),
    }
}

/// Returns an endpoint whose reply is computed from one study.
fn of_study<R: StudyRequest<Reply: ToSchema> + ExampleRequest>() -> EndpointEntry {
    on::<R, _, _>(AccessLevel::Public, studies::answer_study_request::<R>)
}

/// Returns the endpoint of version 2 of Cohere's rerank API, with the same request as
/// [`CohereRerankRequest`].
fn second_version() -> EndpointEntry {
    let operation = Operation {
        path: CohereRerankRequest::V2_PATH,
        ..Operation::of::<CohereRerankRequest>(AccessLevel::PublicScoring)
    };
    EndpointEntry::new(operation, post(rerank::rerank_v2))
}

/// Returns the endpoint that streams the changes of what another request returns.
fn events<E, H, T>(path: &'static str, handler: H) -> EndpointEntry
where
    E: ExampleRequest,
    E::Reply: ToSchema,
    H: Handler<T, AppState>,
    T: 'static,
{
    let operation = Operation {
        path,
        reply: "text/event-stream",
        ..Operation::of::<E>(AccessLevel::Public)
    };
    EndpointEntry::new(operation, get(handler))
}

/// Returns the endpoint that exports the events of a task as a file.
fn download() -> EndpointEntry {
    let operation = Operation {
        reply: "text/plain",
        ..Operation::of::<ExportTaskRequest>(AccessLevel::Curator)
    };
    EndpointEntry::new(operation, get(curation::export_task))
}

async fn in_time(State(time): State<Duration>, request: Request, next: Next) -> Response {
    tokio::time::timeout(time, next.run(request))
        .await
        .unwrap_or_else(|_| {
            Error::ServerBusy {
                what: "too much at once",
                retry_after_s: 30,
            }
            .into_response()
        })
}
