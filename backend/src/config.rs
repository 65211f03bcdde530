//! Command-line values that are parsed and checked.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use shared::error::Error as InputError;
use shared::probe::limits::AxiomDefinitionPaper;
use shared::probe::{AxiomVariant, CandidatePoolSpec, MiningThresholds, Probe};
use shared::rank::LexicalRanker;
use shared::study::preparation::MiningSettings;
use shared::text::{Analyzer, Stemmer, Stopwords, Tokenizer, stopwords};

use crate::error::Error;
use crate::models::{self, ModelRegistry};
use crate::pipeline::ParallelExecutor;
use crate::remote_ranker::RemoteRanker;
use crate::store::index_columns::TemporaryFileStorage;
use crate::vocabulary;

/// A ranker as given on the command line or in a study file: `bm25:…`, `ql:…`, `scores:FILE`, the
/// URL of a remote ranker, or a model folder or name.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum RankerSpec {
    /// A lexical ranker: BM25 or query likelihood.
    Lexical(LexicalRanker),
    /// The path of a score file.
    Scores(String),
    /// A model folder or hub name, optionally with the kind of use, such as `:cross`.
    Model(String),
    /// A remote ranker with its URL.
    Remote(RemoteRanker),
}

impl RankerSpec {
    /// Whether scores depend on the term statistics of the collection.
    pub(crate) fn needs_term_statistics(&self) -> bool {
        match self {
            RankerSpec::Lexical(_) => true,
            RankerSpec::Model(spec) => models::is_doc2query_spec(spec),
            RankerSpec::Scores(_) | RankerSpec::Remote(_) => false,
        }
    }

    /// Returns the name that [`shared::score::RankerInfo::spec`] has for this ranker.
    pub(crate) fn canonical_spec(&self, models: &ModelRegistry) -> String {
        match self {
            RankerSpec::Lexical(it) => it.to_string(),
            RankerSpec::Scores(file) => {
                let name = PathBuf::from(file);
                format!(
                    "scores:{}",
                    name.file_name().unwrap_or_default().to_string_lossy()
                )
            }
            RankerSpec::Model(spec) => models.add_default_use_suffix(spec),
            RankerSpec::Remote(it) => it.canonical_spec(),
        }
    }
}

/// Registers the models of a command: those of its options, and those among its rankers.
pub(crate) fn register_models(
    named: &[String],
    rankers: &[String],
    computing: impl Into<neural::DeviceAndPrecision>,
) -> Result<ModelRegistry, Error> {
    let model_spec = |it: &String| match it.parse() {
        Ok(RankerSpec::Model(spec)) => Some(spec),
        // Invalid rankers are reported when they are used.
        _ => None,
    };
    let specs: Vec<String> = rankers.iter().filter_map(model_spec).collect();
    ModelRegistry::with_models_of_specs(named, &specs, computing)
}

impl FromStr for RankerSpec {
    type Err = Error;

    /// Parses a ranker. `bm25`, `ql` and `scores` are not case-sensitive.
    fn from_str(spec: &str) -> Result<RankerSpec, Error> {
        let name = spec.split(':').next().unwrap_or_default();
        match name.to_ascii_lowercase().as_str() {
            "bm25" | "ql" => Ok(RankerSpec::Lexical(spec.parse()?)),
            "scores" => match spec.split_once(':') {
                Some((_, file)) if !file.is_empty() => Ok(RankerSpec::Scores(file.to_owned())),
                _ => Err(InputError::missing_field("ranker", "scores:FILE needs a file").into()),
            },
            _ if RemoteRanker::is_url_spec(spec) => Ok(RankerSpec::Remote(spec.parse()?)),
            "" => Err(InputError::missing_field("ranker", "give a ranker").into()),
            _ => Ok(RankerSpec::Model(spec.to_owned())),
        }
    }
}

/// Length in WordPiece tokens at which Câmara & Hauff truncate documents: `max_document_len` of
/// their published code.
const CAMARA_2020_PIECES: u32 = 500;

/// The limits, analyzer and candidate pool of a paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum PaperMiningPreset {
    /// Rennings, Moraes & Hauff, ECIR 2019: Porter2 stemmer
    Rennings2019,
    /// Câmara & Hauff, ECIR 2020: WordPiece tokens of the default model, the first 500 of a
    /// document
    Camara2020,
}

/// The arguments that say where the index of a collection is.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct IndexStorageArgs {
    /// Keep the index in temporary files instead of in memory, for a collection whose index does
    /// not fit: in the data folder or, if there is none, in the system's folder for temporary
    /// files. The results are the same
    #[arg(long)]
    index_on_disk: bool,
}

