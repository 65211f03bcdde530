//! Scores of neural rankers: from a job on this server, or from a file.

use leptos::prelude::*;
use shared::api::worker::{LocalStudySummary, WorkerRequest};
use shared::api::{
    CancelScoringJobRequest, GetScoringJobRequest, JobState, ResumeScoringJobRequest, ScoringJob,
    ServerInfoResponse,
};
use shared::score::RankerInfo;
use wasm_bindgen::JsValue;
use web_sys::HtmlInputElement;

use super::state::{StudyScoringJob, WorkbenchState};
use crate::api::event_stream::EventSubscription;
use crate::api::{self, RequestError, transport, worker};
use crate::number_format;
use crate::widgets::download;
use crate::widgets::error_message::{OptionalErrorMessage, failure_view};
use crate::widgets::form::SelectField;
use crate::widgets::job_status;
use crate::widgets::needs_server::NeedsServerNotice;
use crate::widgets::operator_sign_in::OperatorTokenForm;
use crate::widgets::progress::ProgressBarView;
use crate::widgets::resource_view::RequestReplyView;
use crate::widgets::section::Section;

/// Renders the section on neural rankers.
#[component]
pub(super) fn WorkbenchNeuralRankers(bench: WorkbenchState) -> impl IntoView {
    let server = LocalResource::new(|| async { api::fetch_server_info().await });
    let failed = RwSignal::new(None::<RequestError>);
    let ways = NeuralSection { bench, failed };
    // An error about a study is cleared with the study.
    Effect::new(move |_| {
        if bench.study.get().is_none() {
            failed.set(None);
        }
    });
    let note = move || {
        bench.study.get().map(|it| {
            number_format::format_count_with_noun(it.n_pairs, "unique pair", "unique pairs")
        })
    };
    let on_server = move |found: Option<ServerInfoResponse>| match found {
        None => view! {
            <NeedsServerNotice
                what="Neural rankers"
                otherwise=|| "Without a server, download the pairs and upload scores."
            />
        }
        .into_any(),
        Some(found) => {
            let again = Callback::new(move |()| server.refetch());
            view! { <ServerScoring ways server=found again/> }.into_any()
        }
    };
    let header = move || view! { <p class="note">{note}</p> };
    view! {
        <Section id="neural" name="Neural rankers" header>
            <p class="ahead">
                "Send the pairs to this server for scoring, or download them and upload a file \
                 of scores."
            </p>
            <RequestReplyView answer=server until="Checking for a server" shown=on_server/>
            <PairFiles ways/>
            <OptionalErrorMessage error=failed/>
        </Section>
    }
}

/// The state that the parts of this section share.
#[derive(Clone, Copy)]
struct NeuralSection {
    bench: WorkbenchState,
    failed: RwSignal<Option<RequestError>>,
}

impl NeuralSection {
    fn handle_reply(self, answer: Result<worker::WorkerReply, RequestError>) {
        match answer {
            Ok(answered) => {
                let _ = self.failed.try_set(None);
                self.bench.apply_worker_message(answered.message);
            }
            Err(error) => {
                let _ = self.failed.try_set(Some(error));
            }
        }
    }
}

/// Renders the buttons that download the pairs and upload a file of scores.
#[component]
fn PairFiles(ways: NeuralSection) -> impl IntoView {
    let NeuralSection { bench, failed } = ways;
    let take = move |_| {
        leptos::task::spawn_local(async move {
            match worker::run_worker_task(WorkerRequest::ExportPairs, &JsValue::UNDEFINED).await {
                Ok(it) => download::offer_blob_download("pairs.jsonl", &it.attachment),
                Err(error) => failed.set(Some(error)),
            }
        });
    };
    let bring = move |event: leptos::ev::Targeted<leptos::ev::Event, HtmlInputElement>| {
        let picker = event.target();
        let Some(file) = picker.files().and_then(|it| it.get(0)) else {
            return;
        };
        picker.set_value("");
        leptos::task::spawn_local(async move {
            ways.handle_reply(
                worker::run_worker_task(WorkerRequest::AddScoreFile { name: file.name() }, &file)
                    .await,
            );
        });
    };
    let off = move || bench.study.get().is_none();
    view! {
        <div class="btns">
            <button class="btn" type="button" disabled=off on:click=take>
                "Download pairs (JSONL)"
            </button>
            <label class="btn file" aria-disabled=move || off().then_some("true")>
                "Upload scores"
                <input type="file" class="unseen" disabled=off on:change:target=bring/>
            </label>
            <span class="note">
                {move || {
                    if off() {
                        "available once the study is created"
                    } else {
                        "Row format: qid docid score"
                    }
                }}
            </span>
        </div>
    }
}

