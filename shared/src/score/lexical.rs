//! Scores of the formulas of [`crate::rank`].
//!
//! A derived text is scored with the collection's statistics and never enters them.

use super::{Pairs, RankerAbout, RankerKind, Scores};
use crate::collection::text_hash;
use crate::error::Error;
use crate::index::Index;
use crate::probe::TextNo;
use crate::probe::counts::Counted;
use crate::probe::mine::Text;
use crate::rank::Ranker;

/// Scores texts for one query: a shard.
pub fn score_query(
    index: &Index,
    ranker: &Ranker,
    query: &str,
    texts: impl IntoIterator<Item = Text>,
) -> Vec<f64> {
    let terms = index.query_terms(query);
    let weighed = ranker.weigh(&terms, &index.totals());
    let score = |text: Text| {
        let Counted {
            mut len,
            mut counts,
            ..
        } = Counted::new(index.terms(text.doc()), &terms);
        match text {
            Text::Document { .. } => {}
            Text::Repeated { times, .. } => {
                len = len.saturating_mul(times);
                counts
                    .iter_mut()
                    .for_each(|it| *it = it.saturating_mul(times));
            }
        }
        weighed.score(&counts, len)
    };
    texts.into_iter().map(score).collect()
}

/// Puts the shards of all queries together.
pub fn collect(ranker: &Ranker, shards: Vec<Vec<f64>>, pairs: &Pairs) -> Result<Scores, Error> {
    let values = shards.into_iter().flatten().map(Some).collect();
    Scores::new(about(ranker), values, pairs)
}

/// What is needed to tell a formula apart and to show it.
pub fn about(ranker: &Ranker) -> RankerAbout {
    let spec = ranker.to_string();
    let (label, detail) = ranker.words();
    RankerAbout {
        fingerprint: text_hash(&spec),
        spec,
        label,
        detail,
        kind: RankerKind::Lexical,
        note: None,
    }
}

/// The texts of one query of `pairs`.
pub fn texts_of<'a>(
    pairs: &'a Pairs,
    texts: &'a [Text],
    query: usize,
) -> impl Iterator<Item = Text> + 'a {
    pairs
        .of(query)
        .iter()
        .map(|&it: &TextNo| texts[it as usize])
}
