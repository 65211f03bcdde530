//! Axioscope's pages. They show results, and compute nothing that `shared` can compute.
//!
//! The crate is built into three programs. `frontend` is the main page, small enough to load at
//! once; `lazy-bundle` is loaded into it for the pages that compute while the user types
//! ([`lazy_bundle`]); `annotation` is loaded instead of it for an annotator
//! ([`annotation_program`]). Each is built with a feature of its name, so that an edit of a page
//! compiles only the programs that contain it.
//!
//! Style attributes are set as properties (`style=("--v", …)`), never as text, so that a content
//! security policy can forbid inline styles.

#![cfg_attr(
    not(all(feature = "frontend", feature = "lazy-bundle", feature = "annotation")),
    allow(dead_code, unused_imports, reason = "what only the other programs show")
)]
#![expect(unreachable_pub, reason = "the component macro writes `pub` beside every component")]

#[cfg(feature = "lazy-bundle")]
pub mod lazy_bundle;
#[cfg(feature = "annotation")]
pub mod annotation_program;

mod api;
#[cfg(feature = "frontend")]
mod app;
mod bundle_loader;
mod first_paint;
mod local_storage;
mod location;
mod keyboard;
mod debounce;
mod number_format;
mod outbox;
mod site_checks;
#[cfg(any(feature = "frontend", feature = "lazy-bundle"))]
mod stored_summary;
mod page_frame;
mod old_addresses;
mod routes;
mod site_host;
mod pages;
mod theme;
mod tour;
mod widgets;

/// Renders the application into the body of the document.
#[cfg(feature = "frontend")]
pub fn mount_application() {
    let transport = |asked| Box::pin(api::transport::send_to_server_or_worker(asked)) as _;
    page_frame::mount_program(transport, app::App);
}
