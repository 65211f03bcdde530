//! Endpoints for monitoring: health (does it score), readiness and metrics.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use axum::Json;
use axum::Router;
use axum::extract::{MatchedPath, Request, State};
use axum::http::header;
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use shared::api::Endpoint;
use shared::api::models::{GetModelHealthRequest, HealthCheckScore, HealthResponse};
use shared::index::Index;
use shared::rank::Bm25;
use shared::rank::max_score::TopKSearcher;
use shared::text::Analyzer;
use tokio::sync::Mutex;

use crate::error::{Error, run_blocking};
use crate::http::AppState;
use crate::http::access::{self, AccessLevel, OperatorEndpoints};
use crate::http::error;
use crate::models::{ModelRegistry, NeuralRanker};

/// Time during which the result of a health check is reused.
const FRESH: Duration = Duration::from_secs(5);

/// The path that tells whether the server takes requests.
pub(crate) const READY_PATH: &str = "/ready";

/// Time after which a health check without a score counts as failed.
const PATIENCE: Duration = Duration::from_secs(30);

/// Upper bounds of the histogram buckets, in seconds.
const BUCKETS: [f64; 11] = [
    0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 60.0,
];

/// The metrics of this process.
static METRICS: LazyLock<PrometheusHandle> = LazyLock::new(|| {
    PrometheusBuilder::new()
        .set_buckets(&BUCKETS)
        .and_then(PrometheusBuilder::install_recorder)
        .expect("there are buckets, and nobody else records")
});

pub(super) fn router(app: &AppState) -> Router<AppState> {
    LazyLock::force(&METRICS);
    let operator =
        middleware::from_fn_with_state((app.clone(), AccessLevel::Operator), access::authenticate);
    let metrics = match app.exposure.operator_endpoints {
        OperatorEndpoints::Here => get(metrics).route_layer(operator),
        OperatorEndpoints::OnOtherListener => get(error::path_not_found),
    };
    Router::new()
        .route(GetModelHealthRequest::PATH, get(health))
        .route(READY_PATH, get(ready))
        .route("/metrics", metrics)
}

/// The result of the last health check.
#[derive(Default)]
pub(super) struct HealthMonitor {
    last: Mutex<Option<(Instant, Found)>>,
    /// The first score of each model, with which later scores are compared.
    reference_scores: Arc<std::sync::Mutex<BTreeMap<String, f64>>>,
}

type Found = Result<Vec<HealthCheckScore>, String>;

/// Scores a pair with BM25 and with every loaded model, and returns the scores. Results are reused
/// for 5 s.
async fn health(State(app): State<AppState>) -> Response {
    let mut last = app.health.last.lock().await;
    let found = match &*last {
        Some((when, found)) if when.elapsed() < FRESH => found.clone(),
        _ => {
            let (models, first) = (app.models.clone(), app.health.reference_scores.clone());
            let checked = run_blocking("the check of health", move || Ok(check(&models, &first)));
            let found = match tokio::time::timeout(PATIENCE, checked).await {
                Ok(Ok(found)) => found,
                Ok(Err(error)) => Err(error.to_string()),
                Err(_) => Err(format!("no score after {} s", PATIENCE.as_secs())),
            };
            *last = Some((Instant::now(), found.clone()));
            found
        }
    };
    // A check that failed is a reason for an alert, not for sending visitors elsewhere, so `/ready`
    // does not depend on it.
    let found = found.and_then(|scored| match app.canary.problem() {
        None => Ok(scored),
        Some(problem) => Err(problem),
    });
    match found {
        Ok(scored) => Json(HealthResponse {
            status: "ok".to_owned(),
            scores: scored,
            checks_passed_ms: app.canary.last_report().map(|it| it.finished_ms),
        })
        .into_response(),
        Err(reason) => Error::Unhealthy { reason }.into_response(),
    }
}

