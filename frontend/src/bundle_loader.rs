//! The place that the page lends to a page of the lazy bundle.

use js_sys::{Function, Promise};
use leptos::html;
use leptos::prelude::*;
use leptos_router::hooks::use_location;
use shared::api::Method;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::future_to_promise;
use web_sys::HtmlElement;

use crate::api::{self, Error, OutgoingRequest, transport};
use crate::widgets::error_message::ErrorMessage;

#[wasm_bindgen(module = "/src/bundle_loader.js")]
extern "C" {
    /// The exports of the lazy bundle.
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

    /// A page of the lazy bundle while it is shown.
    type MountedPageHandle;

    /// Tells it that the address has changed.
    #[wasm_bindgen(method)]
    fn set_address(this: &MountedPageHandle, path: &str, search: &str, hash: &str);

    /// Takes it away.
    #[wasm_bindgen(method)]
    fn free(this: &MountedPageHandle);
}

/// A page, or a part of one, that is a program of its own: what the lazy bundle shows at a path.
#[component]
pub(crate) fn LazyPage(
    /// Where the page is.
    path: String,
    /// What is said until it is there.
    until: &'static str,
) -> impl IntoView {
    let place = NodeRef::<html::Div>::new();
    let stand = RwSignal::new(LoadState::Fetching);
    let opened = StoredValue::new_local(None::<MountedPageHandle>);
    let location = use_location();
    // The router's word, since the browser's own is changed later.
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
            // The reader may be on another page by now.
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
                Err(error) => LoadState::Failed(Error::Network(js_error_text(&error))),
            });
        });
    };
    // Read, not only tracked: nobody else does, and a memo that was never read is never told.
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
        LoadState::Fetching => view! { <p class="note" role="status">{until}</p> }.into_any(),
        LoadState::Failed(error) => {
            let fetch = fetch.clone();
            let retry = Callback::new(move |()| fetch());
            view! { <ErrorMessage error retry/> }.into_any()
        }
        LoadState::Open => ().into_any(),
    };
    view! {
        {state}
        <div node_ref=place></div>
    }
}

/// Fetches the lazy bundle before somebody asks for one of its pages.
pub(crate) fn prefetch_bundle() {
    leptos::task::spawn_local(async {
        // Whoever opens a page tries again, and says what is wrong.
        let _ = load_bundle().await;
    });
}

/// What went wrong, in the words of the browser.
fn js_error_text(error: &JsValue) -> String {
    let error = error.dyn_ref::<js_sys::Error>();
    error.map_or_else(|| "no reason given".to_owned(), |it| it.message().into())
}

/// How far the fetching is.
#[derive(Debug, Clone, PartialEq, Eq)]
enum LoadState {
    Fetching,
    Open,
    Failed(Error),
}

/// What the lazy bundle asks by: the page has the worker, and knows whether there is a server.
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
        let method = if method == api::POST {
            Method::Post
        } else {
            Method::Get
        };
        let reply = transport::send_request(OutgoingRequest { path, method, json }).await;
        reply
            .map(JsValue::from)
            .map_err(|it| JsValue::from(api::to_json(&it)))
    })
}
