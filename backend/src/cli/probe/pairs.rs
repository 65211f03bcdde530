//! The command `pairs`, which lists the pairs to score, and the reader of its files for `score`.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use shared::error::Error as InputError;
use shared::probe::additions::is_added_sample_id;

use super::{CollectionVersionArgs, ScoringWork};
use crate::cli::CommandOutcome;
use crate::collection_files;
use crate::error::Error;
use crate::remedy;
use crate::store::write_atomically;

/// Holds the command-line arguments of `axioscope pairs`.
#[derive(clap::Args)]
pub(crate) struct ListPairsToScoreArgs {
    /// Folder or name of an imported collection
    #[arg(long, value_name = "DIR|NAME", required_unless_present = "study")]
    collection: Option<String>,
    /// Instance file from `mine`
    #[arg(long, value_name = "FILE.parquet", required_unless_present = "study")]
    instances: Option<PathBuf>,
    /// Study definition file; its score files need not exist
    #[arg(long, value_name = "FILE.toml", conflicts_with_all = ["collection", "instances"])]
    study: Option<PathBuf>,
    /// Output file: one JSON object per pair (query_id, text_id, query, text), or these columns if
    /// the name ends in .tsv; tabs and line breaks become spaces
    #[arg(long, value_name = "FILE.jsonl|FILE.tsv")]
    out: PathBuf,
    #[command(flatten)]
    version: CollectionVersionArgs,
}

/// A line of the output of `pairs`.
#[derive(serde::Serialize)]
struct Pair<'a> {
    query_id: &'a str,
    text_id: String,
    query: &'a str,
    text: String,
}

/// The fields that `score` reads from a line of `pairs`.
#[derive(serde::Deserialize)]
pub(super) struct QueryDocumentPairIds {
    /// The id of a query of the collection.
    pub query_id: String,
    /// The id of a document, or of a derived document.
    pub text_id: String,
}

/// The first two columns of the header row of a TSV file.
const COLUMNS: &str = "query_id\ttext_id";

/// Calls `take` with the ids of each pair of a file that [`ListPairsToScoreArgs`] has written, in
/// either format. Errors of `take` are returned with the number of the line.
pub(super) fn for_each_pair_in_file(
    file: &Path,
    mut take: impl FnMut(QueryDocumentPairIds) -> Result<(), String>,
) -> Result<(), Error> {
    let mut columns = false;
    collection_files::for_each_nonempty_line(file, |line, row| {
        if line == 1 && row.starts_with(COLUMNS) {
            columns = true;
            return Ok(());
        }
        let ids = match columns {
            true => from_columns(row),
            false => serde_json::from_str(row)
                .map_err(|it| format!("{it}; a row has query_id and text_id")),
        };
        ids.and_then(&mut take).map_err(|reason| {
            let file = file.display().to_string();
            InputError::Line { file, line, reason }.into()
        })
    })
}

fn from_columns(row: &str) -> Result<QueryDocumentPairIds, String> {
    let mut cells = row.split('\t').map(str::to_owned);
    let (query_id, text_id) = (cells.next(), cells.next());
    let ids = query_id.zip(text_id);
    ids.map(|(query_id, text_id)| QueryDocumentPairIds { query_id, text_id })
        .ok_or_else(|| "has one column; a row has query_id, a tab and text_id".to_owned())
}

/// Returns the error message for an id that is not in the collection. For a derived document it
/// says how a study scores it.
pub(super) fn unknown_id_message(what: &str, id: &str) -> String {
    let shown = id.escape_debug();
    match is_added_sample_id(id) {
        true => format!(
            "the {what} `{shown}` is in no collection: a study makes it. Name the ranker in the \
             study file, for `study run` to score its pairs, or score the texts of \
             `pairs --study` elsewhere and name their scores there, as `scores:FILE`"
        ),
        false => format!("there is no {what} `{shown}`"),
    }
}

impl ListPairsToScoreArgs {
    pub(in crate::cli) fn run(self, data: &Path) -> Result<CommandOutcome, Error> {
        let work = match (&self.study, &self.collection, &self.instances) {
            (Some(study), _, _) => ScoringWork::from_study(study, data)?,
            (None, Some(collection), Some(instances)) => {
                ScoringWork::from_instances(collection, instances, data, &self.version)?
            }
            (None, _, _) => {
                let reason = "give --collection and --instances, or --study";
                return Err(InputError::missing_field("pairs", reason).into());
            }
        };
        let collection = &work.loaded.collection;
        let columns = self.out.extension().is_some_and(|it| it == "tsv");
        write_atomically(&self.out, remedy::ANOTHER_FILE, |file| {
            let mut out = BufWriter::new(file);
            if columns {
                writeln!(out, "{COLUMNS}\tquery\ttext")?;
            }
            for (query, text) in work.pairs.iter() {
                let text = work.mined.study_docs[text as usize];
                let doc = &collection.docs[text.source_doc() as usize];
                let pair = Pair {
                    query_id: &collection.queries[query].id,
                    text_id: text.id(doc.id()),
                    query: &collection.queries[query].text,
                    text: text.text_to_score(doc.text_with_title()),
                };
                if columns {
                    let cells = [pair.query_id, &pair.text_id, pair.query, &pair.text];
                    let cells = cells.map(|it| it.replace(['\t', '\n', '\r'], " "));
                    writeln!(out, "{}", cells.join("\t"))?;
                } else {
                    serde_json::to_writer(&mut out, &pair)?;
                    out.write_all(b"\n")?;
                }
            }
            out.flush()
        })?;
        eprintln!("{} unique pairs", work.pairs.len());
        Ok(CommandOutcome::Done)
    }
}
