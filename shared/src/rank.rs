//! Lexical rankers: scores from term statistics, and the contribution of each term.
//!
//! A score is the sum of a value for each query term, in the order of the query
//! ([`LexicalQueryScorer::query_term_score`]). An explanation takes the same score apart in another
//! way for query likelihood: a term that does not occur contributes 0
//! ([`LexicalQueryScorer::occurrence_contribution`]), and what remains depends on the length of the
//! document alone ([`LexicalQueryScorer::length_contribution`]) or on neither
//! ([`LexicalQueryScorer::background_contribution`]). The parts add up to the score, up to
//! rounding.

pub mod bm25;
pub mod query_likelihood;
pub mod max_score;

use serde::{Deserialize, Serialize};

use crate::error::{Error, ErrorFieldName};
use crate::index::DocumentAndTermTotals;
use crate::index::term_statistics::DistinctQueryTerms;

pub use bm25::Bm25;
pub use query_likelihood::QueryLikelihood;

/// A lexical ranker with its parameters.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum LexicalRanker {
    /// Okapi BM25.
    Bm25(Bm25),
    /// Query likelihood.
    QueryLikelihood(QueryLikelihood),
}

impl LexicalRanker {
    /// Returns the scorer for a query in a collection.
    pub fn prepare_query_scorer(
        &self,
        query: &DistinctQueryTerms,
        totals: &DocumentAndTermTotals,
    ) -> LexicalQueryScorer {
        match self {
            LexicalRanker::Bm25(it) => it.prepare_query_scorer(query, totals),
            LexicalRanker::QueryLikelihood(it) => it.prepare_query_scorer(query, totals),
        }
    }

    /// Returns the name and the parameters, for display.
    pub fn display_name_and_parameters(&self) -> (String, String) {
        match self {
            LexicalRanker::Bm25(it) => it.display_name_and_parameters(),
            LexicalRanker::QueryLikelihood(it) => it.display_name_and_parameters(),
        }
    }
}

/// A lexical ranker prepared for one query: term weights and the parts that depend on document
/// length.
#[derive(Debug, Clone, PartialEq)]
pub enum LexicalQueryScorer {
    /// BM25, see [`bm25`].
    Bm25 {
        /// w(Q)·idf·(k1 + 1) for each query term.
        weights: Vec<f64>,
        /// k1·(1 − b).
        length_base: f64,
        /// k1·b / average length.
        length_slope: f64,
    },
    /// Dirichlet smoothing, see [`query_likelihood`].
    Dirichlet {
        /// c(w, Q) and μ·cf/T for each query term; `None` for terms that the collection lacks.
        terms: Vec<Option<(f64, f64)>>,
        /// μ, in terms.
        mu: f64,
    },
    /// Jelinek-Mercer smoothing, see [`query_likelihood`].
    JelinekMercer {
        /// c(w, Q) and λ·cf/T for each query term; `None` for terms that the collection lacks.
        terms: Vec<Option<(f64, f64)>>,
        /// The weight of the collection model.
        lambda: f64,
    },
}

impl LexicalQueryScorer {
    /// Returns the contribution of `count` occurrences of a query term, given by its index, in a
    /// document of `len` terms.
    #[inline]
    pub fn query_term_score(&self, term: usize, count: u32, len: u32) -> f64 {
        match self {
            LexicalQueryScorer::Bm25 {
                weights,
                length_base: still,
                length_slope: per_term,
            } => {
                if count == 0 {
                    return 0.0;
                }
                let count = f64::from(count);
                weights[term] * count / (count + (still + per_term * f64::from(len)))
            }
            LexicalQueryScorer::Dirichlet { terms, mu } => match terms[term] {
                Some((weight, prior)) => {
                    weight * libm::log((f64::from(count) + prior) / (f64::from(len) + mu))
                }
                None => 0.0,
            },
            LexicalQueryScorer::JelinekMercer { terms, lambda } => match terms[term] {
                Some((weight, prior)) => {
                    let share = if len == 0 {
                        0.0
                    } else {
                        f64::from(count) / f64::from(len)
                    };
                    weight * libm::log((1.0 - lambda) * share + prior)
                }
                None => 0.0,
            },
        }
    }

    /// Returns what `count` occurrences of a query term, given by its index, add to the score of a
    /// document of `len` terms without it. For query likelihood this is the logarithm of the
    /// smoothed probability of the term over its probability without an occurrence, so
    /// c(w,Q)·ln(1 + c(w,d)/(μ·cf/T)) with Dirichlet and c(w,Q)·ln(1 + (1 − λ)·c(w,d)/(|d|·λ·cf/T))
    /// with Jelinek-Mercer smoothing. It is 0 if the term does not occur.
    pub fn occurrence_contribution(&self, term: usize, count: u32, len: u32) -> f64 {
        let count_or_share = match self {
            LexicalQueryScorer::Bm25 { .. } => return self.query_term_score(term, count, len),
            LexicalQueryScorer::Dirichlet { .. } => f64::from(count),
            LexicalQueryScorer::JelinekMercer { .. } if len == 0 => 0.0,
            LexicalQueryScorer::JelinekMercer { lambda, .. } => {
                (1.0 - lambda) * f64::from(count) / f64::from(len)
            }
        };
        match self.smoothed_terms()[term] {
            Some((weight, prior)) => weight * libm::log1p(count_or_share / prior),
            None => 0.0,
        }
    }

