//! Computes a page of a list of any number of instances in two passes, without sorting the whole
//! list.
//!
//! Both passes go over parts of the queries, in any order and on any number of threads. The first
//! counts the instances that pass the filter by the magnitude of their sort key; the second keeps
//! only those of the magnitudes in which the page lies.

use std::ops::Range;

use super::super::Study;
use super::super::controls::{InstanceFilter, InstanceSubset};
use super::{
    InstanceListOptions, InstancePage, InstanceSort, ListedInstance, MarginHistogram, round_width,
};
use crate::error::Error;
use crate::probe::{ProbeInstances, ScoreClaim, StudyDocNo};
use crate::score::RankerQueryDocumentScores;
use crate::stats::bootstrap;
use crate::text::stopwords;
use crate::verdict::{VerdictOutcome, VerdictWithMargin};

/// Lists the instances of one ranker and axiom.
pub struct InstanceLister<'a> {
    study: &'a Study,
    listing: &'a InstanceListOptions,
    instances: &'a ProbeInstances,
    scores: &'a RankerQueryDocumentScores,
    filter: InstanceFilter<'a>,
    tie_width: f64,
    /// The query filter, in lower case.
    wanted: String,
    /// For each pair whether the ranker truncated the document; empty unless this is needed.
    truncated: Vec<bool>,
    /// The standard deviation of the ranker's scores; 0 unless this is needed.
    score_deviation: f64,
}

/// The significant bits of a number that make its magnitude: sign, exponent and six bits of
/// fraction.
const BITS: u32 = 18;

/// The length of the excerpt of a document, in characters.
const EXCERPT_CHARACTERS: usize = 100;

/// The result of the first pass over some queries.
pub struct FirstPassMarginCounts {
    queries: Range<usize>,
    least: f64,
    most: f64,
    n_tied: u64,
    n_margins: u64,
    magnitudes: Vec<Magnitude>,
}

/// The instances whose sort keys have one magnitude.
#[derive(Clone, Copy)]
struct Magnitude {
    n: u64,
    least: f64,
    most: f64,
}

const NONE: Magnitude = Magnitude {
    n: 0,
    least: f64::INFINITY,
    most: f64::NEG_INFINITY,
};

impl Magnitude {
    fn add(&mut self, other: Magnitude) {
        self.n += other.n;
        self.least = self.least.min(other.least);
        self.most = self.most.max(other.most);
    }

    /// Whether all sort keys are equal, so that the instances are in the order of queries.
    fn is_flat(self) -> bool {
        self.n == 0 || self.least.to_bits() == self.most.to_bits()
    }
}

/// The plan for the second pass, which selects the instances of a page.
pub struct PageSelectionPlan {
    /// The shards of the second pass.
    pub parts: Vec<SecondPassShardSelection>,
    n: u64,
    /// The number of instances that the second pass finds before the page.
    skip: u64,
    n_tied: u64,
    bins: Bins,
}

/// The bins of a histogram.
#[derive(Clone, Copy)]
struct Bins {
    /// The number of the first bin.
    first: f64,
    width: f64,
    n: usize,
}

/// A shard of the second pass: some queries and the magnitudes to select.
pub struct SecondPassShardSelection {
    queries: Range<usize>,
    /// The first and the last magnitude of the page.
    between: [usize; 2],
    /// For each magnitude the number of instances to skip and the number to keep after them.
    parts: Vec<(u64, u64)>,
    bins: Bins,
}

/// The result of the second pass over a part.
#[derive(Default)]
pub struct PageSelectionShardResult {
    judged: Vec<InstanceWithRankerVerdict>,
    counts: Vec<u64>,
}

/// An instance with the verdict of the listed ranker.
#[derive(Clone, Copy)]
pub(super) struct InstanceWithRankerVerdict {
    pub(super) number: u64,
    pub(super) query: usize,
    pub(super) claim: ScoreClaim<StudyDocNo>,
    pub(super) verdict: Option<VerdictWithMargin>,
    /// In the order of most instructive instances: 2 if a document is relevant, plus the fraction
    /// of the words of the query that are no function words, plus 4 for the first of its query.
    content_value: f64,
}

