//! Cluster jobs as operators see them.

use shared::api::cluster::{CancelClusterJobRequest, ClusterJob, ListClusterJobsRequest};

use super::*;
use crate::store::cluster_jobs::{CommittedShard, NewClusterJob};

fn cancel(id: &str) -> CancelClusterJobRequest {
    CancelClusterJobRequest { job: id.to_owned() }
}

#[tokio::test]
async fn an_operator_lists_cluster_jobs_and_cancels_one() {
    let site = Site::new(ListenScope::Loopback).await;
    let listed: Vec<ClusterJob> = site.ask(&ListClusterJobsRequest {}).await.json();
    assert_eq!(listed, []);

    let new = NewClusterJob {
        id: "a".repeat(64),
        study: "open".to_owned(),
        build: "0.1.0 (0123)".to_owned(),
        storage: "s3://bucket/place".to_owned(),
    };
    let store = &site.app.store;
    let lease = store.lease_cluster_job(&new).await.unwrap().unwrap();
    let shards = ["mine-000000", "mine-000001"].map(str::to_owned);
    store
        .plan_cluster_shards(&new.id, "mine", &shards)
        .await
        .unwrap();
    let committed = CommittedShard {
        shard: shards[0].clone(),
        executor: "node-1".to_owned(),
        n_rows: 32,
        n_bytes: 1_000,
        sha256: "b".repeat(64),
        seconds: 1.5,
    };
    let is_committed = store.commit_cluster_shard(&new.id, lease, &committed).await;
    assert!(is_committed.unwrap());

    let listed: Vec<ClusterJob> = site.ask(&ListClusterJobsRequest {}).await.json();
    let [running] = &listed[..] else {
        panic!("{listed:?}")
    };
    assert_eq!(
        (&running.study, &running.storage),
        (&new.study, &new.storage)
    );
    assert_eq!(
        (running.state, running.has_driver),
        (JobState::Running, true)
    );
    let [stage] = &running.stages[..] else {
        panic!("{running:?}")
    };
    assert_eq!((stage.n_shards, stage.n_committed), (2, 1));
    assert_eq!(running.executors[0].name, "node-1");

    let canceled: ClusterJob = site.ask(&cancel(&new.id)).await.json();
    assert_eq!(canceled.state, JobState::Canceled);
    assert!(canceled.ended_ms >= Some(running.begun_ms));
    assert_eq!(canceled.stages, running.stages, "committed shards stay");
    let listed: Vec<ClusterJob> = site.ask(&ListClusterJobsRequest {}).await.json();
    assert_eq!(listed[0].state, JobState::Canceled);

    let again: ClusterJob = site.ask(&cancel(&new.id)).await.json();
    assert_eq!(again.ended_ms, canceled.ended_ms, "it has ended already");
    let (status, error) = site.ask(&cancel("unknown")).await.problem();
    assert_eq!(status, 404);
    assert!(error.contains("no job named `unknown`"), "{error}");
}
