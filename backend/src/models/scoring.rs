//! Scores many query-document pairs: each text is encoded once, in planned batches.
//!
//! The plan depends only on the texts, and a batch gives the same bits whenever it is computed with
//! the same number of threads. Interrupted jobs, uninterrupted jobs and `axioscope score` therefore
//! agree to the last bit.

use neural::{QueryDocumentTokenSequence, QueryOrDocumentRole, TokenizedText};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use shared::api::TokenSimilarities;

use crate::error::Error;
use crate::models::NeuralRanker;
use crate::models::architecture::{
    EncodedInput, JointInputModel, SeparateInputEncoder, SeparateOrJointInputModel,
};
use crate::models::document_expansion::{DocumentExpander, ExpansionQuery};
use crate::models::passages::DocumentPassages;

/// Maximum number of tokens in a batch: enough to keep two cores busy.
pub(crate) const TOKEN_BUDGET: u32 = 4_096;

/// Number of tokens that plans assume for the query of a pair.
const ASSUMED_QUERY_TOKENS: usize = 16;

/// The score of one pair.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct PairScore {
    /// Index of the pair.
    pub pair: u32,
    /// Finite, higher is better.
    pub score: f64,
    /// Whether the model read only part of the query or document.
    pub truncated: bool,
}

/// Query-document pairs with their texts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct QueryDocumentPairsWithTexts<'a> {
    /// The texts of the queries.
    pub queries: &'a [String],
    /// The texts of the documents, with their titles.
    pub documents: &'a [String],
    /// Indices of query and document.
    pub pairs: &'a [(u32, u32)],
}

impl QueryDocumentPairsWithTexts<'_> {
    /// Returns the SHA-256, in hex, of everything that determines the scores and batches of a
    /// ranker.
    pub(crate) fn hash_with_ranker(&self, ranker: &NeuralRanker) -> String {
        self.hash_with_settings(&[
            env!("CARGO_PKG_VERSION"),
            &ranker.about.fingerprint,
            &ranker.about.spec,
            &TOKEN_BUDGET.to_string(),
            &ranker.computing.device.to_string(),
            // The work on a batch is divided among the threads, which affects rounding.
            &rayon::current_num_threads().to_string(),
            &ranker.statistics_hash().unwrap_or_default(),
        ])
    }

    /// Returns the SHA-256, in hex, of the pairs with their texts, and of the given settings.
    pub(crate) fn hash_with_settings(&self, decisive: &[&str]) -> String {
        let mut hasher = Sha256::new();
        let mut part = |text: &str| {
            hasher.update((text.len() as u64).to_le_bytes());
            hasher.update(text);
        };
        decisive.iter().for_each(|it| part(it));
        for texts in [self.queries, self.documents] {
            part(&texts.len().to_string());
            texts.iter().for_each(|it| part(it));
        }
        for (query, text) in self.pairs {
            hasher.update(query.to_le_bytes());
            hasher.update(text.to_le_bytes());
        }
        shared::collection::encode_hex(&hasher.finalize())
    }
}

/// The score of one pair, with details.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PairScoreWithMatches {
    /// Index of the pair.
    pub pair: u32,
    /// Finite, higher is better.
    pub score: f64,
    /// Whether the model read only part of the query or document.
    pub truncated: bool,
    /// The token matches of late interaction, if they were requested.
    pub matches: Option<TokenSimilarities>,
}

/// The details that are returned with a score.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ScoreDetailLevel {
    /// Only the score.
    Scores,
    /// The score and the token matches of late interaction.
    Matches,
}

/// The encoded queries of some pairs.
pub(crate) struct EncodedQueries {
    /// The queries by index; `None` for those that no pair needs.
    queries: Vec<Option<Query>>,
    /// Document, query and pair of each pair, in ascending order.
    by_text: Vec<(u32, u32, u32)>,
}

/// A query in the form that the ranker needs.
enum Query {
    /// The encoded query, and whether it was truncated.
    Encoded(EncodedInput, bool),
    Tokens(TokenizedText),
    Terms(ExpansionQuery),
}

