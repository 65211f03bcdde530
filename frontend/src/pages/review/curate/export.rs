//! The export of a task as files.

use leptos::prelude::*;
use shared::annotation::export::ExportedPreferenceSource;
use shared::api::annotation::{ExportTaskRequest, TaskExportFormat};

use super::state::CurationPageState;
use crate::api;
use crate::api::mutation::MutatingRequestState;
use crate::widgets::download;
use crate::widgets::error_message::OptionalErrorMessage;
use crate::widgets::section::Section;

/// A file that can be downloaded.
struct ExportFile {
    format: TaskExportFormat,
    ending: &'static str,
    kind: &'static str,
    word: &'static str,
    said: &'static str,
}

const FILES: [ExportFile; 4] = [
    ExportFile {
        format: TaskExportFormat::Jsonl,
        ending: "jsonl",
        kind: "application/x-ndjson",
        word: "JSONL",
        said: "Every event with its history, item, inclusion probability π and status, one per \
             line.",
    },
    ExportFile {
        format: TaskExportFormat::Csv,
        ending: "csv",
        kind: "text/csv",
        word: "CSV",
        said: "The same as a table.",
    },
    ExportFile {
        format: TaskExportFormat::Prefs {
            preferences: ExportedPreferenceSource::Consensus,
        },
        ending: "people.prefs",
        kind: "text/plain",
        word: "Preferences",
        said: "The consensus on each item, in trec_eval preference format.",
    },
    ExportFile {
        format: TaskExportFormat::Prefs {
            preferences: ExportedPreferenceSource::EachAnnotator,
        },
        ending: "everybody.prefs",
        kind: "text/plain",
        word: "Preferences per annotator",
        said: "One line per included annotator and item.",
    },
];

/// Renders the tab with the files that can be downloaded.
#[component]
pub(super) fn ExportTab(desk: CurationPageState) -> impl IntoView {
    let names = RwSignal::new(false);
    let action = MutatingRequestState::new();
    let busy = action.is_busy;
    let rows = FILES.map(|file| {
        let ExportFile {
            format,
            ending,
            kind,
            word,
            said,
        } = file;
        let take = move |_| {
            let asked = ExportTaskRequest {
                task: desk.task,
                format,
                include_names: names.get_untracked(),
            };
            let name = match desk.is_simulated() {
                true => format!("annotation-{}-simulated.{ending}", desk.task.0),
                false => format!("annotation-{}.{ending}", desk.task.0),
            };
            let text = async move { api::send_without_parsing(&asked).await };
            action.wait_for_reply_unless_busy(text, move |text| {
                download::offer_text_download(&name, kind, &text)
            });
        };
        view! {
            <li>
                <button
                    class="btn"
                    type="button"
                    disabled=move || busy.get()
                    on:click=take
                >
                    {word}
                </button>
                <span>{said}</span>
            </li>
        }
    });
    view! {
        <Section
            id="export"
            name="Export"
            note="All events, including those that were replaced, undone or excluded."
        >
            <p class="switch">
                <label>
                    <input
                        type="checkbox"
                        prop:checked=move || names.get()
                        on:change=move |_| names.update(|it| *it = !*it)
                    />
                    "Include annotator names"
                </label>
            </p>
            <ul class="exports files-of">{rows}</ul>
            <OptionalErrorMessage error=action.error/>
            <p class="note" role="status">{move || busy.get().then_some("Writing the file")}</p>
        </Section>
    }
}
