//! An example request of each endpoint, and of some an example response, as typed values.
//!
//! Those about a study are about the demo study. Tokens, scores and times are made up.

use serde::Serialize;
use serde_json::{Value, json};
use shared::annotation::event::{AnnotationDecision, AnnotationEventAction, RatingTagsAndNote};
use shared::annotation::task::{AnnotationTaskDefinition, SamplingDesign, TaskInstanceFilter};
use shared::annotation::{
    AnnotationEventKey, AnnotatorAnswer, ClientAnnotationEvent, DocumentDisplayOrder, ItemNo,
    PersonId,
};
use shared::api::annotation::{
    AnnotationTaskStatus, CreateTaskRequest, EventKeyWithOutcome, EventOutcome, ExportTaskRequest,
    GetAgreementRequest, GetAssignedItemRequest, GetItemHistoryRequest, GetTaskDefinitionRequest,
    GetTaskProgressRequest, GetTaskRequest, GetTaskTrialItemsRequest, GetTrialItemsRequest,
    LeaseItemsRequest, ListDisputesRequest, ListInstanceAnnotationsRequest, ListOwnEventsRequest,
    ListStudyHumanJudgmentsRequest, ListTasksRequest, PreviewTaskRequest, SubmitEventsRequest,
    SubmitEventsResponse, TaskComposition, TaskExportFormat, TaskId, TaskProgressSummary,
    UpdateTaskRequest,
};
use shared::api::cluster::{
    CancelClusterJobRequest, ClusterExecutor, ClusterJob, ClusterStage, ListClusterJobsRequest,
};
use shared::api::manage_studies::{UpdateStudyRequest, UploadStudyRequest};
use shared::api::models::{
    GetModelInfoRequest, ListModelsRequest, ListServedModelsRequest, LoadModelRequest, ServedModel,
    ServedModelList,
};
use shared::api::own_data::{DeleteOwnAccountRequest, GetOwnDataRequest};
use shared::api::people::{
    AcceptInvitationRequest, AccessRole, CreateInvitationRequest, CreateInvitationResponse,
    GetSessionRequest, InvitationGrantsResponse, ListPeopleRequest, LookUpInvitationRequest,
    OperatorSignInRequest, PendingInvitation, Person, RevokePersonOrInvitationRequest,
    SessionResponse, SetPasswordRequest, SignInRequest, SignOutRequest,
};
use shared::api::rerank::{
    CohereRerankRequest, RankedText, RerankDocument, RerankRequest, RerankResponse,
};
use shared::api::site_checks::SiteCheckReport;
use shared::api::training::{
    CancelTrainingRequest, CreateTrainingRequest, GetTrainingRequest, ListTrainingsRequest,
    ResumeTrainingRequest, TrainingChoices, TrainingCollection, TrainingJob, TrainingListResponse,
    UpdateTrainingRequest,
};
use shared::api::{
    CancelScoringJobRequest, CompareRankersRequest, CreateScoringJobRequest, Endpoint,
    ExportStudyRequest, GetAttentionRequest, GetBehavioralTestsRequest,
    GetCollectionStatisticsRequest, GetComparedQueryRequest, GetFiguresRequest, GetInstanceRequest,
    GetJobScoresRequest, GetLateInteractionTopDocumentsRequest, GetReadingEndsRequest,
    GetReproductionRequest, GetScoringJobRequest, GetServerInfoRequest, GetStudyRequest,
    GetVerdictCountsRequest, JobScoresResponse, JobState, ListComparedQueriesRequest,
    ListInstancesRequest, ListLateInteractionAnalysesRequest, ListScoringJobsRequest,
    ListStudiesRequest, ReadingEndsResponse, ResumeScoringJobRequest, ScoreDocumentsRequest,
    ScoreDocumentsResponse, ScoringJob, ServerInfoResponse,
};
use shared::compare::query_list::{ComparedQueryListOptions, ComparedQuerySort};
use shared::compare::{RankerComparisonOptions, RankerRef};
use shared::probe::mining::InstanceHasher;
use shared::probe::{Axiom, AxiomVariant, MiningThresholds, Probe};
use shared::reproduce::{PaperTable, ReproduciblePaper};
use shared::score::{RankerInfo, RankerKind};
use shared::study::Study;
use shared::study::behavioral_tests::{BehavioralTestOptions, TieThreshold};
use shared::study::controls::StudyPageControls;
use shared::study::figures::StudyFigureOptions;
use shared::study::instance_list::{InstanceListOptions, InstanceSort};
use shared::training::spec::TrainingSpec;
use shared::verdict::VerdictOutcome;
use utoipa::ToSchema;

