//! The only file of the pages that sends HTTP requests, except that [`upload`] sends a study with
//! progress.
//!
//! With a server, requests go there. On a static host, the files `studies/index.json`,
//! `studies/NAME.json` and others beside it stand in for it, and the worker answers from them with
//! the same functions. Requests about the study [`LOCAL_STUDY`] are always answered by the worker.
#![expect(clippy::disallowed_types, reason = "the one file that fetches")]

pub(crate) mod upload;

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

use gloo_net::http::{Request, RequestBuilder, Response};
use leptos::prelude::*;
use shared::api::address::RequestAddress;
use shared::api::annotation::ListStudyHumanJudgmentsRequest;
use shared::api::people::{CSRF_HEADER, GetSessionRequest};
use shared::api::prepared_requests::{HUMAN_JUDGMENTS_FILE, LATE_INTERACTION_FILE};
use shared::api::worker::{
    GetPublishedTableRequest, LOCAL_STUDY, ManipulateTextRequest, NO_SERVER_MESSAGE, WorkerRequest,
    study_name_of_request,
};
use shared::api::{
    CreateScoringJobRequest, Endpoint, ErrorResponse, GetJobScoresRequest, GetScoringJobRequest,
    GetServerInfoRequest, ListLateInteractionAnalysesRequest, ListStudiesRequest, RequestMethod,
    ScoringJob, ServerInfoResponse,
};
use wasm_bindgen::prelude::JsValue;

use super::event_stream::{EventStreamProgress, EventSubscription};
use super::session_identity::{self, DetectedSessionChange, SessionPersonAndCsrfToken};
use super::{
    NO_SERVER, NO_SESSION, OutgoingRequest, RequestError, network_error, operator_token,
    parse_reply_json, to_json, worker,
};
use crate::site_host::{SiteHost, site_address};

/// Sends a request to the server, or to the worker if there is no server.
pub(crate) async fn send_to_server_or_worker(
    asked: OutgoingRequest,
) -> Result<String, RequestError> {
    let OutgoingRequest { path, method, json } = asked;
    if [ManipulateTextRequest::PATH, GetPublishedTableRequest::PATH].contains(&path.as_str()) {
        return request_worker(path, json).await;
    }
    let study = study_name_of_request(&json);
    if study.as_deref() == Some(LOCAL_STUDY) {
        return request_worker(path, json).await;
    }
    let is_static = matches!(detect_host().await?, HostKind::Static);
    match study {
        Some(study) if is_static && path == ListLateInteractionAnalysesRequest::PATH => {
            fetch_list(&study_file(&study, LATE_INTERACTION_FILE)).await
        }
        Some(study) if is_static && path == ListStudyHumanJudgmentsRequest::PATH => {
            fetch_list(&study_file(&study, HUMAN_JUDGMENTS_FILE)).await
        }
        Some(study) if is_static => {
            ensure_loaded(&study).await?;
            request_worker(path, json).await
        }
        None if is_static && path == ListStudiesRequest::PATH => {
            fetch_list(&site_address("/studies/index.json")).await
        }
        _ => send_to_server(OutgoingRequest { path, method, json }).await,
    }
}

/// Sends a request to the server, for pages that need one.
pub(crate) async fn send_to_server(asked: OutgoingRequest) -> Result<String, RequestError> {
    let OutgoingRequest { path, method, json } = asked;
    match detect_host().await? {
        HostKind::Server(server) if path == GetServerInfoRequest::PATH => Ok(to_json(&server)),
        HostKind::Server(_) => request_server(&path, method, &json).await,
        HostKind::Static => Err(no_server_error()),
    }
}

/// Creates a job that scores the pairs of the local study.
pub(crate) async fn create_job_for_local_study(
    ranker: String,
    title: String,
) -> Result<ScoringJob, RequestError> {
    let ask = WorkerRequest::BuildJob {
        model: ranker,
        title,
    };
    // The body may have tens of megabytes, so the page passes it on without parsing it.
    let body = worker::run_worker_task(ask, &JsValue::UNDEFINED)
        .await?
        .attachment;
    let response = send_change(RequestMethod::Post, CreateScoringJobRequest::PATH, body).await?;
    parse_reply_json(&response.text().await.map_err(network_error)?)
}

/// Fetches the scores of a job and adds them to the local study, whose hash begins with `of`.
pub(crate) async fn fetch_scores_into_local_study(
    job: &str,
    of: &str,
) -> Result<worker::WorkerReply, RequestError> {
    let asked = to_json(&GetJobScoresRequest {
        job: job.to_owned(),
    });
    let scores = request_server(
        GetJobScoresRequest::PATH,
        GetJobScoresRequest::METHOD,
        &asked,
    )
    .await?;
    worker::run_worker_task(
        WorkerRequest::AddJobScores {
            hash_prefix: of.to_owned(),
        },
        &JsValue::from_str(&scores),
    )
    .await
}

