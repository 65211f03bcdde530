//! Holds no code: see `Cargo.toml` for what this crate is for.
