//! The agreement of the annotators: overall, and by probe, pair of annotators and annotator.

use leptos::prelude::*;
use shared::annotation::tables;
use shared::api::annotation::{AgreementResponse, GetAgreementRequest};
use shared::plot;

use super::state::{CurationPageState, person_display_name};
use crate::api;
use crate::routes::PageRoute;
use crate::widgets::figure_section::{ExportableFigureSection, FigureWithSelection};
use crate::widgets::resource_view::RequestReplyView;

/// Renders the tab with the agreement of the annotators.
#[component]
pub(super) fn AgreementTab(desk: CurationPageState) -> impl IntoView {
    let task = desk.task;
    let answer = api::fetch_on_signal_change(move || GetAgreementRequest { task });
    let shown = |found: AgreementResponse| view! { <AgreementTables found/> }.into_any();
    view! { <RequestReplyView answer until="Computing agreement" shown/> }
}

#[component]
fn AgreementTables(found: AgreementResponse) -> impl IntoView {
    let AgreementResponse {
        agreement: agreements,
        annotators: names,
    } = found;
    if agreements.overall.observed.is_none() {
        return view! {
            <p class="ahead">
                "No item has two answers yet. Agreement appears once two annotators have \
                 answered the same item."
            </p>
        }
        .into_any();
    }
    let tables =
        tables::annotator_agreement_tables(&agreements, &|it| person_display_name(&names, it));
    let table = |name: &str| tables.iter().find(|it| it.name == name).cloned();
    let about = format!("{}#reviewing", PageRoute::About.href());
    view! {
        <ExportableFigureSection
            of="annotation-"
            id="agreement"
            name="Inter-annotator agreement"
            said="Raw agreement and three chance-corrected coefficients."
            drawing=Some(FigureWithSelection::without_selection(
                plot::annotation::draw_agreement_coefficients(&agreements),
            ))
            table=table("agreement")
        />
        <p class="note"><a href=about>"What these coefficients mean"</a></p>
        <ExportableFigureSection
            of="annotation-"
            id="pairs"
            name="Pairs of annotators"
            said="Over the items that both annotated."
            table=table("pairs")
        />
        <ExportableFigureSection
            of="annotation-"
            id="people"
            name="Each annotator against the others"
            said="How often other annotators give the same answer, and α without this annotator."
            table=table("people")
        />
    }
    .into_any()
}