/// Restores the texts of a study that was published without them, from files of its corpus.
pub(crate) async fn restore_study_texts(
    study: &str,
    files: &js_sys::Array,
) -> Result<(), RequestError> {
    if study != LOCAL_STUDY {
        ensure_loaded(study).await?;
    }
    let ask = WorkerRequest::RestoreTexts {
        study: study.to_owned(),
    };
    worker::run_worker_task(ask, files).await.map(drop)
}

/// Returns the files of the demo collection; none if the host does not have all of them.
pub(crate) async fn fetch_demo_files(names: &[&str]) -> Option<Vec<String>> {
    let mut texts = Vec::new();
    for name in names {
        let response = Request::get(&site_address(&format!("/demo/{name}")))
            .send()
            .await
            .ok()?;
        let text = if response.ok() {
            response.text().await.ok()?
        } else {
            return None;
        };
        // Some hosts return their start page for every unknown address.
        if text.trim_start().starts_with('<') {
            return None;
        }
        texts.push(text);
    }
    Some(texts)
}

/// Calls `heard` with each state of a job until the job ends, and `lost` whenever the connection
/// breaks.
pub(crate) fn watch_job(
    job: &str,
    heard: impl Fn(ScoringJob) + 'static,
    lost: impl Fn() + 'static,
) -> Result<EventSubscription, RequestError> {
    let job = GetScoringJobRequest {
        job: job.to_owned(),
    };
    let hear = move |_: &str, json: &str| match serde_json::from_str::<ScoringJob>(json) {
        Ok(job) => {
            let ended = job.state.is_finished();
            heard(job);
            EventStreamProgress::of_end(ended)
        }
        Err(_) => EventStreamProgress::Unreadable,
    };
    EventSubscription::open(job.events_address(), &["job"], hear, lost)
}

/// Whether the pages come from a server or a static host.
#[derive(Debug, Clone)]
enum HostKind {
    Server(ServerInfoResponse),
    /// The host has only files.
    Static,
}

thread_local! {
    /// Cached with the token of the request, since another token gives other permissions.
    static HOST: RefCell<Option<(Option<String>, HostKind)>> = const { RefCell::new(None) };
    static SERVER_INFO: ArcRwSignal<Option<ServerInfoResponse>> = ArcRwSignal::default();
    /// The studies that the worker has loaded, with the generation of that worker.
    static LOADED_STUDIES: RefCell<BTreeSet<String>> = const { RefCell::new(BTreeSet::new()) };
    static LOADED_GENERATION: Cell<u64> = const { Cell::new(0) };
}

/// Returns the signal with what the server said about itself last; `None` without a server.
pub(crate) fn server_info_signal() -> ArcRwSignal<Option<ServerInfoResponse>> {
    SERVER_INFO.with(Clone::clone)
}

/// Finds out once whether there is a server.
async fn detect_host() -> Result<HostKind, RequestError> {
    if SiteHost::current().has_only_files {
        return Ok(HostKind::Static);
    }
    let token = operator_token::stored_operator_token();
    if let Some((by, host)) = HOST.with_borrow(Clone::clone)
        && by == token
    {
        return Ok(host);
    }
    let request = with_operator_token(Request::get(GetServerInfoRequest::PATH));
    let response = request.send().await.map_err(network_error)?;
    // A server behind a gateway may be unavailable for a moment; that does not make it a static
    // host.
    if response.status() >= 500 {
        return Err(read_problem(response).await);
    }
    let host = match response.json::<ServerInfoResponse>().await {
        Ok(server) if response.ok() => HostKind::Server(server),
        Ok(_) | Err(_) => HostKind::Static,
    };
    if let HostKind::Server(server) = &host {
        server_info_signal().set(Some(server.clone()));
    }
    HOST.set(Some((token, host.clone())));
    Ok(host)
}

/// Adds the operator's token to a request, if there is one.
fn with_operator_token(request: RequestBuilder) -> RequestBuilder {
    match operator_token::stored_operator_token() {
        Some(token) => request.header("authorization", &format!("Bearer {token}")),
        None => request,
    }
}

async fn request_server(
    path: &str,
    method: RequestMethod,
    json: &str,
) -> Result<String, RequestError> {
    let request = serde_json::from_str(json).unwrap_or_default();
    let address = RequestAddress::new(method, path, request);
    let response = match (method, address.body) {
        (RequestMethod::Get, _) => get(&address.path).await?,
        (method, body) => {
            let body = body.map_or(JsValue::UNDEFINED, |it| JsValue::from_str(&it));
            send_change(method, &address.path, body).await?
        }
    };
    let reply = response.text().await.map_err(network_error)?;
    if session_identity::cache_session_identity_from_reply(path, &reply) {
        // The permissions depend on who is signed in.
        HOST.set(None);
    }
    Ok(reply)
}

async fn request_worker(path: String, request: String) -> Result<String, RequestError> {
    let ask = WorkerRequest::CallEndpoint { path, request };
    Ok(worker::run_worker_task(ask, &JsValue::UNDEFINED)
        .await?
        .attached_text())
}

