//! The page of one training: its state, learning curves, result and settings.

use leptos::prelude::*;
use shared::api::JobState;
use shared::api::training::{
    CancelTrainingRequest, ResumeTrainingRequest, TrainingJob, UpdateTrainingRequest,
};
use shared::plot::{self, LearningCurveLayout};
use shared::report::{self, ReportTable};

use super::draft;
use super::live_training::LiveTraining;
use super::result::{self, ResultFacts};
use super::status;
use crate::api::mutation::MutatingRequestState;
use crate::api::{self, RequestError};
use crate::number_format::spell_out_iso_date;
use crate::routes::PageRoute;
use crate::widgets::error_message::{LoadErrorMessage, OptionalErrorMessage, failure_view};
use crate::widgets::figure::content_width;
use crate::widgets::figure_section::{ExportableFigureSection, FigureWithSelection};
use crate::widgets::job_status;
use crate::widgets::progress::ProgressBarView;
use crate::widgets::section::Section;

/// Renders the page of a training.
#[component]
pub(crate) fn TrainingPage(
    /// The name of the trained ranker.
    training: String,
) -> impl IntoView {
    let live = LiveTraining::open(training.clone());
    let stage = Memo::new(move |_| {
        let is_loaded = live.job.with(Option::is_some);
        match live.error.get() {
            _ if is_loaded => PageStage::Loaded,
            Some(error) => PageStage::Failed(error),
            None => PageStage::Loading,
        }
    });
    let retry = Callback::new(move |()| live.load());
    let name = training.clone();
    let body = move || match stage.get() {
        PageStage::Loading => view! {
            <h1>{name.clone()}</h1>
            <p class="note" role="status">"Loading the training"</p>
        }
        .into_any(),
        PageStage::Failed(error) => view! {
            <h1>"The training cannot be shown"</h1>
            <LoadErrorMessage error retry/>
        }
        .into_any(),
        PageStage::Loaded => view! {
            <TrainingHeader live name=name.clone()/>
            <LearningCurveSections live name=name.clone()/>
            <ResultSection live name=name.clone()/>
            <SettingsSection live/>
        }
        .into_any(),
    };
    view! {
        <nav class="crumbs" aria-label="Breadcrumb">
            <a href=PageRoute::Trainings.href()>"Trainings"</a>
            <span>{training}</span>
        </nav>
        {body}
    }
}

/// What the page shows below its breadcrumb.
#[derive(Debug, Clone, PartialEq, Eq)]
enum PageStage {
    Loading,
    Failed(RequestError),
    Loaded,
}

/// Renders the name of the training, its state, and what an operator can do with it.
#[component]
fn TrainingHeader(live: LiveTraining, name: String) -> impl IntoView {
    let is_operator = api::fetch_whether_operator();
    let state = Memo::new(move |_| live.job.with(|it| it.as_ref().map(|it| it.state)));
    let is_public = Memo::new(move |_| {
        let job = live.job.read();
        job.as_ref().is_some_and(|it| it.is_public)
    });
    let done = Signal::derive(move || {
        let job = live.job.read();
        job.as_ref().map_or(0.0, status::progress_fraction)
    });
    let words = move || {
        live.job
            .with(|it| it.as_ref().map(status::describe_training_status))
    };
    let visibility = move || {
        is_operator.get().then(|| match is_public.get() {
            true => view! { <span>"published"</span> },
            false => view! { <span>"not published: only operators see this page"</span> },
        })
    };
    let facts = Memo::new(move |_| {
        let job = live.job.read();
        job.as_ref()
            .map(|it| (it.request.clone(), it.created_at.clone()))
    });
    let facts = move || {
        facts.get().map(|(request, created_at)| {
            let day = created_at.get(..10).unwrap_or(&created_at).to_owned();
            view! {
                <span>{status::network_label(&request.spec.model)}</span>
                <span>{request.collection}</span>
                <span><time datetime=created_at>{spell_out_iso_date(&day)}</time></span>
            }
        })
    };
    let problem = move || failure_view(live.job.with(|it| it.as_ref()?.error.clone()));
    let lost = move || {
        live.is_disconnected.get().then(|| {
            view! {
                <p class="note" role="status">
                    "The connection was lost; the training continues, and the page reconnects \
                     automatically."
                </p>
            }
        })
    };
    let label = format!("Progress of {name}");
    view! {
        <h1>{name}</h1>
        <p class="facts">{facts}{visibility}</p>
        <div class="job training-state">
            <ProgressBarView label done/>
            <div class="bar">
                <span role="status">{job_status::job_state_view(state)}</span>
                <p>{words}</p>
                <Show when=move || is_operator.get()>
                    <OperatorButtons live state is_public/>
                </Show>
            </div>
            {lost}
            {problem}
        </div>
    }
}

