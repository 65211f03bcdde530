//! Reads tensors by name from the bytes of a safetensors file and checks their shapes and types.

use std::sync::Arc;

use candle_core::safetensors::{Load, SliceSafetensors};
use candle_core::{DType, Device};

use crate::error::Error;

/// The tensors of a file, whose names may have a prefix.
pub(crate) struct ModelWeights<'a> {
    file: Arc<SliceSafetensors<'a>>,
    prefix: &'static str,
}

impl<'a> ModelWeights<'a> {
    /// Reads the header. Tensor names have `prefix`, for example `bert.`, if the encoder was saved
    /// with a head, and no prefix otherwise; both are accepted.
    pub(crate) fn from_safetensors_bytes(
        bytes: &'a [u8],
        prefix: &'static str,
    ) -> Result<ModelWeights<'a>, Error> {
        let broken = |reason: String| Error::Weights {
            n_bytes: bytes.len(),
            reason,
        };
        let file = SliceSafetensors::new(bytes).map_err(|error| broken(error.to_string()))?;
        let headed = file
            .tensors()
            .iter()
            .any(|(name, _)| name.starts_with(prefix));
        Ok(ModelWeights {
            file: Arc::new(file),
            prefix: if headed { prefix } else { "" },
        })
    }

    /// Returns the same file without a prefix before names, for a head next to its encoder.
    pub(crate) fn without_tensor_prefix(&self) -> ModelWeights<'a> {
        self.with_tensor_prefix("")
    }

    /// Returns the same file with names that begin with `prefix`.
    pub(crate) fn with_tensor_prefix(&self, prefix: &'static str) -> ModelWeights<'a> {
        ModelWeights {
            file: self.file.clone(),
            prefix,
        }
    }

    /// Whether the names have the prefix with which the file was opened.
    pub(crate) fn uses_tensor_prefix(&self) -> bool {
        !self.prefix.is_empty()
    }

    /// Returns the number of rows of `width` numbers in tensor `name`.
    pub(crate) fn n_tensor_rows(&self, name: &str, width: usize) -> Result<usize, Error> {
        let name = format!("{}{name}", self.prefix);
        let Ok(view) = self.file.get(&name) else {
            return Err(Error::MissingTensor { name });
        };
        match *view.shape() {
            [rows, columns] if rows > 0 && columns == width => Ok(rows),
            ref other => Err(Error::Shape {
                name,
                found: other.to_vec(),
                expected: vec![other.first().copied().unwrap_or(1).max(1), width],
            }),
        }
    }

    /// Whether there is a tensor of this name.
    pub(crate) fn has_tensor(&self, name: &str) -> bool {
        self.file.get(&format!("{}{name}", self.prefix)).is_ok()
    }

    /// Returns the numbers of tensor `name` in row-major order, as f32.
    pub(crate) fn read_tensor(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>, Error> {
        let name = format!("{}{name}", self.prefix);
        let Ok(view) = self.file.get(&name) else {
            return Err(Error::MissingTensor { name });
        };
        if view.shape() != shape {
            return Err(Error::Shape {
                name,
                found: view.shape().to_vec(),
                expected: shape.to_vec(),
            });
        }
        match DType::try_from(view.dtype()) {
            Ok(DType::F32 | DType::F16 | DType::BF16) => {}
            _ => {
                return Err(Error::TensorType {
                    name,
                    found: format!("{:?}", view.dtype()),
                });
            }
        }
        let tensor = view.load(&Device::Cpu)?.to_dtype(DType::F32)?;
        Ok(tensor.flatten_all()?.to_vec1()?)
    }
}
