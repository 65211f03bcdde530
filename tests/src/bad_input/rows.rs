//! Rows, lines and archives that are damaged.

use std::fs;
use std::io::Write;

use expect_test::expect;

use super::{CORPUS, MINE, QUERIES, check_refused, check_told, collection, refusal, study};
use crate::harness::TestHome;

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
            refused: c/corpus.jsonl, line 6: the id `d1` is already used in line 1; the first row is kept
            rows refused and left out: 8
            warning: c/corpus.jsonl, line 8: `_id` is a number, read as the string `5`
            warning: c/corpus.jsonl, line 9: the document is empty
            rows read with a warning: 2
        "#]],
    );
    let kept = home.read("data/collections/c/corpus.jsonl");
    expect![[r#"
        {"_id":"d1","title":"","text":"river bank river"}
        {"_id":"5","title":"","text":"river bank"}
        {"_id":"d6","title":"","text":" "}
    "#]]
    .assert_eq(&kept);
    let refused = home
        .run(&MINE.replace("all", "all --json"))
        .expect_success();
    assert!(refused.contains(r#""tfc1":1"#), "{refused}");
}

#[test]
fn the_sixth_row_and_those_after_it_are_counted() {
    let home = collection(CORPUS.to_owned() + "{\n".repeat(2000).as_str(), QUERIES);
    let ran = home.run("import c --to c --json");
    assert_eq!(ran.err.matches("refused: ").count(), 5, "{}", ran.err);
    ran.expect_stderr("rows refused and left out: 2000");
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
            refused: c/corpus.jsonl, line 3: byte 27 of the line (0xE9) is not valid UTF-8; save the file as UTF-8
            refused: c/corpus.jsonl, line 5: the id `d\u{0}5` contains a control character (U+0000); remove it
            refused: c/corpus.jsonl, line 6: the id `d\u{202e}6` contains a bidirectional control character (U+202E); remove it
            refused: c/corpus.jsonl, line 7: broken JSON at byte 24, control character (\u0000-\u001F) found while parsing a string: a row is one JSON object, as in {"_id": "7", "text": "a text"}
            rows refused and left out: 4
            warning: c/corpus.jsonl, line 4: the text contains NUL characters; they are kept; the text contains bidirectional control characters (U+202E); they are kept and the displayed text may differ from the analyzed text
            rows read with a warning: 1
        "#]],
    );
    home.run(&MINE.replace("c --pool", "data/collections/c --pool"))
        .expect_success();
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
            refused: c/corpus.jsonl, line 1: a line of 50 MB, longer than the 16 MB allowed per row; is a line break missing?
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
        left out, since they need word vectors (--vectors FILE): stmc1, stmc2, stmc3
        refused: c/qrels.tsv, line 4: the grade `much` is not a whole number
        refused: c/qrels.tsv, line 5: 2 columns; expected 4: query, 0, document, grade (or 3 if the first line is `query-id corpus-id score`)
        rows refused and left out: 2
        qrels: not in the collection: 1 query (q9), 1 document (d9)
        refused: c/runs/a.run, line 4: the score `x` is not a number
        rows refused and left out: 1
        a.run: not in the collection: 1 document (d8)
        documents of the pools without a text, left out: 1
    "#]],
    );
    home.write("c/runs/none.run", "q1 d1\nq1 Q0 d2 1 NaN a\n");
    check_refused(
        &home,
        &MINE.replace("all", "run:none.run:10"),
        expect![[r#"
            c/runs/none.run: every row was refused, the first in line 1: 2 columns; expected 6: query, Q0, document, rank, score, tag; give a TREC run
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
        refused: c/qrels.tsv, line 5: 2 columns; expected 4: query, 0, document, grade (or 3 if the first line is `query-id corpus-id score`)
        refused: c/runs/a.run, line 4: the score `x` is not a number
        rows refused and left out: 3
    "#]],
    );
    check_refused(
        &home,
        "eval c/qrels.tsv c/runs/b.run -m AP",
        expect![[r#"
        c/runs/b.run: every row was refused, the first in line 1: the score `NaN` is not finite: remove the row or give it a finite score; give a TREC run
    "#]],
    );
}

#[test]
fn a_score_that_is_no_number_is_an_error() {
    let home = collection(CORPUS, QUERIES);
    home.run(MINE).expect_success();
    let judge = "judge --collection c --instances mined.parquet --ranker scores:s.tsv";
    for (scores, expected) in [
        (
            "q1 d1 1\nq1 d2 NaN\n",
            expect![[r#"
            s.tsv, line 2: the score `NaN` is not finite: remove the row or give it a finite score
        "#]],
        ),
        (
            "q1 d1 -inf\n",
            expect![[r#"
            s.tsv, line 1: the score `-inf` is not finite: remove the row or give it a finite score
        "#]],
        ),
        (
            "q1 Q0 d1 1 infinity x\n",
            expect![[r#"
            s.tsv, line 1: the score `infinity` is not finite: remove the row or give it a finite score
        "#]],
        ),
        (
            "q1 d1 1e999\n",
            expect![[r#"
            s.tsv, line 1: the score `1e999` is not finite: remove the row or give it a finite score
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
            s.tsv, line 2: document `d1` already has a score for query `q1` (1); remove one of the two rows
        "#]],
        ),
        (
            "q1 d1\n",
            expect![[r#"
            s.tsv, line 1: 2 columns; expected 3 (query, document, score) or 6 as in a TREC run
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
        there is no file `none.tsv`, `none.tsv.gz` or `none.tsv.zst`, also not in c/runs; check the name
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
    let archives: [(&str, &[u8]); 4] = [
        ("c/corpus.jsonl.gz", &gzip[..gzip.len() - 12]),
        ("c/corpus.jsonl.gz", &flipped),
        ("c/corpus.jsonl.zst", &zstd[..zstd.len() - 12]),
        ("c/corpus.jsonl.gz", b"\x1f\x8b"),
    ];
    let refused = archives.map(|(file, bytes)| {
        let path = home.write(file, bytes);
        let refused = refusal(&home, MINE);
        fs::remove_file(path).unwrap();
        refused
    });
    expect![[r#"
        c/corpus.jsonl.gz: reading stopped at line 2: the gzip archive is cut off, copy it again
        c/corpus.jsonl.gz: reading stopped at line 1: the gzip archive is damaged, copy it again
        c/corpus.jsonl.zst: reading stopped at line 1: the zstd archive is cut off, copy it again
        c/corpus.jsonl.gz: reading stopped at line 1: the gzip archive is cut off, copy it again
    "#]]
    .assert_eq(&refused.concat());
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
            c/corpus.jsonl.gz: reading stopped at line 1: the first 327 kB expand to 67 MB, more than 200 times as much; if you trust the file, decompress it first
        "#]],
    );
}

#[test]
fn marks_and_paths_in_ids_and_texts_are_only_text() {
    let script = "<script>alert('x')</script>";
    let home = TestHome::new();
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
    home.run("import c --to c").expect_success();
    home.run("mine --collection c --pool all --out mined.parquet")
        .expect_success();
    let judge = "judge --collection c --instances mined.parquet --ranker bm25 --json";
    assert_eq!(home.run(judge).json()["tfc1"]["unscored"], 0);

    let title = format!("{script} & ../../");
    home.write(
        "study.toml",
        study(&[("title", &title), ("description", script)]),
    );
    home.run("study run study.toml").expect_success();
    for format in ["md", "csv", "tex", "json", "html"] {
        let report = home
            .run(&format!("report small --format {format}"))
            .expect_success();
        if format == "html" {
            assert!(!report.contains("<script"), "{report}");
            assert!(report.contains("&lt;script&gt;"), "{report}");
        }
    }
    home.run("study export small --out out").expect_success();
    let outside = home.path("..").join("d2");
    assert!(!outside.exists());
}
