//! The program with the pages that are loaded on demand.

use frontend::lazy_bundle;
use js_sys::Function;
use wasm_bindgen::prelude::wasm_bindgen;
use web_sys::HtmlElement;

fn main() {
    console_error_panic_hook::set_once();
}

/// Shows the page at a path, with a query string, in an element until the result is freed. `ask`
/// takes path, method and request, and returns a promise of the reply.
#[wasm_bindgen]
pub fn open(place: HtmlElement, page: &str, search: &str, ask: Function) -> MountedPageHandle {
    MountedPageHandle(lazy_bundle::mount_lazy_page(place, page, search, ask))
}

/// A page that is being shown.
#[wasm_bindgen]
pub struct MountedPageHandle(lazy_bundle::MountedLazyPage);

#[wasm_bindgen]
impl MountedPageHandle {
    /// Sets another address: path, query string and fragment.
    pub fn set_address(&self, path: &str, search: &str, hash: &str) {
        self.0.set_address(path, search, hash);
    }
}
