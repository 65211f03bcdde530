//! Many pairs of queries and texts: every text encoded once, in planned batches.
//!
//! The plan depends on the texts alone, and a batch gives the same bits whenever it is run
//! with as many threads. So a job that goes on after a crash, one that ran through, and
//! `axioscope score` on the command line agree to the last bit.

use neural::{Encoded, PairPieces, Pieces, Sparse};
use rayon::prelude::*;
use sha2::{Digest, Sha256};
use shared::api::Matches;

use crate::error::Error;
use crate::models::{Alone, Ranker, Reader, Together};
use crate::store::draft::Draft;

/// Pieces in a batch: enough to keep two cores busy, and at most some tens of megabytes.
pub(crate) const TOKEN_BUDGET: u32 = 4_096;

/// Pieces that a query adds to a text with which it is read; only plans go by it.
const USUAL_QUERY: usize = 16;

/// The score of one pair.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PairScore {
    /// Place of the pair.
    pub pair: u32,
    /// Finite, higher is better.
    pub score: f64,
    /// Whether the model saw only a part of the query or of the text.
    pub truncated: bool,
}

/// Pairs with their texts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Listed<'a> {
    /// As written.
    pub queries: &'a [String],
    /// Bodies.
    pub texts: &'a [String],
    /// Places of both.
    pub pairs: &'a [(u32, u32)],
}

impl Listed<'_> {
    /// SHA-256, in hex, over everything on which the scores of a ranker and their batches
    /// depend.
    pub(crate) fn hash(&self, ranker: &Ranker) -> String {
        let mut hasher = Sha256::new();
        let mut part = |text: &str| {
            hasher.update((text.len() as u64).to_le_bytes());
            hasher.update(text);
        };
        part(env!("CARGO_PKG_VERSION"));
        part(&ranker.about.fingerprint);
        part(&ranker.about.spec);
        part(&TOKEN_BUDGET.to_string());
        // The sums of a batch are cut among threads.
        part(&rayon::current_num_threads().to_string());
        for texts in [self.queries, self.texts] {
            part(&texts.len().to_string());
            texts.iter().for_each(|it| part(it));
        }
        for (query, text) in self.pairs {
            hasher.update(query.to_le_bytes());
            hasher.update(text.to_le_bytes());
        }
        shared::collection::hex(&hasher.finalize())
    }
}

/// A model's answer about one text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Said {
    /// Finite, higher is better.
    pub score: f64,
    /// Whether the model saw only a part of the text.
    pub truncated: bool,
    /// For late interaction, what the score is made of.
    pub matches: Option<Matches>,
}

/// Pairs whose queries are encoded, ready for their texts.
pub(crate) struct Prepared {
    /// By place; none where no pair needs it.
    queries: Vec<Option<Query>>,
    /// (text, query, pair), ascending.
    by_text: Vec<(u32, u32, u32)>,
}

/// A query as its ranker wants it.
enum Query {
    /// With whether it was cut.
    Encoded(Vectors, bool),
    Pieces(Pieces),
}

/// What was made of a text.
enum Vectors {
    Dense(Encoded),
    Sparse(Sparse),
}

impl Alone {
    fn tokenize(&self, text: &str) -> Result<Pieces, neural::Error> {
        match self {
            Alone::Dense(it) => it.tokenize(text),
            Alone::Sparse(it) => it.tokenize(text),
        }
    }

    fn encode(&self, pieces: &[&Pieces]) -> Result<Vec<Vectors>, neural::Error> {
        Ok(match self {
            Alone::Dense(it) => it.encode(pieces)?.into_iter().map(Vectors::Dense).collect(),
            Alone::Sparse(it) => it
                .encode(pieces)?
                .into_iter()
                .map(Vectors::Sparse)
                .collect(),
        })
    }

    fn score(&self, query: &Vectors, text: &Vectors) -> f64 {
        match (self, query, text) {
            (Alone::Dense(it), Vectors::Dense(query), Vectors::Dense(text)) => {
                it.score(query, text)
            }
            (Alone::Sparse(it), Vectors::Sparse(query), Vectors::Sparse(text)) => {
                it.score(query, text)
            }
            // Of another model; no score is taken that is none.
            _ => f64::NAN,
        }
    }

    fn matches(&self, query: &Vectors, text: &Vectors) -> Option<neural::Matches> {
        match (self, query, text) {
            (Alone::Dense(it), Vectors::Dense(query), Vectors::Dense(text)) => {
                it.matches(query, text)
            }
            _ => None,
        }
    }
}

impl Together {
    fn tokenize(&self, text: &str) -> Result<Pieces, neural::Error> {
        match self {
            Together::Cross(it) => it.tokenize(text),
            Together::Mono(it) => it.tokenize(text),
        }
    }

