//! Measure and match: two documents of a pool that are equal in one measurement, the *control*, and
//! differ in another, the *variable*.
//!
//! A sample is an ordered pair of documents `(d1, d2)` of a query with `control(d1) = control(d2)`
//! and `variable(d1) > variable(d2)`; it tests whether the document with the larger value is
//! preferred. Pairs are found by grouping on the value of the control. MacAvaney, Feldman,
//! Goharian, Downey & Cohan, ABNIRML (TACL 2022), section 3.1; their code compares neighbors in a
//! sorted list and misses equal vectors that are not adjacent.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;

use super::decimal::{format_decimal, parse_decimal};
use super::features::{
    AxiomInstancesForQuery, DocumentFeatures, QueryPoolFeatures, RequiredDocumentFeatures,
};
use super::{BoundRelation, MeasuredPrecondition, PreconditionQuantity, ProbeDescription};
use crate::error::{Error, ErrorFieldName};

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A measurement of a document for a query. Documents without a value are left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DocumentMeasurement {
    /// The grade in the qrels; no value without a judgment.
    Relevance,
    /// The length of the document in terms, |d|.
    Length,
    /// c(w, d) of every distinct query term: equal if all are, larger if none is smaller and one is
    /// larger.
    TermCounts,
    /// Σ(d), the number of occurrences of query terms.
    QueryTermOccurrences,
    /// Σ(d) / |d|; no value if it is 0.
    Overlap,
    /// The number of distinct query terms in the document.
    Coverage,
    /// The number of terms before the first query term; no value without one.
    Position,
    /// Γ(d), the minimum distance of two distinct query terms; no value with fewer than two.
    Proximity,
    /// cos(d − Q, Q) by word vectors; no value without them.
    Similarity,
}

impl DocumentMeasurement {
    /// All measurements; the first five are those of the paper.
    pub const ALL: &[DocumentMeasurement] = &[
        DocumentMeasurement::Relevance,
        DocumentMeasurement::Length,
        DocumentMeasurement::TermCounts,
        DocumentMeasurement::QueryTermOccurrences,
        DocumentMeasurement::Overlap,
        DocumentMeasurement::Coverage,
        DocumentMeasurement::Position,
        DocumentMeasurement::Proximity,
        DocumentMeasurement::Similarity,
    ];

    /// The measurements of the paper, which are the first five.
    pub const PUBLISHED: &[DocumentMeasurement] = DocumentMeasurement::ALL.split_at(5).0;

