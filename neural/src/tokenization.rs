//! Tokenization: from a text to the tokens of a model's vocabulary.

use crate::error::Error;
use crate::tokenizer::HfTokenizer;

/// The role of a text. Models may encode the same words differently as query and as document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum QueryOrDocumentRole {
    /// The query.
    Query,
    /// A document that is ranked.
    Document,
}

/// A text as token ids, with `[CLS]` first and `[SEP]` last. For a T5 there is neither, so there
/// are as many spans as ids, and none for an empty text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenizedText {
    /// The role of the text.
    pub role: QueryOrDocumentRole,
    /// The token ids, including `[CLS]` and `[SEP]`, so at least two except for a T5; for ColBERT
    /// also a marker after `[CLS]` and `[MASK]` after `[SEP]`.
    pub ids: Vec<u32>,
    /// The span of each content token in the text: start and end, in characters (Unicode scalar
    /// values). There are two fewer than `ids` except for a ColBERT and a T5. A token of a prompt
    /// has both at 0.
    pub spans: Vec<(u32, u32)>,
    /// Whether tokens of the text were left out because of the model's maximum.
    pub truncated: bool,
}

/// A query and a document as one sequence of tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryDocumentTokenSequence {
    /// The token ids, including special tokens.
    pub ids: Vec<u32>,
    /// The index of the first document token; before it are the query and special tokens.
    pub document_start: usize,
    /// The number of content tokens of the document that are read, from its beginning.
    pub n_document_tokens: usize,
    /// Whether tokens of the query or of the document were left out.
    pub truncated: bool,
}

/// A text, or a query and a document, as input of the encoder.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EncoderInput<'a> {
    pub(crate) ids: &'a [u32],
    /// The index at which the second segment begins; the number of tokens if there is none.
    pub(crate) second_segment_start: usize,
    /// The number of tokens, from the first, that all tokens attend to. No token attends to those
    /// after them.
    pub(crate) n_attended: usize,
}

impl<'a> EncoderInput<'a> {
    /// Creates the encoder input of one text, as a single segment that is attended to in full.
    pub(crate) fn from_tokenized_text(text: &'a TokenizedText) -> EncoderInput<'a> {
        EncoderInput::single_segment(&text.ids)
    }

    /// Creates a single segment, all of whose tokens are attended to.
    pub(crate) fn single_segment(ids: &'a [u32]) -> EncoderInput<'a> {
        EncoderInput {
            ids,
            second_segment_start: ids.len(),
            n_attended: ids.len(),
        }
    }

    /// Returns the segment of the token at position `at`: 0 for the first segment, 1 for the
    /// second.
    pub(crate) fn segment_of_token(&self, at: usize) -> usize {
        usize::from(at >= self.second_segment_start)
    }
}

/// The maximum numbers of tokens of queries and documents, including special ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TokenLimits {
    pub(crate) query: usize,
    pub(crate) document: usize,
}

impl TokenLimits {
    /// Creates limits with the same maximum for queries and documents, in tokens.
    pub(crate) fn uniform(max_tokens: usize) -> TokenLimits {
        TokenLimits {
            query: max_tokens,
            document: max_tokens,
        }
    }

    pub(crate) fn for_role(self, side: QueryOrDocumentRole) -> usize {
        match side {
            QueryOrDocumentRole::Query => self.query,
            QueryOrDocumentRole::Document => self.document,
        }
    }

    /// Returns the larger of the query and document limits, in tokens.
    pub(crate) fn larger_limit(self) -> usize {
        self.query.max(self.document)
    }
}

/// The prompts that are added before queries and documents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PromptPrefixes {
    pub(crate) query: String,
    pub(crate) text: String,
}

impl PromptPrefixes {
    fn of(&self, side: QueryOrDocumentRole) -> &str {
        match side {
            QueryOrDocumentRole::Query => &self.query,
            QueryOrDocumentRole::Document => &self.text,
        }
    }
}

/// The tokens of a text, without special ones.
pub(crate) struct NonSpecialTokens {
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
    prompts: PromptPrefixes,
    /// The maximum number of tokens of a query and a document together.
    max_tokens: usize,
    /// The number of separators between a query and a document in one sequence.
    n_separators: usize,
}

impl InputTokenizer {
    /// Loads the tokenizer from the contents of `tokenizer.json`; returns an error if they are
    /// invalid, a token id is not below `vocab_size`, or the special tokens of BERT or RoBERTa are
    /// missing.
    pub(crate) fn load(
        json: &[u8],
        vocab_size: usize,
        max_tokens: usize,
    ) -> Result<InputTokenizer, Error> {
        let tokenizer = HfTokenizer::from_json(json, vocab_size)?;
        // The names in BERT and in RoBERTa.
        let special = |tokens: [&str; 2]| {
            let found = tokens.iter().find_map(|it| tokenizer.token_to_id(it));
            let [one, other] = tokens;
            let missing = || Error::Tokenizer(format!("there is no token {one} or {other}"));
            found.ok_or_else(missing)
        };
        Ok(InputTokenizer {
            cls: special(["[CLS]", "<s>"])?,
            sep: special(["[SEP]", "</s>"])?,
            tokenizer,
            bounds: TokenLimits::uniform(max_tokens),
            prompts: PromptPrefixes::default(),
            max_tokens,
            n_separators: 1,
        })
    }

    /// Sets the number of separators between a query and a document.
    pub(crate) fn with_pair_separator_count(self, n_separators: usize) -> InputTokenizer {
        InputTokenizer {
            n_separators,
            ..self
        }
    }

    /// Whether another tokenizer with the same vocabulary tokenizes every text in the same way.
    pub(crate) fn tokenizes_like(&self, other: &InputTokenizer) -> bool {
        self.bounds == other.bounds && self.prompts == other.prompts
    }

