//! Known errors in ABNIRML's published code.

use super::neighbor_walk::{self, EqualTfPairVariable, EqualTfPairsFoundCounts};
use super::{DiscrepancyRows, lemma_filter, preposition_shuffle};
use crate::report::{TableValue, format};
use crate::reproduce::study_values::ZERO_TOLERANCE;
use crate::score::{RankerInfo, RankerKind};
use crate::study::Study;
use crate::study::behavioral_tests::{
    BehavioralEffect, BehavioralTestResults, BehavioralTestRow, RelevanceSlice, TieThreshold,
};

/// The suffix of labels for values that come from an example, not from a study.
const EXAMPLE: &str = ", in an example";

impl<'a> DiscrepancyRows<'a> {
    pub(super) fn add_abnirml_paper_discrepancies(&mut self) {
        self.delta();
        self.walk();
        self.prepositions();
        self.identical();
        self.lemmas();
        self.missing();
        self.add(
            "The README shows two outputs of one run with the same effect and different numbers \
             of neutral pairs",
            (
                "neutral pairs, T5 on JFLEG, first output".to_owned(),
                TableValue::Count(877),
            ),
            ("second".to_owned(), TableValue::Count(749)),
        );
    }

    /// Returns the study if the texts of its collection are available.
    fn read(&self) -> Option<&'a Study> {
        self.study.filter(|it| !it.has_withheld_texts())
    }

    fn delta(&mut self) {
        let both = self
            .behaviours(ZERO_TOLERANCE)
            .zip(self.behaviours(TieThreshold::TunedPerRanker));
        let Some((none, tuned)) = both else { return };
        let rankers = || tuned.rankers.iter().enumerate();
        let shares = rankers().filter_map(|(at, it)| {
            let (zero, width) = neutral(none, at).zip(neutral(tuned, at))?;
            Some((it, [zero, width]))
        });
        if let Some((it, [zero, width])) = with_largest_change(shares) {
            self.add(
                "The command line of the published code sets no tie threshold (their δ) for any \
                 test, so any difference counts as an effect: share of neutral samples, for the \
                 ranker where it changes most",
                (
                    format!("{}, ε 0", named(&it.ranker)),
                    TableValue::Fraction(zero),
                ),
                ("ε tuned".to_owned(), TableValue::Fraction(width)),
            );
        }
        let tests = rankers().flat_map(|(at, it)| {
            let both = effects(none, at).zip(effects(tuned, at));
            both.map(move |((row, a), (_, b))| ((it, row), [a.score.value, b.score.value]))
        });
        let changed = with_largest_change(tests).filter(|(_, [zero, width])| zero != width);
        if let Some(((it, row), [zero, width])) = changed {
            self.add(
                "The test and the ranker whose effect changes most without a tie threshold",
                (
                    format!("{}, {}, ε 0", named(&it.ranker), row.probe.name()),
                    TableValue::Difference(zero),
                ),
                ("ε tuned".to_owned(), TableValue::Difference(width)),
            );
        }
    }

    fn walk(&mut self) {
        let (queries, of) = match self.read() {
            Some(study) => (neighbor_walk::count_terms_in_study_pools(study), ""),
            None => (neighbor_walk::example_measured_pools(), EXAMPLE),
        };
        let mut repeated = false;
        for &variable in EqualTfPairVariable::ALL {
            let samples = neighbor_walk::count_equal_tf_pairs_found(&queries, variable);
            self.add(
                "Documents with equal TF are searched only among neighbors in a list sorted by \
                 the sum of TF; documents with the same sum but different TF can lie between \
                 them",
                (
                    format!("{} | TF{of}, samples found", variable.name()),
                    TableValue::Count(samples.n_found),
                ),
                (
                    "samples that exist".to_owned(),
                    TableValue::Count(samples.n_pairs),
                ),
            );
            if samples.n_found_with_repeats > samples.n_found {
                repeated = true;
                self.repeats(samples, &format!("{} | TF{of}", variable.name()));
            }
        }
        if !repeated {
            let samples = neighbor_walk::count_equal_tf_pairs_found(
                &neighbor_walk::example_measured_pools(),
                EqualTfPairVariable::Length,
            );
            let name = format!("{} | TF{EXAMPLE}", EqualTfPairVariable::Length.name());
            self.repeats(samples, &name);
        }
    }

    fn repeats(&mut self, samples: EqualTfPairsFoundCounts, name: &str) {
        self.add(
            "The walk back from the first document starts at the end of the list: where all \
             documents of a query have equal TF, samples count twice",
            (
                format!("{name}, samples found, with duplicates"),
                TableValue::Count(samples.n_found_with_repeats),
            ),
            ("without".to_owned(), TableValue::Count(samples.n_found)),
        );
    }

    fn prepositions(&mut self) {
        let (found, of) = match self.read() {
            Some(study) => {
                let found = preposition_shuffle::count_preposition_shuffle_errors(
                    preposition_shuffle::pooled_document_texts(study),
                );
                let of = format!(", in {} documents", format::format_count(found.n_documents));
                (found, of)
            }
            None => {
                let text = preposition_shuffle::EXAMPLE.to_owned();
                (
                    preposition_shuffle::count_preposition_shuffle_errors([text]),
                    EXAMPLE.to_owned(),
                )
            }
        };
        self.add(
            "Shuffled prepositions are written to the token whose index is their character \
             position: words are overwritten",
            (format!("words lost{of}"), TableValue::Count(found.n_lost)),
            (
                "with our code".to_owned(),
                TableValue::Count(found.n_lost_by_ours),
            ),
        );
        self.add(
            "Most character positions lie beyond the last token, so that most prepositions do \
             not move",
            (
                format!("prepositions moved{of}"),
                TableValue::Count(found.n_misplaced),
            ),
            (
                "prepositions".to_owned(),
                TableValue::Count(found.n_prepositions),
            ),
        );
    }

    fn identical(&mut self) {
        let Some(tuned) = self.behaviours(TieThreshold::TunedPerRanker) else {
            return;
        };
        for (probe, kept) in &tuned.transfer_pair_counts {
            let mut rows = tuned.rows.iter();
            let Some(row) = rows.find(|it| it.probe == *probe) else {
                continue;
            };
            let effects = tuned.rankers.iter().zip(&row.effects);
            let both = effects.filter_map(|(asked, effect)| {
                let effect = effect.as_ref().filter(|_| kept.n_identical > 0)?;
                let lead = effect.n_positive as f64 - effect.n_negative as f64;
                let n = effect.n_scored() + kept.n_identical;
                Some((asked, [lead / n as f64, effect.score.value]))
            });
            let Some((asked, [with, without])) = with_largest_change(both) else {
                continue;
            };
            self.add(
                "Identical pairs are kept, although they are neutral for every ranker: the ranker \
                 whose effect changes most",
                (
                    format!(
                        "{}, {}, with {} identical pairs counted as neutral",
                        named(&asked.ranker),
                        probe.name(),
                        kept.n_identical
                    ),
                    TableValue::Difference(with),
                ),
                ("without them".to_owned(), TableValue::Difference(without)),
            );
        }
    }

    fn lemmas(&mut self) {
        let whole = self.study.filter(|it| it.withheld_texts.is_none());
        let of_sets = whole
            .map(lemma_filter::count_lemma_filter_passes_by_probe)
            .unwrap_or_default();
        let mut found: Vec<(String, lemma_filter::LemmaFilterPassCounts)> = of_sets
            .into_iter()
            .map(|(probe, pairs)| (probe.name().into_owned(), pairs))
            .collect();
        if found.is_empty() {
            found.push((
                "an example".to_owned(),
                lemma_filter::example_lemma_filter_pass_counts(),
            ));
        }
        for (name, pairs) in found {
            self.add(
                "The filter for words shared by query and document lowercases only the query: \
                 names never match",
                (
                    format!("{name}, pairs kept by the authors' filter"),
                    TableValue::Count(pairs.n_kept_by_authors),
                ),
                ("with our code".to_owned(), TableValue::Count(pairs.n_kept)),
            );
        }
    }

    fn missing(&mut self) {
        let Some(study) = self.study else { return };
        let lexical = study.scores.iter();
        let lexical = lexical.filter(|it| it.ranker.kind == RankerKind::Lexical);
        for scores in lexical {
            let known = || scores.scores_in_pair_order().iter().flatten();
            let below = known().filter(|it| **it < 0.0).count();
            self.add(
                "A document that Terrier does not find gets score 0, which is lowest only for \
                 rankers whose scores are never negative",
                (
                    format!("{}, scores below 0", named(&scores.ranker)),
                    TableValue::Count(below as u64),
                ),
                (
                    "scores".to_owned(),
                    TableValue::Count(known().count() as u64),
                ),
            );
        }
    }
}

