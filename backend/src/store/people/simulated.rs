//! Simulated annotators. Each has a row, so that the log of a task can name it, but no role beyond
//! that of an annotator, no password, session or invitation, and no way to get one.

use shared::annotation::PersonId;
use shared::api::people::AccessRole;
use shared::report::format;
use sqlx::{Any, Transaction};

use super::number;
use crate::error::Error;
use crate::store::Database;

impl Database {
    /// Returns the simulated annotators with these error rates, which are added if they do not
    /// exist. Until the end of the transaction, no other transaction gets past this.
    pub(in crate::store) async fn add_simulated_annotators(
        &self,
        transaction: &mut Transaction<'static, Any>,
        error_rates: &[f64],
        now_ms: i64,
    ) -> Result<Vec<PersonId>, Error> {
        let mut people = Vec::new();
        for (rate, at) in error_rates.iter().zip(1..) {
            let rate = format::format_score(rate * 100.0, 0);
            let name = format!("Simulated annotator {at} ({rate} % errors)");
            // Two spaces: no name that somebody chooses has this key.
            let no: i64 = sqlx::query_scalar(
                "INSERT INTO person (name, name_key, role, since_ms, seen_ms, simulated)
                 VALUES ($1, $2, $3, $4, $4, 1)
                 ON CONFLICT (name_key) DO UPDATE SET seen_ms = excluded.seen_ms
                 RETURNING no",
            )
            .bind(&name)
            .bind(format!("simulated  annotator  {at}  {rate}"))
            .bind(AccessRole::Annotator.name())
            .bind(now_ms)
            .fetch_one(&mut **transaction)
            .await
            .map_err(|it| self.failed(it))?;
            people.push(PersonId(number(no)?));
        }
        Ok(people)
    }
}
