//! Manipulations that remove, add or negate sentences.

use std::ops::Range;

use super::order::byte_range_of_tokens;
use super::{ManipulationInput, SeededDraw};
use crate::text::linguistics::{LinguisticAnalysis, PartOfSpeech};

/// Removes the sentence that `which` picks among `n`; `None` if there are fewer than two.
pub(super) fn delete_picked_sentence(
    source: &ManipulationInput<'_>,
    which: impl FnOnce(usize) -> usize,
) -> Option<String> {
    let sentences = &source.analysis.sentences;
    if sentences.len() < 2 {
        return None;
    }
    let spans: Vec<Range<usize>> = sentences
        .iter()
        .map(|it| byte_range_of_tokens(source, it))
        .collect();
    let gone = which(spans.len());
    let text = source.text;
    // The characters between two sentences are removed with the sentence before them.
    Some(match spans.get(gone + 1) {
        Some(next) => format!("{}{}", &text[..spans[gone].start], &text[next.start..]),
        None => format!(
            "{}{}",
            &text[..spans[gone - 1].end],
            &text[spans[gone].end..]
        ),
    })
}

/// Returns a random sentence of a random document that is not relevant and not this one; `None` if
/// there is none.
pub(super) fn draw_irrelevant_sentence<'a>(
    source: &ManipulationInput<'a>,
    draw: &mut SeededDraw,
) -> Option<&'a str> {
    let fits =
        |it: &&(&'a str, &'a LinguisticAnalysis)| it.0 != source.text && !it.1.sentences.is_empty();
    let others: Vec<&(&'a str, &'a LinguisticAnalysis)> =
        source.non_relevant_docs.iter().filter(fits).collect();
    if others.is_empty() {
        return None;
    }
    let (text, analysis) = *others[draw.below(others.len())];
    let sentence = &analysis.sentences[draw.below(analysis.sentences.len())];
    let tokens = &analysis.tokens[sentence.clone()];
    let (first, last) = tokens.first().zip(tokens.last())?;
    Some(&text[first.bytes.start..last.bytes.end])
}

/// Words that mark a sentence as already negated.
const NEGATIONS: &[&str] = &[
    "not", "n't", "n’t", "never", "no", "none", "nothing", "nobody", "nor", "neither", "cannot",
    "without",
];

/// Inserts `not` after the first auxiliary verb of each sentence without a negation.
pub(super) fn negate_sentences(source: &ManipulationInput<'_>) -> String {
    let mut made = String::with_capacity(source.text.len() + 16);
    let mut end = 0;
    for sentence in &source.analysis.sentences {
        let tokens = &source.analysis.tokens[sentence.clone()];
        let word = |it: &Range<usize>| source.text[it.clone()].to_lowercase();
        let is_negated = tokens
            .iter()
            .any(|it| NEGATIONS.contains(&&*word(&it.bytes)));
        let verb = tokens.iter().find(|it| it.pos == PartOfSpeech::Auxiliary);
        if let (false, Some(verb)) = (is_negated, verb) {
            made.push_str(&source.text[end..verb.bytes.end]);
            made.push_str(" not");
            end = verb.bytes.end;
        }
    }
    made.push_str(&source.text[end..]);
    made
}
