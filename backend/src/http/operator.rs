//! Models for the operator: which there are, and loading one now.

use axum::Json;
use shared::api::operator::{HeldModel, LoadModel, Models};

use crate::error::off_thread;
use crate::http::api_call::{ApiCall, JsonResult};

pub(super) async fn models(ApiCall { app, .. }: ApiCall<Models>) -> JsonResult<Vec<HeldModel>> {
    let models = app.models.clone();
    let held = off_thread("listing models", move || Ok(models.inventory())).await?;
    Ok(Json(held))
}

pub(super) async fn load(ApiCall { app, asked, .. }: ApiCall<LoadModel>) -> JsonResult<HeldModel> {
    let models = app.models.clone();
    let held = off_thread("loading a model", move || models.load(&asked.spec)).await?;
    Ok(Json(held))
}
