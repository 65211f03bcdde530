//! Recognizes collections by the file names of their distribution.

use std::path::{Path, PathBuf};

use shared::collection::wikipassageqa;
use shared::collection::{Collection, Qrels};
use shared::error::FileReadReport;

use super::{
    CollectionFileOverrideArgs, CollectionWithReadReport, CorpusFileLayout, found,
    read_with_progress,
};
use crate::error::Error;

/// A corpus file with the pairs of query and qrels files that are distributed with it. The first
/// pair that exists is used.
struct Distribution {
    corpus: &'static str,
    layout: CorpusFileLayout,
    queries: &'static [[&'static str; 2]],
}

const DISTRIBUTIONS: [Distribution; 2] = [
    Distribution {
        corpus: "msmarco-docs.tsv",
        layout: CorpusFileLayout::Documents,
        queries: &[
            ["msmarco-docdev-queries.tsv", "msmarco-docdev-qrels.tsv"],
            ["msmarco-test2019-queries.tsv", "2019qrels-docs.txt"],
            ["msmarco-test2020-queries.tsv", "2020qrels-docs.txt"],
            ["msmarco-doctrain-queries.tsv", "msmarco-doctrain-qrels.tsv"],
        ],
    },
    Distribution {
        corpus: "collection.tsv",
        layout: CorpusFileLayout::Passages,
        queries: &[
            ["queries.dev.small.tsv", "qrels.dev.small.tsv"],
            ["msmarco-test2019-queries.tsv", "2019qrels-pass.txt"],
            ["msmarco-test2020-queries.tsv", "2020qrels-pass.txt"],
            ["queries.train.tsv", "qrels.train.tsv"],
        ],
    },
];

/// The file with the articles of WikiPassageQA.
const ARTICLES: &str = "document_passages.json";

/// Recognizes the layout of a folder by its file names. Returns `None` for BEIR and for unknown
/// names.
pub(super) fn detect_layout_from_file_names(folder: &Path) -> Option<CorpusFileLayout> {
    if found(folder, "corpus.jsonl").is_ok() {
        return None;
    }
    if found(folder, ARTICLES).is_ok() {
        return Some(CorpusFileLayout::Wikipassageqa);
    }
    let known = DISTRIBUTIONS.iter();
    let there = known.filter(|it| found(folder, it.corpus).is_ok());
    there.map(|it| it.layout).next()
}

/// Fills in the files that were not given and exist under the names of a distribution.
pub(super) fn complete_file_args_from_folder(
    folder: &Path,
    layout: CorpusFileLayout,
    files: &CollectionFileOverrideArgs,
) -> CollectionFileOverrideArgs {
    let mut files = CollectionFileOverrideArgs {
        corpus: files.corpus.clone(),
        layout: Some(layout),
        queries: files.queries.clone(),
        qrels: files.qrels.clone(),
    };
    let Some(known) = DISTRIBUTIONS.iter().find(|it| it.layout == layout) else {
        return files;
    };
    files.corpus = files.corpus.or_else(|| found(folder, known.corpus).ok());
    for [queries, qrels] in known.queries {
        let named = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name == *queries
                || name
                    .strip_prefix(queries)
                    .is_some_and(|it| it.starts_with('.'))
        };
        let path = match &files.queries {
            Some(path) => Some(path.clone()).filter(named),
            None => found(folder, queries).ok(),
        };
        if let Some(path) = path {
            files.queries = Some(path);
            files.qrels = files.qrels.or_else(|| found(folder, qrels).ok());
            break;
        }
    }
    files
}

/// Reads WikiPassageQA: the articles, and the questions of each split that exists.
pub(super) fn load_wikipassageqa(folder: &Path) -> Result<CollectionWithReadReport, Error> {
    let mut reading = FileReadReport::default();
    let articles = found(folder, ARTICLES)?;
    let (docs, of_docs) =
        read_with_progress(&articles, wikipassageqa::read_wikipassageqa_passages)?;
    reading.merge(of_docs);
    let mut collection = Collection {
        docs,
        queries: Vec::new(),
        qrels: Qrels::default(),
    };
    for split in ["train", "dev", "test"] {
        let Ok(path) = found(folder, &format!("{split}.tsv")) else {
            continue;
        };
        let (queries, qrels, of_split) = read_with_progress(&path, |file| {
            wikipassageqa::read_wikipassageqa_questions(file, split)
        })?;
        reading.merge(of_split);
        collection.queries.extend(queries);
        collection.qrels.0.extend(qrels.0);
    }
    if collection.queries.is_empty() {
        return Err(Error::FileNotFound {
            file: "train.tsv, dev.tsv or test.tsv".to_owned(),
            looked_in: folder.to_owned(),
        });
    }
    let unknown = shared::collection::trec::UnknownCollectionIds::find_in_qrels(
        &collection.qrels,
        &collection,
    );
    Ok(CollectionWithReadReport {
        collection,
        report: reading,
        unknown_ids: vec![("qrels", unknown)],
        folder: folder.to_owned(),
    })
}
