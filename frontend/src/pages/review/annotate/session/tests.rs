use shared::annotation::assignment::ItemAssignment;
use shared::annotation::content::AnnotationItemContent;
use shared::annotation::event::{SkipReason, SkippedItem};
use shared::annotation::task::TrainingFeedback;
use shared::annotation::{DocumentDisplayOrder, PersonId, ReceivedAnnotationEvent};
use shared::api::annotation::TaskProgressSummary;
use shared::probe::{Axiom, AxiomVariant, Probe, ScoreClaimKind};
use shared::study::instance_details::HighlightedText;

use super::*;

fn item(number: u32, part: AssignmentPhase) -> AssignedItem {
    let text = |it: &str| HighlightedText {
        text: it.to_owned(),
        ..HighlightedText::default()
    };
    AssignedItem {
        assignment: ItemAssignment {
            item: ItemNo(number),
            display_order: DocumentDisplayOrder::Swapped,
            phase: part,
        },
        content: AnnotationItemContent {
            probe: Probe::Axiom(Axiom::Tfc1).into(),
            variant: AxiomVariant::Fixed,
            claim: ScoreClaimKind::Higher,
            query: text("query"),
            terms: Vec::new(),
            documents: vec![text("one"), text("two")],
            rankers: Vec::new(),
            texts_withheld: false,
        },
        lease_expires_ms: Some(1_000),
        feedback: (part == AssignmentPhase::Training).then(|| TrainingFeedback {
            answer: AnnotatorAnswer::First,
            explanation: "so it is".to_owned(),
        }),
    }
}

fn handed(numbers: &[u32]) -> LeaseItemsResponse {
    LeaseItemsResponse {
        items: numbers
            .iter()
            .map(|&it| item(it, AssignmentPhase::Main))
            .collect(),
        n_leased_to_others: 0,
        progress: TaskProgressSummary::default(),
    }
}

/// Returns a session that has received these items.
fn course(numbers: &[u32]) -> AnnotationSession {
    let mut course = AnnotationSession::default();
    course.add_received_items(handed(numbers), numbers.len() as u32, 0);
    course
}

fn event(byte: u8, what: AnnotationEventAction) -> ClientAnnotationEvent {
    ClientAnnotationEvent {
        key: AnnotationEventKey::from_bytes([byte; 16]),
        created_ms: 0,
        action: what,
    }
}

fn now(course: &AnnotationSession) -> Option<u32> {
    course.displayed_item().map(|it| it.item_number_in_task().0)
}

/// Decides on the displayed item, with an event whose key is made from this byte.
fn decide(
    course: &mut AnnotationSession,
    byte: u8,
    answer: AnnotatorAnswer,
) -> ClientAnnotationEvent {
    let screen = course.displayed_item().expect("an item is shown");
    let made = event(
        byte,
        screen.create_decision(answer, RatingTagsAndNote::default(), 5),
    );
    course.record_event_and_advance(&made);
    made
}

#[test]
fn one_decision_moves_on() {
    let mut course = course(&[4, 2, 9]);
    assert_eq!(now(&course), Some(4));
    let made = decide(&mut course, 1, AnnotatorAnswer::First);
    // The display order is swapped: the left document is the second of the claim.
    assert_eq!(made.action.answer(), Some(AnnotatorAnswer::Second));
    assert_eq!(now(&course), Some(2));
    course.record_event_and_advance(&event(
        2,
        AnnotationEventAction::Skipped(SkippedItem {
            item: ItemNo(2),
            reason: SkipReason::BrokenDocument,
            note: String::new(),
        }),
    ));
    decide(&mut course, 3, AnnotatorAnswer::Equal);
    assert_eq!((now(&course), course.undoable_actions().len()), (None, 3));
}

#[test]
fn undo_goes_back_across_items_with_the_answer_of_before() {
    let mut course = course(&[0, 1, 2]);
    decide(&mut course, 1, AnnotatorAnswer::First);
    decide(&mut course, 2, AnnotatorAnswer::Second);
    for (expected, answer) in [(1, AnnotatorAnswer::Second), (0, AnnotatorAnswer::First)] {
        let act = course.undoable_actions().last().cloned().unwrap();
        let item = course.cached_decided_item(act.item).cloned().unwrap();
        course.undo_action(&act, item);
        assert_eq!(now(&course), Some(expected));
        assert_eq!(
            course.displayed_item().unwrap().earlier_answer(),
            Some(answer)
        );
    }
    assert!(course.undoable_actions().is_empty());
    // The undone decision is not replaced, and the item that was on screen comes again.
    let made = decide(&mut course, 3, AnnotatorAnswer::Equal);
    assert!(made.action.replaced_event_keys().is_empty());
    assert_eq!(now(&course), Some(1));
    assert_eq!(
        course.displayed_item().unwrap().earlier_answer(),
        Some(AnnotatorAnswer::Second)
    );
    decide(&mut course, 4, AnnotatorAnswer::Second);
    assert_eq!(now(&course), Some(2));
}

