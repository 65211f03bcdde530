//! The small models of the demo, embedded in the program, so that the demo has neural results
//! without a download.

use std::fs;

use shared::api::training::CreateTrainingRequest;
use shared::training::LearningCurvePoint;
use shared::training::spec::TrainingSpec;

use crate::error::Error;
use crate::remedy;
use crate::store::DataFolder;
use crate::training_jobs::add_published_training;

/// The folder `models/` of the repository.
#[derive(rust_embed::RustEmbed)]
#[folder = "../models"]
struct EmbeddedModels;

/// The encoder that [`FINE_TUNED`] were made of.
pub(super) const ENCODER: &str = "tiny-bert";

/// The folder and the spec of each ranker that was trained with `axioscope train`, and so has a
/// learning curve.
pub(super) const FINE_TUNED: [[&str; 2]; 2] = [
    ["tiny-cross-encoder", "tiny-cross-encoder:cross"],
    ["tiny-colbert", "tiny-colbert:colbert"],
];

/// The collection of [`FINE_TUNED`], as their trainings name it.
const COLLECTION: &str = "question-answer-dataset";

/// Adds the trainings of [`FINE_TUNED`] to the page of trainings, unless they are there.
fn add_demo_trainings(folder: &DataFolder) -> Result<(), Error> {
    for [name, _] in FINE_TUNED {
        let files = ["curves.jsonl", "training.json", "recipe.toml", "README.md"];
        let files = files.map(|file| (file, embedded_file(name, file)));
        let request = CreateTrainingRequest {
            name: name.to_owned(),
            collection: COLLECTION.to_owned(),
            spec: training_spec(name),
        };
        let [(file, curve), ..] = &files;
        let curve = LearningCurvePoint::parse_lines(file, &curve[..])?;
        add_published_training(folder, request, &curve, &files)?;
    }
    Ok(())
}

/// Returns how a model of [`FINE_TUNED`] was trained.
pub(super) fn training_spec(name: &str) -> TrainingSpec {
    let spec = embedded_file(name, "training-spec.json");
    serde_json::from_slice(&spec).expect("a test reads the file")
}

/// Returns a file of a model in the program.
fn embedded_file(model: &str, file: &str) -> Vec<u8> {
    let content = EmbeddedModels::get(&format!("{model}/{file}"));
    content.expect("a test reads the file").data.into_owned()
}

/// Writes the models into the data folder, and returns their folders after the named models. The
/// default model is not added: it would take longer than all of them.
pub(crate) fn add_demo_models(folder: &DataFolder, named: &[String]) -> Result<Vec<String>, Error> {
    add_demo_trainings(folder)?;
    let models = folder.create_demo_files_folder_if_missing()?.join("models");
    for file in EmbeddedModels::iter() {
        let Some(content) = EmbeddedModels::get(&file) else {
            continue;
        };
        let path = models.join(&*file);
        let parent = path.parent().unwrap_or(&models);
        let error = |it| Error::io_error_converter(it, remedy::ANOTHER_DATA_FOLDER);
        fs::create_dir_all(parent).map_err(error(parent))?;
        if fs::read(&path).is_ok_and(|it| it == *content.data) {
            continue;
        }
        fs::write(&path, &content.data).map_err(error(&path))?;
    }
    let mut all = named.to_vec();
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

#[cfg(test)]
mod tests {
    use neural::training::TrainingRecipe;

    use super::*;

    #[test]
    fn trainings_in_the_program_name_the_settings_of_their_recipes() {
        let place = tempfile::tempdir().unwrap();
        let folder = DataFolder::open(place.path()).unwrap();
        add_demo_trainings(&folder).unwrap();
        for [name, spec] in FINE_TUNED {
            let training = training_spec(name);
            assert_eq!(name, format!("tiny-{}", training.model));
            assert!(spec.starts_with(name), "{spec}");
            assert_eq!(training.from.as_deref(), Some(ENCODER));
            // The recipe that was used is that of the name with the changed settings.
            let model = &training.model;
            let mut recipe = TrainingRecipe::built_in(&training.recipe, model).unwrap();
            for change in &training.set {
                let (key, value) = change.split_once('=').unwrap();
                recipe.set(key, value).unwrap();
            }
            let used = String::from_utf8(embedded_file(name, "recipe.toml")).unwrap();
            assert_eq!(recipe.to_toml(), used, "{name}");
            let job = folder.training_folder(name).unwrap().join("job.json");
            let job: serde_json::Value = serde_json::from_slice(&fs::read(job).unwrap()).unwrap();
            assert!(job["job"]["dev_ap"].as_f64().unwrap() > 0.4, "{job}");
            assert_eq!(job["job"]["state"], "done");
        }
    }
}
