//! Computes a page of a list of any number of instances in two passes, without sorting the whole
//! list.
//!
//! Both passes go over parts of the queries, in any order and on any number of threads. The first
//! counts the instances that pass the filter by the magnitude of their sort key; the second keeps
//! only those of the magnitudes in which the page lies.

use std::ops::Range;

use super::super::Study;
use super::super::controls::{InstanceFilter, InstanceSubset};
use super::bins::Bins;
use super::judge::InstanceJudge;
use super::selection::first_index;
use super::sort_key::{SortKey, SortKeyRule};
use super::{
    InstanceListOptions, InstancePage, InstanceSort, ListedInstance, MarginHistogram, ReviewStatus,
};
use crate::error::Error;
use crate::probe::{ProbeInstances, ScoreClaim, StudyDocNo};
use crate::score::RankerQueryDocumentScores;
use crate::stats::bootstrap;
use crate::verdict::{VerdictOutcome, VerdictWithMargin};

/// Lists the instances of one ranker and axiom.
pub struct InstanceLister<'a> {
    pub(super) study: &'a Study,
    pub(super) listing: &'a InstanceListOptions,
    pub(super) instances: &'a ProbeInstances,
    pub(super) scores: &'a RankerQueryDocumentScores,
    pub(super) filter: InstanceFilter<'a>,
    pub(super) tie_width: f64,
    /// The query filter, in lower case.
    pub(super) wanted: String,
    /// The numbers of the instances on which people or simulated annotators have decided,
    /// ascending.
    reviewed: Vec<u64>,
    /// The number of those on which people have decided.
    n_reviewed: u64,
    /// For each pair whether the ranker truncated the document; empty unless this is needed.
    truncated: Vec<bool>,
    /// The standard deviation of the ranker's scores; 0 unless this is needed.
    score_deviation: f64,
}

/// The significant bits of a number that make its magnitude: sign, exponent and four bits of
/// fraction.
const BITS: u32 = 16;

/// The length of the excerpt of a document, in characters.
const EXCERPT_CHARACTERS: usize = 100;

/// The result of the first pass over some queries.
pub struct FirstPassMarginCounts {
    queries: Range<usize>,
    least: f64,
    most: f64,
    n_tied: u64,
    magnitudes: Vec<Magnitude>,
}

/// The instances whose sort keys have one magnitude.
#[derive(Clone, Copy)]
struct Magnitude {
    /// The sort key of one of them.
    key: SortKey,
    n: u32,
    /// Whether all sort keys are equal, so that the instances are in the order of queries.
    is_flat: bool,
}

const NONE: Magnitude = Magnitude {
    key: SortKey::new(0.0),
    n: 0,
    is_flat: true,
};

impl Magnitude {
    fn add(&mut self, other: Magnitude) {
        if self.n == 0 {
            *self = other;
        } else if other.n > 0 {
            self.is_flat &= other.is_flat && self.key == other.key;
            self.n += other.n;
        }
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
    /// Whether one of its documents is relevant; only known where it is needed.
    pub(super) has_relevant: bool,
    /// In the order of most instructive instances: 2 if a document is relevant, plus the fraction
    /// of the words of the query that are no function words, plus 4 for the first of its query and
    /// outcome.
    pub(super) content_value: f64,
}

/// Returns the magnitude of a sort key, ascending with the key.
fn magnitude(key: SortKey) -> usize {
    let bits = key.value.to_bits();
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
        let instances = study.instances_of_probe(listing.probe, mode)?;
        Ok(InstanceLister::new(study, listing, instances, scores))
    }