#[test]
fn a_changed_answer_replaces_the_one_of_before() {
    let mut course = course(&[0, 1]);
    let first = decide(&mut course, 1, AnnotatorAnswer::First);
    let act = course.undoable_actions().last().cloned().unwrap();
    course.reopen_item(&act, course.cached_decided_item(act.item).cloned().unwrap());
    assert!(course.displayed_item().unwrap().will_replace_decision());
    let second = decide(&mut course, 2, AnnotatorAnswer::Equal);
    assert_eq!(second.action.replaced_event_keys(), [first.key]);
    assert_eq!(
        (now(&course), course.undoable_actions().len()),
        (Some(1), 1)
    );
}

#[test]
fn training_tells_before_it_goes_on() {
    let mut course = AnnotationSession::default();
    let mut given = handed(&[1]);
    given.items.insert(0, item(0, AssignmentPhase::Training));
    course.add_received_items(given, 2, 0);
    let made = decide(&mut course, 1, AnnotatorAnswer::Second);
    assert_eq!(
        course.displayed_item().unwrap().feedback,
        Some(AnnotatorAnswer::First)
    );
    assert_eq!(course.unsent_progress_change(&[made]), 0);
    course.show_next_item();
    assert_eq!(now(&course), Some(1));
}

#[test]
fn what_is_decided_and_not_sent_is_not_shown_again() {
    let mut course = course(&[0, 1, 2]);
    decide(&mut course, 1, AnnotatorAnswer::First);
    assert_eq!(course.n_items_to_request(1), Some(2 + 1 + 8));
    course.add_received_items(handed(&[0, 1, 2, 3, 4, 5]), 6, 0);
    assert_eq!(course.n_items_to_request(1), None);
    let mut order = Vec::new();
    while let Some(number) = now(&course) {
        order.push(number);
        decide(&mut course, 10 + number as u8, AnnotatorAnswer::Equal);
    }
    assert_eq!(order, [1, 2, 3, 4, 5]);
}

#[test]
fn the_end_is_asked_for_once() {
    let mut course = course(&[0]);
    let mut last = handed(&[0]);
    last.n_leased_to_others = 3;
    course.add_received_items(last, 9, 0);
    assert_eq!(
        (
            course.n_items_to_request(0),
            course.n_items_leased_by_others()
        ),
        (None, 3)
    );
    course.allow_further_requests();
    assert_eq!(course.n_items_to_request(0), Some(9));
}

#[test]
fn an_expired_lease_is_of_another_annotator() {
    let mut course = course(&[0, 1, 2]);
    course.add_received_items(handed(&[0, 2]), 2, 5_000);
    decide(&mut course, 1, AnnotatorAnswer::First);
    assert_eq!(now(&course), Some(2));
}

#[test]
fn what_was_done_is_there_after_a_reload() {
    let done = |byte, number, fate| {
        let screen = DisplayedItem::new(item(number, AssignmentPhase::Main));
        let what = screen.create_decision(AnnotatorAnswer::First, RatingTagsAndNote::default(), 5);
        EventWithStatus {
            entry: ReceivedAnnotationEvent {
                person: PersonId(1),
                received_ms: 0,
                event: event(byte, what),
            },
            status: fate,
        }
    };
    let known = [
        done(3, 7, AnnotationEventValidity::Active),
        done(2, 6, AnnotationEventValidity::Undone),
        done(1, 5, AnnotationEventValidity::Active),
    ];
    let of = AnnotationEventKey::from_bytes([3; 16]);
    let unsent = [event(4, AnnotationEventAction::Undone { of })];
    let mut course = AnnotationSession::default();
    course.restore_history(&known, &unsent);
    let left: Vec<u32> = course
        .undoable_actions()
        .iter()
        .map(|it| it.item.0)
        .collect();
    assert_eq!(left, [5]);
    assert_eq!(course.unsent_progress_change(&unsent), -1);
    course.add_received_items(handed(&[5, 6, 7]), 3, 0);
    assert_eq!(now(&course), Some(6), "5 is decided");
}
