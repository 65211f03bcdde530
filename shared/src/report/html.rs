//! A report as one self-contained HTML page.

use std::fmt::Write;

use super::markup::escape_markup;
use super::{ReportTable, TableColumnKind};

/// Returns the page, with figures first, then tables. `figures` come from
/// [`crate::plot::figure_to_svg`] and are inserted without escaping.
pub fn report_to_html(title: &str, figures: &[String], tables: &[ReportTable]) -> String {
    let mut out = String::new();
    write_page(&mut out, title, figures, tables).expect("a String takes every write");
    out
}

/// A content security policy under which nothing is loaded or run, whatever the texts contain.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'";

const STYLE: &str = "\
:root { color-scheme: light dark; }
body { max-width: 1200px; margin: 32px auto; padding: 0 16px; \
background: light-dark(#ffffff, #16171a); color: light-dark(#1b1c1e, #ecebe7); \
font: 14px/1.45 system-ui, sans-serif; font-variant-numeric: tabular-nums; }
h1 { font: 600 30px/1.2 Charter, Georgia, serif; }
figure { margin: 24px 0; overflow-x: auto; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; margin-top: 32px; }
caption { text-align: left; font-weight: 600; padding-bottom: 8px; }
th, td { padding: 4px 12px 4px 0; text-align: left; font-weight: 400; \
border-bottom: 1px solid light-dark(#e3e1db, #303338); }
thead th { font-size: 12px; border-color: light-dark(#8a8880, #71757c); }
.num { text-align: right; white-space: nowrap; }
ul { padding: 0; list-style: none; font-size: 13px; overflow-wrap: anywhere; \
color: light-dark(#55585e, #b3b5b9); }
";

fn write_page(
    out: &mut String,
    title: &str,
    figures: &[String],
    tables: &[ReportTable],
) -> std::fmt::Result {
    let title = escape_markup(title);
    writeln!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">"
    )?;
    writeln!(
        out,
        "<meta name=\"viewport\" content=\"width=device-width\">"
    )?;
    writeln!(
        out,
        "<meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">"
    )?;
    writeln!(
        out,
        "<title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>"
    )?;
    writeln!(out, "<h1>{title}</h1>")?;
    for figure in figures {
        writeln!(out, "<figure>\n{figure}</figure>")?;
    }
    for table in tables {
        write_table(out, table)?;
    }
    writeln!(out, "</body>\n</html>")
}

/// Returns a table as an element, with its notes below it.
pub fn table_to_html(table: &ReportTable) -> String {
    let mut out = String::new();
    write_table(&mut out, table).expect("a String takes every write");
    out
}

fn write_table(out: &mut String, table: &ReportTable) -> std::fmt::Result {
    writeln!(out, "<div class=\"scroll\"><table>")?;
    writeln!(
        out,
        "<caption>{}</caption>\n<thead><tr>",
        escape_markup(&table.title)
    )?;
    for column in &table.columns {
        writeln!(
            out,
            "<th scope=\"col\"{}>{}</th>",
            class(column.kind),
            escape_markup(&column.name)
        )?;
    }
    writeln!(out, "</tr></thead>\n<tbody>")?;
    for row in &table.rows {
        out.push_str("<tr>");
        for (at, (column, value)) in table.columns.iter().zip(row).enumerate() {
            let tag = if at == 0 { "th scope=\"row\"" } else { "td" };
            let end = &tag[..2];
            write!(
                out,
                "<{tag}{}>{}</{end}>",
                class(column.kind),
                escape_markup(&value.display_text())
            )?;
        }
        out.push_str("</tr>\n");
    }
    writeln!(out, "</tbody>\n</table></div>")?;
    if table.notes.is_empty() {
        return Ok(());
    }
    writeln!(out, "<ul>")?;
    for note in &table.notes {
        writeln!(out, "<li>{}</li>", escape_markup(note))?;
    }
    writeln!(out, "</ul>")
}

fn class(kind: TableColumnKind) -> &'static str {
    match kind {
        TableColumnKind::Text => "",
        TableColumnKind::Number | TableColumnKind::Estimate => " class=\"num\"",
    }
}
