//! The server: studies to read, texts to score, jobs to run, and the pages.
//!
//! [`endpoints`] lists what there is; the routes and the OpenAPI document are made from it.

mod endpoints;
mod access;
mod limits;
mod api_call;
mod error;
mod about;
mod studies;
mod score;
mod rerank;
mod jobs;
mod review;
mod operator;
mod people;
mod health;
mod openapi;
mod pages;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;

use crate::error::{Error, off_thread};
use crate::http::access::Door;
use crate::http::endpoints::Endpoints;
use crate::http::limits::Limits;
use crate::http::pages::Pages;
use crate::http::studies::Shelf;
use crate::jobs::{self as work, Jobs};
use crate::models::Models;
use crate::review::Reviews;
use crate::store::operator::TokenHash;
use crate::store::{DataFolder, Database, Store};

/// After a signal to end, requests that are under way have so long.
const GRACE: Duration = Duration::from_secs(10);

/// What `axioscope serve` was told.
pub(crate) struct Settings {
    /// The data folder.
    pub data: PathBuf,
    /// Where to listen. Anything but loopback lets visitors in.
    pub listen: SocketAddr,
    /// The models that score.
    pub models: Arc<Models>,
    /// The operator's token.
    pub token: Token,
}

/// Which token the operator has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Token {
    /// The one that was printed at the first start.
    AsBefore,
    /// A new one; the one before no longer counts.
    New,
}

/// What handlers share.
#[derive(Clone)]
pub(crate) struct App(Arc<Parts>);

pub(crate) struct Parts {
    door: Door,
    operator: Option<TokenHash>,
    store: Store,
    shelf: Shelf,
    models: Arc<Models>,
    jobs: Jobs,
    reviews: Reviews,
    limits: Limits,
    pages: Pages,
    health: health::Canary,
    stopping: watch::Receiver<bool>,
}

impl std::ops::Deref for App {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}

/// Serves until the process is told to end. Prints the address, and at the first start for
/// visitors the operator's token.
pub(crate) async fn serve(settings: Settings) -> Result<(), Error> {
    let folder = DataFolder::open(&settings.data)?;
    let lock = folder.lock()?;
    let store = Store::open(&Database::chosen(&folder)?).await?;
    let lock = store.lock_jobs(lock).await?;
    let door = Door::of(settings.listen);
    let operator = operator(&store, door, settings.token).await?;
    let models = settings.models;
    let (stop, stopping) = watch::channel(false);
    let jobs = Jobs::new(folder.clone(), store.clone(), models.clone());

    let listener = listen(settings.listen).await?;
    let address = listener.local_addr().map_err(|source| Error::Listen {
        address: settings.listen,
        source,
    })?;
    println!("Axioscope is at http://{address}/");

    let worker = tokio::spawn(work::work(jobs.clone(), lock, stopping.clone()));
    let app = App(Arc::new(Parts {
        door,
        operator,
        store: store.clone(),
        shelf: Shelf::new(folder),
        models: models.clone(),
        jobs,
        reviews: Reviews::new(store.clone()),
        limits: Limits::new(),
        pages: Pages::embedded(),
        health: health::Canary::default(),
        stopping: stopping.clone(),
    }));
    tokio::spawn(warm_up(models));
    tokio::spawn(stop_on_signal(stop));
    let mut serving = stopping.clone();
    let mut late = stopping;
    let server = axum::serve(
        listener,
        router(app).into_make_service_with_connect_info::<SocketAddr>(),
    )
    .with_graceful_shutdown(async move { work::stopped(&mut serving).await });
    let overdue = async move {
        work::stopped(&mut late).await;
        tokio::time::sleep(GRACE).await;
    };
    tokio::select! {
        ended = server.into_future() => {
            ended.map_err(|source| Error::Listen { address, source })?;
        }
        () = overdue => tracing::warn!("ending with requests under way"),
    }
    // The batch at hand is not lost if this takes too long: it is done again at the next start.
    let _ = tokio::time::timeout(GRACE, worker).await;
    store.close().await;
    Ok(())
}

/// Everything that is answered, for a server or a test.
fn router(app: App) -> Router {
    /// Bodies of requests, in bytes; jobs say their own.
    const MAX_BODY: usize = 16 << 20;

    let outer = app.clone();
    let limits = app.clone();
    Endpoints::all()
        .into_router(&app)
        .merge(health::router(&app))
        .merge(openapi::router())
        .fallback(pages::page)
        .method_not_allowed_fallback(error::wrong_method)
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .layer(CatchPanicLayer::custom(error::panicked))
        .layer(middleware::from_fn_with_state(limits, limits::shed))
        .layer(middleware::from_fn_with_state(outer, access::check_way))
        .layer(middleware::from_fn(pages::secure))
        .layer(CompressionLayer::new())
        .layer(middleware::from_fn(health::measure))
        .with_state(app)
}

/// Visitors are let in only past somebody who holds a token, so that there is one.
async fn operator(store: &Store, door: Door, token: Token) -> Result<Option<TokenHash>, Error> {
    let known = store.operator().await?;
    let wanted = match (token, door, &known) {
        (Token::New, _, _) | (Token::AsBefore, Door::Open, None) => true,
        (Token::AsBefore, Door::Loopback, _) | (Token::AsBefore, Door::Open, Some(_)) => false,
    };
    if !wanted {
        return Ok(known);
    }
    let token = store.new_operator_token().await?;
    println!("The operator's token, shown this once: {token}");
    Ok(Some(TokenHash::of(&token)))
}

async fn listen(address: SocketAddr) -> Result<TcpListener, Error> {
    TcpListener::bind(address)
        .await
        .map_err(|source| Error::Listen { address, source })
}

/// Loads the models before somebody waits for them, each with its usual use first: what one from
/// the hub can be used for is known when its files are here.
async fn warm_up(models: Arc<Models>) {
    let load = async |spec: String| {
        let models = models.clone();
        if let Err(error) = off_thread("loading a model", move || models.get(&spec)).await {
            tracing::error!("{error}");
        }
    };
    for name in models.names() {
        load(name).await;
    }
    let listed = models.clone();
    let others = off_thread("listing models", move || {
        let failed = listed.failures();
        let told = |spec: &String| failed.iter().any(|it| it.0 == *spec);
        Ok(listed.specs().into_iter().filter(|it| !told(it)).collect())
    });
    let others: Vec<String> = others.await.unwrap_or_default();
    for spec in others {
        load(spec).await;
    }
}

async fn stop_on_signal(stop: watch::Sender<bool>) {
    let interrupt = async {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    #[cfg(unix)]
    let terminate = async {
        use tokio::signal::unix::{SignalKind, signal};
        match signal(SignalKind::terminate()) {
            Ok(mut signal) => {
                signal.recv().await;
            }
            Err(_) => std::future::pending().await,
        }
    };
    #[cfg(not(unix))]
    let terminate = std::future::pending::<()>();
    tokio::select! {
        () = interrupt => {}
        () = terminate => {}
    }
    tracing::info!("ending");
    let _ = stop.send(true);
}

#[cfg(test)]
pub(crate) mod tests;
