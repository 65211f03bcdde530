//! Parses the spec of a remote ranker: its URL and its options.

use std::str::FromStr;
use std::time::Duration;

use axum::http::Uri;
use serde::{Deserialize, Serialize};
use shared::error::Error as InputError;

use super::{API_KEY_VARIABLE, RawOrServerDefaultScores, RerankProtocol};
use crate::error::Error;

/// A remote ranker with its options.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct RemoteRanker {
    /// The URL without the options after `?`.
    pub(super) url: String,
    pub(super) protocol: RerankProtocol,
    /// The model to request, if the service has several.
    pub(super) model: Option<String>,
    pub(super) numbers: RawOrServerDefaultScores,
    pub(super) request_limits: RemoteRequestLimits,
}

/// Limits on size and rate of requests. They do not affect the scores.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct RemoteRequestLimits {
    /// Maximum number of documents per request.
    pub(super) max_documents: usize,
    /// Maximum size of query and documents per request in bytes. A longer document is sent alone.
    pub(super) max_bytes: usize,
    /// Maximum number of requests in progress.
    pub(super) max_concurrent: usize,
    /// Maximum number of requests started per second.
    pub(super) max_per_second: Option<f64>,
    /// Timeout of a request.
    pub(super) timeout: Duration,
    /// Maximum number of attempts per request.
    pub(super) max_attempts: u32,
}

impl RemoteRequestLimits {
    /// Limits that usual services accept. The defaults of text-embeddings-inference are 32
    /// documents and 2 MB.
    const USUAL: RemoteRequestLimits = RemoteRequestLimits {
        max_documents: 32,
        max_bytes: 1_000_000,
        max_concurrent: 4,
        max_per_second: None,
        timeout: Duration::from_secs(120),
        max_attempts: 6,
    };
}

const OPTIONS: &str = "shape=tei|cohere, model=NAME, raw=yes|no, texts=N, bytes=N, at_once=N, \
                       per_s=X, timeout_s=N, tries=N";

impl RemoteRanker {
    /// Returns whether a ranker spec is a URL, even if it is invalid.
    pub(crate) fn is_url_spec(spec: &str) -> bool {
        let scheme = spec.split(':').next().unwrap_or_default();
        scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https")
    }

    /// Returns the URL with the options that affect scores, without the request limits.
    pub(crate) fn canonical_spec(&self) -> String {
        let mut options = Vec::new();
        if let Some(model) = &self.model {
            options.push(format!("model={model}"));
        }
        if shape_of(&self.url) != Some(self.protocol) {
            options.push(format!("shape={}", self.protocol.name()));
        }
        if self.numbers != usual_numbers(self.protocol) {
            options.push(match self.numbers {
                RawOrServerDefaultScores::Raw => "raw=yes".to_owned(),
                RawOrServerDefaultScores::ServerDefault => "raw=no".to_owned(),
            });
        }
        match options.is_empty() {
            true => self.url.clone(),
            false => format!("{}?{}", self.url, options.join("&")),
        }
    }

    /// Returns the host of the ranker's URL, with its port if one is given: `HOST[:PORT]`.
    pub(super) fn host_and_port(&self) -> &str {
        let rest = self.url.split_once("://").map_or("", |it| it.1);
        rest.split('/').next().unwrap_or_default()
    }

    /// Returns whether the service is on this machine.
    pub(super) fn is_loopback(&self) -> bool {
        let uri: Option<Uri> = self.url.parse().ok();
        let host = uri.as_ref().and_then(|it| it.host()).unwrap_or_default();
        let ip = host.trim_start_matches('[').trim_end_matches(']');
        host == "localhost"
            || ip
                .parse::<std::net::IpAddr>()
                .is_ok_and(|it| it.to_canonical().is_loopback())
    }

    /// Returns whether the connection is not encrypted.
    pub(super) fn uses_plain_http(&self) -> bool {
        self.url.starts_with("http://")
    }
}

impl FromStr for RemoteRanker {
    type Err = Error;

