//! The query terms: how rare they are, and how often they occur in each document.

use leptos::prelude::*;
use shared::report::format;
use shared::study::instance_details::QueryTermInfo;
use shared::study::playground::PlaygroundResult;

use super::state::{NAMES, PlaygroundState};
use crate::number_format::format_count_with_noun;
use crate::widgets::highlighted_text::HighlightedQueryTerm;
use crate::widgets::section::Section;

/// Renders the section with the query terms.
#[component]
pub(super) fn QueryTermSection(
    /// The state of the page.
    desk: PlaygroundState,
) -> impl IntoView {
    let from = move || match desk.settings.with(|it| it.study.clone()) {
        None => "These documents are the collection.".to_owned(),
        Some(study) => format!("Statistics of {study}"),
    };
    let body = move || match desk.evaluation_result() {
        None => view! { <p class="note">"Query terms appear here once you type a query."</p> }
            .into_any(),
        Some(answer) if answer.terms.is_empty() => {
            view! { <p class="note">"The analyzer leaves no terms of this query."</p> }.into_any()
        }
        Some(answer) => view! { <QueryTermTable answer=(*answer).clone()/> }.into_any(),
    };
    let unseen = move || {
        let known = desk.settings.with(|it| it.study.is_some());
        let terms = desk.query_term_infos();
        let unseen: Vec<String> = terms
            .into_iter()
            .filter(|it| it.df == 0)
            .map(|it| it.surface_form)
            .collect();
        (known && !unseen.is_empty()).then(|| {
            let said = format!(
                "Not in this collection, counted as unseen: {}.",
                unseen.join(", ")
            );
            view! { <p class="note">{said}</p> }
        })
    };
    let header = move || view! { <p class="note">{from}</p> };
    view! {
        <Section id="terms" name="Query terms" header>
            {body}
            {unseen}
        </Section>
    }
}

#[component]
fn QueryTermTable(answer: PlaygroundResult) -> impl IntoView {
    let n_texts = answer.docs.len();
    let names = NAMES[..n_texts].iter();
    let names = names
        .map(|it| view! { <th class="num" scope="col">{*it}</th> })
        .collect_view();
    let terms = answer.terms.clone();
    let rows = terms.iter().enumerate().map(|(place, term)| {
        let counts = (0..n_texts).map(|text| {
            view! { <td class="num">{format::format_count(occurrences(&answer, place, text))}</td> }
        });
        let counts = counts.collect_view();
        let terms = terms.clone();
        let twice = (term.count > 1).then(|| format!(" ×{}", term.count));
        view! {
            <tr>
                <th scope="row" title=term.term.clone()>
                    <HighlightedQueryTerm terms place/> {twice}
                </th>
                <td class="num">{format::format_count(u64::from(term.df))}</td>
                <td class="num">{format::format_count(term.cf)}</td>
                {counts}
            </tr>
        }
    });
    let rows = rows.collect_view();
    let finding = rarest_term_finding(&terms);
    view! {
        <p class="finding">{finding}</p>
        <table class="scored">
            <caption class="unseen">
                "Query terms with their statistics and their occurrences in each document"
            </caption>
            <thead>
                <tr>
                    <th scope="col">"Term"</th>
                    <th class="num" scope="col">
                        <abbr title="documents that contain the term">"df"</abbr>
                    </th>
                    <th class="num" scope="col">
                        <abbr title="occurrences in the collection">"cf"</abbr>
                    </th>
                    {names}
                </tr>
            </thead>
            <tbody>{rows}</tbody>
        </table>
    }
}

/// Says which query terms are in the fewest documents; none if all terms are in equally many.
fn rarest_term_finding(terms: &[QueryTermInfo]) -> Option<String> {
    let lowest = terms.iter().map(|it| it.df).min()?;
    let (rarest, others): (Vec<_>, Vec<_>) = terms.iter().partition(|it| it.df == lowest);
    let names = rarest.iter().map(|it| format!("“{}”", it.surface_form));
    let names: Vec<String> = names.collect();
    let documents = format_count_with_noun(u64::from(lowest), "document", "documents");
    (!others.is_empty()).then(|| match names.len() {
        1 => format!(
            "{} is the rarest query term: it is in {documents}.",
            names[0]
        ),
        _ => format!(
            "The rarest query terms are {}, each in {documents}.",
            names.join(", ")
        ),
    })
}

/// Counts the highlights of a query term in a document, which are its occurrences.
fn occurrences(answer: &PlaygroundResult, term: usize, text: usize) -> u64 {
    answer.docs[text]
        .marks
        .iter()
        .filter(|it| it.term_index as usize == term)
        .count() as u64
}
