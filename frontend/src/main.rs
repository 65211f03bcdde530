//! Axioscope's pages: they show, and compute nothing that `shared` could compute.
//!
//! Style attributes are set as properties (`style=("--v", …)`), never as text, so that a
//! content security policy can forbid inline styles.

#![expect(
    unreachable_pub,
    reason = "the component macro writes `pub` beside every component"
)]

mod api;
mod app;
mod keys;
mod later;
mod numbers;
mod page;
mod pages;
mod theme;
mod widgets;

fn main() {
    console_error_panic_hook::set_once();
    theme::Theme::stored().apply();
    leptos::mount::mount_to_body(app::App);
}
