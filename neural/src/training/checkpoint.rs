//! Checkpoints: everything that a training needs to continue with the same bits, as one
//! safetensors file.
//!
//! The file has the tensors `weights.NAME` and `optimizer.NAME.AVERAGE` and one entry of metadata,
//! `training`: a JSON object with the [`TrainingProgress`], the order of the tensors and a SHA-256
//! over all of them. It is an ordinary safetensors file for other programs.

use std::collections::HashMap;

use candle_core::safetensors::Load;
use candle_core::{DType, Device, Tensor};
use safetensors::SafeTensors;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::error::TrainingError;

const FORMAT: u32 = 1;
const METADATA_KEY: &str = "training";
const WEIGHTS_PREFIX: &str = "weights.";
const OPTIMIZER_PREFIX: &str = "optimizer.";

/// The highest value of the measure on the development queries so far.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BestEvaluation {
    /// The number of updates before the evaluation.
    pub step: u64,
    /// The value of the measure.
    pub value: f64,
}

/// How far a training is, and which training it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainingProgress {
    /// The seed of examples, weights and dropout.
    pub seed: u64,
    /// The number of updates so far. It is the position of the sampler as well, since the batch of
    /// an update is a function of seed and step.
    pub step: u64,
    /// The number of updates before the last evaluation; 0 if there was none.
    pub evaluated_step: u64,
    /// The best evaluation so far.
    pub best: Option<BestEvaluation>,
    /// The sum of the losses since the last evaluation.
    pub loss_sum: f64,
    /// The number of losses since the last evaluation.
    pub n_losses: u64,
    /// The duration so far, as the caller counted it.
    pub seconds: f64,
    /// The hash of the recipe, see [`super::TrainingRecipe::sha256`].
    pub recipe_sha256: String,
    /// The hash of the training data, as the caller computed it.
    pub data_sha256: String,
}

/// The state of a training between two updates.
#[derive(Clone, Debug)]
pub struct TrainingCheckpoint {
    /// How far the training is.
    pub progress: TrainingProgress,
    /// The weights of the ranker by name, in the order of its variables; 32-bit floating point.
    pub weights: Vec<(String, Tensor)>,
    /// The averages of the optimizer, see [`super::Optimizer::named_tensors`].
    pub optimizer: Vec<(String, Tensor)>,
}

/// The metadata of the file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CheckpointMetadata {
    format: u32,
    progress: TrainingProgress,
    /// The names of the weights, in order.
    weights: Vec<String>,
    /// The names of the averages of the optimizer, in order.
    optimizer: Vec<String>,
    /// Over this object with an empty `sha256`, and all tensors.
    sha256: String,
}

impl TrainingCheckpoint {
    /// Returns the contents of the file; equal checkpoints have equal bytes.
    pub fn to_bytes(&self) -> Result<Vec<u8>, TrainingError> {
        let names = |tensors: &[(String, Tensor)]| tensors.iter().map(|it| it.0.clone()).collect();
        let mut metadata = CheckpointMetadata {
            format: FORMAT,
            progress: self.progress.clone(),
            weights: names(&self.weights),
            optimizer: names(&self.optimizer),
            sha256: String::new(),
        };
        metadata.sha256 = self.sha256(&metadata)?;
        let json = to_json(&metadata);
        let weights = self.weights.iter().map(|it| (WEIGHTS_PREFIX, it));
        let averages = self.optimizer.iter().map(|it| (OPTIMIZER_PREFIX, it));
        let tensors = weights.chain(averages);
        let tensors = tensors.map(|(prefix, (name, tensor))| (format!("{prefix}{name}"), tensor));
        // A single entry: entries are written in no fixed order.
        let entries = HashMap::from([(METADATA_KEY.to_owned(), json)]);
        let bytes = safetensors::serialize(tensors, Some(entries));
        Ok(bytes.map_err(candle_core::Error::from)?)
    }

