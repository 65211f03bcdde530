//! The rows of a backup: each table as JSON lines, in the same format for both databases.
//!
//! The first line has the names of the columns, and each other line a row: numbers, texts and
//! `null`; binary values are in base64. Rows are sorted by their key.

use std::fmt;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use futures_util::TryStreamExt;
use serde_json::{Value, json};
use sqlx::any::{Any, AnyRow};
use sqlx::{AssertSqlSafe, Row, Transaction};

use crate::error::Error;
use crate::remedy;
use crate::store::{Database, DatabaseConfig, postgres};

/// The type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BackupColumnType {
    Integer,
    Real,
    Text,
    /// Binary values, in base64.
    Bytes,
}

use BackupColumnType::{Bytes, Integer, Real, Text};

/// A table in the current layout. New tables and columns must be added here; a test checks it.
pub(super) struct BackupTableSchema {
    pub(super) name: &'static str,
    /// The first layout that has the table.
    pub(super) since_layout: i64,
    /// Number of key columns; these come first.
    pub(super) n_keys: usize,
    /// Which rows are backed up.
    backup_rows: BackedUpRows,
    pub(super) columns: &'static [(&'static str, BackupColumnType)],
}

/// Which rows of a table are backed up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BackedUpRows {
    /// All rows of the table.
    All,
    /// The rows that satisfy an SQL condition.
    Where(&'static str),
}

/// Tables that are not backed up. With sessions an old cookie, or a backup in the wrong hands,
/// would give access; after a restore, people sign in again with their password or a new link. The
/// canary is of the servers that run now. What cluster jobs have computed is in their storage.
#[cfg(test)]
const LEFT_OUT: [&str; 5] = [
    "session",
    "operator_session",
    "canary",
    "cluster_jobs",
    "cluster_shards",
];

/// All tables, each after those that it refers to.
pub(super) const TABLES: [BackupTableSchema; 15] = [
    BackupTableSchema {
        name: "studies",
        since_layout: 1,
        n_keys: 1,
        backup_rows: BackedUpRows::All,
        columns: &[
            ("name", Text),
            ("title", Text),
            ("made", Text),
            ("instances_hash", Text),
            ("collection_hash", Text),
            ("n_instances", Integer),
            ("published", Integer),
            ("revision", Integer),
        ],
    },
    BackupTableSchema {
        name: "rankers",
        since_layout: 1,
        n_keys: 1,
        backup_rows: BackedUpRows::All,
        columns: &[
            ("fingerprint", Text),
            ("spec", Text),
            ("label", Text),
            ("detail", Text),
            ("kind", Text),
            ("note", Text),
        ],
    },
    BackupTableSchema {
        name: "jobs",
        since_layout: 1,
        n_keys: 1,
        backup_rows: BackedUpRows::All,
        columns: &[
            ("number", Integer),
            ("id", Text),
            ("title", Text),
            ("ranker", Text),
            ("state", Text),
            ("problem", Text),
            ("token_budget", Integer),
            ("n_threads", Integer),
            ("n_pairs", Integer),
            ("n_done", Integer),
            ("pairs", Bytes),
            ("created", Text),
            ("certificate", Text),
        ],
    },
    BackupTableSchema {
        name: "job_queries",
        since_layout: 1,
        n_keys: 2,
        backup_rows: BackedUpRows::All,
        columns: &[("job", Integer), ("place", Integer), ("query", Text)],
    },
    BackupTableSchema {
        name: "job_texts",
        since_layout: 1,
        n_keys: 2,
        backup_rows: BackedUpRows::All,
        columns: &[("job", Integer), ("place", Integer), ("text", Text)],
    },
    BackupTableSchema {
        name: "job_batches",
        since_layout: 1,
        n_keys: 2,
        backup_rows: BackedUpRows::All,
        columns: &[
            ("job", Integer),
            ("batch", Integer),
            ("texts", Bytes),
            ("done_at", Text),
        ],
    },
    BackupTableSchema {
        name: "job_scores",
        since_layout: 1,
        n_keys: 2,
        backup_rows: BackedUpRows::All,
        columns: &[
            ("job", Integer),
            ("pair", Integer),
            ("score", Real),
            ("truncated", Integer),
        ],
    },
    BackupTableSchema {
        name: "score_files",
        since_layout: 1,
        n_keys: 2,
        backup_rows: BackedUpRows::All,
        columns: &[
            ("ranker", Text),
            ("name", Text),
            ("n_pairs", Integer),
            ("made", Text),
        ],
    },
    BackupTableSchema {
        name: "operator",
        since_layout: 1,
        n_keys: 1,
        backup_rows: BackedUpRows::All,
        columns: &[("one", Integer), ("token_sha256", Text)],
    },
    BackupTableSchema {
        name: "person",
        since_layout: 3,
        n_keys: 1,
        backup_rows: BackedUpRows::All,
        columns: &[
            ("no", Integer),
            ("name", Text),
            ("name_key", Text),
            ("role", Text),
            ("password_hash", Text),
            ("since_ms", Integer),
            ("seen_ms", Integer),
            ("revoked_ms", Integer),
            ("deleted_ms", Integer),
            ("simulated", Integer),
        ],
    },
    BackupTableSchema {
        name: "invitation",
        since_layout: 3,
        n_keys: 1,
        // Invitations that were withdrawn after the backup must not become valid again.
        backup_rows: BackedUpRows::Where("used_ms IS NOT NULL"),
        columns: &[
            ("no", Integer),
            ("token_sha256", Text),
            ("role", Text),
            ("person", Integer),
            ("note", Text),
            ("made_by", Integer),
            ("made_ms", Integer),
            ("until_ms", Integer),
            ("used_ms", Integer),
            ("used_by", Integer),
            ("revoked_ms", Integer),
        ],
    },
    BackupTableSchema {
        name: "review_task",
        since_layout: 4,
        n_keys: 1,
        backup_rows: BackedUpRows::All,
        columns: &[
            ("no", Integer),
            ("study", Text),
            ("study_hash", Text),
            ("task", Text),
            ("state", Text),
            ("results_public", Integer),
            ("made_ms", Integer),
            ("n_candidates", Integer),
        ],
    },
    BackupTableSchema {
        name: "review_item",
        since_layout: 4,
        n_keys: 2,
        backup_rows: BackedUpRows::All,
        columns: &[
            ("task", Integer),
            ("no", Integer),
            ("item", Text),
            ("named", Text),
        ],
    },
    BackupTableSchema {
        name: "review_event",
        since_layout: 4,
        n_keys: 2,
        backup_rows: BackedUpRows::All,
        columns: &[
            ("task", Integer),
            ("seq", Integer),
            ("key", Text),
            ("person", Integer),
            ("at_ms", Integer),
            ("event", Text),
        ],
    },
    BackupTableSchema {
        name: "review_lease",
        since_layout: 4,
        n_keys: 3,
        backup_rows: BackedUpRows::All,
        columns: &[
            ("task", Integer),
            ("item", Integer),
            ("person", Integer),
            ("until_ms", Integer),
        ],
    },
];

