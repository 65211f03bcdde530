//! The sessions of people who are signed in.

use shared::annotation::PersonId;
use shared::api::people::{AccessRole, Person};
use sqlx::{Any, Transaction};

use super::{number, role};
use crate::error::Error;
use crate::store::Database;
use crate::store::secret_token::SecretToken;

const HOUR_MS: i64 = 3_600_000;

/// Time without activity after which a session ends: 90 days.
const LIFETIME_MS: i64 = 90 * 24 * HOUR_MS;

/// Minimum time between two updates of the last activity of a session.
const TOUCH_MS: i64 = HOUR_MS;

/// The person of a session, with their role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SessionUser {
    /// `None` for an operator who signed in with the operator link.
    pub person: Option<Person>,
    /// The role of the person.
    pub role: AccessRole,
}

row! {
    struct SessionRow {
        no: i64,
        name: String,
        role: String,
        password_hash: Option<String>,
        seen_ms: i64,
    }
}

impl Database {
    /// Starts a session of a person and returns its token.
    pub(crate) async fn begin_session(
        &self,
        person: PersonId,
        now_ms: i64,
    ) -> Result<SecretToken, Error> {
        let transaction = self.begin().await?;
        self.commit_new_session(transaction, person, now_ms).await
    }

    /// Returns the session of a token if it is valid, and extends it.
    pub(crate) async fn validate_and_extend_session(
        &self,
        token: &SecretToken,
        now_ms: i64,
    ) -> Result<Option<SessionUser>, Error> {
        let query = sqlx::query_as::<_, SessionRow>(
            "SELECT person.no, person.name, person.role, person.password_hash, session.seen_ms
             FROM session JOIN person ON person.no = session.person
             WHERE session.token_sha256 = $1 AND session.until_ms > $2
             AND person.revoked_ms IS NULL",
        )
        .bind(token.sha256())
        .bind(now_ms);
        let found = self.find_row(query).await?;
        let Some(row) = found else {
            return self.operator_session(token, now_ms).await;
        };
        if now_ms - row.seen_ms >= TOUCH_MS
            && let Err(error) = self.touch(token, row.no, now_ms).await
        {
            // The request can be served even if the disk is full.
            tracing::warn!("when somebody was seen is not written: {error}");
        }
        Ok(Some(SessionUser {
            role: role(&row.role)?,
            person: Some(Person {
                id: PersonId(number(row.no)?),
                name: row.name,
                has_password: row.password_hash.is_some(),
            }),
        }))
    }

    /// Same as [`Database::validate_and_extend_session`], for operators without a name.
    async fn operator_session(
        &self,
        token: &SecretToken,
        now_ms: i64,
    ) -> Result<Option<SessionUser>, Error> {
        let seen_ms: Option<i64> = sqlx::query_scalar(
            "SELECT seen_ms FROM operator_session WHERE token_sha256 = $1 AND until_ms > $2",
        )
        .bind(token.sha256())
        .bind(now_ms)
        .fetch_optional(&self.pool)
        .await
        .map_err(|it| self.failed(it))?;
        let Some(seen_ms) = seen_ms else {
            return Ok(None);
        };
        if now_ms - seen_ms >= TOUCH_MS {
            let statement = sqlx::query(
                "UPDATE operator_session SET seen_ms = $1, until_ms = $2 WHERE token_sha256 = $3",
            )
            .bind(now_ms)
            .bind(now_ms + LIFETIME_MS)
            .bind(token.sha256());
            if let Err(error) = self.execute(statement).await {
                tracing::warn!("when the operator was seen is not written: {error}");
            }
        }
        Ok(Some(SessionUser {
            person: None,
            role: AccessRole::Operator,
        }))
    }

