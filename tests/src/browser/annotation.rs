//! The life of an annotation task in the browser: a curator and two annotators, each with their own
//! browser. The annotators use only the keyboard.

mod annotator;
mod page_text;

use std::collections::BTreeMap;

use shared::annotation::event::{AnnotationDecision, AnnotationEventAction};
use shared::annotation::export::ExportedAnnotationEvent;
use shared::annotation::log::AnnotationEventValidity;
use shared::annotation::{AnnotatorAnswer, AxiomReasonRating, ItemNo, PersonId};
use shared::api::annotation::{GetItemHistoryRequest, ListDisputesRequest, TaskId};
use shared::api::people::AccessRole;

use super::network::NetworkState;
use super::tab::{AriaRole, BrowserTab, with_tab};
use super::{front_end, readability};
use crate::annotation::answers::{self, ALPHA, ALPHA_ORDINAL, COHEN, FLEISS, N, N_SPLIT, RAW};
use crate::annotation::{STUDY, invite, make_study, open_task, task};
use crate::harness::{TestHome, TestServer};
use annotator::BrowserAnnotator;
use page_text::{column, number};

/// Ann answers "cannot say" to it; Ben skips it.
const SPARE: ItemNo = ItemNo(N as u32);

/// The items by their query and documents, in the order of the claim.
type Items = BTreeMap<[String; 3], ItemNo>;

#[test]
fn two_annotators_and_a_curator_bring_a_task_to_its_end() {
    if front_end().is_none() {
        return;
    }
    for home in TestHome::of_each_database() {
        make_study(&home);
        let server = home.serve(&[]);
        let made = open_task(&server, task(N as u32 + 1, 2));
        let task = made.summary.task;
        let items = items(&server, task);
        with_tab(&server.address, |carla| {
            let link = server.call(&invite(AccessRole::Curator)).token;
            carla.open(&format!("/join#{link}"));
            join(carla, "Carla");
            let links = [(); 2].map(|()| invited(carla));
            readability::expect_readable(carla, "annotators");

            let ann = carla.second_browser();
            alone(&ann, (task, &items), &links[0]);
            ann.expect_no_console_errors();
            drop(ann);
            let ben = carla.second_browser();
            with_the_network_cut(&ben, (task, &items), &links[1]);
            drop(ben);

            expect_agreement(carla, &home, task);
            settle(carla, &server, task);
            expect_export(carla, &home, task);
            expect_review_filter(carla);
            carla.open("/annotation/tasks");
            carla.wait_for_text("Which text is better?");
            readability::expect_readable(carla, "reviews");
        });
    }
}

/// Answers of the browser's storage arrive after the page has stopped waiting for them.
const LATE_STORAGE: &str = "
    const found = Object.getOwnPropertyDescriptor(IDBRequest.prototype, 'onsuccess');
    window.lateAnswers = 0;
    Object.defineProperty(IDBRequest.prototype, 'onsuccess', {
        ...found,
        set(listener) {
            const answer = event => { window.lateAnswers += 1; listener.call(this, event); };
            found.set.call(this, listener && (event => setTimeout(answer, 6000, event)));
        },
    });";

/// Opens a database of the browser once, and returns whether it answered; a loaded machine can take
/// longer than the page waits.
const STORAGE_READY: &str = "
    if (window.storageReady === undefined) {
        window.storageReady = false;
        const asked = indexedDB.open('ready');
        asked.onsuccess = () => { asked.result.close(); window.storageReady = true; };
        asked.onerror = () => { window.storageReady = `failed: ${asked.error}`; };
    }
    return window.storageReady";

