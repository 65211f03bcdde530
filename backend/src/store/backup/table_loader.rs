//! Inserts the rows of a backup into the tables of an empty database.

use std::io::{BufRead, Read};
use std::path::Path;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;
use sqlx::any::{Any, AnyArguments};
use sqlx::query::Query;
use sqlx::{AssertSqlSafe, Transaction};

use super::archive::damaged_backup_error;
use super::tables::BackupColumnType::{self, Bytes, Integer, Real, Text};
use super::tables::{BackupTableSchema, table_archive_member_name};
use crate::error::Error;
use crate::store::{Database, places};

/// Inserts rows of a backup into an empty table.
pub(super) struct BackupTableLoader<'a> {
    pub(super) store: &'a Database,
    pub(super) table: &'a BackupTableSchema,
    /// The path of the backup, for error messages.
    pub(super) backup: &'a Path,
}

impl BackupTableLoader<'_> {
    /// Reads rows from JSON lines, inserts them, and returns their number.
    pub(super) async fn insert_json_lines(
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
    fn columns(&self, line: &[u8]) -> Result<Vec<(&'static str, BackupColumnType)>, Error> {
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
        let member = table_archive_member_name(self.table.name);
        damaged_backup_error(
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
    fn of(value: Value, kind: BackupColumnType) -> Option<Field> {
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
}
