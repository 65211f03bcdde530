//! Candidate pools: the documents of a query that are compared with each other.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::collection::{Collection, Run};
use crate::error::{Error, ErrorFieldName, serialize_as_text};
use crate::index::{DocNo, Index};
use crate::rank::LexicalRanker;
use crate::rank::max_score::TopKSearcher;

/// How the documents of a query are chosen. Serialized as `run:FILE:K`, `rank:RANKER:K`, `group`,
/// `judged`, `all`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum CandidatePoolSpec {
    /// The first `k` documents of a run, by rank and document id.
    Run {
        /// The run file, which the caller reads.
        file: String,
        /// The number of documents.
        depth: usize,
    },
    /// The first `k` documents of a lexical ranker.
    LexicalRanker {
        /// The lexical ranker that orders the collection, with its parameters.
        ranker: LexicalRanker,
        /// The number of documents.
        depth: usize,
    },
    /// The documents in the group of the query.
    Group,
    /// The documents with a judgment for the query.
    Judged,
    /// Every document, for small collections.
    All,
}

impl CandidatePoolSpec {
    /// The default pool of studies and of the command line.
    pub const DEFAULT: &str = "rank:bm25:100";

    /// The maximum number of documents for pool `all`.
    pub const MAX_DOCS_FOR_ALL: usize = 5000;

    /// Describes the pool as a page shows it, such as `BM25 top 50`; the text form of the pool has
    /// the parameters of the ranker.
    pub fn describe(&self) -> String {
        match self {
            CandidatePoolSpec::Run { file, depth } => format!("run {file}, top {depth}"),
            CandidatePoolSpec::LexicalRanker { ranker, depth } => {
                format!("{} top {depth}", ranker.display_name_and_parameters().0)
            }
            CandidatePoolSpec::Group => "all documents in the query's group".to_owned(),
            CandidatePoolSpec::Judged => "all judged documents".to_owned(),
            CandidatePoolSpec::All => "all documents".to_owned(),
        }
    }

    /// Returns an error if the pool cannot be made from a collection.
    pub fn validate_for_collection(&self, collection: &Collection) -> Result<(), Error> {
        let refuse = |reason: &str| {
            Err(Error::unsupported_value(
                ErrorFieldName::with_display_name("pool", format!("pool {self}")),
                reason,
            ))
        };
        match self {
            CandidatePoolSpec::Run { depth: 0, .. }
            | CandidatePoolSpec::LexicalRanker { depth: 0, .. } => refuse("k must be at least 1"),
            CandidatePoolSpec::All
                if collection.docs.len() > CandidatePoolSpec::MAX_DOCS_FOR_ALL =>
            {
                refuse("the collection is too large to compare all documents; use rank:bm25:100")
            }
            CandidatePoolSpec::Group if collection.queries.iter().all(|it| it.group.is_none()) => {
                refuse("no query has a `doc_group`; use rank:bm25:100 or provide the groups")
            }
            CandidatePoolSpec::Judged if collection.qrels.0.is_empty() => {
                refuse("the collection has no qrels; use rank:bm25:100 or add qrels")
            }
            CandidatePoolSpec::Run { .. }
            | CandidatePoolSpec::LexicalRanker { .. }
            | CandidatePoolSpec::Group
            | CandidatePoolSpec::Judged
            | CandidatePoolSpec::All => Ok(()),
        }
    }
}

/// Chooses the candidate pools of a collection's queries.
pub struct CandidatePoolSelector<'a> {
    collection: &'a Collection,
    index: &'a Index,
    /// The number of each document by id, without derived documents.
    numbers: BTreeMap<&'a str, DocNo>,
    source: PoolSource<'a>,
}

/// The source of the documents of a pool.
enum PoolSource<'a> {
    /// The run and the number of documents to take.
    Run(&'a Run, usize),
    /// The searcher and the number of documents to take.
    Searcher(TopKSearcher, usize),
    Group,
    Judged,
    All,
}

