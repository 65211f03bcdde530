//! Rankers behind an HTTP address.
//!
//! `http(s)://HOST[:PORT]/rerank` is called in the format of text-embeddings-inference,
//! `/v1/rerank` and `/v2/rerank` in that of Cohere, which Jina, vLLM and infinity use as well.
//! Options follow a `?`. The API key comes only from the environment variable [`API_KEY_VARIABLE`].

mod spec;
mod response;
mod batches;
mod client;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use shared::score::{RankerInfo, RankerKind};

pub(crate) use batches::RequestVolume;
pub(crate) use spec::RemoteRanker;

/// Environment variable with the API key, which is sent as `Authorization: Bearer KEY`.
pub(crate) const API_KEY_VARIABLE: &str = "AXIOSCOPE_RERANK_KEY";

/// The format of requests and responses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum RerankProtocol {
    /// `{query, texts}`, answered by `[{index, score}]`.
    Tei,
    /// `{query, documents}`, answered by `{results: [{index, relevance_score}]}`.
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

/// Which scores are requested from the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum RawOrServerDefaultScores {
    /// The scores of the model, before they are mapped to values from 0 to 1.
    Raw,
    /// The scores that the service returns by default.
    ServerDefault,
}

impl RemoteRanker {
    /// Returns the spec, label, description and fingerprint of the ranker.
    pub(crate) fn ranker_info(&self) -> RankerInfo {
        let shape = match self.protocol {
            RerankProtocol::Tei => "text-embeddings-inference",
            RerankProtocol::Cohere => "Cohere",
        };
        let numbers = match self.numbers {
            RawOrServerDefaultScores::Raw => "raw scores",
            RawOrServerDefaultScores::ServerDefault => "scores as given",
        };
        let model = self.model.as_deref();
        let short = model.and_then(|it| it.rsplit('/').next());
        RankerInfo {
            spec: self.canonical_spec(),
            label: short.unwrap_or(self.host_and_port()).to_owned(),
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

    /// Returns the SHA-256, in hex, of what is known to determine the scores: address, format,
    /// model name, and the kind of scores.
    fn fingerprint(&self) -> String {
        let mut hasher = Sha256::new();
        let numbers = match self.numbers {
            RawOrServerDefaultScores::Raw => "raw",
            RawOrServerDefaultScores::ServerDefault => "as given",
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
