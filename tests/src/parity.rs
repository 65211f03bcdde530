//! The browser and the native program agree in every bit.
//!
//! The program makes a study on several threads (`axioscope study run`), and the worker of the
//! built front end makes it from the same files: instances, pairs, scores, audits. Both are
//! compared as JSON without the date: `serde_json` writes the shortest decimal that reads back as
//! the same `f64`, so equal texts mean equal bits. The test program also makes the study, one query
//! after the other, so that its time can be compared with that of the worker.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::{Value, json};
use shared::api::worker::{LOCAL_STUDY, WorkerMessage, WorkerRequest, WorkerResponse};
use shared::api::{Endpoint, ExportStudyRequest, GetStudyRequest};
use shared::collection::{Collection, FileInput, beir, document_pairs, text_hash, trec};
use shared::probe::transfer::TransferPairSet;
use shared::probe::{Axiom, AxiomVariant, Manipulation, MiningThresholds, Probe};
use shared::study::build::{StudyInputs, make_study};
use shared::study::controls::StudyPageControls;
use shared::study::preparation::{
    ParsedInputFiles, SequentialShardExecutor, run_never_waiting_future,
};
use shared::study::{ManipulationLookupFiles, Study, StudyDefinition};
use shared::text::Analyzer;

use crate::browser::front_end;
use crate::browser::static_server::StaticServer;
use crate::browser::tab::{BrowserTab, with_tab};
use crate::harness::{self, CommandOutput, TestHome};

const MADE: &str = "2026-11-20";

/// The number of threads of the program, even if there are fewer processors.
const THREADS: &str = "4";

/// Uses every axiom in every variant, behavioral tests, manipulations and transfer sets, with
/// vectors trained on the collection's own words.
#[test]
fn the_demo_has_the_same_bits_in_the_browser() {
    let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("../demo");
    let text = fs::read_to_string(demo.join("study.toml")).unwrap();
    let mut definition = StudyDefinition::from_toml("study.toml", &text).unwrap();
    definition
        .rankers
        .retain(|it| it.parse::<shared::rank::LexicalRanker>().is_ok());
    definition.vectors = Some("words.txt".to_owned());
    for axiom in Probe::list_minable_paper_axioms(true) {
        if !definition.probes.contains(&axiom) {
            definition.probes.push(axiom);
        }
    }
    let has = |it: &Axiom| definition.probes.contains(&Probe::Axiom(*it));
    assert!(Axiom::ALL.iter().all(has), "{:?}", definition.probes);
    assert_eq!(definition.variants.len(), 3);
    assert!(
        definition
            .probes
            .contains(&Probe::Manipulation(Manipulation::ShufflePhrases))
    );
    let files = ["corpus.jsonl", "queries.jsonl", "qrels.tsv"].map(|it| (demo.join(it), it));
    let mut given = Given::new(definition, &files);
    assert_eq!(given.definition.transfers.len(), 6);
    for set in &mut given.definition.transfers {
        let from = demo.join(&set.file);
        set.file = format!("{}.jsonl", set.name);
        given
            .home
            .write(&format!("given/{}", set.file), fs::read(from).unwrap());
    }
    let train = "vectors --collection given --dims 20 --epochs 30 --out given/words.txt";
    given.home.run(train).expect_success();
    compare(&given);
}

#[test]
fn trecdl_passage_has_the_same_bits_in_the_browser() {
    let Some(collections) = harness::collections() else {
        return;
    };
    let definition = StudyDefinition {
        probes: Probe::list_minable_paper_axioms(false),
        variants: vec![AxiomVariant::Fixed],
        rankers: vec!["bm25".to_owned(), "ql:mu=2500".to_owned()],
        ..trecdl()
    };
    compare(&Given::new(definition, &trecdl_files(&collections)));
}

#[test]
fn the_meaning_of_words_has_the_same_bits_in_the_browser() {
    let Some(collections) = harness::collections() else {
        return;
    };
    let vectors = "glove.6B.50d.10k.txt.gz";
    let axioms = Probe::list_minable_paper_axioms(true).into_iter();
    let formula = "prox1 | 2 * stmc1@ir_axioms - tfc1@ir_axioms"
        .parse()
        .unwrap();
    let definition = StudyDefinition {
        n_queries: Some(15),
        probes: axioms
            .filter(|it| it.needs_word_vectors())
            .chain(Probe::list_minable_ir_axioms(true))
            .chain([formula])
            .collect(),
        variants: vec![
            AxiomVariant::Fixed,
            AxiomVariant::PaperCamara2020,
            AxiomVariant::Code,
        ],
        rankers: vec!["bm25".to_owned()],
        vectors: Some(vectors.to_owned()),
        ..trecdl()
    };
    let mut files = trecdl_files(&collections).to_vec();
    files.push((collections.join("glove-6B-50d-10k").join(vectors), vectors));
    compare(&Given::new(definition, &files));
}

