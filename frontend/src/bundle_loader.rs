//! Loads the lazy bundle and shows its pages in an element of this page.

use js_sys::{Function, Promise};
use leptos::html;
use leptos::prelude::*;
use leptos_router::hooks::use_location;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::future_to_promise;
use web_sys::HtmlElement;

use crate::api::{self, OutgoingRequest, RequestError};
use crate::widgets::error_message::LoadErrorMessage;

#[wasm_bindgen(module = "/src/bundle_loader.js")]
extern "C" {
    /// Loads the lazy bundle and returns its exports.
    #[wasm_bindgen(catch)]
    async fn load_bundle() -> Result<JsValue, JsValue>;

    /// The exports of the lazy bundle.
    type LazyBundle;

    #[wasm_bindgen(method, catch)]
    fn open(
        this: &LazyBundle,
        place: &HtmlElement,
        page: &str,
        search: &str,
        ask: &Function,
    ) -> Result<MountedPageHandle, JsValue>;

    /// A page of the lazy bundle that is being shown.
    type MountedPageHandle;

    /// Tells the page that the address has changed.
    #[wasm_bindgen(method)]
    fn set_address(this: &MountedPageHandle, path: &str, search: &str, hash: &str);

    /// Removes the page.
    #[wasm_bindgen(method)]
    fn free(this: &MountedPageHandle);
}

/// Renders the page, or a part of a page, that the lazy bundle shows at a path.
#[component]
pub(crate) fn LazyBundlePage(
    /// The path of the page.
    path: String,
    /// The message that is shown while it is loading.
    until: &'static str,
) -> impl IntoView {
    let place = NodeRef::<html::Div>::new();
    let stand = RwSignal::new(LoadState::Fetching);
    let opened = StoredValue::new_local(None::<MountedPageHandle>);
    let location = use_location();
    // The location of the router is used, since that of the browser changes later.
    let signals = [location.pathname, location.search, location.hash];
    let tell = move || {
        let [path, search, hash] = signals.map(|it| it.get());
        opened.with_value(|it| {
            if let Some(it) = it {
                it.set_address(&path, &search, &hash);
            }
        });
    };
    let fetch = move || {
        stand.set(LoadState::Fetching);
        let path = path.clone();
        let search = location.search;
        leptos::task::spawn_local(async move {
            let bundle = load_bundle().await;
            // The user may be on another page by now.
            let Some(place) = place.try_get_untracked().flatten() else {
                return;
            };
            let search = search.get_untracked();
            let open = |it: LazyBundle| it.open(&place, &path, &search, &request_function());
            let found = bundle.and_then(|it| open(it.unchecked_into()));
            stand.set(match found {
                Ok(found) => {
                    opened.set_value(Some(found));
                    LoadState::Open
                }
                Err(error) => LoadState::Failed(RequestError::Network(js_error_text(&error))),
            });
        });
    };
    // The signals are read and not only tracked, since a memo that was never read does not notify.
    Effect::new(move |_| tell());
    on_cleanup(move || {
        if let Some(opened) = opened.try_update_value(Option::take).flatten() {
            opened.free();
        }
    });
    Effect::new({
        let fetch = fetch.clone();
        move |_| fetch()
    });
    let state = move || match stand.get() {
        LoadState::Fetching => view! { <p class="note until" role="status">{until}</p> }.into_any(),
        LoadState::Failed(error) => {
            let fetch = fetch.clone();
            let retry = Callback::new(move |()| fetch());
            view! { <LoadErrorMessage error retry/> }.into_any()
        }
        LoadState::Open => ().into_any(),
    };
    view! {
        {state}
        <div node_ref=place></div>
    }
}

/// Fetches the lazy bundle before one of its pages is opened.
pub(crate) fn prefetch_lazy_bundle() {
    leptos::task::spawn_local(async {
        // An error is ignored here: opening a page tries again and shows it.
        let _ = load_bundle().await;
    });
}

/// Returns the message of an error of the browser.
fn js_error_text(error: &JsValue) -> String {
    let error = error.dyn_ref::<js_sys::Error>();
    error.map_or_else(|| "no reason given".to_owned(), |it| it.message().into())
}

/// The state of loading the lazy bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
enum LoadState {
    Fetching,
    Open,
    Failed(RequestError),
}

/// Returns the function with which the lazy bundle sends requests. They go through this page, which
/// has the worker and knows whether there is a server.
fn request_function() -> Function {
    thread_local! {
        static REQUEST_FUNCTION: Function =
            Closure::<dyn Fn(String, String, String) -> Promise>::new(answer_request)
            .into_js_value()
            .unchecked_into();
    }
    REQUEST_FUNCTION.with(Function::clone)
}

fn answer_request(path: String, method: String, json: String) -> Promise {
    future_to_promise(async move {
        let method = method.parse().expect("the method of an endpoint");
        let reply = api::send(OutgoingRequest { path, method, json }).await;
        reply
            .map(JsValue::from)
            .map_err(|it| JsValue::from(api::to_json(&it)))
    })
}
