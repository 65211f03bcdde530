//! Tests of the queue without a network.

use std::fs;

use serde_json::json;
use shared::api::JobState;

use super::*;

/// Writes the job of a training that the process with this state has left.
fn put(folder: &DataFolder, name: &str, state: &str) {
    let path = folder.training_folder(name).unwrap();
    fs::create_dir_all(&path).unwrap();
    let spec = json!({"model": "drmm", "seed": u64::MAX});
    let request = json!({"name": "other", "collection": "c", "spec": spec});
    let job = json!({
        "name": "other", "request": request, "state": state, "is_public": true, "step": 9,
        "n_updates": 10, "updates_per_s": 0.0, "created_at": format!("2026-11-2{}", name.len()),
    });
    let stored = json!({"format": 1, "job": job});
    fs::write(path.join("job.json"), stored.to_string()).unwrap();
}

#[test]
fn trainings_are_found_again_and_running_ones_wait_again() {
    let home = tempfile::tempdir().unwrap();
    let folder = DataFolder::open(home.path()).unwrap();
    put(&folder, "a", "done");
    put(&folder, "bb", "running");
    put(&folder, "ccc", "canceled");
    // Folders of the command `train`, of nobody, and one that is damaged.
    for other in ["by-hand", "Not_a_name", "damaged", "later"] {
        fs::create_dir(home.path().join("trainings").join(other)).unwrap();
    }
    fs::write(home.path().join("trainings/damaged/job.json"), "{").unwrap();
    put(&folder, "later", "done");
    let path = home.path().join("trainings/later/job.json");
    let later = fs::read_to_string(&path).unwrap();
    fs::write(&path, later.replace("\"format\":1", "\"format\":2")).unwrap();

    let queue = TrainingQueue::load(folder.clone()).unwrap();
    let state = |it: &TrainingJob| (it.name.clone(), it.state, it.is_public, it.step);
    let states = |queue: &TrainingQueue| queue.list().iter().map(state).collect::<Vec<_>>();
    let expected = |name: &str, state| (name.to_owned(), state, true, 9);
    let newest_first = [
        expected("ccc", JobState::Canceled),
        expected("bb", JobState::Queued),
        expected("a", JobState::Done),
    ];
    assert_eq!(states(&queue), newest_first);
    assert_eq!(queue.job("bb").unwrap().request.name, "bb");
    assert_eq!(queue.job("bb").unwrap().request.spec.seed, u64::MAX);

    // What is changed is there after the next start; what has ended is not canceled or resumed.
    queue.resume_canceled_or_failed("ccc").unwrap();
    queue.cancel("bb").unwrap();
    queue.cancel("a").unwrap();
    queue.resume_canceled_or_failed("a").unwrap();
    queue.set_public("a", false).unwrap();
    let again = TrainingQueue::load(folder).unwrap();
    assert_eq!(again.list(), queue.list());
    assert_eq!(
        states(&again),
        [
            expected("ccc", JobState::Queued),
            expected("bb", JobState::Canceled),
            ("a".to_owned(), JobState::Done, false, 9),
        ]
    );
    for missing in ["by-hand", "damaged", "later", "d", "../trainings/a"] {
        let error = queue.cancel(missing).unwrap_err().to_string();
        assert!(error.contains("there is no training named"), "{error}");
    }
}
