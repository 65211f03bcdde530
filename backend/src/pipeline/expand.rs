//! Expansion of documents with queries that a doc2query T5 generates.
//!
//! Generated queries are stored next to the new folder, one line per document. After an
//! interruption the next run continues with the first missing document.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use neural::{Doc2Query, GeneratedQueries, QueryGenerationConfig};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use shared::collection::{Collection, Document, DocumentFields};
use shared::error::Error as InputError;

use crate::collection_files::{CollectionWithReadReport, write_beir_files, write_lines};
use crate::error::Error;
use crate::progress::ProgressBar;
use crate::remedy;

/// Documents per thread between two writes to the draft.
const PER_THREAD: usize = 8;

/// The model, sampling and output folder of a collection expansion.
pub(crate) struct DocumentExpansionSettings<'a> {
    /// The model that generates queries.
    pub model: &'a Doc2Query,
    /// The name of the model, for the record.
    pub name: &'a str,
    /// How queries are sampled.
    pub sampling: QueryGenerationConfig,
    /// The new folder, which must not exist.
    pub out: &'a Path,
}

/// How many queries were generated and how many documents were truncated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DocumentExpansionSummary {
    /// Number of generated queries that are not empty.
    pub n_queries: usize,
    /// Number of documents of which the model did not read the end.
    pub n_truncated: usize,
}

/// The content of `expansion.json` in the new folder.
#[derive(Serialize)]
struct ExpansionManifest<'a> {
    #[serde(flatten)]
    record: &'a ExpansionRecord<'a>,
    /// Number of documents of which the model did not read the end.
    truncated_documents: usize,
}

/// Everything that is needed to reproduce the folder.
#[derive(Serialize)]
struct ExpansionRecord<'a> {
    format: u32,
    axioscope: &'static str,
    /// The hash of the original collection.
    collection: String,
    model: &'a str,
    fingerprint: &'a str,
    seed: u64,
    top_k: usize,
    queries_per_document: usize,
    /// Maximum number of tokens of a query.
    max_query_tokens: usize,
}

/// A line of the draft.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct ExpandedDocument {
    queries: Vec<String>,
    /// Whether the model did not read the end of the document.
    truncated: bool,
}

impl ExpandedDocument {
    fn of(written: GeneratedQueries) -> ExpandedDocument {
        let queries = written.queries.into_iter();
        ExpandedDocument {
            queries: queries.map(|it| it.text).collect(),
            truncated: written.truncated,
        }
    }
}

/// A line of `expansions.jsonl`.
#[derive(Serialize)]
struct Line<'a> {
    #[serde(rename = "_id")]
    id: &'a str,
    queries: &'a [String],
}

/// Writes the new folder: the collection with queries appended to each document, the queries alone
/// (`expansions.jsonl`) and the settings (`expansion.json`).
pub(crate) fn write_expanded_collection(
    mut loaded: CollectionWithReadReport,
    wanted: &DocumentExpansionSettings<'_>,
) -> Result<DocumentExpansionSummary, Error> {
    let record = ExpansionRecord::of(&loaded.collection, wanted);
    let parent = check_out(wanted.out)?;
    let mut draft = Draft::open(wanted.out, parent, &record)?;
    let docs = &loaded.collection.docs;
    draft.written.truncate(docs.len());
    let bar = ProgressBar::with_unit("expand", docs.len() as u64, "documents");
    bar.set_position(draft.written.len() as u64);
    let n_at_once = PER_THREAD * rayon::current_num_threads();
    for some in docs[draft.written.len()..].chunks(n_at_once) {
        let texts: Vec<&str> = some.iter().map(Document::text_with_title).collect();
        let queries = wanted
            .model
            .generate_queries_per_document(&texts, &wanted.sampling);
        let queries = queries
            .map_err(Error::model_error_converter(wanted.name))?
            .into_iter();
        draft.keep(queries.map(ExpandedDocument::of))?;
        bar.set_position(draft.written.len() as u64);
    }
    let written = std::mem::take(&mut draft.written);
    for (doc, kept) in loaded.collection.docs.iter_mut().zip(&written) {
        add(doc, &kept.queries);
    }
    let n_truncated = written.iter().filter(|it| it.truncated).count();

    let beside = tempfile::tempdir_in(parent)
        .map_err(Error::io_error_converter(parent, remedy::ANOTHER_FOLDER))?;
    // The inner folder has the usual permissions; a temporary folder is readable by its owner only.
    let whole = beside.path().join("whole");
    fs::create_dir(&whole).map_err(Error::io_error_converter(&whole, remedy::ANOTHER_FOLDER))?;
    write_beir_files(&loaded, &whole)?;
    let lines = loaded.collection.docs.iter().zip(&written);
    let lines = lines.map(|(doc, kept)| {
        json(&Line {
            id: doc.id(),
            queries: &kept.queries,
        })
    });
    write_lines(&whole.join("expansions.jsonl"), lines)?;
    let account = json(&ExpansionManifest {
        record: &record,
        truncated_documents: n_truncated,
    });
    write_lines(&whole.join("expansion.json"), [account].into_iter())?;
    // Someone may have created the folder in the meantime, and `rename` would replace an empty one.
    check_out(wanted.out)?;
    fs::rename(&whole, wanted.out).map_err(Error::io_error_converter(
        wanted.out,
        remedy::ANOTHER_FOLDER,
    ))?;
    draft.remove()?;
    let queries = written.iter().flat_map(|it| &it.queries);
    Ok(DocumentExpansionSummary {
        n_queries: queries.filter(|it| !it.is_empty()).count(),
        n_truncated,
    })
}

