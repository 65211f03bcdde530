//! A table of `shared::report`, as the page shows it.

use leptos::prelude::*;
use shared::report::{Kind, Table};

/// Columns, rows and notes; wide ones scroll in their own place.
#[component]
pub(crate) fn DataTable(
    /// What stands in it.
    table: Table,
) -> impl IntoView {
    let kinds: Vec<Kind> = table.columns.iter().map(|it| it.kind).collect();
    let heads = table.columns.into_iter();
    let heads = heads.map(|it| view! { <th scope="col" class=class(it.kind)>{it.name}</th> });
    let heads = heads.collect_view();
    let rows = table.rows.into_iter().map(|row| {
        let cells = row
            .into_iter()
            .zip(&kinds)
            .enumerate()
            .map(|(at, (value, kind))| {
                let (shown, class) = (value.shown(), class(*kind));
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
    let label = table.title.clone();
    view! {
        <div class="scrolls" role="region" tabindex="0" aria-label=label>
            <table class="data">
                <caption class="unseen">{table.title}</caption>
                <thead>
                    <tr>{heads}</tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
        </div>
        <ul class="note notes">{notes}</ul>
    }
}

fn class(kind: Kind) -> &'static str {
    match kind {
        Kind::Text => "",
        Kind::Number | Kind::Estimate => "num",
    }
}
