//! The engine of a study: computes its shards in this process or by the executors of a scheduler.
//!
//! For executors, a stage is the union of one row for each shard, `SELECT run_shard(TASK)`, so that
//! every shard is a partition and a task of its own. What executors return are manifests; outputs
//! go to storage.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{mem, thread};

use axioscope::distributed::{ShardEngine, ShardError, StudyJob, StudyShard, StudyStage};
use ballista::prelude::{SessionConfigExt, SessionContextExt};
use datafusion::common::exec_datafusion_err;
use datafusion::error::DataFusionError;
use datafusion::execution::SessionStateBuilder;
use datafusion::logical_expr::{LogicalPlan, LogicalPlanBuilder, ScalarUDF, Union};
use datafusion::prelude::{SessionConfig, SessionContext, lit};
use futures_util::{StreamExt, TryStreamExt, stream};
use indicatif::{ProgressBar, ProgressStyle};
use tokio::sync::oneshot;

use crate::build_id::build_id;
use crate::progress::JobProgress;
use crate::shard_function::{PERMANENT, RunShard, ShardRunner, ShardTask};
use crate::storage::{REQUESTS_AT_A_TIME, wait_for};
use crate::tls::{ClusterTls, ensure_scheduler_responds};

/// The most shards in one plan.
const SHARDS_PER_PLAN: usize = 256;

/// The number of plans that are executed at the same time, so that executors need not wait for the
/// slowest shard of a plan.
const PLANS_AT_A_TIME: usize = 8;

/// Time after which progress is recorded while plans are executed, if recording takes little.
const RECORD_INTERVAL: Duration = Duration::from_secs(1);

/// A scheduler that has executed plans for so long has responded.
const RESPONDED: Duration = Duration::from_secs(30);

/// Time to wait before a scheduler that does not respond is tried again.
const RETRY: Duration = Duration::from_secs(2);

/// The place where shards are computed: this process, or executors of schedulers.
#[derive(Clone)]
pub(crate) enum Engine {
    /// In this process.
    Local(Arc<ShardRunner>),
    /// By the executors of schedulers.
    Ballista(Schedulers),
}

/// The addresses of the schedulers of both pools of executors, and how long to wait for them.
#[derive(Clone)]
pub(crate) struct Schedulers {
    /// The scheduler of mining, and of all that has no other.
    pub(crate) cpu: String,
    /// The scheduler of neural rankers.
    pub(crate) gpu: Option<String>,
    /// How long to wait for a scheduler that does not respond.
    pub(crate) timeout: Duration,
    /// The certificates of connections; `None` without TLS.
    pub(crate) tls: Option<Arc<ClusterTls>>,
}

/// The engine of one study.
pub(crate) struct JobEngine {
    pub(crate) engine: Engine,
    /// The address of the storage, for the executors.
    pub(crate) address: String,
    /// Time after which shards are given to executors again if none was finished.
    pub(crate) stall: Duration,
    pub(crate) job: StudyJob,
    pub(crate) progress: Arc<JobProgress>,
    /// The inputs that are not stored yet.
    pub(crate) inputs: Mutex<Vec<(String, Vec<u8>)>>,
}

impl ShardEngine for JobEngine {
    fn put_input(&self, name: &str, content: Vec<u8>) -> Result<(), ShardError> {
        let mut inputs = self.inputs.lock().unwrap_or_else(PoisonError::into_inner);
        inputs.push((name.to_owned(), content));
        match inputs.len() < REQUESTS_AT_A_TIME {
            true => Ok(()),
            false => self.progress.storage.put_inputs(mem::take(&mut *inputs)),
        }
    }

