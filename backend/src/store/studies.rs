//! The list of studies and their visibility.

pub(crate) mod files;
mod mapped_columns;
pub(crate) mod instance_orders;
pub(crate) mod late_interaction;

use sha2::{Digest, Sha256};
use shared::collection::encode_hex;
use shared::study::Study;

use crate::error::Error;
use crate::store::{Database, may_be_stored};

/// The entry of a study in the list, available without loading the study.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StudyListEntry {
    /// The name of the study, used in URLs.
    pub name: String,
    /// The title of the study.
    pub title: String,
    /// The date on which the instances were mined, as in `2026-11-20`.
    pub created: String,
    /// The hash of the instances.
    pub instances_hash: String,
    /// The hash of the collection: queries and documents.
    pub collection_hash: String,
    /// Number of instances of all axioms and variants.
    pub n_instances: i64,
    /// Whether the study is visible to visitors.
    pub is_published: bool,
    /// Increases by one each time the study is created again.
    pub revision: i64,
}

impl StudyListEntry {
    /// Returns a hash of the instances and the collection. As long as it is the same, instances
    /// have the same numbers and texts.
    pub(crate) fn instances_and_collection_hash(&self) -> String {
        digest(&self.instances_hash, &self.collection_hash)
    }
}

/// Returns the [`StudyListEntry::instances_and_collection_hash`] of a loaded study.
pub(crate) fn study_instances_and_collection_hash(study: &Study) -> String {
    digest(&study.instances_hash, &study.collection_hash)
}

fn digest(instances_hash: &str, collection_hash: &str) -> String {
    encode_hex(&Sha256::digest(format!(
        "{instances_hash}\n{collection_hash}"
    )))
}

/// Whether visitors can see a study.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StudyVisibility {
    /// Visible to everybody.
    Published,
    /// Visible to curators and operators only.
    Withdrawn,
}

row! {
    /// A row of the table `studies`. SQLite has no booleans; they are 0 or 1.
    struct StudyRow {
        name: String,
        title: String,
        made: String,
        instances_hash: String,
        collection_hash: String,
        n_instances: i64,
        published: i64,
        revision: i64,
    }
}

impl StudyRow {
    fn into_listed(self) -> StudyListEntry {
        StudyListEntry {
            name: self.name,
            title: self.title,
            created: self.made,
            instances_hash: self.instances_hash,
            collection_hash: self.collection_hash,
            n_instances: self.n_instances,
            is_published: self.published != 0,
            revision: self.revision,
        }
    }
}

impl Database {
    /// Returns the entries of all studies, sorted by name.
    pub(crate) async fn list_studies(&self) -> Result<Vec<StudyListEntry>, Error> {
        let rows: Vec<StudyRow> = sqlx::query_as(
            "SELECT name, title, made, instances_hash, collection_hash, n_instances, published,
                    revision
             FROM studies ORDER BY name",
        )
        .fetch_all(&self.pool)
        .await
        .map_err(|it| self.failed(it))?;
        Ok(rows.into_iter().map(StudyRow::into_listed).collect())
    }

    /// Returns the entry of a study by its name; returns an error if there is none.
    pub(crate) async fn study_entry_by_name(&self, name: &str) -> Result<StudyListEntry, Error> {
        let unknown = || shared::error::Error::name_not_found("study", name);
        if !may_be_stored(name) {
            return Err(unknown().into());
        }
        let query = sqlx::query_as::<_, StudyRow>(
            "SELECT name, title, made, instances_hash, collection_hash, n_instances, published,
                    revision
             FROM studies WHERE name = $1",
        )
        .bind(name);
        let found = self.find_row(query).await?;
        let found = found.ok_or_else(unknown)?;
        Ok(found.into_listed())
    }

    /// Adds a study to the list after its files have been written. An existing entry is replaced
    /// and keeps its visibility.
    pub(crate) async fn upsert_study_entry(&self, study: &Study) -> Result<(), Error> {
        let n_instances: usize = study.instances.iter().map(|it| it.len()).sum();
        let statement = sqlx::query(
            "INSERT INTO studies
                 (name, title, made, instances_hash, collection_hash, n_instances)
             VALUES ($1, $2, $3, $4, $5, $6)
             ON CONFLICT (name) DO UPDATE SET
                 title = excluded.title, made = excluded.made,
                 instances_hash = excluded.instances_hash,
                 collection_hash = excluded.collection_hash,
                 n_instances = excluded.n_instances, revision = studies.revision + 1",
        )
        .bind(&study.definition.name)
        .bind(&study.definition.title)
        .bind(&study.created)
        .bind(&study.instances_hash)
        .bind(&study.collection_hash)
        .bind(n_instances as i64);
        self.execute(statement).await?;
        Ok(())
    }

    /// Sets the title of a study after its files have been written, and increases its revision, so
    /// that nothing of it is taken from a cache.
    pub(crate) async fn set_study_title(&self, name: &str, title: &str) -> Result<(), Error> {
        let statement =
            sqlx::query("UPDATE studies SET title = $1, revision = revision + 1 WHERE name = $2")
                .bind(title)
                .bind(name);
        self.execute(statement).await?;
        Ok(())
    }

    /// Sets the visibility of a study. Returns an error if there is no study of this name.
    pub(crate) async fn set_study_visibility(
        &self,
        name: &str,
        visibility: StudyVisibility,
    ) -> Result<(), Error> {
        let published = match visibility {
            StudyVisibility::Published => 1_i64,
            StudyVisibility::Withdrawn => 0,
        };
        let statement = sqlx::query("UPDATE studies SET published = $1 WHERE name = $2")
            .bind(published)
            .bind(name);
        if self.execute(statement).await? == 0 {
            return Err(shared::error::Error::name_not_found("study", name).into());
        }
        Ok(())
    }
}
