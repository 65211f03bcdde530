//! The Instances page: one ranker on one axiom, filtered, sorted and cut into pages.

use serde::{Deserialize, Serialize};

use super::Study;
use super::dials::{Dials, Filter};
use crate::error::Error;
use crate::probe::{Axiom, Claim, TextNo};
use crate::score::Scores;
use crate::verdict::{Outcome, Verdict};

/// Which instances to list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Listing {
    /// The state of the Study page.
    pub dials: Dials,
    /// Column.
    pub axiom: Axiom,
    /// Row, counted from 0.
    pub ranker: usize,
    /// Only this outcome.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// Only queries whose id or text contains this, ignoring case.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub query: String,
    /// Only margins from here on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub margin_from: Option<f64>,
    /// Only margins up to here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub margin_to: Option<f64>,
    /// Order of the list.
    #[serde(default)]
    pub sort: Sort,
    /// How many to skip.
    #[serde(default)]
    pub offset: u64,
    /// How many to give, at most [`Listing::MOST`].
    pub limit: u64,
}

impl Listing {
    /// The longest page.
    pub const MOST: u64 = 500;
}

/// Order of a list of instances. Ties stay in the order of queries and texts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Sort {
    /// As mined: by query, then texts.
    #[default]
    Query,
    /// Most clearly against the claim first.
    MarginUp,
    /// Most clearly with the claim first.
    MarginDown,
    /// Closest calls first.
    Closest,
}

/// A page of the list, with the distribution of all margins.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Page {
    /// Instances that pass the filter.
    pub n_instances: u64,
    /// One page of them.
    pub rows: Vec<Line>,
    /// Of the margins of all instances of the cell, before the filter on margins.
    pub histogram: Histogram,
}

/// One instance in the list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Line {
    /// Its place among the instances of the axiom and mode: its address.
    pub number: u64,
    /// Query id.
    pub query_id: String,
    /// As written.
    pub query: String,
    /// Ids, in the order of the claim.
    pub texts: Vec<String>,
    /// Grades, in the same order.
    pub grades: Vec<Option<i32>>,
    /// None without all scores.
    pub outcome: Option<Outcome>,
    /// None without all scores.
    pub margin: Option<f64>,
    /// Whether the ranker saw only a part of one of the texts.
    pub truncated: bool,
}

/// Counts of margins in bins of equal width, with 0 on an edge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Histogram {
    /// Lower edge of the first bin.
    pub from: f64,
    /// Width of a bin.
    pub width: f64,
    /// How many margins each bin holds; its lower edge is in, its upper edge is not. Ties
    /// are not counted here.
    pub counts: Vec<u64>,
    /// Margins within the width of a tie.
    pub n_tied: u64,
}

impl Study {
    /// One page of the instances of a cell.
    pub fn list(&self, listing: &Listing) -> Result<Page, Error> {
        listing.dials.check()?;
        let mode = listing.dials.mode_of(self)?;
        let instances = self.instances_of(listing.axiom, mode)?;
        let scores = self.scores.get(listing.ranker).ok_or_else(|| {
            Error::unknown("ranker of this study", format!("number {}", listing.ranker))
        })?;
        let filter = Filter::new(self, &listing.dials);
        let width = listing.dials.tie_width(scores);
        let wanted = listing.query.to_lowercase();
        let mut all = Vec::new();
        let mut number = 0;
        for query in 0..instances.n_queries() {
            let asked = &self.queries[query];
            let named = wanted.is_empty()
                || asked.text.to_lowercase().contains(&wanted)
                || asked.id.to_lowercase().contains(&wanted);
            for claim in instances.of(query) {
                if named && filter.passes((listing.axiom, mode), query, claim, Some(scores)) {
                    let verdict = self.verdict(scores, query, claim, width);
                    all.push(Judged {
                        number,
                        query,
                        claim,
                        verdict,
                    });
                }
                number += 1;
            }
        }
        let histogram = histogram(&all);
        all.retain(|it| listing.keeps(it.verdict));
        sort(&mut all, listing.sort);
        let from = usize::try_from(listing.offset)
            .unwrap_or(usize::MAX)
            .min(all.len());
        let limit = listing.limit.min(Listing::MOST) as usize;
        let rows = all[from..]
            .iter()
            .take(limit)
            .map(|it| self.line(it, scores))
            .collect();
        Ok(Page {
            n_instances: all.len() as u64,
            rows,
            histogram,
        })
    }

    fn line(&self, judged: &Judged, scores: &Scores) -> Line {
        let Judged {
            number,
            query,
            claim,
            verdict,
        } = *judged;
        let texts = claim.texts();
        Line {
            number,
            query_id: self.queries[query].id.clone(),
            query: self.queries[query].text.clone(),
            grades: texts.iter().map(|&it| self.grade(query, it)).collect(),
            texts: texts.into_iter().map(|it| self.text_id(it)).collect(),
            outcome: verdict.map(|it| it.outcome),
            margin: verdict.map(|it| it.margin),
            truncated: self.truncated(scores, query, claim),
        }
    }
}

