//! From a text to the pieces of a model's vocabulary.

use tokenizers::Tokenizer;

use crate::cross::PairPieces;
use crate::error::Error;

/// One text as ids of word pieces, `[CLS]` first and `[SEP]` last; for a T5 without either, so
/// that there are as many spans as ids, and none of an empty text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pieces {
    /// Ids in the vocabulary, with those of `[CLS]` and `[SEP]`; at least two.
    pub ids: Vec<u32>,
    /// Where each piece between `[CLS]` and `[SEP]` stands in the text: from and to, in characters
    /// (Unicode scalar values); two fewer than `ids`.
    pub spans: Vec<(u32, u32)>,
    /// Whether pieces of the text were left out, to keep to the model's bound.
    pub truncated: bool,
}

/// Cuts texts into pieces.
pub(crate) struct Cutter {
    tokenizer: Tokenizer,
    cls: u32,
    sep: u32,
    max_pieces: usize,
    /// Between a query and a text that are read together.
    n_separators: usize,
}

impl Cutter {
    /// Reads `tokenizer.json`.
    pub(crate) fn load(json: &[u8], vocab_size: usize, max_pieces: usize) -> Result<Cutter, Error> {
        let tokenizer = open(json, vocab_size)?;
        // As BERT and as RoBERTa call them.
        let special = |pieces: [&str; 2]| {
            let found = pieces.iter().find_map(|it| tokenizer.token_to_id(it));
            let [one, other] = pieces;
            let missing = || Error::Tokenizer(format!("there is no piece {one} or {other}"));
            found.ok_or_else(missing)
        };
        Ok(Cutter {
            cls: special(["[CLS]", "<s>"])?,
            sep: special(["[SEP]", "</s>"])?,
            tokenizer,
            max_pieces,
            n_separators: 1,
        })
    }

    /// With so many separators between a query and a text.
    pub(crate) fn with_separators(self, n_separators: usize) -> Cutter {
        Cutter {
            n_separators,
            ..self
        }
    }

    /// A query and a text as one sequence. Where both do not fit, the longer one is cut to what
    /// the other leaves, or both to a half, as `longest_first` does in the library.
    pub(crate) fn pair(&self, query: &Pieces, text: &Pieces) -> PairPieces {
        let inner = |it: &Pieces| {
            let inner = it.ids.get(1..it.ids.len().saturating_sub(1));
            inner.unwrap_or_default().to_vec()
        };
        let (mut query_ids, mut text_ids) = (inner(query), inner(text));
        let most = self.max_pieces - 2 - self.n_separators;
        let cut = query_ids.len() + text_ids.len() > most;
        if cut {
            let (n_query, n_text) = (query_ids.len(), text_ids.len());
            let short = n_query.min(n_text);
            let (short, long) = match short > most / 2 {
                true => (most / 2, most / 2 + most % 2),
                false => (short, most - short),
            };
            let (n_query, n_text) = match n_query > n_text {
                true => (long, short),
                false => (short, long),
            };
            query_ids.truncate(n_query);
            text_ids.truncate(n_text);
        }
        let mut ids = vec![self.cls];
        ids.extend(query_ids);
        ids.push(self.sep);
        // As BERT counts segments: the first separator belongs to the query.
        let second = ids.len();
        ids.extend(std::iter::repeat_n(self.sep, self.n_separators - 1));
        ids.extend(text_ids);
        ids.push(self.sep);
        PairPieces {
            ids,
            second,
            truncated: cut || query.truncated || text.truncated,
        }
    }

    /// The pieces of `text`; those beyond `max_pieces` are left out.
    pub(crate) fn cut(&self, text: &str) -> Result<Pieces, Error> {
        let encoding = self
            .tokenizer
            .encode_char_offsets(text, false)
            .map_err(|error| Error::Tokenizer(error.to_string()))?;
        let kept = encoding.len().min(self.max_pieces - 2);

        let mut ids = Vec::with_capacity(kept + 2);
        ids.push(self.cls);
        ids.extend_from_slice(&encoding.get_ids()[..kept]);
        ids.push(self.sep);
        let spans = encoding.get_offsets()[..kept]
            .iter()
            .map(|&(a, b)| (a as u32, b as u32))
            .collect();
        Ok(Pieces {
            ids,
            spans,
            truncated: kept < encoding.len(),
        })
    }

    /// The piece as it stands in the vocabulary, `##ing`.
    pub(crate) fn piece(&self, id: u32) -> String {
        self.tokenizer.id_to_token(id).unwrap_or_default()
    }
}

/// Reads `tokenizer.json`. Its own padding and truncation are switched off: padding is not
/// needed, and a truncation has to be known of.
pub(crate) fn open(json: &[u8], vocab_size: usize) -> Result<Tokenizer, Error> {
    let mut tokenizer =
        Tokenizer::from_bytes(json).map_err(|error| Error::Tokenizer(error.to_string()))?;
    tokenizer.with_padding(None);
    tokenizer
        .with_truncation(None)
        .map_err(|error| Error::Tokenizer(error.to_string()))?;

    let id = tokenizer.get_vocab(true).into_values().max().unwrap_or(0);
    if id as usize >= vocab_size {
        return Err(Error::Vocabulary { id, vocab_size });
    }
    Ok(tokenizer)
}
