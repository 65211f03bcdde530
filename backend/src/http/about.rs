//! What this server is and can do.

use axum::Json;
use shared::api::people::Role;
use shared::api::{About, Server};

use crate::error::off_thread;
use crate::http::api_call::{ApiCall, JsonResult};
use crate::http::score;

/// A model that cannot be loaded is left out here; `/health` says what is wrong with it.
pub(super) async fn about(ApiCall { app, caller, .. }: ApiCall<About>) -> JsonResult<Server> {
    let models = app.models.clone();
    let models = off_thread("loading models", move || {
        Ok(models
            .specs()
            .iter()
            .filter_map(|it| Some(models.get(it).ok()?.about.clone()))
            .collect())
    })
    .await?;
    Ok(Json(Server {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        models,
        may_create_jobs: caller.may(Role::Operator),
        max_texts: score::Bounds::of(&caller).texts,
    }))
}
