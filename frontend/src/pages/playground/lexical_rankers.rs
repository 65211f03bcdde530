//! The scores of BM25 and query likelihood, with the contribution of each term.

use leptos::prelude::*;

use super::input::PlaygroundSettingsField;
use super::state::PlaygroundState;
use super::term_scores::TermScoreTable;
use crate::widgets::section::Section;

/// Renders the section with the lexical rankers.
#[component]
pub(super) fn LexicalRankersSection(
    /// The state of the page.
    desk: PlaygroundState,
) -> impl IntoView {
    let form = desk.settings_with_errors();
    let table = move |place: usize| {
        let answer = desk.evaluation_result()?;
        let contributions = answer.contributions.get(place)?.clone();
        Some(view! { <TermScoreTable contributions terms=answer.terms.clone()/> })
    };
    let idf = vec![("lucene", "lucene"), ("rsj", "rsj")];
    view! {
        <Section id="rankers" name="Scores">
            <div class="parameters" role="group" aria-label="Parameters of BM25">
                <b>"BM25"</b>
                {form.number_field(PlaygroundSettingsField::K1, "k1", |it| &mut it.k1)}
                {form.number_field(PlaygroundSettingsField::B, "b", |it| &mut it.b)}
                {form.string_select("idf", idf, |it| &mut it.idf)}
            </div>
            {move || table(0)}
            <div class="parameters" role="group" aria-label="Parameters of query likelihood">
                <b>"QL"</b>
                {form.number_field(PlaygroundSettingsField::Mu, "μ, terms", |it| &mut it.mu)}
            </div>
            {move || table(1)}
        </Section>
    }
}
