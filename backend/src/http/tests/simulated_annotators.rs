//! A task with simulated annotators through the handlers: what everybody sees, and what nobody may.

use shared::annotation::agreement::AgreementCoefficients;
use shared::annotation::trial::N_TRIAL_ITEMS;
use shared::annotation::{AnnotatorAnswer, ItemNo};
use shared::api::ListInstancesRequest;
use shared::api::annotation::{
    AnnotationTaskStatus, AnnotationTaskSummary, CreateTaskRequest, ExportTaskRequest,
    GetAgreementRequest, GetTaskTrialItemsRequest, InstanceAnnotations, LeaseItemsRequest,
    ListInstanceAnnotationsRequest, ListStudyHumanJudgmentsRequest, ListTasksRequest,
    SubmitEventsRequest, TaskExportFormat, TaskId, UpdateTaskRequest,
};
use shared::study::instance_list::InstancePage;

use super::review::{ann, call, cat, status, visitor};
use super::*;
use crate::annotation::new_task_from_study;
use crate::annotation::tests::{decided, event, simulated_task, study as rivers};
use crate::http::access::Caller;
use crate::http::annotation::{self, curation};
use crate::http::studies;

/// A server with a published study and its task of simulated annotators.
struct Demo {
    site: Site,
    study: Study,
    task: TaskId,
}

impl Demo {
    async fn new() -> Demo {
        let site = Site::new(ListenScope::Network).await;
        let study = rivers("rivers");
        site.store_study(&study).await;
        let new = new_task_from_study(&study, simulated_task("rivers")).unwrap();
        let task = site.app.store.add_simulated_task(&study, &new);
        let task = task.await.unwrap();
        let demo = Demo { site, study, task };
        demo.show_study(StudyVisibility::Published).await;
        demo
    }

    async fn show_study(&self, to: StudyVisibility) {
        let store = &self.site.app.store;
        store.set_study_visibility("rivers", to).await.unwrap();
    }

    async fn tasks(&self, caller: Caller) -> Vec<AnnotationTaskSummary> {
        let asked = call(&self.site, caller, ListTasksRequest {});
        annotation::list_tasks(asked).await.unwrap().0
    }

    async fn change(&self, status: Option<AnnotationTaskStatus>) -> Result<(), Error> {
        let asked = UpdateTaskRequest {
            task: self.task,
            status,
            are_results_public: Some(false),
            guidelines: None,
        };
        let changed = curation::update_task(call(&self.site, cat(), asked)).await;
        changed.map(|_| ())
    }

    async fn instances(&self, review_status: &str) -> InstancePage {
        let filter = format!(
            "{{\"probe\": \"tfc1\", \"ranker\": \"0\", \"review_status\": \"{review_status}\"}}"
        );
        let asked = ListInstancesRequest {
            study: "rivers".to_owned(),
            filter: serde_json::from_str(&filter).unwrap(),
        };
        let page = studies::list_instances(call(&self.site, visitor(), asked)).await;
        page.unwrap().0
    }

    async fn annotations(&self, number: u64) -> Vec<InstanceAnnotations> {
        let asked = ListInstanceAnnotationsRequest {
            study: "rivers".to_owned(),
            probe: "tfc1".parse().unwrap(),
            variant: None,
            number,
        };
        let found = annotation::list_instance_annotations(call(&self.site, visitor(), asked));
        found.await.unwrap().0
    }
}

