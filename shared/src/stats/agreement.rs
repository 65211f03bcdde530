//! Agreement between raters who rated the same items.
//!
//! - *Raw agreement*: for an item with `m` ratings, `m_c` of category `c`, the share of equal
//!   pairs, `P = Σ_c m_c (m_c − 1) / (m (m − 1))`; the mean over items.
//! - Cohen's κ of two raters (Educational and Psychological Measurement 20, 1960): with the share
//!   `p_o` of items on which both agree and `p_e = Σ_c p₁(c) p₂(c)` from the categories that each
//!   rater uses, `κ = (p_o − p_e) / (1 − p_e)`.
//! - Fleiss' κ of several raters (Psychological Bulletin 76, 1971): the same with the mean of `P`
//!   as `p_o` and `p_e = Σ_c p(c)²`, where `p(c)` is the mean over items of `m_c / m`. As a
//!   deviation from Fleiss, items may have different numbers of ratings.
//! - Krippendorff's α (Computing Krippendorff's Alpha-Reliability, 2011): from coincidences `o(c,
//!   k)`, to which each ordered pair of ratings of an item adds `1 / (m − 1)`, with `n(c) = Σ_k
//!   o(c, k)` and `n = Σ_c n(c)`, `α = 1 − (n − 1) Σ_{c<k} o(c, k) δ²(c, k) / Σ_{c<k} n(c) n(k)
//!   δ²(c, k)`, with δ by [`RatingScaleLevel`].
//!
//! Items with fewer than two ratings are left out of all coefficients. κ and α are undefined, and
//! `None`, if all ratings have the same category, since such agreement may or may not be chance.
//!
//! Intervals are from a percentile bootstrap over items with the draws of [`super::bootstrap`],
//! where the items of one group are drawn together. Krippendorff (2013) instead draws pairs from
//! the coincidences, as if those of one item were independent. Draws in which the coefficient is
//! undefined are left out and counted. If they are more than one in twenty, or if there is a single
//! group, the interval is the whole range.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::EstimateWithInterval;
use super::bootstrap::{BootstrapSampler, N_RESAMPLES, percentile_interval};

/// If more than one in this many draws is undefined, the interval is the whole range.
const ONE_UNDEFINED_IN: usize = 20;

/// The ratings of one item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ItemRatings {
    /// The group; items of one group, such as those of a query, are not independent.
    pub group: u32,
    /// The category that each rater gave, with the same order of raters for all items; `None`
    /// without a rating.
    pub ratings: Vec<Option<u8>>,
}

/// The distance δ between two categories.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RatingScaleLevel {
    /// `δ² = 1` for any two categories.
    Nominal,
    /// `δ² = (Σ_{g=c..k} n(g) − (n(c) + n(k)) / 2)²`: the number of ratings in between.
    Ordinal,
    /// `δ² = (c − k)²`.
    Interval,
}

/// A coefficient of inter-annotator agreement with its confidence interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AgreementCoefficient {
    /// The coefficient with its 95 % interval; at most 1.
    pub estimate: EstimateWithInterval,
    /// The number of items with at least two ratings.
    #[serde(alias = "n_things")]
    pub n_items: u64,
    /// The number of draws, of [`N_RESAMPLES`], in which the coefficient is undefined.
    pub n_undefined: u64,
}

/// Returns raw agreement, from 0 to 1; `None` if no item has two ratings.
pub fn mean_pairwise_agreement(rated: &[ItemRatings]) -> Option<AgreementCoefficient> {
    let of = |it: &CategoryCounts| vec![it.agreeing(), 1.0];
    Sums::new(rated, |it| Some(of(&CategoryCounts::new(it)?)))
        .agreement(0.0, |it| ratio(it[0], it[1]))
}

/// Returns the agreement of one rater with the others, from 0 to 1: the mean over items of the
/// share of the others who gave the same rating. Each item has its group and, for each of the
/// others who rated it, whether they agree. `None` if nobody else rated any item.
pub fn rater_agreement_with_others(things: &[(u32, Vec<bool>)]) -> Option<AgreementCoefficient> {
    let share = |others: &[bool]| {
        let same = others.iter().filter(|it| **it).count();
        ratio(same as f64, others.len() as f64)
    };
    let things = things.iter();
    let each = things.filter_map(|(group, others)| Some((*group, vec![share(others)?, 1.0])));
    Sums::of(each.collect()).agreement(0.0, |it| ratio(it[0], it[1]))
}

