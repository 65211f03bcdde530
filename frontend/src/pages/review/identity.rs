//! The identity of the user on annotation pages. Whenever it becomes known, their unsent events are
//! sent.

use shared::api::people::{GetSessionRequest, SessionResponse};

use crate::api::{self, Error, NO_SERVER};
use crate::outbox;

/// Returns the session of the user; none on a static host.
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

/// Sets the identity from another reply.
pub(crate) async fn set_identity(who: &SessionResponse) {
    if let Some(person) = &who.person {
        outbox::open_for(person.id).await;
    }
}
