//! How the published code of ABNIRML shuffles prepositions.
//!
//! It records the positions of prepositions as character offsets in the text, but uses them as
//! token numbers. A preposition at character 5 replaces token 5, whatever that is. One whose
//! offset is at least the number of tokens is not placed at all, and every preposition also stays
//! in its old position. So words are lost and prepositions are duplicated.

use std::collections::BTreeMap;

use crate::probe::Manipulation;
use crate::probe::manipulation::{ManipulationInput, ManipulationWordLists};
use crate::study::Study;
use crate::text::linguistics::{
    LinguisticAnalysis, PartOfSpeech, TaggedToken, tag_words_and_noun_phrases,
};
use crate::text::{Analyzer, Vocabulary};

/// An example for readers without a study: `in` begins at character 5, and token 5 is `mice`.
pub(super) const EXAMPLE: &str = "Owls in old barns eat mice at night.";

/// What happens to the words of some documents.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct PrepositionShuffleErrorCounts {
    /// Documents with a preposition.
    pub(super) n_documents: u64,
    /// Prepositions in them.
    pub(super) n_prepositions: u64,
    /// Prepositions that the published code places where no preposition was.
    pub(super) n_misplaced: u64,
    /// Words that the documents lose with the published code.
    pub(super) n_lost: u64,
    /// Words that the documents lose with our code.
    pub(super) n_lost_by_ours: u64,
}

impl PrepositionShuffleErrorCounts {
    fn add(&mut self, text: &str, tools: &ManipulationWordLists, vocabulary: &Vocabulary) {
        let analysis = tag_words_and_noun_phrases(text);
        let prepositions = prepositions(&analysis).count();
        if prepositions == 0 {
            return;
        }
        self.n_documents += 1;
        self.n_prepositions += prepositions as u64;
        let tokens = tokens(text, &analysis);
        // The order of prepositions is random, but the number of lost words does not depend on it,
        // except for prepositions that replace each other.
        let order: Vec<usize> = (0..prepositions).rev().collect();
        let made = shuffle_as_published(text, &analysis, &order);
        self.n_misplaced += places(text, &analysis)
            .filter(|&(token, place)| place < tokens.len() && place != token)
            .count() as u64;
        self.n_lost += n_lost(tokens.iter().copied(), made.into_iter());
        let ours = Manipulation::ShufflePrepositions.apply(&ManipulationInput {
            id: "",
            text,
            analysis: &analysis,
            query: "",
            non_relevant_docs: &[],
            lookup_tables: tools,
            vocabulary,
            seed: 0,
        });
        let ours = ours.as_deref().unwrap_or(text);
        self.n_lost_by_ours += n_lost(std::iter::once(text), std::iter::once(ours));
    }
}

/// Counts, over some documents, the prepositions that the published code misplaces and the words
/// that are lost.
pub(super) fn count_preposition_shuffle_errors(
    texts: impl IntoIterator<Item = String>,
) -> PrepositionShuffleErrorCounts {
    let (tools, vocabulary) = (
        ManipulationWordLists::default(),
        Vocabulary::new(Analyzer::default()),
    );
    let mut shuffled = PrepositionShuffleErrorCounts::default();
    for text in texts {
        shuffled.add(&text, &tools, &vocabulary);
    }
    shuffled
}

/// Returns the texts of the documents in a study's pools, each once.
pub(super) fn pooled_document_texts(study: &Study) -> Vec<String> {
    let mut pooled: Vec<_> = study.pools.iter().flatten().copied().collect();
    pooled.sort_unstable();
    pooled.dedup();
    pooled
        .into_iter()
        .map(|it| study.study_doc_text(it))
        .collect()
}

fn prepositions(analysis: &LinguisticAnalysis) -> impl Iterator<Item = (usize, &TaggedToken)> {
    let tokens = analysis.tokens.iter().enumerate();
    tokens.filter(|it| it.1.pos == PartOfSpeech::Adposition)
}

/// Returns for each preposition its token number and the number of characters before it.
fn places(text: &str, analysis: &LinguisticAnalysis) -> impl Iterator<Item = (usize, usize)> {
    let characters = |it: &TaggedToken| text[..it.bytes.start].chars().count();
    prepositions(analysis).map(move |(token, it)| (token, characters(it)))
}

fn tokens<'a>(text: &'a str, analysis: &LinguisticAnalysis) -> Vec<&'a str> {
    let tokens = analysis.tokens.iter();
    tokens.map(|it| &text[it.bytes.clone()]).collect()
}

/// Returns the tokens that the published code joins, with preposition `order[i]` in the place of
/// preposition `i`.
fn shuffle_as_published<'a>(
    text: &'a str,
    analysis: &LinguisticAnalysis,
    order: &[usize],
) -> Vec<&'a str> {
    let mut made = tokens(text, analysis);
    let words: Vec<&str> = prepositions(analysis)
        .map(|it| &text[it.1.bytes.clone()])
        .collect();
    for ((_, place), &which) in places(text, analysis).zip(order) {
        if let Some(token) = made.get_mut(place) {
            *token = words[which];
        }
    }
    made
}

/// Returns the number of words of `before` that `after` lacks, counted with multiplicity.
fn n_lost<'a>(before: impl Iterator<Item = &'a str>, after: impl Iterator<Item = &'a str>) -> u64 {
    let words = |text: &'a str| {
        let words = text.split(|it: char| !it.is_alphanumeric());
        words.filter(|it| !it.is_empty())
    };
    let mut counts: BTreeMap<&str, i64> = BTreeMap::new();
    for word in before.flat_map(words) {
        *counts.entry(word).or_default() += 1;
    }
    for word in after.flat_map(words) {
        *counts.entry(word).or_default() -= 1;
    }
    counts.values().map(|&it| it.max(0) as u64).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(text: &str, order: &[usize]) -> String {
        shuffle_as_published(text, &tag_words_and_noun_phrases(text), order).join(" ")
    }

    #[test]
    fn a_preposition_overwrites_the_token_of_its_character() {
        // Characters 0 Owls, 5 in, 8 old, 12 barns, 18 eat, 22 mice, 27 at: of nine tokens the
        // fifth after the first is `mice`, and there is none after 27.
        assert_eq!(
            made(EXAMPLE, &[0, 1]),
            "Owls in old barns eat in at night ."
        );
        assert_eq!(
            made(EXAMPLE, &[1, 0]),
            "Owls in old barns eat at at night ."
        );
    }

    #[test]
    fn characters_are_counted_not_bytes() {
        // `à` has two bytes: `in` begins at character 2 and byte 3.
        assert_eq!(made("à in old barns eat", &[0]), "à in in barns eat");
    }

    #[test]
    fn words_are_lost_by_theirs_and_kept_by_ours() {
        let expected = PrepositionShuffleErrorCounts {
            n_documents: 1,
            n_prepositions: 2,
            n_misplaced: 1,
            n_lost: 1,
            n_lost_by_ours: 0,
        };
        assert_eq!(
            count_preposition_shuffle_errors([EXAMPLE.to_owned()]),
            expected
        );
        assert_eq!(
            count_preposition_shuffle_errors(["Owls eat mice.".to_owned()]),
            PrepositionShuffleErrorCounts::default()
        );
    }

    #[test]
    fn a_word_is_lost_as_often_as_it_lacks() {
        let lost =
            |before: &'static str, after: &'static str| n_lost(before.split(' '), after.split(' '));
        assert_eq!(lost("a b a , c", "c a b b b"), 1);
        assert_eq!(lost("a b", "b , a"), 0);
    }
}