#[test]
fn storage_that_answers_too_late_does_no_harm() {
    if front_end().is_none() {
        return;
    }
    let home = TestHome::new();
    make_study(&home);
    let server = home.serve(&[]);
    let task = open_task(&server, task(N as u32 + 1, 2)).summary.task;
    let items = items(&server, task);
    let link = server.call(&invite(AccessRole::Annotator)).token;
    with_tab(&server.address, |tab| {
        tab.open("/about");
        assert_eq!(tab.wait_until("storage", STORAGE_READY), true);
        tab.before_pages(LATE_STORAGE);
        tab.open(&format!("/join#{link}"));
        join(tab, "Ann");
        tab.open(&format!("/annotation/tasks/{}", task.0));
        let mut ann = BrowserAnnotator::new(tab, &items, 0);
        ann.wait_for_item();
        ann.decide();
        tab.wait_until("everything saved", SAVED);
        tab.wait_until("a late answer", "return window.lateAnswers > 0");
    });
}

/// Returns the items as the operator sees them; the server of a test treats everybody as the
/// operator.
fn items(server: &TestServer, task: TaskId) -> Items {
    let items = (0..=SPARE.0).map(ItemNo).map(|item| {
        let content = server.call(&GetItemHistoryRequest { task, item }).content;
        let texts = [&content.query, &content.documents[0], &content.documents[1]];
        (texts.map(|it| page_text::plain(&it.text)), item)
    });
    let items: Items = items.collect();
    assert_eq!(items.len(), N + 1, "two items look the same");
    items
}

/// Enters a name on the page of an invitation link.
fn join(tab: &BrowserTab, name: &str) {
    tab.fill("Display name", name);
    tab.press('\u{E007}'.to_string());
    tab.wait_until(
        "to be known",
        "return fetch('/api/session').then(it => it.json()).then(it => !!it.person)",
    );
}

/// Invites an annotator on the page; returns the path of the link.
fn invited(tab: &BrowserTab) -> String {
    tab.open("/people");
    tab.click(AriaRole::Button, "Create link");
    let link = "return document.querySelector('[aria-label=\"Invitation link\"]')?.value";
    let link = tab.wait_until("a link", link);
    let (_, token) = link.as_str().unwrap().split_once("/join#").unwrap();
    format!("/join#{token}")
}

/// The list of instances can be limited to those that were reviewed, and to the others.
fn expect_review_filter(tab: &BrowserTab) {
    let list = format!("/studies/{STUDY}/rankers/bm25/probes/tfc1/instances");
    tab.open(&list);
    tab.wait_for_element("rows", "a.line");
    const N_LISTED: &str = "
        const said = document.querySelector('.listing p.note[role=status]')?.innerText ?? '';
        const found = said.match(/^([0-9,]+) instances?$/);
        return found && Number(found[1].replaceAll(',', ''))";
    let n_listed = || tab.wait_until("a count", N_LISTED).as_u64().unwrap();
    let n_all = n_listed();
    tab.choose("Review", "reviewed");
    tab.wait_for_address(&format!("{list}?review_status=reviewed"));
    tab.wait_for_text(&format!("{} instances", N + 1));
    readability::expect_readable(tab, "instances-reviewed");
    tab.choose("Review", "not reviewed");
    tab.wait_for_address(&format!("{list}?review_status=not-reviewed"));
    tab.wait_until(
        "the others",
        &format!(
            "return (() => {{ {N_LISTED} }})() === {}",
            n_all - N as u64 - 1
        ),
    );
}

/// Ann decides on all items, undoes one decision, and rates the axiom's reason for one.
fn alone(tab: &BrowserTab, (task, items): (TaskId, &Items), link: &str) {
    tab.open(link);
    readability::expect_readable(tab, "join");
    join(tab, "Ann");
    tab.open(&format!("/annotation/tasks/{}", task.0));
    let mut ann = BrowserAnnotator::new(tab, items, 0);
    ann.wait_for_item();
    readability::expect_readable(tab, "annotation");
    expect_tags_are_checked_in_the_page(tab);
    for at in 0..=N {
        ann.decide();
        if at == 5 {
            ann.undo();
            // Longer than the rating afterwards takes by itself.
            std::thread::sleep(std::time::Duration::from_secs(3));
            ann.decide();
            ann.rate_reason();
        }
    }
    tab.wait_for_text("No items left for you");
    tab.wait_until("everything saved", SAVED);
}

