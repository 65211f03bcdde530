//! Errors of models, devices and texts.

/// Why a model was not loaded or a text not encoded.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// `config.json` is not valid JSON, or lacks a field of an encoder's configuration.
    #[error("config.json is not the configuration of an encoder: {0}")]
    Config(#[source] serde_json::Error),

    /// `config.json` is not the configuration of an interaction ranker.
    #[error("config.json is not the configuration of an interaction ranker: {0}")]
    InteractionConfig(#[source] serde_json::Error),

    /// The words, vectors and inverse document frequencies of an interaction ranker do not match.
    #[error("the vocabulary of an interaction ranker cannot be used: {reason}")]
    InteractionVocabulary {
        /// What is wrong, and with which word.
        reason: String,
    },

    /// A file of a LambdaMART ranker is invalid.
    #[error("{file} of a LambdaMART ranker cannot be used: {reason}; train the ranker again")]
    LambdaMart {
        /// The name of the file.
        file: &'static str,
        /// What is wrong with it.
        reason: String,
    },

    /// The folder contains a model of another architecture.
    #[error(
        "config.json describes a `{found}` model; `bert`, `roberta`, `xlm-roberta`, `camembert`, \
         `electra`, `distilbert` and `modernbert` can be loaded, and `t5` as `NAME:monot5`"
    )]
    Architecture {
        /// `model_type` in `config.json`.
        found: String,
    },

    /// An encoder with a part that is not implemented, or with impossible sizes.
    #[error("`{field}` in config.json is {found}, but must be {expected}")]
    Unsupported {
        /// The field of `config.json`.
        field: &'static str,
        /// The value of the field.
        found: String,
        /// The supported values.
        expected: String,
    },

    /// A model that was trained for another use.
    #[error(
        "config.json says that this is a {found} and no bi-encoder; ask for it by the ending \
         `{ending}`, or write `architecture = \"bi-encoder\"` into ranker.toml"
    )]
    WrongArchitecture {
        /// The architecture of the model.
        found: &'static str,
        /// The suffix of the ranker name that selects it.
        ending: &'static str,
    },

    /// An unsupported part of a sentence-transformers folder, without which vectors would be wrong.
    #[error("`{field}` in {file} is {found}, but must be {expected}")]
    UnsupportedModule {
        /// The file in the folder.
        file: String,
        /// The field in the file.
        field: &'static str,
        /// The value of the field.
        found: String,
        /// The supported values.
        expected: String,
    },

    /// A module of sentence-transformers cannot be read.
    #[error("module `{path}`: {source}")]
    Module {
        /// The folder of the module.
        path: String,
        /// The error in that folder.
        source: Box<Error>,
    },

    /// `ranker.toml` is not valid TOML, has an unknown key or contradicts itself.
    #[error("ranker.toml: {reason}")]
    NeuralRankerConfig {
        /// What is wrong, and where.
        reason: String,
    },

    /// A prompt that leaves no room for the text.
    #[error(
        "the prompt of {side} has {n_tokens} tokens where there is room for {room}, and one of the \
         text; make it shorter, or allow more tokens"
    )]
    PromptTooLong {
        /// `queries` or `texts`.
        side: &'static str,
        /// The number of tokens of the prompt, without special ones.
        n_tokens: usize,
        /// The maximum number of tokens of prompt and text together.
        room: usize,
    },

    /// A special token of ColBERT is missing in the vocabulary.
    #[error(
        "tokenizer.json has no token `{token}`, which this ColBERT adds to each text; set \
         `markers` and `augmentation` under [colbert] in ranker.toml"
    )]
    MissingMarkerToken {
        /// The token.
        token: String,
    },

    /// A file of sentence-transformers is not valid JSON of its kind.
    #[error("{file} cannot be read: {source}")]
    SentenceTransformersConfig {
        /// The file in the folder.
        file: String,
        /// The error of the JSON parser.
        source: serde_json::Error,
    },

    /// `tokenizer.json` cannot be read, or the tokenizer failed on a text.
    #[error("tokenizer.json: {0}")]
    Tokenizer(String),

    /// `tokenizer.json` and `config.json` do not match.
    #[error(
        "tokenizer.json has a token with id {id}, but config.json says that there are \
         {vocab_size} tokens; take both files from the same model"
    )]
    Vocabulary {
        /// The highest id in the tokenizer.
        id: u32,
        /// `vocab_size` in `config.json`.
        vocab_size: usize,
    },

    /// `model.safetensors` is empty, truncated or not a safetensors file.
    #[error("model.safetensors ({n_bytes} bytes) cannot be read: {reason}")]
    Weights {
        /// The length of the file, since an incomplete download is the usual cause.
        n_bytes: usize,
        /// The error of the safetensors parser.
        reason: String,
    },

    /// The pooling method is not supported.
    #[error(
        "1_Pooling/config.json asks for `{found}`; supported are cls_token, mean_tokens and \
         max_tokens"
    )]
    Pooling {
        /// The method in the file.
        found: String,
    },

    /// A tensor of the architecture is missing.
    #[error("model.safetensors has no tensor `{name}`")]
    MissingTensor {
        /// The name as in Hugging Face transformers.
        name: String,
    },

    /// A tensor does not have the shape that `config.json` requires.
    #[error("tensor `{name}` has shape {found:?}, but config.json asks for {expected:?}")]
    Shape {
        /// The name as in Hugging Face transformers.
        name: String,
        /// The shape in `model.safetensors`.
        found: Vec<usize>,
        /// The shape from `config.json`.
        expected: Vec<usize>,
    },

    /// The elements of a tensor are not floating-point numbers of 16 or 32 bits.
    #[error("tensor `{name}` is of type {found}; F32, F16 and BF16 can be loaded")]
    TensorType {
        /// The name as in Hugging Face transformers.
        name: String,
        /// The type as in the safetensors format.
        found: String,
    },

    /// The maximum number of tokens leaves no room for a text, or exceeds that of the model.
    #[error("a maximum of {found} tokens is out of range; the model takes {least} to {most}")]
    MaxTokens {
        /// The requested maximum.
        found: usize,
        /// The smallest maximum: `[CLS]`, one token, `[SEP]`.
        least: usize,
        /// The largest maximum: `max_position_embeddings` in `config.json`.
        most: usize,
    },

    /// Settings for the generation of queries that are out of range.
    #[error("`{setting}` is {found}; must be from 1 to {most}")]
    Sampling {
        /// The name of the setting.
        setting: &'static str,
        /// The requested number.
        found: usize,
        /// The largest allowed number.
        most: usize,
    },

    /// The device cannot be used by this build or on this machine.
    #[error("cannot compute on {device}: {reason}")]
    Device {
        /// The requested device, for example `cuda:0`.
        device: String,
        /// What is missing and what to do about it.
        reason: String,
    },

    /// Tokens that this model did not create: unknown ids, none at all, or too many.
    #[error("the tokens were not created by this model: {reason}")]
    InvalidTokens {
        /// What is wrong with them.
        reason: String,
    },

    /// The output of the model is infinite or NaN.
    #[error("the model gives a vector that is not finite; its weights are broken")]
    NotFinite,

    /// A failed computation, for example because a device ran out of memory.
    #[error("the computation failed: {0}")]
    Compute(#[from] candle_core::Error),
}

impl Error {
    /// Whether a device ran out of memory, so that a smaller batch may succeed.
    pub fn is_out_of_memory(&self) -> bool {
        let Error::Compute(error) = self else {
            return false;
        };
        // Drivers report it only in words: `CUDA_ERROR_OUT_OF_MEMORY`, "out of memory", or
        // `CUBLAS_STATUS_ALLOC_FAILED` if a product finds no workspace.
        let said = error.to_string().to_lowercase().replace('_', " ");
        said.contains("out of memory") || said.contains("status alloc failed")
    }

    /// Returns the error of a device that ran out of memory, for tests.
    pub fn out_of_memory_for_tests() -> Error {
        Error::Compute(candle_core::Error::Msg("out of memory".to_owned()))
    }
}

/// Returns an [`Error::Unsupported`] for a field with the value `found`.
pub(crate) fn unsupported_value(
    field: &'static str,
    found: &dyn ToString,
    expected: &str,
) -> Error {
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
        assert!(Error::out_of_memory_for_tests().is_out_of_memory());
        assert!(!said("shape mismatch").is_out_of_memory());
        assert!(!Error::NotFinite.is_out_of_memory());
    }
}
