//! The thresholds of probes, with units and sources, and the variants of axioms.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use utoipa::ToSchema;

use crate::error::Error;

/// The thresholds that decide what becomes an instance. Stored with every result. Those that are
/// left out have the values of [`MiningThresholds::STANDARD`], except δ.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MiningThresholds {
    /// δ, the largest difference in length, in terms, at which two documents count as equally long;
    /// `None` means any difference: `inf` in TOML, `null` in JSON or left out there.
    #[serde(
        default,
        rename = "length_gap_terms",
        serialize_with = "serialize_tolerance",
        deserialize_with = "deserialize_tolerance"
    )]
    pub length_tolerance_terms: Option<u32>,
    /// The minimum number of query-term occurrences in a document.
    #[serde(rename = "min_terms")]
    pub min_query_term_occurrences: u32,
    /// LNC2: the minimum number of repetitions of a document.
    #[serde(rename = "repeat_from")]
    pub min_repetitions: u32,
    /// LNC2: the maximum number of repetitions of a document.
    #[serde(rename = "repeat_to")]
    pub max_repetitions: u32,
    /// LNC2: the maximum length of a repeated document.
    #[serde(rename = "repeated_terms")]
    pub max_repeated_doc_terms: u32,
    /// LNC2 as printed by Câmara & Hauff: the length up to which a document is repeated.
    #[serde(rename = "filled_terms")]
    pub fill_length_terms: u32,
    /// LNC2 in their code: the length of the longest document that is repeated.
    #[serde(rename = "fillable_terms")]
    pub max_fillable_doc_terms: u32,
    /// STMC2: the minimum cosine of two documents that are about the same.
    #[serde(rename = "similar")]
    pub min_similarity: f64,
    /// Axioms of `ir_axioms`: two numbers are approximately equal if they differ by at most this
    /// share of the larger one.
    #[serde(rename = "share")]
    pub relative_tolerance: f64,
    /// STMC2 of `ir_axioms`: the same tolerance for two ratios.
    #[serde(rename = "ratio_share")]
    pub ratio_tolerance: f64,
    /// The maximum number of instances of one probe per query; `None` keeps all.
    #[serde(rename = "per_query")]
    pub max_per_query: Option<u32>,
    /// The maximum number of documents of a pool that are manipulated, sampled at random; `None`
    /// takes all.
    #[serde(rename = "manipulated", skip_serializing_if = "Option::is_none")]
    pub max_manipulated_docs: Option<u32>,
    /// The seed of all random samples.
    pub seed: u64,
}

impl Default for MiningThresholds {
    fn default() -> MiningThresholds {
        MiningThresholds::STANDARD
    }
}

/// Writes δ. Any difference is `inf` in TOML and `null` in JSON, which has no infinite numbers.
fn serialize_tolerance<S: Serializer>(terms: &Option<u32>, to: S) -> Result<S::Ok, S::Error> {
    match terms {
        Some(terms) => to.serialize_u32(*terms),
        None => to.serialize_f64(f64::INFINITY),
    }
}

/// Reads δ: a number of terms, or `inf` or `null` for any difference.
fn deserialize_tolerance<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u32>, D::Error> {
    const EXPECTED: &str = "length_gap_terms must be a number of terms, 0 or more, or inf";
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum WrittenTolerance {
        Terms(Option<u32>),
        Infinite(f64),
    }
    match WrittenTolerance::deserialize(from) {
        Ok(WrittenTolerance::Terms(terms)) => Ok(terms),
        Ok(WrittenTolerance::Infinite(f64::INFINITY)) => Ok(None),
        _ => Err(serde::de::Error::custom(EXPECTED)),
    }
}

impl MiningThresholds {
    /// The defaults of a study: δ and `min_terms` as in Câmara & Hauff (ECIR 2020), the repetition
    /// of Rennings, Moraes & Hauff (ECIR 2019), section 3.4, the cosine 1 − 0.2 of Câmara & Hauff,
    /// section 4.3, and the shares of `ir_axioms`, 10 % after Hagen et al. (CIKM 2016).
    pub const STANDARD: MiningThresholds = MiningThresholds {
        length_tolerance_terms: Some(10),
        min_query_term_occurrences: 1,
        min_repetitions: 2,
        max_repetitions: 4,
        max_repeated_doc_terms: 240,
        fill_length_terms: 512,
        max_fillable_doc_terms: 256,
        min_similarity: 0.8,
        relative_tolerance: 0.1,
        ratio_tolerance: 0.2,
        max_per_query: None,
        max_manipulated_docs: None,
        seed: 42,
    };

    /// Rennings, Moraes & Hauff (ECIR 2019): passages of six sentences, so any lengths are
    /// compared.
    pub const RENNINGS_2019: MiningThresholds = MiningThresholds {
        length_tolerance_terms: None,
        min_query_term_occurrences: 0,
        ..MiningThresholds::STANDARD
    };

    /// Câmara & Hauff (ECIR 2020), section 3.
    pub const CAMARA_2020: MiningThresholds = MiningThresholds::STANDARD;

    /// The upper bound of the length of a repeated document, and so of the number of repetitions:
    /// the longest input of current rerankers, with a margin.
    pub const MAX_REPEATED_DOC_TERMS: u32 = 4_096;

    /// Whether two lengths are within δ.
    pub fn are_lengths_similar(&self, a: u32, b: u32) -> bool {
        self.length_tolerance_terms
            .is_none_or(|gap| a.abs_diff(b) <= gap)
    }

