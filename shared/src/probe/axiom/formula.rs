//! Axioms combined into one, in the operators of `ir_axioms`: `tfc1 & lnc1`, `prox1 | tfc1`.
//!
//! ```text
//! choice   = cascade [ "if" condition ]
//! cascade  = both { "|" both }            the first that prefers a document
//! both     = sum { "&" sum }              the document that all prefer
//! sum      = product { ("+" | "-") product }
//! product  = sign { ("*" | "/" | "%") sign }    "%": preferred by at least half of the votes
//! sign     = ("+" | "-") sign | name | number | "(" choice ")"     "+": the sign only
//! condition = "len" | "undecided" "(" choice ")" | "decided" "(" choice ")"
//! ```
//!
//! An axiom prefers the first of two documents (1), the second (−1) or neither (0). A formula must
//! prefer the other way if the documents are exchanged, so a number cannot be added to a
//! preference, and the product of two preferences only says whether they agree; the parser checks
//! this. If the value is above 0, the first document is preferred.

mod parser;
#[cfg(test)]
mod tests;

use std::fmt;

use super::Axiom;
use crate::probe::decimal::format_decimal;
use crate::probe::features::QueryPoolFeatures;
use crate::probe::{AxiomVariant, BoundRelation, MeasuredPrecondition, PreconditionQuantity};

/// A parsed and checked formula; it can be used wherever an axiom can.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct AxiomCombinationFormula {
    len: u8,
    /// The operations in postfix order, see [`Op`].
    postfix: [u8; LONGEST],
}

/// The maximum number of bytes of a formula: about twenty axioms with an operator each.
const LONGEST: usize = 48;

/// An operation of a formula; `AnnotatorVote(n)`, `Both(n)` and `First(n)` take `n` values off the
/// stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Op {
    /// Pushes the value of an axiom, given by its index in [`leaves`].
    Axiom(u8),
    /// Pushes a number, given in hundredths.
    Number(u16),
    Plus,
    Minus,
    Times,
    Over,
    Negate,
    Sign,
    Vote(u8),
    Both(u8),
    First(u8),
    IfLen,
    IfUndecided,
    IfDecided,
}

impl Op {
    fn write(self, code: &mut Vec<u8>) {
        match self {
            Op::Axiom(it) => code.extend([0, it]),
            Op::Number(it) => {
                code.push(1);
                code.extend(it.to_be_bytes());
            }
            Op::Plus => code.push(2),
            Op::Minus => code.push(3),
            Op::Times => code.push(4),
            Op::Over => code.push(5),
            Op::Negate => code.push(6),
            Op::Sign => code.push(7),
            Op::Vote(n) => code.extend([8, n]),
            Op::Both(n) => code.extend([9, n]),
            Op::First(n) => code.extend([10, n]),
            Op::IfLen => code.push(11),
            Op::IfUndecided => code.push(12),
            Op::IfDecided => code.push(13),
        }
    }
}

/// Iterates over the axioms that a formula can name: those that prefer one of two documents of the
/// pool.
fn leaves() -> impl Iterator<Item = Axiom> {
    let all = Axiom::ALL.iter().copied().chain(Axiom::all_ir_axioms());
    all.filter(|it| !matches!(it, Axiom::Tfc2 | Axiom::Lnc2))
}

fn leaf(place: u8) -> Axiom {
    let found = leaves().nth(usize::from(place));
    found.expect("written with a place that there is")
}

