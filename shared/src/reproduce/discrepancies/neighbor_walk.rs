//! The walk over neighbors with which the published code of ABNIRML finds documents of equal TF.
//!
//! It sorts the judged documents of a query by the *sum* of their counts of query terms, and
//! compares each with those before and after it as long as the count vectors are equal. Documents
//! with the same sum but another vector may lie between equal ones, which are then missed. For the
//! first document the position before it is −1, the last of the list, so its walk back begins at
//! the end; pairs are then found twice where all vectors are equal.

use crate::study::Study;
use crate::text::Vocabulary;
use crate::text::vocabulary::TermNo;

/// The measurements of a document for a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MeasuredDocument {
    /// c(w, d) of every distinct query term.
    pub(super) counts: Vec<u32>,
    /// |d|, in terms.
    pub(super) length: u32,
    /// The grade; `None` if it is not judged.
    pub(super) grade: Option<i32>,
}

/// The variable in which two documents of equal TF differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EqualTfPairVariable {
    Length,
    Overlap,
    Relevance,
}

impl EqualTfPairVariable {
    pub(super) const ALL: &[EqualTfPairVariable] = &[
        EqualTfPairVariable::Length,
        EqualTfPairVariable::Overlap,
        EqualTfPairVariable::Relevance,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            EqualTfPairVariable::Length => "Length",
            EqualTfPairVariable::Overlap => "Overlap",
            EqualTfPairVariable::Relevance => "Relevance",
        }
    }

    /// Returns whether the first document has the larger value.
    fn is_larger(self, a: &MeasuredDocument, b: &MeasuredDocument) -> bool {
        match self {
            EqualTfPairVariable::Length => a.length > b.length,
            EqualTfPairVariable::Overlap => {
                a.overlap().zip(b.overlap()).is_some_and(|(a, b)| a > b)
            }
            EqualTfPairVariable::Relevance => a.grade.zip(b.grade).is_some_and(|(a, b)| a > b),
        }
    }
}

impl MeasuredDocument {
    fn sum(&self) -> u32 {
        self.counts.iter().sum()
    }

    /// Returns Σ(d) / |d|, or `None` if it is 0.
    fn overlap(&self) -> Option<f64> {
        let sum = self.sum();
        (sum > 0).then(|| f64::from(sum) / f64::from(self.length))
    }
}

/// The number of pairs of equal TF, and how many of them the published code finds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct EqualTfPairsFoundCounts {
    /// All pairs.
    pub(super) n_pairs: u64,
    /// Pairs that the walk finds, each counted once.
    pub(super) n_found: u64,
    /// Pairs that the walk finds, counted as often as it finds them.
    pub(super) n_found_with_repeats: u64,
}

/// Counts ordered pairs of equal TF whose first document has the larger value.
pub(super) fn count_equal_tf_pairs_found(
    queries: &[Vec<MeasuredDocument>],
    variable: EqualTfPairVariable,
) -> EqualTfPairsFoundCounts {
    let mut samples = EqualTfPairsFoundCounts::default();
    for texts in queries {
        let larger = |it: &(usize, usize)| variable.is_larger(&texts[it.0], &texts[it.1]);
        let mut met: Vec<(usize, usize)> = walk(texts).into_iter().filter(larger).collect();
        samples.n_found_with_repeats += met.len() as u64;
        met.sort_unstable();
        met.dedup();
        samples.n_found += met.len() as u64;
        samples.n_pairs += grouped(texts).iter().filter(|it| larger(it)).count() as u64;
    }
    samples
}

/// Returns ordered pairs in the order in which the published code compares them.
fn walk(texts: &[MeasuredDocument]) -> Vec<(usize, usize)> {
    let mut sorted: Vec<usize> = (0..texts.len()).collect();
    sorted.sort_by_key(|&it| texts[it].sum());
    let mut met = Vec::new();
    for (place, &text) in sorted.iter().enumerate() {
        let equal = |it: &&usize| texts[**it].counts == texts[text].counts;
        // The position before the first is -1, which is the last one.
        let back_from = match place {
            0 => sorted.len(),
            place => place,
        };
        let onward = sorted[place + 1..].iter().take_while(equal);
        let back = sorted[..back_from].iter().rev().take_while(equal);
        met.extend(onward.chain(back).map(|&other| (text, other)));
    }
    met
}

/// Returns every ordered pair of two documents of equal TF.
fn grouped(texts: &[MeasuredDocument]) -> Vec<(usize, usize)> {
    let mut sorted: Vec<usize> = (0..texts.len()).collect();
    sorted.sort_by_key(|&it| &texts[it].counts);
    let mut pairs = Vec::new();
    for equal in sorted.chunk_by(|&a, &b| texts[a].counts == texts[b].counts) {
        for &a in equal {
            let others = equal.iter().filter(|it| **it != a);
            pairs.extend(others.map(|&b| (a, b)));
        }
    }
    pairs
}

