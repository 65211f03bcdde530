//! The program of an annotator, who opens a task, the list of tasks or an invitation by its
//! address: these pages alone, small enough for a phone. `Trunk.toml` loads it instead of the main
//! program for the addresses of these pages, and a link to any other page loads the main program.

use gloo_timers::future::TimeoutFuture;
use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::components::{Route, Routes};
use leptos_router::hooks::use_location;

use crate::api::transport;
use crate::location::PageLocation;
use crate::page_frame::{self, NotFound, PageFrame, RouteMatcher};
use crate::pages::review;
use crate::routes::PageRoute;

/// The time between two looks at the address of the browser.
const PAUSE_MS: u32 = 10;

/// The number of looks after which the page is loaded in any case: one second.
const MAX_LOOKS: u32 = 100;

/// Renders the pages of an annotator into the body of the document.
pub fn mount_annotation_pages() {
    let transport = |asked| Box::pin(transport::send_to_server(asked)) as _;
    page_frame::mount_program(transport, AnnotationProgram);
}

#[component]
fn AnnotationProgram() -> impl IntoView {
    let first_path = window().location().pathname().unwrap_or_default();
    view! {
        <PageFrame>
            <Routes fallback=move || view! { <OtherProgram first_path=first_path.clone()/> }>
                <Route path=RouteMatcher(PageRoute::is_of_annotator) view=AnnotatorRoute/>
            </Routes>
        </PageFrame>
    }
}

/// Loads the program of another page by loading the page.
#[component]
fn OtherProgram(
    /// The path for which this program was loaded, which another load would not change.
    first_path: String,
) -> impl IntoView {
    let path = use_location().pathname.get_untracked();
    if path == first_path {
        return view! { <NotFound/> }.into_any();
    }
    leptos::task::spawn_local(async move {
        // The router writes the address after it has rendered.
        let is_written = || window().location().pathname().is_ok_and(|it| it == path);
        for _ in 0..MAX_LOOKS {
            if is_written() {
                break;
            }
            TimeoutFuture::new(PAUSE_MS).await;
        }
        let _ = window().location().reload();
    });
    view! { <p class="note until" role="status">"Loading the page"</p> }.into_any()
}

/// Renders the page that matches the address.
#[component]
fn AnnotatorRoute() -> impl IntoView {
    let url = use_location();
    let here = PageLocation::from_browser_address();
    provide_context(here.clone());
    let follow_address = move || {
        here.update_address_signals(&url.pathname.read(), &url.search.read(), &url.hash.read());
    };
    let page = Memo::new(move |_| PageRoute::parse(&url.pathname.read(), ""));
    let title = move || page.read().as_ref()?.full_title();
    Effect::new({
        let follow_address = follow_address.clone();
        move |_| follow_address()
    });
    let shown = move || {
        let page = page.get();
        // A page reads its parameters when it is created, before the effect.
        untrack(&follow_address);
        page.map(review::render_annotator_page)
    };
    view! {
        <Title text=move || title().unwrap_or_default()/>
        {shown}
    }
}
