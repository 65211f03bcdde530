//! The list of files on the Workbench, to which files are dropped or chosen.

use leptos::ev::{Event, Targeted};
use leptos::prelude::*;
use shared::api::worker::{FileKind, FileSummary, WorkerRequest};
use shared::error::{FileReadReport, RowIssue};
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{DragEvent, FileList, HtmlInputElement, HtmlSelectElement};

use super::reading::add_and_read_file;
use super::state::{FileReadState, WorkbenchFile, WorkbenchState};
use crate::api::worker;
use crate::number_format;
use crate::widgets::progress::ProgressBarView;
use crate::widgets::section::Section;
use crate::widgets::table::{ColumnHeading, HeadedTable};

const PICKER: &str = "files-picker";

/// Opens the browser's file picker; does nothing if its input element is not on the page.
pub(super) fn open_file_picker() {
    let found = document().get_element_by_id(PICKER);
    if let Some(picker) = found.and_then(|it| it.dyn_into::<HtmlInputElement>().ok()) {
        picker.click();
    }
}

fn remove_file(bench: WorkbenchState, name: String) {
    bench
        .files
        .update(|files| files.retain(|it| it.name != name));
    leptos::task::spawn_local(async move {
        let _ =
            worker::run_worker_task(WorkerRequest::RemoveFile { name }, &JsValue::UNDEFINED).await;
    });
}

/// Stops reading. A file cannot be interrupted, so the worker is terminated; files that it had read
/// are read again when they are needed.
fn stop_reading() {
    worker::terminate_worker();
}

fn add_all(bench: WorkbenchState, list: Option<FileList>) {
    let Some(list) = list else { return };
    for file in (0..list.length()).filter_map(|at| list.get(at)) {
        add_and_read_file(bench, file, None);
    }
}

/// Renders the section that lists the files.
#[component]
pub(super) fn FilesSection(bench: WorkbenchState) -> impl IntoView {
    let over = RwSignal::new(false);
    let dropped = move |event: DragEvent| {
        event.prevent_default();
        over.set(false);
        add_all(bench, event.data_transfer().and_then(|it| it.files()));
    };
    let dragged = move |event: DragEvent| {
        event.prevent_default();
        over.set(true);
    };
    let chosen = move |event: Targeted<Event, HtmlInputElement>| {
        let picker = event.target();
        add_all(bench, picker.files());
        // This lets the user choose the same file again after it has changed on disk.
        picker.set_value("");
    };
    let names = Memo::new(move |_| {
        bench
            .files
            .with(|it| it.iter().map(|it| it.name.clone()).collect::<Vec<String>>())
    });
    let heads = || {
        [
            ColumnHeading::for_text_column("File"),
            ColumnHeading::for_text_column("type"),
            ColumnHeading::for_number_column("rows read"),
            ColumnHeading::for_number_column("rows rejected"),
            ColumnHeading::screen_reader_only("Remove"),
        ]
    };
    let said = move || bench.files.with(|it| reading_summary(it));
    let header = move || view! { <p class="note" role="status">{said}</p> };
    view! {
        <Section id="files" name="Files" header>
            <Show when=move || !names.with(Vec::is_empty)>
                <HeadedTable name="Files read" class="files" heads=heads() scrolls=true>
                    <For each=move || names.get() key=Clone::clone let:name>
                        <FileRow bench name/>
                    </For>
                </HeadedTable>
                <For each=move || names.get() key=Clone::clone let:name>
                    <FileMessages bench name/>
                </For>
            </Show>
            <Show when=move || names.with(Vec::is_empty) && bench.study.with(Option::is_some)>
                <p class="ahead">
                    "The study below is kept in this browser, its files are not. Add them again to \
                     create it with other settings."
                </p>
            </Show>
            <super::train::TrainVectorsForm bench/>
            <div
                class="drop"
                class:over=move || over.get()
                on:dragover=dragged
                on:dragleave=move |_| over.set(false)
                on:drop=dropped
            >
                <span>
                    "Drop documents, queries, qrels, splits, runs, word vectors or document \
                     pairs: "
                    "BEIR JSONL, TREC, TSV or plain text, optionally compressed as .gz or .zst"
                </span>
                <button class="btn" type="button" on:click=|_| open_file_picker()>
                    "Choose files" <kbd>"O"</kbd>
                </button>
                <input
                    id=PICKER
                    type="file"
                    class="unseen"
                    multiple
                    tabindex="-1"
                    aria-hidden="true"
                    on:change:target=chosen
                />
            </div>
        </Section>
    }
}

