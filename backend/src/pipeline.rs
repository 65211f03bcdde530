//! One function for each stage: load, compute (over all cores), store, report progress.
//!
//! A shard is a query; shards are computed in any order and put together in the order of
//! queries, so threads change no bit.

mod beside;
mod expand;
mod score;
mod study;
mod whitebox;

use std::path::Path;

use rayon::prelude::*;
use shared::collection::trec::Unknown;
use shared::collection::{Collection, Doc, Ranked, Run};
use shared::index::{DocNo, Index, IndexBuilder};
use shared::probe::beside::Beside;
use shared::probe::mine::{Miner, Pooled, QueryMined};
use shared::probe::pool::Supply;
use shared::probe::{Limits, Mined, Mode, Pool, Probe};
use shared::rank::Ranker;
use shared::rank::top::Searcher;
use shared::study::Study;
use shared::study::cell::{Listing, Page};
use shared::study::make::source;
use shared::text::Analyzer;
use shared::vectors::glove::{Corpus, Settings, Trainer};
use shared::vectors::{Known, Vectors};

use crate::error::Error;
use crate::import;
use crate::progress::Bar;
use crate::store::DataFolder;
use crate::store::studies::files;
pub(crate) use expand::{Expanded, Expansion, expand};
pub(crate) use score::{Scoring, cost, score, score_model, score_service};
pub(crate) use study::{complete_study, make_study, mine_again, mine_for, run_study};
pub(crate) use whitebox::{Looking, look};

/// Analyses and indexes a collection.
pub(crate) fn index(collection: &Collection, analyzer: &Analyzer) -> Result<Index, Error> {
    index_with(&collection.docs, IndexBuilder::new(analyzer.clone()))
}

/// As [`index`], with the tokens that word vectors are looked up by.
pub(crate) fn index_tokens(collection: &Collection, analyzer: &Analyzer) -> Result<Index, Error> {
    index_with(
        &collection.docs,
        IndexBuilder::new(analyzer.clone()).keeping_tokens(),
    )
}

fn index_with(docs: &[Doc], mut builder: IndexBuilder) -> Result<Index, Error> {
    let bar = Bar::of("index", docs.len() as u64, "documents");
    for doc in docs {
        builder.add(&doc.body());
        bar.one_more();
    }
    Ok(builder.finish()?)
}

/// Counts which words are neighbours, documents in parts on all cores.
pub(crate) fn count_neighbours(index: &Index, settings: Settings) -> Result<Trainer<'_>, Error> {
    let corpus = Corpus::new(index, settings)?;
    let n_docs = corpus.n_docs();
    let part = n_docs
        .div_ceil(rayon::current_num_threads() as DocNo)
        .max(1);
    let parts: Vec<_> = (0..n_docs).step_by(part as usize).collect();
    let counted = parts
        .into_par_iter()
        .map(|from| corpus.count(from..(from + part).min(n_docs)));
    let counted = counted.collect();
    Ok(Trainer::new(corpus, counted))
}

/// The word vectors of a file, which lies where runs may lie.
pub(crate) fn read_vectors(file: &str, folder: &Path) -> Result<Vectors, Error> {
    let path = import::locate(file, folder)?;
    let (vectors, reading) = import::with_bar(&path, |name, bytes, progress| {
        shared::vectors::read(name, bytes, progress)
    })?;
    import::tell(&reading);
    Ok(vectors)
}

/// What is mined, and from where.
pub(crate) struct Mining<'a> {
    /// With the queries that count.
    pub collection: &'a Collection,
    /// Of the whole collection.
    pub index: &'a Index,
    /// Word vectors, for the axioms that need them.
    pub known: Option<&'a Known<'a>>,
    /// Which documents are compared.
    pub pool: &'a Pool,
    /// Where its files are looked for.
    pub folder: &'a Path,
    /// What is looked for.
    pub asked: &'a [(Probe, Mode)],
    /// Bounds.
    pub limits: &'a Limits,
    /// What was added to the collection.
    pub beside: &'a Beside,
}

/// All instances, and how many documents of the pools are not in the collection.
pub(crate) fn mine(mining: &Mining<'_>) -> Result<(Mined, u64), Error> {
    let mut all = Vec::new();
    let n_without_text = mine_in_parts(mining, |_, shards| {
        all.extend(shards);
        Ok(())
    })?;
    Ok((Mined::collect(mining.asked, all), n_without_text))
}

/// Queries whose instances are in memory at once.
const QUERIES_A_PART: usize = 64;

