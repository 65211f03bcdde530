//! The object storage of one study: the inputs of its shards, their outputs and manifests.
//!
//! ```text
//! JOB/inputs/NAME                   written by the driver
//! JOB/attempts/STAGE/SHARD/ATTEMPT  written when an attempt begins
//! JOB/outputs/STAGE/SHARD/ATTEMPT   the output of one attempt
//! JOB/manifests/STAGE/SHARD.json    its manifest, written last and only once
//! JOB/errors/STAGE/SHARD            why the last attempt has failed for good
//! JOB/canceled                      executors begin no further shard
//! JOB/processor                     on what the first neural scores were computed
//! ```
//!
//! Whoever finishes a shard first writes the manifest. Any other attempt finds it there and removes
//! its own output, so that a shard is committed once.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::sync::{Arc, LazyLock, mpsc};

use axioscope::distributed::{
    ShardError, ShardInputs, ShardOutput, StudyJob, StudyShard, StudyStage,
};
use futures_util::{StreamExt, TryStreamExt, stream};
use object_store::aws::AmazonS3Builder;
use object_store::local::LocalFileSystem;
use object_store::path::Path as ObjectPath;
use object_store::{ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload, WriteMultipart};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use shared::collection::encode_hex;
use tokio::runtime::Runtime;
use url::Url;

/// The runtime for requests to storage. Shards are computed on threads that must not wait for
/// futures of their own runtime.
static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .thread_name("storage")
        .enable_all()
        .build();
    runtime.expect("the system has threads")
});

/// Runs a future on the runtime for storage and waits for its result.
pub(crate) fn wait_for<T: Send + 'static>(future: impl Future<Output = T> + Send + 'static) -> T {
    let (result, finished) = mpsc::channel();
    RUNTIME.spawn(async move {
        // The receiver waits below.
        let _ = result.send(future.await);
    });
    finished
        .recv()
        .expect("work for the storage and the engine does not panic")
}

/// The number of bytes that a request sends or receives at most, so that it ends before its
/// timeout.
const PART: usize = 16 << 20;

/// The number of requests at a time for the parts of one object, or for small objects.
pub(crate) const REQUESTS_AT_A_TIME: usize = 8;

/// The ending of the name of a manifest.
const JSON: &str = ".json";

/// What the manifest of a shard says about its output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ShardManifest {
    /// The name of the shard.
    pub(crate) shard: String,
    /// The attempt whose output counts.
    pub(crate) attempt: String,
    /// The executor that computed it.
    pub(crate) executor: String,
    /// The number of queries or pairs.
    pub(crate) n_rows: u64,
    /// The size of the output.
    pub(crate) n_bytes: u64,
    /// The SHA-256 of the output, in hex.
    pub(crate) sha256: String,
    /// How long it was computed.
    pub(crate) seconds: f64,
}

/// The totals of the shards of a stage that a run has used, whichever run has computed them.
#[derive(Debug, Default, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct StageTotals {
    shards: u64,
    rows: u64,
    bytes: u64,
    seconds: f64,
}

impl StageTotals {
    /// Adds the rows, bytes and seconds of a finished shard.
    pub(crate) fn add(&mut self, manifest: &ShardManifest) {
        self.shards += 1;
        self.rows += manifest.n_rows;
        self.bytes += manifest.n_bytes;
        self.seconds += manifest.seconds;
    }
}

/// Says how an output was computed.
pub(crate) struct ShardAttempt<'a> {
    /// A name that no other attempt has.
    pub(crate) id: &'a str,
    /// The executor.
    pub(crate) executor: &'a str,
    /// How long it was computed.
    pub(crate) seconds: f64,
}

/// The part of an object storage that belongs to one study.
#[derive(Clone)]
pub(crate) struct JobStorage {
    store: Arc<dyn ObjectStore>,
    root: ObjectPath,
}

