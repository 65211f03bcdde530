//! Makes invitations; the link of one is shown once.

use leptos::prelude::*;
use shared::api::people::{Invite, LONGEST_INVITATION_H, NewInvitation, Role, Somebody};
use shared::review::PersonNo;

use super::Board;
use crate::api::{self, Error};
use crate::page::Page;
use crate::widgets::clipboard;
use crate::widgets::error::Failure;

/// How long an invitation holds unless somebody says otherwise: a week.
const USUAL_H: u32 = 168;

/// A link and whom it is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NewLink {
    /// The whole address.
    href: String,
    /// In a sentence.
    whom: String,
}

/// The form, and the link once it is made.
#[component]
pub(super) fn Inviting(board: Board) -> impl IntoView {
    let roles: Vec<Role> = {
        let all = Role::ALL.iter().copied();
        all.filter(|it| board.may(*it)).collect()
    };
    let first = roles.first().copied().unwrap_or(Role::Annotator);
    let role = RwSignal::new(first);
    let person = RwSignal::new(None::<PersonNo>);
    let hours = RwSignal::new(USUAL_H.to_string());
    let note = RwSignal::new(String::new());
    let failed = RwSignal::new(None::<Error>);
    let read = Memo::new(move |_| read_hours(&hours.get()));
    let send = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        let Ok(hours) = read.get_untracked() else {
            return;
        };
        let asked = Invite {
            role: role.get_untracked(),
            hours,
            person: person.get_untracked(),
            note: note.get_untracked(),
        };
        let done = move || note.set(String::new());
        make(board, asked, failed, done);
    };
    let options = move || {
        let options = roles.iter().map(|it| {
            let selected = *it == first;
            view! { <option value=it.name() selected=selected>{it.name()}</option> }
        });
        options.collect_view()
    };
    let people = move || {
        let everybody = board.everybody.get().unwrap_or_default();
        let people = everybody.people.into_iter().filter(|it| board.may(it.role));
        people
            .map(|it| {
                let name = format!("{} ({})", it.person.name, it.role.name());
                let selected = person.get_untracked() == Some(it.person.no);
                view! { <option value=it.person.no.0.to_string() selected=selected>{name}</option> }
            })
            .collect_view()
    };
    let wrong = move || {
        read.get()
            .err()
            .map(|it| view! { <span class="verdict bad">{it}</span> })
    };
    let failure = move || failed.get().map(|error| view! { <Failure error/> });
    view! {
        <section class="section" aria-labelledby="invite">
            <header>
                <h2 id="invite">"Invite somebody"</h2>
                <p class="note">
                    "The link works once. Who opens it chooses a name, and a password if they want
                    to come back on another device."
                </p>
            </header>
            <form class="form inviting" on:submit=send>
                <label class="field">
                    <span class="label">"Who"</span>
                    <select on:change:target=move |event| {
                        person.set(event.target().value().parse().ok().map(PersonNo));
                    }>
                        <option value="">"somebody new"</option>
                        {people}
                    </select>
                </label>
                <Show when=move || person.get().is_none()>
                    <label class="field">
                        <span class="label">"As"</span>
                        <select on:change:target=move |event| {
                            let word = event.target().value();
                            let found = Role::ALL.iter().find(|it| it.name() == word);
                            role.set(found.copied().unwrap_or(first));
                        }>{options.clone()}</select>
                    </label>
                </Show>
                <label class="field" class:error=move || read.get().is_err()>
                    <span class="label">"Hours it holds"</span>
                    <input
                        inputmode="numeric"
                        autocomplete="off"
                        aria-describedby="wrong-hours"
                        aria-invalid=move || read.get().is_err().then_some("true")
                        prop:value=move || hours.get()
                        on:input:target=move |event| hours.set(event.target().value())
                    />
                    <span id="wrong-hours" class="wrong">{wrong}</span>
                </label>
                <label class="field">
                    <span class="label">"Note, for curators only"</span>
                    <input
                        autocomplete="off"
                        placeholder="whom it is for"
                        prop:value=move || note.get()
                        on:input:target=move |event| note.set(event.target().value())
                    />
                </label>
                <div class="btns">
                    <button class="btn main" type="submit" disabled=move || board.busy.get()>
                        "Make the link"
                    </button>
                </div>
            </form>
            {failure}
            <div role="status">
                {move || board.link.get().map(|link| view! { <Link board link/> })}
            </div>
        </section>
    }
}

/// Between 1 and the longest.
fn read_hours(text: &str) -> Result<u32, String> {
    let hours = text.trim().parse::<u32>().ok();
    let hours = hours.filter(|it| (1..=LONGEST_INVITATION_H).contains(it));
    hours.ok_or_else(|| format!("must be a whole number from 1 to {LONGEST_INVITATION_H}"))
}

/// Makes an invitation that lets somebody in again.
pub(super) fn let_in_again(board: Board, whom: &Somebody) {
    let asked = Invite {
        role: whom.role,
        hours: USUAL_H,
        person: Some(whom.person.no),
        note: String::new(),
    };
    make(board, asked, board.failed, || {});
}

fn make(board: Board, asked: Invite, failed: RwSignal<Option<Error>>, done: impl Fn() + 'static) {
    if board.busy.get_untracked() {
        return;
    }
    board.busy.set(true);
    leptos::task::spawn_local(async move {
        let made = api::call(&asked).await;
        // The reader may be on another page by now.
        if board.busy.try_set(false).is_some() {
            return;
        }
        match made {
            Ok(made) => {
                failed.set(None);
                done();
                board.told.set(None);
                board.link.set(Some(link_of(board, made)));
                board.ask();
            }
            Err(error) => failed.set(Some(error)),
        }
    });
}

fn link_of(board: Board, made: NewInvitation) -> NewLink {
    let origin = window().location().origin().unwrap_or_default();
    let everybody = board.everybody.get_untracked().unwrap_or_default();
    let named = everybody.people.into_iter();
    let mut named = named.filter(|it| Some(it.person.no) == made.invited.person);
    let whom = match named.next() {
        Some(it) => format!("lets {} in again", it.person.name),
        None => format!("invites one {}", made.invited.role.name()),
    };
    NewLink {
        href: format!("{origin}{}#{}", Page::Join.href(), made.token),
        whom,
    }
}

/// A link that is shown once.
#[component]
fn Link(board: Board, link: NewLink) -> impl IntoView {
    let copied = RwSignal::new(None::<&'static str>);
    let href = link.href.clone();
    let copy = move |_| {
        let href = href.clone();
        leptos::task::spawn_local(async move {
            let done = clipboard::copy(&href).await;
            copied.try_set(Some(match done {
                true => "copied",
                false => "select the link and copy it",
            }));
        });
    };
    view! {
        <div class="new-link">
            <p>
                "This link " {link.whom} ". It is shown this once: copy it now, and send it to
                nobody else."
            </p>
            <input
                readonly
                aria-label="Link of the invitation"
                prop:value=link.href
                on:focus:target=|event| event.target().select()
            />
            <div class="btns">
                <button class="btn main" type="button" on:click=copy>"Copy the link"</button>
                <button class="btn" type="button" on:click=move |_| board.link.set(None)>
                    "Done"
                </button>
                <span class="note" role="status">{move || copied.get()}</span>
            </div>
        </div>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_invitation_holds_for_a_while_and_not_for_ever() {
        assert_eq!(read_hours(" 24 "), Ok(24));
        for wrong in ["", "0", "721", "1.5", "-3"] {
            assert!(read_hours(wrong).is_err(), "{wrong}");
        }
    }
}
