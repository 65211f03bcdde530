//! Models for the operator: which there are, and loading one now.

use axum::Json;
use axum::extract::State;
use shared::api::operator::{HeldModel, LoadModel, Models};

use crate::error::{Error, off_thread};
use crate::http::App;
use crate::http::ask::Ask;

pub(super) async fn models(
    State(app): State<App>,
    Ask(Models {}): Ask<Models>,
) -> Result<Json<Vec<HeldModel>>, Error> {
    let models = app.models.clone();
    let held = off_thread("listing models", move || Ok(models.inventory())).await?;
    Ok(Json(held))
}

pub(super) async fn load(
    State(app): State<App>,
    Ask(asked): Ask<LoadModel>,
) -> Result<Json<HeldModel>, Error> {
    let models = app.models.clone();
    let held = off_thread("loading a model", move || models.load(&asked.spec)).await?;
    Ok(Json(held))
}
