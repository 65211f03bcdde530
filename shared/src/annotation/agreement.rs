//! Agreement between the annotators of a task: overall, by probe, by pair and by annotator.
//!
//! Only votes on sampled items count ([`super::judgments`]). Training and gold items, excluded
//! annotators and conflicting answers are left out, and `cannot say` is not a rating. The
//! categories are the three preferences, in the order first, equal, second for the ordinal α. The
//! bootstrap draws queries.
//!
//! These values describe the items that annotators saw; they are not weighted by 1/π.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::task::{AnnotationItem, AnnotationItemRole};
use super::{AnnotationLog, ItemAnswers, ItemNo, PersonId};
use crate::probe::Probe;
use crate::stats::agreement::{self, AgreementCoefficient, ItemRatings, RatingScaleLevel};

/// The agreement between the annotators of a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct InterAnnotatorAgreementReport {
    /// Over all sampled items.
    pub overall: AgreementCoefficients,
    /// For the items of each probe, in the order of the probes.
    pub by_probe: Vec<ProbeAnnotatorAgreement>,
    /// For each pair of annotators who decided on the same items, ascending.
    pub by_pair: Vec<AnnotatorPairAgreement>,
    /// For each annotator with a vote, ascending.
    pub by_annotator: Vec<AgreementWithOtherAnnotators>,
}

/// The agreement coefficients of a set of items. Each is `None` where it is undefined.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AgreementCoefficients {
    /// Raw agreement: the mean share of pairs of annotators who gave the same answer.
    pub observed: Option<AgreementCoefficient>,
    /// Fleiss' κ.
    pub fleiss_kappa: Option<AgreementCoefficient>,
    /// Krippendorff's α, nominal: any two different answers are equally far apart.
    pub krippendorff_alpha: Option<AgreementCoefficient>,
    /// Krippendorff's α, ordinal: *equal* lies between the other two answers.
    pub krippendorff_alpha_ordinal: Option<AgreementCoefficient>,
}

/// Agreement on the items of one probe.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ProbeAnnotatorAgreement {
    /// The probe.
    pub probe: Probe,
    /// The coefficients over its items.
    pub coefficients: AgreementCoefficients,
}

/// The agreement of two annotators on the items that both decided on.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AnnotatorPairAgreement {
    /// The two annotators.
    pub people: [PersonId; 2],
    /// The share of items on which they agree.
    pub observed: Option<AgreementCoefficient>,
    /// Cohen's κ.
    pub cohen_kappa: Option<AgreementCoefficient>,
}

/// The agreement of one annotator with all others.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AgreementWithOtherAnnotators {
    /// The annotator.
    pub person: PersonId,
    /// The number of their votes on sampled items.
    pub n_votes: u64,
    /// The mean share of the other annotators of an item who gave the same answer.
    pub mean_agreement: Option<AgreementCoefficient>,
    /// α without this annotator. If it is above the overall α, the annotator lowers agreement.
    pub alpha_without_annotator: Option<AgreementCoefficient>,
}

/// Computes all agreement values from the items of a task and its log.
pub fn measure_annotator_agreement(
    items: &[AnnotationItem],
    log: &AnnotationLog,
) -> InterAnnotatorAgreementReport {
    let votes = Votes::new(items, log);
    let rated = votes.rated(|_| true, None);
    let probes: BTreeSet<Probe> = votes.rows.iter().map(|it| it.probe).collect();
    let of_probe = |probe: Probe| ProbeAnnotatorAgreement {
        probe,
        coefficients: coefficients(&votes.rated(|it| it.probe == probe, None)),
    };
    let people = &votes.people;
    let pairs = (0..people.len()).flat_map(|a| (a + 1..people.len()).map(move |b| [a, b]));
    let pairs = pairs.filter_map(|[a, b]| {
        let both = |it: &Row| it.ratings[a].is_some() && it.ratings[b].is_some();
        let of_both = votes.rated(both, Some([a, b]));
        let raw = agreement::mean_pairwise_agreement(&of_both)?;
        Some(AnnotatorPairAgreement {
            people: [people[a], people[b]],
            observed: Some(raw),
            cohen_kappa: agreement::cohen_kappa(&of_both, [0, 1]),
        })
    });
    InterAnnotatorAgreementReport {
        overall: coefficients(&rated),
        by_probe: probes.into_iter().map(of_probe).collect(),
        by_pair: pairs.collect(),
        by_annotator: (0..people.len()).map(|at| votes.of_person(at)).collect(),
    }
}

