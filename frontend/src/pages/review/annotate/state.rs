//! The actions of an annotator, from a key or button to an event in the outbox.

use leptos::prelude::*;
use shared::annotation::event::{
    AnnotationEventAction, ItemProblemReport, SkipReason, SkippedItem,
};
use shared::annotation::{AnnotationEventKey, AnnotatorAnswer, ClientAnnotationEvent};
use shared::api::annotation::{
    AnnotationTaskStatus, AssignedItem, GetAssignedItemRequest, LeaseItemsRequest,
    LeaseItemsResponse, TaskId, TaskProgressSummary, TaskResponse,
};

use super::comment::CommentDraft;
use super::guidelines;
use super::session::{AnnotationSession, UndoableAction};
use crate::api;
use crate::api::mutation::{MutatingRequestState, spawn_unless_busy};
use crate::debounce::DebounceTimer;
use crate::keyboard;
use crate::outbox;
use crate::pages::review::item;
use crate::pages::review::item_timer::ItemActivityTimer;

/// The interval after which the server is asked again for items that others may have released.
const POLL_MS: u64 = 60_000;

/// The signals of the annotation page.
#[derive(Clone, Copy)]
pub(super) struct AnnotationPageState {
    task: StoredValue<TaskResponse>,
    /// The annotator's session: displayed, upcoming and undoable items.
    pub(super) session: RwSignal<AnnotationSession>,
    /// The progress of the task, from the latest reply.
    pub(super) progress: RwSignal<TaskProgressSummary>,
    /// The comment on the current answer.
    pub(super) comment: CommentDraft,
    /// Whether query terms are highlighted.
    pub(super) shows_highlights: RwSignal<bool>,
    /// Whether the guidelines are shown.
    pub(super) shows_guidelines: RwSignal<bool>,
    /// A short message about the last action.
    pub(super) toast: RwSignal<Option<String>>,
    /// The state of requests, with the reason if one failed.
    pub(super) action: MutatingRequestState,
    /// What is wrong with the typed input.
    pub(super) input_error: RwSignal<Option<String>>,
    item_timer: StoredValue<ItemActivityTimer>,
    debounce: DebounceTimer,
}

impl AnnotationPageState {
    /// Creates the state for a task and a session with its earlier events.
    pub(super) fn new(sheet: TaskResponse, course: AnnotationSession) -> AnnotationPageState {
        let progress = RwSignal::new(sheet.summary.progress);
        AnnotationPageState {
            task: StoredValue::new(sheet),
            session: RwSignal::new(course),
            progress,
            comment: CommentDraft::new(),
            shows_highlights: RwSignal::new(true),
            shows_guidelines: RwSignal::new(true),
            toast: RwSignal::new(None),
            action: MutatingRequestState::new(),
            input_error: RwSignal::new(None),
            item_timer: StoredValue::new(ItemActivityTimer::start(unix_time_ms())),
            debounce: DebounceTimer::with_delay_ms(POLL_MS),
        }
    }

    /// Returns the task as annotators see it.
    pub(super) fn task_for_annotators(self) -> TaskResponse {
        self.task.get_value()
    }

    pub(super) fn task_id(self) -> TaskId {
        self.task.with_value(|it| it.summary.task)
    }

    /// Returns whether the task is open for annotation.
    pub(super) fn is_task_open(self) -> bool {
        self.task
            .with_value(|it| it.summary.status == AnnotationTaskStatus::Open)
    }

    /// Returns whether items are being fetched.
    pub(super) fn is_fetching_items(self) -> bool {
        self.action.is_busy.get()
    }

    /// Records that the user is active, or pauses the timer if the page is hidden.
    pub(super) fn record_activity_or_pause(self) {
        let hidden = document().hidden();
        self.item_timer.try_update_value(|it| match hidden {
            true => it.pause(unix_time_ms()),
            false => it.record_activity(unix_time_ms()),
        });
    }

    /// Decides on the displayed item. The answer refers to the order on screen.
    pub(super) fn decide_displayed_item(self, answer: AnnotatorAnswer) {
        let took = self
            .item_timer
            .with_value(|it| it.elapsed_ms(unix_time_ms()));
        let what = self.session.with_untracked(|it| {
            let screen = it.displayed_item().filter(|it| it.feedback.is_none())?;
            let claim = screen.item.content.claim;
            let words = self.comment.current_comment();
            // The same answer again keeps the time that it took.
            let earlier = screen.earlier.as_ref().filter(|_| {
                screen.will_replace_decision() && screen.earlier_answer() == Some(answer)
            });
            let took = took + earlier.map_or(0, |it| it.decision.duration_ms);
            Some((
                screen.create_decision(answer, words, took),
                item::BUTTON_LABELS.answer_label(claim, answer),
            ))
        });
        if let Some((what, word)) = what {
            self.submit(what, format!("Last answer: {word}"));
        }
    }

