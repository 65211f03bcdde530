//! What people and programs get wrong: a message that names the thing and the way out, never a
//! panic (see [`crate::harness::Ran::of`]), never half of a result.
//!
//! A damaged row costs itself alone: it is left out and told. A damaged file, setting or folder
//! ends the command with code 1.

use std::fs;
use std::io::Write;

use expect_test::{Expect, expect};

use crate::harness::{Home, Ran, tiny, tiny_model};

/// A folder with a collection `c` of these files.
fn collection(corpus: impl AsRef<[u8]>, queries: impl AsRef<[u8]>) -> Home {
    let home = Home::new();
    home.write("c/corpus.jsonl", corpus);
    home.write("c/queries.jsonl", queries);
    home
}

const CORPUS: &str = r#"{"_id": "d1", "text": "river bank river"}
{"_id": "d2", "text": "river bank"}
"#;
const QUERIES: &str = r#"{"_id": "q1", "text": "river bank"}"#;
const MINE: &str = "mine --collection c --pool all --out mined.parquet";

/// What is said on standard error of a command that is done all the same.
fn check_told(home: &Home, line: &str, expected: Expect) {
    let ran = home.run(line);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    expected.assert_eq(&ran.err);
}

/// The message of a command that is not done, and which leaves no file but those before.
fn check_refused(home: &Home, line: &str, expected: Expect) {
    let before = home.files();
    let message = home.run(line).refused();
    let here = home.path("");
    let here = here.to_string_lossy();
    expected.assert_eq(&format!(
        "{}\n",
        message.replace(here.trim_end_matches('/'), "HOME")
    ));
    assert_eq!(home.files(), before, "{line}");
}

