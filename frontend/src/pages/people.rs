//! People and invitations.

mod state;
mod qr_code;
mod invite;
mod tables;

use leptos::prelude::*;
use shared::api::people::SessionResponse;

use crate::pages::review::curator_gate::CuratorsOnly;
use crate::widgets::error_message::OptionalErrorMessage;
use invite::InviteForm;
use state::{ActionSuccessNotice, PeoplePageState};
pub(crate) use tables::format_utc_minute;
use tables::{OpenInvitationsTable, PeopleTable};

/// Renders the People page, on which curators manage people and invitations.
#[component]
pub(crate) fn PeoplePage() -> impl IntoView {
    let shown = |who: SessionResponse| view! { <PeopleView who/> }.into_any();
    view! { <CuratorsOnly heading="People" why="Only curators see who takes part." shown/> }
}

#[component]
fn PeopleView(who: SessionResponse) -> impl IntoView {
    let board = PeoplePageState::new(who);
    board.fetch_people();
    let retry = Callback::new(move |()| board.fetch_people());
    let told = move || {
        board
            .notice
            .get()
            .map(|told| view! { <ActionNoticeView board told/> })
    };
    let waits = move || board.people.with(Option::is_none) && board.error.with(Option::is_none);
    view! {
        <h1>"People"</h1>
        <p class="lead">"People on this server, and open invitations."</p>
        <OptionalErrorMessage error=board.error retry/>
        <div class="told-here" role="status">{told}</div>
        <Show when=waits>
            <p class="note">"Loading people"</p>
        </Show>
        <Show when=move || board.people.with(Option::is_some)>
            <InviteForm board/>
            <OpenInvitationsTable board/>
            <PeopleTable board/>
        </Show>
    }
}

/// Renders a notice of an action, with a button that invites the person again if that is possible.
#[component]
fn ActionNoticeView(board: PeoplePageState, told: ActionSuccessNotice) -> impl IntoView {
    let back = told.invitable_person.map(|it| {
        let again = move |_| invite::reinvite_person(board, &it);
        view! {
            <button class="btn" type="button" on:click=again>"Invite again"</button>
        }
    });
    view! {
        <p class="toast">
            <span>{told.text}</span>
            {back}
        </p>
    }
}
