//! The axioms that apply to the input, the order of the documents for which they apply, and the
//! verdicts of the rankers.

use leptos::prelude::*;
use shared::probe::{Axiom, Probe, ScoreClaim};
use shared::report::format;
use shared::study::playground::{PlaygroundAxiomResult, PlaygroundResult};
use shared::verdict::{VerdictOutcome, VerdictWithMargin};

use super::input::PlaygroundInput;
use super::preconditions::{DocumentAndTermNames, PreconditionList};
use super::settings::AxiomVariantSwitch;
use super::state::{NAMES, NeuralRankerWithScores, PlaygroundEvaluationState, PlaygroundState};
use super::verdict_chip::RankerVerdictChip;
use crate::number_format;
use crate::routes::PageRoute;
use crate::widgets::error_message::LoadErrorMessage;
use crate::widgets::section::Section;
use crate::widgets::term::{GlossaryTerm, explains};
use crate::widgets::verdict::axiom_outcome_label;

/// Renders the section with the axioms.
#[component]
pub(super) fn AxiomOutcomesSection(
    /// The state of the page.
    desk: PlaygroundState,
) -> impl IntoView {
    let counted = Memo::new(move |_| {
        let answer = desk.evaluation_result()?;
        Some((
            n_applying(&answer),
            listed_probes(Some(&answer)).len() as u64,
        ))
    });
    let said = move || {
        let (applying, all) = counted.get()?;
        Some(format!(
            "{} of {} {}",
            number_format::format_count(applying),
            number_format::format_count(all),
            if applying == 1 { "applies" } else { "apply" }
        ))
    };
    let probes = Memo::new(move |_| listed_probes(desk.evaluation_result().as_deref()));
    let rows = move || {
        let rows = probes.get().into_iter().map(|probe| {
            // A row is rendered again only if its own state changes; the reply of a neural ranker
            // changes those of axioms that apply.
            let standing = Memo::new(move |_| {
                let answer = desk.evaluation_result();
                desk.neural_rankers
                    .with(|models| axiom_state(probe, answer.as_deref(), models))
            });
            move || view! { <AxiomRow desk standing=standing.get()/> }
        });
        rows.collect_view()
    };
    let finding = move || {
        let answer = desk.evaluation_result()?;
        Some(
            desk.neural_rankers
                .with(|models| axioms_finding(&answer, models)),
        )
    };
    let header =
        move || view! { <p class="note" role="status">{said}</p> <AxiomVariantSwitch desk/> };
    view! {
        <Section id="axioms" name="Axioms" header>
            <LiveAnnouncement desk/>
            <AnswerNotice desk/>
            <p class="finding">{finding}</p>
            {rows}
        </Section>
    }
}

/// Returns the axioms to list. Those that need word vectors are listed if the collection has them.
fn listed_probes(answer: Option<&PlaygroundResult>) -> Vec<Probe> {
    let with_vectors = answer.is_some_and(|it| {
        it.axiom_results
            .iter()
            .any(|it| it.probe.needs_word_vectors())
    });
    let mut shown = Probe::list_minable_paper_axioms(with_vectors);
    for applied in answer.into_iter().flat_map(|it| &it.axiom_results) {
        if !shown.contains(&applied.probe) {
            shown.push(applied.probe);
        }
    }
    shown
}

fn n_applying(answer: &PlaygroundResult) -> u64 {
    answer.axiom_results.iter().filter(|it| it.applies).count() as u64
}