/// Tags are checked and normalized when they are added, which is before anything is sent.
fn expect_tags_are_checked_in_the_page(tab: &BrowserTab) {
    let add = |tag: &str| {
        tab.fill("Your own tag", tag);
        tab.click(AriaRole::Button, "Add");
    };
    for (tag, reason) in [
        ("a\u{200B}b", "contains an invisible character (U+200B)"),
        ("\u{3164}", "contains only invisible characters"),
    ] {
        add(tag);
        tab.wait_for_text(reason);
    }
    // A letter and its accent become one character.
    add("e\u{301}cru");
    tab.click(AriaRole::Button, "\u{E9}cru");
    tab.wait_until(
        "that the tag is taken off",
        "return ![...document.querySelectorAll('.tag')].some(it => it.innerText.includes('cru'))",
    );
}

/// Waits until every event is saved.
const SAVED: &str = "const said = document.querySelector('.mine')?.innerText ?? '';
    return said.includes('saved') && !/waiting|being sent|refused/.test(said)";

/// Ben loses the network in the middle and continues; he also undoes a decision and skips an item.
fn with_the_network_cut(tab: &BrowserTab, (task, items): (TaskId, &Items), link: &str) {
    tab.open(link);
    join(tab, "Ben");
    tab.open(&format!("/annotation/tasks/{}", task.0));
    let mut ben = BrowserAnnotator::new(tab, items, 1);
    ben.wait_for_item();
    for _ in 0..20 {
        ben.decide();
    }
    tab.wait_until("everything saved", SAVED);
    tab.expect_no_console_errors();
    tab.network(NetworkState::Offline);
    ben.decide();
    ben.decide();
    ben.undo();
    ben.decide();
    ben.skip();
    ben.undo();
    ben.decide();
    tab.wait_for_text("waiting for the network");
    tab.network(NetworkState::Online);
    tab.wait_until("everything saved", SAVED);
    tab.expect_in_console("ERR_INTERNET_DISCONNECTED");
    while ben.n_finished() <= N {
        ben.decide();
    }
    tab.wait_for_text("No items left for you");
    tab.wait_until("everything saved", SAVED);
    // These are the requests of the last moments without a network.
    tab.expect_in_console("ERR_INTERNET_DISCONNECTED");
}

/// Compares the page of the curator with the values calculated by hand in [`answers`].
fn expect_agreement(tab: &BrowserTab, home: &TestHome, task: TaskId) {
    tab.open(&format!(
        "/annotation/tasks/{}/curate?tab=agreement",
        task.0
    ));
    tab.wait_for_text("Inter-annotator agreement");
    readability::expect_readable(tab, "agreement");
    let button = "Save Inter-annotator agreement as CSV";
    let table = tab.download(&home.path(""), button, "annotation-agreement.csv");
    let all = |name: &str, by_hand: f64| {
        let found = number(&table, "all", name);
        assert!((found - by_hand).abs() < 5e-5, "{name}: {found}, {by_hand}");
    };
    all("items", N as f64);
    all("raw", RAW);
    all("Fleiss’ κ", FLEISS);
    all("α nominal", ALPHA);
    all("α ordinal", ALPHA_ORDINAL);
    let button = "Save Pairs of annotators as CSV";
    let table = tab.download(&home.path(""), button, "annotation-pairs.csv");
    assert_eq!(column(&table, "Ann", "annotator 2"), "Ben");
    let found = number(&table, "Ann", "Cohen’s κ");
    assert!((found - COHEN).abs() < 5e-5, "{found}");

    tab.open(&format!("/annotation/tasks/{}/curate?tab=progress", task.0));
    tab.wait_for_text("Ben");
    readability::expect_readable(tab, "progress");
    tab.open(&format!("/annotation/tasks/{}/curate", task.0));
    tab.wait_for_text("Which text is better?");
    readability::expect_readable(tab, "curate");
}

