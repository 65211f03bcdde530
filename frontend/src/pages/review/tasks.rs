//! The annotation tasks of the user, and an introduction for everybody.

use leptos::prelude::*;
use shared::api::ListStudiesRequest;
use shared::api::annotation::{
    AnnotationTaskStatus, AnnotationTaskSummary, ListTasksRequest, TaskProgressSummary,
};
use shared::api::people::{AccessRole, SessionResponse};
use shared::first_paint::ANNOTATION_INTRODUCTION;
use shared::study::overview::StudySummary;

use super::identity::fetch_session_and_open_outbox;
use crate::api::{self, RequestError};
use crate::number_format::{format_count, format_count_with_noun, spell_out_iso_date};
use crate::outbox::{OutboxSummary, RejectedEventsPanel};
use crate::pages::study::address::trial_href;
use crate::routes::PageRoute;
use crate::widgets::needs_server::NeedsServerNotice;
use crate::widgets::progress::ProgressBarView;
use crate::widgets::resource_view::RequestReplyView;
use crate::widgets::section::Section;
use crate::widgets::simulated_annotators::{SimulatedAnnotatorsNote, annotator_count};
use crate::widgets::task_status::task_status_label;

/// Renders the Review page, which lists the annotation tasks that the user can see.
#[component]
pub(crate) fn AnnotationTasksPage() -> impl IntoView {
    let asked = LocalResource::new(load);
    let shown = |found: TasksPageData| {
        let TasksPageData {
            who,
            tasks,
            studies,
        } = found;
        let body = match who {
            Some(who) if who.role > AccessRole::Visitor => {
                view! { <TaskList who tasks/> }.into_any()
            }
            Some(_) => view! {
                <VisitorIntroduction>
                    "To take part in a task, use an invitation link or "
                    <a href=PageRoute::Join.href()>"sign in"</a>
                    ". To see how it works, try five items; nothing is saved."
                </VisitorIntroduction>
                <TaskCards tasks for_whom=TaskPermissions { curates: false, named: false }/>
            }
            .into_any(),
            None => view! {
                <p class="lead">{ANNOTATION_INTRODUCTION}</p>
                <NeedsServerNotice
                    what="Annotation tasks"
                    otherwise=|| "You can still try five items of a study; nothing is saved."
                />
            }
            .into_any(),
        };
        view! {
            {body}
            <TrialLinks studies/>
        }
        .into_any()
    };
    view! {
        <h1>"Annotation"</h1>
        <RequestReplyView answer=asked until="Loading tasks" shown/>
    }
}

/// The data that the page shows.
#[derive(Debug, Clone)]
struct TasksPageData {
    /// The session of the user; none on a static host.
    who: Option<SessionResponse>,
    tasks: Vec<AnnotationTaskSummary>,
    studies: Vec<StudySummary>,
}

async fn load() -> Result<TasksPageData, RequestError> {
    let who = fetch_session_and_open_outbox().await?;
    let tasks = match who.is_some() {
        true => api::send_and_parse(&ListTasksRequest {}).await?,
        false => Vec::new(),
    };
    let mut studies = api::send_and_parse(&ListStudiesRequest {}).await?;
    studies.retain(|it| it.is_published);
    Ok(TasksPageData {
        who,
        tasks,
        studies,
    })
}

/// Renders the page for users without an account.
#[component]
fn VisitorIntroduction(
    /// The sentences that explain how to take part.
    children: Children,
) -> impl IntoView {
    view! {
        <p class="lead">{ANNOTATION_INTRODUCTION}</p>
        <p>{children()}</p>
    }
}

/// Renders the tasks of a user who may annotate.
#[component]
fn TaskList(who: SessionResponse, tasks: Vec<AnnotationTaskSummary>) -> impl IntoView {
    let curates = who.role >= AccessRole::Curator;
    let named = who.person.is_some();
    let name = match who.person {
        Some(person) => view! {
            <p class="facts">
                <span>
                    <bdi><b>{person.name}</b></bdi> ", " {who.role.name()}
                </span>
                <a href=PageRoute::Join.href()>"Account"</a>
                {(!person.has_password).then(|| view! { <span>"no password yet"</span> })}
            </p>
        }
        .into_any(),
        None => view! {
            <p class="facts">
                <span>{who.role.name()} ", without a name"</span>
                <a href=PageRoute::Join.href()>"Choose a name"</a>
                <span>"to annotate items"</span>
            </p>
        }
        .into_any(),
    };
    let ways = curates.then(|| {
        view! {
            <div class="btns">
                <a class="btn" href=PageRoute::NewTask.href()>"New task"</a>
                <a class="btn" href=PageRoute::People.href()>"People"</a>
            </div>
        }
    });
    let empty = tasks.is_empty().then(|| {
        let words = match curates {
            true => "No tasks yet. A task samples instances from a study for people to annotate.",
            false => {
                "No open task for you. The person who invited you will tell you when there \
                 is one."
            }
        };
        view! { <p class="ahead">{words}</p> }
    });
    view! {
        {name}
        <OutboxSummary/>
        <RejectedEventsPanel/>
        {ways}
        {empty}
        <TaskCards tasks for_whom=TaskPermissions { curates, named }/>
    }
}