/// Returns the magnitude of a sort key, ascending with the key as ordered by `f64::total_cmp`.
fn magnitude(key: f64) -> usize {
    let bits = key.to_bits();
    let ordered = if bits >> 63 == 1 {
        !bits
    } else {
        bits | 1 << 63
    };
    (ordered >> (64 - BITS)) as usize
}

impl<'a> InstanceLister<'a> {
    pub(super) fn for_study(
        study: &'a Study,
        listing: &'a InstanceListOptions,
    ) -> Result<InstanceLister<'a>, Error> {
        listing.controls.validate_for_study(study)?;
        let mode = listing.controls.variant_shown_in_study(study)?;
        let scores = &study.scores[study.parse_ranker_row_index(&listing.ranker)?];
        let mut truncated = Vec::new();
        if listing.controls.subset == InstanceSubset::Untruncated && !scores.truncated.is_empty() {
            truncated = vec![false; study.pairs.len()];
            for &at in &scores.truncated {
                truncated[at as usize] = true;
            }
        }
        Ok(InstanceLister {
            study,
            listing,
            instances: study.instances_of_probe(listing.probe, mode)?,
            scores,
            filter: InstanceFilter::from_study_page_controls(study, &listing.controls),
            tie_width: listing.controls.tie_threshold_for_ranker(scores),
            wanted: listing.query_filter.to_lowercase(),
            truncated,
            score_deviation: match listing.sort {
                InstanceSort::MostInstructive => score_deviation(scores),
                _ => 0.0,
            },
        })
    }

    /// Returns the sort key of an instance; those without a verdict come last.
    fn sort_key(&self, judged: &InstanceWithRankerVerdict) -> f64 {
        match (self.listing.sort, judged.verdict.map(|it| it.margin)) {
            (InstanceSort::Query, _) => 0.0,
            (_, None) => f64::INFINITY,
            (InstanceSort::MostInstructive, Some(margin)) => {
                // Ties have one key, so that they are counted and not sorted.
                let share = match margin.abs() {
                    it if it <= self.tie_width => 0.0,
                    it => it / (it + self.score_deviation),
                };
                -(judged.content_value + share)
            }
            (InstanceSort::MarginAscending, Some(margin)) => margin,
            (InstanceSort::MarginDescending, Some(margin)) => -margin,
            (InstanceSort::AbsoluteMargin, Some(margin)) => margin.abs(),
        }
    }

    /// Splits the queries into parts with about equally many instances.
    pub fn split_queries_into_balanced_parts(&self, n: usize) -> Vec<Range<usize>> {
        let n_queries = self.instances.n_queries();
        let of_each = self.instances.len() / n.max(1) + 1;
        let (mut parts, mut from, mut n_held) = (Vec::new(), 0, 0);
        for query in 0..n_queries {
            n_held += self.instances.n_instances_of_query(query);
            if n_held >= of_each || query + 1 == n_queries {
                parts.push(from..query + 1);
                (from, n_held) = (query + 1, 0);
            }
        }
        parts
    }

    /// Calls `take` with each instance that passes the controls and the query filter.
    fn each(&self, queries: Range<usize>, mut take: impl FnMut(InstanceWithRankerVerdict)) {
        let study = self.study;
        let unknown = u32::MAX;
        let mut places = vec![unknown; study.study_docs.len()];
        let mut number = self.instances.first_instance_of_query(queries.start) as u64;
        let mut relevant = Vec::new();
        let mut of_query: Vec<InstanceWithRankerVerdict> = Vec::new();
        for query in queries {
            let asked = &study.queries[query];
            let named = self.wanted.is_empty()
                || asked.text.to_lowercase().contains(&self.wanted)
                || asked.id.to_lowercase().contains(&self.wanted);
            if !named || !self.filter.includes_query(query) {
                number += self.instances.n_instances_of_query(query) as u64;
                continue;
            }
            let range = study.pairs.pair_range_of_query(query);
            let texts = study.pairs.documents_of_query(query);
            for (&text, place) in texts.iter().zip(range.clone()) {
                places[text as usize] = place as u32;
            }
            let by_content = self.listing.sort == InstanceSort::MostInstructive;
            if by_content || self.listing.controls.subset == InstanceSubset::WithRelevant {
                let grade =
                    |it: &StudyDocNo| study.relevance_grade(query, *it).is_some_and(|it| it >= 1);
                relevant = texts.iter().map(grade).collect();
            }
            let place = |text: StudyDocNo| places[text as usize] as usize;
            let has_relevant = |claim: &ScoreClaim<StudyDocNo>| {
                claim.has_doc_where(|text| {
                    let at = place(text).checked_sub(range.start);
                    at.and_then(|it| relevant.get(it)) == Some(&true)
                })
            };
            let content_share = match by_content {
                true => stopwords::content_word_share(&asked.text),
                false => 0.0,
            };
            for claim in self.instances.claims_of_query(query) {
                let fits = match self.listing.controls.subset {
                    InstanceSubset::All => true,
                    InstanceSubset::Untruncated => {
                        self.truncated.is_empty()
                            || !claim.has_doc_where(|text| {
                                self.truncated.get(place(text)) == Some(&true)
                            })
                    }
                    InstanceSubset::WithRelevant => has_relevant(&claim),
                };
                if fits && self.filter.has_similar_lengths(self.instances, claim) {
                    let scored =
                        claim.replace_docs_with_scores(|text| match places[text as usize] {
                            it if it == unknown => None,
                            it => self.scores.score_at_position(it as usize),
                        });
                    of_query.push(InstanceWithRankerVerdict {
                        number,
                        query,
                        claim,
                        verdict: scored.map(|it| it.verdict(self.tie_width)),
                        content_value: match by_content && has_relevant(&claim) {
                            true => 2.0 + content_share,
                            false => content_share,
                        },
                    });
                }
                number += 1;
            }
            if by_content && let Some(first) = self.most_instructive(&of_query) {
                of_query[first].content_value += 4.0;
            }
            of_query.drain(..).for_each(&mut take);
            for &text in texts {
                places[text as usize] = unknown;
            }
        }
    }

    /// Returns the position of the most instructive of the instances that are listed, or of the
    /// first of them.
    fn most_instructive(&self, of_query: &[InstanceWithRankerVerdict]) -> Option<usize> {
        let listed = of_query.iter().enumerate();
        let listed =
            listed.filter(|(_, it)| it.verdict.is_some() && self.listing.keeps(it.verdict));
        let first = listed.min_by(|a, b| self.sort_key(a.1).total_cmp(&self.sort_key(b.1)));
        first.map(|it| it.0)
    }

    /// Runs the first pass over some queries.
    pub fn build_margin_histogram(&self, queries: Range<usize>) -> FirstPassMarginCounts {
        let mut found = FirstPassMarginCounts {
            queries: queries.clone(),
            least: 0.0,
            most: 0.0,
            n_tied: 0,
            n_margins: 0,
            magnitudes: vec![NONE; 1 << BITS],
        };
        self.each(queries, |judged| {
            match judged.verdict {
                Some(it) if it.outcome == VerdictOutcome::Tied => found.n_tied += 1,
                Some(it) => {
                    found.n_margins += 1;
                    found.least = found.least.min(it.margin);
                    found.most = found.most.max(it.margin);
                }
                None => {}
            }
            if self.listing.keeps(judged.verdict) {
                let key = self.sort_key(&judged);
                found.magnitudes[magnitude(key)].add(Magnitude {
                    n: 1,
                    least: key,
                    most: key,
                });
            }
        });
        found
    }

    /// Plans the second pass from the results of the first pass over all parts.
    pub fn plan_page_selection(&self, counted: &[FirstPassMarginCounts]) -> PageSelectionPlan {
        let mut all = vec![NONE; 1 << BITS];
        for part in counted {
            let pairs = all.iter_mut().zip(&part.magnitudes);
            pairs.for_each(|(all, it)| all.add(*it));
        }
        let n: u64 = all.iter().map(|it| it.n).sum();
        let bins = bins(counted);
        let page = self.listing.limit.min(InstanceListOptions::MAX_PAGE_SIZE);
        let first = self.listing.offset.min(n);
        let last = first.saturating_add(page).min(n);
        // The magnitudes that the page touches, with the index in the list at which each begins.
        let mut begin = 0;
        let mut touched: Vec<(usize, u64)> = Vec::new();
        for (at, it) in all.iter().enumerate().filter(|it| it.1.n > 0) {
            if begin < last && begin + it.n > first {
                touched.push((at, begin));
            }
            begin += it.n;
        }
        let between = match (touched.first(), touched.last()) {
            (Some(a), Some(b)) => [a.0, b.0],
            _ => [1, 0],
        };
        // The second pass already skips what lies before the page in a flat magnitude.
        let skip = match touched.first() {
            Some(&(at, begin)) if !all[at].is_flat() => first - begin,
            _ => 0,
        };
        let mut before = vec![0; touched.len()];
        let parts = counted.iter().map(|part| {
            let each = touched.iter().zip(&mut before);
            let each = each.map(|(&(at, begin), before)| {
                let here = part.magnitudes[at].n;
                if !all[at].is_flat() {
                    return (at, (0, here));
                }
                // A flat magnitude is in the order of queries, so what lies before the page is only
                // counted.
                let start = begin + *before;
                *before += here;
                let skip = first.saturating_sub(start).min(here);
                let keep = last.saturating_sub(start).min(here) - skip;
                (at, (skip, keep))
            });
            let each: Vec<_> = each.collect();
            let n_between = (between[1] + 1).saturating_sub(between[0]);
            let mut parts = vec![(0, 0); n_between];
            for (at, part) in each {
                parts[at - between[0]] = part;
            }
            SecondPassShardSelection {
                queries: part.queries.clone(),
                between,
                parts,
                bins,
            }
        });
        PageSelectionPlan {
            parts: parts.collect(),
            n,
            skip,
            n_tied: counted.iter().map(|it| it.n_tied).sum(),
            bins,
        }
    }

    /// Runs the second pass over a shard: selects its instances of the page.
    pub fn select_page_instances(
        &self,
        wanted: &SecondPassShardSelection,
    ) -> PageSelectionShardResult {
        let mut left = wanted.parts.clone();
        let mut found = PageSelectionShardResult {
            judged: Vec::new(),
            counts: vec![0; wanted.bins.n],
        };
        self.each(wanted.queries.clone(), |judged| {
            if let Some(it) = judged.verdict
                && it.outcome != VerdictOutcome::Tied
            {
                let bins = wanted.bins;
                found.counts[(bin(it.margin, bins.width) - bins.first) as usize] += 1;
            }
            let magnitude = magnitude(self.sort_key(&judged));
            if !(wanted.between[0]..=wanted.between[1]).contains(&magnitude)
                || !self.listing.keeps(judged.verdict)
            {
                return;
            }
            match &mut left[magnitude - wanted.between[0]] {
                (skip, _) if *skip > 0 => *skip -= 1,
                (_, 0) => {}
                (_, keep) => {
                    *keep -= 1;
                    found.judged.push(judged);
                }
            }
        });
        found
    }

    /// Selects the page from the counts of all parts, one part after the other.
    pub(super) fn select_page(&self, counted: &[FirstPassMarginCounts]) -> InstancePage {
        let plan = self.plan_page_selection(counted);
        let parts = plan.parts.iter();
        let picked = parts.map(|it| self.select_page_instances(it)).collect();
        self.merge_selections_into_page(&plan, picked)
    }

    /// Builds the page from the results of all parts, in order.
    pub fn merge_selections_into_page(
        &self,
        plan: &PageSelectionPlan,
        picked: Vec<PageSelectionShardResult>,
    ) -> InstancePage {
        let mut counts = vec![0; plan.bins.n];
        let mut judged = Vec::new();
        for part in picked {
            counts
                .iter_mut()
                .zip(&part.counts)
                .for_each(|(a, b)| *a += b);
            judged.extend(part.judged);
        }
        judged.sort_by(|a, b| self.sort_key(a).total_cmp(&self.sort_key(b)));
        let limit = self.listing.limit.min(InstanceListOptions::MAX_PAGE_SIZE) as usize;
        let rows = judged.iter().skip(plan.skip as usize).take(limit);
        InstancePage {
            n_instances: plan.n,
            rows: rows.map(|it| self.line(it)).collect(),
            histogram: MarginHistogram {
                lower_edge: plan.bins.first * plan.bins.width,
                bin_width: plan.bins.width,
                counts,
                n_tied: plan.n_tied,
            },
        }
    }

    fn line(&self, judged: &InstanceWithRankerVerdict) -> ListedInstance {
        let InstanceWithRankerVerdict {
            number,
            query,
            claim,
            verdict,
            ..
        } = *judged;
        let study = self.study;
        let texts = claim.docs_in_claim_order();
        let excerpts = match study.has_withheld_texts() {
            true => Vec::new(),
            false => texts
                .iter()
                .map(|&it| {
                    let text = study.study_doc_text(it);
                    let (title, body) = text.split_at(study.title_length(it, &text) as usize);
                    excerpt(title, body)
                })
                .collect(),
        };
        ListedInstance {
            number,
            query_id: study.queries[query].id.clone(),
            query: study.queries[query].text.clone(),
            grades: texts
                .iter()
                .map(|&it| study.relevance_grade(query, it))
                .collect(),
            excerpts,
            docs: texts.into_iter().map(|it| study.study_doc_id(it)).collect(),
            outcome: verdict.map(|it| it.outcome),
            margin: verdict.map(|it| it.margin),
            is_truncated: study.claim_has_truncated_document(self.scores, query, claim),
        }
    }
}