/// Returns Cohen's κ of two raters, from −1 to 1; `None` if they rated no item in common, or gave
/// one category to every item.
pub fn cohen_kappa(
    rated: &[ItemRatings],
    [first, second]: [usize; 2],
) -> Option<AgreementCoefficient> {
    let categories = categories(rated);
    let (n, of) = (categories.len(), |it: u8| place(&categories, it));
    let sums = Sums::new(rated, |it| {
        let pair = it.ratings[first].zip(it.ratings[second])?;
        let mut table = vec![0.0; n * n];
        table[of(pair.0) * n + of(pair.1)] = 1.0;
        Some(table)
    });
    sums.agreement(-1.0, |table| {
        let all: f64 = table.iter().sum();
        let row = |at: usize| -> f64 { table[at * n..(at + 1) * n].iter().sum() };
        let column = |at: usize| -> f64 { (0..n).map(|it| table[it * n + at]).sum() };
        let observed: f64 = (0..n).map(|it| table[it * n + it]).sum();
        let expected: f64 = (0..n).map(|it| row(it) * column(it)).sum();
        corrected(ratio(observed, all)?, ratio(expected, all * all)?)
    })
}

/// Returns Fleiss' κ, from −1 to 1; `None` if no item has two ratings, or all are of one category.
pub fn fleiss_kappa(rated: &[ItemRatings]) -> Option<AgreementCoefficient> {
    let categories = categories(rated);
    let sums = Sums::new(rated, |it| {
        let counts = CategoryCounts::new(it)?;
        let mut sums = vec![0.0; categories.len() + 2];
        for &(category, n) in &counts.each {
            sums[place(&categories, category)] = n / counts.n;
        }
        sums[categories.len()] = counts.agreeing();
        sums[categories.len() + 1] = 1.0;
        Some(sums)
    });
    sums.agreement(-1.0, |sums| {
        let (shares, rest) = sums.split_at(categories.len());
        let expected: f64 = shares.iter().map(|it| it * it).sum();
        corrected(ratio(rest[0], rest[1])?, expected / (rest[1] * rest[1]))
    })
}

/// Returns Krippendorff's α, from −1 to 1; `None` if no item has two ratings, or all are of one
/// category.
pub fn krippendorff_alpha(
    rated: &[ItemRatings],
    metric: RatingScaleLevel,
) -> Option<AgreementCoefficient> {
    let categories = categories(rated);
    let n = categories.len();
    let sums = Sums::new(rated, |it| {
        let counts = CategoryCounts::new(it)?;
        let mut table = vec![0.0; n * n];
        for &(a, n_a) in &counts.each {
            for &(b, n_b) in &counts.each {
                let pairs = if a == b { n_a * (n_a - 1.0) } else { n_a * n_b };
                table[place(&categories, a) * n + place(&categories, b)] = pairs / (counts.n - 1.0);
            }
        }
        Some(table)
    });
    sums.agreement(-1.0, |table| alpha(table, &categories, metric))
}

fn alpha(table: &[f64], categories: &[u8], metric: RatingScaleLevel) -> Option<f64> {
    let n = categories.len();
    let rows = table.chunks_exact(n);
    let totals: Vec<f64> = rows.map(|it| it.iter().sum()).collect();
    let apart = |low: usize, high: usize| {
        let distance = match metric {
            RatingScaleLevel::Nominal => 1.0,
            RatingScaleLevel::Ordinal => {
                totals[low..=high].iter().sum::<f64>() - (totals[low] + totals[high]) / 2.0
            }
            RatingScaleLevel::Interval => f64::from(categories[high]) - f64::from(categories[low]),
        };
        distance * distance
    };
    let (mut observed, mut expected) = (0.0, 0.0);
    for low in 0..n {
        for high in low + 1..n {
            observed += table[low * n + high] * apart(low, high);
            expected += totals[low] * totals[high] * apart(low, high);
        }
    }
    let all: f64 = totals.iter().sum();
    Some(1.0 - (all - 1.0) * ratio(observed, expected)?)
}

