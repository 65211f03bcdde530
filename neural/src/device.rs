//! Devices and precisions. The only module that depends on device features and drivers.

use crate::error::Error;

/// A processor. The CPU is always available; others need a build with their feature and a driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Device {
    /// All cores of the rayon pool of the calling thread.
    Cpu,
    /// An NVIDIA GPU by its ordinal; needs the feature `cuda`.
    Cuda(usize),
    /// An Apple GPU by its ordinal; needs the feature `metal`.
    Metal(usize),
}

/// The precision of the weights and hidden states of an encoder. Heads compute in f32 or f64, and
/// the results of a model are f32 or f64 too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum FloatPrecision {
    /// 32 bits, IEEE 754 binary32.
    #[default]
    F32,
    /// 16 bits, IEEE 754 binary16: 11 significant bits, up to 65,504. For GPUs; slow on a CPU.
    F16,
    /// 16 bits, bfloat16: 8 significant bits, the range of f32. For GPUs; slow on a CPU.
    Bf16,
}

/// The device and the precision of a model. Converted from a device alone, the precision is f32.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DeviceAndPrecision {
    /// The device.
    pub device: Device,
    /// The precision.
    pub precision: FloatPrecision,
}

impl From<Device> for DeviceAndPrecision {
    fn from(device: Device) -> DeviceAndPrecision {
        DeviceAndPrecision {
            device,
            precision: FloatPrecision::F32,
        }
    }
}

impl DeviceAndPrecision {
    /// Whether it is the CPU in f32, which every architecture supports.
    pub(crate) fn is_cpu_f32(self) -> bool {
        self == DeviceAndPrecision::from(Device::Cpu)
    }

    /// Returns an error for anything but the CPU in f32; `what` is the model, for example `a T5`.
    pub(crate) fn require_cpu_f32(self, what: &str) -> Result<(), Error> {
        let DeviceAndPrecision { device, precision } = self;
        let (device, reason) = match device {
            Device::Cpu if self.is_cpu_f32() => return Ok(()),
            Device::Cpu => (
                format!("{device} in {precision}"),
                format!("{what} computes in f32 only; use `f32`"),
            ),
            Device::Cuda(_) | Device::Metal(_) => (
                device.to_string(),
                format!("{what} computes on the CPU only; use `cpu`"),
            ),
        };
        Err(Error::Device { device, reason })
    }
}

impl FloatPrecision {
    pub(crate) fn candle_dtype(self) -> candle_core::DType {
        match self {
            FloatPrecision::F32 => candle_core::DType::F32,
            FloatPrecision::F16 => candle_core::DType::F16,
            FloatPrecision::Bf16 => candle_core::DType::BF16,
        }
    }
}

/// Writes `f32`, `f16` or `bf16`.
impl std::fmt::Display for FloatPrecision {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            FloatPrecision::F32 => "f32",
            FloatPrecision::F16 => "f16",
            FloatPrecision::Bf16 => "bf16",
        })
    }
}

impl Device {
    /// Opens the candle device; the error says what is missing. A program with CUDA is linked with
    /// the driver's libcuda and does not start without it, so that an error of CUDA means that
    /// there is no device.
    pub(crate) fn open_candle_device(self) -> Result<candle_core::Device, Error> {
        let not_built = |name: &str, feature: &str| {
            let way_out = format!("build with `--features {feature}`, or use `cpu`");
            Err(format!("this build is without {name}; {way_out}"))
        };
        let opened = match self {
            Device::Cpu => Ok(candle_core::Device::Cpu),
            Device::Cuda(_) if cfg!(not(feature = "cuda")) => not_built("CUDA", "cuda"),
            Device::Metal(_) if cfg!(not(feature = "metal")) => not_built("Metal", "metal"),
            Device::Cuda(ordinal) => {
                candle_core::Device::new_cuda(ordinal).map_err(|error| error.to_string())
            }
            Device::Metal(ordinal) => {
                candle_core::Device::new_metal(ordinal).map_err(|error| error.to_string())
            }
        };
        opened.map_err(|reason| Error::Device {
            device: self.to_string(),
            reason,
        })
    }
}

/// Writes for example `cpu`, `cuda:0` or `metal:0`.
impl std::fmt::Display for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Device::Cpu => write!(f, "cpu"),
            Device::Cuda(ordinal) => write!(f, "cuda:{ordinal}"),
            Device::Metal(ordinal) => write!(f, "metal:{ordinal}"),
        }
    }
}

#[cfg(all(test, not(feature = "cuda"), not(feature = "metal")))]
mod tests {
    use super::*;

    #[test]
    fn a_device_that_the_build_lacks_is_an_error_that_names_the_way_out() {
        for device in [Device::Cuda(0), Device::Metal(1)] {
            let message = device.open_candle_device().unwrap_err().to_string();
            assert!(message.contains(&device.to_string()), "{message}");
            assert!(message.contains("--features"), "{message}");
        }
    }
}
