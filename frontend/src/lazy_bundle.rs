//! The pages that are loaded on demand: one instance, Playground, Reproductions, About, the
//! figures, behavioral tests, late interaction and human judgments of a study, Compare rankers,
//! trainings, people and annotation tasks, and the operator's page.
//!
//! They need the analyzers, rankers, probes and figures of the papers, and are therefore a program
//! of their own. The main page gives it an element to render into and sends its requests, so that
//! both programs use the same files and studies of the worker.

use std::any::Any;
use std::cell::OnceCell;

use js_sys::{Function, Promise};
use leptos::prelude::*;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::HtmlElement;

use crate::api::{self, OutgoingRequest, RequestError};
use crate::first_paint::InOwnTask;
use crate::location::PageLocation;
use crate::pages::about::AboutPage;
use crate::pages::about::worked_example::StatementWithExample;
use crate::pages::compare::CompareRankers;
use crate::pages::compare_studies::CompareStudiesPage;
use crate::pages::figures::FiguresPage;
use crate::pages::instance::InstanceDetailsPage;
use crate::pages::late_interaction::LateInteractionPage;
use crate::pages::operator::OperatorPage;
use crate::pages::playground::PlaygroundPage;
use crate::pages::reproductions::ReproductionsPage;
use crate::pages::review;
use crate::pages::study::behavioral_tests::BehavioralTests;
use crate::pages::study::human_judgments::HumanJudgmentsSection;
use crate::pages::trainings::TrainingsPage;
use crate::pages::trainings::training::TrainingPage;
use crate::routes::PageRoute;

/// A page of the lazy bundle that is being shown.
pub struct MountedLazyPage {
    address: PageLocation,
    _mounted: Box<dyn Any>,
}

impl MountedLazyPage {
    /// Sets another address: path, query string and fragment.
    pub fn set_address(&self, path: &str, search: &str, hash: &str) {
        self.address.update_address_signals(path, search, hash);
    }
}

/// Shows the page at a path, with a query string, in an element until the result is dropped. `ask`
/// takes path, method and request, and returns a promise of the reply.
pub fn mount_lazy_page(
    place: HtmlElement,
    path: &str,
    search: &str,
    ask: Function,
) -> MountedLazyPage {
    // The main page passes the same function each time.
    REQUEST_FUNCTION.with(|it| it.get_or_init(|| ask).clone());
    api::set_request_transport(|asked| Box::pin(request_through_page(asked)));
    let address = PageLocation::from_browser_address();
    let hash = address.hash.get_untracked();
    address.update_address_signals(path, search, &hash);
    let page = PageRoute::parse(path, search);
    let told = address.clone();
    let mounted = leptos::mount::mount_to(place, move || {
        provide_context(told);
        page.map(|it| view! { <InOwnTask>{page_view(it)}</InOwnTask> })
    });
    MountedLazyPage {
        address,
        _mounted: Box::new(mounted),
    }
}

fn page_view(page: PageRoute) -> AnyView {
    match page {
        PageRoute::Figures { study } => view! { <FiguresPage study/> }.into_any(),
        PageRoute::LateInteraction { study, .. } => {
            view! { <LateInteractionPage study/> }.into_any()
        }
        PageRoute::CompareRankers { study } => view! { <CompareRankers study/> }.into_any(),
        PageRoute::BehavioralTests { study } => view! { <BehavioralTests study/> }.into_any(),
        PageRoute::HumanJudgments { study } => view! { <HumanJudgmentsSection study/> }.into_any(),
        PageRoute::Instance { .. } => view! { <InstanceDetailsPage/> }.into_any(),
        PageRoute::Reproductions { .. } => view! { <ReproductionsPage/> }.into_any(),
        PageRoute::CompareStudies => view! { <CompareStudiesPage/> }.into_any(),
        PageRoute::Playground => view! { <PlaygroundPage/> }.into_any(),
        PageRoute::Trainings => view! { <TrainingsPage/> }.into_any(),
        PageRoute::Training { training } => view! { <TrainingPage training/> }.into_any(),
        PageRoute::Operator => view! { <OperatorPage/> }.into_any(),
        PageRoute::About => view! { <AboutPage/> }.into_any(),
        PageRoute::AxiomExample { axiom: probe } => {
            view! { <StatementWithExample probe/> }.into_any()
        }
        page @ (PageRoute::ReviewTasks | PageRoute::AnnotateTask { .. } | PageRoute::Join) => {
            review::render_annotator_page(page)
        }
        page @ (PageRoute::CurateTask { .. }
        | PageRoute::NewTask
        | PageRoute::Trial { .. }
        | PageRoute::People) => review::render_page_beside_annotation(page),
        // The pages of the main program. They are listed, so that a new page has to be assigned to
        // a program.
        PageRoute::Studies
        | PageRoute::Study { .. }
        | PageRoute::Reproducibility { .. }
        | PageRoute::Instances { .. }
        | PageRoute::Workbench => ().into_any(),
    }
}

thread_local! {
    static REQUEST_FUNCTION: OnceCell<Function> = const { OnceCell::new() };
}

async fn request_through_page(asked: OutgoingRequest) -> Result<String, RequestError> {
    let OutgoingRequest { path, method, json } = asked;
    let method = method.to_string();
    let promise = REQUEST_FUNCTION.with(|it| {
        let ask = it.get().expect("set when the first page is opened");
        let [path, method, json] = [&path, &method, &json].map(|it| JsValue::from_str(it));
        ask.call3(&JsValue::NULL, &path, &method, &json)
    });
    let lost = || RequestError::Network("The page is no longer open.".to_owned());
    let promise: Promise = promise.map_err(|_| lost())?.unchecked_into();
    match JsFuture::from(promise).await {
        Ok(reply) => reply.as_string().ok_or_else(lost),
        Err(error) => Err(error
            .as_string()
            .and_then(|it| api::parse_reply_json(&it).ok())
            .unwrap_or_else(lost)),
    }
}
