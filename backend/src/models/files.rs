//! The files of a model, out of a folder or from the hub.

use std::fs;
use std::path::{Component, Path};

use neural::{ModelFiles, ModuleFiles};

use crate::error::Error;

/// How sentence-transformers says what it does with the vectors of pieces.
const POOLING: &str = "1_Pooling/config.json";
pub(super) const MODULES: &str = "modules.json";
const SETTINGS: &str = "config_sentence_transformers.json";

/// What Stanford's code writes beside a ColBERT.
const ARTIFACT: &str = "artifact.metadata";

/// What somebody says of a model that its other files do not.
pub(super) const RANKER: &str = "ranker.toml";

/// What every model has.
pub(super) const CONFIG: &str = "config.json";
pub(super) const FILES: [&str; 3] = [CONFIG, "tokenizer.json", "model.safetensors"];

/// Reads a folder.
pub(super) fn read_folder(folder: &Path) -> Result<ModelFiles, Error> {
    let read = |file: &str| {
        fs::read(folder.join(file)).map_err(|error| Error::NoModel {
            model: folder.display().to_string(),
            reason: match error.kind() {
                std::io::ErrorKind::NotFound if pickled(folder, file) => format!(
                    "has its weights as pytorch_model.bin, which may run any code when it is \
                     read; save them with `save_pretrained(folder, safe_serialization=True)` of \
                     transformers, or take a revision with {file}"
                ),
                std::io::ErrorKind::NotFound => {
                    format!("has no {file}; a model folder holds {}", FILES.join(", "))
                }
                _ => format!("{file} cannot be read: {error}"),
            },
        })
    };
    let perhaps = |file: &str| match folder.join(file).exists() {
        true => read(file).map(Some),
        false => Ok(None),
    };
    let [config, tokenizer, weights] = FILES;
    let modules = perhaps(MODULES)?;
    Ok(ModelFiles {
        config: read(config)?,
        tokenizer: read(tokenizer)?,
        weights: read(weights)?,
        pooling: perhaps(POOLING)?,
        further: further(modules.as_deref(), &folder.display().to_string(), read)?,
        modules,
        settings: perhaps(SETTINGS)?,
        artifact: perhaps(ARTIFACT)?,
        ranker: perhaps(RANKER)?,
    })
}

/// Takes what the hub's own cache on this machine holds, and asks the hub for the rest.
pub(super) fn read_hub(name: &str) -> Result<ModelFiles, Error> {
    let no_model = |reason: String| Error::NoModel {
        model: name.to_owned(),
        reason,
    };
    let hub = hf_hub::api::sync::ApiBuilder::from_env()
        .with_progress(false)
        .build()
        .map_err(|it| no_model(it.to_string()))?;
    let repository = hub.model(name.to_owned());
    let read = |file: &str| {
        let path = repository.get(file).map_err(|error| {
            no_model(format!(
                "{file} cannot be had from the hub: {error}. Without a network, put {} into a \
                 folder and name that by `--model`",
                FILES.join(", ")
            ))
        })?;
        fs::read(&path).map_err(|error| no_model(format!("{}: {error}", path.display())))
    };
    // A model that is no sentence-transformer lacks these files. Without a network a file that is
    // not in the cache cannot be told from one that is nowhere.
    let perhaps = |file: &str| match repository.get(file) {
        Ok(path) => fs::read(path).ok(),
        Err(error) => {
            if !error.to_string().contains("404") {
                tracing::warn!("{name}: {file} was not looked for on the hub: {error}");
            }
            None
        }
    };
    let [config, tokenizer, weights] = FILES;
    let modules = perhaps(MODULES);
    Ok(ModelFiles {
        config: read(config)?,
        tokenizer: read(tokenizer)?,
        weights: read(weights)?,
        pooling: perhaps(POOLING),
        further: further(modules.as_deref(), name, read)?,
        modules,
        settings: perhaps(SETTINGS),
        artifact: perhaps(ARTIFACT),
        ranker: perhaps(RANKER),
    })
}

/// The folders of modules that have weights of their own.
fn further(
    modules: Option<&[u8]>,
    model: &str,
    read: impl Fn(&str) -> Result<Vec<u8>, Error>,
) -> Result<Vec<ModuleFiles>, Error> {
    // What is wrong with the list is told by what loads the model.
    let paths = modules.map_or(Ok(Vec::new()), neural::module_folders);
    let each = paths.unwrap_or_default().into_iter().map(|path| {
        let mut parts = Path::new(&path).components();
        if path.is_empty() || !parts.all(|it| matches!(it, Component::Normal(_))) {
            return Err(Error::NoModel {
                model: model.to_owned(),
                reason: format!("{MODULES} names `{path}`, which is no folder inside the model's"),
            });
        }
        Ok(ModuleFiles {
            config: read(&format!("{path}/config.json"))?,
            weights: read(&format!("{path}/model.safetensors"))?,
            path,
        })
    });
    each.collect()
}

/// Whether there are weights in the form of Python's pickle in the place of `file`.
fn pickled(folder: &Path, file: &str) -> bool {
    let weights = folder.join(file).with_file_name("pytorch_model.bin");
    file.ends_with(FILES[2]) && weights.is_file()
}
