//! The command `reproduce`: tables of papers next to our values.

mod runs;

use std::path::Path;
use std::str::FromStr;

use shared::error::Error as InputError;
use shared::probe::{Axiom, CandidatePoolSpec, Manipulation, MiningThresholds, Probe};
use shared::report::{self, ReportTable};
use shared::reproduce::published::TRANSFER_SETS;
use shared::reproduce::{
    PaperTable, ReproduciblePaper, reproduce_formal_table, reproduce_table_from_study,
};
use shared::study::{ManipulationLookupFiles, Study, StudyDefinition, TransferSetFile};
use shared::text::{Analyzer, Stemmer, Tokenizer};

use super::{CommandOutcome, load};
use crate::config::{AnalyzerArgs, PaperMiningPreset, register_models};
use crate::error::Error;
use crate::pipeline::{self, NewStudy, ParallelExecutor, StudyReplacementPolicy};
use crate::runtime::run_with_database;
use crate::store::DataFolder;
use crate::store::studies::late_interaction;

/// Reproduce a table of a paper, cell by cell
#[derive(clap::Args)]
pub(crate) struct ReproduceTableArgs {
    /// Paper: rennings2019, camara2020, abnirml, padigela2019 or formal2021
    paper: ReproduciblePaper,
    /// Number of the table in the paper: rennings2019 1 or 2, camara2020 2 or 3, abnirml 1 to 3,
    /// padigela2019 1 to 6, formal2021 1
    #[arg(long, value_name = "N")]
    table: u8,
    /// Name of an existing study
    #[arg(long, value_name = "NAME", conflicts_with = "collection")]
    study: Option<String>,
    /// Folder or name of an imported collection; creates the study `reproduce-PAPER`
    #[arg(long, value_name = "DIR|NAME")]
    collection: Option<String>,
    /// Use only the first N queries [default: all]
    #[arg(long, value_name = "N", requires = "collection")]
    queries: Option<usize>,
    /// Candidate pool instead of the paper's: run:FILE:K, rank:bm25:K, group, judged or all
    #[arg(long, value_name = "POOL", requires = "collection")]
    pool: Option<CandidatePoolSpec>,
    /// Word vectors for STMC1, STMC2 and STMC3
    #[arg(long, value_name = "FILE", requires = "collection")]
    vectors: Option<String>,
    /// Misspellings for abnirml, one `wrong<TAB>right` per line; without them the misspelling
    /// manipulation is skipped. Function words are those of --stopwords FILE
    #[arg(long, value_name = "FILE", requires = "collection")]
    misspellings: Option<String>,
    /// Pair file for table 3 of abnirml; NAME is jfleg, xsum, cnn, daily-mail, gyafc-entertainment
    /// or gyafc-family; may be repeated
    #[arg(long, value_name = "NAME=FILE", requires = "collection")]
    transfer: Vec<TransferPairsFile>,
    /// Additional ranker: scores:FILE or a model; padigela2019 compares BM25 with each; may be
    /// repeated
    #[arg(long, value_name = "RANKER", requires = "collection")]
    ranker: Vec<String>,
    /// Run for padigela2019 instead of a study; repeated, the BM25 run first
    #[arg(long, value_name = "FILE", requires = "collection")]
    run: Vec<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    analyzer: AnalyzerArgs,
}

/// A transfer set of table 3 of ABNIRML, with its file.
#[derive(Debug, Clone)]
struct TransferPairsFile(TransferSetFile);

impl FromStr for TransferPairsFile {
    type Err = InputError;

    fn from_str(word: &str) -> Result<TransferPairsFile, InputError> {
        let Some((name, file)) = word.split_once('=') else {
            return Err(InputError::unparsable_value(
                "transfer",
                word,
                "written as jfleg=FILE",
            ));
        };
        let set = TRANSFER_SETS.iter().find(|it| it.0 == name);
        let known = TRANSFER_SETS.iter().map(|it| it.0);
        let (name, queries) = set.ok_or_else(|| InputError::not_one_of("transfer", name, known))?;
        Ok(TransferPairsFile(TransferSetFile {
            name: (*name).to_owned(),
            file: file.to_owned(),
            query_source: *queries,
            is_symmetric: false,
        }))
    }
}

/// The manipulations of the first version of ABNIRML, except doc2query, which needs a model.
const MANIPULATIONS: [Manipulation; 9] = [
    Manipulation::RemoveStopWordsAndPunctuation,
    Manipulation::Lemmatize,
    Manipulation::ShuffleWords,
    Manipulation::ShuffleSentences,
    Manipulation::ShuffleWordsInSentences,
    Manipulation::ShufflePhrases,
    Manipulation::ShufflePrepositions,
    Manipulation::ReplaceWithQuery,
    Manipulation::AddSentenceLast,
];

