//! The About page: the axioms, the behavioral tests, the other analyses, how the numbers are
//! computed, the API, and how to cite.

mod behavioral_tests;
mod ranker_analysis;
pub(crate) mod worked_example;
mod method;
mod human_judgments;

use leptos::prelude::*;
use shared::probe::Axiom;

use crate::keyboard::SHORTCUTS;
use crate::location::PageLocation;
use crate::pages::playground::input::PlaygroundInput;
use crate::routes::PageRoute;
use crate::site_host::{SiteHost, site_address};
use crate::widgets::section::Section;
use behavioral_tests::BehavioralTests;
use human_judgments::HumanJudgmentsHelp;
use method::{AxiomVariantsHelp, StatisticsHelp};
use ranker_analysis::{CompareRankersHelp, LateInteractionHelp};
use worked_example::AxiomWorkedExample;

/// Renders the About page: axioms, behavioral tests, lexical rankers, statistics, API and citation.
#[component]
pub(crate) fn AboutPage() -> impl IntoView {
    follow_anchor();
    let axioms = Axiom::ALL
        .iter()
        .map(|&axiom| view! { <AxiomEntry axiom/> })
        .collect_view();
    view! {
        <div class="about">
            <Contents/>
            <article>
                <h1>"About Axioscope"</h1>
                <p class="lead">
                    "A retrieval axiom says which of two documents a good ranker should score \
                     higher. Axioscope finds the document pairs in a collection to which an \
                     axiom applies, scores them with rankers, and reports how often each ranker \
                     agrees with the axiom, with confidence intervals. Every number links to \
                     the instances behind it, to the preconditions that each instance meets, \
                     and to the terms that determine its scores. The "
                    <a href=site_address("/docs/") rel="external">"documentation"</a>
                    " has a tutorial, guides and the reference of every file and command."
                </p>
                <Section id="axioms" name="The axioms">
                    <Symbols/>
                    {axioms}
                </Section>
                <BehavioralTests/>
                <FurtherAxioms/>
                <Formulas/>
                <CompareRankersHelp/>
                <LateInteractionHelp/>
                <HumanJudgmentsHelp/>
                <AxiomVariantsHelp/>
                <StatisticsHelp/>
                <ApiSection/>
                <Keys/>
                <Papers/>
                <License/>
            </article>
        </div>
    }
}

/// The sections of the page: anchor and name.
const SECTIONS: [(&str, &str); 13] = [
    ("axioms", "The axioms"),
    ("behaviours", "Behavioral tests"),
    ("ir_axioms", "Axioms of ir_axioms"),
    ("formulas", "Axiom formulas"),
    ("differ", "Compare rankers"),
    ("inside", "Late interaction"),
    ("reviewing", "Human judgments"),
    ("modes", "Variants of an axiom"),
    ("numbers", "How the numbers are computed"),
    ("api", "API"),
    ("keys", "Keyboard shortcuts"),
    ("cite", "Papers and citation"),
    ("licence", "Licenses and version"),
];

fn anchor(name: &str) -> String {
    format!("{}#{name}", PageRoute::About.href())
}

/// Scrolls to the section that the address names, also when the page is first opened.
fn follow_anchor() {
    let hash = PageLocation::from_context_or_browser().hash;
    Effect::new(move |_| {
        let name = hash.get();
        let name = name.trim_start_matches('#').to_owned();
        if !name.is_empty() {
            request_animation_frame(move || {
                if let Some(part) = document().get_element_by_id(&name) {
                    part.scroll_into_view();
                }
            });
        }
    });
}

/// Renders the table of contents.
#[component]
fn Contents() -> impl IntoView {
    let axioms = || {
        let axioms = Axiom::ALL.iter().map(|it| {
            view! { <li><a href=anchor(&it.slug())>{it.name()}</a></li> }
        });
        view! { <ul>{axioms.collect_view()}</ul> }
    };
    let sections = SECTIONS.iter().map(|(name, title)| {
        view! {
            <li>
                <a href=anchor(name)>{*title}</a>
                {(*name == "axioms").then(axioms)}
            </li>
        }
    });
    view! {
        <nav class="contents" aria-label="On this page">
            <ul>{sections.collect_view()}</ul>
        </nav>
    }
}

/// Renders the notation of the formulas.
#[component]
fn Symbols() -> impl IntoView {
    const SYMBOLS: [(&str, &str); 10] = [
        ("Q, w", "a query and one of its distinct terms"),
        (
            "d1, d2, d3",
            "documents, in the order in which the axiom names them",
        ),
        ("|d|", "length of a document, in terms"),
        ("c(w,d)", "number of occurrences of a term in a document"),
        (
            "Σ(d)",
            "total number of occurrences of the query terms in a document",
        ),
        (
            "Γ(d)",
            "smallest distance between two distinct query terms; adjacent terms have distance 1",
        ),
        ("cover(d)", "number of distinct query terms in a document"),
        ("d−Q", "terms of a document that are not in the query"),
        (
            "cos",
            "semantic similarity: cosine of the mean word vectors of two groups of words",
        ),
        ("S(d)", "score that a ranker gives a document for the query"),
    ];
    let rows = SYMBOLS.iter().map(|(symbol, said)| {
        view! { <div><dt class="formula">{*symbol}</dt><dd>{*said}</dd></div> }
    });
    view! {
        <dl class="symbols">
            {rows.collect_view()}
            <div>
                <dt class="formula">"δ"</dt>
                <dd>"length tolerance: the largest difference in length at which two documents \
                     count as equally long; 10 terms by default"</dd>
            </div>
        </dl>
    }
}

