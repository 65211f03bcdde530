//! Annotation tasks and their items.
//!
//! ```text
//! review_task    the definition of a task, and what may change
//! review_item    the drawn items, never changed
//! review_event   what people did, append-only: annotation_tasks/events.rs
//! review_lease   the current leases
//! canary         what servers write to check the database: annotation_tasks/canary.rs
//! ```

pub(crate) mod events;
mod canary;
mod simulated;

use std::collections::BTreeMap;

use shared::annotation::export::ItemQueryAndDocIds;
use shared::annotation::{AnnotationItem, AnnotationTaskDefinition, ItemNo, PersonId};
use shared::api::annotation::{AnnotationTaskStatus, TaskId};
use shared::error::Error as InputError;
use sqlx::{Any, AssertSqlSafe, Transaction};

use crate::error::Error;
use crate::store::{Database, places};

/// An annotation task without its items.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AnnotationTaskRow {
    pub no: TaskId,
    /// The definition of the task, with the current guidelines.
    pub task: AnnotationTaskDefinition,
    /// The hash of the instances and the collection of the study when the task was created.
    pub study_hash: String,
    pub state: AnnotationTaskStatus,
    /// Whether the results are visible to everybody who can see the study.
    pub results_public: bool,
    /// The time of creation in milliseconds since 1970.
    pub made_ms: u64,
    /// Number of instances from which the items were drawn.
    pub n_candidates: u64,
}

/// An annotation task to create, in the status draft.
#[derive(Debug)]
pub(crate) struct NewAnnotationTask {
    pub task: AnnotationTaskDefinition,
    /// See [`AnnotationTaskRow::study_hash`].
    pub study_hash: String,
    pub made_ms: u64,
    pub n_candidates: u64,
    pub items: Vec<AnnotationItemWithExternalIds>,
}

/// An item with the external ids of its query and documents.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AnnotationItemWithExternalIds {
    pub item: AnnotationItem,
    pub ids: ItemQueryAndDocIds,
}

row! {
    struct Row {
        no: i64,
        study_hash: String,
        task: String,
        state: String,
        results_public: i64,
        made_ms: i64,
        n_candidates: i64,
    }
}

impl Database {
    /// Creates a task with its items in one transaction, and returns its id.
    pub(crate) async fn add_annotation_task(
        &self,
        new: &NewAnnotationTask,
    ) -> Result<TaskId, Error> {
        let mut transaction = self.begin().await?;
        let task = self.insert_task_with_items(&mut transaction, new).await?;
        transaction.commit().await.map_err(|it| self.failed(it))?;
        Ok(task)
    }

    async fn insert_task_with_items(
        &self,
        transaction: &mut Transaction<'static, Any>,
        new: &NewAnnotationTask,
    ) -> Result<TaskId, Error> {
        /// Each row has four values; SQLite allows 32,766 in a statement.
        const ROWS: usize = 8_000;

        let no: i64 = sqlx::query_scalar(
            "INSERT INTO review_task (study, study_hash, task, state, made_ms, n_candidates)
             VALUES ($1, $2, $3, $4, $5, $6) RETURNING no",
        )
        .bind(&new.task.study)
        .bind(&new.study_hash)
        .bind(json(&new.task))
        .bind(name_of(AnnotationTaskStatus::Draft))
        .bind(new.made_ms as i64)
        .bind(new.n_candidates as i64)
        .fetch_one(&mut **transaction)
        .await
        .map_err(|it| self.failed(it))?;
        let numbered: Vec<(i64, &AnnotationItemWithExternalIds)> = (0..).zip(&new.items).collect();
        for rows in numbered.chunks(ROWS) {
            let sql = format!(
                "INSERT INTO review_item (task, no, item, named) VALUES {}",
                places(rows.len(), 4)
            );
            let mut insert = sqlx::query(AssertSqlSafe(sql)).persistent(false);
            for (number, row) in rows {
                let (item, named) = (json(&row.item), json(&row.ids));
                insert = insert.bind(no).bind(*number).bind(item).bind(named);
            }
            self.execute_in(transaction, insert).await?;
        }
        Ok(TaskId(no as u32))
    }

    /// Returns the ids of all tasks, newest first.
    pub(crate) async fn annotation_task_ids(&self) -> Result<Vec<TaskId>, Error> {
        let numbers: Vec<i64> = sqlx::query_scalar("SELECT no FROM review_task ORDER BY no DESC")
            .fetch_all(&self.pool)
            .await
            .map_err(|it| self.failed(it))?;
        Ok(numbers.into_iter().map(|it| TaskId(it as u32)).collect())
    }

