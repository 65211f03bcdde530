//! The rows of a backup: each table as JSON lines, in the same format for both databases.
//!
//! The first line has the names of the columns, and each other line a row: numbers, texts and
//! `null`; binary values are in base64. Rows are sorted by their key.

use std::fmt;
use std::fs::File;
use std::io::{BufRead, BufWriter, Read, Write};
use std::path::Path;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use futures_util::TryStreamExt;
use serde_json::{Value, json};
use sqlx::any::{Any, AnyArguments, AnyRow};
use sqlx::query::Query;
use sqlx::{AssertSqlSafe, Row, Transaction};

use super::archive::damaged;
use crate::error::Error;
use crate::store::{DatabaseConfig, Store, places, postgres};

/// The type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Integer,
    Real,
    Text,
    /// Binary values, in base64.
    Bytes,
}

use Kind::{Bytes, Integer, Real, Text};

/// A table in the current layout. New tables and columns must be added here; a test checks it.
pub(super) struct BackupTable {
    pub(super) name: &'static str,
    /// The first layout that has the table.
    pub(super) since_layout: i64,
    /// Number of key columns; these come first.
    n_keys: usize,
    /// Which rows are backed up.
    backup_rows: BackedUpRows,
    columns: &'static [(&'static str, Kind)],
}

/// Which rows of a table are backed up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BackedUpRows {
    /// All rows of the table.
    All,
    /// The rows that satisfy an SQL condition.
    Where(&'static str),
}

/// Tables that are not backed up. Otherwise an old cookie, or a backup in the wrong hands, would
/// give access. After a restore, people sign in again with their password or a new link.
#[cfg(test)]
const LEFT_OUT: [&str; 2] = ["session", "operator_session"];

