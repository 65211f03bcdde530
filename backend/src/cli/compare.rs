//! The command `compare`: how two rankers of a study, or two runs over a collection, differ.

use std::path::{Path, PathBuf};

use shared::collection::Run;
use shared::compare::{
    QueryRelevanceRequirement, RankerComparison, RankerComparisonInput, RankerComparisonOptions,
    RankerRef, compare_rankers, query_list, ranker_info_of_run,
};
use shared::error::Error as InputError;
use shared::report::{self, ReportTable};
use shared::score::RankerInfo;
use shared::text::{Stopwords, Tokenizer, stopwords};

use super::{CommandOutcome, called, load};
use crate::collection_files;
use crate::error::Error;
use crate::pipeline;
use crate::store::DataFolder;

/// Compare two rankers: query tokens and novel terms in the top results; reciprocal rank by these,
/// by query length, question class and first words; changed and shared results
#[derive(clap::Args)]
pub(crate) struct CompareRankersArgs {
    /// Name of an existing study
    #[arg(long, value_name = "NAME", conflicts_with = "collection")]
    study: Option<String>,
    /// Folder or name of an imported collection
    #[arg(long, value_name = "DIR|NAME", required_unless_present = "study")]
    collection: Option<String>,
    /// First ranker: with --study its spec, label, slug or row (from 0); otherwise a run file, or
    /// its name in the collection's runs/
    #[arg(long, value_name = "RANKER|RUN")]
    a: String,
    /// Second ranker, given like --a
    #[arg(long, value_name = "RANKER|RUN")]
    b: String,
    /// Queries to compare: with-relevant (at least one relevant document), with-retrieved-relevant
    /// (a relevant document in either ranking, as in Padigela et al., 2019) or all
    #[arg(long, value_enum, default_value = "with-relevant")]
    queries: ComparedQueriesArgument,
    /// Minimum relevant grade [default: 2 if any document has it, else 1]
    #[arg(long, value_name = "GRADE")]
    min_relevant_grade: Option<i32>,
    /// Stop words: none, en-function, or a file with one word per line
    #[arg(long, value_name = "none|en-function|FILE", default_value = "en-function")]
    stopwords: String,
    /// Tokenizer: alnum ([a-z0-9]+, lowercased) or unicode (UAX 29 words) [default: alnum]; a study
    /// uses its own
    #[arg(long, requires = "collection")]
    tokenizer: Option<Tokenizer>,
    /// Use only the queries of this split [default: all queries]
    #[arg(long)]
    split: Option<String>,
    /// Add the values of each query
    #[arg(long)]
    per_query: bool,
    /// Print the tables as JSON
    #[arg(long)]
    json: bool,
}

/// The queries to compare: [`QueryRelevanceRequirement`] as an argument. The aliases are the names
/// that earlier versions gave them.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum ComparedQueriesArgument {
    #[value(alias = "judged")]
    WithRelevant,
    #[value(alias = "found")]
    WithRetrievedRelevant,
    All,
}

impl CompareRankersArgs {
    pub(super) fn run(self, data: &Path) -> Result<CommandOutcome, Error> {
        let tables = match &self.study {
            Some(name) => self.of_study(name, data)?,
            None => self.of_runs(self.collection.as_deref().unwrap_or_default(), data)?,
        };
        match self.json {
            true => print!("{}", report::tables_to_json(&tables)),
            false => print!("{}", report::tables_to_markdown(&tables)),
        }
        Ok(CommandOutcome::Done)
    }

    fn of_study(&self, name: &str, data: &Path) -> Result<Vec<ReportTable>, Error> {
        let study = pipeline::load_study(&DataFolder::open(data)?, name)?;
        let slugs = study.ranker_slugs();
        let rows = [study.find_ranker(&self.a)?, study.find_ranker(&self.b)?];
        let pair = rows.map(|row| RankerRef::Ranker(slugs[row].clone()));
        let asking = self.asking(pair)?;
        let found = study.compare_rankers(&asking)?;
        self.tables(&found, || {
            let source = study.ranker_comparison_input(&asking)?;
            Ok(query_list::list_all_compared_queries(&source, &asking)?)
        })
    }

    fn of_runs(&self, collection: &str, data: &Path) -> Result<Vec<ReportTable>, Error> {
        let loaded = load(collection, data, None)?;
        let read = |file: &str| -> Result<Run, Error> {
            let (run, reading) = collection_files::resolve_and_read_run(file, &loaded.folder)?;
            collection_files::print_reader_warnings(&reading);
            Ok(run)
        };
        let runs = [read(&self.a)?, read(&self.b)?];
        let about: [RankerInfo; 2] = [
            ranker_info_of_run(&self.a, &runs[0]),
            ranker_info_of_run(&self.b, &runs[1]),
        ];
        let asking = self.asking([self.a.clone(), self.b.clone()].map(RankerRef::Run))?;
        let named = called(collection);
        let [first, second] = about;
        let source = RankerComparisonInput {
            tokenizer: self.tokenizer()?,
            ..RankerComparisonInput::from_runs(
                &named,
                &loaded.collection,
                [(first, &runs[0]), (second, &runs[1])],
            )
        };
        let found = compare_rankers(&source, &asking)?;
        self.tables(&found, || {
            Ok(query_list::list_all_compared_queries(&source, &asking)?)
        })
    }

    fn tables(
        &self,
        found: &RankerComparison,
        rows: impl FnOnce() -> Result<Vec<query_list::QueryWithPairedMetrics>, Error>,
    ) -> Result<Vec<ReportTable>, Error> {
        let mut tables = report::ranker_comparison_tables(found);
        if self.per_query {
            tables.push(report::comparison::compared_query_table(found, &rows()?));
        }
        Ok(tables)
    }

    fn asking(&self, pair: [RankerRef; 2]) -> Result<RankerComparisonOptions, Error> {
        Ok(RankerComparisonOptions {
            rankers: pair,
            subset: match self.queries {
                ComparedQueriesArgument::WithRelevant => QueryRelevanceRequirement::WithRelevant,
                ComparedQueriesArgument::WithRetrievedRelevant => {
                    QueryRelevanceRequirement::WithRetrievedRelevant
                }
                ComparedQueriesArgument::All => QueryRelevanceRequirement::All,
            },
            min_relevant_grade: self.min_relevant_grade,
            stopwords: stop_list(&self.stopwords)?,
            split: self.split.clone(),
        })
    }

    fn tokenizer(&self) -> Result<Tokenizer, Error> {
        match &self.tokenizer {
            Some(Tokenizer::Wordpiece(_)) => {
                let reason = "fractions are counted over whole words; give alnum or unicode";
                Err(InputError::unsupported_value("tokenizer", reason).into())
            }
            given => Ok(given.clone().unwrap_or_default()),
        }
    }
}

fn stop_list(typed: &str) -> Result<Stopwords, Error> {
    match typed {
        "none" => Ok(Stopwords::None),
        "en-function" => Ok(Stopwords::EnFunction),
        file => {
            let path = PathBuf::from(file);
            let way_out = "give none, en-function, or a text file with one word a line";
            let words = std::fs::read_to_string(&path)
                .map_err(Error::io_error_converter(&path, way_out))?;
            Ok(stopwords::parse_stop_list(&words))
        }
    }
}
