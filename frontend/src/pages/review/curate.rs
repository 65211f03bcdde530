//! A task as its curator sees it: how far it is, how far people agree, what they say.

mod adjudicate;
mod agreement;
mod desk;
mod export;
mod history;
mod overview;
mod progress;
mod results;
mod sending;
mod words;

use leptos::prelude::*;
use shared::api::review::{TaskNo, Whole, WholeTask};

use super::gate::ForCurators;
use crate::api;
use crate::browser::Address;
use crate::page::Page;
use crate::widgets::answered::Answered;
use adjudicate::Adjudication;
use agreement::Agreement;
use desk::{CurationTab, Desk};
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
    let answer = api::fetch(move || WholeTask { task });
    let shown = |whole: Whole| view! { <Shown whole/> }.into_any();
    view! {
        <Answered answer until="Asking for the task" without="The task cannot be shown" shown/>
    }
}

#[component]
fn Shown(whole: Whole) -> impl IntoView {
    let here = Address::here();
    let part = Memo::new(move |_| CurationTab::read(&here.search.get()));
    let desk = Desk::new(whole);
    let tabs = CurationTab::ALL.map(|it| {
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
        CurationTab::Overview => view! { <Overview desk/> }.into_any(),
        CurationTab::Progress => view! { <Progress desk/> }.into_any(),
        CurationTab::Agreement => view! { <Agreement desk/> }.into_any(),
        CurationTab::Adjudication => view! { <Adjudication desk/> }.into_any(),
        CurationTab::Results => view! { <Results desk/> }.into_any(),
        CurationTab::Export => view! { <Export desk/> }.into_any(),
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
