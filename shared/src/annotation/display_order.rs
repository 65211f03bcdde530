//! The order of the documents on an annotator's screen.

use rand_core::RngCore;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{AnnotatorAnswer, ItemNo, PersonId, seeded_random};
use crate::probe::ScoreClaimKind;

/// The order in which the documents of an instance are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DocumentDisplayOrder {
    /// In the order of the claim, the first document on the left.
    #[serde(alias = "as-claimed")]
    ClaimOrder,
    /// The second document on the left.
    Swapped,
}

impl DocumentDisplayOrder {
    /// Returns the order for a person and an item: each order with probability one half, always the
    /// same for the same arguments. Three documents are always in the order of the claim, since the
    /// steps between them have a direction.
    pub fn for_person(
        seed: u64,
        person: PersonId,
        item: ItemNo,
        claim: ScoreClaimKind,
    ) -> DocumentDisplayOrder {
        let what = format!("sides\n{}\n{}", person.0, item.0);
        let turn = claim.arity() == 2
            && seeded_random::seeded_generator(seed, &what).next_u64() >> 63 == 1;
        if turn {
            DocumentDisplayOrder::Swapped
        } else {
            DocumentDisplayOrder::ClaimOrder
        }
    }

    /// Returns the name of the display order in exported files.
    pub fn name(self) -> &'static str {
        match self {
            DocumentDisplayOrder::ClaimOrder => "claim-order",
            DocumentDisplayOrder::Swapped => "swapped",
        }
    }

    /// Converts an answer about the screen (first is left) to one about the claim, or back.
    pub fn convert_answer_order(self, answer: AnnotatorAnswer) -> AnnotatorAnswer {
        match (self, answer) {
            (DocumentDisplayOrder::Swapped, AnnotatorAnswer::First) => AnnotatorAnswer::Second,
            (DocumentDisplayOrder::Swapped, AnnotatorAnswer::Second) => AnnotatorAnswer::First,
            (DocumentDisplayOrder::ClaimOrder | DocumentDisplayOrder::Swapped, it) => it,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_items_of_a_person_are_swapped() {
        let sides = |person, claim| {
            (0..2_000).map(move |item| {
                DocumentDisplayOrder::for_person(7, PersonId(person), ItemNo(item), claim)
            })
        };
        let swapped = |person| {
            let sides = sides(person, ScoreClaimKind::Higher);
            sides
                .filter(|it| *it == DocumentDisplayOrder::Swapped)
                .count()
        };
        // 1,000 ± 22 (√(2,000 · ½ · ½)).
        assert!((920..1_080).contains(&swapped(1)));
        assert!(sides(1, ScoreClaimKind::Higher).ne(sides(2, ScoreClaimKind::Higher)));
        assert!(sides(1, ScoreClaimKind::Higher).eq(sides(1, ScoreClaimKind::Different)));
        let mut steps = sides(1, ScoreClaimKind::DiminishingGain);
        assert!(steps.all(|it| it == DocumentDisplayOrder::ClaimOrder));
    }

    #[test]
    fn an_answer_is_about_the_texts_not_the_sides() {
        for &answer in AnnotatorAnswer::ALL {
            let turned = DocumentDisplayOrder::Swapped.convert_answer_order(answer);
            assert_eq!(
                DocumentDisplayOrder::Swapped.convert_answer_order(turned),
                answer
            );
            assert_eq!(
                DocumentDisplayOrder::ClaimOrder.convert_answer_order(answer),
                answer
            );
        }
        assert_eq!(
            DocumentDisplayOrder::Swapped.convert_answer_order(AnnotatorAnswer::First),
            AnnotatorAnswer::Second
        );
        assert_eq!(
            DocumentDisplayOrder::Swapped.convert_answer_order(AnnotatorAnswer::Equal),
            AnnotatorAnswer::Equal
        );
    }
}
