//! The Trial page, on which a visitor annotates a few items of a study, or of a task whose
//! annotators are simulated. No request tells the server the answers, and nothing is saved.

use leptos::prelude::*;
use shared::annotation::trial::{AnnotationTrialItem, N_TRIAL_SEEDS};
use shared::annotation::{AnnotatorAnswer, DocumentPreference};
use shared::api::annotation::{GetTaskTrialItemsRequest, GetTrialItemsRequest, TaskId};

use super::item::{
    self, AnswerButtons, ButtonWithShortcutKey, ContinueAfterFeedbackButtons, ItemDocuments,
    ItemQuestion,
};
use crate::api;
use crate::keyboard::{self, KeyPressOutcome};
use crate::location::{self, PageLocation};
use crate::number_format::format_count_with_noun;
use crate::pages::study::address::{instance_href, trial_href};
use crate::routes::PageRoute;
use crate::widgets::progress::ProgressBarView;
use crate::widgets::resource_view::RequestReplyView;
use crate::widgets::simulated_annotators::SimulatedAnnotatorsNote;

/// Renders the Trial page, on which a visitor decides on a few items of a study; nothing is saved.
#[component]
pub(crate) fn TrialAnnotationPage(
    /// The name of the study.
    study: String,
) -> impl IntoView {
    let PageLocation { search, .. } = PageLocation::from_context_or_browser();
    let number = move |name: &str| {
        let word = location::query_string_parameter(&search.read(), name);
        word.and_then(|it| it.parse::<u64>().ok())
    };
    let task = untrack(|| number("task")).and_then(|it| u32::try_from(it).ok().map(TaskId));
    let seed = Memo::new(move |_| number("seed").unwrap_or(0));
    let name = study.clone();
    let asked = match task {
        Some(task) => api::fetch_on_signal_change(move || GetTaskTrialItemsRequest {
            task,
            seed: seed.get(),
        }),
        None => api::fetch_on_signal_change(move || GetTrialItemsRequest {
            study: name.clone(),
            seed: seed.get(),
        }),
    };
    let shown = move |items: Vec<AnnotationTrialItem>| {
        let source = TrialSource {
            study: study.clone(),
            task,
            seed: seed.get_untracked(),
        };
        view! { <TrialItems items source/> }.into_any()
    };
    let about = match task {
        Some(_) => view! {
            <SimulatedAnnotatorsNote/>
            <p class="trying" role="note">
                "A trial run: your answers stay in this browser; nothing is saved or sent. After \
                 each answer you see those of the simulated annotators."
            </p>
        }
        .into_any(),
        None => view! {
            <p class="trying" role="note">
                "A trial run: nothing is saved or sent."
            </p>
        }
        .into_any(),
    };
    view! {
        <nav class="crumbs" aria-label="Breadcrumb">
            <a href=PageRoute::ReviewTasks.href()>"Annotation"</a>
            <span>"Try annotating"</span>
        </nav>
        {about}
        <RequestReplyView answer=asked until="Loading five items" without="Try annotating" shown/>
    }
}

/// Where the items of a trial are from.
#[derive(Debug, Clone)]
struct TrialSource {
    study: String,
    /// The task whose annotators are simulated; none for instances of the study.
    task: Option<TaskId>,
    seed: u64,
}

/// The state of a trial.
#[derive(Clone, Copy)]
struct TrialState {
    items: StoredValue<Vec<AnnotationTrialItem>>,
    /// The answers so far, one for each decided item, in terms of the order of the claim.
    answers: RwSignal<Vec<AnnotatorAnswer>>,
    /// Whether the feedback on the last answer is shown.
    told: RwSignal<bool>,
    marks: RwSignal<bool>,
}

impl TrialState {
    /// Returns the position of the displayed item, and whether its feedback is shown; none at the
    /// end.
    fn current(self) -> Option<(usize, bool)> {
        let (n, told) = (self.answers.read().len(), self.told.get());
        let at = if told { n.saturating_sub(1) } else { n };
        self.items
            .with_value(|it| (at < it.len()).then_some((at, told)))
    }

