//! Text analysis: tokenization, stop words and stemming, with the offsets of terms in the text.
//!
//! An analyzer is plain data, is stored with every result, and gives the same terms on every
//! platform.

pub mod tokenize;
pub mod wordpiece;
pub mod stopwords;
pub mod stemming;
pub mod vocabulary;
pub mod linguistics;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::error::Error;

pub use vocabulary::Vocabulary;
pub use wordpiece::WordpieceVocabulary;

/// An analyzer turns text into terms: tokenizer, stop words, stemmer. Study files and the metadata
/// of mined Parquet files contain it, so its keys must not change.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, from = "WrittenAnalyzer")]
pub struct Analyzer {
    /// How text is split into tokens.
    #[serde(default)]
    pub tokenizer: Tokenizer,
    /// The tokens that are dropped, before stemming.
    #[serde(default)]
    pub stopwords: Stopwords,
    /// The stemmer; the default is [`Tokenizer::default_stemmer`].
    #[serde(default)]
    pub stemmer: Stemmer,
    /// Only this number of tokens of a text is used; `None` means all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "first_tokens")]
    pub max_tokens: Option<u32>,
}

/// An analyzer as written in a file, where each setting can be left out.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenAnalyzer {
    #[serde(default)]
    tokenizer: Tokenizer,
    #[serde(default)]
    stopwords: Stopwords,
    stemmer: Option<Stemmer>,
    first_tokens: Option<u32>,
}

impl From<WrittenAnalyzer> for Analyzer {
    fn from(written: WrittenAnalyzer) -> Analyzer {
        Analyzer {
            stemmer: written
                .stemmer
                .unwrap_or_else(|| written.tokenizer.default_stemmer()),
            tokenizer: written.tokenizer,
            stopwords: written.stopwords,
            max_tokens: written.first_tokens,
        }
    }
}

/// The tokenizer of an analyzer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Tokenizer {
    /// Maximal runs of `[a-z0-9]` in the text's full Unicode lower-case form.
    #[default]
    Alnum,
    /// Words of Unicode Standard Annex 29, in full lower-case form.
    Unicode,
    /// Subword tokens of a WordPiece vocabulary.
    Wordpiece(WordpieceVocabulary),
}

/// The stop list of an analyzer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Stopwords {
    /// No stop words.
    #[default]
    None,
    /// English function words: [`stopwords::EN_FUNCTION`].
    EnFunction,
    /// A list from a file, in lower case and ascending order; it can be read in any order.
    List(#[serde(deserialize_with = "stopwords::deserialize_stop_words")] Vec<String>),
}

/// The stemmer of an analyzer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Stemmer {
    /// Tokens are not changed.
    None,
    /// The original algorithm (Porter 1980), Snowball's `porter`.
    #[default]
    Porter,
    /// Porter's second algorithm, Snowball's `english`.
    Porter2,
}

/// A range of bytes of a text in UTF-8: `start..end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
pub struct ByteSpan {
    /// The first byte.
    pub start: u32,
    /// The byte after the last one.
    pub end: u32,
}

impl Analyzer {
    /// Returns the terms of a text with their positions, in order. For many texts use a
    /// [`Vocabulary`], which stems each token once.
    pub fn terms_with_positions(&self, text: &str) -> Vec<(String, ByteSpan)> {
        let stem = stemming::TokenStemmer::with_algorithm(self.stemmer);
        let mut terms = Vec::new();
        self.for_each_token_with_stopwords(text, |token, span| {
            if !stopwords::is_stop_word(&self.stopwords, token) {
                terms.push((stem.stem(token).into_owned(), span));
            }
        });
        terms
    }

    /// Calls `take` with each token, including stop words, and its position in the text.
    pub(crate) fn for_each_token_with_stopwords(
        &self,
        text: &str,
        mut take: impl FnMut(&str, ByteSpan),
    ) {
        match self.max_tokens {
            None => tokenize::for_each_lowercase_token(&self.tokenizer, text, take),
            Some(most) => {
                let mut n_read = 0;
                tokenize::for_each_lowercase_token(&self.tokenizer, text, |token, span| {
                    n_read += 1;
                    if n_read <= most {
                        take(token, span);
                    }
                });
            }
        }
    }

    /// Returns an error if no text can have terms with this analyzer.
    pub fn validate(&self) -> Result<(), Error> {
        match (&self.tokenizer, self.max_tokens) {
            (_, Some(0)) => Err(Error::out_of_range(
                "first_tokens",
                "must be at least 1, or be omitted",
            )),
            (Tokenizer::Wordpiece(pieces), _) if pieces.is_empty() => Err(Error::missing_field(
                "tokenizer",
                format!(
                    "the vocabulary {} was not read; add a model folder or a text file with one \
                     token per line",
                    pieces.file_name()
                ),
            )),
            _ => Ok(()),
        }
    }

