//! What can be wrong with a model, a device or a text.

/// Why a model was not loaded or a text not encoded.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// `config.json` is no JSON, or lacks a field of an encoder's configuration.
    #[error("config.json is not the configuration of an encoder: {0}")]
    Config(#[source] serde_json::Error),

    /// The folder holds a model of another architecture.
    #[error(
        "config.json describes a `{found}` model; `bert`, `roberta`, `xlm-roberta`, `camembert`, \
         `electra`, `distilbert` and `modernbert` can be loaded, and `t5` as `NAME:monot5`"
    )]
    Architecture {
        /// `model_type` in `config.json`.
        found: String,
    },

    /// An encoder with a part that is not implemented, or sizes that cannot be.
    #[error("`{field}` in config.json is {found}, but must be {expected}")]
    Unsupported {
        /// The field of `config.json`.
        field: &'static str,
        /// What stands there.
        found: String,
        /// What can be loaded.
        expected: String,
    },

    /// A model that was trained for another use.
    #[error(
        "config.json says that this is a {found} and no bi-encoder; ask for it by the ending \
         `{ending}`, or write `architecture = \"bi-encoder\"` into ranker.toml"
    )]
    WrongArchitecture {
        /// What it is.
        found: &'static str,
        /// Of its name.
        ending: &'static str,
    },

    /// A part of a sentence-transformers folder without which its vectors would be others.
    #[error("`{field}` in {file} is {found}, but must be {expected}")]
    UnsupportedModule {
        /// Which file of the folder.
        file: String,
        /// Its field.
        field: &'static str,
        /// What stands there.
        found: String,
        /// What can be done.
        expected: String,
    },

    /// A module of sentence-transformers cannot be read.
    #[error("module `{path}`: {source}")]
    Module {
        /// Its folder.
        path: String,
        /// What is wrong there.
        source: Box<Error>,
    },

    /// `ranker.toml` is no TOML, has an unknown key or contradicts itself.
    #[error("ranker.toml: {reason}")]
    RankerConfig {
        /// What is wrong, and where.
        reason: String,
    },

    /// A prompt that would hide every text from the model.
    #[error(
        "the prompt of {side} has {n_pieces} pieces where there is room for {room}, and one of the \
         text; make it shorter, or allow more pieces"
    )]
    PromptTooLong {
        /// `queries` or `texts`.
        side: &'static str,
        /// Of the prompt, without special ones.
        n_pieces: usize,
        /// Of the prompt and the text together.
        room: usize,
    },

    /// A token that a ColBERT puts beside those of the text.
    #[error(
        "tokenizer.json has no piece `{piece}`, which is put beside those of a text; `markers` and \
         `augmentation` under [colbert] in ranker.toml say which there are"
    )]
    MissingMarkerToken {
        /// As it was looked for.
        piece: String,
    },

    /// A file of sentence-transformers is no JSON of its kind.
    #[error("{file} cannot be read: {source}")]
    SentenceTransformersConfig {
        /// Which file of the folder.
        file: String,
        /// What the reader of JSON says.
        source: serde_json::Error,
    },

    /// `tokenizer.json` cannot be read, or the tokenizer failed on a text.
    #[error("tokenizer.json: {0}")]
    Tokenizer(String),

    /// `tokenizer.json` and `config.json` do not belong together.
    #[error(
        "tokenizer.json has a piece with id {id}, but config.json says that there are \
         {vocab_size} pieces; take both files from the same model"
    )]
    Vocabulary {
        /// The highest id of the tokenizer.
        id: u32,
        /// `vocab_size` in `config.json`.
        vocab_size: usize,
    },

    /// `model.safetensors` is empty, cut off or no safetensors file.
    #[error("model.safetensors ({n_bytes} bytes) cannot be read: {reason}")]
    Weights {
        /// Its length, since a cut-off download is the usual cause.
        n_bytes: usize,
        /// What the reader of the format says.
        reason: String,
    },

    /// The vectors of tokens become one in a way that is not known here.
    #[error(
        "1_Pooling/config.json asks for `{found}`; one of cls_token, mean_tokens and max_tokens \
         can be done"
    )]
    Pooling {
        /// What it asks for.
        found: String,
    },

    /// A tensor that the architecture needs is not there.
    #[error("model.safetensors has no tensor `{name}`")]
    MissingTensor {
        /// As in Hugging Face transformers.
        name: String,
    },

    /// A tensor does not have the shape that `config.json` asks for.
    #[error("tensor `{name}` has shape {found:?}, but config.json asks for {expected:?}")]
    Shape {
        /// As in Hugging Face transformers.
        name: String,
        /// In `model.safetensors`.
        found: Vec<usize>,
        /// From `config.json`.
        expected: Vec<usize>,
    },

    /// A tensor holds no floating-point numbers of 16 or 32 bits.
    #[error("tensor `{name}` is of type {found}; F32, F16 and BF16 can be loaded")]
    TensorType {
        /// As in Hugging Face transformers.
        name: String,
        /// As in the safetensors format.
        found: String,
    },

    /// The bound on tokens leaves no room for a text, or exceeds what the model was made for.
    #[error("at most {found} pieces were asked for; the model takes from {least} to {most}")]
    MaxTokens {
        /// What was asked for.
        found: usize,
        /// `[CLS]`, one piece, `[SEP]`.
        least: usize,
        /// `max_position_embeddings` in `config.json`.
        most: usize,
    },

    /// Queries that cannot be drawn so.
    #[error("{found} {what} were asked for; from 1 to {most} can be had")]
    Sampling {
        /// Of what there are too few or too many.
        what: &'static str,
        /// What was asked for.
        found: usize,
        /// The most.
        most: usize,
    },

    /// The device cannot be used by this build or on this machine.
    #[error("cannot compute on {device}: {reason}")]
    Device {
        /// As asked for, `cuda:0`.
        device: String,
        /// What is missing and what can be done about it.
        reason: String,
    },

    /// Tokens that were not made by this model: unknown ids, none at all, or too many.
    #[error("the pieces were not made by this model: {reason}")]
    InvalidTokens {
        /// What is wrong with them.
        reason: String,
    },

    /// The weights lead to an infinity or to no number at all.
    #[error("the model gives a vector that is not finite; its weights are broken")]
    NotFinite,

    /// A failed computation, as when a device runs out of memory.
    #[error("the computation failed: {0}")]
    Compute(#[from] candle_core::Error),
}

