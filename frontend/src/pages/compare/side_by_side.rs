//! The top documents of both rankers side by side, with the query's tokens highlighted.

use std::sync::Arc;

use leptos::prelude::*;
use shared::api::GetComparedQueryRequest;
use shared::compare::RankerComparison;
use shared::compare::compared_query::{ComparedDocument, ComparedQueryWithTopDocuments};
use shared::report::{self, format};
use shared::study::instance_details::QueryTermInfo;

use crate::api;
use crate::pages::compare_address::ComparePageState;
use crate::widgets::download;
use crate::widgets::error_message::LoadErrorMessage;
use crate::widgets::export_buttons::FigureExportButtons;
use crate::widgets::highlighted_text::HighlightedTextView;
use crate::widgets::section::Section;

/// Renders the query in the address, or the sample queries of the comparison.
#[component]
pub(super) fn QueryRankingsSideBySide(
    found: Arc<RankerComparison>,
    scene: ComparePageState,
) -> impl IntoView {
    let names = StoredValue::new(found.rankers.clone().map(|it| it.label));
    let asking = found.options.clone();
    let query = Memo::new(move |_| scene.view.get().query);
    let answer = LocalResource::new(move || {
        let request = query.get().map(|query| GetComparedQueryRequest {
            study: scene.study.get_value(),
            options: asking.clone(),
            query_id: query,
        });
        async move {
            match request {
                Some(request) => Some(api::send_and_parse(&request).await),
                None => None,
            }
        }
    });
    let for_csv = found.clone();
    let csv = Callback::new(move |()| {
        let tables = report::ranker_comparison_tables(&for_csv);
        if let Some(table) = tables.iter().find(|it| it.name == "samples") {
            download::offer_text_download(
                "example-queries.csv",
                "text/csv",
                &report::table_to_csv(table),
            );
        }
    });
    let samples = found.examples.clone();
    let body = move || match (query.get(), answer.get().flatten()) {
        (None, _) if samples.is_empty() => view! {
            <p class="ahead">"Neither ranker is better on any query. Choose a query from the \
                 list."</p>
        }
        .into_any(),
        (None, _) => {
            let each = samples.iter().map(|it| {
                view! { <QuerySample sample=it.clone() names=names.get_value()/> }
            });
            each.collect_view().into_any()
        }
        (Some(_), None) => {
            view! { <p class="note" role="status">"Loading documents"</p> }.into_any()
        }
        (Some(_), Some(Err(error))) => {
            let retry = Callback::new(move |()| answer.refetch());
            view! { <LoadErrorMessage error retry/> }.into_any()
        }
        (Some(_), Some(Ok(sample))) => {
            view! { <QuerySample sample names=names.get_value()/> }.into_any()
        }
    };
    let back = move || {
        query.get().map(|_| {
            let href = scene.href_after_change(|it| it.query = None);
            view! { <a class="btn" href=href data-noscroll="">"Back to the example queries"</a> }
        })
    };
    let said = move || match query.get() {
        Some(_) => "The top document of each ranker, plus a relevant one if neither is relevant.",
        None => "Queries on which one ranker wins and the other loses, largest difference first.",
    };
    let header = move || {
        view! {
            <p class="note">{said}</p> <FigureExportButtons of="example queries" csv/>
        }
    };
    view! {
        <Section id="sides" name="Side by side" class="section sides" header>
            {back}
            {body}
        </Section>
    }
}

#[component]
fn QuerySample(sample: ComparedQueryWithTopDocuments, names: [String; 2]) -> impl IntoView {
    let ComparedQueryWithTopDocuments {
        metrics: row,
        query,
        terms,
        top_docs: firsts,
        relevant,
    } = sample;
    let rr = row
        .metrics
        .rr
        .map(|it| it.map(format::format_two_digit_fraction));
    let three = relevant.is_some();
    let tops = firsts.into_iter().enumerate().map(|(side, top)| {
        let rr = rr.as_ref().map(|it| format!("RR@10 {}", it[side]));
        let name = format!("Top document of {}", names[side]);
        view! { <Document top name rr terms=terms.clone()/> }
    });
    let tops = tops.collect_view();
    let relevant = relevant.map(|top| {
        let name = "Relevant document".to_owned();
        view! { <Document top name rr=None terms=terms.clone()/> }
    });
    view! {
        <article class="side">
            <h3 class="query" dir="auto">
                <HighlightedTextView marked=query terms=terms.clone()/>
            </h3>
            <p class="label">"Query " <span class="hash">{row.query_id}</span></p>
            <div class="docs" class:three=three>{tops} {relevant}</div>
        </article>
    }
}

#[component]
fn Document(
    top: ComparedDocument,
    name: String,
    rr: Option<String>,
    terms: Vec<QueryTermInfo>,
) -> impl IntoView {
    let grade = match (top.grade, top.is_relevant) {
        (Some(grade), true) => format!("relevant, grade {grade}"),
        (Some(grade), false) => format!("not relevant, grade {grade}"),
        (None, _) => "not judged".to_owned(),
    };
    let body = match top.text {
        None => view! { <p class="note">"The text is not available."</p> }.into_any(),
        Some(marked) if marked.text.trim().is_empty() => {
            view! { <p class="note">"This document is empty."</p> }.into_any()
        }
        Some(marked) => view! {
            <p class="text" dir="auto"><HighlightedTextView marked terms/></p>
        }
        .into_any(),
    };
    let cut = top
        .is_truncated
        .then(|| view! { <p class="note">"The document continues."</p> });
    view! {
        <article class="doc">
            <header>
                <b>{name}</b>
                {rr.map(|it| view! { <span>{it}</span> })}
                <span>{grade}</span>
                <span class="hash">{top.doc_id}</span>
            </header>
            {body}
            {cut}
        </article>
    }
}
