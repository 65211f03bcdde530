//! WordPiece tokenization as in BERT (Wu et al. 2016; Devlin et al. 2019); each subword is a token.
//!
//! A text is cleaned (control characters are removed, ideographs become separate words), converted
//! to lower case without accents unless the vocabulary is cased, and split at white space and
//! around every punctuation mark. A word is then split from the left into the longest tokens of the
//! vocabulary. Tokens within a word have the prefix `##` in the vocabulary; it is removed here, as
//! in Câmara & Hauff (ECIR 2020). A word that cannot be split this way becomes the token `[UNK]`.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use unicode_normalization::char::decompose_canonical;
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};
use utoipa::ToSchema;

use super::ByteSpan;
use crate::error::Error;
use crate::interner::StringInterner;

/// The token for a word that the vocabulary cannot represent.
pub const UNKNOWN_TOKEN: &str = "[UNK]";

/// The prefix of a token within a word.
const CONTINUATION_PREFIX: &str = "##";

/// The longest word that is split, in characters; longer ones become [`UNKNOWN_TOKEN`].
const LONGEST_WORD: usize = 100;

/// A WordPiece vocabulary. The metadata of mined Parquet files contains it as part of the analyzer,
/// so its keys must not change.
#[derive(Clone, Serialize, Deserialize)]
#[serde(from = "StoredWordpieceVocabulary", into = "StoredWordpieceVocabulary")]
pub struct WordpieceVocabulary(Arc<LoadedVocabulary>);

struct LoadedVocabulary {
    file: String,
    cased: bool,
    /// The tokens as written, in order.
    all: Vec<String>,
    /// The tokens at the start of a word.
    first: StringInterner,
    /// The tokens within a word, without their prefix.
    inside: StringInterner,
    /// The length of the longest token, in bytes.
    longest: usize,
}

/// The serialized form of a WordPiece vocabulary. Its keys must not change.
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StoredWordpieceVocabulary {
    /// Where the vocabulary comes from: the folder of a model or a text file.
    file: String,
    /// Whether letters keep their case and accents.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    cased: bool,
    /// All tokens; a study file can leave them out, then the file is read.
    #[serde(default)]
    pieces: Vec<String>,
}

/// Whether a tokenizer keeps case and accents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CaseAndAccentPolicy {
    /// Letters keep their case and accents.
    Preserved,
    /// Letters are converted to lower case without accents.
    Folded,
}

impl WordpieceVocabulary {
    /// Creates a vocabulary from the tokens of a file. It is an error if `[UNK]` is missing, since
    /// every WordPiece vocabulary has it.
    pub fn from_tokens(
        file: &str,
        case: CaseAndAccentPolicy,
        all: Vec<String>,
    ) -> Result<WordpieceVocabulary, Error> {
        if !all.iter().any(|it| it == UNKNOWN_TOKEN) {
            let reason = "has no token `[UNK]`; a WordPiece vocabulary has one token per line, \
                 like vocab.txt of a BERT model";
            return Err(Error::unreadable_file(file, reason));
        }
        Ok(WordpieceVocabulary::held(file, case, all))
    }

    /// Creates a vocabulary whose file is read later; until then every word is [`UNKNOWN_TOKEN`].
    pub fn with_unread_file(file: &str) -> WordpieceVocabulary {
        WordpieceVocabulary::held(file, CaseAndAccentPolicy::Folded, Vec::new())
    }

    /// Parses `vocab.txt`, one token per line, or the `tokenizer.json` of a model, which also says
    /// whether case is kept; for `vocab.txt`, case is folded.
    pub fn parse_file(file: &str, text: &str) -> Result<WordpieceVocabulary, Error> {
        if text.trim_start().starts_with('{') {
            return WordpieceVocabulary::from_tokenizer(file, text);
        }
        let lines = text.lines().filter(|it| !it.is_empty());
        WordpieceVocabulary::from_tokens(
            file,
            CaseAndAccentPolicy::Folded,
            lines.map(str::to_owned).collect(),
        )
    }

