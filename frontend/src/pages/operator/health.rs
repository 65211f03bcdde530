//! The health check: whether every model still gives the same score to the same pair.

use leptos::prelude::*;
use shared::api::models::{GetModelHealthRequest, HealthCheckScore};
use shared::report::format;

use super::model_list::ServerModelsState;
use crate::api::{self, RequestError};
use crate::debounce::DebounceTimer;
use crate::widgets::error_message::LoadErrorMessage;
use crate::widgets::section::Section;

/// The delay between two requests. The server repeats a result for 5 s, even if a model has been
/// loaded in between.
const PAUSE_MS: u64 = 5_500;

/// Renders the section with the health check.
#[component]
pub(super) fn HealthCheckSection(shelf: ServerModelsState) -> impl IntoView {
    let loaded = shelf.loaded_model_specs_signal();
    let check = HealthCheck {
        found: RwSignal::new(None),
        loaded,
        later: DebounceTimer::with_delay_ms(PAUSE_MS),
    };
    Effect::new(move |_| {
        loaded.track();
        check.poll();
    });
    let body = move || match check.found.get() {
        Some(Err(error)) => {
            let retry = Callback::new(move |()| check.poll());
            view! { <LoadErrorMessage error retry/> }.into_any()
        }
        found => {
            let found = found.and_then(Result::ok);
            view! { <HealthRows rows=health_rows(found, loaded.get())/> }.into_any()
        }
    };
    view! {
        <Section
            id="health"
            name="Model health check"
            note="Each model rescores a fixed pair; its score must not change."
        >
            {body}
        </Section>
    }
}

type HealthResult = Result<Vec<HealthCheckScore>, RequestError>;

#[derive(Clone, Copy)]
struct HealthCheck {
    found: RwSignal<Option<HealthResult>>,
    loaded: Memo<Vec<String>>,
    later: DebounceTimer,
}

impl HealthCheck {
    /// Polls the server until every loaded model has been checked.
    fn poll(self) {
        leptos::task::spawn_local(async move {
            let found = api::send_and_parse(&GetModelHealthRequest {})
                .await
                .map(|it| it.scores);
            // The user may be on another page by now.
            let Some(loaded) = self.loaded.try_get_untracked() else {
                return;
            };
            let tried = |it: &String| {
                let scored = found.as_deref().unwrap_or_default();
                scored.iter().any(|scored| scored.ranker == *it)
            };
            if !loaded.iter().all(tried) {
                self.later.schedule(move || self.poll());
            }
            self.found.set(Some(found));
        });
    }
}

/// A ranker with its score; none until it has been checked.
type Row = (String, Option<f64>);

/// Returns the rankers that have been checked, followed by the others.
fn health_rows(scored: Option<Vec<HealthCheckScore>>, loaded: Vec<String>) -> Vec<Row> {
    let bm25 = || vec![("bm25".to_owned(), None)];
    let scored = scored.map(|it| {
        it.into_iter()
            .map(|it| (it.ranker, Some(it.score)))
            .collect()
    });
    let mut rows: Vec<Row> = scored.unwrap_or_else(bm25);
    for spec in loaded {
        if rows.iter().all(|it| it.0 != spec) {
            rows.push((spec, None));
        }
    }
    rows
}

#[component]
fn HealthRows(rows: Vec<Row>) -> impl IntoView {
    let one = |(ranker, score): Row| {
        let (class, word) = match score {
            Some(_) => ("verdict ok quiet", "OK"),
            None => ("verdict wait", "not checked yet"),
        };
        let score = score.map_or("–".to_owned(), |it| format::format_score(it, 4));
        view! {
            <li>
                <code>{ranker}</code>
                <span class="num">{score}</span>
                <span class=class>{word}</span>
            </li>
        }
    };
    view! { <ul class="canaries">{rows.into_iter().map(one).collect_view()}</ul> }
}