/// Why a visitor needs the token.
const OPERATOR_ONLY: &str = "Only the operator of this server can start jobs.";

/// Renders the models of the server, or the job in progress.
#[component]
fn ServerScoring(
    ways: NeuralSection,
    server: ServerInfoResponse,
    /// Asks the server again what the user may do.
    again: Callback<()>,
) -> impl IntoView {
    let bench = ways.bench;
    if server.models.is_empty() {
        return view! {
            <p class="note">
                "This server has no neural model. The operator can add one with "
                <code>"axioscope models get"</code> "."
            </p>
        }
        .into_any();
    }
    let body = move || match bench.job.get() {
        Some(link) => view! { <JobPanel ways link/> }.into_any(),
        None if server.can_create_jobs => {
            view! { <SendPairs ways models=server.models.clone()/> }.into_any()
        }
        None => view! {
            <details>
                <summary>{OPERATOR_ONLY} " Sign in as operator"</summary>
                <OperatorTokenForm why="" again/>
            </details>
        }
        .into_any(),
    };
    body.into_any()
}

/// Renders the form that chooses a model and sends the pairs.
#[component]
fn SendPairs(ways: NeuralSection, models: Vec<RankerInfo>) -> impl IntoView {
    let NeuralSection { bench, failed } = ways;
    let chosen = RwSignal::new(models.first().map(|it| it.spec.clone()).unwrap_or_default());
    let sending = RwSignal::new(false);
    let notes = models.clone();
    let note = move || {
        let found = notes.iter().find(|it| it.spec == chosen.get());
        found.and_then(|it| it.note.clone())
    };
    let options = models.into_iter().map(|it| {
        view! { <option value=it.spec>{it.label} ", " {it.detail}</option> }
    });
    let options = options.collect_view();
    let send = move |_| {
        let Some(LocalStudySummary {
            instances_hash: hash,
            ..
        }) = bench.study.get_untracked()
        else {
            return;
        };
        sending.set(true);
        leptos::task::spawn_local(async move {
            let title = "Local study".to_owned();
            let created =
                transport::create_job_for_local_study(chosen.get_untracked(), title).await;
            let _ = sending.try_set(false);
            match created {
                Ok(job) => {
                    failed.set(None);
                    bench.job.set(Some(StudyScoringJob {
                        id: job.id,
                        study_hash: hash_prefix(&hash),
                    }));
                }
                Err(error) => failed.set(Some(error)),
            }
        });
    };
    let off = move || bench.study.get().is_none() || sending.get();
    let words = move || {
        let made = bench.study.get();
        made.map(|it| {
            format!(
                "sends the documents of {} pairs",
                number_format::format_count(it.n_pairs)
            )
        })
    };
    view! {
        <div class="btns send">
            <SelectField label="Model" choose=move |word| chosen.set(word)>{options}</SelectField>
            <button class="btn main" type="button" disabled=off on:click=send>
                {move || if sending.get() { "Sending" } else { "Score on the server" }}
            </button>
            <span class="note">{words}</span>
        </div>
        <p class="note">{note}</p>
    }
}

fn hash_prefix(hash: &str) -> String {
    hash.chars().take(12).collect()
}