/// Says which axioms apply and which rankers violate them, as in `TP applies: A should score higher
/// than B. BM25 violates it; QL satisfies it.`
fn axioms_finding(answer: &PlaygroundResult, models: &[NeuralRankerWithScores]) -> String {
    let applying = || answer.axiom_results.iter().filter(|it| it.applies);
    let names: Vec<String> = applying().map(|it| it.probe.name().into_owned()).collect();
    let (first, it) = match (&names[..], applying().next()) {
        ([name], Some(applied)) => (format!("{name} {}.", claim_text(applied.claim)), "it"),
        ([], _) | (_, None) => return "No axiom applies to these documents.".to_owned(),
        (_, Some(_)) => (
            format!("{} apply.", format::join_with_and(&names)),
            "all of them",
        ),
    };
    let states = applying().map(|it| axiom_state(it.probe, Some(answer), models));
    let verdicts = states.flat_map(|it| match it.state {
        AxiomStatus::Measured { said, .. } => {
            let name = it.probe.name().into_owned();
            let said = said
                .into_iter()
                .filter_map(|(who, verdict)| Some((who, verdict?.outcome)));
            said.map(|(who, outcome)| (who, outcome, name.clone()))
                .collect()
        }
        AxiomStatus::Unanswered | AxiomStatus::WantsTexts => Vec::new(),
    });
    let verdicts: Vec<_> = verdicts.collect();
    let mut rankers: Vec<&str> = Vec::new();
    for (ranker, ..) in &verdicts {
        if !rankers.contains(&ranker.as_str()) {
            rankers.push(ranker);
        }
    }
    // Rankers with the same outcome are named together, in the order of the first of them.
    let mut groups: Vec<(RankerPredicate, Vec<String>)> = Vec::new();
    for ranker in rankers {
        let with = |outcome: VerdictOutcome| {
            let found = verdicts
                .iter()
                .filter(|it| it.0 == ranker && it.1 == outcome);
            found.map(|it| it.2.clone()).collect::<Vec<_>>()
        };
        let object = |of: &[String]| match of.len() == names.len() {
            true => it.to_owned(),
            false => format::join_with_and(of),
        };
        let (violated, tied) = (with(VerdictOutcome::Violated), with(VerdictOutcome::Tied));
        let said = match (violated.is_empty(), tied.is_empty()) {
            (false, _) => ("violates", "violate", object(&violated)),
            (true, false) => ("ties on", "tie on", object(&tied)),
            (true, true) => ("satisfies", "satisfy", it.to_owned()),
        };
        match groups.iter_mut().find(|group| group.0 == said) {
            Some(group) => group.1.push(ranker.to_owned()),
            None => groups.push((said, vec![ranker.to_owned()])),
        }
    }
    let said = groups.into_iter().map(|((one, many, object), rankers)| {
        let verb = if rankers.len() == 1 { one } else { many };
        format!("{} {verb} {object}", format::join_with_and(&rankers))
    });
    format!("{first} {}.", said.collect::<Vec<_>>().join("; "))
}

/// A verb for one ranker, the same verb for several, and its object.
type RankerPredicate = (&'static str, &'static str, String);

/// Renders why there is no answer, and what to do.
#[component]
fn AnswerNotice(desk: PlaygroundState) -> impl IntoView {
    move || match desk.answer.get() {
        PlaygroundEvaluationState::Answered(_) => ().into_any(),
        PlaygroundEvaluationState::Blank => view! {
            <p class="ahead">
                "Type a query and two documents above, or load the worked example of an axiom. \
                 TFC2 compares three documents and needs a third one."
            </p>
        }
        .into_any(),
        PlaygroundEvaluationState::Loading => {
            view! { <p class="ahead" role="status">"Loading collection statistics"</p> }.into_any()
        }
        PlaygroundEvaluationState::Invalid(wrong) => view! {
            <p class="ahead">
                {number_format::format_count_with_noun(
                    wrong.len() as u64,
                    "setting is",
                    "settings are",
                )}
                " invalid: see the messages next to the fields."
            </p>
        }
        .into_any(),
        PlaygroundEvaluationState::Rejected(reason) => {
            view! { <div class="failure" role="alert"><p>{reason}</p></div> }.into_any()
        }
        PlaygroundEvaluationState::Failed(error) => {
            let retry = Callback::new(move |()| desk.collection.refetch());
            view! { <LoadErrorMessage error retry/> }.into_any()
        }
    }
}

/// An axiom with its status.
#[derive(Debug, Clone, PartialEq)]
struct AxiomState {
    probe: Probe,
    state: AxiomStatus,
}

#[derive(Debug, Clone, PartialEq)]
enum AxiomStatus {
    /// There is no answer yet.
    Unanswered,
    /// The axiom is about more documents than there are.
    WantsTexts,
    /// The preconditions of the axiom were measured.
    Measured {
        applied: PlaygroundAxiomResult,
        names: DocumentAndTermNames,
        /// The name and verdict of each ranker, lexical rankers first.
        said: Vec<(String, Option<VerdictWithMargin>)>,
    },
}