fn named(ranker: &RankerInfo) -> String {
    match ranker.detail.is_empty() {
        true => ranker.label.clone(),
        false => format!("{}, {}", ranker.label, ranker.detail),
    }
}

/// Returns the rows over all documents, each with the effect on a ranker.
fn effects(
    behaviours: &BehavioralTestResults,
    ranker: usize,
) -> impl Iterator<Item = (&BehavioralTestRow, &BehavioralEffect)> {
    let rows = behaviours
        .rows
        .iter()
        .filter(|it| it.slice == RelevanceSlice::All);
    rows.filter_map(move |it| Some((it, it.effects[ranker].as_ref()?)))
}

/// Returns the share of all samples that are neutral for a ranker.
fn neutral(behaviours: &BehavioralTestResults, ranker: usize) -> Option<f64> {
    let all = || effects(behaviours, ranker).map(|it| it.1);
    let neutral: u64 = all().map(|it| it.n_tied).sum();
    let n: u64 = all().map(BehavioralEffect::n_scored).sum();
    (n > 0).then(|| neutral as f64 / n as f64)
}

/// Returns what has the largest difference of its two numbers; `None` if there is nothing.
fn with_largest_change<T>(found: impl Iterator<Item = (T, [f64; 2])>) -> Option<(T, [f64; 2])> {
    let change = |it: &(T, [f64; 2])| (it.1[0] - it.1[1]).abs();
    found.max_by(|a, b| change(a).total_cmp(&change(b)))
}

