//! Tests of cluster jobs in the database: leases, commits and what operators see.

use shared::api::JobState;

use super::*;
use crate::store::cluster_jobs::{ClusterLeaseState, CommittedShard, NewClusterJob};

fn job() -> NewClusterJob {
    NewClusterJob {
        id: "a".repeat(64),
        study: "river".to_owned(),
        build: "0.1.0 (0123)".to_owned(),
        storage: "file:///somewhere".to_owned(),
    }
}

fn shard(name: &str, executor: &str) -> CommittedShard {
    CommittedShard {
        shard: name.to_owned(),
        executor: executor.to_owned(),
        n_rows: 32,
        n_bytes: 1_000,
        sha256: "b".repeat(64),
        seconds: 1.5,
    }
}

/// Ends the lease of a driver that was killed.
async fn let_lease_end(store: &Database) {
    let ended = sqlx::query("UPDATE cluster_jobs SET leased_until = 0");
    store.execute(ended).await.unwrap();
}

#[tokio::test]
async fn only_the_latest_driver_commits_and_each_shard_once() {
    for place in TestFolder::each() {
        let (store, job) = (place.store().await, job());
        assert_eq!(store.lease_cluster_job(&job).await.unwrap(), Some(1));
        assert_eq!(store.lease_cluster_job(&job).await.unwrap(), None);
        let names = ["mine-000000", "mine-000001"].map(str::to_owned);
        for _ in 0..2 {
            let planned = store.plan_cluster_shards(&job.id, "mine", &names);
            planned.await.unwrap();
        }
        let first = shard(&names[0], "here-1");
        let commit = async |lease, shard| {
            let committed = store.commit_cluster_shard(&job.id, lease, shard);
            committed.await.unwrap()
        };
        assert!(commit(1, &first).await);
        assert!(!commit(1, &first).await, "it is committed already");

        let_lease_end(&store).await;
        assert_eq!(store.lease_cluster_job(&job).await.unwrap(), Some(2));
        let second = shard(&names[1], "here-2");
        assert!(!commit(1, &second).await, "another driver has the job");
        let renewed = store.renew_cluster_lease(&job.id, 1).await.unwrap();
        assert_eq!(renewed, ClusterLeaseState::Lost);
        let renewed = store.renew_cluster_lease(&job.id, 2).await.unwrap();
        assert_eq!(renewed, ClusterLeaseState::Held);
        assert!(commit(2, &second).await);
        let attempts = store.set_cluster_attempts(&job.id, &names[1], 3);
        attempts.await.unwrap();

        // An earlier driver cannot end the job.
        store.end_cluster_job(&job.id, 1, None).await.unwrap();
        let listed = store.list_cluster_jobs().await.unwrap().remove(0);
        assert_eq!((listed.state, listed.has_driver), (JobState::Running, true));
        let stage = &listed.stages[0];
        assert_eq!((stage.n_shards, stage.n_committed), (2, 2));
        assert_eq!(
            (stage.n_attempts, stage.n_rows, stage.n_bytes),
            (3, 64, 2_000)
        );
        assert_eq!(stage.n_repeated_attempts, 2);
        assert!((stage.seconds - 3.0).abs() < 1e-9);
        let executors: Vec<&str> = listed.executors.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(executors, ["here-1", "here-2"]);
        store.end_cluster_job(&job.id, 2, None).await.unwrap();
        let listed = store.list_cluster_jobs().await.unwrap().remove(0);
        assert_eq!((listed.state, listed.has_driver), (JobState::Done, false));
        assert!(listed.ended_ms.unwrap() >= listed.begun_ms);
    }
}

#[tokio::test]
async fn a_canceled_job_stays_canceled_until_it_is_continued() {
    for place in TestFolder::each() {
        let (store, job) = (place.store().await, job());
        assert!(
            store.cancel_cluster_job(&job.id).await.is_err(),
            "there is none"
        );
        store.lease_cluster_job(&job).await.unwrap().unwrap();
        store.cancel_cluster_job(&job.id).await.unwrap();
        let renewed = store.renew_cluster_lease(&job.id, 1).await.unwrap();
        assert_eq!(renewed, ClusterLeaseState::Canceled);
        let ended = store.end_cluster_job(&job.id, 1, Some("the job was canceled"));
        ended.await.unwrap();
        let listed = store.list_cluster_jobs().await.unwrap().remove(0);
        assert_eq!(listed.state, JobState::Canceled);
        assert_eq!(store.lease_cluster_job(&job).await.unwrap(), Some(2));
        let listed = store.list_cluster_jobs().await.unwrap().remove(0);
        assert_eq!((listed.state, listed.error), (JobState::Running, None));
        let failed = store.end_cluster_job(&job.id, 2, Some("no disk"));
        failed.await.unwrap();
        let listed = store.list_cluster_jobs().await.unwrap().remove(0);
        assert_eq!(listed.state, JobState::Failed);
        assert_eq!(listed.error.as_deref(), Some("no disk"));
    }
}

#[tokio::test]
async fn a_job_whose_driver_was_killed_ends_once_its_study_is_complete() {
    for place in TestFolder::each() {
        let (store, job) = (place.store().await, job());
        store.lease_cluster_job(&job).await.unwrap().unwrap();
        let state = async |study: &str| {
            let ended = store.end_cluster_jobs_without_driver(study);
            ended.await.unwrap();
            store.list_cluster_jobs().await.unwrap().remove(0).state
        };
        assert_eq!(state("river").await, JobState::Running, "it has a driver");
        let_lease_end(&store).await;
        assert_eq!(state("lake").await, JobState::Running, "of another study");
        let names = ["mine-000000".to_owned()];
        let planned = store.plan_cluster_shards(&job.id, "mine", &names);
        planned.await.unwrap();
        assert_eq!(
            state("river").await,
            JobState::Running,
            "a shard is missing"
        );
        let committed = shard(&names[0], "here-1");
        let committed = store.commit_cluster_shard(&job.id, 1, &committed);
        assert!(committed.await.unwrap());
        assert_eq!(state("river").await, JobState::Done);
    }
}