    /// Returns an error for limits under which a probe is meaningless.
    pub fn validate(&self) -> Result<(), Error> {
        if self.min_repetitions < 2 || self.max_repetitions < self.min_repetitions {
            return Err(Error::out_of_range(
                "repeat",
                "a document is repeated at least twice, and `repeat_to` must not be below \
                 `repeat_from`",
            ));
        }
        let most = Self::MAX_REPEATED_DOC_TERMS;
        if [
            self.max_repetitions,
            self.max_repeated_doc_terms,
            self.fill_length_terms,
        ]
        .iter()
        .any(|&it| it > most)
        {
            return Err(Error::out_of_range(
                "repeat",
                format!("`repeat_to`, `repeated_terms` and `filled_terms` must be at most {most}"),
            ));
        }
        if !(-1.0..=1.0).contains(&self.min_similarity) {
            return Err(Error::out_of_range(
                "similar",
                "a cosine must be between -1 and 1",
            ));
        }
        if ![self.relative_tolerance, self.ratio_tolerance]
            .iter()
            .all(|it| (0.0..=1.0).contains(it))
        {
            return Err(Error::out_of_range(
                "share",
                "a share must be between 0 and 1",
            ));
        }
        for (name, limit) in [
            ("per_query", self.max_per_query),
            ("manipulated", self.max_manipulated_docs),
        ] {
            if limit == Some(0) {
                return Err(Error::out_of_range(
                    name,
                    "must be at least 1, or be omitted",
                ));
            }
        }
        Ok(())
    }
}

/// The paper whose printed definitions variant `paper` uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AxiomDefinitionPaper {
    /// Rennings, Moraes & Hauff, ECIR 2019.
    Rennings2019,
    /// Câmara & Hauff, ECIR 2020.
    Camara2020,
}

/// A variant of the definition of an axiom.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AxiomVariant {
    /// The definitions of Axioscope.
    Fixed,
    /// As printed in Rennings, Moraes & Hauff (ECIR 2019).
    #[serde(rename = "paper-rennings2019")]
    PaperRennings2019,
    /// As printed in Câmara & Hauff (ECIR 2020).
    #[serde(rename = "paper")]
    PaperCamara2020,
    /// As implemented in published code, including its defects: the code of Câmara & Hauff, and for
    /// the axioms of `ir_axioms` its release 1.2.5.
    #[serde(rename = "code")]
    Code,
}

impl AxiomVariant {
    /// All variants, in display order.
    pub const ALL: &[AxiomVariant] = &[
        AxiomVariant::Fixed,
        AxiomVariant::PaperRennings2019,
        AxiomVariant::PaperCamara2020,
        AxiomVariant::Code,
    ];

    /// Returns the name in commands, URLs and files.
    pub fn slug(self) -> &'static str {
        match self {
            AxiomVariant::Fixed => "fixed",
            AxiomVariant::PaperRennings2019 => "paper-rennings2019",
            AxiomVariant::PaperCamara2020 => "paper",
            AxiomVariant::Code => "code",
        }
    }

    /// Returns the variant of a word, given the source of a preset. Errors are about `field`.
    pub fn parse_for_paper(
        field: &str,
        word: &str,
        source: AxiomDefinitionPaper,
    ) -> Result<AxiomVariant, Error> {
        match (word, source) {
            ("fixed", _) => Ok(AxiomVariant::Fixed),
            ("paper", AxiomDefinitionPaper::Rennings2019) | ("paper-rennings2019", _) => {
                Ok(AxiomVariant::PaperRennings2019)
            }
            ("paper", AxiomDefinitionPaper::Camara2020) => Ok(AxiomVariant::PaperCamara2020),
            ("code", AxiomDefinitionPaper::Camara2020) => Ok(AxiomVariant::Code),
            ("code", AxiomDefinitionPaper::Rennings2019) => Err(Error::unsupported_value(
                field,
                "`rennings2019` has no variant `code`, because its extraction scripts were not \
                 published; use `fixed` or `paper`",
            )),
            (other, _) => Err(Error::not_one_of(
                field,
                other,
                ["`fixed`, `paper`, `code`"],
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_length_is_inf_in_toml_and_null_in_json() {
        let limits = MiningThresholds::RENNINGS_2019;
        let toml = toml::to_string(&limits).unwrap();
        assert!(toml.contains("length_gap_terms = inf\n"), "{toml}");
        assert_eq!(toml::from_str::<MiningThresholds>(&toml).unwrap(), limits);
        let json = serde_json::to_string(&limits).unwrap();
        assert!(json.contains("\"length_gap_terms\":null"), "{json}");
        assert_eq!(
            serde_json::from_str::<MiningThresholds>(&json).unwrap(),
            limits
        );
        for refused in ["-1", "-inf", "2.5", "nan", "\"ten\""] {
            let text = format!("length_gap_terms = {refused}");
            let error = toml::from_str::<MiningThresholds>(&text).unwrap_err();
            assert!(error.message().contains("or inf"), "{refused}: {error}");
        }
    }

    #[test]
    fn limits_that_are_left_out_are_the_standard_ones_except_the_length_tolerance() {
        let limits: MiningThresholds = serde_json::from_str("{}").unwrap();
        let expected = MiningThresholds {
            length_tolerance_terms: None,
            ..MiningThresholds::STANDARD
        };
        assert_eq!(limits, expected);
    }

    #[test]
    fn modes_are_words_of_a_source() {
        assert_eq!(
            AxiomVariant::parse_for_paper("mode", "paper", AxiomDefinitionPaper::Rennings2019),
            Ok(AxiomVariant::PaperRennings2019)
        );
        assert_eq!(
            AxiomVariant::parse_for_paper("mode", "code", AxiomDefinitionPaper::Camara2020),
            Ok(AxiomVariant::Code)
        );
        let refused =
            AxiomVariant::parse_for_paper("mode", "code", AxiomDefinitionPaper::Rennings2019)
                .unwrap_err();
        assert!(
            refused.to_string().contains("were not published"),
            "{refused}"
        );
    }
}
