//! A query, the documents that the ranker puts first for it, and the token matches in one of them.

use leptos::prelude::*;
use shared::api::GetLateInteractionTopDocumentsRequest;
use shared::late_interaction::LateInteractionRankerAnalysis;
use shared::report::format;
use shared::study::instance_details::HighlightedText;
use shared::study::top_documents::{TopDocument, TopDocuments};

use super::address::LateInteractionPageState;
use super::instance_links::LinksToInstanceLists;
use crate::api;
use crate::number_format::format_count_with_noun;
use crate::widgets::highlighted_text::HighlightedTextView;
use crate::widgets::resource_view::RequestReplyView;
use crate::widgets::section::Section;
use crate::widgets::table::{ColumnHeading, HeadedTable};
use crate::widgets::token_matches::TokenMatchesSection;

/// The number of queries that are suggested at once.
const SUGGESTED_QUERIES: usize = 12;

/// The number of characters of a document that the list shows.
const PREVIEW_CHARS: usize = 160;

/// Renders the section with the documents of a query.
#[component]
pub(super) fn QueryDocuments(
    /// The name of the ranker in addresses.
    slug: String,
    found: StoredValue<LateInteractionRankerAnalysis>,
    /// Links to the instances.
    lists: Memo<LinksToInstanceLists>,
    scene: LateInteractionPageState,
) -> impl IntoView {
    let query = Memo::new(move |_| scene.view.get().query);
    let firsts = LocalResource::new(move || {
        let asked = query
            .get()
            .map(|query| GetLateInteractionTopDocumentsRequest {
                study: scene.study.get_value(),
                ranker: slug.clone(),
                query,
            });
        async move {
            match asked {
                Some(asked) => api::send_and_parse(&asked).await.map(Some),
                None => Ok(None),
            }
        }
    });
    let shown = move |firsts: Option<TopDocuments>| {
        firsts
            .map(|firsts| view! { <TopDocumentList firsts found lists scene/> })
            .into_any()
    };
    view! {
        <Section
            id="texts"
            name="Query and documents"
            class="section asking"
            note="Select a query, then a document, to see the match of every query token with \
                 every document token."
        >
            <QuerySearch found query scene/>
            <RequestReplyView answer=firsts until="Loading documents" shown/>
        </Section>
    }
}

/// Scrolls the section into view.
pub(super) fn scroll_to_documents() {
    if let Some(section) = document().get_element_by_id("texts") {
        section.scroll_into_view();
    }
}

/// Renders the search field for queries with the matches; while no query is selected, it suggests
/// the first ones.
#[component]
fn QuerySearch(
    found: StoredValue<LateInteractionRankerAnalysis>,
    query: Memo<Option<usize>>,
    scene: LateInteractionPageState,
) -> impl IntoView {
    let sought = RwSignal::new(String::new());
    let offered = move || {
        let sought = sought.with(|it| it.trim().to_lowercase());
        if sought.is_empty() && query.get().is_some() {
            return Vec::new();
        }
        found.with_value(|it| {
            let each = it.header.queries.iter().cloned().enumerate();
            let fitting = each.filter(|(_, it)| it.to_lowercase().contains(&sought));
            fitting.take(SUGGESTED_QUERIES).collect()
        })
    };
    let links = move || {
        let each = offered().into_iter().map(|(at, text)| {
            view! {
                <li dir="auto">
                    <a
                        href=move || scene.query_href(at)
                        data-noscroll=""
                        on:click=move |_| sought.set(String::new())
                    >
                        {text}
                    </a>
                </li>
            }
        });
        each.collect_view()
    };
    let none = move || {
        let none = offered().is_empty() && sought.with(|it| !it.trim().is_empty());
        none.then_some("No query matches.")
    };
    view! {
        <label class="field sought">
            <span class="label">"Search queries"</span>
            <input type="search" prop:value=move || sought.get() on:input:target=move |event| {
                sought.set(event.target().value());
            }/>
        </label>
        <p class="note" role="status">{none}</p>
        <ul class="links">{links}</ul>
    }
}

