//! The log of review tasks, and what is promised to whom.
//!
//! Whatever came in the meantime is written by one transaction. Two keys refuse what must not be:
//! a second event with the key of another, and a second one at a place of the log, as another
//! server would write.

use shared::annotation::assignment::Lease;
use shared::annotation::{ItemNo, LogEntry, PersonId};
use shared::api::annotation::TaskId;
use sqlx::AssertSqlSafe;

use crate::error::Error;
use crate::store::annotation_tasks::{damaged, json, parsed};
use crate::store::{Store, places};

/// What is written at once.
#[derive(Debug, Default)]
pub(crate) struct AnnotationWrite {
    /// Events with their places in the logs of their tasks.
    pub events: Vec<(TaskId, usize, LogEntry)>,
    /// Promises, each item and person of a task once.
    pub leases: Vec<(TaskId, Lease)>,
    /// Now, in milliseconds since 1970: promises that ran out before are forgotten.
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

impl Store {
    /// The log of a task from a place on, in the order in which its events came.
    pub(crate) async fn review_events(
        &self,
        task: TaskId,
        from: usize,
    ) -> Result<Vec<LogEntry>, Error> {
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
            Ok(LogEntry {
                person: PersonId(row.person as u32),
                received_ms: row.at_ms as u64,
                event: parsed(task, || format!("event {at}"), &row.event)?,
            })
        };
        (from as i64..).zip(rows).map(read).collect()
    }

    /// What is promised of a task, some of it for a time that is over.
    pub(crate) async fn review_leases(&self, task: TaskId) -> Result<Vec<Lease>, Error> {
        let rows: Vec<(i64, i64, i64)> = sqlx::query_as(
            "SELECT item, person, until_ms FROM review_lease
             WHERE task = $1 ORDER BY item, person",
        )
        .bind(i64::from(task.0))
        .fetch_all(&self.pool)
        .await
        .map_err(|it| self.failed(it))?;
        let lease = |(item, person, until_ms)| Lease {
            item: ItemNo(item as u32),
            person: PersonId(person as u32),
            expires_ms: until_ms as u64,
        };
        Ok(rows.into_iter().map(lease).collect())
    }

    /// Writes everything or nothing. After it, what was written survives a loss of power.
    pub(crate) async fn write_annotations(&self, writing: &AnnotationWrite) -> Result<(), Error> {
        /// Six values each at most; SQLite takes 32,766.
        const ROWS: usize = 5_000;

        let failed = |it| self.failed(it);
        let mut transaction = self.begin().await?;
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
            insert.execute(&mut *transaction).await.map_err(failed)?;
        }
        if !writing.leases.is_empty() {
            sqlx::query("DELETE FROM review_lease WHERE until_ms <= $1")
                .bind(writing.now_ms as i64)
                .execute(&mut *transaction)
                .await
                .map_err(failed)?;
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
            insert.execute(&mut *transaction).await.map_err(failed)?;
        }
        transaction.commit().await.map_err(failed)
    }
}
