//! The session of this page: who is signed in, and the token that proves to the server that a
//! request comes from this page.
//!
//! Only the main program has it; the lazy bundle sends its requests through the page.

use std::cell::RefCell;

use serde::Deserialize;
use shared::annotation::PersonId;
use shared::api::Endpoint;
use shared::api::own_data::DeleteOwnAccountRequest;
use shared::api::people::{
    AcceptInvitationRequest, GetSessionRequest, OperatorSignInRequest, SetPasswordRequest,
    SignInRequest, SignOutRequest,
};

/// The parts of [`shared::api::people::SessionResponse`] that requests depend on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub(crate) struct SessionPersonAndCsrfToken {
    person: Option<SessionPerson>,
    /// Sent with each request other than GET and HEAD; none without a session.
    pub(crate) csrf_token: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
struct SessionPerson {
    id: PersonId,
}

/// How the session has changed when a request is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DetectedSessionChange {
    /// Nothing has changed, so the request itself was refused.
    Unchanged,
    /// The token was that of an earlier session, so the request can be sent once more.
    TokenRenewed,
    /// The session has ended or belongs to another person, so the request must not be sent again.
    SessionReplaced,
}

impl SessionPersonAndCsrfToken {
    /// Returns how the session has changed from this identity to `now`.
    pub(crate) fn detect_session_change(
        &self,
        now: &SessionPersonAndCsrfToken,
    ) -> DetectedSessionChange {
        if self.person.is_some() && self.person != now.person {
            DetectedSessionChange::SessionReplaced
        } else if self.csrf_token == now.csrf_token {
            DetectedSessionChange::Unchanged
        } else {
            DetectedSessionChange::TokenRenewed
        }
    }
}

thread_local! {
    static IDENTITY: RefCell<Option<SessionPersonAndCsrfToken>> = const { RefCell::new(None) };
}

/// Returns the identity that was cached last; none before the first one.
pub(crate) fn cached_person_and_csrf_token() -> Option<SessionPersonAndCsrfToken> {
    IDENTITY.with_borrow(Clone::clone)
}

/// Caches an identity for later requests.
pub(crate) fn cache_person_and_csrf_token(known: SessionPersonAndCsrfToken) {
    IDENTITY.set(Some(known));
}

/// Caches the identity in a reply and returns true if the reply contains one.
pub(crate) fn cache_session_identity_from_reply(path: &str, reply: &str) -> bool {
    let tells = [
        GetSessionRequest::PATH,
        AcceptInvitationRequest::PATH,
        SignInRequest::PATH,
        OperatorSignInRequest::PATH,
        SignOutRequest::PATH,
        SetPasswordRequest::PATH,
        DeleteOwnAccountRequest::PATH,
    ];
    if !tells.contains(&path) {
        return false;
    }
    match serde_json::from_str(reply) {
        Ok(known) => {
            cache_person_and_csrf_token(known);
            true
        }
        Err(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cached_identity(person: Option<u32>, csrf_token: Option<&str>) -> SessionPersonAndCsrfToken {
        SessionPersonAndCsrfToken {
            person: person.map(|id| SessionPerson { id: PersonId(id) }),
            csrf_token: csrf_token.map(str::to_owned),
        }
    }

    #[test]
    fn nothing_is_sent_again_as_somebody_else() {
        let mine = cached_identity(Some(1), Some("a"));
        assert_eq!(
            mine.detect_session_change(&cached_identity(Some(1), Some("a"))),
            DetectedSessionChange::Unchanged
        );
        assert_eq!(
            mine.detect_session_change(&cached_identity(Some(1), Some("b"))),
            DetectedSessionChange::TokenRenewed
        );
        assert_eq!(
            mine.detect_session_change(&cached_identity(Some(2), Some("b"))),
            DetectedSessionChange::SessionReplaced
        );
        assert_eq!(
            mine.detect_session_change(&cached_identity(None, None)),
            DetectedSessionChange::SessionReplaced
        );
        let visitor = cached_identity(None, None);
        assert_eq!(
            visitor.detect_session_change(&cached_identity(Some(2), Some("b"))),
            DetectedSessionChange::TokenRenewed
        );
    }

    #[test]
    fn who_is_heard_from_what_says_so() {
        let reply = r#"{"role":"annotator","person":{"id":3,"name":"Ada","has_password":false},
                        "csrf_token":"x"}"#;
        assert!(!cache_session_identity_from_reply("/api/studies", reply));
        assert!(cache_session_identity_from_reply(
            GetSessionRequest::PATH,
            reply
        ));
        assert_eq!(
            super::cached_person_and_csrf_token(),
            Some(cached_identity(Some(3), Some("x")))
        );
    }
}
