//! Scores all pairs with one ranker, or with several that encode texts in the same way and share
//! the forward passes.

use neural::{SingleOrMultiVectorEncoding, SingleOrMultiVectorRanker, TokenizedText};

use crate::error::Error;
use crate::models::architecture::EncodedInput;
use crate::models::{
    EncodedQueries, NeuralRanker, PairScore, QueryDocumentPairsWithTexts, TOKEN_BUDGET,
    TokenizedDocumentBatch,
};
use crate::store::partial_scores::PartialScores;

impl NeuralRanker {
    /// Scores all pairs in the same batches as a job. Batches that `draft` has are not computed
    /// again. `done` is called with the number of scored pairs after each batch.
    pub(crate) fn score_pairs(
        &self,
        listed: &QueryDocumentPairsWithTexts<'_>,
        draft: &mut PartialScores,
        done: impl FnMut(usize),
    ) -> Result<Vec<PairScore>, Error> {
        let draft = std::slice::from_mut(draft);
        let mut each = score_with_rankers_sharing_encodings(&[self], listed, draft, done)?;
        Ok(each.pop().unwrap_or_default())
    }
}

/// A batch that some of the rankers have not scored.
struct MissingBatch {
    number: u32,
    texts: Vec<u32>,
    /// Indices of these rankers.
    who: Vec<usize>,
}

/// The scores of a batch by ranker index.
type Scored = Vec<(usize, Vec<PairScore>)>;

/// Scores all pairs with rankers that encode texts like the first one
/// ([`NeuralRanker::has_same_encoding`]), each with its partial scores. The scores have the same
/// bits as those of each ranker alone. `done` is called with the number of pairs that all rankers
/// have scored. While a batch is scored, the next one is tokenized and the previous one is stored,
/// so three batches are in memory.
pub(crate) fn score_with_rankers_sharing_encodings(
    rankers: &[&NeuralRanker],
    listed: &QueryDocumentPairsWithTexts<'_>,
    drafts: &mut [PartialScores],
    mut done: impl FnMut(usize),
) -> Result<Vec<Vec<PairScore>>, Error> {
    let QueryDocumentPairsWithTexts {
        queries,
        documents: texts,
        pairs,
    } = *listed;
    let Some(first) = rankers.first() else {
        return Ok(Vec::new());
    };
    let mut scores: Vec<Vec<PairScore>> = vec![Vec::with_capacity(pairs.len()); rankers.len()];
    let mut missing = Vec::new();
    for (texts, number) in first
        .plan_scoring_batches(texts, pairs, TOKEN_BUDGET)?
        .into_iter()
        .zip(0..)
    {
        let mut who = Vec::new();
        for (at, draft) in drafts.iter().enumerate() {
            match draft.loaded_batch_scores(number) {
                Some(known) => scores[at].extend(known),
                None => who.push(at),
            }
        }
        if !who.is_empty() {
            missing.push(MissingBatch { number, texts, who });
        }
    }
    let mut tell = |scores: &[Vec<PairScore>]| {
        let least = scores.iter().map(Vec::len).min().unwrap_or_default();
        if least > 0 {
            done(least);
        }
    };
    tell(&scores);
    let prepared = match missing.is_empty() {
        true => Vec::new(),
        false => encode_queries(rankers, queries, pairs)?,
    };
    let mut missing = missing.into_iter();
    let mut cut_next = || {
        let Some(MissingBatch {
            number,
            texts: batch,
            who,
        }) = missing.next()
        else {
            return Ok(None);
        };
        let text = |place: u32| (place, texts[place as usize].as_str());
        let batch: Vec<(u32, &str)> = batch.into_iter().map(text).collect();
        Ok::<_, Error>(Some((number, who, first.tokenize_document_batch(&batch)?)))
    };
    let mut ahead = cut_next()?;
    let mut behind: Option<(u32, Scored)> = None;
    while let Some((number, who, batch)) = ahead {
        let keep = || match &behind {
            Some((number, scored)) => keep(drafts, *number, scored),
            None => Ok(()),
        };
        let readers: Vec<(usize, &NeuralRanker, &EncodedQueries)> = who
            .into_iter()
            .map(|at| (at, rankers[at], &prepared[at]))
            .collect();
        let (scored, (next, kept)) = rayon::join(
            || score_batch(&readers, &batch),
            || rayon::join(&mut cut_next, keep),
        );
        kept?;
        if let Some((_, scored)) = behind.replace((number, scored?)) {
            take(&mut scores, scored);
            tell(&scores);
        }
        ahead = next?;
    }
    if let Some((number, scored)) = behind {
        keep(drafts, number, &scored)?;
        take(&mut scores, scored);
        tell(&scores);
    }
    for scores in &mut scores {
        scores.sort_unstable_by_key(|it| it.pair);
    }
    Ok(scores)
}

