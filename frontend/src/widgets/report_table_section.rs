//! A table of a report as a section of a page, with its export.

use leptos::prelude::*;
use shared::report::{self, ReportTable};

use super::download;
use super::export_buttons::FigureExportButtons;
use super::table::ReportTableView;

/// Renders a table with its title and a button that saves it as CSV.
#[component]
pub(crate) fn ReportTableSection(
    /// The table; its name is the id of the heading and the name of the file.
    table: ReportTable,
    /// What the name of the file begins with.
    #[prop(default = "")]
    file_prefix: &'static str,
) -> impl IntoView {
    let id = table.name.clone();
    let title = table.title.clone();
    let csv = {
        let table = table.clone();
        Callback::new(move |()| {
            let name = format!("{file_prefix}{}.csv", table.name);
            download::offer_text_download(&name, "text/csv", &report::table_to_csv(&table));
        })
    };
    view! {
        <section class="section lines" aria-labelledby=id.clone()>
            <header>
                <h2 id=id.clone()>{title.clone()}</h2>
                <FigureExportButtons of=title csv/>
            </header>
            <ReportTableView table/>
        </section>
    }
}
