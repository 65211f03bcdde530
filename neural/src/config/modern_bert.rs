//! The settings in `config.json` that only ModernBERT has.

use serde::Deserialize;

use crate::error::{Error, unsupported_value};

/// Rotary positions, attention windows, and which layers have a bias.
#[derive(Clone, Debug)]
pub(crate) struct ModernBertSpecificConfig {
    /// The attention window of each layer.
    pub(crate) attention_windows: Vec<AttentionWindow>,
    /// The rotary base of layers with global attention.
    pub(crate) global_rope_theta: f32,
    /// The rotary base of layers with local attention.
    pub(crate) local_rope_theta: f32,
    /// Whether normalizations have a shift.
    pub(crate) norm_bias: bool,
    /// Whether the dense layers of attention have a bias.
    pub(crate) attention_bias: bool,
    /// Whether the dense layers of the feed-forward layer have a bias.
    pub(crate) mlp_bias: bool,
    /// Whether the first layer of a head has a bias.
    pub(crate) classifier_bias: bool,
    /// Whether the output of a masked language modeling head has a bias.
    pub(crate) decoder_bias: bool,
    /// The pooling of a classification head.
    pub(crate) pooling: ClassifierPooling,
}

/// The attention window of a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AttentionWindow {
    /// The whole text.
    Global,
    /// This many tokens to each side.
    Local(usize),
}

/// How a classification head pools the hidden states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClassifierPooling {
    /// The state of the first token.
    Cls,
    /// The mean of all states.
    Mean,
}

#[derive(Deserialize)]
struct Fields {
    #[serde(default = "window")]
    local_attention: usize,
    /// The form of transformers 5; published files have the number below.
    layer_types: Option<Vec<String>>,
    #[serde(default = "every")]
    global_attn_every_n_layers: usize,
    /// The form of transformers 5; published files have the two numbers below.
    rope_parameters: Option<Ropes>,
    global_rope_theta: Option<f64>,
    local_rope_theta: Option<f64>,
    rope_scaling: Option<serde_json::Value>,
    #[serde(default)]
    norm_bias: bool,
    #[serde(default)]
    attention_bias: bool,
    #[serde(default)]
    mlp_bias: bool,
    #[serde(default)]
    classifier_bias: bool,
    decoder_bias: Option<bool>,
    classifier_activation: Option<String>,
    classifier_pooling: Option<String>,
}

/// The rotary settings. Unknown fields are refused, since they would mean another model.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Ropes {
    full_attention: Option<Rope>,
    sliding_attention: Option<Rope>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rope {
    rope_theta: Option<f64>,
    rope_type: Option<String>,
}

fn window() -> usize {
    128
}

fn every() -> usize {
    3
}

impl ModernBertSpecificConfig {
    /// Reads the settings of a model of `n_layers` layers, whose heads have `d` units.
    pub(super) fn parse(
        json: &[u8],
        n_layers: usize,
        d: usize,
    ) -> Result<ModernBertSpecificConfig, Error> {
        let fields: Fields = serde_json::from_slice(json).map_err(Error::Config)?;
        if !d.is_multiple_of(2) {
            let found = format!("a head of {d} units");
            return Err(unsupported_value(
                "num_attention_heads",
                &found,
                "of even heads",
            ));
        }
        if fields.rope_scaling.is_some() {
            return Err(unsupported_value("rope_scaling", &"there", "absent"));
        }
        let activation = fields.classifier_activation.as_deref().unwrap_or("gelu");
        if activation != "gelu" {
            return Err(unsupported_value(
                "classifier_activation",
                &activation,
                "gelu",
            ));
        }
        let pooling = match fields.classifier_pooling.as_deref() {
            None | Some("cls") => ClassifierPooling::Cls,
            Some("mean") => ClassifierPooling::Mean,
            Some(other) => {
                return Err(unsupported_value(
                    "classifier_pooling",
                    &other,
                    "cls or mean",
                ));
            }
        };
        let reaches = fields.reaches(n_layers)?;
        let ropes = fields.rope_parameters.unwrap_or_default();
        Ok(ModernBertSpecificConfig {
            attention_windows: reaches,
            global_rope_theta: theta(ropes.full_attention, fields.global_rope_theta, 160_000.0)?,
            local_rope_theta: theta(ropes.sliding_attention, fields.local_rope_theta, 10_000.0)?,
            norm_bias: fields.norm_bias,
            attention_bias: fields.attention_bias,
            mlp_bias: fields.mlp_bias,
            classifier_bias: fields.classifier_bias,
            decoder_bias: fields.decoder_bias.unwrap_or(true),
            pooling,
        })
    }
}

impl Fields {
    fn reaches(&self, n_layers: usize) -> Result<Vec<AttentionWindow>, Error> {
        if !(2..=1 << 24).contains(&self.local_attention) {
            let found = self.local_attention;
            return Err(unsupported_value(
                "local_attention",
                &found,
                "from 2 to 2^24",
            ));
        }
        let near = AttentionWindow::Local(self.local_attention / 2);
        let Some(kinds) = &self.layer_types else {
            let every = self.global_attn_every_n_layers;
            if every == 0 {
                return Err(unsupported_value(
                    "global_attn_every_n_layers",
                    &every,
                    "positive",
                ));
            }
            let of_layer = |layer: usize| match layer.is_multiple_of(every) {
                true => AttentionWindow::Global,
                false => near,
            };
            return Ok((0..n_layers).map(of_layer).collect());
        };
        if kinds.len() != n_layers {
            let expected = format!("one for each of {n_layers} layers");
            let found = format!("a list of {}", kinds.len());
            return Err(unsupported_value("layer_types", &found, &expected));
        }
        let reaches = kinds.iter().map(|it| match it.as_str() {
            "full_attention" => Ok(AttentionWindow::Global),
            "sliding_attention" => Ok(near),
            other => {
                let expected = "full_attention or sliding_attention";
                Err(unsupported_value("layer_types", &other, expected))
            }
        });
        reaches.collect()
    }
}

/// Returns the base of a rotary embedding.
fn theta(rope: Option<Rope>, published: Option<f64>, usual: f64) -> Result<f32, Error> {
    let kind = rope.as_ref().and_then(|it| it.rope_type.as_deref());
    if let Some(other) = kind
        && other != "default"
    {
        return Err(unsupported_value("rope_type", &other, "default"));
    }
    let theta = rope.and_then(|it| it.rope_theta).or(published);
    match theta.unwrap_or(usual) {
        fine if fine >= 1.0 && fine.is_finite() => Ok(fine as f32),
        other => Err(unsupported_value(
            "rope_theta",
            &other,
            "a number, 1 or more",
        )),
    }
}