impl AxiomCombinationFormula {
    fn ops(&self) -> impl Iterator<Item = Op> + '_ {
        let mut at = 0;
        std::iter::from_fn(move || {
            let code = self.postfix.get(at..usize::from(self.len))?;
            let (&head, rest) = code.split_first()?;
            at += 1;
            let mut byte = |place: usize| {
                at += 1;
                rest[place]
            };
            Some(match head {
                0 => Op::Axiom(byte(0)),
                1 => Op::Number(u16::from_be_bytes([byte(0), byte(1)])),
                2 => Op::Plus,
                3 => Op::Minus,
                4 => Op::Times,
                5 => Op::Over,
                6 => Op::Negate,
                7 => Op::Sign,
                8 => Op::Vote(byte(0)),
                9 => Op::Both(byte(0)),
                10 => Op::First(byte(0)),
                11 => Op::IfLen,
                12 => Op::IfUndecided,
                _ => Op::IfDecided,
            })
        })
    }

    /// Returns the axioms in the formula, each once.
    pub fn distinct_axioms(&self) -> Vec<Axiom> {
        let mut found: Vec<Axiom> = Vec::new();
        for op in self.ops() {
            if let Op::Axiom(place) = op
                && !found.contains(&leaf(place))
            {
                found.push(leaf(place));
            }
        }
        found
    }

    /// Calls `take` with the pool indexes of each preferred document and of the other.
    pub(super) fn for_each_preferred_pair(
        &self,
        mode: AxiomVariant,
        case: &QueryPoolFeatures<'_>,
        mut take: impl FnMut(usize, usize),
    ) {
        let known = self.known(mode, case);
        let n = case.pool.len();
        for a in 0..n {
            for b in 0..n {
                if a != b && self.value(&known, case, a, b) > 0.0 {
                    take(a, b);
                }
            }
        }
    }

    /// Returns the preferences of each axiom in the formula: 1, 0 or −1 for each pair of documents.
    fn known(&self, mode: AxiomVariant, case: &QueryPoolFeatures<'_>) -> Vec<(Axiom, Vec<i8>)> {
        let n = case.pool.len();
        let table = |axiom: Axiom| {
            let mut table = vec![0_i8; n * n];
            // A pair that is an instance in both orders has no preferred document.
            axiom.each_preferred(mode, case, |a, b| {
                table[a * n + b] += 1;
                table[b * n + a] -= 1;
            });
            (axiom, table)
        };
        self.distinct_axioms().into_iter().map(table).collect()
    }

    /// Computes the value of the formula, which is above 0 if the first document is preferred.
    fn value(
        &self,
        known: &[(Axiom, Vec<i8>)],
        case: &QueryPoolFeatures<'_>,
        a: usize,
        b: usize,
    ) -> f64 {
        let n = case.pool.len();
        let mut stack: Vec<f64> = Vec::new();
        for op in self.ops() {
            let mut pop = || stack.pop().expect("checked when it was read");
            let value = match op {
                Op::Axiom(place) => {
                    let axiom = leaf(place);
                    let table = known.iter().find(|it| it.0 == axiom);
                    f64::from(table.expect("every axiom of it is known").1[a * n + b])
                }
                Op::Number(hundredths) => f64::from(hundredths) / 100.0,
                Op::Plus => {
                    let right = pop();
                    pop() + right
                }
                Op::Minus => {
                    let right = pop();
                    pop() - right
                }
                Op::Times => {
                    let right = pop();
                    pop() * right
                }
                Op::Over => {
                    let right = pop();
                    pop() / right
                }
                Op::Negate => -pop(),
                Op::Sign => sign(pop()),
                Op::Vote(n) | Op::Both(n) | Op::First(n) => {
                    let from = stack.len() - usize::from(n);
                    let value = combine(op, &stack[from..]);
                    stack.truncate(from);
                    value
                }
                Op::IfLen => {
                    let [x, y] = [a, b].map(|it| f64::from(case.pool[it].n_terms));
                    let close = (x - y).abs() <= case.limits.relative_tolerance * x.max(y);
                    pop() * f64::from(u8::from(close))
                }
                Op::IfUndecided => {
                    let asked = pop();
                    pop() * f64::from(u8::from(asked == 0.0))
                }
                Op::IfDecided => {
                    let asked = pop();
                    pop() * f64::from(u8::from(asked != 0.0))
                }
            };
            stack.push(value);
        }
        stack.pop().expect("checked when it was read")
    }

    /// Returns the preference of each axiom for a pair, the preferred document first, and the
    /// value.
    pub(super) fn measure_axiom_preferences(
        &self,
        mode: AxiomVariant,
        case: &QueryPoolFeatures<'_>,
    ) -> Vec<MeasuredPrecondition> {
        let known = self.known(mode, case);
        let each = known.iter().map(|(axiom, table)| MeasuredPrecondition {
            quantity: PreconditionQuantity::AxiomPreference { axiom: *axiom },
            value: Some(f64::from(table[1])),
            relation: BoundRelation::AtLeast,
            bound: None,
        });
        let mut preconditions: Vec<MeasuredPrecondition> = each.collect();
        preconditions.push(MeasuredPrecondition {
            quantity: PreconditionQuantity::FormulaValue,
            value: Some(self.value(&known, case, 0, 1)),
            relation: BoundRelation::MoreThan,
            bound: Some(0.0),
        });
        preconditions
    }
}

