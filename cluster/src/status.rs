//! The commands `status` and `cancel`.

use std::path::PathBuf;

use axioscope::distributed::{ShardError, cancel_cluster_job, list_cluster_jobs};
use shared::api::cluster::ClusterJob;

/// Holds the command-line arguments of `axioscope-cluster status`.
#[derive(clap::Args)]
pub(crate) struct StatusArgs {
    /// Name of a study [default: all]
    study: Option<String>,
    /// Data folder, in which the studies are stored
    #[arg(long, value_name = "FOLDER", default_value = "axioscope-data")]
    data: PathBuf,
    /// Print a JSON list of all jobs
    #[arg(long)]
    json: bool,
}

/// Holds the command-line arguments of `axioscope-cluster cancel`.
#[derive(clap::Args)]
pub(crate) struct CancelArgs {
    /// Name of the study
    study: String,
    /// Data folder, in which the study is stored
    #[arg(long, value_name = "FOLDER", default_value = "axioscope-data")]
    data: PathBuf,
}

impl StatusArgs {
    pub(crate) fn run(self) -> Result<(), ShardError> {
        let mut jobs = list_cluster_jobs(&self.data)?;
        jobs.retain(|it| self.study.as_ref().is_none_or(|study| it.study == *study));
        if self.json {
            let json = serde_json::to_string(&jobs);
            println!(
                "{}",
                json.map_err(|it| ShardError::permanent(it.to_string()))?
            );
            return Ok(());
        }
        if jobs.is_empty() {
            println!("no jobs; `axioscope-cluster run STUDY.toml` begins one");
        }
        for job in &jobs {
            print_job(job);
        }
        Ok(())
    }
}

fn print_job(job: &ClusterJob) {
    let state = serde_json::to_value(job.state).unwrap_or_default();
    let driver = match (job.state.is_finished(), job.has_driver) {
        (false, false) => ", without a driver: the same `run` command continues it",
        _ => "",
    };
    println!(
        "{}\t{}{driver}",
        job.study,
        state.as_str().unwrap_or_default()
    );
    if let Some(error) = &job.error {
        println!("\terror: {error}");
    }
    for stage in &job.stages {
        println!(
            "\t{}\t{} of {} shards, {} attempts, {} rows, {} bytes, {:.1} s",
            stage.name,
            stage.n_committed,
            stage.n_shards,
            stage.n_attempts,
            stage.n_rows,
            stage.n_bytes,
            stage.seconds
        );
    }
    for executor in &job.executors {
        println!(
            "\t{}\t{} shards, {:.1} s",
            executor.name, executor.n_shards, executor.seconds
        );
    }
}

impl CancelArgs {
    pub(crate) fn run(self) -> Result<(), ShardError> {
        cancel_cluster_job(&self.data, &self.study)?;
        println!(
            "study `{}` is canceled; the same `run` command continues it",
            self.study
        );
        Ok(())
    }
}
