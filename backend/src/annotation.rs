//! Annotation tasks in memory and in the database. An event is confirmed to its sender only after
//! it has been committed.
//!
//! A request reads the task state (task, items, log, leases) and hands what has to be stored to the
//! log writer. The log writer commits all waiting requests in one transaction, updates the task
//! states and replies.
//!
//! This module loads, stores and serves tasks; `shared::annotation` computes what follows from a
//! log.

pub(crate) mod task_state;
mod counts;
mod log_writer;

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use shared::annotation::agreement::{self, AgreementCoefficients, InterAnnotatorAgreementReport};
use shared::annotation::event::RequiredRole;
use shared::annotation::export::ItemQueryAndDocIds;
use shared::annotation::judgments::{AdjudicationQueueItem, DisputeReason, adjudication_queue};
use shared::annotation::progress::{AnnotationTaskProgress, measure_annotation_progress};
use shared::annotation::{
    AnnotationItem, AnnotationTaskDefinition, ClientAnnotationEvent, ItemNo, PersonId,
    ReceivedAnnotationEvent, estimate, sample,
};
use shared::api::annotation::{
    AnnotationTaskResults, AnnotationTaskStatus, EventOutcome, SimulatedTaskResults, TaskId,
    UpdateTaskRequest,
};
use shared::api::own_data::OwnTaskData;
use shared::study::Study;

use crate::annotation::counts::is_sampled_item;
use crate::annotation::log_writer::{AnnotationLogWriter, TaskEventsAndLeases};
use crate::annotation::task_state::{InMemoryTaskState, LeasedAssignments};
use crate::cache::{ComputationSlots, LruComputationCache};
use crate::clock;
use crate::error::{Error, run_blocking, run_to_completion};
use crate::store::Database;
use crate::store::annotation_tasks::{
    AnnotationItemWithExternalIds, AnnotationTaskRow, NewAnnotationTask,
};
use crate::store::server_place::ServerRole;
use crate::store::studies::{StudyListEntry, study_instances_and_collection_hash};

/// Number of log states whose agreement reports and results are cached.
const STATES_KEPT: usize = 64;

/// Gives access to all annotation tasks of a store.
#[derive(Clone)]
pub(crate) struct AnnotationTaskService(Arc<Parts>);

struct Parts {
    store: Database,
    role: ServerRole,
    writer: AnnotationLogWriter,
    slots: ComputationSlots,
    /// The tasks that have been requested in the present term of this server as the main one. None
    /// is removed before the term ends.
    desks: RwLock<TaskStatesOfTerm>,
    /// Held while a task is loaded, so that no task is loaded twice.
    opening: tokio::sync::Mutex<()>,
    /// Agreement reports by task and number of events.
    agreements: LruComputationCache<(TaskId, usize), Arc<InterAnnotatorAgreementReport>>,
    /// Results by task, number of events and revision of the study.
    results: LruComputationCache<(TaskId, usize, i64), Arc<AnnotationTaskResults>>,
}

/// The task states that were loaded in a term of this server as the main one.
#[derive(Default)]
struct TaskStatesOfTerm {
    term: u64,
    states: BTreeMap<TaskId, Arc<InMemoryTaskState>>,
}

/// The person who sends events, with their role.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EventAuthor {
    pub person: PersonId,
    /// The role of the person, which determines which events are accepted.
    pub role: RequiredRole,
}

impl AnnotationTaskService {
    /// Creates the tasks of `store` and starts the log writer for it. Their computations have slots
    /// of their own.
    pub(crate) fn start_with_log_writer(
        store: Database,
        role: ServerRole,
    ) -> AnnotationTaskService {
        AnnotationTaskService::start_with_slots(store, role, ComputationSlots::default())
    }

