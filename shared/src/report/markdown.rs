//! Tables in GitHub Flavored Markdown (its specification, section 4.10).

use std::fmt::Write;

use super::markup::collapse_to_one_line;
use super::{ReportTable, TableColumnKind, TableValue};

/// Formats every table with its title as a heading and its notes as a list.
pub fn tables_to_markdown(tables: &[ReportTable]) -> String {
    let mut out = String::new();
    for table in tables {
        if !out.is_empty() {
            out.push('\n');
        }
        write_table(&mut out, table).expect("a String takes every write");
    }
    out
}

fn write_table(out: &mut String, table: &ReportTable) -> std::fmt::Result {
    writeln!(out, "## {}\n", escape(&table.title))?;
    let names: Vec<String> = table.columns.iter().map(|it| escape(&it.name)).collect();
    writeln!(out, "| {} |", names.join(" | "))?;
    let rules: Vec<&str> = table.columns.iter().map(|it| rule(it.kind)).collect();
    writeln!(out, "| {} |", rules.join(" | "))?;
    for row in &table.rows {
        let cells: Vec<String> = row.iter().map(cell).collect();
        writeln!(out, "| {} |", cells.join(" | "))?;
    }
    if !table.notes.is_empty() {
        out.push('\n');
    }
    for note in &table.notes {
        writeln!(out, "- {}", escape(note))?;
    }
    Ok(())
}

fn rule(kind: TableColumnKind) -> &'static str {
    match kind {
        TableColumnKind::Text => ":--",
        TableColumnKind::Number | TableColumnKind::Estimate => "--:",
    }
}

fn cell(value: &TableValue) -> String {
    match value {
        TableValue::Text(text) => escape(text),
        // `[.92, .94]` is not a link, since a report defines none.
        _ => value.display_text().replace('<', "&lt;"),
    }
}

fn escape(text: &str) -> String {
    let mut out = String::new();
    for char in collapse_to_one_line(text).trim().chars() {
        match char {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '$' | '#' | '!' => {
                out.push('\\');
                out.push(char);
            }
            _ => out.push(char),
        }
    }
    out
}
