//! The Instance page: why it is an instance, what each ranker said, which term decided.

use serde::{Deserialize, Serialize};

use crate::probe::{Axiom, Claim, Measured, Mode};
use crate::score::RankerAbout;
use crate::text::Span;
use crate::verdict::Verdict;

/// Everything the Instance page shows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Shown {
    /// Its place among the instances of the axiom and mode.
    pub number: u64,
    /// Which axiom.
    pub axiom: Axiom,
    /// In which reading.
    pub mode: Mode,
    /// Query id.
    pub query_id: String,
    /// The query as written, with its marks.
    pub query: Marked,
    /// Distinct query terms, in order of first appearance.
    pub terms: Vec<Term>,
    /// In the order of the claim.
    pub texts: Vec<ShownText>,
    /// Over places in `texts`.
    pub claim: Claim<u32>,
    /// In the order the axiom checks them.
    pub premises: Vec<Measured>,
    /// One for each ranker of the study.
    pub said: Vec<Said>,
    /// One for each lexical ranker.
    pub contributions: Vec<Contributions>,
}

/// A text with the places of query terms in it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Marked {
    /// As written. It comes from outside: text, never HTML.
    pub text: String,
    /// Ascending, without overlap.
    pub marks: Vec<Mark>,
}

/// Where a query term stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Mark {
    /// Bytes of the text, in UTF-8.
    pub span: Span,
    /// Place among the distinct query terms.
    pub term: u32,
    /// One of the two terms that stand nearest (Γ).
    pub nearest: bool,
}

/// A query term with what the collection knows of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Term {
    /// After analysis.
    pub term: String,
    /// As first written in the query.
    pub written: String,
    /// Occurrences in the query.
    pub count: u32,
    /// Documents that hold it.
    pub df: u32,
    /// Occurrences in the collection.
    pub cf: u64,
    /// 0 for the rarest query term, then on by df: the line it is marked with.
    pub rarity: u32,
}

/// A text of an instance.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ShownText {
    /// Document id, or `DOC#probe:argument` for a derived text.
    pub id: String,
    /// May be empty; it is the beginning of the body.
    pub title: String,
    /// What was analysed and scored, with marks.
    pub body: Marked,
    /// Its length, in terms.
    pub n_terms: u32,
    /// Occurrences of each distinct query term.
    pub counts: Vec<u32>,
    /// Γ, the least distance of two distinct query terms; none with fewer than two.
    pub distance: Option<u32>,
    /// Grade, if judged.
    pub grade: Option<i32>,
}

/// What one ranker said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Said {
    /// Who.
    pub ranker: RankerAbout,
    /// In the order of the texts.
    pub scores: Vec<Option<f64>>,
    /// Whether it saw only a part of each text.
    pub truncated: Vec<bool>,
    /// None without all scores.
    pub verdict: Option<Verdict>,
    /// The median size of its margins on this axiom, to scale a bar with.
    pub typical_margin: Option<f64>,
}

/// What each query term adds to the score of each text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Contributions {
    /// Who.
    pub ranker: RankerAbout,
    /// Distinct query terms × texts; each column sums, from the top, to the score.
    pub terms: Vec<Vec<f64>>,
    /// In the order of the texts.
    pub scores: Vec<f64>,
}