    /// Creates the tasks of `store`, whose computations take one of `slots`, and starts the log
    /// writer for it.
    pub(crate) fn start_with_slots(
        store: Database,
        role: ServerRole,
        slots: ComputationSlots,
    ) -> AnnotationTaskService {
        AnnotationTaskService(Arc::new(Parts {
            slots,
            writer: AnnotationLogWriter::start(store.clone()),
            store,
            role,
            desks: RwLock::default(),
            opening: tokio::sync::Mutex::default(),
            agreements: LruComputationCache::with_max_values(STATES_KEPT),
            results: LruComputationCache::with_max_values(STATES_KEPT),
        }))
    }

    /// Returns every task, newest first.
    pub(crate) async fn all_tasks(&self) -> Result<Vec<Arc<InMemoryTaskState>>, Error> {
        let mut desks = Vec::new();
        for task in self.0.store.annotation_task_ids().await? {
            match self.task_state(task).await {
                Ok(desk) => desks.push(desk),
                // One damaged task must not hide the others.
                Err(error) => tracing::error!("annotation task {}: {error}", task.0),
            }
        }
        Ok(desks)
    }

    /// Returns the state of a task. The main server loads it once; another one, whose copy would
    /// grow old, at each call.
    pub(crate) async fn task_state(&self, task: TaskId) -> Result<Arc<InMemoryTaskState>, Error> {
        let term = self.0.role.main_term();
        if term == 0 {
            return Ok(Arc::new(
                InMemoryTaskState::load(&self.0.store, task).await?,
            ));
        }
        if let Some(desk) = self.known(term, task) {
            return Ok(desk);
        }
        let _opening = self.0.opening.lock().await;
        if let Some(desk) = self.known(term, task) {
            return Ok(desk);
        }
        let desk = Arc::new(InMemoryTaskState::load(&self.0.store, task).await?);
        let mut desks = self.0.desks.write().unwrap_or_else(PoisonError::into_inner);
        if desks.term != term {
            *desks = TaskStatesOfTerm {
                term,
                states: BTreeMap::new(),
            };
        }
        desks.states.insert(task, desk.clone());
        Ok(desk)
    }

    /// Returns an error unless this is the main server.
    fn ensure_main_server(&self) -> Result<(), Error> {
        match self.0.role.main_term() {
            0 => Err(Error::NotMainServer { retry_after_s: 5 }),
            _ => Ok(()),
        }
    }

    /// Creates a task from drawn items, in the status draft.
    pub(crate) async fn create_draft_task(
        &self,
        new: &NewAnnotationTask,
    ) -> Result<Arc<InMemoryTaskState>, Error> {
        self.ensure_main_server()?;
        let task = self.0.store.add_annotation_task(new).await?;
        self.task_state(task).await
    }

    /// Changes the status, the guidelines or the visibility of the results of a task. If the caller
    /// is dropped, database and memory still agree.
    pub(crate) async fn update_task(
        &self,
        asked: UpdateTaskRequest,
    ) -> Result<Arc<InMemoryTaskState>, Error> {
        let service = self.clone();
        let update = async move { service.update_row_and_state(asked).await };
        run_to_completion("changing a task", update).await
    }

    async fn update_row_and_state(
        &self,
        asked: UpdateTaskRequest,
    ) -> Result<Arc<InMemoryTaskState>, Error> {
        self.ensure_main_server()?;
        let desk = self.task_state(asked.task).await?;
        if asked.status.is_some() {
            ensure_annotators_are_people(&desk)?;
        }
        // While this is held, nobody else changes the task or leases items.
        let turn = desk.turn.lock().await;
        let mut row = (*desk.task_row()).clone();
        if let Some(state) = asked.status {
            if state == AnnotationTaskStatus::Draft && row.state != AnnotationTaskStatus::Draft {
                return Err(Error::Conflict {
                    reason: "people have seen this task, so it is never a draft again; close it \
                             instead"
                        .to_owned(),
                });
            }
            row.state = state;
        }
        row.results_public = asked.are_results_public.unwrap_or(row.results_public);
        if let Some(guidelines) = asked.guidelines {
            row.task.guidelines = guidelines;
            row.task = row.task.normalize_and_validate()?;
        }
        self.0.store.update_annotation_task_row(&row).await?;
        desk.replace_task_row(row);
        drop(turn);
        Ok(desk)
    }

