//! The Reproductions page: the published tables next to ours, cell by cell, and the known defects.

use leptos::prelude::*;
use shared::api::worker::GetPublishedTableRequest;
use shared::api::{GetReproductionRequest, ListStudiesRequest};
use shared::report::ReportTable;
use shared::reproduce::{PaperTable, ReproduciblePaper};
use shared::study::overview::StudySummary;

use crate::api::{self, RequestError};
use crate::location::PageLocation;
use crate::routes::PageRoute;
use crate::widgets::form::SelectField;
use crate::widgets::report_table_section::ReportTableSection;
use crate::widgets::resource_view::{RequestErrorMessage, RequestReplyView};

/// The selected table and study.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ReproductionChoice {
    asked: PaperTable,
    /// The study with our values; none if they are not shown.
    study: Option<String>,
    /// Whether the study was chosen, or that there is none; otherwise it is the first one.
    is_explicit: bool,
}

/// Renders the Reproductions page, which compares published tables with the authors' code and with
/// ours.
#[component]
pub(crate) fn ReproductionsPage() -> impl IntoView {
    let choice = PageLocation::signal_following_query_string(choice_from_address);
    let studies = api::fetch_on_signal_change(|| ListStudiesRequest {});
    // Until a study is chosen, the first one fills our columns.
    Effect::new(move |_| {
        let first = studies.get().and_then(Result::ok);
        let first = first.and_then(|it| Some(it.first()?.name.clone()));
        if first.is_some() && choice.with(|it| it.study.is_none() && !it.is_explicit) {
            choice.update(|it| it.study = first);
        }
    });
    let replayed = LocalResource::new(move || {
        let ReproductionChoice { asked, study, .. } = choice.get();
        async move { fetch(asked, study).await }
    });
    let shown = |tables: Vec<ReportTable>| {
        let tables = tables
            .into_iter()
            .map(|table| view! { <ReportTableSection table/> });
        tables.collect_view().into_any()
    };
    view! {
        <h1>"Reproductions"</h1>
        <p class="lead">
            "The tables of five papers, cell by cell: the published value, the value of the \
             authors' code where known, and the value of a study, for each variant or for each \
             ranker compared with BM25. Where a published value is wrong, a pair of values \
             shows the error. For ABNIRML, whose tables are not available, the published values \
             come from the paper's text."
        </p>
        <Choices choice studies/>
        <RequestReplyView answer=replayed until="Computing" shown/>
    }
}

async fn fetch(asked: PaperTable, study: Option<String>) -> Result<Vec<ReportTable>, RequestError> {
    match study {
        Some(study) => {
            api::send_and_parse(&GetReproductionRequest {
                study,
                table: asked,
            })
            .await
        }
        None => api::send_and_parse(&GetPublishedTableRequest { table: asked }).await,
    }
}

/// Returns the choice in the address; the default is table 3 of Câmara & Hauff.
fn choice_from_address(address: &PageLocation) -> ReproductionChoice {
    let table = match PageRoute::parse(&address.path.get_untracked(), "") {
        Some(PageRoute::Reproductions { table }) => table,
        _ => None,
    };
    ReproductionChoice {
        asked: table.unwrap_or(PaperTable {
            paper: ReproduciblePaper::Camara2020,
            table: 3,
        }),
        is_explicit: address.query_parameter("study").is_some(),
        study: address.query_parameter("study").filter(|it| !it.is_empty()),
    }
}

fn set_choice(next: ReproductionChoice, choice: RwSignal<ReproductionChoice>) {
    let page = PageRoute::Reproductions {
        table: Some(next.asked),
    };
    // No study is a choice as well.
    let study = next.study.clone().unwrap_or_default();
    let study = next.is_explicit.then_some(("study", study));
    let href = page.href_with(study);
    if let Ok(history) = window().history() {
        let null = wasm_bindgen::JsValue::NULL;
        let _ = history.replace_state_with_url(&null, "", Some(&href));
    }
    choice.set(next);
}

#[component]
fn Choices(
    choice: RwSignal<ReproductionChoice>,
    studies: LocalResource<Result<Vec<StudySummary>, RequestError>>,
) -> impl IntoView {
    let tables = ReproduciblePaper::ALL.iter().flat_map(|&paper| {
        let tables = paper.reproducible_table_numbers().iter();
        tables.map(move |&table| PaperTable { paper, table })
    });
    let tables: Vec<PaperTable> = tables.collect();
    let options = tables.iter().enumerate().map(|(at, asked)| {
        let asked = *asked;
        let name = asked.reader_name();
        let selected = move || choice.with(|it| it.asked == asked);
        view! { <option value=at.to_string() selected=selected>{name}</option> }
    });
    let options = options.collect_view();
    let change = move |at: String| {
        let at: usize = at.parse().unwrap_or_default();
        if let Some(&asked) = tables.get(at) {
            let before = choice.get_untracked();
            set_choice(ReproductionChoice { asked, ..before }, choice);
        }
    };
    let of_studies = move || {
        let cards = studies.get().and_then(Result::ok).unwrap_or_default();
        let one = |card: StudySummary| {
            let name = card.name.clone();
            let selected = move || choice.with(|it| it.study.as_deref() == Some(name.as_str()));
            view! { <option value=card.name.clone() selected=selected>{card.title}</option> }
        };
        cards.into_iter().map(one).collect_view()
    };
    let none = move || choice.with(|it| it.study.is_none());
    view! {
        <form class="form choices" on:submit=|event| event.prevent_default()>
            <SelectField label="Table" choose=change>{options}</SelectField>
            <SelectField label="Compare with study" choose=move |name: String| {
                let study = Some(name).filter(|it| !it.is_empty());
                let next = ReproductionChoice {
                    study,
                    is_explicit: true,
                    ..choice.get_untracked()
                };
                set_choice(next, choice);
            }>
                <option value="" selected=none>"none"</option>
                {of_studies}
            </SelectField>
            <RequestErrorMessage answer=studies/>
        </form>
    }
}
