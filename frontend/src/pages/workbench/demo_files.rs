//! Example files for the Workbench.
//!
//! These are the files of the demo collection if the host has them, else a dozen built-in
//! documents.

use js_sys::Array;
use leptos::prelude::*;
use wasm_bindgen::JsValue;
use web_sys::File;

use super::reading;
use super::state::WorkbenchState;
use crate::api::transport;

const NAMES: [&str; 3] = ["corpus.jsonl", "queries.jsonl", "qrels.tsv"];

/// Written for this page and dedicated to the public domain.
const BUILT_IN_FILES: [&str; 3] = [
    include_str!("demo_files/corpus.jsonl"),
    include_str!("demo_files/queries.jsonl"),
    include_str!("demo_files/qrels.tsv"),
];

/// Renders the button that loads the files of the demo collection into the Workbench.
#[component]
pub(super) fn LoadDemoFilesButton(bench: WorkbenchState) -> impl IntoView {
    let loading = RwSignal::new(false);
    let load = move |_| {
        loading.set(true);
        leptos::task::spawn_local(async move {
            let texts = transport::fetch_demo_files(&NAMES).await;
            let texts = texts.unwrap_or_else(|| BUILT_IN_FILES.map(str::to_owned).to_vec());
            for (name, text) in NAMES.iter().zip(texts) {
                let parts = Array::of1(&JsValue::from_str(&text));
                if let Ok(file) = File::new_with_str_sequence(&parts, name) {
                    reading::add_and_read_file(bench, file, None);
                }
            }
            let _ = loading.try_set(false);
        });
    };
    view! {
        <button class="btn" type="button" disabled=move || loading.get() on:click=load>
            "Load sample"
        </button>
    }
}
