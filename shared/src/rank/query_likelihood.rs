//! Query likelihood with Dirichlet or Jelinek-Mercer smoothing (Zhai & Lafferty, SIGIR 2001).
//!
//! With T occurrences of all terms in the collection and cf(w) of term w,
//! Dirichlet: S(Q, d) = Σ_w c(w,Q) · ln((c(w,d) + μ·cf(w)/T) / (|d| + μ));
//! Jelinek-Mercer: S(Q, d) = Σ_w c(w,Q) · ln((1 − λ)·c(w,d)/|d| + λ·cf(w)/T).
//! Terms that the collection lacks are left out. Scores are log-probabilities, in nats.

use serde::{Deserialize, Serialize};

use super::{LexicalQueryScorer, LexicalRanker, parse_number_in_range, parse_ranker_parameters};
use crate::error::{Error, ErrorFieldName};
use crate::index::DocumentAndTermTotals;
use crate::index::term_statistics::DistinctQueryTerms;

/// Query likelihood: a language model of a document, smoothed with that of the collection.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum QueryLikelihood {
    /// Dirichlet smoothing with μ > 0.
    Dirichlet {
        /// μ, in terms.
        mu: f64,
    },
    /// Jelinek-Mercer smoothing, a linear interpolation.
    JelinekMercer {
        /// λ, the weight of the collection model, above 0 and at most 1.
        lambda: f64,
    },
}

impl QueryLikelihood {
    /// The parameters of Câmara & Hauff (ECIR 2020): Dirichlet with μ = 2500.
    pub const DEFAULT: QueryLikelihood = QueryLikelihood::Dirichlet { mu: 2500.0 };

    /// The parameters of Rennings, Moraes & Hauff (ECIR 2019): Dirichlet with μ = 750.
    pub const RENNINGS_2019: QueryLikelihood = QueryLikelihood::Dirichlet { mu: 750.0 };

    pub(super) fn prepare_query_scorer(
        &self,
        query: &DistinctQueryTerms,
        totals: &DocumentAndTermTotals,
    ) -> LexicalQueryScorer {
        let smoothed = |strength: f64| {
            let prior = |cf: u64| strength * cf as f64 / totals.n_terms as f64;
            let terms = query.iter();
            terms
                .map(|it| (it.cf > 0).then(|| (f64::from(it.count), prior(it.cf))))
                .collect()
        };
        match *self {
            QueryLikelihood::Dirichlet { mu } => LexicalQueryScorer::Dirichlet {
                terms: smoothed(mu),
                mu,
            },
            QueryLikelihood::JelinekMercer { lambda } => LexicalQueryScorer::JelinekMercer {
                terms: smoothed(lambda),
                lambda,
            },
        }
    }

    pub(super) fn display_name_and_parameters(&self) -> (String, String) {
        let detail = match self {
            QueryLikelihood::Dirichlet { mu } => format!("Dirichlet, μ {mu}"),
            QueryLikelihood::JelinekMercer { lambda } => format!("Jelinek-Mercer, λ {lambda}"),
        };
        ("QL".to_owned(), detail)
    }
}

impl std::str::FromStr for QueryLikelihood {
    type Err = Error;

    fn from_str(spec: &str) -> Result<QueryLikelihood, Error> {
        let above_0 = |setting: &str, value: &str, most: f64| {
            let found = parse_number_in_range(setting, value, 0.0..=most)?;
            if found > 0.0 {
                return Ok(found);
            }
            Err(Error::out_of_range(
                ErrorFieldName::with_display_name("ranker", setting),
                "must be above 0; without smoothing, a missing query term has score ln(0)",
            ))
        };
        match parse_ranker_parameters(spec, &["mu", "lambda"])?.as_slice() {
            [] => Ok(QueryLikelihood::DEFAULT),
            [("mu", value)] => Ok(QueryLikelihood::Dirichlet {
                mu: above_0("ql mu", value, f64::MAX)?,
            }),
            [(_, value)] => Ok(QueryLikelihood::JelinekMercer {
                lambda: above_0("ql lambda", value, 1.0)?,
            }),
            _ => Err(Error::conflicting_value(
                ErrorFieldName::with_display_name("ranker", "ql"),
                "set either mu (Dirichlet) or lambda (Jelinek-Mercer), not both",
            )),
        }
    }
}