impl NeuralRanker {
    /// Scores a few documents for one query, with details.
    pub(crate) fn score_documents_in_detail(
        &self,
        query: &str,
        texts: &[String],
    ) -> Result<Vec<PairScoreWithMatches>, Error> {
        let texts: Vec<(u32, &str)> = (0..).zip(texts.iter().map(String::as_str)).collect();
        let pairs: Vec<(u32, u32)> = texts.iter().map(|&(place, _)| (0, place)).collect();
        let documents = texts.iter().map(|it| it.1);
        let ranker = self.with_statistics_of_documents(documents, [query])?;
        let prepared = ranker.encode_queries_of_pairs(&[query.to_owned()], &pairs, TOKEN_BUDGET)?;
        ranker.score_batch_with_optional_matches(
            &prepared,
            &ranker.tokenize_document_batch(&texts)?,
            ScoreDetailLevel::Matches,
        )
    }

    /// Plans the documents that `pairs` need in batches of at most `token_budget` tokens, and
    /// returns the indices of each batch. For models that read query and document together, a
    /// document counts once for each of its pairs.
    pub(crate) fn plan_scoring_batches(
        &self,
        texts: &[String],
        pairs: &[(u32, u32)],
        token_budget: u32,
    ) -> Result<Vec<Vec<u32>>, Error> {
        self.plan_side(QueryOrDocumentRole::Document, texts, pairs, token_budget)
    }

    fn plan_side(
        &self,
        side: QueryOrDocumentRole,
        texts: &[String],
        pairs: &[(u32, u32)],
        token_budget: u32,
    ) -> Result<Vec<Vec<u32>>, Error> {
        let mut needed: Vec<u32> = pairs.iter().map(|&(_, text)| text).collect();
        needed.sort_unstable();
        needed.dedup();
        let written: Vec<&str> = needed
            .iter()
            .map(|&it| texts[it as usize].as_str())
            .collect();
        let cut = match side {
            QueryOrDocumentRole::Query => {
                let cut = self.tokenize_texts(side, &written)?.into_iter();
                cut.map(TokenizedDocumentPassages::of).collect()
            }
            QueryOrDocumentRole::Document => self.split_and_tokenize_documents(&written)?,
        };
        let mut n_pairs = vec![0; needed.len()];
        for (_, text) in pairs {
            n_pairs[needed.partition_point(|it| it < text)] += 1;
        }
        let each = cut.iter().zip(n_pairs);
        let lengths: Vec<usize> = each
            .map(|(text, n)| self.n_planned_tokens_of_passages(&text.passages, n))
            .collect();
        let batches = neural::batch_texts_by_length(&lengths, token_budget as usize);
        Ok(batches
            .into_iter()
            .map(|it| it.into_iter().map(|at| needed[at]).collect())
            .collect())
    }

    /// Returns the number of tokens that the passages of a document count in a plan: for models
    /// that read query and document together, once for each of its pairs.
    pub(super) fn n_planned_tokens_of_passages(
        &self,
        passages: &[TokenizedText],
        n_pairs: usize,
    ) -> usize {
        let n_tokens: usize = passages.iter().map(|it| it.ids.len()).sum();
        match &*self.reader {
            SeparateOrJointInputModel::Independent(_) => n_tokens,
            SeparateOrJointInputModel::Joint(_) => {
                (n_tokens + ASSUMED_QUERY_TOKENS * passages.len()) * n_pairs
            }
            SeparateOrJointInputModel::Expanded(_) => {
                n_tokens + self.max_generated_tokens() * passages.len()
            }
        }
    }

