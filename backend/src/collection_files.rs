//! Collections on disk: folders in the layout of a distribution, and imported collections.
//!
//! ```text
//! corpus.jsonl[.gz|.zst]  queries.jsonl[…]  qrels.tsv[…]  runs/*.run[…]
//! ```
//!
//! Rows with errors are reported and left out. A file that cannot be read at all is an error.

mod distributions;
pub(crate) mod transfer_sets;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use shared::collection::trec::UnknownCollectionIds;
use shared::collection::{
    Collection, Document, FileInput, Qrels, Query, Run, beir, trec, tsv, wikipassageqa,
};
use shared::error::FileReadReport;

use crate::error::Error;
use crate::progress::ProgressBar;
use crate::remedy;
use crate::store::{DataFolder, checksum, cleanup};

/// A collection with the report of its readers.
#[derive(Debug, Default)]
pub(crate) struct CollectionWithReadReport {
    /// The queries, documents and relevance judgments.
    pub collection: Collection,
    /// Counts of rows read, refused and warned about, over all files.
    pub report: FileReadReport,
    /// Ids that a file (`qrels`, `splits`) contains but the collection does not.
    pub unknown_ids: Vec<(&'static str, UnknownCollectionIds)>,
    /// The folder of the collection; run files are looked up in its `runs/`.
    pub folder: PathBuf,
}

/// The layout of a corpus file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum CorpusFileLayout {
    /// One JSON object per line: `_id`, `title`, `text`.
    Beir,
    /// `pid<TAB>passage`, as MS MARCO distributes passages.
    Passages,
    /// `docid<TAB>url<TAB>title<TAB>body`, as MS MARCO distributes documents.
    Documents,
    /// One passage per line; its id is the line number.
    Plain,
    /// `document_passages.json` with train.tsv, dev.tsv and test.tsv, as WikiPassageQA is
    /// distributed.
    Wikipassageqa,
}

/// Files with other names than those that [`load_named_collection`] looks for.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct CollectionFileOverrideArgs {
    /// Corpus file, if it is not `corpus.jsonl` in the folder
    #[arg(long, value_name = "FILE")]
    pub corpus: Option<PathBuf>,
    /// Layout of the corpus; without this flag, folders of BEIR, MS MARCO, TREC Deep Learning and
    /// WikiPassageQA are recognized by their file names
    #[arg(long, value_enum)]
    pub layout: Option<CorpusFileLayout>,
    /// Query file, if it is not `queries.jsonl` in the folder; a `.tsv` file has lines
    /// `qid<TAB>text`; any other file that is not JSON is read as TREC topics
    #[arg(long, value_name = "FILE")]
    pub queries: Option<PathBuf>,
    /// Relevance judgments (qrels) file, if it is not `qrels.tsv` in the folder
    #[arg(long, value_name = "FILE")]
    pub qrels: Option<PathBuf>,
}

/// Loads a collection by the name of its import or by its folder.
pub(crate) fn load_named_collection(
    named: &str,
    data: &Path,
) -> Result<CollectionWithReadReport, Error> {
    load_collection_folder(
        &folder_of(named, data)?,
        &CollectionFileOverrideArgs::default(),
    )
}

/// Returns the folder of a collection. The checksums of an imported collection are verified.
fn folder_of(named: &str, data: &Path) -> Result<PathBuf, Error> {
    if shared::study::validate_study_name(named).is_ok() {
        let imported = data.join("collections").join(named);
        if imported.is_dir() {
            verify_imported_files(&imported)?;
            return Ok(imported);
        }
    }
    let folder = PathBuf::from(named);
    if folder.is_dir() {
        return Ok(folder);
    }
    Err(Error::CollectionNotFound {
        named: named.to_owned(),
    })
}

/// Loads an imported collection by its name. Other folders are not considered.
pub(crate) fn load_imported_collection(
    name: &str,
    data: &DataFolder,
) -> Result<CollectionWithReadReport, Error> {
    let folder = data.collection_folder(name)?;
    if !folder.is_dir() {
        return Err(Error::CollectionNotFound {
            named: name.to_owned(),
        });
    }
    verify_imported_files(&folder)?;
    load_collection_folder(&folder, &CollectionFileOverrideArgs::default())
}

fn verify_imported_files(folder: &Path) -> Result<(), Error> {
    let way_out = "import the collection again; if you changed the file yourself, remove \
                   SHA256SUMS in the folder of the collection";
    checksum::verify_folder_checksums(folder, way_out)
}