/// Renders a card for each task.
#[component]
fn TaskCards(tasks: Vec<AnnotationTaskSummary>, for_whom: TaskPermissions) -> impl IntoView {
    let cards = tasks
        .into_iter()
        .map(|card| view! { <TaskCard card for_whom/> });
    view! { <ul class="held tasks">{cards.collect_view()}</ul> }
}

/// What the user may do with a task.
#[derive(Debug, Clone, Copy)]
struct TaskPermissions {
    curates: bool,
    /// Whether the user has a name; others cannot annotate.
    named: bool,
}

/// Renders the card of a task.
#[component]
fn TaskCard(card: AnnotationTaskSummary, for_whom: TaskPermissions) -> impl IntoView {
    let (task, state, standing) = (card.task, card.status, card.progress);
    let starts = state == AnnotationTaskStatus::Open && for_whom.named;
    let start = starts.then(|| {
        let (word, class) = match standing {
            TaskProgressSummary { n_available: 0, .. } => ("Open", "btn"),
            TaskProgressSummary {
                n_own_decisions: 0, ..
            } => ("Start", "btn main"),
            _ => ("Continue", "btn main"),
        };
        let name = card.title.clone();
        view! {
            <a class=class href=PageRoute::AnnotateTask { task }.href()>
                {word} <span class="unseen">": " {name}</span>
            </a>
        }
    });
    let try_it = (card.is_simulated && card.are_results_public).then(|| {
        let name = card.title.clone();
        view! {
            <a class="btn main" href=trial_href(&card.study, Some(task), 0)>
                "Try it" <span class="unseen">": " {name}</span>
            </a>
        }
    });
    let results = card.is_simulated.then(|| {
        let href = PageRoute::HumanJudgments {
            study: card.study.clone(),
        }
        .href();
        let name = card.title.clone();
        view! {
            <a class="btn" href=href>
                "Results" <span class="unseen">": " {name}</span>
            </a>
        }
    });
    let note = card
        .is_simulated
        .then(|| view! { <SimulatedAnnotatorsNote/> });
    let curate = for_whom.curates.then(|| {
        let name = card.title.clone();
        view! {
            <a class="btn" href=PageRoute::CurateTask { task }.href()>
                "Curate" <span class="unseen">": " {name}</span>
            </a>
        }
    });
    let hidden = (state == AnnotationTaskStatus::Draft).then_some(", visible to curators only");
    let n_mine = standing.n_own_decisions;
    let all = u64::from(n_mine) + u64::from(standing.n_available);
    let mine = f64::from(n_mine) / all.max(1) as f64;
    let everybody = standing.n_decisions as f64 / standing.n_decisions_required.max(1) as f64;
    let people = annotator_count(standing.n_annotators, standing.n_simulated_annotators);
    let everybody_word = match card.is_simulated {
        true => "Answers",
        false => "All annotators",
    };
    view! {
        <li>
            <div class="told">
                <h2>{card.title}</h2>
                {note}
                <p class="facts">
                    <span>{task_status_label(state)} {hidden}</span>
                    <span>"study " {card.study}</span>
                    <span>{card.probe_names.join(", ")}</span>
                </p>
                {(for_whom.named && !card.is_simulated)
                    .then(|| {
                        let of = format!(
                            "My progress: {} of {}",
                            format_count(n_mine.into()),
                            format_count(all)
                        );
                        view! {
                            <div class="how-far">
                                <span>{of}</span>
                                <ProgressBarView label="My progress" done=Signal::stored(mine)/>
                            </div>
                        }
                    })}
                <div class="how-far">
                    <span>
                        {format!(
                            "{everybody_word}: {} of {}, by {people}",
                            format_count(standing.n_decisions),
                            format_count(standing.n_decisions_required),
                        )}
                    </span>
                    <ProgressBarView label=everybody_word done=Signal::stored(everybody)/>
                </div>
            </div>
            <div class="act">{start} {try_it} {results} {curate}</div>
        </li>
    }
}

/// Renders links to studies of which a few items can be tried.
#[component]
fn TrialLinks(studies: Vec<StudySummary>) -> impl IntoView {
    let rows = studies.iter().map(|it| {
        let href = PageRoute::Trial {
            study: it.name.clone(),
        }
        .href();
        let instances = format_count_with_noun(it.n_instances, "instance", "instances");
        view! {
            <li>
                <a href=href>{it.title.clone()}</a>
                <span class="note">{instances} ", " {spell_out_iso_date(&it.created)}</span>
            </li>
        }
    });
    let rows = rows.collect_view();
    let body = match studies.is_empty() {
        true => view! { <p class="note">"No published studies yet."</p> }.into_any(),
        false => view! { <ul class="links">{rows}</ul> }.into_any(),
    };
    view! {
        <Section id="try" name="Try annotating" note="five items, nothing is saved">
            {body}
        </Section>
    }
}
