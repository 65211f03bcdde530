//! The pure core of Axioscope: from a collection of documents to verdicts on axioms.
//!
//! ```text
//! collection → text → index → rank → probe → score → verdict → stats → report
//!  queries,    terms   postings runs  instances numbers satisfied intervals tables,
//!  docs, qrels         lengths        + claims  per pair / tied /  tests    figures
//!                                                        violated
//! ```
//!
//! The modules are listed in the order of that path, and a module imports only from those above it.
//! Nothing here does I/O, reads a clock, starts a thread or draws an unseeded random number, and
//! every function returns the same bits natively and in the browser.
#![warn(missing_docs)]

pub mod error;
pub mod user_text;
pub mod collection;
pub mod text;
pub mod index;
pub mod word_vectors;
pub mod rank;
pub mod probe;
pub mod score;
pub mod verdict;
pub mod stats;
pub mod effectiveness;
pub mod tune;
pub mod late_interaction;
pub mod study;
pub mod compare;
pub mod report;
pub mod annotation;
pub mod plot;
pub mod reproduce;
pub mod api;
