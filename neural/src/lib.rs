//! Neural rankers, from weights and texts to scores.
//!
//! An [`SingleOrMultiVectorRanker`] encodes texts separately and compares their vectors as its
//! [`EmbeddingRankerKind`] defines. The encoder is a BERT (Devlin et al. 2019) or one of its
//! relatives RoBERTa, XLM-R, ELECTRA, DistilBERT and ModernBERT; the default is all-MiniLM-L6-v2 of
//! sentence-transformers (Wang et al. 2020; Reimers and Gurevych 2019).
//!
//! A [`CrossEncoder`] encodes a query and a document together (Nogueira and Cho 2019). [`Splade`]
//! represents a text as weights over the vocabulary (Formal et al. 2021). [`Colbert`] and
//! [`EpicRanker`] encode a [`QueryOrDocumentRole::Query`] differently from a
//! [`QueryOrDocumentRole::Document`] (Khattab and Zaharia 2020; MacAvaney et al. 2020).
//!
//! A T5 (Raffel et al. 2020) reads text and generates text: [`MonoT5`] uses it to decide whether a
//! document is relevant (Nogueira et al. 2020), [`Doc2Query`] to generate queries that a document
//! may answer (Nogueira and Lin 2019).
//!
//! An [`InteractionRanker`] scores the interactions of query terms with document terms; it is small
//! enough to be trained on a CPU (DRMM, aNMM, Duet, MatchPyramid, KNRM, Conv-KNRM).
//! [`training`] has what the training of a ranker needs besides its network: recipes, samplers,
//! losses, optimizers and checkpoints.
//!
//! This crate uses no files, no network, no async runtime and no database: models are created from
//! bytes, so that the crate also builds for the browser.
//!
//! # Example
//!
//! Texts are encoded once and compared often. The model of this example has random weights; others
//! have the same three files, and some have more.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use neural::{Device, EmbeddingRankerKind, ModelFileContents, QueryOrDocumentRole};
//! use neural::SingleOrMultiVectorRanker;
//!
//! let folder = "tests/fixtures/tiny";
//! let files = ModelFileContents {
//!     config: std::fs::read(format!("{folder}/config.json"))?,
//!     tokenizer: std::fs::read(format!("{folder}/tokenizer.json"))?,
//!     weights: std::fs::read(format!("{folder}/model.safetensors"))?,
//!     ..ModelFileContents::default()
//! };
//! let kind = EmbeddingRankerKind::BiEncoder;
//! let model = SingleOrMultiVectorRanker::load(&files, kind, 64, Device::Cpu)?;
//! let query = "where do rivers end";
//! let query = model.tokenize(QueryOrDocumentRole::Query, query)?;
//! let text = "A river flows into the sea.";
//! let text = model.tokenize(QueryOrDocumentRole::Document, text)?;
//! let encoded = model.encode(&[&query, &text])?;
//! let cosine = model.score(&encoded[0], &encoded[1]);
//! assert!((-1.0..=1.0).contains(&cosine));
//! # Ok(())
//! # }
//! ```
#![warn(missing_docs)]

mod error;
mod device;
mod weights;
mod tokenizer;
mod random;
mod dropout;
mod tokenization;
mod batch;
mod config;
mod encoder;
mod ranker_config;
mod model_files;
mod bert;
mod bert_cpu;
mod maxsim;
mod modern_bert;
mod embedding;
mod spectra;
mod sentence_transformers;
mod embedding_model;
mod cross_encoder;
mod masked_lm;
mod splade;
mod colbert;
mod epic;
mod t5;
mod mono_t5;
mod doc2query;
mod interaction;
mod fine_tuning;
pub mod training;

pub use batch::batch_texts_by_length;
pub use colbert::Colbert;
pub use config::is_encoder_config;
pub use cross_encoder::CrossEncoder;
pub use device::{Device, DeviceAndPrecision, FloatPrecision};
pub use doc2query::{Doc2Query, GeneratedQueries, GeneratedQueryWithTokens, QueryGenerationConfig};
pub use dropout::ForwardMode;
pub use embedding::{
    EmbeddingRankerKind, SingleOrMultiVectorEncoding, SubwordToken, TokenPairCosines, TokenPooling,
};
pub use embedding_model::SingleOrMultiVectorRanker;
pub use epic::{EpicDocumentStates, EpicQueryWeights, EpicRanker};
pub use error::Error;
pub use fine_tuning::{EncoderSettings, FineTunedRanker, FineTunedRankerKind, TokenizedPair};
pub use interaction::{
    ConvKernelPoolingConfig, DuetConfig, HistogramNetworkConfig, InteractionConfig,
    InteractionNetwork, InteractionNetworkConfig, InteractionRanker, InteractionRankerKind,
    InteractionVocabulary, KernelPoolingConfig, MatchPyramidConfig, NetworkVariant, PreparedPair,
};
pub use model_files::{ModelFileContents, SentenceTransformersModuleWithWeights};
pub use mono_t5::MonoT5;
pub use ranker_config::{
    ColbertConfig, ColbertPreset, ColbertQueryAugmentation, ColbertSpecialTokenKind,
    NeuralRankerConfig, PromptPrefixConfig, PunctuationPolicy, RankerArchitecture,
};
pub use sentence_transformers::{VectorSimilarity, dense_module_folders};
pub use spectra::{TokenSpectralRatio, TokenSpectrumAccumulator};
pub use splade::{SparseVector, Splade};
pub use tokenization::{QueryDocumentTokenSequence, QueryOrDocumentRole, TokenizedText};
