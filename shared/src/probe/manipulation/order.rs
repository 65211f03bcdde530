//! Manipulations that reorder tokens: the characters between two tokens stay where they are, and a
//! space is inserted between words that would touch.

use std::ops::Range;

use super::{ManipulationInput, SeededDraw};
use crate::text::linguistics::PartOfSpeech;

/// Returns the text with token `order[i]` in the place of token `i`; tokens are ascending and
/// disjoint.
fn placed(text: &str, pieces: &[Range<usize>], order: &[usize]) -> String {
    let mut made = String::with_capacity(text.len());
    let mut end = 0;
    let add = |made: &mut String, piece: &str| {
        let touch = made.chars().next_back().zip(piece.chars().next());
        if touch.is_some_and(|(a, b)| a.is_alphanumeric() && b.is_alphanumeric()) {
            made.push(' ');
        }
        made.push_str(piece);
    };
    for (place, &which) in pieces.iter().zip(order) {
        add(&mut made, &text[end..place.start]);
        add(&mut made, &text[pieces[which].clone()]);
        end = place.end;
    }
    add(&mut made, &text[end..]);
    made
}

/// Returns the words and punctuation marks of a range of tokens. A contraction is one word here,
/// although it is two tokens.
pub(super) fn words_in_token_range(
    source: &ManipulationInput<'_>,
    tokens: Range<usize>,
) -> Vec<Range<usize>> {
    let mut words: Vec<Range<usize>> = Vec::new();
    for token in &source.analysis.tokens[tokens] {
        let bytes = token.bytes.clone();
        let mut letters = source.text[bytes.clone()].chars();
        let goes_on = match (letters.next(), letters.next()) {
            (Some('\'' | '’'), Some(next)) => next.is_alphanumeric(),
            (Some(first), _) => first.is_alphanumeric(),
            (None, _) => false,
        };
        let is_word = |it: &Range<usize>| source.text[it.clone()].ends_with(char::is_alphanumeric);
        match words.last_mut() {
            Some(last) if goes_on && last.end == bytes.start && is_word(last) => {
                last.end = bytes.end;
            }
            _ => words.push(bytes),
        }
    }
    words
}

/// Returns the words and punctuation marks of the text.
pub(super) fn all_words(source: &ManipulationInput<'_>) -> Vec<Range<usize>> {
    words_in_token_range(source, 0..source.analysis.tokens.len())
}

/// Returns the byte range from the first to the last of some tokens.
pub(super) fn byte_range_of_tokens(
    source: &ManipulationInput<'_>,
    tokens: &Range<usize>,
) -> Range<usize> {
    let all = &source.analysis.tokens[tokens.clone()];
    match (all.first(), all.last()) {
        (Some(first), Some(last)) => first.bytes.start..last.bytes.end,
        _ => 0..0,
    }
}

/// Shuffles the spans of a text that `spans` returns.
pub(super) fn shuffle(
    source: &ManipulationInput<'_>,
    spans: fn(&ManipulationInput<'_>) -> Vec<Range<usize>>,
    draw: &mut SeededDraw,
) -> String {
    let spans = spans(source);
    placed(source.text, &spans, &draw.order(spans.len()))
}

/// Reverses the order of the spans of a text that `spans` returns.
pub(super) fn reverse(
    source: &ManipulationInput<'_>,
    spans: fn(&ManipulationInput<'_>) -> Vec<Range<usize>>,
) -> String {
    let spans = spans(source);
    let order: Vec<usize> = (0..spans.len()).rev().collect();
    placed(source.text, &spans, &order)
}

/// Returns the byte range of each sentence.
pub(super) fn sentence_spans(source: &ManipulationInput<'_>) -> Vec<Range<usize>> {
    let sentences = source.analysis.sentences.iter();
    sentences
        .map(|it| byte_range_of_tokens(source, it))
        .collect()
}

/// Returns the byte range of each preposition.
pub(super) fn preposition_spans(source: &ManipulationInput<'_>) -> Vec<Range<usize>> {
    let tokens = source.analysis.tokens.iter();
    let prepositions = tokens.filter(|it| it.pos == PartOfSpeech::Adposition);
    prepositions.map(|it| it.bytes.clone()).collect()
}

/// Swaps as many random words as there are noun phrases.
pub(super) fn swap_random_words(source: &ManipulationInput<'_>, draw: &mut SeededDraw) -> String {
    let words = all_words(source);
    let n = source.analysis.noun_phrases.len();
    let some = draw.some(words.len(), n);
    let places: Vec<_> = some.iter().map(|&it| words[it].clone()).collect();
    placed(source.text, &places, &draw.order(places.len()))
}

/// Returns the noun phrases, each extended to whole words at both ends: `she's` begins with one.
/// Phrases that share a word are merged.
pub(super) fn phrase_spans(source: &ManipulationInput<'_>) -> Vec<Range<usize>> {
    let words = all_words(source);
    let mut spans: Vec<Range<usize>> = Vec::new();
    for phrase in &source.analysis.noun_phrases {
        let phrase = byte_range_of_tokens(source, phrase);
        let first = words.partition_point(|it| it.end <= phrase.start);
        let last = words.partition_point(|it| it.start < phrase.end);
        let whole = words[first].start..words[last - 1].end;
        match spans.last_mut() {
            Some(before) if before.end > whole.start => before.end = whole.end,
            _ => spans.push(whole),
        }
    }
    spans
}

/// Returns the words of a range of tokens, with each noun phrase as one unit.
fn units(source: &ManipulationInput<'_>, tokens: Range<usize>) -> Vec<Range<usize>> {
    let phrases = phrase_spans(source);
    let mut units: Vec<Range<usize>> = Vec::new();
    for word in words_in_token_range(source, tokens) {
        let of = phrases.partition_point(|it| it.end <= word.start);
        let phrase = phrases.get(of).filter(|it| it.start <= word.start);
        match (phrase, units.last_mut()) {
            (Some(phrase), Some(last)) if last.end > phrase.start => last.end = word.end,
            _ => units.push(word),
        }
    }
    units
}

/// Returns the words of the text, with each noun phrase as one unit.
pub(super) fn words_and_noun_phrases(source: &ManipulationInput<'_>) -> Vec<Range<usize>> {
    units(source, 0..source.analysis.tokens.len())
}

/// Shuffles each sentence separately, with its last token in place.
pub(super) fn shuffle_words_within_sentences(
    source: &ManipulationInput<'_>,
    keep_phrases: bool,
    draw: &mut SeededDraw,
) -> String {
    let mut pieces = Vec::new();
    let mut order: Vec<usize> = Vec::new();
    for sentence in &source.analysis.sentences {
        let mut own = match keep_phrases {
            true => units(source, sentence.clone()),
            false => words_in_token_range(source, sentence.clone()),
        };
        own.pop();
        let first = pieces.len();
        order.extend(draw.order(own.len()).into_iter().map(|it| first + it));
        pieces.extend(own);
    }
    placed(source.text, &pieces, &order)
}
