//! The web server: the HTTP API, the pages, health checks and background jobs.
//!
//! [`endpoints`] lists the endpoints of the API. Routes and the OpenAPI document are derived from
//! it.

mod endpoints;
mod access;
mod limits;
mod connections;
mod content_coding;
mod api_request;
mod parameters;
mod error;
mod server_info;
mod studies;
mod score;
mod rerank;
mod served_models;
mod event_stream;
mod jobs;
mod cluster_jobs;
mod trainings;
mod markdown;
mod annotation;
mod operator;
mod people;
mod health;
mod openapi;
mod static_files;
mod first_paint;
mod security_contact;

use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::middleware;
use tokio::net::TcpListener;
use tokio::sync::{oneshot, watch};
use tower_http::catch_panic::CatchPanicLayer;

use crate::annotation::AnnotationTaskService;
use crate::canary::Canary;
use crate::clock::unix_time_ms;
use crate::documentation::DocumentationFile;
use crate::error::{Error, run_blocking};
use crate::http::access::OperatorSignInLink;
use crate::http::connections::{ConnectionLimits, DEADLINES};
use crate::http::endpoints::Endpoints;
use crate::http::limits::{ServerLimits, SlotPool};
use crate::http::static_files::StaticFiles;
use crate::http::studies::StudyCache;
use crate::jobs::{self as work, JobQueue, OtherServers};
use crate::models::ModelRegistry;
use crate::runtime::wait_for_stop_signal;
use crate::store::operator::AccessTokenHash;
use crate::store::server_place::ServerPlace;
use crate::store::{DataFolder, Database};
use crate::training_jobs::{self, TrainingQueue};

pub(crate) use access::{
    ListenScope, NetworkExposure, OperatorEndpoints, PublicUrl, parse_network,
};
pub(crate) use health::READY_PATH;
pub(crate) use security_contact::SecurityContact;

/// Time that requests in progress have to finish after a signal to stop.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(10);

/// The settings of `axioscope serve`.
pub(crate) struct ServerSettings {
    /// The data folder.
    pub data: PathBuf,
    /// The address and port to listen on.
    pub listen: SocketAddr,
    /// The address and port of the listener for operators; `None` if they are served at `listen`.
    pub operator_listen: Option<SocketAddr>,
    /// How clients reach the server, and which proxies are trusted.
    pub exposure: NetworkExposure,
    /// The time between two rounds of the checks of the site.
    pub canary_interval: Duration,
    /// The models that are available for scoring.
    pub models: Arc<ModelRegistry>,
    /// The files below `/docs`.
    pub documentation: Vec<DocumentationFile>,
    /// Whom `/.well-known/security.txt` names; without it there is no such file.
    pub security_contact: Option<SecurityContact>,
    /// Whether to create a new operator token.
    pub token: OperatorTokenPolicy,
    /// Gets a message when background work has printed its last line, so that the operator link is
    /// printed again below it.
    pub lines_below: Option<oneshot::Receiver<()>>,
}

/// Whether the operator keeps the existing token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OperatorTokenPolicy {
    /// Keep the token of the first start; create one if there is none.
    Keep,
    /// Create a new token. The old token and all sessions of the operator end.
    Renew,
}

/// The state that all handlers of a listener share.
#[derive(Clone)]
pub(crate) struct AppState {
    parts: Arc<AppParts>,
    /// How clients reach this listener.
    exposure: Arc<NetworkExposure>,
}

/// The parts of the state that all listeners share.
pub(crate) struct AppParts {
    operator: Option<AccessTokenHash>,
    operator_link: OperatorSignInLink,
    store: Database,
    studies: StudyCache,
    models: Arc<ModelRegistry>,
    jobs: JobQueue,
    trainings: TrainingQueue,
    annotation: AnnotationTaskService,
    limits: ServerLimits,
    pages: StaticFiles,
    health: health::HealthMonitor,
    canary: Arc<Canary>,
    shutdown: watch::Receiver<bool>,
}

impl std::ops::Deref for AppState {
    type Target = AppParts;

    fn deref(&self) -> &AppParts {
        &self.parts
    }
}

