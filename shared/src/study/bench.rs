//! The Playground: a query and two or three texts against every axiom and lexical ranker.

use serde::{Deserialize, Serialize};

use crate::probe::{Axiom, Claim, Limits, Measured, Mode};
use crate::study::instance::{Contributions, Marked, Said, Term};
use crate::text::Analyzer;

/// What somebody typed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Typed {
    /// The query.
    pub query: String,
    /// Two or three texts.
    pub texts: Vec<String>,
    /// How texts become terms.
    pub analyzer: Analyzer,
    /// Bounds of the premises.
    pub limits: Limits,
    /// Reading of the axioms.
    pub mode: Mode,
    /// Lexical rankers, as on the command line.
    pub rankers: Vec<String>,
}

/// Every axiom on what was typed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Answer {
    /// With marks.
    pub query: Marked,
    /// Distinct query terms.
    pub terms: Vec<Term>,
    /// With marks.
    pub texts: Vec<Marked>,
    /// Length of each text, in terms.
    pub n_terms: Vec<u32>,
    /// Γ of each text.
    pub distances: Vec<Option<u32>>,
    /// One for each axiom: the order of texts in which it applies, or else the one that
    /// fails the fewest premises.
    pub axioms: Vec<Applied>,
    /// One for each ranker.
    pub contributions: Vec<Contributions>,
}

/// One axiom on what was typed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Applied {
    /// Which.
    pub axiom: Axiom,
    /// Over places in the texts.
    pub claim: Claim<u32>,
    /// Whether all premises hold.
    pub applies: bool,
    /// In the order the axiom checks them.
    pub premises: Vec<Measured>,
    /// One for each ranker; empty where the axiom does not apply.
    pub said: Vec<Said>,
}