    /// Sets the limits and the prompts of queries and documents; returns an error like
    /// [`InputTokenizer::check_prompts_fit`].
    pub(crate) fn with_limits_and_prompts(
        self,
        bounds: TokenLimits,
        prompts: PromptPrefixes,
    ) -> Result<InputTokenizer, Error> {
        let cutter = InputTokenizer {
            bounds,
            prompts,
            ..self
        };
        cutter.check_prompts_fit(TokenLimits {
            query: bounds.query - 2,
            document: bounds.document - 2,
        })?;
        Ok(cutter)
    }

    /// Returns an error if a prompt leaves no room for a single token of a text, where `room` is
    /// the maximum number of tokens without special ones.
    pub(crate) fn check_prompts_fit(&self, room: TokenLimits) -> Result<(), Error> {
        for side in [QueryOrDocumentRole::Query, QueryOrDocumentRole::Document] {
            let n_tokens = self
                .tokenize_prompt_and_text(side, "", usize::MAX)?
                .ids
                .len();
            if n_tokens >= room.for_role(side) {
                return Err(Error::PromptTooLong {
                    side: match side {
                        QueryOrDocumentRole::Query => "queries",
                        QueryOrDocumentRole::Document => "texts",
                    },
                    n_tokens,
                    room: room.for_role(side),
                });
            }
        }
        Ok(())
    }

    /// Joins a query and a document into one sequence, truncated by
    /// [`longest_first_truncated_lengths`].
    pub(crate) fn join_tokenized_pair(
        &self,
        query: &TokenizedText,
        text: &TokenizedText,
    ) -> QueryDocumentTokenSequence {
        let inner = |it: &TokenizedText| {
            let inner = it.ids.get(1..it.ids.len().saturating_sub(1));
            inner.unwrap_or_default().to_vec()
        };
        let (mut query_ids, mut text_ids) = (inner(query), inner(text));
        let most = self.max_tokens - 2 - self.n_separators;
        let cut = query_ids.len() + text_ids.len() > most;
        let (n_query, n_text) =
            longest_first_truncated_lengths(query_ids.len(), text_ids.len(), most);
        query_ids.truncate(n_query);
        text_ids.truncate(n_text);
        let mut ids = vec![self.cls];
        ids.extend(query_ids);
        ids.push(self.sep);
        // As in BERT, the first separator belongs to the segment of the query.
        let second = ids.len();
        ids.extend(std::iter::repeat_n(self.sep, self.n_separators - 1));
        ids.extend(text_ids);
        ids.push(self.sep);
        QueryDocumentTokenSequence {
            ids,
            document_start: second,
            n_document_tokens: n_text,
            truncated: cut || query.truncated || text.truncated,
        }
    }

    /// Returns the tokens of `text` with special tokens, truncated to the maximum of its role.
    pub(crate) fn tokenize(
        &self,
        side: QueryOrDocumentRole,
        text: &str,
    ) -> Result<TokenizedText, Error> {
        let inner = self.tokenize_prompt_and_text(side, text, self.bounds.for_role(side) - 2)?;
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

    /// Returns the first `most` tokens of the prompt and `text`.
    pub(crate) fn tokenize_prompt_and_text(
        &self,
        side: QueryOrDocumentRole,
        text: &str,
        most: usize,
    ) -> Result<NonSpecialTokens, Error> {
        let prompt = self.prompts.of(side);
        let encoding = match prompt {
            "" => self.tokenizer.encode_without_specials(text)?,
            prompt => self
                .tokenizer
                .encode_without_specials(&format!("{prompt}{text}"))?,
        };
        let kept = encoding.len().min(most);
        let before = prompt.chars().count();
        let place = |it: usize| it.saturating_sub(before) as u32;
        let spans = encoding.get_offsets()[..kept].iter();
        Ok(NonSpecialTokens {
            ids: encoding.get_ids()[..kept].to_vec(),
            spans: spans.map(|&(a, b)| (place(a), place(b))).collect(),
            truncated: kept < encoding.len(),
        })
    }

    /// Returns the first token of `text`, without a prompt.
    pub(crate) fn text_to_first_token_id(&self, text: &str) -> Result<Option<u32>, Error> {
        let encoding = self.tokenizer.encode_without_specials_or_spans(text)?;
        Ok(encoding.get_ids().first().copied())
    }

    /// Returns the id of the unknown token.
    pub(crate) fn unknown_token_id(&self) -> Option<u32> {
        self.token_to_id("[UNK]")
            .or_else(|| self.token_to_id("<unk>"))
    }

    /// Returns the token ids of `[CLS]` and `[SEP]`, or of `<s>` and `</s>` in a RoBERTa
    /// vocabulary.
    pub(crate) fn cls_and_sep_ids(&self) -> (u32, u32) {
        (self.cls, self.sep)
    }

    /// Returns the id of a token, given as in the vocabulary.
    pub(crate) fn token_to_id(&self, token: &str) -> Option<u32> {
        self.tokenizer.token_to_id(token)
    }

    /// Returns the token as in the vocabulary, for example `##ing`.
    pub(crate) fn id_to_token(&self, id: u32) -> String {
        self.tokenizer.id_to_token(id).unwrap_or_default()
    }
}

/// Returns how many tokens of a query and of a document are kept if at most `most` fit. If both are
/// too long together, the longer one is truncated to what the other leaves, or both to a half, as
/// `longest_first` does in the tokenizers library.
pub(crate) fn longest_first_truncated_lengths(
    n_query: usize,
    n_text: usize,
    most: usize,
) -> (usize, usize) {
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
