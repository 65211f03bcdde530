//! Creates invitations. The link of an invitation is shown only once.

use leptos::prelude::*;
use shared::annotation::PersonId;
use shared::api::people::{
    AccessRole, CreateInvitationRequest, CreateInvitationResponse, MAX_INVITATION_HOURS,
    PersonAccountSummary,
};

use super::qr_code::QrCodeView;
use super::state::{InvitationLink, PeoplePageState};
use crate::api::RequestError;
use crate::api::mutation::MutatingRequestState;
use crate::routes::PageRoute;
use crate::widgets::clipboard;
use crate::widgets::error_message::OptionalErrorMessage;
use crate::widgets::form::{ReactiveFieldError, SelectField, TextField};
use crate::widgets::section::Section;

/// The default validity of an invitation, one week in hours.
const DEFAULT_VALIDITY_H: u32 = 168;

/// Renders the form, and the link once the invitation is created.
#[component]
pub(super) fn InviteForm(board: PeoplePageState) -> impl IntoView {
    let roles: Vec<AccessRole> = {
        let all = AccessRole::ALL.iter().copied();
        all.filter(|it| board.can_manage_role(*it)).collect()
    };
    let first = roles.first().copied().unwrap_or(AccessRole::Annotator);
    let role = RwSignal::new(first);
    let person = RwSignal::new(None::<PersonId>);
    let hours = RwSignal::new(DEFAULT_VALIDITY_H.to_string());
    let note = RwSignal::new(String::new());
    let failed = RwSignal::new(None::<RequestError>);
    let read = Memo::new(move |_| parse_hours(&hours.get()));
    let send = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        let Ok(hours) = read.get_untracked() else {
            return;
        };
        let asked = CreateInvitationRequest {
            role: role.get_untracked(),
            valid_hours: hours,
            person: person.get_untracked(),
            note: note.get_untracked(),
        };
        let done = move || note.set(String::new());
        create_invitation(board, asked, failed, done);
    };
    let roles = StoredValue::new(roles);
    let options = move || {
        let options = roles.get_value().into_iter().map(|it| {
            let selected = it == first;
            view! { <option value=it.name() selected=selected>{it.name()}</option> }
        });
        options.collect_view()
    };
    let people = move || {
        let everybody = board.people.get().unwrap_or_default();
        let people = everybody
            .people
            .into_iter()
            .filter(|it| board.can_manage_role(it.role));
        people
            .map(|it| {
                let name = format!("{} ({})", it.person.name, it.role.name());
                let selected = person.get_untracked() == Some(it.person.id);
                view! { <option value=it.person.id.0.to_string() selected=selected>{name}</option> }
            })
            .collect_view()
    };
    let wrong = Signal::derive(move || read.get().err());
    view! {
        <Section
            id="invite"
            name="Invite a person"
            note="The link works once. The person who opens it chooses a name and, optionally, \
                 a password to sign in on other devices."
        >
            <form class="form inviting" on:submit=send>
                <SelectField label="Person" choose=move |no: String| {
                    person.set(no.parse().ok().map(PersonId));
                }>
                    <option value="">"new person"</option>
                    {people}
                </SelectField>
                <Show when=move || person.get().is_none()>
                    <SelectField label="Role" choose=move |word: String| {
                        let found = AccessRole::ALL.iter().find(|it| it.name() == word);
                        role.set(found.copied().unwrap_or(first));
                    }>{options}</SelectField>
                </Show>
                <TextField
                    label="Valid for (hours)"
                    text=hours
                    inputmode="numeric"
                    mistake=ReactiveFieldError { id: "wrong-hours".to_owned(), reason: wrong }
                />
                <TextField label="Note (curators only)" text=note placeholder="who the \
                     invitation is for"/>
                <div class="btns">
                    <button class="btn main" type="submit" disabled=move || board.is_busy.get()>
                        "Create link"
                    </button>
                </div>
            </form>
            <OptionalErrorMessage error=failed/>
            <div role="status">
                {move || {
                    let link = board.new_link.get();
                    link.map(|link| view! { <InvitationLinkView board link/> })
                }}
            </div>
        </Section>
    }
}

/// Parses a number of hours between 1 and the maximum.
fn parse_hours(text: &str) -> Result<u32, String> {
    let hours = text.trim().parse::<u32>().ok();
    let hours = hours.filter(|it| (1..=MAX_INVITATION_HOURS).contains(it));
    hours.ok_or_else(|| format!("must be a whole number from 1 to {MAX_INVITATION_HOURS}"))
}

/// Creates an invitation with which an existing person can sign in again.
pub(super) fn reinvite_person(board: PeoplePageState, whom: &PersonAccountSummary) {
    let asked = CreateInvitationRequest {
        role: whom.role,
        valid_hours: DEFAULT_VALIDITY_H,
        person: Some(whom.person.id),
        note: String::new(),
    };
    create_invitation(board, asked, board.error, || {});
}

fn create_invitation(
    board: PeoplePageState,
    asked: CreateInvitationRequest,
    failed: RwSignal<Option<RequestError>>,
    done: impl Fn() + 'static,
) {
    let action = MutatingRequestState {
        is_busy: board.is_busy,
        error: failed,
    };
    action.send_unless_busy(asked, move |made| {
        done();
        board.notice.set(None);
        board.new_link.set(Some(invitation_link(board, made)));
        board.fetch_people();
    });
}

fn invitation_link(board: PeoplePageState, made: CreateInvitationResponse) -> InvitationLink {
    let origin = window().location().origin().unwrap_or_default();
    let everybody = board.people.get_untracked().unwrap_or_default();
    let named = everybody.people.into_iter();
    let mut named = named.filter(|it| Some(it.person.id) == made.invitation.person);
    let whom = match named.next() {
        Some(it) => format!("invites {} again", it.person.name),
        None => format!("invites a new {}", made.invitation.role.name()),
    };
    InvitationLink {
        href: format!("{origin}{}#{}", PageRoute::Join.href(), made.token),
        recipient: whom,
    }
}

/// Renders an invitation link, which is shown only once.
#[component]
fn InvitationLinkView(board: PeoplePageState, link: InvitationLink) -> impl IntoView {
    let copied = RwSignal::new(None::<&'static str>);
    let href = link.href.clone();
    let copy = move |_| {
        let href = href.clone();
        leptos::task::spawn_local(async move {
            let done = clipboard::copy_to_clipboard(&href).await;
            copied.try_set(Some(match done {
                true => "copied",
                false => "Select the link and copy it",
            }));
        });
    };
    view! {
        <div class="new-link">
            <p>
                "This link " {link.recipient} ". It is shown only once: copy it now and send it \
                     to one person, or let them scan the code."
            </p>
            <QrCodeView link=link.href.clone() label="QR code of the invitation link"/>
            <input
                readonly
                aria-label="Invitation link"
                prop:value=link.href
                on:focus:target=|event| event.target().select()
            />
            <div class="btns">
                <button class="btn main" type="button" on:click=copy>"Copy link"</button>
                <button class="btn" type="button" on:click=move |_| board.new_link.set(None)>
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
        assert_eq!(parse_hours(" 24 "), Ok(24));
        for wrong in ["", "0", "721", "1.5", "-3"] {
            assert!(parse_hours(wrong).is_err(), "{wrong}");
        }
    }
}
