//! Documents, each in one block of memory: a collection can have millions.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use utoipa::ToSchema;

/// A document of a collection, the unit of retrieval; [`DocumentFields`] describes its parts.
#[derive(Clone, PartialEq, Eq)]
pub struct Document {
    /// The id, the group if there is one, the title, a space and the body.
    block: Box<str>,
    id_end: u32,
    title_start: u32,
    title_end: u32,
    has_group: bool,
}

/// The fields of a document, to create it and to write it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = Document, description = "A document of a collection, the unit of retrieval.")]
pub struct DocumentFields<'a> {
    /// The id as in the file: 1 to 512 bytes without white space, control characters and
    /// bidirectional controls.
    pub id: Cow<'a, str>,
    /// The title; may be empty.
    #[serde(default)]
    pub title: Cow<'a, str>,
    /// The body; may be empty.
    pub text: Cow<'a, str>,
    /// The group, for example the article that the passage is from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<Cow<'a, str>>,
}

impl From<DocumentFields<'_>> for Document {
    fn from(fields: DocumentFields<'_>) -> Document {
        let DocumentFields {
            id,
            title,
            text,
            group,
        } = &fields;
        let offset = |it: usize| u32::try_from(it).expect("a document has less than 4 GiB");
        let title_start = id.len() + group.as_ref().map_or(0, |it| it.len());
        let group_or_empty = group.as_deref().unwrap_or_default();
        Document {
            id_end: offset(id.len()),
            title_start: offset(title_start),
            title_end: offset(title_start + title.len()),
            has_group: group.is_some(),
            block: [id, group_or_empty, title, " ", text].concat().into(),
        }
    }
}

impl Document {
    /// Returns the id, as it is in the file.
    pub fn id(&self) -> &str {
        &self.block[..self.id_end as usize]
    }

    /// Returns the title; may be empty.
    pub fn title(&self) -> &str {
        &self.block[self.title_start as usize..self.title_end as usize]
    }

    /// Returns the body; may be empty.
    pub fn text(&self) -> &str {
        &self.block[self.title_end as usize + 1..]
    }

    /// Returns the group, if there is one.
    pub fn group(&self) -> Option<&str> {
        let group = &self.block[self.id_end as usize..self.title_start as usize];
        self.has_group.then_some(group)
    }

    /// Returns all fields, borrowed from the document.
    pub fn fields(&self) -> DocumentFields<'_> {
        DocumentFields {
            id: self.id().into(),
            title: self.title().into(),
            text: self.text().into(),
            group: self.group().map(Cow::from),
        }
    }

    /// Replaces the title and the body; id and group stay.
    pub fn set_title_and_text(&mut self, title: &str, text: &str) {
        *self = Document::from(DocumentFields {
            title: title.into(),
            text: text.into(),
            ..self.fields()
        });
    }

    /// Returns [`Document::text_with_title`], or the trimmed body alone.
    pub fn text_with_optional_title(&self, with_title: bool) -> &str {
        match with_title {
            true => self.text_with_title(),
            false => self.text().trim(),
        }
    }

    /// Returns the text that is analyzed, scored and shown: title, a space, body, trimmed.
    pub fn text_with_title(&self) -> &str {
        self.block[self.title_start as usize..].trim()
    }
}

impl fmt::Debug for Document {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fields().fmt(out)
    }
}

impl Serialize for Document {
    fn serialize<S: Serializer>(&self, into: S) -> Result<S::Ok, S::Error> {
        self.fields().serialize(into)
    }
}

impl<'de> Deserialize<'de> for Document {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Document, D::Error> {
        DocumentFields::deserialize(from).map(Document::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_come_back() {
        for id in ["d", "désert"] {
            for title in ["", "A título", " "] {
                for text in ["", "the river ", "münze"] {
                    for group in [None, Some(""), Some("größe")] {
                        let fields = DocumentFields {
                            id: id.into(),
                            title: title.into(),
                            text: text.into(),
                            group: group.map(Cow::from),
                        };
                        let document = Document::from(fields.clone());
                        assert_eq!(document.fields(), fields);
                        let joined = format!("{title} {text}");
                        assert_eq!(document.text_with_title(), joined.trim());
                        assert_eq!(document.text_with_optional_title(false), text.trim());
                        let json = serde_json::to_string(&document).unwrap();
                        assert_eq!(serde_json::from_str::<Document>(&json).unwrap(), document);
                    }
                }
            }
        }
    }

    #[test]
    fn a_document_is_written_as_an_object_of_its_fields() {
        let json = r#"{"id":"d1","title":"","text":"river \"bank\"","group":"g"}"#;
        let document: Document = serde_json::from_str(json).unwrap();
        assert_eq!(document.text(), r#"river "bank""#);
        assert_eq!(serde_json::to_string(&document).unwrap(), json);
        let brief: Document = serde_json::from_str(r#"{"id":"d2","text":"mud"}"#).unwrap();
        assert_eq!((brief.title(), brief.group()), ("", None));
        let json = r#"{"id":"d2","title":"","text":"mud"}"#;
        assert_eq!(serde_json::to_string(&brief).unwrap(), json);
    }
}
