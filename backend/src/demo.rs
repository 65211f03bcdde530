//! The demo collection and its study, carried inside the program.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use shared::collection::{Collection, beir, trec};
use shared::study::{Definition, Study};
use shared::whitebox::Head;

use crate::error::Error;
use crate::models::Models;
use crate::pipeline::{self, Looking};
use crate::runtime::with_store;
use crate::store::studies::{Visibility, files, whitebox};
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

/// Stands behind the description while the neural rankers are scored.
const IN_PROGRESS: &str =
    " The neural model is being run now, which takes a few minutes; reload the page then.";

/// Makes and publishes the demo study with the formulas, unless it is stored already. Returns what
/// is left to do for its neural rankers, which takes minutes.
pub(crate) fn prepare(
    folder: &DataFolder,
    models: &Arc<Models>,
) -> Result<Option<NeuralPart>, Error> {
    let mut definition = Definition::from_toml("study.toml", STUDY)?;
    let known = models.specs();
    let formula = |spec: &String| spec.starts_with("bm25") || spec.starts_with("ql");
    definition
        .rankers
        .retain(|it| formula(it) || known.contains(it));
    let mut formulas = definition.clone();
    formulas.rankers.retain(formula);
    let is_neural = definition.rankers.len() > formulas.rankers.len();
    formulas.description += if is_neural {
        IN_PROGRESS
    } else {
        " Without the default model there are only the formulas."
    };
    let collection = collection()?;
    let stored = pipeline::stored_study(folder, &definition.name).filter(|stored| {
        stored.collection_hash == collection.hash()
            && stored.definition.limits == definition.limits
            && stored.definition.probes == definition.probes
    });
    let n_scored = stored.as_ref().map_or(0, |it| it.scores.len());
    let is_current = stored.as_ref().is_some_and(|it| {
        n_scored > formulas.rankers.len() || it.definition.description == formulas.description
    });
    if !is_current {
        eprintln!("making the demo study");
        put(folder, &make(formulas, collection, folder, models)?)?;
        with_store(folder, async |store: &Store| {
            let published = Visibility::Published;
            store.set_visibility(&definition.name, published).await
        })?;
    }
    let scored = stored.filter(|it| {
        it.scores.len() >= definition.rankers.len()
            && !it.definition.description.ends_with(IN_PROGRESS)
    });
    let is_scored = scored.is_some();
    let definition = scored.map_or(definition, |it| it.definition);
    Ok(is_neural.then(|| NeuralPart {
        definition,
        is_scored,
        folder: folder.clone(),
        models: models.clone(),
    }))
}

/// What the demo study lacks of its neural rankers.
pub(crate) struct NeuralPart {
    definition: Definition,
    is_scored: bool,
    folder: DataFolder,
    models: Arc<Models>,
}

impl NeuralPart {
    /// Adds it in a thread of its own, which ends with the process. The next start goes on where it
    /// was interrupted.
    pub(crate) fn add_in_background(self) {
        std::thread::spawn(move || {
            if let Err(error) = self.add() {
                eprintln!("the demo study has no neural rankers: {error}");
            }
        });
    }

    fn add(self) -> Result<(), Error> {
        if !self.is_scored {
            eprintln!("scoring the demo study with a neural model; this takes a few minutes, once");
            let mut definition = self.definition.clone();
            definition.description += IN_PROGRESS;
            let mut study = make(definition, collection()?, &self.folder, &self.models)?;
            study.definition.description = self.definition.description.clone();
            files::save(&self.folder, &study)?;
            put(&self.folder, &study)?;
        }
        self.look_inside()?;
        if !self.is_scored {
            eprintln!("the demo study has its neural rankers now; reload its page");
        }
        Ok(())
    }

    /// Looks into the rankers of the study that compare piece by piece: all of them if the study is
    /// new, those that were not looked into otherwise.
    fn look_inside(&self) -> Result<(), Error> {
        /// The least vectors of a piece whose spectrum is taken, as of the command.
        const FLOOR: u64 = 10;

        let definition = &self.definition;
        let known = whitebox::load(&self.folder, &definition.name)?;
        let late = definition.rankers.iter().filter(|it| it.ends_with(":late"));
        for spec in late {
            if self.is_scored && known.iter().any(|it| it.head.ranker.spec == *spec) {
                continue;
            }
            let collection = collection()?;
            let index = pipeline::index(&collection, &definition.analyzer)?;
            let ranker = self.models.get(spec)?;
            let found = pipeline::look(Looking {
                collection: &collection,
                index: &index,
                pool: &definition.pool,
                folder: &self.folder.demo()?,
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
            whitebox::save(&self.folder, &definition.name, &found)?;
        }
        Ok(())
    }
}

/// Makes and stores the demo study.
fn make(
    definition: Definition,
    collection: Collection,
    folder: &DataFolder,
    models: &Models,
) -> Result<Study, Error> {
    let files = unpack(folder)?;
    pipeline::make_study(definition, collection, &files, folder, models)
}

/// Lists a study that is stored.
fn put(folder: &DataFolder, study: &Study) -> Result<(), Error> {
    with_store(folder, async |store: &Store| store.put_study(study).await)
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
