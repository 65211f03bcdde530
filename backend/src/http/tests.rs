//! Tests of the server without a network: access rights and invalid requests.

mod access;
mod answers;
mod cluster_jobs;
mod examples;
mod limits;
mod manage_studies;
pub(crate) mod mutated;
mod operator;
mod operator_link;
mod own_data;
mod people;
mod proxy;
mod rerank;
mod review;
mod simulated_annotators;

use std::net::IpAddr;

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::ConnectInfo;
use axum::http::{HeaderMap, Request, StatusCode, header};
use serde::Serialize;
use serde_json::{Value, json};
use shared::api::address::{RequestAddress, path_parameter};
use shared::api::people::{
    AccessRole, CSRF_HEADER, GetSessionRequest, Person, SessionResponse, SetPasswordRequest,
    SignOutRequest,
};
use shared::api::{
    Endpoint, ErrorResponse, ExportStudyRequest, GetAttentionRequest, GetJobScoresRequest,
    GetScoringJobRequest, GetServerInfoRequest, GetStudyRequest, JobScoresResponse, JobState,
    ListStudiesRequest, RequestMethod, ScoreDocumentsRequest, ScoreDocumentsResponse, ScoringJob,
    ServerInfoResponse,
};
use shared::study::Study;
use tower::ServiceExt;

use super::openapi::empty_study as study;
use super::*;
use crate::clock::unix_time_ms;
use crate::jobs::tests::{create, drop_once};
use crate::models;
use crate::store::DatabaseConfig;
use crate::store::people::{JoiningPersonDetails, NewInvitation};
use crate::store::secret_token::SecretToken;
use crate::store::server_place::ServerRole;
use crate::store::studies::StudyVisibility;

/// A server with its own data folder.
struct Site {
    _home: tempfile::TempDir,
    folder: DataFolder,
    app: AppState,
    router: Router,
    token: String,
    /// The token of the operator link.
    link: SecretToken,
    stop: watch::Sender<bool>,
}

/// Returns the body of a request that scores documents, for one of the endpoints that do.
fn scoring_body(path: &str, model: &str, query: &str, documents: &[String]) -> Value {
    match path {
        GetAttentionRequest::PATH => {
            json!({ "model": model, "query": query, "document": documents[0] })
        }
        _ => json!({ "model": model, "query": query, "documents": documents }),
    }
}

impl Site {
    /// Returns the number of scoring requests that one client may send at once.
    fn n_scorings_at_once(&self) -> usize {
        10 * self.app.models.ranker_specs().len()
    }

    async fn new(door: ListenScope) -> Site {
        Site::with(door, models::tests::tiny()).await
    }

    /// Creates a server. On loopback every caller is the operator, as most tests need it.
    async fn with(door: ListenScope, models: ModelRegistry) -> Site {
        let exposure = NetworkExposure {
            no_auth_on_loopback: door == ListenScope::Loopback,
            ..exposure(door)
        };
        Site::exposed(exposure, models).await
    }

    async fn exposed(exposure: NetworkExposure, models: ModelRegistry) -> Site {
        let home = tempfile::tempdir().unwrap();
        let folder = DataFolder::open(home.path()).unwrap();
        let database = DatabaseConfig::Sqlite(folder.database_path());
        let store = Database::open_and_migrate(&database).await.unwrap();
        for name in ["open", "hidden"] {
            let study = study(name);
            crate::store::studies::files::save_study_files(&folder, &study).unwrap();
            store.upsert_study_entry(&study).await.unwrap();
        }
        store
            .set_study_visibility("open", StudyVisibility::Published)
            .await
            .unwrap();
        let token = store.replace_operator_token().await.unwrap();
        let models = Arc::new(models);
        let (stop, stopping) = watch::channel(false);
        let index = "<html><script type=\"module\">start()</script><body></body></html>";
        let files = [
            ("index.html", index),
            ("app-0123456789abcdef.js", "start"),
            ("w.js", "w"),
        ];
        let files = files.map(|(path, text)| (path.to_owned(), Bytes::from(text)));
        let (operator_link, link) = OperatorSignInLink::new();
        let interval = crate::canary::DEFAULT_INTERVAL;
        let canary = Canary::new(store.clone(), folder.clone(), models.clone(), interval);
        let limits = ServerLimits::new(models.ranker_specs().len());
        let slots = limits.computations.clone();
        let parts = AppParts {
            operator: store.operator_token_hash().await.unwrap(),
            operator_link,
            jobs: JobQueue::for_stored_jobs(folder.clone(), store.clone(), models.clone()),
            trainings: TrainingQueue::load(folder.clone()).unwrap(),
            annotation: AnnotationTaskService::start_with_slots(
                store.clone(),
                ServerRole::only_server(),
                slots.clone(),
            ),
            store,
            studies: StudyCache::new(folder.clone(), slots),
            canary: Arc::new(canary),
            limits,
            models,
            pages: StaticFiles::new(files.into_iter()),
            health: health::HealthMonitor::default(),
            shutdown: stopping,
        };
        let app = AppState {
            parts: Arc::new(parts),
            exposure: Arc::new(exposure),
        };
        let router = router(app.clone());
        Site {
            _home: home,
            folder,
            app,
            router,
            token,
            link,
            stop,
        }
    }

    async fn send(&self, request: Request<Body>) -> Answer {
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let body = to_bytes(body, usize::MAX).await.unwrap();
        Answer {
            status: parts.status,
            headers: parts.headers,
            body,
        }
    }

    /// Returns the status of the response to a request.
    async fn status(&self, request: Request<Body>) -> u16 {
        self.send(request).await.status.as_u16()
    }

