//! The function of the plan, `run_shard`: computes a shard and commits its output.
//!
//! It must be registered with the driver, the scheduler and the executors, because plans name
//! functions. Only the executors compute shards.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axioscope::distributed::{
    ShardError, ShardInputs, ShardWorker, StudyJob, StudyShard, StudyStage,
};
use datafusion::arrow::array::{Array, StringArray};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::cast::as_string_array;
use datafusion::common::{Result, exec_datafusion_err};
use datafusion::error::DataFusionError;
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use serde::{Deserialize, Serialize};

use crate::build_id::build_id;
use crate::storage::{JobStorage, ShardAttempt, ShardManifest};

/// Name of the function in plans.
pub(crate) const RUN_SHARD: &str = "run_shard";

/// Says in the message of an error that every further attempt would meet it as well; its reason is
/// in the storage, since the engine passes on errors of executors in a form for logs.
pub(crate) const PERMANENT: &str = "this shard cannot be computed";

/// Time before a shard that could not be computed for now is given to another executor.
const PAUSE: Duration = Duration::from_secs(2);

/// The argument of the function.
#[derive(Serialize, Deserialize)]
pub(crate) struct ShardTask {
    /// The build of the driver.
    pub(crate) build: String,
    /// The address of the storage.
    pub(crate) storage: String,
    pub(crate) job: StudyJob,
    pub(crate) shard: StudyShard,
}

/// Computes shards, in an executor or for a driver without one.
pub(crate) struct ShardRunner {
    pub(crate) worker: ShardWorker,
    /// The name of the executor in manifests.
    pub(crate) name: String,
    /// The only storage to use; `None` for that of each task.
    pub(crate) storage: Option<String>,
    /// How many shards are computed at a time.
    pub(crate) slots: Slots,
}

/// A number of slots, each for one shard.
pub(crate) struct Slots {
    pub(crate) n_slots: usize,
    n_free: Mutex<usize>,
    freed: Condvar,
}

impl Slots {
    /// Creates slots that are all free; at least one.
    pub(crate) fn new(n_slots: usize) -> Slots {
        let n_slots = n_slots.max(1);
        Slots {
            n_slots,
            n_free: Mutex::new(n_slots),
            freed: Condvar::new(),
        }
    }

    /// Runs `work` in a slot, as soon as one is free.
    fn run<T>(&self, work: impl FnOnce() -> T) -> T {
        let n_free = self.n_free.lock().unwrap_or_else(PoisonError::into_inner);
        let n_free = self.freed.wait_while(n_free, |it| *it == 0);
        *n_free.unwrap_or_else(PoisonError::into_inner) -= 1;
        let _slot = TakenSlot(self);
        work()
    }
}

/// A slot that is freed when this is dropped, also after a panic.
struct TakenSlot<'a>(&'a Slots);

impl Drop for TakenSlot<'_> {
    fn drop(&mut self) {
        let n_free = self.0.n_free.lock();
        *n_free.unwrap_or_else(PoisonError::into_inner) += 1;
        self.0.freed.notify_one();
    }
}