/// A request with an example for the documentation.
pub(in crate::http) trait ExampleRequest: Endpoint + ToSchema {
    /// Returns the example of the request.
    fn example() -> Self;

    /// Returns an example of the response; `None` if the schema alone describes it.
    fn example_reply() -> Option<Self::Reply> {
        None
    }
}

/// The examples of an endpoint as JSON.
pub(in crate::http) struct OperationExamples {
    /// The request, with the fields that are in the path.
    pub(in crate::http) request: Value,
    pub(super) reply: Option<Value>,
}

impl OperationExamples {
    pub(super) fn of<E: ExampleRequest>() -> OperationExamples {
        OperationExamples {
            request: to_json(&E::example()),
            reply: E::example_reply().map(|it| to_json(&it)),
        }
    }
}

fn to_json(value: &impl Serialize) -> Value {
    serde_json::to_value(value).expect("requests and responses are JSON")
}

const TASK: TaskId = TaskId(1);
const ITEM: ItemNo = ItemNo(0);
const TFC1: Probe = Probe::Axiom(Axiom::Tfc1);

/// A time in milliseconds since 1970: 2026-11-20, 12:00 UTC.
const TIME_MS: u64 = 1_795_176_000_000;

fn study() -> String {
    "demo".to_owned()
}

fn model() -> String {
    "all-MiniLM-L6-v2:bi".to_owned()
}

fn token() -> String {
    "TOKEN".to_owned()
}

fn password() -> String {
    "correct horse battery staple".to_owned()
}

fn query() -> String {
    "how do glaciers carve valleys".to_owned()
}

fn documents() -> Vec<String> {
    let texts = [
        "A glacier grinds rock from the floor and the walls of a valley.",
        "Rye bread rises slowly.",
    ];
    texts.map(str::to_owned).into()
}

fn job_id() -> String {
    "4f0c2a9be1d7483695ab10cd7e2f6038".to_owned()
}

fn ranker() -> RankerInfo {
    RankerInfo {
        spec: model(),
        label: "MiniLM".to_owned(),
        detail: "bi-encoder, mean pooling, cosine".to_owned(),
        kind: RankerKind::Neural,
        fingerprint: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db".to_owned(),
        note: None,
    }
}

fn job(state: JobState, n_scored: u64) -> ScoringJob {
    ScoringJob {
        id: job_id(),
        title: "Glaciers".to_owned(),
        ranker: ranker(),
        state,
        n_scored,
        n_pairs: 2,
        pairs_per_s: 0.0,
        tokens_per_s: 0.0,
        error: None,
        created_at: "2026-11-20T12:00:00Z".to_owned(),
    }
}

fn cluster_job_id() -> String {
    "9b2f6c1d0e8a47535f1c88d2ab64e07993a1f50c6d7be2481730fe9ac2d45b86".to_owned()
}

fn cluster_job(state: JobState) -> ClusterJob {
    ClusterJob {
        id: cluster_job_id(),
        study: "my-study".to_owned(),
        state,
        error: None,
        has_driver: !state.is_finished(),
        build: "0.1.0 (53aa51172d14)".to_owned(),
        storage: "s3://my-bucket/axioscope".to_owned(),
        begun_ms: TIME_MS,
        ended_ms: state.is_finished().then_some(TIME_MS + 60_000),
        stages: vec![ClusterStage {
            name: "mine".to_owned(),
            n_shards: 8,
            n_committed: 3,
            n_attempts: 4,
            n_repeated_attempts: 0,
            n_rows: 96,
            n_bytes: 180_000,
            seconds: 42.5,
        }],
        executors: vec![ClusterExecutor {
            name: "node-1-4711".to_owned(),
            n_shards: 3,
            seconds: 42.5,
        }],
    }
}

