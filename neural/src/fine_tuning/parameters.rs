//! The parameters of an encoder by name, in a fixed order.

use crate::bert::LayerTensorNames;
use crate::config::EncoderConfig;

/// A tensor of a model file: its name without the prefix of the family, and its shape.
pub(super) struct TensorName {
    pub(super) name: String,
    pub(super) shape: Vec<usize>,
}

/// One value for each tensor of an encoder: its name, its variable, its numbers or its gradient.
pub(super) struct EncoderParameters<T> {
    /// `[vocabulary, e]`.
    pub(super) words: T,
    /// `[positions, e]`.
    pub(super) positions: T,
    /// `[segments, e]`, for families with segments.
    pub(super) segments: Option<T>,
    /// Scale and shift, `[e]`.
    pub(super) norm: [T; 2],
    /// Weight `[h, e]` and bias `[h]`, if `e` and `h` differ.
    pub(super) projection: Option<[T; 2]>,
    pub(super) layers: Vec<LayerParameters<T>>,
}

/// One value for each tensor of a layer: weights `[outputs, inputs]` with biases `[outputs]`, and
/// scales with shifts `[h]`.
pub(super) struct LayerParameters<T> {
    pub(super) query: [T; 2],
    pub(super) key: [T; 2],
    pub(super) value: [T; 2],
    pub(super) out: [T; 2],
    pub(super) out_norm: [T; 2],
    pub(super) up: [T; 2],
    pub(super) down: [T; 2],
    pub(super) down_norm: [T; 2],
}

impl EncoderParameters<TensorName> {
    /// Returns the names and shapes of the tensors that `config` describes.
    pub(super) fn names(config: &EncoderConfig) -> EncoderParameters<TensorName> {
        let (e, h, m) = (
            config.embedding_size,
            config.hidden_size,
            config.intermediate_size,
        );
        let tensor = |name: String, shape: &[usize]| TensorName {
            name,
            shape: shape.to_vec(),
        };
        let embedding = |name: &str, rows: usize| {
            tensor(format!("embeddings.{name}_embeddings.weight"), &[rows, e])
        };
        let with_bias = |name: &str, shape: &[usize]| {
            let bias = tensor(format!("{name}.bias"), &shape[..1]);
            [tensor(format!("{name}.weight"), shape), bias]
        };
        let names = LayerTensorNames::of(config.family);
        let layers = (0..config.num_hidden_layers).map(|layer| {
            let at = |name: &str, shape: &[usize]| {
                with_bias(&format!("{}.{layer}.{name}", names.layers), shape)
            };
            LayerParameters {
                query: at(names.query, &[h, h]),
                key: at(names.key, &[h, h]),
                value: at(names.value, &[h, h]),
                out: at(names.out, &[h, h]),
                out_norm: at(names.out_norm, &[h]),
                up: at(names.up, &[m, h]),
                down: at(names.down, &[h, m]),
                down_norm: at(names.down_norm, &[h]),
            }
        });
        EncoderParameters {
            words: embedding("word", config.vocab_size),
            positions: embedding("position", config.max_positions),
            segments: match config.type_vocab_size {
                0 => None,
                rows => Some(embedding("token_type", rows)),
            },
            norm: with_bias("embeddings.LayerNorm", &[e]),
            projection: (e != h).then(|| with_bias("embeddings_project", &[h, e])),
            layers: layers.collect(),
        }
    }
}

impl<T> EncoderParameters<T> {
    /// Applies a function to each value, always in the same order; stops at the first error.
    pub(super) fn try_map<'a, U, E>(
        &'a self,
        mut map: impl FnMut(&'a T) -> Result<U, E>,
    ) -> Result<EncoderParameters<U>, E> {
        let map = &mut map;
        let layers = self.layers.iter();
        Ok(EncoderParameters {
            words: map(&self.words)?,
            positions: map(&self.positions)?,
            segments: self.segments.as_ref().map(&mut *map).transpose()?,
            norm: map_pair(&self.norm, map)?,
            projection: match &self.projection {
                Some(pair) => Some(map_pair(pair, map)?),
                None => None,
            },
            layers: layers
                .map(|layer| {
                    Ok(LayerParameters {
                        query: map_pair(&layer.query, map)?,
                        key: map_pair(&layer.key, map)?,
                        value: map_pair(&layer.value, map)?,
                        out: map_pair(&layer.out, map)?,
                        out_norm: map_pair(&layer.out_norm, map)?,
                        up: map_pair(&layer.up, map)?,
                        down: map_pair(&layer.down, map)?,
                        down_norm: map_pair(&layer.down_norm, map)?,
                    })
                })
                .collect::<Result<_, E>>()?,
        })
    }

    /// Returns all values in the order of [`EncoderParameters::try_map`].
    pub(super) fn into_values(self) -> Vec<T> {
        let mut values = vec![self.words, self.positions];
        values.extend(self.segments);
        values.extend(self.norm);
        values.extend(self.projection.into_iter().flatten());
        for layer in self.layers {
            let pairs = [
                layer.query,
                layer.key,
                layer.value,
                layer.out,
                layer.out_norm,
                layer.up,
                layer.down,
                layer.down_norm,
            ];
            values.extend(pairs.into_iter().flatten());
        }
        values
    }
}

fn map_pair<'a, T, U, E>(
    pair: &'a [T; 2],
    map: &mut impl FnMut(&'a T) -> Result<U, E>,
) -> Result<[U; 2], E> {
    Ok([map(&pair[0])?, map(&pair[1])?])
}