    fn from_tokenizer(file: &str, text: &str) -> Result<WordpieceVocabulary, Error> {
        /// The parts of a `tokenizer.json` that are used.
        #[derive(Deserialize)]
        struct Tokenizer {
            model: Model,
            normalizer: Option<Normalizer>,
        }
        #[derive(Deserialize)]
        struct Model {
            vocab: BTreeMap<String, u32>,
        }
        #[derive(Deserialize)]
        struct Normalizer {
            lowercase: Option<bool>,
        }
        let read: Tokenizer = serde_json::from_str(text).map_err(|it| {
            let reason = format!("is not a tokenizer.json of a WordPiece model: {it}");
            Error::unreadable_file(file, reason)
        })?;
        let case = match read.normalizer.and_then(|it| it.lowercase) {
            Some(false) => CaseAndAccentPolicy::Preserved,
            Some(true) | None => CaseAndAccentPolicy::Folded,
        };
        let mut all: Vec<(u32, String)> = read
            .model
            .vocab
            .into_iter()
            .map(|it| (it.1, it.0))
            .collect();
        all.sort_unstable();
        WordpieceVocabulary::from_tokens(file, case, all.into_iter().map(|it| it.1).collect())
    }

    /// Returns the vocabulary without its tokens, with only the file name and case.
    pub fn with_all_tokens_removed(&self) -> WordpieceVocabulary {
        WordpieceVocabulary::held(self.file_name(), self.case(), Vec::new())
    }

    fn case(&self) -> CaseAndAccentPolicy {
        case_of(self.0.cased)
    }

    fn held(file: &str, case: CaseAndAccentPolicy, all: Vec<String>) -> WordpieceVocabulary {
        let (mut first, mut inside) = (StringInterner::default(), StringInterner::default());
        let mut longest = 0;
        for piece in &all {
            let bare = match piece.strip_prefix(CONTINUATION_PREFIX) {
                Some(bare) => {
                    inside.insert(bare);
                    bare
                }
                None => {
                    first.insert(piece);
                    piece
                }
            };
            longest = longest.max(bare.len());
        }
        WordpieceVocabulary(Arc::new(LoadedVocabulary {
            file: file.to_owned(),
            cased: case == CaseAndAccentPolicy::Preserved,
            all,
            first,
            inside,
            longest,
        }))
    }

    /// Returns the name of the file from which the vocabulary was read.
    pub fn file_name(&self) -> &str {
        &self.0.file
    }

    /// Returns the number of tokens; 0 until the file is read.
    pub fn len(&self) -> usize {
        self.0.all.len()
    }

    /// Returns whether the file has not been read.
    pub fn is_empty(&self) -> bool {
        self.0.all.is_empty()
    }

    /// Calls `take` with each token of a text and its position in the original text.
    pub(super) fn for_each_token(&self, text: &str, mut take: impl FnMut(&str, ByteSpan)) {
        let mut word = Word::default();
        for (at, letter) in text.char_indices() {
            let span = ByteSpan {
                start: at as u32,
                end: (at + letter.len_utf8()) as u32,
            };
            if is_space(letter) {
                self.cut(&mut word, &mut take);
            } else if !is_dropped(letter) {
                let alone = is_ideograph(letter);
                if alone {
                    self.cut(&mut word, &mut take);
                }
                self.normalize(letter, |letter| {
                    if is_punctuation(letter) {
                        self.cut(&mut word, &mut take);
                        word.push(letter, span);
                        self.cut(&mut word, &mut take);
                    } else {
                        word.push(letter, span);
                    }
                });
                if alone {
                    self.cut(&mut word, &mut take);
                }
            }
        }
        self.cut(&mut word, &mut take);
    }

    fn normalize(&self, letter: char, mut take: impl FnMut(char)) {
        if self.0.cased {
            return take(letter);
        }
        if letter.is_ascii() {
            return take(letter.to_ascii_lowercase());
        }
        decompose_canonical(letter, |part| {
            if part.general_category() != GeneralCategory::NonspacingMark {
                part.to_lowercase().for_each(&mut take);
            }
        });
    }

