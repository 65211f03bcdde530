//! The wire of rerank services, in the two shapes that are about.
//!
//! text-embeddings-inference takes `texts` and gives a list; Cohere takes `documents` and gives
//! an object, and so do Jina, vLLM and infinity, each with fields of its own beside. What is
//! left out and what is `null` are the same here, since clients send either.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::endpoints;
use crate::error::Error;

endpoints! {
    Post "/rerank" RerankRequest => RerankResponse;
    Post "/v1/rerank" CohereRerankRequest => CohereRerankResponse;
}

/// Ranks texts for a query, best first, with a model of this server. With `texts` it is asked and
/// answers as text-embeddings-inference does, with `documents` as [`CohereRerankRequest`].
///
/// Scores lie between 0 and 1: of a logit its logistic function, of a log-probability its
/// exponential, of a cosine c (1 + c) / 2, of any other number x, such as the sum of cosines of
/// a late interaction or an inner product, (1 + x / (1 + |x|)) / 2. Each of them rises with the
/// score, and the order is that of the scores themselves, which `raw_scores` gives.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RerankRequest {
    /// The query.
    pub query: String,
    /// The texts, if the answer is to be a list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub texts: Option<Vec<String>>,
    /// The texts, if the answer is to be that of [`CohereRerankRequest`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub documents: Option<Vec<RerankDocument>>,
    /// One of the server's models, by its `spec`; none takes the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Scores as the model gives them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw_scores: Option<bool>,
    /// `false` is what vLLM calls `raw_scores`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub use_activation: Option<bool>,
    /// The texts come back in the list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub return_text: Option<bool>,
    /// Whether texts that are longer than the model reads are cut. Left out they are; `false`
    /// refuses them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub truncate: Option<bool>,
    /// Which end is cut; `left` is refused where something would have to be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub truncation_direction: Option<TruncationDirection>,
    /// As in [`CohereRerankRequest`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub top_n: Option<u64>,
    /// As in [`CohereRerankRequest`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub return_documents: Option<bool>,
    /// As in [`CohereRerankRequest`], for `texts` too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens_per_doc: Option<u64>,
    /// As in [`CohereRerankRequest`], for `texts` too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_chunks_per_doc: Option<u64>,
    /// As in [`CohereRerankRequest`]; refused with `texts`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank_fields: Option<Vec<String>>,
}

/// Ranks documents for a query, best first, with a model of this server, as Cohere, Jina, vLLM
/// and infinity do. What the scores are is said at [`RerankRequest`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CohereRerankRequest {
    /// The query.
    pub query: String,
    /// The documents.
    pub documents: Vec<RerankDocument>,
    /// One of the server's models, by its `spec`; none takes the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Only so many of the best; 0 gives all, as left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub top_n: Option<u64>,
    /// The documents come back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub return_documents: Option<bool>,
    /// Scores as the model gives them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw_scores: Option<bool>,
    /// `false` is what vLLM calls `raw_scores`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub use_activation: Option<bool>,
    /// Only so many tokens of each document are read, by the tokenizer of the model; at least 1.
    /// What is more than the model reads changes nothing. Refused for models that read passages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens_per_doc: Option<u64>,
    /// Only so many passages of each document are read, from its beginning; at least 1. It changes
    /// nothing for models that read documents whole, which is one passage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_chunks_per_doc: Option<u64>,
    /// Which fields of documents that are objects are ranked, a line `NAME: VALUE` for each, in
    /// this order, as in the YAML that Cohere recommends. Left out, or empty, it is `text` alone
    /// without its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank_fields: Option<Vec<String>>,
}

impl CohereRerankRequest {
    /// The path of Cohere's second version, where the same is asked and answered.
    pub const V2_PATH: &'static str = "/v2/rerank";
}

/// A document of a request: a text, or an object with named fields.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(untagged, expecting = "a document is a text or an object")]
pub enum RerankDocument {
    /// The text.
    Text(String),
    /// Fields by name; `text` is ranked, or what [`CohereRerankRequest::rank_fields`] names.
    Object(BTreeMap<String, Value>),
}

impl RerankDocument {
    /// Returns what is ranked of the document at a place.
    ///
    /// # Errors
    ///
    /// A field that an object lacks, or that holds neither a text nor a number nor a truth value.
    pub fn into_text(self, place: usize, rank_fields: &[String]) -> Result<String, Error> {
        let fields = match self {
            RerankDocument::Text(text) => return Ok(text),
            RerankDocument::Object(fields) => fields,
        };
        let value = |name: &str| match fields.get(name) {
            Some(Value::String(text)) => Ok(text.clone()),
            Some(value @ (Value::Number(_) | Value::Bool(_))) => Ok(value.to_string()),
            Some(Value::Null | Value::Array(_) | Value::Object(_)) | None => {
                let reason = format!(
                    "document {place} (counted from 0) has no text in the field `{name}`; add \
                     it, or list in `rank_fields` only fields that every document has"
                );
                Err(Error::missing("documents", reason))
            }
        };
        if rank_fields.is_empty() {
            return value("text");
        }
        let line = |name: &String| value(name).map(|it| format!("{name}: {it}"));
        let lines: Vec<String> = rank_fields.iter().map(line).collect::<Result<_, _>>()?;
        Ok(lines.join("\n"))
    }
}

