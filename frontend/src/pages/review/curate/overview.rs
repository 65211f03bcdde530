//! The overview of a task: its definition, its state, and its guidelines.

use leptos::prelude::*;
use shared::api::annotation::{AnnotationTaskStatus, UpdateTaskRequest};

use super::labels;
use super::state::CurationPageState;
use crate::number_format::{format_count, format_count_with_noun};
use crate::widgets::error_message::OptionalErrorMessage;
use crate::widgets::section::Section;

/// Renders the tab with the state, definition and guidelines of the task.
#[component]
pub(super) fn TaskOverviewTab(desk: CurationPageState) -> impl IntoView {
    view! {
        <OptionalErrorMessage error=desk.action.error/>
        <TaskStateControls desk/>
        <TaskDefinition desk/>
        <Guidelines desk/>
    }
}

/// Returns a request that changes nothing.
fn no_change(desk: CurationPageState) -> UpdateTaskRequest {
    UpdateTaskRequest {
        task: desk.task,
        status: None,
        are_results_public: None,
        guidelines: None,
    }
}

/// Renders whether the task is open and who sees the results, with buttons to change both.
#[component]
fn TaskStateControls(desk: CurationPageState) -> impl IntoView {
    let state = Memo::new(move |_| desk.details.with(|it| it.summary.status));
    let public = Memo::new(move |_| desk.details.with(|it| it.summary.are_results_public));
    let turn = move |to: AnnotationTaskStatus| {
        let change = UpdateTaskRequest {
            status: Some(to),
            ..no_change(desk)
        };
        desk.update_task(change, || {});
    };
    let has_people = !desk.is_simulated();
    let button = move || {
        let (word, to) = match state.get() {
            AnnotationTaskStatus::Draft => ("Open to annotators", AnnotationTaskStatus::Open),
            AnnotationTaskStatus::Open => ("Close", AnnotationTaskStatus::Closed),
            AnnotationTaskStatus::Closed => ("Reopen", AnnotationTaskStatus::Open),
        };
        view! {
            <button
                class="btn main"
                type="button"
                disabled=move || desk.action.is_busy.get()
                on:click=move |_| turn(to)
            >
                {word}
            </button>
        }
    };
    let said = move || match state.get() {
        AnnotationTaskStatus::Draft => "Only curators see this draft. Opening cannot be undone.",
        AnnotationTaskStatus::Open => "Annotators can answer its items.",
        AnnotationTaskStatus::Closed if !has_people => {
            "Simulated annotators have answered every item. Nobody else can."
        }
        AnnotationTaskStatus::Closed => {
            "Annotators get no new items. Unsent answers are still accepted, and you can \
             adjudicate."
        }
    };
    let publish = move |_| {
        let change = UpdateTaskRequest {
            are_results_public: Some(!public.get_untracked()),
            ..no_change(desk)
        };
        desk.update_task(change, || {});
    };
    view! {
        <Section id="state" name="State">
            <div class="btns">
                {has_people.then_some(button)}
                <span class="note" role="status">{said}</span>
            </div>
            <p class="switch">
                <label>
                    <input
                        type="checkbox"
                        prop:checked=move || public.get()
                        disabled=move || desk.action.is_busy.get()
                        on:change=publish
                    />
                    "Show results without names to everyone who can see the study"
                </label>
            </p>
        </Section>
    }
}

/// Renders the definition of the task.
#[component]
fn TaskDefinition(desk: CurationPageState) -> impl IntoView {
    let body = move || {
        let whole = desk.details.get();
        let rankers = desk.rankers.get();
        let (task, made) = (whole.definition, whole.composition);
        let probes = made.probes.iter();
        let probes =
            probes.map(|(probe, n)| format!("{} {}", probe.name(), format_count((*n).into())));
        let probes: Vec<String> = probes.collect();
        let gold = match (made.n_gold_items, task.gold_interval) {
            (0, _) | (_, 0) => "no gold items".to_owned(),
            (n, every) => format!("{n}, one in {every} items"),
        };
        let shows = match (task.is_blind, task.highlights_query_terms) {
            (true, true) => "ranker scores hidden, query terms highlighted",
            (true, false) => "ranker scores hidden, no highlights",
            (false, true) => "ranker preferences shown, query terms highlighted",
            (false, false) => "ranker preferences shown, no highlights",
        };
        let tags = match task.tags.is_empty() {
            true => "none".to_owned(),
            false => task.tags.join(", "),
        };
        let drawn = format!(
            "{} from {}, over {}",
            format_count_with_noun(made.n_sampled_items.into(), "item", "items"),
            format_count_with_noun(made.n_candidates, "instance", "instances"),
            format_count_with_noun(made.n_queries.into(), "query", "queries")
        );
        let rows = [
            ("Sample", drawn),
            ("Items per probe", probes.join(", ")),
            (
                "Instance filter",
                labels::describe_instance_selection(&task.filter, &rankers),
            ),
            (
                "Sampling design",
                labels::describe_sampling_design(task.sampling, &rankers),
            ),
            ("Annotators per item", task.annotators_per_item.to_string()),
            ("Training items", made.n_training_items.to_string()),
            ("Gold items", gold),
            ("Annotator view", shows.to_owned()),
            ("Tags", tags),
            ("Random seed", task.seed.to_string()),
        ];
        rows.map(|(name, said)| view! { <dt>{name}</dt> <dd dir="auto">{said}</dd> })
            .collect_view()
    };
    view! {
        <Section
            id="made"
            name="Sample"
            note="The sample is fixed; for another sample, create another task."
        >
            <dl class="made-of">{body}</dl>
        </Section>
    }
}

/// Renders the guidelines, which can be changed while annotators work.
#[component]
fn Guidelines(desk: CurationPageState) -> impl IntoView {
    let kept = move || desk.details.with(|it| it.definition.guidelines.clone());
    let typed = RwSignal::new(
        desk.details
            .with_untracked(|it| it.definition.guidelines.clone()),
    );
    let saved = RwSignal::new(false);
    let changed = Memo::new(move |_| typed.get() != kept());
    let save = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        let change = UpdateTaskRequest {
            guidelines: Some(typed.get_untracked()),
            ..no_change(desk)
        };
        desk.update_task(change, move || {
            // The text is set to what the server has stored.
            typed.set(
                desk.details
                    .with_untracked(|it| it.definition.guidelines.clone()),
            );
            saved.set(true);
        });
    };
    let said = move || match (changed.get(), saved.get()) {
        (true, _) => "not saved",
        (false, true) => "saved; annotators see it when they next load the page",
        (false, false) => "",
    };
    view! {
        <Section
            id="guidelines"
            name="Guidelines"
            note="Markdown. Annotators read it first, and can reopen it with G."
        >
            <form on:submit=save>
                <textarea
                    class="written"
                    rows="12"
                    aria-labelledby="guidelines"
                    prop:value=move || typed.get()
                    on:input:target=move |event| typed.set(event.target().value())
                ></textarea>
                <div class="btns">
                    <button
                        class="btn"
                        type="submit"
                        disabled=move || desk.action.is_busy.get() || !changed.get()
                    >
                        "Save guidelines"
                    </button>
                    <span class="note" role="status">{said}</span>
                </div>
            </form>
        </Section>
    }
}