impl std::fmt::Display for QueryLikelihood {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            QueryLikelihood::Dirichlet { mu } => write!(out, "ql:mu={mu}"),
            QueryLikelihood::JelinekMercer { lambda } => write!(out, "ql:lambda={lambda}"),
        }
    }
}

impl From<QueryLikelihood> for LexicalRanker {
    fn from(it: QueryLikelihood) -> LexicalRanker {
        LexicalRanker::QueryLikelihood(it)
    }
}

#[cfg(test)]
mod tests {
    use crate::index::DocumentAndTermTotals;
    use crate::index::term_statistics::QueryTermStatistics;
    use crate::rank::{LexicalQueryScorer, LexicalRanker};

    fn scorer(spec: &str) -> LexicalQueryScorer {
        let ranker: LexicalRanker = spec.parse().unwrap();
        let unseen = QueryTermStatistics {
            term: "x".into(),
            term_no: None,
            count: 1,
            positions: Vec::new(),
            df: 0,
            cf: 0,
        };
        let seen = QueryTermStatistics {
            term: "bank".into(),
            term_no: Some(0),
            count: 2,
            positions: Vec::new(),
            df: 3,
            cf: 5,
        };
        let totals = DocumentAndTermTotals {
            n_docs: 10,
            n_terms: 100,
        };
        ranker.prepare_query_scorer(&vec![seen, unseen], &totals)
    }

    fn score(spec: &str, count: u32, len: u32) -> f64 {
        scorer(spec).score(&[count, 0], len)
    }

    #[test]
    fn scores_by_hand() {
        // 2·ln((3 + 10·.05)/(20 + 10)) = 2·ln(.116666667) = −4.296868826
        assert!((score("ql:mu=10", 3, 20) - -4.296_868_826).abs() < 1e-8);
        // 2·ln(.9·3/20 + .1·.05) = 2·ln(.14) = −3.932225713
        assert!((score("ql:lambda=0.1", 3, 20) - -3.932_225_713).abs() < 1e-8);
        // For an empty document: 2·ln(.5/10) and 2·ln(.005).
        assert!((score("ql:mu=10", 0, 0) - -5.991_464_547).abs() < 1e-8);
        assert!((score("ql:lambda=0.1", 0, 0) - -10.596_634_733).abs() < 1e-8);
    }

    #[test]
    fn parts_by_hand() {
        let near = |found: f64, expected: f64| {
            assert!((found - expected).abs() < 1e-8, "{found} {expected}");
        };
        // With μ = 10, the term has 10·.05 = .5 occurrences of the collection model:
        // 2·ln((3 + .5)/.5) = 2·ln 7, 2·ln(10/30), and 2·ln .05.
        let dirichlet = scorer("ql:mu=10");
        near(dirichlet.occurrence_contribution(0, 3, 20), 3.891_820_298);
        near(dirichlet.length_contribution(20), -2.197_224_577);
        near(dirichlet.background_contribution(), -5.991_464_547);
        // 2·ln(.14/.005) = 2·ln 28, and 2·ln .005.
        let interpolated = scorer("ql:lambda=0.1");
        near(
            interpolated.occurrence_contribution(0, 3, 20),
            6.664_409_020,
        );
        near(interpolated.background_contribution(), -10.596_634_733);
        for it in [dirichlet, interpolated] {
            // Neither a term that the collection lacks nor one without an occurrence counts.
            assert_eq!(it.occurrence_contribution(1, 0, 20), 0.0);
            assert_eq!(it.occurrence_contribution(0, 0, 20), 0.0);
            for (count, len) in [(3, 20), (0, 0), (0, 7)] {
                let sum = it.occurrence_contribution(0, count, len)
                    + it.length_contribution(len)
                    + it.background_contribution();
                near(sum, it.score(&[count, 0], len));
            }
        }
    }

    #[test]
    fn wrong_parameters_are_refused_with_what_is_allowed() {
        let says = |spec: &str| spec.parse::<LexicalRanker>().unwrap_err().to_string();
        assert_eq!(
            says("ql:mu=0"),
            "ql mu: must be above 0; without smoothing, a missing query term has score ln(0)"
        );
        assert_eq!(
            says("ql:lambda=2"),
            "ql lambda: `2` is not a number from 0 to 1"
        );
        assert_eq!(
            says("ql:mu=1,lambda=1"),
            "ql: set either mu (Dirichlet) or lambda (Jelinek-Mercer), not both"
        );
    }
}
