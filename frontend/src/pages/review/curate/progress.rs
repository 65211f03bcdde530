//! The progress of a task, the speed and accuracy of its annotators, and who is excluded.

use leptos::prelude::*;
use shared::annotation::event::{AnnotationEventAction, AnnotatorExclusionChange};
use shared::annotation::progress::AnnotatorProgress;
use shared::annotation::tables;
use shared::api::annotation::{GetTaskProgressRequest, TaskProgressResponse};
use shared::plot;
use shared::report::format;

use super::state::{CurationPageState, person_display_name};
use super::submission::{AnnotationEventSender, SubmissionErrorMessage};
use crate::api;
use crate::number_format::{format_count, format_count_with_noun};
use crate::pages::people::format_utc_minute;
use crate::widgets::confirmation::{ActionConfirmation, ConfirmedActionButton};
use crate::widgets::figure_section::{ExportableFigureSection, FigureWithSelection};
use crate::widgets::form::TextField;
use crate::widgets::progress::ProgressBarView as Bar;
use crate::widgets::resource_view::RequestReplyView;
use crate::widgets::section::Section;

/// Renders the tab with the progress and accuracy of the annotators.
#[component]
pub(super) fn AnnotatorProgressTab(desk: CurationPageState) -> impl IntoView {
    let task = desk.task;
    let answer = api::fetch_on_signal_change(move || GetTaskProgressRequest { task });
    let again = Callback::new(move |()| answer.refetch());
    let shown =
        move |found: TaskProgressResponse| view! { <ProgressTables desk found again/> }.into_any();
    view! {
        <div class="btns again">
            <button class="btn" type="button" on:click=move |_| again.run(())>"Refresh"</button>
        </div>
        <RequestReplyView answer until="Counting decisions" shown/>
    }
}

#[component]
fn ProgressTables(
    desk: CurationPageState,
    found: TaskProgressResponse,
    again: Callback<()>,
) -> impl IntoView {
    let TaskProgressResponse {
        progress,
        annotators: names,
    } = found;
    let tables =
        tables::annotation_progress_tables(&progress, &|it| person_display_name(&names, it));
    let table = |name: &str| tables.iter().find(|it| it.name == name).cloned();
    let tally = [
        (progress.n_started, "items started"),
        (progress.n_complete, "complete"),
        (progress.n_adjudicated, "adjudicated"),
        (progress.n_reported, "reported"),
    ];
    let tally = tally.map(|(n, what)| {
        view! { <p><b class="run-now">{format_count(n)}</b> <span class="note">{what}</span></p> }
    });
    let done = match progress.n_decisions_required {
        0 => 0.0,
        n => progress.n_decisions as f64 / n as f64,
    };
    let said = format!(
        "{} of {} decisions ({}), on {}",
        format_count(progress.n_decisions),
        format_count(progress.n_decisions_required),
        format::format_percent(done),
        format_count_with_noun(progress.n_items, "item", "items")
    );
    let header = {
        let said = said.clone();
        move || view! { <p class="note">{said.clone()}</p> }
    };
    let days = (!progress.decisions_by_day.is_empty()).then(|| {
        FigureWithSelection::without_selection(plot::annotation::draw_decisions_per_day(&progress))
    });
    let people = progress.by_annotator.into_iter().map(|it| {
        let name = person_display_name(&names, it.person);
        view! { <ExclusionRow desk of=it name again/> }
    });
    let people = people.collect_view();
    let nobody = tables.iter().all(|it| it.rows.is_empty());
    if nobody {
        return view! {
            <p class="ahead">
                "No activity yet. Open the task and invite annotators on the page "
                <a href=crate::routes::PageRoute::People.href()>"People"</a> "."
            </p>
        }
        .into_any();
    }
    // Nobody excludes a simulated annotator.
    let included = (!desk.is_simulated()).then(|| {
        view! {
            <Section
                id="counts"
                name="Included annotators"
                note="Excluded annotators do not count in agreement and estimates. Nothing is \
                     deleted: their work stays in the log and the export, and can be included again."
            >
                <ul class="held">{people}</ul>
            </Section>
        }
    });
    view! {
        <Section id="far" name="Progress" header>
            <div class="tally">{tally}</div>
            <Bar label=said done=Signal::stored(done)/>
        </Section>
        {days
            .map(|days| {
                view! {
                    <ExportableFigureSection
                        of="annotation-"
                        id="days"
                        name="Decisions per day"
                        said="All annotators, without training items."
                        drawing=Some(days)
                        table=table("days")
                    />
                }
            })}
        <ExportableFigureSection
            of="annotation-"
            id="progress"
            name="Annotators"
            said="Number, speed and accuracy of decisions, and their drift."
            table=table("progress")
        />
        {included}
    }
    .into_any()
}

/// Renders the row that excludes a person's work from the estimates, or includes it again.
#[component]
fn ExclusionRow(
    desk: CurationPageState,
    of: AnnotatorProgress,
    name: String,
    again: Callback<()>,
) -> impl IntoView {
    let sending = AnnotationEventSender::new(desk.task);
    let reason = RwSignal::new(String::new());
    let confirmation = ActionConfirmation::new();
    let (person, excluded) = (of.person, of.is_excluded);
    let word = match excluded {
        true => "Include",
        false => "Exclude",
    };
    let send = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        let standing = AnnotatorExclusionChange {
            person,
            reason: reason.get_untracked().trim().to_owned(),
        };
        let what = match excluded {
            true => AnnotationEventAction::Included(standing),
            false => AnnotationEventAction::Excluded(standing),
        };
        sending.send_action(what, again);
    };
    let label = format!("{word}: {name}");
    let form = view! {
        <ConfirmedActionButton confirmation text=word label=label.clone()/>
        <Show when=move || confirmation.is_shown()>
            <form class="btns standing" on:submit=send>
                <TextField label="Reason" text=reason/>
                <button
                    class="btn main"
                    type="submit"
                    aria-label=label.clone()
                    disabled=move || sending.is_sending() || reason.with(|it| it.trim().is_empty())
                >
                    {word}
                </button>
                <button class="btn" type="button" on:click=move |_| confirmation.decline()>
                    "Cancel"
                </button>
            </form>
        </Show>
    };
    view! {
        <li>
            <div class="told" class:rests=excluded>
                <h3><bdi>{name}</bdi></h3>
                <p class="facts">
                    {excluded.then(|| view! { <span class="verdict out quiet">"excluded"</span> })}
                    <span>{format_count_with_noun(of.n_decided, "decision", "decisions")}</span>
                    <span>"last activity " {format_utc_minute(of.last_event_ms)}</span>
                </p>
            </div>
            <div class="act">{form}</div>
            <SubmissionErrorMessage sending done=again/>
        </li>
    }
}
