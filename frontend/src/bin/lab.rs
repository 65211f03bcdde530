//! The pages that compute while one types, as a program that the page fetches for them.

use frontend::lab;
use js_sys::Function;
use wasm_bindgen::prelude::wasm_bindgen;
use web_sys::HtmlElement;

fn main() {
    console_error_panic_hook::set_once();
}

/// Shows a page in a place until the result is freed. `ask` takes path, method and request, and
/// promises the reply.
#[wasm_bindgen]
pub fn open(place: HtmlElement, page: &str, ask: Function) -> Opened {
    Opened(lab::open(place, page, ask))
}

/// A page that is shown.
#[wasm_bindgen]
pub struct Opened(lab::Opened);

#[wasm_bindgen]
impl Opened {
    /// Reads the address again.
    pub fn moved(&self) {
        self.0.moved();
    }
}
