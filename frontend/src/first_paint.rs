//! The heading and the texts that the server wrote into the page, until the page shows them itself.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use leptos::leptos_dom::helpers::IntervalHandle;
use leptos::prelude::*;
use shared::first_paint::FIRST_PAINT_ID;

/// The time between two looks at the page.
const PAUSE: Duration = Duration::from_millis(30);

/// The number of looks after which the texts are removed in any case: six seconds, in which a page
/// that waits longer says so.
const MAX_LOOKS: u32 = 200;

/// Matches a page with its content.
const HAS_CONTENT: &str = "main :is(h1, .failure)";

/// Matches a page, a part of which is loading.
const IS_LOADING: &str = "main :is(.waiting, .loading, .until)";

/// Returns whether the texts still cover the page, to which parts are being added.
pub(crate) fn covers_page() -> bool {
    document().get_element_by_id(FIRST_PAINT_ID).is_some()
}

/// Renders a part of the page in a task of its own while the texts cover the page, so that the
/// browser answers the reader between the parts; at once on a page that is opened later.
#[component]
pub(crate) fn InOwnTask(
    /// What is drawn later: it is created in that task, too, and only once.
    children: Children,
) -> impl IntoView {
    if !covers_page() {
        return children();
    }
    let children = StoredValue::new_local(Some(children));
    let is_due = RwSignal::new(false);
    set_timeout(
        move || {
            is_due.try_set(true);
        },
        Duration::ZERO,
    );
    let part = move || match is_due.get() {
        true => children
            .try_update_value(Option::take)
            .flatten()
            .map(untrack),
        // The texts stay until no part is loading.
        false => Some(view! { <span class="until" hidden></span> }.into_any()),
    };
    part.into_any()
}

/// Removes the texts once the page has its content, or when the reader presses a key or a button.
pub(crate) fn remove_when_page_has_content() {
    let Some(texts) = document().get_element_by_id(FIRST_PAINT_ID) else {
        return;
    };
    let matches = |selector| document().query_selector(selector).ok().flatten().is_some();
    // The server does not know the fragment, which can have other documents.
    if !window().location().hash().unwrap_or_default().is_empty() {
        texts.remove();
        return;
    }
    let n_looks = Cell::new(0);
    let timer = Rc::new(Cell::new(None::<IntervalHandle>));
    let own = timer.clone();
    let on_screen = texts.clone();
    let look = move || {
        n_looks.set(n_looks.get() + 1);
        let is_ready = matches(HAS_CONTENT) && !matches(IS_LOADING);
        if is_ready || n_looks.get() >= MAX_LOOKS || !on_screen.is_connected() {
            on_screen.remove();
            if let Some(timer) = own.take() {
                timer.clear();
            }
        }
    };
    timer.set(set_interval_with_handle(look, PAUSE).ok());
    for event in ["keydown", "pointerdown"] {
        let texts = texts.clone();
        let _ = window_event_listener_untyped(event, move |_| texts.remove());
    }
}
