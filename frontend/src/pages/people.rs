//! People and invitations.

mod board;
mod invite;
mod rows;

use leptos::prelude::*;
use shared::api::people::Who;

use crate::pages::review::gate::ForCurators;
use crate::widgets::error::Failed;
use board::{ActionNotice, Board};
use invite::Inviting;
pub(crate) use rows::minute;
use rows::{Invitations, Persons};

/// The page.
#[component]
pub(crate) fn People() -> impl IntoView {
    let shown = |who: Who| view! { <Shown who/> }.into_any();
    view! { <ForCurators heading="People" why="Curators see who takes part." shown/> }
}

#[component]
fn Shown(who: Who) -> impl IntoView {
    let board = Board::new(who);
    board.ask();
    let retry = Callback::new(move |()| board.ask());
    let told = move || board.told.get().map(|told| view! { <Done board told/> });
    let waits = move || board.everybody.with(Option::is_none) && board.failed.with(Option::is_none);
    view! {
        <h1>"People"</h1>
        <p class="lead">"Who takes part here, and who is invited to."</p>
        <Failed error=board.failed retry/>
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
fn Done(board: Board, told: ActionNotice) -> impl IntoView {
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
