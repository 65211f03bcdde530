//! A summary of the local study's results; the Study page has all of them.

use leptos::prelude::*;
use shared::api::GetStudyRequest;
use shared::api::worker::{LOCAL_STUDY, StudyInputPart, WorkerRequest};
use shared::compare::{RankerComparisonOptions, RankerRef};
use shared::report;
use shared::study::controls::StudyPageControls;
use shared::study::overview::StudyOverview;
use wasm_bindgen::JsValue;

use super::state::{StudyRunState, WorkbenchState};
use crate::api::{self, worker};
use crate::number_format;
use crate::pages::compare_address::CompareView;
use crate::routes::PageRoute;
use crate::widgets::download;
use crate::widgets::error_message::{LoadErrorMessage, OptionalErrorMessage};
use crate::widgets::section::Section;
use crate::widgets::variant::axiom_variant_label;

/// Renders the section with the results.
#[component]
pub(super) fn WorkbenchResultsSection(bench: WorkbenchState) -> impl IntoView {
    let look = LocalResource::new(move || {
        let made = bench.study.get();
        async move {
            let made = made?;
            let request = GetStudyRequest {
                study: LOCAL_STUDY.to_owned(),
                controls: StudyPageControls::default(),
            };
            Some((made, api::send_and_parse(&request).await))
        }
    });
    let body = move || match (bench.study.get(), look.get().flatten()) {
        (None, _) => view! { <p class="note">"Results appear here."</p> }.into_any(),
        (Some(made), Some((of, reply))) if made == of => match reply {
            Err(error) => {
                let again = Callback::new(move |()| look.refetch());
                view! { <LoadErrorMessage error retry=again/> }.into_any()
            }
            Ok(overview) => view! { <FractionTable overview/> }.into_any(),
        },
        // The reply is still that of the previous study.
        (Some(_), _) => view! { <div class="cell loading"></div> }.into_any(),
    };
    let is_running = Memo::new(move |_| {
        bench
            .run
            .with(|it| matches!(it, StudyRunState::Running { .. }))
    });
    let is_previous = move || is_running.get() && bench.study.with(Option::is_some);
    let is_outdated = move || {
        let settings = bench.settings.get();
        bench.created_with.get().is_some_and(|it| it != settings)
    };
    let previous = move || {
        let said = match (
            is_previous(),
            bench.study.with(Option::is_some) && is_outdated(),
        ) {
            (true, _) => "Results of the previous study.",
            (false, true) => "The settings have changed since. Create the study again to use them.",
            (false, false) => return None,
        };
        Some(view! { <p class="note" role="status">{said}</p> })
    };
    let summary = move || {
        bench.study.get().map(|it| {
            format!(
                "{} in all variants, over {}, {}",
                number_format::format_count_with_noun(it.n_instances, "instance", "instances"),
                number_format::format_count_with_noun(it.n_queries, "query", "queries"),
                number_format::format_count_with_noun(it.n_docs, "document", "documents"),
            )
        })
    };
    let ways = move || bench.study.get().map(|_| view! { <StudyLinks/> });
    let runs = move || compare_runs_href(bench).map(|href| view! { <Runs href/> });
    let remarks = move || {
        let remarks = bench.study.get().map(|it| it.warnings).unwrap_or_default();
        remarks
            .into_iter()
            .map(|it| view! { <li>{it}</li> })
            .collect_view()
    };
    let header = move || view! { <p class="note">{summary}</p> };
    view! {
        <Section id="results" name="Results" header>
            {previous}
            <div class:stale=is_previous aria-busy=move || is_previous().to_string()>
                {body}
                {remarks}
                {ways}
            </div>
            {runs}
        </Section>
    }
}

