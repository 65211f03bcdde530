//! Scores the documents of one query in small steps, so that other requests get their turn in
//! between, and no further step is computed after the client has disconnected.
//!
//! Before the model computes anything, all tokens are counted with its tokenizer and passages, and
//! inputs that will be truncated are reported. Passages are scored individually, so that steps do
//! not become longer for documents with many passages.

use std::ops::Range;
use std::sync::Arc;

use neural::{QueryOrDocumentRole, TokenizedText};
use shared::api::TokenSimilarities;
use shared::error::Error as InputError;

use crate::error::Error;
use crate::models::architecture::SeparateOrJointInputModel;
use crate::models::passages::LongDocumentStrategy;
use crate::models::{EncodedQueries, NeuralRanker, PairScoreWithMatches, ScoreDetailLevel};

/// Bytes of passages that are tokenized in a step.
const MAX_TOKENIZED_BYTES: usize = 1 << 18;

/// Tokens that are encoded in a step: a quarter of a job's batch, since other requests wait for it.
const STEP_TOKENS: usize = 1_024;

/// A request to score documents for a query, with limits that are checked before the model runs.
pub(crate) struct ScoringInputWithLimits {
    /// The text of the query.
    pub query: String,
    /// The texts of the documents, with their titles.
    pub documents: Vec<String>,
    /// Maximum number of tokens to read per document, at least 1; only without passages.
    pub max_document_tokens: Option<usize>,
    /// Maximum number of passages to read per document, at least 1.
    pub max_passages: Option<usize>,
    /// Maximum number of tokens to encode or to generate; those of the query count once for each
    /// passage that is encoded with it.
    pub max_tokens: u64,
    /// Which details are returned with the scores.
    pub detail: ScoreDetailLevel,
    /// Called for each input that will be truncated. An error aborts the request.
    pub on_truncation: Box<dyn Fn(TruncatedInput) -> Result<(), Error> + Send>,
}

#[cfg(test)]
impl ScoringInputWithLimits {
    /// Creates a request without limits that returns the matches of tokens.
    pub(super) fn without_limits(query: &str, documents: &[String]) -> ScoringInputWithLimits {
        ScoringInputWithLimits {
            query: query.to_owned(),
            documents: documents.to_vec(),
            max_document_tokens: None,
            max_passages: None,
            max_tokens: u64::MAX,
            detail: ScoreDetailLevel::Matches,
            on_truncation: Box::new(|_| Ok(())),
        }
    }
}

/// An input that is longer than the model reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TruncatedInput {
    Query,
    /// The document with this index, alone or together with the query.
    Document(usize),
}

/// The scores of the documents of a request.
pub(crate) struct ScoredDocuments {
    /// The ranker that has scored.
    pub ranker: Arc<NeuralRanker>,
    /// The texts of the documents, in the order of the request.
    pub texts: Vec<String>,
    /// One score per document, in the same order; `pair` is the index of the document.
    pub scores: Vec<PairScoreWithMatches>,
    /// Number of encoded tokens; those of the query count once for each passage.
    pub n_tokens: u64,
}

/// A scoring request in progress.
pub(crate) struct ScoringRequestInProgress {
    ranker: Arc<NeuralRanker>,
    /// The same ranker without passages, to score single passages.
    passage_ranker: NeuralRanker,
    request: ScoringInputWithLimits,
    query: TokenizedText,
    /// The documents that have been tokenized.
    texts: Vec<CountedText>,
    /// The passages of these documents, in order.
    passages: Vec<Passage>,
    n_tokens: u64,
    /// Indices of the passages that remain to be scored, in batches; `None` until all documents
    /// have been tokenized.
    plan: Option<(EncodedQueries, std::vec::IntoIter<Vec<usize>>)>,
}

struct CountedText {
    passages: Range<usize>,
    truncated: bool,
    /// The token matches of the best passage so far, with its index.
    matches: Option<(usize, TokenSimilarities)>,
}

struct Passage {
    text: usize,
    bytes: Range<usize>,
    /// The length that is used to plan batches.
    length: usize,
    score: f64,
}

impl Passage {
    fn of<'a>(&self, texts: &'a [String]) -> &'a str {
        &texts[self.text][self.bytes.clone()]
    }
}

