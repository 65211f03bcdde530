//! From a folder or a name on the hub, `OWNER/NAME` or `OWNER/NAME@REVISION`, to neural rankers,
//! kept in memory once loaded.
//!
//! An encoder gives a ranker for each [`Matching`]: `all-MiniLM-L6-v2:bi` and
//! `all-MiniLM-L6-v2:late`; with a head for masked pieces `NAME:splade` as well; a folder with a
//! classification head gives one, `NAME:cross`, as does a ColBERT, `NAME:colbert`, and a T5,
//! `NAME:monot5`. `ranker.toml` in a folder says what it is where `config.json` cannot, as of an
//! EPIC, `NAME:epic`. Without an ending the first of these is meant. `+maxp` and the like say how
//! long texts are read: `passages`.

mod certify;
mod files;
mod hub;
mod inventory;
mod passages;
mod passes;
mod scale;
mod scoring;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use neural::{
    Architecture, Augmentation, Colbert, Computing, CrossEncoder, Declared, Device, Doc2Query,
    Epic, Matching, Model, ModelFiles, MonoT5, Precision, Splade,
};
use sha2::{Digest, Sha256};
use shared::score::{RankerAbout, RankerKind};

use crate::error::Error;
use crate::models::files::{CONFIG, RANKER};
use crate::models::passages::Reading;
use crate::models::passes::Passes;

pub(crate) use passes::Reads;

pub(crate) use scale::Scale;
pub(crate) use scoring::{Listed, PairScore, Prepared, TOKEN_BUDGET};

/// Where a model is looked for when none is named.
const DEFAULT_FOLDER: &str = ".cache/axioscope/models/all-MiniLM-L6-v2";

/// Pieces of a text that a model reads at most, as sentence-transformers has it for MiniLM.
const MAX_PIECES: usize = 256;

/// Pieces of a query and a text that are read together, as cross-encoders are trained for.
const MAX_PAIR_PIECES: usize = 512;

/// Pieces of a query, and of a text, as EPIC was trained.
const MAX_EPIC_PIECES: usize = 512;

/// A folder or a repository of the hub is not asked again so soon after it failed.
const PATIENCE: Duration = Duration::from_secs(30);

/// A model with what it is used for.
pub(crate) struct Ranker {
    /// What is shown of it.
    pub about: RankerAbout,
    /// SHA-256 of the file of weights, in hex, as hubs show it.
    pub weights_sha256: String,
    /// Size of that file.
    weights_bytes: u64,
    /// The most pieces of a text; a cross-encoder counts the query with it. None where the files
    /// say it in a way of their own.
    max_pieces: Option<u64>,
    reader: Reader,
    passes: Passes,
    reading: Reading,
    /// Where it came from, to be loaded once more otherwise.
    place: Place,
    used: Use,
    computing: Computing,
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
    Colbert(Colbert),
    Epic(Epic),
}

/// What a model is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    Matching(Matching),
    Splade,
    Cross,
    Colbert,
    Epic,
    MonoT5,
}

impl Use {
    const ALL: [Use; 7] = [
        Use::Matching(Matching::BiEncoder),
        Use::Matching(Matching::LateInteraction),
        Use::Splade,
        Use::Cross,
        Use::Colbert,
        Use::Epic,
        Use::MonoT5,
    ];

    /// What a folder is that says what it is.
    fn declared(architecture: Architecture) -> &'static [Use] {
        match architecture {
            Architecture::BiEncoder => &[Use::Matching(Matching::BiEncoder)],
            Architecture::LateInteraction => &[Use::Matching(Matching::LateInteraction)],
            Architecture::Splade => &[Use::Splade],
            Architecture::CrossEncoder => &[Use::Cross],
            Architecture::Colbert => &[Use::Colbert],
            Architecture::Epic => &[Use::Epic],
            Architecture::MonoT5 => &[Use::MonoT5],
        }
    }

    fn ending(self) -> &'static str {
        match self {
            Use::Matching(Matching::BiEncoder) => ":bi",
            Use::Matching(Matching::LateInteraction) => ":late",
            Use::Splade => ":splade",
            Use::Cross => ":cross",
            Use::Colbert => ":colbert",
            Use::Epic => ":epic",
            Use::MonoT5 => ":monot5",
        }
    }
}

