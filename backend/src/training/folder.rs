//! The folder of a training.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use neural::training::TrainingCheckpoint;
use shared::error::Error as InputError;
use shared::training::{LearningCurvePoint, TrainingRecord, TrainingSummary};

use crate::error::Error;
use crate::remedy;
use crate::store::write_atomically;

/// The state of a network to continue from.
pub(super) const CHECKPOINT: &str = "checkpoint.safetensors";
/// The state of LambdaMART to continue from.
pub(super) const LAMBDAMART_CHECKPOINT: &str = "checkpoint.json";
/// The learning curve, one JSON object for each evaluation.
const CURVES: &str = "curves.jsonl";
/// The result of the training.
const SUMMARY: &str = "training.json";

/// Reads the learning curve and, if the training has ended, the result from its folder. Returns an
/// error if the curve has no point.
pub(crate) fn read_training_record(path: &Path) -> Result<TrainingRecord, Error> {
    let record = read_training_record_so_far(path)?;
    if record.points.is_empty() {
        let reason = "has no checkpoint; give the name of a study, or the folder of a training \
             after its first epoch";
        let name = path.join(CURVES).display().to_string();
        return Err(InputError::unreadable_file(&name, reason).into());
    }
    Ok(record)
}

/// Same as [`read_training_record`], also before the first point.
pub(crate) fn read_training_record_so_far(path: &Path) -> Result<TrainingRecord, Error> {
    let folder = TrainingFolder {
        path: path.to_owned(),
    };
    let points = folder.read_curve(u64::MAX)?;
    let summary = folder.read(SUMMARY)?;
    let summary = summary.map(|it| serde_json::from_slice::<TrainingSummary>(&it));
    let summary = summary.transpose().map_err(|it| Error::CorruptData {
        what: folder.name_of(SUMMARY),
        reason: format!("{it}; repeat the command `train`, which writes it again"),
    })?;
    let name = path.file_name().unwrap_or(path.as_os_str());
    Ok(TrainingRecord {
        name: name.to_string_lossy().into_owned(),
        points,
        summary,
    })
}

/// The folder that a training writes.
pub(super) struct TrainingFolder {
    path: PathBuf,
}

impl TrainingFolder {
    /// Creates the folder if it does not exist.
    pub(super) fn open(path: PathBuf) -> Result<TrainingFolder, Error> {
        fs::create_dir_all(&path)
            .map_err(Error::io_error_converter(&path, remedy::ANOTHER_FOLDER))?;
        Ok(TrainingFolder { path })
    }

    /// Returns an error if the folder has this file, the checkpoint of another kind of model.
    pub(super) fn ensure_without(&self, checkpoint: &str) -> Result<(), Error> {
        match self.path.join(checkpoint).exists() {
            false => Ok(()),
            true => Err(Error::OtherTraining {
                folder: self.path.clone(),
                what: "model",
            }),
        }
    }

    /// Reads the last checkpoint of a network; `None` if the training has not begun.
    pub(super) fn read_checkpoint(&self) -> Result<Option<TrainingCheckpoint>, Error> {
        let Some(bytes) = self.read(CHECKPOINT)? else {
            return Ok(None);
        };
        Ok(Some(TrainingCheckpoint::from_bytes(&bytes)?))
    }

    /// Writes the checkpoint in place of the one before.
    pub(super) fn write_checkpoint(&self, checkpoint: &TrainingCheckpoint) -> Result<(), Error> {
        self.write(CHECKPOINT, &checkpoint.to_bytes()?)
    }

    /// Reads the points of the learning curve up to a step. Points after it belong to updates that
    /// are made again.
    pub(super) fn read_curve(&self, last_step: u64) -> Result<Vec<LearningCurvePoint>, Error> {
        let bytes = self.read(CURVES)?.unwrap_or_default();
        let mut points = LearningCurvePoint::parse_lines(&self.name_of(CURVES), &bytes)?;
        points.retain(|it| it.step <= last_step);
        Ok(points)
    }

    /// Writes the learning curve in place of the one before.
    pub(super) fn write_curve(&self, points: &[LearningCurvePoint]) -> Result<(), Error> {
        let mut lines = Vec::new();
        for point in points {
            serde_json::to_writer(&mut lines, point).expect("a point has finite numbers");
            lines.push(b'\n');
        }
        self.write(CURVES, &lines)
    }

    /// Reads the file of the weights or trees that were selected last.
    pub(super) fn read_selected(&self, name: &str) -> Result<Vec<u8>, Error> {
        let path = self.path.join(name);
        let way_out = "choose another folder, in which the training begins again";
        fs::read(&path).map_err(Error::io_error_converter(&path, way_out))
    }

    /// Writes the result in place of the one before.
    pub(super) fn write_summary(&self, summary: &TrainingSummary) -> Result<(), Error> {
        let json = serde_json::to_string_pretty(summary).expect("a result has finite numbers");
        self.write(SUMMARY, format!("{json}\n").as_bytes())
    }

    /// Writes a file, which appears complete or not at all.
    pub(super) fn write(&self, name: &str, bytes: &[u8]) -> Result<(), Error> {
        write_atomically(&self.path.join(name), remedy::ANOTHER_FOLDER, |mut file| {
            file.write_all(bytes)
        })
    }

    fn name_of(&self, file: &str) -> String {
        self.path.join(file).display().to_string()
    }

    /// Reads a file; `None` if it does not exist.
    pub(super) fn read(&self, name: &str) -> Result<Option<Vec<u8>>, Error> {
        let path = self.path.join(name);
        match fs::read(&path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::io_error_converter(&path, remedy::ANOTHER_FOLDER)(
                error,
            )),
        }
    }
}