/// Maximum number of TFC1 instances per query in a study for padigela2019. Its tables only need the
/// rankings, but a study needs a probe.
const INSTANCES: u32 = 100;

/// The settings of the study that reproduces a paper.
struct StudyRecipe {
    preset: Option<PaperMiningPreset>,
    limits: MiningThresholds,
    pool: &'static str,
    formulas: &'static [&'static str],
}

impl StudyRecipe {
    fn of(paper: ReproduciblePaper) -> StudyRecipe {
        match paper {
            ReproduciblePaper::Rennings2019 => StudyRecipe {
                preset: Some(PaperMiningPreset::Rennings2019),
                limits: MiningThresholds::RENNINGS_2019,
                pool: "group",
                formulas: &[
                    "bm25:k1=0.4,b=0.1,k3=1,idf=rsj",
                    "bm25:k1=0.4,b=0.1,k3=1,idf=lucene",
                    "ql:mu=750",
                ],
            },
            ReproduciblePaper::Camara2020 => StudyRecipe {
                preset: Some(PaperMiningPreset::Camara2020),
                limits: MiningThresholds::CAMARA_2020,
                pool: "rank:ql:mu=2500:100",
                formulas: &["ql:mu=2500", "bm25"],
            },
            ReproduciblePaper::Abnirml => StudyRecipe {
                preset: None,
                limits: MiningThresholds::STANDARD,
                pool: "judged",
                formulas: &["bm25:k1=1.2,b=0.8", "ql"],
            },
            ReproduciblePaper::Padigela2019 => StudyRecipe {
                preset: None,
                limits: MiningThresholds {
                    max_per_query: Some(INSTANCES),
                    ..MiningThresholds::STANDARD
                },
                pool: "rank:bm25:k1=1.2,b=0.75:1000",
                formulas: &["bm25:k1=1.2,b=0.75"],
            },
            // Its columns are late-interaction analyses of the study.
            ReproduciblePaper::Formal2021 => StudyRecipe {
                preset: None,
                limits: MiningThresholds {
                    max_per_query: Some(INSTANCES),
                    ..MiningThresholds::STANDARD
                },
                pool: "rank:bm25:1000",
                formulas: &["bm25"],
            },
        }
    }
}

impl ReproduceTableArgs {
    pub(super) fn run(self, data: &Path) -> Result<CommandOutcome, Error> {
        let asked = PaperTable {
            paper: self.paper,
            table: self.table,
        };
        let tables = match self.run.is_empty() {
            true => self.of_study(asked, data)?,
            false => self.tables_comparing_runs_with_bm25(asked, data)?,
        };
        match self.json {
            true => print!("{}", report::tables_to_json(&tables)),
            false => print!("{}", report::tables_to_markdown(&tables)),
        }
        Ok(CommandOutcome::Done)
    }

    fn of_study(&self, asked: PaperTable, data: &Path) -> Result<Vec<ReportTable>, Error> {
        let study = match (&self.study, &self.collection) {
            (Some(name), _) => {
                let folder = DataFolder::open(data)?;
                Some(pipeline::load_study(&folder, name)?)
            }
            (None, Some(collection)) => {
                // An invalid table number is reported before the study is computed.
                reproduce_table_from_study(asked, None)?;
                Some(self.make(collection, data)?)
            }
            (None, None) => None,
        };
        if let (Some(study), ReproduciblePaper::Formal2021) = (&study, asked.paper) {
            let (folder, name) = (DataFolder::open(data)?, &study.definition.name);
            let found = late_interaction::load_late_interaction_analyses(&folder, name)?;
            return Ok(reproduce_formal_table(asked, name, &found)?);
        }
        Ok(reproduce_table_from_study(asked, study.as_ref())?)
    }

