//! The models of the server, which only operators see. `/health` is for everybody.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::endpoints;
use crate::score::RankerInfo;

endpoints! {
    Get "/api/models" ListModelsRequest => Vec<ModelStatus>;
    Post "/api/models/{model}/load" LoadModelRequest => ModelStatus;
    Get "/health" GetModelHealthRequest => HealthResponse;
    Get "/info" GetModelInfoRequest => ModelInfoResponse;
    Get "/v1/models" ListServedModelsRequest => ServedModelList;
}

/// Lists every use of every model that the server was started with. Operators only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ListModelsRequest {}

/// Loads a model now, even if an earlier attempt failed, and returns its new state. Operators
/// only.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LoadModelRequest {
    /// [`ModelStatus::spec`].
    pub model: String,
}

/// A use of a model, loaded or not.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ModelStatus {
    /// The ranker as requested: `all-MiniLM-L6-v2:bi`.
    pub spec: String,
    /// Where its files come from.
    pub source: ModelSource,
    /// The state of the model.
    #[serde(flatten)]
    pub state: ModelLoadState,
}

/// Where the files of a model come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum ModelSource {
    /// A folder of the server's machine.
    Folder {
        /// The name of the folder, without its parents.
        name: String,
    },
    /// A repository of the hub.
    Hub {
        /// `owner/name` or `owner/name@revision`.
        name: String,
    },
}

/// Whether a model is in memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "state", rename_all = "kebab-case")]
pub enum ModelLoadState {
    /// The model has not been needed so far.
    Unloaded,
    /// The model is in memory.
    Loaded(Box<LoadedModelInfo>),
    /// The last attempt to load the model failed.
    Failed {
        /// What is wrong, and how to fix it.
        reason: String,
    },
}

/// Description of a model in memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct LoadedModelInfo {
    /// The description that readers see.
    pub ranker: RankerInfo,
    /// SHA-256 of the weights file, in hex, as hubs show it.
    pub weights_sha256: String,
    /// Size of that file.
    pub weights_bytes: u64,
    /// The device: `cpu`, `cuda:0`.
    pub device: String,
    /// The numeric precision: `f32`.
    pub precision: String,
    /// The maximum number of tokens of a text; for a cross-encoder it includes the query. `None`
    /// if the model's own files define it in another way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
}

/// Returns the model that `/rerank` uses unless a request names another one, in the format of
/// text-embeddings-inference. For everybody.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct GetModelInfoRequest {}

/// The response to [`GetModelInfoRequest`]. The keys are those of text-embeddings-inference; those
/// of its queue and its threads are absent, because this server has no such settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ModelInfoResponse {
    /// The spec of the model: `all-MiniLM-L6-v2:bi`.
    pub model_id: String,
    /// SHA-256 of the weights file, in hex.
    pub model_sha: String,
    /// The numeric precision, as text-embeddings-inference spells it: `float32`, `float16`,
    /// `bfloat16`.
    pub model_dtype: String,
    /// What the model does.
    pub model_type: ServedModelTask,
    /// The maximum number of tokens of an input. `None` if the model's own files define it in
    /// another way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_input_length: Option<u64>,
    /// The maximum number of texts in one request of this caller.
    pub max_client_batch_size: u64,
    /// Whether longer texts are truncated unless the request says otherwise; always true.
    pub auto_truncate: bool,
    /// Version of the software.
    pub version: String,
}

/// What a model of [`ModelInfoResponse`] does. Every model of this server ranks texts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ServedModelTask {
    /// A model for `/rerank`, with the labels of its outputs.
    Reranker {
        /// The label of each output.
        id2label: BTreeMap<String, String>,
        /// The output of each label.
        label2id: BTreeMap<String, u64>,
    },
}

/// Lists the models that `/rerank` and `/api/score` accept, in the format of OpenAI's API. For
/// everybody.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ListServedModelsRequest {}

/// The response to [`ListServedModelsRequest`], a list object of OpenAI's API.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ServedModelList {
    /// Always `list`.
    pub object: String,
    /// The models, in the order in which the server was given them.
    pub data: Vec<ServedModel>,
}

/// A model of [`ServedModelList`], as requests name it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ServedModel {
    /// The spec, as requests name it.
    pub id: String,
    /// Always `model`.
    pub object: String,
    /// Who runs the model; always `axioscope`.
    pub owned_by: String,
}

/// Checks that every loaded model scores a test pair, with the same result each time, and that the
/// last round of the checks of the site passed. For everybody.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct GetModelHealthRequest {}

/// The response to [`GetModelHealthRequest`] if all checks pass.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HealthResponse {
    /// Always `ok`.
    pub status: String,
    /// The scores of BM25, then of the models that are loaded.
    #[serde(rename = "scored")]
    pub scores: Vec<HealthCheckScore>,
    /// When the checks of the site last passed, in milliseconds since 1970; `None` before the first
    /// round.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checks_passed_ms: Option<u64>,
}

/// The score of a ranker for the test pair.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HealthCheckScore {
    /// The spec of the ranker.
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
                held(folder, ModelLoadState::Unloaded),
                r#"{"spec":"m:bi","source":{"kind":"folder","name":"m"},"state":"unloaded"}"#,
            ),
            (
                held(hub, ModelLoadState::Failed { reason }),
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