/// Runs the server until the process is told to stop. Prints the address, the operator token when
/// it is created, and at each start a link that signs in the operator.
pub(crate) async fn serve(settings: ServerSettings) -> Result<(), Error> {
    let folder = DataFolder::open(&settings.data)?;
    let lock = folder.lock()?;
    let store = Database::open_for_folder(&folder).await?;
    let place = store.join_servers(lock).await?;
    let role = place.role();
    let others = match place.may_have_others() {
        true => OtherServers::Possible,
        false => OtherServers::None,
    };
    let exposure = NetworkExposure {
        operator_endpoints: match settings.operator_listen {
            Some(_) => OperatorEndpoints::OnOtherListener,
            None => OperatorEndpoints::Here,
        },
        ..settings.exposure
    };
    let operator = operator(&store, &exposure, settings.token).await?;
    let models = settings.models;
    let (stop, stopping) = watch::channel(false);
    let jobs = JobQueue::for_stored_jobs(folder.clone(), store.clone(), models.clone());
    let trainings = TrainingQueue::load(folder.clone())?;

    let (listener, address) = listen(settings.listen, "--listen").await?;
    let mut operators = None;
    if let Some(asked) = settings.operator_listen {
        let (listener, address) = listen(asked, "--operator-listen").await?;
        operators = Some((listener, address, exposure.for_operator_listener(address)));
    }
    println!("Axioscope is at http://{address}/");
    let (operator_link, link_line) = match &operators {
        Some((_, address, exposure)) => {
            println!("Operators and metrics are at http://{address}/");
            announce_operator_link(exposure, *address)
        }
        None => announce_operator_link(&exposure, address),
    };

    let worker = tokio::spawn(work::run_job_worker(jobs.clone(), others, stopping.clone()));
    let place = tokio::spawn(keep_place(place, stopping.clone()));
    let training_worker = training_jobs::run_training_worker(trainings.clone(), stopping.clone());
    let training_worker = tokio::spawn(training_worker);
    let security_txt = settings.security_contact.map(|contact| {
        security_contact::security_txt(&contact, exposure.public_url.as_ref(), unix_time_ms())
    });
    let files = settings.documentation.into_iter().chain(security_txt);
    let files = files.map(|it| (it.path, Bytes::from(it.contents)));
    let canary = Arc::new(Canary::new(
        store.clone(),
        folder.clone(),
        models.clone(),
        settings.canary_interval,
    ));
    let limits = ServerLimits::new(models.ranker_specs().len());
    let slots = limits.computations.clone();
    let parts = AppParts {
        operator,
        operator_link,
        store: store.clone(),
        studies: StudyCache::new(folder, slots.clone()),
        models: models.clone(),
        jobs,
        trainings,
        annotation: AnnotationTaskService::start_with_slots(store.clone(), role, slots),
        limits,
        pages: StaticFiles::embedded_with(files),
        health: health::HealthMonitor::default(),
        canary: canary.clone(),
        shutdown: stopping.clone(),
    };
    let app = AppState {
        parts: Arc::new(parts),
        exposure: Arc::new(exposure),
    };
    if let Some(lines_below) = settings.lines_below {
        tokio::spawn(announce_again(
            app.clone(),
            link_line,
            lines_below,
            std::io::stdout(),
        ));
    }
    tokio::spawn(studies::cache_summaries(app.clone()));
    tokio::spawn(warm_up(models));
    tokio::spawn(stop_on_signal(stop));
    let mut late = stopping.clone();
    let serving_operators = async {
        if let Some((listener, _, exposure)) = operators {
            let app = AppState {
                parts: app.parts.clone(),
                exposure: Arc::new(exposure),
            };
            let slots = connections::operator_connection_slots();
            serve_listener(app, listener, slots, stopping.clone()).await;
        }
    };
    let slots = connections::connection_slots();
    let serving = serve_listener(app.clone(), listener, slots, stopping.clone());
    let serving = futures_util::future::join(serving, serving_operators);
    tokio::spawn(canary.run(stopping.clone()));
    let overdue = async move {
        work::wait_for_shutdown_signal(&mut late).await;
        tokio::time::sleep(SHUTDOWN_GRACE).await;
    };
    tokio::select! {
        _ = serving => {}
        () = overdue => tracing::warn!("ending with requests under way"),
    }
    // An interrupted batch or update is not lost: it is computed again at the next start.
    let workers = futures_util::future::join3(worker, training_worker, place);
    let _ = tokio::time::timeout(SHUTDOWN_GRACE, workers).await;
    store.close().await;
    Ok(())
}

/// Serves the requests of one listener until the server is told to stop.
async fn serve_listener(
    app: AppState,
    listener: TcpListener,
    slots: Arc<SlotPool>,
    stopping: watch::Receiver<bool>,
) {
    let exposure = app.exposure.clone();
    let limits = ConnectionLimits {
        places: slots,
        client_key: move |peer| exposure.client_key(peer),
        deadlines: DEADLINES,
    };
    connections::serve(listener, router(app), limits, stopping).await;
}

/// Builds the router with all endpoints, pages and middleware of a listener.
fn router(app: AppState) -> Router {
    let outer = app.clone();
    let compressing = app.clone();
    Endpoints::all()
        .into_router(&app)
        .merge(health::router(&app))
        .merge(openapi::router())
        .fallback(static_files::serve_page)
        .method_not_allowed_fallback(error::method_not_allowed)
        .layer(CatchPanicLayer::custom(error::panicked))
        .layer(middleware::from_fn_with_state(
            compressing,
            content_coding::compress,
        ))
        .layer(middleware::from_fn_with_state(outer, access::check_origin))
        .layer(middleware::from_fn(static_files::add_security_headers))
        .layer(middleware::from_fn(health::record_metrics))
        .with_state(app)
}

