//! Evaluates the further axioms on documents and pairs of documents.

use super::super::super::features::{DocumentFeatures, QueryPoolFeatures};
use super::super::super::{
    AxiomVariant, BoundRelation, MeasuredPrecondition, PreconditionQuantity,
};
use super::{IrAxiomsAxiom, IrAxiomsCondition, proximity};
use crate::index::term_statistics::DistinctQueryTerms;
use crate::rank::{Bm25, LexicalRanker};

/// Evaluates one axiom on the documents of one query.
pub(super) struct IrAxiomsEvaluator<'a> {
    axiom: IrAxiomsAxiom,
    weight: CountWeighting,
    case: &'a QueryPoolFeatures<'a>,
    /// The tokens of the query, as indexes of its distinct terms.
    tokens: Vec<usize>,
    /// The pairs of query terms that are compared, the rarer first if that matters.
    pairs: Vec<(usize, usize)>,
    /// The query terms that decide REG and ANTI-REG: those least or most similar to the others.
    deciding: Vec<usize>,
    /// The query terms of each aspect.
    aspects: Vec<Vec<usize>>,
    /// The values of each document of the pool.
    seen: Vec<DocumentValue>,
}

/// The values that decide which of two documents is preferred.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct DocumentValue {
    /// Higher is better; the second value breaks ties of the first.
    value: [f64; 2],
    /// The BM25 score of the document.
    score: f64,
}

/// How the occurrences of a term in a document are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CountWeighting {
    /// c(w,d), the number of occurrences.
    Count,
    /// c(w,d) / |d|, as in the package.
    Share,
}

