//! A table of `shared::report`, as the page shows it.

use leptos::prelude::*;
use shared::report::{ColumnKind, ReportTable};

/// Columns, rows and notes; wide ones scroll in their own place.
#[component]
pub(crate) fn DataTable(
    /// What stands in it.
    table: ReportTable,
) -> impl IntoView {
    let kinds: Vec<ColumnKind> = table.columns.iter().map(|it| it.kind).collect();
    let heads = table.columns.into_iter().map(|it| match it.kind {
        ColumnKind::Text => ColumnHeading::text(it.name),
        ColumnKind::Number | ColumnKind::Estimate => ColumnHeading::number(it.name),
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
                    view! { <th scope="row" class=class>{shown}</th> }.into_any()
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
        .map(|it| view! { <li>{it}</li> })
        .collect_view();
    view! {
        <HeadedTable name=table.title class="data" heads scrolls=true>{rows}</HeadedTable>
        <ul class="note notes">{notes}</ul>
    }
}

fn class(kind: ColumnKind) -> &'static str {
    match kind {
        ColumnKind::Text => "",
        ColumnKind::Number | ColumnKind::Estimate => "num",
    }
}

/// The head of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ColumnHeading {
    name: String,
    kind: ColumnHeadingKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ColumnHeadingKind {
    Text,
    Number,
    /// Only for those who hear the page.
    Hidden,
}

impl ColumnHeading {
    /// Of a column of words.
    pub(crate) fn text(name: impl Into<String>) -> ColumnHeading {
        let (name, kind) = (name.into(), ColumnHeadingKind::Text);
        ColumnHeading { name, kind }
    }

    /// Of a column of numbers.
    pub(crate) fn number(name: impl Into<String>) -> ColumnHeading {
        let (name, kind) = (name.into(), ColumnHeadingKind::Number);
        ColumnHeading { name, kind }
    }

    /// Of a column that needs no head for those who see it.
    pub(crate) fn hidden(name: impl Into<String>) -> ColumnHeading {
        let (name, kind) = (name.into(), ColumnHeadingKind::Hidden);
        ColumnHeading { name, kind }
    }
}

/// A table with its heads and its rows.
#[component]
pub(crate) fn HeadedTable(
    /// What it shows.
    #[prop(into)]
    name: String,
    /// More of that, in its caption.
    #[prop(optional)]
    caption: Option<&'static str>,
    /// Of the table.
    class: &'static str,
    /// From the left.
    #[prop(into)]
    heads: Vec<ColumnHeading>,
    /// Whether it scrolls in its own place where it is wide.
    #[prop(optional)]
    scrolls: bool,
    /// Its rows.
    children: Children,
) -> impl IntoView {
    let heads = heads
        .into_iter()
        .map(|ColumnHeading { name, kind }| match kind {
            ColumnHeadingKind::Text => view! { <th scope="col">{name}</th> }.into_any(),
            ColumnHeadingKind::Number => {
                view! { <th scope="col" class="num">{name}</th> }.into_any()
            }
            ColumnHeadingKind::Hidden => {
                view! { <th scope="col"><span class="unseen">{name}</span></th> }.into_any()
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
            <div class="scrolls" role="region" tabindex="0" aria-label=name>
                {table}
            </div>
        }
        .into_any(),
        false => table.into_any(),
    }
}
