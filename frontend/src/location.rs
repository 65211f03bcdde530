//! The address of the browser, as the pages of the lazy bundle read and change it.

use leptos::prelude::*;
use wasm_bindgen::{JsCast, JsValue};

/// The parts of the address that a page of the lazy bundle depends on.
#[derive(Clone)]
pub(crate) struct PageLocation {
    /// The path, before `?`.
    pub(crate) path: ArcRwSignal<String>,
    /// The query string, without `?`.
    pub(crate) search: ArcRwSignal<String>,
    /// The fragment, without `#`.
    pub(crate) hash: ArcRwSignal<String>,
}

impl PageLocation {
    /// Creates a location from the current address of the browser.
    pub(crate) fn from_browser_address() -> PageLocation {
        let address = PageLocation {
            path: ArcRwSignal::new(String::new()),
            search: ArcRwSignal::new(String::new()),
            hash: ArcRwSignal::new(String::new()),
        };
        address.update_signals();
        address
    }

    /// Returns the location of the page that calls this.
    pub(crate) fn from_context_or_browser() -> PageLocation {
        use_context().unwrap_or_else(PageLocation::from_browser_address)
    }

    fn update_signals(&self) {
        let location = window().location();
        let [path, search, hash] = [location.pathname(), location.search(), location.hash()]
            .map(Result::unwrap_or_default);
        self.update_address_signals(&path, &search, &hash);
    }

    /// Sets another address; only the parts that differ notify their readers.
    pub(crate) fn update_address_signals(&self, path: &str, search: &str, hash: &str) {
        let of = |signal: &ArcRwSignal<String>, value: &str| {
            if signal.with_untracked(|it| it != value) {
                signal.set(value.to_owned());
            }
        };
        of(&self.path, path);
        of(&self.search, search.trim_start_matches('?'));
        of(&self.hash, hash.trim_start_matches('#'));
    }

    /// Reads a choice from the address of the calling page, and again whenever its query string
    /// changes.
    pub(crate) fn signal_following_query_string<T: Send + Sync + 'static>(
        read: fn(&PageLocation) -> T,
    ) -> RwSignal<T> {
        let here = PageLocation::from_context_or_browser();
        let choice = RwSignal::new(read(&here));
        Effect::new(move |_| {
            here.search.track();
            choice.set(read(&here));
        });
        choice
    }

    /// Returns the value of a query parameter.
    pub(crate) fn query_parameter(&self, key: &str) -> Option<String> {
        query_string_parameter(&self.search.get_untracked(), key)
    }
}

/// Returns the value of a parameter of a query string, with or without its `?`.
pub(crate) fn query_string_parameter(search: &str, key: &str) -> Option<String> {
    let words = web_sys::UrlSearchParams::new_with_str(search).ok()?;
    words.get(key)
}

/// Replaces the current address in the history of the browser.
pub(crate) fn replace_browser_address(href: &str) {
    click_link(href, |link| {
        let _ = link.set_attribute("noscroll", "");
        let _ = js_sys::Reflect::set(link, &JsValue::from_str("replace"), &JsValue::TRUE);
    });
}

/// Opens another page, from which the user can go back to this one.
pub(crate) fn open_page(href: &str) {
    click_link(href, |_| {});
}

/// Scrolls to the first element that a selector matches, unless it is already in the visible part
/// of the page or above it.
pub(crate) fn show_element_below_the_fold(selector: &str) {
    let found = document().query_selector(selector).ok().flatten();
    let Some((element, height)) = found.zip(window().inner_height().ok()) else {
        return;
    };
    let height = height.as_f64().unwrap_or(f64::INFINITY);
    if element.get_bounding_client_rect().top() > height - 120.0 {
        element.scroll_into_view();
    }
}

/// Clicks on a link, since the router belongs to the main program and only reacts to such clicks.
fn click_link(href: &str, prepare: impl FnOnce(&web_sys::HtmlAnchorElement)) {
    let made = document().create_element("a");
    let (Ok(made), Some(body)) = (made, document().body()) else {
        return;
    };
    let link: web_sys::HtmlAnchorElement = made.unchecked_into();
    link.set_href(href);
    prepare(&link);
    let _ = body.append_child(&link);
    link.click();
    link.remove();
}
