//! Endpoints for operators: listing models and loading one.

use axum::Json;
use shared::api::models::{ListModelsRequest, LoadModelRequest, ModelStatus};

use crate::error::run_blocking;
use crate::http::api_request::{ApiRequest, JsonResult};

pub(super) async fn list_models(
    ApiRequest(app, _, _): ApiRequest<ListModelsRequest>,
) -> JsonResult<Vec<ModelStatus>> {
    let models = app.models.clone();
    let held = run_blocking("listing models", move || Ok(models.list_model_statuses())).await?;
    Ok(Json(held))
}

pub(super) async fn load_model(
    ApiRequest(app, _, asked): ApiRequest<LoadModelRequest>,
) -> JsonResult<ModelStatus> {
    let models = app.models.clone();
    let held = run_blocking("loading a model", move || {
        models.load_and_return_status(&asked.model)
    })
    .await?;
    Ok(Json(held))
}
