//! The files of a ranker that is made of an encoder, and the tensors of its head.

use candle_core::{DType, Var};
use serde_json::json;

use super::{EncoderSettings, FineTunedRankerKind};
use crate::config::{EncoderConfig, EncoderFamily};
use crate::cross_encoder::ClassificationHead;
use crate::error::{Error, unsupported_value};

/// Returns the name and the shape of each tensor of the head, and the bound of its random values: a
/// standard deviation of 0.02 for a classification head, as in BERT, and 1 / √h for ColBERT, the
/// default of a linear layer in PyTorch. Biases are 0.
pub(super) fn head_shapes(
    kind: FineTunedRankerKind,
    settings: &EncoderSettings,
    config: &EncoderConfig,
) -> Vec<(String, Vec<usize>, f32)> {
    let h = config.hidden_size;
    match kind {
        FineTunedRankerKind::CrossEncoder => {
            let ClassificationHead { dense, out, .. } = ClassificationHead::of(config.family);
            let bound = 0.02 * 3.0_f32.sqrt();
            let dense = match config.family {
                EncoderFamily::Bert => format!("{}{dense}", config.family.tensor_prefix()),
                _ => dense.to_owned(),
            };
            vec![
                (format!("{dense}.weight"), vec![h, h], bound),
                (format!("{dense}.bias"), vec![h], 0.0),
                (format!("{out}.weight"), vec![settings.n_labels, h], bound),
                (format!("{out}.bias"), vec![settings.n_labels], 0.0),
            ]
        }
        FineTunedRankerKind::Colbert => {
            let shape = vec![settings.vector_dimension, h];
            vec![("linear.weight".to_owned(), shape, 1.0 / (h as f32).sqrt())]
        }
    }
}

pub(super) fn to_safetensors(variables: &[(String, Var)]) -> Result<Vec<u8>, Error> {
    let mut tensors = Vec::with_capacity(variables.len());
    for (name, variable) in variables {
        let tensor = variable.as_detached_tensor();
        tensors.push((
            name.as_str(),
            tensor
                .to_dtype(DType::F32)?
                .to_device(&candle_core::Device::Cpu)?,
        ));
    }
    let tensors = tensors.iter().map(|(name, tensor)| (*name, tensor));
    Ok(safetensors::serialize(tensors, None).map_err(candle_core::Error::from)?)
}

/// Returns `config.json` of the ranker: that of the encoder with the name of the new architecture.
pub(super) fn ranker_config_json(
    kind: FineTunedRankerKind,
    settings: &EncoderSettings,
    config: &[u8],
) -> Result<Vec<u8>, Error> {
    let family = match EncoderConfig::parse(config)?.family {
        EncoderFamily::Bert => "Bert",
        EncoderFamily::Roberta => "Roberta",
        EncoderFamily::Electra => "Electra",
        EncoderFamily::DistilBert => "DistilBert",
        EncoderFamily::ModernBert => {
            let expected = "bert, roberta, electra or distilbert: it cannot be fine-tuned";
            return Err(unsupported_value("model_type", &"modernbert", expected));
        }
    };
    let mut config: serde_json::Map<String, serde_json::Value> =
        serde_json::from_slice(config).map_err(Error::Config)?;
    for key in ["id2label", "label2id", "num_labels"] {
        config.remove(key);
    }
    let architecture = match kind {
        FineTunedRankerKind::CrossEncoder => {
            config.insert("num_labels".to_owned(), settings.n_labels.into());
            format!("{family}ForSequenceClassification")
        }
        FineTunedRankerKind::Colbert => "HF_ColBERT".to_owned(),
    };
    config.insert("architectures".to_owned(), json!([architecture]));
    let mut json = serde_json::to_vec_pretty(&config).map_err(Error::Config)?;
    json.push(b'\n');
    Ok(json)
}

/// Returns `ranker.toml` of the ranker.
pub(super) fn ranker_toml(kind: FineTunedRankerKind, settings: &EncoderSettings) -> Vec<u8> {
    let EncoderSettings {
        max_query_tokens,
        max_document_tokens,
        read_titles,
        ..
    } = settings;
    let mut toml = format!(
        "architecture = \"{}\"\nmax_query_tokens = {max_query_tokens}\nmax_document_tokens = \
         {max_document_tokens}\nread_titles = {read_titles}\n",
        kind.name()
    );
    if kind == FineTunedRankerKind::Colbert {
        toml.push_str("\n[colbert]\npreset = \"formal2021\"\n");
    }
    toml.into_bytes()
}
