//! The demo collection and its study, carried inside the program.

use std::fs;
use std::path::PathBuf;

use shared::collection::{Collection, beir, trec};
use shared::study::Definition;
use shared::whitebox::Head;

use crate::error::Error;
use crate::models::Models;
use crate::pipeline::{self, Looking};
use crate::runtime::with_store;
use crate::store::studies::{Visibility, whitebox};
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
    if let Some(stored) = pipeline::stored_study(folder, &definition.name)
        && stored.collection_hash == collection.hash()
        && stored.scores.len() >= definition.rankers.len()
        && stored.definition.limits == definition.limits
        && stored.definition.probes == definition.probes
    {
        return look_inside(folder, models, &stored.definition, Again::Missing);
    }
    eprintln!("making the demo study; with a neural model this takes a few minutes, once");
    let files = unpack(folder)?;
    let study = pipeline::make_study(definition, collection, &files, folder, models)?;
    with_store(folder, async |store: &Store| {
        store.put_study(&study).await?;
        store
            .set_visibility(&study.definition.name, Visibility::Published)
            .await
    })?;
    look_inside(folder, models, &study.definition, Again::All)
}

/// Which rankers are looked into.
enum Again {
    /// Those that were not.
    Missing,
    /// All, since the study is another.
    All,
}

/// Looks into the rankers of the study that compare piece by piece.
fn look_inside(
    folder: &DataFolder,
    models: &Models,
    definition: &Definition,
    again: Again,
) -> Result<(), Error> {
    /// The least vectors of a piece whose spectrum is taken, as of the command.
    const FLOOR: u64 = 10;

    let known = whitebox::load(folder, &definition.name)?;
    let late = definition.rankers.iter().filter(|it| it.ends_with(":late"));
    for spec in late {
        let is_known = known.iter().any(|it| it.head.ranker.spec == *spec);
        if is_known && matches!(again, Again::Missing) {
            continue;
        }
        let collection = collection()?;
        let index = pipeline::index(&collection, &definition.analyzer)?;
        let ranker = models.get(spec)?;
        let found = pipeline::look(Looking {
            collection: &collection,
            index: &index,
            pool: &definition.pool,
            folder: &folder.demo()?,
            ranker: &ranker,
            before: None,
            head: Head {
                name: definition.name.clone(),
                title: definition.title.clone(),
                collection: definition.collection.clone(),
                pool: definition.pool.to_string(),
                ranker: ranker.about.clone(),
                made: pipeline::today(),
                queries: Vec::new(),
                n_pairs: 0,
                n_texts: 0,
                floor: FLOOR,
            },
        })?;
        whitebox::save(folder, &definition.name, &found)?;
    }
    Ok(())
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
