//! Loads neural rankers from a folder or from the Hugging Face Hub (`OWNER/NAME` or
//! `OWNER/NAME@REVISION`) and keeps them in memory.
//!
//! An encoder provides a ranker for each [`neural::EmbeddingRankerKind`]: `all-MiniLM-L6-v2:bi` and
//! `all-MiniLM-L6-v2:late`; with a masked-language-model head also `NAME:splade`. A model with a
//! classification head provides `NAME:cross`, a ColBERT `NAME:colbert`, and a T5 `NAME:monot5` and
//! `NAME:doc2query`, with N generated queries `NAME:doc2query=N`. A `ranker.toml` in the folder
//! declares what `config.json` does not say, for example an EPIC model, `NAME:epic`. LambdaMART,
//! `NAME:lambdamart`, has trees over features in place of a network. Without a suffix the first of
//! these is used. Suffixes such as `+maxp` select how long documents are read, see `passages`.

mod shared_encoding;
mod stability;
mod files;
mod hub;
mod internals;
mod inventory;
mod spec;
mod passages;
mod lambdamart;
mod forward_passes;
mod ranker;
mod architecture;
mod document_expansion;
mod score_scale;
mod scoring;
mod incremental;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use neural::{Device, DeviceAndPrecision, Doc2Query, ModelFileContents};

use crate::error::Error;
use crate::models::files::ModelMetadataFiles;
use crate::models::passages::LongDocumentStrategy;
use crate::models::ranker::MAX_PAIR_TOKENS;
use crate::models::spec::{NeuralRankerKind, ParsedModelSpec, format_model_spec};

pub(crate) use document_expansion::{QueryTermFrequencies, is_doc2query_spec};
pub(crate) use forward_passes::SequenceAndTokenCounts;
pub(crate) use incremental::{
    ScoredDocuments, ScoringInputWithLimits, ScoringRequestInProgress, TruncatedInput,
};
#[cfg(test)]
pub(crate) use lambdamart::tests as lambdamart_tests;
pub(crate) use lambdamart::{LAMBDAMART_FILES, LambdaMartConfig, LambdaMartTrees};
pub(crate) use ranker::NeuralRanker;
pub(crate) use score_scale::ScoreScale;
pub(crate) use scoring::{
    EncodedQueries, PairScore, PairScoreWithMatches, QueryDocumentPairsWithTexts, ScoreDetailLevel,
    TOKEN_BUDGET, TokenizedDocumentBatch,
};
pub(crate) use shared_encoding::{RankersWithQueries, score_with_rankers_sharing_encodings};
pub(crate) use spec::ranker_kind_of_spec;

/// Folder of the default model, below the home folder.
const DEFAULT_FOLDER: &str = ".cache/axioscope/models/all-MiniLM-L6-v2";

/// Time after a failure to load before a model is tried again.
const PATIENCE: Duration = Duration::from_secs(30);

