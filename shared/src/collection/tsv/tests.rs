use crate::collection::FileInput;
use expect_test::{Expect, expect};

use super::{
    read_msmarco_documents, read_msmarco_passages, read_one_passage_per_line, read_query_splits,
};
use crate::collection::Document;
use crate::error::{Error, FileReadReport};

/// Compares the accepted documents and the messages about rows with `expected`.
fn check(read: Result<(Vec<Document>, FileReadReport), Error>, expected: Expect) {
    let (docs, reading) = read.unwrap();
    assert_eq!(reading.n_rows, docs.len() as u64);
    let docs = docs
        .iter()
        .map(|it| format!("{:?} {:?} {:?}\n", it.id(), it.title(), it.text()));
    expected.assert_eq(&(docs.collect::<String>() + &reading.issues_as_lines()));
}

#[test]
fn passages_have_an_id_and_a_text() {
    let file = "0\tThe presence of communication\n\
                1\twith\ta tab\r\n\
                2\t\n\
                three\n\
                0\tagain\n\
                \tno id\n\
                a b\tspace\n\
                ../../x\t<script>\n";
    check(
        read_msmarco_passages(FileInput::without_progress(
            "collection.tsv",
            file.as_bytes(),
        )),
        expect![[r#"
            "0" "" "The presence of communication"
            "1" "" "with\ta tab"
            "2" "" ""
            "../../x" "" "<script>"
            refused: collection.tsv, line 4: no tab: a row is a passage's id, a tab and the passage
            refused: collection.tsv, line 5: the id `0` is already used in line 1; the first row is kept
            refused: collection.tsv, line 6: the id is empty
            refused: collection.tsv, line 7: the id `a b` contains whitespace (U+0020); remove it
            warned: collection.tsv, line 3: the document is empty
        "#]],
    );
}

#[test]
fn documents_have_four_columns() {
    let file = "D1\thttps://example.org\tA title\tA body\twith a tab\n\
                D2\thttps://example.org\t\t\n\
                D3\tonly three\tcolumns\n";
    check(
        read_msmarco_documents(FileInput::without_progress("docs.tsv", file.as_bytes())),
        expect![[r#"
            "D1" "A title" "A body\twith a tab"
            "D2" "" ""
            refused: docs.tsv, line 3: 3 columns; expected 4: a document's id, URL, title and body, separated by tabs
            warned: docs.tsv, line 2: the document is empty
        "#]],
    );
}

#[test]
fn plain_lines_are_numbered_as_in_an_editor() {
    let file = b"first passage\n\n  third, indented\n\xFF\nfifth\0";
    check(
        read_one_passage_per_line(FileInput::without_progress("notes.txt", &file[..])),
        expect![[r#"
        "1" "" "first passage"
        "3" "" "  third, indented"
        "5" "" "fifth\0"
        refused: notes.txt, line 4: byte 1 of the line (0xFF) is not valid UTF-8; save the file as UTF-8
        warned: notes.txt, line 5: the text contains NUL characters; they are kept
    "#]],
    );
}

#[test]
fn splits_have_a_query_and_a_word() {
    let file = "q1\ttrain\n\nq2 dev\nq1\ttest\nq3\nq4\ta\tb\n";
    let (splits, reading) =
        read_query_splits(FileInput::without_progress("splits.tsv", file.as_bytes())).unwrap();
    let taken: Vec<_> = splits
        .iter()
        .map(|it| (it.0.as_str(), it.1.as_str()))
        .collect();
    assert_eq!(taken, [("q1", "train"), ("q2", "dev")]);
    assert_eq!((reading.n_rows, reading.n_refused), (2, 3));
    let refused = reading.refused[0].to_string();
    assert!(refused.contains("line 4"), "{refused}");
}
