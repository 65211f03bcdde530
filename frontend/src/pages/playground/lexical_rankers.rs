//! The scores of BM25 and query likelihood, with the contribution of each term.

use leptos::prelude::*;

use super::state::PlaygroundState;
use super::term_scores::TermScoreTable;
use crate::widgets::section::Section;

/// Renders the section with the lexical rankers.
#[component]
pub(super) fn LexicalRankersSection(
    /// The state of the page.
    desk: PlaygroundState,
) -> impl IntoView {
    let tables = move || {
        let answer = desk.evaluation_result()?;
        let tables = answer.contributions.iter().map(|it| {
            view! { <TermScoreTable contributions=it.clone() terms=answer.terms.clone()/> }
        });
        Some(tables.collect_view())
    };
    view! {
        <Section
            id="rankers"
            name="Scores"
            note="What each query term adds to the scores of BM25 and QL."
        >
            {tables}
        </Section>
    }
}
