//! Reviewing: tasks, the queue of one, its curator's page, and what a visitor may try.

mod annotate;
mod clock;
mod curate;
mod desk;
pub(crate) mod gate;
mod make;
mod tasks;
mod trial;
pub(crate) mod who;

use leptos::prelude::*;

use crate::page::Page;
use crate::pages::join::Join;
use crate::pages::people::People;
use annotate::Annotate;
use curate::Curate;
use make::MakeTask;
use tasks::Tasks;
use trial::Trial;

/// A page of reviewing.
pub(crate) fn view(page: Page) -> AnyView {
    // Whichever page it is, what was left unsent before is sent. The others ask themselves.
    if !matches!(page, Page::Review | Page::Annotate { .. } | Page::Join) {
        leptos::task::spawn_local(async {
            let _ = who::who().await;
        });
    }
    match page {
        Page::Annotate { task } => view! { <Annotate task/> }.into_any(),
        Page::Curate { task } => view! { <Curate task/> }.into_any(),
        Page::MakeTask => view! { <MakeTask/> }.into_any(),
        Page::Try { study } => view! { <Trial study/> }.into_any(),
        Page::Join => view! { <Join/> }.into_any(),
        Page::People => view! { <People/> }.into_any(),
        Page::Review => view! { <Tasks/> }.into_any(),
        // Pages of other modules and programs.
        _ => ().into_any(),
    }
}