/// Returns the names of the splits of an imported collection, in order. A collection without
/// relevance judgments has none.
pub(crate) fn read_split_names(folder: &Path) -> Result<Vec<String>, Error> {
    let has_lines = |it: &PathBuf| fs::metadata(it).is_ok_and(|it| it.len() > 0);
    if !found(folder, "qrels.tsv").is_ok_and(|it| has_lines(&it)) {
        return Ok(Vec::new());
    }
    let (queries, _) = read_queries(&found(folder, "queries.jsonl")?)?;
    let mut collection = Collection {
        queries,
        ..Collection::default()
    };
    if let Ok(path) = found(folder, "splits.tsv") {
        let (splits, _) = read_with_progress(&path, tsv::read_query_splits)?;
        collection.set_query_splits(&splits);
    }
    let splits = collection.queries.into_iter().filter_map(|it| it.split);
    let splits: BTreeSet<String> = splits.collect();
    Ok(splits.into_iter().collect())
}

/// Reads the collection files of a folder.
pub(crate) fn load_collection_folder(
    folder: &Path,
    files: &CollectionFileOverrideArgs,
) -> Result<CollectionWithReadReport, Error> {
    let named = files.layout.or_else(|| match files.corpus {
        Some(_) => None,
        None => distributions::detect_layout_from_file_names(folder),
    });
    let layout = named.unwrap_or(CorpusFileLayout::Beir);
    if layout == CorpusFileLayout::Wikipassageqa {
        return distributions::load_wikipassageqa(folder);
    }
    let files = &distributions::complete_file_args_from_folder(folder, layout, files);
    let mut loaded = CollectionWithReadReport {
        folder: folder.to_owned(),
        ..CollectionWithReadReport::default()
    };
    let corpus = match &files.corpus {
        Some(path) => path.clone(),
        None => found(folder, "corpus.jsonl")?,
    };
    let (docs, reading) = read_corpus(&corpus, layout)?;
    ensure_some_row_is_read(&corpus, &reading, "a corpus, and its --layout")?;
    if docs.is_empty() {
        let corpus = corpus.display().to_string();
        return Err(shared::error::Error::unreadable_file(
            &corpus,
            "it has no documents; add at least one",
        )
        .into());
    }
    loaded.collection.docs = docs;
    loaded.report.merge(reading);
    let queries = match &files.queries {
        Some(path) => path.clone(),
        None => found(folder, "queries.jsonl")?,
    };
    let (read, reading) = read_queries(&queries)?;
    ensure_some_row_is_read(&queries, &reading, "a file of queries")?;
    loaded.collection.queries = read;
    loaded.report.merge(reading);
    let qrels = files
        .qrels
        .clone()
        .or_else(|| found(folder, "qrels.tsv").ok());
    if let Some(path) = qrels {
        let (qrels, reading) = read_qrels(&path)?;
        ensure_some_row_is_read(&path, &reading, "a file of relevance judgments")?;
        loaded.report.merge(reading);
        let unknown = UnknownCollectionIds::find_in_qrels(&qrels, &loaded.collection);
        loaded.unknown_ids.push(("qrels", unknown));
        loaded.collection.qrels = qrels;
    }
    if let Ok(path) = found(folder, "splits.tsv") {
        let (splits, reading) = read_with_progress(&path, tsv::read_query_splits)?;
        let unknown = UnknownCollectionIds::find_in_splits(&splits, &loaded.collection);
        loaded.unknown_ids.push(("splits", unknown));
        loaded.collection.set_query_splits(&splits);
        loaded.report.merge(reading);
    }
    Ok(loaded)
}

/// Copies a collection into the data folder as BEIR files with checksums, and returns its folder.
/// The new folder replaces an existing one only when it is complete.
pub(crate) fn import_collection(
    loaded: &CollectionWithReadReport,
    name: &str,
    data: &DataFolder,
) -> Result<PathBuf, Error> {
    let target = data.collection_folder(name)?;
    let parent = target.parent().unwrap_or(&target);
    let way_out = remedy::ANOTHER_DATA_FOLDER;
    let temporary =
        tempfile::tempdir_in(parent).map_err(Error::io_error_converter(parent, way_out))?;
    write_beir_files(loaded, temporary.path())?;
    checksum::write_folder_checksums(temporary.path())
        .map_err(Error::io_error_converter(&target, way_out))?;
    cleanup::replace_folder(temporary.path(), &target)
        .map_err(Error::io_error_converter(&target, way_out))?;
    Ok(target)
}

