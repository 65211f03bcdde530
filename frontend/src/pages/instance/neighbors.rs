//! The instances before and after an instance in the list from which it was opened.

use shared::api::ListInstancesRequest;
use shared::probe::Probe;
use shared::report::format;
use shared::study::instance_list::{InstancePage, ListedInstance};
use shared::verdict::VerdictOutcome;

use super::super::study::address::{InstanceListView, InstanceView};
use super::InstancePath;
use crate::api;

/// The neighbors of an instance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct InstanceNeighbors {
    /// Whether the list is the one in the address; otherwise it has all instances, in order.
    pub(super) is_in_list: bool,
    /// The outcome that the list is filtered by.
    outcome: Option<VerdictOutcome>,
    /// The number of the instance whose neighbors these are.
    pub(super) number: u64,
    position: u64,
    n_instances: u64,
    /// The position in the list, and the number.
    pub(super) previous: Option<(u64, u64)>,
    /// The position in the list, and the number.
    pub(super) next: Option<(u64, u64)>,
}

impl InstanceNeighbors {
    /// Fetches the part of the list around the instance. If the address names no list, or the list
    /// has changed since, it is the list of all instances, ordered by number.
    pub(super) async fn fetch(
        place: &InstancePath,
        view: &InstanceView,
    ) -> Result<InstanceNeighbors, api::RequestError> {
        if let (Some(ranker), Some(at)) = (&view.ranker, view.position) {
            let page = ask(place, &view.list, ranker, at).await?;
            if let Some(found) = InstanceNeighbors::from_page(&page, at, place.number) {
                return Ok(InstanceNeighbors {
                    is_in_list: true,
                    outcome: view.list.outcome,
                    ..found
                });
            }
        }
        let mut list = InstanceListView::default();
        list.dials.variant = place.mode;
        let page = ask(place, &list, "0", place.number).await?;
        let found = InstanceNeighbors::from_page(&page, place.number, place.number);
        let alone = InstanceNeighbors {
            is_in_list: false,
            outcome: None,
            number: place.number,
            position: place.number,
            n_instances: page.n_instances,
            previous: None,
            next: None,
        };
        Ok(found.unwrap_or(alone))
    }

    /// Finds the neighbors in the part of the list that begins one row before `at`; none if the
    /// instance is not there.
    fn from_page(page: &InstancePage, at: u64, number: u64) -> Option<InstanceNeighbors> {
        let first = at.saturating_sub(1);
        let here = page.rows.iter().position(|it| it.number == number)?;
        let neighbour = |place: Option<usize>| {
            let place = place?;
            let line: &ListedInstance = page.rows.get(place)?;
            Some((first + place as u64, line.number))
        };
        Some(InstanceNeighbors {
            is_in_list: false,
            outcome: None,
            number,
            position: first + here as u64,
            n_instances: page.n_instances,
            previous: neighbour(here.checked_sub(1)),
            next: neighbour(Some(here + 1)),
        })
    }

    /// Returns the position of the instance in its list, as in `violation 417 of 963`.
    pub(super) fn position_text(&self, probe: Probe) -> String {
        let what = match (self.outcome, probe.is_axiom()) {
            (Some(VerdictOutcome::Violated), true) => "violation",
            (Some(VerdictOutcome::Tied), true) => "tie",
            (Some(VerdictOutcome::Satisfied), true) => "satisfied instance",
            (Some(VerdictOutcome::Violated), false) => "negative sample",
            (Some(VerdictOutcome::Tied), false) => "neutral sample",
            (Some(VerdictOutcome::Satisfied), false) => "positive sample",
            (None, _) => instance_or_sample_noun(probe),
        };
        format!(
            "{what} {} of {}",
            format::format_count(self.position + 1),
            format::format_count(self.n_instances)
        )
    }
}

/// Returns the noun for an instance of the probe: an instance or a sample.
pub(super) fn instance_or_sample_noun(probe: Probe) -> &'static str {
    match probe.is_axiom() {
        true => "instance",
        false => "sample",
    }
}

/// Like [`instance_or_sample_noun`], with its article.
pub(super) fn instance_or_sample_with_article(probe: Probe) -> &'static str {
    match probe.is_axiom() {
        true => "an instance",
        false => "a sample",
    }
}

async fn ask(
    place: &InstancePath,
    list: &InstanceListView,
    ranker: &str,
    at: u64,
) -> Result<InstancePage, api::RequestError> {
    let part = at.saturating_sub(1)..at + 2;
    let listing = list.list_request(place.probe, ranker, part);
    api::send_and_parse(&ListInstancesRequest {
        study: place.study.clone(),
        filter: listing,
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::probe::Axiom;
    use shared::study::instance_list::MarginHistogram;

    fn page(numbers: &[u64]) -> InstancePage {
        let line = |number: &u64| ListedInstance {
            number: *number,
            query_id: "q1".to_owned(),
            query: "ice".to_owned(),
            docs: Vec::new(),
            grades: Vec::new(),
            excerpts: Vec::new(),
            outcome: None,
            margin: None,
            is_truncated: false,
        };
        let histogram = MarginHistogram {
            lower_edge: 0.0,
            bin_width: 1.0,
            counts: Vec::new(),
            n_tied: 0,
        };
        InstancePage {
            n_instances: 9,
            rows: numbers.iter().map(line).collect(),
            histogram,
            n_reviewed: 0,
            n_simulated_reviews: 0,
        }
    }

    #[test]
    fn neighbours_are_those_of_the_list_and_not_of_the_numbers() {
        let found = InstanceNeighbors::from_page(&page(&[70, 12, 31]), 5, 12).unwrap();
        assert_eq!(
            (found.position, found.previous, found.next),
            (5, Some((4, 70)), Some((6, 31)))
        );
        assert_eq!(
            found.position_text(Probe::Axiom(Axiom::Tp)),
            "instance 6 of 9"
        );
        let found = InstanceNeighbors {
            outcome: Some(VerdictOutcome::Violated),
            ..found
        };
        assert_eq!(
            found.position_text(Probe::Axiom(Axiom::Tp)),
            "violation 6 of 9"
        );
        let behaviour: Probe = "shuffle-words".parse().unwrap();
        assert_eq!(found.position_text(behaviour), "negative sample 6 of 9");
    }

    #[test]
    fn the_first_has_nothing_before_it() {
        let found = InstanceNeighbors::from_page(&page(&[12, 31]), 0, 12).unwrap();
        assert_eq!(
            (found.position, found.previous, found.next),
            (0, None, Some((1, 31)))
        );
    }

    #[test]
    fn a_list_that_has_changed_is_noticed() {
        assert_eq!(InstanceNeighbors::from_page(&page(&[1, 2, 3]), 1, 12), None);
    }
}