impl JobStorage {
    /// Opens the part of a study in the storage at a `file://` or `s3://` address. Credentials are
    /// taken from the environment.
    pub(crate) fn open(address: &str, job: &StudyJob) -> Result<JobStorage, ShardError> {
        let refuse = |reason: String| {
            ShardError::permanent(format!(
                "storage `{address}`: {reason}; give file:///FOLDER or s3://BUCKET/FOLDER"
            ))
        };
        let url = Url::parse(address).map_err(|error| refuse(error.to_string()))?;
        let (store, root): (Arc<dyn ObjectStore>, ObjectPath) = match url.scheme() {
            "file" => {
                let folder = url.to_file_path();
                let folder =
                    folder.map_err(|()| refuse("is not the path of a folder".to_owned()))?;
                std::fs::create_dir_all(&folder).map_err(|error| refuse(error.to_string()))?;
                let store = LocalFileSystem::new_with_prefix(folder);
                let store = store.map_err(|error| refuse(error.to_string()))?;
                (Arc::new(store), ObjectPath::default())
            }
            "s3" => {
                let store = AmazonS3Builder::from_env().with_url(address).build();
                let store = store.map_err(|error| refuse(error.to_string()))?;
                (Arc::new(store), ObjectPath::from(url.path()))
            }
            other => return Err(refuse(format!("`{other}` is not supported"))),
        };
        let folder = format!("{}-{:.16}", job.study, job.id);
        Ok(JobStorage {
            store,
            root: root.join(folder),
        })
    }

    /// Returns the names of the shards of a stage that have an output.
    pub(crate) fn names_of_finished_shards(
        &self,
        stage: StudyStage,
    ) -> Result<BTreeSet<String>, ShardError> {
        let found = self.list(self.stage_folder("manifests", stage))?;
        let names = found
            .iter()
            .filter_map(|it| it.filename()?.strip_suffix(JSON));
        Ok(names.map(str::to_owned).collect())
    }

    /// Notes why a shard cannot be computed.
    pub(crate) fn put_error(&self, shard: &StudyShard, error: &str) -> Result<(), ShardError> {
        let place = self.stage_folder("errors", shard.stage());
        let content = error.as_bytes().to_vec();
        let stored = self.put(place.join(shard.name()), content, PutMode::Overwrite);
        stored.map(drop)
    }

    /// Returns why one of the shards of a stage cannot be computed, if that was noted.
    pub(crate) fn first_error(&self, stage: StudyStage) -> Result<Option<String>, ShardError> {
        let found = self.list(self.stage_folder("errors", stage))?;
        let Some(at) = found.into_iter().next() else {
            return Ok(None);
        };
        let name = at.filename().unwrap_or_default().to_owned();
        let error = self.get(at)?;
        Ok(error.map(|it| format!("{name}: {}", String::from_utf8_lossy(&it))))
    }

    /// Forgets the errors of an earlier run.
    pub(crate) fn remove_errors(&self, stage: StudyStage) -> Result<(), ShardError> {
        for at in self.list(self.stage_folder("errors", stage))? {
            self.remove(at)?;
        }
        Ok(())
    }