/// Returns the parent folder of the output, or an error if the output exists or the parent does
/// not.
fn check_out(out: &Path) -> Result<&Path, Error> {
    if out.symlink_metadata().is_ok() {
        let reason = format!("{} is there already; choose another", out.display());
        return Err(InputError::conflicting_value("out", reason).into());
    }
    let parent = match out.parent() {
        Some(it) if !it.as_os_str().is_empty() => it,
        _ => Path::new("."),
    };
    match (parent.is_dir(), out.file_name()) {
        (true, Some(_)) => Ok(parent),
        _ => {
            let reason = format!("{} lies in no folder that is there", out.display());
            Err(InputError::missing_field("out", reason).into())
        }
    }
}

/// Appends queries to the text of a document, as docTTTTTquery does.
fn add(doc: &mut Document, queries: &[String]) {
    let mut text = doc.text().to_owned();
    for query in queries.iter().filter(|it| !it.is_empty()) {
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(query);
    }
    *doc = Document::from(DocumentFields {
        text: text.into(),
        ..doc.fields()
    });
}

impl<'a> ExpansionRecord<'a> {
    fn of(collection: &Collection, wanted: &DocumentExpansionSettings<'a>) -> ExpansionRecord<'a> {
        ExpansionRecord {
            format: 1,
            axioscope: env!("CARGO_PKG_VERSION"),
            collection: collection.content_hash(),
            model: wanted.name,
            fingerprint: wanted.model.fingerprint(),
            seed: wanted.sampling.seed,
            top_k: wanted.sampling.top_k,
            queries_per_document: wanted.sampling.n_queries,
            max_query_tokens: wanted.sampling.max_new_tokens,
        }
    }
}

/// The queries generated so far, in memory and in a file.
struct Draft {
    /// The queries of the first documents of the collection.
    written: Vec<ExpandedDocument>,
    path: PathBuf,
    file: File,
}

impl Draft {
    /// Opens the draft next to the output. Its name contains a hash of everything that determines
    /// the queries. Existing lines are used; a damaged line and everything after it are removed.
    /// Returns an error if another process has the draft open.
    fn open(out: &Path, parent: &Path, record: &ExpansionRecord<'_>) -> Result<Draft, Error> {
        let hash = shared::collection::encode_hex(&Sha256::digest(json(record)));
        let name = out.file_name().unwrap_or_default().to_string_lossy();
        let path = parent.join(format!(".{name}.{hash:.16}.draft"));
        let failed = || Error::io_error_converter(&path, remedy::ANOTHER_FOLDER);
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let mut file = options.open(&path).map_err(failed())?;
        if let Err(TryLockError::WouldBlock) = file.try_lock() {
            let reason = format!("another axioscope is writing {}", out.display());
            return Err(InputError::conflicting_value("out", reason).into());
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(failed())?;
        let (written, whole) = read(&bytes, record.queries_per_document);
        file.set_len(whole as u64).map_err(failed())?;
        file.seek(SeekFrom::Start(whole as u64)).map_err(failed())?;
        Ok(Draft {
            written,
            path,
            file,
        })
    }

    /// Stores the queries of the next documents. They survive a crash once this returns.
    fn keep(&mut self, written: impl Iterator<Item = ExpandedDocument>) -> Result<(), Error> {
        let failed = || Error::io_error_converter(&self.path, remedy::ANOTHER_FOLDER);
        let mut lines = String::new();
        for kept in written {
            lines += &json(&kept);
            lines.push('\n');
            self.written.push(kept);
        }
        self.file.write_all(lines.as_bytes()).map_err(failed())?;
        self.file.sync_data().map_err(failed())
    }

    fn remove(self) -> Result<(), Error> {
        drop(self.file);
        fs::remove_file(&self.path)
            .map_err(Error::io_error_converter(&self.path, "remove it by hand"))
    }
}

/// Returns the valid lines at the beginning, each with `n_queries` queries, and the offset of their
/// end.
fn read(bytes: &[u8], n_queries: usize) -> (Vec<ExpandedDocument>, usize) {
    let (mut written, mut whole) = (Vec::new(), 0);
    for line in bytes.split_inclusive(|&it| it == b'\n') {
        let Some(sound) = line.strip_suffix(b"\n") else {
            break;
        };
        match serde_json::from_slice::<ExpandedDocument>(sound) {
            Ok(kept) if kept.queries.len() == n_queries => written.push(kept),
            _ => break,
        }
        whole += line.len();
    }
    (written, whole)
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("texts and whole numbers")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collection_files;
    use crate::models::load_doc2query;

    const T5: &str = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../neural/tests/fixtures/t5-gated"
    );

