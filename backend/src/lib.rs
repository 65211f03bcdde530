//! The command line and server of Axioscope, as a library for its programs.

mod config;
mod clock;
mod error;
mod remedy;
mod progress;
mod store;
mod runtime;
mod collection_files;
mod models;
mod remote_ranker;
mod vocabulary;
mod pipeline;
mod cluster_records;
mod training;
mod demo;
mod cache;
mod jobs;
mod training_jobs;
mod annotation;
mod canary;
mod front_end_files;
mod first_paint;
mod static_site;
mod documentation;
mod http;
mod cli;
#[cfg(test)]
mod mutated_input;

use std::io::IsTerminal;
use std::process::ExitCode;

use clap::Parser;

/// Studies whose shards are computed on several machines.
pub mod distributed {
    pub use crate::cli::study::{CreatedStudy, StudyModelArgs, run_study_on_cluster};
    pub use crate::cluster_records::{
        ClusterRecords, cancel_cluster_job, end_jobs_of_complete_study, list_cluster_jobs,
    };
    pub use crate::error::ShardError;
    pub use crate::pipeline::{
        EngineOpener, ShardEngine, ShardInputs, ShardOutput, ShardSizes, ShardWork, ShardWorker,
        StudyCluster, StudyJob, StudyShard, StudyStage,
    };
    pub use crate::runtime::wait_for_stop_signal;
    pub use crate::store::cluster_jobs::CommittedShard;
}

/// Runs the program `axioscope` with the arguments of this process.
pub fn run_program() -> ExitCode {
    log_to_standard_error();
    match cli::Cli::parse().run_subcommand() {
        Ok(cli::CommandOutcome::Done) => ExitCode::SUCCESS,
        Ok(cli::CommandOutcome::DifferenceFound) => ExitCode::from(3),
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Writes the log to standard error, at the level that `AXIOSCOPE_LOG` asks for.
pub fn log_to_standard_error() {
    let level = tracing_subscriber::EnvFilter::try_from_env("AXIOSCOPE_LOG")
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("warn,axioscope=info"));
    // At a more verbose level this crate logs all bytes that are sent, including keys and tokens.
    let quiet = "ureq_proto=info".parse().expect("this is a directive");
    let level = level.add_directive(quiet);
    tracing_subscriber::fmt()
        .with_env_filter(level)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .init();
}
