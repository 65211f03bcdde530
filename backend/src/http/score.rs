//! A few texts at once, for the Playground.

use axum::Json;
use shared::api::people::Role;
use shared::api::{Attend, Attention, Score, Scored};
use shared::error::Error as InputError;

use crate::error::{Error, off_thread};
use crate::http::access::Caller;
use crate::http::api_call::{ApiCall, JsonResult};

/// What one request may hold.
pub(super) struct Bounds {
    pub(super) texts: u64,
    characters_of_query: u64,
    characters_of_text: u64,
}

impl Bounds {
    pub(super) fn of(caller: &Caller) -> Bounds {
        match caller.may(Role::Operator) {
            false => Bounds {
                texts: 8,
                characters_of_query: 500,
                characters_of_text: 4_000,
            },
            true => Bounds {
                texts: 256,
                characters_of_query: 10_000,
                characters_of_text: 100_000,
            },
        }
    }

    /// Of a ranking, which is computed batch by batch.
    pub(super) fn of_ranking(caller: &Caller) -> Bounds {
        match caller.may(Role::Operator) {
            false => Bounds::of(caller),
            true => Bounds {
                texts: 10_000,
                characters_of_query: 100_000,
                characters_of_text: 1_000_000,
            },
        }
    }

    pub(super) fn check(&self, query: &str, texts: &[String]) -> Result<(), Error> {
        let at_most = |what, found, most| match found {
            _ if found > most => Err(Error::TooLarge { what, found, most }),
            _ => Ok(()),
        };
        let characters = |text: &str| text.chars().count() as u64;
        let longest = texts.iter().map(|it| characters(it)).max().unwrap_or(0);
        at_most("texts", texts.len() as u64, self.texts)?;
        at_most(
            "characters of a query",
            characters(query),
            self.characters_of_query,
        )?;
        at_most("characters of a text", longest, self.characters_of_text)?;
        if texts.is_empty() {
            return Err(InputError::missing(
                "texts",
                "there is none, so there is nothing to score",
            )
            .into());
        }
        Ok(())
    }
}

pub(super) async fn score(ApiCall { app, caller, asked }: ApiCall<Score>) -> JsonResult<Scored> {
    Bounds::of(&caller).check(&asked.query, &asked.texts)?;
    let place = app.limits.heavy().await;
    let models = app.models.clone();
    let scored = off_thread("scoring", move || {
        let _place = place;
        let ranker = models.get(&asked.ranker)?;
        let said = ranker.say(&asked.query, &asked.texts)?;
        Ok(Scored {
            ranker: ranker.about.clone(),
            scores: said.iter().map(|it| it.score).collect(),
            truncated: said.iter().map(|it| it.truncated).collect(),
            matches: said.into_iter().filter_map(|it| it.matches).collect(),
        })
    })
    .await?;
    metrics::counter!("axioscope_pairs_scored_total").increment(scored.scores.len() as u64);
    Ok(Json(scored))
}

pub(super) async fn attention(
    ApiCall { app, caller, asked }: ApiCall<Attend>,
) -> JsonResult<Attention> {
    Bounds::of(&caller).check(&asked.query, std::slice::from_ref(&asked.text))?;
    let place = app.limits.heavy().await;
    let models = app.models.clone();
    let found = off_thread("reading attention", move || {
        let _place = place;
        models.get(&asked.ranker)?.attention(&asked)
    });
    Ok(Json(found.await?))
}