    fn loaded(folder: &Path) -> CollectionWithReadReport {
        collection_files::load_collection_folder(folder, &Default::default()).unwrap()
    }

    /// Creates a collection of four documents. The third has no text of its own, and the last one
    /// is long.
    fn collection(home: &Path) -> PathBuf {
        let folder = home.join("from");
        fs::create_dir_all(folder.join("runs")).unwrap();
        let file = |name: &str, text: &str| fs::write(folder.join(name), text).unwrap();
        file(
            "corpus.jsonl",
            "{\"_id\":\"a\",\"title\":\"Rivers\",\"text\":\"A river ends in the sea.\"}\n\
             {\"_id\":\"b\",\"title\":\"\",\"text\":\"東京 🌊 lakes\",\"doc_group\":\"g\"}\n\
             {\"_id\":\"c\",\"title\":\"the end\",\"text\":\"\"}\n",
        );
        // More tokens than the model reads.
        let long = "lake ".repeat(600);
        let long = long.trim_end();
        let long = format!("{{\"_id\":\"d\",\"title\":\"\",\"text\":\"{long}\"}}\n");
        let corpus = fs::read_to_string(folder.join("corpus.jsonl")).unwrap();
        file("corpus.jsonl", &(corpus + &long));
        file(
            "queries.jsonl",
            "{\"_id\":\"1\",\"text\":\"where do rivers end\",\"split\":\"test\"}\n",
        );
        file("qrels.tsv", "1\t0\ta\t1\n");
        file("runs/own.run", "1 Q0 a 1 2.0 own\n");
        folder
    }

