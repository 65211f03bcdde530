//! The order of the documents on an annotator's screen.

use rand_core::RngCore;
use serde::{Deserialize, Serialize};

use super::{AnnotatorAnswer, ItemNo, PersonId, seeded_random};
use crate::probe::ClaimKind;

/// The order in which the documents of an instance are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum DisplayOrder {
    /// In the order of the claim, the first document on the left.
    #[serde(alias = "as-claimed")]
    ClaimOrder,
    /// The second document on the left.
    Swapped,
}

impl DisplayOrder {
    /// Returns the order for a person and an item: each order with probability one half, always the
    /// same for the same arguments. Three documents are always in the order of the claim, since the
    /// steps between them have a direction.
    pub fn for_person(seed: u64, person: PersonId, item: ItemNo, claim: ClaimKind) -> DisplayOrder {
        let what = format!("sides\n{}\n{}", person.0, item.0);
        let turn =
            claim.arity() == 2 && seeded_random::generator(seed, &what).next_u64() >> 63 == 1;
        if turn {
            DisplayOrder::Swapped
        } else {
            DisplayOrder::ClaimOrder
        }
    }

    /// Returns the name of the display order in exported files.
    pub fn name(self) -> &'static str {
        match self {
            DisplayOrder::ClaimOrder => "claim-order",
            DisplayOrder::Swapped => "swapped",
        }
    }

    /// Converts an answer about the screen (first is left) to one about the claim, or back.
    pub fn map_answer(self, answer: AnnotatorAnswer) -> AnnotatorAnswer {
        match (self, answer) {
            (DisplayOrder::Swapped, AnnotatorAnswer::First) => AnnotatorAnswer::Second,
            (DisplayOrder::Swapped, AnnotatorAnswer::Second) => AnnotatorAnswer::First,
            (DisplayOrder::ClaimOrder | DisplayOrder::Swapped, it) => it,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_items_of_a_person_are_swapped() {
        let sides = |person, claim| {
            (0..2_000)
                .map(move |item| DisplayOrder::for_person(7, PersonId(person), ItemNo(item), claim))
        };
        let swapped = |person| {
            let sides = sides(person, ClaimKind::Higher);
            sides.filter(|it| *it == DisplayOrder::Swapped).count()
        };
        // 1,000 ± 22 (√(2,000 · ½ · ½)).
        assert!((920..1_080).contains(&swapped(1)));
        assert!(sides(1, ClaimKind::Higher).ne(sides(2, ClaimKind::Higher)));
        assert!(sides(1, ClaimKind::Higher).eq(sides(1, ClaimKind::Different)));
        let mut steps = sides(1, ClaimKind::DiminishingGain);
        assert!(steps.all(|it| it == DisplayOrder::ClaimOrder));
    }

    #[test]
    fn an_answer_is_about_the_texts_not_the_sides() {
        for &answer in AnnotatorAnswer::ALL {
            let turned = DisplayOrder::Swapped.map_answer(answer);
            assert_eq!(DisplayOrder::Swapped.map_answer(turned), answer);
            assert_eq!(DisplayOrder::ClaimOrder.map_answer(answer), answer);
        }
        assert_eq!(
            DisplayOrder::Swapped.map_answer(AnnotatorAnswer::First),
            AnnotatorAnswer::Second
        );
        assert_eq!(
            DisplayOrder::Swapped.map_answer(AnnotatorAnswer::Equal),
            AnnotatorAnswer::Equal
        );
    }
}
