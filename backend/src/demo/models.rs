//! The small models of the demo, embedded in the program, so that the demo has neural results
//! without a download.

use std::fs;

use shared::api::training::CreateTrainingRequest;
use shared::training::spec::TrainingSpec;

use crate::error::Error;
use crate::models::default_model_path_or_name;
use crate::store::{DataFolder, WRITE_REMEDY};
use crate::training_jobs::add_published_training;

/// The folder `models/` of the repository.
#[derive(rust_embed::RustEmbed)]
#[folder = "../models"]
struct EmbeddedModels;

/// The encoder that [`FINE_TUNED`] were made of.
pub(super) const ENCODER: &str = "tiny-bert";

/// The folder, the model in `axioscope train` and the spec of each ranker that was trained with it,
/// and so has a learning curve.
pub(super) const FINE_TUNED: [[&str; 3]; 2] = [
    [
        "tiny-cross-encoder",
        "cross-encoder",
        "tiny-cross-encoder:cross",
    ],
    ["tiny-colbert", "colbert", "tiny-colbert:colbert"],
];

/// The collection of [`FINE_TUNED`], as their trainings name it.
const COLLECTION: &str = "question-answer-dataset";

/// Adds the trainings of [`FINE_TUNED`] to the page of trainings, unless they are there.
fn add_demo_trainings(folder: &DataFolder) -> Result<(), Error> {
    for [name, model, _] in FINE_TUNED {
        let files = ["curves.jsonl", "training.json", "recipe.toml", "README.md"];
        let files = files.into_iter().filter_map(|file| {
            let content = EmbeddedModels::get(&format!("{name}/{file}"))?;
            Some((file, content.data.into_owned()))
        });
        let request = CreateTrainingRequest {
            name: name.to_owned(),
            collection: COLLECTION.to_owned(),
            spec: training_spec(model),
        };
        add_published_training(folder, request, &files.collect::<Vec<_>>())?;
    }
    Ok(())
}

/// Returns how a model of [`FINE_TUNED`] was trained.
pub(super) fn training_spec(model: &str) -> TrainingSpec {
    TrainingSpec {
        from: Some(ENCODER.to_owned()),
        test: Some("test".to_owned()),
        ..TrainingSpec::of_model(model)
    }
}

/// Writes the models into the data folder, and returns them with the named models, or with the
/// default model if none is named.
pub(crate) fn add_demo_models(folder: &DataFolder, named: &[String]) -> Result<Vec<String>, Error> {
    add_demo_trainings(folder)?;
    let models = folder.create_demo_files_folder_if_missing()?.join("models");
    for file in EmbeddedModels::iter() {
        let Some(content) = EmbeddedModels::get(&file) else {
            continue;
        };
        let path = models.join(&*file);
        let parent = path.parent().unwrap_or(&models);
        let error = |it| Error::io_error_converter(it, WRITE_REMEDY);
        fs::create_dir_all(parent).map_err(error(parent))?;
        if fs::read(&path).is_ok_and(|it| it == *content.data) {
            continue;
        }
        fs::write(&path, &content.data).map_err(error(&path))?;
    }
    let mut all = match named {
        [] => default_model_path_or_name().into_iter().collect(),
        named => named.to_vec(),
    };
    let mut folders: Vec<String> = EmbeddedModels::iter()
        .filter_map(|it| Some(it.split_once('/')?.0.to_owned()))
        .collect();
    folders.dedup();
    all.extend(
        folders
            .iter()
            .map(|it| models.join(it).to_string_lossy().into_owned()),
    );
    Ok(all)
}