    fn compute_shards(&self, shards: &[StudyShard]) -> Result<(), ShardError> {
        let Some(stage) = shards.first().map(StudyShard::stage) else {
            return Ok(());
        };
        let inputs = mem::take(&mut *self.inputs.lock().unwrap_or_else(PoisonError::into_inner));
        self.progress.storage.put_inputs(inputs)?;
        self.progress.storage.remove_errors(stage)?;
        self.progress.plan(shards)?;
        let bar = progress_bar(stage, shards.len());
        let mut n_missing = shards.len();
        let mut failing_since = None;
        let mut was_executed = false;
        loop {
            let committed = self.progress.record(stage)?;
            let missing = shards.iter().filter(|it| !committed.contains(&it.name()));
            let missing: Vec<&StudyShard> = missing.collect();
            bar.set_position((shards.len() - missing.len()) as u64);
            if missing.is_empty() {
                return Ok(());
            }
            if missing.len() < n_missing {
                n_missing = missing.len();
                failing_since = None;
            } else if was_executed {
                return Err(ShardError::permanent(format!(
                    "{stage}: executors have computed shards, but the storage {} has none of \
                     them; give all processes the same `--storage`",
                    self.address
                )));
            }
            let begun = Instant::now();
            let executed = self.execute(stage, &missing, &bar);
            was_executed = executed.is_ok();
            let Err(error) = executed else {
                continue;
            };
            if begun.elapsed() > RESPONDED {
                failing_since = None;
            }
            let since = *failing_since.get_or_insert_with(Instant::now);
            if !error.is_transient || since.elapsed() >= self.scheduler_timeout() {
                return Err(error);
            }
            bar.suspend(|| eprintln!("{}; trying again", error.message));
            thread::sleep(RETRY);
        }
    }

    fn read_outputs(&self, shards: &[StudyShard]) -> Result<Vec<Vec<u8>>, ShardError> {
        self.progress.read_outputs(shards)
    }
}

impl JobEngine {
    fn scheduler_timeout(&self) -> Duration {
        match &self.engine {
            Engine::Local(_) => Duration::ZERO,
            Engine::Ballista(schedulers) => schedulers.timeout,
        }
    }

    /// Computes shards of a stage. Meanwhile it is recorded which are committed.
    fn execute(
        &self,
        stage: StudyStage,
        shards: &[&StudyShard],
        bar: &ProgressBar,
    ) -> Result<(), ShardError> {
        let tasks = shards.iter().map(|&shard| ShardTask {
            build: build_id().to_owned(),
            storage: self.address.clone(),
            job: self.job.clone(),
            shard: shard.clone(),
        });
        let tasks: Vec<ShardTask> = tasks.collect();
        let engine = self.engine.clone();
        let progress = self.progress.clone();
        let names: BTreeSet<String> = shards.iter().map(|it| it.name()).collect();
        let (bar, before) = (bar.clone(), bar.position());
        let stall = match &self.engine {
            Engine::Local(_) => Duration::MAX,
            Engine::Ballista(_) => self.stall,
        };
        let executed = wait_for(async move {
            let executed = async {
                match engine {
                    Engine::Local(runner) => compute_in_this_process(runner, tasks).await.map(Ok),
                    Engine::Ballista(schedulers) => {
                        Ok(execute_plans(schedulers, stage, tasks).await)
                    }
                }
            };
            let ended_otherwise = async {
                let mut last_progress = (0, Instant::now());
                let mut pause = RECORD_INTERVAL;
                loop {
                    tokio::time::sleep(pause).await;
                    let since = Instant::now();
                    let progress = progress.clone();
                    let recorded = tokio::task::spawn_blocking(move || progress.record(stage));
                    let recorded = recorded.await;
                    pause = RECORD_INTERVAL.max(5 * since.elapsed());
                    match recorded {
                        Ok(Ok(committed)) => {
                            let n = committed.intersection(&names).count();
                            bar.set_position(before + n as u64);
                            // The engine may have lost a report of an executor.
                            if n == names.len() {
                                break Ok(());
                            }
                            if n > last_progress.0 {
                                last_progress = (n, Instant::now());
                            }
                        }
                        Ok(Err(error)) if !error.is_transient => break Err(error),
                        // It is recorded later.
                        Ok(Err(_)) | Err(_) => {}
                    }
                    if last_progress.1.elapsed() > stall {
                        let error = format!("{stage}: no shard was finished within {stall:?}");
                        break Err(ShardError::transient(error));
                    }
                }
            };
            tokio::select! {
                executed = executed => executed,
                ended = ended_otherwise => ended.map(Ok),
            }
        });
        executed?.map_err(|error| self.shard_error(stage, &error))
    }

    /// Returns whether the engine, its scheduler or an executor has failed, or a shard for good.
    fn shard_error(&self, stage: StudyStage, error: &DataFusionError) -> ShardError {
        let text = error.to_string();
        if !text.contains(PERMANENT) {
            return ShardError::transient(format!("{stage}: {text}"));
        }
        match self.progress.storage.first_error(stage) {
            Ok(reason) => ShardError::permanent(reason.unwrap_or(text)),
            Err(error) => error,
        }
    }
}

