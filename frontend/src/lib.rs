//! Axioscope's pages. They show results, and compute nothing that `shared` can compute.
//!
//! The crate is built into two programs. `frontend` is the main page, small enough to load at once;
//! `lazy-bundle` is loaded for the pages that compute while the user types ([`lazy_bundle`]). Each
//! is built with a feature of its name, so that an edit of a page compiles only the program that
//! contains it.
//!
//! Style attributes are set as properties (`style=("--v", …)`), never as text, so that a content
//! security policy can forbid inline styles.

#![cfg_attr(
    not(all(feature = "frontend", feature = "lazy-bundle")),
    allow(
        dead_code,
        unused_imports,
        reason = "what only the other program shows"
    )
)]
#![expect(
    unreachable_pub,
    reason = "the component macro writes `pub` beside every component"
)]

#[cfg(feature = "lazy-bundle")]
pub mod lazy_bundle;

mod api;
#[cfg(feature = "frontend")]
mod app;
mod bundle_loader;
#[cfg(feature = "frontend")]
mod first_paint;
mod local_storage;
mod location;
mod keyboard;
mod debounce;
mod number_format;
mod outbox;
mod old_addresses;
mod routes;
mod pages;
mod theme;
mod tour;
mod widgets;

#[cfg(feature = "frontend")]
/// Renders the application into the body of the document.
pub fn mount_application() {
    theme::PageTheme::load_stored().apply_and_store();
    api::set_request_transport(|asked| Box::pin(api::transport::send_to_server_or_worker(asked)));
    leptos::mount::mount_to_body(app::App);
    first_paint::remove_when_page_has_content();
}