    /// Returns the part of a score that depends on the length of the document alone. With Dirichlet
    /// smoothing it is |Q|·ln(μ/(|d| + μ)), where |Q| counts the query terms that the collection
    /// has. It is 0 for the other rankers, whose contributions of terms include the length.
    pub fn length_contribution(&self, len: u32) -> f64 {
        match self {
            LexicalQueryScorer::Dirichlet { terms, mu } => {
                let n_terms: f64 = terms.iter().flatten().map(|it| it.0).sum();
                -n_terms * libm::log1p(f64::from(len) / mu)
            }
            LexicalQueryScorer::Bm25 { .. } | LexicalQueryScorer::JelinekMercer { .. } => 0.0,
        }
    }

    /// Returns the part of a score that is the same for every document: Σ c(w,Q)·ln(cf/T) with
    /// Dirichlet and Σ c(w,Q)·ln(λ·cf/T) with Jelinek-Mercer smoothing, and 0 for BM25.
    pub fn background_contribution(&self) -> f64 {
        let strength = match self {
            LexicalQueryScorer::Dirichlet { mu, .. } => *mu,
            LexicalQueryScorer::Bm25 { .. } | LexicalQueryScorer::JelinekMercer { .. } => 1.0,
        };
        let terms = self.smoothed_terms().iter().flatten();
        terms
            .map(|(weight, prior)| weight * libm::log(prior / strength))
            .sum()
    }

    /// Returns the terms of query likelihood; none for BM25.
    fn smoothed_terms(&self) -> &[Option<(f64, f64)>] {
        match self {
            LexicalQueryScorer::Bm25 { .. } => &[],
            LexicalQueryScorer::Dirichlet { terms, .. }
            | LexicalQueryScorer::JelinekMercer { terms, .. } => terms,
        }
    }

    /// Returns the score of a document of `len` terms in which the query terms occur `counts`
    /// times.
    #[inline]
    pub fn score(&self, counts: &[u32], len: u32) -> f64 {
        let terms = counts.iter().enumerate();
        terms.fold(0.0, |sum, (term, &count)| {
            sum + self.query_term_score(term, count, len)
        })
    }
}

/// Parses the parameters of `name:key=value,…`; each key must be known and occur at most once. Keys
/// are case-insensitive.
pub(crate) fn parse_ranker_parameters<'a>(
    spec: &'a str,
    known: &[&'a str],
) -> Result<Vec<(&'a str, &'a str)>, Error> {
    let Some((name, list)) = spec.split_once(':') else {
        return Ok(Vec::new());
    };
    let field = || ErrorFieldName::with_display_name("ranker", name);
    let mut pairs: Vec<(&str, &str)> = Vec::new();
    for part in list.split(',').filter(|it| !it.is_empty()) {
        let form = "of the form parameter=value";
        let pair = part.split_once('=');
        let (key, value) = pair.ok_or_else(|| Error::unparsable_value(field(), part, form))?;
        let same = |it: &&&str| it.eq_ignore_ascii_case(key);
        let Some(&key) = known.iter().find(same) else {
            return Err(Error::not_one_of(field(), key, known));
        };
        if pairs.iter().any(|it| it.0 == key) {
            let reason = format!("`{key}` is given twice");
            return Err(Error::conflicting_value(field(), reason));
        }
        pairs.push((key, value));
    }
    Ok(pairs)
}

/// Parses a finite number in a range.
pub(crate) fn parse_number_in_range(
    shown: &str,
    value: &str,
    allowed: std::ops::RangeInclusive<f64>,
) -> Result<f64, Error> {
    let parsed: Option<f64> = value.parse().ok().filter(|it: &f64| it.is_finite());
    parsed.filter(|it| allowed.contains(it)).ok_or_else(|| {
        let upper = if *allowed.end() == f64::MAX {
            format!("of at least {}", allowed.start())
        } else {
            format!("from {} to {}", allowed.start(), allowed.end())
        };
        let field = ErrorFieldName::with_display_name("ranker", shown);
        Error::unparsable_value(field, value, format!("a number {upper}"))
    })
}

impl std::str::FromStr for LexicalRanker {
    type Err = Error;

    /// Parses a lexical ranker with its parameters; names are case-insensitive.
    fn from_str(spec: &str) -> Result<LexicalRanker, Error> {
        let name = spec.split(':').next().unwrap_or_default();
        match name.to_ascii_lowercase().as_str() {
            "bm25" => Ok(LexicalRanker::Bm25(spec.parse()?)),
            "ql" => Ok(LexicalRanker::QueryLikelihood(spec.parse()?)),
            _ => Err(Error::not_one_of(
                "ranker",
                name,
                ["the lexical rankers bm25, ql"],
            )),
        }
    }
}

impl std::fmt::Display for LexicalRanker {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            LexicalRanker::Bm25(it) => it.fmt(out),
            LexicalRanker::QueryLikelihood(it) => it.fmt(out),
        }
    }
}
