//! What one query says of its words: a shard.

use std::collections::BTreeMap;

use super::QueryMatches;
use crate::stats::tau_ap::tau_ap;

/// Sums over the texts of a query's pool.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct QueryMatchStatistics {
    /// For each word of the query τ_AP without it: as in the paper, and with the masked ranking as
    /// the reference; none where the masked ranking puts all texts in one place.
    pub(super) importance: Vec<Option<[f64; 2]>>,
    /// For each piece of the query.
    pub(super) tokens: Vec<TokenMatchSums>,
}

/// What a piece of a query finds.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct TokenMatchSums {
    /// Of the greatest cosines, where it finds itself and where it does not.
    pub(super) sums: [f64; 2],
    /// How often.
    pub(super) counts: [u64; 2],
    /// How often it finds another piece of the query.
    pub(super) n_others: u64,
    /// How often it finds which other token.
    pub(super) soft_match_counts: BTreeMap<u32, u64>,
}

impl TokenMatchSums {
    /// The mean where it finds itself less the mean where it does not.
    pub(super) fn delta_es(&self) -> Option<f64> {
        let [exact, soft] = self.counts;
        let mean = |at: usize| self.sums[at] / self.counts[at] as f64;
        (exact > 0 && soft > 0).then(|| mean(0) - mean(1))
    }
}

/// Computes the match statistics of one query over its pool: the τ_AP importance of each word, and
/// the exact and soft matches of each token.
pub fn analyze_query(matched: &QueryMatches) -> QueryMatchStatistics {
    let QueryMatches {
        words,
        tokens: pieces,
        best_matches: best,
        ..
    } = matched;
    if pieces.is_empty() {
        return QueryMatchStatistics {
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
        Some([tau_ap(&scores, &masked)?, tau_ap(&masked, &scores)?])
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
    QueryMatchStatistics {
        importance: importance.collect(),
        tokens: places.collect(),
    }
}
