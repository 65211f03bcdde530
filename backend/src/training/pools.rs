//! The candidate pools of queries.

use std::path::Path;

use shared::collection::Collection;
use shared::index::{DocNo, Index};
use shared::probe::CandidatePoolSpec;
use shared::text::Analyzer;

use crate::error::Error;
use crate::pipeline;

/// The documents that are candidates of each query besides those with a judgment, best first if
/// the pool has an order.
#[derive(Default)]
pub(super) struct CandidatePools {
    /// The documents of each query; empty for the pool `judged`.
    pub docs: Vec<Vec<DocNo>>,
    /// The index of the collection, for the pool of a lexical ranker.
    pub index: Option<Index>,
}

impl CandidatePools {
    pub(super) fn compute(
        pool: &CandidatePoolSpec,
        collection: &Collection,
        folder: &Path,
    ) -> Result<CandidatePools, Error> {
        let analyzer = Analyzer::default();
        let index = match pool {
            CandidatePoolSpec::Judged => {
                let (docs, index) = (Vec::new(), None);
                return Ok(CandidatePools { docs, index });
            }
            // Groups need no statistics. All other pools have the documents of the index.
            CandidatePoolSpec::Group => Index::build(&analyzer, [])?,
            CandidatePoolSpec::LexicalRanker { .. }
            | CandidatePoolSpec::Run { .. }
            | CandidatePoolSpec::All => pipeline::build_index(collection, &analyzer)?,
        };
        let docs = pipeline::compute_candidate_pools(pool, collection, &index, folder)?;
        let is_lexical = matches!(pool, CandidatePoolSpec::LexicalRanker { .. });
        let index = is_lexical.then_some(index);
        Ok(CandidatePools { docs, index })
    }

    pub(super) fn docs_of_query(&self, query: usize) -> &[DocNo] {
        self.docs.get(query).map_or(&[], Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use shared::collection::{Document, DocumentFields, Query};

    use super::*;

    #[test]
    fn pools_have_the_documents_of_the_collection() {
        let document = |id: &str| {
            Document::from(DocumentFields {
                id: id.into(),
                title: "".into(),
                text: "a river".into(),
                group: Some(id[..1].into()),
            })
        };
        let query = Query {
            id: "q".to_owned(),
            text: "river".to_owned(),
            group: Some("b".to_owned()),
            split: None,
        };
        let collection = Collection {
            queries: vec![query],
            docs: ["a1", "b1", "b2"].map(document).to_vec(),
            ..Collection::default()
        };
        let folder = tempfile::tempdir().unwrap();
        let run = "q Q0 b2 1 2.5 r\nq Q0 a1 2 1.5 r\nq Q0 b1 3 0.5 r\n";
        std::fs::write(folder.path().join("some.run"), run).unwrap();
        let pool = |pool: &str| {
            let pool = pool.parse().unwrap();
            let pools = CandidatePools::compute(&pool, &collection, folder.path()).unwrap();
            pools.docs_of_query(0).to_vec()
        };
        assert!(pool("judged").is_empty());
        assert_eq!(pool("group"), [1, 2]);
        assert_eq!(pool("all"), [0, 1, 2]);
        assert_eq!(pool("run:some.run:2"), [2, 0]);
        assert_eq!(pool("rank:bm25:2").len(), 2);
    }
}
