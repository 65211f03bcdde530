//! Studies: their list, one for a state of its dials, its instances, its whole.

mod shelf;

use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use shared::api::people::Role;
use shared::api::{
    Behave, CollectionStats, Differ, DifferQueries, DifferQuery, Draw, Export, Inside, InsideQuery,
    List, Look, Replay, Show, Statistics, Studies,
};
use shared::differ::sample::Sample;
use shared::differ::{Differences, listing};
use shared::error::Error as Wrong;
use shared::report::Table;
use shared::study::behaviour::Behaviours;
use shared::study::cell::Page;
use shared::study::figures::Figures;
use shared::study::firsts::Firsts;
use shared::study::instance::Shown;
use shared::study::overview::{Card, Overview};
use shared::whitebox::WhiteBox;

use crate::error::{Error, off_thread};
use crate::http::App;
use crate::http::access::Caller;
use crate::http::ask::Ask;
use crate::pipeline;
use crate::store::studies::{Listed, whitebox};

pub(super) use shelf::Shelf;

pub(super) async fn list(
    State(app): State<App>,
    caller: Caller,
    Ask(Studies {}): Ask<Studies>,
) -> Result<Json<Vec<Card>>, Error> {
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

pub(super) async fn look(
    State(app): State<App>,
    caller: Caller,
    Ask(asked): Ask<Look>,
) -> Result<Json<Overview>, Error> {
    let listed = find(&app, &caller, &asked.study).await?;
    let _place = app.limits.heavy().await;
    Ok(Json(app.shelf.overview(&listed, asked.dials).await?))
}

pub(super) async fn figures(
    State(app): State<App>,
    caller: Caller,
    Ask(asked): Ask<Draw>,
) -> Result<Json<Figures>, Error> {
    let listed = find(&app, &caller, &asked.study).await?;
    let _place = app.limits.heavy().await;
    let drawn = app
        .shelf
        .of(&listed, move |study| Ok(study.figures(&asked.choice)?));
    Ok(Json(drawn.await?))
}

pub(super) async fn behaviours(
    State(app): State<App>,
    caller: Caller,
    Ask(asked): Ask<Behave>,
) -> Result<Json<Behaviours>, Error> {
    let listed = find(&app, &caller, &asked.study).await?;
    let _place = app.limits.heavy().await;
    let found = app
        .shelf
        .of(&listed, move |study| Ok(study.behaviours(&asked.asking)?));
    Ok(Json(found.await?))
}

pub(super) async fn inside(
    State(app): State<App>,
    caller: Caller,
    Ask(asked): Ask<Inside>,
) -> Result<Json<Vec<WhiteBox>>, Error> {
    let listed = find(&app, &caller, &asked.study).await?;
    let _place = app.limits.heavy().await;
    let folder = app.shelf.folder().clone();
    let load = move || whitebox::load(&folder, &listed.name);
    Ok(Json(
        off_thread("reading what was looked into", load).await?,
    ))
}

pub(super) async fn inside_query(
    State(app): State<App>,
    caller: Caller,
    Ask(asked): Ask<InsideQuery>,
) -> Result<Json<Firsts>, Error> {
    let listed = find(&app, &caller, &asked.study).await?;
    let _place = app.limits.heavy().await;
    let found = app.shelf.of(&listed, move |study| {
        Ok(study.firsts(asked.query, &asked.ranker)?)
    });
    Ok(Json(found.await?))
}

pub(super) async fn differ(
    State(app): State<App>,
    caller: Caller,
    Ask(asked): Ask<Differ>,
) -> Result<Json<Differences>, Error> {
    let listed = find(&app, &caller, &asked.study).await?;
    let _place = app.limits.heavy().await;
    let found = app
        .shelf
        .of(&listed, move |study| Ok(study.differ(&asked.asking)?));
    Ok(Json(found.await?))
}

pub(super) async fn differ_queries(
    State(app): State<App>,
    caller: Caller,
    Ask(asked): Ask<DifferQueries>,
) -> Result<Json<listing::Page>, Error> {
    let listed = find(&app, &caller, &asked.study).await?;
    let _place = app.limits.heavy().await;
    let found = app.shelf.of(&listed, move |study| {
        Ok(study.differ_queries(&asked.asking, &asked.listing)?)
    });
    Ok(Json(found.await?))
}

pub(super) async fn differ_query(
    State(app): State<App>,
    caller: Caller,
    Ask(asked): Ask<DifferQuery>,
) -> Result<Json<Sample>, Error> {
    let listed = find(&app, &caller, &asked.study).await?;
    let _place = app.limits.heavy().await;
    let found = app.shelf.of(&listed, move |study| {
        Ok(study.differ_query(&asked.asking, &asked.query)?)
    });
    Ok(Json(found.await?))
}

pub(super) async fn replay(
    State(app): State<App>,
    caller: Caller,
    Ask(asked): Ask<Replay>,
) -> Result<Json<Vec<Table>>, Error> {
    let listed = find(&app, &caller, &asked.study).await?;
    let _place = app.limits.heavy().await;
    let tables = app.shelf.of(&listed, move |study| {
        Ok(shared::replay::replay(asked.asked, Some(study))?)
    });
    Ok(Json(tables.await?))
}

pub(super) async fn instances(
    State(app): State<App>,
    caller: Caller,
    Ask(asked): Ask<List>,
) -> Result<Json<Page>, Error> {
    let listed = find(&app, &caller, &asked.study).await?;
    let _place = app.limits.heavy().await;
    let listing = asked.listing;
    Ok(Json(
        app.shelf
            .of(&listed, move |study| Ok(pipeline::list(study, &listing)?))
            .await?,
    ))
}

pub(super) async fn instance(
    State(app): State<App>,
    caller: Caller,
    Ask(asked): Ask<Show>,
) -> Result<Json<Shown>, Error> {
    let listed = find(&app, &caller, &asked.study).await?;
    let _place = app.limits.heavy().await;
    let Show {
        study: _,
        probe,
        mode,
        number,
        delta_score,
    } = asked;
    let shown = app.shelf.of(&listed, move |study| {
        Ok(study.show(probe, mode, number, delta_score)?)
    });
    Ok(Json(shown.await?))
}

pub(super) async fn export(
    State(app): State<App>,
    caller: Caller,
    Ask(asked): Ask<Export>,
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

pub(super) async fn statistics(
    State(app): State<App>,
    caller: Caller,
    Ask(asked): Ask<Statistics>,
) -> Result<Json<CollectionStats>, Error> {
    let listed = find(&app, &caller, &asked.study).await?;
    let statistics = app.shelf.of(&listed, |study| {
        Ok(CollectionStats {
            analyzer: study.definition.analyzer.clone(),
            totals: study.totals,
            terms: study.terms.clone(),
            words: study.words.clone(),
        })
    });
    Ok(Json(statistics.await?))
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
