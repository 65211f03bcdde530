//! All jobs of the server, newest first.

use leptos::prelude::*;
use shared::api::{
    CancelScoringJobRequest, GetScoringJobRequest, JobState, ListScoringJobsRequest,
    ResumeScoringJobRequest, ScoringJob,
};

use super::model_list::POLL_MS;
use crate::api::mutation::MutatingRequestState;
use crate::api::{self, RequestError};
use crate::debounce::DebounceTimer;
use crate::number_format;
use crate::widgets::error_message::OptionalErrorMessage;
use crate::widgets::job_status;
use crate::widgets::progress::ProgressBarView;
use crate::widgets::section::Section;

/// The number of jobs that are listed at first.
const INITIAL_ROWS: usize = 20;

/// Renders the section that lists the jobs.
#[component]
pub(super) fn JobListSection() -> impl IntoView {
    let board = JobListState::new();
    board.poll();
    let shown = RwSignal::new(INITIAL_ROWS);
    let n_jobs = Memo::new(move |_| board.jobs.with(|it| it.as_ref().map(Vec::len)));
    let ids = Memo::new(move |_| {
        let jobs = board.jobs.get().unwrap_or_default();
        let ids = jobs.into_iter().take(shown.get()).map(|it| it.id);
        ids.collect::<Vec<_>>()
    });
    let note = move || {
        let jobs = board.jobs.read();
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
    let more = move || {
        let n_hidden = n_jobs.get().unwrap_or_default().saturating_sub(shown.get());
        (n_hidden > 0).then(|| {
            let words = format!(
                "Show {} more",
                number_format::format_count(n_hidden.min(INITIAL_ROWS) as u64)
            );
            view! {
                <button
                    class="btn"
                    type="button"
                    on:click=move |_| shown.update(|it| *it += INITIAL_ROWS)
                >
                    {words}
                </button>
            }
        })
    };
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
#[derive(Clone, Copy)]
struct JobListState {
    jobs: RwSignal<Option<Vec<ScoringJob>>>,
    error: RwSignal<Option<RequestError>>,
    later: DebounceTimer,
}

impl JobListState {
    fn new() -> JobListState {
        JobListState {
            jobs: RwSignal::new(None),
            error: RwSignal::new(None),
            later: DebounceTimer::with_delay_ms(POLL_MS),
        }
    }

    /// Polls the server until every job has ended.
    fn poll(self) {
        leptos::task::spawn_local(async move {
            let found = api::send_and_parse(&ListScoringJobsRequest {}).await;
            // The user may be on another page by now.
            if self.jobs.try_with_untracked(Option::is_none).is_none() {
                return;
            }
            match found {
                Ok(found) => {
                    self.jobs.set(Some(found));
                    if self.error.with_untracked(Option::is_some) {
                        self.error.set(None);
                    }
                }
                Err(error) => self.error.set(Some(error)),
            }
            self.schedule_poll();
        });
    }

    /// Polls again after a delay if a job is in progress.
    fn schedule_poll(self) {
        let jobs = self.jobs.read_untracked();
        if jobs.iter().flatten().any(|it| !it.state.is_finished()) {
            self.later.schedule(move || self.poll());
        }
    }

    fn replace(self, job: ScoringJob) {
        self.jobs.update(|jobs| {
            let mut jobs = jobs.iter_mut().flatten();
            if let Some(it) = jobs.find(|it| it.id == job.id) {
                *it = job;
            }
        });
        self.schedule_poll();
    }
}

#[component]
fn JobRow(board: JobListState, id: String) -> impl IntoView {
    let job = {
        let id = id.clone();
        Memo::new(move |_| {
            let jobs = board.jobs.read();
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
        action.wait_for_reply_unless_busy(reply, move |job| board.replace(job));
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
    let verdict = move || {
        state
            .get()
            .map(job_status::state_chip)
            .map(|(class, word, _)| {
                view! { <span class=format!("verdict {class}")>{word}</span> }
            })
    };
    let problem = move || {
        let found = action.error.get().map(|it| it.to_string());
        let told = job.with(|it| it.as_ref().and_then(|it| it.error.clone()));
        let problem = found.or(told);
        problem.map(|it| view! { <div class="failure" role="alert"><p>{it}</p></div> })
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
                <span role="status">{verdict}</span>
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
