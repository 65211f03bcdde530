//! A list of any length, of which only the rows in view are rendered.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::JsCast;

/// The height of a row in pixels, as in the style sheet.
pub(crate) const ROW: f64 = 56.0;

/// The maximum height of the list in pixels; browsers do not render much higher elements.
const MAX_HEIGHT: f64 = 8_000_000.0;

/// The number of rows that are rendered beyond each end of the view.
const OVERSCAN_ROWS: u64 = 6;

/// The visible part of the list.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ListViewport {
    /// The number of rows.
    n_rows: u64,
    /// The height of the view, in pixels.
    height: f64,
    /// The scroll position, in pixels.
    scroll_top: f64,
}

impl ListViewport {
    /// Returns the height of all rows, or the maximum that a browser can render.
    fn total_height(&self) -> f64 {
        (self.n_rows as f64 * ROW).min(MAX_HEIGHT)
    }

    /// Returns the number of rows above the view, with a fraction.
    fn rows_above(&self) -> f64 {
        let room = self.total_height() - self.height;
        if self.n_rows as f64 * ROW <= MAX_HEIGHT || room <= 0.0 {
            return self.scroll_top / ROW;
        }
        // A longer list is compressed, so that the end of the scroll bar is the end of the list.
        let last = self.n_rows as f64 - self.height / ROW;
        (self.scroll_top / room).clamp(0.0, 1.0) * last
    }

    /// Returns the first row to render, and the row after the last.
    fn rows(&self) -> (u64, u64) {
        let first = self.rows_above().max(0.0) as u64;
        let n_seen = (self.height / ROW) as u64 + 2;
        (
            first.saturating_sub(OVERSCAN_ROWS).min(self.n_rows),
            (first + n_seen + OVERSCAN_ROWS).min(self.n_rows),
        )
    }

    /// Returns the position of a row, in pixels from the top of the list.
    fn row_top(&self, row: u64) -> f64 {
        if self.n_rows as f64 * ROW <= MAX_HEIGHT {
            return row as f64 * ROW;
        }
        self.scroll_top + (row as f64 - self.rows_above()) * ROW
    }

    /// Returns the scroll position that brings a row into view; none if it is in view.
    fn scroll_target(&self, row: u64) -> Option<f64> {
        let place = self.row_top(row);
        if place >= self.scroll_top && place + ROW <= self.scroll_top + self.height {
            return None;
        }
        if self.n_rows as f64 * ROW <= MAX_HEIGHT {
            let below = place + ROW - self.height;
            return Some(if place < self.scroll_top {
                place
            } else {
                below
            });
        }
        let last = self.n_rows as f64 - self.height / ROW;
        let above = (row as f64 - self.height / ROW / 2.0).clamp(0.0, last);
        Some(above / last * (self.total_height() - self.height))
    }
}

