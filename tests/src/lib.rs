//! What the end-to-end tests share with the tests beside the backend's code: databases of their
//! own. The end-to-end tests are in `main.rs`.
#![allow(clippy::unwrap_used, reason = "all of it is tests")]

pub mod postgres;