    /// Returns the name of the measurement, as typed.
    pub fn slug(self) -> &'static str {
        match self {
            DocumentMeasurement::Relevance => "relevance",
            DocumentMeasurement::Length => "length",
            DocumentMeasurement::TermCounts => "tf",
            DocumentMeasurement::QueryTermOccurrences => "sum-tf",
            DocumentMeasurement::Overlap => "overlap",
            DocumentMeasurement::Coverage => "coverage",
            DocumentMeasurement::Position => "position",
            DocumentMeasurement::Proximity => "proximity",
            DocumentMeasurement::Similarity => "similarity",
        }
    }

    /// Returns the display name, for a row or column header.
    pub fn name(self) -> &'static str {
        match self {
            DocumentMeasurement::Relevance => "Relevance",
            DocumentMeasurement::Length => "Length",
            DocumentMeasurement::TermCounts => "TF",
            DocumentMeasurement::QueryTermOccurrences => "Sum of TF",
            DocumentMeasurement::Overlap => "Overlap",
            DocumentMeasurement::Coverage => "Coverage",
            DocumentMeasurement::Position => "First match",
            DocumentMeasurement::Proximity => "Smallest distance",
            DocumentMeasurement::Similarity => "Similarity",
        }
    }

    fn needs_word_vectors(self) -> bool {
        self == DocumentMeasurement::Similarity
    }

    /// Returns the value of a document, if it has one. [`DocumentMeasurement::TermCounts`] has a
    /// vector instead.
    fn number(self, text: &DocumentFeatures) -> Option<f64> {
        match self {
            DocumentMeasurement::Relevance => text.grade.map(f64::from),
            DocumentMeasurement::Length => Some(f64::from(text.n_terms)),
            DocumentMeasurement::TermCounts => None,
            DocumentMeasurement::QueryTermOccurrences => Some(f64::from(text.n_occurrences)),
            DocumentMeasurement::Overlap => {
                let held = text.n_occurrences > 0;
                held.then(|| f64::from(text.n_occurrences) / f64::from(text.n_terms))
            }
            DocumentMeasurement::Coverage => Some(f64::from(text.coverage)),
            DocumentMeasurement::Position => text.first_query_term_position().map(f64::from),
            DocumentMeasurement::Proximity => text.min_query_term_distance().map(f64::from),
            DocumentMeasurement::Similarity => text.non_query_word_query_similarity(),
        }
    }

    /// Returns the absolute difference of two documents, if both have a value. That of two overlaps
    /// is rounded once, so that .4 and .3 differ by the number .1.
    fn gap(self, a: &DocumentFeatures, b: &DocumentFeatures) -> Option<f64> {
        let values = (self.number(a)?, self.number(b)?);
        if self != DocumentMeasurement::Overlap {
            return Some((values.0 - values.1).abs());
        }
        let occurrences = [a, b].map(|it| u64::from(it.n_occurrences));
        let lengths = [a, b].map(|it| u64::from(it.n_terms));
        let difference = (occurrences[0] * lengths[1]).abs_diff(occurrences[1] * lengths[0]);
        Some(difference as f64 / (lengths[0] * lengths[1]) as f64)
    }

    /// Compares two documents; `None` if one has no value, or if neither vector is larger.
    fn compare(self, a: &DocumentFeatures, b: &DocumentFeatures) -> Option<Ordering> {
        if self == DocumentMeasurement::TermCounts {
            let pairs = || a.term_counts.iter().zip(&b.term_counts);
            return match (pairs().all(|(a, b)| a >= b), pairs().all(|(a, b)| a <= b)) {
                (true, true) => Some(Ordering::Equal),
                (true, false) => Some(Ordering::Greater),
                (false, true) => Some(Ordering::Less),
                (false, false) => None,
            };
        }
        Some(self.number(a)?.total_cmp(&self.number(b)?))
    }
}

/// The tolerance within which values of the control are equal, in thousandths.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct ControlMeasurementTolerance(u32);

impl ControlMeasurementTolerance {
    /// Returns the tolerance in the unit of the control; 0 for exact equality.
    pub fn value(self) -> f64 {
        f64::from(self.0) / 1000.0
    }
}

/// A control and a variable. Serialized as `match:length:relevance`, with a tolerance as
/// `match:length~5:relevance`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct MeasureAndMatchTest {
    /// The measurement in which both documents are equal.
    pub control: DocumentMeasurement,
    /// The measurement in which the first document has the larger value.
    pub variable: DocumentMeasurement,
    /// The largest difference of values that count as equal.
    pub tolerance: ControlMeasurementTolerance,
}

impl MeasureAndMatchTest {
    /// Returns the test with exact equality of the control; `None` if no pair of documents can be a
    /// sample.
    pub fn with_exact_control(
        control: DocumentMeasurement,
        variable: DocumentMeasurement,
    ) -> Option<MeasureAndMatchTest> {
        let matching = MeasureAndMatchTest {
            control,
            variable,
            tolerance: ControlMeasurementTolerance::default(),
        };
        matching.can_variable_differ().then_some(matching)
    }

    /// Returns every combination of `measures` that can have a sample, ordered by control.
    pub fn all_combinations_of(measures: &[DocumentMeasurement]) -> Vec<MeasureAndMatchTest> {
        let each = measures.iter().flat_map(|&control| {
            let variables = measures.iter();
            variables.filter_map(move |&variable| {
                MeasureAndMatchTest::with_exact_control(control, variable)
            })
        });
        each.collect()
    }

