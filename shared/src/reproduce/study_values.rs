//! The values of a study for the cells of a paper's table, in one or more columns.

use super::comparison::Bm25Comparison;
use super::published::{PublishedRow, PublishedTable};
use super::{
    AbnirmlSampleOutcome, FineTuningState, PublishedColumnSubject, PublishedRowSubject, width,
};
use crate::compare::{QueryRelevanceRequirement, RankerComparisonInput};
use crate::error::Error;
use crate::late_interaction::{LateInteractionRankerAnalysis, LateInteractionSummary};
use crate::probe::{AxiomVariant, Probe};
use crate::report::{TableValue, quantity_value};
use crate::study::Study;
use crate::study::behavioral_tests::{
    BehavioralEffect, BehavioralTestOptions, BehavioralTestResults, TieThreshold,
};
use crate::study::controls::StudyPageControls;
use crate::study::overview::{RankerOverviewRow, StudyOverview};

/// The tie threshold of ABNIRML's command line, which the paper calls δ.
pub(super) const ZERO_TOLERANCE: TieThreshold = TieThreshold::Fixed { width: 0.0 };

/// What a column of our values is computed with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum ReproducedColumnComputation {
    /// Axioms in a variant.
    Mode(AxiomVariant),
    /// Axioms in a variant, and effectiveness, on the queries that all trained rankers of the study
    /// are tested on.
    TestSplit(AxiomVariant),
    /// Behavioral tests with a tie threshold ε.
    Delta(TieThreshold),
    /// BM25 compared with another ranker, given by their rows, over the queries that count.
    Comparison {
        pair: [u32; 2],
        counted: QueryRelevanceRequirement,
    },
    /// The ranking of BM25 compared with another one, of a study or of run files.
    Runs,
    /// A late-interaction analysis.
    LateInteraction,
}

/// Returns the comparisons of BM25, the first one of a study, with each other ranker; none if the
/// study has no BM25.
pub(super) fn bm25_comparison_columns(
    study: &Study,
    counted: QueryRelevanceRequirement,
) -> Vec<ReproducedColumnComputation> {
    let rows = || (0..).zip(&study.scores);
    let Some((bm25, _)) = rows().find(|(_, it)| is_called(&it.ranker.spec, "bm25")) else {
        return Vec::new();
    };
    let others = rows().filter(|(row, _)| *row != bm25);
    let reading = |(row, _)| ReproducedColumnComputation::Comparison {
        pair: [bm25, row],
        counted,
    };
    others.map(reading).collect()
}

impl ReproducedColumnComputation {
    /// Returns the name in the table head; `study` is the one for which the column was chosen.
    fn name(self, study: Option<&Study>) -> String {
        match self {
            ReproducedColumnComputation::Mode(mode)
            | ReproducedColumnComputation::TestSplit(mode) => mode.slug().to_owned(),
            ReproducedColumnComputation::Delta(TieThreshold::TunedPerRanker) => {
                "δ tuned".to_owned()
            }
            ReproducedColumnComputation::Delta(TieThreshold::Fixed { width }) => {
                format!("δ {width}")
            }
            ReproducedColumnComputation::Comparison { pair, .. } => {
                study.map_or_else(String::new, |it| named(it, pair[1] as usize))
            }
            ReproducedColumnComputation::Runs | ReproducedColumnComputation::LateInteraction => {
                String::new()
            }
        }
    }

