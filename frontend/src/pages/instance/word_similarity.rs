//! The words of the documents that are most similar to the query.

use leptos::prelude::*;
use shared::report::format;
use shared::study::instance_details::{InstanceDetails, NonQueryWordsSimilarityToQuery};

use crate::widgets::section::Section;
use crate::widgets::table::{ColumnHeading, HeadedTable};

/// Renders the section, for axioms that use word vectors.
#[component]
pub(super) fn QuerySimilarWordsSection(
    /// The instance.
    shown: InstanceDetails,
) -> impl IntoView {
    let texts: Vec<NonQueryWordsSimilarityToQuery> = shown
        .docs
        .into_iter()
        .filter_map(|it| it.query_similarity)
        .collect();
    if texts.is_empty() {
        return ().into_any();
    }
    let rows = texts
        .into_iter()
        .enumerate()
        .map(|(at, it)| view! { <SimilarWordsRow number=at + 1 likeness=it/> })
        .collect_view();
    let header = || {
        view! { <span class="note">"Cosine of word vectors; query terms are left out."</span> }
    };
    let name = "Words of each document that are most similar to the query";
    let heads = [
        ColumnHeading::for_text_column("Document"),
        ColumnHeading::for_number_column("mean over its words"),
        ColumnHeading::for_text_column("most similar to the query"),
        ColumnHeading::for_number_column("words with a vector"),
    ];
    view! {
        <Section id="like-words" name="Words similar to the query" header>
            <HeadedTable name class="like-words" heads>{rows}</HeadedTable>
        </Section>
    }
    .into_any()
}

#[component]
fn SimilarWordsRow(number: usize, likeness: NonQueryWordsSimilarityToQuery) -> impl IntoView {
    let words = likeness.nearest_words.into_iter().map(|it| {
        view! {
            <li>{it.word} " " <span class="note">{format::format_score(it.cosine, 2)}</span></li>
        }
    });
    let known = format!(
        "{} of {}",
        format::format_count(u64::from(likeness.n_with_vector)),
        format::format_count(u64::from(likeness.n_words))
    );
    let to_query = likeness.cosine;
    view! {
        <tr>
            <th scope="row">{number}</th>
            <td class="num">{to_query.map_or("–".to_owned(), |it| format::format_score(it, 4))}</td>
            <td><ul class="words" dir="auto">{words.collect_view()}</ul></td>
            <td class="num">{known}</td>
        </tr>
    }
}
