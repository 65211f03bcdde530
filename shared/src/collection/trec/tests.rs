use crate::collection::FileInput;
use expect_test::{Expect, expect};

use super::{UnknownCollectionIds, read_graded_run, read_imported_scores, read_qrels, read_run};
use crate::collection::{Collection, Document, DocumentFields, Qrels, Query, Run};
use crate::error::FileReadReport;

fn show(rows: String, reading: &FileReadReport) -> String {
    rows + &reading.issues_as_lines()
}

fn judged(qrels: &Qrels) -> String {
    let rows = qrels
        .0
        .iter()
        .flat_map(|(query, docs)| docs.iter().map(move |it| (query, it)));
    rows.map(|(query, (doc, grade))| format!("{query} {doc} {grade}\n"))
        .collect()
}

fn ranked(run: &Run) -> String {
    let rows = run
        .0
        .iter()
        .flat_map(|(query, docs)| docs.iter().map(move |it| (query, it)));
    rows.map(|(query, it)| format!("{query} {} {} {}\n", it.rank, it.doc, it.score))
        .collect()
}

fn qrels(file: &str, expected: Expect) {
    let (qrels, reading) =
        read_qrels(FileInput::without_progress("qrels.tsv", file.as_bytes())).unwrap();
    let n_judged: usize = qrels.0.values().map(|it| it.len()).sum();
    assert_eq!(reading.n_rows, n_judged as u64);
    expected.assert_eq(&show(judged(&qrels), &reading));
}

fn run(file: &str, expected: Expect) {
    let (run, reading) = read_run(FileInput::without_progress("a.run", file.as_bytes())).unwrap();
    assert_eq!(
        reading.n_rows,
        run.0.values().map(|it| it.len() as u64).sum::<u64>()
    );
    expected.assert_eq(&show(ranked(&run), &reading));
}

fn labelled_run(file: &str, expected: Expect) {
    let read = read_graded_run(FileInput::without_progress("a.run", file.as_bytes()));
    let (run, qrels, reading) = read.unwrap();
    expected.assert_eq(&show(ranked(&run) + "---\n" + &judged(&qrels), &reading));
}

fn scores(file: &[u8], expected: Expect) {
    let shown = match read_imported_scores(FileInput::without_progress("a.tsv", file)) {
        Ok(scores) => format!("{scores:?}"),
        Err(error) => error.to_string(),
    };
    expected.assert_eq(&shown);
}

