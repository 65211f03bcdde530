//! What each axiom says, which behaviours there are, what else is asked of rankers, how the numbers
//! are made, the API, and how to cite.

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
use crate::pages::study::address::query_string;
use crate::routes::PageRoute;
use crate::widgets::section::Section;
use behavioral_tests::BehavioralTests;
use human_judgments::HumanJudgmentsHelp;
use method::{StatisticsHelp, VariantsHelp};
use ranker_analysis::{CompareRankersHelp, LateInteractionHelp};
use worked_example::WorkedExample;

/// Renders the About page: axioms, behavioral tests, lexical rankers, statistics, API and citation.
#[component]
pub(crate) fn About() -> impl IntoView {
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
                    "A retrieval axiom says which of two texts a good ranker should put first.
                    Axioscope finds the pairs in a collection to which an axiom applies, scores
                    them with rankers, and says how often each ranker agrees, with the bounds that
                    the data allow. Every number leads down to the single pair, the premises that
                    made it an instance, and the terms that decided its scores."
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
                <VariantsHelp/>
                <StatisticsHelp/>
                <ApiSection/>
                <Keys/>
                <Papers/>
                <License/>
            </article>
        </div>
    }
}

/// A section of the page: its anchor and its name.
const SECTIONS: [(&str, &str); 13] = [
    ("axioms", "The axioms"),
    ("behaviours", "Behaviours"),
    ("ir_axioms", "The axioms of ir_axioms"),
    ("formulas", "Formulas"),
    ("differ", "Where two rankers differ"),
    ("inside", "A ranker from inside"),
    ("reviewing", "Reviewing"),
    ("modes", "Readings"),
    ("numbers", "How the numbers are made"),
    ("api", "The API"),
    ("keys", "Keys"),
    ("cite", "Papers, and how to cite"),
    ("licence", "Licences and version"),
];

fn anchor(name: &str) -> String {
    format!("{}#{name}", PageRoute::About.href())
}