impl fmt::Display for BackedUpRows {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BackedUpRows::All => Ok(()),
            BackedUpRows::Where(holds) => write!(out, " WHERE {holds}"),
        }
    }
}

/// Returns the name of the archive member of a table.
pub(super) fn table_archive_member_name(table: &str) -> String {
    format!("database/{table}.jsonl")
}

/// A snapshot of all rows of a database, in unnamed temporary files.
pub(crate) struct DatabaseSnapshot {
    pub(super) layout: i64,
    pub(super) tables: Vec<TableSnapshotFile>,
}

/// The rows of a table in a file, which is positioned at its end.
pub(super) struct TableSnapshotFile {
    pub(super) name: &'static str,
    pub(super) file: File,
    pub(super) n_rows: u64,
}

impl Database {
    /// Reads a snapshot of all rows into files, in `scratch` if possible.
    pub(crate) async fn snapshot_tables_into_files(
        &self,
        scratch: &Path,
    ) -> Result<DatabaseSnapshot, Error> {
        let begun = self
            .pool
            .begin_with(self.database.begin_snapshot_sql())
            .await;
        let mut transaction = begun.map_err(|it| self.failed(it))?;
        let mut tables = Vec::new();
        for table in &TABLES {
            tables.push(self.table(table, &mut transaction, scratch).await?);
        }
        transaction.rollback().await.map_err(|it| self.failed(it))?;
        Ok(DatabaseSnapshot {
            layout: self.database.latest_schema_version(),
            tables,
        })
    }

