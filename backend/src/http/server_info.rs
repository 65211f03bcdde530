//! The endpoint with the version and the capabilities of the server.

use axum::Json;
use shared::api::people::AccessRole;
use shared::api::{GetServerInfoRequest, ServerInfoResponse};

use crate::error::run_blocking;
use crate::http::access::OperatorEndpoints;
use crate::http::api_request::{ApiRequest, JsonResult};
use crate::http::score;

/// Returns the version and the available rankers. Models that cannot be loaded are left out;
/// `/health` reports their errors.
pub(super) async fn get_server_info(
    ApiRequest(app, caller, _): ApiRequest<GetServerInfoRequest>,
) -> JsonResult<ServerInfoResponse> {
    let models = app.models.clone();
    let models = run_blocking("loading models", move || {
        Ok(models
            .ranker_specs()
            .iter()
            .filter_map(|it| Some(models.get_or_load_ranker(it).ok()?.about.clone()))
            .collect())
    })
    .await?;
    let is_operator = caller.has_role(AccessRole::Operator);
    let has_operator_page = app.exposure.operator_endpoints == OperatorEndpoints::Here;
    let site_checks = app.canary.last_report().map(|mut report| {
        for it in report.failures.iter_mut().filter(|_| !is_operator) {
            it.detail = None;
        }
        report
    });
    Ok(Json(ServerInfoResponse {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        models,
        can_create_jobs: is_operator && has_operator_page,
        max_documents: score::ScoringLimits::for_caller(&caller).texts,
        site_checks,
        has_operator_page,
    }))
}