    /// Ends a word: passes its tokens to `take` and clears it.
    fn cut(&self, word: &mut Word, take: &mut impl FnMut(&str, ByteSpan)) {
        if word.text.is_empty() {
            return;
        }
        let whole = word.span(0, word.text.len());
        match self.pieces_of(word) {
            Some(cuts) => {
                for [start, end] in cuts {
                    take(&word.text[start..end], word.span(start, end));
                }
            }
            None => take(UNKNOWN_TOKEN, whole),
        }
        word.text.clear();
        word.letters.clear();
    }

    /// Returns the byte ranges of the tokens of a word; `None` if it cannot be split.
    fn pieces_of(&self, word: &Word) -> Option<Vec<[usize; 2]>> {
        if word.letters.len() > LONGEST_WORD {
            return None;
        }
        let mut cuts = Vec::new();
        let mut start = 0;
        while start < word.text.len() {
            let known = if start == 0 {
                &self.0.first
            } else {
                &self.0.inside
            };
            let furthest = word.text.len().min(start + self.0.longest);
            let end = (start + 1..=furthest).rev().find(|&end| {
                word.text.is_char_boundary(end)
                    && known
                        .find_number_of_string(&word.text[start..end])
                        .is_some()
            })?;
            cuts.push([start, end]);
            start = end;
        }
        Some(cuts)
    }
}

fn case_of(cased: bool) -> CaseAndAccentPolicy {
    match cased {
        true => CaseAndAccentPolicy::Preserved,
        false => CaseAndAccentPolicy::Folded,
    }
}

/// A word with the position of each letter in the text.
#[derive(Default)]
struct Word {
    text: String,
    /// The offset of each letter in `text`, and its position in the original text.
    letters: Vec<(usize, ByteSpan)>,
}

impl Word {
    fn push(&mut self, letter: char, from: ByteSpan) {
        self.letters.push((self.text.len(), from));
        self.text.push(letter);
    }

    /// Returns the position in the original text of a range of bytes of the word.
    fn span(&self, start: usize, end: usize) -> ByteSpan {
        let letter = |byte: usize| self.letters.partition_point(|it| it.0 <= byte) - 1;
        ByteSpan {
            start: self.letters[letter(start)].1.start,
            end: self.letters[letter(end - 1)].1.end,
        }
    }
}

fn is_space(letter: char) -> bool {
    matches!(letter, '\t' | '\n' | '\r') || letter.is_whitespace()
}

/// Returns whether it is a control, format, private-use or unassigned character.
fn is_dropped(letter: char) -> bool {
    match letter {
        '\0' | '\u{fffd}' => true,
        letter if letter.is_ascii() => letter.is_ascii_control(),
        letter => letter.general_category_group() == GeneralCategoryGroup::Other,
    }
}

fn is_punctuation(letter: char) -> bool {
    match letter.is_ascii() {
        true => letter.is_ascii_punctuation(),
        false => letter.general_category_group() == GeneralCategoryGroup::Punctuation,
    }
}

/// Returns whether it is an ideograph of Chinese, Japanese or Korean, by the blocks that BERT
/// lists.
fn is_ideograph(letter: char) -> bool {
    matches!(
        u32::from(letter),
        0x4E00..=0x9FFF
            | 0x3400..=0x4DBF
            | 0x2_0000..=0x2_A6DF
            | 0x2_A700..=0x2_B73F
            | 0x2_B740..=0x2_B81F
            | 0x2_B820..=0x2_CEAF
            | 0xF900..=0xFAFF
            | 0x2_F800..=0x2_FA1F
    )
}

impl fmt::Debug for WordpieceVocabulary {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Pieces({}, {})", self.file_name(), self.len())
    }
}

impl PartialEq for WordpieceVocabulary {
    fn eq(&self, other: &WordpieceVocabulary) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
            || (self.0.cased == other.0.cased && self.0.all == other.0.all)
    }
}

impl Eq for WordpieceVocabulary {}

impl utoipa::PartialSchema for WordpieceVocabulary {
    fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
        StoredWordpieceVocabulary::schema()
    }
}

impl utoipa::ToSchema for WordpieceVocabulary {}

impl From<StoredWordpieceVocabulary> for WordpieceVocabulary {
    fn from(written: StoredWordpieceVocabulary) -> WordpieceVocabulary {
        let case = case_of(written.cased);
        WordpieceVocabulary::held(&written.file, case, written.pieces)
    }
}