#[tokio::test]
async fn no_count_or_agreement_of_people_includes_simulated_annotators() {
    let demo = Demo::new().await;
    for caller in [visitor(), ann(), cat()] {
        let found = demo.tasks(caller).await;
        assert_eq!(found.len(), 1);
        assert!(found[0].is_simulated);
        let progress = found[0].progress;
        assert_eq!(progress.n_annotators, 0);
        assert_eq!(progress.n_simulated_annotators, 3);
        assert_eq!(progress.n_decisions, progress.n_decisions_required);
    }
    let asked = ListStudyHumanJudgmentsRequest {
        study: "rivers".to_owned(),
    };
    let found = annotation::list_human_judgments(call(&demo.site, visitor(), asked)).await;
    let found = &found.unwrap().0[0];
    assert_eq!(found.n_people, 0);
    assert_eq!(found.agreement, AgreementCoefficients::default());
    assert_eq!(found.estimates, None);
    let simulated = found.simulated.as_ref().unwrap();
    assert_eq!(simulated.simulation.error_rates, [0.05, 0.15, 0.3]);
    assert!(simulated.agreement.observed.is_some());
    let counts = simulated.estimates.as_ref().unwrap().overall.counts;
    assert_eq!(counts.n_unanswered, 0);

    let n = demo.study.instances[0].len() as u64;
    let reviewed = demo.instances("reviewed").await;
    assert_eq!((reviewed.n_reviewed, reviewed.n_simulated_reviews), (0, n));
    assert_eq!(reviewed.n_instances, n);
    assert_eq!(demo.instances("not-reviewed").await.n_instances, 0);
    let of_instance = demo.annotations(0).await;
    assert_eq!(of_instance.len(), 1);
    assert!(of_instance[0].is_simulated);
    assert_eq!(
        (of_instance[0].task, of_instance[0].n_votes),
        (demo.task, 3)
    );

    let asked = GetAgreementRequest { task: demo.task };
    let agreement = curation::get_agreement(call(&demo.site, cat(), asked)).await;
    let annotators = agreement.unwrap().0.annotators;
    assert_eq!(annotators.len(), 3);
    assert!(annotators.iter().all(|it| it.is_simulated));
    for (format, word) in [
        (TaskExportFormat::Jsonl, "\"is_simulated\":true"),
        (TaskExportFormat::Csv, ",simulated"),
    ] {
        let asked = ExportTaskRequest {
            task: demo.task,
            format,
            include_names: false,
        };
        let file = curation::export_task(call(&demo.site, cat(), asked)).await;
        let response = axum::response::IntoResponse::into_response(file.unwrap());
        let name = response.headers()["content-disposition"].to_str().unwrap();
        assert!(name.contains("-simulated."), "{name}");
        let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
        let body = String::from_utf8(body.to_vec()).unwrap();
        assert!(body.lines().next().unwrap().contains(word), "{body}");
    }
}

#[tokio::test]
async fn no_person_answers_or_changes_a_task_of_simulated_annotators() {
    let demo = Demo::new().await;
    for caller in [ann(), cat()] {
        let asked = LeaseItemsRequest {
            task: demo.task,
            n_items: 1,
        };
        let leased = annotation::lease_items(call(&demo.site, caller.clone(), asked)).await;
        assert_eq!(status(leased.unwrap_err()).0, 409);
        let asked = SubmitEventsRequest {
            task: demo.task,
            events: vec![event(1, decided(ItemNo(0), AnnotatorAnswer::First))],
        };
        let sent = annotation::submit_events(call(&demo.site, caller, asked)).await;
        let (code, reason) = status(sent.unwrap_err());
        assert_eq!(code, 409);
        assert!(reason.contains("simulated"), "{reason}");
    }
    let opened = demo.change(Some(AnnotationTaskStatus::Open)).await;
    assert_eq!(status(opened.unwrap_err()).0, 409);
    let task = simulated_task("rivers");
    let made = curation::create_task(call(&demo.site, cat(), CreateTaskRequest { task })).await;
    let (code, reason) = status(made.unwrap_err());
    assert!(reason.starts_with("simulation"), "{code} {reason}");
}

#[tokio::test]
async fn visitors_try_the_items_while_study_and_results_are_public() {
    let demo = Demo::new().await;
    let trial = async |caller| {
        let asked = GetTaskTrialItemsRequest {
            task: demo.task,
            seed: 0,
        };
        annotation::get_task_trial_items(call(&demo.site, caller, asked)).await
    };
    let items = trial(visitor()).await.unwrap().0;
    let n = demo.study.instances[0].len();
    assert_eq!(items.len(), N_TRIAL_ITEMS.min(n));
    for item in &items {
        assert_eq!(item.simulated.as_ref().unwrap().answers.len(), 3);
    }
    demo.show_study(StudyVisibility::Withdrawn).await;
    assert_eq!(status(trial(visitor()).await.unwrap_err()).0, 404);
    assert_eq!(demo.tasks(visitor()).await, []);
    demo.show_study(StudyVisibility::Published).await;
    demo.change(None).await.unwrap();
    for caller in [visitor(), cat()] {
        assert_eq!(status(trial(caller).await.unwrap_err()).0, 404);
    }
    assert_eq!(demo.tasks(visitor()).await, []);
    assert_eq!(demo.annotations(0).await, []);
}
