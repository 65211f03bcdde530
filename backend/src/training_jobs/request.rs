//! Checks of requests for new trainings. No field can name a file of the server.

use neural::InteractionConfig;
use neural::training::TrainingError;
use shared::api::training::CreateTrainingRequest;
use shared::error::Error as InputError;
use shared::probe::CandidatePoolSpec;
use shared::training::spec::TrainingSpec;

use super::TrainingQueue;
use crate::collection_files;
use crate::error::Error;
use crate::training::{ModelToTrain, TrainingRequest};

const MAX_SETTINGS: usize = 100;

impl TrainingQueue {
    /// Parses and checks a request. Returns an error that names the invalid field.
    pub(super) fn resolve(
        &self,
        request: &CreateTrainingRequest,
    ) -> Result<TrainingRequest, Error> {
        let spec = &request.spec;
        let out = self.0.folder.training_folder(&request.name)?;
        self.check_collection(request)?;
        let n_settings = spec.set.len() + spec.augment.len();
        if n_settings > MAX_SETTINGS {
            return Err(Error::TooLarge {
                what: "changed values of the recipe",
                found: n_settings as u64,
                most: MAX_SETTINGS as u64,
            });
        }
        let mut models = ModelToTrain::names_without_encoder();
        if spec.from.is_some() {
            let reason = "is a model, which only the command `train` reads; leave it out";
            return Err(InputError::unsupported_value("from", reason).into());
        }
        if !models.any(|it| it == spec.model) {
            let known = ModelToTrain::names_without_encoder();
            return Err(InputError::not_one_of("model", &spec.model, known).into());
        }
        let known = ModelToTrain::built_in_recipes(&spec.model);
        if !known.contains(&&*spec.recipe) {
            return Err(InputError::not_one_of("recipe", &spec.recipe, known).into());
        }
        if let Some(other) = spec.augment.iter().find(|it| *it != "lnc2") {
            return Err(InputError::not_one_of("augment", other, ["lnc2"]).into());
        }
        if spec.teacher.is_some() {
            let reason = "is a file, which only the command `train` reads; leave it out";
            return Err(InputError::unsupported_value("teacher", reason).into());
        }
        let resolved = TrainingRequest::resolve(spec, &request.collection, &out)
            .and_then(|it| {
                if let ModelToTrain::Network(network) = &it.model {
                    let recipe = &network.recipe;
                    let dimensions = recipe.words_and_network()?.0.dimensions;
                    InteractionConfig::from_recipe(network.kind, recipe, dimensions)?;
                }
                Ok(it)
            })
            .map_err(|it| with_field_name(it, spec))?;
        if let CandidatePoolSpec::Run { .. } = resolved.pool {
            let reason = "a run is a file, which only the command `train` reads; give judged, \
                          group, rank:bm25:K or all";
            return Err(InputError::unsupported_value("pool", reason).into());
        }
        if let Some(file) = resolved.model.word_vectors() {
            self.check_word_vectors(file, &request.collection)?;
        }
        Ok(resolved)
    }

    /// Checks that the collection was imported and has the splits.
    fn check_collection(&self, request: &CreateTrainingRequest) -> Result<(), Error> {
        let name = &request.collection;
        let collections = self.0.folder.collection_names()?;
        if !collections.contains(name) {
            return Err(InputError::not_one_of("collection", name, collections).into());
        }
        let splits = self.splits_of_collection(name)?;
        if splits.is_empty() {
            let reason = format!(
                "`{name}` has no qrels or no splits; import it again with qrels.tsv and splits.tsv"
            );
            return Err(InputError::unsupported_value("collection", reason).into());
        }
        let spec = &request.spec;
        for (field, split) in [
            ("split", Some(&spec.split)),
            ("dev", Some(&spec.dev)),
            ("test", spec.test.as_ref()),
        ] {
            if let Some(split) = split.filter(|it| !splits.contains(it)) {
                return Err(InputError::not_one_of(field, split, splits).into());
            }
        }
        Ok(())
    }

    /// Checks that word vectors are a file in the folder of the collection. The command `train`
    /// looks in the working directory first, and a file there must not be taken instead.
    fn check_word_vectors(&self, file: &str, collection: &str) -> Result<(), Error> {
        let folder = self.0.folder.collection_folder(collection)?;
        let is_name = !file.starts_with('.') && !file.contains(['/', '\\', ':', '\0']);
        let found = is_name.then(|| collection_files::resolve_input_file_path(file, &folder));
        match found {
            Some(Ok(path)) if path.starts_with(&folder) => Ok(()),
            _ => {
                let reason = "word vectors are the name of a file in the folder of the collection";
                Err(InputError::unsupported_value("set", reason).into())
            }
        }
    }
}

/// Names the field in an error of the recipe.
fn with_field_name(error: Error, spec: &TrainingSpec) -> Error {
    let error = match error {
        Error::Training(error) => error,
        // Keys of a recipe have a dot.
        Error::Input(error) if error.field_name().is_some_and(|it| it.contains('.')) => {
            return InputError::conflicting_value("set", error).into();
        }
        other => return other,
    };
    let field = match &error {
        TrainingError::InvalidRecipeValue { key, .. }
            if key == "network.variant" && spec.variant.is_some() =>
        {
            "variant"
        }
        TrainingError::UnknownRecipeKey { .. } | TrainingError::InvalidRecipeValue { .. } => "set",
        TrainingError::InvalidRecipe { .. } if !spec.set.is_empty() => "set",
        TrainingError::InvalidRecipe { .. } => "recipe",
        _ => return error.into(),
    };
    InputError::malformed_value(field, error).into()
}
