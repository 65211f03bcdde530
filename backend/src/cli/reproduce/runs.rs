//! Reproduces tables from run files instead of the rankers of a study.

use std::path::Path;

use shared::collection::Run;
use shared::compare::{RankerComparisonInput, ranker_info_of_run};
use shared::error::Error as InputError;
use shared::report::ReportTable;
use shared::reproduce::{PaperTable, ReproduciblePaper, reproduce_padigela_table_from_runs};
use shared::score::RankerInfo;

use super::ReproduceTableArgs;
use crate::cli::{called, tell_reading};
use crate::collection_files;
use crate::error::Error;

impl ReproduceTableArgs {
    /// Compares the first run, that of BM25, with each other run and with the ranking that each
    /// `--ranker` gives to the candidate pools.
    pub(super) fn tables_comparing_runs_with_bm25(
        &self,
        asked: PaperTable,
        data: &Path,
    ) -> Result<Vec<ReportTable>, Error> {
        if asked.paper != ReproduciblePaper::Padigela2019 {
            let reason = "is for padigela2019 alone";
            return Err(InputError::unsupported_value("run", reason).into());
        }
        // An invalid table number is reported before the runs are read.
        reproduce_padigela_table_from_runs(asked, &[])?;
        let name = self.collection.as_deref().unwrap_or_default();
        let mut loaded = collection_files::load_named_collection(name, data)?;
        if let Some(n) = self.queries {
            loaded.collection.queries.truncate(n);
        }
        let mut lists: Vec<(RankerInfo, Run)> = Vec::new();
        for file in &self.run {
            let (run, reading) = collection_files::resolve_and_read_run(file, &loaded.folder)?;
            collection_files::print_reader_warnings(&reading);
            lists.push((ranker_info_of_run(file, &run), run));
        }
        match self.ranker.is_empty() {
            true => tell_reading(&loaded),
            false => {
                let study = self.make(name, data)?;
                let given = study.scores.iter().rev().take(self.ranker.len()).rev();
                lists.extend(given.map(|it| (it.ranker.clone(), study.scored_pools_as_run(it))));
            }
        }
        let Some(((about, bm25), others)) = lists.split_first() else {
            return Ok(reproduce_padigela_table_from_runs(asked, &[])?);
        };
        let mut sources = Vec::new();
        for (other, run) in others {
            let both = [(about.clone(), bm25), (other.clone(), run)];
            sources.push(RankerComparisonInput::from_runs(
                &called(name),
                &loaded.collection,
                both,
            ));
        }
        Ok(reproduce_padigela_table_from_runs(asked, &sources)?)
    }
}