    /// Reads the contents of a file; an error if they are damaged, truncated or of another kind.
    pub fn from_bytes(bytes: &[u8]) -> Result<TrainingCheckpoint, TrainingError> {
        let invalid = |reason: &dyn ToString| TrainingError::InvalidCheckpoint {
            n_bytes: bytes.len(),
            reason: reason.to_string(),
        };
        let (_, header) = SafeTensors::read_metadata(bytes).map_err(|it| invalid(&it))?;
        let entries = header.metadata().as_ref();
        let Some(json) = entries.and_then(|it| it.get(METADATA_KEY)) else {
            return Err(invalid(&"it is not the checkpoint of a training"));
        };
        let mut metadata: CheckpointMetadata =
            serde_json::from_str(json).map_err(|it| invalid(&it))?;
        if metadata.format != FORMAT {
            let found = metadata.format;
            return Err(invalid(&format!(
                "its format is {found}, but {FORMAT} is supported"
            )));
        }
        let file = SafeTensors::deserialize(bytes).map_err(|it| invalid(&it))?;
        let n_known = metadata.weights.len() + metadata.optimizer.len();
        if file.len() != n_known {
            let found = file.len();
            return Err(invalid(&format!("it has {found} tensors, not {n_known}")));
        }
        let read = |prefix: &str, names: &[String]| {
            let mut tensors = Vec::with_capacity(names.len());
            for name in names {
                let view = file
                    .tensor(&format!("{prefix}{name}"))
                    .map_err(|it| invalid(&it))?;
                let tensor = view.load(&Device::Cpu)?;
                if tensor.dtype() != DType::F32 {
                    let found = tensor.dtype();
                    return Err(invalid(&format!("`{name}` is of type {found:?}, not F32")));
                }
                tensors.push((name.clone(), tensor));
            }
            Ok(tensors)
        };
        let checkpoint = TrainingCheckpoint {
            progress: metadata.progress.clone(),
            weights: read(WEIGHTS_PREFIX, &metadata.weights)?,
            optimizer: read(OPTIMIZER_PREFIX, &metadata.optimizer)?,
        };
        let expected = std::mem::take(&mut metadata.sha256);
        if checkpoint.sha256(&metadata)? != expected {
            return Err(invalid(
                &"its contents do not have the SHA-256 that it names",
            ));
        }
        Ok(checkpoint)
    }

    /// Returns the SHA-256 of the weights, see [`weights_sha256`].
    pub fn weights_sha256(&self) -> Result<String, TrainingError> {
        weights_sha256(self.weights.iter().map(|it| (it.0.as_str(), &it.1)))
    }

    /// Returns the SHA-256 over metadata without a hash and all tensors.
    fn sha256(&self, metadata: &CheckpointMetadata) -> Result<String, TrainingError> {
        let mut hash = Sha256::new();
        hash.update(to_json(metadata));
        for (name, tensor) in self.weights.iter().chain(&self.optimizer) {
            hash.update(format!("\0{:?}", tensor.dims()));
            hash_tensor(&mut hash, name, tensor)?;
        }
        Ok(format!("{:x}", hash.finalize()))
    }
}

/// Returns the SHA-256 of weights in hex: over each name in UTF-8, a byte 0 and the elements as
/// little-endian 32-bit floating-point numbers in row-major order, one tensor after the other.
pub fn weights_sha256<'a>(
    weights: impl IntoIterator<Item = (&'a str, &'a Tensor)>,
) -> Result<String, TrainingError> {
    let mut hash = Sha256::new();
    for (name, tensor) in weights {
        hash_tensor(&mut hash, name, tensor)?;
    }
    Ok(format!("{:x}", hash.finalize()))
}

fn hash_tensor(hash: &mut Sha256, name: &str, tensor: &Tensor) -> Result<(), TrainingError> {
    let values: Vec<f32> = tensor.flatten_all()?.to_vec1()?;
    let bytes: Vec<u8> = values.iter().flat_map(|it| it.to_le_bytes()).collect();
    hash.update(name);
    hash.update([0]);
    hash.update(bytes);
    Ok(())
}

