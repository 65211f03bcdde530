use crate::collection::FileInput;
use expect_test::{Expect, expect};

use super::{read_beir_documents, read_beir_queries};
use crate::error::FileReadReport;

fn corpus(file: impl AsRef<[u8]>, expected: Expect) {
    let (docs, reading) =
        read_beir_documents(FileInput::without_progress("c.jsonl", file.as_ref())).unwrap();
    let row = docs.iter().map(|it| {
        format!(
            "{:?} {:?} {:?} {:?}",
            it.id(),
            it.title(),
            it.text(),
            it.group()
        )
    });
    check(row.collect(), reading, expected);
}

fn queries(file: impl AsRef<[u8]>, expected: Expect) {
    let (queries, reading) =
        read_beir_queries(FileInput::without_progress("q.jsonl", file.as_ref())).unwrap();
    let row = queries
        .iter()
        .map(|it| format!("{:?} {:?} {:?}", it.id, it.text, it.group));
    check(row.collect(), reading, expected);
}

/// Compares the accepted rows and the messages about rows with `expected`.
fn check(rows: Vec<String>, reading: FileReadReport, expected: Expect) {
    assert_eq!(reading.n_rows, rows.len() as u64);
    assert_eq!(reading.n_refused, reading.refused.len() as u64);
    assert_eq!(reading.n_warned, reading.warned.len() as u64);
    let rows = rows.iter().map(|it| format!("{it}\n"));
    expected.assert_eq(&(rows.collect::<String>() + &reading.issues_as_lines()));
}

