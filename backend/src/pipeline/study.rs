//! A study: made, gone on with, completed, mined again.

use std::path::Path;
use std::sync::Arc;

use rayon::prelude::*;
use shared::collection::{Collection, Qrels};
use shared::index::{Index, IndexBuilder};
use shared::probe::Mined;
use shared::score::{Pairs, RankerAbout, Scores, certificate};
use shared::study::audit::Audit;
use shared::study::make::{Asking, Parts, asked, assemble, check_collection};
use shared::study::{Definition, Study};
use shared::text::Analyzer;
use shared::vectors::{Known, Vectors};

use super::score::{Scoring, read_scores, score, score_all};
use super::{Mining, beside, index, index_tokens, index_with, mine, read_vectors, today};
use crate::config::RankerSpec;
use crate::error::Error;
use crate::models::Models;
use crate::progress::Bar;
use crate::store::DataFolder;
use crate::store::draft::Draft;
use crate::store::studies::files;
use crate::vocabulary;

/// Makes a study, or goes on with one that was interrupted: if what is stored was made from the
/// same definition, collection and software, only what it lacks is scored. A study is the same
/// to the last bit however often its making was interrupted.
pub(crate) fn run_study(
    mut definition: Definition,
    collection: Collection,
    folder: &Path,
    data: &DataFolder,
    models: &Models,
) -> Result<Study, Error> {
    read_vocabularies(&mut definition)?;
    if let Ok(mut stored) = files::load(data, &definition.name)
        && stored.definition == definition
        && stored.software == env!("CARGO_PKG_VERSION")
        && stored.collection_hash == hash_of(&collection, &definition)
        && asks_alike(&stored, &collection)
    {
        let n_added = complete_study(&mut stored, folder, data, models)?;
        eprintln!("the study is there already; rankers that were scored: {n_added}");
        return Ok(stored);
    }
    make_study(definition, collection, folder, data, models)
}

/// Of the collection with the queries of a study.
fn hash_of(collection: &Collection, definition: &Definition) -> String {
    match definition.n_queries {
        Some(most) if most < collection.queries.len() => {
            let mut cut = collection.clone();
            cut.queries.truncate(most);
            cut.hash()
        }
        Some(_) | None => collection.hash(),
    }
}

/// Whether the queries of a stored study are in the same splits and judged alike; neither is part
/// of a collection's hash.
fn asks_alike(stored: &Study, collection: &Collection) -> bool {
    let own = stored.queries.len() - stored.added.n_queries as usize;
    let mut pairs = stored.queries[..own].iter().zip(&collection.queries);
    let grades = |of: &Qrels, id: &str| of.0.get(id).cloned();
    pairs.all(|(old, new)| {
        let id = &old.id;
        old.split == new.split && grades(&stored.qrels, id) == grades(&collection.qrels, id)
    })
}

fn read_vocabularies(definition: &mut Definition) -> Result<(), Error> {
    vocabulary::read_for(&mut definition.analyzer)?;
    let others = definition.audit.iter_mut();
    others.into_iter().try_for_each(vocabulary::read_for)
}

