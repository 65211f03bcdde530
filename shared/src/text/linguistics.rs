//! English sentences, parts of speech, noun phrases and lemmas, for manipulations of texts.
//!
//! Parts of speech come from the tables of harper-brill: the most frequent tag of 26,900 word forms
//! and 201 rules that correct it from the neighbors (Brill, "A Simple Rule-Based Part of Speech
//! Tagger", ANLP 1992), learned from Universal Dependencies. It uses no weights and no floats, so
//! every platform gives the same tags. Axioscope adds the tags of forms that are not in the table,
//! a few corrections, sentence boundaries, noun phrases and lemmas; the library's own chunker finds
//! the boundaries of 99 of the 259 phrases of our first sample. The accuracy is measured in
//! `linguistics/tests/sample.rs`, on texts that were tagged by hand.
//!
//! Tokens are words, numbers and punctuation marks. A word keeps its inner hyphens and the period
//! of an abbreviation; a contraction is split as in treebanks (`do` `n't`, `dog` `'s`).

mod lexicon;
mod tokens;
mod sentences;
mod tagger;
mod phrases;
mod lemmas;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::ops::Range;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::ByteSpan;

/// The linguistic analysis of one text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LinguisticAnalysis {
    /// The tokens, in order: everything that is not white space.
    pub tokens: Vec<TaggedToken>,
    /// The range of tokens of each sentence; together they cover all tokens.
    pub sentences: Vec<Range<usize>>,
    /// The range of tokens of each noun phrase, in order: a noun or a name with the words before it
    /// that belong to it (`the old lighthouse`, `Dr. Voss`, `the dog's tail`), or a pronoun that
    /// replaces one (`it`, `everything`). What follows the noun (`of the village`, `who …`) is not
    /// included. A phrase does not cross sentence boundaries, and phrases do not overlap.
    pub noun_phrases: Vec<Range<usize>>,
}

/// A word, a number or a punctuation mark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaggedToken {
    /// The byte range in the text.
    pub bytes: Range<usize>,
    /// The part of speech.
    pub pos: PartOfSpeech,
}

/// The parts of speech of Universal Dependencies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PartOfSpeech {
    /// `old`.
    Adjective,
    /// Prepositions such as `of`, and verb particles such as `up` in `give up`.
    Adposition,
    /// `slowly`, `very`, `where`.
    Adverb,
    /// Forms of `be`; `have` and `do` with another verb; `can`, `will`.
    Auxiliary,
    /// `and`, `or`, `but`.
    Conjunction,
    /// `the`, `some`, `which` in `which city`.
    Determiner,
    /// `oh`.
    Interjection,
    /// `lighthouse`.
    Noun,
    /// `two`, `3.5`.
    Numeral,
    /// `not`, `to` before a verb, the possessive `'s`.
    Particle,
    /// `it`, `who`, `their`.
    Pronoun,
    /// `Glasgow`.
    ProperNoun,
    /// `,`.
    Punctuation,
    /// `because`, `that` before a clause.
    Subordinator,
    /// `%`, `$`.
    Symbol,
    /// `stands`.
    Verb,
    /// Anything that is not a word, for example a URL.
    Other,
}

/// A kind of unit that a [`LinguisticAnalysis`] finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LinguisticUnit {
    /// One of [`LinguisticAnalysis::sentences`].
    Sentence,
    /// One of [`LinguisticAnalysis::noun_phrases`].
    NounPhrase,
    /// A token with [`PartOfSpeech::Adposition`].
    Preposition,
    /// A token with [`PartOfSpeech::Auxiliary`].
    Auxiliary,
}

impl LinguisticAnalysis {
    /// Returns the byte ranges of all units of a kind, ascending.
    pub fn unit_byte_ranges(&self, unit: LinguisticUnit) -> Vec<ByteSpan> {
        let of_tag = |tag: PartOfSpeech| {
            let tokens = self.tokens.iter().filter(move |it| it.pos == tag);
            tokens.map(|it| span(&it.bytes, &it.bytes)).collect()
        };
        let of_tokens = |all: &[Range<usize>]| {
            let ends = all.iter().filter_map(|it| {
                let tokens = &self.tokens[it.clone()];
                tokens.first().zip(tokens.last())
            });
            ends.map(|(first, last)| span(&first.bytes, &last.bytes))
                .collect()
        };
        match unit {
            LinguisticUnit::Sentence => of_tokens(&self.sentences),
            LinguisticUnit::NounPhrase => of_tokens(&self.noun_phrases),
            LinguisticUnit::Preposition => of_tag(PartOfSpeech::Adposition),
            LinguisticUnit::Auxiliary => of_tag(PartOfSpeech::Auxiliary),
        }
    }
}

fn span(first: &Range<usize>, last: &Range<usize>) -> ByteSpan {
    ByteSpan {
        start: first.start as u32,
        end: last.end as u32,
    }
}

/// Splits a text into sentences and tokens, tags the tokens and finds noun phrases.
pub fn tag_words_and_noun_phrases(text: &str) -> LinguisticAnalysis {
    let words = tokens::token_byte_ranges(text);
    let sentences = sentences::find_sentence_token_ranges(text, &words);
    let mut analysis = LinguisticAnalysis {
        tokens: Vec::with_capacity(words.len()),
        sentences,
        noun_phrases: Vec::new(),
    };
    for sentence in &analysis.sentences {
        let forms: Vec<&str> = words[sentence.clone()]
            .iter()
            .map(|it| &text[it.clone()])
            .collect();
        let tags = tagger::tag_parts_of_speech(&forms);
        for phrase in phrases::find_noun_phrases(&forms, &tags) {
            let start = sentence.start;
            analysis
                .noun_phrases
                .push(start + phrase.start..start + phrase.end);
        }
        for (bytes, tag) in words[sentence.clone()].iter().zip(tags) {
            let bytes = bytes.clone();
            analysis.tokens.push(TaggedToken { bytes, pos: tag });
        }
    }
    analysis
}

impl TaggedToken {
    /// Returns the lemma, in lower case: `stood` to `stand`, `larger` to `large`; a proper noun is
    /// not changed. `text` must be the text that was analyzed.
    pub fn lemma<'a>(&self, text: &'a str) -> Cow<'a, str> {
        lemmas::lemma_of_word(&text[self.bytes.clone()], self.pos)
    }
}
