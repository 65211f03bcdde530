//! Rankers of a study: imported runs, BM25 with the parameters of a paper, and tuned parameters.

use super::*;

#[test]
fn bm25_stands_beside_each_ranker_that_is_brought() {
    let home = TestHome::new();
    let printed = home
        .run("reproduce padigela2019 --table 4")
        .expect_success();
    assert!(
        printed.contains("| MUR | first 10 | 3.12 | – |"),
        "{printed}"
    );
    let demo = demo_folder();
    let line = format!(
        "reproduce padigela2019 --table 1 --collection {demo} --pool rank:bm25:20 --ranker ql \
         --ranker bm25:k1=0.1,b=0 --json"
    );
    let made = home.run(&line).json();
    let heads = made[0]["columns"].as_array().unwrap();
    assert_eq!(heads.len(), 7, "{heads:?}");
    assert_eq!(heads[4]["name"], "ours, QL");
    let beside = |table: u8| {
        let line =
            format!("reproduce padigela2019 --table {table} --study reproduce-padigela2019 --json");
        home.run(&line).json()
    };
    let line = "compare --study reproduce-padigela2019 --a bm25 --b ql --queries found --json";
    let differ = home.run(line).json();
    let rows = |tables: &Value, name: &str| {
        let mut tables = tables.as_array().unwrap().iter();
        let table = tables.find(|it| it["name"] == name);
        table.unwrap_or_else(|| panic!("no {name}"))["rows"]
            .as_array()
            .unwrap()
            .clone()
    };
    let overlap = rows(&beside(4), "padigela2019-table-4");
    assert_eq!(overlap.len(), 12);
    for (ours, row) in overlap.iter().zip(rows(&differ, "overlap")) {
        assert_eq!(ours[4], row[1]);
    }
    let buckets = rows(&beside(2), "padigela2019-table-2");
    let of = |row: &str| {
        let rows = buckets.iter();
        let rows = rows.filter(move |it| it[0]["text"] == row);
        rows.take(5).map(|it| it[4].clone()).collect::<Vec<Value>>()
    };
    for (at, row) in rows(&differ, "buckets").iter().enumerate() {
        assert_eq!(of("BM25, queries")[at], row[1]);
        assert_eq!(of("BERT, queries")[at], row[3]);
        assert_eq!(of("BERT")[at], row[4]);
    }
    let samples = beside(5);
    assert_eq!(rows(&samples, "samples-1"), rows(&differ, "samples"));
    assert!(!rows(&samples, "samples-2").is_empty());
    for table in [3, 6] {
        let name = format!("padigela2019-table-{table}");
        assert!(!rows(&beside(table), &name).is_empty());
    }
}

