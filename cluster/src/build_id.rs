//! Which build of the program this is. All processes of a study must come from the same one.

use std::sync::OnceLock;

use sha2::{Digest, Sha256};
use shared::collection::encode_hex;

/// Returns the version and the beginning of the SHA-256 of this program's file.
pub(crate) fn build_id() -> &'static str {
    static ID: OnceLock<String> = OnceLock::new();
    ID.get_or_init(|| {
        let program = std::env::current_exe().and_then(std::fs::read);
        let hash = program.map(|it| encode_hex(&Sha256::digest(it)));
        let hash = hash.unwrap_or_else(|_| "unknown".to_owned());
        format!("{} ({hash:.12})", env!("CARGO_PKG_VERSION"))
    })
}
