//! Reads the files that a study definition names in addition to its collection: runs, word vectors,
//! lookup tables of manipulations, and transfer sets.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use shared::collection::lines::read_decompressed_text;
use shared::collection::trec::UnknownCollectionIds;
use shared::collection::{Collection, Run};
use shared::probe::CandidatePoolSpec;
use shared::probe::manipulation::ManipulationWordLists;
use shared::probe::transfer::TransferPairSet;
use shared::study::preparation::ParsedInputFiles;
use shared::study::{ManipulationLookupFiles, Study, StudyDefinition};
use shared::word_vectors::WordVectors;

use super::study::StudyReplacementPolicy;
use crate::collection_files;
use crate::error::Error;
use crate::store::checksum;

/// Reads the run of a candidate pool and the word vectors, and prints warnings about their rows on
/// standard error.
pub(crate) fn read_run_and_word_vectors(
    pool: &CandidatePoolSpec,
    vectors: Option<&str>,
    collection: &Collection,
    folder: &Path,
) -> Result<ParsedInputFiles, Error> {
    let vectors = vectors.map(|it| read_vectors(it, folder)).transpose()?;
    let run = match pool {
        CandidatePoolSpec::Run { file, .. } => {
            let (run, reading) = collection_files::resolve_and_read_run(file, folder)?;
            collection_files::print_reader_warnings(&reading);
            tell_misfit(file, &run, collection);
            Some(run)
        }
        CandidatePoolSpec::LexicalRanker { .. }
        | CandidatePoolSpec::Group
        | CandidatePoolSpec::Judged
        | CandidatePoolSpec::All => None,
    };
    Ok(ParsedInputFiles {
        run,
        vectors: vectors.map(Arc::new),
        ..ParsedInputFiles::default()
    })
}

/// Same as [`read_run_and_word_vectors`], with the inputs of the behavioral tests of a study.
pub(super) fn read_non_collection_inputs(
    definition: &StudyDefinition,
    collection: &Collection,
    folder: &Path,
) -> Result<ParsedInputFiles, Error> {
    let vectors = definition.vectors.as_deref();
    Ok(ParsedInputFiles {
        lookup_tables: tools(&definition.lookups, folder)?,
        transfer_sets: sets(definition, folder)?,
        ..read_run_and_word_vectors(&definition.pool, vectors, collection, folder)?
    })
}

/// Returns the SHA-256 of each file that a definition names besides the collection. Files that
/// cannot be read are left out.
pub(super) fn input_checksums(
    definition: &StudyDefinition,
    folder: &Path,
) -> BTreeMap<String, String> {
    let checksum = |file: &str| {
        let path = collection_files::resolve_input_file_path(file, folder).ok()?;
        Some((file.to_owned(), checksum::file_checksum(&path).ok()?))
    };
    definition.input_files().filter_map(checksum).collect()
}

/// Returns whether the files that a stored study was made from besides the collection are as they
/// were; if not, prints their names on standard error. Files that cannot be read are not compared.
/// A study of an earlier version has no checksums, and with [`StudyReplacementPolicy::Replace`] its
/// files count as changed, so that it is made again.
pub(super) fn has_same_input_files(
    stored: &Study,
    folder: &Path,
    finished: StudyReplacementPolicy,
) -> bool {
    let unknown = finished == StudyReplacementPolicy::Replace;
    let before = &stored.input_checksums;
    let is_changed =
        |(file, sum): &(&String, &String)| before.get(*file).map_or(unknown, |known| known != *sum);
    let now = input_checksums(&stored.definition, folder);
    let changed: Vec<&str> = now
        .iter()
        .filter(is_changed)
        .map(|it| it.0.as_str())
        .collect();
    if !changed.is_empty() {
        let files = changed.join(", ");
        eprintln!("{files}: changed since the study was made, so it is made again");
    }
    changed.is_empty()
}

fn read_vectors(file: &str, folder: &Path) -> Result<WordVectors, Error> {
    let path = collection_files::resolve_input_file_path(file, folder)?;
    let (vectors, reading) =
        collection_files::read_with_progress(&path, shared::word_vectors::read_word_vectors)?;
    collection_files::print_reader_warnings(&reading);
    Ok(vectors)
}

