//! Dataset transfer: document pairs from datasets made for other tasks, as samples for rankers.
//!
//! A sample is `(q, a, b)`; a positive effect means that `a` is preferred: the fluent, formal,
//! short, neutral, simple or true one. A set may be *symmetric*, such as paraphrases: then only
//! whether the scores differ by more than the tie threshold ε counts. Pairs come with a query, or
//! one is inferred from what both documents have in common. MacAvaney et al., ABNIRML (TACL 2022),
//! section 3.3.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use rand_core::{RngCore, SeedableRng};
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use utoipa::ToSchema;

use crate::collection::document_pairs::DatasetTransferPair;
use crate::error::{Error, ErrorFieldName};
use crate::text::linguistics::{LinguisticAnalysis, PartOfSpeech, tag_words_and_noun_phrases};
use crate::text::stopwords::EN_FUNCTION;

use super::ProbeDescription;

/// The maximum length of the name of a set.
const LONGEST: usize = 24;

/// The name of a set: at most 24 lower-case letters, digits and hyphens.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TransferPairSetName {
    len: u8,
    letters: [u8; LONGEST],
}

impl TransferPairSetName {
    /// Returns the name as a string.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.letters[..usize::from(self.len)]).unwrap_or_default()
    }
}

impl fmt::Debug for TransferPairSetName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_str().fmt(f)
    }
}

impl FromStr for TransferPairSetName {
    type Err = Error;

    fn from_str(word: &str) -> Result<TransferPairSetName, Error> {
        let fine = |it: u8| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'-';
        if word.is_empty() || word.len() > LONGEST || !word.bytes().all(fine) {
            let shown: String = word.chars().take(80).collect();
            let reason = format!("must have 1 to {LONGEST} lowercase letters, digits or hyphens");
            return Err(Error::malformed_value(
                ErrorFieldName::with_display_name("transfers", format!("transfer set `{shown}`")),
                reason,
            ));
        }
        let mut letters = [0; LONGEST];
        letters[..word.len()].copy_from_slice(word.as_bytes());
        Ok(TransferPairSetName {
            len: word.len() as u8,
            letters,
        })
    }
}

/// A dataset transfer test. Serialized as `transfer:fluency`, or `symmetric:paraphrase` if
/// symmetric.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct DatasetTransferTest {
    /// The name of its transfer set.
    pub name: TransferPairSetName,
    /// Whether neither document is preferred.
    pub is_symmetric: bool,
}

impl DatasetTransferTest {
    /// Returns the name and the explanations of the test.
    pub(super) fn probe_description(self) -> &'static ProbeDescription {
        match self.is_symmetric {
            false => &DIRECTED,
            true => &SYMMETRIC,
        }
    }
}

const DIRECTED: ProbeDescription = ProbeDescription {
    name: "transfer",
    short_title: "dataset transfer",
    statement: "Positive if the first document of a pair is preferred.",
    formula: "S(a) − S(b)",
    source: "Dataset transfer, MacAvaney et al., ABNIRML, TACL 2022",
    known_issues: "The published code keeps identical pairs, which are neutral for every \
         ranker; its lemma filter lowercases the query words only.",
    example: &[],
};

const SYMMETRIC: ProbeDescription = ProbeDescription {
    statement: "Positive if the two documents of a pair have different scores.",
    formula: "|S(a) − S(b)|",
    ..DIRECTED
};

impl fmt::Display for DatasetTransferTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.is_symmetric {
            "symmetric"
        } else {
            "transfer"
        };
        write!(f, "{kind}:{}", self.name.as_str())
    }
}

impl FromStr for DatasetTransferTest {
    type Err = Error;

    fn from_str(word: &str) -> Result<DatasetTransferTest, Error> {
        let (kind, name) = word.split_once(':').unwrap_or((word, ""));
        Ok(DatasetTransferTest {
            name: name.parse()?,
            is_symmetric: kind == "symmetric",
        })
    }
}

/// The source of the query of a pair.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TransferQuerySource {
    /// The query is given with the pair.
    #[default]
    Given,
    /// The query is given with the pair, and both documents contain one of its words, other than
    /// function words, in any of its forms.
    #[serde(rename = "shared", alias = "given-shared")]
    GivenShared,
    /// The query is a random noun phrase of more than five letters that both documents contain.
    NounPhrase,
}

/// The pairs of one set, as used in a study.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TransferPairSet {
    /// The set of the pairs.
    pub transfer: DatasetTransferTest,
    /// The source of the queries.
    pub query_source: TransferQuerySource,
    /// The pairs, in the order of the file.
    pub pairs: Vec<DatasetTransferPair>,
}

/// The numbers of pairs of a set that were used and skipped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct UsedAndSkippedPairCounts {
    /// The number of pairs in the file.
    pub n_pairs: u64,
    /// The number of pairs of equal documents, which are skipped.
    pub n_identical: u64,
    /// The number of pairs without a query, which are skipped.
    pub n_without_query: u64,
}

impl TransferPairSet {
    /// Returns the pairs that are samples, each with its query, and the numbers of the others.
    pub fn query_samples_and_skip_counts(
        &self,
        seed: u64,
    ) -> (
        Vec<(&DatasetTransferPair, String)>,
        UsedAndSkippedPairCounts,
    ) {
        let mut kept = UsedAndSkippedPairCounts {
            n_pairs: self.pairs.len() as u64,
            ..UsedAndSkippedPairCounts::default()
        };
        let mut samples = Vec::new();
        for pair in &self.pairs {
            if pair.a == pair.b {
                kept.n_identical += 1;
                continue;
            }
            match self.query_source.query_of_pair(pair, seed) {
                Some(query) => samples.push((pair, query)),
                None => kept.n_without_query += 1,
            }
        }
        (samples, kept)
    }
}

