//! `ranker.toml` in a model folder: settings that `config.json` does not have.
//!
//! ```toml
//! label = "Small"          # the name in tables and figures, in place of that of the folder
//! note = "own data"        # shown under the name
//! # bi-encoder, late-interaction, splade, cross-encoder, colbert, epic, monot5 or doc2query
//! architecture = "colbert"
//! max_query_tokens = 32    # maximum number of tokens of a query, including special ones
//! max_document_tokens = 180 # maximum number of tokens of a document
//! read_titles = true       # whether a document is its title and its body, or its body alone
//!
//! [prompts]                # added before every query, and before every document
//! query = "query: "
//! text = "passage: "
//!
//! [colbert]                # only for ColBERT; each line changes one setting of the preset
//! preset = "khattab2020"   # or formal2021
//! markers = ["[unused0]", "[unused1]"]            # of queries, of documents; [] is none
//! augmentation = "unattended"                     # or none, or attended
//! punctuation = "left-out"                        # of documents; or kept
//! query_keeps = ["cls", "marker", "sep", "mask"]  # special tokens that are compared
//! text_keeps = ["cls", "marker", "sep"]
//! ```
//!
//! All keys are optional; unknown keys are refused. A folder with an `architecture` can only be
//! used as that ranker. A T5 has neither limits nor prompts.

use serde::Deserialize;

use crate::config::{EncoderConfig, check_max_tokens};
use crate::error::Error;
use crate::tokenization::{PromptPrefixes, TokenLimits};

/// The maximum number of characters of `label` and `note`.
const MAX_NAME_CHARS: usize = 60;

/// Holds the settings of a ranker as read from the file `ranker.toml` in its model folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NeuralRankerConfig {
    /// The name of the model in tables and figures, in place of that of the folder.
    pub label: Option<String>,
    /// What a reader of a table has to know of the model, in a few words.
    pub note: Option<String>,
    /// The architecture of the model.
    pub architecture: Option<RankerArchitecture>,
    /// The maximum number of tokens of a query, including special ones.
    #[serde(alias = "query_pieces")]
    pub max_query_tokens: Option<usize>,
    /// The maximum number of tokens of a document, including special ones.
    #[serde(alias = "text_pieces")]
    pub max_document_tokens: Option<usize>,
    /// Whether a document is its title and its body, as by default, or its body alone.
    pub read_titles: Option<bool>,
    /// The prompts before queries and documents.
    #[serde(default)]
    pub prompts: PromptPrefixConfig,
    /// The settings of a ColBERT that differ from its preset.
    pub colbert: Option<ColbertConfig>,
}

/// The architecture of a ranker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RankerArchitecture {
    /// [`crate::EmbeddingRankerKind::BiEncoder`].
    BiEncoder,
    /// [`crate::EmbeddingRankerKind::LateInteraction`].
    LateInteraction,
    /// [`crate::Splade`].
    Splade,
    /// [`crate::CrossEncoder`].
    CrossEncoder,
    /// [`crate::Colbert`].
    Colbert,
    /// [`crate::EpicRanker`].
    Epic,
    /// [`crate::MonoT5`].
    #[serde(rename = "monot5")]
    MonoT5,
    /// [`crate::Doc2Query`].
    #[serde(rename = "doc2query")]
    Doc2Query,
}

impl RankerArchitecture {
    /// Returns the name in `ranker.toml`.
    fn name(self) -> &'static str {
        match self {
            RankerArchitecture::BiEncoder => "bi-encoder",
            RankerArchitecture::LateInteraction => "late-interaction",
            RankerArchitecture::Splade => "splade",
            RankerArchitecture::CrossEncoder => "cross-encoder",
            RankerArchitecture::Colbert => "colbert",
            RankerArchitecture::Epic => "epic",
            RankerArchitecture::MonoT5 => "monot5",
            RankerArchitecture::Doc2Query => "doc2query",
        }
    }
}

/// The prompts before queries and documents; `None` leaves them to the other files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PromptPrefixConfig {
    /// The prompt of queries, for example `query: `.
    pub query: Option<String>,
    /// The prompt of documents, for example `passage: `.
    #[serde(rename = "text")]
    pub document: Option<String>,
}

/// The `[colbert]` table of `ranker.toml`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ColbertConfig {
    /// The preset that the other settings change; if it is given, `artifact.metadata` is ignored.
    pub preset: Option<ColbertPreset>,
    /// The tokens after `[CLS]` of queries and of documents, or none.
    pub markers: Option<Vec<String>>,
    /// The tokens that fill up short queries.
    pub augmentation: Option<ColbertQueryAugmentation>,
    /// Whether punctuation of documents is compared.
    pub punctuation: Option<PunctuationPolicy>,
    /// The special tokens of a query that are compared.
    #[serde(rename = "query_keeps")]
    pub scored_query_specials: Option<Vec<ColbertSpecialTokenKind>>,
    /// The special tokens of a document that are compared.
    #[serde(rename = "text_keeps")]
    pub scored_document_specials: Option<Vec<ColbertSpecialTokenKind>>,
}

