//! BERT and its relatives: the last hidden states of a batch of texts.
//!
//! Devlin, Chang, Lee and Toutanova (NAACL 2019), arXiv:1810.04805. Tensor names follow those of
//! Hugging Face transformers for each [`EncoderFamily`]. The parameters are loaded once; there are
//! two forward passes: here with candle's operations for any device, and in `bert_cpu` for the CPU
//! without padding. candle-transformers' `BertModel` is not used because it is two to three times
//! slower on the CPU.
//!
//! Shapes: `b` texts in the batch, `t` tokens of the longest, `h` hidden units, `a` heads of `d`
//! units (`h = a d`), `m` units of the intermediate layer.

use candle_core::{D, DType, Device, Tensor};

use crate::config::{EncoderConfig, EncoderFamily};
use crate::error::Error;
use crate::tokenization::EncoderInput;
use crate::weights::ModelWeights;

/// A dense layer, `y = x W + b`.
pub(crate) struct LinearLayer {
    /// `[inputs, outputs]`, row-major: the transpose of the tensor in the file.
    pub(crate) weight: Vec<f32>,
    /// `[outputs]`.
    pub(crate) bias: Vec<f32>,
}

impl LinearLayer {
    /// Reads a layer from the tensors `name.weight`, `[outputs, inputs]`, and `name.bias`,
    /// `[outputs]`; returns an error if one is missing or has another shape.
    pub(crate) fn load(
        weights: &ModelWeights<'_>,
        name: &str,
        inputs: usize,
        outputs: usize,
    ) -> Result<LinearLayer, Error> {
        let without = LinearLayer::load_without_bias(weights, name, inputs, outputs)?;
        Ok(LinearLayer {
            bias: weights.read_tensor(&format!("{name}.bias"), &[outputs])?,
            ..without
        })
    }

    /// Reads a layer without bias from the tensor `name.weight`; the bias is 0.
    pub(crate) fn load_without_bias(
        weights: &ModelWeights<'_>,
        name: &str,
        inputs: usize,
        outputs: usize,
    ) -> Result<LinearLayer, Error> {
        let weight = weights.read_tensor(&format!("{name}.weight"), &[outputs, inputs])?;
        Ok(LinearLayer::from_output_major_weight(
            &weight,
            vec![0.0; outputs],
            inputs,
        ))
    }

    /// Creates a layer from a weight as in the file, `[outputs, inputs]`.
    pub(crate) fn from_output_major_weight(
        weight: &[f32],
        bias: Vec<f32>,
        inputs: usize,
    ) -> LinearLayer {
        let outputs = bias.len();
        let mut transposed = Vec::with_capacity(weight.len());
        for input in 0..inputs {
            transposed.extend((0..outputs).map(|output| weight[output * inputs + input]));
        }
        LinearLayer {
            weight: transposed,
            bias,
        }
    }

    /// Computes `x W + b` in f64.
    pub(crate) fn apply(&self, x: &[f64]) -> Vec<f64> {
        let mut y: Vec<f64> = self.bias.iter().map(|&it| f64::from(it)).collect();
        for (&x, row) in x.iter().zip(self.weight.chunks_exact(y.len())) {
            y.iter_mut()
                .zip(row)
                .for_each(|(y, &weight)| *y += x * f64::from(weight));
        }
        y
    }

    /// Multiplies the outputs by `factor`.
    fn scale(&mut self, factor: f32) {
        self.weight
            .iter_mut()
            .chain(&mut self.bias)
            .for_each(|number| *number *= factor);
    }

    /// Multiplies the first `n` outputs by `factor`.
    pub(crate) fn scale_first_outputs(&mut self, n: usize, factor: f32) {
        let rows = self.weight.chunks_exact_mut(self.bias.len());
        let first = rows
            .chain([self.bias.as_mut_slice()])
            .map(|row| &mut row[..n]);
        first.flatten().for_each(|number| *number *= factor);
    }

    /// Joins three layers into one with their outputs one after another.
    fn join(parts: [LinearLayer; 3]) -> LinearLayer {
        let bias = parts
            .iter()
            .flat_map(|part| part.bias.iter().copied())
            .collect();
        let inputs = parts[0].weight.len() / parts[0].bias.len();
        let mut weight = Vec::with_capacity(3 * parts[0].weight.len());
        for input in 0..inputs {
            for part in &parts {
                let outputs = part.bias.len();
                weight.extend_from_slice(&part.weight[input * outputs..(input + 1) * outputs]);
            }
        }
        LinearLayer { weight, bias }
    }
}

/// Layer normalization: zero mean and unit variance over `h`, then a scale and a shift.
pub(crate) struct LayerNorm {
    /// `[h]`.
    pub(crate) scale: Vec<f32>,
    /// `[h]`.
    pub(crate) shift: Vec<f32>,
    /// Added to the variance.
    pub(crate) eps: f32,
}

