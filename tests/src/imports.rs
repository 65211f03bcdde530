//! Importing collections into the data folder, in every layout.

use crate::harness::{TestHome, tiny_collection};

#[test]
fn an_imported_collection_goes_by_its_name() {
    let home = TestHome::new();
    home.run(&format!("import {} --to tiny", tiny_collection()))
        .expect_success();
    assert_eq!(
        home.files(),
        [
            "SHA256SUMS",
            "corpus.jsonl",
            "qrels.tsv",
            "queries.jsonl",
            "runs/tiny.run"
        ]
        .map(|it| format!("data/collections/tiny/{it}"))
    );
    let mine = |collection: &str| {
        let args = "--pool run:tiny.run:3 --json --out mined.parquet";
        home.run(&format!("mine --collection {collection} {args}"))
            .json()
    };
    assert_eq!(mine("tiny"), mine(tiny_collection()));
    home.run(&format!("import {} --to tiny", tiny_collection()))
        .expect_success();
    assert_eq!(mine("tiny"), mine(tiny_collection()));
}

#[test]
fn other_layouts_are_imported_by_flags() {
    let home = TestHome::new();
    home.write("passages.tsv", "7\triver bank\n8\tbank mud\n");
    home.write("queries.tsv", "1\triver\n");
    let found = home.run(
        "import . --to some --json --layout passages --corpus passages.tsv --queries queries.tsv",
    );
    let found = found.json();
    assert_eq!((&found["docs"], &found["queries"]), (&2.into(), &1.into()));
}

#[test]
fn distributed_collections_are_known_by_the_names_of_their_files() {
    let home = TestHome::new();
    let import = |folder: &str| {
        home.run(&format!("import {folder} --to some --json"))
            .json()
    };
    let folder = |name: &str| std::fs::create_dir(home.path(name)).unwrap();
    folder("docs");
    home.write(
        "docs/msmarco-docs.tsv",
        "D1\thttps://a.example\tA river\tIt has banks.\nD2\thttps://b.example\t\tA bank\n",
    );
    home.write(
        "docs/msmarco-docdev-queries.tsv",
        "2\triver bank\n3\tbank\n",
    );
    home.write("docs/msmarco-docdev-qrels.tsv", "2 0 D1 1\n3 0 D2 1\n");
    home.write("docs/msmarco-test2019-queries.tsv", "9\triver\n");
    home.write("docs/2019qrels-docs.txt", "9 0 D1 3\n9 0 D2 0\n");
    let found = import("docs");
    assert_eq!((&found["docs"], &found["queries"]), (&2.into(), &2.into()));
    let line = "import docs --to dl --queries docs/msmarco-test2019-queries.tsv --json";
    assert_eq!(home.run(line).json()["queries"], 1);
    // The qrels are imported with the queries.
    let qrels = |name: &str| home.read(&format!("data/collections/{name}/qrels.tsv"));
    assert_eq!(qrels("some").lines().count(), 2);
    assert!(qrels("dl").contains("9\t0\tD1\t3"), "{}", qrels("dl"));

    folder("passages");
    home.write("passages/collection.tsv", "7\triver bank\n8\tbank mud\n");
    home.write("passages/queries.dev.small.tsv", "1\triver\n");
    home.write("passages/qrels.dev.small.tsv", "1\t0\t7\t1\n");
    let found = import("passages");
    assert_eq!((&found["docs"], &found["queries"]), (&2.into(), &1.into()));

    folder("wiki");
    home.write(
        "wiki/document_passages.json",
        r#"{"0": {"0": "The river, river bed and river bank.", "1": "The river, lake bed and river bank."}, "1": {"0": "A fugue."}}"#,
    );
    let head = "QID\tQuestion\tDocumentID\tDocumentName\tRelevantPassages\n";
    home.write(
        "wiki/train.tsv",
        format!("{head}5\twhat is a river?\t0\tRiver.html\t0,1\n"),
    );
    home.write(
        "wiki/test.tsv",
        format!("{head}6\twhat is a fugue?\t1\tFugue.html\t0\n"),
    );
    let found = import("wiki");
    assert_eq!((&found["docs"], &found["queries"]), (&3.into(), &2.into()));
    let table = home
        .run("reproduce rennings2019 --table 1 --collection some")
        .expect_success();
    let of = |split: &str| {
        let row = table
            .lines()
            .find(|it| it.contains(&format!("| {split} | TFC1 |")));
        row.unwrap_or_else(|| panic!("{table}")).to_owned()
    };
    // The two passages of the first article differ by one `river`.
    assert!(
        of("train").contains("| 2,758,223 | – | 1 |"),
        "{}",
        of("train")
    );
    assert!(of("test").contains("| 353,621 | – | 0 |"), "{}", of("test"));
    home.expect_refused(
        "import passages --to x --layout wikipassageqa",
        "document_passages.json",
    );
}