    /// Decides on the displayed item. The answer is in terms of the order on screen.
    fn decide(self, answer: AnnotatorAnswer) {
        let n = self.answers.read_untracked().len();
        let sides = self
            .items
            .with_value(|it| it.get(n).map(|it| it.assignment.display_order));
        if let (Some(sides), false) = (sides, self.told.get_untracked()) {
            self.answers
                .update(|it| it.push(sides.convert_answer_order(answer)));
            self.told.set(true);
            keyboard::focus_element_on_next_frame(FEEDBACK_ID);
        }
    }

    fn advance(self) {
        if self.told.get_untracked() {
            self.told.set(false);
            keyboard::focus_element_on_next_frame(item::ITEM);
        }
    }

    /// Undoes the last answer.
    fn undo(self) {
        if self.answers.with_untracked(|it| !it.is_empty()) {
            self.answers.update(|it| {
                it.pop();
            });
            self.told.set(false);
            keyboard::focus_element_on_next_frame(item::ITEM);
        }
    }
}

const FEEDBACK_ID: &str = "told";

#[component]
fn TrialItems(items: Vec<AnnotationTrialItem>, source: TrialSource) -> impl IntoView {
    let n_items = items.len();
    if n_items == 0 {
        return view! {
            <h1>"Nothing to try"</h1>
            <p class="lead">
                "This study has no instances. "
                <a href=PageRoute::ReviewTasks.href()>"Show other studies"</a>
            </p>
        }
        .into_any();
    }
    let way = TrialState {
        items: StoredValue::new(items),
        answers: RwSignal::new(Vec::new()),
        told: RwSignal::new(false),
        marks: RwSignal::new(true),
    };
    keyboard::listen_for_unrepeated_key_presses(move |key| {
        if keyboard::is_dialog_open() {
            return KeyPressOutcome::Ignored;
        }
        match key {
            "Enter" if !item::is_interactive_element_focused() => way.advance(),
            "u" => way.undo(),
            "h" => way.marks.update(|it| *it = !*it),
            other => match item::answer_for_key(other) {
                Some(answer) => way.decide(answer),
                None => return KeyPressOutcome::Ignored,
            },
        }
        KeyPressOutcome::Handled
    });
    let n_done = move || way.answers.read().len();
    let done = Signal::derive(move || n_done() as f64 / n_items as f64);
    let at = Memo::new(move |_| way.current());
    let body = move || match at.get() {
        Some((at, told)) => {
            let tried = way.items.with_value(|it| it[at].clone());
            let answer = told.then(|| way.answers.with_untracked(|it| it[at]));
            view! { <Item way tried answer study=source.study.clone()/> }.into_any()
        }
        None => view! { <TrialSummary way source=source.clone()/> }.into_any(),
    };
    view! {
        <div class="mine">
            <p><b>{n_done}</b> {format!(" of {n_items}")}</p>
            <ProgressBarView label="My answers" done/>
        </div>
        <div class="desk alone"><div>{body}</div></div>
    }
    .into_any()
}

#[component]
fn Item(
    way: TrialState,
    tried: AnnotationTrialItem,
    answer: Option<AnnotatorAnswer>,
    study: String,
) -> impl IntoView {
    let AnnotationTrialItem {
        assignment: offer,
        content,
        ..
    } = tried.clone();
    let claim = content.claim;
    let choose = Callback::new(move |answer| way.decide(answer));
    let dock = match answer {
        Some(answer) => view! { <TrialFeedback way tried answer study/> }.into_any(),
        None => view! {
            <div class="dock">
                <AnswerButtons claim before=None choose/>
                <div class="btns small">
                    <ButtonWithShortcutKey key="U" press=move || way.undo()>
                        "Undo"
                    </ButtonWithShortcutKey>
                    <ButtonWithShortcutKey key="H" press=move || way.marks.update(|it| *it = !*it)>
                        {move || match way.marks.get() {
                            true => "Hide highlights",
                            false => "Show highlights",
                        }}
                    </ButtonWithShortcutKey>
                </div>
            </div>
        }
        .into_any(),
    };
    view! {
        <ItemQuestion content=content.clone() over=None marks=way.marks/>
        <ItemDocuments content sides=offer.display_order marks=way.marks/>
        {dock}
    }
}