/// Prints on standard error how many queries a run does not rank, and its unknown ids.
fn tell_misfit(file: &str, run: &Run, collection: &Collection) {
    // Queries that were excluded on purpose are not reported.
    let queries = collection.queries.iter();
    let ranked = queries.filter_map(|it| run.0.get_key_value(&it.id));
    let ranked = Run(ranked
        .map(|(id, rows)| (id.clone(), rows.clone()))
        .collect());
    let (n_ranked, n_queries) = (ranked.0.len(), collection.queries.len());
    if n_ranked < n_queries {
        eprintln!("{file}: it ranks documents for {n_ranked} of {n_queries} queries");
    }
    let unknown = UnknownCollectionIds::find_in_run(&ranked, collection);
    if !unknown.is_empty() {
        eprintln!("{file}: {unknown}");
    }
}

/// Reads the lookup tables of manipulations.
fn tools(lookups: &ManipulationLookupFiles, folder: &Path) -> Result<ManipulationWordLists, Error> {
    let mut tools = ManipulationWordLists::default();
    let read = |file: &str| {
        let path = collection_files::resolve_input_file_path(file, folder)?;
        let text = collection_files::read_with_progress(&path, read_decompressed_text)?;
        Ok::<_, Error>((path.display().to_string(), text))
    };
    if let Some(file) = &lookups.stop_words {
        tools.set_stop_words(&read(file)?.1);
    }
    if let Some(file) = &lookups.misspellings {
        let (name, text) = read(file)?;
        tools.set_misspellings(&name, &text)?;
    }
    if let Some(file) = &lookups.expansions {
        let (name, text) = read(file)?;
        let expansions = shared::collection::document_pairs::read_generated_queries(&name, &text)?;
        tools.set_doc2query_expansions(expansions.into_iter().collect::<BTreeMap<_, _>>());
    }
    Ok(tools)
}

/// Reads the pairs of all transfer sets.
fn sets(definition: &StudyDefinition, folder: &Path) -> Result<Vec<TransferPairSet>, Error> {
    let read = |file: &shared::study::TransferSetFile| {
        let path = collection_files::resolve_input_file_path(&file.file, folder)?;
        let (pairs, reading) = collection_files::read_with_progress(
            &path,
            shared::collection::document_pairs::read_dataset_transfer_pairs,
        )?;
        let expected = "the pairs of a transfer set, as `axioscope transfer` writes them";
        collection_files::ensure_some_row_is_read(&path, &reading, expected)?;
        collection_files::print_reader_warnings(&reading);
        Ok(TransferPairSet {
            transfer: file.dataset_transfer_test()?,
            query_source: file.query_source,
            pairs,
        })
    };
    definition.transfers.iter().map(read).collect()
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    #[test]
    fn packed_word_lists_are_those_that_were_packed() {
        let [plain, packed] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        for (name, text) in [
            ("stops.txt", "the\nof\n"),
            ("typos.tsv", "rivver\triver\n\nbnak\tbank\n"),
            (
                "queries.jsonl",
                "{\"_id\": \"d1\", \"queries\": [\"river\"]}\n",
            ),
        ] {
            fs::write(plain.path().join(name), text).unwrap();
            let file = File::create(packed.path().join(format!("{name}.gz"))).unwrap();
            let mut gzip = GzEncoder::new(file, Compression::fast());
            gzip.write_all(text.as_bytes()).unwrap();
            gzip.finish().unwrap();
        }
        let lookups = ManipulationLookupFiles {
            stop_words: Some("stops.txt".to_owned()),
            misspellings: Some("typos.tsv".to_owned()),
            expansions: Some("queries.jsonl".to_owned()),
        };
        let [plain, packed] =
            [plain, packed].map(|it| format!("{:?}", tools(&lookups, it.path()).unwrap()));
        assert!(plain.contains("rivver"), "{plain}");
        assert_eq!(plain, packed);
    }
}
