//! From a folder or a name on the hub to neural rankers, kept in memory once loaded.
//!
//! An encoder gives a ranker for each [`Matching`]: `all-MiniLM-L6-v2:bi` and
//! `all-MiniLM-L6-v2:late`; with a head for masked pieces `NAME:splade` as well; a folder with a
//! classification head gives one, `NAME:cross`, and one with a T5 `NAME:monot5`. Without an ending
//! the first of these is meant.

mod scoring;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use neural::{CrossEncoder, Device, Doc2Query, Matching, Model, ModelFiles, MonoT5, Splade};
use shared::score::{RankerAbout, RankerKind};

use crate::error::Error;

pub(crate) use scoring::{Listed, PairScore, Prepared, TOKEN_BUDGET};

/// Where a model is looked for when none is named.
const DEFAULT_FOLDER: &str = ".cache/axioscope/models/all-MiniLM-L6-v2";

/// Pieces of a text that a model reads at most, as sentence-transformers has it for MiniLM.
const MAX_PIECES: usize = 256;

/// Pieces of a query and a text that are read together, as cross-encoders are trained for.
const MAX_PAIR_PIECES: usize = 512;

/// A folder or a repository of the hub is not asked again so soon after it failed.
const PATIENCE: Duration = Duration::from_secs(30);

/// How sentence-transformers says what it does with the vectors of pieces.
const POOLING: &str = "1_Pooling/config.json";
const MODULES: &str = "modules.json";
const SETTINGS: &str = "config_sentence_transformers.json";

const FILES: [&str; 3] = ["config.json", "tokenizer.json", "model.safetensors"];

/// A model with what it is used for.
pub(crate) struct Ranker {
    /// What is shown of it.
    pub about: RankerAbout,
    reader: Reader,
}

/// How it reads: each text by itself, or with the query.
enum Reader {
    Alone(Alone),
    Together(Together),
}

/// What reads a query and a text as one.
enum Together {
    Cross(CrossEncoder),
    Mono(MonoT5),
}

/// What makes something of a text that can be compared.
enum Alone {
    Dense(Model),
    Sparse(Splade),
}

/// What a model is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    Matching(Matching),
    Splade,
    Cross,
    MonoT5,
}

impl Use {
    const ALL: [Use; 5] = [
        Use::Matching(Matching::BiEncoder),
        Use::Matching(Matching::LateInteraction),
        Use::Splade,
        Use::Cross,
        Use::MonoT5,
    ];

    fn ending(self) -> &'static str {
        match self {
            Use::Matching(Matching::BiEncoder) => ":bi",
            Use::Matching(Matching::LateInteraction) => ":late",
            Use::Splade => ":splade",
            Use::Cross => ":cross",
            Use::MonoT5 => ":monot5",
        }
    }
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
        let of_place = |place: &Place| -> Vec<String> {
            let uses = place.uses().iter();
            uses.map(|&it| spec(&place.name, it)).collect()
        };
        self.places.iter().flat_map(of_place).collect()
    }

    /// A spec with the ending that is meant.
    pub(crate) fn full_spec(&self, wanted: &str) -> String {
        let (name, used) = split(wanted);
        let place = self.places.iter().find(|it| it.name == name);
        let used = used.or_else(|| Some(place?.uses()[0]));
        used.map_or_else(|| wanted.to_owned(), |it| spec(name, it))
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
        let (name, used) = split(wanted);
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
        let used = used.unwrap_or(place.uses()[0]);
        let spec = spec(name, used);
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
        match place.load(used, self.device) {
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

    /// What it can be used for, the usual first. Of a name on the hub nothing is known before it
    /// is there, and it is taken for an encoder.
    fn uses(&self) -> &'static [Use] {
        let config = match &self.source {
            Source::Folder(folder) => fs::read(folder.join(FILES[0])).unwrap_or_default(),
            Source::Hub(_) => Vec::new(),
        };
        if MonoT5::is_in(&config) {
            return &Use::ALL[4..];
        }
        match (CrossEncoder::is_in(&config), Splade::is_in(&config)) {
            (true, _) => &Use::ALL[3..4],
            (_, true) => &Use::ALL[..3],
            _ => &Use::ALL[..2],
        }
    }

    fn load(&self, used: Use, device: Device) -> Result<Ranker, Error> {
        tracing::info!("loading {}", spec(&self.name, used));
        Ranker::load(&self.name, &self.read()?, used, device)
    }

    fn read(&self) -> Result<ModelFiles, Error> {
        match &self.source {
            Source::Folder(folder) => read_folder(folder),
            Source::Hub(name) => read_hub(name),
        }
    }
}