impl TransferQuerySource {
    /// Returns the query of a pair, if it has one.
    pub fn query_of_pair(self, pair: &DatasetTransferPair, seed: u64) -> Option<String> {
        let given = || pair.query.clone().filter(|it| !it.trim().is_empty());
        match self {
            TransferQuerySource::Given => given(),
            TransferQuerySource::GivenShared => {
                let query = given()?;
                let [asked, a, b] = [&query, &pair.a, &pair.b].map(|it| lemmas(it));
                asked
                    .iter()
                    .any(|it| a.contains(it) && b.contains(it))
                    .then_some(query)
            }
            TransferQuerySource::NounPhrase => {
                let both =
                    [&pair.a, &pair.b].map(|it| phrases(it, &tag_words_and_noun_phrases(it)));
                let common: Vec<&String> = both[0].intersection(&both[1]).collect();
                if common.is_empty() {
                    return None;
                }
                let digest = Sha256::digest(format!("{seed}\n{}\n{}", pair.a, pair.b));
                let drawn = u128::from(Pcg64::from_seed(digest.into()).next_u64());
                let place = ((drawn * common.len() as u128) >> 64) as usize;
                Some(common[place].clone())
            }
        }
    }
}

/// Returns the noun phrases of more than five letters, in lower case.
fn phrases(text: &str, analysis: &LinguisticAnalysis) -> BTreeSet<String> {
    const SHORT: usize = 5;
    let phrases = analysis.noun_phrases.iter().filter_map(|phrase| {
        let tokens = &analysis.tokens[phrase.clone()];
        let bytes = tokens.first()?.bytes.start..tokens.last()?.bytes.end;
        Some(text[bytes].to_lowercase())
    });
    phrases.filter(|it| it.chars().count() > SHORT).collect()
}

/// Returns the lemmas of words other than function words, numbers and punctuation. The text is put
/// in lower case first, because capitalized words, as in titles, would be tagged as names.
fn lemmas(text: &str) -> BTreeSet<String> {
    let text = &text.to_lowercase();
    let analysis = tag_words_and_noun_phrases(text);
    let tokens = analysis.tokens.iter();
    let words = tokens.filter(|it| {
        let word = text[it.bytes.clone()].to_lowercase();
        let is_word = !matches!(
            it.pos,
            PartOfSpeech::Punctuation | PartOfSpeech::Symbol | PartOfSpeech::Numeral
        );
        is_word && EN_FUNCTION.binary_search(&word.as_str()).is_err()
    });
    words.map(|it| it.lemma(text).to_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(query: Option<&str>, a: &str, b: &str) -> DatasetTransferPair {
        DatasetTransferPair {
            id: "1".to_owned(),
            query: query.map(str::to_owned),
            a: a.to_owned(),
            b: b.to_owned(),
            group: None,
        }
    }

    #[test]
    fn a_noun_phrase_of_both_is_the_query() {
        let same = pair(
            None,
            "The old lighthouse has stood on the cliff for years.",
            "For years stand the old lighthouse at the cliff.",
        );
        let query = TransferQuerySource::NounPhrase
            .query_of_pair(&same, 42)
            .unwrap();
        assert!(
            ["the old lighthouse", "the cliff"].contains(&&*query),
            "{query}"
        );
        assert_eq!(
            TransferQuerySource::NounPhrase.query_of_pair(&same, 42),
            Some(query)
        );
        let other = pair(None, "Bats sleep.", "Rivers run.");
        assert_eq!(
            TransferQuerySource::NounPhrase.query_of_pair(&other, 42),
            None
        );
    }

    #[test]
    fn a_title_shares_a_word_with_both_whatever_its_form() {
        let title = Some("Lighthouses of the coast");
        let both = pair(
            title,
            "A lighthouse stands here.",
            "Many Lighthouses were built.",
        );
        assert!(
            TransferQuerySource::GivenShared
                .query_of_pair(&both, 1)
                .is_some()
        );
        let one = pair(
            title,
            "A lighthouse stands here.",
            "Many towers of the shore.",
        );
        assert_eq!(
            TransferQuerySource::GivenShared.query_of_pair(&one, 1),
            None
        );
        assert_eq!(
            TransferQuerySource::Given.query_of_pair(&one, 1).as_deref(),
            title
        );
        assert_eq!(
            TransferQuerySource::Given.query_of_pair(&pair(Some(" "), "a", "b"), 1),
            None
        );
    }

    #[test]
    fn identical_pairs_are_told_and_are_no_samples() {
        let set = TransferPairSet {
            transfer: "transfer:fluency".parse().unwrap(),
            query_source: TransferQuerySource::Given,
            pairs: vec![
                pair(Some("q"), "same", "same"),
                pair(Some("q"), "one", "two"),
                pair(None, "one", "two"),
            ],
        };
        let (samples, kept) = set.query_samples_and_skip_counts(1);
        assert_eq!((samples.len(), samples[0].1.as_str()), (1, "q"));
        let expected = UsedAndSkippedPairCounts {
            n_pairs: 3,
            n_identical: 1,
            n_without_query: 1,
        };
        assert_eq!(kept, expected);
    }

    #[test]
    fn a_name_is_written_as_it_is_read() {
        for word in ["transfer:fluency", "symmetric:msr-2"] {
            assert_eq!(
                word.parse::<DatasetTransferTest>().unwrap().to_string(),
                word
            );
        }
        for word in [
            "transfer:",
            "transfer:A b",
            "transfer:abcdefghijklmnopqrstuvwxyz",
        ] {
            let error = word.parse::<DatasetTransferTest>().unwrap_err().to_string();
            assert!(error.contains("lowercase letters"), "{error}");
        }
    }
}
