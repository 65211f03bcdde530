//! Making a study step by step: index, choose and mine, score with formulas.
//!
//! The browser calls [`Maker::step`] until it is done and can stop, say how far it is and
//! answer others in between; the backend runs the same shards on all cores and ends with
//! the same [`assemble`].

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::audit::{Audit, Auditor};
use super::{Definition, Study, TermStats, Words};
use crate::collection::{Collection, Qrels, Query, Run};
use crate::error::Error;
use crate::index::{DocNo, Index, IndexBuilder};
use crate::probe::beside::{Beside, Bodies, Made, Workshop};
use crate::probe::manipulation::Tools;
use crate::probe::mine::{Miner, Pooled, QueryMined};
use crate::probe::pool::{Source, Supply};
use crate::probe::transfer::Pairs as TransferPairs;
use crate::probe::{Limits, Mined, Mode, Pool, Probe};
use crate::rank::Ranker;
use crate::rank::top::Searcher;
use crate::score::{Pairs, Scores, lexical};
use crate::text::Analyzer;
use crate::vectors::{Known, RowNo, Synonyms, Vectors};

/// Documents read between two reports of progress.
const DOCS_A_STEP: usize = 500;

/// A part of the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// In documents.
    Index,
    /// In queries: texts beside the collection.
    Make,
    /// In queries.
    Mine,
    /// In documents, all analysers of the audit one after the other.
    Audit,
    /// In queries, all rankers one after the other.
    Score,
    /// Nothing is left to do.
    Done,
}

/// How far the work is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// What was worked on.
    pub stage: Stage,
    /// In the unit of the stage.
    pub done: u64,
    /// Of so many.
    pub of: u64,
    /// Instances found so far.
    pub n_found: u64,
}

/// A study in the making.
pub struct Maker {
    collection: Collection,
    definition: Definition,
    asked: Vec<(Probe, Mode)>,
    rankers: Vec<Ranker>,
    numbers: BTreeMap<String, DocNo>,
    /// Of the collection as it came.
    hash: String,
    n_own_queries: usize,
    tools: Tools,
    sets: Vec<TransferPairs>,
    beside: Beside,
    /// Until the pool is chosen.
    run: Option<Run>,
    /// With the places of the index's tokens, once there is an index.
    vectors: Option<(Arc<Vectors>, Vec<Option<RowNo>>)>,
    n_found: u64,
    n_without_text: u64,
    work: Work,
}

/// What a definition names beside its collection.
#[derive(Default)]
pub struct Brought {
    /// The run of a pool that names one.
    pub run: Option<Run>,
    /// The word vectors.
    pub vectors: Option<Arc<Vectors>>,
    /// What manipulations look up.
    pub tools: Tools,
    /// The pairs of each transfer set.
    pub sets: Vec<TransferPairs>,
}

/// What is at hand in each stage.
enum Work {
    Index(Box<IndexBuilder>),
    Make(Box<Index>, Source, Bodies, Vec<Vec<Made>>),
    Mine(Box<Index>, Source, Vec<QueryMined>),
    Audit(Box<Scoring>, Box<IndexBuilder>),
    Score(Box<Scoring>),
    Done(Box<Scoring>),
    /// After an error.
    Broken,
}

struct Scoring {
    index: Box<Index>,
    mined: Mined,
    audits: Vec<Audit>,
    pairs: Pairs,
    /// Of the ranker after those in `scores`.
    shards: Vec<Vec<f64>>,
    scores: Vec<Scores>,
}