/// Shows a job from its first event until its scores are in the study.
#[component]
fn JobPanel(ways: NeuralSection, link: StudyScoringJob) -> impl IntoView {
    let NeuralSection { bench, failed } = ways;
    let job = RwSignal::new(None::<ScoringJob>);
    let lost = RwSignal::new(false);
    let watched = StoredValue::new_local(None::<EventSubscription>);
    let id = StoredValue::new(link.id);
    let of = StoredValue::new(link.study_hash);
    let hear = move |heard: ScoringJob| {
        let _ = lost.try_set(false);
        let ended = heard.state == JobState::Done;
        let ranker = heard.ranker.clone();
        let _ = job.try_set(Some(heard));
        if ended {
            leptos::task::spawn_local(async move {
                merge_scores(ways, &id.get_value(), &of.get_value(), &ranker).await
            });
        }
    };
    let watch = move || {
        let source = transport::watch_job(&id.get_value(), hear, move || {
            let _ = lost.try_set(true);
        });
        match source {
            Ok(source) => watched.set_value(Some(source)),
            Err(error) => failed.set(Some(error)),
        }
    };
    let take = move |answer: Result<ScoringJob, RequestError>| match answer {
        Ok(found) => hear(found),
        Err(error) => failed.set(Some(error)),
    };
    // The server may not know the job, which the event stream cannot report, so the job is
    // requested once.
    leptos::task::spawn_local(async move {
        let job = id.get_value();
        let found = api::send_and_parse(&GetScoringJobRequest { job }).await;
        let goes_on = found.as_ref().is_ok_and(|it| !it.state.is_finished());
        take(found);
        if goes_on {
            watch();
        }
    });
    let cancel = move |_| {
        leptos::task::spawn_local(async move {
            let job = id.get_value();
            take(api::send_and_parse(&CancelScoringJobRequest { job }).await);
        });
    };
    let resume = move |_| {
        leptos::task::spawn_local(async move {
            let job = id.get_value();
            let found = api::send_and_parse(&ResumeScoringJobRequest { job }).await;
            let goes_on = found.is_ok();
            take(found);
            if goes_on {
                watch();
            }
        });
    };
    let done = Signal::derive(move || {
        job.with(|it| it.as_ref().map_or(0.0, job_status::job_progress_fraction))
    });
    let state = Memo::new(move |_| job.with(|it| it.as_ref().map(|it| it.state)));
    let close = move |_| {
        watched.set_value(None);
        failed.set(None);
        bench.job.set(None);
    };
    let buttons = move || match state.get() {
        Some(JobState::Queued | JobState::Running) => {
            view! { <button class="btn" type="button" on:click=cancel>"Cancel"</button> }.into_any()
        }
        Some(JobState::Canceled | JobState::Failed) => view! {
            <button class="btn" type="button" on:click=resume>"Resume"</button>
            <button class="btn" type="button" on:click=close>"Discard"</button>
        }
        .into_any(),
        Some(JobState::Done) | None => {
            view! { <button class="btn" type="button" on:click=close>"Use another model"</button> }
                .into_any()
        }
    };
    let words = move || job.with(|it| it.as_ref().map(job_status::describe_job_status));
    let problem = move || job.with(|it| it.as_ref().and_then(|it| it.error.clone()));
    view! {
        <div class="job">
            <ProgressBarView label="Scoring on the server" done/>
            <div class="bar">
                <p role="status">{words}</p>
                {buttons}
            </div>
            {move || {
                lost.get()
                    .then(|| {
                        view! {
                            <p class="note" role="status">
                                "The connection was lost; the job continues, and the page \
                                 reconnects "
                                "automatically."
                            </p>
                        }
                    })
            }}
            {move || failure_view(problem())}
        </div>
    }
}

/// Adds the scores of a job to the study, unless they are already there.
async fn merge_scores(ways: NeuralSection, job: &str, of: &str, ranker: &RankerInfo) {
    let there = ways.bench.study.with_untracked(|made| {
        let rankers = made.iter().flat_map(|it| &it.rankers);
        rankers
            .into_iter()
            .any(|it| it.fingerprint == ranker.fingerprint)
    });
    if !there {
        ways.handle_reply(transport::fetch_scores_into_local_study(job, of).await);
    }
}