/// Brings the part that the address names into view, also when the page is opened with it.
fn follow_anchor() {
    let hash = PageLocation::current().hash;
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

/// What is on the page.
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

/// What the letters of the formulas stand for.
#[component]
fn Symbols() -> impl IntoView {
    const SYMBOLS: [(&str, &str); 10] = [
        ("Q, w", "a query, one of its distinct terms"),
        ("d1, d2, d3", "texts, in the order of the claim"),
        ("|d|", "length of a text, in terms"),
        ("c(w,d)", "how often a term stands in a text"),
        (
            "Σ(d)",
            "how often query terms stand in a text, all together",
        ),
        (
            "Γ(d)",
            "least distance of two distinct query terms; neighbours have 1",
        ),
        ("cover(d)", "how many distinct query terms stand in a text"),
        ("d−Q", "the words of a text that are not in the query"),
        (
            "cos",
            "likeness in meaning: cosine of the mean word vectors of two groups of words",
        ),
        ("S(d)", "the score that a ranker gives a text for the query"),
    ];
    let rows = SYMBOLS.iter().map(|(symbol, said)| {
        view! { <div><dt class="formula">{*symbol}</dt><dd>{*said}</dd></div> }
    });
    view! {
        <dl class="symbols">
            {rows.collect_view()}
            <div>
                <dt class="formula">"δ"</dt>
                <dd>"difference in length up to which texts count as equally long; usually 10"</dd>
            </div>
        </dl>
    }
}

/// One axiom with its worked example.
#[component]
fn AxiomEntry(axiom: Axiom) -> impl IntoView {
    let about = axiom.description();
    let [premises, claim] = split_statement(about.formula);
    let example = match axiom {
        Axiom::IrAxioms(_) | Axiom::Formula(_) if about.example.is_empty() => ().into_any(),
        Axiom::IrAxioms(_) | Axiom::Formula(_) => {
            view! { <p><a href=playground_href(axiom)>"See an example in the Playground"</a></p> }
                .into_any()
        }
        _ => view! { <WorkedExample axiom/> }.into_any(),
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
                <dt>"Known troubles"</dt>
                <dd>{about.known_issues}</dd>
            </dl>
            {example}
        </section>
    }
}

/// Those of the package, each with a link to its worked example.
#[component]
fn FurtherAxioms() -> impl IntoView {
    let axioms = Axiom::ir_axioms()
        .map(|axiom| view! { <AxiomEntry axiom/> })
        .collect_view();
    view! {
        <Section id="ir_axioms" name="The axioms of ir_axioms">
            <p>
                "What the package compares beside these, with its margins: two numbers are about
                equal whose difference is at most 10 % of the larger. Its release 1.2.5 is the
                reading " <i>"as in published code"</i>
                "; the other readings mend what it does otherwise than the literature. Word
                likeness is that of the word vectors at hand, and LB1 takes BM25."
            </p>
            {axioms}
        </Section>
    }
}

/// How several axioms become one.
#[component]
fn Formulas() -> impl IntoView {
    const OPERATORS: [(&str, &str); 8] = [
        ("a | b", "the first of them that prefers a text decides"),
        ("a & b", "the text that both prefer"),
        (
            "a % b % c",
            "the text that half of them or more prefer, and more than the other",
        ),
        (
            "a + b, a - b",
            "preferences summed: 1 for the first text, −1 for the second",
        ),
        ("2 * a, a / 2", "a preference with a weight"),
        (
            "-a, +a",
            "the other text; only which text, without a weight",
        ),
        ("a if len", "only for texts equally long within 10 %"),
        (
            "a if undecided(b), a if decided(b)",
            "only where b prefers none, or one",
        ),
    ];
    let rows = OPERATORS.iter().map(|(written, said)| {
        view! { <div><dt class="formula">{*written}</dt><dd>{*said}</dd></div> }
    });
    view! {
        <Section id="formulas" name="Formulas">
            <p>
                "A formula of axioms is an axiom: in a study file, on the command line, in the
                Workbench and in the Playground. "
                <code>"tfc1 & (prox1 | tp)"</code>
                " prefers the text with more query terms where these stand closer as well.
                Operators bind from strongest to weakest: signs, " <code>"* / %"</code> ", "
                <code>"+ -"</code> ", " <code>"&"</code> ", " <code>"|"</code> ", "
                <code>"if"</code> "."
            </p>
            <dl class="symbols">{rows.collect_view()}</dl>
        </Section>
    }
}

/// The page of the Playground with the worked example of an axiom.
fn playground_href(axiom: Axiom) -> String {
    let words = PlaygroundInput::example(axiom.into()).to_parameters();
    let words = words.into_iter().filter(|it| !it.1.is_empty());
    PageRoute::Playground.href() + &query_string(words)
}

/// Premises and claim of a formula.
fn split_statement(formula: &'static str) -> [&'static str; 2] {
    match formula.split_once('⇒') {
        Some((premises, claim)) => [premises.trim(), claim.trim()],
        None => [formula, ""],
    }
}

/// How programs ask.
#[component]
fn ApiSection() -> impl IntoView {
    view! {
        <Section id="api" name="The API">
            <p>
                "Everything that a page shows can be asked for as JSON: a read is a GET with the
                request as JSON in the parameter " <code>"q"</code>
                ", everything else a POST. Errors come as " <code>"{error, error_type}"</code>
                " and name the way out. "
            </p>
            <ul class="links">
                <li>
                    <a href="/api/docs" rel="external">"/api/docs"</a> ", to read"
                </li>
                <li>
                    <a href="/api/openapi.json" rel="external">"/api/openapi.json"</a>
                    ", for programs"
                </li>
            </ul>
            <p class="note">"Both need a server: a host of files only has no API."</p>
        </Section>
    }
}

/// Every key of every page.
#[component]
fn Keys() -> impl IntoView {
    let rows = SHORTCUTS.iter().map(|(place, keys)| {
        view! { <tr><th scope="row">{*place}</th><td>{*keys}</td></tr> }
    });
    view! {
        <Section id="keys" name="Keys" note="Single keys rest while a field has the focus.">
            <table class="keys-of"><tbody>{rows.collect_view()}</tbody></table>
        </Section>
    }
}

/// A paper that Axioscope rebuilds or builds on.
struct CitedPaper {
    authors: &'static str,
    title: &'static str,
    venue: &'static str,
    /// What it is about.
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
        about: "the same for BERT, with premises relaxed for documents, LNC1 and TP beside them",
    },
    CitedPaper {
        authors: "Sean MacAvaney et al.",
        title: "ABNIRML: Analyzing the Behavior of Neural IR Models",
        venue: "TACL 2022",
        about: "probes beyond axioms: measured pairs, changed texts, whole data sets",
    },
    CitedPaper {
        authors: "Harshith Padigela, Hamed Zamani and W. Bruce Croft",
        title: "Investigating the Successes and Failures of BERT for Passage Re-Ranking",
        venue: "2019",
        about: "where BERT gains on BM25, and where it does not",
    },
    CitedPaper {
        authors: "Thibault Formal, Benjamin Piwowarski and Stéphane Clinchant",
        title: "A White Box Analysis of ColBERT",
        venue: "ECIR 2021",
        about: "which terms a late-interaction model finds important, and which it matches exactly",
    },
];

/// The papers behind it, and how to name Axioscope.
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
        <Section id="cite" name="Papers, and how to cite">
            <ol class="papers">{papers.collect_view()}</ol>
            <p>
                "Cite the paper whose axioms and readings you use, and name the software so that
                the numbers can be made again: " <q>{software}</q>
                ", with the name of the study and the hash of its instances, which stand on its
                page and in every export."
            </p>
        </Section>
    }
}

/// What may be done with what.
#[component]
fn License() -> impl IntoView {
    view! {
        <Section id="licence" name="Licences and version">
            <dl class="facts-of">
                <dt>"Software"</dt>
                <dd>{env!("CARGO_PKG_LICENSE")} ", version " {env!("CARGO_PKG_VERSION")}</dd>
                <dt>"Demo collection"</dt>
                <dd>
                    "512 passages, 64 queries and their grades, written for Axioscope and dedicated
                    to the public domain (CC0 1.0)"
                </dd>
                <dt>"Your texts"</dt>
                <dd>
                    "stay in this browser until you send them; neural scoring in the Playground
                    sends what is typed to the server of this page"
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
        for axiom in Axiom::ALL.iter().copied().chain(Axiom::ir_axioms()) {
            let [premises, claim] = split_statement(axiom.description().formula);
            assert!(!premises.is_empty() && claim.starts_with("S("), "{axiom:?}");
        }
    }
}
