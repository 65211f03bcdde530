//! From hidden states to scores, with gradients.
//!
//! Shapes: `n` tokens of all texts, `p` pairs, `h` hidden units, `w` numbers of a ColBERT vector.

use candle_core::{D, Result, Tensor};

use crate::cross_encoder::{ClassificationHead, HeadActivation};
use crate::dropout::Dropout;

impl ClassificationHead {
    /// Computes the score of each pair, `[p]`, from the states of all tokens, `[n, h]`; `first` are
    /// the rows of the first token of each pair. With two labels the score is the difference of the
    /// logits, of which the log-softmax of the second is a function that increases.
    pub(super) fn scores(
        &self,
        hidden: &Tensor,
        first: &[u32],
        [dense, out]: [&[Tensor; 2]; 2],
        dropout: Option<Dropout>,
    ) -> Result<Tensor> {
        let first = Tensor::new(first, hidden.device())?;
        let pooled = linear(&hidden.index_select(&first, 0)?, dense)?; // [p, h]
        let mut pooled = match self.activation {
            HeadActivation::Tanh => pooled.tanh()?,
            HeadActivation::Relu => pooled.relu()?,
            HeadActivation::Gelu => pooled.gelu_erf()?,
        };
        if let Some(dropout) = dropout {
            let mut factors = vec![1.0_f32; pooled.elem_count()];
            dropout.multiply(0, &mut factors);
            let factors = Tensor::from_vec(factors, pooled.shape(), pooled.device())?;
            pooled = (pooled * factors)?;
        }
        let logits = linear(&pooled, out)?; // [p, labels]
        match logits.dim(1)? {
            1 => logits.squeeze(1),
            _ => logits.narrow(1, 1, 1)?.squeeze(1)? - logits.narrow(1, 0, 1)?.squeeze(1)?,
        }
    }
}

/// Computes the score of each pair of a ColBERT, `[p]`: the sum over query vectors of the greatest
/// cosine with a document vector. `pairs` has the rows of `hidden`, `[n, h]`, that are compared:
/// those of the query and those of the document.
pub(super) fn late_interaction_scores(
    hidden: &Tensor,
    weight: &Tensor,
    pairs: &[[&[u32]; 2]],
) -> Result<Tensor> {
    let vectors = hidden.matmul(&weight.t()?)?; // [n, w]
    let norms = (vectors.sqr()?.sum_keepdim(1)? + 1e-24)?.sqrt()?;
    let vectors = vectors.broadcast_div(&norms)?;
    let (p, w) = (pairs.len(), vectors.dim(1)?);
    let device = hidden.device();
    // The vectors of one side, `[p, longest, w]`, with the length of the longest.
    let gather = |side: usize| {
        let longest = pairs.iter().map(|it| it[side].len()).max().unwrap_or(0);
        let longest = longest.max(1);
        let mut rows = vec![0_u32; p * longest];
        let mut is_there = vec![0_u8; p * longest];
        for (number, pair) in pairs.iter().enumerate() {
            let own = number * longest..number * longest + pair[side].len();
            rows[own.clone()].copy_from_slice(pair[side]);
            is_there[own].fill(1);
        }
        let rows = Tensor::from_vec(rows, p * longest, device)?;
        let gathered = vectors.index_select(&rows, 0)?.reshape((p, longest, w))?;
        Ok::<_, candle_core::Error>((gathered, is_there, longest))
    };
    let (queries, is_query, n_query) = gather(0)?;
    let (documents, is_document, n_document) = gather(1)?;
    let cosines = queries.matmul(&documents.transpose(1, 2)?.contiguous()?)?;
    let is_document = Tensor::from_vec(is_document, (p, 1, n_document), device)?;
    let is_document = is_document.broadcast_as(cosines.shape())?.contiguous()?;
    let least = Tensor::full(-1.0_f32, cosines.shape(), device)?;
    let best = is_document.where_cond(&cosines, &least)?.max(D::Minus1)?; // [p, n_query]
    let is_query = is_query.into_iter().map(f32::from).collect();
    (best * Tensor::from_vec(is_query, (p, n_query), device)?)?.sum(1)
}

fn linear(x: &Tensor, [weight, bias]: &[Tensor; 2]) -> Result<Tensor> {
    x.matmul(&weight.t()?)?.broadcast_add(bias)
}
