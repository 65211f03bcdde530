//! Okapi BM25 (Robertson & Walker, SIGIR 1994; Robertson et al., TREC-3).
//!
//! S(Q, d) = Σ_w ((k3 + 1)·c(w,Q) / (k3 + c(w,Q))) · idf(w) · c(w,d)·(k1 + 1) /
//! (c(w,d) + k1·(1 − b + b·|d| / avg)) over the distinct query terms w. With k3 = ∞ the first
//! factor is c(w,Q). With N documents of which n hold w, idf is `lucene`
//! ln(1 + (N − n + .5)/(n + .5)), always positive, or `rsj` ln((N − n + .5)/(n + .5)), negative
//! for a term in more than half of the documents and not clamped.

use serde::{Deserialize, Serialize};

use super::{LexicalQueryScorer, LexicalRanker, parse_number_in_range, parse_ranker_parameters};
use crate::error::{Error, ErrorFieldName};
use crate::index::DocumentAndTermTotals;
use crate::index::term_statistics::DistinctQueryTerms;

/// Holds the parameters of the lexical ranker Okapi BM25: k1, b, k3 and the idf variant.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Bm25 {
    /// k1, the saturation of term frequency, at least 0.
    pub k1: f64,
    /// b, the strength of length normalization, from 0 to 1.
    pub b: f64,
    /// k3, the saturation of the term frequency in the query; `None` means ∞.
    pub k3: Option<f64>,
    /// The idf variant.
    pub idf: IdfVariant,
}

/// Inverse document frequency, in nats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum IdfVariant {
    /// ln(1 + (N − n + .5)/(n + .5)).
    Lucene,
    /// ln((N − n + .5)/(n + .5)), Robertson & Spärck Jones, not clamped.
    Rsj,
}

impl IdfVariant {
    /// Returns the idf of a term in `df` of `n_docs` documents.
    pub fn idf_of_term(self, df: u32, n_docs: u64) -> f64 {
        let odds = (n_docs as f64 - f64::from(df) + 0.5) / (f64::from(df) + 0.5);
        match self {
            IdfVariant::Lucene => libm::log(1.0 + odds),
            IdfVariant::Rsj => libm::log(odds),
        }
    }
}

impl Bm25 {
    /// Lucene's parameters: k1 = 1.2, b = 0.75.
    pub const DEFAULT: Bm25 = Bm25 {
        k1: 1.2,
        b: 0.75,
        k3: None,
        idf: IdfVariant::Lucene,
    };

    /// The parameters of Rennings, Moraes & Hauff (ECIR 2019): tuned for MAP, in Indri's form.
    pub const RENNINGS_2019: Bm25 = Bm25 {
        k1: 0.4,
        b: 0.1,
        k3: Some(1.0),
        idf: IdfVariant::Rsj,
    };

    /// Returns the weight of a term that occurs `count` times in the query, relative to once.
    pub(super) fn query_term_frequency_weight(&self, count: u32) -> f64 {
        let count = f64::from(count);
        match self.k3 {
            Some(k3) => (k3 + 1.0) * count / (k3 + count),
            None => count,
        }
    }

    pub(super) fn prepare_query_scorer(
        &self,
        query: &DistinctQueryTerms,
        totals: &DocumentAndTermTotals,
    ) -> LexicalQueryScorer {
        let weights = query.iter().map(|it| {
            self.query_term_frequency_weight(it.count)
                * self.idf.idf_of_term(it.df, totals.n_docs)
                * (self.k1 + 1.0)
        });
        let average = totals.average_document_length();
        let per_term = if average > 0.0 {
            self.k1 * self.b / average
        } else {
            0.0
        };
        LexicalQueryScorer::Bm25 {
            weights: weights.collect(),
            length_base: self.k1 * (1.0 - self.b),
            length_slope: per_term,
        }
    }

    pub(super) fn display_name_and_parameters(&self) -> (String, String) {
        let (label, idf) = match self.idf {
            IdfVariant::Lucene => ("BM25", ""),
            IdfVariant::Rsj => ("BM25, RSJ", ", idf may be negative"),
        };
        (
            label.to_owned(),
            format!("k1 {}, b {}{idf}", self.k1, self.b),
        )
    }
}

impl std::str::FromStr for Bm25 {
    type Err = Error;

    fn from_str(spec: &str) -> Result<Bm25, Error> {
        let mut found = Bm25::DEFAULT;
        for (key, value) in parse_ranker_parameters(spec, &["k1", "b", "k3", "idf"])? {
            match key {
                "k1" => found.k1 = parse_number_in_range("bm25 k1", value, 0.0..=f64::MAX)?,
                "b" => found.b = parse_number_in_range("bm25 b", value, 0.0..=1.0)?,
                "k3" if value.eq_ignore_ascii_case("inf") => found.k3 = None,
                "k3" => found.k3 = Some(parse_number_in_range("bm25 k3", value, 0.0..=f64::MAX)?),
                _ => {
                    found.idf = match value.to_ascii_lowercase().as_str() {
                        "lucene" => IdfVariant::Lucene,
                        "rsj" => IdfVariant::Rsj,
                        _ => {
                            let field = ErrorFieldName::with_display_name("ranker", "bm25 idf");
                            return Err(Error::not_one_of(field, value, ["lucene", "rsj"]));
                        }
                    }
                }
            }
        }
        Ok(found)
    }
}