    /// Describes the analyzer, as shown with figures: `a–z and digits, stop words kept, Porter
    /// stemmer`.
    pub fn describe(&self) -> String {
        let stopwords = match &self.stopwords {
            Stopwords::None => "stop words kept".to_owned(),
            Stopwords::EnFunction => "English function words removed".to_owned(),
            Stopwords::List(words) => format!("{} stop words removed", words.len()),
        };
        let tokens = match &self.tokenizer {
            Tokenizer::Wordpiece(pieces) => {
                format!(
                    "WordPiece of {} ({} tokens)",
                    pieces.file_name(),
                    pieces.len()
                )
            }
            Tokenizer::Alnum | Tokenizer::Unicode => self.tokenizer.label().to_owned(),
        };
        let stemmer = match self.stemmer {
            Stemmer::None => "no stemmer".to_owned(),
            Stemmer::Porter | Stemmer::Porter2 => format!("{} stemmer", self.stemmer.label()),
        };
        let cut = match self.max_tokens {
            Some(most) => format!(", first {most} tokens of a document"),
            None => String::new(),
        };
        format!("{tokens}, {stopwords}, {stemmer}{cut}")
    }
}

impl Tokenizer {
    /// The tokenizers that need no vocabulary.
    pub const WITHOUT_VOCABULARY: &[Tokenizer] = &[Tokenizer::Alnum, Tokenizer::Unicode];

    /// Returns the name of the tokenizer, as used in options; it does not include the WordPiece
    /// vocabulary.
    pub fn name(&self) -> &'static str {
        match self {
            Tokenizer::Alnum => "alnum",
            Tokenizer::Unicode => "unicode",
            Tokenizer::Wordpiece(_) => "wordpiece",
        }
    }

    /// Returns the display name of the tokenizer; it does not include the WordPiece vocabulary.
    pub fn label(&self) -> &'static str {
        match self {
            Tokenizer::Alnum => "a–z and digits",
            Tokenizer::Unicode => "Unicode words",
            Tokenizer::Wordpiece(_) => "WordPiece",
        }
    }

    /// Returns the default stemmer for these tokens: none for WordPiece tokens, which are not
    /// words, and Porter for words.
    pub fn default_stemmer(&self) -> Stemmer {
        match self {
            Tokenizer::Alnum | Tokenizer::Unicode => Stemmer::Porter,
            Tokenizer::Wordpiece(_) => Stemmer::None,
        }
    }
}

impl Stemmer {
    /// All stemmers, including the one that leaves tokens unchanged.
    pub const ALL: &[Stemmer] = &[Stemmer::None, Stemmer::Porter, Stemmer::Porter2];

    /// Returns the name of the stemmer, as used in options.
    pub fn name(self) -> &'static str {
        match self {
            Stemmer::None => "none",
            Stemmer::Porter => "porter",
            Stemmer::Porter2 => "porter2",
        }
    }

    /// Returns the display name of the stemmer, as shown in forms and with figures.
    pub fn label(self) -> &'static str {
        match self {
            Stemmer::None => "none",
            Stemmer::Porter => "Porter",
            Stemmer::Porter2 => "Porter 2",
        }
    }
}

impl std::str::FromStr for Tokenizer {
    type Err = Error;

    /// Parses a name. `wordpiece:FILE` names a vocabulary that is read later.
    fn from_str(word: &str) -> Result<Tokenizer, Error> {
        if let Some(file) = word.strip_prefix("wordpiece:").filter(|it| !it.is_empty()) {
            return Ok(Tokenizer::Wordpiece(WordpieceVocabulary::with_unread_file(
                file,
            )));
        }
        let found = Tokenizer::WITHOUT_VOCABULARY
            .iter()
            .find(|it| it.name() == word);
        found.cloned().ok_or_else(|| {
            let known = ["alnum, unicode, wordpiece:FOLDER|FILE"];
            Error::not_one_of("tokenizer", word, known)
        })
    }
}

impl std::str::FromStr for Stemmer {
    type Err = Error;