    /// Returns the manifests of shards that have an output.
    pub(crate) fn manifests<'a>(
        &self,
        stage: StudyStage,
        shards: impl IntoIterator<Item = &'a String>,
    ) -> Result<Vec<ShardManifest>, ShardError> {
        let places = shards.into_iter().map(|it| self.manifest_place(stage, it));
        let found = self.get_all(places.collect())?;
        let manifests = found.into_iter().flatten();
        manifests.map(|json| self.decode_manifest(&json)).collect()
    }

    /// Returns the manifest of a shard, if it has an output.
    pub(crate) fn manifest(&self, shard: &StudyShard) -> Result<Option<ShardManifest>, ShardError> {
        let json = self.get(self.manifest_place(shard.stage(), &shard.name()))?;
        json.map(|it| self.decode_manifest(&it)).transpose()
    }

    fn decode_manifest(&self, json: &[u8]) -> Result<ShardManifest, ShardError> {
        serde_json::from_slice(json).map_err(|error| {
            ShardError::permanent(format!(
                "a manifest in {}/manifests is damaged: {error}; remove that folder and start the \
                 study again",
                self.root
            ))
        })
    }

    /// Stores an output and then its manifest, unless another attempt has finished the shard.
    /// Returns the manifest that counts.
    pub(crate) fn commit(
        &self,
        shard: &StudyShard,
        attempt: &ShardAttempt<'_>,
        output: ShardOutput,
    ) -> Result<ShardManifest, ShardError> {
        let name = shard.name();
        let manifest = ShardManifest {
            shard: name.clone(),
            attempt: attempt.id.to_owned(),
            executor: attempt.executor.to_owned(),
            n_rows: output.n_rows,
            n_bytes: output.content.len() as u64,
            sha256: encode_hex(&Sha256::digest(&output.content)),
            seconds: attempt.seconds,
        };
        let own = self.output_place(shard, attempt.id);
        let (store, at) = (self.store.clone(), own.clone());
        let stored = wait_for(async move { put_object(&*store, &at, output.content).await });
        stored.map_err(|error| self.failed(&error))?;
        let json = serde_json::to_vec_pretty(&manifest);
        let json = json.map_err(|error| ShardError::permanent(error.to_string()))?;
        let place = self.manifest_place(shard.stage(), &name);
        if self.put(place, json, PutMode::Create)? == PutOutcome::Stored {
            tracing::info!("committed {name} by {}", attempt.id);
            return Ok(manifest);
        }
        let first = self.manifest(shard)?;
        let first = first.ok_or_else(|| ShardError::transient(format!("{name}: no manifest")))?;
        if first.attempt == attempt.id {
            // The answer to an earlier request was lost.
            return Ok(first);
        }
        if let Err(error) = self.remove(own) {
            tracing::warn!("{name}: the output of a second attempt stays: {error}");
        }
        if first.sha256 != manifest.sha256 {
            tracing::warn!(
                "{name}: {} and {} have computed different outputs; the first one counts. Use \
                 processors of one kind for scores of the same bits",
                first.executor,
                manifest.executor
            );
        }
        Ok(first)
    }

    /// Reads the outputs of shards and compares them with their manifests, which are returned as
    /// well.
    pub(crate) fn outputs(
        &self,
        shards: &[StudyShard],
    ) -> Result<Vec<(ShardManifest, Vec<u8>)>, ShardError> {
        let damaged = |shard: &StudyShard, reason: &str| {
            ShardError::permanent(format!(
                "the output of {0} is damaged: {reason}; remove {1} and start the study again",
                shard.name(),
                self.manifest_place(shard.stage(), &shard.name())
            ))
        };
        let places = shards
            .iter()
            .map(|it| self.manifest_place(it.stage(), &it.name()));
        let manifests = self.get_all(places.collect())?.into_iter().zip(shards);
        let manifests = manifests.map(|(json, shard)| match json {
            Some(json) => self.decode_manifest(&json),
            None => Err(damaged(shard, "there is no manifest")),
        });
        let manifests = manifests.collect::<Result<Vec<_>, _>>()?;
        let attempts = manifests.iter().map(|it| it.attempt.as_str());
        let places = shards.iter().zip(attempts);
        let places = places.map(|(shard, attempt)| self.output_place(shard, attempt));
        let contents = self.get_all(places.collect())?;
        let outputs = manifests.into_iter().zip(contents).zip(shards);
        let checked = outputs.map(|((manifest, content), shard)| {
            let content = content.ok_or_else(|| damaged(shard, "it is not there"))?;
            match encode_hex(&Sha256::digest(&content)) == manifest.sha256 {
                true => Ok((manifest, content)),
                false => Err(damaged(shard, "its hash is not that of its manifest")),
            }
        });
        checked.collect()
    }

    /// Notes that an attempt to compute a shard begins.
    pub(crate) fn begin_attempt(
        &self,
        shard: &StudyShard,
        attempt: &str,
    ) -> Result<(), ShardError> {
        let place = self.stage_folder("attempts", shard.stage());
        let place = place.join(shard.name()).join(attempt);
        self.put(place, Vec::new(), PutMode::Overwrite).map(drop)
    }

    /// Returns how many attempts there were to compute each shard of a stage.
    pub(crate) fn count_attempts(
        &self,
        stage: StudyStage,
    ) -> Result<BTreeMap<String, u64>, ShardError> {
        let mut counts = BTreeMap::new();
        for at in self.list(self.stage_folder("attempts", stage))? {
            let mut parts: Vec<_> = at.parts().collect();
            parts.pop();
            if let Some(shard) = parts.pop() {
                *counts.entry(shard.as_ref().to_owned()).or_insert(0) += 1;
            }
        }
        Ok(counts)
    }

    /// Returns the processor of the first executor that has computed neural scores of the job,
    /// which is this one if there was none.
    pub(crate) fn first_processor(&self, own: &str) -> Result<String, ShardError> {
        let at = self.root.clone().join("processor");
        if self.put(at.clone(), own.as_bytes().to_vec(), PutMode::Create)? == PutOutcome::Stored {
            return Ok(own.to_owned());
        }
        let first = self.get(at)?;
        Ok(first.map_or_else(
            || own.to_owned(),
            |it| String::from_utf8_lossy(&it).into_owned(),
        ))
    }

    /// Keeps executors from beginning further shards, or lets them begin some again.
    pub(crate) fn set_canceled(&self, is_canceled: bool) -> Result<(), ShardError> {
        let at = self.root.clone().join("canceled");
        if is_canceled {
            return self.put(at, Vec::new(), PutMode::Overwrite).map(drop);
        }
        self.remove(at)
    }

    /// Returns whether executors are to begin no further shard.
    pub(crate) fn is_canceled(&self) -> Result<bool, ShardError> {
        Ok(self.get(self.root.clone().join("canceled"))?.is_some())
    }

    /// Stores inputs, unless they are there already.
    pub(crate) fn put_inputs(&self, inputs: Vec<(String, Vec<u8>)>) -> Result<(), ShardError> {
        let store = self.store.clone();
        let folder = self.root.clone().join("inputs");
        let stored = wait_for(async move {
            let each = inputs.into_iter().map(|(name, content)| {
                let (store, at) = (store.clone(), folder.clone().join(name));
                async move {
                    match store.head(&at).await {
                        Err(object_store::Error::NotFound { .. }) => {
                            put_object(&*store, &at, content).await
                        }
                        other => other.map(drop),
                    }
                }
            });
            let stored = stream::iter(each).buffer_unordered(REQUESTS_AT_A_TIME);
            stored.try_collect::<()>().await
        });
        stored.map_err(|error| self.failed(&error))
    }

    fn stage_folder(&self, kind: &str, stage: StudyStage) -> ObjectPath {
        self.root.clone().join(kind).join(stage.to_string())
    }

    fn manifest_place(&self, stage: StudyStage, shard: &str) -> ObjectPath {
        let folder = self.stage_folder("manifests", stage);
        folder.join(format!("{shard}{JSON}"))
    }

    fn output_place(&self, shard: &StudyShard, attempt: &str) -> ObjectPath {
        let folder = self.stage_folder("outputs", shard.stage());
        folder.join(shard.name()).join(attempt)
    }

    /// Returns the places of all objects below a folder.
    fn list(&self, folder: ObjectPath) -> Result<Vec<ObjectPath>, ShardError> {
        let store = self.store.clone();
        let listed = wait_for(async move {
            let found = store.list(Some(&folder)).map_ok(|it| it.location);
            found.try_collect::<Vec<_>>().await
        });
        listed.map_err(|error| self.failed(&error))
    }

    fn remove(&self, at: ObjectPath) -> Result<(), ShardError> {
        let store = self.store.clone();
        match wait_for(async move { store.delete(&at).await }) {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(self.failed(&error)),
        }
    }

    fn put(
        &self,
        at: ObjectPath,
        content: Vec<u8>,
        mode: PutMode,
    ) -> Result<PutOutcome, ShardError> {
        let store = self.store.clone();
        let options = PutOptions::from(mode);
        let payload = PutPayload::from(content);
        match wait_for(async move { store.put_opts(&at, payload, options).await }) {
            Ok(_) => Ok(PutOutcome::Stored),
            Err(object_store::Error::AlreadyExists { .. }) => Ok(PutOutcome::AlreadyExists),
            Err(error) => Err(self.failed(&error)),
        }
    }

    fn get(&self, at: ObjectPath) -> Result<Option<Vec<u8>>, ShardError> {
        Ok(self.get_all(vec![at])?.remove(0))
    }

    /// Reads objects; `None` stands for those that do not exist.
    fn get_all(&self, places: Vec<ObjectPath>) -> Result<Vec<Option<Vec<u8>>>, ShardError> {
        let store = self.store.clone();
        let read = wait_for(async move {
            let each = places.into_iter().map(|at| {
                let store = store.clone();
                async move {
                    match read_object(&*store, &at).await {
                        Ok(content) => Ok(Some(content)),
                        Err(object_store::Error::NotFound { .. }) => Ok(None),
                        Err(error) => Err(error),
                    }
                }
            });
            let read = stream::iter(each).buffered(REQUESTS_AT_A_TIME);
            read.try_collect::<Vec<_>>().await
        });
        read.map_err(|error| self.failed(&error))
    }

    fn failed(&self, error: &object_store::Error) -> ShardError {
        ShardError::transient(format!("storage {}: {error}", self.root))
    }
}