    /// Returns the results of a study for this column; `None` if it was not mined in this variant.
    fn numbers(self, study: &Study) -> Result<Option<StudyColumnComputationResults>, Error> {
        match self {
            ReproducedColumnComputation::Mode(mode)
            | ReproducedColumnComputation::TestSplit(mode)
                if study.definition.variants.contains(&mode) =>
            {
                let is_test = matches!(self, ReproducedColumnComputation::TestSplit(_));
                let split = study.definition.common_test_split().filter(|_| is_test);
                let dials = StudyPageControls {
                    variant: Some(mode),
                    split: split.map(str::to_owned),
                    ..StudyPageControls::default()
                };
                Ok(Some(StudyColumnComputationResults::Axioms(Box::new(
                    study.overview(&dials)?,
                ))))
            }
            ReproducedColumnComputation::Mode(_)
            | ReproducedColumnComputation::TestSplit(_)
            | ReproducedColumnComputation::Runs
            | ReproducedColumnComputation::LateInteraction => Ok(None),
            ReproducedColumnComputation::Delta(delta) => {
                let asking = BehavioralTestOptions {
                    tie_threshold: delta,
                    ..BehavioralTestOptions::default()
                };
                let behaviours = study.behavioral_tests(&asking)?;
                Ok(Some(StudyColumnComputationResults::BehavioralTests(
                    Box::new(behaviours),
                )))
            }
            ReproducedColumnComputation::Comparison { pair, counted } => {
                let compared = Bm25Comparison::from_study(study, pair, counted)?;
                Ok(Some(StudyColumnComputationResults::Compared(Box::new(
                    compared,
                ))))
            }
        }
    }
}

/// Returns the label of a ranker, with its details where another ranker has the same label.
fn named(study: &Study, row: usize) -> String {
    let own = &study.scores[row].ranker;
    let alike = study
        .scores
        .iter()
        .filter(|it| it.ranker.label == own.label);
    match alike.count() {
        1 => own.label.clone(),
        _ => format!("{}, {}", own.label, own.detail),
    }
}

/// The results of a study for one column.
pub(super) enum StudyColumnComputationResults {
    Axioms(Box<StudyOverview>),
    BehavioralTests(Box<BehavioralTestResults>),
    Compared(Box<Bm25Comparison>),
    LateInteraction {
        before: Option<Box<LateInteractionSummary>>,
        after: Option<Box<LateInteractionSummary>>,
    },
}

impl StudyColumnComputationResults {
    pub(super) fn value_for_published_cell(
        &self,
        row: &PublishedRow,
        column: &PublishedColumnSubject,
    ) -> TableValue {
        let found = match self {
            StudyColumnComputationResults::Axioms(it) => of_axioms(it, row, column),
            StudyColumnComputationResults::BehavioralTests(it) => of_behaviours(it, row, column),
            StudyColumnComputationResults::Compared(it) => of_compared(it, row, column),
            StudyColumnComputationResults::LateInteraction { before, after } => {
                match (&row.subject, column) {
                    (
                        PublishedRowSubject::LateInteraction(quantity),
                        PublishedColumnSubject::LateInteraction(_, state),
                    ) => match state {
                        FineTuningState::Before => before.as_ref(),
                        FineTuningState::After => after.as_ref(),
                    }
                    .map(|it| quantity_value(*quantity, it)),
                    _ => None,
                }
            }
        };
        found.unwrap_or(TableValue::Missing)
    }
}

/// One column of values of a study.
pub(super) struct ReproducedResultsColumn {
    pub(super) reading: ReproducedColumnComputation,
    /// The name in the table head.
    pub(super) name: String,
    pub(super) numbers: Option<StudyColumnComputationResults>,
}

impl ReproducedResultsColumn {
    pub(super) fn compute_from_study(
        reading: ReproducedColumnComputation,
        study: Option<&Study>,
    ) -> Result<ReproducedResultsColumn, Error> {
        let numbers = study.map(|it| reading.numbers(it)).transpose()?.flatten();
        Ok(ReproducedResultsColumn {
            reading,
            name: reading.name(study),
            numbers,
        })
    }

    /// Creates a column from two rankings, that of BM25 first.
    pub(super) fn from_runs(
        source: &RankerComparisonInput<'_>,
        counted: QueryRelevanceRequirement,
    ) -> Result<ReproducedResultsColumn, Error> {
        let compared = Bm25Comparison::from_runs(source, counted)?;
        Ok(ReproducedResultsColumn {
            reading: ReproducedColumnComputation::Runs,
            name: compared.differences.rankers[1].label.clone(),
            numbers: Some(StudyColumnComputationResults::Compared(Box::new(compared))),
        })
    }

