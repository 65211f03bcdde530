//! The Annotate page: one item after the other, with a key for each answer.

mod comment;
mod session;
mod dialogs;
mod guidelines;
mod state;

use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use shared::annotation::assignment::{AssignmentPhase, LEASE_MS};
use shared::annotation::content::ProbeSummary;
use shared::api::annotation::{GetTaskRequest, ListOwnEventsRequest, TaskId, TaskResponse};

use crate::api::{self, NO_SERVER, RequestError};
use crate::keyboard::{self, KeyPressOutcome};
use crate::number_format::{format_count, format_count_with_noun};
use crate::outbox::{self, OutboxSummary, RejectedEventsPanel};
use crate::pages::review::identity::fetch_session_and_open_outbox;
use crate::pages::review::item::{
    self, AnswerButtons, ButtonWithShortcutKey, ContinueAfterFeedbackButtons, ItemDocuments,
    ItemQuestion,
};
use crate::routes::PageRoute;
use crate::widgets::error_message::OptionalErrorMessage;
use crate::widgets::progress::ProgressBarView;
use crate::widgets::resource_view::RequestReplyView;
use comment::CommentFields;
use dialogs::{AxiomExampleDialog, ReportProblemDialog, SkipDialog};
use guidelines::GuidelinesPanel;
use session::{AnnotationSession, DisplayedItem};
use state::{AnnotationPageState, FEEDBACK_ID};

/// Renders the Annotate page, on which an annotator decides on the items of a task.
#[component]
pub(crate) fn AnnotatePage(
    /// The id of the task.
    task: TaskId,
) -> impl IntoView {
    let opening = LocalResource::new(move || load_task(task));
    let shown = |opened| match opened {
        TaskAccess::Stranger => view! {
            <h1>"Annotation"</h1>
            <p class="lead">
                "Decisions are recorded under your name. "
                <a href=PageRoute::Join.href()>"Sign in"</a>
                ", or use an invitation link."
            </p>
        }
        .into_any(),
        TaskAccess::Task(sheet, course) => {
            let work = AnnotationPageState::new(*sheet, *course);
            view! { <AnnotationPage work/> }.into_any()
        }
    };
    view! { <RequestReplyView answer=opening until="Loading the task" without="Annotation" shown/> }
}

/// What the user finds at this address.
#[derive(Clone)]
enum TaskAccess {
    /// No person with a name is signed in.
    Stranger,
    /// The task and the session with its earlier events.
    Task(Box<TaskResponse>, Box<AnnotationSession>),
}

async fn load_task(task: TaskId) -> Result<TaskAccess, RequestError> {
    let Some(who) = fetch_session_and_open_outbox().await? else {
        let error = "Annotation tasks need a server, and this page comes from a static host. Run \
             `axioscope serve` to use them.";
        return Err(RequestError::Server(
            shared::api::ErrorResponse::with_message_and_type(error, NO_SERVER),
        ));
    };
    if who.person.is_none() {
        return Ok(TaskAccess::Stranger);
    }
    let sheet = api::send_and_parse(&GetTaskRequest { task }).await?;
    let known = api::send_and_parse(&ListOwnEventsRequest { task }).await?;
    let mut course = AnnotationSession::default();
    course.restore_history(&known, &outbox::unsent_events_of_task(task));
    Ok(TaskAccess::Task(Box::new(sheet), Box::new(course)))
}

/// Renders the progress, the item, and the panels and dialogs around it.
#[component]
fn AnnotationPage(
    /// The state of the annotation page.
    work: AnnotationPageState,
) -> impl IntoView {
    let dialogs = AnnotationDialogs::new();
    add_listeners(work, dialogs);
    work.fetch_items_if_few_left();
    let title = work.task_for_annotators().summary.title;
    let screen = Memo::new(move |_| work.session.with(|it| it.displayed_item().cloned()));
    let body = move || match screen.get() {
        Some(screen) => view! { <Item work screen dialogs/> }.into_any(),
        None => view! { <NoItem work/> }.into_any(),
    };
    let retry = Callback::new(move |()| work.retry_fetching_items());
    let wrong = move || {
        work.input_error
            .get()
            .map(|it| view! { <p class="verdict failed" role="alert">{it}</p> })
    };
    let skip = Callback::new(move |(reason, note)| work.skip_displayed_item(reason, note));
    let report = Callback::new(move |note| work.report_problem(note));
    view! {
        <nav class="crumbs" aria-label="Breadcrumb">
            <a href=PageRoute::ReviewTasks.href()>"Annotation"</a>
            <span>{title}</span>
        </nav>
        <MyProgress work/>
        <RejectedEventsPanel/>
        <OptionalErrorMessage error=work.action.error retry/>
        <div class="desk" class:alone=move || !work.shows_guidelines.get()>
            <div>{body} {wrong} <Toast work/></div>
            <GuidelinesPanel work/>
        </div>
        <SkipDialog place=dialogs.skip skip/>
        <ReportProblemDialog place=dialogs.report report/>
        <AxiomExampleDialog place=dialogs.example probe=dialogs.of/>
    }
}