impl Maker {
    /// Begins a study whose rankers are formulas.
    pub fn new(
        mut collection: Collection,
        definition: Definition,
        brought: Brought,
    ) -> Result<Maker, Error> {
        let Brought {
            run,
            vectors,
            mut tools,
            sets,
        } = brought;
        definition.check()?;
        definition.analyzer.check()?;
        definition.audit.iter().try_for_each(Analyzer::check)?;
        if let Some(n_queries) = definition.n_queries {
            collection.queries.truncate(n_queries);
        }
        check_collection(&collection, &definition)?;
        if let (Pool::Run { file, .. }, None) = (&definition.pool, &run) {
            return Err(Error::unknown("run", file));
        }
        if let (Some(file), None) = (&definition.vectors, &vectors) {
            return Err(Error::unknown("word vectors", file));
        }
        for file in &definition.transfers {
            let of = file.transfer()?;
            if sets.iter().all(|it| it.of != of) {
                return Err(Error::unknown("transfer set", &file.name));
            }
        }
        let rankers = definition.rankers.iter().map(|it| it.parse());
        let rankers = rankers.collect::<Result<Vec<Ranker>, Error>>()?;
        if let Some(vectors) = &vectors {
            tools.set_synonyms(Synonyms::new(vectors.clone(), definition.analyzer.clone()));
        }
        let builder = builder(&definition.analyzer, vectors.is_some());
        let numbers = collection.doc_numbers();
        let numbers = numbers
            .into_iter()
            .map(|(id, number)| (id.to_owned(), number))
            .collect();
        Ok(Maker {
            asked: asked(&definition),
            work: Work::Index(Box::new(builder)),
            vectors: vectors.map(|it| (it, Vec::new())),
            hash: collection.hash(),
            n_own_queries: collection.queries.len(),
            tools,
            sets,
            beside: Beside::default(),
            collection,
            definition,
            rankers,
            numbers,
            run,
            n_found: 0,
            n_without_text: 0,
        })
    }

    /// Does the next piece of work and says how far it is.
    pub fn step(&mut self) -> Result<Progress, Error> {
        let work = std::mem::replace(&mut self.work, Work::Broken);
        let (work, stage, done, of) = match work {
            Work::Index(builder) => self.index_some(builder)?,
            Work::Make(index, source, bodies, made) => {
                self.make_one(index, (source, bodies), made)?
            }
            Work::Mine(index, source, shards) => self.mine_one(index, source, shards)?,
            Work::Audit(scoring, builder) => self.audit_some(scoring, builder)?,
            Work::Score(scoring) => self.score_one(scoring)?,
            Work::Done(scoring) => (Work::Done(scoring), Stage::Done, 1, 1),
            Work::Broken => {
                return Err(Error::unsupported("study", "an error has ended its making"));
            }
        };
        self.work = work;
        Ok(Progress {
            stage,
            done: done as u64,
            of: of as u64,
            n_found: self.n_found,
        })
    }

    /// The study, once [`Maker::step`] has said [`Stage::Done`].
    pub fn finish(self, made: &str) -> Result<Study, Error> {
        let Work::Done(scoring) = self.work else {
            return Err(Error::unsupported("study", "it is not made to its end"));
        };
        let Scoring {
            index,
            mined,
            audits,
            pairs,
            scores,
            ..
        } = *scoring;
        let known = known(&self.vectors, &index);
        let parts = Parts {
            known: known.as_ref(),
            definition: self.definition,
            collection: &self.collection,
            collection_hash: self.hash,
            beside: &self.beside,
            index: &index,
            mined,
            pairs,
            scores,
            audits,
            n_without_text: self.n_without_text,
        };
        Ok(assemble(parts, made))
    }

    fn index_some(&mut self, mut builder: Box<IndexBuilder>) -> Result<Stepped, Error> {
        let n_docs = self.collection.docs.len();
        let from = builder.n_docs();
        let to = n_docs.min(from + DOCS_A_STEP);
        self.collection.docs[from..to]
            .iter()
            .for_each(|it| builder.add(&it.body()));
        if to < n_docs {
            return Ok((Work::Index(builder), Stage::Index, to, n_docs));
        }
        let index = Box::new(builder.finish()?);
        let source = source(&self.definition.pool, self.run.take(), &index);
        let bodies = Bodies::of(&self.collection);
        let next = Work::Make(index, source, bodies, Vec::new());
        Ok((next, Stage::Index, to, n_docs))
    }

    /// The documents of a query's pool, and how many the collection lacks.
    fn pool_of(&self, query: usize, index: &Index, source: &Source) -> (Vec<DocNo>, u64) {
        if query >= self.n_own_queries {
            return (Vec::new(), 0);
        }
        let numbers = |id: &str| self.numbers.get(id).copied();
        let supply = Supply {
            collection: &self.collection,
            index,
            source,
        };
        self.definition.pool.docs_of(query, &numbers, &supply)
    }