fn to_json(metadata: &CheckpointMetadata) -> String {
    serde_json::to_string(metadata).expect("the keys of the metadata are texts")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tensor(values: &[f32]) -> Tensor {
        Tensor::new(values, &Device::Cpu).unwrap()
    }

    fn checkpoint() -> TrainingCheckpoint {
        TrainingCheckpoint {
            progress: TrainingProgress {
                seed: u64::MAX,
                step: 12,
                evaluated_step: 10,
                best: Some(BestEvaluation {
                    step: 5,
                    value: 0.1 + 0.2,
                }),
                loss_sum: 1.0 / 3.0,
                n_losses: 2,
                seconds: 1.5,
                recipe_sha256: "ab".repeat(32),
                data_sha256: "cd".repeat(32),
            },
            weights: vec![
                ("z".to_owned(), tensor(&[1.0, -0.0, 3.5e-42, f32::MAX])),
                ("a".to_owned(), tensor(&[2.0]).reshape((1, 1)).unwrap()),
            ],
            optimizer: vec![("z.first_moment".to_owned(), tensor(&[4.0; 4]))],
        }
    }

    #[track_caller]
    fn assert_equal(found: &TrainingCheckpoint, expected: &TrainingCheckpoint) {
        assert_eq!(found.progress, expected.progress);
        let contents = |tensors: &[(String, Tensor)]| -> Vec<(String, Vec<usize>, Vec<u32>)> {
            let of_tensor = tensors.iter().map(|(name, tensor)| {
                let values: Vec<f32> = tensor.flatten_all().unwrap().to_vec1().unwrap();
                let bits = values.iter().map(|it| it.to_bits()).collect();
                (name.clone(), tensor.dims().to_vec(), bits)
            });
            of_tensor.collect()
        };
        assert_eq!(contents(&found.weights), contents(&expected.weights));
        assert_eq!(contents(&found.optimizer), contents(&expected.optimizer));
    }

    #[test]
    fn what_is_written_is_read_with_the_same_bits() {
        let expected = checkpoint();
        let bytes = expected.to_bytes().unwrap();
        let found = TrainingCheckpoint::from_bytes(&bytes).unwrap();
        assert_equal(&found, &expected);
        assert_eq!(found.to_bytes().unwrap(), bytes);
    }

    #[test]
    fn each_damaged_bit_is_noticed() {
        let expected = checkpoint();
        let bytes = expected.to_bytes().unwrap();
        let mut n_accepted = 0;
        for at in 0..bytes.len() * 8 {
            let mut damaged = bytes.clone();
            damaged[at / 8] ^= 1 << (at % 8);
            if let Ok(found) = TrainingCheckpoint::from_bytes(&damaged) {
                // Only another way to write the same, such as `E` for `e`.
                assert_equal(&found, &expected);
                n_accepted += 1;
            }
        }
        assert!(n_accepted <= 8, "{n_accepted}");
    }

    #[test]
    fn truncated_bytes_are_an_error() {
        let bytes = checkpoint().to_bytes().unwrap();
        for n_bytes in 0..bytes.len() {
            assert!(TrainingCheckpoint::from_bytes(&bytes[..n_bytes]).is_err());
        }
        let longer = [bytes, vec![0]].concat();
        assert!(TrainingCheckpoint::from_bytes(&longer).is_err());
    }

    #[test]
    fn another_safetensors_file_is_no_checkpoint() {
        let tensors = [("a", tensor(&[1.0]))];
        let bytes = safetensors::serialize(tensors, None).unwrap();
        let error = TrainingCheckpoint::from_bytes(&bytes).unwrap_err();
        assert!(
            error
                .to_string()
                .contains("not the checkpoint of a training")
        );
    }

    #[test]
    fn the_hash_of_weights_is_that_of_names_and_values() {
        // sha256sum of: 61 00 00 00 80 3f 62 00 00 00 00 c0
        let weights = [("a", tensor(&[1.0])), ("b", tensor(&[-2.0]))];
        let hash = weights_sha256(weights.iter().map(|(name, tensor)| (*name, tensor))).unwrap();
        let expected = "04fa39e896141661c0362796e6d08cf9d9dd80a6877066b7a6d424c96577c6bf";
        assert_eq!(hash, expected);
    }
}
