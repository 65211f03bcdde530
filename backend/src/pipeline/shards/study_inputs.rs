//! The inputs of a study that executors need to mine it: its definition, the collection, and the
//! other files that the definition names.

use std::borrow::Cow;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use shared::collection::{Collection, Document, Qrels, Query, encode_hex};
use shared::probe::CandidatePoolSpec;
use shared::study::StudyDefinition;
use shared::study::preparation::{PreparedCollection, run_never_waiting_future};

use super::{DEFINITION, ShardInputs, damaged_input, input_name, read_checked};
use crate::collection_files;
use crate::error::{Error, ShardError};
use crate::pipeline::ParallelExecutor;
use crate::pipeline::inputs::read_non_collection_inputs;
use crate::remedy;

/// The definition of a study, with its files among the inputs.
#[derive(Serialize, Deserialize)]
struct DefinitionInput<'a> {
    /// Its definition, in which the names of files are those of inputs.
    definition: Cow<'a, StudyDefinition>,
    /// The inputs with files.
    files: Vec<String>,
    /// The input with the collection.
    collection: String,
}

#[derive(Serialize, Deserialize)]
struct CollectionInput<'a> {
    queries: Cow<'a, [Query]>,
    docs: Cow<'a, [Document]>,
    qrels: Cow<'a, Qrels>,
}

/// The inputs of a study, ready to be stored.
pub(super) struct StudyInputFiles {
    /// Name and content of each input.
    pub(super) inputs: Vec<(String, Vec<u8>)>,
}

impl StudyInputFiles {
    /// Collects the inputs of a study whose vocabularies have been loaded, with the queries that it
    /// uses. Files are looked up in the folder of the collection.
    pub(super) fn collect(
        definition: &StudyDefinition,
        collection: &Collection,
        folder: &Path,
    ) -> Result<StudyInputFiles, Error> {
        let mut inputs = Vec::new();
        let mut files = Vec::new();
        let mut own = definition.clone();
        // Only the driver uses these.
        own.title.clone_from(&own.name);
        own.description.clear();
        own.audit.clear();
        own.train.clear();
        for (n, file) in files_of(&mut own).into_iter().enumerate() {
            let path = collection_files::resolve_input_file_path(file, folder)?;
            // The ending says how a file is packed, and word vectors by it which layout they have.
            let ending = path.file_name().unwrap_or_default().to_string_lossy();
            let ending: String = ending.chars().filter(|it| is_of_name(*it)).collect();
            let content = read_file(&path)?;
            let name = format!("{}-{ending}", input_name(&format!("file-{n}"), &content));
            inputs.push((name.clone(), content));
            file.clone_from(&name);
            files.push(name);
        }
        let content = CollectionInput {
            queries: Cow::Borrowed(&collection.queries),
            docs: Cow::Borrowed(&collection.docs),
            qrels: Cow::Borrowed(&collection.qrels),
        };
        let content = json(&content)?;
        let collection = input_name("collection", &content);
        inputs.push((collection.clone(), content));
        let head = DefinitionInput {
            definition: Cow::Owned(own),
            files,
            collection,
        };
        inputs.push((DEFINITION.to_owned(), json(&head)?));
        Ok(StudyInputFiles { inputs })
    }

    /// Returns the SHA-256 of all inputs and of some settings, in hex.
    pub(super) fn hash_with_settings(&self, settings: &[String]) -> String {
        let mut hasher = Sha256::new();
        let mut part = |bytes: &[u8]| {
            hasher.update((bytes.len() as u64).to_le_bytes());
            hasher.update(bytes);
        };
        settings.iter().for_each(|it| part(it.as_bytes()));
        for (name, content) in &self.inputs {
            part(name.as_bytes());
            part(content);
        }
        encode_hex(&hasher.finalize())
    }
}

/// Reads the inputs of a study and prepares its collection.
pub(super) fn prepare_collection(
    inputs: &dyn ShardInputs,
) -> Result<(StudyDefinition, PreparedCollection), ShardError> {
    let head: DefinitionInput<'static> = from_json(inputs, DEFINITION)?;
    let mut definition = head.definition.into_owned();
    let content: CollectionInput<'static> = from_json(inputs, &head.collection)?;
    let collection = Collection {
        queries: content.queries.into_owned(),
        docs: content.docs.into_owned(),
        qrels: content.qrels.into_owned(),
    };
    let folder = tempfile::tempdir().map_err(|error| {
        ShardError::transient(format!("there is no folder for temporary files: {error}"))
    })?;
    let store = |name: &str| {
        let path = folder.path().join(name);
        fs::write(&path, read_checked(inputs, name)?)
            .map_err(|error| ShardError::transient(format!("{}: {error}", path.display())))?;
        Ok::<PathBuf, ShardError>(path)
    };
    for name in &head.files {
        store(name)?;
    }
    for file in files_of(&mut definition) {
        *file = folder.path().join(&*file).display().to_string();
    }
    let files = read_non_collection_inputs(&definition, &collection, folder.path())?;
    let mut cores = ParallelExecutor::default();
    let prepared =
        PreparedCollection::prepare_for_study(&definition, collection, files, &mut cores);
    Ok((definition.clone(), run_never_waiting_future(prepared)?))
}

/// Returns the names of all files in a definition that are needed for mining.
fn files_of(definition: &mut StudyDefinition) -> Vec<&mut String> {
    let run = match &mut definition.pool {
        CandidatePoolSpec::Run { file, .. } => Some(file),
        CandidatePoolSpec::LexicalRanker { .. }
        | CandidatePoolSpec::Group
        | CandidatePoolSpec::Judged
        | CandidatePoolSpec::All => None,
    };
    let lookups = &mut definition.lookups;
    let single = [
        run,
        definition.vectors.as_mut(),
        lookups.stop_words.as_mut(),
        lookups.misspellings.as_mut(),
        lookups.expansions.as_mut(),
    ];
    let transfers = definition.transfers.iter_mut().map(|it| &mut it.file);
    single.into_iter().flatten().chain(transfers).collect()
}

fn is_of_name(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '.' | '-' | '_')
}

fn read_file(path: &Path) -> Result<Vec<u8>, Error> {
    fs::read(path).map_err(Error::io_error_converter(path, remedy::CHECK_PATH))
}

fn json<T: Serialize>(value: &T) -> Result<Vec<u8>, Error> {
    serde_json::to_vec(value).map_err(|error| Error::CorruptData {
        what: "the definition or the collection of the study".to_owned(),
        reason: error.to_string(),
    })
}

fn from_json<T: serde::de::DeserializeOwned>(
    inputs: &dyn ShardInputs,
    name: &str,
) -> Result<T, ShardError> {
    serde_json::from_slice(&read_checked(inputs, name)?)
        .map_err(|error| damaged_input(name, &error.to_string()))
}
