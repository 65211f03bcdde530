//! What this server is and can do.

use axum::Json;
use axum::extract::State;
use shared::api::people::Role;
use shared::api::{About, Server};

use crate::error::{Error, off_thread};
use crate::http::access::Caller;
use crate::http::ask::Ask;
use crate::http::{App, score};

/// A model that cannot be loaded is left out here; `/health` says what is wrong with it.
pub(super) async fn about(
    State(app): State<App>,
    caller: Caller,
    Ask(About {}): Ask<About>,
) -> Result<Json<Server>, Error> {
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
