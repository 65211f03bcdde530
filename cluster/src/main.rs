//! The program `axioscope-cluster`: studies on several machines.

mod build_id;
mod storage;
mod tls;
mod shard_function;
mod progress;
mod engine;
mod scheduler;
mod executor;
mod run;
mod status;

use std::process::ExitCode;

use axioscope::distributed::ShardError;
use clap::{Parser, Subcommand};

/// Create studies on several machines
#[derive(Parser)]
#[command(name = "axioscope-cluster", version)]
struct Cli {
    #[command(subcommand)]
    command: ClusterCommand,
}

#[derive(Subcommand)]
enum ClusterCommand {
    /// Distribute the shards of studies among executors
    Scheduler(scheduler::SchedulerArgs),
    /// Compute shards for a scheduler
    Executor(executor::ExecutorArgs),
    /// Create a study from its definition file, or continue one that was interrupted
    Run(run::RunArgs),
    /// List studies that are being created or were created, with their stages and executors
    Status(status::StatusArgs),
    /// Cancel the creation of a study
    Cancel(status::CancelArgs),
}

fn main() -> ExitCode {
    axioscope::log_to_standard_error();
    if let Err(error) = build_id::read_build_id() {
        eprintln!("error: the file of this program cannot be read: {error}");
        return ExitCode::FAILURE;
    }
    let done = match Cli::parse().command {
        ClusterCommand::Scheduler(it) => it.run(),
        ClusterCommand::Executor(it) => it.run(),
        ClusterCommand::Run(it) => it.run(),
        ClusterCommand::Status(it) => it.run(),
        ClusterCommand::Cancel(it) => it.run(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(ShardError { message, .. }) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}