/// Writes a collection as BEIR files into an existing folder.
pub(crate) fn write_beir_files(loaded: &CollectionWithReadReport, at: &Path) -> Result<(), Error> {
    write_lines(
        &at.join("corpus.jsonl"),
        loaded.collection.docs.iter().map(doc_line),
    )?;
    write_lines(
        &at.join("queries.jsonl"),
        loaded.collection.queries.iter().map(query_line),
    )?;
    let qrels = loaded.collection.qrels.0.iter().flat_map(|(query, docs)| {
        docs.iter()
            .map(move |(doc, grade)| format!("{query}\t0\t{doc}\t{grade}"))
    });
    write_lines(&at.join("qrels.tsv"), qrels)?;
    let runs = loaded.folder.join("runs");
    if runs.is_dir() {
        copy_runs(&runs, &at.join("runs"))?;
    }
    Ok(())
}

/// Reads a run by its path, or by its name in the `runs/` of the collection. Returns an error if
/// every row is refused.
pub(crate) fn resolve_and_read_run(
    file: &str,
    folder: &Path,
) -> Result<(Run, FileReadReport), Error> {
    let path = resolve_input_file_path(file, folder)?;
    let (run, reading) = read_with_progress(&path, trec::read_run)?;
    ensure_some_row_is_read(&path, &reading, "a TREC run")?;
    Ok((run, reading))
}

/// Returns an error if every row of a file was refused. `expected` says what to give instead.
pub(crate) fn ensure_some_row_is_read(
    path: &Path,
    reading: &FileReadReport,
    expected: &str,
) -> Result<(), Error> {
    match reading.refused.first() {
        Some(first) if reading.n_rows == 0 => {
            let reason = format!(
                "every row was refused, the first in line {}: {}; give {expected}",
                first.line, first.reason
            );
            Err(shared::error::Error::unreadable_file(&path.display().to_string(), reason).into())
        }
        _ => Ok(()),
    }
}

/// Finds a file by its absolute path, or relative to the working directory, to the `runs/` of the
/// collection or to its folder, with or without `.gz` or `.zst`.
pub(crate) fn resolve_input_file_path(file: &str, folder: &Path) -> Result<PathBuf, Error> {
    let places = [
        PathBuf::from(file),
        folder.join("runs").join(file),
        folder.join(file),
    ];
    let found = places
        .iter()
        .flat_map(|it| packed(it))
        .find(|it| it.is_file());
    found.ok_or_else(|| Error::FileNotFound {
        file: file.to_owned(),
        looked_in: folder.join("runs"),
    })
}

/// Prints refused rows and warnings on standard error: at most five of each, and their number.
pub(crate) fn print_reader_warnings(reading: &FileReadReport) {
    let shown = 5;
    for it in reading.refused.iter().take(shown) {
        eprintln!("refused: {it}");
    }
    if reading.n_refused > 0 {
        eprintln!("rows refused and left out: {}", reading.n_refused);
    }
    for it in reading.warned.iter().take(shown) {
        eprintln!("warning: {it}");
    }
    if reading.n_warned > 0 {
        eprintln!("rows read with a warning: {}", reading.n_warned);
    }
}

/// Reads the relevance judgments of a qrels file, with a progress bar, and returns them with a
/// report of refused rows and warnings.
pub(crate) fn read_qrels(path: &Path) -> Result<(Qrels, FileReadReport), Error> {
    read_with_progress(path, trec::read_qrels)
}

/// Calls `take` with the number and text of each nonempty line of a file. Stops at the first error.
pub(crate) fn for_each_nonempty_line(
    path: &Path,
    mut take: impl FnMut(u64, &str) -> Result<(), Error>,
) -> Result<(), Error> {
    use shared::collection::lines::{FileSizeLimits, LineReader};
    let path = &as_it_lies(path);
    let file = File::open(path).map_err(Error::io_error_converter(path, remedy::CHECK_PATH))?;
    let name = path.display().to_string();
    let file = FileInput::without_progress(&name, file);
    let mut lines = LineReader::open(file, FileSizeLimits::FILES)?;
    while let Some(line) = lines.next_line()? {
        let text = line.text.map_err(|reason| shared::error::Error::Line {
            file: path.display().to_string(),
            line: line.number,
            reason,
        })?;
        if !text.is_empty() {
            take(line.number, text)?;
        }
    }
    Ok(())
}

