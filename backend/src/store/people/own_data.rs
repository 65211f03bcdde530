//! Everything that is stored about a person, and the deletion of a person.

use shared::annotation::PersonId;
use shared::api::own_data::{OwnDataResponse, OwnInvitation, OwnSession, OwnTaskData};
use shared::api::people::AccessRole;
use shared::error::Error as InputError;

use super::{PersonListRow, moment, role};
use crate::error::Error;
use crate::store::Database;

row! {
    struct OwnInvitationRow {
        role: String,
        note: String,
        made_by: Option<i64>,
        made_ms: i64,
        until_ms: i64,
        used_ms: Option<i64>,
    }
}

impl Database {
    /// Returns everything that is stored about a person; the tasks are passed by the caller.
    pub(crate) async fn person_data(
        &self,
        no: PersonId,
        tasks: Vec<OwnTaskData>,
    ) -> Result<OwnDataResponse, Error> {
        let id = i64::from(no.0);
        let query = sqlx::query_as::<_, PersonListRow>(
            "SELECT no, name, role, password_hash, since_ms, seen_ms, revoked_ms, deleted_ms,
                 (SELECT count(*) FROM session WHERE session.person = person.no) AS n_sessions
             FROM person WHERE no = $1 AND simulated = 0",
        )
        .bind(id);
        let unknown = || InputError::name_not_found("person", no.0.to_string());
        let known = self.find_row(query).await?.ok_or_else(unknown)?;
        let known = known.into_somebody()?;
        let sessions: Vec<(i64, i64, i64)> = sqlx::query_as(
            "SELECT begun_ms, seen_ms, until_ms FROM session WHERE person = $1 ORDER BY begun_ms",
        )
        .bind(id)
        .fetch_all(&self.pool)
        .await
        .map_err(|it| self.failed(it))?;
        let invitations: Vec<OwnInvitationRow> = sqlx::query_as(
            "SELECT role, note, made_by, made_ms, until_ms, used_ms FROM invitation
             WHERE person = $1 OR used_by = $1 OR made_by = $1 ORDER BY no",
        )
        .bind(id)
        .fetch_all(&self.pool)
        .await
        .map_err(|it| self.failed(it))?;
        let session = |(started, seen, expires)| OwnSession {
            started_ms: moment(started),
            last_seen_ms: moment(seen),
            expires_ms: moment(expires),
        };
        let invitation = |row: OwnInvitationRow| {
            Ok::<_, Error>(OwnInvitation {
                is_created_by_person: row.made_by == Some(id),
                role: role(&row.role)?,
                note: row.note,
                created_ms: moment(row.made_ms),
                expires_ms: moment(row.until_ms),
                used_ms: row.used_ms.map(moment),
            })
        };
        Ok(OwnDataResponse {
            person: known.person,
            role: known.role,
            joined_ms: known.joined_ms,
            last_seen_ms: known.last_seen_ms,
            sessions: sessions.into_iter().map(session).collect(),
            invitations: invitations
                .into_iter()
                .map(invitation)
                .collect::<Result<_, _>>()?,
            tasks,
        })
    }

    /// Returns whether a person is the only operator with a name who has access.
    pub(crate) async fn is_last_named_operator(&self, no: PersonId) -> Result<bool, Error> {
        let operators: Vec<i64> =
            sqlx::query_scalar("SELECT no FROM person WHERE role = $1 AND revoked_ms IS NULL")
                .bind(AccessRole::Operator.name())
                .fetch_all(&self.pool)
                .await
                .map_err(|it| self.failed(it))?;
        Ok(operators == [i64::from(no.0)])
    }

    /// Deletes a person in one transaction: name, password, sessions, times of activity, notes of
    /// those who invited them, and all open invitations for or by them. The number stays, so that
    /// what they decided still is of one person. Deleting a person again changes nothing.
    pub(crate) async fn delete_person(&self, no: PersonId, now_ms: i64) -> Result<(), Error> {
        let id = i64::from(no.0);
        let mut transaction = self.begin().await?;
        // Two spaces: no name that somebody chooses has this key.
        let statement = sqlx::query(
            "UPDATE person SET name = $1, name_key = $2, password_hash = NULL,
                 seen_ms = since_ms, revoked_ms = coalesce(revoked_ms, $3), deleted_ms = $3
             WHERE no = $4 AND deleted_ms IS NULL AND simulated = 0",
        )
        .bind(format!("Deleted person {}", no.0))
        .bind(format!("deleted  person  {}", no.0))
        .bind(now_ms)
        .bind(id);
        self.execute_in(&mut transaction, statement).await?;
        for statement in [
            "DELETE FROM review_lease WHERE person = $1",
            "UPDATE invitation SET note = '' WHERE person = $1 OR used_by = $1",
        ] {
            let statement = sqlx::query(statement).bind(id);
            self.execute_in(&mut transaction, statement).await?;
        }
        self.end_access(&mut transaction, id, now_ms).await?;
        transaction.commit().await.map_err(|it| self.failed(it))
    }
}