    async fn get(&self, path: &str) -> Answer {
        self.send(request("GET", path, "")).await
    }

    async fn ask<E: Endpoint>(&self, asked: &E) -> Answer {
        self.send(request_for(asked)).await
    }
}

/// Returns the exposure of a server without further arguments.
fn exposure(door: ListenScope) -> NetworkExposure {
    NetworkExposure {
        scope: door,
        trusted_proxies: Vec::new(),
        public_url: None,
        no_auth_on_loopback: false,
        operator_endpoints: OperatorEndpoints::Here,
    }
}

/// Returns a request as if it came from a peer.
fn from(peer: impl Into<IpAddr>, mut request: Request<Body>) -> Request<Body> {
    let address = SocketAddr::new(peer.into(), 1);
    request.extensions_mut().insert(ConnectInfo(address));
    request
}

/// Returns a request with additional headers.
fn with_headers(mut request: Request<Body>, headers: &[(&str, &str)]) -> Request<Body> {
    for (name, value) in headers {
        let name: header::HeaderName = name.parse().unwrap();
        request.headers_mut().insert(name, value.parse().unwrap());
    }
    request
}

struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
}

impl Answer {
    fn json<T: serde::de::DeserializeOwned>(&self) -> T {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| {
            panic!(
                "{error}: {} {}",
                self.status,
                String::from_utf8_lossy(&self.body)
            )
        })
    }

    /// Returns the status and the message of an error response.
    fn problem(&self) -> (u16, String) {
        (self.status.as_u16(), self.json::<ErrorResponse>().error)
    }

    fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |it| it.to_str().unwrap())
    }
}

fn request(method: &str, path: &str, body: &str) -> Request<Body> {
    Request::builder()
        .method(method)
        .uri(path)
        .header(header::HOST, "localhost:8080")
        .body(Body::from(body.to_owned()))
        .unwrap()
}

fn as_request(method: RequestMethod, path: &str, asked: &impl Serialize) -> Request<Body> {
    let json = serde_json::to_value(asked).unwrap();
    let address = RequestAddress::new(method, path, json);
    let body = address.body.unwrap_or_default();
    request(&method.to_string(), &address.path, &body)
}

fn request_for<E: Endpoint>(asked: &E) -> Request<Body> {
    as_request(E::METHOD, E::PATH, asked)
}

fn with_token(mut request: Request<Body>, token: &str) -> Request<Body> {
    let value = format!("Bearer {token}").parse().unwrap();
    request.headers_mut().insert(header::AUTHORIZATION, value);
    request
}

/// A person who is signed in.
struct Signed {
    person: Person,
    session: SecretToken,
}

/// The password of the people whom a test gives one.
const PASSWORD: &str = "correct horse";

impl Site {
    /// Stores a study, or replaces the one of its name.
    async fn store_study(&self, study: &Study) {
        crate::store::studies::files::save_study_files(&self.folder, study).unwrap();
        self.app.store.upsert_study_entry(study).await.unwrap();
    }

    /// Sets the first password of a person.
    async fn set_password(&self, session: &SecretToken) -> SessionResponse {
        let set = SetPasswordRequest {
            current_password: None,
            new_password: Some(PASSWORD.to_owned()),
        };
        self.ask_by(&set, session).await.json()
    }

    /// Adds a person with a role and signs them in.
    async fn somebody(&self, role: AccessRole, name: &str) -> Signed {
        let invite = NewInvitation {
            role,
            person: None,
            hours: 1,
            note: String::new(),
            made_by: None,
        };
        let store = &self.app.store;
        let made = store
            .create_invitation(&invite, unix_time_ms())
            .await
            .unwrap();
        let joining = JoiningPersonDetails {
            name: name.to_owned(),
            password_hash: None,
        };
        let token = SecretToken::from_unchecked_text(&made.token);
        let session = store
            .accept_invitation_and_begin_session(&token, &joining, unix_time_ms())
            .await
            .unwrap();
        let found = store
            .validate_and_extend_session(&session, unix_time_ms())
            .await
            .unwrap()
            .unwrap();
        Signed {
            person: found.person.unwrap(),
            session,
        }
    }

    /// Returns the name of the session cookie.
    fn cookie(&self) -> &'static str {
        match (self.app.exposure.scope, self.app.exposure.https_url()) {
            (ListenScope::Loopback, None) => "axioscope-8080",
            (ListenScope::Loopback, Some(_)) | (ListenScope::Network, _) => "__Host-axioscope",
        }
    }

    /// Returns a request as a page sends it on behalf of a signed-in person.
    fn by(&self, mut request: Request<Body>, session: &SecretToken) -> Request<Body> {
        let cookie = format!("{}={}", self.cookie(), session.reveal());
        let headers = request.headers_mut();
        headers.insert(header::COOKIE, cookie.parse().unwrap());
        headers.insert(CSRF_HEADER, session.csrf_token().parse().unwrap());
        request
    }

    /// Starts another session of a person.
    async fn begin_session(&self, person: &Person) -> SecretToken {
        let begun = self.app.store.begin_session(person.id, unix_time_ms());
        begun.await.unwrap()
    }

    async fn get_session(&self, session: &SecretToken) -> SessionResponse {
        self.ask_by(&GetSessionRequest {}, session).await.json()
    }

    async fn sign_out(&self, session: &SecretToken) -> Answer {
        let all_sessions = false;
        self.ask_by(&SignOutRequest { all_sessions }, session).await
    }

    async fn ask_by<E: Endpoint>(&self, asked: &E, session: &SecretToken) -> Answer {
        let request = request_for(asked);
        self.send(self.by(request, session)).await
    }
}
