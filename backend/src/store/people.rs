//! The people of the site: their accounts and how they get access.
//!
//! Times are milliseconds since 1970 and are passed by the caller. Only the SHA-256 of tokens is
//! stored. Access can be revoked. The row of a person is never removed, since their work remains: a
//! deleted person has a row without name and password. Simulated annotators (`people/simulated.rs`)
//! have rows too, which no function of people returns or changes.

mod invitations;
mod sessions;
mod own_data;
mod simulated;

use shared::annotation::PersonId;
use shared::api::people::{
    AccessRole, PendingInvitation, PeopleAndInvitationsResponse, Person, PersonAccountSummary,
};
use shared::error::Error as InputError;
use shared::user_text::normalize_person_name;
use sqlx::{Any, Transaction};
use unicode_normalization::UnicodeNormalization;

use crate::error::Error;
use crate::store::{Database, may_be_stored};

pub(crate) use invitations::{JoiningPersonDetails, NewInvitation};

/// A person with their role and password, without their sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PersonRecord {
    /// The id and name of the person.
    pub person: Person,
    /// The role of the person.
    pub role: AccessRole,
    /// The Argon2id hash of the password, if the person has one.
    pub password_hash: Option<String>,
    /// Whether the person's access is revoked.
    pub is_revoked: bool,
    /// Whether the account was deleted.
    pub is_deleted: bool,
}

row! {
    struct PersonRow {
        no: i64,
        name: String,
        role: String,
        password_hash: Option<String>,
        revoked_ms: Option<i64>,
        deleted_ms: Option<i64>,
    }
}

row! {
    struct PersonListRow {
        no: i64,
        name: String,
        role: String,
        password_hash: Option<String>,
        since_ms: i64,
        seen_ms: i64,
        revoked_ms: Option<i64>,
        deleted_ms: Option<i64>,
        n_sessions: i64,
    }
}

row! {
    struct InvitedRow {
        no: i64,
        role: String,
        person: Option<i64>,
        note: String,
        until_ms: i64,
    }
}

impl Database {
    /// Returns all people by their numbers, without simulated annotators, and the invitations that
    /// can still be used, newest first.
    pub(crate) async fn list_people_and_invitations(
        &self,
        now_ms: i64,
    ) -> Result<PeopleAndInvitationsResponse, Error> {
        let people: Vec<PersonListRow> = sqlx::query_as(
            "SELECT no, name, role, password_hash, since_ms, seen_ms, revoked_ms, deleted_ms,
                 (SELECT count(*) FROM session
                  WHERE session.person = person.no AND session.until_ms > $1) AS n_sessions
             FROM person WHERE simulated = 0 ORDER BY no",
        )
        .bind(now_ms)
        .fetch_all(&self.pool)
        .await
        .map_err(|it| self.failed(it))?;
        let invited: Vec<InvitedRow> = sqlx::query_as(
            "SELECT no, role, person, note, until_ms FROM invitation
             WHERE used_ms IS NULL AND revoked_ms IS NULL AND until_ms > $1
             ORDER BY no DESC",
        )
        .bind(now_ms)
        .fetch_all(&self.pool)
        .await
        .map_err(|it| self.failed(it))?;
        let people = people.into_iter().map(PersonListRow::into_somebody);
        let invited = invited.into_iter().map(InvitedRow::into_invited);
        Ok(PeopleAndInvitationsResponse {
            people: people.collect::<Result<_, _>>()?,
            invitations: invited.collect::<Result<_, _>>()?,
        })
    }

    /// Returns a person by their number, including one whose access is revoked; returns an error if
    /// there is none.
    pub(crate) async fn person_by_id(&self, no: PersonId) -> Result<PersonRecord, Error> {
        let query = sqlx::query_as::<_, PersonRow>(
            "SELECT no, name, role, password_hash, revoked_ms, deleted_ms FROM person
             WHERE no = $1 AND simulated = 0",
        )
        .bind(i64::from(no.0));
        let found = self.find_row(query).await?;
        match found {
            Some(row) => row.into_known(),
            None => Err(InputError::name_not_found("person", no.0.to_string()).into()),
        }
    }

    /// Returns a person by their name, ignoring case and other differences that
    /// [`normalized_name_key`] removes.
    pub(crate) async fn person_by_name(&self, name: &str) -> Result<Option<PersonRecord>, Error> {
        let key = normalized_name_key(name);
        if !may_be_stored(&key) {
            return Ok(None);
        }
        let query = sqlx::query_as::<_, PersonRow>(
            "SELECT no, name, role, password_hash, revoked_ms, deleted_ms FROM person
             WHERE name_key = $1 AND simulated = 0",
        )
        .bind(key);
        let found = self.find_row(query).await?;
        found.map(PersonRow::into_known).transpose()
    }

    /// Sets or removes the password of a person.
    pub(crate) async fn set_password(
        &self,
        no: PersonId,
        password_hash: Option<&str>,
    ) -> Result<(), Error> {
        let statement = sqlx::query("UPDATE person SET password_hash = $1 WHERE no = $2")
            .bind(password_hash)
            .bind(i64::from(no.0));
        self.execute(statement).await?;
        Ok(())
    }

