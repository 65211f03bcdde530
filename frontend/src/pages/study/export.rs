//! The exports of a study, made in the page.

use std::sync::Arc;

use leptos::html;
use leptos::prelude::*;
use shared::plot::{self, FigureTheme};
use shared::report;
use shared::study::overview::StudyOverview;

use crate::api;
use crate::widgets::download;
use crate::widgets::error_message::OptionalErrorMessage;

/// Renders the Export dialog, which saves the overview in several formats or the whole study as
/// JSON.
#[component]
pub(super) fn ExportDialog(
    /// The overview for the current controls.
    overview: Memo<Arc<StudyOverview>>,
    /// The dialog, which the header of the page opens.
    dialog: NodeRef<html::Dialog>,
) -> impl IntoView {
    let failed = RwSignal::new(None::<api::RequestError>);
    let waits = RwSignal::new(false);
    let save = move |format: ExportFormat| {
        let overview = overview.get_untracked();
        download::offer_text_download(
            &format.file_name(&overview),
            format.media_type(),
            &format.render(&overview),
        );
    };
    let whole = move |_| {
        let study = overview.read_untracked().name.clone();
        waits.set(true);
        failed.set(None);
        leptos::task::spawn_local(async move {
            match api::send_without_parsing(&shared::api::ExportStudyRequest {
                study: study.clone(),
            })
            .await
            {
                Ok(text) => {
                    download::offer_text_download(
                        &format!("{study}-study.json"),
                        "application/json",
                        &text,
                    );
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
    let rows = ExportFormat::ALL.iter().map(|&format| {
        view! {
            <li>
                <button class="btn" type="button" on:click=move |_| save(format)>
                    {format.name()}
                </button>
                <span class="note">{format.description()}</span>
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
                        "Study (JSON)"
                    </button>
                    <span class="note" role="status">
                        {move || match waits.get() {
                            true => "Loading the study",
                            false => "documents, instances and scores, for hosting or reopening",
                        }}
                    </span>
                </li>
            </ul>
            <OptionalErrorMessage error=failed/>
        </dialog>
    }
}

/// The format of a file that is made from the numbers of the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ExportFormat {
    Markdown,
    Csv,
    Latex,
    Json,
    Html,
    Svg,
    DarkSvg,
}

impl ExportFormat {
    const ALL: &[ExportFormat] = &[
        ExportFormat::Markdown,
        ExportFormat::Csv,
        ExportFormat::Latex,
        ExportFormat::Json,
        ExportFormat::Html,
        ExportFormat::Svg,
        ExportFormat::DarkSvg,
    ];

    fn name(self) -> &'static str {
        match self {
            ExportFormat::Markdown => "Markdown",
            ExportFormat::Csv => "CSV",
            ExportFormat::Latex => "LaTeX",
            ExportFormat::Json => "JSON",
            ExportFormat::Html => "HTML page",
            ExportFormat::Svg => "SVG",
            ExportFormat::DarkSvg => "SVG, dark",
        }
    }

    fn description(self) -> &'static str {
        match self {
            ExportFormat::Markdown => "all tables with their notes",
            ExportFormat::Csv => "one row per ranker and axiom, full precision",
            ExportFormat::Latex => "all tables, for booktabs",
            ExportFormat::Json => "all tables, full precision",
            ExportFormat::Html => "figure and tables in one file",
            ExportFormat::Svg => "the heat map, for print",
            ExportFormat::DarkSvg => "the heat map, for slides",
        }
    }

    fn file_name(self, overview: &StudyOverview) -> String {
        let name = &overview.name;
        match self {
            ExportFormat::Markdown => format!("{name}.md"),
            ExportFormat::Csv => format!("{name}-cells.csv"),
            ExportFormat::Latex => format!("{name}.tex"),
            ExportFormat::Json => format!("{name}.json"),
            ExportFormat::Html => format!("{name}.html"),
            ExportFormat::Svg => format!("{name}.svg"),
            ExportFormat::DarkSvg => format!("{name}-dark.svg"),
        }
    }

    fn media_type(self) -> &'static str {
        match self {
            ExportFormat::Markdown => "text/markdown",
            ExportFormat::Csv => "text/csv",
            ExportFormat::Latex => "text/x-tex",
            ExportFormat::Json => "application/json",
            ExportFormat::Html => "text/html",
            ExportFormat::Svg | ExportFormat::DarkSvg => "image/svg+xml",
        }
    }

    fn render(self, overview: &StudyOverview) -> String {
        let tables = report::study_tables(overview);
        let svg = |theme| plot::figure_to_svg(&plot::draw_study_heatmap_figure(overview), theme);
        match self {
            ExportFormat::Markdown => report::tables_to_markdown(&tables),
            ExportFormat::Csv => tables
                .iter()
                .find(|it| it.name == "cells")
                .map(report::table_to_csv)
                .unwrap_or_default(),
            ExportFormat::Latex => report::tables_to_latex(&tables),
            ExportFormat::Json => report::tables_to_json(&tables),
            ExportFormat::Html => {
                report::report_to_html(&overview.title, &[svg(FigureTheme::Light)], &tables)
            }
            ExportFormat::Svg => svg(FigureTheme::Light),
            ExportFormat::DarkSvg => svg(FigureTheme::Dark),
        }
    }
}
