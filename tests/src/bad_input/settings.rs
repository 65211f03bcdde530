//! Invalid settings, names, study files and instance files.

use std::fs;

use expect_test::expect;

use super::{CORPUS, MINE, QUERIES, check_refused, collection, refusal, study};
use crate::harness::tiny_collection;

#[test]
fn settings_out_of_their_range_are_refused() {
    let home = collection(CORPUS, QUERIES);
    home.run("mine --collection c --pool all --out good.parquet")
        .expect_success();
    let mine = "mine --collection c --out mined.parquet";
    let judge = "judge --collection c --instances good.parquet --ranker";
    let lines = [
        format!("{mine} --pool rank:bm25:0"),
        format!("{mine} --pool run:a.run:0"),
        format!("{mine} --pool everything"),
        format!("{mine} --pool group"),
        format!("{mine} --pool judged"),
        format!("{mine} --delta -1"),
        format!("{mine} --delta ten"),
        format!("{mine} --min-terms -1"),
        format!("{mine} --per-query 0"),
        format!("{mine} --probes tfc1,tfc9"),
        format!("{mine} --probes tfc1,stmc1"),
        format!("{mine} --vectors c/queries.jsonl"),
        format!("{mine} --mode loose"),
        format!("{mine} --stopwords none.txt"),
        format!("{judge} ql:mu=0"),
        format!("{judge} ql:mu=-1"),
        format!("{judge} ql:lambda=1.5"),
        format!("{judge} bm25:k1=-1"),
        format!("{judge} bm25:b=2"),
        format!("{judge} bm25:k1=NaN"),
        format!("{judge} bm25:k4=1"),
        format!("{judge} bm26"),
        format!("{judge} scores:"),
        format!("{judge} bm25 --delta-score -1"),
        format!("{judge} bm25 --delta-score NaN"),
        "rank --collection c --ranker bm25 --top 0 --out a.run".to_owned(),
        "rank --collection c --ranker bm25 --top=-1 --out a.run".to_owned(),
        "rank --collection none --ranker bm25 --out a.run".to_owned(),
        "import none --to c".to_owned(),
        "eval c/queries.jsonl -m AP".to_owned(),
        "eval none none -m AP".to_owned(),
        "eval none none -m precision".to_owned(),
    ];
    let refused = lines.map(|line| refusal(&home, &line));
    expect![[r#"
        pool rank:bm25:0: `0` is not a whole number from 1
        pool run:a.run:0: `0` is not a whole number from 1
        pool everything: is not one of run:FILE:K, rank:RANKER:K, group, judged, all
        pool group: no query has a `doc_group`; use rank:bm25:100 or provide the groups
        pool judged: the collection has no qrels; use rank:bm25:100 or add qrels
        delta: `-1` is not a number of terms, 0 or more, or inf
        delta: `ten` is not a number of terms, 0 or more, or inf
        min-terms: `-1` is not a number of terms, 0 or more
        per_query: must be at least 1, or be omitted
        probes: `tfc9` is none of tfc1, tfc2, mtdc, lnc1, lnc2, tp, stmc1, stmc2, stmc3, all, ir_axioms or one of its axioms, a formula such as tfc1&lnc1, match:CONTROL:VARIABLE, a manipulation, transfer:NAME
        stmc1: needs word vectors: add a GloVe or word2vec file
        c/queries.jsonl: no line has a word followed by numbers; add a GloVe or word2vec file
        mode: `loose` is none of `fixed`, `paper`, `code`
        none.txt: No such file or directory (os error 2); give none, en-function, or a text file with one word a line
        ql mu: must be above 0; without smoothing, a missing query term has score ln(0)
        ql mu: `-1` is not a number of at least 0
        ql lambda: `1.5` is not a number from 0 to 1
        bm25 k1: `-1` is not a number of at least 0
        bm25 b: `2` is not a number from 0 to 1
        bm25 k1: `NaN` is not a number of at least 0
        bm25: `k4` is none of k1, b, k3, idf
        model bm26: is neither a folder nor a name on the hub, such as `sentence-transformers/all-MiniLM-L6-v2`
        ranker: scores:FILE needs a file
        delta-score: must be a finite number, 0 or more
        delta-score: must be a finite number, 0 or more
        top: must be at least 1
        top: `-1` is not a number of documents, 1 or more
        there is no collection named `none`, and no such folder; `axioscope import FOLDER --to NAME` brings one in
        there is no file `corpus.jsonl`, `corpus.jsonl.gz` or `corpus.jsonl.zst`, also not in none; check the name
        eval: give QRELS and RUN, or RUN alone with --labels-in-run
        none: No such file or directory (os error 2); check the path and its permissions
        measure `precision`: is not one of nDCG, nDCG@10, AP (or MAP), AP@100, RR (or MRR), RR@10, P@5, R@100, with a minimum grade as in AP(rel=2)@100, or the trec_eval names ndcg, ndcg_cut_10, map, map_cut_100, recip_rank, P_5, recall_100
    "#]]
    .assert_eq(&refused.concat());
}

#[test]
fn names_that_would_leave_the_data_folder_are_refused() {
    let home = collection(CORPUS, QUERIES);
    home.run("study list").expect_success();
    assert_eq!(
        home.run("import c --to -c").code,
        Some(2),
        "taken for an option"
    );
    for (line, expected) in [
        (
            "import c --to ../../c",
            expect![[r#"
            name `../../c`: a name has 1 to 64 lowercase letters, digits or hyphens and does not start with a hyphen
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
            name `../../etc`: a name has 1 to 64 lowercase letters, digits or hyphens and does not start with a hyphen
        "#]],
        ),
        (
            "study export ../small --out out",
            expect![[r#"
            name `../small`: a name has 1 to 64 lowercase letters, digits or hyphens and does not start with a hyphen
        "#]],
        ),
        (
            "report /etc/passwd",
            expect![[r#"
            name `/etc/passwd`: a name has 1 to 64 lowercase letters, digits or hyphens and does not start with a hyphen
        "#]],
        ),
    ] {
        check_refused(&home, line, expected);
    }
}

#[test]
fn a_study_file_that_is_not_one_is_refused() {
    let home = collection(CORPUS, QUERIES);
    home.run("study list").expect_success();
    for (file, expected) in [
        (
            study(&[]).replace("title", "titel"),
            expect![[r#"
                study.toml: TOML parse error at line 3, column 1
                  |
                3 | titel = "Small"
                  | ^^^^^
                unknown field `titel`, expected one of `format`, `name`, `title`, `description`, `collection`, `n_queries`, `pool`, `probes`, `modes`, `variants`, `rankers`, `analyzer`, `limits`, `vectors`, `audit`, `lookups`, `transfers`, `train`
            "#]],
        ),
        (
            study(&[])
                .replace("name = \"small\"\n", "")
                .replace("collection = \"c\"\n", ""),
            expect![[r#"
                study.toml: these keys are missing: `name`, `collection`; `axioscope study init --collection C` writes a complete file
            "#]],
        ),
        (
            study(&[("name", "../small")]),
            expect![[r#"
            name `../small`: a name has 1 to 64 lowercase letters, digits or hyphens and does not start with a hyphen
        "#]],
        ),
        (
            study(&[("name", "index")]),
            expect![[r#"
                name `index`: is that of the list of studies in an export; choose another name
            "#]],
        ),
        (
            study(&[("pool", "rank:bm25:0")]),
            expect![[r#"
            study.toml: TOML parse error at line 6, column 8
              |
            6 | pool = "rank:bm25:0"
              |        ^^^^^^^^^^^^^
            pool rank:bm25:0: `0` is not a whole number from 1
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
            ql mu: must be above 0; without smoothing, a missing query term has score ln(0)
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
                unknown field `cap`, expected one of `length_gap_terms`, `min_terms`, `repeat_from`, `repeat_to`, `repeated_terms`, `filled_terms`, `fillable_terms`, `similar`, `share`, `ratio_share`, `per_query`, `manipulated`, `seed`
            "#]],
        ),
        (
            study(&[]).replace("format = 1", "format = 2"),
            expect![[r#"
                format: 2 is not supported by this version, which reads format 1; update Axioscope
            "#]],
        ),
        (
            study(&[]).replace("\"tfc1\", \"tp\"", ""),
            expect![[r#"
                probes: a study needs at least one probe and one variant
            "#]],
        ),
    ] {
        home.write("study.toml", &file);
        check_refused(&home, "study run study.toml", expected);
    }
    home.write("study.toml", "\0");
    let refused = home.run("study run study.toml").expect_failure();
    assert!(
        refused.starts_with("study.toml: TOML parse error at line 1"),
        "{refused}"
    );
    assert_eq!(home.run("study list").expect_success(), "");
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
    home.run("study list").expect_success();
    home.write("study.toml", study(&[]));
    check_refused(
        &home,
        "study run study.toml",
        expect![[r#"
        c/corpus.jsonl: it has no documents; add at least one
    "#]],
    );
    home.write("c/corpus.jsonl", CORPUS);
    home.write("c/queries.jsonl", "");
    check_refused(
        &home,
        "study run study.toml",
        expect![[r#"
        collection: it has no queries; add at least one
    "#]],
    );
    // On the command line, an empty input is not an error.
    assert!(home.run(MINE).expect_success().contains("tfc1\t0\n"));
}

#[test]
fn a_file_of_instances_that_is_not_of_this_collection_is_refused() {
    let home = collection(CORPUS, QUERIES);
    home.run(MINE).expect_success();
    let judge = format!(
        "judge --collection {} --ranker bm25 --instances mined.parquet",
        tiny_collection()
    );
    check_refused(
        &home,
        &judge,
        expect![[r#"
        mined.parquet: was mined from another version of the collection (hash b6fa18baf865, this one has 6c8e6f5af92a); mine it again, or take it all the same by --force
    "#]],
    );
    let absent = "there is no text `d1`: it was mined from another collection";
    home.expect_refused(&format!("{judge} --force"), absent);
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
    // Any byte may be changed: there is an error or, if it does not matter, the same counts.
    let expected = home.run(&format!("{judge} mined.parquet")).expect_success();
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
        (
            r#"{"query_id": "q1", "text_id": "d1#lemmatize"}"#,
            expect![[r#"
                pairs.jsonl, line 1: the text `d1#lemmatize` is in no collection: a study makes it. Name the ranker in the study file, for `study run` to score its pairs, or score the texts of `pairs --study` elsewhere and name their scores there, as `scores:FILE`
            "#]],
        ),
        (
            "query_id\ttext_id\nq1\n",
            expect![[r#"
                pairs.jsonl, line 2: has one column; a row has query_id, a tab and text_id
            "#]],
        ),
    ] {
        home.write("pairs.jsonl", pairs);
        check_refused(&home, score, expected);
    }
}
