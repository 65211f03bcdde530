//! The files of WikiPassageQA as they are distributed (Cohen, Yang & Croft, SIGIR 2018).
//!
//! `document_passages.json` is one object of articles, each an object of passages: `{"0": {"0":
//! "…", "1": "…"}}`; passage 1 of article 0 becomes document `0-1` in group `0`. `train.tsv`,
//! `dev.tsv` and `test.tsv` start with the header
//! `QID<TAB>Question<TAB>DocumentID<TAB>DocumentName<TAB>RelevantPassages`; the last column has
//! passage numbers separated by commas.

use std::collections::BTreeMap;
use std::fmt;
use std::io::Read;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, Visitor};

use super::lines::rows::{
    AcceptedRowWarnings, IdFirstOccurrences, feed_nonblank_lines_to_parser, validate_query_text,
    validate_record_id, warn_about_document,
};
use super::lines::{FileSizeLimits, LimitedDecompressedReader};
use super::{Document, DocumentFields, Qrels, Query};
use crate::collection::{FileInput, FileRowsAndReportResult};
use crate::error::{Error, FileReadReport};

/// Reads `document_passages.json`, with passages in the order of the file. An invalid id is an
/// error for the whole file.
pub fn read_wikipassageqa_passages(
    file: FileInput<'_, impl Read>,
) -> FileRowsAndReportResult<Document> {
    let name = file.name;
    let mut articles = Articles {
        docs: Vec::new(),
        seen: IdFirstOccurrences::default(),
        reading: FileReadReport::default(),
        name,
    };
    let mut json = serde_json::Deserializer::from_reader(LimitedDecompressedReader::open(
        file,
        FileSizeLimits::FILES,
    )?);
    let read = articles.deserialize(&mut json).and_then(|()| json.end());
    read.map_err(|error| {
        let expected = r#"expected {"article": {"passage": "text"}}"#;
        Error::unreadable_file(name, format!("{error}: {expected}"))
    })?;
    Ok((articles.docs, articles.reading))
}

/// Reads the questions of one split.
pub fn read_wikipassageqa_questions(
    file: FileInput<'_, impl Read>,
    split: &str,
) -> Result<(Vec<Query>, Qrels, FileReadReport), Error> {
    const COLUMNS: [&str; 4] = ["QID", "Question", "DocumentID", "RelevantPassages"];
    let (mut queries, mut qrels, mut seen) =
        (Vec::new(), Qrels::default(), IdFirstOccurrences::default());
    let mut places: Option<[usize; 4]> = None;
    let mut reading = feed_nonblank_lines_to_parser(file, |line, row| {
        let cells: Vec<&str> = row.split('\t').map(str::trim).collect();
        let Some(places) = places else {
            let place = |column: &str| cells.iter().position(|it| *it == column);
            let found: Option<Vec<usize>> = COLUMNS.iter().map(|it| place(it)).collect();
            let found = found.and_then(|it| <[usize; 4]>::try_from(it).ok());
            places = Some(found.ok_or_else(|| {
                format!("the first row must name the columns {}", COLUMNS.join(", "))
            })?);
            return Ok(AcceptedRowWarnings::new());
        };
        let cell = |at: usize| {
            let found = cells.get(places[at]).copied();
            found.ok_or_else(|| format!("no column {}", COLUMNS[at]))
        };
        let (id, text, article) = (cell(0)?, cell(1)?, cell(2)?);
        let mut warnings = AcceptedRowWarnings::new();
        validate_query_text(text, &mut warnings)?;
        validate_record_id(article)?;
        let mut relevant = BTreeMap::new();
        for passage in cell(3)?
            .split(',')
            .map(str::trim)
            .filter(|it| !it.is_empty())
        {
            validate_record_id(passage)?;
            relevant.insert(format!("{article}-{passage}"), 1);
        }
        seen.validate_and_insert_id(id, line)?;
        queries.push(Query {
            id: id.to_owned(),
            text: text.to_owned(),
            group: Some(article.to_owned()),
            split: Some(split.to_owned()),
        });
        qrels.0.insert(id.to_owned(), relevant);
        Ok(warnings)
    })?;
    // The header is not a question.
    reading.n_rows = queries.len() as u64;
    Ok((queries, qrels, reading))
}