    /// Encodes the queries that `pairs` need.
    pub(crate) fn encode_queries_of_pairs(
        &self,
        queries: &[String],
        pairs: &[(u32, u32)],
        token_budget: u32,
    ) -> Result<EncodedQueries, Error> {
        let turned: Vec<(u32, u32)> = pairs.iter().map(|&(query, text)| (text, query)).collect();
        let mut encoded: Vec<Option<Query>> = queries.iter().map(|_| None).collect();
        for batch in self.plan_side(QueryOrDocumentRole::Query, queries, &turned, token_budget)? {
            let written: Vec<&str> = batch
                .iter()
                .map(|&it| queries[it as usize].as_str())
                .collect();
            let tokens = self.tokenize_texts(QueryOrDocumentRole::Query, &written)?;
            let made: Vec<Query> = match &*self.reader {
                SeparateOrJointInputModel::Joint(_) => {
                    tokens.into_iter().map(Query::Tokens).collect()
                }
                SeparateOrJointInputModel::Expanded(_) => {
                    let prepared = self.prepare_expansion_queries(&written)?;
                    prepared.into_iter().map(Query::Terms).collect()
                }
                SeparateOrJointInputModel::Independent(model) => {
                    let read: Vec<&TokenizedText> = tokens.iter().collect();
                    let vectors = self.encode(model, QueryOrDocumentRole::Query, &read)?;
                    let each = vectors.into_iter().zip(&tokens);
                    each.map(|(it, tokens)| Query::Encoded(it, tokens.truncated))
                        .collect()
                }
            };
            for (place, query) in batch.into_iter().zip(made) {
                encoded[place as usize] = Some(query);
            }
        }
        let mut by_text: Vec<(u32, u32, u32)> = turned
            .iter()
            .zip(0..)
            .map(|(&(text, query), pair)| (text, query, pair))
            .collect();
        by_text.sort_unstable();
        Ok(EncodedQueries {
            queries: encoded,
            by_text,
        })
    }

    /// Scores all pairs of the documents of one batch.
    pub(crate) fn score_batch_for_queries<T: AsRef<str>>(
        &self,
        prepared: &EncodedQueries,
        texts: &[(u32, T)],
    ) -> Result<Vec<PairScore>, Error> {
        self.score_tokenized_batch(prepared, &self.tokenize_document_batch(texts)?)
    }

    /// Tokenizes the documents of a batch. This needs no device, so it can run while the previous
    /// batch is scored.
    pub(crate) fn tokenize_document_batch<T: AsRef<str>>(
        &self,
        texts: &[(u32, T)],
    ) -> Result<TokenizedDocumentBatch, Error> {
        let written: Vec<&str> = texts.iter().map(|(_, text)| text.as_ref()).collect();
        Ok(TokenizedDocumentBatch {
            places: texts.iter().map(|it| it.0).collect(),
            cut: self.split_and_tokenize_documents(&written)?,
        })
    }

    /// Scores all pairs of the documents of a tokenized batch.
    pub(crate) fn score_tokenized_batch(
        &self,
        prepared: &EncodedQueries,
        batch: &TokenizedDocumentBatch,
    ) -> Result<Vec<PairScore>, Error> {
        let TokenizedDocumentBatch { places, cut } = batch;
        match &*self.reader {
            SeparateOrJointInputModel::Joint(cross) => {
                let mut read = Vec::new();
                let mut scored = Vec::new();
                for (place, text) in places.iter().zip(cut) {
                    for &(_, query, pair) in prepared.of(*place) {
                        let Some(Query::Tokens(query)) = &prepared.queries[query as usize] else {
                            unreachable!("every query of a pair was cut into tokens");
                        };
                        let first = read.len();
                        read.extend(
                            text.passages
                                .iter()
                                .map(|it| cross.join_tokenized_pair(query, it)),
                        );
                        let truncated =
                            text.truncated || read[first..].iter().any(|it| it.truncated);
                        scored.push((pair, truncated, first..read.len()));
                    }
                }
                let scores = self.score_together(cross, &read)?;
                let each = scored.into_iter().map(|(pair, truncated, own)| PairScore {
                    pair,
                    score: self.passages.combine_scores(&scores[own]),
                    truncated,
                });
                Ok(each.collect())
            }
            SeparateOrJointInputModel::Independent(model) => {
                let encoded =
                    self.encode(model, QueryOrDocumentRole::Document, &batch.passages())?;
                Ok(self.score_encoded_passages(prepared, batch, &encoded))
            }
            SeparateOrJointInputModel::Expanded(expander) => {
                self.score_expanded_batch(expander, prepared, batch)
            }
        }
    }

