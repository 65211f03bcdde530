//! End-to-end tests of the program, used as by people and scripts.
//!
//! `cargo xtask test e2e` runs them with everything they may need. To run them by hand, build the
//! program and set the variables that [`harness`] names.
#![allow(clippy::unwrap_used, reason = "all of it is tests")]

mod harness;
mod cli;
mod earlier_data;
mod guide;
mod models;
mod expand;
mod imports;
mod strings;
mod transfers;
mod train;
mod trainings;
mod study_training;
mod vectors;
mod wordpiece;
mod studies;
mod ir_axioms;
mod published_numbers;
mod behavioral_tests;
mod late_interaction;
mod compare;
mod bad_input;
mod http;
#[cfg(target_os = "linux")]
mod connections;
mod jobs;
mod databases;
mod mock_server;
mod rerank;
mod remote_rankers;
mod exposure;
mod documentation;
mod site_checks;
#[cfg(target_os = "linux")]
mod deployment;
#[cfg(target_os = "linux")]
mod packages;
mod hub;
mod annotation;
mod browser;
mod parity;
#[cfg(feature = "regress")]
mod regress;
