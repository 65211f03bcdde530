//! The command line: the stages of the pipeline as subcommands, in its order.

mod collection;
mod compute;
mod compare;
mod expand;
mod probe;
mod study;
mod reproduce;
mod serve;
mod transfer;
mod tune;
mod vectors;
mod late_interaction;
mod people;
mod backup;

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use clap::{Parser, Subcommand};
use shared::probe::Probe;

use crate::collection_files::{self, LoadedCollection};
use crate::error::Error;

/// The version, and the commit it was built from.
const VERSION: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    " (",
    env!("AXIOSCOPE_COMMIT"),
    ")"
);

/// Axioscope shows why a ranking model ranks as it does
///
/// The database is a file in the data folder, or the server of PostgreSQL that DATABASE_URL names
/// (postgres://USER:PASSWORD@HOST:5432/NAME).
///
/// Exit codes: 0 done, 1 something went wrong (the message says what and the way out), 2 the
/// command was typed wrongly, 3 a check found a difference.
#[derive(Parser)]
#[command(name = "axioscope", version = VERSION, propagate_version = true)]
pub(crate) struct Cli {
    /// Where collections, studies, scores and the database lie
    #[arg(
        long,
        global = true,
        value_name = "FOLDER",
        default_value = "axioscope-data"
    )]
    data: PathBuf,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Bring a collection into the data folder under a name
    Import(collection::ImportArgs),
    /// Turn a data set, as it is distributed, into pairs of texts that a study takes
    ///
    /// Nothing is fetched: files are read as they were downloaded, packed (.gz, .zst) or not. What
    /// is written is what a transfer set of a study names as its `file`.
    Transfer(transfer::TransferArgs),
    /// Add to each document of a collection the queries that a doc2query T5 writes for it
    Expand(expand::ExpandArgs),
    /// Rank the documents of a collection for each of its queries
    Rank(collection::RankArgs),
    /// Train word vectors on a collection, by GloVe
    Vectors(vectors::VectorsArgs),
    /// Find the instances of axioms among the documents of each query
    Mine(probe::MineArgs),
    /// List the unique pairs of query and text that instances need scored
    Pairs(probe::PairsArgs),
    /// Score pairs with a ranker
    Score(probe::ScoreArgs),
    /// Say how often a ranker satisfies the axioms
    Judge(probe::JudgeArgs),
    /// Evaluate a run against judgements, with trec_eval's numbers
    Eval(collection::EvalArgs),
    /// Find parameters of a formula by a grid
    Tune(tune::TuneArgs),
    /// Write the tables of a study
    Report(study::ReportArgs),
    /// Make, complete, check and publish studies
    Study(study::StudyArgs),
    /// Say where two rankers differ, of a study or as runs over a collection
    Differ(compare::CompareArgs),
    /// Show a paper's table beside what a study gives
    Replay(reproduce::ReproduceArgs),
    /// Look into a ranker that compares piece by piece
    Whitebox(late_interaction::LateInteractionArgs),
    /// Show the pages and answer programs
    Serve(serve::ServeArgs),
    /// List, fetch and inspect neural models
    Models(serve::ModelsArgs),
    /// Let people in and turn them away, also while a server is running
    People(people::PeopleArgs),
    /// Write everything that lasts into one file, also while a server is running
    ///
    /// The file is a .tar.gz with the data folder, the rows of the database and a checksum of each.
    /// It may be restored beside another database than it came from.
    Backup(backup::BackupArgs),
    /// Bring a backup into a data folder and a database with nothing in them
    Restore(backup::RestoreArgs),
}

impl Cli {
    /// Runs the subcommand and returns its outcome, which determines the exit code.
    pub(crate) fn run(self) -> Result<CommandOutcome, Error> {
        let data = &self.data;
        match self.command {
            Command::Import(it) => it.run(data),
            Command::Transfer(it) => it.run(),
            Command::Expand(it) => it.run(data),
            Command::Rank(it) => it.run(data),
            Command::Vectors(it) => it.run(data),
            Command::Mine(it) => it.run(data),
            Command::Pairs(it) => it.run(data),
            Command::Score(it) => it.run(data),
            Command::Judge(it) => it.run(data),
            Command::Eval(it) => it.run(),
            Command::Tune(it) => it.run(data),
            Command::Report(it) => it.run(data),
            Command::Study(it) => it.run(data),
            Command::Differ(it) => it.run(data),
            Command::Replay(it) => it.run(data),
            Command::Whitebox(it) => it.run(data),
            Command::Serve(it) => it.run(data),
            Command::Models(it) => it.run(),
            Command::People(it) => it.run(data),
            Command::Backup(it) => it.run(data),
            Command::Restore(it) => it.run(data),
        }
    }
}

/// How a command ended, if not in an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CommandOutcome {
    /// All done.
    Done,
    /// A check found a difference.
    DifferenceFound,
}

/// Prints one JSON value on standard output, and nothing else.
fn print_json(value: &impl serde::Serialize) {
    let json = serde_json::to_string(value).expect("replies have string keys and finite numbers");
    println!("{json}");
}

/// What a collection is called where people read: its folder's name, not where that lies.
fn called(collection: &str) -> Cow<'_, str> {
    let folder = Path::new(collection).file_name();
    folder.map_or(collection.into(), |it| it.to_string_lossy())
}

/// Reads a collection, with its first so many queries if that is asked for, and says on standard
/// error what its readers had to say.
fn load(
    collection: &str,
    data: &Path,
    n_queries: Option<usize>,
) -> Result<LoadedCollection, Error> {
    let mut loaded = collection_files::load_collection(collection, data)?;
    tell_reading(&loaded);
    let most = n_queries.unwrap_or(usize::MAX);
    loaded.collection.queries.truncate(most);
    Ok(loaded)
}

/// Names on standard error the members of groups that are not mined without word vectors, and the
/// setting that brings these.
fn tell_left_out(left_out: &[Probe], setting: &str) {
    if !left_out.is_empty() {
        let slugs: Vec<_> = left_out.iter().map(|it| it.slug()).collect();
        let slugs = slugs.join(", ");
        eprintln!("left out, since they need word vectors ({setting}): {slugs}");
    }
}

/// Says on standard error what the readers of a collection had to say.
fn tell_reading(loaded: &LoadedCollection) {
    collection_files::print_reader_warnings(&loaded.report);
    for (what, unknown) in loaded.unknown_ids.iter().filter(|it| !it.1.is_empty()) {
        eprintln!("{what}: {unknown}");
    }
}