    /// Expands the documents of a batch and scores all their pairs.
    fn score_expanded_batch(
        &self,
        expander: &DocumentExpander,
        prepared: &EncodedQueries,
        TokenizedDocumentBatch { places, cut }: &TokenizedDocumentBatch,
    ) -> Result<Vec<PairScore>, Error> {
        let passages = cut.iter().flat_map(|it| &it.texts).map(String::as_str);
        let passages: Vec<&str> = passages.collect();
        let documents = self.expand_passages(expander, &passages)?;
        let mut rest = documents.as_slice();
        let mut scored = Vec::new();
        for (place, text) in places.iter().zip(cut) {
            let own = rest.split_off(..text.texts.len()).unwrap_or_default();
            for &(_, query, pair) in prepared.of(*place) {
                let Some(Query::Terms(query)) = &prepared.queries[query as usize] else {
                    unreachable!("every query of a pair was prepared");
                };
                let scores: Vec<f64> = own.iter().map(|it| query.score(it)).collect();
                scored.push(PairScore {
                    pair,
                    score: self.passages.combine_scores(&scores),
                    truncated: text.truncated,
                });
            }
        }
        Ok(scored)
    }

    /// Scores all pairs of the documents of a tokenized batch, with the requested details.
    pub(super) fn score_batch_with_optional_matches(
        &self,
        prepared: &EncodedQueries,
        batch: &TokenizedDocumentBatch,
        detail: ScoreDetailLevel,
    ) -> Result<Vec<PairScoreWithMatches>, Error> {
        let of_pair = |scored: PairScore, matches| PairScoreWithMatches {
            pair: scored.pair,
            score: scored.score,
            truncated: scored.truncated,
            matches,
        };
        match (&*self.reader, detail) {
            (SeparateOrJointInputModel::Independent(model), ScoreDetailLevel::Matches) => {
                let encoded =
                    self.encode(model, QueryOrDocumentRole::Document, &batch.passages())?;
                let scored = self.compare(prepared, batch, &encoded, |scored, compared| {
                    let shown = self.passages.best_passage_index(compared.scores);
                    let shown = shown.map(|it| &compared.passages[it]);
                    let matches = shown.and_then(|it| model.token_pair_cosines(compared.query, it));
                    of_pair(scored, matches.map(to_wire))
                });
                Ok(scored)
            }
            (
                SeparateOrJointInputModel::Independent(_)
                | SeparateOrJointInputModel::Joint(_)
                | SeparateOrJointInputModel::Expanded(_),
                _,
            ) => {
                let scored = self.score_tokenized_batch(prepared, batch)?.into_iter();
                Ok(scored.map(|it| of_pair(it, None)).collect())
            }
        }
    }

    /// Scores all pairs of the documents of a batch from their encoded passages.
    pub(super) fn score_encoded_passages(
        &self,
        prepared: &EncodedQueries,
        batch: &TokenizedDocumentBatch,
        encoded: &[EncodedInput],
    ) -> Vec<PairScore> {
        self.compare(prepared, batch, encoded, |scored, _| scored)
    }

