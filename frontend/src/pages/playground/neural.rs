//! The scores of neural rankers, requested from the server when the user stops typing.

use std::sync::Arc;

use leptos::prelude::*;
use shared::api::worker::LOCAL_STUDY;
use shared::api::{ScoreDocumentsRequest, ServerInfoResponse};
use shared::report::format;
use shared::score::RankerInfo;

use super::input::PlaygroundSettings;
use super::state::{NAMES, NeuralRankerWithScores, PlaygroundState, ScoringRequestState};
use super::term_scores::{TermScoreCellFormat, render_document_and_difference_headings};
use crate::api;
use crate::debounce::DebounceTimer;
use crate::widgets::attention::{AttentionMaps, CROSS_ENCODER_SUFFIX};
use crate::widgets::needs_server::NeedsServerNotice;
use crate::widgets::resource_view::RequestReplyView;
use crate::widgets::section::Section;
use crate::widgets::token_match_map::TokenMatchMap;

/// The delay after the last keystroke before the server is asked.
const DEBOUNCE_MS: u64 = 600;

/// Renders the section with the neural rankers.
#[component]
pub(super) fn PlaygroundNeuralRankers(
    /// The state of the page.
    desk: PlaygroundState,
) -> impl IntoView {
    let server = LocalResource::new(|| async { api::fetch_server_info().await });
    // Documents of a local study have not left the browser, and do only when the reader says so.
    // They may be in the fields, or be restored, after the page has opened something else.
    let was_local = Memo::new(move |before: Option<&bool>| {
        let of_instance = desk.origin.with(|it| {
            let study = it.as_ref().map(|it| it.0.study.as_str());
            study == Some(LOCAL_STUDY)
        });
        let is_collection = |it: &PlaygroundSettings| it.study.as_deref() == Some(LOCAL_STUDY);
        before == Some(&true) || of_instance || desk.settings.with(is_collection)
    });
    let is_allowed = RwSignal::new(false);
    let may_send = Memo::new(move |_| is_allowed.get() || !was_local.get());
    let shown = move |found: Option<ServerInfoResponse>| match found {
        None => view! { <NeedsServerNotice what="Neural rankers"/> }.into_any(),
        Some(server) if server.models.is_empty() => view! {
            <p class="note">
                "Neural scoring is off: this server has no model. The operator can add one with "
                <code>"axioscope models get"</code> "."
            </p>
        }
        .into_any(),
        Some(server) => (move || match may_send.get() {
            true => view! { <Scores desk server=server.clone()/> }.into_any(),
            false => view! {
                <p class="note">
                    "These documents are from your local study and have not left this browser."
                </p>
                <button class="btn" type="button" on:click=move |_| is_allowed.set(true)>
                    "Send them to this server for scoring"
                </button>
            }
            .into_any(),
        })
        .into_any(),
    };
    view! {
        <Section
            id="neural"
            name="Neural rankers"
            note="Scored by this server, to which the documents are sent when you stop typing."
        >
            <RequestReplyView answer=server until="Checking for a server" shown/>
        </Section>
    }
}

/// Renders the scores of every model of the server.
#[component]
fn Scores(desk: PlaygroundState, server: ServerInfoResponse) -> impl IntoView {
    let n_models = server.models.len();
    update_scores(desk, server);
    let n_texts = desk.n_documents_memo();
    // A reply renders no other row again, and no other maps.
    let models: Vec<Memo<Option<NeuralRankerWithScores>>> = (0..n_models)
        .map(|place| Memo::new(move |_| desk.neural_rankers.with(|it| it.get(place).cloned())))
        .collect();
    let rows = models.iter().map(|&model| {
        move || {
            let (model, n_texts) = (model.get()?, n_texts.get());
            Some(view! { <Row model n_texts/> })
        }
    });
    let rows = rows.collect_view();
    let maps = models
        .iter()
        .map(|&model| move || model.with(|it| it.as_ref().and_then(token_match_maps)));
    let maps = maps.collect_view();
    let finding = move || desk.neural_rankers.with(|models| neural_finding(models));
    let columns = move || render_document_and_difference_headings(n_texts.get());
    // The first cross-encoder that has scored the documents.
    let crossed = Memo::new(move |_| {
        let cross = |it: &NeuralRankerWithScores| {
            let is_cross = it.ranker.spec.ends_with(CROSS_ENCODER_SUFFIX);
            (is_cross && it.score_response().is_some()).then(|| it.ranker.clone())
        };
        desk.neural_rankers
            .with(|models| models.iter().find_map(cross))
    });
    let attention = move || {
        let ranker = crossed.get()?;
        let query = desk.query.get_untracked();
        let texts = desk.documents.with_untracked(|it| {
            let texts = it.iter().map(|it| it.current_text().to_owned());
            texts.collect::<Vec<_>>()
        });
        Some(view! { <AttentionMaps ranker query texts title=title_by_letter/> })
    };
    let done = Memo::new(move |_| {
        desk.neural_rankers.with(|models| {
            models
                .iter()
                .all(|it| matches!(it.scores, ScoringRequestState::Scored(_)))
        })
    });
    let said = move || {
        done.get()
            .then_some("All neural rankers have scored the documents")
    };
    view! {
        <p class="finding">{finding}</p>
        <table class="scored">
            <caption class="unseen">"Scores of neural rankers"</caption>
            <thead>
                <tr>
                    <th scope="col">"Ranker"</th>
                    {columns}
                </tr>
            </thead>
            <tbody>{rows}</tbody>
        </table>
        <p class="unseen" role="status">{said}</p>
        {maps}
        {attention}
    }
}

