//! Actions that are confirmed before they are taken.

use leptos::html;
use leptos::prelude::*;

/// Whether the confirmation of an action is shown, and the button that shows it.
#[derive(Clone, Copy)]
pub(crate) struct ActionConfirmation {
    is_shown: RwSignal<bool>,
    button: NodeRef<html::Button>,
}

impl ActionConfirmation {
    /// Returns the state at first, in which the confirmation is hidden.
    pub(crate) fn new() -> ActionConfirmation {
        ActionConfirmation {
            is_shown: RwSignal::new(false),
            button: NodeRef::new(),
        }
    }

    /// Returns whether the confirmation is shown.
    pub(crate) fn is_shown(self) -> bool {
        self.is_shown.get()
    }

    /// Hides the confirmation and leaves the focus where it is.
    pub(crate) fn hide(self) {
        self.is_shown.set(false);
    }

    /// Hides the confirmation and moves the focus back to the button that showed it.
    pub(crate) fn decline(self) {
        self.hide();
        if let Some(button) = self.button.get_untracked() {
            let _ = button.focus();
        }
    }
}

/// Renders the button that shows and hides the confirmation of an action.
#[component]
pub(crate) fn ConfirmedActionButton(
    /// Whether the confirmation is shown.
    confirmation: ActionConfirmation,
    /// The action, as the button names it.
    text: &'static str,
    /// The accessible name, if it says more than the text.
    #[prop(optional, into)]
    label: Option<String>,
) -> impl IntoView {
    let is_shown = confirmation.is_shown;
    view! {
        <button
            node_ref=confirmation.button
            class="btn"
            type="button"
            aria-label=label
            aria-expanded=move || is_shown.get().to_string()
            on:click=move |_| is_shown.update(|it| *it = !*it)
        >
            {text}
        </button>
    }
}
