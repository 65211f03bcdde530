//! How far people agree: over all, by probe, by pair, by person.

use leptos::prelude::*;
use shared::api::review::{Agreed, AskAgreement};
use shared::plot;
use shared::review::tables;

use super::desk::{Desk, called};
use crate::api;
use crate::page::Page;
use crate::widgets::answered::Answered;
use crate::widgets::part::{Drawn, Part};

/// The part of the page.
#[component]
pub(super) fn Agreement(desk: Desk) -> impl IntoView {
    let task = desk.task;
    let answer = api::fetch(move || AskAgreement { task });
    let shown = |found: Agreed| view! { <Shown found/> }.into_any();
    view! { <Answered answer until="Counting agreement" shown/> }
}

#[component]
fn Shown(found: Agreed) -> impl IntoView {
    let Agreed { agreements, names } = found;
    if agreements.overall.raw.is_none() {
        return view! {
            <p class="ahead">
                "No item has two answers yet. Agreement is counted as soon as two people have
                decided on the same item."
            </p>
        }
        .into_any();
    }
    let tables = tables::of_agreement(&agreements, &|it| called(&names, it));
    let table = |name: &str| tables.iter().find(|it| it.name == name).cloned();
    let about = format!("{}#reviewing", Page::About.href());
    view! {
        <Part
            of="review-"
            id="agreement"
            name="How far people agree"
            said="Raw agreement, and three coefficients that take chance out of it."
            drawing=Some(Drawn::still(plot::review::agreement(&agreements)))
            table=table("agreement")
        />
        <p class="note"><a href=about>"What these numbers are"</a></p>
        <Part
            of="review-"
            id="pairs"
            name="Each two people"
            said="Over the items on which both decided."
            table=table("pairs")
        />
        <Part
            of="review-"
            id="people"
            name="Each person and all others"
            said="How often the others say the same, and α as if the person were not there."
            table=table("people")
        />
    }
    .into_any()
}
