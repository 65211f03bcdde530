//! A task as its curator sees it: how far it is, how far people agree, what they say.

mod adjudicate;
mod agreement;
mod export;
mod history;
mod overview;
mod progress;
mod results;
mod sending;
mod words;

use leptos::prelude::*;
use shared::api::Look;
use shared::api::review::{Change, Named, TaskNo, Whole, WholeTask};
use shared::review::PersonNo;
use shared::study::dials::Dials;

use super::gate::ForCurators;
use crate::api::{self, Error};
use crate::lab::{self, Address};
use crate::page::Page;
use crate::widgets::answered::Answered;
use adjudicate::Adjudication;
use agreement::Agreement;
use export::Export;
use overview::Overview;
use progress::Progress;
use results::Results;

/// The page.
#[component]
pub(crate) fn Curate(
    /// Which task.
    task: TaskNo,
) -> impl IntoView {
    let shown = move |_| view! { <Fetched task/> }.into_any();
    view! { <ForCurators heading="Task" why="Curators see how a task goes." shown/> }
}

#[component]
fn Fetched(task: TaskNo) -> impl IntoView {
    let answer = LocalResource::new(move || async move { api::call(&WholeTask { task }).await });
    let shown = |whole: Whole| view! { <Shown whole/> }.into_any();
    view! {
        <Answered answer until="Asking for the task" without="The task cannot be shown" shown/>
    }
}

/// A part of the page; the address says which.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Overview,
    Progress,
    Agreement,
    Adjudication,
    Results,
    Export,
}

impl Part {
    const ALL: [Part; 6] = [
        Part::Overview,
        Part::Progress,
        Part::Agreement,
        Part::Adjudication,
        Part::Results,
        Part::Export,
    ];

    /// For people.
    fn name(self) -> &'static str {
        match self {
            Part::Overview => "Overview",
            Part::Progress => "Progress",
            Part::Agreement => "Agreement",
            Part::Adjudication => "Adjudication",
            Part::Results => "Results",
            Part::Export => "Export",
        }
    }

    /// In the address.
    fn word(self) -> String {
        self.name().to_lowercase()
    }

    fn read(search: &str) -> Part {
        let word = lab::word(search, "part").unwrap_or_default();
        let found = Part::ALL.iter().find(|it| it.word() == word);
        found.copied().unwrap_or(Part::Overview)
    }

    fn href(self, task: TaskNo) -> String {
        let page = Page::Curate { task }.href();
        match self {
            Part::Overview => page,
            part => format!("{page}?part={}", part.word()),
        }
    }
}

/// What the parts of the page share.
#[derive(Clone, Copy)]
struct Desk {
    task: TaskNo,
    whole: RwSignal<Whole>,
    /// The rankers of the study by their places; empty until they are known.
    rankers: RwSignal<Vec<String>>,
    busy: RwSignal<bool>,
    failed: RwSignal<Option<Error>>,
}

impl Desk {
    fn new(whole: Whole) -> Desk {
        let desk = Desk {
            task: whole.card.task,
            whole: RwSignal::new(whole),
            rankers: RwSignal::new(Vec::new()),
            busy: RwSignal::new(false),
            failed: RwSignal::new(None),
        };
        desk.name_rankers();
        desk
    }

    /// Their places say who they are until then, and where the study is gone.
    fn name_rankers(self) {
        let study = self.whole.with_untracked(|it| it.card.study.clone());
        leptos::task::spawn_local(async move {
            let dials = Dials::default();
            if let Ok(found) = api::call(&Look { study, dials }).await {
                let names = found.rankers.into_iter().map(|it| it.ranker.label);
                self.rankers.try_set(names.collect());
            }
        });
    }

    /// Changes the task; `done` is for what succeeded.
    fn change(self, change: Change, done: impl Fn() + 'static) {
        if self.busy.get_untracked() {
            return;
        }
        self.busy.set(true);
        leptos::task::spawn_local(async move {
            let found = api::call(&change).await;
            // The reader may be on another page by now.
            if self.busy.try_set(false).is_some() {
                return;
            }
            match found {
                Ok(whole) => {
                    self.failed.set(None);
                    self.whole.set(whole);
                    done();
                }
                Err(error) => self.failed.set(Some(error)),
            }
        });
    }
}

/// What people are called in tables.
fn called(names: &[Named], person: PersonNo) -> String {
    let found = names.iter().find(|it| it.person == person);
    found.map_or_else(|| format!("person {}", person.0), |it| it.name.clone())
}

#[component]
fn Shown(whole: Whole) -> impl IntoView {
    let here = Address::here();
    let part = Memo::new(move |_| Part::read(&here.search.get()));
    let desk = Desk::new(whole);
    let tabs = Part::ALL.map(|it| {
        let current = move || (part.get() == it).then_some("page");
        view! {
            <a class="btn bare" href=it.href(desk.task) aria-current=current>{it.name()}</a>
        }
    });
    let title = move || desk.whole.with(|it| it.card.title.clone());
    let study = desk.whole.with_untracked(|it| it.card.study.clone());
    let href = Page::Study {
        study: study.clone(),
    }
    .href();
    let state = move || words::state(desk.whole.with(|it| it.card.state));
    let body = move || match part.get() {
        Part::Overview => view! { <Overview desk/> }.into_any(),
        Part::Progress => view! { <Progress desk/> }.into_any(),
        Part::Agreement => view! { <Agreement desk/> }.into_any(),
        Part::Adjudication => view! { <Adjudication desk/> }.into_any(),
        Part::Results => view! { <Results desk/> }.into_any(),
        Part::Export => view! { <Export desk/> }.into_any(),
    };
    view! {
        <nav class="crumbs" aria-label="You are here">
            <a href=Page::Review.href()>"Review"</a>
            <span>"Task " {desk.task.0}</span>
        </nav>
        <h1><bdi>{title}</bdi></h1>
        <p class="facts">
            {move || {
                let (class, word) = state();
                view! { <span class=format!("verdict {class}")>{word}</span> }
            }}
            <span>"from " <a href=href>{study}</a></span>
            <a href=Page::Annotate { task: desk.task }.href()>"The annotators’ page"</a>
        </p>
        <nav class="parts" aria-label="Parts of the task">{tabs}</nav>
        <div class="curate">{body}</div>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_have_names_for_people() {
        let words: Vec<String> = Part::ALL.iter().map(|it| it.word()).collect();
        assert_eq!(words[3], "adjudication");
        assert_eq!(Part::Overview.href(TaskNo(7)), "/review/7/curate");
        let href = Part::Results.href(TaskNo(7));
        assert_eq!(href, "/review/7/curate?part=results");
    }

    #[test]
    fn somebody_unknown_has_a_number() {
        let named = Named {
            person: PersonNo(2),
            name: "Ada".to_owned(),
        };
        let names = [named];
        assert_eq!(called(&names, PersonNo(2)), "Ada");
        assert_eq!(called(&names, PersonNo(3)), "person 3");
    }
}
