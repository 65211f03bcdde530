//! The endpoint with the version and the capabilities of the server.

use axum::Json;
use shared::api::people::AccessRole;
use shared::api::{GetServerInfoRequest, ServerInfoResponse};

use crate::error::run_blocking;
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
    Ok(Json(ServerInfoResponse {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        models,
        can_create_jobs: caller.has_role(AccessRole::Operator),
        max_documents: score::ScoringLimits::for_caller(&caller).texts,
    }))
}