/// Returns agreement corrected for chance; `None` if the expected agreement is 1.
fn corrected(observed: f64, expected: f64) -> Option<f64> {
    // If there is only one category, expected agreement is exactly 1.
    ratio(observed - expected, 1.0 - expected)
}

fn ratio(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part / whole)
}

/// Returns all categories in use, ascending.
fn categories(rated: &[ItemRatings]) -> Vec<u8> {
    let used = rated.iter().flat_map(|it| it.ratings.iter().flatten());
    let mut categories: Vec<u8> = used.copied().collect();
    categories.sort_unstable();
    categories.dedup();
    categories
}

fn place(categories: &[u8], category: u8) -> usize {
    categories.partition_point(|&it| it < category)
}

/// The number of ratings in each category, for an item with at least two ratings.
struct CategoryCounts {
    each: Vec<(u8, f64)>,
    n: f64,
}

impl CategoryCounts {
    fn new(rated: &ItemRatings) -> Option<CategoryCounts> {
        let mut given: Vec<u8> = rated.ratings.iter().flatten().copied().collect();
        given.sort_unstable();
        let each = given.chunk_by(|a, b| a == b);
        (given.len() > 1).then(|| CategoryCounts {
            each: each.map(|it| (it[0], it.len() as f64)).collect(),
            n: given.len() as f64,
        })
    }

    /// Returns the share of equal pairs.
    fn agreeing(&self) -> f64 {
        let equal: f64 = self.each.iter().map(|(_, n)| n * (n - 1.0)).sum();
        equal / (self.n * (self.n - 1.0))
    }
}

/// The sums from which a coefficient is computed, over the items of each group.
struct Sums {
    groups: Vec<Vec<f64>>,
    n_things: u64,
}

impl Sums {
    fn new(rated: &[ItemRatings], of: impl Fn(&ItemRatings) -> Option<Vec<f64>>) -> Sums {
        let each = rated.iter().filter_map(|it| Some((it.group, of(it)?)));
        Sums::of(each.collect())
    }

    /// Returns the sums over items with their groups.
    fn of(mut each: Vec<(u32, Vec<f64>)>) -> Sums {
        // The sort is stable, so that sums are in the order of the items.
        each.sort_by_key(|it| it.0);
        let groups = each.chunk_by(|a, b| a.0 == b.0);
        Sums {
            groups: groups.map(|it| sum(it.iter().map(|it| &it.1))).collect(),
            n_things: each.len() as u64,
        }
    }

    fn agreement(
        &self,
        least: f64,
        coefficient: impl Fn(&[f64]) -> Option<f64>,
    ) -> Option<AgreementCoefficient> {
        if self.groups.is_empty() {
            return None;
        }
        let value = coefficient(&sum(self.groups.iter()))?;
        let mut draws = BootstrapSampler::new(self.groups.len());
        let mut drawn = Vec::with_capacity(N_RESAMPLES);
        let mut total = vec![0.0; self.groups[0].len()];
        for _ in 0..N_RESAMPLES {
            total.fill(0.0);
            draws.for_each_drawn_index(|at| add(&mut total, &self.groups[at]));
            drawn.extend(coefficient(&total));
        }
        let n_undefined = N_RESAMPLES - drawn.len();
        let bounded = self.groups.len() > 1 && n_undefined * ONE_UNDEFINED_IN <= N_RESAMPLES;
        let interval = if bounded {
            percentile_interval(drawn)
        } else {
            [least, 1.0]
        };
        Some(AgreementCoefficient {
            estimate: EstimateWithInterval { value, interval },
            n_items: self.n_things,
            n_undefined: n_undefined as u64,
        })
    }
}

fn sum<'a>(mut each: impl Iterator<Item = &'a Vec<f64>>) -> Vec<f64> {
    let mut total = each.next().cloned().unwrap_or_default();
    each.for_each(|it| add(&mut total, it));
    total
}

fn add(total: &mut [f64], more: &[f64]) {
    total.iter_mut().zip(more).for_each(|(a, b)| *a += b);
}

#[cfg(test)]
mod tests;
