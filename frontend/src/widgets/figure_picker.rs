//! A figure whose groups can be selected; each is a button.

use leptos::ev::KeyboardEvent;
use leptos::prelude::*;
use shared::plot::{FigureMark, PlotFigure};

use super::figure::{render_figure_mark, render_figure_with_mark_renderer};

/// Renders the figure; the selected group has a frame.
#[component]
pub(crate) fn FigureWithSelectableGroups(
    /// The figure to draw.
    figure: PlotFigure,
    /// The index of the selected group.
    #[prop(into)]
    picked: Signal<Option<usize>>,
    /// Selects a group.
    pick: Callback<usize>,
) -> impl IntoView {
    let mut n_groups = 0;
    render_figure_with_mark_renderer(figure, "group", move |mark| match mark {
        FigureMark::Group { title, marks } => {
            let place = n_groups;
            n_groups += 1;
            // A group without marks has no queries, so it cannot be selected.
            (!marks.is_empty())
                .then(|| view! { <FigureGroup place title marks picked pick/> })
                .into_any()
        }
        other => render_figure_mark(other),
    })
}

#[component]
fn FigureGroup(
    place: usize,
    title: String,
    marks: Vec<FigureMark>,
    picked: Signal<Option<usize>>,
    pick: Callback<usize>,
) -> impl IntoView {
    // Text in the group is its accessible name; otherwise its title is.
    let has_words = marks.iter().any(|it| matches!(it, FigureMark::Text { .. }));
    let (label, description) = match has_words {
        true => (None, Some(title)),
        false => (Some(title), None),
    };
    let marks = marks.into_iter().map(render_figure_mark).collect_view();
    let pressed = move || (picked.get() == Some(place)).to_string();
    let by_key = move |event: KeyboardEvent| {
        if matches!(event.key().as_str(), "Enter" | " ") {
            event.prevent_default();
            pick.run(place);
        }
    };
    view! {
        <g
            class="pick"
            role="button"
            tabindex="0"
            aria-pressed=pressed
            aria-label=label
            aria-description=description
            on:click=move |_| pick.run(place)
            on:keydown=by_key
        >
            {marks}
        </g>
    }
}
