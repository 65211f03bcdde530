//! The preview of what a task would consist of, updated after each pause.

use leptos::prelude::*;
use shared::annotation::AnnotationTaskDefinition;
use shared::api::annotation::{PreviewTaskRequest, TaskComposition};

use super::draft::NewTaskDraft;
use super::form::NewTaskForm;
use crate::api;
use crate::debounce::DebounceTimer;
use crate::number_format::{format_count, format_count_with_noun};
use crate::widgets::section::Section;
use crate::widgets::table::{ColumnHeading, HeadedTable};

/// The delay after the last change before the server is asked.
const DEBOUNCE_MS: u64 = 700;

/// The task of the last request, and the reply once it is there.
#[derive(Debug, Clone, PartialEq)]
struct PreviewState {
    task: AnnotationTaskDefinition,
    made: Option<TaskComposition>,
}

/// Renders what the task would consist of.
#[component]
pub(super) fn TaskPreview(form: NewTaskForm) -> impl IntoView {
    let seen = RwSignal::new(None::<PreviewState>);
    let later = DebounceTimer::with_delay_ms(DEBOUNCE_MS);
    // Title and guidelines do not change what is drawn.
    let task = Memo::new(move |_| {
        form.draft.with(|it| {
            let drawn = NewTaskDraft {
                title: "preview".to_owned(),
                guidelines: String::new(),
                ..it.clone()
            };
            drawn.to_annotation_task().ok()
        })
    });
    Effect::new(move |_| match task.get() {
        Some(task) => later.schedule(move || fetch_preview(form, task, seen)),
        None => later.cancel(),
    });
    let said = move || {
        let now = task.get();
        let seen = seen.get();
        if form.server_error.with(Option::is_some) {
            return "This sample cannot be drawn; see the messages next to the fields.";
        }
        match (now, seen) {
            (None, _) => "Choose a study and probes to see how many instances can be drawn.",
            (Some(now), Some(PreviewState { task, made })) if now == task => match made {
                Some(_) => "",
                None => "Counting instances",
            },
            (Some(_), _) => "Counting instances",
        }
    };
    let shown = move || {
        let seen = seen.get()?;
        let stale = move || task.with(|it| it.as_ref() != Some(&seen.task));
        let made = seen.made.clone()?;
        Some(view! { <div class:stale=stale.clone()><PreviewCounts made/></div> })
    };
    let header = move || view! { <p class="note" role="status">{said}</p> };
    view! {
        <Section id="preview" name="Preview" class="section preview" header>
            {shown}
        </Section>
    }
}

fn fetch_preview(
    form: NewTaskForm,
    task: AnnotationTaskDefinition,
    seen: RwSignal<Option<PreviewState>>,
) {
    leptos::task::spawn_local(async move {
        let found = api::send_and_parse(&PreviewTaskRequest { task: task.clone() }).await;
        match found {
            Ok(made) => {
                let made = Some(made);
                seen.try_set(Some(PreviewState { task, made }));
            }
            Err(error) => {
                if seen.try_set(None).is_none() {
                    form.show_error(error);
                }
            }
        }
    });
}

#[component]
fn PreviewCounts(made: TaskComposition) -> impl IntoView {
    let chance = match made.n_candidates {
        0 => None,
        n => Some(f64::from(made.n_sampled_items) / n as f64),
    };
    let chance = chance.map(|it| format!("{} of the possible instances are drawn", percent(it)));
    let rows = made.probes.iter().map(|(probe, n)| {
        view! {
            <tr>
                <th scope="row">{probe.name()}</th>
                <td class="num">{format_count(u64::from(*n))}</td>
            </tr>
        }
    });
    let rows = rows.collect_view();
    view! {
        <div class="tally">
            <p>
                <b class="run-now">{format_count(u64::from(made.n_sampled_items))}</b>
                <span class="note">"items are drawn"</span>
            </p>
            <p>
                <b class="run-now">{format_count(made.n_candidates)}</b>
                <span class="note">"possible instances"</span>
            </p>
            <p>
                <b class="run-now">{format_count(u64::from(made.n_queries))}</b>
                <span class="note">"queries"</span>
            </p>
        </div>
        <p class="note">
            {chance.map(|it| format!("{it}; "))}
            {format_count_with_noun(
                u64::from(made.n_training_items),
                "training item",
                "training items",
            )}
            ", "
            {format_count_with_noun(u64::from(made.n_gold_items), "gold item", "gold items")}
        </p>
        <HeadedTable
            name="Items per probe"
            class="data narrow"
            heads=[
                ColumnHeading::for_text_column("probe"),
                ColumnHeading::for_number_column("items"),
            ]
        >
            {rows}
        </HeadedTable>
    }
}

/// Formats a share that may be small, as in `3.2 %` and `0.04 %`.
fn percent(share: f64) -> String {
    match share * 100.0 {
        it if it >= 10.0 => format!("{it:.0} %"),
        it if it >= 1.0 => format!("{it:.1} %"),
        it => format!("{it:.2} %"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_share_keeps_its_digits() {
        assert_eq!(
            [0.5, 0.032, 0.0004].map(percent),
            ["50 %", "3.2 %", "0.04 %"]
        );
    }
}
