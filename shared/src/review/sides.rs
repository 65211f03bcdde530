//! Which text stands on which side of the screen.

use rand_core::RngCore;
use serde::{Deserialize, Serialize};

use super::{Answer, ItemNo, PersonNo, seeded};
use crate::probe::ClaimKind;

/// How the texts of an instance stand on the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Sides {
    /// In the order of the claim, the first on the left.
    AsClaimed,
    /// The second on the left.
    Swapped,
}

impl Sides {
    /// For a person and an item: each side with probability one half, the same whenever asked.
    /// Three texts always stand as claimed, since the steps between them have a direction.
    pub fn of(seed: u64, person: PersonNo, item: ItemNo, claim: ClaimKind) -> Sides {
        let what = format!("sides\n{}\n{}", person.0, item.0);
        let turn = claim.arity() == 2 && seeded::generator(seed, &what).next_u64() >> 63 == 1;
        if turn {
            Sides::Swapped
        } else {
            Sides::AsClaimed
        }
    }

    /// The name in files.
    pub fn name(self) -> &'static str {
        match self {
            Sides::AsClaimed => "as-claimed",
            Sides::Swapped => "swapped",
        }
    }

    /// From an answer about the screen (first is left) to one about the claim, and back.
    pub fn turn(self, answer: Answer) -> Answer {
        match (self, answer) {
            (Sides::Swapped, Answer::First) => Answer::Second,
            (Sides::Swapped, Answer::Second) => Answer::First,
            (Sides::AsClaimed | Sides::Swapped, it) => it,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_items_of_a_person_are_swapped() {
        let sides = |person, claim| {
            (0..2_000).map(move |item| Sides::of(7, PersonNo(person), ItemNo(item), claim))
        };
        let swapped = |person| {
            let sides = sides(person, ClaimKind::Above);
            sides.filter(|it| *it == Sides::Swapped).count()
        };
        // 1,000 ± 22 (√(2,000 · ½ · ½)).
        assert!((920..1_080).contains(&swapped(1)));
        assert!(sides(1, ClaimKind::Above).ne(sides(2, ClaimKind::Above)));
        assert!(sides(1, ClaimKind::Above).eq(sides(1, ClaimKind::Apart)));
        let mut steps = sides(1, ClaimKind::ShrinkingGain);
        assert!(steps.all(|it| it == Sides::AsClaimed));
    }

    #[test]
    fn an_answer_is_about_the_texts_not_the_sides() {
        for &answer in Answer::ALL {
            let turned = Sides::Swapped.turn(answer);
            assert_eq!(Sides::Swapped.turn(turned), answer);
            assert_eq!(Sides::AsClaimed.turn(answer), answer);
        }
        assert_eq!(Sides::Swapped.turn(Answer::First), Answer::Second);
        assert_eq!(Sides::Swapped.turn(Answer::Equal), Answer::Equal);
    }
}
