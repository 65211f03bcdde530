//! The color theme: light, dark, or that of the system; stored in this browser.

use crate::local_storage;

/// The color theme of the pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PageTheme {
    /// The theme of the system.
    System,
    /// Dark text on white.
    Light,
    /// Light text on black.
    Dark,
}

impl PageTheme {
    const KEY: &str = "axioscope-theme";

    /// Returns the theme that was chosen last in this browser.
    pub(crate) fn load_stored() -> PageTheme {
        match local_storage::load(Self::KEY).as_deref() {
            Some("light") => PageTheme::Light,
            Some("dark") => PageTheme::Dark,
            _ => PageTheme::System,
        }
    }

    /// Returns the theme that the next press of the button selects.
    pub(crate) fn next_theme(self) -> PageTheme {
        match self {
            PageTheme::System => PageTheme::Light,
            PageTheme::Light => PageTheme::Dark,
            PageTheme::Dark => PageTheme::System,
        }
    }

    /// Returns the name of the theme: `system`, `light` or `dark`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            PageTheme::System => "system",
            PageTheme::Light => "light",
            PageTheme::Dark => "dark",
        }
    }

    /// Applies the theme to the page and stores it. If the browser stores nothing, it lasts until
    /// the page is left.
    pub(crate) fn apply_and_store(self) {
        if let Some(root) = leptos::prelude::document().document_element() {
            let _ = match self {
                PageTheme::System => root.remove_attribute("data-theme"),
                PageTheme::Light | PageTheme::Dark => root.set_attribute("data-theme", self.name()),
            };
        }
        local_storage::store(Self::KEY, self.name());
    }
}