#[test]
fn a_broken_row_costs_itself_alone() {
    let corpus = [
        r#"{"_id": "d1", "text": "river bank river"}"#,
        r#"{"_id": "d2", "text": "river bank"#,
        r#"["d3", "river"]"#,
        r#"{"text": "river"}"#,
        r#"{"_id": "", "text": "river"}"#,
        r#"{"_id": "d1", "text": "again"}"#,
        r#"{"_id": "d4", "text": 7}"#,
        r#"{"_id": 5, "text": "river bank"}"#,
        r#"{"_id": "d6", "title": "", "text": " "}"#,
        r#"{"_id": "d 7", "text": "river"}"#,
    ];
    let queries =
        "{\"_id\": \"q1\", \"text\": \"river bank\"}\n{\"_id\": \"q2\", \"text\": \"  \"}";
    let home = collection(corpus.join("\n"), queries);
    check_told(
        &home,
        "import c --to c",
        expect![[r#"
        refused: c/corpus.jsonl, line 2: broken JSON at byte 33, EOF while parsing a string: a row is one JSON object, as in {"_id": "7", "text": "a text"}
        refused: c/corpus.jsonl, line 3: not a JSON object: a row is one JSON object, as in {"_id": "7", "text": "a text"}
        refused: c/corpus.jsonl, line 4: `_id` is missing
        refused: c/corpus.jsonl, line 5: the id is empty
        refused: c/corpus.jsonl, line 6: the id `d1` is taken since line 1, and that row is kept
        rows refused and left out: 8
        warning: c/corpus.jsonl, line 8: `_id` is a number, taken as the text `5`
        warning: c/corpus.jsonl, line 9: the document is empty
        rows taken with a warning: 2
    "#]],
    );
    let kept = home.read("data/collections/c/corpus.jsonl");
    expect![[r#"
        {"_id":"d1","text":"river bank river","title":""}
        {"_id":"5","text":"river bank","title":""}
        {"_id":"d6","text":" ","title":""}
    "#]]
    .assert_eq(&kept);
    let refused = home.run(&MINE.replace("all", "all --json")).done();
    assert!(refused.contains(r#""tfc1":1"#), "{refused}");
}

#[test]
fn the_sixth_row_and_those_after_it_are_counted() {
    let home = collection(CORPUS.to_owned() + "{\n".repeat(2000).as_str(), QUERIES);
    let ran = home.run("import c --to c --json");
    assert_eq!(ran.err.matches("refused: ").count(), 5, "{}", ran.err);
    assert!(
        ran.err.contains("rows refused and left out: 2000"),
        "{}",
        ran.err
    );
    assert_eq!(ran.json()["refused"], 2000);
}

#[test]
fn bytes_that_are_no_text_cost_their_row() {
    let mut corpus = CORPUS.as_bytes().to_vec();
    corpus.extend(b"{\"_id\": \"d3\", \"text\": \"caf\xE9\"}\n");
    corpus.extend("{\"_id\": \"d4\", \"text\": \"river\\u0000 bank\\u202e\"}\n".bytes());
    corpus.extend("{\"_id\": \"d\\u00005\", \"text\": \"river\"}\n".bytes());
    corpus.extend("{\"_id\": \"d\\u202e6\", \"text\": \"river\"}\n".bytes());
    corpus.extend(b"{\"_id\": \"d7\", \"text\": \"\x00\"}\n");
    let home = collection(corpus, QUERIES);
    check_told(
        &home,
        "import c --to c",
        expect![[r#"
        refused: c/corpus.jsonl, line 3: byte 27 of the line (0xE9) is not UTF-8: save the file as UTF-8
        refused: c/corpus.jsonl, line 5: the id `d\u{0}5` holds a control character (U+0000): leave it out
        refused: c/corpus.jsonl, line 6: the id `d\u{202e}6` holds a bidirectional control (U+202E): leave it out
        refused: c/corpus.jsonl, line 7: broken JSON at byte 24, control character (\u0000-\u001F) found while parsing a string: a row is one JSON object, as in {"_id": "7", "text": "a text"}
        rows refused and left out: 4
        warning: c/corpus.jsonl, line 4: the text holds NUL characters, which are kept; the text holds bidirectional controls (U+202E), which are kept: it may look different from what is analysed
        rows taken with a warning: 1
    "#]],
    );
    home.run(&MINE.replace("c --pool", "data/collections/c --pool"))
        .done();
}

#[test]
fn a_line_of_50_mb_costs_itself_alone() {
    let long = format!(
        "{{\"_id\": \"d3\", \"text\": \"{}\"}}\n",
        "river ".repeat(50_000_000 / 6)
    );
    let home = collection(format!("{long}{CORPUS}"), QUERIES);
    check_told(
        &home,
        "import c --to c",
        expect![[r#"
        refused: c/corpus.jsonl, line 1: a line of 50 MB, more than the 16 MB that a row may have: is a line break missing?
        rows refused and left out: 1
    "#]],
    );
    assert_eq!(
        home.read("data/collections/c/corpus.jsonl").lines().count(),
        2
    );
}

#[test]
fn what_qrels_and_runs_name_and_the_collection_lacks_is_told() {
    let home = collection(CORPUS, QUERIES);
    home.write(
        "c/qrels.tsv",
        "q1 0 d1 1\nq1 0 d9 1\nq9 0 d1 1\nq1 0 d2 much\nq1 d2\n",
    );
    home.write(
        "c/runs/a.run",
        "q1 Q0 d1 1 2 a\nq1 Q0 d8 2 1 a\nq8 Q0 d1 1 2 a\nq1 Q0 d2 3 x a\n",
    );
    check_told(
        &home,
        &MINE.replace("all", "run:a.run:10"),
        expect![[r#"
        refused: c/qrels.tsv, line 4: the grade `much` is not a whole number
        refused: c/qrels.tsv, line 5: 2 columns where there should be 4: query, 0, document, grade (or 3 below the first line `query-id corpus-id score`)
        rows refused and left out: 2
        qrels: not in the collection: 1 query (q9), 1 document (d9)
        refused: c/runs/a.run, line 4: the score `x` is not a number
        rows refused and left out: 1
        a.run: not in the collection: 1 document (d8)
        documents of the pools without a text, left out: 1
    "#]],
    );
    home.write(
        "c/runs/b.run",
        "q1 Q0 d1 1 NaN b\nq1 Q0 d2 2 inf b\nq1 Q0 d2 two 1 b\nq1 Q0\n",
    );
    check_told(
        &home,
        "eval c/qrels.tsv c/runs/a.run -m AP",
        expect![[r#"
        refused: c/qrels.tsv, line 4: the grade `much` is not a whole number
        refused: c/qrels.tsv, line 5: 2 columns where there should be 4: query, 0, document, grade (or 3 below the first line `query-id corpus-id score`)
        refused: c/runs/a.run, line 4: the score `x` is not a number
        rows refused and left out: 3
    "#]],
    );
    check_refused(
        &home,
        "eval c/qrels.tsv c/runs/b.run -m AP",
        expect![[r#"
        eval: no query of the run has a judgement
    "#]],
    );
}

#[test]
fn a_score_that_is_no_number_is_an_error() {
    let home = collection(CORPUS, QUERIES);
    home.run(MINE).done();
    let judge = "judge --collection c --instances mined.parquet --ranker scores:s.tsv";
    for (scores, expected) in [
        (
            "q1 d1 1\nq1 d2 NaN\n",
            expect![[r#"
            s.tsv, line 2: the score `NaN` is not finite: leave the row out, or give it a number
        "#]],
        ),
        (
            "q1 d1 -inf\n",
            expect![[r#"
            s.tsv, line 1: the score `-inf` is not finite: leave the row out, or give it a number
        "#]],
        ),
        (
            "q1 Q0 d1 1 infinity x\n",
            expect![[r#"
            s.tsv, line 1: the score `infinity` is not finite: leave the row out, or give it a number
        "#]],
        ),
        (
            "q1 d1 1e999\n",
            expect![[r#"
            s.tsv, line 1: the score `1e999` is not finite: leave the row out, or give it a number
        "#]],
        ),
        (
            "q1 d1 0,5\n",
            expect![[r#"
            s.tsv, line 1: the score `0,5` is not a number
        "#]],
        ),
        (
            "q1 d1 1\nq1 d1 2\n",
            expect![[r#"
            s.tsv, line 2: document `d1` has a score for query `q1` already, 1: keep one of the two
        "#]],
        ),
        (
            "q1 d1\n",
            expect![[r#"
            s.tsv, line 1: 2 columns where there should be 3 (query, document, score) or the 6 of a run
        "#]],
        ),
    ] {
        home.write("s.tsv", scores);
        check_refused(&home, judge, expected);
    }
    check_refused(
        &home,
        &judge.replace("s.tsv", "none.tsv"),
        expect![[r#"
        there is no `none.tsv` (nor packed as .gz or .zst), also not in c/runs
    "#]],
    );
}

#[test]
fn damaged_archives_end_the_command() {
    let home = collection(CORPUS, QUERIES);
    fs::remove_file(home.path("c/corpus.jsonl")).unwrap();
    let corpus = CORPUS.as_bytes().to_vec();
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    packer.write_all(&corpus).unwrap();
    let gzip = packer.finish().unwrap();
    let fastest = ruzstd::encoding::CompressionLevel::Fastest;
    let zstd = ruzstd::encoding::compress_to_vec(&corpus[..], fastest);
    let mut flipped = gzip.clone();
    flipped[20] ^= 0xff;
    for (file, bytes, expected) in [
        (
            "c/corpus.jsonl.gz",
            &gzip[..gzip.len() - 12],
            expect![[r#"
            c/corpus.jsonl.gz: reading stopped in line 2: the gzip archive is cut off, copy it again
        "#]],
        ),
        (
            "c/corpus.jsonl.gz",
            &flipped,
            expect![[r#"
            c/corpus.jsonl.gz: reading stopped in line 1: the gzip archive is damaged, copy it again
        "#]],
        ),
        (
            "c/corpus.jsonl.zst",
            &zstd[..zstd.len() - 12],
            expect![[r#"
            c/corpus.jsonl.zst: reading stopped in line 1: the zstd archive is cut off, copy it again
        "#]],
        ),
        (
            "c/corpus.jsonl.gz",
            b"\x1f\x8b",
            expect![[r#"
            c/corpus.jsonl.gz: reading stopped in line 1: the gzip archive is cut off, copy it again
        "#]],
        ),
    ] {
        let path = home.write(file, bytes);
        check_refused(&home, MINE, expected);
        fs::remove_file(path).unwrap();
    }
}

#[test]
fn an_archive_that_never_ends_is_not_unpacked_to_its_end() {
    let home = collection(CORPUS, QUERIES);
    fs::remove_file(home.path("c/corpus.jsonl")).unwrap();
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let spaces = vec![b' '; 1 << 20];
    for _ in 0..200 {
        packer.write_all(&spaces).unwrap();
    }
    home.write("c/corpus.jsonl.gz", packer.finish().unwrap());
    check_refused(
        &home,
        MINE,
        expect![[r#"
        c/corpus.jsonl.gz: reading stopped in line 1: the first 327 kB expand to 67 MB, over 200 times as much, which no text does; if you trust the file, unpack it and give what is inside
    "#]],
    );
}

#[test]
fn marks_and_paths_in_ids_and_texts_are_only_text() {
    let script = "<script>alert('x')</script>";
    let home = Home::new();
    let corpus = [
        (format!("{}1", "<script>"), "river bank river"),
        ("../../d2".to_owned(), "river bank"),
        ("d3".to_owned(), "../../ river <script>alert(1)</script>"),
    ];
    let rows = corpus.map(|(id, text)| {
        serde_json::json!({"_id": id, "title": "</td><script>", "text": text}).to_string()
    });
    home.write("c/corpus.jsonl", rows.join("\n"));
    let query = serde_json::json!({"_id": "../../q<script>", "text": format!("river {script}")});
    home.write("c/queries.jsonl", query.to_string());
    home.write("c/qrels.tsv", "../../q<script>\t0\t../../d2\t1\n");
    home.run("import c --to c").done();
    home.run("mine --collection c --pool all --out mined.parquet")
        .done();
    let judge = "judge --collection c --instances mined.parquet --ranker bm25 --json";
    assert_eq!(home.run(judge).json()["tfc1"]["unscored"], 0);

    let title = format!("{script} & ../../");
    home.write(
        "study.toml",
        study(&[("title", &title), ("description", script)]),
    );
    home.run("study run study.toml").done();
    for format in ["md", "csv", "tex", "json", "html"] {
        let report = home.run(&format!("report small --format {format}")).done();
        if format == "html" {
            assert!(!report.contains("<script"), "{report}");
            assert!(report.contains("&lt;script&gt;"), "{report}");
        }
    }
    home.run("study export small --out out").done();
    let outside = home.path("..").join("d2");
    assert!(!outside.exists());
}

/// A study file of collection `c` with other values for some keys.
fn study(changes: &[(&str, &str)]) -> String {
    let value = |key: &str, usual: &str| {
        let changed = changes.iter().find(|it| it.0 == key).map(|it| it.1);
        format!("{key} = {:?}\n", changed.unwrap_or(usual))
    };
    let mut text = "format = 1\n".to_owned();
    for (key, usual) in [
        ("name", "small"),
        ("title", "Small"),
        ("description", ""),
        ("collection", "c"),
        ("pool", "all"),
    ] {
        text += &value(key, usual);
    }
    text + r#"probes = ["tfc1", "tp"]
modes = ["fixed"]
rankers = ["bm25", "ql"]
[limits]
length_gap_terms = 10
min_terms = 1
repeat_from = 2
repeat_to = 4
repeated_terms = 240
filled_terms = 512
fillable_terms = 256
seed = 42
"#
}

#[test]
fn settings_out_of_their_range_are_refused() {
    let home = collection(CORPUS, QUERIES);
    home.run("mine --collection c --pool all --out good.parquet")
        .done();
    let mine = "mine --collection c --out mined.parquet";
    let judge = "judge --collection c --instances good.parquet --ranker";
    for (line, expected) in [
        (
            format!("{mine} --pool rank:bm25:0"),
            expect![[r#"
            pool rank:bm25:0: `0` is not a number of documents, 1 or more
        "#]],
        ),
        (
            format!("{mine} --pool run:a.run:0"),
            expect![[r#"
            pool run:a.run:0: `0` is not a number of documents, 1 or more
        "#]],
        ),
        (
            format!("{mine} --pool everything"),
            expect![[r#"
            pool everything: is none of run:FILE:K, rank:RANKER:K, group, judged, all
        "#]],
        ),
        (
            format!("{mine} --pool group"),
            expect![[r#"
            pool group: no query has a `doc_group`; take rank:bm25:100 or give the groups
        "#]],
        ),
        (
            format!("{mine} --pool judged"),
            expect![[r#"
            pool judged: the collection has no qrels; take rank:bm25:100 or add them
        "#]],
        ),
        (
            format!("{mine} --delta -1"),
            expect![[r#"
            delta: `-1` is not a number of terms, 0 or more, or inf
        "#]],
        ),
        (
            format!("{mine} --delta ten"),
            expect![[r#"
            delta: `ten` is not a number of terms, 0 or more, or inf
        "#]],
        ),
        (
            format!("{mine} --min-terms -1"),
            expect![[r#"
            min-terms: `-1` is not a number of terms, 0 or more
        "#]],
        ),
        (
            format!("{mine} --per-query 0"),
            expect![[r#"
            per_query: must be at least 1, or left out
        "#]],
        ),
        (
            format!("{mine} --probes tfc1,tfc9"),
            expect![[r#"
            probes: `tfc9` is none of tfc1, tfc2, mtdc, lnc1, lnc2, tp, all
        "#]],
        ),
        (
            format!("{mine} --mode loose"),
            expect![[r#"
            mode: `loose` is none of `fixed`, `paper`, `code`
        "#]],
        ),
        (
            format!("{mine} --stopwords none.txt"),
            expect![[r#"
            none.txt: No such file or directory (os error 2); give none, en-function, or a text file with one word a line
        "#]],
        ),
        (
            format!("{judge} ql:mu=0"),
            expect![[r#"
            ql mu: must be above 0: without smoothing ln(0) is no score
        "#]],
        ),
        (
            format!("{judge} ql:mu=-1"),
            expect![[r#"
            ql mu: `-1` is not a number of at least 0
        "#]],
        ),
        (
            format!("{judge} ql:lambda=1.5"),
            expect![[r#"
            ql lambda: `1.5` is not a number from 0 to 1
        "#]],
        ),
        (
            format!("{judge} bm25:k1=-1"),
            expect![[r#"
            bm25 k1: `-1` is not a number of at least 0
        "#]],
        ),
        (
            format!("{judge} bm25:b=2"),
            expect![[r#"
            bm25 b: `2` is not a number from 0 to 1
        "#]],
        ),
        (
            format!("{judge} bm25:k1=NaN"),
            expect![[r#"
            bm25 k1: `NaN` is not a number of at least 0
        "#]],
        ),
        (
            format!("{judge} bm25:k4=1"),
            expect![[r#"
            bm25: `k4` is none of k1, b, k3, idf
        "#]],
        ),
        (
            format!("{judge} bm26"),
            expect![[r#"
            model bm26: is neither a folder nor a name on the hub, such as `sentence-transformers/all-MiniLM-L6-v2`
        "#]],
        ),
        (
            format!("{judge} scores:"),
            expect![[r#"
            ranker: scores:FILE needs a file
        "#]],
        ),
        (
            format!("{judge} bm25 --delta-score -1"),
            expect![[r#"
            delta-score: must be a finite number, 0 or more
        "#]],
        ),
        (
            format!("{judge} bm25 --delta-score NaN"),
            expect![[r#"
            delta-score: must be a finite number, 0 or more
        "#]],
        ),
        (
            "rank --collection c --ranker bm25 --top 0 --out a.run".to_owned(),
            expect![[r#"
            top: must be at least 1
        "#]],
        ),
        (
            "rank --collection c --ranker bm25 --top=-1 --out a.run".to_owned(),
            expect![[r#"
                top: `-1` is not a number of documents, 1 or more
            "#]],
        ),
        (
            "rank --collection none --ranker bm25 --out a.run".to_owned(),
            expect![[r#"
                there is no collection named `none`, and no such folder; `axioscope import FOLDER --to NAME` brings one in
            "#]],
        ),
        (
            "import none --to c".to_owned(),
            expect![[r#"
                there is no `corpus.jsonl` (nor packed as .gz or .zst), also not in none
            "#]],
        ),
        (
            "eval c/queries.jsonl -m AP".to_owned(),
            expect![[r#"
                eval: give QRELS and RUN, or RUN alone with --labels-in-run
            "#]],
        ),
        (
            "eval none none -m AP".to_owned(),
            expect![[r#"
                none: No such file or directory (os error 2); check the path and its rights
            "#]],
        ),
        (
            "eval none none -m precision".to_owned(),
            expect![[r#"
                measure `precision`: is none of nDCG@10, AP, RR, P@5, R@100, with a level as in AP(rel=2)@100 (MAP is the mean of AP, MRR of RR)
            "#]],
        ),
    ] {
        println!("{line}");
        check_refused(&home, &line, expected);
    }
}

#[test]
fn names_that_would_leave_the_data_folder_are_refused() {
    let home = collection(CORPUS, QUERIES);
    home.run("study list").done();
    assert_eq!(
        home.run("import c --to -c").code,
        Some(2),
        "taken for an option"
    );
    for (line, expected) in [
        (
            "import c --to ../../c",
            expect![[r#"
            name `../../c`: a name has 1 to 64 lower-case letters, digits and hyphens, and begins with no hyphen
        "#]],
        ),
        (
            "study publish ../small",
            expect![[r#"
            there is no study named `../small`
        "#]],
        ),
        (
            "study check ../../etc",
            expect![[r#"
            name `../../etc`: a name has 1 to 64 lower-case letters, digits and hyphens, and begins with no hyphen
        "#]],
        ),
        (
            "study export ../small --out out",
            expect![[r#"
            name `../small`: a name has 1 to 64 lower-case letters, digits and hyphens, and begins with no hyphen
        "#]],
        ),
        (
            "report /etc/passwd",
            expect![[r#"
            name `/etc/passwd`: a name has 1 to 64 lower-case letters, digits and hyphens, and begins with no hyphen
        "#]],
        ),
    ] {
        check_refused(&home, line, expected);
    }
}

#[test]
fn a_study_file_that_is_not_one_is_refused() {
    let home = collection(CORPUS, QUERIES);
    home.run("study list").done();
    for (file, expected) in [
        (
            study(&[]).replace("title", "titel"),
            expect![[r#"
            study.toml: TOML parse error at line 3, column 1
              |
            3 | titel = "Small"
              | ^^^^^
            unknown field `titel`, expected one of `format`, `name`, `title`, `description`, `collection`, `n_queries`, `pool`, `probes`, `modes`, `rankers`, `analyzer`, `limits`
        "#]],
        ),
        (
            study(&[("name", "../small")]),
            expect![[r#"
            name `../small`: a name has 1 to 64 lower-case letters, digits and hyphens, and begins with no hyphen
        "#]],
        ),
        (
            study(&[("pool", "rank:bm25:0")]),
            expect![[r#"
            study.toml: TOML parse error at line 6, column 8
              |
            6 | pool = "rank:bm25:0"
              |        ^^^^^^^^^^^^^
            pool rank:bm25:0: `0` is not a number of documents, 1 or more
        "#]],
        ),
        (
            study(&[("collection", "../none")]),
            expect![[r#"
            there is no collection named `../none`, and no such folder; `axioscope import FOLDER --to NAME` brings one in
        "#]],
        ),
        (
            study(&[]).replace("\"ql\"", "\"ql:mu=0\""),
            expect![[r#"
            ql mu: must be above 0: without smoothing ln(0) is no score
        "#]],
        ),
        (
            study(&[]).replace("\"ql\"", "\"none\""),
            expect![[r#"
            there is no model named `none`
        "#]],
        ),
        (
            study(&[]).replace("seed = 42", "seed = -42"),
            expect![[r#"
            study.toml: TOML parse error at line 18, column 8
               |
            18 | seed = -42
               |        ^^^
            invalid value: integer `-42`, expected u64
        "#]],
        ),
        (
            study(&[]).replace("seed = 42", "seed = 42\ncap = 1"),
            expect![[r#"
                study.toml: TOML parse error at line 19, column 1
                   |
                19 | cap = 1
                   | ^^^
                unknown field `cap`, expected one of `length_gap_terms`, `min_terms`, `repeat_from`, `repeat_to`, `repeated_terms`, `filled_terms`, `fillable_terms`, `per_query`, `seed`
            "#]],
        ),
        (
            study(&[]).replace("format = 1", "format = 2"),
            expect![[r#"
                format: 2 is not known to this version, which reads 1; update it
            "#]],
        ),
        (
            study(&[]).replace("\"tfc1\", \"tp\"", ""),
            expect![[r#"
                probes: a study needs at least one probe and one mode
            "#]],
        ),
    ] {
        home.write("study.toml", &file);
        check_refused(&home, "study run study.toml", expected);
    }
    home.write("study.toml", "\0");
    let refused = home.run("study run study.toml").refused();
    assert!(
        refused.starts_with("study.toml: TOML parse error at line 1"),
        "{refused}"
    );
    assert_eq!(home.run("study list").done(), "");
    fs::write(home.path("study.toml"), b"\xff\xfe").unwrap();
    check_refused(
        &home,
        "study run study.toml",
        expect![[r#"
                study.toml: stream did not contain valid UTF-8; give the path of a study's TOML file
            "#]],
    );
}

#[test]
fn a_collection_without_documents_or_queries_makes_no_study() {
    let home = collection("", QUERIES);
    home.run("study list").done();
    home.write("study.toml", study(&[]));
    check_refused(
        &home,
        "study run study.toml",
        expect![[r#"
        collection: it has no documents; give a corpus with at least two
    "#]],
    );
    home.write("c/corpus.jsonl", CORPUS);
    home.write("c/queries.jsonl", "");
    check_refused(
        &home,
        "study run study.toml",
        expect![[r#"
        collection: it has no queries; give at least one
    "#]],
    );
    // On the command line nothing is found where there is nothing.
    assert!(home.run(MINE).done().contains("tfc1\t0\n"));
}

#[test]
fn a_file_of_instances_that_is_not_of_this_collection_is_refused() {
    let home = collection(CORPUS, QUERIES);
    home.run(MINE).done();
    let judge = format!(
        "judge --collection {} --ranker bm25 --instances mined.parquet",
        tiny()
    );
    check_refused(
        &home,
        &judge,
        expect![[r#"
        mined.parquet is damaged: there is no text `d1`: it was mined from another collection
    "#]],
    );
    let judge = "judge --collection c --ranker bm25 --instances";
    check_refused(
        &home,
        &format!("{judge} c/corpus.jsonl"),
        expect![[r#"
        c/corpus.jsonl is damaged: Parquet error: Invalid Parquet file. Corrupt footer; is it a file that `axioscope mine` wrote?
    "#]],
    );
    let whole = fs::read(home.path("mined.parquet")).unwrap();
    home.write("half.parquet", &whole[..whole.len() / 2]);
    check_refused(
        &home,
        &format!("{judge} half.parquet"),
        expect![[r#"
        half.parquet is damaged: Parquet error: Invalid Parquet file. Corrupt footer; is it a file that `axioscope mine` wrote?
    "#]],
    );
    // Any byte may be wrong: a message or, where it does not matter, the same counts.
    let expected = home.run(&format!("{judge} mined.parquet")).done();
    for at in (4..whole.len()).step_by(61) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x55;
        home.write("half.parquet", bytes);
        let ran = home.run(&format!("{judge} half.parquet"));
        match ran.code {
            Some(0) => assert_eq!(ran.out, expected, "byte {at}"),
            code => assert_eq!(code, Some(1), "byte {at}: {}", ran.err),
        }
    }
    let score = "score --collection c --ranker bm25 --out s.tsv --pairs pairs.jsonl";
    for (pairs, expected) in [
        (
            r#"{"query_id": "q1"}"#,
            expect![[r#"
                pairs.jsonl, line 1: missing field `text_id` at line 1 column 18; a row has query_id and text_id
            "#]],
        ),
        (
            r#"{"query_id": "q9", "text_id": "d1"}"#,
            expect![[r#"
                pairs.jsonl, line 1: there is no query `q9`
            "#]],
        ),
        (
            r#"{"query_id": "q1", "text_id": "../d1"}"#,
            expect![[r#"
                pairs.jsonl, line 1: there is no text `../d1`
            "#]],
        ),
        (
            r#"{"query_id": "q1", "text_id": "d1#lnc2:0"}"#,
            expect![[r#"
                pairs.jsonl, line 1: there is no text `d1#lnc2:0`
            "#]],
        ),
        (
            r#"{"query_id": "q1", "text_id": "d1#lnc2:9999999999"}"#,
            expect![[r#"
                pairs.jsonl, line 1: there is no text `d1#lnc2:9999999999`
            "#]],
        ),
    ] {
        home.write("pairs.jsonl", pairs);
        check_refused(&home, score, expected);
    }
}

/// Puts the tiny model into `m/`, changed.
fn change_model(home: &Home, change: impl Fn(&str, Vec<u8>) -> Option<Vec<u8>>) {
    for file in ["config.json", "tokenizer.json", "model.safetensors"] {
        let _ = fs::remove_file(home.path("m").join(file));
        if let Some(bytes) = change(file, fs::read(tiny_model().join(file)).unwrap()) {
            home.write(&format!("m/{file}"), bytes);
        }
    }
}

#[test]
fn a_ranker_that_nothing_has_is_not_the_default_model() {
    let home = collection(CORPUS, QUERIES);
    home.run(MINE).done();
    change_model(&home, |_, bytes| Some(bytes));
    let judge = |ranker: &str| {
        let args = "--data data judge --collection c --instances mined.parquet --ranker";
        let mut program = home.program();
        program.env("AXIOSCOPE_MODEL", home.path("m"));
        Ran::of(program.args(args.split(' ')).arg(ranker))
    };
    assert_eq!(judge("m").done(), judge("m:bi").done());
    expect![[r#"
                there is no model named `bm26` among `m:bi`, `m:late`
            "#]]
    .assert_eq(&(judge("bm26").refused() + "\n"));
}

#[test]
fn a_broken_model_folder_is_refused() {
    let home = collection(CORPUS, QUERIES);
    home.run(MINE).done();
    let judge = "judge --collection c --instances mined.parquet --ranker m";
    change_model(&home, |_, bytes| Some(bytes));
    home.run(judge).done();

    let without =
        |left_out: &'static str| move |file: &str, bytes| (file != left_out).then_some(bytes);
    change_model(&home, without("model.safetensors"));
    check_refused(
        &home,
        judge,
        expect![[r#"
        model HOME/m: has no model.safetensors; a model folder holds config.json, tokenizer.json, model.safetensors
    "#]],
    );
    check_refused(
        &home,
        "models inspect m",
        expect![[r#"
        model HOME/m: has no model.safetensors; a model folder holds config.json, tokenizer.json, model.safetensors
    "#]],
    );
    change_model(&home, without("config.json"));
    check_refused(
        &home,
        judge,
        expect![[r#"
        model HOME/m: has no config.json; a model folder holds config.json, tokenizer.json, model.safetensors
    "#]],
    );
    change_model(&home, |file, bytes| match file {
        "config.json" => {
            let config = String::from_utf8(bytes).unwrap();
            let wider = config.replace("\"hidden_size\": 32", "\"hidden_size\": 64");
            assert_ne!(config, wider);
            Some(wider.into_bytes())
        }
        _ => Some(bytes),
    });
    check_refused(
        &home,
        judge,
        expect![[r#"
        model m: tensor `embeddings.word_embeddings.weight` has shape [101, 32], but config.json asks for [101, 64]
    "#]],
    );
    change_model(&home, |file, bytes| match file {
        "model.safetensors" => Some(bytes[..bytes.len() / 2].to_vec()),
        _ => Some(bytes),
    });
    check_refused(
        &home,
        judge,
        expect![[r#"
        model m: model.safetensors (48972 bytes) cannot be read: incomplete metadata, file not fully covered
    "#]],
    );
    change_model(&home, |file, bytes| match file {
        "tokenizer.json" => Some(b"{}".to_vec()),
        _ => Some(bytes),
    });
    check_refused(
        &home,
        judge,
        expect![[r#"
        model m: tokenizer.json: Model missing. at line 1 column 2
    "#]],
    );
    check_refused(
        &home,
        &judge.replace("ranker m", "ranker none"),
        expect![[r#"
        model none: is neither a folder nor a name on the hub, such as `sentence-transformers/all-MiniLM-L6-v2`
    "#]],
    );
}

/// Runs a line where no file may grow beyond so many KiB, as on a full disk.
#[cfg(unix)]
fn run_on_little_room(home: &Home, n_kib: u32, line: &str) -> Ran {
    let program = home.program();
    let script = format!(
        "trap '' XFSZ; ulimit -f {n_kib}; exec '{}' --data data {line}",
        program.get_program().to_string_lossy()
    );
    let mut bash = std::process::Command::new("bash");
    bash.args(["-c", &script]).current_dir(home.path(""));
    for (name, value) in program.get_envs() {
        match value {
            Some(value) => bash.env(name, value),
            None => bash.env_remove(name),
        };
    }
    Ran::of(&mut bash)
}

#[cfg(unix)]
#[test]
fn on_a_full_disk_nothing_half_is_left() {
    let row = |it: u32| {
        let mud = "mud ".repeat(it as usize % 13);
        format!("{{\"_id\": \"d{it}\", \"text\": \"river bank {it} {mud}\"}}\n")
    };
    let home = collection((0..3000).map(row).collect::<String>(), QUERIES);
    home.run("import c --to c").done();
    home.run("study list").done();
    home.run("mine --collection c --pool rank:bm25:200 --out good.parquet")
        .done();
    home.write("study.toml", study(&[("pool", "rank:bm25:200")]));
    for (n_kib, line) in [
        (20, "import c --to more"),
        (
            1,
            "mine --collection c --pool rank:bm25:200 --out mined.parquet",
        ),
        (
            20,
            "rank --collection c --ranker bm25 --top 3000 --out a.run",
        ),
        (
            1,
            "pairs --collection c --instances good.parquet --out pairs.jsonl",
        ),
        (
            1,
            "score --collection c --instances good.parquet --ranker bm25 --out s.tsv",
        ),
        (4, "study run study.toml"),
    ] {
        let before = home.files();
        let message = run_on_little_room(&home, n_kib, line).refused();
        assert!(message.contains("File too large"), "{line}: {message}");
        assert!(message.contains("make room"), "{line}: {message}");
        assert_eq!(home.files(), before, "{line}");
    }
    assert_eq!(home.run("study list").done(), "");
    home.run("study run study.toml").done();
}

#[cfg(unix)]
#[test]
fn a_database_that_cannot_grow_says_so_and_stays_whole() {
    let home = collection(CORPUS, QUERIES);
    home.run("import c --to c").done();
    home.write("study.toml", study(&[]));
    let message = run_on_little_room(&home, 8, "study list").refused();
    assert!(message.contains("axioscope.db"), "{message}");
    home.run("study run study.toml").done();
    assert!(home.run("study list").done().starts_with("small\t"));
}

#[test]
fn a_data_folder_that_cannot_be_written_is_named() {
    let home = collection(CORPUS, QUERIES);
    home.write("file", "a file where a folder should be");
    for data in ["file", "file/below", "/dev/null/data"] {
        let line = ["--data", data, "import", "c", "--to", "c"];
        let message = Ran::of(home.program().args(line)).refused();
        let named = message.contains(data) && message.contains("--data");
        assert!(named, "{message}");
    }
    assert_eq!(home.read("file"), "a file where a folder should be");
    for line in [
        "mine --collection c --pool all --out file/mined.parquet",
        "mine --collection c --pool all --out none/mined.parquet",
        "rank --collection c --ranker bm25 --out none/a.run",
    ] {
        let message = home.run(line).refused();
        assert!(message.contains("choose another file"), "{line}: {message}");
    }
}

#[test]
fn a_database_from_the_future_is_left_as_it_is() {
    let home = Home::new();
    home.run("study list").done();
    let database = home.path("data/axioscope.db");
    let mut bytes = fs::read(&database).unwrap();
    // SQLite keeps `user_version` big-endian at byte 60 (sqlite.org/fileformat.html).
    bytes[60..64].copy_from_slice(&9999u32.to_be_bytes());
    fs::write(&database, &bytes).unwrap();
    let messages = [
        "study list",
        "study publish small",
        "serve --listen 127.0.0.1:0",
    ]
    .map(|line| home.run(line).refused() + "\n");
    expect![[r#"
        data/axioscope.db: made by a later version of axioscope (layout 9999, this one knows 1); update axioscope, or take another folder by `--data`
    "#]].assert_eq(&messages[0]);
    assert!(messages.iter().all(|it| *it == messages[0]), "{messages:?}");
    assert!(fs::read(&database).unwrap() == bytes, "it was changed");

    fs::write(&database, b"this is no database").unwrap();
    let message = home.run("study list").refused() + "\n";
    expect![[r#"
        data/axioscope.db is damaged: it is no database; restore it from a copy, or take another folder by `--data`
    "#]]
    .assert_eq(&message);
}

#[test]
fn a_second_server_on_the_same_data_is_refused() {
    let home = Home::new();
    let _server = home.serve(&[]);
    let message = home.run("serve --listen 127.0.0.1:0").refused() + "\n";
    expect![[r#"
        data is in use by another axioscope; stop that one, or take another folder by `--data`
    "#]]
    .assert_eq(&message);
}