impl LayerNorm {
    /// Reads a normalization of `width` units, `h` or those of the embeddings.
    pub(crate) fn load(
        weights: &ModelWeights<'_>,
        name: &str,
        width: usize,
        config: &EncoderConfig,
    ) -> Result<LayerNorm, Error> {
        let without = LayerNorm::load_without_shift(weights, name, width, config)?;
        Ok(LayerNorm {
            shift: weights.read_tensor(&format!("{name}.bias"), &[width])?,
            ..without
        })
    }

    /// Reads a normalization without shift; the shift is 0.
    pub(crate) fn load_without_shift(
        weights: &ModelWeights<'_>,
        name: &str,
        width: usize,
        config: &EncoderConfig,
    ) -> Result<LayerNorm, Error> {
        Ok(LayerNorm {
            scale: weights.read_tensor(&format!("{name}.weight"), &[width])?,
            shift: vec![0.0; width],
            eps: config.layer_norm_eps as f32,
        })
    }
}

/// Self-attention and the two dense layers after it.
pub(crate) struct BertLayer {
    /// `h` to queries, keys, values: `3h`. Queries are already divided by `√d`.
    pub(crate) qkv: LinearLayer,
    /// `h` to `h`.
    pub(crate) out: LinearLayer,
    pub(crate) out_norm: LayerNorm,
    /// `h` to `m`.
    pub(crate) up: LinearLayer,
    /// `m` to `h`.
    pub(crate) down: LinearLayer,
    pub(crate) down_norm: LayerNorm,
}

impl BertLayer {
    fn load(
        weights: &ModelWeights<'_>,
        config: &EncoderConfig,
        layer: usize,
    ) -> Result<BertLayer, Error> {
        let (h, m) = (config.hidden_size, config.intermediate_size);
        let names = LayerTensorNames::of(config.family);
        let at = |name: &str| format!("{}.{layer}.{name}", names.layers);
        let mut query = LinearLayer::load(weights, &at(names.query), h, h)?;
        let key = LinearLayer::load(weights, &at(names.key), h, h)?;
        let value = LinearLayer::load(weights, &at(names.value), h, h)?;
        query.scale(1.0 / ((h / config.num_attention_heads) as f32).sqrt());
        Ok(BertLayer {
            qkv: LinearLayer::join([query, key, value]),
            out: LinearLayer::load(weights, &at(names.out), h, h)?,
            out_norm: LayerNorm::load(weights, &at(names.out_norm), h, config)?,
            up: LinearLayer::load(weights, &at(names.up), h, m)?,
            down: LinearLayer::load(weights, &at(names.down), m, h)?,
            down_norm: LayerNorm::load(weights, &at(names.down_norm), h, config)?,
        })
    }
}

/// The names of the tensors of a layer, without `.weight` and `.bias`.
pub(crate) struct LayerTensorNames {
    /// What precedes the number of a layer.
    pub(crate) layers: &'static str,
    pub(crate) query: &'static str,
    pub(crate) key: &'static str,
    pub(crate) value: &'static str,
    pub(crate) out: &'static str,
    pub(crate) out_norm: &'static str,
    pub(crate) up: &'static str,
    pub(crate) down: &'static str,
    pub(crate) down_norm: &'static str,
}

impl LayerTensorNames {
    /// Returns the names of a family other than ModernBERT.
    pub(crate) fn of(family: EncoderFamily) -> LayerTensorNames {
        match family {
            EncoderFamily::Bert | EncoderFamily::Roberta | EncoderFamily::Electra => {
                LayerTensorNames {
                    layers: "encoder.layer",
                    query: "attention.self.query",
                    key: "attention.self.key",
                    value: "attention.self.value",
                    out: "attention.output.dense",
                    out_norm: "attention.output.LayerNorm",
                    up: "intermediate.dense",
                    down: "output.dense",
                    down_norm: "output.LayerNorm",
                }
            }
            EncoderFamily::DistilBert => LayerTensorNames {
                layers: "transformer.layer",
                query: "attention.q_lin",
                key: "attention.k_lin",
                value: "attention.v_lin",
                out: "attention.out_lin",
                out_norm: "sa_layer_norm",
                up: "ffn.lin1",
                down: "ffn.lin2",
                down_norm: "output_layer_norm",
            },
            EncoderFamily::ModernBert => unreachable!("it has parameters of its own"),
        }
    }
}

