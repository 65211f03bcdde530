//! From texts to tokens and back, as a T5 has them: no token at the beginning, one at the end.

use crate::error::Error;
use crate::tokenization::{InputRole, TokenizedText};
use crate::tokenizer::HfTokenizer;

/// Cuts texts into tokens, and joins tokens that were written.
pub(crate) struct T5Tokenizer {
    tokenizer: HfTokenizer,
}

impl T5Tokenizer {
    /// Loads the tokenizer from the contents of `tokenizer.json`; returns an error if they are
    /// invalid or a token id is not below `vocab_size`.
    pub(crate) fn load(json: &[u8], vocab_size: usize) -> Result<T5Tokenizer, Error> {
        Ok(T5Tokenizer {
            tokenizer: HfTokenizer::read(json, vocab_size)?,
        })
    }

    /// The pieces of a text, at most so many, without the one that ends it.
    pub(crate) fn tokenize(
        &self,
        side: InputRole,
        text: &str,
        most: usize,
    ) -> Result<TokenizedText, Error> {
        let encoding = self.tokenizer.encode(text)?;
        let kept = encoding.len().min(most);
        let spans = encoding.get_offsets()[..kept].iter();
        Ok(TokenizedText {
            role: side,
            ids: encoding.get_ids()[..kept].to_vec(),
            spans: spans.map(|&(a, b)| (a as u32, b as u32)).collect(),
            truncated: kept < encoding.len(),
        })
    }

    /// The text of tokens, without those that only mark something.
    pub(crate) fn decode(&self, ids: &[u32]) -> Result<String, Error> {
        self.tokenizer.decode(ids)
    }

    /// The id of a token that has to be there.
    pub(crate) fn id(&self, piece: &str) -> Result<u32, Error> {
        let missing = || Error::Tokenizer(format!("there is no piece {piece}"));
        self.tokenizer.token_to_id(piece).ok_or_else(missing)
    }
}