/// Renders the annotator's own progress and the delivery status of their decisions.
#[component]
fn MyProgress(work: AnnotationPageState) -> impl IntoView {
    let status = outbox::outbox_status_signal();
    let gained = Memo::new(move |_| {
        // The unsent events are not a signal; the delivery status changes with them.
        status.track();
        work.session
            .with(|it| it.unsent_progress_change(&outbox::unsent_events_of_task(work.task_id())))
    });
    let sent = outbox::task_progress_after_last_delivery();
    Effect::new(move |_| {
        if let Some((task, standing)) = sent.get()
            && task == work.task_id()
        {
            work.progress.set(standing);
        }
    });
    let n_mine = move || {
        let n = i64::from(work.progress.read().n_own_decisions) + gained.get();
        n.max(0) as u64
    };
    let n_all = move || {
        let standing = work.progress.read();
        u64::from(standing.n_own_decisions) + u64::from(standing.n_available)
    };
    let done = Signal::derive(move || n_mine() as f64 / n_all().max(1) as f64);
    view! {
        <div class="mine">
            <p>
                <b>{move || format_count(n_mine())}</b>
                {move || format!(" of {}", format_count(n_all().max(n_mine())))}
            </p>
            <ProgressBarView label="My decisions" done/>
            <OutboxSummary/>
        </div>
    }
}

/// The dialogs of the page.
#[derive(Clone, Copy)]
struct AnnotationDialogs {
    skip: NodeRef<html::Dialog>,
    report: NodeRef<html::Dialog>,
    example: NodeRef<html::Dialog>,
    /// The probe whose example is shown.
    of: RwSignal<Option<ProbeSummary>>,
}

impl AnnotationDialogs {
    fn new() -> AnnotationDialogs {
        AnnotationDialogs {
            skip: NodeRef::new(),
            report: NodeRef::new(),
            example: NodeRef::new(),
            of: RwSignal::new(None),
        }
    }

    fn show_example(self, work: AnnotationPageState) {
        let probe = work
            .session
            .with_untracked(|it| it.displayed_item().map(|it| it.item.content.probe.clone()));
        if probe.is_some() {
            self.of.set(probe);
            dialogs::open_dialog(self.example);
        }
    }
}

/// Adds listeners for the keys of the page and for signs that the user is active.
fn add_listeners(work: AnnotationPageState, dialogs: AnnotationDialogs) {
    keyboard::listen_for_unrepeated_key_presses(move |key| {
        if keyboard::is_dialog_open() {
            return KeyPressOutcome::Ignored;
        }
        let skips = || {
            let course = work.session.read_untracked();
            course
                .displayed_item()
                .is_some_and(|it| it.feedback.is_none() && !it.will_replace_decision())
        };
        match key {
            "u" => work.undo_last_action(),
            "s" if skips() => dialogs::open_dialog(dialogs.skip),
            "n" => work.comment.focus_note_field(),
            "g" => work.toggle_guidelines(),
            "r" => dialogs::open_dialog(dialogs.report),
            "e" => dialogs.show_example(work),
            "h" => work.toggle_highlights(),
            "m" => work.rate_reason(),
            "Escape" => keyboard::focus_element_on_next_frame(item::ITEM),
            "Enter" if !item::is_interactive_element_focused() => work.continue_if_item_answered(),
            other => match item::answer_for_key(other) {
                Some(answer) => work.decide_displayed_item(answer),
                None => return KeyPressOutcome::Ignored,
            },
        }
        KeyPressOutcome::Handled
    });
    const ACTIVITY_EVENTS: [&str; 6] = [
        "pointermove",
        "pointerdown",
        "keydown",
        "scroll",
        "touchmove",
        "visibilitychange",
    ];
    let stirs = ACTIVITY_EVENTS
        .map(|it| window_event_listener_untyped(it, move |_| work.record_activity_or_pause()));
    let online = window_event_listener(ev::online, move |_| work.fetch_items_if_few_left());
    on_cleanup(move || {
        for stir in stirs {
            stir.remove();
        }
        online.remove();
    });
}

