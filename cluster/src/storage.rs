//! The object storage of one study: the inputs of its shards, their outputs and manifests.
//!
//! ```text
//! JOB/inputs/NAME            written by the driver
//! JOB/outputs/SHARD/ATTEMPT  the output of one attempt
//! JOB/outputs/SHARD.json     its manifest, written last and only once
//! JOB/outputs/SHARD.error    why the last attempt has failed for good
//! JOB/attempts/SHARD/ATTEMPT written when an attempt begins
//! JOB/canceled               executors begin no further shard
//! JOB/processor              on what the first neural scores were computed
//! ```
//!
//! Whoever finishes a shard first writes the manifest. Any other attempt finds it there and removes
//! its own output, so that a shard is committed once.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::{Arc, LazyLock, mpsc};

use axioscope::distributed::{ShardError, ShardInputs, ShardOutput, StudyJob, StudyShard};
use futures_util::TryStreamExt;
use object_store::aws::AmazonS3Builder;
use object_store::local::LocalFileSystem;
use object_store::path::Path as ObjectPath;
use object_store::{ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload};
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
    finished.recv().expect("requests to storage do not panic")
}

/// The ending of a file that says why a shard cannot be computed.
const ERROR: &str = ".error";

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

    /// Returns the names of the shards that have an output.
    pub(crate) fn names_of_finished_shards(&self) -> Result<Vec<String>, ShardError> {
        self.names_of_files(".json")
    }

    /// Notes why a shard cannot be computed.
    pub(crate) fn put_error(&self, shard: &str, error: &str) -> Result<(), ShardError> {
        let place = self.outputs().join(format!("{shard}{ERROR}"));
        let content = error.as_bytes().to_vec();
        self.put(place, content, PutMode::Overwrite).map(drop)
    }

    /// Returns why one of the shards cannot be computed, if that was noted.
    pub(crate) fn first_error(&self) -> Result<Option<String>, ShardError> {
        let Some(name) = self.names_of_files(ERROR)?.into_iter().next() else {
            return Ok(None);
        };
        let error = self.get(self.outputs().join(format!("{name}{ERROR}")))?;
        Ok(error.map(|it| format!("{name}: {}", String::from_utf8_lossy(&it))))
    }

    /// Forgets the errors of an earlier run.
    pub(crate) fn remove_errors(&self) -> Result<(), ShardError> {
        for name in self.names_of_files(ERROR)? {
            let (store, at) = (
                self.store.clone(),
                self.outputs().join(format!("{name}{ERROR}")),
            );
            let removed = wait_for(async move { store.delete(&at).await });
            removed.map_err(|error| self.failed(&error))?;
        }
        Ok(())
    }

    fn names_of_files(&self, ending: &str) -> Result<Vec<String>, ShardError> {
        let (store, folder) = (self.store.clone(), self.outputs());
        let listed = wait_for(async move { store.list_with_delimiter(Some(&folder)).await });
        let listed = listed.map_err(|error| self.failed(&error))?;
        let files = listed.objects.iter();
        let names = files.filter_map(|it| it.location.filename()?.strip_suffix(ending));
        Ok(names.map(str::to_owned).collect())
    }

    /// Returns the manifest of a shard, if it has an output.
    pub(crate) fn manifest(&self, shard: &str) -> Result<Option<ShardManifest>, ShardError> {
        let Some(json) = self.get(self.outputs().join(format!("{shard}.json")))? else {
            return Ok(None);
        };
        let manifest = serde_json::from_slice(&json);
        let manifest = manifest.map_err(|error| {
            ShardError::permanent(self.damage(shard, &format!("its manifest: {error}")))
        })?;
        Ok(Some(manifest))
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
        let own = self.outputs().join(name.as_str()).join(attempt.id);
        self.put(own.clone(), output.content, PutMode::Overwrite)?;
        let json = serde_json::to_vec_pretty(&manifest);
        let json = json.map_err(|error| ShardError::permanent(error.to_string()))?;
        let place = self.outputs().join(format!("{name}.json"));
        if self.put(place, json, PutMode::Create)? == WasStored::Yes {
            tracing::info!("committed {name} by {}", attempt.id);
            return Ok(manifest);
        }
        let first = self.manifest(&name)?;
        let first = first.ok_or_else(|| ShardError::transient(format!("{name}: no manifest")))?;
        if first.attempt == attempt.id {
            // The answer to an earlier request was lost.
            return Ok(first);
        }
        let store = self.store.clone();
        let removed = wait_for(async move { store.delete(&own).await });
        if let Err(error) = removed {
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

    /// Reads the output of a shard and compares it with its manifest, which is returned as well.
    pub(crate) fn output(
        &self,
        shard: &StudyShard,
    ) -> Result<(ShardManifest, Vec<u8>), ShardError> {
        let name = shard.name();
        let damaged = |reason: &str| ShardError::permanent(self.damage(&name, reason));
        let manifest = self.manifest(&name)?;
        let manifest = manifest.ok_or_else(|| damaged("there is no manifest"))?;
        let folder = self.outputs().join(name.as_str());
        let content = self.get(folder.join(manifest.attempt.as_str()))?;
        let content = content.ok_or_else(|| damaged("there is no output"))?;
        if encode_hex(&Sha256::digest(&content)) != manifest.sha256 {
            return Err(damaged("it has another hash than its manifest says"));
        }
        Ok((manifest, content))
    }

    fn damage(&self, shard: &str, reason: &str) -> String {
        format!(
            "the output of {shard} is damaged: {reason}; remove {}/{shard}.json and start the \
             study again",
            self.outputs()
        )
    }

    /// Notes that an attempt to compute a shard begins.
    pub(crate) fn begin_attempt(&self, shard: &str, attempt: &str) -> Result<(), ShardError> {
        let place = self.root.clone().join("attempts").join(shard).join(attempt);
        self.put(place, Vec::new(), PutMode::Overwrite).map(drop)
    }

    /// Returns how many attempts there were to compute each shard.
    pub(crate) fn count_attempts(&self) -> Result<BTreeMap<String, u64>, ShardError> {
        let (store, folder) = (self.store.clone(), self.root.clone().join("attempts"));
        let listed =
            wait_for(async move { store.list(Some(&folder)).try_collect::<Vec<_>>().await });
        let mut counts = BTreeMap::new();
        for it in listed.map_err(|error| self.failed(&error))? {
            let mut parts: Vec<_> = it.location.parts().collect();
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
        if self.put(at.clone(), own.as_bytes().to_vec(), PutMode::Create)? == WasStored::Yes {
            return Ok(own.to_owned());
        }
        let first = self.get(at)?;
        Ok(first.map_or_else(
            || own.to_owned(),
            |it| String::from_utf8_lossy(&it).into_owned(),
        ))
    }

    /// Keeps executors from beginning further shards, or lets them go on.
    pub(crate) fn set_canceled(&self, is_canceled: bool) -> Result<(), ShardError> {
        let at = self.root.clone().join("canceled");
        if is_canceled {
            return self.put(at, Vec::new(), PutMode::Overwrite).map(drop);
        }
        let store = self.store.clone();
        match wait_for(async move { store.delete(&at).await }) {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(self.failed(&error)),
        }
    }

    /// Returns whether executors are to begin no further shard.
    pub(crate) fn is_canceled(&self) -> Result<bool, ShardError> {
        Ok(self.get(self.root.clone().join("canceled"))?.is_some())
    }

    /// Stores an input, unless it is there already.
    pub(crate) fn put_input(&self, name: &str, content: Vec<u8>) -> Result<(), ShardError> {
        let place = self.root.clone().join("inputs").join(name);
        self.put(place, content, PutMode::Create).map(drop)
    }

    fn outputs(&self) -> ObjectPath {
        self.root.clone().join("outputs")
    }

    fn put(
        &self,
        at: ObjectPath,
        content: Vec<u8>,
        mode: PutMode,
    ) -> Result<WasStored, ShardError> {
        let store = self.store.clone();
        let options = PutOptions::from(mode);
        let payload = PutPayload::from(content);
        match wait_for(async move { store.put_opts(&at, payload, options).await }) {
            Ok(_) => Ok(WasStored::Yes),
            Err(object_store::Error::AlreadyExists { .. }) => Ok(WasStored::IsThere),
            Err(error) => Err(self.failed(&error)),
        }
    }

    fn get(&self, at: ObjectPath) -> Result<Option<Vec<u8>>, ShardError> {
        let store = self.store.clone();
        let read = wait_for(async move { store.get(&at).await?.bytes().await });
        match read {
            Ok(bytes) => Ok(Some(bytes.to_vec())),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(self.failed(&error)),
        }
    }

    fn failed(&self, error: &object_store::Error) -> ShardError {
        ShardError::transient(format!("storage {}: {error}", self.root))
    }
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
enum WasStored {
    Yes,
    IsThere,
}
