//! The behavioral tests, with each manipulation applied to an example text by the worker.

use leptos::prelude::*;
use shared::api::worker::ManipulateTextRequest;
use shared::probe::Manipulation;
use shared::probe::measure_and_match::DocumentMeasurement;
use shared::study::playground::PlaygroundManipulationInput;
use shared::text::Analyzer;

use crate::api;
use crate::widgets::resource_view::RequestErrorMessage;
use crate::widgets::section::Section;
use crate::widgets::text_diff::{
    DiffLabelWording, TextDiffView, diff_words, summarize_text_changes,
};

const QUERY: &str = "harbour light";

/// A text that every manipulation of a single document changes.
const TEXT: &str = "The old light stands at the end of the harbour. It was built in 1862, and \
     its lamp is lit before dusk. Sailors have seen it from far away.";

/// A text that is not relevant to the query.
const NON_RELEVANT_TEXT: &str =
    "A good loaf rests under a cloth. Bakers have known this for centuries.";

/// Renders the section on behavioral tests.
#[component]
pub(super) fn BehavioralTests() -> impl IntoView {
    view! {
        <Section id="behaviours" name="Behavioral tests">
            <p>
                "A behavioral test measures which of two documents a ranker prefers; there is no \
                 right answer. A sample is a query with document 1 and document 2. With the tie \
                 threshold ε, the effect of a sample is"
            </p>
            <p class="formula">
                <span>"+1 if S(d1) − S(d2) > ε"</span>
                <span>"−1 if S(d1) − S(d2) < −ε"</span>
                <span>"0 otherwise"</span>
            </p>
            <p>
                "and the effect of a test on a ranker is the mean over its samples, from −1 to \
                 1. Based on "
                <cite>"ABNIRML"</cite> " (MacAvaney et al., TACL 2022), with its manipulations \
                     and further ones. Where the published code counts in the opposite \
                     direction, the direction used here is stated."
            </p>
            <MeasureAndMatchSection/>
            <section class="axiom-about" id="manipulations" aria-labelledby="manipulations-title">
                <h3 id="manipulations-title">"Manipulations"</h3>
                <p class="statement">
                    "A document is compared with an edited copy. Positive: the ranker prefers \
                     the edited copy."
                </p>
                <p class="formula">"d1 = edited copy of d2: S(d1) − S(d2)"</p>
                <ManipulationExamples/>
            </section>
            <section class="axiom-about" id="transfer" aria-labelledby="transfer-title">
                <h3 id="transfer-title">"Dataset transfer"</h3>
                <p class="statement">
                    "Document pairs from a dataset made for another purpose: fluent and \
                     disfluent, formal and informal, short and long. Positive: the ranker prefers \
                     the first document. In a symmetric set, such as paraphrases, positive means \
                     that the two scores differ."
                </p>
                <p class="formula">
                    <span>"transfer:NAME: S(a) − S(b)"</span>
                    <span>"symmetric:NAME: |S(a) − S(b)|"</span>
                </p>
            </section>
        </Section>
    }
}

/// Renders the part on measure and match.
#[component]
fn MeasureAndMatchSection() -> impl IntoView {
    let measures = DocumentMeasurement::ALL.iter().map(|it| {
        view! { <li><code>{it.slug()}</code> " " <span class="note">{it.name()}</span></li> }
    });
    view! {
        <section class="axiom-about" id="match" aria-labelledby="match-title">
            <h3 id="match-title">"Measure and match"</h3>
            <p class="statement">
                "Two documents that are equal in one measurement and differ in another. Positive: \
                 the ranker prefers the one with the larger value of the second measurement."
            </p>
            <p class="formula">
                "match:length:tf: length(d1) = length(d2), tf(d1) > tf(d2): S(d1) − S(d2)"
            </p>
            <ul class="words">{measures.collect_view()}</ul>
        </section>
    }
}

/// Renders each manipulation with the text that it produces.
#[component]
fn ManipulationExamples() -> impl IntoView {
    let made = api::fetch_on_signal_change(|| ManipulateTextRequest {
        manipulation: PlaygroundManipulationInput {
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
            // The placeholder reserves the space of the example.
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
            <dt>"document"</dt>
            <dd class="text">{TEXT}</dd>
        </dl>
        <p class="note">
            "Changes that each manipulation makes to this document: " <ins>"added"</ins> ", "
            <del>"removed"</del>
            ", " <span class="moved">"moved"</span>
            ". Sentences and words of other documents come from “" {NON_RELEVANT_TEXT} "”"
        </p>
        <RequestErrorMessage answer=made/>
        <dl class="manipulations">
            {rows.collect_view()}
            <ManipulationRow manipulation=Manipulation::AppendExpansions>
                <p class="note">"Needs a model that generates queries."</p>
            </ManipulationRow>
            <ManipulationRow manipulation=Manipulation::ReplaceSynonyms(5)>
                <p class="note">"Needs word vectors."</p>
            </ManipulationRow>
        </dl>
    }
}

#[component]
fn ManipulationRow(manipulation: Manipulation, children: Children) -> impl IntoView {
    let about = manipulation.probe_description();
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
    /// The manipulated text; none if nothing is changed.
    made: Option<String>,
) -> impl IntoView {
    let pieces = made.and_then(|it| diff_words(TEXT, &it));
    match pieces {
        Some(pieces) => view! {
            <div>
                <span class="unseen">
                    {summarize_text_changes(&pieces, DiffLabelWording::Edited)} ": "
                </span>
                <TextDiffView pieces/>
            </div>
        }
        .into_any(),
        None => view! { <p class="note">"This manipulation does not change this document."</p> }
            .into_any(),
    }
}
