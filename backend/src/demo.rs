//! The demo collection and its study, carried inside the program.

use std::fs;
use std::path::PathBuf;

use shared::collection::{Collection, beir, trec};
use shared::study::Definition;

use crate::error::Error;
use crate::models::Models;
use crate::pipeline;
use crate::runtime::with_store;
use crate::store::studies::Visibility;
use crate::store::{DataFolder, Store};

const CORPUS: &[u8] = include_bytes!("../../demo/corpus.jsonl");
const QUERIES: &[u8] = include_bytes!("../../demo/queries.jsonl");
const QRELS: &[u8] = include_bytes!("../../demo/qrels.tsv");
const TRANSFERS: [(&str, &str); 6] = [
    (
        "factuality.jsonl",
        include_str!("../../demo/transfer/factuality.jsonl"),
    ),
    (
        "fluency.jsonl",
        include_str!("../../demo/transfer/fluency.jsonl"),
    ),
    (
        "formality.jsonl",
        include_str!("../../demo/transfer/formality.jsonl"),
    ),
    (
        "neutrality.jsonl",
        include_str!("../../demo/transfer/neutrality.jsonl"),
    ),
    (
        "simplicity.jsonl",
        include_str!("../../demo/transfer/simplicity.jsonl"),
    ),
    (
        "summary.jsonl",
        include_str!("../../demo/transfer/summary.jsonl"),
    ),
];
const STUDY: &str = include_str!("../../demo/study.toml");

/// Makes and publishes the demo study, unless it is there with all its rankers. Without a
/// model it has the formulas alone.
pub(crate) fn prepare(folder: &DataFolder, models: &Models) -> Result<(), Error> {
    let mut definition = Definition::from_toml("study.toml", STUDY)?;
    let known = models.specs();
    let formula = |spec: &String| spec.starts_with("bm25") || spec.starts_with("ql");
    definition
        .rankers
        .retain(|it| formula(it) || known.contains(it));
    let collection = collection()?;
    if let Ok(stored) = pipeline::load_study(folder, &definition.name)
        && stored.collection_hash == collection.hash()
        && stored.scores.len() >= definition.rankers.len()
        && stored.definition.limits == definition.limits
        && stored.definition.probes == definition.probes
    {
        return Ok(());
    }
    eprintln!("making the demo study; with a neural model this takes a few minutes, once");
    let files = unpack(folder)?;
    let study = pipeline::make_study(definition, collection, &files, folder, models)?;
    with_store(folder, async |store: &Store| {
        store.put_study(&study).await?;
        store
            .set_visibility(&study.definition.name, Visibility::Published)
            .await
    })
}

/// The folder with the pairs of texts.
fn unpack(folder: &DataFolder) -> Result<PathBuf, Error> {
    let demo = folder.demo()?;
    let transfer = demo.join("transfer");
    let way_out = "make room, or take another data folder by `--data`";
    fs::create_dir_all(&transfer).map_err(Error::file(&transfer, way_out))?;
    for (name, text) in TRANSFERS {
        let path = transfer.join(name);
        fs::write(&path, text).map_err(Error::file(&path, way_out))?;
    }
    Ok(demo)
}

/// The demo collection.
pub(crate) fn collection() -> Result<Collection, Error> {
    let quiet = &mut |_| {};
    let (docs, _) = beir::read_corpus("corpus.jsonl", CORPUS, quiet)?;
    let (queries, _) = beir::read_queries("queries.jsonl", QUERIES, quiet)?;
    let (qrels, _) = trec::read_qrels("qrels.tsv", QRELS, quiet)?;
    Ok(Collection {
        queries,
        docs,
        qrels,
    })
}