impl<'a> IrAxiomsEvaluator<'a> {
    pub(super) fn for_query_pool(
        axiom: IrAxiomsAxiom,
        mode: AxiomVariant,
        case: &'a QueryPoolFeatures<'a>,
    ) -> IrAxiomsEvaluator<'a> {
        let weight = match mode {
            AxiomVariant::Fixed
            | AxiomVariant::PaperRennings2019
            | AxiomVariant::PaperCamara2020 => CountWeighting::Count,
            AxiomVariant::Code => CountWeighting::Share,
        };
        let mut sight = IrAxiomsEvaluator {
            axiom,
            weight,
            case,
            tokens: tokens(case.query),
            pairs: Vec::new(),
            deciding: Vec::new(),
            aspects: Vec::new(),
            seen: Vec::new(),
        };
        let n_terms = case.query.len();
        match axiom {
            IrAxiomsAxiom::Tfc3 => {
                let margin = case.limits.relative_tolerance;
                sight.pairs = pairs(n_terms, |a, b| close(case.idf(a), case.idf(b), margin));
            }
            IrAxiomsAxiom::MtdcIrAxioms | IrAxiomsAxiom::LenMtdc => {
                let all = pairs(n_terms, |a, b| !same(case.idf(a), case.idf(b)));
                let rarer_first = |(a, b)| match case.idf(a) < case.idf(b) {
                    true => (b, a),
                    false => (a, b),
                };
                sight.pairs = all.into_iter().map(rarer_first).collect();
            }
            IrAxiomsAxiom::Reg | IrAxiomsAxiom::AntiReg => sight.deciding = sight.extreme(),
            IrAxiomsAxiom::AspectReg => sight.aspects = sight.clusters(),
            _ => {}
        }
        sight.seen = case
            .pool
            .iter()
            .map(|it| sight.evaluate_document(it))
            .collect();
        sight
    }

    /// Returns the weighted count of a query term in a document.
    fn count(&self, text: &DocumentFeatures, term: usize) -> f64 {
        let count = f64::from(text.term_counts[term]);
        match self.weight {
            CountWeighting::Count => count,
            CountWeighting::Share if text.n_terms == 0 => 0.0,
            CountWeighting::Share => count / f64::from(text.n_terms),
        }
    }

    /// Sums the counts over all tokens of the query, so a term that occurs twice counts twice. The
    /// order of addition is that of the package, because another one changes the last digits.
    fn asked_sum(&self, text: &DocumentFeatures) -> f64 {
        let terms = self.tokens.iter();
        terms.fold(0.0, |sum, &term| sum + self.count(text, term))
    }

    /// Sums the counts over the distinct query terms.
    fn sum(&self, text: &DocumentFeatures) -> f64 {
        (0..self.case.query.len())
            .map(|it| self.count(text, it))
            .sum()
    }

    fn evaluate_document(&self, text: &DocumentFeatures) -> DocumentValue {
        let n_terms = self.case.query.len();
        let first = |value: f64| [value, 0.0];
        let value = match self.axiom {
            IrAxiomsAxiom::Tfc1IrAxioms => first(self.asked_sum(text)),
            IrAxiomsAxiom::Lnc1IrAxioms => first(-f64::from(text.n_terms)),
            IrAxiomsAxiom::AspectReg => {
                let held = |it: &&Vec<usize>| it.iter().any(|&term| text.term_counts[term] > 0);
                let n_covered = self.aspects.iter().filter(held).count();
                first(match self.weight {
                    CountWeighting::Count => n_covered as f64,
                    CountWeighting::Share => n_covered.min(1) as f64,
                })
            }
            IrAxiomsAxiom::And | IrAxiomsAxiom::LenAnd => {
                first(f64::from(u8::from(text.coverage as usize == n_terms)))
            }
            IrAxiomsAxiom::MAnd | IrAxiomsAxiom::LenMAnd => first(f64::from(text.coverage)),
            IrAxiomsAxiom::Div | IrAxiomsAxiom::LenDiv => {
                let both = f64::from(text.coverage);
                let either = (n_terms + text.other_terms.len()) as f64;
                first(if both == 0.0 { 0.0 } else { -both / either })
            }
            IrAxiomsAxiom::Prox1 => first(-proximity::mean_first_occurrence_distance(text)),
            IrAxiomsAxiom::Prox2 => first(-proximity::sum_of_first_term_positions(text)),
            IrAxiomsAxiom::Prox3 => first(-proximity::query_phrase_position(text, self.case.query)),
            IrAxiomsAxiom::Prox4 => match proximity::min_gap_words_and_tied_groups(text) {
                Some((n_others, n_groups)) => [-f64::from(n_others), f64::from(n_groups)],
                None => [0.0; 2],
            },
            IrAxiomsAxiom::Prox5 => first(-proximity::mean_query_term_group_span(text)),
            IrAxiomsAxiom::Stmc1IrAxioms => {
                let words = text
                    .semantics
                    .as_ref()
                    .and_then(|it| it.word_similarities.as_ref());
                first(words.map_or(0.0, |it| it.mean_cosine))
            }
            IrAxiomsAxiom::Tfc3
            | IrAxiomsAxiom::MtdcIrAxioms
            | IrAxiomsAxiom::LenMtdc
            | IrAxiomsAxiom::TfLnc
            | IrAxiomsAxiom::Lb1
            | IrAxiomsAxiom::Reg
            | IrAxiomsAxiom::AntiReg
            | IrAxiomsAxiom::Stmc2IrAxioms => [0.0; 2],
        };
        let score = match self.axiom {
            IrAxiomsAxiom::Lb1 => {
                let bm25 = LexicalRanker::Bm25(Bm25::DEFAULT);
                let weighed = bm25.prepare_query_scorer(self.case.query, &self.case.totals);
                weighed.score(&text.term_counts, text.n_terms)
            }
            _ => 0.0,
        };
        DocumentValue { value, score }
    }

    /// Returns by how much the document at the first index is ahead of that at the second.
    pub(super) fn lead_of_first_doc(&self, first: usize, second: usize) -> f64 {
        let (a, b) = (&self.case.pool[first], &self.case.pool[second]);
        let (x, y) = (&self.seen[first], &self.seen[second]);
        match self.axiom {
            IrAxiomsAxiom::Tfc3 => self.both_against_one(a, b) - self.both_against_one(b, a),
            IrAxiomsAxiom::MtdcIrAxioms | IrAxiomsAxiom::LenMtdc => self.rarer_points(a, b),
            IrAxiomsAxiom::TfLnc => points((0..self.case.query.len()).map(|term| {
                let others = |it: &DocumentFeatures| it.n_terms - it.term_counts[term];
                if others(a) == others(b) {
                    self.count(a, term) - self.count(b, term)
                } else {
                    0.0
                }
            })),
            IrAxiomsAxiom::Lb1 => {
                let alone = |a: &DocumentFeatures, b: &DocumentFeatures| {
                    let mut counts = a.term_counts.iter().zip(&b.term_counts);
                    f64::from(u8::from(counts.any(|(a, b)| *a > 0 && *b == 0)))
                };
                alone(a, b) - alone(b, a)
            }
            IrAxiomsAxiom::Reg | IrAxiomsAxiom::AntiReg => {
                let ahead = |a: &DocumentFeatures, b: &DocumentFeatures| {
                    let mut terms = self.deciding.iter();
                    let all = terms.all(|&it| self.count(a, it) > self.count(b, it));
                    f64::from(u8::from(all && !self.deciding.is_empty()))
                };
                ahead(a, b) - ahead(b, a)
            }
            IrAxiomsAxiom::Stmc2IrAxioms => {
                let (here, there) = (self.in_place_of(a, b), self.in_place_of(b, a));
                match self.weight {
                    CountWeighting::Count => here - there,
                    // The package checks this order first, and does not check the other if it
                    // qualifies.
                    CountWeighting::Share if here > 0.0 => here,
                    CountWeighting::Share => -there,
                }
            }
            IrAxiomsAxiom::Stmc1IrAxioms if (x.value[0] - y.value[0]).abs() <= SAME_MEAN => 0.0,
            _ if x.value[0] == y.value[0] => x.value[1] - y.value[1],
            _ => x.value[0] - y.value[0],
        }
    }

    /// Counts the pairs of equally rare terms of which `a` has both, and `b` only one, with the
    /// same total count.
    fn both_against_one(&self, a: &DocumentFeatures, b: &DocumentFeatures) -> f64 {
        let held = self.pairs.iter().filter(|&&(p, q)| {
            let [ap, aq] = [p, q].map(|it| self.count(a, it));
            let [bp, bq] = [p, q].map(|it| self.count(b, it));
            let one = (same(bp, ap + aq) && bq == 0.0) || (same(bq, ap + aq) && bp == 0.0);
            ap != 0.0 && aq != 0.0 && one
        });
        held.count() as f64
    }

    fn rarer_points(&self, a: &DocumentFeatures, b: &DocumentFeatures) -> f64 {
        points(self.pairs.iter().map(|&(p, q)| {
            let [ap, aq] = [p, q].map(|it| self.count(a, it));
            let [bp, bq] = [p, q].map(|it| self.count(b, it));
            let asked = [p, q].map(|it| self.case.query[it].count);
            let valid = asked[0] >= asked[1] || (ap == bq && aq == bp);
            if valid { ap - bp } else { 0.0 }
        }))
    }

    /// Returns 1 if `b` has the words most similar to a query term instead of it, in proportion to
    /// its length, else 0.
    fn in_place_of(&self, a: &DocumentFeatures, b: &DocumentFeatures) -> f64 {
        let nearest = |it: &DocumentFeatures| -> Option<(f64, Vec<(u32, u32)>)> {
            it.semantics
                .as_ref()?
                .word_similarities
                .as_ref()?
                .nearest
                .clone()
        };
        let found = match (nearest(a), nearest(b)) {
            (None, None) => return 0.0,
            (Some(it), None) | (None, Some(it)) => it.1,
            (Some(x), Some(y)) if x.0 > y.0 => x.1,
            (Some(x), Some(y)) if x.0 < y.0 => y.1,
            (Some(x), Some(y)) => x.1.into_iter().chain(y.1).collect(),
        };
        let other = |text: &DocumentFeatures, term: u32| {
            let at = text.other_terms.binary_search_by_key(&term, |it| it.0);
            let count = at.map_or(0.0, |it| f64::from(text.other_terms[it].1));
            match self.weight {
                CountWeighting::Count => count,
                CountWeighting::Share => count / f64::from(text.n_terms.max(1)),
            }
        };
        let (la, lb) = (f64::from(a.n_terms), f64::from(b.n_terms));
        let fits = found.iter().all(|&(term, word)| {
            let (asked, instead) = (self.count(a, term as usize), other(b, word));
            la > 0.0
                && asked > 0.0
                && close(lb / la, instead / asked, self.case.limits.ratio_tolerance)
        });
        f64::from(u8::from(fits))
    }

    /// Returns the query terms least or most similar to the others.
    fn extreme(&self) -> Vec<usize> {
        let n_terms = self.case.query.len();
        let alike = self.case.term_similarities;
        if alike.is_empty() {
            return Vec::new();
        }
        let mut sums = vec![0.0; n_terms];
        for (a, b) in pairs(n_terms, |_, _| true) {
            let like = alike[a * n_terms + b];
            sums[a] += like;
            sums[b] += like;
        }
        let better = |a: f64, b: f64| match self.axiom {
            IrAxiomsAxiom::AntiReg => a.max(b),
            _ => a.min(b),
        };
        let Some(best) = sums.iter().copied().reduce(better) else {
            return Vec::new();
        };
        (0..n_terms).filter(|&it| sums[it] == best).collect()
    }

    /// Returns groups of query terms that are connected by chains of terms with more than the mean
    /// similarity.
    fn clusters(&self) -> Vec<Vec<usize>> {
        let n_terms = self.case.query.len();
        let alike = self.case.term_similarities;
        if alike.is_empty() {
            return Vec::new();
        }
        let average = alike.iter().sum::<f64>() / alike.len() as f64;
        let mut clusters: Vec<Vec<usize>> = Vec::new();
        for term in 0..n_terms {
            let near = |it: &Vec<usize>| it.iter().any(|&a| alike[a * n_terms + term] > average);
            let (joined, apart): (Vec<_>, Vec<_>) = clusters.into_iter().partition(near);
            clusters = apart;
            clusters.push(joined.into_iter().flatten().chain([term]).collect());
        }
        clusters
    }

    /// Measures a condition on the documents at two indexes.
    pub(super) fn measure_pair_condition(
        &self,
        condition: IrAxiomsCondition,
        first: usize,
        second: usize,
    ) -> MeasuredPrecondition {
        let (a, b) = (&self.case.pool[first], &self.case.pool[second]);
        let (x, y) = (&self.seen[first], &self.seen[second]);
        let terms = 0..self.case.query.len();
        let share = self.case.limits.relative_tolerance;
        let at_most = |quantity, value, bound| MeasuredPrecondition {
            quantity,
            value,
            relation: BoundRelation::AtMost,
            bound: Some(bound),
        };
        match condition {
            IrAxiomsCondition::Length => at_most(
                PreconditionQuantity::RelativeLengthGap,
                Some(apart(f64::from(a.n_terms), f64::from(b.n_terms), share)),
                share,
            ),
            IrAxiomsCondition::SumsApart => MeasuredPrecondition {
                quantity: PreconditionQuantity::RelativeOccurrenceGap,
                value: Some(apart(self.asked_sum(a), self.asked_sum(b), share)),
                relation: BoundRelation::MoreThan,
                bound: Some(share),
            },
            IrAxiomsCondition::SumsEqual => {
                let gap = apart(self.sum(a), self.sum(b), SAME);
                at_most(PreconditionQuantity::RelativeOccurrenceGap, Some(gap), SAME)
            }
            IrAxiomsCondition::Differing => {
                let differ = |&it: &usize| self.count(a, it) != self.count(b, it);
                MeasuredPrecondition {
                    quantity: PreconditionQuantity::DifferingTermCounts,
                    value: Some(terms.filter(differ).count() as f64),
                    relation: BoundRelation::MoreThan,
                    bound: Some(0.0),
                }
            }
            IrAxiomsCondition::CountsClose => {
                let gaps = terms.map(|it| apart(self.count(a, it), self.count(b, it), share));
                at_most(
                    PreconditionQuantity::RelativeCountGap,
                    Some(gaps.fold(0.0, f64::max)),
                    share,
                )
            }
            IrAxiomsCondition::ScoresClose => {
                let gap = apart(x.score, y.score, share);
                at_most(PreconditionQuantity::RelativeScoreGap, Some(gap), share)
            }
            IrAxiomsCondition::EquallyRare => {
                let idfs: Vec<f64> = terms.map(|it| self.case.idf(it)).collect();
                let most = idfs.iter().copied().reduce(f64::max);
                let least = idfs.iter().copied().reduce(f64::min);
                let gap = most
                    .zip(least)
                    .map(|(most, least)| apart(most, least, share));
                at_most(PreconditionQuantity::RelativeIdfGap, gap, share)
            }
            IrAxiomsCondition::SameTerms => {
                let mut held = a.term_counts.iter().zip(&b.term_counts);
                let equal = held.all(|(a, b)| (*a > 0) == (*b > 0));
                MeasuredPrecondition {
                    quantity: PreconditionQuantity::SharedQueryTerms,
                    value: equal.then(|| f64::from(a.coverage)),
                    relation: BoundRelation::AtLeast,
                    bound: Some(2.0),
                }
            }
            IrAxiomsCondition::AllTerms => {
                let all = |it: &DocumentFeatures| it.coverage as usize == self.case.query.len();
                MeasuredPrecondition {
                    quantity: PreconditionQuantity::SharedQueryTermsIfAll,
                    value: (all(a) && all(b)).then(|| f64::from(a.coverage)),
                    relation: BoundRelation::AtLeast,
                    bound: Some(2.0),
                }
            }
        }
    }
}