    /// Skips the displayed item for a reason and shows the next one.
    pub(super) fn skip_displayed_item(self, reason: SkipReason, note: String) {
        let item = self.session.with_untracked(|it| {
            let screen = it
                .displayed_item()
                .filter(|it| it.feedback.is_none() && !it.will_replace_decision());
            screen.map(|it| it.item_number_in_task())
        });
        if let Some(item) = item {
            let what = AnnotationEventAction::Skipped(SkippedItem { item, reason, note });
            self.submit(what, "Skipped".to_owned());
        }
    }

    /// Reports a problem with the displayed item, which stays on screen.
    pub(super) fn report_problem(self, note: String) {
        let item = self
            .session
            .with_untracked(|it| it.displayed_item().map(|it| it.item_number_in_task()));
        if let Some(item) = item
            && self
                .enqueue(AnnotationEventAction::Reported(ItemProblemReport {
                    item,
                    note,
                }))
                .is_some()
        {
            self.toast.set(Some("Reported".to_owned()));
        }
    }

    /// Records a decision or a skip, and shows the next item.
    fn submit(self, what: AnnotationEventAction, told: String) {
        let Some(event) = self.enqueue(what) else {
            return;
        };
        self.session
            .update(|it| it.record_event_and_advance(&event));
        self.toast.set(Some(told));
        self.display_current();
        self.fetch_items_if_few_left();
    }

    /// Adds an event to the outbox and returns it; returns none if the event is invalid.
    fn enqueue(self, what: AnnotationEventAction) -> Option<ClientAnnotationEvent> {
        let event = ClientAnnotationEvent {
            key: random_key(),
            created_ms: unix_time_ms(),
            action: what,
        };
        match event.normalize_and_validate(self.task.with_value(|it| it.n_items)) {
            Ok(event) => {
                outbox::store_and_send_event(self.task_id(), event.clone());
                self.input_error.set(None);
                Some(event)
            }
            Err(error) => {
                self.input_error.set(Some(error.to_string()));
                None
            }
        }
    }

    /// Continues after training feedback, or leaves an earlier answer as it is and saves its
    /// comment if that has changed.
    pub(super) fn continue_if_item_answered(self) {
        let comment = self.comment.current_comment();
        let changed = self.session.with_untracked(|it| {
            let screen = it
                .displayed_item()
                .filter(|it| it.feedback.is_none() && it.will_replace_decision())?;
            let before = screen.earlier.as_ref()?;
            (before.decision.comment != comment).then(|| screen.earlier_answer())?
        });
        if let Some(answer) = changed {
            return self.decide_displayed_item(answer);
        }
        let rests = self.session.with_untracked(|it| {
            it.displayed_item()
                .is_some_and(|it| it.feedback.is_some() || it.will_replace_decision())
        });
        if rests {
            self.session.update(AnnotationSession::show_next_item);
            self.display_current();
            self.fetch_items_if_few_left();
        }
    }

    /// Undoes the last decision or skip.
    pub(super) fn undo_last_action(self) {
        let last = self
            .session
            .with_untracked(|it| it.undoable_actions().last().cloned());
        match last {
            None => self.toast.set(Some("Nothing to undo".to_owned())),
            Some(act) => self.with_item(act, |work, act, item| {
                if work
                    .enqueue(AnnotationEventAction::Undone { of: act.key })
                    .is_some()
                {
                    work.session.update(|it| it.undo_action(&act, item));
                    work.toast.set(Some("Undone".to_owned()));
                }
            }),
        }
    }

    /// Shows an earlier decision again, so that it can be changed.
    pub(super) fn reopen_decision(self, act: UndoableAction) {
        self.with_item(act, |work, act, item| {
            work.session.update(|it| it.reopen_item(&act, item));
        });
    }

    /// Calls `then` with the item of an action, from the cache or from the server.
    fn with_item(
        self,
        act: UndoableAction,
        then: fn(AnnotationPageState, UndoableAction, AssignedItem),
    ) {
        let seen = self
            .session
            .with_untracked(|it| it.cached_decided_item(act.item).cloned());
        if let Some(item) = seen {
            then(self, act, item);
            self.display_current();
            return;
        }
        let request = GetAssignedItemRequest {
            task: self.task_id(),
            item: act.item,
        };
        self.action.send_unless_busy(request, move |item| {
            then(self, act, item);
            self.display_current();
        });
    }

    /// Prepares the page for the displayed item: comment, timer and focus.
    fn display_current(self) {
        self.start_item();
        let told = self
            .session
            .with_untracked(|it| it.displayed_item().is_some_and(|it| it.feedback.is_some()));
        keyboard::focus_element_on_next_frame(if told { FEEDBACK_ID } else { item::ITEM });
    }

    fn start_item(self) {
        let before = self.session.with_untracked(|it| {
            let before = it.displayed_item()?.earlier.as_ref()?;
            Some(before.decision.comment.clone())
        });
        self.comment.replace_comment(before.unwrap_or_default());
        self.item_timer
            .set_value(ItemActivityTimer::start(unix_time_ms()));
    }

