//! The About page: every axiom with an example that is computed when the page opens.

use shared::probe::{Axiom, Manipulation};

use super::demo_site;
use super::tab::{AriaRole, ColorScheme, with_tab};

#[test]
fn every_axiom_is_told_with_a_live_example() {
    with_tab(demo_site::origin(), |tab| {
        tab.open("/about");
        for axiom in Axiom::ALL {
            let part = tab.text(&format!("#{}", axiom.slug()));
            let example: &[&str] = if axiom.needs_word_vectors() {
                &["needs word vectors"]
            } else {
                &["Worked example", "BM25"]
            };
            let words = [
                axiom.probe_description().statement,
                axiom.probe_description().source,
            ];
            for &said in words.iter().chain(example) {
                assert!(part.contains(said), "{said} in {part}");
            }
        }
        for manipulation in Manipulation::ALL {
            let part = tab.text(&format!("[id='manipulation-{manipulation}']"));
            assert!(
                part.contains(manipulation.probe_description().statement),
                "{part}"
            );
        }
        tab.wait_for_element("a text in reverse", "#manipulation-reverse-words .moved");
        assert_eq!(
            tab.count(".manipulations dd .note"),
            Manipulation::NEEDING_RESOURCES.len() as u64
        );
        for (part, name) in [
            ("differ", "Compare rankers"),
            ("inside", "Late interaction"),
        ] {
            tab.follow_link(name, &format!("/about#{part}"));
        }
        assert!(tab.has(AriaRole::Link, "/api/docs"));
        tab.follow_link("Open in the Playground, TFC2", "/playground#");
        tab.wait_until(
            "TFC2 applies",
            "
            return [...document.querySelectorAll('.holds:not(.not)')]
                .some(it => it.querySelector('b').textContent === 'TFC2')",
        );
        assert!(tab.has(AriaRole::Textbox, "Document C"));
    });
}

#[test]
fn a_term_explains_itself_to_keyboard_and_pointer() {
    const TERM: &str = "[aria-labelledby=numbers] button.term";
    let open = "
        const popover = document.querySelector('#term-definition:popover-open');
        const {left, right} = popover?.getBoundingClientRect() || {};
        return left >= 0 && right <= innerWidth
            && popover.textContent.startsWith('By how much an instance is satisfied')
            && document.activeElement.getAttribute('aria-describedby') === 'term-definition'";
    let closed = "
        return !document.querySelector('#term-definition:popover-open')
            && !document.querySelector('[aria-describedby=term-definition]')";
    with_tab(demo_site::origin(), |tab| {
        tab.set_viewport(320, ColorScheme::Light);
        tab.open("/about");
        tab.wait_for_element("the term", TERM);
        tab.press(thirtyfour::Key::Tab);
        tab.js(&format!("document.querySelector('{TERM}').focus()"), &[]);
        tab.wait_until("a definition of the focused term", open);
        tab.press(thirtyfour::Key::Escape);
        tab.wait_until("no definition after Escape", closed);
        tab.click_at(TERM);
        tab.wait_until("a definition of the term that was clicked", open);
        tab.click_at("h1");
        tab.wait_until("no definition after a click elsewhere", closed);
    });
}

#[test]
fn keys_and_theme_are_everywhere() {
    with_tab(demo_site::origin(), |tab| {
        tab.open("/about");
        tab.press("?");
        tab.wait_until(
            "the keys",
            "return document.querySelector('dialog[open]')?.innerText.includes('Arrow keys move')",
        );
        tab.press(thirtyfour::Key::Escape);
        tab.wait_until(
            "no dialog",
            "return !document.querySelector('dialog[open]')",
        );
        tab.press("t");
        tab.wait_until(
            "light",
            "return document.documentElement.dataset.theme === 'light'",
        );
        tab.press("t");
        tab.wait_until(
            "dark",
            "return document.documentElement.dataset.theme === 'dark'",
        );
        tab.reload();
        tab.wait_until(
            "dark after a reload",
            "return document.documentElement.dataset.theme === 'dark'",
        );
    });
}