    /// Revokes the access of a person: ends all sessions, and withdraws all unused invitations for
    /// or by that person.
    pub(crate) async fn revoke_access_of_person(
        &self,
        no: PersonId,
        now_ms: i64,
    ) -> Result<(), Error> {
        let failed = |it| self.failed(it);
        let mut transaction = self.begin().await?;
        let no = i64::from(no.0);
        let statement =
            sqlx::query("UPDATE person SET revoked_ms = $1 WHERE no = $2 AND revoked_ms IS NULL")
                .bind(now_ms)
                .bind(no);
        self.execute_in(&mut transaction, statement).await?;
        self.end_access(&mut transaction, no, now_ms).await?;
        transaction.commit().await.map_err(failed)
    }

    /// Ends all sessions, and withdraws all unused invitations for or by a person.
    async fn end_access(
        &self,
        transaction: &mut sqlx::Transaction<'_, sqlx::Any>,
        no: i64,
        now_ms: i64,
    ) -> Result<(), Error> {
        let statement = sqlx::query("DELETE FROM session WHERE person = $1").bind(no);
        self.execute_in(transaction, statement).await?;
        let statement = sqlx::query(
            "UPDATE invitation SET revoked_ms = $1
             WHERE (person = $2 OR made_by = $2) AND used_ms IS NULL AND revoked_ms IS NULL",
        )
        .bind(now_ms)
        .bind(no);
        self.execute_in(transaction, statement).await?;
        Ok(())
    }

    /// Adds a person. Returns an error if a name with the same [`normalized_name_key`] exists.
    async fn add_person(
        &self,
        transaction: &mut Transaction<'static, Any>,
        joining: &JoiningPersonDetails,
        role: AccessRole,
        now_ms: i64,
    ) -> Result<PersonId, Error> {
        let name = normalize_person_name(&joining.name)?;
        let added: Option<i64> = sqlx::query_scalar(
            "INSERT INTO person (name, name_key, role, password_hash, since_ms, seen_ms)
             VALUES ($1, $2, $3, $4, $5, $5)
             ON CONFLICT (name_key) DO NOTHING
             RETURNING no",
        )
        .bind(&name)
        .bind(normalized_name_key(&name))
        .bind(role.name())
        .bind(joining.password_hash.as_deref())
        .bind(now_ms)
        .fetch_optional(&mut **transaction)
        .await
        .map_err(|it| self.failed(it))?;
        match added {
            Some(no) => number(no).map(PersonId),
            None => Err(Error::NameTaken { name }),
        }
    }
}

/// Returns the key under which names count as the same: in lower case, in normal form KC
/// (full-width or superscript letters become plain ones), with single spaces and without invisible
/// joiners. Similar letters of different scripts remain different.
pub(crate) fn normalized_name_key(name: &str) -> String {
    let words: Vec<&str> = name.split_whitespace().collect();
    let seen = words.join(" ").replace(['\u{200C}', '\u{200D}'], "");
    let lower = seen.nfkc().collect::<String>().to_lowercase();
    lower.nfkc().collect()
}

impl PersonRow {
    fn into_known(self) -> Result<PersonRecord, Error> {
        Ok(PersonRecord {
            role: role(&self.role)?,
            is_revoked: self.revoked_ms.is_some(),
            is_deleted: self.deleted_ms.is_some(),
            person: Person {
                id: PersonId(number(self.no)?),
                name: self.name,
                has_password: self.password_hash.is_some(),
            },
            password_hash: self.password_hash,
        })
    }
}

impl PersonListRow {
    fn into_somebody(self) -> Result<PersonAccountSummary, Error> {
        Ok(PersonAccountSummary {
            person: Person {
                id: PersonId(number(self.no)?),
                name: self.name,
                has_password: self.password_hash.is_some(),
            },
            role: role(&self.role)?,
            joined_ms: moment(self.since_ms),
            last_seen_ms: moment(self.seen_ms),
            n_sessions: number(self.n_sessions)?,
            is_revoked: self.revoked_ms.is_some(),
            is_deleted: self.deleted_ms.is_some(),
        })
    }
}

impl InvitedRow {
    fn into_invited(self) -> Result<PendingInvitation, Error> {
        Ok(PendingInvitation {
            id: number(self.no)?,
            role: role(&self.role)?,
            person: self.person.map(number).transpose()?.map(PersonId),
            note: self.note,
            expires_ms: moment(self.until_ms),
        })
    }
}

fn role(name: &str) -> Result<AccessRole, Error> {
    let found = AccessRole::ALL.iter().copied().find(|it| it.name() == name);
    found.ok_or_else(|| damaged(format!("`{name}` is no role")))
}

fn number(stored: i64) -> Result<u32, Error> {
    u32::try_from(stored).map_err(|_| damaged(format!("{stored} is no number of anybody")))
}

/// Converts a stored time; times before 1970 become 0.
fn moment(stored_ms: i64) -> u64 {
    u64::try_from(stored_ms).unwrap_or(0)
}

fn damaged(reason: String) -> Error {
    Error::CorruptData {
        what: "the list of people".to_owned(),
        reason,
    }
}

#[cfg(test)]
mod tests;
