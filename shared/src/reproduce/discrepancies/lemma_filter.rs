//! The filter by which the published code of ABNIRML keeps pairs of texts that share a word with
//! their title or question.
//!
//! It makes small letters of the base forms of the query, and not of those of the texts; names,
//! whose base form is how they are written, so never match.

use std::collections::BTreeSet;

use crate::collection::document_pairs::DocumentPair;
use crate::probe::transfer::TransferQuerySource;
use crate::probe::{AxiomVariant, Probe};
use crate::study::Study;
use crate::text::linguistics::{PartOfSpeech, analyze};
use crate::text::stopwords::EN_FUNCTION;

/// Pairs that our filter keeps.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct LemmaFilterCounts {
    /// All of them.
    pub(super) n_kept: u64,
    /// That the published filter keeps as well.
    pub(super) n_kept_by_authors: u64,
}

impl LemmaFilterCounts {
    fn add(&mut self, query: &str, texts: [&str; 2]) {
        self.n_kept += 1;
        self.n_kept_by_authors += u64::from(passes_published_filter(query, texts));
    }
}

/// The samples of the sets of a study whose queries have to share a word with both texts.
pub(super) fn count_pairs(study: &Study) -> Vec<(Probe, LemmaFilterCounts)> {
    let files = study.definition.transfers.iter();
    let shared = files.filter(|it| it.query_source == TransferQuerySource::GivenShared);
    let of_set = |probe: Probe| {
        let samples = study.instances_of(probe, AxiomVariant::Fixed).ok()?;
        let mut pairs = LemmaFilterCounts::default();
        for at in 0..samples.len() {
            let query = &study.queries[samples.query(at)].text;
            let [a, b] = [0, 1].map(|it| study.study_doc_text(samples.docs_at(at)[it]));
            pairs.add(query, [&a, &b]);
        }
        Some((probe, pairs))
    };
    let probes = shared.filter_map(|it| it.transfer().ok().map(Probe::Transfer));
    probes.filter_map(of_set).collect()
}

/// A pair for readers without such a set: its one shared word is a name.
pub(super) fn example() -> LemmaFilterCounts {
    let pair = DocumentPair {
        id: "1".to_owned(),
        query: Some("Snow over Glasgow".to_owned()),
        a: "Glasgow was white and quiet.".to_owned(),
        b: "It fell all night, and nobody in Glasgow went to work.".to_owned(),
        group: None,
    };
    let mut pairs = LemmaFilterCounts::default();
    if let Some(query) = TransferQuerySource::GivenShared.infer_query(&pair, 0) {
        pairs.add(&query, [&pair.a, &pair.b]);
    }
    pairs
}

/// Whether a word of the query that is no function word, number or punctuation mark stands in both
/// texts, as the published code compares them.
fn passes_published_filter(query: &str, texts: [&str; 2]) -> bool {
    let asked = analyze(query);
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

/// Base forms as they come.
fn lemmas(text: &str) -> BTreeSet<String> {
    let analysis = analyze(text);
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
        // `of` is a function word, and stands in one text alone besides.
        assert!(!passes_published_filter(
            title,
            ["Of bats.", "One of them."]
        ));
    }

    #[test]
    fn the_example_is_kept_by_ours_alone() {
        let expected = LemmaFilterCounts {
            n_kept: 1,
            n_kept_by_authors: 0,
        };
        assert_eq!(example(), expected);
    }
}
