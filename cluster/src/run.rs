//! The command `run`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axioscope::distributed::{
    ClusterRecords, ShardError, ShardSizes, StudyCluster, StudyModelArgs,
    end_jobs_of_complete_study, run_study_on_cluster, wait_for_stop_signal,
};
use ballista_core::ids::new_instance_id;
use serde::Serialize;

use crate::build_id::build_id;
use crate::engine::{Engine, JobEngine, Schedulers};
use crate::executor::available_cores;
use crate::progress::JobProgress;
use crate::shard_function::{ShardRunner, Slots};
use crate::storage::{JobStorage, StageTotals};
use crate::tls::TlsArgs;

/// Holds the command-line arguments of `axioscope-cluster run`.
#[derive(clap::Args)]
pub(crate) struct RunArgs {
    /// Definition file, for example study.toml
    file: PathBuf,
    /// Address of the scheduler [default: compute the shards in this process]
    #[arg(long, value_name = "ADDR")]
    scheduler: Option<String>,
    /// Address of a second scheduler, whose executors score with neural rankers
    #[arg(long, value_name = "ADDR", requires = "scheduler")]
    gpu_scheduler: Option<String>,
    /// Data folder, in which the study is stored
    #[arg(long, value_name = "FOLDER", default_value = "axioscope-data")]
    data: PathBuf,
    /// Storage of the shards, file:///FOLDER or s3://BUCKET/FOLDER, which the executors must reach
    /// [default: `cluster` in the data folder]
    #[arg(long, value_name = "URL", env = "AXIOSCOPE_STORAGE")]
    storage: Option<String>,
    /// Replace a finished study that has the same name and a different definition
    #[arg(long)]
    replace: bool,
    /// Number of queries to mine in a shard
    #[arg(long, value_name = "N", default_value_t = 32)]
    shard_queries: usize,
    /// Number of batches, of at most 4,096 tokens each, to score in a shard
    #[arg(long, value_name = "N", default_value_t = 16)]
    shard_batches: usize,
    /// Number of pairs to score with a remote ranker in a shard
    #[arg(long, value_name = "N", default_value_t = 100)]
    shard_pairs: usize,
    /// Seconds to wait for a scheduler that does not respond
    #[arg(long, value_name = "SECONDS", default_value_t = 300)]
    scheduler_timeout: u64,
    /// Seconds after which shards are given to executors again if none was finished
    #[arg(long, value_name = "SECONDS", default_value_t = 3600)]
    shard_timeout: u64,
    /// Print a summary as JSON: the study, the hash of its instances, and the shards, rows, bytes
    /// and seconds of each stage
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    tls: TlsArgs,
    #[command(flatten)]
    models: StudyModelArgs,
}

/// The summary of a run.
#[derive(Serialize)]
struct RunSummary {
    study: String,
    instances_hash: String,
    stages: BTreeMap<String, StageTotals>,
}

impl RunArgs {
    pub(crate) fn run(self) -> Result<(), ShardError> {
        exit_on_stop_signal();
        let address = match &self.storage {
            Some(address) => address.clone(),
            None => {
                let folder = std::path::absolute(self.data.join("cluster"));
                let folder = folder.map_err(|error| ShardError::permanent(error.to_string()))?;
                let url = url::Url::from_directory_path(&folder);
                url.map_err(|()| ShardError::permanent("the data folder has no path"))?
                    .into()
            }
        };
        let engine = match &self.scheduler {
            Some(cpu) => Engine::Ballista(Schedulers {
                cpu: cpu.clone(),
                gpu: self.gpu_scheduler.clone(),
                timeout: Duration::from_secs(self.scheduler_timeout),
                tls: self.tls.read()?,
            }),
            None => Engine::Local(Arc::new(ShardRunner {
                worker: self.models.shard_worker(available_cores())?,
                name: format!("local-{}", new_instance_id()),
                storage: None,
                slots: Slots::new(available_cores()),
            })),
        };
        let begun: Arc<Mutex<Option<Arc<JobProgress>>>> = Arc::default();
        let cluster = StudyCluster {
            sizes: ShardSizes {
                queries: self.shard_queries,
                batches: self.shard_batches,
                remote_pairs: self.shard_pairs,
            },
            open_engine: Box::new({
                let (begun, data) = (begun.clone(), self.data.clone());
                let stall = Duration::from_secs(self.shard_timeout);
                move |job| {
                    let records = ClusterRecords::begin(&data, job, build_id(), &address)?;
                    let storage = JobStorage::open(&address, job)?;
                    let progress = Arc::new(JobProgress::begin(storage, records)?);
                    *begun.lock().unwrap_or_else(PoisonError::into_inner) = Some(progress.clone());
                    Ok(Box::new(JobEngine {
                        stall,
                        engine: engine.clone(),
                        address: address.clone(),
                        job: job.clone(),
                        progress,
                        inputs: Mutex::default(),
                    }))
                }
            }),
        };
        let (file, data) = (&self.file, &self.data);
        let study = run_study_on_cluster(file, data, &self.models, self.replace, cluster);
        // There is no job if the study was complete.
        let job = begun.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(job) = &job {
            job.end(study.as_ref().err())?;
        }
        let study = study?;
        if job.is_none() {
            end_jobs_of_complete_study(data, &study.name)?;
        }
        if self.json {
            let stages = job.map(|it| it.totals()).unwrap_or_default();
            let summary = RunSummary {
                study: study.name,
                instances_hash: study.instances_hash,
                stages,
            };
            let json = serde_json::to_string(&summary);
            println!(
                "{}",
                json.map_err(|it| ShardError::permanent(it.to_string()))?
            );
        } else {
            print!("{}", study.text);
        }
        Ok(())
    }
}

/// Lets this process end on a signal to stop, also as the first process of a container.
fn exit_on_stop_signal() {
    std::thread::spawn(|| {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        runtime
            .expect("the system has threads")
            .block_on(wait_for_stop_signal());
        eprintln!("stopped; the same command continues the study");
        std::process::exit(130);
    });
}
