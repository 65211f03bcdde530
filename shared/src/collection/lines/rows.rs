//! Rows of files: checks of ids and texts, and the report on warnings and rejected rows.

use std::io::Read;

use super::{FileLine, FileSizeLimits, LineReader};
use crate::collection::FileInput;
use crate::error::{Error, FileReadReport};
use crate::interner::StringInterner;

/// The warnings about an accepted row.
pub(crate) type AcceptedRowWarnings = Vec<String>;

/// Reads a file with one row per line: passes every line that is not blank to `row`, which accepts
/// it or returns why not, and returns the report.
pub(crate) fn feed_nonblank_lines_to_parser(
    file: FileInput<'_, impl Read>,
    mut row: impl FnMut(u64, &str) -> Result<AcceptedRowWarnings, String>,
) -> Result<FileReadReport, Error> {
    let name = file.name;
    let mut reading = FileReadReport::default();
    let mut lines = LineReader::open(file, FileSizeLimits::FILES)?;
    while let Some(FileLine { number: line, text }) = lines.next_line()? {
        if text.as_ref().is_ok_and(|it| it.trim_ascii().is_empty()) {
            continue;
        }
        match text.and_then(|it| row(line, it)) {
            Ok(warnings) => {
                reading.n_rows += 1;
                if !warnings.is_empty() {
                    reading.warn_row(name, line, warnings.join("; "));
                }
            }
            Err(reason) => reading.refuse_row(name, line, reason),
        }
    }
    Ok(reading)
}

/// The line in which each id first occurs.
#[derive(Default)]
pub(crate) struct IdFirstOccurrences {
    ids: StringInterner,
    /// The line of each id, in the order of the numbers of the ids.
    lines: Vec<u64>,
}

impl IdFirstOccurrences {
    /// Adds an id; if it is known, returns the line where it first occurs as the error.
    pub(crate) fn insert(&mut self, id: &str, line: u64) -> Result<(), u64> {
        let number = self.ids.insert(id) as usize;
        match self.lines.get(number) {
            Some(&first) => Err(first),
            None => {
                self.lines.push(line);
                Ok(())
            }
        }
    }

    /// Adds the id of a row that is otherwise valid, or returns why the id is not allowed.
    pub(crate) fn validate_and_insert_id(&mut self, id: &str, line: u64) -> Result<(), String> {
        validate_record_id(id)?;
        self.insert(id, line).map_err(|first| {
            format!(
                "the id {} is already used in line {first}; the first row is kept",
                quote_text(id)
            )
        })
    }
}

/// The longest id, in bytes. Ids are used in URLs, tables and every line of a run.
pub(crate) const ID_BYTES: usize = 512;

/// Checks whether a text can be the id of a query or a document, and returns why not.
///
/// Runs and qrels are split at white space, so an id has none. Ids that look the same must be the
/// same, so an id has no control characters.
pub(crate) fn validate_record_id(id: &str) -> Result<(), String> {
    if id.is_empty() {
        return Err("the id is empty".to_owned());
    }
    if id.len() > ID_BYTES {
        let n_bytes = id.len();
        return Err(format!(
            "the id {} has {n_bytes} bytes; at most {ID_BYTES} are allowed",
            quote_text(id)
        ));
    }
    let kind = |it: char| match it {
        it if it.is_whitespace() => Some("whitespace"),
        it if it.is_control() => Some("a control character"),
        it if is_bidi_control(it) => Some("a bidirectional control character"),
        _ => None,
    };
    match id.chars().find_map(|it| Some((it, kind(it)?))) {
        None => Ok(()),
        Some((it, kind)) => Err(format!(
            "the id {} contains {kind} (U+{:04X}); remove it",
            quote_text(id),
            it as u32
        )),
    }
}

/// Warns about unusual content of a document. An empty one is kept: it has length 0 and is counted.
pub(crate) fn warn_about_document(title: &str, text: &str, warnings: &mut AcceptedRowWarnings) {
    check_text("title", title, warnings);
    check_text("text", text, warnings);
    if title.trim().is_empty() && text.trim().is_empty() {
        warnings.push("the document is empty".to_owned());
    }
}

/// Rejects an empty query and warns about unusual content.
pub(crate) fn validate_query_text(
    text: &str,
    warnings: &mut AcceptedRowWarnings,
) -> Result<(), String> {
    if text.trim().is_empty() {
        return Err("the query is empty".to_owned());
    }
    check_text("text", text, warnings);
    Ok(())
}

/// Warns about characters that are kept in a text, but are hardly intended.
fn check_text(field: &str, text: &str, warnings: &mut AcceptedRowWarnings) {
    // All bidirectional controls start with 0xD8 or 0xE2 in UTF-8; most texts have neither.
    if !text.bytes().any(|it| matches!(it, 0 | 0xD8 | 0xE2)) {
        return;
    }
    if text.contains('\0') {
        warnings.push(format!(
            "the {field} contains NUL characters; they are kept"
        ));
    }
    if let Some(it) = text.chars().find(|&it| is_bidi_control(it)) {
        warnings.push(format!(
            "the {field} contains bidirectional control characters (U+{:04X}); they are kept \
             and the displayed text may differ from the analyzed text",
            it as u32
        ));
    }
}

/// Returns the error of a row with a wrong number of columns.
pub(crate) fn column_count_error(n_columns: usize, expected: &str) -> String {
    let columns = if n_columns == 1 { "column" } else { "columns" };
    format!("{n_columns} {columns}; expected {expected}")
}

/// Quotes a text for a message: in backticks, shortened, with control characters escaped.
pub(crate) fn quote_text(text: &str) -> String {
    const SHOWN: usize = 40;
    let mut shown = String::new();
    for it in text.chars().take(SHOWN) {
        if it.is_control() || is_bidi_control(it) {
            shown.extend(it.escape_unicode());
        } else {
            shown.push(it);
        }
    }
    let cut = if text.chars().nth(SHOWN).is_some() {
        "…"
    } else {
        ""
    };
    format!("`{shown}{cut}`")
}

/// The `Bidi_Control` characters of Unicode.
fn is_bidi_control(it: char) -> bool {
    matches!(
        it,
        '\u{61C}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}'
    ) || matches!(it, '\u{2066}'..='\u{2069}')
}
