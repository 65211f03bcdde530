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
//!
//! # Example
//!
//! Axiom TFC1 claims that of two documents of about the same length, the one with more occurrences
//! of the query terms scores higher. This finds the pairs of documents that it applies to, and
//! compares the claim with the scores of BM25.
//!
//! ```
//! # fn main() -> Result<(), shared::error::Error> {
//! use shared::index::Index;
//! use shared::probe::mining::{InstanceMiner, MiningResult, PooledQuery};
//! use shared::probe::{Axiom, AxiomVariant, MiningThresholds, Probe};
//! use shared::rank::LexicalRanker;
//! use shared::rank::max_score::TopKSearcher;
//! use shared::text::Analyzer;
//! use shared::verdict::VerdictOutcome;
//!
//! let documents = [
//!     "A river carries sand from the mountains to the sea.",
//!     "A river that meets another river carries sand to the sea.",
//! ];
//! let query = "what does a river carry";
//! let index = Index::build(&Analyzer::default(), documents)?;
//!
//! let probes = [(Probe::Axiom(Axiom::Tfc1), AxiomVariant::Fixed)];
//! let miner = InstanceMiner {
//!     index: &index,
//!     word_vectors: None,
//!     probes: &probes,
//!     limits: &MiningThresholds::STANDARD,
//! };
//! let found = miner.mine_pooled_query(&PooledQuery::from_ungraded_docs(query, &[0, 1]));
//! let mined = MiningResult::from_query_results(&probes, vec![found]);
//! let instances = &mined.instances[0];
//! assert_eq!(instances.claims_of_query(0).count(), 1);
//!
//! let bm25: LexicalRanker = "bm25".parse()?;
//! let terms = index.query_term_statistics(query);
//! let ranking = TopKSearcher::for_lexical_ranker(&index, bm25).search(&index, &terms, 2);
//! let score_of = |doc| ranking.iter().find(|hit| hit.doc == doc).map(|hit| hit.score);
//! for claim in instances.claims_of_query(0) {
//!     let scored = claim.replace_docs_with_scores(score_of).expect("both were found");
//!     assert_eq!(scored.verdict(0.0).outcome, VerdictOutcome::Satisfied);
//! }
//! # Ok(())
//! # }
//! ```
#![warn(missing_docs)]

pub mod error;
pub mod user_text;
pub mod qr_code;
mod interner;
pub mod integer_column;
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
pub mod training;
pub mod study;
pub mod compare;
pub mod report;
pub mod annotation;
pub mod plot;
pub mod first_paint;
pub mod reproduce;
pub mod site;
pub mod api;