    /// Parses a spec. Error messages do not repeat the invalid part, since it may contain a
    /// password.
    fn from_str(spec: &str) -> Result<RemoteRanker, Error> {
        let wrong = |reason: String| Error::from(InputError::malformed_value("ranker", reason));
        let uri: Uri = spec.parse().map_err(|it| {
            wrong(format!(
                "this is no address ({it}); an address is http(s)://HOST[:PORT]/rerank or \
                 …/v1/rerank, with options behind a `?`: {OPTIONS}"
            ))
        })?;
        let authority = uri.authority().map_or("", |it| it.as_str());
        if authority.contains('@') {
            return Err(wrong(format!(
                "an address with a user or a password is not taken, since it is written into \
                 results; a key stands in the variable {API_KEY_VARIABLE}"
            )));
        }
        if spec.contains('#') {
            return Err(wrong("an address has no part behind a `#`".to_owned()));
        }
        let scheme = uri.scheme_str().unwrap_or_default();
        let url = format!("{scheme}://{}{}", authority.to_lowercase(), uri.path());
        let (mut shape, mut numbers) = (shape_of(&url), None);
        let (mut model, mut pace) = (None, RemoteRequestLimits::USUAL);
        for option in uri.query().unwrap_or_default().split('&') {
            let (name, value) = option.split_once('=').unwrap_or((option, ""));
            let number = |from: u32, to: u32| {
                let found = value.parse().ok().filter(|it| (from..=to).contains(it));
                found.ok_or_else(|| wrong(format!("`{name}` is a number from {from} to {to}")))
            };
            match name {
                "" if value.is_empty() => {}
                "shape" => {
                    let found = RerankProtocol::ALL
                        .into_iter()
                        .find(|it| it.name() == value);
                    let reason = || wrong("`shape` is tei or cohere".to_owned());
                    shape = Some(found.ok_or_else(reason)?);
                }
                "model" if !value.is_empty() => model = Some(value.to_owned()),
                "raw" => {
                    numbers = Some(match value {
                        "yes" => RawOrServerDefaultScores::Raw,
                        "no" => RawOrServerDefaultScores::ServerDefault,
                        _ => return Err(wrong("`raw` is yes or no".to_owned())),
                    });
                }
                "texts" => pace.max_documents = number(1, 10_000)? as usize,
                "bytes" => pace.max_bytes = number(1_000, 100_000_000)? as usize,
                "at_once" => pace.max_concurrent = number(1, 64)? as usize,
                "timeout_s" => pace.timeout = Duration::from_secs(number(1, 3_600)?.into()),
                "tries" => pace.max_attempts = number(1, 20)?,
                "per_s" => {
                    let found = value.parse().ok();
                    let found = found.filter(|it: &f64| (0.001..=1000.0).contains(it));
                    let reason = || wrong("`per_s` is a number from 0.001 to 1000".to_owned());
                    pace.max_per_second = Some(found.ok_or_else(reason)?);
                }
                _ => {
                    return Err(wrong(format!(
                        "unknown option after `?`; the options are {OPTIONS}; the API key belongs \
                         in the variable {API_KEY_VARIABLE}"
                    )));
                }
            }
        }
        let shape = shape.ok_or_else(|| {
            wrong(format!(
                "`{url}` does not say how it is asked: end it in /rerank or /v1/rerank, or add \
                 ?shape=tei or ?shape=cohere"
            ))
        })?;
        Ok(RemoteRanker {
            url,
            protocol: shape,
            model,
            numbers: numbers.unwrap_or(usual_numbers(shape)),
            request_limits: pace,
        })
    }
}

/// Returns the format of a path: `/rerank` is text-embeddings-inference, `/v1/rerank` is Cohere.
fn shape_of(url: &str) -> Option<RerankProtocol> {
    let before = url.trim_end_matches('/').strip_suffix("/rerank")?;
    let version = before.rsplit('/').next()?.strip_prefix('v');
    let numbered = version.is_some_and(|it| it.parse::<u8>().is_ok());
    Some(if numbered {
        RerankProtocol::Cohere
    } else {
        RerankProtocol::Tei
    })
}

/// Returns which scores are requested by default. text-embeddings-inference supports raw scores;
/// some of the other services reject unknown fields.
fn usual_numbers(shape: RerankProtocol) -> RawOrServerDefaultScores {
    match shape {
        RerankProtocol::Tei => RawOrServerDefaultScores::Raw,
        RerankProtocol::Cohere => RawOrServerDefaultScores::ServerDefault,
    }
}
