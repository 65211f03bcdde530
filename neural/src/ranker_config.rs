//! `ranker.toml` beside a model: what its folder is, where `config.json` cannot say.
//!
//! ```toml
//! # bi-encoder, late-interaction, splade, cross-encoder, colbert, epic or monot5
//! architecture = "colbert"
//! query_pieces = 32        # the most pieces of a query, special ones among them
//! text_pieces = 180        # … and of a text
//!
//! [prompts]                # put before every query, and before every text
//! query = "query: "
//! text = "passage: "
//!
//! [colbert]                # of a ColBERT only; each line changes one thing of the preset
//! preset = "khattab2020"   # or formal2021
//! markers = ["[unused0]", "[unused1]"]            # of a query, of a text; [] is none
//! augmentation = "unattended"                     # or none, or attended
//! punctuation = "left-out"                        # of texts; or kept
//! query_keeps = ["cls", "marker", "sep", "mask"]  # special tokens that are compared
//! text_keeps = ["cls", "marker", "sep"]
//! ```
//!
//! Nothing has to be there; a key that is not listed here is refused. A folder with an
//! `architecture` is that ranker alone. Of a monoT5 nothing else can be set, and of a T5 that
//! writes queries nothing at all.

use serde::Deserialize;

use crate::config::{EncoderConfig, check_bound};
use crate::error::Error;
use crate::tokenization::{Prompts, TokenLimits};

/// Holds the settings of a ranker as read from the file `ranker.toml` in its model folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RankerConfig {
    /// What the folder is.
    pub architecture: Option<Architecture>,
    /// The most pieces of a query, special ones among them.
    #[serde(rename = "query_pieces")]
    pub max_query_tokens: Option<usize>,
    /// The most pieces of a text.
    #[serde(rename = "text_pieces")]
    pub max_document_tokens: Option<usize>,
    /// What is put before queries and texts.
    #[serde(default)]
    pub prompts: PromptConfig,
    /// What a ColBERT does otherwise than its preset.
    pub colbert: Option<ColbertConfig>,
}

/// A way from weights to scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Architecture {
    /// [`crate::EmbeddingKind::BiEncoder`].
    BiEncoder,
    /// [`crate::EmbeddingKind::LateInteraction`].
    LateInteraction,
    /// [`crate::Splade`].
    Splade,
    /// [`crate::CrossEncoder`].
    CrossEncoder,
    /// [`crate::Colbert`].
    Colbert,
    /// [`crate::Epic`].
    Epic,
    /// [`crate::MonoT5`].
    #[serde(rename = "monot5")]
    MonoT5,
}

impl Architecture {
    /// As `ranker.toml` has it.
    fn name(self) -> &'static str {
        match self {
            Architecture::BiEncoder => "bi-encoder",
            Architecture::LateInteraction => "late-interaction",
            Architecture::Splade => "splade",
            Architecture::CrossEncoder => "cross-encoder",
            Architecture::Colbert => "colbert",
            Architecture::Epic => "epic",
            Architecture::MonoT5 => "monot5",
        }
    }
}

/// What is put before queries and texts; none leaves it to the other files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PromptConfig {
    /// `query: `.
    pub query: Option<String>,
    /// `passage: `.
    #[serde(rename = "text")]
    pub document: Option<String>,
}

/// The `[colbert]` table of `ranker.toml`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ColbertConfig {
    /// From which the others depart; with one, `artifact.metadata` is not looked at.
    pub preset: Option<ColbertPreset>,
    /// Tokens of the vocabulary that stand after `[CLS]`: of a query and of a text, or none.
    pub markers: Option<Vec<String>>,
    /// What stands after a short query.
    pub augmentation: Option<QueryAugmentation>,
    /// Whether punctuation of texts is compared.
    pub punctuation: Option<PunctuationPolicy>,
    /// Special pieces of a query that are compared.
    #[serde(rename = "query_keeps")]
    pub scored_query_specials: Option<Vec<SpecialToken>>,
    /// Special pieces of a text that are compared.
    #[serde(rename = "text_keeps")]
    pub scored_document_specials: Option<Vec<SpecialToken>>,
}