/// Renders the item, its answers and the comment.
#[component]
fn Item(
    work: AnnotationPageState,
    screen: DisplayedItem,
    dialogs: AnnotationDialogs,
) -> impl IntoView {
    let content = screen.item.content.clone();
    let (sides, claim, probe) = (
        screen.item.assignment.display_order,
        content.claim,
        content.probe.clone(),
    );
    let marked = !content.terms.is_empty();
    let over = question_note(&screen);
    let rankers = content.rankers.clone();
    let choose = Callback::new(move |answer| work.decide_displayed_item(answer));
    let (before, changes) = (screen.earlier_answer(), screen.will_replace_decision());
    let rankers = (!rankers.is_empty()).then(|| {
        let said = rankers.into_iter().map(|it| {
            let prefers = it.preference.map_or("not scored", |it| {
                item::SENTENCE_LABELS.answer_label(
                    claim,
                    sides.convert_answer_order(item::answer_for_preference(it)),
                )
            });
            view! { <li>{it.name} ": " {prefers}</li> }
        });
        view! { <ul class="facts">{said.collect_view()}</ul> }
    });
    let dock = match screen.feedback {
        Some(answer) => {
            view! { <TrainingFeedbackView work screen=screen.clone() answer/> }.into_any()
        }
        None => view! {
            <div class="dock">
                <AnswerButtons claim before choose/>
                <div class="btns small">
                    <ButtonWithShortcutKey key="U" press=move || work.undo_last_action()>
                        "Undo"
                    </ButtonWithShortcutKey>
                    <ButtonWithShortcutKey
                        key="S"
                        press=move || dialogs::open_dialog(dialogs.skip)
                        disabled=Signal::stored(changes)
                    >
                        "Skip"
                    </ButtonWithShortcutKey>
                    <ButtonWithShortcutKey key="N" press=move || work.comment.focus_note_field()>
                        "Add note"
                    </ButtonWithShortcutKey>
                    {(!changes)
                        .then(|| {
                            view! {
                                <ButtonWithShortcutKey key="M" press=move || work.rate_reason()>
                                    "Rate the axiom’s reason"
                                </ButtonWithShortcutKey>
                            }
                        })}
                    <ButtonWithShortcutKey key="G" press=move || work.toggle_guidelines()>
                        "Guidelines"
                    </ButtonWithShortcutKey>
                </div>
            </div>
            {changes
                .then(|| {
                    view! {
                        <ButtonWithShortcutKey
                            class="btn"
                            key="Enter"
                            press=move || work.continue_if_item_answered()
                        >
                            "Keep the answer"
                        </ButtonWithShortcutKey>
                    }
                })}
            <CommentFields
                probe
                tags=work.task_for_annotators().tags
                comment=work.comment
                is_decided=changes
            />
        }
        .into_any(),
    };
    let marks = marked.then(|| {
        view! {
            <ButtonWithShortcutKey key="H" press=move || work.toggle_highlights()>
                {move || match work.shows_highlights.get() {
                    true => "Hide highlights",
                    false => "Show highlights",
                }}
            </ButtonWithShortcutKey>
        }
    });
    view! {
        <ItemQuestion content=content.clone() over marks=work.shows_highlights/>
        <ItemDocuments content sides marks=work.shows_highlights/>
        {rankers}
        {dock}
        <div class="btns small more">
            <ButtonWithShortcutKey key="E" press=move || dialogs.show_example(work)>
                "Example"
            </ButtonWithShortcutKey>
            {marks}
            <ButtonWithShortcutKey key="R" press=move || dialogs::open_dialog(dialogs.report)>
                "Report this item"
            </ButtonWithShortcutKey>
        </div>
    }
}

