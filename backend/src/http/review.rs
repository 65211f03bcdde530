//! Review for those who decide: tasks, items, events; and what everybody sees of it.
//!
//! Nothing here tells what another person decided, what an item is there for, or how likely it was
//! to be drawn.

pub(super) mod curate;

use std::sync::Arc;

use axum::Json;
use shared::api::people::Role;
use shared::api::review::{
    Again, Card, Done, Handed, HandedItem, MOST_EVENTS, MOST_OFFERS, Mine, NextItems, OneTask,
    Results, Send, Sent, Sheet, State as Stage, Taken, TaskNo, TaskResults, Tasks,
};
use shared::error::{Error as InputError, FieldError};
use shared::review::content::Content;
use shared::review::event::Actor;
use shared::review::queue::{Offer, Part};
use shared::review::{ItemNo, Sides};

use crate::error::Error;
use crate::http::App;
use crate::http::access::Caller;
use crate::http::api_call::{ApiCall, JsonResult};
use crate::http::studies::find;
use crate::review::desk::Desk;
use crate::review::{Sender, check_current, check_open, check_texts};
use crate::store::reviews::unknown;
use crate::store::studies::Listed;

pub(super) async fn tasks(ApiCall { app, caller, .. }: ApiCall<Tasks>) -> JsonResult<Vec<Card>> {
    if !caller.may(Role::Annotator) {
        return Ok(Json(Vec::new()));
    }
    let mut desks = app.reviews.all().await?;
    desks.retain(|it| may_see(&caller, it));
    let person = caller.person_no();
    Ok(Json(desks.iter().map(|it| it.card(person)).collect()))
}

pub(super) async fn task(ApiCall { app, caller, asked }: ApiCall<OneTask>) -> JsonResult<Sheet> {
    let person = Some(caller.named()?.no);
    let desk = seen(&app, &caller, asked.task).await?;
    let task = &desk.row().task;
    Ok(Json(Sheet {
        card: desk.card(person),
        guidelines: task.guidelines.clone(),
        tags: task.tags.clone(),
        blind: task.blind,
        n_items: desk.items().len() as u32,
        n_training: desk.n_training(person),
    }))
}

pub(super) async fn next(ApiCall { app, caller, asked }: ApiCall<NextItems>) -> JsonResult<Handed> {
    let person = caller.named()?.no;
    let (value, range) = (asked.n, 1..=MOST_OFFERS);
    if !range.contains(&value) {
        return Err(FieldError::NotWithin { value, range }.of("n").into());
    }
    let desk = seen(&app, &caller, asked.task).await?;
    let listed = app.store.study(&desk.row().task.study).await?;
    check_open(&desk, &listed)?;
    let promised = app.reviews.next(&desk, person, asked.n as usize).await?;
    let numbers: Vec<ItemNo> = promised.offers.iter().map(|it| it.item).collect();
    let words = words(&app, &listed, &desk, &numbers).await?;
    let offers = promised.offers.into_iter().zip(promised.leases);
    let items = offers.zip(words).map(|((offer, lease), words)| HandedItem {
        feedback: desk.items()[offer.item.0 as usize].feedback(),
        offer,
        content: (*words).clone(),
        until_ms: Some(lease.until_ms),
    });
    Ok(Json(Handed {
        items: items.collect(),
        n_leased: promised.n_leased,
        standing: promised.standing,
    }))
}

pub(super) async fn again(
    ApiCall { app, caller, asked }: ApiCall<Again>,
) -> JsonResult<HandedItem> {
    let person = caller.named()?.no;
    let desk = seen(&app, &caller, asked.task).await?;
    let number = asked.item;
    let finished = desk.is_finished(person, number);
    let until_ms = desk.promised_until(person, number);
    if !finished && until_ms.is_none() && !caller.may(Role::Curator) {
        return Err(InputError::unknown("item of this task that is yours", number.0).into());
    }
    let item = desk.item(number)?;
    let row = desk.row();
    let listed = app.store.study(&row.task.study).await?;
    check_current(&desk, &listed)?;
    let mut words = words(&app, &listed, &desk, &[number]).await?;
    let words = words.pop().expect("one was asked for");
    let feedback = item.feedback();
    Ok(Json(HandedItem {
        offer: Offer {
            item: number,
            sides: Sides::of(row.task.seed, person, number, item.place.claim()),
            part: match feedback {
                Some(_) => Part::Training,
                None => Part::Work,
            },
        },
        content: (*words).clone(),
        until_ms: until_ms.filter(|_| !finished),
        feedback,
    }))
}

