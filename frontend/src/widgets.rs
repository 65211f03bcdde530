//! Parts that more than one page shows.

pub(crate) mod progress;
pub(crate) mod error;
pub(crate) mod download;
