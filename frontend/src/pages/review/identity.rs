//! The identity of the user on annotation pages. Whenever it becomes known, their unsent events are
//! sent.

use shared::api::people::{GetSessionRequest, SessionResponse};

use crate::api::{self, NO_SERVER, RequestError};
use crate::outbox;

/// Returns the session of the user; none on a static host.
pub(crate) async fn fetch_session_and_open_outbox() -> Result<Option<SessionResponse>, RequestError>
{
    match api::send_and_parse(&GetSessionRequest {}).await {
        Ok(who) => {
            open_outbox_for_session(&who).await;
            Ok(Some(who))
        }
        Err(error) if error.is_server_error_of_type(NO_SERVER) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Opens the outbox of the person of a session, if any, and sends its unsent events.
pub(crate) async fn open_outbox_for_session(who: &SessionResponse) {
    if let Some(person) = &who.person {
        outbox::open_outbox_and_send_unsent(person.id).await;
    }
}
