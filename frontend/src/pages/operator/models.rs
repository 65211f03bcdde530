//! The models of the server: their source and properties, and loading them.

use leptos::html;
use leptos::prelude::*;
use shared::api::models::{
    LoadModelRequest, LoadedModelInfo, ModelLoadState, ModelSource, ModelStatus,
};

use super::model_list::ServerModelsState;
use crate::api::mutation::MutatingRequestState;
use crate::number_format;
use crate::widgets::error_message::failure_view;
use crate::widgets::section::Section;

/// Renders the section that lists the models.
#[component]
pub(super) fn ModelListSection(shelf: ServerModelsState) -> impl IntoView {
    let specs = Memo::new(move |_| {
        let models = shelf.models.read();
        models.iter().map(|it| it.spec.clone()).collect::<Vec<_>>()
    });
    let loaded = shelf.loaded_model_specs_signal();
    let note = move || {
        let n_models = specs.with(Vec::len);
        (n_models > 0).then(|| format!("{} of {n_models} loaded", loaded.with(Vec::len)))
    };
    let list = move || {
        if specs.with(Vec::is_empty) {
            return view! { <NoModels/> }.into_any();
        }
        view! {
            <ul class="held models">
                <For each=move || specs.get() key=String::clone let:spec>
                    <ModelRow shelf spec/>
                </For>
            </ul>
        }
        .into_any()
    };
    let header = move || view! { <p class="note">{note}</p> };
    view! {
        <Section id="models" name="Models" header>
            {list}
        </Section>
    }
}

/// Renders how to add a model to the server.
#[component]
fn NoModels() -> impl IntoView {
    view! {
        <p class="ahead">"This server has no neural models; BM25 and QL need none."</p>
        <p class="note">
            "Start it with a model folder, or with the name of a model on the Hugging Face Hub, \
             which is then downloaded: "
            <code>"axioscope serve --model sentence-transformers/all-MiniLM-L6-v2"</code>
            ". To download it beforehand, use "
            <code>"axioscope models get"</code> "; to see its type, use "
            <code>"axioscope models inspect"</code> "."
        </p>
    }
}

#[component]
fn ModelRow(shelf: ServerModelsState, spec: String) -> impl IntoView {
    let held = shelf.model_status_signal(spec.clone());
    let action = MutatingRequestState::new();
    let row = NodeRef::<html::Li>::new();
    let load = {
        let spec = spec.clone();
        move |_| {
            let asked = LoadModelRequest {
                model: spec.clone(),
            };
            action.send_unless_busy(asked, move |held| {
                // The button disappears, so the focus moves to the row.
                if let Some(row) = row.get_untracked()
                    && matches!(held.state, ModelLoadState::Loaded(_))
                {
                    let _ = row.focus();
                }
                shelf.replace_model_status(held);
            });
        }
    };
    let verb = move || {
        let unless = held.with(|it| match it.as_ref()?.state {
            ModelLoadState::Unloaded => Some("Load now"),
            ModelLoadState::Failed { .. } => Some("Try again"),
            ModelLoadState::Loaded(_) => None,
        });
        if action.is_busy.get() {
            Some("Loading")
        } else {
            unless
        }
    };
    let label = {
        let spec = spec.clone();
        move || verb().map(|it| format!("{it}: {spec}"))
    };
    let state = Memo::new(move |_| held.with(|it| it.as_ref().map(|it| state_chip(&it.state))));
    let verdict = move || {
        state
            .get()
            .map(|(class, word)| view! { <span class=format!("verdict {class}")>{word}</span> })
    };
    let reason = move || {
        let found = action.error.get().map(|it| it.to_string());
        let told = held.with(|it| match it.as_ref() {
            Some(ModelStatus { spec, state, .. }) => match state {
                ModelLoadState::Failed { reason } => Some(format!("{spec}: {reason}")),
                ModelLoadState::Loaded(_) | ModelLoadState::Unloaded => None,
            },
            None => None,
        });
        failure_view(found.or(told))
    };
    let told = move || held.get().map(|held| view! { <ModelDetails held/> });
    view! {
        <li tabindex="-1" node_ref=row>
            {told}
            <div class="act">
                <span role="status">{verdict}</span>
                <Show when=move || verb().is_some()>
                    <button
                        class="btn"
                        type="button"
                        aria-label=label.clone()
                        on:click=load.clone()
                    >
                        {verb}
                    </button>
                </Show>
            </div>
            {reason}
        </li>
    }
}

/// Returns the CSS class and label of a state.
fn state_chip(state: &ModelLoadState) -> (&'static str, &'static str) {
    match state {
        ModelLoadState::Unloaded => ("wait", "not loaded"),
        ModelLoadState::Loaded(_) => ("ok quiet", "loaded"),
        ModelLoadState::Failed { .. } => ("failed", "failed"),
    }
}

/// Renders the details of a model.
#[component]
fn ModelDetails(held: ModelStatus) -> impl IntoView {
    let from = match held.source {
        ModelSource::Folder { name } => format!("folder {name}"),
        ModelSource::Hub { name } => format!("Hugging Face Hub, {name}"),
    };
    match held.state {
        ModelLoadState::Unloaded | ModelLoadState::Failed { .. } => view! {
            <div class="told">
                <h3><code>{held.spec}</code></h3>
                <p class="facts"><span>{from}</span></p>
            </div>
        }
        .into_any(),
        ModelLoadState::Loaded(loaded) => {
            view! { <LoadedModelDetails spec=held.spec from loaded=*loaded/> }.into_any()
        }
    }
}

/// Renders the details of a loaded model.
#[component]
fn LoadedModelDetails(
    spec: String,
    /// The source of the model, in words.
    from: String,
    loaded: LoadedModelInfo,
) -> impl IntoView {
    let LoadedModelInfo {
        ranker: about,
        weights_sha256,
        weights_bytes,
        device,
        precision,
        max_tokens: max_pieces,
    } = loaded;
    let weights = format!(
        "{} of weights",
        number_format::format_byte_size(weights_bytes as f64)
    );
    let pieces = max_pieces.map(|it| {
        let pieces = number_format::format_count_with_noun(it, "token", "tokens");
        view! { <span>{format!("reads at most {pieces}")}</span> }
    });
    let hidden = format!(" of {spec}");
    let note = about.note.map(|it| view! { <p class="note">{it}</p> });
    view! {
        <div class="told">
            <h3><code>{spec}</code></h3>
            <p>{about.label} ", " {about.detail}</p>
            {note}
            <p class="facts">
                <span>{from}</span>
                <span>{weights}</span>
                <span>{device} ", " {precision}</span>
                {pieces}
            </p>
            <details>
                <summary>"Hashes"<span class="unseen">{hidden}</span></summary>
                <dl>
                    <dt>"Ranker fingerprint"</dt>
                    <dd class="hash">{about.fingerprint}</dd>
                    <dt>"SHA-256 of the weights"</dt>
                    <dd class="hash">{weights_sha256}</dd>
                </dl>
            </details>
        </div>
    }
}
