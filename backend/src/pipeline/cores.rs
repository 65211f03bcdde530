//! The executor of the program: all cores, with a bar on a terminal.

use std::ops::Range;

use rayon::prelude::*;
use shared::study::prepare::{Executor, Progress, Stage};

use crate::error::Error;
use crate::progress::Bar;

/// Queries that are mined at once: there may be more instances than memory.
const QUERIES_AT_ONCE: usize = 64;

/// Computes the shards of a step on all cores.
#[derive(Default)]
pub(crate) struct AllCores {
    /// The step that is not done, with its bar.
    step: Option<(Stage, Bar)>,
}

impl Executor for AllCores {
    type Error = Error;

    fn shards_at_once(&self, stage: Stage) -> usize {
        match stage {
            Stage::Mine => QUERIES_AT_ONCE,
            Stage::Index | Stage::Derive => usize::MAX,
            Stage::AuditIndex | Stage::Audit | Stage::Score => usize::MAX,
        }
    }

    fn compute<T: Send>(&self, shards: Range<usize>, shard: impl Fn(usize) -> T + Sync) -> Vec<T> {
        let bar = self.step.as_ref().map(|it| &it.1);
        let shards = shards.into_par_iter().map(|number| {
            let result = shard(number);
            if let Some(bar) = bar {
                bar.one_more();
            }
            result
        });
        shards.collect()
    }

    async fn report(&mut self, progress: Progress) -> Result<(), Error> {
        let (name, unit) = match progress.stage {
            Stage::Index | Stage::AuditIndex => ("index", "documents"),
            Stage::Derive => ("make", "queries"),
            Stage::Mine => ("mine", "queries"),
            Stage::Audit => ("audit", "queries"),
            Stage::Score => ("score", "queries"),
        };
        let step = self.step.take().filter(|it| it.0 == progress.stage);
        if progress.done < progress.of {
            let bar = step.map_or_else(|| Bar::of(name, progress.of, unit), |it| it.1);
            bar.at(progress.done);
            self.step = Some((progress.stage, bar));
        }
        Ok(())
    }
}
