//! Parses formulas of axioms; errors give the position and the reason.

use super::{AxiomCombinationFormula, LONGEST, Op, leaves};
use crate::error::{Error, ErrorFieldName};
use crate::probe::Axiom;
use crate::probe::decimal::parse_decimal;

/// The maximum nesting depth of parentheses.
const DEEPEST: usize = 24;

/// The kind of value of a part of a formula.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OperandKind {
    /// A value that changes its sign if the documents are exchanged.
    Preference,
    /// A value that does not depend on the order of the documents.
    Even,
    /// A number, which is the same for all documents.
    Number,
}

/// Parses a formula by recursive descent.
struct FormulaParser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    code: Vec<u8>,
}

impl std::str::FromStr for AxiomCombinationFormula {
    type Err = Error;

    fn from_str(text: &str) -> Result<AxiomCombinationFormula, Error> {
        let mut reader = FormulaParser {
            text,
            at: 0,
            depth: 0,
            code: Vec::new(),
        };
        let kind = reader.choice()?;
        if reader.peek().is_some() {
            return Err(reader.wrong("expected an operator"));
        }
        match kind {
            OperandKind::Preference => {}
            OperandKind::Even => {
                return Err(reader.wrong(
                    "the whole formula prefers no document: the product of two preferences only \
                     says whether they agree; multiply it by a third preference",
                ));
            }
            OperandKind::Number => {
                return Err(reader.wrong("the whole formula is a number and prefers no document"));
            }
        }
        let n = reader.code.len();
        if n > LONGEST {
            return Err(reader.wrong("too long; a formula can have about twenty axioms"));
        }
        let mut code = [0; LONGEST];
        code[..n].copy_from_slice(&reader.code);
        Ok(AxiomCombinationFormula {
            len: n as u8,
            postfix: code,
        })
    }
}