/// The parameters of the model, in main memory.
pub(crate) struct BertParameters {
    pub(crate) config: EncoderConfig,
    /// `[vocabulary, e]`, where `e` is the size of an embedding.
    pub(crate) token_embeddings: Vec<f32>,
    /// For each segment, at most two, `[positions, e]`: the sum of the embeddings of segment and
    /// position.
    pub(crate) position_embeddings: Vec<Vec<f32>>,
    /// The normalization of embeddings, over `e` units.
    pub(crate) embedding_norm: LayerNorm,
    /// `e` to `h`, if they differ.
    pub(crate) embedding_projection: Option<LinearLayer>,
    pub(crate) layers: Vec<BertLayer>,
}

impl BertParameters {
    /// Reads the tensors according to `config`.
    pub(crate) fn load(
        weights: &ModelWeights<'_>,
        config: EncoderConfig,
    ) -> Result<BertParameters, Error> {
        let (e, h) = (config.embedding_size, config.hidden_size);
        let embedding = |name: &str, rows: usize| {
            weights.read_tensor(&format!("embeddings.{name}_embeddings.weight"), &[rows, e])
        };
        let words = embedding("word", config.vocab_size)?;
        let mut positions: Vec<f32> = embedding("position", config.max_positions)?;
        // The rows before the first position are never used.
        positions.drain(..config.first_position * e);
        let positions = match config.type_vocab_size {
            0 => vec![positions],
            rows => {
                let types = embedding("token_type", rows)?;
                let with = |segment: &[f32]| {
                    let rows = positions.chunks_exact(e);
                    rows.flat_map(|row| row.iter().zip(segment).map(|(a, b)| a + b))
                        .collect()
                };
                types.chunks_exact(e).take(2).map(with).collect()
            }
        };
        let norm = LayerNorm::load(weights, "embeddings.LayerNorm", e, &config)?;
        let project = match e == h {
            true => None,
            false => Some(LinearLayer::load(weights, "embeddings_project", e, h)?),
        };
        let layers = (0..config.num_hidden_layers)
            .map(|layer| BertLayer::load(weights, &config, layer))
            .collect::<Result<_, _>>()?;
        Ok(BertParameters {
            config,
            token_embeddings: words,
            position_embeddings: positions,
            embedding_norm: norm,
            embedding_projection: project,
            layers,
        })
    }
}

/// A BERT on any device, with candle's operations.
pub(crate) struct CandleBert {
    config: EncoderConfig,
    words: Tensor,
    /// The embeddings of positions, segment after segment.
    positions: Tensor,
    n_segments: usize,
    norm: (Tensor, Tensor),
    project: Option<(Tensor, Tensor)>,
    layers: Vec<DeviceLayer>,
    device: Device,
    dtype: DType,
}

struct DeviceLayer {
    qkv: (Tensor, Tensor),
    out: (Tensor, Tensor),
    out_norm: (Tensor, Tensor),
    up: (Tensor, Tensor),
    down: (Tensor, Tensor),
    down_norm: (Tensor, Tensor),
}

impl CandleBert {
    /// Copies the parameters to `device`, rounded to `dtype`.
    pub(crate) fn from_parameters(
        parameters: BertParameters,
        device: &Device,
        dtype: DType,
    ) -> candle_core::Result<CandleBert> {
        let (h, m) = (
            parameters.config.hidden_size,
            parameters.config.intermediate_size,
        );
        let matrix = |numbers, rows, columns| {
            Tensor::from_vec(numbers, (rows, columns), device)?.to_dtype(dtype)
        };
        let vector = |numbers: Vec<f32>| Tensor::new(numbers, device)?.to_dtype(dtype);
        let linear = |linear: LinearLayer, inputs, outputs| {
            candle_core::Result::Ok((
                matrix(linear.weight, inputs, outputs)?,
                vector(linear.bias)?,
            ))
        };
        let norm =
            |norm: LayerNorm| candle_core::Result::Ok((vector(norm.scale)?, vector(norm.shift)?));
        let layers = parameters
            .layers
            .into_iter()
            .map(|layer| {
                Ok(DeviceLayer {
                    qkv: linear(layer.qkv, h, 3 * h)?,
                    out: linear(layer.out, h, h)?,
                    out_norm: norm(layer.out_norm)?,
                    up: linear(layer.up, h, m)?,
                    down: linear(layer.down, m, h)?,
                    down_norm: norm(layer.down_norm)?,
                })
            })
            .collect::<candle_core::Result<_>>()?;
        let e = parameters.config.embedding_size;
        let project = parameters.embedding_projection.map(|it| linear(it, e, h));
        let n_segments = parameters.position_embeddings.len();
        Ok(CandleBert {
            words: matrix(parameters.token_embeddings, parameters.config.vocab_size, e)?,
            n_segments,
            positions: {
                let rows = n_segments * parameters.config.max_tokens();
                matrix(parameters.position_embeddings.concat(), rows, e)?
            },
            norm: norm(parameters.embedding_norm)?,
            project: project.transpose()?,
            layers,
            config: parameters.config,
            device: device.clone(),
            dtype,
        })
    }

