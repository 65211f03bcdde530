//! An annotator who uses only the keyboard, and decides by what is on screen.

use serde_json::{Value, json};
use shared::annotation::{AnnotatorAnswer, DocumentDisplayOrder, ItemNo};

use super::{Items, SPARE};
use crate::annotation::answers;
use crate::browser::tab::BrowserTab;

/// Returns the query and both documents on screen; nothing while there is no item.
const SHOWN: &str = "
    const plain = it => it.textContent.replace(/\\s+/g, ' ').trim();
    const query = document.querySelector('h1#item.query');
    const texts = [...document.querySelectorAll('article.doc .text')];
    if (!query || texts.length !== 2) return null;
    return [query, ...texts].map(plain)";

/// An annotator in a browser.
pub(super) struct BrowserAnnotator<'a> {
    tab: &'a BrowserTab,
    items: &'a Items,
    /// The index of the annotator: Ann is 0, Ben is 1.
    index: usize,
    /// The items that were decided or skipped, in order.
    finished: Vec<ItemNo>,
}

impl BrowserAnnotator<'_> {
    pub(super) fn new<'a>(
        tab: &'a BrowserTab,
        items: &'a Items,
        place: usize,
    ) -> BrowserAnnotator<'a> {
        BrowserAnnotator {
            tab,
            items,
            index: place,
            finished: Vec::new(),
        }
    }

    /// Returns how many items were decided or skipped.
    pub(super) fn n_finished(&self) -> usize {
        self.finished.len()
    }

    /// Waits for an item; returns its number and the display order of its documents.
    pub(super) fn wait_for_item(&self) -> (ItemNo, DocumentDisplayOrder) {
        let shown = self.tab.wait_until("an item", SHOWN);
        let text = |at: usize| shown[at].as_str().unwrap().to_owned();
        let claimed = [text(0), text(1), text(2)];
        let swapped = [text(0), text(2), text(1)];
        match (self.items.get(&claimed), self.items.get(&swapped)) {
            (Some(&item), _) => (item, DocumentDisplayOrder::ClaimOrder),
            (None, Some(&item)) => (item, DocumentDisplayOrder::Swapped),
            (None, None) => panic!("no such item: {claimed:?}"),
        }
    }

    /// Answers according to the table in [`answers`]; Ben skips items for which he has no answer.
    pub(super) fn decide(&mut self) {
        let (item, sides) = self.wait_for_item();
        let answer = match item {
            SPARE if self.index == 1 => return self.skip(),
            SPARE => AnnotatorAnswer::CannotSay,
            item => answers::both()[item.0 as usize][self.index],
        };
        let key = match sides.convert_answer_order(answer) {
            AnnotatorAnswer::First => "1",
            AnnotatorAnswer::Equal => "2",
            AnnotatorAnswer::Second => "3",
            AnnotatorAnswer::CannotSay => "4",
        };
        self.by_key(item, key);
    }

    /// Skips the displayed item by keyboard.
    pub(super) fn skip(&mut self) {
        let (item, _) = self.wait_for_item();
        self.tab.press("s");
        self.tab
            .wait_for_element("why it is passed over", "dialog[open]");
        self.by_key(item, "1");
    }

    fn by_key(&mut self, item: ItemNo, key: &str) {
        let before = self.tab.js(SHOWN, &[]);
        self.tab.press(key);
        self.finished.push(item);
        self.moved_from(&before);
    }

    /// Undoes the last action, after which its item is on screen again.
    pub(super) fn undo(&mut self) {
        let before = self.tab.js(SHOWN, &[]);
        self.tab.press("u");
        self.moved_from(&before);
        let last = self.finished.pop().expect("there is something to undo");
        assert_eq!(self.wait_for_item().0, last);
    }

    /// Says of the last decision that the axiom's reason matters, and returns to the next item. The
    /// reason is not on screen before the decision.
    pub(super) fn rate_reason(&self) {
        const REASON: &str = "return document.body.innerText.includes('axiom’s reason (')";
        let next = self.tab.js(SHOWN, &[]);
        assert_eq!(
            self.tab.js(REASON, &[]),
            false,
            "the reason is shown before"
        );
        self.tab.press("m");
        self.moved_from(&next);
        assert_eq!(Some(&self.wait_for_item().0), self.finished.last());
        self.tab.wait_until("the reason", REASON);
        let decided = self.tab.js(SHOWN, &[]);
        self.tab.press("m");
        self.tab.wait_for_text("The axiom’s reason matters");
        self.tab.press('\u{E007}'.to_string());
        self.moved_from(&decided);
        assert_eq!(self.tab.js(SHOWN, &[]), next);
    }

    /// Waits until something else is on screen.
    fn moved_from(&self, before: &Value) {
        let script = format!(
            "const shown = (() => {{ {SHOWN} }})();
             return JSON.stringify(shown) !== JSON.stringify({})
                 && !document.querySelector('dialog[open]')",
            json!(before)
        );
        self.tab.wait_until("another item", &script);
    }
}