/// Rankers that encode texts in the same way, with the encoded queries of some pairs.
pub(crate) struct RankersWithQueries {
    rankers: Vec<NeuralRanker>,
    prepared: Vec<EncodedQueries>,
}

impl RankersWithQueries {
    /// Encodes the queries that `pairs` need for each ranker.
    pub(crate) fn encode(
        rankers: Vec<NeuralRanker>,
        queries: &[String],
        pairs: &[(u32, u32)],
    ) -> Result<RankersWithQueries, Error> {
        let each: Vec<&NeuralRanker> = rankers.iter().collect();
        let prepared = encode_queries(&each, queries, pairs)?;
        Ok(RankersWithQueries { rankers, prepared })
    }

    /// Returns the scores of all pairs of the documents of a planned batch, by ranker: the same
    /// bits as [`score_with_rankers_sharing_encodings`].
    pub(crate) fn score_batch<T: AsRef<str>>(
        &self,
        documents: &[(u32, T)],
    ) -> Result<Vec<Vec<PairScore>>, Error> {
        let Some(first) = self.rankers.first() else {
            return Ok(Vec::new());
        };
        let batch = first.tokenize_document_batch(documents)?;
        let each = self.rankers.iter().zip(&self.prepared).enumerate();
        let readers: Vec<_> = each.map(|(at, (it, queries))| (at, it, queries)).collect();
        let scored = score_batch(&readers, &batch)?;
        Ok(scored.into_iter().map(|it| it.1).collect())
    }
}

fn encode_queries(
    rankers: &[&NeuralRanker],
    queries: &[String],
    pairs: &[(u32, u32)],
) -> Result<Vec<EncodedQueries>, Error> {
    let each = rankers.iter();
    each.map(|it| it.encode_queries_of_pairs(queries, pairs, TOKEN_BUDGET))
        .collect()
}

fn keep(drafts: &mut [PartialScores], number: u32, scored: &Scored) -> Result<(), Error> {
    let mut each = scored.iter();
    each.try_for_each(|(at, scores)| drafts[*at].append_batch(number, scores))
}

fn take(scores: &mut [Vec<PairScore>], scored: Scored) {
    for (at, scored) in scored {
        scores[at].extend(scored);
    }
}

/// Scores a batch with some rankers, which are given with their indices.
fn score_batch(
    readers: &[(usize, &NeuralRanker, &EncodedQueries)],
    batch: &TokenizedDocumentBatch,
) -> Result<Scored, Error> {
    let models = readers.iter().map(|it| it.1.as_dense_encoder()).collect();
    let (first, models) = match (readers, models) {
        ([(_, first, _), _, ..], Some(models)) => (first, models),
        _ => {
            let each = readers.iter();
            let scored = each
                .map(|&(at, it, prepared)| Ok((at, it.score_tokenized_batch(prepared, batch)?)));
            return scored.collect();
        }
    };
    let models: Vec<&SingleOrMultiVectorRanker> = models;
    let encode = |tokens: &[&TokenizedText]| {
        let each = models[0].encode_for_models(&models, tokens)?;
        let mut each: Vec<_> = each.into_iter().map(Vec::into_iter).collect();
        let of_text = |_| each.iter_mut().filter_map(Iterator::next).collect();
        Ok((0..tokens.len()).map(of_text).collect())
    };
    let encoded: Vec<Vec<SingleOrMultiVectorEncoding>> =
        first.run_in_token_batches(&batch.passages(), encode)?;
    let mut by_model: Vec<Vec<EncodedInput>> = models.iter().map(|_| Vec::new()).collect();
    for of_text in encoded {
        for (vectors, of_model) in of_text.into_iter().zip(&mut by_model) {
            of_model.push(EncodedInput::Dense(vectors));
        }
    }
    let each = readers.iter().zip(by_model);
    let scored = each.map(|(&(at, ranker, prepared), encoded)| {
        (at, ranker.score_encoded_passages(prepared, batch, &encoded))
    });
    Ok(scored.collect())
}
