//! The browser and the native program agree in every bit.
//!
//! The worker of the built front end reads the same files and makes the same study as this
//! program: instances, pairs, scores, intervals. Both are compared as JSON: `serde_json` writes
//! the shortest decimal that reads back as the same `f64`, so equal texts are equal bits.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::{Value, json};
use shared::api::worker::{Ask, Envelope, LOCAL, Tell};
use shared::api::{Endpoint, Export, Look};
use shared::collection::{Collection, beir, trec};
use shared::probe::{Limits, Mode, Probe};
use shared::study::dials::Dials;
use shared::study::make::{Brought, Maker, Stage};
use shared::study::{Definition, Lookups, Study};
use shared::text::Analyzer;

use crate::browser::front_end;
use crate::browser::host::Host;
use crate::browser::tab::{Tab, with_tab};
use crate::harness;

const MADE: &str = "2026-11-20";

#[test]
fn the_demo_has_the_same_bits_in_the_browser() {
    let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("../demo");
    let text = std::fs::read_to_string(demo.join("study.toml")).unwrap();
    let mut definition = Definition::from_toml("study.toml", &text).unwrap();
    LOCAL.clone_into(&mut definition.name);
    definition
        .rankers
        .retain(|it| it.parse::<shared::rank::Ranker>().is_ok());
    // Files with pairs cannot be brought to the page.
    definition.transfers.clear();
    definition
        .probes
        .retain(|it| !matches!(it, Probe::Transfer(_)));
    assert!(definition.probes.contains(&Probe::Manipulation(
        shared::probe::Manipulation::ShufflePhrases
    )));
    assert_eq!(definition.modes.len(), 3);
    compare(&Given {
        folder: demo,
        corpus: "corpus.jsonl",
        queries: "queries.jsonl",
        qrels: "qrels.tsv",
        run: None,
        vectors: None,
        definition,
    });
}

#[test]
fn trecdl_passage_has_the_same_bits_in_the_browser() {
    let Some(collections) = harness::collections() else {
        return;
    };
    let definition = Definition {
        format: 1,
        name: LOCAL.to_owned(),
        title: "TREC DL 2019".to_owned(),
        description: String::new(),
        collection: "trecdl-passage".to_owned(),
        n_queries: None,
        pool: "run:BM25.run.gz:100".parse().unwrap(),
        probes: Probe::minable(false),
        modes: vec![Mode::Fixed],
        rankers: vec!["bm25".to_owned(), "ql:mu=2500".to_owned()],
        analyzer: Analyzer::default(),
        limits: Limits::STANDARD,
        vectors: None,
        audit: Vec::new(),
        lookups: Lookups::default(),
        transfers: Vec::new(),
    };
    compare(&Given {
        folder: collections.join("trecdl-passage"),
        corpus: "corpus.jsonl.gz",
        queries: "queries.jsonl.gz",
        qrels: "qrels.tsv.gz",
        run: Some("runs/BM25.run.gz"),
        vectors: None,
        definition,
    });
}

#[test]
fn the_meaning_of_words_has_the_same_bits_in_the_browser() {
    let Some(collections) = harness::collections() else {
        return;
    };
    let vectors = "glove-6B-50d-10k/glove.6B.50d.10k.txt.gz";
    let axioms = Probe::AXIOMS.iter().copied();
    let formula = "prox1 | 2 * stmc1@ir_axioms - tfc1@ir_axioms"
        .parse()
        .unwrap();
    let definition = Definition {
        format: 1,
        name: LOCAL.to_owned(),
        title: "TREC DL 2019".to_owned(),
        description: String::new(),
        collection: "trecdl-passage".to_owned(),
        n_queries: Some(15),
        pool: "run:BM25.run.gz:100".parse().unwrap(),
        probes: axioms
            .filter(|it| it.needs_vectors())
            .chain(Probe::further(true))
            .chain([formula])
            .collect(),
        modes: vec![Mode::Fixed, Mode::PaperCamara2020, Mode::CodeCamara2020],
        rankers: vec!["bm25".to_owned()],
        analyzer: Analyzer::default(),
        limits: Limits::STANDARD,
        vectors: vectors.rsplit('/').next().map(str::to_owned),
        audit: Vec::new(),
        lookups: Lookups::default(),
        transfers: Vec::new(),
    };
    compare(&Given {
        folder: collections,
        corpus: "trecdl-passage/corpus.jsonl.gz",
        queries: "trecdl-passage/queries.jsonl.gz",
        qrels: "trecdl-passage/qrels.tsv.gz",
        run: Some("trecdl-passage/runs/BM25.run.gz"),
        vectors: Some(vectors),
        definition,
    });
}

/// What both sides are given.
struct Given {
    folder: PathBuf,
    corpus: &'static str,
    queries: &'static str,
    qrels: &'static str,
    run: Option<&'static str>,
    vectors: Option<&'static str>,
    definition: Definition,
}

fn compare(given: &Given) {
    let Some(dist) = front_end() else {
        return;
    };
    let host = Host::start(BTreeMap::from([
        ("/", dist),
        ("/given", given.folder.clone()),
    ]));
    with_tab(&host.origin, |tab| {
        let (here, here_took) = natively(given);
        let (there, there_took) = in_browser(tab, given);
        println!(
            "{}: index, mine and score: natively {:.2} s, in the worker {:.2} s, ratio {:.2}",
            given.definition.collection,
            here_took.as_secs_f64(),
            there_took.as_secs_f64(),
            there_took.as_secs_f64() / here_took.as_secs_f64(),
        );
        same("study", &json_of(&here), &there);
        for &mode in &given.definition.modes {
            let dials = Dials {
                mode: Some(mode),
                ..Dials::default()
            };
            let look = Look {
                study: LOCAL.to_owned(),
                dials,
            };
            let there = asked(tab, &look);
            let overview = here.overview(&look.dials).unwrap();
            assert!(
                overview
                    .rankers
                    .iter()
                    .flat_map(|it| &it.cells)
                    .any(Option::is_some)
            );
            same("overview", &json_of(&overview), &there);
        }
    });
}

