//! The state of a training in its folder, `job.json`.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;

use serde::{Deserialize, Serialize};
use shared::api::JobState;
use shared::api::training::TrainingJob;

use super::set_state;
use crate::error::Error;
use crate::remedy;
use crate::store::{DataFolder, write_atomically};

const JOB: &str = "job.json";

/// The content of `job.json`.
#[derive(Serialize, Deserialize)]
struct StoredTrainingJob {
    /// The version of the format, 1.
    format: u32,
    job: TrainingJob,
}

/// Loads the jobs of all trainings. One that was running is queued, since it was left by a process
/// that has ended. Folders without a job are those of commands, and are left out.
pub(super) fn load_jobs(folder: &DataFolder) -> Result<BTreeMap<String, TrainingJob>, Error> {
    let mut jobs = BTreeMap::new();
    for name in folder.training_names()? {
        let path = folder.training_folder(&name)?.join(JOB);
        if !path.exists() {
            continue;
        }
        match read_job(&path) {
            Ok(mut job) => {
                job.request.name.clone_from(&name);
                job.name.clone_from(&name);
                if job.state == JobState::Running {
                    set_state(&mut job, JobState::Queued);
                }
                jobs.insert(name, job);
            }
            // One damaged training must not keep the server from starting.
            Err(error) => tracing::error!("training {name}: {error}"),
        }
    }
    Ok(jobs)
}

fn read_job(path: &Path) -> Result<TrainingJob, Error> {
    let bytes = fs::read(path).map_err(Error::io_error_converter(path, "check its permissions"))?;
    let damaged = |reason: String| Error::CorruptData {
        what: path.display().to_string(),
        reason: format!("{reason}; restore it from a backup, or remove the folder"),
    };
    let stored: StoredTrainingJob =
        serde_json::from_slice(&bytes).map_err(|it| damaged(it.to_string()))?;
    match stored.format {
        1 => Ok(stored.job),
        format => Err(damaged(format!("its format is {format}, and 1 is known"))),
    }
}

/// Creates the folder of a training with its job and other files, each a name and the content. The
/// folder appears complete or not at all. Returns an error if there is one of this name.
pub(super) fn create_job_folder(
    folder: &DataFolder,
    job: &TrainingJob,
    files: &[(&str, Vec<u8>)],
) -> Result<(), Error> {
    let target = folder.training_folder(&job.name)?;
    if target.exists() {
        let name = &job.name;
        let reason = format!("there is a training named `{name}` already; choose another name");
        return Err(Error::Conflict { reason });
    }
    let parent = target.parent().unwrap_or(&target);
    fs::create_dir_all(parent).map_err(Error::io_error_converter(
        parent,
        remedy::ANOTHER_DATA_FOLDER,
    ))?;
    let temporary = tempfile::tempdir_in(parent).map_err(Error::io_error_converter(
        parent,
        remedy::ANOTHER_DATA_FOLDER,
    ))?;
    for (name, content) in files {
        let path = temporary.path().join(name);
        fs::write(&path, content).map_err(Error::io_error_converter(
            &path,
            remedy::ANOTHER_DATA_FOLDER,
        ))?;
    }
    write_file(&temporary.path().join(JOB), job)?;
    fs::rename(temporary.path(), &target).map_err(Error::io_error_converter(
        &target,
        remedy::ANOTHER_DATA_FOLDER,
    ))
}

/// Writes the job of a training in place of the one before.
pub(super) fn write_job(folder: &DataFolder, job: &TrainingJob) -> Result<(), Error> {
    write_file(&folder.training_folder(&job.name)?.join(JOB), job)
}

fn write_file(path: &Path, job: &TrainingJob) -> Result<(), Error> {
    let stored = StoredTrainingJob {
        format: 1,
        job: TrainingJob {
            updates_per_s: 0.0,
            ..job.clone()
        },
    };
    let json = serde_json::to_string_pretty(&stored).expect("a job has finite numbers");
    write_atomically(path, remedy::ANOTHER_DATA_FOLDER, |mut file| {
        writeln!(file, "{json}")
    })
}
