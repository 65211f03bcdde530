//! Runs the stages of a study on all cores, with a progress bar on terminals, or takes the results
//! of those that other machines compute.

use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;
use shared::index::column_storage::ColumnStorage;
use shared::study::preparation::{
    MinedQuery, ShardExecutor, StudyPreparationProgress, StudyPreparationStage,
};

use super::shards::DistributedStudy;
use crate::error::Error;
use crate::progress::ProgressBar;

/// Number of queries that are mined at once, since all instances may not fit into memory.
const QUERIES_AT_ONCE: usize = 64;

/// Computes the shards of a stage on all cores.
#[derive(Default)]
pub(crate) struct ParallelExecutor {
    /// The stage in progress, with its progress bar.
    step: Option<(StudyPreparationStage, ProgressBar)>,
    column_storage: Option<Arc<dyn ColumnStorage>>,
    /// The machines that compute the shards of the study, if there are others than this one.
    distributed: Option<Arc<DistributedStudy>>,
}

impl ParallelExecutor {
    /// Creates an executor whose indexes have their large columns in storage, if there is any.
    pub(crate) fn with_column_storage(
        column_storage: Option<Arc<dyn ColumnStorage>>,
    ) -> ParallelExecutor {
        ParallelExecutor {
            column_storage,
            ..ParallelExecutor::default()
        }
    }

    /// Has the queries of a study mined by other machines.
    pub(super) fn set_distributed_study(&mut self, distributed: Arc<DistributedStudy>) {
        self.distributed = Some(distributed);
    }
}

impl ShardExecutor for ParallelExecutor {
    /// The error type of this crate.
    type Error = Error;

    fn shards_at_once(&self, stage: StudyPreparationStage) -> usize {
        match stage {
            StudyPreparationStage::Mine => QUERIES_AT_ONCE,
            StudyPreparationStage::Index | StudyPreparationStage::DeriveDocuments => usize::MAX,
            StudyPreparationStage::AuditIndex
            | StudyPreparationStage::Audit
            | StudyPreparationStage::Score => usize::MAX,
        }
    }

    fn compute<T: Send>(&self, shards: Range<usize>, shard: impl Fn(usize) -> T + Sync) -> Vec<T> {
        let bar = self.step.as_ref().map(|it| &it.1);
        let shards = shards.into_par_iter().map(|number| {
            let result = shard(number);
            if let Some(bar) = bar {
                bar.increment();
            }
            result
        });
        shards.collect()
    }

    fn column_storage(&self) -> Option<Arc<dyn ColumnStorage>> {
        self.column_storage.clone()
    }

    fn mine_queries_elsewhere(
        &mut self,
        n_queries: usize,
        take: &mut dyn FnMut(Vec<MinedQuery>) -> Result<(), Error>,
    ) -> Option<Result<(), Error>> {
        let distributed = self.distributed.as_ref()?;
        Some(distributed.mine_queries(n_queries, take))
    }

    fn take_lexical_scores(&mut self, ranker: usize) -> Option<Vec<Vec<f64>>> {
        self.distributed.as_ref()?.take_lexical_scores(ranker)
    }

    async fn report(&mut self, progress: StudyPreparationProgress) -> Result<(), Error> {
        let (name, unit) = match progress.stage {
            StudyPreparationStage::Index | StudyPreparationStage::AuditIndex => {
                ("index", "documents")
            }
            StudyPreparationStage::DeriveDocuments => ("make", "queries"),
            StudyPreparationStage::Mine => ("mine", "queries"),
            StudyPreparationStage::Audit => ("audit", "queries"),
            StudyPreparationStage::Score => ("score", "rankings"),
        };
        let step = self.step.take().filter(|it| it.0 == progress.stage);
        if progress.done < progress.total {
            let bar = step.map_or_else(
                || ProgressBar::with_unit(name, progress.total, unit),
                |it| it.1,
            );
            bar.set_position(progress.done);
            self.step = Some((progress.stage, bar));
        }
        Ok(())
    }
}
