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
        // Only a lexical ranker needs the statistics of the collection.
        let index = match pool {
            CandidatePoolSpec::Judged => {
                let (docs, index) = (Vec::new(), None);
                return Ok(CandidatePools { docs, index });
            }
            CandidatePoolSpec::LexicalRanker { .. } => {
                pipeline::build_index(collection, &analyzer)?
            }
            CandidatePoolSpec::Run { .. } | CandidatePoolSpec::Group | CandidatePoolSpec::All => {
                Index::build(&analyzer, [])?
            }
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
