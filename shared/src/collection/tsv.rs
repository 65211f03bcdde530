//! Collections in tables: the tab-separated files of MS MARCO, and plain text.

#[cfg(test)]
mod tests;

use std::io::Read;

use super::lines::rows::{
    AcceptedRowWarnings, IdFirstOccurrences, column_count_error, feed_nonblank_lines_to_parser,
    validate_record_id, warn_about_document,
};
use super::{Document, DocumentFields, SplitsByQueryId};
use crate::collection::{FileContentAndReportResult, FileInput, FileRowsAndReportResult};
use crate::error::{Error, FileReadReport};

/// Reads `pid<TAB>passage`, as in MS MARCO's `collection.tsv`. Empty passages are kept with a
/// warning.
pub fn read_msmarco_passages(file: FileInput<'_, impl Read>) -> FileRowsAndReportResult<Document> {
    read_docs(file, |_, row| {
        let (id, text) = row
            .split_once('\t')
            .ok_or_else(|| "no tab: a row is a passage's id, a tab and the passage".to_owned())?;
        Ok(doc(id, "", text))
    })
}

/// Reads `docid<TAB>url<TAB>title<TAB>body`, as in MS MARCO's `msmarco-docs.tsv`; the URL is
/// ignored. Empty documents are kept with a warning.
pub fn read_msmarco_documents(file: FileInput<'_, impl Read>) -> FileRowsAndReportResult<Document> {
    read_docs(file, |_, row| {
        let columns: Vec<&str> = row.splitn(4, '\t').collect();
        match columns[..] {
            [id, _url, title, body] => Ok(doc(id, title, body)),
            _ => Err(column_count_error(
                columns.len(),
                "4: a document's id, URL, title and body, separated by tabs",
            )),
        }
    })
}

/// Reads plain text: every line that is not blank is a passage, with the line number as its id.
pub fn read_one_passage_per_line(
    file: FileInput<'_, impl Read>,
) -> FileRowsAndReportResult<Document> {
    read_docs(file, |line, row| Ok(doc(&line.to_string(), "", row)))
}

/// Reads `qid<TAB>split`: `train`, `dev`, `test` or any other word. Of two rows for the same query
/// the first is kept.
pub fn read_query_splits(
    file: FileInput<'_, impl Read>,
) -> FileContentAndReportResult<SplitsByQueryId> {
    let (mut splits, mut seen) = (SplitsByQueryId::new(), IdFirstOccurrences::default());
    let reading = feed_nonblank_lines_to_parser(file, |line, row| {
        let mut words = row.split_ascii_whitespace();
        let (Some(query), Some(split), None) = (words.next(), words.next(), words.next()) else {
            return Err("a row is a query's id, a tab and the name of its split".to_owned());
        };
        validate_record_id(split)?;
        seen.validate_and_insert_id(query, line)?;
        splits.insert(query.to_owned(), split.to_owned());
        Ok(AcceptedRowWarnings::new())
    })?;
    Ok((splits, reading))
}

fn doc(id: &str, title: &str, text: &str) -> Document {
    Document::from(DocumentFields {
        id: id.into(),
        title: title.into(),
        text: text.into(),
        group: None,
    })
}

fn read_docs(
    file: FileInput<'_, impl Read>,
    mut columns: impl FnMut(u64, &str) -> Result<Document, String>,
) -> Result<(Vec<Document>, FileReadReport), Error> {
    let (mut docs, mut seen) = (Vec::new(), IdFirstOccurrences::default());
    let reading = feed_nonblank_lines_to_parser(file, |line, row| {
        let doc = columns(line, row)?;
        let mut warnings = AcceptedRowWarnings::new();
        warn_about_document(doc.title(), doc.text(), &mut warnings);
        seen.validate_and_insert_id(doc.id(), line)?;
        docs.push(doc);
        Ok(warnings)
    })?;
    Ok((docs, reading))
}