    fn make_one(
        &mut self,
        mut index: Box<Index>,
        (source, bodies): (Source, Bodies),
        mut made: Vec<Vec<Made>>,
    ) -> Result<Stepped, Error> {
        let query = made.len();
        if self.makes() && query < self.n_own_queries {
            let workshop = Workshop {
                collection: &self.collection,
                index: &index,
                bodies: &bodies,
                asked: &self.asked,
                tools: &self.tools,
                limits: &self.definition.limits,
            };
            let (pool, _) = self.pool_of(query, &index, &source);
            made.push(workshop.make(query, &pool));
            let next = Work::Make(index, source, bodies, made);
            return Ok((next, Stage::Make, query + 1, self.n_own_queries));
        }
        let seed = self.definition.limits.seed;
        let (collection, sets) = (&mut self.collection, &self.sets);
        self.beside = Beside::add(collection, &mut index, &self.asked, (made, sets, seed));
        if let Some((vectors, rows)) = &mut self.vectors {
            *rows = vectors.rows_of(&index);
        }
        let n = self.n_own_queries;
        Ok((Work::Mine(index, source, Vec::new()), Stage::Make, n, n))
    }

    /// Whether texts are made of those of the collection.
    fn makes(&self) -> bool {
        let mut asked = self.asked.iter();
        asked.any(|it| matches!(it.0, Probe::Manipulation(_)))
    }

    fn mine_one(
        &mut self,
        index: Box<Index>,
        source: Source,
        mut shards: Vec<QueryMined>,
    ) -> Result<Stepped, Error> {
        let n_queries = self.collection.queries.len();
        let query = shards.len();
        if query < n_queries {
            let (pool, missing) = self.pool_of(query, &index, &source);
            self.n_without_text += missing;
            let text = &self.collection.queries[query].text;
            let known = known(&self.vectors, &index);
            let miner = Miner {
                index: &index,
                known: known.as_ref(),
                asked: &self.asked,
                limits: &self.definition.limits,
            };
            let shard = miner.mine(&Pooled {
                query: text,
                docs: &pool,
                grades: &self.collection.grades(query, &pool),
                beside: self.beside.of(query),
            });
            self.n_found += shard.n_instances(&self.asked);
            shards.push(shard);
        }
        let done = shards.len();
        if done < n_queries {
            return Ok((
                Work::Mine(index, source, shards),
                Stage::Mine,
                done,
                n_queries,
            ));
        }
        let mined = Mined::collect(&self.asked, shards);
        let pairs = Pairs::of_mined(&mined);
        let scoring = Scoring {
            index,
            mined,
            audits: Vec::new(),
            pairs,
            shards: Vec::new(),
            scores: Vec::new(),
        };
        let next = self.next_audit(Box::new(scoring));
        Ok((next, Stage::Mine, done, n_queries))
    }

    /// What comes after the instances and so many audits.
    fn next_audit(&self, scoring: Box<Scoring>) -> Work {
        match self.definition.audit.get(scoring.audits.len()) {
            Some(analyzer) => {
                let builder = builder(analyzer, self.vectors.is_some());
                Work::Audit(scoring, Box::new(builder))
            }
            None => Work::Score(scoring),
        }
    }

    fn audit_some(
        &mut self,
        mut scoring: Box<Scoring>,
        mut builder: Box<IndexBuilder>,
    ) -> Result<Stepped, Error> {
        let n_docs = self.collection.docs.len() - self.beside.added.n_docs as usize;
        let of = n_docs * self.definition.audit.len();
        let from = builder.n_docs();
        let to = (from + DOCS_A_STEP).min(n_docs);
        for doc in &self.collection.docs[from..to] {
            builder.add(&doc.body());
        }
        let done = scoring.audits.len() * n_docs + to;
        if to < n_docs {
            return Ok((Work::Audit(scoring, builder), Stage::Audit, done, of));
        }
        let index = builder.finish()?;
        let vectors = self.vectors.as_ref().map(|it| it.0.as_ref());
        let asking = Asking::new(vectors, &self.collection, &index, &self.definition);
        let known = asking.known();
        let auditor = asking.auditor(known.as_ref(), &self.asked, &scoring.mined);
        let queries = 0..self.collection.queries.len();
        let queries: Vec<_> = queries.map(|it| auditor.query(it)).collect();
        let analyzer = &self.definition.audit[scoring.audits.len()];
        let audit = auditor.collect(analyzer.describe(), &queries);
        scoring.audits.push(audit);
        Ok((self.next_audit(scoring), Stage::Audit, done, of))
    }

