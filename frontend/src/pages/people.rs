//! People and invitations.

mod invite;
mod rows;

use leptos::prelude::*;
use shared::api::people::{Everybody, People as Ask, Revoke, Role, Somebody, Who};

use crate::api::{self, Error};
use crate::pages::review::gate::ForCurators;
use crate::widgets::error::Failure;
use invite::{Inviting, NewLink};
pub(crate) use rows::minute;
use rows::{Invitations, Persons};

/// The page.
#[component]
pub(crate) fn People() -> impl IntoView {
    let shown = |who: Who| view! { <Shown who/> }.into_any();
    view! { <ForCurators heading="People" why="Curators see who takes part." shown/> }
}

/// Everybody as they were told last, and what is being done with them.
#[derive(Clone, Copy)]
struct Board {
    who: StoredValue<Who>,
    everybody: RwSignal<Option<Everybody>>,
    failed: RwSignal<Option<Error>>,
    /// The link that was made last; it is nowhere else.
    link: RwSignal<Option<NewLink>>,
    /// What is asked before it is done.
    asked: RwSignal<Option<Revoke>>,
    /// What was done, for those who hear the page.
    told: RwSignal<Option<Told>>,
    busy: RwSignal<bool>,
}

/// What was done.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Told {
    words: String,
    /// Whom an invitation would let in again.
    back: Option<Somebody>,
}

impl Board {
    fn new(who: Who) -> Board {
        Board {
            who: StoredValue::new(who),
            everybody: RwSignal::new(None),
            failed: RwSignal::new(None),
            link: RwSignal::new(None),
            asked: RwSignal::new(None),
            told: RwSignal::new(None),
            busy: RwSignal::new(false),
        }
    }

    fn ask(self) {
        leptos::task::spawn_local(async move {
            let found = api::call(&Ask {}).await;
            self.take(found);
        });
    }

    fn take(self, found: Result<Everybody, Error>) {
        match found {
            Ok(found) => {
                self.failed.try_set(None);
                self.everybody.try_set(Some(found));
            }
            Err(error) => {
                self.failed.try_set(Some(error));
            }
        }
    }

    /// Turns away a person or takes back an invitation.
    fn revoke(self, what: Revoke) {
        if self.busy.get_untracked() {
            return;
        }
        let told = self.told_of(what);
        self.busy.set(true);
        leptos::task::spawn_local(async move {
            let found = api::call(&what).await;
            // The reader may be on another page by now.
            if self.busy.try_set(false).is_some() {
                return;
            }
            if found.is_ok() {
                self.told.set(Some(told));
            }
            self.asked.set(None);
            self.take(found);
        });
    }

    fn told_of(self, what: Revoke) -> Told {
        match what {
            Revoke::Person { no } => {
                let everybody = self.everybody.get_untracked().unwrap_or_default();
                let mut people = everybody.people.into_iter();
                let back = people.find(|it| it.person.no == no);
                let name = back.as_ref().map(|it| it.person.name.clone());
                let words = format!(
                    "{} was turned away and is signed out everywhere. What they decided stays.",
                    name.unwrap_or_default()
                );
                Told { words, back }
            }
            Revoke::Invitation { .. } => Told {
                words: "The invitation was taken back; its link no longer works.".to_owned(),
                back: None,
            },
        }
    }

    /// Whether the caller may turn somebody away or let them in again.
    fn may(self, role: Role) -> bool {
        self.who.with_value(|it| may_invite(it.role, role))
    }
}

/// Curators invite annotators, operators everybody with a name.
fn may_invite(caller: Role, role: Role) -> bool {
    match caller {
        Role::Operator => role > Role::Visitor,
        Role::Curator => role == Role::Annotator,
        Role::Annotator | Role::Visitor => false,
    }
}

#[component]
fn Shown(who: Who) -> impl IntoView {
    let board = Board::new(who);
    board.ask();
    let failure = move || {
        let retry = Callback::new(move |()| board.ask());
        board
            .failed
            .get()
            .map(|error| view! { <Failure error retry/> })
    };
    let told = move || board.told.get().map(|told| view! { <Done board told/> });
    let waits = move || board.everybody.with(Option::is_none) && board.failed.with(Option::is_none);
    view! {
        <h1>"People"</h1>
        <p class="lead">"Who takes part here, and who is invited to."</p>
        {failure}
        <div class="told-here" role="status">{told}</div>
        <Show when=waits>
            <p class="note">"Asking for everybody"</p>
        </Show>
        <Show when=move || board.everybody.with(Option::is_some)>
            <Inviting board/>
            <Invitations board/>
            <Persons board/>
        </Show>
    }
}

/// What was done, and the way back.
#[component]
fn Done(board: Board, told: Told) -> impl IntoView {
    let back = told.back.map(|it| {
        let again = move |_| invite::let_in_again(board, &it);
        view! {
            <button class="btn" type="button" on:click=again>"Invite them again"</button>
        }
    });
    view! {
        <p class="toast">
            <span>{told.words}</span>
            {back}
        </p>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_invites_above_their_place() {
        let may = |caller| -> Vec<Role> {
            let all = Role::ALL.iter().copied();
            all.filter(|it| may_invite(caller, *it)).collect()
        };
        assert_eq!(may(Role::Annotator), []);
        assert_eq!(may(Role::Curator), [Role::Annotator]);
        let all = [Role::Annotator, Role::Curator, Role::Operator];
        assert_eq!(may(Role::Operator), all);
    }
}
