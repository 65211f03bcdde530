//! What BM25 and query likelihood say, and which term decides.

use leptos::prelude::*;

use super::Desk;
use super::contributions::TermScores;
use super::settings::{Choice, Number};
use super::sheet::Field;

/// The section of the page.
#[component]
pub(super) fn Rankers(
    /// The page.
    desk: Desk,
) -> impl IntoView {
    let table = move |place: usize| {
        let answer = desk.answer()?;
        let contributions = answer.contributions.get(place)?.clone();
        Some(view! { <TermScores contributions terms=answer.terms.clone()/> })
    };
    view! {
        <section class="section" aria-labelledby="rankers">
            <header>
                <h2 id="rankers">"What the rankers say"</h2>
            </header>
            <div class="parameters" role="group" aria-label="Parameters of BM25">
                <b>"BM25"</b>
                <Number
                    desk
                    field=Field::K1
                    label="k1"
                    get=|it| it.k1.clone()
                    set=|it, text| it.k1 = text
                />
                <Number
                    desk
                    field=Field::B
                    label="b"
                    get=|it| it.b.clone()
                    set=|it, text| it.b = text
                />
                <Choice
                    desk
                    label="idf"
                    options=vec![("lucene", "lucene"), ("rsj", "rsj")]
                    get=|it| it.idf.clone()
                    set=|it, word| it.idf = word
                />
            </div>
            {move || table(0)}
            <div class="parameters" role="group" aria-label="Parameters of query likelihood">
                <b>"QL"</b>
                <Number
                    desk
                    field=Field::Mu
                    label="μ, terms"
                    get=|it| it.mu.clone()
                    set=|it, text| it.mu = text
                />
            </div>
            {move || table(1)}
        </section>
    }
}
