//! The files of the front end, embedded in the binary: what trunk wrote to `dist/`; none if it was
//! not built.

/// The embedded files, by their path in `dist/`.
#[derive(rust_embed::RustEmbed)]
#[folder = "../dist"]
#[allow_missing = true]
pub(crate) struct EmbeddedFrontEndFiles;
