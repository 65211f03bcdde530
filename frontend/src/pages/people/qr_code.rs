//! The QR code of a link.

use leptos::prelude::*;
use shared::qr_code::QrCodeModules;

/// Renders the QR code of a link, dark on white in both themes, as scanners expect. A click makes
/// it as large as the page allows.
#[component]
pub(super) fn QrCodeView(
    /// The link.
    link: String,
    /// The name for screen readers.
    label: &'static str,
) -> impl IntoView {
    // Links of invitations are far shorter than what a code holds.
    let code = QrCodeModules::encode_link(&link).ok()?;
    let width = code.width();
    let is_large = RwSignal::new(false);
    Some(view! {
        <button
            class="qr"
            class:large=move || is_large.get()
            type="button"
            aria-pressed=move || is_large.get().to_string()
            aria-label=move || match is_large.get() {
                true => format!("{label}; show it smaller"),
                false => format!("{label}; enlarge it"),
            }
            on:click=move |_| is_large.update(|it| *it = !*it)
        >
            <svg
                viewBox=format!("0 0 {width} {width}")
                shape-rendering="crispEdges"
                aria-hidden="true"
            >
                <rect width=width height=width fill="#fff"></rect>
                <path d=code.svg_path_data() fill="#000"></path>
            </svg>
        </button>
    })
}
