//! What only the operator sees: the models of the server. `/health` beside it is for everybody.

use serde::{Deserialize, Serialize};

use super::endpoints;
use crate::score::RankerInfo;

endpoints! {
    Get "/api/models" ListModelsRequest => Vec<ModelStatus>;
    Post "/api/model/load" LoadModelRequest => ModelStatus;
    Get "/health" GetHealthRequest => HealthResponse;
}

/// Every use of every model that the server was started with. Operators only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ListModelsRequest {}

/// Loads a model now, also one that could not be loaded a moment ago, and says how it stands then.
/// Operators only.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LoadModelRequest {
    /// [`ModelStatus::spec`].
    pub model: String,
}

/// One use of a model, loaded or not.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ModelStatus {
    /// As it is asked for: `all-MiniLM-L6-v2:bi`.
    pub spec: String,
    /// Where its files come from.
    pub source: ModelSource,
    /// What is known of it.
    #[serde(flatten)]
    pub state: ModelState,
}

/// Where the files of a model come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum ModelSource {
    /// A folder of the server's machine.
    Folder {
        /// Its name, without the folders it lies in.
        name: String,
    },
    /// A repository of the hub.
    Hub {
        /// `owner/name` or `owner/name@revision`.
        name: String,
    },
}

/// Whether a model is in memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(tag = "state", rename_all = "kebab-case")]
pub enum ModelState {
    /// Nobody needed it so far.
    Unloaded,
    /// The model is in memory.
    Loaded(Box<LoadedModel>),
    /// It could not be loaded when it was last tried.
    Failed {
        /// What is wrong, and the way out.
        reason: String,
    },
}

/// Description of a model in memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LoadedModel {
    /// What is shown of it.
    pub ranker: RankerInfo,
    /// SHA-256 of the file of weights, in hex, as hubs show it.
    pub weights_sha256: String,
    /// Size of that file.
    pub weights_bytes: u64,
    /// Where it computes: `cpu`, `cuda:0`.
    pub device: String,
    /// In what: `f32`.
    pub precision: String,
    /// The most pieces of a text that it reads; a cross-encoder counts the query with it. None
    /// where the model's own files say it in a way of their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
}

/// Whether every model that is loaded scores a pair, the same each time. For everybody.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct GetHealthRequest {}

/// Reply to [`GetHealthRequest`] where nothing is wrong.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HealthResponse {
    /// `ok`.
    pub status: String,
    /// BM25, then the models that are loaded.
    #[serde(rename = "scored")]
    pub scores: Vec<HealthCheckScore>,
}

/// What a ranker gave for the pair that it is tried with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HealthCheckScore {
    /// Spec of the ranker.
    pub ranker: String,
    /// Its score.
    pub score: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_reads_as_one_object() {
        let held = |source, state| ModelStatus {
            spec: "m:bi".to_owned(),
            source,
            state,
        };
        let folder = ModelSource::Folder {
            name: "m".to_owned(),
        };
        let hub = ModelSource::Hub {
            name: "o/m@v1".to_owned(),
        };
        let reason = "has no config.json".to_owned();
        for (value, json) in [
            (
                held(folder, ModelState::Unloaded),
                r#"{"spec":"m:bi","source":{"kind":"folder","name":"m"},"state":"unloaded"}"#,
            ),
            (
                held(hub, ModelState::Failed { reason }),
                concat!(
                    r#"{"spec":"m:bi","source":{"kind":"hub","name":"o/m@v1"},"#,
                    r#""state":"failed","reason":"has no config.json"}"#
                ),
            ),
        ] {
            assert_eq!(serde_json::to_string(&value).unwrap(), json);
            assert_eq!(serde_json::from_str::<ModelStatus>(json).unwrap(), value);
        }
    }
}
