//! The configuration files of sentence-transformers (Reimers and Gurevych, EMNLP 2019): prompts,
//! pooling, the modules after it, and the similarity.
//!
//! Unknown parts are refused, since a bi-encoder without them would rank incorrectly without
//! notice.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::bert::LinearLayer;
use crate::embedding::{TokenPooling, dot};
use crate::error::Error;
use crate::model_files::{ModelFileContents, SentenceTransformersModuleWithWeights};
use crate::tokenization::PromptPrefixes;
use crate::weights::ModelWeights;

/// How two vectors are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VectorSimilarity {
    /// The inner product of vectors of unit length, from −1 to 1.
    #[default]
    Cosine,
    /// The inner product.
    Dot,
}

impl VectorSimilarity {
    /// Returns the display name of the similarity: `cosine` or `dot product`.
    pub fn display_name(self) -> &'static str {
        match self {
            VectorSimilarity::Cosine => "cosine",
            VectorSimilarity::Dot => "dot product",
        }
    }
}

/// Returns the folders in `modules.json` whose files belong in
/// [`ModelFileContents::modules_with_weights`].
pub fn dense_module_folders(modules: &[u8]) -> Result<Vec<String>, Error> {
    let modules: Vec<Module> = json(MODULES, modules)?;
    let dense = modules.into_iter().filter(|it| it.kind() == "Dense");
    Ok(dense.map(|it| it.path).collect())
}

/// The computation of a bi-encoder on the hidden states.
#[derive(Default)]
pub(crate) struct BiEncoderHead {
    pub(crate) pooling: TokenPooling,
    pub(crate) similarity: VectorSimilarity,
    /// The steps after pooling, in order.
    steps: Vec<Step>,
}

/// A step on the vector of a text.
enum Step {
    /// `f(x W + b)`.
    Dense(LinearLayer, Activation),
    /// Normalization to unit length; a vector of zeros stays zero.
    Normalize,
}

#[derive(Clone, Copy)]
enum Activation {
    Identity,
    Tanh,
}

const MODULES: &str = "modules.json";
const SETTINGS: &str = "config_sentence_transformers.json";
const POOLING_FOLDER: &str = "1_Pooling";
const POOLING: &str = "1_Pooling/config.json";

/// The fields of `config_sentence_transformers.json` that are used.
#[derive(Default, Deserialize)]
struct Settings {
    similarity_fn_name: Option<String>,
    default_prompt_name: Option<String>,
    /// The prompts by name; an empty one counts as missing.
    prompts: Option<BTreeMap<String, Option<String>>>,
}

/// The fields of `1_Pooling/config.json` that [`TokenPooling::from_pooling_config_json`] does not
/// use.
#[derive(Default, Deserialize)]
struct PoolingSettings {
    include_prompt: Option<bool>,
}

/// An entry of `modules.json`.
#[derive(Deserialize)]
struct Module {
    r#type: String,
    #[serde(default)]
    path: String,
}

impl Module {
    /// Returns the class name only, since its Python module depends on the version.
    fn kind(&self) -> &str {
        self.r#type.rsplit('.').next().unwrap_or_default()
    }
}

/// `config.json` of a dense module.
#[derive(Deserialize)]
struct DenseConfig {
    in_features: usize,
    out_features: usize,
    bias: Option<bool>,
    activation_function: Option<String>,
    module_input_name: Option<String>,
    module_output_name: Option<String>,
    use_residual: Option<bool>,
}