impl ScoringRequestInProgress {
    /// Checks the request and tokenizes the query.
    pub(crate) fn check_request_and_start(
        ranker: Arc<NeuralRanker>,
        request: ScoringInputWithLimits,
    ) -> Result<ScoringRequestInProgress, Error> {
        if request.max_document_tokens.is_some()
            && ranker.passages != LongDocumentStrategy::Truncate
        {
            let reason = "goes with models that read texts whole; leave it out, or the ending \
                          from `+` on of the model's name";
            return Err(InputError::conflicting_value("max_tokens_per_doc", reason).into());
        }
        let documents = request.documents.iter().map(String::as_str);
        let passage_ranker = ranker
            .with_long_document_strategy(LongDocumentStrategy::Truncate)
            .with_statistics_of_documents(documents, [request.query.as_str()])?;
        let query = passage_ranker
            .tokenize_texts(QueryOrDocumentRole::Query, &[request.query.as_str()])?
            .remove(0);
        if query.truncated {
            (request.on_truncation)(TruncatedInput::Query)?;
        }
        Ok(ScoringRequestInProgress {
            ranker,
            passage_ranker,
            request,
            query,
            texts: Vec::new(),
            passages: Vec::new(),
            n_tokens: 0,
            plan: None,
        })
    }

    /// Returns whether all passages have been scored.
    pub(crate) fn is_done(&self) -> bool {
        let plan = self.plan.as_ref();
        plan.is_some_and(|(_, batches)| batches.len() == 0)
    }

    /// Tokenizes some documents and, when all are tokenized, scores a batch of passages.
    pub(crate) fn run_next_step(&mut self) -> Result<(), Error> {
        if self.plan.is_none() {
            self.count()?;
            if self.texts.len() < self.request.documents.len() {
                return Ok(());
            }
            self.plan = Some(self.make_plan()?);
        }
        self.score()
    }

    /// Returns the scores. All steps must be done.
    pub(crate) fn into_scored_documents(self) -> Result<ScoredDocuments, Error> {
        let reading = self.ranker.passages;
        let mut scores = Vec::with_capacity(self.texts.len());
        for (text, pair) in self.texts.into_iter().zip(0..) {
            let from = text.passages.start;
            let of_passages = self.passages[text.passages].iter().map(|it| it.score);
            let of_passages: Vec<f64> = of_passages.collect();
            let score = reading.combine_scores(&of_passages);
            if !score.is_finite() {
                let not_finite = Error::model_error_converter(&self.ranker.about.spec);
                return Err(not_finite(neural::Error::NotFinite));
            }
            let shown = reading.best_passage_index(&of_passages).map(|it| from + it);
            let matches = text.matches.filter(|it| shown == Some(it.0));
            scores.push(PairScoreWithMatches {
                pair,
                score,
                truncated: text.truncated,
                matches: matches.map(|it| it.1),
            });
        }
        Ok(ScoredDocuments {
            ranker: self.ranker,
            texts: self.request.documents,
            scores,
            n_tokens: self.n_tokens,
        })
    }

    fn count(&mut self) -> Result<(), Error> {
        let first = self.passages.len();
        let mut n_bytes = 0;
        while n_bytes < MAX_TOKENIZED_BYTES
            && let Some(text) = self.request.documents.get(self.texts.len())
        {
            let read = match self.request.max_document_tokens {
                Some(most) => self.passage_ranker.truncate_to_tokens(text, most)?,
                None => text.as_str(),
            };
            let read = self.ranker.passages.split_document(read);
            let from = self.passages.len();
            let most = self.request.max_passages.unwrap_or(usize::MAX);
            for passage in read.passages.into_iter().take(most) {
                let begin = passage.as_ptr() as usize - text.as_ptr() as usize;
                n_bytes += passage.len();
                self.passages.push(Passage {
                    text: self.texts.len(),
                    bytes: begin..begin + passage.len(),
                    length: 0,
                    score: f64::NAN,
                });
            }
            self.texts.push(CountedText {
                passages: from..self.passages.len(),
                truncated: read.truncated,
                matches: None,
            });
        }
        let new = &mut self.passages[first..];
        let written: Vec<&str> = new
            .iter()
            .map(|it| it.of(&self.request.documents))
            .collect();
        let cut = self
            .passage_ranker
            .tokenize_texts(QueryOrDocumentRole::Document, &written)?;
        for (passage, tokens) in new.iter_mut().zip(cut) {
            let cut_together = match &*self.passage_ranker.reader {
                SeparateOrJointInputModel::Independent(_)
                | SeparateOrJointInputModel::Expanded(_) => false,
                SeparateOrJointInputModel::Joint(model) => {
                    model.join_tokenized_pair(&self.query, &tokens).truncated
                }
            };
            if tokens.truncated || cut_together || self.texts[passage.text].truncated {
                (self.request.on_truncation)(TruncatedInput::Document(passage.text))?;
            }
            let n_generated = self.passage_ranker.max_generated_tokens();
            self.n_tokens += (tokens.ids.len() + self.query.ids.len() + n_generated) as u64;
            passage.length = self
                .passage_ranker
                .n_planned_tokens_of_passages(&[tokens], 1);
        }
        Ok(())
    }

