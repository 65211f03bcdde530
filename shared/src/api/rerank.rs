//! The requests and responses of rerank services, in the two formats in use.
//!
//! text-embeddings-inference takes `texts` and returns a list. Cohere takes `documents` and
//! returns an object, and so do Jina, vLLM and infinity, each with additional fields. A missing
//! field and `null` mean the same here, since clients send either.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::endpoints;
use crate::error::Error;

endpoints! {
    Post "/rerank" RerankRequest => RerankResponse;
    Post "/v1/rerank" CohereRerankRequest => CohereRerankResponse;
}

/// Ranks documents for a query, best first, with a model of this server. A request with `texts` is
/// in the format of text-embeddings-inference, one with `documents` in that of
/// [`CohereRerankRequest`].
///
/// Scores are between 0 and 1: the logistic function of a logit, the exponential of a
/// log-probability, (1 + c) / 2 of a cosine c, and (1 + x / (1 + |x|)) / 2 of any other number x,
/// such as a sum of cosines of a late-interaction model or an inner product. All of these increase
/// with the original score, so the order is the same. `raw_scores` returns the original scores.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RerankRequest {
    /// The query.
    pub query: String,
    /// The documents, for a response in the format of text-embeddings-inference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub texts: Option<Vec<String>>,
    /// The documents, for a response in the format of [`CohereRerankRequest`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub documents: Option<Vec<RerankDocument>>,
    /// A model of the server, by its `spec`; `None` takes the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Whether to return the original scores of the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw_scores: Option<bool>,
    /// vLLM's name for the opposite of `raw_scores`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub use_activation: Option<bool>,
    /// Whether the response includes the texts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub return_text: Option<bool>,
    /// Whether texts that exceed the input length of the model are cut. Default: true; `false`
    /// returns an error for them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub truncate: Option<bool>,
    /// The end at which texts are cut; `left` returns an error if a text would have to be cut.
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

/// Ranks documents for a query, best first, with a model of this server, in the format of Cohere,
/// Jina, vLLM and infinity. Scores are as described at [`RerankRequest`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CohereRerankRequest {
    /// The query.
    pub query: String,
    /// The documents.
    pub documents: Vec<RerankDocument>,
    /// A model of the server, by its `spec`; `None` takes the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The number of results to return, best first; 0 or `None` returns all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub top_n: Option<u64>,
    /// Whether the response includes the documents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub return_documents: Option<bool>,
    /// Whether to return the original scores of the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw_scores: Option<bool>,
    /// vLLM's name for the opposite of `raw_scores`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub use_activation: Option<bool>,
    /// The number of tokens of each document that are read, by the tokenizer of the model; at
    /// least 1. Values above the input length of the model have no effect. Returns an error for
    /// models that read passages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens_per_doc: Option<u64>,
    /// The number of passages of each document that are read, from its beginning; at least 1. It
    /// has no effect for models that read documents as one passage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_chunks_per_doc: Option<u64>,
    /// The fields of documents that are objects to rank, as a line `NAME: VALUE` for each, in this
    /// order, as in the YAML that Cohere recommends. If missing or empty, only `text` is ranked,
    /// without its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank_fields: Option<Vec<String>>,
}

impl CohereRerankRequest {
    /// The path of Cohere's API version 2, with the same requests and responses.
    pub const V2_PATH: &'static str = "/v2/rerank";
}

/// A document of a request: a text, or an object with named fields.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(untagged, expecting = "a document must be a string or an object")]
pub enum RerankDocument {
    /// The text of the document.
    Text(String),
    /// Fields by name; `text` is ranked, or what [`CohereRerankRequest::rank_fields`] names.
    Object(BTreeMap<String, Value>),
}

impl RerankDocument {
    /// Returns the text to rank of the document at a position of the request.
    ///
    /// # Errors
    ///
    /// Returns an error for a field that the object lacks or that is not a string, number or
    /// boolean.
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
                Err(Error::missing_field("documents", reason))
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

/// The end at which a text that is too long is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum TruncationDirection {
    /// The beginning is cut.
    #[serde(alias = "Left")]
    Left,
    /// The end is cut.
    #[serde(alias = "Right")]
    Right,
}

/// The response to [`RerankRequest`]: a list for `texts`, an object for `documents`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum RerankResponse {
    /// The format of text-embeddings-inference.
    Texts(Vec<RankedText>),
    /// The format of Cohere.
    Documents(CohereRerankResponse),
}

/// A ranked document of a [`RerankRequest`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RankedText {
    /// The position in the request.
    pub index: u64,
    /// The score, finite; higher is better.
    pub score: f64,
    /// The text, if requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// The ranked documents in Cohere's format.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CohereRerankResponse {
    /// The id of this response, for logs.
    pub id: String,
    /// Always `rerank`.
    pub object: String,
    /// The model of the server, by its `spec`.
    pub model: String,
    /// The results, best first.
    pub results: Vec<CohereRerankResult>,
    /// The number of tokens that the model has read.
    pub usage: CohereRerankTokenUsage,
    /// Metadata in Cohere's format.
    pub meta: CohereRerankMeta,
}

/// A ranked document of a [`CohereRerankRequest`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CohereRerankResult {
    /// The position in the request.
    pub index: u64,
    /// The score, finite; higher is better.
    pub relevance_score: f64,
    /// The document, if requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document: Option<CohereResultDocument>,
}

/// A document in a response.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CohereResultDocument {
    /// The text that was ranked.
    pub text: String,
}

/// The number of tokens that a model has read: the query once for each document, and the
/// documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CohereRerankTokenUsage {
    /// All tokens.
    pub prompt_tokens: u64,
    /// All tokens.
    pub total_tokens: u64,
}

/// Metadata of a response in Cohere's format.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CohereRerankMeta {
    /// The version of the API.
    pub api_version: CohereApiVersion,
    /// The billed units: one search for each request.
    pub billed_units: CohereBilledUnits,
    /// Warnings for users, for example that documents were cut.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// The version of Cohere's API whose format the response has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CohereApiVersion {
    /// `1` or `2`.
    pub version: String,
}

/// The units that Cohere would bill; nothing is billed here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
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
        // Later versions spell it in lowercase.
        let asked: RerankRequest =
            read(r#"{"query": "", "texts": [], "truncation_direction": "left"}"#).unwrap();
        assert_eq!(asked.truncation_direction, Some(TruncationDirection::Left));
        // Texts, objects, and fields that this server does not know.
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
            error.starts_with("a document must be a string or an object"),
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
