//! The trainings of the server: a list for everybody, and a form for operators.

mod draft;
mod live_training;
mod new_training;
mod result;
mod status;
pub(crate) mod training;

use leptos::prelude::*;
use shared::api::training::{ListTrainingsRequest, TrainingChoices, TrainingJob};
use shared::report::format;

use crate::api::{self, RequestError};
use crate::number_format::spell_out_iso_date;
use crate::routes::PageRoute;
use crate::widgets::error_message::LoadErrorMessage;
use crate::widgets::job_status;
use crate::widgets::needs_server::NeedsServerNotice;
use crate::widgets::polled_list::{PolledReply, VisibleRows};
use crate::widgets::progress::ProgressBarView;
use new_training::NewTrainingSection;

/// Renders the list of trainings and the form for a new one.
#[component]
pub(crate) fn TrainingsPage() -> impl IntoView {
    let list = TrainingListState::start(
        || ListTrainingsRequest {},
        |reply| reply.trainings.iter().any(|it| !it.state.is_finished()),
    );
    let retry = Callback::new(move |()| list.poll());
    let stage = Memo::new(move |_| match (list.reply.get(), list.error.get()) {
        (Some(_), _) => ListStage::Loaded,
        (None, Some(error)) if error.is_server_error_of_type(api::NO_SERVER) => ListStage::NoServer,
        (None, Some(error)) => ListStage::Failed(error),
        (None, None) => ListStage::Loading,
    });
    let choices = Memo::new(move |_| list.reply.with(|it| it.as_ref()?.choices.clone()));
    let form = move || {
        let choices = choices.get();
        choices.map(|choices| view! { <NewTrainingSection choices/> })
    };
    let body = move || match stage.get() {
        ListStage::Loading => {
            view! { <p class="note" role="status">"Loading trainings"</p> }.into_any()
        }
        ListStage::NoServer => view! { <NeedsServerNotice what="Trainings"/> }.into_any(),
        ListStage::Failed(error) => view! { <LoadErrorMessage error retry/> }.into_any(),
        ListStage::Loaded => view! {
            <TrainingList list choices/>
            {form}
        }
        .into_any(),
    };
    view! {
        <h1>"Trainings"</h1>
        <p class="lead">
            "Rankers that were trained on the relevance judgments of a collection. At each \
             checkpoint of a training, the page of a ranker shows how effective it is and how \
             often it satisfies each axiom."
        </p>
        <div class="operator">{body}</div>
    }
}

/// What the page shows below its heading.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ListStage {
    Loading,
    NoServer,
    Failed(RequestError),
    Loaded,
}

/// The state of the list.
type TrainingListState = PolledReply<ListTrainingsRequest>;

/// Renders the section that lists the trainings.
#[component]
fn TrainingList(list: TrainingListState, choices: Memo<Option<TrainingChoices>>) -> impl IntoView {
    let shown = VisibleRows::new();
    let names = Memo::new(move |_| {
        let reply = list.reply.read();
        let trainings = reply.iter().flat_map(|it| &it.trainings);
        trainings.map(|it| it.name.clone()).collect::<Vec<String>>()
    });
    let rows = move || {
        let names = names.get();
        names.into_iter().take(shown.get()).collect::<Vec<_>>()
    };
    let more = move || shown.show_more_button(names.with(Vec::len));
    let is_operator = move || choices.with(Option::is_some);
    let body = move || {
        if names.with(Vec::is_empty) {
            return view! { <NoTrainings is_operator=is_operator()/> }.into_any();
        }
        view! {
            <ul class="held">
                <For each=rows key=String::clone let:name>
                    <TrainingRow list is_operator=Signal::derive(is_operator) name/>
                </For>
            </ul>
            {more}
        }
        .into_any()
    };
    let heading = move || match is_operator() {
        true => "All trainings",
        false => "Published trainings",
    };
    view! {
        <section class="section" aria-labelledby="trainings">
            <header>
                <h2 id="trainings">{heading}</h2>
            </header>
            {body}
        </section>
    }
}

/// Renders what to do while there are no trainings.
#[component]
fn NoTrainings(is_operator: bool) -> impl IntoView {
    match is_operator {
        true => view! {
            <p class="ahead">
                "No trainings yet. Start one below; its page then shows the learning curves as \
                 they grow, and visitors see it once you publish it."
            </p>
        }
        .into_any(),
        false => view! {
            <p class="ahead">
                "This server has not published a training yet. Its operator can start one after \
                 signing in under "
                <a href=PageRoute::Operator.href()>"Models and jobs"</a>
                ". To train a ranker at a terminal, use "
                <code>"axioscope train"</code>
                "."
            </p>
        }
        .into_any(),
    }
}

/// Renders a training of the list.
#[component]
fn TrainingRow(
    list: TrainingListState,
    /// Whether the caller sees which trainings are published.
    is_operator: Signal<bool>,
    name: String,
) -> impl IntoView {
    let job = {
        let name = name.clone();
        Memo::new(move |_| {
            let reply = list.reply.read();
            let mut trainings = reply.iter().flat_map(|it| &it.trainings);
            trainings.find(|it| it.name == name).cloned()
        })
    };
    let with_job = move |read: fn(&TrainingJob) -> String| {
        job.with(|it| it.as_ref().map(read).unwrap_or_default())
    };
    let state = Memo::new(move |_| job.with(|it| it.as_ref().map(|it| it.state)));
    let done =
        Signal::derive(move || job.with(|it| it.as_ref().map_or(0.0, status::progress_fraction)));
    let dev_ap = move || {
        let value = job.with(|it| it.as_ref()?.dev_ap)?;
        let value = format::format_score(value, 3);
        Some(view! { <span>{format!("AP {value} on the development queries")}</span> })
    };
    let published = move || {
        let is_public = job.with(|it| it.as_ref().is_some_and(|it| it.is_public));
        is_operator.get().then(|| match is_public {
            true => view! { <span>"published"</span> },
            false => view! { <span>"not published"</span> },
        })
    };
    let request = move || job.with(|it| it.as_ref().map(|it| request_facts(it).into_any()));
    let is_unfinished = move || state.get().is_some_and(|it| !it.is_finished());
    let href = PageRoute::Training {
        training: name.clone(),
    }
    .href();
    view! {
        <li>
            <div class="told">
                <h3><a href=href>{name.clone()}</a></h3>
                <p class="facts">{request}{dev_ap}{published}</p>
                <Show when=is_unfinished>
                    <ProgressBarView label=name.clone() done/>
                </Show>
                <p>{move || with_job(status::describe_training_status)}</p>
            </div>
            <div class="act">
                <span role="status">{job_status::job_state_view(state)}</span>
            </div>
        </li>
    }
}

/// Renders the network, the collection and the time of creation.
fn request_facts(job: &TrainingJob) -> impl IntoView + use<> {
    let day = job.created_at.get(..10).unwrap_or(&job.created_at);
    view! {
        <span>{status::network_label(&job.request.spec.model)}</span>
        <span>{job.request.collection.clone()}</span>
        <span>
            <time datetime=job.created_at.clone()>{spell_out_iso_date(day)}</time>
        </span>
    }
}