    /// Leases the next items to a person and returns them. If the caller is dropped, the leases are
    /// stored nevertheless, and nobody else leases meanwhile.
    pub(crate) async fn lease_next_items(
        &self,
        desk: &Arc<InMemoryTaskState>,
        person: PersonId,
        n: usize,
    ) -> Result<LeasedAssignments, Error> {
        self.ensure_main_server()?;
        ensure_annotators_are_people(desk)?;
        let (service, desk) = (self.clone(), desk.clone());
        run_to_completion("leasing items", async move {
            let turn = desk.turn.lock().await;
            let asked = desk.clone();
            let promise = move || Ok(asked.lease_items(person, n));
            let promised = run_blocking("finding the next items", promise).await?;
            drop(turn);
            let wanted = TaskEventsAndLeases {
                desk: desk.clone(),
                events: Vec::new(),
                leases: promised.leases.clone(),
            };
            service.0.writer.save_events_and_leases(wanted).await?;
            Ok(promised)
        })
        .await
    }

    /// Returns what is stored about a person in each task that has anything about them, oldest
    /// first.
    pub(crate) async fn person_data_by_task(
        &self,
        person: PersonId,
    ) -> Result<Vec<OwnTaskData>, Error> {
        let mut found = Vec::new();
        for task in self.0.store.annotation_task_ids().await?.into_iter().rev() {
            let desk = self.task_state(task).await?;
            let slot = self.0.slots.acquire().await;
            let of_task = slot.run("collecting what somebody did", move || {
                Ok(desk.person_data(person))
            });
            found.extend(of_task.await?);
        }
        Ok(found)
    }

    /// Stores the events of a person and returns one outcome per event. Events with the outcome
    /// `Stored` or `Duplicate` are in the database.
    pub(crate) async fn append_events(
        &self,
        desk: &Arc<InMemoryTaskState>,
        sender: EventAuthor,
        events: Vec<ClientAnnotationEvent>,
    ) -> Result<Vec<EventOutcome>, Error> {
        self.ensure_main_server()?;
        ensure_annotators_are_people(desk)?;
        let at_ms = unix_time_ms_u64();
        let n_items = desk.items().len() as u32;
        let mut outcomes = Vec::new();
        let mut sound = Vec::new();
        for event in events {
            let checked = match (event.action.required_role(), sender.role) {
                (RequiredRole::Curator, RequiredRole::Annotator) => Err(EventOutcome::Rejected {
                    reason: "only curators may do this".to_owned(),
                }),
                (RequiredRole::Annotator, _) | (RequiredRole::Curator, RequiredRole::Curator) => {
                    event
                        .normalize_and_validate(n_items)
                        .map_err(|it| EventOutcome::Rejected {
                            reason: it.to_string(),
                        })
                }
            };
            // `None` marks an event whose outcome the log writer determines.
            outcomes.push(checked.as_ref().err().cloned());
            sound.extend(checked.map(|event| ReceivedAnnotationEvent {
                person: sender.person,
                received_ms: at_ms,
                event,
            }));
        }
        let mut kept = Vec::new();
        if !sound.is_empty() {
            let wanted = TaskEventsAndLeases {
                desk: desk.clone(),
                events: sound,
                leases: Vec::new(),
            };
            kept = self.0.writer.save_events_and_leases(wanted).await?;
        }
        let mut kept = kept.into_iter();
        let of_each = outcomes.into_iter().map(|it| it.or_else(|| kept.next()));
        Ok(of_each.flatten().collect())
    }

    /// Returns how far the annotators of a task have come.
    pub(crate) async fn measure_task_progress(
        &self,
        desk: &Arc<InMemoryTaskState>,
    ) -> Result<AnnotationTaskProgress, Error> {
        let desk = desk.clone();
        let slot = self.0.slots.acquire().await;
        slot.run("counting progress", move || {
            let overlap = desk.task_row().task.annotators_per_item;
            Ok(measure_annotation_progress(
                desk.items(),
                overlap,
                &desk.clone_event_log(),
            ))
        })
        .await
    }

