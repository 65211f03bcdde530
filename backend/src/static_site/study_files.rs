//! The files from which the pages of a static host read a study.

use std::borrow::Cow;
use std::io::{BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use shared::api::annotation::{AnnotationTaskResults, AnnotationTaskStatus};
use shared::api::prepared_requests::{
    HUMAN_JUDGMENTS_FILE, LATE_INTERACTION_FILE, prepared_list_requests, prepared_study_requests,
};
use shared::api::{Endpoint, ListInstancesRequest};
use shared::probe::ProbeInstances;
use shared::study::Study;
use shared::study::instance_list::order::InstanceOrder;
use shared::study::overview::StudySummary;
use shared::study::sliced::{
    SliceFileWriter, SliceLayout, SlicedStudyHead, chunk_file_name, reply_file_name,
    write_sliced_study,
};

use crate::annotation::AnnotationTaskService;
use crate::error::Error;
use crate::pipeline;
use crate::remedy;
use crate::runtime::run_with_database;
use crate::store::server_place::ServerRole;
use crate::store::studies::instance_orders::InstanceOrders;
use crate::store::studies::late_interaction;
use crate::store::{DataFolder, Database, checksum, write_atomically};

/// The file with the list of studies.
pub(super) const STUDY_LIST: &str = "index.json";

/// The largest JSON of a study that a browser reads as a whole unless asked otherwise, in bytes.
const MAX_WHOLE_BYTES: usize = 4 << 20;

/// The size of the files into which files of rows are cut.
const CHUNK_BYTES: u32 = 32 << 10;

/// How a browser reads an exported study.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ExportLayout {
    Whole,
    Ranges,
    Chunks,
}

/// What is exported of a study.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StudyExportOptions {
    /// Whether the texts of documents and queries are left out.
    pub without_texts: bool,
    /// How a browser reads it; none decides by the size.
    pub layout: Option<ExportLayout>,
}

/// Writes a study into the folder `studies/` of a static host, with an entry in the list of
/// studies, and returns it as it was written.
pub(crate) fn export_study(
    folder: &DataFolder,
    name: &str,
    out: &Path,
    options: StudyExportOptions,
) -> Result<Study, Error> {
    let stored = pipeline::load_study(folder, name)?;
    let orders = pipeline::load_instance_orders(folder, &stored)?;
    let analyses = late_interaction::load_late_interaction_analyses(folder, name)?;
    let analyses = stored.add_ranker_slugs_to_analyses(analyses);
    let stored = Arc::new(stored);
    let judgments = run_with_database(folder, async |store| public_results(store, &stored).await)?;
    let study = Arc::unwrap_or_clone(stored);
    let study = match options.without_texts {
        true => study.without_texts(),
        false => study,
    };
    std::fs::create_dir_all(out).map_err(Error::io_error_converter(out, remedy::ANOTHER_FOLDER))?;
    let index = out.join(STUDY_LIST);
    let mut summaries = read_index(&index)?;
    summaries.retain(|it| it.name != study.definition.name);
    summaries.push(study.summary(true)?);
    summaries.sort_by(|a, b| a.name.cmp(&b.name));
    let name = &study.definition.name;
    let file = out.join(format!("{name}.json"));
    match options.layout.unwrap_or_else(|| usual_layout(&study)) {
        ExportLayout::Whole => {
            write_json(&file, &study)?;
            remove_other_slices(&out.join(name), None)?;
        }
        ExportLayout::Ranges => write_slices(&study, &orders, out, None)?,
        ExportLayout::Chunks => write_slices(&study, &orders, out, Some(CHUNK_BYTES))?,
    }
    let beside = |file: &str| out.join(format!("{name}.{file}"));
    write_json(&beside(LATE_INTERACTION_FILE), &analyses)?;
    write_json(&beside(HUMAN_JUDGMENTS_FILE), &judgments)?;
    write_json(&index, &summaries)?;
    Ok(study)
}

/// Returns the layout in which a browser opens a study fast.
fn usual_layout(study: &Study) -> ExportLayout {
    let small = LimitedSink {
        n_bytes_left: MAX_WHOLE_BYTES,
    };
    match serde_json::to_writer(small, study) {
        Ok(()) => ExportLayout::Whole,
        Err(_) => ExportLayout::Ranges,
    }
}

