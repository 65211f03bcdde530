//! The main program: the pages that everybody opens, and the routes to all others.

use std::collections::BTreeMap;

use leptos::ev;
use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::NavigateOptions;
use leptos_router::hooks::{use_location, use_navigate, use_url};

use crate::bundle_loader::LazyBundlePage;
use crate::keyboard;
use crate::old_addresses::present_address;
use crate::page_frame::{NotFound, PageFrame, write_addresses_of_rendered_pages};
use crate::pages::instances::ProbeInstancesPage;
use crate::pages::studies::Studies;
use crate::pages::study::StudyPage;
use crate::pages::study::tabs::StudyTab;
use crate::pages::workbench::WorkbenchPage;
use crate::routes::{ANY_INSTANCE, PageRoute};
use crate::tour::GuidedTour;

/// Renders the application: the page that matches the address in its frame.
#[component]
pub(crate) fn App() -> impl IntoView {
    view! {
        <PageFrame after_main=|| view! { <GuidedTour/> }>
            <PageAtAddress/>
        </PageFrame>
    }
}

/// What is mounted at an address. It stays mounted as long as only its parameters change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MountedPage {
    Studies,
    Study,
    Instances,
    Workbench,
    Lazy,
    OldAddress,
    NotFound,
}

impl MountedPage {
    fn at_path(path: &str) -> MountedPage {
        // Which page it is does not depend on the parameters of an instance.
        match PageRoute::parse(path, ANY_INSTANCE) {
            Some(PageRoute::Studies) => MountedPage::Studies,
            Some(PageRoute::Instances { .. }) => MountedPage::Instances,
            Some(PageRoute::Workbench) => MountedPage::Workbench,
            Some(page) if StudyTab::of_page(&page).is_some() => MountedPage::Study,
            Some(page) if page.lazy_title().is_some() => MountedPage::Lazy,
            _ if present_address(path, "").is_some() => MountedPage::OldAddress,
            _ => MountedPage::NotFound,
        }
    }
}

/// Renders what is mounted at the address.
#[component]
fn PageAtAddress() -> impl IntoView {
    write_addresses_of_rendered_pages();
    focus_opened_pages();
    let path = use_location().pathname;
    let page = Memo::new(move |_| MountedPage::at_path(&path.read()));
    move || match page.get() {
        MountedPage::Studies => view! { <Studies/> }.into_any(),
        MountedPage::Study => view! { <StudyPage/> }.into_any(),
        MountedPage::Instances => view! { <ProbeInstancesPage/> }.into_any(),
        MountedPage::Workbench => view! { <WorkbenchPage/> }.into_any(),
        MountedPage::Lazy => view! { <LazyRoute/> }.into_any(),
        MountedPage::OldAddress => view! { <OldAddress/> }.into_any(),
        MountedPage::NotFound => view! { <NotFound/> }.into_any(),
    }
}

/// Moves the focus into each page that replaces another one, since the element that had it is gone:
/// to the link that the reader followed from this page before, otherwise to the heading.
fn focus_opened_pages() {
    let path = use_location().pathname;
    let followed = StoredValue::new(BTreeMap::<String, String>::new());
    // The page is gone before a click on a link of it reaches the window.
    let focused = StoredValue::new(None);
    let handle = window_event_listener(ev::focusin, move |event| {
        focused.set_value(keyboard::link_of_content(&event));
    });
    on_cleanup(move || handle.remove());
    Effect::new(move |before: Option<String>| {
        let now = path.get();
        let left = before.clone().filter(|it| *it != now);
        let link: Option<String> = focused.get_value();
        if let Some((left, link)) = left.zip(link) {
            followed.update_value(|it| {
                it.insert(left, link);
            });
            focused.set_value(None);
        }
        if before.is_some_and(|it| it != now && replaces_page(&it, &now)) {
            let link = followed.with_value(|it| it.get(&now).cloned());
            let opened = now.clone();
            let is_open = move || path.try_get_untracked().as_ref() == Some(&opened);
            keyboard::focus_opened_page(link, is_open);
        }
        now
    });
}

/// Returns whether the page at a path replaces that of the path before: not if that one stays
/// mounted, or was an old address, which the reader has just opened.
fn replaces_page(before: &str, now: &str) -> bool {
    let [from, to] = [before, now].map(|it| PageRoute::parse(it, ANY_INSTANCE));
    let stays = from
        .zip(to)
        .is_some_and(|(from, to)| from.stays_mounted_for(&to));
    !stays && MountedPage::at_path(before) != MountedPage::OldAddress
}

/// Replaces an address that a page had before by its present one, in the history as well.
#[component]
fn OldAddress() -> impl IntoView {
    let url = use_url();
    let navigate = use_navigate();
    Effect::new(move |_| {
        let url = url.get();
        if let Some(address) = present_address(url.path(), url.search()) {
            let options = NavigateOptions {
                replace: true,
                ..Default::default()
            };
            let hash = url.hash().trim_start_matches('#');
            let hash = if hash.is_empty() {
                String::new()
            } else {
                format!("#{hash}")
            };
            navigate(&(address + &hash), options);
        }
    });
}

/// Shows the page of the lazy bundle that matches the address.
#[component]
fn LazyRoute() -> impl IntoView {
    let url = use_url();
    // Keeping the old path keeps the page mounted, so the next instance replaces the one before it
    // without a pause, and the list in which a ranker was chosen keeps the focus.
    let path = Memo::new(move |before: Option<&(String, Option<PageRoute>)>| {
        let url = url.read();
        let next = PageRoute::parse(url.path(), url.search());
        match (before, &next) {
            (Some(before @ (_, Some(from))), Some(to)) if from.stays_mounted_for(to) => {
                before.clone()
            }
            _ => (url.path().to_owned(), next),
        }
    });
    // The path of a page that stays mounted is that of its first instance.
    let title = move || {
        let url = url.read();
        PageRoute::parse(url.path(), url.search())?.full_title()
    };
    view! {
        <Title text=move || title().unwrap_or_default()/>
        {move || view! { <LazyBundlePage path=path.get().0 until="Loading the page"/> }}
    }
}
