//! A cache of studies and of what was computed from them.

use std::sync::Arc;

use axum::body::Bytes;
use shared::late_interaction::LateInteractionAnalysisWithRankerSlug;
use shared::study::Study;
use shared::study::controls::StudyPageControls;
use shared::study::overview::{StudyOverview, StudySummary};
use tokio::sync::{Mutex, MutexGuard};

use crate::cache::{ComputationSlots, LruComputationCache};
use crate::error::{Error, run_blocking};
use crate::http::content_coding::ContentCoding;
use crate::pipeline;
use crate::store::DataFolder;
use crate::store::studies::StudyListEntry;
use crate::store::studies::instance_orders::InstanceOrders;
use crate::store::studies::late_interaction::{self, AnalysisFileVersion};

/// Maximum number of studies in memory.
const STUDIES: usize = 8;

/// Maximum number of cached overviews.
const OVERVIEWS: usize = 256;

/// Maximum number of cached summaries.
const SUMMARIES: usize = 1_000;

/// Maximum number of studies whose late-interaction analyses are in memory.
const STUDIES_WITH_ANALYSES: usize = 8;

/// Maximum number of cached exports.
const EXPORTS: usize = 32;

/// Maximum size of the cached exports in bytes; the most recent one stays even if it is larger.
const EXPORT_BYTES: usize = 256 << 20;

/// Caches studies, their sorted instances, summaries, overviews, late-interaction analyses and
/// exports, by study and revision. Whatever is not cached is computed in a slot. Also lets one
/// request at a time change a study.
pub(in crate::http) struct StudyCache {
    folder: DataFolder,
    slots: ComputationSlots,
    studies: LruComputationCache<Version, Arc<Study>>,
    orders: LruComputationCache<Version, Arc<InstanceOrders>>,
    summaries: LruComputationCache<Version, StudySummary>,
    overviews: LruComputationCache<(Version, String), StudyOverview>,
    analyses: LruComputationCache<
        (Version, Vec<AnalysisFileVersion>),
        Arc<Vec<LateInteractionAnalysisWithRankerSlug>>,
    >,
    exports: LruComputationCache<(Version, ContentCoding), Bytes>,
    /// Held while the files and the row of a study are changed.
    changes: Mutex<()>,
}

/// Name and revision of a study.
type Version = (String, i64);

impl StudyCache {
    pub(in crate::http) fn new(folder: DataFolder, slots: ComputationSlots) -> StudyCache {
        StudyCache {
            folder,
            slots,
            studies: LruComputationCache::with_max_values(STUDIES),
            orders: LruComputationCache::with_max_values(STUDIES),
            summaries: LruComputationCache::with_max_values(SUMMARIES),
            overviews: LruComputationCache::with_max_values(OVERVIEWS),
            analyses: LruComputationCache::with_max_values(STUDIES_WITH_ANALYSES),
            exports: LruComputationCache::with_max_weight(EXPORTS, EXPORT_BYTES, Bytes::len),
            changes: Mutex::new(()),
        }
    }

    /// Returns the data folder that has the studies.
    pub(super) fn folder(&self) -> &DataFolder {
        &self.folder
    }