impl IndexStorageArgs {
    /// Returns an executor whose indexes are where the arguments say.
    pub(crate) fn executor(&self, data: &Path) -> ParallelExecutor {
        let storage = || TemporaryFileStorage::in_data_or_temporary_folder(data);
        ParallelExecutor::with_column_storage(match self.index_on_disk {
            true => Some(Arc::new(storage())),
            false => None,
        })
    }
}

/// The analyzer arguments: tokenizer, stop words, stemmer.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct AnalyzerArgs {
    /// Tokenizer: alnum ([a-z0-9]+, lowercased), unicode (UAX 29 words), or wordpiece:FOLDER|FILE
    /// (subwords of a model's vocabulary) [default: alnum]
    #[arg(long)]
    tokenizer: Option<Tokenizer>,
    /// Truncate documents to the first N tokens [default: no limit]
    #[arg(long, value_name = "N")]
    first_tokens: Option<u32>,
    /// Stop words: none, en-function, or a file with one word per line [default: none]
    #[arg(long, value_name = "none|en-function|FILE")]
    stopwords: Option<String>,
    /// Stemmer: none, porter or porter2 [default: porter; none with wordpiece]
    #[arg(long)]
    stemmer: Option<Stemmer>,
}

/// The arguments that select probes, limits and candidate pools.
#[derive(Debug, clap::Args)]
pub(crate) struct MiningArgs {
    /// Axioms, measure-and-match tests, manipulations and groups of them, comma-separated. tfc1,
    /// tfc2, mtdc, lnc1, lnc2, tp, and with word vectors stmc1, stmc2, stmc3; `all` selects every
    /// axiom that can be mined. ir_axioms: the axioms of the ir_axioms package, or one of them,
    /// such as prox1 or tfc1@ir_axioms. Axiom formulas: tfc1&lnc1, 'prox3 | prox1', 'm_and % prox1
    /// % div'. match: the measure-and-match tests of ABNIRML; match:all: all measurements;
    /// match:CONTROL:VARIABLE: one test, such as match:tf:length. manipulations: all document
    /// manipulations, or one, such as reverse-words or typos; they are counted here and scored in a
    /// study. Axioms that need word vectors are listed on standard error if none are given.
    #[arg(long, default_value = "all", value_name = "LIST", verbatim_doc_comment)]
    probes: String,
    /// Axiom variant: fixed (as defined here), paper or paper-rennings2019 (as printed) or code (as
    /// implemented by the authors)
    #[arg(long, default_value = "fixed")]
    mode: String,
    /// Limits, analyzer and candidate pool of a paper; explicit flags override them
    #[arg(long, value_enum)]
    preset: Option<PaperMiningPreset>,
    /// Length tolerance δ in terms, or inf [default: 10; preset rennings2019: inf]
    #[arg(long, value_name = "N|inf", allow_hyphen_values = true)]
    delta: Option<String>,
    /// Minimum number of query-term occurrences in a document [default: 1; preset rennings2019: 0]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    min_terms: Option<String>,
    /// Candidate pool: run:FILE:K, rank:bm25:K, group, judged or all [default: rank:bm25:100;
    /// preset rennings2019: group; preset camara2020: rank:ql:mu=2500:100]
    #[arg(long, value_name = "POOL")]
    pool: Option<String>,
    /// Word vectors in GloVe or word2vec format
    #[arg(long, value_name = "FILE")]
    vectors: Option<String>,
    /// Maximum number of instances of an axiom per query, sampled with --seed [default: no limit]
    #[arg(long, value_name = "N")]
    per_query: Option<u32>,
    /// Random seed of the sample that --per-query draws
    #[arg(long, default_value_t = MiningThresholds::STANDARD.seed)]
    seed: u64,
    #[command(flatten)]
    analyzer: AnalyzerArgs,
}

/// What the mining arguments resolve to: settings, word vectors and skipped axioms.
pub(crate) struct ResolvedMiningArgs {
    /// The probes, limits, analyzer and candidate pool.
    pub settings: MiningSettings,
    /// The file of word vectors.
    pub vectors: Option<String>,
    /// Probes of the requested groups that are not mined, since they need word vectors.
    pub skipped: Vec<Probe>,
}

