//! The same pieces in another order: whatever stands between two pieces stays where it is.

use std::ops::Range;

use super::{Draw, Source};
use crate::text::linguistics::Tag;

/// The text with piece `order[i]` in the place of piece `i`; pieces are ascending and disjoint.
fn placed(text: &str, pieces: &[Range<usize>], order: &[usize]) -> String {
    let mut made = String::with_capacity(text.len());
    let mut end = 0;
    for (place, &which) in pieces.iter().zip(order) {
        made.push_str(&text[end..place.start]);
        made.push_str(&text[pieces[which].clone()]);
        end = place.end;
    }
    made.push_str(&text[end..]);
    made
}

fn tokens(source: &Source<'_>) -> Vec<Range<usize>> {
    let tokens = source.analysis.tokens.iter();
    tokens.map(|it| it.bytes.clone()).collect()
}

/// Bytes from the first to the last of some tokens.
pub(super) fn span(source: &Source<'_>, tokens: &Range<usize>) -> Range<usize> {
    let all = &source.analysis.tokens[tokens.clone()];
    match (all.first(), all.last()) {
        (Some(first), Some(last)) => first.bytes.start..last.bytes.end,
        _ => 0..0,
    }
}

pub(super) fn words(source: &Source<'_>, order: impl FnOnce(usize) -> Vec<usize>) -> String {
    let tokens = tokens(source);
    placed(source.text, &tokens, &order(tokens.len()))
}

pub(super) fn sentences(source: &Source<'_>, order: impl FnOnce(usize) -> Vec<usize>) -> String {
    let sentences = source.analysis.sentences.iter();
    let spans: Vec<_> = sentences.map(|it| span(source, it)).collect();
    placed(source.text, &spans, &order(spans.len()))
}

pub(super) fn phrases(source: &Source<'_>, order: impl FnOnce(usize) -> Vec<usize>) -> String {
    let phrases = source.analysis.noun_phrases.iter();
    let spans: Vec<_> = phrases.map(|it| span(source, it)).collect();
    placed(source.text, &spans, &order(spans.len()))
}

pub(super) fn prepositions(source: &Source<'_>, draw: &mut Draw) -> String {
    let tokens = source.analysis.tokens.iter();
    let prepositions = tokens.filter(|it| it.tag == Tag::Adposition);
    let places: Vec<_> = prepositions.map(|it| it.bytes.clone()).collect();
    placed(source.text, &places, &draw.order(places.len()))
}

/// As many tokens as there are noun phrases, in each other's places.
pub(super) fn swapped(source: &Source<'_>, draw: &mut Draw) -> String {
    let tokens = tokens(source);
    let n = source.analysis.noun_phrases.len();
    let some = draw.some(tokens.len(), n);
    let places: Vec<_> = some.iter().map(|&it| tokens[it].clone()).collect();
    placed(source.text, &places, &draw.order(places.len()))
}

/// Tokens of a range, those of a noun phrase as one.
fn units(source: &Source<'_>, tokens: Range<usize>) -> Vec<Range<usize>> {
    let mut units = Vec::new();
    let mut next = tokens.start;
    let phrases = source.analysis.noun_phrases.iter();
    let inside = phrases.filter(|it| it.start >= tokens.start && it.end <= tokens.end);
    for phrase in inside {
        units.extend((next..phrase.start).map(|it| span(source, &(it..it + 1))));
        units.push(span(source, phrase));
        next = phrase.end;
    }
    units.extend((next..tokens.end).map(|it| span(source, &(it..it + 1))));
    units
}

pub(super) fn around_phrases(source: &Source<'_>, draw: &mut Draw) -> String {
    let units = units(source, 0..source.analysis.tokens.len());
    placed(source.text, &units, &draw.order(units.len()))
}

/// Each sentence by itself, its last token in its place.
pub(super) fn in_sentences(source: &Source<'_>, keep_phrases: bool, draw: &mut Draw) -> String {
    let mut pieces = Vec::new();
    let mut order: Vec<usize> = Vec::new();
    for sentence in &source.analysis.sentences {
        let free = sentence.start..sentence.end.saturating_sub(1).max(sentence.start);
        let own = match keep_phrases {
            true => units(source, free),
            false => free.map(|it| span(source, &(it..it + 1))).collect(),
        };
        let first = pieces.len();
        order.extend(draw.order(own.len()).into_iter().map(|it| first + it));
        pieces.extend(own);
    }
    placed(source.text, &pieces, &order)
}
