//! Scores all pairs of a study in requests with documents of one query each.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;

use serde::Serialize;
use shared::api::rerank::{CohereRerankRequest, RerankDocument, RerankRequest};

use super::client::RemoteRankerClient;
use super::{RawOrServerDefaultScores, RemoteRanker, RerankProtocol};
use crate::error::Error;
use crate::models::{PairScore, QueryDocumentPairsWithTexts};
use crate::store::partial_scores::PartialScores;

/// The total amount of data to send, for which some services charge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct RequestVolume {
    /// Number of requests.
    pub requests: u64,
    /// Number of documents, each counted once for each of its queries.
    pub texts: u64,
    /// Number of characters of the documents, and of the query once per request.
    pub characters: u64,
    /// Number of requests that need not be sent, since their scores are already stored.
    pub done: u64,
}

impl RemoteRanker {
    /// Checks the settings without sending a request.
    pub(crate) fn validate_settings(&self) -> Result<(), Error> {
        RemoteRankerClient::new(self).map(drop)
    }

    /// Returns the number of requests, documents and characters that scoring would send, and of
    /// requests whose scores are already stored. Nothing is sent.
    pub(crate) fn request_volume(
        &self,
        listed: &QueryDocumentPairsWithTexts<'_>,
        draft: &PartialScores,
    ) -> RequestVolume {
        let characters = |text: &String| text.chars().count() as u64;
        let all: Vec<u32> = (0..listed.pairs.len() as u32).collect();
        let batches = self.group_into_requests(listed, &all);
        let missing = missing(&known(listed, draft));
        let n_missing = self.group_into_requests(listed, &missing).len();
        let mut cost = RequestVolume {
            requests: batches.len() as u64,
            texts: all.len() as u64,
            characters: 0,
            done: batches.len().saturating_sub(n_missing) as u64,
        };
        for batch in batches {
            let pairs = &listed.pairs[batch];
            cost.characters += characters(&listed.queries[pairs[0].0 as usize]);
            let texts = pairs.iter().map(|it| &listed.documents[it.1 as usize]);
            cost.characters += texts.map(characters).sum::<u64>();
        }
        cost
    }

    /// Returns the SHA-256, in hex, of everything that determines the scores. The number of
    /// documents per request is not part of it, so that stored scores remain valid if it is
    /// changed.
    pub(crate) fn scoring_inputs_sha256(&self, listed: &QueryDocumentPairsWithTexts<'_>) -> String {
        listed.hash_with_settings(&[env!("CARGO_PKG_VERSION"), &self.ranker_info().fingerprint])
    }

    /// Scores all pairs that `draft` does not have yet. `done` is called with the number of scored
    /// pairs after each request. The order of the responses does not matter.
    pub(crate) fn score_pairs(
        &self,
        listed: &QueryDocumentPairsWithTexts<'_>,
        draft: &mut PartialScores,
        mut done: impl FnMut(usize),
    ) -> Result<Vec<PairScore>, Error> {
        let known = known(listed, draft);
        let missing = missing(&known);
        let batches = self.group_into_requests(listed, &missing);
        let mut scores: Vec<PairScore> = known.into_iter().flatten().collect();
        scores.reserve(missing.len());
        done(scores.len());
        let caller = RemoteRankerClient::new(self)?;
        let (next, stopped) = (AtomicUsize::new(0), AtomicBool::new(false));
        // A worker, which sends the next request until there is none left or one has failed.
        let work = |answers: mpsc::SyncSender<(u32, Result<Vec<PairScore>, Error>)>| {
            let given_up = || stopped.load(Ordering::Relaxed);
            while !given_up() {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(batch) = batches.get(number) else {
                    break;
                };
                let batch = &missing[batch.clone()];
                let scored = self
                    .ask(&caller, listed, batch, &given_up)
                    .map_err(|reason| {
                        let query = &listed.queries[listed.pairs[batch[0] as usize].0 as usize];
                        let query: String = query.chars().take(40).collect();
                        Error::RemoteRanker {
                            address: self.url.clone(),
                            batch: format!(
                                "request {} of {} ({} texts for the query `{}`)",
                                number + 1,
                                batches.len(),
                                batch.len(),
                                query.escape_debug()
                            ),
                            reason,
                        }
                    });
                let is_last = scored.is_err();
                // The first pair identifies a batch, whatever its size.
                if answers.send((batch[0], scored)).is_err() || is_last {
                    break;
                }
            }
        };
        let mut failed = None;
        std::thread::scope(|scope| {
            let (answers, answered) = mpsc::sync_channel(self.request_limits.max_concurrent);
            let under_way = self.request_limits.max_concurrent.min(batches.len());
            for _ in 0..under_way {
                let answers = answers.clone();
                scope.spawn(|| work(answers));
            }
            drop(answers);
            for (number, scored) in answered {
                let kept = scored.and_then(|scored| {
                    draft.append_batch(number, &scored)?;
                    Ok(scored)
                });
                match kept {
                    Ok(scored) => {
                        scores.extend(scored);
                        done(scores.len());
                    }
                    // Responses to requests that are still in progress are stored as well.
                    Err(error) => {
                        let is_first = !stopped.swap(true, Ordering::Relaxed);
                        if is_first && under_way > 1 {
                            eprintln!("{error}; only what is under way is waited for now");
                        }
                        failed.get_or_insert(error);
                    }
                }
            }
        });
        if let Some(error) = failed {
            return Err(error);
        }
        scores.sort_unstable_by_key(|it| it.pair);
        Ok(scores)
    }

