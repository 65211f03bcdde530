//! Sessions, accounts and invitations.
//!
//! A session is a random token in a cookie that no script can read. A request that changes
//! something and is authenticated by its cookie also carries [`SessionResponse::csrf_token`] in
//! the header [`CSRF_HEADER`].

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::endpoints;
use crate::annotation::PersonId;

endpoints! {
    Get "/api/session" GetSessionRequest => SessionResponse;
    // A token in the address would appear in logs, so this is a POST.
    Post "/api/invitations/lookup" LookUpInvitationRequest => InvitationGrantsResponse;
    Post "/api/invitations/accept" AcceptInvitationRequest => SessionResponse;
    Post "/api/session" SignInRequest => SessionResponse;
    Post "/api/session/operator" OperatorSignInRequest => SessionResponse;
    Delete "/api/session" SignOutRequest => SessionResponse;
    Put "/api/session/password" SetPasswordRequest => SessionResponse;
    Get "/api/people" ListPeopleRequest => PeopleAndInvitationsResponse;
    Post "/api/invitations" CreateInvitationRequest => CreateInvitationResponse;
    Post "/api/people/revoke" RevokePersonOrInvitationRequest => PeopleAndInvitationsResponse;
}

/// The HTTP request header that carries [`SessionResponse::csrf_token`].
pub const CSRF_HEADER: &str = "x-axioscope-csrf";

/// The minimum length of a password, in characters.
pub const MIN_PASSWORD_LENGTH: usize = 10;

/// The maximum time that an invitation is valid, in hours: thirty days.
pub const MAX_INVITATION_HOURS: u32 = 720;

/// The role of a person. Each role includes the permissions of those before it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AccessRole {
    /// Reads what is published.
    #[default]
    Visitor,
    /// Annotates items of open tasks.
    Annotator,
    /// Creates tasks, invites annotators and sees their work.
    Curator,
    /// May do everything.
    Operator,
}

impl AccessRole {
    /// Lists all access roles in order of increasing permissions.
    pub const ALL: &[AccessRole] = &[
        AccessRole::Visitor,
        AccessRole::Annotator,
        AccessRole::Curator,
        AccessRole::Operator,
    ];

    /// Returns the name in files and commands.
    pub fn name(self) -> &'static str {
        match self {
            AccessRole::Visitor => "visitor",
            AccessRole::Annotator => "annotator",
            AccessRole::Curator => "curator",
            AccessRole::Operator => "operator",
        }
    }
}

/// Requests the role and the identity of the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct GetSessionRequest {}

/// The identity and the role of the caller.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SessionResponse {
    /// The role of the caller.
    pub role: AccessRole,
    /// The person; `None` for a visitor and for an operator who signed in by token or link and has
    /// no name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub person: Option<Person>,
    /// The token to send in the header [`CSRF_HEADER`] of every request other than GET
    /// and HEAD; `None` without a session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub csrf_token: Option<String>,
}

/// A registered person: id, display name and whether a password is set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Person {
    /// The id, assigned by the server.
    pub id: PersonId,
    /// Display name, as the person chose it.
    pub name: String,
    /// Whether they can sign in again without an invitation.
    pub has_password: bool,
}

/// Returns what an unused invitation grants.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LookUpInvitationRequest {
    /// The part of the link after `#`.
    pub token: String,
}

/// What an unused invitation grants.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct InvitationGrantsResponse {
    /// The role that it grants.
    pub role: AccessRole,
    /// The name of the person it lets in again; `None` for a new person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub person_name: Option<String>,
    /// When it expires, in milliseconds since 1970.
    pub expires_ms: u64,
}

/// Uses an invitation, once, and starts a session. An operator without a name may choose one
/// without an invitation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AcceptInvitationRequest {
    /// The part of the link after `#`; `None` for an operator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// A name that nobody else has. It is ignored if the invitation is for a person who has one.
    #[serde(default)]
    pub name: String,
    /// A password for signing in again, also on other devices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub password: Option<String>,
}

/// Starts a session of a person with a password.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SignInRequest {
    /// The name, in any case.
    pub name: String,
    /// The password.
    pub password: String,
}

/// Starts a session of an operator without a name, by the link that the server prints each time it
/// starts. The link works once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OperatorSignInRequest {
    /// The part of the link after `#`.
    pub token: String,
}

/// Ends the session of the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SignOutRequest {
    /// Whether to end all other sessions of the person as well, or all that were started by
    /// operator links.
    #[serde(default)]
    pub all_sessions: bool,
}

/// Sets the caller's own password and ends all their other sessions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SetPasswordRequest {
    /// The current password, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current_password: Option<String>,
    /// The new password; `None` removes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_password: Option<String>,
}

/// Lists all people with a name, and unused invitations. Curators only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ListPeopleRequest {}

/// The people of a server and its unused invitations.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PeopleAndInvitationsResponse {
    /// The accounts, by ascending id.
    pub people: Vec<PersonAccountSummary>,
    /// The unused invitations, newest first.
    pub invitations: Vec<PendingInvitation>,
}

/// A person as curators see them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PersonAccountSummary {
    /// The person.
    pub person: Person,
    /// The role of the person.
    pub role: AccessRole,
    /// When they joined, in milliseconds since 1970.
    pub joined_ms: u64,
    /// When they were last active, in milliseconds since 1970, to the hour.
    pub last_seen_ms: u64,
    /// The number of browsers that are signed in.
    pub n_sessions: u32,
    /// Whether their access was revoked. Their annotations stay.
    pub is_revoked: bool,
    /// Whether the account was deleted. The name then is `Deleted person` with the id.
    #[serde(default)]
    pub is_deleted: bool,
}

/// An invitation that can still be used. Its token is not stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PendingInvitation {
    /// The id, assigned by the server.
    pub id: u32,
    /// The role that it grants.
    pub role: AccessRole,
    /// The person it lets in again; `None` for a new person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub person: Option<PersonId>,
    /// A note of the inviter on whom it is for.
    #[serde(default)]
    pub note: String,
    /// When it expires, in milliseconds since 1970.
    pub expires_ms: u64,
}

/// Creates an invitation. Curators invite annotators, operators anybody.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CreateInvitationRequest {
    /// The role that it grants; ignored for a person who has one.
    pub role: AccessRole,
    /// How many hours it is valid, from 1 to [`MAX_INVITATION_HOURS`].
    pub valid_hours: u32,
    /// A person to let in again, on a new device or after their access was revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub person: Option<PersonId>,
    /// A note of the inviter on whom it is for.
    #[serde(default)]
    pub note: String,
}

/// A created invitation with its token, which is shown only here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CreateInvitationResponse {
    /// The invitation as stored.
    pub invitation: PendingInvitation,
    /// The token, which is shown only here; the link is `/join#TOKEN`.
    pub token: String,
}

/// Revokes the access of a person and ends all their sessions, or withdraws an invitation.
/// Annotations stay. Curators may revoke annotators, operators everybody but themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum RevokePersonOrInvitationRequest {
    /// A person.
    Person {
        /// The id of the person.
        id: PersonId,
    },
    /// An invitation.
    Invitation {
        /// [`PendingInvitation::id`].
        #[serde(alias = "no")]
        id: u32,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_role_may_do_what_those_before_may() {
        assert!(AccessRole::ALL.is_sorted());
        for &role in AccessRole::ALL {
            assert_eq!(serde_json::to_value(role).unwrap(), role.name());
        }
    }
}