/// Drops what is written, and fails at a number of bytes.
struct LimitedSink {
    n_bytes_left: usize,
}

impl Write for LimitedSink {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let left = self.n_bytes_left.checked_sub(bytes.len());
        self.n_bytes_left = left.ok_or(ErrorKind::FileTooLarge)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Returns the results of the annotation tasks of a study that every visitor may see.
async fn public_results(
    store: &Database,
    study: &Arc<Study>,
) -> Result<Vec<AnnotationTaskResults>, Error> {
    let name = &study.definition.name;
    let listed = store.study_entry_by_name(name).await?;
    // Tasks are only read, so that a server may be running.
    let tasks = AnnotationTaskService::start_with_log_writer(store.clone(), ServerRole::default());
    let mut results = Vec::new();
    for task in tasks.all_tasks().await? {
        let row = task.task_row();
        let is_visible = row.results_public && row.state != AnnotationTaskStatus::Draft;
        if is_visible && row.task.study == *name {
            let study = async { Ok(Arc::clone(study)) };
            results.push(tasks.task_results(&task, &listed, study).await?);
        }
    }
    Ok(results)
}

/// Writes a study in slices. Its files are in a folder of their own, named by their content, so
/// that a browser never combines the files of two exports.
fn write_slices(
    study: &Study,
    orders: &InstanceOrders,
    out: &Path,
    chunk_bytes: Option<u32>,
) -> Result<(), Error> {
    let name = &study.definition.name;
    let folder = out.join(name);
    std::fs::create_dir_all(&folder)
        .map_err(Error::io_error_converter(&folder, remedy::ANOTHER_FOLDER))?;
    let written = || Error::io_error_converter(&folder, remedy::ANOTHER_FOLDER);
    let scratch = tempfile::tempdir_in(&folder).map_err(written())?;
    // The inner folder has the usual permissions; a temporary folder is readable by its owner only.
    let inner = scratch.path().join("slices");
    std::fs::create_dir(&inner).map_err(written())?;
    let mut files = SliceFolder {
        path: inner.clone(),
        chunk_bytes,
        names: Vec::new(),
    };
    let order_of = |row: usize, instances: &ProbeInstances| match orders.get(row, instances) {
        Some(order) => Cow::Borrowed(order),
        None => Cow::Owned(InstanceOrder::build(study, instances, &study.scores[row])),
    };
    let mut head = SlicedStudyHead::for_study(study)?;
    write_sliced_study(study, &head, SliceLayout::default(), order_of, &mut files)
        .map_err(written())?;
    for request in prepared_study_requests(study) {
        if let Some(reply) = request.reply(study) {
            let file = reply_file_name(request.path, &request.json);
            files.write_text(&file, &reply).map_err(written())?;
            head.replies.push(file);
        }
    }
    for request in prepared_list_requests(study) {
        let file = reply_file_name(ListInstancesRequest::PATH, &to_json(&request));
        let lister = study.instance_lister(&request.filter)?;
        let row = study.parse_ranker_row_index(&request.filter.ranker)?;
        let order = order_of(row, lister.instances());
        let page = match lister.page_from_order(&order) {
            Some(page) => page,
            None => study.list_instances(&request.filter)?,
        };
        files
            .write_text(&file, &to_json(&page))
            .map_err(written())?;
        head.replies.push(file);
    }
    head.chunk_bytes = chunk_bytes;
    head.folder = format!("{name}/{:.16}", files.checksum()?);
    let place = out.join(&head.folder);
    if !place.exists() {
        std::fs::rename(&inner, &place).map_err(written())?;
    }
    write_json(&out.join(format!("{name}.json")), &head)?;
    remove_other_slices(&folder, Some(&place))
}

/// Removes the folders of earlier exports of a study, and the folder of the study if none is kept.
fn remove_other_slices(folder: &Path, kept: Option<&Path>) -> Result<(), Error> {
    let converter = || Error::io_error_converter(folder, remedy::ANOTHER_FOLDER);
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(converter())?,
    };
    for entry in entries {
        let path = entry.map_err(converter())?.path();
        if Some(path.as_path()) != kept && path.is_dir() {
            std::fs::remove_dir_all(&path).map_err(converter())?;
        }
    }
    match kept {
        Some(_) => Ok(()),
        None => std::fs::remove_dir(folder).map_err(converter()),
    }
}

