//! Reads the files of a model from a folder or from the hub.

use std::fs;
use std::path::{Component, Path};

use neural::{
    Colbert, CrossEncoder, InteractionRanker, ModelFileContents, MonoT5, NeuralRankerConfig,
    SentenceTransformersModuleWithWeights, Splade,
};

use crate::error::Error;
use crate::models::hub;
use crate::models::lambdamart::{LAMBDAMART_FILES, LambdaMartConfig};
use crate::models::spec::NeuralRankerKind;

/// File in which sentence-transformers declares the pooling.
const POOLING: &str = "1_Pooling/config.json";
pub(super) const MODULES: &str = "modules.json";
const SETTINGS: &str = "config_sentence_transformers.json";

/// File that Stanford's ColBERT code writes next to a model.
const ARTIFACT: &str = "artifact.metadata";

/// File with declarations that the other files of a model do not contain.
pub(super) const RANKER: &str = "ranker.toml";

/// The configuration file that every model has.
pub(super) const CONFIG: &str = "config.json";
pub(super) const FILES: [&str; 3] = [CONFIG, "tokenizer.json", "model.safetensors"];

/// The small files of a model, which determine its possible uses.
pub(super) struct ModelMetadataFiles {
    config: Vec<u8>,
    ranker: Option<Vec<u8>>,
}

impl ModelMetadataFiles {
    /// Reads the metadata from a folder. Returns `None` if `config.json` does not exist or a file
    /// cannot be read.
    pub(super) fn read_from_folder(folder: &Path) -> Option<ModelMetadataFiles> {
        let ranker = folder.join(RANKER);
        Some(ModelMetadataFiles {
            config: fs::read(folder.join(CONFIG)).ok()?,
            ranker: match ranker.exists() {
                true => Some(fs::read(ranker).ok()?),
                false => None,
            },
        })
    }

    /// Reads the metadata from the hub cache on this machine, as far as it contains them.
    pub(super) fn read_from_hub_cache(
        name: &hub::HubRepoIdAndRevision,
    ) -> Option<ModelMetadataFiles> {
        let hub = hub::HubRepo::open(name);
        let held = |file: &str| fs::read(hub.cached_file_path(file)?).ok();
        Some(ModelMetadataFiles {
            config: held(CONFIG)?,
            ranker: held(RANKER),
        })
    }

    /// Returns the names of the files that a model of this kind has.
    fn required_files(&self) -> [&'static str; 3] {
        match LambdaMartConfig::is_supported_config(&self.config) {
            true => LAMBDAMART_FILES,
            false => FILES,
        }
    }

    /// Returns an error if `ranker.toml` is invalid.
    pub(super) fn validate_ranker_toml(&self) -> Result<(), neural::Error> {
        NeuralRankerConfig::parse(self.ranker.as_deref().unwrap_or_default()).map(drop)
    }

    /// Returns the possible uses of the model, the usual one first; `None` if the files are
    /// invalid, which is reported when the model is loaded.
    pub(super) fn possible_ranker_kinds(&self) -> Option<&'static [NeuralRankerKind]> {
        let declared =
            NeuralRankerConfig::parse(self.ranker.as_deref().unwrap_or_default()).ok()?;
        if let Some(architecture) = declared.architecture {
            return Some(NeuralRankerKind::kinds_of_architecture(architecture));
        }
        let config = self.config.as_slice();
        if let Some(kind) = InteractionRanker::kind_of_config(config) {
            let mut all = NeuralRankerKind::ALL.iter();
            let at = all.position(|it| *it == NeuralRankerKind::Interaction(kind))?;
            return NeuralRankerKind::ALL.get(at..=at);
        }
        if LambdaMartConfig::is_supported_config(config) {
            return Some(&[NeuralRankerKind::LambdaMart]);
        }
        if MonoT5::is_supported_config(config) {
            return Some(&[NeuralRankerKind::MonoT5, NeuralRankerKind::Doc2Query]);
        }
        if !neural::is_encoder_config(config) {
            return None;
        }
        if Colbert::is_supported_config(config) {
            return Some(&[NeuralRankerKind::Colbert]);
        }
        Some(
            match (
                CrossEncoder::is_supported_config(config),
                Splade::is_supported_config(config),
            ) {
                (true, _) => &NeuralRankerKind::ALL[3..4],
                (_, true) => &NeuralRankerKind::ALL[..3],
                _ => NeuralRankerKind::ENCODER,
            },
        )
    }
}