/// Renders the list. Arrow and page keys, `Home` and `End` move in it; each row is a link.
#[component]
pub(crate) fn VirtualList(
    /// The number of rows.
    #[prop(into)]
    n: Signal<u64>,
    /// The name of the list for screen readers.
    #[prop(into)]
    label: String,
    /// The row that has the focus, or had it last.
    current: RwSignal<u64>,
    /// Receives the range of rendered rows, for fetching them.
    seen: RwSignal<(u64, u64)>,
    /// Renders a row, whose only link must have the id of [`row_link_id`].
    row: Callback<u64, AnyView>,
) -> impl IntoView {
    let place = NodeRef::<html::Div>::new();
    let scrolled = RwSignal::new((0.0, 600.0));
    let measure = move || {
        if let Some(place) = place.get_untracked() {
            scrolled.set((
                f64::from(place.scroll_top()),
                f64::from(place.client_height()),
            ));
        }
    };
    Effect::new(move |_| {
        if place.get().is_some() {
            measure();
        }
    });
    let window = move || {
        let (top, height) = scrolled.get();
        ListViewport {
            n_rows: n.get(),
            height,
            scroll_top: top,
        }
    };
    let rows = Memo::new(move |_| window().rows());
    Effect::new(move |_| seen.set(rows.get()));
    let handle = window_event_listener(ev::resize, move |_| measure());
    on_cleanup(move || handle.remove());
    // A row that is selected by a key or by the page is scrolled into view and gets the focus.
    let go = move |row: u64| {
        let last = n.get_untracked().saturating_sub(1);
        let row = row.min(last);
        current.set(row);
        if let (Some(place), Some(top)) =
            (place.get_untracked(), untrack(window).scroll_target(row))
        {
            place.set_scroll_top(top as i32);
            measure();
        }
        request_animation_frame(move || focus_on(row));
    };
    let on_key = move |event: ev::KeyboardEvent| {
        if event.ctrl_key() || event.alt_key() || event.meta_key() {
            return;
        }
        let now = current.get_untracked();
        let page = (scrolled.get_untracked().1 / ROW) as u64;
        let to = match event.key().as_str() {
            "ArrowDown" => now + 1,
            "ArrowUp" => now.saturating_sub(1),
            "PageDown" => now + page,
            "PageUp" => now.saturating_sub(page),
            "Home" => 0,
            "End" => u64::MAX,
            _ => return,
        };
        event.prevent_default();
        go(to);
    };
    crate::keyboard::listen_for_key_presses(move |key| {
        let now = current.get_untracked();
        match key {
            "j" => go(now + u64::from(has_focus(now))),
            "k" => go(now.saturating_sub(1)),
            _ => return crate::keyboard::KeyPressOutcome::Ignored,
        }
        crate::keyboard::KeyPressOutcome::Handled
    });
    let children = move |at: u64| {
        let place = move || format!("translateY({:.1}px)", window().row_top(at));
        view! {
            <li
                aria-posinset=(at + 1).to_string()
                aria-setsize=move || n.get().to_string()
                style=("transform", place)
            >
                {row.run(at)}
            </li>
        }
    };
    let height = move || format!("{:.0}px", window().total_height());
    let name = label.clone();
    view! {
        <div
            class="virtual"
            node_ref=place
            role="group"
            aria-label=name
            on:scroll=move |_| measure()
            on:keydown=on_key
        >
            <ol role="list" aria-label=label style=("height", height)>
                <For
                    each=move || {
                        let (first, last) = rows.get();
                        first..last
                    }
                    key=|it| *it
                    children=children
                />
            </ol>
        </div>
    }
}

/// Returns the id of the link of a row.
pub(crate) fn row_link_id(row: u64) -> String {
    format!("row-{row}")
}

fn focus_on(row: u64) {
    let found = document().get_element_by_id(&row_link_id(row));
    if let Some(link) = found.and_then(|it| it.dyn_into::<web_sys::HtmlElement>().ok()) {
        let _ = link.focus();
    }
}

fn has_focus(row: u64) -> bool {
    document()
        .active_element()
        .is_some_and(|it| it.id() == row_link_id(row))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_rows_in_view_and_some_around_them_exist() {
        let window = ListViewport {
            n_rows: 1000,
            height: 560.0,
            scroll_top: 5600.0,
        };
        assert_eq!(window.rows(), (94, 118));
        assert_eq!(
            ListViewport {
                scroll_top: 0.0,
                ..window
            }
            .rows(),
            (0, 18)
        );
        assert_eq!(
            ListViewport {
                n_rows: 3,
                scroll_top: 0.0,
                ..window
            }
            .rows(),
            (0, 3)
        );
        assert_eq!(
            ListViewport {
                n_rows: 0,
                scroll_top: 0.0,
                ..window
            }
            .rows(),
            (0, 0)
        );
    }

    #[test]
    fn a_row_out_of_view_is_scrolled_to_the_nearer_edge() {
        let window = ListViewport {
            n_rows: 1000,
            height: 560.0,
            scroll_top: 5600.0,
        };
        assert_eq!(window.scroll_target(100), None);
        assert_eq!(window.scroll_target(99), Some(99.0 * ROW));
        assert_eq!(window.scroll_target(110), Some(101.0 * ROW));
    }

    #[test]
    fn millions_of_rows_are_squeezed_and_the_last_can_be_reached() {
        let start = ListViewport {
            n_rows: 25_500_000,
            height: 560.0,
            scroll_top: 0.0,
        };
        let end = ListViewport {
            scroll_top: start.total_height() - start.height,
            ..start
        };
        assert_eq!(start.rows().0, 0);
        assert_eq!(end.rows().1, 25_500_000);
        let there = ListViewport {
            scroll_top: start.scroll_target(12_000_000).unwrap(),
            ..start
        };
        let (first, last) = there.rows();
        assert!((first..last).contains(&12_000_000));
    }
}
