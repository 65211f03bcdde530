//! The verdicts on the instances of a list, one query after the other.

use super::InstanceSort;
use super::lister::{InstanceLister, InstanceWithRankerVerdict};
use crate::probe::StudyDocNo;
use crate::study::controls::InstanceSubset;
use crate::text::stopwords;
use crate::verdict::VerdictOutcome;

/// Computes the verdicts on the instances of one query after the other.
pub(super) struct InstanceJudge<'l> {
    lister: &'l InstanceLister<'l>,
    /// Whether relevance and the words of the query are needed.
    by_content: bool,
    /// The position of each document of the study among the pairs of the query.
    places: Vec<u32>,
    /// For each pair of the query, whether the document is relevant.
    relevant: Vec<bool>,
    judged: Vec<InstanceWithRankerVerdict>,
}

/// The place of a document that is not scored.
const UNKNOWN: u32 = u32::MAX;

impl<'l> InstanceJudge<'l> {
    pub(super) fn new(lister: &'l InstanceLister<'l>) -> InstanceJudge<'l> {
        InstanceJudge {
            lister,
            by_content: lister.listing.sort == InstanceSort::MostInstructive,
            places: vec![UNKNOWN; lister.study.study_docs.len()],
            relevant: Vec::new(),
            judged: Vec::new(),
        }
    }

    /// Returns the instances of a query that pass the controls and the filters on queries and the
    /// review status, with their verdicts.
    pub(super) fn judge_query(&mut self, query: usize) -> &[InstanceWithRankerVerdict] {
        self.judged.clear();
        let lister = self.lister;
        let study = lister.study;
        if !lister.may_list_query(query) {
            return &[];
        }
        let subset = lister.listing.controls.subset;
        let range = study.pairs.pair_range_of_query(query);
        let texts = study.pairs.documents_of_query(query);
        for (&text, place) in texts.iter().zip(range.clone()) {
            self.places[text as usize] = place as u32;
        }
        self.relevant.clear();
        if self.by_content || subset == InstanceSubset::WithRelevant {
            let grade =
                |it: &StudyDocNo| study.relevance_grade(query, *it).is_some_and(|it| it >= 1);
            self.relevant.extend(texts.iter().map(grade));
        }
        let content_share = match self.by_content {
            true => stopwords::content_word_share(&study.queries[query].text),
            false => 0.0,
        };
        let first = lister.instances.first_instance_of_query(query) as u64;
        let claims = lister.instances.claims_of_query(query);
        for (number, claim) in (first..).zip(claims) {
            if !lister.filter.has_similar_lengths(lister.instances, claim) {
                continue;
            }
            let places = &self.places;
            let scored = claim.replace_docs_with_scores(|text| match places[text as usize] {
                UNKNOWN => None,
                it => lister.scores.score_at_position(it as usize),
            });
            let has_relevant = !self.relevant.is_empty()
                && claim.has_doc_where(|text| match places[text as usize] {
                    UNKNOWN => false,
                    it => self.relevant[it as usize - range.start],
                });
            self.judged.push(InstanceWithRankerVerdict {
                number,
                query,
                claim,
                verdict: scored.map(|it| it.verdict(lister.tie_width)),
                has_relevant,
                content_value: match self.by_content && has_relevant {
                    true => 2.0 + content_share,
                    false => content_share,
                },
            });
        }
        if self.by_content {
            self.raise_first_of_each_outcome();
        }
        match subset {
            InstanceSubset::All => {}
            InstanceSubset::WithRelevant => self.judged.retain(|it| it.has_relevant),
            InstanceSubset::Untruncated => {
                let places = &self.places;
                self.judged
                    .retain(|it| !lister.is_truncated(it.claim, places));
            }
        }
        for &text in texts {
            self.places[text as usize] = UNKNOWN;
        }
        self.judged
            .retain(|it| lister.has_wanted_review_status(it.number));
        &self.judged
    }

    /// Adds 4 to the content value of the most instructive instance of each outcome.
    fn raise_first_of_each_outcome(&mut self) {
        for &outcome in VerdictOutcome::ALL {
            let of_outcome = self.judged.iter_mut();
            let of_outcome =
                of_outcome.filter(|it| it.verdict.is_some_and(|it| it.outcome == outcome));
            if let Some(first) = of_outcome.min_by_key(|it| self.lister.sort_key(it)) {
                first.content_value += 4.0;
            }
        }
    }
}
