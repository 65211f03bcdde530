//! Pairs of documents, one JSON object per line.
//!
//! Rows are distinguished by their fields:
//!
//! - `{"_id", "a", "b"}`, optionally with a `query`: `a` is the preferred text, if one is
//!   preferred. A row of a paraphrase corpus has `paraphrase`, 1 or 0; rows with 0 are ignored.
//! - `{"_id", "src", "refs": ["…", …]}`: a sentence and its corrections, as in JFLEG (Napoles,
//!   Sakaguchi and Tetreault, EACL 2017). Each correction gives a pair in which it is preferred.
//!
//! Both may have a `group`: pairs of one group are one unit of the bootstrap, and the corrections
//! of one sentence are a group. Other fields are ignored, as in the files of a collection;
//! `doc_group`, which only collections have, is ignored with a warning. `expansions.jsonl`, which
//! `axioscope expand` writes, is read here too. The conversion of datasets into such rows is in
//! [`layouts`].

pub mod layouts;

use std::io::Read;

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::lines::rows::{
    AcceptedRowWarnings, IdFirstOccurrences, feed_nonblank_lines_to_parser, quote_text,
    validate_record_id,
};
use crate::collection::{FileInput, FileRowsAndReportResult};
use crate::error::Error;

/// A pair of texts of a dataset-transfer test, the preferred one first. It is also a row of
/// `transfer` files, with the keys `_id`, `query`, `a`, `b` and `group`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DatasetTransferPair {
    /// The id, unique in its file.
    #[serde(rename = "_id")]
    pub id: String,
    /// A query, question or title that belongs to the pair.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// The preferred text, if one is preferred.
    pub a: String,
    /// The other text.
    pub b: String,
    /// The group; rows of one group, such as several corrections of one sentence, are one unit of
    /// the bootstrap.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
}

/// A row of any of these kinds.
#[derive(Deserialize)]
struct Row {
    #[serde(rename = "_id")]
    id: String,
    query: Option<String>,
    a: Option<String>,
    b: Option<String>,
    group: Option<String>,
    doc_group: Option<IgnoredAny>,
    paraphrase: Option<u8>,
    src: Option<String>,
    refs: Option<Vec<String>>,
}

/// Reads dataset-transfer pairs. Of two rows with the same id the first is kept.
pub fn read_dataset_transfer_pairs(
    file: FileInput<'_, impl Read>,
) -> FileRowsAndReportResult<DatasetTransferPair> {
    let (mut pairs, mut seen) = (Vec::new(), IdFirstOccurrences::default());
    let reading = feed_nonblank_lines_to_parser(file, |line, text| {
        let expected = r#"a row is one JSON object, as in {"_id": "7", "a": "…", "b": "…"}"#;
        let mut row: Row = serde_json::from_str(text).map_err(|it| format!("{it}; {expected}"))?;
        validate_record_id(&row.id)?;
        seen.validate_and_insert_id(&row.id, line)?;
        let filled = |field: &str, text: String| match text.trim().is_empty() {
            true => Err(format!("{} is empty", quote_text(field))),
            false => Ok(text),
        };
        let group = row.group.take().filter(|it| !it.trim().is_empty());
        let mut warnings = AcceptedRowWarnings::new();
        if row.doc_group.is_some() {
            let way_out = "give pairs from the same source the same `group`";
            warnings.push(format!("`doc_group` is ignored: {way_out}"));
        }
        match row {
            Row {
                a: Some(a),
                b: Some(b),
                ..
            } => {
                let pair = DatasetTransferPair {
                    id: row.id,
                    query: row.query,
                    a: filled("a", a)?,
                    b: filled("b", b)?,
                    group,
                };
                if row.paraphrase != Some(0) {
                    pairs.push(pair);
                }
            }
            Row {
                src: Some(src),
                refs: Some(refs),
                ..
            } => {
                let src = filled("src", src)?;
                let group = group.unwrap_or_else(|| row.id.clone());
                for (fluent, number) in refs.into_iter().zip(0..) {
                    pairs.push(DatasetTransferPair {
                        id: format!("{}:{number}", row.id),
                        query: None,
                        a: filled("refs", fluent)?,
                        b: src.clone(),
                        group: Some(group.clone()),
                    });
                }
            }
            _ => {
                return Err(format!(
                    "lacks `a` and `b`, or `src` and `refs`: {expected}"
                ));
            }
        }
        Ok(warnings)
    })?;
    Ok((pairs, reading))
}

