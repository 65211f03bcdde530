//! The tokenizer of a T5: no special token at the beginning, one at the end.

use crate::error::Error;
use crate::tokenization::{QueryOrDocumentRole, TokenizedText};
use crate::tokenizer::HfTokenizer;

/// Splits texts into tokens, and joins generated tokens.
pub(crate) struct T5Tokenizer {
    tokenizer: HfTokenizer,
}

impl T5Tokenizer {
    /// Loads the tokenizer from the contents of `tokenizer.json`; returns an error if they are
    /// invalid or a token id is not below `vocab_size`.
    pub(crate) fn load(json: &[u8], vocab_size: usize) -> Result<T5Tokenizer, Error> {
        Ok(T5Tokenizer {
            tokenizer: HfTokenizer::from_json(json, vocab_size)?,
        })
    }

    /// Returns the first `most` tokens of a text, without the end token.
    pub(crate) fn tokenize_without_end_token(
        &self,
        side: QueryOrDocumentRole,
        text: &str,
        most: usize,
    ) -> Result<TokenizedText, Error> {
        self.tokenizer.tokenize_without_specials(side, text, most)
    }

    /// Returns the text of tokens, without special ones.
    pub(crate) fn decode(&self, ids: &[u32]) -> Result<String, Error> {
        self.tokenizer.decode(ids)
    }

    /// Returns the id of a token; returns an error if it is missing.
    pub(crate) fn token_to_id(&self, token: &str) -> Result<u32, Error> {
        let missing = || Error::Tokenizer(format!("there is no token {token}"));
        self.tokenizer.token_to_id(token).ok_or_else(missing)
    }
}
