//! DRMM and aNMM: for each query term a histogram of its cosines with all document terms, scored by
//! a small network, and a gate that weights the terms.
//!
//! Guo, Fan, Ai and Croft, "A deep relevance matching model for ad-hoc retrieval", CIKM 2016; Yang,
//! Ai, Guo and Croft, "aNMM: ranking short answer texts with attention-based neural matching
//! model", CIKM 2016. Both as `MatchZoo` 1.0 implements them:
//!
//! `s = Σᵢ gᵢ zᵢ`, `zᵢ = w₂ · tanh(W₁ hᵢ + b₁) + b₂`, `g = softmax(w idf)`
//!
//! with the histogram `hᵢ` `[bins]` of the query term `i`. Bin `⌊(c + 1) / 2 · (bins - 1)⌋` is that
//! of the cosine `c`. DRMM's histogram has `log₁₀(1 + count)` in a bin, aNMM's the sum of the
//! cosines. The same word has the cosine 1 by definition. Two more [`NetworkVariant`]s of DRMM take
//! the natural logarithm, or a rectifier in place of tanh.
//!
//! Shapes: `b` pairs, `q` query terms with padding, `n` query terms of all pairs.

use candle_core::{Device, Result, Tensor};

use crate::interaction::config::{HistogramNetworkConfig, NetworkVariant};
use crate::interaction::layers::{Activation, activate, apply_linear, inner_product};
use crate::interaction::vocabulary::InteractionVocabulary;
use crate::interaction::{ForwardPass, InitialValues, VariableShape};

/// What a bin of a histogram contains.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum BinContent {
    /// `log₁₀(1 + count)` of the cosines in the bin, as in DRMM.
    LogCount,
    /// `ln(1 + count)` of the cosines in the bin, as in the DRMM of Capreolus.
    NaturalLogCount,
    /// The sum of the cosines in the bin, as in aNMM.
    CosineSum,
}

impl BinContent {
    /// Returns the content of the bins of a variant of DRMM.
    pub(super) fn of_drmm(variant: NetworkVariant) -> BinContent {
        match variant {
            NetworkVariant::AsPublished | NetworkVariant::AsIntended | NetworkVariant::OpenNir => {
                BinContent::LogCount
            }
            NetworkVariant::Capreolus => BinContent::NaturalLogCount,
        }
    }
}

/// Returns the trained variables of network and gate.
pub(super) fn variable_shapes(sizes: &HistogramNetworkConfig) -> Vec<VariableShape> {
    let HistogramNetworkConfig { bins, hidden_units } = *sizes;
    let uniform = InitialValues::Uniform;
    vec![
        VariableShape::new("hidden.weight", &[hidden_units, bins], uniform(0.1)),
        VariableShape::new("hidden.bias", &[hidden_units], InitialValues::Zeros),
        VariableShape::new("output.weight", &[1, hidden_units], uniform(0.1)),
        VariableShape::new("output.bias", &[1], InitialValues::Zeros),
        VariableShape::new("gate.weight", &[1], uniform(0.01)),
    ]
}

/// Computes a histogram `[bins]` of each query term over all terms of the document.
pub(super) fn compute_histograms(
    vocabulary: &InteractionVocabulary,
    query: &[u32],
    document: &[u32],
    bins: usize,
    content: BinContent,
) -> Vec<f32> {
    let mut histograms = vec![0.0; query.len() * bins];
    for (histogram, &term) in histograms.chunks_exact_mut(bins).zip(query) {
        let vector = vocabulary.vector(term);
        for &other in document {
            // Rounded, the cosine of a vector with itself could fall into the bin before the last.
            let cosine = match term == other {
                true => 1.0,
                false => inner_product(vector, vocabulary.vector(other)).clamp(-1.0, 1.0),
            };
            let bin = ((cosine + 1.0) / 2.0 * (bins - 1) as f32) as usize;
            histogram[bin] += match content {
                BinContent::LogCount | BinContent::NaturalLogCount => 1.0,
                BinContent::CosineSum => cosine,
            };
        }
        let log: fn(f32) -> f32 = match content {
            BinContent::LogCount => libm::log10f,
            BinContent::NaturalLogCount => libm::logf,
            BinContent::CosineSum => continue,
        };
        histogram.iter_mut().for_each(|it| *it = log(1.0 + *it));
    }
    histograms
}

/// Computes the score of each pair, `[b]`.
pub(super) fn forward(pass: &ForwardPass<'_>, sizes: &HistogramNetworkConfig) -> Result<Tensor> {
    let [hidden_weight, hidden_bias, output_weight, output_bias, gate] = &pass.variables[..] else {
        unreachable!("the variables are those of `variable_shapes`")
    };
    let (b, q) = (pass.pairs.len(), pass.config.max_query_terms);
    let n: usize = pass.pairs.iter().map(|it| it.query.len()).sum();

    // A row for each query term; the last row, of zeros, is that of padding.
    let mut histograms = Vec::with_capacity((n + 1) * sizes.bins);
    let mut places = vec![n as u32; b * q];
    let mut idf = vec![0.0; b * q];
    let mut is_term = vec![0.0_f32; b * q];
    let mut row = 0..;
    for (at, pair) in pass.pairs.iter().enumerate() {
        histograms.extend_from_slice(&pair.histograms);
        for (place, &term) in (at * q..).zip(&pair.query) {
            places[place] = row.next().expect("rows do not end");
            idf[place] = pass.vocabulary.idf()[term as usize];
            is_term[place] = 1.0;
        }
    }
    histograms.resize((n + 1) * sizes.bins, 0.0);
    let histograms = Tensor::from_vec(histograms, (n + 1, sizes.bins), &Device::Cpu)?;

    let hidden = apply_linear(&histograms, hidden_weight, hidden_bias)?; // [n + 1, h]
    let activation = match pass.config.variant {
        NetworkVariant::AsPublished | NetworkVariant::AsIntended | NetworkVariant::Capreolus => {
            Activation::Tanh
        }
        NetworkVariant::OpenNir => Activation::Relu,
    };
    let hidden = activate(&hidden, activation, None)?;
    let scores = apply_linear(&hidden, output_weight, output_bias)?.flatten_all()?; // [n + 1]
    let places = Tensor::from_vec(places, b * q, &Device::Cpu)?;
    let scores = scores.index_select(&places, 0)?.reshape((b, q))?;

    let idf = Tensor::from_vec(idf, (b, q), &Device::Cpu)?;
    let logits = idf.broadcast_mul(gate)?; // [b, q]
    let weights = match pass.config.variant {
        NetworkVariant::AsPublished => candle_nn::ops::softmax(&logits, 1)?,
        NetworkVariant::AsIntended | NetworkVariant::Capreolus | NetworkVariant::OpenNir => {
            let is_term = Tensor::from_vec(is_term, (b, q), &Device::Cpu)?;
            // 0 for terms, far below any logit for padding.
            let offsets = is_term.affine(1e30, -1e30)?;
            (candle_nn::ops::softmax(&(logits + offsets)?, 1)? * is_term)?
        }
    };
    (weights * scores)?.sum(1) // [b]
}