fn sign(value: f64) -> f64 {
    if value > 0.0 {
        1.0
    } else if value < 0.0 {
        -1.0
    } else {
        0.0
    }
}

/// Combines the values of a vote, a conjunction or a cascade.
fn combine(op: Op, values: &[f64]) -> f64 {
    let n_for = values.iter().filter(|it| **it > 0.0).count();
    let n_against = values.iter().filter(|it| **it < 0.0).count();
    let least = match op {
        Op::First(_) => return values.iter().copied().find(|it| *it != 0.0).unwrap_or(0.0),
        Op::Both(_) => values.len(),
        _ => values.len().div_ceil(2),
    };
    if n_for > n_against && n_for >= least {
        1.0
    } else if n_against > n_for && n_against >= least {
        -1.0
    } else {
        0.0
    }
}

/// The precedence of an operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Precedence {
    Choice,
    Cascade,
    Both,
    Sum,
    Product,
    Name,
}

/// Writes the formula without spaces and with no more parentheses than needed.
impl fmt::Display for AxiomCombinationFormula {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut stack: Vec<(Precedence, String)> = Vec::new();
        for op in self.ops() {
            let mut pop = |least: Precedence| {
                let (bond, text) = stack.pop().unwrap_or((Precedence::Name, String::new()));
                if bond < least {
                    format!("({text})")
                } else {
                    text
                }
            };
            let mut between = |sign: char, bond: Precedence, above: Precedence| {
                let right = pop(above);
                (bond, format!("{}{sign}{right}", pop(bond)))
            };
            let part = match op {
                Op::Axiom(place) => (Precedence::Name, leaf(place).slug().into_owned()),
                Op::Number(it) => (Precedence::Name, format_decimal(it.into(), 2)),
                Op::Plus => between('+', Precedence::Sum, Precedence::Product),
                Op::Minus => between('-', Precedence::Sum, Precedence::Product),
                Op::Times => between('*', Precedence::Product, Precedence::Name),
                Op::Over => between('/', Precedence::Product, Precedence::Name),
                Op::Negate => (Precedence::Name, format!("-{}", pop(Precedence::Name))),
                Op::Sign => (Precedence::Name, format!("+{}", pop(Precedence::Name))),
                Op::Vote(n) => list(&mut pop, n, ('%', Precedence::Product, Precedence::Name)),
                Op::Both(n) => list(&mut pop, n, ('&', Precedence::Both, Precedence::Sum)),
                Op::First(n) => list(&mut pop, n, ('|', Precedence::Cascade, Precedence::Both)),
                Op::IfLen => (
                    Precedence::Choice,
                    format!("{} if len", pop(Precedence::Cascade)),
                ),
                Op::IfUndecided | Op::IfDecided => {
                    let word = if op == Op::IfDecided {
                        "decided"
                    } else {
                        "undecided"
                    };
                    let asked = pop(Precedence::Choice);
                    let text = format!("{} if {word}({asked})", pop(Precedence::Cascade));
                    (Precedence::Choice, text)
                }
            };
            stack.push(part);
        }
        out.write_str(stack.first().map_or("", |it| &it.1))
    }
}

fn list(
    pop: &mut impl FnMut(Precedence) -> String,
    n: u8,
    (sign, bond, least): (char, Precedence, Precedence),
) -> (Precedence, String) {
    let mut parts: Vec<String> = (0..n).map(|_| pop(least)).collect();
    parts.reverse();
    (bond, parts.join(&sign.to_string()))
}

impl fmt::Debug for AxiomCombinationFormula {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Formula({self})")
    }
}
