//! Tables for LaTeX, with the rules of the package `booktabs`.

use std::fmt::Write;

use super::markup::collapse_to_one_line;
use super::{ReportTable, TableColumnKind};

/// Formats every table as a float, for a document that loads `booktabs`. Letters outside of Latin
/// need an engine that supports them (XeLaTeX, LuaLaTeX).
pub fn tables_to_latex(tables: &[ReportTable]) -> String {
    let mut out = "% \\usepackage{booktabs}\n".to_owned();
    for table in tables {
        write_table(&mut out, table).expect("a String takes every write");
    }
    out
}

fn write_table(out: &mut String, table: &ReportTable) -> std::fmt::Result {
    let places: String = table.columns.iter().map(|it| place(it.kind)).collect();
    writeln!(
        out,
        "\\begin{{table}}\n\\centering\n\\caption{{{}}}",
        escape(&table.title)
    )?;
    writeln!(out, "\\begin{{tabular}}{{{places}}}\n\\toprule")?;
    let names: Vec<String> = table.columns.iter().map(|it| escape(&it.name)).collect();
    writeln!(out, "{} \\\\\n\\midrule", names.join(" & "))?;
    for row in &table.rows {
        let cells: Vec<String> = row.iter().map(|it| escape(&it.display_text())).collect();
        writeln!(out, "{} \\\\", cells.join(" & "))?;
    }
    writeln!(out, "\\bottomrule\n\\end{{tabular}}")?;
    for note in &table.notes {
        writeln!(
            out,
            "\n{{\\footnotesize\\raggedright {}\\par}}",
            escape(note)
        )?;
    }
    writeln!(out, "\\end{{table}}")
}

fn place(kind: TableColumnKind) -> char {
    match kind {
        TableColumnKind::Text => 'l',
        TableColumnKind::Number | TableColumnKind::Estimate => 'r',
    }
}

fn escape(text: &str) -> String {
    let mut out = String::new();
    for char in collapse_to_one_line(text).chars() {
        match char {
            '\\' => out.push_str("\\textbackslash{}"),
            '{' | '}' | '$' | '&' | '#' | '_' | '%' => {
                out.push('\\');
                out.push(char);
            }
            '~' => out.push_str("\\textasciitilde{}"),
            '^' => out.push_str("\\textasciicircum{}"),
            '<' => out.push_str("\\textless{}"),
            '>' => out.push_str("\\textgreater{}"),
            '|' => out.push_str("\\textbar{}"),
            '"' => out.push_str("''"),
            // After the \\ of the row before, these characters would be read as its arguments.
            '[' | ']' | '*' => {
                out.push('{');
                out.push(char);
                out.push('}');
            }
            // Two hyphens would become a dash, and two of the others a quotation mark.
            '-' | '`' | '\'' if out.ends_with(char) => {
                out.push_str("{}");
                out.push(char);
            }
            '−' => out.push_str("$-$"),
            '–' => out.push_str("--"),
            '—' => out.push_str("---"),
            '…' => out.push_str("\\ldots{}"),
            '\u{a0}' => out.push('~'),
            '≤' => out.push_str("$\\leq$"),
            '≥' => out.push_str("$\\geq$"),
            '×' => out.push_str("$\\times$"),
            '±' => out.push_str("$\\pm$"),
            '∞' => out.push_str("$\\infty$"),
            'δ' => out.push_str("$\\delta$"),
            'λ' => out.push_str("$\\lambda$"),
            'μ' | 'µ' => out.push_str("$\\mu$"),
            '�' => out.push('?'),
            _ => out.push(char),
        }
    }
    out
}
