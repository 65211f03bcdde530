//! A study of ten million instances on a host of files.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::annotation::seeded_random::SeededRandom;
use crate::browser::front_end;
use crate::browser::static_server::StaticServer;
use crate::browser::tab::with_tab;
use crate::harness::{TestHome, study_file};

const N_QUERIES: usize = 1_100;
const DEPTH: usize = 100;
const N_INSTANCES: u64 = 10_000_000;

/// The most that may be read for the first rows of a list.
const MAX_BYTES: u64 = 2_000_000;

/// Follows a link within the page, and returns the milliseconds until its list has rows.
const TIME_TO_ROWS: &str = "
    const link = document.querySelector(`a[href='${arguments[0]}']`);
    const start = performance.now();
    link.click();
    while (!document.querySelector('a.line')) {
        await new Promise(requestAnimationFrame);
    }
    return performance.now() - start;";

/// Every query has its own word; the other words of its documents are few, so that nearly each pair
/// of them is an instance of LNC1 by the published code: one has a word once more than the other.
fn make_collection(home: &TestHome) {
    let mut random = SeededRandom::new(7);
    let (mut corpus, mut queries) = (String::new(), String::new());
    for query in 0..N_QUERIES {
        let id = format!("q{query}");
        writeln!(
            queries,
            r#"{{"_id":"{id}","text":"topic{query} w{query}"}}"#
        )
        .unwrap();
        for doc in 0..DEPTH + 5 {
            let length = 20 + random.below(60);
            let words = (0..length).map(|_| format!("v{}", random.below(40)));
            let words = words.collect::<Vec<_>>().join(" ");
            let text = format!("topic{query} {words}");
            let id = format!("d{query}-{doc}");
            writeln!(corpus, r#"{{"_id":"{id}","title":"","text":"{text}"}}"#).unwrap();
        }
    }
    home.write("collection/corpus.jsonl", corpus);
    home.write("collection/queries.jsonl", queries);
}

#[test]
fn ten_million_instances_open_from_a_host_of_files() {
    let dist = front_end().expect("`cargo xtask regress` builds the front end");
    let home = TestHome::new();
    make_collection(&home);
    let rest = format!(
        "pool = \"rank:bm25:{DEPTH}\"\nprobes = [\"lnc1\"]\nmodes = [\"code\"]\n\
         rankers = [\"bm25\", \"ql\"]\nanalyzer = {{ stemmer = \"none\" }}"
    );
    home.make_study(study_file("large", "Large", "collection", &rest));
    home.run("study export large --out studies")
        .expect_success();
    let index: serde_json::Value = serde_json::from_str(&home.read("studies/index.json")).unwrap();
    let n_instances = index[0]["n_instances"].as_u64().unwrap();
    assert!(n_instances > N_INSTANCES, "{n_instances}");

    let host = StaticServer::start(BTreeMap::from([
        ("/", dist),
        ("/studies", home.path("studies")),
    ]));
    with_tab(&host.origin, |tab| {
        tab.open("/studies/large");
        tab.wait_for_element("the map", "[role=grid] a.cell[data-step]");
        let _ = host.take_sent("/");
        let list = "/studies/large/rankers/ql/probes/lnc1/instances";
        let of_list = |view: &str| {
            let address = format!("{list}{view}");
            let script = "
                const link = document.createElement('a');
                link.href = arguments[0];
                document.querySelector('main').append(link);";
            tab.open("/studies/large");
            tab.wait_for_element("the map", "[role=grid] a.cell[data-step]");
            tab.js(script, &[address.as_str().into()]);
            let _ = host.take_sent("/");
            let ms = tab.js_async(TIME_TO_ROWS, &[address.as_str().into()]);
            let sent = host.take_sent("/studies");
            let n_bytes: u64 = sent.iter().map(|it| it.1).sum();
            println!(
                "{n_instances} instances {view}: {:.0} ms, {} requests, {n_bytes} bytes",
                ms.as_f64().unwrap(),
                sent.len()
            );
            assert!(n_bytes < MAX_BYTES, "{view}: {n_bytes}: {sent:?}");
        };
        for view in [
            "",
            "?outcome=violated",
            "?sort=margin-descending",
            "?sort=absolute-margin",
            "?sort=query",
            "?query_filter=topic77",
            "?sort=margin-ascending&min_margin=0.001",
        ] {
            of_list(view);
        }
    });
}