    /// Creates a lister of instances and scores of the study. The ranker, probe and variant of
    /// `listing` are not read.
    pub(super) fn new(
        study: &'a Study,
        listing: &'a InstanceListOptions,
        instances: &'a ProbeInstances,
        scores: &'a RankerQueryDocumentScores,
    ) -> InstanceLister<'a> {
        let mut truncated = Vec::new();
        if listing.controls.subset == InstanceSubset::Untruncated && !scores.truncated.is_empty() {
            truncated = vec![false; study.pairs.len()];
            for &at in &scores.truncated {
                truncated[at as usize] = true;
            }
        }
        InstanceLister {
            study,
            listing,
            instances,
            scores,
            filter: InstanceFilter::from_study_page_controls(study, &listing.controls),
            tie_width: listing.controls.tie_threshold_for_ranker(scores),
            wanted: listing.query_filter.to_lowercase(),
            reviewed: Vec::new(),
            n_reviewed: 0,
            truncated,
            score_deviation: match listing.sort {
                InstanceSort::MostInstructive => score_deviation(scores),
                _ => 0.0,
            },
        }
    }

    /// Adds the numbers of the instances on which people have decided, and of those on which
    /// simulated annotators have, in any order. Without them, no instance is taken as reviewed.
    pub fn with_reviewed_instances(
        mut self,
        mut by_people: Vec<u64>,
        simulated: Vec<u64>,
    ) -> InstanceLister<'a> {
        by_people.sort_unstable();
        by_people.dedup();
        self.n_reviewed = by_people.len() as u64;
        self.reviewed = by_people;
        self.reviewed.extend(simulated);
        self.reviewed.sort_unstable();
        self.reviewed.dedup();
        self
    }

    /// Sets the standard deviation of the ranker's scores, of which the study has only some.
    pub(in crate::study) fn with_score_deviation(self, score_deviation: f64) -> Self {
        InstanceLister {
            score_deviation,
            ..self
        }
    }

    /// Returns the number of instances on which people have decided.
    pub(super) fn n_reviewed(&self) -> u64 {
        self.n_reviewed
    }

    /// Returns the number of instances on which only simulated annotators have decided.
    pub(super) fn n_simulated_reviews(&self) -> u64 {
        self.reviewed.len() as u64 - self.n_reviewed
    }

    /// Whether an instance passes the filter on the review status.
    pub(super) fn has_wanted_review_status(&self, number: u64) -> bool {
        let is_reviewed = || self.reviewed.binary_search(&number).is_ok();
        match self.listing.review_status {
            None => true,
            Some(ReviewStatus::Reviewed) => is_reviewed(),
            Some(ReviewStatus::NotReviewed) => !is_reviewed(),
        }
    }

    /// Whether instances of a query may pass the filters on queries and the review status.
    pub(super) fn may_list_query(&self, query: usize) -> bool {
        let asked = &self.study.queries[query];
        let is_wanted = self.wanted.is_empty()
            || asked.text.to_lowercase().contains(&self.wanted)
            || asked.id.to_lowercase().contains(&self.wanted);
        let has_reviewed = || {
            let first = self.instances.first_instance_of_query(query) as u64;
            let end = first + self.instances.n_instances_of_query(query) as u64;
            let at = self.reviewed.partition_point(|&it| it < first);
            self.reviewed.get(at).is_some_and(|&it| it < end)
        };
        is_wanted
            && self.filter.includes_query(query)
            && (self.listing.review_status != Some(ReviewStatus::Reviewed) || has_reviewed())
    }

    /// Returns the instances of the probe and variant, before any filter.
    pub fn instances(&self) -> &'a ProbeInstances {
        self.instances
    }

    /// Whether the tie threshold is the default of the ranker.
    pub(super) fn is_default_tie_threshold(&self) -> bool {
        self.tie_width == self.scores.ranker.kind.default_tie_threshold()
    }

    /// Returns an instance with its verdict, without what only sorting needs.
    pub(super) fn judge_instance(&self, number: u32) -> InstanceWithRankerVerdict {
        let query = self.instances.query_of_instance(number as usize);
        let claim = self.instances.claim_at(number as usize);
        let scores = self.scores;
        let tie_width = self.tie_width;
        InstanceWithRankerVerdict {
            number: u64::from(number),
            query,
            claim,
            verdict: self
                .study
                .ranker_verdict_on_claim(scores, query, claim, tie_width),
            has_relevant: false,
            content_value: 0.0,
        }
    }

    /// Returns the margin of an instance that has a verdict, otherwise NaN.
    pub(super) fn margin_of_instance(&self, number: u32) -> f64 {
        let verdict = self.judge_instance(number).verdict;
        verdict.map_or(f64::NAN, |it| it.margin)
    }

    /// Counts the margins of instances in bins. Each list is sorted by margin and has no ties.
    pub(super) fn histogram_of_sorted_instances(
        &self,
        lists: &[&[u32]],
        n_tied: u64,
    ) -> MarginHistogram {
        let margin = |it: &u32| self.margin_of_instance(*it);
        let least = lists.iter().filter_map(|it| it.first().map(margin));
        let most = lists.iter().filter_map(|it| it.last().map(margin));
        let bins = Bins::for_range(least.fold(0.0, f64::min), most.fold(0.0, f64::max));
        let mut counts = vec![0; bins.n];
        for list in lists {
            let mut from = 0;
            for (at, count) in counts.iter_mut().enumerate() {
                let is_later = |it: usize| bins.index_of(margin(&list[it])) > at;
                let to = first_index(from, list.len(), is_later);
                *count += (to - from) as u64;
                from = to;
            }
        }
        bins.into_histogram(counts, n_tied)
    }

    /// Returns how the keys of the list follow from its instances.
    pub(super) fn key_rule(&self) -> SortKeyRule {
        SortKeyRule {
            sort: self.listing.sort,
            tie_width: self.tie_width,
            score_deviation: self.score_deviation,
        }
    }

    /// Returns the sort key of an instance; those without a verdict come last.
    pub(super) fn sort_key(&self, judged: &InstanceWithRankerVerdict) -> SortKey {
        let margin = judged.verdict.map_or(f64::NAN, |it| it.margin);
        self.key_rule().key(judged.content_value, margin)
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
        let mut judge = InstanceJudge::new(self);
        for query in queries {
            judge.judge_query(query).iter().copied().for_each(&mut take);
        }
    }

    /// Whether the ranker truncated one of the documents, given the place of each document.
    pub(super) fn is_truncated(&self, claim: ScoreClaim<StudyDocNo>, places: &[u32]) -> bool {
        !self.truncated.is_empty()
            && claim
                .has_doc_where(|it| self.truncated.get(places[it as usize] as usize) == Some(&true))
    }

    /// Runs the first pass over some queries.
    pub fn build_margin_histogram(&self, queries: Range<usize>) -> FirstPassMarginCounts {
        let mut found = FirstPassMarginCounts {
            queries: queries.clone(),
            least: 0.0,
            most: 0.0,
            n_tied: 0,
            magnitudes: vec![NONE; 1 << BITS],
        };
        self.each(queries, |judged| {
            match judged.verdict {
                Some(it) if it.outcome == VerdictOutcome::Tied => found.n_tied += 1,
                Some(it) => {
                    found.least = found.least.min(it.margin);
                    found.most = found.most.max(it.margin);
                }
                None => {}
            }
            if self.listing.keeps(judged.verdict) {
                let key = self.sort_key(&judged);
                found.magnitudes[magnitude(key)].add(Magnitude {
                    key,
                    n: 1,
                    is_flat: true,
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
        let n: u64 = all.iter().map(|it| u64::from(it.n)).sum();
        let bins = Bins::for_range(
            counted.iter().map(|it| it.least).fold(0.0, f64::min),
            counted.iter().map(|it| it.most).fold(0.0, f64::max),
        );
        let page = self.listing.limit.min(InstanceListOptions::MAX_PAGE_SIZE);
        let first = self.listing.offset.min(n);
        let last = first.saturating_add(page).min(n);
        // The magnitudes that the page touches, with the index in the list at which each begins.
        let mut begin = 0;
        let mut touched: Vec<(usize, u64)> = Vec::new();
        for (at, it) in all.iter().enumerate().filter(|it| it.1.n > 0) {
            let end = begin + u64::from(it.n);
            if begin < last && end > first {
                touched.push((at, begin));
            }
            begin = end;
        }
        let between = match (touched.first(), touched.last()) {
            (Some(a), Some(b)) => [a.0, b.0],
            _ => [1, 0],
        };
        // The second pass already skips what lies before the page in a flat magnitude.
        let skip = match touched.first() {
            Some(&(at, begin)) if !all[at].is_flat => first - begin,
            _ => 0,
        };
        let mut before = vec![0; touched.len()];
        let parts = counted.iter().map(|part| {
            let each = touched.iter().zip(&mut before);
            let each = each.map(|(&(at, begin), before)| {
                let here = u64::from(part.magnitudes[at].n);
                if !all[at].is_flat {
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
                found.counts[wanted.bins.index_of(it.margin)] += 1;
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

    /// Returns the page of the list, after a look at every instance.
    pub(in crate::study) fn page_of_all_queries(&self) -> InstancePage {
        self.select_page(&[self.build_margin_histogram(0..self.study.queries.len())])
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
        judged.sort_by_cached_key(|it| self.sort_key(it));
        let limit = self.listing.limit.min(InstanceListOptions::MAX_PAGE_SIZE) as usize;
        let rows = judged.iter().skip(plan.skip as usize).take(limit);
        InstancePage {
            n_instances: plan.n,
            rows: rows.map(|it| self.line(it)).collect(),
            histogram: plan.bins.into_histogram(counts, plan.n_tied),
            n_reviewed: self.n_reviewed(),
            n_simulated_reviews: self.n_simulated_reviews(),
        }
    }

    pub(super) fn line(&self, judged: &InstanceWithRankerVerdict) -> ListedInstance {
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
            false => texts.iter().map(|&it| study.document_excerpt(it)).collect(),
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

impl Study {
    /// Returns the first characters of a document, as a list shows them.
    pub(in crate::study) fn document_excerpt(&self, doc: StudyDocNo) -> String {
        let text = self.study_doc_text(doc);
        let (title, body) = text.split_at(self.title_length(doc, &text) as usize);
        excerpt(title, body)
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
pub(in crate::study) fn score_deviation(scores: &RankerQueryDocumentScores) -> f64 {
    let known = scores.scores_in_pair_order().iter().flatten().copied();
    let deviation = bootstrap::standard_deviation(&known.collect::<Vec<f64>>());
    // `max` leaves NaN out.
    deviation.max(0.0)
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