/// Renders the row of one file in the table.
#[component]
fn FileRow(bench: WorkbenchState, name: String) -> impl IntoView {
    let find = {
        let name = name.clone();
        move || {
            bench
                .files
                .with(|it| it.iter().find(|it| it.name == name).cloned())
        }
    };
    let kind_field_label = format!("Type of {name}");
    let remove_label = format!("Remove {name}");
    let kinds = {
        let find = find.clone();
        move || {
            let entry = find()?;
            let kind = match &entry.state {
                FileReadState::Read(read) => Some(read.kind),
                FileReadState::Reading(_) => None,
                FileReadState::Failed(_) => None,
            };
            let options = FileKind::ALL.iter().map(|&it| {
                view! { <option selected=kind == Some(it)>{kind_label(it)}</option> }
            });
            let options = options.collect_view();
            let file = entry.file.clone();
            let change = move |event: Targeted<Event, HtmlSelectElement>| {
                let chosen = event.target().value();
                let kind = FileKind::ALL
                    .iter()
                    .copied()
                    .find(|&it| kind_label(it) == chosen);
                add_and_read_file(bench, file.clone(), kind);
            };
            Some(view! {
                <select class="kind" aria-label=kind_field_label.clone() on:change:target=change>
                    <option selected=kind.is_none() disabled>"choose a type"</option>
                    {options}
                </select>
            })
        }
    };
    let counts = {
        let find = find.clone();
        move || find().map(|entry| counts(entry.state))
    };
    let shown = name.clone();
    view! {
        <tr>
            <td class="name">{shown}</td>
            <td>{kinds}</td>
            {counts}
            <td class="num">
                <button
                    class="btn bare"
                    type="button"
                    aria-label=remove_label
                    on:click=move |_| remove_file(bench, name.clone())
                >
                    "✕"
                </button>
            </td>
        </tr>
    }
}

fn counts(state: FileReadState) -> AnyView {
    match state {
        FileReadState::Reading(done) => view! {
            <td colspan="2">
                <span class="reading">
                    <ProgressBarView label="Reading" done=Signal::from(done)/>
                    <button class="btn bare" type="button" on:click=|_| stop_reading()>
                        "Cancel"
                    </button>
                </span>
            </td>
        }
        .into_any(),
        FileReadState::Failed(_) => view! {
            <td colspan="2" class="num"><span class="verdict failed">"not read"</span></td>
        }
        .into_any(),
        FileReadState::Read(FileSummary {
            report: reading, ..
        }) => {
            let refused = match reading.n_refused {
                0 => view! { "0" }.into_any(),
                n => view! { <span class="verdict failed">{number_format::format_count(n)}</span> }
                    .into_any(),
            };
            view! {
                <td class="num">{number_format::format_count(reading.n_rows)}</td>
                <td class="num">{refused}</td>
            }
            .into_any()
        }
    }
}

