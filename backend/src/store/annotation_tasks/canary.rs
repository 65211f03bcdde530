//! The check that an annotation event is stored and read back as it was.

use shared::annotation::event::{AnnotationEventAction, ItemProblemReport};
use shared::annotation::{
    AnnotationEventKey, ClientAnnotationEvent, ItemNo, PersonId, ReceivedAnnotationEvent,
};
use shared::api::annotation::TaskId;

use super::events::AnnotationWriteBatch;
use super::json;
use crate::error::Error;
use crate::store::Database;

/// The scratch task and its author. No real one has this number, and neither is ever committed.
const SCRATCH: u32 = u32::MAX;

/// Time after which the row of a server that has ended is removed.
const KEPT_MS: i64 = 24 * 3_600_000;

impl Database {
    /// Writes an event twice and reads it back: into the log of a scratch task in a transaction
    /// that is rolled back, and into the row of this server in the table `canary`, which is
    /// committed. No list, count or backup has either. Returns an error if something was not stored
    /// or was read back differently.
    pub(crate) async fn check_by_writing_an_event(
        &self,
        server: &str,
        now_ms: i64,
    ) -> Result<(), Error> {
        let mut key = [0; 16];
        getrandom::fill(&mut key).expect("the operating system gives random numbers");
        let event = ClientAnnotationEvent {
            key: AnnotationEventKey::from_bytes(key),
            created_ms: now_ms as u64,
            action: AnnotationEventAction::Reported(ItemProblemReport {
                item: ItemNo(0),
                note: "A check of this site, – “as text”.".to_owned(),
            }),
        };
        self.write_to_scratch_task(&event, now_ms).await?;
        self.write_to_canary_row(server, &event, now_ms).await
    }

    async fn write_to_scratch_task(
        &self,
        event: &ClientAnnotationEvent,
        now_ms: i64,
    ) -> Result<(), Error> {
        let failed = |it| self.failed(it);
        let scratch = i64::from(SCRATCH);
        let mut transaction = self.begin().await?;
        let statement = sqlx::query(
            "INSERT INTO person (no, name, name_key, role, since_ms, seen_ms)
             VALUES ($1, 'Canary', 'the  canary', 'annotator', $2, $2)",
        )
        .bind(scratch)
        .bind(now_ms);
        self.execute_in(&mut transaction, statement).await?;
        let statement = sqlx::query(
            "INSERT INTO review_task
                 (no, study, study_hash, task, state, made_ms, n_candidates)
             VALUES ($1, 'canary', '', '{}', 'draft', $2, 0)",
        )
        .bind(scratch)
        .bind(now_ms);
        self.execute_in(&mut transaction, statement).await?;
        let entry = ReceivedAnnotationEvent {
            person: PersonId(SCRATCH),
            received_ms: now_ms as u64,
            event: event.clone(),
        };
        let writing = AnnotationWriteBatch {
            events: vec![(TaskId(SCRATCH), 0, entry)],
            ..AnnotationWriteBatch::default()
        };
        self.insert_events_and_leases(&mut transaction, &writing)
            .await?;
        let stored: Option<String> =
            sqlx::query_scalar("SELECT event FROM review_event WHERE task = $1 AND seq = 0")
                .bind(scratch)
                .fetch_optional(&mut *transaction)
                .await
                .map_err(failed)?;
        transaction.rollback().await.map_err(failed)?;
        expect_event(stored, event, "the log of a task")
    }

    async fn write_to_canary_row(
        &self,
        server: &str,
        event: &ClientAnnotationEvent,
        now_ms: i64,
    ) -> Result<(), Error> {
        let failed = |it| self.failed(it);
        let mut transaction = self.begin().await?;
        let statement = sqlx::query("DELETE FROM canary WHERE at_ms <= $1").bind(now_ms - KEPT_MS);
        self.execute_in(&mut transaction, statement).await?;
        let statement = sqlx::query(
            "INSERT INTO canary (server, event, at_ms) VALUES ($1, $2, $3)
             ON CONFLICT (server) DO UPDATE SET event = excluded.event, at_ms = excluded.at_ms",
        )
        .bind(server)
        .bind(json(event))
        .bind(now_ms);
        self.execute_in(&mut transaction, statement).await?;
        transaction.commit().await.map_err(failed)?;
        let stored: Option<String> =
            sqlx::query_scalar("SELECT event FROM canary WHERE server = $1")
                .bind(server)
                .fetch_optional(&self.pool)
                .await
                .map_err(failed)?;
        expect_event(stored, event, "the table canary")
    }
}

fn expect_event(
    stored: Option<String>,
    event: &ClientAnnotationEvent,
    place: &str,
) -> Result<(), Error> {
    let reason = match stored {
        Some(stored) if stored == json(event) => return Ok(()),
        Some(_) => "has another event than was written",
        None => "does not have an event that was written",
    };
    Err(Error::CorruptData {
        what: "the database".to_owned(),
        reason: format!("{place} {reason}; check its disk, and restore it from a backup"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::tests::{TestFolder, tell};

    #[tokio::test]
    async fn the_check_leaves_one_row_that_nothing_shows() {
        for place in TestFolder::each() {
            let store = place.store().await;
            let day_ms = KEPT_MS;
            for (server, now_ms) in [("a", 0), ("b", 1), ("b", 2), ("b", day_ms)] {
                store
                    .check_by_writing_an_event(server, now_ms)
                    .await
                    .unwrap();
            }
            let rows: Vec<(String, i64)> = sqlx::query_as("SELECT server, at_ms FROM canary")
                .fetch_all(&store.pool)
                .await
                .unwrap();
            assert_eq!(rows, [("b".to_owned(), day_ms)]);
            assert_eq!(store.annotation_task_ids().await.unwrap(), []);
            let people = store.list_people_and_invitations(0).await.unwrap();
            assert!(people.people.is_empty());
            // The next real numbers are not affected.
            let next: i64 = sqlx::query_scalar(
                "INSERT INTO person (name, name_key, role, since_ms, seen_ms)
                 VALUES ('Ada', 'ada', 'annotator', 0, 0) RETURNING no",
            )
            .fetch_one(&store.pool)
            .await
            .unwrap();
            assert_eq!(next, 1);
        }
    }

    #[tokio::test]
    async fn a_database_that_changes_what_is_written_or_takes_nothing_fails() {
        let place = TestFolder::sqlite();
        let store = place.store().await;
        let check = async || {
            let checked = store.check_by_writing_an_event("a", 1).await;
            checked.unwrap_err().to_string()
        };
        tell(
            &store,
            "CREATE TEMP TRIGGER changed AFTER INSERT ON main.canary
             BEGIN UPDATE canary SET event = 'x'; END",
        )
        .await;
        let error = check().await;
        assert!(error.contains("the table canary has another"), "{error}");
        tell(&store, "PRAGMA query_only = 1").await;
        let error = check().await;
        assert!(error.contains("cannot be written"), "{error}");
    }
}
