//! The worked example of an axiom, computed when the page is opened.

use leptos::prelude::*;
use shared::probe::{Axiom, Probe};
use shared::report::format;
use shared::study::playground::{
    PlaygroundAxiomResult, PlaygroundResult, evaluate_playground_input,
};
use shared::verdict::VerdictWithMargin;

use crate::pages::playground::input::{PlaygroundInput, extra_collection_document_for_example};
use crate::pages::playground::preconditions::{DocumentAndTermNames, PreconditionList};
use crate::pages::playground::share_link;
use crate::pages::playground::verdict_chip::RankerVerdictChip;
use crate::routes::PageRoute;
use crate::widgets::highlighted_text::HighlightedTextView;
use crate::widgets::term_contributions::format_signed_score;

/// Renders what a probe states and, for an axiom with one, the worked example.
#[component]
pub(crate) fn StatementWithExample(
    /// The probe that is explained.
    probe: Probe,
) -> impl IntoView {
    let axiom = probe.as_axiom().filter(|it| Axiom::ALL.contains(it));
    view! {
        <p class="statement">{probe.probe_description().statement}</p>
        {axiom.map(|axiom| view! { <AxiomWorkedExample axiom/> })}
    }
}

/// Renders the query, the documents, the preconditions, and the verdicts of BM25 and QL.
#[component]
pub(crate) fn AxiomWorkedExample(
    /// The axiom of the example.
    axiom: Axiom,
) -> impl IntoView {
    let probe = Probe::Axiom(axiom);
    if probe.needs_word_vectors() {
        return view! {
            <p class="note">
                "This axiom concerns the meaning of words and needs word vectors: "
                <code>"axioscope mine --vectors FILE"</code> " reads GloVe and word2vec files."
            </p>
        }
        .into_any();
    }
    let sheet = PlaygroundInput::worked_example_of_axiom(probe);
    let href = format!(
        "{}#{}",
        PageRoute::Playground.href(),
        share_link::to_address_fragment(&sheet)
    );
    let name = probe.name();
    let typed = sheet
        .to_playground_request()
        .expect("the default settings are valid");
    let found = evaluate_playground_input(&typed, None).map(|it| applied_example(probe, &it));
    let body = match found {
        Ok(Some((answer, applied))) => view! { <ExampleView probe answer applied/> }.into_any(),
        Ok(None) => {
            view! { <p class="note">"Does not apply with the default limits."</p> }.into_any()
        }
        Err(error) => view! { <p class="verdict failed">{error.to_string()}</p> }.into_any(),
    };
    view! {
        <figure class="worked">
            <figcaption>
                <p><strong>"Worked example"</strong></p>
                <a class="btn bare" href=href>
                    "Open in the Playground" <span class="unseen">", " {name}</span>
                </a>
            </figcaption>
            {body}
        </figure>
    }
    .into_any()
}

fn applied_example(
    probe: Probe,
    answer: &PlaygroundResult,
) -> Option<(PlaygroundResult, PlaygroundAxiomResult)> {
    let applied = answer.axiom_results.iter().find(|it| it.probe == probe)?;
    Some((answer.clone(), applied.clone()))
}

/// Returns the number of digits that shows the margin of documents that differ by one word.
fn margin_digits(verdict: Option<VerdictWithMargin>) -> u8 {
    let margin = verdict.map_or(0.0, |it| it.margin.abs());
    format::score_decimals_for_spread(margin).clamp(3, 6)
}

#[component]
fn ExampleView(
    probe: Probe,
    answer: PlaygroundResult,
    applied: PlaygroundAxiomResult,
) -> impl IntoView {
    let order = applied.claim.docs_in_claim_order();
    let texts = order.iter().enumerate().filter_map(|(at, &place)| {
        let marked = answer.docs.get(place as usize)?.clone();
        let terms = answer.terms.clone();
        Some(view! {
            <dt>{format!("d{}", at + 1)}</dt>
            <dd class="text"><HighlightedTextView marked terms/></dd>
        })
    });
    let texts = texts.collect_view();
    let also = extra_collection_document_for_example(probe).map(|it| {
        view! {
            <dt>"also in the collection"</dt>
            <dd class="note">
                "The collection also contains “" {it} "”, which makes the term more common"
            </dd>
        }
    });
    let names = DocumentAndTermNames {
        documents: (1..=order.len()).map(|it| format!("d{it}")).collect(),
        terms: answer
            .terms
            .iter()
            .map(|it| it.surface_form.clone())
            .collect(),
    };
    let said = applied.verdicts.iter().map(|it| {
        let digits = margin_digits(it.verdict);
        let scores = it.scores.iter().flatten();
        let scores = scores.map(|it| format::format_score(*it, digits));
        let scores = scores.collect::<Vec<_>>().join(", ");
        let margin = it.verdict.map(|it| format_signed_score(it.margin, digits));
        view! {
            <li>
                <RankerVerdictChip who=it.ranker.label.clone() verdict=it.verdict/>
                <span class="label">
                    {scores} {margin.map(|it| format!("; margin {it}"))}
                </span>
            </li>
        }
    });
    let said = said.collect_view();
    view! {
        <dl class="case">
            <dt>"query"</dt>
            <dd class="text">
                <HighlightedTextView marked=answer.query.clone() terms=answer.terms.clone()/>
            </dd>
            {texts}
            {also}
        </dl>
        <PreconditionList premises=applied.preconditions names/>
        <ul class="said-of">{said}</ul>
        <p class="note">
            "These documents are the collection. BM25 with k1 1.2 and b .75; QL with Dirichlet \
             smoothing, μ 2500."
        </p>
    }
}
