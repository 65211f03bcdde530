//! Sentence boundaries.
//!
//! The sentences of Unicode Standard Annex 29 end after `Dr.` and `Mr.` and at every line break.
//! Here they end at an empty line, and after `.`, `!`, `?` or `…` and closing marks, if the next
//! token can start a sentence.

use std::ops::Range;

use super::tokens::{self, AbbreviationPeriodKind};
use super::{PartOfSpeech, lexicon};

/// Splits a text into sentences and returns the range of token positions of each; `words` holds the
/// byte range of each token.
pub(super) fn find_sentence_token_ranges(text: &str, words: &[Range<usize>]) -> Vec<Range<usize>> {
    let text = Text {
        text,
        words,
        has_capitals: text.contains(char::is_uppercase),
    };
    let mut sentences = Vec::new();
    let mut start = 0;
    let mut at = 0;
    while at < words.len() {
        let mut end = at + 1;
        if text.may_end(at) {
            while end < words.len() && text.closes(end) {
                end += 1;
            }
        }
        let ends = end == words.len()
            || text.has_empty_line_before(end)
            || text.may_end(at) && text.begins(start, at, end);
        if ends {
            sentences.push(start..end);
            start = end;
        }
        at = end;
    }
    sentences
}

struct Text<'a> {
    text: &'a str,
    words: &'a [Range<usize>],
    has_capitals: bool,
}

impl Text<'_> {
    fn form(&self, at: usize) -> &str {
        &self.text[self.words[at].clone()]
    }

    fn gap_before(&self, at: usize) -> &str {
        &self.text[self.words[at - 1].end..self.words[at].start]
    }

    /// Returns whether a sentence can end after a token.
    fn may_end(&self, at: usize) -> bool {
        let form = self.form(at);
        let marks = form.trim_end_matches(['.', '!', '?', '…', '。', '！', '？', '।']);
        marks.is_empty() || tokens::abbreviation_kind_of_token(form).is_some()
    }

    /// Returns whether a token is a closing mark of the sentence.
    fn closes(&self, at: usize) -> bool {
        match self.form(at) {
            ")" | "]" | "}" | "”" | "’" | "»" => true,
            "\"" | "'" | "''" => self.gap_before(at).is_empty(),
            "." | "!" | "?" => self.gap_before(at).is_empty(),
            _ => false,
        }
    }

    fn has_empty_line_before(&self, at: usize) -> bool {
        self.gap_before(at).matches('\n').count() > 1
    }

    /// Returns whether the token at `next` can start a sentence after the mark at `mark`, in a
    /// sentence that starts at `start`.
    fn begins(&self, start: usize, mark: usize, next: usize) -> bool {
        if self.gap_before(next).is_empty() && !self.form(next).starts_with(char::is_uppercase) {
            return false;
        }
        // The number of a list item.
        let numbers = mark == start + 1 && self.form(start).chars().all(|it| it.is_ascii_digit());
        if numbers && self.form(mark) == "." {
            return false;
        }
        let mut first = next;
        while first + 1 < self.words.len()
            && matches!(
                self.form(first),
                "(" | "[" | "“" | "‘" | "\"" | "'" | "«" | "``"
            )
        {
            first += 1;
        }
        let form = self.form(first);
        if self.has_capitals && form.starts_with(char::is_lowercase) {
            return false;
        }
        match tokens::abbreviation_kind_of_token(self.form(mark)) {
            None => !matches!(form, "," | ";" | ":" | "-" | "–" | "—" | ")"),
            Some(AbbreviationPeriodKind::BeforeWord | AbbreviationPeriodKind::BeforeNumber) => {
                false
            }
            Some(AbbreviationPeriodKind::MayEnd) => {
                form.starts_with(char::is_uppercase) && is_of_closed_class(form)
            }
        }
    }
}

/// Returns whether a capitalized word is a closed-class word, which is capitalized only at the
/// start of a sentence.
fn is_of_closed_class(form: &str) -> bool {
    lexicon::most_frequent_tag(&lexicon::normalize_word_form(form)).is_some_and(|it| match it {
        PartOfSpeech::Adposition
        | PartOfSpeech::Adverb
        | PartOfSpeech::Auxiliary
        | PartOfSpeech::Conjunction
        | PartOfSpeech::Determiner
        | PartOfSpeech::Pronoun
        | PartOfSpeech::Subordinator => true,
        PartOfSpeech::Adjective
        | PartOfSpeech::Interjection
        | PartOfSpeech::Noun
        | PartOfSpeech::Numeral
        | PartOfSpeech::Particle
        | PartOfSpeech::ProperNoun
        | PartOfSpeech::Punctuation
        | PartOfSpeech::Symbol
        | PartOfSpeech::Verb
        | PartOfSpeech::Other => false,
    })
}
