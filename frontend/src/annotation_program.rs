//! The program of an annotator, who opens a task, the list of tasks or an invitation by its
//! address: these pages alone, small enough for a phone. `Trunk.toml` loads it instead of the main
//! program for the addresses of these pages, and a link to any other page loads the main program.

use std::time::Duration;

use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::hooks::use_location;

use crate::api::transport;
use crate::location::PageLocation;
use crate::page_frame::{self, NotFound, PageFrame, write_addresses_of_rendered_pages};
use crate::pages::review;
use crate::routes::PageRoute;

/// Renders the pages of an annotator into the body of the document.
pub fn mount_annotation_pages() {
    let transport = |asked| Box::pin(transport::send_to_server(asked)) as _;
    page_frame::mount_program(transport, AnnotationProgram);
}

#[component]
fn AnnotationProgram() -> impl IntoView {
    view! { <PageFrame><AnnotatorPage/></PageFrame> }
}

/// Renders the page that matches the address.
#[component]
fn AnnotatorPage() -> impl IntoView {
    let url = use_location();
    let first_path = url.pathname.get_untracked();
    write_addresses_of_rendered_pages();
    let here = PageLocation::from_browser_address();
    provide_context(here.clone());
    let follow_address = move || {
        here.update_address_signals(&url.pathname.read(), &url.search.read(), &url.hash.read());
    };
    let page = Memo::new(move |_| {
        PageRoute::parse(&url.pathname.read(), "").filter(PageRoute::is_of_annotator)
    });
    let title = move || page.read().as_ref()?.full_title();
    Effect::new({
        let follow_address = follow_address.clone();
        move |_| follow_address()
    });
    let shown = move || {
        let page = page.get();
        // A page reads its parameters when it is created, before the effect.
        untrack(&follow_address);
        match page {
            Some(page) => review::render_annotator_page(page),
            // Loading it again would not change that this program was loaded for the address. The
            // path is followed, since `page` does not tell one unknown address from another.
            None if *url.pathname.read() == first_path => view! { <NotFound/> }.into_any(),
            None => view! { <OtherProgram/> }.into_any(),
        }
    };
    view! {
        <Title text=move || title().unwrap_or_default()/>
        {shown}
    }
}

/// Loads the program of another page by loading the page.
#[component]
fn OtherProgram() -> impl IntoView {
    // The address is written before the next task.
    set_timeout(
        || {
            let _ = window().location().reload();
        },
        Duration::ZERO,
    );
    view! { <p class="note until" role="status">"Loading the page"</p> }
}