    /// Whether two documents that are equal in the control can differ in the variable. Equal counts
    /// of all terms imply equal sums and coverage and nothing else; a larger vector has a larger
    /// sum.
    pub fn can_variable_differ(self) -> bool {
        let exact = self.tolerance.0 == 0;
        match (self.control, self.variable) {
            (control, variable) if control == variable => false,
            (
                DocumentMeasurement::TermCounts,
                DocumentMeasurement::QueryTermOccurrences | DocumentMeasurement::Coverage,
            ) => false,
            (DocumentMeasurement::QueryTermOccurrences, DocumentMeasurement::TermCounts) => !exact,
            _ => true,
        }
    }

    /// Whether the test needs word vectors.
    pub(super) fn needs_word_vectors(self) -> bool {
        self.control.needs_word_vectors() || self.variable.needs_word_vectors()
    }

    /// Returns the features of documents that mining needs.
    pub(super) fn required_document_features(self) -> RequiredDocumentFeatures {
        RequiredDocumentFeatures {
            positions: [self.control, self.variable].contains(&DocumentMeasurement::Position),
            ..RequiredDocumentFeatures::default()
        }
    }

    /// Finds all samples among the documents of one query.
    pub(super) fn find_instances_in_pool(
        self,
        case: &QueryPoolFeatures<'_>,
    ) -> AxiomInstancesForQuery {
        let mut found = AxiomInstancesForQuery::default();
        let larger = |a: usize, b: usize| {
            let (a, b) = (&case.pool[a], &case.pool[b]);
            self.variable.compare(a, b)
        };
        self.each_equal(case.pool, |a, b| match larger(a, b) {
            Some(Ordering::Greater) => found.push_pair(a, b),
            Some(Ordering::Less) => found.push_pair(b, a),
            Some(Ordering::Equal) | None => {}
        });
        found
    }

    /// Calls `take` with every unordered pair of documents that are equal in the control.
    fn each_equal(self, pool: &[DocumentFeatures], mut take: impl FnMut(usize, usize)) {
        let mut places: Vec<usize> = (0..pool.len()).collect();
        if self.control == DocumentMeasurement::TermCounts {
            places.sort_by(|&a, &b| pool[a].term_counts.cmp(&pool[b].term_counts));
            for equal in places.chunk_by(|&a, &b| pool[a].term_counts == pool[b].term_counts) {
                for (first, &a) in equal.iter().enumerate() {
                    equal[first + 1..].iter().for_each(|&b| take(a, b));
                }
            }
            return;
        }
        let value = |at: &usize| self.control.number(&pool[*at]);
        let valued = places.iter().filter_map(|it| Some((value(it)?, *it)));
        let mut valued: Vec<(f64, usize)> = valued.collect();
        valued.sort_by(|a, b| a.0.total_cmp(&b.0));
        let is_equal = |a: usize, b: usize| {
            let gap = self.control.gap(&pool[a], &pool[b]);
            gap.is_some_and(|it| it <= self.tolerance.value())
        };
        for (first, &(_, a)) in valued.iter().enumerate() {
            let others = valued[first + 1..].iter().map(|it| it.1);
            others
                .take_while(|&b| is_equal(a, b))
                .for_each(|b| take(a, b));
        }
    }