/// Returns [`InterAnnotatorAgreementReport::overall`] without computing the values of each
/// annotator.
pub fn overall_agreement_coefficients(
    items: &[AnnotationItem],
    log: &AnnotationLog,
) -> AgreementCoefficients {
    coefficients(&Votes::new(items, log).rated(|_| true, None))
}

fn coefficients(rated: &[ItemRatings]) -> AgreementCoefficients {
    AgreementCoefficients {
        observed: agreement::mean_pairwise_agreement(rated),
        fleiss_kappa: agreement::fleiss_kappa(rated),
        krippendorff_alpha: agreement::krippendorff_alpha(rated, RatingScaleLevel::Nominal),
        krippendorff_alpha_ordinal: agreement::krippendorff_alpha(rated, RatingScaleLevel::Ordinal),
    }
}

/// The votes on sampled items.
struct Votes {
    /// The annotators with a vote, ascending.
    people: Vec<PersonId>,
    rows: Vec<Row>,
}

struct Row {
    probe: Probe,
    query: u32,
    /// One rating for each annotator.
    ratings: Vec<Option<u8>>,
}

impl Votes {
    fn new(items: &[AnnotationItem], log: &AnnotationLog) -> Votes {
        let drawn = items.iter().zip((0..).map(ItemNo));
        let drawn = drawn.filter(|it| matches!(it.0.role, AnnotationItemRole::Sampled { .. }));
        let voted: Vec<(&AnnotationItem, BTreeMap<PersonId, u8>)> = drawn
            .map(|(item, number)| {
                let votes = ItemAnswers::from_log(log, number).votes.into_iter();
                let rated = |it: super::judgments::AnnotatorVote| {
                    Some((it.person, it.answer.preference()? as u8))
                };
                (item, votes.filter_map(rated).collect())
            })
            .collect();
        let people: BTreeSet<PersonId> = voted.iter().flat_map(|it| it.1.keys().copied()).collect();
        let people: Vec<PersonId> = people.into_iter().collect();
        let rows = voted.iter().map(|(item, votes)| Row {
            probe: item.instance.probe,
            query: item.query,
            ratings: people.iter().map(|it| votes.get(it).copied()).collect(),
        });
        Votes {
            rows: rows.collect(),
            people,
        }
    }

    /// Returns the rows that `is_included` accepts, with the ratings of all annotators or of two.
    fn rated(
        &self,
        is_included: impl Fn(&Row) -> bool,
        of: Option<[usize; 2]>,
    ) -> Vec<ItemRatings> {
        let rows = self.rows.iter().filter(|it| is_included(it));
        rows.map(|it| ItemRatings {
            group: it.query,
            ratings: match of {
                Some([a, b]) => vec![it.ratings[a], it.ratings[b]],
                None => it.ratings.clone(),
            },
        })
        .collect()
    }