    /// Returns the agreement report of a task: overall, by probe, by pair and by annotator. It is
    /// cached until the task's log gets another event.
    pub(crate) async fn agreement_report(
        &self,
        desk: &Arc<InMemoryTaskState>,
    ) -> Result<Arc<InterAnnotatorAgreementReport>, Error> {
        let desk = desk.clone();
        let key = (desk.task_row().no, desk.n_events());
        let prepare = async {
            let slot = self.0.slots.acquire().await;
            Ok(slot.run("counting agreement", move || {
                let found =
                    agreement::measure_annotator_agreement(desk.items(), &desk.clone_event_log());
                Ok(Arc::new(found))
            }))
        };
        self.0.agreements.get_or_compute(key, prepare).await
    }

    /// Returns the results of a task. The study is loaded only if its instances and texts are still
    /// those that the task was drawn from.
    pub(crate) async fn task_results(
        &self,
        desk: &Arc<InMemoryTaskState>,
        listed: &StudyListEntry,
        study: impl Future<Output = Result<Arc<Study>, Error>>,
    ) -> Result<AnnotationTaskResults, Error> {
        let row = desk.task_row();
        let key = (row.no, desk.n_events(), listed.revision);
        let outdated = listed.instances_and_collection_hash() != row.study_hash;
        let asked = (desk.clone(), row.clone());
        let prepare = async {
            let study = match outdated {
                true => None,
                false => Some(study.await?),
            };
            let (desk, row) = asked;
            let slot = self.0.slots.acquire().await;
            Ok(slot.run("estimating what people say", move || {
                let (items, log) = (desk.items(), desk.clone_event_log());
                let dials = &row.task.filter.controls;
                let agreement = agreement::overall_agreement_coefficients(items, &log);
                let estimates = study.map(|study| {
                    ensure_loaded_study_is_unchanged(&row, &study)?;
                    let reviewed =
                        estimate::load_sampled_item_preferences(&study, dials, items, &log)?;
                    Ok::<_, Error>(estimate::compute_agreement_estimates(&reviewed))
                });
                let of_people = AnnotationTaskResults {
                    task: row.no,
                    title: row.task.title.clone(),
                    status: row.state,
                    is_public: row.results_public,
                    is_outdated: outdated,
                    n_people: desk.n_annotators_with_decisions(),
                    agreement,
                    estimates: estimates.transpose()?,
                    simulated: None,
                };
                Ok(Arc::new(match &row.task.simulation {
                    None => of_people,
                    Some(simulation) => AnnotationTaskResults {
                        n_people: 0,
                        agreement: AgreementCoefficients::default(),
                        estimates: None,
                        simulated: Some(SimulatedTaskResults {
                            simulation: simulation.clone(),
                            agreement: of_people.agreement,
                            estimates: of_people.estimates,
                        }),
                        ..of_people
                    },
                }))
            }))
        };
        let found = self.0.results.get_or_compute(key, prepare).await?;
        // These two values may change without an event.
        Ok(AnnotationTaskResults {
            status: row.state,
            is_public: row.results_public,
            ..(*found).clone()
        })
    }

    /// Returns the adjudication queue: items drawn from the study with disagreements, and training
    /// and gold items that somebody reported.
    pub(crate) async fn adjudication_queue(
        &self,
        desk: &Arc<InMemoryTaskState>,
    ) -> Result<Vec<AdjudicationQueueItem>, Error> {
        let desk = desk.clone();
        let slot = self.0.slots.acquire().await;
        slot.run("looking for disagreements", move || {
            let items = desk.items();
            let numbers = (0..items.len() as u32).map(ItemNo);
            let mut found = adjudication_queue(&desk.clone_event_log(), numbers);
            found.retain(|it| {
                is_sampled_item(&items[it.item.0 as usize]) || it.reason == DisputeReason::Reported
            });
            Ok(found)
        })
        .await
    }