#[derive(Clone, Copy)]
struct Judged {
    number: u64,
    query: usize,
    claim: Claim<TextNo>,
    verdict: Option<Verdict>,
}

impl Listing {
    fn keeps(&self, verdict: Option<Verdict>) -> bool {
        let outcome = verdict.map(|it| it.outcome);
        let margin = verdict.map(|it| it.margin);
        self.outcome.is_none_or(|it| outcome == Some(it))
            && self
                .margin_from
                .is_none_or(|from| margin.is_some_and(|it| it >= from))
            && self
                .margin_to
                .is_none_or(|to| margin.is_some_and(|it| it <= to))
    }
}

/// Instances without a verdict come last.
fn sort(all: &mut [Judged], sort: Sort) {
    let key = |it: &Judged| {
        let margin = it.verdict.map_or(f64::INFINITY, |it| it.margin);
        match sort {
            Sort::Query => 0.0,
            Sort::MarginUp => margin,
            Sort::MarginDown if it.verdict.is_some() => -margin,
            Sort::MarginDown => margin,
            Sort::Closest => margin.abs(),
        }
    };
    all.sort_by(|a, b| key(a).total_cmp(&key(b)));
}

/// About how many bins a histogram has.
const BINS: f64 = 40.0;

fn histogram(all: &[Judged]) -> Histogram {
    let verdicts = || all.iter().filter_map(|it| it.verdict);
    let n_tied = verdicts().filter(|it| it.outcome == Outcome::Tied).count() as u64;
    let margins: Vec<f64> = verdicts()
        .filter(|it| it.outcome != Outcome::Tied)
        .map(|it| it.margin)
        .collect();
    let least = margins.iter().copied().fold(0.0, f64::min);
    let most = margins.iter().copied().fold(0.0, f64::max);
    let width = round_width((most - least) / BINS);
    if margins.is_empty() || width <= 0.0 {
        return Histogram {
            from: 0.0,
            width: 1.0,
            counts: Vec::new(),
            n_tied,
        };
    }
    let bin = |margin: f64| libm::floor(margin / width);
    let first = bin(least);
    let mut counts = vec![0; (bin(most) - first) as usize + 1];
    margins
        .iter()
        .for_each(|&it| counts[(bin(it) - first) as usize] += 1);
    Histogram {
        from: first * width,
        width,
        counts,
        n_tied,
    }
}

/// The next of 1, 2, 5 times a power of ten.
fn round_width(width: f64) -> f64 {
    if !(width > 0.0 && width.is_finite()) {
        return 0.0;
    }
    let mut unit = 1.0;
    while unit > width {
        unit /= 10.0;
    }
    while unit * 10.0 <= width {
        unit *= 10.0;
    }
    let steps = [1.0, 2.0, 5.0, 10.0].map(|it| it * unit);
    steps
        .into_iter()
        .find(|&it| it >= width)
        .unwrap_or(unit * 10.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_have_round_widths_and_an_edge_at_zero() {
        for (width, round) in [(0.03, 0.05), (1.0, 1.0), (1.1, 2.0), (700.0, 1000.0)] {
            assert!((round_width(width) - round).abs() < 1e-9 * round, "{width}");
        }
        let judged = |margin: f64, outcome| Judged {
            number: 0,
            query: 0,
            claim: Claim::Above {
                winner: 0,
                loser: 1,
            },
            verdict: Some(Verdict { outcome, margin }),
        };
        let found = histogram(&[
            judged(-0.5, Outcome::Violated),
            judged(0.0, Outcome::Tied),
            judged(3.5, Outcome::Satisfied),
        ]);
        assert_eq!((found.from, found.width, found.n_tied), (-0.5, 0.1, 1));
        assert_eq!(
            (found.counts.len(), found.counts[0], found.counts[40]),
            (41, 1, 1)
        );
    }

    #[test]
    fn what_has_no_verdict_comes_last_in_every_order() {
        let judged = |number, margin: Option<f64>| Judged {
            number,
            query: 0,
            claim: Claim::Above {
                winner: 0,
                loser: 1,
            },
            verdict: margin.map(|margin| Verdict {
                outcome: Outcome::Satisfied,
                margin,
            }),
        };
        let order = |by: Sort| {
            let mut all = [
                judged(0, Some(2.0)),
                judged(1, None),
                judged(2, Some(-3.0)),
                judged(3, Some(1.0)),
            ];
            sort(&mut all, by);
            all.map(|it| it.number)
        };
        assert_eq!(order(Sort::Query), [0, 1, 2, 3]);
        assert_eq!(order(Sort::MarginUp), [2, 3, 0, 1]);
        assert_eq!(order(Sort::MarginDown), [0, 3, 2, 1]);
        assert_eq!(order(Sort::Closest), [3, 0, 2, 1]);
    }
}