    /// Returns the indices of the pairs of which `draft` has no score.
    pub(crate) fn missing_pairs(
        listed: &QueryDocumentPairsWithTexts<'_>,
        draft: &PartialScores,
    ) -> Vec<u32> {
        missing(&known(listed, draft))
    }

    /// Groups the `missing` pairs into requests.
    pub(crate) fn group_into_requests(
        &self,
        listed: &QueryDocumentPairsWithTexts<'_>,
        missing: &[u32],
    ) -> Vec<Range<usize>> {
        let mut batches: Vec<Range<usize>> = Vec::new();
        let (mut query, mut n_bytes) = (None, 0);
        for (at, &pair) in missing.iter().enumerate() {
            let (of, text) = listed.pairs[pair as usize];
            let n = listed.documents[text as usize].len();
            match batches.last_mut() {
                Some(batch)
                    if query == Some(of)
                        && batch.len() < self.request_limits.max_documents
                        && n_bytes + n <= self.request_limits.max_bytes =>
                {
                    batch.end = at + 1;
                    n_bytes += n;
                }
                Some(_) | None => {
                    batches.push(at..at + 1);
                    query = Some(of);
                    n_bytes = listed.queries[of as usize].len() + n;
                }
            }
        }
        batches
    }

    fn ask(
        &self,
        caller: &RemoteRankerClient<'_>,
        listed: &QueryDocumentPairsWithTexts<'_>,
        batch: &[u32],
        given_up: &dyn Fn() -> bool,
    ) -> Result<Vec<PairScore>, String> {
        let pairs = || batch.iter().map(|&it| listed.pairs[it as usize]);
        let query = &listed.queries[listed.pairs[batch[0] as usize].0 as usize];
        let texts = pairs().map(|it| listed.documents[it.1 as usize].clone());
        let body = self.request_body(query, texts.collect());
        let scores = caller.request_scores_with_retries(&body, batch.len(), given_up)?;
        let scored = batch.iter().zip(scores).map(|(&pair, score)| PairScore {
            pair,
            score,
            // The response does not say whether a document was truncated.
            truncated: false,
        });
        Ok(scored.collect())
    }

    /// Returns the JSON body of a request.
    pub(super) fn request_body(&self, query: &str, texts: Vec<String>) -> Vec<u8> {
        let (query, model) = (query.to_owned(), self.model.clone());
        let raw = match self.numbers {
            RawOrServerDefaultScores::Raw => Some(true),
            RawOrServerDefaultScores::ServerDefault => None,
        };
        let body = match self.protocol {
            RerankProtocol::Tei => serde_json::to_vec(&RerankRequest {
                query,
                model,
                texts: Some(texts),
                raw_scores: Some(raw.unwrap_or(false)),
                truncate: Some(true),
                ..RerankRequest::default()
            }),
            RerankProtocol::Cohere => serde_json::to_vec(&CohereRerankRequest {
                query,
                model,
                documents: texts.into_iter().map(RerankDocument::Text).collect(),
                // `raw_scores` is the option of infinity, `use_activation` that of vLLM.
                raw_scores: raw,
                use_activation: raw.map(|it| !it),
                return_documents: Some(false),
                ..CohereRerankRequest::default()
            }),
        };
        body.expect("a request has string keys and no numbers that are not finite")
    }
}

/// Returns the stored score of each pair. Scores of unknown pairs and scores that are not finite
/// are ignored.
fn known(
    listed: &QueryDocumentPairsWithTexts<'_>,
    draft: &PartialScores,
) -> Vec<Option<PairScore>> {
    let mut known = vec![None; listed.pairs.len()];
    for it in draft
        .scores_loaded_from_file()
        .filter(|it| it.score.is_finite())
    {
        if let Some(place) = known.get_mut(it.pair as usize) {
            *place = Some(*it);
        }
    }
    known
}

/// Returns the indices of the pairs without a score.
fn missing(known: &[Option<PairScore>]) -> Vec<u32> {
    let each = known.iter().zip(0..);
    each.filter(|it| it.0.is_none()).map(|it| it.1).collect()
}
