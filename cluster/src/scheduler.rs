//! The command `scheduler`.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;

use axioscope::distributed::{ShardError, wait_for_stop_signal};
use ballista_scheduler::cluster::BallistaCluster;
use ballista_scheduler::config::SchedulerConfig;
use ballista_scheduler::scheduler_process::start_server;
use datafusion::execution::SessionStateBuilder;
use datafusion::prelude::SessionConfig;

use crate::shard_function::RunShard;
use crate::tls::{ClusterTls, TlsArgs};

/// Holds the command-line arguments of `axioscope-cluster scheduler`.
#[derive(clap::Args)]
pub(crate) struct SchedulerArgs {
    /// Address to listen on; without --tls-ca everybody who reaches it can use the cluster, so keep
    /// it in a private network
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:50050")]
    listen: SocketAddr,
    /// Seconds without a sign of life after which an executor is given up, and its shards are
    /// computed by others; at least 8, since a busy executor shows one every 5 seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 20,
          value_parser = clap::value_parser!(u64).range(8..))]
    executor_timeout: u64,
    #[command(flatten)]
    tls: TlsArgs,
}

impl SchedulerArgs {
    pub(crate) fn run(self) -> Result<(), ShardError> {
        let runtime = tokio::runtime::Runtime::new();
        let runtime = runtime.map_err(|error| ShardError::permanent(error.to_string()))?;
        let listen = self.listen;
        let tls = self.tls.read()?;
        let config = SchedulerConfig {
            bind_host: listen.ip().to_string(),
            bind_port: listen.port(),
            external_host: listen.ip().to_string(),
            scheduling_policy: ballista_core::config::TaskSchedulingPolicy::PullStaged,
            executor_timeout_seconds: self.executor_timeout,
            expire_dead_executor_interval_seconds: 1,
            // A job waits for its first executor.
            no_executors_grace_period_seconds: 600,
            // Executors that die do not fail a shard.
            task_max_failures: 16,
            stage_max_failures: 64,
            // Tasks for all cores of an executor are one message, each with its whole plan.
            grpc_server_max_encoding_message_size: u32::MAX,
            override_session_builder: Some(Arc::new(|config: SessionConfig| {
                let state = SessionStateBuilder::new()
                    .with_default_features()
                    .with_config(config)
                    .with_scalar_functions(vec![Arc::new(RunShard::to_plan())]);
                Ok(state.build())
            })),
            use_tls: tls.is_some(),
            override_create_grpc_client_endpoint: tls.as_deref().map(ClusterTls::endpoint_override),
            ..SchedulerConfig::default()
        };
        // Ballista opens it again.
        TcpListener::bind(listen).map_err(|error| {
            ShardError::permanent(format!(
                "{listen}: {error}; give another address by --listen"
            ))
        })?;
        let served = async {
            let cluster = BallistaCluster::new_from_config(&config).await?;
            println!("scheduler on {listen}");
            match &tls {
                Some(tls) => tls.start_scheduler(cluster, listen, Arc::new(config)).await,
                None => start_server(cluster, listen, Arc::new(config)).await,
            }
        };
        runtime.block_on(async {
            tokio::select! {
                served = served => served.map_err(|error| {
                    ShardError::permanent(format!("scheduler on {listen}: {error}"))
                }),
                () = wait_for_stop_signal() => Ok(()),
            }
        })
    }
}
