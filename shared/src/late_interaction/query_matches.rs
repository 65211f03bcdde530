//! Match statistics of the words and tokens of one query, computed in parallel over queries.

use std::collections::BTreeMap;

use super::QueryTokenBestMatches;
use crate::stats::tau_ap::tau_ap_allowing_ties;

/// The match statistics of a query over the documents of its pool.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct QueryPoolMatchStatistics {
    /// For each word of the query, τ_AP without it: as in the paper, and with the masked ranking as
    /// the reference. `None` if all masked scores are equal.
    pub(super) importance: Vec<Option<[f64; 2]>>,
    /// For each token of the query.
    pub(super) tokens: Vec<TokenMatchSums>,
}

/// The sums and counts of the matches of one query token.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct TokenMatchSums {
    /// Sums of the cosines of exact matches and of soft matches.
    pub(super) sums: [f64; 2],
    /// Numbers of exact matches and of soft matches.
    pub(super) counts: [u64; 2],
    /// The number of matches with another token of the query.
    pub(super) n_others: u64,
    /// The number of matches with each other token, by token id.
    pub(super) soft_match_counts: BTreeMap<u32, u64>,
}

impl TokenMatchSums {
    /// Returns the mean cosine of exact matches minus that of soft matches; `None` without one of
    /// them.
    pub(super) fn mean_exact_minus_soft_cosine(&self) -> Option<f64> {
        let [exact, soft] = self.counts;
        let mean = |at: usize| self.sums[at] / self.counts[at] as f64;
        (exact > 0 && soft > 0).then(|| mean(0) - mean(1))
    }
}

/// Computes the match statistics of one query over its pool: the τ_AP importance of each word, and
/// the exact and soft matches of each token.
pub fn compute_query_token_match_statistics(
    matched: &QueryTokenBestMatches,
) -> QueryPoolMatchStatistics {
    let QueryTokenBestMatches {
        words,
        tokens: pieces,
        best_matches: best,
        ..
    } = matched;
    if pieces.is_empty() {
        return QueryPoolMatchStatistics {
            importance: vec![None; words.len()],
            tokens: Vec::new(),
        };
    }
    let texts = || best.chunks_exact(pieces.len());
    let sum = |masked: Option<u32>| -> Vec<f64> {
        let of_text = texts().map(|row| {
            let each = row.iter().zip(pieces);
            let kept = each.filter(|(_, piece)| masked.is_none() || piece.word_index != masked);
            kept.map(|(best, _)| f64::from(best.cosine)).sum()
        });
        of_text.collect()
    };
    let scores = sum(None);
    let importance = (0..words.len() as u32).map(|word| {
        let masked = sum(Some(word));
        Some([
            tau_ap_allowing_ties(&scores, &masked)?,
            tau_ap_allowing_ties(&masked, &scores)?,
        ])
    });
    let places = pieces.iter().enumerate().map(|(at, own)| {
        let mut place = TokenMatchSums::default();
        for row in texts() {
            let found = row[at];
            let other = usize::from(found.token_id != own.id);
            place.sums[other] += f64::from(found.cosine);
            place.counts[other] += 1;
            if other == 1 {
                *place.soft_match_counts.entry(found.token_id).or_default() += 1;
                let is_of_query = pieces.iter().any(|it| it.id == found.token_id);
                place.n_others += u64::from(is_of_query);
            }
        }
        place
    });
    QueryPoolMatchStatistics {
        importance: importance.collect(),
        tokens: places.collect(),
    }
}
