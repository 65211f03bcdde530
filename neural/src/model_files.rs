//! The files of a model's folder: their bytes, and the name of what is made of them.

use sha2::{Digest, Sha256};

use crate::config::EncoderConfig;
use crate::error::Error;
use crate::ranker_config::{Architecture, RankerConfig};

/// The files of a model folder, as bytes.
#[derive(Clone, Debug, Default)]
pub struct ModelFiles {
    /// `config.json`.
    pub config: Vec<u8>,
    /// `tokenizer.json`.
    pub tokenizer: Vec<u8>,
    /// `model.safetensors`.
    pub weights: Vec<u8>,
    /// `1_Pooling/config.json`, as sentence-transformers writes it; none is the mean.
    pub pooling: Option<Vec<u8>>,
    /// `modules.json` of sentence-transformers, if there is one.
    pub modules: Option<Vec<u8>>,
    /// `config_sentence_transformers.json`, if there is one; none compares by the cosine.
    pub sentence_transformers: Option<Vec<u8>>,
    /// The folders that [`crate::module_folders`] finds in `modules`.
    pub modules_with_weights: Vec<ModuleFiles>,
    /// `artifact.metadata` of Stanford's ColBERT, if there is one.
    pub colbert_metadata: Option<Vec<u8>>,
    /// `ranker.toml`, if there is one.
    pub ranker_config: Option<Vec<u8>>,
}

/// The files of a module of sentence-transformers that has weights of its own.
#[derive(Clone, Debug, Default)]
pub struct ModuleFiles {
    /// Its folder, as `modules.json` has it: `2_Dense`.
    pub path: String,
    /// `config.json` there.
    pub config: Vec<u8>,
    /// `model.safetensors` there.
    pub weights: Vec<u8>,
}

impl ModelFiles {
    /// The most tokens that the encoder was made for; none where `config.json` cannot be read.
    pub fn max_tokens(&self) -> Option<usize> {
        EncoderConfig::parse(&self.config)
            .ok()
            .map(|it| it.max_tokens())
    }

    /// What `ranker.toml` says; nothing where there is none.
    pub fn ranker_config(&self) -> Result<RankerConfig, Error> {
        let read = self.ranker_config.as_deref().map(RankerConfig::parse);
        Ok(read.transpose()?.unwrap_or_default())
    }

    /// The same, of a folder that is loaded as `used`; one that says it is another is refused.
    pub(crate) fn ranker_config_for(&self, used: Architecture) -> Result<RankerConfig, Error> {
        let declared = self.ranker_config()?;
        declared.check_architecture(used)?;
        Ok(declared)
    }

    /// Names what is made of these files: SHA-256 in hex over them, the use and the bound on
    /// tokens. Each part is preceded by its length, so that none runs into the next. The files of
    /// sentence-transformers carry no name, and so are told apart by what is in them alone.
    pub(crate) fn fingerprint(&self, used: &str, max_pieces: usize) -> String {
        let max_pieces = (max_pieces as u64).to_le_bytes();
        let mut parts: Vec<&[u8]> = vec![
            &self.config,
            &self.tokenizer,
            &self.weights,
            used.as_bytes(),
            &max_pieces,
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