/// Renders one axiom with its worked example.
#[component]
fn AxiomEntry(axiom: Axiom) -> impl IntoView {
    let about = axiom.probe_description();
    let [premises, claim] = split_statement(about.formula);
    let example = match axiom {
        Axiom::IrAxioms(_) | Axiom::Formula(_) if about.example.is_empty() => ().into_any(),
        Axiom::IrAxioms(_) | Axiom::Formula(_) => {
            view! { <p><a href=playground_href(axiom)>"See an example in the Playground"</a></p> }
                .into_any()
        }
        _ => view! { <AxiomWorkedExample axiom/> }.into_any(),
    };
    let title = format!("{}-title", axiom.slug());
    let heading = title.clone();
    view! {
        <section class="axiom-about" id=axiom.slug() aria-labelledby=title>
            <h3 id=heading>
                <a href=anchor(&axiom.slug())>{about.name}</a>
                <span class="note">{about.short_title}</span>
            </h3>
            <p class="statement">{about.statement}</p>
            <p class="formula">
                <span>{premises}</span>
                <span>"⇒ " {claim}</span>
            </p>
            <dl class="facts-of">
                <dt>"Source"</dt>
                <dd>{about.source}</dd>
                <dt>"Known issues"</dt>
                <dd>{about.known_issues}</dd>
            </dl>
            {example}
        </section>
    }
}

/// Renders the axioms of ir_axioms, each with a link to its worked example.
#[component]
fn FurtherAxioms() -> impl IntoView {
    let axioms = Axiom::all_ir_axioms()
        .map(|axiom| view! { <AxiomEntry axiom/> })
        .collect_view();
    view! {
        <Section id="ir_axioms" name="Axioms of ir_axioms">
            <p>
                "Further axioms implemented in the ir_axioms package. It treats two numbers as \
                 about equal when they differ by at most 10 % of the larger one. Its release \
                 1.2.5 is the variant " <i>"as implemented by the authors"</i>
                "; the other variants correct deviations from the literature. Word similarity \
                 uses the available word vectors, and LB1 uses BM25."
            </p>
            {axioms}
        </Section>
    }
}

/// Renders how several axioms are combined into one.
#[component]
fn Formulas() -> impl IntoView {
    const OPERATORS: [(&str, &str); 8] = [
        ("a | b", "the first axiom that prefers a document decides"),
        ("a & b", "the document that both prefer"),
        (
            "a % b % c",
            "the document that at least half of them prefer, if more of them prefer it than the \
             other document",
        ),
        (
            "a + b, a - b",
            "sum of preferences: 1 for the first document, −1 for the second",
        ),
        ("2 * a, a / 2", "a preference with a weight"),
        (
            "-a, +a",
            "the opposite preference; the preference without its weight",
        ),
        (
            "a if len",
            "only if the documents differ in length by at most 10 %",
        ),
        (
            "a if undecided(b), a if decided(b)",
            "only if b has no preference; only if b has one",
        ),
    ];
    let rows = OPERATORS.iter().map(|(written, said)| {
        view! { <div><dt class="formula">{*written}</dt><dd>{*said}</dd></div> }
    });
    view! {
        <Section id="formulas" name="Axiom formulas">
            <p>
                "A formula that combines axioms can be used wherever an axiom can: in a study \
                 file, on the command line, in the Workbench and in the Playground. "
                <code>"tfc1 & (prox1 | tp)"</code>
                " prefers the document with more query-term occurrences, provided that they are \
                 also closer together. Operators from highest to lowest precedence: signs, "
                <code>"* / %"</code> ", "
                <code>"+ -"</code> ", " <code>"&"</code> ", " <code>"|"</code> ", "
                <code>"if"</code> "."
            </p>
            <dl class="symbols">{rows.collect_view()}</dl>
        </Section>
    }
}

/// Returns the address of the Playground with the worked example of an axiom.
fn playground_href(axiom: Axiom) -> String {
    let words = PlaygroundInput::worked_example_of_axiom(axiom.into()).to_link_parameters();
    let words = words.into_iter().filter(|it| !it.1.is_empty());
    PageRoute::Playground.href_with(words)
}

/// Splits a formula into its preconditions and its claim.
fn split_statement(formula: &'static str) -> [&'static str; 2] {
    match formula.split_once('⇒') {
        Some((premises, claim)) => [premises.trim(), claim.trim()],
        None => [formula, ""],
    }
}

