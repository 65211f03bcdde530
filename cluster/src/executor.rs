//! The command `executor`.

use std::collections::HashMap;
use std::net::{IpAddr, TcpListener};
use std::sync::Arc;
use std::time::{Duration, Instant};

use axioscope::distributed::{ShardError, StudyModelArgs, wait_for_stop_signal};
use ballista_core::ConfigProducer;
use ballista_core::config::TaskSchedulingPolicy;
use ballista_core::ids::new_instance_id;
use ballista_core::registry::BallistaFunctionRegistry;
use ballista_executor::executor_process::{ExecutorProcessConfig, start_executor_process};

use crate::shard_function::{RUN_SHARD, RunShard, ShardRunner, Slots};
use crate::tls::{ClusterTls, TlsArgs, ensure_scheduler_responds};

/// How long to wait for the scheduler when an executor starts.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(60);

/// Time to wait before a scheduler that does not respond is tried again.
const RETRY: Duration = Duration::from_millis(500);

/// Holds the command-line arguments of `axioscope-cluster executor`.
#[derive(clap::Args)]
pub(crate) struct ExecutorArgs {
    /// Address of the scheduler
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:50050")]
    scheduler: String,
    /// Number of shards to compute at a time; 1 for a GPU
    #[arg(long, value_name = "N", default_value_t = available_cores())]
    cores: usize,
    /// Address of this machine, at which the scheduler and drivers reach it; without --tls-ca
    /// everybody can read what executors send, so keep it in a private network
    #[arg(long, value_name = "IP", default_value = "127.0.0.1")]
    listen: IpAddr,
    /// Storage to use, file:///FOLDER or s3://BUCKET/FOLDER [default: that of each study]
    #[arg(long, value_name = "URL", env = "AXIOSCOPE_STORAGE")]
    storage: Option<String>,
    #[command(flatten)]
    tls: TlsArgs,
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
        let tls = self.tls.read()?;
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
            scheduler_host: host.to_owned(),
            scheduler_port: port.parse().map_err(|error| refuse(&error))?,
            scheduler_connect_timeout_seconds: 60,
            vcores: self.cores,
            task_scheduling_policy: TaskSchedulingPolicy::PullStaged,
            work_dir: Some(work.path().display().to_string()),
            memory_pool_size: Some(0),
            // Each task comes with its whole plan, and as many at once as there are cores.
            grpc_max_decoding_message_size: u32::MAX,
            override_function_registry: Some(Arc::new(functions)),
            override_arrow_flight_service: tls.as_deref().map(ClusterTls::flight_service),
            override_create_grpc_client_endpoint: tls.as_deref().map(ClusterTls::endpoint_override),
            override_config_producer: tls
                .clone()
                .map(|tls| Arc::new(move || tls.session_config()) as ConfigProducer),
            ..ExecutorProcessConfig::default()
        };
        let runtime = tokio::runtime::Runtime::new().map_err(|error| refuse(&error))?;
        let failed = |reason: &dyn std::fmt::Display| {
            ShardError::permanent(format!("executor of {}: {reason}", self.scheduler))
        };
        let signal = runtime.spawn(wait_for_stop_signal());
        runtime.block_on(async {
            let since = Instant::now();
            while let Err(error) = ensure_scheduler_responds(&self.scheduler, tls.as_deref()).await
            {
                if signal.is_finished() {
                    return Ok(());
                }
                if since.elapsed() >= CONNECT_TIMEOUT {
                    return Err(ShardError::permanent(error));
                }
                tracing::warn!("{error}; trying again");
                tokio::time::sleep(RETRY).await;
            }
            let served = start_executor_process(Arc::new(config)).await;
            served.map_err(|error| failed(&error))?;
            // Ballista also returns when a service of the executor has ended, such as one that has
            // no port.
            match signal.is_finished() {
                true => Ok(()),
                false => Err(failed(&"it has ended unexpectedly; start it again")),
            }
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