/// The relative tolerance within which the package treats numbers as equal, that of Python's
/// `math.isclose`.
const SAME: f64 = 1e-9;

/// Means of cosines are equal if they differ by at most this. The rounding error of a mean of n
/// cosines is below n · 1.1e-16, which is this for 9,000 pairs of words. In the package the
/// rounding error decides.
const SAME_MEAN: f64 = 1e-12;

/// Returns the tokens of a query in order, as indexes of its distinct terms.
fn tokens(query: &DistinctQueryTerms) -> Vec<usize> {
    let places = query.iter().enumerate();
    let mut tokens: Vec<(u32, usize)> = places
        .flat_map(|(term, it)| it.positions.iter().map(move |&place| (place, term)))
        .collect();
    tokens.sort_unstable();
    tokens.into_iter().map(|it| it.1).collect()
}

/// Returns |a − b| / max(|a|, |b|), from 0 to 2; 0 for two zeros. It is at most `share` iff
/// [`close`] holds, which the rounding of a quotient alone would not guarantee.
fn apart(a: f64, b: f64, share: f64) -> f64 {
    let most = a.abs().max(b.abs());
    let gap = match most == 0.0 {
        true => 0.0,
        false => (a - b).abs() / most,
    };
    match close(a, b, share) {
        true => gap.min(share),
        false => gap.max(share.next_up()),
    }
}

/// Whether two numbers are close in the sense of `math.isclose`, to the last bit.
fn close(a: f64, b: f64, share: f64) -> bool {
    let gap = (a - b).abs();
    gap <= (share * a).abs() || gap <= (share * b).abs()
}

fn same(a: f64, b: f64) -> bool {
    close(a, b, SAME)
}

/// Sums a point for each positive lead, and minus one for each negative lead.
fn points(leads: impl Iterator<Item = f64>) -> f64 {
    let point = |lead: f64| match lead.partial_cmp(&0.0) {
        Some(std::cmp::Ordering::Greater) => 1.0,
        Some(std::cmp::Ordering::Less) => -1.0,
        Some(std::cmp::Ordering::Equal) | None => 0.0,
    };
    leads.map(point).sum()
}

/// Returns the unordered pairs of the first `n` indexes that `predicate` accepts.
fn pairs(n: usize, predicate: impl Fn(usize, usize) -> bool) -> Vec<(usize, usize)> {
    let all = (0..n).flat_map(|a| (a + 1..n).map(move |b| (a, b)));
    all.filter(|&(a, b)| predicate(a, b)).collect()
}
