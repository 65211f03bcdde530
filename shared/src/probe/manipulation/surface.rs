//! Manipulations that remove or change words in place.
//!
//! Without a list of misspellings, a rule misspells a fifth of the words of at least five letters,
//! at least one word: two neighboring letters inside of the word that differ are swapped.

use std::borrow::Cow;
use std::ops::Range;

use super::order::words_in_token_range;
use super::{ManipulationInput, SeededDraw};
use crate::text::linguistics::{PartOfSpeech, TaggedToken};

/// The minimum number of letters of a word that the rule misspells.
const LONG: usize = 5;

/// The rule misspells one in this many words.
const ONE_IN: usize = 5;

/// Removes some ranges of a text, ascending and disjoint. The longer of the white space before and
/// after a range stays; at the beginning and the end of the text neither does.
pub(super) fn remove_text_ranges(text: &str, gone: &[Range<usize>]) -> String {
    let mut made = String::with_capacity(text.len());
    let mut end = 0;
    let mut pieces = gone.iter().peekable();
    while let Some(first) = pieces.next() {
        let before = &text[end..first.start];
        let kept = before.trim_end();
        made.push_str(kept);
        let mut gap = &before[kept.len()..];
        let mut last = first.end;
        loop {
            let until = pieces.peek().map_or(text.len(), |it| it.start);
            let behind = &text[last..until];
            let blank = &behind[..behind.len() - behind.trim_start().len()];
            if blank.len() > gap.len() {
                gap = blank;
            }
            end = last + blank.len();
            match pieces.next_if(|it| blank.len() == behind.len() && it.start == until) {
                Some(next) => last = next.end,
                None => break,
            }
        }
        if !made.is_empty() && end < text.len() {
            made.push_str(gap);
        }
    }
    made.push_str(&text[end..]);
    made
}

pub(super) fn remove_stop_words(source: &ManipulationInput<'_>) -> String {
    let words = words_in_token_range(source, 0..source.analysis.tokens.len()).into_iter();
    let gone = words.filter(|it| source.lookup_tables.is_stop_word(&source.text[it.clone()]));
    remove_text_ranges(source.text, &gone.collect::<Vec<_>>())
}

pub(super) fn remove_punctuation(text: &str) -> String {
    text.replace(|it: char| it.is_ascii_punctuation(), " ")
}

/// Rewrites each token with `write`.
pub(super) fn replace_each_token<'a>(
    source: &ManipulationInput<'a>,
    mut write: impl FnMut(usize, &TaggedToken, &'a str) -> Cow<'a, str>,
) -> String {
    let mut made = String::with_capacity(source.text.len());
    let mut end = 0;
    for (at, token) in source.analysis.tokens.iter().enumerate() {
        made.push_str(&source.text[end..token.bytes.start]);
        made.push_str(&write(at, token, &source.text[token.bytes.clone()]));
        end = token.bytes.end;
    }
    made.push_str(&source.text[end..]);
    made
}

pub(super) fn lemmatize_document(source: &ManipulationInput<'_>) -> String {
    replace_each_token(source, |_, token, word| {
        match token.pos == PartOfSpeech::Punctuation || source.lookup_tables.is_stop_word(word) {
            true => Cow::Borrowed(word),
            false => Cow::Owned(token.lemma(source.text).into_owned()),
        }
    })
}

/// Replaces every number, a token of digits only, by another with the same number of digits.
pub(super) fn replace_numbers_randomly(
    source: &ManipulationInput<'_>,
    draw: &mut SeededDraw,
) -> String {
    replace_each_token(source, |_, _, word| {
        if !word.bytes().all(|it| it.is_ascii_digit()) {
            return Cow::Borrowed(word);
        }
        loop {
            let digit = |at: usize, draw: &mut SeededDraw| match (at, word.starts_with('0')) {
                // Only a number that begins with 0 is replaced by one that does.
                (0, true) if word.len() > 1 => 0,
                (0, false) => 1 + draw.below(9),
                _ => draw.below(10),
            };
            let digits = (0..word.len()).map(|at| digit(at, draw));
            let other: String = digits.map(|it| char::from(b'0' + it as u8)).collect();
            if other != word {
                return Cow::Owned(other);
            }
            // The last digit can always differ, even for `00`, so the loop ends.
        }
    })
}

pub(super) fn misspell_words(
    source: &ManipulationInput<'_>,
    outside_stops: bool,
    draw: &mut SeededDraw,
) -> String {
    let open = |word: &str| !(outside_stops && source.lookup_tables.is_stop_word(word));
    if let Some(known) = &source.lookup_tables.misspellings {
        return replace_each_token(source, |_, _, word| {
            match known.get(word).filter(|_| open(word)) {
                Some(wrong) => Cow::Owned(wrong[draw.below(wrong.len())].clone()),
                None => Cow::Borrowed(word),
            }
        });
    }
    let tokens = source.analysis.tokens.iter().enumerate();
    let long = tokens.filter(|(_, it)| {
        let word = &source.text[it.bytes.clone()];
        open(word) && !places(word).is_empty()
    });
    let long: Vec<usize> = long.map(|it| it.0).collect();
    let chosen = draw.some(long.len(), long.len().div_ceil(ONE_IN));
    let chosen: Vec<usize> = chosen.into_iter().map(|it| long[it]).collect();
    replace_each_token(source, |at, _, word| match chosen.binary_search(&at) {
        Ok(_) => {
            let places = places(word);
            let place = places[draw.below(places.len())];
            let mut letters: Vec<char> = word.chars().collect();
            letters.swap(place, place + 1);
            Cow::Owned(letters.into_iter().collect())
        }
        Err(_) => Cow::Borrowed(word),
    })
}

/// Returns the positions in a long word at which two neighboring inner letters differ.
fn places(word: &str) -> Vec<usize> {
    let letters: Vec<char> = word.chars().collect();
    if letters.len() < LONG || !letters.iter().all(|it| it.is_alphabetic()) {
        return Vec::new();
    }
    let inside = 1..letters.len() - 2;
    inside
        .filter(|&it| letters[it] != letters[it + 1])
        .collect()
}