/// Says which rankers score which of two documents higher, as in `MiniLM scores A higher; monoT5
/// scores B higher.`; none while no ranker has scored two documents.
fn neural_finding(models: &[NeuralRankerWithScores]) -> Option<String> {
    let margins = models
        .iter()
        .filter_map(|it| match it.score_response()?.scores[..] {
            [a, b] => Some((it.ranker.label.clone(), a - b)),
            _ => None,
        });
    let margins: Vec<(String, f64)> = margins.collect();
    let sides = [(1.0, NAMES[0]), (-1.0, NAMES[1])];
    let said = sides.into_iter().filter_map(|(sign, document)| {
        let on_side = margins.iter().filter(|it| it.1 * sign > 0.0);
        let names: Vec<String> = on_side.map(|it| it.0.clone()).collect();
        let verb = if names.len() == 1 { "scores" } else { "score" };
        let names = (!names.is_empty()).then(|| format::join_with_and(&names))?;
        Some(format!("{names} {verb} {document} higher"))
    });
    let said: Vec<String> = said.collect();
    (!said.is_empty()).then(|| format!("{}.", said.join("; ")))
}

#[component]
fn Row(
    model: NeuralRankerWithScores,
    /// The number of columns that a message spans.
    n_texts: usize,
) -> impl IntoView {
    let NeuralRankerWithScores {
        ranker,
        scores: reply,
    } = model;
    let cut = match &reply {
        ScoringRequestState::Scored(scored) => truncation_note(&scored.truncated),
        ScoringRequestState::Idle
        | ScoringRequestState::Waiting
        | ScoringRequestState::Failed(_) => None,
    };
    // With two documents, the message also spans the two columns that compare them.
    let span = if n_texts == 2 { 4 } else { n_texts };
    let sentence = |said: AnyView| view! { <td colspan=span>{said}</td> }.into_any();
    let cells = match reply {
        ScoringRequestState::Idle => sentence("Enter a query and all documents.".into_any()),
        ScoringRequestState::Waiting => {
            sentence(view! { <span class="verdict wait">"scoring"</span> }.into_any())
        }
        ScoringRequestState::Failed(error) => {
            let said = view! { <span class="verdict failed wrap">{error.to_string()}</span> };
            sentence(said.into_any())
        }
        ScoringRequestState::Scored(scored) => {
            let rows = [&scored.scores];
            let scale = TermScoreCellFormat::from_rows(rows.into_iter());
            scale.render_cells(&scored.scores).into_any()
        }
    };
    let under = [cut, ranker.note].into_iter().flatten();
    let under = under
        .map(|it| view! { <span class="label">{it}</span> })
        .collect_view();
    view! {
        <tr>
            <th scope="row" title=ranker.detail>{ranker.label} {under}</th>
            {cells}
        </tr>
    }
}

/// Lists the documents that were truncated, as in `truncated A and C`.
fn truncation_note(truncated: &[bool]) -> Option<String> {
    let texts = truncated
        .iter()
        .zip(NAMES)
        .filter(|it| *it.0)
        .map(|it| it.1);
    let names: Vec<&str> = texts.collect();
    (!names.is_empty()).then(|| format!("truncated {}", names.join(" and ")))
}

/// Renders the token matches of a late-interaction ranker: each query token against each document.
fn token_match_maps(model: &NeuralRankerWithScores) -> Option<impl IntoView + use<>> {
    let similarities = &model.score_response()?.similarities;
    let label = format!("{}: token matches", model.ranker.label);
    let texts = similarities.iter().take(NAMES.len()).cloned().enumerate();
    let texts = texts.map(|(at, matches)| {
        view! { <TokenMatchMap matches name=title_by_letter(at)/> }
    });
    let texts = texts.collect_view();
    (!similarities.is_empty()).then(|| {
        view! {
            <details class="maps" open>
                <summary>{label}</summary>
                <div class="docs strips">{texts}</div>
            </details>
        }
    })
}