/// Makes a study and stores it, formulas first; models, services and score files are added one
/// by one, so what is scored survives an interruption. What a stored study of this name has of
/// the same rankers on the same pairs is taken over: some of it was paid for.
pub(crate) fn make_study(
    mut definition: Definition,
    mut collection: Collection,
    folder: &Path,
    data: &DataFolder,
    models: &Models,
) -> Result<Study, Error> {
    definition.check()?;
    read_vocabularies(&mut definition)?;
    let rankers = definition.rankers.iter().map(|it| it.parse());
    let rankers = rankers.collect::<Result<Vec<RankerSpec>, Error>>()?;
    if let Some(n_queries) = definition.n_queries {
        collection.queries.truncate(n_queries);
    }
    check_collection(&collection, &definition)?;
    // What a ranker lacks is found before anything is made.
    for ranker in &rankers {
        match ranker {
            RankerSpec::Formula(_) => {}
            RankerSpec::Scores(file) => drop(read_scores(file, folder)?),
            RankerSpec::Model(spec) => drop(models.get(spec)?),
            RankerSpec::Service(it) => it.check()?,
        }
    }
    let vectors = definition.vectors.as_deref();
    let vectors = vectors.map(|it| read_vectors(it, folder)).transpose()?;
    let vectors = vectors.map(Arc::new);
    let mut index = match vectors {
        Some(_) => index_tokens(&collection, &definition.analyzer)?,
        None => index(&collection, &definition.analyzer)?,
    };
    let collection_hash = collection.hash();
    let n_own_docs = collection.docs.len();
    let beside = beside::add(
        &definition,
        &mut collection,
        &mut index,
        (vectors.as_ref(), folder),
    )?;
    beside::tell(&beside);
    let rows = vectors.as_ref().map(|it| it.rows_of(&index));
    let rows = rows.unwrap_or_default();
    let known = vectors.as_ref().map(|it| Known::new(it, &index, &rows));
    let asked = asked(&definition);
    let mining = Mining {
        collection: &collection,
        index: &index,
        known: known.as_ref(),
        pool: &definition.pool,
        folder,
        asked: &asked,
        limits: &definition.limits,
        beside: &beside,
    };
    let (mined, n_without_text) = mine(&mining)?;
    let pairs = Pairs::of_mined(&mined);
    let texts = mined.texts.clone();
    let drafts = data.study(&definition.name)?;
    let scoring = Scoring {
        collection: &collection,
        index: &index,
        texts: &texts,
        pairs: &pairs,
        sample: certificate::sample(&pairs, &mined.instances),
        folder,
        drafts: Some(&drafts),
    };
    let formulas = rankers
        .iter()
        .filter(|it| matches!(it, RankerSpec::Formula(_)));
    let scores = formulas
        .map(|it| Ok(score(&scoring, it, models)?.0))
        .collect::<Result<_, Error>>()?;
    let audits = audits(
        &definition,
        (&collection, n_own_docs),
        vectors.as_deref(),
        &mined,
    )?;
    let parts = Parts {
        audits,
        definition,
        collection: &collection,
        collection_hash,
        beside: &beside,
        index: &index,
        mined,
        pairs: pairs.clone(),
        scores,
        n_without_text,
        known: known.as_ref(),
    };
    let mut study = assemble(parts, &today());
    let others = rankers
        .iter()
        .filter(|it| !matches!(it, RankerSpec::Formula(_)));
    let others: Vec<&RankerSpec> = others.collect();
    let stored = match others.is_empty() {
        true => None,
        false => files::load(data, &study.definition.name).ok(),
    };
    let mut missing = Vec::new();
    for ranker in &others {
        match taken_over(stored.as_ref(), &study, about(ranker, models)?) {
            Some(scores) => {
                eprintln!("{}: its stored scores are taken over", scores.ranker.spec);
                study.add_scores(scores)?;
            }
            None => missing.push((*ranker).clone()),
        }
    }
    // This takes the place of what was stored, so nothing of it is left behind.
    files::save(data, &study)?;
    let name = |it: &RankerSpec| it.name(models);
    let order: Vec<String> = others.iter().map(|it| name(it)).collect();
    score_all(&scoring, &missing, models, |_, scores, draft| {
        study.add_scores(told(scores))?;
        // Formulas have no place here and stay first.
        let place = |it: &Scores| order.iter().position(|name| *name == it.ranker.spec);
        study.scores.sort_by_key(place);
        files::save(data, &study)?;
        draft.discard()
    })?;
    Draft::discard_all(&drafts)?;
    Ok(study)
}

/// What is known of a ranker before it scores, where that decides its scores: of formulas and
/// score files it is nothing, since they are scored anew in no time.
fn about(ranker: &RankerSpec, models: &Models) -> Result<Option<RankerAbout>, Error> {
    match ranker {
        RankerSpec::Formula(_) | RankerSpec::Scores(_) => Ok(None),
        RankerSpec::Model(spec) => Ok(Some(models.get(spec)?.about.clone())),
        RankerSpec::Service(it) => Ok(Some(it.about())),
    }
}

/// The scores of a ranker in a stored study, if that has the same texts and pairs and was made
/// by this version.
fn taken_over(stored: Option<&Study>, study: &Study, about: Option<RankerAbout>) -> Option<Scores> {
    let (stored, about) = (stored?, about?);
    let same = stored.software == study.software
        && stored.collection_hash == study.collection_hash
        && stored.instances_hash == study.instances_hash
        && stored.texts == study.texts
        && stored.pairs == study.pairs
        && stored.queries == study.queries
        && stored.docs == study.docs;
    let found = stored
        .scores
        .iter()
        .find(|it| it.ranker.fingerprint == about.fingerprint && it.n_missing() == 0);
    let mut scores = found.filter(|_| same)?.clone();
    scores.ranker = about;
    Some(scores)
}

/// Says on standard error what a ranker has left out, as a score file may.
fn told(scores: Scores) -> Scores {
    if scores.n_missing() > 0 {
        eprintln!(
            "{}: {} of {} pairs have no score; `axioscope pairs --study` lists them all",
            scores.ranker.spec,
            scores.n_missing(),
            scores.values().len()
        );
    }
    scores
}

/// Asks the other analysers of a study about its instances.
fn audits(
    definition: &Definition,
    (collection, n_own_docs): (&Collection, usize),
    vectors: Option<&Vectors>,
    mined: &Mined,
) -> Result<Vec<Audit>, Error> {
    let asked = asked(definition);
    let audit = |analyzer: &Analyzer| {
        let own = &collection.docs[..n_own_docs];
        let builder = IndexBuilder::new(analyzer.clone());
        let index = match vectors {
            Some(_) => index_with(own, builder.keeping_tokens())?,
            None => index_with(own, builder)?,
        };
        let asking = Asking::new(vectors, collection, &index, definition);
        let known = asking.known();
        let auditor = asking.auditor(known.as_ref(), &asked, mined);
        let bar = Bar::of("audit", collection.queries.len() as u64, "queries");
        let queries = (0..collection.queries.len()).into_par_iter();
        let queries = queries.map(|query| {
            let held = auditor.query(query);
            bar.one_more();
            held
        });
        let queries: Vec<Vec<u64>> = queries.collect();
        Ok(auditor.collect(analyzer.describe(), &queries))
    };
    definition.audit.iter().map(audit).collect()
}