    fn known(&self, term: u64, task: TaskId) -> Option<Arc<InMemoryTaskState>> {
        let desks = self.0.desks.read().unwrap_or_else(PoisonError::into_inner);
        let states = (desks.term == term).then_some(&desks.states);
        states.and_then(|it| it.get(&task)).cloned()
    }
}

/// Draws the items of a new task from its study.
pub(crate) fn new_task_from_study(
    study: &Study,
    task: AnnotationTaskDefinition,
) -> Result<NewAnnotationTask, Error> {
    let drawn = sample::sample_task_items(study, &task)?;
    let with_ids = drawn
        .items
        .into_iter()
        .map(|item| AnnotationItemWithExternalIds {
            ids: query_and_doc_ids(study, &item),
            item,
        });
    Ok(NewAnnotationTask {
        study_hash: study_instances_and_collection_hash(study),
        made_ms: unix_time_ms_u64(),
        n_candidates: drawn.n_candidates,
        items: with_ids.collect(),
        task,
    })
}

fn query_and_doc_ids(study: &Study, item: &AnnotationItem) -> ItemQueryAndDocIds {
    let place = item.instance;
    let texts = study
        .instances_of_probe(place.probe, place.variant)
        .map(|it| it.claim_at(place.index as usize));
    let texts = texts
        .iter()
        .flat_map(|it| it.docs_in_claim_order().to_vec());
    ItemQueryAndDocIds {
        query: study.queries[item.query as usize].id.clone(),
        documents: texts.map(|it| study.study_doc_id(it)).collect(),
    }
}

/// Returns an error if the annotators of the task are simulated: then no person annotates or
/// adjudicates, so that none of its numbers mixes both.
fn ensure_annotators_are_people(desk: &InMemoryTaskState) -> Result<(), Error> {
    if !desk.task_row().task.is_simulated() {
        return Ok(());
    }
    let reason = "the annotators of this task are simulated, so that nobody can annotate or \
                  change it; try its items without an account, or create a task for people";
    Err(Error::Conflict {
        reason: reason.to_owned(),
    })
}

/// Returns an error unless the task is open and the study still has the instances and texts that
/// the task was drawn from.
pub(crate) fn ensure_items_can_be_assigned(
    desk: &InMemoryTaskState,
    listed: &StudyListEntry,
) -> Result<(), Error> {
    let row = desk.task_row();
    let reason = match row.state {
        AnnotationTaskStatus::Draft => "this task is a draft; a curator opens it",
        AnnotationTaskStatus::Closed => "this task is closed; what you still have to send is taken",
        AnnotationTaskStatus::Open => return ensure_study_is_unchanged(desk, listed),
    };
    let reason = reason.to_owned();
    Err(Error::Conflict { reason })
}

/// Returns an error if the study has changed since the task was drawn from it.
pub(crate) fn ensure_study_is_unchanged(
    desk: &InMemoryTaskState,
    listed: &StudyListEntry,
) -> Result<(), Error> {
    check_hash(&desk.task_row(), &listed.instances_and_collection_hash())
}

/// Same as [`ensure_study_is_unchanged`], but for the loaded study, which may be newer than its
/// list entry.
pub(crate) fn ensure_loaded_study_is_unchanged(
    row: &AnnotationTaskRow,
    study: &Study,
) -> Result<(), Error> {
    check_hash(row, &study_instances_and_collection_hash(study))
}

fn check_hash(row: &AnnotationTaskRow, found: &str) -> Result<(), Error> {
    if row.study_hash == found {
        return Ok(());
    }
    let reason = format!(
        "study {} was made anew with other instances or texts, so the items of this task are not \
         there any more; what was decided is kept and can be downloaded, and a curator makes a \
         new task",
        row.task.study
    );
    Err(Error::Conflict { reason })
}

/// Returns the time of the server's clock in milliseconds since 1970.
pub(crate) fn unix_time_ms_u64() -> u64 {
    clock::unix_time_ms() as u64
}

#[cfg(test)]
pub(crate) mod tests;
