//! The logs and leases of annotation tasks.
//!
//! Everything that is waiting is written in one transaction. Two unique keys prevent inconsistent
//! logs: two events with the same key, and two events at the same position of a log, which a second
//! server would write.

use shared::annotation::assignment::ItemLease;
use shared::annotation::{ItemNo, PersonId, ReceivedAnnotationEvent};
use shared::api::annotation::TaskId;
use sqlx::{Any, AssertSqlSafe, Transaction};

use crate::error::Error;
use crate::store::annotation_tasks::{damaged, json, parsed};
use crate::store::{Database, places};

/// Events and leases that are written in one transaction.
#[derive(Debug, Default)]
pub(crate) struct AnnotationWriteBatch {
    /// Events with their positions in the logs of their tasks.
    pub events: Vec<(TaskId, usize, ReceivedAnnotationEvent)>,
    /// Leases, at most one for each task, item and person.
    pub leases: Vec<(TaskId, ItemLease)>,
    /// The current time in milliseconds since 1970. Leases that expired before are deleted.
    pub now_ms: u64,
}

row! {
    struct EventRow {
        seq: i64,
        person: i64,
        at_ms: i64,
        event: String,
    }
}

impl Database {
    /// Returns the events of a task from a position on, in the order of arrival.
    pub(crate) async fn annotation_events_from_position(
        &self,
        task: TaskId,
        from: usize,
    ) -> Result<Vec<ReceivedAnnotationEvent>, Error> {
        let rows: Vec<EventRow> = sqlx::query_as(
            "SELECT seq, person, at_ms, event FROM review_event
             WHERE task = $1 AND seq >= $2 ORDER BY seq",
        )
        .bind(i64::from(task.0))
        .bind(from as i64)
        .fetch_all(&self.pool)
        .await
        .map_err(|it| self.failed(it))?;
        let read = |(at, row): (i64, EventRow)| {
            if at != row.seq {
                return Err(damaged(task, format!("event {at} is not there")));
            }
            Ok(ReceivedAnnotationEvent {
                person: PersonId(row.person as u32),
                received_ms: row.at_ms as u64,
                event: parsed(task, || format!("event {at}"), &row.event)?,
            })
        };
        (from as i64..).zip(rows).map(read).collect()
    }

    /// Returns the leases of a task, including expired ones.
    pub(crate) async fn annotation_leases_including_expired(
        &self,
        task: TaskId,
    ) -> Result<Vec<ItemLease>, Error> {
        let rows: Vec<(i64, i64, i64)> = sqlx::query_as(
            "SELECT item, person, until_ms FROM review_lease
             WHERE task = $1 ORDER BY item, person",
        )
        .bind(i64::from(task.0))
        .fetch_all(&self.pool)
        .await
        .map_err(|it| self.failed(it))?;
        let lease = |(item, person, until_ms)| ItemLease {
            item: ItemNo(item as u32),
            person: PersonId(person as u32),
            expires_ms: until_ms as u64,
        };
        Ok(rows.into_iter().map(lease).collect())
    }

    /// Writes events and leases in one transaction. Once this returns, they survive a loss of
    /// power.
    pub(crate) async fn write_events_and_leases(
        &self,
        writing: &AnnotationWriteBatch,
    ) -> Result<(), Error> {
        let mut transaction = self.begin().await?;
        self.insert_events_and_leases(&mut transaction, writing)
            .await?;
        transaction.commit().await.map_err(|it| self.failed(it))
    }

    pub(super) async fn insert_events_and_leases(
        &self,
        transaction: &mut Transaction<'static, Any>,
        writing: &AnnotationWriteBatch,
    ) -> Result<(), Error> {
        /// Each row has at most six values; SQLite allows 32,766 in a statement.
        const ROWS: usize = 5_000;

        for rows in writing.events.chunks(ROWS) {
            let sql = format!(
                "INSERT INTO review_event (task, seq, key, person, at_ms, event) VALUES {}",
                places(rows.len(), 6)
            );
            let mut insert = sqlx::query(AssertSqlSafe(sql)).persistent(false);
            for (task, seq, entry) in rows {
                insert = insert
                    .bind(i64::from(task.0))
                    .bind(*seq as i64)
                    .bind(entry.event.key.to_string())
                    .bind(i64::from(entry.person.0))
                    .bind(entry.received_ms as i64)
                    .bind(json(&entry.event));
            }
            self.execute_in(transaction, insert).await?;
        }
        if !writing.leases.is_empty() {
            let statement = sqlx::query("DELETE FROM review_lease WHERE until_ms <= $1")
                .bind(writing.now_ms as i64);
            self.execute_in(transaction, statement).await?;
        }
        for rows in writing.leases.chunks(ROWS) {
            let sql = format!(
                "INSERT INTO review_lease (task, item, person, until_ms) VALUES {}
                 ON CONFLICT (task, item, person) DO UPDATE SET until_ms = excluded.until_ms",
                places(rows.len(), 4)
            );
            let mut insert = sqlx::query(AssertSqlSafe(sql)).persistent(false);
            for (task, lease) in rows {
                insert = insert
                    .bind(i64::from(task.0))
                    .bind(i64::from(lease.item.0))
                    .bind(i64::from(lease.person.0))
                    .bind(lease.expires_ms as i64);
            }
            self.execute_in(transaction, insert).await?;
        }
        Ok(())
    }
}