    /// Requests more items if only a few are left.
    pub(super) fn fetch_items_if_few_left(self) {
        let n_unsent = outbox::unsent_events_of_task(self.task_id()).len();
        let wanted = self
            .session
            .with_untracked(|it| it.n_items_to_request(n_unsent));
        let Some(n) = wanted.filter(|_| self.is_task_open()) else {
            return;
        };
        let task = self.task_id();
        let found =
            async move { api::send_and_parse(&LeaseItemsRequest { task, n_items: n }).await };
        spawn_unless_busy(self.action.is_busy, found, move |found| match found {
            Ok(handed) => self.receive_items(handed, n),
            Err(error) => {
                // Items at hand can be decided without a network, so the error is only shown if
                // there are none.
                let empty = self
                    .session
                    .with_untracked(|it| it.displayed_item().is_none());
                self.action.error.set(empty.then_some(error));
                self.debounce
                    .schedule(move || self.fetch_items_if_few_left());
            }
        });
    }

    fn receive_items(self, handed: LeaseItemsResponse, n: u32) {
        let fresh = self
            .session
            .with_untracked(|it| it.displayed_item().is_none());
        self.action.error.set(None);
        self.progress.set(handed.progress);
        self.session
            .update(|it| it.add_received_items(handed, n, unix_time_ms()));
        if fresh {
            self.start_item();
        }
        let waits = self
            .session
            .with_untracked(|it| it.is_server_out_of_items() && it.n_items_leased_by_others() > 0);
        if waits {
            self.debounce.schedule(move || self.retry_fetching_items());
        }
    }

    /// Requests items even if the server had no more before.
    pub(super) fn retry_fetching_items(self) {
        self.session
            .update(AnnotationSession::allow_further_requests);
        self.fetch_items_if_few_left();
    }

    /// Switches to the next rating of whether the axiom's reason matters if the displayed item is
    /// decided, or else shows the last decision again, so that its reason can be rated.
    pub(super) fn rate_reason(self) {
        let is_decided = |it: &AnnotationSession| {
            let screen = it.displayed_item();
            screen.is_some_and(|it| it.feedback.is_none() && it.will_replace_decision())
        };
        if self.session.with_untracked(is_decided) {
            return self
                .toast
                .set(Some(self.comment.cycle_reason_rating().to_owned()));
        }
        let has_draft = self.session.with_untracked(|it| {
            let screen = it.displayed_item().filter(|it| it.feedback.is_none());
            screen.is_some_and(|it| {
                let before = it.earlier.as_ref().map(|it| it.decision.comment.clone());
                self.comment.current_comment() != before.unwrap_or_default()
            })
        });
        if has_draft {
            return self.toast.set(Some(
                "Decide first: this item has a note or tags".to_owned(),
            ));
        }
        let last = self.session.with_untracked(|it| {
            let mut decided = it.undoable_actions().iter().rev();
            decided.find(|it| it.decision.is_some()).cloned()
        });
        match last {
            None => self.toast.set(Some("Decide first".to_owned())),
            Some(act) => self.reopen_decision(act),
        }
    }

    /// Shows or hides the highlights of query terms.
    pub(super) fn toggle_highlights(self) {
        let shows = !self.shows_highlights.get_untracked();
        self.shows_highlights.set(shows);
        let word = if shows {
            "Highlights are on"
        } else {
            "Highlights are off"
        };
        self.toast.set(Some(word.to_owned()));
    }

    /// Shows or hides the guidelines.
    pub(super) fn toggle_guidelines(self) {
        guidelines::toggle_guidelines_panel(self.shows_guidelines);
    }

    /// Describes an undoable action in words: the number of its item, and the answer or the skip.
    pub(super) fn describe_action(self, act: &UndoableAction) -> String {
        let n = act.item.0 + 1;
        let Some(decision) = &act.decision else {
            return format!("Item {n}: skipped");
        };
        let claim = self.session.with_untracked(|it| {
            let seen = it.cached_decided_item(act.item);
            seen.map(|it| it.content.claim)
        });
        let answer = decision.display_order.convert_answer_order(decision.answer);
        match claim {
            Some(claim) => format!(
                "Item {n}: {}",
                item::BUTTON_LABELS.answer_label(claim, answer)
            ),
            None => format!("Item {n}: {}", answer.slug()),
        }
    }
}

/// The id of the heading of the training feedback.
pub(super) const FEEDBACK_ID: &str = "told";

/// Returns the time in milliseconds since 1970, by the clock of the browser.
pub(super) fn unix_time_ms() -> u64 {
    js_sys::Date::now().max(0.0) as u64
}

fn random_key() -> AnnotationEventKey {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).expect("every browser has random bytes");
    AnnotationEventKey::from_bytes(bytes)
}
