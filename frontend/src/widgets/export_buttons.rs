//! The buttons that export a figure: its table, its drawing and its numbers.

use leptos::prelude::*;

/// Renders the small buttons at the right of a figure's caption.
#[component]
pub(crate) fn FigureExportButtons(
    /// The name of the figure for screen readers, as in `heat map`.
    #[prop(into)]
    of: String,
    /// Whether the table is shown in place of the figure; without it there is no such button.
    #[prop(optional, into)]
    table: Option<Signal<bool>>,
    /// Shows the table in place of the figure, or the figure again.
    #[prop(optional, into)]
    turn: Option<Callback<()>>,
    /// Saves the drawing as SVG.
    #[prop(optional, into)]
    svg: Option<Callback<()>>,
    /// Saves the numbers as CSV.
    #[prop(into)]
    csv: Callback<()>,
) -> impl IntoView {
    let table = table.zip(turn).map(|(table, turn)| {
        view! {
            <button
                class="btn bare"
                type="button"
                aria-pressed=move || table.get().to_string()
                on:click=move |_| turn.run(())
            >
                "Table"
            </button>
        }
    });
    let svg = svg.map(|svg| {
        let label = format!("Save {of} as SVG");
        view! {
            <button
                class="btn bare"
                type="button"
                aria-label=label
                on:click=move |_| svg.run(())
            >
                "SVG"
            </button>
        }
    });
    let label = format!("Save {of} as CSV");
    view! {
        <span class="takes">
            {table}
            {svg}
            <button class="btn bare" type="button" aria-label=label on:click=move |_| csv.run(())>
                "CSV"
            </button>
        </span>
    }
}
