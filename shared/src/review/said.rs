//! What people say of an item, and which items a curator should look at.
//!
//! Each person has one vote; who is excluded or in conflict with themselves has none. Who cannot
//! tell has given an answer, but no vote. The preference with the most votes is what people say;
//! if two have the same number, people are *split*, and say nothing until a curator does. An
//! adjudication stands above all votes, and erases none.

use std::cmp::Reverse;

use serde::{Deserialize, Serialize};

use super::event::{Decision, What};
use super::{Answer, ItemNo, Log, Matters, PersonNo, Preference};

/// What was answered about an item, by those who count.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewSaid))]
pub struct Said {
    /// One for each person, by their numbers.
    pub votes: Vec<Vote>,
    /// Who has given answers that contradict each other.
    pub conflicts: Vec<PersonNo>,
    /// What curators made of it, each answer once. More than one is no adjudication yet.
    pub adjudicated: Vec<Answer>,
}

/// What one person says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewVote))]
pub struct Vote {
    /// Who.
    pub person: PersonNo,
    /// What.
    pub answer: Answer,
    /// Whether the axiom's reason matters here, if the person said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matters: Option<Matters>,
}

/// What people say together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewSettled))]
#[serde(rename_all = "kebab-case")]
pub enum Settled {
    /// This.
    Prefers(Preference),
    /// Everybody who answered, or a curator, cannot tell.
    CannotSay,
    /// Two preferences have the most votes.
    Split,
    /// Nobody has answered.
    Open,
}

impl Said {
    /// Of an item, as the log has it.
    pub fn of(log: &Log, item: ItemNo) -> Said {
        let mut said = Said::default();
        for (person, entries) in log.decisions(item) {
            let made = entries.iter().filter_map(|it| match &it.event.what {
                What::Decided(it) => Some(it),
                _ => None,
            });
            let made: Vec<&Decision> = made.collect();
            let Some(last) = made.last().filter(|_| !log.is_excluded(person)) else {
                continue;
            };
            if made.iter().any(|it| it.answer != last.answer) {
                said.conflicts.push(person);
                continue;
            }
            said.votes.push(Vote {
                person,
                answer: last.answer,
                matters: last.comment.matters,
            });
        }
        let adjudications = log.adjudications(item);
        said.adjudicated = adjudications
            .iter()
            .filter_map(|it| it.event.what.answer())
            .collect();
        said.adjudicated.sort_unstable();
        said.adjudicated.dedup();
        said
    }

    /// What people say together, or a curator for them.
    pub fn settled(&self) -> Settled {
        match self.adjudicated[..] {
            [answer] => answer
                .preference()
                .map_or(Settled::CannotSay, Settled::Prefers),
            _ => settle(self.votes.iter().map(|it| (it.answer, 1))),
        }
    }

    /// The share of votes that are not for the preference with the most, 0 to 1; 0 without votes.
    pub fn dissent(&self) -> f64 {
        let votes = tally(self.votes.iter().map(|it| (it.answer, 1)));
        let all: u32 = votes.iter().sum();
        let most = votes.iter().max().copied().unwrap_or_default();
        if all == 0 {
            return 0.0;
        }
        f64::from(all - most) / f64::from(all)
    }
}

/// What answers come to that count so many times each.
pub(super) fn settle(answers: impl Iterator<Item = (Answer, u32)> + Clone) -> Settled {
    let votes = tally(answers.clone());
    let most = votes.iter().max().copied().unwrap_or_default();
    let mut first = Preference::ALL.iter().zip(votes).filter(|it| it.1 == most);
    match (most, first.next(), first.next()) {
        (1.., Some((&preference, _)), None) => Settled::Prefers(preference),
        (1.., ..) => Settled::Split,
        _ if answers.map(|it| it.1).sum::<u32>() > 0 => Settled::CannotSay,
        _ => Settled::Open,
    }
}

/// Votes for each of [`Preference::ALL`].
fn tally(answers: impl Iterator<Item = (Answer, u32)>) -> [u32; 3] {
    let mut votes = [0; 3];
    for (answer, times) in answers {
        if let Some(preference) = answer.preference() {
            votes[preference as usize] += times;
        }
    }
    votes
}

/// An item that a curator should look at.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewDispute))]
pub struct Dispute {
    /// Which.
    pub item: ItemNo,
    /// The first reason of [`Reason`] that there is.
    pub reason: Reason,
    /// [`Said::dissent`].
    pub dissent: f64,
    /// Votes that it has.
    pub n_votes: u32,
}

/// Why a curator should look at an item, the most pressing first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewReason))]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// Two adjudications that did not know of each other say different things.
    Adjudications,
    /// Somebody has given two answers that did not know of each other.
    Conflict,
    /// Two preferences have the most votes.
    Split,
    /// Somebody was outvoted.
    Outvoted,
    /// Everybody who answered, at least two, cannot tell.
    CannotSay,
    /// Somebody reported it.
    Reported,
}

/// The adjudication queue: disagreements first, the most divided first, then by place. An item
/// that is adjudicated is out of it.
pub fn disputes(log: &Log, items: impl IntoIterator<Item = ItemNo>) -> Vec<Dispute> {
    let found = items.into_iter().filter_map(|item| {
        let said = Said::of(log, item);
        Some(Dispute {
            item,
            reason: reason(log, item, &said)?,
            dissent: said.dissent(),
            n_votes: said.votes.len() as u32,
        })
    });
    let mut found: Vec<Dispute> = found.collect();
    // Shares compare as their bits do, since none is negative.
    found.sort_by_key(|it| (it.reason, Reverse(it.dissent.to_bits()), it.item));
    found
}