impl From<WordpieceVocabulary> for StoredWordpieceVocabulary {
    fn from(pieces: WordpieceVocabulary) -> StoredWordpieceVocabulary {
        StoredWordpieceVocabulary {
            file: pieces.0.file.clone(),
            cased: pieces.0.cased,
            pieces: pieces.0.all.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(case: CaseAndAccentPolicy) -> WordpieceVocabulary {
        let list =
            "[UNK] un ##aff ##able em ##bed ##ding ? ! ' river the rive \u{5ddd} e ##e # ##?";
        let list = list.split(' ').map(str::to_owned).collect();
        WordpieceVocabulary::from_tokens("list", case, list).unwrap()
    }

    fn check(case: CaseAndAccentPolicy, text: &str, expected: &[(&str, &str)]) {
        let mut found = Vec::new();
        pieces(case).for_each_token(text, |piece, span| {
            found.push((
                piece.to_owned(),
                &text[span.start as usize..span.end as usize],
            ));
        });
        let found: Vec<(&str, &str)> = found.iter().map(|it| (it.0.as_str(), it.1)).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn a_word_is_cut_from_the_left_into_the_longest_pieces() {
        // Devlin et al., comment of their tokenizer: unaffable → un ##aff ##able.
        let expected = [("un", "Un"), ("aff", "aff"), ("able", "able")];
        check(CaseAndAccentPolicy::Folded, "Unaffable", &expected);
        let expected = [("em", "em"), ("bed", "bed"), ("ding", "ding")];
        check(CaseAndAccentPolicy::Folded, "embedding", &expected);
    }

    #[test]
    fn a_word_that_cannot_be_spelt_is_unknown_as_a_whole() {
        check(
            CaseAndAccentPolicy::Folded,
            "rivers",
            &[(UNKNOWN_TOKEN, "rivers")],
        );
        check(
            CaseAndAccentPolicy::Folded,
            &"e".repeat(101),
            &[(UNKNOWN_TOKEN, &"e".repeat(101))],
        );
        assert_eq!(WordpieceVocabulary::with_unread_file("x").len(), 0);
    }

    #[test]
    fn punctuation_and_ideographs_stand_alone() {
        let expected = [
            ("the", "The"),
            ("river", "river"),
            ("?", "?"),
            ("!", "!"),
            ("\u{5ddd}", "\u{5ddd}"),
            ("\u{5ddd}", "\u{5ddd}"),
        ];
        check(
            CaseAndAccentPolicy::Folded,
            "The river?! \u{5ddd}\u{5ddd}",
            &expected,
        );
    }

    #[test]
    fn accents_case_and_control_characters_go_but_not_from_a_cased_vocabulary() {
        let expected = [("river", "RÎV\u{200b}ER"), ("e", "e")];
        check(
            CaseAndAccentPolicy::Folded,
            "RÎV\u{200b}ER\u{a0}e\u{301}",
            &expected,
        );
        let expected = [(UNKNOWN_TOKEN, "River"), ("river", "river")];
        check(CaseAndAccentPolicy::Preserved, "River river", &expected);
    }

    #[test]
    fn what_is_no_vocabulary_is_refused() {
        for (text, said) in [("river\nbank\n", "[UNK]"), ("{\"model\":{}}", "WordPiece")] {
            let error = WordpieceVocabulary::parse_file("words.txt", text)
                .unwrap_err()
                .to_string();
            assert!(
                error.contains("words.txt") && error.contains(said),
                "{error}"
            );
        }
    }

    #[test]
    fn a_tokenizer_says_whether_case_is_kept() {
        let text =
            r#"{"normalizer": {"lowercase": false}, "model": {"vocab": {"R": 1, "[UNK]": 0}}}"#;
        let read = WordpieceVocabulary::parse_file("tokenizer.json", text).unwrap();
        assert_eq!(
            (read.len(), read.case()),
            (2, CaseAndAccentPolicy::Preserved)
        );
        assert_eq!(
            WordpieceVocabulary::parse_file("vocab.txt", "[UNK]\r\nr\r\n")
                .unwrap()
                .len(),
            2
        );
    }
}