    #[test]
    fn queries_stand_after_the_text_and_all_else_stays() {
        let home = tempfile::tempdir().unwrap();
        let from = collection(home.path());
        let (name, model) = load_doc2query(T5).unwrap();
        let out = home.path().join("out");
        let wanted = DocumentExpansionSettings {
            model: &model,
            name: &name,
            sampling: QueryGenerationConfig::doctttttquery_defaults(3, 5),
            out: &out,
        };
        let before = loaded(&from);
        let expanded = write_expanded_collection(loaded(&from), &wanted).unwrap();
        let after = loaded(&out);
        assert_eq!((after.report.n_refused, after.report.n_warned), (0, 0));
        assert_eq!(after.collection.queries, before.collection.queries);
        assert_eq!(after.collection.qrels, before.collection.qrels);
        let run = |folder: &Path| fs::read(folder.join("runs/own.run")).unwrap();
        assert_eq!(run(&out), run(&from));

        let lines = fs::read_to_string(out.join("expansions.jsonl")).unwrap();
        let added: Vec<serde_json::Value> = lines
            .lines()
            .map(|it| serde_json::from_str(it).unwrap())
            .collect();
        let (mut n_filled, mut n_truncated) = (0, 0);
        for ((old, new), added) in before
            .collection
            .docs
            .iter()
            .zip(&after.collection.docs)
            .zip(&added)
        {
            assert_eq!(
                (old.id(), old.title(), old.group()),
                (new.id(), new.title(), new.group())
            );
            assert_eq!(added["_id"], old.id());
            // The queries that the model generates for the document alone.
            let alone = model
                .generate_queries_per_document(&[old.text_with_title()], &wanted.sampling)
                .unwrap();
            let queries = alone[0].queries.iter();
            let queries: Vec<&str> = queries.map(|it| it.text.as_str()).collect();
            n_truncated += usize::from(alone[0].truncated);
            assert_eq!(added["queries"], serde_json::json!(queries));
            let filled: Vec<&str> = queries.into_iter().filter(|it| !it.is_empty()).collect();
            n_filled += filled.len();
            let expected = format!("{} {}", old.text(), filled.join(" "));
            assert_eq!(new.text(), expected.trim());
        }
        assert!(
            n_filled >= 6 && n_truncated == 1,
            "{n_filled} {n_truncated}"
        );
        let counted = DocumentExpansionSummary {
            n_queries: n_filled,
            n_truncated,
        };
        assert_eq!(expanded, counted);

        let record = fs::read_to_string(out.join("expansion.json")).unwrap();
        let record: serde_json::Value = serde_json::from_str(&record).unwrap();
        assert_eq!(record["model"], "t5-gated");
        assert_eq!(record["fingerprint"], model.fingerprint());
        assert_eq!(record["collection"], before.collection.content_hash());
        assert_eq!((&record["seed"], &record["top_k"]), (&5.into(), &10.into()));
        assert_eq!(record["queries_per_document"], 3);
        assert_eq!(record["truncated_documents"], 1);
        // No other file is left next to the output.
        let mut left: Vec<_> = fs::read_dir(home.path())
            .unwrap()
            .map(|it| it.unwrap().file_name())
            .collect();
        left.sort();
        assert_eq!(left, ["from", "out"]);

        let refused = write_expanded_collection(loaded(&from), &wanted)
            .unwrap_err()
            .to_string();
        assert!(refused.contains("is there already"), "{refused}");
    }

    #[test]
    fn what_was_written_before_a_stop_is_not_written_again() {
        let home = tempfile::tempdir().unwrap();
        let from = collection(home.path());
        let (name, model) = load_doc2query(T5).unwrap();
        let wanted = |out| DocumentExpansionSettings {
            model: &model,
            name: &name,
            sampling: QueryGenerationConfig::doctttttquery_defaults(2, 5),
            out,
        };
        let [once, twice] = ["once", "twice"].map(|it| home.path().join(it));
        write_expanded_collection(loaded(&from), &wanted(&once)).unwrap();

        let wanted = wanted(&twice);
        let record = ExpansionRecord::of(&loaded(&from).collection, &wanted);
        let open = || Draft::open(&twice, home.path(), &record).unwrap();
        let mut draft = open();
        // A marker that shows that the first document is not processed again.
        let kept = ExpandedDocument {
            queries: vec!["kept".to_owned(), "too".to_owned()],
            truncated: true,
        };
        draft.keep([kept.clone()].into_iter()).unwrap();
        draft.file.write_all(b"[\"torn\", \"of").unwrap();
        let other = Draft::open(&twice, home.path(), &record).err().unwrap();
        assert!(other.to_string().contains("another axioscope"), "{other}");
        drop(draft);
        assert_eq!(open().written, [kept]);

        assert_eq!(
            write_expanded_collection(loaded(&from), &wanted)
                .unwrap()
                .n_truncated,
            2
        );
        let [once, twice] = [&once, &twice].map(|it| loaded(it).collection.docs);
        assert!(
            twice[0].text().ends_with("sea. kept too"),
            "{}",
            twice[0].text()
        );
        assert_eq!(once[1..], twice[1..]);
    }

    #[test]
    fn a_damaged_draft_counts_up_to_the_damage() {
        let kept = |queries: &str| format!("{{\"queries\":{queries},\"truncated\":false}}\n");
        let [a, b, two] = ["[\"a\"]", "[\"b\"]", "[\"b\",\"c\"]"].map(kept);
        for (bytes, n, whole) in [
            (String::new(), 0, 0),
            (format!("{a}{b}"), 2, 2 * a.len()),
            (format!("{a}{}", b.trim_end()), 1, a.len()),
            (format!("{a}{two}{b}"), 1, a.len()),
            (kept("[1]"), 0, 0),
            // A line in the format of an earlier version.
            (format!("[\"a\"]\n{a}"), 0, 0),
            (format!("\n{a}"), 0, 0),
        ] {
            let (written, end) = read(bytes.as_bytes(), 1);
            assert_eq!((written.len(), end), (n, whole), "{bytes}");
        }
    }
}
