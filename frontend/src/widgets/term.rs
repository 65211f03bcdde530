//! Explanations of technical terms, which open on hover, focus and tap.
//!
//! All terms share one popover: [`TermDefinition`] is in the page once, and a term fills it and
//! moves it beside itself. Escape and a click elsewhere close it, which the browser does.

mod glossary;

use leptos::attr::Attribute;
use leptos::ev;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{DomRect, Element, HtmlElement};

pub(crate) use glossary::GlossaryTerm;

use crate::debounce::DebounceTimer;

/// The id of the popover.
const POPOVER_ID: &str = "term-definition";

/// How long the pointer rests on a term before its definition opens or closes.
const PAUSE_MS: u64 = 150;

/// The term whose definition is open: the popover describes it.
const EXPLAINED: &str = "[aria-describedby=term-definition]";

/// Matches while the pointer or the keyboard is at the open definition or its term.
const IN_USE: &str = "#term-definition:hover, \
     [aria-describedby=term-definition]:is(:hover, :focus-visible, :has(:focus-visible))";

/// Renders a term that explains itself.
#[component]
pub(crate) fn Term(
    /// The term.
    of: GlossaryTerm,
    /// The words in the text that stand for the term.
    children: Children,
) -> impl IntoView {
    view! { <button type="button" class="term" {..explains(of)}>{children()}</button> }
}

/// Returns a text in which the first occurrence of each term explains itself.
pub(crate) fn text_with_terms(text: &str) -> impl IntoView + use<> {
    mark_terms(text, |of, part| view! { <Term of>{part}</Term> }.into_any())
}

/// Returns the label of a field, in which the first occurrence of each term explains itself on
/// hover and tap. The field alone takes the focus, since a label must not contain a button.
pub(crate) fn label_with_terms(text: &str) -> impl IntoView + use<> {
    mark_terms(text, |of, part| {
        view! { <span class="term" {..explains(of)}>{part}</span> }.into_any()
    })
}

fn mark_terms(text: &str, mark: fn(GlossaryTerm, String) -> AnyView) -> Vec<AnyView> {
    let parts = split_at_terms(text).into_iter();
    let parts = parts.map(|(part, term)| match term {
        Some(of) => mark(of, part.to_owned()),
        None => part.to_owned().into_any(),
    });
    parts.collect()
}

/// Returns the event handlers with which an element explains a term, if it has one.
pub(crate) fn explains(of: impl Into<Option<GlossaryTerm>>) -> impl Attribute {
    let of = of.into();
    let timer = DebounceTimer::with_delay_ms(PAUSE_MS);
    let by_mouse = StoredValue::new(false);
    on_cleanup(move || {
        if let (Some(of), Some(popover)) = (of, popover())
            && popover.text_content().as_deref() == Some(of.definition())
        {
            close();
        }
    });
    let open_now = move |anchor: Option<Element>| {
        if let (Some(of), Some(anchor)) = (of, anchor) {
            timer.cancel();
            open(of, &anchor);
        }
    };
    let close_later = move || timer.schedule(close_unless_in_use);
    view! {
        <{..}
            on:pointerenter=move |event| {
                by_mouse.set_value(is_mouse(&event));
                if let (Some(of), Some(anchor), true) = (of, anchor(&event), is_mouse(&event)) {
                    timer.schedule(move || open(of, &anchor));
                }
            }
            on:pointerleave=move |event| {
                if is_mouse(&event) {
                    close_later();
                }
            }
            on:focusin=move |event| {
                // A click opens the definition by itself.
                open_now(anchor(&event).filter(has_visible_focus));
            }
            on:focusout=move |_| close_later()
            on:click=move |event| {
                let anchor = anchor(&event);
                let acts = anchor.as_ref().is_some_and(|it| !is_term_button(it));
                if acts && by_mouse.get_value() {
                    // The click was for what the element does; its definition would be in the way.
                    timer.cancel();
                    close();
                } else {
                    open_now(anchor);
                }
            }
        />
    }
}

/// Renders the popover in which all terms show their definitions.
#[component]
pub(crate) fn TermDefinition() -> impl IntoView {
    let timer = DebounceTimer::with_delay_ms(PAUSE_MS);
    let toggled = move |_| {
        if !is_definition_open() {
            forget_explained();
        }
    };
    view! {
        <div
            id=POPOVER_ID
            role="tooltip"
            popover="auto"
            on:toggle=toggled
            on:pointerleave=move |_| timer.schedule(close_unless_in_use)
        ></div>
    }
}

/// Returns whether a definition is open.
pub(crate) fn is_definition_open() -> bool {
    popover().is_some_and(|it| it.matches(":popover-open").unwrap_or(false))
}