/// The hash of a stored study's instances, mined again.
pub(crate) fn mine_again(
    stored: &Study,
    mut collection: Collection,
    folder: &Path,
) -> Result<String, Error> {
    let mined = mine_defined(&stored.definition, &mut collection, folder)?;
    let query_ids: Vec<&str> = collection.queries.iter().map(|it| it.id.as_str()).collect();
    Ok(mined.hash(&query_ids, |doc| collection.docs[doc as usize].id.clone()))
}

/// The instances of a study that is not made yet; of the collection its queries are left.
pub(crate) fn mine_for(
    mut definition: Definition,
    collection: &mut Collection,
    folder: &Path,
) -> Result<Mined, Error> {
    definition.check()?;
    read_vocabularies(&mut definition)?;
    let mined = mine_defined(&definition, collection, folder)?;
    check_collection(collection, &definition)?;
    Ok(mined)
}

fn mine_defined(
    definition: &Definition,
    collection: &mut Collection,
    folder: &Path,
) -> Result<Mined, Error> {
    if let Some(n_queries) = definition.n_queries {
        collection.queries.truncate(n_queries);
    }
    let vectors = definition.vectors.as_deref();
    let vectors = vectors.map(|it| read_vectors(it, folder)).transpose()?;
    let vectors = vectors.map(Arc::new);
    let mut index = match vectors {
        Some(_) => index_tokens(collection, &definition.analyzer)?,
        None => index(collection, &definition.analyzer)?,
    };
    let beside = beside::add(
        definition,
        collection,
        &mut index,
        (vectors.as_ref(), folder),
    )?;
    let rows = vectors.as_ref().map(|it| it.rows_of(&index));
    let rows = rows.unwrap_or_default();
    let known = vectors.as_ref().map(|it| Known::new(it, &index, &rows));
    let (mined, _) = mine(&Mining {
        collection,
        index: &index,
        known: known.as_ref(),
        pool: &definition.pool,
        folder,
        asked: &asked(definition),
        limits: &definition.limits,
        beside: &beside,
    })?;
    Ok(mined)
}

/// Scores what a stored study lacks of its rankers, and what other weights or another precision
/// have scored; how many were added.
pub(crate) fn complete_study(
    study: &mut Study,
    folder: &Path,
    data: &DataFolder,
    models: &Models,
) -> Result<usize, Error> {
    let drafts = data.study(&study.definition.name)?;
    let mut missing = Vec::new();
    let mut places = Vec::new();
    for spec in &study.definition.rankers {
        let ranker: RankerSpec = spec.parse()?;
        let known = ranker.name(models);
        let place = study.scores.iter().position(|it| it.ranker.spec == known);
        if let Some(at) = place
            && study.scores[at].n_missing() == 0
            && is_of(&study.scores[at].ranker, &ranker, models)?
        {
            continue;
        }
        missing.push(ranker);
        places.push(place);
    }
    if !missing.is_empty() {
        let collection = Collection {
            queries: study.queries.clone(),
            docs: study.docs.clone(),
            qrels: study.qrels.clone(),
        };
        // A model or a score file sees texts, not statistics of the whole collection.
        let index = Index::build(&study.definition.analyzer, [])?;
        let texts = study.texts.clone();
        let pairs = study.pairs.clone();
        let scoring = Scoring {
            collection: &collection,
            index: &index,
            texts: &texts,
            pairs: &pairs,
            sample: certificate::sample(&pairs, &study.instances),
            folder,
            drafts: Some(&drafts),
        };
        score_all(&scoring, &missing, models, |at, scores, draft| {
            let scores = told(scores);
            match places[at] {
                Some(at) => study.scores[at] = scores,
                None => study.add_scores(scores)?,
            }
            files::save(data, study)?;
            draft.discard()
        })?;
    }
    Draft::discard_all(&drafts)?;
    Ok(missing.len())
}

/// Whether stored scores are those of the ranker as it is now; says on standard error where they
/// are not. What is not at hand cannot be compared, and its scores stay.
fn is_of(stored: &RankerAbout, ranker: &RankerSpec, models: &Models) -> Result<bool, Error> {
    let about = match (about(ranker, models), ranker) {
        (Err(error @ Error::Input(_)), RankerSpec::Model(_)) => {
            eprintln!(
                "{}: its stored scores stay, and cannot be compared with a model that is not \
                 here ({error})",
                stored.spec
            );
            return Ok(true);
        }
        (about, _) => about?,
    };
    let same = about
        .as_ref()
        .is_none_or(|it| it.fingerprint == stored.fingerprint);
    if !same {
        let detail = about.map_or_else(String::new, |it| it.detail);
        eprintln!(
            "{}: other weights or another precision have scored ({}), so it is scored again \
             ({detail})",
            stored.spec, stored.detail
        );
    }
    Ok(same)
}