/// Renders what the axiom expects and what the rankers prefer, after an answer.
#[component]
fn TrialFeedback(
    way: TrialState,
    tried: AnnotationTrialItem,
    answer: AnnotatorAnswer,
    study: String,
) -> impl IntoView {
    let claim = tried.content.claim;
    let sides = tried.assignment.display_order;
    let on_screen =
        move |it| item::SENTENCE_LABELS.answer_label(claim, sides.convert_answer_order(it));
    let href = instance_href(&study, tried.instance);
    let about = tried.instance.probe.probe_description();
    let simulated = tried.simulated.clone().map(|it| {
        let n_same = it.answers.iter().filter(|it| **it == answer).count();
        let majority = match it.consensus.preference() {
            Some(it) => format!(
                "The simulated majority: {}.",
                on_screen(item::answer_for_preference(it))
            ),
            None => "The simulated annotators have no majority.".to_owned(),
        };
        view! {
            <p>
                {majority}
                {format!(" {n_same} of {} gave your answer.", it.answers.len())}
            </p>
        }
    });
    let (class, heading) = match agrees_with_axiom(&tried, answer) {
        _ if tried.simulated.is_some() => match agrees_with_simulated_majority(&tried, answer) {
            Some(true) => ("verdict ok", "You agree with the simulated majority"),
            Some(false) => ("verdict bad", "You disagree with the simulated majority"),
            None => ("verdict wait", "No majority to compare with"),
        },
        _ if !tried.instance.probe.is_axiom() => ("verdict quiet", "Answered"),
        Some(true) => ("verdict ok", "You agree with the axiom"),
        Some(false) => ("verdict bad", "You disagree with the axiom"),
        None => ("verdict wait", "No preference"),
    };
    let expects = tried.instance.probe.is_axiom().then(|| {
        let all = [
            DocumentPreference::First,
            DocumentPreference::Equal,
            DocumentPreference::Second,
        ];
        let expected = all.into_iter().filter(|it| it.satisfies(claim));
        let words: Vec<&str> = expected
            .map(|it| on_screen(item::answer_for_preference(it)))
            .collect();
        words.join(", or ")
    });
    let rankers = tried.content.rankers.iter().map(|it| {
        let prefers = it.preference.map_or("not scored", |it| {
            on_screen(item::answer_for_preference(it))
        });
        view! { <li>{it.name.clone()} ": " {prefers}</li> }
    });
    let rankers = rankers.collect_view();
    view! {
        <section class="telling" aria-labelledby=FEEDBACK_ID>
            <h2 id=FEEDBACK_ID tabindex="-1"><span class=class>{heading}</span></h2>
            <p>"Your answer: " {on_screen(answer)} "."</p>
            {simulated}
            <p>
                <b>{tried.instance.probe.name()}</b> ": " {about.statement}
                {expects.map(|it| format!(" Expected: {it}."))}
            </p>
            <ul class="said-of">{rankers}</ul>
            <p>
                <a href=href target="_blank">"See why this is an instance, and all scores"</a>
                <span class="note">" (in a new tab)"</span>
            </p>
        </section>
        <div class="dock">
            <ContinueAfterFeedbackButtons go_on=move || way.advance() undo=move || way.undo()/>
        </div>
    }
}