/// Which end of a text that is too long is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum TruncationDirection {
    /// The beginning.
    #[serde(alias = "Left")]
    Left,
    /// The end.
    #[serde(alias = "Right")]
    Right,
}

/// Reply to [`RerankRequest`]: a list for `texts`, an object for `documents`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(untagged)]
pub enum RerankResponse {
    /// As text-embeddings-inference answers.
    Texts(Vec<RankedText>),
    /// As Cohere answers.
    Documents(CohereRerankResponse),
}

/// A text of [`RerankRequest`] in its place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RankedText {
    /// Place in the request.
    pub index: u64,
    /// Finite, higher is better.
    pub score: f64,
    /// If it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// The ranked documents in Cohere's format.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CohereRerankResponse {
    /// Of this answer, for logs.
    pub id: String,
    /// Always `rerank`.
    pub object: String,
    /// Which of the server's models, by its `spec`.
    pub model: String,
    /// Best first.
    pub results: Vec<CohereRerankResult>,
    /// What the model has read.
    pub usage: CohereRerankUsage,
    /// As Cohere has it.
    pub meta: CohereRerankMeta,
}

/// A document of [`CohereRerankRequest`] in its place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CohereRerankResult {
    /// Place in the request.
    pub index: u64,
    /// Finite, higher is better.
    pub relevance_score: f64,
    /// If it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document: Option<CohereResultDocument>,
}

/// A document that comes back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CohereResultDocument {
    /// What was ranked of it.
    pub text: String,
}

/// Tokens of words that a model has read: of the query once for each text, and of the texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CohereRerankUsage {
    /// All of them.
    pub prompt_tokens: u64,
    /// All of them.
    pub total_tokens: u64,
}

/// Metadata of a response in Cohere's format.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CohereRerankMeta {
    /// Of the shape.
    pub api_version: CohereApiVersion,
    /// One search a request.
    pub billed_units: CohereBilledUnits,
    /// For people, for example that documents were cut.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// Version of Cohere's API whose format the response has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CohereApiVersion {
    /// `1` or `2`.
    pub version: String,
}

/// What Cohere would bill; nothing is billed here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CohereBilledUnits {
    /// Always 1.
    pub search_units: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read<T: serde::de::DeserializeOwned>(json: &str) -> Result<T, String> {
        serde_json::from_str(json).map_err(|it| it.to_string())
    }

    #[test]
    fn requests_are_read_as_clients_write_them() {
        // The first example of text-embeddings-inference's documentation.
        let asked: RerankRequest = read(
            r#"{"query":"What is Deep Learning?",
                "texts": ["Deep Learning is not...", "Deep learning is..."]}"#,
        )
        .unwrap();
        assert_eq!(asked.texts.unwrap().len(), 2);
        // Every field of its OpenAPI document, with its defaults.
        let asked: RerankRequest = read(
            r#"{"query": "What is Deep Learning?", "texts": ["Deep Learning is ..."],
                "raw_scores": false, "return_text": false, "truncate": null,
                "truncation_direction": "Right"}"#,
        )
        .unwrap();
        assert_eq!(
            (asked.truncate, asked.truncation_direction),
            (None, Some(TruncationDirection::Right))
        );
        // Later versions write it small.
        let asked: RerankRequest =
            read(r#"{"query": "", "texts": [], "truncation_direction": "left"}"#).unwrap();
        assert_eq!(asked.truncation_direction, Some(TruncationDirection::Left));
        // Texts, objects, and what this server does not know.
        let asked: CohereRerankRequest = read(
            r#"{"model": "rerank-v3.5", "query": "a", "top_n": 0, "max_tokens_per_doc": 4096,
                "documents": ["b", {"text": "c", "title": "d"}], "return_documents": null}"#,
        )
        .unwrap();
        assert_eq!(asked.max_tokens_per_doc, Some(4096));
        let texts = asked.documents.into_iter().map(|it| it.into_text(0, &[]));
        assert_eq!(texts.collect::<Result<Vec<_>, _>>().unwrap(), ["b", "c"]);
        let error = read::<CohereRerankRequest>(r#"{"query": "a", "documents": [7]}"#);
        let error = error.unwrap_err();
        assert!(
            error.starts_with("a document is a text or an object"),
            "{error}"
        );
    }

    #[test]
    fn named_fields_are_ranked_in_their_order() {
        let document: RerankDocument = read(
            r#"{"text": "c", "title": "d", "year": 1998, "kept": true, "none": null, "tags": []}"#,
        )
        .unwrap();
        let text = |fields: &[&str]| {
            let fields: Vec<String> = fields.iter().map(|&it| it.to_owned()).collect();
            let found = document.clone().into_text(3, &fields);
            found.map_err(|it| it.to_string())
        };
        assert_eq!(text(&[]).unwrap(), "c");
        assert_eq!(text(&["title", "text"]).unwrap(), "title: d\ntext: c");
        assert_eq!(text(&["year", "kept"]).unwrap(), "year: 1998\nkept: true");
        for field in ["none", "tags", "absent"] {
            let error = text(&["title", field]).unwrap_err();
            let says = format!("document 3 (counted from 0) has no text in the field `{field}`");
            assert!(error.contains(&says), "{error}");
        }
        let plain = RerankDocument::Text("b".to_owned());
        assert_eq!(plain.into_text(0, &["title".to_owned()]).unwrap(), "b");
    }
}