    fn pair(&self, query: &Pieces, text: &Pieces) -> PairPieces {
        match self {
            Together::Cross(it) => it.pair(query, text),
            Together::Mono(it) => it.pair(query, text),
        }
    }

    fn score(&self, pairs: &[&PairPieces]) -> Result<Vec<f64>, neural::Error> {
        match self {
            Together::Cross(it) => it.score(pairs),
            Together::Mono(it) => it.score(pairs),
        }
    }

    /// Names the model and its use.
    pub(super) fn fingerprint(&self) -> &str {
        match self {
            Together::Cross(it) => it.fingerprint(),
            Together::Mono(it) => it.fingerprint(),
        }
    }
}

impl Ranker {
    /// Scores a few texts for one query, with what the scores are made of.
    pub(crate) fn say(&self, query: &str, texts: &[String]) -> Result<Vec<Said>, Error> {
        let query = self.cut(&[query])?.remove(0);
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let pieces = self.cut(&texts)?;
        let model = match &self.reader {
            Reader::Alone(model) => model,
            Reader::Together(cross) => {
                let pairs: Vec<PairPieces> =
                    pieces.iter().map(|it| cross.pair(&query, it)).collect();
                let scores = self.score_together(cross, &pairs)?;
                let said = pairs.iter().zip(scores).map(|(pair, score)| Said {
                    score,
                    truncated: pair.truncated,
                    matches: None,
                });
                return Ok(said.collect());
            }
        };
        let query = self.encode(model, &[&query])?.remove(0);
        let lengths: Vec<usize> = pieces.iter().map(|it| it.ids.len()).collect();
        let mut said: Vec<Option<Said>> = vec![None; texts.len()];
        for batch in neural::plan_batches(&lengths, TOKEN_BUDGET as usize) {
            let cut: Vec<&Pieces> = batch.iter().map(|&it| &pieces[it]).collect();
            for (&place, text) in batch.iter().zip(self.encode(model, &cut)?) {
                said[place] = Some(Said {
                    score: model.score(&query, &text),
                    truncated: pieces[place].truncated,
                    matches: model.matches(&query, &text).map(to_wire),
                });
            }
        }
        Ok(said
            .into_iter()
            .map(|it| it.expect("a plan holds every text"))
            .collect())
    }

    /// Places of `texts` that are needed by `pairs`, in batches of at most `token_budget`
    /// pieces; where query and text are read together, each text counts once for each of its
    /// pairs.
    pub(crate) fn plan(
        &self,
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
        let mut lengths: Vec<usize> = self.cut(&written)?.iter().map(|it| it.ids.len()).collect();
        if let Reader::Together(_) = self.reader {
            let mut n_pairs = vec![0; needed.len()];
            for (_, text) in pairs {
                n_pairs[needed.partition_point(|it| it < text)] += 1;
            }
            let each = lengths.iter_mut().zip(n_pairs);
            each.for_each(|(length, n)| *length = (*length + USUAL_QUERY) * n);
        }
        let batches = neural::plan_batches(&lengths, token_budget as usize);
        Ok(batches
            .into_iter()
            .map(|it| it.into_iter().map(|at| needed[at]).collect())
            .collect())
    }