/// Splits a text at the first occurrence of each term, which may be capitalized or in the plural.
fn split_at_terms(text: &str) -> Vec<(&str, Option<GlossaryTerm>)> {
    let in_word = |it: char| it.is_alphanumeric() || it == '_';
    let whole_words = |(start, phrase): (usize, &str)| {
        let singular = start + phrase.len();
        let end = singular + usize::from(text[singular..].starts_with('s'));
        let is_whole = !text[..start].ends_with(in_word) && !text[end..].starts_with(in_word);
        is_whole.then_some((start, end))
    };
    let found = GlossaryTerm::PHRASES.iter().filter_map(|(phrase, term)| {
        let mut capitalized = (*phrase).to_owned();
        if let Some(first) = capitalized.get_mut(..1) {
            first.make_ascii_uppercase();
        }
        let places = text
            .match_indices(phrase)
            .chain(text.match_indices(capitalized.as_str()));
        let (start, end) = places.filter_map(whole_words).min()?;
        Some((start, end, *term))
    });
    let mut found: Vec<_> = found.collect();
    found.sort_by_key(|it| it.0);
    let mut parts = Vec::new();
    let mut rest = 0;
    for (start, end, term) in found {
        parts.push((&text[rest..start], None));
        parts.push((&text[start..end], Some(term)));
        rest = end;
    }
    parts.push((&text[rest..], None));
    parts.retain(|it| !it.0.is_empty());
    parts
}

fn anchor(event: &web_sys::Event) -> Option<Element> {
    event.current_target()?.dyn_into().ok()
}

fn is_mouse(event: &ev::PointerEvent) -> bool {
    event.pointer_type() == "mouse"
}

/// Returns whether the element does nothing but explain a term.
fn is_term_button(element: &Element) -> bool {
    element.matches("button.term").unwrap_or(false)
}

fn has_visible_focus(element: &Element) -> bool {
    let matches = |selector| element.matches(selector).unwrap_or(false);
    matches(":focus-visible") || matches(":has(:focus-visible)")
}

fn popover() -> Option<HtmlElement> {
    document().get_element_by_id(POPOVER_ID)?.dyn_into().ok()
}

/// Shows the definition of a term beside the element that stands for it.
fn open(of: GlossaryTerm, anchor: &Element) {
    let Some(popover) = popover().filter(|_| anchor.is_connected()) else {
        return;
    };
    forget_explained();
    popover.set_text_content(Some(of.definition()));
    // A browser without popovers has no explanations; one that is open stays open.
    if popover.show_popover().is_err() && !is_definition_open() {
        return;
    }
    let _ = anchor.set_attribute("aria-describedby", POPOVER_ID);
    let Some(page) = document().document_element() else {
        return;
    };
    let size = [popover.offset_width(), popover.offset_height()].map(f64::from);
    let anchor = rectangle(&anchor.get_bounding_client_rect());
    let [left, top] = place_definition(&anchor, size, page.client_width().into());
    // The popover is placed on the page, so that it scrolls with its term.
    let origin = page.get_bounding_client_rect();
    let style = popover.style();
    let _ = style.set_property("left", &format!("{}px", left - origin.left()));
    let _ = style.set_property("top", &format!("{}px", top - origin.top()));
}

fn close_unless_in_use() {
    if matches!(document().query_selector(IN_USE), Ok(None)) {
        close();
    }
}

fn close() {
    if let Some(popover) = popover() {
        let _ = popover.hide_popover();
    }
    forget_explained();
}

/// Takes the description from the term that had it.
fn forget_explained() {
    if let Ok(Some(anchor)) = document().query_selector(EXPLAINED) {
        let _ = anchor.remove_attribute("aria-describedby");
    }
}

/// The sides of a box in the viewport, in pixels.
struct Rectangle {
    left: f64,
    top: f64,
    bottom: f64,
}

fn rectangle(of: &DomRect) -> Rectangle {
    Rectangle {
        left: of.left(),
        top: of.top(),
        bottom: of.bottom(),
    }
}

/// Returns the left and upper edge of a definition: above its term, where it covers no control
/// that the term belongs to, or below it if there is no space above, and inside the viewport.
fn place_definition(anchor: &Rectangle, size: [f64; 2], width: f64) -> [f64; 2] {
    const GAP: f64 = 6.0;
    const MARGIN: f64 = 8.0;
    let last_left = width - size[0] - MARGIN;
    let left = anchor.left.min(last_left).max(MARGIN);
    let above = anchor.top - GAP - size[1];
    let top = if above < MARGIN {
        anchor.bottom + GAP
    } else {
        above
    };
    [left, top]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_occurrence_of_a_term_explains_itself() {
        let parts = split_at_terms("Margin and RR@10 by FQT, and FQT in candidate pools; τ_AP.");
        let expected = [
            ("Margin", Some(GlossaryTerm::Margin)),
            (" and ", None),
            ("RR", Some(GlossaryTerm::ReciprocalRank)),
            ("@10 by ", None),
            ("FQT", Some(GlossaryTerm::QueryTokenFraction)),
            (", and FQT in ", None),
            ("candidate pools", Some(GlossaryTerm::CandidatePool)),
            ("; ", None),
            ("τ_AP", Some(GlossaryTerm::TauAp)),
            (".", None),
        ];
        assert_eq!(parts, expected);
        for text in ["APIs and ΔRR", "Operator token"] {
            assert_eq!(split_at_terms(text), [(text, None)]);
        }
        assert_eq!(split_at_terms(""), []);
    }

    #[test]
    fn a_definition_stays_in_the_viewport() {
        let place = |left, top| {
            let bottom = top + 20.0;
            let anchor = Rectangle { left, top, bottom };
            place_definition(&anchor, [288.0, 60.0], 320.0)
        };
        assert_eq!(place(16.0, 100.0), [16.0, 34.0]);
        assert_eq!(place(250.0, 100.0), [24.0, 34.0]);
        assert_eq!(place(-40.0, 100.0), [8.0, 34.0]);
        assert_eq!(place(16.0, 40.0), [16.0, 66.0]);
    }
}
