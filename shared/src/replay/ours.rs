//! What a study gives for a cell of a paper's table, in each reading.

use super::compared::Compared;
use super::printed::Row;
use super::{Of, Outcome, What, width};
use crate::differ::{Counted, Source};
use crate::error::Error;
use crate::probe::{Mode, Probe};
use crate::report::Value;
use crate::study::Study;
use crate::study::behaviour::{Asking, Behaviours, Delta, Effect};
use crate::study::dials::Dials;
use crate::study::overview::Overview;

/// δ as the command line of ABNIRML has it.
pub(super) const NO_DELTA: Delta = Delta::Given { width: 0.0 };

/// How ours are counted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Reading {
    /// Axioms in a mode.
    Mode(Mode),
    /// Behaviours with a δ.
    Delta(Delta),
    /// BM25 beside another ranker, by their rows, over the queries that count.
    Against { pair: [u32; 2], counted: Counted },
    /// BM25's list beside another, wherever both come from.
    Lists,
}

/// BM25, the first of a study, beside each other ranker; nothing where there is none.
pub(super) fn against_bm25(study: &Study, counted: Counted) -> Vec<Reading> {
    let rows = || (0..).zip(&study.scores);
    let Some((bm25, _)) = rows().find(|(_, it)| is_called(&it.ranker.spec, "bm25")) else {
        return Vec::new();
    };
    let others = rows().filter(|(row, _)| *row != bm25);
    let reading = |(row, _)| Reading::Against {
        pair: [bm25, row],
        counted,
    };
    others.map(reading).collect()
}

impl Reading {
    /// In the head of a column; `study` is the one that it was chosen for.
    fn name(self, study: Option<&Study>) -> String {
        match self {
            Reading::Mode(mode) => mode.name().to_owned(),
            Reading::Delta(Delta::Tuned) => "δ tuned".to_owned(),
            Reading::Delta(Delta::Given { width }) => format!("δ {width}"),
            Reading::Against { pair, .. } => {
                study.map_or_else(String::new, |it| named(it, pair[1] as usize))
            }
            Reading::Lists => String::new(),
        }
    }

    /// What a study has in this reading; nothing where it was not mined in it.
    fn numbers(self, study: &Study) -> Result<Option<Numbers>, Error> {
        match self {
            Reading::Mode(mode) if study.definition.modes.contains(&mode) => {
                let dials = Dials {
                    mode: Some(mode),
                    ..Dials::default()
                };
                Ok(Some(Numbers::Axioms(Box::new(study.overview(&dials)?))))
            }
            Reading::Mode(_) | Reading::Lists => Ok(None),
            Reading::Delta(delta) => {
                let asking = Asking {
                    delta,
                    ..Asking::default()
                };
                let behaviours = study.behaviours(&asking)?;
                Ok(Some(Numbers::Behaviours(Box::new(behaviours))))
            }
            Reading::Against { pair, counted } => {
                let compared = Compared::of(study, pair, counted)?;
                Ok(Some(Numbers::Compared(Box::new(compared))))
            }
        }
    }
}

/// The label of a ranker, with what tells it from others of that label.
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

/// What a study has in one reading.
pub(super) enum Numbers {
    Axioms(Box<Overview>),
    Behaviours(Box<Behaviours>),
    Compared(Box<Compared>),
}

impl Numbers {
    pub(super) fn value(&self, row: &Row, column: &Of) -> Value {
        let found = match self {
            Numbers::Axioms(it) => of_axioms(it, row, column),
            Numbers::Behaviours(it) => of_behaviours(it, row, column),
            Numbers::Compared(it) => of_compared(it, row, column),
        };
        found.unwrap_or(Value::Missing)
    }
}

/// One reading of a study.
pub(super) struct Ours {
    pub(super) reading: Reading,
    /// In the head of a column.
    pub(super) name: String,
    pub(super) numbers: Option<Numbers>,
}

impl Ours {
    pub(super) fn new(reading: Reading, study: Option<&Study>) -> Result<Ours, Error> {
        let numbers = study.map(|it| reading.numbers(it)).transpose()?.flatten();
        Ok(Ours {
            reading,
            name: reading.name(study),
            numbers,
        })
    }

