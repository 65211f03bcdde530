//! The list of models for operators: where each comes from, and whether it is loaded.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError};

use neural::DeviceAndPrecision;
use shared::api::models::{LoadedModelInfo, ModelLoadState, ModelSource, ModelStatus};

use crate::error::Error;
use crate::models::passages::LongDocumentStrategy;
use crate::models::spec::{ParsedModelSpec, format_model_spec};
use crate::models::{ModelEntry, ModelRegistry, NeuralRanker, Source, reason};

impl ModelRegistry {
    /// Returns the status of every use of every model, in the order of the command line. Does not
    /// wait for a model that is being loaded.
    pub(crate) fn list_model_statuses(&self) -> Vec<ModelStatus> {
        let loaded: BTreeMap<String, Arc<NeuralRanker>> = {
            let loaded = self.loaded.read().unwrap_or_else(PoisonError::into_inner);
            loaded.clone()
        };
        let failed: BTreeMap<String, String> = self.load_failures().into_iter().collect();
        let of_place = |place: &ModelEntry| -> Vec<ModelStatus> {
            let held = |spec: String| ModelStatus {
                state: match (loaded.get(&spec), failed.get(&spec)) {
                    (Some(ranker), _) => ModelLoadState::Loaded(Box::new(ranker.told())),
                    (None, Some(reason)) => ModelLoadState::Failed {
                        reason: reason.clone(),
                    },
                    (None, None) => ModelLoadState::Unloaded,
                },
                source: place.source.told(&place.name),
                spec,
            };
            self.specs_of(place).into_iter().map(held).collect()
        };
        self.places.iter().flat_map(of_place).collect()
    }

    /// Loads a ranker, even shortly after a failure, since the operator may have fixed the cause.
    /// Passage suffixes are ignored, as in the inventory.
    pub(crate) fn load_and_return_status(&self, wanted: &str) -> Result<ModelStatus, Error> {
        let place = self.place(wanted)?;
        let wanted = ParsedModelSpec::parse(wanted).model_use;
        let spec = || {
            let used = wanted.unwrap_or_else(|| self.uses(place)[0]);
            format_model_spec(&place.name, used, LongDocumentStrategy::Truncate)
        };
        let failed = || self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        failed().remove(&spec());
        let state = match self.whole(place, wanted) {
            Ok(ranker) => ModelLoadState::Loaded(Box::new(ranker.told())),
            Err(error @ Error::Input(_)) => return Err(error),
            Err(error) => ModelLoadState::Failed {
                reason: reason(&error),
            },
        };
        Ok(ModelStatus {
            source: place.source.told(&place.name),
            spec: spec(),
            state,
        })
    }
}

impl Source {
    /// Returns the source of a model without paths of this machine.
    fn told(&self, name: &str) -> ModelSource {
        match self {
            Source::Folder(_) => ModelSource::Folder {
                name: name.to_owned(),
            },
            Source::Hub(hub) => ModelSource::Hub {
                name: hub.to_string(),
            },
        }
    }
}

impl NeuralRanker {
    fn told(&self) -> LoadedModelInfo {
        let DeviceAndPrecision { device, precision } = self.computing;
        LoadedModelInfo {
            ranker: self.about.clone(),
            weights_sha256: self.weights_sha256.clone(),
            weights_bytes: self.weights_bytes,
            device: device.to_string(),
            precision: precision.to_string(),
            max_tokens: self.max_tokens,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use neural::Device;

    use super::*;
    use crate::models::tests::{TINY, copy_tiny, tiny};

    fn states(models: &ModelRegistry) -> Vec<String> {
        let state = |it: ModelStatus| match it.state {
            ModelLoadState::Unloaded => format!("{} unloaded", it.spec),
            ModelLoadState::Loaded(_) => format!("{} loaded", it.spec),
            ModelLoadState::Failed { reason } => format!("{} {reason}", it.spec),
        };
        models
            .list_model_statuses()
            .into_iter()
            .map(state)
            .collect()
    }

    #[test]
    fn a_model_is_told_as_its_files_are() {
        let models = tiny();
        assert_eq!(states(&models), ["tiny:bi unloaded", "tiny:late unloaded"]);
        let held = models.load_and_return_status("tiny").unwrap();
        assert_eq!(states(&models), ["tiny:bi loaded", "tiny:late unloaded"]);
        assert_eq!(models.list_model_statuses()[0], held);
        let name = "tiny".to_owned();
        assert_eq!(held.source, ModelSource::Folder { name });
        let ModelLoadState::Loaded(told) = held.state else {
            panic!("{held:?}")
        };
        let size = fs::metadata(Path::new(TINY).join("model.safetensors")).unwrap();
        assert_eq!(told.weights_bytes, size.len());
        assert_eq!((&*told.device, &*told.precision), ("cpu", "f32"));
        // `max_position_embeddings` of its config.json.
        assert_eq!(told.max_tokens, Some(64));
        assert_eq!(
            told.ranker,
            models.get_or_load_ranker("tiny:bi").unwrap().about
        );

        // A ranker with passages has the same weights.
        models.get_or_load_ranker("tiny:late+maxp").unwrap();
        assert_eq!(states(&models), ["tiny:bi loaded", "tiny:late loaded"]);
        assert_eq!(
            models
                .load_and_return_status("tiny:late+maxp")
                .unwrap()
                .spec,
            "tiny:late"
        );
    }

    #[test]
    fn what_was_put_right_is_loaded_at_once() {
        let (home, folder) = copy_tiny("half", &["config.json", "tokenizer.json"]);
        let models =
            ModelRegistry::with_models_or_default(&[folder.display().to_string()], Device::Cpu)
                .unwrap();
        let failed = models.load_and_return_status("half:bi").unwrap();
        assert_eq!(models.list_model_statuses()[0], failed);
        let broken = states(&models);
        assert!(
            broken[0].starts_with("half:bi has no model.safetensors"),
            "{broken:?}"
        );
        assert!(!broken.concat().contains(&home.path().display().to_string()));
        let weights = "model.safetensors";
        fs::copy(Path::new(TINY).join(weights), folder.join(weights)).unwrap();
        // Requests to score do not try again so soon.
        assert!(models.get_or_load_ranker("half:bi").is_err());
        models.load_and_return_status("half:bi").unwrap();
        assert_eq!(states(&models), ["half:bi loaded", "half:late unloaded"]);
    }

    #[test]
    fn a_name_on_the_hub_is_told_with_its_revision() {
        let models =
            ModelRegistry::with_models_or_default(&["owner/name@v1".to_owned()], Device::Cpu)
                .unwrap();
        let held = models.list_model_statuses();
        let name = "owner/name@v1".to_owned();
        assert_eq!(held[0].source, ModelSource::Hub { name });
        assert_eq!(held[0].state, ModelLoadState::Unloaded);
    }
}