fn reason(log: &Log, item: ItemNo, said: &Said) -> Option<Reason> {
    match said.adjudicated.len() {
        0 => {}
        1 => return None,
        _ => return Some(Reason::Adjudications),
    }
    if !said.conflicts.is_empty() {
        return Some(Reason::Conflict);
    }
    match said.settled() {
        Settled::Split => Some(Reason::Split),
        Settled::Prefers(_) if said.dissent() > 0.0 => Some(Reason::Outvoted),
        Settled::CannotSay if said.votes.len() > 1 => Some(Reason::CannotSay),
        Settled::Prefers(_) | Settled::CannotSay | Settled::Open => {
            (!log.reports(item).is_empty()).then_some(Reason::Reported)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::event::{Adjudication, Standing};
    use super::super::fixture::{decided, entries, entry};
    use super::*;

    use Answer::{CannotSay, Equal, First, Second};

    fn settled(answers: &[Answer]) -> Settled {
        settle(answers.iter().map(|&it| (it, 1)))
    }

    #[test]
    fn most_votes_decide_and_a_tie_does_not() {
        assert_eq!(settled(&[]), Settled::Open);
        assert_eq!(settled(&[First]), Settled::Prefers(Preference::First));
        assert_eq!(
            settled(&[First, Second, Second]),
            Settled::Prefers(Preference::Second)
        );
        assert_eq!(settled(&[First, Second]), Settled::Split);
        assert_eq!(settled(&[First, Equal, Second]), Settled::Split);
        assert_eq!(
            settled(&[Equal, Equal, First]),
            Settled::Prefers(Preference::Equal)
        );
        assert_eq!(settled(&[CannotSay, CannotSay]), Settled::CannotSay);
        assert_eq!(
            settled(&[CannotSay, CannotSay, First]),
            Settled::Prefers(Preference::First)
        );
    }

    #[test]
    fn an_adjudication_stands_above_the_votes() {
        let mut all = entries(&[(1, 0, First), (2, 0, First), (3, 0, Second)]);
        let said = Said::of(&Log::of(all.clone()), ItemNo(0));
        assert_eq!(said.settled(), Settled::Prefers(Preference::First));
        let adjudicated = |number, answer| {
            let what = What::Adjudicated(Adjudication {
                item: ItemNo(0),
                answer,
                note: String::new(),
                replaces: Vec::new(),
            });
            entry(number, 9, what)
        };
        all.push(adjudicated(10, Equal));
        let said = Said::of(&Log::of(all.clone()), ItemNo(0));
        assert_eq!(said.settled(), Settled::Prefers(Preference::Equal));
        assert_eq!(said.votes.len(), 3);
        // Two that contradict each other settle nothing.
        all.push(adjudicated(11, First));
        let log = Log::of(all);
        let said = Said::of(&log, ItemNo(0));
        assert_eq!(said.adjudicated, [First, Equal]);
        assert_eq!(said.settled(), Settled::Prefers(Preference::First));
        assert_eq!(disputes(&log, [ItemNo(0)])[0].reason, Reason::Adjudications);
    }

    #[test]
    fn who_is_excluded_or_in_conflict_has_no_vote() {
        let mut all = entries(&[(1, 0, First), (2, 0, Second), (1, 0, Equal), (3, 0, Second)]);
        let said = Said::of(&Log::of(all.clone()), ItemNo(0));
        assert_eq!(said.conflicts, [PersonNo(1)]);
        assert_eq!(said.votes.len(), 2);
        let person = PersonNo(2);
        let reason = String::new();
        all.push(entry(9, 9, What::Excluded(Standing { person, reason })));
        let said = Said::of(&Log::of(all), ItemNo(0));
        assert_eq!(
            said.votes.iter().map(|it| it.person).collect::<Vec<_>>(),
            [PersonNo(3)]
        );
        // The same answer twice is one vote.
        let twice = [
            entry(1, 1, decided(0, First, &[])),
            entry(2, 1, decided(0, First, &[])),
        ];
        assert_eq!(Said::of(&Log::of(twice), ItemNo(0)).votes.len(), 1);
    }

    #[test]
    fn disagreements_come_first() {
        let all = entries(&[
            (1, 0, First),
            (2, 0, First),
            (1, 1, First),
            (2, 1, First),
            (3, 1, Second),
            (1, 2, First),
            (2, 2, Second),
            (1, 3, CannotSay),
            (2, 3, CannotSay),
            (1, 4, First),
            (1, 4, Second),
            (1, 5, First),
            (2, 5, Equal),
            (3, 5, Second),
        ]);
        let found = disputes(&Log::of(all), (0..7).map(ItemNo));
        let found: Vec<(u32, Reason)> = found.iter().map(|it| (it.item.0, it.reason)).collect();
        assert_eq!(
            found,
            [
                (4, Reason::Conflict),
                (5, Reason::Split),
                (2, Reason::Split),
                (1, Reason::Outvoted),
                (3, Reason::CannotSay)
            ]
        );
    }
}
