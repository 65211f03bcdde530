//! Names of measures, in the grammar of `ir_measures` (MacAvaney, Macdonald and Ounis, ECIR 2022):
//! a name, the minimum relevant grade in parentheses, and the cutoff after `@`. The names of
//! `trec_eval` are accepted too: `ndcg_cut_10`, `P.5`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Error, ErrorFieldName, serialize_as_text};

/// A measure of one ranked list, as in `nDCG@10`, `AP(rel=2)@100`, `RR`, `P@5` or `R@100`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum EffectivenessMeasure {
    /// Normalized discounted cumulative gain; grades are gains.
    Ndcg {
        /// The number of ranks that count; `None` means all.
        cutoff: Option<u32>,
    },
    /// Average precision; its mean is MAP.
    Ap {
        /// The lowest grade that counts as relevant.
        rel: i32,
        /// The number of ranks that count; `None` means all.
        cutoff: Option<u32>,
    },
    /// One over the rank of the first relevant document; its mean is MRR.
    Rr {
        /// The lowest grade that counts as relevant.
        rel: i32,
        /// The number of ranks that count; `None` means all.
        cutoff: Option<u32>,
    },
    /// Precision: the share of the first ranks that have a relevant document.
    Precision {
        /// The lowest grade that counts as relevant.
        rel: i32,
        /// The number of ranks that count.
        cutoff: u32,
    },
    /// Recall: the share of relevant documents among the first ranks.
    Recall {
        /// The lowest grade that counts as relevant.
        rel: i32,
        /// The number of ranks that count.
        cutoff: u32,
    },
}

impl FromStr for EffectivenessMeasure {
    type Err = Error;

    /// Parses a name of `ir_measures` or of `trec_eval`, in any case.
    fn from_str(text: &str) -> Result<EffectivenessMeasure, Error> {
        let refuse = |reason: &str| {
            Error::malformed_value(
                ErrorFieldName::with_display_name("measure", format!("measure `{text}`")),
                reason,
            )
        };
        let from_trec_eval = of_trec_eval(text);
        let written = from_trec_eval.as_deref().unwrap_or(text);
        let (head, cut) = match written.split_once('@') {
            Some((head, cut)) => (head, Some(cut)),
            None => (written, None),
        };
        let cut = cut
            .map(|it| {
                whole(it).ok_or_else(|| {
                    refuse(
                        "\"@\" must be followed by a rank of at \
                 least 1, as in nDCG@10",
                    )
                })
            })
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
                        refuse(
                            "the parentheses must contain the minimum relevant grade, at least \
                             1: AP(rel=2)",
                        )
                    })
            })
            .transpose()?;
        let rel = level.unwrap_or(1);
        let needs_cut = || cut.ok_or_else(|| refuse("needs a rank cutoff, as in P@5 or R@100"));
        match name.to_ascii_lowercase().as_str() {
            "ndcg" if level.is_some() => Err(refuse(
                "nDCG uses grades as gains and takes no minimum grade: nDCG@10",
            )),
            "ndcg" => Ok(EffectivenessMeasure::Ndcg { cutoff: cut }),
            "ap" | "map" => Ok(EffectivenessMeasure::Ap { rel, cutoff: cut }),
            "rr" | "mrr" => Ok(EffectivenessMeasure::Rr { rel, cutoff: cut }),
            "p" => Ok(EffectivenessMeasure::Precision {
                rel,
                cutoff: needs_cut()?,
            }),
            "r" | "recall" => Ok(EffectivenessMeasure::Recall {
                rel,
                cutoff: needs_cut()?,
            }),
            _ => Err(refuse(
                "is not one of nDCG, nDCG@10, AP (or MAP), AP@100, RR (or MRR), RR@10, P@5, \
                 R@100, with a minimum grade as in AP(rel=2)@100, or the trec_eval names ndcg, \
                 ndcg_cut_10, map, map_cut_100, recip_rank, P_5, recall_100",
            )),
        }
    }
}

/// Converts a name of `trec_eval` to the grammar of `ir_measures`; `None` for any other name. The
/// cutoff follows `_` as in the output of `trec_eval`, or `.` as in its option `-m`.
fn of_trec_eval(text: &str) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    if lower == "recip_rank" {
        return Some("RR".to_owned());
    }
    let (name, cut) = lower.rsplit_once(['_', '.'])?;
    let name = match name {
        "ndcg_cut" => "nDCG",
        "map_cut" => "AP",
        "p" => "P",
        "recall" => "R",
        _ => return None,
    };
    Some(format!("{name}@{cut}"))
}