/// All tables, each after those that it refers to.
pub(super) const TABLES: [BackupTable; 15] = [
    BackupTable {
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
    BackupTable {
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
    BackupTable {
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
    BackupTable {
        name: "job_queries",
        since_layout: 1,
        n_keys: 2,
        backup_rows: BackedUpRows::All,
        columns: &[("job", Integer), ("place", Integer), ("query", Text)],
    },
    BackupTable {
        name: "job_texts",
        since_layout: 1,
        n_keys: 2,
        backup_rows: BackedUpRows::All,
        columns: &[("job", Integer), ("place", Integer), ("text", Text)],
    },
    BackupTable {
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
    BackupTable {
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
    BackupTable {
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
    BackupTable {
        name: "operator",
        since_layout: 1,
        n_keys: 1,
        backup_rows: BackedUpRows::All,
        columns: &[("one", Integer), ("token_sha256", Text)],
    },
    BackupTable {
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
        ],
    },
    BackupTable {
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
    BackupTable {
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
    BackupTable {
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
    BackupTable {
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
    BackupTable {
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
pub(super) fn member(table: &str) -> String {
    format!("database/{table}.jsonl")
}

/// A snapshot of all rows of a database, in unnamed temporary files.
pub(crate) struct DatabaseRows {
    pub(super) layout: i64,
    pub(super) tables: Vec<TableFile>,
}

/// The rows of a table in a file, which is positioned at its end.
pub(super) struct TableFile {
    pub(super) name: &'static str,
    pub(super) file: File,
    pub(super) n_rows: u64,
}

impl Store {
    /// Reads a snapshot of all rows into files, in `scratch` if possible.
    pub(crate) async fn rows(&self, scratch: &Path) -> Result<DatabaseRows, Error> {
        let begun = self.pool.begin_with(self.database.snapshot()).await;
        let mut transaction = begun.map_err(|it| self.failed(it))?;
        let mut tables = Vec::new();
        for table in &TABLES {
            tables.push(self.table(table, &mut transaction, scratch).await?);
        }
        transaction.rollback().await.map_err(|it| self.failed(it))?;
        Ok(DatabaseRows {
            layout: self.database.latest_layout(),
            tables,
        })
    }

    async fn table(
        &self,
        table: &BackupTable,
        transaction: &mut Transaction<'static, Any>,
        scratch: &Path,
    ) -> Result<TableFile, Error> {
        let full = || Error::file(scratch, "make room, or choose another file");
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
        Ok(TableFile {
            name: table.name,
            file,
            n_rows,
        })
    }
}

fn read(row: &AnyRow, at: usize, kind: Kind) -> sqlx::Result<Value> {
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
pub(super) async fn n_rows(
    store: &Store,
    transaction: &mut Transaction<'static, Any>,
    table: &BackupTable,
) -> Result<i64, Error> {
    let sql = AssertSqlSafe(format!("SELECT count(*) FROM {}", table.name));
    let counted = sqlx::query_scalar(sql).fetch_one(&mut **transaction).await;
    counted.map_err(|it| store.failed(it))
}

/// Tables whose first column is numbered by the database.
const NUMBERED: [&str; 4] = ["jobs", "person", "invitation", "review_task"];

/// Sets the sequences of numbered columns, after all tables of a layout have been filled.
pub(super) async fn reset_sequences(
    store: &Store,
    layout: i64,
    transaction: &mut Transaction<'static, Any>,
) -> Result<(), Error> {
    match &store.database {
        // SQLite continues after the largest number.
        DatabaseConfig::Sqlite(_) => Ok(()),
        DatabaseConfig::Postgres(_) => {
            let numbered =
                |it: &&BackupTable| it.since_layout <= layout && NUMBERED.contains(&it.name);
            for table in TABLES.iter().filter(numbered) {
                let next = postgres::next_number(table.name, table.columns[0].0);
                let next = AssertSqlSafe(next);
                let next = sqlx::query(next).execute(&mut **transaction);
                next.await.map_err(|it| store.failed(it))?;
            }
            Ok(())
        }
    }
}

/// Inserts rows of a backup into an empty table.
pub(super) struct TableLoader<'a> {
    pub(super) store: &'a Store,
    pub(super) table: &'a BackupTable,
    /// The path of the backup, for error messages.
    pub(super) backup: &'a Path,
}

impl TableLoader<'_> {
    /// Reads rows from JSON lines, inserts them, and returns their number.
    pub(super) async fn from(
        &self,
        mut lines: impl BufRead,
        transaction: &mut Transaction<'static, Any>,
    ) -> Result<u64, Error> {
        /// Maximum number of values and bytes per statement; SQLite allows 32,766 values.
        const VALUES: usize = 30_000;
        const BYTES: usize = 1 << 20;

        let columns = self.columns(&self.line(&mut lines, 0)?.unwrap_or_default())?;
        let names: Vec<&str> = columns.iter().map(|it| it.0).collect();
        let mut waiting: Vec<Field> = Vec::new();
        let (mut n_rows, mut n_bytes) = (0, 0);
        while let Some(line) = self.line(&mut lines, n_rows + 1)? {
            n_rows += 1;
            n_bytes += line.len();
            let wrong = || self.wrong(n_rows, "this is no row of it");
            let values: Vec<Value> = serde_json::from_slice(&line).map_err(|_| wrong())?;
            if values.len() != columns.len() {
                return Err(wrong());
            }
            for (value, (_, kind)) in values.into_iter().zip(&columns) {
                waiting.push(Field::of(value, *kind).ok_or_else(wrong)?);
            }
            if n_bytes >= BYTES || waiting.len() + columns.len() > VALUES {
                self.insert(&names, &mut waiting, transaction).await?;
                n_bytes = 0;
            }
        }
        self.insert(&names, &mut waiting, transaction).await?;
        Ok(n_rows)
    }

    async fn insert(
        &self,
        names: &[&str],
        waiting: &mut Vec<Field>,
        transaction: &mut Transaction<'static, Any>,
    ) -> Result<(), Error> {
        if waiting.is_empty() {
            return Ok(());
        }
        let sql = format!(
            "INSERT INTO {} ({}) VALUES {}",
            self.table.name,
            names.join(", "),
            places(waiting.len() / names.len(), names.len())
        );
        let mut insert = sqlx::query(AssertSqlSafe(sql)).persistent(false);
        for field in waiting.drain(..) {
            insert = field.bound(insert);
        }
        let inserted = insert.execute(&mut **transaction).await;
        inserted.map_err(|it| self.store.failed(it))?;
        Ok(())
    }

    /// Parses the names of the columns. A backup of an earlier layout may have fewer.
    fn columns(&self, line: &[u8]) -> Result<Vec<(&'static str, Kind)>, Error> {
        let names: Vec<String> =
            serde_json::from_slice(line).map_err(|_| self.wrong(0, "names no columns"))?;
        let known = |name: &String| {
            let found = self.table.columns.iter().find(|it| it.0 == name);
            let wrong = || self.wrong(0, "names a column that is not known");
            found.copied().ok_or_else(wrong)
        };
        let columns: Vec<_> = names.iter().map(known).collect::<Result<_, _>>()?;
        match columns.is_empty() {
            true => Err(self.wrong(0, "names no columns")),
            false => Ok(columns),
        }
    }

    /// Returns the next line without its end, or `None` at the end of the table. Returns an error
    /// for lines that are too long or have too many values.
    fn line(&self, lines: &mut impl BufRead, at: u64) -> Result<Option<Vec<u8>>, Error> {
        /// Maximum length of a line with binary columns: the pairs of the largest job, 5,000,000 of
        /// 8 bytes, in base64.
        const MAX_BYTES: u64 = 1 << 26;
        /// Maximum length of other lines: a text of 1 MiB with every character escaped.
        const MAX_BYTES_OF_TEXTS: u64 = 1 << 24;

        let columns = self.table.columns;
        let most = match columns.iter().any(|it| it.1 == Bytes) {
            true => MAX_BYTES,
            false => MAX_BYTES_OF_TEXTS,
        };
        let mut line = Vec::new();
        let read = lines.take(most).read_until(b'\n', &mut line);
        read.map_err(|it| self.wrong(at, &it.to_string()))?;
        match line.pop() {
            None => Ok(None),
            Some(b'\n') if is_flat(&line, columns.len()) => Ok(Some(line)),
            Some(b'\n') => Err(self.wrong(at, "this is no row of it")),
            Some(_) => Err(self.wrong(
                at,
                "the line has no end, or is longer than a row of it can be",
            )),
        }
    }

    /// Returns the error for a line. Line 0 has the names of the columns.
    fn wrong(&self, line: u64, reason: &str) -> Error {
        let member = member(self.table.name);
        damaged(
            self.backup,
            &format!("{member}, line {}: {reason}", line + 1),
        )
    }
}

/// Returns whether a line of JSON has at most `n_columns` values and no nested ones. A million
/// zeros would take more memory than the line itself.
fn is_flat(line: &[u8], n_columns: usize) -> bool {
    let (mut in_text, mut is_escaped) = (false, false);
    let (mut n_commas, mut n_lists) = (0, 0);
    for &byte in line {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_text => is_escaped = true,
            b'"' => in_text = !in_text,
            b',' if !in_text => n_commas += 1,
            b'[' | b'{' if !in_text => n_lists += 1,
            _ => {}
        }
    }
    n_commas < n_columns && n_lists <= 1
}

/// A value of a column.
enum Field {
    Integer(Option<i64>),
    Real(Option<f64>),
    Text(Option<String>),
    Bytes(Option<Vec<u8>>),
}

impl Field {
    /// Converts a JSON value; `None` if it does not fit the type of the column.
    fn of(value: Value, kind: Kind) -> Option<Field> {
        let absent = value.is_null();
        Some(match (kind, value) {
            (Integer, Value::Number(it)) => Field::Integer(Some(it.as_i64()?)),
            (Real, Value::Number(it)) => Field::Real(Some(it.as_f64()?)),
            (Text, Value::String(it)) => Field::Text(Some(it)),
            (Bytes, Value::String(it)) => Field::Bytes(Some(BASE64_STANDARD.decode(it).ok()?)),
            (Integer, _) if absent => Field::Integer(None),
            (Real, _) if absent => Field::Real(None),
            (Text, _) if absent => Field::Text(None),
            (Bytes, _) if absent => Field::Bytes(None),
            _ => return None,
        })
    }

    fn bound<'q>(self, query: Query<'q, Any, AnyArguments>) -> Query<'q, Any, AnyArguments> {
        match self {
            Field::Integer(it) => query.bind(it),
            Field::Real(it) => query.bind(it),
            Field::Text(it) => query.bind(it),
            Field::Bytes(it) => query.bind(it),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::tests::TestFolder;

    #[test]
    fn a_row_has_one_value_a_column_and_no_lists() {
        let is_flat = |line: &str| is_flat(line.as_bytes(), 3);
        assert!(is_flat(r#"[1,"a, [b], \"{c}, \\",null]"#));
        assert!(is_flat(r#"["a","b"]"#) && is_flat(""));
        assert!(!is_flat("[1,2,3,4]"));
        assert!(!is_flat(r#"["a\\",2,3,4]"#));
        assert!(!is_flat("[[1],2]"));
        assert!(!is_flat(r#"[{"a":1}]"#));
    }

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
                let found: Vec<String> = sqlx::query_scalar(columns)
                    .bind(table.name)
                    .fetch_all(&store.pool)
                    .await
                    .unwrap();
                let known: Vec<&str> = table.columns.iter().map(|it| it.0).collect();
                assert_eq!(found, known, "{}", table.name);
            }
        }
    }
}
