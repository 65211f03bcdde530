//! English sentences, word classes, noun phrases and base forms, for manipulations of texts.
//!
//! Word classes come from the tables of harper-brill: the commonest class of 26,900 word forms
//! and 201 rules that correct it from the neighbors (Brill, "A Simple Rule-Based Part of
//! Speech Tagger", ANLP 1992), learnt from Universal Dependencies. There are no weights and no
//! floats in it, so every target tags alike. Ours are the classes of forms that the table does
//! not have, a few corrections, the bounds of sentences, the noun phrases and the base forms;
//! the library's own chunker finds the bounds of 99 of the 259 phrases of our first sample. How
//! right all this is stands in `linguistics/tests/sample.rs`, counted on texts that we tagged by
//! hand.
//!
//! Tokens are words, numbers and punctuation marks. A word keeps its inner hyphens and the
//! period of an abbreviation; a contraction is cut as treebanks cut it (`do` `n't`, `dog` `'s`).

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

use super::Span;

/// One text, cut and tagged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LinguisticAnalysis {
    /// Everything that is not white space, in order.
    pub tokens: Vec<TaggedToken>,
    /// Tokens of each sentence; together they are all tokens.
    pub sentences: Vec<Range<usize>>,
    /// Tokens of each noun phrase, in order: a noun or a name with what stands before it and
    /// belongs to it (`the old lighthouse`, `Dr. Voss`, `the dog's tail`), or a pronoun that
    /// stands for one (`it`, `everything`). What follows its noun (`of the village`, `who …`) is
    /// no part of it. None crosses the bounds of a sentence, none holds another.
    pub noun_phrases: Vec<Range<usize>>,
}

/// A word, a number or a punctuation mark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaggedToken {
    /// Where it stands in the text.
    pub bytes: Range<usize>,
    /// Its class.
    pub pos: PartOfSpeech,
}

/// The word classes of Universal Dependencies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PartOfSpeech {
    /// `old`.
    Adjective,
    /// Prepositions: `of`; and particles of verbs: give `up`.
    Adposition,
    /// `slowly`, `very`, `where`.
    Adverb,
    /// Forms of `be`; `have` and `do` beside a verb; `can`, `will`.
    Auxiliary,
    /// `and`, `or`, `but`.
    Conjunction,
    /// `the`, `some`, `which` city.
    Determiner,
    /// `oh`.
    Interjection,
    /// `lighthouse`.
    Noun,
    /// `two`, `3.5`.
    Numeral,
    /// `not`, `to` before a verb, the `'s` of the genitive.
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
    /// What is no word: an address of the web.
    Other,
}

/// A part of a text that an [`LinguisticAnalysis`] finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
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
    /// Where the units of a kind stand, ascending.
    pub fn spans(&self, unit: LinguisticUnit) -> Vec<Span> {
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

fn span(first: &Range<usize>, last: &Range<usize>) -> Span {
    Span {
        start: first.start as u32,
        end: last.end as u32,
    }
}

/// Cuts a text into sentences and tokens, tags these and finds its noun phrases.
pub fn analyze(text: &str) -> LinguisticAnalysis {
    let words = tokens::tokenize(text);
    let sentences = sentences::find_sentences(text, &words);
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
        let tags = tagger::tag_words(&forms);
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
    /// The base form, in lower case: `stood` to `stand`, `larger` to `large`; a proper noun stays
    /// as it is written. `text` is the one that was analyzed.
    pub fn lemma<'a>(&self, text: &'a str) -> Cow<'a, str> {
        lemmas::lemma(&text[self.bytes.clone()], self.pos)
    }
}
