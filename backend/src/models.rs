//! From a folder or a name on the hub, `OWNER/NAME` or `OWNER/NAME@REVISION`, to neural rankers,
//! kept in memory once loaded.
//!
//! An encoder gives a ranker for each [`neural::Matching`]: `all-MiniLM-L6-v2:bi` and
//! `all-MiniLM-L6-v2:late`; with a head for masked pieces `NAME:splade` as well; a folder with a
//! classification head gives one, `NAME:cross`, as does a ColBERT, `NAME:colbert`, and a T5,
//! `NAME:monot5`. `ranker.toml` in a folder says what it is where `config.json` cannot, as of an
//! EPIC, `NAME:epic`. Without an ending the first of these is meant. `+maxp` and the like say how
//! long texts are read: `passages`.

mod certify;
mod files;
mod hub;
mod inventory;
mod named;
mod passages;
mod passes;
mod ranker;
mod scale;
mod scoring;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use neural::{
    Colbert, Computing, CrossEncoder, Declared, Device, Doc2Query, ModelFiles, MonoT5, Splade,
};

use crate::error::Error;
use crate::models::files::{CONFIG, RANKER};
use crate::models::named::{Named, Use, spec};
use crate::models::passages::Reading;
use crate::models::ranker::MAX_PAIR_PIECES;

pub(crate) use passes::Reads;
pub(crate) use ranker::Ranker;
pub(crate) use scale::Scale;
pub(crate) use scoring::{Listed, PairScore, Prepared, TOKEN_BUDGET};

/// Where a model is looked for when none is named.
const DEFAULT_FOLDER: &str = ".cache/axioscope/models/all-MiniLM-L6-v2";

/// A folder or a repository of the hub is not asked again so soon after it failed.
const PATIENCE: Duration = Duration::from_secs(30);

/// The models that somebody named, loaded when they are first used.
pub(crate) struct Models {
    places: Vec<Place>,
    computing: Computing,
    /// By spec, read whole; another reading shares their weights.
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
    Hub(hub::Name),
}

impl Models {
    /// Takes folders and names on the hub. With none, the variable `AXIOSCOPE_MODEL` counts,
    /// or else the folder where `cargo xtask` puts the default model, if it is there.
    pub(crate) fn new(named: &[String], computing: impl Into<Computing>) -> Result<Models, Error> {
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
            computing: computing.into(),
            loaded,
            failed,
            loading,
        })
    }

    /// As it is typed on the command line: a folder or a name on the hub, with or without an
    /// ending, or the name of the default model.
    pub(crate) fn open(spec: &str, computing: impl Into<Computing>) -> Result<Arc<Ranker>, Error> {
        let computing = computing.into();
        let base = Named::of(spec).name;
        match Place::parse(base) {
            Ok(place) => {
                let models = Models::new(&[base.to_owned()], computing)?;
                models.get(&spec.replacen(base, &place.name, 1))
            }
            Err(error) => {
                let models = Models::new(&[], computing)?;
                if models.places.is_empty() {
                    return Err(error);
                }
                models.get(spec)
            }
        }
    }

    /// The specs of all rankers.
    pub(crate) fn specs(&self) -> Vec<String> {
        self.places.iter().flat_map(Place::specs).collect()
    }

    /// A spec with the ending that is meant.
    pub(crate) fn full_spec(&self, wanted: &str) -> String {
        let Named {
            name,
            used,
            reading,
        } = Named::of(wanted);
        let place = self.places.iter().find(|it| it.name == name);
        let used = used.or_else(|| Some(place?.uses()[0]));
        used.map_or_else(|| wanted.to_owned(), |it| spec(name, it, reading))
    }

    /// The rankers that are loaded, each once however long texts are read.
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

    fn place(&self, wanted: &str) -> Result<&Place, Error> {
        let name = Named::of(wanted).name;
        let found = self.places.iter().find(|it| it.name == name);
        found.ok_or_else(|| {
            let known = self.specs().join("`, `");
            let among = if known.is_empty() {
                known
            } else {
                format!("` among `{known}")
            };
            shared::error::Error::unknown("model", format!("{wanted}{among}")).into()
        })
    }

    /// A ranker by its spec. The first time this takes seconds, with a download minutes.
    pub(crate) fn get(&self, wanted: &str) -> Result<Arc<Ranker>, Error> {
        let Named { used, reading, .. } = Named::of(wanted);
        let place = self.place(wanted)?;
        let ranker = self.whole(place, used.unwrap_or(place.uses()[0]))?;
        Ok(match reading {
            Reading::Whole => ranker,
            Reading::Passages { .. } => Arc::new(ranker.reading(reading)),
        })
    }

    /// A ranker that reads texts whole, loaded unless it is in memory.
    fn whole(&self, place: &Place, used: Use) -> Result<Arc<Ranker>, Error> {
        let spec = spec(&place.name, used, Reading::Whole);
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
        match place.load(used, self.computing) {
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
                    other => other.public(),
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
        match hub::Name::parse(named) {
            Some(name) => Ok(Place {
                name: name.short(),
                source: Source::Hub(name),
            }),
            None => Err(Error::NoModel {
                model: named.to_owned(),
                reason: "is neither a folder nor a name on the hub, such as \
                         `sentence-transformers/all-MiniLM-L6-v2`"
                    .to_owned(),
            }),
        }
    }

    /// Of every use, read whole.
    fn specs(&self) -> Vec<String> {
        let uses = self.uses().iter();
        uses.map(|&it| spec(&self.name, it, Reading::Whole))
            .collect()
    }

    /// What it can be used for, the usual first. Of a name on the hub nothing is known before it
    /// is there, and it is taken for an encoder.
    fn uses(&self) -> &'static [Use] {
        let read = |file: &str| match &self.source {
            Source::Folder(folder) => fs::read(folder.join(file)).unwrap_or_default(),
            Source::Hub(_) => Vec::new(),
        };
        // What is wrong with it is told when the model is loaded.
        let declared = Declared::read(&read(RANKER)).unwrap_or_default();
        if let Some(architecture) = declared.architecture {
            return Use::declared(architecture);
        }
        let config = read(CONFIG);
        if MonoT5::is_in(&config) {
            return &[Use::MonoT5];
        }
        if Colbert::is_in(&config) {
            return &[Use::Colbert];
        }
        match (CrossEncoder::is_in(&config), Splade::is_in(&config)) {
            (true, _) => &Use::ALL[3..4],
            (_, true) => &Use::ALL[..3],
            _ => &Use::ALL[..2],
        }
    }

    fn load(&self, used: Use, computing: Computing) -> Result<Ranker, Error> {
        tracing::info!("loading {}", spec(&self.name, used, Reading::Whole));
        let ranker = Ranker::load(self, &self.read()?, used, computing)?;
        Ok(ranker.told_in(computing.precision))
    }

    fn read(&self) -> Result<ModelFiles, Error> {
        match &self.source {
            Source::Folder(folder) => files::read_folder(folder),
            Source::Hub(name) => files::read_hub(name),
        }
    }
}

/// A T5 that writes queries, with the name of its folder or repository.
pub(crate) fn open_doc2query(named: &str) -> Result<(String, Doc2Query), Error> {
    let place = Place::parse(named)?;
    let files = place.read()?;
    let model = Doc2Query::load(&files, MAX_PAIR_PIECES, Device::Cpu);
    Ok((place.name.clone(), model.map_err(Error::model(named))?))
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

#[cfg(test)]
pub(crate) mod tests;