/// Returns a cutoff if it consists of digits and is at least 1.
fn whole(text: &str) -> Option<u32> {
    let digits = text.bytes().all(|it| it.is_ascii_digit());
    text.parse().ok().filter(|&it| digits && it >= 1)
}

impl fmt::Display for EffectivenessMeasure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, rel, cut) = match *self {
            EffectivenessMeasure::Ndcg { cutoff: cut } => ("nDCG", 1, cut),
            EffectivenessMeasure::Ap { rel, cutoff: cut } => ("AP", rel, cut),
            EffectivenessMeasure::Rr { rel, cutoff: cut } => ("RR", rel, cut),
            EffectivenessMeasure::Precision { rel, cutoff: cut } => ("P", rel, Some(cut)),
            EffectivenessMeasure::Recall { rel, cutoff: cut } => ("R", rel, Some(cut)),
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

serialize_as_text!(EffectivenessMeasure);

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
            assert_eq!(
                text.parse::<EffectivenessMeasure>().unwrap().to_string(),
                text
            );
        }
        assert_eq!(
            "AP(rel=1)"
                .parse::<EffectivenessMeasure>()
                .unwrap()
                .to_string(),
            "AP"
        );
    }

    #[test]
    fn the_names_of_other_programs_are_known() {
        for (text, known) in [
            ("map", "AP"),
            ("MAP", "AP"),
            ("MAP(rel=2)@100", "AP(rel=2)@100"),
            ("map_cut_100", "AP@100"),
            ("MRR", "RR"),
            ("MRR@10", "RR@10"),
            ("recip_rank", "RR"),
            ("ndcg", "nDCG"),
            ("NDCG@10", "nDCG@10"),
            ("ndcg_cut_10", "nDCG@10"),
            ("ndcg_cut.10", "nDCG@10"),
            ("P_5", "P@5"),
            ("P.5", "P@5"),
            ("p@5", "P@5"),
            ("recall_1000", "R@1000"),
            ("Recall@1000", "R@1000"),
        ] {
            assert_eq!(
                text.parse::<EffectivenessMeasure>().unwrap().to_string(),
                known,
                "{text}"
            );
        }
    }

    #[test]
    fn a_refusal_says_what_is_allowed() {
        let told: String = [
            "bpref",
            "P",
            "P_0",
            "recall_all",
            "success_5",
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
        .map(|it| format!("{}\n", it.parse::<EffectivenessMeasure>().unwrap_err()))
        .collect();
        expect![[r#"
            measure `bpref`: is not one of nDCG, nDCG@10, AP (or MAP), AP@100, RR (or MRR), RR@10, P@5, R@100, with a minimum grade as in AP(rel=2)@100, or the trec_eval names ndcg, ndcg_cut_10, map, map_cut_100, recip_rank, P_5, recall_100
            measure `P`: needs a rank cutoff, as in P@5 or R@100
            measure `P_0`: "@" must be followed by a rank of at least 1, as in nDCG@10
            measure `recall_all`: "@" must be followed by a rank of at least 1, as in nDCG@10
            measure `success_5`: is not one of nDCG, nDCG@10, AP (or MAP), AP@100, RR (or MRR), RR@10, P@5, R@100, with a minimum grade as in AP(rel=2)@100, or the trec_eval names ndcg, ndcg_cut_10, map, map_cut_100, recip_rank, P_5, recall_100
            measure `nDCG@0`: "@" must be followed by a rank of at least 1, as in nDCG@10
            measure `nDCG@+5`: "@" must be followed by a rank of at least 1, as in nDCG@10
            measure `nDCG(rel=2)@10`: nDCG uses grades as gains and takes no minimum grade: nDCG@10
            measure `AP(rel=0)`: the parentheses must contain the minimum relevant grade, at least 1: AP(rel=2)
            measure `AP(rel=2`: the parentheses must contain the minimum relevant grade, at least 1: AP(rel=2)
            measure `AP(2)`: the parentheses must contain the minimum relevant grade, at least 1: AP(rel=2)
            measure ``: is not one of nDCG, nDCG@10, AP (or MAP), AP@100, RR (or MRR), RR@10, P@5, R@100, with a minimum grade as in AP(rel=2)@100, or the trec_eval names ndcg, ndcg_cut_10, map, map_cut_100, recip_rank, P_5, recall_100
            measure `nDCG@99999999999`: "@" must be followed by a rank of at least 1, as in nDCG@10
        "#]].assert_eq(&told);
    }
}
