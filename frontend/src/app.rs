//! The main program: the pages that everybody opens, and the routes to all others.

use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::components::{Route, Routes};
use leptos_router::hooks::{use_navigate, use_url};
use leptos_router::{NavigateOptions, PartialPathMatch, PathSegment, PossibleRouteMatch};

use crate::bundle_loader::LazyBundlePage;
use crate::old_addresses::present_address;
use crate::page_frame::{NotFound, PageFrame, RouteMatcher};
use crate::pages::instances::ProbeInstancesPage;
use crate::pages::studies::Studies;
use crate::pages::study::StudyPage;
use crate::pages::study::tabs::StudyTab;
use crate::pages::workbench::WorkbenchPage;
use crate::routes::PageRoute;
use crate::tour::GuidedTour;

/// Renders the application: the page that matches the address in its frame.
#[component]
pub(crate) fn App() -> impl IntoView {
    view! {
        <PageFrame after_main=|| view! { <GuidedTour/> }>
            <Routes fallback=NotFound>
                <Route path=RouteMatcher(|it| *it == PageRoute::Studies) view=Studies/>
                <Route path=RouteMatcher(|it| StudyTab::of_page(it).is_some()) view=StudyPage/>
                <Route
                    path=RouteMatcher(|it| matches!(it, PageRoute::Instances { .. }))
                    view=ProbeInstancesPage
                />
                <Route path=RouteMatcher(|it| *it == PageRoute::Workbench) view=WorkbenchPage/>
                <Route path=RouteMatcher(|it| it.lazy_title().is_some()) view=LazyRoute/>
                <Route path=OldAddressMatcher view=OldAddress/>
            </Routes>
        </PageFrame>
    }
}

/// Matches the paths that pages had before.
#[derive(Debug, Clone, Copy)]
struct OldAddressMatcher;

impl PossibleRouteMatch for OldAddressMatcher {
    fn optional(&self) -> bool {
        false
    }

    fn test<'a>(&self, path: &'a str) -> Option<PartialPathMatch<'a>> {
        // Which parameters there are does not matter here.
        present_address(path, "")?;
        Some(PartialPathMatch::new("", Vec::new(), path))
    }

    fn generate_path(&self, _: &mut Vec<PathSegment>) {}
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
