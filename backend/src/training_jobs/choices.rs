//! What an operator can train: networks, recipes, and imported collections with their splits.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use shared::api::training::{TrainingChoices, TrainingCollection};

use super::TrainingQueue;
use crate::collection_files;
use crate::error::Error;
use crate::training::ModelToTrain;

/// The splits of imported collections by name, with the time at which the folder was changed, so
/// that queries are not read for each list.
pub(super) type KnownSplits = Mutex<BTreeMap<String, (SystemTime, Vec<String>)>>;

impl TrainingQueue {
    /// Returns the choices of the form for a new training.
    pub(crate) fn choices(&self) -> Result<TrainingChoices, Error> {
        let recipes =
            ModelToTrain::names_without_encoder().flat_map(ModelToTrain::built_in_recipes);
        let recipes: BTreeSet<&str> = recipes.collect();
        let mut collections = Vec::new();
        for name in self.0.folder.collection_names()? {
            match self.splits_of_collection(&name) {
                Ok(splits) if splits.is_empty() => {}
                Ok(splits) => collections.push(TrainingCollection { name, splits }),
                // One damaged collection must not hide the others.
                Err(error) => tracing::error!("collection {name}: {error}"),
            }
        }
        Ok(TrainingChoices {
            models: ModelToTrain::names_without_encoder()
                .map(str::to_owned)
                .collect(),
            collections,
            recipes: recipes.into_iter().map(str::to_owned).collect(),
        })
    }

    /// Returns the names of the splits of an imported collection; none if it has no qrels.
    pub(super) fn splits_of_collection(&self, name: &str) -> Result<Vec<String>, Error> {
        let folder = self.0.folder.collection_folder(name)?;
        let changed = fs::metadata(&folder).and_then(|it| it.modified());
        let changed = changed.map_err(Error::io_error_converter(
            &folder,
            "import the collection again",
        ))?;
        let known = || {
            let known = self.0.known_splits.lock();
            known.unwrap_or_else(PoisonError::into_inner)
        };
        if let Some((_, splits)) = known().get(name).filter(|it| it.0 == changed) {
            return Ok(splits.clone());
        }
        let splits = collection_files::read_split_names(&folder)?;
        known().insert(name.to_owned(), (changed, splits.clone()));
        Ok(splits)
    }
}