/// Returns the first characters of a title and a text on one line, with `·` between the two and `…`
/// at the end of a longer text.
fn excerpt(title: &str, text: &str) -> String {
    let mut words: Vec<&str> = title.split_whitespace().collect();
    if !words.is_empty() {
        words.push("·");
    }
    words.extend(text.split_whitespace());
    let line = words.join(" ");
    match line.char_indices().nth(EXCERPT_CHARACTERS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// Returns the standard deviation of a ranker's scores; 0 with fewer than two scores.
fn score_deviation(scores: &RankerQueryDocumentScores) -> f64 {
    let known = scores.scores_in_pair_order().iter().flatten().copied();
    let deviation = bootstrap::standard_deviation(&known.collect::<Vec<f64>>());
    // `max` leaves NaN out.
    deviation.max(0.0)
}

/// Returns bins of round width from the lowest to the highest margin, with an edge at 0.
fn bins(counted: &[FirstPassMarginCounts]) -> Bins {
    let least = counted.iter().map(|it| it.least).fold(0.0, f64::min);
    let most = counted.iter().map(|it| it.most).fold(0.0, f64::max);
    let width = round_width((most - least) / super::BINS);
    if counted.iter().all(|it| it.n_margins == 0) || width <= 0.0 {
        return Bins {
            first: 0.0,
            width: 1.0,
            n: 0,
        };
    }
    let first = bin(least, width);
    Bins {
        first,
        width,
        n: (bin(most, width) - first) as usize + 1,
    }
}

/// Returns the number of the bin of a margin: bin 0 begins at 0.
fn bin(margin: f64, width: f64) -> f64 {
    libm::floor(margin / width)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_separates_the_title_from_the_text() {
        assert_eq!(
            excerpt("Levain", " Levain is\n a  name"),
            "Levain · Levain is a name"
        );
        assert_eq!(excerpt("", "Levain is a name"), "Levain is a name");
        let long = excerpt("Levain", &" ä".repeat(EXCERPT_CHARACTERS));
        assert_eq!(long.chars().count(), EXCERPT_CHARACTERS + 1);
        assert!(long.starts_with("Levain · ä ä") && long.ends_with('…'));
    }
}
