//! From a folder or a name on the hub to neural rankers, kept in memory once loaded.
//!
//! One model gives a ranker for each [`Matching`]: `all-MiniLM-L6-v2:bi` and
//! `all-MiniLM-L6-v2:late`; without an ending `:bi` is meant.

mod scoring;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use neural::{Device, Matching, Model, ModelFiles};
use serde::Deserialize;
use shared::score::{RankerAbout, RankerKind};

use crate::error::Error;

pub(crate) use scoring::{Listed, PairScore, Prepared, TOKEN_BUDGET};

/// Where a model is looked for when none is named.
const DEFAULT_FOLDER: &str = ".cache/axioscope/models/all-MiniLM-L6-v2";

/// Pieces of a text that a model reads at most, as sentence-transformers has it for MiniLM.
const MAX_PIECES: usize = 256;

/// A folder or a repository of the hub is not asked again so soon after it failed.
const PATIENCE: Duration = Duration::from_secs(30);

const FILES: [&str; 3] = ["config.json", "tokenizer.json", "model.safetensors"];

/// A model with what it is used for.
pub(crate) struct Ranker {
    /// What is shown of it.
    pub about: RankerAbout,
    model: Model,
}

/// The models that somebody named, loaded when they are first used.
pub(crate) struct Models {
    places: Vec<Place>,
    device: Device,
    loaded: RwLock<BTreeMap<String, Arc<Ranker>>>,
    failed: Mutex<BTreeMap<String, (Instant, String)>>,
    /// Held while a model is loaded, so that none is loaded twice.
    loading: Mutex<()>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Place {
    /// The spec without its ending.
    name: String,
    source: Source,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Source {
    Folder(PathBuf),
    /// `owner/name`.
    Hub(String),
}

impl Models {
    /// Takes folders and names on the hub. With none, the variable `AXIOSCOPE_MODEL` counts,
    /// or else the folder where `cargo xtask` puts the default model, if it is there.
    pub(crate) fn new(named: &[String], device: Device) -> Result<Models, Error> {
        let found = match named {
            [] => default_model().into_iter().collect(),
            named => named.to_vec(),
        };
        let mut places: Vec<Place> = Vec::new();
        for it in found {
            let place = Place::parse(&it)?;
            if let Some(other) = places.iter().find(|other| other.name == place.name) {
                return Err(Error::NoModel {
                    model: it,
                    reason: format!(
                        "there are two of the name `{}`; rename one of the folders",
                        other.name
                    ),
                });
            }
            places.push(place);
        }
        let (loaded, failed, loading) = Default::default();
        Ok(Models {
            places,
            device,
            loaded,
            failed,
            loading,
        })
    }

    /// As it is typed on the command line: a folder or a name on the hub, with or without an
    /// ending, or the name of the default model.
    pub(crate) fn open(spec: &str, device: Device) -> Result<Arc<Ranker>, Error> {
        let (base, _) = split(spec);
        match Place::parse(base) {
            Ok(place) => {
                let models = Models::new(&[base.to_owned()], device)?;
                models.get(&spec.replacen(base, &place.name, 1))
            }
            Err(error) => {
                let models = Models::new(&[], device)?;
                if models.places.is_empty() {
                    return Err(error);
                }
                models.get(spec)
            }
        }
    }

    /// The specs of all rankers.
    pub(crate) fn specs(&self) -> Vec<String> {
        let both = |place: &Place| {
            Matching::ALL
                .iter()
                .map(|&it| spec(&place.name, it))
                .collect()
        };
        self.places
            .iter()
            .flat_map::<Vec<String>, _>(both)
            .collect()
    }

    /// The rankers that are loaded.
    pub(crate) fn loaded(&self) -> Vec<Arc<Ranker>> {
        let loaded = self.loaded.read().unwrap_or_else(PoisonError::into_inner);
        loaded.values().cloned().collect()
    }

    /// Specs that could not be loaded, with what is wrong.
    pub(crate) fn failures(&self) -> Vec<(String, String)> {
        let failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        failed
            .iter()
            .map(|(spec, (_, reason))| (spec.clone(), reason.clone()))
            .collect()
    }

    /// A ranker by its spec. The first time this takes seconds, with a download minutes.
    pub(crate) fn get(&self, wanted: &str) -> Result<Arc<Ranker>, Error> {
        let (name, matching) = split(wanted);
        let place = self
            .places
            .iter()
            .find(|it| it.name == name)
            .ok_or_else(|| {
                let known = self.specs().join("`, `");
                let among = if known.is_empty() {
                    known
                } else {
                    format!("` among `{known}")
                };
                shared::error::Error::unknown("model", format!("{wanted}{among}"))
            })?;
        let spec = spec(name, matching);
        let loaded = || {
            let loaded = self.loaded.read().unwrap_or_else(PoisonError::into_inner);
            loaded.get(&spec).cloned()
        };
        if let Some(ranker) = loaded() {
            return Ok(ranker);
        }
        let _loading = self.loading.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(ranker) = loaded() {
            return Ok(ranker);
        }
        let failed = || self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((when, reason)) = failed().get(&spec)
            && when.elapsed() < PATIENCE
        {
            return Err(Error::NoModel {
                model: spec,
                reason: reason.clone(),
            });
        }
        match place.load(matching, self.device) {
            Ok(ranker) => {
                let ranker = Arc::new(ranker);
                let mut loaded = self.loaded.write().unwrap_or_else(PoisonError::into_inner);
                loaded.insert(spec.clone(), ranker.clone());
                failed().remove(&spec);
                Ok(ranker)
            }
            Err(error) => {
                let reason = match &error {
                    Error::NoModel { reason, .. } => reason.clone(),
                    Error::Model { source, .. } => source.to_string(),
                    other => other.to_string(),
                };
                failed().insert(spec, (Instant::now(), reason));
                Err(error)
            }
        }
    }
}

impl Place {
    fn parse(named: &str) -> Result<Place, Error> {
        let folder = Path::new(named);
        if folder.is_dir() {
            let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
            let name = folder
                .file_name()
                .map(|it| it.to_string_lossy().into_owned());
            let name = name.unwrap_or_else(|| "model".to_owned());
            return Ok(Place {
                name,
                source: Source::Folder(folder),
            });
        }
        let part = |it: &str| {
            let fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
            !it.is_empty() && !it.starts_with('.') && it.chars().all(fine)
        };
        match named.split_once('/') {
            Some((owner, name)) if part(owner) && part(name) => Ok(Place {
                name: name.to_owned(),
                source: Source::Hub(named.to_owned()),
            }),
            _ => Err(Error::NoModel {
                model: named.to_owned(),
                reason: "is neither a folder nor a name on the hub, such as \
                         `sentence-transformers/all-MiniLM-L6-v2`"
                    .to_owned(),
            }),
        }
    }

    fn load(&self, matching: Matching, device: Device) -> Result<Ranker, Error> {
        tracing::info!("loading {}", spec(&self.name, matching));
        let files = match &self.source {
            Source::Folder(folder) => read_folder(folder)?,
            Source::Hub(name) => read_hub(name)?,
        };
        Ranker::load(&self.name, &files, matching, device)
    }
}

impl Ranker {
    fn load(
        name: &str,
        files: &ModelFiles,
        matching: Matching,
        device: Device,
    ) -> Result<Ranker, Error> {
        /// What else stands there is read by [`Model::load`].
        #[derive(Deserialize)]
        struct Config {
            max_position_embeddings: Option<usize>,
        }
        let config: Option<Config> = serde_json::from_slice(&files.config).ok();
        let most = config
            .and_then(|it| it.max_position_embeddings)
            .unwrap_or(MAX_PIECES);
        let model = Model::load(files, matching, MAX_PIECES.min(most), device)
            .map_err(Error::model(name))?;
        let short = match name {
            "all-MiniLM-L6-v2" => "MiniLM",
            other => other,
        };
        let (label, detail, note) = match matching {
            Matching::BiEncoder => (short.to_owned(), "bi-encoder, mean pooling, cosine", None),
            Matching::LateInteraction => (
                format!("{short} late interaction"),
                "sum over query pieces of the best cosine",
                Some("not fine-tuned for late interaction".to_owned()),
            ),
        };
        let about = RankerAbout {
            spec: spec(name, matching),
            label,
            detail: detail.to_owned(),
            kind: RankerKind::Neural,
            fingerprint: model.fingerprint().to_owned(),
            note,
        };
        Ok(Ranker { about, model })
    }
}

/// Name and use; anything that is no ending belongs to the name.
fn split(spec: &str) -> (&str, Matching) {
    for &matching in Matching::ALL {
        if let Some(name) = spec.strip_suffix(ending(matching)) {
            return (name, matching);
        }
    }
    (spec, Matching::BiEncoder)
}

fn spec(name: &str, matching: Matching) -> String {
    format!("{name}{}", ending(matching))
}

fn ending(matching: Matching) -> &'static str {
    match matching {
        Matching::BiEncoder => ":bi",
        Matching::LateInteraction => ":late",
    }
}

/// The model that is meant when none is named: `AXIOSCOPE_MODEL`, or the default if it is there.
pub(crate) fn default_model() -> Option<String> {
    let set = std::env::var("AXIOSCOPE_MODEL").ok();
    set.filter(|it| !it.is_empty()).or_else(default_folder)
}

fn default_folder() -> Option<String> {
    let folder = std::env::home_dir()?.join(DEFAULT_FOLDER);
    folder
        .is_dir()
        .then(|| folder.to_string_lossy().into_owned())
}

fn read_folder(folder: &Path) -> Result<ModelFiles, Error> {
    let read = |file: &str| {
        fs::read(folder.join(file)).map_err(|error| Error::NoModel {
            model: folder.display().to_string(),
            reason: match error.kind() {
                std::io::ErrorKind::NotFound => {
                    format!("has no {file}; a model folder holds {}", FILES.join(", "))
                }
                _ => format!("{file} cannot be read: {error}"),
            },
        })
    };
    let [config, tokenizer, weights] = FILES;
    Ok(ModelFiles {
        config: read(config)?,
        tokenizer: read(tokenizer)?,
        weights: read(weights)?,
    })
}

/// Takes what the hub's own cache on this machine holds, and asks the hub for the rest.
fn read_hub(name: &str) -> Result<ModelFiles, Error> {
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
    let [config, tokenizer, weights] = FILES;
    Ok(ModelFiles {
        config: read(config)?,
        tokenizer: read(tokenizer)?,
        weights: read(weights)?,
    })
}

#[cfg(test)]
pub(crate) mod tests;
