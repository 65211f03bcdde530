//! A section of a page with a figure or its table, an explanation, and export buttons.

use leptos::ev::MouseEvent;
use leptos::html;
use leptos::prelude::*;
use shared::plot::{self, FigureTheme, PlotFigure};
use shared::report::{self, ReportTable};

use super::download;
use super::export_buttons::FigureExportButtons;
use super::figure::FigureView;
use super::figure_picker::FigureWithSelectableGroups;
use super::table::ReportTableView;
use super::term::text_with_terms;

/// A figure in which parts can be selected.
#[derive(Clone, Copy)]
pub(crate) struct FigureWithSelection {
    figure: Signal<PlotFigure>,
    selection: FigureSelection,
}

/// What can be selected in a figure.
#[derive(Clone, Copy)]
enum FigureSelection {
    None,
    /// The groups of the figure, each of which is a button.
    Groups {
        picked: Signal<Option<usize>>,
        pick: Callback<usize>,
    },
    /// A position in the figure, by pointer only.
    Position(Callback<[f64; 2]>),
}

impl FigureWithSelection {
    /// Creates a figure in which nothing can be selected.
    pub(crate) fn without_selection(figure: PlotFigure) -> FigureWithSelection {
        FigureWithSelection {
            figure: Signal::stored(figure),
            selection: FigureSelection::None,
        }
    }

    /// Creates a figure that changes, in which nothing can be selected.
    pub(crate) fn changing_without_selection(figure: Signal<PlotFigure>) -> FigureWithSelection {
        FigureWithSelection {
            figure,
            selection: FigureSelection::None,
        }
    }

    /// Creates a figure whose groups can be selected by their index.
    pub(crate) fn with_selectable_groups(
        figure: PlotFigure,
        picked: Signal<Option<usize>>,
        pick: Callback<usize>,
    ) -> FigureWithSelection {
        FigureWithSelection {
            figure: Signal::stored(figure),
            selection: FigureSelection::Groups { picked, pick },
        }
    }

    /// Creates a figure in which a position can be selected by pointer. The page needs another way
    /// for keyboard users.
    pub(crate) fn with_selectable_positions(
        figure: Signal<PlotFigure>,
        pick: Callback<[f64; 2]>,
    ) -> FigureWithSelection {
        FigureWithSelection {
            figure,
            selection: FigureSelection::Position(pick),
        }
    }
}

/// Renders a section with a figure or a table and its export buttons; nothing without a table.
#[component]
pub(crate) fn ExportableFigureSection(
    /// The beginning of the file names.
    #[prop(optional, into)]
    of: String,
    /// The anchor of the section, and the rest of the file names.
    id: &'static str,
    /// The heading of the section.
    name: &'static str,
    /// How to read the figure.
    #[prop(into)]
    said: String,
    /// What the figure shows, in a sentence computed from its data.
    #[prop(optional_no_strip)]
    finding: Option<String>,
    /// The figure; none if there is only a table.
    #[prop(optional_no_strip)]
    drawing: Option<FigureWithSelection>,
    /// The numbers of the figure.
    #[prop(into)]
    table: Signal<Option<ReportTable>>,
) -> impl IntoView {
    if table.with_untracked(Option::is_none) {
        return None;
    }
    let as_table = RwSignal::new(drawing.is_none());
    let turn = Callback::new(move |()| as_table.update(|it| *it = !*it));
    let of = StoredValue::new(of);
    let file = move |ending: &str| of.with_value(|it| format!("{it}{id}.{ending}"));
    let csv = Callback::new(move |()| {
        if let Some(table) = table.get_untracked() {
            let text = report::table_to_csv(&table);
            download::offer_text_download(&file("csv"), "text/csv", &text);
        }
    });
    let takes = match drawing {
        Some(FigureWithSelection { figure, .. }) => {
            let svg = Callback::new(move |()| {
                let text = figure.with_untracked(|it| plot::figure_to_svg(it, FigureTheme::Light));
                download::offer_text_download(&file("svg"), "image/svg+xml", &text);
            });
            view! { <FigureExportButtons of=name table=as_table turn svg csv/> }.into_any()
        }
        None => view! { <FigureExportButtons of=name csv/> }.into_any(),
    };
    let body = move || match (drawing, as_table.get()) {
        (Some(drawn), false) => view! { <FigureFrame drawn name/> }.into_any(),
        _ => table
            .get()
            .map(|table| view! { <ReportTableView table/> })
            .into_any(),
    };
    Some(view! {
        <section class="section" aria-labelledby=id>
            <header>
                <h2 id=id>{name}</h2>
                <p class="note">{text_with_terms(&said)}</p>
                {takes}
            </header>
            {finding.map(|it| view! { <p class="finding">{it}</p> })}
            {body}
        </section>
    })
}

#[component]
fn FigureFrame(drawn: FigureWithSelection, name: &'static str) -> impl IntoView {
    let FigureWithSelection {
        figure,
        selection: pick,
    } = drawn;
    // This width makes text in the figure as large as text beside it.
    let width = move || figure.with(|it| format!("{}px", it.width + 2.0 * it.margin));
    let place = NodeRef::<html::Div>::new();
    let pointed = move |event: MouseEvent| {
        if let (FigureSelection::Position(pick), Some(frame)) = (pick, place.get_untracked())
            && let Some(at) = figure.with_untracked(|it| pointer_position(&frame, it, &event))
        {
            pick.run(at);
        }
    };
    let body = move || match pick {
        FigureSelection::None | FigureSelection::Position(_) => {
            view! { <FigureView figure=figure.get()/> }.into_any()
        }
        FigureSelection::Groups { picked, pick } => {
            view! { <FigureWithSelectableGroups figure=figure.get() picked pick/> }.into_any()
        }
    };
    view! {
        <div
            node_ref=place
            class="drawn"
            class:dots=matches!(pick, FigureSelection::Position(_))
            role="group"
            tabindex="0"
            aria-label=name
            style=("--width", width)
            on:click=pointed
        >
            {body}
        </div>
    }
}

/// Returns the position of the pointer in the coordinates of the figure.
fn pointer_position(
    frame: &web_sys::HtmlElement,
    figure: &PlotFigure,
    event: &MouseEvent,
) -> Option<[f64; 2]> {
    let drawing = frame.query_selector("svg").ok()??;
    let bounds = drawing.get_bounding_client_rect();
    let scale = bounds.width() / (figure.width + 2.0 * figure.margin);
    let x = f64::from(event.client_x()) - bounds.left();
    let y = f64::from(event.client_y()) - bounds.top();
    Some([x, y].map(|it| it / scale - figure.margin))
}