/// Returns the definition of a study of TREC Deep Learning 2019 over the top 100 of BM25, without
/// probes.
fn trecdl() -> StudyDefinition {
    StudyDefinition {
        format: 1,
        name: LOCAL_STUDY.to_owned(),
        title: "TREC DL 2019".to_owned(),
        description: String::new(),
        collection: "trecdl-passage".to_owned(),
        n_queries: None,
        pool: "run:BM25.run.gz:100".parse().unwrap(),
        probes: Vec::new(),
        variants: Vec::new(),
        rankers: Vec::new(),
        analyzer: Analyzer::default(),
        limits: MiningThresholds::STANDARD,
        vectors: None,
        audit: Vec::new(),
        lookups: ManipulationLookupFiles::default(),
        transfers: Vec::new(),
        train: Vec::new(),
    }
}

fn trecdl_files(collections: &Path) -> [(PathBuf, &'static str); 4] {
    let folder = collections.join("trecdl-passage");
    [
        (folder.join("corpus.jsonl.gz"), "corpus.jsonl.gz"),
        (folder.join("queries.jsonl.gz"), "queries.jsonl.gz"),
        (folder.join("qrels.tsv.gz"), "qrels.tsv.gz"),
        (folder.join("runs/BM25.run.gz"), "BM25.run.gz"),
    ]
}

/// The input of all sides: a definition, and the folder `given` with its files.
struct Given {
    home: TestHome,
    /// The name of the collection where times are printed.
    called: String,
    definition: StudyDefinition,
}

impl Given {
    fn new(definition: StudyDefinition, files: &[(PathBuf, &str)]) -> Given {
        let home = TestHome::new();
        for (from, name) in files {
            home.write(&format!("given/{name}"), fs::read(from).unwrap());
        }
        Given {
            home,
            called: definition.collection.clone(),
            definition: StudyDefinition {
                name: LOCAL_STUDY.to_owned(),
                collection: "given".to_owned(),
                ..definition
            },
        }
    }

    /// Returns the names of the files, in order.
    fn files(&self) -> Vec<String> {
        let files = fs::read_dir(self.home.path("given")).unwrap();
        let name = |it: fs::DirEntry| it.file_name().into_string().unwrap();
        let mut files: Vec<String> = files.map(|it| name(it.unwrap())).collect();
        files.sort();
        files
    }
}

fn compare(given: &Given) {
    let Some(dist) = front_end() else {
        return;
    };
    let host = StaticServer::start(BTreeMap::from([
        ("/", dist),
        ("/given", given.home.path("given")),
    ]));
    with_tab(&host.origin, |tab| {
        let threaded = undated(&by_program(given));
        let (sequential, here_took) = one_by_one(given);
        let (there, there_took) = in_browser(tab, given);
        let there = undated(&there);
        println!(
            "{}: index, mine and score: natively {:.2} s, in the worker {:.2} s, ratio {:.2}",
            given.called,
            here_took.as_secs_f64(),
            there_took.as_secs_f64(),
            there_took.as_secs_f64() / here_took.as_secs_f64(),
        );
        println!(
            "{}: SHA-256 of the study without its date: {} of the program, {} of the worker",
            given.called,
            text_hash(&threaded),
            text_hash(&there)
        );
        same(
            "studies of the program and of the worker",
            &threaded,
            &there,
        );
        let sequential = undated(&json_of(&sequential));
        same(
            "studies on several threads and on one",
            &threaded,
            &sequential,
        );
        let here: Study = serde_json::from_str(&threaded).unwrap();
        assert!(here.instances.iter().any(|it| !it.is_empty()));
        for &mode in &given.definition.variants {
            let dials = StudyPageControls {
                variant: Some(mode),
                ..StudyPageControls::default()
            };
            let look = GetStudyRequest {
                study: LOCAL_STUDY.to_owned(),
                controls: dials,
            };
            let there = asked(tab, &look);
            let overview = here.overview(&look.controls).unwrap();
            assert!(
                overview
                    .rows
                    .iter()
                    .flat_map(|it| &it.cells)
                    .any(Option::is_some)
            );
            same("overviews", &undated(&json_of(&overview)), &undated(&there));
        }
    });
}

/// Returns the JSON of a study or an overview without the day on which the study was made, and
/// without the checksums of its input files, which the browser does not compute.
fn undated(json: &str) -> String {
    let (before, after) = json.split_once(r#""created":""#).expect("a date");
    let (_, after) = after.split_once('"').expect("its end");
    let undated = format!(r#"{before}"created":""{after}"#);
    match undated.split_once(r#","input_checksums":{"#) {
        Some((before, after)) => before.to_owned() + after.split_once('}').expect("its end").1,
        None => undated,
    }
}

/// Returns the study that `axioscope study run` makes, as `axioscope study export` writes it.
fn by_program(given: &Given) -> String {
    let home = &given.home;
    home.write("study.toml", given.definition.to_toml());
    let mut program = home.program();
    program.env("RAYON_NUM_THREADS", THREADS);
    CommandOutput::run(program.args(["--data", "data", "study", "run", "study.toml"]))
        .expect_success();
    home.run(&format!(
        "study export {LOCAL_STUDY} --layout whole --out exported"
    ))
    .expect_success();
    home.read(&format!("exported/{LOCAL_STUDY}.json"))
}

/// Makes the study in this program on one thread; returns it with the time taken.
fn one_by_one(given: &Given) -> (Study, Duration) {
    let mut collection = Collection::default();
    let mut files = ParsedInputFiles::default();
    for name in given.files() {
        let file = File::open(given.home.path(&format!("given/{name}"))).unwrap();
        let file = FileInput::without_progress(&name, file);
        let mut sets = given.definition.transfers.iter();
        if let Some(set) = sets.find(|it| it.file == name) {
            files.transfer_sets.push(TransferPairSet {
                transfer: set.dataset_transfer_test().unwrap(),
                query_source: set.query_source,
                pairs: document_pairs::read_dataset_transfer_pairs(file).unwrap().0,
            });
            continue;
        }
        match name.split('.').next().unwrap() {
            "corpus" => collection.docs = beir::read_beir_documents(file).unwrap().0,
            "queries" => collection.queries = beir::read_beir_queries(file).unwrap().0,
            "qrels" => collection.qrels = trec::read_qrels(file).unwrap().0,
            "BM25" => files.run = Some(trec::read_run(file).unwrap().0),
            _ => {
                let (vectors, _) = shared::word_vectors::read_word_vectors(file).unwrap();
                files.vectors = Some(Arc::new(vectors));
            }
        }
    }
    let rankers = given
        .definition
        .rankers
        .iter()
        .map(|it| it.parse().unwrap());
    let inputs = StudyInputs {
        rankers: rankers.collect(),
        definition: given.definition.clone(),
        collection,
        files,
        created: MADE.to_owned(),
    };
    let start = Instant::now();
    let study = run_never_waiting_future(make_study(inputs, &mut SequentialShardExecutor)).unwrap();
    (study, start.elapsed())
}

/// Starts a worker like that of the page, and keeps it in the page.
const START: &str = r#"
    const worker = new Worker('/worker_loader.js');
    const waiting = new Map();
    let last = 0;
    const ready = new Promise(resolve => waiting.set(0, resolve));
    worker.onmessage = event => {
        const [json, text] = event.data;
        const {id, body} = JSON.parse(json);
        const asked = waiting.get(id);
        if (body.tell === 'progress') {
            asked.worked = performance.now();
        } else {
            asked(id === 0 ? undefined : {json, text, took: asked.worked - asked.began});
        }
    };
    worker.onerror = event => console.error('worker: ' + event.message);
    await ready;
    window.asked = (says, beside) => new Promise(resolve => {
        const asked = it => resolve(it);
        asked.began = asked.worked = performance.now();
        waiting.set(++last, asked);
        worker.postMessage([`{"id":${last},"body":${says}}`, beside]);
    });
"#;

fn in_browser(tab: &BrowserTab, given: &Given) -> (String, Duration) {
    tab.open("/about");
    tab.js_async(START, &[]);
    for name in given.files() {
        let ask = WorkerRequest::ReadFile {
            name: name.clone(),
            kind: None,
        };
        let body = "
            const [says, name] = arguments;
            const bytes = await (await fetch('/given/' + name)).blob();
            return (await window.asked(says, new File([bytes], name))).json;";
        let told = tab.js_async(body, &[json!(json_of(&ask)), json!(name)]);
        let WorkerResponse::FileRead(read) = tell(&told) else {
            panic!("{name} was not read: {told}")
        };
        assert_eq!(read.report.n_refused, 0, "{name}");
    }
    let ask = WorkerRequest::CreateStudy {
        definition: Box::new(given.definition.clone()),
        date: MADE.to_owned(),
    };
    let body = "
        const {json, took} = await window.asked(arguments[0]);
        return [json, took];";
    let told = tab.js_async(body, &[json!(json_of(&ask))]);
    let WorkerResponse::StudyReady(made) = tell(&told[0]) else {
        panic!("it was not made: {told}")
    };
    assert!(made.n_instances > 0);
    let took = Duration::from_secs_f64(told[1].as_f64().unwrap() / 1000.0);
    (
        asked(
            tab,
            &ExportStudyRequest {
                study: LOCAL_STUDY.to_owned(),
            },
        ),
        took,
    )
}

/// Returns the worker's reply to an API request, as JSON.
fn asked<E: Endpoint>(tab: &BrowserTab, request: &E) -> String {
    let ask = WorkerRequest::CallEndpoint {
        path: E::PATH.to_owned(),
        request: json_of(request),
    };
    let body = "const {json, text} = await window.asked(arguments[0]); return [json, text];";
    let told = tab.js_async(body, &[json!(json_of(&ask))]);
    let WorkerResponse::Payload = tell(&told[0]) else {
        panic!("no answer to {}: {told}", E::PATH)
    };
    told[1].as_str().unwrap().to_owned()
}

fn tell(json: &Value) -> WorkerResponse {
    let envelope: WorkerMessage<WorkerResponse> =
        serde_json::from_str(json.as_str().unwrap()).unwrap();
    envelope.body
}

fn json_of(it: &impl Serialize) -> String {
    serde_json::to_string(it).unwrap()
}

/// Checks that two texts of some megabytes are equal; for a difference, only its surroundings are
/// printed.
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