impl FormulaParser<'_> {
    fn wrong(&self, reason: &str) -> Error {
        let shown: String = self.text.chars().take(200).collect();
        let place = self.text[..self.at.min(self.text.len())].chars().count() + 1;
        Error::malformed_value(
            ErrorFieldName::with_display_name(
                "probes",
                format!("formula `{}`", shown.escape_debug()),
            ),
            format!("character {place}: {reason}"),
        )
    }

    fn rest(&mut self) -> &str {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
        &self.text[self.at..]
    }

    fn peek(&mut self) -> Option<char> {
        self.rest().chars().next()
    }

    fn take(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.at += wanted.len_utf8();
        }
        found
    }

    /// Returns a name without its sign; empty if there is none.
    fn word(&mut self) -> String {
        let rest = self.rest();
        let in_word = |it: char| it.is_ascii_alphanumeric() || it == '_' || it == '@' || it == '.';
        let end = rest.find(|it| !in_word(it)).unwrap_or(rest.len());
        let word = rest[..end].to_owned();
        self.at += end;
        word
    }

    fn push(&mut self, op: Op) {
        op.write(&mut self.code);
    }

    fn choice(&mut self) -> Result<OperandKind, Error> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.wrong("too many nested parentheses"));
        }
        let kind = self.several('|', Op::First, FormulaParser::both)?;
        let before = self.at;
        let kind = match self.word().as_str() {
            "if" => self.condition(kind)?,
            _ => {
                self.at = before;
                kind
            }
        };
        self.depth -= 1;
        Ok(kind)
    }

    fn condition(&mut self, kind: OperandKind) -> Result<OperandKind, Error> {
        if kind == OperandKind::Number {
            return Err(self.wrong("a condition applies to a preference, not to a number"));
        }
        let word = self.word();
        let op = match word.as_str() {
            "len" => {
                self.push(Op::IfLen);
                return Ok(kind);
            }
            "undecided" => Op::IfUndecided,
            "decided" => Op::IfDecided,
            _ => {
                return Err(self.wrong(
                    "`if` must be followed by `len`, `undecided(…)` or \
                     `decided(…)`",
                ));
            }
        };
        if !self.take('(') {
            return Err(self.wrong("expected `(`"));
        }
        self.choice()?;
        self.close()?;
        self.push(op);
        Ok(kind)
    }

    fn close(&mut self) -> Result<(), Error> {
        if self.take(')') {
            Ok(())
        } else {
            Err(self.wrong("expected `)`"))
        }
    }

    fn both(&mut self) -> Result<OperandKind, Error> {
        self.several('&', Op::Both, FormulaParser::sum)
    }

    /// Parses preferences that are separated by the same operator.
    fn several(
        &mut self,
        sign: char,
        op: fn(u8) -> Op,
        part: fn(&mut Self) -> Result<OperandKind, Error>,
    ) -> Result<OperandKind, Error> {
        let kind = part(self)?;
        let mut n = 1_u8;
        while self.take(sign) {
            if kind != OperandKind::Preference || part(self)? != OperandKind::Preference {
                return Err(self.wrong(&format!("`{sign}` must be between two preferences")));
            }
            n = n.saturating_add(1);
        }
        if n > 1 {
            self.push(op(n));
        }
        Ok(kind)
    }

    fn sum(&mut self) -> Result<OperandKind, Error> {
        let mut kind = self.product()?;
        loop {
            let op = match self.peek() {
                Some('+') => Op::Plus,
                Some('-') => Op::Minus,
                _ => return Ok(kind),
            };
            self.at += 1;
            let right = self.product()?;
            kind = match (kind, right) {
                (a, b) if a == b => a,
                (OperandKind::Even, OperandKind::Number)
                | (OperandKind::Number, OperandKind::Even) => OperandKind::Even,
                _ => {
                    return Err(self.wrong(
                        "a preference depends on document order and the other part does not, so \
                         they cannot be added; multiply them instead",
                    ));
                }
            };
            self.push(op);
        }
    }

    fn product(&mut self) -> Result<OperandKind, Error> {
        let mut kind = self.signed()?;
        let mut votes = 1_u8;
        loop {
            let sign = self.peek();
            if sign != Some('%') && votes > 1 {
                self.push(Op::Vote(votes));
                votes = 1;
            }
            match sign {
                Some('%') => {
                    self.at += 1;
                    if kind != OperandKind::Preference || self.signed()? != OperandKind::Preference
                    {
                        return Err(self.wrong("`%` must be between two preferences"));
                    }
                    votes = votes.saturating_add(1);
                }
                Some('*') => {
                    self.at += 1;
                    kind = match (kind, self.signed()?) {
                        (OperandKind::Preference, OperandKind::Preference) => OperandKind::Even,
                        (OperandKind::Preference, _) | (_, OperandKind::Preference) => {
                            OperandKind::Preference
                        }
                        (OperandKind::Number, OperandKind::Number) => OperandKind::Number,
                        _ => OperandKind::Even,
                    };
                    self.push(Op::Times);
                }
                Some('/') => {
                    self.at += 1;
                    let from = self.code.len();
                    let right = self.signed()?;
                    let zero = self.code[from..] == [1, 0, 0];
                    if right != OperandKind::Number || zero {
                        return Err(self.wrong("the divisor must be a number other than 0"));
                    }
                    self.push(Op::Over);
                }
                _ => return Ok(kind),
            }
        }
    }

    fn signed(&mut self) -> Result<OperandKind, Error> {
        match self.peek() {
            Some(sign @ ('+' | '-')) => {
                self.at += 1;
                self.depth += 1;
                if self.depth > DEEPEST {
                    return Err(self.wrong("too many nested signs"));
                }
                let kind = self.signed()?;
                self.depth -= 1;
                self.push(if sign == '-' { Op::Negate } else { Op::Sign });
                Ok(kind)
            }
            Some('(') => {
                self.at += 1;
                let kind = self.choice()?;
                self.close()?;
                Ok(kind)
            }
            _ => self.named(),
        }
    }

    fn named(&mut self) -> Result<OperandKind, Error> {
        let before = self.at;
        let word = self.word();
        let first = word.chars().next();
        if first.is_some_and(|it| it.is_ascii_digit() || it == '.') {
            let hundredths = parse_decimal(&word, 2).and_then(|it| u16::try_from(it).ok());
            let Some(hundredths) = hundredths else {
                self.at = before;
                return Err(self.wrong(
                    "a number must be between 0 and 655.35 and have at most \
                     two decimal places",
                ));
            };
            self.push(Op::Number(hundredths));
            return Ok(OperandKind::Number);
        }
        let named = (!word.is_empty())
            .then(|| Axiom::from_name_or_slug(&word))
            .flatten();
        let place = named.and_then(|it| leaves().position(|leaf| leaf == it));
        let Some(place) = place else {
            self.at = before;
            return Err(self.wrong(match named {
                Some(_) => {
                    "TFC2 and LNC2 do not compare two documents of a candidate pool and cannot \
                     be combined with other axioms"
                }
                None => "expected the name of an axiom",
            }));
        };
        self.push(Op::Axiom(place as u8));
        Ok(OperandKind::Preference)
    }
}
