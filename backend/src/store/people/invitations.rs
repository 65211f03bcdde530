//! Invitation links, each of which can be used once.

use shared::annotation::PersonId;
use shared::api::people::{
    AccessRole, CreateInvitationResponse, InvitationGrantsResponse, MAX_INVITATION_HOURS,
    PendingInvitation,
};
use shared::error::{Error as InputError, ErrorFieldName};
use shared::user_text::normalize_note;

use super::{InvitedRow, moment, number, role};
use crate::error::{Error, InvitationClosedReason};
use crate::store::Database;
use crate::store::secret_token::SecretToken;

const HOUR_MS: i64 = 3_600_000;

/// An invitation to create. The caller must check that it may be created.
#[derive(Debug, Clone)]
pub(crate) struct NewInvitation {
    /// The role of the invited person.
    pub role: AccessRole,
    /// The existing person who is invited again, if any.
    pub person: Option<PersonId>,
    /// The validity in hours, from 1 to [`MAX_INVITATION_HOURS`].
    pub hours: u32,
    /// A note about the invited person.
    pub note: String,
    /// The person who created the invitation; `None` for an operator without a name.
    pub made_by: Option<PersonId>,
}

/// The details that a joining person enters.
#[derive(Debug, Clone, Default)]
pub(crate) struct JoiningPersonDetails {
    /// The name of a new person; ignored for an existing one.
    pub name: String,
    /// The Argon2id hash of the password, if one is set.
    pub password_hash: Option<String>,
}

row! {
    struct InvitationRow {
        no: i64,
        role: String,
        person: Option<i64>,
        until_ms: i64,
        used_ms: Option<i64>,
        revoked_ms: Option<i64>,
    }
}

impl Database {
    /// Creates an invitation. The reply contains its token, which is not stored.
    pub(crate) async fn create_invitation(
        &self,
        invite: &NewInvitation,
        now_ms: i64,
    ) -> Result<CreateInvitationResponse, Error> {
        if !(1..=MAX_INVITATION_HOURS).contains(&invite.hours) {
            let reason = format!("an invitation holds 1 to {MAX_INVITATION_HOURS}");
            let field = ErrorFieldName::with_display_name("valid_hours", "hours");
            return Err(InputError::out_of_range(field, reason).into());
        }
        if invite.role == AccessRole::Visitor {
            let reason = "visitors need no invitation; take annotator, curator or operator";
            return Err(InputError::unsupported_value("role", reason).into());
        }
        let note = normalize_note(&invite.note)?;
        let token = SecretToken::generate();
        let until_ms = now_ms + i64::from(invite.hours) * HOUR_MS;
        let no: i64 = sqlx::query_scalar(
            "INSERT INTO invitation (token_sha256, role, person, note, made_by, made_ms, until_ms)
             VALUES ($1, $2, $3, $4, $5, $6, $7)
             RETURNING no",
        )
        .bind(token.sha256())
        .bind(invite.role.name())
        .bind(invite.person.map(|it| i64::from(it.0)))
        .bind(&note)
        .bind(invite.made_by.map(|it| i64::from(it.0)))
        .bind(now_ms)
        .bind(until_ms)
        .fetch_one(&self.pool)
        .await
        .map_err(|it| self.failed(it))?;
        Ok(CreateInvitationResponse {
            invitation: PendingInvitation {
                id: number(no)?,
                role: invite.role,
                person: invite.person,
                note,
                expires_ms: moment(until_ms),
            },
            token: token.reveal().to_owned(),
        })
    }

    /// Returns the role and person of an invitation that can be used; otherwise an error.
    pub(crate) async fn usable_invitation_details(
        &self,
        token: &SecretToken,
        now_ms: i64,
    ) -> Result<InvitationGrantsResponse, Error> {
        let row = self.usable(token, now_ms).await?;
        let person = match row.person {
            Some(no) => Some(self.person_by_id(PersonId(number(no)?)).await?.person.name),
            None => None,
        };
        Ok(InvitationGrantsResponse {
            role: role(&row.role)?,
            person_name: person,
            expires_ms: moment(row.until_ms),
        })
    }