    /// Calls `make` with the score and the encoded passages of each pair of a batch, and returns
    /// the results.
    fn compare<T: Send>(
        &self,
        prepared: &EncodedQueries,
        TokenizedDocumentBatch { places, cut }: &TokenizedDocumentBatch,
        encoded: &[EncodedInput],
        make: impl Fn(PairScore, ScoredPassages<'_>) -> T + Sync,
    ) -> Vec<T> {
        let SeparateOrJointInputModel::Independent(model) = &*self.reader else {
            unreachable!("only what reads texts by themselves encodes them");
        };
        let mut rest = encoded;
        let own = cut.iter().map(|it| {
            let own = rest.split_off(..it.passages.len());
            own.unwrap_or_default()
        });
        let own: Vec<&[EncodedInput]> = own.collect();
        let of = |at: usize| -> Vec<T> {
            let pairs = prepared.of(places[at]).iter();
            let scored = pairs.map(|&(_, query, pair)| {
                let Some(Query::Encoded(query, of_query)) = &prepared.queries[query as usize]
                else {
                    unreachable!("every query of a pair was encoded");
                };
                let scores = own[at].iter().map(|it| model.score_encoded_pair(query, it));
                let scores: Vec<f64> = scores.collect();
                let scored = PairScore {
                    pair,
                    score: self.passages.combine_scores(&scores),
                    truncated: *of_query || cut[at].truncated,
                };
                let compared = ScoredPassages {
                    query,
                    passages: own[at],
                    scores: &scores,
                };
                make(scored, compared)
            });
            scored.collect()
        };
        (0..places.len())
            .into_par_iter()
            .flat_map_iter(of)
            .collect()
    }

    /// Scores pairs with a model that reads query and document together. Pairs of similar length
    /// are batched, within the usual token budget.
    fn score_together(
        &self,
        cross: &JointInputModel,
        pairs: &[QueryDocumentTokenSequence],
    ) -> Result<Vec<f64>, Error> {
        let lengths: Vec<usize> = pairs.iter().map(|it| it.ids.len()).collect();
        let mut scores = vec![0.0; pairs.len()];
        for batch in neural::batch_texts_by_length(&lengths, TOKEN_BUDGET as usize) {
            let read: Vec<&QueryDocumentTokenSequence> =
                batch.iter().map(|&it| &pairs[it]).collect();
            let scored = self
                .monitor
                .run_forward_passes(&read, &|it| it.ids.len(), &|it| cross.score_pairs(it))
                .map_err(Error::model_error_converter(&self.about.spec))?;
            for (place, score) in batch.into_iter().zip(scored) {
                scores[place] = score;
            }
        }
        Ok(scores)
    }

    pub(super) fn tokenize_texts(
        &self,
        side: QueryOrDocumentRole,
        texts: &[&str],
    ) -> Result<Vec<TokenizedText>, Error> {
        let cut = texts
            .par_iter()
            .map(|it| self.reader.tokenize(side, it))
            .collect::<Result<_, _>>();
        cut.map_err(Error::model_error_converter(&self.about.spec))
    }

    /// Returns the beginning of a text with at most `most` tokens, or as many as the model reads.
    pub(super) fn truncate_to_tokens<'a>(
        &self,
        text: &'a str,
        most: usize,
    ) -> Result<&'a str, Error> {
        let tokens = self
            .tokenize_texts(QueryOrDocumentRole::Document, &[text])?
            .remove(0);
        // Tokens of a prompt have spans that end at 0.
        let mut ends = tokens.spans.iter().map(|it| it.1).filter(|&it| it > 0);
        let end = ends.nth(most.saturating_sub(1));
        let cut = end.and_then(|it| text.char_indices().nth(it as usize));
        Ok(cut.map_or(text, |(at, _)| &text[..at]))
    }

    /// Splits documents into passages and tokenizes them.
    pub(super) fn split_and_tokenize_documents(
        &self,
        texts: &[&str],
    ) -> Result<Vec<TokenizedDocumentPassages>, Error> {
        let read: Vec<DocumentPassages<'_>> = texts
            .iter()
            .map(|it| self.passages.split_document(it))
            .collect();
        let passages: Vec<&str> = read.iter().flat_map(|it| &it.passages).copied().collect();
        let mut tokens = self
            .tokenize_texts(QueryOrDocumentRole::Document, &passages)?
            .into_iter();
        let each = read.iter().map(|it| {
            let passages: Vec<TokenizedText> = tokens.by_ref().take(it.passages.len()).collect();
            let truncated = it.truncated || passages.iter().any(|it| it.truncated);
            // Only an expansion needs more than the tokens.
            let texts = match &*self.reader {
                SeparateOrJointInputModel::Expanded(_) => it.passages.as_slice(),
                SeparateOrJointInputModel::Independent(_) | SeparateOrJointInputModel::Joint(_) => {
                    &[]
                }
            };
            TokenizedDocumentPassages {
                passages,
                texts: texts.iter().map(|&it| it.to_owned()).collect(),
                truncated,
            }
        });
        Ok(each.collect())
    }

    fn encode(
        &self,
        model: &SeparateInputEncoder,
        side: QueryOrDocumentRole,
        tokens: &[&TokenizedText],
    ) -> Result<Vec<EncodedInput>, Error> {
        self.run_in_token_batches(tokens, |it| model.encode(side, it))
    }

    /// Runs `work` on all inputs at once if they fit into the usual token budget, as planned
    /// batches do, and otherwise in several batches.
    pub(super) fn run_in_token_batches<T>(
        &self,
        tokens: &[&TokenizedText],
        work: impl Fn(&[&TokenizedText]) -> Result<Vec<T>, neural::Error>,
    ) -> Result<Vec<T>, Error> {
        let budget = TOKEN_BUDGET as usize;
        let lengths: Vec<usize> = tokens.iter().map(|it| it.ids.len()).collect();
        let encode = |tokens: &[&TokenizedText]| {
            let encoded = self
                .monitor
                .run_forward_passes(tokens, &|it| it.ids.len(), &|it| work(it));
            encoded.map_err(Error::model_error_converter(&self.about.spec))
        };
        if lengths.iter().sum::<usize>() <= budget || tokens.len() == 1 {
            return encode(tokens);
        }
        let mut placed: Vec<(usize, T)> = Vec::with_capacity(tokens.len());
        for batch in neural::batch_texts_by_length(&lengths, budget) {
            let read: Vec<&TokenizedText> = batch.iter().map(|&it| tokens[it]).collect();
            placed.extend(batch.into_iter().zip(encode(&read)?));
        }
        placed.sort_unstable_by_key(|it| it.0);
        Ok(placed.into_iter().map(|it| it.1).collect())
    }
}

