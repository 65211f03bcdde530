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

/// Returns the address of the link in the content of the page that an event is about, if it is.
pub(crate) fn link_of_content(event: &web_sys::Event) -> Option<String> {
    let target = event.target()?.dyn_into::<web_sys::Element>().ok()?;
    let link = target.closest("main a[href]").ok().flatten()?;
    link.get_attribute("href")
}

/// Moves the focus into a page that is being opened, as long as `is_open` says so: to the link with
/// this address, and to the heading if the page does not show the link within a second. Another
/// element that gets the focus in the meantime keeps it.
pub(crate) fn focus_opened_page(link: Option<String>, is_open: impl Fn() -> bool + 'static) {
    focus_page_on_next_frame(0, link, is_open);
}

fn focus_page_on_next_frame(
    n_frames: u32,
    link: Option<String>,
    is_open: impl Fn() -> bool + 'static,
) {
    const FRAMES_FOR_LINK: u32 = 60;
    const FRAMES_FOR_HEADING: u32 = 1200;
    request_animation_frame(move || {
        let focused = document().active_element();
        let has_focus = |selector: &str| {
            let focused = focused.as_ref();
            focused.is_none_or(|it| it.matches(selector).unwrap_or_default())
        };
        let is_focus_lost = has_focus("body");
        let waits_for_link = link.is_some() && has_focus("main h1");
        if !(is_focus_lost || waits_for_link) || !is_open() || n_frames > FRAMES_FOR_HEADING {
            return;
        }
        let find = |selector: &str| document().query_selector(selector).ok().flatten();
        let linked = link
            .as_ref()
            .and_then(|it| find(&format!("main a[href=\"{it}\"]")));
        if let Some(linked) = linked {
            focus(Some(linked));
        } else if is_focus_lost
            && (link.is_none() || n_frames > FRAMES_FOR_LINK)
            && let Some(heading) = find("main h1:not(.waiting h1)")
        {
            let _ = heading.set_attribute("tabindex", "-1");
            focus_without_scrolling(&heading);
        }
        // The element may be replaced at once, or may not be focusable.
        focus_page_on_next_frame(n_frames + 1, link, is_open);
    });
}

/// Moves the focus to an element; the page stays where the browser or a fragment has scrolled it.
fn focus_without_scrolling(element: &web_sys::Element) {
    let options = js_sys::Object::new();
    let _ = js_sys::Reflect::set(&options, &"preventScroll".into(), &true.into());
    let focus = js_sys::Reflect::get(element, &"focus".into()).ok();
    if let Some(focus) = focus.and_then(|it| it.dyn_into::<js_sys::Function>().ok()) {
        let _ = focus.call1(element, &options);
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
