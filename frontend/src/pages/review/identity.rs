//! Who is at the page. Whoever it is, what they left unsent before is sent.

use shared::api::people::{GetSessionRequest, SessionResponse};

use crate::api::{self, Error, NO_SERVER};
use crate::outbox;

/// Who the server takes us for; none on a host of files only.
pub(crate) async fn fetch_identity() -> Result<Option<SessionResponse>, Error> {
    match api::call(&GetSessionRequest {}).await {
        Ok(who) => {
            set_identity(&who).await;
            Ok(Some(who))
        }
        Err(error) if error.has_type(NO_SERVER) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Hears who it is from another reply.
pub(crate) async fn set_identity(who: &SessionResponse) {
    if let Some(person) = &who.person {
        outbox::open_for(person.id).await;
    }
}
