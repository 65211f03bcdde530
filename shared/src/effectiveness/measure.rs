//! Names of measures, in the grammar of `ir_measures` (MacAvaney, Macdonald and Ounis, ECIR
//! 2022): a name, in brackets the grade from which a document is relevant, after `@` the
//! rank at which the list is cut.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Field, serialize_as_text};

/// A measure of one ranked list. Written `nDCG@10`, `AP(rel=2)@100`, `RR`, `P@5`, `R@100`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Measure {
    /// Normalised discounted cumulative gain; grades are gains.
    Ndcg {
        /// Ranks that count; none takes all.
        cut: Option<u32>,
    },
    /// Average precision; its mean is MAP.
    Ap {
        /// The least grade of a relevant document.
        rel: i32,
        /// Ranks that count; none takes all.
        cut: Option<u32>,
    },
    /// One over the rank of the first relevant document; its mean is MRR.
    Rr {
        /// The least grade of a relevant document.
        rel: i32,
        /// Ranks that count; none takes all.
        cut: Option<u32>,
    },
    /// Precision: the share of the first ranks with a relevant document.
    P {
        /// The least grade of a relevant document.
        rel: i32,
        /// Ranks that count.
        cut: u32,
    },
    /// Recall: the share of relevant documents among the first ranks.
    R {
        /// The least grade of a relevant document.
        rel: i32,
        /// Ranks that count.
        cut: u32,
    },
}

impl FromStr for Measure {
    type Err = Error;

    fn from_str(text: &str) -> Result<Measure, Error> {
        let refuse = |reason: &str| {
            Error::malformed(Field::shown("measure", format!("measure `{text}`")), reason)
        };
        let (head, cut) = match text.split_once('@') {
            Some((head, cut)) => (head, Some(cut)),
            None => (text, None),
        };
        let cut = cut
            .map(|it| whole(it).ok_or_else(|| refuse("after @ stands a rank, 1 or more: nDCG@10")))
            .transpose()?;
        let (name, level) = match head.split_once('(') {
            Some((name, inside)) => (name, Some(inside)),
            None => (head, None),
        };
        let level = level
            .map(|inside| {
                let grade = inside
                    .strip_prefix("rel=")
                    .and_then(|it| it.strip_suffix(')'));
                grade
                    .and_then(whole)
                    .and_then(|it| i32::try_from(it).ok())
                    .ok_or_else(|| {
                        refuse("in brackets stands the least relevant grade, 1 or more: AP(rel=2)")
                    })
            })
            .transpose()?;
        let rel = level.unwrap_or(1);
        let needs_cut = || cut.ok_or_else(|| refuse("needs the rank at which to cut: P@5, R@100"));
        match name {
            "nDCG" if level.is_some() => Err(refuse(
                "nDCG takes grades as gains and has no level: nDCG@10",
            )),
            "nDCG" => Ok(Measure::Ndcg { cut }),
            "AP" => Ok(Measure::Ap { rel, cut }),
            "RR" => Ok(Measure::Rr { rel, cut }),
            "P" => Ok(Measure::P {
                rel,
                cut: needs_cut()?,
            }),
            "R" => Ok(Measure::R {
                rel,
                cut: needs_cut()?,
            }),
            _ => Err(refuse(
                "is none of nDCG@10, AP, RR, P@5, R@100, with a level as in AP(rel=2)@100 \
                 (MAP is the mean of AP, MRR of RR)",
            )),
        }
    }
}

/// Digits alone, at least 1.
fn whole(text: &str) -> Option<u32> {
    let digits = text.bytes().all(|it| it.is_ascii_digit());
    text.parse().ok().filter(|&it| digits && it >= 1)
}

impl fmt::Display for Measure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, rel, cut) = match *self {
            Measure::Ndcg { cut } => ("nDCG", 1, cut),
            Measure::Ap { rel, cut } => ("AP", rel, cut),
            Measure::Rr { rel, cut } => ("RR", rel, cut),
            Measure::P { rel, cut } => ("P", rel, Some(cut)),
            Measure::R { rel, cut } => ("R", rel, Some(cut)),
        };
        write!(out, "{name}")?;
        if rel != 1 {
            write!(out, "(rel={rel})")?;
        }
        match cut {
            Some(cut) => write!(out, "@{cut}"),
            None => Ok(()),
        }
    }
}

serialize_as_text!(Measure);

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn a_measure_is_written_as_it_is_read() {
        for text in [
            "nDCG",
            "nDCG@10",
            "AP",
            "AP@100",
            "AP(rel=2)",
            "AP(rel=2)@100",
            "RR",
            "RR(rel=2)@10",
            "P@5",
            "P(rel=2)@5",
            "R@100",
            "R(rel=3)@1",
        ] {
            assert_eq!(text.parse::<Measure>().unwrap().to_string(), text);
        }
        assert_eq!("AP(rel=1)".parse::<Measure>().unwrap().to_string(), "AP");
    }

    #[test]
    fn a_refusal_says_what_is_allowed() {
        let told: String = [
            "MAP",
            "P",
            "nDCG@0",
            "nDCG@+5",
            "nDCG(rel=2)@10",
            "AP(rel=0)",
            "AP(rel=2",
            "AP(2)",
            "",
            "nDCG@99999999999",
        ]
        .iter()
        .map(|it| format!("{}\n", it.parse::<Measure>().unwrap_err()))
        .collect();
        expect![[r#"
            measure `MAP`: is none of nDCG@10, AP, RR, P@5, R@100, with a level as in AP(rel=2)@100 (MAP is the mean of AP, MRR of RR)
            measure `P`: needs the rank at which to cut: P@5, R@100
            measure `nDCG@0`: after @ stands a rank, 1 or more: nDCG@10
            measure `nDCG@+5`: after @ stands a rank, 1 or more: nDCG@10
            measure `nDCG(rel=2)@10`: nDCG takes grades as gains and has no level: nDCG@10
            measure `AP(rel=0)`: in brackets stands the least relevant grade, 1 or more: AP(rel=2)
            measure `AP(rel=2`: in brackets stands the least relevant grade, 1 or more: AP(rel=2)
            measure `AP(2)`: in brackets stands the least relevant grade, 1 or more: AP(rel=2)
            measure ``: is none of nDCG@10, AP, RR, P@5, R@100, with a level as in AP(rel=2)@100 (MAP is the mean of AP, MRR of RR)
            measure `nDCG@99999999999`: after @ stands a rank, 1 or more: nDCG@10
        "#]].assert_eq(&told);
    }
}
