//! The datasets of dataset transfer, converted to document pairs from each of their formats.

use serde_json::{Value, json};

use crate::harness::{TestHome, study_file, study_lines, tiny_collection};

/// Returns the output of `transfer --json`, and the rows that it wrote.
fn transfer(home: &TestHome, line: &str) -> (Value, Vec<Value>) {
    let told = home
        .run(&format!("transfer {line} --to out.jsonl --json"))
        .json();
    let rows = home.read("out.jsonl");
    let rows = rows.lines().map(|it| serde_json::from_str(it).unwrap());
    (told, rows.collect())
}

/// Writes two sentences of learners with four corrections each: one changes nothing, one is
/// missing.
fn jfleg(home: &TestHome) {
    let files = [
        (
            "src",
            "For years the old lighthouse stand on the cliff .\n\
             The sailors loves the old lighthouse .\n",
        ),
        (
            "ref0",
            "For years the old lighthouse has stood on the cliff . \n\
             The sailors love the old lighthouse . \n",
        ),
        (
            "ref1",
            "For years the old lighthouse stands on the cliff .\n\
             The sailors loves the old lighthouse .\n",
        ),
        (
            "ref2",
            "The old lighthouse stood on the cliff for years .\n\
             Sailors love the old lighthouse .\n",
        ),
        (
            "ref3",
            "The old lighthouse has been on the cliff for years .\n\n",
        ),
    ];
    for (ending, text) in files {
        home.write(&format!("jfleg/dev/dev.{ending}"), text);
    }
}

