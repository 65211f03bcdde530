//! The command `executor`.

use std::collections::HashMap;
use std::net::{IpAddr, TcpListener};
use std::sync::Arc;

use axioscope::distributed::{ShardError, StudyModelArgs};
use ballista_core::config::TaskSchedulingPolicy;
use ballista_core::ids::new_instance_id;
use ballista_core::registry::BallistaFunctionRegistry;
use ballista_executor::executor_process::{ExecutorProcessConfig, start_executor_process};

use crate::shard_function::{RUN_SHARD, RunShard, ShardRunner, Slots};

/// Holds the command-line arguments of `axioscope-cluster executor`.
#[derive(clap::Args)]
pub(crate) struct ExecutorArgs {
    /// Address of the scheduler
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:50050")]
    scheduler: String,
    /// Number of shards to compute at a time; 1 for a GPU
    #[arg(long, value_name = "N", default_value_t = available_cores())]
    cores: usize,
    /// Address of this machine, at which the scheduler and drivers reach it; there is no password,
    /// so keep it in a private network
    #[arg(long, value_name = "IP", default_value = "127.0.0.1")]
    listen: IpAddr,
    /// Storage to use, file:///FOLDER or s3://BUCKET/FOLDER [default: that of each study]
    #[arg(long, value_name = "URL", env = "AXIOSCOPE_STORAGE")]
    storage: Option<String>,
    #[command(flatten)]
    models: StudyModelArgs,
}

/// Returns the number of cores that this process may use.
pub(crate) fn available_cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

impl ExecutorArgs {
    pub(crate) fn run(self) -> Result<(), ShardError> {
        let refuse = |error: &dyn std::fmt::Display| ShardError::permanent(error.to_string());
        let (host, port) = self.scheduler.rsplit_once(':').ok_or_else(|| {
            ShardError::permanent(format!("--scheduler {}: give HOST:PORT", self.scheduler))
        })?;
        // Containers may share a host name and have the same process numbers.
        let name = format!("{}-{}", host_name(), new_instance_id());
        let executor = Arc::new(ShardRunner {
            worker: self.models.shard_worker(self.cores)?,
            name: name.clone(),
            storage: self.storage.clone(),
            slots: Slots::new(self.cores),
        });
        let function = Arc::new(RunShard::to_compute(executor));
        let functions = BallistaFunctionRegistry {
            scalar_functions: HashMap::from([(RUN_SHARD.to_owned(), function)]),
            ..BallistaFunctionRegistry::default()
        };
        let work = tempfile::tempdir().map_err(|error| refuse(&error))?;
        let config = ExecutorProcessConfig {
            executor_id: name,
            bind_host: self.listen.to_string(),
            external_host: Some(self.listen.to_string()),
            port: free_port(self.listen).map_err(|error| refuse(&error))?,
            grpc_port: free_port(self.listen).map_err(|error| refuse(&error))?,
            scheduler_host: host.to_owned(),
            scheduler_port: port.parse().map_err(|error| refuse(&error))?,
            scheduler_connect_timeout_seconds: 60,
            vcores: self.cores,
            task_scheduling_policy: TaskSchedulingPolicy::PullStaged,
            work_dir: Some(work.path().display().to_string()),
            memory_pool_size: Some(0),
            override_function_registry: Some(Arc::new(functions)),
            ..ExecutorProcessConfig::default()
        };
        let runtime = tokio::runtime::Runtime::new().map_err(|error| refuse(&error))?;
        let served = runtime.block_on(start_executor_process(Arc::new(config)));
        served.map_err(|error| {
            ShardError::permanent(format!("executor of {}: {error}", self.scheduler))
        })
    }
}

fn free_port(on: IpAddr) -> std::io::Result<u16> {
    Ok(TcpListener::bind((on, 0))?.local_addr()?.port())
}

/// Returns the name of this machine.
fn host_name() -> String {
    let name = std::fs::read_to_string("/etc/hostname").unwrap_or_default();
    match name.trim() {
        "" => "executor".to_owned(),
        name => name.to_owned(),
    }
}