fn check(models: &ModelRegistry, first: &std::sync::Mutex<BTreeMap<String, f64>>) -> Found {
    let mut scored = vec![bm25()?];
    for ranker in models.loaded_rankers() {
        // Short pairs may still fit into memory when the texts of a job do not.
        if let Some(reason) = ranker.out_of_memory_reason() {
            return Err(format!("{}: {reason}", ranker.about.spec));
        }
        let found = model(&ranker)?;
        let mut first = first.lock().map_err(|it| it.to_string())?;
        let before = *first.entry(found.ranker.clone()).or_insert(found.score);
        // Batch size and load change only the last digits.
        if (found.score - before).abs() > 1e-5 {
            let HealthCheckScore { ranker, score } = found;
            return Err(format!(
                "{ranker} gives {score} for a pair that it gave {before}"
            ));
        }
        scored.push(found);
    }
    match models.load_failures().first() {
        Some((spec, reason)) => Err(format!("model {spec} cannot be loaded: {reason}")),
        None => Ok(scored),
    }
}

/// Checks BM25 against a known score: tf 2 in 3 terms, 2 documents with 2 terms on average: ln 2 ·
/// 2 · 2.2 / (2 + 1.2 · 1.375).
fn bm25() -> Result<HealthCheckScore, String> {
    const EXPECTED: f64 = 0.835_574_68;
    let analyzer = Analyzer::default();
    let index = Index::build(&analyzer, ["river river meadow", "meadow"]);
    let index = index.map_err(|it| it.to_string())?;
    let searcher = TopKSearcher::for_lexical_ranker(&index, Bm25::DEFAULT.into());
    match searcher
        .search(&index, &index.query_term_statistics("river"), 1)
        .as_slice()
    {
        [hit] if hit.doc == 0 && (hit.score - EXPECTED).abs() < 1e-6 => Ok(HealthCheckScore {
            ranker: Bm25::DEFAULT.to_string(),
            score: hit.score,
        }),
        other => Err(format!(
            "BM25 gives {other:?} where it should give {EXPECTED}"
        )),
    }
}

fn model(ranker: &NeuralRanker) -> Result<HealthCheckScore, String> {
    let texts = ["A river flows into the sea.".to_owned()];
    let said = ranker
        .score_documents_in_detail("where do rivers end", &texts)
        .map_err(|it| it.to_string())?;
    match said.as_slice() {
        [said] if said.score.is_finite() => Ok(HealthCheckScore {
            ranker: ranker.about.spec.clone(),
            score: said.score,
        }),
        other => Err(format!("{} gives {other:?}", ranker.about.spec)),
    }
}

/// Returns an error if the server is stopping or cannot reach its database.
async fn ready(State(app): State<AppState>) -> Result<&'static str, Error> {
    if *app.shutdown.borrow() {
        return Err(Error::ServerBusy {
            what: "ending",
            retry_after_s: 30,
        });
    }
    app.store.check_connection().await?;
    Ok("ready\n")
}

async fn metrics(State(app): State<AppState>) -> Result<Response, Error> {
    let n_unfinished = app.jobs.n_unfinished_jobs().await?;
    metrics::gauge!("axioscope_jobs_unfinished").set(n_unfinished as f64);
    METRICS.run_upkeep();
    let text = (
        header::CONTENT_TYPE,
        "text/plain; version=0.0.4; charset=utf-8",
    );
    Ok(([text], METRICS.render()).into_response())
}

/// Counts and times every request by its route; URLs would make an unbounded number of labels.
pub(super) async fn record_metrics(request: Request, next: Next) -> Response {
    let path = request
        .extensions()
        .get::<MatchedPath>()
        .map(|it| it.as_str().to_owned());
    let path = path.unwrap_or_else(|| "pages".to_owned());
    let method = match request.method().as_str() {
        known @ ("GET" | "HEAD" | "POST") => known.to_owned(),
        _ => "other".to_owned(),
    };
    let since = Instant::now();
    let response = next.run(request).await;
    let status = response.status().as_str().to_owned();
    metrics::histogram!("axioscope_request_duration_seconds", "path" => path.clone())
        .record(since.elapsed().as_secs_f64());
    let labels = [("path", path), ("method", method), ("status", status)];
    metrics::counter!("axioscope_requests_total", &labels).increment(1);
    response
}
