//! Who is at the page, and whom else they let in.
//!
//! A session is a random token in a cookie that no script can read. A request that changes
//! something and is known by its cookie also carries [`SessionResponse::csrf_token`] in the header
//! [`CSRF_HEADER`].

use serde::{Deserialize, Serialize};

use super::endpoints;
use crate::annotation::PersonId;

endpoints! {
    Get "/api/me" GetSessionRequest => SessionResponse;
    // A token in an address would stand in logs.
    Post "/api/invitation" LookUpInvitationRequest => InvitationResponse;
    Post "/api/join" AcceptInvitationRequest => SessionResponse;
    Post "/api/sign-in" SignInRequest => SessionResponse;
    Post "/api/operator/sign-in" OperatorSignInRequest => SessionResponse;
    Post "/api/sign-out" SignOutRequest => SessionResponse;
    Post "/api/me/password" SetPasswordRequest => SessionResponse;
    Get "/api/people" ListPeopleRequest => PeopleResponse;
    Post "/api/people/invite" CreateInvitationRequest => CreateInvitationResponse;
    Post "/api/people/revoke" Revoke => PeopleResponse;
}

/// Names the HTTP request header that carries [`SessionResponse::csrf_token`].
pub const CSRF_HEADER: &str = "x-axioscope-csrf";

/// A password has at least so many characters.
pub const MIN_PASSWORD_LENGTH: usize = 10;

/// An invitation holds at most so many hours, thirty days.
pub const MAX_INVITATION_HOURS: u32 = 720;

/// What somebody may do; each may do what those before may.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum AccessRole {
    /// Reads what is published.
    #[default]
    Visitor,
    /// Decides on items of open tasks.
    Annotator,
    /// Makes tasks, invites annotators, sees what they do.
    Curator,
    /// Everything.
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

    /// The name in files and commands.
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GetSessionRequest {}

/// Who somebody is to this server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SessionResponse {
    /// What they may do.
    pub role: AccessRole,
    /// None for a visitor, and for an operator by token or link who has no name yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub person: Option<Person>,
    /// To be sent in the header [`CSRF_HEADER`] of every POST; none without a session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub csrf_token: Option<String>,
}

/// Describes a registered person: id, display name and whether a password is set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Person {
    /// As the server numbers them.
    pub id: PersonId,
    /// Display name, as the person chose it.
    pub name: String,
    /// Whether they can sign in again without an invitation.
    pub has_password: bool,
}

/// What an invitation is to, before it is used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LookUpInvitationRequest {
    /// What stands behind `#` in the link.
    pub token: String,
}

/// What an unused invitation grants.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct InvitationResponse {
    /// The role that it gives.
    pub role: AccessRole,
    /// The name of the person it lets in again; none for somebody new.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub person_name: Option<String>,
    /// Until then it can be used, in milliseconds since 1970.
    pub expires_ms: u64,
}

/// Uses an invitation, once, and begins a session. An operator without a name may take one
/// without an invitation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AcceptInvitationRequest {
    /// What stands behind `#` in the link; none for an operator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// Nobody else's. Not read where the invitation is for a person who has one.
    #[serde(default)]
    pub name: String,
    /// To sign in again with, on other devices too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub password: Option<String>,
}

/// Begins a session of somebody with a password.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SignInRequest {
    /// The name, in upper or lower case.
    pub name: String,
    /// The password.
    pub password: String,
}

/// Begins a session of an operator without a name, by the link that the server prints each time it
/// starts. The link works once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct OperatorSignInRequest {
    /// What stands behind `#` in the link.
    pub token: String,
}

/// Ends the session of the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SignOutRequest {
    /// All others of the person too, or all that were begun by links of the operator.
    #[serde(default)]
    pub all_sessions: bool,
}

/// Sets the caller's own password; all their other sessions end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SetPasswordRequest {
    /// The one that is set, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current_password: Option<String>,
    /// The new password; none removes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_password: Option<String>,
}

/// Everybody with a name, and invitations that are not used. For curators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ListPeopleRequest {}

/// The people of a server and its unused invitations.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PeopleResponse {
    /// Accounts by ascending id.
    pub people: Vec<PersonAccount>,
    /// Unused invitations, newest first.
    pub invitations: Vec<PendingInvitation>,
}

/// A person as curators see them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PersonAccount {
    /// The person.
    pub person: Person,
    /// What they may do.
    pub role: AccessRole,
    /// When they joined, in milliseconds since 1970.
    pub joined_ms: u64,
    /// When they were last seen, to the hour.
    pub last_seen_ms: u64,
    /// Browsers that they are signed in with.
    pub n_sessions: u32,
    /// Whether they were turned away. What they did stays.
    pub is_revoked: bool,
}

/// An invitation that can still be used. Its token is nowhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PendingInvitation {
    /// As the server numbers them.
    pub id: u32,
    /// The role that it gives.
    pub role: AccessRole,
    /// Whom it lets in again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub person: Option<PersonId>,
    /// Whom it is for, in the words of who made it.
    #[serde(default)]
    pub note: String,
    /// Until then, in milliseconds since 1970.
    pub expires_ms: u64,
}

/// Makes an invitation. Curators invite annotators, operators everybody.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CreateInvitationRequest {
    /// The role that it gives; not read for a person who has one.
    pub role: AccessRole,
    /// How long it holds, 1 to [`MAX_INVITATION_HOURS`].
    pub valid_hours: u32,
    /// Lets this person in again, on a new device or after they were turned away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub person: Option<PersonId>,
    /// Note of the inviter on whom it is for.
    #[serde(default)]
    pub note: String,
}

/// A created invitation with its token, which is shown only here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CreateInvitationResponse {
    /// What is kept of it.
    pub invitation: PendingInvitation,
    /// Shown this once; the link is `/join#TOKEN`.
    pub token: String,
}

/// Turns a person away, with all their sessions, or takes back an invitation. What they did
/// stays. Curators turn annotators away, operators everybody but themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Revoke {
    /// A person.
    Person {
        /// Who.
        id: PersonId,
    },
    /// An invitation.
    Invitation {
        /// [`PendingInvitation::id`].
        no: u32,
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
