//! The tables of people with a name, and of open invitations.

use leptos::html;
use leptos::prelude::*;
use shared::annotation::tables::format_epoch_day;
use shared::api::people::{
    PendingInvitation, PersonAccountSummary, RevokePersonOrInvitationRequest,
};
use shared::report::format;

use super::invite;
use super::state::PeoplePageState;
use crate::number_format::format_count_with_noun;
use crate::widgets::section::Section;

const MS_PER_DAY: u64 = 86_400_000;

/// Formats a day in UTC, as in `20 November 2026`.
pub(crate) fn format_long_utc_date(ms: u64) -> String {
    format::spell_out_iso_date(&format_epoch_day(ms / MS_PER_DAY))
}

/// Formats a time in UTC to the minute.
pub(crate) fn format_utc_minute(ms: u64) -> String {
    let minutes = ms % MS_PER_DAY / 60_000;
    format!(
        "{}, {:02}:{:02} UTC",
        format_long_utc_date(ms),
        minutes / 60,
        minutes % 60
    )
}

/// Renders the invitations that can still be used.
#[component]
pub(super) fn OpenInvitationsTable(board: PeoplePageState) -> impl IntoView {
    let rows = move || {
        let everybody = board.people.get().unwrap_or_default();
        let names = everybody.people;
        let rows = everybody.invitations.into_iter().map(|it| {
            let known = names.iter().find(|who| Some(who.person.id) == it.person);
            let whom = known.map(|it| it.person.name.clone());
            view! { <InvitationRow board invited=it whom/> }
        });
        rows.collect_view()
    };
    let none = move || {
        board
            .people
            .with(|it| it.as_ref().is_some_and(|it| it.invitations.is_empty()))
            .then(|| view! { <p class="note">"No open invitations."</p> })
    };
    view! {
        <Section id="invited" name="Open invitations">
            <ul class="held">{rows}</ul>
            {none}
        </Section>
    }
}

#[component]
fn InvitationRow(
    board: PeoplePageState,
    invited: PendingInvitation,
    whom: Option<String>,
) -> impl IntoView {
    let what = RevokePersonOrInvitationRequest::Invitation { id: invited.id };
    let name = match &whom {
        Some(name) => format!("{name} (invited again)"),
        None => format!("New {}", invited.role.name()),
    };
    let label = name.clone();
    let may = board.can_manage_role(invited.role);
    view! {
        <li>
            <div class="told">
                <h3>{name}</h3>
                <p class="facts">
                    <span>"valid until " {format_utc_minute(invited.expires_ms)}</span>
                    {(!invited.note.is_empty())
                        .then(|| view! { <span dir="auto">{invited.note}</span> })}
                </p>
            </div>
            {may.then(|| view! { <ConfirmButton board what word="Withdraw" name=label/> })}
        </li>
    }
}

/// Renders all people, including those who were removed.
#[component]
pub(super) fn PeopleTable(board: PeoplePageState) -> impl IntoView {
    let rows = move || {
        let everybody = board.people.get().unwrap_or_default();
        let rows = everybody.people.into_iter();
        rows.map(|somebody| view! { <PersonRow board somebody/> })
            .collect_view()
    };
    let n = move || {
        let n = board
            .people
            .with(|it| it.as_ref().map_or(0, |it| it.people.len()));
        format_count_with_noun(n as u64, "person", "people")
    };
    let header = move || view! { <p class="note">{n}</p> };
    view! {
        <Section id="everybody" name="People" header>
            <ul class="held">{rows}</ul>
        </Section>
    }
}

#[component]
fn PersonRow(board: PeoplePageState, somebody: PersonAccountSummary) -> impl IntoView {
    let id = somebody.person.id;
    let own = board
        .identity
        .with_value(|it| it.person.as_ref().is_some_and(|it| it.id == id));
    let may = board.can_manage_role(somebody.role);
    let name = somebody.person.name.clone();
    let act = match (own, may && !somebody.is_deleted, somebody.is_revoked) {
        (true, ..) => view! { <span class="note">"you"</span> }.into_any(),
        (_, false, _) => ().into_any(),
        (_, true, true) => {
            let whom = somebody.clone();
            let again = move |_| invite::reinvite_person(board, &whom);
            view! {
                <div class="act">
                    <button class="btn" type="button" on:click=again>"Invite again"</button>
                </div>
            }
            .into_any()
        }
        (_, true, false) => {
            let what = RevokePersonOrInvitationRequest::Person { id };
            let name = name.clone();
            view! { <ConfirmButton board what word="Revoke access" name/> }.into_any()
        }
    };
    let status = match (somebody.is_deleted, somebody.is_revoked) {
        (true, _) => view! { <span class="verdict out quiet">"deleted"</span> }.into_any(),
        (false, true) => {
            view! { <span class="verdict out quiet">"access revoked"</span> }.into_any()
        }
        (false, false) => ().into_any(),
    };
    view! {
        <li>
            <div class="told" class:rests=somebody.is_revoked>
                <h3><bdi>{name}</bdi></h3>
                <p class="facts">
                    <span>{somebody.role.name()}</span>
                    {status}
                    <span>"joined " {format_long_utc_date(somebody.joined_ms)}</span>
                    <span>"last seen " {format_utc_minute(somebody.last_seen_ms)}</span>
                    <span>
                        {format_count_with_noun(
                            u64::from(somebody.n_sessions),
                            "session",
                            "sessions",
                        )}
                    </span>
                    <span>
                        {if somebody.person.has_password { "has password" } else { "no password" }}
                    </span>
                </p>
            </div>
            {act}
        </li>
    }
}

/// Renders a button that asks for confirmation before it acts. It stays in place, so that it keeps
/// the focus.
#[component]
fn ConfirmButton(
    board: PeoplePageState,
    what: RevokePersonOrInvitationRequest,
    word: &'static str,
    name: String,
) -> impl IntoView {
    let label = format!("{word}: {name}");
    let first = NodeRef::<html::Button>::new();
    let sure = Memo::new(move |_| board.confirming.get() == Some(what));
    let turn = move |_| {
        let next = (!sure.get_untracked()).then_some(what);
        board.confirming.set(next);
    };
    let keep = move |_| {
        board.confirming.set(None);
        if let Some(first) = first.get_untracked() {
            let _ = first.focus();
        }
    };
    let asked = format!("{word}: {name}?");
    view! {
        <div class="act">
            <button
                node_ref=first
                class="btn"
                type="button"
                aria-label=label
                aria-expanded=move || sure.get().to_string()
                on:click=turn
            >
                {word}
            </button>
            <Show when=move || sure.get()>
                <span class="note" role="status">{asked.clone()}</span>
                <button
                    class="btn main"
                    type="button"
                    disabled=move || board.is_busy.get()
                    on:click=move |_| board.remove_person_or_invitation(what)
                >
                    {word}
                </button>
                <button class="btn" type="button" on:click=keep>"Cancel"</button>
            </Show>
        </div>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_in_utc() {
        let noon = 20_779 * MS_PER_DAY + 12 * 3_600_000 + 5 * 60_000;
        assert_eq!(format_utc_minute(noon), "22 November 2026, 12:05 UTC");
    }
}
