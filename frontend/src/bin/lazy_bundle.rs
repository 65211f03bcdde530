//! The pages that compute while one types, as a program that the page fetches for them.

use frontend::lazy_bundle;
use js_sys::Function;
use wasm_bindgen::prelude::wasm_bindgen;
use web_sys::HtmlElement;

fn main() {
    console_error_panic_hook::set_once();
}

/// Shows the page of a path and what is behind its `?` in a place, until the result is freed.
/// `ask` takes path, method and request, and promises the reply.
#[wasm_bindgen]
pub fn open(place: HtmlElement, page: &str, search: &str, ask: Function) -> MountedPageHandle {
    MountedPageHandle(lazy_bundle::open(place, page, search, ask))
}

/// A page that is shown.
#[wasm_bindgen]
pub struct MountedPageHandle(lazy_bundle::MountedPage);

#[wasm_bindgen]
impl MountedPageHandle {
    /// Takes another address: path, what is behind `?`, what is behind `#`.
    pub fn set_address(&self, path: &str, search: &str, hash: &str) {
        self.0.set_address(path, search, hash);
    }
}
