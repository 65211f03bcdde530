//! Test databases, which the end-to-end tests share with the tests of the backend. The end-to-end
//! tests are in `main.rs`.
#![allow(clippy::unwrap_used, reason = "all of it is tests")]

pub mod postgres;
