//! What the files of sentence-transformers say beside the encoder's own (Reimers and Gurevych,
//! EMNLP 2019): how vectors of pieces become one, and how two are compared.
//!
//! A part that is not known here is refused, since a bi-encoder without it would rank wrongly and
//! not say so.

use serde::Deserialize;

use crate::error::Error;
use crate::matching::Pooling;
use crate::model::ModelFiles;

/// How two vectors are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Similarity {
    /// Of vectors of unit length; from −1 to 1.
    #[default]
    Cosine,
    /// Their inner product.
    Dot,
}

impl Similarity {
    /// For people.
    pub fn name(self) -> &'static str {
        match self {
            Similarity::Cosine => "cosine",
            Similarity::Dot => "dot product",
        }
    }
}

/// What a bi-encoder does with the hidden states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sentence {
    pub(crate) pooling: Pooling,
    pub(crate) similarity: Similarity,
}

/// `config_sentence_transformers.json`, of what is looked at.
#[derive(Default, Deserialize)]
struct Settings {
    similarity_fn_name: Option<String>,
    default_prompt_name: Option<String>,
}

/// An entry of `modules.json`.
#[derive(Deserialize)]
struct Module {
    r#type: String,
}

impl Sentence {
    /// Without these files: the mean, and the cosine.
    pub(crate) fn read(files: &ModelFiles) -> Result<Sentence, Error> {
        const MODULES: &str = "modules.json";
        const SETTINGS: &str = "config_sentence_transformers.json";
        let refuse = |(file, field), found: String, expected| {
            Err(Error::Sentence {
                file,
                field,
                found,
                expected,
            })
        };
        let broken = |file| move |source| Error::Settings { file, source };
        let pooling = files.pooling.as_deref().map(Pooling::read).transpose()?;
        let modules = files.modules.as_deref().map(serde_json::from_slice);
        let modules: Option<Vec<Module>> = modules.transpose().map_err(broken(MODULES))?;
        for Module { r#type } in modules.into_iter().flatten() {
            let kind = r#type.rsplit('.').next().unwrap_or_default();
            if !["Transformer", "Pooling", "Normalize"].contains(&kind) {
                let expected = "Transformer, Pooling or Normalize";
                return refuse((MODULES, "type"), r#type, expected);
            }
        }
        let settings = files.settings.as_deref().map(serde_json::from_slice);
        let settings: Option<Settings> = settings.transpose().map_err(broken(SETTINGS))?;
        let settings = settings.unwrap_or_default();
        if let Some(prompt) = settings.default_prompt_name {
            let field = (SETTINGS, "default_prompt_name");
            return refuse(field, prompt, "null: texts are encoded as they are");
        }
        let similarity = match settings.similarity_fn_name.as_deref() {
            None | Some("cosine") => Similarity::Cosine,
            Some("dot") => Similarity::Dot,
            Some(other) => {
                let field = (SETTINGS, "similarity_fn_name");
                return refuse(field, other.to_owned(), "cosine or dot");
            }
        };
        Ok(Sentence {
            pooling: pooling.unwrap_or_default(),
            similarity,
        })
    }
}
