//! Cargo asks every package for a library or a program; the tests are in `main.rs`.
