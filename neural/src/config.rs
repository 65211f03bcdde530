//! The configuration of an encoder, from `config.json`, in one form for all families.
//!
//! BERT, RoBERTa and XLM-R, ELECTRA and DistilBERT are one computation: embeddings are summed and
//! normalized, then come layers of self-attention and two dense layers, each with a residual and a
//! normalization after it. They differ in the names of tensors, the first position, segments and
//! the size of the embeddings.

mod modern_bert;

use serde::Deserialize;

pub(crate) use modern_bert::{AttentionWindow, ClassifierPooling, ModernBertSpecificConfig};

use crate::error::{Error, unsupported_value};

/// The maximum number of layers that is accepted.
const MAX_LAYERS: usize = 4_096;

/// The maximum number of tokens of a text, if the family has no table of positions.
const MAX_TOKENS: usize = 65_536;

/// Whether `config.json` describes an encoder that can be loaded.
pub fn is_encoder_config(config: &[u8]) -> bool {
    EncoderConfig::parse(config).is_ok()
}

/// A family of encoder architectures, identified by `model_type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EncoderFamily {
    /// BERT and MiniLM: Devlin et al. (NAACL 2019), Wang et al. (NeurIPS 2020).
    Bert,
    /// RoBERTa and XLM-R: Liu et al. (2019), Conneau et al. (ACL 2020).
    Roberta,
    /// ELECTRA: Clark et al. (ICLR 2020).
    Electra,
    /// DistilBERT: Sanh et al. (2019).
    DistilBert,
    /// ModernBERT: Warner et al. (2024); [`ModernBertSpecificConfig`] has its own settings.
    ModernBert,
}

impl EncoderFamily {
    fn of(model_type: &str) -> Option<EncoderFamily> {
        Some(match model_type {
            "bert" => EncoderFamily::Bert,
            "roberta" | "xlm-roberta" | "camembert" => EncoderFamily::Roberta,
            "electra" => EncoderFamily::Electra,
            "distilbert" => EncoderFamily::DistilBert,
            "modernbert" => EncoderFamily::ModernBert,
            _ => return None,
        })
    }

    /// Returns the `model_type` of the family.
    pub(crate) fn model_type(self) -> &'static str {
        match self {
            EncoderFamily::Bert => "bert",
            EncoderFamily::Roberta => "roberta",
            EncoderFamily::Electra => "electra",
            EncoderFamily::DistilBert => "distilbert",
            EncoderFamily::ModernBert => "modernbert",
        }
    }

    /// Returns the number of separators between a query and a document that are encoded together.
    pub(crate) fn n_pair_separators(self) -> usize {
        match self {
            EncoderFamily::Roberta => 2,
            EncoderFamily::Bert
            | EncoderFamily::Electra
            | EncoderFamily::DistilBert
            | EncoderFamily::ModernBert => 1,
        }
    }

    /// Returns the prefix of the encoder's tensor names in a file that also has a head.
    pub(crate) fn tensor_prefix(self) -> &'static str {
        match self {
            EncoderFamily::Bert => "bert.",
            EncoderFamily::Roberta => "roberta.",
            EncoderFamily::Electra => "electra.",
            EncoderFamily::DistilBert => "distilbert.",
            EncoderFamily::ModernBert => "model.",
        }
    }
}

/// The configuration of the forward pass.
#[derive(Clone, Debug)]
pub(crate) struct EncoderConfig {
    pub(crate) family: EncoderFamily,
    pub(crate) vocab_size: usize,
    pub(crate) hidden_size: usize,
    /// The size of the embeddings; a dense layer projects them to `hidden_size` if they differ.
    pub(crate) embedding_size: usize,
    pub(crate) num_hidden_layers: usize,
    pub(crate) num_attention_heads: usize,
    pub(crate) intermediate_size: usize,
    /// The number of rows of the position table; for ModernBERT, which has no such table, the
    /// maximum number of tokens.
    pub(crate) max_positions: usize,
    /// The row of the first token in the position table.
    pub(crate) first_position: usize,
    /// The number of segments; 0 if the family has none.
    pub(crate) type_vocab_size: usize,
    pub(crate) layer_norm_eps: f64,
    /// The number of logits of a classification head.
    pub(crate) n_labels: usize,
    /// Whether the file declares a classification head.
    pub(crate) has_classification_head: bool,
    /// Whether the file declares a masked language modeling head.
    pub(crate) has_masked_lm_head: bool,
    /// Whether the file declares a ColBERT in Stanford's format.
    pub(crate) is_colbert: bool,
    /// Whether a masked language modeling head uses the token embeddings as output weights.
    pub(crate) ties_embeddings: bool,
    /// The settings that only ModernBERT has.
    pub(crate) modern: Option<ModernBertSpecificConfig>,
}

