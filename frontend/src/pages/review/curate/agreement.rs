//! How far people agree: over all, by probe, by pair, by person.

use leptos::prelude::*;
use shared::annotation::tables;
use shared::api::annotation::{AgreementResponse, GetAgreementRequest};
use shared::plot;

use super::state::{CurationState, person_name};
use crate::api;
use crate::routes::PageRoute;
use crate::widgets::figure_section::{FigureSection, InteractiveFigure};
use crate::widgets::resource_view::ResourceView;

/// The part of the page.
#[component]
pub(super) fn Agreement(desk: CurationState) -> impl IntoView {
    let task = desk.task;
    let answer = api::fetch(move || GetAgreementRequest { task });
    let shown = |found: AgreementResponse| view! { <AgreementTables found/> }.into_any();
    view! { <ResourceView answer until="Counting agreement" shown/> }
}

#[component]
fn AgreementTables(found: AgreementResponse) -> impl IntoView {
    let AgreementResponse {
        agreement: agreements,
        names,
    } = found;
    if agreements.overall.observed.is_none() {
        return view! {
            <p class="ahead">
                "No item has two answers yet. Agreement is counted as soon as two people have
                decided on the same item."
            </p>
        }
        .into_any();
    }
    let tables = tables::agreement_tables(&agreements, &|it| person_name(&names, it));
    let table = |name: &str| tables.iter().find(|it| it.name == name).cloned();
    let about = format!("{}#reviewing", PageRoute::About.href());
    view! {
        <FigureSection
            of="review-"
            id="agreement"
            name="How far people agree"
            said="Raw agreement, and three coefficients that take chance out of it."
            drawing=Some(InteractiveFigure::static_figure(plot::annotation::draw_agreement(&agreements)))
            table=table("agreement")
        />
        <p class="note"><a href=about>"What these numbers are"</a></p>
        <FigureSection
            of="review-"
            id="pairs"
            name="Each two people"
            said="Over the items on which both decided."
            table=table("pairs")
        />
        <FigureSection
            of="review-"
            id="people"
            name="Each person and all others"
            said="How often the others say the same, and α as if the person were not there."
            table=table("people")
        />
    }
    .into_any()
}