/// Renders the list of the top documents of a query.
#[component]
fn TopDocumentList(
    firsts: TopDocuments,
    found: StoredValue<LateInteractionRankerAnalysis>,
    lists: Memo<LinksToInstanceLists>,
    scene: LateInteractionPageState,
) -> impl IntoView {
    let TopDocuments {
        query_id,
        query,
        n_docs: n_texts,
        is_scored: scored,
        docs: texts,
    } = firsts;
    let at = scene.view.get_untracked().query.unwrap_or_default();
    let is_known = found.with_value(|it| it.header.queries.get(at) == Some(&query));
    let other = (!is_known).then_some(
        "The study's query differs from the one that was analyzed. Run `axioscope \
         late-interaction` again.",
    );
    let text = query.clone();
    let instances = move || {
        let ways = lists.with(|lists| {
            let each = lists.probes.iter();
            each.map(|&it| (it.name(), lists.query_instances_href(it, &text)))
                .collect::<Vec<_>>()
        });
        let ways = ways.into_iter();
        let ways = ways.map(|(name, href)| view! { " " <a href=href>{name}</a> });
        let ways: Vec<_> = ways.collect();
        (!ways.is_empty()).then(|| view! { <p class="note">"Instances of this query:" {ways}</p> })
    };
    let of = format_count_with_noun(n_texts, "candidate document", "candidate documents");
    let order = match scored {
        true => format!("The top {} of {of}, ranked by this ranker.", texts.len()),
        false => format!(
            "The study has no scores from this ranker. These are the first {} of {of}, in \
             candidate pool order.",
            texts.len()
        ),
    };
    let doc = Memo::new(move |_| scene.view.get().doc_id);
    let rows = texts
        .iter()
        .map(|first| view! { <DocumentRow first=first.clone() doc scene/> });
    let rows = rows.collect_view();
    let asked = query.clone();
    let chosen = move || {
        let doc = doc.get()?;
        let first = texts.iter().find(|it| it.id == doc)?.clone();
        Some(view! { <DocumentMatches first query=asked.clone() found scene/> })
    };
    let heads = [
        ColumnHeading::for_text_column("document"),
        ColumnHeading::for_text_column("id"),
        ColumnHeading::for_number_column("score"),
        ColumnHeading::for_number_column("grade"),
    ];
    view! {
        <h3 dir="auto">{query}</h3>
        <p class="label">"Query " <span class="hash">{query_id}</span></p>
        <p class="note">{other}</p>
        {instances}
        <p class="note">{order}</p>
        <HeadedTable name="Top documents" class="data asked" heads scrolls=true>{rows}</HeadedTable>
        {chosen}
    }
}

#[component]
fn DocumentRow(
    first: TopDocument,
    doc: Memo<Option<String>>,
    scene: LateInteractionPageState,
) -> impl IntoView {
    let id = first.id;
    let text = first.text.map(|it| marked_title(it, first.title_length));
    let name = match text {
        None => view! { <span class="note">"The text is not available."</span> }.into_any(),
        Some(text) => {
            let (own, to) = (id.clone(), id.clone());
            let href = move || scene.href_after_change(|it| it.doc_id = Some(to.clone()));
            let current = move || doc.with(|it| (it.as_ref() == Some(&own)).then_some("true"));
            view! {
                <a href=href data-noscroll="" aria-current=current>
                    <HighlightedTextView marked=preview_text(text) terms=Vec::new()/>
                </a>
            }
            .into_any()
        }
    };
    let missing = || format::MISSING.to_owned();
    view! {
        <tr>
            <th scope="row" dir="auto">{name}</th>
            <td class="hash">{id}</td>
            <td class="num">
                {first.score.map_or_else(missing, |it| format::format_score(it, 3))}
            </td>
            <td class="num">{first.grade.map_or_else(missing, |it| it.to_string())}</td>
        </tr>
    }
}

fn marked_title(text: String, title_length: u32) -> HighlightedText {
    HighlightedText {
        text,
        title_length,
        ..HighlightedText::default()
    }
}

/// Returns the beginning of a document, long enough to recognize it.
fn preview_text(marked: HighlightedText) -> HighlightedText {
    let text = marked.text.trim();
    let text = match text.char_indices().nth(PREVIEW_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None if text.is_empty() => "(empty)".to_owned(),
        None => text.to_owned(),
    };
    HighlightedText { text, ..marked }
}

/// Renders the selected document, with the matches of each query token.
#[component]
fn DocumentMatches(
    first: TopDocument,
    query: String,
    found: StoredValue<LateInteractionRankerAnalysis>,
    scene: LateInteractionPageState,
) -> impl IntoView {
    let text = first.text?;
    let name = format!(
        "{}-{}-tokens",
        scene.study.get_value(),
        first.id.replace(['/', '\\'], "-")
    );
    let specs = vec![found.with_value(|it| it.header.ranker.spec.clone())];
    let cut = first.is_truncated.then(
        || view! { <p class="note">"The document continues; only this part is compared."</p> },
    );
    let marked = marked_title(text.clone(), first.title_length);
    Some(view! {
        <article class="doc">
            <header>
                <b>"Document 1"</b>
                <span class="hash">{first.id}</span>
            </header>
            <p class="text" dir="auto"><HighlightedTextView marked terms=Vec::new()/></p>
            {cut}
        </article>
        <TokenMatchesSection name specs query texts=vec![text]/>
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_known_by_its_beginning() {
        let preview = |text: &str| preview_text(marked_title(text.to_owned(), 0)).text;
        assert_eq!(preview(" river \n"), "river");
        assert_eq!(preview(" "), "(empty)");
        let long = preview(&"é".repeat(PREVIEW_CHARS + 1));
        assert_eq!(long.chars().count(), PREVIEW_CHARS + 1);
        assert!(long.ends_with('…'));
    }
}
