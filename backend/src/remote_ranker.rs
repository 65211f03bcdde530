//! Rankers behind an address: texts go out, numbers come back.
//!
//! `http(s)://HOST[:PORT]/rerank` is asked as text-embeddings-inference is, `/v1/rerank` and
//! `/v2/rerank` as Cohere, Jina, vLLM and infinity are. What else there is to say stands behind a
//! `?`; the key stands in the variable [`API_KEY_VARIABLE`] and nowhere else.

mod spec;
mod response;
mod batches;
mod client;

use sha2::{Digest, Sha256};
use shared::score::{RankerInfo, RankerKind};

pub(crate) use batches::RequestCost;
pub(crate) use spec::RemoteRanker;

/// The variable with the key, sent as `Authorization: Bearer KEY`.
pub(crate) const API_KEY_VARIABLE: &str = "AXIOSCOPE_RERANK_KEY";

/// How a service is asked and answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RerankProtocol {
    /// `{query, texts}` to `[{index, score}]`.
    Tei,
    /// `{query, documents}` to `{results: [{index, relevance_score}]}`.
    Cohere,
}

impl RerankProtocol {
    const ALL: [RerankProtocol; 2] = [RerankProtocol::Tei, RerankProtocol::Cohere];

    fn name(self) -> &'static str {
        match self {
            RerankProtocol::Tei => "tei",
            RerankProtocol::Cohere => "cohere",
        }
    }
}

/// Which numbers are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RemoteScoreKind {
    /// As the model gives them, before they are pressed between 0 and 1.
    Raw,
    /// As the service gives them.
    ServerDefault,
}

impl RemoteRanker {
    /// What is shown of it.
    pub(crate) fn about(&self) -> RankerInfo {
        let shape = match self.protocol {
            RerankProtocol::Tei => "text-embeddings-inference",
            RerankProtocol::Cohere => "Cohere",
        };
        let numbers = match self.numbers {
            RemoteScoreKind::Raw => "raw scores",
            RemoteScoreKind::ServerDefault => "scores as given",
        };
        let model = self.model.as_deref();
        let short = model.and_then(|it| it.rsplit('/').next());
        RankerInfo {
            spec: self.name(),
            label: short.unwrap_or(self.host()).to_owned(),
            detail: format!("a service in the shape of {shape}, {numbers}"),
            kind: RankerKind::Remote,
            fingerprint: self.fingerprint(),
            note: Some(
                "a service may change behind its address, and how much of a text it reads is not \
                 known"
                    .to_owned(),
            ),
        }
    }

    /// SHA-256 over what decides a score as far as can be known from here: address, shape, name
    /// of the model, and which numbers are asked for.
    fn fingerprint(&self) -> String {
        let mut hasher = Sha256::new();
        let numbers = match self.numbers {
            RemoteScoreKind::Raw => "raw",
            RemoteScoreKind::ServerDefault => "as given",
        };
        let model = self.model.as_deref().unwrap_or_default();
        for part in ["service", &self.url, self.protocol.name(), model, numbers] {
            hasher.update((part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        shared::collection::encode_hex(&hasher.finalize())
    }
}

#[cfg(test)]
pub(crate) mod tests;
