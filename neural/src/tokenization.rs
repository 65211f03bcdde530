//! From a text to the pieces of a model's vocabulary.

use crate::error::Error;
use crate::tokenizer::HfTokenizer;

/// What a text is read as. The same words as a query and as a text are two things.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum InputRole {
    /// What is searched for.
    Query,
    /// What is ranked.
    Document,
}

/// One text as ids of word tokens, `[CLS]` first and `[SEP]` last; for a T5 without either, so
/// that there are as many spans as ids, and none of an empty text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenizedText {
    /// What it is read as.
    pub role: InputRole,
    /// Ids in the vocabulary, with those of `[CLS]` and `[SEP]`, at least these two but for a T5;
    /// of a ColBERT also a marker after `[CLS]` and `[MASK]` after `[SEP]`.
    pub ids: Vec<u32>,
    /// Where each piece of the text itself stands in it: from and to, in characters (Unicode
    /// scalar values); two fewer than `ids` but for a ColBERT and a T5. A token of a prompt
    /// is at 0.
    pub spans: Vec<(u32, u32)>,
    /// Whether pieces of the text were left out, to keep to the model's bound.
    pub truncated: bool,
}

/// A query and a text as one sequence of tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenizedPair {
    /// Ids in the vocabulary, special tokens among them.
    pub ids: Vec<u32>,
    /// Where the text begins; what stands before is the query with its special tokens.
    pub document_start: usize,
    /// Whether pieces of the query or of the text were left out.
    pub truncated: bool,
}

/// A text, or a query and a text, as the encoder reads them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EncoderInput<'a> {
    pub(crate) ids: &'a [u32],
    /// Where the second segment begins; the number of tokens where there is none.
    pub(crate) second_segment_start: usize,
    /// How many tokens, from the first, are looked at by all; those after them look, and are
    /// looked at by none.
    pub(crate) n_attended: usize,
}

impl<'a> EncoderInput<'a> {
    /// Creates the encoder input of one text, as a single segment that is attended to in full.
    pub(crate) fn from_text(text: &'a TokenizedText) -> EncoderInput<'a> {
        EncoderInput::single_segment(&text.ids)
    }

    /// One segment, every piece of which is looked at.
    pub(crate) fn single_segment(ids: &'a [u32]) -> EncoderInput<'a> {
        EncoderInput {
            ids,
            second_segment_start: ids.len(),
            n_attended: ids.len(),
        }
    }

    /// Returns the segment of the token at position `at`: 0 for the first segment, 1 for the
    /// second.
    pub(crate) fn segment(&self, at: usize) -> usize {
        usize::from(at >= self.second_segment_start)
    }
}

/// The most pieces of a text, special ones among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TokenLimits {
    pub(crate) query: usize,
    pub(crate) document: usize,
}

impl TokenLimits {
    /// Creates limits with the same maximum for queries and documents, in tokens.
    pub(crate) fn uniform(max_pieces: usize) -> TokenLimits {
        TokenLimits {
            query: max_pieces,
            document: max_pieces,
        }
    }

    pub(crate) fn for_role(self, side: InputRole) -> usize {
        match side {
            InputRole::Query => self.query,
            InputRole::Document => self.document,
        }
    }

    /// Returns the larger of the query and document limits, in tokens.
    pub(crate) fn max(self) -> usize {
        self.query.max(self.document)
    }
}

/// What is put before every text of a side.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Prompts {
    pub(crate) query: String,
    pub(crate) text: String,
}

impl Prompts {
    fn of(&self, side: InputRole) -> &str {
        match side {
            InputRole::Query => &self.query,
            InputRole::Document => &self.text,
        }
    }
}

/// The pieces of a text, without special ones.
pub(crate) struct ContentTokens {
    pub(crate) ids: Vec<u32>,
    pub(crate) spans: Vec<(u32, u32)>,
    pub(crate) truncated: bool,
}

/// Turns texts into token sequences, with prompts, special tokens and truncation.
pub(crate) struct InputTokenizer {
    tokenizer: HfTokenizer,
    cls: u32,
    sep: u32,
    bounds: TokenLimits,
    prompts: Prompts,
    /// Of a query and a text that are read together.
    max_pieces: usize,
    /// Between a query and a text that are read together.
    n_separators: usize,
}

impl InputTokenizer {
    /// Loads the tokenizer from the contents of `tokenizer.json`; returns an error if they are
    /// invalid, a token id is not below `vocab_size`, or the special tokens of BERT or RoBERTa are
    /// missing.
    pub(crate) fn load(
        json: &[u8],
        vocab_size: usize,
        max_pieces: usize,
    ) -> Result<InputTokenizer, Error> {
        let tokenizer = HfTokenizer::read(json, vocab_size)?;
        // As BERT and as RoBERTa call them.
        let special = |pieces: [&str; 2]| {
            let found = pieces.iter().find_map(|it| tokenizer.token_to_id(it));
            let [one, other] = pieces;
            let missing = || Error::Tokenizer(format!("there is no piece {one} or {other}"));
            found.ok_or_else(missing)
        };
        Ok(InputTokenizer {
            cls: special(["[CLS]", "<s>"])?,
            sep: special(["[SEP]", "</s>"])?,
            tokenizer,
            bounds: TokenLimits::uniform(max_pieces),
            prompts: Prompts::default(),
            max_pieces,
            n_separators: 1,
        })
    }

    /// With so many separators between a query and a text.
    pub(crate) fn with_separators(self, n_separators: usize) -> InputTokenizer {
        InputTokenizer {
            n_separators,
            ..self
        }
    }

    /// Whether a cutter with the same tokens cuts every text as this one does.
    pub(crate) fn tokenizes_like(&self, other: &InputTokenizer) -> bool {
        self.bounds == other.bounds && self.prompts == other.prompts
    }

