//! The token matches of late-interaction models, requested from the server after the page has been
//! open for a moment.

use gloo_timers::future::TimeoutFuture;
use leptos::prelude::*;
use shared::api::{ScoreDocumentsRequest, TokenSimilarities};
use shared::plot::{self, FigureTheme};
use shared::report;
use shared::score::RankerInfo;

use super::download;
use super::error_message::LoadErrorMessage;
use super::export_buttons::FigureExportButtons;
use super::needs_server::NeedsServerNotice;
use super::table::ReportTableView;
use super::token_match_map::{self, TokenMatchMap};
use crate::api;

/// The state of the section.
#[derive(Debug, Clone, PartialEq)]
enum TokenMatchesState {
    /// A model and its matches in each document.
    At(RankerInfo, Vec<TokenSimilarities>),
    /// The page comes from a static host.
    NoServer,
    /// Why there are no matches.
    Not(&'static str),
}

/// Renders the section; nothing without a ranker.
#[component]
pub(crate) fn TokenMatchesSection(
    /// The name that is used for files.
    name: String,
    /// The specifications of the rankers to try; the first one with late interaction is used.
    specs: Vec<String>,
    /// The query as written, which the server tokenizes.
    query: String,
    /// The documents as written.
    texts: Vec<String>,
) -> impl IntoView {
    if specs.is_empty() {
        return None;
    }
    let looked = LocalResource::new(move || {
        let (query, texts, specs) = (query.clone(), texts.clone(), specs.clone());
        async move { fetch_matches(query, texts, specs).await }
    });
    let body = move || match looked.get() {
        None => view! {
            <Heading title="Token matches".to_owned()/>
            <div class="strips waiting" role="status">"Running the model"</div>
        }
        .into_any(),
        Some(Err(error)) => {
            let retry = Callback::new(move |()| looked.refetch());
            view! {
                <Heading title="Token matches".to_owned()/>
                <LoadErrorMessage error retry/>
            }
            .into_any()
        }
        Some(Ok(TokenMatchesState::NoServer)) => view! {
            <Heading title="Token matches".to_owned()/>
            <NeedsServerNotice what="Token matches"/>
        }
        .into_any(),
        Some(Ok(TokenMatchesState::Not(why))) => view! {
            <Heading title="Token matches".to_owned()/>
            <p class="note">{why}</p>
        }
        .into_any(),
        Some(Ok(TokenMatchesState::At(ranker, matches))) => {
            view! { <MatchStrips name=name.clone() ranker matches/> }.into_any()
        }
    };
    Some(view! { <section class="section" aria-labelledby="tokens">{body}</section> })
}

async fn fetch_matches(
    query: String,
    texts: Vec<String>,
    specs: Vec<String>,
) -> Result<TokenMatchesState, api::RequestError> {
    // The pause keeps a user who steps through a list from running the model for each instance.
    const PAUSE_MS: u32 = 600;
    TimeoutFuture::new(PAUSE_MS).await;
    let Some(server) = api::fetch_server_info().await? else {
        return Ok(TokenMatchesState::NoServer);
    };
    if texts.len() as u64 > server.max_documents {
        return Ok(TokenMatchesState::Not(
            "There are more documents here than the server accepts per request. The operator can \
             match more after signing in.",
        ));
    }
    let known: Vec<&String> = specs
        .iter()
        .filter(|it| server.models.iter().any(|model| model.spec == **it))
        .collect();
    if known.is_empty() {
        return Ok(TokenMatchesState::Not(
            "The server no longer has this study's models. The operator can add them with \
             `axioscope serve --model`.",
        ));
    }
    for spec in known {
        let request = ScoreDocumentsRequest {
            model: spec.clone(),
            query: query.clone(),
            documents: texts.clone(),
        };
        let scored = api::send_and_parse(&request).await?;
        if !scored.similarities.is_empty() {
            return Ok(TokenMatchesState::At(scored.ranker, scored.similarities));
        }
    }
    Ok(TokenMatchesState::Not(
        "This study has no late-interaction ranker.",
    ))
}

#[component]
fn Heading(title: String) -> impl IntoView {
    view! {
        <header>
            <h2 id="tokens">{title}</h2>
        </header>
    }
}

/// Renders a map for each document, or the table of the best matches.
#[component]
fn MatchStrips(name: String, ranker: RankerInfo, matches: Vec<TokenSimilarities>) -> impl IntoView {
    let as_table = RwSignal::new(false);
    let turn = Callback::new(move |()| as_table.update(|it| *it = !*it));
    let all = StoredValue::new((name, matches));
    let csv = Callback::new(move |()| {
        all.with_value(|(name, matches)| {
            let text = report::table_to_csv(&token_match_map::token_cosines_table(matches, name));
            download::offer_text_download(&format!("{name}.csv"), "text/csv", &text);
        });
    });
    let svg = Callback::new(move |()| {
        all.with_value(|(name, matches)| {
            for (at, it) in matches.iter().enumerate() {
                let figure = token_match_map::token_match_figure(&document_title(at), it);
                let text = plot::figure_to_svg(&figure, FigureTheme::Light);
                download::offer_text_download(
                    &format!("{name}-{}.svg", at + 1),
                    "image/svg+xml",
                    &text,
                );
            }
        });
    });
    let body = move || match as_table.get() {
        true => {
            let table = all.with_value(|(name, matches)| {
                token_match_map::best_token_matches_table(matches, name)
            });
            view! { <ReportTableView table/> }.into_any()
        }
        false => {
            let strips = all.with_value(|(_, matches)| {
                let strips = matches.iter().cloned().enumerate();
                let strips = strips.map(|(at, matches)| {
                    view! { <TokenMatchMap matches name=document_title(at)/> }
                });
                strips.collect_view()
            });
            view! { <div class="docs strips">{strips}</div> }.into_any()
        }
    };
    let note = ranker.note.map(|it| format!("; {it}")).unwrap_or_default();
    view! {
        <header>
            <h2 id="tokens">{format!("Token matches of {}", ranker.label)}</h2>
            <p class="note">
                "Similarity of each query token to each document token; a stronger color is more \
                 similar, and the frame marks the best match, which is added to the score" {note}
            </p>
            <FigureExportButtons of="tokens" table=as_table turn svg csv/>
        </header>
        {body}
    }
}

/// Returns the title of the document at an index, as in `Document 1`.
pub(crate) fn document_title(at: usize) -> String {
    format!("Document {}", at + 1)
}