#[test]
fn qrels_have_four_columns() {
    qrels(
        "q1 0 d1 2\nq1\t0\td2\t0\r\n\n q2  Q0 d1 -1 \n",
        expect![[r#"
        q1 d1 2
        q1 d2 0
        q2 d1 -1
    "#]],
    );
}

#[test]
fn qrels_of_beir_have_three_below_their_header() {
    qrels(
        "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\t0\td2\t1\n",
        expect![[r#"
            q1 d1 2
            refused: qrels.tsv, line 3: 4 columns; expected 3: query, document, grade, because the first line is `query-id corpus-id score`
        "#]],
    );
    qrels("query-id\tcorpus-id\tscore\n", expect![""]);
}

#[test]
fn damaged_judgements_are_refused() {
    qrels(
        "q1 d1 2\nq1 0 d1 1.5\nq1 0 d1 high\nq1 0 d1 2\nq1 0 d1 3\nq1 0 d2 99999999999\nq1\nq1 0 d\u{1} 1\n",
        expect![[r#"
            q1 d1 2
            refused: qrels.tsv, line 1: 3 columns; expected 4: query, 0, document, grade (or 3 if the first line is `query-id corpus-id score`)
            refused: qrels.tsv, line 2: the grade `1.5` is not a whole number
            refused: qrels.tsv, line 3: the grade `high` is not a whole number
            refused: qrels.tsv, line 5: document `d1` is already judged for query `q1`; the first grade (2) is kept
            refused: qrels.tsv, line 6: the grade `99999999999` is not a whole number
            refused: qrels.tsv, line 7: 1 column; expected 4: query, 0, document, grade (or 3 if the first line is `query-id corpus-id score`)
            refused: qrels.tsv, line 8: the id `d\u{1}` contains a control character (U+0001); remove it
        "#]],
    );
}

#[test]
fn a_run_keeps_the_order_of_its_file() {
    run(
        "q1 Q0 d9 1 10.606700 BM25\nq1\tQ0\td8\t  0\t 9.5e-1\tBM25\nq0 Q0 d9 3 -1 a tag of words\n",
        expect![[r#"
            q0 3 d9 -1
            q1 1 d9 10.6067
            q1 0 d8 0.95
        "#]],
    );
}

#[test]
fn damaged_lines_of_a_run_are_refused() {
    run(
        "q1 Q0 d1 1 2.5\nq1 Q0 d1 1.0 2.5 t\nq1 Q0 d1 1 NaN t\nq1 Q0 d1 1 -inf t\n\
         q1 Q0 d1 1 1e999 t\nq1 Q0 d1 1 high t\nq1 Q0 d1 1 2 t\nq1 Q0 d1 2 1 t\n\
         q1 Q0 <script> 3 1 t\nq1 Q0 ../../x 4 1 t\nq1 Q0 d\u{202E} 5 1 t\n",
        expect![[r#"
            q1 1 d1 2
            q1 3 <script> 1
            q1 4 ../../x 1
            refused: a.run, line 1: 5 columns; expected 6: query, Q0, document, rank, score, tag
            refused: a.run, line 2: the rank `1.0` is not a whole number
            refused: a.run, line 3: the score `NaN` is not finite: remove the row or give it a finite score
            refused: a.run, line 4: the score `-inf` is not finite: remove the row or give it a finite score
            refused: a.run, line 5: the score `1e999` is not finite: remove the row or give it a finite score
            refused: a.run, line 6: the score `high` is not a number
            refused: a.run, line 8: document `d1` is already ranked for query `q1` in line 7; the first line is kept
            refused: a.run, line 11: the id `d\u{202e}` contains a bidirectional control character (U+202E); remove it
        "#]],
    );
}

#[test]
fn labels_stand_in_the_seventh_column() {
    labelled_run(
        "Q1\tQ0\tD1\t0\t2.3\tANMM\t1\nQ1\tQ0\tD2\t1\t1.8\tANMM\t0\nQ1 Q0 D3 2 1 ANMM\n\
         Q1 Q0 D4 3 1 ANMM yes\n",
        expect![[r#"
            Q1 0 D1 2.3
            Q1 1 D2 1.8
            ---
            Q1 D1 1
            Q1 D2 0
            refused: a.run, line 3: 6 columns; expected 7: the last is the grade of the document
            refused: a.run, line 4: the grade `yes` is not a whole number
        "#]],
    );
}

#[test]
fn scores_come_as_columns_or_as_a_run() {
    scores(
        b"q1\td1\t0.1\n\nq1 d1#lnc2:3 -2e-3\nq1 Q0 d2 1 7 tag\n",
        expect![[r#"{"q1": {"d1": 0.1, "d1#lnc2:3": -0.002, "d2": 7.0}}"#]],
    );
    scores(
        b"query_id\ttext_id\tscore\nq1\td1\t0.30000000000000004\n",
        expect![[r#"{"q1": {"d1": 0.30000000000000004}}"#]],
    );
}

#[test]
fn one_wrong_score_is_the_end_of_the_file() {
    scores(
        b"q1 d1 1\nq1 d2 NaN\n",
        expect![
            "a.tsv, line 2: the score `NaN` is not finite: remove the row or give it a finite score"
        ],
    );
    scores(
        b"q1 d1 1\nq1 d2 inf\n",
        expect![
            "a.tsv, line 2: the score `inf` is not finite: remove the row or give it a finite score"
        ],
    );
    scores(
        b"q1 d1 1\nq1 d2 1,5\n",
        expect!["a.tsv, line 2: the score `1,5` is not a number"],
    );
    scores(
        b"q1 d1 1\nq1 d1 1\n",
        expect![
            "a.tsv, line 2: document `d1` already has a score for query `q1` (1); remove one of the two rows"
        ],
    );
    scores(
        b"q1 d1 1\nq1 1\n",
        expect![
            "a.tsv, line 2: 2 columns; expected 3 (query, document, score) or 6 as in a TREC run"
        ],
    );
    scores(
        b"q1 d1 1\nq1 d\xFF 1\n",
        expect![
            "a.tsv, line 2: byte 5 of the line (0xFF) is not valid UTF-8; save the file as UTF-8"
        ],
    );
    scores(
        b"q1 d1 1\nq1 d\0 1\n",
        expect![[
            r#"a.tsv, line 2: the id `d\u{0}` contains a control character (U+0000); remove it"#
        ]],
    );
}

#[test]
fn what_the_collection_lacks_is_counted() {
    let doc = |id: &str| {
        Document::from(DocumentFields {
            id: id.into(),
            ..DocumentFields::default()
        })
    };
    let query = Query {
        id: "q1".to_owned(),
        text: "a".to_owned(),
        group: None,
        split: None,
    };
    let collection = Collection {
        queries: vec![query],
        docs: vec![doc("d1"), doc("d2")],
        qrels: Qrels::default(),
    };
    let qrels = "q1 0 d1 1\nq2 0 d9 1\nq3 0 d9 0\n";
    let (qrels, _) = read_qrels(FileInput::without_progress("q", qrels.as_bytes())).unwrap();
    expect!["not in the collection: 2 queries (q2, q3), 1 document (d9)"]
        .assert_eq(&UnknownCollectionIds::find_in_qrels(&qrels, &collection).to_string());

    let run: String = (1..9).map(|it| format!("q1 Q0 d{it} {it} 0 t\n")).collect();
    let (run, _) = read_run(FileInput::without_progress("r", run.as_bytes())).unwrap();
    let unknown = UnknownCollectionIds::find_in_run(&run, &collection);
    assert!(!unknown.is_empty());
    expect!["not in the collection: 6 documents (d3, d4, d5, d6, d7, …)"]
        .assert_eq(&unknown.to_string());
    assert!(UnknownCollectionIds::find_in_run(&Run::default(), &collection).is_empty());
}

#[test]
fn a_run_may_begin_with_what_it_says_of_itself() {
    let said = "# ir_metadata.start\n# method:\n#   automatic: true\n# ir_metadata.end\n";
    let rows = "q1 Q0 d1 1 2.5 t\n#q Q0 d2 2 1.5 t\n";
    run(
        &format!("{said}{rows}"),
        expect![[r#"
        #q 2 d2 1.5
        q1 1 d1 2.5
    "#]],
    );
    scores(
        format!("{said}{rows}").as_bytes(),
        expect![[r##"{"#q": {"d2": 1.5}, "q1": {"d1": 2.5}}"##]],
    );
    // Anywhere else the line is an invalid row.
    run(
        &format!("q1 Q0 d1 1 2.5 t\n{said}"),
        expect![[r#"
            q1 1 d1 2.5
            refused: a.run, line 2: 2 columns; expected 6: query, Q0, document, rank, score, tag
            refused: a.run, line 3: 2 columns; expected 6: query, Q0, document, rank, score, tag
            refused: a.run, line 4: 3 columns; expected 6: query, Q0, document, rank, score, tag
            refused: a.run, line 5: 2 columns; expected 6: query, Q0, document, rank, score, tag
        "#]],
    );
}