    /// Measures the preconditions on two documents.
    pub(super) fn measure_preconditions(
        self,
        texts: &[DocumentFeatures],
    ) -> Vec<MeasuredPrecondition> {
        let (a, b) = (&texts[0], &texts[1]);
        let differing = || {
            let differ = a
                .term_counts
                .iter()
                .zip(&b.term_counts)
                .filter(|(a, b)| a != b);
            differ.count() as f64
        };
        let lead = |measure: DocumentMeasurement| {
            let (a, b) = (measure.number(a)?, measure.number(b)?);
            Some(a - b)
        };
        let control = match self.control {
            DocumentMeasurement::TermCounts => MeasuredPrecondition {
                quantity: PreconditionQuantity::DifferingTermCounts,
                value: Some(differing()),
                relation: BoundRelation::Equal,
                bound: Some(0.0),
            },
            control => MeasuredPrecondition {
                quantity: PreconditionQuantity::MeasurementGap { measure: control },
                value: control.gap(a, b),
                relation: BoundRelation::AtMost,
                bound: Some(self.tolerance.value()),
            },
        };
        let mut preconditions = vec![control];
        if self.variable == DocumentMeasurement::TermCounts {
            let leads = a.term_counts.iter().zip(&b.term_counts).zip(0..);
            preconditions.extend(leads.map(|((a, b), term)| MeasuredPrecondition {
                quantity: PreconditionQuantity::TermCountLead { term },
                value: Some(f64::from(*a) - f64::from(*b)),
                relation: BoundRelation::AtLeast,
                bound: Some(0.0),
            }));
        }
        let measure = match self.variable {
            DocumentMeasurement::TermCounts => DocumentMeasurement::QueryTermOccurrences,
            other => other,
        };
        preconditions.push(MeasuredPrecondition {
            quantity: PreconditionQuantity::MeasurementLead { measure },
            value: lead(measure),
            relation: BoundRelation::MoreThan,
            bound: Some(0.0),
        });
        preconditions
    }

    /// Returns the name and the explanations of the test.
    pub(super) fn probe_description(self) -> &'static ProbeDescription {
        static ABOUTS: LazyLock<Vec<(DocumentMeasurement, DocumentMeasurement, ProbeDescription)>> =
            LazyLock::new(|| {
                let both = |control| {
                    DocumentMeasurement::ALL
                        .iter()
                        .map(move |&it| (control, it))
                };
                let each = DocumentMeasurement::ALL.iter().flat_map(|&it| both(it));
                each.map(|(control, variable)| (control, variable, about(control, variable)))
                    .collect()
            });
        let found = ABOUTS
            .iter()
            .find(|it| (it.0, it.1) == (self.control, self.variable));
        &found
            .expect("every pair of measurements has a description")
            .2
    }
}

fn about(control: DocumentMeasurement, variable: DocumentMeasurement) -> ProbeDescription {
    let kept = |text: String| -> &'static str { text.leak() };
    ProbeDescription {
        name: kept(format!("{} | {}", variable.name(), control.name())),
        short_title: "measure and match",
        statement: kept(format!(
            "Two documents equal in {}; positive if the one with the larger {} is preferred.",
            control.slug(),
            variable.slug()
        )),
        formula: kept(format!(
            "{0}(d1) = {0}(d2), {1}(d1) > {1}(d2): S(d1) − S(d2)",
            control.slug(),
            variable.slug()
        )),
        source: "Measure and match, MacAvaney et al., ABNIRML, TACL 2022",
        known_issues: "The published code walks neighbors in a sorted list: documents with \
             equal vectors that are not adjacent are missed, and a walk from the first document \
             starts at the end of the list.",
        example: &[],
    }
}

impl fmt::Display for MeasureAndMatchTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tolerance = match self.tolerance.0 {
            0 => String::new(),
            thousandths => format!("~{}", format_decimal(thousandths, 3)),
        };
        let (control, variable) = (self.control.slug(), self.variable.slug());
        write!(f, "match:{control}{tolerance}:{variable}")
    }
}

impl FromStr for MeasureAndMatchTest {
    type Err = Error;

