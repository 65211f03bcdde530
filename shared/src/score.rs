//! Scores: one finite number for each ranker, query and document.
//!
//! The source of a score (a lexical ranker, a neural model, a file, a remote ranker) makes no
//! difference to later stages.

pub mod lexical;
pub mod ranking_features;
pub mod rescoring;
pub mod slug;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::error::{Error, ErrorFieldName, InvalidFieldReason};
use crate::probe::{MiningResult, StudyDocNo, are_valid_row_offsets};
use rescoring::ScoreStabilityRecord;

/// What the spec of a ranker begins with whose scores are in a file: `scores:mine.run`.
pub const SCORE_FILE_PREFIX: &str = "scores:";

/// The unique query-document pairs that have to be scored, grouped by query.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct QueryDocumentPairs {
    /// For each query the offset of its first pair, followed by the number of pairs.
    #[serde(alias = "starts")]
    offsets: Vec<u32>,
    /// The documents, ascending and without repetition within each query.
    #[serde(alias = "texts")]
    documents: Vec<StudyDocNo>,
}

impl QueryDocumentPairs {
    /// Creates the pairs from the documents of each query, in any order and with any repetition.
    pub fn from_documents_by_query(
        by_query: impl IntoIterator<Item = Vec<StudyDocNo>>,
    ) -> QueryDocumentPairs {
        let mut pairs = QueryDocumentPairs {
            offsets: vec![0],
            documents: Vec::new(),
        };
        for mut texts in by_query {
            texts.sort_unstable();
            texts.dedup();
            pairs.documents.extend(texts);
            pairs.offsets.push(pairs.documents.len() as u32);
        }
        pairs
    }

    /// Returns the pairs that a study needs: the documents of the pools and of all instances.
    pub fn from_mining_result(mined: &MiningResult) -> QueryDocumentPairs {
        QueryDocumentPairs::from_documents_by_query(mined.pools.iter().enumerate().map(
            |(query, pool)| {
                let mut texts = pool.clone();
                for instances in &mined.instances {
                    texts.extend(instances.docs_of_query(query));
                    // Many instances share few documents, so the list stays short as it grows.
                    texts.sort_unstable();
                    texts.dedup();
                }
                texts
            },
        ))
    }

    /// Whether the pairs, which may come from an untrusted file, fit these numbers of queries and
    /// documents.
    pub(crate) fn are_valid_for_counts(&self, n_queries: usize, n_texts: usize) -> bool {
        are_valid_row_offsets(&self.offsets, n_queries, self.documents.len())
            && (0..n_queries).all(|it| self.documents_of_query(it).is_sorted_by(|a, b| a < b))
            && self.documents.iter().all(|&it| (it as usize) < n_texts)
    }

    /// Returns the number of queries.
    pub fn n_queries(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Returns the number of pairs.
    pub fn len(&self) -> usize {
        self.documents.len()
    }

    /// Whether there is nothing to score.
    pub fn is_empty(&self) -> bool {
        self.documents.is_empty()
    }

    /// Returns the documents of one query, ascending.
    pub fn documents_of_query(&self, query: usize) -> &[StudyDocNo] {
        &self.documents[self.pair_range_of_query(query)]
    }

    /// Returns the range of the pairs of one query.
    pub fn pair_range_of_query(&self, query: usize) -> std::ops::Range<usize> {
        self.offsets[query] as usize..self.offsets[query + 1] as usize
    }

    /// Returns the position of a pair, or `None` if it is not included.
    pub fn position_of_pair(&self, query: usize, text: StudyDocNo) -> Option<usize> {
        let at = self.documents_of_query(query).binary_search(&text).ok()?;
        Some(self.offsets[query] as usize + at)
    }

    /// Iterates over all pairs in order, as (query number, document number).
    pub fn iter(&self) -> impl Iterator<Item = (usize, StudyDocNo)> + '_ {
        (0..self.n_queries()).flat_map(|query| {
            self.documents_of_query(query)
                .iter()
                .map(move |&it| (query, it))
        })
    }
}

/// The identity of a ranker and how it is shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RankerInfo {
    /// The specification as typed: `bm25:k1=1.2,…`, the name of a model, `scores:FILE`.
    pub spec: String,
    /// The short name, for example `BM25`.
    pub label: String,
    /// The parameters, for example `k1 1.2, b .75`.
    pub detail: String,
    /// The source of its scores.
    pub kind: RankerKind,
    /// SHA-256, in hex, of everything that determines a score: the parameters, or the weights and
    /// how they are used.
    pub fingerprint: String,
    /// A note shown next to its figures, for example that a model is not fine-tuned for this use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Makes the labels of rankers different, for tables and figures: where labels coincide, the
/// parameters follow in parentheses, or the specification if the parameters coincide too.
pub fn disambiguate_labels<'a>(rankers: impl IntoIterator<Item = &'a mut RankerInfo>) {
    let rankers: Vec<&mut RankerInfo> = rankers.into_iter().collect();
    let plain: Vec<[String; 2]> = rankers
        .iter()
        .map(|it| [it.label.clone(), it.detail.clone()])
        .collect();
    for it in rankers {
        let same_label: Vec<_> = plain
            .iter()
            .filter(|[label, _]| *label == it.label)
            .collect();
        if same_label.len() < 2 {
            continue;
        }
        let n_same_detail = same_label
            .iter()
            .filter(|[_, detail]| *detail == it.detail)
            .count();
        let more = match n_same_detail > 1 || it.detail.is_empty() {
            true => &it.spec,
            false => &it.detail,
        };
        it.label = format!("{} ({more})", it.label);
    }
}