    /// Uses an invitation and starts a session. Of two simultaneous attempts one succeeds. An
    /// invitation for an existing person restores revoked access. Setting a password ends the other
    /// sessions of the person.
    pub(crate) async fn accept_invitation_and_begin_session(
        &self,
        token: &SecretToken,
        joining: &JoiningPersonDetails,
        now_ms: i64,
    ) -> Result<SecretToken, Error> {
        let failed = |it| self.failed(it);
        let row = self.usable(token, now_ms).await?;
        let mut transaction = self.begin().await?;
        let person = match row.person {
            Some(no) => {
                let statement = sqlx::query(
                    "UPDATE person SET revoked_ms = NULL,
                         password_hash = coalesce($1, password_hash)
                     WHERE no = $2 AND deleted_ms IS NULL AND simulated = 0",
                )
                .bind(joining.password_hash.as_deref())
                .bind(no);
                if self.execute_in(&mut transaction, statement).await? == 0 {
                    transaction.rollback().await.map_err(failed)?;
                    return Err(Error::InvitationClosed {
                        over: InvitationClosedReason::Withdrawn,
                    });
                }
                PersonId(number(no)?)
            }
            None => {
                let role = role(&row.role)?;
                self.add_person(&mut transaction, joining, role, now_ms)
                    .await?
            }
        };
        let statement = sqlx::query(
            "UPDATE invitation SET used_ms = $1, used_by = $2
             WHERE no = $3 AND used_ms IS NULL AND revoked_ms IS NULL",
        )
        .bind(now_ms)
        .bind(i64::from(person.0))
        .bind(row.no);
        let n_used = self.execute_in(&mut transaction, statement).await?;
        if n_used != 1 {
            transaction.rollback().await.map_err(failed)?;
            return Err(Error::InvitationClosed {
                over: InvitationClosedReason::Used,
            });
        }
        if joining.password_hash.is_some() {
            self.end_person_sessions_in_transaction(&mut transaction, person, None)
                .await?;
        }
        self.commit_new_session(transaction, person, now_ms).await
    }

    /// Adds a named operator, for an operator without a name, and starts a session.
    pub(crate) async fn add_named_operator_with_session(
        &self,
        joining: &JoiningPersonDetails,
        now_ms: i64,
    ) -> Result<SecretToken, Error> {
        let mut transaction = self.begin().await?;
        let added = self.add_person(&mut transaction, joining, AccessRole::Operator, now_ms);
        let person = added.await?;
        self.commit_new_session(transaction, person, now_ms).await
    }

    /// Returns an invitation that can still be used by its number.
    pub(crate) async fn pending_invitation_by_number(
        &self,
        no: u32,
        now_ms: i64,
    ) -> Result<PendingInvitation, Error> {
        let query = sqlx::query_as::<_, InvitedRow>(
            "SELECT no, role, person, note, until_ms FROM invitation
             WHERE no = $1 AND used_ms IS NULL AND revoked_ms IS NULL AND until_ms > $2",
        )
        .bind(i64::from(no))
        .bind(now_ms);
        let found = self.find_row(query).await?;
        match found {
            Some(row) => row.into_invited(),
            None => Err(InputError::name_not_found("open invitation", no.to_string()).into()),
        }
    }

    /// Withdraws an invitation that has not been used.
    pub(crate) async fn revoke_invitation(&self, no: u32, now_ms: i64) -> Result<(), Error> {
        let statement = sqlx::query(
            "UPDATE invitation SET revoked_ms = $1
             WHERE no = $2 AND used_ms IS NULL AND revoked_ms IS NULL",
        )
        .bind(now_ms)
        .bind(i64::from(no));
        self.execute(statement).await?;
        Ok(())
    }

    async fn usable(&self, token: &SecretToken, now_ms: i64) -> Result<InvitationRow, Error> {
        let query = sqlx::query_as::<_, InvitationRow>(
            "SELECT no, role, person, until_ms, used_ms, revoked_ms FROM invitation
             WHERE token_sha256 = $1",
        )
        .bind(token.sha256());
        let found = self.find_row(query).await?;
        let row = found.ok_or(Error::InvitationNotFound)?;
        let over = match &row {
            it if it.used_ms.is_some() => InvitationClosedReason::Used,
            it if it.revoked_ms.is_some() => InvitationClosedReason::Withdrawn,
            it if it.until_ms <= now_ms => InvitationClosedReason::Expired,
            _ => return Ok(row),
        };
        Err(Error::InvitationClosed { over })
    }
}
