//! The statistics of the selected query term, and the queries that contain it.

use leptos::prelude::*;
use shared::late_interaction::{LateInteractionRankerAnalysis, LateInteractionWordStatistics};
use shared::report::format;

use super::address::LateInteractionPageState;
use super::documents::scroll_to_documents;
use super::instance_links::LinksToInstanceLists;
use crate::number_format::format_count_with_noun;
use crate::widgets::section::Section;

/// The number of queries that are listed at first.
const INITIAL_ROWS: usize = 25;

/// Renders the statistics of the selected query term: its idf, importance, exact and soft matches,
/// and the queries that contain it.
#[component]
pub(super) fn SelectedQueryTermDetails(
    word: LateInteractionWordStatistics,
    found: StoredValue<LateInteractionRankerAnalysis>,
    /// Links to the instances.
    lists: Memo<LinksToInstanceLists>,
    scene: LateInteractionPageState,
) -> impl IntoView {
    let of = |value: Option<f64>| {
        value.map_or(format::MISSING.to_owned(), |it| format::format_score(it, 3))
    };
    let soft = word.soft_matches.iter().map(|it| {
        let share = format::format_two_digit_fraction(it.share);
        view! { <li><code>{it.token.clone()}</code> " " {share}</li> }
    });
    let soft = soft.collect_view();
    let n = word.query_nos.len();
    let n_queries = format_count_with_noun(n as u64, "query contains it", "queries contain it");
    let all = RwSignal::new(n <= INITIAL_ROWS);
    let asked = move || {
        let n_shown = if all.get() { n } else { INITIAL_ROWS };
        let each = word.query_nos.iter().take(n_shown).filter_map(|&at| {
            let at = at as usize;
            let query = found.with_value(|it| it.header.queries.get(at).cloned())?;
            Some(view! { <QueryLinks at query lists scene/> })
        });
        each.collect_view()
    };
    let more = move || {
        (!all.get()).then(|| {
            let label = format!("Show all {}", format::format_count(n as u64));
            view! {
                <button class="btn" type="button" on:click=move |_| all.set(true)>{label}</button>
            }
        })
    };
    let pieces = word.tokens.join(" ");
    let header = move || {
        let close = move |_| scene.update(|it| it.term = None);
        view! {
            <p class="note">{pieces.clone()}</p>
            <button class="btn bare" type="button" on:click=close>"Close"</button>
        }
    };
    view! {
        <Section id="term" name=word.word class="section term" header>
            <dl class="facts">
                <div><dt>"idf"</dt><dd>{of(word.idf)}</dd></div>
                <div><dt>"importance"</dt><dd>{of(word.importance)}</dd></div>
                <div>
                    <dt>"importance (ranking without the term as reference)"</dt>
                    <dd>{of(word.importance_reversed)}</dd>
                </div>
                <div><dt>"ΔES"</dt><dd>{of(word.delta_es)}</dd></div>
                <div>
                    <dt>"exact match"</dt>
                    <dd>{format::format_two_digit_fraction(word.exact_share)}</dd>
                </div>
                <div>
                    <dt>"match with another query term"</dt>
                    <dd>{format::format_two_digit_fraction(word.other_query_token_share)}</dd>
                </div>
            </dl>
            <p class="note">"Its most frequent matches with other tokens:"</p>
            <ul class="words">{soft}</ul>
            <p class="note">{n_queries}</p>
            <ul class="notes">{asked}</ul>
            {more}
        </Section>
    }
}

/// Renders a query with links to its instances and documents.
#[component]
fn QueryLinks(
    at: usize,
    query: String,
    lists: Memo<LinksToInstanceLists>,
    scene: LateInteractionPageState,
) -> impl IntoView {
    let text = query.clone();
    let instances = move || {
        let first =
            |it: &LinksToInstanceLists| Some(it.query_instances_href(*it.probes.first()?, &text));
        match lists.with(first) {
            Some(href) => view! { <a href=href>{text.clone()}</a> }.into_any(),
            None => text.clone().into_any(),
        }
    };
    view! {
        <li>
            <span dir="auto">{instances}</span>
            " "
            <a
                class="btn bare"
                href=move || scene.query_href(at)
                data-noscroll=""
                on:click=|_| scroll_to_documents()
            >
                "Show its documents"
                <span class="unseen">": " {query}</span>
            </a>
        </li>
    }
}