    fn from_str(word: &str) -> Result<Stemmer, Error> {
        let found = Stemmer::ALL.iter().find(|it| it.name() == word).copied();
        found.ok_or_else(|| Error::not_one_of("stemmer", word, ["none", "porter", "porter2"]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(analyzer: &Analyzer, text: &str, terms: &[&str]) {
        let found = analyzer.terms_with_positions(text);
        assert_eq!(
            found.iter().map(|it| it.0.as_str()).collect::<Vec<_>>(),
            terms
        );
        let mut vocabulary = Vocabulary::new(analyzer.clone());
        let mut numbers = Vec::new();
        vocabulary.append_terms_of_text(text, &mut numbers);
        let again: Vec<&str> = numbers.iter().map(|&it| vocabulary.term(it)).collect();
        assert_eq!(again, terms);
    }

    fn analyzer(tokenizer: Tokenizer, stopwords: Stopwords, stemmer: Stemmer) -> Analyzer {
        Analyzer {
            tokenizer,
            stopwords,
            stemmer,
            max_tokens: None,
        }
    }

    #[test]
    fn the_stemmer_that_is_left_out_is_that_of_the_tokenizer() {
        let stemmer = |file: &str| toml::from_str::<Analyzer>(file).unwrap().stemmer;
        let wordpiece = "tokenizer = { wordpiece = { file = \"vocab.txt\" } }";
        assert_eq!(stemmer(""), Stemmer::Porter);
        assert_eq!(stemmer("tokenizer = \"unicode\""), Stemmer::Porter);
        assert_eq!(stemmer(wordpiece), Stemmer::None);
        let named = format!("{wordpiece}\nstemmer = \"porter\"");
        assert_eq!(stemmer(&named), Stemmer::Porter);
        assert!(toml::from_str::<Analyzer>("stem = \"porter\"").is_err());
    }

    #[test]
    fn an_analyzer_is_described_in_display_names() {
        assert_eq!(
            Analyzer::default().describe(),
            "a–z and digits, stop words kept, Porter stemmer"
        );
        let own = Stopwords::List(vec!["the".to_owned(), "of".to_owned()]);
        assert_eq!(
            analyzer(Tokenizer::Unicode, own, Stemmer::None).describe(),
            "Unicode words, 2 stop words removed, no stemmer"
        );
    }

    #[test]
    fn a_text_may_be_cut_after_so_many_tokens() {
        let cut = Analyzer {
            max_tokens: Some(2),
            stopwords: Stopwords::EnFunction,
            ..Analyzer::default()
        };
        check(&cut, "the tides of the moon", &["tide"]);
    }

    #[test]
    fn the_standard_analyser_is_alnum_and_porter() {
        // Porter (1980), section 2: relational → relat, hopping → hop, flies → fli.
        check(
            &Analyzer::default(),
            "Relational hopping, FLIES!",
            &["relat", "hop", "fli"],
        );
    }

    #[test]
    fn the_two_porters_differ() {
        // Snowball's own word lists: porter keeps `fairli`, english gives `fair`.
        check(
            &analyzer(Tokenizer::Alnum, Stopwords::None, Stemmer::Porter),
            "fairly",
            &["fairli"],
        );
        check(
            &analyzer(Tokenizer::Alnum, Stopwords::None, Stemmer::Porter2),
            "fairly",
            &["fair"],
        );
    }

    #[test]
    fn letters_outside_ascii_part_alnum_tokens_and_stay_in_unicode_words() {
        let alnum = analyzer(Tokenizer::Alnum, Stopwords::None, Stemmer::None);
        check(
            &alnum,
            "Émile's Ærø 12½ \u{212A}elvin",
            &["mile", "s", "r", "12", "kelvin"],
        );
        let unicode = analyzer(Tokenizer::Unicode, Stopwords::None, Stemmer::None);
        check(&unicode, "Émile's Ærø – 3.14", &["émile's", "ærø", "3.14"]);
    }

    #[test]
    fn stop_words_go_before_stemming() {
        let stopped = analyzer(Tokenizer::Alnum, Stopwords::EnFunction, Stemmer::Porter);
        check(&stopped, "the tides of the Moon", &["tide", "moon"]);
        let own = Stopwords::List(vec!["tides".to_owned()]);
        check(
            &analyzer(Tokenizer::Alnum, own, Stemmer::Porter),
            "tides tide",
            &["tide"],
        );
    }

    #[test]
    fn offsets_point_into_the_text_as_written() {
        let text = "ÉTÉ İstanbul Tides";
        let found = Analyzer::default().terms_with_positions(text);
        let written: Vec<&str> = found
            .iter()
            .map(|it| &text[it.1.start as usize..it.1.end as usize])
            .collect();
        assert_eq!(written, ["T", "İ", "stanbul", "Tides"]);
    }
}
