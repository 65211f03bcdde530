//! The Instances page: the instances of one ranker and axiom, filtered, sorted and paginated.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub(in crate::study) mod sort_key;
mod bins;
mod selection;
mod lister;
mod judge;
#[cfg(test)]
pub(in crate::study) mod fixture;
pub mod order;
pub(in crate::study) mod sorted_lists;
mod order_page;

use super::Study;
use super::controls::StudyPageControls;
use crate::error::Error;
use crate::probe::Probe;
use crate::verdict::{VerdictOutcome, VerdictWithMargin};

pub use lister::InstanceLister;
pub(in crate::study) use lister::score_deviation;

/// The options of a list of instances: cell, filters, order, page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct InstanceListOptions {
    /// The controls of the Study page.
    #[serde(default)]
    pub controls: StudyPageControls,
    /// The probe: a column of the table.
    #[serde(alias = "axiom")]
    pub probe: Probe,
    /// The ranker: its slug, or its row counted from 0.
    pub ranker: String,
    /// Only instances with this outcome.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<VerdictOutcome>,
    /// Only queries whose id or text contains this, ignoring case.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub query_filter: String,
    /// The lowest margin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_margin: Option<f64>,
    /// The highest margin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_margin: Option<f64>,
    /// Only instances with this review status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub review_status: Option<ReviewStatus>,
    /// The order of the list.
    #[serde(default)]
    pub sort: InstanceSort,
    /// The number of instances to skip.
    #[serde(default)]
    pub offset: u64,
    /// The number of instances to return, at most [`InstanceListOptions::MAX_PAGE_SIZE`].
    #[serde(default = "default_page_size")]
    pub limit: u64,
}

/// Returns the number of rows on a page of a list when a request does not say it.
pub(crate) fn default_page_size() -> u64 {
    50
}

impl InstanceListOptions {
    /// The largest number of instances on one page of a list.
    pub const MAX_PAGE_SIZE: u64 = 500;

    /// The number of instances that the Instances page asks for at once.
    pub const ROWS_AT_ONCE: u64 = 50;
}

/// Whether annotators have decided on an instance, be they people or simulated. Only tasks whose
/// results the reader may see count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReviewStatus {
    /// At least one decision counts.
    Reviewed,
    /// No decision counts.
    NotReviewed,
}

/// The order of a list of instances. Ties keep the order of queries and documents.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum InstanceSort {
    /// By what a reader learns from an instance, highest first: `2 r + c + |m| / (|m| + s)`. `r` is
    /// 1 if one of the documents is relevant (grade 1 or higher), otherwise 0; `c` is the fraction
    /// of the words of the query that are not English function words; `m` is the margin, 0 for a
    /// tie, and `s` the standard deviation of the ranker's scores. The first such instance of each
    /// query and outcome comes before all others. Instances without a verdict come last.
    #[default]
    MostInstructive,
    /// As mined: by query, then by documents.
    Query,
    /// By margin, most clearly violated first.
    MarginAscending,
    /// By margin, most clearly satisfied first.
    MarginDescending,
    /// By absolute margin, closest first.
    AbsoluteMargin,
}

/// A page of the list, with the distribution of all margins.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct InstancePage {
    /// The number of instances that pass the filter.
    pub n_instances: u64,
    /// The instances on this page.
    pub rows: Vec<ListedInstance>,
    /// The margins of all instances of the cell, before the filter on margins.
    pub histogram: MarginHistogram,
    /// The number of instances of the probe and variant, before any filter, on which people have
    /// decided in tasks whose results the reader may see.
    #[serde(default)]
    pub n_reviewed: u64,
    /// The number of further instances, on which only simulated annotators have decided.
    #[serde(default)]
    pub n_simulated_reviews: u64,
}

/// One instance in the list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ListedInstance {
    /// Its number among the instances of the axiom and variant, as used in its address.
    pub number: u64,
    /// Query id.
    pub query_id: String,
    /// The query as written. It is user data: show it as text, never as HTML.
    pub query: String,
    /// The ids of the documents, in the order of the claim.
    pub docs: Vec<String>,
    /// The grades, in the same order.
    pub grades: Vec<Option<i32>>,
    /// The first characters of the documents, in the same order; empty if the texts are withheld.
    /// They are user data: show them as text, never as HTML.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub excerpts: Vec<String>,
    /// `None` unless all documents have a score.
    pub outcome: Option<VerdictOutcome>,
    /// `None` unless all documents have a score.
    pub margin: Option<f64>,
    /// Whether the ranker read only a part of one of the documents.
    pub is_truncated: bool,
}

