//! What can be taken from a study, as files made in the page.

use std::sync::Arc;

use leptos::html;
use leptos::prelude::*;
use shared::plot::{self, Theme};
use shared::report;
use shared::study::overview::Overview;

use crate::api;
use crate::widgets::download;
use crate::widgets::error::Failed;

/// The dialog.
#[component]
pub(super) fn Export(
    /// For the dials as they stand.
    overview: Memo<Arc<Overview>>,
    /// Opened by the head of the page.
    dialog: NodeRef<html::Dialog>,
) -> impl IntoView {
    let failed = RwSignal::new(None::<api::Error>);
    let waits = RwSignal::new(false);
    let save = move |format: Format| {
        let overview = overview.get_untracked();
        download::save(
            &format.file(&overview),
            format.media(),
            &format.make(&overview),
        );
    };
    let whole = move |_| {
        let study = overview.read_untracked().name.clone();
        waits.set(true);
        failed.set(None);
        leptos::task::spawn_local(async move {
            match api::call_text(&shared::api::Export {
                study: study.clone(),
            })
            .await
            {
                Ok(text) => {
                    download::save(&format!("{study}-study.json"), "application/json", &text);
                }
                Err(error) => {
                    let _ = failed.try_set(Some(error));
                }
            }
            let _ = waits.try_set(false);
        });
    };
    let close = move |_| {
        if let Some(dialog) = dialog.get_untracked() {
            dialog.close();
        }
    };
    let rows = Format::ALL.iter().map(|&format| {
        view! {
            <li>
                <button class="btn" type="button" on:click=move |_| save(format)>
                    {format.name()}
                </button>
                <span class="note">{format.about()}</span>
            </li>
        }
    });
    let rows = rows.collect_view();
    view! {
        <dialog node_ref=dialog class="wide-dialog" aria-labelledby="export-title">
            <header>
                <h2 id="export-title">"Export this view"</h2>
                <button class="btn" type="button" on:click=close>"Close" <kbd>"Esc"</kbd></button>
            </header>
            <ul class="exports">
                {rows}
                <li>
                    <button
                        class="btn"
                        type="button"
                        disabled=move || waits.get()
                        on:click=whole
                    >
                        "Study, JSON"
                    </button>
                    <span class="note" role="status">
                        {move || match waits.get() {
                            true => "Asking for the study",
                            false => "texts, instances and scores, to be hosted or read again",
                        }}
                    </span>
                </li>
            </ul>
            <Failed error=failed/>
        </dialog>
    }
}

/// A file that is made from the numbers of the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Markdown,
    Csv,
    Latex,
    Json,
    Html,
    Svg,
    DarkSvg,
}

impl Format {
    const ALL: &[Format] = &[
        Format::Markdown,
        Format::Csv,
        Format::Latex,
        Format::Json,
        Format::Html,
        Format::Svg,
        Format::DarkSvg,
    ];

    fn name(self) -> &'static str {
        match self {
            Format::Markdown => "Markdown",
            Format::Csv => "CSV",
            Format::Latex => "LaTeX",
            Format::Json => "JSON",
            Format::Html => "HTML page",
            Format::Svg => "SVG",
            Format::DarkSvg => "SVG, dark",
        }
    }

    fn about(self) -> &'static str {
        match self {
            Format::Markdown => "all tables with their notes",
            Format::Csv => "one row for each ranker and axiom, every digit",
            Format::Latex => "all tables, for booktabs",
            Format::Json => "all tables, every digit",
            Format::Html => "figure and tables in one file",
            Format::Svg => "the heat map, for paper",
            Format::DarkSvg => "the heat map, for slides",
        }
    }

    fn file(self, overview: &Overview) -> String {
        let name = &overview.name;
        match self {
            Format::Markdown => format!("{name}.md"),
            Format::Csv => format!("{name}-cells.csv"),
            Format::Latex => format!("{name}.tex"),
            Format::Json => format!("{name}.json"),
            Format::Html => format!("{name}.html"),
            Format::Svg => format!("{name}.svg"),
            Format::DarkSvg => format!("{name}-dark.svg"),
        }
    }

    fn media(self) -> &'static str {
        match self {
            Format::Markdown => "text/markdown",
            Format::Csv => "text/csv",
            Format::Latex => "text/x-tex",
            Format::Json => "application/json",
            Format::Html => "text/html",
            Format::Svg | Format::DarkSvg => "image/svg+xml",
        }
    }

    fn make(self, overview: &Overview) -> String {
        let tables = report::of_overview(overview);
        let svg = |theme| plot::to_svg(&plot::heatmap(overview), theme);
        match self {
            Format::Markdown => report::to_markdown(&tables),
            Format::Csv => tables
                .iter()
                .find(|it| it.name == "cells")
                .map(report::to_csv)
                .unwrap_or_default(),
            Format::Latex => report::to_latex(&tables),
            Format::Json => report::to_json(&tables),
            Format::Html => report::to_html(&overview.title, &[svg(Theme::Light)], &tables),
            Format::Svg => svg(Theme::Light),
            Format::DarkSvg => svg(Theme::Dark),
        }
    }
}
