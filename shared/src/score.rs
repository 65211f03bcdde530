//! Scores are data: (ranker, query, text) to a finite number.
//!
//! Where a score comes from (a formula here, a model on the backend, a file, a service)
//! makes no difference from here on.

pub mod lexical;
pub mod rescoring;

use serde::{Deserialize, Serialize};

use crate::error::{Error, FieldError, InvalidField};
use crate::probe::{MiningResult, StudyDocNo, are_valid_starts};
use rescoring::RescoringRecord;

/// The unique pairs of a query and a text that have to be scored, by query.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct QueryDocumentPairs {
    /// For each query where its texts begin, and at last the number of pairs.
    #[serde(alias = "starts")]
    offsets: Vec<u32>,
    /// Ascending and without repetition within each query.
    #[serde(alias = "texts")]
    documents: Vec<StudyDocNo>,
}

impl QueryDocumentPairs {
    /// From the texts of each query, in any order and with any repetition.
    pub fn new(by_query: impl IntoIterator<Item = Vec<StudyDocNo>>) -> QueryDocumentPairs {
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

    /// What has to be scored of a study: the pools and every text of an instance.
    pub fn from_mined(mined: &MiningResult) -> QueryDocumentPairs {
        QueryDocumentPairs::new(mined.pools.iter().enumerate().map(|(query, pool)| {
            let mut texts = pool.clone();
            for instances in &mined.instances {
                texts.extend(instances.docs_of(query));
                // Many instances share few texts: keep the list short as it grows.
                texts.sort_unstable();
                texts.dedup();
            }
            texts
        }))
    }

    /// Whether these are pairs of so many queries and texts: what was read may be anything.
    pub(crate) fn are_valid_for(&self, n_queries: usize, n_texts: usize) -> bool {
        are_valid_starts(&self.offsets, n_queries, self.documents.len())
            && (0..n_queries).all(|it| self.documents_of(it).is_sorted_by(|a, b| a < b))
            && self.documents.iter().all(|&it| (it as usize) < n_texts)
    }

    /// How many queries there are.
    pub fn n_queries(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// How many pairs there are.
    pub fn len(&self) -> usize {
        self.documents.len()
    }

    /// Whether there is nothing to score.
    pub fn is_empty(&self) -> bool {
        self.documents.is_empty()
    }

    /// The texts of one query, ascending.
    pub fn documents_of(&self, query: usize) -> &[StudyDocNo] {
        &self.documents[self.range_of(query)]
    }

    /// Where the pairs of one query stand.
    pub fn range_of(&self, query: usize) -> std::ops::Range<usize> {
        self.offsets[query] as usize..self.offsets[query + 1] as usize
    }

    /// Where a pair stands, if it is there.
    pub fn position(&self, query: usize, text: StudyDocNo) -> Option<usize> {
        let at = self.documents_of(query).binary_search(&text).ok()?;
        Some(self.offsets[query] as usize + at)
    }

    /// All pairs in order, as (query number, text number).
    pub fn iter(&self) -> impl Iterator<Item = (usize, StudyDocNo)> + '_ {
        (0..self.n_queries())
            .flat_map(|query| self.documents_of(query).iter().map(move |&it| (query, it)))
    }
}

/// What is needed to tell rankers apart and to show them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RankerInfo {
    /// As it is typed: `bm25:k1=1.2,…`, a model's name, `scores:FILE`.
    pub spec: String,
    /// For example `BM25`.
    pub label: String,
    /// For example `k1 1.2, b .75`.
    pub detail: String,
    /// Where its scores come from.
    pub kind: RankerKind,
    /// SHA-256 of everything that decides a score: parameters, or weights and use, in hex.
    pub fingerprint: String,
    /// Said beside its figures, for example that a model is not fine-tuned for this use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Where the scores of a ranker come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RankerKind {
    /// A formula over term counts; ties are differences up to 1e-9.
    Lexical,
    /// A model; two scores tie when they are equal.
    Neural,
    /// A ranker behind an address; two scores tie when they are equal.
    #[serde(alias = "service")]
    Remote,
    /// Numbers that somebody brought; two scores tie when they are equal.
    #[serde(alias = "file")]
    ScoreFile,
}

impl RankerKind {
    /// Two sides of a claim tie when they differ by no more than this.
    pub fn tie_threshold(self) -> f64 {
        match self {
            // Sums of logarithms differ in the last digits between equal texts.
            RankerKind::Lexical => 1e-9,
            RankerKind::Neural | RankerKind::Remote | RankerKind::ScoreFile => 0.0,
        }
    }

    /// Whether it is known which texts were seen only in part: a service may cut a text without
    /// a word, and a file of scores says nothing of it.
    pub fn reports_truncation(self) -> bool {
        match self {
            RankerKind::Lexical | RankerKind::Neural => true,
            RankerKind::Remote | RankerKind::ScoreFile => false,
        }
    }
}

/// The scores of one ranker, in the order of [`QueryDocumentPairs`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Scores {
    /// The ranker that scored.
    pub ranker: RankerInfo,
    /// One for each pair; none where the ranker gave no score.
    values: Vec<Option<f64>>,
    /// Pairs of which the ranker saw only a part, as places in [`QueryDocumentPairs`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub truncated: Vec<u32>,
    /// How a neural ranker's were computed, and some of them once more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(alias = "certificate")]
    pub rescoring: Option<RescoringRecord>,
}

impl Scores {
    /// Takes one value for each of `pairs`; a number that is not finite is refused.
    pub fn new(
        ranker: RankerInfo,
        values: Vec<Option<f64>>,
        pairs: &QueryDocumentPairs,
    ) -> Result<Scores, Error> {
        if values.len() != pairs.len() {
            let (n_scores, n_pairs) = (values.len(), pairs.len());
            let field = InvalidField::with_display("scores", &ranker.spec);
            return Err(FieldError::ScoreCountMismatch { n_scores, n_pairs }.for_field(field));
        }
        if let Some(at) = values
            .iter()
            .position(|it| it.is_some_and(|it| !it.is_finite()))
        {
            return Err(Error::malformed(
                InvalidField::with_display("scores", &ranker.spec),
                format!("the score of pair {} is not a finite number", at + 1),
            ));
        }
        Ok(Scores {
            ranker,
            values,
            truncated: Vec::new(),
            rescoring: None,
        })
    }

    /// The score at a place of [`QueryDocumentPairs`].
    pub fn get(&self, place: usize) -> Option<f64> {
        self.values[place]
    }

    /// All scores, in the order of [`QueryDocumentPairs`].
    pub fn values(&self) -> &[Option<f64>] {
        &self.values
    }

    /// How many pairs have no score.
    pub fn n_missing(&self) -> usize {
        self.values.iter().filter(|it| it.is_none()).count()
    }
}