/// Returns the smallest study that there is, without queries and documents.
pub(in crate::http) fn empty_study(name: &str) -> Study {
    let no_instances = InstanceHasher::with_probes_and_variants([(TFC1, AxiomVariant::Fixed)]);
    let study = json!({
        "format": 1,
        "definition": {
            "format": 1, "name": name, "title": name, "collection": "none", "pool": "judged",
            "probes": ["tfc1"], "variants": ["fixed"], "rankers": [],
            "limits": MiningThresholds::STANDARD,
        },
        "created": "2026-11-20", "software": "0.1.0", "collection_hash": "",
        "instances_hash": no_instances.finish(),
        "totals": {"n_docs": 0, "n_terms": 0},
        "terms": {}, "queries": [], "docs": [], "qrels": {}, "study_docs": [], "pools": [],
        "instances": [{
            "axiom": "tfc1", "mode": "fixed", "claim": "above", "found": [], "starts": [0],
            "texts": [],
        }],
        "pairs": {"starts": [0], "texts": []}, "scores": [],
    });
    serde_json::from_value(study).expect("the fields are those of a study")
}

fn training_name() -> String {
    "my-drmm".to_owned()
}

fn training_request() -> CreateTrainingRequest {
    CreateTrainingRequest {
        name: training_name(),
        collection: "my-collection".to_owned(),
        spec: TrainingSpec {
            test: Some("test".to_owned()),
            augment: vec!["lnc2".to_owned()],
            set: vec!["epochs=20".to_owned()],
            ..TrainingSpec::of_model("drmm")
        },
    }
}

fn training(state: JobState, step: u64) -> TrainingJob {
    TrainingJob {
        name: training_name(),
        request: training_request(),
        state,
        is_public: false,
        step,
        n_updates: 1_800,
        updates_per_s: 0.0,
        dev_ap: (step > 0).then_some(0.6),
        error: None,
        created_at: "2026-11-20T12:00:00.000Z".to_owned(),
    }
}

fn session() -> SessionResponse {
    SessionResponse {
        role: AccessRole::Annotator,
        person: Some(Person {
            id: PersonId(7),
            name: "Ada".to_owned(),
            has_password: true,
        }),
        csrf_token: Some("CSRF-TOKEN".to_owned()),
    }
}

fn comparison() -> RankerComparisonOptions {
    RankerComparisonOptions {
        rankers: ["bm25", "ql"].map(|it| RankerRef::Ranker(it.to_owned())),
        ..RankerComparisonOptions::default()
    }
}

fn annotation_task() -> AnnotationTaskDefinition {
    AnnotationTaskDefinition {
        title: "Do more query-term occurrences help?".to_owned(),
        study: study(),
        probes: vec![TFC1],
        filter: TaskInstanceFilter::default(),
        n_items: 100,
        sampling: SamplingDesign::Uniform,
        annotators_per_item: 2,
        seed: 42,
        gold_interval: 0,
        is_blind: true,
        highlights_query_terms: true,
        tags: vec!["off topic".to_owned()],
        guidelines: "Choose the document that answers the query better.".to_owned(),
        training: Vec::new(),
        gold: Vec::new(),
        simulation: None,
    }
}

fn event_key() -> AnnotationEventKey {
    AnnotationEventKey::from_bytes(*b"sixteen of bytes")
}

/// Defines the example of each request and, if there is one, of its response.
macro_rules! examples {
    ($($request:ty => $example:expr $(, reply: $reply:expr)?;)*) => {$(
        impl ExampleRequest for $request {
            fn example() -> $request {
                $example
            }

            $(fn example_reply() -> Option<<$request as Endpoint>::Reply> {
                Some($reply)
            })?
        }
    )*};
}