    /// Encodes the queries that `pairs` need.
    pub(crate) fn prepare(
        &self,
        queries: &[String],
        pairs: &[(u32, u32)],
        token_budget: u32,
    ) -> Result<Prepared, Error> {
        let turned: Vec<(u32, u32)> = pairs.iter().map(|&(query, text)| (text, query)).collect();
        let mut encoded: Vec<Option<Query>> = queries.iter().map(|_| None).collect();
        for batch in self.plan(queries, &turned, token_budget)? {
            let written: Vec<&str> = batch
                .iter()
                .map(|&it| queries[it as usize].as_str())
                .collect();
            let pieces = self.cut(&written)?;
            let made: Vec<Query> = match &self.reader {
                Reader::Together(_) => pieces.into_iter().map(Query::Pieces).collect(),
                Reader::Alone(model) => {
                    let vectors = self.encode(model, &pieces.iter().collect::<Vec<_>>())?;
                    let each = vectors.into_iter().zip(&pieces);
                    each.map(|(it, pieces)| Query::Encoded(it, pieces.truncated))
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
        Ok(Prepared {
            queries: encoded,
            by_text,
        })
    }

    /// Scores every pair of the texts of one batch.
    pub(crate) fn score_batch<T: AsRef<str> + Sync>(
        &self,
        prepared: &Prepared,
        texts: &[(u32, T)],
    ) -> Result<Vec<PairScore>, Error> {
        let written: Vec<&str> = texts.iter().map(|(_, text)| text.as_ref()).collect();
        let pieces = self.cut(&written)?;
        let model = match &self.reader {
            Reader::Alone(model) => model,
            Reader::Together(cross) => {
                let mut pairs = Vec::new();
                for ((place, _), text) in texts.iter().zip(&pieces) {
                    for &(_, query, pair) in prepared.of(*place) {
                        let Some(Query::Pieces(query)) = &prepared.queries[query as usize] else {
                            unreachable!("every query of a pair was cut into pieces");
                        };
                        pairs.push((pair, cross.pair(query, text)));
                    }
                }
                let (places, pairs): (Vec<u32>, Vec<PairPieces>) = pairs.into_iter().unzip();
                let scores = self.score_together(cross, &pairs)?;
                let each = places.into_iter().zip(&pairs).zip(scores);
                let scored = each.map(|((pair, it), score)| PairScore {
                    pair,
                    score,
                    truncated: it.truncated,
                });
                return Ok(scored.collect());
            }
        };
        let encoded = self.encode(model, &pieces.iter().collect::<Vec<_>>())?;
        let of = |at: usize| -> Vec<PairScore> {
            let (place, text) = (texts[at].0, &encoded[at]);
            let pairs = prepared.of(place).iter();
            let scored = pairs.map(|&(_, query, pair)| {
                let Some(Query::Encoded(query, cut)) = &prepared.queries[query as usize] else {
                    unreachable!("every query of a pair was encoded");
                };
                PairScore {
                    pair,
                    score: model.score(query, text),
                    truncated: *cut || pieces[at].truncated,
                }
            });
            scored.collect()
        };
        Ok((0..texts.len()).into_par_iter().flat_map_iter(of).collect())
    }

    /// One score for each pair, like lengths together, within the usual budget.
    fn score_together(&self, cross: &Together, pairs: &[PairPieces]) -> Result<Vec<f64>, Error> {
        let lengths: Vec<usize> = pairs.iter().map(|it| it.ids.len()).collect();
        let mut scores = vec![0.0; pairs.len()];
        for batch in neural::plan_batches(&lengths, TOKEN_BUDGET as usize) {
            let read: Vec<&PairPieces> = batch.iter().map(|&it| &pairs[it]).collect();
            let scored = cross.score(&read).map_err(Error::model(&self.about.spec))?;
            for (place, score) in batch.into_iter().zip(scored) {
                scores[place] = score;
            }
        }
        Ok(scores)
    }

    /// Scores all pairs, as a job does but at once, beginning with what the draft has; `done` is
    /// told how many there are after each batch.
    pub(crate) fn score_pairs(
        &self,
        listed: &Listed<'_>,
        draft: &mut Draft,
        mut done: impl FnMut(usize),
    ) -> Result<Vec<PairScore>, Error> {
        let Listed {
            queries,
            texts,
            pairs,
        } = *listed;
        let prepared = self.prepare(queries, pairs, TOKEN_BUDGET)?;
        let mut scores = Vec::with_capacity(pairs.len());
        for (batch, number) in self.plan(texts, pairs, TOKEN_BUDGET)?.into_iter().zip(0..) {
            if let Some(known) = draft.batch(number) {
                scores.extend(known);
            } else {
                let batch: Vec<(u32, &str)> = batch
                    .into_iter()
                    .map(|it| (it, texts[it as usize].as_str()))
                    .collect();
                let scored = self.score_batch(&prepared, &batch)?;
                draft.keep(number, &scored)?;
                scores.extend(scored);
            }
            done(scores.len());
        }
        scores.sort_unstable_by_key(|it| it.pair);
        Ok(scores)
    }

    fn cut(&self, texts: &[&str]) -> Result<Vec<Pieces>, Error> {
        let cut = texts
            .par_iter()
            .map(|it| match &self.reader {
                Reader::Alone(model) => model.tokenize(it),
                Reader::Together(cross) => cross.tokenize(it),
            })
            .collect::<Result<_, _>>();
        cut.map_err(Error::model(&self.about.spec))
    }

    fn encode(&self, model: &Alone, pieces: &[&Pieces]) -> Result<Vec<Vectors>, Error> {
        let encoded = model.encode(pieces);
        encoded.map_err(Error::model(&self.about.spec))
    }
}

impl Prepared {
    /// The pairs of a text.
    fn of(&self, text: u32) -> &[(u32, u32, u32)] {
        let from = self.by_text.partition_point(|it| it.0 < text);
        let to = self.by_text.partition_point(|it| it.0 <= text);
        &self.by_text[from..to]
    }
}

fn to_wire(matches: neural::Matches) -> Matches {
    let words = |pieces: Vec<neural::Piece>| pieces.into_iter().map(|it| it.piece).collect();
    Matches {
        query: words(matches.query),
        text: words(matches.text),
        cosines: matches
            .cosines
            .into_iter()
            .map(|row| row.into_iter().map(|it| it as f32).collect())
            .collect(),
    }
}