/// Computes shards in this process, as many at a time as the runner has slots. Each has a thread of
/// its own, since it waits for the storage, whose threads must be free.
async fn compute_in_this_process(
    runner: Arc<ShardRunner>,
    tasks: Vec<ShardTask>,
) -> Result<(), ShardError> {
    let n_slots = runner.slots.n_slots;
    let each = tasks.into_iter().map(|task| {
        let runner = runner.clone();
        let name = task.shard.name();
        let (result, finished) = oneshot::channel();
        // Nobody receives the result after the error of another shard.
        thread::spawn(move || result.send(runner.run(&task)));
        async move {
            let computed = finished.await.unwrap_or_else(|_| {
                let error = "its computation panicked, with the message above";
                Err(ShardError::permanent(error))
            });
            computed.map(drop).map_err(|error| ShardError {
                message: format!("{name}: {}", error.message),
                ..error
            })
        }
    });
    let computed = stream::iter(each).buffer_unordered(n_slots);
    computed.try_collect().await
}

/// Executes plans of shards by the executors of schedulers.
async fn execute_plans(
    schedulers: Schedulers,
    stage: StudyStage,
    tasks: Vec<ShardTask>,
) -> Result<(), DataFusionError> {
    let tasks = tasks.iter().map(serde_json::to_string);
    let tasks = tasks.collect::<Result<Vec<String>, _>>();
    let tasks = tasks.map_err(|error| exec_datafusion_err!("{PERMANENT}: {error}"))?;
    let plans = tasks.chunks(SHARDS_PER_PLAN);
    let plans = plans.map(|it| execute_plan(&schedulers, stage, it));
    let plans: Vec<_> = plans.collect();
    let executed = stream::iter(plans).buffer_unordered(PLANS_AT_A_TIME);
    executed.try_collect().await
}

async fn execute_plan(
    schedulers: &Schedulers,
    stage: StudyStage,
    tasks: &[String],
) -> Result<(), DataFusionError> {
    let address = match stage {
        StudyStage::Score | StudyStage::Rescore => schedulers.gpu.as_ref(),
        StudyStage::Mine | StudyStage::RemoteScore => None,
    };
    let address = address.unwrap_or(&schedulers.cpu);
    let responds = ensure_scheduler_responds(address, schedulers.tls.as_deref());
    responds.await.map_err(DataFusionError::Execution)?;
    let session = match &schedulers.tls {
        Some(tls) => tls.session_config(),
        None => SessionConfig::new_with_ballista(),
    };
    let config = session
        // One shard is one task, which another executor repeats if its own is lost.
        .set_str(
            ballista_core::config::BALLISTA_SCHEDULER_MAX_PARTITIONS_PER_TASK,
            "1",
        );
    let state = SessionStateBuilder::new()
        .with_default_features()
        .with_config(config)
        .build();
    let url = format!("df://{address}");
    let context = SessionContext::remote_with_state(&url, state).await?;
    let function = RunShard::to_plan();
    context.register_udf(function.clone());
    let plan = stage_plan(&function, tasks)?;
    context.execute_logical_plan(plan).await?.collect().await?;
    Ok(())
}

/// Returns the plan of a stage: a row for each task, each in a partition of its own.
fn stage_plan(function: &ScalarUDF, tasks: &[String]) -> Result<LogicalPlan, DataFusionError> {
    let row = |task: &String| {
        let manifest = function.call(vec![lit(task.clone())]).alias("manifest");
        let row = LogicalPlanBuilder::empty(true)
            .project([manifest])?
            .build()?;
        Ok::<_, DataFusionError>(Arc::new(row))
    };
    let mut rows = tasks.iter().map(row).collect::<Result<Vec<_>, _>>()?;
    match rows.len() {
        1 => Ok(Arc::unwrap_or_clone(rows.remove(0))),
        _ => Ok(LogicalPlan::Union(Union::try_new(rows)?)),
    }
}

fn progress_bar(stage: StudyStage, n_shards: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{prefix:12} {wide_bar} {pos}/{len} shards, {eta}");
    let bar = ProgressBar::new(n_shards as u64).with_prefix(stage.to_string());
    bar.with_style(style.expect("the template is valid"))
}