/// Counts of margins in bins of equal width, with 0 on an edge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct MarginHistogram {
    /// The lower edge of the first bin.
    pub lower_edge: f64,
    /// The width of a bin.
    pub bin_width: f64,
    /// The number of margins in each bin, which includes its lower edge but not its upper edge.
    /// Ties are not counted here.
    pub counts: Vec<u64>,
    /// The number of margins within the tie threshold.
    pub n_tied: u64,
}

impl Study {
    /// Returns one page of the instances of a cell.
    pub fn list_instances(&self, listing: &InstanceListOptions) -> Result<InstancePage, Error> {
        Ok(self.instance_lister(listing)?.page_of_all_queries())
    }

    /// Returns a lister that computes the same page in parts, which can run on several threads.
    pub fn instance_lister<'a>(
        &'a self,
        listing: &'a InstanceListOptions,
    ) -> Result<InstanceLister<'a>, Error> {
        InstanceLister::for_study(self, listing)
    }
}

impl InstanceListOptions {
    /// Returns the range of the page within a list of this many instances.
    pub(in crate::study) fn page_range(&self, n_instances: usize) -> Range<usize> {
        let limit = self.limit.min(InstanceListOptions::MAX_PAGE_SIZE) as usize;
        let first = usize::try_from(self.offset).map_or(n_instances, |it| it.min(n_instances));
        first..first.saturating_add(limit).min(n_instances)
    }

