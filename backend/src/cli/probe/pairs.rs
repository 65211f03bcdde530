//! `pairs`: what has to be scored, for whoever scores it elsewhere.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use shared::error::Error as InputError;

use super::{CollectionVersionArgs, WAY_OUT, Work};
use crate::cli::Exit;
use crate::error::Error;
use crate::store::write_whole;

#[derive(clap::Args)]
pub(crate) struct PairsOf {
    /// A folder, or the name of an imported collection
    #[arg(long, value_name = "DIR|NAME", required_unless_present = "study")]
    collection: Option<String>,
    /// A file of `mine`
    #[arg(long, value_name = "FILE.parquet", required_unless_present = "study")]
    instances: Option<PathBuf>,
    /// The file of a study, made or not; its score files need not be there
    #[arg(long, value_name = "FILE.toml", conflicts_with_all = ["collection", "instances"])]
    study: Option<PathBuf>,
    /// One JSON object a pair: query_id, text_id, query, text; or, if the name ends in .tsv, these
    /// as columns below their names, in which tabs and ends of lines are spaces
    #[arg(long, value_name = "FILE.jsonl|FILE.tsv")]
    out: PathBuf,
    #[command(flatten)]
    version: CollectionVersionArgs,
}

/// A line of `pairs`.
#[derive(serde::Serialize)]
struct Pair<'a> {
    query_id: &'a str,
    text_id: String,
    query: &'a str,
    text: String,
}

impl PairsOf {
    pub(in crate::cli) fn run(self, data: &Path) -> Result<Exit, Error> {
        let work = match (&self.study, &self.collection, &self.instances) {
            (Some(study), _, _) => Work::from_study(study, data)?,
            (None, Some(collection), Some(instances)) => {
                Work::from_instances(collection, instances, data, &self.version)?
            }
            (None, _, _) => {
                let reason = "give --collection and --instances, or --study";
                return Err(InputError::missing("pairs", reason).into());
            }
        };
        let collection = &work.loaded.collection;
        let columns = self.out.extension().is_some_and(|it| it == "tsv");
        write_whole(&self.out, WAY_OUT, |file| {
            let mut out = BufWriter::new(file);
            if columns {
                writeln!(out, "query_id\ttext_id\tquery\ttext")?;
            }
            for (query, text) in work.pairs.iter() {
                let text = work.mined.texts[text as usize];
                let doc = &collection.docs[text.doc() as usize];
                let pair = Pair {
                    query_id: &collection.queries[query].id,
                    text_id: text.id(&doc.id),
                    query: &collection.queries[query].text,
                    text: text.body(&doc.body()),
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
        Ok(Exit::Done)
    }
}