/// The models that are available, each loaded on first use.
pub(crate) struct ModelRegistry {
    places: Vec<ModelEntry>,
    computing: DeviceAndPrecision,
    /// Loaded rankers by spec, without passage suffix; rankers with passages share their weights.
    loaded: RwLock<BTreeMap<String, Arc<NeuralRanker>>>,
    failed: Mutex<BTreeMap<String, (Instant, String)>>,
    /// The uses of hub models by name, known since their metadata files were read.
    settled: Mutex<BTreeMap<String, &'static [NeuralRankerKind]>>,
    /// Held while a model is loaded, so that none is loaded twice.
    loading: Mutex<()>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct ModelEntry {
    /// The spec without suffixes.
    name: String,
    /// Other names of the model in specs: the folder or hub name as given.
    aliases: Vec<String>,
    source: Source,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Source {
    Folder(PathBuf),
    Hub(hub::HubRepoIdAndRevision),
}

impl ModelRegistry {
    /// Registers model folders and hub names. If none is given, uses the variable
    /// `AXIOSCOPE_MODEL`, or else the folder into which `cargo xtask` puts the default model, if it
    /// exists. Returns an error if two models have the same name.
    pub(crate) fn with_models_or_default(
        named: &[String],
        computing: impl Into<DeviceAndPrecision>,
    ) -> Result<ModelRegistry, Error> {
        let found = match named {
            [] => default_model_path_or_name().into_iter().collect(),
            named => named.to_vec(),
        };
        let mut places: Vec<ModelEntry> = Vec::new();
        for it in found {
            let place = ModelEntry::parse(&it)?;
            if let Some(other) = places.iter().find(|other| other.name == place.name) {
                return Err(ModelEntry::same_name_error(&it, &other.name));
            }
            places.push(place);
        }
        let (loaded, failed, settled, loading) = Default::default();
        Ok(ModelRegistry {
            places,
            computing: computing.into(),
            loaded,
            failed,
            settled,
            loading,
        })
    }

    /// Registers models like [`ModelRegistry::with_models_or_default`], and those that specs name
    /// by a folder or on the hub. A default model serves a spec of the same name.
    pub(crate) fn with_models_of_specs(
        named: &[String],
        specs: &[String],
        computing: impl Into<DeviceAndPrecision>,
    ) -> Result<ModelRegistry, Error> {
        let mut models = ModelRegistry::with_models_or_default(named, computing)?;
        for spec in specs {
            // What is neither a folder nor on the hub is reported when it is used.
            let Ok(added) = ModelEntry::parse(ParsedModelSpec::parse(spec).name) else {
                continue;
            };
            match models.places.iter_mut().find(|it| it.name == added.name) {
                None => models.places.push(added),
                Some(known) if named.is_empty() || known.source == added.source => {
                    known.aliases.extend(added.aliases);
                }
                Some(_) => return Err(ModelEntry::same_name_error(spec, &added.name)),
            }
        }
        Ok(models)
    }

    /// Loads a ranker as given on the command line: a folder or hub name with or without suffixes,
    /// or the name of the default model.
    pub(crate) fn load_ranker_from_cli_spec(
        spec: &str,
        computing: impl Into<DeviceAndPrecision>,
    ) -> Result<Arc<NeuralRanker>, Error> {
        let computing = computing.into();
        let base = ParsedModelSpec::parse(spec).name;
        match ModelEntry::parse(base) {
            Ok(place) => {
                let models = ModelRegistry::with_models_or_default(&[base.to_owned()], computing)?;
                models.get_or_load_ranker(&spec.replacen(base, &place.name, 1))
            }
            Err(error) => {
                let models = ModelRegistry::with_models_or_default(&[], computing)?;
                if models.places.is_empty() {
                    return Err(error);
                }
                models.get_or_load_ranker(spec)
            }
        }
    }

    /// Returns the names of all models, without suffixes.
    pub(crate) fn model_names(&self) -> Vec<String> {
        self.places.iter().map(|it| it.name.clone()).collect()
    }

    /// Returns the specs of all rankers, as far as the model files are available locally.
    pub(crate) fn ranker_specs(&self) -> Vec<String> {
        let each = self.places.iter();
        each.flat_map(|it| self.specs_of(it)).collect()
    }

    /// Returns the specs of all uses of a model, without passages.
    fn specs_of(&self, place: &ModelEntry) -> Vec<String> {
        let uses = self.uses(place).iter();
        uses.map(|&it| format_model_spec(&place.name, it, LongDocumentStrategy::Truncate))
            .collect()
    }

    /// Returns the uses of a model, the usual one first. A model without local metadata is assumed
    /// to be an encoder.
    fn uses(&self, place: &ModelEntry) -> &'static [NeuralRankerKind] {
        let held = || match &place.source {
            Source::Folder(_) => None,
            Source::Hub(name) => {
                ModelMetadataFiles::read_from_hub_cache(name)?.possible_ranker_kinds()
            }
        };
        self.known_uses(place)
            .or_else(held)
            .unwrap_or(NeuralRankerKind::ENCODER)
    }

    /// Returns the uses of a model, or `None` if its metadata is not available or cannot be read;
    /// loading the model then reports the error. The hub cache may be incomplete, so it does not
    /// count here.
    fn known_uses(&self, place: &ModelEntry) -> Option<&'static [NeuralRankerKind]> {
        match &place.source {
            Source::Folder(folder) => {
                ModelMetadataFiles::read_from_folder(folder)?.possible_ranker_kinds()
            }
            Source::Hub(_) => {
                let settled = self.settled.lock().unwrap_or_else(PoisonError::into_inner);
                settled.get(&place.name).copied()
            }
        }
    }

    /// Determines the use of a model from its metadata, and remembers the uses of hub models.
    fn settle(
        &self,
        place: &ModelEntry,
        wanted: Option<NeuralRankerKind>,
        said: &ModelMetadataFiles,
    ) -> Result<NeuralRankerKind, Error> {
        let Some(uses) = said.possible_ranker_kinds() else {
            return Ok(wanted.unwrap_or(NeuralRankerKind::ENCODER[0]));
        };
        if let Source::Hub(_) = &place.source {
            let mut settled = self.settled.lock().unwrap_or_else(PoisonError::into_inner);
            settled.insert(place.name.clone(), uses);
        }
        self.allowed(place, wanted.unwrap_or(uses[0]), uses)
    }

    fn allowed(
        &self,
        place: &ModelEntry,
        used: NeuralRankerKind,
        uses: &[NeuralRankerKind],
    ) -> Result<NeuralRankerKind, Error> {
        match uses.contains(&used) {
            true => Ok(used),
            false => Err(self.unknown(&format_model_spec(
                &place.name,
                used,
                LongDocumentStrategy::Truncate,
            ))),
        }
    }

