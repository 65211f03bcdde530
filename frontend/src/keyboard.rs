//! Keyboard shortcuts of single keys, which work everywhere except in fields.

use leptos::ev;
use leptos::prelude::*;
use wasm_bindgen::JsCast;

use crate::widgets::term::is_definition_open;

/// The keyboard shortcuts: keys and where they work, and what they do.
pub(crate) const SHORTCUTS: &[(&str, &str)] = &[
    (
        "on every page",
        "? keyboard shortcuts · / search · T theme · Esc close or cancel",
    ),
    (
        "heat map",
        "Arrow keys move · Home End start or end of row · Enter opens · V violations · M \
         variant · [ ] length tolerance δ",
    ),
    ("instance", "J K next, previous · P open in Playground"),
    (
        "playground",
        "Ctrl Z undo in a document · Ctrl Shift Z redo",
    ),
    (
        "annotation",
        "1 first · 2 equal · 3 second · 4 cannot say · U undo · S skip · N note · G guidelines \
         · M rate the axiom’s reason after the decision · E example · H highlights · R report · Enter continue",
    ),
    ("workbench", "O choose files · Esc cancel"),
    (
        "adjudication",
        "1 2 3 4 answer · J K next, previous · N note",
    ),
];

/// Whether a page has handled a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyPressOutcome {
    /// The page handled the key; the default action of the browser is prevented.
    Handled,
    /// The page did not handle the key.
    Ignored,
}

/// Calls `act` with the name of each key (`"j"`, `"ArrowLeft"`, `"?"`; letters in lower case) while
/// the calling component lives. Keys are ignored with Ctrl, Alt or Meta, and, except for `Escape`,
/// while a field has the focus.
pub(crate) fn listen_for_key_presses(act: impl Fn(&str) -> KeyPressOutcome + 'static) {
    add_key_listener(|_| false, act);
}

/// Like [`listen_for_key_presses`], but ignores repeats while a key is held down: for actions that
/// are saved.
pub(crate) fn listen_for_unrepeated_key_presses(act: impl Fn(&str) -> KeyPressOutcome + 'static) {
    add_key_listener(web_sys::KeyboardEvent::repeat, act);
}

fn add_key_listener(
    rests: fn(&web_sys::KeyboardEvent) -> bool,
    act: impl Fn(&str) -> KeyPressOutcome + 'static,
) {
    let handle = window_event_listener(ev::keydown, move |event| {
        if rests(&event) {
            return;
        }
        if event.ctrl_key() || event.alt_key() || event.meta_key() || event.default_prevented() {
            return;
        }
        let key = event.key();
        // The browser closes the definition with this key.
        if key == "Escape" && is_definition_open() {
            return;
        }
        if is_in_field(&event) && key != "Escape" {
            return;
        }
        let key = if key.chars().count() == 1 {
            key.to_ascii_lowercase()
        } else {
            key
        };
        if act(&key) == KeyPressOutcome::Handled {
            event.prevent_default();
        }
    });
    on_cleanup(move || handle.remove());
}

/// Puts the focus into the search field of the page, if it has one.
pub(crate) fn focus_search_field() -> KeyPressOutcome {
    focus_first_match("main input[type=search]")
}

/// Moves the focus to the first element that a selector matches, if there is one.
pub(crate) fn focus_first_match(selector: &str) -> KeyPressOutcome {
    focus(document().query_selector(selector).ok().flatten())
}

/// Moves the focus to the element with an id, if there is one.
pub(crate) fn focus_element_with_id(id: &str) {
    focus(document().get_element_by_id(id));
}

/// Moves the focus to the element with an id that the next frame shows.
pub(crate) fn focus_element_on_next_frame(id: &'static str) {
    request_animation_frame(move || focus_element_with_id(id));
}

fn focus(element: Option<web_sys::Element>) -> KeyPressOutcome {
    match element.and_then(|it| it.dyn_into::<web_sys::HtmlElement>().ok()) {
        Some(element) => {
            let _ = element.focus();
            KeyPressOutcome::Handled
        }
        None => KeyPressOutcome::Ignored,
    }
}

/// Returns whether a dialog is open, in which case the keys of the page are ignored.
pub(crate) fn is_dialog_open() -> bool {
    matches!(document().query_selector("dialog[open]"), Ok(Some(_)))
}

fn is_in_field(event: &web_sys::KeyboardEvent) -> bool {
    let target = event
        .target()
        .and_then(|it| it.dyn_into::<web_sys::HtmlElement>().ok());
    target.is_some_and(|it| {
        it.is_content_editable()
            || matches!(it.tag_name().as_str(), "TEXTAREA" | "SELECT")
            || it.dyn_ref::<web_sys::HtmlInputElement>().is_some_and(|it| {
                !matches!(
                    it.type_().as_str(),
                    "checkbox" | "radio" | "button" | "file"
                )
            })
    })
}