    fn keeps(&self, verdict: Option<VerdictWithMargin>) -> bool {
        let outcome = verdict.map(|it| it.outcome);
        let margin = verdict.map(|it| it.margin);
        self.outcome.is_none_or(|it| outcome == Some(it))
            && self
                .min_margin
                .is_none_or(|from| margin.is_some_and(|it| it >= from))
            && self
                .max_margin
                .is_none_or(|to| margin.is_some_and(|it| it <= to))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::Axiom;
    use crate::study::fixture;

    /// The whole list sorted at once, which the pages must add up to.
    fn whole(study: &Study, listing: &InstanceListOptions) -> Vec<(u64, Option<f64>)> {
        let probe = listing.probe;
        let mode = listing.controls.variant_shown_in_study(study).unwrap();
        let instances = study.instances_of_probe(probe, mode).unwrap();
        let row = match listing.ranker.as_str() {
            "bm25" => 0,
            number => number.parse().unwrap(),
        };
        let scores = &study.scores[row];
        let width = listing.controls.tie_threshold_for_ranker(scores);
        let all = (0..instances.len()).map(|at| {
            let (query, claim) = (instances.query_of_instance(at), instances.claim_at(at));
            let is_relevant = |it| study.relevance_grade(query, it).is_some_and(|it| it >= 1);
            let is_relevant = claim.has_doc_where(is_relevant);
            (
                at as u64,
                study.ranker_verdict_on_claim(scores, query, claim, width),
                is_relevant,
            )
        });
        let mut all: Vec<_> = all.filter(|it| listing.keeps(it.1)).collect();
        let deviation = standard_deviation(&study.scores[row]);
        // Without the bonus of the first instance of each query and outcome.
        let key = |it: &(u64, Option<VerdictWithMargin>, bool)| {
            let margin = it.1.map(|it| it.margin);
            match listing.sort {
                // No word of the queries is a function word.
                InstanceSort::MostInstructive => margin.map_or(f64::INFINITY, |margin| {
                    let size = match margin.abs() {
                        it if it <= width => 0.0,
                        it => 1.0 - deviation / (it + deviation),
                    };
                    -(if it.2 { 3.0 } else { 1.0 } + size)
                }),
                InstanceSort::Query => 0.0,
                InstanceSort::MarginAscending => margin.unwrap_or(f64::INFINITY),
                InstanceSort::MarginDescending => margin.map_or(f64::INFINITY, |it| -it),
                InstanceSort::AbsoluteMargin => margin.map_or(f64::INFINITY, f64::abs),
            }
        };
        all.sort_by(|a, b| key(a).total_cmp(&key(b)));
        if listing.sort == InstanceSort::MostInstructive {
            let mut seen = std::collections::BTreeSet::new();
            let is_first = |it: &(u64, Option<VerdictWithMargin>, bool)| {
                let query = instances.query_of_instance(it.0 as usize);
                it.1.is_some_and(|it| seen.insert((query, it.outcome)))
            };
            let (first, rest): (Vec<_>, Vec<_>) = all.into_iter().partition(is_first);
            all = first.into_iter().chain(rest).collect();
        }
        all.into_iter()
            .map(|it| (it.0, it.1.map(|it| it.margin)))
            .collect()
    }

    fn standard_deviation(scores: &crate::score::RankerQueryDocumentScores) -> f64 {
        let known = scores.scores_in_pair_order().iter().flatten().copied();
        let known: Vec<f64> = known.collect();
        let mean = known.iter().sum::<f64>() / known.len() as f64;
        let squares = known.iter().map(|it| (it - mean) * (it - mean));
        libm::sqrt(squares.sum::<f64>() / (known.len() - 1) as f64)
    }

    #[test]
    fn a_relevant_document_content_words_and_a_large_margin_are_instructive() {
        let texts = [
            "river river bank",
            "river bank",
            "bank bank bank river",
            "mud",
        ];
        let queries = ["absent", "the river of it", "river"];
        let mut study = fixture::study_with_queries(&queries, &texts, 30);
        let listing = InstanceListOptions {
            ranker: "bm25".to_owned(),
            sort: InstanceSort::MostInstructive,
            limit: 50,
            ..first_five()
        };
        let rows = study.list_instances(&listing).unwrap().rows;
        let queries: Vec<&str> = rows.iter().map(|it| it.query.as_str()).collect();
        // Both have the same documents; one query has three function words of four. The first
        // instance of each comes before the others.
        assert_eq!(queries[..2], ["river", "the river of it"]);
        let (first, last) = queries[2..].split_at(queries.len() / 2 - 1);
        assert!(
            !first.is_empty() && first.iter().all(|it| *it == "river"),
            "{queries:?}"
        );
        assert!(
            last.iter().all(|it| *it == "the river of it"),
            "{queries:?}"
        );
        let of_river = rows.iter().filter(|it| it.query == "river");
        let margins = of_river.map(|it| it.margin.unwrap().abs());
        assert!(margins.is_sorted_by(|a, b| a >= b));
        // The texts are excerpts of the documents.
        assert!(
            rows[0]
                .excerpts
                .iter()
                .all(|it| texts.contains(&it.as_str()))
        );
        // A relevant document outweighs both.
        let doc = rows.last().unwrap().docs[0].clone();
        let grades = [(doc.clone(), 1)];
        study.qrels.0.insert("q1".to_owned(), grades.into());
        let rows = study.list_instances(&listing).unwrap().rows;
        assert!(rows[0].docs.contains(&doc) && rows[0].query == "the river of it");
    }

    #[test]
    fn reviewed_instances_are_listed_alone_or_left_out() {
        let texts = [
            "river",
            "river river",
            "bank",
            "bank bank",
            "bank bank bank",
        ];
        let study = fixture::study_with_queries(&["river", "bank"], &texts, 30);
        let numbers = |review_status, sort| {
            let listing = InstanceListOptions {
                review_status,
                sort,
                limit: 50,
                ..first_five()
            };
            let lister = study.instance_lister(&listing).unwrap();
            // In any order and more than once, as several tasks have them.
            let lister = lister.with_reviewed_instances(vec![3], vec![1, 3, 1]);
            let counted = [lister.build_margin_histogram(0..2)];
            let page = lister.select_page(&counted);
            let mut numbers: Vec<u64> = page.rows.iter().map(|it| it.number).collect();
            assert_eq!(page.n_instances, numbers.len() as u64);
            assert_eq!((page.n_reviewed, page.n_simulated_reviews), (1, 1));
            numbers.sort_unstable();
            numbers
        };
        let all = numbers(None, InstanceSort::Query);
        assert_eq!(all, [0, 1, 2, 3]);
        for sort in [InstanceSort::Query, InstanceSort::MostInstructive] {
            assert_eq!(numbers(Some(ReviewStatus::Reviewed), sort), [1, 3]);
            assert_eq!(numbers(Some(ReviewStatus::NotReviewed), sort), [0, 2]);
        }
    }

    fn in_parts(study: &Study, listing: &InstanceListOptions, n: usize) -> InstancePage {
        let lister = study.instance_lister(listing).unwrap();
        let parts = lister.split_queries_into_balanced_parts(n);
        assert!(parts.len() > 1);
        let counted: Vec<_> = parts
            .into_iter()
            .map(|it| lister.build_margin_histogram(it))
            .collect();
        lister.select_page(&counted)
    }

    #[test]
    fn pages_in_any_parts_add_up_to_the_whole_list() {
        let words = ["river", "bank", "mud", "tide"];
        let text = |at: usize| {
            let n = 1 + at % 5;
            let words = (0..n).map(|it| words[(at / 3 + it * it) % 4]);
            words.collect::<Vec<_>>().join(" ")
        };
        let texts: Vec<String> = (0..24).map(text).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let queries = ["river bank", "mud", "tide river mud", "bank tide", "none"];
        let mut study = fixture::study_with_queries(&queries, &texts, 30);
        // A ranker with some missing scores and with ties.
        let mut ranker = study.scores[0].ranker.clone();
        ranker.fingerprint = "holes".to_owned();
        let values = (0..study.pairs.len()).map(|at| match at % 7 {
            0 => None,
            it => Some((it % 3) as f64),
        });
        let holes =
            crate::score::RankerQueryDocumentScores::new(ranker, values.collect(), &study.pairs);
        study.upsert_scores_by_fingerprint(holes.unwrap()).unwrap();
        for ranker in ["bm25", "2"] {
            for sort in [
                InstanceSort::MostInstructive,
                InstanceSort::Query,
                InstanceSort::MarginAscending,
                InstanceSort::MarginDescending,
                InstanceSort::AbsoluteMargin,
            ] {
                for outcome in [
                    None,
                    Some(VerdictOutcome::Satisfied),
                    Some(VerdictOutcome::Tied),
                ] {
                    let listing = InstanceListOptions {
                        ranker: ranker.to_owned(),
                        outcome,
                        sort,
                        ..first_five()
                    };
                    let expected = whole(&study, &listing);
                    let mut found = Vec::new();
                    for offset in (0..expected.len() as u64 + 5).step_by(5) {
                        let listing = InstanceListOptions {
                            offset,
                            ..listing.clone()
                        };
                        let page = study.list_instances(&listing).unwrap();
                        assert_eq!(page.n_instances, expected.len() as u64);
                        for n_parts in [2, 3, 9] {
                            assert_eq!(in_parts(&study, &listing, n_parts), page);
                        }
                        found.extend(page.rows.iter().map(|it| (it.number, it.margin)));
                    }
                    assert_eq!(found, expected, "{ranker} {sort:?} {outcome:?}");
                }
            }
        }
    }

    fn first_five() -> InstanceListOptions {
        InstanceListOptions {
            controls: StudyPageControls::default(),
            probe: Probe::Axiom(Axiom::Tfc1),
            ranker: "0".to_owned(),
            outcome: None,
            query_filter: String::new(),
            min_margin: None,
            max_margin: None,
            review_status: None,
            sort: InstanceSort::Query,
            offset: 0,
            limit: 5,
        }
    }

    #[test]
    fn a_histogram_has_an_edge_at_zero_and_leaves_ties_out() {
        let study =
            fixture::study_with_one_query("river bank", &["river bank", "river", "bank mud"], 30);
        let page = study.list_instances(&first_five()).unwrap();
        let MarginHistogram {
            lower_edge: from,
            bin_width: width,
            counts,
            n_tied,
        } = page.histogram;
        assert_eq!(counts.iter().sum::<u64>() + n_tied, page.n_instances);
        assert!((from / width - libm::round(from / width)).abs() < 1e-9);
    }
}
