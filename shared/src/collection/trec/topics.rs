//! TREC topics, in the markup of TREC or as a table.
//!
//! ```text
//! <top>                                       301<TAB>International Organized Crime
//! <num> Number: 301
//! <title> International Organized Crime
//! <desc> Description: …
//! </top>
//! ```
//! The markup is not SGML: fields are seldom closed and nothing is escaped. So only the tags that
//! TREC has used are tags, and any other `<` is text.

#[cfg(test)]
mod tests;

use std::io::Read;

use crate::collection::lines::rows::{
    AcceptedRowWarnings, IdFirstOccurrences, validate_query_text,
};
use crate::collection::lines::{FileLine, FileSizeLimits, LineReader};
use crate::collection::{FileInput, FileRowsAndReportResult, Query};
use crate::error::FileReadReport;

/// Reads topics in either format, detected from the first line; in markup the title is the query.
/// Empty queries are rejected; of two with the same id the first is kept.
pub fn read_trec_topics(file: FileInput<'_, impl Read>) -> FileRowsAndReportResult<Query> {
    let name = file.name;
    let mut taken = ParsedTopics::default();
    let (mut layout, mut open) = (None, None);
    let mut lines = LineReader::open(file, FileSizeLimits::FILES)?;
    while let Some(FileLine { number: line, text }) = lines.next_line()? {
        let text = match text {
            Ok(text) if text.trim_ascii().is_empty() => continue,
            Ok(text) => text,
            Err(reason) => {
                taken.reading.refuse_row(name, line, reason);
                continue;
            }
        };
        match layout.get_or_insert_with(|| Layout::of(text)) {
            Layout::Table => taken.take(name, line, columns(text)),
            Layout::Marked => pieces(text, |piece| match piece {
                Piece::Tag("top" | "/top") => taken.take_topic(name, open.take()),
                Piece::Tag(tag) => {
                    open.get_or_insert_with(|| Topic::at(line)).part = Part::of(tag);
                }
                Piece::Text(text) => {
                    if let Some(topic) = &mut open {
                        topic.push(text);
                    }
                }
            }),
        }
    }
    taken.take_topic(name, open);
    Ok((taken.queries, taken.reading))
}

/// The topics parsed so far, with the report on rejected ones.
#[derive(Default)]
struct ParsedTopics {
    queries: Vec<Query>,
    seen: IdFirstOccurrences,
    reading: FileReadReport,
}

impl ParsedTopics {
    /// Adds a query if the id and the text are valid.
    fn take(&mut self, name: &str, line: u64, row: Result<(&str, &str), String>) {
        let mut warnings = AcceptedRowWarnings::new();
        let query = row.and_then(|(id, text)| {
            validate_query_text(text, &mut warnings)?;
            self.seen.validate_and_insert_id(id, line)?;
            Ok(Query {
                id: id.to_owned(),
                text: text.to_owned(),
                group: None,
                split: None,
            })
        });
        match query {
            Ok(query) => self.queries.push(query),
            Err(reason) => return self.reading.refuse_row(name, line, reason),
        }
        self.reading.n_rows += 1;
        if !warnings.is_empty() {
            self.reading.warn_row(name, line, warnings.join("; "));
        }
    }

    fn take_topic(&mut self, name: &str, topic: Option<Topic>) {
        let Some(Topic {
            line,
            number,
            title,
            ..
        }) = topic
        else {
            return;
        };
        // TREC writes `<num> Number: 301` and, in early years, `<title> Topic: Airbus Subsidies`.
        let id = number.strip_prefix("Number:").unwrap_or(&number).trim();
        let text = title.strip_prefix("Topic:").unwrap_or(&title).trim();
        self.take(name, line, Ok((id, text)));
    }
}

enum Layout {
    Marked,
    Table,
}

impl Layout {
    fn of(first_line: &str) -> Layout {
        match next_tag(first_line) {
            Some((before, ..)) if before.trim().is_empty() => Layout::Marked,
            Some(_) | None => Layout::Table,
        }
    }
}

fn columns(row: &str) -> Result<(&str, &str), String> {
    row.split_once('\t')
        .ok_or_else(|| "no tab: a row is a query's id, a tab and its text".to_owned())
}

/// A topic that has not been read completely.
struct Topic {
    line: u64,
    number: String,
    title: String,
    part: Part,
}

enum Part {
    Number,
    Title,
    /// The description and other fields, which are not used.
    Other,
}

impl Topic {
    fn at(line: u64) -> Topic {
        Topic {
            line,
            number: String::new(),
            title: String::new(),
            part: Part::Other,
        }
    }

    /// Appends a text to the open field, with single spaces between words.
    fn push(&mut self, text: &str) {
        let part = match self.part {
            Part::Number => &mut self.number,
            Part::Title => &mut self.title,
            Part::Other => return,
        };
        for word in text.split_whitespace() {
            if !part.is_empty() {
                part.push(' ');
            }
            part.push_str(word);
        }
    }
}

impl Part {
    fn of(tag: &str) -> Part {
        match tag {
            "num" => Part::Number,
            "title" => Part::Title,
            _ => Part::Other,
        }
    }
}

enum Piece<'a> {
    Tag(&'a str),
    Text(&'a str),
}

/// Calls `with` for every tag of a line and every text between tags.
fn pieces(mut text: &str, mut with: impl FnMut(Piece<'_>)) {
    while let Some((before, tag, after)) = next_tag(text) {
        with(Piece::Text(before));
        with(Piece::Tag(tag));
        text = after;
    }
    with(Piece::Text(text));
}

/// Returns the text before the first TREC tag, the tag and the rest.
fn next_tag(text: &str) -> Option<(&str, &'static str, &str)> {
    const TAGS: &[&str] = &[
        "top", "/top", "head", "/head", "num", "/num", "dom", "/dom", "title", "/title", "desc",
        "/desc", "smry", "/smry", "narr", "/narr", "con", "/con", "fac", "/fac", "nat", "/nat",
        "def", "/def",
    ];
    text.match_indices('<').find_map(|(at, _)| {
        let inside = &text[at + 1..];
        TAGS.iter().find_map(|tag| {
            let after = inside.strip_prefix(tag)?.strip_prefix('>')?;
            Some((&text[..at], *tag, after))
        })
    })
}