    /// With bounds on each side, and with what is put before texts; refuses what
    /// [`InputTokenizer::check_prompts`] does.
    pub(crate) fn with_settings(
        self,
        bounds: TokenLimits,
        prompts: Prompts,
    ) -> Result<InputTokenizer, Error> {
        let cutter = InputTokenizer {
            bounds,
            prompts,
            ..self
        };
        cutter.check_prompts(TokenLimits {
            query: bounds.query - 2,
            document: bounds.document - 2,
        })?;
        Ok(cutter)
    }

    /// Refuses a prompt after which not one piece of a text would be read, where a side has room
    /// for so many tokens without special ones.
    pub(crate) fn check_prompts(&self, room: TokenLimits) -> Result<(), Error> {
        for side in [InputRole::Query, InputRole::Document] {
            let n_pieces = self.content_tokens(side, "", usize::MAX)?.ids.len();
            if n_pieces >= room.for_role(side) {
                return Err(Error::PromptTooLong {
                    side: match side {
                        InputRole::Query => "queries",
                        InputRole::Document => "texts",
                    },
                    n_pieces,
                    room: room.for_role(side),
                });
            }
        }
        Ok(())
    }

    /// A query and a text as one sequence, cut by [`truncate_longest_first`].
    pub(crate) fn tokenize_pair(
        &self,
        query: &TokenizedText,
        text: &TokenizedText,
    ) -> TokenizedPair {
        let inner = |it: &TokenizedText| {
            let inner = it.ids.get(1..it.ids.len().saturating_sub(1));
            inner.unwrap_or_default().to_vec()
        };
        let (mut query_ids, mut text_ids) = (inner(query), inner(text));
        let most = self.max_pieces - 2 - self.n_separators;
        let cut = query_ids.len() + text_ids.len() > most;
        let (n_query, n_text) = truncate_longest_first(query_ids.len(), text_ids.len(), most);
        query_ids.truncate(n_query);
        text_ids.truncate(n_text);
        let mut ids = vec![self.cls];
        ids.extend(query_ids);
        ids.push(self.sep);
        // As BERT counts segments: the first separator belongs to the query.
        let second = ids.len();
        ids.extend(std::iter::repeat_n(self.sep, self.n_separators - 1));
        ids.extend(text_ids);
        ids.push(self.sep);
        TokenizedPair {
            ids,
            document_start: second,
            truncated: cut || query.truncated || text.truncated,
        }
    }

    /// The pieces of `text`; those beyond the bound of its side are left out.
    pub(crate) fn tokenize(&self, side: InputRole, text: &str) -> Result<TokenizedText, Error> {
        let inner = self.content_tokens(side, text, self.bounds.for_role(side) - 2)?;
        let mut ids = Vec::with_capacity(inner.ids.len() + 2);
        ids.push(self.cls);
        ids.extend(inner.ids);
        ids.push(self.sep);
        Ok(TokenizedText {
            role: side,
            ids,
            spans: inner.spans,
            truncated: inner.truncated,
        })
    }

    /// The first `most` pieces of `text` and of the prompt before it.
    pub(crate) fn content_tokens(
        &self,
        side: InputRole,
        text: &str,
        most: usize,
    ) -> Result<ContentTokens, Error> {
        let prompt = self.prompts.of(side);
        let encoding = match prompt {
            "" => self.tokenizer.encode(text)?,
            prompt => self.tokenizer.encode(&format!("{prompt}{text}"))?,
        };
        let kept = encoding.len().min(most);
        let before = prompt.chars().count();
        let place = |it: usize| it.saturating_sub(before) as u32;
        let spans = encoding.get_offsets()[..kept].iter();
        Ok(ContentTokens {
            ids: encoding.get_ids()[..kept].to_vec(),
            spans: spans.map(|&(a, b)| (place(a), place(b))).collect(),
            truncated: kept < encoding.len(),
        })
    }

    /// The first piece of `text`, without a prompt.
    pub(crate) fn first_token(&self, text: &str) -> Result<Option<u32>, Error> {
        let encoding = self.tokenizer.encode_fast(text)?;
        Ok(encoding.get_ids().first().copied())
    }

    /// What stands for what the vocabulary lacks.
    pub(crate) fn unknown_token(&self) -> Option<u32> {
        self.id("[UNK]").or_else(|| self.id("<unk>"))
    }

    /// Returns the token ids of `[CLS]` and `[SEP]`, or of `<s>` and `</s>` in a RoBERTa
    /// vocabulary.
    pub(crate) fn cls_and_sep(&self) -> (u32, u32) {
        (self.cls, self.sep)
    }

    /// The id of a token as it stands in the vocabulary.
    pub(crate) fn id(&self, piece: &str) -> Option<u32> {
        self.tokenizer.token_to_id(piece)
    }

    /// The token as it stands in the vocabulary, `##ing`.
    pub(crate) fn piece(&self, id: u32) -> String {
        self.tokenizer.id_to_token(id).unwrap_or_default()
    }
}

/// How many pieces of a query and of a text are kept where there is room for `most` of both. If
/// they do not fit, the longer one is cut to what the other leaves, or both to a half, as
/// `longest_first` does in the tokenizers library.
pub(crate) fn truncate_longest_first(n_query: usize, n_text: usize, most: usize) -> (usize, usize) {
    if n_query + n_text <= most {
        return (n_query, n_text);
    }
    let short = n_query.min(n_text);
    let (short, long) = match short > most / 2 {
        true => (most / 2, most / 2 + most % 2),
        false => (short, most - short),
    };
    match n_query > n_text {
        true => (long, short),
        false => (short, long),
    }
}
