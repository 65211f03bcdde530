use super::*;
use crate::models;
use crate::store::tests::{TestFolder, tell};

fn canary(place: &TestFolder, store: &Database) -> Canary {
    let models = Arc::new(models::tests::tiny());
    Canary::new(
        store.clone(),
        place.folder.clone(),
        models,
        DEFAULT_INTERVAL,
    )
}

#[tokio::test]
async fn a_failure_is_kept_since_its_beginning_and_until_its_end() {
    let place = TestFolder::sqlite();
    let store = place.store().await;
    let canary = canary(&place, &store);
    let (_stop, stopping) = watch::channel(false);
    let round = async || {
        let files = StudyFileRotation::default();
        canary.run_round(files, &stopping).await;
        canary.last_report().unwrap()
    };
    assert_eq!((canary.last_report(), canary.problem()), (None, None));
    assert_eq!(round().await.failures, []);
    tell(&store, "PRAGMA query_only = 1").await;
    let first = round().await;
    let [failure] = &first.failures[..] else {
        panic!("{first:?}")
    };
    assert_eq!(failure.check, SiteCheck::Database);
    assert_eq!(failure.since_ms, first.finished_ms);
    let root = place.folder.database_path();
    let root = root.parent().unwrap().to_string_lossy().into_owned();
    assert!(!failure.message.contains(&root), "{failure:?}");
    assert!(failure.detail.as_ref().unwrap().contains(&root));
    assert_eq!(canary.problem().as_ref(), Some(&failure.message));
    let second = round().await;
    assert!(second.finished_ms >= first.finished_ms);
    assert_eq!(second.failures[0].since_ms, failure.since_ms);
    tell(&store, "PRAGMA query_only = 0").await;
    assert_eq!(round().await.failures, []);
    assert_eq!(canary.problem(), None);
}

#[tokio::test]
async fn checks_that_do_not_end_are_a_problem() {
    let place = TestFolder::sqlite();
    let canary = canary(&place, &place.store().await);
    let long_ago = DEFAULT_INTERVAL * MAX_MISSED_ROUNDS + PATIENCE + Duration::from_secs(1);
    let long_ago = Instant::now().checked_sub(long_ago);
    canary.last.write().unwrap().at = long_ago.expect("this machine runs for an hour");
    assert!(canary.problem().unwrap().contains("do not end"));
}