/// Makes sure that the worker has loaded a study of a static host.
async fn ensure_loaded(study: &str) -> Result<(), RequestError> {
    if LOADED_GENERATION.replace(worker::worker_restart_count()) != worker::worker_restart_count() {
        LOADED_STUDIES.with_borrow_mut(BTreeSet::clear);
    }
    if LOADED_STUDIES.with_borrow(|it| it.contains(study)) {
        return Ok(());
    }
    shared::study::validate_study_name(study)
        .map_err(|it| problem_error(it.to_string(), "unknown"))?;
    let file = study_file(study, "json");
    let text = get(&file).await?.text().await.map_err(network_error)?;
    let ask = WorkerRequest::LoadStudy {
        study: study.to_owned(),
        file,
    };
    worker::run_worker_task(ask, &JsValue::from_str(&text)).await?;
    LOADED_STUDIES.with_borrow_mut(|it| it.insert(study.to_owned()));
    Ok(())
}

/// Returns the address of a file of a study of a static host.
fn study_file(study: &str, extension: &str) -> String {
    site_address(&format!("/studies/{study}.{extension}"))
}

/// Returns a list that is a file of a static host; an empty one if there is no such file, or if the
/// host returns its start page for every unknown address.
async fn fetch_list(address: &str) -> Result<String, RequestError> {
    let response = Request::get(address).send().await.map_err(network_error)?;
    if response.status() == 404 {
        return Ok("[]".to_owned());
    }
    let text = check_status(response)
        .await?
        .text()
        .await
        .map_err(network_error)?;
    Ok(if text.trim_start().starts_with('<') {
        "[]".to_owned()
    } else {
        text
    })
}

async fn get(address: &str) -> Result<Response, RequestError> {
    check_status(
        with_operator_token(Request::get(address))
            .send()
            .await
            .map_err(network_error)?,
    )
    .await
}

/// Sends a request that changes something with the token of the session. If another tab has
/// started a new session, the request is sent once more, but never as another person.
async fn send_change(
    method: RequestMethod,
    address: &str,
    body: JsValue,
) -> Result<Response, RequestError> {
    let known = match session_identity::cached_person_and_csrf_token() {
        Some(known) => known,
        None => {
            let known = fetch_identity().await?;
            session_identity::cache_person_and_csrf_token(known.clone());
            known
        }
    };
    let response = send_with_identity(method, address, &body, &known).await?;
    if response.status() != 403 {
        return check_status(response).await;
    }
    let now = fetch_identity().await?;
    match known.detect_session_change(&now) {
        DetectedSessionChange::Unchanged => check_status(response).await,
        DetectedSessionChange::SessionReplaced => Err(problem_error(
            "This browser is now signed in as somebody else, or signed out. Sign in again and \
             reload the page."
                .to_owned(),
            NO_SESSION,
        )),
        DetectedSessionChange::TokenRenewed => {
            session_identity::cache_person_and_csrf_token(now.clone());
            check_status(send_with_identity(method, address, &body, &now).await?).await
        }
    }
}

async fn send_with_identity(
    method: RequestMethod,
    address: &str,
    body: &JsValue,
    known: &SessionPersonAndCsrfToken,
) -> Result<Response, RequestError> {
    let request = match method {
        RequestMethod::Get => Request::get(address),
        RequestMethod::Post => Request::post(address),
        RequestMethod::Put => Request::put(address),
        RequestMethod::Patch => Request::patch(address),
        RequestMethod::Delete => Request::delete(address),
    };
    let mut request = with_operator_token(request).header("content-type", "application/json");
    if let Some(token) = &known.csrf_token {
        request = request.header(CSRF_HEADER, token);
    }
    request
        .body(body.clone())
        .map_err(network_error)?
        .send()
        .await
        .map_err(network_error)
}

/// Asks the server who is signed in.
async fn fetch_identity() -> Result<SessionPersonAndCsrfToken, RequestError> {
    let reply = get(GetSessionRequest::PATH).await?;
    parse_reply_json(&reply.text().await.map_err(network_error)?)
}

async fn check_status(response: Response) -> Result<Response, RequestError> {
    if response.ok() {
        Ok(response)
    } else {
        Err(read_problem(response).await)
    }
}

/// Returns the error in a response that is not a success.
async fn read_problem(response: Response) -> RequestError {
    match response.json::<ErrorResponse>().await {
        Ok(problem) => RequestError::Server(problem),
        Err(_) if response.status() == 404 => problem_error(
            format!(
                "Nothing found at {}. It may have been deleted.",
                response.url()
            ),
            "unknown",
        ),
        Err(_) => network_error(format!("HTTP status {}", response.status())),
    }
}

fn problem_error(error: String, error_type: &str) -> RequestError {
    RequestError::Server(ErrorResponse::with_message_and_type(error, error_type))
}

fn no_server_error() -> RequestError {
    problem_error(NO_SERVER_MESSAGE.to_owned(), NO_SERVER)
}
