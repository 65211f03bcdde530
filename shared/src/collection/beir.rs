//! The file formats of BEIR: one JSON object per line.
//!
//! `corpus.jsonl` has `{"_id", "title", "text"}`, `queries.jsonl` has `{"_id", "text"}` (Thakur et
//! al., NeurIPS 2021, arXiv:2104.08663). As an extension, both may have `doc_group`, for the
//! candidate pool `group`, and queries a `split`. Other fields are ignored. BEIR's qrels are read
//! by [`super::trec::read_qrels`].

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::io::Read;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::lines::rows::{
    AcceptedRowWarnings, IdFirstOccurrences, feed_nonblank_lines_to_parser, quote_text,
    validate_query_text, validate_record_id, warn_about_document,
};
use super::{Document, DocumentFields, Query};
use crate::collection::{FileInput, FileRowsAndReportResult};

/// Reads documents. Empty documents are kept with a warning; of two with the same id the first is
/// kept.
pub fn read_beir_documents(file: FileInput<'_, impl Read>) -> FileRowsAndReportResult<Document> {
    read(file, |id, row, warnings| {
        let title = row.title.text_or_none("title")?.unwrap_or_default();
        let text = row.text.text("text")?;
        let group = row.doc_group.group("doc_group", warnings)?;
        warn_about_document(&title, &text, warnings);
        Ok(Document::from(DocumentFields {
            id: id.into(),
            title,
            text,
            group: group.map(Cow::from),
        }))
    })
}

/// Reads queries. An empty query is rejected, since no document can match it; of two with the same
/// id the first is kept.
pub fn read_beir_queries(file: FileInput<'_, impl Read>) -> FileRowsAndReportResult<Query> {
    read(file, |id, row, warnings| {
        let text = row.text.text("text")?;
        let group = row.doc_group.group("doc_group", warnings)?;
        let split = row.split.group("split", warnings)?;
        split.as_deref().map_or(Ok(()), validate_record_id)?;
        validate_query_text(&text, warnings)?;
        Ok(Query {
            id,
            text: text.into_owned(),
            group,
            split,
        })
    })
}

/// Reads rows; `make` creates each one from an id and the other fields. Of two rows with the same
/// id the first is kept.
fn read<T>(
    file: FileInput<'_, impl Read>,
    make: impl Fn(String, Row<'_>, &mut AcceptedRowWarnings) -> Result<T, String>,
) -> FileRowsAndReportResult<T> {
    let (mut found, mut seen) = (Vec::new(), IdFirstOccurrences::default());
    let reading = feed_nonblank_lines_to_parser(file, |line, text| {
        let mut row = Row::parse(text)?;
        let mut warnings = AcceptedRowWarnings::new();
        let id = std::mem::take(&mut row.id).id(&mut warnings)?;
        let made = make(id.clone().into_owned(), row, &mut warnings)?;
        seen.validate_and_insert_id(&id, line)?;
        found.push(made);
        Ok(warnings)
    })?;
    Ok((found, reading))
}

/// The fields of a row that are used. Every field accepts any value, so that errors can name it.
#[derive(Deserialize)]
struct Row<'a> {
    #[serde(rename = "_id", borrow, default)]
    id: Field<'a>,
    #[serde(borrow, default)]
    title: Field<'a>,
    #[serde(borrow, default)]
    text: Field<'a>,
    #[serde(borrow, default)]
    doc_group: Field<'a>,
    #[serde(borrow, default)]
    split: Field<'a>,
}

impl<'a> Row<'a> {
    fn parse(text: &'a str) -> Result<Row<'a>, String> {
        const EXPECTED: &str = r#"a row is one JSON object, as in {"_id": "7", "text": "a text"}"#;
        // serde would accept an array in place of an object.
        if !text.trim_ascii_start().starts_with('{') {
            return Err(format!("not a JSON object: {EXPECTED}"));
        }
        serde_json::from_str(text).map_err(|error| {
            let said = error.to_string();
            let what = said.split(" at line ").next().unwrap_or_default();
            format!("broken JSON at byte {}, {what}: {EXPECTED}", error.column())
        })
    }
}

#[derive(Default)]
enum Field<'a> {
    #[default]
    Missing,
    Null,
    Text(Cow<'a, str>),
    /// A number that can be written as its digits.
    Whole(String),
    /// A value of another type, by the name of the type.
    Other(&'static str),
}

impl<'a> Field<'a> {
    fn text(self, name: &str) -> Result<Cow<'a, str>, String> {
        self.text_or_none(name)?
            .ok_or_else(|| format!("`{name}` is missing"))
    }

    /// Returns the text of a field; `None` if it is missing or null.
    fn text_or_none(self, name: &str) -> Result<Option<Cow<'a, str>>, String> {
        match self {
            Field::Missing | Field::Null => Ok(None),
            Field::Text(text) => Ok(Some(text)),
            Field::Whole(digits) => Err(format!(
                "`{name}` is the number {digits}; expected a string in quotes"
            )),
            Field::Other(kind) => Err(format!("`{name}` is {kind}; expected a string in quotes")),
        }
    }

    fn id(self, warnings: &mut AcceptedRowWarnings) -> Result<Cow<'a, str>, String> {
        self.digits("_id", warnings).text("_id")
    }

    /// Returns the group of a field; an empty one is `None`, since its documents have nothing in
    /// common.
    fn group(
        self,
        name: &str,
        warnings: &mut AcceptedRowWarnings,
    ) -> Result<Option<String>, String> {
        let group = self.digits(name, warnings).text_or_none(name)?;
        Ok(group.filter(|it| !it.is_empty()).map(Cow::into_owned))
    }

    /// Converts an integer to the text of its digits, with a warning.
    fn digits(self, name: &str, warnings: &mut AcceptedRowWarnings) -> Field<'a> {
        match self {
            Field::Whole(digits) => {
                warnings.push(format!(
                    "`{name}` is a number, read as the string {}",
                    quote_text(&digits)
                ));
                Field::Text(digits.into())
            }
            Field::Missing | Field::Null | Field::Text(_) | Field::Other(_) => self,
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Field<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Field<'a>, D::Error> {
        from.deserialize_any(FieldVisitor)
    }
}

struct FieldVisitor;

impl<'de> Visitor<'de> for FieldVisitor {
    type Value = Field<'de>;

    fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("any value")
    }

    fn visit_borrowed_str<E>(self, it: &'de str) -> Result<Field<'de>, E> {
        Ok(Field::Text(Cow::Borrowed(it)))
    }

    fn visit_str<E>(self, it: &str) -> Result<Field<'de>, E> {
        Ok(Field::Text(Cow::Owned(it.to_owned())))
    }

    fn visit_u64<E>(self, it: u64) -> Result<Field<'de>, E> {
        Ok(Field::Whole(it.to_string()))
    }

    fn visit_i64<E>(self, it: i64) -> Result<Field<'de>, E> {
        Ok(Field::Whole(it.to_string()))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Field<'de>, E> {
        Ok(Field::Other("a number that is too large or not an integer"))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Field<'de>, E> {
        Ok(Field::Other("true or false"))
    }

    fn visit_unit<E>(self) -> Result<Field<'de>, E> {
        Ok(Field::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Field<'de>, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Field::Other("an array"))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Field<'de>, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Field::Other("an object"))
    }
}
