//! The tokenizer of a model. Its file is untrusted, like the weights: any failure in it is reported
//! as an error of the model.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

use tokenizers::Encoding;

use crate::error::Error;
use crate::tokenization::{QueryOrDocumentRole, TokenizedText};

/// The tokenizer that a model folder has in `tokenizer.json`.
pub(crate) struct HfTokenizer(tokenizers::Tokenizer);

impl HfTokenizer {
    /// Reads `tokenizer.json`. Its own padding and truncation are switched off: padding is not
    /// needed, and callers have to know about truncation.
    pub(crate) fn from_json(json: &[u8], vocab_size: usize) -> Result<HfTokenizer, Error> {
        let tokenizer = caught(|| {
            let mut tokenizer = tokenizers::Tokenizer::from_bytes(json)?;
            tokenizer.with_padding(None);
            tokenizer.with_truncation(None)?;
            Ok(tokenizer)
        })?;
        let id = tokenizer.get_vocab(true).into_values().max().unwrap_or(0);
        if id as usize >= vocab_size {
            return Err(Error::Vocabulary { id, vocab_size });
        }
        Ok(HfTokenizer(tokenizer))
    }

    /// Returns the first `most` tokens of a text, without special tokens.
    pub(crate) fn tokenize_without_specials(
        &self,
        side: QueryOrDocumentRole,
        text: &str,
        most: usize,
    ) -> Result<TokenizedText, Error> {
        let encoding = self.encode_without_specials(text)?;
        let kept = encoding.len().min(most);
        let spans = encoding.get_offsets()[..kept].iter();
        Ok(TokenizedText {
            role: side,
            ids: encoding.get_ids()[..kept].to_vec(),
            spans: spans.map(|&(a, b)| (a as u32, b as u32)).collect(),
            truncated: kept < encoding.len(),
        })
    }

    /// Returns all tokens in the order of their ids, which have to be 0 to n − 1.
    pub(crate) fn tokens_by_id(&self) -> Result<Vec<String>, Error> {
        let mut tokens: Vec<(u32, String)> = self
            .0
            .get_vocab(true)
            .into_iter()
            .map(|it| (it.1, it.0))
            .collect();
        tokens.sort_unstable();
        match (0..).zip(&tokens).all(|(id, it)| id == it.0) {
            true => Ok(tokens.into_iter().map(|it| it.1).collect()),
            false => Err(Error::Tokenizer(
                "the ids of its tokens have gaps".to_owned(),
            )),
        }
    }

    /// Returns the tokens of a text with their spans in characters, without special tokens.
    pub(crate) fn encode_without_specials(&self, text: &str) -> Result<Encoding, Error> {
        caught(|| self.0.encode_char_offsets(text, false))
    }

    /// Returns the tokens of a text without spans, which is faster.
    pub(crate) fn encode_without_specials_or_spans(&self, text: &str) -> Result<Encoding, Error> {
        caught(|| self.0.encode_fast(text, false))
    }

    /// Returns the text of tokens, without special ones.
    pub(crate) fn decode(&self, ids: &[u32]) -> Result<String, Error> {
        caught(|| self.0.decode(ids, true))
    }

    pub(crate) fn token_to_id(&self, token: &str) -> Option<u32> {
        self.0.token_to_id(token)
    }

    pub(crate) fn id_to_token(&self, id: u32) -> Option<String> {
        self.0.id_to_token(id)
    }
}

thread_local! {
    /// Whether a panic of this thread is caught and returned as an error.
    static IS_CAUGHT: Cell<bool> = const { Cell::new(false) };
}

/// Runs a function of the tokenizers library and catches panics, which some files cause, for
/// example with a regular expression that backtracks too often.
fn caught<T>(work: impl FnOnce() -> tokenizers::Result<T>) -> Result<T, Error> {
    silence_caught_panics();
    IS_CAUGHT.set(true);
    let done = panic::catch_unwind(AssertUnwindSafe(work));
    IS_CAUGHT.set(false);
    let reason = match done {
        Ok(Ok(it)) => return Ok(it),
        Ok(Err(error)) => error.to_string(),
        Err(panic) => {
            let message = panic.downcast_ref::<String>().map(String::as_str);
            let message = message.or_else(|| panic.downcast_ref::<&str>().copied());
            let message = message.unwrap_or("no message");
            format!("the tokenizer breaks off ({message}); use the file published with the model")
        }
    };
    Err(Error::Tokenizer(reason))
}

/// Keeps caught panics out of standard error, where they would duplicate the error. All panics are
/// shown where none can be caught, as in the browser.
fn silence_caught_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            if cfg!(panic = "abort") || !IS_CAUGHT.get() {
                usual(panic);
            }
        }));
    });
}