impl MiningArgs {
    /// Combines the arguments with the preset; arguments override it.
    pub(crate) fn resolve_with_preset(&self) -> Result<ResolvedMiningArgs, Error> {
        let (source, mut limits, pool) = match self.preset {
            Some(PaperMiningPreset::Rennings2019) => (
                AxiomDefinitionPaper::Rennings2019,
                MiningThresholds::RENNINGS_2019,
                "group",
            ),
            Some(PaperMiningPreset::Camara2020) => {
                let pool = "rank:ql:mu=2500:100";
                (
                    AxiomDefinitionPaper::Camara2020,
                    MiningThresholds::CAMARA_2020,
                    pool,
                )
            }
            None => (
                AxiomDefinitionPaper::Camara2020,
                MiningThresholds::STANDARD,
                CandidatePoolSpec::DEFAULT,
            ),
        };
        if let Some(delta) = &self.delta {
            limits.length_tolerance_terms = match delta.as_str() {
                "inf" => None,
                number => Some(parse_number_setting(
                    "delta",
                    number,
                    "a number of terms, 0 or more, or inf",
                )?),
            };
        }
        if let Some(least) = &self.min_terms {
            limits.min_query_term_occurrences =
                parse_number_setting("min-terms", least, "a number of terms, 0 or more")?;
        }
        limits.max_per_query = self.per_query;
        limits.seed = self.seed;
        limits.validate()?;
        let mode = AxiomVariant::parse_for_paper("mode", &self.mode, source)?;
        let probes = Probe::parse_list(&self.probes, self.vectors.is_some())?;
        let mut left_out = Probe::parse_list(&self.probes, true)?;
        left_out.retain(|it| !probes.contains(it));
        let settings = MiningSettings {
            pool: self.pool.as_deref().unwrap_or(pool).parse()?,
            analyzer: self.analyzer.build_analyzer(self.preset)?,
            probes: probes.into_iter().map(|it| (it, mode)).collect(),
            limits,
        };
        Ok(ResolvedMiningArgs {
            settings,
            vectors: self.vectors.clone(),
            skipped: left_out,
        })
    }
}

impl AnalyzerArgs {
    /// Returns whether any of the arguments was given.
    pub(crate) fn is_any_arg_given(&self) -> bool {
        self.tokenizer.is_some()
            || self.stopwords.is_some()
            || self.stemmer.is_some()
            || self.first_tokens.is_some()
    }

    /// Returns the file of the stop list, if a file was given.
    pub(crate) fn stopwords_file(&self) -> Option<&str> {
        let given = self.stopwords.as_deref();
        given.filter(|it| !matches!(*it, "none" | "en-function"))
    }

    /// Fills in a tokenizer and a stemmer where none was given.
    pub(crate) fn with_defaults(&self, tokenizer: Tokenizer, stemmer: Stemmer) -> AnalyzerArgs {
        AnalyzerArgs {
            tokenizer: self.tokenizer.clone().or(Some(tokenizer)),
            stemmer: self.stemmer.or(Some(stemmer)),
            ..self.clone()
        }
    }

    /// Builds the analyzer from the arguments and the preset; arguments override it.
    pub(crate) fn build_analyzer(
        &self,
        preset: Option<PaperMiningPreset>,
    ) -> Result<Analyzer, Error> {
        let stopwords = match self.stopwords.as_deref() {
            None | Some("none") => Stopwords::None,
            Some("en-function") => Stopwords::EnFunction,
            Some(file) => {
                let path = PathBuf::from(file);
                let words = std::fs::read_to_string(&path);
                let way_out = "give none, en-function, or a text file with one word a line";
                stopwords::parse_stop_list(
                    &words.map_err(Error::io_error_converter(&path, way_out))?,
                )
            }
        };
        let (tokenizer, first_tokens) = match (&self.tokenizer, preset) {
            (None, Some(PaperMiningPreset::Camara2020)) => {
                let tokens = vocabulary::read_default_model_vocabulary()?;
                (Tokenizer::Wordpiece(tokens), Some(CAMARA_2020_PIECES))
            }
            (given, _) => (given.clone().unwrap_or_default(), None),
        };
        let stemmer = match (tokenizer.default_stemmer(), preset) {
            (Stemmer::Porter, Some(PaperMiningPreset::Rennings2019)) => Stemmer::Porter2,
            (stemmer, _) => stemmer,
        };
        let mut analyzer = Analyzer {
            tokenizer,
            stopwords,
            stemmer: self.stemmer.unwrap_or(stemmer),
            max_tokens: self.first_tokens.or(first_tokens),
        };
        vocabulary::load_vocabulary_into_analyzer(&mut analyzer)?;
        Ok(analyzer)
    }
}

/// Parses a number. The error names the setting and the allowed values.
pub(crate) fn parse_number_setting<T: FromStr>(
    setting: &str,
    value: &str,
    allowed: &str,
) -> Result<T, Error> {
    let parsed = value.parse();
    parsed.map_err(|_| InputError::unparsable_value(setting, value, allowed).into())
}

/// Parses `--delta-score`: the tie threshold ε, a finite number that is at least 0.
pub(crate) fn parse_tie_threshold(value: &str) -> Result<f64, Error> {
    let width: f64 = parse_number_setting("delta-score", value, "a number, 0 or more")?;
    if width.is_finite() && width >= 0.0 {
        return Ok(width);
    }
    Err(InputError::out_of_range("delta-score", "must be a finite number, 0 or more").into())
}