    /// Starts a session of an operator without a name, and deletes expired ones.
    pub(crate) async fn begin_unnamed_operator_session(
        &self,
        now_ms: i64,
    ) -> Result<SecretToken, Error> {
        let failed = |it| self.failed(it);
        let token = SecretToken::generate();
        let mut transaction = self.begin().await?;
        let statement =
            sqlx::query("DELETE FROM operator_session WHERE until_ms <= $1").bind(now_ms);
        self.execute_in(&mut transaction, statement).await?;
        let statement = sqlx::query(
            "INSERT INTO operator_session (token_sha256, begun_ms, seen_ms, until_ms)
             VALUES ($1, $2, $2, $3)",
        )
        .bind(token.sha256())
        .bind(now_ms)
        .bind(now_ms + LIFETIME_MS);
        self.execute_in(&mut transaction, statement).await?;
        transaction.commit().await.map_err(failed)?;
        Ok(token)
    }

    /// Ends all sessions of operators without a name.
    pub(crate) async fn end_unnamed_operator_sessions(&self) -> Result<(), Error> {
        let statement = sqlx::query("DELETE FROM operator_session");
        self.execute(statement).await?;
        Ok(())
    }

    async fn touch(&self, token: &SecretToken, person: i64, now_ms: i64) -> Result<(), Error> {
        let statement =
            sqlx::query("UPDATE session SET seen_ms = $1, until_ms = $2 WHERE token_sha256 = $3")
                .bind(now_ms)
                .bind(now_ms + LIFETIME_MS)
                .bind(token.sha256());
        self.execute(statement).await?;
        let statement = sqlx::query("UPDATE person SET seen_ms = $1 WHERE no = $2")
            .bind(now_ms)
            .bind(person);
        self.execute(statement).await?;
        Ok(())
    }

    /// Ends a session of a person or of an operator without a name.
    pub(crate) async fn end_session(&self, token: &SecretToken) -> Result<(), Error> {
        for statement in [
            "DELETE FROM session WHERE token_sha256 = $1",
            "DELETE FROM operator_session WHERE token_sha256 = $1",
        ] {
            let statement = sqlx::query(statement).bind(token.sha256());
            self.execute(statement).await?;
        }
        Ok(())
    }

    /// Ends all sessions of a person, except one if given.
    pub(crate) async fn end_person_sessions_except(
        &self,
        person: PersonId,
        but: Option<&SecretToken>,
    ) -> Result<(), Error> {
        let mut transaction = self.begin().await?;
        self.end_person_sessions_in_transaction(&mut transaction, person, but)
            .await?;
        transaction.commit().await.map_err(|it| self.failed(it))
    }

    pub(super) async fn end_person_sessions_in_transaction(
        &self,
        transaction: &mut Transaction<'static, Any>,
        person: PersonId,
        but: Option<&SecretToken>,
    ) -> Result<(), Error> {
        let statement = sqlx::query("DELETE FROM session WHERE person = $1 AND token_sha256 <> $2")
            .bind(i64::from(person.0))
            .bind(but.map_or_else(String::new, SecretToken::sha256));
        self.execute_in(transaction, statement).await?;
        Ok(())
    }

    /// Starts a session of a person, deletes the expired sessions of all people, and commits.
    pub(super) async fn commit_new_session(
        &self,
        mut transaction: Transaction<'static, Any>,
        person: PersonId,
        now_ms: i64,
    ) -> Result<SecretToken, Error> {
        let token = SecretToken::generate();
        let statement = sqlx::query("DELETE FROM session WHERE until_ms <= $1").bind(now_ms);
        self.execute_in(&mut transaction, statement).await?;
        let statement = sqlx::query(
            "INSERT INTO session (token_sha256, person, begun_ms, seen_ms, until_ms)
             VALUES ($1, $2, $3, $3, $4)",
        )
        .bind(token.sha256())
        .bind(i64::from(person.0))
        .bind(now_ms)
        .bind(now_ms + LIFETIME_MS);
        self.execute_in(&mut transaction, statement).await?;
        let statement = sqlx::query("UPDATE person SET seen_ms = $1 WHERE no = $2")
            .bind(now_ms)
            .bind(i64::from(person.0));
        self.execute_in(&mut transaction, statement).await?;
        transaction.commit().await.map_err(|it| self.failed(it))?;
        Ok(token)
    }
}
