//! The filter with which the published code of ABNIRML keeps pairs of documents that share a word
//! with their title or question.
//!
//! It lowercases the lemmas of the query but not those of the documents. Names, whose lemma is
//! their written form, therefore never match.

use std::collections::BTreeSet;

use crate::collection::document_pairs::DatasetTransferPair;
use crate::probe::transfer::TransferQuerySource;
use crate::probe::{AxiomVariant, Probe};
use crate::study::Study;
use crate::text::linguistics::{PartOfSpeech, tag_words_and_noun_phrases};
use crate::text::stopwords::EN_FUNCTION;

/// Pairs that our filter keeps.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct LemmaFilterPassCounts {
    /// The number of these pairs.
    pub(super) n_kept: u64,
    /// The number of them that the published filter keeps as well.
    pub(super) n_kept_by_authors: u64,
}

impl LemmaFilterPassCounts {
    fn add(&mut self, query: &str, texts: [&str; 2]) {
        self.n_kept += 1;
        self.n_kept_by_authors += u64::from(passes_published_filter(query, texts));
    }
}

/// Counts the samples of those transfer sets of a study whose queries must share a word with both
/// documents.
pub(super) fn count_lemma_filter_passes_by_probe(
    study: &Study,
) -> Vec<(Probe, LemmaFilterPassCounts)> {
    let files = study.definition.transfers.iter();
    let shared = files.filter(|it| it.query_source == TransferQuerySource::GivenShared);
    let of_set = |probe: Probe| {
        let samples = study.instances_of_probe(probe, AxiomVariant::Fixed).ok()?;
        let mut pairs = LemmaFilterPassCounts::default();
        for at in 0..samples.len() {
            let query = &study.queries[samples.query_of_instance(at)].text;
            let [a, b] = [0, 1].map(|it| study.study_doc_text(samples.docs_of_instance(at)[it]));
            pairs.add(query, [&a, &b]);
        }
        Some((probe, pairs))
    };
    let probes = shared.filter_map(|it| it.dataset_transfer_test().ok().map(Probe::Transfer));
    probes.filter_map(of_set).collect()
}

/// Returns the counts of an example for readers without such a set: the only shared word is a
/// name.
pub(super) fn example_lemma_filter_pass_counts() -> LemmaFilterPassCounts {
    let pair = DatasetTransferPair {
        id: "1".to_owned(),
        query: Some("Snow over Glasgow".to_owned()),
        a: "Glasgow was white and quiet.".to_owned(),
        b: "It fell all night, and nobody in Glasgow went to work.".to_owned(),
        group: None,
    };
    let mut pairs = LemmaFilterPassCounts::default();
    if let Some(query) = TransferQuerySource::GivenShared.query_of_pair(&pair, 0) {
        pairs.add(&query, [&pair.a, &pair.b]);
    }
    pairs
}

/// Returns whether a word of the query that is not a function word, number or punctuation mark
/// occurs in both texts, as the published code compares them.
fn passes_published_filter(query: &str, texts: [&str; 2]) -> bool {
    let asked = tag_words_and_noun_phrases(query);
    let asked = asked.tokens.iter().filter(|it| {
        let word = query[it.bytes.clone()].to_lowercase();
        let is_word = !matches!(
            it.pos,
            PartOfSpeech::Punctuation | PartOfSpeech::Symbol | PartOfSpeech::Numeral
        );
        is_word && EN_FUNCTION.binary_search(&word.as_str()).is_err()
    });
    let [a, b] = texts.map(lemmas);
    asked
        .map(|it| it.lemma(query).to_lowercase())
        .any(|it| a.contains(&it) && b.contains(&it))
}

/// Returns the lemmas without lowercasing.
fn lemmas(text: &str) -> BTreeSet<String> {
    let analysis = tag_words_and_noun_phrases(text);
    let tokens = analysis.tokens.iter();
    tokens.map(|it| it.lemma(text).into_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_never_shared_and_a_noun_is() {
        let title = "Old lighthouses of Glasgow";
        let both = ["Glasgow is old.", "They came to Glasgow."];
        assert!(!passes_published_filter(title, both));
        let both = ["A lighthouse stood there.", "They saw two lighthouses."];
        assert!(passes_published_filter(title, both));
        // `of` is a function word, and it occurs in only one of the texts.
        assert!(!passes_published_filter(
            title,
            ["Of bats.", "One of them."]
        ));
    }

    #[test]
    fn the_example_is_kept_by_ours_alone() {
        let expected = LemmaFilterPassCounts {
            n_kept: 1,
            n_kept_by_authors: 0,
        };
        assert_eq!(example_lemma_filter_pass_counts(), expected);
    }
}
