//! The files of a model, out of a folder or from the hub.

use std::fs;
use std::path::{Component, Path};

use neural::{ModelFiles, ModuleFiles};

use crate::error::Error;
use crate::models::hub;

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
pub(super) fn read_hub(name: &hub::Name) -> Result<ModelFiles, Error> {
    let hub = hub::Hub::open(name);
    let [config, tokenizer, weights] = FILES;
    let modules = hub.perhaps(MODULES);
    Ok(ModelFiles {
        config: hub.need(config)?,
        tokenizer: hub.need(tokenizer)?,
        weights: hub.need(weights)?,
        pooling: hub.perhaps(POOLING),
        further: further(modules.as_deref(), &name.to_string(), |file| hub.need(file))?,
        modules,
        settings: hub.perhaps(SETTINGS),
        artifact: hub.perhaps(ARTIFACT),
        ranker: hub.perhaps(RANKER),
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