    /// Of two lists, that of BM25 first.
    pub(super) fn of_lists(source: &Source<'_>, counted: Counted) -> Result<Ours, Error> {
        let compared = Compared::of_lists(source, counted)?;
        Ok(Ours {
            reading: Reading::Lists,
            name: compared.found.rankers[1].label.clone(),
            numbers: Some(Numbers::Compared(Box::new(compared))),
        })
    }

    /// Where the numbers are those of a comparison.
    pub(super) fn compared(&self) -> Option<&Compared> {
        match self.numbers.as_ref()? {
            Numbers::Axioms(_) | Numbers::Behaviours(_) => None,
            Numbers::Compared(it) => Some(it),
        }
    }
}

impl Outcome {
    fn count(self, effect: &Effect) -> u64 {
        match self {
            Outcome::Positive => effect.positive,
            Outcome::Neutral => effect.neutral,
            Outcome::Negative => effect.negative,
        }
    }
}

fn is_called(spec: &str, word: &str) -> bool {
    spec.split(':').any(|it| it == word)
}

fn of_axioms(overview: &Overview, row: &Row, column: &Of) -> Option<Value> {
    let place = |probe: Probe| overview.probes.iter().position(|it| it.probe == probe);
    let probe = match column {
        Of::Probe(probe) => place(*probe),
        Of::Measure(..) | Of::Behaviour(..) | Of::Delta | Of::Compared(..) | Of::Absent(_) => None,
    };
    match &row.what {
        What::Absent | What::Outcome(..) | What::Compared(_) => None,
        What::Instances => probe.map(|at| Value::Count(overview.probes[at].n_instances)),
        What::Split(name) => probe.and_then(|at| {
            let of = overview.splits.iter().position(|it| it.name == *name)?;
            let count = overview.probes[at].n_of_splits.get(of);
            count.map(|&it| Value::Count(it))
        }),
        What::Relevant => probe.map(|at| Value::Count(overview.probes[at].n_relevant)),
        What::Agreement => probe
            .and_then(|at| overview.probes[at].relevance.as_ref())
            .map(|it| Value::Estimate(it.micro)),
        What::Ranker(word) => {
            let mut rankers = overview.rankers.iter();
            let ranker = rankers.find(|it| is_called(&it.ranker.spec, word))?;
            match column {
                Of::Probe(_) => Some(Value::Estimate(ranker.cells[probe?].as_ref()?.micro)),
                Of::Measure(_, ours) => {
                    let at = overview.measures.iter().position(|it| it == ours)?;
                    ranker.effectiveness[at].map(Value::Fraction)
                }
                Of::Behaviour(..) | Of::Delta | Of::Compared(..) | Of::Absent(_) => None,
            }
        }
    }
}

fn of_behaviours(behaviours: &Behaviours, row: &Row, column: &Of) -> Option<Value> {
    let place = |word: &str| {
        let mut rankers = behaviours.rankers.iter();
        rankers.position(|it| is_called(&it.ranker.spec, word))
    };
    match column {
        Of::Probe(_) | Of::Measure(..) | Of::Compared(..) | Of::Absent(_) => None,
        Of::Delta => match &row.what {
            What::Ranker(word) => behaviours.rankers[place(word)?].delta.map(width),
            What::Absent
            | What::Outcome(..)
            | What::Instances
            | What::Split(_)
            | What::Relevant
            | What::Agreement
            | What::Compared(_) => None,
        },
        Of::Behaviour(_, probe, slice) => {
            let mut rows = behaviours.rows.iter();
            let found = rows.find(|it| (it.probe, it.slice) == (*probe, *slice))?;
            let effect = |word: &str| found.effects[place(word)?].as_ref();
            match &row.what {
                What::Instances => Some(Value::Count(found.n_samples)),
                What::Ranker(word) => effect(word).map(|it| Value::Estimate(it.score)),
                What::Outcome(word, outcome) => {
                    effect(word).map(|it| Value::Count(outcome.count(it)))
                }
                What::Absent
                | What::Split(_)
                | What::Relevant
                | What::Agreement
                | What::Compared(_) => None,
            }
        }
    }
}

fn of_compared(compared: &Compared, row: &Row, column: &Of) -> Option<Value> {
    let Of::Compared(_, figure) = column else {
        return None;
    };
    match &row.what {
        What::Compared(said) => compared.value(*said, figure),
        What::Ranker(_)
        | What::Absent
        | What::Outcome(..)
        | What::Instances
        | What::Split(_)
        | What::Relevant
        | What::Agreement => None,
    }
}
