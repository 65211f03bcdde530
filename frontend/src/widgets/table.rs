//! Tables, including those of `shared::report`.

use leptos::prelude::*;
use shared::report::{ReportTable, TableColumnKind};

use super::term::{GlossaryTerm, Term, explains, text_with_terms};

/// Renders columns, rows and notes of a table; a wide one scrolls by itself.
#[component]
pub(crate) fn ReportTableView(
    /// The table to show.
    table: ReportTable,
) -> impl IntoView {
    let kinds: Vec<TableColumnKind> = table.columns.iter().map(|it| it.kind).collect();
    let heads = table.columns.into_iter().map(|it| {
        let term = GlossaryTerm::of_measure(&it.name);
        let heading = match it.kind {
            TableColumnKind::Text => ColumnHeading::for_text_column(it.name),
            TableColumnKind::Number | TableColumnKind::Estimate => {
                ColumnHeading::for_number_column(it.name)
            }
        };
        ColumnHeading { term, ..heading }
    });
    let heads: Vec<ColumnHeading> = heads.collect();
    let rows = table.rows.into_iter().map(|row| {
        let cells = row
            .into_iter()
            .zip(&kinds)
            .enumerate()
            .map(|(at, (value, kind))| {
                let (shown, class) = (value.display_text(), class(*kind));
                if at == 0 {
                    // Without a stop of the Tab key, since tables are long.
                    let term = GlossaryTerm::of_axiom_name(&shown);
                    view! {
                        <th
                            scope="row"
                            class=class
                            aria-description=term.map(GlossaryTerm::definition)
                            {..explains(term)}
                        >
                            <span class:term=term.is_some()>{shown}</span>
                        </th>
                    }
                    .into_any()
                } else {
                    view! { <td class=class>{shown}</td> }.into_any()
                }
            });
        let cells = cells.collect_view();
        view! { <tr>{cells}</tr> }
    });
    let rows = rows.collect_view();
    let notes = table
        .notes
        .into_iter()
        .map(|it| view! { <li>{text_with_terms(&it)}</li> })
        .collect_view();
    view! {
        <HeadedTable name=table.title class="data" heads scrolls=true>{rows}</HeadedTable>
        <ul class="note notes">{notes}</ul>
    }
}

fn class(kind: TableColumnKind) -> &'static str {
    match kind {
        TableColumnKind::Text => "",
        TableColumnKind::Number | TableColumnKind::Estimate => "num",
    }
}

/// The heading of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ColumnHeading {
    name: String,
    kind: ColumnHeadingKind,
    term: Option<GlossaryTerm>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ColumnHeadingKind {
    Text,
    Number,
    /// The heading is only for screen readers.
    Hidden,
}

impl ColumnHeading {
    /// Creates the heading of a text column.
    pub(crate) fn for_text_column(name: impl Into<String>) -> ColumnHeading {
        ColumnHeading::with_kind(name.into(), ColumnHeadingKind::Text)
    }

    /// Creates the heading of a numeric column.
    pub(crate) fn for_number_column(name: impl Into<String>) -> ColumnHeading {
        ColumnHeading::with_kind(name.into(), ColumnHeadingKind::Number)
    }

    /// Creates a heading that only screen readers announce.
    pub(crate) fn screen_reader_only(name: impl Into<String>) -> ColumnHeading {
        ColumnHeading::with_kind(name.into(), ColumnHeadingKind::Hidden)
    }

    /// Returns the heading as one that explains a term.
    pub(crate) fn explaining(self, term: GlossaryTerm) -> ColumnHeading {
        let term = Some(term);
        ColumnHeading { term, ..self }
    }

    fn with_kind(name: String, kind: ColumnHeadingKind) -> ColumnHeading {
        let term = None;
        ColumnHeading { name, kind, term }
    }
}

/// Renders a table with its column headings.
#[component]
pub(crate) fn HeadedTable(
    /// The name of the table.
    #[prop(into)]
    name: String,
    /// A longer caption than the name.
    #[prop(optional)]
    caption: Option<&'static str>,
    /// The class of the table.
    class: &'static str,
    /// The column headings, from the left.
    #[prop(into)]
    heads: Vec<ColumnHeading>,
    /// Whether a wide table scrolls by itself.
    #[prop(optional)]
    scrolls: bool,
    /// The rows of the table.
    children: Children,
) -> impl IntoView {
    let heads = heads.into_iter().map(|ColumnHeading { name, kind, term }| {
        let name = match term {
            Some(of) => view! { <Term of>{name}</Term> }.into_any(),
            None => name.into_any(),
        };
        match kind {
            ColumnHeadingKind::Text => view! { <th scope="col">{name}</th> }.into_any(),
            ColumnHeadingKind::Number => {
                view! { <th scope="col" class="num">{name}</th> }.into_any()
            }
            ColumnHeadingKind::Hidden => {
                view! { <th scope="col"><span class="unseen">{name}</span></th> }.into_any()
            }
        }
    });
    let heads = heads.collect_view();
    let caption = caption.map_or_else(|| name.clone(), str::to_owned);
    let table = view! {
        <table class=class>
            <caption class="unseen">{caption}</caption>
            <thead>
                <tr>{heads}</tr>
            </thead>
            <tbody>{children()}</tbody>
        </table>
    };
    match scrolls {
        true => view! {
            <div class="scrolls" role="group" tabindex="0" aria-label=name>
                {table}
            </div>
        }
        .into_any(),
        false => table.into_any(),
    }
}