    /// Creates and runs the study with the limits, rankers and variants of the paper.
    fn make(&self, collection: &str, data: &Path) -> Result<Study, Error> {
        self.check()?;
        let StudyRecipe {
            preset,
            limits,
            pool,
            formulas,
        } = StudyRecipe::of(self.paper);
        let pool = match &self.pool {
            Some(pool) => pool.clone(),
            None => pool.parse()?,
        };
        let transfers: Vec<TransferSetFile> = self.transfer.iter().map(|it| it.0.clone()).collect();
        let formulas = formulas.iter().map(|it| (*it).to_owned());
        let definition = StudyDefinition {
            format: 1,
            name: format!("reproduce-{}", self.paper.short_name()),
            title: format!("Reproduction of {}", self.paper.citation()),
            description: format!("The variants and lexical rankers of the paper on {collection}."),
            collection: collection.to_owned(),
            n_queries: self.queries,
            pool,
            probes: self.probes(&transfers)?,
            variants: self.paper.axiom_variants(),
            rankers: formulas.chain(self.ranker.iter().cloned()).collect(),
            analyzer: self.analyzer(preset)?,
            limits,
            vectors: self.vectors.clone(),
            audit: Vec::new(),
            lookups: self.lookups(),
            transfers,
            train: Vec::new(),
        };
        let folder = DataFolder::open(data)?;
        let loaded = load(collection, data, None)?;
        let models = register_models(&[], &self.ranker, neural::Device::Cpu)?;
        let wanted = NewStudy {
            definition,
            collection: loaded.collection,
            finished: StudyReplacementPolicy::Replace,
            executor: ParallelExecutor::default(),
            cluster: None,
        };
        let study = pipeline::create_or_resume_study(wanted, &loaded.folder, &folder, &models)?;
        run_with_database(&folder, async |store| {
            store.upsert_study_entry(&study).await
        })?;
        Ok(study)
    }

    /// Returns an error for arguments that the paper does not use, and for missing ones without
    /// which the table would be empty.
    fn check(&self) -> Result<(), Error> {
        let refuse =
            |field: &str, reason: &str| Err(InputError::unsupported_value(field, reason).into());
        if self.paper != ReproduciblePaper::Abnirml {
            let only = "is for abnirml alone";
            if self.misspellings.is_some() {
                return refuse("misspellings", only);
            }
            if !self.transfer.is_empty() {
                return refuse("transfer", only);
            }
        }
        if self.paper == ReproduciblePaper::Padigela2019 && self.ranker.is_empty() {
            let way_out = "padigela2019 sets BM25 against others; give one or more with --ranker, \
                           or runs with --run";
            return refuse("ranker", way_out);
        }
        Ok(())
    }

    /// Returns the analyzer of the paper. For padigela2019 it corresponds to the default analyzer
    /// of Elasticsearch: lowercase words without stemming.
    fn analyzer(&self, preset: Option<PaperMiningPreset>) -> Result<Analyzer, Error> {
        match self.paper {
            ReproduciblePaper::Rennings2019
            | ReproduciblePaper::Camara2020
            | ReproduciblePaper::Abnirml
            | ReproduciblePaper::Formal2021 => self.analyzer.build_analyzer(preset),
            ReproduciblePaper::Padigela2019 => {
                let words = self
                    .analyzer
                    .with_defaults(Tokenizer::Unicode, Stemmer::None);
                words.build_analyzer(preset)
            }
        }
    }

    fn probes(&self, transfers: &[TransferSetFile]) -> Result<Vec<Probe>, Error> {
        match self.paper {
            ReproduciblePaper::Rennings2019 => Ok(vec![
                Probe::Axiom(Axiom::Tfc1),
                Probe::Axiom(Axiom::Tfc2),
                Probe::Axiom(Axiom::Mtdc),
                Probe::Axiom(Axiom::Lnc2),
            ]),
            ReproduciblePaper::Camara2020 => {
                Ok(Probe::list_minable_paper_axioms(self.vectors.is_some()))
            }
            ReproduciblePaper::Abnirml => {
                let mut probes = Probe::parse_probe_or_group("match", false)?;
                probes.extend(MANIPULATIONS.map(Probe::Manipulation));
                if self.misspellings.is_some() {
                    probes.push(Probe::Manipulation(Manipulation::TyposOutsideStopWords));
                }
                for it in transfers {
                    probes.push(Probe::Transfer(it.dataset_transfer_test()?));
                }
                Ok(probes)
            }
            ReproduciblePaper::Padigela2019 | ReproduciblePaper::Formal2021 => {
                Ok(vec![Probe::Axiom(Axiom::Tfc1)])
            }
        }
    }

    fn lookups(&self) -> ManipulationLookupFiles {
        match self.paper {
            ReproduciblePaper::Rennings2019
            | ReproduciblePaper::Camara2020
            | ReproduciblePaper::Padigela2019
            | ReproduciblePaper::Formal2021 => ManipulationLookupFiles::default(),
            ReproduciblePaper::Abnirml => ManipulationLookupFiles {
                stop_words: self.analyzer.stopwords_file().map(str::to_owned),
                misspellings: self.misspellings.clone(),
                expansions: None,
            },
        }
    }
}