#[cfg(test)]
mod tests {
    use crate::probe::Probe;
    use crate::probe::transfer::{TransferPairSet, TransferQuerySource};
    use crate::report::TableValue;
    use crate::reproduce::{PaperTable, ReproduciblePaper, reproduce_table_from_study};
    use crate::study::preparation::ParsedInputFiles;
    use crate::study::{Study, TransferSetFile, fixture};

    fn rows(study: Option<&Study>, what: &str) -> Vec<Vec<TableValue>> {
        let asked = PaperTable {
            paper: ReproduciblePaper::Abnirml,
            table: 3,
        };
        let mut tables = reproduce_table_from_study(asked, study).unwrap();
        let rows = tables.pop().unwrap().rows.into_iter();
        let is_asked =
            |it: &Vec<TableValue>| matches!(&it[0], TableValue::Text(it) if it.starts_with(what));
        rows.filter(is_asked).collect()
    }

    fn text(value: &TableValue) -> &str {
        match value {
            TableValue::Text(it) => it,
            _ => "",
        }
    }

    /// Makes a study with two transfer sets over a collection of three documents: in `jfleg` one
    /// of three pairs is identical and another has equal scores; in `xsum` one pair shares only a
    /// name.
    fn study() -> Study {
        let pair = |id: &str, query: &str, [a, b]: [&str; 2]| {
            crate::collection::document_pairs::DatasetTransferPair {
                id: id.to_owned(),
                query: Some(query.to_owned()),
                a: a.to_owned(),
                b: b.to_owned(),
                group: None,
            }
        };
        let fluent = vec![
            pair("1", "the river", ["river river mud", "river mud mud"]),
            pair("2", "the river", ["river mud", "river mud"]),
            pair("3", "the river", ["mud river", "river mud"]),
        ];
        let short = vec![
            pair(
                "1",
                "Snow in Glasgow",
                ["Glasgow is old.", "We saw Glasgow."],
            ),
            pair(
                "2",
                "Snow melts",
                ["Much snow melts.", "The snow was deep."],
            ),
        ];
        let sets = [
            ("jfleg", TransferQuerySource::Given, fluent),
            ("xsum", TransferQuerySource::GivenShared, short),
        ];
        let mut definition = fixture::fixture_study_definition(10);
        definition.probes = Probe::parse_list("match:tf:length", false).unwrap();
        let mut files = ParsedInputFiles::default();
        for (name, inference, pairs) in sets {
            let file = TransferSetFile {
                name: name.to_owned(),
                file: format!("{name}.jsonl"),
                query_source: inference,
                is_symmetric: false,
            };
            let of = file.dataset_transfer_test().unwrap();
            definition.probes.push(Probe::Transfer(of));
            definition.transfers.push(file);
            files.transfer_sets.push(TransferPairSet {
                transfer: of,
                query_source: inference,
                pairs,
            });
        }
        let texts = ["river river mud", "river bank", "the sea"];
        let collection = fixture::fixture_collection(&["river"], &texts);
        fixture::make_fixture_study_with_files(definition, collection, files)
    }