impl std::fmt::Display for Bm25 {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Bm25 { k1, b, k3, idf } = self;
        let idf = match idf {
            IdfVariant::Lucene => "lucene",
            IdfVariant::Rsj => "rsj",
        };
        match k3 {
            Some(k3) => write!(out, "bm25:k1={k1},b={b},k3={k3},idf={idf}"),
            None => write!(out, "bm25:k1={k1},b={b},k3=inf,idf={idf}"),
        }
    }
}

impl From<Bm25> for LexicalRanker {
    fn from(it: Bm25) -> LexicalRanker {
        LexicalRanker::Bm25(it)
    }
}

#[cfg(test)]
mod tests {
    use crate::index::Index;
    use crate::rank::LexicalRanker;
    use crate::text::Analyzer;

    /// Returns the scores of all documents for a query.
    fn scores(ranker: &str, query: &str, docs: &[&str]) -> Vec<f64> {
        let ranker: LexicalRanker = ranker.parse().unwrap();
        let index = Index::build(&Analyzer::default(), docs.iter().copied()).unwrap();
        let terms = index.query_term_statistics(query);
        let weighed = ranker.prepare_query_scorer(&terms, &index.collection_totals());
        let count = |doc: u32, number| {
            index
                .term_sequence_of_doc(doc)
                .iter()
                .filter(|&&it| Some(it) == number)
                .count() as u32
        };
        (0..docs.len() as u32)
            .map(|doc| {
                let counts: Vec<u32> = terms.iter().map(|it| count(doc, it.term_no)).collect();
                weighed.score(&counts, index.document_length(doc))
            })
            .collect()
    }

    #[test]
    fn a_score_by_hand() {
        // N = 3, avg = 2, river: n = 1, idf = ln(1 + 2.5/1.5) = 0.980829253;
        // bank: n = 2, idf = ln(1 + 1.5/2.5) = 0.470003629. Document 1 has length 3:
        // K = 1.2 (.25 + .75·3/2) = 1.65; river twice: 2·2.2/(2 + 1.65) = 1.205479452,
        // bank once: 2.2/2.65 = .830188679. Sum 1.182369496 + .390191692.
        let found = scores(
            "bm25",
            "river bank",
            &["river bank river", "bank money", "tree"],
        );
        assert!((found[0] - 1.572_561_203).abs() < 1e-8, "{found:?}");
        assert_eq!(found[2], 0.0);
    }

    #[test]
    fn rsj_weighs_terms_of_more_than_half_of_the_documents_negatively() {
        let found = scores("bm25:idf=rsj", "bank", &["bank", "bank", "tree"]);
        assert!(found[0] < 0.0, "{found:?}");
    }

    #[test]
    fn k3_tames_repetition_in_the_query() {
        // (1 + 1)·2/(1 + 2) = 4/3 instead of 2.
        let docs = ["bank", "tree", "tree"];
        let free = scores("bm25", "bank bank", &docs)[0];
        let tamed = scores("bm25:k3=1", "bank bank", &docs)[0];
        assert!((tamed / free - 2.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn wrong_parameters_are_refused_with_what_is_allowed() {
        let says = |spec: &str| spec.parse::<LexicalRanker>().unwrap_err().to_string();
        assert_eq!(
            says("bm25:k1=-1"),
            "bm25 k1: `-1` is not a number of at least 0"
        );
        assert_eq!(says("bm25:b=2"), "bm25 b: `2` is not a number from 0 to 1");
        assert_eq!(
            says("bm25:k1=nan"),
            "bm25 k1: `nan` is not a number of at least 0"
        );
        assert_eq!(says("bm25:k=1"), "bm25: `k` is none of k1, b, k3, idf");
        assert_eq!(
            says("bm52"),
            "ranker: `bm52` is none of the lexical rankers bm25, ql"
        );
    }

    #[test]
    fn a_ranker_is_written_as_it_is_read() {
        for spec in [
            "bm25:k1=1.2,b=0.75,k3=inf,idf=lucene",
            "bm25:k1=0.4,b=0.1,k3=1,idf=rsj",
        ] {
            assert_eq!(spec.parse::<LexicalRanker>().unwrap().to_string(), spec);
        }
    }

    #[test]
    fn names_are_read_in_any_case() {
        for (spec, read) in [
            ("BM25", "bm25:k1=1.2,b=0.75,k3=inf,idf=lucene"),
            (
                "Bm25:K1=0.9,B=0.4,K3=INF,IDF=RSJ",
                "bm25:k1=0.9,b=0.4,k3=inf,idf=rsj",
            ),
            ("QL:MU=750", "ql:mu=750"),
            ("Ql:Lambda=0.5", "ql:lambda=0.5"),
        ] {
            assert_eq!(spec.parse::<LexicalRanker>().unwrap().to_string(), read);
        }
        let error = "BM25:k1=1,K1=2".parse::<LexicalRanker>().unwrap_err();
        assert_eq!(error.to_string(), "BM25: `k1` is given twice");
    }
}