/// Renders the buttons that cancel, resume, publish and withdraw a training.
#[component]
fn OperatorButtons(
    live: LiveTraining,
    state: Memo<Option<JobState>>,
    is_public: Memo<bool>,
) -> impl IntoView {
    let action = MutatingRequestState::new();
    let name = move || {
        let job = live.job.read_untracked();
        job.as_ref().map(|it| it.name.clone()).unwrap_or_default()
    };
    let receive = move |job: TrainingJob| {
        let is_in_progress = !job.state.is_finished();
        live.job.set(Some(job));
        if is_in_progress {
            live.follow();
        }
    };
    let act = move |_| {
        let training = name();
        match state.get_untracked() {
            Some(JobState::Queued | JobState::Running) => {
                action.send_unless_busy(CancelTrainingRequest { training }, receive);
            }
            Some(JobState::Canceled | JobState::Failed) => {
                action.send_unless_busy(ResumeTrainingRequest { training }, receive);
            }
            Some(JobState::Done) | None => {}
        }
    };
    let publish = move |_| {
        let request = UpdateTrainingRequest {
            training: name(),
            is_public: !is_public.get_untracked(),
        };
        action.send_unless_busy(request, receive);
    };
    let verb = move || job_status::state_chip(state.get()?).2;
    let can_publish = move || is_public.get() || state.get() == Some(JobState::Done);
    let publish_verb = move || {
        if is_public.get() {
            "Withdraw"
        } else {
            "Publish"
        }
    };
    let off = move || action.is_busy.get();
    view! {
        <div class="btns">
            <Show when=move || verb().is_some()>
                <button class="btn" type="button" disabled=off on:click=act>
                    {verb}
                </button>
            </Show>
            <Show when=can_publish>
                <button class="btn" type="button" disabled=off on:click=publish>
                    {publish_verb}
                </button>
            </Show>
        </div>
        <OptionalErrorMessage error=action.error/>
    }
}

/// Renders the learning curves as a figure, and when each axiom was learned as a table.
#[component]
fn LearningCurveSections(live: LiveTraining, name: String) -> impl IntoView {
    let is_empty = Memo::new(move |_| live.points.with(Vec::is_empty));
    let width = content_width();
    let layout =
        Memo::new(move |_| LearningCurveLayout::for_width(width.get() - 2.0 * plot::FIGURE_MARGIN));
    let figure = Signal::derive(move || {
        live.points
            .with(|it| plot::draw_learning_curves(it, layout.get()))
    });
    let table = move |name: &'static str| -> Signal<Option<ReportTable>> {
        Signal::derive(move || {
            let tables = report::training_tables(&live.record());
            tables.into_iter().find(|it| it.name == name)
        })
    };
    move || {
        if is_empty.get() {
            let is_finished = live
                .job
                .with(|it| it.as_ref().is_some_and(|it| it.state.is_finished()));
            let note = match is_finished {
                true => "The training has no checkpoint, so there are no curves.",
                false => "The curves begin at the first checkpoint.",
            };
            return view! {
                <Section id="curves" name="Learning curves">
                    <p class="note">{note}</p>
                </Section>
            }
            .into_any();
        }
        let of = format!("{name}-");
        view! {
            <ExportableFigureSection
                of=of.clone()
                id="learning-curves"
                name="Learning curves"
                said="The fraction of satisfied instances of each axiom on the development \
                     queries, measured at each checkpoint."
                drawing=Some(FigureWithSelection::changing_without_selection(figure))
                table=table("learning_curve")
            />
            <ExportableFigureSection
                of
                id="axioms-learned"
                name="When each axiom was learned"
                said="An axiom is learned once its fraction stays above chance."
                drawing=None
                table=table("axioms_learned")
            />
        }
        .into_any()
    }
}

/// Renders the effectiveness of the trained ranker with its controls, once the training has ended.
#[component]
fn ResultSection(live: LiveTraining, name: String) -> impl IntoView {
    move || {
        let summary = live.summary.get()?;
        let table = Some(report::training_effectiveness_table(&summary));
        let said = result::effectiveness_sentence(&summary).unwrap_or_default();
        Some(view! {
            <ExportableFigureSection
                of=format!("{name}-")
                id="effectiveness"
                name="Effectiveness"
                said
                drawing=None
                table
            />
            <ResultFacts summary/>
        })
    }
}

/// Renders what was asked for.
#[component]
fn SettingsSection(live: LiveTraining) -> impl IntoView {
    let request = Memo::new(move |_| live.job.with(|it| it.as_ref().map(|it| it.request.clone())));
    let rows = move || {
        let request = request.get()?;
        let spec = request.spec;
        let changed = match spec.set.is_empty() {
            true => "none".to_owned(),
            false => spec.set.join(", "),
        };
        let rows = [
            ("Network", status::network_label(&spec.model)),
            ("Collection", request.collection),
            ("Training queries", spec.split),
            ("Development queries", spec.dev),
            (
                "Test queries",
                spec.test.unwrap_or_else(|| "none".to_owned()),
            ),
            (
                "Candidates of a query",
                draft::describe_candidates(&spec.pool),
            ),
            ("Recipe", spec.recipe),
            (
                "Variant",
                spec.variant
                    .unwrap_or_else(|| "as in the recipe".to_owned()),
            ),
            (
                "Added examples",
                draft::describe_augmentation(&spec.augment),
            ),
            ("Changed settings", changed),
            ("Random seed", spec.seed.to_string()),
        ];
        let rows = rows.map(|(name, value)| view! { <dt>{name}</dt><dd>{value}</dd> });
        Some(rows.collect_view())
    };
    view! {
        <Section id="settings" name="Settings">
            <dl class="settings">{rows}</dl>
        </Section>
    }
}
