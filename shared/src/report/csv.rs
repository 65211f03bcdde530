//! A table as comma-separated values (RFC 4180), for programs.

use super::{ReportTable, TableColumnHeader, TableColumnKind, TableValue};

/// Formats header and rows, with lines that end in CR LF. Numbers keep every digit and have no
/// separators; a missing value is an empty field. A column of estimates becomes three: the name,
/// `… low` and `… high`.
///
/// A spreadsheet would run a text that begins with `=`, `+`, `-`, `@`, a tab or a line break as a
/// formula. Such a text gets a leading apostrophe (OWASP, *CSV Injection*), which a program that
/// reads the file has to remove.
pub fn table_to_csv(table: &ReportTable) -> String {
    let mut out = String::new();
    line(&mut out, table.columns.iter().flat_map(header));
    for row in &table.rows {
        let cells = table.columns.iter().zip(row);
        line(
            &mut out,
            cells.flat_map(|(column, value)| fields(column.kind, value)),
        );
    }
    out
}

fn line(out: &mut String, fields: impl Iterator<Item = String>) {
    let fields: Vec<String> = fields.collect();
    out.push_str(&fields.join(","));
    out.push_str("\r\n");
}

fn header(column: &TableColumnHeader) -> Vec<String> {
    let name = &column.name;
    match column.kind {
        TableColumnKind::Text | TableColumnKind::Number => vec![text(name)],
        TableColumnKind::Estimate => {
            vec![
                text(name),
                text(&format!("{name} low")),
                text(&format!("{name} high")),
            ]
        }
    }
}

fn fields(kind: TableColumnKind, value: &TableValue) -> Vec<String> {
    let (first, bounds) = match value {
        TableValue::Text(it) => (text(it), None),
        TableValue::Count(it) => (it.to_string(), None),
        TableValue::Fraction(it)
        | TableValue::Difference(it)
        | TableValue::PValue(it)
        | TableValue::Magnitude(it) => (number(*it), None),
        TableValue::PreciseDifference { value, .. } | TableValue::Score { value, .. } => {
            (number(*value), None)
        }
        TableValue::Estimate(it) => (number(it.value), Some(it.interval)),
        TableValue::Interval(bounds) => (String::new(), Some(*bounds)),
        TableValue::Missing => (String::new(), None),
    };
    match (kind, bounds) {
        (TableColumnKind::Text | TableColumnKind::Number, _) => vec![first],
        (TableColumnKind::Estimate, Some([low, high])) => vec![first, number(low), number(high)],
        (TableColumnKind::Estimate, None) => vec![first, String::new(), String::new()],
    }
}

fn number(value: f64) -> String {
    // Adding 0 turns −0 into 0.
    (value + 0.0).to_string()
}

fn text(text: &str) -> String {
    let formula = text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']);
    let text = if formula {
        format!("'{text}")
    } else {
        text.to_owned()
    };
    if text.contains([',', '"', '\r', '\n']) {
        return format!("\"{}\"", text.replace('"', "\"\""));
    }
    text
}
