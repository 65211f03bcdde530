//! The Playground evaluates its input after every keystroke.

use super::demo_site;
use super::tab::{AriaRole, BrowserTab, ColorScheme, with_tab};

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
fn the_page_opens_with_an_example_that_typing_replaces() {
    with_tab(demo_site::origin(), |tab| {
        let query = "return document.querySelector('#playground-query').value";
        tab.open("/playground");
        tab.wait_for_text("This is an example.");
        tab.wait_for_text("BM25 violates it; QL satisfies it.");
        tab.wait_for_text("“feed” decides");
        // A click selects the text of the field, and the next one sets the cursor.
        tab.click_at("#playground-query");
        tab.press("ice");
        tab.wait_until("the query that was typed", &format!("{query} === 'ice'"));
        tab.wait_until(
            "no example",
            "return !document.querySelector('.example-of')",
        );
        tab.click_at("#playground-query");
        tab.press("s");
        tab.wait_until("a longer query", &format!("{query}.length === 4"));

        // An empty page has an address of its own, and a link of an input is not replaced.
        tab.open("/about");
        tab.open("/playground");
        tab.click(AriaRole::Button, "Start empty");
        tab.wait_for_text("Type a query and two documents above");
        tab.wait_until("an address", "return location.hash.startsWith('#query=')");
        tab.reload();
        tab.wait_for_text("Type a query and two documents above");
        assert_eq!(tab.js(query, &[]), "");
        assert_eq!(tab.count(".example-of"), 0);
    });
}

#[test]
fn results_stand_above_the_settings_which_open_when_one_is_invalid() {
    with_tab(demo_site::origin(), |tab| {
        for width in [320, 390, 1440] {
            tab.set_viewport(width, ColorScheme::Light);
            tab.open("/playground");
            tab.wait_for_text("a–z and digits, stop words kept, Porter stemmer; BM25 k1 = 1.2");
            let wrong = tab.js(
                "const top = it => document.querySelector(it).getBoundingClientRect().top;
                 const order = ['.docs', '.bench', 'details.chosen-settings'].map(top);
                 const wide = document.documentElement;
                 return [order[0] < order[1] && order[1] < order[2],
                     !document.querySelector('details.chosen-settings').open,
                     wide.scrollWidth <= wide.clientWidth].indexOf(false)",
                &[],
            );
            assert_eq!(wrong, -1, "{width}");
        }
        tab.open("/playground#query=ice&doc1=ice&doc2=mud&k1=-1");
        tab.wait_for_text("`-1` is not a number of at least 0");
        assert!(tab.has(AriaRole::Textbox, "k1"));
    });
}

#[test]
fn the_parts_of_a_score_add_up_to_it() {
    with_tab(demo_site::origin(), |tab| {
        tab.open("/playground");
        tab.wait_for_text("“sourdough” decides");
        // The rows are terms, document length, background model, and the score.
        let sums = tab.js(
            "const number = it => Number(it.textContent.replace('−', '-'));
             return [...document.querySelectorAll('#rankers')].map(it => it.closest('section'))
                 .flatMap(it => [...it.querySelectorAll('table')])
                 .map(table => [...table.querySelectorAll('tbody tr')])
                 .flatMap(rows => [1, 2, 4].map(column => {
                     const values = rows.map(row => number(row.children[column]));
                     const score = values.pop();
                     const sum = values.reduce((a, b) => a + b);
                     return Math.abs(sum - score) < 0.003 && rows.length;
                 }))",
            &[],
        );
        assert_eq!(sums, serde_json::json!([4, 4, 4, 6, 6, 6]));
        let lengths = tab.js(
            "return [...document.querySelectorAll('.scored tbody td.num:last-child')]
                 .map(it => it.textContent.split('.')[1]?.length ?? 0)",
            &[],
        );
        assert_eq!(lengths.as_array().unwrap()[4..10], [4, 4, 4, 4, 4, 4]);
    });
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
        tab.click_at("details.chosen-settings > summary");
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
