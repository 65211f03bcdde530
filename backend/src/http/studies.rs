//! Studies: their list, one for a state of its dials, its instances, its whole.

mod shelf;

use axum::Json;
use axum::http::header;
use axum::response::IntoResponse;
use shared::api::people::Role;
use shared::api::study_request::StudyRequest;
use shared::api::{Export, Inside, List, Look, Studies};
use shared::error::Error as Wrong;
use shared::study::cell::Page;
use shared::study::overview::{Card, Overview};
use shared::whitebox::WhiteBox;

use crate::error::{Error, off_thread};
use crate::http::App;
use crate::http::access::Caller;
use crate::http::api_call::{ApiCall, JsonResult};
use crate::pipeline;
use crate::store::studies::{Listed, whitebox};

pub(super) use shelf::Shelf;

pub(super) async fn list(ApiCall { app, caller, .. }: ApiCall<Studies>) -> JsonResult<Vec<Card>> {
    let mut cards = Vec::new();
    for listed in app.store.studies().await? {
        if !may_see(&caller, &listed) {
            continue;
        }
        match app.shelf.card(&listed).await {
            Ok(card) => cards.push(card),
            // One damaged study does not hide the others.
            Err(error) => tracing::error!("study {}: {error}", listed.name),
        }
    }
    Ok(Json(cards))
}

/// The overview of a state of the dials is cached.
pub(super) async fn look(ApiCall { app, caller, asked }: ApiCall<Look>) -> JsonResult<Overview> {
    let listed = find(&app, &caller, &asked.study).await?;
    let _place = app.limits.heavy().await;
    Ok(Json(app.shelf.overview(&listed, asked.dials).await?))
}

/// Answers a request from one study alone.
pub(super) async fn respond<R: StudyRequest>(
    ApiCall { app, caller, asked }: ApiCall<R>,
) -> JsonResult<R::Reply> {
    let listed = find(&app, &caller, asked.study()).await?;
    let _place = app.limits.heavy().await;
    let reply = app
        .shelf
        .of(&listed, move |study| Ok(asked.respond(study)?));
    Ok(Json(reply.await?))
}

/// What was looked into lies beside the study.
pub(super) async fn inside(
    ApiCall { app, caller, asked }: ApiCall<Inside>,
) -> JsonResult<Vec<WhiteBox>> {
    let listed = find(&app, &caller, &asked.study).await?;
    let _place = app.limits.heavy().await;
    let folder = app.shelf.folder().clone();
    let load = move || whitebox::load(&folder, &listed.name);
    Ok(Json(
        off_thread("reading what was looked into", load).await?,
    ))
}

/// One page of instances is counted on all cores.
pub(super) async fn instances(ApiCall { app, caller, asked }: ApiCall<List>) -> JsonResult<Page> {
    let listed = find(&app, &caller, &asked.study).await?;
    let _place = app.limits.heavy().await;
    let listing = asked.listing;
    Ok(Json(
        app.shelf
            .of(&listed, move |study| Ok(pipeline::list(study, &listing)?))
            .await?,
    ))
}

/// The study is written as it is in memory.
pub(super) async fn export(
    ApiCall { app, caller, asked }: ApiCall<Export>,
) -> Result<impl IntoResponse + use<>, Error> {
    let listed = find(&app, &caller, &asked.study).await?;
    let _place = app.limits.heavy().await;
    let json = app.shelf.of(&listed, |study| {
        let broken = |it: serde_json::Error| Error::Damaged {
            what: format!("study {}", study.definition.name),
            reason: it.to_string(),
        };
        serde_json::to_vec(study).map_err(broken)
    });
    Ok(([(header::CONTENT_TYPE, "application/json")], json.await?))
}

/// A study that is not for the caller's eyes is not there.
pub(super) async fn find(app: &App, caller: &Caller, name: &str) -> Result<Listed, Error> {
    let listed = app.store.study(name).await?;
    if !may_see(caller, &listed) {
        return Err(Wrong::unknown("study", name).into());
    }
    Ok(listed)
}

/// Curators make tasks from studies that are not published yet.
pub(super) fn may_see(caller: &Caller, listed: &Listed) -> bool {
    listed.published || caller.may(Role::Curator)
}
