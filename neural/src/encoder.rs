//! An encoder on a device, whatever its family.

use crate::bert::{Bert, Parameters};
use crate::config::Config;
use crate::device::Device;
use crate::error::Error;
use crate::fused;
use crate::weights::Weights;

/// A text, or a query and a text, as the encoder reads them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Input<'a> {
    pub(crate) ids: &'a [u32],
    /// Where the second segment begins; the number of pieces where there is none.
    pub(crate) second: usize,
}

impl Input<'_> {
    /// 0 or 1.
    pub(crate) fn segment(&self, at: usize) -> usize {
        usize::from(at >= self.second)
    }
}

/// The forward pass, by device.
pub(crate) enum Encoder {
    Fused(Parameters),
    Plain(Bert),
}

impl Encoder {
    /// Puts the weights on `device`.
    pub(crate) fn load(
        weights: &Weights<'_>,
        config: Config,
        device: Device,
    ) -> Result<Encoder, Error> {
        let parameters = Parameters::load(weights, config)?;
        Ok(match device {
            Device::Cpu => Encoder::Fused(parameters),
            Device::Cuda(_) | Device::Metal(_) => {
                Encoder::Plain(Bert::load(parameters, device.open()?)?)
            }
        })
    }

    /// The last hidden state of every piece, input after input: `[Σ pieces, h]`.
    pub(crate) fn forward(&self, inputs: &[Input<'_>]) -> Result<Vec<f32>, Error> {
        Ok(match self {
            Encoder::Fused(parameters) => fused::forward(parameters, inputs),
            Encoder::Plain(bert) => bert.forward(inputs)?,
        })
    }
}

/// Refuses a bound on pieces that leaves no room for a text or exceeds what the model was made
/// for.
pub(crate) fn check_bound(found: usize, least: usize, config: &Config) -> Result<(), Error> {
    let most = config.max_pieces();
    match (least..=most).contains(&found) {
        true => Ok(()),
        false => Err(Error::MaxPieces { found, least, most }),
    }
}