/// A ColBERT of a paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ColbertPreset {
    /// Khattab and Zaharia (SIGIR 2020), and the code of Stanford: 32 pieces of a query and 180 of
    /// a text, markers `[unused0]` and `[unused1]`, unattended `[MASK]`, no punctuation of texts;
    /// all special tokens are compared.
    Khattab2020,
    /// The variant of Formal, Piwowarski and Clinchant (ECIR 2021, section 3): no markers, no
    /// augmentation. What the paper does not name is as above, `[CLS]` and `[SEP]` among it.
    Formal2021,
}

/// What stands after the `[SEP]` of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QueryAugmentation {
    /// Nothing.
    None,
    /// `[MASK]` up to the bound. They look at the query, and nothing looks at them.
    Unattended,
    /// The same, looked at by all: `attend_to_mask_tokens` of ColBERTv2's code.
    Attended,
}

/// Whether tokens that are one ASCII punctuation mark are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PunctuationPolicy {
    /// As others.
    Kept,
    /// They are read, not compared.
    #[serde(rename = "left-out")]
    Skipped,
}

/// A token that is not of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SpecialToken {
    /// `[CLS]`, or `<s>`.
    Cls,
    /// What tells queries from texts.
    Marker,
    /// `[SEP]`, or `</s>`.
    Sep,
    /// `[MASK]` of the augmentation.
    Mask,
}

/// How both sides are cut.
pub(crate) struct InputSettings {
    pub(crate) bounds: TokenLimits,
    pub(crate) prompts: Prompts,
}

impl RankerConfig {
    /// Parses the contents of `ranker.toml`; returns an error if they are not UTF-8, not valid TOML
    /// or inconsistent.
    pub fn parse(toml: &[u8]) -> Result<RankerConfig, Error> {
        let broken = |reason: String| Error::RankerConfig { reason };
        let text = std::str::from_utf8(toml).map_err(|it| broken(it.to_string()))?;
        let found: RankerConfig =
            toml::from_str(text).map_err(|it| broken(it.to_string().trim_end().to_owned()))?;
        let Some(colbert) = &found.colbert else {
            return Ok(found);
        };
        match found.architecture {
            None | Some(Architecture::Colbert) => {}
            Some(_) => {
                let reason = "[colbert] is there, but the architecture is another";
                return Err(broken(reason.to_owned()));
            }
        }
        if let Some(markers) = &colbert.markers
            && !matches!(markers.len(), 0 | 2)
        {
            let found = markers.len();
            let reason = format!("`markers` has {found} pieces, but must have two or none");
            return Err(broken(reason));
        }
        Ok(found)
    }

    /// Refuses a folder that says it is another than what it is loaded as.
    pub(crate) fn check_architecture(&self, used: Architecture) -> Result<(), Error> {
        let refuse = |reason| Err(Error::RankerConfig { reason });
        let used_as = used.name();
        match self.architecture {
            Some(other) if other != used => refuse(format!(
                "`architecture` is {}, and the folder was to be loaded as {used_as}; load it as \
                 what it is, or change that line",
                other.name()
            )),
            None if self.colbert.is_some() && used != Architecture::Colbert => refuse(format!(
                "[colbert] is there, and the folder was to be loaded as {used_as}; add \
                 `architecture = \"colbert\"`, or take the table out"
            )),
            Some(_) | None => Ok(()),
        }
    }

    /// Refuses bounds and prompts, which `what` has no use for.
    pub(crate) fn check_unset(&self, what: &str) -> Result<(), Error> {
        for (name, set) in [
            ("query_pieces", self.max_query_tokens.is_some()),
            ("text_pieces", self.max_document_tokens.is_some()),
            ("prompts", self.prompts != PromptConfig::default()),
        ] {
            if set {
                let reason = format!("`{name}` cannot be set of {what}; take it out");
                return Err(Error::RankerConfig { reason });
            }
        }
        Ok(())
    }

    /// Both sides with at most `max_pieces` where nothing else is said.
    pub(crate) fn input_settings(
        &self,
        max_pieces: usize,
        config: &EncoderConfig,
    ) -> Result<InputSettings, Error> {
        let bounds = TokenLimits {
            query: self.max_query_tokens.unwrap_or(max_pieces),
            document: self.max_document_tokens.unwrap_or(max_pieces),
        };
        check_bound(bounds.query, 3, config)?;
        check_bound(bounds.document, 3, config)?;
        let prompts = Prompts {
            query: self.prompts.query.clone().unwrap_or_default(),
            text: self.prompts.document.clone().unwrap_or_default(),
        };
        Ok(InputSettings { bounds, prompts })
    }
}