    fn of_person(&self, at: usize) -> AgreementWithOtherAnnotators {
        let mut without = self.rated(|_| true, None);
        let mut with = Vec::new();
        for rated in &mut without {
            let Some(own) = rated.ratings[at].take() else {
                continue;
            };
            let others = rated.ratings.iter().flatten();
            with.push((
                rated.group,
                others.map(|it| *it == own).collect::<Vec<bool>>(),
            ));
        }
        AgreementWithOtherAnnotators {
            person: self.people[at],
            n_votes: with.len() as u64,
            mean_agreement: agreement::rater_agreement_with_others(&with),
            alpha_without_annotator: agreement::krippendorff_alpha(
                &without,
                RatingScaleLevel::Nominal,
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::event::{AnnotationEventAction, AnnotatorExclusionChange};
    use super::super::fixture::{
        log_entries_of_answers, log_entry_at_second, sampled_annotation_items, tfc1_annotation_item,
    };
    use super::super::{AnnotatorAnswer, log::AnnotationEventValidity};
    use super::*;
    use crate::probe::Axiom;

    use AnnotatorAnswer::{CannotSay, Equal, First, Second};

    fn items() -> Vec<AnnotationItem> {
        let mut items = sampled_annotation_items(6);
        items.push(tfc1_annotation_item(
            6,
            6,
            AnnotationItemRole::Gold { answer: First },
        ));
        items[5].instance.probe = Probe::Axiom(Axiom::Lnc1);
        items
    }

    /// On items 0 to 4 annotators 1 and 2 agree on three of four; annotator 3 has two votes.
    fn votes() -> Vec<(u32, u32, AnnotatorAnswer)> {
        vec![
            (1, 0, First),
            (1, 1, First),
            (1, 2, Second),
            (1, 3, Equal),
            (1, 4, CannotSay),
            (2, 0, First),
            (2, 1, Second),
            (2, 2, Second),
            (2, 3, Equal),
            (2, 4, First),
            (3, 0, First),
            (3, 1, Second),
            (1, 5, First),
            (2, 5, First),
            (1, 6, First),
            (2, 6, Second),
        ]
    }

    #[test]
    fn agreement_is_that_of_the_votes_on_drawn_items() {
        let found = measure_annotator_agreement(
            &items(),
            &AnnotationLog::from_entries(log_entries_of_answers(&votes())),
        );
        // Shares of equal pairs: 1, 1/3, 1, 1, and 1 for the item of the other probe.
        let raw = found.overall.observed.unwrap();
        assert!((raw.estimate.value - (4.0 + 1.0 / 3.0) / 5.0).abs() < 1e-12);
        assert_eq!(raw.n_items, 5);
        // As computed by the Python package `krippendorff` 0.9.
        let alpha = found.overall.krippendorff_alpha.unwrap().estimate.value;
        assert!((alpha - 0.75).abs() < 1e-12, "{alpha}");
        let ordinal = found
            .overall
            .krippendorff_alpha_ordinal
            .unwrap()
            .estimate
            .value;
        assert!((ordinal - 0.625_694_444_444).abs() < 1e-9, "{ordinal}");
        assert_eq!(found.by_probe.len(), 2);
        assert_eq!(found.by_probe[1].probe, Probe::Axiom(Axiom::Lnc1));
        assert_eq!(found.by_probe[1].coefficients.krippendorff_alpha, None);
        let [one_two, one_three, two_three] = &found.by_pair[..] else {
            panic!("{:?}", found.by_pair)
        };
        assert_eq!(one_two.observed.unwrap().estimate.value, 0.8);
        // p_o = .8; over five items annotator 1 uses 3, 1, 1 and annotator 2 uses 2, 1, 2: p_e =
        // 9/25.
        let kappa = one_two.cohen_kappa.unwrap().estimate.value;
        assert!((kappa - (0.8 - 0.36) / (1.0 - 0.36)).abs() < 1e-12);
        assert_eq!(one_three.observed.unwrap().estimate.value, 0.5);
        assert_eq!(two_three.observed.unwrap().estimate.value, 1.0);
        let [one, _, three] = &found.by_annotator[..] else {
            panic!("{:?}", found.by_annotator)
        };
        // Agreement with the others on the five items: 1, 0, 1, 1, 1.
        assert_eq!(one.mean_agreement.unwrap().estimate.value, 0.8);
        assert_eq!((one.n_votes, three.n_votes), (5, 2));
        // 1/2 on item 1 and 1 on item 0.
        assert_eq!(three.mean_agreement.unwrap().estimate.value, 0.75);
    }

    #[test]
    fn who_is_excluded_is_left_out() {
        let mut all = log_entries_of_answers(&votes());
        let person = PersonId(3);
        let reason = String::new();
        all.push(log_entry_at_second(
            99,
            9,
            AnnotationEventAction::Excluded(AnnotatorExclusionChange { person, reason }),
        ));
        let log = AnnotationLog::from_entries(all.clone());
        assert_eq!(
            log.current_event_status(&all[10]),
            AnnotationEventValidity::Excluded
        );
        let found = measure_annotator_agreement(&items(), &log);
        assert_eq!(found.by_annotator.len(), 2);
        assert_eq!(found.overall.observed.unwrap().estimate.value, 0.8);
        let none = measure_annotator_agreement(&items(), &AnnotationLog::default());
        assert_eq!((none.overall.observed, none.by_pair.len()), (None, 0));
    }
}