/// The fields of the file, by the names of all families.
#[derive(Deserialize)]
struct Fields {
    vocab_size: usize,
    #[serde(alias = "dim")]
    hidden_size: usize,
    embedding_size: Option<usize>,
    #[serde(alias = "n_layers")]
    num_hidden_layers: usize,
    #[serde(alias = "n_heads")]
    num_attention_heads: usize,
    #[serde(alias = "hidden_dim")]
    intermediate_size: usize,
    max_position_embeddings: usize,
    type_vocab_size: Option<usize>,
    layer_norm_eps: Option<f64>,
    norm_eps: Option<f64>,
    #[serde(alias = "activation", alias = "hidden_activation")]
    hidden_act: String,
    position_embedding_type: Option<String>,
    pad_token_id: Option<usize>,
    num_labels: Option<usize>,
    id2label: Option<std::collections::BTreeMap<String, serde_json::Value>>,
    #[serde(default)]
    architectures: Vec<String>,
    auto_map: Option<serde_json::Value>,
    tie_word_embeddings: Option<bool>,
}

impl EncoderConfig {
    /// Parses `config.json` of a model that reads queries and documents separately; also returns an
    /// error for a maximum number of tokens that does not fit the model.
    pub(crate) fn parse_with_max_tokens(
        json: &[u8],
        max_tokens: usize,
    ) -> Result<EncoderConfig, Error> {
        let config = EncoderConfig::parse(json)?;
        check_max_tokens(max_tokens, 3, &config)?;
        Ok(config)
    }

    /// Parses `config.json`; returns an error for models that the forward pass would compute
    /// incorrectly.
    pub(crate) fn parse(json: &[u8]) -> Result<EncoderConfig, Error> {
        let found = read_model_type(json)?;
        let Some(family) = EncoderFamily::of(&found) else {
            return Err(Error::Architecture { found });
        };
        let fields: Fields = serde_json::from_slice(json).map_err(Error::Config)?;
        fields.check(family)?;
        let (type_vocab_size, eps) = match family {
            // Its configuration has neither field.
            EncoderFamily::DistilBert => (0, 1e-12),
            EncoderFamily::ModernBert => (0, fields.norm_eps.unwrap_or(1e-5)),
            _ => (
                fields.type_vocab_size.unwrap_or(2),
                fields.layer_norm_eps.unwrap_or(1e-12),
            ),
        };
        let first_position = match family {
            // Position ids start after that of padding.
            EncoderFamily::Roberta => fields.pad_token_id.unwrap_or(1) + 1,
            _ => 0,
        };
        if first_position >= fields.max_position_embeddings {
            return Err(unsupported_value(
                "max_position_embeddings",
                &fields.max_position_embeddings,
                &format!("above {first_position}, the first position"),
            ));
        }
        let modern = match family {
            EncoderFamily::ModernBert => {
                let d = fields.hidden_size / fields.num_attention_heads;
                Some(ModernBertSpecificConfig::parse(
                    json,
                    fields.num_hidden_layers,
                    d,
                )?)
            }
            _ => None,
        };
        let n_position_rows = match family {
            EncoderFamily::ModernBert => fields.max_position_embeddings.min(MAX_TOKENS),
            _ => fields.max_position_embeddings,
        };
        let labels = fields.id2label.as_ref().map(|it| it.len());
        Ok(EncoderConfig {
            family,
            vocab_size: fields.vocab_size,
            hidden_size: fields.hidden_size,
            embedding_size: fields.embedding_size.unwrap_or(fields.hidden_size),
            num_hidden_layers: fields.num_hidden_layers,
            num_attention_heads: fields.num_attention_heads,
            intermediate_size: fields.intermediate_size,
            max_positions: n_position_rows,
            first_position,
            type_vocab_size,
            layer_norm_eps: eps,
            // The default of transformers.
            n_labels: labels.or(fields.num_labels).unwrap_or(2),
            has_classification_head: fields.has("ForSequenceClassification"),
            has_masked_lm_head: fields.has("ForMaskedLM"),
            is_colbert: fields.has("HF_ColBERT"),
            ties_embeddings: fields.tie_word_embeddings.unwrap_or(true),
            modern,
        })
    }