/// Stores an object, a large one in parts. Only the same content may be there already.
async fn put_object(
    store: &dyn ObjectStore,
    at: &ObjectPath,
    content: Vec<u8>,
) -> object_store::Result<()> {
    if content.len() <= PART {
        return store.put(at, content.into()).await.map(drop);
    }
    let upload = store.put_multipart(at).await?;
    let mut upload = WriteMultipart::new_with_chunk_size(upload, PART);
    for part in content.chunks(PART) {
        upload.wait_for_capacity(REQUESTS_AT_A_TIME).await?;
        upload.write(part);
    }
    upload.finish().await.map(drop)
}

/// Reads an object, a large one in parts.
async fn read_object(store: &dyn ObjectStore, at: &ObjectPath) -> object_store::Result<Vec<u8>> {
    let found = store.get(at).await?;
    let size = found.meta.size;
    if size <= PART as u64 {
        return Ok(found.bytes().await?.to_vec());
    }
    drop(found);
    let starts = (0..size).step_by(PART);
    let parts = starts.map(|from| store.get_range(at, from..size.min(from + PART as u64)));
    let mut parts = stream::iter(parts).buffered(REQUESTS_AT_A_TIME);
    let mut all = Vec::with_capacity(size as usize);
    while let Some(part) = parts.try_next().await? {
        all.extend_from_slice(&part);
    }
    Ok(all)
}

impl ShardInputs for JobStorage {
    fn read_input(&self, name: &str) -> Result<Vec<u8>, ShardError> {
        let content = self.get(self.root.clone().join("inputs").join(name))?;
        content.ok_or_else(|| {
            ShardError::permanent(format!(
                "there is no input `{name}` in {}; do driver and executor see the same storage?",
                self.root
            ))
        })
    }
}

/// Whether an object was stored, or one is there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PutOutcome {
    Stored,
    AlreadyExists,
}