    /// Waits for the turn to change a study, held until the result is dropped.
    pub(super) async fn acquire_change_turn(&self) -> MutexGuard<'_, ()> {
        self.changes.lock().await
    }

    /// Returns the summary of a study with its present visibility.
    pub(super) async fn summary(&self, listed: &StudyListEntry) -> Result<StudySummary, Error> {
        let prepare = self.prepare(listed, |study| Ok(study.summary(false)?));
        let summary = self.summaries.get_or_compute(version(listed), prepare);
        let summary = summary.await?;
        Ok(StudySummary {
            is_published: listed.is_published,
            ..summary
        })
    }

    /// Returns the overview of a study for a state of its controls.
    pub(super) async fn overview(
        &self,
        listed: &StudyListEntry,
        controls: StudyPageControls,
    ) -> Result<StudyOverview, Error> {
        let state = serde_json::to_string(&controls).expect("controls are JSON");
        let prepare = self.prepare(listed, move |study| Ok(study.overview(&controls)?));
        self.overviews
            .get_or_compute((version(listed), state), prepare)
            .await
    }

    /// Returns the late-interaction analyses of a study, which are files next to it. They are read
    /// again once the study or one of the files has changed.
    pub(in crate::http) async fn late_interaction_analyses(
        &self,
        listed: &StudyListEntry,
    ) -> Result<Arc<Vec<LateInteractionAnalysisWithRankerSlug>>, Error> {
        let (folder, name) = (self.folder.clone(), listed.name.clone());
        let files = run_blocking("listing analyses", move || {
            late_interaction::list_analysis_files(&folder, &name)
        });
        let key = (version(listed), files.await?);
        let (folder, name) = (self.folder.clone(), listed.name.clone());
        let prepare = self.prepare(listed, move |study| {
            let analyses = late_interaction::load_late_interaction_analyses(&folder, &name)?;
            Ok(Arc::new(study.add_ranker_slugs_to_analyses(analyses)))
        });
        let analyses = self.analyses.get_or_compute(key.clone(), prepare).await?;
        self.analyses
            .remove_where(|it| it.0.0 == listed.name && *it != key);
        Ok(analyses)
    }

    /// Returns a cached export of a study.
    pub(in crate::http) fn cached_export(
        &self,
        listed: &StudyListEntry,
        coding: ContentCoding,
    ) -> Option<Bytes> {
        self.exports.get(&(version(listed), coding))
    }

    /// Returns the export of a study, which `write` computes if it is not cached. Exports of older
    /// revisions are removed.
    pub(in crate::http) async fn export(
        &self,
        listed: &StudyListEntry,
        coding: ContentCoding,
        write: impl FnOnce(&Study) -> Result<Bytes, Error> + Send + 'static,
    ) -> Result<Bytes, Error> {
        let key = (version(listed), coding);
        let prepare = self.prepare(listed, write);
        let file = self.exports.get_or_compute(key, prepare).await?;
        self.exports.remove_where(|((name, revision), _)| {
            *name == listed.name && *revision < listed.revision
        });
        Ok(file)
    }

    /// Returns a study from the cache; loads it if it is absent or has a newer revision. All
    /// callers share a load, which goes on if they are dropped.
    pub(in crate::http) async fn study(
        &self,
        listed: &StudyListEntry,
    ) -> Result<Arc<Study>, Error> {
        let (folder, name) = (self.folder.clone(), listed.name.clone());
        let prepare = async {
            let slot = self.slots.acquire().await;
            Ok(slot.run("loading a study", move || {
                Ok(Arc::new(pipeline::load_study(&folder, &name)?))
            }))
        };
        self.studies.get_or_compute(version(listed), prepare).await
    }

    /// Returns the sorted instances of a study.
    pub(super) async fn instance_orders(
        &self,
        listed: &StudyListEntry,
    ) -> Result<Arc<InstanceOrders>, Error> {
        let folder = self.folder.clone();
        let prepare = self.prepare(listed, move |study| {
            Ok(Arc::new(pipeline::load_instance_orders(&folder, study)?))
        });
        let orders = self.orders.get_or_compute(version(listed), prepare).await?;
        self.orders
            .remove_where(|it| it.0 == listed.name && it.1 < listed.revision);
        Ok(orders)
    }

    /// Returns the result of `compute` on a study. It runs off the async threads, in a slot.
    pub(in crate::http) async fn compute<T: Send + 'static>(
        &self,
        listed: &StudyListEntry,
        compute: impl FnOnce(&Study) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        self.prepare(listed, compute).await?.await
    }

    /// Waits for a study and for a slot, and returns the computation of `compute` in it.
    async fn prepare<T: Send + 'static, C>(
        &self,
        listed: &StudyListEntry,
        compute: C,
    ) -> Result<impl Future<Output = Result<T, Error>> + Send + use<T, C>, Error>
    where
        C: FnOnce(&Study) -> Result<T, Error> + Send + 'static,
    {
        let study = self.study(listed).await?;
        let slot = self.slots.acquire().await;
        Ok(slot.run("reading a study", move || compute(&study)))
    }
}

fn version(listed: &StudyListEntry) -> Version {
    (listed.name.clone(), listed.revision)
}
