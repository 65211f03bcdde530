//! Information about models that only operators may see.

use std::fs;
use std::path::Path;

use shared::api::models::{
    ListModelsRequest, LoadModelRequest, ModelLoadState, ModelSource, ModelStatus,
};

use super::*;
use crate::models::tests::TINY;

fn load(spec: &str) -> LoadModelRequest {
    LoadModelRequest {
        model: spec.to_owned(),
    }
}

/// Returns a registry with the smallest model and a folder without weights.
fn half(home: &Path) -> ModelRegistry {
    let folder = home.join("half");
    fs::create_dir(&folder).unwrap();
    for file in ["config.json", "tokenizer.json"] {
        fs::copy(Path::new(TINY).join(file), folder.join(file)).unwrap();
    }
    let named = [TINY.to_owned(), folder.display().to_string()];
    ModelRegistry::with_models_or_default(&named, neural::Device::Cpu).unwrap()
}

#[tokio::test]
async fn visitors_are_told_nothing_of_models() {
    let site = Site::new(ListenScope::Network).await;
    for answer in [
        site.ask(&ListModelsRequest {}).await,
        site.ask(&load("tiny:bi")).await,
    ] {
        let (status, error) = answer.problem();
        assert_eq!(status, 401, "{error}");
        assert!(!error.contains("tiny"), "{error}");
    }
    assert!(
        site.app.models.loaded_rankers().is_empty(),
        "nor do they load one"
    );
    let asked = as_request(
        ListModelsRequest::METHOD,
        ListModelsRequest::PATH,
        &ListModelsRequest {},
    );
    let answer = site.send(with_token(asked, &site.token)).await;
    assert_eq!(answer.json::<Vec<ModelStatus>>().len(), 2);
}

#[tokio::test]
async fn a_model_is_loaded_when_the_operator_says_so() {
    let site = Site::new(ListenScope::Loopback).await;
    let held: Vec<ModelStatus> = site.ask(&ListModelsRequest {}).await.json();
    let specs: Vec<&str> = held.iter().map(|it| it.spec.as_str()).collect();
    assert_eq!(specs, ["tiny:bi", "tiny:late"]);
    assert!(held.iter().all(|it| it.state == ModelLoadState::Unloaded));

    let loaded: ModelStatus = site.ask(&load("tiny:late")).await.json();
    let ModelLoadState::Loaded(told) = &loaded.state else {
        panic!("{loaded:?}")
    };
    // The same values as in `models inspect`.
    let ranker = site.app.models.get_or_load_ranker("tiny:late").unwrap();
    assert_eq!(told.ranker, ranker.about);
    assert_eq!(told.weights_sha256, ranker.weights_sha256);
    let held: Vec<ModelStatus> = site.ask(&ListModelsRequest {}).await.json();
    assert_eq!(held[0].state, ModelLoadState::Unloaded);
    assert_eq!(held[1], loaded);

    let (status, error) = site.ask(&load("no-such")).await.problem();
    assert_eq!(status, 404);
    assert!(error.contains("no model named `no-such` among `tiny:bi`"));
    assert_eq!(site.ask(&load("tiny:cross")).await.problem().0, 404);
}

#[tokio::test]
async fn a_model_that_cannot_be_loaded_says_why_without_the_folders_of_the_machine() {
    let home = tempfile::tempdir().unwrap();
    let site = Site::with(ListenScope::Loopback, half(home.path())).await;
    let failed: ModelStatus = site.ask(&load("half:bi")).await.json();
    let answer = site.ask(&ListModelsRequest {}).await;
    let text = String::from_utf8(answer.body.to_vec()).unwrap();
    assert!(!text.contains(&home.path().display().to_string()), "{text}");
    let held: Vec<ModelStatus> = answer.json();
    assert_eq!(held[2], failed);
    let name = "half".to_owned();
    assert_eq!(held[2].source, ModelSource::Folder { name });
    let ModelLoadState::Failed { reason } = &held[2].state else {
        panic!("{held:?}")
    };
    assert!(reason.starts_with("has no model.safetensors"), "{reason}");

    let weights = "model.safetensors";
    let folder = home.path().join("half");
    fs::copy(Path::new(TINY).join(weights), folder.join(weights)).unwrap();
    let loaded: ModelStatus = site.ask(&load("half:bi")).await.json();
    assert!(
        matches!(loaded.state, ModelLoadState::Loaded(_)),
        "{loaded:?}"
    );
}
