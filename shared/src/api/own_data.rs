//! The data of the caller: everything that is stored about them, and the deletion of their account.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::annotation::{EventWithStatus, TaskId};
use super::endpoints;
use super::people::{AccessRole, Person, SessionResponse};
use crate::annotation::assignment::ItemLease;

endpoints! {
    Get "/api/people/me/data" GetOwnDataRequest => OwnDataResponse;
    // The password would appear in logs as part of the address of a DELETE.
    Post "/api/people/me/delete" DeleteOwnAccountRequest => SessionResponse;
}

/// Returns everything that is stored about the caller, as a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct GetOwnDataRequest {}

/// Everything that is stored about a person, without the hashes of password and sessions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct OwnDataResponse {
    /// The person.
    pub person: Person,
    /// The role of the person.
    pub role: AccessRole,
    /// When they joined, in milliseconds since 1970.
    pub joined_ms: u64,
    /// When they were last active, in milliseconds since 1970, to the hour.
    pub last_seen_ms: u64,
    /// The browsers that are signed in, oldest first.
    pub sessions: Vec<OwnSession>,
    /// The invitations for the person and those that they created, oldest first.
    pub invitations: Vec<OwnInvitation>,
    /// The tasks in which they took part, oldest first.
    pub tasks: Vec<OwnTaskData>,
}

/// The times of a session, in milliseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OwnSession {
    /// When the person signed in.
    pub started_ms: u64,
    /// When the session was last used, to the hour.
    pub last_seen_ms: u64,
    /// When it ends, unless it is used again.
    pub expires_ms: u64,
}

/// An invitation for a person or by a person; times are in milliseconds since 1970.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OwnInvitation {
    /// Whether the person created it; otherwise it is for them.
    pub is_created_by_person: bool,
    /// The role that it grants.
    pub role: AccessRole,
    /// The note of the inviter on whom it is for.
    pub note: String,
    /// When it was created.
    pub created_ms: u64,
    /// When it expires.
    pub expires_ms: u64,
    /// When it was used, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used_ms: Option<u64>,
}

/// What is stored about a person in one task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct OwnTaskData {
    /// The id of the task.
    pub task: TaskId,
    /// The title of the task.
    pub title: String,
    /// The name of the study from which its items are.
    pub study: String,
    /// The items that are reserved for the person.
    pub leases: Vec<ItemLease>,
    /// The events that the person sent, and those by which curators excluded or included them, by
    /// time of receipt.
    pub events: Vec<EventWithStatus>,
}

/// Deletes the account of the caller: name, password, sessions and open invitations. What they
/// decided stays, as that of a deleted person. This cannot be undone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DeleteOwnAccountRequest {
    /// The name of the caller, as confirmation.
    pub confirmed_name: String,
    /// The password of the caller, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current_password: Option<String>,
}
