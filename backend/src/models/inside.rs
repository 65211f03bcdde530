//! A ranker from inside: the vectors of its pieces where it compares these, what pieces take of
//! each other where it reads query and text together.

use neural::{Encoded, Matching, Side};
use shared::api::{Attend, Attention};
use shared::error::{Error as InputError, Field};

use crate::error::Error;
use crate::models::passages::Reading;
use crate::models::reader::{Alone, Reader, Together, Vectors};
use crate::models::{Ranker, TOKEN_BUDGET};

impl Ranker {
    /// Refuses a ranker that has no vector for each piece of a text that is read whole.
    pub(crate) fn check_late(&self) -> Result<(), Error> {
        let is_late = match self.reader.alone() {
            Some(Alone::Dense(it)) => it.matching() == Matching::LateInteraction,
            Some(Alone::Colbert(_)) => true,
            Some(Alone::Sparse(_) | Alone::Epic(_)) | None => false,
        };
        match is_late && self.reading == Reading::Whole {
            true => Ok(()),
            false => {
                let reason = "has no vector for each piece of a whole text; take one in late \
                              interaction (`NAME:late`) or a ColBERT (`NAME:colbert`)";
                let ranker = Field::shown("ranker", &self.about.spec);
                Err(InputError::unsupported(ranker, reason).into())
            }
        }
    }

    /// Places of texts in batches of the usual size, each text once.
    pub(crate) fn batches(&self, texts: &[String]) -> Result<Vec<Vec<u32>>, Error> {
        let each: Vec<(u32, u32)> = (0..texts.len() as u32).map(|it| (0, it)).collect();
        self.plan(texts, &each, TOKEN_BUDGET)
    }

    /// The vectors of the pieces of some texts that fit into one batch.
    pub(crate) fn vectors(&self, side: Side, texts: &[&str]) -> Result<Vec<Encoded>, Error> {
        self.check_late()?;
        let pieces = self.cut(side, texts)?;
        let pieces: Vec<_> = pieces.iter().collect();
        let encode = |batch: &[&neural::Pieces]| match self.reader.alone() {
            Some(model) => model.encode(side, batch),
            None => Ok(Vec::new()),
        };
        let vectors = self.in_batches(&pieces, encode)?.into_iter();
        let dense = vectors.filter_map(|it| match it {
            Vectors::Dense(it) => Some(it),
            Vectors::Sparse(_) | Vectors::EpicQuery(_) | Vectors::EpicText(_) => None,
        });
        Ok(dense.collect())
    }

    /// The ids of the pieces of texts, without special ones, as far as the model reads them.
    pub(crate) fn ids(&self, texts: &[&str]) -> Result<Vec<Vec<u32>>, Error> {
        let cut = self.cut(Side::Text, texts)?.into_iter();
        // Special pieces stand nowhere in the text: one behind it, the others before.
        let inner = cut.map(|it| {
            let n_before = it.ids.len().saturating_sub(it.spans.len() + 1);
            let each = it.ids.into_iter().skip(n_before).zip(it.spans);
            each.map(|it| it.0).collect()
        });
        Ok(inner.collect())
    }

    /// Where a cross-encoder looks in a text: in a layer, none is the last, by a head, none is the
    /// mean of all.
    pub(crate) fn attention(&self, asked: &Attend) -> Result<Attention, Error> {
        let refuse = |field: Field, reason: String| {
            Err::<Attention, Error>(InputError::unsupported(field, reason).into())
        };
        let ranker = || Field::shown("ranker", &self.about.spec);
        let Reader::Together(Together::Cross(model)) = &*self.reader else {
            let reason = "is no cross-encoder; attention between query and text is shown of one \
                          (`NAME:cross`)";
            return refuse(ranker(), reason.to_owned());
        };
        let (n_layers, n_heads) = model.heads();
        let head = asked.head;
        let layer = asked.layer.unwrap_or((n_layers - 1) as u32);
        if layer as usize >= n_layers {
            return refuse("layer".into(), format!("{layer} is not below {n_layers}"));
        }
        if head.is_some_and(|it| it as usize >= n_heads) {
            return refuse("head".into(), format!("it is not below {n_heads}"));
        }
        let query = self.cut(Side::Query, &[asked.query.as_str()])?.remove(0);
        let text = self.cut(Side::Text, &[asked.text.as_str()])?.remove(0);
        let pair = model.pair(&query, &text);
        let found = model.attention(&pair, layer as usize, head.map(|it| it as usize));
        let Some(weights) = found.map_err(Error::model(&self.about.spec))? else {
            let reason = "computes attention in a way that does not show it; load the model on \
                          the CPU in f32, and no ModernBERT";
            return refuse(ranker(), reason.to_owned());
        };
        Ok(Attention {
            ranker: self.about.clone(),
            n_layers: n_layers as u32,
            n_heads: n_heads as u32,
            layer,
            head,
            pieces: pair.ids.iter().map(|&it| model.piece(it)).collect(),
            second: pair.second as u32,
            weights: weights
                .chunks_exact(pair.ids.len())
                .map(<[f32]>::to_vec)
                .collect(),
            truncated: pair.truncated,
        })
    }

    /// A piece as it stands in the vocabulary.
    pub(crate) fn piece(&self, id: u32) -> String {
        match self.reader.alone() {
            Some(Alone::Dense(it)) => it.piece(id),
            Some(Alone::Colbert(it)) => it.piece(id),
            Some(Alone::Sparse(_) | Alone::Epic(_)) | None => id.to_string(),
        }
    }
}
