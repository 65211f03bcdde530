//! The files of a model folder, as bytes, and their fingerprint.

use sha2::{Digest, Sha256};

use crate::config::EncoderConfig;
use crate::error::Error;
use crate::ranker_config::{NeuralRankerConfig, RankerArchitecture};

/// The files of a model folder, as bytes.
#[derive(Clone, Debug, Default)]
pub struct ModelFileContents {
    /// `config.json`.
    pub config: Vec<u8>,
    /// `tokenizer.json`.
    pub tokenizer: Vec<u8>,
    /// `model.safetensors`.
    pub weights: Vec<u8>,
    /// `1_Pooling/config.json` of sentence-transformers; without it the pooling is the mean.
    pub pooling: Option<Vec<u8>>,
    /// `modules.json` of sentence-transformers, if it exists.
    pub modules: Option<Vec<u8>>,
    /// `config_sentence_transformers.json`, if it exists; without it the similarity is the cosine.
    pub sentence_transformers: Option<Vec<u8>>,
    /// The modules whose folders [`crate::dense_module_folders`] finds in `modules`.
    pub modules_with_weights: Vec<SentenceTransformersModuleWithWeights>,
    /// `artifact.metadata` of Stanford's ColBERT, if it exists.
    pub colbert_metadata: Option<Vec<u8>>,
    /// `ranker.toml`, if it exists.
    pub ranker_config: Option<Vec<u8>>,
}

/// The files of a sentence-transformers module with its own weights.
#[derive(Clone, Debug, Default)]
pub struct SentenceTransformersModuleWithWeights {
    /// The folder, as in `modules.json`: `2_Dense`.
    pub path: String,
    /// `config.json` of the module.
    pub config: Vec<u8>,
    /// `model.safetensors` of the module.
    pub weights: Vec<u8>,
}

impl ModelFileContents {
    /// Returns the maximum number of tokens of the encoder; `None` if `config.json` cannot be
    /// parsed.
    pub fn encoder_max_tokens(&self) -> Option<usize> {
        EncoderConfig::parse(&self.config)
            .ok()
            .map(|it| it.max_tokens())
    }

    /// Parses `ranker.toml`; returns the defaults if it does not exist.
    pub fn ranker_config(&self) -> Result<NeuralRankerConfig, Error> {
        let read = self.ranker_config.as_deref().map(NeuralRankerConfig::parse);
        Ok(read.transpose()?.unwrap_or_default())
    }

    /// Parses `ranker.toml` for a folder that is loaded as `used`; returns an error if the file
    /// declares another architecture.
    pub(crate) fn ranker_config_if_architecture_matches(
        &self,
        used: RankerArchitecture,
    ) -> Result<NeuralRankerConfig, Error> {
        let declared = self.ranker_config()?;
        declared.check_declared_architecture(used)?;
        Ok(declared)
    }

    /// Returns the fingerprint: SHA-256 in hex over the files, the use and the maximum number of
    /// tokens. Each part is preceded by its length, so that parts cannot be confused. The files of
    /// sentence-transformers are included without their names.
    pub fn fingerprint_for_use(&self, used: &str, max_tokens: usize) -> String {
        let max_tokens = (max_tokens as u64).to_le_bytes();
        let mut parts: Vec<&[u8]> = vec![
            &self.config,
            &self.tokenizer,
            &self.weights,
            used.as_bytes(),
            &max_tokens,
        ];
        let others = [&self.pooling, &self.modules, &self.sentence_transformers];
        parts.extend(others.into_iter().flatten().map(Vec::as_slice));
        for module in &self.modules_with_weights {
            parts.extend([module.path.as_bytes(), &module.config, &module.weights]);
        }
        for (name, file) in [
            ("artifact.metadata", &self.colbert_metadata),
            ("ranker.toml", &self.ranker_config),
        ] {
            parts.extend(file.iter().flat_map(|it| [name.as_bytes(), it]));
        }
        let mut hash = Sha256::new();
        for part in parts {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        let bytes = hash.finalize();
        bytes.iter().map(|it| format!("{it:02x}")).collect()
    }
}