    /// Returns the name of the model that requests use without naming one: the first.
    pub(crate) fn default_model_name(&self) -> Result<String, Error> {
        self.model_names()
            .into_iter()
            .next()
            .ok_or_else(|| Error::ModelNotFound {
                model: "of this server".to_owned(),
                reason: "there is none; start it with `--model FOLDER|NAME`".to_owned(),
            })
    }

    /// Completes a spec with the suffix of the usual use.
    pub(crate) fn add_default_use_suffix(&self, wanted: &str) -> String {
        let ParsedModelSpec {
            name,
            model_use: used,
            n_queries,
            passages: reading,
        } = ParsedModelSpec::parse(wanted);
        let place = self.places.iter().find(|it| it.is_named(name));
        let used = used.or_else(|| Some(self.uses(place?)[0]));
        let name = place.map_or(name, |it| &it.name);
        match (used, n_queries) {
            (Some(it), None | Some(document_expansion::DEFAULT_QUERIES)) => {
                format_model_spec(name, it, reading)
            }
            (Some(it), Some(n)) => {
                let spec = format_model_spec(name, it, LongDocumentStrategy::Truncate);
                format!("{spec}={n}{reading}")
            }
            (None, _) => wanted.to_owned(),
        }
    }

    /// Returns the loaded rankers, without variants for passages.
    pub(crate) fn loaded_rankers(&self) -> Vec<Arc<NeuralRanker>> {
        let loaded = self.loaded.read().unwrap_or_else(PoisonError::into_inner);
        loaded.values().cloned().collect()
    }

    /// Returns the specs of [`ModelRegistry::ranker_specs`] that could not be loaded, with the
    /// reasons.
    pub(crate) fn load_failures(&self) -> Vec<(String, String)> {
        let specs = self.ranker_specs();
        let failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        specs
            .into_iter()
            .filter_map(|it| Some((failed.get(&it)?.1.clone(), it)))
            .map(|(reason, spec)| (spec, reason))
            .collect()
    }

    fn place(&self, wanted: &str) -> Result<&ModelEntry, Error> {
        let name = ParsedModelSpec::parse(wanted).name;
        let found = self.places.iter().find(|it| it.is_named(name));
        found.ok_or_else(|| self.unknown(wanted))
    }

    fn unknown(&self, wanted: &str) -> Error {
        let known = self.ranker_specs().join("`, `");
        let among = if known.is_empty() {
            known
        } else {
            format!("` among `{known}")
        };
        shared::error::Error::name_not_found("model", format!("{wanted}{among}")).into()
    }

    /// Returns a ranker by its spec. The first call takes seconds, or minutes if the model must be
    /// downloaded.
    pub(crate) fn get_or_load_ranker(&self, wanted: &str) -> Result<Arc<NeuralRanker>, Error> {
        let ParsedModelSpec {
            model_use: used,
            n_queries,
            passages: reading,
            ..
        } = ParsedModelSpec::parse(wanted);
        let place = self.place(wanted)?;
        let mut ranker = self.whole(place, used)?;
        if let Some(n_queries) = n_queries {
            ranker = Arc::new(ranker.with_n_generated_queries(n_queries));
        }
        Ok(match reading {
            LongDocumentStrategy::Truncate => ranker,
            LongDocumentStrategy::Passages(_) => {
                Arc::new(ranker.with_long_document_strategy(reading))
            }
        })
    }

    /// Returns a ranker without passages and loads it if necessary.
    fn whole(
        &self,
        place: &ModelEntry,
        wanted: Option<NeuralRankerKind>,
    ) -> Result<Arc<NeuralRanker>, Error> {
        let used = || wanted.unwrap_or_else(|| self.uses(place)[0]);
        let spec_of = |used| format_model_spec(&place.name, used, LongDocumentStrategy::Truncate);
        let loaded = |spec: &str| {
            let loaded = self.loaded.read().unwrap_or_else(PoisonError::into_inner);
            loaded.get(spec).cloned()
        };
        if let Some(ranker) = loaded(&spec_of(used())) {
            return Ok(ranker);
        }
        // Checked before anything is read or remembered, since clients may ask for any spec.
        if let Some(uses) = self.known_uses(place) {
            self.allowed(place, used(), uses)?;
        }
        let _loading = self.loading.lock().unwrap_or_else(PoisonError::into_inner);
        let spec = spec_of(used());
        if let Some(ranker) = loaded(&spec) {
            return Ok(ranker);
        }
        let failed = || self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((when, reason)) = failed().get(&spec)
            && when.elapsed() < PATIENCE
        {
            return Err(Error::ModelNotFound {
                model: spec,
                reason: reason.clone(),
            });
        }
        let mut siblings = self.loaded_rankers();
        siblings.retain(|it| it.place == *place);
        let settle = |said: &ModelMetadataFiles| self.settle(place, wanted, said);
        match place.load(self.computing, &siblings, settle) {
            Ok(ranker) => {
                let ranker = Arc::new(ranker);
                let mut loaded = self.loaded.write().unwrap_or_else(PoisonError::into_inner);
                loaded.insert(ranker.about.spec.clone(), ranker.clone());
                failed().remove(&ranker.about.spec);
                Ok(ranker)
            }
            // Only now have the metadata files shown that the model has no such use.
            Err(error @ Error::Input(_)) => Err(error),
            Err(error) => {
                failed().insert(spec_of(used()), (Instant::now(), reason(&error)));
                Err(error)
            }
        }
    }
}

