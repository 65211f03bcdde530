//! The Workbench: local files become a study in the browser.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use shared::study::Study;
use tempfile::TempDir;

use super::tab::{AriaRole, BrowserTab, with_tab};
use super::{demo_site, front_end, readability, with_operator_path};
use crate::harness::{CommandOutput, TestHome, demo_folder, tiny_model};

const PICKER: &str = "#files-picker";

/// Files that a test uploads.
struct Files(TempDir);

impl Files {
    fn new() -> Files {
        Files(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    /// Writes a collection of five documents, and its queries.
    fn write_collection(&self) -> [PathBuf; 2] {
        [("corpus.jsonl", CORPUS), ("queries.jsonl", QUERIES)].map(|it| self.write(it.0, it.1))
    }
}

const CORPUS: &str = r#"{"_id":"d1","title":"Ferries","text":"A ferry crosses the river."}
{"_id":"d2","title":"Bridges","text":"The stone bridge crosses the river and the road returns."}
{"_id":"d3","title":"Broken
{"title":"No id","text":"A row that nobody can name."}
{"_id":"d4","title":"Rivers","text":"A river is longer than its ferry routes, and a river floods."}
{"_id":"d5","title":"Boats","text":"Boats wait at the harbour wall with their lamps lit."}
"#;
const QUERIES: &str = r#"{"_id":"q1","text":"river ferry"}
{"_id":"q2","text":"stone bridge"}
"#;
const QRELS: &str = "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td4\t1\nq2\td2\t2\n";

/// Waits until a number of files have been read.
pub(super) fn wait_for_files(tab: &BrowserTab, n: usize) {
    let script = format!(
        "return document.querySelectorAll('table.files tbody tr').length === {n}
            && !document.querySelector('table.files .reading')"
    );
    tab.wait_until(&format!("{n} files"), &script);
}

/// Opens the Workbench with files, and waits until they have been read.
fn open_with_files(tab: &BrowserTab, files: &[&Path]) {
    tab.open("/workbench");
    tab.upload(PICKER, files);
    wait_for_files(tab, files.len());
}

/// Presses the button that creates a study, and waits until it is done.
pub(super) fn create_study(tab: &BrowserTab) {
    tab.click(AriaRole::Button, "Create study");
    tab.wait_for_text("Created in");
    tab.wait_for_element("results", "table.short td .chip");
}

#[test]
fn documents_of_a_local_study_are_sent_to_a_server_only_when_the_reader_says_so() {
    let files = Files::new();
    let [corpus, queries] = files.write_collection();
    let model = tiny_model();
    let server = TestHome::new().serve(&["--model", &model.to_string_lossy()]);
    with_tab(&server.address, |tab| {
        open_with_files(tab, &[&corpus, &queries]);
        create_study(tab);
        // The files stay while the reader looks at the study.
        tab.follow_link("Open the study", "/studies/local");
        tab.click(AriaRole::Link, "Workbench");
        wait_for_files(tab, 2);
        tab.open("/studies/local/probes/lnc2/instances/0");
        tab.wait_for_text("Contribution of each term");
        tab.press("p");
        tab.wait_for_address("/playground?study=local&probe=lnc2");
        tab.wait_for_text("have not left this browser");
        assert_eq!(tab.count("section:has(#neural) table"), 0);
        tab.click(AriaRole::Button, "Send them to this server for scoring");
        tab.wait_for_text("All neural rankers have scored the documents");
    });
}

/// Uses a set with queries, and sentences with corrections whose query is a noun phrase of both.
#[test]
fn pairs_of_texts_become_transfer_sets() {
    let files = Files::new();
    let [corpus, queries] = files.write_collection();
    let pair = |id: u32, a: &str, b: &str| {
        json!({"_id": id.to_string(), "query": "river ferry", "a": a, "b": b}).to_string()
    };
    let short = [
        pair(
            1,
            "The river ferry.",
            "A ferry that goes over the river, slowly.",
        ),
        pair(2, "The same.", "The same."),
    ];
    let short = files.write("Short and long.jsonl", &short.join("\n"));
    let corrected = json!({
        "_id": "s1",
        "src": "The stone bridge are old.",
        "refs": ["The stone bridge is old.", "This stone bridge is old."],
    });
    let corrected = files.write("fluency.jsonl", &corrected.to_string());
    with_tab(demo_site::origin(), |tab| {
        open_with_files(tab, &[&corpus, &queries, &short, &corrected]);
        create_study(tab);
        let study = tab.download(&files.path(""), "Download study (JSON)", "study.json");
        let study: Study = serde_json::from_str(&study).unwrap();
        let behaviours = study.definition.behavioral_tests();
        let behaviours: Vec<_> = behaviours.map(|it| it.slug().into_owned()).collect();
        let sets = ["transfer:short-and-long", "transfer:fluency"];
        assert!(
            sets.iter()
                .all(|it| behaviours.iter().any(|that| that == it))
        );
        let (n_identical, n_samples) =
            study
                .transfer_pair_counts
                .iter()
                .fold((0, 0), |sum, (_, kept)| {
                    let n = kept.n_pairs - kept.n_identical - kept.n_without_query;
                    (sum.0 + kept.n_identical, sum.1 + n)
                });
        // "The stone bridge" occurs in only one of the corrections.
        assert_eq!((n_identical, n_samples), (1, 2));
        tab.follow_link("Open the study", "/studies/local");
        tab.click(AriaRole::Link, "Behavioral tests");
        tab.wait_for_text("short-and-long");
    });
}

#[test]
fn files_become_a_study_and_broken_rows_are_shown() {
    let files = Files::new();
    let [corpus, queries] = files.write_collection();
    with_tab(demo_site::origin(), |tab| {
        tab.open("/workbench");
        tab.wait_for_text("Add documents and queries, or load the sample.");
        tab.upload(PICKER, &[&corpus]);
        tab.wait_for_text("2 rows refused in corpus.jsonl; the other rows are used");
        tab.wait_for_text("line 3");
        tab.wait_for_text("line 4");
        tab.wait_for_text("Add queries.");
        tab.upload(PICKER, &[&queries]);
        // The third file is dropped onto the page.
        tab.js(
            "const files = new DataTransfer();
             files.items.add(new File([arguments[0]], 'qrels.tsv'));
             const all = {dataTransfer: files, bubbles: true, cancelable: true};
             const drop = new DragEvent('drop', all);
             document.querySelector('.drop').dispatchEvent(drop)",
            &[json!(QRELS)],
        );
        wait_for_files(tab, 3);
        tab.fill("Depth", "0");
        tab.wait_for_text("Correct the settings under Candidate pool and limits: ");
        tab.fill("Depth", "50");
        tab.wait_for_address("/workbench");
        create_study(tab);

        let study = tab.download(&files.path(""), "Download study (JSON)", "study.json");
        let study: Study = serde_json::from_str(&study).unwrap();
        assert_eq!(
            (study.queries.len(), study.totals.n_docs, study.scores.len()),
            (2, 4, 2)
        );
        let pairs = tab.download(&files.path(""), "Download pairs (JSONL)", "pairs.jsonl");
        assert_eq!(pairs.lines().count(), study.pairs.len());
        bring_scores(tab, &files, &pairs);

        tab.follow_link("Open the study", "/studies/local");
        tab.wait_for_count("the map", "[role=grid] a.cell", ">= 18");
        tab.wait_for_text("mine.tsv");
        // The study is still there after a reload, until it is cleared.
        tab.reload();
        tab.wait_for_count("the map", "[role=grid] a.cell", ">= 18");
        tab.click(AriaRole::Link, "Workbench");
        tab.wait_for_element("results", "table.short td");
        tab.wait_for_text("The study below is kept in this browser, its files are not.");
        // The list of studies leads to it.
        tab.click(AriaRole::Link, "Studies");
        tab.click(AriaRole::Link, "Open your study");
        tab.wait_for_address("/studies/local");
        tab.click(AriaRole::Link, "Workbench");
        tab.wait_for_element("results", "table.short td");
        // Clearing can be undone.
        tab.click(AriaRole::Button, "Clear");
        tab.wait_for_text("Results appear here.");
        tab.click(AriaRole::Button, "Undo");
        tab.wait_for_element("results", "table.short td");
        tab.click(AriaRole::Button, "Clear");
        tab.wait_for_text("Results appear here.");

        let picker = ".head label.file input";
        tab.upload(picker, &[&files.path("study.json")]);
        tab.wait_for_count(
            "the two rankers it was downloaded with",
            "table.short tbody tr",
            "=== 3",
        );
        tab.upload(picker, &[&queries]);
        tab.wait_for_text("queries.jsonl: is not a study of this version");
        tab.follow_link("Open the study", "/studies/local");
        tab.wait_for_count("the map", "[role=grid] a.cell", ">= 12");
    });
}

/// Uploads a score for each pair: the length of its document.
fn bring_scores(tab: &BrowserTab, files: &Files, pairs: &str) {
    let rows = pairs.lines().map(|line| {
        let pair: Value = serde_json::from_str(line).unwrap();
        let (query, text) = (pair["query_id"].as_str(), pair["text_id"].as_str());
        format!(
            "{}\t{}\t{}\n",
            query.unwrap(),
            text.unwrap(),
            pair["text"].to_string().len()
        )
    });
    let scores = files.write("mine.tsv", &rows.collect::<String>());
    tab.upload(
        "section[aria-labelledby=neural] input[type=file]",
        &[&scores],
    );
    tab.wait_for_count("a third ranker", "table.short tbody tr", "=== 4");
}

#[test]
fn the_operator_of_a_public_server_sends_the_pairs_there() {
    if front_end().is_none() {
        return;
    }
    let files = Files::new();
    let [corpus, queries] = files.write_collection();
    let home = TestHome::new();
    let mut program = home.program();
    program.env("AXIOSCOPE_MODEL", tiny_model());
    let server = home.serve_by(program, &["--listen", "0.0.0.0:0"]);
    let token = server.token.clone().expect("the first start prints it");
    with_tab(&server.address, |tab| {
        open_with_files(tab, &[&corpus, &queries]);
        create_study(tab);
        tab.wait_for_text("Only the operator of this server can start jobs.");
        tab.click_at("section[aria-labelledby=neural] details summary");
        tab.fill("Operator token", &token);
        tab.click(AriaRole::Button, "Use in this tab");
        tab.click(AriaRole::Button, "Score on the server");
        tab.wait_for_text("pairs scored");
        tab.wait_for_count("a third ranker", "table.short tbody tr", "=== 4");
    });
}

#[test]
fn a_run_can_be_cancelled_and_started_again() {
    let files = Files::new();
    let corpus = files.write("corpus.jsonl", &long_corpus());
    let queries = files.write("queries.jsonl", QUERIES);
    with_tab(demo_site::origin(), |tab| {
        open_with_files(tab, &[&corpus, &queries]);
        tab.click(AriaRole::Button, "Create study");
        tab.wait_for_element("progress", "[role=progressbar][aria-label=Run]");
        tab.press(thirtyfour::Key::Escape);
        tab.wait_for_text("Canceled. No study was created.");
        create_study(tab);
        // Once there is a study, canceling the next one keeps it.
        tab.click(AriaRole::Button, "Create study");
        tab.click(AriaRole::Button, "Cancel");
        tab.wait_for_text("The previous study is still below.");
        assert!(tab.count("table.short td .chip") > 0);
    });
}

/// Returns a corpus that takes a second or more to process.
fn long_corpus() -> String {
    const WORDS: [&str; 12] = [
        "river", "ferry", "stone", "bridge", "harbour", "lamp", "night", "road", "water", "boat",
        "morning", "wall",
    ];
    let text = |doc: usize| {
        let words = (0..80).map(|at| WORDS[(doc * 7 + at * at + at / 3) % WORDS.len()]);
        words.collect::<Vec<_>>().join(" ")
    };
    (0..30_000)
        .map(|it| format!("{{\"_id\":\"d{it}\",\"text\":\"{} w{it}\"}}\n", text(it)))
        .collect()
}

#[test]
fn what_texts_say_is_never_markup() {
    const SCRIPT: &str = "<script>alert(1)</script>";
    const IMAGE: &str = "<img/src=x/onerror=alert(2)>";
    let row = |id: &str, title: &str, text: &str| {
        format!("{}\n", json!({"_id": id, "title": title, "text": text}))
    };
    let files = Files::new();
    let corpus = row(SCRIPT, IMAGE, "river ferry river and a lamp on the wall")
        + row(IMAGE, SCRIPT, &format!("river {SCRIPT} {IMAGE} and a lamp")).as_str()
        + row(
            "../../etc",
            "\u{202e}backwards",
            "stone bridge <b>river</b> and a wall",
        )
        .as_str();
    let corpus = files.write("<img src=x onerror=alert(3)>.jsonl", &corpus);
    let query = json!({"_id": SCRIPT, "text": format!("river ferry {IMAGE}")});
    let queries = files.write("queries.jsonl", &format!("{query}\n"));
    with_tab(demo_site::origin(), |tab| {
        tab.before_pages("window.alerts = []; window.alert = it => window.alerts.push(it)");
        open_with_files(tab, &[&corpus, &queries]);
        create_study(tab);
        expect_text_only(tab);
        tab.follow_link("Open the study", "/studies/local");
        tab.wait_for_element("the map", "[role=grid] a.cell[data-step]");
        expect_text_only(tab);
        let cell = tab.js(
            "return document.querySelector('[role=grid] a.cell[data-step]').getAttribute('href')",
            &[],
        );
        tab.open(cell.as_str().unwrap());
        tab.wait_for_text(IMAGE);
        expect_text_only(tab);
        tab.click_at("a.line");
        tab.wait_for_text("Why this is an instance");
        tab.wait_for_text(SCRIPT);
        tab.wait_for_text(IMAGE);
        expect_text_only(tab);
        tab.press("p");
        tab.wait_for_text("Opened from");
        expect_text_only(tab);
    });
}

fn expect_text_only(tab: &BrowserTab) {
    assert_eq!(tab.count("main script, main img"), 0);
    assert_eq!(tab.js("return window.alerts", &[]), json!([]));
}

#[test]
fn a_file_that_cannot_be_read_says_why() {
    let files = Files::new();
    let nothing = files.write("empty.jsonl", "");
    let cut = files.path("corpus.jsonl.gz");
    std::fs::write(&cut, [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 75]).unwrap();
    let paths: [&Path; 2] = [&nothing, &cut];
    with_tab(demo_site::origin(), |tab| {
        tab.open("/workbench");
        tab.upload(PICKER, &paths);
        tab.wait_for_text("the file is empty");
        tab.wait_for_count("two refusals", ".refused[role=alert]", "=== 2");
    });
}

/// Two documents with one query term each; the other words of the first are similar to the query.
const BOATS: &str = r#"{"_id":"b1","text":"Boats cross the river to the harbour."}
{"_id":"b2","text":"A road follows the river to a stone bridge."}
"#;
/// Vectors of two kinds of words, and of a third about lamps.
const VECTORS: &str = "8 10
river 1 .1 0 0 0 0 0 0 0 0
ferry .9 .3 0 0 0 0 0 0 0 0
boats .8 .4 0 0 0 0 0 0 0 0
harbour .7 .5 0 0 0 0 0 0 0 0
bridge .2 1 0 0 0 0 0 0 0 0
stone .1 .9 0 0 0 0 0 0 0 0
road .1 .8 .3 0 0 0 0 0 0 0
lamps 0 .1 1 0 0 0 0 0 0 0
";

#[test]
fn with_word_vectors_a_study_is_about_the_meaning_of_words() {
    let files = Files::new();
    let brought = [
        files.write("corpus.jsonl", BOATS),
        files.write("queries.jsonl", QUERIES),
        files.write("words.vec", VECTORS),
    ];
    with_tab(demo_site::origin(), |tab| {
        open_with_files(tab, &[&brought[0], &brought[1]]);
        tab.click(AriaRole::Checkbox, "STMC1");
        tab.wait_for_text("STMC1 needs word vectors");
        tab.upload(PICKER, &[&brought[2]]);
        wait_for_files(tab, 3);
        create_study(tab);
        tab.open("/studies/local/rankers/bm25/probes/stmc1/instances");
        tab.wait_for_element("instances", "a.line");
        tab.click_at("a.line");
        tab.wait_for_text("Words similar to the query");
        tab.wait_for_text("closer to the query by");
        assert!(tab.count(".like-words .words li") >= 2);
        // The word vectors are also used in the Playground.
        tab.press("p");
        tab.wait_for_address("/playground?study=local&probe=stmc1");
        tab.wait_until(
            "STMC1 applies",
            "return [...document.querySelectorAll('.holds:not(.not)')]
                .some(it => it.querySelector('b').textContent === 'STMC1')",
        );
    });
}

#[test]
fn word_vectors_trained_in_the_page_are_those_of_the_command_line() {
    let home = TestHome::new();
    let demo = demo_folder();
    let line = format!("vectors --collection {demo} --dims 10 --epochs 3 --out words.txt");
    let mut one = home.program();
    one.env("RAYON_NUM_THREADS", "1");
    CommandOutput::run(one.args(line.split_whitespace())).expect_success();
    let files = Files::new();
    let corpus = PathBuf::from(demo)
        .canonicalize()
        .unwrap()
        .join("corpus.jsonl");
    with_tab(demo_site::origin(), |tab| {
        open_with_files(tab, &[&corpus]);
        tab.click(AriaRole::Button, "Train word vectors on these documents");
        tab.fill("Epochs", "0");
        tab.wait_for_text("must be a whole number of at least 1");
        tab.fill("Epochs", "500");
        tab.click(AriaRole::Button, "Train");
        tab.wait_for_text("Training: ");
        tab.click(AriaRole::Button, "Cancel");
        tab.wait_for_text("Canceled. No vectors were trained.");
        tab.fill("Epochs", "3");
        tab.fill("Dimensions", "10");
        tab.click(AriaRole::Button, "Train");
        tab.wait_for_text("They are in the file list.");
        wait_for_files(tab, 2);
        let trained = tab.download(&files.path(""), "Download vectors", "trained-10d.txt");
        assert!(trained == home.read("words.txt"), "other bits in the page");
        // An axiom that needs word vectors uses them.
        tab.click(AriaRole::Checkbox, "STMC1");
        assert!(!tab.text("main").contains("STMC1 needs word vectors"));
    });
}

#[test]
fn a_run_is_a_ranker_and_unknown_files_are_described() {
    let files = Files::new();
    let [corpus, queries] = files.write_collection();
    // It has two of the four documents of q1, and prefers the one with fewer query terms.
    let run = "q1 Q0 d2 1 9 mine\nq1 Q0 d1 2 1 mine\n";
    let run = files.write("mine.run", run);
    let columns = files.write("table.tsv", "q1\td1\tgood\n");
    let image = files.path("photo.png");
    std::fs::write(&image, b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0").unwrap();
    with_tab(demo_site::origin(), |tab| {
        tab.open("/workbench");
        tab.upload(PICKER, &[&corpus, &queries, &run, &columns, &image]);
        tab.wait_for_text("the first line has 3 columns between tabs");
        tab.wait_for_text("This is not a text file");
        for name in ["table.tsv", "photo.png"] {
            tab.click(AriaRole::Button, &format!("Remove {name}"));
        }
        wait_for_files(tab, 3);
        create_study(tab);
        tab.wait_for_text("instances in all variants");
        tab.wait_for_text("Instances, as defined here");
        // TFC1: d1 has more query terms than d2, and the run ranks it lower.
        tab.wait_for_text("mine.run violates TFC1 most: in 100 % of its instances.");
        let study = tab.download(&files.path(""), "Download study (JSON)", "study.json");
        let study: Study = serde_json::from_str(&study).unwrap();
        let scores = study.scores.last().unwrap();
        assert_eq!(scores.ranker.label, "mine.run");
        let known = scores.scores_in_pair_order().iter().flatten().count();
        assert_eq!(known, 2);
        tab.follow_link("Open the study", "/studies/local");
        tab.wait_for_text("mine.run");
    });
}

#[test]
fn queries_in_splits_are_counted_apart() {
    let files = Files::new();
    let [corpus, queries] = files.write_collection();
    let splits = files.write("splits.tsv", "q1\ttrain\nq2\ttest\nq9\ttest\n");
    with_tab(demo_site::origin(), |tab| {
        open_with_files(tab, &[&corpus, &queries, &splits]);
        create_study(tab);
        tab.wait_for_text("splits.tsv: not in the collection: 1 query (q9)");
        tab.open("/studies/local");
        tab.wait_for_text("2 queries");
        tab.choose("Split", "train (1)");
        tab.wait_for_address("/studies/local?split=train");
        tab.wait_for_text("over 1 query");
        tab.follow_link("Figures", "/studies/local/figures?split=train");
        tab.wait_for_text("From candidates to instances");
        tab.choose("Split", "all splits");
        tab.wait_for_address("/studies/local/figures");
    });
}

#[test]
fn an_operator_uploads_renames_publishes_and_withdraws_a_study() {
    let files = Files::new();
    let [corpus, queries] = files.write_collection();
    with_operator_path(TestHome::new, |tab, home, _, path| {
        let visitor = tab.second_browser();
        tab.open(path);
        tab.at_exactly("/");
        open_with_files(tab, &[&corpus, &queries]);
        create_study(tab);
        tab.fill("Title", "Ferries & bridges");
        tab.fill("Name in addresses", "Ferries");
        tab.wait_for_element("an error beside the name", "#wrong-upload-name .verdict");
        tab.fill("Name in addresses", "ferries");
        tab.click(AriaRole::Button, "Upload study");
        tab.wait_for_text("The server has stored the study.");
        // The name is taken now.
        tab.click(AriaRole::Button, "Upload study");
        tab.wait_for_text("This server has a study named ferries already.");
        tab.expect_in_console("/api/studies");
        tab.click(AriaRole::Button, "Replace the study on the server");
        tab.follow_link("Ferries & bridges", "/studies/ferries");
        tab.wait_for_text("Visitors do not see this study.");
        readability::expect_readable(tab, "study, operator, withdrawn");

        tab.click(AriaRole::Button, "Edit title and description");
        tab.fill("Title", " ");
        tab.wait_for_element("an error beside the title", "#wrong-title .verdict");
        tab.fill("Title", "Ferries");
        tab.fill("Description", "Five documents about rivers.");
        tab.click(AriaRole::Button, "Save");
        tab.wait_for_text("Title and description are saved.");
        tab.wait_until(
            "the new title",
            "return document.title === 'Ferries · Axioscope'",
        );
        tab.wait_for_text("Five documents about rivers.");

        visitor.open("/");
        visitor.wait_for_text("No hosted studies yet.");
        tab.click(AriaRole::Button, "Publish");
        tab.wait_for_text("Visitors see this study.");
        visitor.open("/");
        visitor.wait_for_text("Ferries");
        visitor.open("/studies/ferries");
        visitor.wait_for_count("the map", "[role=grid] a.cell", "=== 12");
        assert_eq!(visitor.text("h1"), "Ferries");
        assert_eq!(visitor.count("#manage-study"), 0);

        tab.click(AriaRole::Button, "Withdraw");
        tab.click(AriaRole::Button, "Withdraw the study");
        tab.wait_for_text("Visitors do not see this study.");
        visitor.reload();
        visitor.wait_for_text("the study may have been withdrawn");
        visitor.expect_in_console("/api/studies/ferries");
        tab.open("/");
        tab.wait_for_text("not published");
        let listed = home.run("study list").expect_success();
        assert!(listed.ends_with("\tnot published\tFerries\n"), "{listed}");
    });
}