/// Renders the summary of all answers.
#[component]
fn TrialSummary(way: TrialState, source: TrialSource) -> impl IntoView {
    let TrialSource { study, task, seed } = source;
    let answers = way.answers.get_untracked();
    let items = way.items.get_value();
    let (with, votes) = match task {
        Some(_) => tally(&items, &answers, agrees_with_simulated_majority),
        None => tally(&items, &answers, agrees_with_axiom_if_any),
    };
    let rows = items.iter().zip(&answers).map(|(tried, &answer)| {
        let place = tried.instance;
        let href = instance_href(&study, place);
        let claim = tried.content.claim;
        let said = item::BUTTON_LABELS.answer_label(
            claim,
            tried.assignment.display_order.convert_answer_order(answer),
        );
        let (class, word) = match agrees_with_axiom(tried, answer) {
            _ if !place.probe.is_axiom() => ("verdict quiet", "no prediction"),
            it => comparison_label(it),
        };
        let simulated = task.map(|_| {
            let (class, word) = comparison_label(agrees_with_simulated_majority(tried, answer));
            view! { <td><span class=class>{word}</span></td> }
        });
        let rankers = &tried.content.rankers;
        let same = rankers
            .iter()
            .filter(|it| it.preference.is_some() && it.preference == answer.preference());
        let same = format!("{} of {}", same.count(), rankers.len());
        view! {
            <tr>
                <th scope="row">
                    <a href=href target="_blank">{tried.content.query.text.clone()}</a>
                </th>
                <td>{said}</td>
                {simulated}
                <td>{place.probe.name()} " " <span class=class>{word}</span></td>
                <td>{same}</td>
            </tr>
        }
    });
    let rows = rows.collect_view();
    let next_seed = match task {
        Some(_) => seed.wrapping_add(1),
        None => seed.wrapping_add(1) % N_TRIAL_SEEDS,
    };
    let further = trial_href(&study, task, next_seed);
    let answers = format_count_with_noun(votes as u64, "answer agrees", "answers agree");
    let side = match task {
        Some(_) => "the simulated majority",
        None => "the axioms",
    };
    let results = task.map(|_| {
        let href = PageRoute::HumanJudgments {
            study: study.clone(),
        }
        .href();
        view! { <a class="btn" href=href>"Results of the simulated annotators"</a> }
    });
    view! {
        <h1 id=item::ITEM tabindex="-1">{format!("{with} of {answers} with {side}")}</h1>
        <div class="scrolls">
            <table class="short tried">
                <thead>
                    <tr>
                        <th scope="col">"Query"</th>
                        <th scope="col">"Your answer"</th>
                        {task.map(|_| view! { <th scope="col">"Simulated majority"</th> })}
                        <th scope="col">"Axiom"</th>
                        <th scope="col">"Rankers with the same choice"</th>
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
        </div>
        <p class="note">
            "Nothing was saved. To annotate for a study, open the invitation link from the curator \
             of its task."
        </p>
        <div class="btns">
            <a class="btn main" href=further>"Try five more items"</a>
            {results}
            <a class="btn" href=PageRoute::Study { study }.href()>"Open the study"</a>
        </div>
    }
}

/// Returns whether an answer agrees with the axiom; none if it expresses no preference.
fn agrees_with_axiom(tried: &AnnotationTrialItem, answer: AnnotatorAnswer) -> Option<bool> {
    answer
        .preference()
        .map(|it| it.satisfies(tried.content.claim))
}

/// Same as [`agrees_with_axiom`], but none for a behavioral test, which predicts nothing.
fn agrees_with_axiom_if_any(tried: &AnnotationTrialItem, answer: AnnotatorAnswer) -> Option<bool> {
    agrees_with_axiom(tried, answer).filter(|_| tried.instance.probe.is_axiom())
}

/// Returns whether an answer is that of most simulated annotators; none if it expresses no
/// preference, or they have no majority.
fn agrees_with_simulated_majority(
    tried: &AnnotationTrialItem,
    answer: AnnotatorAnswer,
) -> Option<bool> {
    let majority = tried.simulated.as_ref()?.consensus.preference()?;
    Some(answer.preference()? == majority)
}

/// Returns the class and the label of a comparison with an answer.
fn comparison_label(agrees: Option<bool>) -> (&'static str, &'static str) {
    match agrees {
        Some(true) => ("verdict ok", "agrees"),
        Some(false) => ("verdict bad", "disagrees"),
        None => ("verdict wait", "no preference"),
    }
}

/// Returns how many answers agree with the other side, and how many can be compared with it.
fn tally(
    items: &[AnnotationTrialItem],
    answers: &[AnnotatorAnswer],
    agrees: fn(&AnnotationTrialItem, AnnotatorAnswer) -> Option<bool>,
) -> (usize, usize) {
    let compared = items.iter().zip(answers);
    let compared: Vec<bool> = compared.filter_map(|it| agrees(it.0, *it.1)).collect();
    (compared.iter().filter(|it| **it).count(), compared.len())
}
