//! The arguments that select the device and precision of models.

use neural::{Device, DeviceAndPrecision, FloatPrecision};
use shared::error::Error as InputError;

use crate::error::Error;

/// The device and precision arguments of commands that run models.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct DeviceAndPrecisionArgs {
    /// Device: cpu, cuda, cuda:1, metal
    #[arg(long, global = true, value_name = "DEVICE", default_value = "cpu")]
    device: String,
    /// Numeric precision: f32, or f16 and bf16 for GPUs
    #[arg(long, global = true, value_name = "BITS", default_value = "f32")]
    precision: String,
}

impl DeviceAndPrecisionArgs {
    /// Parses `--device` and `--precision`; returns an error if either is not one of the known
    /// values.
    pub(super) fn compute_target(&self) -> Result<DeviceAndPrecision, Error> {
        let refuse = |name: &str, found: &str, known: &str| -> Error {
            InputError::not_one_of(name, found.escape_debug(), [known]).into()
        };
        let (word, ordinal) = match self.device.split_once(':') {
            Some((word, ordinal)) => (word, ordinal.parse().ok()),
            None => (self.device.as_str(), Some(0)),
        };
        let device = match (word, ordinal) {
            ("cpu", Some(0)) => Device::Cpu,
            ("cuda", Some(ordinal)) => Device::Cuda(ordinal),
            ("metal", Some(ordinal)) => Device::Metal(ordinal),
            _ => return Err(refuse("device", &self.device, "cpu, cuda, cuda:N, metal")),
        };
        let precision = match self.precision.as_str() {
            "f32" => FloatPrecision::F32,
            "f16" => FloatPrecision::F16,
            "bf16" => FloatPrecision::Bf16,
            other => return Err(refuse("precision", other, "f32, f16, bf16")),
        };
        Ok(DeviceAndPrecision { device, precision })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(device: &str, precision: &str) -> Result<String, String> {
        let args = DeviceAndPrecisionArgs {
            device: device.to_owned(),
            precision: precision.to_owned(),
        };
        let found = args.compute_target().map_err(|it| it.to_string())?;
        Ok(format!("{} {}", found.device, found.precision))
    }

    #[test]
    fn devices_and_precisions_are_taken_or_named() {
        assert_eq!(read("cpu", "f32").unwrap(), "cpu f32");
        assert_eq!(read("cuda", "f16").unwrap(), "cuda:0 f16");
        assert_eq!(read("cuda:3", "bf16").unwrap(), "cuda:3 bf16");
        for (device, precision, told) in [
            ("gpu", "f32", "`gpu` is none of cpu, cuda, cuda:N, metal"),
            ("cuda:x", "f32", "`cuda:x` is none of"),
            ("cpu", "int8", "`int8` is none of f32, f16, bf16"),
        ] {
            let error = read(device, precision).unwrap_err();
            assert!(error.contains(told), "{error}");
        }
    }
}