/// Time after which the place among the servers of a database is renewed.
const PLACE_RENEWAL: Duration = Duration::from_secs(2);

/// Keeps the place of this server among those of its database until it stops.
async fn keep_place(mut place: ServerPlace, mut stopping: watch::Receiver<bool>) {
    let mut main_term = place.role().main_term();
    if main_term == 0 {
        tracing::info!(
            "another server with this database serves annotation tasks; this one shares its jobs"
        );
    }
    while !*stopping.borrow() && place.may_have_others() {
        tokio::select! {
            () = tokio::time::sleep(PLACE_RENEWAL) => {}
            () = work::wait_for_shutdown_signal(&mut stopping) => break,
        }
        if let Err(error) = place.renew().await {
            tracing::error!("the place among the servers of the database: {error}");
        }
        let now = place.role().main_term();
        if now > 0 && main_term == 0 {
            tracing::info!("this server serves annotation tasks now");
        }
        main_term = now;
    }
    // The lock of the data folder is held until the end.
    work::wait_for_shutdown_signal(&mut stopping).await;
}

/// Returns the hash of the operator token. Creates and prints a token if there is none or a new one
/// is requested; with `--no-auth-on-loopback` none is needed.
async fn operator(
    store: &Database,
    exposure: &NetworkExposure,
    token: OperatorTokenPolicy,
) -> Result<Option<AccessTokenHash>, Error> {
    let known = store.operator_token_hash().await?;
    let is_needed = match (token, &known) {
        (OperatorTokenPolicy::Renew, _) => true,
        (OperatorTokenPolicy::Keep, None) => !exposure.no_auth_on_loopback,
        (OperatorTokenPolicy::Keep, Some(_)) => false,
    };
    if !is_needed {
        return Ok(known);
    }
    let token = store.replace_operator_token().await?;
    store.end_unnamed_operator_sessions().await?;
    println!("The operator's token for programs, shown this once: {token}");
    Ok(Some(AccessTokenHash::from_token(&token)))
}

/// Prints the operator link for a listener, as the last line. Returns the link and this line.
fn announce_operator_link(
    exposure: &NetworkExposure,
    address: SocketAddr,
) -> (OperatorSignInLink, String) {
    if exposure.no_auth_on_loopback {
        tracing::warn!(
            "every program and every proxy on this machine is the operator \
             (--no-auth-on-loopback)"
        );
        return (OperatorSignInLink::disabled(), String::new());
    }
    let (link, token) = OperatorSignInLink::new();
    let origin = exposure.origin(address);
    let line = format!(
        "To be its operator open this link, which works once: {origin}/operator#{}",
        token.reveal()
    );
    println!("{line}");
    (link, line)
}

/// Prints the operator link again after background work has printed other lines below it, unless
/// the link was used.
async fn announce_again(
    app: AppState,
    link_line: String,
    lines_below: oneshot::Receiver<()>,
    mut out: impl Write,
) {
    if lines_below.await.is_ok() && app.operator_link.is_open() {
        // Standard output may be closed.
        let _ = writeln!(out, "{link_line}");
    }
}

/// Listens on an address, which is the value of a command-line option. Returns the listener and its
/// address with the port that the system chose.
async fn listen(
    address: SocketAddr,
    option: &'static str,
) -> Result<(TcpListener, SocketAddr), Error> {
    let failed = |source| Error::Listen {
        address,
        source,
        option,
    };
    let listener = TcpListener::bind(address).await.map_err(failed)?;
    let found = listener.local_addr().map_err(failed)?;
    Ok((listener, found))
}

/// Loads all models at startup, so that no request has to wait for it. The usual kind of each model
/// comes first; other kinds of hub models are known only after their files have been downloaded.
async fn warm_up(models: Arc<ModelRegistry>) {
    let load = async |spec: String| {
        let models = models.clone();
        if let Err(error) =
            run_blocking("loading a model", move || models.get_or_load_ranker(&spec)).await
        {
            tracing::error!("{error}");
        }
    };
    for name in models.model_names() {
        load(name).await;
    }
    let listed = models.clone();
    let others = run_blocking("listing models", move || {
        let failed = listed.load_failures();
        let told = |spec: &String| failed.iter().any(|it| it.0 == *spec);
        Ok(listed
            .ranker_specs()
            .into_iter()
            .filter(|it| !told(it))
            .collect())
    });
    let others: Vec<String> = others.await.unwrap_or_default();
    for spec in others {
        load(spec).await;
    }
}

async fn stop_on_signal(stop: watch::Sender<bool>) {
    wait_for_stop_signal().await;
    tracing::info!("ending");
    let _ = stop.send(true);
}

#[cfg(test)]
pub(crate) mod tests;
