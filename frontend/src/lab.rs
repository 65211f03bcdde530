//! The pages that not everybody opens: one instance, Playground, Replay, About, the figures, the
//! behaviours and the white boxes of a study, where two of its rankers differ, what people say,
//! people and reviews, and the operator's.
//!
//! They carry the analysers, the rankers, the probes and the figures of the papers, and are a
//! program of their own therefore. The page lends it a place and answers its requests, so that
//! files and studies of the worker are the same for both.

use std::any::Any;
use std::cell::OnceCell;

use js_sys::{Function, Promise};
use leptos::prelude::*;
use shared::api::Method;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::HtmlElement;

use crate::api::{self, Asked, Error};
use crate::page::Page;
use crate::pages::about::About;
use crate::pages::differ::Differ;
use crate::pages::figures::Figures;
use crate::pages::inside::Inside;
use crate::pages::instance::Instance;
use crate::pages::operator::Operator;
use crate::pages::playground::Playground;
use crate::pages::replay::Replay;
use crate::pages::review;
use crate::pages::study::behaviours::Behaviours;
use crate::pages::study::said::Said;

/// A page of the lab while it is shown.
pub struct Opened {
    address: Address,
    _mounted: Box<dyn Any>,
}

impl Opened {
    /// Takes another address: path, what is behind `?`, what is behind `#`.
    pub fn moved(&self, path: &str, search: &str, hash: &str) {
        self.address.take(path, search, hash);
    }
}

/// The parts of the address that a page of the lab follows.
#[derive(Clone)]
pub(crate) struct Address {
    /// Before `?`.
    pub(crate) path: ArcRwSignal<String>,
    /// Behind `?`.
    pub(crate) search: ArcRwSignal<String>,
    /// Behind `#`, with it.
    pub(crate) hash: ArcRwSignal<String>,
}

impl Address {
    fn new() -> Address {
        let address = Address {
            path: ArcRwSignal::new(String::new()),
            search: ArcRwSignal::new(String::new()),
            hash: ArcRwSignal::new(String::new()),
        };
        address.read();
        address
    }

    /// Of the page that calls.
    pub(crate) fn here() -> Address {
        use_context().unwrap_or_else(Address::new)
    }

    fn read(&self) {
        let location = window().location();
        let [path, search, hash] = [location.pathname(), location.search(), location.hash()]
            .map(Result::unwrap_or_default);
        self.take(&path, &search, &hash);
    }

    /// Only what differs is news.
    fn take(&self, path: &str, search: &str, hash: &str) {
        let of = |signal: &ArcRwSignal<String>, value: &str| {
            if signal.with_untracked(|it| it != value) {
                signal.set(value.to_owned());
            }
        };
        of(&self.path, path);
        of(&self.search, search.trim_start_matches('?'));
        of(&self.hash, hash.trim_start_matches('#'));
    }

    /// The value of a word behind `?`.
    pub(crate) fn word(&self, key: &str) -> Option<String> {
        word(&self.search.get_untracked(), key)
    }
}

/// The value of a word of a search, with or without its `?`.
pub(crate) fn word(search: &str, key: &str) -> Option<String> {
    let words = web_sys::UrlSearchParams::new_with_str(search).ok()?;
    words.get(key)
}

/// Changes the address in its place. The router is the page's, and hears clicks on links alone.
pub(crate) fn go(href: &str) {
    let made = document().create_element("a");
    let (Ok(made), Some(body)) = (made, document().body()) else {
        return;
    };
    let link: web_sys::HtmlAnchorElement = made.unchecked_into();
    link.set_href(href);
    let _ = link.set_attribute("noscroll", "");
    let _ = js_sys::Reflect::set(&link, &JsValue::from_str("replace"), &JsValue::TRUE);
    let _ = body.append_child(&link);
    link.click();
    link.remove();
}

/// Shows the page that is at a path, with what is behind its `?`, in a place until the result is
/// dropped. `ask` takes path, method and request, and promises the reply.
pub fn open(place: HtmlElement, (path, search): (&str, &str), ask: Function) -> Opened {
    // The page gives the same function each time.
    ASK.with(|it| it.get_or_init(|| ask).clone());
    api::go(|asked| Box::pin(ask_page(asked)));
    let address = Address::new();
    let hash = address.hash.get_untracked();
    address.take(path, search, &hash);
    let about = path == Page::About.href();
    let replay = path == Page::Replay.href();
    let operator = path == Page::Operator.href();
    let figures = Page::figures_at(path).map(str::to_owned);
    let inside = Page::inside_at(path).map(str::to_owned);
    let differ = Page::differ_at(path).map(str::to_owned);
    let said = Page::said_at(path).map(str::to_owned);
    let study = Page::study_at(path).map(str::to_owned);
    let instance = Page::instance_at(path).is_some();
    let reviewing = Page::review_at(path);
    let told = address.clone();
    let mounted = leptos::mount::mount_to(place, move || {
        provide_context(told);
        if let Some(page) = reviewing {
            review::view(page)
        } else if about {
            view! { <About/> }.into_any()
        } else if replay {
            view! { <Replay/> }.into_any()
        } else if operator {
            view! { <Operator/> }.into_any()
        } else if instance {
            view! { <Instance/> }.into_any()
        } else if let Some(study) = figures {
            view! { <Figures study/> }.into_any()
        } else if let Some(study) = inside {
            view! { <Inside study/> }.into_any()
        } else if let Some(study) = differ {
            view! { <Differ study/> }.into_any()
        } else if let Some(study) = said {
            view! { <Said study/> }.into_any()
        } else if let Some(study) = study {
            view! { <Behaviours study/> }.into_any()
        } else {
            view! { <Playground/> }.into_any()
        }
    });
    Opened {
        address,
        _mounted: Box::new(mounted),
    }
}

thread_local! {
    static ASK: OnceCell<Function> = const { OnceCell::new() };
}

async fn ask_page(asked: Asked) -> Result<String, Error> {
    let Asked { path, method, json } = asked;
    let method = match method {
        Method::Get => GET,
        Method::Post => POST,
    };
    let promise = ASK.with(|it| {
        let ask = it.get().expect("set when the first page is opened");
        let [path, method, json] = [&path, method, &json].map(JsValue::from_str);
        ask.call3(&JsValue::NULL, &path, &method, &json)
    });
    let lost = || Error::Network("the page is gone".to_owned());
    let promise: Promise = promise.map_err(|_| lost())?.unchecked_into();
    match JsFuture::from(promise).await {
        Ok(reply) => reply.as_string().ok_or_else(lost),
        Err(error) => Err(error
            .as_string()
            .and_then(|it| api::parse(&it).ok())
            .unwrap_or_else(lost)),
    }
}

/// [`Method::Get`] between the two programs.
pub(crate) const GET: &str = "get";
/// [`Method::Post`] between the two programs.
pub(crate) const POST: &str = "post";