impl BiEncoderHead {
    /// Reads the files; without them the pooling is the mean and the similarity the cosine. `width`
    /// is that of the hidden states.
    pub(crate) fn from_files(
        files: &ModelFileContents,
        width: usize,
    ) -> Result<BiEncoderHead, Error> {
        let pooling = files
            .pooling
            .as_deref()
            .map(TokenPooling::from_pooling_config_json)
            .transpose()?;
        let modules = files.modules.as_deref().map(|it| json(MODULES, it));
        let modules: Vec<Module> = modules.transpose()?.unwrap_or_default();
        let (mut steps, mut width, mut pooled) = (Vec::new(), width, false);
        for module in &modules {
            match module.kind() {
                "Transformer" => {}
                // Without its settings the pooling would be the mean.
                "Pooling" if module.path != POOLING_FOLDER => {
                    return refuse(MODULES, "path", &module.path, POOLING_FOLDER);
                }
                "Pooling" if files.pooling.is_none() => {
                    let expected = "a folder with config.json";
                    return refuse(MODULES, "path", &module.path, expected);
                }
                "Pooling" => pooled = true,
                "Dense" | "Normalize" if !pooled => {
                    let expected = "after Pooling: vectors of tokens are taken as they are";
                    return refuse(MODULES, "type", &module.r#type, expected);
                }
                "Normalize" => steps.push(Step::Normalize),
                "Dense" => {
                    let path = &module.path;
                    let Some(own) = files
                        .modules_with_weights
                        .iter()
                        .find(|it| it.path == *path)
                    else {
                        let expected = "a folder with config.json and model.safetensors";
                        return refuse(MODULES, "path", path, expected);
                    };
                    let dense = dense(own, width).map_err(|source| Error::Module {
                        path: path.clone(),
                        source: Box::new(source),
                    })?;
                    width = dense.0.bias.len();
                    steps.push(Step::Dense(dense.0, dense.1));
                }
                _ => {
                    let expected = "Transformer, Pooling, Dense or Normalize";
                    return refuse(MODULES, "type", &module.r#type, expected);
                }
            }
        }
        let similarity = match settings(files)?.similarity_fn_name.as_deref() {
            None | Some("cosine") => VectorSimilarity::Cosine,
            Some("dot") => VectorSimilarity::Dot,
            Some(other) => {
                return refuse(SETTINGS, "similarity_fn_name", other, "cosine or dot");
            }
        };
        Ok(BiEncoderHead {
            pooling: pooling.unwrap_or_default(),
            similarity,
            steps,
        })
    }

    /// Returns the prompts of queries and documents: from `ranker.toml`, or else the prompt with
    /// their name, or else the default one. This is the behavior of `encode_query` and
    /// `encode_document`, with one exception: if a folder has a prompt `passage` and none named
    /// `document`, release 6.2 adds an empty one and uses that. Here documents get the prompt of
    /// the folder.
    pub(crate) fn resolve_prompts(files: &ModelFileContents) -> Result<PromptPrefixes, Error> {
        let declared = files.ranker_config()?.prompts;
        let settings = settings(files)?;
        let prompts = settings.prompts.unwrap_or_default();
        let named = |name: &str| prompts.get(name).cloned().flatten();
        let default = match settings.default_prompt_name.as_deref() {
            None | Some("") => None,
            Some(name) => match named(name) {
                Some(prompt) => Some(prompt),
                None => {
                    let expected = "the name of one of its `prompts`";
                    return refuse(SETTINGS, "default_prompt_name", name, expected);
                }
            },
        };
        let of = |names: &[&str]| {
            let found = names.iter().find_map(|it| named(it));
            found.or_else(|| default.clone()).unwrap_or_default()
        };
        let texts = ["document", "passage", "corpus"];
        let prompts = PromptPrefixes {
            query: declared.query.unwrap_or_else(|| of(&["query"])),
            text: declared.document.unwrap_or_else(|| of(&texts)),
        };
        let pooling = files.pooling.as_deref().map(|it| json(POOLING, it));
        let pooling: PoolingSettings = pooling.transpose()?.unwrap_or_default();
        if pooling.include_prompt == Some(false) && prompts != PromptPrefixes::default() {
            let expected = "true: tokens of a prompt are pooled with the others";
            return refuse(POOLING, "include_prompt", "false", expected);
        }
        Ok(prompts)
    }

    /// Applies the steps to the pooled vector.
    pub(crate) fn apply_steps_after_pooling(&self, pooled: Vec<f32>) -> Vec<f32> {
        self.steps.iter().fold(pooled, |vector, step| match step {
            Step::Normalize => {
                let norm = dot(&vector, &vector).sqrt();
                let by = if norm > 0.0 { norm } else { 1.0 };
                let scaled = vector.iter().map(|&it| (f64::from(it) / by) as f32);
                scaled.collect()
            }
            Step::Dense(linear, activation) => {
                let x: Vec<f64> = vector.iter().map(|&it| f64::from(it)).collect();
                let y = linear.apply(&x).into_iter().map(|it| match activation {
                    Activation::Identity => it as f32,
                    Activation::Tanh => libm::tanh(it) as f32,
                });
                y.collect()
            }
        })
    }
}

fn settings(files: &ModelFileContents) -> Result<Settings, Error> {
    let settings = files
        .sentence_transformers
        .as_deref()
        .map(|it| json(SETTINGS, it));
    Ok(settings.transpose()?.unwrap_or_default())
}

/// Reads a dense module for vectors of `width` numbers.
fn dense(
    module: &SentenceTransformersModuleWithWeights,
    width: usize,
) -> Result<(LinearLayer, Activation), Error> {
    const FILE: &str = "config.json";
    let config: DenseConfig = json(FILE, &module.config)?;
    if config.in_features != width {
        let expected = format!("{width}, as many as come in");
        let found = config.in_features.to_string();
        return refuse(FILE, "in_features", &found, &expected);
    }
    if config.out_features == 0 {
        return refuse(FILE, "out_features", "0", "positive");
    }
    for (field, name) in [
        ("module_input_name", &config.module_input_name),
        ("module_output_name", &config.module_output_name),
    ] {
        if let Some(name) = name
            && name != "sentence_embedding"
        {
            return refuse(FILE, field, name, "sentence_embedding");
        }
    }
    if config.use_residual == Some(true) {
        return refuse(FILE, "use_residual", "true", "false or absent");
    }
    let activation = config.activation_function.as_deref().unwrap_or("Tanh");
    let activation = match activation.rsplit('.').next() {
        Some("Tanh") => Activation::Tanh,
        Some("Identity") => Activation::Identity,
        _ => {
            return refuse(FILE, "activation_function", activation, "Tanh or Identity");
        }
    };
    let weights = ModelWeights::from_safetensors_bytes(&module.weights, "")?;
    let outputs = config.out_features;
    let linear = match config.bias {
        Some(false) => {
            let weight = weights.read_tensor("linear.weight", &[outputs, width])?;
            LinearLayer::from_output_major_weight(&weight, vec![0.0; outputs], width)
        }
        None | Some(true) => LinearLayer::load(&weights, "linear", width, outputs)?,
    };
    Ok((linear, activation))
}

fn json<T: DeserializeOwned>(file: &str, bytes: &[u8]) -> Result<T, Error> {
    serde_json::from_slice(bytes).map_err(|source| Error::SentenceTransformersConfig {
        file: file.to_owned(),
        source,
    })
}

fn refuse<T>(file: &str, field: &'static str, found: &str, expected: &str) -> Result<T, Error> {
    Err(Error::UnsupportedModule {
        file: file.to_owned(),
        field,
        found: found.to_owned(),
        expected: expected.to_owned(),
    })
}