    fn score_one(&mut self, mut scoring: Box<Scoring>) -> Result<Stepped, Error> {
        let n_queries = self.collection.queries.len();
        let of = n_queries * self.rankers.len();
        let Some(ranker) = self.rankers.get(scoring.scores.len()) else {
            return Ok((Work::Done(scoring), Stage::Score, of, of));
        };
        let query = scoring.shards.len();
        if query < n_queries {
            let texts = lexical::texts_of(&scoring.pairs, &scoring.mined.texts, query);
            let text = &self.collection.queries[query].text;
            let shard = lexical::score_query(&scoring.index, ranker, text, texts);
            scoring.shards.push(shard);
        }
        if scoring.shards.len() == n_queries {
            let shards = std::mem::take(&mut scoring.shards);
            scoring
                .scores
                .push(lexical::collect(ranker, shards, &scoring.pairs)?);
        }
        let done = scoring.scores.len() * n_queries + scoring.shards.len();
        Ok((Work::Score(scoring), Stage::Score, done, of))
    }
}

/// Begins the index of an analyser.
fn builder(analyzer: &Analyzer, with_vectors: bool) -> IndexBuilder {
    let builder = IndexBuilder::new(analyzer.clone());
    match with_vectors {
        true => builder.keeping_tokens(),
        false => builder,
    }
}

/// What an audit is made with, over the index of another analyser.
pub struct Asking<'a> {
    collection: &'a Collection,
    index: &'a Index,
    vectors: Option<(&'a Vectors, Vec<Option<RowNo>>)>,
    limits: Limits,
}

impl<'a> Asking<'a> {
    /// The index must keep tokens if there are vectors.
    pub fn new(
        vectors: Option<&'a Vectors>,
        collection: &'a Collection,
        index: &'a Index,
        definition: &Definition,
    ) -> Asking<'a> {
        Asking {
            collection,
            index,
            vectors: vectors.map(|it| (it, it.rows_of(index))),
            limits: Limits {
                per_query: None,
                ..definition.limits
            },
        }
    }

    /// The vectors beside this index.
    pub fn known(&self) -> Option<Known<'_>> {
        let (vectors, rows) = self.vectors.as_ref()?;
        Some(Known::new(vectors, self.index, rows))
    }

    /// Asks about what was mined.
    pub fn auditor<'b>(
        &'b self,
        known: Option<&'b Known<'b>>,
        asked: &'b [(Probe, Mode)],
        mined: &'b Mined,
    ) -> Auditor<'b> {
        let miner = Miner {
            index: self.index,
            known,
            asked,
            limits: &self.limits,
        };
        Auditor {
            miner,
            mined,
            collection: self.collection,
        }
    }
}

fn known<'a>(
    vectors: &'a Option<(Arc<Vectors>, Vec<Option<RowNo>>)>,
    index: &'a Index,
) -> Option<Known<'a>> {
    let (vectors, rows) = vectors.as_ref()?;
    Some(Known::new(vectors, index, rows))
}

/// The next state, and what to report.
type Stepped = (Work, Stage, usize, usize);

/// Every axiom in every mode of a study, modes first; then its behaviours, which have one.
pub fn asked(definition: &Definition) -> Vec<(Probe, Mode)> {
    let modes = definition.modes.iter();
    let axioms = modes.flat_map(|&mode| definition.axioms().map(move |it| (it, mode)));
    let behaviours = definition.behaviours().map(|it| (it, Mode::Fixed));
    axioms.chain(behaviours).collect()
}

/// What a pool is chosen with.
pub fn source(pool: &Pool, run: Option<Run>, index: &Index) -> Source {
    match (pool, run) {
        (Pool::Run { .. }, Some(run)) => Source::Run(run),
        (Pool::Rank { ranker, .. }, _) => Source::Searcher(Searcher::new(index, *ranker)),
        (Pool::Run { .. } | Pool::Group | Pool::Judged | Pool::All, _) => Source::Nothing,
    }
}

/// Refuses a collection that a study cannot be made of.
pub fn check_collection(collection: &Collection, definition: &Definition) -> Result<(), Error> {
    let refuse = |reason: &str| Err(Error::missing("collection", reason));
    if collection.docs.is_empty() {
        return refuse("it has no documents; give a corpus with at least two");
    }
    if collection.queries.is_empty() {
        return refuse("it has no queries; give at least one");
    }
    definition.pool.check(collection)
}