impl ShardRunner {
    /// Computes a shard and commits its output, unless another attempt has finished it.
    pub(crate) fn run(&self, task: &ShardTask) -> Result<ShardManifest, ShardError> {
        let address = self.storage.as_ref().unwrap_or(&task.storage);
        let storage = JobStorage::open(address, &task.job)?;
        if task.build != build_id() {
            let error = format!(
                "executor {} is build {} and the driver {}; start all processes from the same file",
                self.name,
                build_id(),
                task.build
            );
            storage.put_error(&task.shard, &error)?;
            return Err(ShardError::permanent(error));
        }
        if let Some(manifest) = storage.manifest(&task.shard)? {
            return Ok(manifest);
        }
        if storage.is_canceled()? {
            return Err(ShardError::permanent("the job was canceled"));
        }
        if matches!(task.shard.stage(), StudyStage::Score | StudyStage::Rescore) {
            let processor = self.worker.processor();
            let first = storage.first_processor(&processor)?;
            if first != processor {
                let error = format!(
                    "executor {} computes on `{processor}`, and the scores of this study were \
                     begun on `{first}`, which rounds in another way; use processors of one kind",
                    self.name
                );
                storage.put_error(&task.shard, &error)?;
                return Err(ShardError::permanent(error));
            }
        }
        let attempt = format!("{}-{}", self.name, attempt_number());
        storage.begin_attempt(&task.shard, &attempt)?;
        let since = Instant::now();
        let inputs: Arc<dyn ShardInputs> = Arc::new(storage.clone());
        let output = match self.worker.compute(&task.job, &task.shard, &inputs) {
            Ok(output) => output,
            Err(error) => {
                if !error.is_transient {
                    storage.put_error(&task.shard, &error.message)?;
                }
                return Err(error);
            }
        };
        let attempt = ShardAttempt {
            id: &attempt,
            executor: &self.name,
            seconds: since.elapsed().as_secs_f64(),
        };
        storage.commit(&task.shard, &attempt, output)
    }
}

/// Returns a number that no other attempt of this process has.
fn attempt_number() -> u64 {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// The function; without an executor it can only be planned.
pub(crate) struct RunShard {
    signature: Signature,
    executor: Option<Arc<ShardRunner>>,
}

impl RunShard {
    /// Creates the function for a process that plans but does not compute.
    pub(crate) fn to_plan() -> ScalarUDF {
        RunShard::with_executor(None)
    }

    /// Creates the function for a process that computes shards.
    pub(crate) fn to_compute(executor: Arc<ShardRunner>) -> ScalarUDF {
        RunShard::with_executor(Some(executor))
    }

    fn with_executor(executor: Option<Arc<ShardRunner>>) -> ScalarUDF {
        ScalarUDF::new_from_impl(RunShard {
            // Otherwise a planner could compute it, once for all rows.
            signature: Signature::exact(vec![DataType::Utf8], Volatility::Volatile),
            executor,
        })
    }
}

impl fmt::Debug for RunShard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(RUN_SHARD)
    }
}

impl PartialEq for RunShard {
    fn eq(&self, other: &RunShard) -> bool {
        self.signature == other.signature
    }
}

impl Eq for RunShard {}

impl Hash for RunShard {
    fn hash<H: Hasher>(&self, state: &mut H) {
        RUN_SHARD.hash(state);
    }
}

impl ScalarUDFImpl for RunShard {
    fn name(&self) -> &str {
        RUN_SHARD
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Utf8)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let Some(executor) = &self.executor else {
            return Err(exec_datafusion_err!("{RUN_SHARD} runs in executors only"));
        };
        let tasks = ColumnarValue::values_to_arrays(&args.args)?;
        let tasks = as_string_array(&tasks[0])?;
        let mut manifests = Vec::with_capacity(tasks.len());
        for task in tasks.iter().flatten() {
            let task: ShardTask = serde_json::from_str(task)
                .map_err(|error| exec_datafusion_err!("{PERMANENT}: {error}"))?;
            // Shards take seconds; meanwhile another thread takes over what this one has to do.
            let manifest = tokio::task::block_in_place(|| {
                let manifest = executor.slots.run(|| executor.run(&task));
                manifest.map_err(to_engine_error)
            })?;
            let json = serde_json::to_string(&manifest);
            manifests.push(json.map_err(|error| exec_datafusion_err!("{error}"))?);
        }
        Ok(ColumnarValue::Array(Arc::new(StringArray::from(manifests))))
    }
}

/// The engine tries a shard again only after an error of input or output, at once. The pause keeps
/// an executor that cannot compute from using up all attempts.
fn to_engine_error(error: ShardError) -> DataFusionError {
    if !error.is_transient {
        return DataFusionError::Execution(format!("{PERMANENT}: {}", error.message));
    }
    tracing::warn!("{error}");
    std::thread::sleep(PAUSE);
    DataFusionError::IoError(std::io::Error::other(error.message))
}
