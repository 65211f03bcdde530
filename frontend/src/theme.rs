//! Light, dark, or as the system has it; remembered in this browser.

/// The look of every page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PageTheme {
    /// As the system has it.
    System,
    /// Dark on white.
    Light,
    /// Light on black.
    Dark,
}

impl PageTheme {
    const KEY: &str = "axioscope-theme";

    /// What was chosen last in this browser.
    pub(crate) fn stored() -> PageTheme {
        let word = storage().and_then(|it| it.get_item(Self::KEY).ok().flatten());
        match word.as_deref() {
            Some("light") => PageTheme::Light,
            Some("dark") => PageTheme::Dark,
            _ => PageTheme::System,
        }
    }

    /// The one that the next press of the button gives.
    pub(crate) fn next(self) -> PageTheme {
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

    /// Shows the page so, and remembers it. Where the browser keeps nothing, it holds until
    /// the page is left.
    pub(crate) fn apply(self) {
        if let Some(root) = leptos::prelude::document().document_element() {
            let _ = match self {
                PageTheme::System => root.remove_attribute("data-theme"),
                PageTheme::Light | PageTheme::Dark => root.set_attribute("data-theme", self.name()),
            };
        }
        if let Some(storage) = storage() {
            let _ = storage.set_item(Self::KEY, self.name());
        }
    }
}

fn storage() -> Option<web_sys::Storage> {
    leptos::prelude::window().local_storage().ok().flatten()
}
