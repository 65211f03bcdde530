//! The models of a server as the operator sees them.

use leptos::prelude::*;
use shared::api::models::{ListModelsRequest, ModelLoadState, ModelStatus};

use crate::api::{self, RequestError, operator_token};
use crate::debounce::DebounceTimer;
use crate::widgets::polled_list::POLL_MS;

/// The models of the server, and whether the user may see them.
#[derive(Clone, Copy)]
pub(super) struct ServerModelsState {
    pub(super) state: RwSignal<OperatorPageState>,
    /// Whether the server rejected the token of this tab.
    pub(super) is_token_rejected: RwSignal<bool>,
    pub(super) models: RwSignal<Vec<ModelStatus>>,
    pub(super) debounce: DebounceTimer,
}

/// What the operator page shows: loading, no server, sign-in, models or an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum OperatorPageState {
    Loading,
    NoServer,
    Visitor,
    Operator,
    Failed(RequestError),
}

/// The reply of the server: the models, or that access is denied.
pub(super) enum ModelsOrAccessDenied {
    NoServer,
    Denied,
    Models(Vec<ModelStatus>),
}

pub(super) async fn fetch_server_models() -> Result<ModelsOrAccessDenied, RequestError> {
    match api::fetch_server_info().await? {
        None => Ok(ModelsOrAccessDenied::NoServer),
        Some(server) if !server.can_create_jobs => Ok(ModelsOrAccessDenied::Denied),
        Some(_) => match api::send_and_parse(&ListModelsRequest {}).await {
            // The token may have changed since the first request.
            Err(error) if error.is_server_error_of_type(api::NO_TOKEN) => {
                Ok(ModelsOrAccessDenied::Denied)
            }
            found => found.map(ModelsOrAccessDenied::Models),
        },
    }
}

impl ServerModelsState {
    pub(super) fn new() -> ServerModelsState {
        ServerModelsState {
            state: RwSignal::new(OperatorPageState::Loading),
            is_token_rejected: RwSignal::new(false),
            models: RwSignal::new(Vec::new()),
            debounce: DebounceTimer::with_delay_ms(POLL_MS),
        }
    }

    /// Polls the server until every model is loaded or has failed to load.
    pub(super) fn poll_until_loaded(self) {
        leptos::task::spawn_local(async move {
            let found = fetch_server_models().await;
            // The user may be on another page by now.
            let Some(before) = self.state.try_get_untracked() else {
                return;
            };
            self.state.set(match found {
                Ok(ModelsOrAccessDenied::NoServer) => OperatorPageState::NoServer,
                Ok(ModelsOrAccessDenied::Denied) => {
                    self.is_token_rejected
                        .set(operator_token::stored_operator_token().is_some());
                    OperatorPageState::Visitor
                }
                Ok(ModelsOrAccessDenied::Models(found)) => {
                    let waits = found.iter().any(|it| it.state == ModelLoadState::Unloaded);
                    self.models.set(found);
                    if waits {
                        self.debounce.schedule(move || self.poll_until_loaded());
                    }
                    OperatorPageState::Operator
                }
                // What is shown is still correct, and the connection or a busy server may recover.
                Err(_) if before == OperatorPageState::Operator => {
                    self.debounce.schedule(move || self.poll_until_loaded());
                    before
                }
                Err(error) => OperatorPageState::Failed(error),
            });
        });
    }

    /// Returns a signal with the current status of a model.
    pub(super) fn model_status_signal(self, spec: String) -> Memo<Option<ModelStatus>> {
        Memo::new(move |_| {
            self.models
                .with(|it| it.iter().find(|it| it.spec == spec).cloned())
        })
    }

    /// Replaces the status of a model.
    pub(super) fn replace_model_status(self, held: ModelStatus) {
        self.models.update(|models| {
            if let Some(it) = models.iter_mut().find(|it| it.spec == held.spec) {
                *it = held;
            }
        });
    }

    /// Returns a signal with the specifications of the loaded models.
    pub(super) fn loaded_model_specs_signal(self) -> Memo<Vec<String>> {
        Memo::new(move |_| {
            let loaded = |it: &&ModelStatus| matches!(it.state, ModelLoadState::Loaded(_));
            let models = self.models.read();
            models
                .iter()
                .filter(loaded)
                .map(|it| it.spec.clone())
                .collect()
        })
    }
}
