//! `replay`: the papers' tables beside ours.

use std::path::Path;

use shared::probe::{Limits, Pool, Probe};
use shared::replay::{Asked, Paper, replay};
use shared::report;
use shared::study::{Definition, Lookups, Study};

use super::{Exit, tell_reading};
use crate::config::{AnalyzerArgs, Preset};
use crate::error::Error;
use crate::import;
use crate::models::Models;
use crate::pipeline;
use crate::runtime::with_store;
use crate::store::DataFolder;

/// Tables of a paper, cell by cell
#[derive(clap::Args)]
pub(crate) struct Replay {
    /// rennings2019 or camara2020
    paper: Paper,
    /// As numbered in the paper
    #[arg(long, value_name = "N")]
    table: u8,
    /// A study that is there
    #[arg(long, value_name = "NAME", conflicts_with = "collection")]
    study: Option<String>,
    /// A folder, or the name of an imported collection: makes the study `replay-PAPER` of it
    #[arg(long, value_name = "DIR|NAME")]
    collection: Option<String>,
    /// Only the first so many queries
    #[arg(long, value_name = "N", requires = "collection")]
    queries: Option<usize>,
    /// In place of the paper's pool: run:FILE:K, rank:bm25:K, group, judged or all
    #[arg(long, value_name = "POOL", requires = "collection")]
    pool: Option<Pool>,
    /// Word vectors, for STMC1, STMC2 and STMC3
    #[arg(long, value_name = "FILE", requires = "collection")]
    vectors: Option<String>,
    /// More rankers, beside the paper's formulas: scores:FILE, a model
    #[arg(long, value_name = "RANKER", requires = "collection")]
    ranker: Vec<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    analyzer: AnalyzerArgs,
}

impl Replay {
    pub(super) fn run(self, data: &Path) -> Result<Exit, Error> {
        let asked = Asked {
            paper: self.paper,
            table: self.table,
        };
        let study = match (&self.study, &self.collection) {
            (Some(name), _) => {
                let folder = DataFolder::open(data)?;
                Some(pipeline::load_study(&folder, name)?)
            }
            (None, Some(collection)) => {
                // What is asked for wrongly is said before the work.
                replay(asked, None)?;
                Some(self.make(collection, data)?)
            }
            (None, None) => None,
        };
        let tables = replay(asked, study.as_ref())?;
        match self.json {
            true => print!("{}", report::to_json(&tables)),
            false => print!("{}", report::to_markdown(&tables)),
        }
        Ok(Exit::Done)
    }

    /// With the limits, formulas and readings of the paper.
    fn make(&self, collection: &str, data: &Path) -> Result<Study, Error> {
        let (preset, limits, pool, formulas) = match self.paper {
            Paper::Rennings2019 => (
                Preset::Rennings2019,
                Limits::RENNINGS_2019,
                "group",
                vec![
                    "bm25:k1=0.4,b=0.1,k3=1,idf=rsj",
                    "bm25:k1=0.4,b=0.1,k3=1,idf=lucene",
                    "ql:mu=750",
                ],
            ),
            Paper::Camara2020 => (
                Preset::Camara2020,
                Limits::CAMARA_2020,
                "rank:ql:mu=2500:100",
                vec!["ql:mu=2500", "bm25"],
            ),
        };
        let pool = match &self.pool {
            Some(pool) => pool.clone(),
            None => pool.parse()?,
        };
        let probes = match self.paper {
            Paper::Rennings2019 => vec![Probe::Tfc1, Probe::Tfc2, Probe::Mtdc, Probe::Lnc2],
            Paper::Camara2020 => Probe::minable(self.vectors.is_some()),
        };
        let formulas = formulas.into_iter().map(str::to_owned);
        let definition = Definition {
            format: 1,
            name: format!("replay-{}", self.paper.name()),
            title: format!("Replay of {}", self.paper.cited()),
            description: format!("Its readings and formulas on {collection}."),
            collection: collection.to_owned(),
            n_queries: self.queries,
            pool,
            probes,
            modes: self.paper.modes(),
            rankers: formulas.chain(self.ranker.iter().cloned()).collect(),
            analyzer: self.analyzer.resolve(Some(preset))?,
            limits,
            vectors: self.vectors.clone(),
            audit: Vec::new(),
            lookups: Lookups::default(),
            transfers: Vec::new(),
        };
        let folder = DataFolder::open(data)?;
        let loaded = import::load(collection, data)?;
        tell_reading(&loaded);
        let models = Models::new(&[], neural::Device::Cpu)?;
        let study = pipeline::run_study(
            definition,
            loaded.collection,
            &loaded.folder,
            &folder,
            &models,
        )?;
        with_store(&folder, async |store| store.put_study(&study).await)?;
        Ok(study)
    }
}
