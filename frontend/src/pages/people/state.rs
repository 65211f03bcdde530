//! The state of the People page.

use leptos::prelude::*;
use shared::api::people::{
    AccessRole, ListPeopleRequest, PeopleAndInvitationsResponse, PersonAccountSummary,
    RevokePersonOrInvitationRequest, SessionResponse,
};

use crate::api::mutation::spawn_unless_busy;
use crate::api::{self, RequestError};

/// The list of people and invitations, and the actions on them.
#[derive(Clone, Copy)]
pub(super) struct PeoplePageState {
    pub(super) identity: StoredValue<SessionResponse>,
    pub(super) people: RwSignal<Option<PeopleAndInvitationsResponse>>,
    pub(super) error: RwSignal<Option<RequestError>>,
    /// The link that was created last; it is stored nowhere else.
    pub(super) new_link: RwSignal<Option<InvitationLink>>,
    /// The action that waits for confirmation.
    pub(super) confirming: RwSignal<Option<RevokePersonOrInvitationRequest>>,
    /// The notice of the last action, for screen readers.
    pub(super) notice: RwSignal<Option<ActionSuccessNotice>>,
    pub(super) is_busy: RwSignal<bool>,
}

/// A notice of an action that succeeded, announced by screen readers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ActionSuccessNotice {
    pub(super) text: String,
    /// The person who can be invited again, if any.
    pub(super) invitable_person: Option<PersonAccountSummary>,
}

impl PeoplePageState {
    pub(super) fn new(who: SessionResponse) -> PeoplePageState {
        PeoplePageState {
            identity: StoredValue::new(who),
            people: RwSignal::new(None),
            error: RwSignal::new(None),
            new_link: RwSignal::new(None),
            confirming: RwSignal::new(None),
            notice: RwSignal::new(None),
            is_busy: RwSignal::new(false),
        }
    }

    pub(super) fn fetch_people(self) {
        leptos::task::spawn_local(async move {
            let found = api::send_and_parse(&ListPeopleRequest {}).await;
            self.apply_people_reply(found);
        });
    }

    pub(super) fn apply_people_reply(
        self,
        found: Result<PeopleAndInvitationsResponse, RequestError>,
    ) {
        match found {
            Ok(found) => {
                self.error.try_set(None);
                self.people.try_set(Some(found));
            }
            Err(error) => {
                self.error.try_set(Some(error));
            }
        }
    }

    /// Removes a person or withdraws an invitation.
    pub(super) fn remove_person_or_invitation(self, what: RevokePersonOrInvitationRequest) {
        let told = self.revocation_notice(what);
        let found = async move { api::send_and_parse(&what).await };
        spawn_unless_busy(self.is_busy, found, move |found| {
            if found.is_ok() {
                self.notice.set(Some(told));
            }
            self.confirming.set(None);
            self.apply_people_reply(found);
        });
    }

    pub(super) fn revocation_notice(
        self,
        what: RevokePersonOrInvitationRequest,
    ) -> ActionSuccessNotice {
        match what {
            RevokePersonOrInvitationRequest::Person { id: no } => {
                let everybody = self.people.get_untracked().unwrap_or_default();
                let mut people = everybody.people.into_iter();
                let back = people.find(|it| it.person.id == no);
                let name = back.as_ref().map(|it| it.person.name.clone());
                let words = format!(
                    "The access of {} was revoked on all devices. Earlier decisions are kept.",
                    name.unwrap_or_default()
                );
                ActionSuccessNotice {
                    text: words,
                    invitable_person: back,
                }
            }
            RevokePersonOrInvitationRequest::Invitation { .. } => ActionSuccessNotice {
                text: "The invitation was withdrawn; its link no longer works.".to_owned(),
                invitable_person: None,
            },
        }
    }

    /// Returns whether the user may revoke the access of people of a role or invite them again.
    pub(super) fn can_manage_role(self, role: AccessRole) -> bool {
        self.identity
            .with_value(|it| can_invite_role(it.role, role))
    }
}

/// Returns whether the caller may invite people of a role: curators may invite annotators,
/// operators everybody with a name.
pub(super) fn can_invite_role(caller: AccessRole, role: AccessRole) -> bool {
    match caller {
        AccessRole::Operator => role > AccessRole::Visitor,
        AccessRole::Curator => role == AccessRole::Annotator,
        AccessRole::Annotator | AccessRole::Visitor => false,
    }
}

/// An invitation link and whom it is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct InvitationLink {
    /// The full address of the invitation.
    pub(super) href: String,
    /// The recipient, as worded in a sentence.
    pub(super) recipient: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_invites_above_their_place() {
        let may = |caller| -> Vec<AccessRole> {
            let all = AccessRole::ALL.iter().copied();
            all.filter(|it| can_invite_role(caller, *it)).collect()
        };
        assert_eq!(may(AccessRole::Annotator), []);
        assert_eq!(may(AccessRole::Curator), [AccessRole::Annotator]);
        let all = [
            AccessRole::Annotator,
            AccessRole::Curator,
            AccessRole::Operator,
        ];
        assert_eq!(may(AccessRole::Operator), all);
    }
}