/// Renders the section about the HTTP API.
#[component]
fn ApiSection() -> impl IntoView {
    if SiteHost::current().has_only_files {
        return view! {
            <Section id="api" name="API">
                <p>"This site has only files. A server has an API for everything that it shows."</p>
            </Section>
        }
        .into_any();
    }
    view! {
        <Section id="api" name="API">
            <p>
                "Everything that a page shows is available as JSON, for example at " <code>
                    "/api/studies/demo"
                </code> ". Errors come as "
                <code>"{error, error_type}"</code>
                " and say what to do. "
            </p>
            <ul class="links">
                <li>
                    <a href="/api/docs" rel="external">"/api/docs"</a> " for readers"
                </li>
                <li>
                    <a href="/api/openapi.json" rel="external">"/api/openapi.json"</a>
                    " for programs"
                </li>
            </ul>
            <p class="note">"Both need a server; a static host has no API."</p>
        </Section>
    }
    .into_any()
}

/// Renders the keyboard shortcuts of all pages.
#[component]
fn Keys() -> impl IntoView {
    let rows = SHORTCUTS.iter().map(|(place, keys)| {
        view! { <tr><th scope="row">{*place}</th><td>{*keys}</td></tr> }
    });
    view! {
        <Section
            id="keys"
            name="Keyboard shortcuts"
            note="Shortcuts are off while you type in a field."
        >
            <table class="keys-of"><tbody>{rows.collect_view()}</tbody></table>
        </Section>
    }
}

/// A paper that Axioscope reproduces or builds on.
struct CitedPaper {
    authors: &'static str,
    title: &'static str,
    venue: &'static str,
    /// What the paper is about.
    about: &'static str,
}

const PAPERS: [CitedPaper; 5] = [
    CitedPaper {
        authors: "Daniël Rennings, Felipe Moraes and Claudia Hauff",
        title: "An Axiomatic Approach to Diagnosing Neural IR Models",
        venue: "ECIR 2019",
        about: "diagnostic datasets from TFC1, TFC2, M-TDC and LNC2",
    },
    CitedPaper {
        authors: "Arthur Câmara and Claudia Hauff",
        title: "Diagnosing BERT with Retrieval Heuristics",
        venue: "ECIR 2020",
        about: "the same method for BERT, with preconditions relaxed for long documents, plus \
             LNC1 and TP",
    },
    CitedPaper {
        authors: "Sean MacAvaney et al.",
        title: "ABNIRML: Analyzing the Behavior of Neural IR Models",
        venue: "TACL 2022",
        about: "behavioral tests, which are not axioms: measure-and-match, manipulations, \
             dataset transfer",
    },
    CitedPaper {
        authors: "Harshith Padigela, Hamed Zamani and W. Bruce Croft",
        title: "Investigating the Successes and Failures of BERT for Passage Re-Ranking",
        venue: "2019",
        about: "on which queries BERT beats BM25, and on which it does not",
    },
    CitedPaper {
        authors: "Thibault Formal, Benjamin Piwowarski and Stéphane Clinchant",
        title: "A White Box Analysis of ColBERT",
        venue: "ECIR 2021",
        about: "which terms a late-interaction model finds important, and which it matches exactly",
    },
];

/// Renders the papers, and how to cite Axioscope.
#[component]
fn Papers() -> impl IntoView {
    let papers = PAPERS.iter().map(|it| {
        view! {
            <li>
                {it.authors} ". " <cite>{it.title}</cite> ". " {it.venue} "."
                <span class="note">{it.about}</span>
            </li>
        }
    });
    let software = format!("Axioscope, version {}", env!("CARGO_PKG_VERSION"));
    view! {
        <Section id="cite" name="Papers and citation">
            <ol class="papers">{papers.collect_view()}</ol>
            <p>
                "Cite the paper whose axioms and variants you use, and name the software so \
                 that the numbers can be reproduced: " <q>{software}</q>
                ", with the name of the study and the hash of its instances, both of which are \
                 on its page and in every export."
            </p>
        </Section>
    }
}

/// Renders the licenses.
#[component]
fn License() -> impl IntoView {
    view! {
        <Section id="licence" name="Licenses and version">
            <dl class="facts-of">
                <dt>"Software"</dt>
                <dd>{env!("CARGO_PKG_LICENSE")} ", version " {env!("CARGO_PKG_VERSION")}</dd>
                <dt>"Demo collection"</dt>
                <dd>
                    "512 passages, 64 queries and their relevance judgments, written for \
                     Axioscope and dedicated to the public domain (CC0 1.0)"
                </dd>
                <dt>"Your documents"</dt>
                <dd>
                    "stay in this browser until you send them; neural scoring in the Playground \
                     sends what you type to this server"
                </dd>
            </dl>
        </Section>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_formula_has_premises_and_a_claim() {
        for axiom in Axiom::ALL.iter().copied().chain(Axiom::all_ir_axioms()) {
            let [premises, claim] = split_statement(axiom.probe_description().formula);
            assert!(!premises.is_empty() && claim.starts_with("S("), "{axiom:?}");
        }
    }
}