/// A query, the encoded passages of a document, and their scores.
struct ScoredPassages<'a> {
    query: &'a EncodedInput,
    passages: &'a [EncodedInput],
    scores: &'a [f64],
}

/// The tokenized documents of one batch.
pub(crate) struct TokenizedDocumentBatch {
    /// The indices of the documents.
    places: Vec<u32>,
    /// The tokenized documents, in the same order.
    cut: Vec<TokenizedDocumentPassages>,
}

impl TokenizedDocumentBatch {
    /// Returns the tokenized passages of all documents in the batch, in their order.
    pub(super) fn passages(&self) -> Vec<&TokenizedText> {
        self.cut.iter().flat_map(|it| &it.passages).collect()
    }
}

/// The tokenized passages of a document.
pub(super) struct TokenizedDocumentPassages {
    /// The tokenized passages, at least one.
    pub(super) passages: Vec<TokenizedText>,
    /// The passages as text, for a ranker that expands them; otherwise empty.
    texts: Vec<String>,
    /// Whether part of the document is in no passage or was truncated.
    truncated: bool,
}

impl TokenizedDocumentPassages {
    /// Returns a document with one passage.
    fn of(tokens: TokenizedText) -> TokenizedDocumentPassages {
        TokenizedDocumentPassages {
            truncated: tokens.truncated,
            passages: vec![tokens],
            texts: Vec::new(),
        }
    }
}

impl EncodedQueries {
    /// Returns the pairs of a document.
    fn of(&self, text: u32) -> &[(u32, u32, u32)] {
        let from = self.by_text.partition_point(|it| it.0 < text);
        let to = self.by_text.partition_point(|it| it.0 <= text);
        &self.by_text[from..to]
    }
}

fn to_wire(matches: neural::TokenPairCosines) -> TokenSimilarities {
    let words = |tokens: Vec<neural::SubwordToken>| tokens.into_iter().map(|it| it.token).collect();
    TokenSimilarities {
        query_tokens: words(matches.query),
        document_tokens: words(matches.document),
        cosines: matches
            .cosines
            .into_iter()
            .map(|row| row.into_iter().map(|it| it as f32).collect())
            .collect(),
    }
}
