//! Which build of the program this is. All processes of a study must come from the same one.

use std::sync::OnceLock;

use sha2::{Digest, Sha256};
use shared::collection::encode_hex;

static ID: OnceLock<String> = OnceLock::new();

/// Reads the file of this program, before it can be replaced by another one.
pub(crate) fn read_build_id() -> std::io::Result<()> {
    let program = std::fs::read(std::env::current_exe()?)?;
    let hash = encode_hex(&Sha256::digest(program));
    ID.get_or_init(|| format!("{} ({hash:.12})", env!("CARGO_PKG_VERSION")));
    Ok(())
}

/// Returns the version and the beginning of the SHA-256 of this program's file, after
/// [`read_build_id`].
pub(crate) fn build_id() -> &'static str {
    ID.get().expect("the program reads it first")
}
