//! Aggregates the match statistics of all queries by word and by token.

use std::collections::BTreeMap;

use super::query_matches::{QueryPoolMatchStatistics, TokenMatchSums};
use super::{
    LateInteractionAnalysisMetadata, LateInteractionRankerAnalysis, LateInteractionTokenStatistics,
    LateInteractionWordStatistics, MAX_SOFT_MATCHES, QueryTokenBestMatches, SoftMatchTargetToken,
};
use crate::stats::correlation::{CorrelationWithSampleSize, pearson_correlation};

/// The statistics of the collection and of the vectors.
pub struct DfAndSpectrumLookup<'a> {
    /// The number of documents.
    pub n_docs: u64,
    /// Returns the number of documents that contain a word, given in lower case.
    pub df: &'a dyn Fn(&str) -> u64,
    /// Returns the number of documents that contain a token.
    pub token_df: &'a dyn Fn(u32) -> u64,
    /// Returns the token as in the vocabulary.
    pub token: &'a dyn Fn(u32) -> String,
    /// Returns the number of document vectors of a token, and their spectral ratio.
    pub spectrum: &'a dyn Fn(u32) -> (u64, Option<f64>),
    /// Returns the spectral ratio of a token before fine-tuning.
    pub pretrained_spectral_ratio: &'a dyn Fn(u32) -> Option<f64>,
}

/// Sums over the occurrences of a word in queries.
#[derive(Default)]
struct WordAccumulator {
    queries: Vec<u32>,
    pieces: Vec<u32>,
    importance: Vec<[f64; 2]>,
    exact: u64,
    n: u64,
    others: u64,
    found: BTreeMap<u32, u64>,
}

/// The sum and the number of the ΔES values of a token over its query positions.
#[derive(Default)]
struct TokenAccumulator {
    sum: f64,
    n: u64,
}

/// Aggregates the statistics of all queries, in their order, into the analysis.
pub fn aggregate_into_late_interaction_analysis(
    head: LateInteractionAnalysisMetadata,
    each: &[(QueryTokenBestMatches, QueryPoolMatchStatistics)],
    known: &DfAndSpectrumLookup<'_>,
) -> LateInteractionRankerAnalysis {
    let mut words: BTreeMap<&str, WordAccumulator> = BTreeMap::new();
    let mut pieces: BTreeMap<u32, TokenAccumulator> = BTreeMap::new();
    for (matched, of) in each {
        for ((word, importance), at) in matched.words.iter().zip(&of.importance).zip(0..) {
            let own = words.entry(word).or_default();
            own.queries.push(matched.query_no);
            own.importance.extend(*importance);
            let first = own.pieces.is_empty();
            for (piece, place) in matched.tokens.iter().zip(&of.tokens) {
                if piece.word_index != Some(at) {
                    continue;
                }
                own.add(place);
                // A word that occurs twice in a query lists its tokens once.
                if first && !own.pieces.contains(&piece.id) {
                    own.pieces.push(piece.id);
                }
            }
        }
        for (piece, place) in matched.tokens.iter().zip(&of.tokens) {
            let own = pieces.entry(piece.id).or_default();
            if let Some(delta) = place.mean_exact_minus_soft_cosine() {
                own.sum += delta;
                own.n += 1;
            }
        }
    }
    let delta_of = |id: u32| {
        let of = pieces.get(&id)?;
        (of.n > 0).then(|| of.sum / of.n as f64)
    };
    let idf = |df: u64| (df > 0).then(|| libm::log(known.n_docs as f64 / df as f64));
    let words: Vec<LateInteractionWordStatistics> = words
        .into_iter()
        .map(|(word, of)| {
            let df = (known.df)(word);
            let deltas: Option<Vec<f64>> = of.pieces.iter().map(|&it| delta_of(it)).collect();
            let mean = |of_one: &dyn Fn(&[f64; 2]) -> f64| {
                let n = of.importance.len();
                (n > 0).then(|| of.importance.iter().map(of_one).sum::<f64>() / n as f64)
            };
            LateInteractionWordStatistics {
                word: word.to_owned(),
                tokens: of.pieces.iter().map(|&it| (known.token)(it)).collect(),
                idf: idf(df),
                df,
                importance: mean(&|it| it[0]),
                importance_reversed: mean(&|it| it[1]),
                importance_symmetric: mean(&|it| (it[0] + it[1]) / 2.0),
                delta_es: deltas.map(|it| it.into_iter().sum()),
                exact_share: of.share(of.exact),
                other_query_token_share: of.share(of.others),
                soft_matches: of.soft(known),
                query_nos: of.queries,
            }
        })
        .collect();
    let pieces: Vec<LateInteractionTokenStatistics> = pieces
        .into_iter()
        .map(|(id, of)| {
            let (n_occurrences, ratio) = (known.spectrum)(id);
            LateInteractionTokenStatistics {
                token: (known.token)(id),
                idf: idf((known.token_df)(id)),
                delta_es: (of.n > 0).then(|| of.sum / of.n as f64),
                n_query_positions: of.n,
                n_occurrences,
                spectral_ratio: ratio,
                pretrained_spectral_ratio: (known.pretrained_spectral_ratio)(id),
            }
        })
        .collect();
    LateInteractionRankerAnalysis {
        idf_importance_correlation: correlation(words.iter().map(|it| (it.idf, it.importance))),
        idf_delta_es_correlation: correlation(words.iter().map(|it| (it.idf, it.delta_es))),
        idf_spectral_correlation: correlation(pieces.iter().map(|it| (it.idf, it.spectral_ratio))),
        pretrained_idf_spectral_correlation: correlation(
            pieces
                .iter()
                .map(|it| (it.idf, it.pretrained_spectral_ratio)),
        ),
        before_fine_tuning: None,
        words,
        tokens: pieces,
        header: head,
    }
}

/// Computes the correlation over the points that have both values.
fn correlation(
    points: impl Iterator<Item = (Option<f64>, Option<f64>)>,
) -> Option<CorrelationWithSampleSize> {
    let both = points.filter_map(|(a, b)| Some([a?, b?]));
    pearson_correlation(&both.collect::<Vec<_>>())
}

impl WordAccumulator {
    fn add(&mut self, place: &TokenMatchSums) {
        let [exact, soft] = place.counts;
        self.exact += exact;
        self.n += exact + soft;
        self.others += place.n_others;
        for (piece, n) in &place.soft_match_counts {
            *self.found.entry(*piece).or_default() += n;
        }
    }

    fn share(&self, n: u64) -> f64 {
        match self.n {
            0 => 0.0,
            all => n as f64 / all as f64,
        }
    }

    /// Returns the most frequent soft matches; ties are in the order of the vocabulary.
    fn soft(&self, known: &DfAndSpectrumLookup<'_>) -> Vec<SoftMatchTargetToken> {
        let mut found: Vec<(u32, u64)> = self.found.iter().map(|(&id, &n)| (id, n)).collect();
        found.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
        found.truncate(MAX_SOFT_MATCHES);
        let named = found.into_iter();
        named
            .map(|(id, n)| SoftMatchTargetToken {
                token: (known.token)(id),
                share: self.share(n),
            })
            .collect()
    }
}