    /// Returns the maximum number of tokens of a text.
    pub(crate) fn max_tokens(&self) -> usize {
        self.max_positions - self.first_position
    }
}

impl Fields {
    fn has(&self, head: &str) -> bool {
        self.architectures.iter().any(|it| it.ends_with(head))
    }

    fn check(&self, family: EncoderFamily) -> Result<(), Error> {
        check_no_custom_code(self.auto_map.as_ref())?;
        if self.hidden_act != "gelu" {
            return Err(unsupported_value("hidden_act", &self.hidden_act, "gelu"));
        }
        // ModernBERT has no position embeddings, and some files say `sans_pos`.
        if family != EncoderFamily::ModernBert
            && let Some(found) = self.position_embedding_type.as_deref()
            && found != "absolute"
        {
            return Err(unsupported_value(
                "position_embedding_type",
                &found,
                "absolute",
            ));
        }
        check_dimension_range(&[
            ("vocab_size", self.vocab_size),
            ("hidden_size", self.hidden_size),
            ("embedding_size", self.embedding_size.unwrap_or(1)),
            ("num_attention_heads", self.num_attention_heads),
            ("intermediate_size", self.intermediate_size),
            ("max_position_embeddings", self.max_position_embeddings),
            ("type_vocab_size", self.type_vocab_size.unwrap_or(1)),
        ])?;
        if !(1..=MAX_LAYERS).contains(&self.num_hidden_layers) {
            let expected = format!("from 1 to {MAX_LAYERS}");
            let found = self.num_hidden_layers;
            return Err(unsupported_value("num_hidden_layers", &found, &expected));
        }
        if !self.hidden_size.is_multiple_of(self.num_attention_heads) {
            let expected = format!("a multiple of {} heads", self.num_attention_heads);
            return Err(unsupported_value(
                "hidden_size",
                &self.hidden_size,
                &expected,
            ));
        }
        Ok(())
    }
}

/// Returns the field `model_type` of a `config.json`.
pub(crate) fn read_model_type(json: &[u8]) -> Result<String, Error> {
    #[derive(Deserialize)]
    struct Kind {
        model_type: String,
    }
    let kind: Kind = serde_json::from_slice(json).map_err(Error::Config)?;
    Ok(kind.model_type)
}

/// Returns an error for a model that comes with its own code.
pub(crate) fn check_no_custom_code(auto_map: Option<&serde_json::Value>) -> Result<(), Error> {
    match auto_map {
        None => Ok(()),
        Some(_) => {
            let expected = "absent: code that comes with a model is not run";
            Err(unsupported_value("auto_map", &"there", expected))
        }
    }
}

/// Returns an error for sizes outside of 1 to 2^24, so that no product of two of them exceeds a
/// usize.
pub(crate) fn check_dimension_range(sizes: &[(&'static str, usize)]) -> Result<(), Error> {
    for &(field, size) in sizes {
        if !(1..=1 << 24).contains(&size) {
            return Err(unsupported_value(field, &size, "from 1 to 2^24"));
        }
    }
    Ok(())
}

/// Returns an error for a maximum number of tokens that leaves no room for a text or exceeds that
/// of the model.
pub(crate) fn check_max_tokens(
    found: usize,
    least: usize,
    config: &EncoderConfig,
) -> Result<(), Error> {
    let most = config.max_tokens();
    match (least..=most).contains(&found) {
        true => Ok(()),
        false => Err(Error::MaxTokens { found, least, most }),
    }
}
