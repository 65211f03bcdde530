//! What behaviours are, and each manipulation on one text, as the worker makes it.

use leptos::prelude::*;
use shared::api::worker::ManipulateTextRequest;
use shared::probe::Manipulation;
use shared::probe::measure_and_match::Measurement;
use shared::study::playground::PlaygroundManipulation;
use shared::text::Analyzer;

use crate::api;
use crate::widgets::resource_view::ResourceError;
use crate::widgets::section::Section;
use crate::widgets::text_diff::{ChangedText, DiffLabels, diff_words, summary};

const QUERY: &str = "harbour light";

/// Every manipulation of one text changes it.
const TEXT: &str = "The old light stands at the end of the harbour. It was built in 1862, and its \
                    lamp is lit before dusk. Sailors have seen it from far away.";

/// Not relevant to the query.
const NON_RELEVANT_TEXT: &str =
    "A good loaf rests under a cloth. Bakers have known this for centuries.";

/// The section of the page.
#[component]
pub(super) fn BehavioralTests() -> impl IntoView {
    view! {
        <Section id="behaviours" name="Behaviours">
            <p>
                "A behaviour asks which of two texts is preferred, and does not say which should
                be. A sample is a query with text 1 and text 2; with δ, the width of a tie, its
                effect is"
            </p>
            <p class="formula">
                <span>"+1 if S(d1) − S(d2) > δ"</span>
                <span>"−1 if S(d1) − S(d2) < −δ"</span>
                <span>"0 otherwise"</span>
            </p>
            <p>
                "and the score of a ranker is the mean effect of the samples, from −1 to 1. After "
                <cite>"ABNIRML"</cite> " (MacAvaney et al., TACL 2022), with its manipulations and
                further ones; where its published code counts the other direction, ours is said
                here."
            </p>
            <MeasureAndMatchSection/>
            <section class="axiom-about" id="manipulations" aria-labelledby="manipulations-title">
                <h3 id="manipulations-title">"Manipulations"</h3>
                <p class="statement">
                    "A document is changed in one way. Positive where the manipulated text is
                    preferred to the document as it is."
                </p>
                <p class="formula">"d1 = manipulated(d2): S(d1) − S(d2)"</p>
                <ManipulationExamples/>
            </section>
            <section class="axiom-about" id="transfer" aria-labelledby="transfer-title">
                <h3 id="transfer-title">"Dataset transfer"</h3>
                <p class="statement">
                    "Pairs that were made for another task: fluent and clumsy, formal and casual,
                    short and long. Positive where the first of a pair is preferred; of symmetric
                    pairs, as paraphrases are, where the scores differ."
                </p>
                <p class="formula">
                    <span>"transfer:NAME: S(a) − S(b)"</span>
                    <span>"symmetric:NAME: |S(a) − S(b)|"</span>
                </p>
            </section>
        </Section>
    }
}

/// Measure and match.
#[component]
fn MeasureAndMatchSection() -> impl IntoView {
    let measures = Measurement::ALL.iter().map(|it| {
        view! { <li><code>{it.slug()}</code> " " <span class="note">{it.name()}</span></li> }
    });
    view! {
        <section class="axiom-about" id="match" aria-labelledby="match-title">
            <h3 id="match-title">"Measure and match"</h3>
            <p class="statement">
                "Of two texts equal in one measurement, positive where the one larger in another is
                preferred."
            </p>
            <p class="formula">
                "match:length:tf: length(d1) = length(d2), tf(d1) > tf(d2): S(d1) − S(d2)"
            </p>
            <ul class="words">{measures.collect_view()}</ul>
        </section>
    }
}

/// Each manipulation with what it makes of the text.
#[component]
fn ManipulationExamples() -> impl IntoView {
    let made = api::fetch(|| ManipulateTextRequest {
        manipulation: PlaygroundManipulation {
            query: QUERY.to_owned(),
            document: TEXT.to_owned(),
            other_docs: vec![NON_RELEVANT_TEXT.to_owned()],
            manipulations: Manipulation::ALL.to_vec(),
            analyzer: Analyzer::default(),
        },
    });
    let rows = Manipulation::ALL.iter().enumerate().map(|(at, &it)| {
        let example = move || match made.get() {
            Some(Ok(made)) => view! { <Example made=made.get(at).cloned().flatten()/> }.into_any(),
            // Its room, until the example is there.
            Some(Err(_)) | None => {
                view! { <p class="text waiting" aria-hidden="true">{TEXT}</p> }.into_any()
            }
        };
        view! { <ManipulationRow manipulation=it>{example}</ManipulationRow> }
    });
    view! {
        <dl class="case">
            <dt>"query"</dt>
            <dd class="text">{QUERY}</dd>
            <dt>"text"</dt>
            <dd class="text">{TEXT}</dd>
        </dl>
        <p class="note">
            "Below, what each makes of this text: " <ins>"added"</ins> ", " <del>"dropped"</del>
            ", " <span class="moved">"moved"</span>
            ". Sentences and words of other documents come from “" {NON_RELEVANT_TEXT} "”"
        </p>
        <ResourceError answer=made/>
        <dl class="manipulations">
            {rows.collect_view()}
            <ManipulationRow manipulation=Manipulation::AppendExpansions>
                <p class="note">"It needs a model that writes queries."</p>
            </ManipulationRow>
            <ManipulationRow manipulation=Manipulation::ReplaceSynonyms(5)>
                <p class="note">"It needs word vectors."</p>
            </ManipulationRow>
        </dl>
    }
}

#[component]
fn ManipulationRow(manipulation: Manipulation, children: Children) -> impl IntoView {
    let about = manipulation.description();
    view! {
        <div id=format!("manipulation-{manipulation}")>
            <dt>
                <b>{manipulation.name()}</b>
                " "
                <code>{manipulation.slug()}</code>
                <span class="note">{about.statement}</span>
            </dt>
            <dd>{children()}</dd>
        </div>
    }
}

#[component]
fn Example(
    /// None where nothing is changed.
    made: Option<String>,
) -> impl IntoView {
    let pieces = made.and_then(|it| diff_words(TEXT, &it));
    match pieces {
        Some(pieces) => view! {
            <div>
                <span class="unseen">{summary(&pieces, DiffLabels::Edited)} ": "</span>
                <ChangedText pieces/>
            </div>
        }
        .into_any(),
        None => view! { <p class="note">"It leaves this text as it is."</p> }.into_any(),
    }
}