/// The folder with the files of a study in slices.
struct SliceFolder {
    path: PathBuf,
    /// The size of the parts into which files of rows are cut.
    chunk_bytes: Option<u32>,
    names: Vec<String>,
}

impl SliceFolder {
    fn write_text(&mut self, file: &str, text: &str) -> std::io::Result<()> {
        self.write_file(file, &mut |out| out.write_all(text.as_bytes()))
    }

    /// Returns a checksum of all files.
    fn checksum(&self) -> Result<String, Error> {
        let mut sums = String::new();
        for name in &self.names {
            let path = self.path.join(name);
            let sum = checksum::file_checksum(&path);
            sums += &sum.map_err(Error::io_error_converter(&path, remedy::ANOTHER_FOLDER))?;
        }
        Ok(shared::collection::text_hash(&sums))
    }
}

impl SliceFileWriter for SliceFolder {
    fn write_file(
        &mut self,
        file: &str,
        content: &mut dyn FnMut(&mut dyn Write) -> std::io::Result<()>,
    ) -> std::io::Result<()> {
        match self.chunk_bytes.filter(|_| file.ends_with(".rows")) {
            None => {
                let mut out = BufWriter::new(std::fs::File::create(self.path.join(file))?);
                content(&mut out)?;
                out.flush()?;
                self.names.push(file.to_owned());
            }
            Some(chunk_bytes) => {
                let mut out = ChunkWriter {
                    folder: self,
                    file,
                    size: chunk_bytes as usize,
                    n_chunks: 0,
                    chunk: Vec::new(),
                };
                content(&mut out)?;
                out.write_chunk()?;
            }
        }
        Ok(())
    }
}

/// Writes a file as chunks.
struct ChunkWriter<'a> {
    folder: &'a mut SliceFolder,
    file: &'a str,
    size: usize,
    n_chunks: u64,
    chunk: Vec<u8>,
}

impl ChunkWriter<'_> {
    fn write_chunk(&mut self) -> std::io::Result<()> {
        if self.chunk.is_empty() {
            return Ok(());
        }
        let name = chunk_file_name(self.file, self.n_chunks);
        std::fs::write(self.folder.path.join(&name), &self.chunk)?;
        self.folder.names.push(name);
        self.n_chunks += 1;
        self.chunk.clear();
        Ok(())
    }
}

impl Write for ChunkWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let n = bytes.len().min(self.size - self.chunk.len());
        self.chunk.extend_from_slice(&bytes[..n]);
        if self.chunk.len() == self.size {
            self.write_chunk()?;
        }
        Ok(n)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn to_json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("it has only string keys")
}

/// Reads the summaries of the studies that were exported before; none if there is no index yet.
pub(super) fn read_index(index: &Path) -> Result<Vec<StudySummary>, Error> {
    let way_out = "check the permissions of the file, or choose another folder";
    let bytes = match std::fs::read(index) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Error::io_error_converter(index, way_out)(error)),
    };
    serde_json::from_slice(&bytes).map_err(|it| Error::CorruptData {
        what: index.display().to_string(),
        reason: format!("{it}; choose another folder, or remove the file and export each study"),
    })
}

fn write_json(path: &Path, value: &impl serde::Serialize) -> Result<(), Error> {
    write_atomically(path, remedy::ANOTHER_FOLDER, |file| {
        let mut out = BufWriter::new(file);
        serde_json::to_writer(&mut out, value)?;
        out.flush()
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::read_index;

    #[test]
    fn an_index_that_cannot_be_read_is_not_taken_for_an_empty_one() {
        let folder = tempfile::tempdir().unwrap();
        let index = folder.path().join("index.json");
        assert_eq!(read_index(&index).unwrap(), []);
        fs::write(&index, "[").unwrap();
        let error = read_index(&index).unwrap_err().to_string();
        assert!(error.contains("index.json is damaged"), "{error}");
        assert!(error.contains("choose another folder"), "{error}");
        // A path that is a folder cannot be read, with any permissions.
        fs::remove_file(&index).unwrap();
        fs::create_dir(&index).unwrap();
        let error = read_index(&index).unwrap_err().to_string();
        assert!(error.contains("index.json"), "{error}");
        assert!(error.contains("choose another folder"), "{error}");
    }
}
