//! All jobs of the server, newest first.

use leptos::prelude::*;
use shared::api::{
    CancelScoringJobRequest, GetScoringJobRequest, JobState, ListScoringJobsRequest,
    ResumeScoringJobRequest, ScoringJob,
};

use crate::api;
use crate::api::mutation::MutatingRequestState;
use crate::number_format;
use crate::widgets::error_message::{OptionalErrorMessage, failure_view};
use crate::widgets::job_status;
use crate::widgets::polled_list::{PolledReply, VisibleRows};
use crate::widgets::progress::ProgressBarView;
use crate::widgets::section::Section;

/// Renders the section that lists the jobs.
#[component]
pub(super) fn JobListSection() -> impl IntoView {
    let board = JobListState::start(
        || ListScoringJobsRequest {},
        |jobs| jobs.iter().any(|it| !it.state.is_finished()),
    );
    let shown = VisibleRows::new();
    let n_jobs = Memo::new(move |_| board.reply.with(|it| it.as_ref().map(Vec::len)));
    let ids = Memo::new(move |_| {
        let jobs = board.reply.get().unwrap_or_default();
        let ids = jobs.into_iter().take(shown.get()).map(|it| it.id);
        ids.collect::<Vec<_>>()
    });
    let note = move || {
        let jobs = board.reply.read();
        let jobs = jobs.as_ref()?;
        let n_left = jobs.iter().filter(|it| !it.state.is_finished()).count();
        (!jobs.is_empty()).then(|| match n_left {
            0 => "no active jobs".to_owned(),
            n_left => format!("{n_left} running or waiting"),
        })
    };
    let before = move || match n_jobs.get() {
        None => Some("Loading jobs"),
        Some(0) => Some("No jobs yet. Create one in the Workbench or through the API."),
        Some(_) => None,
    };
    let more = move || shown.show_more_button(n_jobs.get().unwrap_or_default());
    let retry = Callback::new(move |()| board.poll());
    let header = move || view! { <p class="note">{note}</p> };
    view! {
        <Section id="jobs" name="Jobs" header>
            <OptionalErrorMessage error=board.error retry/>
            {move || before().map(|it| view! { <p class="note">{it}</p> })}
            <ul class="held">
                <For each=move || ids.get() key=String::clone let:id>
                    <JobRow board id/>
                </For>
            </ul>
            {more}
        </Section>
    }
}

/// The state of the job list.
type JobListState = PolledReply<ListScoringJobsRequest>;

fn replace_job(board: JobListState, job: ScoringJob) {
    board.reply.update(|jobs| {
        let mut jobs = jobs.iter_mut().flatten();
        if let Some(it) = jobs.find(|it| it.id == job.id) {
            *it = job;
        }
    });
    board.schedule_poll();
}

#[component]
fn JobRow(board: JobListState, id: String) -> impl IntoView {
    let job = {
        let id = id.clone();
        Memo::new(move |_| {
            let jobs = board.reply.read();
            jobs.iter().flatten().find(|it| it.id == id).cloned()
        })
    };
    let state = Memo::new(move |_| job.with(|it| it.as_ref().map(|it| it.state)));
    let action = MutatingRequestState::new();
    let act = move |_| {
        let Some(state) = state.get_untracked() else {
            return;
        };
        let job = id.clone();
        let reply = async move {
            match state {
                JobState::Queued | JobState::Running => {
                    api::send_and_parse(&CancelScoringJobRequest { job }).await
                }
                JobState::Canceled | JobState::Failed => {
                    api::send_and_parse(&ResumeScoringJobRequest { job }).await
                }
                JobState::Done => api::send_and_parse(&GetScoringJobRequest { job }).await,
            }
        };
        action.wait_for_reply_unless_busy(reply, move |job| replace_job(board, job));
    };
    let first = job.get_untracked();
    let title = first
        .as_ref()
        .map(|it| it.title.clone())
        .unwrap_or_default();
    let made = first.map(|it| creation_text(&it));
    let done = Signal::derive(move || {
        job.with(|it| it.as_ref().map_or(0.0, job_status::job_progress_fraction))
    });
    let words = move || job.with(|it| it.as_ref().map(job_status::describe_job_status));
    let rests = move || state.get().is_some_and(JobState::is_finished);
    let verb = move || job_status::state_chip(state.get()?).2;
    let label = {
        let title = title.clone();
        move || verb().map(|it| format!("{it}: {title}"))
    };
    let problem = move || {
        let found = action.error.get().map(|it| it.to_string());
        let told = job.with(|it| it.as_ref().and_then(|it| it.error.clone()));
        failure_view(found.or(told))
    };
    view! {
        <li>
            <div class="told" class:rests=rests>
                <h3>{title.clone()}</h3>
                <p class="facts">{made}</p>
                <ProgressBarView label=title.clone() done/>
                <p>{words}</p>
            </div>
            <div class="act">
                <span role="status">{job_status::job_state_view(state)}</span>
                <Show when=move || verb().is_some()>
                    <button class="btn" type="button" aria-label=label.clone() on:click=act.clone()>
                        {verb}
                    </button>
                </Show>
            </div>
            {problem}
        </li>
    }
}

/// Renders when the job was created, and the model that scores it.
fn creation_text(job: &ScoringJob) -> impl IntoView + use<> {
    let day = job.created_at.get(..10).unwrap_or(&job.created_at);
    let time = job.created_at.get(11..16).unwrap_or_default();
    let when = format!("{}, {time} UTC", number_format::spell_out_iso_date(day));
    view! {
        <span><time datetime=job.created_at.clone()>{when}</time></span>
        <span><code>{job.ranker.spec.clone()}</code></span>
    }
}