/// Reads a model folder. Returns the files and the result of `first` on the metadata.
pub(super) fn check_metadata_then_read_files<T>(
    folder: &Path,
    first: impl FnOnce(&ModelMetadataFiles) -> Result<T, Error>,
) -> Result<(ModelFileContents, T), Error> {
    let read = |file: &str| {
        fs::read(folder.join(file)).map_err(|error| Error::ModelNotFound {
            model: folder.display().to_string(),
            reason: match error.kind() {
                std::io::ErrorKind::NotFound if pickled(folder, file) => format!(
                    "has its weights as pytorch_model.bin, which may run any code when it is \
                     read; save them with `save_pretrained(folder, safe_serialization=True)` of \
                     transformers, or take a revision with {file}"
                ),
                std::io::ErrorKind::NotFound => {
                    let files = match LAMBDAMART_FILES[1..].contains(&file) {
                        true => LAMBDAMART_FILES,
                        false => FILES,
                    };
                    format!("has no {file}; a model folder holds {}", files.join(", "))
                }
                _ => format!("{file} cannot be read: {error}"),
            },
        })
    };
    let perhaps = |file: &str| match folder.join(file).exists() {
        true => read(file).map(Some),
        false => Ok(None),
    };
    let said = ModelMetadataFiles {
        config: read(CONFIG)?,
        ranker: perhaps(RANKER)?,
    };
    let [_, tokenizer, weights] = said.required_files();
    let found = first(&said)?;
    let modules = perhaps(MODULES)?;
    let files = ModelFileContents {
        config: said.config,
        ranker_config: said.ranker,
        tokenizer: read(tokenizer)?,
        weights: read(weights)?,
        pooling: perhaps(POOLING)?,
        modules_with_weights: further(modules.as_deref(), &folder.display().to_string(), read)?,
        modules,
        sentence_transformers: perhaps(SETTINGS)?,
        colbert_metadata: perhaps(ARTIFACT)?,
    };
    Ok((files, found))
}

/// Reads a model from the hub cache on this machine and downloads the missing files, metadata
/// first.
pub(super) fn read_or_download_hub_model<T>(
    name: &hub::HubRepoIdAndRevision,
    first: impl FnOnce(&ModelMetadataFiles) -> Result<T, Error>,
) -> Result<(ModelFileContents, T), Error> {
    let hub = hub::HubRepo::open(name);
    let said = ModelMetadataFiles {
        config: hub.require_file(CONFIG)?,
        ranker: hub.read_optional_file(RANKER)?,
    };
    let [_, tokenizer, weights] = said.required_files();
    let found = first(&said)?;
    let modules = hub.read_optional_file(MODULES)?;
    let files = ModelFileContents {
        config: said.config,
        ranker_config: said.ranker,
        tokenizer: hub.require_file(tokenizer)?,
        weights: hub.require_file(weights)?,
        pooling: hub.read_optional_file(POOLING)?,
        modules_with_weights: further(modules.as_deref(), &name.to_string(), |file| {
            hub.require_file(file)
        })?,
        modules,
        sentence_transformers: hub.read_optional_file(SETTINGS)?,
        colbert_metadata: hub.read_optional_file(ARTIFACT)?,
    };
    Ok((files, found))
}

/// Reads the folders of modules that have their own weights.
fn further(
    modules: Option<&[u8]>,
    model: &str,
    read: impl Fn(&str) -> Result<Vec<u8>, Error>,
) -> Result<Vec<SentenceTransformersModuleWithWeights>, Error> {
    // Errors in the list are reported when the model is loaded.
    let paths = modules.map_or(Ok(Vec::new()), neural::dense_module_folders);
    let each = paths.unwrap_or_default().into_iter().map(|path| {
        let mut parts = Path::new(&path).components();
        if path.is_empty() || !parts.all(|it| matches!(it, Component::Normal(_))) {
            return Err(Error::ModelNotFound {
                model: model.to_owned(),
                reason: format!("{MODULES} names `{path}`, which is no folder inside the model's"),
            });
        }
        Ok(SentenceTransformersModuleWithWeights {
            config: read(&format!("{path}/config.json"))?,
            weights: read(&format!("{path}/model.safetensors"))?,
            path,
        })
    });
    each.collect()
}

/// Returns whether the folder has weights in the pickle format of Python instead of `file`.
fn pickled(folder: &Path, file: &str) -> bool {
    let weights = folder.join(file).with_file_name("pytorch_model.bin");
    file.ends_with(FILES[2]) && weights.is_file()
}