    /// Creates a column from a late-interaction analysis.
    pub(super) fn from_late_interaction(
        found: &LateInteractionRankerAnalysis,
    ) -> ReproducedResultsColumn {
        // An encoder in late interaction was not fine-tuned for it.
        let (before, after) = match is_called(&found.header.ranker.spec, "late") {
            true => (Some(found.summary()), None),
            false => (found.before_fine_tuning.clone(), Some(found.summary())),
        };
        ReproducedResultsColumn {
            reading: ReproducedColumnComputation::LateInteraction,
            name: found.header.ranker.label.clone(),
            numbers: Some(StudyColumnComputationResults::LateInteraction {
                before: before.map(Box::new),
                after: after.map(Box::new),
            }),
        }
    }

    /// Returns whether the column is the analysis of an encoder that was not fine-tuned.
    pub(super) fn is_before_fine_tuning(&self) -> bool {
        let numbers = self.numbers.as_ref();
        matches!(
            numbers,
            Some(StudyColumnComputationResults::LateInteraction { after: None, .. })
        )
    }

    /// Returns the comparison, if the column is one.
    pub(super) fn as_bm25_comparison(&self) -> Option<&Bm25Comparison> {
        match self.numbers.as_ref()? {
            StudyColumnComputationResults::Axioms(_)
            | StudyColumnComputationResults::BehavioralTests(_)
            | StudyColumnComputationResults::LateInteraction { .. } => None,
            StudyColumnComputationResults::Compared(it) => Some(it),
        }
    }
}

impl AbnirmlSampleOutcome {
    fn count(self, effect: &BehavioralEffect) -> u64 {
        match self {
            AbnirmlSampleOutcome::Positive => effect.n_positive,
            AbnirmlSampleOutcome::Neutral => effect.n_tied,
            AbnirmlSampleOutcome::Negative => effect.n_negative,
        }
    }
}

fn is_called(spec: &str, word: &str) -> bool {
    spec.split(':').any(|it| it == word)
}

/// Returns which ranker of the study stands in the row of each ranker of the paper, with its note,
/// for example that it is small; `None` if all have the names of their rows and no notes.
pub(super) fn rankers_of_rows_note(printed: &PublishedTable, study: &Study) -> Option<String> {
    let rows = printed.rows.iter().filter_map(|row| {
        let PublishedRowSubject::Ranker(word) = &row.subject else {
            return None;
        };
        let mut rankers = study.scores.iter().map(|it| &it.ranker);
        let found = rankers.find(|it| is_called(&it.spec, word))?;
        let note = found.note.as_ref();
        let note = note.map_or_else(String::new, |it| format!(" ({it})"));
        match found.label == row.name {
            true if note.is_empty() => None,
            true => Some(format!("{}{note}", row.name)),
            false => Some(format!("{}: {}{note}", row.name, found.label)),
        }
    });
    let rows: Vec<String> = rows.collect();
    (!rows.is_empty()).then(|| format!("Ours in each row: {}.", rows.join("; ")))
}

/// Returns the first ranker that a word of a paper names and that repairs no other.
fn find_unrepaired_ranker<'a>(
    overview: &'a StudyOverview,
    word: &str,
) -> Option<&'a RankerOverviewRow> {
    let is_repair = |it: &RankerOverviewRow| {
        let training = it.training.as_ref();
        training.is_some_and(|it| it.repairs.is_some())
    };
    let mut rankers = overview.rows.iter().filter(|it| !is_repair(it));
    rankers.find(|it| is_called(&it.ranker.spec, word))
}

/// Returns the first ranker that repairs an axiom of another one.
fn find_repaired_ranker<'a>(
    overview: &'a StudyOverview,
    before: &str,
    probe: Probe,
) -> Option<&'a RankerOverviewRow> {
    let mut rankers = overview.rows.iter();
    rankers.find(|it| {
        let training = it.training.as_ref();
        training.is_some_and(|it| {
            it.repairs.as_deref() == Some(before) && it.added_axioms.contains(&probe)
        })
    })
}