/// Returns the address of the comparison of two runs; none unless the runs, documents and queries
/// have been read.
fn compare_runs_href(bench: WorkbenchState) -> Option<String> {
    let of = |part| bench.names_of_files(part);
    if of(StudyInputPart::Documents).is_empty() || of(StudyInputPart::Queries).is_empty() {
        return None;
    }
    let runs = of(StudyInputPart::Run);
    let [first, second] = [runs.first()?, runs.get(1)?].map(|it| RankerRef::Run(it.clone()));
    let view = CompareView {
        comparison: RankerComparisonOptions {
            rankers: [first, second],
            ..RankerComparisonOptions::default()
        },
        ..CompareView::default()
    };
    Some(view.href(LOCAL_STUDY))
}

#[component]
fn Runs(href: String) -> impl IntoView {
    view! {
        <div class="btns">
            <a class="btn" href=href>"Compare runs"</a>
            <span class="note">"Computed in this page; no study is needed."</span>
        </div>
    }
}

/// Renders the links to the page and the download of the study.
#[component]
fn StudyLinks() -> impl IntoView {
    let failed = RwSignal::new(None::<api::RequestError>);
    let export = move |_| {
        leptos::task::spawn_local(async move {
            match worker::run_worker_task(WorkerRequest::ExportStudy, &JsValue::UNDEFINED).await {
                Ok(it) => download::offer_blob_download("study.json", &it.attachment),
                Err(error) => failed.set(Some(error)),
            }
        });
    };
    let href = PageRoute::Study {
        study: LOCAL_STUDY.to_owned(),
    }
    .href();
    view! {
        <div class="btns">
            <a class="btn main" href=href>"Open the study"</a>
            <button class="btn" type="button" on:click=export>"Download study (JSON)"</button>
            <span class="note">
                "Stored in this browser until you create another study or clear the Workbench."
            </span>
        </div>
        <OptionalErrorMessage error=failed/>
    }
}

/// Renders the table of fractions satisfied, with a row for each ranker and a column for each
/// axiom.
#[component]
fn FractionTable(overview: StudyOverview) -> impl IntoView {
    let heads = overview.columns.iter().map(|it| {
        view! { <th scope="col" class="num">{it.probe.name()}</th> }
    });
    let heads = heads.collect_view();
    let rows = overview.rows.iter().map(|row| {
        let cells = row.cells.iter().map(|cell| match cell {
            Some(cell) => {
                let [low, high] = cell.micro_average.interval;
                let title = format!(
                    "95 % interval {}",
                    number_format::format_fraction_interval(low, high)
                );
                let step =
                    number_format::fraction_to_color_step(cell.micro_average.value).to_string();
                let value = number_format::format_two_digit_fraction(cell.micro_average.value);
                view! {
                    <td class="num" title=title>
                        <span class="chip" data-step=step>{value}</span>
                    </td>
                }
                .into_any()
            }
            None => view! { <td class="num">"–"</td> }.into_any(),
        });
        let cells = cells.collect_view();
        view! {
            <tr>
                <th scope="row">
                    {row.ranker.label.clone()} " "
                    <span class="label">{row.ranker.detail.clone()}</span>
                </th>
                {cells}
            </tr>
        }
    });
    let rows = rows.collect_view();
    let counts = overview.columns.iter().map(|it| {
        view! { <td class="num label">{number_format::format_count(it.n_instances)}</td> }
    });
    let counts = counts.collect_view();
    let finding = report::most_violated_axioms_finding(&overview)
        .map(|it| view! { <p class="finding">{it}</p> });
    let total = format!("Instances, {}", axiom_variant_label(overview.variant));
    let remarks = overview
        .remarks
        .iter()
        .cloned()
        .map(|it| view! { <li>{it}</li> });
    let remarks = (!overview.remarks.is_empty())
        .then(|| view! { <ul class="ahead">{remarks.collect_view()}</ul> });
    view! {
        {finding}
        <div class="scrolls" role="group" tabindex="0" aria-label="Fraction satisfied">
            <table class="short">
                <caption class="unseen">"Fraction satisfied"</caption>
                <thead><tr><th scope="col">"Fraction satisfied"</th> {heads}</tr></thead>
                <tbody>
                    {rows}
                    <tr class="total"><th scope="row">{total}</th> {counts}</tr>
                </tbody>
            </table>
        </div>
        <ul class="note">{remarks}</ul>
    }
}
