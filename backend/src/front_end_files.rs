//! The front end inside the binary: what trunk put into `dist/`, or nothing.

/// Files by their path below `dist/`.
#[derive(rust_embed::RustEmbed)]
#[folder = "../dist"]
#[allow_missing = true]
pub(crate) struct FrontEndFiles;