/// Runs are compared as they are, and models by their ranking of a pool.
#[test]
fn bm25_stands_beside_runs_as_they_are() {
    let home = TestHome::new();
    let run = |rows: &[[&str; 3]]| -> String {
        let row = |[query, doc, score]: &[&str; 3]| format!("{query} Q0 {doc} 1 {score} it\n");
        rows.iter().map(row).collect()
    };
    home.write(
        "BM25.run",
        run(&[["q1", "d1", "2"], ["q1", "d2", "1"], ["q2", "d2", "1"]]),
    );
    home.write(
        "other.run",
        run(&[["q1", "d2", "2"], ["q2", "d1", "2"], ["q2", "d2", "1"]]),
    );
    home.write(
        "corpus.jsonl",
        "{\"_id\":\"d1\",\"text\":\"the river bank\"}\n\
        {\"_id\":\"d2\",\"text\":\"river and ferry\"}\n",
    );
    home.write(
        "queries.jsonl",
        "{\"_id\":\"q1\",\"text\":\"river bank\"}\n\
        {\"_id\":\"q2\",\"text\":\"the ferry\"}\n",
    );
    home.write("qrels.tsv", "q1 0 d1 1\nq2 0 d2 1\n");
    let line = "--run BM25.run --run other.run --json";
    let beside = |line: &str| home.run(&format!("reproduce padigela2019 {line}")).json();
    let tables = beside(&format!("--table 2 --collection . {line}"));
    let heads = tables[0]["columns"].as_array().unwrap();
    assert_eq!(heads[4]["name"], "ours, other");
    let line_of_differ = "compare --collection . --a BM25.run --b other.run \
                          --queries with-retrieved-relevant --json";
    let differ = home.run(line_of_differ).json();
    let differ = differ.as_array().unwrap().iter();
    let fqt = differ.clone().find(|it| it["name"] == "fractions").unwrap()["rows"][1].clone();
    let rows = tables[0]["rows"].as_array().unwrap().iter();
    let of = |name: &str| {
        let is_it = |it: &&Value| it[0]["text"] == name && it[1]["text"] == "mean FQT";
        rows.clone().find(is_it).unwrap()[4].clone()
    };
    assert_eq!([of("BM25"), of("BERT")], [fqt[1].clone(), fqt[2].clone()]);
    // BM25 ranks the relevant document first for both queries; the other run does not retrieve it
    // for one, and ranks it second for the other.
    let line = "--table 1 --collection . --run BM25.run --run other.run --ranker ql \
                --pool run:BM25.run:10 --json";
    let tables = beside(line);
    let heads = tables[0]["columns"].as_array().unwrap();
    let names = heads[4..6].iter().filter_map(|it| it["name"].as_str());
    assert_eq!(names.collect::<Vec<_>>(), ["ours, other", "ours, QL"]);
    let means = |tables: &Value, name: &str| -> Vec<f64> {
        let mut rows = tables[0]["rows"].as_array().unwrap().iter();
        let of = |it: &&Value| [&it[0]["text"], &it[1]["text"]] == [name, "development queries"];
        let cells = rows.find(of).unwrap().as_array().unwrap().iter();
        cells
            .filter_map(|it| it["estimate"]["value"].as_f64())
            .collect()
    };
    assert_eq!(means(&tables, "BM25"), [1.0, 1.0]);
    assert_eq!(means(&tables, "BERT"), [0.25, 1.0]);
    // With other qrels, the study is made again.
    home.write("qrels.tsv", "q1 0 d2 1\nq2 0 d2 1\n");
    let tables = beside(line);
    assert_eq!(means(&tables, "BM25"), [0.75, 0.75]);
    assert_eq!(means(&tables, "BERT"), [0.75, 0.75]);
    let own = home.run("reproduce padigela2019 --table 1 --study reproduce-padigela2019 --json");
    assert_eq!(means(&own.json(), "BERT"), [0.75]);
    let refused = home.run("reproduce camara2020 --table 3 --collection . --run BM25.run");
    assert_eq!(refused.code, Some(1));
    refused.expect_stderr("for padigela2019 alone");
}

#[test]
fn tuning_finds_the_best_point_and_puts_it_in_a_study() {
    let home = TestHome::new();
    study(&home);
    let demo = demo_folder();
    let line = format!(
        "tune --collection {demo} --ranker bm25 --measure AP --pool rank:bm25:50 --json \
         --figure surface.svg --update-study study.toml"
    );
    let told = home.run(&line).json();
    assert_eq!(told["grid"].as_array().unwrap().len(), 220);
    let best = told["best"].as_str().unwrap();
    assert!(home.read("study.toml").contains(best), "{told}");
    assert!(home.read("surface.svg").contains(best), "{told}");
    // The value is the same as by ranking and evaluating in two steps.
    let pairs = format!("mine --collection {demo} --pool rank:bm25:50 --out mined.parquet");
    home.run(&pairs).expect_success();
    let score = format!(
        "score --collection {demo} --instances mined.parquet --ranker {best} --out scores.tsv"
    );
    home.run(&score).expect_success();
    let rows = home.read("scores.tsv");
    let rows = rows.lines().filter(|it| !it.contains('#')).map(|it| {
        let row: Vec<&str> = it.split('\t').collect();
        format!("{} Q0 {} 1 {} tuned", row[0], row[1], row[2])
    });
    home.write("tuned.run", rows.collect::<Vec<_>>().join("\n"));
    let eval = home.run(&format!("eval {demo}/qrels.tsv tuned.run -m AP --json"));
    let (value, again) = (told["value"].as_f64(), eval.json()["AP"].as_f64());
    let apart = (value.unwrap() - again.unwrap()).abs();
    assert!(apart < 1e-9, "{value:?} {again:?}");
    home.expect_refused(&format!("{line} --split train"), "splits.tsv");
}