/// The settings of a ColBERT in a paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ColbertPreset {
    /// Khattab and Zaharia (SIGIR 2020), and the code of Stanford: 32 tokens for a query and 180
    /// for a document, markers `[unused0]` and `[unused1]`, unattended `[MASK]`, no punctuation of
    /// documents; all special tokens are compared.
    Khattab2020,
    /// The variant of Formal, Piwowarski and Clinchant (ECIR 2021, section 3): no markers, no
    /// augmentation. Settings that the paper does not name are as above, including `[CLS]` and
    /// `[SEP]`.
    Formal2021,
}

/// The tokens after the `[SEP]` of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ColbertQueryAugmentation {
    /// No tokens.
    None,
    /// `[MASK]` up to the maximum length. They attend to the query, and no token attends to them.
    Unattended,
    /// `[MASK]`, attended to by all tokens: `attend_to_mask_tokens` in the code of ColBERTv2.
    Attended,
}

/// Whether tokens that are a single ASCII punctuation mark are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PunctuationPolicy {
    /// They are compared like other tokens.
    Kept,
    /// They are encoded, but not compared.
    #[serde(rename = "left-out")]
    Skipped,
}

/// A special token of a late-interaction model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ColbertSpecialTokenKind {
    /// `[CLS]`, or `<s>`.
    Cls,
    /// The marker of queries or of documents.
    Marker,
    /// `[SEP]`, or `</s>`.
    Sep,
    /// `[MASK]` of the augmentation.
    Mask,
}

/// The token limits and prompts of queries and documents.
pub(crate) struct TokenLimitsAndPrompts {
    pub(crate) bounds: TokenLimits,
    pub(crate) prompts: PromptPrefixes,
}

impl NeuralRankerConfig {
    /// Parses the contents of `ranker.toml`; returns an error if they are not UTF-8, not valid TOML
    /// or inconsistent.
    pub fn parse(toml: &[u8]) -> Result<NeuralRankerConfig, Error> {
        let broken = |reason: String| Error::NeuralRankerConfig { reason };
        let text = std::str::from_utf8(toml).map_err(|it| broken(it.to_string()))?;
        let found: NeuralRankerConfig =
            toml::from_str(text).map_err(|it| broken(it.to_string().trim_end().to_owned()))?;
        for (name, value) in [("label", &found.label), ("note", &found.note)] {
            let is_valid = |it: &String| {
                !it.trim().is_empty()
                    && it.chars().count() <= MAX_NAME_CHARS
                    && !it.chars().any(char::is_control)
            };
            if !value.as_ref().is_none_or(is_valid) {
                let reason =
                    format!("`{name}` must be one line of 1 to {MAX_NAME_CHARS} characters");
                return Err(broken(reason));
            }
        }
        let Some(colbert) = &found.colbert else {
            return Ok(found);
        };
        match found.architecture {
            None | Some(RankerArchitecture::Colbert) => {}
            Some(_) => {
                let reason = "[colbert] is there, but the architecture is another";
                return Err(broken(reason.to_owned()));
            }
        }
        if let Some(markers) = &colbert.markers
            && !matches!(markers.len(), 0 | 2)
        {
            let found = markers.len();
            let reason = format!("`markers` has {found} tokens, but must have two or none");
            return Err(broken(reason));
        }
        Ok(found)
    }

    /// Returns an error if the file declares another architecture than `used`.
    pub(crate) fn check_declared_architecture(
        &self,
        used: RankerArchitecture,
    ) -> Result<(), Error> {
        let refuse = |reason| Err(Error::NeuralRankerConfig { reason });
        let used_as = used.name();
        match self.architecture {
            Some(other) if other != used => refuse(format!(
                "`architecture` is {}, and the folder was to be loaded as {used_as}; load it as \
                 what it is, or change that line",
                other.name()
            )),
            None if self.colbert.is_some() && used != RankerArchitecture::Colbert => {
                refuse(format!(
                    "[colbert] is there, and the folder was to be loaded as {used_as}; add \
                 `architecture = \"colbert\"`, or take the table out"
                ))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Returns an error if token limits or prompts are set, which `what` does not use.
    pub(crate) fn check_no_limits_or_prompts(&self, what: &str) -> Result<(), Error> {
        for (name, set) in [
            ("max_query_tokens", self.max_query_tokens.is_some()),
            ("max_document_tokens", self.max_document_tokens.is_some()),
            ("prompts", self.prompts != PromptPrefixConfig::default()),
        ] {
            if set {
                let reason = format!("`{name}` cannot be set of {what}; take it out");
                return Err(Error::NeuralRankerConfig { reason });
            }
        }
        Ok(())
    }

    /// Returns the settings of queries and documents, with at most `max_tokens` tokens by default.
    pub(crate) fn token_limits_and_prompts(
        &self,
        max_tokens: usize,
        config: &EncoderConfig,
    ) -> Result<TokenLimitsAndPrompts, Error> {
        let bounds = TokenLimits {
            query: self.max_query_tokens.unwrap_or(max_tokens),
            document: self.max_document_tokens.unwrap_or(max_tokens),
        };
        check_max_tokens(bounds.query, 3, config)?;
        check_max_tokens(bounds.document, 3, config)?;
        let prompts = PromptPrefixes {
            query: self.prompts.query.clone().unwrap_or_default(),
            text: self.prompts.document.clone().unwrap_or_default(),
        };
        Ok(TokenLimitsAndPrompts { bounds, prompts })
    }
}