    /// Returns the two numbers of the study's only row with this beginning.
    fn only_pair(what: &str) -> [TableValue; 2] {
        let found = rows(Some(&study()), what);
        assert_eq!(found.len(), 1);
        [found[0][2].clone(), found[0][4].clone()]
    }

    #[test]
    fn identical_pairs_shrink_an_effect() {
        // BM25 and QL prefer a document in one of two pairs, with or without δ, and none in the
        // other.
        let pair = only_pair("Identical pairs");
        let [TableValue::Difference(theirs), TableValue::Difference(ours)] = pair else {
            panic!("{pair:?}");
        };
        assert!(ours != 0.0 && (theirs * 3.0 - ours * 2.0).abs() < 1e-12);
    }

    #[test]
    fn a_pair_that_shares_a_name_is_lost_by_their_filter() {
        let study = study();
        let found = rows(Some(&study), "The filter");
        assert_eq!(found.len(), 1);
        assert_eq!(
            (&found[0][2], &found[0][4]),
            (&TableValue::Count(1), &TableValue::Count(2))
        );
        let example = rows(None, "The filter");
        assert!(text(&example[0][1]).starts_with("an example"));
    }

    #[test]
    fn without_delta_the_least_difference_counts() {
        let pair = only_pair("The command line");
        let [TableValue::Fraction(zero), TableValue::Fraction(tuned)] = pair else {
            panic!("{pair:?}");
        };
        assert!(zero < tuned, "{zero} {tuned}");
    }

    #[test]
    fn a_missing_score_is_above_those_of_a_formula_below_zero() {
        let study = study();
        let found = rows(Some(&study), "A document that Terrier");
        let below = |label: &str| {
            let row = found.iter().find(|it| text(&it[1]).starts_with(label));
            row.map(|it| it[2].clone()).unwrap()
        };
        assert_eq!(below("BM25"), TableValue::Count(0));
        assert_ne!(below("QL"), TableValue::Count(0));
    }

    #[test]
    fn texts_that_are_withheld_are_not_read() {
        let bare = study().without_texts();
        let found = rows(Some(&bare), "Shuffled prepositions");
        assert!(text(&found[0][1]).contains("in an example"), "{found:?}");
    }
}
