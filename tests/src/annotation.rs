//! Annotation from outside: people over HTTP, a task from beginning to end, and what remains of it
//! when the server is killed or its disk is full.

pub(crate) mod seeded_random;
pub(crate) mod server_address;
pub(crate) mod person;
mod scripted_annotator;
pub(crate) mod answers;
pub(crate) mod crashes;
mod full_disk;
mod guesses;
mod lifecycle;

use serde_json::json;
use shared::annotation::AnnotationTaskDefinition;
use shared::api::annotation::{
    AnnotationTaskStatus, CreateTaskRequest, TaskDefinitionResponse, TaskId, UpdateTaskRequest,
};
use shared::api::people::{AccessRole, CreateInvitationRequest};

use crate::harness::{TestHome, TestServer, demo_folder, study_file, study_lines};

/// The name of the study that tasks are made from.
pub(crate) const STUDY: &str = "reviewed";

/// Makes and publishes [`STUDY`]: the demo collection with two lexical rankers and some thousand
/// instances of TFC1.
pub(crate) fn make_study(home: &TestHome) {
    let rest = study_lines("rank:bm25:20", &["tfc1"], &["bm25", "ql"]);
    home.make_study(study_file(STUDY, "Reviewed", demo_folder(), &rest));
    home.run(&format!("study publish {STUDY}")).expect_success();
}

/// Returns a task with items of TFC1, each for `overlap` annotators, without training and gold
/// items.
pub(crate) fn task(n_items: u32, overlap: u32) -> AnnotationTaskDefinition {
    let task = json!({
        "title": "Which text is better?", "study": STUDY, "probes": ["tfc1"], "n_items": n_items,
        "design": {"kind": "uniform"}, "overlap": overlap, "seed": 42, "gold_every": 0,
    });
    serde_json::from_value(task).unwrap()
}

/// Creates a task and opens it, as the operator; the server of a test treats everybody as the
/// operator.
pub(crate) fn open_task(
    server: &TestServer,
    task: AnnotationTaskDefinition,
) -> TaskDefinitionResponse {
    let made = server.call(&CreateTaskRequest { task });
    server.call(&opened(made.summary.task))
}

/// Returns the request that opens a task.
pub(crate) fn opened(task: TaskId) -> UpdateTaskRequest {
    UpdateTaskRequest {
        status: Some(AnnotationTaskStatus::Open),
        ..unchanged(task)
    }
}

/// Returns a request that changes nothing.
pub(crate) fn unchanged(task: TaskId) -> UpdateTaskRequest {
    UpdateTaskRequest {
        task,
        status: None,
        are_results_public: None,
        guidelines: None,
    }
}

/// Returns a request for an invitation of a new person, valid for a day.
pub(crate) fn invite(role: AccessRole) -> CreateInvitationRequest {
    CreateInvitationRequest {
        role,
        valid_hours: 24,
        person: None,
        note: String::new(),
    }
}