/// Returns the note above the question.
fn question_note(screen: &DisplayedItem) -> Option<&'static str> {
    match screen.item.assignment.phase {
        _ if screen.will_replace_decision() => {
            Some("You have already answered this item. A new answer replaces the old one.")
        }
        AssignmentPhase::Training => Some(
            "Training item: the correct answer is shown after \
             yours.",
        ),
        AssignmentPhase::Main if screen.earlier.is_some() => Some("Undone: answer again."),
        AssignmentPhase::Main => None,
    }
}

/// Renders the feedback on an answer in training.
#[component]
fn TrainingFeedbackView(
    work: AnnotationPageState,
    screen: DisplayedItem,
    answer: shared::annotation::AnnotatorAnswer,
) -> impl IntoView {
    let claim = screen.item.content.claim;
    let on_screen = |it| {
        item::SENTENCE_LABELS.answer_label(
            claim,
            screen
                .item
                .assignment
                .display_order
                .convert_answer_order(it),
        )
    };
    let feedback = screen.item.feedback.clone();
    let right = feedback.as_ref().is_none_or(|it| it.answer == answer);
    let heading = match (&feedback, right) {
        (Some(it), false) => format!("Expected: {}", on_screen(it.answer)),
        _ => format!("Correct: {}", on_screen(answer)),
    };
    let class = if right { "verdict ok" } else { "verdict bad" };
    let why = feedback.map(|it| it.explanation).unwrap_or_default();
    view! {
        <div class="dock">
            <section class="telling" aria-labelledby=FEEDBACK_ID>
                <h2 id=FEEDBACK_ID tabindex="-1"><span class=class>{heading}</span></h2>
                {(!right).then(|| view! { <p>"Your answer: " {on_screen(answer)} "."</p> })}
                <p>{why}</p>
            </section>
            <ContinueAfterFeedbackButtons
                go_on=move || work.continue_if_item_answered()
                undo=move || work.undo_last_action()
            />
        </div>
    }
}

/// Renders why there is no item: loading, held by others, or all done.
#[component]
fn NoItem(work: AnnotationPageState) -> impl IntoView {
    let minutes = LEASE_MS / 60_000;
    let shown = move || {
        let (ended, n_leased) = work
            .session
            .with(|it| (it.is_server_out_of_items(), it.n_items_leased_by_others()));
        if !work.is_task_open() {
            return view! {
                <h1 id=item::ITEM tabindex="-1">"This task is closed"</h1>
                <p class="lead">"Answers that have not been sent yet are still accepted."</p>
            }
            .into_any();
        }
        if work.is_fetching_items() || !ended {
            return view! {
                <h1 id=item::ITEM tabindex="-1">"Annotation"</h1>
                <p class="note" role="status">"Loading items"</p>
            }
            .into_any();
        }
        if n_leased > 0 {
            let items = format_count_with_noun(u64::from(n_leased), "item is", "items are");
            return view! {
                <h1 id=item::ITEM tabindex="-1">"No items available right now"</h1>
                <p class="lead">
                    {format!(
                        "{items} assigned to others. Items they do not answer become available \
                         within {minutes} minutes; this page checks every minute.",
                    )}
                </p>
            }
            .into_any();
        }
        let n_skipped = work.progress.read().n_own_skips;
        let skipped = format_count_with_noun(u64::from(n_skipped), "item", "items");
        view! {
            <h1 id=item::ITEM tabindex="-1">"No items left for you"</h1>
            <p class="lead">
                "You have answered every item of this task"
                {(n_skipped > 0).then(|| format!("; you skipped {skipped}"))} ". "
                <a href=PageRoute::ReviewTasks.href()>"Show all tasks"</a>
            </p>
        }
        .into_any()
    };
    view! {
        {shown}
        <div class="btns">
            <button class="btn" type="button" on:click=move |_| work.retry_fetching_items()>
                "Check again"
            </button>
            <ButtonWithShortcutKey key="U" press=move || work.undo_last_action()>
                "Undo"
            </ButtonWithShortcutKey>
        </div>
    }
}

/// Renders a short message about the last action.
#[component]
fn Toast(work: AnnotationPageState) -> impl IntoView {
    view! { <p class="note last-word" role="status">{move || work.toast.get()}</p> }
}