/// Renders the rows of a file that were refused or read with a warning.
#[component]
fn FileMessages(bench: WorkbenchState, name: String) -> impl IntoView {
    move || {
        let entry = bench
            .files
            .with(|it| it.iter().find(|it| it.name == name).cloned())?;
        match entry.state {
            FileReadState::Reading(_) => None,
            FileReadState::Failed(reason) => {
                Some(view! { <div class="refused" role="alert"><p>{reason}</p></div> }.into_any())
            }
            FileReadState::Read(FileSummary {
                report: reading, ..
            }) => {
                let FileReadReport {
                    n_refused,
                    refused,
                    n_warned,
                    warned,
                    ..
                } = reading;
                let bad = (n_refused > 0).then(|| {
                    let what = format!(
                        "{} refused",
                        number_format::format_count_with_noun(n_refused, "row", "rows")
                    );
                    let then = "; the other rows are used";
                    view! { <RejectedRows what then file=name.clone() n=n_refused rows=refused/> }
                });
                let odd = (n_warned > 0).then(|| {
                    let rows = number_format::format_count_with_noun(n_warned, "row", "rows");
                    let what = format!("{rows} read with a warning");
                    view! { <RejectedRows what then="" file=name.clone() n=n_warned rows=warned/> }
                });
                Some(view! { {bad} {odd} }.into_any())
            }
        }
    }
}

/// Renders rows with the reason of each: the first few, and the others on demand.
#[component]
fn RejectedRows(
    /// The heading, as in `3 rows refused`.
    what: String,
    /// What happened to the other rows; empty for rows read with a warning.
    then: &'static str,
    /// The name of the file.
    file: String,
    /// The number of such rows.
    n: u64,
    /// The first of these rows.
    rows: Vec<RowIssue>,
) -> impl IntoView {
    const FIRST: usize = 3;
    let row = |remark: &RowIssue| {
        let line = format!("line {}", number_format::format_count(remark.line));
        view! { <tr><td>{line}</td><td>{remark.reason.clone()}</td></tr> }
    };
    let (first, more) = rows.split_at(rows.len().min(FIRST));
    let left_out = n - rows.len() as u64;
    let more = (!more.is_empty()).then(|| {
        let label = format!("{} more", number_format::format_count(n - FIRST as u64));
        let rest = (left_out > 0).then(|| {
            let n = number_format::format_count(left_out);
            view! { <p class="note">{n} " more are not listed"</p> }
        });
        view! {
            <details>
                <summary>{label}</summary>
                <table><tbody>{more.iter().map(row).collect_view()}</tbody></table>
                {rest}
            </details>
        }
    });
    view! {
        <div class="refused" class:taken=then.is_empty()>
            <table>
                <caption><b>{what}</b> " in " {file} {then}</caption>
                <tbody>{first.iter().map(row).collect_view()}</tbody>
            </table>
            {more}
        </div>
    }
}

/// Returns the size and duration of reading, as in `42 MB read in 3 s`, or what a study needs if
/// nothing has been read.
fn reading_summary(files: &[WorkbenchFile]) -> String {
    let (mut bytes, mut ms) = (0.0, 0.0);
    let reads = files.iter().filter_map(|it| match &it.state {
        FileReadState::Read(read) => Some(read),
        FileReadState::Reading(_) | FileReadState::Failed(_) => None,
    });
    for read in reads {
        bytes += read.n_bytes as f64;
        ms += read.duration_ms;
    }
    if bytes == 0.0 {
        return "A study needs documents and queries; qrels, runs and word vectors are optional."
            .to_owned();
    }
    format!(
        "{} read in {}",
        number_format::format_byte_size(bytes),
        number_format::format_elapsed_time(ms / 1000.0)
    )
}

/// Returns the display name of a kind of file.
fn kind_label(kind: FileKind) -> &'static str {
    match kind {
        FileKind::CorpusJsonl => "documents, BEIR",
        FileKind::PassagesTsv => "documents: id and text",
        FileKind::DocumentsTsv => "documents: id, URL, title, text",
        FileKind::DocumentLines => "documents, one per line",
        FileKind::QueriesJsonl => "queries, BEIR",
        FileKind::Topics => "queries, TSV or TREC",
        FileKind::Qrels => "qrels",
        FileKind::Run => "run",
        FileKind::Vectors => "word vectors",
        FileKind::Splits => "query splits",
        FileKind::PreferencePairs => "document pairs, first preferred",
        FileKind::SymmetricPairs => "document pairs, no preference",
    }
}