fn axiom_state(
    probe: Probe,
    answer: Option<&PlaygroundResult>,
    models: &[NeuralRankerWithScores],
) -> AxiomState {
    let Some(answer) = answer else {
        return AxiomState {
            probe,
            state: AxiomStatus::Unanswered,
        };
    };
    let Some(applied) = answer.axiom_results.iter().find(|it| it.probe == probe) else {
        return AxiomState {
            probe,
            state: AxiomStatus::WantsTexts,
        };
    };
    let texts = applied.claim.docs_in_claim_order().into_iter();
    let names = DocumentAndTermNames {
        documents: texts.map(|it| NAMES[it as usize].to_owned()).collect(),
        terms: answer
            .terms
            .iter()
            .map(|it| it.surface_form.clone())
            .collect(),
    };
    let lexical = applied
        .verdicts
        .iter()
        .map(|it| (it.ranker.label.clone(), it.verdict));
    let neural = models.iter().filter(|_| applied.applies);
    let neural = neural.map(|it| (it.ranker.label.clone(), it.verdict_for_claim(applied.claim)));
    let said = lexical.chain(neural).collect();
    AxiomState {
        probe,
        state: AxiomStatus::Measured {
            applied: applied.clone(),
            names,
            said,
        },
    }
}

/// Renders the row of one axiom.
#[component]
fn AxiomRow(desk: PlaygroundState, standing: AxiomState) -> impl IntoView {
    let AxiomState { probe, state } = standing;
    let about = probe.probe_description();
    let applies = matches!(&state, AxiomStatus::Measured { applied, .. } if applied.applies);
    let example = move |_| {
        desk.open_input_keeping_previous(
            &format!("the {} example", about.name),
            PlaygroundInput::worked_example_of_axiom(probe),
        );
    };
    let verdict = verdict(&state);
    let rest = match state {
        AxiomStatus::Unanswered => view! { <p class="note span">{about.statement}</p> }.into_any(),
        AxiomStatus::WantsTexts => view! {
            <p class="note span">
                {about.statement} " Add a third document to test it."
            </p>
        }
        .into_any(),
        AxiomStatus::Measured {
            applied,
            names,
            said,
        } => {
            let chips = said
                .into_iter()
                .map(|(who, verdict)| view! { <RankerVerdictChip who verdict/> });
            let chips = chips.collect_view();
            view! {
                <PreconditionList premises=applied.preconditions names/>
                <div class="agree">{chips}</div>
            }
            .into_any()
        }
    };
    let anchor = match probe {
        Probe::Axiom(Axiom::Formula(_)) => "formulas".into(),
        other => other.slug(),
    };
    let href = format!("{}#{anchor}", PageRoute::About.href());
    let name = probe.name();
    view! {
        <div class="holds" class:not=!applies>
            <div class="named">
                <a href=href class="term" {..explains(GlossaryTerm::of_probe(probe))}>
                    <b>{name}</b>
                </a>
                {(!about.example.is_empty())
                    .then(|| {
                        view! {
                            <button
                                class="btn bare small"
                                type="button"
                                aria-label=format!("{} example", about.name)
                                on:click=example
                            >
                                "Example"
                            </button>
                        }
                    })}
            </div>
            {verdict}
            {rest}
        </div>
    }
}

fn verdict(state: &AxiomStatus) -> impl IntoView + use<> {
    let (class, said) = match state {
        AxiomStatus::Unanswered => ("verdict wait", "not enough text yet".to_owned()),
        AxiomStatus::WantsTexts => ("verdict wait", "needs three documents".to_owned()),
        AxiomStatus::Measured { applied, .. } if applied.applies => {
            ("verdict ok", claim_text(applied.claim))
        }
        AxiomStatus::Measured { applied, .. } => {
            let failing = applied
                .preconditions
                .iter()
                .filter(|it| !it.holds())
                .count() as u64;
            let noun =
                number_format::format_count_with_noun(failing, "precondition", "preconditions");
            ("verdict out", format!("{noun} not satisfied"))
        }
    };
    view! { <span class=class>{said}</span> }
}