    fn from_str(word: &str) -> Result<MeasureAndMatchTest, Error> {
        let shown: String = word.chars().take(80).collect();
        let field = || ErrorFieldName::with_display_name("probes", format!("probe `{shown}`"));
        let refuse = |reason: String| Error::malformed_value(field(), reason);
        let measure = |word: &str| {
            let found = DocumentMeasurement::ALL.iter().find(|it| it.slug() == word);
            let known = DocumentMeasurement::ALL.iter().map(|it| it.slug());
            found
                .copied()
                .ok_or_else(|| Error::not_one_of(field(), word, known))
        };
        let parts = word
            .strip_prefix("match:")
            .and_then(|it| it.split_once(':'));
        let Some((control, variable)) = parts else {
            return Err(refuse(
                "must have the form match:CONTROL:VARIABLE, for example \
                 match:length:relevance"
                    .to_owned(),
            ));
        };
        let (control, tolerance) = match control.split_once('~') {
            None => (control, ControlMeasurementTolerance::default()),
            Some((control, written)) => {
                let thousandths = parse_decimal(written, 3);
                let thousandths = thousandths.filter(|it| (1..=1_000_000_000).contains(it));
                let tolerance = thousandths.map(ControlMeasurementTolerance);
                let tolerance = tolerance.ok_or_else(|| {
                    refuse(format!(
                        "`{written}` is not a tolerance: enter a number between .001 and \
                         1,000,000 with at most three decimal places"
                    ))
                })?;
                (control, tolerance)
            }
        };
        let matching = MeasureAndMatchTest {
            control: measure(control)?,
            variable: measure(variable)?,
            tolerance,
        };
        if tolerance != ControlMeasurementTolerance::default()
            && matching.control == DocumentMeasurement::TermCounts
        {
            return Err(refuse(
                "term-count vectors are either equal or different; omit the tolerance with \
                 control tf"
                    .to_owned(),
            ));
        }
        if !matching.can_variable_differ() {
            let reason = "documents that are equal in the control are always equal in the \
                 variable; choose another variable";
            return Err(refuse(reason.to_owned()));
        }
        Ok(matching)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::Index;
    use crate::probe::MiningThresholds;
    use crate::probe::tests::check_refused;
    use crate::text::Analyzer;

    /// Mines one query on an index of the documents, and returns the samples as pairs of indexes.
    fn samples(word: &str, grades: &[Option<i32>], texts: &[&str]) -> Vec<(u32, u32)> {
        let index = Index::build(&Analyzer::default(), texts.iter().copied()).unwrap();
        let query = index.query_term_statistics("river bank");
        let counted = (0..texts.len()).map(|at| {
            let terms = index.term_sequence_of_doc(at as u32);
            let mut counted = DocumentFeatures::from_terms(&terms, &query);
            counted.record_query_term_positions(&terms, &query);
            counted.grade = grades.get(at).copied().flatten();
            counted
        });
        let counted: Vec<DocumentFeatures> = counted.collect();
        let case = QueryPoolFeatures::without_word_vectors(
            &query,
            &counted,
            &MiningThresholds::STANDARD,
            index.collection_totals(),
        );
        let matching: MeasureAndMatchTest = word.parse().unwrap();
        let found = matching.find_instances_in_pool(&case);
        let pairs = found.positions.as_chunks::<2>().0.iter();
        let mut pairs: Vec<(u32, u32)> = pairs.map(|it| (it[0], it[1])).collect();
        pairs.sort_unstable();
        for &(a, b) in &pairs {
            let texts = [counted[a as usize].clone(), counted[b as usize].clone()];
            assert!(
                matching
                    .measure_preconditions(&texts)
                    .iter()
                    .all(MeasuredPrecondition::holds)
            );
        }
        pairs
    }

    /// Counts of `river bank`: 1 1, 2 0, 1 1, 0 2, 2 1; lengths 2, 2, 3, 2, 3.
    const TEXTS: [&str; 5] = [
        "river bank",
        "river river",
        "bank mud river",
        "bank bank",
        "river river bank",
    ];

    #[test]
    fn equal_vectors_need_not_be_adjacent() {
        // Sorted by the sum of TF, documents 1 and 3 are between or next to 0 and 2.
        assert_eq!(samples("match:tf:length", &[], &TEXTS), [(2, 0)]);
    }

    #[test]
    fn a_vector_is_larger_where_no_count_is_less() {
        let found = samples("match:length:tf", &[], &TEXTS);
        // Of length 2: 1 1, 2 0 and 0 2 are not comparable. Of length 3: 2 1 is larger than 1 1.
        assert_eq!(found, [(4, 2)]);
    }

    #[test]
    fn a_grade_is_of_judged_texts_alone() {
        let grades = [Some(0), Some(2), None, Some(1), Some(3)];
        let found = samples("match:length:relevance", &grades, &TEXTS);
        assert_eq!(found, [(1, 0), (1, 3), (3, 0)]);
        assert_eq!(
            samples("match:relevance:length", &[Some(1); 5], &TEXTS).len(),
            6
        );
    }

    #[test]
    fn without_overlap_a_text_takes_no_part() {
        let texts = ["mud", "river mud", "mud river bank mud", "clay clay"];
        assert_eq!(samples("match:overlap:length", &[], &texts), [(2, 1)]);
        assert_eq!(samples("match:length:overlap", &[], &texts), []);
    }

    #[test]
    fn a_tolerance_widens_what_is_equal() {
        let texts = [
            "river",
            "bank bank mud mud",
            "river river river river mud mud",
        ];
        assert_eq!(samples("match:length:sum-tf", &[], &texts), []);
        assert_eq!(samples("match:length~2:sum-tf", &[], &texts), [(2, 1)]);
        assert_eq!(
            samples("match:length~3:sum-tf", &[], &texts),
            [(1, 0), (2, 1)]
        );
    }

    /// Overlaps of .2, .3, .4 and .5; as floating-point numbers, .4 - .3 is more than .1.
    #[test]
    fn overlaps_that_differ_by_the_tolerance_are_equal() {
        let text = |n_rivers, n_mud| "river ".repeat(n_rivers) + &"mud ".repeat(n_mud);
        let texts = [text(1, 4), text(3, 7), text(4, 6), text(10, 10)];
        let texts = texts.each_ref().map(String::as_str);
        let of = |probe: &str| samples(probe, &[], &texts);
        assert_eq!(of("match:overlap:length"), []);
        assert_eq!(of("match:overlap~0.099:length"), []);
        // .3 and .4 have equal lengths.
        assert_eq!(of("match:overlap~0.1:length"), [(1, 0), (3, 2)]);
        assert_eq!(of("match:overlap~0.1:sum-tf"), [(1, 0), (2, 1), (3, 2)]);
    }

    #[test]
    fn ours_measure_places_of_query_terms() {
        let texts = ["mud river bank", "river mud bank", "bank river mud"];
        assert_eq!(samples("match:tf:position", &[], &texts), [(0, 1), (0, 2)]);
        assert_eq!(samples("match:tf:proximity", &[], &texts), [(1, 0), (1, 2)]);
        let texts = ["river river", "river bank"];
        assert_eq!(samples("match:sum-tf:coverage", &[], &texts), [(1, 0)]);
    }

    #[test]
    fn the_paper_has_eighteen_combinations() {
        let all = MeasureAndMatchTest::all_combinations_of(DocumentMeasurement::PUBLISHED);
        assert_eq!(all.len(), 18);
        for it in MeasureAndMatchTest::all_combinations_of(DocumentMeasurement::ALL) {
            assert_eq!(it.to_string().parse::<MeasureAndMatchTest>().unwrap(), it);
        }
        let tolerant = "match:overlap~0.05:length";
        assert_eq!(
            tolerant.parse::<MeasureAndMatchTest>().unwrap().to_string(),
            tolerant
        );
    }

    #[test]
    fn what_can_have_no_sample_is_refused() {
        check_refused::<MeasureAndMatchTest>(&[
            ("match:tf:sum-tf", "equal in the variable"),
            ("match:length:length", "equal in the variable"),
            ("match:tf~1:length", "omit the tolerance"),
            ("match:length~x:tf", "not a tolerance"),
            ("match:size:tf", "none of relevance"),
            ("match:length", "must have the form"),
        ]);
    }
}
