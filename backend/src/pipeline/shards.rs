//! The parts of a study that other machines can compute: shards.
//!
//! A shard is a range of queries to mine, some batches of pairs to score, or the pairs of a score
//! stability check. It has the same result wherever it is computed, because it names everything
//! that decides its bits: queries are mined one by one, and batches are planned over all pairs
//! before they are divided into shards. [`DistributedStudy`] asks a [`ShardEngine`] for the outputs
//! of shards while a study is created, and a [`ShardWorker`] computes them.

mod distributed_study;
mod study_inputs;
mod worker;
#[cfg(test)]
mod tests;

use std::fmt;
use std::ops::Range;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use shared::collection::encode_hex;

use crate::error::ShardError;
pub(crate) use distributed_study::DistributedStudy;
pub use distributed_study::{EngineOpener, ShardSizes, StudyCluster, StudyJob};
pub use worker::{ShardOutput, ShardWorker};

/// Name of the input with the definition of the study. All others have a hash in their names.
const DEFINITION: &str = "definition";

/// The kinds of work into which a study is divided, in the order in which they are done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StudyStage {
    /// Mining queries, and scoring their pairs with lexical rankers.
    Mine,
    /// Scoring batches of pairs with neural rankers.
    Score,
    /// Scoring pairs with a remote ranker.
    RemoteScore,
    /// Scoring some pairs again, under other conditions.
    Rescore,
}

/// The computation of a shard, with the inputs that it needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ShardWork {
    /// Mines queries and scores their pairs with the lexical rankers of the study.
    MineQueries {
        /// Indices of the queries.
        queries: Range<usize>,
    },
    /// Scores batches of pairs with neural rankers that encode texts in the same way.
    ScoreBatches {
        /// Name of the input with the rankers, the queries and all pairs.
        common: String,
        /// Name of the input with the documents of the batches.
        batches: String,
    },
    /// Scores pairs with a remote ranker.
    SendRequests {
        /// Name of the input with the ranker, the queries, the documents and the pairs.
        pairs: String,
    },
    /// Scores pairs again with a neural ranker, under other conditions.
    RescorePairs {
        /// Name of the input with the ranker, the queries, the documents and the pairs.
        pairs: String,
    },
}

/// A part of a study that is computed on its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StudyShard {
    /// The number of the shard in its stage and group, from 0.
    pub number: u32,
    /// What it computes.
    pub work: ShardWork,
}

impl StudyShard {
    /// Returns the stage to which the shard belongs.
    pub fn stage(&self) -> StudyStage {
        match self.work {
            ShardWork::MineQueries { .. } => StudyStage::Mine,
            ShardWork::ScoreBatches { .. } => StudyStage::Score,
            ShardWork::SendRequests { .. } => StudyStage::RemoteScore,
            ShardWork::RescorePairs { .. } => StudyStage::Rescore,
        }
    }

    /// Returns the name of its output, which is the same whenever the same study is created.
    pub fn name(&self) -> String {
        let number = self.number;
        match &self.work {
            ShardWork::MineQueries { .. } => format!("mine-{number:06}"),
            ShardWork::ScoreBatches { common, .. } => format!("score-{common}-{number:06}"),
            ShardWork::SendRequests { pairs } | ShardWork::RescorePairs { pairs } => {
                format!("{}-{pairs}", self.stage())
            }
        }
    }
}

impl fmt::Display for StudyStage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            StudyStage::Mine => "mine",
            StudyStage::Score => "score",
            StudyStage::RemoteScore => "remote-score",
            StudyStage::Rescore => "rescore",
        })
    }
}

/// Has the shards of one study computed and keeps their inputs and outputs.
pub trait ShardEngine: Send + Sync {
    /// Stores an input under its name, at the latest before shards are computed. The same name
    /// always has the same content.
    fn put_input(&self, name: &str, content: Vec<u8>) -> Result<(), ShardError>;

    /// Computes the shards that have no output yet, all of the same stage, and returns when all
    /// have one.
    fn compute_shards(&self, shards: &[StudyShard]) -> Result<(), ShardError>;

    /// Reads the outputs of shards, as they were written, all at the same time.
    fn read_outputs(&self, shards: &[StudyShard]) -> Result<Vec<Vec<u8>>, ShardError>;
}

/// Reads the inputs of the shards of one study.
pub trait ShardInputs: Send + Sync {
    /// Reads an input by its name.
    fn read_input(&self, name: &str) -> Result<Vec<u8>, ShardError>;
}

/// Returns the name of an input: its kind, and the beginning of the hash of its content.
fn input_name(kind: &str, content: &[u8]) -> String {
    format!("{kind}-{:.16}", encode_hex(&Sha256::digest(content)))
}

/// Reads an input whose name has its hash, and compares it.
fn read_checked(inputs: &dyn ShardInputs, name: &str) -> Result<Vec<u8>, ShardError> {
    let content = inputs.read_input(name)?;
    let hash = encode_hex(&Sha256::digest(&content));
    let is_intact = name == DEFINITION || name.split('-').any(|it| it == &hash[..16]);
    match is_intact {
        true => Ok(content),
        false => Err(damaged_input(name, "its hash is not that of its name")),
    }
}

fn damaged_input(name: &str, reason: &str) -> ShardError {
    ShardError::permanent(format!(
        "the input `{name}` is damaged ({reason}); remove it from the folder `inputs` of the job \
         and start the study again"
    ))
}

/// Encodes an input or output. Numbers keep their bits.
fn encode<T: Serialize>(value: &T) -> Result<Vec<u8>, ShardError> {
    postcard::to_allocvec(value).map_err(|error| ShardError::permanent(error.to_string()))
}

/// Decodes an input or output.
fn decode<T: DeserializeOwned>(name: &str, bytes: &[u8]) -> Result<T, ShardError> {
    postcard::from_bytes(bytes).map_err(|error| {
        ShardError::permanent(format!(
            "{name} is not of this version ({error}); start the study again with one version of \
             axioscope on all machines"
        ))
    })
}