/// Calls a reader with an open file and a callback for its progress bar.
pub(crate) fn read_with_progress<T>(
    path: &Path,
    read: impl FnOnce(FileInput<'_, File>) -> Result<T, shared::error::Error>,
) -> Result<T, Error> {
    let way_out = remedy::CHECK_PATH;
    let path = &as_it_lies(path);
    let file = File::open(path).map_err(Error::io_error_converter(path, way_out))?;
    let bytes = file
        .metadata()
        .map_err(Error::io_error_converter(path, way_out))?
        .len();
    let bar = ProgressBar::for_bytes(
        &path.file_name().unwrap_or_default().to_string_lossy(),
        bytes,
    );
    let name = path.display().to_string();
    Ok(read(FileInput::new(&name, file, &mut |done| {
        bar.set_position(done)
    }))?)
}

fn read_corpus(
    path: &Path,
    layout: CorpusFileLayout,
) -> Result<(Vec<Document>, FileReadReport), Error> {
    read_with_progress(path, |file| match layout {
        CorpusFileLayout::Beir => beir::read_beir_documents(file),
        CorpusFileLayout::Passages => tsv::read_msmarco_passages(file),
        CorpusFileLayout::Documents => tsv::read_msmarco_documents(file),
        CorpusFileLayout::Plain => tsv::read_one_passage_per_line(file),
        CorpusFileLayout::Wikipassageqa => wikipassageqa::read_wikipassageqa_passages(file),
    })
}

fn read_queries(path: &Path) -> Result<(Vec<Query>, FileReadReport), Error> {
    let name = path.to_string_lossy();
    let json = name.contains(".jsonl") || name.contains(".json");
    read_with_progress(path, |file| {
        if json {
            beir::read_beir_queries(file)
        } else {
            trec::topics::read_trec_topics(file)
        }
    })
}

/// Finds a file in a folder, compressed or not.
fn found(folder: &Path, name: &str) -> Result<PathBuf, Error> {
    let found = packed(&folder.join(name))
        .into_iter()
        .find(|it| it.is_file());
    found.ok_or_else(|| Error::FileNotFound {
        file: name.to_owned(),
        looked_in: folder.to_owned(),
    })
}

/// Returns the path with the suffix under which the file exists (none, `.gz` or `.zst`), or the
/// path as given if there is no such file.
fn as_it_lies(path: &Path) -> PathBuf {
    let there = packed(path).into_iter().find(|it| it.exists());
    there.unwrap_or_else(|| path.to_owned())
}

fn packed(path: &Path) -> [PathBuf; 3] {
    let with = |ending: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        PathBuf::from(name)
    };
    [path.to_owned(), with(".gz"), with(".zst")]
}

fn doc_line(doc: &Document) -> String {
    json_line(&Line {
        id: doc.id(),
        title: Some(doc.title()),
        text: doc.text(),
        group: doc.group(),
        split: None,
    })
}

fn query_line(query: &Query) -> String {
    json_line(&Line {
        id: &query.id,
        title: None,
        text: &query.text,
        group: query.group.as_deref(),
        split: query.split.as_deref(),
    })
}

/// A document or query in the format of BEIR.
#[derive(serde::Serialize)]
struct Line<'a> {
    #[serde(rename = "_id")]
    id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'a str>,
    text: &'a str,
    #[serde(rename = "doc_group", skip_serializing_if = "Option::is_none")]
    group: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    split: Option<&'a str>,
}

fn json_line(line: &Line<'_>) -> String {
    serde_json::to_string(line).expect("texts alone")
}

/// Writes lines to a file, which is created or replaced.
pub(crate) fn write_lines(path: &Path, lines: impl Iterator<Item = String>) -> Result<(), Error> {
    use std::io::Write;
    let way_out = remedy::ANOTHER_DATA_FOLDER;
    let file = File::create(path).map_err(Error::io_error_converter(path, way_out))?;
    let mut out = std::io::BufWriter::new(file);
    for line in lines {
        writeln!(out, "{line}").map_err(Error::io_error_converter(path, way_out))?;
    }
    out.flush()
        .map_err(Error::io_error_converter(path, way_out))
}

fn copy_runs(from: &Path, to: &Path) -> Result<(), Error> {
    let way_out = "check the permissions of the collection's `runs/`";
    fs::create_dir_all(to).map_err(Error::io_error_converter(to, way_out))?;
    for entry in fs::read_dir(from).map_err(Error::io_error_converter(from, way_out))? {
        let entry = entry.map_err(Error::io_error_converter(from, way_out))?;
        if entry.path().is_file() {
            let target = to.join(entry.file_name());
            fs::copy(entry.path(), &target).map_err(Error::io_error_converter(&target, way_out))?;
        }
    }
    Ok(())
}
