//! Reviewing: tasks, the queue of one, its curator's page, and what a visitor may try.

mod annotate;
pub(crate) mod gate;
mod curate;
mod make;
mod tasks;
mod trial;

use leptos::prelude::*;

use crate::page::Page;
use crate::pages::join::Join;
use crate::pages::people::People;
use annotate::Annotate;
use curate::Curate;
use make::MakeTask;
use tasks::Tasks;
use trial::Trial;

/// The page of [`Page::review_at`].
pub(crate) fn view(page: Page) -> AnyView {
    match page {
        Page::Annotate { task } => view! { <Annotate task/> }.into_any(),
        Page::Curate { task } => view! { <Curate task/> }.into_any(),
        Page::MakeTask => view! { <MakeTask/> }.into_any(),
        Page::Try { study } => view! { <Trial study/> }.into_any(),
        Page::Join => view! { <Join/> }.into_any(),
        Page::People => view! { <People/> }.into_any(),
        _ => view! { <Tasks/> }.into_any(),
    }
}