/// Returns the title of the document at an index, as in `Document A`.
fn title_by_letter(at: usize) -> String {
    format!("Document {}", NAMES[at])
}

/// The query and documents that the server is asked to score.
#[derive(Debug, Clone, PartialEq, Eq)]
struct NeuralScoringInput {
    query: String,
    texts: Vec<String>,
}

impl NeuralScoringInput {
    fn is_complete(&self) -> bool {
        [&self.query]
            .into_iter()
            .chain(&self.texts)
            .all(|it| !it.trim().is_empty())
    }
}

/// Requests the scores of the current documents from each model, one model after the other.
fn update_scores(desk: PlaygroundState, server: ServerInfoResponse) {
    let ServerInfoResponse {
        models,
        max_documents: max_texts,
        ..
    } = server;
    let idle = |ranker: &RankerInfo| NeuralRankerWithScores {
        ranker: ranker.clone(),
        scores: ScoringRequestState::Idle,
    };
    desk.neural_rankers.set(models.iter().map(idle).collect());
    let asked = Memo::new(move |_| NeuralScoringInput {
        query: desk.query.get(),
        texts: desk
            .documents
            .with(|it| it.iter().map(|it| it.current_text().to_owned()).collect()),
    });
    let later = DebounceTimer::with_delay_ms(DEBOUNCE_MS);
    Effect::new(move |_| {
        let now = asked.get();
        later.cancel();
        let whole = now.is_complete() && now.texts.len() as u64 <= max_texts;
        let reply = if whole {
            ScoringRequestState::Waiting
        } else {
            ScoringRequestState::Idle
        };
        desk.neural_rankers
            .update(|it| it.iter_mut().for_each(|it| it.scores = reply.clone()));
        if whole {
            later.schedule(move || leptos::task::spawn_local(score_with_all(desk, asked, now)));
        }
    });
}

async fn score_with_all(
    desk: PlaygroundState,
    asked: Memo<NeuralScoringInput>,
    now: NeuralScoringInput,
) {
    let specs = desk.neural_rankers.try_with_untracked(|it| {
        it.iter()
            .map(|it| it.ranker.spec.clone())
            .collect::<Vec<_>>()
    });
    for (place, ranker) in specs.into_iter().flatten().enumerate() {
        let NeuralScoringInput { query, texts } = now.clone();
        let reply = match api::send_and_parse(&ScoreDocumentsRequest {
            model: ranker,
            query,
            documents: texts,
        })
        .await
        {
            Ok(scored) => ScoringRequestState::Scored(Arc::new(scored)),
            Err(error) => ScoringRequestState::Failed(error),
        };
        // Newer input has its own requests.
        if asked.try_get_untracked().as_ref() != Some(&now) {
            return;
        }
        desk.neural_rankers.try_update(|it| {
            if let Some(model) = it.get_mut(place) {
                model.scores = reply;
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::api::ScoreDocumentsResponse;
    use shared::score::RankerKind;

    #[test]
    fn texts_that_were_cut_are_named() {
        assert_eq!(truncation_note(&[false, false]), None);
        let said = truncation_note(&[true, false, true]);
        assert_eq!(said.as_deref(), Some("truncated A and C"));
    }

    #[test]
    fn the_finding_names_rankers_by_the_document_that_they_prefer() {
        let model = |label: &str, scores: &[f64]| {
            let ranker = RankerInfo {
                spec: label.to_owned(),
                label: label.to_owned(),
                detail: String::new(),
                kind: RankerKind::Neural,
                fingerprint: String::new(),
                note: None,
            };
            let response = ScoreDocumentsResponse {
                ranker: ranker.clone(),
                scores: scores.to_vec(),
                truncated: vec![false; scores.len()],
                similarities: Vec::new(),
            };
            let scores = ScoringRequestState::Scored(Arc::new(response));
            NeuralRankerWithScores { ranker, scores }
        };
        assert_eq!(neural_finding(&[model("M", &[1.0, 2.0, 3.0])]), None);
        let models = [
            model("MiniLM", &[1.0, 2.0]),
            model("monoT5", &[0.5, 0.1]),
            model("ColBERT", &[3.0, 4.0]),
        ];
        assert_eq!(
            neural_finding(&models).as_deref(),
            Some("monoT5 scores A higher; MiniLM and ColBERT score B higher.")
        );
    }

    #[test]
    fn a_page_with_an_empty_text_is_not_asked_about() {
        let asked = |query: &str, texts: [&str; 2]| {
            let texts = texts.map(str::to_owned).to_vec();
            NeuralScoringInput {
                query: query.to_owned(),
                texts,
            }
            .is_complete()
        };
        assert!(asked("river", ["a", "b"]));
        assert!(!asked("river", ["a", " "]));
        assert!(!asked("", ["a", "b"]));
    }
}
