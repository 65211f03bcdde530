//! Manipulations that add or remove terms.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use super::surface::remove_text_ranges;
use super::surface::replace_each_token;
use super::{ManipulationInput, SeededDraw, query_terms};
use crate::text::linguistics::PartOfSpeech;

/// The number of draws after which the search for words in the collection stops.
const MOST_DRAWS: usize = 1_000;

/// Inserts `n` words of the collection that are not in the query, each at a random position between
/// two tokens, before the first or after the last; `None` if there are no such words.
pub(super) fn insert_noise_words(
    source: &ManipulationInput<'_>,
    n: u16,
    draw: &mut SeededDraw,
) -> Option<String> {
    let analyzer = source.vocabulary.analyzer();
    let asked = query_terms(analyzer, source.query);
    let is_asked = |word: &str| {
        let mut terms = analyzer.terms_with_positions(word).into_iter();
        terms.any(|it| asked.contains(&it.0))
    };
    let n_words = source.vocabulary.n_tokens();
    if n_words == 0 {
        return None;
    }
    let mut words = Vec::new();
    for _ in 0..MOST_DRAWS {
        if words.len() == usize::from(n) {
            break;
        }
        let word = source
            .vocabulary
            .unstemmed_token(draw.below(n_words) as u32);
        if !is_asked(word) {
            words.push(word);
        }
    }
    let tokens = &source.analysis.tokens;
    let mut places: Vec<(usize, &str)> = words
        .into_iter()
        .map(|it| (draw.below(tokens.len() + 1), it))
        .collect();
    places.sort_by_key(|it| it.0);
    let mut made = String::with_capacity(source.text.len());
    let mut end = 0;
    for (place, word) in places {
        let at = match tokens.get(place) {
            Some(token) => token.bytes.start,
            None => source.text.len(),
        };
        made.push_str(&source.text[end..at]);
        end = at;
        if at == source.text.len() && !made.is_empty() {
            made.push(' ');
            made.push_str(word);
        } else {
            made.push_str(word);
            made.push(' ');
        }
    }
    made.push_str(&source.text[end..]);
    Some(made)
}

/// Replaces at most `n` nouns, verbs, adjectives and adverbs that are not in the query in any form.
/// They are drawn at random among those with a synonym that is not in the query either; capitals
/// are kept. `None` if there is no such word.
pub(super) fn synonymize_random_non_query_words(
    source: &ManipulationInput<'_>,
    n: u16,
    draw: &mut SeededDraw,
) -> Option<String> {
    let synonyms = source.lookup_tables.synonyms.as_ref()?;
    let analyzer = source.vocabulary.analyzer();
    let asked = query_terms(analyzer, source.query);
    let is_asked = |word: &str| {
        let mut terms = analyzer.terms_with_positions(word).into_iter();
        terms.any(|it| asked.contains(&it.0))
    };
    let mut open: Vec<usize> = Vec::new();
    for (at, token) in source.analysis.tokens.iter().enumerate() {
        let is_open = [
            PartOfSpeech::Noun,
            PartOfSpeech::Verb,
            PartOfSpeech::Adjective,
            PartOfSpeech::Adverb,
        ]
        .contains(&token.pos);
        if is_open && !is_asked(&source.text[token.bytes.clone()]) {
            open.push(at);
        }
    }
    let order = draw.order(open.len());
    let found = order.into_iter().filter_map(|it| {
        let at = open[it];
        let word = &source.text[source.analysis.tokens[at].bytes.clone()];
        let synonym = synonyms.find_synonym(word).filter(|it| !is_asked(it))?;
        let is_capital = word.starts_with(char::is_uppercase);
        let mut letters = synonym.chars();
        Some((
            at,
            match is_capital {
                true => letters.next()?.to_uppercase().chain(letters).collect(),
                false => synonym.to_owned(),
            },
        ))
    });
    let chosen: BTreeMap<usize, String> = found.take(usize::from(n)).collect();
    let write = |at: usize, _: &_, word| match chosen.get(&at) {
        Some(synonym) => Cow::Owned(synonym.clone()),
        None => Cow::Borrowed(word),
    };
    (!chosen.is_empty()).then(|| replace_each_token(source, write))
}

/// Removes the terms of the query, according to the analyzer of the collection.
pub(super) fn drop_query_terms(source: &ManipulationInput<'_>) -> String {
    let analyzer = source.vocabulary.analyzer();
    let asked = query_terms(analyzer, source.query);
    let terms = analyzer.terms_with_positions(source.text).into_iter();
    let gone = terms.filter(|it| asked.contains(&it.0));
    let mut gone: Vec<Range<usize>> = gone
        .map(|(_, span)| span.start as usize..span.end as usize)
        .collect();
    // Several tokens of one word have the same range.
    gone.dedup();
    remove_text_ranges(source.text, &gone)
}

/// Keeps the first `n` tokens.
pub(super) fn keep_first_tokens(source: &ManipulationInput<'_>, n: u16) -> String {
    match source.analysis.tokens.get(usize::from(n)) {
        Some(next) => source.text[..next.bytes.start].trim_end().to_owned(),
        None => source.text.to_owned(),
    }
}