/// Returns notes on what differs between the trainings of a study and those of Rennings et al. A
/// study without a training has none.
pub(super) fn describe_training_differences(study: &Study) -> Vec<String> {
    let Some(first) = study.definition.train.first() else {
        return Vec::new();
    };
    let count = |split: &str| {
        let queries = study.queries.iter();
        let of_split = queries.filter(|it| it.split.as_deref() == Some(split));
        format!("{} in {split}", of_split.count())
    };
    let spec = &first.spec;
    let splits = [Some(&spec.split), Some(&spec.dev), spec.test.as_ref()];
    let splits: Vec<String> = splits.into_iter().flatten().map(|it| count(it)).collect();
    let settings = spec.set.iter().filter_map(|it| it.split_once('='));
    let (vectors, others): (Vec<_>, Vec<_>) = settings.partition(|it| it.0.trim() == "vectors");
    let vectors = match vectors.first() {
        Some((_, file)) => format!("the word vectors of {}", file.trim()),
        None => "random word vectors".to_owned(),
    };
    let others: String = others
        .iter()
        .map(|(key, value)| format!(", {} {}", key.trim(), value.trim()))
        .collect();
    let evaluated = match study.definition.common_test_split() {
        Some(split) => format!("the split {split}"),
        None => "all queries".to_owned(),
    };
    let published = "What differs from the paper: it trained on WikiPassageQA (4,154 questions on \
         50,477 passages of 861 articles) with GloVe vectors of 840 billion words in 300 \
         dimensions (Duet: 6 billion words, 50 dimensions) and NLTK's words without stop words.";
    vec![format!(
        "{published} Ours: collection {} with {} documents, {} queries ({}), {vectors}, recipe \
         {}{others}; values are those of {}.",
        study.definition.collection,
        crate::report::format::format_count(study.totals.n_docs),
        study.queries.len() - study.addition_counts.n_queries as usize,
        splits.join(", "),
        spec.recipe,
        evaluated
    )]
}

fn of_axioms(
    overview: &StudyOverview,
    row: &PublishedRow,
    column: &PublishedColumnSubject,
) -> Option<TableValue> {
    let place = |probe: Probe| overview.columns.iter().position(|it| it.probe == probe);
    let probe = match column {
        PublishedColumnSubject::Probe(probe) | PublishedColumnSubject::Repaired(_, probe) => {
            place(*probe)
        }
        PublishedColumnSubject::Measure(..)
        | PublishedColumnSubject::BehavioralTest(..)
        | PublishedColumnSubject::Delta
        | PublishedColumnSubject::Comparison(..)
        | PublishedColumnSubject::LateInteraction(..)
        | PublishedColumnSubject::NotAvailable(_) => None,
    };
    match &row.subject {
        PublishedRowSubject::NotAvailable
        | PublishedRowSubject::Outcome(..)
        | PublishedRowSubject::Comparison(_)
        | PublishedRowSubject::LateInteraction(_) => None,
        PublishedRowSubject::Instances => {
            probe.map(|at| TableValue::Count(overview.columns[at].n_instances))
        }
        PublishedRowSubject::Split(name) => probe.and_then(|at| {
            let of = overview.splits.iter().position(|it| it.name == *name)?;
            let count = overview.columns[at].n_per_split.get(of);
            count.map(|&it| TableValue::Count(it))
        }),
        PublishedRowSubject::WithRelevantDocument => {
            probe.map(|at| TableValue::Count(overview.columns[at].n_with_relevant))
        }
        PublishedRowSubject::AgreementWithQrels => probe
            .and_then(|at| overview.columns[at].qrels_cell.as_ref())
            .map(|it| TableValue::Estimate(it.micro_average)),
        PublishedRowSubject::Ranker(word) => {
            let ranker = find_unrepaired_ranker(overview, word)?;
            let fraction = |ranker: &RankerOverviewRow| {
                let cell = ranker.cells[probe?].as_ref()?;
                Some(TableValue::Estimate(cell.micro_average))
            };
            match column {
                PublishedColumnSubject::Probe(_) => fraction(ranker),
                PublishedColumnSubject::Repaired(_, probe) => match &ranker.training {
                    Some(training) => {
                        fraction(find_repaired_ranker(overview, &training.name, *probe)?)
                    }
                    None => fraction(ranker),
                },
                PublishedColumnSubject::Measure(_, ours) => {
                    let at = overview.measures.iter().position(|it| it == ours)?;
                    ranker.effectiveness[at].map(TableValue::Fraction)
                }
                PublishedColumnSubject::BehavioralTest(..)
                | PublishedColumnSubject::Delta
                | PublishedColumnSubject::Comparison(..)
                | PublishedColumnSubject::LateInteraction(..)
                | PublishedColumnSubject::NotAvailable(_) => None,
            }
        }
    }
}

