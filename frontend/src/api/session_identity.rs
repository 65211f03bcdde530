//! What shows the server that a request comes from this page, and whose page it is.
//!
//! Only the main program has it: the lazy bundle asks through the page.

use std::cell::RefCell;

use serde::Deserialize;
use shared::annotation::PersonId;
use shared::api::Endpoint;
use shared::api::people::{
    AcceptInvitationRequest, GetSessionRequest, OperatorSignInRequest, SetPasswordRequest,
    SignInRequest, SignOutRequest,
};

/// The parts of [`shared::api::people::SessionResponse`] that requests go by.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub(crate) struct SessionIdentity {
    person: Option<SessionPerson>,
    /// To be sent with each POST; none without a session.
    pub(crate) csrf_token: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
struct SessionPerson {
    id: PersonId,
}

/// What a refusal means, once it was asked again who is signed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SessionChange {
    /// Nothing has changed: the request itself was refused.
    Unchanged,
    /// The token was an earlier one's: the request can be sent once more.
    TokenRenewed,
    /// The session has ended, or is somebody else's: what this page sends is not theirs.
    SessionReplaced,
}

impl SessionIdentity {
    /// What has become of it.
    pub(crate) fn change_to(&self, now: &SessionIdentity) -> SessionChange {
        if self.person.is_some() && self.person != now.person {
            SessionChange::SessionReplaced
        } else if self.csrf_token == now.csrf_token {
            SessionChange::Unchanged
        } else {
            SessionChange::TokenRenewed
        }
    }
}

thread_local! {
    static IDENTITY: RefCell<Option<SessionIdentity>> = const { RefCell::new(None) };
}

/// What was told last; none before anything was.
pub(crate) fn cached_identity() -> Option<SessionIdentity> {
    IDENTITY.with_borrow(Clone::clone)
}

/// Keeps it for the requests to come.
pub(crate) fn cache_identity(known: SessionIdentity) {
    IDENTITY.set(Some(known));
}

/// Hears who somebody is, where a reply says so.
pub(crate) fn update_from_reply(path: &str, reply: &str) -> bool {
    let tells = [
        GetSessionRequest::PATH,
        AcceptInvitationRequest::PATH,
        SignInRequest::PATH,
        OperatorSignInRequest::PATH,
        SignOutRequest::PATH,
        SetPasswordRequest::PATH,
    ];
    if !tells.contains(&path) {
        return false;
    }
    match serde_json::from_str(reply) {
        Ok(known) => {
            cache_identity(known);
            true
        }
        Err(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cached_identity(person: Option<u32>, csrf_token: Option<&str>) -> SessionIdentity {
        SessionIdentity {
            person: person.map(|id| SessionPerson { id: PersonId(id) }),
            csrf_token: csrf_token.map(str::to_owned),
        }
    }

    #[test]
    fn nothing_is_sent_again_as_somebody_else() {
        let mine = cached_identity(Some(1), Some("a"));
        assert_eq!(
            mine.change_to(&cached_identity(Some(1), Some("a"))),
            SessionChange::Unchanged
        );
        assert_eq!(
            mine.change_to(&cached_identity(Some(1), Some("b"))),
            SessionChange::TokenRenewed
        );
        assert_eq!(
            mine.change_to(&cached_identity(Some(2), Some("b"))),
            SessionChange::SessionReplaced
        );
        assert_eq!(
            mine.change_to(&cached_identity(None, None)),
            SessionChange::SessionReplaced
        );
        let visitor = cached_identity(None, None);
        assert_eq!(
            visitor.change_to(&cached_identity(Some(2), Some("b"))),
            SessionChange::TokenRenewed
        );
    }

    #[test]
    fn who_is_heard_from_what_says_so() {
        let reply = r#"{"role":"annotator","person":{"id":3,"name":"Ada","has_password":false},
                        "csrf_token":"x"}"#;
        assert!(!update_from_reply("/api/studies", reply));
        assert!(update_from_reply(GetSessionRequest::PATH, reply));
        assert_eq!(
            super::cached_identity(),
            Some(cached_identity(Some(3), Some("x")))
        );
    }
}