#[test]
fn fields_come_in_any_order_and_others_are_passed_over() {
    corpus(
        r#"
        {"_id": "d1", "title": "River", "text": "a bank"}
        {"variants": [{"of": "d1", "deep": [[]]}], "doc_group": "g", "text": "caf\u00e9", "_id": "d2"}
        {"_id": "d3", "title": null, "text": "no title", "doc_group": null, "metadata": {}}
        "#,
        expect![[r#"
            "d1" "River" "a bank" None
            "d2" "" "café" Some("g")
            "d3" "" "no title" None
        "#]],
    );
    queries(
        r#"
        {"_id": "q1", "text": "river bank"}
        {"_id": "q2", "text": "money bank", "doc_group": "g", "answers": ["yes"]}
        "#,
        expect![[r#"
            "q1" "river bank" None
            "q2" "money bank" Some("g")
        "#]],
    );
}

#[test]
fn numbers_for_ids_are_taken_as_their_digits() {
    corpus(
        r#"
        {"_id": 7, "text": "a", "doc_group": 12}
        {"_id": -7, "text": "b"}
        {"_id": 7.0, "text": "c"}
        {"_id": 18446744073709551616, "text": "d"}
        "#,
        expect![[r#"
            "7" "" "a" Some("12")
            "-7" "" "b" None
            refused: c.jsonl, line 4: `_id` is a number that is too large or not an integer; expected a string in quotes
            refused: c.jsonl, line 5: `_id` is a number that is too large or not an integer; expected a string in quotes
            warned: c.jsonl, line 2: `_id` is a number, read as the string `7`; `doc_group` is a number, read as the string `12`
            warned: c.jsonl, line 3: `_id` is a number, read as the string `-7`
        "#]],
    );
}

#[test]
fn broken_rows_are_refused_one_by_one() {
    corpus(
        br#"{"_id": "d1", "text": "cut
{"_id": "d2", "text": "two"} {"_id": "d3", "text": "on one line"}
["d4", "title", "text", null]
"d5"
{"_id": "d6", "text": "twice", "text": "over"}
{'_id': 'd7', 'text': 'python'}
{"_id": "d8", "text": "a tab	inside"}
{"_id": "d9", "text": "lone \ud800 surrogate"}
{"_id": "d10", "text": "fine"}
"#,
        expect![[r#"
            "d10" "" "fine" None
            refused: c.jsonl, line 1: broken JSON at byte 26, EOF while parsing a string: a row is one JSON object, as in {"_id": "7", "text": "a text"}
            refused: c.jsonl, line 2: broken JSON at byte 30, trailing characters: a row is one JSON object, as in {"_id": "7", "text": "a text"}
            refused: c.jsonl, line 3: not a JSON object: a row is one JSON object, as in {"_id": "7", "text": "a text"}
            refused: c.jsonl, line 4: not a JSON object: a row is one JSON object, as in {"_id": "7", "text": "a text"}
            refused: c.jsonl, line 5: broken JSON at byte 37, duplicate field `text`: a row is one JSON object, as in {"_id": "7", "text": "a text"}
            refused: c.jsonl, line 6: broken JSON at byte 2, key must be a string: a row is one JSON object, as in {"_id": "7", "text": "a text"}
            refused: c.jsonl, line 7: broken JSON at byte 29, control character (\u0000-\u001F) found while parsing a string: a row is one JSON object, as in {"_id": "7", "text": "a text"}
            refused: c.jsonl, line 8: broken JSON at byte 35, unexpected end of hex escape: a row is one JSON object, as in {"_id": "7", "text": "a text"}
        "#]],
    );
}

#[test]
fn wrong_types_are_named() {
    corpus(
        r#"
        {"_id": ["d1"], "text": "a"}
        {"_id": {"$oid": "d1"}, "text": "a"}
        {"_id": true, "text": "a"}
        {"_id": null, "text": "a"}
        {"id": "d1", "text": "a"}
        {"_id": "d1"}
        {"_id": "d1", "text": null}
        {"_id": "d1", "text": 5}
        {"_id": "d1", "text": ["a", "b"]}
        {"_id": "d1", "text": "a", "title": 1.5}
        {"_id": "d1", "text": "a", "doc_group": ["g"]}
        "#,
        expect![[r#"
            refused: c.jsonl, line 2: `_id` is an array; expected a string in quotes
            refused: c.jsonl, line 3: `_id` is an object; expected a string in quotes
            refused: c.jsonl, line 4: `_id` is true or false; expected a string in quotes
            refused: c.jsonl, line 5: `_id` is missing
            refused: c.jsonl, line 6: `_id` is missing
            refused: c.jsonl, line 7: `text` is missing
            refused: c.jsonl, line 8: `text` is missing
            refused: c.jsonl, line 9: `text` is the number 5; expected a string in quotes
            refused: c.jsonl, line 10: `text` is an array; expected a string in quotes
            refused: c.jsonl, line 11: `title` is a number that is too large or not an integer; expected a string in quotes
            refused: c.jsonl, line 12: `doc_group` is an array; expected a string in quotes
        "#]],
    );
}

#[test]
fn an_id_is_whole_and_comes_once() {
    corpus(
        r#"{"_id": "d1", "text": "first"}
{"_id": "d2", "text": "other"}
{"_id": "d1", "text": "second"}
{"_id": "", "text": "a"}
{"_id": "two words", "text": "a"}
{"_id": "nul\u0000", "text": "a"}
{"_id": "turned\u202e", "text": "a"}
{"_id": "<script>alert(1)</script>", "title": "<b>", "text": "<script>alert(2)</script>"}
{"_id": "../../etc/passwd", "text": "../../etc/passwd"}
"#,
        expect![[r#"
            "d1" "" "first" None
            "d2" "" "other" None
            "<script>alert(1)</script>" "<b>" "<script>alert(2)</script>" None
            "../../etc/passwd" "" "../../etc/passwd" None
            refused: c.jsonl, line 3: the id `d1` is already used in line 1; the first row is kept
            refused: c.jsonl, line 4: the id is empty
            refused: c.jsonl, line 5: the id `two words` contains whitespace (U+0020); remove it
            refused: c.jsonl, line 6: the id `nul\u{0}` contains a control character (U+0000); remove it
            refused: c.jsonl, line 7: the id `turned\u{202e}` contains a bidirectional control character (U+202E); remove it
        "#]],
    );
}

#[test]
fn odd_characters_stay_and_are_told() {
    corpus(
        r#"{"_id": "d1", "text": "nul \u0000 byte"}
{"_id": "d2", "title": "left \u202e right", "text": "nul \u0000, left \u200f"}
{"_id": "d3", "text": "“quoted” – naïve 日本 \u200b"}
"#,
        expect![[r#"
            "d1" "" "nul \0 byte" None
            "d2" "left \u{202e} right" "nul \0, left \u{200f}" None
            "d3" "" "“quoted” – naïve 日本 \u{200b}" None
            warned: c.jsonl, line 1: the text contains NUL characters; they are kept
            warned: c.jsonl, line 2: the title contains bidirectional control characters (U+202E); they are kept and the displayed text may differ from the analyzed text; the text contains NUL characters; they are kept; the text contains bidirectional control characters (U+200F); they are kept and the displayed text may differ from the analyzed text
        "#]],
    );
}

#[test]
fn empty_documents_stay_and_empty_queries_go() {
    let file = r#"{"_id": "1", "text": ""}
{"_id": "2", "text": " \n\t"}
{"_id": "3", "text": "", "title": "only a title"}
"#;
    corpus(
        file,
        expect![[r#"
        "1" "" "" None
        "2" "" " \n\t" None
        "3" "only a title" "" None
        warned: c.jsonl, line 1: the document is empty
        warned: c.jsonl, line 2: the document is empty
    "#]],
    );
    queries(
        file,
        expect![[r#"
            refused: q.jsonl, line 1: the query is empty
            refused: q.jsonl, line 2: the query is empty
            refused: q.jsonl, line 3: the query is empty
        "#]],
    );
}

#[test]
fn only_the_first_remarks_are_kept() {
    let (docs, reading) = read_beir_documents(FileInput::without_progress(
        "c",
        "[]\n".repeat(300).as_bytes(),
    ))
    .unwrap();
    assert_eq!(
        (docs.len(), reading.n_refused, reading.refused.len()),
        (0, 300, FileReadReport::MAX_ISSUES)
    );
}

#[test]
fn bytes_that_are_no_text_cost_their_row() {
    corpus(
        b"{\"_id\": \"d1\", \"text\": \"\xFF\"}\n{\"_id\": \"d2\", \"text\": \"\0\"}\n",
        expect![[r#"
            refused: c.jsonl, line 1: byte 24 of the line (0xFF) is not valid UTF-8; save the file as UTF-8
            refused: c.jsonl, line 2: broken JSON at byte 24, control character (\u0000-\u001F) found while parsing a string: a row is one JSON object, as in {"_id": "7", "text": "a text"}
        "#]],
    );
}