struct Articles<'a> {
    docs: Vec<Document>,
    seen: IdFirstOccurrences,
    reading: FileReadReport,
    name: &'a str,
}

impl<'de> DeserializeSeed<'de> for &mut Articles<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for &mut Articles<'_> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object of articles")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(article) = map.next_key::<String>()? {
            map.next_value_seed(Passages {
                of: self,
                article: &article,
            })?;
        }
        Ok(())
    }
}

struct Passages<'a, 'b> {
    of: &'a mut Articles<'b>,
    article: &'a str,
}

impl<'de> DeserializeSeed<'de> for Passages<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Passages<'_, '_> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "an object of passages in article {}", self.article)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        use serde::de::Error as _;
        let Articles {
            docs,
            seen,
            reading,
            name,
        } = self.of;
        while let Some((passage, text)) = map.next_entry::<String, String>()? {
            let id = format!("{}-{passage}", self.article);
            // The file has no lines to report, so the index of the passage is used instead.
            let place = docs.len() as u64 + 1;
            seen.validate_and_insert_id(&id, place)
                .map_err(A::Error::custom)?;
            let mut warnings = AcceptedRowWarnings::new();
            warn_about_document("", &text, &mut warnings);
            if !warnings.is_empty() {
                reading.warn_row(name, place, warnings.join("; "));
            }
            reading.n_rows += 1;
            docs.push(Document::from(DocumentFields {
                id: id.into(),
                title: "".into(),
                text: text.into(),
                group: Some(self.article.into()),
            }));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passages_are_named_by_article_and_number() {
        let file = r#"{"10": {"0": "The \u00e9tude.", "1": ""}, "2": {"0": "A fugue."}}"#;
        let (docs, reading) =
            read_wikipassageqa_passages(FileInput::without_progress("p.json", file.as_bytes()))
                .unwrap();
        let named: Vec<_> = docs.iter().map(|it| (it.id(), it.text())).collect();
        assert_eq!(
            named,
            [("10-0", "The étude."), ("10-1", ""), ("2-0", "A fugue.")]
        );
        assert_eq!(docs[1].group(), Some("10"));
        assert_eq!((reading.n_rows, reading.n_warned), (3, 1));
        for (file, said) in [
            (r#"{"1": {"0": "a", "0": "b"}}"#, "already used"),
            (r#"{"1": ["a"]}"#, "an object of passages in article 1"),
            (r#"{"1": {"0": "a"}"#, "EOF"),
            (r#"{"1 2": {"0": "a"}}"#, "whitespace"),
        ] {
            let error =
                read_wikipassageqa_passages(FileInput::without_progress("p.json", file.as_bytes()))
                    .unwrap_err()
                    .to_string();
            assert!(error.contains(said) && error.contains("p.json"), "{error}");
        }
    }

    #[test]
    fn questions_have_an_article_and_its_relevant_passages() {
        let file = "QID\tQuestion\tDocumentID\tDocumentName\tRelevantPassages\n\
                    3086\tWhat is a fugue?\t672\tFugue.html\t4,11\n\
                    7\t\t672\tFugue.html\t1\n\
                    8\tshort\n\
                    3086\tagain?\t1\tx\t2\n";
        let (queries, qrels, reading) = read_wikipassageqa_questions(
            FileInput::without_progress("dev.tsv", file.as_bytes()),
            "dev",
        )
        .unwrap();
        assert_eq!(queries.len(), 1);
        assert_eq!(queries[0].group.as_deref(), Some("672"));
        assert_eq!(queries[0].split.as_deref(), Some("dev"));
        assert_eq!(qrels.grade("3086", "672-11"), Some(1));
        assert_eq!((reading.n_rows, reading.n_refused), (1, 3));
        let other = read_wikipassageqa_questions(
            FileInput::without_progress("x.tsv", "a\tb\n".as_bytes()),
            "x",
        )
        .unwrap();
        assert!(other.2.refused[0].to_string().contains("QID"));
    }
}