impl Error {
    /// Whether a device had too little memory, so that less at once may do.
    pub fn is_out_of_memory(&self) -> bool {
        let Error::Compute(error) = self else {
            return false;
        };
        // Drivers say it in words alone: `CUDA_ERROR_OUT_OF_MEMORY`, "out of memory"; of a product
        // that finds no room for its own work, `CUBLAS_STATUS_ALLOC_FAILED`.
        let said = error.to_string().to_lowercase().replace('_', " ");
        said.contains("out of memory") || said.contains("status alloc failed")
    }

    /// As a device says it that has too little memory: for tests of what is done then.
    pub fn out_of_memory() -> Error {
        Error::Compute(candle_core::Error::Msg("out of memory".to_owned()))
    }
}

/// An [`Error::Unsupported`] of a field and what stands there.
pub(crate) fn unsupported(field: &'static str, found: &dyn ToString, expected: &str) -> Error {
    Error::Unsupported {
        field,
        found: found.to_string(),
        expected: expected.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_without_memory_is_known_by_its_words() {
        let said = |it: &str| Error::Compute(candle_core::Error::Msg(it.to_owned()));
        assert!(
            said("DriverError(CUDA_ERROR_OUT_OF_MEMORY, \"out of memory\")").is_out_of_memory()
        );
        assert!(said("CublasError(CUBLAS_STATUS_ALLOC_FAILED)").is_out_of_memory());
        assert!(!said("CublasError(CUBLAS_STATUS_NOT_INITIALIZED)").is_out_of_memory());
        assert!(Error::out_of_memory().is_out_of_memory());
        assert!(!said("shape mismatch").is_out_of_memory());
        assert!(!Error::NotFinite.is_out_of_memory());
    }
}