    async fn table(
        &self,
        table: &BackupTableSchema,
        transaction: &mut Transaction<'static, Any>,
        scratch: &Path,
    ) -> Result<TableSnapshotFile, Error> {
        let full = || Error::io_error_converter(scratch, remedy::ANOTHER_FILE);
        let file = tempfile::tempfile_in(scratch).or_else(|_| tempfile::tempfile());
        let mut out = BufWriter::new(file.map_err(full())?);
        let names: Vec<&str> = table.columns.iter().map(|it| it.0).collect();
        writeln!(out, "{}", json!(names)).map_err(full())?;
        let sql = format!(
            "SELECT {} FROM {}{} ORDER BY {}",
            names.join(", "),
            table.name,
            table.backup_rows,
            names[..table.n_keys].join(", ")
        );
        let mut n_rows = 0;
        let mut rows = sqlx::query(AssertSqlSafe(sql)).fetch(&mut **transaction);
        while let Some(row) = rows.try_next().await.map_err(|it| self.failed(it))? {
            let kinds = table.columns.iter().enumerate();
            let values: sqlx::Result<Vec<Value>> =
                kinds.map(|(at, it)| read(&row, at, it.1)).collect();
            let values = values.map_err(|it| self.failed(it))?;
            writeln!(out, "{}", Value::Array(values)).map_err(full())?;
            n_rows += 1;
        }
        let file = out.into_inner().map_err(|it| full()(it.into_error()))?;
        Ok(TableSnapshotFile {
            name: table.name,
            file,
            n_rows,
        })
    }
}

fn read(row: &AnyRow, at: usize, kind: BackupColumnType) -> sqlx::Result<Value> {
    Ok(match kind {
        Integer => json!(row.try_get::<Option<i64>, _>(at)?),
        Real => json!(row.try_get::<Option<f64>, _>(at)?),
        Text => json!(row.try_get::<Option<String>, _>(at)?),
        Bytes => {
            let bytes = row.try_get::<Option<Vec<u8>>, _>(at)?;
            json!(bytes.map(|it| BASE64_STANDARD.encode(it)))
        }
    })
}

/// Returns the number of rows of a table.
pub(super) async fn count_table_rows(
    store: &Database,
    transaction: &mut Transaction<'static, Any>,
    table: &BackupTableSchema,
) -> Result<i64, Error> {
    let sql = AssertSqlSafe(format!("SELECT count(*) FROM {}", table.name));
    let counted = sqlx::query_scalar(sql).fetch_one(&mut **transaction).await;
    counted.map_err(|it| store.failed(it))
}

/// Tables whose first column is numbered by the database.
const NUMBERED: [&str; 4] = ["jobs", "person", "invitation", "review_task"];

/// Sets the sequences of numbered columns, after all tables of a layout have been filled.
pub(super) async fn reset_id_sequences(
    store: &Database,
    layout: i64,
    transaction: &mut Transaction<'static, Any>,
) -> Result<(), Error> {
    match &store.database {
        // SQLite continues after the largest number.
        DatabaseConfig::Sqlite(_) => Ok(()),
        DatabaseConfig::Postgres(_) => {
            let numbered =
                |it: &&BackupTableSchema| it.since_layout <= layout && NUMBERED.contains(&it.name);
            for table in TABLES.iter().filter(numbered) {
                let next = postgres::sequence_reset_sql(table.name, table.columns[0].0);
                let next = AssertSqlSafe(next);
                let next = sqlx::query(next).execute(&mut **transaction);
                next.await.map_err(|it| store.failed(it))?;
            }
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::tests::TestFolder;

    /// A missing table or column would be missing from every backup.
    #[tokio::test]
    async fn every_column_of_every_table_is_in_a_backup() {
        for place in TestFolder::each() {
            let store = place.store().await;
            let (tables, columns) = match &place.database {
                DatabaseConfig::Sqlite(_) => (
                    "SELECT name FROM sqlite_master WHERE type = 'table'
                     AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name",
                    "SELECT name FROM pragma_table_info($1) ORDER BY cid",
                ),
                DatabaseConfig::Postgres(_) => (
                    "SELECT CAST(table_name AS TEXT) FROM information_schema.tables
                     WHERE table_schema = 'public' ORDER BY table_name",
                    "SELECT CAST(column_name AS TEXT) FROM information_schema.columns
                     WHERE table_schema = 'public' AND table_name = $1 ORDER BY ordinal_position",
                ),
            };
            let mut found: Vec<String> = sqlx::query_scalar(tables)
                .fetch_all(&store.pool)
                .await
                .unwrap();
            found.retain(|it| it != "_sqlx_migrations" && !LEFT_OUT.contains(&it.as_str()));
            found.sort();
            let mut known: Vec<&str> = TABLES.iter().map(|it| it.name).collect();
            known.sort_unstable();
            assert_eq!(found, known);
            for table in &TABLES {
                let mut found: Vec<String> = sqlx::query_scalar(columns)
                    .bind(table.name)
                    .fetch_all(&store.pool)
                    .await
                    .unwrap();
                // A lease is of a server that the restored database does not have.
                found.retain(|it| !["lease", "leased_until"].contains(&it.as_str()));
                let known: Vec<&str> = table.columns.iter().map(|it| it.0).collect();
                assert_eq!(found, known, "{}", table.name);
            }
        }
    }
}
