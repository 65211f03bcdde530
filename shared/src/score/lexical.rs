//! Scores of the lexical rankers of [`crate::rank`].
//!
//! A derived document is scored with the statistics of the collection and never enters them.

use super::{QueryDocumentPairs, RankerInfo, RankerKind, RankerQueryDocumentScores};
use crate::collection::text_hash;
use crate::error::Error;
use crate::index::Index;
use crate::probe::StudyDocNo;
use crate::probe::features::DocumentFeatures;
use crate::probe::mining::OriginalOrDerivedDocument;
use crate::rank::LexicalRanker;

/// Scores documents for one query, so that queries can be scored in parallel.
pub fn score_lexically_for_query(
    index: &Index,
    ranker: &LexicalRanker,
    query: &str,
    texts: impl IntoIterator<Item = OriginalOrDerivedDocument>,
) -> Vec<f64> {
    let terms = index.query_term_statistics(query);
    let weighed = ranker.prepare_query_scorer(&terms, &index.collection_totals());
    let score = |text: OriginalOrDerivedDocument| {
        let DocumentFeatures {
            n_terms: mut len,
            term_counts: mut counts,
            ..
        } = DocumentFeatures::from_terms(&index.term_sequence_of_doc(text.source_doc()), &terms);
        match text {
            OriginalOrDerivedDocument::Original { .. } => {}
            OriginalOrDerivedDocument::Repeated { times, .. } => {
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

/// Assembles the scores of all queries, in their order.
pub fn concatenate_lexical_score_shards(
    ranker: &LexicalRanker,
    shards: Vec<Vec<f64>>,
    pairs: &QueryDocumentPairs,
) -> Result<RankerQueryDocumentScores, Error> {
    let values = shards.into_iter().flatten().map(Some).collect();
    RankerQueryDocumentScores::new(lexical_ranker_info(ranker), values, pairs)
}

/// Returns the identity of a lexical ranker and how it is shown.
pub fn lexical_ranker_info(ranker: &LexicalRanker) -> RankerInfo {
    let spec = ranker.to_string();
    let (label, detail) = ranker.display_name_and_parameters();
    RankerInfo {
        fingerprint: text_hash(&spec),
        spec,
        label,
        detail,
        kind: RankerKind::Lexical,
        note: None,
    }
}

/// Returns the documents of one query of `pairs`.
pub fn iter_document_refs_of_query<'a>(
    pairs: &'a QueryDocumentPairs,
    texts: &'a [OriginalOrDerivedDocument],
    query: usize,
) -> impl Iterator<Item = OriginalOrDerivedDocument> + 'a {
    pairs
        .documents_of_query(query)
        .iter()
        .map(|&it: &StudyDocNo| texts[it as usize])
}