/// Returns the reason why a model cannot be loaded, without its name.
fn reason(error: &Error) -> String {
    match error {
        Error::ModelNotFound { reason, .. } | Error::ModelFileNotFound { reason, .. } => {
            reason.clone()
        }
        Error::Model { source, .. } => source.to_string(),
        other => other.public_message(),
    }
}

impl ModelEntry {
    fn parse(named: &str) -> Result<ModelEntry, Error> {
        let folder = Path::new(named);
        if folder.is_dir() {
            let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
            let name = folder
                .file_name()
                .map(|it| it.to_string_lossy().into_owned());
            let name = name.unwrap_or_else(|| "model".to_owned());
            return Ok(ModelEntry {
                name,
                aliases: vec![named.to_owned()],
                source: Source::Folder(folder),
            });
        }
        match hub::HubRepoIdAndRevision::parse(named) {
            Some(name) => Ok(ModelEntry {
                name: name.model_name_with_revision(),
                aliases: vec![named.to_owned()],
                source: Source::Hub(name),
            }),
            None => Err(Error::ModelNotFound {
                model: named.to_owned(),
                reason: "is neither a folder nor a name on the hub, such as \
                         `sentence-transformers/all-MiniLM-L6-v2`"
                    .to_owned(),
            }),
        }
    }

    /// Whether a spec without suffixes means this model.
    fn is_named(&self, name: &str) -> bool {
        self.name == name || self.aliases.iter().any(|it| it == name)
    }

    fn same_name_error(model: &str, name: &str) -> Error {
        Error::ModelNotFound {
            model: model.to_owned(),
            reason: format!("there are two of the name `{name}`; rename one of the folders"),
        }
    }

    /// Loads the model for the use that `settle` derives from its metadata. Weights are shared with
    /// `siblings`, rankers of the same model.
    fn load(
        &self,
        computing: DeviceAndPrecision,
        siblings: &[Arc<NeuralRanker>],
        settle: impl FnOnce(&ModelMetadataFiles) -> Result<NeuralRankerKind, Error>,
    ) -> Result<NeuralRanker, Error> {
        let (files, used) = self.read(|said| {
            // Checked here, since some uses load without `ranker.toml`.
            said.validate_ranker_toml()
                .map_err(Error::model_error_converter(&self.name))?;
            settle(said)
        })?;
        tracing::info!(
            "loading {}",
            format_model_spec(&self.name, used, LongDocumentStrategy::Truncate)
        );
        let ranker =
            NeuralRanker::load_from_file_contents(self, &files, used, siblings, computing)?;
        Ok(ranker.with_precision_in_fingerprint(computing.precision))
    }

    /// Reads the files of a model. `first` gets the metadata before the large files are read.
    fn read<T>(
        &self,
        first: impl FnOnce(&ModelMetadataFiles) -> Result<T, Error>,
    ) -> Result<(ModelFileContents, T), Error> {
        match &self.source {
            Source::Folder(folder) => files::check_metadata_then_read_files(folder, first),
            Source::Hub(name) => files::read_or_download_hub_model(name, first),
        }
    }
}

/// Loads a T5 model that generates queries, and returns it with its name.
pub(crate) fn load_doc2query(named: &str) -> Result<(String, Doc2Query), Error> {
    let place = ModelEntry::parse(named)?;
    let (files, ()) = place.read(|_| Ok(()))?;
    let model = Doc2Query::load(&files, MAX_PAIR_TOKENS, Device::Cpu.into());
    Ok((
        place.name.clone(),
        model.map_err(Error::model_error_converter(named))?,
    ))
}

/// Reads the files of an encoder, from a folder or the hub, and returns them with its name.
pub(crate) fn read_encoder_files(named: &str) -> Result<(String, ModelFileContents), Error> {
    let place = ModelEntry::parse(named)?;
    let (files, ()) = place.read(|_| Ok(()))?;
    Ok((place.name, files))
}

/// Returns the model to use when none is given: `AXIOSCOPE_MODEL`, or the default model if it
/// exists.
pub(crate) fn default_model_path_or_name() -> Option<String> {
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
