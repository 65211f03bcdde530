//! Axioscope's pages: they show, and compute nothing that `shared` could compute.
//!
//! Two programs are made of them. `frontend` is the page, small enough to be there at once;
//! `lab` is what it fetches for the pages that compute while one types ([`lab`]).
//!
//! Style attributes are set as properties (`style=("--v", …)`), never as text, so that a
//! content security policy can forbid inline styles.

#![expect(
    unreachable_pub,
    reason = "the component macro writes `pub` beside every component"
)]

pub mod lab;

mod api;
mod app;
mod apart;
mod browser;
mod keys;
mod later;
mod numbers;
mod outbox;
mod page;
mod pages;
mod theme;
mod widgets;

/// Shows the page that the address names, in place of the body.
pub fn start() {
    theme::Theme::stored().apply();
    api::go(|asked| Box::pin(api::host::ask(asked)));
    leptos::mount::mount_to_body(app::App);
}
