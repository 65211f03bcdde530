//! What other programs ask a rerank server before they use it: its default model, in the format of
//! text-embeddings-inference, and its models, in the format of OpenAI's API.

use std::collections::BTreeMap;

use axum::Json;
use shared::api::models::{
    GetModelInfoRequest, ListServedModelsRequest, LoadedModelInfo, ModelInfoResponse,
    ModelLoadState, ServedModel, ServedModelList, ServedModelTask,
};

use crate::error::{Error, run_blocking};
use crate::http::api_request::{ApiRequest, JsonResult};
use crate::http::score::ScoringLimits;

/// The label of the only output of a reranker without labels of its own.
const LABEL: &str = "LABEL_0";

/// Loads the default model if necessary and describes it.
pub(super) async fn get_model_info(
    ApiRequest(app, caller, _): ApiRequest<GetModelInfoRequest>,
) -> JsonResult<ModelInfoResponse> {
    let name = app.models.default_model_name()?;
    let models = app.models.clone();
    let status = run_blocking("loading a model", move || {
        models.get_or_load_ranker(&name)?;
        Ok(models
            .list_model_statuses()
            .into_iter()
            .find(|it| it.spec == models.add_default_use_suffix(&name)))
    })
    .await?;
    let Some(ModelLoadState::Loaded(model)) = status.map(|it| it.state) else {
        return Err(Error::ServerBusy {
            what: "the model is being loaded",
            retry_after_s: 5,
        });
    };
    let limits = ScoringLimits::for_ranking(&caller);
    Ok(Json(describe(*model, limits.texts)))
}

fn describe(model: LoadedModelInfo, max_texts: u64) -> ModelInfoResponse {
    ModelInfoResponse {
        model_id: model.ranker.spec,
        model_sha: model.weights_sha256,
        model_dtype: match &*model.precision {
            "f32" => "float32".to_owned(),
            "f16" => "float16".to_owned(),
            "bf16" => "bfloat16".to_owned(),
            other => other.to_owned(),
        },
        model_type: ServedModelTask::Reranker {
            id2label: BTreeMap::from([("0".to_owned(), LABEL.to_owned())]),
            label2id: BTreeMap::from([(LABEL.to_owned(), 0)]),
        },
        max_input_length: model.max_tokens,
        max_client_batch_size: max_texts,
        auto_truncate: true,
        version: env!("CARGO_PKG_VERSION").to_owned(),
    }
}

/// Lists every use of every model, without those that could not be loaded.
pub(super) async fn list_served_models(
    ApiRequest(app, _, _): ApiRequest<ListServedModelsRequest>,
) -> JsonResult<ServedModelList> {
    let models = app.models.clone();
    let data = run_blocking("listing models", move || {
        let failed: BTreeMap<String, String> = models.load_failures().into_iter().collect();
        let specs = models.ranker_specs().into_iter();
        Ok(specs
            .filter(|it| !failed.contains_key(it))
            .map(|id| ServedModel {
                id,
                object: "model".to_owned(),
                owned_by: "axioscope".to_owned(),
            })
            .collect())
    })
    .await?;
    Ok(Json(ServedModelList {
        object: "list".to_owned(),
        data,
    }))
}