/// Returns the claim of an instance, with the names of the documents.
fn claim_text(claim: ScoreClaim<u32>) -> String {
    let name = |it: u32| NAMES[it as usize];
    match claim {
        ScoreClaim::Higher { winner, loser } => {
            format!(
                "applies: {} should score higher than {}",
                name(winner),
                name(loser)
            )
        }
        ScoreClaim::NotLower { winner, loser } => {
            format!(
                "applies: {} should not score lower than {}",
                name(winner),
                name(loser)
            )
        }
        ScoreClaim::Different { a, b } => {
            format!("applies: {} and {} should differ", name(a), name(b))
        }
        ScoreClaim::DiminishingGain { few, more, most } => {
            format!(
                "applies: the gain from {} to {} should exceed the subsequent gain to {}",
                name(few),
                name(more),
                name(most)
            )
        }
    }
}

/// Announces to screen readers what has changed since the previous answer.
#[component]
fn LiveAnnouncement(desk: PlaygroundState) -> impl IntoView {
    let said = RwSignal::new(String::new());
    Effect::new(move |before: Option<Vec<String>>| {
        let answer = desk.evaluation_result();
        let now: Vec<String> = answer
            .iter()
            .flat_map(|it| it.axiom_results.iter().map(announcement))
            .collect();
        if let Some(before) = before {
            let changed: Vec<&str> = now
                .iter()
                .filter(|it| !before.contains(it))
                .map(String::as_str)
                .collect();
            if !changed.is_empty() {
                said.set(changed.join(". "));
            }
        }
        now
    });
    view! { <p class="unseen" role="status">{said}</p> }
}

/// Returns the announcement of a result, as in `TFC1 applies: A should score higher than B: BM25
/// satisfied, QL tied`.
fn announcement(applied: &PlaygroundAxiomResult) -> String {
    let name = applied.probe.name();
    if !applied.applies {
        return format!("{name} does not apply");
    }
    let said = applied.verdicts.iter().filter_map(|it| {
        Some(format!(
            "{} {}",
            it.ranker.label,
            axiom_outcome_label(Some(it.verdict?.outcome))
        ))
    });
    format!(
        "{name} {}: {}",
        claim_text(applied.claim),
        said.collect::<Vec<_>>().join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::study::playground::evaluate_playground_input;

    fn answered(sheet: &PlaygroundInput) -> PlaygroundResult {
        evaluate_playground_input(&sheet.to_playground_request().unwrap(), None).unwrap()
    }

    #[test]
    fn an_axiom_is_told_with_its_verdicts() {
        let found = answered(&PlaygroundInput::worked_example_of_axiom(Probe::Axiom(
            Axiom::Tfc1,
        )));
        assert_eq!(
            announcement(&found.axiom_results[0]),
            "TFC1 applies: A should score higher than B: BM25 satisfied, QL satisfied"
        );
    }

    #[test]
    fn the_finding_names_axioms_and_rankers() {
        let finding = |sheet: &PlaygroundInput| axioms_finding(&answered(sheet), &[]);
        assert_eq!(
            finding(&PlaygroundInput::opening_example()),
            "TP applies: A should score higher than B. BM25 violates it; QL satisfies it."
        );
        let none = PlaygroundInput {
            query: "ice".to_owned(),
            documents: vec!["mud".to_owned(); 2],
            ..PlaygroundInput::empty()
        };
        assert_eq!(finding(&none), "No axiom applies to these documents.");
        let several = PlaygroundInput {
            query: "river bank".to_owned(),
            documents: vec![
                "river bank river".to_owned(),
                "river of mud bank".to_owned(),
            ],
            ..PlaygroundInput::empty()
        };
        assert_eq!(
            finding(&several),
            "TFC1 and TP apply. BM25 and QL satisfy all of them."
        );
    }

    #[test]
    fn an_axiom_about_three_texts_wants_a_third() {
        let found = answered(&PlaygroundInput::worked_example_of_axiom(Probe::Axiom(
            Axiom::Tfc1,
        )));
        assert_eq!(
            axiom_state(Probe::Axiom(Axiom::Tfc2), Some(&found), &[]).state,
            AxiomStatus::WantsTexts
        );
        assert_eq!(
            axiom_state(Probe::Axiom(Axiom::Tfc2), None, &[]).state,
            AxiomStatus::Unanswered
        );
    }
}