    /// Returns the last hidden state of every token of every input, concatenated: `[Σ tokens, h]`.
    pub(crate) fn forward(&self, inputs: &[EncoderInput<'_>]) -> candle_core::Result<Vec<f32>> {
        let b = inputs.len();
        let t = inputs.iter().map(|it| it.ids.len()).max().unwrap_or(0);
        if t == 0 {
            return Ok(Vec::new());
        }
        let h = self.config.hidden_size;
        let mut ids = vec![0u32; b * t];
        let mut mask = vec![f32::NEG_INFINITY; b * t];
        let mut places = vec![0u32; b * t];
        for (at, input) in inputs.iter().enumerate() {
            let n = input.ids.len();
            let own = at * t..at * t + n;
            ids[own.clone()].copy_from_slice(input.ids);
            mask[own.start..own.start + input.n_attended].fill(0.0);
            for (place, at) in places[own].iter_mut().zip(0..) {
                let segment = input.segment_of_token(at).min(self.n_segments - 1);
                *place = (segment * self.config.max_tokens() + at) as u32;
            }
        }
        let ids = Tensor::from_vec(ids, b * t, &self.device)?;
        let places = Tensor::from_vec(places, b * t, &self.device)?;
        let mask = Tensor::from_vec(mask, (b, 1, 1, t), &self.device)?.to_dtype(self.dtype)?;

        let e = self.config.embedding_size;
        let words = self.words.index_select(&ids, 0)?.reshape((b, t, e))?; // [b, t, e]
        let positions = self
            .positions
            .index_select(&places, 0)?
            .reshape((b, t, e))?; // [b, t, e]
        let mut hidden = self.normed(&(words + positions)?, &self.norm)?; // [b, t, e]
        if let Some(project) = &self.project {
            hidden = linear(&hidden, project)?; // [b, t, h]
        }
        for layer in &self.layers {
            let attended = self.attend(&linear(&hidden, &layer.qkv)?, &mask)?; // [b, t, h]
            let attended = (linear(&attended, &layer.out)? + &hidden)?;
            hidden = self.normed(&attended, &layer.out_norm)?;
            let wide = linear(&hidden, &layer.up)?.gelu_erf()?; // [b, t, m]
            let narrow = (linear(&wide, &layer.down)? + &hidden)?; // [b, t, h]
            hidden = self.normed(&narrow, &layer.down_norm)?;
        }

        let hidden = hidden.to_dtype(DType::F32)?.to_device(&Device::Cpu)?;
        let mut packed = Vec::with_capacity(inputs.iter().map(|it| it.ids.len() * h).sum());
        for (index, input) in inputs.iter().enumerate() {
            let rows = hidden.get(index)?.narrow(0, 0, input.ids.len())?; // [tokens, h]
            packed.extend(rows.flatten_all()?.to_vec1::<f32>()?);
        }
        Ok(packed)
    }

    /// Computes attention: queries, keys and values `[b, t, 3h]` to `[b, t, h]`.
    fn attend(&self, qkv: &Tensor, mask: &Tensor) -> candle_core::Result<Tensor> {
        let (b, t, _) = qkv.dims3()?;
        let a = self.config.num_attention_heads;
        let d = self.config.hidden_size / a;
        let qkv = qkv.reshape((b, t, 3, a, d))?.permute((2, 0, 3, 1, 4))?; // [3, b, a, t, d]
        let query = qkv.get(0)?.contiguous()?; // [b, a, t, d]
        let key = qkv.get(1)?.transpose(2, 3)?.contiguous()?; // [b, a, d, t]
        let value = qkv.get(2)?.contiguous()?; // [b, a, t, d]
        let scores = query.matmul(&key)?.broadcast_add(mask)?; // [b, a, t, t]
        let gathered = candle_nn::ops::softmax_last_dim(&scores)?.matmul(&value)?; // [b, a, t, d]
        gathered.transpose(1, 2)?.reshape((b, t, a * d))
    }

    fn normed(&self, x: &Tensor, norm: &(Tensor, Tensor)) -> candle_core::Result<Tensor> {
        let eps = self.config.layer_norm_eps as f32;
        candle_nn::ops::layer_norm(&x.contiguous()?, &norm.0, &norm.1, eps)
    }
}

/// Applies a dense layer: `[b, t, inputs]` to `[b, t, outputs]`.
fn linear(x: &Tensor, (weight, bias): &(Tensor, Tensor)) -> candle_core::Result<Tensor> {
    let (b, t, _) = x.dims3()?;
    let y = x.flatten_to(1)?.matmul(weight)?.broadcast_add(bias)?; // [b·t, outputs]
    let outputs = y.dim(D::Minus1)?;
    y.reshape((b, t, outputs))
}