/// The models that somebody named, loaded when they are first used.
pub(crate) struct Models {
    places: Vec<Place>,
    computing: Computing,
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
        let Named {
            name,
            used,
            reading,
        } = Named::of(wanted);
        let place = self.place(wanted)?;
        let used = used.unwrap_or(place.uses()[0]);
        let spec = spec(name, used, reading);
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
                let ranker = Arc::new(ranker.reading(reading));
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

impl Ranker {
    fn load(
        place: &Place,
        files: &ModelFiles,
        used: Use,
        computing: Computing,
    ) -> Result<Ranker, Error> {
        let name = place.name.as_str();
        // A configuration that cannot be read is told of by what loads it.
        let most = files.most_pieces().unwrap_or(MAX_PAIR_PIECES);
        let reader = match used {
            Use::Matching(matching) => {
                Model::load(files, matching, MAX_PIECES.min(most), computing)
                    .map(|it| Reader::Alone(Alone::Dense(it)))
            }
            Use::Splade => Splade::load(files, MAX_PIECES.min(most), computing)
                .map(|it| Reader::Alone(Alone::Sparse(it))),
            Use::Cross => CrossEncoder::load(files, MAX_PAIR_PIECES.min(most), computing)
                .map(|it| Reader::Together(Together::Cross(it))),
            Use::Colbert => {
                Colbert::load(files, computing).map(|it| Reader::Alone(Alone::Colbert(it)))
            }
            Use::Epic => Epic::load(files, MAX_EPIC_PIECES.min(most), computing)
                .map(|it| Reader::Alone(Alone::Epic(it))),
            Use::MonoT5 => MonoT5::load(files, MAX_PAIR_PIECES, computing)
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
            Use::Colbert => (format!("{short} ColBERT"), of_colbert(&reader), None),
            Use::Epic => (
                format!("{short} EPIC"),
                "salience of query pieces, expansion and quality of the text".to_owned(),
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
                    Reader::Alone(Alone::Sparse(_) | Alone::Colbert(_) | Alone::Epic(_))
                    | Reader::Together(_) => Default::default(),
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
            spec: spec(name, used, Reading::Whole),
            label,
            detail,
            kind: RankerKind::Neural,
            fingerprint: match &reader {
                Reader::Alone(Alone::Dense(it)) => it.fingerprint().to_owned(),
                Reader::Alone(Alone::Sparse(it)) => it.fingerprint().to_owned(),
                Reader::Alone(Alone::Colbert(it)) => it.fingerprint().to_owned(),
                Reader::Alone(Alone::Epic(it)) => it.fingerprint().to_owned(),
                Reader::Together(it) => it.fingerprint().to_owned(),
            },
            note,
        };
        Ok(Ranker {
            about,
            weights_sha256: shared::collection::hex(&Sha256::digest(&files.weights)),
            weights_bytes: files.weights.len() as u64,
            max_pieces: bound(files, used, most),
            reader,
            passes: Passes::default(),
            reading: Reading::Whole,
            place: place.clone(),
            used,
            computing,
        })
    }
}

impl Ranker {
    /// Fewer bits make another ranker.
    fn told_in(mut self, precision: Precision) -> Ranker {
        if precision != Precision::F32 {
            let about = &mut self.about;
            about.detail += &format!("; in {precision}");
            let both = format!("{} {precision}", about.fingerprint);
            about.fingerprint = shared::collection::text_hash(&both);
        }
        self
    }

    /// The same weights, another way to read long texts.
    fn reading(mut self, reading: Reading) -> Ranker {
        if reading != Reading::Whole {
            let about = &mut self.about;
            about.spec += &reading.to_string();
            about.label += reading.label();
            about.detail += &reading.detail();
            let both = format!("{} {reading}", about.fingerprint);
            about.fingerprint = shared::collection::text_hash(&both);
        }
        self.reading = reading;
        self
    }

    /// What it has read since it was loaded, whoever asked.
    pub(crate) fn reads(&self) -> Reads {
        self.passes.so_far()
    }

    /// Why it cannot score at present, if its device had no memory even for a single text.
    pub(crate) fn exhausted(&self) -> Option<String> {
        self.passes.exhausted()
    }

    /// The nonlinearity of the feed-forward layers, for people.
    fn activation(&self) -> Option<String> {
        match &self.reader {
            // Any other is refused when the configuration is read.
            Reader::Alone(_) | Reader::Together(Together::Cross(_)) => {
                Some("GELU by erf".to_owned())
            }
            Reader::Together(Together::Mono(_)) => None,
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

/// The most pieces of a text that `used` reads of a model whose positions end at `most`.
fn bound(files: &ModelFiles, used: Use, most: usize) -> Option<u64> {
    let usual = match used {
        Use::Matching(_) | Use::Splade => MAX_PIECES,
        Use::MonoT5 => return Some(MAX_PAIR_PIECES as u64),
        Use::Cross => return Some(MAX_PAIR_PIECES.min(most) as u64),
        Use::Epic => MAX_EPIC_PIECES,
        Use::Colbert => return None,
    };
    let ranker = files.ranker.as_deref().unwrap_or_default();
    let declared = Declared::read(ranker).unwrap_or_default();
    Some(declared.text_pieces.unwrap_or(usual.min(most)) as u64)
}

/// What a ColBERT compares, for people.
fn of_colbert(reader: &Reader) -> String {
    let Reader::Alone(Alone::Colbert(model)) = reader else {
        return String::new();
    };
    let markers = match model.markers() {
        None => "no markers".to_owned(),
        Some([query, text]) => format!("markers {query} and {text}"),
    };
    let masks = match model.augmentation() {
        Augmentation::None => "no augmentation",
        Augmentation::Unattended => "query filled up with [MASK]",
        Augmentation::Attended => "query filled up with [MASK] that all look at",
    };
    let width = model.width();
    format!("sum of the best cosines, {width} numbers a piece, {markers}, {masks}")
}

/// What a spec says; anything that is no ending belongs to the name.
struct Named<'a> {
    name: &'a str,
    used: Option<Use>,
    reading: Reading,
}

impl Named<'_> {
    fn of(spec: &str) -> Named<'_> {
        let (spec, reading) = Reading::split(spec);
        let ended = Use::ALL.into_iter().find_map(|it| {
            let name = spec.strip_suffix(it.ending())?;
            Some((name, it))
        });
        Named {
            name: ended.map_or(spec, |it| it.0),
            used: ended.map(|it| it.1),
            reading,
        }
    }
}

fn spec(name: &str, used: Use, reading: Reading) -> String {
    format!("{name}{}{reading}", used.ending())
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
