//! What BM25 and query likelihood say, and which term decides.

use leptos::prelude::*;

use super::contributions::TermScores;
use super::desk::Desk;
use super::sheet::Field;
use crate::widgets::form::{Number, WordChoice};
use crate::widgets::section::Section;

/// The section of the page.
#[component]
pub(super) fn Rankers(
    /// The page.
    desk: Desk,
) -> impl IntoView {
    let form = desk.form();
    let table = move |place: usize| {
        let answer = desk.answer()?;
        let contributions = answer.contributions.get(place)?.clone();
        Some(view! { <TermScores contributions terms=answer.terms.clone()/> })
    };
    let idf = vec![("lucene", "lucene"), ("rsj", "rsj")];
    view! {
        <Section id="rankers" name="What the rankers say">
            <div class="parameters" role="group" aria-label="Parameters of BM25">
                <b>"BM25"</b>
                <Number form field=Field::K1 label="k1" text=|it| &mut it.k1/>
                <Number form field=Field::B label="b" text=|it| &mut it.b/>
                <WordChoice form label="idf" options=idf text=|it| &mut it.idf/>
            </div>
            {move || table(0)}
            <div class="parameters" role="group" aria-label="Parameters of query likelihood">
                <b>"QL"</b>
                <Number form field=Field::Mu label="μ, terms" text=|it| &mut it.mu/>
            </div>
            {move || table(1)}
        </Section>
    }
}
