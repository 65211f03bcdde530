//! Negatives from a ranking, random or hard, and the scores of a teacher.

use std::collections::BTreeMap;

use neural::training::{NegativeSource, SamplingSettings, TrainingExamples, select_hard_negatives};
use rayon::prelude::*;
use shared::collection::trec::ImportedScores;
use shared::collection::{Collection, Run};
use shared::error::{Error as InputError, ErrorFieldName};
use shared::index::{DocNo, Index};
use shared::probe::CandidatePoolSpec;
use shared::probe::mining::OriginalOrDerivedDocument;
use shared::rank::LexicalRanker;
use shared::score::lexical::score_lexically_for_query;

use super::examples::{CandidateRow, SplitCandidates};
use super::pools::CandidatePools;
use crate::error::Error;

/// The rankings of a candidate pool, with their scores.
pub(super) struct PoolRankings<'a> {
    pub collection: &'a Collection,
    pub pools: &'a CandidatePools,
    pub pool: &'a CandidatePoolSpec,
    /// The run of the pool, if it names one.
    pub run: Option<&'a Run>,
}

impl PoolRankings<'_> {
    /// Replaces the negatives of examples, which are all documents of lower grade, by those that
    /// the settings select. Rows are those of `candidates`.
    pub(super) fn select_negatives(
        &self,
        examples: TrainingExamples,
        candidates: &SplitCandidates,
        sampling: &SamplingSettings,
    ) -> Result<TrainingExamples, Error> {
        let depth = sampling.negative_depth.unwrap_or(usize::MAX);
        let examples = match sampling.negatives {
            NegativeSource::Judged => return Ok(examples),
            NegativeSource::Random => {
                let is_ranked = self.ranked_rows(candidates, depth);
                examples.select_negatives(|_, mut negatives| {
                    negatives.retain(|it| is_ranked[*it]);
                    Ok::<_, Error>(negatives)
                })?
            }
            NegativeSource::Hard => {
                let margin = sampling.hard_negative_margin.unwrap_or_default();
                let is_ranked = self.ranked_rows(candidates, usize::MAX);
                let scores = self.scores(candidates);
                examples.select_negatives(|positives, negatives| {
                    let mut bound = f64::INFINITY;
                    for &row in positives {
                        let score = scores[row].ok_or_else(|| self.unscored(candidates, row))?;
                        bound = bound.min(score);
                    }
                    let ranked = negatives.into_iter().filter(|it| is_ranked[*it]);
                    let ranked = ranked.filter_map(|it| Some((it, scores[it]?)));
                    let ranked: Vec<(usize, f64)> = ranked.collect();
                    Ok::<_, Error>(select_hard_negatives(&ranked, bound, margin, depth))
                })?
            }
        };
        match examples.is_empty() {
            false => Ok(examples),
            true => {
                let reason = "no relevant document has a negative; take a deeper pool or, for hard \
                              negatives, a smaller margin";
                Err(InputError::conflicting_value("sampling.negatives", reason).into())
            }
        }
    }

    /// Returns, for each row, whether its document is among the first `depth` of the ranking.
    fn ranked_rows(&self, candidates: &SplitCandidates, depth: usize) -> Vec<bool> {
        let first = |&query: &usize| {
            let ranking = self.pools.docs_of_query(query).iter().take(depth);
            let mut first: Vec<DocNo> = ranking.copied().collect();
            first.sort_unstable();
            first
        };
        let first: Vec<Vec<DocNo>> = candidates.queries.iter().map(first).collect();
        let rows = candidates.rows.iter();
        let is_ranked = rows.map(|it| first[it.query].binary_search(&(it.doc as DocNo)).is_ok());
        is_ranked.collect()
    }

    /// Returns the score of each row; a repeated document has that of the document.
    fn scores(&self, candidates: &SplitCandidates) -> Vec<Option<f64>> {
        match (self.pool, &self.pools.index, self.run) {
            (CandidatePoolSpec::LexicalRanker { ranker, .. }, Some(index), _) => {
                self.lexical_scores(candidates, ranker, index)
            }
            (_, _, Some(run)) => {
                let known = candidates.queries.iter().map(|&query| {
                    let ranking = run.0.get(&self.collection.queries[query].id);
                    let entries = ranking.into_iter().flatten();
                    entries.map(|it| (it.doc.as_str(), it.score)).collect()
                });
                let known: Vec<BTreeMap<&str, f64>> = known.collect();
                let score = |it: &CandidateRow| {
                    let doc = self.collection.docs[it.doc].id();
                    known[it.query].get(doc).copied()
                };
                candidates.rows.iter().map(score).collect()
            }
            (_, _, None) => vec![None; candidates.rows.len()],
        }
    }

    fn lexical_scores(
        &self,
        candidates: &SplitCandidates,
        ranker: &LexicalRanker,
        index: &Index,
    ) -> Vec<Option<f64>> {
        let of_query = candidates
            .rows
            .par_chunk_by(|one, next| one.query == next.query);
        let scored = of_query.flat_map_iter(|rows| {
            let query = &self.collection.queries[candidates.queries[rows[0].query]].text;
            let docs = rows.iter().map(|it| OriginalOrDerivedDocument::Original {
                doc: it.doc as DocNo,
            });
            score_lexically_for_query(index, ranker, query, docs)
        });
        scored.map(Some).collect()
    }

    fn unscored(&self, candidates: &SplitCandidates, row: usize) -> Error {
        let pair = candidates.describe_row(self.collection, row);
        let pool = ErrorFieldName::with_display_name("pool", format!("pool {}", self.pool));
        let reason = format!(
            "has no score of {pair}, which is relevant; add it to the run, or take random negatives"
        );
        InputError::unsupported_value(pool, reason).into()
    }
}

/// Returns the score of a teacher for each row of the examples, and 0 for other rows. A repeated
/// document has the score of the document. Returns an error for a row of the examples without one.
pub(super) fn select_teacher_scores(
    (name, scores): (String, ImportedScores),
    examples: &TrainingExamples,
    candidates: &SplitCandidates,
    collection: &Collection,
) -> Result<Vec<f32>, Error> {
    let mut selected = vec![0.0; candidates.rows.len()];
    for row in examples.rows() {
        let (query, doc) = candidates.ids_of_row(collection, row);
        let score = scores.get(query).and_then(|it| it.get(doc));
        let Some(score) = score else {
            let teacher = ErrorFieldName::with_display_name("teacher", format!("teacher {name}"));
            let pair = candidates.describe_row(collection, row);
            let reason = format!(
                "has no score of {pair}, which is in a training example; score all candidates of \
                 the training queries"
            );
            return Err(InputError::unsupported_value(teacher, reason).into());
        };
        selected[row] = *score as f32;
    }
    Ok(selected)
}

#[cfg(test)]
mod tests;