/// The source of the scores of a ranker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RankerKind {
    /// A lexical ranker; two scores tie if they differ by at most 1e-9.
    Lexical,
    /// A model over features of query and document, such as LambdaMART; two scores tie if they are
    /// equal.
    FeatureBased,
    /// A neural model; two scores tie if they are equal.
    Neural,
    /// A remote ranker; two scores tie if they are equal.
    #[serde(alias = "service")]
    Remote,
    /// Scores computed elsewhere and read from a file; two scores tie if they are equal.
    #[serde(alias = "file")]
    ScoreFile,
}

impl RankerKind {
    /// Every kind, in the order of tables and figures.
    pub const ALL: [RankerKind; 5] = [
        RankerKind::Lexical,
        RankerKind::FeatureBased,
        RankerKind::Neural,
        RankerKind::Remote,
        RankerKind::ScoreFile,
    ];

    /// Returns the label of the kind in tables and figures.
    pub fn label(self) -> &'static str {
        match self {
            RankerKind::Lexical => "Lexical",
            RankerKind::FeatureBased => "Feature-based",
            RankerKind::Neural => "Neural",
            RankerKind::Remote => "Remote",
            RankerKind::ScoreFile => "Score file",
        }
    }

    /// Returns the default tie threshold ε: the two sides of a claim tie if they differ by at most
    /// this.
    pub fn default_tie_threshold(self) -> f64 {
        match self {
            // Sums of logarithms differ in the last digits between equal documents.
            RankerKind::Lexical => 1e-9,
            RankerKind::FeatureBased
            | RankerKind::Neural
            | RankerKind::Remote
            | RankerKind::ScoreFile => 0.0,
        }
    }

    /// Whether the ranker reports which documents it truncated. A remote ranker may truncate a
    /// document silently, and a score file has no such information.
    pub fn reports_truncation(self) -> bool {
        match self {
            RankerKind::Lexical | RankerKind::FeatureBased | RankerKind::Neural => true,
            RankerKind::Remote | RankerKind::ScoreFile => false,
        }
    }
}

/// The scores of one ranker, in the order of [`QueryDocumentPairs`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RankerQueryDocumentScores {
    /// The ranker that computed the scores.
    pub ranker: RankerInfo,
    /// One score for each pair; `None` if the ranker gave none.
    values: Vec<Option<f64>>,
    /// The positions in [`QueryDocumentPairs`] of the pairs of which the ranker read only a part.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub truncated: Vec<u32>,
    /// How a neural ranker computed its scores, and some of them computed again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(alias = "certificate")]
    pub rescoring: Option<ScoreStabilityRecord>,
}

impl RankerQueryDocumentScores {
    /// Creates scores from one value for each of `pairs`. Returns an error if a number is not
    /// finite.
    pub fn new(
        ranker: RankerInfo,
        values: Vec<Option<f64>>,
        pairs: &QueryDocumentPairs,
    ) -> Result<RankerQueryDocumentScores, Error> {
        if values.len() != pairs.len() {
            let (n_scores, n_pairs) = (values.len(), pairs.len());
            let field = ErrorFieldName::with_display_name("scores", &ranker.spec);
            return Err(InvalidFieldReason::ScoreCountMismatch { n_scores, n_pairs }
                .into_error_for_field(field));
        }
        if let Some(at) = values
            .iter()
            .position(|it| it.is_some_and(|it| !it.is_finite()))
        {
            return Err(Error::malformed_value(
                ErrorFieldName::with_display_name("scores", &ranker.spec),
                format!("the score of pair {} is not a finite number", at + 1),
            ));
        }
        Ok(RankerQueryDocumentScores {
            ranker,
            values,
            truncated: Vec::new(),
            rescoring: None,
        })
    }

    /// Returns the score at a position of [`QueryDocumentPairs`].
    pub fn score_at_position(&self, place: usize) -> Option<f64> {
        self.values[place]
    }

    /// Returns all scores, in the order of [`QueryDocumentPairs`].
    pub fn scores_in_pair_order(&self) -> &[Option<f64>] {
        &self.values
    }

    /// Returns the number of pairs without a score.
    pub fn n_missing(&self) -> usize {
        self.values.iter().filter(|it| it.is_none()).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_that_coincide_get_parameters_or_the_specification() {
        let mut rankers = [
            ("bm25:k1=0.9", "BM25", "k1 .9"),
            ("bm25:k1=1.2", "BM25", "k1 1.2"),
            ("ql", "QL", "mu 1000"),
            ("scores:a.tsv", "run", ""),
            ("scores:b/a.tsv", "run", ""),
        ]
        .map(|(spec, label, detail)| RankerInfo {
            spec: spec.to_owned(),
            label: label.to_owned(),
            detail: detail.to_owned(),
            kind: RankerKind::Lexical,
            fingerprint: String::new(),
            note: None,
        });
        disambiguate_labels(&mut rankers);
        let labels = rankers.map(|it| it.label);
        let expected = [
            "BM25 (k1 .9)",
            "BM25 (k1 1.2)",
            "QL",
            "run (scores:a.tsv)",
            "run (scores:b/a.tsv)",
        ];
        assert_eq!(labels, expected);
    }
}