/// Carla adjudicates the first item of the queue with a key.
fn settle(tab: &BrowserTab, server: &TestServer, task: TaskId) {
    tab.open(&format!(
        "/annotation/tasks/{}/curate?tab=adjudication",
        task.0
    ));
    tab.wait_for_text(&format!("{N_SPLIT} items"));
    tab.wait_for_element("the item", ".settle .decide");
    readability::expect_readable(tab, "adjudication");
    tab.wait_for_text("Shown after your decision.");
    tab.press("2");
    tab.wait_for_text("Adjudicated");
    tab.wait_for_text(&format!("{} items", N_SPLIT - 1));
    assert_eq!(
        server.call(&ListDisputesRequest { task }).len(),
        N_SPLIT - 1
    );
}

fn decision(row: &ExportedAnnotationEvent) -> Option<&AnnotationDecision> {
    match &row.event.action {
        AnnotationEventAction::Decided(decision) => Some(decision),
        _ => None,
    }
}

/// Checks that the export has the answers that were given on screen.
fn expect_export(tab: &BrowserTab, home: &TestHome, task: TaskId) {
    tab.open(&format!("/annotation/tasks/{}/curate?tab=export", task.0));
    tab.wait_for_text("Every event with its history");
    readability::expect_readable(tab, "export");
    let file = tab.download(
        &home.path(""),
        "JSONL",
        &format!("annotation-{}.jsonl", task.0),
    );
    let rows: Vec<ExportedAnnotationEvent> = file
        .lines()
        .map(|it| serde_json::from_str(it).unwrap())
        .collect();
    let mut stands: BTreeMap<(PersonId, ItemNo), AnnotatorAnswer> = BTreeMap::new();
    let active = rows
        .iter()
        .filter(|it| it.status == AnnotationEventValidity::Active);
    let is_rated =
        |it: &&AnnotationDecision| it.comment.reason_rating == Some(AxiomReasonRating::Matters);
    let rated: Vec<&AnnotationDecision> = active.filter_map(decision).filter(is_rated).collect();
    assert_eq!(rated.len(), 1);
    let replaced = rows.iter().find(|it| it.event.key == rated[0].replaces[0]);
    let replaced = replaced.and_then(decision).unwrap();
    assert_eq!(replaced.answer, rated[0].answer);
    assert!(replaced.duration_ms >= 2_500, "{}", replaced.duration_ms);
    assert!(
        replaced.duration_ms <= rated[0].duration_ms,
        "the time of the decision is lost"
    );
    for row in &rows {
        if let (AnnotationEventAction::Decided(it), AnnotationEventValidity::Active) =
            (&row.event.action, row.status)
        {
            let before = stands.insert((row.person, it.item), it.answer);
            assert_eq!(before, None, "two decisions stand");
        }
    }
    let mut people: Vec<PersonId> = stands.keys().map(|it| it.0).collect();
    people.dedup();
    // The people are in the order in which they joined.
    let [ann, ben] = people[..] else {
        panic!("{people:?}")
    };
    assert_eq!(
        stands.remove(&(ann, SPARE)),
        Some(AnnotatorAnswer::CannotSay)
    );
    let expected = answers::both().into_iter().zip((0..).map(ItemNo));
    let expected: BTreeMap<_, _> = expected
        .flat_map(|([first, second], item)| [((ann, item), first), ((ben, item), second)])
        .collect();
    assert_eq!(stands, expected);
    let n = |holds: &dyn Fn(&ExportedAnnotationEvent) -> bool| {
        rows.iter().filter(|it| holds(it)).count()
    };
    assert_eq!(n(&|it| it.status == AnnotationEventValidity::Undone), 3);
    let passed_over =
        |it: &ExportedAnnotationEvent| matches!(it.event.action, AnnotationEventAction::Skipped(_));
    assert!(n(&passed_over) >= 2);
    assert_eq!(
        n(&|it| passed_over(it) && it.status == AnnotationEventValidity::Active),
        1
    );
    assert_eq!(
        n(&|it| matches!(it.event.action, AnnotationEventAction::Adjudicated(_))),
        1
    );
}