/// Calls `take` with the first query and the shards of a few queries after the other; says how
/// many documents of the pools are not in the collection.
pub(crate) fn mine_in_parts(
    mining: &Mining<'_>,
    mut take: impl FnMut(usize, Vec<QueryMined>) -> Result<(), Error>,
) -> Result<u64, Error> {
    let Mining {
        collection,
        index,
        known,
        pool,
        folder,
        asked,
        limits,
        beside,
    } = mining;
    pool.check(collection)?;
    limits.check()?;
    let run = match pool {
        Pool::Run { file, .. } => {
            let (run, reading) = import::read_run(file, folder)?;
            import::tell(&reading);
            tell_misfit(file, &run, collection);
            Some(run)
        }
        Pool::Rank { .. } | Pool::Group | Pool::Judged | Pool::All => None,
    };
    let source = source(pool, run, index);
    let numbers = collection.doc_numbers();
    let number = |id: &str| numbers.get(id).copied();
    let supply = Supply {
        collection,
        index,
        source: &source,
    };
    let miner = Miner {
        index,
        known: *known,
        asked,
        limits,
    };
    let bar = Bar::of("mine", collection.queries.len() as u64, "queries");
    let mut n_without_text = 0;
    let n_queries = collection.queries.len();
    for from in (0..n_queries).step_by(QUERIES_A_PART) {
        let shards: Vec<_> = (from..n_queries.min(from + QUERIES_A_PART))
            .into_par_iter()
            .map(|query| {
                let is_own = query < n_queries - beside.added.n_queries as usize;
                let (docs, missing) = match is_own {
                    true => pool.docs_of(query, &number, &supply),
                    false => (Vec::new(), 0),
                };
                let shard = miner.mine(&Pooled {
                    query: &collection.queries[query].text,
                    docs: &docs,
                    grades: &collection.grades(query, &docs),
                    beside: beside.of(query),
                });
                bar.one_more();
                (shard, missing)
            })
            .collect();
        n_without_text += shards.iter().map(|it| it.1).sum::<u64>();
        take(from, shards.into_iter().map(|it| it.0).collect())?;
    }
    Ok(n_without_text)
}

/// Says on standard error what a run and a collection do not know of each other.
fn tell_misfit(file: &str, run: &Run, collection: &Collection) {
    // Queries that were left out on purpose are not told.
    let queries = collection.queries.iter();
    let ranked = queries.filter_map(|it| run.0.get_key_value(&it.id));
    let ranked = Run(ranked
        .map(|(id, rows)| (id.clone(), rows.clone()))
        .collect());
    let (n_ranked, n_queries) = (ranked.0.len(), collection.queries.len());
    if n_ranked < n_queries {
        eprintln!("{file}: it ranks documents for {n_ranked} of {n_queries} queries");
    }
    let unknown = Unknown::in_run(&ranked, collection);
    if !unknown.is_empty() {
        eprintln!("{file}: {unknown}");
    }
}

/// One page of the instances of a cell, on all cores.
pub(crate) fn list(study: &Study, listing: &Listing) -> Result<Page, shared::error::Error> {
    let lister = study.lister(listing)?;
    let parts = lister.parts(rayon::current_num_threads());
    let counted: Vec<_> = parts.into_par_iter().map(|it| lister.count(it)).collect();
    let plan = lister.plan(&counted);
    let picked = plan.wanted.par_iter().map(|it| lister.pick(it)).collect();
    Ok(lister.page(&plan, picked))
}

/// The best `k` documents of each query.
pub(crate) fn rank(collection: &Collection, index: &Index, ranker: &Ranker, k: usize) -> Run {
    let searcher = Searcher::new(index, *ranker);
    let ranked = |query: &shared::collection::Query| {
        let hits = searcher.top(index, &index.query_terms(&query.text), k);
        let rows = hits.iter().enumerate().map(|(at, hit)| Ranked {
            doc: collection.docs[hit.doc as usize].id.clone(),
            rank: at as i64 + 1,
            score: hit.score,
        });
        (query.id.clone(), rows.collect())
    };
    Run(collection.queries.par_iter().map(ranked).collect())
}

/// A stored study.
pub(crate) fn load_study(folder: &DataFolder, name: &str) -> Result<Study, Error> {
    files::load(folder, name)
}

/// The date in UTC: `2026-11-20`.
pub(crate) fn today() -> String {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let days = since.map_or(0, |it| it.as_secs() / 86_400);
    jiff::civil::date(1970, 1, 1)
        .checked_add(jiff::Span::new().days(days as i64))
        .map_or_else(|_| "1970-01-01".to_owned(), |it| it.to_string())
}
