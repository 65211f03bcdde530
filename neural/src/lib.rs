//! Neural rankers: weights and texts in, scores out.
//!
//! One encoder, two ways to compare. The encoder is a BERT (Devlin et al. 2019) or one of its
//! relatives RoBERTa, XLM-R, ELECTRA, DistilBERT and ModernBERT; by default all-MiniLM-L6-v2 of
//! sentence-transformers (Wang et al. 2020; Reimers and Gurevych 2019). Texts are compared as a
//! [`EmbeddingKind`] says.
//!
//! A [`CrossEncoder`] reads a query and a text together instead (Nogueira and Cho 2019), and
//! [`Splade`] makes a text weights of the whole vocabulary (Formal et al. 2021). [`Colbert`] and
//! [`Epic`] read a [`InputRole::Query`] otherwise than a [`InputRole::Text`] (Khattab and Zaharia 2020;
//! MacAvaney et al. 2020).
//!
//! A T5 (Raffel et al. 2020) reads and writes: [`MonoT5`] asks it whether a text is relevant
//! (Nogueira et al. 2020), [`Doc2Query`] has it write queries that a text may answer (Nogueira
//! and Lin 2019).
//!
//! This crate knows no files, no network, no async runtime and no database: a [`EmbeddingModel`] is made
//! from bytes, so that it also builds for the browser. Texts are encoded once and compared often:
//!
//! ```no_run
//! # fn main() -> Result<(), neural::Error> {
//! # let files = neural::ModelFiles::default();
//! use neural::{Device, Matching, Model, Side};
//!
//! let model = Model::load(&files, Matching::BiEncoder, 256, Device::Cpu)?;
//! let query = model.tokenize(Side::Query, "where do rivers end")?;
//! let text = model.tokenize(Side::Text, "A river flows into the sea.")?;
//! let encoded = model.encode(&[&query, &text])?;
//! let score = model.score(&encoded[0], &encoded[1]);
//! # Ok(())
//! # }
//! ```
#![warn(missing_docs)]

mod error;
mod device;
mod weights;
mod tokenizer;
mod pieces;
mod batch;
mod config;
mod encoder;
mod declared;
mod files;
mod bert;
mod fused;
mod maxsim;
mod modern;
mod matching;
mod spectra;
mod sentence;
mod model;
mod cross;
mod masked;
mod splade;
mod colbert;
mod epic;
mod t5;
mod mono;
mod doc2query;

pub use batch::plan_batches;
pub use colbert::Colbert;
pub use config::is_encoder;
pub use cross::CrossEncoder;
pub use declared::{
    Architecture, QueryAugmentation, ColbertConfig, RankerConfig, PromptConfig, ColbertPreset, PunctuationPolicy,
    SpecialToken,
};
pub use device::{ComputeTarget, Device, Precision};
pub use doc2query::{Doc2Query, GenerationConfig, GeneratedQueries, GeneratedQuery};
pub use epic::{Epic, EpicQuery, EpicDocument};
pub use error::Error;
pub use files::{ModelFiles, ModuleFiles};
pub use matching::{EncodedText, TokenMatches, EmbeddingKind, SubwordToken, Pooling};
pub use model::EmbeddingModel;
pub use mono::MonoT5;
pub use pieces::{TokenizedPair, TokenizedText, InputRole};
pub use sentence::{Similarity, module_folders};
pub use spectra::{SpectrumAccumulator, TokenSpectrum};
pub use splade::{SparseVector, Splade};