fn natively(given: &Given) -> (Study, Duration) {
    let quiet = &mut |_| {};
    let open = |name: &str| File::open(given.folder.join(name)).unwrap();
    let (docs, _) = beir::read_corpus(given.corpus, open(given.corpus), quiet).unwrap();
    let (queries, _) = beir::read_queries(given.queries, open(given.queries), quiet).unwrap();
    let (qrels, _) = trec::read_qrels(given.qrels, open(given.qrels), quiet).unwrap();
    let run = given
        .run
        .map(|it| trec::read_run(it, open(it), quiet).unwrap().0);
    let vectors = given.vectors.map(|it| {
        let (vectors, _) = shared::vectors::read(it, open(it), quiet).unwrap();
        Arc::new(vectors)
    });
    let collection = Collection {
        queries,
        docs,
        qrels,
    };

    let brought = Brought {
        run,
        vectors,
        ..Brought::default()
    };
    let start = Instant::now();
    let mut maker = Maker::new(collection, given.definition.clone(), brought).unwrap();
    while maker.step().unwrap().stage != Stage::Done {}
    let took = start.elapsed();
    (maker.finish(MADE).unwrap(), took)
}

/// Starts a worker of the page's own kind and keeps it in the page.
const START: &str = r#"
    const worker = new Worker('/worker_loader.js');
    const waiting = new Map();
    let last = 0;
    const ready = new Promise(resolve => waiting.set(0, resolve));
    worker.onmessage = event => {
        const [json, text] = event.data;
        const {number, says} = JSON.parse(json);
        const asked = waiting.get(number);
        if (says.tell === 'progress') {
            asked.worked = performance.now();
        } else {
            asked(number === 0 ? undefined : {json, text, took: asked.worked - asked.began});
        }
    };
    worker.onerror = event => console.error('worker: ' + event.message);
    await ready;
    window.asked = (says, beside) => new Promise(resolve => {
        const asked = it => resolve(it);
        asked.began = asked.worked = performance.now();
        waiting.set(++last, asked);
        worker.postMessage([`{"number":${last},"says":${says}}`, beside]);
    });
"#;

fn in_browser(tab: &Tab, given: &Given) -> (String, Duration) {
    tab.open("/about");
    tab.js_async(START, &[]);
    let files = [
        Some(given.corpus),
        Some(given.queries),
        Some(given.qrels),
        given.run,
        given.vectors,
    ];
    for path in files.into_iter().flatten() {
        let name = path.rsplit('/').next().unwrap_or(path);
        let ask = Ask::Read {
            name: name.to_owned(),
            kind: None,
        };
        let body = "
            const [says, path, name] = arguments;
            const bytes = await (await fetch('/given/' + path)).blob();
            return (await window.asked(says, new File([bytes], name))).json;";
        let told = tab.js_async(body, &[json!(json_of(&ask)), json!(path), json!(name)]);
        let Tell::Read(read) = tell(&told) else {
            panic!("{name} was not read: {told}")
        };
        assert_eq!(read.reading.n_refused, 0, "{name}");
    }
    let ask = Ask::Make {
        definition: Box::new(given.definition.clone()),
        made: MADE.to_owned(),
    };
    let body = "
        const {json, took} = await window.asked(arguments[0]);
        return [json, took];";
    let told = tab.js_async(body, &[json!(json_of(&ask))]);
    let Tell::Made(made) = tell(&told[0]) else {
        panic!("it was not made: {told}")
    };
    assert!(made.n_instances > 0);
    let took = Duration::from_secs_f64(told[1].as_f64().unwrap() / 1000.0);
    (
        asked(
            tab,
            &Export {
                study: LOCAL.to_owned(),
            },
        ),
        took,
    )
}

/// The reply of the worker to a request of the server's, as JSON.
fn asked<E: Endpoint>(tab: &Tab, request: &E) -> String {
    let ask = Ask::Answer {
        path: E::PATH.to_owned(),
        request: json_of(request),
    };
    let body = "const {json, text} = await window.asked(arguments[0]); return [json, text];";
    let told = tab.js_async(body, &[json!(json_of(&ask))]);
    let Tell::Answer = tell(&told[0]) else {
        panic!("no answer to {}: {told}", E::PATH)
    };
    told[1].as_str().unwrap().to_owned()
}

fn tell(json: &Value) -> Tell {
    let envelope: Envelope<Tell> = serde_json::from_str(json.as_str().unwrap()).unwrap();
    envelope.says
}

fn json_of(it: &impl Serialize) -> String {
    serde_json::to_string(it).unwrap()
}

/// Two texts of some megabytes; of a difference only its surroundings are shown.
fn same(what: &str, here: &str, there: &str) {
    let parts = here.bytes().zip(there.bytes()).position(|it| it.0 != it.1);
    let at = parts.unwrap_or(here.len().min(there.len()));
    if parts.is_some() || here.len() != there.len() {
        let around = |text: &str| {
            let from = at.saturating_sub(200);
            let shown = &text.as_bytes()[from..text.len().min(at + 100)];
            String::from_utf8_lossy(shown).into_owned()
        };
        panic!(
            "{what} differ at byte {at}:\nhere  {}\nthere {}",
            around(here),
            around(there)
        );
    }
}
