//! The forward pass of an encoder with candle's operations that have gradients, for GPUs.
//!
//! `candle_nn`'s fused softmax and normalization cut the gradient (candle #2168), so that both are
//! composed here. Parameters are f32; products and states have the precision of the pass.
//!
//! Shapes: `b` texts, `t` tokens of the longest, `n` tokens of all, the others as in `cpu_pass`.

use candle_core::{D, DType, Device, Result, Tensor};
use candle_nn::ops;

use super::parameters::EncoderParameters;
use crate::config::EncoderConfig;
use crate::dropout::ForwardMode;
use crate::tokenization::EncoderInput;

/// An encoder whose parameters are tensors, and the precision of its states.
pub(super) struct EncoderGraph<'a> {
    pub(super) config: &'a EncoderConfig,
    pub(super) parameters: &'a EncoderParameters<Tensor>,
    pub(super) device: &'a Device,
    pub(super) dtype: DType,
    pub(super) mode: ForwardMode,
    pub(super) dropout: f32,
}

impl EncoderGraph<'_> {
    /// Computes the last hidden states of all tokens without those of padding, `[n, h]` in f32.
    ///
    /// What is dropped depends on seed and step, but other than on the CPU also on the device.
    pub(super) fn forward(&self, texts: &[EncoderInput<'_>]) -> Result<Tensor> {
        let (b, h) = (texts.len(), self.config.hidden_size);
        let t = texts.iter().map(|it| it.ids.len()).max().unwrap_or(0);
        let last = self.config.type_vocab_size.saturating_sub(1);
        let (mut ids, mut positions) = (vec![0_u32; b * t], vec![0_u32; b * t]);
        let (mut segments, mut mask) = (vec![0_u32; b * t], vec![-1e4_f32; b * t]);
        let mut places = Vec::new();
        for (number, text) in texts.iter().enumerate() {
            mask[number * t..][..text.n_attended].fill(0.0);
            for (at, &id) in text.ids.iter().enumerate() {
                let place = number * t + at;
                places.push(place as u32);
                ids[place] = id;
                positions[place] = (self.config.first_position + at) as u32;
                segments[place] = text.segment_of_token(at).min(last) as u32;
            }
        }
        if let ForwardMode::Training { seed, step } = self.mode
            && !self.device.is_cpu()
        {
            self.device.set_seed(seed ^ step.rotate_left(32))?;
        }
        let embed = |table: &Tensor, rows: Vec<u32>| {
            let rows = Tensor::from_vec(rows, b * t, self.device)?;
            self.cast(&table.index_select(&rows, 0)?)
        };
        let parameters = self.parameters;
        let mut hidden =
            (embed(&parameters.words, ids)? + embed(&parameters.positions, positions)?)?;
        if let Some(table) = &parameters.segments {
            hidden = (hidden + embed(table, segments)?)?;
        }
        hidden = self.drop(&self.normalize(&hidden, &parameters.norm)?)?; // [bt, e]
        if let Some(projection) = &parameters.projection {
            hidden = self.linear(&hidden, projection)?; // [bt, h]
        }
        let mask = self.cast(&Tensor::from_vec(mask, (b, 1, 1, t), self.device)?)?;
        for layer in &parameters.layers {
            let part = |weight| self.split_heads(&self.linear(&hidden, weight)?, b);
            let (query, key) = (part(&layer.query)?, part(&layer.key)?); // [b, a, t, d]
            let scale = 1.0 / (query.dim(D::Minus1)? as f64).sqrt();
            let scores = query.matmul(&key.transpose(2, 3)?.contiguous()?)?;
            let scores = scores.affine(scale, 0.0)?.broadcast_add(&mask)?; // [b, a, t, t]
            let weights = self.drop(&ops::softmax(&scores, D::Minus1)?)?;
            let gathered = weights.matmul(&part(&layer.value)?)?; // [b, a, t, d]
            let gathered = gathered.transpose(1, 2)?.reshape((b * t, h))?;
            let out = self.drop(&self.linear(&gathered, &layer.out)?)?;
            let middle = self.normalize(&(out + &hidden)?, &layer.out_norm)?;
            let up = self.linear(&middle, &layer.up)?.gelu_erf()?; // [bt, m]
            let down = self.drop(&self.linear(&up, &layer.down)?)?;
            hidden = self.normalize(&(down + &middle)?, &layer.down_norm)?;
        }
        let n = places.len();
        let places = Tensor::from_vec(places, n, self.device)?;
        hidden.index_select(&places, 0)?.to_dtype(DType::F32)
    }

    fn cast(&self, tensor: &Tensor) -> Result<Tensor> {
        tensor.to_dtype(self.dtype)
    }

    /// Returns `[bt, h]` as `[b, a, t, d]`.
    fn split_heads(&self, x: &Tensor, b: usize) -> Result<Tensor> {
        let (a, h) = (self.config.num_attention_heads, self.config.hidden_size);
        let split = x.reshape((b, x.dim(0)? / b, a, h / a))?;
        split.transpose(1, 2)?.contiguous()
    }

    fn linear(&self, x: &Tensor, [weight, bias]: &[Tensor; 2]) -> Result<Tensor> {
        x.matmul(&self.cast(weight)?.t()?)?
            .broadcast_add(&self.cast(bias)?)
    }

    fn normalize(&self, x: &Tensor, [scale, shift]: &[Tensor; 2]) -> Result<Tensor> {
        let x = x.to_dtype(DType::F32)?;
        let centered = x.broadcast_sub(&x.mean_keepdim(D::Minus1)?)?;
        let variance = centered.sqr()?.mean_keepdim(D::Minus1)?;
        let deviation = (variance + self.config.layer_norm_eps)?.sqrt()?;
        let normalized = centered.broadcast_div(&deviation)?;
        self.cast(&normalized.broadcast_mul(scale)?.broadcast_add(shift)?)
    }

    fn drop(&self, x: &Tensor) -> Result<Tensor> {
        match self.mode {
            ForwardMode::Training { .. } if self.dropout > 0.0 => ops::dropout(x, self.dropout),
            ForwardMode::Training { .. } | ForwardMode::Inference => Ok(x.clone()),
        }
    }
}