    /// Returns an annotation task by its number; returns an error if there is none.
    pub(crate) async fn annotation_task(&self, task: TaskId) -> Result<AnnotationTaskRow, Error> {
        let query = sqlx::query_as::<_, Row>(
            "SELECT no, study_hash, task, state, results_public, made_ms, n_candidates
             FROM review_task WHERE no = $1",
        )
        .bind(i64::from(task.0));
        let row = self.find_row(query).await?;
        row.ok_or_else(|| task_not_found_error(task))?.into_task()
    }

    /// Returns the items of a task, by their numbers.
    pub(crate) async fn annotation_task_items(
        &self,
        task: TaskId,
    ) -> Result<Vec<AnnotationItemWithExternalIds>, Error> {
        let rows: Vec<(i64, String, String)> =
            sqlx::query_as("SELECT no, item, named FROM review_item WHERE task = $1 ORDER BY no")
                .bind(i64::from(task.0))
                .fetch_all(&self.pool)
                .await
                .map_err(|it| self.failed(it))?;
        let read = |(at, (no, item, named)): (i64, (i64, String, String))| {
            let place = ItemNo(no as u32);
            if at != no {
                return Err(damaged(task, format!("item {at} is not there")));
            }
            Ok(AnnotationItemWithExternalIds {
                item: parsed(task, || format!("item {}", place.0), &item)?,
                ids: parsed(task, || format!("item {}", place.0), &named)?,
            })
        };
        (0..).zip(rows).map(read).collect()
    }

    /// Returns the names of all people who sent an event of a task.
    pub(crate) async fn annotator_names_of_task(
        &self,
        task: TaskId,
    ) -> Result<BTreeMap<PersonId, String>, Error> {
        let rows: Vec<(i64, String)> = sqlx::query_as(
            "SELECT no, name FROM person
             WHERE no IN (SELECT person FROM review_event WHERE task = $1)",
        )
        .bind(i64::from(task.0))
        .fetch_all(&self.pool)
        .await
        .map_err(|it| self.failed(it))?;
        let named = rows
            .into_iter()
            .map(|(no, name)| (PersonId(no as u32), name));
        Ok(named.collect())
    }

    /// Updates the definition, the status and the visibility of the results of a task.
    pub(crate) async fn update_annotation_task_row(
        &self,
        changed: &AnnotationTaskRow,
    ) -> Result<(), Error> {
        let statement = sqlx::query(
            "UPDATE review_task SET state = $1, results_public = $2, task = $3 WHERE no = $4",
        )
        .bind(name_of(changed.state))
        .bind(i64::from(changed.results_public))
        .bind(json(&changed.task))
        .bind(i64::from(changed.no.0));
        match self.execute(statement).await? {
            0 => Err(task_not_found_error(changed.no)),
            _ => Ok(()),
        }
    }
}

impl Row {
    fn into_task(self) -> Result<AnnotationTaskRow, Error> {
        let no = TaskId(self.no as u32);
        let state = match self.state.as_str() {
            "draft" => AnnotationTaskStatus::Draft,
            "open" => AnnotationTaskStatus::Open,
            "closed" => AnnotationTaskStatus::Closed,
            other => return Err(damaged(no, format!("its state is `{other}`"))),
        };
        Ok(AnnotationTaskRow {
            no,
            task: parsed(no, || "the task".to_owned(), &self.task)?,
            study_hash: self.study_hash,
            state,
            results_public: self.results_public != 0,
            made_ms: self.made_ms as u64,
            n_candidates: self.n_candidates as u64,
        })
    }
}

fn name_of(state: AnnotationTaskStatus) -> &'static str {
    match state {
        AnnotationTaskStatus::Draft => "draft",
        AnnotationTaskStatus::Open => "open",
        AnnotationTaskStatus::Closed => "closed",
    }
}

/// Returns the error for an unknown task.
pub(crate) fn task_not_found_error(task: TaskId) -> Error {
    InputError::name_not_found("annotation task", task.0).into()
}

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("it has no map with other keys than texts")
}

fn parsed<T: serde::de::DeserializeOwned>(
    task: TaskId,
    what: impl Fn() -> String,
    json: &str,
) -> Result<T, Error> {
    let read = serde_json::from_str(json);
    read.map_err(|it| damaged(task, format!("{}: {it}", what())))
}

fn damaged(task: TaskId, reason: String) -> Error {
    Error::CorruptData {
        what: format!("annotation task {}", task.0),
        reason,
    }
}