    fn make_plan(&self) -> Result<(EncodedQueries, std::vec::IntoIter<Vec<usize>>), Error> {
        if self.n_tokens > self.request.max_tokens {
            return Err(Error::TooLarge {
                what: "tokens to encode",
                found: self.n_tokens,
                most: self.request.max_tokens,
            });
        }
        let query = std::slice::from_ref(&self.request.query);
        let pairs: Vec<(u32, u32)> = (0..self.passages.len() as u32).map(|it| (0, it)).collect();
        let prepared =
            self.passage_ranker
                .encode_queries_of_pairs(query, &pairs, STEP_TOKENS as u32)?;
        let lengths: Vec<usize> = self.passages.iter().map(|it| it.length).collect();
        let batches = neural::batch_texts_by_length(&lengths, STEP_TOKENS);
        Ok((prepared, batches.into_iter()))
    }

    fn score(&mut self) -> Result<(), Error> {
        let Some((prepared, batches)) = &mut self.plan else {
            return Ok(());
        };
        let batch = batches.next().unwrap_or_default();
        let texts = &self.request.documents;
        let written = batch
            .iter()
            .map(|&it| (it as u32, self.passages[it].of(texts)));
        let cut = self
            .passage_ranker
            .tokenize_document_batch(&written.collect::<Vec<_>>())?;
        let ranker = &self.passage_ranker;
        for scored in
            ranker.score_batch_with_optional_matches(prepared, &cut, self.request.detail)?
        {
            let place = scored.pair as usize;
            self.passages[place].score = scored.score;
            let text = &mut self.texts[self.passages[place].text];
            text.truncated |= scored.truncated;
            let Some(matches) = scored.matches else {
                continue;
            };
            // Of passages with equal scores, the first one counts.
            let is_best = text.matches.as_ref().is_none_or(|&(kept, _)| {
                let best = self.passages[kept].score;
                scored.score > best || (scored.score == best && place < kept)
            });
            if is_best {
                text.matches = Some((place, matches));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::ModelRegistry;
    use crate::models::tests::fixture;

    fn ranker(spec: &str) -> Arc<NeuralRanker> {
        let folder = fixture(spec.split(':').next().unwrap());
        let models = ModelRegistry::with_models_or_default(&[folder], neural::Device::Cpu).unwrap();
        models.get_or_load_ranker(spec).unwrap()
    }

    fn request(texts: &[String]) -> ScoringInputWithLimits {
        ScoringInputWithLimits::without_limits("where do rivers end", texts)
    }

    /// Runs all steps. Returns the scores and the maximum number of tokens in a step.
    fn score(
        ranker: &Arc<NeuralRanker>,
        request: ScoringInputWithLimits,
    ) -> Result<(ScoredDocuments, u64), Error> {
        let mut work = ScoringRequestInProgress::check_request_and_start(ranker.clone(), request)?;
        let mut most = 0;
        while !work.is_done() {
            let before = ranker.sequence_and_token_counts();
            work.run_next_step()?;
            most = most.max(
                ranker
                    .sequence_and_token_counts()
                    .minus_earlier(before)
                    .tokens,
            );
        }
        Ok((work.into_scored_documents()?, most))
    }

    #[test]
    fn steps_give_the_scores_of_all_texts_at_once() {
        let texts: Vec<String> = (0..60).map(|it| "a b d f ".repeat(it)).collect();
        for spec in [
            "tiny:bi",
            "tiny:late",
            "tiny:late+maxp=5/3",
            "tiny:bi+meanp=5/3",
            "tiny:late+firstp=5/3",
            "cross-tiny:cross+maxp=5/3",
        ] {
            let ranker = ranker(spec);
            let (found, _) = score(&ranker, request(&texts)).unwrap();
            let expected = ranker
                .score_documents_in_detail("where do rivers end", &texts)
                .unwrap();
            assert_eq!(found.scores.len(), 60);
            for (found, expected) in found.scores.iter().zip(&expected) {
                assert!((found.score - expected.score).abs() < 1e-5, "{spec}");
                assert_eq!(found.pair, expected.pair, "{spec}");
                assert_eq!(found.truncated, expected.truncated, "{spec}");
                let shown = |it: &PairScoreWithMatches| {
                    it.matches.as_ref().map(|it| it.document_tokens.clone())
                };
                assert_eq!(shown(found), shown(expected), "{spec}");
            }
        }
    }

    #[test]
    fn a_step_is_short_also_where_one_text_has_many_passages() {
        let text = "a b d f ".repeat(500);
        for spec in ["tiny:bi+maxp=20/10", "cross-tiny:cross+maxp=20/10"] {
            let ranker = ranker(spec);
            let (found, most) = score(&ranker, request(std::slice::from_ref(&text))).unwrap();
            // The first step also encodes the query.
            let query_tokens = 64;
            assert!(found.n_tokens > 4_000, "{spec}: {}", found.n_tokens);
            assert!(most <= STEP_TOKENS as u64 + query_tokens, "{spec}: {most}");
        }
    }

    #[test]
    fn too_many_tokens_are_refused_before_anything_is_computed() {
        // [CLS] where do rivers end [SEP], for each of the following passages.
        let n_query = 6_u64;
        let text = || ["a b d f a b d f".to_owned()];
        for (spec, passages) in [
            ("tiny:bi", &[8_u64 + 2][..]),
            ("tiny:late+firstp=5/3", &[5 + 2]),
            ("tiny:late+maxp=5/3", &[5 + 2, 5 + 2]),
            ("cross-tiny:cross+meanp=5/3", &[5 + 2, 5 + 2]),
        ] {
            let ranker = ranker(spec);
            let n_tokens: u64 = passages.iter().map(|it| it + n_query).sum();
            let with_most = |max_tokens| ScoringInputWithLimits {
                max_tokens,
                ..request(&text())
            };
            let refused = score(&ranker, with_most(n_tokens - 1)).err().unwrap();
            assert_eq!(
                refused.to_string(),
                format!(
                    "{n_tokens} tokens to encode are too many; {} at most, so send less at once",
                    n_tokens - 1
                ),
                "{spec}"
            );
            assert_eq!(ranker.sequence_and_token_counts().sequences, 0, "{spec}");
            let (scored, _) = score(&ranker, with_most(n_tokens)).unwrap();
            assert_eq!(scored.n_tokens, n_tokens, "{spec}");
        }
    }

    #[test]
    fn only_the_first_tokens_are_read_where_that_is_asked_for() {
        let texts = ["river sea hill", "river", " river", "riverhill"].map(str::to_owned);
        let with_most = |max_text_tokens| ScoringInputWithLimits {
            max_document_tokens: Some(max_text_tokens),
            ..request(&texts)
        };
        for spec in ["tiny:bi", "cross-tiny:cross"] {
            let ranker = ranker(spec);
            let (found, _) = score(&ranker, with_most(1)).unwrap();
            for it in &found.scores {
                // The last digits depend on the batch.
                assert!((it.score - found.scores[1].score).abs() < 1e-5, "{spec}");
                assert!(!it.truncated);
            }
            let (all, _) = score(&ranker, with_most(10_000)).unwrap();
            let (usual, _) = score(&ranker, request(&texts)).unwrap();
            assert_eq!(all.scores, usual.scores);
            assert!(
                (all.scores[0].score - found.scores[0].score).abs() > 1e-5,
                "{spec}"
            );
        }
        let refused = score(&ranker("tiny:bi+maxp"), with_most(1)).err().unwrap();
        assert!(
            refused.to_string().contains("read texts whole"),
            "{refused}"
        );
    }
}