impl Ranker {
    fn load(name: &str, files: &ModelFiles, used: Use, device: Device) -> Result<Ranker, Error> {
        // A configuration that cannot be read is told of by what loads it.
        let most = files.most_pieces().unwrap_or(MAX_PAIR_PIECES);
        let reader = match used {
            Use::Matching(matching) => Model::load(files, matching, MAX_PIECES.min(most), device)
                .map(|it| Reader::Alone(Alone::Dense(it))),
            Use::Splade => Splade::load(files, MAX_PIECES.min(most), device)
                .map(|it| Reader::Alone(Alone::Sparse(it))),
            Use::Cross => CrossEncoder::load(files, MAX_PAIR_PIECES.min(most), device)
                .map(|it| Reader::Together(Together::Cross(it))),
            Use::MonoT5 => MonoT5::load(files, MAX_PAIR_PIECES, device)
                .map(|it| Reader::Together(Together::Mono(it))),
        };
        let reader = reader.map_err(Error::model(name))?;
        let short = match name {
            "all-MiniLM-L6-v2" => "MiniLM",
            other => other,
        };
        let (label, detail, note) = match used {
            Use::Splade => (
                format!("{short} SPLADE"),
                "weights of the vocabulary, ln(1 + relu), maximum over places".to_owned(),
                None,
            ),
            Use::Cross => (
                short.to_owned(),
                "cross-encoder, query and text read together".to_owned(),
                None,
            ),
            Use::MonoT5 => (
                short.to_owned(),
                "monoT5, log-probability of true against false".to_owned(),
                None,
            ),
            Use::Matching(Matching::BiEncoder) => {
                let (pooling, similarity) = match &reader {
                    Reader::Alone(Alone::Dense(it)) => (it.pooling(), it.similarity()),
                    Reader::Alone(Alone::Sparse(_)) | Reader::Together(_) => Default::default(),
                };
                let (pooling, similarity) = (pooling.name(), similarity.name());
                let detail = format!("bi-encoder, {pooling} pooling, {similarity}");
                (short.to_owned(), detail, None)
            }
            Use::Matching(Matching::LateInteraction) => (
                format!("{short} late interaction"),
                "sum over query pieces of the best cosine".to_owned(),
                Some("not fine-tuned for late interaction".to_owned()),
            ),
        };
        let about = RankerAbout {
            spec: spec(name, used),
            label,
            detail,
            kind: RankerKind::Neural,
            fingerprint: match &reader {
                Reader::Alone(Alone::Dense(it)) => it.fingerprint().to_owned(),
                Reader::Alone(Alone::Sparse(it)) => it.fingerprint().to_owned(),
                Reader::Together(it) => it.fingerprint().to_owned(),
            },
            note,
        };
        Ok(Ranker { about, reader })
    }
}

/// A T5 that writes queries, with the name of its folder or repository.
pub(crate) fn open_doc2query(named: &str) -> Result<(String, Doc2Query), Error> {
    let place = Place::parse(named)?;
    let files = place.read()?;
    let model = Doc2Query::load(&files, MAX_PAIR_PIECES, Device::Cpu);
    Ok((place.name.clone(), model.map_err(Error::model(named))?))
}

/// Name and use, if it is named; anything that is no ending belongs to the name.
fn split(spec: &str) -> (&str, Option<Use>) {
    for used in Use::ALL {
        if let Some(name) = spec.strip_suffix(used.ending()) {
            return (name, Some(used));
        }
    }
    (spec, None)
}

fn spec(name: &str, used: Use) -> String {
    format!("{name}{}", used.ending())
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

/// Whether a folder has weights in the form of Python's pickle.
fn pickled(folder: &Path) -> bool {
    folder.join("pytorch_model.bin").is_file()
}

fn read_folder(folder: &Path) -> Result<ModelFiles, Error> {
    let read = |file: &str| {
        fs::read(folder.join(file)).map_err(|error| Error::NoModel {
            model: folder.display().to_string(),
            reason: match error.kind() {
                std::io::ErrorKind::NotFound if file == FILES[2] && pickled(folder) => format!(
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
    let [config, tokenizer, weights] = FILES;
    Ok(ModelFiles {
        config: read(config)?,
        tokenizer: read(tokenizer)?,
        weights: read(weights)?,
        pooling: fs::read(folder.join(POOLING)).ok(),
        modules: fs::read(folder.join(MODULES)).ok(),
        settings: fs::read(folder.join(SETTINGS)).ok(),
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
    Ok(ModelFiles {
        config: read(config)?,
        tokenizer: read(tokenizer)?,
        weights: read(weights)?,
        pooling: perhaps(POOLING),
        modules: perhaps(MODULES),
        settings: perhaps(SETTINGS),
    })
}

#[cfg(test)]
pub(crate) mod tests;