pub(super) async fn mine(ApiCall { app, caller, asked }: ApiCall<Mine>) -> JsonResult<Vec<Done>> {
    let person = caller.named()?.no;
    let desk = seen(&app, &caller, asked.task).await?;
    Ok(Json(desk.mine(person)))
}

pub(super) async fn send(ApiCall { app, caller, asked }: ApiCall<Send>) -> JsonResult<Sent> {
    let person = caller.named()?.no;
    let n_events = asked.events.len();
    if n_events == 0 {
        return Err(InputError::missing("events", "send at least one").into());
    }
    if n_events > MOST_EVENTS {
        return Err(Error::TooLarge {
            what: "events",
            found: n_events as u64,
            most: MOST_EVENTS as u64,
        });
    }
    let desk = seen(&app, &caller, asked.task).await?;
    if desk.row().state == Stage::Draft {
        let reason = "this task is a draft; open it before anybody decides".to_owned();
        return Err(Error::Conflict { reason });
    }
    let sender = Sender {
        person,
        actor: match caller.may(Role::Curator) {
            true => Actor::Curator,
            false => Actor::Annotator,
        },
    };
    let keys: Vec<_> = asked.events.iter().map(|it| it.key).collect();
    let outcomes = app.reviews.send(&desk, sender, asked.events).await?;
    let taken = keys.into_iter().zip(outcomes);
    Ok(Json(Sent {
        taken: taken.map(|(key, outcome)| Taken { key, outcome }).collect(),
        standing: desk.standing(Some(person)),
    }))
}

pub(super) async fn results(
    ApiCall { app, caller, asked }: ApiCall<Results>,
) -> JsonResult<Vec<TaskResults>> {
    let listed = find(&app, &caller, &asked.study).await?;
    let mut desks = app.reviews.all().await?;
    desks.retain(|it| {
        let row = it.row();
        let told = row.results_public || caller.may(Role::Curator);
        row.task.study == asked.study && row.state != Stage::Draft && told
    });
    let _place = app.limits.heavy().await;
    let mut results = Vec::new();
    for desk in desks {
        let study = app.shelf.study(&listed);
        results.push(app.reviews.results(&desk, &listed, study).await?);
    }
    Ok(Json(results))
}

/// A task that is not for the caller's eyes is not there.
async fn seen(app: &App, caller: &Caller, task: TaskNo) -> Result<Arc<Desk>, Error> {
    let desk = app.reviews.desk(task).await?;
    match may_see(caller, &desk) {
        true => Ok(desk),
        false => Err(unknown(task)),
    }
}

fn may_see(caller: &Caller, desk: &Desk) -> bool {
    match desk.row().state {
        Stage::Draft => caller.may(Role::Curator),
        Stage::Open | Stage::Closed => caller.may(Role::Annotator),
    }
}

/// What people read of items. What nobody has asked for yet is taken from the study.
async fn words(
    app: &App,
    listed: &Listed,
    desk: &Arc<Desk>,
    items: &[ItemNo],
) -> Result<Vec<Arc<Content>>, Error> {
    let revision = listed.revision;
    let mut found: Vec<_> = items.iter().map(|it| desk.words(revision, *it)).collect();
    let unknown = items.iter().zip(&found).filter(|it| it.1.is_none());
    let unknown: Vec<ItemNo> = unknown.map(|it| *it.0).collect();
    if !unknown.is_empty() {
        let asked = desk.clone();
        let made = app.shelf.of(listed, move |study| {
            let row = asked.row();
            check_texts(&row, study)?;
            let dials = &row.task.wanted.dials;
            let content = |number: ItemNo| {
                let place = asked.item(number)?.place;
                let made = Content::of(study, place, row.task.shows(), dials)?;
                Ok::<_, Error>((number, Arc::new(made)))
            };
            unknown
                .into_iter()
                .map(content)
                .collect::<Result<Vec<_>, _>>()
        });
        let made = made.await?;
        let mut fresh = made.iter();
        for missing in found.iter_mut().filter(|it| it.is_none()) {
            *missing = fresh.next().map(|it| it.1.clone());
        }
        desk.keep_words(revision, made);
    }
    Ok(found.into_iter().flatten().collect())
}