impl<'a> CandidatePoolSelector<'a> {
    /// Prepares the pools of a collection and its index. The run is that of
    /// [`CandidatePoolSpec::Run`]; returns an error if it is needed and missing.
    pub fn from_pool_spec(
        pool: &CandidatePoolSpec,
        run: Option<&'a Run>,
        collection: &'a Collection,
        index: &'a Index,
    ) -> Result<CandidatePoolSelector<'a>, Error> {
        let source = match (pool, run) {
            (CandidatePoolSpec::Run { depth: k, .. }, Some(run)) => PoolSource::Run(run, *k),
            (CandidatePoolSpec::Run { file, .. }, None) => {
                return Err(Error::name_not_found("run", file));
            }
            (CandidatePoolSpec::LexicalRanker { ranker, depth: k }, _) => {
                PoolSource::Searcher(TopKSearcher::for_lexical_ranker(index, *ranker), *k)
            }
            (CandidatePoolSpec::Group, _) => PoolSource::Group,
            (CandidatePoolSpec::Judged, _) => PoolSource::Judged,
            (CandidatePoolSpec::All, _) => PoolSource::All,
        };
        let own = collection.docs[..index.n_docs()].iter().zip(0..);
        Ok(CandidatePoolSelector {
            collection,
            index,
            numbers: own.map(|(doc, number)| (doc.id(), number)).collect(),
            source,
        })
    }

    /// Returns the documents of a query, best first if the pool has an order, and the number of
    /// documents in the run or the judgments that the collection lacks.
    pub fn pool_and_missing_doc_count(&self, query: usize) -> (Vec<DocNo>, u64) {
        let query = &self.collection.queries[query];
        let known = |ids: Vec<&str>| {
            let number = |id: &&str| self.numbers.get(*id).copied();
            let found: Vec<DocNo> = ids.iter().filter_map(number).collect();
            let missing = (ids.len() - found.len()) as u64;
            (found, missing)
        };
        match &self.source {
            PoolSource::Run(run, k) => known(run.top_documents(&query.id, *k)),
            PoolSource::Searcher(searcher, k) => {
                let terms = self.index.query_term_statistics(&query.text);
                let hits = searcher.search(self.index, &terms, *k).into_iter();
                (hits.map(|it| it.doc).collect(), 0)
            }
            PoolSource::Judged => {
                let judged = self.collection.qrels.0.get(&query.id).into_iter().flatten();
                known(judged.map(|it| it.0.as_str()).collect())
            }
            PoolSource::Group => {
                let docs = self.collection.docs.iter().zip(0..);
                let same = docs
                    .filter(|it| it.0.group().is_some() && it.0.group() == query.group.as_deref());
                (same.map(|it| it.1).collect(), 0)
            }
            PoolSource::All => ((0..self.index.n_docs() as DocNo).collect(), 0),
        }
    }
}

impl std::str::FromStr for CandidatePoolSpec {
    type Err = Error;

    fn from_str(spec: &str) -> Result<CandidatePoolSpec, Error> {
        let field = || ErrorFieldName::with_display_name("pool", format!("pool {spec}"));
        let refuse = |reason: String| Error::malformed_value(field(), reason);
        let count = |word: &str| match word.parse::<usize>() {
            Ok(k) if k >= 1 => Ok(k),
            _ => Err(Error::unparsable_value(
                field(),
                word,
                "a whole number from 1",
            )),
        };
        match spec.split_once(':') {
            None => match spec {
                "group" => Ok(CandidatePoolSpec::Group),
                "judged" | "qrels" => Ok(CandidatePoolSpec::Judged),
                "all" => Ok(CandidatePoolSpec::All),
                _ => Err(refuse(
                    "is not one of run:FILE:K, rank:RANKER:K, group, judged, all".to_owned(),
                )),
            },
            Some((kind @ ("run" | "rank"), rest)) => {
                let Some((what, k)) = rest.rsplit_once(':') else {
                    return Err(refuse(format!("has no depth; write {kind}:…:100")));
                };
                let k = count(k)?;
                Ok(match kind {
                    "run" => CandidatePoolSpec::Run {
                        file: what.to_owned(),
                        depth: k,
                    },
                    _ => CandidatePoolSpec::LexicalRanker {
                        ranker: what.parse()?,
                        depth: k,
                    },
                })
            }
            Some((other, _)) => Err(refuse(format!("`{other}` is neither run nor rank"))),
        }
    }
}

impl std::fmt::Display for CandidatePoolSpec {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            CandidatePoolSpec::Run { file, depth: k } => write!(out, "run:{file}:{k}"),
            CandidatePoolSpec::LexicalRanker { ranker, depth: k } => {
                write!(out, "rank:{ranker}:{k}")
            }
            CandidatePoolSpec::Group => write!(out, "group"),
            CandidatePoolSpec::Judged => write!(out, "judged"),
            CandidatePoolSpec::All => write!(out, "all"),
        }
    }
}

serialize_as_text!(CandidatePoolSpec);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pool_is_written_as_it_is_read() {
        for spec in [
            "run:BM25.run:100",
            "run:C:/runs/a.run:5",
            "rank:bm25:k1=1.2,b=0.75,k3=inf,idf=lucene:50",
            "group",
            "judged",
            "all",
        ] {
            assert_eq!(spec.parse::<CandidatePoolSpec>().unwrap().to_string(), spec);
        }
        let alias: CandidatePoolSpec = "qrels".parse().unwrap();
        assert_eq!(alias, CandidatePoolSpec::Judged);
        let short: CandidatePoolSpec = "rank:bm25:50".parse().unwrap();
        assert_eq!(
            short.to_string(),
            "rank:bm25:k1=1.2,b=0.75,k3=inf,idf=lucene:50"
        );
    }

    #[test]
    fn a_pool_is_described_without_parameters() {
        let described = |spec: &str| spec.parse::<CandidatePoolSpec>().unwrap().describe();
        assert_eq!(described("rank:bm25:k1=0.9,b=0.4:50"), "BM25 top 50");
        assert_eq!(described("run:BM25.run:100"), "run BM25.run, top 100");
        assert_eq!(described("judged"), "all judged documents");
    }

    #[test]
    fn no_documents_is_no_pool() {
        let says = |spec: &str| spec.parse::<CandidatePoolSpec>().unwrap_err().to_string();
        assert_eq!(
            says("rank:bm25:0"),
            "pool rank:bm25:0: `0` is not a whole number from 1"
        );
        assert_eq!(
            says("run:BM25.run"),
            "pool run:BM25.run: has no depth; write run:…:100"
        );
    }
}