examples! {
    GetServerInfoRequest => GetServerInfoRequest {}, reply: ServerInfoResponse {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        models: vec![ranker()],
        can_create_jobs: false,
        max_documents: 8,
        site_checks: Some(SiteCheckReport { finished_ms: TIME_MS, failures: Vec::new() }),
        has_operator_page: true,
    };
    GetSessionRequest => GetSessionRequest {}, reply: session();
    LookUpInvitationRequest => LookUpInvitationRequest { token: token() },
        reply: InvitationGrantsResponse {
            role: AccessRole::Annotator,
            person_name: None,
            expires_ms: TIME_MS,
        };
    AcceptInvitationRequest => AcceptInvitationRequest {
        token: Some(token()),
        name: "Ada".to_owned(),
        password: Some(password()),
    }, reply: session();
    SignInRequest => SignInRequest { name: "Ada".to_owned(), password: password() },
        reply: session();
    OperatorSignInRequest => OperatorSignInRequest { token: token() }, reply: SessionResponse {
        role: AccessRole::Operator,
        person: None,
        ..session()
    };
    SignOutRequest => SignOutRequest { all_sessions: true }, reply: SessionResponse::default();
    SetPasswordRequest => SetPasswordRequest {
        current_password: None,
        new_password: Some(password()),
    }, reply: session();
    GetOwnDataRequest => GetOwnDataRequest {};
    DeleteOwnAccountRequest => DeleteOwnAccountRequest {
        confirmed_name: "Ada".to_owned(),
        current_password: Some(password()),
    }, reply: SessionResponse::default();
    ListPeopleRequest => ListPeopleRequest {};
    CreateInvitationRequest => CreateInvitationRequest {
        role: AccessRole::Annotator,
        valid_hours: 48,
        person: None,
        note: "Ada, for the pilot".to_owned(),
    }, reply: CreateInvitationResponse {
        invitation: PendingInvitation {
            id: 3,
            role: AccessRole::Annotator,
            person: None,
            note: "Ada, for the pilot".to_owned(),
            expires_ms: TIME_MS,
        },
        token: token(),
    };
    RevokePersonOrInvitationRequest => RevokePersonOrInvitationRequest::Person { id: PersonId(7) };

    ListStudiesRequest => ListStudiesRequest {};
    GetStudyRequest => GetStudyRequest {
        study: study(),
        controls: StudyPageControls {
            variant: Some(AxiomVariant::Fixed),
            length_tolerance: Some(5),
            ..StudyPageControls::default()
        },
    };
    GetFiguresRequest => GetFiguresRequest {
        study: study(),
        options: StudyFigureOptions {
            reference: "ql".to_owned(),
            ..StudyFigureOptions::default()
        },
    };
    GetBehavioralTestsRequest => GetBehavioralTestsRequest {
        study: study(),
        options: BehavioralTestOptions {
            tie_threshold: TieThreshold::Fixed { width: 0.5 },
            ..BehavioralTestOptions::default()
        },
    };
    ListLateInteractionAnalysesRequest => ListLateInteractionAnalysesRequest { study: study() };
    GetLateInteractionTopDocumentsRequest => GetLateInteractionTopDocumentsRequest {
        study: study(),
        ranker: "minilm-late-interaction".to_owned(),
        query: 0,
    };
    CompareRankersRequest => CompareRankersRequest { study: study(), options: comparison() };
    ListComparedQueriesRequest => ListComparedQueriesRequest {
        study: study(),
        options: comparison(),
        page: ComparedQueryListOptions {
            sort: ComparedQuerySort::Loss,
            limit: 10,
            ..ComparedQueryListOptions::default()
        },
    };
    GetComparedQueryRequest => GetComparedQueryRequest {
        study: study(),
        options: comparison(),
        query_id: "q-glaciers-1".to_owned(),
    };
    GetReproductionRequest => GetReproductionRequest {
        study: study(),
        table: PaperTable { paper: ReproduciblePaper::Camara2020, table: 2 },
    };
    ListInstancesRequest => ListInstancesRequest {
        study: study(),
        filter: InstanceListOptions {
            controls: StudyPageControls::default(),
            probe: TFC1,
            ranker: "bm25".to_owned(),
            outcome: Some(VerdictOutcome::Violated),
            query_filter: String::new(),
            min_margin: None,
            review_status: None,
            max_margin: None,
            sort: InstanceSort::MarginAscending,
            offset: 0,
            limit: 10,
        },
    };
    GetInstanceRequest => GetInstanceRequest {
        study: study(),
        probe: TFC1,
        variant: Some(AxiomVariant::Fixed),
        number: 0,
        tie_threshold: None,
    };
    GetReadingEndsRequest => GetReadingEndsRequest {
        study: study(),
        probe: TFC1,
        variant: Some(AxiomVariant::Fixed),
        number: 0,
        ranker: "minilm-bi".to_owned(),
    }, reply: ReadingEndsResponse { n_bytes_read: vec![Some(1_804), None] };
    ExportStudyRequest => ExportStudyRequest { study: study() };
    GetCollectionStatisticsRequest => GetCollectionStatisticsRequest { study: study() };
    GetVerdictCountsRequest => GetVerdictCountsRequest {
        study: study(),
        variant: Some(AxiomVariant::Fixed),
    };

    ScoreDocumentsRequest => ScoreDocumentsRequest {
        model: model(),
        query: query(),
        documents: documents(),
    }, reply: ScoreDocumentsResponse {
        ranker: ranker(),
        scores: vec![0.68, 0.04],
        truncated: vec![false, false],
        similarities: Vec::new(),
    };
    GetAttentionRequest => GetAttentionRequest {
        model: "ms-marco-MiniLM-L-6-v2:cross".to_owned(),
        query: query(),
        document: documents().swap_remove(0),
        layer: Some(0),
        head: None,
    };
    RerankRequest => RerankRequest {
        query: query(),
        texts: Some(documents()),
        raw_scores: Some(true),
        ..RerankRequest::default()
    }, reply: RerankResponse::Texts(vec![
        RankedText { index: 0, score: 0.68, text: None },
        RankedText { index: 1, score: 0.04, text: None },
    ]);
    CohereRerankRequest => CohereRerankRequest {
        query: query(),
        documents: documents().into_iter().map(RerankDocument::Text).collect(),
        model: Some(model()),
        top_n: Some(1),
        ..CohereRerankRequest::default()
    };
    GetModelInfoRequest => GetModelInfoRequest {};
    ListServedModelsRequest => ListServedModelsRequest {}, reply: ServedModelList {
        object: "list".to_owned(),
        data: vec![ServedModel {
            id: model(),
            object: "model".to_owned(),
            owned_by: "axioscope".to_owned(),
        }],
    };
    ListModelsRequest => ListModelsRequest {};
    LoadModelRequest => LoadModelRequest { model: model() };

    UpdateStudyRequest => UpdateStudyRequest {
        study: "my-study".to_owned(),
        title: Some("Ferries and bridges".to_owned()),
        is_published: Some(true),
        ..UpdateStudyRequest::default()
    };
    UploadStudyRequest => UploadStudyRequest {
        name: "my-study".to_owned(),
        title: Some("Ferries".to_owned()),
        replace: false,
        study: Box::new(empty_study("local")),
    };

    CreateScoringJobRequest => CreateScoringJobRequest {
        model: model(),
        title: "Glaciers".to_owned(),
        queries: vec![query()],
        documents: documents(),
        pairs: vec![(0, 0), (0, 1)],
    }, reply: job(JobState::Queued, 0);
    ListScoringJobsRequest => ListScoringJobsRequest {}, reply: vec![job(JobState::Done, 2)];
    GetScoringJobRequest => GetScoringJobRequest { job: job_id() },
        reply: job(JobState::Running, 1);
    CancelScoringJobRequest => CancelScoringJobRequest { job: job_id() },
        reply: job(JobState::Canceled, 1);
    ResumeScoringJobRequest => ResumeScoringJobRequest { job: job_id() },
        reply: job(JobState::Queued, 1);
    GetJobScoresRequest => GetJobScoresRequest { job: job_id() }, reply: JobScoresResponse {
        ranker: ranker(),
        scores: vec![Some(0.68), None],
        truncated: Vec::new(),
        rescoring: None,
    };

    ListClusterJobsRequest => ListClusterJobsRequest {},
        reply: vec![cluster_job(JobState::Running)];
    CancelClusterJobRequest => CancelClusterJobRequest { job: cluster_job_id() },
        reply: cluster_job(JobState::Canceled);

    ListTrainingsRequest => ListTrainingsRequest {}, reply: TrainingListResponse {
        trainings: vec![training(JobState::Done, 1_800)],
        choices: Some(TrainingChoices {
            models: vec!["drmm".to_owned(), "knrm".to_owned()],
            collections: vec![TrainingCollection {
                name: "my-collection".to_owned(),
                splits: ["dev", "test", "train"].map(str::to_owned).into(),
            }],
            recipes: vec!["default".to_owned()],
        }),
    };
    CreateTrainingRequest => training_request(), reply: training(JobState::Queued, 0);
    GetTrainingRequest => GetTrainingRequest { training: training_name() };
    CancelTrainingRequest => CancelTrainingRequest { training: training_name() },
        reply: training(JobState::Canceled, 900);
    ResumeTrainingRequest => ResumeTrainingRequest { training: training_name() },
        reply: training(JobState::Queued, 900);
    UpdateTrainingRequest => UpdateTrainingRequest { training: training_name(), is_public: true },
        reply: TrainingJob { is_public: true, ..training(JobState::Done, 1_800) };

    ListStudyHumanJudgmentsRequest => ListStudyHumanJudgmentsRequest { study: study() };
    GetTrialItemsRequest => GetTrialItemsRequest { study: study(), seed: 42 };
    GetTaskTrialItemsRequest => GetTaskTrialItemsRequest { task: TASK, seed: 0 };
    ListInstanceAnnotationsRequest => ListInstanceAnnotationsRequest {
        study: study(),
        probe: TFC1,
        variant: None,
        number: 7,
    };
    ListTasksRequest => ListTasksRequest {};
    GetTaskRequest => GetTaskRequest { task: TASK };
    LeaseItemsRequest => LeaseItemsRequest { task: TASK, n_items: 8 };
    GetAssignedItemRequest => GetAssignedItemRequest { task: TASK, item: ITEM };
    ListOwnEventsRequest => ListOwnEventsRequest { task: TASK };
    SubmitEventsRequest => SubmitEventsRequest {
        task: TASK,
        events: vec![ClientAnnotationEvent {
            key: event_key(),
            created_ms: TIME_MS,
            action: AnnotationEventAction::Decided(AnnotationDecision {
                item: ITEM,
                answer: AnnotatorAnswer::First,
                comment: RatingTagsAndNote::default(),
                display_order: DocumentDisplayOrder::Swapped,
                duration_ms: 4_000,
                replaces: Vec::new(),
            }),
        }],
    }, reply: SubmitEventsResponse {
        receipts: vec![EventKeyWithOutcome { key: event_key(), outcome: EventOutcome::Stored }],
        progress: TaskProgressSummary {
            n_own_decisions: 1,
            n_own_skips: 0,
            n_available: 99,
            n_decisions: 1,
            n_decisions_required: 200,
            n_annotators: 1,
            n_simulated_annotators: 0,
        },
    };
    PreviewTaskRequest => PreviewTaskRequest { task: annotation_task() }, reply: TaskComposition {
        n_candidates: 1_200,
        n_training_items: 0,
        n_gold_items: 0,
        n_sampled_items: 100,
        probes: vec![(TFC1, 100)],
        n_queries: 31,
    };
    CreateTaskRequest => CreateTaskRequest { task: annotation_task() };
    GetTaskDefinitionRequest => GetTaskDefinitionRequest { task: TASK };
    UpdateTaskRequest => UpdateTaskRequest {
        task: TASK,
        status: Some(AnnotationTaskStatus::Open),
        are_results_public: None,
        guidelines: None,
    };
    GetTaskProgressRequest => GetTaskProgressRequest { task: TASK };
    GetAgreementRequest => GetAgreementRequest { task: TASK };
    ListDisputesRequest => ListDisputesRequest { task: TASK };
    GetItemHistoryRequest => GetItemHistoryRequest { task: TASK, item: ITEM };
    ExportTaskRequest => ExportTaskRequest {
        task: TASK,
        format: TaskExportFormat::Jsonl,
        include_names: false,
    };
}
