use std::collections::BTreeMap;

use super::*;

const GLOSSARY: &str = include_str!("../../../../../docs/glossary.md");

/// Returns every term with the heading of its entry.
fn headings() -> Vec<(GlossaryTerm, String)> {
    let entry = |term, heading: &str| (term, heading.to_owned());
    let mut all = vec![
        entry(GlossaryTerm::Analyzer, "Analyzer"),
        entry(GlossaryTerm::AveragePrecision, "AP"),
        entry(GlossaryTerm::CandidatePool, "Candidate pool"),
        entry(GlossaryTerm::ExpectedPreference, "Expected preference"),
        entry(GlossaryTerm::Fraction, "Fraction"),
        entry(GlossaryTerm::NovelTermFraction, "FNT"),
        entry(GlossaryTerm::QueryTokenFraction, "FQT"),
        entry(GlossaryTerm::Holm, "Holm"),
        entry(GlossaryTerm::InclusionProbability, "Inclusion probability"),
        entry(GlossaryTerm::Instance, "Instance"),
        entry(GlossaryTerm::InstanceHash, "Instance hash"),
        entry(GlossaryTerm::Interval, "Interval"),
        entry(GlossaryTerm::LengthTolerance, "Length tolerance"),
        entry(GlossaryTerm::Margin, "Margin"),
        entry(GlossaryTerm::MostInstructive, "Most instructive"),
        entry(GlossaryTerm::Ndcg, "nDCG"),
        entry(GlossaryTerm::Precondition, "Precondition"),
        entry(GlossaryTerm::QuestionClass, "Question class"),
        entry(GlossaryTerm::ReciprocalRank, "RR"),
        entry(GlossaryTerm::TauAp, "tau_AP"),
        entry(GlossaryTerm::TieThreshold, "Tie threshold"),
        entry(GlossaryTerm::Token, "Token"),
        entry(GlossaryTerm::Verdict, "Verdict"),
    ];
    let outcomes = VerdictOutcome::ALL.iter();
    all.extend(outcomes.map(|it| entry(GlossaryTerm::Outcome(*it), "Verdict")));
    let variants = AxiomVariant::ALL.iter();
    all.extend(variants.map(|it| entry(GlossaryTerm::Variant(*it), "Variant")));
    let hypotheses = [
        PadigelaHypothesis::QueryTermBias,
        PadigelaHypothesis::QueryTermBiasHurts,
        PadigelaHypothesis::MoreNovelTerms,
        PadigelaHypothesis::LongerQueries,
    ];
    all.extend(hypotheses.map(|it| entry(GlossaryTerm::Hypothesis(it), "Hypotheses H1-H4")));
    let axioms = Probe::list_minable_paper_axioms(true).into_iter();
    all.extend(axioms.map(|it| entry(GlossaryTerm::of_probe(it), &it.name())));
    all
}

/// Returns the entries of the glossary as plain text, by heading.
fn entries() -> BTreeMap<&'static str, String> {
    let entries = GLOSSARY.split("\n## ").skip(1);
    let entries = entries.map(|it| it.split_once('\n').expect("a heading and a text"));
    entries
        .map(|(heading, text)| (heading, plain_text(text)))
        .collect()
}

/// Returns the text of Markdown, with single spaces.
fn plain_text(markdown: &str) -> String {
    use pulldown_cmark::{Event, Parser};
    let parts = Parser::new(markdown).filter_map(|it| match it {
        Event::Text(text) | Event::Code(text) => Some(text.into_string()),
        Event::SoftBreak => Some(" ".to_owned()),
        _ => None,
    });
    let text: String = parts.collect();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn every_definition_is_that_of_the_glossary() {
    let entries = entries();
    for (term, heading) in headings() {
        let Some(entry) = entries.get(heading.as_str()) else {
            panic!("there is no entry \"{heading}\" in docs/glossary.md");
        };
        let definition = term.definition();
        assert!(definition.ends_with('.'), "{term:?}: {definition}");
        assert!(
            entry.contains(definition),
            "{term:?} differs from \"{heading}\" in docs/glossary.md:\n{definition}\n{entry}"
        );
    }
}

#[test]
fn an_axiom_is_found_by_its_name() {
    let term = GlossaryTerm::of_axiom_name("M-TDC").map(GlossaryTerm::definition);
    assert!(term.is_some_and(|it| it.contains("rarer terms")));
    assert_eq!(GlossaryTerm::of_axiom_name("BM25"), None);
}

#[test]
fn a_measure_has_the_term_of_its_name() {
    let measures = ["nDCG@10", "RR@10", "AP", "P@5"].map(GlossaryTerm::of_measure);
    let expected = [
        Some(GlossaryTerm::Ndcg),
        Some(GlossaryTerm::ReciprocalRank),
        Some(GlossaryTerm::AveragePrecision),
        None,
    ];
    assert_eq!(measures, expected);
}
