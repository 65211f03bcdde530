//! The Playground evaluates its input after every keystroke.

use super::demo_site;
use super::tab::{AriaRole, BrowserTab, with_tab};

/// Returns the status of an axiom.
fn stands(tab: &BrowserTab, axiom: &str) -> String {
    let script = "return [...document.querySelectorAll('.holds')]
        .find(it => it.querySelector('b').textContent === arguments[0])
        ?.querySelector('.verdict').textContent";
    tab.js(script, &[axiom.into()])
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

fn until_stands(tab: &BrowserTab, axiom: &str, pattern: &str) {
    let script = format!(
        "return /{pattern}/.test([...document.querySelectorAll('.holds')]
            .find(it => it.querySelector('b').textContent === '{axiom}')
            ?.querySelector('.verdict').textContent)"
    );
    tab.wait_until(&format!("{axiom}: {pattern}"), &script);
}

#[test]
fn typing_changes_what_applies_and_what_rankers_say() {
    with_tab(demo_site::origin(), |tab| {
        tab.open("/playground");
        tab.fill("Query", "river bank");
        tab.fill("Document A", "the river took the bank and the river stayed");
        tab.fill("Document B", "the river took the field and the mud stayed");
        until_stands(tab, "TFC1", "applies: A should score higher than B");
        tab.wait_until(
            "BM25 agrees",
            "
            return /BM25/.test(document.querySelector('.holds .agree').textContent)",
        );
        // With one more word on the other side, the order is reversed.
        tab.fill(
            "Document B",
            "the river bank took the bank and the river bank stayed",
        );
        until_stands(tab, "TFC1", "applies: B should score higher than A");
        tab.fill("Document B", "the river took the bank and the river stayed");
        until_stands(tab, "TFC1", "preconditions? not satisfied");
        // The input can be shared: the link alone restores it.
        tab.wait_until(
            "a link to what was typed last",
            "
            return decodeURIComponent(location.hash).endsWith('took the bank and the river stayed')
                && !location.hash.includes('mud')",
        );
        let link = tab.address();
        tab.open("/about");
        tab.open(&link);
        until_stands(tab, "TFC1", "preconditions? not satisfied");
    });
}

#[test]
fn a_worked_example_can_be_changed_by_a_button_and_taken_back() {
    with_tab(demo_site::origin(), |tab| {
        tab.open("/playground");
        tab.click(AriaRole::Button, "TFC1 example");
        until_stands(tab, "TFC1", "applies");
        let before = tab.js("return document.querySelector('#text-A').value", &[]);
        let edits = tab.js(
            "return [...document.querySelectorAll('[aria-label=\"Edit document A\"] button')]
                .map(it => it.textContent.trim())",
            &[],
        );
        let edit = edits[0].as_str().unwrap().to_owned();
        tab.click(AriaRole::Button, &edit);
        tab.wait_for_element("a difference", ".changed");
        tab.click(AriaRole::Button, "Undo Ctrl Z in document A");
        tab.wait_until(
            "no difference",
            "return !document.querySelector('.changed')",
        );
        assert_eq!(
            tab.js("return document.querySelector('#text-A').value", &[]),
            before
        );
        assert!(stands(tab, "TFC1").starts_with("applies"));
        // Without a model on the server, the page says so.
        tab.wait_for_text("Neural scoring is off");
    });
}

#[test]
fn a_link_put_in_the_place_of_another_is_followed_and_taken_back() {
    with_tab(demo_site::origin(), |tab| {
        tab.open("/playground#query=river&doc1=a river&doc2=a bank");
        until_stands(tab, "TFC1", "preconditions? not satisfied");
        tab.js("location.hash = '#query=lake&text1=a lake&text2=mud'", &[]);
        tab.wait_for_text("Opened another link");
        let query = "return document.querySelector('#playground-query').value";
        tab.wait_until("the other query", &format!("{query} === 'lake'"));
        tab.click(AriaRole::Button, "Restore previous content");
        tab.wait_until("the first query", &format!("{query} === 'river'"));
    });
}

#[test]
fn further_axioms_and_formulas_are_measured_as_one_types() {
    with_tab(demo_site::origin(), |tab| {
        tab.open("/playground#query=river bank&doc1=the river bank&doc2=a bank by the river");
        until_stands(tab, "TP", "applies");
        let field = "Further axioms and axiom formulas, for example: prox1, tfc1 & tp";
        tab.fill(field, "prox1, prox1 & tp, m_and");
        until_stands(tab, "PROX1", "applies");
        until_stands(tab, "prox1&tp", "applies");
        until_stands(tab, "M-AND", "preconditions? not satisfied");
        tab.fill(field, "prox1, tfc1 +");
        tab.wait_for_text("expected the name of an axiom");
    });
}

#[test]
fn a_manipulation_makes_one_text_of_the_other_and_says_its_effect() {
    with_tab(demo_site::origin(), |tab| {
        tab.open("/playground#query=ice&doc1=Ice melts. Mud stays.&doc2=mud");
        let text_b = "return document.querySelector('#text-B').value";
        tab.choose("Manipulation of document A", "Reverse sentences");
        tab.click(AriaRole::Button, "Write to document B, from document A");
        tab.wait_until("text B", &format!("{text_b} === 'Mud stays. Ice melts.'"));
        // The order of sentences does not affect a lexical ranker.
        tab.wait_for_text("Effect of Reverse sentences");
        let effects = "return [...document.querySelectorAll('.effect-of tbody tr')]
            .map(it => it.lastElementChild.textContent).join()";
        tab.wait_until("no effect", &format!("{effects} === '0,0'"));
        tab.choose("Manipulation of document A", "Drop query terms");
        tab.click(AriaRole::Button, "Write to document B, from document A");
        tab.wait_for_text("Effect of Drop query terms");
        tab.wait_until("an effect", &format!("{effects} === '−1,−1'"));
        tab.choose("Manipulation of document A", "Change numbers");
        tab.click(AriaRole::Button, "Apply to document A");
        tab.wait_for_text("Change numbers does not change document A.");
        tab.click(AriaRole::Button, "Undo Ctrl Z in document B");
        tab.wait_until(
            "text B as it was",
            &format!("{text_b} === 'Mud stays. Ice melts.'"),
        );
        tab.wait_until(
            "no effect told",
            "return !document.querySelector('.effect-of')",
        );
    });
}
