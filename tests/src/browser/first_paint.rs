//! What a page shows before its program is loaded.

use std::sync::LazyLock;

use serde_json::json;

use super::background_process::SharedServer;
use super::demo_site;
use super::tab::with_tab;
use crate::harness::{TestHome, demo_folder, study_file, tiny_model};

/// The first text of the demo study that LNC2 repeats, and its query.
const INSTANCE: &str = "/studies/demo/probes/lnc2/instances/0";

#[test]
fn the_server_writes_what_the_page_shows() {
    for path in [
        "/",
        "/studies/demo",
        "/playground",
        "/annotation/tasks",
        INSTANCE,
    ] {
        with_tab(demo_site::origin(), |tab| {
            tab.open(path);
            let page = tab.js_async("return (await fetch(arguments[0])).text()", &[json!(path)]);
            let (_, written) = page
                .as_str()
                .unwrap()
                .split_once("<h1>")
                .expect("a heading");
            let (heading, _) = written.split_once("</h1>").unwrap();
            let same = format!(
                "return document.querySelector('h1').innerText === {}",
                json!(heading)
            );
            tab.wait_until(heading, &same);
            // The program has removed what the server wrote.
            assert_eq!(tab.count("h1"), 1, "{path}");
            assert_eq!(tab.count("#first-paint"), 0, "{path}");
        });
    }
}

/// A study whose model reads 64 tokens.
static SHORT_SIGHTED: LazyLock<SharedServer> = LazyLock::new(|| {
    let home = TestHome::new();
    let model = tiny_model();
    let rest = format!(
        "n_queries = 4\npool = \"judged\"\nprobes = [\"lnc2\"]\nrankers = [\"bm25\", \"{}:bi\"]",
        model.display()
    );
    home.make_study(study_file("short", "Short-sighted", demo_folder(), &rest));
    SharedServer::start(home, &["--model", &model.to_string_lossy()])
});

#[test]
fn a_text_is_marked_where_a_model_stopped_reading() {
    with_tab(&SHORT_SIGHTED.origin, |tab| {
        tab.open("/studies/short/probes/lnc2/instances/0");
        tab.wait_for_text("stops reading here");
        let split = tab.js(
            "const mark = document.querySelector('.docs .text .reading-end');
             const text = mark.parentElement.textContent;
             return [text.indexOf(mark.textContent), text.length];",
            &[],
        );
        let [at, length] = [0, 1].map(|it| split[it].as_u64().unwrap());
        // The title of the document is outside this element, or at its beginning.
        assert!((20..length - 20).contains(&at), "{at} of {length}");
    });
}