#[test]
fn a_converted_data_set_is_a_set_of_a_study() {
    let home = TestHome::new();
    jfleg(&home);
    let ran = home.run("transfer jfleg jfleg --to fluency.jsonl");
    ran.expect_stderr("jfleg/dev/dev.ref3, line 2: the line is empty");
    ran.expect_stderr("there is no test/test.src");
    let said = ran.expect_success();
    for part in [
        "read: jfleg/dev/dev.src, jfleg/dev/dev.ref0, ",
        "7 pairs of 2 sentences are in fluency.jsonl",
        "1 pairs are of the same text twice",
        "file = \"fluency.jsonl\", query_source = \"noun-phrase\"",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let rows = home.read("fluency.jsonl");
    let rows: Vec<Value> = rows
        .lines()
        .map(|it| serde_json::from_str(it).unwrap())
        .collect();
    assert_eq!(
        rows[4],
        json!({
            "_id": "dev-2:0",
            "a": "The sailors love the old lighthouse .",
            "b": "The sailors loves the old lighthouse .",
            "group": "dev-2",
        })
    );

    let rest = study_lines("all", &[], &["bm25"])
        + r#"
transfers = [{ name = "fluency", file = "fluency.jsonl", queries = "noun-phrase" }]"#;
    home.make_study(study_file("fluency", "Fluency", tiny_collection(), &rest));
    let report = home.run("report fluency").expect_success();
    assert!(
        report.contains("fluency: of 7 pairs, 1 identical ones"),
        "{report}"
    );
    let tables = home
        .run("report fluency --format json --tie-threshold 0")
        .json();
    let mut tables = tables.as_array().unwrap().iter();
    let table = tables.find(|it| it["name"] == "effects").unwrap();
    let row = &table["rows"][0];
    assert_eq!(row[0]["text"], "transfer:fluency", "{row}");
    assert_eq!(row[4]["count"], 6, "{row}");
    // The corrections of a sentence count as one unit.
    assert_eq!(row[16]["count"], 2, "{row}");
}

#[test]
fn both_directions_of_formality_have_the_titles_of_their_questions() {
    let home = TestHome::new();
    for split in ["tune", "test"] {
        home.write(&format!("Family/{split}/informal"), "dunno lol\nnope\n");
        home.write(&format!("Family/{split}/formal"), "I am not certain.\n");
        for number in 0..4 {
            let file = |name: &str| format!("Family/{split}/{name}.ref{number}");
            home.write(&file("formal"), "I do not know.\nNo.\n");
            home.write(&file("informal"), "not sure\n");
        }
    }
    home.write(
        "titles.tsv",
        "9-q\tWill he call?\ntune-informal-1\tDoes he know?\nno title\n",
    );
    let (told, rows) = transfer(&home, "gyafc Family --queries titles.tsv");
    let counts = |told: &Value| {
        ["files", "rows", "pairs", "without_query", "refused"].map(|it| told[it].as_u64().unwrap())
    };
    assert_eq!(counts(&told), [21, 6, 24, 20, 1]);
    assert_eq!(
        rows[0],
        json!({
            "_id": "tune-informal-1:0", "query": "Does he know?", "group": "tune-informal-1",
            "a": "I do not know.", "b": "dunno lol",
        })
    );
    assert_eq!(
        (&rows[8]["a"], &rows[8]["b"]),
        (&json!("I am not certain."), &json!("not sure"))
    );
    // The question ids that ABNIRML has classified.
    home.write("Family/tune/informal.qids", "_\n9-q\n");
    let (told, rows) = transfer(&home, "gyafc Family --queries titles.tsv");
    assert_eq!(told["without_query"], 20);
    assert_eq!(
        (&rows[4]["query"], rows[0].get("query")),
        (&json!("Will he call?"), None)
    );
    home.write("Family/tune/informal.qids", "_\n");
    home.expect_refused(
        "transfer gyafc Family --queries titles.tsv --to out.jsonl",
        "informal.qids: the line count is 1",
    );
}

#[test]
fn stories_are_sampled_by_the_digest_of_their_name() {
    let home = TestHome::new();
    for id in 0..12 {
        let title = format!("[SN]URL[SN]\nu\n\n[SN]TITLE[SN]\nTitle {id}\n\n");
        let text = "[SN]FIRST-SENTENCE[SN]\nIt rained.\n\n[SN]RESTBODY[SN]\nAll day.\n";
        home.write(&format!("bbc/{id}.summary"), format!("{title}{text}"));
        home.write(
            &format!("cnn/{id}.story"),
            "It rained all day.\n\n@highlight\n\nRain\n",
        );
    }
    home.write("bbc/10.summary", "[SN]TITLE[SN]\n");
    home.write("bbc/notes.txt", "no story");
    let (told, rows) = transfer(&home, "xsum bbc");
    assert_eq!((&told["pairs"], &told["refused"]), (&json!(1), &json!(1)));
    assert_eq!(told["left_out"], json!({"not-in-sample": 10}));
    assert_eq!(
        (&rows[0]["_id"], &rows[0]["query"]),
        (&json!("8"), &json!("Title 8"))
    );
    let (told, _) = transfer(&home, "xsum bbc --all");
    assert_eq!((&told["pairs"], &told["refused"]), (&json!(11), &json!(1)));

    // None of the first twelve numbers is in the sample of this dataset.
    let refused = home
        .run("transfer cnndm cnn --to out.jsonl")
        .expect_failure();
    assert!(refused.contains("`--all` takes what is not"), "{refused}");
    home.write("titles.tsv", "3\tA day of rain\n");
    let (told, rows) = transfer(&home, "cnndm cnn --all --queries titles.tsv");
    assert_eq!(
        (&told["pairs"], &told["without_query"]),
        (&json!(12), &json!(11))
    );
    // The rows are ordered by id: 0, 1, 10, 11, 2, 3.
    assert_eq!(
        rows[5],
        json!({
            "_id": "3", "query": "A day of rain", "a": "Rain", "b": "It rained all day.",
            "group": "3",
        })
    );
    #[cfg(unix)]
    {
        home.write("secret", "mine\n@highlight\nmine\n");
        std::os::unix::fs::symlink(home.path("secret"), home.path("cnn/a.story")).unwrap();
        let (told, rows) = transfer(&home, "cnndm cnn --all");
        assert_eq!((rows.len(), &told["refused"]), (12, &json!(1)));
    }
}

#[test]
fn tables_are_read_by_their_columns() {
    let home = TestHome::new();
    let head = "\u{feff}Quality\t#1 ID\t#2 ID\t#1 String\t#2 String\r\n";
    for split in ["train", "test"] {
        let rows = "1\t1\t2\tHe said \"no.\tNo, he said.\r\n0\t3\t4\tIt rose.\tIt fell.\r\n";
        let file = format!("msr/msr_paraphrase_{split}.txt");
        home.write(&file, format!("{head}{rows}"));
    }
    let (told, rows) = transfer(&home, "mspc msr");
    assert_eq!((&told["rows"], &told["pairs"]), (&json!(4), &json!(2)));
    assert_eq!(told["left_out"], json!({"no-paraphrase": 2}));
    assert_eq!(rows[1]["_id"], "test-1-2");
    let said = home.run("transfer mspc msr/msr_paraphrase_test.txt --to out.jsonl");
    assert!(said.expect_success().contains("is_symmetric = true"));

    let simple = "a\tb\tc\td\te\tf\tg\th";
    home.write(
        "turk/tune.8turkers.organized.tsv",
        format!("0\tOne -LRB- two -RRB- .\t{simple}\n"),
    );
    let (told, rows) = transfer(&home, "wikiturk turk");
    assert_eq!(
        (&told["pairs"], &rows[7]["b"]),
        (&json!(8), &json!("One ( two ) ."))
    );
    home.write("tok/test.8turkers.tok.norm", "one -lrb- two -rrb- .\n");
    for number in 0..8 {
        home.write(&format!("tok/test.8turkers.tok.turk.{number}"), "one .\n");
    }
    let (told, rows) = transfer(&home, "wikiturk tok");
    assert_eq!(
        (&told["pairs"], &rows[7]["b"]),
        (&json!(8), &json!("one ( two ) ."))
    );

    home.write("WNC/biased.full", "5\tx\ty\tA great city.\tA city.\tp\tq\n");
    let (told, rows) = transfer(&home, "wnc WNC");
    assert_eq!(
        (&told["pairs"], &rows[0]["a"]),
        (&json!(1), &json!("A city."))
    );
}

#[test]
fn passages_get_the_answers_of_other_questions() {
    let home = TestHome::new();
    let row = |id: &str, answers: Value, passage: &str| {
        let row = json!({
            "_id": id, "question": "who was it", "answers": answers, "type": "PERSON",
            "passage": passage,
        });
        format!("{row}\n")
    };
    let rows = [
        row("1", json!(["Ada Byrd"]), "It was Ada Byrd."),
        row("1", json!(["Ada Byrd"]), "ADA BYRD was it."),
        row("2", json!(["Bo Carr"]), "It was Bo Carr."),
        row("3", json!(["Cy", "Dee"]), "It was Cy."),
        row("4", json!(["Eve Fox"]), "It was nobody."),
        "{}\n".to_owned(),
    ];
    home.write("nq.jsonl", rows.concat());
    let (told, rows) = transfer(&home, "factuality nq.jsonl");
    assert_eq!((&told["pairs"], &told["refused"]), (&json!(3), &json!(1)));
    assert_eq!(
        told["left_out"],
        json!({"not-one-answer": 1, "answer-not-in-passage": 1})
    );
    let ids: Vec<&Value> = rows.iter().map(|it| &it["_id"]).collect();
    assert_eq!(ids, ["1:0", "1:1", "2:0"]);
    assert_eq!(rows[1]["group"], "1");
    let others = ["Bo Carr was it.", "Eve Fox was it."];
    assert!(
        others.contains(&rows[1]["b"].as_str().unwrap()),
        "{}",
        rows[1]
    );
    assert_eq!(transfer(&home, "factuality nq.jsonl").1, rows);
}

#[test]
fn what_is_no_data_set_of_a_layout_is_refused_with_the_way_out() {
    let home = TestHome::new();
    jfleg(&home);
    home.write("other.txt", "nothing\n");
    for (line, said) in [
        ("jfleg nowhere --to o", "nowhere"),
        ("jfleg jfleg/dev --to o", "dev/dev.src"),
        ("jfleg jfleg --spellchecked --to o", "dev.spellchecked.src"),
        ("gyafc jfleg --to o", "tune/informal"),
        ("xsum jfleg --to o", "*.summary"),
        ("mspc jfleg --to o", "msr_paraphrase_train.txt"),
        ("wikiturk jfleg --to o", "tune.8turkers.organized.tsv"),
        ("wnc other.txt --to o", "is it the layout `wnc`?"),
        ("factuality jfleg --to o", "is a folder"),
        (
            "jfleg jfleg --to jfleg/dev/dev.ref1",
            "is a file of the dataset",
        ),
    ] {
        let refused = home.run(&format!("transfer {line}")).expect_failure();
        assert!(refused.contains(said), "{line}: {refused}");
    }
    assert!(!home.path("o").exists());
    assert!(home.read("jfleg/dev/dev.ref1").starts_with("For years"));
    home.write("jfleg/dev/dev.ref2", "one line\n");
    home.expect_refused(
        "transfer jfleg jfleg --to o",
        "dev.ref2: the line count is 1",
    );
}