/// The run of the pool is an input of the instances, and the score file one of the scores. After
/// the first has changed, all is computed again; after the second, only its scores.
#[test]
fn a_study_whose_input_files_changed_is_made_again() {
    let home = TestHome::new();
    let scores = |sign: i32| -> String {
        let row = |doc: i32| format!("q1\td{doc}\t{}\n", sign * doc);
        (1..=3).map(row).collect()
    };
    let run = |docs: &[i32]| -> String {
        let row = |doc: &i32| format!("q1 Q0 d{doc} {doc} {} first\n", 9 - doc);
        docs.iter().map(row).collect()
    };
    home.write(
        "c/corpus.jsonl",
        "{\"_id\":\"d1\",\"text\":\"the river bank\"}\n\
         {\"_id\":\"d2\",\"text\":\"river river bank\"}\n\
         {\"_id\":\"d3\",\"text\":\"river river river\"}\n",
    );
    home.write("c/queries.jsonl", "{\"_id\":\"q1\",\"text\":\"river\"}\n");
    home.write("c/scores.tsv", scores(1));
    home.write("c/first.run", run(&[1, 2, 3]));
    let rest = study_lines(
        "run:first.run:10",
        &["tfc1"],
        &["bm25", "scores:scores.tsv"],
    );
    home.write("study.toml", study_file("inputs", "Inputs", "c", &rest));
    let make = || home.run("study run study.toml");
    let report = || home.run("report inputs --format csv").expect_success();
    make().expect_success();
    let before = report();
    make().expect_stderr("rankers scored now: 0");

    home.write("c/scores.tsv", scores(-1));
    make().expect_stderr("scores:scores.tsv: the file has changed, so it is read again");
    let other_scores = report();
    assert_ne!(other_scores, before);
    home.write("c/first.run", run(&[1, 2]));
    make().expect_stderr("first.run: changed since the study was made, so it is made again");
    assert_ne!(report(), other_scores);
    make().expect_stderr("rankers scored now: 0");
    // Without its files, the study stays as it is.
    std::fs::remove_file(home.path("c/first.run")).unwrap();
    std::fs::remove_file(home.path("c/scores.tsv")).unwrap();
    make().expect_stderr("scores:scores.tsv: its stored scores stay");
}

#[test]
fn files_without_a_row_that_can_be_read_are_errors() {
    let home = TestHome::new();
    let tiny = crate::harness::tiny_collection();
    home.run(&format!("import {tiny} --to good"))
        .expect_success();
    let whole = home.read("data/collections/good/corpus.jsonl");
    home.write("bad/corpus.jsonl", "{\"_id\":\"a\"\r{\"_id\":\"b\"\r");
    home.write("bad/queries.jsonl", "{\"_id\":\"q\",\"text\":\"river\"}\n");
    home.expect_refused("import bad --to good --data data", "every row was refused");
    home.write("bad/corpus.jsonl", "");
    home.expect_refused("import bad --to good --data data", "it has no documents");
    assert_eq!(home.read("data/collections/good/corpus.jsonl"), whole);

    let run = format!("{tiny}/runs/tiny.run");
    home.expect_refused(
        &format!("eval {run} {tiny}/qrels.tsv -m AP"),
        "every row was refused",
    );
    home.write("empty.tsv", "");
    home.expect_refused(
        &format!("eval empty.tsv {run} -m AP"),
        "it has no relevance judgments",
    );
    let rest = study_lines("all", &["tfc1"], &["bm25"]);
    let set = format!("{rest}\n[[transfers]]\nname = \"pairs\"\nfile = \"{run}\"\n");
    home.write("study.toml", study_file("empty", "Empty", tiny, &set));
    home.expect_refused("study run study.toml", "every row was refused");
}