/// Returns the pools of a study, by query. Documents with the same sum keep the order of the pool.
pub(super) fn count_terms_in_study_pools(study: &Study) -> Vec<Vec<MeasuredDocument>> {
    let mut vocabulary = Vocabulary::new(study.definition.analyzer.clone());
    let queries = study.queries.iter().zip(&study.pools).enumerate();
    let measured = queries.map(|(query, (asked, pool))| {
        let mut wanted = Vec::new();
        vocabulary.append_terms_of_text(&asked.text, &mut wanted);
        wanted.sort_unstable();
        wanted.dedup();
        let texts = pool.iter().map(|&text| {
            let mut terms: Vec<TermNo> = Vec::new();
            vocabulary.append_terms_of_text(&study.study_doc_text(text), &mut terms);
            let count = |term: &TermNo| terms.iter().filter(|it| *it == term).count() as u32;
            MeasuredDocument {
                counts: wanted.iter().map(count).collect(),
                length: terms.len() as u32,
                grade: study.relevance_grade(query, text),
            }
        });
        texts.collect()
    });
    measured.collect()
}

/// Returns two example queries, for use without a study. In the first the third document is the
/// longer of two with the counts 1 1, and one with 2 0 lies between them; in the second all counts
/// are equal.
pub(super) fn example_measured_pools() -> Vec<Vec<MeasuredDocument>> {
    let text = |counts: [u32; 2], length, grade| MeasuredDocument {
        counts: counts.into(),
        length,
        grade: Some(grade),
    };
    vec![
        vec![text([1, 1], 5, 0), text([2, 0], 4, 1), text([1, 1], 7, 2)],
        vec![text([1, 0], 4, 1), text([1, 0], 3, 0)],
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::{AxiomVariant, Probe};
    use crate::study::fixture;

    fn texts(counts: &[[u32; 2]]) -> Vec<MeasuredDocument> {
        let text = |(counts, length): (&[u32; 2], u32)| MeasuredDocument {
            counts: counts.to_vec(),
            length,
            grade: None,
        };
        counts.iter().zip(1..).map(text).collect()
    }

    #[test]
    fn equal_texts_that_are_no_neighbours_are_missed() {
        // All sums are 2, so the order stays. The walk back from the first document begins at the
        // last one, where it ends because the vectors differ.
        let texts = texts(&[[1, 1], [2, 0], [1, 1], [0, 2]]);
        assert_eq!(walk(&texts), []);
        assert_eq!(grouped(&texts), [(0, 2), (2, 0)]);
        let samples = count_equal_tf_pairs_found(&[texts], EqualTfPairVariable::Length);
        assert_eq!(
            (
                samples.n_pairs,
                samples.n_found,
                samples.n_found_with_repeats
            ),
            (1, 0, 0)
        );
    }

    #[test]
    fn the_way_back_from_the_first_text_begins_at_the_end() {
        // Document 0 meets 1 on the way forward, and 1 and itself from the end; 1 meets 0 on the
        // way back.
        let equal = texts(&[[1, 1], [1, 1]]);
        assert_eq!(walk(&equal), [(0, 1), (0, 1), (0, 0), (1, 0)]);
        // It meets the last of three documents, which the middle one hides from the walk forward.
        let hidden = texts(&[[1, 1], [2, 0], [1, 1]]);
        assert_eq!(walk(&hidden), [(0, 2)]);
    }

    #[test]
    fn texts_are_sorted_by_sums_and_stay_in_order() {
        // Sums 3, 1, 3: the order is 1, 0, 2, and 1 is alone.
        let texts = texts(&[[2, 1], [1, 0], [2, 1]]);
        assert_eq!(walk(&texts), [(0, 2), (2, 0)]);
    }

    #[test]
    fn the_example_misses_a_sample_and_meets_one_twice() {
        let samples = |it| {
            let EqualTfPairsFoundCounts {
                n_pairs: all,
                n_found: met,
                n_found_with_repeats: met_again,
            } = count_equal_tf_pairs_found(&example_measured_pools(), it);
            [all, met, met_again]
        };
        assert_eq!(samples(EqualTfPairVariable::Length), [2, 1, 2]);
        assert_eq!(samples(EqualTfPairVariable::Relevance), [2, 1, 2]);
        // 2 of 5 is more than 2 of 7, and met from the end of the list; 1 of 3 more than 1 of 4.
        assert_eq!(samples(EqualTfPairVariable::Overlap), [2, 2, 2]);
    }

    #[test]
    fn all_samples_of_a_study_are_those_that_were_mined() {
        let mut definition = fixture::fixture_study_definition(10);
        definition.probes = Probe::parse_list("match", false).unwrap();
        let mut texts = fixture::RIVER_TEXTS.to_vec();
        texts.extend(["clay", "river of the bank river"]);
        let grades = [("1", 3), ("3", 1), ("5", 2), ("6", 0), ("8", 2), ("4", 1)];
        let collection = fixture::fixture_collection_with_grades(
            &["river bank", "mud of the bank"],
            &texts,
            &grades,
        );
        let study = fixture::make_fixture_study(definition, collection);
        for &variable in EqualTfPairVariable::ALL {
            let word = format!("match:tf:{}", variable.name().to_lowercase());
            let mined = study.instances_of_probe(word.parse().unwrap(), AxiomVariant::Fixed);
            let samples = count_equal_tf_pairs_found(&count_terms_in_study_pools(&study), variable);
            assert_eq!(samples.n_pairs, mined.unwrap().len() as u64, "{word}");
            assert!(samples.n_found <= samples.n_pairs, "{word}");
        }
    }
}
