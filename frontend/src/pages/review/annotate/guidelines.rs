//! The panel beside an item: guidelines, overall progress and recent actions.

use leptos::prelude::*;
use shared::api::annotation::TaskProgressSummary;

use super::session::UndoableAction;
use super::state::AnnotationPageState;
use crate::keyboard;
use crate::number_format::format_count;
use crate::pages::review::item::{self, ButtonWithShortcutKey};
use crate::widgets::markdown::Markdown;
use crate::widgets::progress::ProgressBarView;
use crate::widgets::simulated_annotators::annotator_count;

/// The id of the panel's heading.
pub(super) const GUIDE: &str = "guide-title";

/// The number of recent actions that are listed; undo reaches further back.
const RECENT_ACTIONS: usize = 12;

/// Renders the guidelines panel of a task, with its overall progress and the annotator's recent
/// actions.
#[component]
pub(super) fn GuidelinesPanel(
    /// The state of the annotation page.
    work: AnnotationPageState,
) -> impl IntoView {
    let sheet = work.task_for_annotators();
    let guidelines = match sheet.parsed_guidelines.is_empty() {
        true => view! {
            <p>"Which document answers the query better? Judge the content, not the style. If \
                 both are equally good, or neither helps, choose “Equal”."</p>
        }
        .into_any(),
        false => view! { <Markdown nodes=sheet.parsed_guidelines/> }.into_any(),
    };
    let everybody = move || overall_progress(&work.progress.read());
    let share = Signal::derive(move || {
        let TaskProgressSummary {
            n_decisions: n_filled,
            n_decisions_required: n_slots,
            ..
        } = work.progress.get();
        n_filled as f64 / n_slots.max(1) as f64
    });
    let sides = match sheet.is_blind {
        true => "The left and right documents are in random order; ranker scores stay hidden.",
        false => "The left and right documents are in random order.",
    };
    view! {
        <section
            class="aside"
            id="guide" aria-labelledby=GUIDE
            hidden=move || !work.shows_guidelines.get()
        >
            <h2 id=GUIDE tabindex="-1">"Guidelines"</h2>
            {guidelines}
            <h3>"Overall progress"</h3>
            <ProgressBarView label="All annotators" done=share/>
            <p>{everybody} " " {sides}</p>
            <RecentActions work/>
            <ButtonWithShortcutKey class="btn" key="G" press=move || work.toggle_guidelines()>
                "Hide guidelines"
            </ButtonWithShortcutKey>
        </section>
    }
}

/// Renders the recent actions, each with a button that opens it again.
#[component]
fn RecentActions(work: AnnotationPageState) -> impl IntoView {
    let acts = Memo::new(move |_| {
        let course = work.session.read();
        let last = course
            .undoable_actions()
            .iter()
            .rev()
            .take(RECENT_ACTIONS)
            .cloned();
        last.collect::<Vec<UndoableAction>>()
    });
    let rows = move |act: UndoableAction| {
        let what = work.describe_action(&act);
        let decided = act.decision.is_some();
        view! {
            <li>
                <span>{what}</span>
                {decided
                    .then(|| {
                        view! {
                            <button
                                class="btn bare"
                                type="button"
                                on:click=move |_| work.reopen_decision(act.clone())
                            >
                                "Change"
                            </button>
                        }
                    })}
            </li>
        }
    };
    view! {
        <details>
            <summary>"Your recent actions"</summary>
            <ul class="last">
                <For each=move || acts.get() key=|it| it.key children=rows/>
            </ul>
        </details>
    }
}

/// Formats the progress of a task, as in `412 of 720 decisions made, by 6 annotators.`
fn overall_progress(standing: &TaskProgressSummary) -> String {
    let people = annotator_count(standing.n_annotators, standing.n_simulated_annotators);
    format!(
        "{} of {} decisions made, by {people}.",
        format_count(standing.n_decisions),
        format_count(standing.n_decisions_required)
    )
}

/// Shows the panel and moves the focus there, or hides it.
pub(super) fn toggle_guidelines_panel(guide: RwSignal<bool>) {
    let shows = !guide.get_untracked();
    guide.set(shows);
    keyboard::focus_element_on_next_frame(if shows { GUIDE } else { item::ITEM });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_is_said_in_a_sentence() {
        let standing = TaskProgressSummary {
            n_decisions: 412,
            n_decisions_required: 1_720,
            n_annotators: 1,
            ..TaskProgressSummary::default()
        };
        assert_eq!(
            overall_progress(&standing),
            "412 of 1,720 decisions made, by 1 annotator."
        );
    }
}