fn of_behaviours(
    behaviours: &BehavioralTestResults,
    row: &PublishedRow,
    column: &PublishedColumnSubject,
) -> Option<TableValue> {
    let place = |word: &str| {
        let mut rankers = behaviours.rankers.iter();
        rankers.position(|it| is_called(&it.ranker.spec, word))
    };
    match column {
        PublishedColumnSubject::Probe(_)
        | PublishedColumnSubject::Repaired(..)
        | PublishedColumnSubject::Measure(..)
        | PublishedColumnSubject::Comparison(..)
        | PublishedColumnSubject::LateInteraction(..)
        | PublishedColumnSubject::NotAvailable(_) => None,
        PublishedColumnSubject::Delta => match &row.subject {
            PublishedRowSubject::Ranker(word) => {
                behaviours.rankers[place(word)?].tie_threshold.map(width)
            }
            PublishedRowSubject::NotAvailable
            | PublishedRowSubject::Outcome(..)
            | PublishedRowSubject::Instances
            | PublishedRowSubject::Split(_)
            | PublishedRowSubject::WithRelevantDocument
            | PublishedRowSubject::AgreementWithQrels
            | PublishedRowSubject::Comparison(_)
            | PublishedRowSubject::LateInteraction(_) => None,
        },
        PublishedColumnSubject::BehavioralTest(_, probe, slice) => {
            let mut rows = behaviours.rows.iter();
            let found = rows.find(|it| (it.probe, it.slice) == (*probe, *slice))?;
            let effect = |word: &str| found.effects[place(word)?].as_ref();
            match &row.subject {
                PublishedRowSubject::Instances => Some(TableValue::Count(found.n_samples)),
                PublishedRowSubject::Ranker(word) => {
                    effect(word).map(|it| TableValue::Estimate(it.score))
                }
                PublishedRowSubject::Outcome(word, outcome) => {
                    effect(word).map(|it| TableValue::Count(outcome.count(it)))
                }
                PublishedRowSubject::NotAvailable
                | PublishedRowSubject::Split(_)
                | PublishedRowSubject::WithRelevantDocument
                | PublishedRowSubject::AgreementWithQrels
                | PublishedRowSubject::Comparison(_)
                | PublishedRowSubject::LateInteraction(_) => None,
            }
        }
    }
}

fn of_compared(
    compared: &Bm25Comparison,
    row: &PublishedRow,
    column: &PublishedColumnSubject,
) -> Option<TableValue> {
    let PublishedColumnSubject::Comparison(_, figure) = column else {
        return None;
    };
    match &row.subject {
        PublishedRowSubject::Comparison(said) => compared.table_value_of_statistic(*said, figure),
        PublishedRowSubject::Ranker(_)
        | PublishedRowSubject::NotAvailable
        | PublishedRowSubject::Outcome(..)
        | PublishedRowSubject::Instances
        | PublishedRowSubject::Split(_)
        | PublishedRowSubject::WithRelevantDocument
        | PublishedRowSubject::AgreementWithQrels
        | PublishedRowSubject::LateInteraction(_) => None,
    }
}