/// [`Study::overlap`].
fn overlaps(collection: &Collection, index: &Index) -> Vec<Option<f64>> {
    let numbers = collection.doc_numbers();
    let overlap = |query: &Query| {
        let terms = index.query_terms(&query.text);
        let grades = collection.qrels.0.get(&query.id)?.iter();
        let relevant = grades.filter(|it| *it.1 >= 1);
        let shares = relevant.filter_map(|(doc, _)| {
            let held = index.terms(*numbers.get(doc.as_str())?);
            let n_held = terms
                .iter()
                .filter(|it| it.number.is_some_and(|it| held.contains(&it)));
            Some(n_held.count() as f64 / terms.len() as f64)
        });
        let shares: Vec<f64> = shares.collect();
        let known = !shares.is_empty() && !terms.is_empty();
        known.then(|| shares.iter().sum::<f64>() / shares.len() as f64)
    };
    collection.queries.iter().map(overlap).collect()
}

/// What a study is put together from.
pub struct Parts<'a> {
    /// As written.
    pub definition: Definition,
    /// With the queries of the study, and with what was added to it.
    pub collection: &'a Collection,
    /// [`Collection::hash`], before something was added.
    pub collection_hash: String,
    /// What was added.
    pub beside: &'a Beside,
    /// Of the whole collection.
    pub index: &'a Index,
    /// Over document numbers of the collection.
    pub mined: Mined,
    /// [`Pairs::of_mined`].
    pub pairs: Pairs,
    /// One for each ranker.
    pub scores: Vec<Scores>,
    /// One for each analyser of the audit.
    pub audits: Vec<Audit>,
    /// Documents that the pool names and the collection lacks.
    pub n_without_text: u64,
    /// Word vectors, if the definition names a file of them.
    pub known: Option<&'a Known<'a>>,
}

/// Puts a study together: from here on only its own documents are needed.
pub fn assemble(parts: Parts<'_>, made: &str) -> Study {
    let Parts {
        definition,
        collection,
        collection_hash,
        beside,
        index,
        mut mined,
        pairs,
        scores,
        audits,
        n_without_text,
        known,
    } = parts;
    let query_ids: Vec<&str> = collection.queries.iter().map(|it| it.id.as_str()).collect();
    let instances_hash = mined.hash(&query_ids, |doc| collection.docs[doc as usize].id.clone());

    let pooled: BTreeSet<DocNo> = mined.texts.iter().map(|it| it.doc()).collect();
    let place: BTreeMap<DocNo, DocNo> = pooled
        .iter()
        .enumerate()
        .map(|(place, &doc)| (doc, place as DocNo))
        .collect();
    // Documents keep their order, so texts stay sorted.
    mined
        .texts
        .iter_mut()
        .for_each(|it| *it = it.with_doc(place[&it.doc()]));

    let vocabulary = index.vocabulary();
    let mut terms: BTreeMap<String, TermStats> = BTreeMap::new();
    let in_docs = pooled
        .iter()
        .flat_map(|&it| index.terms(it).iter().copied());
    let in_queries = collection
        .queries
        .iter()
        .flat_map(|it| index.query_terms(&it.text));
    let in_queries = in_queries.filter_map(|it| it.number);
    let numbers: BTreeSet<u32> = in_docs.chain(in_queries).collect();
    for number in numbers {
        let stats = TermStats {
            df: index.df(number),
            cf: index.cf(number),
        };
        terms.insert(vocabulary.term(number).to_owned(), stats);
    }

    let overlap = overlaps(collection, index);
    let words = known.map(|it| Words {
        about: it.about(definition.vectors.as_deref().unwrap_or_default()),
        vectors: it.only(pooled.iter().copied(), &collection.queries),
    });
    let asked_for = |id: &&str| {
        collection
            .qrels
            .0
            .get(*id)
            .map(|it| ((*id).to_owned(), it.clone()))
    };
    let qrels = Qrels(query_ids.iter().filter_map(asked_for).collect());
    Study {
        format: 1,
        definition,
        made: made.to_owned(),
        software: env!("CARGO_PKG_VERSION").to_owned(),
        collection_hash,
        instances_hash,
        totals: index.totals(),
        terms,
        docs: pooled
            .iter()
            .map(|&it| collection.docs[it as usize].clone())
            .collect(),
        queries: collection.queries.clone(),
        qrels,
        texts: mined.texts,
        pools: mined.pools,
        instances: mined.instances,
        pairs,
        scores,
        n_without_text,
        words,
        overlap,
        audits,
        withheld: None,
        added: beside.added,
        kept: beside.kept.clone(),
        lengths: super::dials::Lengths::default(),
    }
}