/// Reads generated queries, with the id of the document that they were generated for.
pub fn read_generated_queries(name: &str, text: &str) -> Result<Vec<(String, Vec<String>)>, Error> {
    #[derive(Deserialize)]
    struct Row {
        #[serde(rename = "_id")]
        id: String,
        queries: Vec<String>,
    }
    let rows = text
        .lines()
        .enumerate()
        .filter(|it| !it.1.trim().is_empty());
    let read = |(line, row): (usize, &str)| {
        let row: Row = serde_json::from_str(row).map_err(|it| Error::Line {
            file: name.to_owned(),
            line: line as u64 + 1,
            reason: it.to_string(),
        })?;
        Ok((row.id, row.queries))
    };
    rows.map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_each_kind_are_pairs() {
        let file = concat!(
            r#"{"_id": "1", "query": "q", "a": "good", "b": "bad", "doc_group": "x"}"#,
            "\n",
            r#"{"_id": "2", "paraphrase": 0, "a": "one", "b": "two"}"#,
            "\n",
            r#"{"_id": "3", "paraphrase": 1, "a": "one", "b": "two"}"#,
            "\n",
            r#"{"_id": "4", "src": "it go", "refs": ["it goes", "it went"]}"#,
            "\n",
            r#"{"_id": "4", "a": "x", "b": "y"}"#,
            "\n",
            r#"{"_id": "5", "a": "x"}"#,
            "\n",
            r#"{"_id": "6", "a": " ", "b": "y"}"#,
            "\n",
        );
        let (pairs, reading) =
            read_dataset_transfer_pairs(FileInput::without_progress("p.jsonl", file.as_bytes()))
                .unwrap();
        let ids: Vec<&str> = pairs.iter().map(|it| it.id.as_str()).collect();
        assert_eq!(ids, ["1", "3", "4:0", "4:1"]);
        assert_eq!(
            (pairs[0].query.as_deref(), pairs[3].b.as_str()),
            (Some("q"), "it go")
        );
        let refused: Vec<u64> = reading.refused.iter().map(|it| it.line).collect();
        assert_eq!(refused, [5, 6, 7]);
        let warned: Vec<u64> = reading.warned.iter().map(|it| it.line).collect();
        assert_eq!(warned, [1]);
        let groups: Vec<_> = pairs.iter().map(|it| it.group.as_deref()).collect();
        assert_eq!(groups, [None, None, Some("4"), Some("4")]);
    }

    #[test]
    fn the_sets_of_the_demo_are_read_without_a_word() {
        for file in [
            include_str!("../../../demo/transfer/factuality.jsonl"),
            include_str!("../../../demo/transfer/fluency.jsonl"),
            include_str!("../../../demo/transfer/formality.jsonl"),
            include_str!("../../../demo/transfer/neutrality.jsonl"),
            include_str!("../../../demo/transfer/simplicity.jsonl"),
            include_str!("../../../demo/transfer/summary.jsonl"),
        ] {
            let (pairs, reading) =
                read_dataset_transfer_pairs(FileInput::without_progress("demo", file.as_bytes()))
                    .unwrap();
            assert_eq!(pairs.len(), 64);
            assert_eq!(reading.issues_as_lines(), "");
        }
    }

    #[test]
    fn a_group_is_read_as_it_is_written() {
        let file = concat!(
            r#"{"_id": "1", "a": "good", "b": "bad", "group": "s"}"#,
            "\n",
            r#"{"_id": "2", "src": "it go", "refs": ["it goes"], "group": "t"}"#,
            "\n",
            r#"{"_id": "3", "a": "one", "b": "two", "group": " "}"#,
            "\n",
        );
        let (pairs, _) =
            read_dataset_transfer_pairs(FileInput::without_progress("p.jsonl", file.as_bytes()))
                .unwrap();
        let groups: Vec<_> = pairs.iter().map(|it| it.group.as_deref()).collect();
        assert_eq!(groups, [Some("s"), Some("t"), None]);
        let written = serde_json::to_string(&pairs[0]).unwrap();
        assert_eq!(written, r#"{"_id":"1","a":"good","b":"bad","group":"s"}"#);
    }

    #[test]
    fn expansions_are_by_document() {
        let found =
            read_generated_queries("e", "{\"_id\": \"d\", \"queries\": [\"a b\", \"c\"]}\n")
                .unwrap();
        assert_eq!(
            found,
            [("d".to_owned(), vec!["a b".to_owned(), "c".to_owned()])]
        );
        let error = read_generated_queries("e", "\n{\"_id\": 3}\n")
            .unwrap_err()
            .to_string();
        assert!(error.contains('2'), "{error}");
    }
}
